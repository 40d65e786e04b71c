//! Which queues are planned with a gate, and which groups of pods were released already.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::capacity_plan::{CapacityPlanSpec, Mode};

/// How deep cohorts are nested; Kueue refuses circles, a stale cache may hold one.
const COHORT_DEPTH_MAX: usize = 32;

/// What a queue label leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalQueue {
    pub cluster_queue: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterQueue {
    pub cohort: Option<String>,
}

/// A group of pods that Kueue queues as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodGroup {
    Gated,
    /// A gate added to a late member would be refused by Kueue and hold the group for ever.
    Released,
}

/// Queues, plans and pod groups.
#[derive(Debug, Clone, Default)]
pub struct Queues {
    /// By namespace and name.
    pub local: BTreeMap<(String, String), LocalQueue>,
    pub cluster: BTreeMap<String, ClusterQueue>,
    /// The parent of each cohort that has one.
    pub cohorts: BTreeMap<String, String>,
    /// By name.
    pub plans: BTreeMap<String, CapacityPlanSpec>,
    /// Which generation of each plan that is, by the plan's UID.
    pub generations: BTreeMap<String, i64>,
    /// By namespace and name.
    pub pod_groups: BTreeMap<(String, String), PodGroup>,
    /// Kueue ignores gates (its feature is off): then none is added, for it would only pretend, and Workloads are made
    /// inactive instead.
    pub gates_ignored: bool,
}

impl Queues {
    /// The ClusterQueue behind a queue label.
    #[must_use]
    pub fn cluster_queue(&self, namespace: &str, queue: &str) -> Option<&str> {
        let local = self.local.get(&(namespace.to_owned(), queue.to_owned()))?;
        Some(&local.cluster_queue)
    }

    /// The CapacityPlan in Enforce mode that has a ClusterQueue in its scope; of several the first by name, which gates
    /// as the others would.
    #[must_use]
    pub fn enforcing(&self, cluster_queue: &str) -> Option<&str> {
        let mut enforcing = self.plans.iter().filter(|(_, plan)| plan.mode == Mode::Enforce);
        enforcing.find(|(_, plan)| self.is_in_scope(plan, cluster_queue)).map(|(name, _)| name.as_str())
    }

    /// Whether a plan is about a ClusterQueue.
    #[must_use]
    pub fn is_in_scope(&self, plan: &CapacityPlanSpec, cluster_queue: &str) -> bool {
        if plan.queues.is_empty() && plan.cohorts.is_empty() {
            return true;
        }
        plan.queues.iter().any(|queue| queue == cluster_queue)
            || self.cohorts_above(cluster_queue).iter().any(|cohort| plan.cohorts.iter().any(|named| named == cohort))
    }

    fn cohorts_above(&self, cluster_queue: &str) -> BTreeSet<&str> {
        let mut above = BTreeSet::new();
        let mut next = self.cluster.get(cluster_queue).and_then(|queue| queue.cohort.as_ref());
        while let Some(cohort) = next.filter(|_| above.len() < COHORT_DEPTH_MAX) {
            if !above.insert(cohort.as_str()) {
                break;
            }
            next = self.cohorts.get(cohort);
        }
        above
    }

    #[must_use]
    pub fn pod_group(&self, namespace: &str, name: &str) -> Option<PodGroup> {
        self.pod_groups.get(&(namespace.to_owned(), name.to_owned())).copied()
    }
}
