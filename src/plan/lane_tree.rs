//! The quota tree of one cell over time: Kueue's algebra at each stretch, before any planned work.

use crate::plan::lane::UNLIMITED;
use crate::plan::snapshot::{CellId, NodeId, Policy, Snapshot, WindowEffect};
use crate::units::{Amount, Timestamp};

/// One node after the other, in the snapshot's order.
pub struct Tree {
    pub nodes: Vec<TreeNode>,
}

/// A node's arrays over stretches.
pub struct TreeNode {
    /// Most usage that may stand at the node.
    pub limit: Vec<i64>,
    /// The node's guaranteed share, kept from its parent by a lending limit.
    pub local: Vec<i64>,
    /// Usage by running work and reserves, as it climbs.
    pub usage: Vec<i64>,
    /// Usage by running work and reserves in the whole subtree.
    pub subtree_usage: Vec<i64>,
}

impl Tree {
    /// Whether a node ever keeps some of its quota from its parent.
    #[must_use]
    pub fn keeps_back(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].local.iter().any(|local| *local > 0)
    }

    /// Quota, limits and usage by others at every stretch that begins at one of `times`.
    #[must_use]
    pub fn at_stretches(snapshot: &Snapshot, policy: &Policy, cell: CellId, times: &[Timestamp]) -> Self {
        let count = snapshot.nodes.len();
        let mut nominal: Vec<Vec<i64>> = snapshot
            .nodes
            .iter()
            .map(|node| vec![node.quotas.get(&cell).map_or(0, |quota| quota.nominal.0); times.len()])
            .collect();
        let mut own_usage: Vec<Vec<i64>> = vec![vec![0; times.len()]; count];
        for window in snapshot.windows.iter().filter(|window| window.cell == cell) {
            let target = match window.effect {
                WindowEffect::Add => &mut nominal[window.node.0 as usize],
                WindowEffect::Reserve => &mut own_usage[window.node.0 as usize],
                WindowEffect::Cap => continue,
            };
            for (at, time) in times.iter().enumerate() {
                if *time >= window.start && *time < window.end {
                    target[at] = target[at].saturating_add(window.quantity.0);
                }
            }
        }
        for running in &snapshot.running {
            let amount: Amount = running.uses.iter().filter(|(used, _)| *used == cell).map(|(_, amount)| *amount).sum();
            let until = running.held_until(policy.promise, snapshot.now, snapshot.horizon_end);
            for (at, time) in times.iter().enumerate() {
                if *time < until {
                    let usage = &mut own_usage[running.queue.0 as usize][at];
                    *usage = usage.saturating_add(amount.0);
                }
            }
        }
        let order = children_first(snapshot);
        let mut subtree = nominal;
        let mut usage = own_usage.clone();
        let mut subtree_usage = own_usage;
        let mut local: Vec<Vec<i64>> = vec![vec![0; times.len()]; count];
        let mut limit: Vec<Vec<i64>> = vec![vec![UNLIMITED; times.len()]; count];
        for node in order {
            let quota = snapshot.nodes[node].quotas.get(&cell).copied().unwrap_or_default();
            let parent = snapshot.nodes[node].parent.map(|parent| parent.0 as usize);
            for at in 0..times.len() {
                let whole = subtree[node][at].min(UNLIMITED);
                if let Some(lending) = quota.lending_limit {
                    local[node][at] = (whole - lending.0).max(0);
                }
                match (parent, quota.borrowing_limit) {
                    (None, _) => limit[node][at] = whole,
                    (Some(_), Some(borrowing)) => limit[node][at] = whole.saturating_add(borrowing.0).min(UNLIMITED),
                    (Some(_), None) => {}
                }
                if let Some(parent) = parent {
                    let lent = whole - local[node][at];
                    subtree[parent][at] = subtree[parent][at].saturating_add(lent);
                    let climbing = (usage[node][at] - local[node][at]).max(0);
                    usage[parent][at] += climbing;
                    subtree_usage[parent][at] += subtree_usage[node][at];
                } else {
                    local[node][at] = 0;
                }
            }
        }
        let nodes = limit
            .into_iter()
            .zip(local)
            .zip(usage.into_iter().zip(subtree_usage))
            .map(|((limit, local), (usage, subtree_usage))| TreeNode { limit, local, usage, subtree_usage })
            .collect();
        Self { nodes }
    }
}

/// Node indices, each before its parent.
fn children_first(snapshot: &Snapshot) -> Vec<usize> {
    let depth = |node: usize| {
        let id = NodeId(u32::try_from(node).expect("nodes are counted in u32"));
        snapshot.path_to_root(id).count()
    };
    let mut order: Vec<(usize, usize)> = (0..snapshot.nodes.len()).map(|node| (depth(node), node)).collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    order.into_iter().map(|(_, node)| node).collect()
}
