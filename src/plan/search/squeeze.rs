//! Squeezing in: a job takes a place that is full, and of those who stand there some move on, until everybody fits.
//!
//! An ejection chain in which nobody is ever without a place. Where a job does not fit, one of those who stand there moves:
//! the one who makes the most room for the least that his new place lacks, which is made in turn. Often that is right behind or
//! right before what is full, since there he takes little that was not his before. Each moves once, to where he loses no
//! more than he did, so a chain ends.

use std::collections::VecDeque;

use super::Run;
use super::way::Hall;
use crate::plan::board::Place;

/// Places by chance that are looked at, beside those next to what is full.
const BY_CHANCE: usize = 2;
/// Looks at who may go that take as long as a move of the search.
const LOOKS_PER_MOVE: usize = 16;

/// Where a job does not fit: the first such slots, `from..to`, of a lane.
struct Full {
    pool: usize,
    lane: usize,
    from: usize,
    to: usize,
}

/// Somebody who may go, and where he stands.
#[derive(Clone, Copy)]
struct Candidate {
    job: usize,
    place: Place,
}

/// Where he goes, at what cost, and how much of the excess that mends.
struct Step {
    job: usize,
    place: Place,
    cost: i128,
    mended: i128,
}

impl Run<'_, '_> {
    /// Puts a job that has been lifted at a place, and others elsewhere until all fit, as long as no more than so many are
    /// touched; on false some of that may have been done. Whoever is not where he wishes is moved before others are.
    pub(super) fn squeeze_in(&mut self, job: usize, place: Place, touched_max: usize, hall: &mut Hall<'_>) -> bool {
        self.put(job, place);
        let mut unsure = VecDeque::from([job]);
        while let Some(job) = unsure.front().copied() {
            let Some(full) = self.first_full(job) else {
                unsure.pop_front();
                continue;
            };
            if self.undo.len() >= touched_max {
                return false;
            }
            let Some(step) = self.next_step(job, &full, hall) else { return false };
            self.lift(step.job);
            self.put(step.job, step.place);
            unsure.push_back(step.job);
        }
        true
    }

    /// The first slots where a job on the board does not fit beside all others.
    fn first_full(&mut self, job: usize) -> Option<Full> {
        let place = self.board.lift(job)?;
        let option = self.board.option(job, place);
        let end = place.start + option.length;
        let full = option.uses.iter().find_map(|used| {
            let lane = &self.board.lanes[used.lane];
            let from = lane.first_obstacle(used.path, used.amount, place.start, end)?;
            let fits = |at: &usize| lane.fits(used.path, used.amount, *at, *at + 1);
            let to = (from + 1..end).find(fits).unwrap_or(end);
            Some(Full { pool: option.pool, lane: used.lane, from, to })
        });
        self.board.put(job, place);
        full
    }

    /// Who goes first for a job that does not fit there, and where to.
    fn next_step(&mut self, job: usize, full: &Full, hall: &mut Hall<'_>) -> Option<Step> {
        let (candidates, typical) = self.candidates(job, full);
        hall.moves += u64::try_from(candidates.len().div_ceil(LOOKS_PER_MOVE)).unwrap_or(1);
        let excess = self.excess(job, full);
        let mut best: Option<Step> = None;
        for Candidate { job: other, place: was } in candidates {
            let end_max = self.board.model.jobs[other].end_max_for(self.board.loss_of(other));
            self.board.lift(other);
            let mended = excess - self.excess(job, full);
            let places = if mended > 0 { self.ways_out(other, was, end_max, full, hall) } else { Vec::new() };
            let wish = hall.wishes[other];
            for place in places {
                let lacking = i128::from(self.board.overload(self.board.option(other, place), place.start));
                // One more away from where he wishes weighs as much as what a typical job takes of a slot.
                let away = match wish {
                    Some(wish) if place == wish => 0,
                    Some(wish) if was != wish => typical / 8,
                    _ => typical,
                };
                let chance = 8 + i128::try_from(hall.dice.below(4)).unwrap_or(0);
                let cost = (away + lacking) * chance;
                if best.as_ref().is_none_or(|best| cost * best.mended < best.cost * mended) {
                    best = Some(Step { job: other, place, cost, mended });
                }
            }
            self.board.put(other, was);
        }
        best
    }

    /// Who may go, of alike jobs at one place only one, and what they take of a slot on average.
    fn candidates(&self, job: usize, full: &Full) -> (Vec<Candidate>, i128) {
        let board = &self.board;
        let mut found: Vec<(usize, Place, usize, i64)> = Vec::new();
        for other in board.covering(full.pool, full.from) {
            let Some(place) = board.places[other] else { continue };
            let on_lane = board.option(other, place).uses.iter().find(|used| used.lane == full.lane);
            if let Some(used) = on_lane
                && other != job
                && self.undo.iter().all(|(touched, _)| *touched != other)
            {
                found.push((board.model.jobs[other].class, place, other, used.amount));
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(class, place, _, _)| (*class, *place));
        let sum: i128 = found.iter().map(|(_, _, _, amount)| i128::from(*amount)).sum();
        let typical = sum / i128::try_from(found.len().max(1)).unwrap_or(1);
        let candidates = found.into_iter().map(|(_, place, job, _)| Candidate { job, place });
        (candidates.collect(), typical.max(1))
    }

    /// What too much is taken there of the rows that a job on the board uses.
    fn excess(&self, job: usize, full: &Full) -> i128 {
        let Some(place) = self.board.places[job] else { return 0 };
        let uses = &self.board.option(job, place).uses;
        let of = |path: usize| {
            let lane = &self.board.lanes[full.lane];
            let rows = lane.paths[path].1.flat.iter().chain(&lane.paths[path].1.chain);
            rows.flat_map(|row| &lane.rows[*row].free[full.from..full.to]).map(|free| i128::from((-*free).max(0))).sum()
        };
        uses.iter().find(|used| used.lane == full.lane).map_or(0, |used| of(used.path))
    }

    /// Where somebody could go at no loss: where there is room, or else a few places that do not touch what is full.
    fn ways_out(&self, job: usize, was: Place, end_max: usize, full: &Full, hall: &mut Hall<'_>) -> Vec<Place> {
        if let Some(place) = self.free_place(job, end_max) {
            return vec![place];
        }
        let model_job = &self.board.model.jobs[job];
        let length = model_job.options[was.option].length;
        let behind = Some(full.to).filter(|start| start + length <= end_max);
        let before = full.from.checked_sub(length).filter(|start| *start >= model_job.release);
        let beside = behind.into_iter().chain(before).map(|start| Place { start, ..was });
        let by_chance = (0..BY_CHANCE).filter_map(|_| {
            let option = hall.dice.below(model_job.options.len());
            let latest = end_max.checked_sub(model_job.options[option].length)?;
            let starts = (latest + 1).checked_sub(model_job.release).filter(|starts| *starts > 0)?;
            Some(Place { option, start: model_job.release + hall.dice.below(starts) })
        });
        let is_clear = |place: &Place| {
            let end = place.start + model_job.options[place.option].length;
            place.option != was.option || end <= full.from || full.to <= place.start
        };
        let wish = hall.wishes[job].filter(|wish| *wish != was);
        let elsewhere = wish.into_iter().chain(by_chance).filter(is_clear);
        beside.chain(elsewhere).collect()
    }
}
