//! Ruin and recreate against fixed capacity: fewer and cheaper losses, move by move.
//!
//! A move takes a job that loses something, forces it into a place where it would not, ejects whoever stands in the way, and
//! puts the ejected elsewhere as well as it can. A move that makes things worse is kept with a chance that falls over the
//! run. Jobs that keep failing weigh more in the choice of whom to eject, so the search leaves its dead ends.
//! The same engine lowers peaks: its capacity is then the target.

mod best;
mod heat;
mod homes;
mod squeeze;
mod way;

pub use homes::{Care, repair};
pub use way::make_way;

use best::Best;
use heat::{COLD, HOT, Heat};

use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::greedy::{energy, width};
use crate::plan::model::Job;

/// When a run ends.
pub trait Budget {
    /// Asked every few dozen moves, with the moves made so far.
    fn exhausted(&mut self, moves: u64) -> bool;
    /// Told about each improvement.
    fn improved(&mut self, _loss: i64) {}
}

/// Ejected jobs per move at most: a longer chain is nearly always undone.
const EJECTED_MAX: usize = 48;
/// Starts looked at per insertion.
const STARTS_TRIED: usize = 4;

/// Lowers the board's loss to `goal` or until the budget is spent; returns the moves made. The board is left at the best
/// state found.
pub fn reduce_loss(board: &mut Board<'_>, dice: &mut Dice, goal: i64, budget: &mut dyn Budget) -> u64 {
    let mut run = Run::new(board);
    let heat = Heat::new(&run, HOT, COLD);
    run.go(dice, goal, budget, heat)
}

struct Run<'b, 'm> {
    board: &'b mut Board<'m>,
    /// Least loss each job can have on its own.
    floor: Vec<i64>,
    /// Jobs that lose more than their floor.
    pool: Vec<usize>,
    pool_position: Vec<usize>,
    /// How often a job ended in the pool.
    failures: Vec<i64>,
    /// (job, place before the move).
    undo: Vec<(usize, Option<Place>)>,
    energy: Vec<i64>,
    width: Vec<i64>,
    scratch: Vec<usize>,
}

const OUTSIDE: usize = usize::MAX;

impl<'b, 'm> Run<'b, 'm> {
    fn new(board: &'b mut Board<'m>) -> Self {
        let model = board.model;
        let mut run = Self {
            floor: model.jobs.iter().map(Job::least_loss).collect(),
            pool: Vec::new(),
            pool_position: vec![OUTSIDE; model.jobs.len()],
            failures: vec![0; model.jobs.len()],
            undo: Vec::new(),
            energy: model.jobs.iter().map(energy).collect(),
            width: model.jobs.iter().map(|job| width(job).max(1)).collect(),
            scratch: Vec::new(),
            board,
        };
        for job in 0..model.jobs.len() {
            run.refile(job);
        }
        run
    }

    fn go(&mut self, dice: &mut Dice, goal: i64, budget: &mut dyn Budget, mut heat: Heat) -> u64 {
        let mut best_loss = self.board.loss;
        let mut best = Best::of(self.board);
        let mut moves = 0_u64;
        while best_loss > goal && !self.pool.is_empty() {
            if moves.is_multiple_of(64) && budget.exhausted(moves) {
                break;
            }
            moves += 1;
            let before = self.board.loss;
            self.undo.clear();
            self.one_move(dice);
            let worse_by = self.board.loss - before;
            if worse_by > 0 && !heat.accepts(worse_by, dice) {
                self.back_to(0);
            } else if !self.undo.is_empty() {
                best.follow(&self.undo);
                if self.board.loss < best_loss {
                    best_loss = self.board.loss;
                    best.keep(self.board);
                    budget.improved(best_loss);
                }
            }
            heat.cool(moves);
        }
        best.restore(self.board);
        moves
    }

    fn one_move(&mut self, dice: &mut Dice) {
        let job = self.pick(dice);
        let Some((option, start)) = self.pick_start(job, dice) else { return };
        self.lift(job);
        if !self.make_room(job, option, start, dice) {
            self.back_to(0);
            return;
        }
        self.put(job, Place { option, start });
        let mut ejected: Vec<usize> = self.undo[1..].iter().map(|(job, _)| *job).collect();
        ejected.sort_by_cached_key(|job| {
            let jitter = i64::try_from(dice.below(4)).unwrap_or(0);
            std::cmp::Reverse(self.energy[*job] * (8 + jitter))
        });
        for victim in ejected {
            self.settle(victim, dice);
        }
        // The move may have opened holes: offer them to two others that wait.
        for _ in 0..2 {
            if self.pool.is_empty() {
                break;
            }
            let other = self.pool[dice.below(self.pool.len())];
            if self.board.places[other].is_none() {
                self.note(other);
                self.settle(other, dice);
            }
        }
    }

    /// A job of the pool: of two, the one with more to gain.
    fn pick(&self, dice: &mut Dice) -> usize {
        let first = self.pool[dice.below(self.pool.len())];
        let second = self.pool[dice.below(self.pool.len())];
        if dice.one_in(2) { first } else { std::cmp::max_by_key(first, second, |job| self.gain(*job)) }
    }

    fn gain(&self, job: usize) -> i64 {
        self.board.loss_of(job) - self.floor[job]
    }

    /// An option and a start with less loss than now: of a few random ones, the least overloaded.
    fn pick_start(&self, job: usize, dice: &mut Dice) -> Option<(usize, usize)> {
        let model_job = &self.board.model.jobs[job];
        let now = self.board.loss_of(job);
        let better = model_job.grades.iter().filter(|grade| grade.loss < now).count();
        if better == 0 {
            return None;
        }
        let grade = if better > 1 && dice.one_in(4) { dice.below(better) } else { 0 };
        let end_max = model_job.grades[grade].end_max;
        let mut best: Option<(i64, usize, usize)> = None;
        for _ in 0..STARTS_TRIED {
            let option = dice.below(model_job.options.len());
            let length = model_job.options[option].length;
            let Some(latest) = end_max.checked_sub(length) else { continue };
            if latest < model_job.release {
                continue;
            }
            let start = model_job.release + dice.below(latest - model_job.release + 1);
            let overload = self.board.overload(&model_job.options[option], start);
            if best.is_none_or(|(least, _, _)| overload < least) {
                best = Some((overload, option, start));
            }
            if overload == 0 {
                break;
            }
        }
        best.map(|(_, option, start)| (option, start))
    }

    /// Ejects until the option fits at the start.
    fn make_room(&mut self, job: usize, option: usize, start: usize, dice: &mut Dice) -> bool {
        let model = self.board.model;
        let option = &model.jobs[job].options[option];
        let end = start + option.length;
        for _ in 0..=EJECTED_MAX {
            let obstacle = option.uses.iter().find_map(|used| {
                let lane = &self.board.lanes[used.lane];
                lane.first_obstacle(used.path, used.amount, start, end).map(|at| (used.lane, at))
            });
            let Some((lane, slot)) = obstacle else { return true };
            if self.undo.len() > EJECTED_MAX {
                return false;
            }
            let Some(victim) = self.pick_victim(job, option.pool, lane, slot, dice) else { return false };
            self.lift(victim);
        }
        false
    }

    /// Of three random jobs that cover the slot on that lane, the one that costs least to eject.
    fn pick_victim(&mut self, job: usize, pool: usize, lane: usize, slot: usize, dice: &mut Dice) -> Option<usize> {
        let mut best: Option<(i64, usize)> = None;
        let mut looks = 0;
        for _ in 0..4 {
            let Some(candidate) = self.board.sample_covering(pool, slot, dice) else { continue };
            looks += 1;
            best = self.cheaper(best, candidate, job, lane);
        }
        if best.is_none() || looks < 2 {
            // Few jobs stand there: look at all of them.
            self.scratch.clear();
            let board = &self.board;
            self.scratch.extend(board.covering(pool, slot));
            for index in 0..self.scratch.len() {
                best = self.cheaper(best, self.scratch[index], job, lane);
            }
        }
        best.map(|(_, victim)| victim)
    }

    /// The cheaper to eject of the best so far and a candidate, if that is on the lane and not the job itself.
    fn cheaper(&self, best: Option<(i64, usize)>, candidate: usize, job: usize, lane: usize) -> Option<(i64, usize)> {
        let on_lane = candidate != job
            && self.board.places[candidate]
                .is_some_and(|place| self.board.option(candidate, place).uses.iter().any(|used| used.lane == lane));
        if !on_lane {
            return best;
        }
        let weight = self.board.model.jobs[candidate].worst_loss() - self.floor[candidate];
        // Per unit of width: one wide job makes more room than several narrow ones.
        let price = weight.saturating_mul(1 + self.failures[candidate]).saturating_mul(64) / self.width[candidate];
        match best {
            Some((least, _)) if least <= price => best,
            _ => Some((price, candidate)),
        }
    }

    /// Puts a waiting job wherever it loses least, starting the look at random; it stays waiting when nothing fits.
    fn settle(&mut self, job: usize, dice: &mut Dice) {
        let model_job = &self.board.model.jobs[job];
        for grade in &model_job.grades {
            if grade.loss >= model_job.worst_loss() && grade.loss > self.floor[job] {
                break;
            }
            let turn = dice.below(model_job.options.len());
            for step in 0..model_job.options.len() {
                let index = (turn + step) % model_job.options.len();
                let option = &model_job.options[index];
                let Some(latest) = grade.end_max.checked_sub(option.length) else { continue };
                if latest < model_job.release {
                    continue;
                }
                let found = match dice.below(4) {
                    0 => self.board.first_start(option, model_job.release, grade.end_max),
                    1 => self.board.last_start(option, model_job.release, grade.end_max),
                    _ => {
                        let pivot = model_job.release + dice.below(latest - model_job.release + 1);
                        self.board.first_start(option, pivot, grade.end_max).or_else(|| {
                            self.board.last_start(option, model_job.release, (pivot + option.length).min(grade.end_max))
                        })
                    }
                };
                if let Some(start) = found {
                    self.put(job, Place { option: index, start });
                    return;
                }
            }
        }
        self.failures[job] += 1;
    }

    fn note(&mut self, job: usize) {
        self.undo.push((job, self.board.places[job]));
    }

    fn lift(&mut self, job: usize) {
        self.note(job);
        self.board.lift(job);
        self.refile(job);
    }

    fn put(&mut self, job: usize, place: Place) {
        self.board.put(job, place);
        self.refile(job);
    }

    /// Keeps the pool in step with a job's loss.
    fn refile(&mut self, job: usize) {
        let belongs = self.board.loss_of(job) > self.floor[job];
        let position = self.pool_position[job];
        if belongs && position == OUTSIDE {
            self.pool_position[job] = self.pool.len();
            self.pool.push(job);
        } else if !belongs && position != OUTSIDE {
            self.pool.swap_remove(position);
            if let Some(moved) = self.pool.get(position) {
                self.pool_position[*moved] = position;
            }
            self.pool_position[job] = OUTSIDE;
        }
    }

    /// Takes back what was done since the notes were so many.
    fn back_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let Some((job, place)) = self.undo.pop() else { return };
            if self.board.places[job].is_some() {
                self.board.lift(job);
            }
            if let Some(place) = place {
                self.board.put(job, place);
            }
            self.refile(job);
        }
    }
}
