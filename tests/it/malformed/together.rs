//! Objects that are sound by themselves and do not fit together: everything that is said of them, once.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use stagger::cli::diagnostics::{Look, render};
use stagger::kueue::Given;
use stagger::scenario::{Input, Limits, read, together, validate};
use stagger::units::Timestamp;

/// Monday 30 November 2026, 12:00 in Madrid.
const NOON: Timestamp = Timestamp(1_796_036_400);

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/malformed/together");
    let entries = std::fs::read_dir(folder).expect("the cases can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

fn reading(case: &Path) -> stagger::scenario::Reading {
    let name = case.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let bytes = std::fs::read(case).expect("a case can be read");
    read(&[Input::Bytes { name, bytes }], &Limits::default())
}

#[test]
fn what_does_not_fit_together_is_told_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    for case in cases {
        let findings = together(reading(&case), &Given::at(NOON)).findings;
        assert!(!findings.is_empty(), "{} fits together", case.display());
        expect_file![case.with_extension("txt")].assert_eq(&render(&findings, Look { width: 200, ..Look::default() }));
    }
}

#[test]
fn each_object_of_these_cases_is_sound_by_itself() {
    for case in cases() {
        let reading = reading(&case);
        assert_eq!(reading.findings, [], "{}", case.display());
        assert_eq!(validate(&reading.manifests), [], "{}", case.display());
    }
}

#[test]
fn what_is_wrong_with_one_object_is_told_once() {
    let text = "apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {name: a, namespace: b}\n\
                spec: {selector: {}, finishWithin: 1h, finishBy: soon, expectedRuntime: {p50: 2h, p90: 1h}}\n";
    let findings = together(read(&[Input::text("slo.yaml", text)], &Limits::default()), &Given::at(NOON)).findings;
    let mut codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["SG012", "SG031", "SG035", "SG037"]);
}
