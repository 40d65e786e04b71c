//! What holds while our pods are down, judged inside the API server on the final state.
//!
//! Only our keys are compared, old with new, each by its full name. Privilege is a permission that RBAC shows
//! (`stamp` on gputenants, `release` and `hand-on` on capacityplans), not a user name written down here. An update that
//! leaves our keys alone passes, so that finalizers always come off.

use serde_json::{Value, json};

use super::cel::{annotation, label};
use super::{metadata, rules, selected_namespaces};
use crate::admission::world::Mode;
use crate::api::GROUP;
use crate::api::keys::{GATE, GATES, HELD, PREFIX, PROTECTED_ANNOTATIONS, PROTECTED_LABELS, TENANT_SINCE, TENANT_UID};

/// One ValidatingAdmissionPolicy.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    pub name: &'static str,
    /// The mode from which on it refuses; below, it warns and is audited.
    refuses_from: Refuses,
    constraints: fn() -> Value,
    variables: fn() -> Vec<(&'static str, String)>,
    /// Expressions that must hold, with the message of a refusal.
    validations: fn() -> Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refuses {
    Protect,
    Enforce,
}

/// All of them.
pub const POLICIES: &[Policy] = &[
    Policy {
        name: "stagger-stamp",
        refuses_from: Refuses::Protect,
        constraints: everything,
        variables: || {
            vec![
                ("privileged", may("gputenants", "stamp")),
                ("releases", may("capacityplans", "release")),
                ("due", label("namespaceObject", TENANT_UID)),
            ]
        },
        validations: stamp,
    },
    Policy {
        name: "stagger-stamp-missing",
        refuses_from: Refuses::Enforce,
        constraints: || namespaced(rules(&["CREATE"], false)),
        variables: || vec![("due", label("namespaceObject", TENANT_UID))],
        validations: || {
            // One that is there and wrong is refused by `stagger-stamp`, which says so.
            let present = format!("variables.due == '' || {} != ''", label("object", TENANT_UID));
            vec![(present, format!("{TENANT_UID} is missing: the webhook that writes it did not answer; try again"))]
        },
    },
    Policy {
        name: "stagger-gate",
        refuses_from: Refuses::Protect,
        constraints: || namespaced([rules(&["UPDATE"], false), rules(&["UPDATE"], true)].concat()),
        variables: || {
            vec![
                ("before", holds("oldObject")),
                ("after", holds("object")),
                ("releases", may("capacityplans", "release")),
                ("handsOn", may("capacityplans", "hand-on")),
            ]
        },
        validations: || {
            let rule = "!variables.before || variables.after || variables.releases ||\n\
                        (request.resource.resource in ['pods', 'workloads'] && variables.handsOn)";
            let message =
                format!("{GATE} in {GATES} holds it until its planned start; only stagger's controller may change it");
            vec![(rule.to_owned(), message)]
        },
    },
    Policy {
        name: "stagger-binding",
        refuses_from: Refuses::Protect,
        constraints: || {
            let resources = ["bindings", "pods/binding"];
            let rule = json!({"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": resources, "scope": "Namespaced"});
            namespaced(vec![rule])
        },
        variables: || vec![("privileged", may("gputenants", "stamp"))],
        validations: binding_keys,
    },
    Policy {
        name: "stagger-namespace",
        refuses_from: Refuses::Protect,
        constraints: || {
            let resources = ["namespaces", "namespaces/finalize", "namespaces/status"];
            let rule = json!({"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": resources, "scope": "Cluster"});
            json!({"matchPolicy": "Equivalent", "resourceRules": [rule]})
        },
        variables: || vec![("privileged", may("gputenants", "stamp"))],
        validations: || {
            let rule = |read: &dyn Fn(&str, &str) -> String, key: &str| {
                let (old, new) = (read("oldObject", key), read("object", key));
                let kept = format!("(request.operation == 'UPDATE' ? {old} : '') == {new}");
                (format!("variables.privileged || {kept}"), fixed(key))
            };
            let labels = PROTECTED_LABELS.into_iter().map(|key| rule(&label, key));
            labels.chain([rule(&annotation, TENANT_SINCE)]).collect()
        },
    },
];

fn may(resource: &str, verb: &str) -> String {
    format!("authorizer.group('{GROUP}').resource('{resource}').check('{verb}').allowed()")
}

fn fixed(key: &str) -> String {
    format!("{key} is written by stagger's controller only; it cannot be added, changed or removed")
}

fn holds(of: &str) -> String {
    format!("{}.split(',').exists(gate, gate.trim() == '{GATE}')", annotation(of, GATES))
}

fn namespaced(rules: Vec<Value>) -> Value {
    json!({"matchPolicy": "Equivalent", "namespaceSelector": selected_namespaces(), "resourceRules": rules})
}

/// The objects themselves, and every subresource through which their metadata can be written.
fn everything() -> Value {
    namespaced([rules(&["CREATE", "UPDATE"], false), rules(&["UPDATE"], true)].concat())
}

/// At creation a stamp is the namespace's, where it is one tenant's; afterwards it stays.
fn stamp() -> Vec<(String, String)> {
    let new = label("object", TENANT_UID);
    let created = format!("request.operation != 'CREATE' || variables.due == '' || {new} in ['', variables.due]");
    let message = format!("{TENANT_UID} is not that of the namespace's GpuTenant");
    let mut validations = vec![(created, message)];
    for key in PROTECTED_LABELS {
        let (old, new) = (label("oldObject", key), label("object", key));
        // An object that was created while the webhook was down may get the stamp that it should have had.
        let due = label("namespaceObject", key);
        let rule = format!(
            "request.operation != 'UPDATE' || variables.privileged || {old} == {new} ||\n({old} == '' && {due} != '' && {new} == {due})"
        );
        validations.push((rule, fixed(key)));
    }
    for key in PROTECTED_ANNOTATIONS {
        let (old, new) = (annotation("oldObject", key), annotation("object", key));
        let who = if key == HELD { "releases" } else { "privileged" };
        let rule = format!("request.operation != 'UPDATE' || variables.{who} || {old} == {new}");
        validations.push((rule, fixed(key)));
    }
    validations
}

/// Kubernetes copies a binding's labels and annotations over the pod's.
fn binding_keys() -> Vec<(String, String)> {
    let none = |map: &str| {
        format!(
            "variables.privileged || !has(object.metadata.{map}) ||\n\
             object.metadata.{map}.all(key, !key.startsWith('{PREFIX}') && key != '{GATES}')"
        )
    };
    let message = format!("a binding may not carry keys of {PREFIX}: they would be written over the pod's");
    ["labels", "annotations"].map(|map| (none(map), message.clone())).to_vec()
}

/// The policy as an object.
#[must_use]
pub fn policy(policy: &Policy) -> Value {
    let variables: Vec<Value> = (policy.variables)()
        .into_iter()
        .map(|(name, expression)| json!({"name": name, "expression": expression}))
        .collect();
    let validations: Vec<Value> = (policy.validations)()
        .into_iter()
        .map(|(expression, message)| json!({"expression": expression, "message": message, "reason": "Forbidden"}))
        .collect();
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata(policy.name),
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": (policy.constraints)(),
            "variables": variables,
            "validations": validations,
            "auditAnnotations": [{"key": "user", "valueExpression": "request.userInfo.username"}],
        },
    })
}

/// What a policy does in a mode. A missing stamp is told from `protect` on; below, every creation would be.
#[must_use]
pub fn binding(policy: &Policy, mode: Mode) -> Option<Value> {
    let actions: &[&str] = match (policy.refuses_from, mode) {
        (Refuses::Protect, Mode::Protect | Mode::Enforce) | (Refuses::Enforce, Mode::Enforce) => &["Deny", "Audit"],
        (Refuses::Protect, Mode::Observe) => &["Warn", "Audit"],
        (Refuses::Enforce, Mode::Protect) => &["Audit"],
        (Refuses::Enforce, Mode::Observe) => return None,
    };
    Some(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata(policy.name),
        "spec": {"policyName": policy.name, "validationActions": actions},
    }))
}
