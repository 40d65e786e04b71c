//! How a command ends: the published exit codes, and failures with their hints.

use std::fmt::Display;
use std::process::ExitCode;

/// Exit codes. They are a promise: scripts rest on them, and a code is never given another meaning.
///
/// When several apply, an interruption goes first, then the missed hard deadline, the risk, the limit, the unchanged plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is fine.
    Fine = 0,
    /// A flag was wrong, or a file could not be read or written.
    Usage = 1,
    /// A bug in stagger.
    Bug = 2,
    /// The plan is the same as `--previous` (only with `--error-unchanged`).
    Unchanged = 3,
    /// At least one hard deadline cannot be met; the plan is written all the same.
    Infeasible = 4,
    /// A deadline is at risk or a soft one is missed (only with `--fail-on risk`).
    AtRisk = 5,
    /// The search was stopped by its time limit; the plan is usable, its gap is printed.
    Limit = 6,
    /// The input was refused; nothing is written.
    Refused = 7,
    /// The cluster could not be reached, or it forbade what was asked.
    Cluster = 8,
    /// Ctrl-C; the best plan so far was written.
    Interrupted = 130,
}

/// The same for `--help`.
pub(super) const HELP: &str = "\
Exit codes:
  0    fine
  1    usage, or a file that cannot be read or written
  2    a bug in stagger
  3    unchanged against --previous (with --error-unchanged)
  4    at least one hard deadline cannot be met (the plan is written all the same)
  5    something is at risk (with --fail-on risk)
  6    stopped at the time limit with a usable plan
  7    the input was refused
  8    the cluster is unreachable or forbids it
  130  Ctrl-C (the best plan so far is written)";

impl Exit {
    #[must_use]
    pub fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Usage => 1,
            Self::Bug => 2,
            Self::Unchanged => 3,
            Self::Infeasible => 4,
            Self::AtRisk => 5,
            Self::Limit => 6,
            Self::Refused => 7,
            Self::Cluster => 8,
            Self::Interrupted => 130,
        }
    }
}

/// A command that could not do what it was asked.
#[derive(Debug)]
pub struct Failed {
    pub exit: Exit,
    /// `failed to read plan.json: no such file`; no full stop.
    pub message: String,
    pub hint: Option<String>,
}

impl Failed {
    /// Wrong usage, or a file that cannot be read or written.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), hint: None }
    }

    /// An operation on a file went wrong.
    #[must_use]
    pub fn file(verb: &str, path: &str, error: impl Display) -> Self {
        Self::usage(format!("failed to {verb} {path}: {error}"))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
