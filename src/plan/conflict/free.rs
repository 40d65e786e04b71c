//! The most that planned work below a node may use of one cell, over time.
//!
//! An upper bound on what the quota algebra allows, so that "more than this" is a proof: it leaves out how the nodes
//! below share.

use crate::plan::check::held_until;
use crate::plan::snapshot::{CellId, NodeId, Policy, Snapshot, WindowEffect};
use crate::units::Timestamp;

/// `(from, amount)`, ascending, the first from now on; the last holds for ever.
pub(super) struct Free(Vec<(Timestamp, i128)>);

impl Free {
    pub(super) fn of(snapshot: &Snapshot, policy: &Policy, node: NodeId, cell: CellId) -> Self {
        let below: Vec<bool> =
            (0..).map(NodeId).take(snapshot.nodes.len()).map(|id| is_below(snapshot, id, node)).collect();
        let windows = snapshot.windows.iter().filter(|window| window.cell == cell);
        let running = snapshot.running.iter().map(|running| held_until(snapshot, policy.promise, running));
        let mut instants: Vec<_> = windows.flat_map(|window| [window.start, window.end]).chain(running).collect();
        instants.push(snapshot.now);
        instants.retain(|at| *at >= snapshot.now);
        instants.sort_unstable();
        instants.dedup();
        let at_instant = |at| (at, free_at(snapshot, policy, node, cell, &below, at));
        Self(instants.into_iter().map(at_instant).collect())
    }

    /// Amount × seconds within `[from, to)`.
    pub(super) fn energy(&self, from: Timestamp, to: Timestamp) -> i128 {
        let ends = self.0.iter().skip(1).map(|(at, _)| *at).chain([Timestamp(i64::MAX)]);
        let parts = self.0.iter().zip(ends).map(|(&(start, amount), end)| {
            let (start, end) = (start.max(from), end.min(to));
            amount * (i128::from(end.0) - i128::from(start.0)).max(0)
        });
        parts.sum()
    }

    /// The same wherever one looks within `[from, to)`, if it is.
    pub(super) fn constant(&self, from: Timestamp, to: Timestamp) -> Option<i128> {
        let first = self.0.iter().rev().find(|(at, _)| *at <= from).map(|(_, amount)| *amount)?;
        let changes = self.0.iter().filter(|(at, _)| from < *at && *at < to);
        changes.into_iter().all(|(_, amount)| *amount == first).then_some(first)
    }
}

pub(super) fn is_below(snapshot: &Snapshot, id: NodeId, node: NodeId) -> bool {
    snapshot.path_to_root(id).any(|on_path| on_path == node)
}

fn free_at(snapshot: &Snapshot, policy: &Policy, node: NodeId, cell: CellId, below: &[bool], at: Timestamp) -> i128 {
    let is_in = |id: NodeId| below[id.0 as usize];
    let windows = |effect: WindowEffect| {
        snapshot.windows.iter().filter(move |window| {
            window.cell == cell && window.effect == effect && window.start <= at && at < window.end
        })
    };
    let sum_in = |effect| -> i128 {
        windows(effect).filter(|window| is_in(window.node)).map(|window| i128::from(window.quantity.0)).sum()
    };
    let running = snapshot
        .running
        .iter()
        .filter(|running| is_in(running.queue) && at < held_until(snapshot, policy.promise, running));
    let ran = running.flat_map(|running| &running.uses).filter(|(of, _)| *of == cell);
    let fixed = ran.map(|(_, amount)| i128::from(amount.0)).sum::<i128>() + sum_in(WindowEffect::Reserve);

    let nominal_below = |top: NodeId| -> i128 {
        let nodes = (0..).map(NodeId).zip(&snapshot.nodes).filter(|(id, _)| is_below(snapshot, *id, top));
        let nominal = nodes.filter_map(|(_, node)| node.quotas.get(&cell)).map(|quota| i128::from(quota.nominal.0));
        let added = windows(WindowEffect::Add).filter(|window| is_below(snapshot, window.node, top));
        nominal.sum::<i128>() + added.map(|window| i128::from(window.quantity.0)).sum::<i128>()
    };
    let quota = snapshot.node(node).quotas.get(&cell);
    let mut free = match (snapshot.node(node).parent, quota.and_then(|quota| quota.borrowing_limit)) {
        (None, _) => {
            // What is never lent stays its owner's, even where others use more than the tree has.
            let kept = (0..).map(NodeId).zip(&snapshot.nodes).filter(|(id, inner)| {
                let limit = inner.quotas.get(&cell).and_then(|quota| quota.lending_limit);
                is_in(*id) && inner.parent.is_some() && limit.is_some()
            });
            let kept: i128 = kept.map(|(id, _)| nominal_below(id)).sum();
            (nominal_below(node) - fixed).max(kept).max(0)
        }
        (Some(_), Some(limit)) => (nominal_below(node) + i128::from(limit.0) - fixed).max(0),
        (Some(_), None) => i128::MAX >> 64,
    };
    for cap in windows(WindowEffect::Cap).filter(|window| window.node == node) {
        free = free.min((i128::from(cap.quantity.0) - fixed).max(0));
    }
    free
}
