//! Memory of a hundred thousand pods as the controller keeps them, from objects as an API server sends them.

use std::time::Instant;

use kube::api::DynamicObject;
use serde_json::{Value, json};
use stagger::clock::Clock;
use stagger::controller::kinds::KINDS;
use stagger::controller::project::project;
use stagger::controller::rows::{Change, Rows};
use stagger::controller::scope::Scope;

use super::looks::{NOON, settings};
use super::process::{most_kib, resident_kib};

const PODS: usize = 100_000;
/// Pods are of so many templates, each with its own requests, labels and tolerations.
const TEMPLATES: usize = 40;
/// Pods of a group.
const MEMBERS: usize = 8;

pub fn measure() {
    let at = KINDS.iter().position(|kind| kind.kind == "Pod").expect("pods are watched");
    let api = KINDS[at].api(0);
    let rows = Rows::default();
    let before = resident_kib(std::process::id());
    let mut sent = 0;
    rows.take(at, Change::Begin);
    for number in 0..PODS {
        let text = pod(number).to_string();
        sent += text.len();
        let object: DynamicObject = serde_json::from_str(&text).expect("a pod is an object");
        rows.take(at, Change::Listed(project(object, &api, &Clock::WALL)));
    }
    rows.take(at, Change::Complete);
    let kept = resident_kib(std::process::id()) - before;
    println!("{PODS} pods of {} bytes each are kept in {} MiB", sent / PODS, kept / 1024);
    let begun = Instant::now();
    let (told, peak) = rows.read(|_, lent| {
        let (mut told, mut peak) = (0, 0);
        for make in lent.values() {
            let pods = make();
            told += pods.iter().filter(|pod| pod.label("app").is_some()).count();
            peak = peak.max(resident_kib(std::process::id()) - before);
        }
        (told, peak)
    });
    println!("{told} are read in {} ms, with {} MiB while that lasts", begun.elapsed().as_millis(), peak / 1024);
    let (begun, scope) = (Instant::now(), Scope::default());
    let assembled = rows.read(|rows, lent| scope.look_lent(rows, lent, NOON, &settings()));
    let kept = resident_kib(std::process::id()) - before;
    let (groups, took) = (assembled.observed.len(), begun.elapsed().as_millis());
    println!(
        "{groups} groups are put together of them in {took} ms; rows and what is known of groups take {} MiB",
        kept / 1024
    );
    println!("{} MiB were taken at most", most_kib(std::process::id()).saturating_sub(before) / 1024);
}

/// Two texts of eight and twelve hexadecimal digits, as unlike from pod to pod as a UID's.
fn unlike(number: usize) -> (String, String) {
    let mixed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (format!("{:08x}", mixed >> 32), format!("{:012x}", mixed & 0xFFFF_FFFF_FFFF))
}

/// A pod of a training job, as it stands in an API server while it runs.
fn pod(number: usize) -> Value {
    let environment: Vec<Value> =
        (0..20).map(|at| json!({"name": format!("SETTING_{at}"), "value": "x".repeat(40)})).collect();
    let mounts = json!([{"name": "data", "mountPath": "/data"}, {"name": "token", "mountPath": "/var/run/secrets"}]);
    let (group, template) = (number / MEMBERS, number / MEMBERS % TEMPLATES);
    let (begin, rest) = unlike(number);
    // What it has from its template it shares with its group.
    let (owner, owner_rest) = unlike(PODS + group);
    let (gpus, memory) = ((1 + template % 8).to_string(), format!("{}Gi", 16 * (1 + template % 5)));
    let resources = json!({"requests": {"nvidia.com/gpu": gpus, "cpu": "8", "memory": memory}, "limits": {"nvidia.com/gpu": gpus, "memory": memory}});
    let second = |at: usize| format!("2026-11-{:02}T{:02}:{:02}:{:02}Z", 1 + at % 30, at % 24, at / 7 % 60, at % 60);
    let mut labels = json!({"kueue.x-k8s.io/queue-name": format!("queue-{}", group % 50), "kueue.x-k8s.io/managed": "true",
                            "kueue.x-k8s.io/pod-group-name": format!("train-{owner}-{group}"), "app": format!("train-{template}"),
                            "stagger.dev/tenant": format!("tenant-{}", group % 20), "stagger.dev/tenant-uid": "705ab4f5-6393-11e8-b7cc-42010a800002"});
    // Teams label as they like.
    labels[format!("team.example/part-{}", template % 7)] = json!(group.to_string());
    let mut tolerations = vec![json!({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"})];
    tolerations.extend(
        (0..template % 3).map(|at| json!({"key": format!("pool-{at}"), "value": owner, "effect": "NoSchedule"})),
    );
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-11-30T12:00:07Z"});
    let conditions =
        ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("train-{group}-worker-{}-{}", number % MEMBERS, &rest[..5]), "namespace": format!("team-{}", group % 200),
            "uid": format!("{begin}-6393-11e8-b7cc-{rest}"), "resourceVersion": number.to_string(), "creationTimestamp": second(number),
            "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Training", "name": format!("train-{group}"),
                                 "uid": format!("{owner}-6393-11e8-b7cc-{owner_rest}"), "controller": true, "blockOwnerDeletion": true}],
            "labels": labels,
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": MEMBERS.to_string(), "stagger.dev/planned-start": second(group), "stagger.dev/plan": "main"},
            "finalizers": ["kueue.x-k8s.io/managed"],
            "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "time": "2026-11-30T12:00:00Z",
                               "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}}}],
        },
        "spec": {
            "containers": [{"name": "main", "image": "registry.example/train:7", "command": ["python", "train.py"], "env": environment,
                            "resources": resources, "volumeMounts": mounts, "imagePullPolicy": "IfNotPresent"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "token", "emptyDir": {}}],
            "nodeName": format!("gpu-{}", number % 1000), "restartPolicy": "Never", "serviceAccountName": "default", "priority": template % 4,
            "tolerations": tolerations,
        },
        "status": {
            "phase": "Running", "podIP": "10.1.2.3", "hostIP": "10.0.0.3", "startTime": second(number + 5), "qosClass": "Burstable",
            "conditions": conditions,
            "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0, "image": "registry.example/train:7",
                                   "imageID": format!("registry.example/train@sha256:{number:064}"), "state": {"running": {"startedAt": "2026-11-30T12:00:07Z"}}}],
        },
    })
}
