//! Kueue's Workloads as a log: both API versions, JSON and YAML, and what the objects no longer say.

use expect_test::expect;
use stagger::calendar::parse_instant;
use stagger::scenario::import::workloads::read;
use stagger::scenario::import::{DropReason, Import, Settings, parse_pool};
use stagger::units::{Amount, Seconds, Timestamp};

use crate::import_data::{gpus, told, written};

fn at(clock: &str) -> Timestamp {
    parse_instant(&format!("2026-01-05T{clock}:00Z")).unwrap()
}

/// A Workload as kubectl writes it; conditions by kind and time.
fn workload(name: &str, owner: &str, created: &str, usage: &str, conditions: &[(&str, &str)]) -> String {
    let conditions: Vec<String> = conditions
        .iter()
        .map(|(kind, clock)| {
            let (status, clock) = clock.strip_prefix('!').map_or(("True", *clock), |clock| ("False", clock));
            format!(
                r#"{{"type": "{kind}", "status": "{status}", "reason": "{kind}", "message": "", "lastTransitionTime": "2026-01-05T{clock}:00Z"}}"#
            )
        })
        .collect();
    let admission = if usage.is_empty() {
        String::new()
    } else {
        format!(
            r#""admission": {{"clusterQueue": "batch", "podSetAssignments": [{{"name": "main", "count": 2, "flavors": {{"cpu": "a100", "nvidia.com/gpu": "a100"}}, "resourceUsage": {{"cpu": "8", "nvidia.com/gpu": "{usage}"}}}}]}},"#
        )
    };
    format!(
        r#"{{"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
 "metadata": {{"name": "{name}", "namespace": "nlp", "uid": "{name}-uid", "creationTimestamp": "2026-01-05T{created}:00Z",
  "ownerReferences": [{{"apiVersion": "batch/v1", "kind": "Job", "name": "{owner}", "uid": "u", "controller": true}}]}},
 "spec": {{"queueName": "main", "maximumExecutionTimeSeconds": 7200, "podSets": [{{"name": "main", "count": 2, "template": {{"spec": {{"containers": []}}}}}}]}},
 "status": {{{admission} "conditions": [{}]}}}}"#,
        conditions.join(", ")
    )
}

fn list(items: &[String]) -> String {
    format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#, items.join(",\n"))
}

fn import(items: &[String]) -> Import {
    read(&written(&list(items)), &gpus(16)).expect("the log must be readable")
}

const DONE: [(&str, &str); 3] = [("QuotaReserved", "09:10"), ("Admitted", "09:12"), ("Finished", "10:10")];

#[test]
fn a_finished_workload_is_work_with_a_wait_a_runtime_and_a_limit() {
    let Import { snapshot, past, report, findings } =
        import(&[workload("job-train-1a2b", "train", "09:00", "4", &DONE)]);
    assert_eq!(told(&findings), "");
    let workload = &snapshot.workloads[0];
    assert_eq!((workload.key.as_str(), workload.created), ("nlp/train", at("09:00")));
    assert_eq!((workload.options[0].uses[0].1, workload.options[0].runtime.p50), (Amount(4), Seconds::HOUR));
    assert_eq!((past[0].started, past[0].limit), (Some(at("09:10")), Some(Seconds(7200))));
    assert_eq!((report.format, report.rows_read, report.rows_kept, report.tenants), ("workloads", 1, 1, 1));
}

#[test]
fn yaml_and_v1beta2_are_read_alike() {
    let text = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: job-eval, namespace: evals, creationTimestamp: \"2026-01-05T09:00:00Z\"}
spec:
  priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: high}
  podSets: []
status:
  admission:
    clusterQueue: batch
    podSetAssignments:
    - {name: main, flavors: {nvidia.com/gpu: h100}, resourceUsage: {nvidia.com/gpu: 2}, count: 1}
    - {name: workers, flavors: {nvidia.com/gpu: h100}, resourceUsage: {nvidia.com/gpu: 6}, count: 3}
  conditions:
  - {type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-01-05T09:30:00Z\"}
  - {type: Admitted, status: \"True\", lastTransitionTime: \"2026-01-05T09:31:00Z\"}
  - {type: Finished, status: \"True\", lastTransitionTime: \"2026-01-05T11:30:00Z\"}
";
    let settings = Settings { pool: parse_pool("a100=8,h100=8").unwrap(), ..Settings::default() };
    let import = read(&written(text), &settings).expect("readable");
    let workload = &import.snapshot.workloads[0];
    assert_eq!(workload.key.as_str(), "evals/job-eval");
    let option = &workload.options[0];
    assert_eq!((workload.options.len(), option.flavor.as_str(), option.uses[0].1), (1, "h100", Amount(8)));
    assert_eq!(option.runtime.p50, Seconds(7200));
}

#[test]
fn every_object_that_is_left_out_is_counted_by_its_reason() {
    let items = [
        workload("a", "a", "09:00", "4", &DONE),
        workload("b", "b", "09:00", "", &[]),
        workload("c", "c", "09:00", "", &[("QuotaReserved", "!09:30")]),
        workload("d", "d", "09:00", "", &[("Finished", "09:30")]),
        workload("e", "e", "09:00", "2", &[("Finished", "09:30")]),
        workload("f", "f", "09:00", "2", &[("QuotaReserved", "09:30"), ("Finished", "09:30")]),
        workload("g", "g", "09:00", "99", &DONE),
    ];
    let report = import(&items).report;
    let dropped: Vec<String> =
        report.rows_dropped.iter().map(|(reason, count)| format!("{reason:?} {count}")).collect();
    assert_eq!(dropped, ["NoRuntime 2", "NeverScheduled 2", "NoSize 1", "LargerThanPool 1"]);
    assert_eq!((report.rows_read, report.rows_kept), (7, 1));
}

#[test]
fn work_that_still_runs_has_no_known_end() {
    let running = [("QuotaReserved", "09:10"), ("Admitted", "09:10")];
    let import = import(&[workload("a", "a", "09:00", "4", &running)]);
    assert_eq!((import.report.censored, import.past[0].started), (1, Some(at("09:10"))));
}

#[test]
fn an_evicted_workload_keeps_its_last_run_but_not_its_first_start() {
    let evicted = workload("a", "a", "09:00", "4", &DONE).replace(
        r#""conditions""#,
        r#""schedulingStats": {"evictions": [{"reason": "Preempted", "count": 2}]}, "conditions""#,
    );
    let import = import(&[evicted]);
    assert_eq!(import.past[0].started, None);
    assert!(import.report.statements.iter().any(|sentence| sentence.starts_with("1 Workloads were evicted before")));
}

#[test]
fn two_workloads_of_one_owner_are_two() {
    let items = [workload("job-a-1", "a", "09:00", "1", &DONE), workload("job-a-2", "a", "09:05", "1", &DONE)];
    let keys: Vec<String> = import(&items).snapshot.workloads.iter().map(|it| it.key.to_string()).collect();
    assert_eq!(keys, ["nlp/a", "nlp/job-a-2"]);
}

#[test]
fn other_objects_are_counted_and_not_looked_at() {
    let node = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "nlp"}}"#.to_owned();
    let import = import(&[workload("a", "a", "09:00", "1", &DONE), node]);
    assert_eq!(import.report.rows_read, 1);
    assert!(
        import.report.statements.iter().any(|sentence| sentence.starts_with("1 objects in the file are no Workloads"))
    );
}

#[test]
fn malformed_objects_are_named_by_line() {
    let items = [
        workload("a", "a", "09:00", "1", &DONE),
        workload("b", "b", "09:00", "1", &DONE).replace(r#""creationTimestamp": "2026-01-05T09:00:00Z","#, ""),
        workload("c", "c", "09:00", "many", &DONE),
        workload("d", "d", "09:20", "1", &DONE),
    ];
    let import = import(&items);
    assert_eq!((import.report.rows_read, import.report.dropped(DropReason::Malformed)), (4, 3));
    expect![[r#"
        SG003 trace:15:205: status.admission.podSetAssignments.0.resourceUsage.nvidia.com~1gpu: `many` is not a quantity such as 2, 500m or 16Gi
        SG062 trace:7:14: Workload nlp/b does not say when it was created
        SG065 trace:20:228: it was admitted before it was created, or finished before it was admitted
    "#]]
    .assert_eq(&told(&import.findings));
}

#[test]
fn text_that_is_no_manifest_is_refused() {
    let findings = read(&written("JobID|Start\n1|2\n"), &gpus(4)).expect_err("it must be refused");
    assert!(findings.iter().any(|finding| finding.code == "SG060"), "{}", told(&findings));
}
