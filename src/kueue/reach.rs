//! The most that each node of the quota tree could ever give: Kueue's "potential available".
//!
//! A request above it waits for ever, so it is told of before planning. Windows that add capacity count in full, whenever
//! they are, so that nothing is called impossible which a window makes possible.

use std::collections::BTreeMap;

use crate::plan::snapshot::{CellId, Node, NodeId, Quota, Window, WindowEffect};
use crate::units::Amount;

/// Potentials by cell, computed when first asked for.
#[derive(Debug)]
pub struct Reach<'t> {
    nodes: &'t [Node],
    /// Node positions, every child before its parent.
    bottom_up: Vec<usize>,
    added: BTreeMap<(NodeId, CellId), Amount>,
    by_cell: BTreeMap<CellId, Vec<Amount>>,
}

impl<'t> Reach<'t> {
    #[must_use]
    pub fn new(nodes: &'t [Node], windows: &[Window]) -> Self {
        let depth = |at: usize| {
            std::iter::successors(nodes[at].parent, |parent| nodes.get(index(*parent))?.parent).take(nodes.len()).count()
        };
        let mut bottom_up: Vec<usize> = (0..nodes.len()).collect();
        bottom_up.sort_by_key(|at| std::cmp::Reverse(depth(*at)));
        let mut added: BTreeMap<(NodeId, CellId), Amount> = BTreeMap::new();
        // One recurring window stands here many times; its largest quantity counts once, different names add up.
        let mut largest: BTreeMap<(NodeId, CellId, &str), Amount> = BTreeMap::new();
        for window in windows.iter().filter(|window| window.effect == WindowEffect::Add) {
            let known = largest.entry((window.node, window.cell, &window.name)).or_default();
            *known = (*known).max(window.quantity);
        }
        for ((node, cell, _), quantity) in largest {
            let sum = added.entry((node, cell)).or_default();
            *sum = sum.saturating_add(quantity);
        }
        Self { nodes, bottom_up, added, by_cell: BTreeMap::new() }
    }

    /// The most a workload of this node could ever hold of the cell.
    pub fn of(&mut self, node: NodeId, cell: CellId) -> Amount {
        if !self.by_cell.contains_key(&cell) {
            let computed = self.compute(cell);
            self.by_cell.insert(cell, computed);
        }
        self.by_cell[&cell][index(node)]
    }

    fn compute(&self, cell: CellId) -> Vec<Amount> {
        let quota = |at: usize| -> Quota {
            let mut quota = self.nodes[at].quotas.get(&cell).copied().unwrap_or_default();
            let id = NodeId(u32::try_from(at).unwrap_or(u32::MAX));
            quota.nominal = quota.nominal.saturating_add(self.added.get(&(id, cell)).copied().unwrap_or_default());
            quota
        };
        let mut subtree: Vec<Amount> = (0..self.nodes.len()).map(|at| quota(at).nominal).collect();
        // What a node keeps for itself: the part above its lending limit.
        let local = |at: usize, subtree: &[Amount]| match quota(at).lending_limit {
            Some(limit) => subtree[at].saturating_sub(limit).max(Amount::ZERO),
            None => Amount::ZERO,
        };
        for at in &self.bottom_up {
            if let Some(parent) = self.nodes[*at].parent {
                let lent = subtree[*at].saturating_sub(local(*at, &subtree));
                subtree[index(parent)] = subtree[index(parent)].saturating_add(lent);
            }
        }
        let mut potential = subtree.clone();
        for at in self.bottom_up.iter().rev() {
            if let Some(parent) = self.nodes[*at].parent {
                let within = local(*at, &subtree).saturating_add(potential[index(parent)]);
                let bound = quota(*at).borrowing_limit.map(|limit| subtree[*at].saturating_add(limit));
                potential[*at] = bound.map_or(within, |bound| within.min(bound));
            }
        }
        potential
    }
}

/// Ids are positions in the tree they were made for.
fn index(id: NodeId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}
