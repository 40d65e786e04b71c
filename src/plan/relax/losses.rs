//! Fewer losses: levels 1 and 2.

use crate::plan::board::Board;
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::program::{Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::solve::columns::Relaxed;
use crate::plan::solve::{COLUMNS_MAX, minimize};
use crate::plan::window::{self, Level, Span};

use super::{beside, bound_model, is_exact, limits, relaxation};

/// Columns of a model that is polished without hope of a proof.
const POLISH_COLUMNS: usize = 9_000;

/// Levels 1 and 2.
pub fn losses(desk: &Desk<'_>, board: &mut Board<'_>, proof: &mut Proof, effort: &mut Effort<'_>) {
    let model = bound_model(desk);
    let hard = Program::new(&model, Goal::Hard, Kept::default());
    let relaxed = relaxation(&hard, board, 1, 15, effort);
    if let Some(bound) = relaxed.bound {
        proof.learn(LevelName::HardMissed, bound, Kind::Lp);
    }
    let missed = desk.model.unpack(board.loss).0;
    if proof.bound(LevelName::HardMissed) != Some(i128::from(missed)) {
        polish_losses(desk, &hard, &relaxed, board, proof, effort);
    }
    let (missed, lost) = desk.model.unpack(board.loss);
    if lost == 0 || proof.bound(LevelName::HardMissed) != Some(i128::from(missed)) {
        return;
    }
    let kept = Kept { hard_max: Some(missed), ..Kept::default() };
    let soft = Program::new(&model, Goal::Soft, kept);
    let relaxed = relaxation(&soft, board, 1, 10, effort);
    if let Some(bound) = relaxed.bound {
        proof.learn(LevelName::SoftLost, bound, Kind::Lp);
    }
    if proof.bound(LevelName::SoftLost) != Some(i128::from(lost)) {
        polish_losses(desk, &soft, &relaxed, board, proof, effort);
    }
}

/// A solver on the columns that matter, the search beside it, the better of both.
fn polish_losses(
    desk: &Desk<'_>,
    bounding: &Program<'_>,
    relaxed: &Relaxed,
    board: &mut Board<'_>,
    proof: &mut Proof,
    effort: &mut Effort<'_>,
) {
    let (level, name) = match bounding.goal {
        Goal::Soft => (1, LevelName::SoftLost),
        _ => (0, LevelName::HardMissed),
    };
    let part = |loss: i64| {
        let (hard, soft) = desk.model.unpack(loss);
        i128::from(if level == 0 { hard } else { soft })
    };
    let own = Program::new(&desk.model, bounding.goal.clone(), bounding.kept);
    let exact = is_exact(desk);
    let value = part(board.loss);
    let complete = if exact { relaxed.columns_within(bounding, 1, value - 1, COLUMNS_MAX) } else { None };
    let start = own.columns_of(board);
    let (mut columns, proves) = match complete {
        Some(columns) => (columns, true),
        None if exact => (relaxed.best_columns(bounding, 1, POLISH_COLUMNS.min(COLUMNS_MAX)), false),
        None => match own.all_columns(COLUMNS_MAX) {
            Some(columns) => (columns, false),
            None => (Vec::new(), false),
        },
    };
    columns.extend(start.iter().map(|(column, _)| *column));
    columns.sort_unstable();
    columns.dedup();
    let percent = if effort.deterministic() { 45 } else { 12 };
    let limits = limits(effort, percent, desk.policy.gap_permille);
    let floor = desk.loss_floor();
    let too_many = columns.len() > COLUMNS_MAX || limits.millis < 20;
    let answer = beside(board, desk, floor, effort, (percent, 7), |_| {
        (!too_many).then(|| minimize(&own, &columns, &start, 1, limits))
    });
    let Some(answer) = answer else { return };
    if proves && let Some(bound) = answer.bound {
        // Columns left out can only be part of plans that are no better than the one at hand.
        proof.learn(name, bound.min(value), Kind::Mip);
    }
    let better = answer.counts.and_then(|counts| own.board_of(&counts));
    if let Some(mut better) = better {
        complete_board(&mut better);
        if better.loss < board.loss {
            *board = Board::standing(board.model, &better.places);
        }
    }
}

/// What the solver left outside may fit where it loses less than nothing at all.
fn complete_board(board: &mut Board<'_>) {
    for job in 0..board.places.len() {
        if board.places[job].is_none() {
            crate::plan::greedy::place_earliest(board, job);
        }
    }
}

/// Rounds of windows, the search beside them, for what is left of the time; each round goes on from the better of both.
/// Where the search has nothing to add any more, its thread looks at windows too.
pub fn windows(desk: &Desk<'_>, board: &mut Board<'_>, proof: &Proof, effort: &mut Effort<'_>, percent: u64) {
    let floor = desk.loss_floor();
    let watch = effort.watch;
    let end = (watch.elapsed_millis() + effort.total_millis() * percent / 100).min(effort.total_millis());
    let mut sizes = [window::JOBS_FIRST, window::JOBS_FIRST];
    let mut idle = 0;
    for round in 0_u64.. {
        let left = end.saturating_sub(watch.elapsed_millis());
        if left < 100 || watch.stopped() || board.loss <= floor || proof.losses_proven(desk, board.loss) {
            return;
        }
        let hard = i128::from(desk.model.unpack(board.loss).0);
        let level = if proof.bound(LevelName::HardMissed) == Some(hard) { Level::Soft } else { Level::Hard };
        let part = (left / 2).clamp(800, 3_000).min(left);
        let until = watch.elapsed_millis() + part;
        let percent = part * 100 / effort.total_millis().max(1);
        let look = |board: &Board<'_>, size: &mut usize, number: u64| {
            let mut own = board.clone();
            let mut dice = Dice::new(desk.policy.seed, number);
            let elapsed = || if watch.stopped() { u64::MAX } else { watch.elapsed_millis() };
            window::improve(&mut own, level, floor, size, &mut dice, &Span { elapsed: &elapsed, until });
            (own.loss, own.places)
        };
        let [mine, other] = &mut sizes;
        let before = board.loss;
        let mut found = Vec::new();
        if idle < 2 {
            found.push(beside(board, desk, floor, effort, (percent, 20 + round), |board| {
                look(board, mine, 1_000 + round)
            }));
            idle = if board.loss < before { 0 } else { idle + 1 };
        } else {
            let here: &Board<'_> = board;
            found = std::thread::scope(|scope| {
                let twin = scope.spawn(|| look(here, other, 5_000 + round));
                let own = look(here, mine, 1_000 + round);
                std::iter::once(own).chain(twin.join().ok()).collect()
            });
            // An improvement is new ground for the search.
            idle = if found.iter().any(|(loss, _)| *loss < before) { 0 } else { idle };
        }
        if let Some((loss, places)) = found.into_iter().min_by_key(|(loss, _)| *loss)
            && loss <= board.loss
            && (loss < board.loss || board.loss == before)
        {
            *board = Board::standing(board.model, &places);
        }
    }
}
