//! The linear program of one level, as exact numbers: classes, columns, rows (docs/formulation.md has the mathematics).
//!
//! A column is "so many jobs of class c start at slot s with option o". Jobs that are alike share a class, so columns count
//! them and no symmetry is left. Capacity rows are those of the lanes; under lending limits only the queue's own row enters,
//! which relaxes the rest: bounds stay valid, and a solution is put on a board, which knows all rules, before it is believed.
//! Deliberately absent: solvers and floating point (`formulation`, `solve`).

use crate::plan::board::{Board, Place};
use crate::plan::lane::UNLIMITED;
use crate::plan::model::Model;
use crate::plan::peak::Total;

/// What a level minimizes.
#[derive(Clone)]
pub enum Goal<'a> {
    /// Hard losses.
    Hard,
    /// Soft losses.
    Soft,
    /// Σ weight × peak of the totals.
    Peak(&'a [Total]),
    /// Σ price over placements; jobs off the grid cost at least `outside`.
    Price { of: &'a dyn Fn(usize, Place) -> i128, outside: &'a dyn Fn(usize) -> i128 },
}

/// Earlier levels that must not get worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept<'a> {
    pub hard_max: Option<i64>,
    pub soft_max: Option<i64>,
    /// Σ weight × peak of the totals, at most. Which flavor's peak is how high stays open.
    pub peak_max: Option<(&'a [Total], i128)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column {
    pub class: usize,
    pub place: Place,
}

/// Alike jobs: the first one stands for all.
#[derive(Debug, Clone)]
pub struct Class {
    pub members: Vec<usize>,
}

/// A row over slots: (lane, row of the lane), with its right-hand side per slot; `peak` when it is a total to be lowered.
#[derive(Debug, Clone)]
pub struct CapacityRow {
    pub lane: usize,
    pub row: usize,
    pub free: Vec<i64>,
    pub peak: Option<usize>,
}

pub struct Program<'a> {
    pub model: &'a Model,
    pub classes: Vec<Class>,
    pub capacity: Vec<CapacityRow>,
    pub goal: Goal<'a>,
    pub kept: Kept<'a>,
    /// Per lane: indices into `capacity` by path.
    rows_of_path: Vec<Vec<Vec<usize>>>,
}

impl<'a> Program<'a> {
    #[must_use]
    pub fn new(model: &'a Model, goal: Goal<'a>, kept: Kept<'a>) -> Self {
        let mut classes: Vec<Class> = vec![Class { members: Vec::new() }; model.classes];
        for (index, job) in model.jobs.iter().enumerate() {
            classes[job.class].members.push(index);
        }
        let totals = totals(&goal, &kept);
        let mut capacity: Vec<CapacityRow> = Vec::new();
        let mut rows_of_path = Vec::with_capacity(model.lanes.len());
        for (lane_index, lane) in model.lanes.iter().enumerate() {
            let mut of_path = Vec::with_capacity(lane.paths.len());
            for (_, path) in &lane.paths {
                let mut rows = Vec::new();
                for row in path.flat.iter().chain(path.chain.first()) {
                    let known = capacity.iter().position(|known| known.lane == lane_index && known.row == *row);
                    let peak = totals.iter().position(|total| total.lane == lane_index && total.row == *row);
                    let limited = lane.rows[*row].free.iter().any(|free| *free < UNLIMITED / 2);
                    if !limited && peak.is_none() {
                        continue;
                    }
                    rows.push(known.unwrap_or_else(|| {
                        let free = lane.rows[*row].free.clone();
                        capacity.push(CapacityRow { lane: lane_index, row: *row, free, peak });
                        capacity.len() - 1
                    }));
                }
                of_path.push(rows);
            }
            rows_of_path.push(of_path);
        }
        Self { model, classes, capacity, goal, kept, rows_of_path }
    }

    /// Totals whose peaks are variables: the goal's, or those that an earlier level has settled.
    #[must_use]
    pub fn totals(&self) -> &'a [Total] {
        totals(&self.goal, &self.kept)
    }

    /// What a unit of a total's peak costs.
    #[must_use]
    pub fn peak_cost(&self, total: &Total) -> i128 {
        if matches!(self.goal, Goal::Peak(_)) { total.weight } else { 0 }
    }

    /// The class's first member.
    #[must_use]
    pub fn head(&self, class: usize) -> usize {
        self.classes[class].members[0]
    }

    #[must_use]
    pub fn count(&self, class: usize) -> usize {
        self.classes[class].members.len()
    }

    /// (hard, soft) loss of a column.
    #[must_use]
    pub fn losses(&self, column: Column) -> (i64, i64) {
        let job = &self.model.jobs[self.head(column.class)];
        let end = column.place.start + job.options[column.place.option].length;
        self.model.unpack(job.loss_at(end))
    }

    /// (hard, soft) loss of a job of the class that stays off the grid.
    #[must_use]
    pub fn outside_losses(&self, class: usize) -> (i64, i64) {
        self.model.unpack(self.model.jobs[self.head(class)].worst_loss())
    }

    #[must_use]
    pub fn cost(&self, column: Column) -> i128 {
        match &self.goal {
            Goal::Hard => i128::from(self.losses(column).0),
            Goal::Soft => i128::from(self.losses(column).1),
            Goal::Peak(_) => 0,
            Goal::Price { of, .. } => of(self.head(column.class), column.place),
        }
    }

    #[must_use]
    pub fn outside_cost(&self, class: usize) -> i128 {
        match &self.goal {
            Goal::Hard => i128::from(self.outside_losses(class).0),
            Goal::Soft => i128::from(self.outside_losses(class).1),
            Goal::Peak(_) => 0,
            Goal::Price { outside, .. } => outside(self.head(class)),
        }
    }

    /// Starts worth a column: a half-open range. For losses, only ends that avoid some of the outside loss.
    #[must_use]
    pub fn starts(&self, class: usize, option: usize) -> std::ops::Range<usize> {
        let job = &self.model.jobs[self.head(class)];
        let length = job.options[option].length;
        let end_max = match self.goal {
            Goal::Hard | Goal::Soft | Goal::Peak(_) => {
                let better = job.grades.iter().filter(|grade| grade.loss < job.worst_loss() || job.worst_loss() == 0);
                better.map(|grade| grade.end_max).max().unwrap_or(0)
            }
            Goal::Price { .. } => self.model.slots(),
        };
        job.release..(end_max + 1).saturating_sub(length).max(job.release)
    }

    /// All columns, if there are at most `limit`.
    #[must_use]
    pub fn all_columns(&self, limit: usize) -> Option<Vec<Column>> {
        let mut columns = Vec::new();
        for class in 0..self.classes.len() {
            for option in 0..self.model.jobs[self.head(class)].options.len() {
                let starts = self.starts(class, option);
                if columns.len() + starts.len() > limit {
                    return None;
                }
                columns.extend(starts.map(|start| Column { class, place: Place { option, start } }));
            }
        }
        Some(columns)
    }

    /// (capacity row, first slot, slot after the last, amount) for each row that a column takes from.
    pub fn takes(&self, column: Column) -> impl Iterator<Item = (usize, usize, usize, i64)> + '_ {
        let option = &self.model.jobs[self.head(column.class)].options[column.place.option];
        let (start, end) = (column.place.start, column.place.start + option.length);
        option.uses.iter().flat_map(move |used| {
            self.rows_of_path[used.lane][used.path].iter().map(move |row| (*row, start, end, used.amount))
        })
    }

    /// How a board fills the columns: those with a count above zero, and the rest outside.
    #[must_use]
    pub fn columns_of(&self, board: &Board<'_>) -> Vec<(Column, usize)> {
        let mut counts: std::collections::BTreeMap<Column, usize> = std::collections::BTreeMap::new();
        for (job, place) in board.places.iter().enumerate() {
            if let Some(place) = place {
                let class = self.model.jobs[job].class;
                if self.starts(class, place.option).contains(&place.start) {
                    *counts.entry(Column { class, place: *place }).or_default() += 1;
                }
            }
        }
        counts.into_iter().collect()
    }

    /// Puts counted columns on an empty board; `None` when a rule that the program relaxes is broken.
    #[must_use]
    pub fn board_of(&self, counts: &[(Column, usize)]) -> Option<Board<'a>> {
        let mut board = Board::empty(self.model);
        let mut next: Vec<usize> = vec![0; self.classes.len()];
        for (column, count) in counts {
            for _ in 0..*count {
                let member = *self.classes[column.class].members.get(next[column.class])?;
                next[column.class] += 1;
                if !board.fits(&self.model.jobs[member].options[column.place.option], column.place.start) {
                    return None;
                }
                board.put(member, column.place);
            }
        }
        Some(board)
    }
}

fn totals<'a>(goal: &Goal<'a>, kept: &Kept<'a>) -> &'a [Total] {
    match (goal, kept.peak_max) {
        (Goal::Peak(totals), _) => totals,
        (_, Some((totals, _))) => totals,
        _ => &[],
    }
}
