//! The typed cause of a start, and the words for it.

use crate::plan::check::capacity::Limit;
use crate::plan::proposal::{Reason, ReasonCode, Release, Verdict};
use crate::plan::snapshot::{CellId, Interruption, NodeId, Objective, Unplanned, WindowEffect};
use crate::units::{Amount, Seconds, Timestamp};

use super::holders::is_within;
use super::leaving::Leaving;
use super::outlook::{Outlook, Refused};
use super::{Placed, Scene, words};

/// Why a release starts when it does.
enum Cause {
    AtOnce,
    NotBefore,
    Frozen,
    KeptStable,
    ObjectivePrefers,
    /// These, of whom the first few are named, leave at its start; `held` is what they give back together.
    Held {
        who: Vec<String>,
        more: usize,
        held: Amount,
        cell: CellId,
        node: NodeId,
        limit: Limit,
        allowed: i128,
    },
    /// This one goes first, and would miss its due time otherwise.
    Yields {
        to: String,
        due: Timestamp,
    },
    /// A window ends, or begins to add.
    Window {
        name: String,
        effect: WindowEffect,
        quantity: Amount,
        cell: CellId,
    },
    /// Capacity changes at its start in a way no single holder or window accounts for.
    Capacity {
        cell: CellId,
    },
}

/// All reasons of a release, the dominant one first. `None` when it names no option of the snapshot.
pub(super) fn reasons(scene: &Scene<'_>, at: usize, outlook: &Outlook) -> Option<Vec<Reason>> {
    let place = scene.placed[at]?;
    let release = &scene.releases[at];
    let cause = cause(scene, at, outlook)?;
    let when = words::time(scene.snapshot, release.start);
    let mut reasons = vec![Reason { code: code(&cause), message: capital(&cause, say(scene, at, &cause, &when)) }];
    reasons.extend(remarks(scene, release, place));
    Some(reasons)
}

/// `Starts 13:00: eval-1 and eval-2 hold the 4 a100 GPUs until then. Due 17:00, slack 3 h.`
pub(super) fn sentence(scene: &Scene<'_>, at: usize, outlook: &Outlook) -> Option<String> {
    let release = &scene.releases[at];
    let cause = cause(scene, at, outlook)?;
    let start = words::time(scene.snapshot, release.start);
    let first = match cause {
        Cause::AtOnce => format!("Starts at once, {start}."),
        _ => format!("Starts {start}: {}", say(scene, at, &cause, "then")),
    };
    Some(format!("{first} {}", promise(scene, release)))
}

fn cause(scene: &Scene<'_>, at: usize, outlook: &Outlook) -> Option<Cause> {
    let (release, snapshot) = (&scene.releases[at], scene.snapshot);
    let Placed { workload, previous, .. } = scene.placed[at]?;
    let kept = previous.is_some_and(|p| p.start == release.start && p.flavor == release.flavor);
    if kept && release.start - snapshot.now < scene.policy.frozen_window {
        return Some(Cause::Frozen);
    }
    if release.start <= workload.earliest_start.max(snapshot.now) {
        return Some(if workload.earliest_start > snapshot.now { Cause::NotBefore } else { Cause::AtOnce });
    }
    let Some(refused) = outlook.refused.filter(|_| !outlook.earliest_is_free) else {
        return Some(if kept { Cause::KeptStable } else { Cause::ObjectivePrefers });
    };
    Some(waits(scene, at, &refused))
}

/// What the refused release waited for: what leaves at its start, else the window that changes then.
fn waits(scene: &Scene<'_>, at: usize, refused: &Refused) -> Cause {
    let (release, snapshot) = (&scene.releases[at], scene.snapshot);
    let Refused { cell, breach, .. } = *refused;
    if let Some(leaving) = scene.leavings.of(cell, breach.node, release.start) {
        if let Some(cause) = yields(scene, at, leaving) {
            return cause;
        }
        let who: Vec<_> = leaving.named.iter().map(|holder| words::name(holder.who, &release.workload)).collect();
        let more = leaving.count - who.len();
        let (limit, allowed) = (breach.limit, breach.allowed);
        return Cause::Held { who, more, held: leaving.held, cell, node: breach.node, limit, allowed };
    }
    let changes = snapshot.windows.iter().find(|window| {
        let at = if window.effect == WindowEffect::Add { window.start } else { window.end };
        let concerns = is_within(snapshot, window.node, breach.node) || is_within(snapshot, breach.node, window.node);
        at == release.start && window.cell == cell && concerns
    });
    match changes {
        Some(window) => {
            Cause::Window { name: window.name.clone(), effect: window.effect, quantity: window.quantity, cell }
        }
        None => Cause::Capacity { cell },
    }
}

/// The first of the leaving that would miss its due time had this workload gone first.
fn yields(scene: &Scene<'_>, at: usize, leaving: &Leaving<'_>) -> Option<Cause> {
    let release = &scene.releases[at];
    let Placed { workload, option, .. } = scene.placed[at].filter(|_| release.verdict != Verdict::Late)?;
    let other = leaving.cannot_wait(workload.earliest_start, option.held(scene.policy.promise))?;
    let other = &scene.releases[other];
    Some(Cause::Yields { to: words::name(&other.workload, &release.workload), due: other.finish_by? })
}

fn code(cause: &Cause) -> ReasonCode {
    match cause {
        Cause::AtOnce => ReasonCode::StartsAtOnce,
        Cause::NotBefore => ReasonCode::NotBefore,
        Cause::Frozen => ReasonCode::Frozen,
        Cause::KeptStable => ReasonCode::KeptStable,
        Cause::ObjectivePrefers => ReasonCode::ObjectivePrefers,
        Cause::Held { .. } | Cause::Capacity { .. } => ReasonCode::WaitsForCapacity,
        Cause::Yields { .. } => ReasonCode::YieldsToDeadline,
        Cause::Window { .. } => ReasonCode::WaitsForWindow,
    }
}

/// A sentence of its own begins with a capital, but a workload's name stays as it is.
fn capital(cause: &Cause, mut sentence: String) -> String {
    if !matches!(cause, Cause::Held { .. } | Cause::Yields { .. }) {
        sentence[..1].make_ascii_uppercase();
    }
    sentence
}

/// The cause as a sentence; `when` is its start, or "then".
fn say(scene: &Scene<'_>, at: usize, cause: &Cause, when: &str) -> String {
    let snapshot = scene.snapshot;
    match cause {
        Cause::AtOnce => "Starts at once.".to_owned(),
        Cause::NotBefore => format!("it may not start before {when}."),
        Cause::Frozen => format!("it was promised for {when}, inside the frozen window."),
        Cause::KeptStable => {
            format!("the previous plan put it at {when} too, and moving it would gain nothing that counts.")
        }
        Cause::ObjectivePrefers => match scene.policy.objective {
            Objective::LowestPeak => "it could start sooner, but the peak is lower so.".to_owned(),
            Objective::LowestCost => "it could start sooner, but the cost is lower so.".to_owned(),
            Objective::EarliestFinish => "nothing holds it back, but no better plan was found.".to_owned(),
        },
        Cause::Held { who, more, held, cell, node, limit, allowed } => {
            let verb = if who.len() + more == 1 { "holds" } else { "hold" };
            let all = i128::from(held.0) == *allowed;
            let cell = snapshot.cell(*cell);
            let amounts = if all {
                format!("the {}", words::quantity(cell, *held))
            } else {
                let allowed = Amount(i64::try_from(*allowed).unwrap_or(i64::MAX));
                format!("{} of the {}", cell.resource.quantity(*held), words::quantity(cell, allowed))
            };
            let name = &snapshot.node(*node).name;
            let limit = match limit {
                Limit::Quota => String::new(),
                Limit::Borrowing => format!(" that {name} may use of its cohort"),
                Limit::Cap => format!(" that a window leaves to {name}"),
            };
            format!("{} {verb} {amounts}{limit} until {when}.", words::names(who, *more))
        }
        Cause::Yields { to, due } => {
            format!("{to} goes first, or it would miss {}.", words::time(snapshot, *due))
        }
        Cause::Window { name, effect, quantity, cell } => {
            let quantity = words::quantity(snapshot.cell(*cell), *quantity);
            match effect {
                WindowEffect::Cap => format!("window {name} caps use at {quantity} until {when}."),
                WindowEffect::Reserve => format!("window {name} reserves {quantity} until {when}."),
                WindowEffect::Add => format!("window {name} adds {quantity} only from {when} on."),
            }
        }
        Cause::Capacity { cell } => {
            let asked = scene.releases[at].resources.first().map_or(Amount::ZERO, |(_, amount)| *amount);
            format!("there are too few {} until {when}.", words::unit(snapshot.cell(*cell), Amount(asked.0.max(2))))
        }
    }
}

/// `Due 17:00, slack 3 h.`
fn promise(scene: &Scene<'_>, release: &Release) -> String {
    let time = |at| words::time(scene.snapshot, at);
    let Some(due) = release.finish_by else { return "No due time.".to_owned() };
    let due_time = time(due);
    match release.verdict {
        Verdict::OnTime => format!("Due {due_time}, slack {}.", release.slack.unwrap_or_default().human()),
        Verdict::AtRisk => format!("Due {due_time}, at risk: one time in ten it ends after {}.", time(release.end_p90)),
        Verdict::Late => {
            let late = Seconds(release.end.0.saturating_sub(due.0));
            format!("Due {due_time}, late by {}: it ends {}.", late.human(), time(release.end))
        }
        Verdict::Unknown | Verdict::NoDeadline => format!("Due {due_time}, but nobody knows how long it runs."),
    }
}

/// What else is worth knowing.
fn remarks(scene: &Scene<'_>, release: &Release, place: Placed<'_>) -> Vec<Reason> {
    let time = |at| words::time(scene.snapshot, at);
    let mut remarks = Vec::new();
    let mut add = |code, message| remarks.push(Reason { code, message });
    if let [first, .., last] = &release.pieces[..] {
        let cost = match place.workload.interruption {
            Interruption::None => Seconds::ZERO,
            Interruption::Restartable { cost, .. } | Interruption::Checkpointable { cost, .. } => cost,
        };
        let (stops, resumes, pieces) = (time(first.end), time(last.start), release.pieces.len());
        let cost = cost.human();
        add(
            ReasonCode::Interrupted,
            format!(
                "It runs in {pieces} pieces: it first stops {stops}, last resumes {resumes}, each time at a cost of {cost}."
            ),
        );
    }
    if !place.workload.has_slo && scene.policy.unplanned == Unplanned::Backfill {
        add(ReasonCode::Backfill, "It has no SLO and fills what planned work leaves.".to_owned());
    }
    if !place.option.runtime.known {
        let runtime = place.option.runtime.p50.human();
        add(ReasonCode::RuntimeUnknown, format!("Nobody declared how long it runs; it is planned for {runtime}."));
    }
    if release.end > scene.snapshot.horizon_end {
        let horizon = time(scene.snapshot.horizon_end);
        add(ReasonCode::BeyondHorizon, format!("It ends {}, past the horizon ({horizon}).", time(release.end)));
    }
    remarks
}
