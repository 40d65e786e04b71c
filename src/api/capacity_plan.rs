//! CapacityPlan: what is planned, how, and within which windows. Cluster-scoped, short name `cplan`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refs::Recurring;
use super::written::{Duration, Instant, Percent, Quantity};

pub const KIND: &str = "CapacityPlan";

/// The queues in scope and the choices made for them. With neither `queues` nor `cohorts`, every ClusterQueue is in scope.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityPlanSpec {
    /// ClusterQueues in scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 253)))]
    pub queues: Vec<String>,
    /// Cohorts in scope, with every ClusterQueue below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub cohorts: Vec<String>,
    /// What is done with the plan.
    #[serde(default)]
    pub mode: Mode,
    /// How far ahead is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<Duration>,
    /// What is sought once deadlines are kept.
    #[serde(default)]
    pub objective: Objective,
    /// Times at which capacity differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub windows: Vec<Window>,
    /// Starts promised within this time from now are not moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_window: Option<Duration>,
    /// The quantile of the runtime for which capacity is held.
    #[serde(default)]
    pub promise: Promise,
    /// Limits of the search.
    #[serde(default)]
    pub solver: Solver,
    /// What happens to work that has no WorkloadSLO.
    #[serde(default)]
    pub unplanned: Unplanned,
}

/// What is done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Mode {
    /// It is computed and shown in the status.
    #[default]
    Observe,
    /// It is also written to the workloads as their planned start.
    Recommend,
    /// New work is gated and released at its planned start.
    Enforce,
}

/// What is sought once deadlines are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Objective {
    /// Everything done as early as possible.
    #[default]
    EarliestFinish,
    /// As few GPUs at once as possible.
    LowestPeak,
    /// As little money as possible, at time-of-day rates.
    LowestCost,
}

/// A change of capacity, once (`start`, `end`) or recurring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// Unique within the plan.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The ClusterQueue whose capacity changes. Exactly one of `clusterQueue` and `cohort`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub cluster_queue: Option<String>,
    /// The Cohort whose capacity changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub cohort: Option<String>,
    /// The ResourceFlavor.
    #[schemars(length(min = 1, max = 253))]
    pub flavor: String,
    /// The resource, such as `nvidia.com/gpu`.
    #[schemars(length(min = 1, max = 317))]
    pub resource: String,
    /// How much of it.
    pub quantity: Quantity,
    /// What the quantity does.
    pub effect: WindowEffect,
    /// From this instant on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Instant>,
    /// Until just before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Instant>,
    /// Instead of `start` and `end`: every week at these times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurring: Option<Recurring>,
}

/// What a window does with its quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WindowEffect {
    /// Use stays at or below it.
    Cap,
    /// It counts as used by others (serving, maintenance).
    Reserve,
    /// It is added to the nominal quota.
    Add,
}

/// The quantile of the runtime for which capacity is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Promise {
    /// The median.
    #[default]
    #[serde(rename = "p50")]
    P50,
    /// What nine of ten runs keep.
    #[serde(rename = "p90")]
    P90,
}

/// Limits of the search. The best plan found so far is used when one is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Solver {
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Duration>,
    /// Stop when the plan is proven to be within this of the best: `1%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Percent>,
}

/// What happens to work that has no WorkloadSLO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Unplanned {
    /// It fills what planned work leaves.
    #[default]
    Backfill,
    /// It keeps its place in the queue by creation time.
    FirstCome,
}
