//! ClusterQueues and Cohorts as the planner's quota tree.
//!
//! Nodes stand in a fixed order: ClusterQueues by name, then Cohorts by name. A Cohort that is only named (by a queue or
//! by another Cohort) exists with no quota of its own, as in Kueue. Cells are the (flavor, resource) pairs that have
//! quota anywhere, sorted.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Catalog, Known};
use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use super::types::{self, ClusterQueueSpec, Preference, ResourceQuota, Search, StopPolicy};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::names::{FlavorName, QueueName, ResourceName};
use crate::plan::snapshot::{
    BorrowWithinCohort, Cell, CellId, Node, NodeId, NodeKind, PreemptionPolicy, QueueRules, QueueingStrategy, Quota,
    ResourceGroup,
};
use crate::units::Amount;

/// The quota tree with its names.
#[derive(Debug, Default)]
pub struct Queues {
    pub nodes: Vec<Node>,
    pub cells: Vec<Cell>,
    by_name: BTreeMap<String, NodeId>,
    cohorts: BTreeMap<String, NodeId>,
    cell_ids: BTreeMap<(FlavorName, ResourceName), CellId>,
}

impl Queues {
    #[must_use]
    pub fn queue(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }
    #[must_use]
    pub fn cohort(&self, name: &str) -> Option<NodeId> {
        self.cohorts.get(name).copied()
    }
    #[must_use]
    pub fn cell(&self, flavor: &FlavorName, resource: &ResourceName) -> Option<CellId> {
        self.cell_ids.get(&(flavor.clone(), resource.clone())).copied()
    }
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[index(id.0)]
    }
    /// How Kueue admits from a ClusterQueue; `None` for a Cohort.
    #[must_use]
    pub fn rules(&self, id: NodeId) -> Option<&QueueRules> {
        self.node(id).rules()
    }
}

/// Builds the tree and tells of flavors that are not there, of cohorts that run in a circle, and of quotas too large.
#[must_use]
pub fn build(catalog: &Catalog<'_>, findings: &mut Findings) -> Queues {
    let mut queues = Queues::default();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        NodeId(next - 1)
    };
    for name in catalog.cluster_queues.keys() {
        queues.by_name.insert((*name).to_owned(), fresh());
    }
    let named_by_queues = catalog.cluster_queues.values().filter_map(|queue| queue.spec.cohort_name.as_deref());
    let named_by_cohorts = catalog.cohorts.values().filter_map(|cohort| cohort.spec.parent_name.as_deref());
    let all: BTreeSet<&str> = catalog.cohorts.keys().copied().chain(named_by_queues).chain(named_by_cohorts).collect();
    for name in all.into_iter().filter(|name| !name.is_empty()) {
        queues.cohorts.insert(name.to_owned(), fresh());
    }
    collect_cells(&mut queues, catalog);
    for (name, queue) in &catalog.cluster_queues {
        let stopped_by_flavor = missing_flavors(queue.manifest, &queue.spec.resource_groups, catalog, findings);
        let quotas = quotas(&queues, queue.manifest, &queue.spec.resource_groups, findings);
        let parent = queue.spec.cohort_name.as_deref().and_then(|cohort| queues.cohort(cohort));
        let kind = NodeKind::ClusterQueue(rules(&queue.spec, stopped_by_flavor));
        queues.nodes.push(Node { name: QueueName::from(*name), parent, quotas, kind });
    }
    let cohort_names: Vec<String> = queues.cohorts.keys().cloned().collect();
    for name in cohort_names {
        let known = catalog.cohorts.get(name.as_str());
        let quotas = known.map_or_else(BTreeMap::new, |cohort| {
            missing_flavors(cohort.manifest, &cohort.spec.resource_groups, catalog, findings);
            quotas(&queues, cohort.manifest, &cohort.spec.resource_groups, findings)
        });
        let parent =
            known.and_then(|cohort| cohort.spec.parent_name.as_deref()).and_then(|parent| queues.cohort(parent));
        queues.nodes.push(Node { name: QueueName::from(name), parent, quotas, kind: NodeKind::Cohort });
    }
    cut_cycles(&mut queues, catalog, findings);
    queues
}

fn collect_cells(queues: &mut Queues, catalog: &Catalog<'_>) {
    let of_queues = catalog.cluster_queues.values().flat_map(|queue| &queue.spec.resource_groups);
    let of_cohorts = catalog.cohorts.values().flat_map(|cohort| &cohort.spec.resource_groups);
    let pairs: BTreeSet<(FlavorName, ResourceName)> = of_queues
        .chain(of_cohorts)
        .flat_map(|group| &group.flavors)
        .flat_map(|flavor| {
            flavor.resources.iter().map(|resource| (flavor.name.as_str().into(), resource.name.as_str().into()))
        })
        .collect();
    for (at, (flavor, resource)) in (0u32..).zip(pairs) {
        queues.cell_ids.insert((flavor.clone(), resource.clone()), CellId(at));
        queues.cells.push(Cell { flavor, resource });
    }
}

/// Whether any flavor of the groups is not there; Kueue then keeps the whole ClusterQueue inactive.
fn missing_flavors(
    manifest: &Manifest,
    groups: &[types::ResourceGroup],
    catalog: &Catalog<'_>,
    findings: &mut Findings,
) -> bool {
    let mut missing = false;
    for (at, group) in groups.iter().enumerate() {
        for (flavor_at, flavor) in group.flavors.iter().enumerate() {
            if catalog.flavors.contains_key(flavor.name.as_str()) {
                continue;
            }
            missing = true;
            let place = format!("/spec/resourceGroups/{at}/flavors/{flavor_at}/name");
            let message = format!("no ResourceFlavor `{}` is there; Kueue keeps the queue inactive", flavor.name);
            let mut finding =
                Finding::new(codes::UNKNOWN_FLAVOR, reference_severity(manifest), manifest.subject(), message)
                    .at(manifest.span(&place), "this flavor");
            finding.hint = nearest(&flavor.name, catalog.flavors.keys().copied())
                .or_else(|| Some(format!("add a ResourceFlavor named {}", flavor.name)));
            findings.push(finding);
        }
    }
    missing
}

fn quotas(
    queues: &Queues,
    manifest: &Manifest,
    groups: &[types::ResourceGroup],
    findings: &mut Findings,
) -> BTreeMap<CellId, Quota> {
    let mut quotas = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        for (flavor_at, flavor) in group.flavors.iter().enumerate() {
            for (resource_at, quota) in flavor.resources.iter().enumerate() {
                let resource = ResourceName::from(quota.name.as_str());
                let Some(cell) = queues.cell(&flavor.name.as_str().into(), &resource) else { continue };
                if let Some(quota) = amounts(quota, &resource) {
                    quotas.insert(cell, quota);
                } else {
                    let place = format!("/spec/resourceGroups/{at}/flavors/{flavor_at}/resources/{resource_at}");
                    let message = format!("the quota of {resource} on {} is too large to count", flavor.name);
                    findings.push(
                        Finding::error(codes::TOO_LARGE, manifest.subject(), message)
                            .at(manifest.span(&place), "this quota"),
                    );
                }
            }
        }
    }
    quotas
}

fn amounts(quota: &ResourceQuota, resource: &ResourceName) -> Option<Quota> {
    let limit = |limit: Option<super::quantity::Quantity>| -> Option<Option<Amount>> {
        match limit {
            Some(limit) => limit.amount(resource).map(Some),
            None => Some(None),
        }
    };
    Some(Quota {
        nominal: quota.nominal_quota.amount(resource)?,
        borrowing_limit: limit(quota.borrowing_limit)?,
        lending_limit: limit(quota.lending_limit)?,
    })
}

fn rules(spec: &ClusterQueueSpec, inactive: bool) -> QueueRules {
    let policy = |policy: Option<types::PreemptionPolicy>| match policy {
        None | Some(types::PreemptionPolicy::Never) => PreemptionPolicy::Never,
        Some(types::PreemptionPolicy::LowerPriority) => PreemptionPolicy::LowerPriority,
        Some(types::PreemptionPolicy::LowerOrNewerEqualPriority) => PreemptionPolicy::LowerOrNewerEqualPriority,
        Some(types::PreemptionPolicy::Any) => PreemptionPolicy::Any,
    };
    let group = |group: &types::ResourceGroup| ResourceGroup {
        resources: group.covered_resources.iter().map(|name| name.as_str().into()).collect(),
        flavors: group.flavors.iter().map(|flavor| flavor.name.as_str().into()).collect(),
    };
    QueueRules {
        strategy: match spec.queueing_strategy {
            Some(types::QueueingStrategy::StrictFIFO) => QueueingStrategy::StrictFifo,
            _ => QueueingStrategy::BestEffortFifo,
        },
        stopped: inactive || spec.stop_policy.unwrap_or_default() != StopPolicy::None,
        groups: spec.resource_groups.iter().map(group).collect(),
        within_cluster_queue: policy(spec.preemption.within_cluster_queue),
        reclaim_within_cohort: policy(spec.preemption.reclaim_within_cohort),
        borrow_within_cohort: spec.preemption.borrow_within_cohort.as_ref().map(|borrow| BorrowWithinCohort {
            policy: policy(borrow.policy),
            max_priority_threshold: borrow.max_priority_threshold,
        }),
        try_next_flavor_before_borrowing: spec.flavor_fungibility.when_can_borrow == Some(Search::TryNextFlavor),
        try_next_flavor_before_preempting: spec.flavor_fungibility.when_can_preempt != Some(Search::MayStopSearch),
        prefer_preemption_over_borrowing: spec.flavor_fungibility.preference
            == Some(Preference::PreemptionOverBorrowing),
    }
}

/// Finds Cohorts that are their own ancestors, tells of each circle once, and cuts it, so that the tree is one.
fn cut_cycles(queues: &mut Queues, catalog: &Catalog<'_>, findings: &mut Findings) {
    let ids: Vec<NodeId> = queues.cohorts.values().copied().collect();
    let mut settled: BTreeSet<NodeId> = BTreeSet::new();
    for start in ids {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(id) = at.filter(|id| !settled.contains(id)) {
            if let Some(from) = path.iter().position(|seen| *seen == id) {
                let circle: Vec<&str> = path[from..].iter().map(|id| queues.node(*id).name.as_str()).collect();
                let message = format!("its parents run in a circle: {} → {}", circle.join(" → "), circle[0]);
                if let Some(Known { manifest, .. }) = catalog.cohorts.get(circle[0]) {
                    findings.push(
                        Finding::new(codes::COHORT_CYCLE, reference_severity(manifest), manifest.subject(), message)
                            .at(manifest.span("/spec/parentName"), "leads back to itself")
                            .hint("Kueue admits nothing below a circle; remove one of these parents"),
                    );
                }
                stop_below(queues, id);
                queues.nodes[index(id.0)].parent = None;
                break;
            }
            path.push(id);
            at = queues.node(id).parent;
        }
        settled.extend(path);
    }
}

/// Kueue admits nothing from queues whose cohorts run in a circle. Called while the circle still stands.
fn stop_below(queues: &mut Queues, member: NodeId) {
    let limit = queues.nodes.len();
    let reaches = |queues: &Queues, from: NodeId| {
        std::iter::successors(Some(from), |at| queues.node(*at).parent).take(limit).any(|at| at == member)
    };
    let below: Vec<NodeId> = queues.by_name.values().copied().filter(|queue| reaches(queues, *queue)).collect();
    for queue in below {
        if let NodeKind::ClusterQueue(rules) = &mut queues.nodes[index(queue.0)].kind {
            rules.stopped = true;
        }
    }
}

/// Ids are handed out from zero by [`build`] and always fit.
fn index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}
