//! The labels and annotations that are read and written on objects, ours and Kueue's: one spelling for webhook, policies
//! and planner.

/// What every key of ours begins with.
pub const PREFIX: &str = "stagger.dev/";

/// Label: the GpuTenant's name, for people.
pub const TENANT: &str = "stagger.dev/tenant";
/// Label: the GpuTenant's UID, the key of record.
pub const TENANT_UID: &str = "stagger.dev/tenant-uid";
/// Label: the session of an agent, as its tenant names sessions.
pub const AGENT_SESSION: &str = "stagger.dev/agent-session";

/// Annotation: the WorkloadSLO that speaks for a job. Its author writes it.
pub const SLO: &str = "stagger.dev/slo";
/// Annotation: when the plan starts it.
pub const PLANNED_START: &str = "stagger.dev/planned-start";
/// Annotation: the plan that says so.
pub const PLAN: &str = "stagger.dev/plan";
/// Annotation on a Workload: how we hold it, or have held it, where Kueue ignores gates.
pub const HELD: &str = "stagger.dev/held";
/// Through `spec.active`. Without this value nobody of ours ever activates a Workload.
pub const HELD_INACTIVE: &str = "inactive";
/// It has been let go. Kueue counts the hold as an eviction, and it was none.
pub const HELD_RELEASED: &str = "released";
/// Annotation: why an object carries no plain tenant: `ambiguous` or `fallback`; or that its stamp was written later.
pub const ATTRIBUTION: &str = "stagger.dev/attribution";
/// The stamp was written after the object was made, by whose its namespace was at that moment.
pub const LATE: &str = "late";
/// Annotation on a namespace: since when it is the tenant's that its labels name, by the API server's clock.
pub const TENANT_SINCE: &str = "stagger.dev/tenant-since";

/// Labels that only stagger writes.
pub const PROTECTED_LABELS: [&str; 3] = [TENANT, TENANT_UID, AGENT_SESSION];
/// Annotations that only stagger writes.
pub const PROTECTED_ANNOTATIONS: [&str; 4] = [PLANNED_START, PLAN, ATTRIBUTION, HELD];

/// Kueue's annotation with the names, separated by commas, of all gates that hold a workload.
pub const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
/// How Kueue refuses a list of gates with an empty name. It does so only where it reads gates, which is how one learns that.
pub const GATES_REFUSAL: &str = "cannot contain empty gate names";
/// Our gate among them.
pub const GATE: &str = "stagger.dev/planner";

/// Whether our gate is among those of the annotation's value.
#[must_use]
pub fn holds(gates: &str) -> bool {
    gates.split(',').any(|gate| gate.trim() == GATE)
}

/// Label: the LocalQueue.
pub const QUEUE_NAME: &str = "kueue.x-k8s.io/queue-name";
/// Label of a job whose Workload was made beforehand; Kueue then reads no gate from the job.
pub const PREBUILT_WORKLOAD: &str = "kueue.x-k8s.io/prebuilt-workload-name";
/// Label: the group of pods that are queued as one.
pub const POD_GROUP: &str = "kueue.x-k8s.io/pod-group-name";
/// Annotation on pods that are part of a queued parent.
pub const SUSPENDING_PARENT: &str = "kueue.x-k8s.io/pod-suspending-parent";
/// Label on the copies that MultiKueue makes in worker clusters.
pub const MULTIKUEUE_ORIGIN: &str = "kueue.x-k8s.io/multikueue-origin";
/// Annotation on the Workload of a group of pods.
pub const GROUP_WORKLOAD: &str = "kueue.x-k8s.io/is-group-workload";
/// Annotation on the Workload that takes the place of another while its job changes its size.
pub const SLICE_REPLACEMENT: &str = "kueue.x-k8s.io/workload-slice-replacement-for";
/// Annotation of jobs that may change their size while they run.
pub const ELASTIC_JOB: &str = "kueue.x-k8s.io/elastic-job";
