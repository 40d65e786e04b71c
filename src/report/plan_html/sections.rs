//! The page's words and tables: where it comes from, what cannot be met, every release, what was noticed, how good it is.

use super::{Page, put, section, table, table_with_ids};
use crate::calendar;
use crate::failure::{Finding, Severity};
use crate::plan::proposal::{Level, LevelName, Plan, Proof};
use crate::plan::sentence::moment;
use crate::report::plan_text;
use crate::report::svg::Escaped;
use crate::units::Money;

/// More rows make browsers slow; the data at the end of the page has all.
const MOST_ROWS: usize = 5000;

pub(super) fn provenance(page: &Page<'_>) -> String {
    let plan = page.scene.plan;
    let zone = calendar::zone(&plan.time_zone).unwrap_or(chrono_tz::Tz::UTC);
    let now = calendar::rfc3339(plan.now, zone);
    let end = calendar::rfc3339(plan.horizon_end, zone);
    let promise = format!("Times are in {}. Planned at {now}, looking ahead to {end}.", zone.name());
    format!("<p class=\"small\">{}</p>\n", Escaped(&promise))
}

pub(super) fn conflicts(plan: &Plan) -> String {
    if plan.infeasible.is_empty() {
        return String::new();
    }
    let mut body = String::new();
    for conflict in &plan.infeasible {
        let names: Vec<&str> = conflict.workloads.iter().map(crate::names::WorkloadKey::as_str).collect();
        let means = if conflict.irreducible { "Without any one of these the rest can be met" } else { "Among these" };
        put(&mut body, format_args!("<div class=\"alert\">\n<strong>{}</strong>\n", Escaped(&conflict.message)));
        put(&mut body, format_args!("<p>{means}: {}</p>\n", Escaped(&names.join(", "))));
        if !conflict.fixes.is_empty() {
            body.push_str("Any one of these would do:\n<ul>\n");
            for fix in &conflict.fixes {
                put(&mut body, format_args!("<li>{}</li>\n", Escaped(&plan_text::fix(plan, fix))));
            }
            body.push_str("</ul>\n");
        }
        body.push_str("</div>\n");
    }
    section(
        "conflicts",
        "What cannot be met",
        "These deadlines do not all fit; each change below was checked by planning again.",
        &body,
    )
}

pub(super) fn releases(page: &Page<'_>) -> String {
    let plan = page.scene.plan;
    if plan.releases.is_empty() {
        return String::new();
    }
    let time = |at| moment(plan, at);
    let none = || "-".to_owned();
    let titles =
        ["Workload", "Queue", "Flavor", "#GPUs", "Start", "End (p50)", "End (p90)", "Due", "#Spare", "Verdict", "Why"];
    let rows = plan.releases.iter().take(MOST_ROWS).enumerate().map(|(at, release)| {
        let reasons: Vec<&str> = release.reasons.iter().map(|reason| reason.message.as_str()).collect();
        let cells = vec![
            release.workload.to_string(),
            release.cluster_queue.to_string(),
            release.flavor.to_string(),
            plan_text::gpus(release),
            time(release.start),
            time(release.end),
            time(release.end_p90),
            release.finish_by.map_or_else(none, time),
            release.slack.map_or_else(none, crate::units::Seconds::human),
            plan_text::verdict(release.verdict).to_owned(),
            reasons.join("; "),
        ];
        (format!("w{at}"), cells)
    });
    let body = table_with_ids("releases", &titles, rows);
    let count = plan.releases.len();
    let takeaway = if count > MOST_ROWS {
        format!("The first {MOST_ROWS} of {count}, by start; all of them are in the data at the end of this file.")
    } else {
        "By start, each with the reason it does not start sooner.".to_owned()
    };
    section("releases", "Every release", &takeaway, &body)
}

pub(super) fn problems(plan: &Plan) -> String {
    if plan.problems.is_empty() {
        return String::new();
    }
    let severity = |finding: &Finding| match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let rows = plan.problems.iter().take(MOST_ROWS).map(|finding| {
        let place = finding.span.as_ref().map_or_else(String::new, ToString::to_string);
        let hint = finding.hint.clone().unwrap_or_default();
        vec![
            severity(finding).to_owned(),
            finding.code.to_owned(),
            finding.subject.clone(),
            finding.message.clone(),
            hint,
            place,
        ]
    });
    let body = table("problems", &["Severity", "Code", "About", "What", "Hint", "Where"], rows);
    section("problems", "What was noticed", "Left out, assumed, or worth knowing.", &body)
}

pub(super) fn quality(page: &Page<'_>) -> String {
    let plan = page.scene.plan;
    let rows = plan.quality.levels.iter().map(|level| {
        let shown = |value: i128| figure(level.name, value, plan);
        vec![
            meaning(level.name).to_owned(),
            shown(level.value),
            level.bound.map_or_else(|| "unknown".to_owned(), shown),
            gap(level),
            proof(level.proof).to_owned(),
        ]
    });
    let levels = table(
        "levels",
        &["In this order, as little as possible of", "#Value", "#No plan has less than", "#Gap", "Known by"],
        rows,
    );
    let mut html = String::from("<footer>\n<h2>How good this plan is</h2>\n");
    put(&mut html, format_args!("<p>{}</p>\n{levels}", Escaped(&plan_text::quality(plan))));
    let prices = page.prices.map_or_else(String::new, |prices| format!(" Prices: {prices}."));
    let zone = calendar::zone(&plan.time_zone).unwrap_or(chrono_tz::Tz::UTC);
    let footer = format!(
        "stagger {}. Planned for {}, seed {}.{prices}",
        page.version,
        calendar::rfc3339(plan.now, zone),
        plan.quality.seed
    );
    put(
        &mut html,
        format_args!(
            "<p class=\"small\">{} Input digest <code>{}</code></p>\n</footer>\n",
            Escaped(&footer),
            Escaped(&plan.input_digest)
        ),
    );
    html
}

fn meaning(name: LevelName) -> &'static str {
    match name {
        LevelName::HardMissed => "hard deadlines missed, by value",
        LevelName::SoftLost => "soft deadlines and tiers lost, hundredths of value",
        LevelName::Completion => "time to completion, value × seconds",
        LevelName::Peak => "peak of accelerators",
        LevelName::Cost => "money",
        LevelName::Backfill => "time to completion of work without an SLO",
        LevelName::Stability => "starts moved against the plan before",
    }
}

fn figure(name: LevelName, value: i128, plan: &Plan) -> String {
    match (name, &plan.summary.currency) {
        (LevelName::Cost, currency) => {
            format!("{} {}", Money { nanos: value }.decimal(), currency.as_deref().unwrap_or("")).trim_end().to_owned()
        }
        _ => value.to_string(),
    }
}

fn gap(level: &Level) -> String {
    match level.bound {
        None => "unknown".to_owned(),
        Some(bound) if bound >= level.value => "0 %".to_owned(),
        Some(bound) => {
            let millionths = (level.value - bound).saturating_mul(1_000_000) / level.value.max(1);
            plan_text::percent(u64::try_from(millionths).unwrap_or(u64::MAX))
        }
    }
}

fn proof(proof: Proof) -> &'static str {
    match proof {
        Proof::Heuristic => "best found, not proven",
        Proof::Trivial => "cannot be less by its nature",
        Proof::Energetic => "work against capacity in an interval",
        Proof::Lp => "linear relaxation",
        Proof::Mip => "branch and bound",
        Proof::Exhaustive => "all placements compared",
    }
}
