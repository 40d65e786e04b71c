//! One CapacityPlan and what became of it: its last plan, what it waits for, and whether it must be thought about again.
//!
//! Pure: rows and now in, a request to plan or a list of orders out. What it remembers is what the cluster does not tell:
//! since when something has been so. All of it can be lost: another leader begins with the stored plan and looks again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::changes::{Change, ChangeKind, between};
use super::extent::{Elder, root};
use super::planning::{Planned, Request};
use super::settings::{Patience, Settings};
use crate::api::capacity_plan::{CapacityPlanSpec, Mode};
use crate::api::manifest::Manifest;
use crate::kueue::observed::{Observed, Standing, by_key};
use crate::kueue::release::{Trouble, TroubleKind};
use crate::kueue::{self, Assembled, Given, Lent, Outrun};
use crate::names::{FlavorName, WorkloadKey};
use crate::plan::snapshot::{PreviousRelease, Running, Snapshot, Window};
use crate::units::{Seconds, Timestamp};

/// One CapacityPlan, or what is done without any.
#[derive(Debug, Default)]
pub struct Scope {
    /// `None`: there is no CapacityPlan, so everything is observed.
    pub name: Option<String>,
    pub spec: CapacityPlanSpec,
    /// The CapacityPlans that go before it.
    pub elders: Vec<Elder>,
    /// What those have planned of the quota that it plans with.
    pub taken: Vec<Window>,
    pub planned: Option<Arc<Planned>>,
    /// Starts that were promised by whoever led before.
    pub inherited: Vec<PreviousRelease>,
    /// Since when planning has failed, and why.
    pub failed: Option<(Timestamp, String)>,
    /// Since when work waits that no gate holds.
    pub loose_since: BTreeMap<WorkloadKey, Timestamp>,
    /// Since when work is due that does not fit.
    pub held_since: BTreeMap<WorkloadKey, Timestamp>,
    /// Work that is due and that Kueue would give another flavor than planned: that flavor, for the next plan alone.
    pub pins: BTreeMap<WorkloadKey, FlavorName>,
    /// The pins are newer than the plan.
    pub pinned: bool,
    /// Work that was let go and does not start.
    pub troubles: Vec<Trouble>,
    /// Kueue ignores gates, as far as is known.
    pub gates_ignored: bool,
    /// The choices have changed since the last plan.
    pub changed: bool,
    /// When planning was last begun.
    pub tried: Option<Timestamp>,
}

impl Scope {
    #[must_use]
    pub fn enforces(&self) -> bool {
        self.name.is_some() && self.spec.mode == Mode::Enforce
    }

    /// Puts the rows together for an instant.
    #[must_use]
    pub fn look(&self, rows: &mut dyn Iterator<Item = &Manifest>, now: Timestamp, settings: &Settings) -> Assembled {
        self.look_lent(rows, &Lent::new(), now, settings)
    }

    /// The same where some rows are lent.
    #[must_use]
    pub fn look_lent(
        &self,
        rows: &mut dyn Iterator<Item = &Manifest>,
        lent: &Lent<'_>,
        now: Timestamp,
        settings: &Settings,
    ) -> Assembled {
        let mut given = Given::at(now);
        given.default_horizon = settings.horizon;
        given.overrides.time_zone = Some(settings.zone);
        given.capacity_plan.clone_from(&self.name);
        given.left_to = self.elders.iter().map(|elder| elder.name.clone()).collect();
        given.gates_ignored = self.gates_ignored;
        given.outrun = Outrun::AsLongAgain(settings.patience().overrun);
        kueue::assemble_lent(rows, lent, &given)
    }

    /// The instant for which changes are looked for: that of the last plan, so that only objects can differ.
    #[must_use]
    pub fn instant(&self, now: Timestamp) -> Timestamp {
        self.planned.as_ref().map_or(now, |planned| planned.basis.now)
    }

    /// Notes since when things have been as they are; what is `going` has not begun to wait for Kueue.
    pub fn note(&mut self, observed: &BTreeMap<WorkloadKey, &Observed>, going: &BTreeSet<WorkloadKey>, now: Timestamp) {
        let loose = |one: &&Observed| one.standing == Standing::Waiting && one.is_free();
        let loose: BTreeSet<&WorkloadKey> = observed.iter().filter(|(_, one)| loose(one)).map(|(key, _)| key).collect();
        self.loose_since.retain(|key, _| loose.contains(key));
        for key in loose {
            let since = self.loose_since.entry(key.clone()).or_insert(now);
            if going.contains(key) {
                *since = now;
            }
        }
    }

    /// Notes what is due and does not fit.
    pub fn note_held(&mut self, held: &BTreeSet<WorkloadKey>, now: Timestamp) {
        self.held_since.retain(|key, _| held.contains(key));
        for key in held {
            self.held_since.entry(key.clone()).or_insert(now);
        }
    }

    /// Notes what Kueue would give another flavor than planned.
    pub fn pin(&mut self, otherwise: BTreeMap<WorkloadKey, FlavorName>) {
        for (key, flavor) in otherwise {
            self.pinned |= self.pins.get(&key) != Some(&flavor);
            self.pins.insert(key, flavor);
        }
    }

    /// A plan is begun for these reasons. What Kueue would give at this moment says nothing once something else has happened.
    pub fn begin(&mut self, changes: &[Change], now: Timestamp) {
        (self.changed, self.pinned, self.tried) = (false, false, Some(now));
        if changes.iter().any(|change| change.kind != ChangeKind::Flavor) {
            self.pins.clear();
        }
    }

    /// What was begun for these reasons has failed: those that no later look would find again still stand.
    pub fn fail(&mut self, changes: &[Change], now: Timestamp, why: String) {
        self.failed.get_or_insert((now, String::new())).1 = why;
        let some = |kind: ChangeKind| changes.iter().any(|change| change.kind == kind);
        self.changed |= some(ChangeKind::Policy);
        self.pinned |= some(ChangeKind::Flavor);
    }

    /// Why there must be a new plan; empty: there need not. `seen` was assembled for [`Self::instant`].
    #[must_use]
    pub fn reasons(&self, seen: &Snapshot, now: Timestamp, patience: &Patience) -> Vec<Change> {
        let one = |kind: ChangeKind, subject: String| Change { kind, subject };
        let Some(planned) = &self.planned else { return vec![one(ChangeKind::First, String::new())] };
        // What happens in a tree without any of our queues cannot touch our plan.
        let (then, today) = (self.roots(&planned.basis), self.roots(seen));
        let mut found = between(&planned.basis, seen, &|snapshot, queue| {
            let roots = if std::ptr::eq(snapshot, seen) { &today } else { &then };
            roots.as_ref().is_none_or(|roots| roots.contains(&root(snapshot, queue)))
        });
        if self.changed {
            found.push(one(ChangeKind::Policy, self.name.clone().unwrap_or_default()));
        }
        if planned.taken != self.taken {
            found.push(one(ChangeKind::Others, String::new()));
        }
        if self.pinned && found.is_empty() {
            found.extend(self.pins.keys().map(|key| one(ChangeKind::Flavor, key.to_string())));
        }
        // What the clock brings is not urgent: each has a margin, and a new plan every moment would help nobody.
        if found.is_empty() && now - planned.plan.now >= patience.missed {
            self.clock_reasons(planned, now, patience, &mut |kind, subject| found.push(one(kind, subject)));
        }
        found
    }

    /// What the clock brings, whether or not it is time to look at that.
    pub(super) fn clock_reasons(
        &self,
        planned: &Planned,
        now: Timestamp,
        patience: &Patience,
        tell: &mut dyn FnMut(ChangeKind, String),
    ) {
        let late = |at: Timestamp, margin: Seconds| at + margin <= now;
        let snapshot = &planned.snapshot;
        for running in &snapshot.running {
            let end = running.held_until(planned.plan.promise, snapshot.now, snapshot.horizon_end);
            if late(end, patience.handover) {
                tell(ChangeKind::Overrun, running.key.to_string());
            }
        }
        if self.enforces() {
            let starts: BTreeMap<&WorkloadKey, Timestamp> =
                planned.plan.releases.iter().map(|release| (&release.workload, release.start)).collect();
            for key in self.held_since.keys() {
                if starts.get(key).is_some_and(|start| late(*start, patience.missed)) {
                    tell(ChangeKind::Missed, key.to_string());
                }
            }
            for trouble in self.troubles.iter().filter(|trouble| trouble.kind == TroubleKind::NotReserved) {
                tell(ChangeKind::NotReserved, trouble.key.to_string());
            }
        }
        if late(planned.plan.now, patience.age) {
            tell(ChangeKind::Age, String::new());
        }
    }

    /// What to plan, from objects that were assembled for now.
    #[must_use]
    pub fn request(
        &self,
        assembled: Assembled,
        changes: Vec<Change>,
        settings: &Settings,
        patience: &Patience,
    ) -> Request {
        let Assembled { snapshot, mut policy, observed, .. } = assembled;
        policy.time_limit_millis = policy.time_limit_millis.min(settings.time_limit_millis);
        let observed = by_key(&observed);
        let basis = snapshot.clone();
        let mut snapshot = snapshot;
        for running in &mut snapshot.running {
            steady(running, observed.get(&running.key).copied(), basis.now, patience.missed);
        }
        let promised = self.planned.as_ref().map_or_else(|| self.inherited.clone(), |it| it.plan.previous_releases());
        // What no gate holds starts when Kueue likes, which is now: it is not moved, and the rest is planned around it.
        let loose: BTreeSet<&WorkloadKey> = snapshot
            .workloads
            .iter()
            .map(|workload| &workload.key)
            .filter(|key| self.enforces() && observed.get(key).is_some_and(|one| one.is_let_go()))
            .collect();
        let mut previous: Vec<PreviousRelease> =
            promised.into_iter().filter(|release| !loose.contains(&release.key)).collect();
        for workload in snapshot.workloads.iter().filter(|workload| loose.contains(&workload.key)) {
            let Some(option) = workload.options.first() else { continue };
            let (key, flavor) = (workload.key.clone(), option.flavor.clone());
            previous.push(PreviousRelease { key, flavor, start: basis.now, end: None, late: None });
        }
        snapshot.previous = previous;
        self.take_as_given(&mut snapshot);
        let over = |window: &&Window| window.end <= basis.now;
        snapshot.windows.extend(self.taken.iter().filter(|window| !over(window)).cloned());
        Request { basis, snapshot, taken: self.taken.clone(), policy, changes }
    }

    /// What is due now on a flavor that Kueue would not give is promised for now on the one that it would, and has no other
    /// choice; so the rest moves for it as far as nothing is lost by that, and else it waits.
    fn take_as_given(&self, snapshot: &mut Snapshot) {
        let start = snapshot.now;
        for workload in &mut snapshot.workloads {
            let Some(pin) = self.pins.get(&workload.key) else { continue };
            if !workload.options.iter().any(|option| option.flavor == *pin) {
                continue;
            }
            workload.options.retain(|option| option.flavor == *pin);
            let (key, flavor) = (workload.key.clone(), pin.clone());
            snapshot.previous.retain(|it| it.key != key);
            snapshot.previous.push(PreviousRelease { key, flavor, start, end: None, late: None });
        }
    }
}

/// Work that started when it was planned to, but for the seconds that Kueue takes, ends when it was planned to: a plan
/// that moved by a second with each start would never stand still.
fn steady(running: &mut Running, one: Option<&Observed>, now: Timestamp, within: Seconds) {
    let Some(one) = one else { return };
    let (Some(planned), Some(started)) = (one.planned_start(), one.workload.as_ref().and_then(|it| it.admitted)) else {
        return;
    };
    let late = started - planned;
    if late < Seconds::ZERO || late > within {
        return;
    }
    for end in [&mut running.end_p50, &mut running.end_p90].into_iter().flatten() {
        if *end - late > now {
            *end = *end - late;
        }
    }
}
