//! The `Plan` document, `stagger.dev/plan/v1`: a plan as JSON and back.
//!
//! Promise: field names and their order are stable; a reader ignores fields it does not know; times are RFC 3339 in the
//! plan's zone, quantities Kubernetes quantities as strings, money decimal strings. Every field but `quality.seconds` is
//! a function of the input alone. Described field by field in `docs/reference/plan-document.md`.
//!
//! What does not survive the round trip: the source excerpt of a problem (its `file`, `line` and `column` are written).

mod read;
mod scalar;
mod write;

use serde::{Deserialize, Serialize};

use self::scalar::{Decimal, Exact, MoneyText, Quantities, Quantity, When};
use crate::failure::Severity;
use crate::plan::proposal::{LevelName, Proof, ReasonCode, Status, StoppedBy, Verdict};
use crate::plan::snapshot::{Objective, Promise};

pub use self::read::{Unreadable, from_json};
pub use self::write::{from_plan, to_json};

/// Group and version of the document.
pub const API_VERSION: &str = "stagger.dev/plan/v1";
/// Its kind.
pub const KIND: &str = "Plan";

/// The document as it is written, field by field. Opaque: made by [`from_plan`], serialised by whoever prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a plan document")]
pub struct Document {
    api_version: String,
    kind: String,
    input_digest: String,
    now: When,
    horizon_end: When,
    #[serde(default = "utc")]
    time_zone: String,
    /// Of every amount of money in the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    objective: Objective,
    #[serde(default = "p50")]
    promise: Promise,
    quality: QualityDoc,
    summary: SummaryDoc,
    releases: Vec<ReleaseDoc>,
    #[serde(default)]
    peaks: Vec<PeakDoc>,
    #[serde(default)]
    before: BeforeDoc,
    #[serde(default)]
    infeasible: Vec<ConflictDoc>,
    #[serde(default)]
    problems: Vec<ProblemDoc>,
}

fn p50() -> Promise {
    Promise::P50
}

fn utc() -> String {
    "UTC".to_owned()
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QualityDoc {
    status: Status,
    levels: Vec<LevelDoc>,
    gap: Option<Decimal<6>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped_by: Option<StoppedBy>,
    seconds: Decimal<3>,
    seed: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct LevelDoc {
    name: LevelName,
    value: LevelValue,
    bound: Option<LevelValue>,
    proof: Proof,
}

/// A level's figure: money as a decimal string, everything else as an integer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct LevelValue(serde_json::Value);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReleaseDoc {
    workload: String,
    #[serde(default)]
    kind: String,
    tenant: Option<String>,
    cluster_queue: String,
    flavor: String,
    resources: Quantities,
    /// Only where the resources do not all lie on `flavor`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uses: Vec<UseDoc>,
    start: When,
    end: When,
    end_p90: When,
    /// Only when it is interrupted, or holds its resources for other than start to end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<PieceDoc>,
    finish_by: Option<When>,
    slack_seconds: Option<i64>,
    verdict: Verdict,
    #[serde(default)]
    reasons: Vec<ReasonDoc>,
}

#[derive(Debug, Serialize, Deserialize)]
struct UseDoc {
    flavor: String,
    resource: String,
    quantity: Quantity,
}

#[derive(Debug, Serialize, Deserialize)]
struct PieceDoc {
    start: When,
    end: When,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReasonDoc {
    code: ReasonCode,
    message: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct PeakDoc {
    flavor: String,
    resource: String,
    peak: Quantity,
    capacity: Quantity,
    at: Option<When>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BeforeDoc {
    #[serde(default)]
    all_at_once: SummaryDoc,
    kueue_alone: Option<SummaryDoc>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SummaryDoc {
    on_time: u64,
    at_risk: u64,
    late: u64,
    #[serde(default)]
    without_verdict: u64,
    #[serde(default)]
    peak: Vec<PeakDoc>,
    makespan_seconds: i64,
    gpu_seconds: Exact,
    cost: Option<CostDoc>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CostDoc {
    amount: MoneyText,
    currency: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ConflictDoc {
    workloads: Vec<String>,
    #[serde(default)]
    irreducible: bool,
    #[serde(default)]
    message: String,
    #[serde(default)]
    fixes: Vec<FixDoc>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
enum FixDoc {
    AddCapacity { flavor: String, resource: String, quantity: Quantity, from: When, to: When, cost: Option<CostDoc> },
    MoveDeadline { workload: String, by_seconds: i64, to: When },
    AllowInterruption { workload: String },
    UseFlavor { workload: String, flavor: String },
    StartEarlier { workload: String, by_seconds: i64 },
}

#[derive(Debug, Serialize, Deserialize)]
struct ProblemDoc {
    code: String,
    severity: Severity,
    subject: String,
    message: String,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}
