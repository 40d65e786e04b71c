//! Alibaba's openb trace: fractional GPUs, models as flavors, pods without an end.

use expect_test::expect;
use stagger::scenario::import::openb::{Censored, Choices, Serving, read};
use stagger::scenario::import::{DEFAULT_START, DropReason, Import, Settings};
use stagger::units::{Amount, Seconds};

use crate::import_data::{gpus, real, told, written};

const NODES: &str =
    "sn,cpu_milli,memory_mib,gpu,model\nn0,1,1,2,T4\nn1,1,1,2,T4\nn2,1,1,8,V100M16\nn3,1,1,8,V100M32\nn4,1,1,0,\n";
const HEADER: &str =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time";

fn real_files() -> Option<(std::sync::Arc<stagger::failure::SourceFile>, std::sync::Arc<stagger::failure::SourceFile>)>
{
    let nodes = real("alibaba-gpu-v2023/openb_node_list_gpu_node.csv")?;
    Some((nodes, real("alibaba-gpu-v2023/openb_pod_list_default.csv")?))
}

fn import(rows: &str, choices: Choices) -> Import {
    read(&written(NODES), &written(&format!("{HEADER}\n{rows}")), &Settings::default(), choices).expect("readable")
}

#[test]
fn the_real_trace_is_kept_but_for_what_never_ran() {
    let Some((nodes, pods)) = real_files() else { return };
    let choices = Choices { censored: Censored::EndWithTrace, ..Choices::default() };
    let Import { snapshot, report, findings, .. } =
        read(&nodes, &pods, &Settings::default(), choices).expect("the trace must be readable");
    assert_eq!(told(&findings), "");
    assert_eq!((report.rows_read, report.rows_kept, report.dropped(DropReason::NeverScheduled)), (8152, 7255, 897));
    assert_eq!((report.without_accelerator, report.censored, report.without_due), (1052, 0, 7255));
    assert_eq!(report.resource.as_str(), "alibabacloud.com/gpu-milli");
    assert_eq!(report.capacity, Amount(6_212_000));
    assert_eq!(
        (report.peak_demand.amount, report.peak_demand.at),
        (Amount(64_590), DEFAULT_START + Seconds(12_523_614))
    );
    assert_eq!((report.unit_seconds, report.hours.as_str()), (185_294_426_970, "51470.67"));
    let flavors: Vec<String> = snapshot
        .cells
        .iter()
        .zip(snapshot.nodes[0].quotas.values())
        .map(|(cell, quota)| format!("{}={}", cell.flavor, quota.nominal.0 / 1000))
        .collect();
    assert_eq!(flavors.join(" "), "p100=265 g3=312 v100m32=204 v100m16=195 g2=4392 t4=842 a10=2");
    assert!(
        report.statements.iter().any(|said| said.starts_with("5159 kept pods were still Running")),
        "{:?}",
        report.statements
    );
    assert!(report.statements.iter().any(|said| said.starts_with("4193 kept pods serve")), "{:?}", report.statements);
}

#[test]
fn pods_still_running_at_the_end_run_to_the_horizon_unless_told_otherwise() {
    let Some((nodes, pods)) = real_files() else { return };
    let report = |censored| {
        let choices = Choices { censored, ..Choices::default() };
        read(&nodes, &pods, &Settings::default(), choices).expect("readable").report
    };
    assert_eq!(report(Censored::RunToHorizon).censored, 34);
    assert_eq!((report(Censored::Drop).dropped(DropReason::Censored), report(Censored::Drop).rows_kept), (34, 7221));
}

#[test]
fn a_scaled_node_list_keeps_whole_nodes_of_every_model() {
    let Some((nodes, pods)) = real_files() else { return };
    let choices = Choices { scale_percent: 10, ..Choices::default() };
    let import = read(&nodes, &pods, &Settings::default(), choices).expect("readable");
    let quotas: Vec<i64> = import.snapshot.nodes[0].quotas.values().map(|quota| quota.nominal.0).collect();
    assert_eq!(quotas, [28_000, 32_000, 24_000, 21_000, 440_000, 94_000, 1_000]);
}

#[test]
fn fractions_are_thousandths_and_specs_choose_models() {
    let import = import(
        "half,1,1,1,460,,LS,Succeeded,0,100,10\n\
         pair,1,1,2,1000,V100M16|V100M32,BE,Failed,5,65,5\n\
         rare,1,1,1,1000,H100|V100M32,BE,Failed,6,65,6\n\
         none,1,1,1,1000,H100,BE,Failed,7,65,7\n\
         last,1,1,0,0,,BE,Succeeded,8,500,8\n",
        Choices::default(),
    );
    let rows: Vec<String> = import
        .snapshot
        .workloads
        .iter()
        .map(|workload| {
            let flavors: Vec<&str> = workload.options.iter().map(|option| option.flavor.as_str()).collect();
            let amount = workload.options[0].uses.first().map_or(0, |(_, amount)| amount.0);
            format!("{} {amount} for {} on {}\n", workload.key, workload.options[0].runtime.p50, flavors.join(","))
        })
        .collect();
    expect![[r"
        ls/half 460 for 1 min 30 s on t4,v100m16,v100m32
        be/pair 2000 for 1 min on v100m16,v100m32
        be/rare 1000 for 59 s on v100m32
        be/last 0 for 8 min 12 s on none
    "]]
    .assert_eq(&rows.concat());
    assert_eq!(import.report.dropped(DropReason::NoSuchFlavor), 1);
    assert_eq!(import.report.capacity, Amount(20_000));
    expect![[r"
        SG069 trace:4:17: gpu_spec names the model `H100`, which the node list lacks
        SG069 trace:5:17: gpu_spec names the model `H100`, which the node list lacks
    "]]
    .assert_eq(&told(&import.findings));
}

#[test]
fn only_a_pod_running_at_the_very_end_is_censored() {
    let rows =
        "a,1,1,1,1000,,LS,Running,0,50,0\nb,1,1,1,1000,,LS,Running,0,100,0\nc,1,1,1,1000,,BE,Succeeded,0,100,0\n";
    let kept = import(rows, Choices::default());
    let known: Vec<bool> = kept.snapshot.workloads.iter().map(|workload| workload.options[0].runtime.known).collect();
    assert_eq!((known, kept.report.censored), (vec![true, true, false], 1));
    let unknown = &kept.snapshot.workloads[2];
    assert_eq!(kept.snapshot.now + unknown.options[0].runtime.p50, kept.snapshot.horizon_end);
    assert!(!unknown.has_slo);
    let dropped = import(rows, Choices { serving: Serving::Drop, ..Choices::default() });
    assert_eq!((dropped.report.rows_kept, dropped.report.dropped(DropReason::Serving)), (1, 2));
}

#[test]
fn spoilt_pods_are_left_out_one_by_one_with_their_place() {
    let import = import(
        "ok,1,1,1,1000,,BE,Succeeded,0,100,0\n\
         ok,1,1,1,1000,,BE,Succeeded,0,100,0\n\
         more,1,1,1,1001,,BE,Succeeded,0,100,0\n\
         none,1,1,1,0,,BE,Succeeded,0,100,0\n\
         soon,1,1,1,1000,,BE,Succeeded,50,100,10\n\
         back,1,1,1,1000,,BE,Succeeded,0,10,50\n\
         phase,1,1,1,1000,,BE,Unknown,0,100,0\n\
         zero,1,1,1,1000,,BE,Succeeded,0,10,10\n\
         wait,1,1,1,1000,,BE,Pending,0,10,\n\
         lost,1,1,1,1000,,BE,Failed,0,,10\n",
        Choices::default(),
    );
    expect![[r"
        SG064 trace:4:12: gpu_milli is 1001, and between 0 and 1000 is expected
        SG065 trace:5:12: num_gpu is 1 but gpu_milli is 0
        SG065 trace:6:38: it was scheduled before it was created
        SG065 trace:7:33: it was deleted before it was scheduled
        SG066 trace:3:1: pod ok was read before
        SG069 trace:8:22: pod_phase is `Unknown`, and Running, Succeeded, Failed or Pending is expected
    "]]
    .assert_eq(&told(&import.findings));
    let report = import.report;
    assert_eq!((report.rows_read, report.rows_kept, report.dropped(DropReason::NoRuntime)), (10, 1, 2));
    assert_eq!(report.dropped(DropReason::NeverScheduled), 1);
}

#[test]
fn a_node_list_with_any_broken_row_is_refused() {
    let pods = written(&format!("{HEADER}\nok,1,1,1,1000,,BE,Succeeded,0,100,0\n"));
    let refused = |nodes: &str, percent: u32| {
        let choices = Choices { scale_percent: percent, ..Choices::default() };
        told(&read(&written(nodes), &pods, &Settings::default(), choices).expect_err("must be refused"))
    };
    expect![[r"
        SG063 trace:2:3: gpu is `two`, and a whole number is expected
        SG065 trace:2:5: the node has 2 GPUs but no model
        SG072 trace: line 3: node a is listed twice
        SG072 trace: the node list has no GPU
        SG072 trace: --scale 0% is not between 1% and 100%
    "]]
    .assert_eq(
        &[
            refused("sn,gpu,model\na,two,T4\n", 100),
            refused("sn,gpu,model\na,2,\n", 100),
            refused("sn,gpu,model\na,2,T4\na,2,T4\n", 100),
            refused("sn,gpu,model\na,0,\n", 100),
            refused(NODES, 0),
        ]
        .concat(),
    );
    assert!(
        read(&written("sn,gpu,model\na,two,T4\n"), &pods, &gpus(4), Choices::default()).is_ok(),
        "a named pool needs no list"
    );
}
