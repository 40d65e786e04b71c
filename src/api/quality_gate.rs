//! QualityGate: when an outcome counts as verified. Namespaced, short name `qgate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::written::{Decimal, Duration};

pub const KIND: &str = "QualityGate";

/// What the outcomes of one class must show, and whose word is taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QualityGateSpec {
    /// The outcome class it judges, as in `WorkloadSLO.spec.outcome.class`.
    #[schemars(length(min = 1, max = 63))]
    pub outcome_class: String,
    /// All of them must hold.
    #[serde(default)]
    #[schemars(length(min = 1, max = 32))]
    pub criteria: Vec<Criterion>,
    /// The evaluators that are trusted: `id` for every version, or `id@version`. Empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(min = 1, max = 253)))]
    pub evaluators: Vec<String>,
    /// Without evidence for this long after completion, an outcome is Unverified for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified_after: Option<Duration>,
    /// The fingerprint fields whose change makes an evaluation stale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(min = 1, max = 63)))]
    pub fingerprint: Vec<String>,
}

/// One threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Criterion {
    /// Unique within the gate.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The score it reads, by its name in the evidence: `gsm8k/exact_match,strict-match`.
    #[schemars(length(min = 1, max = 253))]
    pub metric: String,
    /// Which side of the threshold is good.
    pub comparison: Comparison,
    /// The threshold, in quotes: `"0.80"`.
    pub threshold: Decimal,
    /// Evidence from fewer samples does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_samples: Option<u32>,
}

/// Which side of a threshold is good; the threshold itself is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Comparison {
    AtLeast,
    AtMost,
}

impl QualityGateSpec {
    /// Whether an evaluator's word is taken.
    #[must_use]
    pub fn trusts(&self, id: &str, version: Option<&str>) -> bool {
        self.evaluators.is_empty()
            || self.evaluators.iter().any(|trusted| match trusted.split_once('@') {
                Some((trusted_id, trusted_version)) => trusted_id == id && Some(trusted_version) == version,
                None => trusted == id,
            })
    }
}
