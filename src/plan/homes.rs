//! A plan that people rely on, repaired by moving as few as can be: windows solved for losses first, moves second.
//!
//! Every job has the home where the previous plan put it. A window around one that has lost its home, or around one that was
//! moved for its sake, is given to a solver in which staying costs nothing and any other place costs one; losses outweigh
//! moves. What comes back loses no more and has moved no more than before.

use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::program::{Goal, Kept, Program};
use crate::plan::solve::{Limits, minimize};
use crate::plan::window::{COLUMNS_MAX, Span, Window, least_loss, range};

/// Jobs of a window; each is a class of its own here, so fewer than where alike jobs are counted.
const JOBS: usize = 70;
const MILLIS: u64 = 600;

/// Lowers the loss to `goal` and then the number of moved jobs.
pub fn settle(board: &mut Board<'_>, homes: &[Option<Place>], goal: i64, dice: &mut Dice, span: &Span<'_>) {
    let mut windows = 0_u32;
    let mut fruitless = 0_u32;
    while fruitless < 12 {
        let left = span.until.saturating_sub((span.elapsed)());
        if left < 20 || span.steps.is_some_and(|(_, most)| windows >= most) {
            return;
        }
        let away = |job: &usize| homes[*job].is_some() && board.places[*job] != homes[*job];
        let loses = |job: &usize| {
            (homes[*job].is_none() || away(job)) && board.loss_of(*job) > least_loss(&board.model.jobs[*job])
        };
        let mut seeds: Vec<usize> = Vec::new();
        if board.loss > goal {
            seeds = (0..homes.len()).filter(loses).collect();
        }
        if seeds.is_empty() {
            seeds = (0..homes.len()).filter(away).collect();
        }
        if seeds.is_empty() {
            return;
        }
        windows += 1;
        let seed = seeds[dice.below(seeds.len())];
        let middle = match homes[seed].filter(|_| dice.one_in(2)) {
            Some(home) => home.start,
            None => {
                let (low, high) = range(&board.model.jobs[seed]);
                low + dice.below((high - low).max(1))
            }
        };
        let limits = Limits { millis: left.min(MILLIS), nodes: span.steps.map(|(nodes, _)| nodes), gap_permille: 0 };
        let window = Window::around(board, middle, JOBS);
        if solve(&window, board, homes, limits) {
            fruitless = 0;
        } else {
            fruitless += 1;
        }
    }
}

/// One window; true when it lost or moved less.
fn solve(window: &Window, board: &mut Board<'_>, homes: &[Option<Place>], limits: Limits) -> bool {
    let before: Vec<Option<Place>> = window.jobs.iter().map(|job| board.lift(*job)).collect();
    let model = window.model(board, true);
    let mut start = Board::empty(&model);
    for (index, place) in before.iter().enumerate() {
        if let Some(place) = place {
            start.put(index, *place);
        }
    }
    let soft_all: i64 = model.jobs.iter().map(|job| model.unpack(job.worst_loss()).1).fold(0, i64::saturating_add);
    let unit = i128::try_from(model.jobs.len()).unwrap_or(0) + 1;
    let price = |loss: i64| {
        let (hard, soft) = model.unpack(loss);
        unit * (i128::from(soft) + i128::from(hard) * (i128::from(soft_all) + 1))
    };
    let moved = |job: usize, place: Place| i128::from(homes[window.jobs[job]].is_some_and(|home| home != place));
    let of = |job: usize, place: Place| {
        let end = place.start + model.jobs[job].options[place.option].length;
        price(model.jobs[job].loss_at(end)) + moved(job, place)
    };
    // Work without a place on the grid would end after it: as if it were moved twice.
    let outside = |job: usize| price(model.jobs[job].worst_loss()) + 2;
    let cost = |board: &Board<'_>| -> i128 {
        (0..board.places.len()).map(|job| board.places[job].map_or_else(|| outside(job), |place| of(job, place))).sum()
    };
    let program = Program::new(&model, Goal::Price { of: &of, outside: &outside }, Kept::default());
    let better = program.all_columns(COLUMNS_MAX).and_then(|columns| {
        let answer = minimize(&program, &columns, &program.columns_of(&start), 1, limits);
        let found = program.board_of(&answer.counts?)?;
        (cost(&found) < cost(&start)).then_some(found.places)
    });
    let improved = better.is_some();
    window.put(board, &better.unwrap_or(before));
    improved
}
