//! The search's view of a snapshot: slots, lanes, and jobs as small integers.
//!
//! One model is built per rounding (see `grid`). A job's losses are packed into one integer, hard before soft, with a base
//! that no sum of soft losses reaches: comparing packed losses is comparing the two levels in order, exactly.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::plan::grid::{Grid, Rounding};
use crate::plan::lane::{ExactLanes, Lane, Row};
use crate::plan::snapshot::{Due, Interruption, NodeId, Policy, Snapshot};
use crate::units::{Seconds, Timestamp};

#[derive(Debug, Clone)]
pub struct Model {
    pub grid: Grid,
    pub lanes: Vec<Lane>,
    pub jobs: Vec<Job>,
    /// Jobs that are alike in everything the search sees share a class.
    pub classes: usize,
    /// `hard * soft_base + soft` packs two levels into one integer.
    pub soft_base: i64,
}

#[derive(Debug, Clone)]
pub struct Job {
    /// Index into `Snapshot::workloads`.
    pub workload: usize,
    pub release: usize,
    pub options: Vec<JobOption>,
    /// Ascending by `end_max`, with growing losses. The last grade's `end_max` is the grid's end.
    pub grades: Vec<Grade>,
    /// Loss of a job that has no place on the grid: it will end after it.
    pub outside: i64,
    /// What `outside` holds beyond the loss, because the job fits only before the last change of capacity: without a place
    /// on the grid it might find none at all.
    pub narrow: i64,
    /// Weight in the completion level; 0 outside the objective.
    pub weight: i64,
    pub class: usize,
    /// Most pieces it may be split into, and the slots that each further piece costs.
    pub split: Option<Split>,
}

#[derive(Debug, Clone)]
pub struct JobOption {
    /// Index into the workload's options.
    pub option: usize,
    /// Slots it holds its resources for.
    pub length: usize,
    pub uses: Vec<Use>,
    /// Which group of lanes it lives in: conflicts are looked for there.
    pub pool: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Use {
    pub lane: usize,
    pub path: usize,
    pub amount: i64,
}

/// Up to which end (in slots, inclusive) which loss is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grade {
    pub end_max: usize,
    pub loss: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Split {
    pub pieces_max: usize,
    pub cost: Seconds,
}

impl Model {
    /// `included(workload, option)` gives the uses, in terms of the exact lanes, of what takes part; a workload without any
    /// option does not.
    #[must_use]
    pub fn of<'u>(
        snapshot: &Snapshot,
        policy: &Policy,
        exact: &ExactLanes,
        grid: Grid,
        rounding: Rounding,
        included: &dyn Fn(usize, usize) -> Option<&'u Vec<Use>>,
    ) -> Self {
        let lanes: Vec<Lane> =
            exact.lanes.iter().zip(&exact.times).map(|(lane, times)| on_grid(lane, times, grid, rounding)).collect();
        let pools = pools(snapshot, &lanes);
        let soft_sum: i64 = snapshot
            .workloads
            .iter()
            .map(|workload| workload.losses_at(Timestamp(i64::MAX / 2)).soft)
            .fold(0, i64::saturating_add);
        let soft_base = soft_sum.saturating_add(1);
        let mut classes = Classes::default();
        let mut jobs: Vec<Job> = Vec::with_capacity(snapshot.workloads.len());
        for (index, workload) in snapshot.workloads.iter().enumerate() {
            let earliest = workload.earliest_start.max(snapshot.now);
            let release = match rounding {
                Rounding::Conservative => grid.ceil(earliest),
                Rounding::Optimistic => grid.floor(earliest),
            };
            let release = usize::try_from(release).unwrap_or(0);
            let options: Vec<JobOption> = workload
                .options
                .iter()
                .enumerate()
                .filter_map(|(option, run)| {
                    let uses = included(index, option)?.clone();
                    let length = usize::try_from(grid.length(run.held(policy.promise), rounding)).unwrap_or(1);
                    let pool = uses.first().map_or(0, |first| pools[first.lane]);
                    Some(JobOption { option, length, uses, pool })
                })
                .collect();
            if options.is_empty() {
                continue;
            }
            let options = without_dominated(options);
            let grades = grades(workload.due.as_ref(), grid, rounding, |end| {
                let losses = workload.losses_at(end);
                losses.hard.saturating_mul(soft_base).saturating_add(losses.soft)
            });
            let beyond = workload.losses_at(grid.instant(i64::try_from(grid.slots).unwrap_or(i64::MAX)) + Seconds(1));
            let outside = beyond.hard.saturating_mul(soft_base).saturating_add(beyond.soft);
            let weight = if policy.in_objective(workload) { workload.value } else { 0 };
            let split = match workload.interruption {
                Interruption::Checkpointable { interval, cost, max } if max > 0 => {
                    Some(Split { pieces_max: usize::try_from(max).unwrap_or(1).min(7) + 1, cost: cost + interval })
                }
                _ => None,
            };
            let mut job =
                Job { workload: index, release, options, grades, outside, narrow: 0, weight, class: 0, split };
            job.class = classes.of(&job, workload.queue, snapshot, &jobs);
            jobs.push(job);
        }
        Self { grid, lanes, jobs, classes: classes.count, soft_base }
    }

    /// Makes leaving a job of these workloads off the board dearer than any loss.
    pub fn insist_on(&mut self, narrow: &dyn Fn(usize) -> bool) {
        let values: i64 = self.jobs.iter().map(|job| job.worst_loss() / self.soft_base).sum();
        let price = self.soft_base.saturating_mul(values.saturating_add(1));
        for job in self.jobs.iter_mut().filter(|job| narrow(job.workload)) {
            job.narrow = price;
            job.outside = job.outside.saturating_add(price);
        }
    }

    #[must_use]
    pub fn slots(&self) -> usize {
        self.grid.slots
    }

    /// (hard, soft) of a packed loss.
    #[must_use]
    pub fn unpack(&self, loss: i64) -> (i64, i64) {
        (loss / self.soft_base, loss % self.soft_base)
    }
}

impl Job {
    /// The loss of an end at `end` (slots).
    #[must_use]
    #[inline]
    pub fn loss_at(&self, end: usize) -> i64 {
        self.grades.iter().find(|grade| end <= grade.end_max).map_or(self.worst_loss(), |grade| grade.loss)
    }

    /// The loss of having no place on the grid.
    #[must_use]
    #[inline]
    pub fn worst_loss(&self) -> i64 {
        self.outside
    }

    /// The least loss it can have, alone on an empty board.
    #[must_use]
    pub fn least_loss(&self) -> i64 {
        self.options.iter().map(|option| self.loss_at(self.release + option.length)).min().unwrap_or(0)
    }

    /// Latest end at which the loss is at most `loss`.
    #[must_use]
    pub fn end_max_for(&self, loss: i64) -> usize {
        self.grades.iter().rev().find(|grade| grade.loss <= loss).map_or(0, |grade| grade.end_max)
    }
}

/// Classes found so far. A job is compared with one job of each class whose digest it shares, so that no key is copied.
#[derive(Default)]
struct Classes {
    /// Jobs by digest: the first of each class.
    first: HashMap<u64, Vec<usize>>,
    count: usize,
}

impl Classes {
    /// The class of a job of this queue, a new one if it is like none before it.
    fn of(&mut self, job: &Job, queue: NodeId, snapshot: &Snapshot, before: &[Job]) -> usize {
        let mut hasher = Fold::default();
        (queue, job.release, job.weight, &job.grades, job.outside, job.split).hash(&mut hasher);
        for option in &job.options {
            (option.length, &option.uses).hash(&mut hasher);
        }
        let known = self.first.entry(hasher.finish()).or_default();
        let alike = |other: &&usize| is_alike(job, &before[**other], queue, snapshot);
        if let Some(first) = known.iter().find(alike) {
            return before[*first].class;
        }
        known.push(before.len());
        self.count += 1;
        self.count - 1
    }
}

/// A hash of whole numbers, one multiplication each: jobs are many, and a clash only costs a comparison.
#[derive(Default)]
struct Fold(u64);

impl Fold {
    fn fold(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517C_C1B7_2722_0A95);
    }
}

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.fold(u64::from(*byte));
        }
    }
    fn write_u32(&mut self, number: u32) {
        self.fold(u64::from(number));
    }
    fn write_u64(&mut self, number: u64) {
        self.fold(number);
    }
    fn write_i64(&mut self, number: i64) {
        self.fold(number.cast_unsigned());
    }
    fn write_usize(&mut self, number: usize) {
        self.fold(u64::try_from(number).unwrap_or(u64::MAX));
    }
    fn write_isize(&mut self, number: isize) {
        self.write_usize(number.cast_unsigned());
    }
}

/// Whether a job of this queue is like another in everything the search sees.
fn is_alike(job: &Job, other: &Job, queue: NodeId, snapshot: &Snapshot) -> bool {
    let options = job.options.iter().map(|option| (option.length, &option.uses));
    queue == snapshot.workloads[other.workload].queue
        && (job.release, job.weight, job.outside, job.split)
            == (other.release, other.weight, other.outside, other.split)
        && job.grades == other.grades
        && options.eq(other.options.iter().map(|option| (option.length, &option.uses)))
}

/// Due time and tiers as ends in slots; a grade that no slot separates from the next is merged into the worse one.
fn grades(due: Option<&Due>, grid: Grid, rounding: Rounding, loss_at: impl Fn(Timestamp) -> i64) -> Vec<Grade> {
    let last = grid.slots;
    let mut found: Vec<Grade> = Vec::new();
    if let Some(due) = due {
        let edges = std::iter::once(due.at).chain(due.tiers.iter().map(|tier| due.at + tier.after));
        for edge in edges {
            let slot = match rounding {
                Rounding::Conservative => grid.floor(edge),
                Rounding::Optimistic => grid.ceil(edge),
            };
            let Ok(end_max) = usize::try_from(slot) else { continue };
            let grade = Grade { end_max: end_max.min(last), loss: loss_at(edge) };
            if found.last().is_some_and(|before| before.end_max == grade.end_max || before.loss == grade.loss) {
                found.pop();
            }
            found.push(grade);
        }
    }
    let worst = loss_at(Timestamp(i64::MAX / 4));
    match found.last_mut() {
        Some(grade) if grade.loss == worst => grade.end_max = last,
        Some(grade) if grade.end_max == last => {}
        _ => found.push(Grade { end_max: last, loss: worst }),
    }
    found
}

/// Drops options that another one beats in amount and length on the same cells.
fn without_dominated(options: Vec<JobOption>) -> Vec<JobOption> {
    if options.len() == 1 {
        return options;
    }
    let beats = |a: &JobOption, b: &JobOption| {
        a.length <= b.length
            && a.uses.len() == b.uses.len()
            && a.uses.iter().zip(&b.uses).all(|(x, y)| x.lane == y.lane && x.path == y.path && x.amount <= y.amount)
    };
    let dominated = |index: usize| {
        options.iter().enumerate().any(|(other, option)| {
            other != index && beats(option, &options[index]) && (!beats(&options[index], option) || other < index)
        })
    };
    let keep: Vec<bool> = (0..options.len()).map(|index| !dominated(index)).collect();
    options.into_iter().zip(keep).filter_map(|(option, keep)| keep.then_some(option)).collect()
}

/// Lanes of one flavor form a pool: work on a flavor competes for all of its cells.
fn pools(snapshot: &Snapshot, lanes: &[Lane]) -> Vec<usize> {
    let mut flavors: Vec<&str> = Vec::new();
    lanes
        .iter()
        .map(|lane| {
            let flavor = snapshot.cell(lane.cell).flavor.as_str();
            flavors.iter().position(|known| *known == flavor).unwrap_or_else(|| {
                flavors.push(flavor);
                flavors.len() - 1
            })
        })
        .collect()
}

/// A lane's stretches resampled to slots: the tightest instant of each slot, or its last one when optimistic.
fn on_grid(lane: &Lane, times: &[Timestamp], grid: Grid, rounding: Rounding) -> Lane {
    let mut first_of_slot = Vec::with_capacity(grid.slots);
    let mut last_of_slot = Vec::with_capacity(grid.slots);
    let mut at = 0;
    for slot in 0..grid.slots {
        let begin = grid.instant(i64::try_from(slot).unwrap_or(i64::MAX));
        let end = begin + grid.slot;
        while at + 1 < times.len() && times[at + 1] <= begin {
            at += 1;
        }
        first_of_slot.push(at);
        let mut last = at;
        while last + 1 < times.len() && times[last + 1] < end {
            last += 1;
        }
        last_of_slot.push(last);
    }
    let sample = |values: &[i64]| -> Vec<i64> {
        if values.is_empty() {
            return Vec::new();
        }
        first_of_slot
            .iter()
            .zip(&last_of_slot)
            .map(|(first, last)| match rounding {
                Rounding::Conservative => values[*first..=*last].iter().copied().min().unwrap_or(0),
                Rounding::Optimistic => values[*last],
            })
            .collect()
    };
    let rows = lane.rows.iter().map(|row| Row { free: sample(&row.free), room: sample(&row.room) }).collect();
    Lane { cell: lane.cell, rows, paths: lane.paths.clone(), total: lane.total }
}
