//! The most that each node of the quota tree could ever give: Kueue's "potential available".
//!
//! A request above it waits for ever, so it is told of before planning. Windows that add capacity count in full, whenever
//! they are, so that nothing is called impossible which a window makes possible. The algebra itself is `quota`'s.

use std::collections::BTreeMap;

use super::queues::Queues;
use super::quota;
use crate::plan::snapshot::{CellId, NodeId, Quota, Snapshot, Window, WindowEffect};
use crate::units::{Amount, Timestamp};

#[derive(Debug)]
pub struct Reach {
    tree: quota::Tree,
    /// Cells of which more may be bought: nothing of them is out of reach.
    boundless: Vec<CellId>,
}

impl Reach {
    #[must_use]
    pub fn new(queues: &Queues, windows: &[Window], may_grow: bool) -> Self {
        // One recurring window stands here many times: its quantity counts once. Windows of different names add up.
        let mut added: BTreeMap<(NodeId, CellId, &str), Amount> = BTreeMap::new();
        for window in windows.iter().filter(|window| window.effect == WindowEffect::Add) {
            let largest = added.entry((window.node, window.cell, &window.name)).or_default();
            *largest = (*largest).max(window.quantity);
        }
        let mut nodes = queues.nodes.clone();
        for ((node, cell, _), quantity) in added {
            let Some(node) = usize::try_from(node.0).ok().and_then(|at| nodes.get_mut(at)) else { continue };
            let quota: &mut Quota = node.quotas.entry(cell).or_default();
            quota.nominal = quota.nominal.saturating_add(quantity);
        }
        let at = Timestamp(0);
        let empty = Snapshot {
            now: at,
            horizon_end: at,
            time_zone: String::new(),
            cells: queues.cells.clone(),
            nodes,
            workloads: Vec::new(),
            running: Vec::new(),
            windows: Vec::new(),
            prices: Vec::new(),
            currency: None,
            previous: Vec::new(),
        };
        let ids = (0u32..).map(CellId).zip(&queues.cells);
        let boundless = ids.filter(|(_, cell)| may_grow && cell.resource.is_accelerator()).map(|(id, _)| id).collect();
        Self { tree: quota::Tree::at(&empty, at), boundless }
    }

    /// The most a workload of this node could ever hold of the cell.
    #[must_use]
    pub fn of(&self, node: NodeId, cell: CellId) -> Amount {
        if self.boundless.contains(&cell) { Amount(i64::MAX) } else { self.tree.potential_available(node, cell) }
    }
}
