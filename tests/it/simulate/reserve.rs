//! Capacity kept for heads that wait, and whom a cohort prefers.

use expect_test::expect;
use stagger::plan::snapshot::PreemptionPolicy::{Any, LowerPriority};

use super::{check, two_teams};
use crate::world::{World, a_job, a_snapshot, hours};

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
