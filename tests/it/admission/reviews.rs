//! Reading reviews and writing answers: the uid always comes back, whatever was sent.

use serde_json::{Value, json};
use stagger::admission::{Decision, Mode, decide, parse, respond, uid_of};

use super::world::{cluster, create};

fn answer(uid: &str, decision: &Decision) -> Value {
    serde_json::from_slice(&respond(uid, decision)).unwrap()
}

#[test]
fn an_answer_is_a_review_with_the_uid_and_a_base64_patch() {
    let decision = create("", "pods", json!({"metadata": {"name": "p", "labels": {}}})).decide(&cluster(Mode::Protect));
    let review = answer("u-1", &decision);
    assert_eq!(review["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(review["response"]["uid"], "u-1");
    assert_eq!(review["response"]["patchType"], "JSONPatch");
    let patch = review["response"]["patch"].as_str().unwrap();
    assert!(patch.starts_with("W3sib3AiOiJhZGQi") && patch.len().is_multiple_of(4), "{patch}");
    assert_eq!(review["response"]["auditAnnotations"]["tenant-uid"], "uid-of-nlp");
}

#[test]
fn a_refusal_is_told_with_code_and_reason_and_carries_no_patch() {
    let review = answer("u-1", &Decision::denied("no"));
    assert_eq!(review["response"]["allowed"], false);
    assert_eq!(review["response"]["status"], json!({"code": 403, "reason": "Forbidden", "message": "no"}));
    assert!(review["response"]["patch"].is_null());
    assert_eq!(answer("u", &Decision::unreadable("x"))["response"]["status"]["code"], 400);
}

#[test]
fn what_cannot_be_read_still_gives_its_uid() {
    let of = |body: &str| parse(body.as_bytes()).map(|review| review.uid).map_err(|unreadable| unreadable.uid);
    assert_eq!(of("{}"), Err(String::new()));
    assert_eq!(of("not json"), Err(String::new()));
    assert_eq!(
        of(r#"{"apiVersion":"admission.k8s.io/v1","request":{"uid":"u-7","operation":5}}"#),
        Err("u-7".to_owned())
    );
    assert_eq!(of(r#"{"apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"u-7"}}"#), Err("u-7".to_owned()));
    assert_eq!(of(r#"{"apiVersion":"admission.k8s.io/v1","request":{"operation":"CREATE"}}"#), Err(String::new()));
    assert_eq!(uid_of(br#"{"kind":"AdmissionReview","request":{"uid": "u-8","kind":{"gro"#).as_deref(), Some("u-8"));
    assert_eq!(uid_of(br#"{"request":{"uid":"<script>"#), None);
    assert_eq!(uid_of(b"{"), None);
}

#[test]
fn escaped_text_is_read_like_plain_text() {
    let body = create(
        "",
        "pods",
        json!({"metadata": {"labels": {"stagger.dev/tenant": "nlp", "stagger.dev/tenant-uid": "uid-of-nlp"}}}),
    )
    .body();
    let escaped = body.replace("stagger.dev/tenant-uid", r"stagger.dev\/tenant\u002duid");
    let review = parse(escaped.as_bytes()).unwrap();
    assert!(decide(&review.request, &cluster(Mode::Protect)).patch.is_empty());
}

#[test]
fn a_large_object_is_answered_by_a_small_patch() {
    let filler: Vec<Value> =
        (0..30_000).map(|n| json!({"name": format!("V{n}"), "value": "0123456789012345678901234567"})).collect();
    let pod = json!({"metadata": {"name": "p", "labels": {}}, "spec": {"containers": [{"env": filler}]}});
    let asked = create("", "pods", pod);
    assert!(asked.body().len() > 1_500_000);
    assert_eq!(asked.decide(&cluster(Mode::Protect)).patch.len(), 2);
}

#[test]
fn warnings_are_short_and_few() {
    let mut decision = Decision::unchanged();
    for _ in 0..20 {
        decision.warn(&"é".repeat(500));
    }
    assert!(decision.warnings.len() <= 8 && decision.warnings.iter().all(|one| one.len() <= 120));
}
