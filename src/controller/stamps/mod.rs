//! Work that came without a stamp is found and, where that is sound, stamped later.
//!
//! Beside the loop, so that no start waits for it, and only while we lead, there are tenants and stamps are `wanted`.
//! `found` is filled by watches that select what has no stamp; `round` decides, with `admission::late`; `told` is what
//! GpuTenants are told. A stamp is a patch on the object as it was seen, and done twice it is done once.
//! Deliberately absent: gates, which nobody can put on later, and the templates of what has begun.

pub mod found;
pub mod round;
pub mod told;
mod wanted;
mod write;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::ResourceExt;
use kube::api::{DynamicObject, PartialObjectMeta};
use kube::core::ApiResource;
use kube::runtime::watcher;
use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use found::{Change, Found, Unstamped};
use round::Tenancy;
use told::{Given, Standing, TOLD_FOR, tenant_status};

use super::acts::{Ended, Fence};
use super::probes::Health;
use super::rows::{Rows, State};
use super::tenants::OF_TENANCY;
use crate::admission::kinds::KINDS;
use crate::admission::policy::LEFT_OUT;
use crate::api::keys::TENANT_UID;
use crate::api::manifest::Manifest;
use crate::api::status::GpuTenantStatus;
use crate::api::tenant;
use crate::clock::Clock;
use crate::cluster::lease::Leadership;
use crate::cluster::{Cluster, Patience, Seen, Told, Watched, follow_kind};

/// Between two rounds: a stamp that is missing is noticed within this, and one round is some milliseconds of work.
const ROUND: Duration = Duration::from_secs(2);
/// Without any change, for what is told only for a while and what is to be tried again.
const ROUND_IDLE: Duration = Duration::from_secs(30);
/// Statuses that are written in one round.
const STATUSES_MAX: usize = 64;
/// Events on their way; the watches wait when we are slower than they are.
const QUEUE_MAX: usize = 1024;

/// What the rounds need.
pub struct Stamps {
    pub cluster: Cluster,
    pub rows: Rows,
    pub clock: Clock,
    pub leadership: Leadership,
    pub health: Arc<Health>,
}

type Event = (usize, Change, Option<ApiResource>);

/// One tenure's memory.
#[derive(Default)]
struct Memory {
    found: Found,
    /// By the tenant's name: what was stamped later.
    given: BTreeMap<String, Given>,
    told: BTreeMap<String, GpuTenantStatus>,
    /// The rows by which the last round went.
    revision: Option<u64>,
    /// Something is left to do or was told by a watch.
    is_due: bool,
    last: Option<Instant>,
}

impl Stamps {
    /// Keeps on until dropped; whoever does not lead watches nothing.
    pub async fn keep(self) {
        let mut tenure = self.leadership.changes();
        loop {
            if let Some(epoch) = self.leadership.epoch() {
                self.lead(&Fence { leadership: Some(self.leadership.clone()), epoch }).await;
            }
            if tenure.changed().await.is_err() {
                return;
            }
        }
    }

    /// One tenure. Without a tenant nothing can be stamped, so nothing is watched: that would be all work there is.
    async fn lead(&self, fence: &Fence) {
        let mut rounds = interval(ROUND);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while fence.holds() {
            rounds.tick().await;
            if self.has_tenants() {
                self.follow(fence).await;
                self.count_left(&BTreeMap::new());
            }
        }
    }

    fn has_tenants(&self) -> bool {
        self.rows.read_kinds(&[tenant::KIND], |rows| rows.next().is_some())
    }

    /// While there are tenants.
    async fn follow(&self, fence: &Fence) {
        let (send, mut events) = mpsc::channel(QUEUE_MAX);
        let mut watches = JoinSet::new();
        for kind in 0..KINDS.len() {
            watches.spawn(watch(self.cluster.clone(), kind, send.clone()));
        }
        drop(send);
        let mut rounds = interval(ROUND);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut memory, mut batch) = (Memory::default(), Vec::new());
        while fence.holds() && self.has_tenants() {
            tokio::select! {
                count = events.recv_many(&mut batch, QUEUE_MAX) => {
                    if count == 0 { return; }
                    for (kind, change, api) in batch.drain(..) {
                        self.count(&change);
                        memory.found.take(kind, change, api);
                        memory.is_due = true;
                    }
                }
                _ = rounds.tick() => self.round(&mut memory, fence).await,
            }
        }
    }

    /// How many of each kind are left without a stamp.
    fn count_left(&self, kinds: &BTreeMap<usize, usize>) {
        for (at, kind) in KINDS.iter().enumerate() {
            let of = super::metrics::Of { name: "resource", value: kind.resource };
            let count = kinds.get(&at).copied().unwrap_or(0);
            self.health.metrics.unstamped.get_or_create(&of).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    fn count(&self, change: &Change) {
        if let Change::Failed(why) = change {
            let metrics = &self.health.metrics;
            metrics.count(&metrics.watch_errors, "kind", "stamps");
            tracing::warn!(error = why, "what has no stamp cannot be watched; it is tried again");
        }
    }

    async fn round(&self, memory: &mut Memory, fence: &Fence) {
        let revision = *self.rows.changes().borrow();
        let is_old = memory.last.is_none_or(|last| last.elapsed() >= ROUND_IDLE);
        let is_known = OF_TENANCY.iter().all(|kind| self.rows.state(kind) == State::Listed);
        let is_due = memory.is_due || memory.revision != Some(revision) || is_old;
        if !is_known || !is_due {
            return;
        }
        (memory.revision, memory.is_due, memory.last) = (Some(revision), false, Some(Instant::now()));
        let wanted = match wanted::are_wanted(&self.cluster).await {
            Ok(wanted) => wanted,
            Err(error) => {
                tracing::warn!(%error, "it is not known whether stamps are wanted; none is written for now");
                memory.is_due = true;
                return;
            }
        };
        let rows: Vec<Manifest> = self.rows.read_kinds(&OF_TENANCY, |rows| rows.cloned().collect());
        let (tenancy, now) = (Tenancy::of(&rows), self.clock.now());
        // 1. Stamp what can be.
        let due = if wanted { round::due(&memory.found, &tenancy, now) } else { Vec::new() };
        memory.is_due |= due.len() == round::STAMPS_MAX;
        for (stamp, ended) in write::stamps(&self.cluster, &memory.found, due, fence).await {
            self.written(&ended);
            match ended {
                Ended::Done => {
                    tracing::info!(object = stamp.place.called(), tenant = stamp.tenant.name, "stamped later");
                    self.health.metrics.stamped_late.inc();
                    memory.found.done(&stamp.place);
                    memory.given.entry(stamp.tenant.name).or_default().add(stamp.place.called(), now);
                }
                Ended::Failed(error) => memory.found.refuse(&stamp.place, now, &error.message),
                // It has changed: its watch tells how.
                Ended::Changed | Ended::Fenced => {}
            }
        }
        // 2. Tell what is left.
        memory.given.retain(|_, given| now - given.last < TOLD_FOR);
        let (left, kinds) = round::left(&memory.found, &tenancy);
        self.count_left(&kinds);
        self.tell(memory, (&rows, &tenancy, wanted), &left, fence).await;
    }

    async fn tell(
        &self,
        memory: &mut Memory,
        (rows, tenancy, wanted): (&[Manifest], &Tenancy, bool),
        left: &BTreeMap<String, round::Left>,
        fence: &Fence,
    ) {
        let unread = memory.found.unread();
        // What was not listed yet is not said to be stamped.
        if unread.is_none() && !memory.found.is_complete() {
            return;
        }
        let mut statuses = Vec::new();
        for row in rows.iter().filter(|row| row.kind == tenant::KIND && row.group() == crate::api::GROUP) {
            let written: GpuTenantStatus = row.decode("/status").unwrap_or_default();
            let known = memory.told.get(&row.name);
            let status = tenant_status(Standing {
                now: self.clock.now(),
                generation: row.at("/metadata/generation").and_then(serde_json::Value::as_i64),
                claims: &tenancy.claims(&row.name),
                wanted,
                left: left.get(&row.name),
                given: memory.given.get(&row.name),
                unread,
                before: known.unwrap_or(&written),
            });
            if status != written && known != Some(&status) {
                statuses.push((row.name.clone(), status));
            }
        }
        memory.is_due |= statuses.len() > STATUSES_MAX;
        statuses.truncate(STATUSES_MAX);
        for ((name, status), ended) in write::statuses(&self.cluster, statuses, fence).await {
            self.written(&ended);
            memory.is_due |= ended != Ended::Done;
            if ended == Ended::Done {
                memory.told.insert(name, status);
            }
        }
    }

    fn written(&self, ended: &Ended) {
        let metrics = &self.health.metrics;
        let word = match ended {
            Ended::Done => "done",
            Ended::Changed => "changed",
            Ended::Fenced => "fenced",
            Ended::Failed(error) => {
                tracing::warn!(%error, "a stamp or what is told of it was not written");
                error.kind.label()
            }
        };
        metrics.count(&metrics.writes, "ended", word);
    }
}

/// Follows what of one kind has no stamp.
async fn watch(cluster: Cluster, at: usize, tell: Sender<Event>) {
    let Some(known) = KINDS.get(at) else { return };
    let elsewhere: Vec<String> = LEFT_OUT.iter().map(|name| format!("metadata.namespace!={name}")).collect();
    let config = watcher::Config::default().labels(&format!("!{TENANT_UID}")).fields(&elsewhere.join(","));
    let kind = Watched { group: known.group, plural: known.resource, config, patience: Patience::default() };
    let mut told = pin!(follow_kind::<PartialObjectMeta<DynamicObject>>(cluster.client, kind));
    while let Some((told, api)) = told.next().await {
        let change = match told {
            Told::Absent => Change::Absent,
            Told::Unknown(error) | Told::Seen(Seen::Failed(error)) => Change::Failed(error.message),
            Told::Seen(Seen::Begin) => Change::Begin,
            Told::Seen(Seen::Complete) => Change::Complete,
            Told::Seen(Seen::Listed(object) | Seen::Applied(object)) => {
                Change::Put(object.namespace().unwrap_or_default(), object.name_any(), Unstamped::of(&object.metadata))
            }
            Told::Seen(Seen::Deleted(object)) => {
                Change::Remove(object.namespace().unwrap_or_default(), object.name_any())
            }
        };
        if tell.send((at, change, api)).await.is_err() {
            return;
        }
    }
}
