//! Who uses how much, when: the peers' own profile of Kueue's quota tree over time.
//!
//! Per (flavor, resource) a list of stretches; in each, for every node, what its subtree uses as Kueue counts it
//! (`used`: a child counts only beyond what it does not lend) and what it uses in all (`whole`, for caps). Adding an
//! amount at a ClusterQueue walks to the root, and stops where it is covered by quota that is not lent anyway.
//!
//! Invariants: stretches are ascending, the first reaches back to the beginning and the last lasts for ever; a stretch's
//! limits are those of every instant in it (windows are cut in at the start). Running work may exceed its limits; then
//! nothing is added until it does no more.
//!
//! Deliberately absent: any code shared with the planner's or the checker's profile.

use crate::plan::policy::Promise;
use crate::plan::snapshot::{CellId, NodeId, NodeKind, Snapshot, WindowEffect};
use crate::units::{Amount, Seconds, Timestamp};

/// More than any sum of quotas; halved twice so that sums of two stay inside an `i64`.
const UNLIMITED: i64 = i64::MAX / 4;

pub(super) struct Capacity {
    /// Parent of each node.
    parents: Vec<Option<usize>>,
    /// One profile per cell.
    cells: Vec<Vec<Stretch>>,
}

/// From `from` until the next stretch begins.
#[derive(Clone, PartialEq)]
struct Stretch {
    from: i64,
    nodes: Vec<NodeState>,
}

#[derive(Clone, Copy, PartialEq)]
struct NodeState {
    used: i64,
    whole: i64,
    /// Not lent to anyone: usage up to here does not count above.
    kept: i64,
    /// `used` may not exceed it.
    limit: i64,
    /// `whole` may not exceed it.
    cap: i64,
}

impl Capacity {
    /// The profile with running work and windows, and nothing else.
    pub fn new(snapshot: &Snapshot) -> Self {
        let parents: Vec<Option<usize>> =
            snapshot.nodes.iter().map(|node| node.parent.map(|parent| parent.0 as usize)).collect();
        let cells = (0_u32..).zip(&snapshot.cells).map(|(id, _)| limits(snapshot, &parents, CellId(id))).collect();
        let mut capacity = Self { parents, cells };
        for window in &snapshot.windows {
            if window.effect == WindowEffect::Reserve {
                let uses = [(window.cell, window.quantity)];
                capacity.change(window.node, &uses, window.start, window.end, 1);
            }
        }
        for running in &snapshot.running {
            let end = running.held_until(Promise::P50, snapshot.now, snapshot.horizon_end);
            capacity.change(running.queue, &running.uses, snapshot.now, end, 1);
        }
        capacity
    }

    /// Whether the uses fit at the queue over all of `[start, end)`.
    pub fn fits(&self, queue: NodeId, uses: &[(CellId, Amount)], start: Timestamp, end: Timestamp) -> bool {
        uses.iter().all(|(cell, amount)| {
            let profile = &self.cells[cell.0 as usize];
            let first = covering(profile, start.0);
            profile[first..]
                .iter()
                .take_while(|stretch| stretch.from < end.0)
                .all(|stretch| self.room(stretch, queue, amount.0))
        })
    }

    /// The first instant from `from` on at which the uses fit for so long; `None` when they never do.
    pub fn earliest(
        &self,
        queue: NodeId,
        uses: &[(CellId, Amount)],
        from: Timestamp,
        length: Seconds,
    ) -> Option<Timestamp> {
        let mut start = from.0;
        // Each round moves the start past a stretch that has no room; when no cell objects, it stands.
        loop {
            let mut moved = false;
            for (cell, amount) in uses {
                let next = self.earliest_on(&self.cells[cell.0 as usize], queue, amount.0, start, length.0)?;
                moved |= next != start;
                start = next;
            }
            if !moved || uses.len() == 1 {
                return Some(Timestamp(start));
            }
        }
    }

    fn earliest_on(&self, profile: &[Stretch], queue: NodeId, amount: i64, from: i64, length: i64) -> Option<i64> {
        let mut start = from;
        for (index, stretch) in profile.iter().enumerate().skip(covering(profile, from)) {
            if stretch.from >= start + length {
                break;
            }
            if !self.room(stretch, queue, amount) {
                start = profile.get(index + 1)?.from;
            }
        }
        Some(start)
    }

    /// Takes the uses over `[start, end)`; the caller has seen that they fit.
    pub fn occupy(&mut self, queue: NodeId, uses: &[(CellId, Amount)], start: Timestamp, end: Timestamp) {
        self.change(queue, uses, start, end, 1);
    }

    /// Gives back what [`Self::occupy`] took with the same arguments.
    pub fn vacate(&mut self, queue: NodeId, uses: &[(CellId, Amount)], start: Timestamp, end: Timestamp) {
        self.change(queue, uses, start, end, -1);
    }

    fn change(&mut self, queue: NodeId, uses: &[(CellId, Amount)], start: Timestamp, end: Timestamp, sign: i64) {
        if end <= start {
            return;
        }
        for (cell, amount) in uses {
            let profile = &mut self.cells[cell.0 as usize];
            let first = cut(profile, start.0);
            let last = cut(profile, end.0);
            for stretch in &mut profile[first..last] {
                add(&self.parents, &mut stretch.nodes, queue, sign * amount.0);
            }
            // Stretches that have become alike are one again, so that profiles do not grow with reservations.
            for border in [last, first] {
                if border > 0 && profile[border - 1].nodes == profile[border].nodes {
                    profile.remove(border);
                }
            }
        }
    }

    /// Drops what ended before an instant, for a caller that never looks back.
    pub fn forget_before(&mut self, now: Timestamp) {
        for profile in &mut self.cells {
            let first = covering(profile, now.0);
            profile.drain(..first);
        }
    }

    /// The next instant after `now` at which anything is freed, taken or re-limited.
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let next = |profile: &Vec<Stretch>| {
            profile.get(profile.partition_point(|stretch| stretch.from <= now.0)).map(|stretch| stretch.from)
        };
        self.cells.iter().filter_map(next).min().map(Timestamp)
    }

    fn room(&self, stretch: &Stretch, queue: NodeId, amount: i64) -> bool {
        let mut delta = amount;
        let mut at = Some(queue.0 as usize);
        while let Some(index) = at {
            let node = stretch.nodes[index];
            if node.whole + amount > node.cap || (delta > 0 && node.used + delta > node.limit) {
                return false;
            }
            delta = (node.used + delta - node.kept).max(0) - (node.used - node.kept).max(0);
            at = self.parents[index];
        }
        true
    }
}

/// Adds at a node and, beyond what it keeps, at its ancestors.
fn add(parents: &[Option<usize>], nodes: &mut [NodeState], queue: NodeId, amount: i64) {
    let mut delta = amount;
    let mut at = Some(queue.0 as usize);
    while let Some(index) = at {
        let node = &mut nodes[index];
        let before = (node.used - node.kept).max(0);
        node.used += delta;
        node.whole += amount;
        delta = (node.used - node.kept).max(0) - before;
        at = parents[index];
    }
}

/// The stretch that holds an instant; the first one for anything earlier.
fn covering(profile: &[Stretch], at: i64) -> usize {
    profile.partition_point(|stretch| stretch.from <= at).saturating_sub(1)
}

/// Makes a stretch begin at an instant and says which.
fn cut(profile: &mut Vec<Stretch>, at: i64) -> usize {
    let index = covering(profile, at);
    if profile[index].from >= at {
        return index;
    }
    let nodes = profile[index].nodes.clone();
    profile.insert(index + 1, Stretch { from: at, nodes });
    index + 1
}

/// An unused profile of a cell: one stretch per span in which no window begins or ends.
fn limits(snapshot: &Snapshot, parents: &[Option<usize>], cell: CellId) -> Vec<Stretch> {
    let mut borders = vec![i64::MIN];
    for window in snapshot.windows.iter().filter(|window| window.cell == cell) {
        borders.extend([window.start.0, window.end.0]);
    }
    borders.sort_unstable();
    borders.dedup();
    borders.into_iter().map(|from| Stretch { from, nodes: limits_at(snapshot, parents, cell, from) }).collect()
}

fn limits_at(snapshot: &Snapshot, parents: &[Option<usize>], cell: CellId, at: i64) -> Vec<NodeState> {
    let count = snapshot.nodes.len();
    let quota = |node: usize| snapshot.nodes[node].quotas.get(&cell).copied().unwrap_or_default();
    let mut own: Vec<i64> = (0..count).map(|node| quota(node).nominal.0).collect();
    let mut cap = vec![UNLIMITED; count];
    let in_force =
        snapshot.windows.iter().filter(|window| window.cell == cell && window.start.0 <= at && at < window.end.0);
    for window in in_force {
        let node = window.node.0 as usize;
        match window.effect {
            WindowEffect::Add => own[node] += window.quantity.0,
            WindowEffect::Cap => cap[node] = cap[node].min(window.quantity.0),
            WindowEffect::Reserve => {}
        }
    }
    // Children before parents: what a subtree holds is its own quota and what its children lend.
    let mut subtree = own;
    let mut kept = vec![0; count];
    for node in deepest_first(parents) {
        kept[node] = quota(node).lending_limit.map_or(0, |lent| (subtree[node] - lent.0).max(0));
        if let Some(parent) = parents[node] {
            subtree[parent] += subtree[node] - kept[node];
        } else {
            kept[node] = 0;
        }
    }
    (0..count)
        .map(|node| {
            let limit = match (parents[node], quota(node).borrowing_limit) {
                (None, _) => subtree[node],
                (Some(_), Some(borrowed)) => subtree[node].saturating_add(borrowed.0).min(UNLIMITED),
                (Some(_), None) => UNLIMITED,
            };
            let stopped = matches!(&snapshot.nodes[node].kind, NodeKind::ClusterQueue(rules) if rules.stopped);
            // A stopped queue admits nothing new: whatever it uses is already the most it may.
            let limit = if stopped { i64::MIN } else { limit };
            NodeState { used: 0, whole: 0, kept: kept[node], limit, cap: cap[node] }
        })
        .collect()
}

/// Nodes so that every child stands before its parent. The tree has no cycle, so a depth is at most the node count.
fn deepest_first(parents: &[Option<usize>]) -> Vec<usize> {
    let depth =
        |node: usize| std::iter::successors(parents[node], |parent| parents[*parent]).take(parents.len()).count();
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|node| std::cmp::Reverse(depth(*node)));
    order
}
