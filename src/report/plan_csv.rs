//! A plan's releases as CSV, one line each, with the field names of the plan document.

use chrono_tz::Tz;

use crate::calendar;
use crate::plan::proposal::Plan;
use crate::report::plan_text::verdict;

/// RFC 4180 with a title line. Resources and reasons, which are lists, are joined by `;`.
#[must_use]
pub fn render(plan: &Plan) -> String {
    let zone = calendar::zone(&plan.time_zone).unwrap_or(Tz::UTC);
    let time = |at| calendar::rfc3339(at, zone);
    let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let mut records = vec![
        [
            "workload",
            "kind",
            "tenant",
            "clusterQueue",
            "flavor",
            "resources",
            "start",
            "end",
            "endP90",
            "finishBy",
            "slackSeconds",
            "verdict",
            "reasons",
        ]
        .map(str::to_owned),
    ];
    records.extend(plan.releases.iter().map(|release| {
        let resources = release.resources.iter().map(|(name, amount)| format!("{name}={}", name.quantity(*amount)));
        [
            release.workload.to_string(),
            release.kind.clone(),
            release.tenant.as_ref().map_or_else(String::new, ToString::to_string),
            release.cluster_queue.to_string(),
            release.flavor.to_string(),
            resources.collect::<Vec<_>>().join(";"),
            time(release.start),
            time(release.end),
            time(release.end_p90),
            release.finish_by.map_or_else(String::new, time),
            release.slack.map_or_else(String::new, |slack| slack.0.to_string()),
            verdict(release.verdict).to_owned(),
            release.reasons.iter().map(|reason| reason.message.as_str()).collect::<Vec<_>>().join(";"),
        ]
    }));
    for record in &records {
        csv.write_record(record).expect("writing to memory cannot fail, and all records have the same length");
    }
    let bytes = csv.into_inner().expect("flushing to memory cannot fail");
    String::from_utf8(bytes).expect("CSV of text is text")
}
