//! Whether a workload is planned at all, in which queue, with which priority, under which name.

use expect_test::expect;

use super::kinds::check;
use super::{assembled, findings, whole, with_batch};

#[test]
fn what_is_finished_or_unmanaged_is_told_of_not_planned() {
    let text = with_batch(
        "
apiVersion: batch/v1
kind: Job
metadata: {name: done, namespace: evals, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {template: {spec: {containers: [{}]}}}
status: {conditions: [{type: Complete, status: \"True\"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: stranger, namespace: evals}
spec: {template: {spec: {containers: [{}]}}}
",
    );
    expect![[r#"
        note SG051 input: finished, so not planned: Job evals/done
        note SG050 input: not managed by Kueue, so not planned: Job evals/stranger
          hint: the label kueue.x-k8s.io/queue-name puts work under Kueue (on a CronJob: in its jobTemplate)
    "#]]
    .assert_eq(&findings(&assembled(&text)));
}

#[test]
fn the_local_queue_called_default_takes_new_jobs_without_a_label() {
    let text = with_batch(
        "
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: evals}
spec: {clusterQueue: batch}
---
apiVersion: batch/v1
kind: Job
metadata: {name: new, namespace: evals}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: old, namespace: evals, uid: b9a1}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
",
    );
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        Job evals/new in batch, no SLO: [1 a100/gpu] ?
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/new
          hint: give them a WorkloadSLO with expectedRuntime
        note SG050 input: not managed by Kueue, so not planned: Job evals/old
          hint: the label kueue.x-k8s.io/queue-name puts work under Kueue (on a CronJob: in its jobTemplate)
    "#]].assert_eq(&whole(&assembled(&text)));
}

#[test]
fn priority_comes_from_the_workload_class_then_the_pods_class_then_the_default() {
    check(
        "
apiVersion: kueue.x-k8s.io/v1beta1
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 500
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: usual}
value: 7
globalDefault: true
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 70
---
apiVersion: batch/v1
kind: Job
metadata: {name: by-label, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch, kueue.x-k8s.io/priority-class: urgent}}
spec: {template: {spec: {priorityClassName: high, containers: [{}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: by-pod, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {template: {spec: {priorityClassName: high, containers: [{}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: default, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {template: {spec: {containers: [{}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: mistyped, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch, kueue.x-k8s.io/priority-class: urgnt}}
spec: {template: {spec: {containers: [{}]}}}
",
        expect![[r#"
            Job ml/by-label in batch, softly due 19:00, priority 500: [1 node/pods] 1 h / 2 h
            Job ml/by-pod in batch, softly due 19:00, priority 70: [1 node/pods] 1 h / 2 h
            Job ml/default in batch, softly due 19:00, priority 7: [1 node/pods] 1 h / 2 h
            Job ml/mistyped in batch, softly due 19:00: [1 node/pods] 1 h / 2 h
            error SG041 Job ml/mistyped: names the WorkloadPriorityClass `urgnt`, which is not there; its priority is taken as 0 ^ urgnt
              hint: did you mean `urgent`?
        "#]],
    );
}

#[test]
fn two_objects_of_one_name_keep_names_of_their_own() {
    check(
        "
apiVersion: batch/v1
kind: Job
metadata: {name: same, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: same, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}
",
        expect![[r#"
            Job ml/same in batch, softly due 19:00: [1 a100/gpu, 1 node/pods] 1 h / 2 h
            Pod ml/same.pod in batch, softly due 19:00: [2 a100/gpu, 1 node/pods] 1 h / 2 h
        "#]],
    );
}
