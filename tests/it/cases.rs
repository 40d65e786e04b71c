//! The tables of what others fell into, in docs/: each case names a test that holds what is right, and the test exists.

use std::fs;
use std::path::{Path, PathBuf};

const SECTION: &str = "## What others fell into";
/// Words of that length between backticks are names of tests; keys, flags and fields are shorter.
const NAME_LEAST: usize = 21;

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        word.len() >= NAME_LEAST && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    text.split('`').skip(1).step_by(2).filter(is_name)
}

/// What is wrong with the section of a page: rows without a test, tests that do not exist, fewer rows than there are cases.
fn complaints(page: &str, cases: usize, tests: &str) -> Vec<String> {
    let Some((_, rest)) = page.split_once(SECTION) else { return vec![format!("there is no section {SECTION}")] };
    let section = rest.split("\n## ").next().unwrap_or_default();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let mut complaints = Vec::new();
    if rows.len() < cases {
        complaints.push(format!("{} rows instead of {cases}", rows.len()));
    }
    for row in rows {
        let last = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
        if names(last).next().is_none() {
            complaints.push(format!("no test: {row}"));
        }
    }
    complaints.extend(
        names(section).filter(|name| !tests.contains(&format!("fn {name}("))).map(|name| format!("there is no {name}")),
    );
    complaints
}

#[test]
fn each_case_of_others_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("tests"), &mut files);
    let tests: String = files.iter().map(|file| fs::read_to_string(file).expect("a file can be read")).collect();
    for (page, cases) in [("docs/admission.md", 21), ("docs/controller.md", 23)] {
        let text = fs::read_to_string(root.join(page)).expect("the page is there");
        let complaints = complaints(&text, cases, &tests);
        assert!(complaints.is_empty(), "{page}: {complaints:#?}");
    }
}

#[test]
fn catches_a_case_without_a_test_and_a_test_that_was_renamed() {
    let page = "## What others fell into\n\n| case | test |\n|---|---|\n| a | `it_was_renamed_since_then` |\n| b | no |\n\n## Next\n| c | none |\n";
    let found = complaints(page, 3, "fn something_else_entirely() {}");
    assert_eq!(found, ["2 rows instead of 3", "no test: | b | no |", "there is no it_was_renamed_since_then"]);
    assert!(complaints("# Page\n", 0, "")[0].contains("there is no section"));
}
