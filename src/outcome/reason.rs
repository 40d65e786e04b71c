//! Why a verdict is what it is: a closed set of reasons, each with its sentence.

use crate::calendar;
use crate::units::{Seconds, Timestamp};

use super::bound::Method;
use super::gate::Comparison;

/// What becomes of an outcome. The order is from best to worst: over several attempts the best stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Good, and on time.
    Verified,
    /// Good, but after its due time.
    Late,
    /// Shown not to be good.
    Rejected,
    /// Nobody can say.
    Unverified,
}

impl Verdict {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "Verified",
            Self::Late => "Late",
            Self::Rejected => "Rejected",
            Self::Unverified => "Unverified",
        }
    }
}

/// Why. Texts and numbers are as they stand in gate and evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Verified.
    Passed,
    /// Late.
    CompletedLate {
        completed: Timestamp,
        due: Timestamp,
    },
    /// Rejected.
    ThresholdMissed {
        criterion: String,
        metric: String,
        value: String,
        side: &'static str,
        threshold: String,
    },
    /// All below: Unverified.
    NoEvidence,
    EvidenceOverdue {
        after: Seconds,
    },
    NoGate {
        class: Option<String>,
    },
    SeveralGates {
        names: String,
    },
    GateWithoutCriteria {
        gate: String,
    },
    UntrustedEvaluator {
        evaluator: String,
    },
    ScoreMissing {
        metric: String,
    },
    ScoreAmbiguous {
        metric: String,
        fits: String,
    },
    ScoreNotANumber {
        metric: String,
    },
    TooFewSamples {
        metric: String,
        samples: u64,
        needed: u64,
    },
    SamplesUnknown {
        metric: String,
        needed: u64,
    },
    NotConfident {
        metric: String,
        value: String,
        side: &'static str,
        threshold: String,
        method: &'static str,
    },
    TooLarge {
        metric: String,
    },
    Limited {
        used: Option<u64>,
        of: Option<u64>,
    },
    Incomplete {
        used: u64,
        of: u64,
    },
    EvaluationCancelled,
    EvaluationFailed,
    EvaluationUnfinished,
    EvaluationInvalidated,
    FingerprintMissing {
        field: String,
    },
    Stale {
        field: String,
        evaluated: String,
        delivered: String,
    },
    CompletionUnknown,
    DueUnknown {
        why: String,
    },
}

impl Reason {
    /// The stable name, for documents and metrics.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Passed => "Passed",
            Self::CompletedLate { .. } => "CompletedLate",
            Self::ThresholdMissed { .. } => "ThresholdMissed",
            Self::NoEvidence => "NoEvidence",
            Self::EvidenceOverdue { .. } => "EvidenceOverdue",
            Self::NoGate { .. } => "NoGate",
            Self::SeveralGates { .. } => "SeveralGates",
            Self::GateWithoutCriteria { .. } => "GateWithoutCriteria",
            Self::UntrustedEvaluator { .. } => "UntrustedEvaluator",
            Self::ScoreMissing { .. } => "ScoreMissing",
            Self::ScoreAmbiguous { .. } => "ScoreAmbiguous",
            Self::ScoreNotANumber { .. } => "ScoreNotANumber",
            Self::TooFewSamples { .. } => "TooFewSamples",
            Self::SamplesUnknown { .. } => "SamplesUnknown",
            Self::NotConfident { .. } => "NotConfident",
            Self::TooLarge { .. } => "TooLarge",
            Self::Limited { .. } => "Limited",
            Self::Incomplete { .. } => "Incomplete",
            Self::EvaluationCancelled => "EvaluationCancelled",
            Self::EvaluationFailed => "EvaluationFailed",
            Self::EvaluationUnfinished => "EvaluationUnfinished",
            Self::EvaluationInvalidated => "EvaluationInvalidated",
            Self::FingerprintMissing { .. } => "FingerprintMissing",
            Self::Stale { .. } => "Stale",
            Self::CompletionUnknown => "CompletionUnknown",
            Self::DueUnknown { .. } => "DueUnknown",
        }
    }

    /// One sentence for people, without a full stop.
    #[must_use]
    pub fn message(&self) -> String {
        let utc = |at: Timestamp| calendar::rfc3339(at, chrono_tz::UTC);
        match self {
            Self::Passed => "every criterion holds and it came in time".to_owned(),
            Self::CompletedLate { completed, due } => {
                format!("completed {} after its due time {}", Seconds(completed.0 - due.0), utc(*due))
            }
            Self::ThresholdMissed { criterion, metric, value, side, threshold } => {
                format!("{criterion}: {metric} is {value}, not {side} {threshold}")
            }
            Self::NoEvidence => "no evaluation has reported on it".to_owned(),
            Self::EvidenceOverdue { after } => format!("no evaluation has reported within {after} of its completion"),
            Self::NoGate { class: Some(class) } => format!("no QualityGate judges outcomes of class {class}"),
            Self::NoGate { class: None } => "it has no outcome class, so no QualityGate judges it".to_owned(),
            Self::SeveralGates { names } => format!("several QualityGates judge its class: {names}"),
            Self::GateWithoutCriteria { gate } => format!("QualityGate {gate} has no criteria"),
            Self::UntrustedEvaluator { evaluator } => format!("the gate does not trust {evaluator}"),
            Self::ScoreMissing { metric } => format!("the evidence has no score {metric}"),
            Self::ScoreAmbiguous { metric, fits } => format!("{metric} fits several scores: {fits}"),
            Self::ScoreNotANumber { metric } => format!("the score {metric} has no value"),
            Self::TooFewSamples { metric, samples, needed } => {
                format!("{metric} rests on {samples} samples of at least {needed}")
            }
            Self::SamplesUnknown { metric, needed } => {
                format!("{metric} does not say on how many samples it rests; at least {needed} are needed")
            }
            Self::NotConfident { metric, value, side, threshold, method } => {
                format!("{metric} {value} does not show {side} {threshold} with 95 % confidence ({method})")
            }
            Self::TooLarge { metric } => format!("the figures of {metric} are too large to be exact"),
            Self::Limited { used, of } => match (used, of) {
                (Some(used), Some(of)) => format!("the evaluation was limited to {used} of {of} samples"),
                _ => "the evaluation was limited to some of the samples".to_owned(),
            },
            Self::Incomplete { used, of } => format!("the evaluation finished {used} of {of} samples"),
            Self::EvaluationCancelled => "the evaluation was cancelled".to_owned(),
            Self::EvaluationFailed => "the evaluation ended with an error".to_owned(),
            Self::EvaluationUnfinished => "the evaluation has not ended".to_owned(),
            Self::EvaluationInvalidated => "the evaluation was invalidated".to_owned(),
            Self::FingerprintMissing { field } => format!("the evidence does not say which {field} was evaluated"),
            Self::Stale { field, evaluated, delivered } => {
                format!("stale: {field} was {evaluated} when evaluated and is {delivered} in what was delivered")
            }
            Self::CompletionUnknown => "nobody says when it was completed".to_owned(),
            Self::DueUnknown { why } => format!("its due time is not known: {why}"),
        }
    }
}

/// Which side of a threshold is good, in words.
#[must_use]
pub fn side(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::AtLeast => "at least",
        Comparison::AtMost => "at most",
    }
}

/// A bound's method, in words.
#[must_use]
pub fn method(method: Method) -> &'static str {
    match method {
        Method::Value => "as it stands",
        Method::Normal => "normal bound from its stderr",
        Method::Wilson => "Wilson bound from its samples",
    }
}
