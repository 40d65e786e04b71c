//! Whether an installation is whole: what was found in a cluster, judged check by check.
//!
//! `gather` asks, `examine` judges; the latter is pure. Invariant: what could not be found out is unknown and says why,
//! never fine. Deliberately absent: repairing anything.

mod certificates;
mod examine;
pub mod facts;
mod gather;
mod kueue;
mod policies;
mod stamps;

use serde::Serialize;

pub use examine::examine;
pub use facts::Facts;
pub use gather::gather;

/// What a check came to, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    /// It could not be found out.
    Unknown,
    /// It works, but not as it should.
    Warning,
    Failed,
}

impl Status {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// A stable word: scripts look for it.
    pub name: &'static str,
    pub status: Status,
    /// What was found, as one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

impl Check {
    #[must_use]
    pub fn new(name: &'static str, status: Status, message: impl Into<String>) -> Self {
        Self { name, status, message: message.into(), action: None }
    }

    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }
}

/// The document of `-o json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    server: &'a str,
    /// The worst of all.
    status: Status,
    checks: &'a [Check],
}

impl<'a> Document<'a> {
    #[must_use]
    pub fn new(server: &'a str, checks: &'a [Check]) -> Self {
        Self { api_version: "stagger.dev/doctor/v1", kind: "Doctor", server, status: worst(checks), checks }
    }
}

/// The worst of these.
#[must_use]
pub fn worst(checks: &[Check]) -> Status {
    checks.iter().map(|check| check.status).max().unwrap_or(Status::Ok)
}
