//! Quota at every instant: an event sweep over the quota tree, one cell after the other.
//!
//! Everything that changes (planned pieces, running work, windows) becomes a dated change at one node (`walk`), applied
//! up the path to its root (`tree`). After each instant the nodes on the changed paths are judged: nothing outside them
//! can have become wrong.

mod tree;
mod walk;

use crate::failure::Finding;
use crate::plan::proposal::Release;
use crate::plan::snapshot::{CellId, NodeId, Promise, Snapshot};
use crate::units::Timestamp;

use super::{Ctx, Placed, codes};
pub(in crate::plan) use tree::Tree;
pub(in crate::plan) use walk::{Claim, Stretch, walk};

/// A limit that planned work exceeds, or adds to beyond what others already exceed.
#[derive(Debug, Clone, Copy)]
pub(in crate::plan) struct Breach {
    pub node: NodeId,
    pub limit: Limit,
    pub used: i128,
    pub allowed: i128,
    /// Used without any planned work.
    pub fixed: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Limit {
    /// All quota of a tree.
    Quota,
    Borrowing,
    Cap,
}

/// Reports every limit that the plan breaks, each at its first instant.
pub(super) fn check(ctx: &mut Ctx<'_>, releases: &[Release], placed: &[Placed]) {
    let claims: Vec<_> =
        releases.iter().zip(placed).filter_map(|(release, place)| claim(ctx, release, place)).collect();
    let mut breaches: Vec<(CellId, Timestamp, Breach)> = Vec::new();
    sweep(ctx.snapshot, ctx.policy.promise, &claims, &mut |cell, at, breach| {
        let known =
            |(of, _, b): &(CellId, Timestamp, Breach)| *of == cell && b.node == breach.node && b.limit == breach.limit;
        if breaches.len() < super::FINDINGS_MAX && !breaches.iter().any(known) {
            breaches.push((cell, at, breach));
        }
    });
    for (cell, at, breach) in breaches {
        let finding = describe(ctx, cell, at, &breach);
        ctx.report(finding);
    }
}

/// The claim of a release that takes one of its workload's options; any other is reported elsewhere.
pub(super) fn claim<'a>(ctx: &Ctx<'a>, release: &'a Release, place: &Placed) -> Option<Claim<'a>> {
    let workload = &ctx.snapshot.workloads[place.workload?];
    let option = &workload.options[place.option?];
    Some(Claim { queue: workload.queue, uses: &option.uses, pieces: &release.pieces })
}

/// Whether the claims together stay within every limit.
pub(in crate::plan) fn fits(snapshot: &Snapshot, promise: Promise, claims: &[Claim<'_>]) -> bool {
    let mut fits = true;
    sweep(snapshot, promise, claims, &mut |_, _, _| fits = false);
    fits
}

/// Names every breach with its cell and instant, as often as something changes there while it lasts.
fn sweep(
    snapshot: &Snapshot,
    promise: Promise,
    claims: &[Claim<'_>],
    breach: &mut dyn FnMut(CellId, Timestamp, Breach),
) {
    walk(snapshot, promise, claims, &mut |tree, stretch| {
        for change in stretch.changed {
            tree.judge(change.node, &mut |broken| breach(stretch.cell, stretch.from, broken));
        }
    });
}

fn describe(ctx: &Ctx<'_>, cell: CellId, at: Timestamp, breach: &Breach) -> Finding {
    let cell = ctx.snapshot.cell(cell);
    let at = ctx.time(at);
    let (code, limit) = match breach.limit {
        _ if breach.fixed > breach.allowed => (codes::ADDS_TO_OVERFULL, "what others already exceed alone"),
        Limit::Quota => (codes::OVER_QUOTA, "the quota of its tree"),
        Limit::Borrowing => (codes::OVER_BORROWING_LIMIT, "what it may use of its cohort"),
        Limit::Cap => (codes::OVER_CAP, "the cap of a window"),
    };
    let message = format!(
        "at {at} {} {} on {} are used, of which {} by planned work; {limit} is {}",
        breach.used,
        cell.resource,
        cell.flavor,
        breach.used - breach.fixed,
        breach.allowed
    );
    Finding::error(code, ctx.snapshot.node(breach.node).name.as_str(), message)
}
