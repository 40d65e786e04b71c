//! The Standard Workload Format: the real log, and the format's traps one by one.

use expect_test::expect;
use stagger::scenario::import::swf::{Choices, RuntimeFrom, read};
use stagger::scenario::import::{DropReason, Import, Settings};
use stagger::units::{Amount, Seconds, Timestamp};

use crate::import_data::{gpus, real, told, written};

const NASA: &str = "swf-nasa-ipsc/NASA-iPSC-1993-3.1-cln.first3000.swf";
const START: Timestamp = Timestamp(749_458_803);

fn import(lines: &str, choices: Choices) -> Import {
    read(&written(&format!("; MaxProcs: 64\n{lines}")), &Settings::default(), choices).expect("readable")
}

fn per_gpu(rate: i64) -> Choices {
    Choices { procs_per_gpu: Some(rate), ..Choices::default() }
}

#[test]
fn the_real_log_is_replayed_as_cores_on_its_own_machine() {
    let Some(file) = real(NASA) else { return };
    let Import { snapshot, report, findings, .. } =
        read(&file, &Settings::default(), Choices::default()).expect("the log must be readable");
    assert_eq!(told(&findings), "");
    assert_eq!((report.rows_read, report.rows_kept, report.dropped(DropReason::NoRuntime)), (3000, 2972, 28));
    assert_eq!((report.resource.as_str(), report.capacity), ("cpu", Amount(128_000)));
    assert_eq!((report.peak_demand.amount, report.peak_demand.at), (Amount(128_000), START));
    assert_eq!(report.unit_seconds, 69_158_821_000);
    assert_eq!(report.hours, "19210.78");
    assert_eq!((report.tenants, report.without_due), (40, 2972));
    assert_eq!(
        (report.last_submission, report.last_end_unhindered),
        (START + Seconds(1_495_582), START + Seconds(1_495_687))
    );
    assert_eq!((snapshot.now, snapshot.time_zone.as_str()), (START, "US/Pacific"));
    let missing: Vec<(&str, u64)> = report.missing.iter().map(|field| (field.field, field.permille)).collect();
    expect![[r#"
        [("average CPU time", 1000), ("executable", 36), ("partition", 1000), ("preceding job", 1000), ("queue", 1000), ("requested memory", 1000), ("requested processors", 1000), ("requested time", 1000), ("status", 1000), ("think time", 1000), ("used memory", 1000), ("wait time", 1000)]"#]]
    .assert_eq(&format!("{missing:?}"));
    expect![[r#"
        [
            "processors are taken as cpu cores, and the pool counts cores: --procs-per-gpu makes GPUs of them",
            "no wait times are recorded: the submit times may really be start times",
            "recorded run times are taken as known in advance",
        ]"#]]
    .assert_eq(&format!("{:#?}", report.statements));
}

#[test]
fn processors_become_gpus_only_at_a_stated_rate_rounded_up() {
    let Some(file) = real(NASA) else { return };
    let report = read(&file, &Settings::default(), per_gpu(4)).expect("the log must be readable").report;
    assert_eq!((report.resource.as_str(), report.capacity), ("nvidia.com/gpu", Amount(32)));
    assert_eq!((report.peak_demand.amount, report.unit_seconds), (Amount(32), 17_424_204));
    assert!(
        report.statements.iter().any(|said| said.starts_with("1208 jobs use part of a GPU's share")),
        "{:?}",
        report.statements
    );
}

#[test]
fn bursts_are_counted_once_with_or_without_a_line_for_the_whole_job() {
    let import = import(
        "1 0 -1 300 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         1 0 -1 100 4 -1 -1 -1 -1 -1 2 1 1 1 1 1 -1 -1\n\
         1 150 -1 200 4 -1 -1 -1 -1 -1 3 1 1 1 1 1 -1 -1\n\
         2 10 -1 50 2 -1 -1 -1 -1 -1 2 1 1 1 1 1 -1 -1\n\
         2 90 -1 70 4 -1 -1 -1 -1 -1 4 1 1 1 1 1 -1 -1\n",
        per_gpu(1),
    );
    assert_eq!((import.report.rows_kept, import.report.dropped(DropReason::PartialRun)), (2, 3));
    let second = &import.snapshot.workloads[1];
    assert_eq!((second.options[0].runtime.p50, second.options[0].uses[0].1), (Seconds(120), Amount(4)));
}

#[test]
fn failed_and_cancelled_jobs_count_for_as_long_as_they_ran() {
    let import = import(
        "1 0 5 60 4 -1 -1 -1 -1 -1 0 1 1 1 1 1 -1 -1\n\
         2 1 5 60 4 -1 -1 -1 -1 -1 5 1 1 1 1 1 -1 -1\n\
         3 2 -1 0 -1 -1 -1 4 900 -1 5 1 1 1 1 1 -1 -1\n\
         4 3 -1 -1 -1 -1 -1 4 900 -1 5 1 1 1 1 1 -1 -1\n\
         5 4 -1 0 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         6 5 -1 60 -1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n",
        per_gpu(1),
    );
    let report = &import.report;
    assert_eq!(report.rows_kept, 2);
    assert_eq!((report.dropped(DropReason::Cancelled), report.dropped(DropReason::NoRuntime)), (2, 1));
    assert_eq!(report.dropped(DropReason::NoSize), 1);
}

#[test]
fn a_requested_time_is_a_runtime_only_on_request() {
    let line = "1 0 5 60 4 -1 -1 -1 3600 -1 1 1 1 1 1 1 -1 -1\n2 0 5 60 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    let runtimes = |choices: Choices| -> Vec<i64> {
        import(line, choices).snapshot.workloads.iter().map(|workload| workload.options[0].runtime.p50.0).collect()
    };
    assert_eq!(runtimes(per_gpu(1)), [60, 60]);
    assert_eq!(runtimes(Choices { runtime: RuntimeFrom::Requested, ..per_gpu(1) }), [3600]);
}

#[test]
fn fractions_are_taken_and_never_shorten_a_run() {
    let import = import("1 10.9 -1 59.01 4.0 0.5 12.25 -1 60.0 -1 1 1 1 1 1 1 -1 -1\n", Choices::default());
    let workload = &import.snapshot.workloads[0];
    assert_eq!((workload.created - import.snapshot.now, workload.options[0].runtime.p50), (Seconds(10), Seconds(60)));
    assert_eq!(workload.options[0].uses[0].1, Amount(4000));
}

#[test]
fn unknown_users_share_a_namespace_and_have_no_tenant() {
    let import = import("1 0 -1 5 4 -1 -1 -1 -1 -1 1 -1 1 1 1 1 -1 -1\n", Choices::default());
    assert_eq!(
        (import.snapshot.workloads[0].key.as_str(), &import.snapshot.workloads[0].tenant),
        ("nobody/job-1", &None)
    );
}

#[test]
fn spoilt_lines_are_left_out_one_by_one_with_their_place() {
    let import = import(
        "1 0 -1 5 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         2 0 -1 5 4\n\
         3 0 -1 five 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         4 0 -1 -7 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         5 99999999999999999999 -1 5 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         6 -1 -1 5 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         7 0 -1 5 4.5 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         8 0 -1 1e3 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         1 0 -1 5 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         9 0 -1 5 65 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n\
         10 0 -1 5 4 -1 -1 -1 -1 -1 9 1 1 1 1 1 -1 -1\n",
        Choices::default(),
    );
    expect![[r"
        SG062 trace:3:1: the line has 5 fields, and 18 are expected
        SG063 trace:4:8: run time is `five`, and a number is expected
        SG063 trace:8:10: allocated processors is `4.5`, and a whole number is expected
        SG063 trace:9:8: run time is `1e3`, and a number is expected
        SG064 trace:5:8: run time is -7, and -1 or 0 to 3162240000 is expected
        SG064 trace:6:3: submit time is 99999999999999999999, and -1 or 0 to 3162240000 is expected
        SG064 trace:7:3: submit time is -1, and the job needs one
        SG064 trace:12:28: status is 9, and -1 or 0 to 5 is expected
        SG066 trace:10: job 1 was read before
        SG067 trace:11: user-1/job-9 asks for 65 cpu, and the largest flavor it may use has 64
    "]]
    .assert_eq(&told(&import.findings));
    assert_eq!((import.report.rows_read, import.report.rows_kept), (11, 1));
}

#[test]
fn a_machine_of_unknown_size_or_a_rate_of_nothing_is_refused() {
    let line = "1 0 -1 5 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    let refused =
        |text: &str, choices| told(&read(&written(text), &Settings::default(), choices).expect_err("must be refused"));
    assert_eq!(refused(line, Choices::default()), "SG072 trace: the header has no usable MaxProcs\n");
    assert_eq!(
        refused(&format!("; MaxProcs: 4\n{line}"), per_gpu(8)),
        "SG072 trace: MaxProcs is less than --procs-per-gpu\n"
    );
    assert_eq!(
        refused(&format!("; MaxProcs: 4\n{line}"), per_gpu(0)),
        "SG072 trace: --procs-per-gpu must be at least 1\n"
    );
    assert!(read(&written(line), &gpus(4), Choices::default()).is_ok(), "a named pool needs no header");
}

#[test]
fn an_unknown_zone_falls_back_to_utc_and_says_so() {
    let text = "; MaxProcs: 4\n; TimeZoneString: Mars/Olympus\n; UnixStartTime: 100\n1 0 -1 5 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    let import = read(&written(text), &Settings::default(), Choices::default()).expect("readable");
    assert_eq!((import.snapshot.now, import.snapshot.time_zone.as_str()), (Timestamp(100), "UTC"));
    assert_eq!(
        told(&import.findings),
        "SG069 trace: TimeZoneString `Mars/Olympus` is not an IANA time zone; UTC is used\n"
    );
}
