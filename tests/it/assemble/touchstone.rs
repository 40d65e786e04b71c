//! The example that the whole product is measured by, as files.

use expect_test::expect;
use stagger::kueue::{Given, assemble};
use stagger::plan::snapshot::Objective;
use stagger::units::{Seconds, Timestamp};

use super::{NOON, manifests, whole};

fn touchstone() -> String {
    let job = |name: &str| {
        format!(
            "
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: evals, labels: {{app: eval, kueue.x-k8s.io/queue-name: batch}}}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: eval, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}]
"
        )
    };
    let jobs: String = ["eval-3", "eval-1", "eval-2", "eval-4"].map(job).concat();
    let head = r#"
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: noon-evals}
spec: {now: "2026-11-30T12:00:00+01:00", timeZone: Europe/Madrid, horizon: 5h}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: ["nvidia.com/gpu"]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: evals}
spec: {clusterQueue: batch}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: evals, namespace: evals}
spec:
  selector: {matchLabels: {app: eval}}
  finishBy: "2026-11-30T17:00:00+01:00"
  deadlinePolicy: Hard
  expectedRuntime: {p50: 1h, p90: 1h}
  interruption: {tolerance: None}
"#;
    format!("{head}{jobs}")
}

#[test]
fn four_evals_at_noon_are_four_workloads_in_one_queue() {
    expect![[r#"
        from 2026-11-30T12:00:00+01:00 to 2026-11-30T17:00:00+01:00
        queue batch: 4 a100/gpu
        Job evals/eval-1 in batch, due 17:00: [2 a100/gpu] 1 h
        Job evals/eval-2 in batch, due 17:00: [2 a100/gpu] 1 h
        Job evals/eval-3 in batch, due 17:00: [2 a100/gpu] 1 h
        Job evals/eval-4 in batch, due 17:00: [2 a100/gpu] 1 h
    "#]]
    .assert_eq(&whole(&assemble(&manifests(&touchstone()), &Given::at(Timestamp(0)))));
}

#[test]
fn the_order_of_documents_does_not_matter_to_the_snapshot() {
    let mut shuffled = manifests(&touchstone());
    shuffled.reverse();
    let given = Given::at(NOON);
    assert_eq!(assemble(&shuffled, &given).snapshot, assemble(&manifests(&touchstone()), &given).snapshot);
}

#[test]
fn a_flag_beats_the_scenario_and_the_scenario_beats_the_clock() {
    let mut given = Given::at(Timestamp(0));
    let manifests = manifests(&touchstone());
    assert_eq!(assemble(&manifests, &given).snapshot.now, NOON);
    given.overrides.now = Some(NOON + Seconds::HOUR);
    given.overrides.horizon = Some(Seconds::HOUR);
    given.overrides.objective = Some(Objective::LowestPeak);
    let assembled = assemble(&manifests, &given);
    assert_eq!(assembled.snapshot.now, NOON + Seconds::HOUR);
    assert_eq!(assembled.snapshot.horizon_end, NOON + Seconds(7200));
    assert_eq!(assembled.policy.objective, Objective::LowestPeak);
}

#[test]
fn without_a_horizon_a_day_is_planned_and_further_up_to_the_last_due_time() {
    let text = touchstone().replace(", horizon: 5h", "");
    assert_eq!(assemble(&manifests(&text), &Given::at(NOON)).snapshot.horizon_end, NOON + Seconds::DAY);
    let later = text.replace("2026-11-30T17:00", "2026-12-03T17:00");
    let end = assemble(&manifests(&later), &Given::at(NOON)).snapshot.horizon_end;
    assert_eq!(end, NOON + Seconds(3 * 86_400 + 5 * 3600));
}
