//! kyverno#16177: a cluster that begins with nothing of ours running, in the strictest mode. What it needs to come up comes
//! up, and so do we, unaided.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::shipped::take_mode;
use super::{EVALS, installed, pod};
use crate::shared::alone_on_plane;
use crate::wait::until;

/// Nothing of these asks the webhook, so that nothing waits for it.
const AT_ONCE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_mins(1);

/// What a cluster makes before anybody's work: nodes, what they ask to be signed, their leases, system pods, and our own.
fn first_things() -> Vec<Value> {
    let request = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
    let signing = json!({"signerName": "example.com/nobody", "request": request, "usages": ["client auth"]});
    let named = json!({"name": "beginning"});
    let lease = json!({"name": "beginning", "namespace": "kube-node-lease"});
    vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": named}),
        json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": named, "spec": signing}),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": lease, "spec": {"holderIdentity": "beginning"}}),
        pod("beginning", "kube-system", &json!({})),
        pod("beginning", "kueue-system", &json!({})),
        pod("beginning", "stagger-system", &json!({})),
    ]
}

#[test]
fn a_cluster_that_begins_without_us_comes_up_in_the_strictest_mode_and_we_come_up_unaided() {
    alone_on_plane(async |plane| {
        let here = installed(plane).await;
        let admin = &plane.admin;
        take_mode(admin, "enforce", &here.registration).await;
        here.webhook.lock().expect("no test breaks the lock").kill();
        plane.apiserver.lock().expect("no test breaks the lock").again();
        until("the API server is back, and its policies", SOON, async || {
            match admin.dry_run(&pod("beginning", EVALS, &json!({}))).await {
                Err(refused) if refused.message.contains("stagger.dev/tenant-uid is missing") => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
        for object in first_things() {
            let begin = Instant::now();
            // A signing request that says nothing is refused for that; whoever gets so far was not stopped by us.
            match admin.dry_run(&object).await {
                Ok(_) => {}
                Err(refused) if object["kind"] == "CertificateSigningRequest" => {
                    assert!(refused.message.contains("spec.request"), "{}", refused.message);
                }
                Err(refused) => panic!("{}: {}", object["kind"], refused.message),
            }
            assert!(begin.elapsed() < AT_ONCE, "{} waited {:?}", object["kind"], begin.elapsed());
        }
        here.webhook.lock().expect("no test breaks the lock").again();
        here.is_back(admin).await;
        here.protects_again(plane).await;
    });
}
