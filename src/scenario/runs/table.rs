//! Runs as CSV with a title line: the same names as in JSON, in any order.
//!
//! `resources` is `nvidia.com/gpu=2;cpu=8`, or the JSON object; a column may also be called like a resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile, Span};
use crate::kueue::quantity::Quantity;

use super::row::Row;
use super::{RUNS_MAX, ReadRuns};

const COLUMNS: [&str; 11] = [
    "workload",
    "attempt",
    "tenant",
    "class",
    "clusterQueue",
    "flavor",
    "resources",
    "created",
    "start",
    "end",
    "endReason",
];

pub(super) fn read(file: &Arc<SourceFile>, into: &mut ReadRuns) {
    let text = file.text.trim_start_matches('\u{feff}');
    let offset = file.text.len() - text.len();
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let titles: Vec<String> = match reader.headers() {
        Ok(titles) => titles.iter().map(str::to_owned).collect(),
        Err(error) => {
            into.findings.push(Finding::error("SG133", &*file.path, format!("this is not CSV: {error}")));
            return;
        }
    };
    let missing: Vec<&str> = ["workload", "flavor", "start", "end", "endReason"]
        .into_iter()
        .filter(|name| !titles.iter().any(|title| title == name))
        .collect();
    if !missing.is_empty() {
        let message = format!("these are no runs: the title line has no column {}", missing.join(", "));
        let finding = Finding::error("SG133", &*file.path, message);
        into.findings.push(finding.hint(format!("runs are JSON lines, or CSV with the columns {}", COLUMNS.join(","))));
        return;
    }
    for record in reader.records().take(RUNS_MAX + 1) {
        let (place, run) = match record {
            Ok(record) => {
                let start =
                    record.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(0)) + offset;
                let place = Some(Span { file: Arc::clone(file), start, end: start });
                (place, row(&titles, &record).and_then(Row::run))
            }
            Err(error) => (None, Err(format!("this line is not CSV: {error}"))),
        };
        match run {
            Ok(run) => into.accept(run, place),
            Err(message) => into.refuse(place, message),
        }
    }
}

fn row(titles: &[String], record: &csv::StringRecord) -> Result<Row, String> {
    if record.len() != titles.len() {
        return Err(format!("{} cells under {} titles", record.len(), titles.len()));
    }
    let mut row = Row::default();
    for (title, cell) in titles.iter().zip(record).filter(|(_, cell)| !cell.is_empty()) {
        let text = Some(cell.to_owned());
        match title.as_str() {
            "workload" => row.workload = text,
            "attempt" => {
                row.attempt = Some(cell.parse().map_err(|_| format!("attempt `{cell}` is not a whole number"))?);
            }
            "tenant" => row.tenant = text,
            "class" => row.class = text,
            "clusterQueue" => row.cluster_queue = text,
            "flavor" => row.flavor = text,
            "resources" => row.resources.extend(resources(cell)?),
            "created" => row.created = text,
            "start" => row.start = text,
            "end" => row.end = text,
            "endReason" => row.end_reason = text,
            other if other == "cpu" || other == "memory" || other.contains('/') => {
                row.resources.insert(other.to_owned(), Quantity::parse(cell)?);
            }
            _ => {}
        }
    }
    Ok(row)
}

fn resources(cell: &str) -> Result<BTreeMap<String, Quantity>, String> {
    if cell.starts_with('{') {
        return serde_json::from_str(cell).map_err(|error| format!("resources: {error}"));
    }
    let parts = cell.split([';', ' ']).filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, quantity) =
            part.split_once('=').ok_or_else(|| format!("resources: `{part}` is not name=quantity"))?;
        Ok((name.to_owned(), Quantity::parse(quantity)?))
    };
    parts.map(pair).collect()
}
