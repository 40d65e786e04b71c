//! Pods, of which there may be very many, are whole a namespace at a time, and say then what they say all at once.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use serde_json::{Value, json};
use stagger::api::manifest::Manifest;
use stagger::controller::kinds::KINDS;
use stagger::controller::rows::{Change, Rows};
use stagger::controller::scope::Scope;
use stagger::kueue::{Assembled, Lent};

use super::fake::{at, row, settings};

const NAMESPACES: usize = 5;
const GROUPS: usize = 3;
const MEMBERS: usize = 4;

/// Queues of every namespace, and a promise that matches nothing but nearly names a pod.
fn others() -> Vec<Manifest> {
    let quota = json!([{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 100}]}]);
    let groups = json!([{"coveredResources": ["nvidia.com/gpu"], "flavors": quota}]);
    let kueue = |kind: &str, metadata: Value, spec: Value| {
        row(json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}))
    };
    let mut all = vec![
        kueue("ResourceFlavor", json!({"name": "a100"}), json!({})),
        kueue("ClusterQueue", json!({"name": "batch"}), json!({"namespaceSelector": {}, "resourceGroups": groups})),
        row(
            json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO", "metadata": {"name": "lost", "namespace": "team-3"},
            "spec": {"targetRef": {"kind": "Pod", "name": "solo-33"}, "finishBy": "2026-11-30T17:00:00Z"}}),
        ),
    ];
    for team in 0..NAMESPACES {
        let metadata = json!({"name": "main", "namespace": format!("team-{team}")});
        all.push(kueue("LocalQueue", metadata, json!({"clusterQueue": "batch"})));
        let promise = json!({"selector": {"matchLabels": {"app": "train"}}, "finishBy": "2026-11-30T20:00:00Z",
            "expectedRuntime": {"p50": "1h", "p90": "1h"}});
        all.push(row(json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO",
            "metadata": {"name": "train", "namespace": format!("team-{team}")}, "spec": promise})));
    }
    all
}

/// Groups of pods and a single one in every namespace.
fn pods() -> Vec<Manifest> {
    let pod = |namespace: &str, name: &str, group: Option<&str>| {
        let mut labels = json!({"kueue.x-k8s.io/queue-name": "main", "app": "train"});
        let mut annotations = json!({"kueue.x-k8s.io/admission-gated-by": "stagger.dev/planner"});
        if let Some(group) = group {
            labels["kueue.x-k8s.io/pod-group-name"] = json!(group);
            annotations["kueue.x-k8s.io/pod-group-total-count"] = json!(MEMBERS.to_string());
        }
        let limits = json!({"nvidia.com/gpu": "1"});
        row(json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "uid": format!("{namespace}/{name}"), "labels": labels,
                "annotations": annotations, "creationTimestamp": "2026-11-30T11:00:00Z"},
            "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]}, "status": {"phase": "Pending"}}))
    };
    let of = |team: usize| {
        let namespace = format!("team-{team}");
        let single = pod(&namespace, &format!("solo-{team}"), None);
        let members = (0..GROUPS * MEMBERS).map(|at| {
            let group = format!("group-{}", at / MEMBERS);
            pod(&namespace, &format!("{group}-{}", at % MEMBERS), Some(&group))
        });
        members.chain([single]).collect::<Vec<_>>()
    };
    (0..NAMESPACES).flat_map(of).collect()
}

fn rows() -> Rows {
    let (rows, at) =
        (Rows::default(), |kind: &str| KINDS.iter().position(|it| it.kind == kind).expect("it is watched"));
    for one in others().into_iter().chain(pods()) {
        rows.take(at(&one.kind), Change::Applied(one));
    }
    rows
}

/// What was found, in an order that does not depend on how it was read.
fn found(mut assembled: Assembled) -> String {
    assembled.observed.sort_by(|a, b| a.key.cmp(&b.key));
    let mut findings: Vec<String> = assembled.findings.iter().map(|it| format!("{it:?}")).collect();
    findings.sort();
    format!("{:#?}\n{:#?}\n{findings:#?}", assembled.snapshot, assembled.observed)
}

#[test]
fn a_look_at_one_namespace_after_the_other_finds_what_a_look_at_all_finds() {
    let scope = Scope::default();
    let all: Vec<Manifest> = others().into_iter().chain(pods()).collect();
    let at_once = scope.look(&mut all.iter(), at(0), &settings());
    assert_eq!(at_once.snapshot.workloads.len(), NAMESPACES * (GROUPS + 1));
    let hint = |one: &stagger::failure::Finding| one.hint.as_deref() == Some("did you mean `solo-3`?");
    assert!(at_once.findings.iter().any(hint), "{:?}", at_once.findings);
    let apart = rows().read(|rows, lent| scope.look_lent(rows, lent, at(0), &settings()));
    assert_eq!(found(apart), found(at_once));
}

#[test]
fn only_the_pods_of_one_namespace_are_whole_at_a_time() {
    rows().read(|others, lent| {
        assert_eq!(lent.len(), NAMESPACES);
        let (alive, most, made): (RefCell<Vec<Weak<Value>>>, _, _) = (RefCell::default(), Cell::new(0), Cell::new(0));
        // Each pod is given something by which it can be told later whether it is still there.
        let counted = |make: &dyn Fn() -> Vec<Manifest>| {
            let mut pods = make();
            let mut alive = alive.borrow_mut();
            for pod in &mut pods {
                let mark = Arc::new(json!(null));
                alive.push(Arc::downgrade(&mark));
                pod.shared = pod.shared.iter().cloned().chain([("/mark", mark)]).collect();
            }
            let whole = alive.iter().filter(|it| it.strong_count() > 0).count();
            most.set(most.get().max(whole));
            made.set(made.get() + pods.len());
            pods
        };
        let counted = &counted;
        let each = lent.iter().map(|(namespace, make)| -> (&str, Box<dyn Fn() -> Vec<Manifest>>) {
            (namespace, Box::new(move || counted(make)))
        });
        let each: Lent<'_> = each.collect();
        let seen = Scope::default().look_lent(others, &each, at(0), &settings());
        assert_eq!(seen.observed.len(), NAMESPACES * (GROUPS + 1));
        assert_eq!(made.get(), NAMESPACES * (GROUPS * MEMBERS + 1));
        assert_eq!(most.get(), GROUPS * MEMBERS + 1);
        assert!(alive.borrow().iter().all(|it| it.strong_count() == 0), "nothing is kept of them");
    });
}
