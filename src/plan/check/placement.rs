//! Each release by itself: the workload it names, the option it takes, its pieces, ends, slack and verdict.

use crate::failure::Finding;
use crate::plan::proposal::{Release, Verdict};
use crate::plan::snapshot::{Promise, RunOption, Workload};
use crate::units::{Amount, Seconds, Timestamp};

use super::{Ctx, Placed, codes, pieces, seconds};

/// Finds workload and option of each release; what cannot be found is reported.
pub(super) fn resolve(ctx: &mut Ctx<'_>, releases: &[Release]) -> Vec<Placed> {
    let mut seen = vec![false; ctx.snapshot.workloads.len()];
    releases.iter().map(|release| resolve_one(ctx, release, &mut seen)).collect()
}

fn resolve_one(ctx: &mut Ctx<'_>, release: &Release, seen: &mut [bool]) -> Placed {
    let key = release.workload.as_str();
    let Some(&at) = ctx.by_key.get(key) else {
        ctx.report(Finding::error(codes::UNKNOWN_WORKLOAD, key, "the snapshot has no such workload"));
        return Placed { workload: None, option: None };
    };
    if std::mem::replace(&mut seen[at], true) {
        ctx.report(Finding::error(codes::RELEASED_TWICE, key, "it is released more than once"));
    }
    let workload = &ctx.snapshot.workloads[at];
    let option = workload.options.iter().position(|option| is_taken(ctx, option, release));
    if option.is_none() {
        let message = format!("running on {} with these resources is none of its options", release.flavor);
        ctx.report(Finding::error(codes::NO_SUCH_OPTION, key, message));
    }
    Placed { workload: Some(at), option }
}

fn is_taken(ctx: &Ctx<'_>, option: &RunOption, release: &Release) -> bool {
    option.flavor == release.flavor
        && option.uses.len() == release.uses.len()
        && option.uses.iter().zip(&release.uses).all(|(&(cell, amount), (flavor, resource, claimed))| {
            let cell = ctx.snapshot.cell(cell);
            amount == *claimed && cell.flavor == *flavor && cell.resource == *resource
        })
}

/// [`resolve`], then everything a release says about itself.
pub(super) fn check(ctx: &mut Ctx<'_>, releases: &[Release]) -> Vec<Placed> {
    let placed = resolve(ctx, releases);
    for (release, place) in releases.iter().zip(&placed) {
        let Some(at) = place.workload else { continue };
        let workload = &ctx.snapshot.workloads[at];
        describes(ctx, release, workload);
        starts(ctx, release, workload);
        if let Some(option) = place.option {
            runs(ctx, release, workload, &workload.options[option]);
        }
    }
    sorted(ctx, releases, &placed);
    placed
}

fn describes(ctx: &mut Ctx<'_>, release: &Release, workload: &Workload) {
    let key = release.workload.as_str();
    let queue = &ctx.snapshot.node(workload.queue).name;
    ctx.expect(codes::MISDESCRIBED, key, "its kind", &release.kind, &workload.kind);
    ctx.expect(codes::MISDESCRIBED, key, "its tenant", &release.tenant, &workload.tenant);
    ctx.expect(codes::MISDESCRIBED, key, "its ClusterQueue", &release.cluster_queue, queue);
    ctx.expect(codes::WRONG_DUE, key, "finishBy", &release.finish_by, &workload.due.as_ref().map(|due| due.at));
    let mut sums: Vec<(&str, i128)> = Vec::new();
    for (_, resource, amount) in &release.uses {
        match sums.iter_mut().find(|(name, _)| *name == resource.as_str()) {
            Some((_, sum)) => *sum += i128::from(amount.0),
            None => sums.push((resource.as_str(), i128::from(amount.0))),
        }
    }
    sums.sort_unstable();
    let mut said: Vec<_> = release.resources.iter().map(|(name, Amount(n))| (name.as_str(), i128::from(*n))).collect();
    said.sort_unstable();
    ctx.expect(codes::WRONG_RESOURCES, key, "the sum of its resources", &said, &sums);
    if release.reasons.is_empty() {
        ctx.report(Finding::warning(codes::NO_REASON, key, "it gives no reason for its start"));
    }
}

fn starts(ctx: &mut Ctx<'_>, release: &Release, workload: &Workload) {
    let key = release.workload.as_str();
    let earliest = workload.earliest_start.max(ctx.snapshot.now);
    let first = release.pieces.iter().map(|piece| piece.start).fold(release.start, Timestamp::min);
    if first < earliest {
        let message = format!("it starts {}, but may not before {}", ctx.time(first), ctx.time(earliest));
        ctx.report(Finding::error(codes::STARTS_TOO_EARLY, key, message));
    }
}

fn runs(ctx: &mut Ctx<'_>, release: &Release, workload: &Workload, option: &RunOption) {
    let key = release.workload.as_str();
    let promise = ctx.policy.promise;
    let interruption = &workload.interruption;
    if let Some(wrong) = pieces::malformed(&release.pieces, release.start, interruption) {
        ctx.report(Finding::error(codes::MALFORMED_PIECES, key, wrong));
        return;
    }
    let interruptions = release.pieces.len() - 1;
    let allowed = pieces::interruptions_max(interruption);
    if u32::try_from(interruptions).map_or(true, |count| count > allowed) {
        let message = format!("it is interrupted {interruptions} times, but {allowed} are allowed");
        ctx.report(Finding::error(codes::INTERRUPTED, key, message));
    }
    let (done, held) = (pieces::done(&release.pieces, interruption), i128::from(option.held(promise).0));
    if done != held {
        let message = format!("its pieces do {done} s of work, but its promised runtime is {held} s");
        ctx.report(Finding::error(codes::WRONG_HELD_TIME, key, message));
    }
    let end = |quantile| pieces::end_at(&release.pieces, option, interruption, promise, quantile);
    let (p50, p90) = (end(Promise::P50), end(Promise::P90));
    ctx.expect(codes::WRONG_END, key, "its p50 end", &Some(release.end), &p50);
    ctx.expect(codes::WRONG_END_P90, key, "its p90 end", &Some(release.end_p90), &p90);
    let (Some(p50), Some(p90)) = (p50, p90) else { return };
    let due = workload.due.as_ref().map(|due| due.at);
    let slack = due.and_then(|due| i64::try_from(seconds(p90, due)).ok()).map(Seconds);
    ctx.expect(codes::WRONG_SLACK, key, "its slack", &release.slack, &slack);
    let verdict = match due {
        None => Verdict::NoDeadline,
        Some(_) if !option.runtime.known => Verdict::Unknown,
        Some(due) if p90 <= due => Verdict::OnTime,
        Some(due) if p50 <= due => Verdict::AtRisk,
        Some(_) => Verdict::Late,
    };
    ctx.expect(codes::WRONG_VERDICT, key, "its verdict", &release.verdict, &verdict);
}

fn sorted(ctx: &mut Ctx<'_>, releases: &[Release], placed: &[Placed]) {
    let ranks: Vec<_> = releases.iter().zip(placed).map(|(release, place)| (release.start, place.workload)).collect();
    if let Some(at) = ranks.windows(2).position(|pair| pair[0] > pair[1]) {
        let key = releases[at + 1].workload.as_str();
        let message = "releases must stand by start, then in the snapshot's order";
        ctx.report(Finding::error(codes::OUT_OF_ORDER, key, message));
    }
}
