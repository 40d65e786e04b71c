//! An [`Assembled`] as text: one line a thing, times on the wall clock of its own zone.

use std::fmt::Write;

use stagger::calendar;
use stagger::failure::{Finding, Severity};
use stagger::kueue::Assembled;
use stagger::names::FlavorName;
use stagger::plan::snapshot::{
    CellId, DeadlinePolicy, Due, Interruption, NodeKind, Quota, RunOption, Runtime, Snapshot, Workload,
};
use stagger::units::{Amount, Timestamp};

/// Everything.
pub fn whole(assembled: &Assembled) -> String {
    snapshot(assembled) + &findings(assembled)
}

/// The snapshot and what stands beside it, without findings.
pub fn snapshot(assembled: &Assembled) -> String {
    let shot = &assembled.snapshot;
    let mut out = String::new();
    let zone = calendar::zone(&shot.time_zone).unwrap();
    let (now, end) = (calendar::rfc3339(shot.now, zone), calendar::rfc3339(shot.horizon_end, zone));
    writeln!(out, "from {now} to {end}").unwrap();
    nodes(&mut out, shot);
    for window in &shot.windows {
        let node = &shot.node(window.node).name;
        let cell = cell(shot, window.cell, window.quantity);
        let (from, to) = (time(shot, window.start), time(shot, window.end));
        writeln!(out, "window {} {:?} {cell} at {node}, {from} to {to}", window.name, window.effect).unwrap();
    }
    for price in &shot.prices {
        let cell = shot.cell(price.cell);
        let currency = shot.currency.as_deref().unwrap_or("?");
        write!(out, "price {}/{} {} {currency}", cell.flavor, cell.resource, price.per_unit_hour).unwrap();
        for window in &price.windows {
            let (from, to) = (time(shot, window.start), time(shot, window.end));
            write!(out, "; {} {from} to {to}", window.per_unit_hour).unwrap();
        }
        writeln!(out).unwrap();
    }
    for one in &shot.running {
        let queue = &shot.node(one.queue).name;
        let end = |end: Option<Timestamp>| end.map_or("?".to_owned(), |end| time(shot, end));
        let (uses, start) = (uses(shot, &one.uses), time(shot, one.start));
        let (p50, p90) = (end(one.end_p50), end(one.end_p90));
        writeln!(out, "running {} in {queue}: {uses}, {start} to {p50} / {p90}", one.key).unwrap();
    }
    for one in &shot.workloads {
        writeln!(out, "{}", workload(shot, one)).unwrap();
    }
    for one in &assembled.uncontrolled {
        writeln!(out, "uncontrolled {}", workload(shot, one)).unwrap();
    }
    for one in &assembled.unplaceable {
        writeln!(out, "never {} {}: {}", one.kind, one.key, one.code).unwrap();
    }
    out
}

/// The findings, one a line, with their hints below.
pub fn findings(assembled: &Assembled) -> String {
    assembled.findings.iter().map(finding).collect()
}

fn finding(finding: &Finding) -> String {
    let weight = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let hint = finding.hint.as_ref().map_or(String::new(), |hint| format!("  hint: {hint}\n"));
    format!("{weight} {} {}: {}{}\n{hint}", finding.code, finding.subject, finding.message, place(finding))
}

/// What the caret stands under, when there is a place: the first line of it, cut to a few words.
fn place(finding: &Finding) -> String {
    let Some(span) = &finding.span else { return String::new() };
    let line = span.file.text[span.start..span.end].lines().next().unwrap_or_default();
    let short: String = line.chars().take(40).collect();
    format!(" ^ {}", if short == line { short } else { format!("{}…", short.trim_end()) })
}

/// Only the ways each workload may run.
pub fn options(assembled: &Assembled) -> String {
    let shot = &assembled.snapshot;
    let line = |one: &Workload| {
        format!("{}: {}\n", one.key, one.options.iter().map(|o| option(shot, o)).collect::<Vec<_>>().join(" | "))
    };
    shot.workloads.iter().map(line).collect()
}

fn nodes(out: &mut String, shot: &Snapshot) {
    for node in &shot.nodes {
        let kind = if node.kind == NodeKind::Cohort { "cohort" } else { "queue" };
        let under = node.parent.map_or(String::new(), |parent| format!(" under {}", shot.node(parent).name));
        let quotas: Vec<String> = node.quotas.iter().map(|(id, quota)| self::quota(shot, *id, quota)).collect();
        let stopped = matches!(&node.kind, NodeKind::ClusterQueue(rules) if rules.stopped);
        let stopped = if stopped { " (stopped)" } else { "" };
        writeln!(out, "{kind} {}{under}{stopped}: {}", node.name, quotas.join(", ")).unwrap();
    }
}

fn quota(shot: &Snapshot, id: CellId, quota: &Quota) -> String {
    let mut text = cell(shot, id, quota.nominal);
    for (word, limit) in [(" borrows ", quota.borrowing_limit), (" lends ", quota.lending_limit)] {
        if let Some(limit) = limit {
            write!(text, "{word}{}", shot.cell(id).resource.quantity(limit)).unwrap();
        }
    }
    text
}

fn workload(shot: &Snapshot, one: &Workload) -> String {
    let queue = &shot.node(one.queue).name;
    let options: Vec<String> = one.options.iter().map(|option| self::option(shot, option)).collect();
    let mut text = format!("{} {} in {queue}", one.kind, one.key);
    if let Some(tenant) = &one.tenant {
        write!(text, " of {tenant}").unwrap();
    }
    if one.created != shot.now {
        write!(text, ", created {}", time(shot, one.created)).unwrap();
    }
    if one.earliest_start != shot.now {
        write!(text, ", from {}", time(shot, one.earliest_start)).unwrap();
    }
    if let Some(due) = &one.due {
        write!(text, ", {}", self::due(shot, due)).unwrap();
    }
    if one.priority != 0 {
        write!(text, ", priority {}", one.priority).unwrap();
    }
    if one.value != 1 {
        write!(text, ", value {}", one.value).unwrap();
    }
    if let Some(class) = &one.class {
        write!(text, ", class {class}").unwrap();
    }
    match one.interruption {
        Interruption::None => {}
        Interruption::Restartable { cost, max } => write!(text, ", restartable for {cost}, {max} times").unwrap(),
        Interruption::Checkpointable { interval, cost, max } => {
            write!(text, ", checkpoints every {interval} for {cost}, {max} times").unwrap();
        }
    }
    if !one.has_slo {
        text.push_str(", no SLO");
    }
    format!("{text}: {}", options.join(" | "))
}

fn option(shot: &Snapshot, option: &RunOption) -> String {
    let Runtime { p50, p90, known } = option.runtime;
    let runtime = match (known, p50 == p90) {
        (false, _) => "?".to_owned(),
        (true, true) => p50.to_string(),
        (true, false) => format!("{p50} / {p90}"),
    };
    let uses = uses(shot, &option.uses);
    // The flavor's name is told only where the use does not say it.
    let named = option.uses.iter().any(|(id, _)| shot.cell(*id).flavor == option.flavor);
    let flavor = if named { String::new() } else { format!("{} ", Name(&option.flavor).0) };
    format!("{flavor}[{uses}] {runtime}")
}

struct Name<'a>(&'a FlavorName);

fn due(shot: &Snapshot, due: &Due) -> String {
    let word = match due.policy {
        DeadlinePolicy::Hard => "due",
        DeadlinePolicy::Soft => "softly due",
        DeadlinePolicy::BestEffort => "hopefully by",
    };
    let tiers: Vec<String> =
        due.tiers.iter().map(|tier| format!(" {}% {} later", tier.value_percent, tier.after)).collect();
    format!("{word} {}{}", time(shot, due.at), tiers.join(","))
}

fn uses(shot: &Snapshot, uses: &[(CellId, Amount)]) -> String {
    uses.iter().map(|(id, amount)| cell(shot, *id, *amount)).collect::<Vec<_>>().join(", ")
}

fn cell(shot: &Snapshot, id: CellId, amount: Amount) -> String {
    let cell = shot.cell(id);
    let resource = cell.resource.as_str().rsplit('/').next().unwrap_or_default();
    format!("{} {}/{resource}", cell.resource.quantity(amount), cell.flavor)
}

fn time(shot: &Snapshot, at: Timestamp) -> String {
    calendar::day_time(at, shot.now, calendar::zone(&shot.time_zone).unwrap())
}
