//! A what-if for the terminal: the verdict, the table, the smallest pools, break-even, and where it comes from.

use crate::calendar;
use crate::plan::proposal::{Quality, Status};
use crate::plan::whatif::break_even::BreakEven;
use crate::plan::whatif::words::{time, title};
use crate::plan::whatif::{Basis, Row, WhatIf};
use crate::report::plan_text::percent;
use crate::report::table::{Align, Table};
use crate::units::{Money, div_round_half_even};

/// Everything a person at a terminal wants to see of it.
#[must_use]
pub fn render(what_if: &WhatIf, version: &str, width: Option<usize>) -> String {
    let mut parts = vec![format!("{}\n{}\n", what_if.verdict.sentence, what_if.verdict.confidence.sentence)];
    parts.push(table(what_if).render(width));
    let below: Vec<String> =
        [smallest(what_if), break_even(what_if), savings(what_if), doubtful(what_if)].into_iter().flatten().collect();
    if !below.is_empty() {
        parts.push(below.join("\n") + "\n");
    }
    parts.push(format!("{}\n", footer(what_if, version)));
    parts.join("\n")
}

/// The workloads that are least likely to be on time when staggered; the document has all of them, for every row.
#[must_use]
pub fn doubtful(what_if: &WhatIf) -> Option<String> {
    const SHOWN: usize = 3;
    let staggered = what_if.rows.iter().find(|row| row.basis == Basis::Staggered)?;
    let mut each = staggered.chance.as_ref()?.workloads.clone();
    each.retain(|(_, on_time)| *on_time < 1_000_000);
    each.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    let named =
        each.iter().take(SHOWN).map(|(workload, on_time)| format!("{workload} {}", percent(u64::from(*on_time))));
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("least likely to be on time, staggered: {}", named.join(", ")))
}

/// The rows.
#[must_use]
pub fn table(what_if: &WhatIf) -> Table {
    use Align::{Left, Right};
    let priced = what_if.rows.iter().any(|row| row.summary.cost.is_some());
    let sampled = what_if.rows.iter().any(|row| row.chance.is_some());
    let mut columns = vec![
        ("OPTION", Left),
        ("GPUS", Left),
        ("ON TIME", Right),
        ("AT RISK", Right),
        ("LATE", Right),
        ("PEAK", Left),
        ("LAST END", Left),
        ("GPU-H", Right),
        ("IDLE GPU-H", Right),
    ];
    if priced {
        columns.extend([("COST", Right), ("IDLE COST", Right), ("PER OUTCOME", Right), ("WITH IDLE", Right)]);
    }
    if sampled {
        columns.push(("P(HARD)", Right));
    }
    columns.extend([("LAST GPU", Right), ("KNOWN BY", Left)]);
    let mut table = Table::new(&columns);
    for row in &what_if.rows {
        table.row(cells(what_if, row, priced, sampled));
    }
    table
}

/// An option's name, size and work, as every table of options begins.
#[must_use]
pub fn beginning(row: &Row) -> Vec<String> {
    vec![
        title(row),
        pool(row),
        row.summary.on_time.to_string(),
        row.summary.at_risk.to_string(),
        row.summary.late.to_string(),
        peak(row),
        row.ends_at().map_or_else(|| "-".to_owned(), |at| time(&row.snapshot, at)),
        hours(row.summary.gpu_seconds),
        hours(row.idle.gpu_seconds),
    ]
}

fn cells(what_if: &WhatIf, row: &Row, priced: bool, sampled: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut cells = beginning(row);
    if priced {
        let money = |amount: Option<Money>| amount.map_or_else(dash, |amount| cost(what_if, amount));
        cells.extend([
            money(row.summary.cost),
            money(row.idle.cost),
            money(row.cost_per_outcome.ok()),
            money(row.fully_loaded.ok()),
        ]);
    }
    if sampled {
        let chance = row.chance.as_ref().map(|chance| percent(u64::from(chance.all_hard_millionths)));
        cells.push(chance.unwrap_or_else(dash));
    }
    cells.push(row.marginal.as_ref().map_or_else(dash, |last| match (last.on_time, last.hard_value) {
        (0, 0) => "+0".to_owned(),
        (on_time, _) => format!("{on_time:+}"),
    }));
    cells.push(row.quality.as_ref().map_or_else(|| "played".to_owned(), known_by));
    if row.quality.is_none() && row.pool.is_empty() {
        cells.pop();
        cells.push(String::new());
    }
    cells
}

/// How good the row's plan is.
#[must_use]
pub fn known_by(quality: &Quality) -> String {
    if quality.status == Status::Optimal {
        return "proven".to_owned();
    }
    let open = quality.levels.iter().find(|level| level.bound != Some(level.value));
    let level = open.map_or_else(String::new, |level| format!("{:?}", level.name));
    let gap = quality.gap_millionths.map_or_else(|| "no bound".to_owned(), |gap| format!("gap {}", percent(gap)));
    format!("{level}: {gap}")
}

/// `4 a100`.
#[must_use]
pub fn pool(row: &Row) -> String {
    let sizes = row.pool.iter().map(|size| format!("{} {}", size.resource.quantity(size.quantity), size.flavor));
    sizes.collect::<Vec<_>>().join(" + ")
}

/// `8 a100` for each accelerator in use.
#[must_use]
pub fn peak(row: &Row) -> String {
    let peaks = row.summary.peak.iter().filter(|peak| peak.resource.is_accelerator());
    peaks.map(|peak| format!("{} {}", peak.resource.quantity(peak.peak), peak.flavor)).collect::<Vec<_>>().join(" + ")
}

/// GPU-seconds as hours to one tenth, `.0` left out.
#[must_use]
pub fn hours(gpu_seconds: i128) -> String {
    let tenths = div_round_half_even(gpu_seconds, 360);
    let text = format!("{}.{}", tenths / 10, tenths % 10);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// `12.50 EUR`.
#[must_use]
pub fn cost(what_if: &WhatIf, amount: Money) -> String {
    format!("{} {}", amount.cents(), what_if.currency.as_deref().unwrap_or("")).trim_end().to_owned()
}

/// One line per pool: its smallest size, and how that is known.
#[must_use]
pub fn smallest(what_if: &WhatIf) -> Option<String> {
    let smallest = &what_if.smallest;
    if smallest.per_pool.is_empty() {
        return None;
    }
    let mut lines = Vec::new();
    for pool in &smallest.per_pool {
        let quantity = |amount| pool.resource.quantity(amount);
        let known = match pool.quantity {
            None => "no number of it alone is enough, as far as was looked".to_owned(),
            Some(size) if pool.proven => format!("{}, proven", quantity(size)),
            Some(size) if pool.lower_bound.0 <= 0 => format!("{} found; fewer are not ruled out", quantity(size)),
            Some(size) => {
                format!("{} found; only fewer than {} are ruled out", quantity(size), quantity(pool.lower_bound))
            }
        };
        lines.push(format!("smallest {} pool ({}, now {}): {known}", pool.flavor, pool.queue, quantity(pool.today)));
    }
    if smallest.points.len() > 1 {
        let points = smallest.points.iter().map(|point| {
            let each = what_if.axes.iter().zip(&point.sizes).take(2);
            let sizes = each.map(|(axis, size)| format!("{} {}", axis.resource.quantity(*size), axis.flavor));
            sizes.collect::<Vec<_>>().join(" + ") + if point.proven { "" } else { " (not proven)" }
        });
        lines.push(format!("any of these is enough: {}", points.collect::<Vec<_>>().join(" | ")));
    }
    if smallest.left_out > 0 {
        lines.push(format!("{} more pools were not looked at", smallest.left_out));
    }
    Some(lines.join("\n"))
}

fn break_even(what_if: &WhatIf) -> Option<String> {
    let lines: Vec<String> =
        what_if.verdict.break_even.iter().filter_map(|one| break_even_sentence(what_if, one)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether to own or to rent, in a sentence; `None` without a price.
#[must_use]
pub fn break_even_sentence(what_if: &WhatIf, one: &BreakEven) -> Option<String> {
    let rent = one.rent?;
    let planned = one.planned.percent();
    let head = format!("{}: at {} a rented GPU-hour", one.flavor, cost(what_if, rent));
    Some(match (one.own, one.utilisation) {
        (Some(own), Some(utilisation)) => {
            let above = one.planned.millionths() > utilisation.millionths();
            let advice = if above { "own" } else { "rent" };
            format!(
                "{head} and {} an owned one, owning pays from {} utilisation on; planned is {planned}: {advice}",
                cost(what_if, own),
                utilisation.percent()
            )
        }
        _ => {
            let below = one.own_below.map_or_else(String::new, |below| cost(what_if, below));
            format!("{head} and {planned} utilisation, owning pays below {below} a GPU-hour (--own states yours)")
        }
    })
}

fn savings(what_if: &WhatIf) -> Option<String> {
    let measured = what_if.measured.as_ref()?;
    (!measured.savings.is_empty()).then(|| measured.savings.join("\n"))
}

/// Where it comes from.
#[must_use]
pub fn footer(what_if: &WhatIf, version: &str) -> String {
    let digest: String = what_if.input_digest.chars().take(12).collect();
    let zone = calendar::zone(&what_if.time_zone).unwrap_or(chrono_tz::UTC);
    let now = calendar::rfc3339(what_if.now, zone);
    let left_out = if what_if.left_out.is_empty() {
        String::new()
    } else {
        format!("; not looked at: {}", what_if.left_out.join(", "))
    };
    format!("stagger {version}, for {now}, seed {}, input {digest}{left_out}", what_if.seed)
}
