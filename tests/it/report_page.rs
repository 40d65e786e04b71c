//! `stagger report -o html`: one file, nothing loaded, nothing executed, every figure that the table has.

use crate::cli::{folder, json, run};

const BOOKS: &str = "
apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: eur}
spec:
  currency: EUR
  effectiveFrom: 2026-01-01T00:00:00Z
  rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"1.20\"}]
---
apiVersion: stagger.dev/v1alpha1
kind: QualityGate
metadata: {name: good, namespace: evals}
spec:
  outcomeClass: eval-run
  criteria: [{name: accurate, metric: accuracy, comparison: AtLeast, threshold: \"0.80\"}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
";

fn attempt(name: &str, tenant: &str, end: &str) -> String {
    format!(
        "{{\"workload\":\"evals/{name}\",\"attempt\":1,\"tenant\":\"{tenant}\",\"class\":\"eval-run\",\"flavor\":\"a100\",\"resources\":{{\"nvidia.com/gpu\":\"1\"}},\"start\":\"2026-11-30T12:00:00Z\",\"end\":\"2026-11-30T13:00:00Z\",\"endReason\":\"{end}\"}}\n"
    )
}

fn outcome(name: &str, id: &str) -> String {
    format!(
        "{{\"specversion\":\"1.0\",\"type\":\"dev.stagger.outcome.v1\",\"source\":\"ci\",\"id\":\"{name}\",\"time\":\"2026-11-30T19:00:00Z\",\"data\":{{\"outcomeId\":\"{id}\",\"class\":\"eval-run\",\"workload\":\"evals/{name}\",\"attempt\":1,\"completedAt\":\"2026-11-30T13:00:00Z\",\"finishBy\":\"2026-11-30T17:00:00Z\",\"scores\":[{{\"name\":\"accuracy\",\"value\":0.9}}],\"evaluator\":{{\"id\":\"judge\",\"version\":\"1\"}}}}}}\n"
    )
}

fn page(runs: &str, outcomes: &str) -> String {
    let (_dir, path) = folder(&[("books.yaml", BOOKS), ("runs.jsonl", runs), ("outcomes.jsonl", outcomes)]);
    let (books, runs, outcomes) = (path("books.yaml"), path("runs.jsonl"), path("outcomes.jsonl"));
    let ran = run(&["report", &books, "--runs", &runs, "--outcomes", &outcomes, "-o", "html"]);
    assert_eq!(ran.code, 0, "{}", ran.talk);
    ran.out
}

fn ordinary() -> String {
    let runs = [attempt("a", "nlp", "Succeeded"), attempt("b", "nlp", "Failed"), attempt("c", "vision", "Failed")];
    page(&runs.concat(), &outcome("a", "result-1"))
}

#[test]
fn the_page_leads_with_the_headline_and_its_takeaways() {
    let page = ordinary();
    for told in [
        "3.60 EUR for 3 attempts; 1 outcome good, 1 good and on time: 3.60 EUR per verified outcome.",
        "66.6 % of this cost produced nothing verified: 2.40 EUR failed.",
        "A verified outcome cost most in nlp: 2.40 EUR. 1 of 2 groups have none to divide by.",
        "undefined: ",
        "the difference is zero",
        "1 verified, 0 late, 0 rejected, 0 that nobody can judge.",
        "<td>result-1</td>",
    ] {
        assert!(page.contains(told), "{told}\n{page}");
    }
}

#[test]
fn nothing_is_loaded_and_nothing_is_executed() {
    let page = ordinary();
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    assert!(!page.contains("http-equiv=\"refresh\"") && !page.contains(" style=\"") && !page.contains(" src="));
    let scripts: Vec<&str> = page.match_indices("<script").map(|(at, _)| &page[at..at + 43]).collect();
    assert_eq!(scripts, ["<script type=\"application/json\" id=\"report\""]);
}

#[test]
fn the_document_rides_along() {
    let page = ordinary();
    let (_, rest) = page.split_once("id=\"report\">\n").expect("the data must be there");
    let (data, _) = rest.split_once("</script>").expect("it must end");
    assert_eq!(json(data)["apiVersion"], "stagger.dev/report/v1");
}

#[test]
fn names_from_outside_are_text_and_nothing_else() {
    let page = page(&attempt("a", "<img onerror=x>", "Succeeded"), &outcome("a", "</script><script>alert(1)</script>"));
    assert!(!page.contains("<img") && !page.contains("<script>"), "{page}");
    assert!(page.contains("&lt;img onerror=x&gt;"));
}

#[test]
fn a_report_without_a_verified_outcome_says_why_instead_of_a_number() {
    let page = page(&attempt("a", "nlp", "Failed"), "");
    assert!(page.contains("No group has a verified outcome, so there is nothing to divide by."), "{page}");
}

#[test]
fn the_same_input_is_the_same_page() {
    assert_eq!(ordinary(), ordinary());
}
