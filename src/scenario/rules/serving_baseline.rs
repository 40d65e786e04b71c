//! ServingBaseline: percentiles that ascend, a capacity interval that is one.

use super::{Judge, money};
use crate::api::serving_baseline::{LatencyObjective, ServingBaselineSpec};
use crate::scenario::codes;
use crate::units::Money;

const ONE: Money = Money { nanos: 1_000_000_000 };
const HUNDRED: Money = Money { nanos: 100_000_000_000 };

pub fn check(spec: &ServingBaselineSpec, judge: &mut Judge<'_>) {
    objectives(&spec.promise.objectives, judge);
    let rate = spec.promise.error_rate_max.as_ref().and_then(money);
    if rate.is_some_and(|rate| rate < Money::ZERO || rate > ONE) {
        let message = "a share of requests lies between 0 and 1";
        let finding = judge.error(codes::OUT_OF_BOUNDS, "/spec/promise/errorRateMax", message, "expected 0 to 1");
        finding.hint = Some("one percent is \"0.01\"".to_owned());
    }
    let (pass, fail) = (money(&spec.capacity.highest_pass), spec.capacity.lowest_fail.as_ref().and_then(money));
    judge.not_negative("/spec/capacity/highestPass", &spec.capacity.highest_pass);
    if pass.zip(fail).is_some_and(|(pass, fail)| fail <= pass) {
        let message = "the lowest rate that failed is not above the highest that passed";
        judge.error(codes::CONTRADICTION, "/spec/capacity/lowestFail", message, "must be above highestPass");
    }
    if let Some(demand) = &spec.demand {
        let mut starts = Vec::new();
        for (index, point) in demand.points.iter().enumerate() {
            judge.not_negative(&format!("/spec/demand/points/{index}/rate"), &point.rate);
            let Ok(time) = point.time.read() else { continue };
            for day in &point.days {
                if starts.contains(&(day.weekday(), time)) {
                    let message = format!("two points begin on {day:?} at {}", point.time.0);
                    judge.error(codes::REPEATED, &format!("/spec/demand/points/{index}/time"), message, "again here");
                }
                starts.push((day.weekday(), time));
            }
        }
    }
}

fn objectives(objectives: &[LatencyObjective], judge: &mut Judge<'_>) {
    for (index, one) in objectives.iter().enumerate() {
        let pointer = format!("/spec/promise/objectives/{index}");
        judge.positive(&format!("{pointer}/target"), Some(&one.target));
        let Some(percentile) = money(&one.percentile) else { continue };
        if percentile <= Money::ZERO || percentile >= HUNDRED {
            let message = format!("{} is no percentile", percentile.decimal());
            judge.error(codes::OUT_OF_BOUNDS, &format!("{pointer}/percentile"), message, "expected between 0 and 100");
        }
        for other in objectives[..index].iter().filter(|other| other.metric == one.metric) {
            let (Some(at), Ok(target), Ok(limit)) =
                (money(&other.percentile), one.target.millis(), other.target.millis())
            else {
                continue;
            };
            if at == percentile {
                let message = "the same percentile of the same latency is promised twice";
                judge.error(codes::REPEATED, &format!("{pointer}/percentile"), message, "again here");
            } else if (percentile > at) != (target > limit) && target != limit {
                let message = format!(
                    "p{} is {}, but p{} is {}: a higher percentile is never shorter",
                    one.percentile.0, one.target.0, other.percentile.0, other.target.0
                );
                judge.error(codes::CONTRADICTION, &format!("{pointer}/target"), message, "the two are out of order");
            }
        }
    }
}
