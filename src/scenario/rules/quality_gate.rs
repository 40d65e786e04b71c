//! QualityGate: criteria that something can meet.

use super::{Judge, money, warn};
use crate::api::quality_gate::{Comparison, Criterion, QualityGateSpec};
use crate::scenario::codes;

pub fn check(spec: &QualityGateSpec, judge: &mut Judge<'_>) {
    if spec.criteria.is_empty() && !judge.has("/spec/criteria") && !judge.misspelt("/spec", &["criteria"]) {
        let message = "without criteria every outcome would be verified";
        judge.out_of_place(codes::OUT_OF_BOUNDS, "/spec", message, "no criteria");
    }
    judge.unique("/spec/criteria", "/name", spec.criteria.iter().map(|one| one.name.as_str()));
    judge.unique("/spec/evaluators", "", spec.evaluators.iter().map(String::as_str));
    judge.unique("/spec/fingerprint", "", spec.fingerprint.iter().map(String::as_str));
    judge.positive("/spec/unverifiedAfter", spec.unverified_after.as_ref());
    for (index, one) in spec.criteria.iter().enumerate() {
        if let Some(other) = spec.criteria[..index].iter().find(|other| contradict(one, other)) {
            let message = format!("nothing can meet both `{}` and `{}`", other.name, one.name);
            judge.error(
                codes::CONTRADICTION,
                &format!("/spec/criteria/{index}/threshold"),
                message,
                "beyond the other threshold",
            );
        }
    }
    if spec.evaluators.is_empty() {
        let message = "no evaluator is named, so the word of any is taken";
        let finding = warn(judge.out_of_place(codes::CONTRADICTION, "/spec", message, "no evaluators"));
        finding.hint = Some("name those you trust: evaluators: [lm-eval]".to_owned());
    }
}

/// Whether one metric would have to be above a threshold and below a smaller one.
fn contradict(one: &Criterion, other: &Criterion) -> bool {
    let (least, most) = match (one.comparison, other.comparison) {
        (Comparison::AtLeast, Comparison::AtMost) => (one, other),
        (Comparison::AtMost, Comparison::AtLeast) => (other, one),
        _ => return false,
    };
    one.metric == other.metric
        && money(&least.threshold).zip(money(&most.threshold)).is_some_and(|(least, most)| least > most)
}
