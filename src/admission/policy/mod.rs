//! What the API server is told: which requests come to the webhook, and what holds without it.
//!
//! Made from the same constants as `decide`, so that a kind or key is added in one place. The webhook stamps; policies in
//! the API server verify the final state, so that integrity does not depend on our pods being up. Namespaces are left out
//! by `kubernetes.io/metadata.name` only, which nobody can grant himself.

mod cel;
mod hooks;
mod policies;

use serde_json::{Value, json};

pub use cel::{STAMPING, STAMPING_VERSIONS, mutating_policy};
pub use hooks::{MUTATING, VALIDATING, mutating, validating};
pub use policies::{POLICIES, Policy, binding, policy};

use super::kinds::KINDS;
use super::world::Mode;

/// Where the webhook runs.
pub const NAMESPACE: &str = "stagger-system";
/// The Service in front of it.
pub const SERVICE: &str = "stagger-webhook";
/// Where reviews are posted.
pub const PATH: &str = "/admit";

/// Namespaces that are never touched: what a cluster needs to come up, and what we ourselves stand on.
pub const LEFT_OUT: [&str; 6] =
    ["cert-manager", "kube-node-lease", "kube-public", "kube-system", "kueue-system", NAMESPACE];

/// A file under `webhooks/`: its name and its objects.
#[must_use]
pub fn files() -> Vec<(String, Vec<Value>)> {
    let mut files = vec![
        ("mutating.yaml".to_owned(), vec![mutating()]),
        ("validating.yaml".to_owned(), vec![validating()]),
        ("policies.yaml".to_owned(), POLICIES.iter().map(policy).collect()),
    ];
    for (mode, name) in [(Mode::Observe, "observe"), (Mode::Protect, "protect"), (Mode::Enforce, "enforce")] {
        let bindings = POLICIES.iter().filter_map(|policy| binding(policy, mode)).collect();
        files.push((format!("bindings-{name}.yaml"), bindings));
    }
    let all = ["mutating.yaml", "validating.yaml", "policies.yaml", "bindings-observe.yaml"];
    files.push(("kustomization.yaml".to_owned(), vec![kustomization(&all)]));
    // Folders of their own: an overlay takes one of them beside the rest.
    for version in STAMPING_VERSIONS {
        files.push((format!("cel-only-{version}/policy.yaml"), mutating_policy(version)));
        files.push((format!("cel-only-{version}/kustomization.yaml"), vec![kustomization(&["policy.yaml"])]));
    }
    files
}

fn kustomization(resources: &[&str]) -> Value {
    json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
    })
}

fn metadata(name: &str) -> Value {
    json!({"name": name, "labels": {"app.kubernetes.io/part-of": "stagger"}})
}

fn selected_namespaces() -> Value {
    json!({"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": LEFT_OUT},
    ]})
}

/// One rule per API group: the kinds' own resources, or their subresources.
fn rules(operations: &[&str], subresources: bool) -> Vec<Value> {
    let mut groups: Vec<&str> = KINDS.iter().map(|kind| kind.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let rule = |group: &&str| {
        let of_group = KINDS.iter().filter(|kind| kind.group == *group);
        let resources: Vec<String> = of_group
            .map(|kind| if subresources { format!("{}/*", kind.resource) } else { kind.resource.to_owned() })
            .collect();
        json!({
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": operations,
            "resources": resources,
            "scope": "Namespaced",
        })
    };
    groups.iter().map(rule).collect()
}
