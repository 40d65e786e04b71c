//! Asking a solver, and believing it only as far as it proves: every answer is one of ours, in integers.
//!
//! A mixed-integer solve runs on its own thread; HiGHS does not keep its time limit strictly, so the caller waits a little
//! longer than that and then leaves the thread behind rather than the user waiting. Values come back rounded; the caller
//! puts them on a board. A bound is rounded up only as far as integrality of the objective allows.

use core::time::Duration;
use std::sync::mpsc;

use good_lp::SolverModel;
#[cfg(not(feature = "solver-highs"))]
use good_lp::{Solution, Variable};

pub mod columns;

use crate::plan::formulation::{Formulation, formulate};
use crate::plan::program::{Column, Goal, Program};

/// What a mixed-integer solve came back with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Columns with a count above zero; `None` when it found nothing in time.
    pub counts: Option<Vec<(Column, usize)>>,
    /// No solution over the given columns costs less; in units of the scale, rounded up to an integer.
    pub bound: Option<i128>,
}

/// How far a solve may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub millis: u64,
    /// Branch-and-bound nodes; the deterministic limit.
    pub nodes: Option<i32>,
    /// Relative gap at which it may stop, in thousandths.
    pub gap_permille: u32,
}

/// Where a solver begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// At the plan at hand: what comes back soon is no worse.
    Known,
    /// At nothing. That takes longer and ends where the search has never been. Of 2,000 jobs (`n2000c` of the benchmark), with
    /// 14 late at hand, three solves of 20 s from there left 12, 13 and 14 late; of four from nothing three found the least,
    /// 10, within 9 to 18 s.
    Nothing,
}

impl Begin {
    /// The solution to begin at: empty for none.
    #[must_use]
    pub fn of(self, known: &[(Column, usize)]) -> &[(Column, usize)] {
        match self {
            Self::Known => known,
            Self::Nothing => &[],
        }
    }
}

/// Waits this much longer than a solver's own limit before leaving it behind.
const GRACE_MILLIS: u64 = 400;

/// A solve on its way, on a thread of its own. Dropped, it is left behind and ends by its own limit.
pub struct Asked<'c> {
    columns: &'c [Column],
    limits: Limits,
    receiver: mpsc::Receiver<Found>,
    /// What has come already.
    come: Option<Found>,
}

impl Asked<'_> {
    /// Whether there is no answer yet.
    pub fn is_pending(&mut self) -> bool {
        if self.come.is_none() {
            self.come = match self.receiver.try_recv() {
                Ok(answer) => Some(answer),
                // The thread has ended without an answer.
                Err(mpsc::TryRecvError::Disconnected) => Some((None, None)),
                Err(mpsc::TryRecvError::Empty) => None,
            };
        }
        self.come.is_none()
    }

    /// The answer, for which this waits as long as the solve may take and a little longer.
    #[must_use]
    pub fn wait(mut self) -> Answer {
        let patience = Duration::from_millis(self.limits.millis.saturating_add(GRACE_MILLIS));
        let come = self.come.take().or_else(|| self.receiver.recv_timeout(patience).ok());
        let (solution, bound) = come.unwrap_or_default();
        let counts = solution.map(|values| {
            let rounded = values.iter().map(|value| rounded(*value));
            self.columns.iter().copied().zip(rounded).filter(|(_, count)| *count > 0).collect()
        });
        Answer { counts, bound: bound.and_then(bound_up) }
    }
}

/// Begins to minimize a program over the given columns, from a known solution or, where `start` is empty, from none: then
/// it looks for one of its own, which may be quite another.
#[must_use]
pub fn ask<'c>(
    program: &Program<'_>,
    columns: &'c [Column],
    start: &[(Column, usize)],
    scale: i128,
    limits: Limits,
) -> Asked<'c> {
    let formulation = formulate(program, columns, scale);
    let values = if start.is_empty() { Vec::new() } else { start_values(program, columns, start) };
    let (sender, receiver) = mpsc::channel();
    // Without a thread the sender is gone, and there is no answer.
    let _spawned = std::thread::Builder::new().name("stagger-solve".to_owned()).spawn(move || {
        // The receiver may have left: then nobody wants the answer.
        let _ = sender.send(run(formulation, &values, limits));
    });
    Asked { columns, limits, receiver, come: None }
}

/// Minimizes a program over the given columns, as [`ask`] does.
#[must_use]
pub fn minimize(
    program: &Program<'_>,
    columns: &[Column],
    start: &[(Column, usize)],
    scale: i128,
    limits: Limits,
) -> Answer {
    ask(program, columns, start, scale, limits).wait()
}

/// A solver's bound as an integer that is certainly valid: its tolerance is given away first.
#[must_use]
pub fn bound_up(bound: f64) -> Option<i128> {
    if !bound.is_finite() || bound.abs() > 9.0e15 {
        return None;
    }
    let tolerance = 1e-6 * bound.abs().max(1.0);
    #[expect(clippy::cast_possible_truncation, reason = "bounds beyond 2^53 were refused above")]
    let integer = (bound - tolerance).ceil() as i128;
    Some(integer)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of jobs are small and not negative; anything else is caught when they are put on a board"
)]
fn rounded(value: f64) -> usize {
    value.round().max(0.0) as usize
}

/// Values for all variables in the formulation's order, from counted columns.
fn start_values(program: &Program<'_>, columns: &[Column], start: &[(Column, usize)]) -> Vec<f64> {
    use crate::plan::formulation::float;
    let counts: std::collections::BTreeMap<Column, usize> = start.iter().copied().collect();
    let as_float = |count: usize| float(i128::try_from(count).unwrap_or(0));
    let mut left: Vec<usize> = (0..program.classes.len()).map(|class| program.count(class)).collect();
    let mut values: Vec<f64> = Vec::with_capacity(columns.len() + left.len());
    for column in columns {
        let count = counts.get(column).copied().unwrap_or(0);
        left[column.class] = left[column.class].saturating_sub(count);
        values.push(as_float(count));
    }
    values.extend(left.into_iter().map(as_float));
    if let Goal::Peak(totals) = &program.goal {
        for (index, total) in totals.iter().enumerate() {
            values.push(float(i128::from(peak_of(program, start, index, total.floor))));
        }
    }
    values
}

fn peak_of(program: &Program<'_>, start: &[(Column, usize)], peak: usize, floor: i64) -> i64 {
    let mut most = floor;
    for (index, row) in program.capacity.iter().enumerate().filter(|(_, row)| row.peak == Some(peak)) {
        let mut used: Vec<i64> = row.free.iter().map(|free| crate::plan::lane::UNLIMITED - free).collect();
        for (column, count) in start {
            for (at, from, to, amount) in program.takes(*column) {
                if at == index {
                    for used in &mut used[from..to] {
                        *used += amount * i64::try_from(*count).unwrap_or(0);
                    }
                }
            }
        }
        most = most.max(used.into_iter().max().unwrap_or(0));
    }
    most
}

/// (values of the column variables, bound).
type Found = (Option<Vec<f64>>, Option<f64>);

#[cfg(feature = "solver-highs")]
fn run(formulation: Formulation, start: &[f64], limits: Limits) -> Found {
    use highs::HighsModelStatus as Status;
    let Formulation { problem, constraints, columns, .. } = formulation;
    let mut unsolved = problem.using(good_lp::solvers::highs::highs);
    for constraint in constraints {
        unsolved.add_constraint(constraint);
    }
    let mut model = unsolved.into_inner();
    model.make_quiet();
    let seconds = f64::from(u32::try_from(limits.millis).unwrap_or(u32::MAX)) / 1000.0;
    model.set_option("time_limit", seconds);
    model.set_option("threads", 1);
    model.set_option("parallel", "off");
    model.set_option("mip_rel_gap", f64::from(limits.gap_permille) / 1000.0);
    if let Some(nodes) = limits.nodes {
        model.set_option("mip_max_nodes", nodes);
    }
    if !start.is_empty() && start.len() == model.num_cols() {
        // A start that HiGHS refuses costs nothing: it solves without.
        let _ = model.try_set_solution(Some(start), None, None, None);
    }
    let Ok(solved) = model.try_solve() else { return (None, None) };
    let bound = match solved.status() {
        Status::Optimal
        | Status::ReachedTimeLimit
        | Status::ReachedSolutionLimit
        | Status::ReachedInterrupt
        | Status::ReachedIterationLimit => solved.double_info_value(c"mip_dual_bound").ok(),
        _ => None,
    };
    let has_solution = solved.primal_solution_status() == highs::HighsSolutionStatus::Feasible;
    let values = has_solution.then(|| solved.get_solution().columns()[..columns.len()].to_vec());
    (values, bound)
}

/// Without a C++ solver: exact only for tiny models, and without a bound before it ends.
#[cfg(not(feature = "solver-highs"))]
fn run(formulation: Formulation, start: &[f64], limits: Limits) -> Found {
    let _ = (start, limits);
    let Formulation { problem, constraints, columns, .. } = formulation;
    let mut unsolved = problem.using(good_lp::solvers::microlp::microlp);
    for constraint in constraints {
        unsolved.add_constraint(constraint);
    }
    let Ok(solution) = unsolved.solve() else { return (None, None) };
    let values: Vec<f64> = columns.iter().map(|column: &Variable| solution.value(*column)).collect();
    (Some(values), None)
}

/// Most columns of a model that the built-in solver is asked about.
#[cfg(feature = "solver-highs")]
pub const COLUMNS_MAX: usize = 15_000;
/// microlp has found nothing within seconds at a hundred jobs; it is asked about tiny models only.
#[cfg(not(feature = "solver-highs"))]
pub const COLUMNS_MAX: usize = 60;
