//! A turn that is not taken would have done nothing: whole days, with every turn taken, held against when it need not be.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use stagger::controller::quiet::{Still, until};
use stagger::kueue::release::Trouble;
use stagger::names::{FlavorName, WorkloadKey};
use stagger::units::{Seconds, Timestamp};

use super::fake::{Fake, NOON, at};

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    Arrives {
        gpus: i64,
        minutes: i64,
        gated: bool,
    },
    Evicted(usize),
    Deleted(usize),
    /// Kueue would rather not, or would again.
    Refused(usize),
    Runs {
        job: usize,
        minutes: i64,
    },
    Priority(usize, i64),
    Quota(i64),
    Mode(&'static str),
    /// Gates stay on Workloads, or go.
    Lags(bool),
    Broken(bool),
    Plan(bool),
}

fn event() -> impl Strategy<Value = Event> {
    let job = || 0_usize..12;
    prop_oneof![
        6 => (1_i64..5, 5_i64..90, prop::bool::weighted(0.8))
            .prop_map(|(gpus, minutes, gated)| Event::Arrives { gpus, minutes, gated }),
        1 => job().prop_map(Event::Evicted),
        1 => job().prop_map(Event::Deleted),
        2 => job().prop_map(Event::Refused),
        2 => (job(), 5_i64..120).prop_map(|(job, minutes)| Event::Runs { job, minutes }),
        1 => (job(), 0_i64..5).prop_map(|(job, priority)| Event::Priority(job, priority)),
        1 => (0_i64..9).prop_map(Event::Quota),
        1 => prop::sample::select(vec!["Enforce", "Recommend", "Observe"]).prop_map(Event::Mode),
        1 => any::<bool>().prop_map(Event::Lags),
        1 => any::<bool>().prop_map(Event::Broken),
        1 => prop::bool::weighted(0.7).prop_map(Event::Plan),
    ]
}

fn happens(mut fake: Fake, event: &Event) -> Fake {
    let count = fake.jobs.len();
    let find = |at: &usize| at.checked_rem(count);
    match event {
        Event::Arrives { gpus, minutes, gated } => {
            let name = format!("eval-{count}-{}", (fake.now - NOON).0);
            fake = fake.job(&name, *gpus);
            let job = fake.jobs.last_mut().expect("it has just come");
            job.runtime = Seconds(minutes * 60);
            if !gated {
                job.gates.clear();
            }
        }
        Event::Evicted(at) => {
            if let Some(job) = find(at).map(|at| &mut fake.jobs[at]).filter(|job| job.finished.is_none()) {
                job.evictions += u32::from(job.admitted.is_some());
                job.admitted = None;
            }
        }
        Event::Deleted(at) => drop(find(at).map(|at| fake.jobs.remove(at))),
        Event::Refused(at) => {
            if let Some(at) = find(at) {
                fake.jobs[at].refused ^= true;
            }
        }
        Event::Runs { job, minutes } => {
            if let Some(at) = find(job) {
                fake.jobs[at].runtime = Seconds(minutes * 60);
            }
        }
        Event::Priority(at, priority) => {
            if let Some(at) = find(at) {
                fake.jobs[at].priority = *priority;
            }
        }
        Event::Quota(gpus) => fake.quota = *gpus,
        Event::Mode(mode) => fake.mode = mode,
        Event::Lags(lags) => fake.lags = *lags,
        Event::Broken(broken) => fake.broken = *broken,
        Event::Plan(has) => fake.has_plan = *has,
    }
    fake
}

/// What a turn goes by, beside the clock.
fn rows(fake: &Fake) -> Vec<Value> {
    let mut rows: Vec<Value> = fake.rows().into_iter().map(|row| row.value).collect();
    rows.push(json!(format!("{:?}", fake.slo)));
    rows
}

/// What a scope remembers from turn to turn.
type Memory = (
    Vec<Trouble>,
    BTreeMap<WorkloadKey, Timestamp>,
    BTreeMap<WorkloadKey, Timestamp>,
    BTreeMap<WorkloadKey, FlavorName>,
    Option<(Timestamp, String)>,
);

fn memory(fake: &Fake) -> Memory {
    let scope = &fake.scope;
    let (troubles, pins, failed) = (scope.troubles.clone(), scope.pins.clone(), scope.failed.clone());
    (troubles, scope.held_since.clone(), scope.loose_since.clone(), pins, failed)
}

/// Two hours in steps of seconds; gives how many turns need not have been taken, and how many there were.
fn day(events: &[(i64, Event)], start: i64, step: i64, window: (i64, i64, &str)) -> Result<(u32, u32), TestCaseError> {
    let mut fake = Fake::touchstone();
    (fake.now, fake.steps) = (at(start), 200);
    fake.jobs.iter_mut().for_each(|job| job.created = at(start));
    fake.due = "2026-12-01T03:30:00+01:00";
    let (opens, lasts, effect) = window;
    let written = |minutes: i64| super::fake::time(at(start + minutes));
    fake.windows = json!([{"name": "other", "clusterQueue": "batch", "flavor": "a100", "resource": "nvidia.com/gpu",
        "quantity": "2", "effect": effect, "start": written(opens), "end": written(opens + lasts)}]);
    let mut coming = events.iter().scan(start, |when, (after, event)| {
        *when += after;
        Some((at(*when), event))
    });
    let mut next = coming.next();
    // The rows of a quiet turn, until when there is nothing to do, and what was decided.
    let mut quiet: Option<(Vec<Value>, Timestamp, usize, BTreeMap<WorkloadKey, String>)> = None;
    let (mut spared, mut all) = (0, 0);
    while fake.now < at(start + 120) {
        while let Some((_, event)) = next.filter(|(when, _)| *when <= fake.now) {
            fake = happens(fake, event);
            next = coming.next();
        }
        fake.live();
        let rows = rows(&fake);
        let still = quiet.take().filter(|(known, until, ..)| *known == rows && fake.now < *until);
        let (before, plans) = (memory(&fake), fake.plans.len());
        let turn = fake.turn();
        all += 1;
        let tried = fake.scope.tried == Some(fake.now);
        if let Some((_, until, gates, held)) = &still {
            spared += 1;
            let now = (fake.now - NOON).0;
            prop_assert!(turn.is_empty() && !tried, "{now}: {turn:?} before {until:?}");
            prop_assert_eq!(plans, fake.plans.len(), "{}", now);
            prop_assert_eq!((turn.gates, &turn.held), (*gates, held), "{}", now);
            prop_assert_eq!(memory(&fake), before, "{}", now);
            quiet = still;
        } else if turn.is_empty() && !tried {
            let assembled = fake.seen.as_ref().expect("a turn has seen something");
            let stills = [Still { scope: &fake.scope, assembled }];
            let until = until(&stills, (fake.now, NOON), &fake.settings, &fake.settings.patience());
            quiet = until.map(|until| (rows, until, turn.gates, turn.held));
        }
        fake.now = fake.now + Seconds(step);
    }
    Ok((spared, all))
}

#[test]
fn a_turn_that_is_not_taken_would_have_done_nothing() {
    let cases = 12;
    let mut runner =
        TestRunner::new(Config { cases, max_shrink_iters: 40, failure_persistence: None, ..Config::default() });
    let effect = prop::sample::select(vec!["Cap", "Reserve", "Add"]);
    let window = (5_i64..90, 10_i64..60, effect);
    let events = prop::collection::vec((0_i64..20, event()), 0..12);
    let (spared, all) = (Cell::new(0), Cell::new(0));
    let drawn = runner.run(&(events, 0_i64..720, 7_i64..40, window), |(events, start, step, window)| {
        let (some, of) = day(&events, start, step, window)?;
        spared.set(spared.get() + some);
        all.set(all.get() + of);
        Ok(())
    });
    drawn.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(spared.get() * 2 > all.get(), "only {} of {} turns are spared", spared.get(), all.get());
}

/// Until when there is nothing to do, as `13:07:10`, once the turns of this instant have done what there was.
fn quiet(fake: &mut Fake) -> String {
    for _ in 0..5 {
        fake.live();
        let turn = fake.turn();
        if turn.is_empty() && fake.scope.tried != Some(fake.now) {
            break;
        }
    }
    let assembled = fake.seen.as_ref().expect("a turn has seen something");
    let stills = [Still { scope: &fake.scope, assembled }];
    let until = until(&stills, (fake.now, NOON), &fake.settings, &fake.settings.patience());
    stagger::calendar::clock_time(until.expect("there is nothing to do"), fake.settings.zone)
}

/// Days that begin seven minutes after noon, so that no instant is that of a quarter of an hour.
fn since_seven_past(jobs: &[(&str, i64)]) -> Fake {
    let mut fake = Fake::new();
    fake.now = at(7);
    let mut fake = jobs.iter().fold(fake, |fake, (name, gpus)| fake.job(name, *gpus));
    quiet(&mut fake);
    fake
}

#[test]
fn the_next_start_ends_the_quiet() {
    let mut fake = since_seven_past(&[("eval-1", 4), ("eval-2", 4)]);
    fake.until(65);
    assert_eq!(quiet(&mut fake), "13:07");
}

#[test]
fn work_that_outlasts_its_end_by_more_than_a_handover_ends_the_quiet() {
    let mut fake = since_seven_past(&[("eval-1", 4)]);
    fake.find("eval-1").runtime = Seconds(2 * 3600);
    // A plan of another minute, so that its age does not come between.
    fake.until(9);
    fake.quota = 5;
    fake.until(66);
    assert_eq!(quiet(&mut fake), "13:07:10");
}

#[test]
fn what_kueue_does_not_take_up_in_time_ends_the_quiet() {
    let mut fake = since_seven_past(&[]);
    fake = fake.job("eval-1", 4);
    fake.find("eval-1").refused = true;
    quiet(&mut fake);
    let since = fake.scope.loose_since.values().copied().next().expect("it has been let go");
    for (after, expected) in [(4, 5), (9, 10)] {
        fake.now = since + Seconds(after);
        let expected = stagger::calendar::clock_time(since + Seconds(expected), fake.settings.zone);
        assert_eq!(quiet(&mut fake), expected);
    }
}

#[test]
fn a_due_time_that_passes_ends_the_quiet() {
    let mut fake = Fake::new();
    (fake.now, fake.due) = (at(7), "2026-11-30T12:14:00+01:00");
    fake = fake.job("eval-1", 4);
    fake.until(13);
    assert_eq!(quiet(&mut fake), "12:14:01");
}

#[test]
fn a_window_that_opens_and_one_that_closes_end_the_quiet() {
    let mut fake = Fake::new();
    fake.now = at(7);
    let written = |minutes: i64| super::fake::time(at(minutes));
    fake.windows = json!([{"name": "other", "clusterQueue": "batch", "flavor": "a100", "resource": "nvidia.com/gpu",
        "quantity": "1", "effect": "Reserve", "start": written(11), "end": written(13)}]);
    fake = fake.job("eval-1", 1);
    fake.until(10);
    assert_eq!(quiet(&mut fake), "12:11");
    fake.until(12);
    assert_eq!(quiet(&mut fake), "12:13");
}

#[test]
fn a_plan_that_grows_old_ends_the_quiet() {
    let mut fake = since_seven_past(&[("eval-1", 4)]);
    fake.until(16);
    assert_eq!(quiet(&mut fake), "12:17");
}

#[test]
fn what_can_never_be_planned_is_held_for_the_limit_and_then_ends_the_quiet() {
    let mut fake = since_seven_past(&[("eval-1", 4)]);
    fake.now = at(8) + Seconds(30);
    fake = fake.job("never", 100);
    fake.until(38);
    assert_eq!(quiet(&mut fake), "12:38:30");
}

#[test]
fn midnight_ends_the_quiet_for_sentences_name_other_days() {
    let mut fake = Fake::new();
    (fake.now, fake.due) = (at(12 * 60 - 14), "2026-12-01T17:00:00+01:00");
    fake = fake.job("eval-1", 4);
    quiet(&mut fake);
    fake.until(12 * 60 - 3);
    assert_eq!(quiet(&mut fake), "00:00");
}
