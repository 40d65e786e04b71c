//! The loop: look, plan what must be planned anew, let go what is due, tell everyone.
//!
//! Level-triggered: each turn starts from what is known now and could be the first one. Only who leads acts, and each
//! write asks for the lease once more. Planning goes on beside the loop, so that what is due never waits for it, and so do all
//! writes (`beside`, `shelf`, `labels`); whatever does not get done in a turn is decided anew in the next.

pub mod beside;
mod hand;
mod labels;
mod pen;
mod plans;
mod shelf;
mod still;
mod think;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::runtime::events::{Recorder, Reporter};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::api::manifest::Manifest;
use crate::api::status::CapacityPlanStatus;
use crate::cluster::lease::Leadership;
use crate::cluster::{Cluster, ClusterError};
use crate::controller::acknowledged::told::Webhook;
use crate::controller::acts::Fence;
use crate::controller::adherence::Adherence;
use crate::controller::changes::Change;
use crate::controller::configuration;
use crate::controller::gates::{self, Gates};
use crate::controller::learnt::Learnt;
use crate::controller::overlap::Source;
use crate::controller::planning::Planned;
use crate::controller::probes::Health;
use crate::controller::rest::Rest;
use crate::controller::rows::Rows;
use crate::controller::scope::Scope;
use crate::controller::settings::Settings;
use crate::controller::turn::Turn;
use crate::kueue::Assembled;
use crate::kueue::release::Order;
use crate::units::{Seconds, Timestamp};

/// Changes come in bursts: after the first one, this long is waited for the others.
const GATHER: Duration = Duration::from_millis(150);
/// While much is being let go, each of it is a change, and nothing more could be let go sooner.
const GATHER_MANY: Duration = Duration::from_secs(2);
/// Without any change: so that what only the clock brings is noticed.
const TICK: Duration = Duration::from_secs(2);
/// Events that wait until nothing is being let go; of more work at once nobody reads them one by one.
const EVENTS: usize = 2_048;
/// What was told counts as told for so long, until the watch brings it back.
const TOLD_FRESH: Seconds = Seconds(10);
/// A turn that thought for long is followed by a pause of four times that: a fifth of a core at most.
const PAUSE: u32 = 4;

use hand::Hand;
use labels::Labels;
use pen::{Line, Pen};
use shelf::Shelf;

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
    /// What each has as taken came from these, as long as it sees the same.
    taken_from: BTreeMap<String, Source>,
    planning: JoinSet<(String, Result<Planned, String>)>,
    /// Being planned at this moment.
    busy: BTreeMap<String, Vec<Change>>,
    /// How much each has been planned of late, and when the first of those that rest may be planned again.
    rests: BTreeMap<String, Rest>,
    rests_until: Option<Duration>,
    /// From here on rests are reckoned.
    begun: Instant,
    shelf: Shelf,
    slo_told: BTreeMap<(String, String), (Timestamp, crate::api::status::WorkloadSloStatus)>,
    plan_told: BTreeMap<String, CapacityPlanStatus>,
    epoch: Option<i64>,
    since: Timestamp,
    /// What is being let go.
    hand: Option<Hand>,
    /// What is being told.
    pen: Option<Pen>,
    /// Called when little is left of that.
    few: Arc<Notify>,
    /// What was let go and has no event yet.
    events: Vec<Order>,
    recorder: Recorder,
    learnt: Learnt,
    adherence: Adherence,
    labels: Labels,
    /// Kueue's configuration, read again.
    configuring: JoinSet<Result<Vec<Manifest>, ClusterError>>,
    configured: Instant,
    gates: Gates,
    /// Asked beside the loop: a Kueue that does not answer must not keep anything from starting.
    asking: JoinSet<Gates>,
    asked: Option<Instant>,
    /// What its replicas say, heard beside the loop.
    webhook: watch::Receiver<Webhook>,
    /// How long the last turn took without what it waited for.
    thought: Duration,
    quiet: Option<still::Quiet>,
}

impl Loop {
    #[must_use]
    pub fn new(
        cluster: Cluster,
        rows: Rows,
        settings: Settings,
        leadership: Leadership,
        health: Arc<Health>,
        webhook: watch::Receiver<Webhook>,
    ) -> Self {
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
            taken_from: BTreeMap::new(),
            planning: JoinSet::new(),
            busy: BTreeMap::new(),
            rests: BTreeMap::new(),
            rests_until: None,
            begun: Instant::now(),
            shelf: Shelf::default(),
            slo_told: BTreeMap::new(),
            plan_told: BTreeMap::new(),
            epoch: None,
            since,
            hand: None,
            pen: None,
            few: Arc::default(),
            events: Vec::new(),
            recorder,
            learnt: Learnt::default(),
            adherence: Adherence::default(),
            labels: Labels::default(),
            configuring: JoinSet::new(),
            configured: Instant::now(),
            gates: Gates::default(),
            asking: JoinSet::new(),
            asked: None,
            webhook,
            thought: Duration::ZERO,
            quiet: None,
        }
    }

    /// Turns until told to end.
    pub async fn run(mut self, mut ends: watch::Receiver<bool>) {
        let mut changes = self.rows.changes();
        let mut tenure = self.leadership.changes();
        let mut next = TICK;
        // Requests become quota by it, so nothing is decided before.
        self.configure();
        tokio::select! {
            _ = ends.wait_for(|ends| *ends) => return,
            read = self.configuring.join_next() => if let Some(Ok(read)) = read { self.take_configuration(read) },
        }
        loop {
            tokio::select! {
                _ = ends.wait_for(|ends| *ends) => return,
                changed = changes.changed() => {
                    if changed.is_err() { return; }
                    let many = self.is_busy();
                    tokio::select! {
                        () = sleep(if many { GATHER_MANY } else { GATHER }) => {}
                        () = self.few.notified(), if many => {}
                    }
                }
                () = self.few.notified() => {}
                _ = tenure.changed() => {}
                Ok(()) = self.webhook.changed() => self.quiet = None,
                Some(done) = self.planning.join_next() => self.take(done),
                Some(Ok(answer)) = self.asking.join_next() => self.learn_of_gates(answer),
                Some(Ok(read)) = self.configuring.join_next() => self.take_configuration(read),
                () = sleep(next) => {}
            }
            changes.mark_unchanged();
            if self.configured.elapsed() >= configuration::AGAIN && self.configuring.is_empty() {
                self.configure();
            }
            self.ask_of_gates();
            while let Some(done) = self.planning.try_join_next() {
                self.take(done);
            }
            let more = self.turn().await;
            self.health.turned();
            next = if more { GATHER } else { self.wait() };
            if self.thought > GATHER && !more {
                // A big cluster that changes all the time must not take a whole core; an API server that is slow to answer
                // takes none. A plan that is done and a start that is due do not wait for that.
                tokio::select! {
                    Some(done) = self.planning.join_next() => self.take(done),
                    () = self.few.notified() => {}
                    () = sleep((self.thought * PAUSE).min(next)) => {}
                }
            }
        }
    }

    /// One turn; whether something is left to do at once.
    async fn turn(&mut self) -> bool {
        self.thought = Duration::ZERO;
        let complete = self.rows.complete();
        self.health.set_ready(complete);
        self.health.metrics.rows.set(i64::try_from(self.rows.len()).unwrap_or(i64::MAX));
        let epoch = self.leadership.epoch();
        self.health.metrics.leader.set(i64::from(epoch.is_some()));
        let (Some(epoch), true) = (epoch, complete) else {
            self.forget();
            return false;
        };
        let (now, mut patience) = (self.settings.clock.now(), self.settings.patience());
        let fence = Fence { leadership: Some(self.leadership.clone()), epoch };
        let late = self.take_answers(now);
        let revision = *self.rows.changes().borrow();
        if self.is_quiet(epoch, revision, now) {
            self.measure_age(now);
            // A long plan may have had to wait for its turn.
            self.store(&fence);
            return false;
        }
        // 1. What is there.
        let plans = self.read_plans();
        if let Some(told) = plans.iter().find_map(|plan| Gates::told(&plan.status)).filter(|_| !self.gates.is_known()) {
            self.learn_of_gates(told);
        }
        self.begin(&plans, epoch, now).await;
        let hand = self.hand.get_or_insert_with(|| Hand::new(&self.cluster, &fence, Arc::clone(&self.few)));
        self.pen.get_or_insert_with(|| Pen::new(&self.cluster, &fence, Arc::clone(&self.few)));
        patience.pace.at_once = patience.pace.at_once.min(hand.room());
        let begun = Instant::now();
        self.look(now);
        // 2. Plan anew what must be.
        let planned = self.plan(now, &patience);
        // 3. Decide.
        let turn = self.decide(now, &patience);
        self.thought = begun.elapsed();
        let again = self.scopes.values().any(|scope| scope.pinned && scope.failed.is_none());
        // 4. Let go what is due, then tell, then write it down.
        let idle = self.hand.as_ref().is_none_or(Hand::is_empty) && self.pen.as_ref().is_none_or(Pen::is_idle);
        let mut still = planned && turn.is_empty() && idle;
        let Turn { orders, notes, slos, put_off, .. } = turn;
        self.let_go(orders);
        let plans = self.plan_lines(&plans, now, &patience);
        still &= plans.is_empty();
        self.tell(plans.into_iter().chain(notes.into_iter().map(Line::Note)).chain(slos.into_iter().map(Line::Slo)));
        let more = put_off > 0 && !self.is_busy();
        self.store(&fence);
        self.labels.mend(&self.rows, &self.cluster, &fence);
        still &= self.labels.are_right(&self.rows, revision);
        self.quiet = if still { self.quiet_from(revision, now, &patience) } else { None };
        more | again | late
    }

    /// Who does not lead keeps nothing: the next tenure begins from what is stored.
    fn forget(&mut self) {
        if self.epoch.take().is_some() {
            tracing::info!("no longer the leader");
        }
        (self.scopes, self.seen, self.busy) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        (self.slo_told, self.plan_told, self.taken_from) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        (self.quiet, self.hand, self.pen) = (None, None, None);
        (self.shelf, self.labels, self.planning) = (Shelf::default(), Labels::default(), JoinSet::new());
    }

    fn configure(&mut self) {
        let (cluster, kueue, read_yaml) = (self.cluster.clone(), self.settings.kueue.clone(), self.settings.read_yaml);
        self.configured = Instant::now();
        self.configuring.spawn(async move { configuration::read(&cluster, (&kueue.0, &kueue.1), read_yaml).await });
    }

    fn take_configuration(&mut self, read: Result<Vec<Manifest>, ClusterError>) {
        match read {
            Ok(documents) => self.rows.configure(documents),
            Err(error) => tracing::warn!(%error, "Kueue's configuration is not known; its defaults stand in"),
        }
    }

    /// Asks Kueue whether it reads gates, from time to time and while we lead.
    fn ask_of_gates(&mut self) {
        let due = self.asked.is_none_or(|at| at.elapsed() >= self.gates.again());
        if due && self.asking.is_empty() && self.leadership.epoch().is_some() {
            self.asked = Some(Instant::now());
            let (cluster, namespace) = (self.cluster.clone(), self.settings.namespace.clone());
            self.asking.spawn(async move { gates::ask(&cluster, &namespace).await });
        }
    }

    /// What is not answered changes nothing.
    fn learn_of_gates(&mut self, answer: Gates) {
        if answer == self.gates || (self.gates.is_known() && !answer.is_known()) {
            return;
        }
        tracing::info!(answer = ?answer, "asked whether Kueue reads gates");
        (self.gates, self.quiet) = (answer, None);
        let ignored = self.gates == Gates::Ignored;
        for scope in self.scopes.values_mut() {
            scope.changed |= scope.gates_ignored != ignored;
            scope.gates_ignored = ignored;
        }
        self.seen.clear();
    }

    /// Until the next planned start or the end of a rest, at most a tick.
    fn wait(&self) -> Duration {
        let now = self.settings.clock.now();
        let plans = self.scopes.values().filter_map(|scope| scope.planned.as_deref());
        let starts = plans.flat_map(|planned| &planned.plan.releases).map(|release| release.start);
        let next = starts.filter(|start| *start > now).min();
        let start = next.map_or(TICK, |start| self.settings.clock.until(start));
        let rest = self.rests_until.map_or(TICK, |until| until.saturating_sub(self.begun.elapsed()));
        start.min(rest).min(TICK).max(Duration::from_millis(5))
    }
}
