//! Importers: a trace from elsewhere, read onto the planner's own input, with an account of what was read.
//!
//! One file per format ([`philly`], [`swf`], [`openb`], [`sacct`], [`workloads`]). Each reads text into [`trace::TraceJob`]s and hands them to
//! [`trace::build`], so that all formats end in the same kind of [`Snapshot`]: one ClusterQueue with the pool the user
//! names, and one workload per kept row, in order of submission.
//!
//! Invariants: `rows_read = rows_kept + Σ rows_dropped`; a row that cannot be read is left out with a finding at its
//! line; what a trace does not say is stated as an assumption or counted as missing; same file, same bytes.
//!
//! Deliberately absent: reading files, the clock, randomness, and any deadline the trace does not carry.

mod account;
pub mod document;
mod intake;
mod labels;
pub mod manifests;
pub mod openb;
pub mod philly;
mod report;
mod request;
pub mod sacct;
mod source;
pub mod swf;
mod table;
pub mod text;
mod trace;
pub mod workloads;

use crate::failure::Finding;
use crate::names::FlavorName;
use crate::plan::snapshot::Snapshot;
use crate::replay::Past;
use crate::units::{Seconds, Timestamp};

pub use report::{DropReason, ImportReport, PeakDemand};
pub use request::{Format, Request, TraceFile, run};
pub use source::{BYTES_MAX, LINE_BYTES_MAX, ROWS_MAX, decode};

/// A trace that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub snapshot: Snapshot,
    /// By workload: what the trace says of it besides its work.
    pub past: Vec<Past>,
    pub report: ImportReport,
    /// Warnings and notes, in file order within a code; at most a few per code, then a count.
    pub findings: Vec<Finding>,
}

/// Where minute 0 of a trace without a calendar falls unless the user says otherwise: Monday, 2026-01-05T00:00:00Z.
pub const DEFAULT_START: Timestamp = Timestamp(1_767_571_200);

/// What all formats share.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The capacity to replay on. Empty: the trace's own (SWF `MaxProcs`, openb's node list); the others have none.
    pub pool: Vec<PoolShare>,
    /// Only the first so many rows of the file, in file order.
    pub rows: Option<usize>,
    /// The instant of the trace's second 0; default the trace's own, else [`DEFAULT_START`].
    pub start: Option<Timestamp>,
    /// The zone in which times are shown; default the trace's own, else `UTC`.
    pub time_zone: Option<String>,
    /// How far the plan looks; default past the last due time and the last unhindered end, and a quarter more.
    pub horizon: Option<Seconds>,
}

/// So many GPUs (cores, for a trace of cores) of one flavor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolShare {
    pub flavor: FlavorName,
    pub quantity: i64,
}

/// Reads `a100=128,h100=64`.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_pool(text: &str) -> Result<Vec<PoolShare>, String> {
    let mut pool: Vec<PoolShare> = Vec::new();
    for part in text.split(',') {
        let wrong = || format!("`{part}` is not FLAVOR=N, such as a100=128");
        let (flavor, quantity) = part.trim().split_once('=').ok_or_else(wrong)?;
        let quantity = quantity.trim().parse().map_err(|_| wrong())?;
        let flavor = flavor.trim();
        if labels::dns_label(flavor) != flavor || flavor.is_empty() {
            return Err(format!("`{flavor}` is not a flavor name: lower-case letters, digits and dashes"));
        }
        if pool.iter().any(|share| share.flavor.as_str() == flavor) {
            return Err(format!("`{flavor}` is named twice"));
        }
        pool.push(share(flavor, quantity)?);
    }
    Ok(pool)
}

/// A pool of one flavor called `gpu`.
///
/// # Errors
/// A fragment that says what was expected.
pub fn pool_of(gpus: i64) -> Result<Vec<PoolShare>, String> {
    Ok(vec![share("gpu", gpus)?])
}

fn share(flavor: &str, quantity: i64) -> Result<PoolShare, String> {
    if !(1..=trace::UNITS_MAX).contains(&quantity) {
        return Err(format!("{quantity} is not a number of GPUs between 1 and {}", trace::UNITS_MAX));
    }
    Ok(PoolShare { flavor: FlavorName::from(flavor), quantity })
}
