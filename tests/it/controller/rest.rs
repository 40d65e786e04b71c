//! Planning rests when it has gone on for long, and not for what touches the starts that come next.

use std::time::Duration;

use stagger::controller::changes::{Change, ChangeKind};
use stagger::controller::rest::{Rest, is_urgent};

use super::fake::{Fake, at};

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A big cluster that changes all the time, so that the next plan begins as soon as it may; when each began.
fn always(takes: Duration, urgent: bool, plans: usize) -> Vec<Duration> {
    let (mut rest, mut now, mut begun) = (Rest::default(), seconds(100), Vec::new());
    for _ in 0..plans {
        now = now.max(rest.until(urgent));
        rest.begin(now);
        begun.push(now.saturating_sub(seconds(100)));
        now += takes;
        rest.end(now);
    }
    begun
}

/// From one beginning to the next.
fn between(begun: &[Duration], at: usize) -> Duration {
    begun[at].saturating_sub(begun[at - 1])
}

#[test]
fn one_disturbance_after_the_other_is_planned_for_at_once() {
    assert_eq!(always(seconds(2), false, 4), [0, 2, 4, 6].map(seconds));
}

#[test]
fn beyond_that_planning_takes_half_of_the_time() {
    let begun = always(seconds(2), false, 40);
    assert_eq!(begun[4..8], [10, 14, 18, 22].map(seconds));
    assert_eq!(between(&begun, 39), seconds(4));
    // Plans that take longer rest three seconds and no more.
    let begun = always(seconds(8), false, 40);
    assert_eq!(between(&begun, 39), seconds(11));
    // Short ones need no rest but what gathering changes takes.
    let (mut rest, mut now) = (Rest::default(), Duration::ZERO);
    for _ in 0..1_000 {
        assert!(rest.until(false) <= now);
        rest.begin(now);
        rest.end(now + Duration::from_millis(100));
        now += Duration::from_millis(250);
    }
}

#[test]
fn what_is_urgent_waits_for_no_rest_unless_it_has_gone_on_for_half_a_minute() {
    let begun = always(seconds(2), true, 17);
    assert_eq!(begun[15], seconds(30));
    assert_eq!(between(&begun, 16), seconds(4));
}

#[test]
fn a_rest_makes_up_for_what_was_planned() {
    let mut rest = Rest::default();
    for at in [0, 2, 4, 6] {
        rest.begin(seconds(at));
        rest.end(seconds(at + 2));
    }
    assert_eq!((rest.until(false), rest.until(true)), (seconds(10), seconds(8)));
    rest.begin(seconds(16));
    rest.end(seconds(18));
    assert_eq!(rest.until(false), seconds(18));
}

#[test]
fn urgent_is_what_touches_the_starts_that_come_next() {
    let mut fake = Fake::touchstone();
    fake.frozen = "10m";
    fake.turn();
    let planned = fake.scope.planned.clone().expect("there is a plan");
    // Two start now, two in an hour.
    let urgent = |kind: ChangeKind, subject: &str, minutes: i64| {
        is_urgent(&[Change { kind, subject: subject.to_owned() }], &planned, at(minutes))
    };
    for kind in [ChangeKind::Evicted, ChangeKind::AdHoc, ChangeKind::Quota, ChangeKind::Overrun, ChangeKind::Flavor] {
        assert!(urgent(kind, "evals/eval-9", 0), "{kind:?}");
    }
    for kind in [ChangeKind::Removed, ChangeKind::Priority, ChangeKind::Promise] {
        assert!(urgent(kind, "evals/eval-1", 0), "{kind:?}");
        assert!(!urgent(kind, "evals/eval-4", 0), "{kind:?} of what starts in an hour");
        assert!(urgent(kind, "evals/eval-4", 50), "{kind:?} of what starts in ten minutes");
    }
    for kind in [ChangeKind::Ended, ChangeKind::Started, ChangeKind::Arrived, ChangeKind::Usage, ChangeKind::Age] {
        assert!(!urgent(kind, "evals/eval-1", 0), "{kind:?}");
    }
    assert!(!is_urgent(&[], &planned, at(0)));
}
