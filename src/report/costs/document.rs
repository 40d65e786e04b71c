//! The `Report` document, `stagger.dev/report/v1`: a report as JSON.
//!
//! Promise: field names and their order are stable, readers ignore fields they do not know, money is a decimal string in
//! the document's one currency, times are RFC 3339 in UTC. Every byte is a function of the input.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::calendar;
use crate::failure::Finding;
use crate::ledger::charge::Term;
use crate::outcome::settle::Outcome;
use crate::units::{Money, Timestamp};

use super::cause::Cause;
use super::{ClassRuntime, Delivered, Dimension, Group, Intake, Reconciliation, Report};

/// Group and version of the document.
pub const API_VERSION: &str = "stagger.dev/report/v1";

/// The report as indented JSON with a final line break. `input_digest`: SHA-256 over everything that was read.
#[must_use]
pub fn to_json(report: &Report, input_digest: &str, intake: Intake) -> String {
    let document = Document {
        api_version: API_VERSION,
        kind: "Report",
        input_digest,
        intake,
        window: WindowDoc { from: time(report.window.from), to: time(report.window.to) },
        currency: &report.currency,
        prices_from: report.prices_from.map(time),
        by: report.by.iter().map(|dimension| dimension.as_str()).collect(),
        total: TotalDoc {
            group: group(&report.total, &[]),
            fully_loaded_cost_per_verified_outcome: report.fully_loaded.ok().map(Money::decimal),
        },
        groups: report.groups.iter().map(|one| group(one, &report.by)).collect(),
        reconciliation: reconciliation(&report.reconciliation),
        runtimes: report.runtimes.iter().map(runtime).collect(),
        outcomes: report.outcomes.iter().map(outcome).collect(),
        outside_window: report.outside_window,
        findings: report.findings.iter().map(finding).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("a document of strings and numbers is always JSON");
    text.push('\n');
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    input_digest: &'a str,
    intake: Intake,
    window: WindowDoc,
    currency: &'a str,
    prices_from: Option<String>,
    by: Vec<&'static str>,
    total: TotalDoc<'a>,
    groups: Vec<GroupDoc<'a>>,
    reconciliation: ReconciliationDoc,
    runtimes: Vec<RuntimeDoc<'a>>,
    outcomes: Vec<OutcomeDoc<'a>>,
    outside_window: u64,
    findings: Vec<FindingDoc<'a>>,
}

#[derive(Serialize)]
struct WindowDoc {
    from: String,
    to: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TotalDoc<'a> {
    #[serde(flatten)]
    group: GroupDoc<'a>,
    /// With what stands apart in the numerator too.
    fully_loaded_cost_per_verified_outcome: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupDoc<'a> {
    /// The breakdown's keys; null where there is no name.
    #[serde(flatten)]
    key: BTreeMap<&'static str, Option<&'a str>>,
    cost: CostDoc,
    attempts: u64,
    gpu_seconds: String,
    outcomes: CountsDoc,
    /// The whole cost by what it was spent on; all but `productive` is waste.
    causes: BTreeMap<&'static str, String>,
    waste: String,
    waste_permille: Option<i64>,
    cost_per_verified_outcome: Option<String>,
    cost_per_good_outcome: Option<String>,
    cost_per_attempt: Option<String>,
    /// What verified outcomes delivered, by kind.
    units: Vec<UnitsDoc<'a>>,
    /// Why there is no cost per verified outcome.
    reason: Option<ReasonDoc>,
}

#[derive(Serialize)]
struct CostDoc {
    total: String,
    #[serde(flatten)]
    by_term: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CountsDoc {
    verified: u64,
    rejected: u64,
    late: u64,
    unverified: u64,
    good: u64,
    good_and_on_time: u64,
    /// What the workloads were to bring; null where no promise says how many.
    expected: Option<u64>,
    missing: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UnitsDoc<'a> {
    kind: &'a str,
    quantity: Option<String>,
    /// Verified outcomes that say how much they delivered.
    outcomes: u64,
    cost_per_unit: Option<String>,
}

#[derive(Serialize)]
struct ReasonDoc {
    code: &'static str,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReconciliationDoc {
    capacity_cost: Option<String>,
    beyond_capacity: String,
    allocated: String,
    idle: Option<String>,
    stranded: String,
    overhead: String,
    adjustments: String,
    credits: String,
    total: String,
    attributed: String,
    unattributed: String,
    difference: String,
    /// Why there is no capacity cost.
    reason: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuntimeDoc<'a> {
    class: &'a str,
    samples: u64,
    p50_seconds: i64,
    p90_seconds: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeDoc<'a> {
    outcome_id: &'a str,
    class: Option<&'a str>,
    workload: Option<&'a str>,
    attempt: Option<u32>,
    verdict: &'static str,
    reason: &'static str,
    message: String,
    completed_at: Option<String>,
    source: Option<&'a str>,
    event: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingDoc<'a> {
    code: &'static str,
    severity: String,
    subject: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

fn time(at: Timestamp) -> String {
    calendar::rfc3339(at, chrono_tz::UTC)
}

fn group<'a>(group: &'a Group, by: &[Dimension]) -> GroupDoc<'a> {
    let amount = |amount: Option<&Money>| amount.copied().unwrap_or(Money::ZERO).decimal();
    let headline = group.per_verified_outcome();
    GroupDoc {
        key: by.iter().map(|dimension| (dimension.as_str(), group.key.get(*dimension))).collect(),
        cost: CostDoc {
            total: group.cost.decimal(),
            by_term: Term::ALL.iter().map(|term| (term.as_str(), amount(group.by_term.get(term)))).collect(),
        },
        attempts: group.attempts,
        gpu_seconds: thousandths(group.gpu_milli_seconds),
        outcomes: CountsDoc {
            verified: group.outcomes.verified,
            rejected: group.outcomes.rejected,
            late: group.outcomes.late,
            unverified: group.outcomes.unverified,
            good: group.outcomes.good(),
            good_and_on_time: group.outcomes.verified,
            expected: group.expected,
            missing: group.expected.map(|_| group.missing),
        },
        causes: Cause::ALL.iter().map(|cause| (cause.as_str(), amount(group.by_cause.get(cause)))).collect(),
        waste: group.waste().decimal(),
        waste_permille: group.waste_permille(),
        cost_per_verified_outcome: headline.ok().map(Money::decimal),
        cost_per_good_outcome: group.per_good_outcome().map(Money::decimal),
        cost_per_attempt: group.per_attempt().map(Money::decimal),
        units: group.units.iter().map(|(kind, delivered)| units(group, kind, *delivered)).collect(),
        reason: headline.err().map(|why| ReasonDoc { code: why.code(), message: why.message() }),
    }
}

fn units<'a>(group: &Group, kind: &'a str, delivered: Delivered) -> UnitsDoc<'a> {
    UnitsDoc {
        kind,
        quantity: delivered.quantity.map(|quantity| quantity.decimal_floor(9)),
        outcomes: delivered.outcomes,
        cost_per_unit: group.per_unit(delivered).map(Money::decimal),
    }
}

/// Thousandths as a decimal: whole numbers without a point.
fn thousandths(milli: i128) -> String {
    if milli % 1000 == 0 { (milli / 1000).to_string() } else { Money { nanos: milli * 1_000_000 }.decimal() }
}

fn reconciliation(sums: &Reconciliation) -> ReconciliationDoc {
    let known = sums.capacity.is_some();
    ReconciliationDoc {
        capacity_cost: sums.capacity.map(Money::decimal),
        beyond_capacity: sums.beyond.decimal(),
        allocated: sums.allocated.decimal(),
        idle: known.then(|| sums.idle.decimal()),
        stranded: sums.stranded.decimal(),
        overhead: sums.overhead.decimal(),
        adjustments: sums.adjustments.decimal(),
        credits: sums.credits.decimal(),
        total: sums.total.decimal(),
        attributed: sums.attributed.decimal(),
        unattributed: sums.unattributed.decimal(),
        difference: sums.difference.decimal(),
        reason: (!known).then_some("no ClusterQueue or Cohort states what capacity there is"),
    }
}

fn runtime(runtime: &ClassRuntime) -> RuntimeDoc<'_> {
    let ClassRuntime { class, samples, p50, p90 } = runtime;
    RuntimeDoc { class, samples: *samples, p50_seconds: p50.0, p90_seconds: p90.0 }
}

fn outcome(outcome: &Outcome) -> OutcomeDoc<'_> {
    OutcomeDoc {
        outcome_id: &outcome.id,
        class: outcome.class.as_deref(),
        workload: outcome.workload.as_ref().map(crate::names::WorkloadKey::as_str),
        attempt: outcome.attempt,
        verdict: outcome.verdict.as_str(),
        reason: outcome.reason.code(),
        message: outcome.reason.message(),
        completed_at: outcome.completed_at.map(time),
        source: outcome.event.as_ref().map(|(source, _)| source.as_str()),
        event: outcome.event.as_ref().map(|(_, id)| id.as_str()),
    }
}

fn finding(finding: &Finding) -> FindingDoc<'_> {
    FindingDoc {
        code: finding.code,
        severity: format!("{:?}", finding.severity),
        subject: &finding.subject,
        message: &finding.message,
        place: finding.span.as_ref().map(ToString::to_string),
    }
}
