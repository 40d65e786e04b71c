//! What a new object looks like afterwards, and what an update may leave behind.

use serde_json::{Value, json};
use stagger::admission::{Mode, Operation, Outcome};
use stagger::api::keys::{AGENT_SESSION, ATTRIBUTION, PLANNED_START, TENANT, TENANT_UID};

use super::world::{a_job, cluster, create, labels, update};

fn shown(patch: &[Operation]) -> Vec<String> {
    patch.iter().map(|operation| operation.document().to_string()).collect()
}

#[test]
fn a_missing_label_map_is_added_as_a_map_before_its_first_key() {
    let world = cluster(Mode::Protect);
    for object in [
        json!({"metadata": {"name": "p"}}),
        json!({"metadata": {"name": "p", "labels": null}}),
        json!({"metadata": {"generateName": "p-"}}),
    ] {
        let patch = create("", "pods", object).decide(&world).patch;
        let expected = [
            r#"{"op":"add","path":"/metadata/labels","value":{}}"#,
            r#"{"op":"add","path":"/metadata/labels/stagger.dev~1tenant","value":"nlp"}"#,
            r#"{"op":"add","path":"/metadata/labels/stagger.dev~1tenant-uid","value":"uid-of-nlp"}"#,
        ];
        assert_eq!(shown(&patch), expected);
    }
}

#[test]
fn the_namespace_of_the_request_counts_not_that_of_the_object() {
    let world = cluster(Mode::Protect);
    let claims = json!({"metadata": {"name": "p", "namespace": "vision", "labels": {}}});
    assert!(labels(&create("", "pods", claims).result(&world)).contains("uid-of-nlp"));
    let silent = json!({"metadata": {"name": "p", "namespace": "", "labels": {}}});
    assert!(labels(&create("", "pods", silent).within("vision").result(&world)).contains("uid-of-vision"));
}

#[test]
fn what_is_not_ours_stays_as_it_was() {
    let world = cluster(Mode::Protect);
    let object = json!({
        "metadata": {"name": "p", "labels": {"a": "b"}, "annotations": {"big": "x".repeat(1000)}, "future": [1, 2.50, null]},
        "spec": {"unknownField": {"deep": [{"é": "\u{1F600}"}]}},
    });
    let mut result = create("", "pods", object.clone()).result(&world);
    let labels = result["metadata"]["labels"].as_object_mut().unwrap();
    labels.remove(TENANT);
    labels.remove(TENANT_UID);
    assert_eq!(result, object);
}

#[test]
fn every_kind_that_kueue_manages_is_stamped_with_its_templates() {
    let world = cluster(Mode::Protect);
    let pod = json!({"metadata": {"labels": {TENANT: "vision"}}, "spec": {}});
    let cases: [(&str, &str, Value, &[&str]); 6] = [
        ("batch", "jobs", json!({"template": pod}), &["/spec/template"]),
        (
            "jobset.x-k8s.io",
            "jobsets",
            json!({"replicatedJobs": [{"template": {"spec": {"template": {}}}}, {"template": {"spec": {"template": pod}}}]}),
            &["/spec/replicatedJobs/0/template/spec/template", "/spec/replicatedJobs/1/template/spec/template"],
        ),
        (
            "kubeflow.org",
            "pytorchjobs",
            json!({"pytorchReplicaSpecs": {"Master": {"template": pod}, "a/b": {"template": {"metadata": null}}}}),
            &["/spec/pytorchReplicaSpecs/Master/template", "/spec/pytorchReplicaSpecs/a~1b/template"],
        ),
        (
            "ray.io",
            "rayjobs",
            json!({"rayClusterSpec": {"headGroupSpec": {"template": pod}, "workerGroupSpecs": [{"template": pod}]}}),
            &["/spec/rayClusterSpec/headGroupSpec/template", "/spec/rayClusterSpec/workerGroupSpecs/0/template"],
        ),
        (
            "leaderworkerset.x-k8s.io",
            "leaderworkersets",
            json!({"leaderWorkerTemplate": {"workerTemplate": pod}}),
            &["/spec/leaderWorkerTemplate/workerTemplate"],
        ),
        ("apps", "deployments", json!({"template": pod}), &["/spec/template"]),
    ];
    for (group, resource, spec, templates) in cases {
        let result = create(group, resource, json!({"metadata": {"name": "x"}, "spec": spec})).result(&world);
        assert!(labels(&result).contains("uid-of-nlp"), "{resource}");
        for at in templates {
            let template = result.pointer(at).unwrap_or_else(|| panic!("{resource} has no {at}"));
            assert_eq!(template["metadata"]["labels"][TENANT], "nlp", "{resource} {at}");
        }
    }
}

#[test]
fn templates_of_what_a_controller_made_are_left_alone() {
    let world = cluster(Mode::Protect);
    let mut job = a_job("batch");
    job["metadata"]["ownerReferences"] = json!([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "s", "uid": "1", "controller": true}]);
    let result = create("batch", "jobs", job).result(&world);
    assert!(labels(&result).contains("uid-of-nlp"));
    assert_eq!(result["spec"]["template"]["metadata"], Value::Null);
}

#[test]
fn what_an_author_writes_into_our_keys_gives_way_at_creation() {
    let world = cluster(Mode::Protect);
    let object = json!({"metadata": {
        "labels": {TENANT: "vision", AGENT_SESSION: "forged", "agents.example/session": "s-17"},
        "annotations": {PLANNED_START: "2026-01-01T00:00:00Z", ATTRIBUTION: "fallback", "mine": "1"},
    }});
    let result = create("", "pods", object).result(&world);
    assert_eq!(result["metadata"]["labels"][AGENT_SESSION], "s-17");
    assert_eq!(result["metadata"]["annotations"], json!({"mine": "1"}));
    // In a namespace that is nobody's, a stamp is taken off.
    let forged = json!({"metadata": {"labels": {TENANT: "vision", TENANT_UID: "uid-of-vision", "a": "b"}}});
    assert_eq!(create("", "pods", forged).within("free").result(&world)["metadata"]["labels"], json!({"a": "b"}));
}

#[test]
fn an_update_without_our_keys_gets_them_back_and_touches_nothing_else() {
    let world = cluster(Mode::Protect);
    let old = json!({"metadata": {"labels": {TENANT: "nlp", TENANT_UID: "uid-of-nlp"}, "annotations": {PLANNED_START: "t"}},
                     "spec": {"template": {}}});
    let new = json!({"metadata": {"name": "x"}, "spec": {"template": {"metadata": {"labels": {}}}}});
    let asked = update("batch", "jobs", old.clone(), new);
    assert_eq!(asked.decide(&world).outcome, Outcome::Restored);
    let result = asked.result(&world);
    assert_eq!(result["metadata"]["labels"], old["metadata"]["labels"]);
    assert_eq!(result["metadata"]["annotations"], old["metadata"]["annotations"]);
    assert_eq!(
        result["spec"]["template"],
        json!({"metadata": {"labels": {}}}),
        "a template is never touched on update"
    );
}

/// Found by fuzzing: no API server asks so, but a patch that cannot be applied would be an error of ours.
#[test]
fn an_update_without_an_object_is_not_patched() {
    let old = json!({"metadata": {"name": "j", "labels": {TENANT: "nlp"}}});
    let decision = update("batch", "jobs", old, Value::Null).decide(&cluster(Mode::Protect));
    assert!(decision.is_allowed() && decision.patch.is_empty(), "{decision:?}");
}

#[test]
fn an_object_on_its_way_out_is_never_patched_and_its_finalizers_come_off() {
    let world = cluster(Mode::Enforce);
    let old = json!({"metadata": {"labels": {TENANT: "nlp"}, "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a"]}});
    let mut new = old.clone();
    new["metadata"]["finalizers"] = json!([]);
    let decision = update("", "pods", old.clone(), new.clone()).decide(&world);
    assert!(decision.is_allowed() && decision.patch.is_empty());
    // A stamp cannot be changed under cover of the deletion.
    new["metadata"]["labels"] = json!({TENANT: "vision"});
    assert!(!update("", "pods", old.clone(), new.clone()).decide(&world).is_allowed());
    new["metadata"]["labels"] = json!({});
    assert!(!update("", "pods", old, new).decide(&world).is_allowed());
}

#[test]
fn an_object_that_came_unstamped_may_get_the_true_stamp_only() {
    let world = cluster(Mode::Protect);
    let old = json!({"metadata": {"labels": {"a": "b"}}});
    let with = |tenant: &str| json!({"metadata": {"labels": {"a": "b", TENANT: tenant, TENANT_UID: format!("uid-of-{tenant}")}}});
    assert!(update("", "pods", old.clone(), with("nlp")).decide(&world).is_allowed());
    assert!(!update("", "pods", old.clone(), with("vision")).decide(&world).is_allowed());
    assert!(update("", "pods", old.clone(), old).decide(&world).patch.is_empty(), "an update does not stamp");
}

#[test]
fn a_dry_run_is_answered_like_any_other() {
    let world = cluster(Mode::Protect);
    let asked = create("batch", "jobs", a_job("batch"));
    assert_eq!(asked.decide(&world), asked.clone().set("dryRun", true).decide(&world));
}
