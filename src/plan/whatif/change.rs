//! What an option changes: capacity, load, prices; and the snapshot that follows.
//!
//! An option names nodes and cells of the snapshot it is about; whoever reads it from text resolves the names.
//! Applying it is a pure function: the same snapshot and change give the same snapshot.

use serde::Serialize;

use super::{growth, pool};
use crate::plan::snapshot::{CellId, CellPrice, NodeId, Snapshot, Window, WindowEffect};
use crate::units::{Amount, Money, Timestamp};

/// One way the future might be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Change {
    pub name: String,
    pub edits: Vec<Edit>,
    /// How much more work there is, in percent; at least -100.
    pub growth_percent: i32,
    pub prices: Vec<NewPrice>,
}

/// A change of capacity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    pub kind: EditKind,
    /// The ClusterQueue or Cohort whose quota it is; for [`EditKind::Remove`] its whole subtree gives.
    pub node: NodeId,
    pub cell: CellId,
    pub quantity: Amount,
    /// Half-open, ascending; empty: for good.
    pub stretches: Vec<(Timestamp, Timestamp)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum EditKind {
    /// Bought, or rented for a time.
    Add,
    /// Given up.
    Remove,
    /// Fails for a time.
    Outage,
}

/// A price that replaces the rate card's, at all times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NewPrice {
    pub cell: CellId,
    pub per_unit_hour: Money,
}

impl Change {
    /// Whether it changes what things cost and nothing else.
    #[must_use]
    pub fn is_price_only(&self) -> bool {
        self.edits.is_empty() && self.growth_percent == 0 && !self.prices.is_empty()
    }

    /// The snapshot under this change.
    #[must_use]
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        let mut changed = growth::grown(snapshot, self.growth_percent);
        for edit in &self.edits {
            edit.apply(&self.name, &mut changed);
        }
        for new in &self.prices {
            changed.prices.retain(|price| price.cell != new.cell);
            let price = CellPrice { cell: new.cell, per_unit_hour: new.per_unit_hour, windows: Vec::new() };
            let at = changed.prices.partition_point(|price| price.cell < new.cell);
            changed.prices.insert(at, price);
        }
        changed
    }
}

impl Edit {
    fn apply(&self, name: &str, snapshot: &mut Snapshot) {
        if self.stretches.is_empty() {
            match self.kind {
                EditKind::Add => pool::add(snapshot, self.node, self.cell, self.quantity),
                EditKind::Remove | EditKind::Outage => pool::take(snapshot, self.node, self.cell, self.quantity),
            }
            return;
        }
        let effect = match self.kind {
            EditKind::Add => WindowEffect::Add,
            // What is not there for a time counts as used by others.
            EditKind::Remove | EditKind::Outage => WindowEffect::Reserve,
        };
        snapshot.windows.extend(self.stretches.iter().map(|(start, end)| Window {
            name: name.to_owned(),
            node: self.node,
            cell: self.cell,
            effect,
            quantity: self.quantity,
            start: *start,
            end: *end,
        }));
    }
}
