//! The table of cases in docs/controller.md names tests that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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

#[test]
fn the_cases_of_others_name_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/controller.md")).expect("the page is there");
    let (_, section) = page.split_once("## What others fell into").expect("the page has that section");
    let mut files = Vec::new();
    rust_files(&root.join("tests"), &mut files);
    let source: String = files.iter().map(|file| fs::read_to_string(file).expect("a file can be read")).collect();
    let named: BTreeSet<&str> = section.split('`').skip(1).step_by(2).filter(|word| word.len() > 20).collect();
    assert!(named.len() >= 20, "{named:?}");
    let missing: Vec<&&str> = named.iter().filter(|name| !source.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
