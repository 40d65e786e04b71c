//! What a WorkloadSLO is told: conditions, times and one sentence, from the plan and from what has happened.
//!
//! Pure. A condition keeps its time of change while its judgement stays, so that the same facts give the same bytes and
//! nothing is written twice. With several workloads the one that is worst off speaks for all.

use std::collections::BTreeSet;

use chrono_tz::Tz;

use super::evicted;
use crate::api::status::{Condition, ConditionStatus, ExpectedEnd, WorkloadSloStatus};
use crate::api::written::Instant;
use crate::calendar;
use crate::kueue::observed::{Observed, Standing};
use crate::kueue::release::Trouble;
use crate::plan::proposal::{Release, Verdict};
use crate::plan::snapshot::Running;
use crate::units::{Seconds, Timestamp};

/// One workload that the SLO speaks for.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    pub observed: &'a Observed,
    /// Its place in the plan and the sentence about it.
    pub planned: Option<(&'a Release, Option<&'a str>)>,
    pub running: Option<&'a Running>,
    pub trouble: Option<&'a Trouble>,
    /// Why it is due and not let go yet.
    pub held: Option<&'a str>,
    /// Which CapacityPlan plans its queue where another names it in vain.
    pub left_out: Option<&'a str>,
}

/// What is known about one WorkloadSLO.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    pub now: Timestamp,
    pub zone: Tz,
    pub generation: Option<i64>,
    /// What is wrong with it, in sentences.
    pub problems: Vec<String>,
    /// By name.
    pub works: Vec<Work<'a>>,
    /// Planning has failed since, and why.
    pub failed: Option<&'a (Timestamp, String)>,
    /// Conflicts of deadlines that name one of its workloads.
    pub conflict: Option<&'a str>,
    /// What it was told last.
    pub before: &'a WorkloadSloStatus,
}

/// Its status.
#[must_use]
pub fn slo_status(facts: &Facts<'_>) -> WorkloadSloStatus {
    let worst = facts.works.iter().max_by_key(|work| (badness(work), std::cmp::Reverse(&work.observed.key)));
    let mut conditions = Conditions { facts, list: Vec::new() };
    conditions.all();
    let list = conditions.list;
    let ends = facts.works.iter().filter_map(|work| ends(work));
    let end = ends.max_by_key(|(p50, p90)| (*p90, *p50));
    let slack = facts.works.iter().filter_map(slack).min();
    let start = facts.works.iter().filter_map(start).min();
    let attempts: u32 = facts.works.iter().map(|work| work.observed.attempts()).fold(0, u32::saturating_add);
    let written = |at: Timestamp| Instant(calendar::rfc3339(at, facts.zone));
    WorkloadSloStatus {
        conditions: list,
        planned_start: start.map(written),
        expected_end: end.map(|(p50, p90)| ExpectedEnd { p50: written(p50), p90: written(p90) }),
        slack_seconds: slack.map(|slack| slack.0),
        attempts: Some(i64::from(attempts)),
        message: Some(message(facts, worst)),
    }
}

/// The one sentence, at most as long as the field.
fn message(facts: &Facts<'_>, worst: Option<&Work<'_>>) -> String {
    const LONGEST: usize = 1000;
    let text = match (facts.problems.first(), worst) {
        (Some(problem), _) => format!("This promise cannot be read: {problem}."),
        (None, None) => "No workload in this namespace matches.".to_owned(),
        (None, Some(work)) if facts.works.len() == 1 => sentence(facts, work),
        (None, Some(work)) => {
            format!("{} {}: {}", counted(facts), work.observed.key.name(), sentence(facts, work))
        }
    };
    text.chars().take(LONGEST).collect()
}

/// `4 workloads: 1 done, 2 running, 1 waiting.`
fn counted(facts: &Facts<'_>) -> String {
    let count = |is: fn(&Standing) -> bool| facts.works.iter().filter(|work| is(&work.observed.standing)).count();
    let counts = [
        (count(|it| *it == Standing::Finished), "done"),
        (count(|it| *it == Standing::Running), "running"),
        (count(|it| *it == Standing::Waiting), "waiting"),
        (count(|it| matches!(it, Standing::Never(_) | Standing::Aside)), "stuck"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    format!("{} workloads: {}.", facts.works.len(), told.join(", "))
}

fn sentence(facts: &Facts<'_>, work: &Work<'_>) -> String {
    let time = |at: Timestamp| calendar::day_time(at, facts.now, facts.zone);
    let due = work.observed.due.map_or_else(|| "No due time.".to_owned(), |due| format!("Due {}.", time(due)));
    match &work.observed.standing {
        Standing::Never(reason) => format!("Cannot start: it {reason}. {due}"),
        Standing::Aside => format!("Left alone: Kueue does not queue it, or it is deactivated. {due}"),
        Standing::Finished => finished(facts, work),
        Standing::Running => running(facts, work),
        Standing::Waiting => {
            let before = evicted::said(work.observed, facts.now, facts.zone);
            let by = work.left_out.map(|said| format!(" {said}")).unwrap_or_default();
            format!("{before}{}{by}", waiting(facts, work, &due))
        }
    }
}

fn waiting(facts: &Facts<'_>, work: &Work<'_>, due: &str) -> String {
    let time = |at: Timestamp| calendar::day_time(at, facts.now, facts.zone);
    if let Some(trouble) = work.trouble {
        let words = trouble.message.trim_end_matches('.');
        return format!("Let go {}, but not started: {words}. {due}", time(trouble.since));
    }
    match (work.planned, work.held, facts.failed) {
        (Some((release, _)), Some(held), _) => format!("Was to start {}, waits: {held}. {due}", time(release.start)),
        (Some((_, Some(told))), None, _) => told.to_owned(),
        (Some((release, None)), None, _) => format!("Starts {}. {due}", time(release.start)),
        (None, _, Some((_, why))) => format!("Not planned: {why}. {due}"),
        (None, _, None) => format!("Not planned yet. {due}"),
    }
}

fn running(facts: &Facts<'_>, work: &Work<'_>) -> String {
    let time = |at: Timestamp| calendar::day_time(at, facts.now, facts.zone);
    let Some(running) = work.running else { return "Runs.".to_owned() };
    let began = work.observed.workload.as_ref().and_then(|it| it.admitted).unwrap_or(running.start);
    let first = format!("Runs since {} on {}", time(began), running.flavor);
    let Some((p50, p90)) = ends(work) else { return format!("{first}; nobody knows when it ends.") };
    let ends = format!("{first}; expected to end {}.", time(p50));
    let Some(due) = work.observed.due else { return format!("{ends} No due time.") };
    let due_time = time(due);
    if p50 > due {
        format!("{ends} Due {due_time}, late by {}.", (p50 - due).human())
    } else if p90 > due {
        format!("{ends} Due {due_time}, at risk: one time in ten it ends after {}.", time(p90))
    } else {
        format!("{ends} Due {due_time}, slack {}.", (due - p90).human())
    }
}

fn finished(facts: &Facts<'_>, work: &Work<'_>) -> String {
    let time = |at: Timestamp| calendar::day_time(at, facts.now, facts.zone);
    let Some(turn) = work.observed.workload.as_ref().and_then(|it| it.finished.as_ref()) else {
        return "Finished.".to_owned();
    };
    let how = if failed(work) { "Failed" } else { "Finished" };
    let Some(at) = turn.at else { return format!("{how}.") };
    match work.observed.due {
        None => format!("{how} {}.", time(at)),
        Some(due) if at <= due => {
            format!("{how} {}, {} before it was due.", time(at), (due - at).human())
        }
        Some(due) => format!("{how} {}, {} late.", time(at), (at - due).human()),
    }
}

/// Kueue says how a Workload finished in its condition's reason.
fn failed(work: &Work<'_>) -> bool {
    let turn = work.observed.workload.as_ref().and_then(|it| it.finished.as_ref());
    turn.is_some_and(|turn| turn.reason.contains("Failed"))
}

/// How much a person should hear of it: who is worst off speaks.
fn badness(work: &Work<'_>) -> u8 {
    match (&work.observed.standing, work.planned, work.trouble) {
        (Standing::Never(_), ..) => 9,
        (Standing::Waiting, _, Some(_)) => 8,
        (Standing::Waiting, Some((release, _)), _) if release.verdict == Verdict::Late => 7,
        (Standing::Running, ..) if misses(work, |(p50, _)| p50) => 7,
        (Standing::Waiting, Some((release, _)), _) if release.verdict == Verdict::AtRisk => 6,
        (Standing::Running, ..) if misses(work, |(_, p90)| p90) => 6,
        (Standing::Waiting, None, _) => 5,
        (Standing::Waiting, ..) => 4,
        (Standing::Aside, ..) => 3,
        (Standing::Running, ..) => 2,
        (Standing::Finished, ..) => 1,
    }
}

fn misses(work: &Work<'_>, end: fn((Timestamp, Timestamp)) -> Timestamp) -> bool {
    ends(work).zip(work.observed.due).is_some_and(|(ends, due)| end(ends) > due)
}

/// The p50 and p90 ends that are expected, or the end that was.
fn ends(work: &Work<'_>) -> Option<(Timestamp, Timestamp)> {
    match work.observed.standing {
        Standing::Waiting => work.planned.map(|(release, _)| (release.end, release.end_p90)),
        Standing::Running => {
            let running = work.running?;
            let p50 = running.end_p50.or(running.end_p90)?;
            Some((p50, running.end_p90.unwrap_or(p50).max(p50)))
        }
        Standing::Finished => work.observed.ran().map(|(_, end)| (end, end)),
        Standing::Never(_) | Standing::Aside => None,
    }
}

fn slack(work: &Work<'_>) -> Option<Seconds> {
    Some(work.observed.due? - ends(work)?.1)
}

/// When it starts, or was to start.
fn start(work: &Work<'_>) -> Option<Timestamp> {
    let planned = work.planned.filter(|_| work.observed.standing == Standing::Waiting);
    planned.map(|(release, _)| release.start).or_else(|| work.observed.planned_start())
}

/// The conditions, one after the other.
struct Conditions<'f, 'a> {
    facts: &'f Facts<'a>,
    list: Vec<Condition>,
}

impl Conditions<'_, '_> {
    fn all(&mut self) {
        let facts = self.facts;
        let works = &facts.works;
        match facts.problems.first() {
            None => self.tell("Accepted", ConditionStatus::True, "Accepted", "it can be read"),
            Some(problem) => self.tell("Accepted", ConditionStatus::False, "Invalid", problem),
        }
        match works.len() {
            0 => {
                self.tell(
                    "ResolvedRefs",
                    ConditionStatus::False,
                    "NoWorkload",
                    "no workload in this namespace matches",
                );
            }
            1 => self.tell("ResolvedRefs", ConditionStatus::True, "Resolved", "it speaks for one workload"),
            many => {
                self.tell(
                    "ResolvedRefs",
                    ConditionStatus::True,
                    "Resolved",
                    &format!("it speaks for {many} workloads"),
                );
            }
        }
        self.planned();
        self.released();
        self.deadline();
        self.tell("OutcomeVerified", ConditionStatus::Unknown, "NotJudged", "no outcome has been judged yet");
        self.troubles();
    }

    fn planned(&mut self) {
        let works = &self.facts.works;
        let unplanned = works.iter().filter(|it| it.observed.standing == Standing::Waiting && it.planned.is_none());
        match (works.len(), unplanned.count(), self.facts.failed) {
            (0, ..) => self.tell("Planned", ConditionStatus::Unknown, "NoWorkload", "there is nothing to plan"),
            (_, 0, _) => self.tell("Planned", ConditionStatus::True, "Planned", "every workload has its start"),
            (_, _, Some((_, why))) => self.tell("Planned", ConditionStatus::False, "PlanningFailed", why),
            (_, some, None) => {
                let have = if some == 1 { "has" } else { "have" };
                let message = format!("{some} of {} workloads {have} no planned start", works.len());
                self.tell("Planned", ConditionStatus::False, "NotPlanned", &message);
            }
        }
    }

    fn released(&mut self) {
        let works = &self.facts.works;
        let holds = |it: &&Work<'_>| it.observed.is_gated() && it.observed.standing != Standing::Finished;
        let gated = works.iter().filter(holds).count();
        match (works.len(), gated) {
            (0, _) => self.tell("Released", ConditionStatus::Unknown, "NoWorkload", "there is nothing to let go"),
            (_, 0) => self.tell("Released", ConditionStatus::True, "Released", "nothing is held"),
            (all, some) => {
                let wait = if some == 1 { "waits for its start" } else { "wait for their start" };
                let message = format!("{some} of {all} workloads {wait}");
                self.tell("Released", ConditionStatus::False, "Waiting", &message);
            }
        }
    }

    fn deadline(&mut self) {
        let works = &self.facts.works;
        let over = |work: &&Work<'_>| work.observed.standing == Standing::Finished;
        let late = |work: &&Work<'_>| {
            let end = work.observed.workload.as_ref().and_then(|it| it.finished.as_ref()).and_then(|turn| turn.at);
            end.zip(work.observed.due).is_some_and(|(end, due)| end > due)
        };
        let passed = |work: &&Work<'_>| !over(work) && work.observed.due.is_some_and(|due| due < self.facts.now);
        let missed = works.iter().filter(|work| passed(work) || (over(work) && late(work))).count();
        let broken = works.iter().filter(|work| over(work) && failed(work)).count();
        let done = works.iter().filter(over).count();
        if missed > 0 {
            let message = format!("{missed} of {} workloads were not done in time", works.len());
            self.tell("DeadlineMet", ConditionStatus::False, "Missed", &message);
        } else if broken > 0 {
            let message = format!("{broken} of {} workloads failed", works.len());
            self.tell("DeadlineMet", ConditionStatus::False, "Failed", &message);
        } else if done == works.len() && done > 0 {
            self.tell("DeadlineMet", ConditionStatus::True, "Met", "everything was done in time");
        } else {
            self.tell("DeadlineMet", ConditionStatus::Unknown, "Pending", "not everything is done yet");
        }
    }

    /// Those that are only there while they hold.
    fn troubles(&mut self) {
        let works = &self.facts.works;
        let name = |work: &Work<'_>| work.observed.key.name().to_owned();
        let names = |chosen: BTreeSet<String>| chosen.into_iter().take(5).collect::<Vec<_>>().join(", ");
        let risky = |work: &&Work<'_>| matches!(badness(work), 6 | 7) && work.observed.due.is_some();
        let risk: BTreeSet<String> = works.iter().filter(risky).map(name).collect();
        if !risk.is_empty() {
            let late = works.iter().any(|work| badness(work) == 7);
            let reason = if late { "Late" } else { "P90PastDue" };
            self.tell("AtRisk", ConditionStatus::True, reason, &format!("may not be done in time: {}", names(risk)));
        }
        if let Some(conflict) = self.facts.conflict {
            self.tell("Infeasible", ConditionStatus::True, "Conflict", conflict);
        }
        if let Some(work) = works.iter().find(|work| evicted::is_often(work.observed)) {
            self.tell("Disrupted", ConditionStatus::True, "EvictedAgain", &evicted::trouble(work.observed));
        }
        let stuck = works.iter().find_map(|work| match (&work.observed.standing, work.trouble) {
            (Standing::Never(reason), _) => Some(("NeverFits", format!("{} {reason}", name(work)))),
            (Standing::Waiting, Some(trouble)) => Some(("NotStarted", format!("{}: {}", name(work), trouble.message))),
            _ => None,
        });
        if let Some((reason, message)) = stuck {
            self.tell("Blocked", ConditionStatus::True, reason, &message);
        }
    }

    fn tell(&mut self, kind: &str, status: ConditionStatus, reason: &str, message: &str) {
        let facts = self.facts;
        let fresh = condition(kind, status, (reason, message), facts.generation, facts.now);
        self.list.push(kept(fresh, &facts.before.conditions));
    }
}

/// A condition that changes now.
#[must_use]
pub fn condition(
    kind: &str,
    status: ConditionStatus,
    (reason, message): (&str, &str),
    generation: Option<i64>,
    now: Timestamp,
) -> Condition {
    Condition {
        condition: kind.to_owned(),
        status,
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: Instant(calendar::rfc3339(now, chrono_tz::UTC)),
        observed_generation: generation,
    }
}

/// The same with the time at which the judgement last changed.
#[must_use]
pub fn kept(mut fresh: Condition, before: &[Condition]) -> Condition {
    if let Some(known) = before.iter().find(|it| it.condition == fresh.condition && it.status == fresh.status) {
        fresh.last_transition_time.clone_from(&known.last_transition_time);
    }
    fresh
}
