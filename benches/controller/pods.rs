//! Memory of a hundred thousand pods as the controller keeps them, from objects as an API server sends them.

use kube::api::DynamicObject;
use serde_json::{Value, json};
use stagger::clock::Clock;
use stagger::controller::kinds::KINDS;
use stagger::controller::project::project;
use stagger::controller::rows::{Change, Rows};

use super::process::resident_kib;

const PODS: usize = 100_000;

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
}

/// A pod of a training job, as it stands in an API server while it runs.
fn pod(number: usize) -> Value {
    let environment: Vec<Value> =
        (0..20).map(|at| json!({"name": format!("SETTING_{at}"), "value": "x".repeat(40)})).collect();
    let mounts = json!([{"name": "data", "mountPath": "/data"}, {"name": "token", "mountPath": "/var/run/secrets"}]);
    let resources = json!({"requests": {"nvidia.com/gpu": "1", "cpu": "8", "memory": "64Gi"}, "limits": {"nvidia.com/gpu": "1", "memory": "64Gi"}});
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-11-30T12:00:07Z"});
    let conditions =
        ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("train-{number:06}-worker-0"), "namespace": format!("team-{}", number % 200),
            "uid": format!("705ab4f5-6393-11e8-b7cc-{number:012}"), "resourceVersion": number.to_string(),
            "creationTimestamp": "2026-11-30T12:00:00Z",
            "labels": {"kueue.x-k8s.io/queue-name": "batch", "kueue.x-k8s.io/managed": "true", "kueue.x-k8s.io/pod-group-name": format!("train-{number}"),
                       "app": "train", "stagger.dev/tenant": "nlp", "stagger.dev/tenant-uid": "705ab4f5-6393-11e8-b7cc-42010a800002"},
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": "1", "stagger.dev/planned-start": "2026-11-30T12:00:00Z", "stagger.dev/plan": "main"},
            "finalizers": ["kueue.x-k8s.io/managed"],
            "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "time": "2026-11-30T12:00:00Z",
                               "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}}}],
        },
        "spec": {
            "containers": [{"name": "main", "image": "registry.example/train:7", "command": ["python", "train.py"], "env": environment,
                            "resources": resources, "volumeMounts": mounts, "imagePullPolicy": "IfNotPresent"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "token", "emptyDir": {}}],
            "nodeName": format!("gpu-{}", number % 1000), "restartPolicy": "Never", "serviceAccountName": "default", "priority": 0,
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        },
        "status": {
            "phase": "Running", "podIP": "10.1.2.3", "hostIP": "10.0.0.3", "startTime": "2026-11-30T12:00:05Z", "qosClass": "Burstable",
            "conditions": conditions,
            "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0, "image": "registry.example/train:7",
                                   "imageID": format!("registry.example/train@sha256:{number:064}"), "state": {"running": {"startedAt": "2026-11-30T12:00:07Z"}}}],
        },
    })
}
