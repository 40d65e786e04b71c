//! Which flavor is taken, and when the next one is tried instead of borrowing or preempting.

use expect_test::expect;
use stagger::plan::snapshot::PreemptionPolicy::LowerPriority;

use super::{check, two_teams};
use crate::world::{World, a_job, a_snapshot, hours, minutes};

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
