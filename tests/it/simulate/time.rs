//! Windows, running work, checkpoints, arrivals and runtimes.

use expect_test::expect;
use stagger::kueue::simulate::{Runtimes, SimOptions, simulate};
use stagger::plan::snapshot::PreemptionPolicy::LowerPriority;
use stagger::units::Seconds;

use super::{check, timeline};
use crate::world::{a_job, a_running, a_snapshot, at, hours, minutes};

#[test]
fn a_window_that_closes_evicts_nobody_but_admits_nobody_either() {
    check(
        a_snapshot().queue("batch").gpus("a100", 4).cap("a100", 1, "12:30", "14:30").jobs([
            a_job("1").gpus(3).runs(hours(2)),
            a_job("2").gpus(1).created("12:40"),
            a_job("3").gpus(2).created("12:50"),
        ]),
        &expect![[r#"
            1: 12:00-14:00 a100
            2: 14:00-15:00 a100
            3: 14:30-15:30 a100
        "#]],
    );
}

#[test]
fn windows_add_and_reserve_capacity() {
    check(
        a_snapshot()
            .queue("batch")
            .gpus("a100", 2)
            .reserve("a100", 2, "12:00", "13:00")
            .add("a100", 4, "15:00", "16:00")
            .jobs([a_job("1").gpus(2), a_job("2").gpus(6)]),
        &expect![[r#"
            1: 13:00-14:00 a100
            2: 15:00-16:00 a100
        "#]],
    );
}

#[test]
fn running_work_holds_its_quota_until_it_ends() {
    check(
        a_snapshot()
            .queue("batch")
            .gpus("a100", 3)
            .preempts_within(LowerPriority)
            .running(a_running("known").gpus(1).until("12:30").priority(-5))
            .running(a_running("unknown").gpus(1).priority(-5))
            .until("20:00")
            .jobs([a_job("1").gpus(2).priority(9), a_job("2").gpus(3).priority(5)]),
        &expect![[r#"
            1: 12:30-13:30 a100
            2: 20:00-21:00 a100
        "#]],
    );
}

#[test]
fn a_checkpoint_saves_all_but_the_last_interval() {
    let victim = || a_job("1-low").runs(hours(2));
    let world = |low| {
        a_snapshot()
            .queue("batch")
            .gpus("a100", 1)
            .preempts_within(LowerPriority)
            .jobs([low, a_job("2-high").priority(5).created("12:50")])
    };
    // Of 50 minutes, 40 are kept; 80 are left, and 5 to load the checkpoint.
    check(
        world(victim().checkpointable(minutes(20), minutes(5))),
        &expect![[r#"
            1-low: 12:00-12:50 a100 evicted, 13:50-15:15 a100
            2-high: 12:50-13:50 a100
        "#]],
    );
    check(
        world(victim().restartable(minutes(5))),
        &expect![[r#"
            1-low: 12:00-12:50 a100 evicted, 13:50-15:55 a100
            2-high: 12:50-13:50 a100
        "#]],
    );
}

#[test]
fn arrivals_queue_when_they_arrive() {
    check(
        a_snapshot().queue("batch").gpus("a100", 1).jobs([
            a_job("1").runs(minutes(90)),
            a_job("2").created("13:00"),
            a_job("3").not_before("12:10").runs(minutes(10)),
        ]),
        &expect![[r#"
            1: 12:00-13:30 a100
            3: 13:30-13:40 a100
            2: 13:40-14:40 a100
        "#]],
    );
}

#[test]
fn all_resources_of_a_workload_must_fit() {
    check(
        a_snapshot().queue("batch").gpus("a100", 4).quota("a100", "cpu", 8000).jobs([
            a_job("1").gpus(1).asks("cpu", 6000),
            a_job("2").gpus(1).asks("cpu", 3000),
            a_job("3").gpus(0).asks("cpu", 2000),
        ]),
        &expect![[r#"
            1: 12:00-13:00 a100
            2: 13:00-14:00 a100
            3: 12:00-13:00 a100
        "#]],
    );
}

#[test]
fn runtimes_are_p50_p90_or_given() {
    let snapshot = a_snapshot()
        .queue("batch")
        .gpus("a100", 1)
        .gpus("h100", 1)
        .jobs([
            a_job("1").runs_p50_p90(hours(1), hours(2)).due("13:30"),
            a_job("2").on("h100").runs(hours(2)).runs_on("h100", hours(1)),
        ])
        .build();
    let played = |runtimes: Runtimes| {
        let simulation = simulate(&snapshot, &SimOptions { runtimes });
        let summary = simulation.summary(&snapshot);
        (timeline(&snapshot, &simulation), summary.on_time, summary.at_risk, summary.late)
    };
    let (p50, on_time, at_risk, _) = played(Runtimes::P50);
    expect![[r#"
        1: 12:00-13:00 a100
        2: 12:00-13:00 h100
    "#]]
    .assert_eq(&p50);
    assert_eq!((on_time, at_risk), (0, 1), "the p90 end is past due");
    let (p90, .., late) = played(Runtimes::P90);
    expect![[r#"
        1: 12:00-14:00 a100
        2: 12:00-13:00 h100
    "#]]
    .assert_eq(&p90);
    assert_eq!(late, 1);
    let (given, on_time, ..) = played(Runtimes::Explicit(vec![Seconds(60)]));
    expect![[r#"
        1: 12:00-12:01 a100
        2: 12:00-13:00 h100
    "#]]
    .assert_eq(&given);
    assert_eq!(on_time, 1);
}

#[test]
fn waiting_counts_all_time_in_the_queue() {
    let snapshot = a_snapshot()
        .queue("batch")
        .gpus("a100", 1)
        .preempts_within(LowerPriority)
        .jobs([a_job("1-low"), a_job("2-high").priority(5).created("12:30"), a_job("3-huge").gpus(2)])
        .build();
    let runs = simulate(&snapshot, &SimOptions::default()).runs;
    let run = |name: &str| &runs[snapshot.workloads.iter().position(|it| it.key.name() == name).unwrap()];
    assert_eq!(run("1-low").waited, hours(1));
    assert_eq!(run("2-high").waited, Seconds::ZERO);
    assert_eq!(run("1-low").end, Some(at("14:30")));
    assert_eq!(run("3-huge").end, None);
}
