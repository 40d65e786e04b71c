//! Peaks, GPU time, verdicts and cost of a placement, against figures worked out by hand.

use proptest::prelude::*;
use stagger::plan::proposal::{Piece, Summary, Verdict};
use stagger::plan::snapshot::{Promise, Snapshot};
use stagger::plan::summary::{Ends, Held, Occupation, all_at_once, capacities, summarize, verdict};
use stagger::units::{Amount, Money, Seconds};

use crate::world::{World, a_job, a_running, a_snapshot, at, clock, hours, minutes};

/// The whole summary as a person would read it.
fn text(summary: &Summary) -> String {
    let peaks: Vec<String> = summary
        .peak
        .iter()
        .map(|peak| {
            let at = peak.at.map_or("never".to_owned(), clock);
            format!("{} {} of {} at {at}", peak.flavor, peak.peak.0, peak.capacity.0)
        })
        .collect();
    let cost = summary.cost.map_or("unknown".to_owned(), Money::decimal);
    format!(
        "on time {}, at risk {}, late {}, without verdict {}\npeak {}\nmakespan {}, {} GPU-seconds, cost {cost}\n",
        summary.on_time,
        summary.at_risk,
        summary.late,
        summary.without_verdict,
        peaks.join("; "),
        summary.makespan,
        summary.gpu_seconds,
    )
}

/// Places the n-th workload on its first option from that time on, for its p50 runtime.
fn started(snapshot: &Snapshot, starts: &[&str]) -> Vec<Occupation> {
    let place = |(index, start): (usize, &&str)| {
        let runtime = snapshot.workloads[index].options[0].runtime;
        let piece = Piece { start: at(start), end: at(start) + runtime.p50 };
        let end = Ends { p50: piece.end, p90: at(start) + runtime.p90 };
        Occupation { workload: index, pieces: vec![Held { option: 0, piece }], end: Some(end) }
    };
    starts.iter().enumerate().map(place).collect()
}

fn four_evals() -> World {
    let eval = |name: &str| a_job(name).gpus(2).runs(hours(1)).due("14:00");
    a_snapshot().queue("batch").gpus("a100", 4).price("a100", "2.50").jobs([eval("1"), eval("2"), eval("3"), eval("4")])
}

#[test]
fn all_at_once_ignores_quota() {
    expect_test::expect![[r#"
        on time 4, at risk 0, late 0, without verdict 0
        peak a100 8 of 4 at 12:00
        makespan 1 h, 28800 GPU-seconds, cost 20.00
    "#]]
    .assert_eq(&text(&all_at_once(&four_evals().build())));
}

#[test]
fn staggered_work_has_a_lower_peak_and_costs_the_same() {
    let snapshot = four_evals().running(a_running("old").until("12:30")).build();
    let occupations = started(&snapshot, &["12:00", "13:00", "12:30", "13:30"]);
    expect_test::expect![[r#"
        on time 3, at risk 0, late 1, without verdict 0
        peak a100 4 of 4 at 12:30
        makespan 2 h 30 min, 28800 GPU-seconds, cost 20.00
    "#]]
    .assert_eq(&text(&summarize(&snapshot, Promise::P50, &occupations)));
}

#[test]
fn work_that_never_runs_is_late_when_it_is_due() {
    let snapshot = a_snapshot()
        .queue("batch")
        .gpus("a100", 4)
        .jobs([a_job("due").due("14:00"), a_job("free"), a_job("mystery").runs_for_unknown_time(hours(1)).due("14:00")])
        .build();
    expect_test::expect![[r#"
        on time 0, at risk 0, late 2, without verdict 1
        peak a100 0 of 4 at never
        makespan 0 s, 0 GPU-seconds, cost unknown
    "#]]
    .assert_eq(&text(&summarize(&snapshot, Promise::P50, &[])));
}

#[test]
fn lost_work_counts_as_gpu_time_and_money() {
    let snapshot = a_snapshot().queue("batch").gpus("a100", 4).price("a100", "2.50").job(a_job("1").gpus(2)).build();
    let held = |start: &str, end: &str| Held { option: 0, piece: Piece { start: at(start), end: at(end) } };
    let end = Ends { p50: at("15:00"), p90: at("15:00") };
    let pieces = vec![held("12:00", "12:30"), held("14:00", "15:00")];
    expect_test::expect![[r#"
        on time 0, at risk 0, late 0, without verdict 1
        peak a100 2 of 4 at 12:00
        makespan 3 h, 10800 GPU-seconds, cost 7.50
    "#]]
    .assert_eq(&text(&summarize(&snapshot, Promise::P50, &[Occupation { workload: 0, pieces, end: Some(end) }])));
}

#[test]
fn prices_follow_the_time_of_day() {
    let snapshot = a_snapshot()
        .queue("batch")
        .gpus("a100", 4)
        .price("a100", "3.00")
        .price_between("a100", "13:00", "14:00", "1.00")
        .price_between("a100", "15:00", "16:00", "0.50")
        .job(a_job("1").gpus(2).runs(hours(4)))
        .build();
    // From 12:30 to 16:30: 2 h at 3.00, 1 h at 1.00 and 1 h at 0.50, for two GPUs.
    let summary = summarize(&snapshot, Promise::P50, &started(&snapshot, &["12:30"]));
    assert_eq!(summary.cost.map(Money::decimal).as_deref(), Some("15.00"));
}

#[test]
fn money_is_rounded_once_per_cell() {
    // One GPU-second at 0.000001 an hour is 1/3.6 of a billionth; nine jobs make 2.5 of them: to the even neighbour.
    let jobs = (0..9).map(|n| a_job(&n.to_string()).runs(Seconds(1)));
    let snapshot = a_snapshot().queue("batch").gpus("a100", 9).price("a100", "0.000001").jobs(jobs).build();
    assert_eq!(all_at_once(&snapshot).cost, Some(Money { nanos: 2 }));
}

#[test]
fn an_accelerator_without_a_price_makes_the_cost_unknown_only_when_used() {
    let both = a_snapshot().queue("batch").gpus("a100", 1).gpus("h100", 1).price("a100", "1.00");
    assert!(all_at_once(&both.clone().job(a_job("1").on("a100")).build()).cost.is_some());
    assert!(all_at_once(&both.job(a_job("1").on("h100")).build()).cost.is_none());
}

#[test]
fn a_core_hour_is_a_thousand_millicore_hours() {
    let mut snapshot =
        a_snapshot().queue("batch").gpus("a100", 1).quota("a100", "cpu", 8000).price("a100", "1.00").build();
    snapshot.prices.push(stagger::plan::snapshot::CellPrice {
        cell: stagger::plan::snapshot::CellId(1),
        per_unit_hour: Money::parse("0.10").unwrap(),
        windows: Vec::new(),
    });
    let world = a_snapshot().queue("batch").gpus("a100", 1).quota("a100", "cpu", 8000);
    snapshot.workloads = world.job(a_job("1").asks("cpu", 1500).runs(hours(2))).build().workloads;
    assert_eq!(all_at_once(&snapshot).cost.map(Money::decimal).as_deref(), Some("2.30"));
}

#[test]
fn capacity_counts_windows_that_are_open_together() {
    let snapshot = a_snapshot()
        .cohort("all")
        .gpus("a100", 1)
        .queue("batch")
        .under("all")
        .gpus("a100", 4)
        .lending_limit(0)
        .add("a100", 2, "13:00", "15:00")
        .add("a100", 3, "15:00", "16:00")
        .add("a100", 1, "14:00", "15:30")
        .cap("a100", 1, "12:00", "20:00")
        .build();
    assert_eq!(capacities(&snapshot), vec![Amount(9)]);
}

#[test]
fn the_verdict_compares_both_quantiles_with_the_due_time() {
    let snapshot = a_snapshot().queue("batch").gpus("a100", 1).job(a_job("1").due("14:00")).build();
    let judged =
        |p50: &str, p90: &str| verdict(&snapshot.workloads[0], true, Some(Ends { p50: at(p50), p90: at(p90) }));
    assert_eq!(judged("13:00", "14:00"), Verdict::OnTime);
    assert_eq!(judged("14:00", "14:00:01"), Verdict::AtRisk);
    assert_eq!(judged("14:00:01", "15:00"), Verdict::Late);
    assert_eq!(verdict(&snapshot.workloads[0], true, None), Verdict::Late);
    assert_eq!(
        verdict(&snapshot.workloads[0], false, Some(Ends { p50: at("13:00"), p90: at("13:00") })),
        Verdict::Unknown
    );
}

#[test]
fn thousandths_of_a_gpu_add_up_before_they_are_rounded() {
    let milli = "alibabacloud.com/gpu-milli";
    let job = |name: &str| a_job(name).gpus(0).asks(milli, 250).runs(Seconds(1));
    let snapshot =
        a_snapshot().queue("batch").quota("t4", milli, 4000).jobs([job("1"), job("2"), job("3"), job("4")]).build();
    assert_eq!(all_at_once(&snapshot).gpu_seconds, 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_peak_is_the_highest_of_all_minutes(
        jobs in prop::collection::vec((0_i64..60, 1_i64..40, 1_i64..5), 1..12),
    ) {
        let mut snapshot = a_snapshot()
            .queue("batch")
            .gpus("a100", 4)
            .jobs(jobs.iter().enumerate().map(|(n, (_, runs, gpus))| {
                a_job(&format!("{n:02}")).gpus(*gpus).runs(minutes(*runs))
            }))
            .build();
        for (workload, (start, ..)) in snapshot.workloads.iter_mut().zip(&jobs) {
            workload.earliest_start = snapshot.now + minutes(*start);
        }
        let busy = |minute: i64| -> i64 {
            jobs.iter().filter(|(start, runs, _)| (*start..start + runs).contains(&minute)).map(|job| job.2).sum()
        };
        let summary = all_at_once(&snapshot);
        let highest = (0..120).map(busy).max().unwrap();
        prop_assert_eq!(summary.peak[0].peak, Amount(highest));
        let first = (0..120).find(|minute| busy(*minute) == highest).unwrap();
        prop_assert_eq!(summary.peak[0].at, Some(snapshot.now + minutes(first)));
        prop_assert_eq!(summary.gpu_seconds, (0..120).map(|minute| i128::from(busy(minute)) * 60).sum::<i128>());
    }
}
