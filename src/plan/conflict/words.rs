//! Conflicts in one sentence.

use crate::calendar;
use crate::plan::snapshot::{Cell, Snapshot};
use crate::units::{Seconds, Timestamp};

use super::certificate::Certificate;
use super::filter::Filtered;

/// `4 workloads must do 8 GPU-hours on a100 between 12:00 and 14:00, which holds 4.`
pub(super) fn overload(snapshot: &Snapshot, certificate: &Certificate) -> String {
    let cell = snapshot.cell(certificate.cell);
    let (from, to) = (time(snapshot, certificate.from), time(snapshot, certificate.to));
    let (needed, held) = (hours(cell, certificate.needed), hours(cell, certificate.held));
    let who = names(snapshot, &certificate.workloads);
    let flavor = &cell.flavor;
    let amount = match certificate.amount {
        Some(amount) if amount > 0 => {
            format!(
                " ({} at a time)",
                cell.resource.quantity(crate::units::Amount(i64::try_from(amount).unwrap_or(i64::MAX)))
            )
        }
        _ => String::new(),
    };
    format!("{who} must do {needed} {} on {flavor} between {from} and {to}, which holds {held}{amount}.", unit(cell))
}

pub(super) fn too_long(snapshot: &Snapshot, late: usize, runtime: Seconds) -> String {
    let workload = &snapshot.workloads[late];
    let start = time(snapshot, workload.earliest_start.max(snapshot.now));
    let due = workload.due.as_ref().map(|due| time(snapshot, due.at)).unwrap_or_default();
    let name = workload.key.name();
    format!("{name} takes {} and may not start before {start}, so it cannot end by {due}.", runtime.human())
}

pub(super) fn no_plan(snapshot: &Snapshot, filtered: &Filtered) -> String {
    let who = names(snapshot, &filtered.workloads);
    let all = if filtered.workloads.len() == 1 { "cannot end in time" } else { "cannot all end in time" };
    let doubt = if filtered.proven { "" } else { " in any plan that was tried; none is ruled out" };
    format!("{who} {all}{doubt}.")
}

fn names(snapshot: &Snapshot, workloads: &[usize]) -> String {
    let name = |at: &usize| snapshot.workloads[*at].key.name().to_owned();
    match workloads {
        [one] => name(one),
        [one, two] => format!("{} and {}", name(one), name(two)),
        many => format!("{} workloads", many.len()),
    }
}

fn unit(cell: &Cell) -> String {
    if cell.resource.is_accelerator() {
        "GPU-hours".to_owned()
    } else if cell.resource.is_milli() {
        "core-hours".to_owned()
    } else {
        format!("{}-hours", cell.resource)
    }
}

/// Amount × seconds as hours of whole units, with one decimal where they are not whole; rounded down.
fn hours(cell: &Cell, energy: i128) -> String {
    let per_unit = i128::from(if cell.resource.is_milli() { 1000 } else { cell.resource.units_per_gpu() });
    let tenths = energy * 10 / (3600 * per_unit);
    if tenths % 10 == 0 { format!("{}", tenths / 10) } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

fn time(snapshot: &Snapshot, at: Timestamp) -> String {
    calendar::day_time(at, snapshot.now, calendar::zone(&snapshot.time_zone).unwrap_or(chrono_tz::UTC))
}
