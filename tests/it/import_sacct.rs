//! Slurm's accounting: the shapes that sacct prints, and its traps one by one.

use expect_test::expect;
use stagger::calendar::parse_instant;
use stagger::scenario::import::sacct::{DOCUMENTED, read};
use stagger::scenario::import::{DropReason, Format, Import, Request, Settings, TraceFile, parse_pool, run};
use stagger::units::{Amount, Seconds, Timestamp};

use crate::import_data::{gpus, told, written};

const TITLE: &str = "JobID|JobIDRaw|Account|User|Submit|Eligible|Start|End|State|ReqTRES|AllocTRES|Timelimit|JobName";

fn import(rows: &str) -> Import {
    read(&written(&format!("{TITLE}\n{rows}")), &gpus(64)).expect("the log must be readable")
}

fn at(clock: &str) -> Timestamp {
    parse_instant(&format!("2026-01-05T{clock}:00Z")).unwrap()
}

/// A row of one job on 5 January, by its times and what differs.
fn row(id: &str, times: [&str; 4], state: &str, tres: [&str; 2], limit: &str) -> String {
    let time = |text: &str| if text.len() == 5 { format!("2026-01-05T{text}:00") } else { text.to_owned() };
    let [submit, eligible, start, end] = times.map(time);
    format!("{id}|{id}|nlp|ada|{submit}|{eligible}|{start}|{end}|{state}|{}|{}|{limit}|train\n", tres[0], tres[1])
}

fn done(id: &str) -> String {
    let tres = "billing=8,cpu=8,gres/gpu=4,mem=64G,node=1";
    row(id, ["09:00", "09:00", "09:30", "11:00"], "COMPLETED", [tres, tres], "1-00:00:00")
}

#[test]
fn a_job_becomes_a_workload_with_its_wait_its_runtime_and_its_limit() {
    let Import { snapshot, past, report, findings } = import(&done("4103900"));
    assert_eq!(told(&findings), "");
    let workload = &snapshot.workloads[0];
    assert_eq!(workload.key.as_str(), "nlp/job-4103900");
    assert_eq!((workload.created, workload.earliest_start, snapshot.now), (at("09:00"), at("09:00"), at("09:00")));
    assert_eq!(workload.options[0].uses[0].1, Amount(4));
    assert_eq!((workload.options[0].runtime.p50, workload.options[0].runtime.known), (Seconds(5400), true));
    assert_eq!((past[0].started, past[0].limit), (Some(at("09:30")), Some(Seconds::DAY)));
    assert_eq!((report.format, report.rows_read, report.rows_kept, report.tenants), ("sacct", 1, 1, 1));
    assert!(workload.due.is_none(), "Slurm keeps no due times");
}

#[test]
fn without_a_title_line_the_documented_columns_are_meant() {
    let place = |name: &str| DOCUMENTED.iter().position(|column| *column == name).unwrap();
    let mut fields = vec![""; DOCUMENTED.len()];
    for (name, text) in [
        ("jobid", "77"),
        ("user", "ada"),
        ("submit", "2026-01-05T09:00:00"),
        ("eligible", "2026-01-05T09:10:00"),
        ("start", "2026-01-05T09:30:00"),
        ("end", "2026-01-05T10:00:00"),
        ("state", "COMPLETED"),
        ("alloctres", "cpu=4,gres/gpu=1"),
        ("jobname", "a|b"),
    ] {
        fields[place(name)] = text;
    }
    let import = read(&written(&fields.join("|")), &gpus(8)).expect("readable");
    assert_eq!(import.snapshot.workloads[0].key.as_str(), "ada/job-77");
    assert_eq!(import.snapshot.now, at("09:10"), "a wait counts from Eligible");
}

#[test]
fn typed_and_untyped_gpus_are_the_same_gpus() {
    let tres = |text: &str| {
        let rows = row("1", ["09:00", "09:00", "09:00", "10:00"], "COMPLETED", ["", text], "");
        let settings = Settings { pool: parse_pool("v100=8,p100=8").unwrap(), ..Settings::default() };
        let import = read(&written(&format!("{TITLE}\n{rows}")), &settings).expect("readable");
        let options = &import.snapshot.workloads[0].options;
        let flavors: Vec<&str> = options.iter().map(|option| option.flavor.as_str()).collect();
        (options[0].uses[0].1.0, flavors.join("+"))
    };
    assert_eq!(tres("gres/gpu:p100=4,gres/gpu=4"), (4, "p100".to_owned()));
    assert_eq!(tres("gres/gpu:p100=2"), (2, "p100".to_owned()));
    assert_eq!(tres("gres/gpu:p100=2,gres/gpu:v100=2"), (4, "v100+p100".to_owned()), "of two types it may use either");
    assert_eq!(tres("gres/gpu=3,gres/gpumem=80G,gres/gpuutil=50"), (3, "v100+p100".to_owned()));
    assert_eq!(tres("gres/gpu:h100=2"), (2, "v100+p100".to_owned()), "the pool has no such type");
}

#[test]
fn a_finished_row_without_nodes_counts_what_it_asked_for() {
    let rows = row("1", ["09:00", "09:00", "09:00", "10:00"], "COMPLETED", ["cpu=2,gres/gpu=2", ""], "");
    assert_eq!(import(&rows).snapshot.workloads[0].options[0].uses[0].1, Amount(2));
    let cpu_only =
        row("1", ["09:00", "09:00", "09:00", "10:00"], "COMPLETED", ["cpu=2,gres/gpu=2", "cpu=2,node=1"], "");
    assert_eq!(import(&cpu_only).report.without_accelerator, 1, "an allocation without GPUs is one");
}

#[test]
fn every_row_that_is_left_out_is_counted_by_its_reason() {
    let tres = ["cpu=1,gres/gpu=1", "cpu=1,gres/gpu=1"];
    let rows = [
        done("1"),
        row("1.batch", ["09:00", "09:00", "09:30", "11:00"], "COMPLETED", tres, ""),
        row("2", ["09:00", "Unknown", "Unknown", "Unknown"], "PENDING", tres, "01:00:00"),
        row("3_[9-11,20]", ["09:00", "09:00", "Unknown", "Unknown"], "PENDING", tres, "01:00:00"),
        row("4", ["09:00", "09:00", "None", "09:05"], "CANCELLED by 102216", tres, ""),
        row("5", ["09:00", "09:00", "09:10", "09:10"], "CANCELLED by 102216", tres, ""),
        row("6", ["09:00", "09:00", "09:10", "09:10"], "FAILED", tres, ""),
        row("7", ["09:00", "09:00", "09:20", "09:40"], "CANCELLED by 102216", tres, ""),
        done("1"),
    ];
    let report = import(&rows.concat()).report;
    let dropped: Vec<String> =
        report.rows_dropped.iter().map(|(reason, count)| format!("{reason:?} {count}")).collect();
    assert_eq!(dropped, ["DuplicateId 1", "NoRuntime 1", "NeverScheduled 2", "Cancelled 2", "PartialRun 1"]);
    assert_eq!((report.rows_read, report.rows_kept), (9, 2));
}

#[test]
fn work_that_still_runs_has_no_known_end() {
    let tres = ["gres/gpu=1", "gres/gpu=1"];
    let rows = [done("1"), row("2", ["10:00", "10:00", "10:00", "Unknown"], "RUNNING", tres, "UNLIMITED")].concat();
    let import = import(&rows);
    assert_eq!(import.report.censored, 1);
    assert!(!import.snapshot.workloads[1].options[0].runtime.known);
    assert_eq!(import.past[1].limit, None);
}

#[test]
fn array_tasks_are_jobs_of_their_own() {
    let rows = [done("4103947_100"), done("4103947_101")].concat();
    let keys: Vec<String> = import(&rows).snapshot.workloads.iter().map(|it| it.key.to_string()).collect();
    assert_eq!(keys, ["nlp/job-4103947-100", "nlp/job-4103947-101"]);
}

#[test]
fn a_requeued_job_is_counted_once_from_its_first_start_with_its_last_run() {
    let tres = ["gres/gpu=1", "gres/gpu=1"];
    let rows = [
        row("8", ["09:00", "09:00", "09:10", "09:20"], "NODE_FAIL", tres, ""),
        row("8", ["09:00", "09:00", "10:00", "12:00"], "COMPLETED", tres, ""),
    ];
    let Import { snapshot, past, report, .. } = import(&rows.concat());
    assert_eq!((report.rows_kept, report.dropped(DropReason::PartialRun)), (1, 1));
    assert_eq!((past[0].started, snapshot.workloads[0].options[0].runtime.p50), (Some(at("09:10")), Seconds(7200)));
}

#[test]
fn limits_are_read_in_all_their_forms_and_never_taken_for_runtimes() {
    let limit = |text: &str| {
        let rows = row("1", ["09:00", "09:00", "09:00", "10:00"], "COMPLETED", ["", "gres/gpu=1"], text);
        let import = import(&rows);
        assert_eq!(import.snapshot.workloads[0].options[0].runtime.p50, Seconds::HOUR);
        import.past[0].limit.map(|limit| limit.0)
    };
    assert_eq!(limit("3-00:00:00"), Some(259_200));
    assert_eq!(limit("12:30:05"), Some(45_005));
    assert_eq!(limit("30:00"), Some(1800));
    assert_eq!([limit("UNLIMITED"), limit("Partition_Limit"), limit("")], [None, None, None]);
}

#[test]
fn malformed_rows_are_named_by_line_and_column() {
    let tres = ["gres/gpu=1", "gres/gpu=1"];
    let times = ["09:00", "09:00", "09:00", "10:00"];
    let rows = [
        done("1"),
        "2|2|nlp|ada\n".to_owned(),
        row("3", ["yesterday", "09:00", "09:00", "10:00"], "COMPLETED", tres, ""),
        row("4", times, "DONE", tres, ""),
        row("5", ["09:00", "09:00", "10:00", "09:30"], "COMPLETED", tres, ""),
        row("6", times, "COMPLETED", ["", "gres/gpu=two"], ""),
        row("7", times, "COMPLETED", tres, "soon"),
        row("", times, "COMPLETED", tres, ""),
        row("8", ["09:30", "09:00", "09:00", "10:00"], "COMPLETED", tres, ""),
    ];
    let import = import(&rows.concat());
    assert_eq!(import.report.dropped(DropReason::Malformed), 8);
    expect![[r#"
        SG062 trace:3:1: the row has 4 fields where 13 are expected
        SG062 trace:9:1: jobid is empty
        SG063 trace:4:13: submit is `yesterday`, and a time such as 2026-01-05T10:00:00 is expected
        SG063 trace:7:104: alloctres is `gres/gpu=two`: a number of GPUs in it is none
        SG063 trace:8:125: timelimit is `soon`, and [days-]hours:minutes:seconds or UNLIMITED is expected
        SG065 trace:6:73: it ended before it started
        SG065 trace:10:53: it started before it was submitted
        SG069 trace:5:93: state is `DONE`, which Slurm does not have
    "#]]
    .assert_eq(&told(&import.findings));
}

#[test]
fn a_title_line_that_says_too_little_is_refused() {
    let refused = |title: &str| {
        let findings = read(&written(&format!("{title}\n1|x")), &gpus(8)).expect_err("it must be refused");
        told(&findings)
    };
    expect![[r#"
        SG061 trace:1:1: the title line has no column `end`
        SG061 trace:1:1: the title line has neither `alloctres` nor `reqtres`
        SG061 trace:1:1: the title line names `submit` twice
    "#]]
    .assert_eq(&refused("JobID|Submit|Submit|Start|State"));
}

#[test]
fn accounting_needs_a_pool_and_says_so() {
    let file = TraceFile { path: "jobs.txt".to_owned(), bytes: done("1").into_bytes() };
    let request = Request { format: Format::Sacct, settings: Settings::default() };
    let findings = run(&request, vec![file]).expect_err("it must be refused");
    assert_eq!(told(&findings), "SG072 jobs.txt: accounting does not say how many GPUs the cluster had\n");
}

#[test]
fn another_start_moves_all_of_it() {
    let settings = Settings { start: Some(at("00:00")), ..gpus(8) };
    let import = read(&written(&format!("{TITLE}\n{}", done("1"))), &settings).expect("readable");
    assert_eq!((import.snapshot.now, import.past[0].started), (at("00:00"), Some(at("00:30"))));
}
