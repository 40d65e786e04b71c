//! Buy or stagger: one row per option on the same load, the smallest pool that is enough, and the verdict.
//!
//! The walk of [`compare`]:
//! 1. everything at once, Kueue alone, staggered with today's quota;
//! 2. every option that somebody named;
//! 3. the smallest pool that meets every hard deadline, with its proof (`smallest`, `mixed`);
//! 4. rows made consistent: none is worse than a known plan that fits it (`adopt`);
//! 5. what the last GPU is worth, row by row and over the size of the pool (`marginal`);
//! 6. the verdict: what to do, the smallest purchase, what relaxing would do instead, and how sure that is (`verdict`);
//! 7. what moves it most (`tornado`).
//!
//! Laws: adding GPUs never makes a level worse; a price never changes which deadlines are met; *proven* is said only of what
//! a bound, a certificate or a checked plan shows; a verdict always tells its bound. The planner, Kueue and the clock are
//! handed in. The time there is is shared out among the parts (`pace`). Once the watch says stop, finished rows stay and
//! the others are listed as left out; what was planned can be kept and taken up again (`journal`).
//! Deliberately absent: reading options from text (`kueue::changes`), sampling runtimes, replaying the past.

pub mod addition;
pub mod adopt;
mod ample;
mod bench;
pub mod break_even;
pub mod change;
pub mod document;
pub mod growth;
pub mod idle;
pub mod journal;
pub mod marginal;
pub mod measured;
pub mod mixed;
mod pace;
pub mod pool;
pub mod relaxation;
pub mod row;
pub mod smallest;
mod target;
pub mod tornado;
pub mod verdict;
pub mod words;

use serde::Serialize;

use crate::plan::proposal::{LevelName, Plan};
use crate::plan::snapshot::{CellId, Objective, Policy, Promise, Snapshot};
use crate::plan::stand;
use crate::plan::watch::Watch;
use crate::units::{Amount, Money, Timestamp};

pub use change::Change;
pub use row::{AloneRun, Basis, Row};

use bench::Bench;
use marginal::Curve;
use measured::Measured;
use pace::Pace;
use pool::Axis;
use smallest::Smallest;
use target::Target;
use tornado::Tornado;
use verdict::Verdict;

/// Options in one comparison: a table with more rows is not read.
pub const OPTIONS_MAX: usize = 32;

/// How a snapshot is planned.
pub type Solve<'a> = dyn Fn(&Snapshot, &Policy) -> Plan + 'a;
/// What Kueue on its own does with a snapshot.
pub type Alone<'a> = dyn Fn(&Snapshot) -> AloneRun + 'a;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub snapshot: &'a Snapshot,
    pub policy: &'a Policy,
    /// Today's plan, with its conflicts.
    pub plan: &'a Plan,
    pub changes: &'a [Change],
    /// What a report has measured.
    pub measured: Option<&'a Measured>,
    /// What an owned device-hour costs, by cell.
    pub own: &'a [(CellId, Money)],
}

/// What answering needs from outside.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    pub solve: &'a Solve<'a>,
    /// A plan that is only as good as it takes to tell which deadlines can be met.
    pub probe: &'a Solve<'a>,
    pub alone: &'a Alone<'a>,
    pub watch: &'a dyn Watch,
    /// What the whole comparison may take by that watch; `None` where steps bound the search instead.
    pub limit_millis: Option<u64>,
    /// Told the name of each part as it begins.
    pub begins: &'a dyn Fn(&str),
}

/// The whole answer.
#[derive(Debug, Clone)]
pub struct WhatIf {
    pub now: Timestamp,
    pub horizon_end: Timestamp,
    pub time_zone: String,
    pub currency: Option<String>,
    pub objective: Objective,
    pub promise: Promise,
    /// SHA-256 over everything that was asked, hexadecimal.
    pub input_digest: String,
    pub seed: u64,
    pub verdict: Verdict,
    pub smallest: Smallest,
    /// The pools that the load asks for, in the order of [`smallest::SmallestPool`] and of a point's sizes.
    pub axes: Vec<Axis>,
    /// Everything at once, Kueue alone, staggered, the smallest pool, then options as given.
    pub rows: Vec<Row>,
    /// Deadlines met over the size of the pool that is asked most of.
    pub curve: Option<Curve>,
    /// What moves the verdict most, on that pool.
    pub tornado: Option<Tornado>,
    /// Parts that were not begun before the watch said stop.
    pub left_out: Vec<String>,
    pub measured: Option<Measured>,
}

/// Compares.
#[must_use]
pub fn compare(question: &Question<'_>, tools: &Tools<'_>) -> WhatIf {
    let Question { snapshot, policy, measured, .. } = *question;
    let pace = Pace::new(tools);
    let solve = |snapshot: &Snapshot, policy: &Policy| pace.plan(tools.solve, snapshot, policy);
    let probe = |snapshot: &Snapshot, policy: &Policy| pace.plan(tools.probe, snapshot, policy);
    let tools = &Tools { solve: &solve, probe: &probe, ..*tools };
    // A search for pools ends with its part, a row only with the whole.
    let searching = &Tools { watch: &pace, ..*tools };
    let bench = Bench::new(policy, tools);
    let axes = pool::axes(snapshot, policy.promise);
    let target = Target::new(snapshot, policy, axes.clone(), searching);
    let mut left_out = Vec::new();

    // 1. Today. A plan that a closer look at the hard deadlines betters is bettered.
    (tools.begins)("today");
    pace.share(8, 3);
    bench.know(0, question.plan);
    let plan = today(question, &bench, &target);
    let base = Change::default();
    let mut rows = vec![
        row::all_at_once(snapshot, measured),
        row::kueue_alone(snapshot, (tools.alone)(snapshot), measured),
        row::planned((Basis::Staggered, "staggered"), base, snapshot.clone(), plan, policy, measured),
    ];

    // 2. Options that somebody named.
    let named_max = question.changes.len().min(OPTIONS_MAX);
    for (at, change) in question.changes.iter().take(OPTIONS_MAX).enumerate() {
        pace.share(28, named_max - at);
        if bench.stopped() {
            left_out.push(change.name.clone());
            continue;
        }
        (tools.begins)(&change.name);
        rows.push(named(question, &bench, change));
    }

    // 3. The smallest pool.
    (tools.begins)("smallest pool");
    pace.share(42, 10 * axes.len().clamp(1, 3));
    let smallest = smallest::find(&target);
    let cut = pace.is_over();
    pace.share(50, 2);
    if let Some(row) = smallest_row(question, &bench, &target, &smallest) {
        rows.insert(3, row);
    } else if cut || bench.stopped() {
        left_out.push("smallestPool".to_owned());
    }

    // 4. and 5. Consistent rows, and what the last GPU of each is worth.
    pace.share(58, rows.len());
    for row in &mut rows {
        (tools.begins)(&format!("one GPU fewer: {}", row.option));
        row.marginal = marginal::of_row(&bench, tools.alone, row, &axes);
    }
    if bench.stopped() && rows.iter().any(|row| row.plan.is_some() && row.marginal.is_none()) {
        left_out.push("what the last GPU brings".to_owned());
    }
    let wanted = smallest.per_pool.first().and_then(|pool| pool.quantity);
    let curve = axes.first().filter(|_| !bench.stopped()).map(|main| {
        (tools.begins)("sizes of the pool");
        pace.share(67, marginal::POINTS_TYPICAL);
        marginal::curve(&bench, snapshot, main, wanted)
    });
    for row in &mut rows {
        settle(question, &bench, row);
    }

    // 6. What to do.
    (tools.begins)("verdict");
    pace.share(75, 16);
    let verdict = verdict::find(question, &bench, &target, &smallest, &rows);
    if curve.is_none() && !axes.is_empty() {
        left_out.push("sizes of the pool".to_owned());
    }
    // 7. What it rests on.
    (tools.begins)("what moves the verdict");
    pace.share(98, tornado::PROBES_TYPICAL);
    let tornado = axes.first().filter(|_| !bench.stopped()).and_then(|main| tornado::find(question, searching, main));
    if tornado.is_none() && !axes.is_empty() {
        left_out.push("what moves the verdict".to_owned());
    }
    WhatIf {
        now: snapshot.now,
        horizon_end: snapshot.horizon_end,
        time_zone: snapshot.time_zone.clone(),
        currency: snapshot.currency.clone(),
        objective: policy.objective,
        promise: policy.promise,
        input_digest: digest(question),
        seed: policy.seed,
        verdict,
        smallest,
        axes,
        rows,
        curve,
        tornado,
        left_out,
        measured: measured.cloned(),
    }
}

/// Today's plan, or a better one where the hard deadlines alone were planned better.
fn today(question: &Question<'_>, bench: &Bench<'_>, target: &Target<'_>) -> Plan {
    let Question { snapshot, policy, plan, .. } = *question;
    let attainable = |at: &usize| target::is_attainable(snapshot, policy, &snapshot.workloads[*at]);
    let misses = target::missed(snapshot, plan).iter().any(attainable);
    if misses && let target::Answer::Enough(hard) = target.enough(&target.today()) {
        return bench.plan_from(snapshot, 0, &hard);
    }
    plan.clone()
}

/// A named option. A price alone moves no start that a deadline rests on.
fn named(question: &Question<'_>, bench: &Bench<'_>, change: &Change) -> Row {
    let Question { snapshot, policy, plan, measured, .. } = *question;
    let changed = change.apply(snapshot);
    let planned = if change.is_price_only() {
        priced(policy, bench, &changed, plan)
    } else {
        bench.plan(&changed, change.growth_percent)
    };
    row::planned((Basis::Named, &change.name), change.clone(), changed, planned, policy, measured)
}

/// The same starts at other prices; under LowestCost the plan may move work, if it keeps what every deadline got.
fn priced(policy: &Policy, bench: &Bench<'_>, changed: &Snapshot, plan: &Plan) -> Plan {
    let kept = adopt::adopt(changed, policy, plan, plan);
    let Some(kept) = kept else { return bench.plan(changed, 0) };
    if policy.objective == Objective::EarliestFinish {
        return kept;
    }
    let anew = (bench.tools.solve)(changed, policy);
    let counts = |plan: &Plan| (plan.summary.on_time, plan.summary.at_risk, plan.summary.late);
    let better = adopt::rank(changed, &anew) < adopt::rank(changed, &kept);
    if better && counts(&anew) == counts(&kept) { anew } else { kept }
}

fn smallest_row(question: &Question<'_>, bench: &Bench<'_>, target: &Target<'_>, smallest: &Smallest) -> Option<Row> {
    let Question { snapshot, policy, measured, .. } = *question;
    let best = smallest.best.as_ref()?;
    let target::Answer::Enough(hard) = target.enough(&best.sizes) else { return None };
    let changed = target.with(snapshot, &best.sizes);
    let plan = bench.plan_from(&changed, 0, &hard);
    let base = Change::default();
    Some(row::planned((Basis::SmallestPool, "smallestPool"), base, changed, plan, policy, measured))
}

/// Takes over a better plan that was found for another row since.
fn settle(question: &Question<'_>, bench: &Bench<'_>, row: &mut Row) {
    let Some(plan) = row.plan.take() else { return };
    if row.change.is_price_only() {
        row.plan = Some(plan);
        return;
    }
    let best = bench.settle(&row.snapshot, row.change.growth_percent, plan.clone());
    if best.releases == plan.releases {
        row.plan = Some(plan);
        return;
    }
    let (marginal, name, basis) = (row.marginal.take(), row.option.clone(), row.basis);
    let change = row.change.clone();
    let mut better =
        row::planned((basis, &name), change, row.snapshot.clone(), best, question.policy, question.measured);
    better.marginal = marginal.map(|mut last| {
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        last.on_time += count(better.summary.on_time) - count(row.summary.on_time);
        last.hard_value +=
            row.hard_missed().map_or(0, |level| level.0) - better.hard_missed().map_or(0, |level| level.0);
        last
    });
    *row = better;
}

/// The plan's hard value missed.
pub(in crate::plan) fn rank_hard(plan: &Plan) -> i128 {
    let hard = plan.quality.levels.iter().find(|level| level.name == LevelName::HardMissed);
    hard.map_or(0, |level| level.value)
}

/// The size of a pool in whole devices, rounded down.
#[must_use]
pub fn devices(quantity: Amount, unit: i64) -> i64 {
    quantity.0.div_euclid(unit.max(1))
}

fn digest(question: &Question<'_>) -> String {
    #[derive(Serialize)]
    struct Asked<'a> {
        plan: &'a str,
        changes: &'a [Change],
        measured: Option<&'a Measured>,
        own: Vec<(u32, String)>,
    }
    let own = question.own.iter().map(|(cell, money)| (cell.0, money.decimal())).collect();
    stand::digest(&Asked {
        plan: &question.plan.input_digest,
        changes: question.changes,
        measured: question.measured,
        own,
    })
}
