//! What holds for every request: total, idempotent, only our keys, whatever stands beside us.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stagger::admission::kinds::KINDS;
use stagger::admission::{Mode, decide, parse};
use stagger::api::keys::{GATES, PREFIX};

use super::world::{Ask, applied, ask, cluster};

const KEYS: [&str; 12] = [
    "stagger.dev/tenant",
    "stagger.dev/tenant-uid",
    "stagger.dev/agent-session",
    "stagger.dev/planned-start",
    "stagger.dev/attribution",
    "stagger.dev/slo",
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/admission-gated-by",
    "kueue.x-k8s.io/prebuilt-workload-name",
    "kueue.x-k8s.io/pod-group-name",
    "app",
    "a~b/c",
];

const WORDS: [&str; 8] =
    ["nlp", "vision", "uid-of-nlp", "batch", "open", "", "stagger.dev/planner", "x.example/y,stagger.dev/planner"];

fn entries() -> impl Strategy<Value = Option<Value>> {
    let pairs = prop::collection::vec((prop::sample::select(&KEYS[..]), prop::sample::select(&WORDS[..])), 0..6);
    prop::option::of(pairs.prop_map(|pairs| {
        Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect())
    }))
}

fn object() -> impl Strategy<Value = Value> {
    (entries(), entries(), any::<bool>(), any::<bool>(), prop::sample::select(&["Job", "JobSet", "Other"][..])).prop_map(
        |(labels, annotations, owned, leaving, kind)| {
            let mut metadata = Map::new();
            metadata.insert("generateName".to_owned(), json!("x-"));
            metadata.extend(labels.map(|labels| ("labels".to_owned(), labels)));
            metadata.extend(annotations.map(|annotations| ("annotations".to_owned(), annotations)));
            if owned {
                let owner = json!({"apiVersion": "batch/v1", "kind": kind, "name": "o", "uid": "1", "controller": true});
                metadata.insert("ownerReferences".to_owned(), json!([owner]));
            }
            if leaving {
                metadata.insert("deletionTimestamp".to_owned(), json!("2026-01-01T00:00:00Z"));
            }
            json!({"metadata": metadata, "spec": {"queueName": "batch", "template": {"spec": {}}, "unknown": [1, null]}})
        },
    )
}

fn request() -> impl Strategy<Value = Ask> {
    let users = ["ana", "system:serviceaccount:kube-system:job-controller", "system:serviceaccount:shared:nlp-runner"];
    (
        prop::sample::select(&["CREATE", "UPDATE"][..]),
        prop::sample::select(KINDS),
        prop::sample::select(&["evals", "shared", "free", "new", ""][..]),
        prop::sample::select(users.to_vec()),
        object(),
        object(),
    )
        .prop_map(|(operation, kind, namespace, user, new, old)| {
            let asked = ask(operation, kind.group, kind.resource).within(namespace).user(user, &[]).object(new);
            if operation == "UPDATE" { asked.old(old) } else { asked }
        })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let names =
            ["metadata", "labels", "annotations", "spec", "template", "ownerReferences", "replicatedJobs", "status"];
        let key = prop_oneof![prop::sample::select(names.to_vec()).prop_map(str::to_owned), ".{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn without_our_keys(object: &Value) -> Value {
    match object {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !key.starts_with(PREFIX) && *key != GATES);
            let kept: Map<String, Value> = kept.map(|(key, value)| (key.clone(), without_our_keys(value))).collect();
            // A map that only our keys needed is as good as none.
            let kept = kept.into_iter().filter(|(key, value)| {
                !(["labels", "annotations", "metadata"].contains(&key.as_str()) && *value == json!({}))
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_our_keys).collect()),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn asked_again_about_its_own_result_it_adds_nothing(asked in request(), mode in prop::sample::select(vec![Mode::Observe, Mode::Protect, Mode::Enforce])) {
        let world = cluster(mode);
        let first = asked.decide(&world);
        if first.is_allowed() {
            let again = asked.clone().object(applied(&asked.0["object"], &first.patch)).decide(&world);
            prop_assert!(again.is_allowed());
            prop_assert_eq!(again.patch, Vec::new());
        }
    }

    #[test]
    fn only_our_keys_change(asked in request()) {
        let world = cluster(Mode::Protect);
        let object = &asked.0["object"];
        prop_assert_eq!(without_our_keys(&applied(object, &asked.decide(&world).patch)), without_our_keys(object));
    }

    #[test]
    fn beside_another_mutator_the_order_does_not_matter(asked in request(), key in prop::sample::select(vec!["app", "zone"]), value in "[a-z]{1,5}") {
        let world = cluster(Mode::Protect);
        let other = |mut object: Value| {
            if object["metadata"]["labels"].is_null() {
                object["metadata"]["labels"] = json!({});
            }
            object["metadata"]["labels"][key] = json!(value);
            object
        };
        let ours = |object: Value| {
            let asked = asked.clone().object(object.clone());
            applied(&object, &asked.decide(&world).patch)
        };
        let object = asked.0["object"].clone();
        prop_assert_eq!(ours(other(ours(object.clone()))), ours(other(object)));
    }

    #[test]
    fn a_hostile_object_never_panics(new in any_json(), old in any_json(), kind in prop::sample::select(KINDS), sub in prop::sample::select(vec!["", "status", "binding", "scale"]), operation in prop::sample::select(vec!["CREATE", "UPDATE", "DELETE", "CONNECT"])) {
        let body = ask(operation, kind.group, kind.resource).sub(sub).object(new.clone()).old(old).body();
        if let Ok(review) = parse(body.as_bytes()) {
            let decision = decide(&review.request, &cluster(Mode::Enforce));
            applied(&new, &decision.patch);
        }
    }

    #[test]
    fn a_hostile_body_never_panics(body in prop::collection::vec(any::<u8>(), 0..200), request in any_json()) {
        let _unreadable = parse(&body);
        let body = json!({"apiVersion": "admission.k8s.io/v1", "request": request}).to_string();
        if let Ok(review) = parse(body.as_bytes()) {
            let _answered = decide(&review.request, &cluster(Mode::Protect));
        }
    }
}

#[test]
fn a_list_is_not_taken_for_an_object() {
    for object in [json!([null, null, null]), json!({"metadata": [null, null, null, null, null]})] {
        let body = ask("CREATE", "", "pods").object(object).body();
        let told = parse(body.as_bytes()).map(|review| review.uid).unwrap_err();
        assert!(!told.uid.is_empty() && told.why.contains("a JSON object"), "{told:?}");
    }
}
