//! Which ClusterQueues a CapacityPlan has in scope, and which of them it plans.
//!
//! Pure, and the only place of the rule. In scope are the queues that it names and those below the cohorts that it names;
//! without either, all. It plans those of them that no plan before it has in scope. A name that nobody bears counts for
//! nothing. Deliberately absent: which plan goes before which, for that is the caller's to say.

use std::collections::BTreeSet;

use crate::api::capacity_plan::CapacityPlanSpec;
use crate::plan::snapshot::{Node, NodeId};

/// The ClusterQueues that it plans, where `elders` go before it.
#[must_use]
pub fn planned<'a>(
    spec: &CapacityPlanSpec,
    elders: impl IntoIterator<Item = &'a CapacityPlanSpec>,
    nodes: &[Node],
) -> BTreeSet<NodeId> {
    let mut own = named(spec, nodes);
    for elder in elders {
        own.retain(|id| !names(elder, nodes, *id));
    }
    own
}

/// The ClusterQueues in its scope.
#[must_use]
pub fn named(spec: &CapacityPlanSpec, nodes: &[Node]) -> BTreeSet<NodeId> {
    queues(nodes).filter(|id| names(spec, nodes, *id)).collect()
}

/// Whether a ClusterQueue is in its scope.
#[must_use]
pub fn names(spec: &CapacityPlanSpec, nodes: &[Node], queue: NodeId) -> bool {
    let node = |id: NodeId| &nodes[id.0 as usize];
    let is_one_of = |all: &[String], id: NodeId| all.iter().any(|name| name == node(id).name.as_str());
    let mut above = std::iter::successors(node(queue).parent, |id| node(*id).parent);
    names_all(spec) || is_one_of(&spec.queues, queue) || above.any(|id| is_one_of(&spec.cohorts, id))
}

/// Whether every ClusterQueue is in its scope, whatever queues there are.
#[must_use]
pub fn names_all(spec: &CapacityPlanSpec) -> bool {
    spec.queues.is_empty() && spec.cohorts.is_empty()
}

/// The ClusterQueues among the nodes.
pub fn queues(nodes: &[Node]) -> impl Iterator<Item = NodeId> + '_ {
    (0_u32..).map(NodeId).zip(nodes).filter(|(_, node)| node.rules().is_some()).map(|(id, _)| id)
}
