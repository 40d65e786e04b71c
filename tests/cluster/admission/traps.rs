//! Public bugs of other admission webhooks, and what is right; those that only a real API server can tell.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{EVALS, Installed, grant, installed, pod};
use crate::shared::on_plane;
use crate::wait::until;

fn job(name: &str) -> Value {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}});
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": EVALS}, "spec": {"template": template}})
}

/// kubernetes#113952, kubernetes#88282, kubernetes#76680, kubernetes#90623.
#[test]
fn a_pod_without_namespace_name_or_labels_is_stamped() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let mut bare = pod("", EVALS, &json!({}));
        bare["metadata"] = json!({"generateName": "made-"});
        let at = format!("/api/v1/namespaces/{EVALS}/pods");
        let made = plane.admin.send("POST", &at, "application/json", &bare).await.expect("a bare pod is made");
        assert_eq!(Installed::stamp_of(&made), here.nlp);
    });
}

/// kubernetes#62666, kubernetes#109164: a pod held by a finalizer only.
#[test]
fn a_pod_that_is_being_deleted_lets_its_finalizer_go() {
    on_plane(async |plane| {
        installed(plane).await;
        let mut held = pod("held", EVALS, &json!({}));
        held["metadata"]["finalizers"] = json!(["example.com/hold"]);
        plane.admin.create(&held).await.expect("a pod is made");
        let at = format!("/api/v1/namespaces/{EVALS}/pods/held?gracePeriodSeconds=0");
        plane.admin.send("DELETE", &at, "application/json", &json!({})).await.expect("it is deleted");
        let free = json!({"metadata": {"finalizers": null}});
        plane.admin.merge(&held, &free).await.expect("the finalizer goes");
        until("the pod is gone", Duration::from_secs(20), async || {
            let found = plane.admin.get("v1", "Pod", EVALS, "held").await;
            found.map_or(Ok(()), |found| Err(found["metadata"].to_string()))
        })
        .await;
    });
}

/// gardener/kupid#29: the template of a job that has started cannot be changed, so nobody may try on an update.
#[test]
fn a_job_with_pods_is_deleted_in_the_foreground() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let made = plane.admin.create(&job("cascade")).await.expect("a job is made");
        assert_eq!(Installed::stamp_of(&made), here.nlp);
        let pods = async || {
            let pods = plane.admin.list("v1", "Pod", EVALS).await;
            pods.into_iter()
                .find(|pod| pod["metadata"]["labels"]["job-name"] == "cascade")
                .ok_or("no pod yet".to_owned())
        };
        let child = until("the job has a pod", Duration::from_secs(30), pods).await;
        assert_eq!(Installed::stamp_of(&child), here.nlp, "a pod has its job's stamp");
        let at = format!("/apis/batch/v1/namespaces/{EVALS}/jobs/cascade");
        let foreground = json!({"propagationPolicy": "Foreground"});
        plane.admin.send("DELETE", &at, "application/json", &foreground).await.expect("it is deleted");
        until("the job is gone", Duration::from_secs(40), async || {
            let found = plane.admin.get("batch/v1", "Job", EVALS, "cascade").await;
            found.map_or(Ok(()), |found| Err(found["metadata"].to_string()))
        })
        .await;
    });
}

/// `kubectl replace` of a file that knows nothing of stamps.
#[test]
fn a_replaced_object_keeps_its_stamp() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let mut one = job("replaced");
        one["spec"]["suspend"] = json!(true);
        plane.admin.create(&one).await.expect("a job is made");
        let somebody = plane.user("replacer", &[]).await;
        grant(plane, "replacer", &json!([{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["*"]}])).await;
        let at = format!("/apis/batch/v1/namespaces/{EVALS}/jobs/replaced");
        let put = until("the right is known", Duration::from_secs(10), async || {
            // The job controller may have written in between.
            let mut without = plane.admin.get("batch/v1", "Job", EVALS, "replaced").await.expect("the job is there");
            let labels = without["metadata"]["labels"].as_object_mut().expect("a job has labels");
            labels.retain(|key, _| !key.starts_with("stagger.dev/"));
            somebody.send("PUT", &at, "application/json", &without).await.map_err(|refused| refused.message)
        })
        .await;
        assert_eq!(Installed::stamp_of(&put), here.nlp);
    });
}

/// l5d#3358: what was only tried leaves nothing behind, and says the same.
#[test]
fn a_dry_run_is_stamped_alike() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let tried = plane.admin.dry_run(&pod("tried", EVALS, &json!({}))).await.expect("it may be made");
        assert_eq!(Installed::stamp_of(&tried), here.nlp);
        plane.admin.get("v1", "Pod", EVALS, "tried").await.expect_err("it was not made");
    });
}

/// istio#46809. The API server takes up to 1.5 MiB from its store's point of view.
#[test]
fn a_large_object_is_stamped_at_once_and_keeps_what_nobody_knows() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let mut large = pod("large", EVALS, &json!({"app": "large"}));
        large["metadata"]["annotations"] = json!({"example.com/blob": "x".repeat(200_000)});
        let filler: Vec<Value> =
            (0..1_000).map(|at| json!({"name": format!("KEY_{at}"), "value": "y".repeat(1_000)})).collect();
        large["spec"]["containers"][0]["env"] = json!(filler);
        let begin = Instant::now();
        let made = plane.admin.create(&large).await.expect("a large pod is made");
        assert_eq!(Installed::stamp_of(&made), here.nlp);
        assert_eq!(
            made["metadata"]["annotations"]["example.com/blob"],
            large["metadata"]["annotations"]["example.com/blob"]
        );
        assert!(begin.elapsed() < Duration::from_secs(2), "it took {:?}", begin.elapsed());
    });
}
