//! The webhook as pods whose certificate is cert-manager's: the real controllers of it, beside the control plane.

use std::time::Duration;

use k8s_openapi::ByteString;
use serde_json::{Value, json};
use stagger::admission::tls::Identity;
use tokio::sync::watch;

use super::installation::{Installation, NAMESPACE, pod, stamp_of};
use super::load::{creates, patient};
use super::{alone_on_node, tell};
use crate::person::{Person, documents};
use crate::plane::{Built, Part};
use crate::wait::until;

const CERTIFICATES: &str = "cert-manager.io/v1";
const LEAF: &str = "stagger-webhook";
const AUTHORITY: &str = "stagger-webhook-authority";
/// By which the API server calls.
const NAME: &str = "stagger-webhook.stagger-system.svc";
const TEAM: &str = "certified";
const SOON: Duration = Duration::from_mins(1);

/// A part of a certificate's Secret, as it is written: base64.
async fn part(admin: &Person, certificate: &str, part: &str) -> String {
    let name = if certificate == LEAF { "stagger-webhook-tls" } else { certificate };
    let secret = admin.get("v1", "Secret", NAMESPACE, name).await.expect("the certificate is stored");
    secret["data"][part].as_str().unwrap_or_default().to_owned()
}

fn decoded(text: &str) -> Vec<u8> {
    serde_json::from_value::<ByteString>(json!(text)).expect("a Secret is base64").0
}

fn text(encoded: &str) -> String {
    String::from_utf8(decoded(encoded)).expect("a certificate is text")
}

/// What the webhook's pods mount.
async fn identity(admin: &Person) -> Identity {
    let (chain, key) = (part(admin, LEAF, "tls.crt").await, part(admin, LEAF, "tls.key").await);
    Identity::from_pem(&decoded(&chain), &decoded(&key)).expect("it is a certificate with its key")
}

/// Has it renewed now, as `cmctl renew` does, and waits until it is.
async fn renew(admin: &Person, name: &str, manager: &Part) {
    let before = part(admin, name, "tls.crt").await;
    until(&format!("a renewal of {name} is asked for"), SOON, async || {
        let certificate =
            admin.get(CERTIFICATES, "Certificate", NAMESPACE, name).await.map_err(|refused| refused.message)?;
        let mut conditions = certificate["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if conditions.iter().any(|one| one["type"] == "Issuing" && one["status"] == "True") {
            return Err("it is being renewed already".to_owned());
        }
        conditions.retain(|one| one["type"] != "Issuing");
        conditions.push(json!({"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "",
                               "lastTransitionTime": "2026-11-30T12:00:00Z"}));
        let renewal: Value = json!({"status": {"conditions": conditions}});
        admin.merge_status(&certificate, &renewal).await.map(drop).map_err(|refused| refused.message)
    })
    .await;
    until(&format!("{name} is another"), SOON, async || {
        if part(admin, name, "tls.crt").await == before { Err(manager.tail()) } else { Ok(()) }
    })
    .await;
}

/// Waits until both configurations have the authority that is stored beside the certificate, be it beside others.
async fn in_step(admin: &Person, manager: &Part) {
    until("the bundle is in step", SOON, async || {
        let (found, stored) = (published(admin).await, part(admin, LEAF, "ca.crt").await);
        if found.iter().all(|bundle| text(bundle).contains(&text(&stored))) {
            Ok(())
        } else {
            Err(format!("published {found:?}, stored {stored}\n{}", manager.tail()))
        }
    })
    .await;
}

/// The bundles of both configurations, as they are written.
async fn published(admin: &Person) -> Vec<String> {
    let mut bundles = Vec::new();
    for (kind, name) in [("MutatingWebhookConfiguration", "00-stagger"), ("ValidatingWebhookConfiguration", "stagger")]
    {
        let found = admin.get("admissionregistration.k8s.io/v1", kind, "", name).await.expect("it is installed");
        bundles.push(found["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap_or_default().to_owned());
    }
    bundles
}

#[test]
fn with_cert_manager_pods_serve_its_certificate_the_bundle_is_injected_and_no_renewal_loses_a_request() {
    alone_on_node(async |node| {
        let (admin, built) = (&node.plane.admin, Built::find());
        admin.define(documents(&built.manifests("cert-manager", "crds"))).await;
        let flag = format!("--kubeconfig={}", admin.kubeconfig().display());
        let manager = node.space.site.start("cert-manager", &built.program("cert-manager", "cert-manager"), vec![flag]);

        // 1. As it is shipped: pods are ready once the certificate is there and the bundle accepts it, and then they stamp.
        let components = ["components/webhook", "components/cert-manager", "components/controller"];
        let here = Installation::of(
            node,
            "cert-manager",
            &json!({"resources": ["base"], "components": components, "patches": patient()}),
        );
        let stamp = here.tenant("certified", TEAM).await;
        let bundle = part(admin, LEAF, "ca.crt").await;
        assert_eq!(published(admin).await, [bundle.as_str(), bundle.as_str()], "{}", manager.tail());
        for name in ["stagger-webhook-ca", "stagger-webhook"] {
            let kind = if name == "stagger-webhook" { ("coordination.k8s.io/v1", "Lease") } else { ("v1", "Secret") };
            assert!(admin.get(kind.0, kind.1, NAMESPACE, name).await.is_err(), "{name}: we keep no certificate here");
        }

        // 2. The certificate is renewed at once; the pods still serve the old one, and it is trusted.
        let before = identity(admin).await;
        let (going_on, told) = watch::channel(());
        let renewed = async {
            let _ends = going_on;
            renew(admin, LEAF, &manager).await;
            in_step(admin, &manager).await;
        };
        let ((), load) = tokio::join!(renewed, creates(node, TEAM, &stamp, told));
        tell(&format!("cert-manager's certificate renewed: {load}"));
        assert!(load.lost.is_empty(), "{load}: {:#?}\n{}", load.lost, here.told());
        assert_eq!(published(admin).await, [bundle.as_str(), bundle.as_str()], "the authority is the one before");

        // 3. The authority is renewed, and keeps its key. It is published with the next certificate, twenty days later at
        //    most, and that is now: beside the one before it, as cert-manager does since 1.19.
        let (key, middle) = (part(admin, AUTHORITY, "tls.key").await, identity(admin).await);
        let (going_on, told) = watch::channel(());
        let renewed = async {
            let _ends = going_on;
            renew(admin, AUTHORITY, &manager).await;
            assert_eq!(part(admin, AUTHORITY, "tls.key").await, key, "the authority has its key before it");
            assert_eq!(
                published(admin).await,
                [bundle.as_str(), bundle.as_str()],
                "nothing is published for its own sake"
            );
            renew(admin, LEAF, &manager).await;
            in_step(admin, &manager).await;
        };
        let ((), load) = tokio::join!(renewed, creates(node, TEAM, &stamp, told));
        tell(&format!("cert-manager's authority renewed: {load}"));
        assert!(load.lost.is_empty(), "{load}: {:#?}\n{}", load.lost, here.told());
        let next = part(admin, AUTHORITY, "tls.crt").await;
        assert_ne!(next, bundle, "it is another authority");
        for published in published(admin).await {
            let published = text(&published);
            assert!(published.contains(&text(&bundle)) && published.contains(&text(&next)), "{published}");
        }
        // Whoever serves, and whoever asks, may be late: each certificate is trusted under each of the two alone, which is
        // what an earlier cert-manager publishes.
        for (when, leaf) in [("before", &before), ("between", &middle), ("after", &identity(admin).await)] {
            for (which, bundle) in [("old", &bundle), ("new", &next)] {
                let is_trusted = leaf.is_trusted(&decoded(bundle), NAME, stagger::clock::now());
                assert!(is_trusted, "the certificate {when} is not trusted under the {which} authority");
            }
        }
        // The pods have the old certificate still, and the API server begins anew with the new authority.
        for _ in 0..200 {
            let made = admin.dry_run(&pod(TEAM)).await.unwrap_or_else(|refused| panic!("{}", refused.message));
            assert_eq!(stamp_of(&made), stamp, "{}", here.told());
        }

        here.remove().await;
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}});
        admin.delete(&namespace).await.expect("gone");
    });
}
