//! What a GpuTenant is told: whether all work in its namespaces carries its stamp, and who else claims one of them.
//!
//! Pure, like `plan_status`.

use super::round::{Claims, Left, NAMED_MAX, Why};
use crate::admission::policy::{MUTATING, STAMPING};
use crate::api::keys::ATTRIBUTION;
use crate::api::status::{Condition, ConditionStatus, GpuTenantStatus, STAMPED, STAMPED_LATE};
use crate::calendar;
use crate::controller::slo_status::{condition, kept};
use crate::units::{Seconds, Timestamp};

/// How long it is told that work was stamped late; on the work itself that stands for ever.
pub const TOLD_FOR: Seconds = Seconds::HOUR;

/// Stamps that were written later, of one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub count: usize,
    /// The first ones, as people call them.
    pub first: Vec<String>,
    pub last: Timestamp,
}

impl Default for Given {
    fn default() -> Self {
        Self { count: 0, first: Vec::new(), last: Timestamp(0) }
    }
}

impl Given {
    /// One more.
    pub fn add(&mut self, called: String, at: Timestamp) {
        self.count += 1;
        self.last = at;
        if self.first.len() < NAMED_MAX {
            self.first.push(called);
        }
    }
}

/// What is known of one tenant.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    pub now: Timestamp,
    pub generation: Option<i64>,
    pub claims: &'a Claims,
    /// Whether anything of ours stamps in this cluster.
    pub wanted: bool,
    /// What has no stamp.
    pub left: Option<&'a Left>,
    pub given: Option<&'a Given>,
    /// Why it is not known what has no stamp.
    pub unread: Option<&'a str>,
    pub before: &'a GpuTenantStatus,
}

/// Its status.
#[must_use]
pub fn tenant_status(standing: Standing<'_>) -> GpuTenantStatus {
    let mut conditions: Vec<Condition> = Vec::new();
    let mut tell = |kind: &str, status: ConditionStatus, reason: &str, message: &str| {
        let fresh = condition(kind, status, (reason, message), standing.generation, standing.now);
        conditions.push(kept(fresh, &standing.before.conditions));
    };
    let (status, reason, message) = stamped(standing);
    tell(STAMPED, status, reason, &message);
    if let Some((namespace, others)) = &standing.claims.shared {
        let others = named(others.len(), &others[..others.len().min(NAMED_MAX)]);
        let message = format!("namespace {namespace} is claimed by {others} too: there work is whose subjects make it");
        tell("Ambiguous", ConditionStatus::True, "SharedNamespace", &message);
    }
    GpuTenantStatus { conditions, namespaces: i64::try_from(standing.claims.own).ok() }
}

fn stamped(standing: Standing<'_>) -> (ConditionStatus, &'static str, String) {
    if let Some(why) = standing.unread {
        return (ConditionStatus::Unknown, "NotRead", why.to_owned());
    }
    if !standing.wanted {
        let names = standing.left.map_or_else(|| "nothing yet".to_owned(), |left| named(left.count, &left.first));
        let message = format!(
            "neither the webhook configuration {MUTATING} nor the policy {STAMPING} is there, so that nothing is stamped, \
             now or later; without a stamp: {names}"
        );
        return (ConditionStatus::Unknown, "NotWanted", message);
    }
    if let Some(left) = standing.left {
        let (reason, why) = match &left.why {
            Some(Why::Refused(why)) => ("Refused", format!("a stamp could not be written: {why}")),
            Some(Why::Shared) => {
                let why = "several GpuTenants share its namespace, and who made it is not known any more: delete it and \
                           create it anew";
                ("Shared", why.to_owned())
            }
            _ => ("Waits", "its stamp is being written".to_owned()),
        };
        let message =
            format!("without a stamp, for none was written as it was made: {}; {why}", named(left.count, &left.first));
        return (ConditionStatus::False, reason, message);
    }
    let all = "all work in its namespaces carries its stamp";
    match standing.given {
        None => (ConditionStatus::True, "Stamped", all.to_owned()),
        Some(given) => {
            let last = calendar::rfc3339(given.last, chrono_tz::UTC);
            let names = named(given.count, &given.first);
            let message = format!(
                "{all}; some was written later, until {last}: {names}, each with \
                 {ATTRIBUTION}: late"
            );
            (ConditionStatus::True, STAMPED_LATE, message)
        }
    }
}

/// `Pod evals/a, Job evals/b and 7 more`.
fn named(count: usize, first: &[String]) -> String {
    let names = first.join(", ");
    match count.saturating_sub(first.len()) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
