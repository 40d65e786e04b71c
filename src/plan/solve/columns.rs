//! Column generation: the linear relaxation of a program without ever writing down all of its columns.
//!
//! A round solves the relaxation over the columns so far and prices all others by prefix sums of the capacity duals; the
//! price of what is missing, times how many jobs there are, is what the round's value may still fall by. So each round gives
//! a valid bound, and the best of them is kept.

use crate::plan::board::Place;
use crate::plan::formulation::float;
#[cfg(feature = "solver-highs")]
use crate::plan::formulation::unit;
use crate::plan::program::{Column, Program};

/// The relaxation as far as it got.
#[derive(Debug, Clone)]
pub struct Relaxed {
    /// Valid for every integral solution, in units of the scale, rounded up.
    pub bound: Option<i128>,
    /// Columns that took part.
    pub columns: Vec<Column>,
    /// All columns whose reduced cost is at most the given slack are enough to hold every solution within it.
    prices: Option<Prices>,
}

#[derive(Debug, Clone)]
struct Prices {
    value: f64,
    of_class: Vec<f64>,
    /// Per capacity row: prefix sums of its duals over slots.
    sums: Vec<Vec<f64>>,
    losses: (f64, f64),
}

impl Relaxed {
    /// Every column that a solution of at most `value` could use, by reduced cost; `None` when they are more than `limit`
    /// or the relaxation did not converge.
    #[must_use]
    pub fn columns_within(&self, program: &Program<'_>, scale: i128, value: i128, limit: usize) -> Option<Vec<Column>> {
        let prices = self.prices.as_ref()?;
        let slack = float(value) - prices.value + 1e-6 * prices.value.abs().max(1.0);
        let mut kept = Vec::new();
        for class in 0..program.classes.len() {
            for option in 0..program.model.jobs[program.head(class)].options.len() {
                for start in program.starts(class, option) {
                    let column = Column { class, place: Place { option, start } };
                    if prices.reduced(program, column, scale) <= slack {
                        if kept.len() == limit {
                            return None;
                        }
                        kept.push(column);
                    }
                }
            }
        }
        Some(kept)
    }

    /// The `limit` columns of least reduced cost.
    #[must_use]
    pub fn best_columns(&self, program: &Program<'_>, scale: i128, limit: usize) -> Vec<Column> {
        let Some(prices) = self.prices.as_ref() else { return self.columns.clone() };
        let mut all: Vec<(f64, Column)> = Vec::new();
        for class in 0..program.classes.len() {
            for option in 0..program.model.jobs[program.head(class)].options.len() {
                for start in program.starts(class, option) {
                    let column = Column { class, place: Place { option, start } };
                    all.push((prices.reduced(program, column, scale), column));
                }
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(limit).map(|(_, column)| column).collect()
    }
}

impl Prices {
    fn reduced(&self, program: &Program<'_>, column: Column, scale: i128) -> f64 {
        let mut cost = float(program.cost(column) / scale) - self.of_class[column.class];
        for (row, from, to, amount) in program.takes(column) {
            cost -= float(i128::from(amount)) * (self.sums[row][to] - self.sums[row][from]);
        }
        let losses = program.losses(column);
        cost - self.losses.0 * float(i128::from(losses.0)) - self.losses.1 * float(i128::from(losses.1))
    }
}

/// Solves the relaxation from the columns of a known solution, for at most so many milliseconds.
#[cfg(feature = "solver-highs")]
#[must_use]
pub fn relax(
    program: &Program<'_>,
    start: &[(Column, usize)],
    scale: i128,
    elapsed: &dyn Fn() -> u64,
    until: u64,
) -> Relaxed {
    Rounds::new(program, start, scale).run(elapsed, until)
}

/// Without HiGHS there is no relaxation: bounds come from elsewhere.
#[cfg(not(feature = "solver-highs"))]
#[must_use]
pub fn relax(
    _program: &Program<'_>,
    start: &[(Column, usize)],
    _scale: i128,
    _elapsed: &dyn Fn() -> u64,
    _until: u64,
) -> Relaxed {
    Relaxed { bound: None, columns: start.iter().map(|(column, _)| *column).collect(), prices: None }
}

#[cfg(feature = "solver-highs")]
struct Rounds<'p, 'a> {
    program: &'p Program<'a>,
    scale: i128,
    model: Option<highs::Model>,
    class_rows: Vec<highs::Row>,
    /// Per capacity row and slot; `None` where nothing could ever be tight.
    slot_rows: Vec<Vec<Option<highs::Row>>>,
    loss_rows: (Option<highs::Row>, Option<highs::Row>),
    /// In the order in which rows were added: what each dual belongs to.
    meaning: Vec<Meaning>,
    columns: Vec<Column>,
    known: std::collections::HashSet<Column>,
}

#[cfg(feature = "solver-highs")]
#[derive(Clone, Copy)]
enum Meaning {
    Class(usize),
    Capacity(usize, usize),
    Hard,
    Soft,
    Peaks,
}

/// Columns added per class and round at most: fewer rounds against larger relaxations.
#[cfg(feature = "solver-highs")]
const PER_CLASS: usize = 4;

#[cfg(feature = "solver-highs")]
impl<'p, 'a> Rounds<'p, 'a> {
    fn new(program: &'p Program<'a>, start: &[(Column, usize)], scale: i128) -> Self {
        let mut problem = highs::ColProblem::new();
        let mut meaning = Vec::new();
        let class_rows: Vec<highs::Row> = (0..program.classes.len())
            .map(|class| {
                meaning.push(Meaning::Class(class));
                let count = float(i128::try_from(program.count(class)).unwrap_or(0));
                problem.add_row(count..=count)
            })
            .collect();
        let mut reach: Vec<Vec<bool>> = vec![vec![false; program.model.slots()]; program.capacity.len()];
        for class in 0..program.classes.len() {
            for option in 0..program.model.jobs[program.head(class)].options.len() {
                let starts = program.starts(class, option);
                if starts.is_empty() {
                    continue;
                }
                for start in [starts.start, starts.end - 1] {
                    for (row, from, to, _) in program.takes(Column { class, place: Place { option, start } }) {
                        reach[row][from..to].fill(true);
                    }
                }
                for (row, from, _, _) in program.takes(Column { class, place: Place { option, start: starts.start } }) {
                    // What is shorter than a slot may start at the very end, where there is no slot.
                    reach[row][from..starts.end.min(program.model.slots())].fill(true);
                }
            }
        }
        let mut slot_rows = Vec::with_capacity(program.capacity.len());
        for (index, row) in program.capacity.iter().enumerate() {
            let mut of_slots = Vec::with_capacity(row.free.len());
            for (slot, free) in row.free.iter().enumerate() {
                of_slots.push(reach[index][slot].then(|| {
                    meaning.push(Meaning::Capacity(index, slot));
                    let free = match row.peak {
                        Some(_) => free - crate::plan::lane::UNLIMITED,
                        None => (*free).max(0),
                    };
                    problem.add_row(..=float(i128::from(free)))
                }));
            }
            slot_rows.push(of_slots);
        }
        let mut loss_row = |limit: Option<i64>, which: Meaning| {
            limit.map(|limit| {
                meaning.push(which);
                problem.add_row(..=float(i128::from(limit)))
            })
        };
        let hard = loss_row(program.kept.hard_max, Meaning::Hard);
        let soft = loss_row(program.kept.soft_max, Meaning::Soft);
        let peak_row = program.kept.peak_max.map(|(totals, most)| {
            meaning.push(Meaning::Peaks);
            problem.add_row(..=float(most / unit(totals)))
        });
        let mut rounds = Self {
            program,
            scale,
            model: None,
            class_rows,
            slot_rows,
            loss_rows: (hard, soft),
            meaning,
            columns: Vec::new(),
            known: std::collections::HashSet::new(),
        };
        for class in 0..program.classes.len() {
            let factors = rounds.outside_factors(class);
            problem.add_column(float(program.outside_cost(class) / scale), 0.0.., factors);
        }
        for (index, total) in program.totals().iter().enumerate() {
            let rows = rounds.program.capacity.iter().enumerate().filter(|(_, row)| row.peak == Some(index));
            let mut factors: Vec<(highs::Row, f64)> =
                rows.flat_map(|(row, _)| rounds.slot_rows[row].iter().flatten().map(|row| (*row, -1.0))).collect();
            factors.extend(peak_row.map(|row| (row, float(total.weight / unit(program.totals())))));
            let cost = float(program.peak_cost(total) / scale);
            problem.add_column(cost, float(i128::from(total.floor)).., factors);
        }
        for (column, _) in start {
            if rounds.known.insert(*column) {
                rounds.columns.push(*column);
                let factors = rounds.factors(*column);
                problem.add_column(float(program.cost(*column) / scale), 0.0.., factors);
            }
        }
        let mut model = problem.optimise(highs::Sense::Minimise);
        model.make_quiet();
        model.set_option("threads", 1);
        rounds.model = Some(model);
        rounds
    }

    fn outside_factors(&self, class: usize) -> Vec<(highs::Row, f64)> {
        let losses = self.program.outside_losses(class);
        let mut factors = vec![(self.class_rows[class], 1.0)];
        self.loss_factors(&mut factors, losses);
        factors
    }

    fn factors(&self, column: Column) -> Vec<(highs::Row, f64)> {
        let mut factors = vec![(self.class_rows[column.class], 1.0)];
        for (row, from, to, amount) in self.program.takes(column) {
            let rows = self.slot_rows[row][from..to].iter().flatten();
            factors.extend(rows.map(|row| (*row, float(i128::from(amount)))));
        }
        self.loss_factors(&mut factors, self.program.losses(column));
        factors
    }

    fn loss_factors(&self, factors: &mut Vec<(highs::Row, f64)>, losses: (i64, i64)) {
        for (row, loss) in [(self.loss_rows.0, losses.0), (self.loss_rows.1, losses.1)] {
            if let Some(row) = row
                && loss != 0
            {
                factors.push((row, float(i128::from(loss))));
            }
        }
    }

    fn run(mut self, elapsed: &dyn Fn() -> u64, until: u64) -> Relaxed {
        let mut best: Option<f64> = None;
        let mut prices: Option<Prices> = None;
        loop {
            let left = until.saturating_sub(elapsed());
            let Some(mut model) = self.model.take().filter(|_| left > 0) else { break };
            model.set_option("time_limit", f64::from(u32::try_from(left).unwrap_or(u32::MAX)) / 1000.0);
            let Ok(solved) = model.try_solve() else { break };
            if solved.status() != highs::HighsModelStatus::Optimal {
                break;
            }
            let round = self.read(&solved);
            let (fresh, shortfall) = self.price(&round);
            let bound = round.value + shortfall;
            best = Some(best.map_or(bound, |known: f64| known.max(bound)));
            let converged = fresh.is_empty();
            let mut model = highs::Model::from(solved);
            for column in fresh {
                if self.known.insert(column) {
                    self.columns.push(column);
                    let cost = float(self.program.cost(column) / self.scale);
                    model.add_col(cost, 0.0.., self.factors(column));
                }
            }
            self.model = Some(model);
            if converged {
                prices = Some(round);
                break;
            }
        }
        Relaxed { bound: best.and_then(crate::plan::solve::bound_up), columns: self.columns, prices }
    }

    fn read(&self, solved: &highs::SolvedModel) -> Prices {
        let solution = solved.get_solution();
        let mut prices = Prices {
            value: solved.objective_value(),
            of_class: vec![0.0; self.class_rows.len()],
            sums: vec![vec![0.0; self.program.model.slots() + 1]; self.program.capacity.len()],
            losses: (0.0, 0.0),
        };
        for (dual, meaning) in solution.dual_rows().iter().zip(&self.meaning) {
            match meaning {
                Meaning::Class(class) => prices.of_class[*class] = *dual,
                // A capacity row never pays: what is positive is noise.
                Meaning::Capacity(row, slot) => prices.sums[*row][slot + 1] = dual.min(0.0),
                Meaning::Hard => prices.losses.0 = dual.min(0.0),
                Meaning::Soft => prices.losses.1 = dual.min(0.0),
                // No column takes part in it: peaks do, and all of them are in the model.
                Meaning::Peaks => {}
            }
        }
        for sums in &mut prices.sums {
            for slot in 1..sums.len() {
                sums[slot] += sums[slot - 1];
            }
        }
        prices
    }

    /// Columns that would lower the value, best first per class, and by how much all of them together could at most.
    fn price(&self, prices: &Prices) -> (Vec<Column>, f64) {
        let mut fresh = Vec::new();
        // Prices within the solver's tolerance are not looked at, but counted.
        let mut shortfall = -1e-7 * float(i128::try_from(self.program.model.jobs.len()).unwrap_or(0));
        for class in 0..self.class_rows.len() {
            let mut found: Vec<(f64, Column)> = Vec::new();
            for option in 0..self.program.model.jobs[self.program.head(class)].options.len() {
                for start in self.program.starts(class, option) {
                    let column = Column { class, place: Place { option, start } };
                    let reduced = prices.reduced(self.program, column, self.scale);
                    if reduced < -1e-7 {
                        found.push((reduced, column));
                    }
                }
            }
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            if let Some((least, _)) = found.first() {
                shortfall += least * float(i128::try_from(self.program.count(class)).unwrap_or(0));
            }
            fresh.extend(
                found.into_iter().map(|(_, column)| column).filter(|c| !self.known.contains(c)).take(PER_CLASS),
            );
        }
        (fresh, shortfall)
    }
}
