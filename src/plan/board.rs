//! Where every job stands during a search: placements, what they take from the lanes, and who stands where.

use crate::plan::dice::Dice;
use crate::plan::lane::Lane;
use crate::plan::model::{Job, JobOption, Model};

/// An option and a start slot, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Index into the job's options (not the workload's).
    pub option: usize,
    pub start: usize,
}

#[derive(Debug, Clone)]
pub struct Board<'m> {
    pub model: &'m Model,
    pub lanes: Vec<Lane>,
    pub places: Vec<Option<Place>>,
    /// Packed losses of all jobs as they stand; a job without a place has its worst loss.
    pub loss: i64,
    /// Jobs by pool and start slot.
    starts: Vec<Vec<Vec<u32>>>,
    /// A job's position in its bucket of `starts`.
    positions: Vec<usize>,
    /// Longest option per pool: how far back a job that covers a slot may have started.
    lengths_max: Vec<usize>,
}

impl<'m> Board<'m> {
    #[must_use]
    pub fn empty(model: &'m Model) -> Self {
        let pools = model.jobs.iter().flat_map(|job| &job.options).map(|option| option.pool + 1).max().unwrap_or(1);
        let mut lengths_max = vec![1; pools];
        for option in model.jobs.iter().flat_map(|job| &job.options) {
            lengths_max[option.pool] = lengths_max[option.pool].max(option.length);
        }
        Self {
            model,
            lanes: model.lanes.clone(),
            places: vec![None; model.jobs.len()],
            loss: model.jobs.iter().map(Job::worst_loss).sum(),
            starts: vec![vec![Vec::new(); model.slots() + 1]; pools],
            positions: vec![0; model.jobs.len()],
            lengths_max,
        }
    }

    /// Jobs at these places, whether they fit or not.
    #[must_use]
    pub fn standing(model: &'m Model, places: &[Option<Place>]) -> Self {
        let mut board = Self::empty(model);
        board.rearrange(places);
        board
    }

    /// To these places from wherever jobs are: lifts whoever stands elsewhere, then puts him there.
    pub fn rearrange(&mut self, places: &[Option<Place>]) {
        let differing: Vec<usize> = (0..places.len()).filter(|job| self.places[*job] != places[*job]).collect();
        for job in &differing {
            self.lift(*job);
        }
        for job in differing {
            if let Some(place) = places[job] {
                self.put(job, place);
            }
        }
    }

    #[must_use]
    #[inline]
    pub fn option(&self, job: usize, place: Place) -> &'m JobOption {
        &self.model.jobs[job].options[place.option]
    }

    /// The packed loss of a job as it stands.
    #[must_use]
    #[inline]
    pub fn loss_of(&self, job: usize) -> i64 {
        let model_job = &self.model.jobs[job];
        match self.places[job] {
            Some(place) => model_job.loss_at(place.start + model_job.options[place.option].length),
            None => model_job.worst_loss(),
        }
    }

    #[must_use]
    #[inline]
    pub fn fits(&self, option: &JobOption, start: usize) -> bool {
        let end = start + option.length;
        option.uses.iter().all(|used| self.lanes[used.lane].fits(used.path, used.amount, start, end))
    }

    /// Puts a job that has no place; the caller has checked that it fits.
    #[inline]
    pub fn put(&mut self, job: usize, place: Place) {
        debug_assert!(self.places[job].is_none(), "a job is put once");
        self.loss -= self.loss_of(job);
        let option = self.option(job, place);
        for used in &option.uses {
            self.lanes[used.lane].take(used.path, used.amount, place.start, place.start + option.length);
        }
        let bucket = &mut self.starts[option.pool][place.start];
        self.positions[job] = bucket.len();
        bucket.push(u32::try_from(job).expect("jobs are counted in u32"));
        self.places[job] = Some(place);
        self.loss += self.loss_of(job);
    }

    /// Takes a job off the board.
    #[inline]
    pub fn lift(&mut self, job: usize) -> Option<Place> {
        let place = self.places[job]?;
        self.loss -= self.loss_of(job);
        let option = self.option(job, place);
        for used in &option.uses {
            self.lanes[used.lane].take(used.path, -used.amount, place.start, place.start + option.length);
        }
        let bucket = &mut self.starts[option.pool][place.start];
        let position = self.positions[job];
        bucket.swap_remove(position);
        if let Some(moved) = bucket.get(position) {
            self.positions[*moved as usize] = position;
        }
        self.places[job] = None;
        self.loss += self.loss_of(job);
        Some(place)
    }

    /// The earliest start in `from..` that fits and ends by `end_max`.
    #[must_use]
    #[inline]
    pub fn first_start(&self, option: &JobOption, from: usize, end_max: usize) -> Option<usize> {
        let mut start = from;
        'search: while start + option.length <= end_max {
            for used in &option.uses {
                let lane = &self.lanes[used.lane];
                if let Some(at) = lane.last_obstacle(used.path, used.amount, start, start + option.length) {
                    start = at + 1;
                    continue 'search;
                }
            }
            return Some(start);
        }
        None
    }

    /// The latest start down to `from` that fits and ends by `end_max`.
    #[must_use]
    #[inline]
    pub fn last_start(&self, option: &JobOption, from: usize, end_max: usize) -> Option<usize> {
        let mut start = end_max.checked_sub(option.length)?;
        'search: while start >= from {
            for used in &option.uses {
                let lane = &self.lanes[used.lane];
                if let Some(at) = lane.first_obstacle(used.path, used.amount, start, start + option.length) {
                    start = at.checked_sub(option.length)?;
                    continue 'search;
                }
            }
            return Some(start);
        }
        None
    }

    /// How many pools there are.
    #[must_use]
    pub fn pools(&self) -> usize {
        self.starts.len()
    }

    /// Jobs of a pool that cover a slot.
    pub fn covering(&self, pool: usize, slot: usize) -> impl Iterator<Item = usize> + '_ {
        let from = (slot + 1).saturating_sub(self.lengths_max[pool]);
        self.starts[pool][from..=slot].iter().enumerate().flat_map(move |(offset, bucket)| {
            let start = from + offset;
            bucket.iter().filter_map(move |job| {
                let job = *job as usize;
                let place = self.places[job]?;
                (start + self.option(job, place).length > slot).then_some(job)
            })
        })
    }

    /// A job that covers a slot, by chance: `None` when a few looks found none, which says nothing.
    #[must_use]
    pub fn sample_covering(&self, pool: usize, slot: usize, dice: &mut Dice) -> Option<usize> {
        let reach = self.lengths_max[pool].min(slot + 1);
        for _ in 0..8 {
            // Short runtimes are common, so looks are denser near the slot.
            let back = dice.below(reach);
            let back = if dice.one_in(2) { back / 4 } else { back };
            let start = slot - back;
            let bucket = &self.starts[pool][start];
            if bucket.is_empty() {
                continue;
            }
            let job = bucket[dice.below(bucket.len())] as usize;
            if let Some(place) = self.places[job]
                && start + self.option(job, place).length > slot
            {
                return Some(job);
            }
        }
        None
    }

    /// How much an option would overload its lanes at a start: summed over slots and rows.
    #[must_use]
    #[inline]
    pub fn overload(&self, option: &JobOption, start: usize) -> i64 {
        let end = start + option.length;
        let mut sum = 0;
        for used in &option.uses {
            let lane = &self.lanes[used.lane];
            let path = &lane.paths[used.path].1;
            for row in path.flat.iter().chain(&path.chain) {
                for free in &lane.rows[*row].free[start..end] {
                    sum += (used.amount - *free).max(0);
                }
            }
        }
        sum
    }
}
