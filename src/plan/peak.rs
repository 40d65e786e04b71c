//! Lowering the peak: the same search against a target that sinks as long as everything still fits.
//!
//! A target is a limit on each accelerator lane's total usage. A step takes a little from one lane (or from one, giving a
//! little less to another, since work may move between flavors), evicts what no longer fits, and lets `search` place it
//! again; a step that cannot be completed is undone and tried smaller.

use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::greedy::energy;
use crate::plan::lane::UNLIMITED;
use crate::plan::model::{Grade, Model};
use crate::plan::search::{Budget, reduce_loss};

/// The lanes whose total counts, with the row that holds the total and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    pub lane: usize,
    pub row: usize,
    pub weight: i128,
    /// Highest usage by running work alone: no target lies below it.
    pub floor: i64,
}

/// A model in which each job must keep the grade it has now, and nothing else is lost. What has no place weighs by the
/// capacity it would take: little work is easier to find room for than much.
#[must_use]
pub fn keeping_grades(model: &Model, places: &[Option<Place>]) -> Model {
    let energies: i64 = model.jobs.iter().map(energy).fold(0, i64::saturating_add);
    let mean = (energies / i64::try_from(model.jobs.len()).unwrap_or(1).max(1)).max(1);
    let mut kept = model.clone();
    for (index, job) in kept.jobs.iter_mut().enumerate() {
        match places[index] {
            Some(place) => {
                let end_max = job.end_max_for(job.loss_at(place.start + job.options[place.option].length));
                job.grades = vec![Grade { end_max, loss: 0 }];
                job.outside = 1 + 4 * energy(job) / mean;
            }
            None => job.outside = 0,
        }
    }
    kept
}

/// Peak of each total as the board stands, running work included.
#[must_use]
pub fn peaks(board: &Board<'_>, totals: &[Total]) -> Vec<i64> {
    totals
        .iter()
        .map(|total| {
            let row = &board.lanes[total.lane].rows[total.row];
            row.free.iter().map(|free| UNLIMITED - free).max().unwrap_or(0).max(total.floor)
        })
        .collect()
}

/// Σ weight × peak.
#[must_use]
pub fn weighted(peaks: &[i64], totals: &[Total]) -> i128 {
    totals.iter().zip(peaks).map(|(total, peak)| total.weight * i128::from(*peak)).sum()
}

/// Lowers Σ weight × peak to `goal` or until the budget is spent. `board` stands on a model of [`keeping_grades`], its
/// total rows unlimited; it is left so, at the best found. Returns the peaks.
pub fn lower_peaks(
    board: &mut Board<'_>,
    totals: &[Total],
    goal: i128,
    dice: &mut Dice,
    budget: &mut dyn Budget,
    steps_moves: u64,
) -> Vec<i64> {
    let mut targets = peaks(board, totals);
    let cost = |targets: &[i64]| weighted(targets, totals);
    let mut step: Vec<i64> = targets.iter().map(|peak| (peak / 16).max(1)).collect();
    let mut failures = 0_u32;
    while cost(&targets) > goal && !budget.exhausted(0) {
        // Which lane gives, by its share of the cost; now and then another takes some of it.
        let giver = dice.below(totals.len());
        if targets[giver] <= totals[giver].floor {
            failures += 1;
            if failures > 64 * u32::try_from(totals.len()).unwrap_or(1) {
                break;
            }
            continue;
        }
        let mut next = targets.clone();
        next[giver] = (next[giver] - step[giver]).max(totals[giver].floor);
        if totals.len() > 1 && failures > 2 && dice.one_in(2) {
            let taker = dice.below(totals.len());
            if taker != giver {
                // As much as keeps the step a gain.
                let saved = totals[giver].weight * i128::from(targets[giver] - next[giver]);
                let room = (saved - 1) / totals[taker].weight.max(1);
                next[taker] += i64::try_from(room.min(i128::from(step[taker]))).unwrap_or(0);
            }
        }
        if cost(&next) >= cost(&targets) {
            failures += 1;
            step[giver] = (step[giver] / 2).max(1);
            continue;
        }
        let before = board.places.clone();
        let patience = steps_moves * u64::from(1 + failures.min(30));
        if fit_under(board, totals, &next, dice, budget, patience) {
            // Whatever fits may lie lower still.
            targets = peaks(board, totals);
            failures = 0;
            step[giver] = (step[giver] * 3 / 2).clamp(1, (targets[giver] / 8).max(1));
        } else {
            board.rearrange(&before);
            failures += 1;
            step[giver] = (step[giver] / 2).max(1);
        }
    }
    targets
}

/// Whether everything can be placed with the totals at or below the targets; the totals are unlimited again afterwards.
fn fit_under(
    board: &mut Board<'_>,
    totals: &[Total],
    targets: &[i64],
    dice: &mut Dice,
    budget: &mut dyn Budget,
    patience: u64,
) -> bool {
    for (total, target) in totals.iter().zip(targets) {
        for free in &mut board.lanes[total.lane].rows[total.row].free {
            *free += target - UNLIMITED;
        }
    }
    for total in totals {
        let slots = board.lanes[total.lane].rows[total.row].free.len();
        for slot in 0..slots {
            while board.lanes[total.lane].rows[total.row].free[slot] < 0 {
                let Some(victim) = victim(board, total.lane, slot, dice) else { break };
                board.lift(victim);
            }
        }
    }
    let before = board.loss;
    let mut patience = Patience { inner: budget, moves_max: patience, since: 0, best: before };
    let fits = before == 0 || {
        reduce_loss(board, dice, 0, &mut patience);
        board.loss == 0
    };
    for (total, target) in totals.iter().zip(targets) {
        for free in &mut board.lanes[total.lane].rows[total.row].free {
            *free += UNLIMITED - target;
        }
    }
    fits
}

/// Someone who stands on the lane at the slot.
fn victim(board: &Board<'_>, lane: usize, slot: usize, dice: &mut Dice) -> Option<usize> {
    let on_lane = |job: &usize| {
        board.places[*job].is_some_and(|place| board.option(*job, place).uses.iter().any(|used| used.lane == lane))
    };
    let pools = board.pools();
    let standing: Vec<usize> = (0..pools).flat_map(|pool| board.covering(pool, slot)).filter(on_lane).collect();
    (!standing.is_empty()).then(|| standing[dice.below(standing.len())])
}

/// Ends a step that makes no headway.
struct Patience<'a> {
    inner: &'a mut dyn Budget,
    moves_max: u64,
    since: u64,
    best: i64,
}

impl Budget for Patience<'_> {
    fn exhausted(&mut self, moves: u64) -> bool {
        self.inner.exhausted(moves) || moves.saturating_sub(self.since) > self.moves_max
    }
    fn improved(&mut self, loss: i64) {
        if loss < self.best {
            self.best = loss;
        }
    }
}
