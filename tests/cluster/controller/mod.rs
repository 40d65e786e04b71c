//! The controller on a real Kueue: work starts when the plan says, and everybody is told when and why.
//!
//! Hours are rehearsed: the controller's clock shows noon when the test begins and runs faster, and KWOK's pods run as long
//! as an hour lasts by that clock.

mod alone;
mod apart;
mod faults;
mod flavors;
mod inactive;
mod moves;
mod noon;
mod sixty;
mod told;
mod traps;

use std::path::Path;
use std::time::Duration;

use chrono_tz::UTC;
use serde_json::{Value, json};
use stagger::calendar;
use stagger::clock::{self, Clock};
use stagger::units::Timestamp;

use crate::crds;
use crate::person::Person;
use crate::plane::{Part, Plane, RUNS_FOR, port};
use crate::wait::{http, until};

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
const GPU: &str = "nvidia.com/gpu";
const GATE: &str = "stagger.dev/planner";
const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
const QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// 2026-11-30T12:00:00Z.
const NOON: Timestamp = Timestamp(1_796_040_000);

/// A stage of its own: a namespace, queues with a flavor, a plan, and a controller that follows it.
struct Stage<'a> {
    plane: &'a Plane,
    name: String,
    clock: Clock,
    /// The clock as a flag.
    rehearsal: String,
    speed: i64,
    metrics: String,
    controller: Part,
    /// What it was started with, but for where it listens.
    flags: Vec<String>,
}

/// A node on paper with GPUs enough for every test.
async fn node(admin: &Person) {
    let resources = json!({"cpu": "1000", "memory": "4Ti", "pods": "5000", GPU: "1000"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "paper"},
                      "status": {"capacity": resources, "allocatable": resources}});
    match admin.create(&node).await {
        Ok(_) => {}
        Err(refused) => assert_eq!(refused.code, 409, "{}", refused.message),
    }
}

impl<'a> Stage<'a> {
    /// Queues of `gpus` each, all in one cohort where there are several, and a controller whose hour lasts `3600 / speed` s.
    async fn set(plane: &'a Plane, name: &str, queues: &[(&str, u32)], speed: i64) -> Self {
        let queues: Vec<(&str, [u32; 1])> = queues.iter().map(|(queue, gpus)| (*queue, [*gpus])).collect();
        Self::flavored(plane, name, &["a100"], &queues, speed, plane.admin.kubeconfig()).await
    }

    /// The same with several flavors, in the order in which Kueue tries them, and so many GPUs of each; the controller
    /// takes its own way to the API server.
    async fn flavored<const N: usize>(
        plane: &'a Plane,
        name: &str,
        flavors: &[&str; N],
        queues: &[(&str, [u32; N])],
        speed: i64,
        way: &Path,
    ) -> Self {
        let admin = &plane.admin;
        crds::installed(plane).await;
        node(admin).await;
        for namespace in [name, "stagger-system"] {
            admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await;
        }
        let flavors = flavors.map(|flavor| format!("{name}-{flavor}"));
        for flavor in &flavors {
            admin.apply(&json!({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": flavor}})).await;
        }
        for (queue, gpus) in queues {
            let quota = |(flavor, gpus): (&String, &u32)| json!({"name": flavor, "resources": [{"name": GPU, "nominalQuota": gpus}]});
            let quotas: Vec<Value> = flavors.iter().zip(gpus).map(quota).collect();
            let group = json!({"coveredResources": [GPU], "flavors": quotas});
            let mut spec = json!({"namespaceSelector": {}, "resourceGroups": [group]});
            if queues.len() > 1 {
                spec["cohortName"] = json!(name);
            }
            let named = json!({"name": queue});
            admin.apply(&json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": named, "spec": spec})).await;
            let local = json!({"name": queue, "namespace": name});
            admin.apply(&json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": local, "spec": {"clusterQueue": queue}})).await;
        }
        let names: Vec<&str> = queues.iter().map(|(queue, _)| *queue).collect();
        let plan = json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": name},
                          "spec": {"queues": names, "mode": "Enforce", "horizon": "6h"}});
        admin.apply(&plan).await;

        let (real, metrics) = (clock::now(), format!("127.0.0.1:{}", port()));
        let clock = Clock::rehearsal(real, NOON, speed);
        let rehearsal = format!("{},{},{speed}", calendar::rfc3339(real, UTC), calendar::rfc3339(NOON, UTC));
        let flags = vec![
            "controller".to_owned(),
            format!("--kubeconfig={}", way.display()),
            format!("--rehearsal={rehearsal}"),
            // A lease of its own: that of a controller that was killed is left alone for a while.
            format!("--namespace={name}"),
            "--time-limit=500".to_owned(),
        ];
        let program = Path::new(env!("CARGO_BIN_EXE_stagger"));
        let listening = [&flags[..], &[format!("--metrics-listen={metrics}")]].concat();
        let controller = Part::start(&format!("controller-{name}"), program, listening, &plane.folder);
        Self { plane, name: name.to_owned(), clock, rehearsal, speed, metrics, controller, flags }
    }

    /// Another controller that stands for the same lease, and where it answers.
    fn follower(&self) -> (Part, String) {
        let metrics = format!("127.0.0.1:{}", port());
        let program = Path::new(env!("CARGO_BIN_EXE_stagger"));
        let flags = [&self.flags[..], &[format!("--metrics-listen={metrics}")]].concat();
        (Part::start(&format!("follower-{}", self.name), program, flags, &self.plane.folder), metrics)
    }

    /// Waits until the controller leads and has looked.
    async fn ready(&mut self) {
        let (controller, metrics) = (&mut self.controller, &self.metrics);
        until("the controller is ready", Duration::from_mins(1), async || {
            if let Some(status) = controller.ended() {
                panic!("the controller ended with {status}:\n{}", controller.tail());
            }
            http(metrics, "/readyz").await
        })
        .await;
    }

    /// A gated job of `gpus` that really takes `minutes` by the controller's clock, and promises what `slo` says for these.
    fn job(&self, job: &str, queue: &str, gpus: u32, minutes: i64) -> Value {
        let resources = json!({"limits": {GPU: gpus.to_string()}, "requests": {GPU: gpus.to_string()}});
        let container = json!({"name": "main", "image": "none", "resources": resources});
        // Two and a half seconds go by between a reservation and the pod, and between its end and Kueue's word of it.
        let runs = format!("{}ms", (minutes * 60_000 / self.speed - 2_500).max(500));
        let template = json!({"metadata": {"annotations": {RUNS_FOR: runs}},
                              "spec": {"restartPolicy": "Never", "containers": [container]}});
        json!({"apiVersion": "batch/v1", "kind": "Job",
               "metadata": {"name": job, "namespace": self.name, "labels": {QUEUE: queue, "app": format!("eval-{minutes}")}, "annotations": {GATES: GATE}},
               "spec": {"parallelism": 1, "completions": 1, "suspend": true, "template": template}})
    }

    /// What the selector's jobs promise.
    fn slo(&self, name: &str, finish_by: Timestamp, minutes: i64) -> Value {
        let runtime = format!("{minutes}m");
        json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO", "metadata": {"name": name, "namespace": self.name},
               "spec": {"selector": {"matchLabels": {"app": format!("eval-{minutes}")}}, "finishBy": calendar::rfc3339(finish_by, UTC),
                        "deadlinePolicy": "Hard", "expectedRuntime": {"p50": runtime, "p90": runtime},
                        "interruption": {"tolerance": "None"}}})
    }

    async fn workloads(&self) -> Vec<Value> {
        self.plane.admin.listed(KUEUE, "Workload", &self.name).await.unwrap_or_default()
    }

    fn rehearsal(&self) -> &str {
        &self.rehearsal
    }

    /// An hour by the controller's clock.
    fn hour(&self) -> Duration {
        Duration::from_millis(u64::try_from(3_600_000 / self.speed).expect("an hour has a length"))
    }
}

/// Whether a Workload's condition holds, and since when.
fn condition(workload: &Value, kind: &str) -> Option<Timestamp> {
    let conditions = workload["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|one| one["type"] == kind && one["status"] == "True")?;
    calendar::parse_instant(found["lastTransitionTime"].as_str()?).ok()
}

/// The job a Workload was made of.
fn owner(workload: &Value) -> &str {
    workload.pointer("/metadata/ownerReferences/0/name").and_then(Value::as_str).unwrap_or_default()
}
