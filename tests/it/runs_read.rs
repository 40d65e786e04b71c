//! Runs from JSON lines, CSV, and manifests of finished work.

use std::sync::Arc;

use stagger::failure::SourceFile;
use stagger::ledger::run::{EndReason, Run};
use stagger::names::ResourceName;
use stagger::scenario::runs::{ReadRuns, of_manifests, read};
use stagger::scenario::{Input, Limits};

fn read_all(texts: &[&str]) -> ReadRuns {
    let mut into = ReadRuns::default();
    for text in texts {
        read(&Arc::new(SourceFile { path: "runs".to_owned(), text: (*text).to_owned() }), &mut into);
    }
    into
}

fn told(read: &ReadRuns) -> Vec<String> {
    let line = |finding: &stagger::failure::Finding| finding.span.as_ref().map_or(0, |span| span.line_column().0);
    read.findings.iter().map(|finding| format!("{} {} {}", finding.code, line(finding), finding.message)).collect()
}

const TWO: &str = r#"{"workload":"evals/eval-1","attempt":1,"tenant":"team-a","class":"eval-run","clusterQueue":"batch","flavor":"a100","resources":{"nvidia.com/gpu":"2","cpu":"1500m","memory":"16Gi"},"start":"2026-11-30T12:00:00+01:00","end":"2026-11-30T13:30:00+01:00","endReason":"Succeeded"}
{"workload":"evals/eval-2","attempt":2,"flavor":"a100","resources":{"nvidia.com/gpu":1},"start":"2026-11-30T11:00:00Z","end":null,"other":true}
"#;

#[test]
fn lines_an_array_and_csv_say_the_same() {
    let lines = read_all(&[TWO]);
    assert_eq!(told(&lines), [] as [String; 0]);
    let array = read_all(&[&format!("[{}]", TWO.trim().replace('\n', ","))]);
    let csv = read_all(&[
        "\u{feff}endReason,workload,attempt,tenant,class,clusterQueue,flavor,resources,start,end,remark\r\n\
        Succeeded,evals/eval-1,1,team-a,eval-run,batch,a100,nvidia.com/gpu=2;cpu=1500m;memory=16Gi,2026-11-30T12:00:00+01:00,2026-11-30T13:30:00+01:00,\"a, b\"\r\n\
        ,evals/eval-2,2,,,,a100,\"{\"\"nvidia.com/gpu\"\":1}\",2026-11-30T11:00:00Z,,\r\n",
    ]);
    assert_eq!((told(&csv), &lines.runs), (vec![], &csv.runs));
    assert_eq!(lines.runs, array.runs);
    let [first, second] = &lines.runs[..] else { panic!("two runs") };
    let amount = |run: &Run, name: &str| run.resources[&ResourceName::from(name)].0;
    assert_eq!((amount(first, "nvidia.com/gpu"), amount(first, "cpu"), amount(first, "memory")), (2, 1500, 16 << 30));
    assert_eq!((second.end, second.end_reason, second.attempt), (None, EndReason::Unfinished, 2));
}

#[test]
fn a_column_may_be_called_like_a_resource() {
    let csv = read_all(&[
        "workload,flavor,start,end,endReason,nvidia.com/gpu\nns/a,a100,2026-11-30T11:00:00Z,2026-11-30T12:00:00Z,Failed,4\n",
    ]);
    assert_eq!(csv.runs[0].resources[&ResourceName::from("nvidia.com/gpu")].0, 4);
}

#[test]
fn the_same_row_again_is_the_same_run_and_a_contradiction_is_refused() {
    let other = TWO.replace("Succeeded", "Failed");
    let read = read_all(&[TWO, TWO, &other]);
    assert_eq!((read.runs.len(), read.duplicates, read.conflicts), (2, 3, 1));
    assert_eq!(read.runs[0].end_reason, EndReason::Succeeded, "the first stands");
    assert_eq!(told(&read), ["SG131 1 an earlier row says something else about the same attempt; this one is refused"]);
}

#[test]
fn one_bad_row_never_hides_the_others() {
    let row = |change: (&str, &str)| TWO.lines().next().expect("a row").replace(change.0, change.1);
    let text = [
        row(("evals/eval-1", "eval-1")),
        row(("2026-11-30T13:30:00+01:00", "2026-11-30T11:30:00+01:00")),
        row(("Succeeded", "Done")),
        row(("\"endReason\":\"Succeeded\"", "\"endReason\":null")),
        row(("\"2\"", "\"two\"")),
        row(("\"attempt\":1", "\"attempt\":-1")),
        row(("2026-11-30T12:00:00+01:00", "noon")),
        "{\"workload\":".to_owned(),
        row(("a100", "")),
        row(("x", "x")),
    ];
    let read = read_all(&[&text.join("\n")]);
    assert_eq!(read.runs.len(), 1);
    assert_eq!(
        told(&read),
        [
            "SG130 1 workload `eval-1` is not namespace/name",
            "SG130 2 `end` is before `start`",
            "SG130 3 endReason `Done` is not one of Succeeded, Failed, Evicted, Cancelled",
            "SG130 4 `endReason` is missing",
            "SG130 5 resources.nvidia.com/gpu: `two` is not a quantity such as 2, 500m or 16Gi",
            "SG130 6 attempt: invalid value: integer `-1`, expected u32",
            "SG130 7 start: `noon` is not an RFC 3339 instant with a zone, such as 2026-11-30T17:00:00+01:00",
            "SG130 8 workload: EOF while parsing a value",
            "SG130 9 `flavor` is missing",
        ]
    );
    let csv = read_all(&[
        "workload,flavor,start,end,endReason\nns/a,a100,2026-11-30T11:00:00Z\nns/b,a100,2026-11-30T11:00:00Z,2026-11-30T12:00:00Z,Failed\n",
    ]);
    assert_eq!((csv.runs.len(), told(&csv)), (1, vec!["SG130 2 3 cells under 5 titles".to_owned()]));
}

#[test]
fn what_holds_no_runs_gets_one_finding() {
    assert_eq!(told(&read_all(&["\n"])), ["SG133 0 the file is empty"]);
    assert_eq!(
        told(&read_all(&["a,b\n1,2\n"])),
        ["SG133 0 these are no runs: the title line has no column workload, flavor, start, end, endReason"]
    );
}

const FINISHED: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: job-eval-1-abc
  namespace: evals
  creationTimestamp: 2026-11-30T10:00:00Z
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: eval-1, uid: u1, controller: true}]
spec: {queueName: batch, podSets: [{name: main, count: 1, template: {spec: {containers: []}}}]}
status:
  admission:
    clusterQueue: batch
    podSetAssignments: [{name: main, count: 1, flavors: {cpu: plain, nvidia.com/gpu: a100}, resourceUsage: {cpu: \"8\", nvidia.com/gpu: \"2\"}}]
  reclaimablePods: [{name: main, count: 1}]
  requeueState: {count: 2}
  conditions:
  - {type: QuotaReserved, status: \"True\", reason: QuotaReserved, message: m, lastTransitionTime: 2026-11-30T11:00:00Z}
  - {type: Admitted, status: \"True\", reason: Admitted, message: m, lastTransitionTime: 2026-11-30T11:00:10Z}
  - {type: Finished, status: \"True\", reason: Succeeded, message: m, lastTransitionTime: 2026-11-30T12:00:00Z}
---
apiVersion: batch/v1
kind: Job
metadata: {name: eval-1, namespace: evals, uid: u1, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}}}
status: {startTime: 2026-11-30T11:00:11Z, completionTime: 2026-11-30T12:00:00Z, conditions: [{type: Complete, status: \"True\"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: eval-2, namespace: evals, labels: {kueue.x-k8s.io/queue-name: batch}}
spec: {parallelism: 3, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}}}
status: {startTime: 2026-11-30T11:00:00Z, conditions: [{type: Failed, status: \"True\", lastTransitionTime: 2026-11-30T11:30:00Z}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: lost, namespace: evals, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}
status: {startTime: 2026-11-30T11:00:00Z, completionTime: 2026-11-30T12:00:00Z, conditions: [{type: Complete, status: \"True\"}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: evals}
spec: {clusterQueue: batch}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
";

#[test]
fn finished_workloads_and_jobs_are_runs() {
    let reading = stagger::scenario::read(&[Input::text("finished.yaml", FINISHED)], &Limits::default());
    assert!(!reading.has_errors(), "{:?}", reading.findings);
    let mut into = ReadRuns::default();
    of_manifests(&reading.manifests, &mut into);
    let line = |run: &Run| {
        let held: Vec<String> = run.resources.iter().map(|(name, amount)| format!("{name}={}", amount.0)).collect();
        let seconds = run.end.map_or(0, |end| end.0 - run.start.0);
        format!(
            "{}#{} {} {} {seconds} s {}",
            run.workload,
            run.attempt,
            run.flavor,
            held.join(","),
            run.end_reason.as_str()
        )
    };
    assert_eq!(
        into.runs.iter().map(line).collect::<Vec<_>>(),
        [
            // From the reservation of quota, not from the first container; whole, although pods were given back.
            "evals/eval-1#3 a100 nvidia.com/gpu=2 3600 s Succeeded",
            "evals/eval-1#3 plain cpu=8000 3600 s Succeeded",
            "evals/eval-2#1 a100 nvidia.com/gpu=4 1800 s Failed",
        ]
    );
    let told: Vec<String> = into
        .findings
        .iter()
        .map(|finding| format!("{} {}: {}", finding.code, finding.subject, finding.message))
        .collect();
    assert_eq!(
        told,
        [
            "SG135 Workload evals/job-eval-1-abc: was evicted 2 times before; when those attempts ran is not in the object",
            "SG134 Job evals/lost: has finished, but its queue is not in the files, so its flavor is not known; it is not counted",
        ]
    );
}
