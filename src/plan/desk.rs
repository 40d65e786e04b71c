//! Everything a search needs to know about a snapshot, made once: capacity in exact time, the model on the grid, what is
//! frozen, what can never fit; and the way back from a board to exact time.

use std::collections::HashMap;

use crate::plan::board::{Board, Place};
use crate::plan::exact::{Cut, Timeline};
use crate::plan::grid::{Grid, Rounding};
use crate::plan::lane::ExactLanes;
use crate::plan::model::{Job, JobOption, Model, Use};
use crate::plan::proposal::{Before, Level, Piece, Plan, Quality, Status};
use crate::plan::snapshot::{Interruption, NodeKind, Objective, Policy, RunOption, Snapshot, Workload};
use crate::plan::stand::{self, Stand, Stands};
use crate::plan::watch::Watch;
use crate::plan::{levels, proof, summary};
use crate::units::{Seconds, Timestamp};

/// Where work that may be split is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Splittable {
    /// In one piece, with all other work; in pieces where it would be late.
    OnGrid,
    /// After all other work, in the holes that are left.
    Last,
}

/// Everything a search needs to know, made once.
pub struct Desk<'a> {
    pub snapshot: &'a Snapshot,
    pub policy: &'a Policy,
    /// Capacity with frozen work taken.
    pub base: Timeline,
    pub model: Model,
    /// Frozen work.
    pub fixed: Stands,
    /// Per workload and option: its uses in lane terms, or `None` where it can never fit.
    uses: Vec<Vec<Option<Vec<Use>>>>,
}

impl<'a> Desk<'a> {
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy, splittable: Splittable) -> Self {
        let mut base = Timeline::new(ExactLanes::of(snapshot, policy));
        let uses = lane_uses(snapshot, policy, &base);
        let fixed = frozen(snapshot, policy, &mut base, &uses);
        let grid = Grid::of(snapshot, policy);
        let narrow = narrow(snapshot, policy, &base, &uses);
        let mut model = Model::of(snapshot, policy, &base.exact, grid, Rounding::Conservative, &|workload, option| {
            let takes_part = fixed[workload].is_none()
                && (policy.in_objective(&snapshot.workloads[workload]) || narrow[workload])
                && (splittable == Splittable::OnGrid || cut(&snapshot.workloads[workload].interruption).is_none());
            uses[workload][option].as_ref().filter(|_| takes_part)
        });
        model.insist_on(&|workload| narrow[workload]);
        Self { snapshot, policy, base, model, fixed, uses }
    }

    /// The same on another rounding, for bounds.
    #[must_use]
    pub fn model_for(&self, rounding: Rounding) -> Model {
        Model::of(self.snapshot, self.policy, &self.base.exact, self.model.grid, rounding, &|workload, option| {
            let takes_part =
                self.fixed[workload].is_none() && self.policy.in_objective(&self.snapshot.workloads[workload]);
            self.uses[workload][option].as_ref().filter(|_| takes_part)
        })
    }

    /// No plan loses less: every job alone on an empty board.
    #[must_use]
    pub fn loss_floor(&self) -> i64 {
        self.model.jobs.iter().map(Job::least_loss).sum()
    }

    /// What each workload loses even alone: no plan loses less.
    #[must_use]
    pub fn loss_floors(&self) -> (i128, i128) {
        proof::loss_floors(self)
    }

    /// Exact stands for a board, as early as its order allows.
    #[must_use]
    pub fn stands(&self, board: &Board<'_>) -> Stands {
        self.stands_under(board, &[], &|_, _| false)
    }

    /// Exact stands for a board. Lanes' totals stay at or below the ceilings; where `anchored(workload, start)`, a start
    /// stays on its slot.
    #[must_use]
    pub fn stands_under(
        &self,
        board: &Board<'_>,
        ceilings: &[(usize, i64)],
        anchored: &dyn Fn(usize, Timestamp) -> bool,
    ) -> Stands {
        let mut timeline = self.base.clone();
        for (lane, ceiling) in ceilings {
            let lane = &mut timeline.exact.lanes[*lane];
            if let Some(total) = lane.total {
                for free in &mut lane.rows[total].free {
                    *free += ceiling - crate::plan::lane::UNLIMITED;
                }
            }
        }
        let mut stands = self.fixed.clone();
        let mut placed: Vec<(usize, usize, usize, Place)> = Vec::new();
        let mut waiting: Vec<usize> = Vec::new();
        for (job, place) in self.in_creation_order(board).into_iter().enumerate() {
            let model_job = &self.model.jobs[job];
            let late = |place: Place| model_job.loss_at(place.start + model_job.options[place.option].length) > 0;
            match place {
                // Late in one piece, it may be on time in several: it is placed last, in what is left.
                Some(place) if model_job.split.is_some() && late(place) => waiting.push(model_job.workload),
                Some(place) => placed.push((place.start, model_job.workload, job, place)),
                None => waiting.push(model_job.workload),
            }
        }
        placed.sort_unstable();
        let on_grid: Vec<bool> = {
            let mut on_grid = vec![false; self.snapshot.workloads.len()];
            self.model.jobs.iter().for_each(|job| on_grid[job.workload] = true);
            on_grid
        };
        // Work that was kept off the grid waits too.
        waiting.extend((0..on_grid.len()).filter(|index| {
            !on_grid[*index] && stands[*index].is_none() && self.policy.in_objective(&self.snapshot.workloads[*index])
        }));
        for (slot, workload, job, place) in placed {
            let option: &JobOption = &self.model.jobs[job].options[place.option];
            let length = self.snapshot.workloads[workload].options[option.option].held(self.policy.promise);
            let latest = self.model.grid.instant(i64::try_from(slot).unwrap_or(i64::MAX));
            let start = if self.keeps_grid_starts() || anchored(workload, latest) {
                latest
            } else {
                timeline.earliest(&option.uses, self.earliest_start(workload), length).unwrap_or(latest)
            };
            let stand = Stand::whole(option.option, start, length);
            timeline.take(&option.uses, stand.pieces[0]);
            stands[workload] = Some(stand);
        }
        // What the grid had no place for: by due time, then creation.
        waiting.sort_by_key(|workload| {
            let due = self.snapshot.workloads[*workload].due.as_ref().map(|due| due.at);
            (due.is_none(), due, *workload)
        });
        let mut backfill: Vec<usize> = (0..self.snapshot.workloads.len())
            .filter(|index| !self.policy.in_objective(&self.snapshot.workloads[*index]) && stands[*index].is_none())
            .collect();
        backfill.sort_by_key(|index| (-i64::from(self.snapshot.workloads[*index].priority), *index));
        for workload in waiting.into_iter().chain(backfill) {
            if let Some(stand) = self.first_stand(&timeline, workload) {
                let uses = self.uses[workload][stand.option].as_ref().expect("a stand's option fits");
                for piece in &stand.pieces {
                    timeline.take(uses, *piece);
                }
                stands[workload] = Some(stand);
            }
        }
        stands
    }

    /// Alike jobs stand in the order of their creation; against a previous plan they stay who they were.
    fn in_creation_order(&self, board: &Board<'_>) -> Vec<Option<Place>> {
        let mut places = board.places.clone();
        if !self.snapshot.previous.is_empty() {
            return places;
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.model.classes];
        for (job, model_job) in self.model.jobs.iter().enumerate() {
            members[model_job.class].push(job);
        }
        for members in members.iter().filter(|members| members.len() > 1) {
            let mut standing: Vec<Option<Place>> = members.iter().map(|job| board.places[*job]).collect();
            standing.sort_by_key(|place| place.map_or((usize::MAX, 0), |place| (place.start, place.option)));
            for (job, place) in members.iter().zip(standing) {
                places[*job] = place;
            }
        }
        places
    }

    /// Cheap hours are not left for early ones.
    fn keeps_grid_starts(&self) -> bool {
        self.policy.objective == Objective::LowestCost
    }

    /// Whether an option of a workload can ever fit.
    #[must_use]
    pub fn can_run(&self, workload: usize, option: usize) -> bool {
        self.uses[workload][option].is_some()
    }

    /// Workloads that can run on some option, alone.
    #[must_use]
    pub fn placeable(&self) -> usize {
        self.uses.iter().filter(|options| options.iter().any(Option::is_some)).count()
    }

    /// An option's uses in lane terms; `None` where it can never fit.
    #[must_use]
    pub fn uses(&self, workload: usize, option: usize) -> Option<&Vec<Use>> {
        self.uses[workload][option].as_ref()
    }

    #[must_use]
    pub fn earliest_start(&self, workload: usize) -> Timestamp {
        self.snapshot.workloads[workload].earliest_start.max(self.snapshot.now)
    }

    /// The stand with the least loss, then the earliest end, in what the timeline has left.
    #[must_use]
    pub fn first_stand(&self, timeline: &Timeline, index: usize) -> Option<Stand> {
        let workload = &self.snapshot.workloads[index];
        let from = self.earliest_start(index);
        let mut best: Option<((i64, i64, Timestamp), Stand)> = None;
        for (option, uses) in self.uses[index].iter().enumerate() {
            let Some(uses) = uses else { continue };
            let length = workload.options[option].held(self.policy.promise);
            let Some(start) = timeline.earliest(uses, from, length) else { continue };
            let mut candidates = vec![Stand::whole(option, start, length)];
            if let (Some(cut), Some(due)) = (cut(&workload.interruption), &workload.due)
                && start + length > due.at
            {
                let pieces = timeline.in_holes(uses, from, due.at, length, cut);
                candidates.extend(pieces.map(|pieces| Stand { option, pieces }));
            }
            for stand in candidates {
                let losses = workload.losses_at(stand.end());
                let key = (losses.hard, losses.soft, stand.end());
                if best.as_ref().is_none_or(|(least, _)| key < *least) {
                    best = Some((key, stand));
                }
            }
        }
        best.map(|(_, stand)| stand)
    }

    #[must_use]
    pub fn draft(&self, stands: &Stands, levels: Vec<Level>) -> Plan {
        let quality = Quality {
            status: Status::Feasible,
            levels: Vec::new(),
            gap_millionths: None,
            stopped_by: None,
            millis: 0,
            seed: self.policy.seed,
        };
        stand::draft(self.snapshot, self.policy, stands, levels, quality)
    }

    /// The plan with its figures and quality, reasons still to be given.
    #[must_use]
    pub fn plan(&self, stands: &Stands, proof: &proof::Proof, watch: &dyn Watch) -> Plan {
        let mut plan = self.draft(stands, Vec::new());
        let values = levels::values(self.snapshot, self.policy, stands, &plan.summary);
        plan.quality = proof.quality(self, &values, watch.elapsed_millis());
        plan.input_digest = stand::input_digest(self.snapshot, self.policy);
        plan.before = Before { all_at_once: summary::all_at_once(self.snapshot), kueue_alone: None };
        plan
    }
}

/// The planned interruption of a checkpointed workload; restarting from nothing never pays in a plan.
fn cut(interruption: &Interruption) -> Option<Cut> {
    match interruption {
        Interruption::Checkpointable { interval, cost, max } if *max > 0 => Some(Cut {
            pieces_max: usize::try_from(*max).unwrap_or(usize::MAX).saturating_add(1),
            cost: *cost,
            interval: *interval,
        }),
        _ => None,
    }
}

fn lane_uses(snapshot: &Snapshot, policy: &Policy, base: &Timeline) -> Vec<Vec<Option<Vec<Use>>>> {
    let mut lane_of_cell: Vec<Option<usize>> = vec![None; snapshot.cells.len()];
    for (index, lane) in base.exact.lanes.iter().enumerate() {
        lane_of_cell[lane.cell.0 as usize] = Some(index);
    }
    let of_option = |workload: &Workload, option: &RunOption| {
        let uses: Option<Vec<Use>> = option
            .uses
            .iter()
            .map(|(cell, amount)| {
                let lane = lane_of_cell[cell.0 as usize]?;
                Some(Use { lane, path: base.exact.lanes[lane].path_of(workload.queue)?, amount: amount.0 })
            })
            .collect();
        let uses = uses?;
        base.earliest(&uses, workload.earliest_start.max(snapshot.now), option.held(policy.promise)).map(|_| uses)
    };
    snapshot
        .workloads
        .iter()
        .map(|workload| {
            let stopped = matches!(&snapshot.node(workload.queue).kind, NodeKind::ClusterQueue(rules) if rules.stopped);
            workload.options.iter().map(|option| if stopped { None } else { of_option(workload, option) }).collect()
        })
        .collect()
}

/// Workloads that can run, but on no option once capacity has stopped changing: only a window lets them in.
fn narrow(snapshot: &Snapshot, policy: &Policy, base: &Timeline, uses: &[Vec<Option<Vec<Use>>>]) -> Vec<bool> {
    let last = base.exact.times.iter().filter_map(|times| times.last()).max().copied().unwrap_or(snapshot.now);
    let later = |workload: &Workload, option: usize, uses: &Vec<Use>| {
        let from = last.max(workload.earliest_start);
        base.earliest(uses, from, workload.options[option].held(policy.promise)).is_some()
    };
    snapshot
        .workloads
        .iter()
        .zip(uses)
        .map(|(workload, options)| {
            let mut able =
                options.iter().enumerate().filter_map(|(option, uses)| Some((option, uses.as_ref()?))).peekable();
            able.peek().is_some() && !able.any(|(option, uses)| later(workload, option, uses))
        })
        .collect()
}

/// Promises inside the frozen window that can still be kept, in the order of their starts.
fn frozen(snapshot: &Snapshot, policy: &Policy, base: &mut Timeline, uses: &[Vec<Option<Vec<Use>>>]) -> Stands {
    let mut fixed: Stands = vec![None; snapshot.workloads.len()];
    if policy.frozen_window <= Seconds::ZERO || snapshot.previous.is_empty() {
        return fixed;
    }
    let by_key: HashMap<&str, usize> =
        snapshot.workloads.iter().enumerate().map(|(index, workload)| (workload.key.as_str(), index)).collect();
    let mut promises: Vec<_> = snapshot
        .previous
        .iter()
        .filter(|previous| previous.start >= snapshot.now && previous.start < snapshot.now + policy.frozen_window)
        .filter_map(|previous| Some((previous.start, *by_key.get(previous.key.as_str())?, previous)))
        .collect();
    promises.sort_by_key(|(start, index, _)| (*start, *index));
    for (start, index, previous) in promises {
        let workload = &snapshot.workloads[index];
        if workload.earliest_start > start {
            continue;
        }
        let option = workload.options.iter().position(|option| option.flavor == previous.flavor);
        let Some(option) = option else { continue };
        let Some(uses) = &uses[index][option] else { continue };
        let stand = Stand::whole(option, start, workload.options[option].held(policy.promise));
        let piece: Piece = stand.pieces[0];
        if base.fits(uses, piece) {
            base.take(uses, piece);
            fixed[index] = Some(stand);
        }
    }
    fixed
}
