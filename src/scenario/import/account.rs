//! The figures of an import: what was kept, what it would use unhindered, and the digest.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::ResourceName;
use crate::plan::snapshot::{DeadlinePolicy, Snapshot};
use crate::units::{Amount, Timestamp, div_round_half_even};

use super::intake::{Intake, as_count};
use super::labels::sha256;
use super::report::{ImportReport, MissingField, PeakDemand};
use super::trace::{Pool, TraceJob};

pub fn account(
    intake: &Intake,
    format: &'static str,
    pool: &Pool,
    jobs: &[TraceJob],
    snapshot: &Snapshot,
) -> ImportReport {
    let end = |job: &TraceJob| job.runtime.map_or(snapshot.horizon_end.max(job.submitted), |span| job.submitted + span);
    let count = |keep: &dyn Fn(&TraceJob) -> bool| as_count(jobs.iter().filter(|job| keep(job)).count());
    let policy = |job: &TraceJob| job.due.as_ref().map(|due| due.policy);
    let unit_seconds = jobs.iter().map(|job| i128::from(job.amount.0) * i128::from((end(job) - job.submitted).0)).sum();
    let first_submission = jobs.first().map_or(snapshot.now, |job| job.submitted);
    ImportReport {
        format,
        file: intake.file.path.clone(),
        rows_read: intake.rows_read,
        rows_kept: as_count(jobs.len()),
        rows_beyond_limit: intake.rows_beyond_limit,
        rows_dropped: intake.dropped.clone(),
        missing: intake
            .missing
            .iter()
            .map(|(field, rows)| MissingField { field, rows: *rows, permille: rows * 1000 / intake.rows_read.max(1) })
            .collect(),
        censored: count(&|job| job.runtime.is_none()),
        without_accelerator: count(&|job| job.amount == Amount::ZERO),
        with_hard_due: count(&|job| policy(job) == Some(DeadlinePolicy::Hard)),
        with_soft_due: count(&|job| policy(job) == Some(DeadlinePolicy::Soft)),
        without_due: count(&|job| job.due.is_none()),
        tenants: as_count(jobs.iter().filter_map(|job| job.tenant.as_ref()).collect::<BTreeSet<_>>().len()),
        first_submission,
        last_submission: jobs.last().map_or(snapshot.now, |job| job.submitted),
        last_end_unhindered: jobs.iter().map(end).max().unwrap_or(snapshot.now),
        horizon_end: snapshot.horizon_end,
        resource: pool.resource.clone(),
        capacity: pool.flavors.iter().fold(Amount::ZERO, |sum, (_, quota)| sum.saturating_add(*quota)),
        peak_demand: peak(jobs, end, first_submission),
        unit_seconds,
        hours: hours(unit_seconds, &pool.resource),
        statements: intake.statements.clone(),
        digest: digest(snapshot),
    }
}

/// Every row at its submission, quota ignored.
fn peak(jobs: &[TraceJob], end: impl Fn(&TraceJob) -> Timestamp, first: Timestamp) -> PeakDemand {
    let mut steps: BTreeMap<Timestamp, i64> = BTreeMap::new();
    for job in jobs {
        *steps.entry(job.submitted).or_default() += job.amount.0;
        *steps.entry(end(job)).or_default() -= job.amount.0;
    }
    let mut held = 0;
    let mut peak = PeakDemand { amount: Amount::ZERO, at: first };
    for (at, step) in steps {
        held += step;
        if Amount(held) > peak.amount {
            peak = PeakDemand { amount: Amount(held), at };
        }
    }
    peak
}

/// Unit-seconds as GPU-hours or core-hours with two decimal places.
fn hours(unit_seconds: i128, resource: &ResourceName) -> String {
    let units = if resource.is_milli() { 1000 } else { resource.units_per_gpu() };
    let hundredths = div_round_half_even(unit_seconds * 100, i128::from(units) * 3600);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn digest(snapshot: &Snapshot) -> String {
    sha256(&serde_json::to_vec(snapshot).expect("a snapshot must have a JSON form: all its keys are integers"))
}
