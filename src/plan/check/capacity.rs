//! Quota at every instant: an event sweep over the quota tree, one cell after the other.
//!
//! Everything that changes (planned pieces, running work, windows) becomes a dated change at one node. Changes are
//! sorted once by cell and time; those of one instant are applied together, each up the path to its root (`tree`), and
//! then the nodes on those paths are judged: nothing outside a changed path can have become wrong.
//!
//! Deliberately absent: instants before the snapshot's now, and cells that no planned work uses.

mod tree;

use crate::failure::Finding;
use crate::plan::proposal::{Piece, Release};
use crate::plan::snapshot::{CellId, NodeId, Promise, Snapshot, WindowEffect};
use crate::units::{Amount, Timestamp};

use super::{Ctx, Placed, codes, held_until};
use tree::Tree;

/// Planned use of quota: amounts at a queue during some pieces.
pub(super) struct Claim<'a> {
    pub queue: NodeId,
    pub uses: &'a [(CellId, Amount)],
    pub pieces: &'a [Piece],
}

/// A limit that planned work exceeds, or adds to beyond what others already exceed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Breach {
    pub cell: CellId,
    pub node: NodeId,
    pub at: Timestamp,
    pub limit: Limit,
    pub used: i128,
    pub allowed: i128,
    /// Used without any planned work.
    pub fixed: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// All quota of a tree.
    Quota,
    Borrowing,
    Cap,
}

/// One dated change at one node and cell.
#[derive(Clone, Copy)]
struct Change {
    cell: u32,
    node: u32,
    at: i64,
    what: What,
    /// Signed.
    by: i64,
}

#[derive(Clone, Copy)]
enum What {
    Planned,
    Fixed,
    Nominal,
    CapBegins,
    CapEnds,
}

/// Reports every limit that the plan breaks, each at its first instant.
pub(super) fn check(ctx: &mut Ctx<'_>, releases: &[Release], placed: &[Placed]) {
    let claims: Vec<_> =
        releases.iter().zip(placed).filter_map(|(release, place)| claim(ctx, release, place)).collect();
    let mut breaches: Vec<Breach> = Vec::new();
    sweep(ctx.snapshot, ctx.policy.promise, &claims, &mut |breach| {
        let known = |b: &Breach| b.cell == breach.cell && b.node == breach.node && b.limit == breach.limit;
        if breaches.len() < super::FINDINGS_MAX && !breaches.iter().any(known) {
            breaches.push(breach);
        }
    });
    for breach in breaches {
        let finding = describe(ctx, &breach);
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
pub(super) fn fits(snapshot: &Snapshot, promise: Promise, claims: &[Claim<'_>]) -> bool {
    let mut fits = true;
    sweep(snapshot, promise, claims, &mut |_| fits = false);
    fits
}

fn sweep(snapshot: &Snapshot, promise: Promise, claims: &[Claim<'_>], breach: &mut dyn FnMut(Breach)) {
    let mut changes = changes(snapshot, promise, claims);
    changes.sort_unstable_by_key(|change| (change.cell, change.at));
    let mut tree = Tree::new(snapshot);
    for of_cell in changes.chunk_by(|a, b| a.cell == b.cell) {
        let cell = CellId(of_cell[0].cell);
        tree.enter(snapshot, cell);
        for instant in of_cell.chunk_by(|a, b| a.at == b.at) {
            for change in instant {
                let by = i128::from(change.by);
                match change.what {
                    What::Planned => tree.plan(change.node, by),
                    What::Fixed => tree.fix(change.node, by),
                    What::Nominal => tree.widen(change.node, by),
                    What::CapBegins => tree.cap(change.node, by),
                    What::CapEnds => tree.uncap(change.node, by),
                }
            }
            let at = Timestamp(instant[0].at);
            for change in instant {
                tree.judge(change.node, &mut |node, limit, used, fixed, allowed| {
                    breach(Breach { cell, node: NodeId(node), at, limit, used, allowed, fixed });
                });
            }
        }
    }
}

fn changes(snapshot: &Snapshot, promise: Promise, claims: &[Claim<'_>]) -> Vec<Change> {
    let mut used = vec![false; snapshot.cells.len()];
    let mut changes = Vec::with_capacity(claims.len() * 4);
    for claim in claims {
        for &(cell, Amount(amount)) in claim.uses {
            used[cell.0 as usize] = true;
            for piece in claim.pieces.iter().filter(|piece| piece.start < piece.end) {
                between(&mut changes, cell, claim.queue, (piece.start, piece.end), [What::Planned; 2], amount);
            }
        }
    }
    let now = snapshot.now;
    for running in &snapshot.running {
        let span = (now, held_until(snapshot, promise, running));
        for &(cell, Amount(amount)) in running.uses.iter().filter(|(cell, _)| used[cell.0 as usize]) {
            between(&mut changes, cell, running.queue, span, [What::Fixed; 2], amount);
        }
    }
    for window in snapshot.windows.iter().filter(|window| used[window.cell.0 as usize]) {
        let what = match window.effect {
            WindowEffect::Add => [What::Nominal; 2],
            WindowEffect::Reserve => [What::Fixed; 2],
            WindowEffect::Cap => [What::CapBegins, What::CapEnds],
        };
        let span = (window.start.max(now), window.end);
        between(&mut changes, window.cell, window.node, span, what, window.quantity.0);
    }
    changes
}

fn between(
    changes: &mut Vec<Change>,
    cell: CellId,
    node: NodeId,
    (start, end): (Timestamp, Timestamp),
    [begins, ends]: [What; 2],
    amount: i64,
) {
    if start < end {
        // A cap is named by its quantity at both ends; everything else is undone by the opposite sign.
        let undo = if matches!(ends, What::CapEnds) { amount } else { amount.saturating_neg() };
        changes.push(Change { cell: cell.0, node: node.0, at: start.0, what: begins, by: amount });
        changes.push(Change { cell: cell.0, node: node.0, at: end.0, what: ends, by: undo });
    }
}

fn describe(ctx: &Ctx<'_>, breach: &Breach) -> Finding {
    let cell = ctx.snapshot.cell(breach.cell);
    let at = ctx.time(breach.at);
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
