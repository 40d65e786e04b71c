//! CapacityPlans as they were read, and a scope for each.

use std::collections::BTreeMap;

use super::Loop;
use crate::api::capacity_plan::{self, CapacityPlanSpec};
use crate::api::status::CapacityPlanStatus;
use crate::calendar;
use crate::controller::acknowledged::told::PlanVersion;
use crate::controller::gates::Gates;
use crate::controller::scope::Scope;
use crate::controller::{extent, stored};
use crate::units::Timestamp;

/// A CapacityPlan as it was read.
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) spec: CapacityPlanSpec,
    pub(super) generation: Option<i64>,
    pub(super) version: PlanVersion,
    pub(super) status: CapacityPlanStatus,
    pub(super) created: Option<Timestamp>,
}

impl Loop {
    pub(super) fn read_plans(&self) -> Vec<Plan> {
        self.rows.read_kinds(&[capacity_plan::KIND], |rows| {
            // A spec that cannot be read is observed: nothing is held on a guess.
            rows.map(|row| Plan {
                name: row.name.clone(),
                spec: row.decode("/spec").unwrap_or_default(),
                generation: row.at("/metadata/generation").and_then(serde_json::Value::as_i64),
                version: PlanVersion::of(row),
                status: row.decode("/status").unwrap_or_default(),
                created: row
                    .at("/metadata/creationTimestamp")
                    .and_then(|at| calendar::parse_instant(at.as_str()?).ok()),
            })
            .collect()
        })
    }

    /// A scope for every CapacityPlan, begun from its stored plan.
    pub(super) async fn begin(&mut self, plans: &[Plan], epoch: i64, now: Timestamp) {
        if self.epoch != Some(epoch) {
            tracing::info!(epoch, "leading");
            self.forget();
            (self.epoch, self.since) = (Some(epoch), now);
        }
        let named = plans.iter().map(|plan| (plan.name.clone(), Some(plan)));
        let wanted: BTreeMap<String, Option<&Plan>> =
            if plans.is_empty() { [(String::new(), None)].into() } else { named.collect() };
        self.scopes.retain(|name, _| wanted.contains_key(name));
        self.rests.retain(|name, _| wanted.contains_key(name));
        self.seen.retain(|name, _| wanted.contains_key(name));
        self.taken_from.retain(|name, _| wanted.contains_key(name));
        let mut elders = extent::elders(plans.iter().map(|plan| (plan.name.as_str(), plan.created, &plan.spec)));
        for (name, plan) in wanted {
            let spec = plan.map(|plan| plan.spec.clone()).unwrap_or_default();
            let elders = elders.remove(&name).unwrap_or_default();
            if let Some(scope) = self.scopes.get_mut(&name) {
                scope.changed |= scope.spec != spec;
                scope.spec = spec;
                if scope.elders != elders {
                    // What it plans may be something else now, whatever the rows say.
                    let seen = self.seen.remove(&name);
                    let queues = |scope: &Scope| seen.as_ref().map(|(_, seen)| scope.queues(&seen.snapshot));
                    let before = queues(scope);
                    scope.elders = elders;
                    scope.changed |= before != queues(scope);
                }
                continue;
            }
            let gates_ignored = self.gates == Gates::Ignored;
            let named = plan.map(|plan| plan.name.clone());
            let mut scope = Scope { name: named, spec, elders, gates_ignored, ..Scope::default() };
            match stored::read(&self.cluster, &self.settings.namespace, scope.name.as_deref()).await {
                Ok(Some(plan)) => scope.inherited = plan.previous_releases(),
                Ok(None) => {}
                Err(error) => tracing::warn!(plan = name, %error, "the stored plan is not used"),
            }
            self.scopes.insert(name, scope);
        }
    }
}
