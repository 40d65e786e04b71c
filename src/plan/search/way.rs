//! Making way: work that loses something takes a place from which everybody who stands there can go elsewhere at once,
//! at no loss.
//!
//! Ruin and recreate finds such places by trial, and learns only slowly who can go and who cannot. A plan that is repaired
//! needs few of them, so they are looked for one by one: for each job that loses, its starts with the least in the way, and
//! of those the one that moves the fewest. Whoever gives way goes where there is room, or makes others give way in turn,
//! once, or pushes them along.

use std::cmp::Reverse;

use super::{Budget, Run};
use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;

/// Lowers the board's loss to `goal` or until the budget is spent, by letting in those who lose one by one, which moves
/// nobody at a loss; returns the moves made.
pub fn make_way(board: &mut Board<'_>, goal: i64, dice: &mut Dice, budget: &mut dyn Budget) -> u64 {
    let wishes = vec![None; board.places.len()];
    Run::new(board).make_way(&wishes, goal, dice, budget)
}

/// Starts of a job that are looked at, over all of its options.
const STARTS_SEEN: usize = 96;
/// Of these, so many with the least in the way are tried.
const STARTS_TRIED: usize = 24;
/// The same for somebody who has to give way and finds nothing free; and so many of them are tried.
const TRIED_NEXT: usize = 4;
/// So many give way to one job at first; twice as many with each round, for work that is wide or long.
const GIVING_FIRST: usize = 6;
/// Wider work is not let in this way.
const GIVING_MAX: usize = 64;
/// How often giving way may go on from one to the next.
const DEPTH: u8 = 2;
/// How far one pushes the next along, each as little as he must.
const PUSHES_MAX: u8 = 24;
/// Jobs moved for one that is let in, at most: more would rather be planned anew.
const TOUCHED_MAX: usize = 400;
/// Looks at who may go, for one start.
const LOOKS_MAX: u32 = 2_000;
/// How often those who still lose are looked at again.
const ROUNDS_MAX: usize = 10;
/// Of these, so many before anybody pushes: that moves many, and is the dearest to find.
const ROUNDS_IN_PLACE: usize = 2;

/// What is known and allowed in one round.
struct Hall {
    /// Who has been found unable to give way, by job: at which depth. Room only gets less.
    stuck: Vec<u8>,
    giving_max: usize,
    /// How far a push may be handed on.
    pushes: u8,
    /// Looks at who may go that are left for the start at hand.
    looks: u32,
    /// So many may be moved for it.
    touched_max: usize,
    /// One of the two has ended the look at that start.
    is_cut: bool,
}

/// What does not fit, and from where to where.
struct InTheWay {
    pool: usize,
    lane: usize,
    amount: i64,
    slot: usize,
    end: usize,
}

impl Run<'_, '_> {
    /// Lowers the loss towards `goal`, job by job, most loss and then most capacity first, and again with other starts
    /// while that is not reached; returns the moves made. A job with a wish is let in there rather than elsewhere.
    pub(super) fn make_way(
        &mut self,
        wishes: &[Option<Place>],
        goal: i64,
        dice: &mut Dice,
        budget: &mut dyn Budget,
    ) -> u64 {
        let (mut moves, mut giving_max) = (0, GIVING_FIRST);
        for round in 0..ROUNDS_MAX {
            let pushes = if round < ROUNDS_IN_PLACE { 0 } else { PUSHES_MAX };
            let stuck = vec![0; self.board.places.len()];
            let mut hall = Hall { stuck, giving_max, pushes, looks: 0, touched_max: 0, is_cut: false };
            // The same room once more, for other starts and others who go.
            giving_max = if round == 0 { giving_max } else { (giving_max * 2).min(GIVING_MAX) };
            let mut losing = self.pool.clone();
            losing.sort_by_key(|job| (Reverse(self.gain(*job)), Reverse(self.energy[*job]), *job));
            for job in losing {
                if self.board.loss <= goal || !self.let_in(job, wishes[job], &mut hall, &mut moves, dice, budget) {
                    return moves;
                }
            }
        }
        moves
    }

    /// Finds a place for a job where it loses less, the least first, if there is one; false when the budget is spent.
    fn let_in(
        &mut self,
        job: usize,
        wish: Option<Place>,
        hall: &mut Hall,
        moves: &mut u64,
        dice: &mut Dice,
        budget: &mut dyn Budget,
    ) -> bool {
        let (before, now) = (self.board.loss, self.board.loss_of(job));
        for grade in self.board.model.jobs[job].grades.iter().take_while(|grade| grade.loss < now) {
            let wish = wish.filter(|wish| wish.start + self.board.option(job, *wish).length <= grade.end_max);
            let mut best: Option<Vec<(usize, Place)>> = None;
            let tried = self.least_overloaded(job, grade.end_max, STARTS_SEEN, STARTS_TRIED, dice);
            for place in wish.into_iter().chain(tried) {
                if budget.exhausted(*moves) {
                    return false;
                }
                *moves += 1;
                self.undo.clear();
                self.lift(job);
                (hall.looks, hall.is_cut) = (LOOKS_MAX, false);
                hall.touched_max = best.as_ref().map_or(TOUCHED_MAX, Vec::len);
                if self.enter(job, place, DEPTH, hall, dice) && self.board.loss < before {
                    let way: Vec<_> =
                        self.undo.iter().filter_map(|(job, _)| Some((*job, self.board.places[*job]?))).collect();
                    if best.as_ref().is_none_or(|best| way.len() < best.len()) {
                        best = Some(way);
                    }
                }
                self.back_to(0);
                // Himself and one other: fewer there hardly are.
                if best.as_ref().is_some_and(|best| best.len() <= 2) {
                    break;
                }
            }
            if let Some(way) = best {
                for (job, _) in &way {
                    self.lift(*job);
                }
                for (job, place) in way {
                    self.put(job, place);
                }
                self.undo.clear();
                return true;
            }
        }
        true
    }

    /// Places of a job that end by `end_max`: of some over the whole range, those with the least in the way, in order.
    fn least_overloaded(&self, job: usize, end_max: usize, seen: usize, tried: usize, dice: &mut Dice) -> Vec<Place> {
        let model_job = &self.board.model.jobs[job];
        let each = seen.div_ceil(model_job.options.len().max(1));
        let mut places: Vec<(i64, Place)> = Vec::new();
        for (index, option) in model_job.options.iter().enumerate() {
            let Some(latest) = end_max.checked_sub(option.length).filter(|latest| *latest >= model_job.release) else {
                continue;
            };
            let stride = (latest - model_job.release + 1).div_ceil(each).max(1);
            let first = model_job.release + dice.below(stride.min(latest - model_job.release + 1));
            for start in (first..=latest).step_by(stride) {
                places.push((self.board.overload(option, start), Place { option: index, start }));
            }
        }
        places.sort_unstable();
        places.truncate(tried);
        places.into_iter().map(|(_, place)| place).collect()
    }

    /// Puts a job that has no place, and everybody in the way elsewhere; on false some of that may have been done.
    fn enter(&mut self, job: usize, place: Place, depth: u8, hall: &mut Hall, dice: &mut Dice) -> bool {
        for _ in 0..=hall.giving_max {
            let Some(way) = self.in_the_way(job, place) else {
                self.put(job, place);
                return true;
            };
            let candidates = self.candidates(&way, depth, hall, dice);
            let goes = (1..=depth).any(|depth| {
                let most = if depth == 1 { candidates.len() } else { candidates.len().min(TRIED_NEXT) };
                candidates[..most].iter().any(|other| self.make_go(*other, (job, place), depth, hall, dice))
            });
            if !goes {
                return false;
            }
        }
        false
    }

    /// The first slot where a job does not fit.
    fn in_the_way(&self, job: usize, place: Place) -> Option<InTheWay> {
        let option = self.board.option(job, place);
        let end = place.start + option.length;
        option.uses.iter().find_map(|used| {
            let lane = &self.board.lanes[used.lane];
            let slot = lane.first_obstacle(used.path, used.amount, place.start, end)?;
            Some(InTheWay { pool: option.pool, lane: used.lane, amount: used.amount, slot, end })
        })
    }

    /// Who stands on the lane and slot and may go: by a little chance first who has least to place elsewhere for the room that he
    /// makes, and of those who makes most.
    fn candidates(&self, way: &InTheWay, depth: u8, hall: &Hall, dice: &mut Dice) -> Vec<usize> {
        let board = &self.board;
        let mut candidates: Vec<(i64, Reverse<i64>, usize)> = Vec::new();
        for other in board.covering(way.pool, way.slot) {
            let Some(place) = board.places[other].filter(|_| hall.stuck[other] < depth) else { continue };
            let option = board.option(other, place);
            let Some(on_lane) = option.uses.iter().find(|used| used.lane == way.lane) else { continue };
            if self.undo.iter().any(|(touched, _)| *touched == other) {
                continue;
            }
            let overlap = (place.start + option.length).min(way.end).saturating_sub(way.slot);
            let room = on_lane.amount.min(way.amount).saturating_mul(i64::try_from(overlap).unwrap_or(1)).max(1);
            let chance = 8 + i64::try_from(dice.below(8)).unwrap_or(0);
            candidates.push((self.energy[other].saturating_mul(chance) / room, Reverse(room), other));
        }
        candidates.sort_unstable();
        candidates.into_iter().map(|(_, _, other)| other).collect()
    }

    /// Moves somebody out of the way of a job at a place; where he finds no other, he stays and is known for it.
    fn make_go(
        &mut self,
        other: usize,
        (job, place): (usize, Place),
        depth: u8,
        hall: &mut Hall,
        dice: &mut Dice,
    ) -> bool {
        hall.is_cut |= hall.looks == 0 || self.undo.len() + 1 >= hall.touched_max;
        if hall.stuck[other] >= depth || hall.is_cut {
            return false;
        }
        hall.looks -= 1;
        let (mark, loss) = (self.undo.len(), self.board.loss_of(other));
        let Some(was) = self.board.places[other] else { return false };
        self.lift(other);
        // The job holds its place meanwhile, though others still stand there.
        self.board.put(job, place);
        let end = place.start + self.board.option(job, place).length;
        let goes = self.go_elsewhere(other, loss, depth - 1, hall, dice)
            || self.push_behind(other, was, end, loss, hall, dice);
        self.board.lift(job);
        if !goes {
            self.back_to(mark);
            // Where a limit ended the look, nobody is known to be stuck.
            if !hall.is_cut {
                hall.stuck[other] = depth;
            }
        }
        goes
    }

    /// Places a job that gave way, where it loses no more than it did.
    fn go_elsewhere(&mut self, job: usize, loss: i64, depth: u8, hall: &mut Hall, dice: &mut Dice) -> bool {
        let model_job = &self.board.model.jobs[job];
        let end_max = model_job.end_max_for(loss);
        let free = model_job.options.iter().enumerate().filter_map(|(index, option)| {
            let start = self.board.first_start(option, model_job.release, end_max)?;
            Some((start + option.length, Place { option: index, start }))
        });
        if let Some((_, place)) = free.min() {
            self.put(job, place);
            return true;
        }
        if depth == 0 {
            return false;
        }
        for place in self.least_overloaded(job, end_max, STARTS_SEEN / 2, TRIED_NEXT, dice) {
            let mark = self.undo.len();
            if self.enter(job, place, depth, hall, dice) {
                return true;
            }
            self.back_to(mark);
        }
        false
    }

    /// Places a job that gave way right behind `end`, and pushes on who stands there, where nobody loses by it.
    fn push_behind(&mut self, job: usize, was: Place, end: usize, loss: i64, hall: &mut Hall, dice: &mut Dice) -> bool {
        let model_job = &self.board.model.jobs[job];
        let in_time = end + model_job.options[was.option].length <= model_job.end_max_for(loss);
        if hall.pushes == 0 || was.start >= end || !in_time {
            return false;
        }
        hall.pushes -= 1;
        let pushed = self.enter(job, Place { start: end, ..was }, 1, hall, dice);
        hall.pushes += 1;
        pushed
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
