//! CapacityPlans whose scopes or quotas meet: who leaves what out, what one takes as taken, and how they are told.
//!
//! Pure. A ClusterQueue that several name is planned by the first of them (`extent`). Queues that lend to each other may be
//! planned apart: then what the first has planned there counts as taken for the others, as running work does, and the first
//! sees of the others what runs. So no two of them promise the same GPUs, and who goes first gives way to nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::extent::root;
use super::planning::Planned;
use super::scope::Scope;
use crate::api::capacity_plan::Mode;
use crate::kueue::Assembled;
use crate::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use crate::plan::snapshot::{CellId, NodeId, Snapshot, Window, WindowEffect};
use crate::units::{Amount, Timestamp};

/// Others that are named in a message; there may be many.
const SHOWN: usize = 3;

/// How one CapacityPlan meets the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// A stable word.
    pub reason: &'static str,
    /// What is so, and what to do.
    pub message: String,
}

/// How one meets the others; `None`: nobody plans the same quota.
#[must_use]
pub fn told(name: &str, scopes: &BTreeMap<String, Scope>, snapshot: &Snapshot) -> Option<Overlap> {
    let promises = |scope: &&Scope| scope.name.is_some() && scope.spec.mode != Mode::Observe;
    let own = scopes.get(name).filter(promises)?;
    let others = scopes.iter().filter(|(other, scope)| *other != name && promises(scope));
    let met: Vec<(bool, String)> = others.filter_map(|(other, scope)| meets(own, (other, scope), snapshot)).collect();
    let reason = if met.iter().any(|(leaves_out, _)| *leaves_out) { "LeftOut" } else { "SharedQuota" };
    let shown = met.iter().take(SHOWN).map(|(_, said)| said.as_str()).collect::<Vec<_>>().join("; ");
    let message = match met.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{shown}; and {more} more CapacityPlans"),
        None => shown,
    };
    (!met.is_empty()).then_some(Overlap { reason, message })
}

/// Whether something is left out for the other, and how they meet.
fn meets(own: &Scope, (name, other): (&str, &Scope), snapshot: &Snapshot) -> Option<(bool, String)> {
    let goes_first = other.elders.iter().any(|elder| Some(&elder.name) == own.name.as_ref());
    let queue = |id: NodeId| &snapshot.node(id).name;
    let both =
        |first: &Scope, second: &Scope| first.queues(snapshot).intersection(&second.named(snapshot)).next().copied();
    if let Some(red) = both(own, other).filter(|_| goes_first).map(queue) {
        let said =
            format!("CapacityPlan {name} names ClusterQueue {red} too, and leaves it out, for this one goes first");
        return Some((false, format!("{said}: name {red} in one of them only")));
    }
    if let Some(red) = both(other, own).filter(|_| !goes_first).map(queue) {
        let said = format!("CapacityPlan {name} goes first and plans ClusterQueue {red}, which is left out here");
        return Some((true, format!("{said}: name {red} in one of them only")));
    }
    let cohort = queue(own.trees(snapshot).intersection(&other.trees(snapshot)).next().copied()?);
    let said = format!("CapacityPlan {name} plans other ClusterQueues of cohort {cohort}, which lend to each other");
    let how =
        if goes_first { "takes what is planned here as taken" } else { "what it has planned counts as taken here" };
    let link = if goes_first { "and" } else { "and goes first:" };
    Some((false, format!("{said}, {link} {how}; plan the cohort in one of them to have them planned together")))
}

/// The ClusterQueues that some plan names and leaves out, each with a sentence for those whose work it is.
#[must_use]
pub fn left_out<'a>(scopes: impl IntoIterator<Item = &'a Scope>, snapshot: &Snapshot) -> BTreeMap<QueueName, String> {
    let mut found = BTreeMap::new();
    for scope in scopes.into_iter().filter(|scope| !scope.elders.is_empty()) {
        for id in scope.named(snapshot) {
            let (Some(elder), Some(name)) = (scope.elder_of(snapshot, id), &scope.name) else { continue };
            let queue = &snapshot.node(id).name;
            let said =
                format!("CapacityPlan {elder} plans ClusterQueue {queue}; {name} names it too and leaves it out.");
            found.entry(queue.clone()).or_insert(said);
        }
    }
    found
}

/// Whether a plan that goes first and plans with the same quota has yet to be made: then the first plan of this one would
/// take what that one wants.
#[must_use]
pub fn waits(scope: &Scope, scopes: &BTreeMap<String, Scope>, snapshot: &Snapshot) -> bool {
    if scope.planned.is_some() || scope.elders.is_empty() {
        return false;
    }
    let own = scope.roots(snapshot);
    let meets = |elder: &Scope| match (&own, elder.roots(snapshot)) {
        (Some(own), Some(theirs)) => !own.is_disjoint(&theirs),
        _ => true,
    };
    let mut elders = scope.elders.iter().filter_map(|elder| scopes.get(&elder.name));
    elders.any(|elder| elder.planned.is_none() && elder.failed.is_none() && meets(elder))
}

/// What the plans before this one have planned of the quota that it plans with, for work that still waits.
#[must_use]
pub fn taken(scope: &Scope, plans: &BTreeMap<String, Arc<Planned>>, seen: &Assembled) -> Vec<Window> {
    let snapshot = &seen.snapshot;
    let waits: BTreeSet<&WorkloadKey> = seen.uncontrolled.iter().map(|it| &it.key).collect();
    let roots = scope.roots(snapshot);
    let nodes: BTreeMap<&QueueName, NodeId> =
        snapshot.nodes.iter().map(|node| &node.name).zip((0_u32..).map(NodeId)).collect();
    let cells: BTreeMap<(&FlavorName, &ResourceName), CellId> =
        snapshot.cells.iter().map(|cell| (&cell.flavor, &cell.resource)).zip((0_u32..).map(CellId)).collect();
    let mut sums: BTreeMap<(&str, NodeId, CellId, Timestamp, Timestamp), Amount> = BTreeMap::new();
    for elder in &scope.elders {
        let Some(planned) = plans.get(&elder.name) else { continue };
        for release in planned.plan.releases.iter().filter(|release| waits.contains(&release.workload)) {
            let Some(node) = nodes.get(&release.cluster_queue).copied() else { continue };
            if roots.as_ref().is_some_and(|roots| !roots.contains(&root(snapshot, node))) {
                continue;
            }
            for (flavor, resource, amount) in &release.uses {
                let Some(cell) = cells.get(&(flavor, resource)) else { continue };
                for piece in &release.pieces {
                    let sum = sums.entry((&elder.name, node, *cell, piece.start, piece.end)).or_default();
                    *sum = sum.saturating_add(*amount);
                }
            }
        }
    }
    let window = |((elder, node, cell, start, end), quantity)| Window {
        name: format!("of CapacityPlan {elder}"),
        node,
        cell,
        effect: WindowEffect::Reserve,
        quantity,
        start,
        end,
    };
    sums.into_iter().map(window).collect()
}
