//! What the API server would give of a cluster of a few lines, and the settings of our loop beside it.

use serde_json::{Value, json};
use stagger::api::keys::holds;
use stagger::api::manifest::Manifest;
use stagger::clock::Clock;
use stagger::controller::settings::Settings;
use stagger::units::{Seconds, Timestamp};

use super::Fake;
use crate::assemble::NOON;
pub use crate::row::row;

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

impl Fake {
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
        crate::controller::skew::shift(&mut rows, self.skew);
        rows
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

fn workload_row(job: &FakeJob) -> Manifest {
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
