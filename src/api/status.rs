//! What the controller reports about our objects: conditions first, figures where a person looks for them.
//!
//! Every condition carries the generation it was judged for. Instants and durations are text, as in the specs;
//! deliberately absent: a `phase`, floating point, and anything that could be read from the spec.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::written::{Duration, Instant, Percent};

/// Kubernetes' own condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is judged, such as `Planned`. Unique within the object.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 316))]
    pub condition: String,
    /// The judgement.
    pub status: ConditionStatus,
    /// Why, in one CamelCase word.
    #[schemars(length(min = 1, max = 1024))]
    pub reason: String,
    /// Why, in a sentence.
    #[schemars(length(max = 32_768))]
    pub message: String,
    /// When the judgement last changed.
    pub last_transition_time: Instant,
    /// The generation of the object that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
}

/// A CapacityPlan's condition: whether Kueue reads gates. While it is false, work is held through its Workload's
/// `spec.active`.
pub const GATES_HONOURED: &str = "GatesHonoured";

/// A CapacityPlan's condition: whether every replica of the webhook knows this generation of it.
pub const ACKNOWLEDGED: &str = "Acknowledged";

/// A GpuTenant's condition: whether all work in its namespaces carries its stamp.
pub const STAMPED: &str = "Stamped";
/// Its reason where some of it came without and was stamped later.
pub const STAMPED_LATE: &str = "StampedLate";

/// Whether a CapacityPlan as JSON tells that Kueue ignores gates. Nothing told is nothing known.
#[must_use]
pub fn tells_gates_ignored(plan: &Value) -> bool {
    let conditions = plan["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|one| one["type"] == GATES_HONOURED && one["status"] == "False")
}

/// A judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

/// What is reported about every kind: QualityGate, GpuInventory, ServingBaseline have no more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlainStatus {
    /// The judgements, one of each type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub conditions: Vec<Condition>,
}

/// What became of a WorkloadSLO. With a selector it tells of the workload that is worst off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadSloStatus {
    /// Accepted, ResolvedRefs, Planned, Released, DeadlineMet, OutcomeVerified; AtRisk, Infeasible, Disrupted, Blocked while true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub conditions: Vec<Condition>,
    /// When it starts by the current plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_start: Option<Instant>,
    /// When it ends by the current plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_end: Option<ExpectedEnd>,
    /// Time from the expected end (p90) to the due time; negative when late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_seconds: Option<i64>,
    /// Admitted runs so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub attempts: Option<i64>,
    /// The one sentence a person wants to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// An end as two quantiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedEnd {
    /// As likely sooner as later.
    pub p50: Instant,
    /// Nine times of ten sooner.
    pub p90: Instant,
}

/// What became of a GpuTenant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GpuTenantStatus {
    /// Stamped; Ambiguous while another tenant claims one of its namespaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub conditions: Vec<Condition>,
    /// How many namespaces are its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub namespaces: Option<i64>,
}

/// What became of a RateCard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateCardStatus {
    /// Accepted; Used once a close rests on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub conditions: Vec<Condition>,
    /// The first close that used it. From then on the card can no longer be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub used_by_close: Option<String>,
}

/// What became of a CapacityPlan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityPlanStatus {
    /// Solved, Applied, GatesHonoured, Acknowledged, Overlaps, Stale, Infeasible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub conditions: Vec<Condition>,
    /// The digest of the snapshot that was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub digest: Option<String>,
    /// The plan in figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PlanFigures>,
    /// How long planning took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Duration>,
}

/// A plan in figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanFigures {
    /// Workloads that were planned.
    #[schemars(range(min = 0))]
    pub jobs: i64,
    /// Those whose p90 end is in time.
    #[schemars(range(min = 0))]
    pub on_time: i64,
    /// Those whose p50 end is in time and p90 end is not.
    #[schemars(range(min = 0))]
    pub at_risk: i64,
    /// Those whose p50 end is late.
    #[schemars(range(min = 0))]
    pub late: i64,
    /// The highest number of accelerators at once.
    #[schemars(range(min = 0))]
    pub peak: i64,
    /// How far from proven best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Percent>,
}
