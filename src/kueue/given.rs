//! What the caller states beside the manifests, and how it is weighed against what they say.
//!
//! A flag beats the Scenario, the Scenario beats the CapacityPlan, the CapacityPlan beats the defaults.

use chrono_tz::Tz;

use super::catalog::{Catalog, Known};
use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use crate::api::capacity_plan::{self, CapacityPlanSpec};
use crate::api::manifest::Manifest;
use crate::api::written::{Duration, Instant, Percent, Zone};
use crate::calendar;
use crate::failure::Finding;
use crate::plan::snapshot::{Objective, Policy, PreviousRelease, Promise, Unplanned};
use crate::units::{Seconds, Timestamp};

/// A year and a day: beyond it calendars and forecasts are fiction, and every window has hundreds of occurrences.
const HORIZON_MAX: Seconds = Seconds(366 * 86_400);

/// A due time further away than this does not stretch a horizon that nobody has set.
const STRETCHED_MAX: Seconds = Seconds(31 * 86_400);

/// What the caller states.
#[derive(Debug, Clone)]
pub struct Given {
    /// What the clock says; a Scenario's `now` goes before it.
    pub now: Timestamp,
    /// How far ahead is planned when neither flag, Scenario nor CapacityPlan says; stretched to the last `finishBy`.
    pub default_horizon: Seconds,
    pub overrides: Overrides,
    /// Only work of these namespaces is planned; the rest is uncontrolled. Empty: all.
    pub namespaces: Vec<String>,
    /// The CapacityPlan to follow where there are several.
    pub capacity_plan: Option<String>,
    /// CapacityPlans that go before that one: what they have in scope is not planned.
    pub left_to: Vec<String>,
    /// The releases of the previous plan.
    pub previous: Vec<PreviousRelease>,
    /// What is made of running work whose declared runtime has passed.
    pub outrun: Outrun,
    /// More capacity may come than any queue has today: work that is too large for today's quota is kept and planned for.
    pub may_grow: bool,
    /// Kueue ignores gates (its feature is off): what carries one is not held by it.
    pub gates_ignored: bool,
}

/// How long work is taken to run on that has outlasted its p90.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outrun {
    /// Nobody knows, so it holds its quota to the end of the horizon: right for a plan that is made once.
    #[default]
    ToHorizon,
    /// So long past its p90 end, then twice as long, and so on: right where the plan is made again when it is wrong.
    AsLongAgain(Seconds),
}

/// Flags that beat every document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    pub now: Option<Timestamp>,
    pub time_zone: Option<Tz>,
    pub horizon: Option<Seconds>,
    pub objective: Option<Objective>,
    pub promise: Option<Promise>,
    pub frozen_window: Option<Seconds>,
    pub unplanned: Option<Unplanned>,
    pub time_limit_millis: Option<u64>,
    pub step_limit: Option<u64>,
    pub gap_permille: Option<u32>,
    pub seed: Option<u64>,
}

impl Given {
    /// The clock and nothing else: a horizon of a day, every namespace, no previous plan.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self {
            now,
            default_horizon: Seconds::DAY,
            overrides: Overrides::default(),
            namespaces: Vec::new(),
            capacity_plan: None,
            left_to: Vec::new(),
            previous: Vec::new(),
            outrun: Outrun::ToHorizon,
            may_grow: false,
            gates_ignored: false,
        }
    }
}

/// The time that is planned for.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub now: Timestamp,
    pub horizon_end: Timestamp,
    pub zone: Tz,
    pub outrun: Outrun,
    pub gates_ignored: bool,
}

/// Now, the end of the horizon and the zone.
pub fn frame(
    given: &Given,
    catalog: &Catalog<'_>,
    plan: Option<&Known<'_, CapacityPlanSpec>>,
    latest_due: Option<Timestamp>,
    findings: &mut Findings,
) -> Frame {
    let scenario = catalog.scenario.as_ref();
    let spec = scenario.map(|known| &known.spec);
    let stated_now =
        scenario.and_then(|known| read(known.manifest, "/spec/now", known.spec.now.as_ref(), findings, Instant::read));
    let now = given.overrides.now.or(stated_now).unwrap_or(given.now);
    let zone = scenario
        .and_then(|known| read(known.manifest, "/spec/timeZone", known.spec.time_zone.as_ref(), findings, Zone::read));
    let of_scenario = scenario
        .and_then(|known| read(known.manifest, "/spec/horizon", known.spec.horizon.as_ref(), findings, Duration::read));
    let of_plan = plan
        .and_then(|known| read(known.manifest, "/spec/horizon", known.spec.horizon.as_ref(), findings, Duration::read));
    let stated = given.overrides.horizon.or(of_scenario).or(of_plan).filter(|horizon| *horizon > Seconds::ZERO);
    let horizon = stated.unwrap_or_else(|| {
        let until_due = latest_due.map_or(Seconds::ZERO, |due| due - now);
        given.default_horizon.max(until_due.min(STRETCHED_MAX))
    });
    if horizon > HORIZON_MAX {
        let message = format!("a horizon of {horizon} is longer than a year; one year is planned");
        let (subject, span) = match (scenario, plan) {
            (Some(known), _) if spec.is_some_and(|spec| spec.horizon.is_some()) => {
                (known.manifest.subject(), known.manifest.span("/spec/horizon"))
            }
            (_, Some(known)) => (known.manifest.subject(), known.manifest.span("/spec/horizon")),
            _ => ("input".to_owned(), None),
        };
        findings.push(Finding::warning(codes::CAPPED, subject, message).at(span, "here"));
    }
    Frame {
        now,
        horizon_end: now + horizon.min(HORIZON_MAX),
        zone: given.overrides.time_zone.or(zone).unwrap_or(chrono_tz::UTC),
        outrun: given.outrun,
        gates_ignored: given.gates_ignored,
    }
}

/// The CapacityPlan that is followed: the named one, or the only one, or the first by name with a warning.
pub fn chosen_plan<'c, 'a>(
    given: &Given,
    catalog: &'c Catalog<'a>,
    findings: &mut Findings,
) -> Option<&'c Known<'a, CapacityPlanSpec>> {
    if let Some(name) = &given.capacity_plan {
        let found = catalog.capacity_plans.get(name.as_str());
        if found.is_none() {
            let mut finding = Finding::error(
                codes::UNKNOWN_SCOPE,
                format!("CapacityPlan {name}"),
                "no CapacityPlan of this name is there",
            );
            finding.hint = nearest(name, catalog.capacity_plans.keys().copied());
            findings.push(finding);
        }
        return found;
    }
    let (name, first) = catalog.capacity_plans.first_key_value()?;
    if let Some((_, second)) = catalog.capacity_plans.iter().nth(1) {
        let message = format!("is one of several CapacityPlans; `{name}`, the first by name, is followed");
        findings.push(
            Finding::warning(codes::SEVERAL, second.manifest.subject(), message)
                .at(second.manifest.span("/metadata/name"), "this one is not")
                .hint("give one CapacityPlan a run, or name the one to follow"),
        );
    }
    Some(first)
}

/// How to plan.
pub fn policy(given: &Given, plan: Option<&Known<'_, CapacityPlanSpec>>, findings: &mut Findings) -> Policy {
    let mut policy = Policy::default();
    if let Some(Known { manifest, spec }) = plan {
        policy.objective = match spec.objective {
            capacity_plan::Objective::EarliestFinish => Objective::EarliestFinish,
            capacity_plan::Objective::LowestPeak => Objective::LowestPeak,
            capacity_plan::Objective::LowestCost => Objective::LowestCost,
        };
        policy.promise = match spec.promise {
            capacity_plan::Promise::P50 => Promise::P50,
            capacity_plan::Promise::P90 => Promise::P90,
        };
        policy.unplanned = match spec.unplanned {
            capacity_plan::Unplanned::Backfill => Unplanned::Backfill,
            capacity_plan::Unplanned::FirstCome => Unplanned::FirstCome,
        };
        if let Some(span) = read(manifest, "/spec/frozenWindow", spec.frozen_window.as_ref(), findings, Duration::read)
        {
            policy.frozen_window = span;
        }
        let limit =
            read(manifest, "/spec/solver/timeLimit", spec.solver.time_limit.as_ref(), findings, Duration::millis);
        if let Some(millis) = limit.and_then(|millis| u64::try_from(millis).ok()) {
            policy.time_limit_millis = millis;
        }
        if let Some(gap) = read(manifest, "/spec/solver/gap", spec.solver.gap.as_ref(), findings, Percent::read) {
            policy.gap_permille = gap;
        }
    }
    let Overrides { objective, promise, frozen_window, unplanned, .. } = given.overrides.clone();
    let Overrides { time_limit_millis, step_limit, gap_permille, seed, .. } = given.overrides.clone();
    Policy {
        objective: objective.unwrap_or(policy.objective),
        promise: promise.unwrap_or(policy.promise),
        frozen_window: frozen_window.unwrap_or(policy.frozen_window),
        unplanned: unplanned.unwrap_or(policy.unplanned),
        time_limit_millis: time_limit_millis.unwrap_or(policy.time_limit_millis),
        step_limit: step_limit.or(policy.step_limit),
        gap_permille: gap_permille.unwrap_or(policy.gap_permille),
        seed: seed.unwrap_or(policy.seed),
    }
}

/// Tells of queues and cohorts in a plan's scope that are not there.
pub fn check_scope(plan: &Known<'_, CapacityPlanSpec>, queues: &super::queues::Queues, findings: &mut Findings) {
    let mut tell = |place: String, kind: &str, name: &str| {
        let severity = reference_severity(plan.manifest);
        let message = format!("no {kind} `{name}` is there");
        let mut finding = Finding::new(codes::UNKNOWN_SCOPE, severity, plan.manifest.subject(), message)
            .at(plan.manifest.span(&place), "this name");
        finding.hint = nearest(name, queues.nodes.iter().map(|node| node.name.as_str()));
        findings.push(finding);
    };
    for (at, name) in plan.spec.queues.iter().enumerate().filter(|(_, name)| queues.queue(name).is_none()) {
        tell(format!("/spec/queues/{at}"), "ClusterQueue", name);
    }
    for (at, name) in plan.spec.cohorts.iter().enumerate().filter(|(_, name)| queues.cohort(name).is_none()) {
        tell(format!("/spec/cohorts/{at}"), "Cohort", name);
    }
}

fn read<W, T>(
    manifest: &Manifest,
    place: &str,
    written: Option<&W>,
    findings: &mut Findings,
    value: impl Fn(&W) -> Result<T, String>,
) -> Option<T> {
    let told = |message| {
        let finding = Finding::error(codes::BAD_VALUE, manifest.subject(), message);
        findings.push(finding.at(manifest.span(place), "this value"));
    };
    written.and_then(|written| value(written).map_err(told).ok())
}

/// RFC 3339 in the frame's zone, for findings.
#[must_use]
pub fn shown(at: Timestamp, frame: Frame) -> String {
    calendar::rfc3339(at, frame.zone)
}
