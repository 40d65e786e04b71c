//! Making way: work that loses something takes a place from which those who stand there can go elsewhere at no loss.
//!
//! Ruin and recreate finds such places by trial, and learns only slowly who can go and who cannot. A plan that is repaired
//! needs few of them, so they are looked for one by one: for each job that loses, where it wishes to stand and at the starts
//! with the least in the way; first where one other moves for it, then where three do, and so on. So hardly more move than
//! must. Who moves, and where to, is found by `squeeze`.
//!
//! Whoever needs many to move, because he is wide or long, finds even more in his way when all others have taken what room
//! there is. So where a round leaves somebody out, it is taken back, and he comes first; and while more moved than had no
//! place, another round may move fewer.

use std::cmp::Reverse;

use super::{Budget, Run};
use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;

/// Lowers the board's loss to `goal` or until the budget is spent, by letting in those who lose one by one, which moves
/// nobody at a loss; returns the moves made.
pub fn make_way(board: &mut Board<'_>, goal: i64, dice: &mut Dice, budget: &mut dyn Budget) -> u64 {
    let wishes = vec![None; board.places.len()];
    Run::new(board).make_way(&wishes, Tries { to_let_in: 1, to_move_few: 1, to_move_some: 1 }, goal, dice, budget)
}

/// Starts of a job that are looked at, over all of its options.
const STARTS_SEEN: usize = 96;
/// Of these, so many with the least in the way are tried, beside its wish: more take longer and hardly move fewer.
const STARTS_TRIED: usize = 2;
/// Jobs touched for one that is let in, itself included: at first, then twice as many, and so on.
const TOUCHED_FIRST: usize = 2;
/// So many in the round that may be taken back.
const TOUCHED_FEW: usize = 16;
/// And at most: more would rather be planned anew.
const TOUCHED_MAX: usize = 256;

/// How often making way may begin anew, with those first who were left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tries {
    /// While somebody is left out.
    pub(super) to_let_in: usize,
    /// While more moved than had no place.
    pub(super) to_move_few: usize,
    /// While twice as many moved.
    pub(super) to_move_some: usize,
}

/// What those who are let in go by, and the moves it took.
pub(super) struct Hall<'a> {
    /// Where each was promised to stand, if at all.
    pub(super) wishes: &'a [Option<Place>],
    goal: i64,
    pub(super) moves: u64,
    pub(super) dice: &'a mut Dice,
    budget: &'a mut dyn Budget,
}

impl Run<'_, '_> {
    /// Lowers the loss towards `goal`, and returns the moves made. A job with a wish is let in there if that moves no more.
    /// Of all tries the one counts that leaves the least loss, and of those the one that moves the fewest.
    pub(super) fn make_way(
        &mut self,
        wishes: &[Option<Place>],
        tries: Tries,
        goal: i64,
        dice: &mut Dice,
        budget: &mut dyn Budget,
    ) -> u64 {
        let before = self.board.places.clone();
        let nowhere = before.iter().filter(|place| place.is_none()).count();
        let mut hall = Hall { wishes, goal, moves: 0, dice, budget };
        // Whoever was ever left out, the latest first.
        let mut first: Vec<usize> = Vec::new();
        let mut best: Option<((i64, usize), Vec<Option<Place>>)> = None;
        for tried in 1..=tries.to_let_in {
            let left_out = self.one_try(&first, tried < tries.to_let_in, &mut hall);
            let places = self.board.places.iter().zip(wishes);
            let moved = places.filter(|(place, wish)| wish.is_some() && *place != *wish).count();
            let state = (self.board.loss.max(goal), moved);
            let (least, places) = best.get_or_insert_with(|| (state, self.board.places.clone()));
            if state < *least {
                (*least, *places) = (state, self.board.places.clone());
            }
            let enough = match least.1 {
                moved if moved <= nowhere => 1,
                moved if moved <= 2 * nowhere => tries.to_move_few,
                _ => tries.to_move_some,
            };
            let is_done = if least.0 <= goal { tried >= enough } else { left_out.is_empty() };
            if is_done || tried == tries.to_let_in || hall.budget.exhausted(hall.moves) {
                break;
            }
            first.retain(|job| !left_out.contains(job));
            first.splice(0..0, left_out);
            self.stand_as(&before);
        }
        if let Some((_, places)) = best {
            self.stand_as(&places);
        }
        hall.moves
    }

    /// Lets in those who come first, then all others; returns who was left out though it need not be.
    fn one_try(&mut self, first: &[usize], may_be_again: bool, hall: &mut Hall<'_>) -> Vec<usize> {
        for job in first {
            self.let_all_in(vec![*job], TOUCHED_MAX, hall);
        }
        if first.is_empty() && may_be_again {
            self.let_all_in(self.losing(hall.wishes), TOUCHED_FEW, hall);
            let left_out = self.left_out(hall.wishes);
            if !left_out.is_empty() {
                return left_out;
            }
        }
        self.let_all_in(self.losing(hall.wishes), TOUCHED_MAX, hall);
        self.left_out(hall.wishes)
    }

    /// Who loses something that it need not lose, in the order of `losing`.
    fn left_out(&self, wishes: &[Option<Place>]) -> Vec<usize> {
        let mut losing = self.losing(wishes);
        losing.retain(|job| wishes[*job].is_none() || self.owed(*job, wishes) > 0);
        losing
    }

    fn stand_as(&mut self, places: &[Option<Place>]) {
        self.board.rearrange(places);
        (0..places.len()).for_each(|job| self.refile(job));
    }

    /// Who loses something: by what he was promised and loses, then by loss, then by capacity.
    fn losing(&self, wishes: &[Option<Place>]) -> Vec<usize> {
        let mut losing = self.pool.clone();
        losing.sort_by_key(|job| {
            (Reverse(self.owed(*job, wishes)), Reverse(self.gain(*job)), Reverse(self.energy[*job]), *job)
        });
        losing
    }

    /// What a job loses that it would not lose where it wishes to stand.
    fn owed(&self, job: usize, wishes: &[Option<Place>]) -> i64 {
        let there = |wish: Place| self.board.model.jobs[job].loss_at(wish.start + self.board.option(job, wish).length);
        wishes[job].map_or(0, |wish| self.board.loss_of(job) - there(wish))
    }

    /// Lets in one after the other, whoever moves the fewest first, until no more is lost than may be or the budget is spent.
    fn let_all_in(&mut self, mut losing: Vec<usize>, touched_max: usize, hall: &mut Hall<'_>) {
        let mut touched = TOUCHED_FIRST;
        while touched <= touched_max {
            losing.retain(|job| self.gain(*job) > 0);
            for job in &losing {
                if self.board.loss <= hall.goal || hall.budget.exhausted(hall.moves) {
                    return;
                }
                self.let_in(*job, touched, hall);
            }
            touched *= 2;
        }
    }

    /// Finds a place for a job where it loses less, the least first, if there is one for which no more are touched.
    fn let_in(&mut self, job: usize, touched_max: usize, hall: &mut Hall<'_>) {
        let now = self.board.loss_of(job);
        self.undo.clear();
        self.lift(job);
        for grade in self.board.model.jobs[job].grades.iter().take_while(|grade| grade.loss < now) {
            for place in self.places_worth_trying(job, grade.end_max, hall) {
                hall.moves += 1;
                if self.squeeze_in(job, place, touched_max, hall) {
                    return;
                }
                self.back_to(1);
                // It was put on the board, which is not noted.
                self.board.lift(job);
                self.refile(job);
            }
        }
        self.back_to(0);
    }

    /// A free place that ends by `end_max`, or the wish and a few with the least in the way.
    fn places_worth_trying(&self, job: usize, end_max: usize, hall: &mut Hall<'_>) -> Vec<Place> {
        if let Some(place) = self.free_place(job, end_max) {
            return vec![place];
        }
        let wish = hall.wishes[job].filter(|wish| wish.start + self.board.option(job, *wish).length <= end_max);
        wish.into_iter().chain(self.least_overloaded(job, end_max, hall.dice)).collect()
    }

    /// The earliest place that ends by `end_max` and moves nobody, of the first option that has one.
    pub(super) fn free_place(&self, job: usize, end_max: usize) -> Option<Place> {
        let model_job = &self.board.model.jobs[job];
        model_job.options.iter().enumerate().find_map(|(index, option)| {
            let start = self.board.first_start(option, model_job.release, end_max)?;
            Some(Place { option: index, start })
        })
    }

    /// Places of a job that end by `end_max`: of some over the whole range, those with the least in the way, in order.
    fn least_overloaded(&self, job: usize, end_max: usize, dice: &mut Dice) -> Vec<Place> {
        let model_job = &self.board.model.jobs[job];
        let each = STARTS_SEEN.div_ceil(model_job.options.len().max(1));
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
        places.truncate(STARTS_TRIED);
        places.into_iter().map(|(_, place)| place).collect()
    }
}
