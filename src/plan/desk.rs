//! Everything a search needs to know about a snapshot, made once: the ground it plans on, the model on the grid, and the
//! way back from a board to exact time.

use crate::plan::board::{Board, Place};
use crate::plan::grid::{Grid, Rounding};
use crate::plan::ground::Ground;
use crate::plan::model::{Job, JobOption, Model};
use crate::plan::proposal::{Before, Level, Plan, Quality, Status};
use crate::plan::snapshot::{Objective, Policy, Snapshot};
use crate::plan::stand::{self, Stand, Stands};
use crate::plan::watch::Watch;
use crate::plan::{levels, proof, summary};
use crate::units::Timestamp;

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
    pub ground: Ground<'a>,
    pub model: Model,
}

impl<'a> Desk<'a> {
    #[must_use]
    pub fn new(ground: Ground<'a>, splittable: Splittable) -> Self {
        let (snapshot, policy) = (ground.snapshot, ground.policy);
        let grid = Grid::of(snapshot, policy);
        let narrow = ground.narrow();
        let mut model =
            Model::of(snapshot, policy, &ground.base.exact, grid, Rounding::Conservative, &|workload, option| {
                let takes_part = ground.fixed[workload].is_none()
                    && (policy.in_objective(&snapshot.workloads[workload]) || narrow[workload])
                    && (splittable == Splittable::OnGrid || !ground.is_cut(workload));
                ground.uses(workload, option).filter(|_| takes_part)
            });
        model.insist_on(&|workload| narrow[workload]);
        Self { snapshot, policy, ground, model }
    }

    /// The same on another rounding, for bounds.
    #[must_use]
    pub fn model_for(&self, rounding: Rounding) -> Model {
        Model::of(
            self.snapshot,
            self.policy,
            &self.ground.base.exact,
            self.model.grid,
            rounding,
            &|workload, option| {
                let takes_part = self.ground.fixed[workload].is_none()
                    && self.policy.in_objective(&self.snapshot.workloads[workload]);
                self.ground.uses(workload, option).filter(|_| takes_part)
            },
        )
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
        let mut timeline = self.ground.base.clone();
        for (lane, ceiling) in ceilings {
            let lane = &mut timeline.exact.lanes[*lane];
            if let Some(total) = lane.total {
                for free in &mut lane.rows[total].free {
                    *free += ceiling - crate::plan::lane::UNLIMITED;
                }
            }
        }
        let mut stands = self.ground.fixed.clone();
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
                timeline.earliest(&option.uses, self.ground.earliest_start(workload), length).unwrap_or(latest)
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
        self.ground.fill(&mut timeline, &mut stands, waiting.into_iter().chain(backfill));
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
