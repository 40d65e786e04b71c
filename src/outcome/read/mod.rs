//! Outcome files → events: CloudEvents, and evaluation files in the tools' own formats.
//!
//! What a file is, it says itself. Every refusal names its line; one bad event never hides the others.

mod cloudevents;
mod decimal;
mod inspect;
mod lm_eval;

pub use cloudevents::{Known, TYPE};

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::failure::{Finding, SourceFile, Span};
use crate::names::WorkloadKey;

use super::evidence::Event;

/// The largest outcome file that is read: Inspect logs carry their samples, and ten thousand long ones are about this much.
pub const FILE_BYTES_MAX: usize = 512 << 20;
/// The largest single CloudEvent; the specification asks consumers to accept 64 KiB.
pub const EVENT_BYTES_MAX: usize = 1 << 20;
/// Events in one file: a month of an evaluation every three seconds.
pub const EVENTS_MAX: usize = 1_000_000;

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// In the order of the file; each `(source, id)` once.
    pub events: Vec<Event>,
    /// The same event again.
    pub duplicates: u64,
    /// The same `(source, id)` with other content.
    pub conflicts: u64,
    /// Events of other types.
    pub ignored: u64,
    /// Events that cannot be used.
    pub refused: u64,
    pub findings: Vec<Finding>,
}

/// What an evaluation file is about, where the file itself does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    pub workload: Option<WorkloadKey>,
    pub attempt: Option<u32>,
    pub class: Option<String>,
}

/// Reads one file after others: `known` remembers what has been seen, so that files may overlap.
///
/// Codes: `SG120` too large, `SG121` not JSON, `SG122` a field is missing or wrong, `SG123` a conflict, `SG124` another
/// event type, `SG125` not a known format.
pub fn read(file: &Arc<SourceFile>, subject: &Subject, known: &mut Known, into: &mut Read) {
    if file.text.len() > FILE_BYTES_MAX {
        into.findings.push(Finding::error(
            "SG120",
            &*file.path,
            format!("the file is larger than {} MiB", FILE_BYTES_MAX >> 20),
        ));
        return;
    }
    let text = file.text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        into.findings.push(Finding::warning("SG125", &*file.path, "the file is empty"));
        return;
    }
    let document = decimal::without_constants(&file.text);
    match serde_json::from_str::<Shape<'_>>(&document) {
        Ok(shape) if shape.is_inspect() => inspect::read(file, &document, subject, known, into),
        Ok(shape) if shape.is_lm_eval() => lm_eval::read(file, &document, subject, known, into),
        _ => cloudevents::read(file, known, into),
    }
}

/// Enough of a document to tell what it is.
#[derive(serde::Deserialize)]
struct Shape<'a> {
    #[serde(borrow, default)]
    specversion: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, default)]
    eval: Option<&'a RawValue>,
    #[serde(borrow, default)]
    results: Option<&'a RawValue>,
    #[serde(borrow, default)]
    versions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    config: Option<&'a RawValue>,
}

impl Shape<'_> {
    fn is_inspect(&self) -> bool {
        self.specversion.is_none() && self.eval.is_some() && self.status.is_some()
    }
    fn is_lm_eval(&self) -> bool {
        self.specversion.is_none() && self.results.is_some() && (self.versions.is_some() || self.config.is_some())
    }
}

/// What an evaluation file is about, by its metadata or the caller.
#[derive(Debug, Default)]
struct About {
    outcome: Option<String>,
    workload: Option<WorkloadKey>,
    attempt: Option<u32>,
    class: Option<String>,
    supersedes: Option<String>,
}

/// Reads `stagger.dev/…` keys from metadata, the first that has one; then what the caller said.
fn about(metadata: &[&Value], subject: &Subject) -> Result<About, String> {
    let get =
        |key: &str| metadata.iter().find_map(|data| data.get(format!("stagger.dev/{key}"))).map(cloudevents::plain);
    let workload = get("workload").map(cloudevents::workload).transpose()?.or_else(|| subject.workload.clone());
    let attempt = match get("attempt") {
        Some(text) => Some(text.parse().map_err(|_| format!("stagger.dev/attempt `{text}` is not a whole number"))?),
        None => subject.attempt,
    };
    let outcome = get("outcome").or_else(|| workload.as_ref().map(WorkloadKey::to_string));
    Ok(About {
        outcome,
        workload,
        attempt,
        class: get("class").or_else(|| subject.class.clone()),
        supersedes: get("supersedes"),
    })
}

/// The first half of a text's SHA-256, hexadecimal: an identity for a file that has none.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The whole file, for findings about it.
fn whole(file: &Arc<SourceFile>) -> Span {
    Span { file: Arc::clone(file), start: 0, end: 0 }
}
