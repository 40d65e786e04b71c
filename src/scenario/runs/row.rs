//! A run as JSON: one object per line, or an array of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::calendar;
use crate::failure::{SourceFile, Span};
use crate::kueue::quantity::Quantity;
use crate::ledger::run::{EndReason, Run};
use crate::names::{FlavorName, QueueName, ResourceName, TenantId, WorkloadKey};

use super::{RUNS_MAX, ReadRuns};

/// The row as it is written, in JSON and in CSV.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub workload: Option<String>,
    pub attempt: Option<u32>,
    pub tenant: Option<String>,
    pub class: Option<String>,
    pub cluster_queue: Option<String>,
    pub flavor: Option<String>,
    #[serde(default)]
    pub resources: BTreeMap<String, Quantity>,
    pub created: Option<String>,
    pub start: Option<String>,
    pub end: Option<String>,
    pub end_reason: Option<String>,
    #[serde(default)]
    pub fingerprint: BTreeMap<String, Value>,
}

pub(super) fn read(file: &Arc<SourceFile>, into: &mut ReadRuns) {
    let text = &file.text;
    let mut take = |raw: &str| {
        let start = raw.as_ptr().addr() - text.as_ptr().addr();
        let place = Some(Span { file: Arc::clone(file), start, end: start + raw.len() });
        let mut reader = serde_json::Deserializer::from_str(raw);
        let row: Result<Row, _> = serde_path_to_error::deserialize(&mut reader);
        let run = match row {
            Ok(row) => row.run(),
            Err(error) => Err(format!("{}: {}", error.path(), without_place(error.inner()))),
        };
        match run {
            Ok(run) => into.accept(run, place),
            Err(message) => into.refuse(place, message),
        }
    };
    if let Ok(rows) = serde_json::from_str::<Vec<&RawValue>>(text) {
        rows.into_iter().take(RUNS_MAX + 1).for_each(|raw| take(raw.get()));
    } else if let Ok(one) = serde_json::from_str::<&RawValue>(text) {
        take(one.get());
    } else {
        let lines = text.split('\n').map(|line| line.trim_start_matches('\u{feff}').trim());
        lines.filter(|line| !line.is_empty()).take(RUNS_MAX + 1).for_each(take);
    }
}

/// An error's text without its place, which counts from the start of the row and not of the file.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

impl Row {
    /// The run it describes.
    pub(super) fn run(self) -> Result<Run, String> {
        let needed = |value: Option<String>, field: &str| {
            value.filter(|text| !text.trim().is_empty()).ok_or_else(|| format!("`{field}` is missing"))
        };
        let given = |value: Option<String>| value.filter(|text| !text.trim().is_empty());
        let at = |text: String, field: &str| calendar::parse_instant(&text).map_err(|why| format!("{field}: {why}"));
        let workload = needed(self.workload, "workload")?;
        if !matches!(workload.split_once('/'), Some((namespace, name)) if !namespace.is_empty() && !name.is_empty()) {
            return Err(format!("workload `{workload}` is not namespace/name"));
        }
        let start = at(needed(self.start, "start")?, "start")?;
        let end = given(self.end).map(|text| at(text, "end")).transpose()?;
        if end.is_some_and(|end| end < start) {
            return Err("`end` is before `start`".to_owned());
        }
        let end_reason = end_reason(given(self.end_reason).as_deref(), end.is_some())?;
        let amount = |(name, quantity): (String, Quantity)| {
            let name = ResourceName::from(name);
            let amount = quantity.amount(&name).ok_or_else(|| format!("resources.{name} is too large to count"))?;
            Ok::<_, String>((name, amount))
        };
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Ok(Run {
            workload: WorkloadKey::from(workload),
            attempt: self.attempt.unwrap_or(1),
            tenant: given(self.tenant).map(TenantId::from),
            class: given(self.class),
            queue: given(self.cluster_queue).map(QueueName::from),
            flavor: FlavorName::from(needed(self.flavor, "flavor")?),
            resources: self.resources.into_iter().map(amount).collect::<Result<_, _>>()?,
            created: given(self.created).map(|text| at(text, "created")).transpose()?,
            start,
            end,
            end_reason,
            fingerprint: self.fingerprint.into_iter().map(|(field, value)| (field, text(value))).collect(),
        })
    }
}

/// A run that has ended says how; one that has not, does not.
fn end_reason(text: Option<&str>, ended: bool) -> Result<EndReason, String> {
    match (text, ended) {
        (Some("Succeeded"), true) => Ok(EndReason::Succeeded),
        (Some("Failed"), true) => Ok(EndReason::Failed),
        (Some("Evicted"), true) => Ok(EndReason::Evicted),
        (Some("Cancelled"), true) => Ok(EndReason::Cancelled),
        (None, false) => Ok(EndReason::Unfinished),
        (Some(reason), false) => Err(format!("endReason is {reason}, but there is no `end`")),
        (None, true) => Err("`endReason` is missing".to_owned()),
        (Some(other), true) => Err(format!("endReason `{other}` is not one of Succeeded, Failed, Evicted, Cancelled")),
    }
}
