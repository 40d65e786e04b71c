//! The kinds that are watched: everything `kueue::assemble` reads, and nothing more.
//!
//! Deliberately absent: discovery. A kind whose definition is not installed answers 404 and counts as having no objects;
//! where a kind has had several versions they are tried in turn.

use kube::core::{ApiResource, GroupVersionKind};

use crate::api::keys::QUEUE_NAME;

/// Whether planning can do without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing is planned or let go before it has been listed once.
    Always,
    /// A cluster without this kind has no such objects.
    WhereInstalled,
}

/// One kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    pub group: &'static str,
    /// The newest first.
    pub versions: &'static [&'static str],
    pub plural: &'static str,
    pub kind: &'static str,
    pub namespaced: bool,
    pub need: Need,
    /// Only objects that carry this label.
    pub label: Option<&'static str>,
    /// Work that Kueue queues: it may carry our gate.
    pub queued: bool,
    pub kept: Kept,
}

/// How rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Whole,
    /// There may be many, made of a few templates: what they have in common is kept once.
    Shared,
    /// There may be very many: only what each has of its own is kept.
    Packed,
}

const fn cluster(
    group: &'static str,
    versions: &'static [&'static str],
    plural: &'static str,
    kind: &'static str,
) -> Watched {
    let need = Need::WhereInstalled;
    Watched { group, versions, plural, kind, namespaced: false, need, label: None, queued: false, kept: Kept::Whole }
}

const fn spaced(
    group: &'static str,
    versions: &'static [&'static str],
    plural: &'static str,
    kind: &'static str,
) -> Watched {
    Watched { namespaced: true, ..cluster(group, versions, plural, kind) }
}

const fn queued(
    group: &'static str,
    versions: &'static [&'static str],
    plural: &'static str,
    kind: &'static str,
) -> Watched {
    Watched { queued: true, ..spaced(group, versions, plural, kind) }
}

const fn always(watched: Watched) -> Watched {
    Watched { need: Need::Always, ..watched }
}

const fn labelled(watched: Watched) -> Watched {
    Watched { label: Some(QUEUE_NAME), ..watched }
}

const fn shared(watched: Watched) -> Watched {
    Watched { kept: Kept::Shared, ..watched }
}

const fn packed(watched: Watched) -> Watched {
    Watched { kept: Kept::Packed, ..watched }
}

const KUEUE: &str = "kueue.x-k8s.io";
const KUEUE_VERSIONS: &[&str] = &["v1beta2", "v1beta1"];
const OURS: &str = "stagger.dev";
const ALPHA: &[&str] = &["v1alpha1"];
const KUBEFLOW: &str = "kubeflow.org";
const V1: &[&str] = &["v1"];

/// Every kind: first what all else refers to, then the work, so that the first plan sees whole queues.
pub const KINDS: &[Watched] = &[
    always(cluster(KUEUE, KUEUE_VERSIONS, "resourceflavors", "ResourceFlavor")),
    always(cluster(KUEUE, KUEUE_VERSIONS, "clusterqueues", "ClusterQueue")),
    always(spaced(KUEUE, KUEUE_VERSIONS, "localqueues", "LocalQueue")),
    cluster(KUEUE, &["v1beta2", "v1beta1", "v1alpha1"], "cohorts", "Cohort"),
    cluster(KUEUE, KUEUE_VERSIONS, "workloadpriorityclasses", "WorkloadPriorityClass"),
    cluster("scheduling.k8s.io", V1, "priorityclasses", "PriorityClass"),
    cluster("node.k8s.io", V1, "runtimeclasses", "RuntimeClass"),
    always(cluster("", V1, "namespaces", "Namespace")),
    spaced("", V1, "limitranges", "LimitRange"),
    cluster(OURS, ALPHA, "capacityplans", "CapacityPlan"),
    spaced(OURS, ALPHA, "workloadslos", "WorkloadSLO"),
    cluster(OURS, ALPHA, "gputenants", "GpuTenant"),
    cluster(OURS, ALPHA, "ratecards", "RateCard"),
    cluster(OURS, ALPHA, "gpuinventories", "GpuInventory"),
    always(queued("batch", V1, "jobs", "Job")),
    queued("batch", V1, "cronjobs", "CronJob"),
    queued("jobset.x-k8s.io", &["v1alpha2"], "jobsets", "JobSet"),
    queued("leaderworkerset.x-k8s.io", V1, "leaderworkersets", "LeaderWorkerSet"),
    queued("ray.io", V1, "rayjobs", "RayJob"),
    queued("ray.io", V1, "rayclusters", "RayCluster"),
    queued(KUBEFLOW, &["v2beta1", "v1"], "mpijobs", "MPIJob"),
    queued(KUBEFLOW, V1, "pytorchjobs", "PyTorchJob"),
    queued(KUBEFLOW, V1, "tfjobs", "TFJob"),
    queued(KUBEFLOW, V1, "xgboostjobs", "XGBoostJob"),
    queued(KUBEFLOW, V1, "paddlejobs", "PaddleJob"),
    queued(KUBEFLOW, V1, "jaxjobs", "JAXJob"),
    queued("trainer.kubeflow.org", ALPHA, "trainjobs", "TrainJob"),
    // Not planned from, but gated by the webhook: what holds their Workloads is taken off them.
    labelled(queued("apps", V1, "statefulsets", "StatefulSet")),
    labelled(queued("ray.io", V1, "rayservices", "RayService")),
    labelled(queued("sparkoperator.k8s.io", &["v1beta2"], "sparkapplications", "SparkApplication")),
    labelled(queued("workload.codeflare.dev", &["v1beta2"], "appwrappers", "AppWrapper")),
    packed(labelled(queued("", V1, "pods", "Pod"))),
    shared(always(queued(KUEUE, KUEUE_VERSIONS, "workloads", "Workload"))),
];

impl Watched {
    /// `jobs.batch`, `pods`: as RBAC and messages name it.
    #[must_use]
    pub fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// One of its versions; beyond the last it begins anew.
    #[must_use]
    pub fn api(&self, version: usize) -> ApiResource {
        let version = self.versions.get(version % self.versions.len().max(1)).copied().unwrap_or("v1");
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(self.group, version, self.kind), self.plural)
    }
}

/// The API of an object by what it says of itself.
#[must_use]
pub fn api_of(api_version: &str, kind: &str) -> Option<ApiResource> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let known = KINDS.iter().find(|known| known.group == group && known.kind == kind)?;
    Some(ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), known.plural))
}
