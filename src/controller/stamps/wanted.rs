//! Whether stamps are wanted: while something of ours stamps what is created, be it away for the moment.
//!
//! Who takes the webhook's configuration out of a cluster, and has no policy that stamps in its place, wants none, and gets
//! none later either. What came meanwhile is found once it is back.

use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};

use crate::admission::policy::{MUTATING, STAMPING};
use crate::cluster::{CALL_MAX, Cluster, ClusterError, discover, within};

const GROUP: &str = "admissionregistration.k8s.io";

/// Looks for either.
///
/// # Errors
/// When that cannot be found out.
pub(super) async fn are_wanted(cluster: &Cluster) -> Result<bool, ClusterError> {
    let webhook = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", "MutatingWebhookConfiguration"));
    if is_there(cluster, &webhook, MUTATING).await? {
        return Ok(true);
    }
    match discover(&cluster.client, GROUP, "mutatingadmissionpolicies").await? {
        Some(policy) => is_there(cluster, &policy, STAMPING).await,
        None => Ok(false),
    }
}

async fn is_there(cluster: &Cluster, api: &ApiResource, name: &str) -> Result<bool, ClusterError> {
    let objects: Api<DynamicObject> = Api::all_with(cluster.client.clone(), api);
    let resource = format!("{}.{GROUP}", api.plural);
    Ok(within(CALL_MAX, "get", &resource, objects.get_metadata_opt(name)).await?.is_some())
}
