//! Scenario: what a folder of manifests cannot say. For the command line only, never a CRD.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rate_card::Rate;
use super::refs::Recurring;
use super::written::{Duration, Instant, Quantity, Zone};

pub const KIND: &str = "Scenario";

/// The moment, the work that is already running, and the options to compare.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScenarioSpec {
    /// The moment of planning. Absent: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Instant>,
    /// The zone in which times are shown. Absent: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<Zone>,
    /// How far ahead is planned. Beats a CapacityPlan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<Duration>,
    /// Work that already holds quota.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100_000))]
    pub running: Vec<Running>,
    /// Work that arrives later, from a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// What `stagger whatif` compares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub options: Vec<WhatIfOption>,
}

/// Work that already holds quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// Its name, unique within the scenario; `namespace/name` if it has a namespace.
    #[schemars(length(min = 1, max = 317))]
    pub name: String,
    /// The ClusterQueue whose quota it holds.
    #[schemars(length(min = 1, max = 253))]
    pub cluster_queue: String,
    /// The ResourceFlavor it runs on.
    #[schemars(length(min = 1, max = 253))]
    pub flavor: String,
    /// Everything it holds, over all its pods: `{nvidia.com/gpu: 2}`.
    #[schemars(extend("maxProperties" = 16))]
    pub resources: BTreeMap<String, Quantity>,
    /// When it started. Absent: before now, it is not known when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Instant>,
    /// When it ends, half of the time. Absent: not before the horizon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Instant>,
    /// When it ends, nine times of ten. Absent: `end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_p90: Option<Instant>,
}

/// A trace whose jobs arrive during the horizon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arrivals {
    /// The file, relative to the scenario's own.
    #[schemars(length(min = 1, max = 1024))]
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// The ClusterQueue the jobs go to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub cluster_queue: Option<String>,
}

/// The formats `stagger import` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    Swf,
    Sacct,
    Philly,
    Workloads,
    Openb,
}

/// One way the future might be, compared with the present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfOption {
    /// Unique within the scenario.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Capacity that is bought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub add: Vec<CapacityChange>,
    /// Capacity that is given up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub remove: Vec<CapacityChange>,
    /// Capacity that fails for a time: each needs `from` and `to`, or `recurring`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub outage: Vec<CapacityChange>,
    /// Prices that replace those of the rate card.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub price: Vec<Rate>,
    /// How much more work there is, in percent; negative for less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -100, max = 10_000))]
    pub growth_percent: Option<i32>,
}

/// A change of capacity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityChange {
    /// The ResourceFlavor.
    #[schemars(length(min = 1, max = 253))]
    pub flavor: String,
    /// The resource; absent: the flavor's accelerator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 317))]
    pub resource: Option<String>,
    /// How much of it.
    pub quantity: Quantity,
    /// The ClusterQueue or Cohort it concerns; absent: the one that has quota for the flavor, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub queue: Option<String>,
    /// From this instant on; absent: from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Instant>,
    /// Until just before this instant; absent: for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Instant>,
    /// A reservation: it begins no sooner than this long from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_time: Option<Duration>,
    /// A reservation: it lasts, and is paid for, this long at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_duration: Option<Duration>,
    /// Instead of `from` and `to`: every week at these times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurring: Option<Recurring>,
}
