//! Capacity of one cell over time: the quota tree as arrays, with the two operations a search needs (fits, add).
//!
//! A lane divides time into stretches, uniform slots on a search grid or arbitrary segments in exact time; it neither
//! knows nor cares which. Per tree node it keeps `free` (limit − usage) and, where quota is kept back by a lending
//! limit, `room` (what is left of the node's own guaranteed share): usage climbs to the parent only above it, which is
//! Kueue's algebra (`kueue::quota`) written as running sums.

use crate::plan::lane_tree::Tree;
use crate::plan::snapshot::{CellId, NodeId, Objective, Policy, Snapshot, WindowEffect};
use crate::units::{Amount, Timestamp};

/// Stands for "no limit"; far below overflow when usage is added to it.
pub const UNLIMITED: i64 = i64::MAX / 4;

/// One cell's capacity, arrays indexed by stretch.
#[derive(Debug, Clone)]
pub struct Lane {
    pub cell: CellId,
    pub rows: Vec<Row>,
    /// Where a ClusterQueue's usage goes; index by [`Lane::path_of`].
    pub paths: Vec<(NodeId, Path)>,
    /// The row that holds what all queues together use (`free` = unlimited − usage), kept where peaks count.
    pub total: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Limit − usage; negative where others alone exceed it.
    pub free: Vec<i64>,
    /// Guaranteed share − usage, in rows of a chain; empty in flat rows, where all usage climbs.
    pub room: Vec<i64>,
}

/// The rows that a queue's usage touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path {
    /// Rows that take the whole amount.
    pub flat: Vec<usize>,
    /// Rows from the queue upwards that each take what their child cannot absorb.
    pub chain: Vec<usize>,
}

impl Lane {
    #[must_use]
    pub fn path_of(&self, queue: NodeId) -> Option<usize> {
        self.paths.iter().position(|(node, _)| *node == queue)
    }

    /// The last stretch in `from..to` where the amount does not fit, if any: a search skips past it.
    #[must_use]
    #[inline]
    pub fn last_obstacle(&self, path: usize, amount: i64, from: usize, to: usize) -> Option<usize> {
        let path = &self.paths[path].1;
        let mut last: Option<usize> = None;
        for row in &path.flat {
            let free = &self.rows[*row].free;
            let low = last.map_or(from, |at| at + 1);
            if let Some(at) = free[low..to].iter().rposition(|free| *free < amount) {
                last = Some(low + at);
            }
        }
        if path.chain.is_empty() {
            return last;
        }
        let low = last.map_or(from, |at| at + 1);
        (low..to).rev().find(|at| !self.chain_fits(&path.chain, amount, *at)).or(last)
    }

    /// The first stretch in `from..to` where the amount does not fit.
    #[must_use]
    #[inline]
    pub fn first_obstacle(&self, path: usize, amount: i64, from: usize, to: usize) -> Option<usize> {
        let path = &self.paths[path].1;
        let mut high = to;
        for row in &path.flat {
            let free = &self.rows[*row].free;
            if let Some(at) = free[from..high].iter().position(|free| *free < amount) {
                high = from + at;
            }
        }
        if !path.chain.is_empty()
            && let Some(at) = (from..high).find(|at| !self.chain_fits(&path.chain, amount, *at))
        {
            high = at;
        }
        (high < to).then_some(high)
    }

    #[must_use]
    #[inline]
    pub fn fits(&self, path: usize, amount: i64, from: usize, to: usize) -> bool {
        let path = &self.paths[path].1;
        path.flat.iter().all(|row| self.rows[*row].free[from..to].iter().all(|free| *free >= amount))
            && (path.chain.is_empty() || (from..to).all(|at| self.chain_fits(&path.chain, amount, at)))
    }

    fn chain_fits(&self, chain: &[usize], amount: i64, at: usize) -> bool {
        let mut climbing = amount;
        for row in chain {
            let row = &self.rows[*row];
            if row.free[at] < climbing {
                return false;
            }
            climbing = climb(row.room[at], climbing);
            if climbing == 0 {
                return true;
            }
        }
        true
    }

    /// Takes the amount (gives it back when negative) over `from..to`, whether it fits or not.
    #[inline]
    pub fn take(&mut self, path: usize, amount: i64, from: usize, to: usize) {
        let path = &self.paths[path].1;
        for row in &path.flat {
            for free in &mut self.rows[*row].free[from..to] {
                *free -= amount;
            }
        }
        if path.chain.is_empty() {
            return;
        }
        for at in from..to {
            let mut climbing = amount;
            for row in &path.chain {
                let row = &mut self.rows[*row];
                let passed_on = climb(row.room[at], climbing);
                row.free[at] -= climbing;
                row.room[at] -= climbing;
                climbing = passed_on;
                if climbing == 0 {
                    break;
                }
            }
        }
    }
}

/// Of `amount` taken from a node with `room` left of its own share: the part that its parent feels.
fn climb(room: i64, amount: i64) -> i64 {
    (amount - room).max(0) - (-room).max(0)
}

/// The lanes of a snapshot in exact time, before any planned work: quota and windows minus running work and reserves.
#[derive(Debug, Clone)]
pub struct ExactLanes {
    /// Stretch `i` of lane `l` is `[times[l][i], times[l][i + 1])`; the last one never ends. The first begins now.
    pub times: Vec<Vec<Timestamp>>,
    pub lanes: Vec<Lane>,
}

impl ExactLanes {
    /// # Panics
    /// When an id in the snapshot is out of range, which `kueue::assemble` rules out.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let mut queues_of_cell: Vec<Vec<NodeId>> = vec![Vec::new(); snapshot.cells.len()];
        for workload in &snapshot.workloads {
            for (cell, _) in workload.options.iter().flat_map(|option| &option.uses) {
                let queues = &mut queues_of_cell[cell.0 as usize];
                if !queues.contains(&workload.queue) {
                    queues.push(workload.queue);
                }
            }
        }
        let mut exact = Self { times: Vec::new(), lanes: Vec::new() };
        for (index, mut queues) in queues_of_cell.into_iter().enumerate() {
            if queues.is_empty() {
                continue;
            }
            queues.sort();
            let cell = CellId(u32::try_from(index).expect("cells are counted in u32"));
            let (times, lane) = exact_lane(snapshot, policy, cell, &queues);
            exact.times.push(times);
            exact.lanes.push(lane);
        }
        exact
    }
}

/// The tree of one cell, node by node, over stretches between its events.
fn exact_lane(snapshot: &Snapshot, policy: &Policy, cell: CellId, queues: &[NodeId]) -> (Vec<Timestamp>, Lane) {
    let now = snapshot.now;
    let mut times = vec![now];
    let mut event = |at: Timestamp| {
        if at > now {
            times.push(at);
        }
    };
    for window in snapshot.windows.iter().filter(|window| window.cell == cell) {
        event(window.start);
        event(window.end);
    }
    for running in &snapshot.running {
        if running.uses.iter().any(|(used, _)| *used == cell) {
            event(running.held_until(policy.promise, now, snapshot.horizon_end));
        }
    }
    times.sort_unstable();
    times.dedup();
    let stretches = times.len();

    // Nodes on the way from any using queue to its root; children before parents.
    let mut nodes: Vec<NodeId> = Vec::new();
    for queue in queues {
        for node in snapshot.path_to_root(*queue) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
    }
    let tree = Tree::at_stretches(snapshot, policy, cell, &times);
    let mut rows: Vec<Row> = Vec::new();
    let mut row_of_node: Vec<(NodeId, usize)> = Vec::new();
    for node in &nodes {
        let facts = &tree.nodes[node.0 as usize];
        let chained = queues.iter().any(|queue| {
            snapshot.path_to_root(*queue).any(|on| on == *node)
                && snapshot.path_to_root(*queue).any(|on| tree.keeps_back(on))
        });
        let free = (0..stretches).map(|at| facts.limit[at].saturating_sub(facts.usage[at])).collect();
        let room = if chained {
            (0..stretches).map(|at| facts.local[at].saturating_sub(facts.usage[at])).collect()
        } else {
            Vec::new()
        };
        row_of_node.push((*node, rows.len()));
        rows.push(Row { free, room });
    }
    let cap_rows = cap_rows(snapshot, cell, &nodes, &times, &tree, &mut rows);
    let total = counts_peaks(snapshot, policy, cell).then(|| {
        let used = running_total(snapshot, policy, cell, &times);
        rows.push(Row { free: used.into_iter().map(|used| UNLIMITED - used).collect(), room: Vec::new() });
        rows.len() - 1
    });
    let row_of = |node: NodeId| row_of_node.iter().find(|(of, _)| *of == node).map(|(_, row)| *row);
    let paths = queues
        .iter()
        .map(|queue| {
            let nodes: Vec<NodeId> = snapshot.path_to_root(*queue).collect();
            let chained = nodes.iter().any(|node| tree.keeps_back(*node));
            let mut path = Path::default();
            for node in &nodes {
                let Some(row) = row_of(*node) else { continue };
                let limited = rows[row].free.iter().any(|free| *free < UNLIMITED / 2);
                if chained {
                    path.chain.push(row);
                } else if limited {
                    path.flat.push(row);
                }
            }
            path.flat.extend(cap_rows.iter().filter(|(node, _)| nodes.contains(node)).map(|(_, row)| *row));
            path.flat.extend(total);
            (*queue, path)
        })
        .collect();
    (times, Lane { cell, rows, paths, total })
}

/// Peaks count on accelerators, and only where they are the objective.
fn counts_peaks(snapshot: &Snapshot, policy: &Policy, cell: CellId) -> bool {
    policy.objective == Objective::LowestPeak && snapshot.cell(cell).resource.is_accelerator()
}

/// What running work uses of a cell, over all queues.
fn running_total(snapshot: &Snapshot, policy: &Policy, cell: CellId, times: &[Timestamp]) -> Vec<i64> {
    let mut used = vec![0_i64; times.len()];
    for running in &snapshot.running {
        let amount: Amount = running.uses.iter().filter(|(at, _)| *at == cell).map(|(_, amount)| *amount).sum();
        let until = running.held_until(policy.promise, snapshot.now, snapshot.horizon_end);
        for (used, time) in used.iter_mut().zip(times) {
            if *time < until {
                *used += amount.0;
            }
        }
    }
    used
}

/// Caps bound a node's whole subtree, which under lending limits is not what climbs: they get rows of their own.
fn cap_rows(
    snapshot: &Snapshot,
    cell: CellId,
    nodes: &[NodeId],
    times: &[Timestamp],
    tree: &Tree,
    rows: &mut Vec<Row>,
) -> Vec<(NodeId, usize)> {
    let mut found: Vec<(NodeId, usize)> = Vec::new();
    for window in &snapshot.windows {
        if window.cell != cell || window.effect != WindowEffect::Cap || !nodes.contains(&window.node) {
            continue;
        }
        let row = match found.iter().find(|(node, _)| *node == window.node) {
            Some((_, row)) => *row,
            None => {
                let below = &tree.nodes[window.node.0 as usize].subtree_usage;
                let free = below.iter().map(|usage| UNLIMITED - usage).collect();
                rows.push(Row { free, room: Vec::new() });
                found.push((window.node, rows.len() - 1));
                rows.len() - 1
            }
        };
        for (at, time) in times.iter().enumerate() {
            if *time >= window.start && *time < window.end {
                let capped = window.quantity.0 - tree.nodes[window.node.0 as usize].subtree_usage[at];
                let free = &mut rows[row].free[at];
                *free = (*free).min(capped);
            }
        }
    }
    found
}
