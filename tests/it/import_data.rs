//! Traces for the importers' tests: real files where they are at hand, short ones written in the test.

use std::path::PathBuf;
use std::sync::Arc;

use stagger::failure::{Finding, SourceFile};
use stagger::scenario::import::{Settings, decode, pool_of};

/// A real file under `STAGGER_DATA` (default `../shared/data`), or `None`, said aloud, where the folder is absent.
#[expect(clippy::disallowed_methods, reason = "the traces lie outside the project, where the variable says")]
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub fn real(path: &str) -> Option<Arc<SourceFile>> {
    let folder = std::env::var_os("STAGGER_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    match std::fs::read(folder.join(path)) {
        Ok(bytes) => Some(decode(path, bytes).expect("a real trace must be text")),
        Err(error) => {
            eprintln!("SKIPPED: {} is not at hand ({error}); set STAGGER_DATA", folder.join(path).display());
            None
        }
    }
}

pub fn written(text: &str) -> Arc<SourceFile> {
    decode("trace", text.as_bytes().to_vec()).expect("the trace must be text")
}

pub fn gpus(count: i64) -> Settings {
    Settings { pool: pool_of(count).expect("the pool must be sound"), ..Settings::default() }
}

/// One line per finding: code, place, message.
pub fn told(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let place = finding.span.as_ref().map_or_else(|| finding.subject.clone(), ToString::to_string);
        text.push_str(&[finding.code, " ", &place, ": ", &finding.message, "\n"].concat());
    }
    text
}
