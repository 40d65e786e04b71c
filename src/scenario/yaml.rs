//! YAML text, cut into its documents and read one by one, so that an error in one does not hide those of the others.
//!
//! A line that begins with `---` always begins a document in YAML, whatever stands around it; that is what makes the
//! cut safe. Deliberately absent: types. A document becomes a JSON value, with spans.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::Value;

use super::build::{Builder, Document, Fault, Inside};
use super::codes;
use super::limits::Budget;
use super::scalar::{self, Plain};
use super::yaml_errors::{self, Stop};

/// Reads every document of `text`, in order, into `sink`. An error ends its own document only.
pub fn read(text: &str, budget: &mut Budget, sink: &mut dyn FnMut(Result<Document, Fault>, Vec<Fault>)) {
    let mut breaks = Breaks { text, at: 0, count: 0 };
    for range in documents(text) {
        read_segment(text, range, budget, &mut breaks, sink);
    }
}

/// The stretches between document markers. Directives (`%YAML`) stay with the document they precede.
fn documents(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut ranges = Vec::new();
    let mut start = 0;
    let candidates = text.match_indices("\n---").chain(text.match_indices("\r---"));
    let mut cuts: Vec<usize> = candidates
        .map(|(at, _)| at + 1)
        .filter(|at| matches!(bytes.get(at + 3), None | Some(b' ' | b'\t' | b'\r' | b'\n')))
        .collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    for cut in cuts {
        let holds_content =
            text[start..cut].lines().any(|line| !matches!(line.trim_start().bytes().next(), None | Some(b'#' | b'%')));
        if holds_content {
            ranges.push(start..cut);
            start = cut;
        }
    }
    ranges
}

fn read_segment(
    text: &str,
    range: Range<usize>,
    budget: &mut Budget,
    breaks: &mut Breaks<'_>,
    sink: &mut dyn FnMut(Result<Document, Fault>, Vec<Fault>),
) {
    let segment = &text[range.clone()];
    let mut parser = Parser::new_from_str(segment);
    let mut builder = Builder::new(budget);
    let mut cursor = Cursor::new(segment, range.start);
    while let Some(step) = parser.next_event() {
        let taken = match step {
            Ok((Event::DocumentEnd, _)) => {
                let document = builder.finish();
                let faults = builder.take_faults();
                if let Some(document) = document {
                    sink(Ok(document), faults);
                }
                continue;
            }
            Ok((event, span)) => {
                let at = (cursor.byte(span.start), cursor.byte(span.end));
                take(&mut builder, event, (at.0, at.1.max(at.0)))
            }
            Err(error) => {
                let at = cursor.byte(*error.marker());
                Err(yaml_errors::explain(&Stop {
                    text,
                    document: range.clone(),
                    at,
                    line: breaks.line(at),
                    open_since: builder.open_since(),
                    info: error.info(),
                }))
            }
        };
        if let Err(fault) = taken {
            // `{{ name }}` is a map as a key to YAML, and a template to whoever wrote it.
            let fault = match fault.code {
                codes::SHAPE => yaml_errors::template(text, fault.at.0).unwrap_or(fault),
                _ => fault,
            };
            sink(Err(fault), builder.take_faults());
            return;
        }
    }
}

fn take(builder: &mut Builder<'_>, event: Event<'_>, at: (usize, usize)) -> Result<(), Fault> {
    match event {
        Event::MappingStart(anchor, tag) => {
            check_tag(builder, tag.as_deref(), "map", at);
            builder.open(false, at, anchor)
        }
        Event::SequenceStart(anchor, tag) => {
            check_tag(builder, tag.as_deref(), "seq", at);
            builder.open(true, at, anchor)
        }
        // A closing bracket has a length; the end of a block has none.
        Event::MappingEnd | Event::SequenceEnd => builder.close((at.1 > at.0).then_some(at.1)),
        Event::Alias(anchor) => builder.alias(anchor, at),
        Event::Scalar(text, style, anchor, tag) => take_scalar(builder, &text, style, anchor, tag.as_deref(), at),
        Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => Ok(()),
    }
}

fn take_scalar(
    builder: &mut Builder<'_>,
    text: &str,
    style: ScalarStyle,
    anchor: usize,
    tag: Option<&Tag>,
    at: (usize, usize),
) -> Result<(), Fault> {
    if builder.inside() == Inside::MapKey {
        if text.is_empty() && style == ScalarStyle::Plain {
            return Err(Fault::new(codes::SHAPE, at, "a key is missing before `:`", "expected a key"));
        }
        return builder.key(text, at);
    }
    let value = match (tag, style) {
        (Some(tag), _) => tagged(builder, tag, text, style, at)?,
        (None, ScalarStyle::Plain) => unquoted(builder, text, at)?,
        (None, _) => Value::String(text.to_owned()),
    };
    builder.scalar(value, at, anchor)
}

fn unquoted(builder: &mut Builder<'_>, text: &str, at: (usize, usize)) -> Result<Value, Fault> {
    if builder.expects_text() && scalar::old_boolean(text).is_some() {
        let message = format!("Kubernetes reads {text} without quotes as a boolean, but this is a place for text");
        let fault = Fault::new(codes::OLD_BOOLEAN, at, message, "taken as text here");
        builder.note(fault.hint(format!("write it in quotes: \"{text}\"")).mild());
        return Ok(Value::String(text.to_owned()));
    }
    match scalar::plain(text) {
        Plain::Value(value) => Ok(value),
        Plain::Unholdable => {
            let message = format!("{text} is a number that Kubernetes cannot hold");
            Err(Fault::new(codes::SHAPE, at, message, "not a finite number"))
        }
    }
}

/// A scalar with a tag: `!!str 5`, `!!int "5"`.
fn tagged(
    builder: &mut Builder<'_>,
    tag: &Tag,
    text: &str,
    style: ScalarStyle,
    at: (usize, usize),
) -> Result<Value, Fault> {
    let plain = style == ScalarStyle::Plain;
    if !tag.is_yaml_core_schema() {
        check_tag(builder, Some(tag), "str", at);
        return if plain { unquoted(builder, text, at) } else { Ok(Value::String(text.to_owned())) };
    }
    let resolved = match scalar::plain(text) {
        Plain::Value(value) => value,
        Plain::Unholdable => Value::Null,
    };
    let fits = match tag.suffix.as_str() {
        "str" | "timestamp" | "binary" => return Ok(Value::String(text.to_owned())),
        "null" => resolved.is_null(),
        "bool" => resolved.is_boolean(),
        "int" => resolved.is_i64() || resolved.is_u64(),
        "float" => resolved.is_number(),
        _ => false,
    };
    if fits {
        return Ok(resolved);
    }
    let message = format!("`{text}` is not what its tag `!!{}` says", tag.suffix);
    Err(Fault::new(codes::ALIAS, at, message, "tag and value disagree"))
}

/// Warns of tags that Kubernetes does not know.
fn check_tag(builder: &mut Builder<'_>, tag: Option<&Tag>, expected: &str, at: (usize, usize)) {
    let Some(tag) = tag else { return };
    if tag.is_yaml_core_schema() && tag.suffix == expected {
        return;
    }
    let message = format!("the tag `{tag}` means nothing to Kubernetes");
    builder.note(Fault::new(codes::ALIAS, at, message, "the tag is ignored").mild());
}

/// Numbers of lines, for positions that ascend: a file of many errors is counted once.
struct Breaks<'a> {
    text: &'a str,
    at: usize,
    count: usize,
}

impl Breaks<'_> {
    /// The number of the line around a byte, from 1.
    fn line(&mut self, at: usize) -> usize {
        let at = self.text.floor_char_boundary(at).max(self.at);
        self.count += self.text[self.at..at].matches('\n').count();
        self.at = at;
        self.count + 1
    }
}

/// Turns the parser's character positions into bytes of the file. It walks from the last position: positions are
/// nearly ascending, so the whole file costs one walk.
struct Cursor<'a> {
    text: &'a str,
    base: usize,
    /// In ASCII text characters are bytes.
    ascii: bool,
    character: usize,
    byte: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str, base: usize) -> Self {
        Self { text, base, ascii: text.is_ascii(), character: 0, byte: 0 }
    }

    fn byte(&mut self, marker: Marker) -> usize {
        let wanted = marker.index();
        if self.ascii {
            return self.base + wanted.min(self.text.len());
        }
        while self.character > wanted {
            let before = self.text[..self.byte].chars().next_back();
            self.byte -= before.map_or(0, char::len_utf8);
            self.character -= 1;
        }
        let mut rest = self.text[self.byte..].chars();
        while self.character < wanted {
            let Some(next) = rest.next() else { break };
            self.byte += next.len_utf8();
            self.character += 1;
        }
        self.base + self.byte
    }
}
