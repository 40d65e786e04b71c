//! The quota tree of one cell at one instant, kept up to date one change at a time.
//!
//! Invariant between calls: every node's sums over its children are what the children last handed up. A change costs
//! one walk to the root. Each node keeps its usage twice, with and without planned work: planned work is at fault
//! where it adds to a usage above its limit, and only there.

use crate::plan::snapshot::{self, CellId, NodeId, Quota, Snapshot};

use super::{Breach, Limit};

const NO_PARENT: u32 = u32::MAX;

pub(in crate::plan) struct Tree {
    nodes: Vec<Node>,
    /// Children before parents.
    bottom_up: Vec<u32>,
    /// All quotas, by cell.
    quotas: Vec<(CellId, u32, Quota)>,
}

#[derive(Default)]
struct Node {
    /// [`NO_PARENT`] at a root.
    parent: u32,
    nominal: i128,
    lending_limit: Option<i128>,
    borrowing_limit: Option<i128>,
    /// Used at this node itself.
    own: Usage,
    /// Sums over the children: quota they lend, usage above their local quota.
    lent_below: i128,
    above_local_below: Usage,
    /// Used in the whole subtree, plainly added up.
    whole: Usage,
    caps: Vec<i128>,
    /// What this node hands up: the quota it lends, and its usage above its local quota.
    lent: i128,
    above_local: Usage,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Usage {
    all: i128,
    /// Without planned work.
    fixed: i128,
}

impl Usage {
    fn add(&mut self, by: Self) {
        self.all += by.all;
        self.fixed += by.fixed;
    }
    fn minus(self, other: Self) -> Self {
        Self { all: self.all - other.all, fixed: self.fixed - other.fixed }
    }
    fn above(self, level: i128) -> Self {
        Self { all: (self.all - level).max(0), fixed: (self.fixed - level).max(0) }
    }
}

impl Node {
    fn usage(&self) -> Usage {
        let mut usage = self.own;
        usage.add(self.above_local_below);
        usage
    }
    fn subtree(&self) -> i128 {
        self.nominal + self.lent_below
    }
    fn local(&self) -> i128 {
        match self.lending_limit {
            Some(limit) if self.parent != NO_PARENT => (self.subtree() - limit).max(0),
            _ => 0,
        }
    }
}

impl Tree {
    pub(in crate::plan) fn new(snapshot: &Snapshot) -> Self {
        let parent = |node: &snapshot::Node| node.parent.map_or(NO_PARENT, |id| id.0);
        let nodes: Vec<_> =
            snapshot.nodes.iter().map(|node| Node { parent: parent(node), ..Node::default() }).collect();
        let mut by_depth: Vec<(usize, u32)> =
            (0..).zip(&nodes).map(|(id, _)| (snapshot.path_to_root(NodeId(id)).count(), id)).collect();
        by_depth.sort_unstable_by(|a, b| b.cmp(a));
        let bottom_up = by_depth.into_iter().map(|(_, id)| id).collect();
        let mut quotas: Vec<(CellId, u32, Quota)> = (0..)
            .zip(&snapshot.nodes)
            .flat_map(|(id, node)| node.quotas.iter().map(move |(&cell, &quota)| (cell, id, quota)))
            .collect();
        quotas.sort_unstable_by_key(|&(cell, id, _)| (cell, id));
        Self { nodes, bottom_up, quotas }
    }

    /// Forgets everything and takes the quotas of `cell`, with nothing used.
    pub(in crate::plan) fn enter(&mut self, snapshot: &Snapshot, cell: CellId) {
        debug_assert_eq!(self.nodes.len(), snapshot.nodes.len(), "a tree serves one snapshot");
        for node in &mut self.nodes {
            node.caps.clear();
            *node = Node { parent: node.parent, caps: std::mem::take(&mut node.caps), ..Node::default() };
        }
        let first = self.quotas.partition_point(|&(of, ..)| of < cell);
        for &(_, id, quota) in self.quotas[first..].iter().take_while(|&&(of, ..)| of == cell) {
            let node = &mut self.nodes[id as usize];
            node.nominal = i128::from(quota.nominal.0);
            node.lending_limit = quota.lending_limit.map(|amount| i128::from(amount.0));
            node.borrowing_limit = quota.borrowing_limit.map(|amount| i128::from(amount.0));
        }
        for at in 0..self.bottom_up.len() {
            let id = self.bottom_up[at];
            let node = &mut self.nodes[id as usize];
            node.lent = node.subtree() - node.local();
            let (parent, lent) = (node.parent, node.lent);
            if parent != NO_PARENT {
                self.nodes[parent as usize].lent_below += lent;
            }
        }
    }

    pub(in crate::plan) fn plan(&mut self, node: u32, by: i128) {
        self.use_more(node, Usage { all: by, fixed: 0 });
    }
    pub(in crate::plan) fn fix(&mut self, node: u32, by: i128) {
        self.use_more(node, Usage { all: by, fixed: by });
    }
    pub(in crate::plan) fn widen(&mut self, node: u32, by: i128) {
        self.nodes[node as usize].nominal += by;
        self.hand_up(node, Usage::default());
    }
    pub(in crate::plan) fn cap(&mut self, node: u32, quantity: i128) {
        self.nodes[node as usize].caps.push(quantity);
    }
    pub(in crate::plan) fn uncap(&mut self, node: u32, quantity: i128) {
        let caps = &mut self.nodes[node as usize].caps;
        if let Some(at) = caps.iter().position(|cap| *cap == quantity) {
            caps.swap_remove(at);
        }
    }

    fn use_more(&mut self, node: u32, by: Usage) {
        self.nodes[node as usize].own.add(by);
        self.hand_up(node, by);
    }

    /// Brings the path from `node` to its root up to date after a change at `node`.
    fn hand_up(&mut self, node: u32, used: Usage) {
        let mut id = node;
        while id != NO_PARENT {
            let node = &mut self.nodes[id as usize];
            node.whole.add(used);
            let local = node.local();
            let (lent, above_local) = (node.subtree() - local, node.usage().above(local));
            let (lent_more, above_more) = (lent - node.lent, above_local.minus(node.above_local));
            (node.lent, node.above_local) = (lent, above_local);
            id = node.parent;
            if id != NO_PARENT {
                let parent = &mut self.nodes[id as usize];
                parent.lent_below += lent_more;
                parent.above_local_below.add(above_more);
            }
        }
    }

    /// Names every limit on the path from `node` to its root that planned work breaks now, nearest first.
    pub(in crate::plan) fn judge(&self, node: u32, breach: &mut dyn FnMut(Breach)) {
        let mut id = node;
        while id != NO_PARENT {
            let node = &self.nodes[id as usize];
            let mut hold = |limit, used: Usage, allowed: i128| {
                if used.all > allowed && used.all > used.fixed {
                    let (used, fixed) = (used.all, used.fixed);
                    breach(Breach { node: NodeId(id), limit, used, allowed, fixed });
                }
            };
            if node.parent == NO_PARENT {
                hold(Limit::Quota, node.usage(), node.subtree());
            } else if let Some(limit) = node.borrowing_limit {
                hold(Limit::Borrowing, node.above_local, node.lent + limit);
            }
            if let Some(&cap) = node.caps.iter().min() {
                hold(Limit::Cap, node.whole, cap);
            }
            id = node.parent;
        }
    }
}
