//! Sizes and surprises: big inputs stay quick, odd ones never panic, findings never flood.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::{Value, json};
use stagger::kueue::{Given, assemble};

use super::{BATCH, NOON, manifests, with_batch};
use crate::row::row;

#[test]
fn ten_thousand_jobs_with_a_promise_each_are_assembled_at_once() {
    let mut all = manifests(BATCH);
    for at in 0..10_000 {
        let name = format!("job-{at:05}");
        all.push(row(json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "evals", "labels": {"kueue.x-k8s.io/queue-name": "batch", "app": name}},
            "spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}
        })));
        all.push(row(json!({
            "apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO",
            "metadata": {"name": name, "namespace": "evals"},
            "spec": {"selector": {"matchLabels": {"app": name}}, "finishWithin": "4h", "expectedRuntime": {"p50": "1h"}}
        })));
    }
    #[expect(clippy::disallowed_methods, reason = "the bound is a minute, to tell seconds from a quadratic scan")]
    let start = Instant::now();
    let assembled = assemble(&all, &Given::at(NOON));
    let millis = start.elapsed().as_millis();
    assert_eq!(assembled.snapshot.workloads.len(), 10_000);
    assert!(assembled.findings.is_empty());
    // Unoptimised and on a busy machine it takes seconds; a scan of all promises for each job would take minutes.
    assert!(millis < 60_000, "took {millis} ms");
}

#[test]
fn the_same_mistake_a_thousand_times_is_told_fifty_times_and_counted() {
    let mut all = manifests(BATCH);
    for at in 0..1_000 {
        all.push(row(json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": format!("job-{at}"), "namespace": "evals", "labels": {"kueue.x-k8s.io/queue-name": "bacth"}},
            "spec": {"template": {"spec": {}}}
        })));
    }
    let assembled = assemble(&all, &Given::at(NOON));
    assert_eq!(assembled.unplaceable.len(), 1_000);
    assert_eq!(assembled.findings.len(), 51);
    assert_eq!(assembled.findings[50].message, "950 more of this kind are not listed");
}

#[test]
fn a_schedule_that_runs_every_minute_is_capped() {
    let cron = "
apiVersion: batch/v1
kind: CronJob
metadata: {name: busy, namespace: evals}
spec:
  schedule: \"* * * * *\"
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}
    spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
";
    let assembled = assemble(&manifests(&with_batch(cron)), &Given::at(NOON));
    assert_eq!(assembled.snapshot.workloads.len(), 1_000);
    assert!(assembled.findings.iter().any(|finding| finding.code == "SG047"));
}

/// A value to put anywhere: what a careless template or a hostile file might hold.
fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![
            Just("-1"),
            Just("9223372036854775807"),
            Just("1e300"),
            Just("9999-12-31T23:59:59Z"),
            Just("99999h")
        ]
        .prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null, {}, 3])),
    ]
}

const SPREAD: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: all}
spec: {parentName: top}
---
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  now: \"2026-11-30T12:00:00+01:00\"
  timeZone: Europe/Madrid
  horizon: 6h
  running: [{name: a, clusterQueue: batch, flavor: a100, resources: {nvidia.com/gpu: 2}, start: \"2026-11-30T11:00:00Z\", end: \"2026-11-30T13:00:00Z\"}]
---
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: p}
spec:
  horizon: 9h
  solver: {timeLimit: 3s, gap: 1%}
  windows: [{name: w, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 1, effect: Cap, recurring: {days: [Mon], startTime: \"22:00\", endTime: \"06:00\", timeZone: Europe/Madrid}}]
---
apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: r}
spec: {currency: EUR, effectiveFrom: \"2026-01-01T00:00:00Z\", rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}]}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: slo, namespace: evals}
spec: {selector: {}, finishWithin: 4h, notBefore: \"2026-11-30T13:00:00Z\", expectedRuntime: {p50: 1h, p90: 2h}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cron, namespace: evals}
spec:
  schedule: \"0 * * * *\"
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}
    spec: {parallelism: 2, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}], nodeSelector: {a: b}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: evals, creationTimestamp: \"2026-11-30T09:00:00Z\"}
spec: {queueName: batch, podSets: [{name: main, count: 3, template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: 1}}}]}}}]}
status:
  admission: {clusterQueue: batch, podSetAssignments: [{name: main, count: 3, flavors: {nvidia.com/gpu: a100}, resourceUsage: {nvidia.com/gpu: 3}}]}
  conditions: [{type: Admitted, status: \"True\", lastTransitionTime: \"2026-11-30T10:05:00Z\"}]
  reclaimablePods: [{name: main, count: 1}]
";

/// Every place in a value.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, inner)| pointers(inner, &format!("{at}/{}", key.replace('/', "~1")), into));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, inner)| pointers(inner, &format!("{at}/{index}"), into));
        }
        _ => {}
    }
}

proptest! {
    // Each case assembles twice; more of them add minutes, not surprises.
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_value_anywhere_makes_the_assembly_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), anything()), 1..4)
    ) {
        let mut all = manifests(&with_batch(SPREAD));
        for (which, place, value) in changes {
            let at = which.index(all.len());
            let mut places = Vec::new();
            pointers(&all[at].value, "", &mut places);
            let mut changed = all[at].value.clone();
            if let Some(slot) = changed.pointer_mut(place.get(&places[..]).as_str()) {
                *slot = value;
            }
            // The envelope is what the reader made of the first text; only the body is in disorder.
            all[at].value = changed;
        }
        let assembled = assemble(&all, &Given::at(NOON));
        prop_assert_eq!(assembled.snapshot.problems(), Vec::<String>::new());
        prop_assert_eq!(assemble(&all, &Given::at(NOON)).snapshot, assembled.snapshot);
    }
}
