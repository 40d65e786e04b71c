//! Which bounds are taken and which models are polished, level by level.
//!
//! A bound comes from the optimistic model, on which every real plan exists; a polish works on the conservative one, whose
//! solutions all are plans. On an exact grid they are one and the same, and then a solver's bound on the polish counts too.
//! While a solver works on its thread, the search goes on beside it from another seed.

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::grid::Rounding;
use crate::plan::levels;
use crate::plan::model::{Grade, Model};
use crate::plan::peak::Total;
use crate::plan::program::{Column, Goal, Kept, Program};
use crate::plan::proof::Proof;
use crate::plan::proposal::{LevelName, Proof as Kind};
use crate::plan::search;
use crate::plan::snapshot::CellId;
use crate::plan::solve::columns::{Relaxed, relax};
use crate::plan::solve::{COLUMNS_MAX, Limits, minimize};

/// Branch-and-bound nodes of a solve that steps bound: a second or two at the sizes that are polished.
const NODES: i32 = 300;
/// Columns of a model that is polished without hope of a proof.
const POLISH_COLUMNS: usize = 9_000;

/// The model that bounds are taken on. A workload that may be split does not fit a column; it is let off everything.
fn bound_model(desk: &Desk<'_>) -> Model {
    let mut model = if desk.model.grid.exact { desk.model.clone() } else { desk.model_for(Rounding::Optimistic) };
    for job in &mut model.jobs {
        // A bound counts losses only: work without any place has none.
        job.outside -= std::mem::take(&mut job.narrow);
        if job.split.is_some() {
            job.outside = 0;
            job.grades = vec![Grade { end_max: model.grid.slots, loss: 0 }];
        }
    }
    model
}

/// Whether the model of bounds and that of plans are the same.
fn is_exact(desk: &Desk<'_>) -> bool {
    desk.model.grid.exact && desk.model.jobs.iter().all(|job| job.split.is_none() && job.narrow == 0)
}

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
    let kept = Kept { hard_max: Some(missed), soft_max: None };
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
    let limits = limits(effort, 45, desk.policy.gap_permille);
    let floor = desk.loss_floor();
    let too_many = columns.len() > COLUMNS_MAX || limits.millis < 20;
    let answer =
        beside(board, desk, floor, effort, || (!too_many).then(|| minimize(&own, &columns, &start, 1, limits)));
    let Some(answer) = answer else { return };
    if proves && let Some(bound) = answer.bound {
        // Columns left out can only be part of plans that are no better than the one at hand.
        proof.learn(name, bound.min(value), Kind::Mip);
    }
    let better = answer.counts.and_then(|counts| own.board_of(&counts));
    if let Some(mut better) = better {
        complete_board(&mut better);
        if better.loss < board.loss {
            *board = adopt(board.model, &better);
        }
    }
}

/// A board on another borrow of the same model.
fn adopt<'m>(model: &'m Model, other: &Board<'_>) -> Board<'m> {
    let mut board = Board::empty(model);
    for (job, place) in other.places.iter().enumerate() {
        if let Some(place) = place {
            board.put(job, *place);
        }
    }
    board
}

/// What the solver left outside may fit where it loses less than nothing at all.
fn complete_board(board: &mut Board<'_>) {
    for job in 0..board.places.len() {
        if board.places[job].is_none() {
            crate::plan::greedy::place_earliest(board, job);
        }
    }
}

/// Runs a solve and, on another thread, the search on a copy of the board, which takes the copy's state if it is better.
fn beside<T: Send>(
    board: &mut Board<'_>,
    desk: &Desk<'_>,
    floor: i64,
    effort: &mut Effort<'_>,
    solve: impl FnOnce() -> T,
) -> T {
    let mut twin = board.clone();
    let mut slice = effort.slice(45);
    let answer = std::thread::scope(|scope| {
        let searching = scope.spawn(|| {
            let mut dice = Dice::new(desk.policy.seed, 7);
            search::reduce_loss(&mut twin, &mut dice, floor, &mut slice);
        });
        let answer = solve();
        let joined = searching.join();
        debug_assert!(joined.is_ok(), "the search must not panic");
        answer
    });
    drop(slice);
    if twin.loss < board.loss {
        *board = twin;
    }
    answer
}

fn limits(effort: &Effort<'_>, percent: u64, gap_permille: u32) -> Limits {
    let left = effort.millis_left();
    let millis = if effort.deterministic() { left } else { left.min(effort.total_millis() * percent / 100) };
    Limits { millis, nodes: effort.deterministic().then_some(NODES), gap_permille }
}

fn relaxation(program: &Program<'_>, board: &Board<'_>, scale: i128, percent: u64, effort: &Effort<'_>) -> Relaxed {
    let start = program.columns_of(board);
    let until = effort.watch.elapsed_millis() + effort.total_millis() * percent / 100;
    relax(program, &start, scale, &|| effort.watch.elapsed_millis(), until.min(effort.total_millis()))
}

/// The completion level: bound, and proof where the model is small. True when the board's sum is proven.
pub fn completion(
    desk: &Desk<'_>,
    board: &mut Board<'_>,
    ceilings: Option<&[(usize, i64)]>,
    proof: &mut Proof,
    effort: &mut Effort<'_>,
) -> bool {
    let mut model = bound_model(desk);
    for (lane, ceiling) in ceilings.unwrap_or_default() {
        if let Some(total) = model.lanes[*lane].total {
            for free in &mut model.lanes[*lane].rows[total].free {
                *free += ceiling - crate::plan::lane::UNLIMITED;
            }
        }
    }
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
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft) };
    let program = Program::new(&model, Goal::Price { of: &of, outside: &outside }, kept);
    // Larger models gain a bound that nobody waits for; their value stands as found.
    let Some(columns) = program.all_columns(COLUMNS_MAX / 3) else { return false };
    let constant = fixed_completion(desk);
    let scale = 1;
    let relaxed = relaxation(&program, board, scale, 15, effort);
    if let Some(bound) = relaxed.bound {
        proof.learn(LevelName::Completion, bound + constant, Kind::Lp);
    }
    let value = placed_sum(board);
    let proven = |proof: &Proof, value: i128| proof.bound(LevelName::Completion) == Some(value + constant);
    if !is_exact(desk) || proven(proof, value) || columns.len() > 1_500 {
        return proven(proof, value);
    }
    let start = program.columns_of(board);
    let answer = minimize(&program, &columns, &start, scale, limits(effort, 40, 0));
    if let Some(bound) = answer.bound {
        proof.learn(LevelName::Completion, bound.min(value) + constant, Kind::Mip);
    }
    if let Some(better) = answer.counts.and_then(|counts| program.board_of(&counts))
        && better.loss <= board.loss
        && better.places.iter().filter(|place| place.is_none()).count()
            <= board.places.iter().filter(|place| place.is_none()).count()
        && placed_sum(&better) < value
    {
        *board = adopt(board.model, &better);
    }
    proven(proof, placed_sum(board))
}

/// Losses by the plan's own grades, whatever grades the board's model has.
fn losses_on(model: &Model, board: &Board<'_>) -> (i64, i64) {
    let loss: i64 = board
        .places
        .iter()
        .zip(&model.jobs)
        .map(|(place, job)| {
            place.map_or(job.worst_loss(), |place| job.loss_at(place.start + job.options[place.option].length))
        })
        .sum();
    model.unpack(loss)
}

/// What frozen work adds to the completion level.
fn fixed_completion(desk: &Desk<'_>) -> i128 {
    let fixed = desk.fixed.iter().zip(&desk.snapshot.workloads);
    fixed
        .filter(|(_, workload)| desk.policy.in_objective(workload))
        .filter_map(|(stand, workload)| {
            Some(i128::from(workload.value) * i128::from((stand.as_ref()?.end() - desk.snapshot.now).0))
        })
        .sum()
}

/// The peak level: its bound (0 without one), and a polished board where the model is small enough. Returns the bound.
pub fn peak(
    desk: &Desk<'_>,
    board: &mut Board<'_>,
    totals: &[Total],
    proof: &mut Proof,
    effort: &mut Effort<'_>,
) -> i128 {
    if totals.is_empty() {
        proof.learn(LevelName::Peak, other_peaks(desk), Kind::Trivial);
        return 0;
    }
    let model = bound_model(desk);
    let (hard, soft) = losses_on(&desk.model, board);
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft) };
    let program = Program::new(&model, Goal::Peak(totals), kept);
    let scale = totals.iter().map(|total| total.weight).fold(0, gcd).max(1);
    let relaxed = relaxation(&program, board, scale, 20, effort);
    let constant = other_peaks(desk);
    let floor: i128 = totals.iter().map(|total| total.weight * i128::from(total.floor)).sum();
    let mut bound = relaxed.bound.map_or(floor, |bound| (bound * scale).max(floor));
    let kind = if bound == floor { Kind::Trivial } else { Kind::Lp };
    proof.learn(LevelName::Peak, bound + constant, kind);
    let value = |board: &Board<'_>| -> i128 {
        let peaks = crate::plan::peak::peaks(board, totals);
        totals.iter().zip(peaks).map(|(total, peak)| total.weight * i128::from(peak)).sum()
    };
    let current = value(board);
    let good_enough = current * 1000 <= bound * (1000 + i128::from(desk.policy.gap_permille));
    if !good_enough && is_exact(desk) {
        let start = program.columns_of(board);
        let columns = program.all_columns(COLUMNS_MAX).filter(|columns| weight_of(&program, columns) < 150_000);
        if let Some(columns) = columns {
            let answer = minimize(&program, &columns, &start, scale, limits(effort, 60, desk.policy.gap_permille));
            if let Some(found) = answer.bound {
                bound = bound.max((found * scale).min(current));
                proof.learn(LevelName::Peak, bound + constant, Kind::Mip);
            }
            if let Some(better) = answer.counts.and_then(|counts| program.board_of(&counts)) {
                let better = adopt(board.model, &better);
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

/// The cost level: a linear bound in billionths × seconds / 1000, the unit of `Cost::money`.
pub fn cost(desk: &Desk<'_>, board: &mut Board<'_>, proof: &mut Proof, effort: &mut Effort<'_>) {
    // Prices on the grid are exact only where its slots are; a cost in between has no bound yet.
    if !is_exact(desk) || desk.fixed.iter().any(Option::is_some) {
        return;
    }
    let price = crate::plan::preset::Cost::new(desk, &desk.model);
    let of = |job: usize, place: Place| price.money(job, place);
    // Off the grid it costs at least what its cheapest hour anywhere does: nothing is promised below 0.
    let outside = |_: usize| 0_i128;
    let (hard, soft) = losses_on(&desk.model, board);
    let kept = Kept { hard_max: Some(hard), soft_max: Some(soft) };
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

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
