//! Webhook configurations, policies and bindings: there, as shipped, and in one mode.

use serde_json::Value;

use super::examine::APPLY;
use super::facts::{Answer, Facts};
use super::{Check, Status};
use crate::admission::Mode;
use crate::admission::policy::{
    MUTATING, POLICIES, STAMPING, STAMPING_VERSIONS, VALIDATING, binding, mutating, mutating_policy, policy, validating,
};

pub(super) fn examine(facts: &Facts) -> Vec<Check> {
    let mut checks = if facts.is_cel_only() {
        vec![stamping(facts)]
    } else {
        let mut stamps = configuration("configuration-mutating", MUTATING, &facts.mutating, &mutating());
        if let (Ok(None), Some(version)) = (&facts.mutating, facts.stamping_version) {
            stamps.action = Some(format!("{APPLY}; or, for stamps without a webhook, {}", overlay(version)));
        }
        vec![stamps, configuration("configuration-validating", VALIDATING, &facts.validating, &validating())]
    };
    checks.extend([policies(facts), bindings(facts)]);
    checks
}

/// The overlay without a webhook, for an API server that has MutatingAdmissionPolicies in a version.
fn overlay(version: &str) -> String {
    let suffix = if version == STAMPING_VERSIONS[0] { String::new() } else { format!("-{version}") };
    format!("kubectl apply --server-side -k deploy/kustomize/overlays/cel-only{suffix}")
}

/// The policy that stamps in the place of the webhook.
fn stamping(facts: &Facts) -> Check {
    const NAME: &str = "cel-only";
    let version = facts.stamping_version.unwrap_or(STAMPING_VERSIONS[0]);
    let wanted = mutating_policy(version);
    let found = facts.stamping.as_ref().ok().and_then(Option::as_ref);
    let same = |field: &&str| found.is_some_and(|found| found["spec"][*field] == wanted[0]["spec"][*field]);
    if ["mutations", "variables"].iter().all(same) {
        let told = "no webhook is registered: the API server stamps by itself; nothing is gated, and work in shared \
                    namespaces has no stamp";
        return Check::new(NAME, Status::Ok, told);
    }
    Check::new(NAME, Status::Warning, format!("the MutatingAdmissionPolicy {STAMPING} is not as shipped"))
        .action(overlay(version))
}

/// What a webhook of ours says besides its bundle.
const FIELDS: [&str; 8] = [
    "admissionReviewVersions",
    "failurePolicy",
    "matchConditions",
    "matchPolicy",
    "namespaceSelector",
    "rules",
    "sideEffects",
    "timeoutSeconds",
];

fn configuration(check: &'static str, name: &str, answer: &Answer, wanted: &Value) -> Check {
    let found = match answer {
        Err(error) => return Check::new(check, Status::Unknown, &*error.message),
        Ok(None) => {
            let told = format!("the webhook configuration {name} is not there, so the webhook is not asked");
            return Check::new(check, Status::Failed, told).action(APPLY);
        }
        Ok(Some(found)) => found,
    };
    let mut different = Vec::new();
    for webhook in wanted["webhooks"].as_array().into_iter().flatten() {
        let mut all = found["webhooks"].as_array().into_iter().flatten();
        let Some(found) = all.find(|found| found["name"] == webhook["name"]) else {
            different.push("webhooks".to_owned());
            continue;
        };
        for field in FIELDS {
            let same = match &webhook[field] {
                // The server writes down what it takes where nothing is said.
                Value::Null => true,
                wanted => found[field] == *wanted,
            };
            if !same {
                different.push(field.to_owned());
            }
        }
    }
    if different.is_empty() {
        let policy = found["webhooks"][0]["failurePolicy"].as_str().unwrap_or("?");
        return Check::new(check, Status::Ok, format!("{name} is as shipped, failurePolicy {policy}"));
    }
    let told = format!("{name} is not as shipped: {}", different.join(", "));
    Check::new(check, Status::Warning, told).action(APPLY)
}

fn policies(facts: &Facts) -> Check {
    const NAME: &str = "policies";
    let (mut missing, mut old) = (Vec::new(), Vec::new());
    for one in POLICIES {
        match facts.policies.get(one.name) {
            Some(Err(error)) => return Check::new(NAME, Status::Unknown, &*error.message),
            Some(Ok(Some(found))) => {
                let wanted = policy(one);
                let same = ["failurePolicy", "validations", "variables"]
                    .iter()
                    .all(|field| found["spec"][field] == wanted["spec"][field]);
                if !same {
                    old.push(one.name);
                }
            }
            Some(Ok(None)) | None => missing.push(one.name),
        }
    }
    if !missing.is_empty() {
        let told = format!("policies are missing: {}", missing.join(", "));
        return Check::new(NAME, Status::Failed, told).action(APPLY);
    }
    if !old.is_empty() {
        let told = format!("policies are not as shipped: {}", old.join(", "));
        return Check::new(NAME, Status::Warning, told).action(APPLY);
    }
    Check::new(NAME, Status::Ok, format!("all {} policies are in the API server", POLICIES.len()))
}

/// The bindings say which mode the policies are in; all of one mode, or it is none.
fn bindings(facts: &Facts) -> Check {
    const NAME: &str = "mode";
    let mut found = Vec::new();
    for one in POLICIES {
        match facts.bindings.get(one.name) {
            Some(Err(error)) => return Check::new(NAME, Status::Unknown, &*error.message),
            Some(Ok(found_one)) => found.push((one, found_one.as_ref())),
            None => found.push((one, None)),
        }
    }
    if found.iter().all(|(_, found)| found.is_none()) {
        let told = "no policy is bound: nothing holds stamps and gates while the webhook is away";
        return Check::new(NAME, Status::Failed, told).action(APPLY);
    }
    let actions = |binding: &Value| {
        let mut actions: Vec<String> = Vec::new();
        let named = binding["spec"]["validationActions"].as_array().into_iter().flatten();
        actions.extend(named.filter_map(Value::as_str).map(str::to_owned));
        actions.sort();
        actions
    };
    let is_in = |mode: Mode| {
        found.iter().all(|(one, found)| match (binding(one, mode), found) {
            (Some(wanted), Some(found)) => actions(&wanted) == actions(found),
            // A binding that only audits more than the mode asks for does no harm; one that refuses is another mode.
            (None, Some(found)) => !actions(found).iter().any(|action| action == "Deny"),
            (None, None) => true,
            // What only audits may be left out.
            (Some(wanted), None) => actions(&wanted) == ["Audit"],
        })
    };
    let modes = [(Mode::Observe, "observe"), (Mode::Protect, "protect"), (Mode::Enforce, "enforce")];
    match modes.iter().find(|(mode, _)| is_in(*mode)) {
        Some((_, name)) => Check::new(NAME, Status::Ok, format!("the policies are in mode {name}")),
        None => Check::new(NAME, Status::Warning, "the bindings of the policies are of no one mode")
            .action("apply one of deploy/kustomize/overlays: observe, protect, enforce"),
    }
}
