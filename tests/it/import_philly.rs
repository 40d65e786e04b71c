//! Philly/Chronus traces: what the real files hold, and how due times are mapped.

use expect_test::expect;
use stagger::calendar::parse_instant;
use stagger::plan::snapshot::{DeadlinePolicy, Due, Tier};
use stagger::scenario::import::{DEFAULT_START, DropReason, Import, Settings, parse_pool, philly};
use stagger::units::{Amount, Seconds, Timestamp};

use crate::import_data::{gpus, real, told, written};

const SLO: &str = "chronus-philly-deadlines/trace_job_Philly_SLO.first8000.csv";
const MIX1: &str = "chronus-philly-deadlines/trace_job_Philly_MIX1.first8000.csv";
const HEADER: &str = "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,best_effort,job_type";

fn minute(count: i64) -> Timestamp {
    DEFAULT_START + Seconds(count * 60)
}

fn import(rows: &str) -> Import {
    philly::read(&written(&format!("{HEADER}\n{rows}")), &gpus(64)).expect("the trace must be readable")
}

#[test]
fn the_default_start_is_the_documented_instant() {
    assert_eq!(Ok(DEFAULT_START), parse_instant("2026-01-05T00:00:00Z"));
}

#[test]
fn the_whole_deadline_trace_is_kept_and_counted() {
    let Some(file) = real(SLO) else { return };
    let Import { snapshot, report, findings, .. } =
        philly::read(&file, &gpus(512)).expect("the trace must be readable");
    assert_eq!(told(&findings), "");
    assert_eq!((report.rows_read, report.rows_kept, report.rows_beyond_limit), (8000, 8000, 0));
    assert_eq!((report.with_hard_due, report.with_soft_due, report.without_due), (8000, 0, 0));
    assert_eq!((report.without_accelerator, report.tenants, report.censored), (55, 11, 0));
    assert_eq!((report.peak_demand.amount, report.peak_demand.at), (Amount(537), minute(17_843)));
    assert_eq!(report.unit_seconds, 5_915_469 * 60);
    assert_eq!(report.hours, "98591.15");
    assert_eq!((report.first_submission, report.last_submission), (minute(1), minute(20_151)));
    assert_eq!(report.last_end_unhindered, minute(23_808));
    assert_eq!(snapshot.workloads.len(), 8000);
    assert!(snapshot.workloads.is_sorted_by_key(|workload| (workload.created, workload.key.clone())));
    assert!(snapshot.horizon_end > minute(24_900), "the last due time lies inside the horizon");
}

#[test]
fn best_effort_rows_have_no_due_time() {
    let Some(file) = real(MIX1) else { return };
    let report = philly::read(&file, &gpus(512)).expect("the trace must be readable").report;
    assert_eq!((report.rows_kept, report.with_hard_due, report.without_due), (8000, 5622, 2378));
    assert_eq!((report.without_accelerator, report.unit_seconds), (59, 5_758_892 * 60));
    assert_eq!((report.peak_demand.amount, report.peak_demand.at), (Amount(545), minute(7260)));
}

#[test]
fn the_first_rows_are_those_of_the_file_not_of_the_calendar() {
    let Some(file) = real(SLO) else { return };
    let settings = Settings { rows: Some(500), ..gpus(64) };
    let report = philly::read(&file, &settings).expect("the trace must be readable").report;
    assert_eq!((report.rows_read, report.rows_kept, report.rows_beyond_limit), (500, 500, 7500));
    assert_eq!((report.peak_demand.amount, report.unit_seconds), (Amount(92), 499_682 * 60));
    assert_eq!((report.first_submission, report.last_submission), (minute(12), minute(20_134)));
}

#[test]
fn rows_larger_than_every_flavor_are_left_out_and_named() {
    let Some(file) = real(SLO) else { return };
    let import = philly::read(&file, &gpus(16)).expect("the trace must be readable");
    assert_eq!((import.report.rows_kept, import.report.dropped(DropReason::LargerThanPool)), (7994, 6));
    assert_eq!(import.findings.len(), 6);
    assert_eq!(import.findings[0].code, "SG067");
}

#[test]
fn the_same_file_gives_the_same_digest_and_another_pool_another() {
    let Some(file) = real(SLO) else { return };
    let digest =
        |count| philly::read(&file, &Settings { rows: Some(50), ..gpus(count) }).expect("readable").report.digest;
    assert_eq!(digest(64), digest(64));
    assert_ne!(digest(64), digest(65));
}

#[test]
fn soft_due_times_become_tiers_step_by_step() {
    // By 159 minutes it earns 10, by 189 8, by 229 5, by 289 2, later nothing.
    let import = import("0,vc_ed69ec,1,5601,5530,mobilenet_v2,96,5,159-189-229-289,10-8-5-2,0,soft\n");
    let workload = &import.snapshot.workloads[0];
    let tier = |minutes: i64, value_percent| Tier { after: Seconds(minutes * 60), value_percent };
    let tiers = vec![tier(0, 80), tier(30, 50), tier(70, 20), tier(130, 0)];
    let due = Due { at: minute(5601 + 159), policy: DeadlinePolicy::Soft, tiers };
    assert_eq!((workload.value, workload.due.as_ref()), (10, Some(&due)));
    for (after, percent) in [(159, 100), (160, 80), (189, 80), (190, 50), (229, 50), (230, 20), (289, 20), (290, 0)] {
        assert_eq!(due.value_percent_at(minute(5601 + after)), percent, "an end {after} minutes after submission");
    }
}

#[test]
fn strict_is_hard_and_worthless_when_late() {
    let import = import("7,vc_a,4,10,1,vgg16,30,5,45,10,0,strict\n");
    let workload = &import.snapshot.workloads[0];
    assert_eq!(workload.key.as_str(), "vc-a/job-7");
    assert_eq!(workload.tenant.as_ref().map(ToString::to_string).as_deref(), Some("vc-a"));
    assert_eq!(workload.due, Some(Due { at: minute(55), policy: DeadlinePolicy::Hard, tiers: Vec::new() }));
    assert_eq!((workload.created, workload.earliest_start), (minute(10), minute(10)));
    assert_eq!(workload.options[0].runtime.p50, Seconds(1800));
}

#[test]
fn rows_without_gpus_use_no_cell_and_pools_give_an_option_per_flavor() {
    let file = written(&format!("{HEADER}\n1,a,0,0,1,m,5,1,9,10,0,strict\n2,a,3,0,1,m,5,1,9,10,0,strict\n"));
    let pool = parse_pool("a100=2,h100=4,l4=3").expect("the pool must be sound");
    let import = philly::read(&file, &Settings { pool, ..Settings::default() }).expect("readable");
    let flavors = |index: usize| -> Vec<String> {
        import.snapshot.workloads[index].options.iter().map(|option| option.flavor.to_string()).collect()
    };
    assert!(import.snapshot.workloads[0].options[0].uses.is_empty());
    assert_eq!(flavors(1), ["h100", "l4"], "an option that never fits is no option");
    assert_eq!((import.report.without_accelerator, import.report.capacity), (1, Amount(9)));
}

#[test]
fn users_that_differ_only_in_what_kubernetes_forbids_stay_apart() {
    let import = import(
        "1,vc_a,1,0,1,m,5,1,9,10,0,strict\n2,vc-a,1,1,1,m,5,1,9,10,0,strict\n3,VC_A,1,2,1,m,5,1,9,10,0,strict\n",
    );
    let mut namespaces: Vec<&str> = import.snapshot.workloads.iter().map(|workload| workload.key.namespace()).collect();
    namespaces.dedup();
    assert_eq!((namespaces.len(), import.report.tenants), (3, 3), "{namespaces:?}");
}

#[test]
fn spoilt_rows_are_left_out_one_by_one_with_their_place() {
    let import = import(
        "ok,vc_a,1,0,1,m,5,1,9,10,0,strict\n\
         few,vc_a,1\n\
         word,vc_a,one,0,1,m,5,1,9,10,0,strict\n\
         minus,vc_a,-1,0,1,m,5,1,9,10,0,strict\n\
         huge,vc_a,99999999999999999999,0,1,m,5,1,9,10,0,strict\n\
         late,vc_a,1,9223372036854775807,1,m,5,1,9,10,0,strict\n\
         kind,vc_a,1,0,1,m,5,1,9,10,0,firm\n\
         flag,vc_a,1,0,1,m,5,1,9,10,1,strict\n\
         lists,vc_a,1,0,1,m,5,1,9-12,10,0,soft\n\
         fall,vc_a,1,0,1,m,5,1,12-9,10-5,0,soft\n\
         rise,vc_a,1,0,1,m,5,1,9-12,5-10,0,soft\n\
         empty,vc_a,1,0,1,m,5,1,,10,0,strict\n\
         ok,vc_a,1,0,1,m,5,1,9,10,0,strict\n\
         still,vc_a,1,0,1,m,0,1,9,10,0,strict\n\
         quote,\"vc_a,1,0,1,m,5,1,9,10,0,strict\n\
         fine,\"vc_a\",1,0,1,m,5,1,9,10,0,strict\n",
    );
    expect![[r"
        SG062 trace:3:1: the row has 3 fields where the header has 12
        SG062 trace:16:1: a quoted field is not closed on its line
        SG063 trace:4:11: num_gpu is `one`, and a whole number is expected
        SG063 trace:13:24: expect_time_list is ``, and one to 16 whole numbers from 0 to 52704000 with - between them are expected
        SG064 trace:5:12: num_gpu is -1, and between 0 and 1000000000 is expected
        SG064 trace:6:11: num_gpu is 99999999999999999999, and between 0 and 1000000000 is expected
        SG064 trace:7:13: submit_time is 9223372036854775807, and between 0 and 52704000 is expected
        SG065 trace:9:30: job_type is strict but best_effort is 1
        SG065 trace:10:24: 2 due times stand beside 1 values
        SG065 trace:11:23: expect_time_list must rise
        SG065 trace:12:28: expect_value_list must begin above 0 and never rise
        SG066 trace:14:1: job ok was read before
        SG069 trace:8:30: job_type is `firm`, and strict, soft or best is expected
    "]]
    .assert_eq(&told(&import.findings));
    let report = &import.report;
    assert_eq!((report.rows_read, report.rows_kept), (16, 2));
    assert_eq!((report.dropped(DropReason::Malformed), report.dropped(DropReason::DuplicateId)), (12, 1));
    assert_eq!(report.dropped(DropReason::NoRuntime), 1);
    assert_eq!(report.rows_kept + report.rows_dropped.values().sum::<u64>(), report.rows_read);
}

#[test]
fn findings_beyond_the_first_ten_of_a_code_are_counted() {
    let rows: Vec<String> = (0..25).map(|row| format!("{row},a,x,0,1,m,5,1,9,10,0,strict\n")).collect();
    let rows = rows.concat();
    let import = import(&format!("{rows}ok,a,1,0,1,m,5,1,9,10,0,strict\n"));
    assert_eq!(import.findings.len(), 11);
    assert_eq!(import.findings[10].message, "15 more findings of code SG063 are not shown");
}

#[test]
fn line_ends_byte_order_marks_and_column_order_do_not_matter() {
    let unix = "user,job_id,num_gpu,submit_time,duration,expect_time_list,expect_value_list,best_effort,job_type,note\na,1,1,0,5,9,10,0,strict,x\n";
    let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
    let read = |text: &str| philly::read(&written(text), &gpus(4)).expect("readable");
    assert_eq!(read(unix), read(&windows));
    assert_eq!(told(&read(unix).findings), "SG061 trace: columns that are not used: note\n");
}

#[test]
fn unusable_files_are_refused() {
    let refused = |text: &str, pool: bool| {
        let settings = if pool { gpus(4) } else { Settings::default() };
        told(&philly::read(&written(text), &settings).expect_err("the file must be refused"))
    };
    expect![[r"
        SG061 trace:1:1: the header names `user` twice
        SG061 trace:1:1: the header has no column `best_effort`
        ---
        SG060 trace: none of the 0 rows read can be planned
        ---
        SG072 trace: the trace does not say how many GPUs the cluster had
    "]]
    .assert_eq(
        &[
            refused(&format!("{},user\n", HEADER.replace("best_effort", "x")), true),
            refused(&format!("{HEADER}\n"), true),
            refused(HEADER, false),
        ]
        .join("---\n"),
    );
}
