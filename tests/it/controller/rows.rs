//! Rows: what the watches tell, kept so that a deletion nobody told of is noticed all the same.

use kube::api::DynamicObject;
use serde_json::{Value, json};
use stagger::api::manifest::Manifest;
use stagger::clock::Clock;
use stagger::controller::kinds::{KINDS, Need};
use stagger::controller::project::project;
use stagger::controller::rows::{Change, Rows, State};

use super::fake::{Fake, at, job_row};

fn place(kind: &str) -> usize {
    KINDS.iter().position(|known| known.kind == kind).expect("the kind must be watched")
}

fn names(rows: &Rows) -> Vec<String> {
    rows.read(|rows, _| rows.map(|row| row.name.clone()).collect())
}

/// Pods may be very many: what says nothing about quota or place is not kept.
#[test]
fn a_pod_is_kept_as_what_it_asks_for_and_how_far_it_is() {
    let at = KINDS.iter().position(|kind| kind.kind == "Pod").expect("pods are watched");
    let api = KINDS[at].api(0);
    let container = json!({"name": "main", "image": "i", "env": [{"name": "A", "value": "1"}], "resources": {"requests": {"cpu": "1"}}});
    let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": [container], "nodeName": "gpu-1", "schedulingGates": [{"name": "g"}], "tolerations": []},
        "status": {"phase": "Running", "startTime": "2026-11-30T12:00:00Z", "podIP": "10.0.0.1", "conditions": [{"type": "Ready"}]}});
    let row = project(serde_json::from_value(object).expect("an object"), &api, &Clock::WALL);
    let expected = json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}], "schedulingGates": [{"name": "g"}], "tolerations": []});
    assert_eq!(row.value["spec"], expected);
    assert_eq!(row.value["status"], json!({"phase": "Running", "startTime": "2026-11-30T12:00:00Z"}));
}

/// Of a pod only what it has of its own is kept. What is read is what came, whatever it looks like.
#[test]
fn pods_come_back_as_they_came() {
    let (rows, kind) = (Rows::default(), place("Pod"));
    let pod = |name: &str, labels: Value, gpus: Value| Manifest {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        namespace: "evals".to_owned(),
        name: name.to_owned(),
        value: json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels, "annotations": {}},
            "spec": {"containers": [{"name": "main", "resources": {"limits": {"gpu": gpus}}}], "tolerations": []}, "status": null}),
        shared: Box::default(),
        origin: None,
    };
    let pods = [
        pod("a", json!({"app": "eval"}), json!("1")),
        pod("b", json!({"app": "eval"}), json!(2)),
        pod("c", json!({"app": "eval"}), json!({"more": [null, true, {}]})),
        pod("d", json!({"app": "train", "x": "ü\u{0}\""}), json!("1")),
        pod("e", json!(null), json!([])),
        pod("f", json!({"app": "eval"}), json!("1")),
    ];
    rows.take(kind, Change::Begin);
    for pod in &pods {
        rows.take(kind, Change::Listed(pod.clone()));
    }
    rows.take(kind, Change::Complete);
    let lent = || rows.read(|_, lent| lent.values().flat_map(|make| make()).collect::<Vec<_>>());
    let read = lent();
    let seen = |pod: &Manifest| (pod.api_version.clone(), pod.kind.clone(), pod.name.clone(), pod.whole());
    assert_eq!(read.iter().map(seen).collect::<Vec<_>>(), pods.iter().map(seen).collect::<Vec<_>>());
    // The first of its shape may go; those like it stay what they are.
    rows.take(kind, Change::Deleted { namespace: "evals".to_owned(), name: "a".to_owned() });
    let mut told = rows.changes();
    told.mark_unchanged();
    rows.take(kind, Change::Applied(pods[5].clone()));
    assert!(!told.has_changed().unwrap(), "what says the same wakes nobody");
    rows.take(kind, Change::Applied(pod("f", json!({"app": "eval"}), json!("3"))));
    assert!(told.has_changed().unwrap());
    assert_eq!(lent().last().map(seen), Some(seen(&pod("f", json!({"app": "eval"}), json!("3")))));
}

#[test]
fn a_relist_takes_effect_when_it_is_complete() {
    let fake = Fake::touchstone();
    let jobs: Vec<_> = fake.jobs.iter().map(job_row).collect();
    let (rows, kind) = (Rows::default(), place("Job"));
    rows.take(kind, Change::Begin);
    for job in &jobs {
        rows.take(kind, Change::Listed(job.clone()));
    }
    assert!(rows.is_empty());
    rows.take(kind, Change::Complete);
    assert_eq!(names(&rows), ["eval-1", "eval-2", "eval-3", "eval-4"]);
    rows.take(kind, Change::Begin);
    rows.take(kind, Change::Listed(jobs[1].clone()));
    assert_eq!(rows.len(), 4, "what was known stands until the new list is whole");
    rows.take(kind, Change::Complete);
    assert_eq!(names(&rows), ["eval-2"]);
}

#[test]
fn what_says_the_same_wakes_nobody() {
    let job = job_row(&Fake::touchstone().jobs[0]);
    let (rows, kind) = (Rows::default(), place("Job"));
    let mut told = rows.changes();
    rows.take(kind, Change::Applied(job.clone()));
    assert!(told.has_changed().unwrap());
    told.mark_unchanged();
    rows.take(kind, Change::Applied(job));
    assert!(!told.has_changed().unwrap());
}

#[test]
fn it_is_complete_without_kinds_that_are_not_installed() {
    let rows = Rows::default();
    assert!(!rows.complete());
    for (at, kind) in KINDS.iter().enumerate() {
        assert!(!rows.complete());
        rows.take(at, if kind.need == Need::Always { Change::Complete } else { Change::Absent });
    }
    assert!(rows.complete());
    let jobs = place("Job");
    rows.take(jobs, Change::Absent);
    assert_eq!(rows.state("Job"), State::Listed, "an API server that has just started may not know its kinds yet");
}

#[test]
fn a_row_keeps_what_counts_and_drops_the_rest() {
    let object: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "eval-1", "namespace": "evals", "uid": "u", "resourceVersion": "7",
            "creationTimestamp": "2026-11-30T11:00:00Z",
            "managedFields": [{"manager": "kubectl"}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "stagger.dev/slo": "evals"}},
        "spec": {"template": {"spec": {
            "volumes": [{"name": "data"}], "nodeSelector": {"gpu": "a100"},
            "containers": [{"name": "main", "image": "eval", "env": [{"name": "A", "value": "B"}],
                "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}},
        "status": {"startTime": "2026-11-30T11:00:30Z"},
    }))
    .expect("the object must be sound");
    let api = KINDS[place("Job")].api(0);
    let row = project(object.clone(), &api, &Clock::WALL);
    assert_eq!(
        row.value,
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "eval-1", "namespace": "evals", "uid": "u", "creationTimestamp": "2026-11-30T11:00:00Z",
                "annotations": {"stagger.dev/slo": "evals"}},
            "spec": {"template": {"spec": {"nodeSelector": {"gpu": "a100"},
                "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}},
            "status": {"startTime": "2026-11-30T11:00:30Z"},
        })
    );
    // In a rehearsal, what Kubernetes wrote is put on the clock that is shown.
    let clock = Clock::rehearsal(at(0), at(60), 60);
    let row = project(object, &api, &clock);
    assert_eq!(row.at("/status/startTime"), Some(&json!("2026-11-30T12:30:00Z")));
}

/// A queue counts what waits in it, which changes with every Workload and is known from the Workloads.
#[test]
fn what_a_queue_counts_wakes_nobody_and_what_it_has_given_out_does() {
    let kind = place("ClusterQueue");
    let queue = |waiting: u32, given: &str| {
        let given = json!([{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": given}]}]);
        let status =
            json!({"pendingWorkloads": waiting, "flavorsReservation": given, "conditions": [{"type": "Active"}]});
        let object = json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "batch"},
                            "spec": {}, "status": status});
        project(serde_json::from_value(object).expect("an object"), &KINDS[kind].api(0), &Clock::WALL)
    };
    let rows = Rows::default();
    rows.take(kind, Change::Applied(queue(7, "2")));
    let mut told = rows.changes();
    told.mark_unchanged();
    rows.take(kind, Change::Applied(queue(8, "2")));
    assert!(!told.has_changed().unwrap());
    rows.take(kind, Change::Applied(queue(8, "4")));
    assert!(told.has_changed().unwrap());
}

/// What is shared is where it was, for whoever asks and for whoever puts rows together.
#[test]
fn workloads_that_share_what_they_have_in_common_say_what_they_said() {
    let mut fake = Fake::touchstone();
    fake.turn();
    fake.live();
    let given = fake.rows();
    let rows = Rows::default();
    for row in &given {
        rows.take(place(&row.kind), Change::Applied(row.clone()));
    }
    rows.read(|read, _| {
        let read: Vec<&Manifest> = read.collect();
        let workloads: Vec<_> = read.iter().filter(|row| row.kind == "Workload").collect();
        assert!(workloads.len() == 4 && workloads.iter().all(|row| row.value.get("spec").is_none()));
        for row in &workloads {
            let came = given.iter().find(|one| one.kind == row.kind && one.name == row.name).expect("it was given");
            assert_eq!(row.whole(), came.value);
            for place in ["", "/name", "/annotations", "/ownerReferences/0/uid", "/labels/none"] {
                let place = format!("/metadata{place}");
                assert!(place == "/metadata" || row.at(&place) == came.at(&place), "{place}");
            }
            assert_eq!(row.at("/status/admission/clusterQueue"), came.at("/status/admission/clusterQueue"));
        }
        let look = |rows: &mut dyn Iterator<Item = &Manifest>| fake.scope.look(rows, fake.now, &fake.settings);
        let (shared, whole) = (look(&mut read.iter().copied()), look(&mut given.iter()));
        assert_eq!(shared.snapshot.running.len(), 2);
        assert_eq!(shared.snapshot, whole.snapshot);
        let by_name = |mut all: Vec<stagger::kueue::observed::Observed>| {
            all.sort_by(|a, b| a.key.cmp(&b.key));
            all
        };
        assert_eq!(by_name(shared.observed), by_name(whole.observed));
    });
}
