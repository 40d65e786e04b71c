//! WorkloadSLOs: which workload they speak for, and what they make of it. Tenants too.

use expect_test::{Expect, expect};
use stagger::kueue::{Given, assemble};

use super::{NOON, assembled, findings, manifests, whole, with_batch};

/// A 1-GPU job called `train` with labels `app: train`, and more documents.
fn train(more: &str) -> String {
    let job = "
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: evals, labels: {app: train, kueue.x-k8s.io/queue-name: batch}}
spec: {activeDeadlineSeconds: 60, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
";
    let scenario = "
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: noon}
spec: {now: \"2026-11-30T12:00:00+01:00\", timeZone: Europe/Madrid, horizon: 12h}
---
";
    with_batch(&format!("{scenario}{job}{more}"))
}

/// The job under one SLO, whose spec is given in flow style.
#[track_caller]
fn check(spec: &str, expected: Expect) {
    let slo = format!("apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {{name: slo, namespace: evals}}\nspec: {{{spec}}}\n");
    let shown = whole(&assembled(&train(&slo)));
    let lines: Vec<&str> = shown.lines().skip(2).collect();
    expected.assert_eq(&format!("{}\n", lines.join("\n")));
}

const TO_TRAIN: &str = "targetRef: {group: batch, kind: Job, name: train}, ";

#[test]
fn a_due_time_is_an_instant_a_span_after_creation_or_a_time_of_day() {
    let runtime = ", expectedRuntime: {p50: 1h, p90: 90m}";
    check(&format!("{TO_TRAIN}finishBy: \"2026-11-30T16:00:00Z\"{runtime}"), expect![[r#""#]]);
    check(&format!("{TO_TRAIN}finishWithin: 3h30m{runtime}"), expect![[r#""#]]);
    check(&format!("{TO_TRAIN}finishByTime: {{time: \"17:00\", timeZone: America/New_York}}{runtime}"), expect![[r#""#]]);
    check(&format!("{TO_TRAIN}finishByTime: {{time: \"09:30\", timeZone: Europe/Madrid}}{runtime}"), expect![[r#""#]]);
}

#[test]
fn every_field_arrives() {
    check(
        &format!(
            "{TO_TRAIN}finishBy: \"2026-11-30T17:00:00+01:00\", deadlinePolicy: Soft, value: 30, \
             valueAfterDeadline: [{{after: 30m, valuePercent: 60}}, {{after: 2h, valuePercent: 0}}], \
             notBefore: \"2026-11-30T13:00:00+01:00\", expectedRuntime: {{p50: 1h, p90: 2h}}, outcome: {{class: eval-run}}, \
             interruption: {{tolerance: Checkpointable, checkpointInterval: 10m, restartCost: 2m, maxInterruptions: 3}}"
        ),
        expect![[r#""#]],
    );
    check(
        "selector: {matchExpressions: [{key: app, operator: In, values: [train, tune]}]}, finishWithin: 4h, \
         deadlinePolicy: BestEffort, expectedRuntime: {p50: 45m}, interruption: {tolerance: Restartable}",
        expect![[r#""#]],
    );
}

#[test]
fn kill_limits_are_no_runtimes() {
    check(&format!("{TO_TRAIN}finishWithin: 4h"), expect![[r#""#]]);
}

#[test]
fn a_promise_that_cannot_be_meant_is_an_error() {
    check(&format!("{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 2h, p90: 1h}}"), expect![[r#""#]]);
    check(&format!("{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 0s}}"), expect![[r#""#]]);
    check(&format!("{TO_TRAIN}expectedRuntime: {{p50: 1h}}"), expect![[r#""#]]);
    check(
        &format!("{TO_TRAIN}finishWithin: 4h, finishBy: \"2026-11-30T17:00:00Z\", expectedRuntime: {{p50: 1h}}"),
        expect![[r#""#]],
    );
    check(
        &format!("{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 1h}}, interruption: {{tolerance: Checkpointable}}"),
        expect![[r#""#]],
    );
    check(
        &format!(
            "{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 1h}}, \
             valueAfterDeadline: [{{after: 1h, valuePercent: 50}}, {{after: 30m, valuePercent: 20}}, {{after: 2h, valuePercent: 70}}]"
        ),
        expect![[r#""#]],
    );
    check(&format!("{TO_TRAIN}finishWithin: 4 hours, expectedRuntime: {{p50: 1h}}"), expect![[r#""#]]);
}

#[test]
fn a_promise_that_cannot_be_kept_is_a_warning() {
    let runtime = "expectedRuntime: {p50: 2h}";
    check(&format!("{TO_TRAIN}finishBy: \"2026-11-30T11:59:59+01:00\", {runtime}"), expect![[r#""#]]);
    check(&format!("{TO_TRAIN}finishBy: \"2026-11-30T13:30:00+01:00\", {runtime}"), expect![[r#""#]]);
    check(
        &format!("{TO_TRAIN}finishWithin: 5h, notBefore: \"2026-11-30T16:00:00+01:00\", {runtime}"),
        expect![[r#""#]],
    );
}

#[test]
fn a_promise_to_nobody_is_told_of() {
    check("targetRef: {kind: Job, name: trian}, finishWithin: 4h, expectedRuntime: {p50: 1h}", expect![[r#""#]]);
    check("selector: {matchLabels: {app: tune}}, finishWithin: 4h, expectedRuntime: {p50: 1h}", expect![[r#""#]]);
    check("finishWithin: 4h, expectedRuntime: {p50: 1h}", expect![[r#""#]]);
}

fn slo(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {{name: {name}, namespace: evals}}\n\
         spec: {{{spec}, finishWithin: 4h, expectedRuntime: {{p50: 1h}}}}\n---\n"
    )
}

#[test]
fn two_promises_for_one_workload_are_an_error_that_names_both() {
    let both = slo("by-name", "targetRef: {kind: Job, name: train}") + &slo("by-label", "selector: {matchLabels: {app: train}}");
    expect![[r#""#]].assert_eq(&findings(&assembled(&train(&both))));
}

#[test]
fn the_annotation_settles_which_promise_speaks() {
    let both = slo("one", "selector: {}") + &slo("other", "selector: {matchLabels: {app: train}}");
    let named = |name: &str| {
        let text = train(&both).replace("name: train, namespace: evals,", &format!("name: train, namespace: evals, annotations: {{stagger.dev/slo: {name}}},"));
        findings(&assembled(&text))
    };
    expect![[r#""#]].assert_eq(&named("other"));
    expect![[r#""#]].assert_eq(&named("othr"));
}

#[test]
fn a_promise_to_a_cron_job_is_one_to_each_run() {
    let text = with_batch(
        "
apiVersion: batch/v1
kind: CronJob
metadata: {name: hourly, namespace: evals}
spec:
  schedule: \"0 0,23 * * *\"
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}
    spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: hourly, namespace: evals}
spec:
  targetRef: {group: batch, kind: CronJob, name: hourly}
  finishByTime: {time: \"06:00\", timeZone: Etc/UTC}
  expectedRuntime: {p50: 1h}
",
    );
    expect![[r#""#]].assert_eq(&whole(&assembled(&text)));
}

#[test]
fn tenants_own_namespaces_by_name_or_label_and_one_only() {
    let text = train(
        "
apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: vision}
spec: {namespaces: [evals]}
---
apiVersion: v1
kind: Namespace
metadata: {name: evals, labels: {team: speech}}
",
    );
    expect![[r#""#]].assert_eq(&whole(&assembled(&text)));
    let rival = "
---
apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: speech}
spec: {namespaceSelector: {matchLabels: {team: speech}}}
";
    let contested = text + rival;
    expect![[r#""#]].assert_eq(&findings(&assembled(&contested)));
    let stamped = contested.replace("labels: {app: train,", "labels: {app: train, stagger.dev/tenant: speech,");
    let tenant = &assembled(&stamped).snapshot.workloads[0].tenant;
    assert_eq!(tenant.as_ref().map(|tenant| tenant.as_str()), Some("speech"));
}

#[test]
fn work_out_of_scope_is_uncontrolled() {
    let text = train(
        "
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: plan}
spec: {queues: [other], objective: LowestPeak, promise: p90, frozenWindow: 15m, unplanned: FirstCome, solver: {timeLimit: 2500ms, gap: 0.5%}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: other}
spec: {}
",
    );
    let assembled = assembled(&text);
    expect![[r#""#]].assert_eq(&whole(&assembled));
    expect![[r#""#]].assert_eq(&format!("{:#?}\n", assembled.policy));
}

#[test]
fn namespaces_that_were_not_asked_for_are_uncontrolled_too() {
    let mut given = Given::at(NOON);
    given.namespaces = vec!["other".to_owned()];
    let assembled = assemble(&manifests(&train("")), &given);
    assert!(assembled.snapshot.workloads.is_empty());
    assert_eq!(assembled.uncontrolled.len(), 1);
}
