//! ServingBaseline: what a model server was certified to carry. Namespaced, short name `sbase`.
//!
//! Never edited: a new certification is a new object that names the one it supersedes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refs::{Day, TargetRef, text_up_to};
use super::written::{Decimal, Duration, TimeOfDay, Zone};

pub const KIND: &str = "ServingBaseline";

/// A promise, the configuration it was certified for, and the capacity that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServingBaselineSpec {
    /// The server: a Deployment, LeaderWorkerSet, InferenceService.
    pub target_ref: TargetRef,
    /// The ResourceFlavor its replicas run on.
    #[schemars(length(min = 1, max = 253))]
    pub flavor: String,
    /// The accelerator resource, such as `nvidia.com/gpu`.
    #[schemars(length(min = 1, max = 317))]
    pub resource: String,
    /// Accelerators that one replica holds.
    #[schemars(range(min = 1, max = 4096))]
    pub gpus_per_replica: u32,
    /// What clients are promised.
    pub promise: ServingPromise,
    /// The configuration it was certified for: weights, engine image, arguments, GPU. A change makes it stale.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64, "additionalProperties" = text_up_to(1024)))]
    pub fingerprint: BTreeMap<String, String>,
    /// What one replica sustains within the promise.
    pub capacity: ReplicaCapacity,
    /// The demand over a week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<DemandCurve>,
    /// Capacity kept free for bursts, in percent of the demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub headroom_percent: Option<u32>,
    /// Replicas kept beyond the demand, against failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1024))]
    pub spare_replicas: Option<u32>,
    /// The baseline this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub supersedes: Option<String>,
}

/// What clients are promised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServingPromise {
    /// Latency objectives; all must hold.
    #[schemars(length(min = 1, max = 16))]
    pub objectives: Vec<LatencyObjective>,
    /// The largest share of requests that may fail, in quotes: `"0.01"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate_max: Option<Decimal>,
    /// Quality that must be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub quality: Vec<QualityFloor>,
}

/// A percentile of a latency and its limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyObjective {
    pub metric: LatencyMetric,
    /// In quotes: `"99"`, `"99.9"`.
    pub percentile: Decimal,
    /// The limit: `250ms`, `2s`.
    pub target: Duration,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum LatencyMetric {
    /// Time to first token.
    #[serde(rename = "TTFT")]
    TimeToFirstToken,
    /// Time per output token.
    #[serde(rename = "TPOT")]
    TimePerOutputToken,
    /// Inter-token latency: each gap between tokens.
    #[serde(rename = "ITL")]
    InterTokenLatency,
    /// The whole request.
    #[serde(rename = "E2E")]
    EndToEnd,
}

/// A score that must be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QualityFloor {
    /// The evaluation, such as `gsm8k`.
    #[schemars(length(min = 1, max = 128))]
    pub suite: String,
    /// The score, with its filter: `exact_match,strict-match`.
    #[schemars(length(min = 1, max = 128))]
    pub metric: String,
    /// The least value, in quotes.
    pub minimum: Decimal,
}

/// The interval in which one replica's capacity lies, in requests per second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaCapacity {
    /// The highest rate that kept the promise, in quotes.
    pub highest_pass: Decimal,
    /// The lowest rate that broke it. Absent: none was tried that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowest_fail: Option<Decimal>,
}

/// The demand over a week: steps that hold until the next point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DemandCurve {
    /// The zone of the points' times.
    pub time_zone: Zone,
    /// The steps.
    #[schemars(length(min = 1, max = 672))]
    pub points: Vec<DemandPoint>,
}

/// From this time on these days, requests arrive at this rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DemandPoint {
    /// The days it holds on.
    #[schemars(length(min = 1, max = 7))]
    pub days: Vec<Day>,
    /// From this time on.
    pub time: TimeOfDay,
    /// Requests per second, in quotes.
    pub rate: Decimal,
}
