//! `summarize`: charges + verdicts + window → report.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::charge::{Charge, Priced};
use crate::ledger::run::{Run, Window};
use crate::names::WorkloadKey;
use crate::outcome::settle::{Outcome, Promise};

use super::Report;
use super::cause::Causes;
use super::group::{Dimension, Group, Key};
use super::reconcile::reconcile;
use super::runtimes::runtimes;
use super::unit_cost::cost_per_verified_outcome;

/// What a report is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The slice that was priced.
    pub runs: &'a [Run],
    pub priced: &'a Priced,
    pub outcomes: &'a [Outcome],
    /// What was promised for each workload.
    pub promises: &'a BTreeMap<WorkloadKey, Promise>,
    pub by: &'a [Dimension],
    /// Count only outcomes completed in the priced window. Without a window that somebody chose there is no outside.
    pub window_is_chosen: bool,
}

/// Adds everything up.
#[must_use]
pub fn summarize(request: &Request<'_>) -> Report {
    let Request { runs, priced, outcomes, promises, by, window_is_chosen } = *request;
    let (counted, outside): (Vec<&Outcome>, Vec<&Outcome>) = outcomes
        .iter()
        .partition(|outcome| !window_is_chosen || outcome.completed_at.is_none_or(|at| priced.window.contains(at)));
    let places = Places::of(runs, outcomes);
    let causes = Causes::of(outcomes);
    let mut total = Group::default();
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    let mut group_of = |key: &Key, change: &dyn Fn(&mut Group)| {
        let key = key.clone().cut(by);
        change(groups.entry(key.clone()).or_insert_with(|| Group { key, ..Group::default() }));
        change(&mut total);
    };
    for charge in priced.charges.iter().filter(|charge| charge.run.is_some() || charge.tenant.is_some()) {
        let cause = causes.of_charge(charge, runs);
        group_of(&places.of_charge(charge, runs), &|group| group.add_charge(charge, cause));
    }
    for run in runs.iter().filter(|run| touches(run, priced.window)) {
        let seconds = run.held(priced.window).map_or(0, |held| i128::from(held.length().0));
        let gpu_milli_seconds = i128::from(run.gpu_milli()) * seconds;
        let add = |group: &mut Group| group.add_attempt(&run.workload, run.attempt, gpu_milli_seconds);
        group_of(&places.of_run(run), &add);
    }
    for outcome in &counted {
        group_of(&places.of_outcome(outcome, runs), &|group| group.add_outcome(outcome));
    }
    // What was promised and never spoken of is missing, wherever else its workload's outcomes were completed.
    let mut known: BTreeMap<&WorkloadKey, u64> = BTreeMap::new();
    for workload in outcomes.iter().filter_map(|outcome| outcome.workload.as_ref()) {
        *known.entry(workload).or_default() += 1;
    }
    let touched: BTreeSet<&WorkloadKey> =
        runs.iter().filter(|run| touches(run, priced.window)).map(|run| &run.workload).collect();
    for (workload, at) in places.workloads.iter().filter(|(workload, _)| touched.contains(*workload)) {
        let Some(expected) = promises.get(*workload).and_then(|promise| promise.expected) else { continue };
        let known = known.get(workload).copied().unwrap_or(0);
        group_of(&places.of_run(&runs[*at]), &|group| group.add_expected(u64::from(expected), known));
    }
    let reconciliation = reconcile(priced, total.cost);
    let fully_loaded = cost_per_verified_outcome(reconciliation.total, total.outcomes.verified, total.attempts);
    Report {
        window: priced.window,
        currency: priced.currency.clone(),
        prices_from: priced.prices_from,
        by: by.to_vec(),
        total,
        fully_loaded,
        groups: groups.into_values().collect(),
        reconciliation,
        runtimes: runtimes(runs),
        outcomes: counted.into_iter().cloned().collect(),
        outside_window: u64::try_from(outside.len()).unwrap_or(u64::MAX),
        findings: priced.findings.clone(),
    }
}

/// A run of no length costs nothing, but it was an attempt.
fn touches(run: &Run, window: Window) -> bool {
    run.held(window).is_some() || (run.end == Some(run.start) && window.from <= run.start && run.start <= window.to)
}

/// Where things belong.
struct Places<'a> {
    /// Of every attempt, the run that ended last.
    runs: BTreeMap<(&'a WorkloadKey, u32), usize>,
    /// Any run of the workload.
    workloads: BTreeMap<&'a WorkloadKey, usize>,
    /// Classes that only an outcome names.
    classes: BTreeMap<&'a WorkloadKey, &'a str>,
}

impl<'a> Places<'a> {
    fn of(runs: &'a [Run], outcomes: &'a [Outcome]) -> Self {
        let mut places = Self { runs: BTreeMap::new(), workloads: BTreeMap::new(), classes: BTreeMap::new() };
        for (at, run) in runs.iter().enumerate() {
            let order = |at: &usize| (runs[*at].end, runs[*at].order());
            let known = places.runs.entry((&run.workload, run.attempt)).or_insert(at);
            *known = [*known, at].into_iter().max_by(|a, b| order(a).cmp(&order(b))).unwrap_or(at);
            let known = places.workloads.entry(&run.workload).or_insert(at);
            *known = [*known, at].into_iter().min_by(|a, b| order(a).cmp(&order(b))).unwrap_or(at);
        }
        for outcome in outcomes {
            if let (Some(workload), Some(class)) = (&outcome.workload, &outcome.class) {
                places.classes.entry(workload).or_insert(class);
            }
        }
        places
    }

    fn of_run(&self, run: &Run) -> Key {
        let class = run.class.clone().or_else(|| self.classes.get(&run.workload).map(|class| (*class).to_owned()));
        Key {
            tenant: run.tenant.as_ref().map(ToString::to_string),
            class,
            flavor: Some(run.flavor.to_string()),
            queue: run.queue.as_ref().map(ToString::to_string),
        }
    }

    fn of_charge(&self, charge: &Charge, runs: &[Run]) -> Key {
        match charge.run {
            Some(run) => self.of_run(&runs[run]),
            None => Key {
                tenant: charge.tenant.as_ref().map(ToString::to_string),
                flavor: charge.flavor.as_ref().map(ToString::to_string),
                ..Key::default()
            },
        }
    }

    /// An outcome belongs where the attempt ran that decided it.
    fn of_outcome(&self, outcome: &Outcome, runs: &[Run]) -> Key {
        let workload = outcome.workload.as_ref();
        let exact = workload.zip(outcome.attempt).and_then(|key| self.runs.get(&key));
        let run = exact.or_else(|| workload.and_then(|workload| self.workloads.get(workload)));
        let key = run.map(|run| self.of_run(&runs[*run])).unwrap_or_default();
        Key { class: key.class.or_else(|| outcome.class.clone()), ..key }
    }
}
