//! The independent checker: does a plan keep every promise it makes?
//!
//! It is written from the semantics alone and shares no code with the search, the formulation or the summary: it reads
//! a finished [`Plan`] beside the [`Snapshot`] and the [`Policy`] it answers, recomputes everything from whole seconds
//! and whole units, and names each difference with a code (`docs/reference/plan-findings.md`). Only the algebra below
//! is its own; it looks at no grid and at no intermediate result.
//!
//! Capacity, per cell and at every instant:
//! - `subtree(n) = nominal(n) + Σ children (subtree − local)`, where `local(n) = max(0, subtree − lendingLimit)` below the
//!   root when the limit is set, else 0; an `Add` window raises `nominal` while it lasts;
//! - `usage(n) = own(n) + Σ children max(0, usage − local)`, where own is planned work, running work and `Reserve` windows;
//! - below the root with a borrowing limit `b`: `max(0, usage − local) ≤ subtree − local + b`; at the root: `usage ≤ subtree`;
//! - under a `Cap` window everything used in the node's whole subtree, `Reserve`s included, is at most its quantity.
//!
//! Running work, reserves and dropped quotas may exceed a limit on their own: that is no fault of the plan. Planned work
//! may then not add to the usage that is over its limit (work inside a share that is never lent does not).
//!
//! Interruption, for a workload in pieces `1..k` with lengths `d`, resumption cost `c` (0 before the first piece), and the
//! runtime `R` of its option at the promised quantile. Each piece does `d − c` seconds of work:
//! - one piece: `d = R`;
//! - Restartable: an interruption loses all of it, so only the last piece counts: `d_k − c = R`;
//! - Checkpointable with interval `I`: an interruption loses up to `I`, so a piece but the last keeps `max(0, d − c − I)`,
//!   the last keeps `d − c`, and the kept seconds sum to `R`;
//! - every piece is longer than its cost, pieces are apart, and there are at most `max` interruptions.
//!
//! The end at another quantile than the promised one lies as much sooner or later as its runtime is shorter or longer, but
//! not before the last piece has resumed: planned interruptions are taken to happen.
//!
//! Deadlines, tiers and completion are judged at the end at the promised quantile; verdict and slack at p50 and p90.

pub mod codes;

pub(in crate::plan) mod capacity;
mod coverage;
mod figures;
mod frozen;
mod levels;
mod money;
mod peaks;
mod pieces;
mod placement;

use std::collections::HashMap;

use crate::calendar;
use crate::failure::Finding;
use crate::plan::proposal::{Plan, Release};
use crate::plan::snapshot::{CellId, Policy, Promise, Running, Snapshot};
use crate::units::{Amount, Money, Timestamp};

/// A broken plan is broken after this many findings; more would only hide the first.
pub const FINDINGS_MAX: usize = 200;

/// Everything that is wrong with `plan` as an answer to `snapshot` under `policy`; empty when nothing is.
///
/// Findings come in the order of the plan, errors and warnings mixed, at most [`FINDINGS_MAX`].
/// `snapshot` must hold its own invariants; `plan` may be anything.
#[must_use]
pub fn check(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Vec<Finding> {
    let mut ctx = Ctx::new(snapshot, policy);
    figures::header(&mut ctx, plan);
    let placed = placement::check(&mut ctx, &plan.releases);
    coverage::check(&mut ctx, plan, &placed);
    frozen::check(&mut ctx, plan, &placed);
    capacity::check(&mut ctx, &plan.releases, &placed);
    figures::check(&mut ctx, plan, &placed);
    levels::check(&mut ctx, plan, &placed);
    ctx.findings
}

/// Whether `releases` name workloads of the snapshot, run them as one of their options says, and stay within quota at
/// every instant: the part that has to hold before any plan is shown, in time linear in the releases but for one sort.
///
/// # Errors
/// The first finding.
pub fn capacity_ok(snapshot: &Snapshot, policy: &Policy, releases: &[Release]) -> Result<(), Box<Finding>> {
    let mut ctx = Ctx::new(snapshot, policy);
    let placed = placement::resolve(&mut ctx, releases);
    if ctx.findings.is_empty() {
        capacity::check(&mut ctx, releases, &placed);
    }
    ctx.findings.into_iter().next().map_or(Ok(()), |first| Err(Box::new(first)))
}

/// What an amount of one cell costs over a span; `None` without a price for it.
pub(in crate::plan) fn cost_of(
    snapshot: &Snapshot,
    cell: CellId,
    amount: Amount,
    start: Timestamp,
    end: Timestamp,
) -> Option<Money> {
    money::price_of(snapshot, cell)?;
    money::cost(snapshot, &[peaks::Use { uses: &[(cell, amount)], start, end }])
}

/// A release and what it turned out to be about.
struct Placed {
    /// Index into the snapshot's workloads.
    workload: Option<usize>,
    /// Index into the workload's options.
    option: Option<usize>,
}

/// Until when running work is taken to hold its resources: its end at the promised quantile, else at the other one; ends
/// that have passed say nothing, and without any it is the end of the horizon.
pub(in crate::plan) fn held_until(snapshot: &Snapshot, promise: Promise, running: &Running) -> Timestamp {
    let (first, second) = match promise {
        Promise::P50 => (running.end_p50, running.end_p90),
        Promise::P90 => (running.end_p90, running.end_p50),
    };
    let ahead = |end: Option<Timestamp>| end.filter(|end| *end > snapshot.now);
    ahead(first).or(ahead(second)).unwrap_or(snapshot.horizon_end)
}

/// What every part of the check reads, and where it writes.
struct Ctx<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    zone: chrono_tz::Tz,
    by_key: HashMap<&'a str, usize>,
    findings: Vec<Finding>,
}

impl<'a> Ctx<'a> {
    fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let by_key = snapshot.workloads.iter().enumerate().map(|(at, w)| (w.key.as_str(), at)).collect();
        let zone = calendar::zone(&snapshot.time_zone).unwrap_or(chrono_tz::UTC);
        Self { snapshot, policy, zone, by_key, findings: Vec::new() }
    }

    fn report(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// Reports an error when `found` is not `expected`.
    fn expect<T: PartialEq + std::fmt::Debug>(
        &mut self,
        code: &'static str,
        subject: &str,
        what: &str,
        found: &T,
        expected: &T,
    ) {
        if found != expected {
            self.report(Finding::error(code, subject, format!("{what} is {found:?}, but must be {expected:?}")));
        }
    }

    /// For people: the time of day, with the day where it is not today.
    fn time(&self, at: Timestamp) -> String {
        calendar::day_time(at, self.snapshot.now, self.zone)
    }
}

/// Seconds from `from` to `to`, without overflow whatever a plan claims.
fn seconds(from: Timestamp, to: Timestamp) -> i128 {
    i128::from(to.0) - i128::from(from.0)
}
