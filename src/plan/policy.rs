//! The planner's other input: everything that is a choice rather than a fact.
//!
//! A policy comes from a CapacityPlan, from flags, or from its default; together with the snapshot it decides the plan.

use serde::{Deserialize, Serialize};

use crate::plan::snapshot::Workload;
use crate::units::Seconds;

/// How to plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub objective: Objective,
    pub promise: Promise,
    /// Starts promised within this span from now are not moved.
    pub frozen_window: Seconds,
    pub unplanned: Unplanned,
    /// Wall-clock budget of the search. The answer at the limit is the best so far.
    pub time_limit_millis: u64,
    /// Deterministic budget: search steps instead of wall time. Tests use it; same steps, same plan.
    pub step_limit: Option<u64>,
    /// Stop a level when its relative gap is at most this many thousandths.
    pub gap_permille: u32,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Objective {
    EarliestFinish,
    LowestPeak,
    LowestCost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Promise {
    P50,
    P90,
}

/// What happens to work that has no SLO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unplanned {
    /// It fills what planned work leaves.
    Backfill,
    /// It keeps its place in the queue by creation time, before any later planned work that is not pressed.
    FirstCome,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            objective: Objective::EarliestFinish,
            promise: Promise::P50,
            frozen_window: Seconds::ZERO,
            unplanned: Unplanned::Backfill,
            time_limit_millis: 5_000,
            step_limit: None,
            gap_permille: 0,
            seed: 1,
        }
    }
}

impl Policy {
    /// Whether a workload counts in the preset level (completion, peak or cost). The rest is backfill: it is placed last,
    /// in what the others leave, and counts only in [`LevelName::Backfill`](crate::plan::proposal::LevelName::Backfill).
    #[must_use]
    pub fn in_objective(&self, workload: &Workload) -> bool {
        workload.has_slo || self.unplanned == Unplanned::FirstCome || self.objective != Objective::EarliestFinish
    }
}
