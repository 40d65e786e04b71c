//! Findings for people and for programs: excerpts with carets, or JSON with lines and columns.
//!
//! The text is the same on every terminal; colour is added and taken away by `anstream` at the end. Everything that
//! comes from a file is shown with its control characters made visible, so that no manifest can move the cursor.
//! Deliberately absent: deciding what is wrong. A finding says it all.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use crate::failure::{Finding, Lines, Severity, Span};

/// How findings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// With escape codes for colour; print through `anstream`, which removes them where they do not belong.
    pub styled: bool,
    /// Columns of the terminal; longer lines are cut around the caret.
    pub width: usize,
    /// How many findings are shown; the last line counts all of them.
    pub most: usize,
}

impl Default for Look {
    fn default() -> Self {
        // 140 columns hold a finding without wrapping; fifty findings are as many as anybody reads at once.
        Self { styled: false, width: 140, most: 50 }
    }
}

/// All findings, by file and place, with a closing line that counts them. Empty when there are none.
#[must_use]
pub fn render(findings: &[Finding], look: Look) -> String {
    let sorted = sorted(findings);
    let mut lines = Lines::default();
    let renderer = if look.styled { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(look.width);
    let mut text = String::new();
    for finding in sorted.iter().take(look.most) {
        text.push_str(&one(finding, &renderer, &mut lines));
        text.push_str("\n\n");
    }
    if !sorted.is_empty() {
        text.push_str(&closing_line(&sorted, look.most));
        text.push('\n');
    }
    text
}

/// `3 errors, 1 warning`.
#[must_use]
pub fn count(findings: &[Finding]) -> String {
    closing_line(&sorted(findings), usize::MAX)
}

/// The findings as JSON values, by file and place.
///
/// Lines and columns begin at 1 and count characters; `endLine` and `endColumn` are those just past the end.
#[must_use]
pub fn json(findings: &[Finding]) -> Vec<serde_json::Value> {
    let mut lines = Lines::default();
    let documents = sorted(findings).into_iter().map(|finding| FindingDoc::new(finding, &mut lines));
    documents.filter_map(|document| serde_json::to_value(document).ok()).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingDoc<'a> {
    code: &'a str,
    severity: Severity,
    subject: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(flatten)]
    place: Option<Place<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl<'a> FindingDoc<'a> {
    fn new(finding: &'a Finding, lines: &mut Lines) -> Self {
        let place = finding.span.as_ref().map(|span| {
            let (line, column) = lines.locate(&span.file, span.start);
            let (end_line, end_column) = lines.locate(&span.file, span.end);
            Place { file: &span.file.path, line, column, end_line, end_column }
        });
        Self {
            code: finding.code,
            severity: finding.severity,
            subject: &finding.subject,
            message: &finding.message,
            label: finding.label.as_deref(),
            hint: finding.hint.as_deref(),
            place,
        }
    }
}

/// By file, place and code; what has no place comes last. The same finding is told once.
fn sorted(findings: &[Finding]) -> Vec<&Finding> {
    fn key(finding: &Finding) -> (bool, &str, usize, usize, &str, &str, &str) {
        let span = finding.span.as_ref();
        let path = span.map_or("", |span| span.file.path.as_str());
        let (start, end) = span.map_or((0, 0), |span| (span.start, span.end));
        (span.is_none(), path, start, end, finding.code, &finding.subject, &finding.message)
    }
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|one, other| key(one).cmp(&key(other)));
    sorted.dedup_by(|one, other| key(one) == key(other));
    sorted
}

fn closing_line(findings: &[&Finding], most: usize) -> String {
    let of = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let plural = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {one}s")),
    };
    let parts = [
        plural(of(Severity::Error), "error"),
        plural(of(Severity::Warning), "warning"),
        plural(of(Severity::Note), "note"),
    ];
    let counts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match findings.len().saturating_sub(most) {
        0 => counts,
        hidden => format!("{counts} ({hidden} of them not shown)"),
    }
}

fn one(finding: &Finding, renderer: &Renderer, lines: &mut Lines) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let subject = visible(&finding.subject);
    let mut message = visible(&finding.message).into_owned();
    let Some(span) = &finding.span else {
        if !message.contains(subject.as_ref()) {
            message = format!("{subject}: {message}");
        }
        let group = level.primary_title(message).id(finding.code).elements(footers(finding, None));
        return renderer.render(&[group]);
    };

    let (line, column) = lines.locate(&span.file, span.start);
    let excerpt = Excerpt::around(span, lines);
    let label = finding.label.as_deref().map(visible).unwrap_or_default();
    let annotation = AnnotationKind::Primary.span(excerpt.mark.clone()).label(label);
    let snippet = Snippet::source(excerpt.text.as_str()).line_start(line).annotation(annotation);
    let path = visible(&span.file.path);
    let subject = shortened(subject);
    let named = span.file.path != finding.subject && !message.contains(subject.as_ref());
    let title = level.primary_title(message).id(finding.code);
    // In a line that was cut, the column is not the excerpt's own.
    let group: Group<'_> = if excerpt.cut {
        title.element(Origin::path(path).line(line).char_column(column)).element(snippet)
    } else {
        title.element(snippet.path(path))
    };
    let group = group.elements(footers(finding, named.then_some(subject)));
    renderer.render(&[group])
}

fn footers<'a>(finding: &'a Finding, subject: Option<Cow<'a, str>>) -> Vec<annotate_snippets::Message<'a>> {
    let mut footers = Vec::new();
    footers.extend(subject.map(|subject| Level::NOTE.with_name("in").message(subject)));
    footers.extend(finding.hint.as_deref().map(|hint| Level::HELP.message(visible(hint))));
    footers
}

/// The line a span begins on, or as much of it as fits a screen, and the span's part of it.
struct Excerpt {
    text: String,
    mark: Range<usize>,
    /// Whether the line was too long to show whole.
    cut: bool,
}

impl Excerpt {
    /// Context on either side of a caret in a line that is too long to show (JSON without line breaks).
    const CONTEXT: usize = 60;
    /// Lines up to this many bytes are shown whole.
    const WHOLE: usize = 400;

    fn around(span: &Span, lines: &mut Lines) -> Self {
        let text = &span.file.text;
        let line = lines.line(&span.file, span.start);
        let start = span.start.clamp(line.start, line.end);
        let mut end = span.end.clamp(start, line.end);
        let mut shown = line.clone();
        let (mut before, mut after) = ("", "");
        if line.len() > Self::WHOLE {
            end = end.min(text.floor_char_boundary(start + Self::CONTEXT));
            shown.start = text.floor_char_boundary(start.saturating_sub(Self::CONTEXT)).max(line.start);
            shown.end = text.floor_char_boundary(end + Self::CONTEXT).min(line.end).max(end);
            before = if shown.start > line.start { "… " } else { "" };
            after = if shown.end < line.end { " …" } else { "" };
        }
        let mark = start - shown.start + before.len()..end - shown.start + before.len();
        let cut = line.len() > Self::WHOLE;
        Self { text: format!("{before}{}{after}", harmless(&text[shown])), mark, cut }
    }
}

/// An excerpt without what could act on a terminal, every character as long in bytes as it was, so that marks stay.
/// The renderer itself makes ASCII control characters visible.
fn harmless(excerpt: &str) -> Cow<'_, str> {
    let acts = |c: char| !c.is_ascii() && acts_on_terminals(c);
    if !excerpt.contains(acts) {
        return Cow::Borrowed(excerpt);
    }
    // Two bytes for control characters beyond ASCII, three for the marks of direction.
    let stand_in = |c: char| if c.len_utf8() == 2 { '\u{B7}' } else { char::REPLACEMENT_CHARACTER };
    Cow::Owned(excerpt.chars().map(|c| if acts(c) { stand_in(c) } else { c }).collect())
}

/// Control characters and the marks that turn the direction of text.
fn acts_on_terminals(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A name of ordinary length; the excerpt shows the rest.
fn shortened(name: Cow<'_, str>) -> Cow<'_, str> {
    const MOST: usize = 100;
    match name.char_indices().nth(MOST) {
        Some((at, _)) => Cow::Owned(format!("{}…", &name[..at])),
        None => name,
    }
}

/// Text from the input with everything that could act on a terminal, or turn its direction, made visible.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_terminals) {
        return Cow::Borrowed(text);
    }
    let escaped =
        text.chars().map(|c| if acts_on_terminals(c) { c.escape_default().to_string() } else { c.to_string() });
    Cow::Owned(escaped.collect())
}
