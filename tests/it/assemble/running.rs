//! Work that holds quota already: Workloads, statuses, and what a Scenario states.

use expect_test::expect;

use super::{assembled, findings, whole, with_batch};

/// A Workload of `batch` with one PodSet of `count` 1-GPU pods.
fn workload(name: &str, owner: &str, count: u32, status: &str) -> String {
    let owners = if owner.is_empty() {
        String::new()
    } else {
        format!(
            ", ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: {owner}, uid: u-{owner}, controller: true}}]"
        )
    };
    format!(
        "
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: {name}, namespace: evals, uid: w-{name}, creationTimestamp: \"2026-11-30T09:00:00Z\"{owners}}}
spec:
  queueName: batch
  priority: 7
  podSets:
  - {{name: main, count: {count}, template: {{spec: {{containers: [{{resources: {{requests: {{nvidia.com/gpu: 1}}}}}}]}}}}}}
status: {{{status}}}
---
"
    )
}

fn job(name: &str, status: &str) -> String {
    format!(
        "
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: evals, uid: u-{name}, labels: {{app: eval, kueue.x-k8s.io/queue-name: batch}}}}
spec: {{suspend: false, parallelism: 9, template: {{spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}
status: {{{status}}}
---
"
    )
}

const ADMITTED: &str = "admission: {clusterQueue: batch, podSetAssignments: \
     [{name: main, count: 3, flavors: {nvidia.com/gpu: a100}, resourceUsage: {nvidia.com/gpu: \"3\"}}]}, \
     conditions: [{type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-11-30T10:00:00Z\"}, \
     {type: Admitted, status: \"True\", lastTransitionTime: \"2026-11-30T10:05:00Z\"}]";

const SLO: &str = "
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: evals, namespace: evals}
spec: {selector: {matchLabels: {app: eval}}, finishWithin: 8h, expectedRuntime: {p50: 2h, p90: 3h}}
";

#[test]
fn a_workload_takes_the_place_of_its_job_and_keeps_the_job_s_name_and_labels() {
    // The Job would ask for nine; its Workload says three are admitted, and that is what counts.
    let text = with_batch(&(job("a", "active: 3") + &workload("job-a-1", "a", 3, ADMITTED) + SLO));
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        running evals/a in batch: 3 a100/gpu, 10:05 to 12:05 / 13:05
    "#]]
    .assert_eq(&whole(&assembled(&text)));
}

#[test]
fn pods_given_back_no_longer_count() {
    let status = format!("{ADMITTED}, reclaimablePods: [{{name: main, count: 1}}]");
    let text = with_batch(&(workload("job-a-1", "a", 3, &status) + SLO));
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        running evals/a in batch: 2 a100/gpu, 10:05 to ? / ?
        warning SG031 WorkloadSLO evals/evals: speaks for nothing: no workload in its namespace matches ^ {matchLabels: {app: eval}}
    "#]]
    .assert_eq(&whole(&assembled(&text)));
}

#[test]
fn waiting_workloads_are_planned_with_their_own_pod_sets_and_priority() {
    let pending = "conditions: [{type: QuotaReserved, status: \"False\", reason: AdmissionGated}]";
    let text =
        with_batch(&(job("a", "") + &workload("job-a-1", "a", 2, pending) + &workload("alone", "", 1, "") + SLO));
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        Job evals/a in batch, created 09:00, softly due 17:00, priority 7: [2 a100/gpu] 2 h / 3 h
        Workload evals/alone in batch, created 09:00, priority 7, no SLO: [1 a100/gpu] ?
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/alone
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&whole(&assembled(&text)));
}

#[test]
fn finished_and_deactivated_workloads_are_left_out() {
    let finished = "conditions: [{type: Finished, status: \"True\"}]";
    let off = workload("shut", "", 1, "").replace("queueName: batch", "queueName: batch\n  active: false");
    let ours = off.replace("name: shut,", "name: ours, annotations: {stagger.dev/held: inactive},");
    // What was planned and then deactivated by somebody else is theirs.
    let theirs =
        off.replace("name: shut,", "name: theirs, annotations: {stagger.dev/planned-start: \"2026-11-30T14:00:00Z\"},");
    let text = with_batch(&(workload("old", "", 1, finished) + &off + &ours + &theirs));
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        Workload evals/ours in batch, created 09:00, priority 7, no SLO: [1 a100/gpu] ?
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/ours
          hint: give them a WorkloadSLO with expectedRuntime
        note SG029 Workload evals/shut: is deactivated (spec.active is false), so Kueue leaves it alone and so does the plan
        note SG029 Workload evals/theirs: is deactivated (spec.active is false), so Kueue leaves it alone and so does the plan
        note SG051 input: finished, so not planned: Workload evals/old
    "#]].assert_eq(&whole(&assembled(&text)));
}

#[test]
fn an_admitted_try_counts_before_a_finished_one() {
    let finished = "conditions: [{type: Finished, status: \"True\"}]";
    let text = with_batch(
        &(job("a", "") + &workload("job-a-old", "a", 3, finished) + &workload("job-a-new", "a", 3, ADMITTED)),
    );
    let shown = whole(&assembled(&text));
    assert!(shown.contains("running evals/a in batch: 3 a100/gpu"), "{shown}");
}

#[test]
fn work_that_outlasts_its_promise_holds_its_quota_to_the_end() {
    let text = |p50: &str, p90: &str| {
        let slo = SLO.replace("p50: 2h, p90: 3h", &format!("p50: {p50}, p90: {p90}"));
        with_batch(&(job("a", "") + &workload("job-a-1", "a", 3, ADMITTED) + &slo))
    };
    // It started at 10:05 UTC and it is 11:00.
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        running evals/a in batch: 3 a100/gpu, 10:05 to 11:35 / 11:35
    "#]]
    .assert_eq(&whole(&assembled(&text("30m", "90m"))));
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        running evals/a in batch: 3 a100/gpu, 10:05 to ? / ?
        warning SG059 Job evals/a: still runs although nine of ten runs end by 2026-11-30T10:45:00Z; it is taken to hold its quota to the horizon's end ^ {p50: 30m, p90: 40m}
    "#]].assert_eq(&whole(&assembled(&text("30m", "40m"))));
}

#[test]
fn a_job_that_runs_without_a_workload_is_counted_only_where_nothing_is_to_be_guessed() {
    let running =
        job("a", "active: 3, startTime: \"2026-11-30T10:30:00Z\"").replace("parallelism: 9", "parallelism: 3");
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        running evals/a in batch: 3 a100/gpu, 10:30 to 12:30 / 13:30
    "#]]
    .assert_eq(&whole(&assembled(&with_batch(&(running.clone() + SLO)))));
    let two_flavors = with_batch(&running).replace(
        "flavors: [{name: a100,",
        "flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}, {name: a100,",
    ) + "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: h100}\n";
    expect![[r#"
        warning SG052 Job evals/a: runs, but nothing says on which flavor (h100, a100); the quota it holds is not counted ^ {active: 3, startTime: "2026-11-30T10:30…
          hint: give its Workload too, or state it in a Scenario's running
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/a
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&findings(&assembled(&two_flavors)));
}

#[test]
fn a_scenario_states_what_runs() {
    let scenario = "
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: noon}
spec:
  now: \"2026-11-30T12:00:00+01:00\"
  timeZone: Europe/Madrid
  horizon: 6h
  running:
  - {name: evals/old, clusterQueue: batch, flavor: a100, resources: {nvidia.com/gpu: 2}, start: \"2026-11-30T11:00:00+01:00\", end: \"2026-11-30T13:00:00+01:00\", endP90: \"2026-11-30T13:30:00+01:00\"}
  - {name: endless, clusterQueue: batch, flavor: a100, resources: {nvidia.com/gpu: \"1\"}}
  - {name: over, clusterQueue: batch, flavor: a100, resources: {nvidia.com/gpu: 1}, start: \"2026-11-30T10:00:00+01:00\", end: \"2026-11-30T12:00:00+01:00\"}
  - {name: overdue, clusterQueue: batch, flavor: a100, resources: {nvidia.com/gpu: 1}, start: \"2026-11-30T10:00:00+01:00\", end: \"2026-11-30T11:00:00+01:00\", endP90: \"2026-11-30T15:00:00+01:00\"}
";
    expect![[r#"
        from 2026-11-30T12:00:00+01:00 to 2026-11-30T18:00:00+01:00
        queue batch: 4 a100/gpu
        running overdue in batch: 1 a100/gpu, 10:00 to 15:00 / 15:00
        running evals/old in batch: 2 a100/gpu, 11:00 to 13:00 / 13:30
        running endless in batch: 1 a100/gpu, 12:00 to ? / ?
    "#]]
    .assert_eq(&whole(&assembled(&with_batch(scenario))));
    let wrong = "
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: noon}
spec:
  running:
  - {name: a, clusterQueue: bathc, flavor: a100, resources: {nvidia.com/gpu: 2}}
  - {name: b, clusterQueue: batch, flavor: a10, resources: {nvidia.com/gpu: 2}}
  - {name: c, clusterQueue: batch, flavor: a100, resources: {nvidia.com/cpu: 2, nvidia.com/gpu: many}}
  - {name: d, clusterQueue: batch, flavor: a100, resources: {}, start: \"2026-11-30T12:00:00Z\", end: \"2026-11-30T11:00:00Z\"}
";
    expect![[r#"
        error SG021 Scenario noon: running `a`: no ClusterQueue `bathc` is there ^ bathc
          hint: did you mean `batch`?
        error SG022 Scenario noon: running `b`: no ResourceFlavor `a10` is there ^ a10
          hint: did you mean `a100`?
        error SG023 Scenario noon: running `c`: no queue or cohort has quota of nvidia.com/cpu on a100 ^ 2
          hint: did you mean `nvidia.com/gpu`?
        error SG038 Scenario noon: running `c`: `many` is not a quantity such as 2, 500m or 16Gi ^ many
        error SG038 Scenario noon: running `d`: start, end and endP90 must ascend ^ "2026-11-30T11:00:00Z"
    "#]]
    .assert_eq(&findings(&assembled(&with_batch(wrong))));
}
