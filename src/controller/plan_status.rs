//! What a CapacityPlan is told: is there a plan, is it carried out, is it old, can everything be met.
//!
//! Pure, like `slo_status`.

use super::acknowledged::told::{PlanVersion, Webhook, acknowledged};
use super::changes;
use super::gates::Gates;
use super::overlap::Overlap;
use super::planning::Planned;
use super::scope::Scope;
use super::slo_status::{condition, kept};
use crate::api::capacity_plan::Mode;
use crate::api::status::{ACKNOWLEDGED, CapacityPlanStatus, Condition, ConditionStatus, GATES_HONOURED, PlanFigures};
use crate::api::written::{Duration, Percent};
use crate::names::WorkloadKey;
use crate::plan::proposal::{Plan, Status};
use crate::units::Timestamp;

/// What is known beside the scope.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    pub now: Timestamp,
    pub generation: Option<i64>,
    /// Work in its scope that we hold.
    pub held: usize,
    /// Work in its scope that waits and was neither held nor let go by us; ascending by key.
    pub ungated: &'a [WorkloadKey],
    /// What Kueue does with gates.
    pub gates: &'a Gates,
    /// Which plan this is, and what the webhook says that it knows.
    pub version: &'a PlanVersion,
    pub webhook: &'a Webhook,
    /// How it meets other CapacityPlans that plan the same quota.
    pub overlap: Option<&'a Overlap>,
    /// Whether the plan is too old to go by.
    pub stale: bool,
    pub before: &'a CapacityPlanStatus,
}

/// Its status.
#[must_use]
pub fn plan_status(scope: &Scope, standing: Standing<'_>) -> CapacityPlanStatus {
    let mut list: Vec<Condition> = Vec::new();
    let mut tell = |kind: &str, status: ConditionStatus, reason: &str, message: &str| {
        let fresh = condition(kind, status, (reason, message), standing.generation, standing.now);
        list.push(kept(fresh, &standing.before.conditions));
    };
    let planned = scope.planned.as_deref();
    match (planned, &scope.failed) {
        (_, Some((_, why))) => tell("Solved", ConditionStatus::False, "Failed", why),
        (Some(planned), None) => tell("Solved", ConditionStatus::True, status_word(&planned.plan), &solved(planned)),
        (None, None) => tell("Solved", ConditionStatus::Unknown, "Pending", "no plan has been made yet"),
    }
    match (scope.spec.mode, planned) {
        (Mode::Observe, _) => tell("Applied", ConditionStatus::False, "Observe", "the plan is shown and nothing more"),
        (Mode::Recommend, _) => {
            tell(
                "Applied",
                ConditionStatus::False,
                "Recommend",
                "planned starts are written on the work; nothing is held",
            );
        }
        (Mode::Enforce, None) => tell("Applied", ConditionStatus::False, "NoPlan", "there is no plan to carry out"),
        (Mode::Enforce, Some(_)) => {
            let (reason, message) = carried_out(standing.held, standing.ungated);
            tell("Applied", ConditionStatus::True, reason, &message);
        }
    }
    let (status, reason, message) = match standing.gates {
        Gates::Honoured => (ConditionStatus::True, "Read", "Kueue reads gates: work is held by one"),
        Gates::Ignored => (
            ConditionStatus::False,
            "FeatureOff",
            "Kueue ignores gates (AdmissionGatedBy is off): work is held through its Workload's spec.active, and single \
             pods are not held",
        ),
        Gates::Unasked => (ConditionStatus::Unknown, "NotAsked", "Kueue has not been asked yet whether it reads gates"),
        Gates::Unknown(why) => (ConditionStatus::Unknown, "NoAnswer", why.as_str()),
    };
    tell(GATES_HONOURED, status, reason, message);
    match (standing.webhook, told_before(&standing)) {
        // Who leads anew goes by what was told until it has asked.
        (Webhook::Unasked, Some(before)) => tell(ACKNOWLEDGED, before.status, &before.reason, &before.message),
        (webhook, _) => {
            let (status, reason, message) = acknowledged(standing.version, webhook);
            tell(ACKNOWLEDGED, status, reason, &message);
        }
    }
    match standing.overlap {
        Some(met) => tell("Overlaps", ConditionStatus::True, met.reason, &met.message),
        None => tell("Overlaps", ConditionStatus::False, "Alone", "no other CapacityPlan promises the same quota"),
    }
    let (stale, reason, message) = match (standing.stale, &scope.failed) {
        (true, Some((_, why))) => (ConditionStatus::True, "PlanningFails", why.as_str()),
        (true, None) => (ConditionStatus::True, "NoPlan", "no plan has been made for too long"),
        (false, _) => (ConditionStatus::False, "Fresh", "the plan follows what happens"),
    };
    tell("Stale", stale, reason, message);
    let late = planned.map_or(0, |planned| planned.plan.summary.late);
    if late > 0 {
        let told = planned.and_then(|planned| planned.plan.infeasible.first()).map(|conflict| conflict.message.clone());
        let workloads = if late == 1 { "workload" } else { "workloads" };
        let message = told.unwrap_or_else(|| format!("{late} {workloads} cannot be done in time"));
        tell("Infeasible", ConditionStatus::True, "Late", &message);
    } else {
        tell("Infeasible", ConditionStatus::False, "Feasible", "everything can be done in time");
    }
    CapacityPlanStatus {
        conditions: list,
        digest: planned.map(|planned| planned.plan.input_digest.clone()),
        summary: planned.map(|planned| figures(&planned.plan)),
        took: planned.map(|planned| Duration(format!("{}ms", planned.millis.min(99_999)))),
    }
}

/// Whether the webhook knows it, as it was told of this generation.
fn told_before<'a>(standing: &Standing<'a>) -> Option<&'a Condition> {
    let mut conditions = standing.before.conditions.iter();
    conditions.find(|one| one.condition == ACKNOWLEDGED && one.observed_generation == standing.generation)
}

/// How far a plan in Enforce mode is carried out: nobody can hold work that came without a gate, for Kueue takes none later.
/// Reason and message.
#[must_use]
pub fn carried_out(held: usize, ungated: &[WorkloadKey]) -> (&'static str, String) {
    let held = format!("{held} held until their start");
    let Some(first) = ungated.first() else { return ("Enforced", held) };
    let others = match ungated.len() {
        1 => String::new(),
        more => format!(" and {} more", more - 1),
    };
    let message = format!(
        "{held}; not held: {first}{others}, made before the webhook knew of this plan or while it did not answer. Kueue \
         admits them when it likes; delete and create anew what is to be held"
    );
    ("EnforcedInPart", message)
}

fn status_word(plan: &Plan) -> &'static str {
    match plan.quality.status {
        Status::Optimal => "Optimal",
        Status::Feasible => "Feasible",
        Status::Fallback => "Fallback",
    }
}

fn solved(planned: &Planned) -> String {
    format!("planned because {}", changes::sentence(&planned.changes))
}

fn figures(plan: &Plan) -> PlanFigures {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let accelerators = plan.peaks.iter().filter(|peak| peak.resource.is_accelerator());
    let peak = accelerators.map(|peak| peak.peak.0 / peak.resource.units_per_gpu()).fold(0, i64::saturating_add);
    PlanFigures {
        jobs: i64::try_from(plan.releases.len()).unwrap_or(i64::MAX),
        on_time: count(plan.summary.on_time),
        at_risk: count(plan.summary.at_risk),
        late: count(plan.summary.late),
        peak,
        gap: plan.quality.gap_millionths.map(percent),
    }
}

/// Millionths as a percentage with one place, rounded up: never better than it is.
fn percent(millionths: u64) -> Percent {
    let tenths = millionths.div_ceil(1000).min(1000);
    Percent(format!("{}.{}%", tenths / 10, tenths % 10))
}
