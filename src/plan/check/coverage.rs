//! Every workload once: released, or named as one that cannot be placed, and then truly so.

use crate::failure::Finding;
use crate::plan::proposal::{Piece, Plan};
use crate::plan::snapshot::{NodeKind, Workload};
use crate::units::Timestamp;

use super::capacity::{self, Claim};
use super::{Ctx, Placed, codes};

pub(super) fn check(ctx: &mut Ctx<'_>, plan: &Plan, placed: &[Placed]) {
    let mut released = vec![false; ctx.snapshot.workloads.len()];
    for at in placed.iter().filter_map(|place| place.workload) {
        released[at] = true;
        if is_stopped(ctx, &ctx.snapshot.workloads[at]) {
            let key = ctx.snapshot.workloads[at].key.as_str();
            ctx.report(Finding::error(codes::QUEUE_STOPPED, key, "its ClusterQueue is stopped and admits nothing new"));
        }
    }
    for (at, workload) in ctx.snapshot.workloads.iter().enumerate().filter(|(at, _)| !released[*at]) {
        let key = workload.key.as_str();
        debug_assert_eq!(ctx.by_key.get(key), Some(&at), "keys must be unique in a snapshot");
        let named = plan.problems.iter().any(|problem| problem.subject.split_whitespace().any(|word| word == key))
            || plan.infeasible.iter().any(|conflict| conflict.workloads.contains(&workload.key));
        if !named {
            let message = "it is neither released nor named among problems or conflicts";
            ctx.report(Finding::error(codes::DROPPED, key, message));
        } else if let Some(option) = fits_some_day(ctx, workload) {
            let message = format!("it is left out, but fits on {option} once everything else has ended");
            ctx.report(Finding::error(codes::LEFT_OUT, key, message));
        }
    }
    conflicts(ctx, plan, &released);
}

fn is_stopped(ctx: &Ctx<'_>, workload: &Workload) -> bool {
    matches!(&ctx.snapshot.node(workload.queue).kind, NodeKind::ClusterQueue(rules) if rules.stopped)
}

/// The flavor on which the workload would fit alone, after every window and all running work.
fn fits_some_day(ctx: &Ctx<'_>, workload: &Workload) -> Option<String> {
    if is_stopped(ctx, workload) {
        return None;
    }
    let snapshot = ctx.snapshot;
    let windows = snapshot.windows.iter().map(|window| window.end);
    let ends = snapshot.running.iter().flat_map(|running| [running.end_p50, running.end_p90]).flatten();
    let after = windows.chain(ends).fold(snapshot.horizon_end.max(snapshot.now), Timestamp::max);
    let pieces = [Piece { start: after, end: Timestamp(after.0.saturating_add(1)) }];
    workload.options.iter().find_map(|option| {
        let claim = Claim { queue: workload.queue, uses: &option.uses, pieces: &pieces };
        capacity::fits(snapshot, ctx.policy.promise, &[claim]).then(|| option.flavor.to_string())
    })
}

/// A conflict names known workloads, released late or not at all.
fn conflicts(ctx: &mut Ctx<'_>, plan: &Plan, released: &[bool]) {
    for key in plan.infeasible.iter().flat_map(|conflict| &conflict.workloads) {
        match ctx.by_key.get(key.as_str()) {
            None => {
                let message = "a conflict names it, but the snapshot has no such workload";
                ctx.report(Finding::error(codes::CONFLICT_UNKNOWN, key.as_str(), message));
            }
            Some(&at) if released[at] && ctx.snapshot.workloads[at].due.is_none() => {
                let message = "a conflict of due times names it, but it has none";
                ctx.report(Finding::error(codes::CONFLICT_UNKNOWN, key.as_str(), message));
            }
            Some(_) => {}
        }
    }
}
