//! The levels of the objective: recomputed values, bounds below them, and a status that follows from both.

use std::collections::HashMap;

use crate::failure::Finding;
use crate::plan::proposal::{Level, LevelName, Plan, Release, Status};
use crate::plan::snapshot::{CellId, DeadlinePolicy, Due, Objective, PreviousRelease, Unplanned, Workload};
use crate::units::Timestamp;

use super::peaks::{Use, peaks};
use super::{Ctx, Placed, codes, figures, money, seconds};

pub(super) fn check(ctx: &mut Ctx<'_>, plan: &Plan, placed: &[Placed]) {
    names(ctx, &plan.quality.levels);
    if let Some(uses) = figures::planned_uses(ctx, plan, placed) {
        for level in &plan.quality.levels {
            if let Some(value) = value(ctx, plan, placed, &uses, level.name) {
                let subject = format!("level {:?}", level.name);
                ctx.expect(codes::WRONG_LEVEL_VALUE, &subject, "its value", &level.value, &value);
            }
        }
    }
    for level in &plan.quality.levels {
        if let Some(bound) = level.bound.filter(|bound| *bound > level.value) {
            let message = format!("its bound {bound} is above its value {}", level.value);
            ctx.report(Finding::error(codes::BOUND_ABOVE_VALUE, format!("level {:?}", level.name), message));
        }
    }
    status(ctx, plan);
}

/// The levels stand in the order of the objective; stability and backfill may be left out.
fn names(ctx: &mut Ctx<'_>, levels: &[Level]) {
    let preset: &[LevelName] = match ctx.policy.objective {
        Objective::EarliestFinish => &[LevelName::Completion],
        Objective::LowestPeak => &[LevelName::Peak, LevelName::Completion],
        Objective::LowestCost => &[LevelName::Cost, LevelName::Completion],
    };
    let mut expected = vec![LevelName::HardMissed, LevelName::SoftLost];
    expected.extend(preset);
    let found: Vec<_> = levels.iter().map(|level| level.name).collect();
    expected.extend([LevelName::Stability, LevelName::Backfill].into_iter().filter(|name| found.contains(name)));
    ctx.expect(codes::WRONG_LEVELS, "quality", "the list of levels", &found, &expected);
}

fn value(ctx: &Ctx<'_>, plan: &Plan, placed: &[Placed], uses: &[Use<'_>], name: LevelName) -> Option<i128> {
    match name {
        LevelName::HardMissed | LevelName::SoftLost => Some(lost(ctx, plan, placed, name)),
        LevelName::Completion => {
            Some(completion(ctx, plan, placed, |workload| counts(ctx, workload).then_some(workload.value)))
        }
        LevelName::Backfill => Some(completion(ctx, plan, placed, |workload| (!counts(ctx, workload)).then_some(1))),
        LevelName::Peak => Some(peak(ctx, uses)),
        LevelName::Cost => money::cost(ctx.snapshot, uses).map(|cost| cost.nanos),
        LevelName::Stability => Some(moved(ctx, plan)),
    }
}

/// Value lost: whole values of hard deadlines missed, or hundredths of what soft deadlines and tiers lose.
fn lost(ctx: &Ctx<'_>, plan: &Plan, placed: &[Placed], level: LevelName) -> i128 {
    let of_workload = |workload: &Workload, end: Timestamp| {
        let due = workload.due.as_ref()?;
        let value = i128::from(workload.value);
        match (level, due.policy) {
            (LevelName::HardMissed, DeadlinePolicy::Hard) => Some(value * i128::from(end > due.at)),
            (LevelName::SoftLost, DeadlinePolicy::Soft) => Some(value * percent_lost(due, end)),
            // A missed hard deadline may be worth something yet, if its tiers say so.
            (LevelName::SoftLost, DeadlinePolicy::Hard) if !due.tiers.is_empty() => {
                Some(value * percent_lost(due, end))
            }
            _ => None,
        }
    };
    let ends = plan.releases.iter().zip(placed).filter_map(|(release, place)| {
        let workload = &ctx.snapshot.workloads[place.workload?];
        of_workload(workload, promised_end(release)?)
    });
    ends.sum()
}

/// What an end loses, in percent: the last tier that is passed decides.
fn percent_lost(due: &Due, end: Timestamp) -> i128 {
    let late = seconds(due.at, end);
    if late <= 0 {
        return 0;
    }
    if due.tiers.is_empty() {
        return 100;
    }
    let passed = due.tiers.iter().filter(|tier| late > i128::from(tier.after.0)).max_by_key(|tier| tier.after);
    passed.map_or(0, |tier| 100 - i128::from(tier.value_percent.min(100)))
}

/// The end at the promised quantile: that of the last piece.
fn promised_end(release: &Release) -> Option<Timestamp> {
    release.pieces.last().map(|piece| piece.end)
}

/// Whether a workload counts in the preset's levels: all do, but for backfill under EarliestFinish.
fn counts(ctx: &Ctx<'_>, workload: &Workload) -> bool {
    let backfills = !workload.has_slo && ctx.policy.unplanned == Unplanned::Backfill;
    !(backfills && ctx.policy.objective == Objective::EarliestFinish)
}

/// Σ weight × (end − now); `None` as weight leaves a workload out.
fn completion(ctx: &Ctx<'_>, plan: &Plan, placed: &[Placed], weight: impl Fn(&Workload) -> Option<i64>) -> i128 {
    let weighted = plan.releases.iter().zip(placed).filter_map(|(release, place)| {
        let weight = weight(&ctx.snapshot.workloads[place.workload?])?;
        Some(i128::from(weight) * seconds(ctx.snapshot.now, promised_end(release)?))
    });
    weighted.sum()
}

/// Σ price × peak over accelerator cells when the rate card prices any, else Σ peak.
fn peak(ctx: &Ctx<'_>, uses: &[Use<'_>]) -> i128 {
    let snapshot = ctx.snapshot;
    let peaks = peaks(snapshot, ctx.policy.promise, uses);
    let accelerators =
        || (0..).zip(&snapshot.cells).zip(&peaks).filter(|((_, cell), _)| cell.resource.is_accelerator());
    let price = |id| money::price_of(snapshot, CellId(id)).map(|price| price.per_unit_hour.nanos);
    let priced = accelerators().any(|((id, _), _)| price(id).is_some());
    accelerators().map(|((id, _), (peak, _))| if priced { price(id).unwrap_or(0) * peak } else { *peak }).sum()
}

/// Releases that stand elsewhere than the previous plan put them, in start or flavor.
fn moved(ctx: &Ctx<'_>, plan: &Plan) -> i128 {
    let previous: HashMap<&str, &PreviousRelease> =
        ctx.snapshot.previous.iter().map(|previous| (previous.key.as_str(), previous)).collect();
    let moved = plan.releases.iter().filter(|release| {
        previous
            .get(release.workload.as_str())
            .is_some_and(|previous| previous.start != release.start || previous.flavor != release.flavor)
    });
    i128::try_from(moved.count()).unwrap_or(i128::MAX)
}

/// Optimal means that every bound meets its value; the gap is that of the first level where it does not.
fn status(ctx: &mut Ctx<'_>, plan: &Plan) {
    let open = plan.quality.levels.iter().find(|level| level.bound != Some(level.value));
    if let (Status::Optimal, Some(level)) = (plan.quality.status, open) {
        let message = format!("the status is Optimal, but level {:?} is not proven", level.name);
        ctx.report(Finding::error(codes::NOT_OPTIMAL, "quality", message));
    }
    let gap = match open {
        None => Some(0),
        Some(Level { value, bound: Some(bound), .. }) if *value > 0 && bound <= value => {
            u64::try_from((value - bound).saturating_mul(1_000_000) / value).ok()
        }
        // A value of zero has no relative gap.
        Some(_) => None,
    };
    // The last millionth may be rounded either way.
    let apart = match (plan.quality.gap_millionths, gap) {
        (Some(found), Some(expected)) => found.abs_diff(expected) > 1,
        (found, expected) => found != expected,
    };
    if apart {
        ctx.expect(codes::WRONG_GAP, "quality", "the gap in millionths", &plan.quality.gap_millionths, &gap);
    }
}
