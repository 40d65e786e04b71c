//! What others have lost work by, on a real Kueue with our webhook and controller; docs/controller.md names each case's test.

use std::time::Duration;

use serde_json::{Value, json};
use stagger::calendar;
use stagger::units::Timestamp;

use super::{GATE, GATES, KUEUE, NOON, QUEUE, Stage, condition, owner};
use crate::admission::{install, uninstall};
use crate::shared::alone_on_stage;
use crate::wait::{http, until};

const NAME: &str = "traps";
const SOON: Duration = Duration::from_mins(1);
const OTHER: &str = "other.example/hold";
const PREBUILT: &str = "kueue.x-k8s.io/prebuilt-workload-name";
const GROUP: &str = "kueue.x-k8s.io/pod-group-name";

fn job_named(name: &str) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": NAME}})
}

async fn made(stage: &Stage<'_>, object: &Value) -> Value {
    stage.plane.admin.create(object).await.unwrap_or_else(|refused| panic!("{object}: {}", refused.message))
}

async fn merged(stage: &Stage<'_>, object: &Value, patch: Value) {
    stage.plane.admin.merge(object, &patch).await.unwrap_or_else(|refused| panic!("{}", refused.message));
}

/// The Workload of an owner, or of that name.
async fn workload(stage: &Stage<'_>, name: &str) -> Result<Value, String> {
    let all = stage.workloads().await;
    let found = all.into_iter().find(|one| owner(one) == name || one["metadata"]["name"] == name);
    found.ok_or_else(|| format!("there is no Workload of {name}"))
}

async fn admitted(stage: &Stage<'_>, name: &str) -> Value {
    until(&format!("{name} is admitted"), SOON, async || {
        let found = workload(stage, name).await?;
        if condition(&found, "Admitted").is_some() {
            return Ok(found);
        }
        Err(format!("{}{}\n{}", found["metadata"], found["status"], stage.controller.tail()))
    })
    .await
}

/// Kueue says that it waits for a gate.
async fn gated(stage: &Stage<'_>, name: &str) -> Value {
    until(&format!("{name} waits for a gate"), SOON, async || {
        let found = workload(stage, name).await?;
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let waits = conditions.iter().any(|one| one["reason"] == "AdmissionGated");
        if waits { Ok(found) } else { Err(format!("{}{}", found["metadata"], found["status"])) }
    })
    .await
}

async fn gates(stage: &Stage<'_>, job: &str) -> String {
    let found = stage.plane.admin.get("batch/v1", "Job", NAME, job).await.expect("the job is there");
    found["metadata"]["annotations"][GATES].as_str().unwrap_or_default().to_owned()
}

/// What the jobs promise that are not to start yet.
fn later(stage: &Stage<'_>, minutes: i64, not_before: Timestamp) -> Value {
    let mut slo = stage.slo(&format!("later-{minutes}"), Timestamp(NOON.0 + 40 * 3600), minutes);
    slo["spec"]["notBefore"] = json!(calendar::rfc3339(not_before, chrono_tz::UTC));
    slo
}

/// Two controllers hold one job: each takes off its own gate, in any order.
async fn two_gates(stage: &Stage<'_>) {
    let mut job = stage.job("both", NAME, 1, 600);
    job["metadata"]["annotations"][GATES] = json!(format!("{OTHER},{GATE}"));
    made(stage, &job).await;
    until("ours is off and theirs is on", SOON, async || match gates(stage, "both").await {
        left if left == OTHER => Ok(()),
        other => Err(other),
    })
    .await;
    let waits = gated(stage, "both").await;
    assert!(condition(&waits, "QuotaReserved").is_none());
    merged(stage, &job_named("both"), json!({"metadata": {"annotations": {GATES: null}}})).await;
    admitted(stage, "both").await;
}

/// T1: of a job that may change its size, Kueue does not pass the release on to its Workload.
async fn elastic(stage: &Stage<'_>) {
    let mut job = stage.job("elastic", NAME, 1, 600);
    job["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = json!("true");
    made(stage, &job).await;
    admitted(stage, "elastic").await;
    assert_eq!(gates(stage, "elastic").await, "");
}

/// T2: a gate on the job of a Workload that was made beforehand has no effect, and the Workload's holds.
async fn prebuilt(stage: &Stage<'_>) {
    let job = {
        let mut job = stage.job("of-it", NAME, 1, 600);
        job["metadata"]["labels"][PREBUILT] = json!("beforehand");
        job["metadata"]["annotations"].as_object_mut().expect("annotations").remove(GATES);
        job
    };
    // Kueue compares both, so what the API server fills in must be in both.
    let filled = stage.plane.admin.dry_run(&stage.job("filled", NAME, 1, 600)).await.expect("a job may be made");
    let template = json!({"spec": filled["spec"]["template"]["spec"]});
    let workload = json!({"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "beforehand", "namespace": NAME},
                          "spec": {"queueName": NAME, "podSets": [{"name": "main", "count": 1, "template": template}]}});
    let workload = made(stage, &workload).await;
    assert_eq!(workload["metadata"]["annotations"][GATES], GATE, "the webhook holds it: {workload}");
    let job = made(stage, &job).await;
    assert_eq!(job["metadata"]["annotations"][GATES], Value::Null, "and not its job");
    admitted(stage, "beforehand").await;
}

/// T3: a pod that takes another's place in a group that was released is not gated, and the group goes on.
async fn replaced_pod(stage: &Stage<'_>) {
    let admin = &stage.plane.admin;
    let member = |name: &str| {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAME,
            "labels": {QUEUE: NAME, GROUP: "ring"}, "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"}}});
        pod["spec"] = stage.job("pod", NAME, 1, 600)["spec"]["template"]["spec"].clone();
        pod
    };
    for name in ["ring-a", "ring-b"] {
        assert_eq!(made(stage, &member(name)).await["metadata"]["annotations"][GATES], GATE);
    }
    admitted(stage, "ring").await;
    until("a member fails that has run", SOON, async || {
        let found = admin.get("v1", "Pod", NAME, "ring-b").await.map_err(|refused| refused.message)?;
        match found["status"]["phase"].as_str() {
            Some("Failed") => return Ok(()),
            Some("Running") => {
                let failed = json!({"status": {"phase": "Failed"}});
                admin.merge_status(&found, &failed).await.map_err(|refused| refused.message)?;
            }
            _ => {}
        }
        Err(found["status"].to_string())
    })
    .await;
    // The webhook hears of releases by a watch.
    let replacement = until("a new member is not gated", SOON, async || {
        let tried = admin.dry_run(&member("ring-c")).await.map_err(|refused| refused.message)?;
        let gates = &tried["metadata"]["annotations"][GATES];
        if gates.is_null() { Ok(member("ring-c")) } else { Err(gates.to_string()) }
    })
    .await;
    made(stage, &replacement).await;
    until("the new member runs", SOON, async || {
        let found = admin.get("v1", "Pod", NAME, "ring-c").await.map_err(|refused| refused.message)?;
        let gates = &found["spec"]["schedulingGates"];
        if gates.as_array().is_none_or(Vec::is_empty) { Ok(()) } else { Err(gates.to_string()) }
    })
    .await;
    assert!(condition(&workload(stage, "ring").await.expect("the group is there"), "Admitted").is_some());
}

/// T7: a Workload that is made anew has the job's gate of that moment: held before the release, free after it. And whoever
/// may overrule the plan is not hindered by it.
async fn made_anew_and_overruled(stage: &Stage<'_>) {
    let admin = &stage.plane.admin;
    made(stage, &stage.job("later", NAME, 1, 610)).await;
    let anew = async |before: Value| {
        admin.delete(&before).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        let uid = &before["metadata"]["uid"];
        until("Kueue makes another Workload", SOON, async || {
            let found = workload(stage, "later").await?;
            if found["metadata"]["uid"] == *uid { Err("it is the same".to_owned()) } else { Ok(()) }
        })
        .await;
    };
    anew(gated(stage, "later").await).await;
    assert_eq!(gated(stage, "later").await["metadata"]["annotations"][GATES], GATE);
    // By hand, against the plan.
    merged(stage, &job_named("later"), json!({"metadata": {"annotations": {GATES: null}}})).await;
    let running = admitted(stage, "later").await;
    anew(running).await;
    assert_eq!(admitted(stage, "later").await["metadata"]["annotations"][GATES], Value::Null);
}

/// While Kueue is down nobody can change a job, for its webhook must be asked: a start that comes then is made up for.
async fn while_kueue_is_down(stage: &Stage<'_>) {
    let plane = stage.plane;
    made(stage, &stage.job("meanwhile", NAME, 1, 620)).await;
    gated(stage, "meanwhile").await;
    plane.kueue.lock().expect("no test breaks the lock").kill();
    let start = Timestamp(stage.clock.now().0 + 5 * stage.speed);
    plane.admin.apply(&later(stage, 620, start)).await;
    until("its start has come and cannot be kept", SOON, async || {
        let failed = http(&stage.metrics, "/metrics").await?;
        let failed =
            failed.lines().any(|line| line.starts_with("stagger_controller_writes_total") && line.contains("server"));
        let now = stage.clock.now();
        if failed && now >= start { Ok(()) } else { Err(format!("{now:?} of {start:?}, failed: {failed}")) }
    })
    .await;
    assert_eq!(gates(stage, "meanwhile").await, GATE);
    plane.kueue.lock().expect("no test breaks the lock").again();
    until("Kueue is back", Duration::from_secs(90), async || http(&plane.kueue_health, "/readyz").await).await;
    admitted(stage, "meanwhile").await;
}

#[test]
fn the_traps_that_others_fell_into_lose_no_work() {
    alone_on_stage(async |plane| {
        let _ours = install(plane).await;
        let mut stage = Stage::set(plane, NAME, &[(NAME, 16)], 60).await;
        let far = Timestamp(NOON.0 + 3 * 3600);
        for slo in
            [stage.slo("now", Timestamp(NOON.0 + 40 * 3600), 600), later(&stage, 610, far), later(&stage, 620, far)]
        {
            plane.admin.apply(&slo).await;
        }
        stage.ready().await;
        two_gates(&stage).await;
        elastic(&stage).await;
        prebuilt(&stage).await;
        replaced_pod(&stage).await;
        made_anew_and_overruled(&stage).await;
        while_kueue_is_down(&stage).await;
        uninstall(plane).await;
    });
}
