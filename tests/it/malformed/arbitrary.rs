//! No bytes whatever make the reader panic, and no finding ever points outside its file.

use proptest::prelude::*;
use stagger::cli::diagnostics::{Look, json, render};
use stagger::failure::Finding;
use stagger::scenario::{Input, Limits, read, validate};

/// A valid file to be damaged, with most of what YAML has.
const SOUND: &str = include_str!("../../../tests/it/malformed/sound.yaml");

fn hold(name: &str, bytes: Vec<u8>) -> Result<(), TestCaseError> {
    let limits = Limits { alias_bytes: 1 << 16, memory_bytes: 1 << 24, ..Limits::default() };
    let reading = read(&[Input::Bytes { name: name.to_owned(), bytes }], &limits);
    let mut findings = reading.findings;
    findings.extend(validate(&reading.manifests));
    for finding in &findings {
        let Finding { span: Some(span), .. } = finding else { continue };
        prop_assert!(span.start <= span.end && span.end <= span.file.text.len(), "{finding:?}");
        prop_assert!(span.file.text.is_char_boundary(span.start), "{finding:?}");
        prop_assert!(span.file.text.is_char_boundary(span.end), "{finding:?}");
    }
    for manifest in &reading.manifests {
        let span = manifest.span("/metadata/name").expect("what is read has a place");
        prop_assert!(span.file.text.get(span.start..span.end).is_some());
    }
    let text = render(&findings, Look::default());
    prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    prop_assert!(json(&findings).len() <= findings.len());
    Ok(())
}

/// A change to a text: at which place (per mille), how many bytes go, and what comes.
fn edits() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
    let pieces = prop_oneof![
        Just("\t".to_owned()),
        Just("\n".to_owned()),
        Just("---\n".to_owned()),
        Just(": ".to_owned()),
        Just("- ".to_owned()),
        Just("{".to_owned()),
        Just("]".to_owned()),
        Just("\"".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("<<: ".to_owned()),
        Just("|\n".to_owned()),
        Just("!!int ".to_owned()),
        Just("é€🦀".to_owned()),
        Just("-1".to_owned()),
        Just("yes".to_owned()),
        "[ -~]{0,6}",
    ];
    proptest::collection::vec((0..1000usize, 0..12usize, pieces), 1..6)
}

fn edited(text: &str, edits: &[(usize, usize, String)]) -> String {
    let mut text = text.to_owned();
    for (place, length, piece) in edits {
        let floor = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(place * text.len() / 1000);
        let end = floor(start + length).max(start);
        text.replace_range(start..end, piece);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused_or_read_but_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        hold("random.yaml", bytes)?;
    }

    #[test]
    fn random_text_is_refused_or_read_but_never_panics(text in "[-\\[\\]{}:,&*!|>'\"%@`#?~ \n\ta-c0é🦀]{0,80}") {
        hold("random.yaml", text.clone().into_bytes())?;
        hold("random.json", text.into_bytes())?;
    }

    #[test]
    fn damaged_yaml_is_told_about_within_its_text(edits in edits()) {
        hold("damaged.yaml", edited(SOUND, &edits).into_bytes())?;
    }

    #[test]
    fn damaged_json_is_told_about_within_its_text(edits in edits()) {
        let sound = r#"{"apiVersion": "stagger.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "né"},
            "spec": {"now": "2026-11-30T12:00:00Z", "options": [{"name": "a\u00e9", "growthPercent": -10}]}}"#;
        hold("damaged.json", edited(sound, &edits).into_bytes())?;
    }
}

#[test]
fn the_sound_file_is_sound() {
    let reading = read(&[Input::text("sound.yaml", SOUND)], &Limits::default());
    assert_eq!(reading.findings, []);
    assert_eq!(validate(&reading.manifests), []);
}
