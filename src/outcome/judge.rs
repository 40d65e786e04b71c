//! One event, one gate, one due time → one verdict with its reason.
//!
//! Quality is judged before time. What may not be used proves nothing in either direction: it gives Unverified, never
//! Rejected. The steps stand in the order in which a person would ask.

use std::collections::BTreeMap;

use crate::ratio::Ratio;
use crate::units::Timestamp;

use super::bound::{Standing, standing};
use super::evidence::{Event, Evidence, Found, State};
use super::gate::{Criterion, Gate};
use super::reason::{Reason, Verdict, method, side};

/// By when an outcome had to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// Nothing was promised: it cannot be late.
    Never,
    At(Timestamp),
    /// Something was promised, but when cannot be told from what is known.
    Unknown(String),
}

/// Which gate judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateFound<'a> {
    One(&'a Gate),
    None,
    Several(Vec<&'a str>),
}

/// Judges one event. `delivered` is the fingerprint of what the attempt really ran; `completed` when it was done, where
/// the event itself does not say. The event's own due time goes before `due`.
#[must_use]
pub fn judge(
    event: &Event,
    gate: &GateFound<'_>,
    due: &Due,
    delivered: &BTreeMap<String, String>,
    completed: Option<Timestamp>,
) -> (Verdict, Reason) {
    let quality = match gate {
        GateFound::One(gate) => quality(&event.evidence, gate, delivered),
        GateFound::None => Err((Verdict::Unverified, Reason::NoGate { class: event.class.clone() })),
        GateFound::Several(names) => Err((Verdict::Unverified, Reason::SeveralGates { names: names.join(", ") })),
    };
    match quality {
        Ok(()) => punctuality(event, due, completed),
        Err(found) => found,
    }
}

fn punctuality(event: &Event, due: &Due, completed: Option<Timestamp>) -> (Verdict, Reason) {
    let due = match (event.finish_by, due) {
        (Some(at), _) => at,
        (None, Due::At(at)) => *at,
        (None, Due::Never) => return (Verdict::Verified, Reason::Passed),
        (None, Due::Unknown(why)) => return (Verdict::Unverified, Reason::DueUnknown { why: why.clone() }),
    };
    match event.completed_at.or(completed) {
        None => (Verdict::Unverified, Reason::CompletionUnknown),
        Some(completed) if completed > due => (Verdict::Late, Reason::CompletedLate { completed, due }),
        Some(_) => (Verdict::Verified, Reason::Passed),
    }
}

/// Whether the evidence passes the gate; otherwise the verdict that it gives instead.
fn quality(evidence: &Evidence, gate: &Gate, delivered: &BTreeMap<String, String>) -> Result<(), (Verdict, Reason)> {
    usable(evidence, gate, delivered).map_err(|reason| (Verdict::Unverified, reason))?;
    let misses = gate.criteria.iter().filter_map(|criterion| holds(evidence, criterion).err());
    // A criterion that is shown not to hold decides, whatever is missing elsewhere.
    match misses.min_by_key(|(verdict, _)| *verdict) {
        Some(found) => Err(found),
        None => Ok(()),
    }
}

fn usable(evidence: &Evidence, gate: &Gate, delivered: &BTreeMap<String, String>) -> Result<(), Reason> {
    if gate.criteria.is_empty() {
        return Err(Reason::GateWithoutCriteria { gate: gate.name.clone() });
    }
    if !gate.trusts(evidence.evaluator.as_ref()) {
        let name = evidence.evaluator.as_ref().map_or("an evaluator without a name".to_owned(), |evaluator| {
            evaluator.version.as_ref().map_or(evaluator.id.clone(), |version| format!("{}@{version}", evaluator.id))
        });
        return Err(Reason::UntrustedEvaluator { evaluator: name });
    }
    match evidence.state {
        State::Complete => {}
        State::Limited { used, of } => return Err(Reason::Limited { used, of }),
        State::Incomplete { used, of } => return Err(Reason::Incomplete { used, of }),
        State::Cancelled => return Err(Reason::EvaluationCancelled),
        State::Failed => return Err(Reason::EvaluationFailed),
        State::Unfinished => return Err(Reason::EvaluationUnfinished),
        State::Invalidated => return Err(Reason::EvaluationInvalidated),
    }
    if evidence.scores.is_empty() {
        return Err(Reason::NoEvidence);
    }
    for field in &gate.fingerprint {
        let Some(evaluated) = evidence.fingerprint.get(field) else {
            return Err(Reason::FingerprintMissing { field: field.clone() });
        };
        if let Some(delivered) = delivered.get(field).filter(|delivered| *delivered != evaluated) {
            let (evaluated, delivered) = (evaluated.clone(), delivered.clone());
            return Err(Reason::Stale { field: field.clone(), evaluated, delivered });
        }
    }
    Ok(())
}

fn holds(evidence: &Evidence, criterion: &Criterion) -> Result<(), (Verdict, Reason)> {
    let metric = criterion.metric.clone();
    let unverified = |reason: Reason| Err((Verdict::Unverified, reason));
    let score = match evidence.score(&metric) {
        Found::One(score) => score,
        Found::None => return unverified(Reason::ScoreMissing { metric }),
        Found::Several(fits) => return unverified(Reason::ScoreAmbiguous { metric, fits: fits.join(", ") }),
    };
    let Some(value) = score.value else { return unverified(Reason::ScoreNotANumber { metric }) };
    match (criterion.min_samples, score.samples) {
        (Some(needed), None) => return unverified(Reason::SamplesUnknown { metric, needed }),
        (Some(needed), Some(samples)) if samples < needed => {
            return unverified(Reason::TooFewSamples { metric, samples, needed });
        }
        _ => {}
    }
    let text = |ratio: Ratio| ratio.decimal_floor(6);
    let (side, threshold) = (side(criterion.comparison), text(criterion.threshold));
    match standing(score, value, criterion.comparison, criterion.threshold) {
        None => unverified(Reason::TooLarge { metric }),
        Some(Standing::Clears(_)) => Ok(()),
        Some(Standing::NotConfident(by)) => {
            unverified(Reason::NotConfident { metric, value: text(value), side, threshold, method: method(by) })
        }
        Some(Standing::Misses) => {
            let criterion = criterion.name.clone();
            let reason = Reason::ThresholdMissed { criterion, metric, value: text(value), side, threshold };
            Err((Verdict::Rejected, reason))
        }
    }
}
