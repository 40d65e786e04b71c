//! Who watches a search: its budget, its stop signal, and its progress, all handed in.

use crate::plan::proposal::{LevelName, Release};

/// A search's view of the outside: it never reads a clock or a signal itself.
pub trait Watch: Sync {
    /// Milliseconds since the search began. A watch without a clock returns 0, and step limits alone bound the search.
    fn elapsed_millis(&self) -> u64;
    /// True once the user wants the best plan so far.
    fn stopped(&self) -> bool;
    /// Called at most a few times a second, from any thread of the search.
    fn progress(&self, progress: &Progress);
    /// Called with the releases of the first complete plan, once they have passed `plan::check::capacity_ok`, long before
    /// the search ends. Reasons and figures come with the last one.
    fn first_plan(&self, _releases: &[Release]) {}
}

/// Where the search stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    pub level: LevelName,
    pub value: i128,
    pub bound: Option<i128>,
    pub late: u64,
    pub workloads: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Greedy,
    LocalSearch,
    Bound,
    Polish,
    Explain,
}

/// No clock, no stop, no talk: for tests and library callers who bound the search by steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn elapsed_millis(&self) -> u64 {
        0
    }
    fn stopped(&self) -> bool {
        false
    }
    fn progress(&self, _progress: &Progress) {}
}
