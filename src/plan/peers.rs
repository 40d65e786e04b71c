//! The list schedulers we are measured against, each as strong as its idea allows.
//!
//! - [`fifo_backfill`]: EASY backfill by creation order, without foresight. At every arrival, end and window border the
//!   oldest waiting workload of each ClusterQueue starts if it fits; if not, it gets a reservation at its earliest
//!   possible start, and younger ones may start only where no reservation is touched.
//! - [`earliest_deadline_first`]: list scheduling by due time, then creation, with foresight: every workload, arrivals
//!   of the future included, is put at the place that ends it soonest among those already placed, never interrupted.
//!
//! Both see exact runtimes (p50) and obey the quota tree and its windows through [`crate::plan::peer_capacity`], which
//! is their own. Deliberately absent: interruption, objectives other than the order, and any solver.

use crate::plan::peer_capacity::Capacity;
use crate::plan::snapshot::{DeadlinePolicy, Promise, RunOption, Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

/// What a peer decided, one entry per workload of the snapshot; `None` for one that fits nowhere, ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerSchedule {
    pub starts: Vec<Option<PeerStart>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerStart {
    /// Index into the workload's options.
    pub option: usize,
    pub at: Timestamp,
}

/// What [`earliest_deadline_first`] does with a workload that cannot meet its due time any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateWork {
    /// It keeps its place in the order, as in the textbook.
    KeepsPlace,
    /// It is placed after all that can still be on time: more due times are met in overload.
    GoesLast,
}

/// How a schedule fares, in the terms by which plans are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PeerScore {
    pub hard_met: u64,
    pub hard_missed: u64,
    /// Σ value of hard deadlines missed.
    pub hard_missed_value: i128,
    pub soft_met: u64,
    pub soft_missed: u64,
    /// Σ value × percent lost by soft deadlines and tiers, in hundredths of a value unit.
    pub soft_lost: i128,
    pub without_deadline: u64,
    pub never_started: u64,
    /// Last end minus now; 0 without workloads.
    pub makespan: Seconds,
    /// Σ value × (end − now) in seconds.
    pub completion: i128,
}

/// EASY backfill in order of creation.
#[must_use]
pub fn fifo_backfill(snapshot: &Snapshot) -> PeerSchedule {
    let mut starts = vec![None; snapshot.workloads.len()];
    let mut capacity = Capacity::new(snapshot);
    // Workloads stand in creation order; they join the queue when they may start.
    let mut arrivals: Vec<usize> = (0..snapshot.workloads.len()).collect();
    arrivals.sort_by_key(|index| (snapshot.workloads[*index].earliest_start, *index));
    let mut arrivals = arrivals.into_iter().peekable();
    let mut waiting: Vec<usize> = Vec::new();
    let mut now = snapshot.now;
    loop {
        capacity.forget_before(now);
        while let Some(index) = arrivals.next_if(|index| snapshot.workloads[*index].earliest_start <= now) {
            let place = waiting.partition_point(|other| *other < index);
            waiting.insert(place, index);
        }
        admit(snapshot, &mut capacity, &mut waiting, &mut starts, now);
        let arrival = arrivals.peek().map(|index| snapshot.workloads[*index].earliest_start);
        // With nothing running and no border ahead, what still waits fits nowhere.
        let change = if waiting.is_empty() { None } else { capacity.next_change(now) };
        match arrival.into_iter().chain(change).min() {
            Some(next) => now = next,
            None => return PeerSchedule { starts },
        }
    }
}

/// One pass of EASY over the queue at an instant.
fn admit(
    snapshot: &Snapshot,
    capacity: &mut Capacity,
    waiting: &mut Vec<usize>,
    starts: &mut [Option<PeerStart>],
    now: Timestamp,
) {
    let mut has_head = vec![false; snapshot.nodes.len()];
    let mut reservations: Vec<(usize, PeerStart)> = Vec::new();
    waiting.retain(|index| {
        let workload = &snapshot.workloads[*index];
        if let Some(option) = soonest_now(capacity, workload, now) {
            let start = PeerStart { option, at: now };
            occupy(capacity, workload, start);
            starts[*index] = Some(start);
            return false;
        }
        let queue = workload.queue.0 as usize;
        // One that fits nowhere, ever, is no head: it would hold nobody back but itself.
        if !has_head[queue]
            && let Some(start) = soonest_end(capacity, workload, now)
        {
            has_head[queue] = true;
            occupy(capacity, workload, start);
            reservations.push((*index, start));
        }
        true
    });
    for (index, start) in reservations {
        let workload = &snapshot.workloads[index];
        let option = &workload.options[start.option];
        capacity.vacate(workload.queue, &option.uses, start.at, start.at + held(option));
    }
}

/// List scheduling by due time, then creation; workloads without one come last.
#[must_use]
pub fn earliest_deadline_first(snapshot: &Snapshot, late: LateWork) -> PeerSchedule {
    let mut order: Vec<usize> = (0..snapshot.workloads.len()).collect();
    order.sort_by_key(|index| {
        let due = snapshot.workloads[*index].due.as_ref().map(|due| due.at);
        (due.is_none(), due, *index)
    });
    let mut starts = vec![None; snapshot.workloads.len()];
    let mut capacity = Capacity::new(snapshot);
    let mut last = Vec::new();
    for index in order {
        let workload = &snapshot.workloads[index];
        let from = workload.earliest_start.max(snapshot.now);
        let Some(start) = soonest_end(&capacity, workload, from) else { continue };
        let on_time = workload.due.as_ref().is_none_or(|due| end(workload, start) <= due.at);
        if on_time || late == LateWork::KeepsPlace {
            occupy(&mut capacity, workload, start);
            starts[index] = Some(start);
        } else {
            last.push(index);
        }
    }
    for index in last {
        let workload = &snapshot.workloads[index];
        starts[index] = soonest_end(&capacity, workload, workload.earliest_start.max(snapshot.now));
        if let Some(start) = starts[index] {
            occupy(&mut capacity, workload, start);
        }
    }
    PeerSchedule { starts }
}

/// The option that ends first among those that fit from `now` on; ties to the order of trial.
fn soonest_now(capacity: &Capacity, workload: &Workload, now: Timestamp) -> Option<usize> {
    let fitting = workload
        .options
        .iter()
        .enumerate()
        .filter(|(_, option)| capacity.fits(workload.queue, &option.uses, now, now + held(option)));
    fitting.min_by_key(|(index, option)| (held(option), *index)).map(|(index, _)| index)
}

/// The option and start with the earliest end from `from` on; ties to the earlier start, then the order of trial.
fn soonest_end(capacity: &Capacity, workload: &Workload, from: Timestamp) -> Option<PeerStart> {
    let places = workload.options.iter().enumerate().filter_map(|(index, option)| {
        let at = capacity.earliest(workload.queue, &option.uses, from, held(option))?;
        Some((at + held(option), at, index))
    });
    places.min().map(|(_, at, option)| PeerStart { option, at })
}

fn occupy(capacity: &mut Capacity, workload: &Workload, start: PeerStart) {
    let option = &workload.options[start.option];
    capacity.occupy(workload.queue, &option.uses, start.at, start.at + held(option));
}

fn held(option: &RunOption) -> Seconds {
    option.held(Promise::P50)
}

fn end(workload: &Workload, start: PeerStart) -> Timestamp {
    start.at + held(&workload.options[start.option])
}

impl PeerSchedule {
    /// The end of a workload, by its index.
    #[must_use]
    pub fn end(&self, snapshot: &Snapshot, index: usize) -> Option<Timestamp> {
        Some(end(snapshot.workloads.get(index)?, (*self.starts.get(index)?)?))
    }

    #[must_use]
    pub fn score(&self, snapshot: &Snapshot) -> PeerScore {
        let mut score = PeerScore::default();
        for (index, workload) in snapshot.workloads.iter().enumerate() {
            let end = self.end(snapshot, index);
            match end {
                Some(end) => {
                    score.makespan = score.makespan.max(end - snapshot.now);
                    score.completion += i128::from(workload.value) * i128::from((end - snapshot.now).0);
                }
                None => score.never_started += 1,
            }
            let Some(due) = &workload.due else {
                score.without_deadline += 1;
                continue;
            };
            // Work that never ends loses what an end after the last tier loses.
            let losses = workload.losses_at(end.unwrap_or(Timestamp(i64::MAX / 2)));
            score.hard_missed_value += i128::from(losses.hard);
            score.soft_lost += i128::from(losses.soft);
            let met = end.is_some_and(|end| end <= due.at);
            match due.policy {
                DeadlinePolicy::Hard if met => score.hard_met += 1,
                DeadlinePolicy::Hard => score.hard_missed += 1,
                DeadlinePolicy::Soft if met => score.soft_met += 1,
                DeadlinePolicy::Soft => score.soft_missed += 1,
                DeadlinePolicy::BestEffort => score.without_deadline += 1,
            }
        }
        score
    }
}
