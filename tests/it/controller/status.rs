//! What people are told, in the words they read.

use expect_test::expect;
use stagger::api::status::{ConditionStatus, WorkloadSloStatus};

use super::fake::Fake;

fn shown(status: &WorkloadSloStatus) -> String {
    let mut text = format!("{}\n", status.message.as_deref().unwrap_or_default());
    let start = status.planned_start.as_ref().map_or("-", |at| at.0.as_str());
    let end = status.expected_end.as_ref().map_or("-", |end| end.p90.0.as_str());
    text += &format!("start {start} end {end} slack {:?} attempts {:?}\n", status.slack_seconds, status.attempts);
    for one in &status.conditions {
        let status = match one.status {
            ConditionStatus::True => "+",
            ConditionStatus::False => "-",
            ConditionStatus::Unknown => "?",
        };
        text += &format!("{status} {} {}: {}\n", one.condition, one.reason, one.message);
    }
    text
}

#[test]
fn one_job_that_waits_is_told_in_one_sentence() {
    let mut fake = Fake::new().job("big", 4);
    fake.turn();
    fake.live();
    fake = fake.job("eval-3", 2);
    fake.turn();
    expect![[r#"
        2 workloads: 1 running, 1 waiting. eval-3: Starts 13:00: big holds the 4 a100 GPUs until then. Due 17:00, slack 3 h.
        start 2026-11-30T12:00:00+01:00 end 2026-11-30T14:00:00+01:00 slack Some(10800) attempts Some(1)
        + Accepted Accepted: it can be read
        + ResolvedRefs Resolved: it speaks for 2 workloads
        + Planned Planned: every workload has its start
        - Released Waiting: 1 of 2 workloads waits for its start
        ? DeadlineMet Pending: not everything is done yet
        ? OutcomeVerified NotJudged: no outcome has been judged yet
    "#]].assert_eq(&shown(&fake.slo));
}

#[test]
fn the_touchstone_through_its_day() {
    let mut fake = Fake::touchstone();
    let mut text = String::new();
    for minute in [1, 61, 121] {
        fake.until(minute);
        text += &format!("== {minute}\n{}", shown(&fake.slo));
    }
    expect![[r#"
        == 1
        4 workloads: 2 running, 2 waiting. eval-3: Starts 13:00: eval-1 and eval-2 hold the 4 a100 GPUs until then. Due 17:00, slack 3 h.
        start 2026-11-30T12:00:00+01:00 end 2026-11-30T14:00:00+01:00 slack Some(10800) attempts Some(2)
        + Accepted Accepted: it can be read
        + ResolvedRefs Resolved: it speaks for 4 workloads
        + Planned Planned: every workload has its start
        - Released Waiting: 2 of 4 workloads wait for their start
        ? DeadlineMet Pending: not everything is done yet
        ? OutcomeVerified NotJudged: no outcome has been judged yet
        == 61
        4 workloads: 2 done, 2 running. eval-3: Runs since 13:00 on a100; expected to end 14:00. Due 17:00, slack 3 h.
        start 2026-11-30T12:00:00+01:00 end 2026-11-30T14:00:00+01:00 slack Some(10800) attempts Some(4)
        + Accepted Accepted: it can be read
        + ResolvedRefs Resolved: it speaks for 4 workloads
        + Planned Planned: every workload has its start
        + Released Released: nothing is held
        ? DeadlineMet Pending: not everything is done yet
        ? OutcomeVerified NotJudged: no outcome has been judged yet
        == 121
        4 workloads: 4 done. eval-1: Finished 13:00, 4 h before it was due.
        start 2026-11-30T12:00:00+01:00 end 2026-11-30T14:00:00+01:00 slack Some(10800) attempts Some(4)
        + Accepted Accepted: it can be read
        + ResolvedRefs Resolved: it speaks for 4 workloads
        + Planned Planned: every workload has its start
        + Released Released: nothing is held
        + DeadlineMet Met: everything was done in time
        ? OutcomeVerified NotJudged: no outcome has been judged yet
    "#]].assert_eq(&text);
}

#[test]
fn work_that_is_evicted_again_and_again_is_told() {
    let mut fake = Fake::new().job("eval-1", 2);
    fake.until(30);
    let mut told = |evictions: u32| {
        let job = fake.find("eval-1");
        (job.admitted, job.evictions) = (None, evictions);
        fake.turn();
        shown(&fake.slo)
    };
    assert!(told(1).starts_with("Lost its quota 12:00 (Preempted). Starts "), "{}", told(1));
    assert!(!told(2).contains("Disrupted"));
    let text = told(3);
    assert!(text.starts_with("Lost its quota 12:00 (Preempted), 3 times so far. Starts "), "{text}");
    let disrupted = "+ Disrupted EvictedAgain: eval-1 lost its quota 3 times (Preempted): look at the preemption rules";
    assert!(text.contains(disrupted), "{text}");
}

#[test]
fn a_judgement_keeps_its_time_of_change() {
    let mut fake = Fake::touchstone();
    fake.until(1);
    let at = |fake: &Fake| fake.slo.conditions[0].last_transition_time.clone();
    let before = at(&fake);
    fake.until(62);
    assert_eq!(at(&fake), before);
}
