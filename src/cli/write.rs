//! Writing results: to standard output, or to a file all at once or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::exit::Failed;
use super::shell::Shell;
use crate::api;

/// Data to a file where one is named, else to standard output.
///
/// # Errors
/// Whatever the operating system says, with the path.
pub(super) fn data(text: &str, out: Option<&Path>, shell: &Shell) -> Result<(), Failed> {
    match out.filter(|path| path.as_os_str() != "-") {
        Some(path) => file(path, text),
        None => shell.data(text).map_err(|error| Failed::file("write to", "standard output", error)),
    }
}

/// The same for text made for people.
///
/// # Errors
/// As [`data`].
pub(super) fn text(text: &str, out: Option<&Path>, shell: &Shell) -> Result<(), Failed> {
    match out.filter(|path| path.as_os_str() != "-") {
        Some(path) => file(path, text),
        None => shell.show(text).map_err(|error| Failed::file("write to", "standard output", error)),
    }
}

/// A document as YAML.
///
/// # Errors
/// When it cannot be serialised, which none of our documents does.
pub(super) fn yaml(value: &impl Serialize) -> Result<String, Failed> {
    api::yaml::of(value).map_err(|error| Failed::usage(format!("failed to write YAML: {error}")))
}

/// Replaces the file by way of a neighbour, so that a reader sees the old text or the new one, never a half.
///
/// # Errors
/// Whatever the operating system says, with the path; the neighbour is removed.
pub(super) fn file(path: &Path, text: &str) -> Result<(), Failed> {
    let failed = |error| Failed::file("write", &path.display().to_string(), error);
    // A pipe or device cannot be replaced, only written to.
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        return fs::write(path, text).map_err(failed);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let neighbour = path.with_file_name(name);
    let write = || {
        let mut file = fs::File::create_new(&neighbour)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&neighbour, path)
    };
    write().map_err(|error| {
        let _was_never_made = fs::remove_file(&neighbour);
        failed(error)
    })
}
