//! A report for people: the headline as a sentence, a table of groups, where the money went, and how it adds up.

use crate::calendar;
use crate::ledger::charge::Term;
use crate::report::table::{Align, Table};
use crate::units::Money;

use super::cause::Cause;
use super::{Dimension, Group, Reconciliation, Report};

/// The text; `width` cuts the last column of tables.
#[must_use]
pub fn render(report: &Report, width: Option<usize>) -> String {
    let mut text = headline(report);
    if let Some(sentence) = waste_sentence(&report.total, "this", &report.currency) {
        text.push_str(&sentence);
        text.push('\n');
    }
    for sentence in delivered(report) {
        text.push_str(&sentence);
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&groups(report).render(width));
    text.push_str("\nWhere it went\n");
    text.push_str(&causes(&report.total).render(width));
    text.push_str("\nHow it adds up\n");
    text.push_str(&reconciliation(report).render(width));
    text.push_str(&footer(report));
    text
}

/// One sentence, with the number everything else explains.
#[must_use]
pub fn headline(report: &Report) -> String {
    let (total, currency) = (&report.total, &report.currency);
    let spent = format!(
        "{} {currency} for {}; {} good, {} good and on time",
        total.cost,
        counted(total.attempts, "attempt"),
        counted(total.outcomes.good(), "outcome"),
        total.outcomes.verified
    );
    match total.per_verified_outcome() {
        Ok(cost) => format!("{spent}: {cost} {currency} per verified outcome.\n"),
        Err(why) => format!("{spent}: cost per verified outcome undefined ({}).\n", why.message()),
    }
}

/// What was promised and did not come, and what a unit of what came has cost.
pub(super) fn delivered(report: &Report) -> Vec<String> {
    let (total, currency) = (&report.total, &report.currency);
    let mut sentences = Vec::new();
    if let Some(expected) = total.expected.filter(|_| total.missing > 0) {
        let missing = total.missing;
        sentences
            .push(format!("Of {} that were promised, nothing was heard of {missing}.", counted(expected, "outcome")));
    }
    for (kind, delivered) in &total.units {
        let Some(quantity) = delivered.quantity else {
            sentences.push(format!("Verified {kind}: too many to be exact."));
            continue;
        };
        let quantity = quantity.decimal_floor(9);
        sentences.push(match total.per_unit(*delivered) {
            Some(cost) => format!("Verified {kind}: {quantity}, at {cost} {currency} each."),
            None => format!(
                "Verified {kind}: {quantity}, of {} of {} verified outcomes; what one costs is not known without the others.",
                delivered.outcomes, total.outcomes.verified
            ),
        });
    }
    sentences
}

/// `1 attempt`, `2 attempts`.
fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// "62 % of eval-nightly's cost produced nothing verified: 20.00 EUR late, 11.00 EUR failed." `None` without waste.
#[must_use]
pub fn waste_sentence(group: &Group, whose: &str, currency: &str) -> Option<String> {
    let percent = percent(group.waste_permille().filter(|permille| *permille > 0)?);
    let mut causes: Vec<(Money, Cause)> = group
        .by_cause
        .iter()
        .filter(|(cause, amount)| **cause != Cause::Productive && amount.nanos > 0)
        .map(|(cause, amount)| (*amount, *cause))
        .collect();
    causes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    // Three causes are what a sentence holds; the table below has all of them.
    let named = causes.iter().take(3).map(|(amount, cause)| format!("{amount} {currency} {}", cause.as_str()));
    let listed = named.collect::<Vec<_>>().join(", ");
    Some(format!("{percent} of {whose} cost produced nothing verified: {listed}."))
}

/// `40 %`, `0.5 %`.
pub(super) fn percent(permille: i64) -> String {
    if permille % 10 == 0 { format!("{} %", permille / 10) } else { format!("{}.{} %", permille / 10, permille % 10) }
}

fn groups(report: &Report) -> Table {
    let titles = |dimension: &Dimension| match dimension {
        Dimension::Tenant => "TENANT",
        Dimension::Class => "CLASS",
        Dimension::Flavor => "FLAVOR",
        Dimension::Queue => "QUEUE",
    };
    let mut columns: Vec<(&'static str, Align)> =
        report.by.iter().map(|dimension| (titles(dimension), Align::Left)).collect();
    columns.extend([
        ("ATTEMPTS", Align::Right),
        ("GOOD", Align::Right),
        ("ON TIME", Align::Right),
        ("COST", Align::Right),
        ("WASTE", Align::Right),
        ("PER ATTEMPT", Align::Right),
        ("PER GOOD", Align::Right),
        ("PER VERIFIED", Align::Right),
        ("", Align::Left),
    ]);
    let mut table = Table::new(&columns);
    let row = |group: &Group, keys: Vec<String>| {
        let mut cells = keys;
        let or_dash = |amount: Option<Money>| amount.map_or("-".to_owned(), Money::decimal);
        cells.extend([
            group.attempts.to_string(),
            group.outcomes.good().to_string(),
            group.outcomes.verified.to_string(),
            group.cost.decimal(),
            group.waste_permille().map_or("-".to_owned(), percent),
            or_dash(group.per_attempt()),
            or_dash(group.per_good_outcome()),
            or_dash(group.per_verified_outcome().ok()),
            group.per_verified_outcome().err().map_or(String::new(), |why| format!("undefined: {}", why.message())),
        ]);
        cells
    };
    for group in &report.groups {
        let keys = report.by.iter().map(|dimension| group.key.get(*dimension).unwrap_or("-").to_owned());
        table.row(row(group, keys.collect()));
    }
    if report.groups.len() != 1 {
        let keys = report.by.iter().enumerate().map(|(at, _)| if at == 0 { "total" } else { "" }.to_owned());
        table.row(row(&report.total, keys.collect()));
    }
    table
}

fn causes(group: &Group) -> Table {
    let mut table = Table::new(&[("CAUSE", Align::Left), ("COST", Align::Right), ("SHARE", Align::Right)]);
    for cause in Cause::ALL {
        let Some(amount) = group.by_cause.get(&cause).filter(|amount| **amount != Money::ZERO) else { continue };
        let share = amount.nanos.checked_mul(1000).filter(|_| group.cost.nanos > 0);
        let share = share.and_then(|scaled| i64::try_from(scaled / group.cost.nanos).ok());
        table.row(vec![cause.as_str().to_owned(), amount.decimal(), share.map_or("-".to_owned(), percent)]);
    }
    table
}

fn reconciliation(report: &Report) -> Table {
    let mut table = Table::new(&[("", Align::Left), (ISO, Align::Right)]);
    for (what, amount) in sums(&report.reconciliation) {
        table.row(vec![what.to_owned(), amount.decimal()]);
    }
    table
}

/// The lines of the reconciliation, top down.
pub(super) fn sums(sums: &Reconciliation) -> Vec<(&'static str, Money)> {
    let mut lines = Vec::new();
    let mut row = |what: &'static str, amount: Money| lines.push((what, amount));
    if let Some(capacity) = sums.capacity {
        row("capacity", capacity);
        row("held beyond it", sums.beyond);
    }
    row("allocated", sums.allocated);
    if sums.capacity.is_some() {
        row("idle", sums.idle);
        row("stranded", sums.stranded);
    }
    row("overhead", sums.overhead);
    row("adjustments", sums.adjustments);
    row("credits", Money::ZERO - sums.credits);
    row("total", sums.total);
    row("borne by tenants", sums.attributed);
    row("borne by nobody", sums.unattributed);
    row("difference", sums.difference);
    lines
}

/// The title of the column of amounts.
const ISO: &str = "AMOUNT";

fn footer(report: &Report) -> String {
    let time = |at| calendar::rfc3339(at, chrono_tz::UTC);
    let mut text =
        format!("\n{} to {}, all amounts in {}", time(report.window.from), time(report.window.to), report.currency);
    if let Some(from) = report.prices_from {
        text.push_str(&format!(", prices of {}", time(from)));
    }
    text.push_str(".\n");
    if report.reconciliation.capacity.is_none() {
        text.push_str("No ClusterQueue or Cohort states what capacity there is, so idle time is not known.\n");
    } else if report.total.by_term.get(&Term::Idle).is_none_or(|idle| *idle == Money::ZERO)
        && report.reconciliation.idle != Money::ZERO
        && let Ok(cost) = report.fully_loaded
    {
        text.push_str(&format!(
            "With everything that nobody bears: {cost} {} per verified outcome.\n",
            report.currency
        ));
    }
    if report.outside_window > 0 {
        text.push_str(&format!(
            "{} completed outside this window and not counted.\n",
            counted(report.outside_window, "outcome")
        ));
    }
    text
}
