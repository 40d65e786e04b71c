//! What is used in the cohort tree, and the questions that need both usage and quota.

use crate::plan::snapshot::{CellId, NodeId};
use crate::units::Amount;

use super::clamped;
use super::tree::{Tree, Use};

/// Usage per node and cell, held against a [`Tree`].
///
/// It does not enforce anything: [`Ledger::fits`] says what would be allowed, [`Ledger::add`] writes down what happened.
/// What is added and later removed leaves no trace, in whatever order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    tree: Tree,
    /// By node, then cell: what was added at the node itself (without reservations).
    own: Vec<i128>,
    used: Vec<Use>,
}

/// How far up a request must go for quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    /// 0: within the ClusterQueue's own nominal quota. Otherwise the height of the lowest cohort that can serve it
    /// without borrowing in turn; that of the root when none can.
    pub height: u32,
    /// That subtree is not the whole tree: what others borrowed from it might be reclaimed.
    pub below_root: bool,
}

impl Ledger {
    /// Nothing used but what the tree's windows reserve.
    #[must_use]
    pub fn new(tree: Tree) -> Self {
        let slots = tree.limits.len();
        let mut ledger = Self { tree, own: vec![0; slots], used: vec![Use::default(); slots] };
        ledger.settle();
        ledger
    }

    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Puts other quotas (of the same snapshot, at another instant) under the same usage. Nothing is evicted.
    pub fn adopt(&mut self, tree: Tree) {
        self.own.resize(tree.limits.len(), 0);
        self.tree = tree;
        self.settle();
    }

    fn settle(&mut self) {
        self.used = vec![Use::default(); self.own.len()];
        for at in 0..self.own.len() {
            let amount = self.own[at] + self.tree.limits[at].reserved;
            self.shift(at, amount);
        }
    }

    /// Writes down that `node` uses so much more.
    pub fn add(&mut self, node: NodeId, uses: &[(CellId, Amount)]) {
        for (cell, amount) in uses {
            self.record(node, *cell, i128::from(amount.0));
        }
    }

    /// Takes back what was added.
    pub fn remove(&mut self, node: NodeId, uses: &[(CellId, Amount)]) {
        for (cell, amount) in uses {
            self.record(node, *cell, -i128::from(amount.0));
        }
    }

    fn record(&mut self, node: NodeId, cell: CellId, amount: i128) {
        if let Some(at) = self.tree.slot(node, cell) {
            self.own[at] += amount;
            self.shift(at, amount);
        }
    }

    /// Changes the usage at a slot, and above it by what that changes above the local quota.
    fn shift(&mut self, mut at: usize, amount: i128) {
        let cells = self.tree.cells();
        let mut bubbling = amount;
        loop {
            let (used, local) = (&mut self.used[at], self.tree.limits[at].local);
            let before = (used.bubbled - local).max(0);
            used.bubbled += bubbling;
            used.whole += amount;
            bubbling = (used.bubbled - local).max(0) - before;
            let Some(parent) = self.tree.nodes[at / cells].parent else { return };
            at = parent * cells + at % cells;
        }
    }

    fn use_at(&self, node: NodeId, cell: CellId) -> Use {
        self.tree.slot(node, cell).map_or(Use::default(), |at| self.used[at])
    }

    /// What counts against the node's subtree quota.
    #[must_use]
    pub fn usage(&self, node: NodeId, cell: CellId) -> Amount {
        clamped(self.use_at(node, cell).bubbled)
    }

    /// What the node may take on, from its own quota and by borrowing. Negative when quota was taken from under usage.
    #[must_use]
    pub fn available(&self, node: NodeId, cell: CellId) -> Amount {
        clamped(self.tree.available(node, cell, |at| self.used[at]))
    }

    /// Whether all of it can be taken on at once. A cell may be named more than once; a zero amount always fits.
    #[must_use]
    pub fn fits(&self, node: NodeId, uses: &[(CellId, Amount)]) -> bool {
        uses.iter().all(|(cell, amount)| {
            let named_once = uses.iter().filter(|(other, _)| other == cell).count() == 1;
            let wanted: i128 = if named_once {
                i128::from(amount.0)
            } else {
                uses.iter().filter(|(other, _)| other == cell).map(|(_, amount)| i128::from(amount.0)).sum()
            };
            wanted <= 0 || wanted <= self.tree.available(node, *cell, |at| self.used[at])
        })
    }

    /// Whether the node stays within its subtree quota with `amount` more: otherwise it borrows.
    #[must_use]
    pub fn within_quota_with(&self, node: NodeId, cell: CellId, amount: Amount) -> bool {
        self.use_at(node, cell).bubbled + i128::from(amount.0) <= self.tree.limits(node, cell).subtree
    }

    #[must_use]
    pub fn is_borrowing(&self, node: NodeId, cell: CellId) -> bool {
        !self.within_quota_with(node, cell, Amount::ZERO)
    }

    /// What is left of the quota that the parent never sees.
    #[must_use]
    pub fn local_available(&self, node: NodeId, cell: CellId) -> Amount {
        clamped((self.tree.limits(node, cell).local - self.use_at(node, cell).bubbled).max(0))
    }

    /// Where `amount` more at this node would come from.
    #[must_use]
    pub fn level(&self, node: NodeId, cell: CellId, amount: Amount) -> Level {
        let parent = self.tree.parent(node);
        if parent.is_none() || self.within_quota_with(node, cell, amount) {
            return Level { height: 0, below_root: parent.is_some() };
        }
        let mut wanted = amount.saturating_sub(self.local_available(node, cell));
        let mut height = 0;
        for above in self.tree.ancestors(node) {
            height = self.tree.nodes[above.0 as usize].height;
            if self.within_quota_with(above, cell, wanted) {
                return Level { height, below_root: self.tree.parent(above).is_some() };
            }
            wanted = wanted.saturating_sub(self.local_available(above, cell));
        }
        Level { height, below_root: false }
    }
}
