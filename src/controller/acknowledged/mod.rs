//! Whether every replica of the webhook knows a CapacityPlan: asked of each of them, and told in the plan's condition.
//!
//! Beside the loop, which only reads what was heard last, so that no start waits for a replica. `replicas` finds them in
//! EndpointSlices, `ask` asks one, `told` is what a plan is told. Who does not lead asks nobody.
//! Deliberately absent: trust. Nothing is held or let go by what replicas say.

pub mod ask;
pub mod replicas;
pub mod told;

use std::time::Duration;

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use replicas::{REPLICAS_MAX, Replica};
use told::{Heard, PlanVersion, Webhook, acknowledged};

use super::rows::Rows;
use crate::admission::policy::SERVICE;
use crate::api::capacity_plan;
use crate::api::status::ConditionStatus;
use crate::cluster::lease::Leadership;
use crate::cluster::{CALL_MAX, Cluster, within};

/// After a plan has changed: a watch brings it to the replicas within some milliseconds.
const SOON: Duration = Duration::from_millis(250);
/// Between two rounds while a plan is not acknowledged, at most.
const WAITING: Duration = Duration::from_secs(5);
/// While all are: a replica that comes later may not know them yet.
const SETTLED: Duration = Duration::from_secs(10);
/// Changes come in bursts.
const GATHER: Duration = Duration::from_millis(100);
/// A Service of a hundred endpoints has one slice.
const SLICES_MAX: u32 = 16;

/// What asking needs.
pub struct Acknowledged {
    pub cluster: Cluster,
    pub rows: Rows,
    pub leadership: Leadership,
    /// Where the webhook runs.
    pub namespace: String,
    /// What was heard last.
    pub tell: watch::Sender<Webhook>,
}

impl Acknowledged {
    /// Keeps on until dropped.
    pub async fn keep(self) {
        let (mut tenure, mut changes) = (self.leadership.changes(), self.rows.changes());
        let mut waiting = SOON;
        loop {
            let mut pause = SETTLED;
            let plans = if self.leadership.epoch().is_some() { self.plans() } else { Vec::new() };
            if plans.is_empty() {
                self.hear(Webhook::Unasked);
            } else {
                let webhook = self.look().await;
                let known = |plan: &PlanVersion| acknowledged(plan, &webhook).0 == ConditionStatus::True;
                if !plans.iter().all(known) {
                    (pause, waiting) = (waiting, (waiting * 2).min(WAITING));
                }
                self.hear(webhook);
            }
            // Until it is time again, or a plan is another.
            let again = Instant::now() + pause;
            loop {
                tokio::select! {
                    () = sleep_until(again), if !plans.is_empty() => break,
                    changed = tenure.changed() => {
                        if changed.is_err() { return; }
                        break;
                    }
                    changed = changes.changed() => {
                        if changed.is_err() { return; }
                        sleep(GATHER).await;
                        changes.mark_unchanged();
                        if self.leadership.epoch().is_some() && self.plans() != plans {
                            waiting = SOON;
                            break;
                        }
                    }
                }
            }
        }
    }

    fn hear(&self, webhook: Webhook) {
        self.tell.send_if_modified(|before| {
            let is_news = *before != webhook;
            *before = webhook;
            is_news
        });
    }

    fn plans(&self) -> Vec<PlanVersion> {
        self.rows.read_kinds(&[capacity_plan::KIND], |rows| rows.map(PlanVersion::of).collect())
    }

    /// Asks every replica.
    async fn look(&self) -> Webhook {
        let api = ApiResource::from_gvk(&GroupVersionKind::gvk("discovery.k8s.io", "v1", "EndpointSlice"));
        let slices: Api<DynamicObject> = Api::namespaced_with(self.cluster.client.clone(), &self.namespace, &api);
        let params = ListParams::default().labels(&format!("kubernetes.io/service-name={SERVICE}")).limit(SLICES_MAX);
        let found = within(CALL_MAX, "list", "endpointslices.discovery.k8s.io", slices.list(&params)).await;
        let found = match found {
            Ok(found) if found.items.is_empty() => return Webhook::Absent,
            Ok(found) => found,
            Err(error) => return Webhook::Unread(error.message),
        };
        let replicas = replicas::replicas(found.items.iter().map(|slice| &slice.data));
        if replicas.len() > REPLICAS_MAX || found.metadata.continue_.is_some_and(|more| !more.is_empty()) {
            return Webhook::Unread(format!("the webhook has more than {REPLICAS_MAX} replicas"));
        }
        if replicas.iter().all(|replica| replica.leaves) {
            return Webhook::Replicas(Vec::new());
        }
        let one = |Replica { name, at, leaves }: Replica| async move {
            let answer = match at {
                Some(address) => ask::ask(address).await,
                None => Err(format!("the Service {SERVICE} has no port `{}`", replicas::PORT)),
            };
            (!leaves || answer.is_ok()).then_some(Heard { name, answer })
        };
        let heard = stream::iter(replicas.into_iter().map(one)).buffered(REPLICAS_MAX);
        Webhook::Replicas(heard.filter_map(std::future::ready).collect().await)
    }
}
