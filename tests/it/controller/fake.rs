//! A cluster of a few lines that acts: Jobs with their Workloads, a Kueue that admits what fits, and our loop turning beside it.

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use stagger::api::status::WorkloadSloStatus;
use stagger::controller::changes::Change;
use stagger::controller::planning::think;
use stagger::controller::reservations;
use stagger::controller::scope::Scope;
use stagger::controller::settings::Settings;
use stagger::controller::turn::{self, Seen, Sight, Slo, Turn};
use stagger::kueue::Assembled;
use stagger::kueue::release::{Cause, Hold, Target, Told, without_gate};
use stagger::units::{Seconds, Timestamp};

pub use self::rows::{FakeJob, GATE, at, job_row, row, settings, time};
pub use crate::assemble::NOON;

#[derive(Debug)]
pub struct Fake {
    pub now: Timestamp,
    pub jobs: Vec<FakeJob>,
    pub quota: i64,
    pub mode: &'static str,
    pub due: &'static str,
    pub frozen: &'static str,
    /// Of the CapacityPlan.
    pub windows: Value,
    /// Of a search.
    pub steps: u64,
    pub settings: Settings,
    pub scope: Scope,
    /// What the last turn decided from.
    pub seen: Option<Assembled>,
    /// Planning goes wrong.
    pub broken: bool,
    /// Why plans were made, each with its time.
    pub plans: Vec<(Timestamp, Vec<Change>)>,
    pub released: Vec<(Timestamp, String, Cause)>,
    pub slo: WorkloadSloStatus,
    pub slo_writes: usize,
    pub peak: i64,
    pub has_plan: bool,
    /// Kueue has not passed gates on yet that have gone.
    pub lags: bool,
    /// Kueue makes Workloads.
    pub workloads: bool,
    /// By so much Kubernetes' clock is ahead of ours.
    pub skew: Seconds,
}

impl Fake {
    /// Four GPUs, a CapacityPlan that enforces, a promise to be done by 17:00 with an hour's runtime.
    pub fn new() -> Self {
        Self {
            now: NOON,
            jobs: Vec::new(),
            quota: 4,
            mode: "Enforce",
            due: "2026-11-30T17:00:00+01:00",
            frozen: "0s",
            windows: json!([]),
            steps: 20_000,
            settings: settings(),
            scope: Scope::default(),
            seen: None,
            broken: false,
            plans: Vec::new(),
            released: Vec::new(),
            slo: WorkloadSloStatus::default(),
            slo_writes: 0,
            peak: 0,
            has_plan: true,
            lags: false,
            workloads: true,
            skew: Seconds::ZERO,
        }
    }

    /// A Job of an hour, as the webhook lets it in: gated.
    pub fn job(mut self, name: &str, gpus: i64) -> Self {
        let job = FakeJob {
            name: name.to_owned(),
            gpus,
            created: self.now,
            runtime: Seconds::HOUR,
            gates: if self.mode == "Enforce" { GATE.to_owned() } else { String::new() },
            planned: None,
            priority: 0,
            admitted: None,
            finished: None,
            evictions: 0,
            refused: false,
            passed: false,
        };
        self.jobs.push(job);
        self
    }

    pub fn touchstone() -> Self {
        (1..=4).fold(Self::new(), |fake, number| fake.job(&format!("eval-{number}"), 2))
    }

    pub fn find(&mut self, name: &str) -> &mut FakeJob {
        self.jobs.iter_mut().find(|job| job.name == name).expect("the job must be there")
    }

    fn of_workload(&mut self, name: &str) -> &mut FakeJob {
        let job = name.strip_prefix("job-").and_then(|name| name.strip_suffix("-1"));
        self.find(job.expect("a Workload is named after its job"))
    }

    pub fn used(&self) -> i64 {
        self.jobs.iter().filter(|job| job.admitted.is_some() && job.finished.is_none()).map(|job| job.gpus).sum()
    }

    /// One turn of the loop, carried out at once.
    pub fn turn(&mut self) -> Turn {
        let rows = self.rows();
        let plan = rows.iter().find(|row| row.kind == "CapacityPlan");
        let spec = plan.map(|plan| plan.decode("/spec").expect("the plan must be sound")).unwrap_or_default();
        self.scope.name = plan.map(|plan| plan.name.clone());
        self.scope.changed |= self.scope.planned.is_some() && self.scope.spec != spec;
        self.scope.spec = spec;
        let patience = self.settings.patience();
        let instant = self.scope.instant(self.now);
        let mut seen = self.scope.look(&mut rows.iter(), instant, &self.settings);
        let changes = self.scope.reasons(&seen.snapshot, self.now, &patience);
        if !changes.is_empty() {
            self.scope.begin(&changes, self.now);
            let assembled = self.scope.look(&mut rows.iter(), self.now, &self.settings);
            seen = assembled.clone();
            let mut request = self.scope.request(assembled, changes.clone(), &self.settings, &patience);
            request.policy.step_limit = Some(self.steps);
            let made = if self.broken {
                Err("it is broken".to_owned())
            } else {
                think(request, &Arc::new(AtomicBool::new(false)))
            };
            match made {
                Ok(planned) => {
                    self.plans.push((self.now, changes));
                    (self.scope.planned, self.scope.failed) = (Some(Arc::new(planned)), None);
                }
                Err(why) => self.scope.fail(&changes, self.now, why),
            }
        }
        let reservations: Vec<_> = rows.iter().flat_map(reservations::of).collect();
        let slo = rows.iter().find_map(Slo::of).map(|slo| Slo { status: self.slo.clone(), ..slo });
        let slos: Vec<Slo> = slo.into_iter().collect();
        let (now, settings) = (self.now, self.settings.clone());
        let sight = Sight {
            now,
            settings: &settings,
            reservations: &reservations,
            slos: &slos,
            going: &BTreeSet::new(),
            plans_known: true,
            since: NOON,
        };
        let turn = turn::decide(&mut [Seen { scope: &mut self.scope, assembled: &seen }], &sight, &patience);
        self.seen = Some(seen);
        for order in &turn.orders {
            for target in &order.targets {
                self.let_go(target, order.told.as_ref());
            }
            self.released.push((self.now, order.key.name().to_owned(), order.cause));
        }
        for note in &turn.notes {
            // As the API server: the patch tests the gate, which may have gone in this very turn.
            let job = self.find(&note.carrier.name);
            if note.steps().is_none() || job.gates == note.carrier.gates {
                job.planned = Some(note.told.start.clone());
            }
        }
        for told in &turn.slos {
            self.slo = told.status.clone();
            self.slo_writes += 1;
        }
        turn
    }

    fn let_go(&mut self, target: &Target, told: Option<&Told>) {
        let Hold::Gate(gates) = &target.hold else { panic!("only gates hold here: {target:?}") };
        if target.kind == "Workload" {
            self.of_workload(&target.name).passed = true;
            return;
        }
        let job = self.find(&target.name);
        if job.gates == *gates {
            job.gates = without_gate(gates).unwrap_or_default();
            job.planned = told.map(|told| told.start.clone()).or(job.planned.take());
        }
    }

    /// Kueue and the jobs: what has run its time ends, what waits and fits is admitted.
    pub fn live(&mut self) {
        let now = self.now;
        for job in self.jobs.iter_mut().filter(|job| job.finished.is_none()) {
            if job.admitted.is_some_and(|since| since + job.runtime <= now) {
                job.finished = Some(now);
            }
        }
        let mut free = self.quota - self.used();
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by_key(|at| (-self.jobs[*at].priority, self.jobs[*at].created, *at));
        for at in order {
            let job = &mut self.jobs[at];
            let waits = job.admitted.is_none() && job.finished.is_none() && !job.refused;
            if waits && job.gates.is_empty() && job.gpus <= free {
                free -= job.gpus;
                job.admitted = Some(now);
            }
        }
        self.peak = self.peak.max(self.used());
    }

    /// Time goes on to so many minutes after noon, a second or five at a time.
    pub fn until(&mut self, minutes: i64) -> &mut Self {
        while self.now < at(minutes) {
            self.live();
            self.turn();
            self.live();
            self.now = self.now + Seconds(5);
        }
        self.now = at(minutes);
        self.live();
        self.turn();
        self.live();
        self
    }

    /// When each job began, in minutes after noon, rounded down.
    pub fn starts(&self) -> BTreeMap<String, i64> {
        let begun = |job: &FakeJob| Some((job.name.clone(), (job.admitted? - NOON).0.div_euclid(60)));
        self.jobs.iter().filter_map(begun).collect()
    }

    pub fn causes(&self) -> Vec<&'static str> {
        self.plans.iter().map(|(_, changes)| changes[0].kind.word()).collect()
    }
}
