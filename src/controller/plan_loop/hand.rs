//! The hand that lets go: orders are carried out beside the loop, in the order in which they were given.
//!
//! What is in it counts as let go, for the loop would otherwise give the same order twice, or the same quota to two. It
//! counts so until the watch shows it, or until its write has failed; then the next look decides anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::beside::{Beside, Pace, SHOWN_WITHIN};
use crate::cluster::Cluster;
use crate::controller::acts::{self, Ended, Fence};
use crate::kueue::observed::Observed;
use crate::kueue::release::Order;
use crate::names::WorkloadKey;

/// Orders in it at most. Quota that is taken away is looked at before the next ones.
const FULL: usize = 512;
/// From here on there is time to decide the next ones before it has none.
const LOW: usize = FULL / 2;
/// More than go in a moment.
const MANY: usize = FULL / 8;

/// An order on its way.
struct Going {
    order: Order,
    /// When it was carried out.
    done: Option<Instant>,
}

/// The orders of one tenure that the watch has not shown yet.
pub(super) struct Hand {
    going: BTreeMap<WorkloadKey, Going>,
    orders: Beside<WorkloadKey, Order>,
}

impl Hand {
    /// Calls `few` when so few are left that the next ones are wanted, or none.
    pub(super) fn new(cluster: &Cluster, fence: &Fence, few: Arc<Notify>) -> Self {
        let (cluster, fence) = (cluster.clone(), fence.clone());
        let write = move |order: Order| {
            let (cluster, fence) = (cluster.clone(), fence.clone());
            async move { acts::release_one(&cluster, &order, &fence).await }
        };
        let orders = Beside::new(Pace { at_once: acts::AT_ONCE, low: LOW }, few, write);
        Self { going: BTreeMap::new(), orders }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    /// Whether something was carried out so long ago that the watch has missed it, or it was undone since.
    pub(super) fn is_overlooked(&self) -> bool {
        self.going.values().filter_map(|going| going.done).any(|done| done.elapsed() >= SHOWN_WITHIN)
    }

    /// Orders that are not carried out yet.
    pub(super) fn count(&self) -> usize {
        self.orders.count()
    }

    /// Whether there are so many that what is seen meanwhile is mostly what becomes of them.
    pub(super) fn is_many(&self) -> bool {
        self.count() > MANY
    }

    /// Orders that it would still take.
    pub(super) fn room(&self) -> usize {
        FULL.saturating_sub(self.count())
    }

    /// Work whose order is not carried out yet.
    pub(super) fn open(&self) -> impl Iterator<Item = &WorkloadKey> {
        self.going.iter().filter(|(_, going)| going.done.is_none()).map(|(key, _)| key)
    }

    /// Takes orders; from now on they count as carried out.
    pub(super) fn take(&mut self, orders: Vec<Order>, observed: &mut dyn Iterator<Item = &mut Observed>) {
        let fresh = |order: &Order| !self.going.contains_key(&order.key) && self.orders.takes(&order.key);
        let orders: Vec<Order> = orders.into_iter().filter(fresh).collect();
        self.orders.add(orders.iter().map(|order| (order.key.clone(), order.clone())));
        self.going.extend(orders.into_iter().map(|order| (order.key.clone(), Going { order, done: None })));
        self.foresee(observed);
    }

    /// How orders ended since this was asked last. What went wrong is not counted as let go any more.
    pub(super) fn answers(&mut self) -> Vec<(Order, Ended)> {
        let mut found = Vec::new();
        for (key, order, ended) in self.orders.answers() {
            if ended != Ended::Done {
                self.going.remove(&key);
            } else if let Some(going) = self.going.get_mut(&key) {
                going.done = Some(Instant::now());
            }
            found.push((order, ended));
        }
        found
    }

    /// Forgets what was carried out and is not held any more, and lets the rest count as let go.
    pub(super) fn look(&mut self, observed: &mut [Observed]) {
        let held: BTreeMap<&str, bool> = observed
            .iter()
            .flat_map(|one| {
                let carriers = one.carriers.iter().map(|it| (it.uid.as_str(), it.is_gated()));
                let workload = one.workload.iter();
                carriers.chain(workload.map(|it| (it.uid.as_str(), it.is_held() || !it.gates.is_empty())))
            })
            .collect();
        let holds = |uid: &String| held.get(uid.as_str()).copied().unwrap_or(false);
        self.going.retain(|_, going| {
            let Some(done) = going.done else { return true };
            done.elapsed() < SHOWN_WITHIN && going.order.targets.iter().any(|target| holds(&target.uid))
        });
        self.foresee(&mut observed.iter_mut());
    }

    fn foresee(&self, observed: &mut dyn Iterator<Item = &mut Observed>) {
        if self.going.is_empty() {
            return;
        }
        let mut targets: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for order in self.going.values().map(|going| &going.order) {
            for target in &order.targets {
                targets.entry(&target.uid).or_default().push((target, order.told.as_ref()));
            }
        }
        for one in observed {
            let uids = one.carriers.iter().map(|it| &it.uid).chain(one.workload.iter().map(|it| &it.uid));
            let mine: Vec<_> = uids.filter_map(|uid| targets.get(uid.as_str())).flatten().copied().collect();
            for (target, told) in mine {
                target.foresee(told, one);
            }
        }
    }
}
