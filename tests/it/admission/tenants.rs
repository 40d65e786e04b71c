//! Whose an object is: namespace, then verified owner, then subject, and never the first that matches.

use serde_json::{Value, json};
use stagger::admission::{Directory, LiveOwner, Mode, World};
use stagger::api::keys::{ATTRIBUTION, TENANT, TENANT_UID};

use super::world::{Ask, cluster, controller, create, id, namespace, tenant};

fn stamp(asked: &Ask, world: &World) -> (Option<String>, Option<String>) {
    let result = asked.result(world);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(&result["metadata"]["labels"][TENANT]), text(&result["metadata"]["annotations"][ATTRIBUTION]))
}

fn tenant_of(asked: &Ask, world: &World) -> String {
    stamp(asked, world).0.unwrap_or_default()
}

fn a_pod() -> Ask {
    create("", "pods", json!({"metadata": {"name": "p"}}))
}

fn owned_pod(uid: &str) -> Ask {
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "parent", "uid": uid, "controller": true});
    create("", "pods", json!({"metadata": {"name": "p", "ownerReferences": [owner]}})).within("shared")
}

fn live(namespace: &str, tenant: Option<&str>) -> LiveOwner {
    LiveOwner {
        namespace: namespace.to_owned(),
        group: "batch".to_owned(),
        kind: "Job".to_owned(),
        name: "parent".to_owned(),
        tenant: tenant.map(id),
        controller: None,
    }
}

#[test]
fn a_namespace_of_one_tenant_decides_whoever_asks() {
    let world = cluster(Mode::Enforce);
    for user in ["ana", "system:serviceaccount:shared:nlp-runner", &controller("job")] {
        assert_eq!(tenant_of(&a_pod().user(user, &["vision-people"]), &world), "nlp");
        assert_eq!(tenant_of(&a_pod().within("vision").user(user, &[]), &world), "vision");
    }
}

#[test]
fn in_a_shared_namespace_the_subject_decides_by_its_whole_name() {
    let world = cluster(Mode::Protect);
    let by = |user: &str, groups: &[&str]| stamp(&a_pod().within("shared").user(user, groups), &world);
    let ambiguous = (None, Some("ambiguous".to_owned()));
    assert_eq!(by("system:serviceaccount:shared:nlp-runner", &[]).0.as_deref(), Some("nlp"));
    assert_eq!(by("ana", &["vision-people"]).0.as_deref(), Some("vision"));
    assert_eq!(by("system:serviceaccount:evals:nlp-runner", &[]), ambiguous, "another namespace's account");
    assert_eq!(by("nlp-runner", &[]), ambiguous, "a user of that name");
    assert_eq!(by("ana", &[]), ambiguous);
    assert_eq!(by("system:serviceaccount:shared:nlp-runner", &["vision-people"]), ambiguous, "acting for both");
}

#[test]
fn ambiguity_is_refused_when_enforcing_and_says_who_can_end_it() {
    let world = cluster(Mode::Enforce);
    let message = a_pod().within("shared").decide(&world).denied.unwrap();
    assert!(message.contains("nlp, vision") && message.contains("spec.subjects"), "{message}");
}

#[test]
fn a_verified_owner_hands_its_stamp_on_in_a_shared_namespace() {
    let mut world = cluster(Mode::Protect);
    let by = controller("job");
    world.owners.put("j-1", live("shared", Some("vision")));
    assert_eq!(tenant_of(&owned_pod("j-1").user(&by, &[]), &world), "vision");
    assert_eq!(stamp(&owned_pod("j-1"), &world), (None, Some("ambiguous".to_owned())), "ana is no controller");
    assert_eq!(tenant_of(&owned_pod("j-2").user(&by, &[]), &world), "", "no such UID");
    world.owners.put("j-3", live("evals", Some("vision")));
    assert_eq!(tenant_of(&owned_pod("j-3").user(&by, &[]), &world), "", "an owner in another namespace");
    world.owners.put("j-4", live("shared", Some("stranger")));
    assert_eq!(tenant_of(&owned_pod("j-4").user(&by, &[]), &world), "", "a tenant that has no claim here");
}

#[test]
fn owners_are_followed_up_a_bounded_way() {
    let mut world = cluster(Mode::Protect);
    let by = controller("job");
    let chain = |world: &mut World, length: usize| {
        for at in 0..length {
            let next = (at + 1 < length).then(|| format!("o-{}", at + 1));
            let tenant = next.is_none().then_some("vision");
            world.owners.put(&format!("o-{at}"), LiveOwner { controller: next, ..live("shared", tenant) });
        }
    };
    chain(&mut world, 10);
    assert_eq!(tenant_of(&owned_pod("o-0").user(&by, &[]), &world), "vision");
    chain(&mut world, 11);
    assert_eq!(tenant_of(&owned_pod("o-0").user(&by, &[]), &world), "");
    world.owners.put("c-1", LiveOwner { controller: Some("c-2".to_owned()), ..live("shared", None) });
    world.owners.put("c-2", LiveOwner { controller: Some("c-1".to_owned()), ..live("shared", None) });
    assert_eq!(tenant_of(&owned_pod("c-1").user(&by, &[]), &world), "", "a circle");
}

#[test]
fn where_nobody_has_the_namespace_a_subject_still_counts_and_others_are_left_alone() {
    let world = cluster(Mode::Enforce);
    assert_eq!(tenant_of(&a_pod().within("free").user("ana", &["vision-people"]), &world), "vision");
    let decision = a_pod().within("free").decide(&world);
    assert!(decision.is_allowed() && decision.patch.is_empty());
}

#[test]
fn an_unknown_namespace_is_marked_or_refused_never_guessed() {
    let world = cluster(Mode::Protect);
    assert_eq!(stamp(&a_pod().within("new"), &world), (None, Some("fallback".to_owned())));
    assert!(a_pod().within("new").decide(&cluster(Mode::Enforce)).denied.unwrap().contains("try again"));
    let nobody = World { mode: Mode::Enforce, ..World::default() };
    assert!(a_pod().within("new").decide(&nobody).is_allowed(), "with no selector nothing is missed");
}

#[test]
fn selectors_of_every_form_claim_what_they_match() {
    let expression = json!({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}});
    let both = json!({"namespaceSelector": {"matchLabels": {"a": "1", "b": "2"}}});
    let everything = json!({"namespaceSelector": {}});
    let spaces = || {
        vec![
            namespace("x", &[("a", "1"), ("b", "2")]),
            namespace("y", &[("a", "1"), ("team", "t")]),
            namespace("z", &[]),
        ]
    };
    let claims = |tenants: Vec<(&str, Value)>| {
        let tenants = tenants.into_iter().map(|(name, spec)| tenant(name, spec)).collect();
        let directory = Directory::new(tenants, spaces());
        ["x", "y", "z"]
            .map(|name| directory.claimants(name).map(|tenant| tenant.id.name.clone()).collect::<Vec<_>>().join("+"))
    };
    assert_eq!(claims(vec![("e", expression.clone()), ("b", both.clone())]), ["b", "e", ""]);
    assert_eq!(claims(vec![("all", everything), ("e", expression), ("b", both)]), ["all+b", "all+e", "all"]);
}

#[test]
fn the_uid_of_the_stamp_is_the_tenants_own() {
    let result = a_pod().result(&cluster(Mode::Protect));
    assert_eq!(result["metadata"]["labels"][TENANT_UID], "uid-of-nlp");
}
