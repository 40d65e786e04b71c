//! What is written to the cluster, each with a limit and each harmless when done twice.
//!
//! Before every write the lease is asked at that very moment: who has been paused and no longer leads writes nothing.
//! Objects are never decoded and written back; a patch names the fields it changes.

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::ApiResource;
use serde_json::{Value, json};

use super::kinds::api_of;
use super::tenants::Relabel;
use crate::api::keys;
use crate::api::status::{CapacityPlanStatus, WorkloadSloStatus};
use crate::api::{GROUP, VERSION};
use crate::cluster::lease::Leadership;
use crate::cluster::{CALL_MAX, Cluster, ClusterError, Kind, server_time, within};
use crate::kueue::observed::Carrier;
use crate::kueue::release::{Hold, Order, Target, Told};

/// Writes at once. The API server gives a client its share; more would only wait there.
pub(super) const AT_ONCE: usize = 32;
const MANAGER: &str = "stagger-controller";

/// The right to write: a tenure that is asked each time.
#[derive(Debug, Clone)]
pub struct Fence {
    pub leadership: Option<Leadership>,
    pub epoch: i64,
}

impl Fence {
    /// Whether the tenure in which this was decided still lasts. Who needs no lease always may.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.leadership.as_ref().is_none_or(|leadership| leadership.epoch() == Some(self.epoch))
    }
}

/// How a write ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Done,
    /// The object has changed or is gone: the next look decides anew.
    Changed,
    /// The lease is another's.
    Fenced,
    Failed(ClusterError),
}

impl Ended {
    pub(super) fn of<T>(result: Result<T, ClusterError>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(error) if matches!(error.kind, Kind::Conflict | Kind::NotFound | Kind::Gone) => Self::Changed,
            Err(error) => Self::Failed(error),
        }
    }
}

/// Carries out orders, the first ones first; several at once, and none waits for the answer to one before it.
pub async fn release(cluster: &Cluster, orders: Vec<Order>, fence: &Fence) -> Vec<(Order, Ended)> {
    let one = |order: Order| async move {
        let ended = release_one(cluster, &order, fence).await;
        (order, ended)
    };
    stream::iter(orders).map(one).buffer_unordered(AT_ONCE).collect().await
}

/// Carries out one order; of several objects the worst end.
pub async fn release_one(cluster: &Cluster, order: &Order, fence: &Fence) -> Ended {
    let mut ended = Ended::Done;
    for target in &order.targets {
        match let_go(cluster, target, order.told.as_ref(), fence).await {
            Ended::Done => {}
            other => ended = other,
        }
    }
    ended
}

/// Takes our hold off one object, and writes the start that it is let go for.
pub async fn let_go(cluster: &Cluster, target: &Target, told: Option<&Told>, fence: &Fence) -> Ended {
    let Some(api) = api_of(&target.api_version, &target.kind) else { return Ended::Changed };
    if !fence.holds() {
        return Ended::Fenced;
    }
    let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &target.namespace, &api);
    match (target.patch(told), told) {
        (Some(steps), _) => stepwise(&objects, &target.name, steps, &resource(&api)).await,
        (None, Some(told)) => merge(&objects, &target.name, &note(&target.uid, told), &resource(&api)).await,
        (None, None) => Ended::Done,
    }
}

/// A merge patch that writes a start, where no hold on the object itself is to be tested.
fn note(uid: &str, told: &Told) -> Value {
    let annotations = json!({keys::PLANNED_START: told.start, keys::PLAN: told.plan});
    json!({"metadata": {"uid": uid, "annotations": annotations}})
}

/// How API servers word a `test` of a JSON patch that does not hold; newer ones do not say more than the second.
fn is_test(message: &str) -> bool {
    message.contains("test") || message.contains("due to an error in our request")
}

/// A planned start to be written on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub carrier: Carrier,
    pub told: Told,
}

impl Note {
    /// A JSON patch that fails where the hold has gone since: what was let go keeps the start that it was let go for,
    /// also when a plan is told that was made a moment before. `None`: no gate holds it.
    #[must_use]
    pub fn steps(&self) -> Option<Value> {
        let held = Hold::of(&self.carrier)?.test()?;
        let [start, plan] = self.told.steps();
        Some(json!([{"op": "test", "path": "/metadata/uid", "value": self.carrier.uid}, held, start, plan]))
    }
}

/// Writes a planned start on the work itself.
pub async fn annotate(cluster: &Cluster, note: &Note, fence: &Fence) -> Ended {
    let Note { carrier, told } = note;
    let Some(api) = api_of(&carrier.api_version, &carrier.kind) else { return Ended::Changed };
    if !fence.holds() {
        return Ended::Fenced;
    }
    let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &carrier.namespace, &api);
    match note.steps() {
        Some(steps) => stepwise(&objects, &carrier.name, steps, &resource(&api)).await,
        None => merge(&objects, &carrier.name, &self::note(&carrier.uid, told), &resource(&api)).await,
    }
}

/// A JSON patch; where a `test` of it does not hold, somebody else was first.
async fn stepwise(objects: &Api<DynamicObject>, name: &str, steps: Value, resource: &str) -> Ended {
    let Ok(steps) = serde_json::from_value(steps) else { return Ended::Changed };
    let (params, steps) = (PatchParams::default(), Patch::Json::<()>(steps));
    match Ended::of(within(CALL_MAX, "patch", resource, objects.patch(name, &params, &steps)).await) {
        Ended::Failed(error) if error.kind == Kind::Refused && is_test(&error.message) => Ended::Changed,
        ended => ended,
    }
}

async fn merge(objects: &Api<DynamicObject>, name: &str, patch: &Value, resource: &str) -> Ended {
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    Ended::of(within(CALL_MAX, "patch", resource, objects.patch(name, &params, &Patch::Merge(patch))).await)
}

/// Writes tenants on their namespaces, and since when: the creations that this is held against are of the API server's clock.
pub async fn relabel(cluster: &Cluster, labels: Vec<Relabel>, fence: &Fence) -> Vec<(Relabel, Ended)> {
    if labels.is_empty() {
        return Vec::new();
    }
    let api =
        ApiResource::from_gvk_with_plural(&kube::core::GroupVersionKind::gvk("", "v1", "Namespace"), "namespaces");
    let objects: &Api<DynamicObject> = &Api::all_with(cluster.client.clone(), &api);
    let now = match server_time(&cluster.client).await {
        Ok(now) => now,
        Err(error) => return labels.into_iter().map(|label| (label, Ended::Failed(error.clone()))).collect(),
    };
    let one = |label: Relabel| async move {
        if !fence.holds() {
            return (label, Ended::Fenced);
        }
        let ended = merge(objects, &label.namespace, &label.patch(now), "namespaces").await;
        (label, ended)
    };
    stream::iter(labels.into_iter().map(one)).buffered(AT_ONCE).collect().await
}

/// A WorkloadSLO's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SloTold {
    pub namespace: String,
    pub name: String,
    pub status: WorkloadSloStatus,
}

/// Writes the status of a WorkloadSLO.
pub async fn tell_slo(cluster: &Cluster, told: &SloTold, fence: &Fence) -> Ended {
    if !fence.holds() {
        return Ended::Fenced;
    }
    let api = ours("WorkloadSLO", "workloadslos");
    let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &told.namespace, &api);
    let status = whole(&told.status, &["plannedStart", "expectedEnd", "slackSeconds", "attempts", "message"]);
    status_of(&objects, &told.name, status, &resource(&api)).await
}

/// Writes the status of a CapacityPlan.
pub async fn tell_plan(cluster: &Cluster, name: &str, status: &CapacityPlanStatus, fence: &Fence) -> Ended {
    if !fence.holds() {
        return Ended::Fenced;
    }
    let api = ours("CapacityPlan", "capacityplans");
    let objects: Api<DynamicObject> = Api::all_with(cluster.client.clone(), &api);
    status_of(&objects, name, whole(status, &["digest", "summary", "took"]), &resource(&api)).await
}

async fn status_of(objects: &Api<DynamicObject>, name: &str, status: Value, resource: &str) -> Ended {
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({"status": status}));
    let call = objects.patch_status(name, &params, &patch);
    Ended::of(within(CALL_MAX, "patch", &format!("{resource}/status"), call).await)
}

/// A status in which what is absent is taken away.
fn whole(status: &impl serde::Serialize, fields: &[&str]) -> Value {
    let mut value = serde_json::to_value(status).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        for field in fields {
            members.entry(*field).or_insert(Value::Null);
        }
    }
    value
}

pub(super) fn ours(kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&kube::core::GroupVersionKind::gvk(GROUP, VERSION, kind), plural)
}

fn resource(api: &ApiResource) -> String {
    if api.group.is_empty() { api.plural.clone() } else { format!("{}.{}", api.plural, api.group) }
}
