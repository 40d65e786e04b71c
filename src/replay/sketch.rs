//! A plan for the next moment: where everything that waits would start if nothing new happened.
//!
//! It is the planner's greedy pass and its search, bounded by steps, in exact time; whoever plans at every arrival and
//! every end needs no more. Deliberately absent: proofs, reasons, figures and the check, which cost more than the plan
//! itself: a sketch is never shown, only its starts are, and what is released on it must still be admitted by quota.

use crate::plan::board::Board;
use crate::plan::desk::{Desk, Splittable};
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::greedy::{PORTFOLIO, greedy, place_rest};
use crate::plan::ground::Ground;
use crate::plan::search;
use crate::plan::snapshot::{Policy, Snapshot};
use crate::plan::stand::Stands;
use crate::plan::watch::Unwatched;

/// Stands for all workloads, the same for the same snapshot and policy; `policy.step_limit` bounds the search.
#[must_use]
pub(super) fn sketch(snapshot: &Snapshot, policy: &Policy) -> Stands {
    let desk = Desk::new(Ground::new(snapshot, policy), Splittable::OnGrid);
    let floor = desk.loss_floor();
    // Of equal losses the one that ends sooner in sum: what is small is not held up for what is large.
    let [first, others @ ..] = PORTFOLIO;
    let mut board = greedy(&desk.model, first);
    for order in others {
        let other = greedy(&desk.model, order);
        if (other.loss, completion(&other)) < (board.loss, completion(&board)) {
            board = other;
        }
    }
    if board.loss > floor {
        let mut effort = Effort::new(policy, &Unwatched);
        search::reduce_loss(&mut board, &mut Dice::new(policy.seed, 1), floor, &mut effort.slice(100));
    }
    place_rest(&mut board);
    desk.stands(&board)
}

/// Σ weight × slots until the end; work without a place counts as ending with the grid.
fn completion(board: &Board<'_>) -> i128 {
    let ends = board.model.jobs.iter().zip(&board.places).map(|(job, place)| {
        let end = place.map_or(board.model.grid.slots, |place| place.start + job.options[place.option].length);
        i128::from(job.weight) * i128::try_from(end).unwrap_or(i128::MAX / 1_000_000)
    });
    ends.sum()
}
