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
    let slo = format!(
        "apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {{name: slo, namespace: evals}}\nspec: {{{spec}}}\n"
    );
    let shown = whole(&assembled(&train(&slo)));
    let lines: Vec<&str> = shown.lines().skip(2).collect();
    expected.assert_eq(&format!("{}\n", lines.join("\n")));
}

const TO_TRAIN: &str = "targetRef: {group: batch, kind: Job, name: train}, ";

#[test]
fn a_due_time_is_an_instant_a_span_after_creation_or_a_time_of_day() {
    let runtime = ", expectedRuntime: {p50: 1h, p90: 90m}";
    check(
        &format!("{TO_TRAIN}finishBy: \"2026-11-30T16:00:00Z\"{runtime}"),
        expect![[r#"
        Job evals/train in batch, softly due 17:00: [1 a100/gpu] 1 h / 1 h 30 min
    "#]],
    );
    check(
        &format!("{TO_TRAIN}finishWithin: 3h30m{runtime}"),
        expect![[r#"
        Job evals/train in batch, softly due 15:30: [1 a100/gpu] 1 h / 1 h 30 min
    "#]],
    );
    check(
        &format!("{TO_TRAIN}finishByTime: {{time: \"17:00\", timeZone: America/New_York}}{runtime}"),
        expect![[r#"
        Job evals/train in batch, softly due 23:00: [1 a100/gpu] 1 h / 1 h 30 min
    "#]],
    );
    check(
        &format!("{TO_TRAIN}finishByTime: {{time: \"09:30\", timeZone: Europe/Madrid}}{runtime}"),
        expect![[r#"
        Job evals/train in batch, softly due Tue 01 09:30: [1 a100/gpu] 1 h / 1 h 30 min
    "#]],
    );
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
        expect![[r#"
            Job evals/train in batch, from 13:00, softly due 17:00 60% 30 min later, 0% 2 h later, value 30, class eval-run, checkpoints every 10 min for 2 min, 3 times: [1 a100/gpu] 1 h / 2 h
        "#]],
    );
    check(
        "selector: {matchExpressions: [{key: app, operator: In, values: [train, tune]}]}, finishWithin: 4h, \
         deadlinePolicy: BestEffort, expectedRuntime: {p50: 45m}, interruption: {tolerance: Restartable}",
        expect![[r#"
            Job evals/train in batch, hopefully by 16:00, restartable for 0 s, 1 times: [1 a100/gpu] 45 min
        "#]],
    );
}

#[test]
fn kill_limits_are_no_runtimes() {
    check(
        &format!("{TO_TRAIN}finishWithin: 4h"),
        expect![[r#"
            Job evals/train in batch, softly due 16:00: [1 a100/gpu] ?
            warning SG036 WorkloadSLO evals/slo: declares no runtime; its work is taken to run to the end of the horizon, without a verdict ^ {targetRef: {group: batch, kind: Job, na…
              hint: add expectedRuntime: {p50: 1h, p90: 1h30m}
        "#]],
    );
}

#[test]
fn a_promise_that_cannot_be_meant_is_an_error() {
    check(
        &format!("{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 2h, p90: 1h}}"),
        expect![[r#"
            Job evals/train in batch, softly due 16:00: [1 a100/gpu] ?
            error SG035 WorkloadSLO evals/slo: p90 (1 h) is below p50 (2 h); nine of ten runs cannot end sooner than half do ^ 1h
        "#]],
    );
    check(
        &format!("{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 0s}}"),
        expect![[r#"
            Job evals/train in batch, softly due 16:00: [1 a100/gpu] ?
            error SG035 WorkloadSLO evals/slo: a runtime of zero says nothing ^ 0s
        "#]],
    );
    check(
        &format!("{TO_TRAIN}expectedRuntime: {{p50: 1h}}"),
        expect![[r#"
            Job evals/train in batch: [1 a100/gpu] 1 h
            error SG037 WorkloadSLO evals/slo: gives none of finishBy, finishWithin and finishByTime; only deadlinePolicy BestEffort needs none ^ {targetRef: {group: batch, kind: Job, na…
        "#]],
    );
    check(
        &format!("{TO_TRAIN}finishWithin: 4h, finishBy: \"2026-11-30T17:00:00Z\", expectedRuntime: {{p50: 1h}}"),
        expect![[r#"
            Job evals/train in batch, softly due 18:00: [1 a100/gpu] 1 h
            error SG037 WorkloadSLO evals/slo: gives several of finishBy, finishWithin and finishByTime; exactly one is needed ^ {targetRef: {group: batch, kind: Job, na…
        "#]],
    );
    check(
        &format!(
            "{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 1h}}, interruption: {{tolerance: Checkpointable}}"
        ),
        expect![[r#"
            Job evals/train in batch, softly due 16:00: [1 a100/gpu] 1 h
            error SG038 WorkloadSLO evals/slo: Checkpointable needs checkpointInterval: how much work is lost at most ^ {tolerance: Checkpointable}
        "#]],
    );
    check(
        &format!(
            "{TO_TRAIN}finishWithin: 4h, expectedRuntime: {{p50: 1h}}, \
             valueAfterDeadline: [{{after: 1h, valuePercent: 50}}, {{after: 30m, valuePercent: 20}}, {{after: 2h, valuePercent: 70}}]"
        ),
        expect![[r#"
            Job evals/train in batch, softly due 16:00 50% 1 h later: [1 a100/gpu] 1 h
            error SG037 WorkloadSLO evals/slo: tiers must come later and be worth no more, each than the one before (at most 100) ^ {after: 30m, valuePercent: 20}
            error SG037 WorkloadSLO evals/slo: tiers must come later and be worth no more, each than the one before (at most 100) ^ {after: 2h, valuePercent: 70}
        "#]],
    );
    check(
        &format!("{TO_TRAIN}finishWithin: 4 hours, expectedRuntime: {{p50: 1h}}"),
        expect![[r#"
            Job evals/train in batch: [1 a100/gpu] 1 h
            error SG038 WorkloadSLO evals/slo: `4 hours` is not a duration such as 1h30m (units h, m, s, ms; whole numbers) ^ 4 hours
        "#]],
    );
}

#[test]
fn a_promise_that_cannot_be_kept_is_a_warning() {
    let runtime = "expectedRuntime: {p50: 2h}";
    check(
        &format!("{TO_TRAIN}finishBy: \"2026-11-30T11:59:59+01:00\", {runtime}"),
        expect![[r#"
            Job evals/train in batch, softly due 11:59:59: [1 a100/gpu] 2 h
            warning SG033 Job evals/train: was due at 2026-11-30T11:59:59+01:00, before now; it can only be late ^ "2026-11-30T11:59:59+01:00"
        "#]],
    );
    check(
        &format!("{TO_TRAIN}finishBy: \"2026-11-30T13:30:00+01:00\", {runtime}"),
        expect![[r#"
            Job evals/train in batch, softly due 13:30: [1 a100/gpu] 2 h
            warning SG034 Job evals/train: takes 2 h (p50) but has 1 h 30 min from its earliest start at 2026-11-30T12:00:00+01:00 until it is due ^ "2026-11-30T13:30:00+01:00"
        "#]],
    );
    check(
        &format!("{TO_TRAIN}finishWithin: 5h, notBefore: \"2026-11-30T16:00:00+01:00\", {runtime}"),
        expect![[r#"
            Job evals/train in batch, from 16:00, softly due 17:00: [1 a100/gpu] 2 h
            warning SG034 Job evals/train: takes 2 h (p50) but has 1 h from its earliest start at 2026-11-30T16:00:00+01:00 until it is due ^ 5h
        "#]],
    );
}

#[test]
fn a_promise_to_nobody_is_told_of() {
    check(
        "targetRef: {kind: Job, name: trian}, finishWithin: 4h, expectedRuntime: {p50: 1h}",
        expect![[r#"
            Job evals/train in batch, no SLO: [1 a100/gpu] ?
            warning SG031 WorkloadSLO evals/slo: speaks for nothing: no workload in its namespace matches ^ {kind: Job, name: trian}
              hint: did you mean `train`?
            warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
              hint: give them a WorkloadSLO with expectedRuntime
        "#]],
    );
    check(
        "selector: {matchLabels: {app: tune}}, finishWithin: 4h, expectedRuntime: {p50: 1h}",
        expect![[r#"
            Job evals/train in batch, no SLO: [1 a100/gpu] ?
            warning SG031 WorkloadSLO evals/slo: speaks for nothing: no workload in its namespace matches ^ {matchLabels: {app: tune}}
            warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
              hint: give them a WorkloadSLO with expectedRuntime
        "#]],
    );
    check(
        "finishWithin: 4h, expectedRuntime: {p50: 1h}",
        expect![[r#"
            Job evals/train in batch, no SLO: [1 a100/gpu] ?
            warning SG031 WorkloadSLO evals/slo: speaks for nothing: no workload in its namespace matches ^ {finishWithin: 4h, expectedRuntime: {p50…
              hint: give a targetRef or selector, or name it on a job with stagger.dev/slo
            warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
              hint: give them a WorkloadSLO with expectedRuntime
        "#]],
    );
}

fn slo(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {{name: {name}, namespace: evals}}\n\
         spec: {{{spec}, finishWithin: 4h, expectedRuntime: {{p50: 1h}}}}\n---\n"
    )
}

#[test]
fn two_promises_for_one_workload_are_an_error_that_names_both() {
    let both = slo("by-name", "targetRef: {kind: Job, name: train}")
        + &slo("by-label", "selector: {matchLabels: {app: train}}");
    expect![[r#"
        error SG030 Job evals/train: the WorkloadSLOs `by-label` and `by-name` both speak for it ^ by-name
          hint: narrow one of them, or name one on the job: stagger.dev/slo: by-label
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&findings(&assembled(&train(&both))));
}

#[test]
fn the_annotation_settles_which_promise_speaks() {
    let both = slo("one", "selector: {}") + &slo("other", "selector: {matchLabels: {app: train}}");
    let named = |name: &str| {
        let text = train(&both).replace(
            "name: train, namespace: evals,",
            &format!("name: train, namespace: evals, annotations: {{stagger.dev/slo: {name}}},"),
        );
        findings(&assembled(&text))
    };
    expect![[r#"
        warning SG031 WorkloadSLO evals/one: speaks for nothing: no workload in its namespace matches ^ {}
    "#]]
    .assert_eq(&named("other"));
    expect![[r#"
        error SG032 Job evals/train: names the WorkloadSLO `othr`, which is not in namespace evals ^ othr
          hint: did you mean `other`?
        warning SG031 WorkloadSLO evals/one: speaks for nothing: no workload in its namespace matches ^ {}
        warning SG031 WorkloadSLO evals/other: speaks for nothing: no workload in its namespace matches ^ {matchLabels: {app: train}}
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&named("othr"));
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
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        CronJob evals/hourly-29934660 in batch, created 23:00, from 23:00, softly due Tue 01 06:00: [1 a100/gpu] 1 h
        CronJob evals/hourly-29934720 in batch, created Tue 01 00:00, from Tue 01 00:00, softly due Tue 01 06:00: [1 a100/gpu] 1 h
    "#]].assert_eq(&whole(&assembled(&text)));
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
    expect![[r#"
        from 2026-11-30T12:00:00+01:00 to 2026-12-01T00:00:00+01:00
        queue batch: 4 a100/gpu
        Job evals/train in batch of vision, no SLO: [1 a100/gpu] ?
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&whole(&assembled(&text)));
    let rival = "
---
apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: speech}
spec: {namespaceSelector: {matchLabels: {team: speech}}}
";
    let contested = text + rival;
    expect![[r#"
        warning SG040 Namespace evals: is claimed by several GpuTenants (speech, vision); its work has no tenant ^ {namespaces: [evals]}
          hint: leave the namespace to one of them, or let the webhook stamp the tenant by subject
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&findings(&assembled(&contested)));
    let stamped = contested.replace("labels: {app: train,", "labels: {app: train, stagger.dev/tenant: speech,");
    let tenant = &assembled(&stamped).snapshot.workloads[0].tenant;
    assert_eq!(tenant.as_ref().map(stagger::names::TenantId::as_str), Some("speech"));
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
    expect![[r#"
        from 2026-11-30T12:00:00+01:00 to 2026-12-01T00:00:00+01:00
        queue batch: 4 a100/gpu
        queue other: 
        uncontrolled Job evals/train in batch, no SLO: [1 a100/gpu] ?
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/train
          hint: give them a WorkloadSLO with expectedRuntime
        note SG058 input: waiting outside the plan's scope; Kueue may start them at any time: evals/train
    "#]].assert_eq(&whole(&assembled));
    expect![[r#"
        Policy {
            objective: LowestPeak,
            promise: P90,
            frozen_window: Seconds(
                900,
            ),
            unplanned: FirstCome,
            time_limit_millis: 2500,
            step_limit: None,
            gap_permille: 5,
            seed: 1,
        }
    "#]]
    .assert_eq(&format!("{:#?}\n", assembled.policy));
}

#[test]
fn namespaces_that_were_not_asked_for_are_uncontrolled_too() {
    let mut given = Given::at(NOON);
    given.namespaces = vec!["other".to_owned()];
    let assembled = assemble(&manifests(&train("")), &given);
    assert!(assembled.snapshot.workloads.is_empty());
    assert_eq!(assembled.uncontrolled.len(), 1);
}
