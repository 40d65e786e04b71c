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
use crate::api::status::{CapacityPlanStatus, ConditionStatus, GATES_HONOURED};
use crate::cluster::{CALL_MAX, Cluster, ClusterError, Kind, within};

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

    /// What was told of it last: who leads anew goes by that until Kueue answers.
    #[must_use]
    pub fn told(status: &CapacityPlanStatus) -> Option<Self> {
        let told = status.conditions.iter().find(|one| one.condition == GATES_HONOURED)?;
        match told.status {
            ConditionStatus::True => Some(Self::Honoured),
            ConditionStatus::False => Some(Self::Ignored),
            ConditionStatus::Unknown => None,
        }
    }

    /// When to ask again: Kueue reads its features only when it starts, and that happens at any time.
    #[must_use]
    pub fn again(&self) -> Duration {
        if self.is_known() { Duration::from_secs(30) } else { Duration::from_secs(5) }
    }
}

/// Asks Kueue, in a namespace in which we may make Workloads.
pub async fn ask(cluster: &Cluster, namespace: &str) -> Gates {
    let mut answer = ask_in(cluster, namespace, "v1beta2").await;
    // Where there is only the older version, the older question.
    if answer.as_ref().is_err_and(|error| error.kind == Kind::NotFound) {
        answer = ask_in(cluster, namespace, "v1beta1").await;
    }
    answer.unwrap_or_else(|error| Gates::Unknown(error.message))
}

async fn ask_in(cluster: &Cluster, namespace: &str, version: &str) -> Result<Gates, ClusterError> {
    let api = ApiResource::from_gvk(&GroupVersionKind::gvk("kueue.x-k8s.io", version, "Workload"));
    let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), namespace, &api);
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "probe", "image": "probe"}]}});
    let probe = json!({
        "apiVersion": api.api_version,
        "kind": "Workload",
        "metadata": {"name": "stagger-probe", "namespace": namespace, "annotations": {GATES: ","}},
        "spec": {"active": false, "podSets": [{"name": "main", "count": 1, "template": template}]},
    });
    let Ok(probe) = serde_json::from_value(probe) else { return Ok(Gates::default()) };
    let params = PostParams { dry_run: true, ..PostParams::default() };
    let call = objects.create(&params, &probe);
    match within(CALL_MAX, "create", "workloads.kueue.x-k8s.io (as a dry run)", call).await {
        Ok(_) => Ok(Gates::Ignored),
        Err(error) if error.message.contains(GATES_REFUSAL) => Ok(Gates::Honoured),
        Err(error) => Err(error),
    }
}
