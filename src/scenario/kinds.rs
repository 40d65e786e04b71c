//! The kinds that stagger knows: which group they are in and whether they live in a namespace.
//!
//! Known does not mean planned: a ConfigMap in the folder is simply not worth a note.

use crate::api;

/// Where a kind lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub group: &'static str,
    pub name: &'static str,
    pub namespaced: bool,
}

const fn namespaced(group: &'static str, name: &'static str) -> Kind {
    Kind { group, name, namespaced: true }
}

const fn cluster(group: &'static str, name: &'static str) -> Kind {
    Kind { group, name, namespaced: false }
}

const KUEUE: &str = "kueue.x-k8s.io";
const KUBEFLOW: &str = "kubeflow.org";

/// Every known kind.
pub const KINDS: &[Kind] = &[
    cluster(KUEUE, "ClusterQueue"),
    namespaced(KUEUE, "LocalQueue"),
    cluster(KUEUE, "Cohort"),
    cluster(KUEUE, "ResourceFlavor"),
    cluster(KUEUE, "WorkloadPriorityClass"),
    namespaced(KUEUE, "Workload"),
    cluster(KUEUE, "AdmissionCheck"),
    cluster(KUEUE, "Topology"),
    cluster("config.kueue.x-k8s.io", "Configuration"),
    namespaced("", "LimitRange"),
    cluster("", "Namespace"),
    namespaced("", "Pod"),
    namespaced("", "ConfigMap"),
    namespaced("", "Secret"),
    namespaced("", "Service"),
    namespaced("", "ServiceAccount"),
    cluster("", "Node"),
    cluster("node.k8s.io", "RuntimeClass"),
    cluster("scheduling.k8s.io", "PriorityClass"),
    namespaced("apps", "Deployment"),
    namespaced("apps", "StatefulSet"),
    namespaced("batch", "Job"),
    namespaced("batch", "CronJob"),
    namespaced("jobset.x-k8s.io", "JobSet"),
    namespaced("ray.io", "RayJob"),
    namespaced("ray.io", "RayCluster"),
    namespaced(KUBEFLOW, "PyTorchJob"),
    namespaced(KUBEFLOW, "TFJob"),
    namespaced(KUBEFLOW, "MPIJob"),
    namespaced("trainer.kubeflow.org", "TrainJob"),
    namespaced("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    namespaced(api::GROUP, api::slo::KIND),
    namespaced(api::GROUP, api::quality_gate::KIND),
    cluster(api::GROUP, api::tenant::KIND),
    cluster(api::GROUP, api::inventory::KIND),
    cluster(api::GROUP, api::rate_card::KIND),
    cluster(api::GROUP, api::capacity_plan::KIND),
    namespaced(api::GROUP, api::serving_baseline::KIND),
    // A Scenario is a file, not an object: it has no namespace.
    cluster(api::GROUP, api::scenario::KIND),
];

/// The kind with that group and name.
#[must_use]
pub fn find(group: &str, name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.group == group && kind.name == name)
}

/// The kind with that name in whatever group.
#[must_use]
pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The candidate nearest to a word, if it is near enough to be a slip of the keyboard.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let scored = candidates.into_iter().map(|candidate| {
        let other = candidate.to_lowercase();
        (strsim::damerau_levenshtein(&lower, &other), candidate)
    });
    // A third of the word may differ; a tie goes to the first candidate.
    let best = scored.min_by_key(|(distance, _)| *distance)?;
    (best.0 <= word.chars().count().div_ceil(3)).then_some(best.1)
}
