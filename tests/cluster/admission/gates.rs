//! Kueue takes up gated work when its gate goes, not before, and nobody but us takes the gate away.

use std::time::Duration;

use serde_json::{Value, json};

use super::{EVALS, GATE, GATES, GPU, Installed, KUEUE, QUEUE, grant, installed};
use crate::person::Person;
use crate::plane::Plane;
use crate::shared::{alone_on_plane, on_plane};
use crate::wait::{http, until};

const SOON: Duration = Duration::from_secs(40);

fn template(gpus: u32) -> Value {
    let resources = json!({"limits": {GPU: gpus.to_string()}, "requests": {GPU: gpus.to_string()}});
    json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none", "resources": resources}]}})
}

fn job(name: &str, queue: &str) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job",
           "metadata": {"name": name, "namespace": EVALS, "labels": {QUEUE: queue}},
           "spec": {"parallelism": 1, "completions": 1, "template": template(1)}})
}

/// The Workload that Kueue has made of an object, or is itself the object.
async fn workload(admin: &Person, owner: &str) -> Result<Value, String> {
    let all = admin.listed(KUEUE, "Workload", EVALS).await.map_err(|refused| refused.message)?;
    let is_of = |one: &Value| {
        let owners = one["metadata"]["ownerReferences"].as_array();
        one["metadata"]["name"] == owner || owners.is_some_and(|all| all.iter().any(|of| of["name"] == owner))
    };
    all.into_iter().find(is_of).ok_or_else(|| format!("Kueue has made no Workload of {owner}"))
}

fn reserved(workload: &Value) -> (bool, String) {
    let conditions = workload["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|one| one["type"] == "QuotaReserved");
    found.map_or((false, String::new()), |one| {
        (one["status"] == "True", one["reason"].as_str().unwrap_or("").to_owned())
    })
}

/// Kueue says that it waits for a gate, and holds no quota for it.
async fn waits(admin: &Person, owner: &str) {
    until(&format!("{owner} waits for its gate"), SOON, async || match reserved(&workload(admin, owner).await?) {
        (false, reason) if reason == "AdmissionGated" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

async fn is_taken_up(admin: &Person, owner: &str) {
    until(&format!("{owner} is admitted"), SOON, async || match reserved(&workload(admin, owner).await?) {
        (true, _) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// Takes the gate off, as the controller does.
async fn release(person: &Person, object: &Value) -> Result<Value, crate::person::Refused> {
    person.merge(object, &json!({"metadata": {"annotations": {GATES: null}}})).await
}

async fn editor(plane: &Plane) -> Person {
    let rules =
        json!([{"apiGroups": ["", "batch", "jobset.x-k8s.io", "kueue.x-k8s.io"], "resources": ["*"], "verbs": ["*"]}]);
    grant(plane, "gate-editor", &rules).await;
    plane.user("gate-editor", &[]).await
}

/// Made, gated, stamped; not released by its owner; then released, and gone.
async fn goes_when_released(plane: &Plane, object: Value, owner: &str) {
    let here = installed(plane).await;
    let made = plane.admin.create(&object).await.unwrap_or_else(|refused| panic!("{object}: {}", refused.message));
    assert_eq!(made["metadata"]["annotations"][GATES], GATE, "it is gated: {made}");
    assert_eq!(Installed::stamp_of(&made), here.nlp);
    waits(&plane.admin, owner).await;
    let editor = editor(plane).await;
    let refused = until("the right is known", SOON, async || match release(&editor, &object).await {
        Err(refused) if refused.message.contains("controller") => Ok(refused),
        other => Err(format!("{other:?}")),
    })
    .await;
    assert!(refused.message.contains(GATE), "{}", refused.message);
    // Another edit by the same person goes through.
    editor.merge(&object, &json!({"metadata": {"labels": {"note": "mine"}}})).await.expect("other edits are free");
    waits(&plane.admin, owner).await;
    release(&plane.admin, &object).await.expect("the controller releases");
    is_taken_up(&plane.admin, owner).await;
    plane.admin.delete(&object).await.expect("it is deleted");
}

#[test]
fn a_job_goes_when_released() {
    on_plane(async |plane| goes_when_released(plane, job("one-job", "gated"), "one-job").await);
}

#[test]
fn a_job_set_goes_when_released() {
    let replicated = json!({"name": "workers", "replicas": 1, "template": {"spec": {"parallelism": 2, "completions": 2, "template": template(1)}}});
    let set = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                     "metadata": {"name": "one-set", "namespace": EVALS, "labels": {QUEUE: "gated"}},
                     "spec": {"suspend": true, "replicatedJobs": [replicated]}});
    on_plane(async |plane| goes_when_released(plane, set, "one-set").await);
}

#[test]
fn a_workload_made_beforehand_goes_when_released() {
    let workload = json!({"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "prebuilt", "namespace": EVALS},
                          "spec": {"queueName": "gated", "podSets": [{"name": "main", "count": 1, "template": template(1)}]}});
    on_plane(async |plane| goes_when_released(plane, workload, "prebuilt").await);
}

#[test]
fn a_pod_group_goes_when_every_member_is_released() {
    on_plane(async |plane| {
        installed(plane).await;
        let member = |name: &str| {
            let labels = json!({QUEUE: "gated", "kueue.x-k8s.io/pod-group-name": "ring"});
            let total = json!({"kueue.x-k8s.io/pod-group-total-count": "2"});
            let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
                                 "metadata": {"name": name, "namespace": EVALS, "labels": labels, "annotations": total}});
            pod["spec"] = template(1)["spec"].clone();
            pod
        };
        for name in ["ring-a", "ring-b"] {
            let made = plane.admin.create(&member(name)).await.expect("a member is made");
            assert_eq!(made["metadata"]["annotations"][GATES], GATE, "{name} is gated");
        }
        waits(&plane.admin, "ring").await;
        for name in ["ring-a", "ring-b"] {
            release(&plane.admin, &member(name)).await.expect("a member is released");
        }
        is_taken_up(&plane.admin, "ring").await;
        for name in ["ring-a", "ring-b"] {
            plane.admin.delete(&member(name)).await.expect("a member is deleted");
        }
    });
}

#[test]
fn outside_an_enforced_plan_work_goes_at_once() {
    on_plane(async |plane| {
        installed(plane).await;
        let made = plane.admin.create(&job("open-job", "open")).await.expect("a job is made");
        assert_eq!(made["metadata"]["annotations"][GATES], Value::Null);
        is_taken_up(&plane.admin, "open-job").await;
        plane.admin.delete(&made).await.expect("it is deleted");
    });
}

#[test]
fn gated_work_survives_restarts_of_kueue_and_the_api_server() {
    alone_on_plane(async |plane| {
        installed(plane).await;
        let held = job("survivor", "gated");
        plane.admin.create(&held).await.expect("a job is made");
        waits(&plane.admin, "survivor").await;
        plane.kueue.lock().expect("no test breaks the lock").again();
        until("Kueue is back", Duration::from_secs(90), async || http(&plane.kueue_health, "/readyz").await).await;
        waits(&plane.admin, "survivor").await;
        plane.apiserver.lock().expect("no test breaks the lock").again();
        until("the API server is back", Duration::from_secs(90), async || plane.admin.text("/readyz").await).await;
        waits(&plane.admin, "survivor").await;
        until("it can be released", Duration::from_mins(1), async || {
            release(&plane.admin, &held).await.map(drop).map_err(|refused| refused.message)
        })
        .await;
        is_taken_up(&plane.admin, "survivor").await;
        plane.admin.delete(&held).await.expect("it is deleted");
    });
}
