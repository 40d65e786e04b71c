//! Finished work → runs: JSON lines, CSV, and manifests of finished Workloads and Jobs.
//!
//! Laws: a bad row is refused by its line and never hides the others; the same row again is the same run; a row that
//! contradicts an earlier one about the same attempt is refused and counted.

mod finished;
mod row;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile, Span};
use crate::ledger::run::Run;
use crate::names::{FlavorName, WorkloadKey};
use crate::units::Timestamp;

pub(super) use finished::evictions;
pub use finished::of_manifests;

/// A row holds one attempt; a thousand rows are about 300 kB, and a million are a year of a large cluster.
pub const RUNS_MAX: usize = 1_000_000;

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadRuns {
    /// In the order of the files.
    pub runs: Vec<Run>,
    /// The same row again.
    pub duplicates: u64,
    /// Another row about the same attempt, flavor and start.
    pub conflicts: u64,
    pub findings: Vec<Finding>,
    seen: HashMap<(WorkloadKey, u32, FlavorName, Timestamp), usize>,
}

/// Reads JSON lines, a JSON array or CSV with a title line. Codes: `SG130` a bad row, `SG131` a conflict, `SG132` too
/// many, `SG133` not a known format.
pub fn read(file: &Arc<SourceFile>, into: &mut ReadRuns) {
    let text = file.text.trim_start_matches('\u{feff}');
    match text.trim_start().chars().next() {
        None => into.findings.push(Finding::warning("SG133", &*file.path, "the file is empty")),
        Some('{' | '[') => row::read(file, into),
        Some(_) => table::read(file, into),
    }
    if into.runs.len() > RUNS_MAX {
        into.runs.truncate(RUNS_MAX);
        let message = format!("there are more than {RUNS_MAX} runs; the rest was not read");
        into.findings.push(Finding::error("SG132", &*file.path, message).hint("report on a shorter window"));
    }
}

impl ReadRuns {
    /// Takes a run in, unless it is known.
    pub fn accept(&mut self, run: Run, place: Option<Span>) {
        let key = (run.workload.clone(), run.attempt, run.flavor.clone(), run.start);
        match self.seen.get(&key) {
            None => {
                self.seen.insert(key, self.runs.len());
                self.runs.push(run);
            }
            Some(known) if self.runs[*known] == run => self.duplicates += 1,
            Some(_) => {
                self.conflicts += 1;
                let subject = format!("{} attempt {}", run.workload, run.attempt);
                let message = "an earlier row says something else about the same attempt; this one is refused";
                self.findings.push(Finding::warning("SG131", subject, message).at(place, "this row"));
            }
        }
    }

    fn refuse(&mut self, place: Option<Span>, message: String) {
        let subject = place.as_ref().map_or_else(|| "run".to_owned(), Span::to_string);
        self.findings.push(Finding::error("SG130", subject, message).at(place, "this row"));
    }
}
