//! The manifests in `webhooks/`: generated, readable, and of one mind with the code that answers.

use expect_test::expect_file;
use serde_json::{Value, json};
use stagger::admission::Mode;
use stagger::admission::kinds::KINDS;
use stagger::admission::policy::{LEFT_OUT, POLICIES, binding, files, mutating, mutating_policy, policy, validating};
use stagger::api::crd;
use stagger::api::keys::{
    GATE, GATES, PREFIX, PROTECTED_ANNOTATIONS, PROTECTED_LABELS, QUEUE_NAME, TENANT, TENANT_SINCE, TENANT_UID,
};
use stagger::api::yaml;
use stagger::scenario::{Input, Limits, read};

fn named(name: &str) -> Value {
    policy(POLICIES.iter().find(|policy| policy.name == name).unwrap())
}

fn written(objects: &[Value]) -> String {
    let documents: Vec<String> = objects.iter().map(|object| yaml::of(object).unwrap()).collect();
    documents.join("---\n")
}

#[test]
fn the_files_in_webhooks_are_generated() {
    for (name, objects) in files() {
        let path = format!("../../../webhooks/{name}");
        expect_file![path].assert_eq(&written(&objects));
    }
}

#[test]
fn the_yaml_reads_back_as_what_was_meant() {
    for (name, objects) in files() {
        let reading = read(&[Input::text(&name, &written(&objects))], &Limits::default());
        let values: Vec<&Value> = reading.manifests.iter().map(|manifest| &manifest.value).collect();
        // A Kustomization has no name, so it is no object to the reader.
        if !name.ends_with("kustomization.yaml") {
            assert_eq!(values, objects.iter().collect::<Vec<_>>(), "{name}");
        }
    }
}

/// Every `expression` and `valueExpression` inside.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                match inner {
                    Value::String(text) if key.to_lowercase().ends_with("expression") => found.push(text.clone()),
                    inner => expressions(inner, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

#[test]
fn expressions_are_balanced_and_name_declared_variables() {
    for (name, objects) in files() {
        for object in &objects {
            let mut found = Vec::new();
            expressions(object, &mut found);
            let declared: Vec<&str> = object["spec"]["variables"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|one| one["name"].as_str())
                .collect();
            for cel in found {
                for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
                    assert_eq!(cel.matches(open).count(), cel.matches(close).count(), "{name}: {cel}");
                }
                assert_eq!(cel.matches('\'').count() % 2, 0, "{name}: {cel}");
                for (at, start) in cel.match_indices("variables.") {
                    let rest = &cel[at + start.len()..];
                    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                    assert!(declared.contains(&&rest[..end]), "{name}: {} is not declared", &rest[..end]);
                }
            }
        }
    }
}

fn covers(rules: &Value, operation: &str, group: &str, resource: &str) -> bool {
    rules.as_array().unwrap().iter().any(|rule| {
        let has = |field: &str, word: &str| rule[field].as_array().unwrap().contains(&json!(word));
        has("operations", operation) && has("apiGroups", group) && has("resources", resource)
    })
}

#[test]
fn every_kind_comes_to_the_webhook_and_under_the_policies_on_every_path() {
    let hook = &mutating()["webhooks"][0];
    let stamp = &named("stagger-stamp")["spec"]["matchConstraints"]["resourceRules"];
    let gate = &named("stagger-gate")["spec"]["matchConstraints"]["resourceRules"];
    let cel = &mutating_policy("v1")[0]["spec"]["matchConstraints"]["resourceRules"];
    for kind in KINDS {
        let subresources = format!("{}/*", kind.resource);
        for operation in ["CREATE", "UPDATE"] {
            assert!(covers(&hook["rules"], operation, kind.group, kind.resource), "{}", kind.kind);
            assert!(covers(stamp, operation, kind.group, kind.resource), "{}", kind.kind);
        }
        assert!(covers(stamp, "UPDATE", kind.group, &subresources), "{}", kind.kind);
        assert!(covers(gate, "UPDATE", kind.group, kind.resource), "{}", kind.kind);
        assert!(covers(gate, "UPDATE", kind.group, &subresources), "{}", kind.kind);
        assert!(covers(cel, "CREATE", kind.group, kind.resource), "{}", kind.kind);
    }
    let binding = &named("stagger-binding")["spec"]["matchConstraints"]["resourceRules"];
    assert!(covers(binding, "CREATE", "", "pods/binding") && covers(binding, "CREATE", "", "bindings"));
    let namespace = &named("stagger-namespace")["spec"]["matchConstraints"]["resourceRules"];
    for resource in ["namespaces", "namespaces/status", "namespaces/finalize"] {
        assert!(covers(namespace, "UPDATE", "", resource));
    }
}

#[test]
fn every_key_that_the_code_protects_is_protected_by_a_policy() {
    let stamp = named("stagger-stamp")["spec"]["validations"].to_string();
    let at_stake = mutating()["webhooks"][0]["matchConditions"].to_string();
    for key in PROTECTED_LABELS.into_iter().chain(PROTECTED_ANNOTATIONS) {
        assert!(stamp.contains(key) && at_stake.contains(key), "{key}");
        assert!(key.starts_with(PREFIX));
    }
    assert!(at_stake.contains(GATES) && at_stake.contains(QUEUE_NAME));
    let gate = named("stagger-gate")["spec"]["variables"].to_string();
    assert!(gate.contains(GATE) && gate.contains(GATES));
    for key in [TENANT, TENANT_UID, TENANT_SINCE] {
        assert!(named("stagger-namespace").to_string().contains(key));
    }
    assert!(named("stagger-binding").to_string().contains(PREFIX));
}

#[test]
fn the_webhook_cannot_hold_up_a_cluster() {
    let configuration = mutating();
    let hook = &configuration["webhooks"][0];
    assert_eq!(hook["failurePolicy"], "Ignore");
    assert_eq!(hook["sideEffects"], "None");
    assert_eq!(hook["reinvocationPolicy"], "IfNeeded");
    assert_eq!(hook["matchPolicy"], "Equivalent");
    assert!(hook["timeoutSeconds"].as_u64().unwrap() <= 2);
    assert!(hook["objectSelector"].is_null(), "a user could grant himself an exception");
    let name = configuration["metadata"]["name"].as_str().unwrap();
    assert!(name < "kueue-mutating-webhook-configuration", "we come before Kueue");
    let expression = &hook["namespaceSelector"]["matchExpressions"][0];
    assert_eq!(expression["key"], "kubernetes.io/metadata.name");
    for namespace in ["kube-system", "kube-public", "kube-node-lease", "stagger-system"] {
        assert!(LEFT_OUT.contains(&namespace));
        assert!(expression["values"].as_array().unwrap().contains(&json!(namespace)));
    }
    for rule in validating()["webhooks"][0]["rules"].as_array().unwrap() {
        for resource in rule["resources"].as_array().unwrap() {
            assert!(crd::KINDS.iter().any(|kind| kind.plural == resource.as_str().unwrap()), "{resource}");
        }
    }
}

#[test]
fn policies_refuse_from_their_mode_on_and_only_tell_before() {
    let actions = |mode| {
        let of = |policy| {
            binding(policy, mode).map_or("none".to_owned(), |one| one["spec"]["validationActions"].to_string())
        };
        POLICIES.iter().map(of).collect::<Vec<_>>()
    };
    let (deny, warn, audit) = (r#"["Deny","Audit"]"#, r#"["Warn","Audit"]"#, r#"["Audit"]"#);
    assert_eq!(actions(Mode::Observe), [warn, "none", warn, warn, warn]);
    assert_eq!(actions(Mode::Protect), [deny, audit, deny, deny, deny]);
    assert_eq!(actions(Mode::Enforce), [deny; 5]);
}

#[test]
fn messages_say_what_and_who() {
    for one in POLICIES {
        for validation in policy(one)["spec"]["validations"].as_array().unwrap() {
            let message = validation["message"].as_str().unwrap();
            assert!(message.contains(PREFIX) && !message.ends_with('.'), "{message}");
        }
    }
}
