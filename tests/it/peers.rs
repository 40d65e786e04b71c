//! The list schedulers we are measured against: small cases by hand, and that they never exceed capacity.

use proptest::prelude::*;
use stagger::plan::peers::{LateWork, PeerSchedule, PeerScore, earliest_deadline_first, fifo_backfill};
use stagger::plan::snapshot::{DeadlinePolicy, Snapshot, WindowEffect};
use stagger::scenario::import::{Settings, philly};
use stagger::units::{Amount, Seconds};

use crate::given::{A100, Given, at, given, touchstone};
use crate::import_data::{gpus, real};

/// `name@minute` of every start, in the snapshot's order; `-` for never.
fn starts(snapshot: &Snapshot, schedule: &PeerSchedule) -> String {
    let one = |(workload, start): (&stagger::plan::snapshot::Workload, &Option<stagger::plan::peers::PeerStart>)| {
        let minute = start.map_or_else(|| "-".to_owned(), |start| ((start.at - at(0)).0 / 60).to_string());
        format!("{}@{minute}", workload.key.name())
    };
    snapshot.workloads.iter().zip(&schedule.starts).map(one).collect::<Vec<_>>().join(" ")
}

fn fifo(given: &Given) -> String {
    starts(&given.snapshot, &fifo_backfill(&given.snapshot))
}

fn edf(given: &Given, late: LateWork) -> String {
    starts(&given.snapshot, &earliest_deadline_first(&given.snapshot, late))
}

#[test]
fn the_touchstone_runs_two_by_two() {
    assert_eq!(fifo(&touchstone()), "eval-1@0 eval-2@0 eval-3@60 eval-4@60");
    assert_eq!(edf(&touchstone(), LateWork::KeepsPlace), "eval-1@0 eval-2@0 eval-3@60 eval-4@60");
}

#[test]
fn backfill_fills_the_hole_before_the_reservation_and_never_delays_it() {
    // 4 GPUs: `wide` waits for `first` until 60; `short` ends by then, `long` would not; `side` fits beside nothing.
    let given = given()
        .queue("batch", 4)
        .job("first", 3)
        .minutes(60)
        .job("wide", 4)
        .minutes(30)
        .job("long", 1)
        .minutes(61)
        .job("short", 1)
        .minutes(60);
    assert_eq!(fifo(&given), "first@0 wide@60 long@90 short@0");
}

#[test]
fn only_the_head_is_protected() {
    // `wide` has the reservation at 60; `next` (4 GPUs) has none, so `tiny`, which fits beside `wide`, passes it.
    let given = given()
        .queue("batch", 5)
        .job("first", 3)
        .minutes(60)
        .job("wide", 4)
        .minutes(30)
        .job("next", 5)
        .minutes(30)
        .job("tiny", 1)
        .minutes(200);
    assert_eq!(fifo(&given), "first@0 wide@60 next@200 tiny@0");
}

#[test]
fn fifo_has_no_foresight() {
    // Had it known of `soon`, waiting would have paid; it starts `slow` because it can.
    let given =
        given().queue("batch", 2).job("slow", 2).minutes(100).job("soon", 2).minutes(10).not_before(at(5)).due(at(20));
    assert_eq!(fifo(&given), "slow@0 soon@100");
    assert_eq!(edf(&given, LateWork::KeepsPlace), "slow@15 soon@5", "the list scheduler has");
}

#[test]
fn earliest_due_goes_first_and_work_without_one_last() {
    let given = given()
        .queue("batch", 1)
        .job("free", 1)
        .minutes(10)
        .job("late", 1)
        .minutes(10)
        .due(at(100))
        .job("soon", 1)
        .minutes(10)
        .due(at(50));
    assert_eq!(edf(&given, LateWork::KeepsPlace), "free@20 late@10 soon@0");
}

#[test]
fn work_that_is_late_anyway_makes_room_when_it_goes_last() {
    // `lost` is due first and cannot make it; in its place the others are late too.
    let given = given()
        .queue("batch", 1)
        .job("lost", 1)
        .minutes(30)
        .due(at(20))
        .job("a", 1)
        .minutes(30)
        .due(at(30))
        .job("b", 1)
        .minutes(30)
        .due(at(60));
    assert_eq!(edf(&given, LateWork::KeepsPlace), "lost@0 a@30 b@60");
    assert_eq!(edf(&given, LateWork::GoesLast), "lost@60 a@0 b@30");
    let score = earliest_deadline_first(&given.snapshot, LateWork::GoesLast).score(&given.snapshot);
    assert_eq!(
        (score.hard_met, score.hard_missed, score.hard_missed_value, score.makespan),
        (2, 1, 1, Seconds(90 * 60))
    );
}

#[test]
fn windows_and_running_work_are_obeyed() {
    let given = given()
        .queue("batch", 4)
        .running("serving", "batch", 2, at(30))
        .window("batch", WindowEffect::Cap, 1, (at(60), at(90)))
        .job("one", 4)
        .minutes(30)
        .job("two", 2)
        .minutes(61)
        .job("three", 1)
        .minutes(120);
    assert_eq!(fifo(&given), "one@30 two@90 three@60");
}

#[test]
fn a_queue_borrows_up_to_its_limit_and_keeps_what_it_does_not_lend() {
    // lender: 4, lends 2. borrower: 2, borrows at most 1.
    let given = given()
        .cohort("all")
        .queue("lender", 0)
        .quota(A100, 4, None, Some(2))
        .under("all")
        .queue("borrower", 0)
        .quota(A100, 2, Some(1), None)
        .under("all")
        .job("four", 4)
        .minutes(10)
        .job("three", 3)
        .minutes(10)
        .job("one", 1)
        .minutes(10);
    assert_eq!(fifo(&given), "four@- three@0 one@10");
}

#[test]
fn work_that_fits_nowhere_is_never_started_and_holds_nobody_back() {
    let given = given().queue("batch", 2).job("giant", 3).minutes(10).due(at(20)).job("small", 2).minutes(10);
    assert_eq!(fifo(&given), "giant@- small@0");
    assert_eq!(edf(&given, LateWork::GoesLast), "giant@- small@0");
    let score = fifo_backfill(&given.snapshot).score(&given.snapshot);
    assert_eq!((score.never_started, score.hard_missed, score.hard_met), (1, 1, 0));
}

#[test]
fn the_option_that_ends_first_is_taken() {
    let given = given()
        .flavor("h100")
        .queue("batch", 1)
        .nominal(stagger::plan::snapshot::CellId(1), 1)
        .job("a", 1)
        .minutes(60)
        .option("h100", stagger::plan::snapshot::CellId(1), 1, 20, 20)
        .job("b", 1)
        .minutes(60)
        .option("h100", stagger::plan::snapshot::CellId(1), 1, 20, 20);
    let schedule = earliest_deadline_first(&given.snapshot, LateWork::KeepsPlace);
    let taken: Vec<(usize, i64)> =
        schedule.starts.iter().flatten().map(|start| (start.option, (start.at - at(0)).0 / 60)).collect();
    assert_eq!(taken, [(1, 0), (1, 20)]);
    let online: Vec<usize> = fifo_backfill(&given.snapshot).starts.iter().flatten().map(|start| start.option).collect();
    assert_eq!(online, [1, 0], "without foresight a free flavor is taken at once");
}

#[test]
fn soft_losses_are_counted_by_tier() {
    let mut given = given().queue("batch", 1).job("a", 1).minutes(60).due_as(at(30), DeadlinePolicy::Soft).worth(10);
    let due = given.snapshot.workloads[0].due.as_mut().expect("it has a due time");
    due.tiers = vec![stagger::plan::snapshot::Tier { after: Seconds::ZERO, value_percent: 80 }];
    let score = fifo_backfill(&given.snapshot).score(&given.snapshot);
    let expected = PeerScore {
        soft_missed: 1,
        soft_lost: 200,
        makespan: Seconds::HOUR,
        completion: 36_000,
        ..PeerScore::default()
    };
    assert_eq!(score, expected);
}

/// The most that is held of a cell by queue, against its quota: an oracle that knows a single queue only.
fn most_held(snapshot: &Snapshot, schedule: &PeerSchedule) -> i64 {
    let pieces: Vec<(i64, i64, i64)> = snapshot
        .workloads
        .iter()
        .zip(&schedule.starts)
        .filter_map(|(workload, start)| {
            let start = (*start)?;
            let option = &workload.options[start.option];
            let amount = option.uses.first().map_or(0, |(_, amount)| amount.0);
            Some((start.at.0, start.at.0 + option.runtime.p50.0, amount))
        })
        .collect();
    let held =
        |instant: i64| pieces.iter().filter(|piece| piece.0 <= instant && instant < piece.1).map(|piece| piece.2).sum();
    pieces.iter().map(|piece| held(piece.0)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_peer_ever_holds_more_than_there_is(
        jobs in prop::collection::vec((1_i64..6, 1_i64..90, 0_i64..120, 1_i64..300), 1..40)
    ) {
        let mut given = given().queue("batch", 5);
        for (index, (size, minutes, from, due)) in jobs.iter().enumerate() {
            given = given.job(&format!("j{index:02}"), *size).minutes(*minutes).not_before(at(*from)).due(at(*due));
        }
        let snapshot = &given.snapshot;
        let schedules = [
            fifo_backfill(snapshot),
            earliest_deadline_first(snapshot, LateWork::KeepsPlace),
            earliest_deadline_first(snapshot, LateWork::GoesLast),
        ];
        for schedule in &schedules {
            prop_assert!(most_held(snapshot, schedule) <= 5);
            for (workload, start) in snapshot.workloads.iter().zip(&schedule.starts) {
                prop_assert!(start.is_some_and(|start| start.at >= workload.earliest_start));
            }
        }
        // Without foresight a start has an occasion: an arrival or an end.
        let fifo = &schedules[0];
        for (index, workload) in snapshot.workloads.iter().enumerate() {
            let start = fifo.starts[index].expect("everything fits").at;
            prop_assert!(start == workload.earliest_start || begins_when_something_ends_or_starts(snapshot, fifo, start));
        }
    }
}

fn begins_when_something_ends_or_starts(
    snapshot: &Snapshot,
    schedule: &PeerSchedule,
    instant: stagger::units::Timestamp,
) -> bool {
    (0..snapshot.workloads.len()).any(|index| {
        schedule.end(snapshot, index) == Some(instant) || snapshot.workloads[index].earliest_start == instant
    })
}

#[test]
fn a_real_trace_is_scheduled_within_its_pool() {
    let Some(file) = real("chronus-philly-deadlines/trace_job_Philly_SLO.first8000.csv") else { return };
    let import = philly::read(&file, &Settings { rows: Some(500), ..gpus(32) }).expect("readable");
    let snapshot = &import.snapshot;
    for schedule in [fifo_backfill(snapshot), earliest_deadline_first(snapshot, LateWork::GoesLast)] {
        let most = most_held(snapshot, &schedule);
        assert!(most <= 32, "{most} GPUs are held");
        let score = schedule.score(snapshot);
        assert_eq!((score.hard_met + score.hard_missed, score.never_started), (500, 0));
    }
    assert_eq!(import.report.capacity, Amount(32));
}
