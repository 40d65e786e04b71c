//! Rules about single files: their length, their head, and the words that may not stand in them.

use std::path::Path;

use super::source::{Source, code_only, is_word};

/// Where the solver's crates and floating point may be named: the model, its live columns, and the call that solves it.
const SOLVER_FILES: &[&str] = &["src/plan/columns", "src/plan/formulation", "src/plan/solve"];

/// Where floating point may be named besides: a YAML number becomes a JSON number, which is one.
const NUMBER_FILES: &[&str] = &["src/scenario/scalar"];

/// A file past this has taken in a second noun.
const LINES_MAX: usize = 400;

/// Files that are longer for a reason: `(path, lines, reason)`. They may shrink, never grow, and leave the list when
/// they are short enough.
const LONGER: &[(&str, usize, &str)] = &[];

pub fn solver_names(sources: &[Source]) -> Vec<String> {
    words_outside(sources, SOLVER_FILES, &["good_lp", "highs", "microlp"], |word| format!("`{word}` is named here"))
}

pub fn floating_point(sources: &[Source]) -> Vec<String> {
    let homes = [SOLVER_FILES, NUMBER_FILES].concat();
    words_outside(sources, &homes, &["f64", "f32"], |word| format!("`{word}` outside the solver"))
}

fn words_outside(sources: &[Source], home: &[&str], words: &[&str], what: impl Fn(&str) -> String) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let at_home = home.iter().any(|prefix| {
            source.path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.') || rest.starts_with('/'))
        });
        if at_home {
            continue;
        }
        let code = code_only(&source.text);
        for word in words {
            let places = code.match_indices(word);
            let alone = |at: usize| !code[..at].ends_with(is_word) && !code[at + word.len()..].starts_with(is_word);
            complaints.extend(places.filter(|(at, _)| alone(*at)).map(|(at, _)| source.complain(at, &what(word))));
        }
    }
    complaints
}

pub fn file_sizes(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let lines = source.text.lines().count();
        let listed = LONGER.iter().find(|(path, ..)| *path == source.path);
        match listed {
            None if lines > LINES_MAX => {
                complaints.push(format!("{}:{lines}: {lines} lines, at most {LINES_MAX}", source.path));
            }
            Some((_, most, reason)) if lines > *most => {
                complaints.push(format!("{}:{lines}: {lines} lines, at most {most} ({reason})", source.path));
            }
            Some(_) if lines <= LINES_MAX => {
                complaints.push(format!("{}:{lines}: short enough; take it off the list of exceptions", source.path));
            }
            _ => {}
        }
    }
    complaints
}

pub fn head_comments(sources: &[Source]) -> Vec<String> {
    let bare = sources.iter().filter(|source| !source.text.starts_with("//! "));
    bare.map(|source| source.complain(0, "no `//!` head")).collect()
}

pub fn drawers(sources: &[Source]) -> Vec<String> {
    let drawers = ["util", "utils", "common", "helper", "helpers", "manager", "misc", "stuff"];
    let mut complaints = Vec::new();
    for source in sources {
        let names = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
        for name in names.filter(|name| drawers.contains(name)) {
            complaints.push(source.complain(0, &format!("`{name}` says nothing about what is inside")));
        }
    }
    complaints
}

pub fn unfinished(sources: &[Source]) -> Vec<String> {
    // Written in two parts, so that this file does not complain about itself.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("todo", "!("), concat!("unimplemented", "!(")];
    let mut complaints = Vec::new();
    for source in sources {
        for word in words {
            let places = source.text.match_indices(word);
            let alone = |at: usize| !source.text[..at].ends_with(is_word);
            let name = word.trim_end_matches('(');
            complaints
                .extend(places.filter(|(at, _)| alone(*at)).map(|(at, _)| source.complain(at, &format!("`{name}`"))));
        }
    }
    complaints
}

pub fn machine_paths(sources: &[Source]) -> Vec<String> {
    let roots = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];
    let written = sources.iter().filter(|source| {
        let extension = Path::new(&source.path).extension().and_then(|extension| extension.to_str());
        // Traces and captured data may quote the machines they were recorded on.
        !matches!(extension, Some("csv" | "swf" | "jsonl"))
    });
    let mut complaints = Vec::new();
    for source in written {
        for root in roots {
            // A path begins where no path continues: `docs/…` with such a folder inside is a relative path.
            let begins = |at: usize| !source.text[..at].ends_with(|c: char| is_word(c) || "./-}*".contains(c));
            let places = source.text.match_indices(root).filter(|(at, _)| begins(*at));
            complaints.extend(places.map(|(at, _)| source.complain(at, &format!("a path of one machine: `{root}`"))));
        }
    }
    complaints
}
