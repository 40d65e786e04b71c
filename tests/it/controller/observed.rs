//! What is observed of work, in the shapes in which Kueue reads gates.

use serde_json::json;
use stagger::api::manifest::Manifest;
use stagger::controller::scope::Scope;
use stagger::kueue::observed::{Observed, Standing};
use stagger::kueue::release::{Told, targets, without_gate};

use super::fake::{Fake, GATE, at, row, settings, time};

fn observe(rows: &[Manifest]) -> Vec<Observed> {
    Scope::default().look(&mut rows.iter(), at(0), &settings()).observed
}

fn pod(name: &str, gates: &str) -> Manifest {
    row(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "evals", "uid": name, "creationTimestamp": time(at(0)),
            "labels": {"kueue.x-k8s.io/queue-name": "batch", "kueue.x-k8s.io/pod-group-name": "crew"},
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": "2", "kueue.x-k8s.io/admission-gated-by": gates}},
        "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        "status": {"phase": "Pending"},
    }))
}

#[test]
fn a_job_and_its_workload_are_one() {
    let mut fake = Fake::new().job("eval-1", 2);
    fake.find("eval-1").planned = Some("2026-11-30T13:00:00+01:00".to_owned());
    let observed = observe(&fake.rows());
    assert_eq!(observed.len(), 1);
    let one = &observed[0];
    assert_eq!((one.key.as_str(), one.kind.as_str()), ("evals/eval-1", "Job"));
    assert_eq!(one.standing, Standing::Waiting);
    assert!(one.is_gated());
    assert_eq!(one.planned_start(), Some(at(60)));
    assert_eq!(one.queue.as_ref().map(stagger::names::QueueName::as_str), Some("batch"));
    assert_eq!(one.slo, Some(("evals".to_owned(), "evals".to_owned())));
    assert_eq!(one.due, Some(at(300)));
    // The gate goes from the Job; Kueue passes it on.
    let targets = targets(one);
    assert_eq!(targets.len(), 1);
    assert_eq!((targets[0].kind.as_str(), targets[0].uid.as_str()), ("Job", "job-eval-1"));
}

#[test]
fn all_pods_of_a_group_lose_their_gate_together() {
    let mut rows = Fake::new().rows();
    rows.extend([pod("crew-1", GATE), pod("crew-0", GATE)]);
    let observed = observe(&rows);
    let group = observed.iter().find(|one| one.kind == "PodGroup").expect("the group must be seen");
    let names: Vec<_> = targets(group).into_iter().map(|target| target.name).collect();
    assert_eq!(names, ["crew-0", "crew-1"]);
}

#[test]
fn a_workload_made_beforehand_is_where_its_gate_is_read() {
    let mut fake = Fake::new().job("eval-1", 2);
    fake.find("eval-1").gates = String::new();
    let mut rows = fake.rows();
    for row in &mut rows {
        if row.kind == "Job" {
            row.value["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = json!("job-eval-1-1");
        }
        if row.kind == "Workload" {
            row.value["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = json!(GATE);
        }
    }
    let observed = observe(&rows);
    let targets = targets(&observed[0]);
    assert_eq!(targets.len(), 1);
    assert_eq!((targets[0].kind.as_str(), targets[0].name.as_str()), ("Workload", "job-eval-1-1"));
}

#[test]
fn other_controllers_keep_their_gates() {
    assert_eq!(without_gate(GATE), None);
    assert_eq!(without_gate(&format!("a.dev/x,{GATE},b.dev/y")), Some("a.dev/x,b.dev/y".to_owned()));
    assert_eq!(without_gate(&format!("{GATE},b.dev/y")), Some("b.dev/y".to_owned()));
    let fake = Fake::new().job("eval-1", 2);
    let mut rows = fake.rows();
    let both = format!("other.dev/gate,{GATE}");
    for row in rows.iter_mut().filter(|row| row.kind == "Job" || row.kind == "Workload") {
        row.value["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = json!(both);
    }
    let patch = targets(&observe(&rows)[0])[0].patch(None).expect("a gate comes off");
    let path = "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by";
    let expected = json!([
        {"op": "test", "path": "/metadata/uid", "value": "job-eval-1"},
        {"op": "test", "path": path, "value": both},
        {"op": "replace", "path": path, "value": "other.dev/gate"},
    ]);
    assert_eq!(patch, expected);
    let told = Told { start: "2026-11-30T13:00:00+01:00".to_owned(), plan: "main".to_owned() };
    let patch = targets(&observe(&rows)[0])[0].patch(Some(&told)).expect("a gate comes off");
    let steps = patch.as_array().expect("the patch must be steps");
    assert_eq!(steps[..3], *expected.as_array().expect("steps"));
    let added = [
        json!({"op": "add", "path": "/metadata/annotations/stagger.dev~1planned-start", "value": told.start}),
        json!({"op": "add", "path": "/metadata/annotations/stagger.dev~1plan", "value": "main"}),
    ];
    assert_eq!(steps[3..], added, "and the start it is let go for is written in the same patch");
}
