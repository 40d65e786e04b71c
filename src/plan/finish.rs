//! The preset's sum, lowered while no loss grows: earlier ends, or cheaper hours.
//!
//! Every job stays within the grade that it has; a move lifts a job, or a handful that stand together, and puts each back
//! where it costs least. Only moves that do not raise the sum are kept.

use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::search::Budget;

/// What a placement costs, in any unit: lower is better.
pub trait Price {
    fn of(&self, job: usize, place: Place) -> i128;
    /// Starts worth trying besides the earliest, for prices that change over the day; ascending.
    fn borders(&self) -> &[usize];
}

/// Jobs lifted together at most.
const LIFTED_MAX: usize = 6;

/// Lowers Σ price until the budget is spent or `floor` is reached; returns the sum.
pub fn lower_sum(
    board: &mut Board<'_>,
    price: &dyn Price,
    floor: i128,
    dice: &mut Dice,
    budget: &mut dyn Budget,
) -> i128 {
    let jobs: Vec<usize> = (0..board.places.len()).filter(|job| board.places[*job].is_some()).collect();
    let allowed: Vec<usize> =
        (0..board.places.len()).map(|job| board.model.jobs[job].end_max_for(board.loss_of(job))).collect();
    let mut sum: i128 = jobs.iter().filter_map(|job| board.places[*job].map(|place| price.of(*job, place))).sum();
    if jobs.is_empty() {
        return sum;
    }
    // First each alone, in the order of starts: most of the gain, once.
    let mut order = jobs.clone();
    order.sort_by_key(|job| board.places[*job].map(|place| (place.start, *job)));
    for job in order {
        sum += improve_alone(board, price, job, allowed[job]);
    }
    let mut moves = 0_u64;
    while sum > floor {
        if moves.is_multiple_of(32) && budget.exhausted(moves) {
            break;
        }
        moves += 1;
        if dice.one_in(4) {
            let job = jobs[dice.below(jobs.len())];
            sum += improve_alone(board, price, job, allowed[job]);
        } else {
            sum += improve_together(board, price, &jobs, &allowed, dice);
        }
    }
    sum
}

/// Moves one job to its cheapest place; returns the change, never positive.
fn improve_alone(board: &mut Board<'_>, price: &dyn Price, job: usize, end_max: usize) -> i128 {
    let Some(old) = board.lift(job) else { return 0 };
    let before = price.of(job, old);
    let best = cheapest(board, price, job, end_max).filter(|(cost, _)| *cost < before);
    match best {
        Some((cost, place)) => {
            board.put(job, place);
            cost - before
        }
        None => {
            board.put(job, old);
            0
        }
    }
}

/// The cheapest place that fits and ends by `end_max`.
fn cheapest(board: &Board<'_>, price: &dyn Price, job: usize, end_max: usize) -> Option<(i128, Place)> {
    let model_job = &board.model.jobs[job];
    let mut best: Option<(i128, Place)> = None;
    let mut consider = |option: usize, start: Option<usize>| {
        if let Some(start) = start {
            let place = Place { option, start };
            let cost = price.of(job, place);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, place));
            }
        }
    };
    for (index, option) in model_job.options.iter().enumerate() {
        consider(index, board.first_start(option, model_job.release, end_max));
        for border in price.borders() {
            let from = (*border).max(model_job.release);
            consider(index, board.first_start(option, from, end_max));
            if *border >= option.length && *border <= end_max {
                consider(index, board.last_start(option, model_job.release, *border));
            }
        }
    }
    best
}

/// Lifts a few jobs that stand around one instant and puts them back in another order.
fn improve_together(
    board: &mut Board<'_>,
    price: &dyn Price,
    jobs: &[usize],
    allowed: &[usize],
    dice: &mut Dice,
) -> i128 {
    let first = jobs[dice.below(jobs.len())];
    let Some(place) = board.places[first] else { return 0 };
    let option = board.option(first, place);
    let pool = option.pool;
    // Around its begin stand those that keep it from starting sooner.
    let slot = place.start.saturating_sub(dice.below(2));
    let count = 1 + dice.below(LIFTED_MAX - 1);
    let mut lifted: Vec<(usize, Place)> = vec![(first, place)];
    for _ in 0..count {
        if let Some(other) = board.sample_covering(pool, slot, dice)
            && lifted.iter().all(|(job, _)| *job != other)
            && let Some(place) = board.places[other]
        {
            lifted.push((other, place));
        }
    }
    let before: i128 = lifted.iter().map(|(job, place)| price.of(*job, *place)).sum();
    for (job, _) in &lifted {
        board.lift(*job);
    }
    let mut order: Vec<usize> = lifted.iter().map(|(job, _)| *job).collect();
    // A random order, with a lean towards the light and short, which finish a sum earliest.
    let shape = dice.below(3);
    order.sort_by_cached_key(|job| {
        let chance = i64::try_from(dice.below(1 << 20)).unwrap_or(0);
        match shape {
            0 => chance,
            _ => {
                let job = &board.model.jobs[*job];
                let energy = crate::plan::greedy::energy(job).saturating_mul(1024) / job.weight.max(1);
                energy.saturating_mul(1 + chance % 2)
            }
        }
    });
    let mut after = 0_i128;
    let mut placed: Vec<usize> = Vec::with_capacity(order.len());
    let complete = order.iter().all(|job| {
        let Some((cost, place)) = cheapest(board, price, *job, allowed[*job]) else { return false };
        board.put(*job, place);
        placed.push(*job);
        after += cost;
        after <= before
    });
    if complete && after <= before {
        return after - before;
    }
    for job in placed {
        board.lift(job);
    }
    for (job, place) in lifted {
        board.put(job, place);
    }
    0
}
