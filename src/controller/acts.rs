//! What is written to the cluster, each with a limit and each harmless when done twice.
//!
//! Before every write the lease is asked at that very moment: who has been paused and no longer leads writes nothing.
//! Objects are never decoded and written back; a patch names the fields it changes.

use futures::{Stream, StreamExt, stream};
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
const AT_ONCE: usize = 32;
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

/// Carries out orders, the first ones first.
pub async fn release(cluster: &Cluster, orders: Vec<Order>, fence: &Fence) -> Vec<(Order, Ended)> {
    release_each(cluster.clone(), stream::iter(orders), fence.clone()).collect().await
}

/// Carries out orders as they come; several at once, and none waits for the answer to one before it.
pub fn release_each(
    cluster: Cluster,
    orders: impl Stream<Item = Order>,
    fence: Fence,
) -> impl Stream<Item = (Order, Ended)> {
    let one = move |order: Order| {
        let (cluster, fence) = (cluster.clone(), fence.clone());
        async move {
            let mut ended = Ended::Done;
            for target in &order.targets {
                match let_go(&cluster, target, order.told.as_ref(), &fence).await {
                    Ended::Done => {}
                    other => ended = other,
                }
            }
            (order, ended)
        }
    };
    orders.map(one).buffer_unordered(AT_ONCE)
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

/// Writes planned starts on the work itself.
pub async fn annotate(cluster: &Cluster, notes: Vec<Note>, fence: &Fence) -> Vec<(Note, Ended)> {
    let one = |note: Note| async move {
        let Some(api) = api_of(&note.carrier.api_version, &note.carrier.kind) else { return (note, Ended::Changed) };
        if !fence.holds() {
            return (note, Ended::Fenced);
        }
        let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &note.carrier.namespace, &api);
        let ended = match note.steps() {
            Some(steps) => stepwise(&objects, &note.carrier.name, steps, &resource(&api)).await,
            None => {
                let patch = self::note(&note.carrier.uid, &note.told);
                merge(&objects, &note.carrier.name, &patch, &resource(&api)).await
            }
        };
        (note, ended)
    };
    stream::iter(notes.into_iter().map(one)).buffered(AT_ONCE).collect().await
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

/// Writes the statuses of WorkloadSLOs.
pub async fn tell_slos(cluster: &Cluster, told: Vec<SloTold>, fence: &Fence) -> Vec<(SloTold, Ended)> {
    let api = ours("WorkloadSLO", "workloadslos");
    let api = &api;
    let one = |told: SloTold| async move {
        if !fence.holds() {
            return (told, Ended::Fenced);
        }
        let objects: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &told.namespace, api);
        let status = whole(&told.status, &["plannedStart", "expectedEnd", "slackSeconds", "attempts", "message"]);
        let ended = status_of(&objects, &told.name, status, &resource(api)).await;
        (told, ended)
    };
    stream::iter(told.into_iter().map(one)).buffered(AT_ONCE).collect().await
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
