//! CapacityPlan: windows that have one place and one time.

use super::Judge;
use crate::api::capacity_plan::{CapacityPlanSpec, Window};
use crate::kueue::codes as meaning;

pub fn check(spec: &CapacityPlanSpec, judge: &mut Judge<'_>) {
    judge.positive("/spec/horizon", spec.horizon.as_ref());
    judge.positive("/spec/solver/timeLimit", spec.solver.time_limit.as_ref());
    judge.unique("/spec/queues", "", spec.queues.iter().map(String::as_str));
    judge.unique("/spec/cohorts", "", spec.cohorts.iter().map(String::as_str));
    judge.unique("/spec/windows", "/name", spec.windows.iter().map(|window| window.name.as_str()));
    for (index, one) in spec.windows.iter().enumerate() {
        window(&format!("/spec/windows/{index}"), one, judge);
    }
}

fn window(pointer: &str, window: &Window, judge: &mut Judge<'_>) {
    let (queue, cohort) = (format!("{pointer}/clusterQueue"), format!("{pointer}/cohort"));
    match (judge.has(&queue), judge.has(&cohort)) {
        (true, true) => {
            let message = "clusterQueue and cohort are both given; a window changes one of them";
            judge.out_of_place(meaning::BAD_WINDOW_TARGET, &cohort, message, "beside clusterQueue");
        }
        (false, false) if !judge.misspelt(pointer, &["clusterQueue", "cohort"]) => {
            let message = format!("the window `{}` names no clusterQueue and no cohort", window.name);
            judge.error(meaning::BAD_WINDOW_TARGET, pointer, message, "whose capacity changes?");
        }
        _ => {}
    }
    let ends = (window.start.as_ref(), window.end.as_ref());
    judge.stretch(pointer, ("start", "end"), ends, window.recurring.as_ref(), false);
}
