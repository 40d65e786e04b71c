//! Lets work go when nobody leads: the planned starts are on the work itself, so no plan is needed.
//!
//! A process of its own with no state but since when it has seen the lease unchanged, on its own monotonic clock. While the
//! lease is renewed it does nothing. Its decision is pure; quota stays Kueue's, so acting beside a leader that lives after
//! all does no harm.

use std::time::Duration;

use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::acts::{self, Ended, Fence};
use super::sweep::{Gated, sweep};
use crate::clock::Clock;
use crate::cluster::lease::{Place, Record};
use crate::cluster::{CALL_MAX, Cluster, ClusterError, within};
use crate::kueue::release::{Cause, Order};
use crate::names::WorkloadKey;
use crate::units::Timestamp;

/// How long it watches before it acts.
#[derive(Debug, Clone, Copy)]
pub struct Nerves {
    /// So long without a renewal, and whoever led is taken to be gone: longer than a new leader needs.
    pub stale: Duration,
    /// So long, and everything is let go, whatever its planned start.
    pub all: Duration,
    /// Between two looks.
    pub look: Duration,
}

impl Default for Nerves {
    fn default() -> Self {
        Self { stale: Duration::from_secs(45), all: Duration::from_hours(6), look: Duration::from_secs(5) }
    }
}

/// What is let go after `silence` without a leader: by its planned start, or everything.
#[must_use]
pub fn due(gated: Vec<Gated>, now: Timestamp, silence: Duration, nerves: &Nerves) -> Vec<Gated> {
    if silence < nerves.stale {
        return Vec::new();
    }
    let all = silence >= nerves.all;
    gated.into_iter().filter(|one| all || one.planned.is_some_and(|planned| planned <= now)).collect()
}

/// Watches until told to end.
pub async fn run(cluster: Cluster, place: Place, clock: Clock, nerves: Nerves, mut ends: watch::Receiver<bool>) {
    let mut seen: (Option<Record>, Instant) = (None, Instant::now());
    loop {
        tokio::select! {
            _ = ends.wait_for(|ends| *ends) => return,
            () = sleep(nerves.look) => {}
        }
        match read(&cluster, &place).await {
            // Nobody holds a lease that is absent or resigned; silence goes on from when that was first seen.
            Ok(record) if record != seen.0 => seen = (record, Instant::now()),
            Ok(_) => {}
            // Without an answer nothing can be let go either.
            Err(error) => {
                tracing::warn!(%error, "the lease cannot be read");
                continue;
            }
        }
        let silence = seen.1.elapsed();
        if silence >= nerves.stale {
            act(&cluster, &clock, silence, &nerves).await;
        }
    }
}

async fn act(cluster: &Cluster, clock: &Clock, silence: Duration, nerves: &Nerves) {
    let (gated, failed) = sweep(cluster).await;
    for error in failed {
        tracing::warn!(%error, "not everything could be looked at");
    }
    let orders = due(gated, clock.now(), silence, nerves).into_iter().map(|one| order(one, Cause::Overdue)).collect();
    for (order, ended) in acts::release(cluster, orders, &Fence { leadership: None, epoch: 0 }).await {
        match ended {
            Ended::Done => {
                tracing::warn!(workload = %order.key, silence = silence.as_secs(), "let go without a leader");
            }
            Ended::Changed | Ended::Fenced => {}
            Ended::Failed(error) => tracing::warn!(workload = %order.key, %error, "could not be let go"),
        }
    }
}

/// The order for one object that was found.
#[must_use]
pub fn order(gated: Gated, cause: Cause) -> Order {
    let key = WorkloadKey::new(&gated.target.namespace, &gated.target.name);
    Order { key, targets: vec![gated.target], planned: gated.planned, told: None, cause }
}

async fn read(cluster: &Cluster, place: &Place) -> Result<Option<Record>, ClusterError> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease"));
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &place.namespace, &resource);
    let found = within(CALL_MAX, "get", "leases.coordination.k8s.io", api.get_opt(&place.name)).await?;
    Ok(found.map(|lease| {
        let spec = lease.data.get("spec").cloned().unwrap_or_default();
        serde_json::from_value(spec).unwrap_or_default()
    }))
}

/// How many objects are let go a second when everything is: Kueue has to take them up.
const A_SECOND: usize = 50;

/// Lets everything go. Returns what was let go, what could not be, and what could not be looked at.
pub async fn release_all(cluster: &Cluster) -> (usize, Vec<(Order, ClusterError)>, Vec<ClusterError>) {
    let (gated, failed) = sweep(cluster).await;
    let (mut done, mut stuck) = (0, Vec::new());
    let orders: Vec<Order> = gated.into_iter().map(|one| order(one, Cause::Uninstall)).collect();
    for some in orders.chunks(A_SECOND) {
        let begun = Instant::now();
        for (order, ended) in acts::release(cluster, some.to_vec(), &Fence { leadership: None, epoch: 0 }).await {
            match ended {
                Ended::Done => done += 1,
                Ended::Changed | Ended::Fenced => {}
                Ended::Failed(error) => stuck.push((order, error)),
            }
        }
        if some.len() == A_SECOND {
            sleep(Duration::from_secs(1).saturating_sub(begun.elapsed())).await;
        }
    }
    (done, stuck, failed)
}
