//! A solver on one stretch of time: all jobs that stand within it are placed anew, together with some that lose.
//!
//! Ruin and recreate moves a handful of jobs at a time and gets stuck where a hundred would have to move together. A window
//! around a losing job is small enough for a mixed-integer solve of a second, and everything outside of it stays: what
//! comes back is a board that is never worse. The window grows while its solves are quick and shrinks when they are not.
//!
//! Deliberately absent: proofs. A window that cannot be improved says nothing about the whole.

mod roll;

pub use roll::{can_roll, roll};

use std::collections::HashMap;

use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::model::{Job, JobOption, Model};
use crate::plan::program::{Column, Goal, Kept, Program};
use crate::plan::solve::{Begin, Limits, minimize};

/// Jobs of a first window: what a solver decides in a fraction of a second.
pub const JOBS_FIRST: usize = 120;
/// Fewer are the search's business.
const JOBS_MIN: usize = 25;
const JOBS_MAX: usize = 400;
/// Columns of a window at most.
const COLUMNS_MAX: usize = 6_000;
/// Milliseconds for one window.
const MILLIS: u64 = 1_500;
/// A solve quicker than this lets windows grow.
const QUICK_MILLIS: u64 = 500;

/// What a unit of loss weighs against the capacity that the largest job takes: no window has as many losers as that.
const LOSS: i128 = 20_000;
const AREA: i128 = 200;

/// Amount × slots over all that it takes.
fn area(option: &JobOption) -> i128 {
    option.uses.iter().map(|used| i128::from(used.amount)).sum::<i128>() * i128::try_from(option.length).unwrap_or(0)
}

/// About one large job's capacity among ten losers: tighter is not worth waiting for.
const GAP_PERMILLE: u32 = 1;

/// Which level is lowered, the earlier one kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Hard,
    Soft,
}

/// How long, and how to tell.
pub struct Span<'a> {
    pub elapsed: &'a (dyn Fn() -> u64 + 'a),
    pub until: u64,
}

/// Lowers the board's loss window by window until `floor`, or until the span ends.
pub fn improve(board: &mut Board<'_>, level: Level, floor: i64, size: &mut usize, dice: &mut Dice, span: &Span<'_>) {
    while board.loss > floor {
        let begin = (span.elapsed)();
        let left = span.until.saturating_sub(begin);
        if left < 50 {
            return;
        }
        let Some(window) = Window::around_a_loser(board, *size, dice) else { return };
        let begin_at = if dice.one_in(2) { Begin::Known } else { Begin::Nothing };
        let limits = Limits { millis: left.min(MILLIS), nodes: None, gap_permille: GAP_PERMILLE };
        let whole = window.jobs.len() >= board.places.len();
        let solved = window.solve(board, level, begin_at, limits);
        let took = (span.elapsed)().saturating_sub(begin);
        *size = match solved {
            Solved::TooLarge => *size * 3 / 4,
            _ if took >= limits.millis => *size * 4 / 5,
            Solved::Same | Solved::Tighter if took < QUICK_MILLIS && !whole => *size * 5 / 4,
            _ => *size,
        }
        .clamp(JOBS_MIN, JOBS_MAX);
    }
}

enum Solved {
    Better,
    /// The same loss on less capacity.
    Tighter,
    Same,
    TooLarge,
}

/// Slots `from..to`, the jobs that stand entirely within, and those without a place that could.
struct Window {
    from: usize,
    to: usize,
    jobs: Vec<usize>,
}

impl Window {
    fn around_a_loser(board: &Board<'_>, size: usize, dice: &mut Dice) -> Option<Self> {
        let jobs = &board.model.jobs;
        let losing: Vec<usize> = (0..jobs.len()).filter(|job| board.loss_of(*job) > jobs[*job].least_loss()).collect();
        if losing.is_empty() {
            return None;
        }
        let (low, high) = range(&jobs[losing[dice.below(losing.len())]]);
        Some(Self::around(board, low + dice.below((high - low).max(1)), size))
    }

    /// As narrow as holds `size` placed jobs.
    fn around(board: &Board<'_>, middle: usize, size: usize) -> Self {
        let model = board.model;
        let slots = model.slots();
        let span = |job: usize| {
            let place = board.places[job]?;
            Some((place.start, place.start + board.option(job, place).length))
        };
        let spans: Vec<(usize, usize)> = (0..board.places.len()).filter_map(span).collect();
        let within = |reach: usize| {
            let (from, to) = (middle.saturating_sub(reach), (middle + reach).min(slots));
            spans.iter().filter(|(start, end)| *start >= from && *end <= to).count()
        };
        let (mut least, mut most) = (1, slots);
        while least < most {
            let reach = usize::midpoint(least, most);
            if within(reach) >= size { most = reach } else { least = reach + 1 }
        }
        let (from, to) = (middle.saturating_sub(least), (middle + least).min(slots));
        let inside = |job: &usize| match span(*job) {
            Some((start, end)) => start >= from && end <= to,
            None => {
                let (low, high) = range(&model.jobs[*job]);
                low < to && high > from
            }
        };
        Self { from, to, jobs: (0..board.places.len()).filter(inside).collect() }
    }

    fn solve(&self, board: &mut Board<'_>, level: Level, begin: Begin, limits: Limits) -> Solved {
        let before: Vec<_> = self.jobs.iter().map(|job| board.lift(*job)).collect();
        let model = self.model(board);
        let start = Board::standing(&model, &before);
        let Some(columns) = columns(&model, &start, level) else {
            self.put(board, &before);
            return Solved::TooLarge;
        };
        let used = |board: &Board<'_>| -> i128 {
            (0..board.places.len()).filter_map(|job| Some(area(board.option(job, board.places[job]?)))).sum()
        };
        let taken = |option: &JobOption, _: usize| area(option);
        let found = fewest(&model, &start, level, &columns, &taken, (begin, limits));
        let found = found.map(|places| Board::standing(&model, &places));
        let better = found.filter(|found| (found.loss, used(found)) < (start.loss, used(&start)));
        let solved = match &better {
            Some(better) if better.loss < start.loss => Solved::Better,
            Some(_) => Solved::Tighter,
            None => Solved::Same,
        };
        self.put(board, &better.map_or(before, |better| better.places));
        solved
    }

    /// Puts the window's jobs, all of which were lifted.
    fn put(&self, board: &mut Board<'_>, places: &[Option<Place>]) {
        for (job, place) in self.jobs.iter().zip(places) {
            if let Some(place) = place {
                board.put(*job, *place);
            }
        }
    }

    /// The window's jobs alone, on what the others leave free.
    fn model(&self, board: &Board<'_>) -> Model {
        let mut classes: HashMap<usize, usize> = HashMap::new();
        let jobs = self
            .jobs
            .iter()
            .map(|job| {
                let mut job = board.model.jobs[*job].clone();
                let fresh = classes.len();
                job.class = *classes.entry(job.class).or_insert(fresh);
                job.release = job.release.max(self.from);
                for grade in &mut job.grades {
                    grade.end_max = grade.end_max.min(self.to);
                }
                job
            })
            .collect();
        Model {
            grid: board.model.grid,
            lanes: board.lanes.clone(),
            jobs,
            classes: classes.len(),
            soft_base: board.model.soft_base,
        }
    }
}

/// The earlier level, kept as it stands at the begin.
fn kept<'a>(start: &Board<'_>, level: Level) -> Kept<'a> {
    let (hard, _) = start.model.unpack(start.loss);
    Kept { hard_max: (level == Level::Soft).then_some(hard), ..Kept::default() }
}

/// All columns that avoid something; `None`: too many.
fn columns(model: &Model, start: &Board<'_>, level: Level) -> Option<Vec<Column>> {
    let goal = if level == Level::Hard { Goal::Hard } else { Goal::Soft };
    Program::new(model, goal, kept(start, level)).all_columns(COLUMNS_MAX)
}

/// A solver's answer: the least loss at a level, and of those that lose as much the one that weighs least.
///
/// `weight` is of an option at a start, at most its [`area`].
fn fewest(
    model: &Model,
    start: &Board<'_>,
    level: Level,
    columns: &[Column],
    weight: &dyn Fn(&JobOption, usize) -> i128,
    (begin, limits): (Begin, Limits),
) -> Option<Vec<Option<Place>>> {
    let part = |loss: i64| {
        let (hard, soft) = model.unpack(loss);
        i128::from(if level == Level::Hard { hard } else { soft })
    };
    let largest = model.jobs.iter().flat_map(|job| job.options.iter().map(area)).max().unwrap_or(1).max(1);
    let of = |job: usize, place: Place| {
        let option = &model.jobs[job].options[place.option];
        let loss = model.jobs[job].loss_at(place.start + option.length);
        part(loss) * LOSS + weight(option, place.start) * AREA / largest
    };
    let outside = |job: usize| part(model.jobs[job].worst_loss()) * LOSS;
    let program = Program::new(model, Goal::Price { of: &of, outside: &outside }, kept(start, level));
    let answer = minimize(&program, columns, begin.of(&program.columns_of(start)), 1, limits);
    answer.counts.and_then(|counts| program.board_of(&counts)).map(|board| board.places)
}

/// From its release to the last end that still avoids something.
fn range(job: &Job) -> (usize, usize) {
    let worst = job.worst_loss();
    let high = job.grades.iter().filter(|grade| grade.loss < worst).map(|grade| grade.end_max).max();
    (job.release, high.unwrap_or(job.release).max(job.release))
}
