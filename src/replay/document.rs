//! The replay as JSON: `stagger.dev/whatif/v1`, kind `Replay`.
//!
//! Promise: the rows have the fields that the rows of a `WhatIf` have, with the same meaning, and more after them; field
//! names and their order are stable, and a reader ignores fields it does not know. What does not apply is `null`. It is a
//! function of the history and the rules alone.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::snapshot::Snapshot;

use super::Replay;
use super::forecast::{Forecast, Spread};
use super::history::History;
use super::rows::{Row, RowKind};

/// Group and version of the document.
pub const API_VERSION: &str = "stagger.dev/whatif/v1";
/// Its kind.
pub const KIND: &str = "Replay";

/// Where the history came from, for the document and the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    pub file: String,
    pub format: String,
    /// SHA-256 over the history's snapshot, hexadecimal.
    pub digest: String,
    pub rows_read: u64,
    pub rows_kept: u64,
    /// Reason → rows.
    pub rows_dropped: BTreeMap<String, u64>,
    pub censored: u64,
    pub version: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    history: Source<'a>,
    rules: RulesOut,
    rows: Vec<RowOut>,
    forecasts: Vec<ForecastOut>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    file: &'a str,
    format: &'a str,
    input_digest: &'a str,
    version: &'a str,
    rows_read: u64,
    rows_kept: u64,
    rows_dropped: &'a BTreeMap<String, u64>,
    censored: u64,
    workloads: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RulesOut {
    debounce_seconds: i64,
    steps: u64,
    seed: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RowOut {
    option: String,
    add: BTreeMap<String, i64>,
    on_time: u64,
    at_risk: u64,
    late: u64,
    peak: Vec<PeakOut>,
    makespan_seconds: i64,
    gpu_seconds: i128,
    cost: Option<CostOut>,
    /// A log has no verdicts, and so no outcomes.
    cost_per_outcome: Option<String>,
    /// Rows of a replay are no curve: what one GPU more is worth stands between two of them.
    marginal_value: Option<String>,
    without_deadline: u64,
    never_started: u64,
    left_out: u64,
    idle_gpu_seconds: i128,
    wait: Option<SpreadOut>,
    plans: u64,
}

#[derive(Debug, Serialize)]
struct CostOut {
    amount: String,
    currency: Option<String>,
}

#[derive(Debug, Serialize)]
struct PeakOut {
    flavor: String,
    resource: String,
    peak: String,
    capacity: String,
}

#[derive(Debug, Serialize)]
struct SpreadOut {
    #[serde(rename = "medianSeconds")]
    median: i64,
    #[serde(rename = "p90Seconds")]
    p90: i64,
    #[serde(rename = "longestSeconds")]
    longest: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ForecastOut {
    what: &'static str,
    compared: u64,
    without_start: u64,
    without_forecast: u64,
    censored: u64,
    later: u64,
    error: Option<SpreadOut>,
}

/// The document, indented, with a final line end.
///
/// # Panics
/// Never: every key is text and every number an integer.
#[must_use]
pub fn to_json(history: &History, replay: &Replay, provenance: &Provenance) -> String {
    let document = Document {
        api_version: API_VERSION,
        kind: KIND,
        history: Source {
            file: &provenance.file,
            format: &provenance.format,
            input_digest: &provenance.digest,
            version: &provenance.version,
            rows_read: provenance.rows_read,
            rows_kept: provenance.rows_kept,
            rows_dropped: &provenance.rows_dropped,
            censored: provenance.censored,
            workloads: history.snapshot.workloads.len(),
        },
        rules: RulesOut {
            debounce_seconds: replay.rules.debounce.0,
            steps: replay.rules.steps,
            seed: replay.rules.seed,
        },
        rows: replay.rows.iter().map(|row| row_out(&history.snapshot, row)).collect(),
        forecasts: replay.forecasts.iter().map(forecast_out).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("the document must have a JSON form");
    text.push('\n');
    text
}

fn row_out(snapshot: &Snapshot, row: &Row) -> RowOut {
    let peaks = row.summary.peak.iter().filter(|peak| snapshot.find_cell(&peak.flavor, &peak.resource).is_some());
    RowOut {
        option: row.option(),
        add: row.add.iter().map(|(flavor, quantity)| (flavor.as_str().to_owned(), *quantity)).collect(),
        on_time: row.summary.on_time,
        at_risk: row.summary.at_risk,
        late: row.summary.late,
        peak: peaks
            .map(|peak| PeakOut {
                flavor: peak.flavor.as_str().to_owned(),
                resource: peak.resource.as_str().to_owned(),
                peak: peak.resource.quantity(peak.peak),
                capacity: peak.resource.quantity(peak.capacity),
            })
            .collect(),
        makespan_seconds: row.summary.makespan.0,
        gpu_seconds: row.summary.gpu_seconds,
        cost: row.summary.cost.map(|cost| CostOut { amount: cost.decimal(), currency: row.summary.currency.clone() }),
        cost_per_outcome: None,
        marginal_value: None,
        without_deadline: row.summary.without_verdict,
        never_started: row.never_started,
        left_out: row.left_out,
        idle_gpu_seconds: row.idle_gpu_seconds,
        wait: row.wait.map(spread_out),
        plans: row.plans,
    }
}

fn spread_out(spread: Spread) -> SpreadOut {
    SpreadOut { median: spread.median.0, p90: spread.p90.0, longest: spread.longest.0 }
}

fn forecast_out(forecast: &Forecast) -> ForecastOut {
    ForecastOut {
        what: forecast.what,
        compared: forecast.compared,
        without_start: forecast.without_start,
        without_forecast: forecast.without_forecast,
        censored: forecast.censored,
        later: forecast.later,
        error: forecast.error.map(spread_out),
    }
}

impl Row {
    /// What people call the row: `staggered, 8 more a100`.
    #[must_use]
    pub fn option(&self) -> String {
        let kind = match self.kind {
            RowKind::AsItWas => "as it was",
            RowKind::KueueAlone => "Kueue alone",
            RowKind::Staggered => "staggered",
        };
        let changes = self.add.iter().map(|(flavor, quantity)| {
            let which = if *quantity < 0 { "fewer" } else { "more" };
            format!(", {} {which} {flavor}", quantity.unsigned_abs())
        });
        std::iter::once(kind.to_owned()).chain(changes).collect()
    }
}
