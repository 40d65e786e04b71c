//! Demand and capacity as steps: options side by side on equal axes, and the one that is bought at large.

use super::{scrolled, section as page_section, table};
use crate::plan::curve::{self, Steps};
use crate::plan::snapshot::CellId;
use crate::plan::whatif::words::{time, title};
use crate::plan::whatif::{Basis, Row, WhatIf};
use crate::report::steps_picture::{Frame, Picture, close, figure, open};
use crate::units::{Amount, Seconds, Timestamp};

/// A page with more pictures than this is not looked at; the table of options has every row.
const MOST_ROWS: usize = 9;
/// Pools that are drawn.
const MOST_CELLS: usize = 3;

const SMALL: Frame = Frame::new(380, 180);
const LARGE: Frame = Frame::new(1040, 240);

/// What all pictures of one cell share.
struct Axes<'a> {
    what_if: &'a WhatIf,
    cell: CellId,
    from: Timestamp,
    to: Timestamp,
    most: Amount,
}

pub(super) fn before_and_after(what_if: &WhatIf) -> String {
    let Some(base) = what_if.rows.first() else { return String::new() };
    let mut body = String::new();
    for (at, cell) in cells(what_if).into_iter().enumerate() {
        let axes = axes(what_if, cell);
        let named = base.snapshot.cell(cell);
        open(&mut body, named);
        for (number, row) in what_if.rows.iter().take(MOST_ROWS).enumerate() {
            let held = row.demand.get(&cell).cloned().unwrap_or_default();
            let quantity = |amount| named.resource.quantity(amount);
            let there = capacity(row, cell).most();
            let caption = format!(
                "{}: peak {} of {}, {} late",
                title(row),
                quantity(held.most()),
                quantity(there),
                row.summary.late
            );
            let svg = draw(&axes, SMALL, &format!("row-{at}-{number}"), &caption, row);
            figure(&mut body, &svg, &caption);
        }
        close(&mut body);
    }
    let titles = ["Option", "#Peak", "#On time", "#Late", "Last end"];
    let rows = what_if.rows.iter().map(|row| {
        let last = row.ends_at().map_or_else(|| "-".to_owned(), |at| time(&row.snapshot, at));
        let peak = crate::report::whatif_text::peak(row);
        vec![title(row), peak, row.summary.on_time.to_string(), row.summary.late.to_string(), last]
    });
    body.push_str(&table("demand", &titles, rows));
    let find = |basis| what_if.rows.iter().find(|row| row.basis == basis);
    let takeaway = match (find(Basis::AllAtOnce), find(Basis::Staggered)) {
        (Some(once), Some(staggered)) => format!(
            "The same work peaks at {} when it starts at once and at {} when it is staggered.",
            crate::report::whatif_text::peak(once),
            crate::report::whatif_text::peak(staggered)
        ),
        _ => "The same work under each option.".to_owned(),
    };
    page_section("demand", "Before and after", &takeaway, &body)
}

pub(super) fn bought(what_if: &WhatIf) -> String {
    let wanted = if what_if.verdict.addition.is_empty() { Basis::Staggered } else { Basis::SmallestPool };
    let Some(row) = what_if.rows.iter().find(|row| row.basis == wanted) else { return String::new() };
    let mut body = String::new();
    for (at, cell) in cells(what_if).into_iter().enumerate() {
        let axes = axes(what_if, cell);
        let named = row.snapshot.cell(cell);
        let caption = format!("{} {}, {}", named.flavor, named.resource, title(row));
        body.push_str(&scrolled(&draw(&axes, LARGE, &format!("bought-{at}"), &caption, row)));
        body.push_str(&steps_table(what_if, row, cell));
    }
    let takeaway = match what_if.verdict.addition.as_slice() {
        [] => "Today's capacity holds the staggered work; nothing is bought.".to_owned(),
        additions => {
            let each = additions.iter().map(|one| {
                let (from, to) = (time(&row.snapshot, one.from), time(&row.snapshot, one.to));
                format!("{} {} from {from} to {to}", one.resource.quantity(one.quantity), one.flavor)
            });
            format!("What is bought is needed only for these hours: {}.", each.collect::<Vec<_>>().join(", "))
        }
    };
    page_section("capacity", "Capacity and demand", &takeaway, &body)
}

/// Every step of demand, with what there is today and what is bought.
fn steps_table(what_if: &WhatIf, row: &Row, cell: CellId) -> String {
    /// A longer list is no table any more; the data at the end of the page has the plan's figures.
    const MOST_STEPS: usize = 200;
    let held = row.demand.get(&cell).cloned().unwrap_or_default();
    let (there, today) = (capacity(row, cell), today(what_if, cell));
    let quantity = |amount| row.snapshot.cell(cell).resource.quantity(amount);
    let steps = held.changes().iter().filter(|step| step.0 >= what_if.now).take(MOST_STEPS).map(|(at, amount)| {
        let more = (there.at(*at) - today.at(*at)).max(Amount::ZERO);
        vec![time(&row.snapshot, *at), quantity(*amount), quantity(today.at(*at)), quantity(more)]
    });
    table("steps", &["From", "#Held", "#There today", "#Bought"], steps)
}

fn cells(what_if: &WhatIf) -> Vec<CellId> {
    let mut cells: Vec<CellId> = what_if.axes.iter().map(|axis| axis.cell).collect();
    let mut seen = std::collections::BTreeSet::new();
    cells.retain(|cell| seen.insert(*cell));
    cells.truncate(MOST_CELLS);
    cells
}

/// What a row's pool offers; for everything at once, its own peak where that is more.
fn capacity(row: &Row, cell: CellId) -> Steps {
    curve::capacity(&row.snapshot, cell)
}

fn today(what_if: &WhatIf, cell: CellId) -> Steps {
    let staggered = what_if.rows.iter().find(|row| row.basis == Basis::Staggered);
    staggered.map_or_else(Steps::default, |row| capacity(row, cell))
}

/// The same for every row, so that pictures can be compared.
fn axes(what_if: &WhatIf, cell: CellId) -> Axes<'_> {
    let demands = || what_if.rows.iter().filter_map(|row| row.demand.get(&cell));
    let last = demands().filter_map(|steps| steps.changes().last()).map(|step| step.0).max();
    let from = what_if.now;
    let to = last.unwrap_or(what_if.horizon_end).max(from + Seconds::HOUR);
    let tops = demands().map(Steps::most).chain(what_if.rows.iter().map(|row| capacity(row, cell).most()));
    let most = tops.max().unwrap_or(Amount(1)).max(Amount(1));
    Axes { what_if, cell, from, to, most }
}

fn draw(axes: &Axes<'_>, frame: Frame, id: &str, caption: &str, row: &Row) -> String {
    let resource = &row.snapshot.cell(axes.cell).resource;
    let span = (axes.from, axes.to);
    let mut picture = Picture::new(frame, [id, &title(row), caption], span, (axes.most, resource));
    let (there, today) = (capacity(row, axes.cell), today(axes.what_if, axes.cell));
    picture.above("bought", &there, &today);
    let held = row.demand.get(&axes.cell).cloned().unwrap_or_default();
    picture.fill("demand", &held);
    picture.above("over", &held, &there);
    picture.line("cap", &there);
    let marks = crate::plan::axis::round_durations(Seconds::ZERO, axes.to - axes.from, 4);
    let ticks: Vec<_> =
        marks.into_iter().map(|mark| axes.from + mark).map(|at| (at, time(&row.snapshot, at))).collect();
    picture.finish(ticks.iter().map(|(at, label)| (*at, label.as_str(), None)))
}
