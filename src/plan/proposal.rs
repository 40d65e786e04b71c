//! The planner's output: an immutable value that carries its own report.
//!
//! A plan leaves no choice to whoever executes it: each workload has one option, one start (or a list of pieces), the
//! reason for it, and the plan says how good it is and how that is known. `document` writes and reads it as JSON.

use serde::{Deserialize, Serialize};

use crate::failure::Finding;
use crate::names::{FlavorName, QueueName, ResourceName, TenantId, WorkloadKey};
use crate::plan::snapshot::{Objective, PreviousRelease, Promise};
use crate::units::{Amount, Money, Seconds, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub now: Timestamp,
    pub horizon_end: Timestamp,
    pub time_zone: String,
    pub objective: Objective,
    /// The quantile of runtimes for which capacity is held.
    pub promise: Promise,
    /// SHA-256 over snapshot and policy, hexadecimal.
    pub input_digest: String,
    pub quality: Quality,
    /// By start, then by the snapshot's workload order.
    pub releases: Vec<Release>,
    /// Peaks of the plan, running work included; one entry per cell with quota.
    pub peaks: Vec<Peak>,
    pub summary: Summary,
    pub before: Before,
    pub infeasible: Vec<Conflict>,
    pub problems: Vec<Finding>,
}

impl Plan {
    /// What this plan promised, for planning again from it.
    #[must_use]
    pub fn previous_releases(&self) -> Vec<PreviousRelease> {
        let promised = |release: &Release| PreviousRelease {
            key: release.workload.clone(),
            flavor: release.flavor.clone(),
            start: release.start,
            end: release.pieces.last().map(|piece| piece.end),
            late: Some(release.verdict == Verdict::Late),
        };
        self.releases.iter().map(promised).collect()
    }
}

/// One decision: when a workload starts, on what, and why not sooner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub workload: WorkloadKey,
    pub kind: String,
    pub tenant: Option<TenantId>,
    pub cluster_queue: QueueName,
    pub flavor: FlavorName,
    /// Sum over cells of its option, by resource name.
    pub resources: Vec<(ResourceName, Amount)>,
    /// The chosen option's exact footprint.
    pub uses: Vec<(FlavorName, ResourceName, Amount)>,
    pub start: Timestamp,
    /// Planned end at p50, interruptions and their cost included: `pieces` end there when the promise is p50; under p90
    /// the capacity of the last piece is held longer.
    pub end: Timestamp,
    pub end_p90: Timestamp,
    /// The stretches during which it holds its resources (at the promised quantile); one unless it is interrupted.
    pub pieces: Vec<Piece>,
    pub finish_by: Option<Timestamp>,
    /// `finish_by - end_p90`: negative when the p90 end is late.
    pub slack: Option<Seconds>,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
}

/// `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    pub start: Timestamp,
    pub end: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// p90 end ≤ due.
    OnTime,
    /// p50 end ≤ due < p90 end.
    AtRisk,
    /// due < p50 end.
    Late,
    /// It has no due time.
    NoDeadline,
    /// It has a due time but nobody knows its runtime.
    Unknown,
}

/// Why a release is when it is. `code` is a closed set (docs/reference/reasons).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub code: ReasonCode,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReasonCode {
    /// It starts as early as it may.
    StartsAtOnce,
    /// `notBefore`, a CronJob's next run, or a later arrival.
    NotBefore,
    /// Others hold the quota until then.
    WaitsForCapacity,
    /// A window lowers the capacity until then.
    WaitsForWindow,
    /// It could start sooner, but that would make another miss its due time.
    YieldsToDeadline,
    /// It could start sooner, but the objective (peak, cost) is better so.
    ObjectivePrefers,
    /// Kept where the previous plan put it.
    KeptStable,
    /// Inside the frozen window.
    Frozen,
    /// It is interrupted and resumed; the message says when and at what cost.
    Interrupted,
    /// It has no SLO and fills what is left.
    Backfill,
    /// It ends past the horizon.
    BeyondHorizon,
    /// Nobody declared how long it runs.
    RuntimeUnknown,
}

/// How good the plan is and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quality {
    pub status: Status,
    /// In strict order; a later level counts only among plans equal in all earlier ones.
    pub levels: Vec<Level>,
    /// Relative gap of the first level that is not proven, in millionths; 0 when all are proven; `None` when it has no bound.
    pub gap_millionths: Option<u64>,
    /// What ended the search before it had done all that it sets out to do; `None` when nothing did.
    pub stopped_by: Option<StoppedBy>,
    /// Wall time of the search. The only field that differs between two runs on the same input.
    pub millis: u64,
    pub seed: u64,
}

impl Quality {
    /// Status and gap follow from the levels.
    #[must_use]
    pub fn of(levels: Vec<Level>, millis: u64, seed: u64) -> Self {
        let open = levels.iter().find(|level| level.bound != Some(level.value));
        let gap_millionths = match open {
            None => Some(0),
            Some(Level { value, bound: Some(bound), .. }) if *value > 0 => {
                u64::try_from((value - bound).saturating_mul(1_000_000) / value).ok()
            }
            Some(_) => None,
        };
        let status = if open.is_none() { Status::Optimal } else { Status::Feasible };
        Self { status, levels, gap_millionths, stopped_by: None, millis, seed }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StoppedBy {
    TimeLimit,
    /// The user wanted the best plan so far.
    Interrupt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// Every level is proven.
    Optimal,
    /// Checked, with a bound where one is known.
    Feasible,
    /// Nothing better than the greedy plan was to be had.
    Fallback,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    pub name: LevelName,
    /// In the level's own unit (`docs/formulation.md`).
    pub value: i128,
    /// No plan that is equal in the earlier levels has less. `None`: not known.
    pub bound: Option<i128>,
    pub proof: Proof,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LevelName {
    /// Σ value of hard deadlines missed.
    HardMissed,
    /// Σ value × percent lost by soft deadlines and tiers, in hundredths of a value unit.
    SoftLost,
    /// Σ value × (end − now) in seconds at the promised quantile, over the workloads in the objective
    /// ([`Policy::in_objective`](crate::plan::snapshot::Policy::in_objective)).
    Completion,
    /// Σ price × peak over accelerator cells (without prices: GPUs).
    Peak,
    /// Money, in billionths.
    Cost,
    /// Starts moved against the previous plan.
    Stability,
    /// Σ (end − now) in seconds over the workloads outside the objective.
    Backfill,
}

/// What established a level's bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Proof {
    /// No proof: the value is the best found.
    Heuristic,
    /// The value cannot be less by its nature (zero missed, everything at its earliest start).
    Trivial,
    /// An interval's energy against its capacity.
    Energetic,
    /// Linear relaxation.
    Lp,
    /// Branch and bound.
    Mip,
    /// All placements were compared.
    Exhaustive,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peak {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    pub peak: Amount,
    /// The most this cell ever offers to all queues together over the horizon (nominal, windows included).
    pub capacity: Amount,
    /// First instant of the peak; `None` when nothing ever runs there.
    pub at: Option<Timestamp>,
}

/// The figures by which plans and baselines are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub on_time: u64,
    pub at_risk: u64,
    pub late: u64,
    /// No due time, or runtime unknown.
    pub without_verdict: u64,
    pub peak: Vec<Peak>,
    /// Last p50 end minus now, of planned workloads (0 when there are none).
    pub makespan: Seconds,
    /// GPU time of planned workloads, in GPU-seconds.
    pub gpu_seconds: i128,
    /// `None` without a price for some used accelerator cell.
    pub cost: Option<Money>,
    pub currency: Option<String>,
}

/// The same load without us.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Before {
    /// Every workload at its earliest start on its first option, quota ignored.
    pub all_at_once: Summary,
    /// Kueue's own admission rules; filled by whoever can simulate Kueue.
    pub kueue_alone: Option<Summary>,
}

/// Deadlines that cannot all be met, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Removing any one of them resolves this conflict, when `irreducible`.
    pub workloads: Vec<WorkloadKey>,
    pub irreducible: bool,
    /// "4 jobs must do 8 GPU-hours on a100 between 12:00 and 14:00, which holds 4."
    pub message: String,
    pub fixes: Vec<Fix>,
}

/// A change that resolves a conflict; each was verified by planning again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    AddCapacity {
        flavor: FlavorName,
        resource: ResourceName,
        quantity: Amount,
        from: Timestamp,
        to: Timestamp,
        cost: Option<Money>,
    },
    MoveDeadline {
        workload: WorkloadKey,
        by: Seconds,
        to: Timestamp,
    },
    AllowInterruption {
        workload: WorkloadKey,
    },
    UseFlavor {
        workload: WorkloadKey,
        flavor: FlavorName,
    },
    /// Start it sooner than its `notBefore` allows.
    StartEarlier {
        workload: WorkloadKey,
        by: Seconds,
    },
}
