//! The `Import` document, `stagger.dev/import/v1`: the account of an import as JSON.
//!
//! Promise: field names and their order are stable; a reader ignores fields it does not know; times are RFC 3339 in the
//! trace's zone, quantities Kubernetes quantities as strings, hours decimal strings. It is a function of the files and
//! settings alone. The snapshot itself is summarised: its workloads are in the manifests, its digest is here.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use serde::Serialize;

use crate::calendar;
use crate::failure::{Finding, Severity};
use crate::units::{Amount, Timestamp};

use super::Import;
use super::report::DropReason;

/// Group and version of the document.
pub const API_VERSION: &str = "stagger.dev/import/v1";
/// Its kind.
pub const KIND: &str = "Import";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    format: &'static str,
    file: &'a str,
    rows: Rows<'a>,
    work: Work,
    missing: Vec<Missing>,
    time_zone: &'a str,
    first_submission: String,
    last_submission: String,
    last_end_unhindered: String,
    now: String,
    horizon_end: String,
    resource: &'a str,
    pool: Vec<Share<'a>>,
    peak_demand: Peak,
    /// GPU-hours, or core-hours for `cpu`.
    hours: &'a str,
    assumptions: &'a [String],
    problems: Vec<Problem<'a>>,
    digest: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rows<'a> {
    read: u64,
    kept: u64,
    beyond_limit: u64,
    dropped: &'a BTreeMap<DropReason, u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Work {
    workloads: usize,
    tenants: u64,
    with_hard_due: u64,
    with_soft_due: u64,
    without_due: u64,
    censored: u64,
    without_accelerator: u64,
}

#[derive(Debug, Serialize)]
struct Missing {
    field: &'static str,
    rows: u64,
    permille: u64,
}

#[derive(Debug, Serialize)]
struct Share<'a> {
    flavor: &'a str,
    quantity: String,
}

#[derive(Debug, Serialize)]
struct Peak {
    quantity: String,
    at: String,
}

#[derive(Debug, Serialize)]
struct Problem<'a> {
    code: &'static str,
    severity: Severity,
    subject: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// The document, indented, with a final line end.
///
/// # Panics
/// Never: every key is text and every number an integer.
#[must_use]
pub fn to_json(import: &Import) -> String {
    let (report, snapshot) = (&import.report, &import.snapshot);
    let zone = calendar::zone(&snapshot.time_zone).unwrap_or(Tz::UTC);
    let show = |at: Timestamp| calendar::rfc3339(at, zone);
    let quantity = |amount: Amount| report.resource.quantity(amount);
    let quotas = snapshot.nodes.iter().flat_map(|node| &node.quotas);
    let document = Document {
        api_version: API_VERSION,
        kind: KIND,
        format: report.format,
        file: &report.file,
        rows: Rows {
            read: report.rows_read,
            kept: report.rows_kept,
            beyond_limit: report.rows_beyond_limit,
            dropped: &report.rows_dropped,
        },
        work: Work {
            workloads: snapshot.workloads.len(),
            tenants: report.tenants,
            with_hard_due: report.with_hard_due,
            with_soft_due: report.with_soft_due,
            without_due: report.without_due,
            censored: report.censored,
            without_accelerator: report.without_accelerator,
        },
        missing: report
            .missing
            .iter()
            .map(|missing| Missing { field: missing.field, rows: missing.rows, permille: missing.permille })
            .collect(),
        time_zone: &snapshot.time_zone,
        first_submission: show(report.first_submission),
        last_submission: show(report.last_submission),
        last_end_unhindered: show(report.last_end_unhindered),
        now: show(snapshot.now),
        horizon_end: show(snapshot.horizon_end),
        resource: report.resource.as_str(),
        pool: quotas
            .map(|(cell, quota)| Share {
                flavor: snapshot.cell(*cell).flavor.as_str(),
                quantity: quantity(quota.nominal),
            })
            .collect(),
        peak_demand: Peak { quantity: quantity(report.peak_demand.amount), at: show(report.peak_demand.at) },
        hours: &report.hours,
        assumptions: &report.statements,
        problems: import.findings.iter().map(problem).collect(),
        digest: &report.digest,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("the document must have a JSON form");
    text.push('\n');
    text
}

fn problem(finding: &Finding) -> Problem<'_> {
    let place = finding.span.as_ref().map(crate::failure::Span::line_column);
    Problem {
        code: finding.code,
        severity: finding.severity,
        subject: &finding.subject,
        message: &finding.message,
        hint: finding.hint.as_deref(),
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
    }
}
