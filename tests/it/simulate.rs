//! Kueue's admission rules, one small case each: the expected timeline was worked out by hand.

use expect_test::{Expect, expect};
use stagger::kueue::simulate::{Attempt, Runtimes, SimOptions, Simulation, simulate};
use stagger::plan::snapshot::PreemptionPolicy::{Any, LowerOrNewerEqualPriority, LowerPriority};
use stagger::plan::snapshot::Snapshot;
use stagger::units::Seconds;

use crate::world::{World, a_job, a_running, a_snapshot, at, clock, hours, minutes};

/// One line per workload, in the snapshot's order.
pub fn timeline(snapshot: &Snapshot, simulation: &Simulation) -> String {
    let mut text = String::new();
    for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
        let attempt = |attempt: &Attempt| {
            let flavor = &workload.options[attempt.option].flavor;
            let end = if attempt.evicted { " evicted" } else { "" };
            format!(" {}-{} {flavor}{end}", clock(attempt.start), clock(attempt.end))
        };
        let attempts: Vec<String> = run.attempts.iter().map(attempt).collect();
        let shown = if attempts.is_empty() { " never".to_owned() } else { attempts.join(",") };
        text.push_str(&format!("{}:{shown}\n", workload.key.name()));
    }
    text
}

fn check(world: World, expected: &Expect) {
    let snapshot = world.build();
    expected.assert_eq(&timeline(&snapshot, &simulate(&snapshot, &SimOptions::default())));
}

/// Two queues of four GPUs each in one cohort.
fn two_teams() -> World {
    a_snapshot().queue("blue").gpus("a100", 4).under("all").queue("red").gpus("a100", 4).under("all").queue("blue")
}

#[test]
fn four_evals_of_two_gpus_run_two_at_a_time() {
    let eval = |name: &str| a_job(name).gpus(2);
    check(
        a_snapshot().queue("batch").gpus("a100", 4).jobs([eval("1"), eval("2"), eval("3"), eval("4")]),
        &expect![[r#"
            1: 12:00-13:00 a100
            2: 12:00-13:00 a100
            3: 13:00-14:00 a100
            4: 13:00-14:00 a100
        "#]],
    );
}

#[test]
fn the_queue_goes_by_priority_then_creation_then_key() {
    check(
        a_snapshot().queue("batch").gpus("a100", 1).jobs([
            a_job("b").created("11:00"),
            a_job("a").created("11:00"),
            a_job("urgent").priority(9).created("11:59"),
            a_job("older").created("10:00"),
        ]),
        &expect![[r#"
            older: 13:00-14:00 a100
            a: 14:00-15:00 a100
            b: 15:00-16:00 a100
            urgent: 12:00-13:00 a100
        "#]],
    );
}

#[test]
fn best_effort_fifo_lets_smaller_work_pass() {
    check(
        a_snapshot().queue("batch").gpus("a100", 4).jobs([
            a_job("1-half").gpus(2).runs(hours(2)),
            a_job("2-whole").gpus(4),
            a_job("3-small").gpus(1).runs(hours(3)),
        ]),
        &expect![[r#"
            1-half: 12:00-14:00 a100
            2-whole: 15:00-16:00 a100
            3-small: 12:00-15:00 a100
        "#]],
    );
}

#[test]
fn strict_fifo_blocks_behind_its_head() {
    check(
        a_snapshot().queue("batch").gpus("a100", 4).strict_fifo().jobs([
            a_job("1-half").gpus(2).runs(hours(2)),
            a_job("2-whole").gpus(4),
            a_job("3-small").gpus(1),
        ]),
        &expect![[r#"
            1-half: 12:00-14:00 a100
            2-whole: 14:00-15:00 a100
            3-small: 15:00-16:00 a100
        "#]],
    );
}

/// kueue#8309.
#[test]
fn strict_fifo_blocks_across_flavors() {
    check(
        a_snapshot().queue("batch").gpus("a100", 1).gpus("h100", 1).strict_fifo().jobs([
            a_job("1").on("a100"),
            a_job("2").on("a100"),
            a_job("3").on("h100"),
        ]),
        &expect![[r#"
            1: 12:00-13:00 a100
            2: 13:00-14:00 a100
            3: 13:00-14:00 h100
        "#]],
    );
}

#[test]
fn a_head_that_can_never_fit_blocks_a_strict_queue_for_ever() {
    let jobs = [a_job("1-huge").gpus(9), a_job("2")];
    let queue = a_snapshot().queue("batch").gpus("a100", 4);
    check(
        queue.clone().jobs(jobs.clone()),
        &expect![[r#"
            1-huge: never
            2: 12:00-13:00 a100
        "#]],
    );
    check(
        queue.strict_fifo().jobs(jobs),
        &expect![[r#"
            1-huge: never
            2: never
        "#]],
    );
}

#[test]
fn a_stopped_queue_admits_nothing() {
    check(
        a_snapshot().queue("batch").gpus("a100", 4).stopped().job(a_job("1")),
        &expect![[r#"
        1: never
    "#]],
    );
}

#[test]
fn idle_quota_is_borrowed_and_waits_its_turn_when_the_owner_may_not_reclaim() {
    check(
        two_teams().jobs([
            a_job("1-blue").queue("blue").gpus(8).runs(hours(2)),
            a_job("2-red").queue("red").gpus(2).created("12:30"),
        ]),
        &expect![[r#"
            1-blue: 12:00-14:00 a100
            2-red: 14:00-15:00 a100
        "#]],
    );
}

#[test]
fn borrowed_quota_is_reclaimed_from_the_most_recently_admitted() {
    check(
        two_teams().queue("red").reclaims(Any).jobs([
            a_job("1-blue").queue("blue").gpus(4).runs(hours(3)),
            a_job("2-blue").queue("blue").gpus(2).runs(hours(3)).created("12:10"),
            a_job("3-blue").queue("blue").gpus(2).runs(hours(3)).created("12:20"),
            a_job("4-red").queue("red").gpus(2).created("12:30"),
        ]),
        &expect![[r#"
            1-blue: 12:00-15:00 a100
            2-blue: 12:10-15:10 a100
            3-blue: 12:20-12:30 a100 evicted, 13:30-16:30 a100
            4-red: 12:30-13:30 a100
        "#]],
    );
}

#[test]
fn reclaim_is_for_the_nominal_quota_only() {
    let world = |wanted| {
        two_teams().queue("red").reclaims(Any).jobs([
            a_job("0-red").queue("red").gpus(1).runs(hours(3)),
            a_job("1-blue").queue("blue").gpus(3).runs(hours(2)),
            a_job("2-blue").queue("blue").gpus(2).runs(hours(2)).created("12:10"),
            a_job("3-red").queue("red").gpus(wanted).created("12:30"),
        ])
    };
    check(
        world(3),
        &expect![[r#"
            0-red: 12:00-15:00 a100
            1-blue: 12:00-14:00 a100
            2-blue: 12:10-12:30 a100 evicted, 13:30-15:30 a100
            3-red: 12:30-13:30 a100
        "#]],
    );
    check(
        world(4),
        &expect![[r#"
            0-red: 12:00-15:00 a100
            1-blue: 12:00-14:00 a100
            2-blue: 12:10-14:10 a100
            3-red: 14:00-15:00 a100
        "#]],
    );
}

#[test]
fn a_lending_limit_keeps_quota_at_home() {
    check(
        a_snapshot()
            .queue("blue")
            .gpus("a100", 4)
            .under("all")
            .queue("red")
            .gpus("a100", 4)
            .lending_limit(1)
            .under("all")
            .jobs([a_job("1-six").queue("blue").gpus(6), a_job("2-five").queue("blue").gpus(5)]),
        &expect![[r#"
            1-six: never
            2-five: 12:00-13:00 a100
        "#]],
    );
}

#[test]
fn a_borrowing_limit_bounds_what_is_borrowed() {
    check(
        a_snapshot()
            .queue("blue")
            .gpus("a100", 4)
            .borrowing_limit(1)
            .under("all")
            .queue("red")
            .gpus("a100", 4)
            .under("all")
            .jobs([a_job("1-six").queue("blue").gpus(6), a_job("2-five").queue("blue").gpus(5)]),
        &expect![[r#"
            1-six: never
            2-five: 12:00-13:00 a100
        "#]],
    );
}

#[test]
fn higher_priority_preempts_and_the_victim_starts_over() {
    check(
        a_snapshot().queue("batch").gpus("a100", 2).preempts_within(LowerPriority).jobs([
            a_job("1-low").gpus(1).runs(hours(2)),
            a_job("2-mid").gpus(1).priority(1).runs(hours(2)),
            a_job("3-high").gpus(1).priority(5).created("12:30"),
        ]),
        &expect![[r#"
            1-low: 12:00-12:30 a100 evicted, 13:30-15:30 a100
            2-mid: 12:00-14:00 a100
            3-high: 12:30-13:30 a100
        "#]],
    );
}

#[test]
fn without_preemption_priority_only_orders_the_queue() {
    check(
        a_snapshot().queue("batch").gpus("a100", 1).jobs([
            a_job("1-low").runs(hours(2)),
            a_job("2-low").created("12:10"),
            a_job("3-high").priority(5).created("12:30"),
        ]),
        &expect![[r#"
            1-low: 12:00-14:00 a100
            2-low: 15:00-16:00 a100
            3-high: 14:00-15:00 a100
        "#]],
    );
}

#[test]
fn victims_that_need_not_go_are_spared() {
    // Room for three: the smallest first does not do, the next does, so the smallest is given back.
    check(
        a_snapshot().queue("batch").gpus("a100", 4).preempts_within(LowerPriority).jobs([
            a_job("1-large").gpus(3).priority(1).runs(hours(4)),
            a_job("2-small").gpus(1).runs(hours(4)).created("12:10"),
            a_job("3-high").gpus(3).priority(5).created("12:30"),
        ]),
        &expect![[r#"
            1-large: 12:00-12:30 a100 evicted, 13:30-17:30 a100
            2-small: 12:10-16:10 a100
            3-high: 12:30-13:30 a100
        "#]],
    );
}

#[test]
fn of_equal_priority_the_newer_yields_when_the_policy_says_so() {
    // The older one could not start before; when it comes, the newer one has been running for half an hour.
    let jobs =
        [a_job("1-older").created("11:00").not_before("12:30"), a_job("2-newer").runs(hours(2)).created("11:30")];
    let queue = a_snapshot().queue("batch").gpus("a100", 1);
    check(
        queue.clone().preempts_within(LowerOrNewerEqualPriority).jobs(jobs.clone()),
        &expect![[r#"
            1-older: 12:30-13:30 a100
            2-newer: 12:00-12:30 a100 evicted, 13:30-15:30 a100
        "#]],
    );
    check(
        queue.preempts_within(LowerPriority).jobs(jobs),
        &expect![[r#"
            1-older: 14:00-15:00 a100
            2-newer: 12:00-14:00 a100
        "#]],
    );
}

#[test]
fn flavors_are_tried_in_listed_order() {
    check(
        a_snapshot().queue("batch").gpus("a100", 1).gpus("h100", 1).jobs([
            a_job("1").runs_on("h100", minutes(30)),
            a_job("2").runs_on("h100", minutes(30)),
            a_job("3").runs_on("h100", minutes(30)),
        ]),
        &expect![[r#"
            1: 12:00-13:00 a100
            2: 12:00-12:30 h100
            3: 12:30-13:00 h100
        "#]],
    );
}

/// Blue has one GPU of each flavor and may borrow three more of the first.
fn fungible() -> World {
    a_snapshot()
        .queue("blue")
        .gpus("a100", 1)
        .gpus("h100", 2)
        .under("all")
        .queue("red")
        .gpus("a100", 3)
        .under("all")
        .queue("blue")
        .job(a_job("1").queue("blue").gpus(2))
}

#[test]
fn borrowing_on_the_first_flavor_comes_before_the_next_flavor() {
    check(
        fungible(),
        &expect![[r#"
        1: 12:00-13:00 a100
    "#]],
    );
}

#[test]
fn when_can_borrow_may_ask_for_the_next_flavor_first() {
    check(
        fungible().tries_next_flavor_before_borrowing(),
        &expect![[r#"
        1: 12:00-13:00 h100
    "#]],
    );
}

/// The first flavor is taken by less important work, the second is free.
fn occupied() -> World {
    a_snapshot()
        .queue("batch")
        .gpus("a100", 1)
        .gpus("h100", 1)
        .preempts_within(LowerPriority)
        .jobs([a_job("1-low").on("a100").runs(hours(2)), a_job("2-high").priority(5).created("12:30")])
}

#[test]
fn a_free_flavor_comes_before_preemption() {
    check(
        occupied(),
        &expect![[r#"
            1-low: 12:00-14:00 a100
            2-high: 12:30-13:30 h100
        "#]],
    );
}

#[test]
fn when_can_preempt_may_stop_the_search() {
    check(
        occupied().preempts_before_trying_next_flavor(),
        &expect![[r#"
            1-low: 12:00-12:30 a100 evicted, 13:30-15:30 a100
            2-high: 12:30-13:30 a100
        "#]],
    );
}

/// On the first flavor blue must preempt its own; on the second it must borrow.
fn preempt_or_borrow() -> World {
    a_snapshot()
        .queue("blue")
        .gpus("a100", 1)
        .gpus("h100", 0)
        .under("all")
        .preempts_within(LowerPriority)
        .tries_next_flavor_before_borrowing()
        .queue("red")
        .gpus("h100", 1)
        .under("all")
        .queue("blue")
        .jobs([
            a_job("1-low").queue("blue").on("a100").runs(hours(2)),
            a_job("2-high").queue("blue").priority(5).created("12:30"),
        ])
}

#[test]
fn borrowing_is_preferred_over_preemption() {
    check(
        preempt_or_borrow(),
        &expect![[r#"
            1-low: 12:00-14:00 a100
            2-high: 12:30-13:30 h100
        "#]],
    );
}

#[test]
fn preference_may_put_preemption_over_borrowing() {
    check(
        preempt_or_borrow().prefers_preemption_over_borrowing(),
        &expect![[r#"
            1-low: 12:00-12:30 a100 evicted, 13:30-15:30 a100
            2-high: 12:30-13:30 a100
        "#]],
    );
}

#[test]
fn less_borrowing_goes_first_whatever_the_priority() {
    check(
        two_teams()
            .jobs([a_job("1-borrows").queue("blue").gpus(5).priority(9), a_job("2-within").queue("red").gpus(4)]),
        &expect![[r#"
            1-borrows: 13:00-14:00 a100
            2-within: 12:00-13:00 a100
        "#]],
    );
}

#[test]
fn between_queues_priority_comes_before_creation() {
    check(
        two_teams().jobs([
            a_job("1-older").queue("blue").gpus(5),
            a_job("2-urgent").queue("red").gpus(5).priority(1).created("12:00"),
        ]),
        &expect![[r#"
            1-older: 13:00-14:00 a100
            2-urgent: 12:00-13:00 a100
        "#]],
    );
}

/// Blue's head asks for no more than its nominal quota, but nobody is there whom it might preempt; red would borrow.
fn waiting_owner() -> World {
    two_teams().strict_fifo().jobs([
        a_job("1-blue").queue("blue").gpus(2).runs(hours(2)),
        a_job("2-red").queue("red").gpus(3).runs(hours(2)),
        a_job("3-blue").queue("blue").gpus(4).created("12:10"),
        a_job("4-red").queue("red").gpus(2).created("12:20"),
    ])
}

/// kueue#4809.
#[test]
fn a_waiting_head_reserves_capacity_against_borrowers() {
    check(
        waiting_owner(),
        &expect![[r#"
            1-blue: 12:00-14:00 a100
            2-red: 12:00-14:00 a100
            3-blue: 14:00-15:00 a100
            4-red: 14:00-15:00 a100
        "#]],
    );
}

#[test]
fn a_head_that_can_always_reclaim_lets_others_borrow_meanwhile() {
    check(
        waiting_owner().reclaims(Any),
        &expect![[r#"
            1-blue: 12:00-14:00 a100
            2-red: 12:00-14:00 a100
            3-blue: 14:00-15:00 a100
            4-red: 12:20-13:20 a100
        "#]],
    );
}

#[test]
fn preemption_while_borrowing_stops_at_the_priority_threshold() {
    let world = |threshold| {
        two_teams().reclaims(LowerPriority).preempts_while_borrowing(threshold).jobs([
            a_job("1-red").queue("red").gpus(5).priority(3).runs(hours(2)),
            a_job("2-blue").queue("blue").gpus(5).priority(9).created("12:30"),
        ])
    };
    check(
        world(Some(3)),
        &expect![[r#"
            1-red: 12:00-12:30 a100 evicted, 13:30-15:30 a100
            2-blue: 12:30-13:30 a100
        "#]],
    );
    check(
        world(Some(2)),
        &expect![[r#"
            1-red: 12:00-14:00 a100
            2-blue: 14:00-15:00 a100
        "#]],
    );
}

#[test]
fn a_nearer_cohort_has_the_advantage_over_borrowers_from_outside() {
    // Blue and green share eight GPUs in `near`; red borrows them from outside. Blue may only reclaim from lower
    // priorities, and red's is equal: the hierarchy alone does not waive the policy.
    let world = |policy| {
        a_snapshot()
            .cohort("near")
            .under("root")
            .queue("blue")
            .gpus("a100", 4)
            .under("near")
            .reclaims(policy)
            .queue("green")
            .gpus("a100", 4)
            .under("near")
            .queue("red")
            .gpus("a100", 0)
            .under("root")
            .jobs([
                a_job("1-red").queue("red").gpus(8).runs(hours(2)),
                a_job("2-blue").queue("blue").gpus(6).created("12:30"),
            ])
    };
    check(
        world(Any),
        &expect![[r#"
            1-red: 12:00-12:30 a100 evicted, 13:30-15:30 a100
            2-blue: 12:30-13:30 a100
        "#]],
    );
    check(
        world(LowerPriority),
        &expect![[r#"
            1-red: 12:00-14:00 a100
            2-blue: 14:00-15:00 a100
        "#]],
    );
}

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
