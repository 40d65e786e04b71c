//! The registry of codes: whole, in order, used, and the same as its page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use stagger::scenario::codes::{all, explain, find, reference};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every `"SG…"` in the sources below `src`, with or without the registry's own tables.
fn codes_in_sources(with_tables: bool) -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut codes = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        let lines = text.lines().filter(|line| with_tables || !line.trim_start().starts_with("code: \""));
        for line in lines {
            codes.extend(line.match_indices("\"SG").filter_map(|(at, _)| {
                let code = line.get(at + 1..at + 6)?;
                code[2..].bytes().all(|byte| byte.is_ascii_digit()).then(|| code.to_owned())
            }));
        }
    }
    codes
}

#[test]
fn codes_ascend_so_none_is_given_twice() {
    let codes: Vec<&str> = all().map(|code| code.code).collect();
    assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
}

#[test]
fn every_code_in_the_sources_is_told_about_and_every_entry_is_in_use() {
    let used = codes_in_sources(false);
    let told: BTreeSet<String> = all().map(|code| code.code.to_owned()).collect();
    assert_eq!(used.difference(&told).collect::<Vec<_>>(), Vec::<&String>::new(), "without an entry in the registry");
    assert_eq!(told.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new(), "in the registry only");
    assert_eq!(codes_in_sources(true), told);
}

#[test]
fn every_entry_is_whole() {
    for code in all() {
        let sentence = |text: &str| text.ends_with(['.', '?']) && text.len() > 20;
        assert!(!code.title.is_empty() && !code.title.ends_with('.'), "{}: title", code.code);
        assert!(sentence(code.explanation), "{}: explanation", code.code);
        assert!(!code.example.trim().is_empty(), "{}: example", code.code);
        assert!(code.fix.ends_with('.'), "{}: fix", code.code);
    }
}

#[test]
fn a_code_is_found_in_any_case_and_explained() {
    let code = find("sg012").expect("SG012 is a code");
    assert!(explain(code).starts_with("SG012: an instant, duration"), "{}", explain(code));
    assert_eq!(find("SG999"), None);
}

#[test]
fn the_page_of_errors_is_generated() {
    expect_file!["../../docs/reference/errors.md"].assert_eq(&reference());
}
