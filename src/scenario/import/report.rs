//! What an import says about itself: rows, reasons, missing fields, span, demand, digest.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::names::ResourceName;
use crate::units::{Amount, Seconds, Timestamp};

/// Why a row was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum DropReason {
    /// It could not be read; a finding says where.
    Malformed,
    /// It repeats a job that was already read.
    DuplicateId,
    /// It never ran, or nobody recorded for how long.
    NoRuntime,
    /// It was never scheduled.
    NeverScheduled,
    /// It was cancelled before it started.
    Cancelled,
    /// One burst of a job that is counted once.
    PartialRun,
    /// Its end is not in the trace, and such rows were to be dropped.
    Censored,
    /// Nobody recorded how much it used.
    NoSize,
    /// It asks for a GPU model that the node list does not have.
    NoSuchFlavor,
    /// It serves requests rather than finishing, and such rows were to be dropped.
    Serving,
    /// It fits no flavor of the pool even when it is empty.
    LargerThanPool,
}

/// The account of an import: `rows_read = rows_kept + Σ rows_dropped`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// `philly`, `swf`, `openb`, `sacct` or `workloads`.
    pub format: &'static str,
    pub file: String,
    pub rows_read: u64,
    pub rows_kept: u64,
    /// Rows after the first `--rows`, not looked at.
    pub rows_beyond_limit: u64,
    pub rows_dropped: BTreeMap<DropReason, u64>,
    /// Of the rows read: how many have nothing in a field.
    pub missing: Vec<MissingField>,
    /// Kept rows whose end is not in the trace.
    pub censored: u64,
    /// Kept rows that use no accelerator.
    pub without_accelerator: u64,
    pub with_hard_due: u64,
    pub with_soft_due: u64,
    pub without_due: u64,
    pub tenants: u64,
    pub first_submission: Timestamp,
    pub last_submission: Timestamp,
    /// When the last row would end if every row started on submission.
    pub last_end_unhindered: Timestamp,
    pub horizon_end: Timestamp,
    pub resource: ResourceName,
    /// Base units of `resource` in the pool, all flavors together.
    pub capacity: Amount,
    pub peak_demand: PeakDemand,
    /// Σ amount × runtime, in base units of `resource` × seconds (thousandths of a GPU count as such).
    pub unit_seconds: i128,
    /// The same in GPU-hours (core-hours for `cpu`), two decimal places, ties to even.
    pub hours: String,
    /// What was assumed where the trace is silent, one sentence each.
    pub statements: Vec<String>,
    /// SHA-256 over the snapshot, hexadecimal: same file and settings, same digest.
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingField {
    pub field: &'static str,
    pub rows: u64,
    /// Thousandths of the rows read, rounded down.
    pub permille: u64,
}

/// The most that all rows together would hold if each started on submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeakDemand {
    pub amount: Amount,
    /// First instant of the peak; the first submission when nothing is ever used.
    pub at: Timestamp,
}

impl ImportReport {
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.rows_dropped.get(&reason).copied().unwrap_or(0)
    }

    /// From the first submission to the last unhindered end.
    #[must_use]
    pub fn span(&self) -> Seconds {
        self.last_end_unhindered - self.first_submission
    }
}
