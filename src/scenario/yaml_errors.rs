//! What the YAML parser's complaints mean to somebody who writes manifests.
//!
//! The parser speaks of "block mappings" and "simple keys", and often stops a line behind the culprit. The text around
//! it usually says what was meant; where it does not, the parser's own words are given, for they can be searched for.

use std::ops::Range;

use super::build::Fault;
use super::codes;

/// Where and how the parser stopped.
#[derive(Debug, Clone)]
pub struct Stop<'a> {
    pub text: &'a str,
    /// The document, from its `---` to the next.
    pub document: Range<usize>,
    /// The byte of `text` at which it stopped.
    pub at: usize,
    /// The number of its line.
    pub line: usize,
    /// Where the innermost open collection begins.
    pub open_since: Option<usize>,
    /// The parser's words.
    pub info: &'a str,
}

/// A syntax error as a fault.
#[must_use]
pub fn explain(stop: &Stop<'_>) -> Fault {
    let at = stop.text.floor_char_boundary(stop.at);
    by_line(stop, at)
        .or_else(|| open_bracket(stop, at))
        .or_else(|| line_before(stop, at))
        .unwrap_or_else(|| by_words(stop, at))
}

/// A document that is a template, if the line at `at` says so.
#[must_use]
pub fn template(text: &str, at: usize) -> Option<Fault> {
    let line = line_at(text, text.floor_char_boundary(at));
    let start = line.start + text[line.clone()].find("{{")?;
    let end = text[start..line.end].find("}}").map_or(line.end, |length| start + length + 2);
    let fault = syntax((start, end), "this looks like a template that has not been rendered", "not YAML yet");
    Some(fault.hint("render it first, for example with `helm template` or `kustomize build`"))
}

fn syntax(at: (usize, usize), message: impl Into<String>, label: &str) -> Fault {
    Fault::new(codes::SYNTAX, at, message, label)
}

/// What the line itself shows: tabs, templates, the marks of a merge.
fn by_line(stop: &Stop<'_>, at: usize) -> Option<Fault> {
    let line = line_at(stop.text, at);
    let text = &stop.text[line.clone()];
    let indent = text.len() - text.trim_start().len();
    if let Some(tab) = text[..indent].find('\t') {
        let tab = line.start + tab;
        let fault = syntax((tab, tab + 1), "a tab stands in the indentation; YAML is indented with spaces", "a tab");
        return Some(fault.hint("replace each tab with spaces"));
    }
    template(stop.text, at).or_else(|| merge_mark(stop))
}

fn merge_mark(stop: &Stop<'_>) -> Option<Fault> {
    let document = &stop.text[stop.document.clone()];
    let found = document.match_indices("<<<<<<< ").find(|(at, _)| *at == 0 || document[..*at].ends_with('\n'))?;
    let line = line_at(stop.text, stop.document.start + found.0);
    Some(syntax((line.start, line.end), "a merge conflict has not been resolved", "conflict marker"))
}

/// A bracket that is not closed: the parser stops at the end of the document, or at the next key.
fn open_bracket(stop: &Stop<'_>, at: usize) -> Option<Fault> {
    let start = stop.open_since?;
    let bracket = stop.text[start..].chars().next().filter(|bracket| matches!(bracket, '{' | '['))?;
    let at_the_end = stop.text[at..stop.document.end].trim().is_empty();
    let next_line = stop.text[start..at].contains('\n');
    if !at_the_end && !next_line {
        return None;
    }
    let closing = if bracket == '{' { '}' } else { ']' };
    let before = if at_the_end { "the document ends".to_owned() } else { format!("line {}", stop.line) };
    let fault = syntax((start, start + 1), format!("`{bracket}` is not closed before {before}"), "opened here");
    Some(fault.hint(format!("add `{closing}`, or `,` between the items")))
}

/// A line that is neither key nor item is complained of on the next one.
fn line_before(stop: &Stop<'_>, at: usize) -> Option<Fault> {
    if !matches!(stop.info, "simple key expected" | "simple key expect ':'") {
        return None;
    }
    let mut line = line_at(stop.text, at);
    while line.start > stop.document.start {
        line = line_at(stop.text, line.start - 1);
        let text = stop.text[line.clone()].trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if text.contains(": ") || text.ends_with(':') || text == "---" {
            return None;
        }
        let start = line.start + stop.text[line.clone()].find(text)?;
        let span = (start, start + text.len());
        return Some(match text.split_once(':').or_else(|| text.split_once(' ')) {
            Some((key, value)) if !key.contains(' ') && !value.is_empty() => {
                let fault = syntax(span, "a key is followed by a colon and a space", "not `key: value`");
                fault.hint(format!("write `{key}: {}`", value.trim()))
            }
            _ => syntax(span, "this line is neither `key: value` nor `- item`", "no `: ` in it"),
        });
    }
    None
}

/// What the parser's words mean.
fn by_words(stop: &Stop<'_>, at: usize) -> Fault {
    let character = stop.text[at..].chars().next().filter(|next| !matches!(next, '\n' | '\r'));
    let here = (at, character.map_or(at, |next| at + next.len_utf8()));
    let say = |message: &str, label: &str| syntax(here, message, label);
    match stop.info {
        "mapping values are not allowed in this context" => match value_with_colon(stop.text, at) {
            Some(value) => say("a value with `: ` in it needs quotes", "this colon starts another key")
                .hint(format!("write \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))),
            None => {
                say("a key stands where none can: the indentation does not match the lines above", "unexpected key")
                    .hint("keys of one map begin in the same column")
            }
        },
        "while parsing a block mapping, did not find expected key"
        | "while parsing a block collection, did not find expected '-' indicator"
        | "invalid indentation" => say("the indentation does not match any of the lines above", "unexpected here")
            .hint("keys of one map, and the dashes of one list, begin in the same column"),
        "simple key expected" | "simple key expect ':'" => {
            say("this line is neither `key: value` nor `- item`", "no `: ` after a key")
        }
        "while parsing a flow mapping, did not find expected ',' or '}'" => {
            say("a map in braces is neither continued with `,` nor ended with `}`", "expected `,` or `}`")
        }
        "while parsing a flow sequence, expected ',' or ']'" => {
            say("a list in brackets is neither continued with `,` nor ended with `]`", "expected `,` or `]`")
        }
        "while scanning a quoted scalar, found unexpected end of stream"
        | "while scanning a quoted scalar, found unexpected document indicator" => {
            say("a quoted text is not ended", "the quote is opened here").hint("add the closing quote")
        }
        "invalid trailing content after double-quoted scalar" => {
            say("something follows a quoted text on the same line", "unexpected after the quote")
        }
        "while parsing a quoted scalar, found unknown escape character" => {
            say("a backslash in double quotes begins an escape that YAML does not know", "in this text")
                .hint("write \\\\ for a backslash, or use single quotes")
        }
        "while parsing node, found unknown anchor" => {
            let word =
                stop.text[at..].find([' ', ',', ']', '}', '\n', '\r']).map_or(stop.text.len(), |length| at + length);
            let message = "an alias names an anchor that does not stand before it in this document";
            Fault::new(codes::ALIAS, (at, word), message, "no such anchor")
        }
        "block sequence entries are not allowed in this context" => {
            say("a list item stands where none can", "unexpected `-`").hint("put the list on a line of its own")
        }
        "recursion limit exceeded" => Fault::new(codes::TOO_DEEP, here, "nested too deeply", "one level too deep"),
        words => say(&format!("not valid YAML: {words}"), "the parser stopped here"),
    }
}

/// The value of a line such as `a: b: c`: a colon and a space within an unquoted value.
fn value_with_colon(text: &str, at: usize) -> Option<&str> {
    let (_, value) = text[line_at(text, at)].split_once(": ")?;
    let value = value.trim();
    let unquoted = !value.starts_with(['"', '\'', '{', '[', '&', '*', '!', '|', '>']);
    (unquoted && value.contains(": ")).then_some(value)
}

/// The line around a byte, without its end.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end.max(start)
}
