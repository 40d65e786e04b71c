//! The tally kept while rows are read: what was refused and why, what was missing, what was assumed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile};
use crate::scenario::codes::traces as codes;

use super::Settings;
use super::report::DropReason;
use super::source::{Line, ROWS_MAX};

/// So many findings of a code are kept: enough to see the pattern; the rest is counted.
const FINDINGS_PER_CODE_MAX: usize = 10;

/// A row that is left out.
#[derive(Debug)]
pub struct Refusal {
    pub reason: DropReason,
    pub finding: Option<Finding>,
}

impl From<Finding> for Refusal {
    fn from(finding: Finding) -> Self {
        Self { reason: DropReason::Malformed, finding: Some(finding) }
    }
}

impl From<DropReason> for Refusal {
    fn from(reason: DropReason) -> Self {
        Self { reason, finding: None }
    }
}

#[derive(Debug)]
pub struct Intake {
    pub file: Arc<SourceFile>,
    pub rows_read: u64,
    pub rows_beyond_limit: u64,
    pub dropped: BTreeMap<DropReason, u64>,
    pub missing: BTreeMap<&'static str, u64>,
    pub statements: Vec<String>,
    findings: BTreeMap<&'static str, Vec<Finding>>,
    left_out: BTreeMap<&'static str, usize>,
}

impl Intake {
    pub fn new(file: &Arc<SourceFile>) -> Self {
        Self {
            file: Arc::clone(file),
            rows_read: 0,
            rows_beyond_limit: 0,
            dropped: BTreeMap::new(),
            missing: BTreeMap::new(),
            statements: Vec::new(),
            findings: BTreeMap::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// The lines to look at: the first `--rows`, and never more than a million.
    pub fn take<'a, 'b>(&mut self, lines: &'b [Line<'a>], settings: &Settings) -> &'b [Line<'a>] {
        let wanted = settings.rows.unwrap_or(usize::MAX);
        let taken = lines.len().min(wanted).min(ROWS_MAX);
        if lines.len() > ROWS_MAX && wanted > ROWS_MAX {
            let message = format!("the file has {} rows, of which the first {ROWS_MAX} are read", lines.len());
            self.note(Finding::warning(codes::LIMIT, &*self.file.path, message));
        }
        self.rows_read = as_count(taken);
        self.rows_beyond_limit = as_count(lines.len() - taken);
        &lines[..taken]
    }

    pub fn refuse(&mut self, refusal: Refusal) {
        *self.dropped.entry(refusal.reason).or_default() += 1;
        if let Some(finding) = refusal.finding {
            self.note(finding);
        }
    }

    pub fn miss(&mut self, field: &'static str) {
        *self.missing.entry(field).or_default() += 1;
    }

    /// An assumption, as a sentence without a full stop.
    pub fn state(&mut self, sentence: impl Into<String>) {
        self.statements.push(sentence.into());
    }

    pub fn note(&mut self, finding: Finding) {
        let kept = self.findings.entry(finding.code).or_default();
        if kept.len() < FINDINGS_PER_CODE_MAX {
            kept.push(finding);
        } else {
            *self.left_out.entry(finding.code).or_default() += 1;
        }
    }

    /// All findings by code, then in the order they were made, and how many of each code are not shown.
    pub fn findings(self) -> Vec<Finding> {
        let path = self.file.path.clone();
        let more = self.left_out.into_iter().map(|(code, count)| {
            Finding::note(codes::MORE, &*path, format!("{count} more findings of code {code} are not shown"))
        });
        self.findings.into_values().flatten().chain(more.collect::<Vec<_>>()).collect()
    }
}

pub fn as_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
