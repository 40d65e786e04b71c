//! A quality gate as a value: what the outcomes of one class must show, and whose word is taken for it.

use crate::ratio::Ratio;
use crate::units::Seconds;

use super::evidence::Evaluator;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    pub name: String,
    /// It judges outcomes of workloads in this namespace.
    pub namespace: String,
    pub class: String,
    /// All of them must hold; without any, nothing can be verified.
    pub criteria: Vec<Criterion>,
    /// Whose word is taken; a version of `None` stands for all. Empty: anybody's.
    pub evaluators: Vec<Evaluator>,
    /// Without evidence for this long after completion, none is awaited any more.
    pub unverified_after: Option<Seconds>,
    /// Fields in which what was evaluated must equal what was delivered.
    pub fingerprint: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub name: String,
    pub metric: String,
    pub comparison: Comparison,
    pub threshold: Ratio,
    pub min_samples: Option<u64>,
}

/// Which side of a threshold is good; the threshold itself is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    AtLeast,
    AtMost,
}

impl Gate {
    /// Whether this evaluator's word is taken.
    #[must_use]
    pub fn trusts(&self, evaluator: Option<&Evaluator>) -> bool {
        let Some(evaluator) = evaluator else { return self.evaluators.is_empty() };
        self.evaluators.is_empty()
            || self.evaluators.iter().any(|trusted| {
                trusted.id == evaluator.id && (trusted.version.is_none() || trusted.version == evaluator.version)
            })
    }
}
