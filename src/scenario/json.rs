//! JSON text with spans, feeding the same builder as YAML.
//!
//! YAML is nearly a superset of JSON, but not in tabs and in surrogate pairs, and `kubectl get -o json` is often the
//! largest input there is: this reader is several times faster.

use serde_json::{Number, Value};

use super::build::{Builder, Document, Fault, Inside};
use super::codes;
use super::limits::Budget;

/// Reads every document of `text` (one, or several in a row), in order, into `sink`, up to the first error.
///
/// # Errors
/// Where the text stops being JSON, or a limit is reached.
pub fn read(text: &str, budget: &mut Budget, sink: &mut dyn FnMut(Document, Vec<Fault>)) -> Result<(), Fault> {
    let mut scanner = Scanner { text, at: 0 };
    let mut builder = Builder::new(budget);
    while scanner.peek().is_some() {
        scanner.document(&mut builder)?;
        let document = builder.finish();
        let faults = builder.take_faults();
        if let Some(document) = document {
            sink(document, faults);
        }
    }
    Ok(())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn document(&mut self, builder: &mut Builder<'_>) -> Result<(), Fault> {
        loop {
            if builder.inside() == Inside::MapKey {
                self.key(builder)?;
            } else {
                self.value(builder)?;
            }
            if self.after_value(builder)? {
                return Ok(());
            }
        }
    }

    /// Consumes what may follow a value, up to the next key or value. True when the document is complete.
    fn after_value(&mut self, builder: &mut Builder<'_>) -> Result<bool, Fault> {
        loop {
            let inside = builder.inside();
            let next = self.peek();
            match (inside, next) {
                (Inside::Nothing, _) => return Ok(true),
                // A collection that was just opened, or a key that was just read.
                (Inside::MapValue, _) => return Ok(false),
                (Inside::MapKey, Some(b'}')) | (Inside::List, Some(b']')) => {
                    self.at += 1;
                    builder.close(Some(self.at))?;
                }
                _ if self.just_opened() => return Ok(false),
                (_, Some(b',')) => {
                    self.at += 1;
                    return Ok(false);
                }
                (Inside::MapKey, _) => return Err(self.expected("`,` or `}`")),
                (Inside::List, _) => return Err(self.expected("`,` or `]`")),
            }
        }
    }

    /// Whether the last thing that is not white space was an opening bracket.
    fn just_opened(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\t', '\n', '\r']);
        before.ends_with(['{', '['])
    }

    fn key(&mut self, builder: &mut Builder<'_>) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let (text, at) = self.string()?;
        builder.key(&text, at)?;
        if self.peek() != Some(b':') {
            return Err(self.expected("`:` after the key"));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, builder: &mut Builder<'_>) -> Result<(), Fault> {
        let next = self.peek();
        let start = self.at;
        match next {
            Some(b'{' | b'[') => {
                self.at += 1;
                builder.open(next == Some(b'['), (start, start + 1), 0)
            }
            Some(b'"') => {
                let (text, at) = self.string()?;
                builder.scalar(Value::String(text), at, 0)
            }
            Some(b'-' | b'0'..=b'9') => {
                let length = self
                    .rest()
                    .bytes()
                    .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
                    .count();
                let end = start + length;
                let number: Number = serde_json::from_str(&self.text[start..end]).map_err(|_| {
                    let message = format!("`{}` is not a number of JSON", &self.text[start..end]);
                    Fault::new(codes::SYNTAX, (start, end), message, "not a number")
                })?;
                self.at = end;
                builder.scalar(Value::Number(number), (start, end), 0)
            }
            _ => {
                let words = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
                let Some((word, value)) = words.into_iter().find(|(word, _)| self.rest().starts_with(word)) else {
                    return Err(self.expected("a value"));
                };
                self.at += word.len();
                builder.scalar(value, (start, self.at), 0)
            }
        }
    }

    /// A string, the opening quote being next.
    fn string(&mut self) -> Result<(String, (usize, usize)), Fault> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(byte) if *byte >= 0x20 => at += 1,
                found => {
                    let what = if found.is_some() {
                        "a line break or control character stands in a text"
                    } else {
                        "a text is not ended"
                    };
                    let end = at.min(self.text.len());
                    return Err(
                        Fault::new(codes::SYNTAX, (start, end), what, "this text").hint("add the closing quote")
                    );
                }
            }
        }
        self.at = at + 1;
        let span = (start, self.at);
        if !escaped {
            return Ok((self.text[start + 1..at].to_owned(), span));
        }
        let text = serde_json::from_str(&self.text[start..self.at]);
        text.map(|text| (text, span)).map_err(|_| {
            Fault::new(codes::SYNTAX, span, "a text holds an escape that JSON does not know", "in this text")
        })
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.rest();
        self.at += rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn expected(&self, what: &str) -> Fault {
        let before = self.text[..self.at].trim_end();
        if self.rest().is_empty() {
            // The end of a file is shown at what stands last in it.
            let start = before.char_indices().next_back().map_or(0, |(at, _)| at);
            let message = format!("expected {what}, found the end of the file");
            return Fault::new(codes::SYNTAX, (start, before.len()), message, "the file ends behind this");
        }
        let found = self.rest().chars().next();
        let end = self.at + found.map_or(0, char::len_utf8);
        let character = found.unwrap_or_default();
        let message = format!("expected {what}, found `{character}`");
        let fault = Fault::new(codes::SYNTAX, (self.at, end), message, format!("expected {what}"));
        match character {
            '}' | ']' if before.ends_with(',') => fault.hint("JSON takes no comma after the last item: remove it"),
            '\'' => fault.hint("JSON takes double quotes only"),
            '/' | '#' => fault.hint("JSON has no comments"),
            _ => fault,
        }
    }
}
