//! What reading costs grows with the text and no faster, whatever its shape is.
//!
//! Each of these once took a time that grew with the square of its length: minutes for a megabyte. Now it is a second
//! without optimisation; the bound is far from both.

use std::time::Duration;

use stagger::clock::Stopwatch;
use stagger::failure::{Lines, Severity};
use stagger::scenario::{Input, Limits, Reading, read};

const BYTES: usize = 1 << 20;
const BOUND: Duration = Duration::from_mins(1);

/// A megabyte of pieces between a beginning and an end, read.
fn large(begin: &str, piece: impl Fn(usize) -> String, end: &str) -> (usize, Reading) {
    let count = BYTES / piece(BYTES / 12).len();
    let text = format!("{begin}{}{end}", (0..count).map(piece).collect::<String>());
    let watch = Stopwatch::start();
    // Aliases may repeat more than usual: what is tried is how long that takes.
    let limits = Limits { alias_bytes: 1 << 30, ..Limits::default() };
    let reading = read(&[Input::text("large.yaml", &text)], &limits);
    assert!(u128::from(watch.millis()) < BOUND.as_millis(), "{} bytes took {} ms", text.len(), watch.millis());
    (count, reading)
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

#[test]
fn a_map_that_is_merged_into_another_brings_every_key_with_its_place() {
    let (count, reading) =
        large(&format!("{CONFIG}first: &a\n"), |at| format!("  k{at}: 1\n"), "second:\n  <<: *a\n  k1: 2\n");
    let object = &reading.manifests[0];
    assert_eq!(object.at("/second").and_then(|map| map.as_object()).map(serde_json::Map::len), Some(count));
    let places = |pointer: &str| object.key_span(pointer).map(|span| span.file.text[span.start..span.end].to_owned());
    let last = format!("/k{}", count - 1);
    assert_eq!(object.key_span(&format!("/second{last}")), object.key_span(&format!("/first{last}")));
    assert_ne!(object.key_span("/second/k1"), object.key_span("/first/k1"));
    assert_eq!(places("/second/k1"), Some("k1".to_owned()));
}

#[test]
fn a_list_of_maps_that_is_merged_brings_every_key_with_its_place() {
    let (count, reading) =
        large(&format!("{CONFIG}first: &a\n"), |at| format!("- {{k{at}: 1}}\n"), "second:\n  <<: *a\n");
    let object = &reading.manifests[0];
    assert_eq!(object.at("/second").and_then(|map| map.as_object()).map(serde_json::Map::len), Some(count));
    let (last, key) = (count - 1, format!("/second/k{}", count - 1));
    assert_eq!(object.key_span(&key), object.key_span(&format!("/first/{last}/k{last}")));
}

#[test]
fn a_key_that_stands_twice_a_hundred_thousand_times_is_counted_and_the_first_ones_are_shown() {
    let half = BYTES / 16;
    let first: String = (0..half).map(|at| format!("k{at}:\n")).collect();
    let (count, reading) = large(&first, |_| format!("k{}:\n", half - 1), "");
    assert_eq!(reading.findings.len(), Limits::default().findings + 1);
    let told = reading.findings.iter().filter(|finding| finding.hint.is_some()).count();
    assert_eq!(told, 100, "the first one is looked for so often");
    assert_eq!(reading.findings[0].hint, Some(format!("the first one is on line {half}")));
    // Beside those keys: this is no object.
    let more = format!("{} more findings, ", count + 1 - Limits::default().findings);
    assert!(reading.findings.last().unwrap().message.starts_with(&more), "{:?}", reading.findings.last());
}

#[test]
fn documents_that_are_all_wrong_are_each_told_on_their_line() {
    let (_, reading) = large("", |_| "---\n{\na: b: c\n".to_owned(), "");
    assert_eq!(reading.findings.len(), Limits::default().findings + 1);
    let of_third = &reading.findings[2];
    assert_eq!(of_third.message, "`{` is not closed before line 9");
    let span = of_third.span.clone().unwrap();
    assert_eq!(Lines::default().locate(&span.file, span.start), (8, 1));
}

#[test]
fn labels_that_are_no_text_are_shown_a_hundred_times_and_then_counted() {
    let (count, reading) = large(&format!("{CONFIG}  labels:\n"), |at| format!("    k{at}: 1\n"), "");
    let errors = reading.findings.iter().filter(|finding| finding.severity == Severity::Error);
    assert_eq!(errors.count(), 101);
    assert_eq!(reading.findings[100].message, format!("{} more labels are not text", count - 100));
}

#[test]
fn on_one_line_of_a_megabyte_every_place_has_its_column() {
    let (count, reading) = large("é: {", |_| "a,".to_owned(), "}");
    assert_eq!(reading.findings.len(), Limits::default().findings + 1);
    let mut lines = Lines::default();
    for (at, finding) in reading.findings.iter().take(Limits::default().findings).enumerate() {
        let span = finding.span.clone().unwrap();
        assert_eq!(lines.locate(&span.file, span.start), (1, 5 + 2 * (at + 1)));
    }
    let span = reading.findings[0].span.clone().unwrap();
    assert_eq!(lines.locate(&span.file, span.file.text.len()), (1, 5 + 2 * count + 1));
}
