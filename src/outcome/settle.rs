//! All events → one verdict for every outcome.
//!
//! Laws: an outcome counts once, whatever was said about it and however often; the order of events does not matter;
//! nobody whom the gate does not trust can take a verdict away.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::run::{EndReason, Run};
use crate::names::WorkloadKey;
use crate::units::Timestamp;

use super::evidence::{Event, State, Units};
use super::gate::Gate;
use super::judge::{Due, GateFound, judge};
use super::reason::{Reason, Verdict};

/// What was promised for a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    pub due: Due,
    pub class: Option<String>,
    /// Outcomes that the workload is to bring.
    pub expected: Option<u32>,
    /// The gate by name, where the promise names one.
    pub gate: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub events: &'a [Event],
    pub gates: &'a [Gate],
    pub runs: &'a [Run],
    pub promises: &'a BTreeMap<WorkloadKey, Promise>,
    /// When the question is asked: what is awaited and what is overdue. `None`: everything missing is awaited.
    pub as_of: Option<Timestamp>,
}

/// One business result and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub id: String,
    pub class: Option<String>,
    /// The workload and attempt that decided it.
    pub workload: Option<WorkloadKey>,
    pub attempt: Option<u32>,
    pub verdict: Verdict,
    pub reason: Reason,
    pub completed_at: Option<Timestamp>,
    /// `(source, id)` of the event that spoke.
    pub event: Option<(String, String)>,
    /// How much was delivered, where anybody says so.
    pub units: Option<Units>,
    /// The verdict of every attempt that somebody spoke about.
    pub attempts: BTreeMap<(WorkloadKey, u32), Verdict>,
}

/// Gives every outcome its verdict, ordered by namespace and id.
#[must_use]
pub fn settle(case: &Case<'_>) -> Vec<Outcome> {
    let history = History::of(case.runs);
    let mut groups: BTreeMap<(&str, &str), Vec<&Event>> = BTreeMap::new();
    for event in case.events {
        let namespace = event.workload.as_ref().map_or("", WorkloadKey::namespace);
        groups.entry((namespace, event.outcome.as_str())).or_default().push(event);
    }
    let mut outcomes: BTreeMap<(String, String), Outcome> = BTreeMap::new();
    let mut spoken_of: BTreeSet<&WorkloadKey> = BTreeSet::new();
    for ((namespace, id), mut events) in groups {
        events.sort_by(|a, b| moment(a).cmp(&moment(b)));
        spoken_of.extend(events.iter().filter_map(|event| event.workload.as_ref()));
        outcomes.insert((namespace.to_owned(), id.to_owned()), settle_one(case, &history, id, &events));
    }
    for (workload, run) in history.delivered.iter().filter(|(workload, _)| !spoken_of.contains(*workload)) {
        let class = case.class(None, Some(workload), Some(run));
        if class.is_some() {
            let key = (workload.namespace().to_owned(), workload.as_str().to_owned());
            outcomes.insert(key, silence(case, workload, run, class));
        }
    }
    outcomes.into_values().collect()
}

/// Later statements are larger; `(source, id)` makes the order total. An invalidated log keeps the time of its run, but
/// it was invalidated after it.
fn moment(event: &Event) -> ((Timestamp, u32), bool, &str, &str) {
    let invalidates = event.evidence.state == State::Invalidated;
    (event.time, invalidates, event.source.as_str(), event.id.as_str())
}

/// Runs by attempt, and every workload's last attempt that succeeded.
struct History<'a> {
    runs: BTreeMap<(&'a WorkloadKey, u32), &'a Run>,
    delivered: BTreeMap<&'a WorkloadKey, &'a Run>,
    last: BTreeMap<&'a WorkloadKey, u32>,
}

impl<'a> History<'a> {
    fn of(runs: &'a [Run]) -> Self {
        let mut history = Self { runs: BTreeMap::new(), delivered: BTreeMap::new(), last: BTreeMap::new() };
        for run in runs {
            // Several rows of one attempt (a resized run): the one that ended last stands for it.
            let key = (&run.workload, run.attempt);
            if history.runs.get(&key).is_none_or(|known| (known.end, known.start) < (run.end, run.start)) {
                history.runs.insert(key, run);
            }
            let last = history.last.entry(&run.workload).or_insert(run.attempt);
            *last = run.attempt.max(*last);
        }
        for ((workload, _), run) in &history.runs {
            if run.end_reason == EndReason::Succeeded {
                history.delivered.insert(workload, run);
            }
        }
        history
    }

    /// The attempt an event is about.
    fn attempt(&self, event: &Event) -> u32 {
        let of_workload = |workload: &WorkloadKey| {
            let delivered = self.delivered.get(workload).map(|run| run.attempt);
            delivered.or_else(|| self.last.get(workload).copied())
        };
        event.attempt.or_else(|| event.workload.as_ref().and_then(of_workload)).unwrap_or(1)
    }

    fn run(&self, workload: Option<&WorkloadKey>, attempt: u32) -> Option<&'a Run> {
        // The map is keyed by references; a range finds the key without owning one.
        self.runs.get(&(workload?, attempt)).copied()
    }
}

impl<'a> Case<'a> {
    fn class(&self, event: Option<&Event>, workload: Option<&WorkloadKey>, run: Option<&Run>) -> Option<String> {
        let promised = || workload.and_then(|workload| self.promises.get(workload)?.class.clone());
        event.and_then(|event| event.class.clone()).or_else(|| run.and_then(|run| run.class.clone())).or_else(promised)
    }

    fn gate(&self, class: Option<&str>, workload: Option<&WorkloadKey>) -> GateFound<'a> {
        let named = workload.and_then(|workload| self.promises.get(workload)?.gate.as_deref());
        let fits = self.gates.iter().filter(|gate| {
            let near = workload.is_none_or(|workload| workload.namespace() == gate.namespace);
            near && named.map_or(Some(gate.class.as_str()) == class, |name| name == gate.name)
        });
        let fits: Vec<&'a Gate> = fits.collect();
        match fits.as_slice() {
            [] => GateFound::None,
            [one] => GateFound::One(one),
            several => GateFound::Several(several.iter().map(|gate| gate.name.as_str()).collect()),
        }
    }

    fn due(&self, workload: Option<&WorkloadKey>) -> Due {
        workload.and_then(|workload| self.promises.get(workload)).map_or(Due::Never, |promise| promise.due.clone())
    }
}

/// A workload that succeeded and of which nobody has said anything.
fn silence(case: &Case<'_>, workload: &WorkloadKey, run: &Run, class: Option<String>) -> Outcome {
    let patience = match case.gate(class.as_deref(), Some(workload)) {
        GateFound::One(gate) => gate.unverified_after,
        _ => None,
    };
    let overdue = patience.filter(|after| run.end.zip(case.as_of).is_some_and(|(end, as_of)| as_of > end + *after));
    Outcome {
        id: workload.as_str().to_owned(),
        class,
        workload: Some(workload.clone()),
        attempt: Some(run.attempt),
        verdict: Verdict::Unverified,
        reason: overdue.map_or(Reason::NoEvidence, |after| Reason::EvidenceOverdue { after }),
        completed_at: run.end,
        event: None,
        units: None,
        attempts: BTreeMap::from([((workload.clone(), run.attempt), Verdict::Unverified)]),
    }
}

/// `events`, from the first to the last, are all about one outcome.
fn settle_one(case: &Case<'_>, history: &History<'_>, id: &str, events: &[&Event]) -> Outcome {
    let mut by_attempt: BTreeMap<(Option<&WorkloadKey>, u32), Vec<&Event>> = BTreeMap::new();
    let standing = standing(case, history, events);
    for &event in &standing {
        by_attempt.entry((event.workload.as_ref(), history.attempt(event))).or_default().push(event);
    }
    let mut best: Option<Outcome> = None;
    let mut attempts = BTreeMap::new();
    for ((workload, attempt), statements) in by_attempt {
        let Some(outcome) = settle_attempt(case, history, id, (workload, attempt), &statements) else { continue };
        if let Some(workload) = workload {
            attempts.insert((workload.clone(), attempt), outcome.verdict);
        }
        if best.as_ref().is_none_or(|known| outcome.verdict < known.verdict) {
            best = Some(outcome);
        }
    }
    let best = best.unwrap_or_else(|| nothing_said(id));
    Outcome { attempts, ..best }
}

fn nothing_said(id: &str) -> Outcome {
    Outcome {
        id: id.to_owned(),
        class: None,
        workload: None,
        attempt: None,
        verdict: Verdict::Unverified,
        reason: Reason::NoEvidence,
        completed_at: None,
        event: None,
        units: None,
        attempts: BTreeMap::new(),
    }
}

/// Without those that a later, trusted statement supersedes. Only the later can supersede, so there is no circle.
fn standing<'e>(case: &Case<'_>, history: &History<'_>, events: &[&'e Event]) -> Vec<&'e Event> {
    let superseded = |at: usize, event: &Event| {
        events[at + 1..].iter().any(|later| {
            let names_it = later.supersedes.as_deref() == Some(event.id.as_str());
            names_it && (later.source == event.source || trusted(case, history, later))
        })
    };
    let standing = events.iter().enumerate().filter(|(at, event)| !superseded(*at, event));
    standing.map(|(_, event)| *event).collect()
}

fn trusted(case: &Case<'_>, history: &History<'_>, event: &Event) -> bool {
    let run = history.run(event.workload.as_ref(), history.attempt(event));
    let class = case.class(Some(event), event.workload.as_ref(), run);
    match case.gate(class.as_deref(), event.workload.as_ref()) {
        GateFound::One(gate) => gate.trusts(event.evidence.evaluator.as_ref()),
        _ => true,
    }
}

/// An announcement says that something was done and what it was, not how good it is.
fn announces(event: &Event) -> bool {
    event.evidence.scores.is_empty() && event.evidence.state == State::Complete
}

/// The newest evaluation that the gate trusts speaks; else the newest evaluation; else the newest announcement.
fn settle_attempt(
    case: &Case<'_>,
    history: &History<'_>,
    id: &str,
    (workload, attempt): (Option<&WorkloadKey>, u32),
    statements: &[&Event],
) -> Option<Outcome> {
    let rank = |event: &Event| (!announces(event), trusted(case, history, event));
    let speaker =
        statements.iter().enumerate().max_by_key(|(at, event)| (rank(event), *at)).map(|(_, event)| *event)?;
    let run = history.run(workload, attempt);
    let class = case.class(Some(speaker), workload, run);
    let mut delivered = run.map(|run| run.fingerprint.clone()).unwrap_or_default();
    let mut units = None;
    let mut completed = run.filter(|run| run.end_reason == EndReason::Succeeded).and_then(|run| run.end);
    for announcement in statements.iter().filter(|event| announces(event)) {
        delivered.extend(announcement.evidence.fingerprint.clone());
        completed = announcement.completed_at.or(completed);
        units = announcement.units.as_ref().or(units);
    }
    let gate = case.gate(class.as_deref(), workload);
    let (verdict, reason) = judge(speaker, &gate, &case.due(workload), &delivered, completed);
    Some(Outcome {
        id: id.to_owned(),
        class,
        workload: workload.cloned(),
        attempt: Some(attempt),
        verdict,
        reason,
        completed_at: speaker.completed_at.or(completed),
        event: Some((speaker.source.clone(), speaker.id.clone())),
        units: speaker.units.as_ref().or(units).cloned(),
        attempts: BTreeMap::new(),
    })
}
