//! CloudEvents 1.0 in JSON: one event, a batch, or one event per line.
//!
//! `(source, id)` identifies an event: the same again is ignored, the same with other content is refused and counted.
//! An event without `time` is refused: the time of arrival would make the result depend on when it was asked for.
//! A refused event is a warning: what it speaks of stays unverified, which never makes an outcome look cheaper.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::calendar;
use crate::failure::{Finding, SourceFile, Span};
use crate::names::WorkloadKey;
use crate::outcome::evidence::{Evaluator, Event, Evidence, Score, State, Units};
use crate::units::Timestamp;

use super::decimal::Decimal;
use super::{EVENT_BYTES_MAX, EVENTS_MAX, Read};

/// The event type that is ours.
pub const TYPE: &str = "dev.stagger.outcome.v1";

/// What has been seen: the digest of every `(source, id)`'s content.
#[derive(Debug, Clone, Default)]
pub struct Known(HashMap<(String, String), [u8; 32]>);

/// How an event stands to what has been seen.
pub(super) enum Seen {
    New,
    Again,
    Conflict,
}

impl Known {
    pub(super) fn see(&mut self, source: &str, id: &str, content: &str) -> Seen {
        let digest: [u8; 32] = Sha256::digest(content.as_bytes()).into();
        match self.0.get(&(source.to_owned(), id.to_owned())) {
            None => {
                self.0.insert((source.to_owned(), id.to_owned()), digest);
                Seen::New
            }
            Some(known) if *known == digest => Seen::Again,
            Some(_) => Seen::Conflict,
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    specversion: Option<String>,
    id: Option<String>,
    source: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    time: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    outcome_id: Option<String>,
    class: Option<String>,
    workload: Option<String>,
    attempt: Option<u32>,
    completed_at: Option<String>,
    finish_by: Option<String>,
    #[serde(default)]
    scores: Vec<WrittenScore>,
    evaluator: Option<WrittenEvaluator>,
    #[serde(default)]
    fingerprint: BTreeMap<String, Value>,
    units: Option<WrittenUnits>,
    supersedes: Option<String>,
}

#[derive(Deserialize)]
struct WrittenUnits {
    kind: String,
    quantity: Decimal,
}

impl WrittenUnits {
    fn read(self) -> Result<Units, String> {
        let quantity =
            self.quantity.0.ok_or("data.units.quantity: it has no value; leave `units` out where none is known")?;
        match self.kind.trim() {
            "" => Err("data.units.kind: it is empty; expected a word such as `tokens`".to_owned()),
            _ if quantity.is_negative() => {
                Err(format!("data.units.quantity: {} is negative", quantity.decimal_floor(9)))
            }
            kind => Ok(Units { kind: kind.to_owned(), quantity }),
        }
    }
}

#[derive(Deserialize)]
struct WrittenScore {
    name: String,
    #[serde(default = "nothing")]
    value: Decimal,
    n: Option<u64>,
    #[serde(default = "nothing")]
    stderr: Decimal,
}

fn nothing() -> Decimal {
    Decimal(None)
}

#[derive(Deserialize)]
struct WrittenEvaluator {
    id: String,
    version: Option<String>,
}

pub(super) fn read(file: &Arc<SourceFile>, known: &mut Known, into: &mut Read) {
    let text = &file.text;
    let mut taken = 0;
    let mut take = |raw: &str, start: usize, into: &mut Read| {
        taken += 1;
        if taken > EVENTS_MAX {
            return;
        }
        let place = Some(Span { file: Arc::clone(file), start, end: start + raw.len() });
        read_event(raw, place, known, into);
    };
    // A batch is an array, a single event an object; anything else is taken line by line.
    if let Ok(batch) = serde_json::from_str::<Vec<&RawValue>>(text) {
        for raw in batch {
            take(raw.get(), raw.get().as_ptr().addr() - text.as_ptr().addr(), into);
        }
    } else if let Ok(single) = serde_json::from_str::<&RawValue>(text) {
        take(single.get(), single.get().as_ptr().addr() - text.as_ptr().addr(), into);
    } else {
        let lines = text.split('\n').map(|line| line.trim_start_matches('\u{feff}').trim());
        let lines = lines.filter(|line| !line.is_empty());
        let is_object = |line: &str| line.starts_with('{') && serde_json::from_str::<&RawValue>(line).is_ok();
        // Where no line is an object of its own, this is one broken document rather than many broken lines.
        if !lines.clone().any(is_object) {
            let error = serde_json::from_str::<&RawValue>(text).err().map_or(String::new(), |error| error.to_string());
            let message = format!("this is neither a JSON document nor JSON lines: {error}");
            into.findings.push(Finding::error("SG121", &*file.path, message));
            return;
        }
        for content in lines {
            take(content, content.as_ptr().addr() - text.as_ptr().addr(), into);
        }
    }
    if taken > EVENTS_MAX {
        let message = format!("{taken} events; only the first {EVENTS_MAX} were read");
        into.findings.push(Finding::error("SG120", &*file.path, message).hint("split the file"));
    }
}

fn read_event(raw: &str, place: Option<Span>, known: &mut Known, into: &mut Read) {
    let subject = place.as_ref().map_or(String::new(), Span::to_string);
    if raw.len() > EVENT_BYTES_MAX {
        into.refused += 1;
        let message = format!("the event is larger than {} KiB", EVENT_BYTES_MAX >> 10);
        into.findings.push(Finding::warning("SG120", subject, message).at(place, "this event"));
        return;
    }
    let envelope = match serde_json::from_str::<Envelope<'_>>(raw) {
        Ok(envelope) => envelope,
        Err(error) => {
            into.refused += 1;
            let message = format!("this is not a CloudEvent in JSON: {}", without_place(&error));
            into.findings.push(Finding::warning("SG121", subject, message).at(place, "here"));
            return;
        }
    };
    if let Some(kind) = envelope.kind.as_deref().filter(|kind| *kind != TYPE) {
        into.ignored += 1;
        into.findings.push(
            Finding::note("SG124", subject, format!("an event of type {kind} is not about an outcome"))
                .at(place, "this event"),
        );
        return;
    }
    match event(&envelope, place.clone()) {
        Ok(event) => {
            // Field order and white space are no part of the content.
            let content = serde_json::from_str::<Value>(raw).map_or_else(|_| raw.to_owned(), |value| value.to_string());
            accept(event, &content, known, into);
        }
        Err(message) => {
            into.refused += 1;
            into.findings.push(Finding::warning("SG122", subject, message).at(place, "in this event"));
        }
    }
}

/// An error's text without its place, which counts from the start of the event and not of the file.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

/// Takes an event in, unless it is known.
pub(super) fn accept(event: Event, content: &str, known: &mut Known, into: &mut Read) {
    match known.see(&event.source, &event.id, content) {
        Seen::New => into.events.push(event),
        Seen::Again => into.duplicates += 1,
        Seen::Conflict => {
            into.conflicts += 1;
            let message =
                format!("event {} of {} was seen before with other content and is refused", event.id, event.source);
            let subject = event.place.as_ref().map_or(String::new(), Span::to_string);
            let finding = Finding::warning("SG123", subject, message).at(event.place, "this event");
            into.findings.push(
                finding.hint("a correction is a new event with its own id that names the old one in `supersedes`"),
            );
        }
    }
}

fn event(envelope: &Envelope<'_>, place: Option<Span>) -> Result<Event, String> {
    let needed = |value: &Option<String>, field: &str| {
        value.clone().filter(|text| !text.is_empty()).ok_or_else(|| format!("`{field}` is missing"))
    };
    match needed(&envelope.specversion, "specversion")?.as_str() {
        "1.0" => {}
        other => return Err(format!("`specversion` is {other}; 1.0 is read")),
    }
    needed(&envelope.kind, "type")?;
    let time = instant(&needed(&envelope.time, "time")?)?;
    let raw = envelope.data.ok_or("`data` is missing")?;
    let data: Data = {
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| format!("data.{}: {}", error.path(), without_place(error.inner())))?
    };
    let at = |text: &Option<String>| text.as_deref().map(calendar::parse_instant_ceil).transpose();
    let score = |score: WrittenScore| {
        let wrong = |what: &str| format!("score {}: {what} is negative", score.name);
        if score.stderr.0.is_some_and(crate::ratio::Ratio::is_negative) {
            return Err(wrong("stderr"));
        }
        Ok(Score { name: score.name, value: score.value.0, samples: score.n, stderr: score.stderr.0 })
    };
    Ok(Event {
        source: needed(&envelope.source, "source")?,
        id: needed(&envelope.id, "id")?,
        time,
        outcome: needed(&data.outcome_id, "data.outcomeId")?,
        class: data.class,
        workload: data.workload.map(workload).transpose()?,
        attempt: data.attempt,
        completed_at: at(&data.completed_at).map_err(|message| format!("data.completedAt: {message}"))?,
        finish_by: data
            .finish_by
            .as_deref()
            .map(calendar::parse_instant)
            .transpose()
            .map_err(|message| format!("data.finishBy: {message}"))?,
        evidence: Evidence {
            scores: data.scores.into_iter().map(score).collect::<Result<_, _>>()?,
            evaluator: data.evaluator.map(|evaluator| Evaluator { id: evaluator.id, version: evaluator.version }),
            fingerprint: data.fingerprint.into_iter().map(|(field, value)| (field, plain(&value))).collect(),
            state: State::Complete,
        },
        units: data.units.map(WrittenUnits::read).transpose()?,
        supersedes: data.supersedes,
        place,
    })
}

/// A fingerprint's value as text: strings as they are, anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn workload(text: String) -> Result<WorkloadKey, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(WorkloadKey::from(text))
        }
        _ => Err(format!("workload `{text}` is not namespace/name")),
    }
}

/// An instant to the nanosecond, for the order of statements.
pub(super) fn instant(text: &str) -> Result<(Timestamp, u32), String> {
    let at = calendar::parse_instant(text)?;
    let nanos = DateTime::parse_from_rfc3339(text).map_or(0, |instant| instant.timestamp_subsec_nanos());
    Ok((at, nanos))
}
