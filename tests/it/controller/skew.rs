//! Two clocks that do not agree: what Kubernetes and Kueue wrote down is off by minutes for the controller.

use serde_json::Value;
use stagger::api::manifest::Manifest;
use stagger::calendar;
use stagger::kueue::release::Cause;
use stagger::units::Seconds;

use super::fake::{Fake, at, time};

/// What Kubernetes writes by its own clock.
const TIMES: [&str; 2] = ["creationTimestamp", "lastTransitionTime"];

/// Puts every time that Kubernetes wrote on its clock.
pub fn shift(rows: &mut [Manifest], skew: Seconds) {
    if skew == Seconds::ZERO {
        return;
    }
    for row in rows {
        walk(&mut row.value, skew);
    }
}

fn walk(value: &mut Value, skew: Seconds) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let instant = member.as_str().and_then(|text| calendar::parse_instant(text).ok());
                match instant.filter(|_| TIMES.contains(&name.as_str())) {
                    Some(instant) => *member = Value::from(time(instant + skew)),
                    None => walk(member, skew),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, skew)),
        _ => {}
    }
}

/// The touchstone with so much skew.
fn played(skew: i64) -> Fake {
    let mut fake = Fake::touchstone();
    fake.skew = Seconds(skew);
    fake.until(200);
    fake
}

#[test]
fn clocks_that_differ_by_minutes_lose_nothing_start_nothing_twice_and_hold_nothing_too_long() {
    for skew in [-900, -60, 60, 900] {
        let fake = played(skew);
        assert_eq!(fake.peak, 4, "{skew} s: quota stays Kueue's");
        assert!(fake.jobs.iter().all(|job| job.finished.is_some_and(|end| end <= at(300))), "{skew} s: all in time");
        let mut names: Vec<&str> = fake.released.iter().map(|(_, name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["eval-1", "eval-2", "eval-3", "eval-4"], "{skew} s: each is let go once");
        assert!(fake.released.iter().all(|(_, _, cause)| *cause == Cause::Planned), "{skew} s: {:?}", fake.released);
        let starts: Vec<i64> = fake.starts().into_values().collect();
        assert_eq!(starts.len(), 4);
        // Created in what is the future for us, work waits until then at most; what ends is noticed when it ends.
        let late = skew.max(0) / 60 + 1;
        assert!((0..=late).contains(&starts[0]) && starts[0] == starts[1], "{skew} s: {starts:?}");
        assert!((60..=60 + 2 * late).contains(&starts[2]) && starts[2] == starts[3], "{skew} s: {starts:?}");
    }
}

#[test]
fn with_a_second_of_skew_nothing_is_planned_more_often_than_without() {
    let plans = |skew: i64| played(skew).plans.len();
    let even = plans(0);
    for skew in [-1, 1] {
        assert!(plans(skew) <= even + 2, "{skew} s: {} plans instead of {even}", plans(skew));
    }
}
