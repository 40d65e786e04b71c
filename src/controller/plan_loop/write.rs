//! What a turn of the loop writes, all of it beside the loop: gates first, then statuses and planned starts, the stored plans
//! and the labels of namespaces.

use super::hand::Hand;
use super::pen::{Line, Pen};
use super::plans::Plan;
use super::{EVENTS, Loop};
use crate::controller::acts::{Ended, Fence};
use crate::controller::events;
use crate::controller::overlap::Meeting;
use crate::controller::plan_status::{Standing, plan_status};
use crate::controller::settings::Patience;
use crate::controller::turn;
use crate::kueue::observed::Observed;
use crate::kueue::release::Order;
use crate::names::{QueueName, WorkloadKey};
use crate::units::Timestamp;

impl Loop {
    /// Gives orders to the hand; from now on they count as carried out.
    pub(super) fn let_go(&mut self, orders: Vec<Order>) {
        if let Some(hand) = &mut self.hand {
            hand.take(orders, &mut self.seen.values_mut().flat_map(|(_, seen)| &mut seen.observed));
        }
    }

    /// Gives the pen all that is only told, in the order in which it matters.
    pub(super) fn tell(&mut self, lines: impl IntoIterator<Item = Line>) {
        if let Some(pen) = &mut self.pen {
            pen.tell(lines);
        }
    }

    /// Whether so much is being let go that more need not be decided yet.
    pub(super) fn is_busy(&self) -> bool {
        self.hand.as_ref().is_some_and(Hand::is_many)
    }

    /// Takes up how all that is written beside the loop has ended; whether an order came too late, and is to be decided again.
    pub(super) fn take_answers(&mut self, now: Timestamp) -> bool {
        self.shelf.take();
        for ended in self.labels.take() {
            self.count("namespace-labels", &ended);
        }
        for (line, ended) in self.pen.as_mut().map(Pen::answers).unwrap_or_default() {
            self.count(line.word(), &ended);
            match (line, ended) {
                (Line::Slo(told), Ended::Done) => {
                    self.slo_told.insert((told.namespace, told.name), (now, told.status));
                }
                (Line::Plan(name, status), Ended::Done) => {
                    self.plan_told.insert(name, status);
                }
                _ => {}
            }
        }
        let Some(hand) = &mut self.hand else { return false };
        let (mut late, mut done, mut anew) = (false, Vec::new(), hand.is_overlooked());
        for (order, ended) in hand.answers() {
            self.count("release", &ended);
            if ended == Ended::Done {
                let metrics = &self.health.metrics;
                metrics.count(&metrics.releases, "cause", order.cause.word());
                tracing::info!(workload = %order.key, cause = order.cause.word(), "let go");
                done.push(order);
            } else {
                anew = true;
                late |= ended == Ended::Changed;
            }
        }
        if anew {
            // What counted as let go does not.
            self.seen.clear();
        }
        // Nobody waits for what is only told, and it does not stand in the way of what is let go.
        done.truncate(EVENTS.saturating_sub(self.events.len()));
        self.events.extend(done);
        if self.hand.as_ref().is_none_or(|hand| hand.count() == 0) && !self.events.is_empty() {
            let (recorder, orders) = (self.recorder.clone(), std::mem::take(&mut self.events));
            tokio::spawn(events::released(recorder, orders, now, self.settings.zone));
        }
        late
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
    pub(super) fn store(&mut self, fence: &Fence) {
        for (name, scope) in &self.scopes {
            if let Some(planned) = &scope.planned {
                let place = (&self.cluster, self.settings.namespace.as_str());
                self.shelf.put((name, scope.name.as_deref()), planned, place, fence);
            }
        }
    }

    /// What CapacityPlans are to be told of how they stand.
    pub(super) fn plan_lines(&mut self, plans: &[Plan], now: Timestamp, patience: &Patience) -> Vec<Line> {
        let webhook = self.webhook.borrow_and_update().clone();
        let mut lines = Vec::new();
        // Everybody sees the same queues.
        let Some((_, first)) = self.seen.values().next() else { return lines };
        let meeting = Meeting::of(&self.scopes, &first.snapshot);
        for plan in plans {
            let (Some(scope), Some((_, seen))) = (self.scopes.get(&plan.name), self.seen.get(&plan.name)) else {
                continue;
            };
            let covers = |queue: &QueueName| scope.covers(queue, &seen.snapshot);
            let covered: Vec<&Observed> =
                seen.observed.iter().filter(|one| one.queue.as_ref().is_some_and(covers)).collect();
            let mut ungated: Vec<WorkloadKey> =
                covered.iter().filter(|one| one.came_ungated()).map(|one| one.key.clone()).collect();
            ungated.sort();
            let overlap = meeting.told(&plan.name);
            let standing = Standing {
                overlap: overlap.as_ref(),
                now,
                generation: plan.generation,
                held: covered.iter().filter(|one| one.is_gated()).count(),
                ungated: &ungated,
                gates: &self.gates,
                version: &plan.version,
                webhook: &webhook,
                stale: turn::is_stale(scope, (now, self.since), patience),
                before: self.plan_told.get(&plan.name).unwrap_or(&plan.status),
            };
            let status = plan_status(scope, standing);
            if status == plan.status || self.plan_told.get(&plan.name) == Some(&status) {
                continue;
            }
            lines.push(Line::Plan(plan.name.clone(), status));
        }
        lines
    }
}
