//! The workloads in the order Kueue breaks ties by, and which of them hold quota.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::plan::snapshot::{CellId, NodeId, QueueRules, Snapshot};
use crate::units::Amount;

use super::pending::Rank;
use super::{Attempt, EVICTIONS_MAX};

/// What does not change, and who is admitted.
pub(super) struct Cluster<'a> {
    pub snapshot: &'a Snapshot,
    /// Workloads by creation, then key: the last tie-break, whatever the order of the input.
    pub by_order: Vec<usize>,
    /// The inverse.
    pub order: Vec<usize>,
    pub holders: Holders,
}

/// The admitted workloads.
#[derive(Debug, Default)]
pub(super) struct Holders {
    pub attempts: Vec<Option<Attempt>>,
    /// By node, ascending by priority.
    pub by_queue: Vec<BTreeSet<(i32, usize)>>,
    pub evictions: Vec<u32>,
}

impl<'a> Cluster<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let count = snapshot.workloads.len();
        let mut by_order: Vec<usize> = (0..count).collect();
        by_order.sort_by_key(|index| {
            let workload = &snapshot.workloads[*index];
            (workload.created, &workload.key, &workload.kind, *index)
        });
        let mut order = vec![0; count];
        for (place, index) in by_order.iter().enumerate() {
            order[*index] = place;
        }
        let holders = Holders {
            attempts: vec![None; count],
            by_queue: vec![BTreeSet::new(); snapshot.nodes.len()],
            evictions: vec![0; count],
        };
        Self { snapshot, by_order, order, holders }
    }

    pub(super) fn rules(&self, queue: NodeId) -> Option<&'a QueueRules> {
        self.snapshot.nodes.get(queue.0 as usize)?.rules()
    }

    /// What an admitted workload uses.
    pub(super) fn held(&self, workload: usize) -> &'a [(CellId, Amount)] {
        let option = self.holders.get(workload).map(|attempt| attempt.option);
        option.map_or(&[], |option| &self.snapshot.workloads[workload].options[option].uses)
    }

    pub(super) fn rank(&self, workload: usize) -> Rank {
        let it = &self.snapshot.workloads[workload];
        Rank { priority: Reverse(it.priority), created: it.created, order: self.order[workload] }
    }
}

impl Holders {
    pub(super) fn get(&self, workload: usize) -> Option<&Attempt> {
        self.attempts.get(workload)?.as_ref()
    }
    /// Those of a ClusterQueue whose priority is at most this.
    pub(super) fn in_queue(&self, queue: NodeId, priority_max: i32) -> impl Iterator<Item = usize> + '_ {
        let holders = self.by_queue.get(queue.0 as usize);
        holders.into_iter().flat_map(move |all| all.range(..=(priority_max, usize::MAX)).map(|(_, workload)| *workload))
    }
    pub(super) fn lowest_priority(&self, queue: NodeId) -> Option<i32> {
        self.by_queue.get(queue.0 as usize)?.first().map(|(priority, _)| *priority)
    }
    pub(super) fn may_be_evicted(&self, workload: usize) -> bool {
        self.evictions[workload] < EVICTIONS_MAX
    }
}
