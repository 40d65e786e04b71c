//! An imported trace written as manifests is the same trace when it is read again.

use stagger::kueue::assemble::assemble;
use stagger::kueue::given::Given;
use stagger::plan::snapshot::Snapshot;
use stagger::scenario::import::{Import, Settings, manifests, parse_pool, philly};
use stagger::scenario::{Input, Limits, read};

use crate::import_data::{gpus, real, told, written};

fn read_back(import: &Import) -> Snapshot {
    let yaml = manifests::yaml(import);
    let reading = read(&[Input::text("trace.yaml", &yaml)], &Limits::default());
    assert_eq!(told(&reading.findings), "");
    let assembled = assemble(&reading.manifests, &Given::at(import.snapshot.now));
    assert_eq!(told(&assembled.findings), "");
    assembled.snapshot
}

#[test]
fn two_hundred_real_rows_survive_the_round_trip() {
    for path in ["chronus-philly-deadlines/trace_job_Philly_MIX1.first8000.csv"] {
        let Some(file) = real(path) else { return };
        let pool = parse_pool("a100=32,v100=16").expect("the pool must be sound");
        let settings = Settings { rows: Some(200), pool, ..Settings::default() };
        let import = philly::read(&file, &settings).expect("readable");
        assert_eq!(read_back(&import), import.snapshot);
    }
}
