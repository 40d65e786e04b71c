//! The preset level: what a plan is good at once no deadline can be helped any more.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::finish::{Price, lower_sum};
use crate::plan::greedy::place_rest;
use crate::plan::lane::UNLIMITED;
use crate::plan::levels;
use crate::plan::model::Model;
use crate::plan::peak::{Total, keeping_grades, lower_peaks, peaks, weighted};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::relax;
use crate::plan::search::Budget;
use crate::plan::snapshot::Objective;
use crate::plan::stand::Stands;
use crate::plan::watch::Phase;

/// Improves the preset without raising a loss, and moves to exact time.
pub fn improve(desk: &Desk<'_>, mut board: Board<'_>, proof: &mut Proof, effort: &mut Effort<'_>) -> Stands {
    place_rest(&mut board);
    match desk.policy.objective {
        Objective::EarliestFinish => earliest_finish(desk, &board, &[], proof, effort),
        Objective::LowestPeak => lowest_peak(desk, &board, proof, effort),
        Objective::LowestCost => lowest_cost(desk, board, proof, effort),
    }
}

/// As early as may be, under the peaks that the totals have on the board.
fn earliest_finish(
    desk: &Desk<'_>,
    start: &Board<'_>,
    totals: &[Total],
    proof: &mut Proof,
    effort: &mut Effort<'_>,
) -> Stands {
    effort.tell(Phase::LocalSearch, LevelName::Completion, 0, None);
    let mut dice = Dice::new(desk.policy.seed, 3);
    let under = Ceilings::of(start, totals);
    let mut board = Board::standing(&under.model, &start.places);
    let price = Completion { model: &under.model };
    let floor = price.floor();
    // A short search, then the proof that may make a long one needless.
    let sum = lower_sum(&mut board, &price, floor, &mut dice, &mut effort.slice(2));
    if sum > floor {
        let settled = (!totals.is_empty()).then(|| (totals, weighted(&under.peaks, totals)));
        let found = relax::completion(desk, &board, settled, proof, effort);
        if let Some(places) = found.places {
            let under = Ceilings::of(&Board::standing(start.model, &places), totals);
            let mut board = Board::standing(&under.model, &places);
            if !found.proven {
                lower_sum(&mut board, &Completion { model: &under.model }, floor, &mut dice, &mut effort.slice(20));
            }
            return desk.stands_under(&board, &under.by_lane(totals), &|_, _| false);
        }
        if !found.proven {
            lower_sum(&mut board, &price, floor, &mut dice, &mut effort.slice(20));
        }
    }
    desk.stands_under(&board, &under.by_lane(totals), &|_, _| false)
}

/// A model in which no total rises above where it stands.
struct Ceilings {
    model: Model,
    peaks: Vec<i64>,
}

impl Ceilings {
    fn of(board: &Board<'_>, totals: &[Total]) -> Self {
        let mut model = board.model.clone();
        let peaks = peaks(board, totals);
        for (total, peak) in totals.iter().zip(&peaks) {
            for free in &mut model.lanes[total.lane].rows[total.row].free {
                *free += peak - UNLIMITED;
            }
        }
        Self { model, peaks }
    }

    fn by_lane(&self, totals: &[Total]) -> Vec<(usize, i64)> {
        totals.iter().zip(&self.peaks).map(|(total, peak)| (total.lane, *peak)).collect()
    }
}

fn lowest_peak(desk: &Desk<'_>, board: &Board<'_>, proof: &mut Proof, effort: &mut Effort<'_>) -> Stands {
    let totals = totals(desk);
    let kept = keeping_grades(&desk.model, &board.places);
    let mut low = Board::standing(&kept, &board.places);
    let mut dice = Dice::new(desk.policy.seed, 2);
    if totals.is_empty() {
        relax::peak(desk, &mut low, &totals, 0, proof, effort);
    } else {
        effort.tell(Phase::LocalSearch, LevelName::Peak, 0, None);
        // A short search first: what it finds is where a solver starts.
        lower_peaks(&mut low, &totals, 0, &mut dice, &mut effort.slice(10), 200);
        let bound = bound_beside_search(desk, &mut low, &totals, &mut dice, effort);
        let bound = relax::peak(desk, &mut low, &totals, bound, proof, effort);
        let value = weighted(&peaks(&low, &totals), &totals);
        effort.tell(Phase::Polish, LevelName::Peak, value, Some(bound));
        let goal = bound * i128::from(1000 + desk.policy.gap_permille) / 1000;
        lower_twice(desk, &mut low, &totals, goal, &mut dice, effort);
    }
    earliest_finish(desk, &low, &totals, proof, effort)
}

/// The bound takes seconds where there are thousands of jobs; the search goes on until it is there. Where steps count, one
/// comes after the other: which of them ends first is no reason for a different plan.
fn bound_beside_search(
    desk: &Desk<'_>,
    low: &mut Board<'_>,
    totals: &[Total],
    dice: &mut Dice,
    effort: &mut Effort<'_>,
) -> i128 {
    if effort.deterministic() {
        return relax::peak_bound(desk, low, totals, 20, effort);
    }
    let copy = low.clone();
    let bounding = Effort::new(desk.policy, effort.watch);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let bound = scope.spawn(|| {
            let bound = relax::peak_bound(desk, &copy, totals, 45, &bounding);
            done.store(true, Ordering::Relaxed);
            bound
        });
        let mut slice = effort.slice(45);
        lower_peaks(low, totals, 0, dice, &mut Until { inner: &mut slice, done: &done }, 400);
        bound.join().unwrap_or(0)
    })
}

/// Two searches from different seeds, each round from the better of both; one where steps count, since two threads that
/// share a budget of steps would not be repeatable.
fn lower_twice(
    desk: &Desk<'_>,
    low: &mut Board<'_>,
    totals: &[Total],
    goal: i128,
    dice: &mut Dice,
    effort: &mut Effort<'_>,
) {
    if effort.deterministic() {
        lower_peaks(low, totals, goal, dice, &mut effort.slice(80), 400);
        return;
    }
    let value = |board: &Board<'_>| weighted(&peaks(board, totals), totals);
    for round in 0..ROUNDS {
        if value(low) <= goal || effort.millis_left() < 50 {
            return;
        }
        let percent = effort.millis_left() * 95 / 100 / (ROUNDS - round) * 100 / effort.total_millis().max(1);
        let mut twin = low.clone();
        let mut beside = Effort::new(desk.policy, effort.watch);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut dice = Dice::new(desk.policy.seed, 40 + round);
                lower_peaks(&mut twin, totals, goal, &mut dice, &mut beside.slice(percent), 400);
            });
            lower_peaks(low, totals, goal, dice, &mut effort.slice(percent), 400);
        });
        if value(&twin) < value(low) {
            *low = twin;
        }
    }
}

/// Rounds of two searches: in each they get far enough apart for one to be better.
const ROUNDS: u64 = 5;

/// Ends a search that goes on beside something.
struct Until<'a> {
    inner: &'a mut dyn Budget,
    done: &'a AtomicBool,
}

impl Budget for Until<'_> {
    fn exhausted(&mut self, moves: u64) -> bool {
        self.done.load(Ordering::Relaxed) || self.inner.exhausted(moves)
    }
}

/// The accelerator lanes with a total row, and their weights.
#[must_use]
pub fn totals(desk: &Desk<'_>) -> Vec<Total> {
    let weights = levels::peak_weights(desk.snapshot);
    let lanes = desk.model.lanes.iter().zip(&desk.ground.base.exact.lanes).enumerate();
    lanes
        .filter_map(|(lane, (on_grid, exact))| {
            let row = on_grid.total?;
            let floor = exact.rows[row].free.iter().map(|free| UNLIMITED - free).max().unwrap_or(0);
            Some(Total { lane, row, weight: weights[on_grid.cell.0 as usize], floor })
        })
        .collect()
}

fn lowest_cost(desk: &Desk<'_>, mut board: Board<'_>, proof: &mut Proof, effort: &mut Effort<'_>) -> Stands {
    effort.tell(Phase::LocalSearch, LevelName::Cost, 0, None);
    let price = Cost::new(desk, board.model);
    let mut dice = Dice::new(desk.policy.seed, 3);
    lower_sum(&mut board, &price, 0, &mut dice, &mut effort.slice(50));
    if desk.snapshot.workloads.is_empty() {
        proof.learn(LevelName::Cost, 0, Kind::Trivial);
    }
    relax::cost(desk, &mut board, proof, effort);
    desk.stands(&board)
}

/// Value × end, in slots.
pub struct Completion<'m> {
    pub model: &'m Model,
}

impl Completion<'_> {
    fn floor(&self) -> i128 {
        let alone = |job: usize| {
            let model_job = &self.model.jobs[job];
            let places = (0..model_job.options.len()).map(|option| Place { option, start: model_job.release });
            places.map(|place| self.of(job, place)).min().unwrap_or(0)
        };
        (0..self.model.jobs.len()).map(alone).sum()
    }
}

impl Price for Completion<'_> {
    fn of(&self, job: usize, place: Place) -> i128 {
        let model_job = &self.model.jobs[job];
        let end = place.start + model_job.options[place.option].length;
        i128::from(model_job.weight) * i128::try_from(end).unwrap_or(i128::MAX)
    }
    fn borders(&self) -> &[usize] {
        &[]
    }
}

/// Money first, completion second, in one exact number.
pub struct Cost<'m> {
    completion: Completion<'m>,
    /// Per lane: price summed over slots up to each border, in billionths × seconds per base unit.
    sums: Vec<Vec<i128>>,
    borders: Vec<usize>,
    /// Larger than any sum of completions.
    base: i128,
}

impl<'m> Cost<'m> {
    #[must_use]
    pub fn new(desk: &Desk<'_>, model: &'m Model) -> Self {
        let slots = model.slots();
        let mut borders: Vec<usize> = Vec::new();
        let sums = model
            .lanes
            .iter()
            .map(|lane| {
                let price = desk.snapshot.prices.iter().find(|price| price.cell == lane.cell);
                // A core-hour is a thousand base units.
                let scale = if desk.snapshot.cell(lane.cell).resource.is_milli() { 1 } else { 1000 };
                let mut sum = 0_i128;
                let mut sums = Vec::with_capacity(slots + 1);
                sums.push(0);
                for slot in 0..slots {
                    let at = model.grid.instant(i64::try_from(slot).unwrap_or(i64::MAX));
                    let rate = price.map_or(0, |price| {
                        let window = price.windows.iter().find(|window| window.start <= at && at < window.end);
                        window.map_or(price.per_unit_hour, |window| window.per_unit_hour).nanos
                    });
                    sum += rate * i128::from(model.grid.slot.0) * scale;
                    sums.push(sum);
                }
                for window in price.into_iter().flat_map(|price| &price.windows) {
                    for edge in [window.start, window.end] {
                        if let Ok(slot) = usize::try_from(model.grid.ceil(edge))
                            && slot > 0
                            && slot < slots
                        {
                            borders.push(slot);
                        }
                    }
                }
                sums
            })
            .collect();
        borders.sort_unstable();
        borders.dedup();
        let base =
            model.jobs.iter().map(|job| i128::from(job.weight) * i128::try_from(slots + 1).unwrap_or(1)).sum::<i128>()
                + 1;
        Self { completion: Completion { model }, sums, borders, base }
    }

    /// Σ price × amount × time of a placement, in billionths × seconds / 1000.
    #[must_use]
    pub fn money(&self, job: usize, place: Place) -> i128 {
        let option = &self.completion.model.jobs[job].options[place.option];
        let end = place.start + option.length;
        let of = |used: &crate::plan::model::Use| {
            (self.sums[used.lane][end] - self.sums[used.lane][place.start]) * i128::from(used.amount)
        };
        option.uses.iter().map(of).sum()
    }
}

impl Price for Cost<'_> {
    fn of(&self, job: usize, place: Place) -> i128 {
        self.money(job, place) * self.base + self.completion.of(job, place)
    }
    fn borders(&self) -> &[usize] {
        &self.borders
    }
}
