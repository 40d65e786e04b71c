//! List scheduling: a complete first plan in one pass, and the portfolio of orders that seeds the search.
//!
//! Never the last word, always the floor: no later stage may return less.

use std::cmp::Reverse;

use crate::plan::board::{Board, Place};
use crate::plan::model::{Job, Model};

/// In which order jobs are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By latest start: what is pressed comes first.
    LatestStart,
    /// By due time.
    DueTime,
    /// Most slots × amount first: what is hard to place.
    Energy,
    /// Largest amount first.
    Width,
    /// Most loss avoided per slot × amount first.
    Density,
}

pub const PORTFOLIO: [Order; 5] = [Order::LatestStart, Order::DueTime, Order::Energy, Order::Width, Order::Density];

/// Places all jobs that can be placed with the least loss each, in one order, each as early as it fits.
#[must_use]
pub fn greedy(model: &Model, order: Order) -> Board<'_> {
    let mut board = Board::empty(model);
    for job in ordered(model, order) {
        place_earliest(&mut board, job);
    }
    board
}

/// The plan of the order that loses the least, of equals the first; nothing loses less than `floor`.
#[must_use]
pub fn best(model: &Model, floor: i64) -> Board<'_> {
    let [first, others @ ..] = PORTFOLIO;
    let mut best = greedy(model, first);
    for order in others {
        if best.loss <= floor {
            break;
        }
        let other = greedy(model, order);
        if other.loss < best.loss {
            best = other;
        }
    }
    best
}

/// Puts a job at the start with the least loss, then the earliest end; false when nothing fits on the grid.
pub fn place_earliest(board: &mut Board<'_>, job: usize) -> bool {
    let model_job = &board.model.jobs[job];
    let mut from_grade = model_job.release;
    for grade in &model_job.grades {
        let mut best: Option<(usize, Place)> = None;
        for (index, option) in model_job.options.iter().enumerate() {
            let from = model_job.release.max((from_grade).saturating_sub(option.length));
            let Some(start) = board.first_start(option, from, grade.end_max) else { continue };
            let end = start + option.length;
            if best.is_none_or(|(best_end, _)| end < best_end) {
                best = Some((end, Place { option: index, start }));
            }
        }
        if let Some((_, place)) = best {
            board.put(job, place);
            return true;
        }
        from_grade = grade.end_max;
    }
    false
}

/// Gives whoever has no place the best that is left, in the order of creation; who finds none stays without.
pub fn place_rest(board: &mut Board<'_>) {
    for job in 0..board.places.len() {
        if board.places[job].is_none() {
            place_earliest(board, job);
        }
    }
}

/// Job indices in an order; ties by creation.
#[must_use]
pub fn ordered(model: &Model, order: Order) -> Vec<usize> {
    let mut jobs: Vec<usize> = (0..model.jobs.len()).collect();
    match order {
        Order::LatestStart => jobs.sort_by_cached_key(|job| {
            let job = &model.jobs[*job];
            (Reverse(urgency(job)), due(job).saturating_sub(shortest(job)), due(job))
        }),
        Order::DueTime => jobs.sort_by_cached_key(|job| {
            let job = &model.jobs[*job];
            (Reverse(urgency(job)), due(job), due(job).saturating_sub(shortest(job)))
        }),
        Order::Energy => jobs.sort_by_cached_key(|job| Reverse(energy(&model.jobs[*job]))),
        Order::Width => jobs.sort_by_cached_key(|job| {
            let job = &model.jobs[*job];
            (Reverse(width(job)), due(job).saturating_sub(shortest(job)))
        }),
        Order::Density => jobs.sort_by(|a, b| {
            let (a, b) = (&model.jobs[*a], &model.jobs[*b]);
            let left = i128::from(a.worst_loss()) * i128::from(energy(b));
            let right = i128::from(b.worst_loss()) * i128::from(energy(a));
            right.cmp(&left)
        }),
    }
    jobs
}

/// Work that can lose something comes before work that cannot.
fn urgency(job: &Job) -> bool {
    job.worst_loss() > 0
}

fn due(job: &Job) -> usize {
    job.grades.first().map_or(usize::MAX, |grade| grade.end_max)
}

fn shortest(job: &Job) -> usize {
    job.options.iter().map(|option| option.length).min().unwrap_or(0)
}

/// The widest use of the first option.
#[must_use]
pub fn width(job: &Job) -> i64 {
    job.options.first().map_or(0, |option| option.uses.iter().map(|used| used.amount).max().unwrap_or(0))
}

/// Amount × slots of the first option's widest use.
#[must_use]
pub fn energy(job: &Job) -> i64 {
    let length = job.options.first().map_or(0, |option| option.length);
    width(job).saturating_mul(i64::try_from(length).unwrap_or(i64::MAX)).max(1)
}
