//! Quota that is borrowed, lent and reclaimed; who is preempted, and who is spared.

use expect_test::expect;
use stagger::plan::snapshot::PreemptionPolicy::{Any, LowerOrNewerEqualPriority, LowerPriority};

use super::{check, two_teams};
use crate::world::{a_job, a_snapshot, hours};

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
