//! An event about an outcome: who says what about which piece of work.

use std::collections::BTreeMap;

use crate::failure::Span;
use crate::names::WorkloadKey;
use crate::ratio::Ratio;
use crate::units::Timestamp;

/// One statement, identified by `(source, id)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub source: String,
    pub id: String,
    /// When it was said, and the nanoseconds within that second.
    pub time: (Timestamp, u32),
    /// The business result it is about; counted once, whatever it took.
    pub outcome: String,
    pub class: Option<String>,
    pub workload: Option<WorkloadKey>,
    /// `None`: the workload's attempt that succeeded.
    pub attempt: Option<u32>,
    pub completed_at: Option<Timestamp>,
    /// The due time as the event has it; it goes before that of the SLO.
    pub finish_by: Option<Timestamp>,
    pub evidence: Evidence,
    /// How much was delivered.
    pub units: Option<Units>,
    /// The id of an earlier event about the same outcome that no longer has a say.
    pub supersedes: Option<String>,
    /// Where it was written.
    pub place: Option<Span>,
}

/// How much was delivered, in a unit of the business: tokens, documents, requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    pub kind: String,
    /// Not negative.
    pub quantity: Ratio,
}

/// What an evaluation found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub scores: Vec<Score>,
    pub evaluator: Option<Evaluator>,
    /// What was evaluated, field by field.
    pub fingerprint: BTreeMap<String, String>,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Evaluator {
    pub id: String,
    pub version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// `task/metric` or `task/metric,filter`, or whatever the event calls it.
    pub name: String,
    /// `None`: the evaluator wrote that it has none (null, NaN, N/A).
    pub value: Option<Ratio>,
    /// Samples behind it.
    pub samples: Option<u64>,
    pub stderr: Option<Ratio>,
}

/// How far an evaluation got. Only a complete one proves anything, in either direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Complete,
    /// It looked at fewer samples than there are, by choice.
    Limited {
        used: Option<u64>,
        of: Option<u64>,
    },
    /// Some samples were not finished or not scored.
    Incomplete {
        used: u64,
        of: u64,
    },
    Cancelled,
    /// It ended with an error.
    Failed,
    /// It has not ended.
    Unfinished,
    /// Somebody took it back.
    Invalidated,
}

/// A score found by the name a criterion gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<'a> {
    One(&'a Score),
    None,
    /// The name fits several; their names.
    Several(Vec<&'a str>),
}

impl Evidence {
    /// Finds a score: by its full name; else without the filter `,none`; else by the part after the last `/`.
    #[must_use]
    pub fn score(&self, metric: &str) -> Found<'_> {
        let plain = |name: &str| name.strip_suffix(",none").unwrap_or(name).to_owned();
        let wanted = plain(metric);
        let fits: [&dyn Fn(&Score) -> bool; 3] =
            [&|score| score.name == metric, &|score| plain(&score.name) == wanted, &|score| {
                plain(&score.name).rsplit('/').next() == Some(wanted.as_str())
            }];
        for fit in fits {
            let found: Vec<&Score> = self.scores.iter().filter(|score| fit(score)).collect();
            match found.as_slice() {
                [] => {}
                [one] => return Found::One(one),
                several => return Found::Several(several.iter().map(|score| score.name.as_str()).collect()),
            }
        }
        Found::None
    }
}
