//! Each kind of job, and what is one workload and what is many.

use expect_test::{Expect, expect};

use super::{assembled, findings, snapshot};

/// What `batch` (plus cpu, memory and pods on their own flavor) is asked for by these documents.
#[track_caller]
pub(super) fn check(yaml: &str, expected: Expect) {
    let queue = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: node}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 1000}]}]
  - coveredResources: [cpu, memory, pods]
    flavors:
    - name: node
      resources: [{name: cpu, nominalQuota: 1000}, {name: memory, nominalQuota: 1000Gi}, {name: pods, nominalQuota: 500}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: ml}
spec: {clusterQueue: batch}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: all, namespace: ml}
spec: {selector: {}, finishWithin: 8h, expectedRuntime: {p50: 1h, p90: 2h}}
---
";
    let assembled = assembled(&format!("{queue}{yaml}"));
    let shown = snapshot(&assembled);
    let work: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("queue")).skip(1).collect();
    expected.assert_eq(&format!("{}\n{}", work.join("\n"), findings(&assembled)));
}

#[test]
fn a_job_runs_the_lesser_of_parallelism_and_completions_at_once() {
    check(
        "
apiVersion: batch/v1
kind: Job
metadata: {name: one, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: three, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {parallelism: 8, completions: 3, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: eight, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {parallelism: 8, completions: 300, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: none, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {parallelism: 0, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
",
        expect![[r#"
            Job ml/eight in batch, softly due 19:00: [8 a100/gpu, 8 node/pods] 1 h / 2 h
            Job ml/none in batch, softly due 19:00: none [] 1 h / 2 h
            Job ml/one in batch, softly due 19:00: [1 a100/gpu, 1 node/pods] 1 h / 2 h
            Job ml/three in batch, softly due 19:00: [3 a100/gpu, 3 node/pods] 1 h / 2 h
        "#]],
    );
}

#[test]
fn a_cron_job_is_one_workload_per_run_in_its_own_zone() {
    check(
        r#"
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: ml}
spec:
  schedule: "30 */6 * * *"
  timeZone: America/New_York
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}
    spec: {parallelism: 2, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 4}}}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: paused, namespace: ml}
spec:
  suspend: true
  schedule: "@hourly"
  jobTemplate: {metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}, spec: {template: {spec: {}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: mistaken, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  schedule: "0 0 1 12 *"
  jobTemplate: {spec: {template: {spec: {}}}}
"#,
        expect![[r#"
            CronJob ml/nightly-29933970 in batch, created 11:30, from 11:30, softly due 19:30: [8 a100/gpu, 2 node/pods] 1 h / 2 h
            CronJob ml/nightly-29934330 in batch, created 17:30, from 17:30, softly due Tue 01 01:30: [8 a100/gpu, 2 node/pods] 1 h / 2 h
            CronJob ml/nightly-29934690 in batch, created 23:30, from 23:30, softly due Tue 01 07:30: [8 a100/gpu, 2 node/pods] 1 h / 2 h
            CronJob ml/nightly-29935050 in batch, created Tue 01 05:30, from Tue 01 05:30, softly due Tue 01 13:30: [8 a100/gpu, 2 node/pods] 1 h / 2 h
            note SG056 CronJob ml/paused: is suspended, so no run of it is planned
            note SG050 input: not managed by Kueue, so not planned: CronJob ml/mistaken-29934720
              hint: the label kueue.x-k8s.io/queue-name puts work under Kueue (on a CronJob: in its jobTemplate)
        "#]],
    );
}

#[test]
fn a_run_that_is_a_job_already_is_not_planned_twice() {
    // 13:00 in UTC+1 is minute 29934120 since 1970.
    check(
        r#"
apiVersion: batch/v1
kind: CronJob
metadata: {name: hourly, namespace: ml}
spec:
  schedule: "0 12,13 * * *"
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}
    spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 4}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: hourly-29934000
  namespace: ml
  labels: {kueue.x-k8s.io/queue-name: batch}
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: hourly, uid: u, controller: true}]
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 4}}}]}}}
"#,
        expect![[r#"
            Job ml/hourly-29934000 in batch, softly due 19:00: [4 a100/gpu, 1 node/pods] 1 h / 2 h
            CronJob ml/hourly-29934060 in batch, created 13:00, from 13:00, softly due 21:00: [4 a100/gpu, 1 node/pods] 1 h / 2 h
        "#]],
    );
}

#[test]
fn a_job_set_sums_its_replicated_jobs() {
    check(
        "
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: pretrain, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  replicatedJobs:
  - name: driver
    template: {spec: {template: {spec: {containers: [{resources: {requests: {cpu: 2}}}]}}}}
  - name: workers
    replicas: 4
    template:
      spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: pretrain-workers-0
  namespace: ml
  labels: {kueue.x-k8s.io/queue-name: batch}
  ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: pretrain, uid: u, controller: true}]
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}
",
        expect![[r#"
            JobSet ml/pretrain in batch, softly due 19:00: [64 a100/gpu, 2 node/cpu, 9 node/pods] 1 h / 2 h
        "#]],
    );
}

#[test]
fn ray_counts_head_hosts_and_the_submitter() {
    let cluster = "
    headGroupSpec: {template: {spec: {containers: [{resources: {requests: {cpu: 1, memory: 2Gi}}}]}}}
    workerGroupSpecs:
    - groupName: GPU
      replicas: 3
      numOfHosts: 2
      template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}";
    check(
        &format!(
            "
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: tune, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec:
  rayClusterSpec:{cluster}
---
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: http, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec:
  submissionMode: HTTPMode
  rayClusterSpec:{cluster}
---
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: borrowed, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec: {{clusterSelector: {{ray.io/cluster: shared}}}}
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: notebook, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec:{cluster}
"
        ),
        expect![[r#"
            RayJob ml/http in batch, softly due 19:00: [6 a100/gpu, 1 node/cpu, 2147483648 node/memory, 7 node/pods] 1 h / 2 h
            RayCluster ml/notebook in batch, softly due 19:00: [6 a100/gpu, 1 node/cpu, 2147483648 node/memory, 7 node/pods] 1 h / 2 h
            RayJob ml/tune in batch, softly due 19:00: [6 a100/gpu, 1500m node/cpu, 2357198848 node/memory, 8 node/pods] 1 h / 2 h
            note SG050 RayJob ml/borrowed: uses an existing RayCluster, which Kueue does not queue; it is left out
        "#]],
    );
}

#[test]
fn kubeflow_jobs_sum_their_roles() {
    check(
        "
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: torch, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  pytorchReplicaSpecs:
    Worker: {replicas: 3, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}
    Master: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}, requests: {cpu: 1}}}]}}}
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tf, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  tfReplicaSpecs:
    PS: {replicas: 2, template: {spec: {containers: [{resources: {requests: {cpu: 4}}}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: mpi, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{}]}}}
    Worker: {replicas: 4, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: sized, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {runtimeRef: {name: torch}, trainer: {numNodes: 5, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: unsized, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {runtimeRef: {name: torch}}
",
        expect![[r#"
            MPIJob ml/mpi in batch, softly due 19:00: [8 a100/gpu, 5 node/pods] 1 h / 2 h
            TrainJob ml/sized in batch, softly due 19:00: [20 a100/gpu, 5 node/pods] 1 h / 2 h
            TFJob ml/tf in batch, softly due 19:00: [2 a100/gpu, 8 node/cpu, 4 node/pods] 1 h / 2 h
            PyTorchJob ml/torch in batch, softly due 19:00: [32 a100/gpu, 1 node/cpu, 4 node/pods] 1 h / 2 h
            warning SG053 TrainJob ml/unsized: leaves its size to the runtime `torch`, which is not read; it is left out ^ {runtimeRef: {name: torch}}
              hint: give spec.trainer.numNodes and spec.trainer.resourcesPerNode
        "#]],
    );
}

#[test]
fn a_leader_worker_set_is_one_workload_per_group() {
    check(
        "
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve, namespace: ml, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    leaderTemplate: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}
    workerTemplate: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}
",
        expect![[r#"
            LeaderWorkerSet ml/serve-0 in batch, softly due 19:00: [24 a100/gpu, 1 node/cpu, 4 node/pods] 1 h / 2 h
            LeaderWorkerSet ml/serve-1 in batch, softly due 19:00: [24 a100/gpu, 1 node/cpu, 4 node/pods] 1 h / 2 h
        "#]],
    );
}

#[test]
fn pods_stand_alone_or_in_groups_that_must_be_whole() {
    let member = |name: &str, group: &str, total: u32, gpus: u32, more: &str| {
        format!(
            "
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: ml
  labels: {{kueue.x-k8s.io/queue-name: batch, kueue.x-k8s.io/pod-group-name: {group}}}
  annotations: {{kueue.x-k8s.io/pod-group-total-count: \"{total}\"{more}}}
spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}"
        )
    };
    let fast = ", kueue.x-k8s.io/pod-group-fast-admission: \"true\"";
    let pods = [
        member("whole-0", "whole", 3, 1, ""),
        member("whole-1", "whole", 3, 4, ""),
        member("whole-2", "whole", 3, 1, ""),
        member("short-0", "short", 2, 1, ""),
        member("fast-0", "fast", 5, 2, fast),
    ];
    check(
        &format!(
            "
apiVersion: v1
kind: Pod
metadata: {{name: alone, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}
{}
---
apiVersion: v1
kind: Pod
metadata: {{name: stranger, namespace: ml}}
spec: {{containers: [{{}}]}}",
            pods.concat()
        ),
        expect![[r#"
            Pod ml/alone in batch, softly due 19:00: [1 a100/gpu, 1 node/pods] 1 h / 2 h
            PodGroup ml/fast in batch, softly due 19:00: [10 a100/gpu, 5 node/pods] 1 h / 2 h
            PodGroup ml/whole in batch, softly due 19:00: [6 a100/gpu, 3 node/pods] 1 h / 2 h
            warning SG055 PodGroup ml/short: has 1 of 2 pods that it announces; Kueue waits until they agree, it is left out ^ {kueue.x-k8s.io/pod-group-total-count: "…
              hint: give all pods of the group
        "#]],
    );
}
