//! The codes of findings about how objects fit together (`SG02x` to `SG05x`). What each means is told in
//! `scenario::codes`, the registry of all of them.

/// A job names a LocalQueue that is not there.
pub const UNKNOWN_LOCAL_QUEUE: &str = "SG020";
/// A LocalQueue names a ClusterQueue that is not there.
pub const UNKNOWN_CLUSTER_QUEUE: &str = "SG021";
/// A quota, window, rate or promise names a ResourceFlavor that is not there.
pub const UNKNOWN_FLAVOR: &str = "SG022";
/// A workload asks for a resource of which its queue has no quota.
pub const UNCOVERED_RESOURCE: &str = "SG023";
/// A workload asks for more than its queue could ever give.
pub const NEVER_FITS: &str = "SG024";
/// No flavor of the queue suits the workload's pods or promise.
pub const NO_FLAVOR: &str = "SG025";
/// The queue does not take workloads from this namespace.
pub const NAMESPACE_REFUSED: &str = "SG026";
/// Requests above limits, or outside the namespace's LimitRange.
pub const BAD_REQUESTS: &str = "SG027";
/// Cohorts that are their own ancestors.
pub const COHORT_CYCLE: &str = "SG028";
/// The LocalQueue is on hold, or the workload deactivated.
pub const ON_HOLD: &str = "SG029";
/// Two WorkloadSLOs speak for one workload.
pub const SLO_AMBIGUOUS: &str = "SG030";
/// A WorkloadSLO speaks for nothing.
pub const SLO_UNUSED: &str = "SG031";
/// An annotation names a WorkloadSLO that is not there.
pub const UNKNOWN_SLO: &str = "SG032";
/// Due before now.
pub const DUE_PASSED: &str = "SG033";
/// The runtime is longer than the time from the earliest start to the due time.
pub const WINDOW_TOO_SHORT: &str = "SG034";
/// p90 below p50, or a runtime of zero.
pub const BAD_RUNTIME: &str = "SG035";
/// Nobody says how long it runs.
pub const RUNTIME_UNKNOWN: &str = "SG036";
/// A WorkloadSLO without exactly one due time (best effort may have none), or with late-value tiers out of order.
pub const BAD_DUE: &str = "SG037";
/// A value that cannot be read as what its field holds.
pub const BAD_VALUE: &str = "SG038";
/// Several GpuTenants claim one namespace.
pub const TENANT_AMBIGUOUS: &str = "SG040";
/// A priority class that is not there.
pub const UNKNOWN_PRIORITY_CLASS: &str = "SG041";
/// A capacity window that names no queue, cohort or quota that is there.
pub const BAD_WINDOW_TARGET: &str = "SG042";
/// A capacity window without exactly one stretch of time, or with an empty one.
pub const BAD_WINDOW_TIME: &str = "SG043";
/// Two rates price the same thing at the same time.
pub const RATES_OVERLAP: &str = "SG044";
/// Rate cards in different currencies are in force together.
pub const CURRENCIES_MIXED: &str = "SG045";
/// A rate that prices nothing the plan uses.
pub const RATE_UNUSED: &str = "SG046";
/// More than the limit; the rest is left out.
pub const CAPPED: &str = "SG047";
/// Several documents where one is expected.
pub const SEVERAL: &str = "SG048";
/// A CapacityPlan names a queue or cohort that is not there.
pub const UNKNOWN_SCOPE: &str = "SG049";
/// An object that Kueue does not queue.
pub const NOT_QUEUED: &str = "SG050";
/// Finished objects were skipped.
pub const FINISHED: &str = "SG051";
/// It runs, but nothing says on what.
pub const RUNNING_UNKNOWN: &str = "SG052";
/// The object leaves its size to something that is not read.
pub const SIZE_UNKNOWN: &str = "SG053";
/// A schedule or time zone that cannot be read.
pub const BAD_SCHEDULE: &str = "SG054";
/// An incomplete group of pods.
pub const POD_GROUP: &str = "SG055";
/// A suspended CronJob.
pub const CRON_SUSPENDED: &str = "SG056";
/// An amount too large to count.
pub const TOO_LARGE: &str = "SG057";
/// Work in queues outside the plan's scope.
pub const UNCONTROLLED: &str = "SG058";
/// Running work that has outlasted its promise.
pub const OUTRUN: &str = "SG059";

/// The codes about one object by itself. For files `scenario::validate` tells of the same, more exactly.
pub const OF_ONE_OBJECT: [&str; 4] = [BAD_RUNTIME, BAD_DUE, BAD_VALUE, BAD_WINDOW_TIME];
