//! What the cohort tree allows at one instant.

use crate::plan::snapshot::{CellId, NodeId, NodeKind, Quota, Snapshot, Window, WindowEffect};
use crate::units::{Amount, Timestamp};

use super::clamped;

/// Quotas in force, with the sums that depend on them alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    cells: usize,
    pub(super) nodes: Vec<Links>,
    /// Children before their parents.
    bottom_up: Vec<usize>,
    /// By node, then cell.
    pub(super) limits: Vec<Limits>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Links {
    pub parent: Option<usize>,
    pub child_cohorts: Vec<NodeId>,
    pub child_queues: Vec<NodeId>,
    /// Steps down to the furthest leaf.
    pub height: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Limits {
    pub nominal: i128,
    pub borrowing: Option<i128>,
    lending: Option<i128>,
    pub subtree: i128,
    pub local: i128,
    pub cap: Option<i128>,
    pub reserved: i128,
}

/// The instants at which windows open or close, ascending, each with the nodes whose quotas change there.
#[must_use]
pub fn changes(snapshot: &Snapshot) -> Vec<(Timestamp, Vec<NodeId>)> {
    let mut edges: Vec<(Timestamp, NodeId)> = snapshot
        .windows
        .iter()
        .filter(|window| window.start < window.end)
        .flat_map(|window| [(window.start, window.node), (window.end, window.node)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges.chunk_by(|a, b| a.0 == b.0).map(|chunk| (chunk[0].0, chunk.iter().map(|edge| edge.1).collect())).collect()
}

impl Tree {
    /// The tree of `snapshot` with the windows that are open at `instant`.
    #[must_use]
    pub fn at(snapshot: &Snapshot, instant: Timestamp) -> Self {
        let nodes = links(snapshot);
        let cells = snapshot.cells.len();
        let bottom_up = bottom_up(&nodes);
        let mut limits = vec![Limits::default(); nodes.len() * cells];
        for (index, node) in snapshot.nodes.iter().enumerate() {
            for (cell, quota) in &node.quotas {
                if position(*cell) < cells {
                    limits[index * cells + position(*cell)] = Limits::from(*quota);
                }
            }
        }
        let mut tree = Self { cells, nodes, bottom_up, limits };
        for window in snapshot.windows.iter().filter(|window| window.start <= instant && instant < window.end) {
            tree.open(window);
        }
        tree.accumulate();
        tree
    }

    fn open(&mut self, window: &Window) {
        let Some(at) = self.slot(window.node, window.cell) else { return };
        let limits = &mut self.limits[at];
        let quantity = i128::from(window.quantity.0).max(0);
        match window.effect {
            WindowEffect::Add => limits.nominal += quantity,
            WindowEffect::Reserve => limits.reserved += quantity,
            WindowEffect::Cap => limits.cap = Some(limits.cap.map_or(quantity, |cap| cap.min(quantity))),
        }
    }

    fn accumulate(&mut self) {
        for limits in &mut self.limits {
            limits.subtree = limits.nominal;
        }
        for &node in &self.bottom_up {
            for cell in 0..self.cells {
                let limits = &mut self.limits[node * self.cells + cell];
                limits.local = limits.lending.map_or(0, |lending| (limits.subtree - lending).max(0));
                let shared = limits.subtree - limits.local;
                if let Some(parent) = self.nodes[node].parent {
                    self.limits[parent * self.cells + cell].subtree += shared;
                }
            }
        }
    }

    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Where the pair's numbers stand, if both exist.
    pub(super) fn slot(&self, node: NodeId, cell: CellId) -> Option<usize> {
        let (node, cell) = (node.0 as usize, position(cell));
        (node < self.nodes.len() && cell < self.cells).then_some(node * self.cells + cell)
    }
    pub(super) fn limits(&self, node: NodeId, cell: CellId) -> Limits {
        self.slot(node, cell).map_or(Limits::default(), |at| self.limits[at])
    }

    #[must_use]
    pub fn nominal(&self, node: NodeId, cell: CellId) -> Amount {
        clamped(self.limits(node, cell).nominal)
    }
    #[must_use]
    pub fn borrowing_limit(&self, node: NodeId, cell: CellId) -> Option<Amount> {
        self.limits(node, cell).borrowing.map(clamped)
    }
    /// What the node's subtree holds, minus what its children keep to themselves.
    #[must_use]
    pub fn subtree_quota(&self, node: NodeId, cell: CellId) -> Amount {
        clamped(self.limits(node, cell).subtree)
    }
    /// The part of the subtree's quota that the parent never sees.
    #[must_use]
    pub fn local_quota(&self, node: NodeId, cell: CellId) -> Amount {
        clamped(self.limits(node, cell).local)
    }
    #[must_use]
    pub fn cap(&self, node: NodeId, cell: CellId) -> Option<Amount> {
        self.limits(node, cell).cap.map(clamped)
    }
    #[must_use]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes.get(node.0 as usize)?.parent?;
        u32::try_from(parent).ok().map(NodeId)
    }
    /// From the node's parent up to its root.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(node), |above| self.parent(*above))
    }
    #[must_use]
    pub fn root(&self, node: NodeId) -> NodeId {
        self.ancestors(node).last().unwrap_or(node)
    }
    #[must_use]
    pub fn child_cohorts(&self, node: NodeId) -> &[NodeId] {
        self.nodes.get(node.0 as usize).map_or(&[], |links| &links.child_cohorts)
    }
    #[must_use]
    pub fn child_queues(&self, node: NodeId) -> &[NodeId] {
        self.nodes.get(node.0 as usize).map_or(&[], |links| &links.child_queues)
    }

    /// The most that could ever be available to the node at these quotas: nothing used, nothing reserved.
    ///
    /// A request beyond it cannot be admitted however long it waits.
    #[must_use]
    pub fn potential_available(&self, node: NodeId, cell: CellId) -> Amount {
        clamped(self.available(node, cell, |_| Use::default()))
    }

    /// Kueue's recursion, from the node up: each level turns what its parent offers, `x`, into min(x + a, b).
    pub(super) fn available(&self, node: NodeId, cell: CellId, used: impl Fn(usize) -> Use) -> i128 {
        let Some(mut at) = self.slot(node, cell) else { return 0 };
        let (mut offset, mut ceiling): (i128, Option<i128>) = (0, None);
        let lower = |ceiling: Option<i128>, other: i128| Some(ceiling.map_or(other, |ceiling| ceiling.min(other)));
        let mut capped: Option<i128> = None;
        loop {
            let (limits, usage) = (&self.limits[at], used(at));
            if let Some(cap) = limits.cap {
                capped = lower(capped, cap - usage.whole);
            }
            let Some(parent) = self.nodes[at / self.cells].parent else {
                let root = limits.subtree - usage.bubbled + offset;
                return [ceiling, capped].into_iter().flatten().fold(root, i128::min);
            };
            let local_free = (limits.local - usage.bubbled).max(0);
            if let Some(borrowing) = limits.borrowing {
                let stored = limits.subtree - limits.local;
                let used_above = (usage.bubbled - limits.local).max(0);
                ceiling = lower(ceiling, offset + local_free + stored - used_above + borrowing);
            }
            offset += local_free;
            at = parent * self.cells + at % self.cells;
        }
    }
}

/// What is used at a node and cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Use {
    /// Kueue's usage: what counts against the node's subtree quota.
    pub bubbled: i128,
    /// All that is used in the subtree, whoever's quota it is: what a cap counts.
    pub whole: i128,
}

impl From<Quota> for Limits {
    fn from(quota: Quota) -> Self {
        Self {
            nominal: i128::from(quota.nominal.0),
            borrowing: quota.borrowing_limit.map(|limit| i128::from(limit.0)),
            lending: quota.lending_limit.map(|limit| i128::from(limit.0)),
            ..Self::default()
        }
    }
}

pub(super) fn position(cell: CellId) -> usize {
    cell.0 as usize
}

fn links(snapshot: &Snapshot) -> Vec<Links> {
    let count = snapshot.nodes.len();
    let parent_of =
        |index: usize| snapshot.nodes[index].parent.map(|parent| parent.0 as usize).filter(|parent| *parent < count);
    let rooted = |start: usize| {
        let path = std::iter::successors(Some(start), |at| parent_of(*at));
        path.take(count + 1).count() <= count
    };
    let mut nodes: Vec<Links> = (0..count)
        .map(|index| {
            let parent = parent_of(index).filter(|_| rooted(index));
            Links { parent, child_cohorts: Vec::new(), child_queues: Vec::new(), height: 0 }
        })
        .collect();
    for (index, node) in (0_u32..).zip(&snapshot.nodes) {
        let Some(parent) = nodes[index as usize].parent else { continue };
        match node.kind {
            NodeKind::Cohort => nodes[parent].child_cohorts.push(NodeId(index)),
            NodeKind::ClusterQueue(_) => nodes[parent].child_queues.push(NodeId(index)),
        }
    }
    for index in bottom_up(&nodes) {
        if let Some(parent) = nodes[index].parent {
            nodes[parent].height = nodes[parent].height.max(nodes[index].height + 1);
        }
    }
    nodes
}

fn bottom_up(nodes: &[Links]) -> Vec<usize> {
    let mut depths: Vec<Option<usize>> = vec![None; nodes.len()];
    for start in 0..nodes.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(node) = at.filter(|node| depths[*node].is_none()) {
            path.push(node);
            at = nodes[node].parent;
        }
        let top = at.and_then(|node| depths[node]).map_or(0, |depth| depth + 1);
        for (depth, node) in (top..).zip(path.into_iter().rev()) {
            depths[node] = Some(depth);
        }
    }
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|node| std::cmp::Reverse(depths[*node]));
    order
}
