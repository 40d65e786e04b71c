//! The account of an import for people: one screen, every figure with its unit.

use chrono_tz::Tz;

use crate::calendar;
use crate::names::ResourceName;
use crate::units::{Amount, Timestamp};

use super::Import;
use super::report::DropReason;

/// The account, times in the snapshot's zone.
#[must_use]
pub fn account(import: &Import) -> String {
    let (report, snapshot) = (&import.report, &import.snapshot);
    let zone = calendar::zone(&snapshot.time_zone).unwrap_or(Tz::UTC);
    let show = |at: Timestamp| calendar::rfc3339(at, zone);
    let amount = |amount: Amount| units(amount, &report.resource);

    let mut rows = vec![
        ("trace", format!("{} ({})", report.file, report.format)),
        ("rows", format!("{} read, {} kept{}", report.rows_read, report.rows_kept, beyond(report.rows_beyond_limit))),
    ];
    for (reason, count) in &report.rows_dropped {
        rows.push(("", format!("{count} left out: {}", explain(*reason))));
    }
    let counts = [
        (report.censored, "kept without a known end"),
        (report.without_accelerator, "kept that use no accelerator"),
        (report.with_hard_due, "with a hard due time"),
        (report.with_soft_due, "with a soft due time"),
        (report.without_due, "without a due time"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    rows.push(("work", told.join(", ")));
    if !report.missing.is_empty() {
        let fields: Vec<String> = report
            .missing
            .iter()
            .map(|missing| format!("{} {}.{} %", missing.field, missing.permille / 10, missing.permille % 10))
            .collect();
        rows.push(("missing", fields.join(", ")));
    }
    rows.push(("tenants", report.tenants.to_string()));
    rows.push(("submitted", format!("{} to {}", show(report.first_submission), show(report.last_submission))));
    rows.push(("unhindered end", show(report.last_end_unhindered)));
    rows.push(("horizon end", show(report.horizon_end)));
    rows.push(("pool", pool(import)));
    rows.push((
        "peak demand",
        format!("{} at {}, if all start on submission", amount(report.peak_demand.amount), show(report.peak_demand.at)),
    ));
    rows.push(("work in all", format!("{} {}-hours", report.hours, unit(&report.resource))));
    rows.push(("digest", report.digest.clone()));

    let mut text = String::new();
    for (head, line) in rows {
        text.push_str(&format!("{head:<16}{line}\n"));
    }
    if !report.statements.is_empty() {
        text.push_str("\nassumed where the trace is silent:\n");
        for statement in &report.statements {
            text.push_str(&format!("- {statement}\n"));
        }
    }
    text
}

fn beyond(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!(", {rows} more in the file") }
}

fn pool(import: &Import) -> String {
    let quotas = import.snapshot.nodes.iter().flat_map(|node| &node.quotas);
    let shares: Vec<String> = quotas
        .map(|(cell, quota)| {
            let cell = import.snapshot.cell(*cell);
            format!("{}: {}", cell.flavor, units(quota.nominal, &cell.resource))
        })
        .collect();
    shares.join(", ")
}

fn unit(resource: &ResourceName) -> &str {
    if resource.is_accelerator() { "GPU" } else { resource.as_str() }
}

/// `4 GPU`, `1.500 GPU` for thousandths, `128 cpu`.
fn units(amount: Amount, resource: &ResourceName) -> String {
    let per_gpu = resource.units_per_gpu();
    let number = if per_gpu > 1 && amount.0 % per_gpu != 0 {
        format!("{}.{:03}", amount.0 / per_gpu, amount.0 % per_gpu)
    } else if per_gpu > 1 {
        (amount.0 / per_gpu).to_string()
    } else {
        resource.quantity(amount)
    };
    format!("{number} {}", unit(resource))
}

/// Why rows were left out, for people.
fn explain(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Malformed => "they could not be read",
        DropReason::DuplicateId => "they repeat a job",
        DropReason::NoRuntime => "they never ran, or nobody recorded for how long",
        DropReason::NeverScheduled => "they were never scheduled",
        DropReason::Cancelled => "they were cancelled before they started",
        DropReason::PartialRun => "they are bursts of a job that is counted once",
        DropReason::Censored => "their end is not in the trace",
        DropReason::NoSize => "nobody recorded how much they used",
        DropReason::NoSuchFlavor => "they ask for a GPU model that the node list lacks",
        DropReason::Serving => "they serve requests",
        DropReason::LargerThanPool => "they are larger than every flavor they may use",
    }
}
