//! Which ClusterQueues a CapacityPlan plans: those in its scope (`kueue::named`), but for those that a plan before it plans.
//!
//! Pure. So each ClusterQueue is planned by one CapacityPlan that promises anything: one in Enforce mode before one in
//! Recommend mode, for the webhook holds work of every queue that a plan in Enforce mode names; then the older; then the
//! first by name. Plans that are only observed promise nothing, stand in nobody's way and leave nothing out.

use std::collections::{BTreeMap, BTreeSet};

use super::scope::Scope;
use crate::api::capacity_plan::{CapacityPlanSpec, Mode};
use crate::kueue::named::{self, names, names_all};
use crate::names::QueueName;
use crate::plan::snapshot::{NodeId, Snapshot};
use crate::units::Timestamp;

/// A CapacityPlan that goes before another.
#[derive(Debug, Clone, PartialEq)]
pub struct Elder {
    pub name: String,
    pub spec: CapacityPlanSpec,
}

/// What a CapacityPlan names and plans in one state of the queues.
#[derive(Debug)]
pub(super) struct Extent {
    pub named: BTreeSet<NodeId>,
    pub planned: BTreeSet<NodeId>,
    /// The roots of the trees that hold what it plans.
    pub trees: BTreeSet<NodeId>,
}

/// The plans that go before each, the first ones first.
#[must_use]
pub fn elders<'a>(
    plans: impl IntoIterator<Item = (&'a str, Option<Timestamp>, &'a CapacityPlanSpec)>,
) -> BTreeMap<String, Vec<Elder>> {
    let mut promising: Vec<_> = plans.into_iter().filter(|(.., spec)| spec.mode != Mode::Observe).collect();
    promising.sort_by_key(|(name, created, spec)| (spec.mode != Mode::Enforce, created.is_none(), *created, *name));
    let mut before: Vec<Elder> = Vec::new();
    let mut found = BTreeMap::new();
    for (name, _, spec) in promising {
        found.insert(name.to_owned(), before.clone());
        before.push(Elder { name: name.to_owned(), spec: spec.clone() });
    }
    found
}

impl Scope {
    /// Whether it plans a ClusterQueue.
    #[must_use]
    pub fn covers(&self, queue: &QueueName, snapshot: &Snapshot) -> bool {
        if self.plans_all() {
            return true; // Asked for every workload, and mostly so: nothing is looked for.
        }
        let id = named::queues(&snapshot.nodes).find(|id| snapshot.node(*id).name == *queue);
        let of = |spec: &CapacityPlanSpec| match id {
            Some(id) => names(spec, &snapshot.nodes, id),
            None => names_all(spec) || spec.queues.iter().any(|name| name == queue.as_str()),
        };
        of(&self.spec) && !self.elders.iter().any(|elder| of(&elder.spec))
    }

    /// The ClusterQueues that it plans.
    #[must_use]
    pub fn queues(&self, snapshot: &Snapshot) -> BTreeSet<NodeId> {
        named::planned(&self.spec, self.elders.iter().map(|elder| &elder.spec), &snapshot.nodes)
    }

    /// The ClusterQueues in its scope.
    #[must_use]
    pub fn named(&self, snapshot: &Snapshot) -> BTreeSet<NodeId> {
        named::named(&self.spec, &snapshot.nodes)
    }

    /// The first plan before it that has a ClusterQueue in its scope.
    #[must_use]
    pub fn elder_of(&self, snapshot: &Snapshot, queue: NodeId) -> Option<&str> {
        self.elders.iter().find(|elder| names(&elder.spec, &snapshot.nodes, queue)).map(|elder| elder.name.as_str())
    }

    /// The roots of the trees that hold a queue that it plans; `None`: all of them.
    pub(super) fn roots(&self, snapshot: &Snapshot) -> Option<BTreeSet<NodeId>> {
        (!self.plans_all()).then(|| trees(&self.queues(snapshot), snapshot))
    }

    /// What it names and plans, all of it told one by one.
    pub(super) fn extent(&self, snapshot: &Snapshot) -> Extent {
        let planned = self.queues(snapshot);
        Extent { named: self.named(snapshot), trees: trees(&planned, snapshot), planned }
    }

    fn plans_all(&self) -> bool {
        names_all(&self.spec) && self.elders.is_empty()
    }
}

fn trees(queues: &BTreeSet<NodeId>, snapshot: &Snapshot) -> BTreeSet<NodeId> {
    queues.iter().map(|id| root(snapshot, *id)).collect()
}

/// The root of a node's tree.
pub(super) fn root(snapshot: &Snapshot, id: NodeId) -> NodeId {
    snapshot.path_to_root(id).last().unwrap_or(id)
}
