//! The webhook as pods behind its Service, with its own account and under Pod Security `restricted`.

use std::time::Duration;

use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::block_in_place;

use super::installation::{Installation, NAMESPACE, pod, stamp_of};
use super::kubelet::NAME;
use super::load::{creates, patient};
use super::runtime::{STAGGER, STAGGER_NEXT};
use super::{alone_on_node, tell};
use crate::wait::until;

const TEAM: &str = "pods-of-nlp";
const WEBHOOK: &str = "deployment/stagger-webhook";
const PODS: &str = "app.kubernetes.io/name=stagger-webhook";

/// The images of the webhook's pods that run and are to stay.
fn images(here: &Installation<'_>) -> Vec<String> {
    let of = r#"{range .items[*]}{.metadata.deletionTimestamp}{" "}{.spec.containers[0].image}{"\n"}{end}"#;
    let output = format!("jsonpath={of}");
    let placed = format!("--field-selector=spec.nodeName={NAME}");
    let told = here.must(&["get", "pods", "-n", NAMESPACE, "-l", PODS, &placed, "-o", &output]);
    told.lines().filter_map(|line| line.strip_prefix(' ').map(str::to_owned)).collect()
}

#[test]
fn the_webhook_runs_as_pods_that_are_upgraded_rolled_back_multiplied_and_drained_without_losing_a_request_and_leaves_a_working_cluster()
 {
    alone_on_node(async |node| {
        let admin = &node.plane.admin;
        let mut here = Installation::apply(node, "protect", &patient());

        // 1. As it is shipped, under what the namespace enforces.
        let mut pods = admin.list("v1", "Pod", NAMESPACE).await;
        pods.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        let ours = |name: &str| {
            pods.iter().filter(|pod| pod["metadata"]["labels"]["app.kubernetes.io/name"] == name).collect::<Vec<_>>()
        };
        assert_eq!(ours("stagger-webhook").len(), 2, "{}", here.told());
        assert!(ours("stagger-webhook").iter().all(|pod| pod["spec"]["serviceAccountName"] == "stagger-webhook"));
        let refused = admin.dry_run(&pod(NAMESPACE)).await.expect_err("a pod that may be root does not run there");
        assert!(refused.message.contains("violates PodSecurity \"restricted:"), "{}", refused.message);

        // 2. It stamps, and what it makes is a certificate that the API server trusts.
        let stamp = here.tenant("nlp", TEAM).await;

        // 3. Nothing is lost while the next version comes and is taken back, while there are more pods, and while the node is
        //    emptied as far as the disruption budget allows.
        let (going_on, told) = watch::channel(());
        let load = std::thread::scope(|scope| {
            // kubectl waits, on a thread of its own; the requests go on until that has ended, in whatever way.
            let here = &mut here;
            let exchange = scope.spawn(move || {
                let _ends = going_on;
                here.upgrade(STAGGER_NEXT);
                assert_eq!(images(here), vec![STAGGER_NEXT; 2], "the next version runs");
                here.must(&["rollout", "undo", WEBHOOK, "-n", NAMESPACE]);
                here.rolled_out("stagger-webhook");
                assert_eq!(images(here), vec![STAGGER; 2], "the version before runs again");
                here.must(&["scale", WEBHOOK, "-n", NAMESPACE, "--replicas=3"]);
                here.rolled_out("stagger-webhook");
                // Only this node could take the pods that must go, so that the last one has to stay.
                let drained = node.kubectl(&["drain", NAME, "--pod-selector", PODS, "--timeout=6s"]);
                let stayed = drained.expect_err("the last pod of the webhook does not go");
                assert!(stayed.contains("violate the pod's disruption budget"), "{stayed}");
                assert_eq!(images(here).len(), 1, "one stays: {stayed}");
                here.must(&["uncordon", NAME]);
                here.rolled_out("stagger-webhook");
            });
            let seen = block_in_place(|| Handle::current().block_on(creates(node, TEAM, &stamp, told)));
            exchange.join().expect("pods were exchanged");
            seen
        });
        until("three pods answer", Duration::from_mins(1), async || {
            let slices = admin.list("discovery.k8s.io/v1", "EndpointSlice", NAMESPACE).await;
            let endpoints = slices.iter().flat_map(|slice| slice["endpoints"].as_array().cloned().unwrap_or_default());
            let ready = endpoints.filter(|endpoint| endpoint["conditions"]["ready"] == true).count();
            if ready == 3 { Ok(()) } else { Err(format!("{ready} are ready")) }
        })
        .await;
        tell(&format!("webhook pods exchanged: {load}"));
        assert!(load.lost.is_empty(), "{load}: {:#?}\n{}", load.lost, here.told());
        // What is claimed is that none is lost; how many a machine bears is told above.
        assert!(load.count > 500, "requests came all the while: {load}");

        // 4. Uninstalled, it is not missed.
        here.remove().await;
        let made = admin.create(&pod(TEAM)).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        assert_eq!(stamp_of(&made), (String::new(), String::new()));
        admin
            .delete(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}}))
            .await
            .expect("gone");
    });
}
