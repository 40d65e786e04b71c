//! A what-if as CSV: one line per row, the JSON document's names, seconds and exact decimals.

use crate::calendar;
use crate::names::ResourceName;
use crate::plan::whatif::{Row, WhatIf};
use crate::units::{Amount, Money};

const TITLES: &str = "option,onTime,atRisk,late,pool,peak,makespanSeconds,endsAt,gpuSeconds,idleGpuSeconds,cost,idleCost,\
costPerOutcome,costPerOutcomeWithIdle,currency,marginalFlavor,marginalOnTime,hardMissed,hardMissedBound,status,\
gapMillionths,pAllHardMillionths\n";

/// The file.
#[must_use]
pub fn render(what_if: &WhatIf) -> String {
    let lines = what_if.rows.iter().map(|row| line(what_if, row));
    std::iter::once(TITLES.to_owned()).chain(lines).collect()
}

fn line(what_if: &WhatIf, row: &Row) -> String {
    let zone = calendar::zone(&what_if.time_zone).unwrap_or(chrono_tz::UTC);
    let money = |amount: Option<Money>| amount.map_or_else(String::new, Money::decimal);
    let number = |value: Option<i128>| value.map_or_else(String::new, |value| value.to_string());
    let hard = row.hard_missed();
    let amounts = |list: Vec<(&str, &ResourceName, Amount)>| {
        let each = list.into_iter().map(|(flavor, name, amount)| format!("{flavor}={}", name.quantity(amount)));
        each.collect::<Vec<_>>().join(" ")
    };
    let pool = row.pool.iter().map(|size| (size.flavor.as_str(), &size.resource, size.quantity)).collect();
    let accelerators = row.summary.peak.iter().filter(|peak| peak.resource.is_accelerator());
    let peak = accelerators.map(|peak| (peak.flavor.as_str(), &peak.resource, peak.peak)).collect();
    let cells = [
        row.option.clone(),
        row.summary.on_time.to_string(),
        row.summary.at_risk.to_string(),
        row.summary.late.to_string(),
        amounts(pool),
        amounts(peak),
        row.summary.makespan.0.to_string(),
        row.ends_at().map_or_else(String::new, |at| calendar::rfc3339(at, zone)),
        row.summary.gpu_seconds.to_string(),
        row.idle.gpu_seconds.to_string(),
        money(row.summary.cost),
        money(row.idle.cost),
        money(row.cost_per_outcome.ok()),
        money(row.fully_loaded.ok()),
        what_if.currency.clone().unwrap_or_default(),
        row.marginal.as_ref().map_or_else(String::new, |last| last.flavor.to_string()),
        row.marginal.as_ref().map_or_else(String::new, |last| last.on_time.to_string()),
        number(hard.map(|hard| hard.0)),
        number(hard.and_then(|hard| hard.1)),
        row.quality.as_ref().map_or_else(String::new, |quality| format!("{:?}", quality.status)),
        row.quality.as_ref().and_then(|quality| quality.gap_millionths).map_or_else(String::new, |gap| gap.to_string()),
        row.chance.as_ref().map_or_else(String::new, |chance| chance.all_hard_millionths.to_string()),
    ];
    cells.map(|cell| quoted(&cell)).join(",") + "\n"
}

/// Quoted where it must be; a leading sign that a spreadsheet would run as a formula is kept as text.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '@']) || (cell.starts_with('-') && cell.parse::<i128>().is_err());
    let cell = if formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}
