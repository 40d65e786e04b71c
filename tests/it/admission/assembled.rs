//! From manifests, as a cluster would give them, to what the verb knows.

use serde_json::json;
use stagger::admission::{Mode, PodGroup, assemble};
use stagger::api::keys::{GATES, TENANT};
use stagger::scenario::{Input, Limits, read};

use super::world::{a_job, create};

const CLUSTER: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: evals, uid: n-1, labels: {team: nlp}}
---
apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: nlp, uid: t-1}
spec: {namespaceSelector: {matchLabels: {team: nlp}}}
---
apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: fresh}
spec: {namespaces: [evals]}
---
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {cohorts: [all], mode: Enforce}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: batch}
spec: {cohort: team}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: team}
spec: {parentName: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: evals}
spec: {clusterQueue: batch}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: evals, uid: j-1, labels: {stagger.dev/tenant: nlp, stagger.dev/tenant-uid: t-1}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: evals, labels: {kueue.x-k8s.io/pod-group-name: ring}, annotations: {kueue.x-k8s.io/admission-gated-by: stagger.dev/planner}}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: evals, labels: {kueue.x-k8s.io/pod-group-name: ring}}
";

#[test]
fn a_cluster_as_it_is_written_down_stamps_and_gates() {
    let reading = read(&[Input::text("cluster.yaml", CLUSTER)], &Limits::default());
    let (world, findings) = assemble(&reading.manifests, Mode::Protect);
    let result = create("batch", "jobs", a_job("batch")).result(&world);
    assert_eq!(result["metadata"]["labels"][TENANT], "nlp");
    assert_eq!(result["metadata"]["annotations"], json!({GATES: "stagger.dev/planner"}));
    assert_eq!(world.queues.pod_group("evals", "ring"), Some(PodGroup::Released), "one released member is enough");
    assert_eq!(findings.len(), 1, "a tenant without a UID cannot be stamped: {findings:?}");
    assert!(findings[0].subject.contains("fresh"));
}
