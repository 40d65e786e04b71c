//! The webhook as pods whose certificate is cert-manager's: the real controllers of it, beside the control plane.

use std::time::Duration;

use serde_json::{Value, json};

use tokio::sync::watch;

use super::alone_on_node;
use super::installation::{Installation, NAMESPACE};
use super::webhook::creates;
use crate::person::{Person, documents};
use crate::plane::Built;
use crate::wait::until;

const CERTIFICATES: &str = "cert-manager.io/v1";
const TEAM: &str = "certified";
const SOON: Duration = Duration::from_secs(30);

/// A part of the Secret that the webhook's pods mount, as it is written: base64.
async fn stored(admin: &Person, part: &str) -> String {
    let secret = admin.get("v1", "Secret", NAMESPACE, "stagger-webhook-tls").await.expect("the certificate is stored");
    secret["data"][part].as_str().unwrap_or_default().to_owned()
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
fn with_cert_manager_pods_serve_its_certificate_the_bundle_is_injected_and_a_renewal_loses_no_request() {
    alone_on_node(async |node| {
        let (admin, built) = (&node.plane.admin, Built::find());
        admin.define(documents(&built.manifests("cert-manager", "crds"))).await;
        let flag = format!("--kubeconfig={}", admin.kubeconfig().display());
        let manager = node.space.site.start("cert-manager", &built.program("cert-manager", "cert-manager"), vec![flag]);

        // 1. As it is shipped: pods are ready once the certificate is there and the bundle accepts it, and then they stamp.
        let components = ["components/webhook", "components/cert-manager", "components/controller"];
        let here = Installation::of(node, "cert-manager", &json!({"resources": ["base"], "components": components}));
        let stamp = here.tenant("certified", TEAM).await;
        let bundle = stored(admin, "ca.crt").await;
        assert_eq!(published(admin).await, [bundle.as_str(), bundle.as_str()], "{}", manager.tail());
        for name in ["stagger-webhook-ca", "stagger-webhook"] {
            let kind = if name == "stagger-webhook" { ("coordination.k8s.io/v1", "Lease") } else { ("v1", "Secret") };
            assert!(admin.get(kind.0, kind.1, NAMESPACE, name).await.is_err(), "{name}: we keep no certificate here");
        }

        // 2. The certificate is renewed at once; the pods still serve the old one, and it is trusted.
        let before = stored(admin, "tls.crt").await;
        let certificate =
            admin.get(CERTIFICATES, "Certificate", NAMESPACE, "stagger-webhook").await.expect("it is there");
        let mut conditions = certificate["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.push(json!({"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "",
                               "lastTransitionTime": "2026-11-30T12:00:00Z"}));
        let renewal: Value = json!({"status": {"conditions": conditions}});
        let (tell, told) = watch::channel(());
        let renewed = async {
            let _ends = tell;
            admin.merge_status(&certificate, &renewal).await.expect("a renewal can be asked for");
            until("there is another certificate", SOON, async || {
                if stored(admin, "tls.crt").await == before { Err(manager.tail()) } else { Ok(()) }
            })
            .await;
            until("the bundle is in step", SOON, async || {
                let (found, stored) = (published(admin).await, stored(admin, "ca.crt").await);
                if found == [stored.as_str(), stored.as_str()] { Ok(()) } else { Err(manager.tail()) }
            })
            .await;
        };
        let ((), (count, lost)) = tokio::join!(renewed, creates(node, TEAM, &stamp, told));
        assert!(lost.is_empty(), "{} of {count} were lost: {lost:#?}\n{}", lost.len(), here.told());
        assert_eq!(published(admin).await, [bundle.as_str(), bundle.as_str()], "the authority is the one before");

        here.remove();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}});
        admin.delete(&namespace).await.expect("gone");
    });
}
