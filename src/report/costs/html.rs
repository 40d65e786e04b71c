//! A report as one HTML file: the headline, where the money went, what each group's outcome cost, and how it adds up.
//!
//! The same rules as a plan's page: nothing loaded, nothing executed, every text from outside escaped, its style sheet
//! allowed by hash; a takeaway above each picture and a table below it. The document rides along as data.

use crate::calendar;
use crate::report::plan_html::{head, put, scrolled, section, table};
use crate::report::svg::{Anchor, Escaped, Px, Scale, Svg, px};
use crate::units::{Money, Timestamp};

use super::cause::Cause;
use super::text::{self, percent};
use super::{Group, Intake, Report, document};

const STYLE: &str = include_str!("../plan_html/style.css");
/// More rows make browsers slow; the data at the end of the page has all.
const ROWS_MAX: usize = 5000;
/// Bars of a picture: more are a table's business.
const BARS_MAX: usize = 40;

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub report: &'a Report,
    /// SHA-256 over everything that was read, hexadecimal.
    pub input_digest: &'a str,
    pub intake: Intake,
    /// Of stagger.
    pub version: &'a str,
}

/// The file.
#[must_use]
pub fn render(page: &Page<'_>) -> String {
    let report = page.report;
    let mut html = head("What verified outcomes have cost", STYLE);
    let lead = text::headline(report);
    put(
        &mut html,
        format_args!(
            "<header>\n<h1>What verified outcomes have cost</h1>\n<p class=\"lead\">{}</p>\n<p class=\"small\">{}</p>\n</header>\n<main>\n",
            Escaped(lead.trim_end()),
            Escaped(&scope(report))
        ),
    );
    for sentence in text::delivered(report) {
        put(&mut html, format_args!("<p class=\"small\">{}</p>\n", Escaped(&sentence)));
    }
    html.push_str(&causes(report));
    html.push_str(&groups(report));
    html.push_str(&adds_up(report));
    html.push_str(&outcomes(report));
    html.push_str(&noticed(report));
    html.push_str("</main>\n<footer>\n");
    put(
        &mut html,
        format_args!(
            "<p class=\"small\">{}. stagger {}. Input digest <code>{}</code></p>\n</footer>\n",
            Escaped(&page.intake.sentence()),
            Escaped(page.version),
            Escaped(page.input_digest)
        ),
    );
    // `<` cannot end the element early once it is written as an escape; JSON means the same by both.
    let data = document::to_json(report, page.input_digest, page.intake).replace('<', "\\u003c");
    put(
        &mut html,
        format_args!("<script type=\"application/json\" id=\"report\">\n{data}</script>\n</body>\n</html>\n"),
    );
    html
}

fn time(at: Timestamp) -> String {
    calendar::rfc3339(at, chrono_tz::UTC)
}

fn scope(report: &Report) -> String {
    let mut text =
        format!("{} to {}, all amounts in {}", time(report.window.from), time(report.window.to), report.currency);
    if let Some(from) = report.prices_from {
        text.push_str(&format!(", prices of {}", time(from)));
    }
    if report.outside_window > 0 {
        text.push_str(&format!("; {} outcomes completed outside this window are not counted", report.outside_window));
    }
    text.push('.');
    text
}

/// Shares of the cost by cause, waste set apart by colour and by name.
fn causes(report: &Report) -> String {
    let total = &report.total;
    let spent: Vec<(Cause, Money)> = Cause::ALL
        .iter()
        .filter_map(|cause| Some((*cause, *total.by_cause.get(cause)?)))
        .filter(|it| it.1 != Money::ZERO)
        .collect();
    let takeaway = text::waste_sentence(total, "this", &report.currency)
        .unwrap_or_else(|| "Nothing was spent on anything that is not verified.".to_owned());
    if spent.is_empty() {
        return section("causes", "Where it went", "Nothing was spent.", "");
    }
    let bars: Vec<Bar> = spent
        .iter()
        .map(|(cause, amount)| Bar {
            name: cause.as_str().to_owned(),
            class: if *cause == Cause::Productive { "c2" } else { "over" },
            amount: *amount,
            label: format!("{} {}", amount.cents(), report.currency),
        })
        .collect();
    let picture = picture("causes-bars", "Cost by cause", &takeaway, &bars);
    let rows = spent
        .iter()
        .map(|(cause, amount)| vec![cause.as_str().to_owned(), amount.decimal(), share(*amount, total.cost)]);
    let body = format!("{picture}{}", table("causes", &["Cause", &format!("#{}", report.currency), "#Share"], rows));
    section("causes", "Where it went", &takeaway, &body)
}

fn share(amount: Money, of: Money) -> String {
    let scaled = amount.nanos.checked_mul(1000).filter(|_| of.nanos > 0);
    scaled.and_then(|scaled| i64::try_from(scaled / of.nanos).ok()).map_or_else(|| "-".to_owned(), percent)
}

/// Cost per verified outcome, group by group; undefined ones say why.
fn groups(report: &Report) -> String {
    let name = |group: &Group| {
        let keys: Vec<&str> = report.by.iter().map(|dimension| group.key.get(*dimension).unwrap_or("-")).collect();
        keys.join(" / ")
    };
    let defined: Vec<(&Group, Money)> =
        report.groups.iter().filter_map(|group| Some((group, group.per_verified_outcome().ok()?))).collect();
    let dearest = defined.iter().max_by_key(|(_, cost)| *cost);
    let takeaway = match dearest {
        Some((group, cost)) => {
            let most =
                format!("A verified outcome cost most in {}: {} {}.", name(group), cost.cents(), report.currency);
            match report.groups.len() - defined.len() {
                0 => most,
                without => format!("{most} {without} of {} groups have none to divide by.", report.groups.len()),
            }
        }
        None => "No group has a verified outcome, so there is nothing to divide by.".to_owned(),
    };
    let bars: Vec<Bar> = defined
        .iter()
        .take(BARS_MAX)
        .map(|(group, cost)| Bar {
            name: name(group),
            class: "demand",
            amount: *cost,
            label: format!("{} {}", cost.cents(), report.currency),
        })
        .collect();
    let picture = if bars.is_empty() {
        String::new()
    } else {
        picture("groups-bars", "Cost per verified outcome, by group", &takeaway, &bars)
    };
    let titles = [
        "Group",
        "#Attempts",
        "#Good",
        "#On time",
        "#Cost",
        "#Waste",
        "#Per attempt",
        "#Per good",
        "#Per verified",
        "",
    ];
    let or_dash = |amount: Option<Money>| amount.map_or_else(|| "-".to_owned(), Money::decimal);
    let row = |group: &Group, name: String| {
        vec![
            name,
            group.attempts.to_string(),
            group.outcomes.good().to_string(),
            group.outcomes.verified.to_string(),
            group.cost.decimal(),
            group.waste_permille().map_or_else(|| "-".to_owned(), percent),
            or_dash(group.per_attempt()),
            or_dash(group.per_good_outcome()),
            or_dash(group.per_verified_outcome().ok()),
            group.per_verified_outcome().err().map_or_else(String::new, |why| format!("undefined: {}", why.message())),
        ]
    };
    let rows = report.groups.iter().take(ROWS_MAX).map(|group| row(group, name(group)));
    let total = std::iter::once(row(&report.total, "total".to_owned()));
    let body = format!("{picture}{}", table("groups", &titles, rows.chain(total)));
    let by: Vec<&str> = report.by.iter().map(|dimension| dimension.as_str()).collect();
    section("groups", &format!("By {}", by.join(" and ")), &takeaway, &body)
}

fn adds_up(report: &Report) -> String {
    let takeaway = if report.reconciliation.difference == Money::ZERO {
        "Everything is borne by somebody or named as borne by nobody; the difference is zero.".to_owned()
    } else {
        format!("A difference of {} {} is left.", report.reconciliation.difference, report.currency)
    };
    let rows =
        text::sums(&report.reconciliation).into_iter().map(|(what, amount)| vec![what.to_owned(), amount.decimal()]);
    section("sums", "How it adds up", &takeaway, &table("sums", &["", &format!("#{}", report.currency)], rows))
}

fn outcomes(report: &Report) -> String {
    if report.outcomes.is_empty() {
        return String::new();
    }
    let counts = report.total.outcomes;
    let takeaway = format!(
        "{} verified, {} late, {} rejected, {} that nobody can judge.",
        counts.verified, counts.late, counts.rejected, counts.unverified
    );
    let rows = report.outcomes.iter().take(ROWS_MAX).map(|outcome| {
        vec![
            outcome.id.clone(),
            outcome.class.clone().unwrap_or_else(|| "-".to_owned()),
            outcome.workload.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
            outcome.completed_at.map_or_else(|| "-".to_owned(), time),
            outcome.verdict.as_str().to_owned(),
            outcome.reason.message(),
        ]
    });
    let mut body = table("outcomes", &["Outcome", "Class", "Workload", "Completed", "Verdict", "Why"], rows);
    if report.outcomes.len() > ROWS_MAX {
        put(&mut body, format_args!("<p class=\"small\">The first {ROWS_MAX} of {}.</p>\n", report.outcomes.len()));
    }
    section("outcomes", "Every outcome", &takeaway, &body)
}

fn noticed(report: &Report) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let rows = report
        .findings
        .iter()
        .take(ROWS_MAX)
        .map(|finding| vec![finding.code.to_owned(), finding.subject.clone(), finding.message.clone()]);
    let body = table("findings", &["Code", "About", "What"], rows);
    section("findings", "What was noticed", "None of it stopped the report.", &body)
}

/// A bar with its name before it and its amount after it.
struct Bar {
    name: String,
    class: &'static str,
    amount: Money,
    label: String,
}

/// Bars on one axis from zero; a negative amount (a credit) is drawn as nothing and said in its label.
fn picture(id: &str, title: &str, description: &str, bars: &[Bar]) -> String {
    const ROW: i64 = 26;
    let height = 8 + ROW * i64::try_from(bars.len()).unwrap_or(0) + 8;
    let most = bars.iter().map(|bar| bar.amount.nanos).max().unwrap_or(1).max(1);
    // Money is wider than a coordinate: amounts are drawn in millionths of the largest.
    let part = |amount: Money| i64::try_from(amount.nanos.max(0).saturating_mul(1_000_000) / most).unwrap_or(0);
    let scale = Scale { from: 0, to: 1_000_000, start: px(240), end: px(880) };
    let mut svg = Svg::new(id, 1040, height, title, description);
    svg.line("axis", (px(240), px(4)), (px(240), px(height - 4)));
    for (row, bar) in (0_i64..).zip(bars) {
        let top = 8 + ROW * row;
        let end = scale.at(part(bar.amount));
        let shown: String = if bar.name.chars().count() > 34 {
            bar.name.chars().take(33).chain(['…']).collect()
        } else {
            bar.name.clone()
        };
        svg.text("name", (px(232), px(top + 14)), Anchor::End, &shown);
        svg.group(None, &format!("{}: {}", bar.name, bar.label), |svg| {
            svg.rect(bar.class, (px(240), px(top)), ((end - px(240)).max(Px(100)), px(ROW - 8)));
        });
        svg.text("soft", (end + px(6), px(top + 14)), Anchor::Start, &bar.label);
    }
    scrolled(&svg.finish())
}
