//! A replayed history for people: one line that sums it up, the rows, the forecasts, and what it rests on.

use crate::plan::proposal::Peak;
use crate::plan::snapshot::Snapshot;
use crate::replay::document::Provenance;
use crate::replay::{Forecast, History, Replay, Row, RowKind, Spread};

use super::table::{Align, Table};

/// The whole text, with a final line end.
#[must_use]
pub fn render(history: &History, replay: &Replay, provenance: &Provenance) -> String {
    let mut text = format!("{}\n\n", headline(replay));
    text.push_str(&rows(&history.snapshot, replay).render(None));
    for forecast in &replay.forecasts {
        text.push_str(&format!("\nforecast: {}\n", forecast_line(forecast)));
    }
    text.push_str(&format!("\n{}\n{}\n", rules(replay), footer(replay, provenance)));
    text
}

/// When the staggered rows planned, and what they knew.
pub(super) fn rules(replay: &Replay) -> String {
    format!(
        "The staggered rows replan at arrivals, ends and changes of capacity, at most every {}, knowing only what had been \
         submitted and what had finished by then.",
        replay.rules.debounce
    )
}

/// What it was made from.
pub(super) fn footer(replay: &Replay, provenance: &Provenance) -> String {
    let rules = &replay.rules;
    format!(
        "{} ({}): {} rows read, {} kept{}{}\ndigest {}  seed {}  steps {}  stagger {}",
        provenance.file,
        provenance.format,
        provenance.rows_read,
        provenance.rows_kept,
        dropped(provenance),
        if provenance.censored > 0 { format!(", {} without a known end", provenance.censored) } else { String::new() },
        provenance.digest,
        rules.seed,
        rules.steps,
        provenance.version,
    )
}

fn dropped(provenance: &Provenance) -> String {
    let reasons = provenance.rows_dropped.iter().map(|(reason, rows)| format!(", {rows} left out ({reason})"));
    reasons.collect()
}

/// What staggering would have changed, in one sentence.
#[must_use]
pub fn headline(replay: &Replay) -> String {
    let row = |kind: RowKind| replay.rows.iter().find(|row| row.kind == kind && row.add.is_empty());
    let (Some(alone), Some(staggered)) = (row(RowKind::KueueAlone), row(RowKind::Staggered)) else {
        return "Nothing was replayed.".to_owned();
    };
    let due = |row: &Row| row.summary.on_time + row.summary.at_risk + row.summary.late;
    if due(staggered) > 0 {
        let met = |row: &Row| row.summary.on_time + row.summary.at_risk;
        return format!(
            "Staggered, {} of {} due times would have been met; Kueue alone would have met {}.",
            met(staggered),
            due(staggered),
            met(alone)
        );
    }
    let wait = |row: &Row| row.wait.map_or_else(|| "-".to_owned(), |wait| wait.median.human());
    format!(
        "Staggered, half of the jobs would have waited no longer than {}; under Kueue alone {}.",
        wait(staggered),
        wait(alone)
    )
}

fn rows(snapshot: &Snapshot, replay: &Replay) -> Table {
    let right = Align::Right;
    let someone_never_started = replay.rows.iter().any(|row| row.never_started > 0);
    let mut columns = vec![("OPTION", Align::Left), ("ON TIME", right), ("LATE", right), ("NO DUE TIME", right)];
    if someone_never_started {
        columns.push(("NEVER STARTED", right));
    }
    let rest = ["PEAK", "WAIT P50", "WAIT P90", "LAST END", "IDLE", "PLANS"];
    columns.extend(rest.map(|title| (title, right)));
    let mut table = Table::new(&columns);
    for row in &replay.rows {
        let wait = |pick: fn(&Spread) -> String| row.wait.as_ref().map_or_else(|| "-".to_owned(), pick);
        let mut cells = vec![
            row.option(),
            (row.summary.on_time + row.summary.at_risk).to_string(),
            row.summary.late.to_string(),
            row.summary.without_verdict.to_string(),
        ];
        if someone_never_started {
            cells.push(row.never_started.to_string());
        }
        cells.extend([
            peaks(snapshot, row),
            wait(|wait| wait.median.human()),
            wait(|wait| wait.p90.human()),
            format!("+{}", row.summary.makespan.human()),
            idle(row),
            if row.kind == RowKind::Staggered { row.plans.to_string() } else { "-".to_owned() },
        ]);
        table.row(cells);
    }
    table
}

pub(super) fn peaks(snapshot: &Snapshot, row: &Row) -> String {
    let one = |peak: &Peak| {
        let per_unit = peak.resource.units_per_gpu();
        let units = |amount: i64| crate::units::div_ceil(amount, per_unit);
        let number = |amount: crate::units::Amount| {
            if peak.resource.is_milli() { peak.resource.quantity(amount) } else { units(amount.0).to_string() }
        };
        let name = if snapshot.cells.len() > 1 { format!(" {}", peak.flavor) } else { String::new() };
        format!("{} of {}{name}", number(peak.peak), number(peak.capacity))
    };
    // What nobody used says nothing; a pool of one flavor is always shown.
    let used = row.summary.peak.iter().filter(|peak| snapshot.cells.len() == 1 || peak.peak.0 > 0);
    used.map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn idle(row: &Row) -> String {
    let all = row.idle_gpu_seconds + row.summary.gpu_seconds;
    if row.summary.gpu_seconds == 0 || all == 0 {
        return "-".to_owned();
    }
    format!("{} %", crate::units::div_round_half_even(row.idle_gpu_seconds * 100, all))
}

pub(super) fn forecast_line(forecast: &Forecast) -> String {
    let mut text = forecast.what.to_owned();
    match forecast.error {
        Some(error) => text.push_str(&format!(
            ": {} compared, off by {} at the median and {} at p90, {} started later than forecast",
            forecast.compared, error.median, error.p90, forecast.later
        )),
        None => text.push_str(": nothing to compare"),
    }
    let counts = [
        (forecast.without_start, "without a start"),
        (forecast.without_forecast, "without a forecast"),
        (forecast.censored, "without a known end"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {what}"));
    }
    text
}
