//! The webhook beside a bare echo of the same stack and beside Kueue's own webhook, on one machine in one run.
//!
//! Each server is a process of its own, so that its CPU time is its own. Rounds alternate between them and ratios are taken
//! within a round; what is printed is the median. Latency is measured from when a request was due, not from when it could
//! be sent (open loop). Throughput per core is answers over the server's CPU time with every connection busy.

#![expect(dead_code, unused_imports, reason = "tests use more of the plane than a measurement")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

mod load;
#[path = "../../tests/cluster/person.rs"]
mod person;
#[path = "../../tests/cluster/plane/mod.rs"]
mod plane;
#[path = "../controller/process.rs"]
mod process;
mod serve;
#[path = "../../tests/cluster/wait.rs"]
mod wait;

use std::time::Duration;

use load::{Target, closed, open};
use process::resident_kib;
use serde_json::{Value, json};
use serve::Child;

const ROUNDS: usize = 5;
const CONNECTIONS: usize = 8;
/// Object sizes and the rate of the open loop, a second. A megabyte and a half is what etcd takes for an object.
const SIZES: [(&str, usize, u32); 4] =
    [("2 KB", 2 << 10, 400), ("20 KB", 20 << 10, 400), ("200 KB", 200 << 10, 100), ("1.5 MB", 1_500 << 10, 10)];
const SPAN: Duration = Duration::from_secs(2);
/// In memory while it answers, each with a tenant.
const NAMESPACES: usize = 50_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|one| one == "serve") {
        serve::run(&arguments[at + 1..]);
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(measure());
}

/// A review of a new Job in one of the namespaces, `bytes` long.
fn review(bytes: usize) -> Vec<u8> {
    let container = json!({"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "2"}}});
    let object = json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "train", "namespace": "space-7", "labels": {"kueue.x-k8s.io/queue-name": "batch"}},
        "spec": {"suspend": true, "template": {"metadata": {"annotations": {}},
                 "spec": {"restartPolicy": "Never", "containers": [container]}}}});
    let mut review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operation": "CREATE", "namespace": "space-7", "name": "train",
        "kind": {"group": "batch", "version": "v1", "kind": "Job"},
        "resource": {"group": "batch", "version": "v1", "resource": "jobs"},
        "requestKind": {"group": "batch", "version": "v1", "kind": "Job"},
        "requestResource": {"group": "batch", "version": "v1", "resource": "jobs"},
        "userInfo": {"username": "ana", "groups": ["system:authenticated"]},
        "object": object, "oldObject": null, "dryRun": false, "options": null}});
    let missing = bytes.saturating_sub(review.to_string().len() + 40);
    // Many short values, as environment and annotations are, rather than one long one.
    let notes: serde_json::Map<String, Value> =
        (0..missing / 80).map(|at| (format!("note-{at:06}"), json!("x".repeat(62)))).collect();
    review["request"]["object"]["spec"]["template"]["metadata"]["annotations"] = Value::Object(notes);
    review.to_string().into_bytes()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

async fn measure() {
    let plane = plane::start().await;
    let ours = Child::start("stagger", NAMESPACES, &plane.folder);
    let echo = Child::start("echo", 0, &plane.folder);
    let hooks = plane.admin.list("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "").await;
    let hook = hooks.iter().flat_map(|one| one["webhooks"].as_array().cloned().unwrap_or_default());
    let hook = hook.into_iter().find(|hook| hook["name"] == "mjob.kb.io").expect("Kueue has a webhook for jobs");
    let address = hook["clientConfig"]["url"].as_str().expect("it is called by address").to_owned();
    let kueue = plane.kueue.lock().expect("nobody breaks the lock").pid().expect("Kueue runs");
    let targets = [
        Target::new("stagger", &ours.address, &ours.authority, ours.pid()),
        Target::new("echo", &echo.address, &echo.authority, echo.pid()),
        Target::new("Kueue", &address, plane.authority.pem(), kueue),
    ];
    println!("{ROUNDS} rounds of {SPAN:?}, {CONNECTIONS} connections, {NAMESPACES} namespaces known to stagger");
    println!(
        "{:>8} {:>8} {:>10} {:>10} {:>12} {:>14}",
        "review", "server", "p50 µs", "p99 µs", "CPU µs each", "a second, core"
    );
    for (name, bytes, rate) in SIZES {
        let body = review(bytes);
        for target in &targets {
            // Whoever is asked for the first time compiles nothing, but fills caches and pools.
            closed(target, &body, CONNECTIONS, Duration::from_millis(500)).await;
        }
        let mut rows: Vec<[Vec<f64>; 4]> = targets.iter().map(|_| std::array::from_fn(|_| Vec::new())).collect();
        for _ in 0..ROUNDS {
            for (target, row) in targets.iter().zip(&mut rows) {
                let waits = open(target, &body, rate, SPAN, CONNECTIONS).await;
                let busy = closed(target, &body, CONNECTIONS, SPAN).await;
                row[0].push(waits.p50);
                row[1].push(waits.p99);
                row[2].push(busy.cpu_micros_each);
                row[3].push(1e6 / busy.cpu_micros_each);
            }
        }
        for (target, row) in targets.iter().zip(&rows) {
            let [p50, p99, cpu, rate] = row.each_ref().map(|values| median(values.clone()));
            println!("{name:>8} {:>8} {p50:>10.0} {p99:>10.0} {cpu:>12.0} {rate:>14.0}", target.name);
        }
        let ratio = |at: usize, other: usize| {
            let pairs = rows[0][at].iter().zip(&rows[other][at]);
            median(pairs.map(|(ours, theirs)| ours / theirs).collect())
        };
        println!(
            "{name:>8}   p50 {:.2} and p99 {:.2} times the echo's; {:.1} times Kueue's answers per core",
            ratio(0, 1),
            ratio(1, 1),
            ratio(3, 2)
        );
    }
    println!("stagger holds {} MiB with {NAMESPACES} namespaces", resident_kib(ours.pid()) / 1024);
}
