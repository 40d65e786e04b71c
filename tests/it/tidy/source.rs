//! Reading the repository, and reading Rust just well enough to see which paths it names.

use std::fs;
use std::path::Path;

/// A file by its path from the repository's root, with `/` as separator.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// `path:line: what`, the line being that of a byte offset.
    pub fn complain(&self, at: usize, what: &str) -> String {
        let line = self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
        format!("{}:{line}: {what}", self.path)
    }
}

/// All Rust files under a folder, ascending by path.
pub fn rust(folder: &str) -> Vec<Source> {
    let inside = format!("{folder}/");
    let is_rust = |source: &Source| Path::new(&source.path).extension().is_some_and(|extension| extension == "rs");
    everything().into_iter().filter(|source| source.path.starts_with(&inside) && is_rust(source)).collect()
}

/// All text files of the repository except build output, hidden folders, the licence and the lock file.
pub fn everything() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(root, "", &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 20, "the repository must be where the test was built");
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).expect("a folder of the repository must be readable");
    for entry in entries {
        let entry = entry.expect("a folder of the repository must be readable");
        let name = entry.file_name().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && name != ".ci";
        if hidden || ["target", "LICENSE", "Cargo.lock"].contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            found.push(Source { path, text });
        }
    }
}

/// The text with comments and the contents of literals blanked out, byte for byte as long as before.
pub fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let end = if rest.starts_with("//") {
            at + rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            at + rest.find("*/").map_or(rest.len(), |length| length + 2)
        } else if let Some(length) = raw_string(rest).filter(|_| !follows_word(text, at)) {
            at + length
        } else if rest.starts_with('"') {
            at + quoted(rest, '"')
        } else if let Some(length) = char_literal(rest) {
            at + length
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        code[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8(code).expect("whole characters were blanked")
}

fn follows_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_some_and(is_word)
}

pub fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Length of `r"…"` or `r#"…"#` at the beginning, if there is one.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    let body = after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&close).map_or(body.len(), |at| at + close.len());
    Some(1 + hashes + 1 + length)
}

/// Length of the literal at the beginning, whose first character is `quote`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            return at + letter.len_utf8();
        }
    }
    rest.len()
}

/// Length of a character literal at the beginning; `None` for a lifetime.
fn char_literal(rest: &str) -> Option<usize> {
    let mut letters = rest.strip_prefix('\'')?.chars();
    let first = letters.next()?;
    (first == '\\' || letters.next() == Some('\'')).then(|| quoted(rest, '\''))
}

/// Every path that code names under `root` (`crate`, `std`, …), `use` groups written out, with its byte offset:
/// `use crate::{a::{b, c}, d}` gives `a::b`, `a::c`, `d`.
pub fn paths_under(code: &str, root: &str) -> Vec<(usize, String)> {
    let start = format!("{root}::");
    let mut found = Vec::new();
    for (at, _) in code.match_indices(&start) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(is_word) || code[..at].ends_with("::") {
            continue;
        }
        tree(code, at + start.len(), "", &mut found);
    }
    found
}

/// Reads `name::rest`, `{a, b}` or `*` at an offset; returns the offset after it.
fn tree(code: &str, at: usize, prefix: &str, found: &mut Vec<(usize, String)>) -> usize {
    let at = at + code[at..].len() - code[at..].trim_start().len();
    let rest = &code[at..];
    if rest.starts_with('{') {
        let mut next = at + 1;
        loop {
            next = next + code[next..].len() - code[next..].trim_start_matches([' ', '\n', ',']).len();
            if code[next..].starts_with('}') || next >= code.len() {
                return (next + 1).min(code.len());
            }
            let after = tree(code, next, prefix, found);
            // Anything that is not a path (`self as name`, a bracket) is stepped over.
            next = after.max(next + 1);
        }
    }
    let name: String = rest.chars().take_while(|letter| is_word(*letter)).collect();
    let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}::{name}") };
    let after = at + name.len();
    if code[after..].starts_with("::") {
        return tree(code, after + 2, &path, found);
    }
    if !path.is_empty() {
        found.push((at, path.trim_end_matches("::").to_owned()));
    }
    after
}
