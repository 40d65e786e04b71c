//! Any bytes as an AdmissionReview: they are judged or refused, in every mode, and the answer is JSON with the same uid. Asked
//! again about its own result, `decide` has nothing to add, and nothing but our keys has changed.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use stagger::admission::{Decision, Mode, Operation, World, assemble, decide, parse, respond, uid_of};
use stagger::scenario::{Input, Limits, read};

/// Two tenants, of whom one has `evals` for himself, and a queue whose work a plan holds.
const CLUSTER: &str = "
{apiVersion: v1, kind: Namespace, metadata: {name: evals, uid: n-1, labels: {team: nlp}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shared, uid: n-2}}
---
{apiVersion: stagger.dev/v1alpha1, kind: GpuTenant, metadata: {name: nlp, uid: uid},
 spec: {namespaceSelector: {matchLabels: {team: nlp}}, namespaces: [shared], agents: {sessionLabel: session},
        subjects: [{kind: User, name: ana}]}}
---
{apiVersion: stagger.dev/v1alpha1, kind: GpuTenant, metadata: {name: vision, uid: uid-2},
 spec: {namespaces: [shared], subjects: [{kind: Group, name: vision}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: batch}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: batch, namespace: evals}, spec: {clusterQueue: batch}}
---
{apiVersion: stagger.dev/v1alpha1, kind: CapacityPlan, metadata: {name: main}, spec: {queues: [batch], mode: Enforce}}
";

static WORLDS: LazyLock<Vec<World>> = LazyLock::new(|| {
    let reading = read(&[Input::text("cluster.yaml", CLUSTER)], &Limits::default());
    assert_eq!(reading.manifests.len(), 7, "{:?}", reading.findings);
    let of = |mode: Mode| {
        let (world, findings) = assemble(&reading.manifests, mode);
        assert!(findings.is_empty(), "{findings:?}");
        world
    };
    [Mode::Observe, Mode::Protect, Mode::Enforce].map(of).into()
});

fn answered(body: &[u8], world: &World) -> Decision {
    let (uid, decision) = match parse(body) {
        Ok(review) => {
            let decision = decide(&review.request, world);
            (review.uid, decision)
        }
        Err(unreadable) => (unreadable.uid, Decision::unreadable(&unreadable.why)),
    };
    let answer: Value = serde_json::from_slice(respond(&uid, &decision).as_ref()).expect("an answer is JSON");
    assert_eq!(answer["response"]["uid"], *uid);
    decision
}

/// RFC 6902's add and remove, strict: a missing parent is an error.
fn apply(object: &mut Value, patch: &[Operation]) {
    for operation in patch {
        let (Operation::Add { path, .. } | Operation::Remove { path }) = operation;
        let (parent, key) = path.rsplit_once('/').expect("a path");
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent: &mut Map<String, Value> =
            object.pointer_mut(parent).and_then(Value::as_object_mut).unwrap_or_else(|| panic!("nothing at {path}"));
        match operation {
            Operation::Add { value, .. } => drop(parent.insert(key, value.clone())),
            Operation::Remove { .. } => drop(parent.remove(&key).expect("it is there")),
        }
    }
}

fuzz_target!(|body: &[u8]| {
    let _uid = uid_of(body);
    for world in WORLDS.iter() {
        let _decision = answered(body, world);
        // What the API server sends names no member twice.
        let Ok(mut review) = serde_json::from_slice::<Value>(body) else { continue };
        let decision = answered(review.to_string().as_bytes(), world);
        if decision.patch.is_empty() {
            continue;
        }
        assert!(decision.is_allowed(), "a refusal changes nothing");
        apply(&mut review["request"]["object"], &decision.patch);
        let again = answered(review.to_string().as_bytes(), world);
        assert!(again.is_allowed() && again.patch.is_empty(), "{:?} after {:?}", again.patch, decision.patch);
    }
});
