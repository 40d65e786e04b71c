//! Bounds and polish from the linear model, where a solver is built in.

use crate::plan::board::Board;
use crate::plan::peak::Total;
use crate::plan::proof::Proof;
use crate::plan::propose::{Desk, Effort};

pub fn losses(_desk: &Desk<'_>, _board: &mut Board<'_>, _proof: &mut Proof, _effort: &mut Effort<'_>) {}
pub fn completion(
    _desk: &Desk<'_>,
    _board: &mut Board<'_>,
    _ceilings: Option<&[(usize, i64)]>,
    _proof: &mut Proof,
    _effort: &mut Effort<'_>,
) {
}
pub fn cost(_desk: &Desk<'_>, _board: &mut Board<'_>, _proof: &mut Proof, _effort: &mut Effort<'_>) {}
pub fn peak(
    _desk: &Desk<'_>,
    _board: &Board<'_>,
    _totals: &[Total],
    _proof: &mut Proof,
    _effort: &mut Effort<'_>,
) -> i128 {
    0
}
