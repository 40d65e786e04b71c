//! The loop: look, plan what must be planned anew, let go what is due, tell everyone.
//!
//! Level-triggered: each turn starts from what is known now and could be the first one. Only who leads acts, and each
//! write asks for the lease once more. Planning goes on beside the loop, so that what is due never waits for it; whatever
//! does not get done in a turn is decided anew in the next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::runtime::events::{Recorder, Reporter};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::acts::{self, Ended, Fence};
use super::adherence::Adherence;
use super::changes::Change;
use super::learnt::Learnt;
use super::plan_status::{Standing, plan_status};
use super::planning::{self, Planned};
use super::probes::Health;
use super::rows::{Rows, State};
use super::scope::Scope;
use super::settings::{Patience, Settings};
use super::turn::{self, Seen, Sight, Slo, Turn};
use super::{configuration, events, reservations, stored, tenants};
use crate::api::capacity_plan::{self, CapacityPlanSpec};
use crate::api::manifest::Manifest;
use crate::api::status::CapacityPlanStatus;
use crate::cluster::lease::Leadership;
use crate::cluster::{Cluster, Kind};
use crate::kueue::Assembled;
use crate::plan::proposal::{Release, Verdict};
use crate::units::Timestamp;

/// Changes come in bursts: after the first one, this long is waited for the others.
const GATHER: Duration = Duration::from_millis(150);
/// Without any change: so that what only the clock brings is noticed.
const TICK: Duration = Duration::from_secs(2);
/// Writes of a kind in one turn; the rest comes with the next, at once.
const WRITES: usize = 64;
/// A turn that took so long is followed by a pause of four times that: a fifth of a core at most.
const PAUSE: u32 = 4;

/// A CapacityPlan as it was read.
struct Plan {
    name: String,
    spec: CapacityPlanSpec,
    generation: Option<i64>,
    status: CapacityPlanStatus,
}

/// What the loop keeps between turns.
pub struct Loop {
    pub cluster: Cluster,
    pub rows: Rows,
    pub settings: Settings,
    pub leadership: Leadership,
    pub health: Arc<Health>,
    /// By the CapacityPlan's name; empty: without one.
    scopes: BTreeMap<String, Scope>,
    seen: BTreeMap<String, (u64, Assembled)>,
    planning: JoinSet<(String, Result<Planned, String>)>,
    /// Being planned at this moment.
    busy: BTreeMap<String, Vec<Change>>,
    /// What of each scope's plan is stored already.
    stored: BTreeMap<String, Vec<Release>>,
    slo_told: BTreeMap<(String, String), (Timestamp, crate::api::status::WorkloadSloStatus)>,
    plan_told: BTreeMap<String, CapacityPlanStatus>,
    epoch: Option<i64>,
    since: Timestamp,
    recorder: Recorder,
    /// The rows by which the labels of namespaces are right.
    labelled: Option<u64>,
    learnt: Learnt,
    adherence: Adherence,
}

impl Loop {
    #[must_use]
    pub fn new(cluster: Cluster, rows: Rows, settings: Settings, leadership: Leadership, health: Arc<Health>) -> Self {
        let since = settings.clock.now();
        let reporter = Reporter { controller: "stagger.dev/controller".to_owned(), instance: None };
        let recorder = Recorder::new(cluster.client.clone(), reporter);
        Self {
            cluster,
            rows,
            settings,
            leadership,
            health,
            scopes: BTreeMap::new(),
            seen: BTreeMap::new(),
            planning: JoinSet::new(),
            busy: BTreeMap::new(),
            stored: BTreeMap::new(),
            slo_told: BTreeMap::new(),
            plan_told: BTreeMap::new(),
            epoch: None,
            since,
            recorder,
            labelled: None,
            learnt: Learnt::default(),
            adherence: Adherence::default(),
        }
    }

    /// Turns until told to end.
    pub async fn run(mut self, mut ends: watch::Receiver<bool>) {
        let mut changes = self.rows.changes();
        let mut tenure = self.leadership.changes();
        let mut next = TICK;
        let mut configured: Option<Instant> = None;
        loop {
            tokio::select! {
                _ = ends.wait_for(|ends| *ends) => return,
                changed = changes.changed() => {
                    if changed.is_err() { return; }
                    sleep(GATHER).await;
                }
                _ = tenure.changed() => {}
                Some(done) = self.planning.join_next() => self.take(done),
                () = sleep(next) => {}
            }
            changes.mark_unchanged();
            if configured.is_none_or(|at| at.elapsed() >= configuration::AGAIN) {
                configured = Some(Instant::now());
                self.configure().await;
            }
            let begun = Instant::now();
            let more = self.turn().await;
            self.health.turned();
            next = if more { GATHER } else { self.wait() };
            if begun.elapsed() > GATHER && !more {
                // A big cluster that changes all the time must not take a whole core.
                sleep((begun.elapsed() * PAUSE).min(TICK)).await;
            }
        }
    }

    /// One turn; whether something is left to do at once.
    async fn turn(&mut self) -> bool {
        let complete = self.rows.complete();
        self.health.set_ready(complete);
        self.health.metrics.rows.set(i64::try_from(self.rows.len()).unwrap_or(i64::MAX));
        let epoch = self.leadership.epoch();
        self.health.metrics.leader.set(i64::from(epoch.is_some()));
        let (Some(epoch), true) = (epoch, complete) else {
            self.forget();
            return false;
        };
        let (now, patience) = (self.settings.clock.now(), self.settings.patience());
        let fence = Fence { leadership: Some(self.leadership.clone()), epoch };
        // 1. What is there.
        let plans = self.read_plans();
        self.begin(&plans, epoch, now).await;
        self.look(now);
        // 2. Plan anew what must be.
        self.plan(now, &patience);
        // 3. Decide.
        let turn = self.decide(now, &patience);
        // 4. Let go what is due, then write it down, then tell.
        let more = self.act(turn, now, &fence).await;
        self.store(&fence).await;
        self.tell_plans(&plans, now, &patience, &fence).await;
        more | self.label_namespaces(&fence).await
    }

    /// Who does not lead keeps nothing: the next tenure begins from what is stored.
    fn forget(&mut self) {
        if self.epoch.take().is_some() {
            tracing::info!("no longer the leader");
        }
        (self.scopes, self.seen, self.stored) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        self.labelled = None;
        (self.slo_told, self.plan_told, self.busy) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        self.planning = JoinSet::new();
    }

    fn read_plans(&self) -> Vec<Plan> {
        self.rows.read(|rows| {
            let ours = rows.filter(|row| row.kind == capacity_plan::KIND && row.group() == crate::api::GROUP);
            // A spec that cannot be read is observed: nothing is held on a guess.
            ours.map(|row| Plan {
                name: row.name.clone(),
                spec: row.decode("/spec").unwrap_or_default(),
                generation: row.at("/metadata/generation").and_then(serde_json::Value::as_i64),
                status: row.decode("/status").unwrap_or_default(),
            })
            .collect()
        })
    }

    /// A scope for every CapacityPlan, begun from its stored plan.
    async fn begin(&mut self, plans: &[Plan], epoch: i64, now: Timestamp) {
        if self.epoch != Some(epoch) {
            tracing::info!(epoch, "leading");
            self.forget();
            (self.epoch, self.since) = (Some(epoch), now);
        }
        let named = plans.iter().map(|plan| (plan.name.clone(), Some(plan)));
        let wanted: BTreeMap<String, Option<&Plan>> =
            if plans.is_empty() { [(String::new(), None)].into() } else { named.collect() };
        self.scopes.retain(|name, _| wanted.contains_key(name));
        self.seen.retain(|name, _| wanted.contains_key(name));
        for (name, plan) in wanted {
            let spec = plan.map(|plan| plan.spec.clone()).unwrap_or_default();
            if let Some(scope) = self.scopes.get_mut(&name) {
                scope.changed |= scope.spec != spec;
                scope.spec = spec;
                continue;
            }
            let mut scope = Scope { name: plan.map(|plan| plan.name.clone()), spec, ..Scope::default() };
            match stored::read(&self.cluster, &self.settings.namespace, scope.name.as_deref()).await {
                Ok(Some(plan)) => scope.inherited = plan.previous_releases(),
                Ok(None) => {}
                Err(error) => tracing::warn!(plan = name, %error, "the stored plan is not used"),
            }
            self.scopes.insert(name, scope);
        }
    }

    /// Puts the rows together where they have changed.
    fn look(&mut self, now: Timestamp) {
        let revision = *self.rows.changes().borrow();
        for (name, scope) in &self.scopes {
            let instant = scope.instant(now);
            let known = self.seen.get(name);
            let fresh = known.is_some_and(|(at, seen)| *at == revision && seen.snapshot.now == instant);
            if !fresh {
                let mut seen = self.rows.read(|rows| scope.look(rows, instant, &self.settings));
                for error in self.learnt.observe(&seen.observed) {
                    self.health.metrics.differs(error);
                }
                self.learnt.forecast(&mut seen);
                let kept = self.adherence.observe(&seen.observed, scope.enforces(), &self.settings.clock);
                kept.into_iter().for_each(|kept| self.health.metrics.kept(kept));
                self.seen.insert(name.clone(), (revision, seen));
            }
        }
    }

    fn plan(&mut self, now: Timestamp, patience: &Patience) {
        for (name, scope) in &mut self.scopes {
            let Some((_, seen)) = self.seen.get(name) else { continue };
            // After a failure, not at once again.
            let tired = scope.failed.is_some() && scope.tried.is_some_and(|at| now - at < patience.missed);
            if self.busy.contains_key(name) || tired {
                continue;
            }
            let changes = scope.reasons(&seen.snapshot, now, patience);
            if changes.is_empty() {
                continue;
            }
            let mut assembled = self.rows.read(|rows| scope.look(rows, now, &self.settings));
            self.learnt.forecast(&mut assembled);
            let request = scope.request(assembled, changes.clone(), &self.settings, patience);
            (scope.changed, scope.tried) = (false, Some(now));
            self.busy.insert(name.clone(), changes);
            let name = name.clone();
            self.planning.spawn(async move { (name, planning::plan(request).await) });
        }
    }

    /// Takes up a plan that is done.
    fn take(&mut self, done: Result<(String, Result<Planned, String>), tokio::task::JoinError>) {
        let Ok((name, result)) = done else {
            self.busy.clear();
            return;
        };
        let changes = self.busy.remove(&name).unwrap_or_default();
        let Some(scope) = self.scopes.get_mut(&name) else { return };
        let cause = changes.first().map_or("First", |change| change.kind.word());
        self.health.metrics.count(&self.health.metrics.plans, "cause", cause);
        match result {
            Ok(planned) => {
                self.health.metrics.solved(planned.millis);
                let (millis, late) = (planned.millis, planned.plan.summary.late);
                let (jobs, because) = (planned.plan.releases.len(), super::changes::sentence(&planned.changes));
                tracing::info!(plan = name, cause, jobs, late, millis, because, "planned");
                (scope.planned, scope.failed) = (Some(Arc::new(planned)), None);
                scope.inherited.clear();
            }
            Err(why) => {
                tracing::error!(plan = name, why, "planning failed");
                scope.failed.get_or_insert((self.settings.clock.now(), String::new())).1 = why;
            }
        }
    }

    fn decide(&mut self, now: Timestamp, patience: &Patience) -> Turn {
        let (slos, reservations) = self.rows.read(|rows| {
            let (mut slos, mut given) = (Vec::new(), Vec::new());
            for row in rows {
                slos.extend(Slo::of(row));
                given.extend(reservations::of(row));
            }
            (slos, given)
        });
        let slos = self.as_told(slos, now);
        let sight = Sight {
            now,
            settings: &self.settings,
            reservations: &reservations,
            slos: &slos,
            plans_known: self.rows.state(capacity_plan::KIND) == State::Listed,
            since: self.since,
        };
        let both = self.scopes.iter_mut().filter_map(|(name, scope)| Some((scope, &self.seen.get(name)?.1)));
        let mut seen: Vec<Seen<'_>> = both.map(|(scope, assembled)| Seen { scope, assembled }).collect();
        let turn = turn::decide(&mut seen, &sight, patience);
        self.measure(&turn, now);
        turn
    }

    /// What was told a moment ago counts as told, until the watch brings it back.
    fn as_told(&mut self, mut slos: Vec<Slo>, now: Timestamp) -> Vec<Slo> {
        let fresh = self.settings.clock.span(crate::units::Seconds(10));
        self.slo_told.retain(|_, (at, _)| now - *at < fresh);
        for slo in &mut slos {
            if let Some((_, told)) = self.slo_told.get(&(slo.namespace.clone(), slo.name.clone())) {
                slo.status.clone_from(told);
            }
        }
        slos
    }

    fn measure(&self, turn: &Turn, now: Timestamp) {
        let metrics = &self.health.metrics;
        metrics.gates_held.set(i64::try_from(turn.gates).unwrap_or(i64::MAX));
        let plans = || self.scopes.values().filter_map(|scope| scope.planned.as_deref()).map(|planned| &planned.plan);
        let of = |verdict: Verdict| plans().flat_map(|plan| &plan.releases).filter(|it| it.verdict == verdict).count();
        metrics.late.set(i64::try_from(of(Verdict::Late)).unwrap_or(i64::MAX));
        metrics.at_risk.set(i64::try_from(of(Verdict::AtRisk)).unwrap_or(i64::MAX));
        let made = plans().map(|plan| plan.now).min();
        metrics.plan_made.set(made.map_or(0, |made| made.0));
        metrics.plan_age.set(made.map_or(0, |made| (now - made).0));
        let gaps = plans().map(|plan| plan.quality.gap_millionths.and_then(|gap| i64::try_from(gap).ok()));
        let gap = gaps.fold(Some(0), |worst: Option<i64>, gap| Some(worst?.max(gap?)));
        metrics.gap_millionths.set(gap.unwrap_or(-1));
    }

    /// Writes, in the order in which it matters; whether something is left.
    async fn act(&mut self, turn: Turn, now: Timestamp, fence: &Fence) -> bool {
        let Turn { orders, mut notes, mut slos, put_off, .. } = turn;
        let mut left = notes.len() > WRITES || slos.len() > WRITES || put_off > 0;
        let mut done = Vec::new();
        for (order, ended) in acts::release(&self.cluster, orders, fence).await {
            left |= ended == Ended::Changed;
            self.count("release", &ended);
            if ended == Ended::Done {
                let metrics = &self.health.metrics;
                metrics.count(&metrics.releases, "cause", order.cause.word());
                tracing::info!(workload = %order.key, cause = order.cause.word(), "let go");
                done.push(order);
            }
        }
        // Nobody waits for what is only told.
        tokio::spawn(events::released(self.recorder.clone(), done, now, self.settings.zone));
        notes.truncate(WRITES);
        for (_, ended) in acts::annotate(&self.cluster, notes, fence).await {
            self.count("note", &ended);
        }
        slos.truncate(WRITES);
        for (told, ended) in acts::tell_slos(&self.cluster, slos, fence).await {
            self.count("slo-status", &ended);
            if ended == Ended::Done {
                self.slo_told.insert((told.namespace, told.name), (now, told.status));
            }
        }
        left
    }

    fn count(&self, what: &'static str, ended: &Ended) {
        let word = match ended {
            Ended::Done => "done",
            Ended::Changed => "changed",
            Ended::Fenced => "fenced",
            Ended::Failed(error) => {
                tracing::warn!(what, %error, "a write failed");
                error.kind.label()
            }
        };
        self.health.metrics.count(&self.health.metrics.writes, "ended", word);
    }

    /// Keeps the plans where the next leader and the commands find them.
    async fn store(&mut self, fence: &Fence) {
        for (name, scope) in &self.scopes {
            let Some(planned) = &scope.planned else { continue };
            if self.stored.get(name).is_some_and(|stored| *stored == planned.plan.releases) || !fence.holds() {
                continue;
            }
            let (scope, plan) = (scope.name.as_deref(), &planned.plan);
            match stored::write(&self.cluster, &self.settings.namespace, scope, plan, fence.epoch).await {
                Ok(()) => drop(self.stored.insert(name.clone(), plan.releases.clone())),
                Err(error) if error.kind == Kind::Conflict => tracing::info!(%error, "the plan was not stored"),
                Err(error) => tracing::warn!(%error, "the plan was not stored"),
            }
        }
    }

    async fn tell_plans(&mut self, plans: &[Plan], now: Timestamp, patience: &Patience, fence: &Fence) {
        for plan in plans {
            let (Some(scope), Some((_, seen))) = (self.scopes.get(&plan.name), self.seen.get(&plan.name)) else {
                continue;
            };
            let sight = Sight {
                now,
                settings: &self.settings,
                reservations: &[],
                slos: &[],
                plans_known: true,
                since: self.since,
            };
            let covered = seen.observed.iter().filter(|one| {
                one.is_gated() && one.queue.as_ref().is_some_and(|queue| scope.covers(queue, &seen.snapshot))
            });
            let standing = Standing {
                now,
                generation: plan.generation,
                held: covered.count(),
                stale: turn::is_stale(scope, &sight, patience),
                before: self.plan_told.get(&plan.name).unwrap_or(&plan.status),
            };
            let status = plan_status(scope, standing);
            if status == plan.status || self.plan_told.get(&plan.name) == Some(&status) {
                continue;
            }
            let ended = acts::tell_plan(&self.cluster, &plan.name, &status, fence).await;
            self.count("plan-status", &ended);
            if ended == Ended::Done {
                self.plan_told.insert(plan.name.clone(), status);
            }
        }
    }

    /// Keeps tenants' labels on their namespaces, where both kinds are known; whether something is left.
    async fn label_namespaces(&mut self, fence: &Fence) -> bool {
        let revision = *self.rows.changes().borrow();
        if self.labelled == Some(revision) || self.rows.state("GpuTenant") != State::Listed {
            return false;
        }
        let of_tenancy = |row: &&Manifest| matches!(row.kind.as_str(), "GpuTenant" | "Namespace");
        let rows: Vec<Manifest> = self.rows.read(|rows| rows.filter(of_tenancy).cloned().collect());
        let mut wrong = tenants::relabel(&rows);
        let left = wrong.len() > WRITES;
        wrong.truncate(WRITES);
        let mut all = true;
        for (label, ended) in acts::relabel(&self.cluster, wrong, fence).await {
            self.count("namespace-labels", &ended);
            all &= ended == Ended::Done;
            if ended == Ended::Done {
                tracing::info!(namespace = label.namespace, tenant = ?label.tenant, "the namespace's tenant is written");
            }
        }
        if all && !left {
            self.labelled = Some(revision);
        }
        left
    }

    async fn configure(&self) {
        let (namespace, name) = &self.settings.kueue;
        match configuration::read(&self.cluster, (namespace, name), self.settings.read_yaml).await {
            Ok(documents) => self.rows.configure(documents),
            Err(error) => tracing::warn!(%error, "Kueue's configuration is not known; its defaults stand in"),
        }
    }

    /// Until the next planned start, at most a tick.
    fn wait(&self) -> Duration {
        let now = self.settings.clock.now();
        let plans = self.scopes.values().filter_map(|scope| scope.planned.as_deref());
        let starts = plans.flat_map(|planned| &planned.plan.releases).map(|release| release.start);
        let next = starts.filter(|start| *start > now).min();
        next.map_or(TICK, |start| self.settings.clock.until(start).min(TICK)).max(Duration::from_millis(5))
    }
}
