//! Which flavors a workload may run on, in which order, and for how long.

use expect_test::{Expect, expect};

use super::queues::TREE;
use super::{assembled, findings, options, whole};

/// Two groups, three GPU flavors with labels and taints, and one job whose pod spec is given.
#[track_caller]
fn check_flavors(pod: &str, slo: &str, expected: Expect) {
    let text = format!(
        r#"
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: h100}}
spec: {{nodeLabels: {{gpu: h100, zone: a}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: a100}}
spec: {{nodeLabels: {{gpu: a100}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: spot}}
spec: {{nodeLabels: {{gpu: a100}}, nodeTaints: [{{key: spot, value: "yes", effect: NoSchedule}}, {{key: soft, effect: PreferNoSchedule}}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: node}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: batch}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: node, resources: [{{name: cpu, nominalQuota: 100}}]}}]
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {{name: h100, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}
    - {{name: a100, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}
    - {{name: spot, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: batch, namespace: evals}}
spec: {{clusterQueue: batch}}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {{name: slo, namespace: evals}}
spec: {{selector: {{}}, finishWithin: 9h{slo}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: evals, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec: {{template: {{spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: 2, cpu: 1}}}}}}]{pod}}}}}}}
"#
    );
    let assembled = assembled(&text);
    expected.assert_eq(&(options(&assembled) + &findings(&assembled)));
}

const RUNTIME: &str = ", expectedRuntime: {p50: 1h}";

#[test]
fn flavors_stand_in_the_order_of_the_queue_without_those_whose_taints_are_not_tolerated() {
    check_flavors(
        "",
        RUNTIME,
        expect![[r#"
        evals/train: [2 h100/gpu, 1 node/cpu] 1 h | [2 a100/gpu, 1 node/cpu] 1 h
    "#]],
    );
    let tolerant = ", tolerations: [{key: spot, operator: Exists}]";
    check_flavors(
        tolerant,
        RUNTIME,
        expect![[r#"
        evals/train: [2 h100/gpu, 1 node/cpu] 1 h | [2 a100/gpu, 1 node/cpu] 1 h | [1 node/cpu, 2 spot/gpu] 1 h
    "#]],
    );
    let of_another_value = ", tolerations: [{key: spot, value: \"no\"}]";
    check_flavors(
        of_another_value,
        RUNTIME,
        expect![[r#"
        evals/train: [2 h100/gpu, 1 node/cpu] 1 h | [2 a100/gpu, 1 node/cpu] 1 h
    "#]],
    );
}

#[test]
fn node_selectors_choose_among_flavors_by_the_labels_flavors_have() {
    check_flavors(
        ", nodeSelector: {gpu: a100, disk: ssd}",
        RUNTIME,
        expect![[r#"
        evals/train: [2 a100/gpu, 1 node/cpu] 1 h
    "#]],
    );
    check_flavors(
        ", nodeSelector: {gpu: b200}",
        RUNTIME,
        expect![[r#"
            warning SG025 Job evals/train: fits no flavor of ClusterQueue batch (h100: its node selector asks for gpu=b200; a100: its node selector asks for gpu=b200; spot: the taint spot:NoSchedule is not tolerated) ^ {containers: [{resources: {limits: {nvid…
        "#]],
    );
}

#[test]
fn node_affinity_terms_are_alternatives() {
    let terms = |terms: &str| {
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        format!(", affinity: {{nodeAffinity: {{{required}: {{nodeSelectorTerms: [{terms}]}}}}}}")
    };
    let not_h100 = "{matchExpressions: [{key: gpu, operator: NotIn, values: [h100]}]}";
    let zone = "{matchExpressions: [{key: zone, operator: Exists}]}";
    let elsewhere = "{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}";
    check_flavors(
        &terms(not_h100),
        RUNTIME,
        expect![[r#"
        evals/train: [2 a100/gpu, 1 node/cpu] 1 h
    "#]],
    );
    check_flavors(
        &terms(zone),
        RUNTIME,
        expect![[r#"
        evals/train: [2 h100/gpu, 1 node/cpu] 1 h
    "#]],
    );
    check_flavors(
        &terms(&format!("{not_h100}, {elsewhere}")),
        RUNTIME,
        expect![[r#"
        evals/train: [2 h100/gpu, 1 node/cpu] 1 h | [2 a100/gpu, 1 node/cpu] 1 h
    "#]],
    );
}

#[test]
fn a_promise_may_allow_some_flavors_and_know_a_runtime_for_each() {
    let slo = ", allowedFlavors: [a100, h100], expectedRuntime: {p50: 2h, p90: 3h}, flavorRuntimes: [{flavor: h100, p50: 30m, p90: 40m}]";
    check_flavors(
        "",
        slo,
        expect![[r#"
        evals/train: [2 h100/gpu, 1 node/cpu] 30 min / 40 min | [2 a100/gpu, 1 node/cpu] 2 h / 3 h
    "#]],
    );
    check_flavors(
        "",
        ", allowedFlavors: [spot], expectedRuntime: {p50: 1h}",
        expect![[r#"
            warning SG025 Job evals/train: fits no flavor of ClusterQueue batch (h100: its WorkloadSLO does not allow it; a100: its WorkloadSLO does not allow it; spot: the taint spot:NoSchedule is not tolerated) ^ {containers: [{resources: {limits: {nvid…
        "#]],
    );
    check_flavors(
        "",
        ", allowedFlavors: [a1oo], expectedRuntime: {p50: 1h}",
        expect![[r#"
            error SG022 WorkloadSLO evals/slo: names the ResourceFlavor `a1oo`, which is not there ^ a1oo
              hint: did you mean `a100`?
            warning SG025 Job evals/train: fits no flavor of ClusterQueue batch (node: its WorkloadSLO does not allow it) ^ {containers: [{resources: {limits: {nvid…
        "#]],
    );
}

#[test]
fn pod_sets_may_take_different_flavors_and_the_slowest_sets_the_pace() {
    let text = r#"
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
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
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: evals}
spec: {clusterQueue: batch}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: slo, namespace: evals}
spec:
  targetRef: {group: kubeflow.org, kind: PyTorchJob, name: torch}
  finishWithin: 9h
  flavorRuntimes: [{flavor: h100, p50: 30m, p90: 40m}, {flavor: a100, p50: 1h, p90: 90m}]
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: torch, namespace: evals, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}}
    Worker: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}}
"#;
    // Both on h100 would take 4 of the 3 there are; master and worker are alike, so h100+a100 stands once.
    expect![[r#"
        evals/torch: h100+a100 [2 a100/gpu, 2 h100/gpu] 1 h / 1 h 30 min | [4 a100/gpu] 1 h / 1 h 30 min
    "#]]
    .assert_eq(&options(&assembled(text)));
}

#[test]
fn a_request_beyond_all_the_tree_could_lend_never_fits() {
    let job = |name: &str, queue: &str, gpus: u32| {
        format!(
            "
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: evals, labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}
spec: {{template: {{spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}}}"
        )
    };
    let queue = "
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: vision, namespace: evals}
spec: {clusterQueue: vision}";
    // vision has 4 and may borrow 2.
    let text = TREE.to_owned() + queue + &job("fits", "vision", 6) + &job("never", "vision", 7);
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue speech under research (stopped): 4 a100/gpu lends 1
        queue vision under research: 1500m a100/cpu, 4 a100/gpu borrows 2
        cohort company: 
        cohort research under company: 8 a100/gpu lends 2
        Job evals/fits in vision, no SLO: [6 a100/gpu] ?
        never Job evals/never: SG024
        warning SG024 Job evals/never: asks for 7 nvidia.com/gpu on a100 at once, but ClusterQueue vision could never give more than 6 ^ {containers: [{resources: {limits: {nvid…
          hint: raise the queue's quota or its borrowing limit, or ask for less
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/fits
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&whole(&assembled(&text)));
}

#[test]
fn too_many_ways_to_run_are_cut_with_those_where_all_agree_kept() {
    let flavors: Vec<String> = (0..9).map(|at| format!("f{at}")).collect();
    let flavor = |name: &String| {
        format!("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\n")
    };
    let quota = |name: &String| format!("{{name: {name}, resources: [{{name: nvidia.com/gpu, nominalQuota: 99}}]}}");
    let roles: Vec<String> = (1..=4)
        .map(|at| format!("    R{at}: {{template: {{spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: {at}}}}}}}]}}}}}}"))
        .collect();
    let text = format!(
        "{}---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: batch}}
spec:
  namespaceSelector: {{}}
  resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: batch, namespace: evals}}
spec: {{clusterQueue: batch}}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: torch, namespace: evals, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec:
  pytorchReplicaSpecs:
{}
",
        flavors.iter().map(flavor).collect::<String>(),
        flavors.iter().map(quota).collect::<Vec<_>>().join(", "),
        roles.join("\n")
    );
    let assembled = assembled(&text);
    let options = &assembled.snapshot.workloads[0].options;
    assert_eq!(options.len(), 32);
    for flavor in &flavors {
        assert!(options.iter().any(|option| option.flavor.as_str() == flavor), "all on {flavor} must be kept");
    }
    assert!(findings(&assembled).contains("note SG047 PyTorchJob evals/torch: may run in more than 32 ways"));
}
