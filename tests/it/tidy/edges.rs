//! Which module may use which: the direction of ARCHITECTURE.md as a table.

use super::source::{Source, code_only, is_word, paths_under};

/// What any module may use: exact values, names, findings and calendars know nothing above themselves.
const FOUNDATIONS: &[&str] = &["units", "ratio", "names", "failure", "calendar"];

/// `(module, what it may use besides the foundations and itself)`. A top-level module without a row is refused, so that
/// whoever adds one decides its place.
const EDGES: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("ratio", &[]),
    ("names", &[]),
    ("failure", &[]),
    ("calendar", &[]),
    ("clock", &[]),
    ("plan", &[]),
    ("ledger", &[]),
    ("outcome", &["ledger"]),
    ("api", &[]),
    ("cluster", &["api", "clock"]),
    ("admission", &["api", "cluster"]),
    ("doctor", &["admission", "api", "cluster"]),
    ("kueue", &["api", "cluster", "plan"]),
    ("scenario", &["api", "kueue", "ledger", "outcome", "plan", "replay"]),
    ("replay", &["kueue", "plan"]),
    ("report", &["plan", "ledger", "outcome", "replay"]),
    ("controller", &["admission", "api", "clock", "cluster", "kueue", "plan"]),
    (
        "cli",
        &[
            "admission",
            "api",
            "clock",
            "cluster",
            "controller",
            "doctor",
            "kueue",
            "ledger",
            "outcome",
            "plan",
            "replay",
            "report",
            "scenario",
        ],
    ),
];

/// What the planner may not name of the standard library's view of the world. Traits of `std::io` and a `Duration` are no view of it.
const WORLD: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
];

pub fn module_edges(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(edges_of).collect()
}

fn edges_of(source: &Source) -> Vec<String> {
    let code = code_only(&source.text);
    let mut complaints = Vec::new();
    if source.path == "src/main.rs" || source.path.starts_with("src/bin/") {
        for (at, path) in paths_under(&code, "stagger") {
            let module = first(&path);
            if module != "cli" {
                let what = format!("a binary may use `stagger::cli` only, not `stagger::{module}`");
                complaints.push(source.complain(at, &what));
            }
        }
        return complaints;
    }
    let Some(module) = module_of(&source.path) else { return complaints };
    let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == module) else {
        return vec![source.complain(0, &format!("`{module}` has no row in the table of edges"))];
    };
    for (at, path) in paths_under(&code, "crate") {
        let used = first(&path);
        // A macro's `$crate::path` and a re-export at the root are no modules of ours.
        let is_module = EDGES.iter().any(|(name, _)| *name == used);
        if is_module && used != module && !FOUNDATIONS.contains(&used) && !allowed.contains(&used) {
            complaints.push(source.complain(at, &format!("`{module}` may not use `{used}`")));
        }
    }
    complaints.extend(climbing(source, &code, module));
    complaints
}

/// `super::` may not lead out of a top-level module, nor two floors up inside one.
fn climbing(source: &Source, code: &str, module: &str) -> Vec<String> {
    let front = source.path == format!("src/{module}.rs") || source.path == format!("src/{module}/mod.rs");
    let mut complaints = Vec::new();
    for (at, _) in code.match_indices("super::") {
        let rest = &code[at + "super::".len()..];
        if code[..at].ends_with("super::") {
            continue;
        }
        if rest.starts_with("super::") {
            complaints.push(source.complain(at, "`super::super` hides where it leads; write `crate::…`"));
        } else if front && !rest.starts_with('*') {
            complaints.push(source.complain(at, "`super::` leaves the module; write `crate::…`"));
        }
    }
    complaints
}

/// `plan::check` is the second opinion: it may know the planner's input and output, and nothing of how plans are found.
pub fn checker_independence(sources: &[Source]) -> Vec<String> {
    let known = ["Plan", "Policy", "Snapshot", "check", "policy", "proposal", "snapshot"];
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| under(&source.path, "src/plan/check")) {
        for (at, path) in paths_under(&code_only(&source.text), "crate") {
            if let Some(inside) = path.strip_prefix("plan::")
                && !known.contains(&first(inside))
            {
                complaints.push(source.complain(at, &format!("the checker uses `plan::{}`", first(inside))));
            }
        }
    }
    complaints
}

pub fn planner_purity(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path.starts_with("src/plan/")) {
        let code = code_only(&source.text);
        for (at, path) in paths_under(&code, "std") {
            if let Some(banned) = WORLD.iter().find(|banned| under(&format!("std::{path}"), banned)) {
                complaints.push(source.complain(at, &format!("the planner may not use `{banned}`")));
            }
        }
        for (at, word) in code.match_indices("async") {
            let alone = !code[..at].ends_with(is_word) && !code[at + word.len()..].starts_with(is_word);
            if alone {
                complaints.push(source.complain(at, "the planner may not be `async`"));
            }
        }
    }
    complaints
}

/// Whether a path is this one or lies below it (`src/plan/check` covers `src/plan/check.rs` and `src/plan/check/…`).
fn under(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(is_word))
}

fn first(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("src/")?;
    let name = inside.split('/').next()?.trim_end_matches(".rs");
    (name != "lib").then_some(name)
}
