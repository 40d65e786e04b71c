//! Finding and reading files. Folders are read in order of name, whatever the file system says.
//!
//! Symbolic links to files are followed (mounted ConfigMaps are made of them), those to folders are not.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::codes;
use super::limits::{Limits, megabytes};
use crate::failure::{Finding, SourceFile, Span};

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// The files below a path that may hold manifests: the path itself, or what a folder holds.
#[derive(Debug, Default)]
pub struct Found {
    pub files: Vec<PathBuf>,
    pub findings: Vec<Finding>,
}

/// Lists the manifests at `path`.
#[must_use]
pub fn find(path: &Path, limits: &Limits) -> Found {
    let mut found = Found::default();
    let shown = path.display().to_string();
    match fs::metadata(path) {
        Err(error) => {
            let message = format!("failed to open: {}", reason(&error));
            found.findings.push(Finding::error(codes::UNREADABLE, shown, message));
        }
        Ok(metadata) if metadata.is_dir() => {
            walk(path, 0, limits, &mut found);
            if found.files.is_empty() && found.findings.is_empty() {
                let message = "the folder holds no .yaml, .yml or .json file";
                found.findings.push(Finding::error(codes::UNREADABLE, shown, message));
            }
        }
        Ok(_) if has_foreign_extension(path) => {
            let message = "not a .yaml, .yml or .json file";
            let finding = Finding::error(codes::UNREADABLE, shown, message);
            found.findings.push(finding.hint("traces are read by `stagger import`; manifests from a pipe by `-`"));
        }
        Ok(_) => found.files.push(path.to_owned()),
    }
    found
}

fn walk(folder: &Path, depth: usize, limits: &Limits, found: &mut Found) {
    let too_many = |what: String| Finding::error(codes::TOO_MANY, folder.display().to_string(), what);
    if depth > limits.folder_depth {
        found.findings.push(too_many(format!("folders are nested deeper than {}", limits.folder_depth)));
        return;
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            let message = format!("failed to list: {}", reason(&error));
            found.findings.push(Finding::error(codes::UNREADABLE, folder.display().to_string(), message));
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden {
            continue;
        }
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            walk(&path, depth + 1, limits, found);
        } else if has_known_extension(&path) && path.is_file() {
            if found.files.len() >= limits.files {
                found.findings.push(too_many(format!("more than {} files", limits.files)));
                return;
            }
            found.files.push(path);
        }
    }
}

fn extension(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}

fn has_known_extension(path: &Path) -> bool {
    extension(path).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// A path without an extension is read: `<(kubectl get …)` has none.
fn has_foreign_extension(path: &Path) -> bool {
    extension(path).is_some_and(|extension| !EXTENSIONS.contains(&extension.as_str()))
}

/// Reads a file whole, if it is not larger than the limit.
///
/// # Errors
/// A finding that says why it cannot be read.
pub fn bytes(path: &Path, limit: usize) -> Result<Vec<u8>, Finding> {
    let unreadable = |message: String| Finding::error(codes::UNREADABLE, path.display().to_string(), message);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(format!("failed to open: {}", reason(&error))))?;
    // One byte more than the limit is enough to know that it is exceeded, whatever the file system says of its size.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(format!("failed to read: {}", reason(&error))))?;
    Ok(bytes)
}

/// Turns bytes into text that a parser may see: UTF-8 without byte order mark and without control characters.
///
/// # Errors
/// A finding at the first byte that is not text.
pub fn text(path: &str, bytes: Vec<u8>) -> Result<Arc<SourceFile>, Finding> {
    let refuse = |message: &str| Finding::error(codes::ENCODING, path, message);
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        let finding = refuse("the text is UTF-16; manifests are UTF-8");
        return Err(finding.hint("save it as UTF-8 (PowerShell: `| Out-File -Encoding utf8`)"));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
            let file = Arc::new(SourceFile { path: path.to_owned(), text });
            let span = Span { file, start: at, end };
            return Err(refuse("the text is not UTF-8").at(Some(span), "not a character"));
        }
    };
    let text = match text.strip_prefix('\u{FEFF}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    let control = forbidden(&text);
    let file = Arc::new(SourceFile { path: path.to_owned(), text });
    if let Some((at, character)) = control {
        let message = format!("a control character (U+{:04X}) stands in the text", u32::from(character));
        let span = Span { file, start: at, end: at + character.len_utf8() };
        return Err(refuse(&message).at(Some(span), "not allowed in YAML"));
    }
    Ok(file)
}

/// The first character that YAML does not allow: a control character other than tab, line ends and U+0085.
fn forbidden(text: &str) -> Option<(usize, char)> {
    // Bytes first: they are far quicker, and 0xC2 begins every control character beyond ASCII.
    let suspect = |byte: u8| (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7F || byte == 0xC2;
    let first = text.bytes().position(suspect)?;
    let forbidden = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    text[first..].char_indices().find(|(_, c)| forbidden(*c)).map(|(at, c)| (first + at, c))
}

/// `too large` as a finding on a file.
#[must_use]
pub fn too_large(path: &str, limit: usize) -> Finding {
    let message = format!("larger than the limit of {} for one file", megabytes(limit));
    Finding::error(codes::TOO_LARGE, path, message).hint("split it, or leave out objects that are not planned")
}

/// The operating system's reason without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or(&text);
    plain.to_lowercase()
}
