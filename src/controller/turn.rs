//! One turn of the loop, decided: what is let go, what is written on the work, what its promises are told.
//!
//! Pure: everything that was read is handed in, everything that is to be written comes out, in the order in which it
//! matters most. Of several CapacityPlans that name a queue one plans its work and speaks for it (`extent`); one that is only
//! observed speaks for what no other plans.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::acts::{Note, SloTold};
use super::overlap::left_out;
use super::planning::Planned;
use super::scope::Scope;
use super::settings::{Patience, Settings};
use super::slo_status::{Facts, Work, slo_status};
use crate::api::capacity_plan::Mode;
use crate::api::manifest::Manifest;
use crate::api::slo::KIND as SLO;
use crate::api::status::WorkloadSloStatus;
use crate::calendar;
use crate::failure::{Finding, Severity};
use crate::kueue::Assembled;
use crate::kueue::observed::{Carrier, Observed, Standing, by_key};
use crate::kueue::release::{self, Cause, Order, Reservation, Scene, Told, targets};
use crate::names::WorkloadKey;
use crate::plan::overdue;
use crate::plan::proposal::Release;
use crate::plan::snapshot::Running;
use crate::units::Timestamp;

/// A WorkloadSLO as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slo {
    pub namespace: String,
    pub name: String,
    pub generation: Option<i64>,
    pub status: WorkloadSloStatus,
}

impl Slo {
    /// Reads what of a manifest is needed; a status that cannot be read counts as none.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Option<Self> {
        (manifest.kind == SLO && manifest.group() == crate::api::GROUP).then(|| Self {
            namespace: manifest.namespace.clone(),
            name: manifest.name.clone(),
            generation: manifest.at("/metadata/generation").and_then(Value::as_i64),
            status: manifest.decode("/status").unwrap_or_default(),
        })
    }
}

/// A scope and what it sees.
pub struct Seen<'a> {
    pub scope: &'a mut Scope,
    pub assembled: &'a Assembled,
}

/// What is read beside the scopes.
pub struct Sight<'a> {
    pub now: Timestamp,
    pub settings: &'a Settings,
    pub reservations: &'a [Reservation],
    pub slos: &'a [Slo],
    /// Work that is being let go at this moment; it is observed as if it had been.
    pub going: &'a BTreeSet<WorkloadKey>,
    /// The CapacityPlans have been listed, so that a queue without one is known to have none.
    pub plans_known: bool,
    /// Since when there has been a loop that could have planned.
    pub since: Timestamp,
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Turn {
    pub orders: Vec<Order>,
    pub notes: Vec<Note>,
    pub slos: Vec<SloTold>,
    /// Pieces of work that our gate holds.
    pub gates: usize,
    /// Orders beyond what may be done at once.
    pub put_off: usize,
    /// Work that is due and does not fit, by its name in the plan.
    pub held: BTreeMap<WorkloadKey, String>,
}

impl Turn {
    /// Whether nothing is to be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty() && self.notes.is_empty() && self.slos.is_empty() && self.put_off == 0
    }
}

/// Whether a scope's plan is too old to go by.
#[must_use]
pub fn is_stale(scope: &Scope, (now, since): (Timestamp, Timestamp), patience: &Patience) -> bool {
    let late = |since: Timestamp| now - since >= patience.stale;
    match (&scope.planned, &scope.failed) {
        (_, Some((since, _))) => late(*since),
        (None, None) => late(since),
        (Some(_), None) => false,
    }
}

/// Decides one turn.
#[must_use]
pub fn decide(seen: &mut [Seen<'_>], sight: &Sight<'_>, patience: &Patience) -> Turn {
    let mut turn = Turn::default();
    // Everybody observes the same work; what differs is who plans it.
    let Some(first) = seen.first().map(|seen| by_key(&seen.assembled.observed)) else { return turn };
    turn.gates = first.values().filter(|one| one.is_gated() && one.standing == Standing::Waiting).count();
    if sight.plans_known {
        not_enforced(seen, &first, &mut turn);
    }
    let mut done: BTreeSet<WorkloadKey> = turn.orders.iter().map(|order| order.key.clone()).collect();
    for seen in seen.iter_mut() {
        let observed = by_key(&seen.assembled.observed);
        seen.scope.note(&observed, sight.going, sight.now);
        if seen.scope.enforces() {
            enforce(seen, &observed, sight, patience, &mut done, &mut turn);
        }
    }
    turn.notes = notes(seen, sight, &turn.held);
    turn.slos = slos(seen, sight, &turn.held);
    turn
}

/// Gates on work that no CapacityPlan in Enforce mode covers (any more).
fn not_enforced(seen: &[Seen<'_>], observed: &BTreeMap<WorkloadKey, &Observed>, turn: &mut Turn) {
    for (key, one) in observed.iter().filter(|(_, one)| one.is_gated() && one.standing != Standing::Finished) {
        let Some(queue) = &one.queue else { continue };
        let covers = |seen: &Seen<'_>| seen.scope.enforces() && seen.scope.covers(queue, &seen.assembled.snapshot);
        if !seen.iter().any(covers) {
            let (targets, planned, cause) = (targets(one), one.planned_start(), Cause::NotEnforced);
            if !targets.is_empty() {
                turn.orders.push(Order { key: key.clone(), targets, planned, told: None, cause });
            }
        }
    }
}

fn enforce(
    seen: &mut Seen<'_>,
    observed: &BTreeMap<WorkloadKey, &Observed>,
    sight: &Sight<'_>,
    patience: &Patience,
    done: &mut BTreeSet<WorkloadKey>,
    turn: &mut Turn,
) {
    let snapshot = &seen.assembled.snapshot;
    let forced = forced(seen.scope, seen.assembled, observed, sight, patience);
    let scene = |planned: &Planned, forced: &BTreeMap<WorkloadKey, Cause>, loose: &BTreeMap<WorkloadKey, Timestamp>| {
        let scene = Scene {
            now: sight.now,
            snapshot,
            plan: &planned.plan,
            observed,
            reservations: sight.reservations,
            loose_since: loose,
            forced,
        };
        (release::decide(&scene, patience.pace), release::watch(&scene, patience.pace))
    };
    let planned = seen.scope.planned.clone();
    let Some(planned) = planned else {
        for (key, cause) in forced {
            let Some(one) = observed.get(&key).filter(|one| one.is_gated()) else { continue };
            let (targets, planned) = (targets(one), one.planned_start());
            if !targets.is_empty() && done.insert(key.clone()) {
                turn.orders.push(Order { targets, planned, told: None, key, cause });
            }
        }
        return;
    };
    let (decision, troubles) = scene(&planned, &forced, &seen.scope.loose_since);
    seen.scope.troubles = troubles;
    let held = decision.held.iter().map(|held| &held.key).chain(&decision.waits).cloned().collect();
    seen.scope.note_held(&held, sight.now);
    seen.scope.pin(decision.otherwise);
    turn.put_off += decision.put_off;
    turn.held.extend(decision.held.into_iter().map(|held| (held.key, held.why)));
    let plan = seen.scope.name.clone().unwrap_or_default();
    let told = |order: Order| {
        let planned = order.planned.filter(|_| order.cause == Cause::Planned);
        let start = planned.map(|start| calendar::rfc3339(start, sight.settings.zone));
        Order { told: start.map(|start| Told { start, plan: plan.clone() }), ..order }
    };
    turn.orders.extend(decision.orders.into_iter().filter(|order| done.insert(order.key.clone())).map(told));
}

/// What may not be held any longer, whatever the plan says or does not say.
fn forced(
    scope: &Scope,
    assembled: &Assembled,
    observed: &BTreeMap<WorkloadKey, &Observed>,
    sight: &Sight<'_>,
    patience: &Patience,
) -> BTreeMap<WorkloadKey, Cause> {
    let snapshot = &assembled.snapshot;
    let plan = scope.planned.as_ref().map(|planned| &planned.plan);
    let planned: BTreeMap<WorkloadKey, Timestamp> =
        plan.into_iter().flat_map(|plan| &plan.releases).map(|it| (it.workload.clone(), it.start)).collect();
    let considered: BTreeSet<&WorkloadKey> =
        scope.planned.iter().flat_map(|it| &it.basis.workloads).map(|workload| &workload.key).collect();
    let stale = is_stale(scope, (sight.now, sight.since), patience);
    let mut promised: BTreeMap<WorkloadKey, Timestamp> =
        observed.iter().filter_map(|(key, one)| Some((key.clone(), one.planned_start()?))).collect();
    promised.extend(scope.inherited.iter().map(|it| (it.key.clone(), it.start)));
    promised.extend(planned.clone());
    let mut forced = BTreeMap::new();
    for late in overdue(snapshot, &promised, sight.now, sight.settings.hold_max) {
        // A plan that is followed knows better; what it has not seen yet will be in the next one.
        let followed = !stale && (planned.contains_key(&late.key) || !considered.contains(&late.key));
        if !followed {
            forced.insert(late.key, Cause::Overdue);
        }
    }
    for (key, since) in &scope.held_since {
        if sight.now - *since >= patience.disputed {
            forced.insert(key.clone(), Cause::Overdue);
        }
    }
    // What is gated and cannot be planned is shown as blocked, and in the end let go, so that Kueue says why.
    let known: BTreeSet<&WorkloadKey> = snapshot.workloads.iter().map(|it| &it.key).collect();
    for (key, one) in observed {
        let in_scope = one.queue.as_ref().is_some_and(|queue| scope.covers(queue, snapshot));
        let unplanned = one.is_gated() && !known.contains(key) && one.standing != Standing::Finished;
        let old = one.created.is_some_and(|created| sight.now - created >= sight.settings.hold_max);
        if in_scope && unplanned && old {
            forced.insert(key.clone(), Cause::Overdue);
        }
    }
    forced
}

/// Planned starts that are not on the work yet, the next ones first.
///
/// What is due now is told its start as it is let go; only what is due and does not fit is told here.
fn notes(seen: &[Seen<'_>], sight: &Sight<'_>, held: &BTreeMap<WorkloadKey, String>) -> Vec<Note> {
    let settings = sight.settings;
    let mut notes: Vec<(Timestamp, Note)> = Vec::new();
    let mut told: BTreeSet<&WorkloadKey> = BTreeSet::new();
    for seen in seen.iter().filter(|seen| seen.scope.name.is_some() && seen.scope.spec.mode != Mode::Observe) {
        let Some(planned) = &seen.scope.planned else { continue };
        let observed = by_key(&seen.assembled.observed);
        let plan = seen.scope.name.clone().unwrap_or_default();
        let waits: BTreeSet<&WorkloadKey> = seen.assembled.snapshot.workloads.iter().map(|it| &it.key).collect();
        for release in &planned.plan.releases {
            let Some(workload) = waits.get(&release.workload) else { continue };
            let Some(one) = observed.get(*workload).filter(|one| one.standing == Standing::Waiting) else { continue };
            let goes = seen.scope.enforces() && release.start <= sight.now && !held.contains_key(&release.workload);
            if !told.insert(*workload) || goes {
                continue;
            }
            // What was let go keeps the start that it was let go for, also while Kueue has not passed that on to its
            // Workload. Of work whose Workload was made beforehand or is inactive, the hold stands there alone.
            let elsewhere = one.is_inactive() || (one.is_prebuilt() && one.is_gated());
            let gated = |carrier: &Carrier| elsewhere || (carrier.is_gated() && !one.gates_ignored);
            let wanted = |carrier: &Carrier| !seen.scope.enforces() || gated(carrier);
            let start = calendar::rfc3339(release.start, settings.zone);
            let differs = |carrier: &Carrier| carrier.planned_start.as_deref() != Some(start.as_str());
            // Who lets it go when nobody leads looks at the inactive Workload alone.
            let inactive = one.inactive_carrier();
            let others = one.carriers.iter().filter(|it| inactive.as_ref().is_none_or(|its| its.uid != it.uid));
            let all = others.chain(&inactive);
            notes.extend(all.filter(|carrier| wanted(carrier) && differs(carrier)).map(|carrier| {
                let told = Told { start: start.clone(), plan: plan.clone() };
                (release.start, Note { carrier: carrier.clone(), told })
            }));
        }
    }
    notes.sort_by(|a, b| {
        (a.0, &a.1.carrier.namespace, &a.1.carrier.name).cmp(&(b.0, &b.1.carrier.namespace, &b.1.carrier.name))
    });
    notes.into_iter().map(|(_, note)| note).collect()
}

/// Statuses that differ from what is written.
fn slos(seen: &[Seen<'_>], sight: &Sight<'_>, held: &BTreeMap<WorkloadKey, String>) -> Vec<SloTold> {
    let Some(first) = seen.first() else { return Vec::new() };
    let observed = by_key(&first.assembled.observed);
    let mut served: BTreeMap<(&str, &str), Vec<(&WorkloadKey, &Observed)>> = BTreeMap::new();
    for (key, one) in &observed {
        if let Some((namespace, name)) = &one.slo {
            served.entry((namespace, name)).or_default().push((key, one));
        }
    }
    let planned = planned(seen);
    let running: BTreeMap<&WorkloadKey, &Running> =
        seen.iter().flat_map(|seen| &seen.assembled.snapshot.running).map(|it| (&it.key, it)).collect();
    let failed = seen.iter().find_map(|seen| seen.scope.failed.as_ref());
    let conflicts: Vec<_> = seen
        .iter()
        .filter_map(|seen| seen.scope.planned.as_deref())
        .flat_map(|planned| &planned.plan.infeasible)
        .collect();
    let problems = problems(&first.assembled.findings);
    let left_out = left_out(seen.iter().map(|seen| &*seen.scope), &first.assembled.snapshot);
    let mut told = Vec::new();
    for slo in sight.slos {
        let mine = served.get(&(slo.namespace.as_str(), slo.name.as_str())).map_or(&[][..], Vec::as_slice);
        let works = mine.iter().map(|&(key, one)| Work {
            observed: one,
            planned: planned.get(key).copied(),
            running: running.get(key).copied(),
            trouble: seen.iter().flat_map(|seen| &seen.scope.troubles).find(|trouble| trouble.key == *key),
            held: held.get(key).map(String::as_str),
            left_out: one.queue.as_ref().and_then(|queue| left_out.get(queue)).map(String::as_str),
        });
        let concerns = |conflict: &&&crate::plan::proposal::Conflict| {
            conflict.workloads.iter().any(|workload| mine.iter().any(|(key, _)| *key == workload))
        };
        let subject = format!("WorkloadSLO {}/{}", slo.namespace, slo.name);
        let status = slo_status(&Facts {
            now: sight.now,
            zone: sight.settings.zone,
            generation: slo.generation,
            problems: problems.get(subject.as_str()).cloned().unwrap_or_default(),
            works: works.collect(),
            failed,
            conflict: conflicts.iter().find(concerns).map(|conflict| conflict.message.as_str()),
            before: &slo.status,
        });
        if status != slo.status {
            told.push(SloTold { namespace: slo.namespace.clone(), name: slo.name.clone(), status });
        }
    }
    told
}

/// Each workload's release and sentence, by who promises it, else by the first scope that plans it.
fn planned<'a>(seen: &'a [Seen<'_>]) -> BTreeMap<&'a WorkloadKey, (&'a Release, Option<&'a str>)> {
    let mut found = BTreeMap::new();
    let (observed, promised): (Vec<&Seen<'_>>, Vec<_>) =
        seen.iter().partition(|seen| seen.scope.spec.mode == Mode::Observe);
    for planned in promised.into_iter().chain(observed).filter_map(|seen| seen.scope.planned.as_deref()) {
        for (at, release) in planned.plan.releases.iter().enumerate() {
            let sentence = planned.sentences.get(at).and_then(|told| told.as_deref());
            found.entry(&release.workload).or_insert((release, sentence));
        }
    }
    found
}

/// Errors by the object that has them: one stranger's slip stops nobody else's plan.
fn problems(findings: &[Finding]) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
        found.entry(finding.subject.as_str()).or_default().push(finding.message.clone());
    }
    found
}
