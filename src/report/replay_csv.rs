//! A replayed history as CSV: a line per row, times in seconds, so that a spreadsheet can add them up.

use crate::replay::{Replay, Row};

const TITLES: [&str; 14] = [
    "option",
    "onTime",
    "late",
    "withoutDeadline",
    "neverStarted",
    "leftOut",
    "peakFlavor",
    "peak",
    "capacity",
    "waitMedianSeconds",
    "waitP90Seconds",
    "makespanSeconds",
    "gpuSeconds",
    "idleGpuSeconds",
];

/// The lines; a row with several flavors has a line for each, its other figures repeated.
#[must_use]
pub fn render(replay: &Replay) -> String {
    let mut text = format!("{}\n", TITLES.join(","));
    for row in &replay.rows {
        for peak in &row.summary.peak {
            let peak = [
                peak.flavor.as_str().to_owned(),
                peak.resource.quantity(peak.peak),
                peak.resource.quantity(peak.capacity),
            ];
            text.push_str(&line(row, &peak));
        }
    }
    text
}

fn line(row: &Row, peak: &[String; 3]) -> String {
    let wait =
        |pick: fn(&crate::replay::Spread) -> i64| row.wait.as_ref().map_or_else(String::new, |it| pick(it).to_string());
    let cells = [
        quoted(&row.option()),
        (row.summary.on_time + row.summary.at_risk).to_string(),
        row.summary.late.to_string(),
        row.summary.without_verdict.to_string(),
        row.never_started.to_string(),
        row.left_out.to_string(),
        quoted(&peak[0]),
        peak[1].clone(),
        peak[2].clone(),
        wait(|wait| wait.median.0),
        wait(|wait| wait.p90.0),
        row.summary.makespan.0.to_string(),
        row.summary.gpu_seconds.to_string(),
        row.idle_gpu_seconds.to_string(),
    ];
    format!("{}\n", cells.join(","))
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
