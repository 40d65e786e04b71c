//! Scenario: running work whose times ascend, options that change something.

use super::{Judge, warn};
use crate::api::scenario::{CapacityChange, Running, ScenarioSpec, WhatIfOption};
use crate::kueue::codes as meaning;
use crate::scenario::codes;

pub fn check(spec: &ScenarioSpec, judge: &mut Judge<'_>) {
    judge.positive("/spec/horizon", spec.horizon.as_ref());
    judge.unique("/spec/running", "/name", spec.running.iter().map(|one| one.name.as_str()));
    for (index, one) in spec.running.iter().enumerate() {
        running(&format!("/spec/running/{index}"), one, judge);
    }
    judge.unique("/spec/options", "/name", spec.options.iter().map(|one| one.name.as_str()));
    for (index, one) in spec.options.iter().enumerate() {
        option(&format!("/spec/options/{index}"), one, judge);
    }
}

fn running(pointer: &str, running: &Running, judge: &mut Judge<'_>) {
    let (start, end, late) = (running.start.as_ref(), running.end.as_ref(), running.end_p90.as_ref());
    judge.ascending(meaning::BAD_VALUE, &format!("{pointer}/start"), &format!("{pointer}/end"), start, end);
    if let (Some(end), Some(late)) = (super::instant(end), super::instant(late))
        && late < end
    {
        let message = "endP90 is before end: nine of ten runs cannot end sooner than half of them";
        judge.error(meaning::BAD_VALUE, &format!("{pointer}/endP90"), message, "at least end");
    }
    if running.resources.is_empty() && judge.has(&format!("{pointer}/resources")) {
        let message = format!("`{}` holds no resources", running.name);
        warn(judge.error(codes::OUT_OF_BOUNDS, &format!("{pointer}/resources"), message, "nothing in it"));
    }
}

fn option(pointer: &str, option: &WhatIfOption, judge: &mut Judge<'_>) {
    for (list, changes, may_stay_open) in
        [("add", &option.add, true), ("remove", &option.remove, true), ("outage", &option.outage, false)]
    {
        for (index, one) in changes.iter().enumerate() {
            change(&format!("{pointer}/{list}/{index}"), one, may_stay_open, judge);
        }
    }
    super::rate_card::rates(&format!("{pointer}/price"), &option.price, judge);
    let changes = ["add", "remove", "outage", "price", "growthPercent"];
    if !changes.into_iter().any(|field| judge.has(&format!("{pointer}/{field}"))) && !judge.misspelt(pointer, &changes)
    {
        let message = format!("the option `{}` changes nothing", option.name);
        let finding = warn(judge.error(codes::CONTRADICTION, pointer, message, "the same as today"));
        finding.hint = Some("give add, remove, outage, price or growthPercent".to_owned());
    }
}

fn change(pointer: &str, change: &CapacityChange, open: bool, judge: &mut Judge<'_>) {
    let ends = (change.from.as_ref(), change.to.as_ref());
    judge.stretch(pointer, ("from", "to"), ends, change.recurring.as_ref(), open);
}
