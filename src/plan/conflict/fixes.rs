//! The smallest changes that resolve a conflict, each shown by planning again with it.
//!
//! A change is accepted when the new, checked plan meets every deadline of the conflict and misses no more value elsewhere
//! than before. Only workloads with hard deadlines are planned in such trials: all others can wait.
//! Sizes are the smallest found: by bisection for capacity and earlier starts, by stepping below what was reached for
//! deadlines. Order: what costs nothing (an earlier start, a declared tolerance, another flavor, a later deadline), then
//! capacity by its price.

use crate::plan::check::{capacity_ok, cost_of, held_until};
use crate::plan::proposal::{Fix, Plan};
use crate::plan::snapshot::{
    CellId, Interruption, NodeId, NodeKind, Policy, RunOption, Snapshot, Window, WindowEffect, Workload,
};
use crate::units::{Amount, Seconds, Timestamp, gcd};

use super::certificate::Certificate;
use super::trial::{Outcome, Trials, end_of, missed};

/// Members of a conflict on which one kind of change is tried: a person changes one.
const MEMBERS_MAX: usize = 3;
/// Halvings and steps towards the smallest size of one change.
const STEPS_MAX: usize = 6;
/// What an interruptible workload is taken to lose and to pay: an ordinary checkpoint.
pub(in crate::plan) const TOLERANT: Interruption =
    Interruption::Checkpointable { interval: Seconds(600), cost: Seconds(300), max: 3 };

/// Verified fixes of the conflict `set`, cheapest first, at most `most`.
pub(super) fn find(
    trials: &Trials<'_>,
    plan: &Plan,
    set: &[usize],
    certificate: Option<&Certificate>,
    most: usize,
) -> Vec<Fix> {
    let bench = Bench::new(trials, plan, set);
    let mut fixes = Vec::new();
    fixes.extend(bench.add_capacity(certificate));
    fixes.extend(bench.move_deadline());
    fixes.extend(bench.start_earlier());
    fixes.extend(bench.use_flavor());
    fixes.extend(bench.allow_interruption());
    fixes.sort_by_key(rank);
    fixes.truncate(most);
    fixes
}

fn rank(fix: &Fix) -> (u8, i128) {
    match fix {
        Fix::StartEarlier { by, .. } => (0, i128::from(by.0)),
        Fix::AllowInterruption { .. } => (1, 0),
        Fix::UseFlavor { .. } => (2, 0),
        Fix::MoveDeadline { by, .. } => (3, i128::from(by.0)),
        Fix::AddCapacity { cost: Some(cost), .. } => (4, cost.nanos),
        Fix::AddCapacity { quantity, cost: None, .. } => (5, i128::from(quantity.0)),
    }
}

/// The hard deadlines alone, and what counts as resolved.
struct Bench<'a> {
    trials: &'a Trials<'a>,
    /// Only workloads with hard deadlines.
    snapshot: Snapshot,
    /// The conflict's members in it; the late ones first.
    members: Vec<usize>,
    /// Value that may be missed at most.
    missed_max: i128,
    /// What divides every span of the snapshot: starts and ends that matter lie on its multiples from now.
    grain: Seconds,
}

impl<'a> Bench<'a> {
    fn new(trials: &'a Trials<'a>, plan: &Plan, set: &[usize]) -> Self {
        let all = trials.snapshot;
        let hard: Vec<_> = (0..all.workloads.len()).filter(|at| all.workloads[*at].hard_due().is_some()).collect();
        let late = missed(all, plan);
        let missed_max =
            late.iter().filter(|at| !set.contains(at)).map(|at| i128::from(all.workloads[*at].value)).sum();
        let mut ordered: Vec<_> = set.to_vec();
        ordered.sort_by_key(|at| (!late.contains(at), *at));
        let members = ordered.iter().filter_map(|at| hard.binary_search(at).ok()).collect();
        let snapshot = trials.only(&hard);
        let grain = grain(&snapshot, trials.policy);
        Self { trials, snapshot, members, missed_max, grain }
    }

    /// The plan of a changed snapshot, if it resolves the conflict.
    fn resolved(&self, change: impl FnOnce(&mut Snapshot)) -> Option<Outcome> {
        let mut snapshot = self.snapshot.clone();
        change(&mut snapshot);
        let outcome = self.trials.plan(&snapshot)?;
        let value: i128 = outcome.missed.iter().map(|at| i128::from(snapshot.workloads[*at].value)).sum();
        let met = self.members.iter().all(|at| !outcome.missed.contains(at));
        (met && value <= self.missed_max).then_some(outcome)
    }

    fn member(&self, at: usize) -> &Workload {
        &self.snapshot.workloads[at]
    }

    fn held(&self, at: usize) -> Seconds {
        let policy = self.trials.policy;
        self.member(at).options.iter().map(|option| option.held(policy.promise)).max().unwrap_or_default()
    }

    fn add_capacity(&self, certificate: Option<&Certificate>) -> Option<Fix> {
        let late = self.member(*self.members.first()?);
        let cell = match certificate {
            Some(certificate) => certificate.cell,
            None => late.options.first()?.uses.first()?.0,
        };
        let (from, to) = match certificate {
            Some(certificate) => (certificate.from, certificate.to),
            None => self.time_span()?,
        };
        let node = self.common_node();
        let with = |quantity: i64| {
            let window = addition(node, cell, Amount(quantity), from, to);
            self.resolved(|snapshot| snapshot.windows.push(window))
        };
        let most: i64 = self.members.iter().map(|at| most_of(self.member(*at), cell)).fold(0, i64::saturating_add);
        // What is lacking, spread over the interval and rounded up.
        let lacking = |c: &Certificate| -(c.held - c.needed).div_euclid(i128::from((c.to - c.from).0.max(1)));
        let least = certificate.map_or(1, lacking);
        let least = i64::try_from(least).unwrap_or(1).clamp(1, most.max(1));
        let (mut too_few, mut enough, mut outcome) = match with(least) {
            Some(outcome) => (least - 1, least, outcome),
            None => (least, most, with(most)?),
        };
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            match with(middle) {
                Some(better) => (enough, outcome) = (middle, better),
                None => too_few = middle,
            }
        }
        let (from, to) = self.tightened(&outcome, node, cell, Amount(enough), (from, to));
        let named = self.snapshot.cell(cell);
        let cost = cost_of(&self.snapshot, cell, Amount(enough), from, to);
        Some(Fix::AddCapacity {
            flavor: named.flavor.clone(),
            resource: named.resource.clone(),
            quantity: Amount(enough),
            from,
            to,
            cost,
        })
    }

    /// The shortest window in which that plan still stays within quota, by its own starts and ends.
    fn tightened(
        &self,
        outcome: &Outcome,
        node: NodeId,
        cell: CellId,
        quantity: Amount,
        (from, to): (Timestamp, Timestamp),
    ) -> (Timestamp, Timestamp) {
        let holds = |from, to| {
            let mut snapshot = self.snapshot.clone();
            snapshot.windows.push(addition(node, cell, quantity, from, to));
            capacity_ok(&snapshot, self.trials.policy, &outcome.plan.releases).is_ok()
        };
        let pieces = outcome.plan.releases.iter().flat_map(|release| &release.pieces);
        let mut instants: Vec<_> = pieces.flat_map(|piece| [piece.start, piece.end]).collect();
        instants.retain(|at| from < *at && *at < to);
        instants.extend([from, to]);
        instants.sort_unstable();
        instants.dedup();
        let end = instants.partition_point(|at| *at <= from || !holds(from, *at)).min(instants.len() - 1);
        let to = instants[end];
        let start = instants.partition_point(|at| *at < to && holds(*at, to)).saturating_sub(1);
        (instants[start], to)
    }

    fn move_deadline(&self) -> Option<Fix> {
        let room: Seconds = self.members.iter().map(|at| self.held(*at)).sum();
        let tried = self.members.iter().take(MEMBERS_MAX);
        let moves = tried.filter_map(|&at| Some((self.smallest_move(at, room)?, at)));
        // The late ones come first, and stay first among equals.
        let (by, at) = moves.min_by_key(|(by, _)| *by)?;
        let workload = self.member(at);
        Some(Fix::MoveDeadline { workload: workload.key.clone(), by, to: workload.hard_due()? + by })
    }

    /// The smallest later due time found, starting from one by which the whole conflict could be over.
    fn smallest_move(&self, at: usize, room: Seconds) -> Option<Seconds> {
        let due = self.member(at).hard_due()?;
        let moved = |by: Seconds| {
            let outcome = self.resolved(|snapshot| {
                if let Some(due) = &mut snapshot.workloads[at].due {
                    due.at = due.at + by;
                }
            })?;
            Some(end_of(&outcome.plan, self.member(at))? - due)
        };
        let mut smallest = moved(room)?;
        for _ in 0..STEPS_MAX {
            match moved(smallest - self.grain) {
                Some(smaller) if smaller > Seconds::ZERO => smallest = smaller,
                _ => break,
            }
        }
        (smallest > Seconds::ZERO).then_some(smallest)
    }

    fn start_earlier(&self) -> Option<Fix> {
        let now = self.snapshot.now;
        let waiting = self.members.iter().copied().filter(|at| self.member(*at).earliest_start > now);
        waiting.take(MEMBERS_MAX).find_map(|at| {
            let room = self.member(at).earliest_start - now;
            let helps = |by: Seconds| {
                self.resolved(|snapshot| {
                    let start = &mut snapshot.workloads[at].earliest_start;
                    *start = *start - by;
                })
                .is_some()
            };
            if !helps(room) {
                return None;
            }
            let (mut too_few, mut grains) = (0, room.0 / self.grain.0);
            for _ in 0..STEPS_MAX * 2 {
                let middle = too_few + (grains - too_few) / 2;
                if middle == too_few {
                    break;
                }
                if helps(Seconds(middle * self.grain.0)) {
                    grains = middle;
                } else {
                    too_few = middle;
                }
            }
            let by = Seconds(grains * self.grain.0);
            Some(Fix::StartEarlier { workload: self.member(at).key.clone(), by })
        })
    }

    fn use_flavor(&self) -> Option<Fix> {
        let candidates =
            self.members.iter().flat_map(|&at| self.excluded(at).into_iter().map(move |option| (at, option)));
        candidates.take(MEMBERS_MAX).find_map(|(at, option)| {
            let flavor = option.flavor.clone();
            self.resolved(|snapshot| snapshot.workloads[at].options.push(option))?;
            Some(Fix::UseFlavor { workload: self.member(at).key.clone(), flavor })
        })
    }

    /// Options on flavors that its queue has but the workload excludes, with the same runtime.
    fn excluded(&self, at: usize) -> Vec<RunOption> {
        let workload = self.member(at);
        let NodeKind::ClusterQueue(rules) = &self.snapshot.node(workload.queue).kind else { return Vec::new() };
        let Some(first) = workload.options.first() else { return Vec::new() };
        let group = rules.groups.iter().find(|group| group.flavors.contains(&first.flavor));
        let flavors = group.map(|group| &group.flavors[..]).unwrap_or_default();
        let others = flavors.iter().filter(|flavor| workload.options.iter().all(|option| option.flavor != **flavor));
        let on = |flavor| {
            let cell = |&(cell, amount): &(CellId, Amount)| {
                let cell = self.snapshot.cell(cell);
                let flavor = if cell.flavor == first.flavor { flavor } else { &cell.flavor };
                Some((self.snapshot.find_cell(flavor, &cell.resource)?, amount))
            };
            let mut uses = first.uses.iter().map(cell).collect::<Option<Vec<_>>>()?;
            uses.sort_unstable();
            Some(RunOption { flavor: flavor.clone(), uses, runtime: first.runtime })
        };
        others.filter_map(on).collect()
    }

    fn allow_interruption(&self) -> Option<Fix> {
        let mut rigid: Vec<_> =
            self.members.iter().copied().filter(|at| self.member(*at).interruption == Interruption::None).collect();
        rigid.sort_by_key(|at| std::cmp::Reverse(self.held(*at)));
        rigid.into_iter().take(MEMBERS_MAX).find_map(|at| {
            self.resolved(|snapshot| snapshot.workloads[at].interruption = TOLERANT)?;
            Some(Fix::AllowInterruption { workload: self.member(at).key.clone() })
        })
    }

    /// Where more quota reaches every member: their queue, or the root of their tree.
    fn common_node(&self) -> NodeId {
        let first = self.member(self.members[0]).queue;
        if self.members.iter().all(|at| self.member(*at).queue == first) {
            return first;
        }
        self.snapshot.path_to_root(first).last().unwrap_or(first)
    }

    fn time_span(&self) -> Option<(Timestamp, Timestamp)> {
        let starts = self.members.iter().map(|at| self.member(*at).earliest_start.max(self.snapshot.now));
        let dues = self.members.iter().filter_map(|at| self.member(*at).hard_due());
        let (from, to) = (starts.min()?, dues.max()?);
        (from < to).then_some((from, to))
    }
}

fn addition(node: NodeId, cell: CellId, quantity: Amount, start: Timestamp, end: Timestamp) -> Window {
    Window { name: "tried".to_owned(), node, cell, effect: WindowEffect::Add, quantity, start, end }
}

fn most_of(workload: &Workload, cell: CellId) -> i64 {
    let amounts = workload.options.iter().flat_map(|option| &option.uses).filter(|(of, _)| *of == cell);
    amounts.map(|(_, amount)| amount.0).max().unwrap_or(0)
}

/// The greatest common divisor of all spans from now, at least a second.
fn grain(snapshot: &Snapshot, policy: &Policy) -> Seconds {
    let from_now = |at: Timestamp| at.0.abs_diff(snapshot.now.0);
    let workloads = snapshot.workloads.iter().flat_map(|workload| {
        let held = workload.options.iter().map(|option| option.held(policy.promise).0.unsigned_abs());
        let due = workload.hard_due().map(from_now);
        held.chain(due).chain([from_now(workload.earliest_start.max(snapshot.now))])
    });
    let running = snapshot.running.iter().map(|running| from_now(held_until(snapshot, policy.promise, running)));
    let windows = snapshot.windows.iter().flat_map(|window| [window.start, window.end]).map(from_now);
    let divisor = workloads.chain(running).chain(windows).fold(0, gcd);
    Seconds(i64::try_from(divisor.max(1)).unwrap_or(1))
}
