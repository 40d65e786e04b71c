//! What the controller keeps of ten thousand Workloads, half of which run, and what a turn costs: without any API server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kube::api::DynamicObject;
use serde_json::{Value, json};
use stagger::calendar;
use stagger::clock::Clock;
use stagger::controller::kinds::KINDS;
use stagger::controller::planning::think;
use stagger::controller::project::project;
use stagger::controller::rows::{Change, Rows};
use stagger::controller::scope::Scope;
use stagger::controller::settings::Settings;
use stagger::controller::turn::{Seen, Sight, Slo, decide};
use stagger::units::{Seconds, Timestamp};

use super::process::resident_kib;
use super::{ALL, EACH, GATES, GPU, KUEUE, QUEUES};

/// 2026-11-30T12:00:00Z.
pub const NOON: Timestamp = Timestamp(1_796_040_000);

pub fn measure() {
    let settings = settings();
    let mut told = Told { begun: Instant::now(), before: resident_kib(std::process::id()) };
    let rows = rows();
    told.step("rows");
    let mut scope = Scope { name: Some("all".to_owned()), ..Scope::default() };
    scope.spec = serde_json::from_value(json!({"mode": "Enforce", "horizon": "12h"})).expect("a spec");
    let look = |scope: &Scope| rows.read(|rows, lent| scope.look_lent(rows, lent, NOON, &settings));
    let assembled = look(&scope);
    told.step("a look");
    let patience = settings.patience();
    let reasons = scope.reasons(&assembled.snapshot, NOON, &patience);
    scope.begin(&reasons, NOON);
    let request = scope.request(assembled, reasons, &settings, &patience);
    scope.planned = Some(Arc::new(think(request, &Arc::new(AtomicBool::new(false))).expect("a plan")));
    told.step("a plan");
    let assembled = look(&scope);
    told.step("another look");
    assert!(scope.reasons(&assembled.snapshot, NOON, &patience).is_empty());
    told.step("what has changed");
    let slos: Vec<Slo> = rows.read_kinds(&["WorkloadSLO"], |rows| rows.filter_map(Slo::of).collect());
    let sight = Sight {
        now: NOON,
        settings: &settings,
        reservations: &[],
        slos: &slos,
        going: &BTreeSet::new(),
        plans_known: true,
        since: NOON,
    };
    let turn = decide(&mut [Seen { scope: &mut scope, assembled: &assembled }], &sight, &patience);
    told.step("a turn");
    println!("{} orders, {} notes, {} held", turn.orders.len(), turn.notes.len(), turn.gates);
}

pub fn settings() -> Settings {
    Settings {
        clock: Clock::WALL,
        zone: chrono_tz::UTC,
        namespace: "stagger-system".to_owned(),
        kueue: ("kueue-system".to_owned(), "kueue-manager-config".to_owned()),
        time_limit_millis: 2_000,
        horizon: Seconds(12 * 3600),
        hold_max: Seconds(1800),
        read_yaml: |_| Vec::new(),
    }
}

struct Told {
    begun: Instant,
    before: u64,
}

impl Told {
    /// Time since the last step, and memory in all.
    fn step(&mut self, what: &str) {
        let now = resident_kib(std::process::id());
        println!("{what}: {} ms, {} MiB in all", self.begun.elapsed().as_millis(), (now - self.before) / 1024);
        self.begun = Instant::now();
    }
}

fn rows() -> Rows {
    let rows = Rows::default();
    let text = |at: Timestamp| calendar::rfc3339(at, chrono_tz::UTC);
    let named = |at: usize| json!({"name": format!("queue-{at}"), "namespace": "scale", "uid": format!("q-{at}")});
    let quota = json!([{"name": "paper", "resources": [{"name": GPU, "nominalQuota": EACH}]}]);
    let queue = json!({"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [GPU], "flavors": quota}]});
    let due = text(NOON + Seconds(10 * 3600));
    let slo = json!({"selector": {}, "finishBy": due, "deadlinePolicy": "Hard", "expectedRuntime": {"p50": "4h", "p90": "4h"}});
    let of = |version: &str, kind: &str, metadata: Value, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec});
    let mut objects = vec![
        of(KUEUE, "ResourceFlavor", json!({"name": "paper"}), json!({})),
        of("stagger.dev/v1alpha1", "WorkloadSLO", json!({"name": "all", "namespace": "scale"}), slo),
        of(
            "stagger.dev/v1alpha1",
            "CapacityPlan",
            json!({"name": "all"}),
            json!({"mode": "Enforce", "horizon": "12h"}),
        ),
    ];
    for at in 0..QUEUES {
        objects.push(of(KUEUE, "ClusterQueue", named(at), queue.clone()));
        objects.push(of(KUEUE, "LocalQueue", named(at), json!({"clusterQueue": format!("queue-{at}")})));
    }
    for object in objects.into_iter().chain((0..2 * ALL).map(|at| workload(at, at < ALL))) {
        let at = KINDS.iter().position(|kind| object["kind"] == kind.kind).expect("it is watched");
        let object: DynamicObject = serde_json::from_value(object).expect("it is an object");
        rows.take(at, Change::Applied(project(object, &KINDS[at].api(0), &Clock::WALL)));
    }
    rows
}

/// A Workload as it stands in an API server.
fn workload(at: usize, runs: bool) -> Value {
    let created = calendar::rfc3339(NOON + Seconds(i64::try_from(at).expect("small") - 20_000), chrono_tz::UTC);
    let mut object = super::workload(if runs { "runs" } else { "waits" }, at, true);
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({"type": kind, "status": status, "reason": reason, "observedGeneration": 1,
        "message": format!("Quota reserved in ClusterQueue queue-{}", at % QUEUES), "lastTransitionTime": created})
    };
    let conditions = if runs {
        json!([condition("QuotaReserved", "True", "QuotaReserved"), condition("Admitted", "True", "Admitted")])
    } else {
        json!([condition("QuotaReserved", "False", "AdmissionGated")])
    };
    object["status"] = json!({"conditions": conditions});
    if runs {
        object["metadata"]["annotations"] = json!({"stagger.dev/planned-start": created, "stagger.dev/plan": "all"});
        object["status"]["admission"] = json!({"clusterQueue": format!("queue-{}", at % QUEUES), "podSetAssignments":
            [{"name": "main", "count": 1, "flavors": {GPU: "paper"}, "resourceUsage": {GPU: "1"}}]});
    } else {
        object["metadata"]["annotations"] =
            json!({GATES: "stagger.dev/planner", "stagger.dev/planned-start": created, "stagger.dev/plan": "all"});
    }
    object["metadata"]["uid"] = json!(format!("{at:08x}-6393-11e8-b7cc-42010a800002"));
    object["metadata"]["creationTimestamp"] = json!(created);
    object["metadata"]["generation"] = json!(1);
    object["metadata"]["resourceVersion"] = json!(at.to_string());
    object["metadata"]["managedFields"] = json!([{"manager": "kueue", "operation": "Update", "time": created}]);
    object["spec"]["priority"] = json!(0);
    object
}
