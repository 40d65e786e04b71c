//! The size of a pool of accelerators: one quota tree's nominal quota of one cell, as one number.
//!
//! Resizing follows one rule, so that a larger pool is never worse at any node: what is taken is taken GPU by GPU from the
//! node that has most (ties: the one declared last); what is added goes to the only node that has quota for the cell, else
//! to the root of the tree. Hence each node's quota only grows with the size, and whatever fits a pool fits every larger one.

use std::collections::BinaryHeap;

use crate::names::{FlavorName, ResourceName};
use crate::plan::snapshot::{CellId, NodeId, Promise, Snapshot, WindowEffect};
use crate::plan::{curve, curve::Steps};
use crate::units::Amount;

/// A pool: the nodes below `root` and one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    pub root: NodeId,
    pub cell: CellId,
    pub flavor: FlavorName,
    pub resource: ResourceName,
    /// Nominal quota of the whole tree.
    pub today: Amount,
    /// The most the workloads of this tree could hold of it at any time, if all started as early as they may, with what
    /// running work and reserves hold: more than this is never needed.
    pub ample: Amount,
    /// Base units of one device: sizes are multiples of it.
    pub unit: i64,
}

/// Base units in which a cell is bought.
#[must_use]
pub fn unit(snapshot: &Snapshot, cell: CellId) -> i64 {
    let resource = &snapshot.cell(cell).resource;
    if resource.is_milli() { 1000 } else { resource.units_per_gpu() }
}

/// The pools that the load asks for, those that it asks most of first.
#[must_use]
pub fn axes(snapshot: &Snapshot, promise: Promise) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    for cell in curve::pictured(snapshot) {
        let mut roots: Vec<NodeId> = snapshot
            .workloads
            .iter()
            .filter(|workload| workload.options.iter().any(|option| option.uses.iter().any(|(used, _)| *used == cell)))
            .map(|workload| root_of(snapshot, workload.queue))
            .collect();
        roots.sort_unstable();
        roots.dedup();
        axes.extend(roots.into_iter().map(|root| axis(snapshot, promise, root, cell)));
    }
    axes.sort_by_key(|axis| (std::cmp::Reverse(axis.ample.0 / axis.unit), axis.cell, axis.root));
    axes
}

/// One pool.
#[must_use]
pub fn axis(snapshot: &Snapshot, promise: Promise, root: NodeId, cell: CellId) -> Axis {
    let named = snapshot.cell(cell);
    let tree = below(snapshot, root);
    let today: Amount = tree.iter().map(|node| nominal(snapshot, *node, cell)).sum();
    let unit = unit(snapshot, cell);
    let planned = snapshot.workloads.iter().filter(|workload| tree.contains(&workload.queue)).filter_map(|workload| {
        let on_cell = workload.options.iter().filter_map(move |option| {
            let (_, amount) = option.uses.iter().find(|(used, _)| *used == cell)?;
            Some((option.held(promise), *amount))
        });
        // Whichever option it takes, it holds no more than the largest for no longer than the longest.
        let held = on_cell.clone().map(|(held, _)| held).max();
        let amount = on_cell.map(|(_, amount)| amount).max();
        let start = workload.earliest_start.max(snapshot.now);
        held.zip(amount).map(|(held, amount)| (start, start + held, amount))
    });
    let running = snapshot.running.iter().filter(|running| tree.contains(&running.queue)).flat_map(|running| {
        let end = running.held_until(promise, snapshot.now, snapshot.horizon_end);
        let of_cell = running.uses.iter().filter(|(used, _)| *used == cell);
        of_cell.map(move |(_, amount)| (snapshot.now, end, *amount))
    });
    let reserves = snapshot
        .windows
        .iter()
        .filter(|window| window.effect == WindowEffect::Reserve && window.cell == cell && tree.contains(&window.node));
    let reserved = reserves.map(|window| (window.start, window.end, window.quantity));
    let most = Steps::of_holdings(planned.chain(running).chain(reserved)).most();
    let ample = Amount(crate::units::div_ceil(most.0, unit).saturating_mul(unit)).max(today);
    Axis { root, cell, flavor: named.flavor.clone(), resource: named.resource.clone(), today, ample, unit }
}

/// The snapshot with the pool at another size.
#[must_use]
pub fn resized(snapshot: &Snapshot, axis: &Axis, to: Amount) -> Snapshot {
    let mut changed = snapshot.clone();
    if to > axis.today {
        let node = giver(snapshot, axis.root, axis.cell);
        add(&mut changed, node, axis.cell, to - axis.today);
    } else if to < axis.today {
        take(&mut changed, axis.root, axis.cell, axis.today - to);
    }
    changed
}

/// Where more of a cell goes: the only node with quota for it, else the root.
#[must_use]
pub fn giver(snapshot: &Snapshot, root: NodeId, cell: CellId) -> NodeId {
    let tree = below(snapshot, root);
    let mut with_quota = tree.into_iter().filter(|node| nominal(snapshot, *node, cell) > Amount::ZERO);
    match (with_quota.next(), with_quota.next()) {
        (Some(only), None) => only,
        _ => root,
    }
}

/// More steps than this are not told apart: a pool of as many GPUs is searched by its size alone.
const SUMS_MAX: usize = 20_000;

/// The amounts that the load can hold of a pool at one instant, ascending from zero: sums of one amount for each workload,
/// running work and reserve. A pool between two of them is worth no more than the smaller one. `None` where limits or
/// windows within the tree make more than the sum matter, or where there are too many to tell.
#[must_use]
pub fn sums(snapshot: &Snapshot, axis: &Axis) -> Option<Vec<Amount>> {
    let tree = below(snapshot, axis.root);
    let limited = tree.iter().filter_map(|node| snapshot.node(*node).quotas.get(&axis.cell));
    let added = |window: &&crate::plan::snapshot::Window| {
        window.cell == axis.cell && window.effect != WindowEffect::Reserve && tree.contains(&window.node)
    };
    if limited.into_iter().any(|quota| quota.borrowing_limit.is_some() || quota.lending_limit.is_some())
        || snapshot.windows.iter().any(|window| added(&window))
    {
        return None;
    }
    let most = usize::try_from(axis.ample.0 / axis.unit).ok().filter(|most| *most <= SUMS_MAX)?;
    let of_cell = |uses: &[(CellId, Amount)]| {
        uses.iter().filter(|(used, _)| *used == axis.cell).map(|(_, amount)| amount.0).collect::<Vec<_>>()
    };
    let works = snapshot.workloads.iter().filter(|workload| tree.contains(&workload.queue));
    let mut items: Vec<Vec<i64>> =
        works.map(|workload| workload.options.iter().flat_map(|option| of_cell(&option.uses)).collect()).collect();
    let running = snapshot.running.iter().filter(|running| tree.contains(&running.queue));
    items.extend(running.map(|running| of_cell(&running.uses)));
    let reserves = snapshot.windows.iter().filter(|window| window.cell == axis.cell && tree.contains(&window.node));
    items.extend(reserves.map(|window| vec![window.quantity.0]));
    let mut reached = vec![false; most + 1];
    reached[0] = true;
    for mut amounts in items {
        amounts.sort_unstable();
        amounts.dedup();
        let before = reached.clone();
        for amount in amounts {
            if amount % axis.unit != 0 {
                return None;
            }
            let step = usize::try_from(amount / axis.unit).ok()?;
            for at in (step..=most).filter(|at| before[at - step]) {
                reached[at] = true;
            }
        }
    }
    let sizes = (0_i64..).zip(reached).filter(|(_, reached)| *reached);
    Some(sizes.map(|(devices, _)| Amount(devices * axis.unit)).collect())
}

/// More nominal quota at a node.
pub fn add(snapshot: &mut Snapshot, node: NodeId, cell: CellId, quantity: Amount) {
    if let Some(node) = node_mut(snapshot, node) {
        let quota = node.quotas.entry(cell).or_default();
        quota.nominal = quota.nominal.saturating_add(quantity);
    }
}

/// Less nominal quota in the tree below a node, from where there is most; what is not there is not taken.
pub fn take(snapshot: &mut Snapshot, from: NodeId, cell: CellId, quantity: Amount) {
    let unit = unit(snapshot, cell);
    let tree = below(snapshot, from);
    let mut heap: BinaryHeap<(Amount, NodeId)> =
        tree.into_iter().map(|node| (nominal(snapshot, node, cell), node)).filter(|(has, _)| has.0 > 0).collect();
    let mut left = quantity.0;
    while left > 0 {
        let Some((has, node)) = heap.pop() else { return };
        let taken = unit.min(left).min(has.0);
        left -= taken;
        if let Some(quota) = node_mut(snapshot, node).and_then(|node| node.quotas.get_mut(&cell)) {
            quota.nominal = has - Amount(taken);
        }
        if has.0 > taken {
            heap.push((has - Amount(taken), node));
        }
    }
}

/// The nodes of a subtree, its root included.
#[must_use]
pub fn below(snapshot: &Snapshot, root: NodeId) -> Vec<NodeId> {
    let ids = (0_u32..).take(snapshot.nodes.len()).map(NodeId);
    ids.filter(|id| snapshot.path_to_root(*id).any(|above| above == root)).collect()
}

#[must_use]
pub fn root_of(snapshot: &Snapshot, node: NodeId) -> NodeId {
    snapshot.path_to_root(node).last().unwrap_or(node)
}

#[must_use]
pub fn nominal(snapshot: &Snapshot, node: NodeId, cell: CellId) -> Amount {
    snapshot.node(node).quotas.get(&cell).map_or(Amount::ZERO, |quota| quota.nominal)
}

fn node_mut(snapshot: &mut Snapshot, id: NodeId) -> Option<&mut crate::plan::snapshot::Node> {
    usize::try_from(id.0).ok().and_then(|at| snapshot.nodes.get_mut(at))
}
