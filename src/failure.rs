//! What is told to people: findings with a stable code, a severity, and where possible a place in a file.
//!
//! A finding is data. Rendering (excerpt, caret, colour) is the printer's job, so that JSON carries the same facts.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// Nothing is produced while it stands.
    Error,
    /// Something is left out or assumed; the result says so.
    Warning,
    /// Worth knowing.
    Note,
}

/// A stretch of a source file, for an excerpt with a caret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub file: Arc<SourceFile>,
    /// Byte offsets into `file.text`, `start <= end`, on character borders.
    pub start: usize,
    pub end: usize,
}

/// A file as it was read; kept while findings may point into it.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the user gave it: a path, or `<stdin>`.
    pub path: String,
    pub text: String,
}

impl Span {
    /// Line and column, both from 1; the column counts characters.
    #[must_use]
    pub fn line_column(&self) -> (usize, usize) {
        let before = &self.file.text[..self.start.min(self.file.text.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.file.path)
    }
}

/// One thing a person should know, with a stable code (`SG…` for input, `P…` for plans).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub code: &'static str,
    pub severity: Severity,
    /// What it is about: `evals/eval-1`, `ClusterQueue batch`, a file.
    pub subject: String,
    /// One sentence: what was read or found, and what was expected. No full stop.
    pub message: String,
    /// The label under the caret, when there is a span.
    pub label: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    pub span: Option<Span>,
}

impl Finding {
    #[must_use]
    pub fn new(code: &'static str, severity: Severity, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, severity, subject: subject.into(), message: message.into(), label: None, hint: None, span: None }
    }
    #[must_use]
    pub fn error(code: &'static str, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, subject, message)
    }
    #[must_use]
    pub fn warning(code: &'static str, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, subject, message)
    }
    #[must_use]
    pub fn note(code: &'static str, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, subject, message)
    }
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    #[must_use]
    pub fn at(mut self, span: Option<Span>, label: impl Into<String>) -> Self {
        self.label = span.is_some().then(|| label.into());
        self.span = span;
        self
    }
}

/// Where the lines of each file begin, found once per file: a thousand findings in 50 MB stay fast.
#[derive(Debug, Default)]
pub struct Lines {
    /// By the address of the shared file, which is held so that no other can take its place; never iterated.
    files: HashMap<*const SourceFile, Measured>,
}

/// A file with what is counted of it.
#[derive(Debug)]
struct Measured {
    file: Arc<SourceFile>,
    /// Where each line begins.
    starts: Vec<usize>,
    /// How many characters stand before each block of bytes: a file may be one line of 50 MB.
    characters: Vec<usize>,
}

const BLOCK_BYTES: usize = 4096;

impl Measured {
    fn of(file: &Arc<SourceFile>) -> Self {
        let bytes = file.text.as_bytes();
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let mut characters = vec![0];
        for block in bytes.chunks(BLOCK_BYTES) {
            characters.push(characters.last().copied().unwrap_or(0) + count(block));
        }
        Self { file: Arc::clone(file), starts, characters }
    }

    /// How many characters stand before a byte.
    fn before(&self, at: usize) -> usize {
        let block = at / BLOCK_BYTES;
        let rest = self.file.text.as_bytes().get(block * BLOCK_BYTES..at).unwrap_or_default();
        self.characters.get(block).copied().unwrap_or(0) + count(rest)
    }
}

/// The characters that begin in these bytes of UTF-8.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

impl Lines {
    fn measured(&mut self, file: &Arc<SourceFile>) -> &Measured {
        self.files.entry(Arc::as_ptr(file)).or_insert_with(|| Measured::of(file))
    }

    /// Line and column, from 1; the column counts characters.
    pub fn locate(&mut self, file: &Arc<SourceFile>, at: usize) -> (usize, usize) {
        let at = file.text.floor_char_boundary(at);
        let measured = self.measured(file);
        let line = measured.starts.partition_point(|start| *start <= at);
        let start = measured.starts[..line].last().copied().unwrap_or(0);
        (line, measured.before(at) - measured.before(start) + 1)
    }

    /// The bytes of the line around `at`, without its end.
    pub fn line(&mut self, file: &Arc<SourceFile>, at: usize) -> Range<usize> {
        let at = file.text.floor_char_boundary(at);
        let starts = &self.measured(file).starts;
        let line = starts.partition_point(|start| *start <= at);
        let start = starts[..line].last().copied().unwrap_or(0);
        let end = starts.get(line).map_or(file.text.len(), |next| next - 1);
        let end = if file.text[start..end].ends_with('\r') { end - 1 } else { end };
        start..end
    }
}
