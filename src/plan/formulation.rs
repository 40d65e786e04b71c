//! From a program to good_lp: variables, constraint families and the objective (docs/formulation.md).
//!
//! This file and `solve` are the only ones where numbers become floating point; what comes back is rounded to integers and
//! put on a board, which checks it exactly.

use good_lp::variable::UnsolvedProblem;
use good_lp::{Constraint, Expression, ProblemVariables, Variable, constraint, variable};

use crate::plan::lane::UNLIMITED;
use crate::plan::peak::Total;
use crate::plan::program::{Column, Program};
use crate::units::gcd;

/// A number for the solver. Level values stay far below 2⁵³, where every integer is exact.
#[expect(clippy::cast_precision_loss, reason = "objective coefficients are scaled below 2^53 before they get here")]
#[must_use]
pub fn float(value: i128) -> f64 {
    value as f64
}

/// The model of `columns`, integral, with variables in this order: columns, outside counts, peaks.
pub struct Formulation {
    pub problem: UnsolvedProblem,
    pub constraints: Vec<Constraint>,
    pub columns: Vec<Variable>,
    pub outside: Vec<Variable>,
    pub peaks: Vec<Variable>,
}

/// Builds it; `scale` divides every objective coefficient and must divide them exactly.
#[must_use]
pub fn formulate(program: &Program<'_>, columns: &[Column], scale: i128) -> Formulation {
    let mut variables = ProblemVariables::new();
    let counts: Vec<Variable> = columns
        .iter()
        .map(|column| variables.add(variable().integer().min(0).max(float(count(program, column.class)))))
        .collect();
    // Outside counts need no integrality: the equality gives it to them.
    let outside: Vec<Variable> = (0..program.classes.len())
        .map(|class| variables.add(variable().min(0).max(float(count(program, class)))))
        .collect();
    let totals = program.totals();
    let peaks: Vec<Variable> =
        totals.iter().map(|total| variables.add(variable().integer().min(float(i128::from(total.floor))))).collect();

    let mut objective = Expression::default();
    for (column, count) in columns.iter().zip(&counts) {
        add(&mut objective, *count, program.cost(*column) / scale);
    }
    for (class, out) in outside.iter().enumerate() {
        add(&mut objective, *out, program.outside_cost(class) / scale);
    }
    for (total, peak) in totals.iter().zip(&peaks) {
        add(&mut objective, *peak, program.peak_cost(total) / scale);
    }

    let mut constraints = every_job_once(program, columns, &counts, &outside);
    constraints.extend(within_capacity(program, columns, &counts, &peaks));
    constraints.extend(earlier_levels(program, columns, &counts, &outside));
    if let Some((totals, most)) = program.kept.peak_max {
        let mut sum = Expression::default();
        for (total, peak) in totals.iter().zip(&peaks) {
            add(&mut sum, *peak, total.weight / unit(totals));
        }
        constraints.push(constraint!(sum <= float(most / unit(totals))));
    }
    Formulation { problem: variables.minimise(objective), constraints, columns: counts, outside, peaks }
}

/// (1) Σ x + outside = n, per class.
fn every_job_once(
    program: &Program<'_>,
    columns: &[Column],
    counts: &[Variable],
    outside: &[Variable],
) -> Vec<Constraint> {
    let mut sums: Vec<Expression> = outside.iter().map(|out| Expression::from(*out)).collect();
    for (column, count) in columns.iter().zip(counts) {
        add(&mut sums[column.class], *count, 1);
    }
    sums.into_iter().enumerate().map(|(class, sum)| constraint!(sum == float(count(program, class)))).collect()
}

/// (2) Σ amount × (jobs running) ≤ free, per row and slot; (3) against the peak where it is the goal.
fn within_capacity(
    program: &Program<'_>,
    columns: &[Column],
    counts: &[Variable],
    peaks: &[Variable],
) -> Vec<Constraint> {
    let slots = program.model.slots();
    let mut sums: Vec<Vec<Expression>> = vec![vec![Expression::default(); slots]; program.capacity.len()];
    let mut used: Vec<Vec<bool>> = vec![vec![false; slots]; program.capacity.len()];
    for (column, count) in columns.iter().zip(counts) {
        for (row, from, to, amount) in program.takes(*column) {
            for slot in from..to {
                add(&mut sums[row][slot], *count, i128::from(amount));
                used[row][slot] = true;
            }
        }
    }
    let mut constraints = Vec::new();
    for (row, (sums, used)) in program.capacity.iter().zip(sums.into_iter().zip(used)) {
        for (slot, (mut sum, used)) in sums.into_iter().zip(used).enumerate() {
            if !used {
                continue;
            }
            let free = row.free[slot];
            match row.peak {
                // free = unlimited − running, so the right-hand side is minus what runs.
                Some(peak) => {
                    add(&mut sum, peaks[peak], -1);
                    constraints.push(constraint!(sum <= float(i128::from(free - UNLIMITED))));
                }
                // Where there is no limit, there is nothing to keep.
                None if free >= UNLIMITED / 2 => {}
                None => constraints.push(constraint!(sum <= float(i128::from(free.max(0))))),
            }
        }
    }
    constraints
}

/// (4) What earlier levels reached is kept.
fn earlier_levels(
    program: &Program<'_>,
    columns: &[Column],
    counts: &[Variable],
    outside: &[Variable],
) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    let limits = [(program.kept.hard_max, 0_usize), (program.kept.soft_max, 1)];
    for (limit, which) in limits {
        let Some(limit) = limit else { continue };
        let pick = |losses: (i64, i64)| i128::from(if which == 0 { losses.0 } else { losses.1 });
        let mut sum = Expression::default();
        for (column, count) in columns.iter().zip(counts) {
            add(&mut sum, *count, pick(program.losses(*column)));
        }
        for (class, out) in outside.iter().enumerate() {
            add(&mut sum, *out, pick(program.outside_losses(class)));
        }
        constraints.push(constraint!(sum <= float(i128::from(limit))));
    }
    constraints
}

/// The greatest common divisor of the weights, so that prices in billionths do not reach the solver.
#[must_use]
pub fn unit(totals: &[Total]) -> i128 {
    totals.iter().map(|total| total.weight).fold(0, gcd).max(1)
}

fn add(sum: &mut Expression, variable: Variable, factor: i128) {
    if factor != 0 {
        sum.add_mul(float(factor), variable);
    }
}

fn count(program: &Program<'_>, class: usize) -> i128 {
    i128::try_from(program.count(class)).unwrap_or(i128::MAX)
}
