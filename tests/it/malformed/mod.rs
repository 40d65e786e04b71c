//! Malformed input and what is said about it: one file or folder per case, the expected text beside it.
//!
//! `UPDATE_EXPECT=1 cargo test --test it malformed` rewrites the texts; read the difference before committing it.

mod arbitrary;
mod together;

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use stagger::cli::diagnostics::{Look, render};
use stagger::scenario::{Input, Limits, read, validate};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/malformed/cases")
}

/// Everything that is said about a case, with paths as if `cases` were the current folder.
fn told(case: &Path) -> String {
    let name = case.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let input = if case.is_dir() {
        Input::Path(case.to_owned())
    } else {
        Input::Bytes { name, bytes: std::fs::read(case).expect("a case can be read") }
    };
    let reading = read(&[input], &Limits::default());
    let mut findings = reading.findings;
    findings.extend(validate(&reading.manifests));
    let here = format!("{}/", cases().display());
    render(&findings, Look { width: 200, ..Look::default() }).replace(&here, "")
}

fn all() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cases()).expect("the cases can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "txt"));
    paths.sort();
    paths
}

#[test]
fn every_malformed_input_is_told_as_expected() {
    for case in all() {
        expect_file![case.with_extension("txt")].assert_eq(&told(&case));
    }
}

#[test]
fn there_are_enough_cases_and_each_says_something() {
    let cases = all();
    assert!(cases.len() >= 45, "{} cases", cases.len());
    for case in cases {
        assert!(!told(&case).is_empty(), "{} is not malformed at all", case.display());
    }
}
