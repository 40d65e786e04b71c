//! Whom a head may preempt, in which order, and how few of them: Kueue's classical preemption.
//!
//! Three kinds of candidates, in this order: those over whom the preemptor has a hierarchical advantage (a cohort on its
//! way up has quota for it, and they sit in it from outside), those it may reclaim from by priority, and those of its
//! own ClusterQueue. Within a kind: lower priority first, then admitted more recently, then creation and key.

use std::cmp::Reverse;

use crate::kueue::quota::Ledger;
use crate::plan::snapshot::{CellId, NodeId, PreemptionPolicy, QueueRules};
use crate::units::Amount;

use super::holders::Cluster;
use super::nominate::preempts_while_borrowing;

/// Who wants room: `needs` are the cells that lack it, `uses` all that must fit in the end.
pub(super) struct Incoming<'a> {
    pub workload: usize,
    pub queue: NodeId,
    pub rules: &'a QueueRules,
    pub needs: &'a [CellId],
    pub uses: &'a [(CellId, Amount)],
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    workload: usize,
    /// The lowest cohort over both queues; `None` in the preemptor's own queue.
    meeting: Option<NodeId>,
    /// Only when the preemptor does not borrow in the end.
    only_without_borrowing: bool,
}

/// The admitted workloads to evict so that `incoming` fits; empty when that cannot be. The ledger is left as it was.
pub(super) fn targets(cluster: &Cluster<'_>, ledger: &mut Ledger, incoming: &Incoming<'_>) -> Vec<usize> {
    let mut own = own_candidates(cluster, incoming);
    let levels = cohorts_above(ledger, incoming);
    let has_advantage = levels.iter().any(|(_, advantage)| *advantage);
    if own.is_empty()
        && !has_advantage
        && !preempts_while_borrowing(incoming.rules)
        && !is_within_quota(ledger, incoming)
    {
        // Whoever could be reclaimed from by priority may not be while the preemptor borrows, and it would.
        return Vec::new();
    }
    let (mut by_hierarchy, mut by_priority) = cohort_candidates(cluster, ledger, incoming, &levels);
    if own.is_empty() && by_hierarchy.is_empty() && by_priority.is_empty() {
        return Vec::new();
    }
    let no_others = by_hierarchy.is_empty() && by_priority.is_empty();
    let no_advantage = by_hierarchy.is_empty();
    let mut candidates = Vec::new();
    for kind in [&mut by_hierarchy, &mut by_priority, &mut own] {
        kind.sort_unstable_by_key(|candidate| victim_order(cluster, candidate.workload));
        candidates.append(kind);
    }
    let may_borrow_too = preempts_while_borrowing(incoming.rules);
    let ways: &[bool] = if no_others || (!may_borrow_too && !is_under_nominal(ledger, incoming)) {
        &[true]
    } else if !may_borrow_too && no_advantage {
        &[false, true]
    } else {
        &[true, false]
    };
    ways.iter().find_map(|borrow| smallest_set(cluster, ledger, incoming, &candidates, *borrow)).unwrap_or_default()
}

fn victim_order(cluster: &Cluster<'_>, workload: usize) -> (i32, Reverse<i64>, usize) {
    let admitted = cluster.holders.get(workload).map_or(i64::MAX, |attempt| attempt.start.0);
    (cluster.snapshot.workloads[workload].priority, Reverse(admitted), cluster.order[workload])
}

/// Evicts candidates in order until the preemptor fits, then takes back, last first, whoever need not go.
fn smallest_set(
    cluster: &Cluster<'_>,
    ledger: &mut Ledger,
    incoming: &Incoming<'_>,
    candidates: &[Candidate],
    borrow: bool,
) -> Option<Vec<usize>> {
    let queue_of = |workload: usize| cluster.snapshot.workloads[workload].queue;
    let mut evicted: Vec<usize> = Vec::new();
    let mut found = false;
    for candidate in candidates {
        if !is_valid(cluster, ledger, incoming, candidate, borrow) {
            continue;
        }
        ledger.remove(queue_of(candidate.workload), cluster.held(candidate.workload));
        evicted.push(candidate.workload);
        if fits(ledger, incoming, borrow) {
            found = true;
            break;
        }
    }
    if found {
        for index in (0..evicted.len().saturating_sub(1)).rev() {
            let spared = evicted[index];
            ledger.add(queue_of(spared), cluster.held(spared));
            if fits(ledger, incoming, borrow) {
                evicted.swap_remove(index);
            } else {
                ledger.remove(queue_of(spared), cluster.held(spared));
            }
        }
    }
    for workload in &evicted {
        ledger.add(queue_of(*workload), cluster.held(*workload));
    }
    found.then_some(evicted)
}

fn fits(ledger: &Ledger, incoming: &Incoming<'_>, borrow: bool) -> bool {
    (borrow || is_within_quota(ledger, incoming)) && ledger.fits(incoming.queue, incoming.uses)
}

/// Whether the preemptor's queue would not borrow with it.
fn is_within_quota(ledger: &Ledger, incoming: &Incoming<'_>) -> bool {
    incoming.uses.iter().all(|(cell, amount)| ledger.within_quota_with(incoming.queue, *cell, *amount))
}

/// Whether a candidate still counts after those before it have gone: its queue, and every cohort below the meeting
/// point, must still hold more than their own.
fn is_valid(
    cluster: &Cluster<'_>,
    ledger: &Ledger,
    incoming: &Incoming<'_>,
    candidate: &Candidate,
    borrow: bool,
) -> bool {
    let Some(meeting) = candidate.meeting else { return true };
    if borrow && candidate.only_without_borrowing {
        return false;
    }
    let queue = cluster.snapshot.workloads[candidate.workload].queue;
    let below_meeting = ledger.tree().ancestors(queue).take_while(|node| *node != meeting);
    std::iter::once(queue).chain(below_meeting).all(|node| exceeds_quota(ledger, node, incoming.needs))
}

fn exceeds_quota(ledger: &Ledger, node: NodeId, cells: &[CellId]) -> bool {
    cells.iter().any(|cell| ledger.is_borrowing(node, *cell))
}

fn is_under_nominal(ledger: &Ledger, incoming: &Incoming<'_>) -> bool {
    let tree = ledger.tree();
    incoming.needs.iter().all(|cell| ledger.usage(incoming.queue, *cell) < tree.nominal(incoming.queue, *cell))
}

fn own_candidates(cluster: &Cluster<'_>, incoming: &Incoming<'_>) -> Vec<Candidate> {
    if incoming.rules.within_cluster_queue == PreemptionPolicy::Never {
        return Vec::new();
    }
    candidates_in(cluster, incoming, incoming.queue, None, false)
}

/// The cohorts above the preemptor's queue, lowest first, each with whether a node below it has quota for the preemptor:
/// then it has a hierarchical advantage over whoever uses that quota from outside.
fn cohorts_above(ledger: &Ledger, incoming: &Incoming<'_>) -> Vec<(NodeId, bool)> {
    if incoming.rules.reclaim_within_cohort == PreemptionPolicy::Never {
        return Vec::new();
    }
    let mut wanted: Vec<(CellId, Amount)> = incoming.uses.to_vec();
    let mut advantage = fits_in_quota(ledger, incoming.queue, &mut wanted);
    let mut levels = Vec::new();
    for cohort in ledger.tree().ancestors(incoming.queue) {
        levels.push((cohort, advantage));
        advantage |= fits_in_quota(ledger, cohort, &mut wanted);
    }
    levels
}

/// Candidates from other queues: with hierarchical advantage, and by priority.
fn cohort_candidates(
    cluster: &Cluster<'_>,
    ledger: &Ledger,
    incoming: &Incoming<'_>,
    levels: &[(NodeId, bool)],
) -> (Vec<Candidate>, Vec<Candidate>) {
    let (mut by_hierarchy, mut by_priority) = (Vec::new(), Vec::new());
    let mut below: Option<NodeId> = None;
    for (cohort, advantage) in levels {
        let list = if *advantage { &mut by_hierarchy } else { &mut by_priority };
        for queue in exceeding_queues(ledger, incoming, *cohort, below) {
            list.extend(candidates_in(cluster, incoming, queue, Some(*cohort), *advantage));
        }
        below = Some(*cohort);
    }
    (by_hierarchy, by_priority)
}

/// Whether the node's subtree quota holds `wanted` on top of its usage; leaves in it what the parent must provide.
fn fits_in_quota(ledger: &Ledger, node: NodeId, wanted: &mut [(CellId, Amount)]) -> bool {
    let mut fits = true;
    for (cell, amount) in wanted {
        fits &= ledger.within_quota_with(node, *cell, *amount);
        *amount = amount.saturating_sub(ledger.local_available(node, *cell)).max(Amount::ZERO);
    }
    fits
}

/// ClusterQueues under `cohort` that use more than their quota, outside `done` and outside cohorts within theirs.
fn exceeding_queues(ledger: &Ledger, incoming: &Incoming<'_>, cohort: NodeId, done: Option<NodeId>) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut open = vec![cohort];
    while let Some(node) = open.pop() {
        let exceeding = |child: &&NodeId| exceeds_quota(ledger, **child, incoming.needs);
        open.extend(ledger.tree().child_cohorts(node).iter().filter(|child| Some(**child) != done).filter(exceeding));
        let others = ledger.tree().child_queues(node).iter().filter(|child| **child != incoming.queue);
        found.extend(others.filter(exceeding));
    }
    found
}

fn candidates_in(
    cluster: &Cluster<'_>,
    incoming: &Incoming<'_>,
    queue: NodeId,
    meeting: Option<NodeId>,
    advantage: bool,
) -> Vec<Candidate> {
    let policy =
        if meeting.is_none() { incoming.rules.within_cluster_queue } else { incoming.rules.reclaim_within_cohort };
    let own = cluster.snapshot.workloads[incoming.workload].priority;
    let priority_max = if policy == PreemptionPolicy::Any { i32::MAX } else { own };
    cluster
        .holders
        .in_queue(queue, priority_max)
        .filter(|workload| cluster.holders.may_be_evicted(*workload))
        .filter(|workload| cluster.held(*workload).iter().any(|(cell, _)| incoming.needs.contains(cell)))
        .filter(|workload| may_preempt(cluster, incoming.workload, *workload, policy))
        .map(|workload| Candidate {
            workload,
            meeting,
            only_without_borrowing: meeting.is_some() && !advantage && !lends_itself(cluster, incoming, workload),
        })
        .collect()
}

fn may_preempt(cluster: &Cluster<'_>, preemptor: usize, candidate: usize, policy: PreemptionPolicy) -> bool {
    let (preemptor, candidate) = (&cluster.snapshot.workloads[preemptor], &cluster.snapshot.workloads[candidate]);
    let lower = preemptor.priority > candidate.priority;
    match policy {
        PreemptionPolicy::Never => false,
        PreemptionPolicy::LowerPriority => lower,
        PreemptionPolicy::LowerOrNewerEqualPriority => {
            lower || (preemptor.priority == candidate.priority && preemptor.created < candidate.created)
        }
        PreemptionPolicy::Any => true,
    }
}

/// Whether `borrowWithinCohort` lets the preemptor take it even while borrowing.
fn lends_itself(cluster: &Cluster<'_>, incoming: &Incoming<'_>, candidate: usize) -> bool {
    let workloads = &cluster.snapshot.workloads;
    let (own, other) = (workloads[incoming.workload].priority, workloads[candidate].priority);
    incoming.rules.borrow_within_cohort.is_some_and(|borrow| {
        borrow.policy != PreemptionPolicy::Never
            && other < own
            && borrow.max_priority_threshold.is_none_or(|threshold| other <= threshold)
    })
}
