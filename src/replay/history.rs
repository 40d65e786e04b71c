//! What a log says: the work with its true runtimes, and what of it was known or happened when.

use crate::names::WorkloadKey;
use crate::plan::snapshot::{Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

/// A log on a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Workloads with their arrivals (`earliest_start`) and true runtimes (`p50`), in creation order. Where the end is not
    /// in the log, `runtime.known` is false and it runs to the end of the horizon.
    pub snapshot: Snapshot,
    /// By workload.
    pub past: Vec<Past>,
}

/// What the log says of one workload besides its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Past {
    /// When it started, on the cluster the log is from.
    pub started: Option<Timestamp>,
    /// The kill limit it was submitted with: known from the beginning, and usually far above the runtime.
    pub limit: Option<Seconds>,
}

impl History {
    /// A history with nothing but the work.
    #[must_use]
    pub fn of(snapshot: Snapshot) -> Self {
        let past = vec![Past::default(); snapshot.workloads.len()];
        Self { snapshot, past }
    }

    #[must_use]
    pub fn past(&self, workload: usize) -> Past {
        self.past.get(workload).copied().unwrap_or_default()
    }

    /// Workloads whose end is not in the log.
    #[must_use]
    pub fn censored(&self) -> u64 {
        let ended = |workload: &&Workload| workload.options.iter().any(|option| !option.runtime.known);
        u64::try_from(self.snapshot.workloads.iter().filter(ended).count()).unwrap_or(u64::MAX)
    }

    #[must_use]
    pub fn key(&self, workload: usize) -> &WorkloadKey {
        &self.snapshot.workloads[workload].key
    }
}
