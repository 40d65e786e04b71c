//! The quota tree, flavors and the ways to run.

use expect_test::{Expect, expect};

use super::{BATCH, assembled, findings, options, snapshot, whole, with_batch};

const TREE: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
spec:
  parentName: company
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8, lendingLimit: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohortName: research
  queueingStrategy: StrictFIFO
  flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch, preference: PreemptionOverBorrowing}
  preemption:
    withinClusterQueue: LowerOrNewerEqualPriority
    reclaimWithinCohort: Any
    borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu, cpu]
    flavors:
    - name: a100
      resources: [{name: nvidia.com/gpu, nominalQuota: 4, borrowingLimit: 2}, {name: cpu, nominalQuota: 1500m}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: speech}
spec:
  cohortName: research
  stopPolicy: Hold
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4, lendingLimit: 1}]}]
";

#[test]
fn cohorts_exist_by_name_and_hold_their_own_quota() {
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue speech under research (stopped): 4 a100/gpu lends 1
        queue vision under research: 1500m a100/cpu, 4 a100/gpu borrows 2
        cohort company: 
        cohort research under company: 8 a100/gpu lends 2
    "#]]
    .assert_eq(&whole(&assembled(TREE)));
}

#[test]
fn v1beta1_is_read_as_its_v1beta2_twin() {
    let old = TREE
        .replace("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
        .replace("cohortName: research", "cohort: research")
        .replace("whenCanBorrow: MayStopSearch", "whenCanBorrow: Borrow")
        .replace("whenCanPreempt: MayStopSearch", "whenCanPreempt: Preempt");
    assert_ne!(old, TREE);
    assert_eq!(assembled(&old).snapshot, assembled(TREE).snapshot);
}

#[test]
fn rules_of_a_queue_default_as_kueue_s_do() {
    let snapshot = assembled(BATCH).snapshot;
    expect![[r#"
        ClusterQueue(
            QueueRules {
                strategy: BestEffortFifo,
                stopped: false,
                groups: [
                    ResourceGroup {
                        resources: [
                            ResourceName(
                                "nvidia.com/gpu",
                            ),
                        ],
                        flavors: [
                            FlavorName(
                                "a100",
                            ),
                        ],
                    },
                ],
                within_cluster_queue: Never,
                reclaim_within_cohort: Never,
                borrow_within_cohort: None,
                try_next_flavor_before_borrowing: false,
                try_next_flavor_before_preempting: true,
                prefer_preemption_over_borrowing: false,
            },
        )
    "#]]
    .assert_eq(&format!("{:#?}\n", snapshot.nodes[0].kind));
    expect![[r#"
        ClusterQueue(
            QueueRules {
                strategy: StrictFifo,
                stopped: false,
                groups: [
                    ResourceGroup {
                        resources: [
                            ResourceName(
                                "nvidia.com/gpu",
                            ),
                            ResourceName(
                                "cpu",
                            ),
                        ],
                        flavors: [
                            FlavorName(
                                "a100",
                            ),
                        ],
                    },
                ],
                within_cluster_queue: LowerOrNewerEqualPriority,
                reclaim_within_cohort: Any,
                borrow_within_cohort: Some(
                    BorrowWithinCohort {
                        policy: LowerPriority,
                        max_priority_threshold: Some(
                            100,
                        ),
                    },
                ),
                try_next_flavor_before_borrowing: false,
                try_next_flavor_before_preempting: false,
                prefer_preemption_over_borrowing: true,
            },
        )
    "#]]
    .assert_eq(&format!("{:#?}\n", assembled(TREE).snapshot.nodes[1].kind));
}

#[test]
fn cohorts_in_a_circle_are_told_of_once_and_their_queues_stand_still() {
    let cohort = |name: &str, parent: &str| {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {{name: {name}}}\nspec: {{parentName: {parent}}}\n"
        )
    };
    let text =
        TREE.to_owned() + &cohort("company", "holding") + &cohort("holding", "research") + &cohort("self", "self");
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue speech under research (stopped): 4 a100/gpu lends 1
        queue vision under research (stopped): 1500m a100/cpu, 4 a100/gpu borrows 2
        cohort company: 
        cohort holding under research: 
        cohort research under company: 8 a100/gpu lends 2
        cohort self: 
        error SG028 Cohort company: its parents run in a circle: company → holding → research → company ^ holding
          hint: Kueue admits nothing below a circle; remove one of these parents
        error SG028 Cohort self: its parents run in a circle: self → self ^ self
          hint: Kueue admits nothing below a circle; remove one of these parents
    "#]]
    .assert_eq(&whole(&assembled(&text)));
}

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
fn what_kueue_would_never_admit_is_listed_with_its_reason() {
    let job = |name: &str, namespace: &str, queue: &str, resources: &str| {
        format!(
            "
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: {namespace}, labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}
spec: {{template: {{spec: {{containers: [{{name: main, resources: {resources}}}]}}}}}}"
        )
    };
    let gpu = "{limits: {nvidia.com/gpu: 1}}";
    let more = r#"
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lost, namespace: evals}
spec: {clusterQueue: bacth}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: held, namespace: evals}
spec: {clusterQueue: batch, stopPolicy: Hold}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: picky}
spec:
  namespaceSelector: {matchLabels: {team: vision}}
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: picky, namespace: evals}
spec: {clusterQueue: picky}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: picky, namespace: vision}
spec: {clusterQueue: picky}
---
apiVersion: v1
kind: Namespace
metadata: {name: vision, labels: {team: vision}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: vision}
spec: {limits: [{type: Container, max: {nvidia.com/gpu: 1}}]}
"#;
    let jobs = [
        job("mistyped", "evals", "bach", gpu),
        job("elsewhere", "vision", "batch", gpu),
        job("dangling", "evals", "lost", gpu),
        job("held", "evals", "held", gpu),
        job("refused", "evals", "picky", gpu),
        job("welcome", "vision", "picky", gpu),
        job("outsized", "vision", "picky", "{limits: {nvidia.com/gpu: 2}}"),
        job("uncovered", "evals", "batch", "{limits: {nvidia.com/gpus: 1}}"),
        job("upside-down", "evals", "batch", "{requests: {nvidia.com/gpu: 3}, limits: {nvidia.com/gpu: 2}}"),
    ];
    let assembled = assembled(&(with_batch(more) + &jobs.concat()));
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch: 4 a100/gpu
        queue picky: 1 a100/gpu
        Job vision/welcome in picky, no SLO: [1 a100/gpu] ?
        never Job evals/dangling: SG021
        never Job evals/held: SG029
        never Job evals/mistyped: SG020
        never Job evals/refused: SG026
        never Job evals/uncovered: SG023
        never Job evals/upside-down: SG027
        never Job vision/elsewhere: SG020
        never Job vision/outsized: SG027
        error SG020 Job evals/mistyped: names the LocalQueue `bach`, which is not in namespace evals ^ bach
          hint: did you mean `batch`?
        error SG020 Job vision/elsewhere: names the LocalQueue `batch`, which is not in namespace vision ^ batch
          hint: a LocalQueue `batch` is in namespace evals; a job needs one in its own
        error SG021 Job evals/dangling: is queued in LocalQueue `lost`, whose ClusterQueue `bacth` is not there ^ lost
          hint: did you mean `batch`?
        warning SG029 Job evals/held: waits in LocalQueue `held`, which is on hold ^ held
        warning SG026 Job evals/refused: is in namespace evals, from which ClusterQueue `picky` takes no work ^ picky
          hint: its namespaceSelector may ask for labels of Namespace evals, which is not given
        warning SG027 Job vision/outsized: container `main` asks for more nvidia.com/gpu than the LimitRange allows ^ {limits: {nvidia.com/gpu: 2}}
        warning SG023 Job evals/uncovered: asks for nvidia.com/gpus, of which ClusterQueue batch has no quota ^ nvidia.com/gpus
          hint: did you mean `nvidia.com/gpu`?
        warning SG027 Job evals/upside-down: container `main` requests more nvidia.com/gpu than its limit allows ^ {requests: {nvidia.com/gpu: 3}, limits:…
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: vision/welcome
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&whole(&assembled));
    assert!(snapshot(&assembled).contains("Job vision/welcome"));
}

#[test]
fn a_missing_flavor_stops_its_queue() {
    let text =
        BATCH.replace("kind: ResourceFlavor\nmetadata: {name: a100}", "kind: ResourceFlavor\nmetadata: {name: a10}");
    expect![[r#"
        from 2026-11-30T11:00:00Z to 2026-12-01T11:00:00Z
        queue batch (stopped): 4 a100/gpu
        error SG022 ClusterQueue batch: no ResourceFlavor `a100` is there; Kueue keeps the queue inactive ^ a100
          hint: did you mean `a10`?
    "#]]
    .assert_eq(&whole(&assembled(&text)));
}

#[test]
fn a_broken_reference_on_an_object_that_a_cluster_holds_is_no_error() {
    let job = "
apiVersion: batch/v1
kind: Job
metadata: {name: stray, namespace: evals, uid: 5f0c, labels: {kueue.x-k8s.io/queue-name: bach}}
spec: {template: {spec: {containers: [{}]}}}
";
    expect![[r#"
        warning SG020 Job evals/stray: names the LocalQueue `bach`, which is not in namespace evals ^ bach
          hint: did you mean `batch`?
    "#]]
    .assert_eq(&findings(&assembled(&with_batch(job))));
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
