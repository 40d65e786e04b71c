//! WorkloadSLO: what a workload promises. Namespaced, short name `wslo`.
//!
//! The field is called `finishBy`, never deadline: kill limits such as `activeDeadlineSeconds` are never due times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refs::{LabelSelector, NameRef, TargetRef};
use super::written::{Decimal, Duration, Instant, TimeOfDay, Zone};

pub const KIND: &str = "WorkloadSLO";

/// What is promised for one workload (`targetRef`), or for all that `selector` matches in the namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadSloSpec {
    /// The one workload it speaks for. Excludes `selector`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
    /// The workloads it speaks for, by their labels. Excludes `targetRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Due at this instant. Exactly one of `finishBy`, `finishWithin` and `finishByTime` is given; with `deadlinePolicy:
    /// BestEffort` none may be, for work that only says how long it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_by: Option<Instant>,
    /// Due this long after the workload's creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_within: Option<Duration>,
    /// Due at the next occurrence of a time of day after the workload's creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_by_time: Option<FinishByTime>,
    /// What a miss means.
    #[serde(default)]
    pub deadline_policy: DeadlinePolicy,
    /// What a late end is still worth, ascending by `after`. Without it an end past the due time is worth nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub value_after_deadline: Vec<ValueTier>,
    /// What a timely end is worth relative to other workloads: a positive weight.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub value: i64,
    /// Never started before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Instant>,
    /// How long it runs, on flavors without a runtime of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_runtime: Option<ExpectedRuntime>,
    /// How long it runs on particular flavors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub flavor_runtimes: Vec<FlavorRuntime>,
    /// What stopping it once started would cost.
    #[serde(default)]
    pub interruption: Interruption,
    /// The ResourceFlavors it may run on. Empty: every flavor its queue offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(min = 1, max = 253)))]
    pub allowed_flavors: Vec<String>,
    /// What it produces, for cost per verified outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ExpectedOutcome>,
    /// What it may cost at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

fn one() -> i64 {
    1
}

/// Due when the wall clock next shows a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FinishByTime {
    /// The time of day.
    pub time: TimeOfDay,
    /// The zone of the clock.
    pub time_zone: Zone,
}

/// What a missed due time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum DeadlinePolicy {
    /// Kept before everything else; a plan that misses one says so in its exit code.
    Hard,
    /// Kept after the hard ones, by value.
    #[default]
    Soft,
    /// Informative: a verdict is given, no value is lost.
    BestEffort,
}

/// From `after` past the due time on, an end is worth `valuePercent` of the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueTier {
    /// Time past the due time.
    pub after: Duration,
    /// Share of the value that remains, in percent.
    #[schemars(range(min = 0, max = 100))]
    pub value_percent: u8,
}

/// A runtime as two quantiles of its distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedRuntime {
    /// Half of the runs end within this.
    pub p50: Duration,
    /// Nine of ten runs end within this. At least `p50`, which stands in when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90: Option<Duration>,
}

/// A runtime on one flavor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlavorRuntime {
    /// The ResourceFlavor.
    #[schemars(length(min = 1, max = 253))]
    pub flavor: String,
    /// Half of the runs end within this.
    pub p50: Duration,
    /// Nine of ten runs end within this. At least `p50`, which stands in when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90: Option<Duration>,
}

/// What stopping a started workload would cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interruption {
    /// Whether it may be stopped at all.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// At most this much work is lost when it is stopped. Needed by `Checkpointable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_interval: Option<Duration>,
    /// What each restart or resumption takes on top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_cost: Option<Duration>,
    /// How often it may be stopped. Absent: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub max_interruptions: Option<u32>,
}

/// Whether a started workload may be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Tolerance {
    /// Never, once started.
    #[default]
    None,
    /// It may start over; everything done is lost.
    Restartable,
    /// It resumes from its last checkpoint.
    Checkpointable,
}

/// The outcomes a workload should produce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedOutcome {
    /// The outcome class, such as `eval-run`.
    #[schemars(length(min = 1, max = 63))]
    pub class: String,
    /// How many outcomes each workload is expected to bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub expected: Option<u32>,
    /// The QualityGate that judges them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_ref: Option<NameRef>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// The amount, in quotes: `"120.00"`.
    pub amount: Decimal,
    /// ISO 4217 code, such as `EUR`.
    #[schemars(extend("pattern" = "^[A-Z]{3}$"))]
    pub currency: String,
}
