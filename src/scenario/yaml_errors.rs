//! What the YAML parser's complaints mean to somebody who writes manifests.
//!
//! The parser speaks of "block mappings" and "simple keys". The line it stopped at usually says what was meant; where
//! it does not, the parser's own words are given, for they can be searched for.

use super::build::Fault;
use super::codes;

/// A syntax error as a fault. `at` is a byte of `text`.
#[must_use]
pub fn explain(text: &str, at: usize, info: &str) -> Fault {
    let at = floor(text, at);
    let line = Line::around(text, at);
    let (message, label, hint) = told(&line, info);
    let end =
        text[at..].chars().next().filter(|next| !matches!(next, '\n' | '\r')).map_or(at, |next| at + next.len_utf8());
    let span = line.tab().unwrap_or((at, end));
    let fault = Fault::new(codes::SYNTAX, span, message, label);
    if let Some(hint) = hint { fault.hint(hint) } else { fault }
}

/// The line an error is on.
struct Line<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Line<'a> {
    fn around(text: &'a str, at: usize) -> Self {
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        Self { text: &text[start..end], start }
    }

    /// A tab in the indentation.
    fn tab(&self) -> Option<(usize, usize)> {
        let indent = self.text.len() - self.text.trim_start().len();
        let at = self.text[..indent].find('\t')?;
        Some((self.start + at, self.start + at + 1))
    }

    /// A value such as `a: b: c`: a colon and a space within an unquoted value.
    fn value_with_colon(&self) -> Option<&'a str> {
        let (_, value) = self.text.split_once(": ")?;
        let value = value.trim();
        let unquoted = !value.starts_with(['"', '\'', '{', '[', '&', '*', '!', '|', '>']);
        (unquoted && value.contains(": ")).then_some(value)
    }
}

type Told = (String, &'static str, Option<String>);

fn told(line: &Line<'_>, info: &str) -> Told {
    let hint = |text: &str| Some(text.to_owned());
    if line.tab().is_some() {
        let message = "a tab stands in the indentation; YAML is indented with spaces".to_owned();
        return (message, "a tab", hint("replace each tab with spaces"));
    }
    if line.text.contains("{{") {
        let message = "this looks like a template that has not been rendered".to_owned();
        return (
            message,
            "not YAML yet",
            hint("render it first, for example with `helm template` or `kustomize build`"),
        );
    }
    if line.text.starts_with("<<<<<<<") || line.text.starts_with("=======") || line.text.starts_with(">>>>>>>") {
        return ("a merge conflict has not been resolved".to_owned(), "conflict marker", None);
    }
    match info {
        "mapping values are not allowed in this context" => match line.value_with_colon() {
            Some(value) => (
                "a value with `: ` in it needs quotes".to_owned(),
                "this colon starts another key",
                Some(format!("write \"{}\"", value.replace('"', "\\\""))),
            ),
            None => (
                "a key stands where none can: the indentation does not match the lines above".to_owned(),
                "unexpected key",
                hint("keys of one map begin in the same column"),
            ),
        },
        "while parsing a block mapping, did not find expected key"
        | "while parsing a block collection, did not find expected '-' indicator"
        | "invalid indentation" => (
            "the indentation does not match any of the lines above".to_owned(),
            "unexpected here",
            hint("keys of one map, and the dashes of one list, begin in the same column"),
        ),
        "simple key expected" | "simple key expect ':'" => (
            "this line is neither `key: value` nor `- item`".to_owned(),
            "no `:` after the key",
            hint("there is a space after the colon of every key"),
        ),
        "while parsing a flow mapping, did not find expected ',' or '}'" => {
            ("a map in braces is not continued with `,` nor ended with `}`".to_owned(), "expected `,` or `}`", None)
        }
        "while parsing a flow sequence, expected ',' or ']'" => {
            ("a list in brackets is not continued with `,` nor ended with `]`".to_owned(), "expected `,` or `]`", None)
        }
        "while scanning a quoted scalar, found unexpected end of stream" => {
            ("a quoted text is not ended".to_owned(), "the file ends here", hint("add the closing quote"))
        }
        "while scanning a quoted scalar, found unexpected document indicator" => (
            "a quoted text is not ended before the next document".to_owned(),
            "the document ends here",
            hint("add the closing quote"),
        ),
        "invalid trailing content after double-quoted scalar" => {
            ("something follows a quoted text on the same line".to_owned(), "unexpected after the quote", None)
        }
        "while parsing a quoted scalar, found unknown escape character" => (
            "a backslash in double quotes begins an escape that YAML does not know".to_owned(),
            "unknown escape",
            hint("write \\\\ for a backslash, or use single quotes"),
        ),
        "while parsing node, found unknown anchor" => (
            "an alias names an anchor that does not stand before it in this document".to_owned(),
            "unknown anchor",
            None,
        ),
        "block sequence entries are not allowed in this context" => (
            "a list item stands where none can".to_owned(),
            "unexpected `-`",
            hint("put the list on a line of its own"),
        ),
        "recursion limit exceeded" => ("nested too deeply".to_owned(), "one level too deep", None),
        _ => (format!("not valid YAML: {info}"), "the parser stopped here", None),
    }
}

/// The last character border at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
