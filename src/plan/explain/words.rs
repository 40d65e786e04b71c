//! Amounts, names and times as people say them.

use crate::calendar;
use crate::names::{FlavorName, ResourceName, WorkloadKey};
use crate::plan::snapshot::{Cell, CellId, Snapshot};
use crate::units::{Amount, Timestamp};

/// How many names a sentence lists before it counts the others.
pub(super) const NAMES_MAX: usize = 2;

pub(super) fn time(snapshot: &Snapshot, at: Timestamp) -> String {
    calendar::day_time(at, snapshot.now, super::zone(snapshot))
}

/// `a100 GPUs`, `a100 GPU`, or for what is no whole GPU `cpu on standard`.
pub(super) fn unit(cell: &Cell, amount: Amount) -> String {
    if cell.resource.is_accelerator() && cell.resource.as_str().ends_with("/gpu") {
        let plural = if amount == Amount(1) { "" } else { "s" };
        format!("{} GPU{plural}", cell.flavor)
    } else {
        format!("{} on {}", cell.resource, cell.flavor)
    }
}

/// `4 a100 GPUs`.
pub(super) fn quantity(cell: &Cell, amount: Amount) -> String {
    format!("{} {}", cell.resource.quantity(amount), unit(cell, amount))
}

/// `eval-1`, `eval-1 and eval-2`, `eval-1, eval-2 and 7 others`.
pub(super) fn names(names: &[String], more: usize) -> String {
    let shown = names.len().min(NAMES_MAX);
    let hidden = names.len() - shown + more;
    match (&names[..shown], hidden) {
        ([], others) => format!("{others} others"),
        ([one], 0) => one.clone(),
        ([one, two], 0) => format!("{one} and {two}"),
        (some, 1) => format!("{} and 1 other", some.join(", ")),
        (some, others) => format!("{} and {others} others", some.join(", ")),
    }
}

/// A workload's name as its neighbours know it: without the namespace within the same one.
pub(super) fn name(who: &WorkloadKey, seen_from: &WorkloadKey) -> String {
    if who.namespace() == seen_from.namespace() { who.name().to_owned() } else { who.to_string() }
}

/// A footprint by names.
pub(super) fn needs(snapshot: &Snapshot, uses: &[(CellId, Amount)]) -> Vec<(FlavorName, ResourceName, Amount)> {
    let named = uses.iter().map(|&(cell, amount)| (snapshot.cell(cell), amount));
    named.map(|(cell, amount)| (cell.flavor.clone(), cell.resource.clone(), amount)).collect()
}
