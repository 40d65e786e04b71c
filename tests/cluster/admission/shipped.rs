//! The overlays of `deploy/kustomize` as kubectl makes them, for a webhook that is a process: its registration is by address
//! instead of by Service.

use std::process::Command;

use serde_json::{Value, json};

use super::file;
use crate::person::{Person, written};
use crate::plane::{base64, is_next};

/// The kinds by which an API server is told of admission.
fn kinds() -> [(&'static str, &'static str); 6] {
    [
        (V1, "MutatingWebhookConfiguration"),
        (V1, "ValidatingWebhookConfiguration"),
        (V1, "ValidatingAdmissionPolicy"),
        (V1, "ValidatingAdmissionPolicyBinding"),
        (stamping(), "MutatingAdmissionPolicy"),
        (stamping(), "MutatingAdmissionPolicyBinding"),
    ]
}
const V1: &str = "admissionregistration.k8s.io/v1";
const V1BETA1: &str = "admissionregistration.k8s.io/v1beta1";

/// The version in which the API server that is tested has policies that change objects.
pub fn stamping() -> &'static str {
    if is_next() { V1 } else { V1BETA1 }
}

/// The overlay that stamps by such a policy.
pub fn cel_only() -> &'static str {
    if is_next() { "cel-only" } else { "cel-only-v1beta1" }
}

/// Where a webhook that is a process is found, and the bundle that is said to be its authority's.
#[derive(Debug, Clone)]
pub struct Registration {
    pub address: String,
    pub bundle: String,
}

/// What the API server is told of admission in a mode: configurations, policies, bindings.
pub fn overlay(mode: &str) -> Vec<Value> {
    let folder = file(&format!("deploy/kustomize/overlays/{mode}"));
    let made = Command::new("kubectl").arg("kustomize").arg(&folder).output().expect("kubectl can be run");
    assert!(made.status.success(), "{}: {}", folder.display(), String::from_utf8_lossy(&made.stderr));
    let mut all = written(&String::from_utf8(made.stdout).expect("YAML is UTF-8"));
    all.retain(|object| object["apiVersion"] == V1 || object["apiVersion"] == V1BETA1);
    all
}

/// Tells the API server what the overlay of a mode says, and takes away what another mode had beside it.
pub async fn take_mode(admin: &Person, mode: &str, at: &Registration) {
    let mut all = overlay(mode);
    for object in &mut all {
        for hook in object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten() {
            let path = hook["clientConfig"]["service"]["path"].as_str().expect("a path").to_owned();
            let url = format!("https://{}{path}", at.address);
            hook["clientConfig"] = json!({"url": url, "caBundle": base64(at.bundle.as_bytes())});
        }
        admin.apply(object).await;
    }
    for (version, kind) in kinds() {
        for there in admin.list(version, kind, "").await {
            let name = &there["metadata"]["name"];
            let kept = all.iter().any(|one| one["kind"] == kind && one["metadata"]["name"] == *name);
            if !kept && there["metadata"]["labels"]["app.kubernetes.io/part-of"] == "stagger" {
                let gone = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
                admin.delete(&gone).await.expect("it is deleted");
            }
        }
    }
}
