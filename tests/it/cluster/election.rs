//! The election as laws: candidates over one lease with compare-and-swap, slow and lossy calls, and clocks of their own.

use std::time::Duration;

use proptest::prelude::*;
use stagger::cluster::lease::{Action, Candidate, Record, Timing};

/// One candidate's life in the simulation, in milliseconds of true time.
struct Runner {
    candidate: Candidate,
    /// What its monotonic clock is ahead by.
    ahead: u64,
    busy: Option<Busy>,
    next: u64,
}

/// A write on its way.
struct Busy {
    action: Action,
    /// The version that was read.
    version: u64,
    begun: u64,
    lands: u64,
    returns: u64,
    is_answered: bool,
    outcome: Option<bool>,
}

/// How a turn goes: time until the write lands, until its answer is back, whether it is, how long it pauses afterwards.
#[derive(Debug, Clone, Copy)]
struct Luck {
    lands: u64,
    back: u64,
    is_answered: bool,
    pause: u64,
}

fn luck() -> impl Strategy<Value = Luck> {
    let mostly = |usual: std::ops::Range<u64>, rarely: std::ops::Range<u64>| prop_oneof![6 => usual, 1 => rarely];
    (mostly(1..50, 1_900..9_000), mostly(1..50, 50..2_000), prop::bool::weighted(0.8), mostly(1..50, 5_000..40_000))
        .prop_map(|(lands, back, is_answered, pause)| Luck { lands, back, is_answered, pause })
}

#[derive(Default)]
struct Lease {
    record: Option<Record>,
    version: u64,
}

/// An hour of the wall clock passes in a minute, so that its minutes outrun the handovers, as they do in life.
///
/// Runs to the end of the lucks; gives the tenures as `(epoch, candidate)` in the order in which they were first seen.
fn run(candidates: usize, lucks: &[Luck], deletions: &[u64]) -> Vec<(i64, usize)> {
    let timing = Timing::default();
    let mut lease = Lease::default();
    let mut runners: Vec<Runner> = (0..candidates)
        .map(|index| Runner {
            candidate: Candidate::new(format!("c{index}"), timing),
            ahead: u64::try_from(index).unwrap() * 1_234_567,
            busy: None,
            next: u64::try_from(index).unwrap() * 700,
        })
        .collect();
    let (mut tenures, mut lucks) = (Vec::<(i64, usize)>::new(), lucks.iter());
    let (mut now, mut deletions) = (0_u64, deletions.iter().peekable());
    loop {
        for runner in &mut runners {
            // 1. A write reaches the server, whether or not anybody still waits for it.
            if let Some(busy) = runner.busy.as_mut().filter(|busy| busy.lands <= now && busy.outcome.is_none()) {
                let record = match &busy.action {
                    Action::Create(record) if lease.record.is_none() => Some(record),
                    Action::Replace(record) if lease.record.is_some() && lease.version == busy.version => Some(record),
                    _ => None,
                };
                busy.outcome = Some(record.is_some());
                if let Some(record) = record {
                    (lease.record, lease.version) = (Some(record.clone()), lease.version + 1);
                }
            }
            let mono = now + runner.ahead;
            // 2. Its answer comes back.
            if let Some(busy) = runner.busy.take_if(|busy| busy.returns <= now) {
                let (Action::Create(record) | Action::Replace(record)) = &busy.action else { continue };
                if busy.is_answered && busy.outcome == Some(true) {
                    runner.candidate.written(record, busy.begun, mono);
                }
            }
            // 3. The next turn.
            if runner.busy.is_none() && runner.next <= now {
                let Some(luck) = lucks.next() else { return tenures };
                let action = runner.candidate.step(lease.record.as_ref(), i64::try_from(now * 60_000).unwrap(), mono);
                runner.next = now + 2_000 + luck.pause;
                if action != Action::Wait {
                    let (lands, returns) = (now + luck.lands, now + luck.lands + luck.back);
                    runner.busy = Some(Busy {
                        action,
                        version: lease.version,
                        begun: mono,
                        lands,
                        returns,
                        is_answered: luck.is_answered,
                        outcome: None,
                    });
                }
            }
        }
        let leaders: Vec<(i64, usize)> = runners
            .iter()
            .enumerate()
            .filter_map(|(index, runner)| Some((runner.candidate.epoch(now + runner.ahead)?, index)))
            .collect();
        assert!(leaders.len() <= 1, "two lead at {now}: {leaders:?}");
        if let Some(leader) = leaders.first().filter(|leader| tenures.last() != Some(leader)) {
            tenures.push(*leader);
        }
        if deletions.next_if(|at| **at <= now).is_some() {
            lease.record = None;
            lease.version += 1;
        }
        now += 20;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn at_most_one_leads_and_later_tenures_have_greater_epochs(
        candidates in 1_usize..5,
        lucks in prop::collection::vec(luck(), 20..150),
    ) {
        let tenures = run(candidates, &lucks, &[]);
        for pair in tenures.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0, "{tenures:?}");
        }
    }

    #[test]
    fn deleting_the_lease_makes_no_second_leader_of_those_who_knew_it(
        lucks in prop::collection::vec(luck(), 30..150),
        deletions in prop::collection::vec(30_000_u64..200_000, 1..12),
    ) {
        let mut deletions = deletions;
        deletions.sort_unstable();
        // Everybody's first look is over by the first deletion.
        let calm = [Luck { lands: 5, back: 5, is_answered: true, pause: 1 }; 12];
        let tenures = run(3, &[&calm, lucks.as_slice()].concat(), &deletions);
        for pair in tenures.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0, "{tenures:?}");
        }
    }
}

#[test]
fn with_good_luck_somebody_leads_from_the_first_turn_on_and_stays() {
    let luck = Luck { lands: 5, back: 5, is_answered: true, pause: 1 };
    assert_eq!(run(3, &[luck; 300], &[]), [(1, 0)]);
}

#[test]
fn a_leader_that_falls_silent_is_followed_after_the_duration_and_knows_it_before() {
    let timing = Timing::default();
    let (mut first, mut second) = (Candidate::new("a".into(), timing), Candidate::new("b".into(), timing));
    let Action::Create(record) = first.step(None, 0, 0) else { panic!("the first creates") };
    first.written(&record, 0, 10);
    assert_eq!(first.epoch(9_999), Some(1));
    assert_eq!(first.epoch(10_000), None, "the tenure ends by the clock, asked or not");
    // The other's clock has nothing to do with the first one's.
    assert_eq!(second.step(Some(&record), 1, 5_000_000), Action::Wait);
    assert_eq!(second.step(Some(&record), 2, 5_014_999), Action::Wait);
    let Action::Replace(taken) = second.step(Some(&record), 3, 5_015_000) else { panic!("it is free by then") };
    assert_eq!((taken.holder(), taken.epoch()), ("b", 2));
    second.written(&taken, 5_015_000, 5_015_010);
    // Back from its pause, the first sees who leads, and its own epoch is over.
    assert_eq!(first.step(Some(&taken), 4, 40_000), Action::Wait);
    assert_eq!(first.epoch(40_000), None);
}

#[test]
fn a_changed_record_starts_the_wait_anew_whatever_time_it_names() {
    let mut other = Candidate::new("b".into(), Timing::default());
    let long_ago = Record {
        holder_identity: Some("a".into()),
        lease_duration_seconds: Some(15),
        renew_time: Some("1970-01-01T00:00:00.000000Z".into()),
        ..Record::default()
    };
    assert_eq!(other.step(Some(&long_ago), 7, 0), Action::Wait, "remote times count for nothing");
    let renewed = Record { renew_time: Some("1970-01-01T00:00:02.000000Z".into()), ..long_ago };
    assert_eq!(other.step(Some(&renewed), 7, 14_000), Action::Wait);
    assert_eq!(other.step(Some(&renewed), 7, 28_999), Action::Wait);
    assert_ne!(other.step(Some(&renewed), 7, 29_000), Action::Wait);
}

#[test]
fn a_lease_that_was_handed_back_is_taken_at_once_with_the_next_epoch() {
    let timing = Timing::default();
    let (mut first, mut second) = (Candidate::new("a".into(), timing), Candidate::new("b".into(), timing));
    let Action::Create(record) = first.step(None, 0, 0) else { panic!("the first creates") };
    first.written(&record, 0, 10);
    let farewell = first.resign(&record, 1).unwrap();
    assert_eq!((first.epoch(20), farewell.holder(), farewell.epoch()), (None, "", 1));
    let Action::Replace(taken) = second.step(Some(&farewell), 2, 77) else { panic!("nobody holds it") };
    assert_eq!(taken.epoch(), 2);
    assert_eq!(first.resign(&record, 3), None, "what is not held is not handed back");
}

#[test]
fn a_lease_deleted_under_its_leader_ends_the_tenure_and_the_epochs_go_on() {
    let mut first = Candidate::new("a".into(), Timing::default());
    let Action::Create(record) = first.step(None, 0, 0) else { panic!("the first creates") };
    first.written(&record, 0, 10);
    let Action::Create(vacant) = first.step(None, 1, 2_000) else { panic!("it is gone") };
    assert_eq!((first.epoch(2_000), vacant.holder(), vacant.epoch()), (None, "", 2));
    first.written(&vacant, 2_000, 2_010);
    assert_eq!(first.epoch(2_010), None, "a vacant lease is nobody's");
    assert_eq!(first.step(Some(&vacant), 2, 17_009), Action::Wait);
    let mut other = Candidate::new("b".into(), Timing::default());
    assert_eq!(other.step(Some(&vacant), 3, 20_000), Action::Wait, "whoever held the former one may not know yet");
    assert_eq!(other.step(Some(&vacant), 4, 34_999), Action::Wait);
    let Action::Replace(taken) = other.step(Some(&vacant), 5, 35_000) else { panic!("nobody can believe by now") };
    assert_eq!((taken.holder(), taken.epoch()), ("b", 3));
    assert!(matches!(first.step(Some(&vacant), 6, 17_010), Action::Replace(_)));
}

#[test]
fn absence_however_long_makes_no_leader_for_the_lease_may_have_been_there_between_two_looks() {
    let mut sleeper = Candidate::new("a".into(), Timing::default());
    let held = Record { holder_identity: Some("b".into()), lease_transitions: Some(7), ..Record::default() };
    assert_eq!(sleeper.step(Some(&held), 0, 0), Action::Wait);
    // Deleted; then, while this one sleeps, made anew, held and deleted again.
    for now in [2_000, 39_000] {
        let Action::Create(vacant) = sleeper.step(None, 1, now) else { panic!("it is gone") };
        assert_eq!(vacant.holder(), "", "at {now}");
    }
    // The same of one that looked before there was any lease.
    let mut early = Candidate::new("c".into(), Timing::default());
    assert!(matches!(early.step(None, 0, 0), Action::Create(first) if first.holder() == "c"));
    assert!(matches!(early.step(None, 1, 60_000), Action::Create(second) if second.holder().is_empty()));
}

#[test]
fn a_write_of_ones_own_whose_answer_was_lost_is_waited_out() {
    let mut only = Candidate::new("a".into(), Timing::default());
    let Action::Create(record) = only.step(None, 0, 0) else { panic!("the first creates") };
    assert_eq!(only.step(Some(&record), 1, 2_000), Action::Wait, "it may have landed late, over another's deletion");
    assert_eq!(only.step(Some(&record), 2, 16_999), Action::Wait);
    assert!(matches!(only.step(Some(&record), 3, 17_000), Action::Replace(taken) if taken.epoch() == 2));
}

#[test]
fn a_foreign_duration_is_respected_up_to_five_minutes() {
    for (seconds, patience) in [(60, 60_000), (1_000_000, 300_000), (-5, 15_000), (1, 15_000)] {
        let mut other = Candidate::new("b".into(), Timing { duration: Duration::from_secs(15), ..Timing::default() });
        let held =
            Record { holder_identity: Some("a".into()), lease_duration_seconds: Some(seconds), ..Record::default() };
        assert_eq!(other.step(Some(&held), 7, 0), Action::Wait);
        assert_eq!(other.step(Some(&held), 7, patience - 1), Action::Wait, "{seconds}");
        assert_ne!(other.step(Some(&held), 7, patience), Action::Wait, "{seconds}");
    }
}
