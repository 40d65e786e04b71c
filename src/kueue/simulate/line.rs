//! One ClusterQueue as a line: its rules, who waits in it, and who of the parked is worth calling back.

use std::collections::BTreeMap;

use crate::kueue::quota::Ledger;
use crate::plan::snapshot::{CellId, NodeId, PreemptionPolicy, QueueRules, QueueingStrategy, Snapshot};
use crate::units::Amount;

use super::holders::Holders;
use super::nominate::preempts_while_borrowing;
use super::pending::Pending;

pub(super) struct Line<'a> {
    pub rules: &'a QueueRules,
    pub pending: Pending,
    node: NodeId,
    classes: Classes<'a>,
    /// Parked work is called back one class at a time, and only where it is known what it would need.
    selective: bool,
    /// Something was freed since nobody was worth calling back.
    recheck: bool,
}

/// What the workloads of each class ask for, laid out flat: a long line is gone through at every event.
#[derive(Default)]
struct Classes<'a> {
    known: BTreeMap<(i32, Vec<&'a [(CellId, Amount)]>), usize>,
    /// By class, where its asks end in `asks`.
    ends: Vec<usize>,
    asks: Vec<Ask>,
    /// By class; meaningful where the queue preempts.
    priorities: Vec<i32>,
    cells: usize,
}

struct Ask {
    cell: usize,
    amount: Amount,
    ends_option: bool,
}

impl<'a> Line<'a> {
    pub(super) fn new(node: NodeId, rules: &'a QueueRules, ledger: &Ledger) -> Self {
        // Reclaim by priority in a flat cohort is for what stays within the nominal quota; elsewhere it depends on more.
        let mut above = ledger.tree().ancestors(node);
        let flat = above.nth(1).is_none();
        let reclaim_is_simple = flat && !preempts_while_borrowing(rules);
        let selective = rules.strategy == QueueingStrategy::BestEffortFifo
            && (rules.reclaim_within_cohort == PreemptionPolicy::Never || reclaim_is_simple);
        Self { rules, pending: Pending::default(), node, classes: Classes::default(), selective, recheck: false }
    }

    fn preempts(&self) -> bool {
        let rules = self.rules;
        [rules.within_cluster_queue, rules.reclaim_within_cohort].iter().any(|it| *it != PreemptionPolicy::Never)
    }

    /// The class of a workload: those of one class ask for the same; priority matters only where the queue preempts.
    pub(super) fn class_of(&mut self, snapshot: &'a Snapshot, workload: usize) -> usize {
        let workload = &snapshot.workloads[workload];
        let priority = if self.preempts() { workload.priority } else { 0 };
        let options: Vec<&[(CellId, Amount)]> = workload.options.iter().map(|it| it.uses.as_slice()).collect();
        self.classes.cells = snapshot.cells.len();
        self.classes.enter(priority, options)
    }

    /// All classes are known: the line may form.
    pub(super) fn open(&mut self) {
        self.pending = Pending::with_classes(self.classes.ends.len());
    }

    /// Capacity was freed in the tree.
    pub(super) fn freed(&mut self) {
        self.recheck = true;
        if !self.selective {
            self.pending.unpark_all();
        }
    }

    /// Calls back the first parked class that may be admitted now, or may preempt somebody; `freed` counts how often
    /// capacity was freed, and nobody is called back twice for the same.
    pub(super) fn recall(&mut self, ledger: &Ledger, holders: &Holders, freed: u64) {
        if !self.selective || !self.recheck {
            return;
        }
        let cells = (0_u32..).map(CellId).take(self.classes.cells);
        let own_quota = |cell: CellId| {
            let nominal = ledger.tree().nominal(self.node, cell);
            nominal.saturating_sub(ledger.usage(self.node, cell))
        };
        let free: Vec<Amount> = cells.clone().map(|cell| ledger.available(self.node, cell).max(Amount::ZERO)).collect();
        let reclaims = self.rules.reclaim_within_cohort != PreemptionPolicy::Never;
        let reclaimable: Vec<Amount> = if reclaims { cells.map(own_quota).collect() } else { Vec::new() };
        let lowest_held = holders.lowest_priority(self.node);
        let may_preempt_own = |class: usize| match self.rules.within_cluster_queue {
            PreemptionPolicy::Never => false,
            _ => lowest_held.is_some_and(|lowest| lowest <= self.classes.priorities[class]),
        };
        let classes = &self.classes;
        self.recheck = self.pending.recall_first(freed, |class| {
            classes.fits(class, &free) || (reclaims && classes.fits(class, &reclaimable)) || may_preempt_own(class)
        });
    }
}

impl<'a> Classes<'a> {
    fn enter(&mut self, priority: i32, options: Vec<&'a [(CellId, Amount)]>) -> usize {
        let next = self.ends.len();
        let key = (priority, options);
        if let Some(class) = self.known.get(&key) {
            return *class;
        }
        for uses in &key.1 {
            for (at, (cell, amount)) in uses.iter().enumerate() {
                let ends_option = at + 1 == uses.len();
                self.asks.push(Ask { cell: cell.0 as usize, amount: *amount, ends_option });
            }
        }
        self.ends.push(self.asks.len());
        self.priorities.push(priority);
        self.known.insert(key, next);
        next
    }

    /// Whether some option asks for no more than this of each cell. A class with an option that asks for nothing is
    /// never parked, so nobody asks about it.
    fn fits(&self, class: usize, free: &[Amount]) -> bool {
        let begin = if class == 0 { 0 } else { self.ends[class - 1] };
        let mut fits = true;
        for ask in &self.asks[begin..self.ends[class]] {
            fits &= free.get(ask.cell).is_some_and(|free| ask.amount <= *free);
            if ask.ends_option {
                if fits {
                    return true;
                }
                fits = true;
            }
        }
        false
    }
}
