//! l5d#13702: work that was made while the webhook was away is found when it is back, stamped where that can be told, and
//! told where it cannot.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::shipped::take_mode;
use super::{EVALS, Installed, doctor, file, installed, pod};
use crate::person::documents;
use crate::plane::{Part, Plane, port};
use crate::shared::alone_on_plane;
use crate::wait::{http, until};

const OURS: &str = "stagger.dev/v1alpha1";
/// A namespace that two tenants claim.
const SHARED: &str = "late-shared";
const SINCE: &str = "stagger.dev/tenant-since";
const ATTRIBUTION: &str = "stagger.dev/attribution";
/// Within this everything is found.
const FOUND: Duration = Duration::from_mins(1);
const SOON: Duration = Duration::from_secs(30);

/// Two tenants that share a namespace, each with somebody who acts for it.
async fn share(plane: &Plane) {
    for tenant in ["late-speech", "late-robotics"] {
        let subjects = json!([{"kind": "User", "name": tenant}]);
        let spec = json!({"namespaces": [SHARED], "subjects": subjects});
        let kind = json!({"apiVersion": OURS, "kind": "GpuTenant", "metadata": {"name": tenant}, "spec": spec});
        plane.admin.apply(&kind).await;
    }
    plane.admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SHARED}})).await;
}

/// The controller under its own account, and where it tells its metrics.
async fn controller(plane: &Plane) -> (Part, String) {
    let rights = file("deploy/kustomize/components/controller/rights.yaml");
    for object in documents(&rights) {
        plane.admin.apply(&object).await;
    }
    let token = plane.admin.token("stagger-system", "stagger-controller").await;
    let account = plane.authority.bearer(&plane.server, "stagger-controller-late", &token);
    let metrics = format!("127.0.0.1:{}", port());
    let flags = vec![
        "controller".to_owned(),
        format!("--kubeconfig={}", account.display()),
        format!("--metrics-listen={metrics}"),
    ];
    (Part::start("controller-late", Path::new(env!("CARGO_BIN_EXE_stagger")), flags, &plane.folder), metrics)
}

/// A tenant's condition `Stamped`: status, reason and message.
async fn told(plane: &Plane, tenant: &str) -> (String, String, String) {
    let found = plane.admin.get(OURS, "GpuTenant", "", tenant).await.expect("the tenant is there");
    let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let one = conditions.into_iter().find(|one| one["type"] == "Stamped").unwrap_or_default();
    let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), text("message"))
}

async fn is_told(plane: &Plane, tenant: &str, within: Duration, status: &str, reason: &str, part: &str) {
    until(&format!("{tenant} is told {reason}"), within, async || {
        let found = told(plane, tenant).await;
        if found.0 == status && found.1 == reason && found.2.contains(part) {
            Ok(())
        } else {
            Err(format!("{found:?}"))
        }
    })
    .await;
}

fn checked(plane: &Plane) -> (String, String) {
    let checks = doctor(plane);
    let stamps = checks.iter().find(|check| check["name"] == "stamps").expect("the doctor looks at stamps");
    (stamps["status"].as_str().unwrap_or_default().to_owned(), stamps["message"].to_string())
}

fn job(name: &str) -> Value {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}});
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": EVALS},
           "spec": {"template": template}})
}

fn deployment(name: &str) -> Value {
    let labels = json!({"app": name});
    let container = json!({"name": "main", "image": "none"});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": EVALS},
           "spec": {"replicas": 0, "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}}})
}

/// Makes it while nobody stamps; whoever keeps a policy that asks for a stamp does so of nobody here.
async fn make(plane: &Plane, object: &Value) -> Value {
    let made = plane.admin.create(object).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    assert_eq!(Installed::stamp_of(&made), (String::new(), String::new()), "nobody is there to stamp it");
    made
}

fn created(object: &Value) -> &str {
    object["metadata"]["creationTimestamp"].as_str().expect("an object says when it was made")
}

async fn stamped(plane: &Plane, here: &Installed, version: &str, kind: &str, name: &str) -> Result<Value, String> {
    let found = plane.admin.get(version, kind, EVALS, name).await.map_err(|refused| refused.message)?;
    let is_late = found["metadata"]["annotations"][ATTRIBUTION] == "late";
    if Installed::stamp_of(&found) == here.nlp && is_late { Ok(found) } else { Err(found["metadata"].to_string()) }
}

#[test]
fn work_that_came_unstamped_is_found_within_a_minute_stamped_by_its_namespace_and_told_where_nobody_can_tell() {
    alone_on_plane(async |plane| {
        let here = installed(plane).await;
        share(plane).await;
        let webhook = || here.webhook.lock().expect("no test breaks the lock");
        // 1. Older than what anybody knows of its namespace: whose that was then is not guessed.
        webhook().kill();
        make(plane, &pod("older", EVALS, &json!({}))).await;
        let (mut part, metrics) = controller(plane).await;
        is_told(plane, &here.nlp.0, FOUND, "True", "Stamped", "all work").await;
        let since = until("the namespace says since when", SOON, async || {
            let space = plane.admin.get("v1", "Namespace", "", EVALS).await.map_err(|refused| refused.message)?;
            let since = space["metadata"]["annotations"][SINCE].as_str().map(str::to_owned);
            since.ok_or_else(|| space["metadata"].to_string())
        })
        .await;

        // 2. Nobody of ours is there, and work is made: by a person, and by Kubernetes on his behalf.
        part.kill();
        until("the clock has gone on", SOON, async || {
            let made = plane.admin.dry_run(&pod("clock", EVALS, &json!({}))).await.map_err(|error| error.message)?;
            if created(&made) > since.as_str() { Ok(()) } else { Err(created(&made).to_owned()) }
        })
        .await;
        for object in [pod("late", EVALS, &json!({})), job("late"), deployment("late")] {
            make(plane, &object).await;
        }
        let shared = pod("late-anybodys", SHARED, &json!({}));
        make(plane, &shared).await;
        let of_job = async || {
            let pods = plane.admin.list("v1", "Pod", EVALS).await;
            let one = pods.into_iter().find(|pod| pod["metadata"]["labels"]["job-name"] == "late");
            one.and_then(|pod| pod["metadata"]["name"].as_str().map(str::to_owned)).ok_or("no pod yet".to_owned())
        };
        let child = until("the job has a pod", SOON, of_job).await;

        // 3. Both are back.
        webhook().again();
        part.again();
        here.is_back(&plane.admin).await;
        let back = Instant::now();
        is_told(plane, "late-speech", FOUND, "False", "Shared", "Pod late-shared/late-anybodys").await;
        is_told(plane, "late-robotics", FOUND, "False", "Shared", "Pod late-shared/late-anybodys").await;
        let late = [("v1", "Pod", "late"), ("batch/v1", "Job", "late"), ("apps/v1", "Deployment", "late")];
        for (version, kind, name) in late.into_iter().chain([("v1", "Pod", child.as_str())]) {
            let left = FOUND.saturating_sub(back.elapsed());
            until(&format!("{kind} {name} is stamped"), left, async || stamped(plane, here, version, kind, name).await)
                .await;
        }
        is_told(plane, &here.nlp.0, FOUND, "True", "StampedLate", "Deployment forged-evals/late").await;
        assert!(back.elapsed() < FOUND, "it took {:?}", back.elapsed());
        // The template was read by Kueue and by the job's controller when it was made: nothing is written into it.
        let template = stamped(plane, here, "batch/v1", "Job", "late").await.expect("it is stamped");
        let template = &template["spec"]["template"]["metadata"]["labels"];
        assert!(template["stagger.dev/tenant"].is_null(), "{template}");
        let older = plane.admin.get("v1", "Pod", EVALS, "older").await.expect("it is there");
        assert_eq!(Installed::stamp_of(&older), (String::new(), String::new()));

        // 4. Where people look: the doctor and the metrics.
        let (status, message) = checked(plane);
        assert!(status == "warning" && message.contains("late-anybodys"), "{status}: {message}");
        let page = http(&metrics, "/metrics").await.expect("metrics");
        assert!(page.contains("stagger_controller_unstamped{resource=\"pods\"} 1\n"), "{page}");
        assert!(page.contains("stagger_controller_unstamped{resource=\"jobs\"} 0\n"), "{page}");

        // 5. It is mended: the condition goes.
        plane.admin.delete(&shared).await.expect("it is deleted");
        is_told(plane, "late-speech", SOON, "True", "Stamped", "all work").await;
        is_told(plane, "late-robotics", SOON, "True", "Stamped", "all work").await;
        let (status, message) = checked(plane);
        assert_eq!(status, "ok", "{message}");

        // 6. The webhook is taken away on purpose: nothing is stamped, and what came is found when it is back.
        let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                   "metadata": {"name": "00-stagger"}});
        plane.admin.delete(&configuration).await.expect("it is deleted");
        until("nobody stamps", SOON, async || {
            let made = plane.admin.dry_run(&pod("unwanted", EVALS, &json!({}))).await.map_err(|error| error.message)?;
            let stamp = Installed::stamp_of(&made);
            if stamp == (String::new(), String::new()) { Ok(()) } else { Err(format!("{stamp:?}")) }
        })
        .await;
        make(plane, &pod("unwanted", EVALS, &json!({}))).await;
        is_told(plane, &here.nlp.0, FOUND, "Unknown", "NotWanted", "Pod forged-evals/unwanted").await;
        let (status, message) = checked(plane);
        assert!(status == "unknown" && message.contains("unwanted"), "{status}: {message}");
        let unwanted = plane.admin.get("v1", "Pod", EVALS, "unwanted").await.expect("it is there");
        assert_eq!(Installed::stamp_of(&unwanted), (String::new(), String::new()));
        take_mode(&plane.admin, "protect", &here.registration).await;
        here.is_back(&plane.admin).await;
        until("it is stamped now", FOUND, async || stamped(plane, here, "v1", "Pod", "unwanted").await).await;
        part.kill();
        plane.admin.delete(&pod("unwanted", EVALS, &json!({}))).await.expect("it is deleted");
        for object in [pod("older", EVALS, &json!({})), pod("late", EVALS, &json!({})), job("late"), deployment("late")]
        {
            plane.admin.delete(&object).await.expect("it is deleted");
        }
        for tenant in ["late-speech", "late-robotics"] {
            let kind = json!({"apiVersion": OURS, "kind": "GpuTenant", "metadata": {"name": tenant}});
            plane.admin.delete(&kind).await.expect("a tenant is deleted");
        }
    });
}
