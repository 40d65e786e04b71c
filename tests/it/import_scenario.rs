//! An imported trace written as manifests is the same trace when it is read again.

use stagger::failure::Severity;
use stagger::kueue::{Given, assemble, codes};
use stagger::plan::snapshot::Snapshot;
use stagger::scenario::import::{Import, Settings, manifests, openb, parse_pool, philly, swf};
use stagger::scenario::{Input, Limits, read};
use stagger::units::Timestamp;

use crate::import_data::{gpus, real, told, written};

fn read_back(import: &Import) -> Snapshot {
    let yaml = manifests::yaml(import);
    let reading = read(&[Input::text("trace.yaml", &yaml)], &Limits::default());
    assert_eq!(told(&reading.findings), "");
    // The clock is elsewhere: the Scenario says what time it is.
    let assembled = assemble(&reading.manifests, &Given::at(Timestamp(0)));
    // That an end is not known is worth a warning, here as there.
    let findings: Vec<_> = assembled
        .findings
        .into_iter()
        .filter(|finding| finding.severity != Severity::Note && finding.code != codes::RUNTIME_UNKNOWN)
        .collect();
    assert_eq!(told(&findings), "");
    assembled.snapshot
}

fn survives(import: &Import) {
    let back = read_back(import);
    for (read, imported) in back.workloads.iter().zip(&import.snapshot.workloads) {
        assert_eq!(read, imported);
    }
    assert_eq!(back, import.snapshot);
}

#[test]
fn two_hundred_real_rows_survive_the_round_trip() {
    let Some(file) = real("chronus-philly-deadlines/trace_job_Philly_MIX1.first8000.csv") else { return };
    let pool = parse_pool("a100=32,v100=16").expect("the pool must be sound");
    survives(&philly::read(&file, &Settings { rows: Some(200), pool, ..Settings::default() }).expect("readable"));
}

#[test]
fn tiers_zero_requests_and_narrow_flavors_survive_the_round_trip() {
    let text = "job_id,user,num_gpu,submit_time,duration,expect_time_list,expect_value_list,best_effort,job_type\n\
         1,vc_a,1,0,96,159-189-229-289,10-8-5-2,0,soft\n\
         2,,0,5,96,159,10,0,strict\n\
         3,vc_b,6,7,96,200,10,0,strict\n\
         4,vc_b,6,7,96,7,10,1,best\n";
    let pool = parse_pool("a100=4,h100=8,h200=8").expect("the pool must be sound");
    survives(&philly::read(&written(text), &Settings { pool, ..gpus(1) }).expect("readable"));
}

#[test]
fn cores_and_their_time_zone_survive_the_round_trip() {
    let Some(file) = real("swf-nasa-ipsc/NASA-iPSC-1993-3.1-cln.first3000.swf") else { return };
    let settings = Settings { rows: Some(100), ..Settings::default() };
    survives(&swf::read(&file, &settings, swf::Choices::default()).expect("readable"));
}

#[test]
fn shared_gpus_and_unknown_runtimes_survive_the_round_trip() {
    let nodes = written("sn,gpu,model\nn0,2,T4\nn1,8,V100M16\nn2,8,V100M32\n");
    let pods = written(
        "name,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
         half,1,460,,LS,Succeeded,0,100,10\n\
         pair,2,1000,V100M16|V100M32,BE,Failed,5,65,5\n\
         open,1,500,,LS,Running,8,100,8\n",
    );
    survives(&openb::read(&nodes, &pods, &Settings::default(), openb::Choices::default()).expect("readable"));
}
