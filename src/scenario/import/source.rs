//! A trace file as text: decoding, limits, and lines that know where they stand.
//!
//! Invariant: every offset a [`Line`] carries is a byte offset into the `SourceFile`, so a finding can point at it.

use std::sync::Arc;

use crate::failure::{Finding, SourceFile, Span};
use crate::scenario::codes::traces as codes;

/// The largest file read. The biggest public trace in these formats that we know of (LCG, 188,041 jobs) has 20 MB.
pub const BYTES_MAX: usize = 256 << 20;
/// The longest line read. A row of these formats has a few hundred bytes; longer ones are another file type.
pub const LINE_BYTES_MAX: usize = 64 << 10;
/// The most rows read. A plan of a million workloads is out of reach anyway; `--rows` takes a part.
pub const ROWS_MAX: usize = 1_000_000;

/// Text from bytes: UTF-8 with or without a byte-order mark.
///
/// # Errors
/// SG060 when the file is empty, too large, or not UTF-8.
pub fn decode(path: &str, bytes: Vec<u8>) -> Result<Arc<SourceFile>, Finding> {
    if bytes.len() > BYTES_MAX {
        let message = format!("the file has {} bytes, more than the {BYTES_MAX} that are read", bytes.len());
        return Err(Finding::error(codes::FILE, path, message));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Finding::error(codes::FILE, path, "the file is UTF-16, and UTF-8 is expected")
            .hint("save it as UTF-8, for instance with `iconv -f UTF-16 -t UTF-8`"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].split(|byte| *byte == b'\n').count();
        Finding::error(codes::FILE, path, format!("line {line} is not UTF-8 text"))
            .hint("a compressed file must be unpacked first")
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    if text.trim().is_empty() {
        return Err(Finding::error(codes::FILE, path, "the file is empty"));
    }
    Ok(Arc::new(SourceFile { path: path.to_owned(), text }))
}

/// A line without its line end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub file: &'a Arc<SourceFile>,
    /// From 1.
    pub number: usize,
    /// Byte offset of its first character.
    pub start: usize,
    pub text: &'a str,
}

/// The lines of a file that are not blank; `\n` and `\r\n` both end a line.
pub fn lines(file: &Arc<SourceFile>) -> impl Iterator<Item = Line<'_>> {
    let mut next = 0;
    file.text
        .split('\n')
        .enumerate()
        .map(move |(index, text)| {
            let start = next;
            next += text.len() + 1;
            Line { file, number: index + 1, start, text: text.strip_suffix('\r').unwrap_or(text) }
        })
        .filter(|line| !line.text.trim().is_empty())
}

impl Line<'_> {
    /// `trace.csv:12`: what a finding about this line is about.
    pub fn subject(&self) -> String {
        format!("{}:{}", self.file.path, self.number)
    }

    /// The stretch `[start, end)` of this line, in bytes from its own beginning.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span { file: Arc::clone(self.file), start: self.start + start, end: self.start + end }
    }

    pub fn whole(&self) -> Span {
        self.span(0, self.text.len())
    }

    /// A warning about the stretch `[start, end)` of this line.
    pub fn warning(&self, code: &'static str, start: usize, end: usize, message: impl Into<String>) -> Finding {
        Finding::warning(code, self.subject(), message).at(Some(self.span(start, end)), "here")
    }
}
