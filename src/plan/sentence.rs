//! The plan in a sentence or two, for somebody who has no time for the chart.

use chrono_tz::Tz;

use crate::calendar;
use crate::plan::proposal::{Peak, Plan, Release, Verdict};
use crate::units::{Amount, Seconds, Timestamp};

/// At most this many late workloads are named; the table has them all.
const NAMED: usize = 3;

/// What a manager wants to know: "4 of 4 deadlines met with the 4 a100 you have; started at once they would need 8. Last one ends 14:00."
#[must_use]
pub fn headline(plan: &Plan) -> String {
    if plan.releases.is_empty() {
        return "Nothing to plan: no workload waits for quota.".to_owned();
    }
    let summary = &plan.summary;
    let promised = summary.on_time + summary.at_risk + summary.late;
    let count = plan.releases.len();
    let mut first = match (promised, summary.at_risk + summary.late) {
        (0, _) => format!("{count} {} planned, none of them with a deadline,", plural(count, "workload", "workloads")),
        (1, 0) => "The one deadline is met".to_owned(),
        (1, _) if summary.late > 0 => "The one deadline cannot be met".to_owned(),
        _ => format!("{} of {promised} deadlines met", summary.on_time),
    };
    let pool = pool(&plan.peaks);
    if !pool.is_empty() {
        first.push_str(&format!(" with the {pool} you have"));
    }
    let more = needs_more(plan);
    if !more.is_empty() {
        first.push_str(&format!("; started at once they would need {more}"));
    }
    let mut sentences = vec![first];
    sentences.extend(at_risk(plan));
    sentences.extend(late(plan));
    if let Some(kueue) = &plan.before.kueue_alone
        && kueue.late > summary.late
    {
        sentences.push(format!("Kueue alone would be late for {}", kueue.late));
    }
    if let Some(end) = plan.releases.iter().map(|release| release.end).max() {
        sentences.push(format!("Last one ends {}", moment(plan, end)));
    }
    sentences.join(". ") + "."
}

/// An instant as people say it: the day only when it is not today.
#[must_use]
pub fn moment(plan: &Plan, at: Timestamp) -> String {
    calendar::day_time(at, plan.now, calendar::zone(&plan.time_zone).unwrap_or(Tz::UTC))
}

fn at_risk(plan: &Plan) -> Option<String> {
    let count = plan.summary.at_risk;
    (count > 0).then(|| {
        format!("{count} {} at risk: in time at the median, not at p90", if count == 1 { "is" } else { "are" })
    })
}

fn late(plan: &Plan) -> Option<String> {
    let late: Vec<&Release> = plan.releases.iter().filter(|release| release.verdict == Verdict::Late).collect();
    if late.is_empty() {
        return None;
    }
    let named: Vec<String> = late
        .iter()
        .take(NAMED)
        .map(|release| {
            let by = release.finish_by.map_or(Seconds::ZERO, |due| release.end - due);
            format!("{} by {by}", release.workload)
        })
        .collect();
    let rest = late.len() - named.len();
    let tail = if rest == 0 { String::new() } else { format!(" and {rest} more") };
    Some(format!("{} late: {}{tail}", late.len(), named.join(", ")))
}

/// "4 a100 and 8 h100": the accelerators the plan uses, as much of them as there is.
fn pool(peaks: &[Peak]) -> String {
    let used = peaks.iter().filter(|peak| peak.resource.is_accelerator() && peak.peak > Amount::ZERO);
    list(used.map(|peak| format!("{} {}", peak.resource.quantity(peak.capacity), peak.flavor)).collect())
}

/// "8 a100": what starting everything at once would take, where that is more than there is.
fn needs_more(plan: &Plan) -> String {
    let at_once = &plan.before.all_at_once.peak;
    let over: Vec<&Peak> =
        at_once.iter().filter(|peak| peak.resource.is_accelerator() && peak.peak > peak.capacity).collect();
    let pools = plan.peaks.iter().filter(|peak| peak.resource.is_accelerator() && peak.peak > Amount::ZERO).count();
    let named = |peak: &&Peak| {
        let amount = peak.resource.quantity(peak.peak);
        if pools <= 1 { amount } else { format!("{amount} {}", peak.flavor) }
    };
    list(over.iter().map(named).collect())
}

fn list(items: Vec<String>) -> String {
    match items.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

fn plural<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}
