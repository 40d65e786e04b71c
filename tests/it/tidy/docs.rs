//! Rules about the pages: commands that exist, links that lead somewhere, scenario folders that are whole.

use std::collections::BTreeSet;

use super::source::Source;

/// The binaries of tests, each of which `make test` must run.
pub fn test_binaries(sources: &[Source]) -> Vec<String> {
    let makefile = sources.iter().find(|source| source.path == "Makefile").map_or("", |source| &source.text);
    let name = |source: &Source| source.path.strip_prefix("tests/")?.strip_suffix("/main.rs").map(str::to_owned);
    let is_run = |name: &String| makefile.lines().any(|line| line.ends_with(&format!("--test {name}")));
    let names = sources.iter().filter_map(name).filter(|name| !is_run(name));
    names.map(|name| format!("tests/{name}/main.rs: `make test` does not run it")).collect()
}

/// The command lines in fenced blocks of all pages: each `make` target, `stagger` subcommand and scenario must exist.
pub fn commands(sources: &[Source]) -> Vec<String> {
    let makefile = sources.iter().find(|source| source.path == "Makefile").map_or("", |source| &source.text);
    let is_target = |name: &str| makefile.lines().any(|line| line.starts_with(&format!("{name}:")));
    let exists = |path: &str| sources.iter().any(|source| source.path == path);
    let has_folder = |path: &str| sources.iter().any(|source| source.path.starts_with(&format!("{path}/")));
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| is_page(&source.path)) {
        for (line, command) in command_lines(&source.text) {
            let mut complain = |what: String| complaints.push(format!("{}:{line}: {what}", source.path));
            let words: Vec<&str> = command.split_whitespace().collect();
            match words.as_slice() {
                ["make", targets @ ..] => {
                    for name in targets.iter().filter(|word| !word.contains('=')) {
                        if !is_target(name) {
                            complain(format!("`make {name}` is not in the Makefile"));
                        }
                    }
                }
                ["stagger", name, ..] if !name.starts_with('-') && !exists(&format!("src/cli/{name}.rs")) => {
                    complain(format!("`stagger {name}` is not a subcommand (no src/cli/{name}.rs)"));
                }
                _ => {}
            }
            for word in words {
                let path = word.trim_end_matches('/');
                if path.starts_with("scenarios/") && !path.contains('*') && !has_folder(path) && !exists(path) {
                    complain(format!("there is no `{path}`"));
                }
            }
        }
    }
    complaints
}

/// Lines of `console` and `sh` blocks with their numbers; in `console` blocks only those after a `$`, unless none has one.
fn command_lines(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut block: Option<Vec<(usize, &str)>> = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(lines) = &mut block {
            if line.starts_with("```") {
                let prompted: Vec<(usize, &str)> =
                    lines.iter().filter_map(|(at, line)| Some((*at, line.strip_prefix("$ ")?))).collect();
                found.extend(if prompted.is_empty() { std::mem::take(lines) } else { prompted });
                block = None;
            } else {
                lines.push((index + 1, line));
            }
        } else if line == "```console" || line == "```sh" {
            block = Some(Vec::new());
        }
    }
    found
}

/// Every scenario folder has a README with its claim in one sentence, at least one manifest, and the expected plan.
pub fn scenario_folders(sources: &[Source]) -> Vec<String> {
    let inside = |source: &Source| Some(source.path.strip_prefix("scenarios/")?.split_once('/')?.0.to_owned());
    let folders: BTreeSet<String> = sources.iter().filter_map(inside).collect();
    let mut complaints = Vec::new();
    for folder in folders {
        let prefix = format!("scenarios/{folder}/");
        let file = |name: &str| sources.iter().find(|source| source.path == format!("{prefix}{name}"));
        if let Some(readme) = file("README.md") {
            if !readme.text.starts_with(&format!("# {folder}\n")) {
                complaints.push(format!("{prefix}README.md:1: begins with `# {folder}`"));
            }
            let mut lines = readme.text.lines().skip(2);
            let claim = lines.next().unwrap_or_default();
            if !claim.ends_with('.') || claim.contains(". ") || lines.next() != Some("") {
                complaints.push(format!("{prefix}README.md:3: the claim is one sentence on one line"));
            }
        } else {
            complaints.push(format!("{prefix}README.md:1: missing"));
        }
        if file("plan.txt").is_none() {
            complaints.push(format!("{prefix}plan.txt:1: missing"));
        }
        let is_manifest = |source: &Source| source.path.starts_with(&prefix) && source.path.ends_with(".yaml");
        if !sources.iter().any(is_manifest) {
            complaints.push(format!("{prefix}*.yaml:1: missing"));
        }
    }
    complaints
}

/// Relative links of all pages lead to a file or folder of the repository.
pub fn links(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| is_page(&source.path)) {
        for (at, _) in source.text.match_indices("](") {
            let rest = &source.text[at + 2..];
            let target = rest.split([')', ' ', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let path = resolve(&source.path, target);
            let known = |other: &Source| other.path == path || other.path.starts_with(&format!("{path}/"));
            if path != "LICENSE" && !sources.iter().any(known) {
                complaints.push(source.complain(at, &format!("the link to `{target}` leads nowhere")));
            }
        }
    }
    complaints
}

/// What the page of formulas names in backticks exists: `Type::member` in `src`, `module::test` in `tests/it`.
pub fn symbols(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for page in sources.iter().filter(|source| source.path == "docs/formulation.md") {
        let mut ticks = page.text.match_indices('`').map(|(at, _)| at);
        while let (Some(open), Some(close)) = (ticks.next(), ticks.next()) {
            let Some((owner, member)) = page.text[open + 1..close].split_once("::") else { continue };
            let is_type = owner.starts_with(char::is_uppercase);
            let root = if is_type { "src/".to_owned() } else { format!("tests/it/{owner}") };
            let declared = if is_type { member.to_owned() } else { format!("fn {member}(") };
            let names_it = |other: &Source| {
                other.path.starts_with(&root)
                    && other.text.contains(&declared)
                    && (!is_type || other.text.contains(owner))
            };
            if !sources.iter().any(names_it) {
                complaints.push(page.complain(open, &format!("there is no `{owner}::{member}` under {root}")));
            }
        }
    }
    complaints
}

/// A link's target as a path from the repository's root.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

fn is_page(path: &str) -> bool {
    path.ends_with(".md")
}
