//! What the rounds write: stamps, on the object as it was seen, and statuses of GpuTenants.

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::found::Found;
use super::round::Stamp;
use crate::api::keys::{ATTRIBUTION, LATE, TENANT, TENANT_UID};
use crate::api::status::GpuTenantStatus;
use crate::api::tenant;
use crate::cluster::{CALL_MAX, Cluster, within};
use crate::controller::acts::{Ended, Fence, ours};

/// Writes at once: others have theirs to write.
const AT_ONCE: usize = 8;

/// A merge patch that the API server refuses where the object is another, or is no longer as it was seen.
fn patch(stamp: &Stamp) -> Value {
    json!({"metadata": {
        "uid": stamp.uid,
        "resourceVersion": stamp.version,
        "labels": {TENANT: stamp.tenant.name, TENANT_UID: stamp.tenant.uid},
        "annotations": {ATTRIBUTION: LATE},
    }})
}

/// Writes stamps.
pub(super) async fn stamps(cluster: &Cluster, found: &Found, stamps: Vec<Stamp>, fence: &Fence) -> Vec<(Stamp, Ended)> {
    let one = |stamp: Stamp| async move {
        let Some(api) = found.api(stamp.place.kind) else { return (stamp, Ended::Changed) };
        if !fence.holds() {
            return (stamp, Ended::Fenced);
        }
        let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &stamp.place.namespace, api);
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch(&stamp)));
        let call = objects.patch_metadata(&stamp.place.name, &params, &patch);
        let ended = Ended::of(within(CALL_MAX, "patch", &api.plural, call).await);
        (stamp, ended)
    };
    stream::iter(stamps.into_iter().map(one)).buffered(AT_ONCE).collect().await
}

/// Writes what GpuTenants are told.
pub(super) async fn statuses(
    cluster: &Cluster,
    statuses: Vec<(String, GpuTenantStatus)>,
    fence: &Fence,
) -> Vec<((String, GpuTenantStatus), Ended)> {
    let api = &ours(tenant::KIND, "gputenants");
    let one = |(name, status): (String, GpuTenantStatus)| async move {
        if !fence.holds() {
            return ((name, status), Ended::Fenced);
        }
        let objects: Api<DynamicObject> = Api::all_with(cluster.client.clone(), api);
        let (params, patch) = (PatchParams::default(), Patch::Merge(json!({"status": &status})));
        let call = objects.patch_status(&name, &params, &patch);
        let ended = Ended::of(within(CALL_MAX, "patch", "gputenants.stagger.dev/status", call).await);
        ((name, status), ended)
    };
    stream::iter(statuses.into_iter().map(one)).buffered(AT_ONCE).collect().await
}
