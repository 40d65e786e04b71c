//! What happens over hours: the touchstone, and everything that may get in its way.

use stagger::kueue::release::Cause;
use stagger::units::Seconds;

use super::fake::{Fake, GATE, at};

fn minutes(fake: &Fake) -> Vec<i64> {
    fake.starts().into_values().collect()
}

#[test]
fn two_start_at_noon_and_two_when_those_end() {
    let mut fake = Fake::touchstone();
    fake.until(1);
    assert_eq!(fake.used(), 4, "two run");
    assert!(fake.jobs[2..].iter().all(|job| job.gates == GATE), "two wait, and hold nothing");
    assert_eq!(fake.jobs[2].planned.as_deref(), Some("2026-11-30T13:00:00+01:00"));
    fake.until(130);
    assert_eq!(minutes(&fake), [0, 0, 60, 60]);
    assert_eq!(fake.peak, 4);
    assert!(fake.jobs.iter().all(|job| job.finished.is_some()));
    let causes: Vec<_> = fake.released.iter().map(|(_, _, cause)| *cause).collect();
    assert_eq!(causes, [Cause::Planned; 4]);
}

#[test]
fn nothing_is_let_go_before_its_planned_start() {
    let mut fake = Fake::touchstone();
    fake.until(59);
    assert_eq!(fake.released.len(), 2);
    fake.until(60);
    assert_eq!(fake.released.len(), 4);
}

#[test]
fn every_job_says_the_start_that_it_was_let_go_for() {
    let mut fake = Fake::touchstone();
    fake.find("eval-1").runtime = Seconds(1200);
    fake.find("eval-2").runtime = Seconds(4800);
    fake.until(200);
    for job in &fake.jobs {
        let said = job.planned.as_deref().and_then(|text| stagger::calendar::parse_instant(text).ok());
        let went = fake.released.iter().find(|(_, name, _)| *name == job.name).map(|(at, _, _)| *at);
        let (said, went) = (said.expect("a start must be told"), went.expect("it must have gone"));
        assert!((Seconds(0)..=Seconds(5)).contains(&(went - said)), "{}: told {said:?}, went {went:?}", job.name);
    }
}

#[test]
fn an_early_end_lets_the_next_one_start_early() {
    let mut fake = Fake::touchstone();
    fake.find("eval-1").runtime = Seconds(1200);
    fake.until(130);
    assert_eq!(minutes(&fake), [0, 0, 20, 60]);
    assert!(fake.causes().contains(&"Ended"), "{:?}", fake.causes());
}

#[test]
fn an_overrun_makes_the_next_one_wait_and_nothing_else() {
    let mut fake = Fake::touchstone();
    fake.find("eval-1").runtime = Seconds(4800);
    fake.until(150);
    let starts = fake.starts();
    assert_eq!((starts["eval-3"], starts["eval-4"]), (60, 80), "{starts:?}");
    assert_eq!(fake.peak, 4);
}

#[test]
fn evicted_work_is_planned_around_and_the_rest_keeps_its_place() {
    let mut fake = Fake::touchstone();
    fake.until(30);
    let job = fake.find("eval-1");
    (job.admitted, job.evictions) = (None, 1);
    fake.turn();
    fake.until(200);
    assert!(fake.causes().contains(&"Evicted"), "{:?}", fake.causes());
    assert!(fake.jobs.iter().all(|job| job.finished.is_some()));
    assert_eq!(fake.peak, 4);
    assert_eq!(fake.slo.attempts, Some(5));
}

/// Kueue has cleared a reservation without a word.
#[test]
fn a_reservation_that_is_cleared_is_planned_for_as_an_eviction() {
    let mut fake = Fake::touchstone();
    fake.until(30);
    fake.find("eval-1").admitted = None;
    fake.turn();
    assert_eq!(fake.causes().last(), Some(&"Evicted"));
    fake.until(200);
    assert!(fake.jobs.iter().all(|job| job.finished.is_some()));
    assert_eq!(fake.peak, 4);
}

#[test]
fn a_thief_delays_the_plan_and_is_named() {
    let mut fake = Fake::touchstone();
    fake.until(59);
    fake = fake.job("thief", 2);
    let thief = fake.find("thief");
    (thief.gates, thief.priority) = (String::new(), 100);
    fake.until(240);
    let starts = fake.starts();
    assert_eq!(starts["thief"], 60);
    assert!(fake.jobs.iter().all(|job| job.finished.is_some()), "{starts:?}");
    assert_eq!(fake.peak, 4);
}

#[test]
fn new_work_takes_its_place_behind_what_was_promised() {
    let mut fake = Fake::touchstone();
    fake.until(10);
    fake = fake.job("eval-5", 4);
    fake.until(200);
    let starts = fake.starts();
    assert_eq!((starts["eval-3"], starts["eval-4"], starts["eval-5"]), (60, 60, 120));
    assert!(fake.causes().contains(&"Arrived"));
}

#[test]
fn less_quota_is_noticed_at_once() {
    let mut fake = Fake::touchstone();
    fake.until(10);
    fake.quota = 2;
    fake.until(240);
    let starts = fake.starts();
    assert_eq!((starts["eval-3"], starts["eval-4"]), (60, 120));
    assert!(fake.causes().contains(&"Quota"));
}

#[test]
fn more_quota_is_used_at_once() {
    let mut fake = Fake::touchstone();
    fake.until(10);
    fake.quota = 8;
    fake.until(30);
    assert_eq!(fake.starts().len(), 4);
}

#[test]
fn deleted_work_gives_its_place_away() {
    let mut fake = Fake::touchstone();
    fake.until(10);
    fake.jobs.retain(|job| job.name != "eval-2");
    fake.until(15);
    assert_eq!(fake.starts()["eval-3"], 10);
}

#[test]
fn observe_and_recommend_let_nothing_be_held() {
    for mode in ["Observe", "Recommend"] {
        let mut fake = Fake::touchstone();
        fake.mode = mode;
        fake.turn();
        assert!(fake.jobs.iter().all(|job| job.gates.is_empty()), "{mode}");
        assert!(fake.released.iter().all(|(_, _, cause)| *cause == Cause::NotEnforced));
    }
}

#[test]
fn recommended_starts_are_written_and_observed_ones_are_not() {
    for (mode, expected) in [("Observe", false), ("Recommend", true)] {
        let mut fake = Fake::touchstone();
        fake.mode = mode;
        // The gates of another time go first.
        fake.turn();
        fake.turn();
        assert_eq!(fake.jobs.iter().all(|job| job.planned.is_some()), expected, "{mode}");
    }
}

#[test]
fn without_a_plan_work_starts_at_its_latest_safe_start() {
    let mut fake = Fake::touchstone();
    fake.broken = true;
    fake.until(235);
    assert!(fake.released.is_empty());
    fake.until(241);
    assert!(fake.jobs.iter().all(|job| job.gates.is_empty()));
    assert!(fake.released.iter().all(|(when, _, cause)| *cause == Cause::Overdue && *when == at(240)));
}

#[test]
fn when_planning_breaks_later_the_promised_starts_are_kept() {
    let mut fake = Fake::touchstone();
    fake.until(10);
    fake.broken = true;
    fake = fake.job("eval-5", 4);
    fake.until(61);
    assert!(fake.jobs[..4].iter().all(|job| job.gates.is_empty()), "{:?}", fake.released);
    assert_eq!(fake.starts()["eval-4"], 60);
}

/// An object's change is found again by whoever looks again; that the choices have changed is only known once.
#[test]
fn other_choices_are_planned_for_also_when_the_first_try_fails() {
    let mut fake = Fake::touchstone();
    fake.until(1);
    (fake.frozen, fake.broken) = ("10m", true);
    fake.until(2);
    assert!(!fake.causes().contains(&"Policy"), "{:?}", fake.causes());
    fake.broken = false;
    fake.until(3);
    assert!(fake.causes().contains(&"Policy"), "{:?}", fake.causes());
}

#[test]
fn a_job_that_kueue_never_takes_up_does_not_stop_the_others() {
    let mut fake = Fake::touchstone();
    fake.find("eval-1").refused = true;
    fake.until(200);
    let starts = fake.starts();
    assert_eq!(starts.len(), 3, "{starts:?}");
    assert!(fake.causes().contains(&"NotReserved"));
    let blocked = fake.slo.conditions.iter().find(|one| one.condition == "Blocked").expect("it must be told");
    assert!(blocked.message.contains("QuotaReserved says Kueue"), "{}", blocked.message);
}

#[test]
fn a_quiet_cluster_is_left_alone() {
    let mut fake = Fake::touchstone();
    fake.until(2);
    let (plans, writes) = (fake.plans.len(), fake.slo_writes);
    let turn = fake.turn();
    assert!(turn.orders.is_empty() && turn.notes.is_empty() && turn.slos.is_empty());
    fake.until(9);
    assert_eq!((fake.plans.len(), fake.slo_writes), (plans, writes));
}

#[test]
fn another_leader_goes_on_from_what_is_stored() {
    let mut fake = Fake::touchstone();
    fake.until(10);
    let promised = fake.scope.planned.as_ref().expect("there must be a plan").plan.previous_releases();
    fake.scope = stagger::controller::scope::Scope { inherited: promised, ..Default::default() };
    fake.until(130);
    assert_eq!(minutes(&fake), [0, 0, 60, 60]);
}
