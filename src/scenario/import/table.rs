//! Comma-separated tables with a header, read line by line.
//!
//! A quoted field may hold commas and doubled quotes but never a line end: none of the formats needs one, and so a stray
//! quote spoils its own row only, not the rest of the file.

use std::borrow::Cow;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile};
use crate::scenario::codes::traces as codes;

use super::source::{LINE_BYTES_MAX, Line, lines};

/// A field and where it stands in its line (bytes, quotes included).
#[derive(Debug, Clone)]
pub struct Field<'a> {
    pub text: Cow<'a, str>,
    pub start: usize,
    pub end: usize,
}

/// A row whose fields stand in the order of the columns that were asked for.
#[derive(Debug)]
pub struct Row<'a> {
    pub line: Line<'a>,
    pub fields: Vec<Field<'a>>,
}

pub struct Table<'a> {
    rows: Vec<Line<'a>>,
    /// For each wanted column, its place in the file.
    places: Vec<usize>,
    width: usize,
    /// Columns of the file that nobody asked for.
    pub extra: Vec<String>,
}

impl<'a> Table<'a> {
    /// Finds `wanted` columns in the header, whatever their order and letter case.
    ///
    /// # Errors
    /// SG061 when a column is missing or named twice.
    pub fn open(file: &'a Arc<SourceFile>, wanted: &[&str]) -> Result<Self, Vec<Finding>> {
        let mut all = lines(file);
        let header = all.next().ok_or_else(|| vec![Finding::error(codes::FILE, &*file.path, "the file is empty")])?;
        let refuse = |message: String| {
            Finding::error(codes::COLUMNS, &*file.path, message)
                .at(Some(header.whole()), "this is taken to be the header")
                .hint(format!("the columns are {}", wanted.join(",")))
        };
        let names: Vec<String> = if header.text.len() > LINE_BYTES_MAX {
            return Err(vec![refuse(format!("the header is longer than {LINE_BYTES_MAX} bytes"))]);
        } else {
            let fields = split(header.text).map_err(|problem| vec![refuse(problem.to_owned())])?;
            fields.iter().map(|field| field.text.trim().to_ascii_lowercase()).collect()
        };
        let mut findings = Vec::new();
        let mut places = Vec::new();
        for column in wanted {
            let mut found = names.iter().enumerate().filter(|(_, name)| name == column).map(|(place, _)| place);
            match (found.next(), found.next()) {
                (Some(place), None) => places.push(place),
                (None, _) => findings.push(refuse(format!("the header has no column `{column}`"))),
                (Some(_), Some(_)) => findings.push(refuse(format!("the header names `{column}` twice"))),
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        let extra = names.iter().filter(|name| !wanted.contains(&name.as_str())).cloned().collect();
        Ok(Self { rows: all.collect(), places, width: names.len(), extra })
    }

    /// Data lines, still unparsed, so that a limit on rows applies before any work.
    pub fn lines(&self) -> &[Line<'a>] {
        &self.rows
    }

    /// The wanted fields of a line.
    ///
    /// # Errors
    /// SG062 when it does not have as many fields as the header, SG068 when it is too long.
    pub fn row(&self, line: Line<'a>) -> Result<Row<'a>, Finding> {
        if line.text.len() > LINE_BYTES_MAX {
            let message = format!("the line has {} bytes, more than {LINE_BYTES_MAX}", line.text.len());
            return Err(Finding::warning(codes::LIMIT, line.subject(), message));
        }
        let fields = split(line.text).map_err(|problem| line.warning(codes::SHAPE, 0, line.text.len(), problem))?;
        if fields.len() != self.width {
            let message = format!("the row has {} fields where the header has {}", fields.len(), self.width);
            return Err(line.warning(codes::SHAPE, 0, line.text.len(), message));
        }
        let fields = self.places.iter().map(|place| fields[*place].clone()).collect();
        Ok(Row { line, fields })
    }
}

/// Splits a line at commas, honouring `"…"` with `""` for a quote.
fn split(text: &str) -> Result<Vec<Field<'_>>, &'static str> {
    let mut fields = Vec::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let (field, length) = if let Some(quoted) = rest.strip_prefix('"') {
            let close = closing_quote(quoted).ok_or("a quoted field is not closed on its line")?;
            let inner = &quoted[..close];
            let text = if inner.contains('"') { Cow::Owned(inner.replace("\"\"", "\"")) } else { Cow::Borrowed(inner) };
            let length = close + 2;
            if !(rest.len() == length || rest[length..].starts_with(',')) {
                return Err("text follows a quoted field before the next comma");
            }
            (text, length)
        } else {
            let length = rest.find(',').unwrap_or(rest.len());
            (Cow::Borrowed(&rest[..length]), length)
        };
        fields.push(Field { text: field, start: at, end: at + length });
        at += length;
        if at == text.len() {
            return Ok(fields);
        }
        at += 1;
    }
}

/// Byte offset of the quote that closes a field whose opening quote is already behind us.
fn closing_quote(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        from = at + 2;
    }
}

impl Row<'_> {
    pub fn text(&self, column: usize) -> &str {
        self.fields[column].text.trim()
    }

    /// A warning about a field.
    pub fn warning(&self, code: &'static str, column: usize, message: impl Into<String>) -> Finding {
        let field = &self.fields[column];
        self.line.warning(code, field.start, field.end, message)
    }

    /// A whole number between `low` and `high`.
    ///
    /// # Errors
    /// SG063 when it is not a whole number, SG064 when it is out of range.
    pub fn integer(&self, column: usize, what: &str, low: i64, high: i64) -> Result<i64, Finding> {
        let text = self.text(column);
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("{what} is `{}`, and a whole number is expected", shorten(text));
            return Err(self.warning(codes::NUMBER, column, message));
        }
        // Digits only: what does not parse is too large.
        match text.parse::<i64>() {
            Ok(value) if (low..=high).contains(&value) => Ok(value),
            _ => {
                let message = format!("{what} is {}, and between {low} and {high} is expected", shorten(text));
                Err(self.warning(codes::RANGE, column, message))
            }
        }
    }
}

/// At most forty characters of a text that came from outside.
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(39).chain(['…']).collect() }
}
