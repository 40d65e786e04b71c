//! What is left of the time: windows, the search beside them, and one long solve.

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::program::{Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::LevelName;
use crate::plan::solve::{Begin, Limits};
use crate::plan::window::{self, Level, Span};

use super::losses::Question;
use super::{beside, bound_model, relaxation};

/// Less than this is not worth a long solve.
const LONG_MILLIS: u64 = 2_000;
/// Left over at its end, for a solver that is late.
const LATE_MILLIS: u64 = 400;
/// Between two looks at whether it has ended.
const LOOK_MILLIS: u64 = 1_000;

/// Rounds of windows, the search beside them, for what is left of the time; each round goes on from the better of both.
/// Where the search has nothing to add any more, a solver takes its thread for as long as is left, on everything that could
/// be part of a better plan; before and after that, the thread looks at windows too.
pub fn windows<'m>(
    desk: &'m Desk<'_>,
    board: &mut Board<'m>,
    proof: &mut Proof,
    effort: &mut Effort<'_>,
    percent: u64,
) {
    let floor = desk.loss_floor();
    let watch = effort.watch;
    let end = (watch.elapsed_millis() + effort.total_millis() * percent / 100).min(effort.total_millis());
    let mut sizes = [window::JOBS_FIRST, window::JOBS_FIRST];
    let elapsed = || if watch.stopped() { u64::MAX } else { watch.elapsed_millis() };
    let (mut idle, mut asked) = (0, false);
    // The search has a second try where there is nothing better to do.
    let tries = if window::can_roll(&desk.model) { 1 } else { 2 };
    for round in 0_u64.. {
        let left = end.saturating_sub(watch.elapsed_millis());
        if left < 100 || watch.stopped() || board.loss <= floor || proof.losses_proven(desk, board.loss) {
            return;
        }
        let level = level(desk, board, proof);
        let part = (left / 2).clamp(800, 3_000).min(left);
        let percent = part * 100 / effort.total_millis().max(1);
        let look = |board: &Board<'_>, size: &mut usize, number: u64, millis: u64| {
            let until = watch.elapsed_millis() + millis;
            let mut own = board.clone();
            let mut dice = Dice::new(desk.policy.seed, number);
            window::improve(&mut own, level, floor, size, &mut dice, &Span { elapsed: &elapsed, until });
            (own.loss, own.places)
        };
        let [mine, other] = &mut sizes;
        let before = board.loss;
        let mut found = Vec::new();
        if idle < tries {
            found.push(beside(board, desk, floor, effort, (percent, 20 + round), |board| {
                look(board, mine, 1_000 + round, part)
            }));
            idle = if board.loss < before { 0 } else { idle + 1 };
        } else if left >= LONG_MILLIS && !asked {
            asked = true;
            let (mut number, mut rolled) = (9_000, false);
            let millis = left - LATE_MILLIS;
            let span = Span { elapsed: &elapsed, until: watch.elapsed_millis() + millis };
            beside_a_long_solve(desk, board, proof, effort, millis, |board| {
                number += 1;
                // First another plan altogether.
                let first = !std::mem::replace(&mut rolled, true);
                let mut dice = Dice::new(desk.policy.seed, number);
                let other = if first { window::roll(board, level, &mut dice, &span) } else { None };
                other.unwrap_or_else(|| look(board, mine, number, LOOK_MILLIS))
            });
            idle = if board.loss < before { 0 } else { idle };
        } else {
            let here: &Board<'_> = board;
            found = std::thread::scope(|scope| {
                let twin = scope.spawn(|| look(here, other, 5_000 + round, part));
                let own = look(here, mine, 1_000 + round, part);
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

/// The first level that is not proven.
fn level(desk: &Desk<'_>, board: &Board<'_>, proof: &Proof) -> Level {
    let hard = i128::from(desk.model.unpack(board.loss).0);
    if proof.bound(LevelName::HardMissed) == Some(hard) { Level::Soft } else { Level::Hard }
}

/// One solve of everything that could be part of a better plan, and looks at windows until it ends; a better plan that
/// those find in the meantime is kept.
fn beside_a_long_solve<'m>(
    desk: &'m Desk<'_>,
    board: &mut Board<'m>,
    proof: &mut Proof,
    effort: &Effort<'_>,
    millis: u64,
    mut look: impl FnMut(&Board<'m>) -> (i64, Vec<Option<Place>>),
) {
    let begin = effort.watch.elapsed_millis();
    let model = bound_model(desk);
    let bounding = match level(desk, board, proof) {
        Level::Hard => Program::new(&model, Goal::Hard, Kept::default()),
        Level::Soft => {
            let hard_max = Some(desk.model.unpack(board.loss).0);
            Program::new(&model, Goal::Soft, Kept { hard_max, ..Kept::default() })
        }
    };
    let relaxed = relaxation(&bounding, board, 1, 10, effort);
    let question = Question::new(desk, &bounding, &relaxed, board);
    let took = effort.watch.elapsed_millis() - begin;
    if question.is_too_large() || took + LONG_MILLIS / 2 > millis {
        return;
    }
    let limits = Limits { millis: millis - took, nodes: None, gap_permille: desk.policy.gap_permille };
    let mut asked = question.ask(Begin::Nothing, limits);
    let floor = desk.loss_floor();
    while asked.is_pending() && board.loss > floor && !effort.watch.stopped() {
        let (loss, places) = look(board);
        if loss <= board.loss {
            *board = Board::standing(board.model, &places);
        }
        if effort.watch.elapsed_millis() >= begin + millis {
            break;
        }
    }
    if board.loss > floor && !effort.watch.stopped() {
        question.take(asked.wait(), board, proof);
    }
}
