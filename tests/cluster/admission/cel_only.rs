//! Stamps without a webhook: a policy in the API server copies them from the namespace, and others refuse forged ones.

use std::time::Duration;

use serde_json::{Value, json};

use super::shipped::{cel_only, take_mode};
use super::{EVALS, Installed, TENANT_UID, doctor, installed, pod};
use crate::shared::alone_on_plane;
use crate::wait::until;

const SOON: Duration = Duration::from_secs(30);

#[test]
fn without_any_webhook_a_job_and_its_pod_are_stamped_by_the_api_server_and_a_forged_stamp_is_refused() {
    alone_on_plane(async |plane| {
        let here = installed(plane).await;
        let admin = &plane.admin;
        let somebody = plane.user("somebody", &[]).await;
        here.webhook.lock().expect("no test breaks the lock").kill();
        take_mode(admin, cel_only(), &here.registration).await;

        // 1. A pod with labels and one without, with a foreign stamp and with none.
        let mut bare = pod("cel-only", EVALS, &json!({}));
        bare["metadata"].as_object_mut().expect("an object").remove("labels");
        let forged = pod("cel-only", EVALS, &Installed::labels(&here.vision));
        let labelled = pod("cel-only", EVALS, &json!({"app": "mine"}));
        until("stamps are written by a policy", SOON, async || {
            let made = somebody.dry_run(&bare).await.map_err(|refused| refused.message)?;
            if Installed::stamp_of(&made) == here.nlp { Ok(()) } else { Err(made["metadata"].to_string()) }
        })
        .await;
        for one in [&forged, &labelled] {
            let made = somebody.dry_run(one).await.expect("work is created");
            assert_eq!(Installed::stamp_of(&made), here.nlp, "{made}");
            assert_eq!(made["metadata"]["labels"]["app"], one["metadata"]["labels"]["app"], "other labels stay");
        }

        // 2. A job, and the pod that its controller makes of it.
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "cel-only", "namespace": EVALS},
                         "spec": {"template": {"spec": {"restartPolicy": "Never", "schedulerName": "nobody",
                                  "containers": [{"name": "main", "image": "none"}]}}}});
        let made = somebody.create(&job).await.expect("a job is made");
        assert_eq!(Installed::stamp_of(&made), here.nlp);
        let child = until("the job has a pod", SOON, async || {
            let pods = admin.list("v1", "Pod", EVALS).await;
            let of = |one: &Value| one["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "cel-only";
            pods.into_iter().find(of).ok_or_else(|| "not yet".to_owned())
        })
        .await;
        assert_eq!(Installed::stamp_of(&child), here.nlp);

        // 3. Afterwards nobody changes it.
        let other = json!({"metadata": {"labels": {TENANT_UID: here.vision.1}}});
        let refused = somebody.merge(&job, &other).await.expect_err("a stamp stays");
        assert!(refused.message.contains("is written by stagger's controller only"), "{}", refused.message);

        // 4. What nobody claims has no stamp, and goes on.
        let made = somebody.dry_run(&pod("cel-only", "default", &json!({}))).await.expect("work is created");
        assert_eq!(Installed::stamp_of(&made), (String::new(), String::new()));

        // 5. The doctor finds it whole.
        let checks = doctor(plane);
        let of_stamps = |check: &&Value| check["name"] == "cel-only";
        let found = checks.iter().find(of_stamps).unwrap_or_else(|| panic!("no such check: {checks:#?}"));
        assert_eq!(found["status"], "ok", "{found}");

        admin.delete(&job).await.expect("it is deleted");
        here.protects_again(plane).await;
    });
}
