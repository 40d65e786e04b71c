//! The completion level.

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::effort::Effort;
use crate::plan::peak::{self, Total};
use crate::plan::program::{Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::solve::{COLUMNS_MAX, minimize};
use crate::units::gcd;

use super::{bound_model, is_exact, limits, losses_on, relaxation};

/// What the completion level came to.
pub struct Completion {
    /// The sum cannot be beaten.
    pub proven: bool,
    /// Better places than the board's, whose peaks may differ by flavor, not in sum.
    pub places: Option<Vec<Option<Place>>>,
}

/// Bound, and proof where the model is small; `totals` are those whose peaks an earlier level has settled, as they stand on
/// the board of `peaks`.
pub fn completion(
    desk: &Desk<'_>,
    board: &Board<'_>,
    settled: Option<(&[Total], i128)>,
    proof: &mut Proof,
    effort: &Effort<'_>,
) -> Completion {
    let model = bound_model(desk);
    let slot = i128::from(desk.model.grid.slot.0);
    let held = |job: usize, option: usize| {
        let workload = &desk.snapshot.workloads[desk.model.jobs[job].workload];
        i128::from(workload.options[desk.model.jobs[job].options[option].option].held(desk.policy.promise).0)
    };
    let weight = |job: usize| i128::from(desk.model.jobs[job].weight);
    let index = |slots: usize| i128::try_from(slots).unwrap_or(i128::MAX);
    let of = |job: usize, place: Place| weight(job) * (index(place.start) * slot + held(job, place.option));
    let outside = |job: usize| {
        let model_job = &model.jobs[job];
        if model_job.split.is_some() {
            let options = 0..model_job.options.len();
            options.map(|option| of(job, Place { option, start: model_job.release })).min().unwrap_or(0)
        } else {
            weight(job) * index(model.grid.slots) * slot
        }
    };
    let placed_sum = |board: &Board<'_>| -> i128 {
        (0..board.places.len()).map(|job| board.places[job].map_or_else(|| outside(job), |place| of(job, place))).sum()
    };
    let (hard, soft) = losses_on(&desk.model, board);
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft), peak_max: settled };
    let program = Program::new(&model, Goal::Price { of: &of, outside: &outside }, kept);
    // Larger models gain a bound that nobody waits for; their value stands as found.
    let Some(columns) = program.all_columns(COLUMNS_MAX / 3) else {
        return Completion { proven: false, places: None };
    };
    let constant = fixed_completion(desk);
    // In the largest unit that all costs are multiples of, a solver's tolerance is less than one.
    let outside_costs = (0..program.classes.len()).map(|class| program.outside_cost(class));
    let scale = columns.iter().map(|column| program.cost(*column)).chain(outside_costs).fold(0, gcd).max(1);
    let relaxed = relaxation(&program, board, scale, 15, effort);
    if let Some(bound) = relaxed.bound {
        proof.learn(LevelName::Completion, bound * scale + constant, Kind::Lp);
    }
    let value = placed_sum(board);
    let proven = |proof: &Proof, value: i128| proof.bound(LevelName::Completion) == Some(value + constant);
    if !is_exact(desk) || proven(proof, value) || columns.len() > 1_500 {
        return Completion { proven: proven(proof, value), places: None };
    }
    let start = program.columns_of(board);
    let answer = minimize(&program, &columns, &start, scale, limits(effort, 40, 0));
    if let Some(bound) = answer.bound {
        proof.learn(LevelName::Completion, bound * scale + constant, Kind::Mip);
    }
    let homeless = |board: &Board<'_>| board.places.iter().filter(|place| place.is_none()).count();
    let better = answer.counts.and_then(|counts| program.board_of(&counts)).filter(|better| {
        let (missed, lost) = losses_on(&desk.model, better);
        (missed, lost) <= (hard, soft)
            && homeless(better) <= homeless(board)
            && settled.is_none_or(|(totals, most)| peak::weighted(&peak::peaks(better, totals), totals) <= most)
            && placed_sum(better) < value
    });
    let value = better.as_ref().map_or(value, &placed_sum);
    Completion { proven: proven(proof, value), places: better.map(|better| better.places) }
}

/// What frozen work adds to the completion level.
fn fixed_completion(desk: &Desk<'_>) -> i128 {
    let fixed = desk.ground.fixed.iter().zip(&desk.snapshot.workloads);
    fixed
        .filter(|(_, workload)| desk.policy.in_objective(workload))
        .filter_map(|(stand, workload)| {
            Some(i128::from(workload.value) * i128::from((stand.as_ref()?.end() - desk.snapshot.now).0))
        })
        .sum()
}
