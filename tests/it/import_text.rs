//! What the importers take for text, and what they do with text that is no trace.

use proptest::prelude::*;
use stagger::scenario::import::{LINE_BYTES_MAX, Settings, decode, openb, parse_pool, philly, pool_of, swf};

use crate::import_data::{gpus, told, written};

#[test]
fn bytes_that_are_no_text_are_refused_with_a_reason() {
    let refused = |bytes: &[u8]| decode("t", bytes.to_vec()).expect_err("must be refused").message;
    assert_eq!(refused(b""), "the file is empty");
    assert_eq!(refused(b"\xef\xbb\xbf \r\n"), "the file is empty");
    assert_eq!(refused(b"a\nb\n\x1f\x8b\xff"), "line 3 is not UTF-8 text");
    assert_eq!(refused(b"\xff\xfea\0"), "the file is UTF-16, and UTF-8 is expected");
}

#[test]
fn a_line_without_end_spoils_only_itself() {
    let long = "9".repeat(LINE_BYTES_MAX + 1);
    let file = written(&format!("; MaxProcs: 4\n{long}\n1 0 -1 5 2 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"));
    let import = swf::read(&file, &Settings::default(), swf::Choices::default()).expect("readable");
    assert_eq!(import.report.rows_kept, 1);
    assert_eq!(told(&import.findings), "SG068 trace:2: the line has 65537 bytes, more than 65536\n");
}

#[test]
fn pools_are_read_strictly() {
    assert_eq!(parse_pool("a100=8, h100=4").map(|pool| pool.len()), Ok(2));
    for wrong in ["", "a100", "a100=", "a100=x", "a100=0", "a100=-1", "A100=1", "a100=1,a100=2", "=1", "a_b=1"] {
        assert!(parse_pool(wrong).is_err(), "{wrong}");
    }
    assert!(pool_of(0).is_err());
    assert!(pool_of(i64::MAX).is_err());
}

/// Fragments of which traces are made, and what breaks them.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(",".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\"".to_owned()),
        Just(" ".to_owned()),
        Just("-".to_owned()),
        Just("strict".to_owned()),
        Just("Running".to_owned()),
        Just("; MaxProcs: 8\n".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        (0_i64..100).prop_map(|number| number.to_string()),
        "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_an_importer_panic(fragments in prop::collection::vec(fragment(), 0..80)) {
        let body = fragments.concat();
        let philly_header = "job_id,user,num_gpu,submit_time,duration,expect_time_list,expect_value_list,best_effort,job_type\n";
        let openb_header = "name,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";
        let file = |header: &str| written(&format!("{header}{body}\nx"));
        let _ = philly::read(&file(philly_header), &gpus(8));
        let _ = philly::read(&file(""), &gpus(8));
        let _ = swf::read(&file("; MaxProcs: 8\n"), &Settings::default(), swf::Choices::default());
        let nodes = written("sn,gpu,model\nn,8,T4\n");
        let _ = openb::read(&nodes, &file(openb_header), &Settings::default(), openb::Choices::default());
        let _ = openb::read(&file("sn,gpu,model\n"), &file(openb_header), &Settings::default(), openb::Choices::default());
    }

    #[test]
    fn every_row_of_numbers_is_kept_or_counted(rows in prop::collection::vec(prop::collection::vec(-2_i64..400, 18), 1..40)) {
        let lines: Vec<String> = rows
            .iter()
            .map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            .collect();
        let body = lines.join("
");
        if let Ok(import) = swf::read(&written(&body), &gpus(100), swf::Choices::default()) {
            let report = import.report;
            prop_assert_eq!(report.rows_kept + report.rows_dropped.values().sum::<u64>(), report.rows_read);
            prop_assert_eq!(import.snapshot.workloads.len() as u64, report.rows_kept);
        }
    }
}
