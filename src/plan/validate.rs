//! What a [`Snapshot`] promises, checked: for tests of whoever makes one, and for snapshots that come from elsewhere.

use std::collections::BTreeSet;

use super::snapshot::{CellId, Node, NodeId, NodeKind, Snapshot, Workload};
use crate::units::{Amount, Seconds, Timestamp};

impl Snapshot {
    /// Everything in it that breaks its own invariants, one sentence each; empty when all hold.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.horizon_end < self.now {
            problems.push("the horizon ends before now".to_owned());
        }
        for node in &self.nodes {
            self.node_problems(node, &mut problems);
        }
        let keys: BTreeSet<_> = self.workloads.iter().map(|workload| &workload.key).collect();
        if keys.len() < self.workloads.len() {
            problems.push("two workloads have one key".to_owned());
        }
        if !self.workloads.is_sorted_by_key(|workload| (workload.created, &workload.key)) {
            problems.push("workloads are not in creation order".to_owned());
        }
        for workload in &self.workloads {
            self.workload_problems(workload, &mut problems);
        }
        for one in &self.running {
            self.uses_problems(one.key.as_str(), &one.uses, &mut problems);
            self.queue_problems(one.key.as_str(), one.queue, &mut problems);
            if one.end_p50.is_some_and(|end| end <= self.now)
                || one.end_p50.zip(one.end_p90).is_some_and(|(p50, p90)| p90 < p50)
            {
                problems.push(format!("{}: its ends do not ascend from now", one.key));
            }
        }
        for window in &self.windows {
            if !self.has_node(window.node) || !self.has_cell(window.cell) {
                problems.push(format!("window {}: its node or cell does not exist", window.name));
            }
            if window.start >= window.end || window.quantity < Amount::ZERO {
                problems.push(format!("window {}: it is empty or negative", window.name));
            }
        }
        for price in &self.prices {
            let disjoint = price.windows.windows(2).all(|pair| pair[0].end <= pair[1].start);
            if !self.has_cell(price.cell) || !disjoint || price.windows.iter().any(|window| window.start >= window.end)
            {
                problems.push("a price's windows are empty, overlap, or are of no cell".to_owned());
            }
        }
        problems
    }

    fn has_cell(&self, id: CellId) -> bool {
        usize::try_from(id.0).is_ok_and(|at| at < self.cells.len())
    }

    fn has_node(&self, id: NodeId) -> bool {
        usize::try_from(id.0).is_ok_and(|at| at < self.nodes.len())
    }

    fn node_problems(&self, node: &Node, problems: &mut Vec<String>) {
        if let Some(parent) = node.parent {
            if !self.has_node(parent) || self.node(parent).kind != NodeKind::Cohort {
                problems.push(format!("node {}: its parent is no Cohort", node.name));
            } else if self.path_to_root(parent).take(self.nodes.len() + 1).count() > self.nodes.len() {
                problems.push(format!("node {}: its parents run in a circle", node.name));
            }
        }
        if !node.quotas.keys().all(|cell| self.has_cell(*cell)) {
            problems.push(format!("node {}: a quota is of no cell", node.name));
        }
    }

    fn queue_problems(&self, who: &str, queue: NodeId, problems: &mut Vec<String>) {
        if !self.has_node(queue) || self.node(queue).kind == NodeKind::Cohort {
            problems.push(format!("{who}: its queue is no ClusterQueue"));
        }
    }

    fn uses_problems(&self, who: &str, uses: &[(CellId, Amount)], problems: &mut Vec<String>) {
        let ascending = uses.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let real = uses.iter().all(|(cell, amount)| self.has_cell(*cell) && *amount > Amount::ZERO);
        if !ascending || !real {
            problems.push(format!("{who}: its uses are not positive amounts of ascending cells"));
        }
    }

    fn workload_problems(&self, workload: &Workload, problems: &mut Vec<String>) {
        let who = workload.key.as_str();
        self.queue_problems(who, workload.queue, problems);
        if workload.options.is_empty() {
            problems.push(format!("{who}: it has no way to run"));
        }
        for option in &workload.options {
            self.uses_problems(who, &option.uses, problems);
            if option.runtime.p50 <= Seconds::ZERO || option.runtime.p90 < option.runtime.p50 {
                problems.push(format!("{who}: a runtime is not positive or its quantiles descend"));
            }
        }
        if workload.earliest_start < Timestamp::max(self.now, workload.created) {
            problems.push(format!("{who}: it may start before it exists"));
        }
        if workload.value <= 0 {
            problems.push(format!("{who}: its value is not positive"));
        }
        let tiers = workload.due.as_ref().map_or(&[][..], |due| &due.tiers);
        if !tiers.windows(2).all(|pair| pair[0].after < pair[1].after)
            || tiers.iter().any(|tier| tier.value_percent > 100)
        {
            problems.push(format!("{who}: its tiers do not ascend or pass 100 percent"));
        }
    }
}
