//! The forgery matrix: every way a label reaches a pod or job, by everybody who might try.
//!
//! The rows are data, so that a test against a real API server tries the same cells.

use serde_json::{Value, json};
use stagger::admission::{Decision, Mode, World};
use stagger::api::keys::{TENANT, TENANT_SINCE, TENANT_UID};

use super::world::{Ask, applied, ask, cluster, create, update};

/// Who tries: name, username, groups.
pub const PERSONAS: [(&str, &str, &[&str]); 6] = [
    ("tenant user", "ana", &["vision-people", "system:authenticated"]),
    (
        "tenant account",
        "system:serviceaccount:evals:runner",
        &["system:serviceaccounts", "system:serviceaccounts:evals"],
    ),
    ("namespace admin", "evals-admin", &["system:authenticated"]),
    ("node", "system:node:gpu-1", &["system:nodes"]),
    ("binder", "system:serviceaccount:kube-system:other-scheduler", &["system:serviceaccounts:kube-system"]),
    ("cluster admin", "root", &["system:masters"]),
];

/// What comes of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// It goes through, with the true stamp.
    Corrected,
    Denied,
    /// It goes through as it is; the audit log tells.
    Allowed,
}

use Cell::{Allowed, Corrected, Denied};

/// The ways, and what comes of each for each persona.
pub const PATHS: [(&str, [Cell; 6]); 5] = [
    ("pods create", [Corrected; 6]),
    ("pods update", [Denied, Denied, Denied, Denied, Denied, Allowed]),
    ("pods/status update", [Denied, Denied, Denied, Denied, Denied, Allowed]),
    ("pods/binding create", [Denied, Denied, Denied, Denied, Denied, Allowed]),
    ("jobs/status update", [Denied, Denied, Denied, Denied, Denied, Allowed]),
];

fn stamped(tenant: &str) -> Value {
    json!({"metadata": {"name": "p", "labels": {TENANT: tenant, TENANT_UID: format!("uid-of-{tenant}")}}})
}

fn attempt(path: &str) -> Ask {
    match path {
        "pods create" => create("", "pods", stamped("vision")),
        "pods update" => update("", "pods", stamped("nlp"), stamped("vision")),
        "pods/status update" => update("", "pods", stamped("nlp"), stamped("vision")).sub("status"),
        "pods/binding create" => ask("CREATE", "", "pods").sub("binding").object(stamped("vision")),
        "jobs/status update" => update("batch", "jobs", stamped("nlp"), stamped("vision")).sub("status"),
        other => panic!("no such path: {other}"),
    }
}

fn cell(decision: &Decision, asked: &Ask) -> Cell {
    if !decision.is_allowed() {
        return Denied;
    }
    let result = applied(&asked.0["object"], &decision.patch);
    if result == stamped("nlp") { Corrected } else { Allowed }
}

fn tried(path: &str, persona: usize, world: &World) -> (Decision, Ask) {
    let (_, username, groups) = PERSONAS[persona];
    let asked = attempt(path).user(username, groups);
    (asked.decide(world), asked)
}

#[test]
fn no_way_forges_a_stamp_where_stamps_are_protected() {
    for mode in [Mode::Protect, Mode::Enforce] {
        let world = cluster(mode);
        for (path, row) in PATHS {
            for (persona, expected) in row.into_iter().enumerate() {
                let (decision, asked) = tried(path, persona, &world);
                assert_eq!(cell(&decision, &asked), expected, "{path} by {} in {mode:?}", PERSONAS[persona].0);
                if expected == Denied {
                    let user = decision.audit.iter().find(|(key, _)| *key == "user").map(|(_, user)| user.as_str());
                    assert_eq!(user, Some(PERSONAS[persona].1), "the audit log names who tried");
                    let message = decision.denied.unwrap();
                    assert!(message.contains(TENANT_UID) && message.contains("only stagger"), "{message}");
                }
            }
        }
    }
}

#[test]
fn observing_refuses_nothing_and_tells_what_it_would() {
    let world = cluster(Mode::Observe);
    for (path, row) in PATHS {
        for (persona, strict) in row.into_iter().enumerate() {
            let (decision, _) = tried(path, persona, &world);
            assert!(decision.is_allowed(), "{path}");
            assert_eq!(!decision.warnings.is_empty(), strict == Denied, "{path} by {}", PERSONAS[persona].0);
        }
    }
}

#[test]
fn the_legacy_binding_and_other_subresources_are_no_way_round() {
    let world = cluster(Mode::Protect);
    assert!(!ask("CREATE", "", "bindings").object(stamped("vision")).decide(&world).is_allowed());
    for sub in ["ephemeralcontainers", "resize", "status"] {
        assert!(!update("", "pods", stamped("nlp"), stamped("vision")).sub(sub).decide(&world).is_allowed(), "{sub}");
        assert!(update("", "pods", stamped("nlp"), stamped("nlp")).sub(sub).decide(&world).is_allowed(), "{sub}");
    }
    let innocent = json!({"metadata": {"name": "p", "labels": {"topology.kubernetes.io/zone": "a"}}});
    assert!(ask("CREATE", "", "pods").sub("binding").object(innocent).decide(&world).is_allowed());
}

#[test]
fn a_namespace_cannot_take_a_tenant_for_itself() {
    let world = cluster(Mode::Protect);
    let plain = json!({"metadata": {"name": "evals", "labels": {"a": "b"}}});
    assert!(!ask("CREATE", "", "namespaces").object(stamped("vision")).decide(&world).is_allowed());
    assert!(!update("", "namespaces", stamped("nlp"), stamped("vision")).decide(&world).is_allowed());
    assert!(!update("", "namespaces", stamped("nlp"), plain.clone()).sub("finalize").decide(&world).is_allowed());
    // A key of ours that is there already does not stand in the way of other labels.
    let mut labelled = stamped("nlp");
    labelled["metadata"]["labels"]["foo"] = json!("bar");
    assert!(update("", "namespaces", stamped("nlp"), labelled).decide(&world).is_allowed());
    // Nor can it say since when it is a tenant's.
    let mut since = stamped("nlp");
    since["metadata"]["annotations"] = json!({TENANT_SINCE: "2020-01-01T00:00:00Z"});
    assert!(!update("", "namespaces", stamped("nlp"), since.clone()).decide(&world).is_allowed());
    assert!(!update("", "namespaces", since.clone(), stamped("nlp")).decide(&world).is_allowed());
    assert!(update("", "namespaces", since.clone(), since).decide(&world).is_allowed());
    assert!(ask("CREATE", "", "namespaces").object(plain).decide(&world).is_allowed());
}

#[test]
fn our_controller_may_write_stamps() {
    let world = cluster(Mode::Enforce);
    let ours = "system:serviceaccount:stagger-system:stagger-controller";
    assert!(update("", "pods", stamped("nlp"), stamped("vision")).user(ours, &[]).decide(&world).is_allowed());
    // A name alone, or the same name elsewhere, is not it.
    for other in ["stagger-controller", "system:serviceaccount:evals:stagger-controller"] {
        assert!(!update("", "pods", stamped("nlp"), stamped("vision")).user(other, &[]).decide(&world).is_allowed());
    }
}
