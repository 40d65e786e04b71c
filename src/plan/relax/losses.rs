//! Fewer losses: levels 1 and 2.

use crate::plan::board::Board;
use crate::plan::desk::Desk;
use crate::plan::effort::Effort;
use crate::plan::greedy::place_rest;
use crate::plan::program::{Column, Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::solve::columns::Relaxed;
use crate::plan::solve::{Answer, Asked, Begin, COLUMNS_MAX, Limits, ask};
use crate::plan::window::Level;

use super::{beside, bound_model, is_exact, limits, relaxation};

/// Columns of a model that is polished without hope of a proof.
const POLISH_COLUMNS: usize = 9_000;

/// Levels 1 and 2.
pub fn losses<'m>(desk: &'m Desk<'_>, board: &mut Board<'m>, proof: &mut Proof, effort: &mut Effort<'_>) {
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

/// What a solver is asked: a program on the columns that matter, and where it starts.
pub(super) struct Question<'m> {
    level: Level,
    program: Program<'m>,
    columns: Vec<Column>,
    start: Vec<(Column, usize)>,
    /// What the board at hand loses at this level.
    value: i128,
    /// Columns left out can only be part of plans that are no better than the one at hand.
    proves: bool,
}

impl<'m> Question<'m> {
    pub(super) fn new(desk: &'m Desk<'_>, bounding: &Program<'_>, relaxed: &Relaxed, board: &Board<'_>) -> Self {
        let level = if matches!(bounding.goal, Goal::Soft) { Level::Soft } else { Level::Hard };
        let (hard, soft) = desk.model.unpack(board.loss);
        let value = i128::from(if level == Level::Soft { soft } else { hard });
        let goal = if level == Level::Soft { Goal::Soft } else { Goal::Hard };
        // Losses come before any peak: none is kept yet.
        let kept = Kept { hard_max: bounding.kept.hard_max, ..Kept::default() };
        let program = Program::new(&desk.model, goal, kept);
        let exact = is_exact(desk);
        let complete = if exact { relaxed.columns_within(bounding, 1, value - 1, COLUMNS_MAX) } else { None };
        let start = program.columns_of(board);
        let (mut columns, proves) = match complete {
            Some(columns) => (columns, true),
            None if exact => (relaxed.best_columns(bounding, 1, POLISH_COLUMNS.min(COLUMNS_MAX)), false),
            None => (program.all_columns(COLUMNS_MAX).unwrap_or_default(), false),
        };
        columns.extend(start.iter().map(|(column, _)| *column));
        columns.sort_unstable();
        columns.dedup();
        Self { level, program, columns, start, value, proves }
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.columns.len() > COLUMNS_MAX
    }

    /// Asks a solver on a thread of its own.
    pub(super) fn ask(&self, begin: Begin, limits: Limits) -> Asked<'_> {
        ask(&self.program, &self.columns, begin.of(&self.start), 1, limits)
    }

    /// Learns the bound of an answer, and takes its board where that is better.
    pub(super) fn take(&self, answer: Answer, board: &mut Board<'m>, proof: &mut Proof) {
        if self.proves
            && let Some(bound) = answer.bound
        {
            let name = if self.level == Level::Soft { LevelName::SoftLost } else { LevelName::HardMissed };
            proof.learn(name, bound.min(self.value), Kind::Mip);
        }
        let better = answer.counts.and_then(|counts| self.program.board_of(&counts));
        if let Some(mut better) = better {
            // What the solver left outside may fit where it loses less than nothing at all.
            place_rest(&mut better);
            if better.loss < board.loss {
                *board = Board::standing(board.model, &better.places);
            }
        }
    }
}

/// A solver on the columns that matter, the search beside it, the better of both.
fn polish_losses<'m>(
    desk: &'m Desk<'_>,
    bounding: &Program<'_>,
    relaxed: &Relaxed,
    board: &mut Board<'m>,
    proof: &mut Proof,
    effort: &mut Effort<'_>,
) {
    let question = Question::new(desk, bounding, relaxed, board);
    let percent = if effort.deterministic() { 45 } else { 12 };
    let limits = limits(effort, percent, desk.policy.gap_permille);
    let floor = desk.loss_floor();
    let idle = question.is_too_large() || limits.millis < 20;
    let answer = beside(board, desk, floor, effort, (percent, 7), |_| {
        (!idle).then(|| question.ask(Begin::Known, limits).wait())
    });
    if let Some(answer) = answer {
        question.take(answer, board, proof);
    }
}
