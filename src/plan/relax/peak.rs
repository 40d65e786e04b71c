//! The peak level.

use crate::plan::board::Board;
use crate::plan::desk::Desk;
use crate::plan::effort::Effort;
use crate::plan::formulation::unit;
use crate::plan::levels;
use crate::plan::peak::{Total, peaks, weighted};
use crate::plan::program::{Column, Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::snapshot::CellId;
use crate::plan::solve::{COLUMNS_MAX, minimize};

use super::{bound_model, is_exact, limits, losses_on, relaxation};

/// A bound on Σ weight × peak of all plans that lose no more than the board, from at most `percent` of the time.
#[must_use]
pub fn peak_bound(desk: &Desk<'_>, board: &Board<'_>, totals: &[Total], percent: u64, effort: &Effort<'_>) -> i128 {
    let model = bound_model(desk);
    let (hard, soft) = losses_on(&desk.model, board);
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft), ..Kept::default() };
    let program = Program::new(&model, Goal::Peak(totals), kept);
    let scale = unit(totals);
    let relaxed = relaxation(&program, board, scale, percent, effort);
    relaxed.bound.map_or(0, |bound| bound * scale).max(floor(totals))
}

fn floor(totals: &[Total]) -> i128 {
    totals.iter().map(|total| total.weight * i128::from(total.floor)).sum()
}

/// The peak level, given a bound: what that proves, and a polished board where the model is small enough. Returns the bound.
pub fn peak(
    desk: &Desk<'_>,
    board: &mut Board<'_>,
    totals: &[Total],
    mut bound: i128,
    proof: &mut Proof,
    effort: &mut Effort<'_>,
) -> i128 {
    let constant = other_peaks(desk);
    if totals.is_empty() {
        proof.learn(LevelName::Peak, constant, Kind::Trivial);
        return 0;
    }
    let kind = if bound == floor(totals) { Kind::Trivial } else { Kind::Lp };
    proof.learn(LevelName::Peak, bound + constant, kind);
    let model = bound_model(desk);
    let (hard, soft) = losses_on(&desk.model, board);
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft), ..Kept::default() };
    let program = Program::new(&model, Goal::Peak(totals), kept);
    let scale = unit(totals);
    let value = |board: &Board<'_>| weighted(&peaks(board, totals), totals);
    let current = value(board);
    let good_enough = current * 1000 <= bound * (1000 + i128::from(desk.policy.gap_permille));
    if !good_enough && is_exact(desk) {
        let start = program.columns_of(board);
        let columns = program.all_columns(COLUMNS_MAX).filter(|columns| weight_of(&program, columns) < 150_000);
        if let Some(columns) = columns {
            let answer = minimize(&program, &columns, &start, scale, limits(effort, 60, desk.policy.gap_permille));
            if let Some(found) = answer.bound {
                bound = bound.max(found * scale);
                proof.learn(LevelName::Peak, bound + constant, Kind::Mip);
            }
            if let Some(better) = answer.counts.and_then(|counts| program.board_of(&counts)) {
                let better = Board::standing(board.model, &better.places);
                if better.loss <= board.loss && value(&better) < current {
                    *board = better;
                }
            }
        }
    }
    bound
}

/// Peaks of accelerators that no planned work uses: running work alone.
fn other_peaks(desk: &Desk<'_>) -> i128 {
    let weights = levels::peak_weights(desk.snapshot);
    let planned: Vec<u32> =
        desk.model.lanes.iter().filter(|lane| lane.total.is_some()).map(|lane| lane.cell.0).collect();
    let summary = crate::plan::stand::summarize(desk.snapshot, desk.policy, &vec![None; desk.snapshot.workloads.len()]);
    let cells = weights.iter().zip(&summary.peak).enumerate();
    cells
        .filter(|(cell, _)| !planned.contains(&CellId(u32::try_from(*cell).unwrap_or(u32::MAX)).0))
        .map(|(_, (weight, peak))| weight * i128::from(peak.peak.0))
        .sum()
}

/// Nonzeros of the capacity rows.
fn weight_of(program: &Program<'_>, columns: &[Column]) -> usize {
    columns.iter().map(|column| program.takes(*column).map(|(_, from, to, _)| to - from).sum::<usize>()).sum()
}
