//! Who goes first within a queue, and who waits behind whom.

use expect_test::expect;

use super::check;
use crate::world::{a_job, a_snapshot, hours};

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
