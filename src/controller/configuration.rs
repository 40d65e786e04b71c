//! Kueue's own configuration, as its controller reads it: a document in a ConfigMap.
//!
//! It says how requests become quota, so a plan without it may count otherwise than Kueue does. It is looked at again from
//! time to time; where it cannot be read, Kueue's defaults stand in, and that is told.

use std::time::Duration;

use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;

use super::settings::ReadYaml;
use crate::api::manifest::Manifest;
use crate::cluster::{CALL_MAX, Cluster, ClusterError, within};

/// Between two looks: Kueue itself reads it only when it starts.
pub const AGAIN: Duration = Duration::from_mins(1);

/// The Configuration documents in all members of the ConfigMap; none where there is no such ConfigMap.
///
/// # Errors
/// When it cannot be read.
pub async fn read(
    cluster: &Cluster,
    (namespace, name): (&str, &str),
    read_yaml: ReadYaml,
) -> Result<Vec<Manifest>, ClusterError> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), namespace, &resource);
    let found = within(CALL_MAX, "get", "configmaps", api.get_opt(name)).await?;
    let texts = found.as_ref().and_then(|map| map.data.get("data")).and_then(Value::as_object);
    let documents = texts.into_iter().flatten().filter_map(|(_, text)| text.as_str()).flat_map(read_yaml);
    Ok(documents.filter(|document| document.kind == "Configuration").collect())
}
