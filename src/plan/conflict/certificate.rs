//! A proof that some deadlines conflict: an interval, a cell, and workloads that must do more there than fits.
//!
//! Whoever plans, a workload that must run within its earliest start and its due time spends some of its runtime inside
//! an interval: at least the lesser overlap of its leftmost and its rightmost run, or, if it may be interrupted, whatever
//! does not fit outside. The sum of these against what the interval holds is the certificate.

use crate::plan::snapshot::{CellId, Interruption, NodeId, Policy, RunOption, Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

use super::free::{Free, is_below};

/// Interval ends tried on each side, nearest to the late workload's own first: their product bounds the work.
const ENDS_MAX: usize = 32;

/// Interval ends tried on each side when nobody is late yet: a thousand intervals are judged in milliseconds.
const SPREAD_MAX: usize = 48;

/// `workloads` must do `needed` in `[from, to)` at one cell below one node, which holds `held` (amount × seconds).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Certificate {
    /// Indices into the snapshot's workloads, ascending.
    pub workloads: Vec<usize>,
    pub cell: CellId,
    pub node: NodeId,
    pub from: Timestamp,
    pub to: Timestamp,
    pub needed: i128,
    pub held: i128,
    /// The amount the interval offers throughout, where it is the same.
    pub amount: Option<i128>,
}

/// The shortest promised runtime of a workload that is too long for the time between its earliest start and its due time.
pub(super) fn too_long(snapshot: &Snapshot, policy: &Policy, late: usize) -> Option<Seconds> {
    let workload = &snapshot.workloads[late];
    let room = workload.due.as_ref()?.at - workload.earliest_start.max(snapshot.now);
    let shortest = workload.options.iter().map(|option| option.held(policy.promise)).min()?;
    (shortest > room).then_some(shortest)
}

/// The certificate with the fewest workloads (then the shortest interval) in which `late` takes part.
pub(super) fn find(snapshot: &Snapshot, policy: &Policy, late: usize) -> Option<Certificate> {
    let workload = &snapshot.workloads[late];
    let mut best: Option<Certificate> = None;
    // A cell takes part only when every option uses it; otherwise the workload may go elsewhere.
    let cells = workload.options.first().map(|option| &option.uses[..]).unwrap_or_default();
    for &(cell, _) in cells {
        for node in snapshot.path_to_root(workload.queue) {
            let found = at_node(snapshot, policy, late, cell, node);
            let better = |found: &Certificate| {
                best.as_ref().is_none_or(|best| {
                    (found.workloads.len(), found.to - found.from) < (best.workloads.len(), best.to - best.from)
                })
            };
            if let Some(found) = found.filter(better) {
                best = Some(found);
            }
        }
    }
    best
}

/// Whether in some interval more must be done at some root's cell than it holds, whoever is late.
pub(super) fn is_overloaded(snapshot: &Snapshot, policy: &Policy) -> bool {
    let mut places: Vec<(NodeId, CellId)> = Vec::new();
    for workload in &snapshot.workloads {
        let root = snapshot.path_to_root(workload.queue).last().unwrap_or(workload.queue);
        let cells = workload.options.first().map(|option| &option.uses[..]).unwrap_or_default();
        places.extend(cells.iter().map(|(cell, _)| (root, *cell)));
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().any(|(node, cell)| is_overloaded_at(snapshot, policy, cell, node))
}

fn is_overloaded_at(snapshot: &Snapshot, policy: &Policy, cell: CellId, node: NodeId) -> bool {
    let free = Free::of(snapshot, policy, node, cell);
    let needs: Vec<_> = (0..snapshot.workloads.len())
        .filter(|at| is_below(snapshot, snapshot.workloads[*at].queue, node))
        .filter_map(|at| Need::of(snapshot, policy, at, cell))
        .collect();
    let starts = spread(needs.iter().flat_map(|need| [need.earliest, need.latest_start()]));
    let dues = spread(needs.iter().flat_map(|need| [need.due, need.earliest_end()]));
    starts.iter().any(|from| {
        dues.iter().filter(|to| from < *to).any(|to| {
            let needed: i128 = needs.iter().map(|need| need.energy(*from, *to)).sum();
            needed > free.energy(*from, *to)
        })
    })
}

/// Distinct instants, at most [`SPREAD_MAX`] of them, evenly picked.
fn spread(instants: impl Iterator<Item = Timestamp>) -> Vec<Timestamp> {
    let mut all: Vec<_> = instants.collect();
    all.sort_unstable();
    all.dedup();
    let step = all.len().div_ceil(SPREAD_MAX).max(1);
    all.into_iter().step_by(step).collect()
}

fn at_node(snapshot: &Snapshot, policy: &Policy, late: usize, cell: CellId, node: NodeId) -> Option<Certificate> {
    let free = Free::of(snapshot, policy, node, cell);
    let needs: Vec<_> = (0..snapshot.workloads.len())
        .filter(|at| is_below(snapshot, snapshot.workloads[*at].queue, node))
        .filter_map(|at| Need::of(snapshot, policy, at, cell))
        .collect();
    let own = needs.iter().find(|need| need.workload == late)?;
    // Energies bend where a run may begin or must begin, must end or may end.
    let starts = needs.iter().flat_map(|need| [need.earliest, need.latest_start()]).filter(|at| *at < own.due);
    let starts = nearest(starts, own.earliest);
    let dues = needs.iter().flat_map(|need| [need.due, need.earliest_end()]).filter(|at| *at > own.earliest);
    let dues = nearest(dues, own.due);
    let mut best: Option<Certificate> = None;
    for &from in &starts {
        for &to in dues.iter().filter(|to| from < **to) {
            let held = free.energy(from, to);
            if let Some((workloads, needed)) = overload(&needs, own, from, to, held) {
                let shorter =
                    |best: &Certificate| (workloads.len(), to - from) < (best.workloads.len(), best.to - best.from);
                if best.as_ref().is_none_or(shorter) {
                    let amount = free.constant(from, to);
                    best = Some(Certificate { workloads, cell, node, from, to, needed, held, amount });
                }
            }
        }
    }
    best
}

/// The fewest workloads, `own` among them, that still overload the interval; those that need least are let go first.
fn overload(
    needs: &[Need<'_>],
    own: &Need<'_>,
    from: Timestamp,
    to: Timestamp,
    held: i128,
) -> Option<(Vec<usize>, i128)> {
    let mut energies: Vec<_> = needs
        .iter()
        .map(|need| (need.energy(from, to), need.workload))
        .filter(|(energy, workload)| *energy > 0 && *workload != own.workload)
        .collect();
    let mut needed = own.energy(from, to);
    let own_alone = needed;
    if own_alone == 0 {
        return None;
    }
    needed += energies.iter().map(|(energy, _)| energy).sum::<i128>();
    if needed <= held {
        return None;
    }
    energies.sort_unstable();
    let mut kept = Vec::new();
    for (energy, workload) in energies {
        if needed - energy > held {
            needed -= energy;
        } else {
            kept.push(workload);
        }
    }
    kept.push(own.workload);
    kept.sort_unstable();
    Some((kept, needed))
}

/// Distinct instants, the nearest to `around` first.
fn nearest(instants: impl Iterator<Item = Timestamp>, around: Timestamp) -> Vec<Timestamp> {
    let mut all: Vec<_> = instants.collect();
    all.sort_by_key(|at| ((*at - around).0.abs(), at.0));
    all.dedup();
    all.truncate(ENDS_MAX);
    all
}

/// A workload that must be done at a cell within `[earliest, due)`.
struct Need<'a> {
    workload: usize,
    given: &'a Workload,
    policy: &'a Policy,
    cell: CellId,
    earliest: Timestamp,
    due: Timestamp,
}

impl<'a> Need<'a> {
    fn of(snapshot: &'a Snapshot, policy: &'a Policy, at: usize, cell: CellId) -> Option<Self> {
        let given = &snapshot.workloads[at];
        let due = given.hard_due()?;
        let earliest = given.earliest_start.max(snapshot.now);
        let need = Self { workload: at, given, policy, cell, earliest, due };
        // What is too long for its own window conflicts with nobody but itself.
        given.options.iter().any(|option| need.is_in_time(option)).then_some(need)
    }

    fn shortest(&self) -> Seconds {
        self.given.options.iter().map(|option| option.held(self.policy.promise)).min().unwrap_or_default()
    }

    fn latest_start(&self) -> Timestamp {
        self.due - self.shortest()
    }

    fn earliest_end(&self) -> Timestamp {
        self.earliest + self.shortest()
    }

    fn is_in_time(&self, option: &RunOption) -> bool {
        i128::from(self.earliest.0) + i128::from(option.held(self.policy.promise).0) <= i128::from(self.due.0)
    }

    /// The least it does inside `[from, to)` on any of its options: amount × seconds.
    fn energy(&self, from: Timestamp, to: Timestamp) -> i128 {
        let in_time = self.given.options.iter().filter(|option| self.is_in_time(option));
        in_time.map(|option| self.energy_on(option, from, to)).min().unwrap_or(0)
    }

    fn energy_on(&self, option: &RunOption, from: Timestamp, to: Timestamp) -> i128 {
        let Some((_, amount)) = option.uses.iter().find(|(cell, _)| *cell == self.cell) else { return 0 };
        let (from, to) = (i128::from(from.0), i128::from(to.0));
        let (earliest, due) = (i128::from(self.earliest.0), i128::from(self.due.0));
        let held = i128::from(option.held(self.policy.promise).0);
        let overlap = |start: i128| ((start + held).min(to) - start.max(from)).max(0);
        let least = if let Interruption::Checkpointable { .. } = self.given.interruption {
            held - (from - earliest).max(0) - (due - to).max(0)
        } else {
            overlap(earliest).min(overlap(due - held))
        };
        least.max(0) * i128::from(amount.0)
    }
}
