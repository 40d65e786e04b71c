//! WorkloadSLO: one due time, runtimes that ascend, tiers that fall.

use serde_json::Value;

use super::{Judge, instant, seconds, warn};
use crate::api::slo::{DeadlinePolicy, Interruption, Tolerance, WorkloadSloSpec};
use crate::api::written::Duration;
use crate::kueue::codes as meaning;
use crate::scenario::codes;

const DUE: [&str; 3] = ["finishBy", "finishWithin", "finishByTime"];

pub fn check(spec: &WorkloadSloSpec, judge: &mut Judge<'_>) {
    due(judge);
    target(judge);
    judge.selector("/spec/selector", spec.selector.as_ref());
    judge.positive("/spec/finishWithin", spec.finish_within.as_ref());
    if let Some(runtime) = &spec.expected_runtime {
        runtime_ascends("/spec/expectedRuntime", Some(&runtime.p50), runtime.p90.as_ref(), judge);
    }
    flavors(spec, judge);
    tiers(spec, judge);
    interruption(&spec.interruption, judge);
    if let Some(budget) = &spec.budget {
        judge.not_negative("/spec/budget/amount", &budget.amount);
    }
    if let (Some(not_before), Some(due)) = (instant(spec.not_before.as_ref()), instant(spec.finish_by.as_ref()))
        && not_before >= due
    {
        let message = "it may not start before the instant at which it is due";
        judge.error(codes::CONTRADICTION, "/spec/notBefore", message, "not before finishBy");
    }
}

fn due(judge: &mut Judge<'_>) {
    let given: Vec<&str> = DUE.into_iter().filter(|name| judge.has(&format!("/spec/{name}"))).collect();
    match given.as_slice() {
        [_] => {}
        [] if judge.misspelt("/spec", &DUE) => {}
        [] => {
            let message = "it says nothing about when to finish";
            let finding = judge.out_of_place(meaning::BAD_DUE, "/spec", message, "no due time");
            finding.hint = Some("give exactly one of finishBy, finishWithin and finishByTime".to_owned());
        }
        [first, second, ..] => {
            let message = format!("{first} and {second} are both given; only one can hold");
            let finding =
                judge.out_of_place(meaning::BAD_DUE, &format!("/spec/{second}"), message, "the second due time");
            finding.hint = Some("keep exactly one of finishBy, finishWithin and finishByTime".to_owned());
        }
    }
}

fn target(judge: &mut Judge<'_>) {
    if judge.has("/spec/targetRef") && judge.has("/spec/selector") {
        let message = "targetRef and selector are both given; only one can hold";
        judge.out_of_place(codes::CONTRADICTION, "/spec/selector", message, "beside targetRef");
    }
}

fn runtime_ascends(pointer: &str, p50: Option<&Duration>, p90: Option<&Duration>, judge: &mut Judge<'_>) {
    let Some(half) = seconds(p50) else { return };
    if half.0 == 0 {
        judge.error(meaning::BAD_RUNTIME, &format!("{pointer}/p50"), "a runtime of zero", "must be longer than zero");
    }
    if let Some(most) = seconds(p90).filter(|most| *most < half) {
        let message =
            format!("p90 ({most}) is below p50 ({half}): nine of ten runs cannot end sooner than half of them");
        let finding = judge.error(meaning::BAD_RUNTIME, &format!("{pointer}/p90"), message, "at least p50");
        finding.hint = Some("if the two are swapped, swap them; if only one is known, leave p90 out".to_owned());
    }
}

fn flavors(spec: &WorkloadSloSpec, judge: &mut Judge<'_>) {
    for (index, one) in spec.flavor_runtimes.iter().enumerate() {
        let pointer = format!("/spec/flavorRuntimes/{index}");
        runtime_ascends(&pointer, Some(&one.p50), one.p90.as_ref(), judge);
        if !spec.allowed_flavors.is_empty() && !spec.allowed_flavors.contains(&one.flavor) {
            let message = format!("`{}` has a runtime but is not among allowedFlavors", one.flavor);
            warn(judge.error(codes::CONTRADICTION, &format!("{pointer}/flavor"), message, "never used"));
        }
    }
    judge.unique("/spec/flavorRuntimes", "/flavor", spec.flavor_runtimes.iter().map(|one| one.flavor.as_str()));
    judge.unique("/spec/allowedFlavors", "", spec.allowed_flavors.iter().map(String::as_str));
}

fn tiers(spec: &WorkloadSloSpec, judge: &mut Judge<'_>) {
    let tiers = &spec.value_after_deadline;
    for (index, pair) in tiers.windows(2).enumerate() {
        let pointer = format!("/spec/valueAfterDeadline/{}", index + 1);
        let [one, next] = pair else { continue };
        if let (Some(before), Some(after)) = (seconds(Some(&one.after)), seconds(Some(&next.after)))
            && after <= before
        {
            let message = format!("the tiers do not ascend: {after} stands behind {before}");
            judge.error(meaning::BAD_DUE, &format!("{pointer}/after"), message, "must be later than the tier before");
        }
        if next.value_percent > one.value_percent {
            let message =
                format!("the value rises with time: {} % stands behind {} %", next.value_percent, one.value_percent);
            judge.error(
                meaning::BAD_DUE,
                &format!("{pointer}/valuePercent"),
                message,
                "must not exceed the tier before",
            );
        }
    }
    if spec.deadline_policy == DeadlinePolicy::BestEffort && !tiers.is_empty() {
        let message = "under BestEffort no value is lost, so valueAfterDeadline has no effect";
        warn(judge.out_of_place(codes::CONTRADICTION, "/spec/valueAfterDeadline", message, "no effect"));
    }
}

fn interruption(interruption: &Interruption, judge: &mut Judge<'_>) {
    let at = "/spec/interruption";
    judge.positive(&format!("{at}/checkpointInterval"), interruption.checkpoint_interval.as_ref());
    match interruption.tolerance {
        Tolerance::Checkpointable if !judge.has(&format!("{at}/checkpointInterval")) => {
            let message = "Checkpointable work needs checkpointInterval: how much is lost at most when it is stopped";
            let finding =
                judge.error(codes::CONTRADICTION, &format!("{at}/tolerance"), message, "no checkpointInterval");
            finding.hint = Some("add it, for example checkpointInterval: 15m; or say Restartable".to_owned());
        }
        Tolerance::Checkpointable => {}
        tolerance => {
            let useless: &[&str] = match tolerance {
                Tolerance::None => &["checkpointInterval", "restartCost", "maxInterruptions"],
                _ => &["checkpointInterval"],
            };
            // A tolerance that was written wrongly reads as None; then this would only confuse.
            let written = judge.object.at(&format!("{at}/tolerance")).and_then(Value::as_str);
            if written.is_some_and(|written| written != format!("{tolerance:?}")) {
                return;
            }
            let useless: Vec<&str> =
                useless.iter().copied().filter(|name| judge.has(&format!("{at}/{name}"))).collect();
            for name in useless {
                let message = format!("{name} has no effect under the tolerance {tolerance:?}");
                warn(judge.out_of_place(codes::CONTRADICTION, &format!("{at}/{name}"), message, "no effect"));
            }
        }
    }
}
