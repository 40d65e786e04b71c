//! The kinds that are stamped and gated: pods, and everything that Kueue queues.

/// What a kind is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A pod: always stamped; gated when Kueue queues it by itself.
    Pod,
    /// Kueue makes a Workload of it: stamped and gated.
    Job,
    /// Kueue queues its pods one by one, and does not pass a gate on: stamped, never gated.
    Serving,
    /// Kueue's own Workload: gated when it was made beforehand for a job.
    Workload,
}

/// One kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub group: &'static str,
    pub resource: &'static str,
    pub kind: &'static str,
    pub role: Role,
    /// Where its pod templates stand; `*` is every entry of a list or map.
    pub templates: &'static [&'static str],
}

const fn kind(
    group: &'static str,
    resource: &'static str,
    kind: &'static str,
    role: Role,
    templates: &'static [&'static str],
) -> Kind {
    Kind { group, resource, kind, role, templates }
}

const KUBEFLOW: &str = "kubeflow.org";

/// Every kind, by its group.
pub const KINDS: &[Kind] = &[
    kind("", "pods", "Pod", Role::Pod, &[]),
    kind("apps", "deployments", "Deployment", Role::Serving, &["spec/template"]),
    kind("apps", "statefulsets", "StatefulSet", Role::Job, &["spec/template"]),
    kind("batch", "jobs", "Job", Role::Job, &["spec/template"]),
    kind("jobset.x-k8s.io", "jobsets", "JobSet", Role::Job, &["spec/replicatedJobs/*/template/spec/template"]),
    kind(KUBEFLOW, "jaxjobs", "JAXJob", Role::Job, &["spec/jaxReplicaSpecs/*/template"]),
    kind(KUBEFLOW, "mpijobs", "MPIJob", Role::Job, &["spec/mpiReplicaSpecs/*/template"]),
    kind(KUBEFLOW, "paddlejobs", "PaddleJob", Role::Job, &["spec/paddleReplicaSpecs/*/template"]),
    kind(KUBEFLOW, "pytorchjobs", "PyTorchJob", Role::Job, &["spec/pytorchReplicaSpecs/*/template"]),
    kind(KUBEFLOW, "tfjobs", "TFJob", Role::Job, &["spec/tfReplicaSpecs/*/template"]),
    kind(KUBEFLOW, "xgboostjobs", "XGBoostJob", Role::Job, &["spec/xgbReplicaSpecs/*/template"]),
    kind("kueue.x-k8s.io", "workloads", "Workload", Role::Workload, &[]),
    kind(
        "leaderworkerset.x-k8s.io",
        "leaderworkersets",
        "LeaderWorkerSet",
        Role::Job,
        &["spec/leaderWorkerTemplate/leaderTemplate", "spec/leaderWorkerTemplate/workerTemplate"],
    ),
    kind(
        "ray.io",
        "rayclusters",
        "RayCluster",
        Role::Job,
        &["spec/headGroupSpec/template", "spec/workerGroupSpecs/*/template"],
    ),
    kind(
        "ray.io",
        "rayjobs",
        "RayJob",
        Role::Job,
        &["spec/rayClusterSpec/headGroupSpec/template", "spec/rayClusterSpec/workerGroupSpecs/*/template"],
    ),
    kind(
        "ray.io",
        "rayservices",
        "RayService",
        Role::Job,
        &["spec/rayClusterConfig/headGroupSpec/template", "spec/rayClusterConfig/workerGroupSpecs/*/template"],
    ),
    kind("sparkoperator.k8s.io", "sparkapplications", "SparkApplication", Role::Job, &[]),
    kind("trainer.kubeflow.org", "trainjobs", "TrainJob", Role::Job, &[]),
    kind("workload.codeflare.dev", "appwrappers", "AppWrapper", Role::Job, &[]),
];

/// The kind of a resource.
#[must_use]
pub fn find(group: &str, resource: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.group == group && kind.resource == resource)
}

/// Whether Kueue counts what such an owner makes as part of the owner.
#[must_use]
pub fn is_queued_owner(group: &str, kind: &str) -> bool {
    KINDS.iter().any(|known| known.role == Role::Job && known.group == group && known.kind == kind)
}
