//! No right stands in for another: without any one of them the API server would refuse something that the account has asked
//! for and was given.
//!
//! The roles are given to an account of nobody, one right is taken out of them, and the API server is asked whether it would
//! allow the same requests. That each was allowed a moment before shows that the missing right is why.

use std::time::Duration;

use serde_json::{Value, json};

use crate::person::Person;
use crate::plane::Plane;
use crate::rights::{Request, Right, SYSTEM, requests, strings};
use crate::wait::until;

const SOON: Duration = Duration::from_secs(30);

/// One right: in which document and in which of its rules.
struct One {
    document: usize,
    rule: usize,
    right: Right,
}

/// Every right of the roles, one by one.
fn rights(roles: &[Value]) -> Vec<One> {
    let mut all = Vec::new();
    for (document, role) in roles.iter().enumerate() {
        for (at, rule) in role["rules"].as_array().into_iter().flatten().enumerate() {
            for group in strings(rule, "apiGroups") {
                for resource in strings(rule, "resources") {
                    let one = |verb| One { document, rule: at, right: (group.clone(), resource.clone(), verb) };
                    all.extend(strings(rule, "verbs").map(one));
                }
            }
        }
    }
    all
}

/// A role without one right: its rule is split, so that the others of it stay.
fn without(role: &Value, one: &One) -> Value {
    let mut less = role.clone();
    let rules = less["rules"].as_array_mut().expect("a role has rules");
    let rule = rules.remove(one.rule);
    let (group, resource, verb) = &one.right;
    let others = |field: &str, but: &str| strings(&rule, field).filter(|it| it != but).collect::<Vec<_>>();
    let mut keep = |changes: [(&str, Vec<String>); 3]| {
        let mut kept = rule.clone();
        for (field, values) in &changes {
            kept[*field] = json!(values);
        }
        if changes.iter().all(|(_, values)| !values.is_empty()) {
            rules.push(kept);
        }
    };
    let every = |field: &str| strings(&rule, field).collect::<Vec<_>>();
    let (of_group, of_resource) = (vec![group.clone()], vec![resource.clone()]);
    keep([("apiGroups", others("apiGroups", group)), ("resources", every("resources")), ("verbs", every("verbs"))]);
    keep([("apiGroups", of_group.clone()), ("resources", others("resources", resource)), ("verbs", every("verbs"))]);
    keep([("apiGroups", of_group), ("resources", of_resource), ("verbs", others("verbs", verb))]);
    less
}

/// The same under another name, for an account of nobody.
fn copies(rules: &[Value], account: &str) -> (Vec<Value>, Vec<Value>) {
    let copy = |one: &Value| {
        let mut one = one.clone();
        let name = format!("{account}-{}", one["metadata"]["name"].as_str().expect("a name"));
        one["metadata"]["name"] = json!(name);
        if one.get("roleRef").is_some() {
            let role = format!("{account}-{}", one["roleRef"]["name"].as_str().expect("a role"));
            one["roleRef"]["name"] = json!(role);
            one["subjects"] = json!([{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}]);
        }
        one
    };
    let kind = |kinds: [&str; 2]| -> Vec<Value> {
        rules.iter().filter(|one| kinds.iter().any(|kind| one["kind"] == *kind)).map(copy).collect()
    };
    (kind(["Role", "ClusterRole"]), kind(["RoleBinding", "ClusterRoleBinding"]))
}

/// Whether the API server would allow it.
async fn allowed(admin: &Person, account: &str, ((group, resource, verb), namespace, name): &Request) -> bool {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = json!({"group": group, "version": "*", "resource": resource, "subresource": subresource, "verb": verb,
                            "namespace": namespace, "name": name});
    let spec = json!({"user": format!("system:serviceaccount:{SYSTEM}:{account}"), "resourceAttributes": attributes});
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let answer = admin.send("POST", path, "application/json", &review).await;
    answer.unwrap_or_else(|refused| panic!("{}", refused.message))["status"]["allowed"] == true
}

/// The requests that this right may have been for.
fn uses<'r>(role: &Value, one: &One, all: &'r [Request]) -> Vec<&'r Request> {
    let named: Vec<String> = strings(&role["rules"][one.rule], "resourceNames").collect();
    let within = role["metadata"]["namespace"].as_str();
    let fits = |(right, namespace, name): &&Request| {
        *right == one.right
            && within.is_none_or(|within| namespace == within)
            && (named.is_empty() || named.contains(name))
    };
    all.iter().filter(fits).collect()
}

/// Takes every right of an account away, one at a time.
pub async fn needed(plane: &Plane, name: &str, rules: &[Value]) {
    let admin = &plane.admin;
    let account = format!("nobody-{name}");
    let (roles, bindings) = copies(rules, &account);
    for object in roles.iter().chain(&bindings) {
        admin.apply(object).await;
    }
    let all: Vec<Request> = requests(plane, name).into_iter().collect();
    for one in rights(&roles) {
        let role = &roles[one.document];
        let uses = uses(role, &one, &all);
        let what = format!("{:?} of {} {}", one.right, role["kind"], role["metadata"]["name"]);
        assert!(!uses.is_empty(), "nothing was asked for by {what}");
        until(&format!("{what} allows what it was used for"), SOON, async || {
            for request in &uses {
                if !allowed(admin, &account, request).await {
                    return Err(format!("{request:?} is refused"));
                }
            }
            Ok(())
        })
        .await;
        admin.apply(&without(role, &one)).await;
        until(&format!("something is refused without {what}"), SOON, async || {
            for request in &uses {
                if !allowed(admin, &account, request).await {
                    return Ok(());
                }
            }
            Err(format!("all of {uses:?} are allowed by another right"))
        })
        .await;
        admin.apply(role).await;
    }
}
