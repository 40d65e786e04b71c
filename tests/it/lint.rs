//! The whole judgement: what it says once, and that our own scenarios pass it.

use std::path::Path;

use stagger::cli::diagnostics::{Look, render};
use stagger::kueue::Given;
use stagger::scenario::{Input, Limits, lint};
use stagger::units::Timestamp;

fn told(text: &str) -> Vec<&'static str> {
    let linted = lint(&[Input::text("a.yaml", text)], &Limits::default(), &Given::at(Timestamp(0)));
    linted.findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn our_own_scenarios_are_not_refused() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    for entry in std::fs::read_dir(scenarios).expect("scenarios/ must be readable") {
        let path = entry.expect("an entry").path();
        if !path.is_dir() {
            continue;
        }
        let input = Input::Path(path);
        let linted = lint(&[input], &Limits::default(), &Given::at(Timestamp(0)));
        assert!(!linted.is_refused(), "{}", render(&linted.findings, Look::default()));
    }
}

#[test]
fn what_is_wrong_with_one_object_is_told_once() {
    let slo = "apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {name: a}\nspec:\n  expectedRuntime: {p50: 2h, p90: 1h}\n";
    assert_eq!(told(slo), ["SG037", "SG035", "SG031"]);
}

#[test]
fn a_wrong_shape_is_told_once() {
    let plan = "apiVersion: stagger.dev/v1alpha1\nkind: CapacityPlan\nmetadata: {name: a}\nspec: {mode: Advise}\n";
    assert_eq!(told(plan).iter().filter(|code| **code == "SG010" || **code == "SG003").count(), 1);
}
