//! The cost level.

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::effort::Effort;
use crate::plan::program::{Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::solve::COLUMNS_MAX;
use crate::units::gcd;

use super::{is_exact, losses_on, relaxation};

/// The cost level: a linear bound in billionths × seconds / 1000, the unit of `Cost::money`.
pub fn cost(desk: &Desk<'_>, board: &mut Board<'_>, proof: &mut Proof, effort: &mut Effort<'_>) {
    // Prices on the grid are exact only where its slots are; a cost in between has no bound yet.
    if !is_exact(desk) || desk.ground.fixed.iter().any(Option::is_some) {
        return;
    }
    let price = crate::plan::preset::Cost::new(desk, &desk.model);
    let of = |job: usize, place: Place| price.money(job, place);
    // Off the grid it costs at least what its cheapest hour anywhere does: nothing is promised below 0.
    let outside = |_: usize| 0_i128;
    let (hard, soft) = losses_on(&desk.model, board);
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft), ..Kept::default() };
    let program = Program::new(&desk.model, Goal::Price { of: &of, outside: &outside }, kept);
    let Some(columns) = program.all_columns(COLUMNS_MAX) else { return };
    let scale = columns.iter().map(|column| program.cost(*column)).fold(0, gcd).max(1);
    let relaxed = relaxation(&program, board, scale, 15, effort);
    let Some(bound) = relaxed.bound else { return };
    let spent: i128 =
        (0..board.places.len()).filter_map(|job| board.places[job].map(|place| price.money(job, place))).sum();
    if bound * scale >= spent && board.places.iter().all(Option::is_some) {
        proof.meets(LevelName::Cost, Kind::Lp);
    } else {
        // Rounding once per cell may take half a billionth each.
        let cells = i128::try_from(desk.snapshot.cells.len()).unwrap_or(0);
        proof.learn(LevelName::Cost, (bound * scale).div_euclid(3_600_000) - cells, Kind::Lp);
    }
}
