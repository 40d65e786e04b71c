//! What was promised within the frozen window stays where it was promised, as long as it still can.
//!
//! A promise can no longer be kept when the workload may not start then, has lost that flavor, or no longer fits there
//! beside running work and the promises that were kept.

use std::collections::HashMap;

use crate::failure::Finding;
use crate::plan::proposal::{Piece, Plan};
use crate::plan::snapshot::{PreviousRelease, RunOption};
use crate::units::{Seconds, Timestamp};

use super::capacity::{self, Claim};
use super::{Ctx, Placed, codes, seconds};

pub(super) fn check(ctx: &mut Ctx<'_>, plan: &Plan, placed: &[Placed]) {
    let frozen: Vec<_> = ctx.snapshot.previous.iter().filter(|previous| is_frozen(ctx, previous)).collect();
    if frozen.is_empty() {
        return;
    }
    let released: HashMap<&str, usize> =
        plan.releases.iter().enumerate().map(|(at, release)| (release.workload.as_str(), at)).collect();
    let is_kept = |previous: &PreviousRelease| {
        released
            .get(previous.key.as_str())
            .map(|&at| &plan.releases[at])
            .is_some_and(|release| release.start == previous.start && release.flavor == previous.flavor)
    };
    let (kept, moved): (Vec<_>, Vec<_>) = frozen.into_iter().partition(|previous| is_kept(previous));
    for previous in moved {
        let Some(option) = option_kept(ctx, previous) else { continue };
        let Some(&at) = ctx.by_key.get(previous.key.as_str()) else { continue };
        let workload = &ctx.snapshot.workloads[at];
        let held = option.held(ctx.policy.promise);
        let pieces = [Piece { start: previous.start, end: Timestamp(previous.start.0.saturating_add(held.0)) }];
        let mut claims: Vec<_> = kept
            .iter()
            .filter_map(|previous| released.get(previous.key.as_str()))
            .filter_map(|&at| capacity::claim(ctx, &plan.releases[at], &placed[at]))
            .collect();
        claims.push(Claim { queue: workload.queue, uses: &option.uses, pieces: &pieces });
        if capacity::fits(ctx.snapshot, ctx.policy.promise, &claims) {
            let message = format!(
                "it was promised {} on {} and is moved inside the frozen window",
                ctx.time(previous.start),
                previous.flavor
            );
            ctx.report(Finding::error(codes::FROZEN_MOVED, previous.key.as_str(), message));
        }
    }
}

fn is_frozen(ctx: &Ctx<'_>, previous: &PreviousRelease) -> bool {
    let Seconds(window) = ctx.policy.frozen_window;
    (0..i128::from(window)).contains(&seconds(ctx.snapshot.now, previous.start))
}

/// The option that the promise named, if the workload may still take it then.
fn option_kept<'a>(ctx: &Ctx<'a>, previous: &PreviousRelease) -> Option<&'a RunOption> {
    let workload = &ctx.snapshot.workloads[*ctx.by_key.get(previous.key.as_str())?];
    let allowed = workload.earliest_start <= previous.start;
    workload.options.iter().find(|option| allowed && option.flavor == previous.flavor)
}
