//! Whether Kueue reads gates: asked of Kueue itself, by a dry run that it refuses only where it does.
//!
//! The dry run makes a Workload and not a Job: the right to make Workloads in our own namespace runs nothing.
//! What is found is told in the status of every CapacityPlan, where the webhook reads it; what is not known changes nothing.

use std::time::Duration;

use kube::Api;
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;

use crate::api::keys::{GATES, GATES_REFUSAL};
use crate::cluster::{CALL_MAX, Cluster, within};

/// What Kueue does with gates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Gates {
    Honoured,
    /// Its feature `AdmissionGatedBy` is off: work is held through `spec.active` of its Workload.
    Ignored,
    /// Why nobody knows.
    #[default]
    Unasked,
    Unknown(String),
}

impl Gates {
    /// Whether the answer says anything.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Honoured | Self::Ignored)
    }

    /// When to ask again: Kueue reads its features only when it starts, and that happens at any time.
    #[must_use]
    pub fn again(&self) -> Duration {
        if self.is_known() { Duration::from_secs(30) } else { Duration::from_secs(5) }
    }
}

/// Asks Kueue, in a namespace in which we may make Workloads.
pub async fn ask(cluster: &Cluster, namespace: &str) -> Gates {
    // Where there is only the older version, the older question; a workload is the same in both but for its version.
    let mut answer = Gates::default();
    for version in ["v1beta2", "v1beta1"] {
        answer = ask_in(cluster, namespace, version).await;
        if answer.is_known() {
            break;
        }
    }
    answer
}

async fn ask_in(cluster: &Cluster, namespace: &str, version: &str) -> Gates {
    let api = ApiResource::from_gvk(&GroupVersionKind::gvk("kueue.x-k8s.io", version, "Workload"));
    let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), namespace, &api);
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "probe", "image": "probe"}]}});
    let probe = json!({
        "apiVersion": api.api_version,
        "kind": "Workload",
        "metadata": {"name": "stagger-probe", "namespace": namespace, "annotations": {GATES: ","}},
        "spec": {"active": false, "podSets": [{"name": "main", "count": 1, "template": template}]},
    });
    let Ok(probe) = serde_json::from_value(probe) else { return Gates::default() };
    let params = PostParams { dry_run: true, ..PostParams::default() };
    let call = objects.create(&params, &probe);
    match within(CALL_MAX, "create", "workloads.kueue.x-k8s.io (as a dry run)", call).await {
        Ok(_) => Gates::Ignored,
        Err(error) if error.message.contains(GATES_REFUSAL) => Gates::Honoured,
        Err(error) => Gates::Unknown(error.message),
    }
}
