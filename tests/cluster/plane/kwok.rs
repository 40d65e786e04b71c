//! KWOK: nodes that exist on paper, and pods that run as long as an annotation says.

use std::fs;
use std::path::Path;

use super::built::Built;
use super::keeper::Part;
use super::start::port;
use crate::person::Person;

/// How long a pod runs, as a duration; a second where it does not say.
pub const RUNS_FOR: &str = "stagger.dev/test-runs-for";

/// A pod of a Job succeeds after the time its annotation says.
const COMPLETE: &str = r#"apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-complete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: ".metadata.ownerReferences.[].kind", operator: In, values: [Job]}
  delay:
    durationMilliseconds: 1000
    durationFrom:
      expressionFrom: '.metadata.annotations["stagger.dev/test-runs-for"]'
  next:
    statusTemplate: |
      {{ $now := Now }}
      {{ $root := . }}
      containerStatuses:
      {{ range $index, $item := .spec.containers }}
      {{ $origin := index $root.status.containerStatuses $index }}
      - image: {{ $item.image | Quote }}
        name: {{ $item.name | Quote }}
        ready: false
        restartCount: 0
        started: false
        state:
          terminated:
            exitCode: 0
            finishedAt: {{ $now | Quote }}
            reason: Completed
            startedAt: {{ $origin.state.running.startedAt | Quote }}
      {{ end }}
      phase: Succeeded
"#;

pub fn start(built: &Built, folder: &Path, admin: &Person) -> Part {
    let stages = folder.join("stages.yaml");
    let mut text = String::new();
    for file in
        ["stage/node/fast/node-initialize.yaml", "stage/pod/fast/pod-ready.yaml", "stage/pod/fast/pod-delete.yaml"]
    {
        let stage = fs::read_to_string(built.manifests("kwok", file)).expect("KWOK brings its stages");
        text.push_str(&stage);
        text.push_str("\n---\n");
    }
    text.push_str(COMPLETE);
    fs::write(&stages, text).expect("the stages can be written");
    let flags = [
        format!("kubeconfig={}", admin.kubeconfig().display()),
        format!("config={}", stages.display()),
        "manage-all-nodes=true".to_owned(),
        "node-ip=127.0.0.1".to_owned(),
        format!("server-address=127.0.0.1:{}", port()),
        "node-lease-duration-seconds=40".to_owned(),
    ];
    Part::start("kwok", &built.program("kwok", "kwok"), flags.iter().map(|flag| format!("--{flag}")).collect(), folder)
}
