//! CapacityPlans that plan the same quota without knowing of each other.
//!
//! Each is planned apart: what the other will hold it only sees once it runs. Kueue's quota stays what it is, so nothing is
//! given out twice; but starts that both promise for the same GPUs are not kept by both. Plans that are only observed
//! promise nothing and stand in nobody's way. Deliberately absent: planning them together, which one CapacityPlan does.

use std::collections::{BTreeMap, BTreeSet};

use super::scope::Scope;
use crate::api::capacity_plan::Mode;
use crate::plan::snapshot::{NodeId, Snapshot};

/// Others that are named in a message; there may be many.
const SHOWN: usize = 3;

/// What to do about the CapacityPlans that overlap with one, each as a sentence; `None`: nobody does.
#[must_use]
pub fn told(name: &str, scopes: &BTreeMap<String, Scope>, snapshot: &Snapshot) -> Option<String> {
    let promises = |scope: &Scope| scope.name.is_some() && scope.spec.mode != Mode::Observe;
    let own = scopes.get(name).filter(|scope| promises(scope))?.queues(snapshot);
    let others = scopes.iter().filter(|(other, scope)| *other != name && promises(scope));
    let told: Vec<String> = others
        .filter_map(|(other, scope)| one(name.min(other), other, &own, &scope.queues(snapshot), snapshot))
        .collect();
    let more = told.len().saturating_sub(SHOWN);
    let shown = told.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    match (told.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(shown),
        (false, more) => Some(format!("{shown}; and {more} more CapacityPlans")),
    }
}

fn one(
    first: &str,
    other: &str,
    own: &BTreeSet<NodeId>,
    theirs: &BTreeSet<NodeId>,
    snapshot: &Snapshot,
) -> Option<String> {
    if let Some(both) = own.intersection(theirs).next() {
        let queue = &snapshot.node(*both).name;
        return Some(format!(
            "CapacityPlan {other} plans ClusterQueue {queue} too, and {first}, the first by name, speaks for its work: \
             name {queue} in one of them only"
        ));
    }
    let root = |id: &NodeId| snapshot.path_to_root(*id).last().unwrap_or(*id);
    let roots: BTreeSet<NodeId> = own.iter().map(root).collect();
    let cohort = &snapshot.node(theirs.iter().map(root).find(|root| roots.contains(root))?).name;
    Some(format!(
        "CapacityPlan {other} plans other ClusterQueues of cohort {cohort}, which lend to each other, and neither knows what \
         the other will hold: plan the cohort in one of them"
    ))
}
