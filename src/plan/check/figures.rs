//! The figures of a plan: its head, its summary and peaks, and the baseline that ignores quota.

use std::collections::HashSet;

use crate::plan::proposal::{Peak, Plan, Summary, Verdict};
use crate::plan::snapshot::{Promise, Snapshot};
use crate::units::{Seconds, Timestamp, div_round_half_even};

use super::peaks::{Use, capacities, peaks};
use super::{Ctx, Placed, codes, money, seconds};

/// The plan answers this snapshot and this policy.
pub(super) fn header(ctx: &mut Ctx<'_>, plan: &Plan) {
    let (snapshot, policy) = (ctx.snapshot, ctx.policy);
    ctx.expect(codes::WRONG_HEAD, "plan", "now", &plan.now, &snapshot.now);
    ctx.expect(codes::WRONG_HEAD, "plan", "horizonEnd", &plan.horizon_end, &snapshot.horizon_end);
    ctx.expect(codes::WRONG_HEAD, "plan", "the time zone", &plan.time_zone, &snapshot.time_zone);
    ctx.expect(codes::WRONG_HEAD, "plan", "the objective", &plan.objective, &policy.objective);
    ctx.expect(codes::WRONG_HEAD, "plan", "the seed", &plan.quality.seed, &policy.seed);
}

/// Summary, peaks and baseline, recomputed. Says nothing while a release is not understood.
pub(super) fn check(ctx: &mut Ctx<'_>, plan: &Plan, placed: &[Placed]) {
    let Some(uses) = planned_uses(ctx, plan, placed) else { return };
    // What is never placed is late when it is due.
    let released: HashSet<&str> = plan.releases.iter().map(|release| release.workload.as_str()).collect();
    let left_out = ctx.snapshot.workloads.iter().filter(|workload| !released.contains(workload.key.as_str()));
    let never = left_out.map(|workload| if workload.due.is_some() { Verdict::Late } else { Verdict::NoDeadline });
    let verdicts = plan.releases.iter().map(|release| release.verdict).chain(never);
    let last_end = plan.releases.iter().map(|release| release.end).fold(ctx.snapshot.now, Timestamp::max);
    let expected = summary(ctx, ctx.policy.promise, &uses, verdicts, last_end);
    compare(ctx, "summary", &plan.summary, &expected);
    compare_peaks(ctx, "peaks", &plan.peaks, &expected.peak);
    let all_at_once = all_at_once(ctx);
    compare(ctx, "before.allAtOnce", &plan.before.all_at_once, &all_at_once);
}

/// What the releases hold, piece by piece; `None` when one of them takes no option of its workload.
pub(super) fn planned_uses<'a>(ctx: &Ctx<'a>, plan: &'a Plan, placed: &[Placed]) -> Option<Vec<Use<'a>>> {
    let mut uses = Vec::with_capacity(placed.len());
    for (release, place) in plan.releases.iter().zip(placed) {
        let option = &ctx.snapshot.workloads[place.workload?].options[place.option?];
        let held = release.pieces.iter().map(|piece| Use { uses: &option.uses, start: piece.start, end: piece.end });
        uses.extend(held);
    }
    Some(uses)
}

fn summary(
    ctx: &Ctx<'_>,
    promise: Promise,
    uses: &[Use<'_>],
    verdicts: impl Iterator<Item = Verdict>,
    last_end: Timestamp,
) -> Summary {
    let snapshot = ctx.snapshot;
    let mut summary = Summary::default();
    for verdict in verdicts {
        match verdict {
            Verdict::OnTime => summary.on_time += 1,
            Verdict::AtRisk => summary.at_risk += 1,
            Verdict::Late => summary.late += 1,
            Verdict::NoDeadline | Verdict::Unknown => summary.without_verdict += 1,
        }
    }
    summary.peak = peak_list(snapshot, promise, uses);
    summary.makespan = Seconds(last_end.0.saturating_sub(snapshot.now.0));
    summary.gpu_seconds = gpu_seconds(snapshot, uses);
    summary.cost = money::cost(snapshot, uses);
    summary.currency.clone_from(&snapshot.currency);
    summary
}

/// Every workload at its earliest start on its first option for its p50 runtime, quota ignored: whatever is promised.
fn all_at_once(ctx: &Ctx<'_>) -> Summary {
    let snapshot = ctx.snapshot;
    let mut uses = Vec::with_capacity(snapshot.workloads.len());
    let mut verdicts = Vec::with_capacity(snapshot.workloads.len());
    let mut last_end = snapshot.now;
    for workload in &snapshot.workloads {
        let Some(option) = workload.options.first() else { continue };
        let start = workload.earliest_start;
        let after = |span: Seconds| Timestamp(start.0.saturating_add(span.0));
        let (p50, p90) = (after(option.runtime.p50), after(option.runtime.p90));
        uses.push(Use { uses: &option.uses, start, end: p50 });
        last_end = last_end.max(p50);
        verdicts.push(match workload.due.as_ref().map(|due| due.at) {
            None => Verdict::NoDeadline,
            Some(_) if !option.runtime.known => Verdict::Unknown,
            Some(due) if due < p50 => Verdict::Late,
            Some(due) if due < p90 => Verdict::AtRisk,
            Some(_) => Verdict::OnTime,
        });
    }
    summary(ctx, Promise::P50, &uses, verdicts.into_iter(), last_end)
}

fn peak_list(snapshot: &Snapshot, promise: Promise, uses: &[Use<'_>]) -> Vec<Peak> {
    let amount = |value: i128| crate::units::Amount(i64::try_from(value).unwrap_or(i64::MAX));
    let capacities = capacities(snapshot);
    snapshot
        .cells
        .iter()
        .zip(peaks(snapshot, promise, uses))
        .zip(capacities)
        .map(|((cell, (peak, at)), capacity)| Peak {
            flavor: cell.flavor.clone(),
            resource: cell.resource.clone(),
            peak: amount(peak),
            capacity: amount(capacity),
            at,
        })
        .collect()
}

/// GPU time of planned work: amounts in whole GPUs' units, summed before the one division.
fn gpu_seconds(snapshot: &Snapshot, uses: &[Use<'_>]) -> i128 {
    // Thousandths of a GPU are the only unit below a GPU, so a sum in thousandths is exact.
    let thousandths: i128 = uses
        .iter()
        .flat_map(|held| held.uses.iter().map(move |&(cell, amount)| (held, cell, amount)))
        .filter(|&(_, cell, _)| snapshot.cell(cell).resource.is_accelerator())
        .map(|(held, cell, amount)| {
            let per_gpu = i128::from(snapshot.cell(cell).resource.units_per_gpu());
            seconds(held.start, held.end).max(0).saturating_mul(i128::from(amount.0)).saturating_mul(1000 / per_gpu)
        })
        .fold(0, i128::saturating_add);
    div_round_half_even(thousandths, 1000)
}

fn compare(ctx: &mut Ctx<'_>, subject: &str, found: &Summary, expected: &Summary) {
    let counts = |of: &Summary| (of.on_time, of.at_risk, of.late, of.without_verdict);
    let what = "onTime, atRisk, late, withoutVerdict";
    ctx.expect(codes::WRONG_COUNTS, subject, what, &counts(found), &counts(expected));
    ctx.expect(codes::WRONG_MAKESPAN, subject, "the makespan", &found.makespan, &expected.makespan);
    ctx.expect(codes::WRONG_GPU_SECONDS, subject, "gpuSeconds", &found.gpu_seconds, &expected.gpu_seconds);
    ctx.expect(codes::WRONG_COST, subject, "the cost", &found.cost, &expected.cost);
    ctx.expect(codes::WRONG_COST, subject, "the currency", &found.currency, &expected.currency);
    compare_peaks(ctx, subject, &found.peak, &expected.peak);
}

fn compare_peaks(ctx: &mut Ctx<'_>, subject: &str, found: &[Peak], expected: &[Peak]) {
    let cells = |peaks: &[Peak]| peaks.iter().map(|p| (p.flavor.clone(), p.resource.clone())).collect::<Vec<_>>();
    if cells(found) != cells(expected) {
        ctx.expect(codes::WRONG_PEAK, subject, "the list of cells", &cells(found), &cells(expected));
        return;
    }
    for (found, expected) in found.iter().zip(expected) {
        let subject = format!("{subject} {} {}", expected.flavor, expected.resource);
        ctx.expect(codes::WRONG_PEAK, &subject, "the peak", &found.peak, &expected.peak);
        ctx.expect(codes::WRONG_PEAK, &subject, "the instant of the peak", &found.at, &expected.at);
        ctx.expect(codes::WRONG_PEAK, &subject, "the capacity", &found.capacity, &expected.capacity);
    }
}
