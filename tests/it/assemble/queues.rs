//! The quota tree, flavors and the ways to run.

use expect_test::expect;

use super::{BATCH, assembled, findings, snapshot, whole, with_batch};

pub(super) const TREE: &str = "
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
