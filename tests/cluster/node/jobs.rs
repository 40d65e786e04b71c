//! Jobs that truly run: they hold GPUs that the node says it has, and end by themselves.

use std::time::Duration;

use serde_json::{Value, json};
use stagger::calendar;
use stagger::clock::Stopwatch;
use stagger::units::Timestamp;

use super::runtime::PAUSE;
use super::{Node, alone_on_node};
use crate::wait::until;

const GPU: &str = "nvidia.com/gpu";

/// What a pod of `gpus` does for `milliseconds`, as a job's template.
pub fn template(gpus: u32, milliseconds: i64) -> Value {
    let resources = json!({"limits": {GPU: gpus.to_string()}, "requests": {GPU: gpus.to_string()}});
    let container = json!({"name": "main", "image": PAUSE, "args": [milliseconds.to_string()], "resources": resources});
    json!({"spec": {"restartPolicy": "Never", "containers": [container]}})
}

/// When a pod's container began and ended, if it has ended well.
pub fn ended(pod: &Value) -> Option<(Timestamp, Timestamp)> {
    let done = pod.pointer("/status/containerStatuses/0/state/terminated")?;
    let time = |key: &str| done[key].as_str().and_then(|text| calendar::parse_instant(text).ok());
    if done["exitCode"] == 0 { Some((time("startedAt")?, time("finishedAt")?)) } else { None }
}

/// What the node tells of its pods, for a failure's message.
fn told(node: &Node, namespace: &str) -> String {
    node.kubectl(&["get", "pods,events", "-n", namespace]).unwrap_or_else(|error| error)
}

#[test]
fn a_job_of_two_gpus_truly_runs_and_a_fifth_gpu_is_waited_for() {
    alone_on_node(async |node| {
        let admin = &node.plane.admin;
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain"}})).await;
        let job = |name: &str, gpus: u32, milliseconds: i64| {
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "plain"},
                   "spec": {"template": template(gpus, milliseconds)}})
        };
        let begin = Stopwatch::start();
        for job in [job("five", 5, 1), job("two", 2, 1500)] {
            admin.create(&job).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
        until("the job of two has ended", Duration::from_mins(1), async || {
            let found = admin.get("batch/v1", "Job", "plain", "two").await.map_err(|refused| refused.message)?;
            if found["status"]["succeeded"] == 1 { Ok(()) } else { Err(told(node, "plain")) }
        })
        .await;
        assert!(begin.millis() >= 1500, "it ran as long as it was told to");
        let pods = admin.list("v1", "Pod", "plain").await;
        let of = |job: &str| pods.iter().find(|pod| pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job);
        let two = of("two").expect("the job had a pod");
        assert!(ended(two).is_some(), "{}", two["status"]);
        assert_eq!(of("five").expect("the job has a pod")["status"]["phase"], "Pending");
        admin
            .delete(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain"}}))
            .await
            .expect("gone");
    });
}
