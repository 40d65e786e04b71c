//! The controller at scale, on the control plane of the tests: 5,000 Workloads in 50 queues.
//!
//! Four things are measured in one run: how fast Kueue admits on its own, how fast gates can go at all and Kueue admits
//! behind them (a bare loop of patches, without a plan), the same by the controller, and what the controller costs while
//! thousands wait and nothing happens. Each rate is told with the processor time that every process spent on a Workload, for
//! they all share the machine. Workloads stand alone, without jobs, so that neither job controllers nor pods are measured.
//! With `rates` as its argument it ends with the rates; with `pods` it measures how much memory pods take instead, with
//! `looks` what ten thousand Workloads take and how long a turn does.

#![expect(dead_code, unused_imports, reason = "tests use more of the plane than a measurement")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

mod looks;
#[path = "../../tests/cluster/person.rs"]
mod person;
#[path = "../../tests/cluster/plane/mod.rs"]
mod plane;
mod pods;
mod process;
#[path = "../../tests/cluster/wait.rs"]
mod wait;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use chrono_tz::UTC;
use futures::{StreamExt, stream};
use kube::api::{DynamicObject, ListParams, PartialObjectMeta};
use serde_json::{Value, json};
use stagger::calendar;
use stagger::kueue::release::annotation;
use stagger::units::Timestamp;

use person::documents;
use plane::{Part, Plane, port};
use process::{cpu_micros, resident_kib};
use wait::{http, until};

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
const GPU: &str = "nvidia.com/gpu";
const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
const QUEUES: usize = 50;
const EACH: usize = 100;
const ALL: usize = QUEUES * EACH;
/// Requests under way at once.
const AT_ONCE: usize = 32;
const BOUND: Duration = Duration::from_mins(10);
const IDLE: Duration = Duration::from_mins(1);
const QUIET: Duration = Duration::from_secs(15);

fn main() {
    if std::env::args().any(|argument| argument == "pods") {
        return pods::measure();
    }
    if std::env::args().any(|argument| argument == "looks") {
        return looks::measure();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(async {
        let plane = plane::start().await;
        let (part, metrics) = rates(&plane).await;
        if std::env::args().all(|argument| argument != "rates") {
            rest(&plane, &part, &metrics).await;
        }
    });
}

fn queue(at: usize, hold: bool) -> Value {
    let quota = json!([{"name": "paper", "resources": [{"name": GPU, "nominalQuota": EACH}]}]);
    let spec = json!({"namespaceSelector": {}, "stopPolicy": if hold { "Hold" } else { "None" },
                      "resourceGroups": [{"coveredResources": [GPU], "flavors": quota}]});
    json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": format!("queue-{at}")}, "spec": spec})
}

fn workload(wave: &str, at: usize, gated: bool) -> Value {
    let container =
        json!({"name": "main", "image": "none", "resources": {"requests": {GPU: "1"}, "limits": {GPU: "1"}}});
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
    let annotations = if gated { json!({GATES: "stagger.dev/planner"}) } else { json!({}) };
    json!({"apiVersion": KUEUE, "kind": "Workload",
           "metadata": {"name": format!("{wave}-{at}"), "namespace": "scale", "annotations": annotations, "labels": {"app": wave}},
           "spec": {"queueName": format!("queue-{}", at % QUEUES), "active": true,
                    "podSets": [{"name": "main", "count": 1, "template": template}]}})
}

async fn each(plane: &Plane, objects: impl IntoIterator<Item = Value>) {
    let one = async |object: Value| {
        drop(plane.admin.create(&object).await.unwrap_or_else(|refused| panic!("{}", refused.message)));
    };
    stream::iter(objects).map(one).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// Takes the gates off a wave with nothing else to do.
async fn bare(plane: &Plane) {
    let steps = json!([{"op": "remove", "path": annotation(GATES)}]);
    let one = async |at: usize| {
        let path = format!("/apis/{KUEUE}/namespaces/scale/workloads/bare-{at}");
        let patched = plane.admin.send("PATCH", &path, "application/json-patch+json", &steps).await;
        drop(patched.unwrap_or_else(|refused| panic!("{}", refused.message)));
    };
    stream::iter(0..ALL).map(one).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// How many Workloads hold quota, by what Kueue tells of its queues. Few objects are read: what is measured should not pay
/// for the measuring.
async fn reserved(plane: &Plane) -> usize {
    let queues = plane.admin.listed(KUEUE, "ClusterQueue", "").await.unwrap_or_default();
    let of = |queue: &Value| queue["status"]["reservingWorkloads"].as_u64().unwrap_or(0);
    usize::try_from(queues.iter().map(of).sum::<u64>()).expect("a count")
}

/// The sum of a counter's series.
async fn counted(metrics: &str, name: &str) -> usize {
    let text = http(metrics, "/metrics").await.unwrap_or_default();
    let values = text.lines().filter(|line| line.starts_with(name)).filter_map(|line| line.rsplit(' ').next());
    values.filter_map(|value| value.parse::<usize>().ok()).sum()
}

/// Seconds until `count` says all.
async fn took(what: &str, since: Instant, mut count: impl AsyncFnMut() -> usize) -> f64 {
    loop {
        let some = count().await;
        if some >= ALL {
            return since.elapsed().as_secs_f64();
        }
        assert!(since.elapsed() < BOUND, "{some} of {ALL} {what} after {BOUND:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn controller(plane: &Plane) -> (Part, String) {
    let metrics = format!("127.0.0.1:{}", port());
    let flags = vec![
        "controller".to_owned(),
        format!("--kubeconfig={}", plane.admin.kubeconfig().display()),
        format!("--metrics-listen={metrics}"),
    ];
    (Part::start("controller-scale", Path::new(env!("CARGO_BIN_EXE_stagger")), flags, &plane.folder), metrics)
}

/// What all processes of the plane have spent so far.
struct Bill(Vec<(&'static str, u64)>);

impl Bill {
    fn so_far(plane: &Plane, controller: Option<&Part>) -> Self {
        let of = |part: &Mutex<Part>| part.lock().expect("nobody panics with it").pid();
        let pids = [("etcd", of(&plane.etcd)), ("API server", of(&plane.apiserver)), ("Kueue", of(&plane.kueue))];
        let pids = pids.into_iter().chain([("this", Some(std::process::id()))]);
        let pids = pids.chain(controller.map(|part| ("controller", part.pid())));
        Self(pids.filter_map(|(name, pid)| Some((name, cpu_micros(pid?)))).collect())
    }

    /// Since then, in milliseconds for each Workload.
    #[expect(clippy::cast_precision_loss, reason = "a measurement has few digits")]
    fn since(&self, before: &Self) -> String {
        let of = |name: &str| before.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, micros)| *micros);
        let each = |micros: u64| micros as f64 / 1000.0 / ALL as f64;
        let lines = self.0.iter().map(|(name, micros)| format!("{name} {:.1}", each(micros - of(name))));
        format!("ms of a core for each Workload: {}", lines.collect::<Vec<_>>().join(", "))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a measurement has few digits")]
async fn rates(plane: &Plane) -> (Part, String) {
    let admin = &plane.admin;
    admin.define(documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crds"))).await;
    for namespace in ["scale", "stagger-system"] {
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await;
    }
    admin.apply(&json!({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "paper"}})).await;
    for at in 0..QUEUES {
        admin.apply(&queue(at, true)).await;
        let named = json!({"name": format!("queue-{at}"), "namespace": "scale"});
        let spec = json!({"clusterQueue": format!("queue-{at}")});
        admin.apply(&json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": named, "spec": spec})).await;
    }

    // 1. Kueue on its own: everything waits, then its queues are opened.
    each(plane, (0..ALL).map(|at| workload("alone", at, false))).await;
    let (begun, before) = (Instant::now(), Bill::so_far(plane, None));
    for at in 0..QUEUES {
        admin.apply(&queue(at, false)).await;
    }
    let alone = took("are reserved", begun, async || reserved(plane).await).await;
    println!("Kueue on its own reserves quota for {ALL} Workloads in {alone:.1} s: {:.0} a second", ALL as f64 / alone);
    println!("  {}", Bill::so_far(plane, None).since(&before));
    finish(plane, "alone").await;

    // 2. Gates that go as fast as one can patch: what the machine, and Kueue behind a gate, can do at most.
    each(plane, (0..ALL).map(|at| workload("bare", at, true))).await;
    let (begun, before) = (Instant::now(), Bill::so_far(plane, None));
    bare(plane).await;
    let gates = begun.elapsed().as_secs_f64();
    let all = took("are reserved", begun, async || reserved(plane).await).await;
    let bound = ALL as f64 / all;
    println!(
        "a bare loop of patches: last gate {gates:.1} s, last quota {all:.1} s: gates go at {:.0} a second, quota at {bound:.0}",
        ALL as f64 / gates
    );
    println!("  {}", Bill::so_far(plane, None).since(&before));
    finish(plane, "bare").await;

    // 3. The same by the plan.
    let spec = json!({"mode": "Enforce", "horizon": "12h"});
    admin.apply(&json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": "all"}, "spec": spec})).await;
    let due = Timestamp(stagger::clock::now().0 + 10 * 3600);
    let promise = json!({"selector": {"matchLabels": {"app": "gated"}}, "finishBy": calendar::rfc3339(due, UTC),
                         "deadlinePolicy": "Hard", "expectedRuntime": {"p50": "4h", "p90": "4h"}});
    let named = json!({"name": "gated", "namespace": "scale"});
    admin
        .apply(
            &json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO", "metadata": named, "spec": promise}),
        )
        .await;
    each(plane, (0..ALL).map(|at| workload("gated", at, true))).await;
    let begun = Instant::now();
    let (part, metrics) = controller(plane);
    // By what Kueue has given: the controller itself counts a release when its loop next comes round.
    until("the first one is reserved", BOUND, async || {
        (reserved(plane).await > 0).then_some(()).ok_or_else(|| "none".to_owned())
    })
    .await;
    let first = begun.elapsed().as_secs_f64();
    let before = Bill::so_far(plane, Some(&part));
    let gates = took("are let go", begun, async || {
        let gone = counted(&metrics, "stagger_controller_releases_total").await;
        // By what is still held: of a write whose answer was lost nobody counts the release.
        if gone == 0 { 0 } else { ALL.saturating_sub(counted(&metrics, "stagger_controller_gates_held").await) }
    })
    .await;
    let all = took("are reserved", begun, async || reserved(plane).await).await;
    let rate = ALL as f64 / (all - first);
    println!(
        "by the plan: first quota {first:.1} s after the controller, last gate {gates:.1} s, last quota {all:.1} s: quota at {rate:.0} a second, {:.2} times Kueue's rate behind gates, {:.2} times Kueue's rate without any",
        rate / bound,
        rate * alone / ALL as f64
    );
    println!("  {}", Bill::so_far(plane, Some(&part)).since(&before));
    (part, metrics)
}

/// What it costs while they run and nothing happens, and then while as many again wait behind them.
async fn rest(plane: &Plane, part: &Part, metrics: &str) {
    let pid = part.pid().expect("it runs");
    quiet(metrics).await;
    settled(plane).await;
    println!("{ALL} run: {}", idle(pid).await);
    each(plane, (0..ALL).map(|at| workload("waits", at, true))).await;
    took("are held", Instant::now(), async || counted(metrics, "stagger_controller_gates_held").await).await;
    quiet(metrics).await;
    let since = Instant::now();
    settled(plane).await;
    println!("Kueue writes statuses for {} s more", since.elapsed().as_secs());
    println!("{ALL} run and {ALL} wait: {}", idle(pid).await);
}

/// Waits until the controller has written nothing for a while.
async fn quiet(metrics: &str) {
    let (mut known, mut since) = (0, Instant::now());
    while since.elapsed() < QUIET {
        let written = counted(metrics, "stagger_controller_writes_total").await;
        if written != known {
            (known, since) = (written, Instant::now());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Waits until nobody has written a Workload for a while: Kueue goes on with its first condition on thousands of them when
/// the controller has long nothing to write any more, and each is a change that it must look at.
async fn settled(plane: &Plane) {
    let workloads = plane.admin.api(KUEUE, "Workload", "scale");
    let versions = async || {
        let listed = workloads.list_metadata(&ListParams::default()).await.expect("Workloads are listed");
        let version =
            |it: &PartialObjectMeta<DynamicObject>| (it.metadata.name.clone(), it.metadata.resource_version.clone());
        listed.items.iter().map(version).collect::<BTreeSet<_>>()
    };
    let begun = Instant::now();
    let mut known = versions().await;
    loop {
        tokio::time::sleep(QUIET).await;
        let now = versions().await;
        if now == known {
            return;
        }
        assert!(begun.elapsed() < BOUND, "Workloads are written all the time");
        known = now;
    }
}

/// What a minute of nothing costs.
#[expect(clippy::cast_precision_loss, reason = "a measurement has few digits")]
async fn idle(pid: u32) -> String {
    let (before, since) = (cpu_micros(pid), Instant::now());
    tokio::time::sleep(IDLE).await;
    let share = (cpu_micros(pid) - before) as f64 / since.elapsed().as_micros() as f64;
    format!("{:.1} % of a core, {} MiB", share * 100.0, resident_kib(pid) / 1024)
}

/// Ends a wave, so that its quota is free.
async fn finish(plane: &Plane, wave: &str) {
    let one = async |at: usize| {
        let workload = workload(wave, at, false);
        plane.admin.delete(&workload).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        // Kueue keeps what it has admitted until its finalizer goes.
        let bare = json!({"metadata": {"finalizers": null}});
        drop(plane.admin.merge(&workload, &bare).await);
    };
    stream::iter(0..ALL).map(one).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    let begun = Instant::now();
    while reserved(plane).await > 0 {
        assert!(begun.elapsed() < BOUND, "they are not gone");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
