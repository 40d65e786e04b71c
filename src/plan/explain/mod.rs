//! Why a workload starts when it does, who stands in the way, and what would change it.
//!
//! The typed cause is found first and the words are made from it, never the other way round. Causes are read off the
//! finished plan: one second before its start, something refused the workload; what ends or changes at its start is what
//! it waited for. The same walk over the quota trees that the checker makes finds that, for all releases in one pass.
//!
//! Every action offered was tried: the plan with that one change stays within quota. When nothing helps, it says so.
//! Deliberately absent: a second search. An action moves the one workload and leaves all others where they are.

mod actions;
mod cause;
mod document;
mod holders;
mod leaving;
mod outlook;
mod words;

use std::collections::HashMap;

use crate::calendar;
use crate::names::{FlavorName, ResourceName, WorkloadKey};
use crate::plan::check::held_until;
use crate::plan::proposal::{Plan, Reason, Release, Status, Verdict};
use crate::plan::snapshot::{Policy, PreviousRelease, RunOption, Running, Snapshot, Workload};
use crate::units::{Amount, Seconds, Timestamp};

use holders::Holders;
use leaving::Leavings;
use outlook::Outlook;

/// A list of blockers longer than this helps nobody; the rest is counted.
pub const BLOCKERS_MAX: usize = 8;
/// One or two next steps are read, more are skipped.
pub const ACTIONS_MAX: usize = 2;

/// The answer to "why not sooner?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub workload: WorkloadKey,
    pub kind: String,
    /// The dominant reason with numbers, then the due time and the slack.
    pub sentence: String,
    /// What it needs at once, by flavor and resource.
    pub needs: Vec<(FlavorName, ResourceName, Amount)>,
    /// What the limit that refused it still left just before its start.
    pub free: Option<(FlavorName, ResourceName, Amount)>,
    /// `None` when it is not planned: it runs already, or it cannot be placed.
    pub planned: Option<Planned>,
    /// Holders of what it waits for, those that end at its start first; at most [`BLOCKERS_MAX`].
    pub blockers: Vec<Blocker>,
    /// Blockers not listed.
    pub other_blockers: usize,
    /// At most [`ACTIONS_MAX`], each verified; empty when nothing helps or nothing is needed.
    pub actions: Vec<Action>,
    /// It waits for something, and no action was found.
    pub nothing_helps: bool,
    /// When the plan was made, and how sure it is.
    pub planned_at: Timestamp,
    pub status: Status,
    /// IANA name of the zone in which times are shown.
    pub time_zone: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    pub flavor: FlavorName,
    pub start: Timestamp,
    pub end: Timestamp,
    pub end_p90: Timestamp,
    pub finish_by: Option<Timestamp>,
    pub slack: Option<Seconds>,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
}

/// Somebody who holds what the workload waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    pub who: WorkloadKey,
    pub flavor: FlavorName,
    pub resource: ResourceName,
    pub quantity: Amount,
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub what: String,
    pub effect: String,
}

/// A release's workload, the option it takes, and what the previous plan promised it.
#[derive(Clone, Copy)]
struct Placed<'a> {
    workload: &'a Workload,
    option: &'a RunOption,
    previous: Option<&'a PreviousRelease>,
}

/// Gives every release its reasons, the dominant one first. Releases that name no option of the snapshot keep theirs.
pub fn reasons(snapshot: &Snapshot, policy: &Policy, releases: &mut [Release]) {
    let all: Vec<_> = (0..releases.len()).collect();
    let found: Vec<_> = on_scene(snapshot, policy, releases, &all, |scene, outlooks| {
        outlooks.iter().enumerate().map(|(at, outlook)| cause::reasons(scene, at, outlook)).collect()
    });
    for (release, reasons) in releases.iter_mut().zip(found) {
        if let Some(reasons) = reasons {
            release.reasons = reasons;
        }
    }
}

/// For every release of the plan one sentence with its due time and slack, in the plan's order; `None` for a release that
/// names no option of the snapshot.
///
/// `Starts 13:00: eval-1 and eval-2 hold the 4 a100 GPUs until then. Due 17:00, slack 3 h.`
#[must_use]
pub fn sentences(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Vec<Option<String>> {
    let all: Vec<_> = (0..plan.releases.len()).collect();
    on_scene(snapshot, policy, &plan.releases, &all, |scene, outlooks| {
        outlooks.iter().enumerate().map(|(at, outlook)| cause::sentence(scene, at, outlook)).collect()
    })
}

/// Explains one workload of the snapshot, planned, running or left out. `None` when the snapshot does not have it.
#[must_use]
pub fn explain(snapshot: &Snapshot, policy: &Policy, plan: &Plan, key: &WorkloadKey) -> Option<Explanation> {
    if let Some(at) = plan.releases.iter().position(|release| release.workload == *key) {
        return planned(snapshot, policy, plan, at);
    }
    if let Some(running) = snapshot.running.iter().find(|running| running.key == *key) {
        return Some(runs(snapshot, policy, plan, running));
    }
    let workload = snapshot.workloads.iter().find(|workload| workload.key == *key)?;
    Some(left_out(snapshot, plan, workload))
}

/// What causes, words and actions are about.
struct Scene<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    releases: &'a [Release],
    placed: &'a [Option<Placed<'a>>],
    holders: &'a Holders<'a>,
    leavings: &'a Leavings<'a>,
}

/// Sets the scene for the releases at these places, and lets it be seen with the outlook of each.
fn on_scene<T>(
    snapshot: &Snapshot,
    policy: &Policy,
    releases: &[Release],
    asked: &[usize],
    see: impl FnOnce(&Scene<'_>, &[Outlook]) -> T,
) -> T {
    let placed = resolve(snapshot, releases);
    let outlooks = outlook::outlooks(snapshot, policy, releases, &placed, asked);
    let holders = Holders::new(snapshot, policy, releases, &placed);
    let leavings = Leavings::new(snapshot, releases, &holders, asked.iter().copied().zip(&outlooks));
    let scene = Scene { snapshot, policy, releases, placed: &placed, holders: &holders, leavings: &leavings };
    see(&scene, &outlooks)
}

fn planned(snapshot: &Snapshot, policy: &Policy, plan: &Plan, at: usize) -> Option<Explanation> {
    let release = &plan.releases[at];
    on_scene(snapshot, policy, &plan.releases, &[at], |scene, outlooks| {
        let outlook = outlooks.first()?;
        let reasons = cause::reasons(scene, at, outlook)?;
        let actions = actions::actions(scene, at, outlook);
        let (blockers, other_blockers) = scene.holders.blockers(scene, at, outlook);
        Some(Explanation {
            kind: release.kind.clone(),
            sentence: cause::sentence(scene, at, outlook)?,
            needs: release.uses.clone(),
            free: outlook.refused.map(|refused| {
                let cell = snapshot.cell(refused.cell);
                (cell.flavor.clone(), cell.resource.clone(), refused.free())
            }),
            planned: Some(Planned {
                flavor: release.flavor.clone(),
                start: release.start,
                end: release.end,
                end_p90: release.end_p90,
                finish_by: release.finish_by,
                slack: release.slack,
                verdict: release.verdict,
                reasons,
            }),
            blockers,
            other_blockers,
            nothing_helps: actions.is_empty() && outlook.refused.is_some(),
            actions,
            ..bare(snapshot, plan, &release.workload)
        })
    })
}

fn runs(snapshot: &Snapshot, policy: &Policy, plan: &Plan, running: &Running) -> Explanation {
    let time = |at| words::time(snapshot, at);
    let until = held_until(snapshot, policy.promise, running);
    let end = if running.end_p50.or(running.end_p90).is_some_and(|end| end > snapshot.now) {
        format!("is expected to end {}", time(until))
    } else {
        format!("nobody knows when it ends (planned as if {})", time(until))
    };
    Explanation {
        sentence: format!("Runs since {} on {}; {end}.", time(running.start), running.flavor),
        needs: words::needs(snapshot, &running.uses),
        ..bare(snapshot, plan, &running.key)
    }
}

fn left_out(snapshot: &Snapshot, plan: &Plan, workload: &Workload) -> Explanation {
    let is_about = |subject: &str| subject.split_whitespace().any(|word| word == workload.key.as_str());
    let problem = plan.problems.iter().find(|problem| is_about(&problem.subject));
    let why = problem.map_or("no option of it fits at any time", |problem| problem.message.as_str());
    let hint = problem.and_then(|problem| problem.hint.as_ref());
    Explanation {
        kind: workload.kind.clone(),
        sentence: format!("Cannot be placed: {why}."),
        needs: workload.options.first().map(|option| words::needs(snapshot, &option.uses)).unwrap_or_default(),
        actions: hint
            .map(|hint| Action { what: hint.clone(), effect: "it can be planned".to_owned() })
            .into_iter()
            .collect(),
        ..bare(snapshot, plan, &workload.key)
    }
}

fn bare(snapshot: &Snapshot, plan: &Plan, key: &WorkloadKey) -> Explanation {
    Explanation {
        workload: key.clone(),
        kind: "Workload".to_owned(),
        sentence: String::new(),
        needs: Vec::new(),
        free: None,
        planned: None,
        blockers: Vec::new(),
        other_blockers: 0,
        actions: Vec::new(),
        nothing_helps: false,
        planned_at: plan.now,
        status: plan.quality.status,
        time_zone: snapshot.time_zone.clone(),
    }
}

fn resolve<'a>(snapshot: &'a Snapshot, releases: &[Release]) -> Vec<Option<Placed<'a>>> {
    let by_key: HashMap<&str, &Workload> =
        snapshot.workloads.iter().map(|workload| (workload.key.as_str(), workload)).collect();
    // Of several promises to one workload the first counts.
    let promises: HashMap<&str, &PreviousRelease> =
        snapshot.previous.iter().rev().map(|previous| (previous.key.as_str(), previous)).collect();
    let is_taken = |option: &&RunOption, release: &Release| {
        option.flavor == release.flavor
            && option.uses.len() == release.uses.len()
            && option.uses.iter().zip(&release.uses).all(|(&(cell, amount), (flavor, resource, said))| {
                let cell = snapshot.cell(cell);
                cell.flavor == *flavor && cell.resource == *resource && amount == *said
            })
    };
    let find = |release: &Release| {
        let workload = by_key.get(release.workload.as_str()).copied()?;
        let option = workload.options.iter().find(|option| is_taken(option, release))?;
        Some(Placed { workload, option, previous: promises.get(release.workload.as_str()).copied() })
    };
    releases.iter().map(find).collect()
}

/// The zone in which a snapshot's times are shown.
fn zone(snapshot: &Snapshot) -> chrono_tz::Tz {
    calendar::zone(&snapshot.time_zone).unwrap_or(chrono_tz::UTC)
}
