//! What is told about an object as a Kubernetes Event, where people look first: `kubectl describe`.
//!
//! An event that cannot be written is no reason to do anything else differently. Many of a kind are folded into one by the
//! recorder.

use std::time::Duration;

use chrono_tz::Tz;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event, EventType, Recorder};
use tokio::time::timeout;

use crate::calendar;
use crate::cluster::{CALL_MAX, within};
use crate::kueue::release::{Cause, Order};
use crate::units::Timestamp;

/// All events of one turn are written within this, or not at all.
const ALL_MAX: Duration = Duration::from_secs(20);

/// Work was let go.
pub async fn released(recorder: Recorder, orders: Vec<Order>, now: Timestamp, zone: Tz) {
    let all = async {
        for order in &orders {
            one(&recorder, order, now, zone).await;
        }
    };
    if timeout(ALL_MAX, all).await.is_err() {
        tracing::debug!("not all events were written");
    }
}

async fn one(recorder: &Recorder, order: &Order, now: Timestamp, zone: Tz) {
    let Some(target) = order.targets.first() else { return };
    let reference = ObjectReference {
        api_version: Some(target.api_version.clone()),
        kind: Some(target.kind.clone()),
        namespace: Some(target.namespace.clone()),
        name: Some(target.name.clone()),
        uid: Some(target.uid.clone()),
        ..ObjectReference::default()
    };
    let time = |at: Timestamp| calendar::day_time(at, now, zone);
    let note = match (order.cause, order.planned) {
        (Cause::Planned, Some(planned)) => format!("Its planned start, {}, has come.", time(planned)),
        (Cause::Overdue, _) => "It may not be held any longer, and no plan says otherwise.".to_owned(),
        (Cause::NotEnforced, _) => "No CapacityPlan in Enforce mode covers its queue.".to_owned(),
        (Cause::Remainder, _) => "The rest of it was let go before.".to_owned(),
        (Cause::Uninstall, _) => "Everything is let go.".to_owned(),
        (Cause::Planned, None) => "Its planned start has come.".to_owned(),
    };
    let type_ = if order.cause == Cause::Overdue { EventType::Warning } else { EventType::Normal };
    let event =
        Event { type_, reason: "Released".to_owned(), note: Some(note), action: "Release".to_owned(), secondary: None };
    let told = within(CALL_MAX, "create", "events.events.k8s.io", recorder.publish(&event, &reference)).await;
    if let Err(error) = told {
        tracing::debug!(%error, "an event was not written");
    }
}
