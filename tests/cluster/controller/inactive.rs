//! A Kueue that ignores gates: work is held through `spec.active` of its Workload, and starts when the plan says.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use stagger::calendar;
use stagger::units::Timestamp;

use super::noon::played;
use super::{GATES, GPU, KUEUE, NOON, QUEUE, Stage, condition, owner};
use crate::admission::{install, uninstall};
use crate::plane::Part;
use crate::shared::alone_on_stage;
use crate::wait::until;

const NAME: &str = "inactive";
const SOON: Duration = Duration::from_mins(1);
const MARK: &str = "stagger.dev/held";

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_stagger"))
}

fn stagger(stage: &Stage<'_>, arguments: &[&str]) -> Output {
    let kubeconfig = format!("--kubeconfig={}", stage.plane.admin.kubeconfig().display());
    Command::new(program()).args(arguments).arg(kubeconfig).output().expect("stagger runs")
}

fn template() -> Value {
    json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}})
}

/// Waits until the webhook knows that Kueue ignores gates: it makes a new Workload inactive.
async fn known(stage: &Stage<'_>) {
    let one = json!({"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "tried", "namespace": NAME},
                     "spec": {"queueName": NAME, "podSets": [{"name": "main", "count": 1, "template": template()}]}});
    until("new Workloads are made inactive", SOON, async || {
        let made = stage.plane.admin.dry_run(&one).await.map_err(|refused| refused.message)?;
        if made["spec"]["active"] == false {
            Ok(())
        } else {
            Err(format!("{}\n{}", made["spec"], stage.controller.tail()))
        }
    })
    .await;
}

async fn workload(stage: &Stage<'_>, job: &str) -> Result<Value, String> {
    let all = stage.workloads().await;
    all.into_iter().find(|one| owner(one) == job).ok_or_else(|| format!("Kueue has made no Workload of {job}"))
}

/// Inactive by our doing, with its start written on it; it holds no quota.
fn is_held(workload: &Value) -> bool {
    workload["spec"]["active"] == false
        && workload["metadata"]["annotations"][MARK] == "inactive"
        && condition(workload, "QuotaReserved").is_none()
}

async fn held(stage: &Stage<'_>, job: &str) -> Value {
    until(&format!("{job} is held"), SOON, async || {
        let found = workload(stage, job).await?;
        if is_held(&found) { Ok(found) } else { Err(found.to_string()) }
    })
    .await
}

async fn active(stage: &Stage<'_>, job: &str) {
    until(&format!("{job} is let go"), SOON, async || {
        let found = workload(stage, job).await?;
        let free = found["spec"]["active"] == true && found["metadata"]["annotations"][MARK] == "released";
        if free { Ok(()) } else { Err(found.to_string()) }
    })
    .await;
}

/// What has made other Kueues activate inactive Workloads: a LimitRange and a RuntimeClass that come (kueue#6711), an edit
/// of the job (kueue#6719).
async fn disturb(stage: &Stage<'_>, job: &str) {
    let admin = &stage.plane.admin;
    let limits = json!([{"type": "Container", "max": {GPU: "8"}}]);
    admin.apply(&json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": NAME, "namespace": NAME}, "spec": {"limits": limits}})).await;
    admin.apply(&json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": NAME}, "handler": NAME})).await;
    let edited = json!({"spec": {"template": {"spec": {"tolerations": [{"key": "edited", "operator": "Exists"}]}}}});
    let named = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job, "namespace": NAME}});
    admin.merge(&named, &edited).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    until("Kueue has taken the edit over", SOON, async || {
        let found = workload(stage, job).await?;
        let tolerations = &found["spec"]["podSets"][0]["template"]["spec"]["tolerations"];
        assert!(is_held(&found), "{found}");
        if tolerations[0]["key"] == "edited" { Ok(()) } else { Err(tolerations.to_string()) }
    })
    .await;
}

/// A group of pods is held and let go as one, by its Workload.
async fn group_of_pods(stage: &Stage<'_>) {
    for name in ["ring-a", "ring-b"] {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAME,
            "labels": {QUEUE: NAME, "kueue.x-k8s.io/pod-group-name": "ring"},
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2"}}});
        pod["spec"] = stage.job("pod", NAME, 1, 60)["spec"]["template"]["spec"].clone();
        stage.plane.admin.create(&pod).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    }
    until("the group was held and let go", SOON, async || {
        let all = stage.workloads().await;
        let found = all.into_iter().find(|one| one["metadata"]["name"] == "ring").ok_or("there is no Workload")?;
        let released = found["metadata"]["annotations"][MARK] == "released";
        if released && condition(&found, "Admitted").is_some() { Ok(()) } else { Err(found.to_string()) }
    })
    .await;
}

/// Why single pods are not held: of a pod of a Deployment Kueue makes a Workload that says no more than that of any pod.
async fn single_pods(stage: &Stage<'_>) {
    let admin = &stage.plane.admin;
    let spec = json!({"containers": [{"name": "main", "image": "none"}]});
    let labels = json!({"app": "serving", QUEUE: NAME});
    let template = json!({"metadata": {"labels": labels}, "spec": spec});
    let lone = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lone", "namespace": NAME, "labels": {"app": "lone", QUEUE: NAME}},
                      "spec": spec});
    let serving = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "serving", "namespace": NAME},
                         "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "serving"}}, "template": template}});
    for object in [&lone, &serving] {
        admin.create(object).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    }
    let keys = |value: &Value| value.as_object().map(|members| members.keys().cloned().collect::<Vec<_>>());
    let says = |workload: &Value| {
        let (metadata, set) = (&workload["metadata"], &workload["spec"]["podSets"][0]);
        let owner = metadata["ownerReferences"][0]["kind"].clone();
        (keys(&metadata["labels"]), keys(&metadata["annotations"]), keys(&set["template"]), owner)
    };
    let both = until("Kueue has made a Workload of each", SOON, async || {
        let all = stage.workloads().await;
        let of = |pod: &str| all.iter().find(|one| owner(one).starts_with(pod)).map(says);
        of("lone").zip(of("serving-")).ok_or_else(|| format!("{} Workloads", all.len()))
    })
    .await;
    assert_eq!(both.0, both.1);
    assert_eq!(both.0.3, "Pod");
    admin.delete(&serving).await.unwrap_or_else(|refused| panic!("{}", refused.message));
}

/// Who may write Workloads may activate one against the plan: it runs, and the mark says that we hold it no longer.
async fn overruled(stage: &Stage<'_>) {
    let admin = &stage.plane.admin;
    let mut slo = stage.slo("later", Timestamp(NOON.0 + 40 * 3600), 61);
    slo["spec"]["notBefore"] = json!(calendar::rfc3339(Timestamp(NOON.0 + 30 * 3600), chrono_tz::UTC));
    admin.apply(&slo).await;
    let made = admin.create(&stage.job("overruled", NAME, 1, 61)).await;
    made.unwrap_or_else(|refused| panic!("{}", refused.message));
    let found = held(stage, "overruled").await;
    let patch = json!({"spec": {"active": true}});
    admin.merge(&found, &patch).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    active(stage, "overruled").await;
    until("it runs", SOON, async || {
        let found = workload(stage, "overruled").await?;
        if condition(&found, "Admitted").is_some() { Ok(()) } else { Err(found["status"].to_string()) }
    })
    .await;
}

#[test]
fn where_kueue_ignores_gates_work_is_held_through_its_workload_and_starts_as_planned() {
    alone_on_stage(async |plane| {
        let admin = &plane.admin;
        plane.kueue_reads_gates(false).await;
        let _ours = install(plane).await;
        let mut stage = Stage::set(plane, NAME, &[(NAME, 4)], 180).await;
        stage.ready().await;
        known(&stage).await;
        admin.apply(&stage.slo("evals", Timestamp(NOON.0 + 8 * 3600), 60)).await;

        // 1. Four, of which two fit; one of the others carries a gate that nobody reads.
        for at in 1..=4 {
            let mut job = stage.job(&format!("eval-{at}"), NAME, 2, 60);
            if at != 4 {
                job["metadata"]["annotations"].as_object_mut().expect("annotations").remove(GATES);
            }
            admin.create(&job).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
        // What its author made inactive is the author's to activate.
        let theirs = json!({"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "theirs", "namespace": NAME},
                            "spec": {"queueName": NAME, "active": false, "podSets": [{"name": "main", "count": 1, "template": template()}]}});
        admin.create(&theirs).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        let waiting = until("two run, and two are held until a start that is written on them", SOON, async || {
            let all = stage.workloads().await;
            let running = all.iter().filter(|one| condition(one, "QuotaReserved").is_some()).count();
            let planned = |one: &&Value| one["metadata"]["annotations"]["stagger.dev/planned-start"].is_string();
            let waiting: Vec<&Value> = all.iter().filter(|one| is_held(one)).filter(planned).collect();
            let names: Vec<String> = waiting.iter().map(|one| owner(one).to_owned()).collect();
            if running == 2 && names.len() == 2 { Ok(names) } else { Err(format!("{running} run, held: {names:?}")) }
        })
        .await;
        disturb(&stage, &waiting[0]).await;
        let told = stagger(&stage, &["doctor", "-n", NAME]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("work is held through its Workload's spec.active"), "{told}");

        // 2. The day goes by as with gates.
        let bound = stage.hour() * 8;
        let day = played(&mut stage, 4, &[NAME], bound).await;
        assert_eq!(day.peak, 4, "never more than there is");
        let mut starts: Vec<i64> = day.reserved.values().map(|at| (at.0 - NOON.0) / 60).collect();
        starts.sort_unstable();
        assert!(starts[2] - starts[1] >= 50, "two start when the first two have ended: {starts:?}");
        let found = admin.get(KUEUE, "Workload", NAME, "theirs").await.expect("it is there");
        assert_eq!(found["spec"]["active"], false, "it is not ours to activate");
        until("each has run once, although Kueue counts each hold as an eviction", SOON, async || {
            let slo = admin.get("stagger.dev/v1alpha1", "WorkloadSLO", NAME, "evals").await;
            let attempts = slo.map_err(|refused| refused.message)?["status"]["attempts"].clone();
            if attempts == 4 { Ok(()) } else { Err(attempts.to_string()) }
        })
        .await;
        group_of_pods(&stage).await;
        single_pods(&stage).await;
        overruled(&stage).await;

        // 3. Nobody leads: the watchdog, and the way to uninstall.
        stage.controller.kill();
        for (job, way) in [("late-1", "watchdog"), ("late-2", "uninstall")] {
            let made = admin.create(&stage.job(job, NAME, 2, 60)).await;
            made.unwrap_or_else(|refused| panic!("{}", refused.message));
            held(&stage, job).await;
            let mut watchdog = None;
            if way == "watchdog" {
                let kubeconfig = format!("--kubeconfig={}", admin.kubeconfig().display());
                let words = ["watchdog", "--namespace=inactive", "--stale-after=1s", "--all-after=1s", &kubeconfig];
                let flags = words.map(str::to_owned).to_vec();
                watchdog = Some(Part::start("watchdog-inactive", program(), flags, &plane.folder));
            } else {
                let released = stagger(&stage, &["controller", "--release-all"]);
                assert!(released.status.success(), "{}", String::from_utf8_lossy(&released.stderr));
            }
            active(&stage, job).await;
            drop(watchdog);
        }
        uninstall(plane).await;
        plane.kueue_reads_gates(true).await;
    });
}
