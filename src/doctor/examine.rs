//! The judgement: from what was found to what is to be done, in the order in which one would repair it.

use serde_json::Value;

use super::facts::{Answer, Facts};
use super::gather::LEASES;
use super::{Check, Status, certificates, kueue, policies, stamps};
use crate::api::crd;
use crate::calendar;
use crate::units::{Seconds, Timestamp};

/// ValidatingAdmissionPolicies are part of every API server from here on.
const MINOR_LEAST: u64 = 30;
/// A holder writes every two seconds; who was silent for a minute is gone.
const LEASE_AGE_MAX: Seconds = Seconds::MINUTE;

/// What to apply where something of the installation is missing or old.
pub(super) const APPLY: &str = "kubectl apply --server-side -k deploy/kustomize/overlays/observe";

/// All checks. `now` is what certificates and leases are held against.
#[must_use]
pub fn examine(facts: &Facts, now: Timestamp) -> Vec<Check> {
    let mut checks = vec![server(&facts.version), kinds(facts)];
    checks.extend(kueue::examine(facts));
    checks.extend(policies::examine(facts));
    checks.push(stamps::examine(facts));
    checks.push(lease(facts, LEASES[0], now));
    if !facts.is_cel_only() {
        checks.push(webhook(&facts.webhook));
        checks.extend(certificates::examine(facts, now));
        checks.push(lease(facts, LEASES[1], now));
    }
    checks
}

/// `v1.35.4` as 1 and 35; distributions append what they like.
pub(super) fn version(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.trim_start_matches('v').split('.');
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    Some((digits(parts.next()?)?, digits(parts.next()?)?))
}

fn server(git_version: &str) -> Check {
    const NAME: &str = "kubernetes";
    let told = format!("the API server is Kubernetes {git_version}");
    match version(git_version) {
        Some((1, minor)) if minor < MINOR_LEAST => Check::new(NAME, Status::Failed, told)
            .action("policies inside the API server need Kubernetes 1.30 or later"),
        Some(_) => Check::new(NAME, Status::Ok, told),
        None => Check::new(NAME, Status::Unknown, format!("the API server calls its version `{git_version}`")),
    }
}

/// The fields of a definition that were given and are not as they were; the server adds its own.
fn differs(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().any(|(key, value)| found.get(key).is_none_or(|found| differs(value, found)))
        }
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() != found.len() || wanted.iter().zip(found).any(|(wanted, found)| differs(wanted, found))
        }
        _ => wanted != found,
    }
}

fn kinds(facts: &Facts) -> Check {
    const NAME: &str = "kinds";
    let (mut missing, mut old, mut unknown) = (Vec::new(), Vec::new(), None);
    for kind in crd::KINDS {
        let wanted = crd::manifest(kind);
        let name = wanted["metadata"]["name"].as_str().unwrap_or_default();
        match facts.crds.get(name) {
            Some(Ok(Some(found))) if !is_established(found) || differs(&wanted["spec"], &found["spec"]) => {
                old.push(kind.kind);
            }
            Some(Ok(Some(_))) => {}
            Some(Ok(None)) => missing.push(kind.kind),
            Some(Err(error)) => unknown = Some(error.message.clone()),
            None => unknown = Some(format!("{name} was not asked for")),
        }
    }
    match (missing.as_slice(), old.as_slice(), unknown) {
        ([], [], None) => Check::new(NAME, Status::Ok, format!("all {} kinds are installed", crd::KINDS.len())),
        ([], [], Some(why)) => Check::new(NAME, Status::Unknown, why),
        ([], old, _) => {
            let told = format!("{} differ from what this version of stagger ships", old.join(", "));
            Check::new(NAME, Status::Warning, told).action("stagger crds | kubectl apply --server-side -f -")
        }
        (missing, ..) => Check::new(NAME, Status::Failed, format!("not installed: {}", missing.join(", ")))
            .action("stagger crds | kubectl apply --server-side -f -"),
    }
}

fn is_established(found: &Value) -> bool {
    let mut conditions = found["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Established" && condition["status"] == "True")
}

fn webhook(answer: &Answer) -> Check {
    const NAME: &str = "webhook";
    match answer {
        Err(error) => Check::new(NAME, Status::Unknown, &*error.message),
        Ok(None) => Check::new(NAME, Status::Failed, "the webhook is not installed").action(APPLY),
        Ok(Some(deployment)) => {
            let count = |field: &str| deployment["status"][field].as_u64().unwrap_or(0);
            let (ready, wanted) = (count("readyReplicas"), deployment["spec"]["replicas"].as_u64().unwrap_or(1));
            let told = format!("{ready} of {wanted} replicas of the webhook are ready");
            let look = "kubectl -n stagger-system logs deploy/stagger-webhook; its /readyz says what it waits for";
            match ready {
                0 => Check::new(NAME, Status::Failed, told).action(look),
                ready if ready < wanted => Check::new(NAME, Status::Warning, told).action(look),
                _ => Check::new(NAME, Status::Ok, told),
            }
        }
    }
}

fn lease(facts: &Facts, name: &'static str, now: Timestamp) -> Check {
    let check = if name == LEASES[0] { "leader-controller" } else { "leader-webhook" };
    let found = match facts.leases.get(name) {
        Some(Ok(Some(found))) => found,
        Some(Ok(None)) => {
            return Check::new(check, Status::Unknown, format!("there is no Lease {name}"))
                .action("none is needed where that part does not run, or has its certificate from cert-manager");
        }
        Some(Err(error)) => return Check::new(check, Status::Unknown, &*error.message),
        None => return Check::new(check, Status::Unknown, format!("Lease {name} was not asked for")),
    };
    let holder = found["spec"]["holderIdentity"].as_str().unwrap_or_default();
    let renewed = found["spec"]["renewTime"].as_str().and_then(|time| calendar::parse_instant(time).ok());
    let Some(renewed) = renewed else {
        return Check::new(check, Status::Unknown, format!("Lease {name} does not say when it was renewed"));
    };
    let age = Seconds(now.0.saturating_sub(renewed.0).max(0));
    if holder.is_empty() || age > LEASE_AGE_MAX {
        let who = if holder.is_empty() { "nobody".to_owned() } else { format!("`{holder}`") };
        let told = format!("Lease {name} is held by {who} and was renewed {} ago", age.human());
        return Check::new(check, Status::Warning, told).action("see whether its pods run, and what they log");
    }
    Check::new(check, Status::Ok, format!("`{holder}` leads and renewed its Lease {} ago", age.human()))
}
