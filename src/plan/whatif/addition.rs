//! The smallest purchase that helps: how many of what, and for which hours at the least.

use crate::names::{FlavorName, QueueName, ResourceName};
use crate::plan::check::{capacity_ok, cost_of};
use crate::plan::proposal::Plan;
use crate::plan::snapshot::{Policy, Snapshot, Window, WindowEffect};
use crate::units::{Amount, Money, Timestamp};

use super::pool::{Axis, giver};
use super::target::Target;

/// Capacity beyond today's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    /// The ClusterQueue or Cohort whose quota grows.
    pub queue: QueueName,
    pub quantity: Amount,
    /// The shortest stretch found in which the plan needs it.
    pub from: Timestamp,
    pub to: Timestamp,
    /// For that stretch, at the rate card's prices.
    pub cost: Option<Money>,
    /// Fewer were shown not to be enough.
    pub proven: bool,
    pub(super) axis: usize,
}

/// What `plan`, made for pools larger than today's by `quantity` on this axis, needs of it and when.
pub(super) fn of_plan(
    today: &Snapshot,
    policy: &Policy,
    plan: &Plan,
    (at, axis): (usize, &Axis),
    quantity: Amount,
    proven: bool,
) -> Addition {
    let node = giver(today, axis.root, axis.cell);
    let (from, to) = stretch(today, policy, plan, axis, quantity);
    Addition {
        flavor: axis.flavor.clone(),
        resource: axis.resource.clone(),
        queue: today.node(node).name.clone(),
        quantity,
        from,
        to,
        cost: cost_of(today, axis.cell, quantity, from, to),
        proven,
        axis: at,
    }
}

/// Halvings at each end of the window: instants in question are few hundreds at most.
const HALVINGS_MAX: usize = 10;

/// The same purchase for fewer hours, where a plan that starts work at other times does with them: first from as late as
/// possible, then until as early as possible. What is tried are the instants at which some hard deadline's work must
/// begin, may end, may begin or must end.
pub(super) fn narrowed(today: &Snapshot, target: &Target<'_>, addition: Addition) -> Addition {
    let axis = &target.axes[addition.axis];
    let node = giver(today, axis.root, axis.cell);
    let enough = |start: Timestamp, end: Timestamp| {
        let mut snapshot = target.snapshot.clone();
        let (name, quantity) = ("rented".to_owned(), addition.quantity);
        snapshot.windows.push(Window { name, node, cell: axis.cell, effect: WindowEffect::Add, quantity, start, end });
        target.suffices(&snapshot)
    };
    let mut instants: Vec<Timestamp> = Vec::new();
    for workload in &target.snapshot.workloads {
        let Some(due) = workload.hard_due() else { continue };
        let start = workload.earliest_start.max(today.now);
        let held = workload.options.iter().map(|option| option.held(target.policy.promise));
        instants.extend(held.flat_map(|held| [due - held, start + held]));
        instants.extend([start, due]);
    }
    instants.extend([addition.from, addition.to]);
    instants.retain(|at| addition.from <= *at && *at <= addition.to);
    instants.sort_unstable();
    instants.dedup();
    let last = instants.len() - 1;
    // Invariant: `first` is early enough, `too_late` is not.
    let (mut first, mut too_late) = (0, last);
    for _ in 0..HALVINGS_MAX {
        let middle = first + (too_late - first) / 2;
        if middle == first {
            break;
        }
        if enough(instants[middle], addition.to) { first = middle } else { too_late = middle }
    }
    let (mut until, mut too_early) = (last, first);
    for _ in 0..HALVINGS_MAX {
        let middle = too_early + (until - too_early) / 2;
        if middle == too_early {
            break;
        }
        if enough(instants[first], instants[middle]) { until = middle } else { too_early = middle }
    }
    let (from, to) = (instants[first], instants[until]);
    let cost = cost_of(today, axis.cell, addition.quantity, from, to);
    Addition { from, to, cost, ..addition }
}

/// The shortest window of more quota under which the plan fits today's pool, by its own starts and ends.
fn stretch(today: &Snapshot, policy: &Policy, plan: &Plan, axis: &Axis, quantity: Amount) -> (Timestamp, Timestamp) {
    let pieces = plan.releases.iter().flat_map(|release| &release.pieces);
    let mut instants: Vec<Timestamp> = pieces.flat_map(|piece| [piece.start, piece.end]).collect();
    instants.push(today.now);
    instants.sort_unstable();
    instants.dedup();
    let node = giver(today, axis.root, axis.cell);
    let holds = |start: Timestamp, end: Timestamp| {
        let mut snapshot = today.clone();
        let name = "bought".to_owned();
        snapshot.windows.push(Window { name, node, cell: axis.cell, effect: WindowEffect::Add, quantity, start, end });
        capacity_ok(&snapshot, policy, &plan.releases).is_ok()
    };
    let (first, last) = (instants[0], instants[instants.len() - 1]);
    if first == last || !holds(first, last) {
        return (first, today.horizon_end.max(last));
    }
    let end = instants.partition_point(|at| *at <= first || !holds(first, *at)).min(instants.len() - 1);
    let to = instants[end];
    let start = instants.partition_point(|at| *at < to && holds(*at, to)).saturating_sub(1);
    (instants[start], to)
}
