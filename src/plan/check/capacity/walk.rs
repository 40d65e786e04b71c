//! The sweep itself: dated changes at nodes, sorted once, applied instant by instant, cell by cell.
//!
//! A visitor sees the tree of a cell once per stretch of time in which nothing changes. Who explains a plan walks the
//! same way as who checks it, so that what is said to stand in the way is what the checker would refuse.
//!
//! Deliberately absent: instants before the snapshot's now, and cells that no planned work uses.

use crate::plan::check::held_until;
use crate::plan::proposal::Piece;
use crate::plan::snapshot::{CellId, NodeId, Promise, Snapshot, WindowEffect};
use crate::units::{Amount, Timestamp};

use super::tree::Tree;

/// Planned use of quota: amounts at a queue during some pieces.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Claim<'a> {
    pub queue: NodeId,
    pub uses: &'a [(CellId, Amount)],
    pub pieces: &'a [Piece],
}

/// A stretch of time in which a cell's tree stays as it is.
pub(in crate::plan) struct Stretch<'a> {
    pub cell: CellId,
    /// `[from, to)`; the first stretch of a cell reaches back, the last one forward, without end.
    pub from: Timestamp,
    pub to: Timestamp,
    /// The nodes at which something changed when it began, perhaps several times.
    pub changed: &'a [Change],
}

/// One dated change at one node and cell.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Change {
    cell: u32,
    pub node: u32,
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

/// Shows `visit` the tree of every cell that claims use, stretch by stretch: cells ascending, then times.
pub(in crate::plan) fn walk(
    snapshot: &Snapshot,
    promise: Promise,
    claims: &[Claim<'_>],
    visit: &mut dyn FnMut(&mut Tree, &Stretch<'_>),
) {
    let mut changes = changes(snapshot, promise, claims);
    changes.sort_unstable_by_key(|change| (change.cell, change.at));
    let mut tree = Tree::new(snapshot);
    for of_cell in changes.chunk_by(|a, b| a.cell == b.cell) {
        let cell = CellId(of_cell[0].cell);
        tree.enter(snapshot, cell);
        let to = Timestamp(of_cell[0].at);
        visit(&mut tree, &Stretch { cell, from: Timestamp(i64::MIN), to, changed: &[] });
        let mut instants = of_cell.chunk_by(|a, b| a.at == b.at).peekable();
        while let Some(changed) = instants.next() {
            for change in changed {
                apply(&mut tree, change);
            }
            let to = instants.peek().map_or(i64::MAX, |next| next[0].at);
            visit(&mut tree, &Stretch { cell, from: Timestamp(changed[0].at), to: Timestamp(to), changed });
        }
    }
}

fn apply(tree: &mut Tree, change: &Change) {
    let by = i128::from(change.by);
    match change.what {
        What::Planned => tree.plan(change.node, by),
        What::Fixed => tree.fix(change.node, by),
        What::Nominal => tree.widen(change.node, by),
        What::CapBegins => tree.cap(change.node, by),
        What::CapEnds => tree.uncap(change.node, by),
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
