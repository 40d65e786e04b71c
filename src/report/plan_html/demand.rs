//! Demand against capacity, with and without stagger, on equal axes; and the same as figures.

use super::{Page, put, section as page_section, table};
use crate::plan::axis::Axis;
use crate::plan::curve::{self, Steps};
use crate::plan::proposal::{Peak, Summary};
use crate::plan::snapshot::{CellId, Snapshot};
use crate::report::steps_picture::{Frame, Picture, close, figure, open};
use crate::units::{Amount, div_round_half_even};

/// Two lines of labels below.
const FRAME: Frame = Frame { width: 380, height: 190, left: 40, right: 370, top: 12, bottom: 160 };
/// A page with more pictures than this is not looked at; the table below has every cell.
const MOST_CELLS: usize = 8;
/// A demand of more than so many times the capacity is cut off.
const CUT: i64 = 4;

pub(super) fn section(page: &Page<'_>) -> String {
    let over = page.scene.plan.before.all_at_once.peak.iter().any(|peak| peak.peak > peak.capacity);
    let takeaway = if over {
        "Staggered starts stay within the capacity line; started at once the same work would not."
    } else {
        "The work fits within the capacity line however it starts."
    };
    let mut body = String::new();
    let cells = curve::pictured(page.scene.snapshot);
    for (at, cell) in cells.iter().take(MOST_CELLS).enumerate() {
        body.push_str(&multiples(page, at, *cell));
    }
    if cells.len() > MOST_CELLS {
        put(&mut body, format_args!("<p class=\"small\">{} more in the table.</p>\n", cells.len() - MOST_CELLS));
    }
    body.push_str(&figures(page));
    page_section("demand", "Demand against capacity", takeaway, &body)
}

fn multiples(page: &Page<'_>, at: usize, cell: CellId) -> String {
    let snapshot = page.scene.snapshot;
    let shown = snapshot.cell(cell);
    let capacity = curve::capacity(snapshot, cell);
    let mut curves = vec![("Staggered", curve::planned(&page.scene, cell))];
    if let Some(steps) = page.scene.kueue.and_then(|kueue| kueue.get(&cell)) {
        curves.push(("Kueue alone", steps.clone()));
    }
    curves.push(("All at once", curve::at_once(snapshot, cell)));
    let axis = common_axis(page, &curves);
    // Starting everything at once can want many times the capacity; cut there, the other curves stay readable.
    let cut = Amount(capacity.most().0.saturating_mul(CUT)).max(curves[0].1.most());
    let most = curves.iter().map(|(_, steps)| steps.most().min(cut)).fold(capacity.most(), Ord::max).max(Amount(1));
    let running = curve::running(snapshot, page.scene.promise, cell);
    let name = format!("{} {}", shown.flavor, shown.resource);
    let mut html = String::new();
    open(&mut html, shown);
    for (number, (label, steps)) in curves.iter().enumerate() {
        let peak = shown.resource.quantity(steps.most());
        let offered = shown.resource.quantity(capacity.most());
        let over = match (steps.most() > capacity.most(), steps.most() > most) {
            (_, true) => ": too many, cut off here",
            (true, _) => ": too many",
            _ => "",
        };
        let caption = format!("{label}: peak {peak} of {offered}{over}");
        let small = Small { snapshot, axis: &axis, most, capacity: &capacity, running: &running, cell };
        let svg = small.draw(&format!("demand-{at}-{number}"), &format!("{name}, {label}"), &caption, steps);
        figure(&mut html, &svg, &caption);
    }
    close(&mut html);
    html
}

/// Long enough for every curve to come to its end, but not more than three times the plan's own axis.
fn common_axis(page: &Page<'_>, curves: &[(&str, Steps)]) -> Axis {
    let axis = Axis::of(&page.scene);
    let last = curves.iter().filter_map(|(_, steps)| steps.changes().last()).map(|step| step.0).max();
    let reach = axis.from + crate::units::Seconds((axis.to - axis.from).0.saturating_mul(3));
    Axis { to: axis.to.max(last.unwrap_or(axis.to).min(reach)), ..axis }
}

struct Small<'a> {
    snapshot: &'a Snapshot,
    axis: &'a Axis,
    most: Amount,
    capacity: &'a Steps,
    running: &'a Steps,
    cell: CellId,
}

impl Small<'_> {
    fn draw(&self, id: &str, title: &str, description: &str, demand: &Steps) -> String {
        let span = (self.axis.from, self.axis.to);
        let resource = &self.snapshot.cell(self.cell).resource;
        let mut picture = Picture::new(FRAME, [id, title, description], span, (self.most, resource));
        picture.fill("demand", demand);
        picture.fill("held", &below(self.running, demand));
        picture.above("over", demand, self.capacity);
        picture.line("cap", self.capacity);
        let ticks = self.axis.ticks(4);
        picture.finish(ticks.iter().map(|tick| (tick.at, tick.label.as_str(), tick.day.as_deref())))
    }
}

/// Running work as far as a curve contains it.
fn below(running: &Steps, demand: &Steps) -> Steps {
    if running.changes().is_empty() || demand.changes().is_empty() { Steps::default() } else { running.clone() }
}

/// The before-and-after table.
fn figures(page: &Page<'_>) -> String {
    let plan = page.scene.plan;
    let before = &plan.before;
    let mut columns: Vec<(&str, &Summary)> = vec![("#All at once, quota ignored", &before.all_at_once)];
    columns.extend(before.kueue_alone.as_ref().map(|kueue| ("#Kueue alone", kueue)));
    columns.push(("#Staggered", &plan.summary));
    let titles: Vec<&str> = std::iter::once("").chain(columns.iter().map(|(title, _)| *title)).collect();
    let row = |label: String, value: &dyn Fn(&Summary) -> String| {
        std::iter::once(label).chain(columns.iter().map(|(_, summary)| value(summary))).collect::<Vec<_>>()
    };
    let mut rows = vec![
        row("Deadlines met".to_owned(), &|it| it.on_time.to_string()),
        row("At risk (in time at the median, not at p90)".to_owned(), &|it| it.at_risk.to_string()),
        row("Late".to_owned(), &|it| it.late.to_string()),
        row("Last end, from now".to_owned(), &|it| it.makespan.human()),
        row("GPU-hours".to_owned(), &|it| hours(it.gpu_seconds)),
    ];
    for peak in plan.peaks.iter().filter(|peak| peak.peak > Amount::ZERO || peak.resource.is_accelerator()) {
        let label = format!("Peak {} {} of {}", peak.flavor, peak.resource, peak.resource.quantity(peak.capacity));
        let same = |it: &&Peak| it.flavor == peak.flavor && it.resource == peak.resource;
        rows.push(row(label, &|it| {
            it.peak.iter().find(same).map_or_else(|| "-".to_owned(), |found| found.resource.quantity(found.peak))
        }));
    }
    if columns.iter().any(|(_, summary)| summary.cost.is_some()) {
        let currency = plan.summary.currency.as_deref().unwrap_or("");
        let label = format!("Cost in {currency}");
        rows.push(row(label, &|it| it.cost.map_or_else(|| "-".to_owned(), crate::units::Money::cents)));
    }
    table("figures", &titles, rows)
}

/// GPU-seconds as hours to one tenth.
fn hours(gpu_seconds: i128) -> String {
    let tenths = div_round_half_even(gpu_seconds, 360);
    format!("{}.{}", tenths / 10, tenths % 10)
}
