//! A report's groups as CSV, one line each, with the field names of the document; a total line comes last.

use crate::ledger::charge::Term;
use crate::units::Money;

use super::cause::Cause;
use super::{Group, Report};

/// RFC 4180 with a title line. Amounts are decimals in the currency that stands in each line.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut csv = ::csv::WriterBuilder::new().terminator(::csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let mut titles: Vec<String> = vec!["scope".to_owned()];
    titles.extend(report.by.iter().map(|dimension| dimension.as_str().to_owned()));
    titles.extend(["currency", "attempts", "verified", "late", "rejected", "unverified", "cost"].map(str::to_owned));
    titles.extend(Term::ALL.map(|term| term.as_str().to_owned()));
    // A cause may be called like a term; `spent…` keeps the columns apart.
    titles.extend(Cause::ALL.map(|cause| format!("spent_{}", cause.as_str())));
    titles.extend(
        ["costPerVerifiedOutcome", "costPerGoodOutcome", "costPerAttempt", "reason", "expected", "missing"]
            .map(str::to_owned),
    );
    let mut records = vec![titles];
    records.extend(report.groups.iter().map(|group| record(report, group, "group")));
    records.push(record(report, &report.total, "total"));
    for record in &records {
        csv.write_record(record).expect("writing to memory cannot fail, and all records have the same length");
    }
    let bytes = csv.into_inner().expect("flushing to memory cannot fail");
    String::from_utf8(bytes).expect("CSV of text is text")
}

fn record(report: &Report, group: &Group, scope: &str) -> Vec<String> {
    let amount = |amount: Option<&Money>| amount.copied().unwrap_or(Money::ZERO).decimal();
    let optional = |amount: Option<Money>| amount.map_or_else(String::new, Money::decimal);
    let counts = group.outcomes;
    let mut cells = vec![scope.to_owned()];
    cells.extend(report.by.iter().map(|dimension| group.key.get(*dimension).unwrap_or_default().to_owned()));
    cells.push(report.currency.clone());
    cells.extend(
        [group.attempts, counts.verified, counts.late, counts.rejected, counts.unverified].map(|n| n.to_string()),
    );
    cells.push(group.cost.decimal());
    cells.extend(Term::ALL.iter().map(|term| amount(group.by_term.get(term))));
    cells.extend(Cause::ALL.iter().map(|cause| amount(group.by_cause.get(cause))));
    let headline = group.per_verified_outcome();
    cells.extend([optional(headline.ok()), optional(group.per_good_outcome()), optional(group.per_attempt())]);
    cells.push(headline.err().map_or_else(String::new, super::unit_cost::Undefined::message));
    // Without a promise nothing is known to be missing.
    cells.extend(
        [group.expected, group.expected.map(|_| group.missing)].map(|n| n.map_or_else(String::new, |n| n.to_string())),
    );
    cells
}
