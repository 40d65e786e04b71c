//! Findings as text and as JSON: order, counts, limits, and that no input reaches the terminal unescaped.

use std::sync::Arc;

use serde_json::json;
use stagger::cli::diagnostics::{Look, count, json as to_json, render};
use stagger::failure::{Finding, SourceFile, Span};

#[expect(clippy::unnecessary_wraps, reason = "findings take an optional place")]
fn span(text: &str, start: usize, end: usize) -> Option<Span> {
    let file = Arc::new(SourceFile { path: "a.yaml".to_owned(), text: text.to_owned() });
    Some(Span { file, start, end })
}

#[test]
fn findings_stand_by_file_and_place_and_the_same_one_is_told_once() {
    let text = "first: 1\nsecond: 2\n";
    let second = Finding::warning("SG009", "x", "the second").at(span(text, 9, 15), "here");
    let first = Finding::error("SG003", "x", "the first").at(span(text, 0, 5), "here").hint("do this");
    let nowhere = Finding::note("SG018", "nowhere", "has no place");
    let all = [nowhere, second.clone(), first, second];
    let expected = "\
error[SG003]: the first
 --> a.yaml:1:1
  |
1 | first: 1
  | ^^^^^ here
  |
  = in: x
  = help: do this

warning[SG009]: the second
 --> a.yaml:2:1
  |
2 | second: 2
  | ^^^^^^ here
  |
  = in: x

note[SG018]: nowhere: has no place

1 error, 1 warning, 1 note
";
    assert_eq!(render(&all, Look::default()), expected);
    assert_eq!(count(&all), "1 error, 1 warning, 1 note");
}

#[test]
fn nothing_is_said_of_nothing() {
    assert_eq!(render(&[], Look::default()), "");
    assert!(to_json(&[]).is_empty());
}

#[test]
fn what_is_not_shown_is_counted() {
    let many: Vec<Finding> = (0..7).map(|at| Finding::error("SG003", format!("x{at}"), "wrong")).collect();
    let text = render(&many, Look { most: 2, ..Look::default() });
    assert!(text.ends_with("7 errors (5 of them not shown)\n"), "{text}");
}

#[test]
fn json_gives_line_and_column_in_characters() {
    let text = "é: 1\nb: 'öl'\n";
    let at = text.find('\'').expect("a quote");
    let finding = Finding::error("SG003", "x", "wrong").at(span(text, at, at + 5), "here").hint("do");
    let expected = json!({
        "code": "SG003", "severity": "Error", "subject": "x", "message": "wrong", "label": "here", "hint": "do",
        "file": "a.yaml", "line": 2, "column": 4, "endLine": 2, "endColumn": 8,
    });
    assert_eq!(to_json(&[finding]), [expected]);
}

#[test]
fn colour_is_there_only_when_asked_for() {
    let finding = [Finding::error("SG003", "x", "wrong").at(span("a: 1", 0, 1), "here")];
    assert!(!render(&finding, Look::default()).contains('\u{1b}'));
    assert!(render(&finding, Look { styled: true, ..Look::default() }).contains('\u{1b}'));
}

#[test]
fn no_input_moves_the_cursor_or_turns_the_text() {
    let evil = "\u{1b}[2J\u{9b}1m\u{202e}\u{200f}\r\u{7}";
    let finding =
        [Finding::error("SG003", evil, evil).at(span(evil, 0, 4), evil).hint(evil), Finding::note("SG018", evil, evil)];
    let text = render(&finding, Look::default());
    let acts =
        |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    assert!(!text.contains(acts), "{text:?}");
}

#[test]
fn a_line_that_is_too_long_is_cut_around_the_caret() {
    let text = format!("{{{}\"here\": 1{}}}", "\"ä\": 1, ".repeat(20_000), ", \"z\": 2".repeat(20_000));
    let at = text.find("\"here\"").expect("the place");
    let finding = Finding::error("SG003", "x", "wrong").at(span(&text, at, at + 6), "label");
    let shown = render(&[finding], Look::default());
    assert!(shown.contains("\"here\"") && shown.len() < 1_000, "{shown}");
    assert!(shown.contains("a.yaml:1:160002"), "{shown}");
}
