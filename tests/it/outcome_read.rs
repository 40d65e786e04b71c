//! Outcome files: CloudEvents in their three forms, and evaluation files in the tools' own formats.
//!
//! The Inspect logs under `evidence/` were written by inspect_ai 0.3.285 (`inspect log dump --header-only`) from runs
//! that were complete, poor, limited, cancelled, broken, partly broken, repeated, without a value, and invalidated.

use std::collections::BTreeMap;
use std::sync::Arc;

use stagger::failure::SourceFile;
use stagger::outcome::evidence::Evaluator;
use stagger::outcome::gate::{Comparison, Criterion, Gate};
use stagger::outcome::read::{Known, Read, Subject, read};
use stagger::outcome::settle::{Case, settle};
use stagger::ratio::Ratio;

fn file(path: &str, text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile { path: path.to_owned(), text: text.to_owned() })
}

fn read_all(texts: &[&str]) -> Read {
    let (mut into, mut known) = (Read::default(), Known::default());
    for text in texts {
        read(&file("outcomes.json", text), &Subject::default(), &mut known, &mut into);
    }
    into
}

/// `code line:column message` of every finding.
fn told(read: &Read) -> Vec<String> {
    let place = |finding: &stagger::failure::Finding| {
        finding.span.as_ref().map_or("-".to_owned(), |span| {
            let (line, column) = span.line_column();
            format!("{line}:{column}")
        })
    };
    read.findings.iter().map(|finding| format!("{} {} {}", finding.code, place(finding), finding.message)).collect()
}

fn event(id: &str, value: &str) -> String {
    format!(
        r#"{{"specversion":"1.0","type":"dev.stagger.outcome.v1","source":"/evals","id":"{id}","time":"2026-11-30T13:00:00.5Z","data":{{"outcomeId":"o-{id}","class":"eval-run","workload":"evals/eval-1","attempt":1,"completedAt":"2026-11-30T12:59:59.2Z","finishBy":"2026-11-30T13:00:00Z","scores":[{{"name":"accuracy","value":{value},"n":500,"stderr":0.0163}}],"evaluator":{{"id":"judge","version":"2"}},"fingerprint":{{"model":"m1","seed":7}},"units":{{"kind":"answers","quantity":1}}}}}}"#
    )
}

#[test]
fn a_single_event_a_batch_and_lines_say_the_same() {
    let (one, two) = (event("1", "0.85"), event("2", "0.9"));
    let batch = read_all(&[&format!("[{one},\n {two}]")]);
    let lines = read_all(&[&format!("{one}\n\n{two}\n")]);
    let windows = read_all(&[&format!("\u{feff}{one}\r\n{two}\r\n")]);
    let singles = read_all(&[&one, &two]);
    let bare = |read: &Read| {
        let events =
            read.events.iter().cloned().map(|event| stagger::outcome::evidence::Event { place: None, ..event });
        events.collect::<Vec<_>>()
    };
    assert_eq!(bare(&batch).len(), 2);
    assert_eq!((bare(&batch), told(&batch)), (bare(&lines), told(&lines)));
    assert_eq!((bare(&lines), bare(&lines)), (bare(&singles), bare(&windows)));
    let event = &batch.events[0];
    assert_eq!((event.source.as_str(), event.id.as_str(), event.outcome.as_str()), ("/evals", "1", "o-1"));
    assert_eq!(event.evidence.scores[0].value, Ratio::new(17, 20), "a decimal, exactly");
    assert_eq!(event.evidence.fingerprint["seed"], "7");
    assert_eq!(event.completed_at, event.finish_by, "a part of a second counts as a whole one");
}

#[test]
fn the_same_event_again_changes_nothing() {
    let (one, two) = (event("1", "0.85"), event("2", "0.9"));
    let reordered = one.replacen(
        r#""specversion":"1.0","type":"dev.stagger.outcome.v1","#,
        r#" "type":"dev.stagger.outcome.v1", "specversion":"1.0","#,
        1,
    );
    let twice = read_all(&[&format!("{one}\n{two}\n{one}\n{reordered}"), &two]);
    assert_eq!((twice.events.len(), twice.duplicates, twice.conflicts), (2, 3, 0));
    assert_eq!(told(&twice), [] as [String; 0]);
}

#[test]
fn a_conflicting_duplicate_is_refused_counted_and_named_by_line() {
    let read = read_all(&[&format!("{}\n{}\n", event("1", "0.5"), event("1", "0.99"))]);
    assert_eq!((read.events.len(), read.duplicates, read.conflicts), (1, 0, 1));
    assert_eq!(read.events[0].evidence.scores[0].value, Ratio::new(1, 2), "the first stands");
    assert_eq!(told(&read), ["SG123 2:1 event 1 of /evals was seen before with other content and is refused"]);
}

#[test]
fn one_bad_line_never_hides_the_others() {
    let untimed = event("3", "0.9").replace(r#""time":"2026-11-30T13:00:00.5Z","#, "");
    let text = [
        event("1", "0.85"),
        "{\"specversion\": ".to_owned(),
        untimed,
        event("4", "\"high\""),
        event("5", "0.9").replace("2026-11-30T13:00:00Z", "tomorrow"),
        event("6", "0.9").replace("evals/eval-1", "eval-1"),
        event("7", "0.9").replace("\"1.0\"", "\"0.3\""),
        event("8", "0.9").replace("0.0163", "-1"),
        event("9", "0.9").replace("dev.stagger.outcome.v1", "com.example.other"),
        event("10", "null"),
    ];
    let read = read_all(&[&text.join("\n")]);
    assert_eq!(read.events.iter().map(|event| event.id.as_str()).collect::<Vec<_>>(), ["1", "10"]);
    assert_eq!(read.ignored, 1);
    let told = told(&read);
    assert_eq!(
        told,
        [
            "SG121 2:1 this is not a CloudEvent in JSON: EOF while parsing a value",
            "SG122 3:1 `time` is missing",
            "SG122 4:1 data.scores[0].value: `high` is not a decimal number such as 0.80",
            "SG122 5:1 data.finishBy: `tomorrow` is not an RFC 3339 instant with a zone, such as 2026-11-30T17:00:00+01:00",
            "SG122 6:1 workload `eval-1` is not namespace/name",
            "SG122 7:1 `specversion` is 0.3; 1.0 is read",
            "SG122 8:1 score accuracy: stderr is negative",
            "SG124 9:1 an event of type com.example.other is not about an outcome",
        ]
    );
}

#[test]
fn what_is_no_event_at_all_gets_one_finding() {
    assert_eq!(told(&read_all(&["  \n"])), ["SG125 - the file is empty"]);
    let broken = read_all(&["{\n \"specversion\": \"1.0\",\n \"id\": }\n"]);
    assert_eq!(
        told(&broken),
        ["SG121 - this is neither a JSON document nor JSON lines: expected value at line 3 column 8"]
    );
    assert_eq!(told(&read_all(&["workload,attempt\na,1\n"])).len(), 1);
    assert_eq!(told(&read_all(&["[1, 2]"])).len(), 2);
    assert_eq!(told(&read_all(&["{}"])), ["SG122 1:1 `specversion` is missing"]);
}

#[test]
fn an_event_beyond_the_size_limit_is_refused() {
    let huge = event("1", "0.85").replace("\"seed\":7", &format!("\"seed\":\"{}\"", "x".repeat(1 << 20)));
    assert_eq!(told(&read_all(&[&huge])), ["SG120 1:1 the event is larger than 1024 KiB"]);
}

const EVIDENCE: [(&str, &str); 13] = [
    ("inspect-good", include_str!("evidence/inspect-good.json")),
    ("inspect-poor", include_str!("evidence/inspect-poor.json")),
    ("inspect-limited", include_str!("evidence/inspect-limited.json")),
    ("inspect-cancelled", include_str!("evidence/inspect-cancelled.json")),
    ("inspect-error", include_str!("evidence/inspect-error.json")),
    ("inspect-partial", include_str!("evidence/inspect-partial.json")),
    ("inspect-epochs", include_str!("evidence/inspect-epochs.json")),
    ("inspect-nan", include_str!("evidence/inspect-nan.json")),
    ("inspect-invalidated", include_str!("evidence/inspect-invalidated.json")),
    ("lm-eval-good", include_str!("evidence/lm-eval-good.json")),
    ("lm-eval-limited", include_str!("evidence/lm-eval-limited.json")),
    ("lm-eval-nan", include_str!("evidence/lm-eval-nan.json")),
    ("lm-eval-inconclusive", include_str!("evidence/lm-eval-inconclusive.json")),
];

fn a_gate(metric: &str, min_samples: Option<u64>) -> Gate {
    let trusted = |id: &str| Evaluator { id: id.to_owned(), version: None };
    Gate {
        name: "good".to_owned(),
        namespace: "evals".to_owned(),
        class: "eval-run".to_owned(),
        criteria: vec![Criterion {
            name: "accurate".to_owned(),
            metric: metric.to_owned(),
            comparison: Comparison::AtLeast,
            threshold: Ratio::parse("0.8").expect("a decimal"),
            min_samples,
        }],
        evaluators: vec![trusted("inspect_ai"), trusted("lm-evaluation-harness")],
        unverified_after: None,
        fingerprint: vec!["model".to_owned()],
    }
}

fn verdict(texts: &[&str], gate: Gate) -> String {
    let read = read_all(texts);
    assert_eq!(told(&read), [] as [String; 0]);
    let promises = BTreeMap::new();
    let outcomes = settle(&Case { events: &read.events, gates: &[gate], runs: &[], promises: &promises, as_of: None });
    let words = outcomes.iter().map(|outcome| format!("{}: {}", outcome.verdict.as_str(), outcome.reason.message()));
    words.collect::<Vec<_>>().join("; ")
}

fn evidence(name: &str) -> &'static str {
    EVIDENCE.iter().find(|(known, _)| *known == name).expect("the test names a file that is listed").1
}

#[test]
fn evaluation_files_of_every_state_give_the_right_verdict() {
    let cases = [
        ("inspect-good", "Verified: every criterion holds and it came in time"),
        ("inspect-poor", "Rejected: accurate: match/accuracy is 0.5, not at least 0.8"),
        ("inspect-limited", "Unverified: the evaluation was limited to 10 of 40 samples"),
        ("inspect-cancelled", "Unverified: the evaluation was cancelled"),
        ("inspect-error", "Unverified: the evaluation ended with an error"),
        ("inspect-partial", "Unverified: the evaluation finished 7 of 8 samples"),
        ("inspect-epochs", "Unverified: match/accuracy rests on 10 samples of at least 30"),
        ("inspect-nan", "Unverified: the evaluation finished 0 of 4 samples"),
        ("inspect-invalidated", "Unverified: the evaluation was invalidated"),
    ];
    for (name, expected) in cases {
        assert_eq!(verdict(&[evidence(name)], a_gate("match/accuracy", Some(30))), expected, "{name}");
    }
    let cases = [
        ("lm-eval-good", "Verified: every criterion holds and it came in time"),
        ("lm-eval-limited", "Unverified: the evaluation was limited to 100 of 1319 samples"),
        ("lm-eval-nan", "Unverified: the score gsm8k/exact_match,strict-match has no value"),
        (
            "lm-eval-inconclusive",
            "Unverified: gsm8k/exact_match,strict-match 0.8052 does not show at least 0.8 with 95 % confidence (normal bound from its stderr)",
        ),
    ];
    for (name, expected) in cases {
        assert_eq!(
            verdict(&[evidence(name)], a_gate("gsm8k/exact_match,strict-match", Some(1000))),
            expected,
            "{name}"
        );
    }
}

#[test]
fn an_invalidation_takes_the_verdict_back_in_either_order() {
    let (good, invalidated) = (evidence("inspect-good"), evidence("inspect-invalidated"));
    for texts in [[good, invalidated], [invalidated, good]] {
        assert_eq!(verdict(&texts, a_gate("accuracy", None)), "Unverified: the evaluation was invalidated");
    }
}

#[test]
fn an_evaluation_file_says_what_it_evaluated_and_when() {
    let read = read_all(&[evidence("lm-eval-good")]);
    let event = &read.events[0];
    assert_eq!(event.workload.as_ref().map(stagger::names::WorkloadKey::as_str), Some("evals/eval-1"));
    assert_eq!((event.time.0.0, event.completed_at.map(|at| at.0)), (1_796_045_410, Some(1_796_045_411)));
    assert_eq!(event.evidence.fingerprint["model"], "acme/model-7b");
    assert_eq!(event.evidence.fingerprint["tasks"], "gsm8k=6b43a63e5e0f3df8");
    assert_eq!(event.evidence.scores[0].samples, Some(1319));
}

#[test]
fn the_caller_may_say_what_an_evaluation_is_about() {
    let text = evidence("inspect-good").replace("stagger.dev/", "other/");
    let subject =
        Subject { workload: Some("evals/eval-9".into()), attempt: Some(3), class: Some("eval-run".to_owned()) };
    let (mut into, mut known) = (Read::default(), Known::default());
    read(&file("log.json", &text), &subject, &mut known, &mut into);
    let event = &into.events[0];
    assert_eq!(
        (event.outcome.as_str(), event.attempt, event.class.as_deref()),
        ("evals/eval-9", Some(3), Some("eval-run"))
    );
}

#[test]
fn a_log_of_the_first_version_is_read() {
    let text = r#"{"version": 1, "status": "success", "eval": {"task": "wikipedia", "task_id": "a", "run_id": "b",
        "created": "2024-05-05T07:59:35", "dataset": {"name": "w"}, "model": "openai/gpt-4", "config": {"limit": 20}},
        "results": {"scorer": {"name": "fact"}, "metrics": {"accuracy": {"name": "accuracy", "value": Infinity, "options": {}}}},
        "stats": {"completed_at": "2024-05-05T08:00:03"}}"#;
    let read = read_all(&[text]);
    assert_eq!(told(&read), [] as [String; 0]);
    let event = &read.events[0];
    assert_eq!((event.evidence.scores[0].name.as_str(), event.evidence.scores[0].value), ("fact/accuracy", None));
    assert_eq!(event.completed_at, None, "a time without a zone cannot say what came in time");
    assert!(matches!(event.evidence.state, stagger::outcome::evidence::State::Limited { .. }));
}
