//! The same history on another pool.

use crate::names::FlavorName;
use crate::plan::snapshot::NodeKind;
use crate::units::Amount;

use super::history::History;

/// So many GPUs (cores, for a log of cores) more or fewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// `None`: the first flavor of the pool.
    pub flavor: Option<FlavorName>,
    /// In whole units; negative: fewer.
    pub quantity: i64,
}

/// The history with its first ClusterQueue that has quota of that flavor changed.
///
/// # Errors
/// A sentence, when the flavor has no quota or more is removed than there is.
pub fn changed(history: &History, change: &Change) -> Result<History, String> {
    let mut history = history.clone();
    let snapshot = &mut history.snapshot;
    let flavor = change.flavor.clone().or_else(|| snapshot.cells.first().map(|cell| cell.flavor.clone()));
    let named = flavor.as_ref().map_or("", FlavorName::as_str);
    let cells = &snapshot.cells;
    let quota = snapshot
        .nodes
        .iter_mut()
        .filter(|node| matches!(node.kind, NodeKind::ClusterQueue(_)))
        .flat_map(|node| node.quotas.iter_mut())
        .find(|(cell, _)| cells.get(cell.0 as usize).is_some_and(|cell| Some(&cell.flavor) == flavor.as_ref()));
    let Some((cell, quota)) = quota else { return Err(format!("the pool has no flavor `{named}`")) };
    let resource = &cells[cell.0 as usize].resource;
    let per_unit = if resource.is_milli() { 1000 } else { resource.units_per_gpu() };
    let nominal = change.quantity.checked_mul(per_unit).and_then(|units| quota.nominal.0.checked_add(units));
    match nominal {
        Some(nominal) if nominal >= 0 => quota.nominal = Amount(nominal),
        _ => {
            let have = quota.nominal.0 / per_unit;
            return Err(format!("{} cannot be added to the {have} {named} there are", change.quantity));
        }
    }
    Ok(history)
}
