//! What a turn of the loop writes, in the order in which it matters: gates, planned starts, statuses, the stored plan.

use tokio::time::Instant;

use super::{Loop, Plan, STORE_PAUSE, Stored, WRITES};
use crate::api::manifest::Manifest;
use crate::cluster::Kind;
use crate::controller::acts::{self, Ended, Fence};
use crate::controller::plan_status::{Standing, plan_status};
use crate::controller::rows::State;
use crate::controller::settings::Patience;
use crate::controller::turn::{self, Sight, Turn};
use crate::controller::{events, overlap, stored, tenants};
use crate::kueue::observed::Observed;
use crate::names::{QueueName, WorkloadKey};
use crate::units::Timestamp;

impl Loop {
    /// Writes, in the order in which it matters; whether something is left.
    pub(super) async fn act(&mut self, turn: Turn, now: Timestamp, fence: &Fence) -> bool {
        let Turn { orders, mut notes, mut slos, put_off, .. } = turn;
        let mut left = notes.len() > WRITES || slos.len() > WRITES || put_off > 0;
        let mut done = Vec::new();
        for (order, ended) in acts::release(&self.cluster, orders, fence).await {
            left |= ended == Ended::Changed;
            self.count("release", &ended);
            if ended == Ended::Done {
                let metrics = &self.health.metrics;
                metrics.count(&metrics.releases, "cause", order.cause.word());
                tracing::info!(workload = %order.key, cause = order.cause.word(), "let go");
                done.push(order);
            }
        }
        // Nobody waits for what is only told.
        tokio::spawn(events::released(self.recorder.clone(), done, now, self.settings.zone));
        notes.truncate(WRITES);
        for (_, ended) in acts::annotate(&self.cluster, notes, fence).await {
            self.count("note", &ended);
        }
        slos.truncate(WRITES);
        for (told, ended) in acts::tell_slos(&self.cluster, slos, fence).await {
            self.count("slo-status", &ended);
            if ended == Ended::Done {
                self.slo_told.insert((told.namespace, told.name), (now, told.status));
            }
        }
        left
    }

    pub(super) fn count(&self, what: &'static str, ended: &Ended) {
        let word = match ended {
            Ended::Done => "done",
            Ended::Changed => "changed",
            Ended::Fenced => "fenced",
            Ended::Failed(error) => {
                tracing::warn!(what, %error, "a write failed");
                error.kind.label()
            }
        };
        self.health.metrics.count(&self.health.metrics.writes, "ended", word);
    }

    /// Keeps the plans where the next leader and the commands find them.
    pub(super) async fn store(&mut self, fence: &Fence) {
        for (name, scope) in &self.scopes {
            let Some(planned) = &scope.planned else { continue };
            let rests = |known: &Stored| {
                known.releases == planned.plan.releases || known.at.elapsed() < known.took * STORE_PAUSE
            };
            if self.stored.get(name).is_some_and(rests) || !fence.holds() {
                continue;
            }
            let (scope, plan, begun) = (scope.name.as_deref(), &planned.plan, Instant::now());
            match stored::write(&self.cluster, &self.settings.namespace, scope, plan, fence.epoch).await {
                Ok(()) => {
                    let (releases, at) = (plan.releases.clone(), Instant::now());
                    self.stored.insert(name.clone(), Stored { releases, at, took: begun.elapsed() });
                }
                Err(error) if error.kind == Kind::Conflict => tracing::info!(%error, "the plan was not stored"),
                Err(error) => tracing::warn!(%error, "the plan was not stored"),
            }
        }
    }

    pub(super) async fn tell_plans(&mut self, plans: &[Plan], now: Timestamp, patience: &Patience, fence: &Fence) {
        let webhook = self.webhook.borrow_and_update().clone();
        for plan in plans {
            let (Some(scope), Some((_, seen))) = (self.scopes.get(&plan.name), self.seen.get(&plan.name)) else {
                continue;
            };
            let sight = Sight {
                now,
                settings: &self.settings,
                reservations: &[],
                slos: &[],
                plans_known: true,
                since: self.since,
            };
            let covers = |queue: &QueueName| scope.covers(queue, &seen.snapshot);
            let covered: Vec<&Observed> =
                seen.observed.iter().filter(|one| one.queue.as_ref().is_some_and(covers)).collect();
            let mut ungated: Vec<WorkloadKey> =
                covered.iter().filter(|one| one.came_ungated()).map(|one| one.key.clone()).collect();
            ungated.sort();
            let overlap = overlap::told(&plan.name, &self.scopes, &seen.snapshot);
            let standing = Standing {
                overlap: overlap.as_deref(),
                now,
                generation: plan.generation,
                held: covered.iter().filter(|one| one.is_gated()).count(),
                ungated: &ungated,
                gates: &self.gates,
                version: &plan.version,
                webhook: &webhook,
                stale: turn::is_stale(scope, &sight, patience),
                before: self.plan_told.get(&plan.name).unwrap_or(&plan.status),
            };
            let status = plan_status(scope, standing);
            if status == plan.status || self.plan_told.get(&plan.name) == Some(&status) {
                continue;
            }
            let ended = acts::tell_plan(&self.cluster, &plan.name, &status, fence).await;
            self.count("plan-status", &ended);
            if ended == Ended::Done {
                self.plan_told.insert(plan.name.clone(), status);
            }
        }
    }

    /// Keeps tenants' labels on their namespaces, where both kinds are known; whether something is left.
    pub(super) async fn label_namespaces(&mut self, fence: &Fence) -> bool {
        let revision = *self.rows.changes().borrow();
        if self.labelled == Some(revision) || self.rows.state("GpuTenant") != State::Listed {
            return false;
        }
        let rows: Vec<Manifest> = self.rows.read_kinds(&tenants::OF_TENANCY, |rows| rows.cloned().collect());
        let mut wrong = tenants::relabel(&rows);
        let left = wrong.len() > WRITES;
        wrong.truncate(WRITES);
        let mut all = true;
        for (label, ended) in acts::relabel(&self.cluster, wrong, fence).await {
            self.count("namespace-labels", &ended);
            all &= ended == Ended::Done;
            if ended == Ended::Done {
                tracing::info!(namespace = label.namespace, tenant = ?label.tenant, "the namespace's tenant is written");
            }
        }
        if all && !left {
            self.labelled = Some(revision);
        }
        left
    }
}
