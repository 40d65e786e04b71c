//! Whether work has its stamps: what the controller tells of each GpuTenant.

use serde_json::Value;

use super::facts::Facts;
use super::{Check, Status};
use crate::api::status::{STAMPED, STAMPED_LATE};

const NAME: &str = "stamps";

pub(super) fn examine(facts: &Facts) -> Check {
    let list = match &facts.tenants {
        Err(error) => return Check::new(NAME, Status::Unknown, &*error.message),
        Ok(None) => return Check::new(NAME, Status::Unknown, "the kind GpuTenant is not installed"),
        Ok(Some(list)) => list,
    };
    let tenants: Vec<(&str, Option<&Value>)> = list["items"].as_array().into_iter().flatten().map(told).collect();
    let is = |condition: &Value, status: &str| condition["status"] == status;
    let worst = |status: &str| {
        let all: Vec<_> = tenants
            .iter()
            .filter_map(|(name, told)| Some((*name, (*told)?)))
            .filter(|(_, it)| is(it, status))
            .collect();
        let others = match all.len() {
            0 | 1 => String::new(),
            more => format!("; and so {} more", more - 1),
        };
        all.first()
            .map(|(name, it)| format!("GpuTenant {name}: {}{others}", it["message"].as_str().unwrap_or_default()))
    };
    if let Some(message) = worst("False") {
        return Check::new(NAME, Status::Warning, message)
            .action("kubectl describe gputenants; see also why the webhook did not answer: the checks of its parts");
    }
    if let Some(message) = worst("Unknown") {
        return Check::new(NAME, Status::Unknown, message);
    }
    if let Some((name, _)) = tenants.iter().find(|(_, told)| told.is_none()) {
        return Check::new(NAME, Status::Unknown, format!("nothing is told of GpuTenant {name} yet"))
            .action("the controller tells it: see the check leader-controller");
    }
    let late = tenants.iter().filter_map(|(name, told)| Some((name, (*told)?)));
    if let Some((name, told)) = late.clone().find(|(_, told)| told["reason"] == STAMPED_LATE) {
        let message = format!("GpuTenant {name}: {}", told["message"].as_str().unwrap_or_default());
        return Check::new(NAME, Status::Ok, message);
    }
    let message = format!("all work in the namespaces of {} GpuTenants carries its stamp", tenants.len());
    Check::new(NAME, Status::Ok, message)
}

/// A tenant's name, and its condition.
fn told(tenant: &Value) -> (&str, Option<&Value>) {
    let mut conditions = tenant["status"]["conditions"].as_array().into_iter().flatten();
    (tenant["metadata"]["name"].as_str().unwrap_or_default(), conditions.find(|it| it["type"] == STAMPED))
}
