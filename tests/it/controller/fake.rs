//! A cluster of a few lines: Jobs with their Workloads, a Kueue that admits what fits, and our loop turning beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use stagger::api::keys::holds;
use stagger::api::manifest::Manifest;
use stagger::api::status::WorkloadSloStatus;
use stagger::clock::Clock;
use stagger::controller::changes::Change;
use stagger::controller::planning::think;
use stagger::controller::reservations;
use stagger::controller::scope::Scope;
use stagger::controller::settings::Settings;
use stagger::controller::turn::{self, Seen, Sight, Slo, Turn};
use stagger::kueue::Assembled;
use stagger::kueue::release::{Cause, Hold, Target, Told, without_gate};
use stagger::units::{Seconds, Timestamp};

pub use crate::assemble::NOON;

pub const GATE: &str = "stagger.dev/planner";

pub fn at(minutes: i64) -> Timestamp {
    NOON + Seconds(minutes * 60)
}

pub fn settings() -> Settings {
    Settings {
        clock: Clock::WALL,
        zone: chrono_tz::Europe::Madrid,
        namespace: "stagger-system".to_owned(),
        kueue: ("kueue-system".to_owned(), "kueue-manager-config".to_owned()),
        time_limit_millis: 2_000,
        horizon: Seconds(5 * 3600),
        hold_max: Seconds(1800),
        read_yaml: |_| Vec::new(),
    }
}

/// A row as the API server would give it.
pub fn row(value: Value) -> Manifest {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    Manifest {
        api_version: text("/apiVersion"),
        kind: text("/kind"),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
        value,
        shared: Box::default(),
        origin: None,
    }
}

/// A Job and what became of it.
#[derive(Debug, Clone)]
pub struct FakeJob {
    pub name: String,
    pub gpus: i64,
    pub created: Timestamp,
    /// How long it really runs.
    pub runtime: Seconds,
    /// The annotation on the Job.
    pub gates: String,
    pub planned: Option<String>,
    pub priority: i64,
    pub admitted: Option<Timestamp>,
    pub finished: Option<Timestamp>,
    pub evictions: u32,
    /// Kueue would rather not, for a reason of its own.
    pub refused: bool,
    /// The gate was taken off its Workload.
    pub passed: bool,
}

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

    /// Everything as rows.
    pub fn rows(&self) -> Vec<Manifest> {
        let mut rows = vec![
            row(
                json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "a100", "uid": "f"}}),
            ),
            row(json!({
                "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "batch", "uid": "q"},
                "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"],
                    "flavors": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": self.quota}]}]}]},
                "status": {"flavorsReservation": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": self.used().to_string()}]}]},
            })),
            row(json!({
                "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                "metadata": {"name": "batch", "namespace": "evals", "uid": "l"}, "spec": {"clusterQueue": "batch"},
            })),
            row(json!({
                "apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO",
                "metadata": {"name": "evals", "namespace": "evals", "uid": "s", "generation": 1},
                "spec": {"selector": {"matchLabels": {"app": "eval"}}, "finishBy": self.due, "deadlinePolicy": "Hard",
                    "expectedRuntime": {"p50": "1h", "p90": "1h"}},
            })),
        ];
        if self.has_plan {
            rows.push(row(json!({
                "apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": "main", "uid": "p"},
                "spec": {"mode": self.mode, "frozenWindow": self.frozen, "windows": self.windows},
            })));
        }
        for job in &self.jobs {
            rows.push(job_row(job));
            let mut workload = workload_row(job);
            if self.lags && job.admitted.is_none() && !job.passed {
                workload.value["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = json!(GATE);
            }
            rows.extend(self.workloads.then_some(workload));
        }
        super::skew::shift(&mut rows, self.skew);
        rows
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

pub fn time(at: Timestamp) -> String {
    stagger::calendar::rfc3339(at, chrono_tz::UTC)
}

fn template(gpus: i64) -> Value {
    json!({"spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus.to_string()}}}]}})
}

fn annotations(job: &FakeJob) -> Value {
    let mut all = serde_json::Map::new();
    if !job.gates.is_empty() {
        all.insert("kueue.x-k8s.io/admission-gated-by".to_owned(), json!(job.gates));
    }
    if let Some(planned) = &job.planned {
        all.insert("stagger.dev/planned-start".to_owned(), json!(planned));
    }
    Value::Object(all)
}

pub fn job_row(job: &FakeJob) -> Manifest {
    row(json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": job.name, "namespace": "evals", "uid": format!("job-{}", job.name),
            "creationTimestamp": time(job.created), "annotations": annotations(job),
            "labels": {"app": "eval", "kueue.x-k8s.io/queue-name": "batch"}},
        "spec": {"suspend": job.admitted.is_none(), "template": template(job.gpus)},
        "status": {},
    }))
}

pub fn workload_row(job: &FakeJob) -> Manifest {
    let condition = |kind: &str, status: &str, reason: &str, at: Timestamp| json!({"type": kind, "status": status, "reason": reason, "message": format!("{kind} says Kueue"), "lastTransitionTime": time(at)});
    let mut conditions = Vec::new();
    let mut admission = Value::Null;
    match job.admitted {
        Some(since) => {
            conditions.push(condition("QuotaReserved", "True", "QuotaReserved", since));
            conditions.push(condition("Admitted", "True", "Admitted", since));
            admission = json!({"clusterQueue": "batch", "podSetAssignments": [{"name": "main", "count": 1,
                "flavors": {"nvidia.com/gpu": "a100"}, "resourceUsage": {"nvidia.com/gpu": job.gpus.to_string()}}]});
        }
        None => {
            let reason = if holds(&job.gates) { "AdmissionGated" } else { "Pending" };
            conditions.push(condition("QuotaReserved", "False", reason, job.created));
            if job.evictions > 0 {
                conditions.push(condition("Evicted", "True", "Preempted", job.created));
            }
        }
    }
    if let Some(at) = job.finished {
        conditions.push(condition("Finished", "True", "Succeeded", at));
    }
    let mut status = json!({"conditions": conditions});
    if !admission.is_null() {
        status["admission"] = admission;
    }
    if job.evictions > 0 {
        status["schedulingStats"] = json!({"evictions": [{"reason": "Preempted", "count": job.evictions}]});
    }
    row(json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": format!("job-{}-1", job.name), "namespace": "evals", "uid": format!("wl-{}", job.name),
            "creationTimestamp": time(job.created), "annotations": annotations(job),
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job.name, "uid": format!("job-{}", job.name), "controller": true}]},
        "spec": {"queueName": "batch", "priority": job.priority, "podSets": [{"name": "main", "count": 1, "template": template(job.gpus)}]},
        "status": status,
    }))
}
