//! A solver on one stretch after another, from the begin: a plan that owes nothing to the one at hand.
//!
//! A window improves what stands; where the search is stuck, its windows are too. Here time is cut into a few stretches. The
//! jobs that are released by the middle of the next one are placed anew as if no others were to come, with the fewest losses
//! and, among those, with the least that stands after the stretch; who starts within it stays, and the next one goes on from
//! there.
//!
//! Source of the idea: rolling horizons with a look ahead of half a stretch, as in lot sizing and production planning.

use super::{Level, Span, Window, area, columns, fewest, range};
use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::greedy::{self, place_rest};
use crate::plan::model::{JobOption, Model};
use crate::plan::search::{Budget, reduce_loss};
use crate::plan::solve::{Begin, Limits};

/// Jobs of the first stretch at most: what a solver of two thousand columns decides in seconds.
const JOBS_MAX: usize = 400;
/// Fewer are a window's business.
const STRETCHES_MIN: usize = 2;
/// More inherit too much from those before them.
const STRETCHES_MAX: usize = 12;
/// Milliseconds for one stretch at most and at least.
const MILLIS_MAX: u64 = 4_000;
const MILLIS_MIN: u64 = 100;
/// Moves of the search that a solver begins from.
const MOVES: u64 = 60_000;

struct Moves;

impl Budget for Moves {
    fn exhausted(&mut self, moves: u64) -> bool {
        moves >= MOVES
    }
}

/// Another plan, where one of at most the board's loss is found within the span.
#[must_use]
pub fn roll(board: &Board<'_>, level: Level, dice: &mut Dice, span: &Span<'_>) -> Option<(i64, Vec<Option<Place>>)> {
    let model = board.model;
    let slots = model.slots();
    let stretches = stretches(model)?;
    let mut rolled = Board::empty(model);
    for stretch in 0..stretches {
        let left = span.until.saturating_sub((span.elapsed)());
        // Later stretches have more fixed, and are quicker.
        let ahead = u64::try_from(stretches - stretch).unwrap_or(u64::MAX);
        let millis = (left.saturating_mul(2) / (ahead + 1)).min(left).min(MILLIS_MAX);
        if millis < MILLIS_MIN {
            return None;
        }
        let (from, end) = (slots * stretch / stretches, slots * (stretch + 1) / stretches);
        let limits = Limits { millis, nodes: None, gap_permille: 0 };
        solve(&mut rolled, (from, end, end + slots / stretches / 2), level, dice, limits)?;
        let gone = |job: &usize| rolled.places[*job].is_none() && range(&model.jobs[*job]).1 <= end;
        let lost: i64 = (0..model.jobs.len()).filter(gone).map(|job| model.jobs[job].worst_loss()).sum();
        if lost > board.loss {
            return None;
        }
    }
    place_rest(&mut rolled);
    (rolled.loss <= board.loss).then_some((rolled.loss, rolled.places))
}

/// Whether it is small enough for that.
#[must_use]
pub fn can_roll(model: &Model) -> bool {
    stretches(model).is_some()
}

/// As few as have at most so many jobs in the first of them.
fn stretches(model: &Model) -> Option<usize> {
    let slots = model.slots();
    let first = |stretches: usize| {
        let ahead = slots / stretches + slots / stretches / 2;
        model.jobs.iter().filter(|job| job.release < ahead).count()
    };
    (STRETCHES_MIN..=STRETCHES_MAX).find(|stretches| first(*stretches) <= JOBS_MAX)
}

/// Places who starts in `from..end`, knowing who is released before `ahead`; `None`: too large.
fn solve(
    rolled: &mut Board<'_>,
    (from, end, ahead): (usize, usize, usize),
    level: Level,
    dice: &mut Dice,
    limits: Limits,
) -> Option<()> {
    let jobs = &rolled.model.jobs;
    let open = |job: &usize| {
        let (release, latest) = range(&jobs[*job]);
        rolled.places[*job].is_none() && release < ahead && latest > from
    };
    let window = Window { from, to: rolled.model.slots(), jobs: (0..jobs.len()).filter(open).collect() };
    let model = window.model(rolled);
    let mut start = greedy::best(&model, 0);
    reduce_loss(&mut start, dice, 0, &mut Moves);
    let after = |option: &JobOption, start: usize| {
        let (length, border) = (option.length, end.max(start));
        let after = (start + length).saturating_sub(border);
        area(option) * i128::try_from(after).unwrap_or(0) / i128::try_from(length.max(1)).unwrap_or(1)
    };
    let columns = columns(&model, &start, level)?;
    let found = fewest(&model, &start, level, &columns, &after, (Begin::Known, limits));
    let found = found.map(|places| Board::standing(&model, &places)).filter(|found| found.loss <= start.loss);
    for (job, place) in window.jobs.iter().zip(found.unwrap_or(start).places) {
        if let Some(place) = place.filter(|place| place.start < end) {
            rolled.put(*job, place);
        }
    }
    Some(())
}
