//! CapacityPlans whose scopes or quotas meet: who leaves what out, what one takes as taken, and how they are told.
//!
//! Pure. A ClusterQueue that several name is planned by the first of them (`extent`). Queues that lend to each other may be
//! planned apart: then what the first has planned there counts as taken for the others, as running work does, and the first
//! sees of the others what runs. So no two of them promise the same GPUs, and who goes first gives way to nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::extent::{Extent, root};
use super::planning::Planned;
use super::scope::Scope;
use crate::api::capacity_plan::{CapacityPlanSpec, Mode};
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

/// All that promise anything, and what each names and plans: worked out once for one state of the queues.
#[derive(Debug)]
pub struct Meeting<'a> {
    snapshot: &'a Snapshot,
    all: BTreeMap<&'a str, (&'a Scope, Extent)>,
}

impl<'a> Meeting<'a> {
    #[must_use]
    pub fn of(scopes: &'a BTreeMap<String, Scope>, snapshot: &'a Snapshot) -> Self {
        let promises = |scope: &Scope| scope.name.is_some() && scope.spec.mode != Mode::Observe;
        let met: Vec<_> = scopes.iter().filter(|(_, scope)| promises(scope)).collect();
        let is_alone = met.len() < 2;
        let extents = met.into_iter().filter(|_| !is_alone);
        let all = extents.map(|(name, scope)| (name.as_str(), (scope, scope.extent(snapshot)))).collect();
        Self { snapshot, all }
    }

    /// How one meets the others; `None`: nobody plans the same quota.
    #[must_use]
    pub fn told(&self, name: &str) -> Option<Overlap> {
        let own = self.all.get(name)?;
        let others = self.all.iter().filter(|(other, _)| **other != name);
        let met: Vec<(bool, String)> = others.filter_map(|(other, scope)| self.meets(own, (*other, scope))).collect();
        let reason = if met.iter().any(|(leaves_out, _)| *leaves_out) { "LeftOut" } else { "SharedQuota" };
        let shown = met.iter().take(SHOWN).map(|(_, said)| said.as_str()).collect::<Vec<_>>().join("; ");
        let message = match met.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            Some(more) => format!("{shown}; and {more} more CapacityPlans"),
            None => shown,
        };
        (!met.is_empty()).then_some(Overlap { reason, message })
    }

    /// Whether something is left out for the other, and how they meet.
    fn meets(
        &self,
        (own, mine): &(&Scope, Extent),
        (name, (other, theirs)): (&str, &(&Scope, Extent)),
    ) -> Option<(bool, String)> {
        let goes_first = other.elders.iter().any(|elder| Some(&elder.name) == own.name.as_ref());
        let first_of_both = |one: &BTreeSet<NodeId>, two: &BTreeSet<NodeId>| {
            one.intersection(two).next().map(|id| &self.snapshot.node(*id).name)
        };
        if let Some(red) = first_of_both(&mine.planned, &theirs.named).filter(|_| goes_first) {
            let said =
                format!("CapacityPlan {name} names ClusterQueue {red} too, and leaves it out, for this one goes first");
            return Some((false, format!("{said}: name {red} in one of them only")));
        }
        if let Some(red) = first_of_both(&theirs.planned, &mine.named).filter(|_| !goes_first) {
            let said = format!("CapacityPlan {name} goes first and plans ClusterQueue {red}, which is left out here");
            return Some((true, format!("{said}: name {red} in one of them only")));
        }
        let cohort = first_of_both(&mine.trees, &theirs.trees)?;
        let said =
            format!("CapacityPlan {name} plans other ClusterQueues of cohort {cohort}, which lend to each other");
        let how =
            if goes_first { "takes what is planned here as taken" } else { "what it has planned counts as taken here" };
        let link = if goes_first { "and" } else { "and goes first:" };
        Some((false, format!("{said}, {link} {how}; plan the cohort in one of them to have them planned together")))
    }
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

/// What `taken` came from beside what the plan sees: of the same comes the same.
#[derive(Debug)]
pub struct Source {
    spec: CapacityPlanSpec,
    plans: Vec<Option<Arc<Planned>>>,
}

impl Source {
    fn of(scope: &Scope, plans: &BTreeMap<String, Arc<Planned>>) -> Self {
        let plans = scope.elders.iter().map(|elder| plans.get(&elder.name).cloned()).collect();
        Self { spec: scope.spec.clone(), plans }
    }

    /// A plan is never changed, so that it is the same where it lies in the same place.
    fn is_same(&self, other: &Self) -> bool {
        let same = |one: &Option<Arc<Planned>>, two: &Option<Arc<Planned>>| {
            one.as_ref().map(Arc::as_ptr) == two.as_ref().map(Arc::as_ptr)
        };
        let pairs = self.plans.iter().zip(&other.plans);
        self.spec == other.spec && self.plans.len() == other.plans.len() && pairs.into_iter().all(|(a, b)| same(a, b))
    }
}

/// Works out for each what it may not plan with, where that is not known. What `known` says of one counts for as long as
/// it sees the same: whoever looks again forgets it there.
pub fn take<'a>(
    scopes: &mut BTreeMap<String, Scope>,
    known: &mut BTreeMap<String, Source>,
    seen: impl Fn(&str) -> Option<&'a Assembled>,
) {
    let plans = scopes.iter().filter_map(|(name, scope)| Some((name.clone(), scope.planned.clone()?))).collect();
    // Those that nobody goes before too: somebody may have, and what he had taken is free again.
    for (name, scope) in scopes {
        let Some(seen) = seen(name) else { continue };
        let source = Source::of(scope, &plans);
        if known.get(name).is_none_or(|before| !before.is_same(&source)) {
            scope.taken = taken(scope, &plans, seen);
            known.insert(name.clone(), source);
        }
    }
}

/// What the plans before this one have planned of the quota that it plans with, for work that still waits.
#[must_use]
pub fn taken(scope: &Scope, plans: &BTreeMap<String, Arc<Planned>>, seen: &Assembled) -> Vec<Window> {
    if scope.elders.is_empty() {
        return Vec::new();
    }
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
