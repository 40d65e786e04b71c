//! Planning rests when it has gone on for long, and not for what touches the starts that come next.

use std::time::Duration;

use stagger::controller::changes::{Change, ChangeKind, between};
use stagger::controller::rest::{Haste, Rest, is_as_planned, is_urgent};
use stagger::units::Amount;

use super::fake::{Fake, at};

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A big cluster that changes all the time, so that the next plan begins as soon as it may; when each began.
fn always(takes: Duration, haste: Haste, plans: usize) -> Vec<Duration> {
    let (mut rest, mut now, mut begun) = (Rest::default(), seconds(100), Vec::new());
    for _ in 0..plans {
        now = now.max(rest.until(haste));
        rest.begin(now);
        begun.push(now.saturating_sub(seconds(100)));
        now += takes;
        rest.end(now);
    }
    begun
}

/// From one beginning to the next.
fn apart(begun: &[Duration], at: usize) -> Duration {
    begun[at].saturating_sub(begun[at - 1])
}

#[test]
fn one_disturbance_after_the_other_is_planned_for_at_once() {
    assert_eq!(always(seconds(2), Haste::Soon, 4), [0, 2, 4, 6].map(seconds));
}

#[test]
fn beyond_that_planning_takes_half_of_the_time() {
    let begun = always(seconds(2), Haste::Soon, 40);
    assert_eq!(begun[4..8], [10, 14, 18, 22].map(seconds));
    assert_eq!(apart(&begun, 39), seconds(4));
    // Plans that take longer rest three seconds and no more.
    let begun = always(seconds(8), Haste::Soon, 40);
    assert_eq!(apart(&begun, 39), seconds(11));
    // Short ones need no rest but what gathering changes takes.
    let (mut rest, mut now) = (Rest::default(), Duration::ZERO);
    for _ in 0..1_000 {
        assert!(rest.until(Haste::Soon) <= now);
        rest.begin(now);
        rest.end(now + Duration::from_millis(100));
        now += Duration::from_millis(250);
    }
}

#[test]
fn what_is_urgent_waits_for_no_rest_unless_it_has_gone_on_for_half_a_minute() {
    let begun = always(seconds(2), Haste::Urgent, 17);
    assert_eq!(begun[15], seconds(30));
    assert_eq!(apart(&begun, 16), seconds(4));
}

#[test]
fn a_rest_makes_up_for_what_was_planned() {
    let mut rest = Rest::default();
    for at in [0, 2, 4, 6] {
        rest.begin(seconds(at));
        rest.end(seconds(at + 2));
    }
    assert_eq!((rest.until(Haste::Soon), rest.until(Haste::Urgent)), (seconds(10), seconds(8)));
    rest.begin(seconds(16));
    rest.end(seconds(18));
    assert_eq!(rest.until(Haste::Soon), seconds(18));
}

#[test]
fn what_goes_as_planned_is_planned_for_every_ten_seconds() {
    let begun = always(Duration::from_millis(100), Haste::Later, 3);
    assert_eq!(begun[1..].iter().map(Duration::as_millis).collect::<Vec<_>>(), [10_100, 20_200]);
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

#[test]
fn starts_as_planned_are_no_news_and_on_anything_else_they_are() {
    let mut fake = Fake::touchstone();
    fake.turn();
    fake.live();
    let planned = fake.scope.planned.clone().expect("there is a plan");
    let now = fake.scope.instant(fake.now);
    let mut seen = fake.scope.look(&mut fake.rows().iter(), now, &fake.settings).snapshot;
    let mut changes = between(&planned.basis, &seen, &|_, _| true);
    let subjects: Vec<&str> = changes.iter().map(|change| change.subject.as_str()).collect();
    assert_eq!(subjects, ["evals/eval-1", "evals/eval-2"]);
    assert!(is_as_planned(&changes, &planned, &seen));
    // One GPU fewer than was planned.
    seen.running[0].uses[0].1 = Amount(1);
    assert!(!is_as_planned(&changes, &planned, &seen));
    seen.running[0].uses[0].1 = Amount(2);
    assert!(is_as_planned(&changes, &planned, &seen));
    changes.push(Change { kind: ChangeKind::Arrived, subject: "evals/eval-5".to_owned() });
    assert!(!is_as_planned(&changes, &planned, &seen));
}
