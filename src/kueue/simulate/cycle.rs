//! One scheduling cycle of a cohort tree: Kueue's `schedule`, on one screen.

use std::collections::BTreeSet;

use crate::plan::snapshot::{CellId, NodeId, PreemptionPolicy, QueueingStrategy};
use crate::units::Amount;

use super::engine::Engine;
use super::nominate::{Mode, Nomination, nominate, without};
use super::pending::Rank;

/// A queue's head with what it would take.
struct Entry {
    queue: usize,
    rank: Rank,
    class: usize,
    workload: usize,
    nomination: Option<Nomination>,
}

enum Outcome {
    Admitted,
    /// Its victims go at the end of the cycle; it is tried again in the next.
    Preempting,
    /// Others of this cycle took its room; it stays at the head.
    Skipped,
    /// There is no room for it and nobody to preempt.
    Refused,
}

impl Engine<'_> {
    /// Tries the heads of one tree's queues. True when that changed something, so that another cycle may change more.
    pub(super) fn cycle(&mut self, root: usize) -> bool {
        // 1. Heads and what they would take, as if each were alone.
        let mut entries = self.heads(root);
        // 2. Less borrowing first, then priority, then FIFO.
        entries.sort_by_key(|entry| (entry.nomination.as_ref().map_or(0, |it| it.borrows), entry.rank));
        // 3. Admit, preempt, reserve; what counts for this cycle only is noted and taken back.
        let mut provisional: Vec<(NodeId, Vec<(CellId, Amount)>)> = Vec::new();
        let mut victims: BTreeSet<usize> = BTreeSet::new();
        let mut changed = false;
        for entry in entries {
            let outcome = self.try_entry(&entry, &mut provisional, &mut victims);
            // 4. Requeue the heads that were not admitted.
            changed |= self.settle(&entry, &outcome);
        }
        for (queue, uses) in &provisional {
            self.ledger.remove(*queue, uses);
        }
        // 5. Victims leave; their quota is free from now on.
        changed |= !victims.is_empty();
        for victim in &victims {
            self.evict(*victim);
        }
        if !victims.is_empty() {
            self.freed[root] += 1;
            self.call_back(root);
        }
        changed
    }

    fn heads(&mut self, root: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        for &queue in &self.trees[root] {
            let line = &mut self.queues[queue];
            line.recall(&self.ledger, &self.cluster.holders, self.freed[root]);
            let Some((rank, class)) = line.pending.head().filter(|_| !line.rules.stopped) else { continue };
            let workload = self.cluster.by_order[rank.order];
            let (stamp, from) = self.resume[workload];
            let from = if stamp == self.freed[root] { from } else { 0 };
            let nomination = nominate(&self.cluster, &mut self.ledger, workload, from);
            entries.push(Entry { queue, rank, class, workload, nomination });
        }
        entries
    }

    fn try_entry(
        &mut self,
        entry: &Entry,
        provisional: &mut Vec<(NodeId, Vec<(CellId, Amount)>)>,
        victims: &mut BTreeSet<usize>,
    ) -> Outcome {
        let Some(nomination) = &entry.nomination else { return Outcome::Refused };
        let workload = &self.cluster.snapshot.workloads[entry.workload];
        let uses = &workload.options[nomination.option].uses;
        let wanted: &[usize] = match &nomination.mode {
            Mode::Fits => &[],
            Mode::Waits { victims } if victims.is_empty() => {
                let reclaims_always = self.queues[entry.queue].rules.reclaim_within_cohort == PreemptionPolicy::Any;
                if !reclaims_always {
                    let kept = self.reservation(workload.queue, uses, nomination.borrows > 0);
                    self.ledger.add(workload.queue, &kept);
                    provisional.push((workload.queue, kept));
                }
                return Outcome::Refused;
            }
            Mode::Waits { victims } => victims,
        };
        if wanted.iter().any(|victim| victims.contains(victim)) {
            return Outcome::Skipped;
        }
        let absent: Vec<usize> = victims.iter().chain(wanted).copied().collect();
        if !without(&self.cluster, &mut self.ledger, &absent, |ledger| ledger.fits(workload.queue, uses)) {
            return Outcome::Skipped;
        }
        self.ledger.add(workload.queue, uses);
        if wanted.is_empty() {
            self.admit(entry.workload, nomination.option);
            return Outcome::Admitted;
        }
        provisional.push((workload.queue, uses.clone()));
        victims.extend(wanted);
        Outcome::Preempting
    }

    /// What a waiting head keeps others from taking in this cycle: up to its nominal quota, or its borrowing limit.
    fn reservation(&self, queue: NodeId, uses: &[(CellId, Amount)], borrows: bool) -> Vec<(CellId, Amount)> {
        let tree = self.ledger.tree();
        let keep = |(cell, amount): &(CellId, Amount)| {
            let nominal = tree.nominal(queue, *cell);
            let most = match (borrows, tree.borrowing_limit(queue, *cell)) {
                (true, None) => return (*cell, *amount),
                (true, Some(limit)) => nominal.saturating_add(limit),
                (false, _) => nominal,
            };
            let left = most.saturating_sub(self.ledger.usage(queue, *cell));
            (*cell, (*amount).min(left).max(Amount::ZERO))
        };
        uses.iter().map(keep).collect()
    }

    fn settle(&mut self, entry: &Entry, outcome: &Outcome) -> bool {
        let root = self.root_of[entry.queue];
        let line = &mut self.queues[entry.queue];
        let best_effort = line.rules.strategy == QueueingStrategy::BestEffortFifo;
        self.resume[entry.workload] = (0, 0);
        match outcome {
            Outcome::Admitted => line.pending.remove(entry.rank, entry.class),
            Outcome::Preempting if best_effort => line.pending.stick(entry.rank, entry.class),
            Outcome::Preempting | Outcome::Skipped => {}
            Outcome::Refused => {
                let untried = entry.nomination.as_ref().map_or(0, |nomination| nomination.resume);
                if untried > 0 {
                    self.resume[entry.workload] = (self.freed[root], untried);
                } else if best_effort {
                    line.pending.park(entry.rank, entry.class, self.freed[root]);
                } else {
                    return false;
                }
            }
        }
        !matches!(outcome, Outcome::Skipped)
    }
}
