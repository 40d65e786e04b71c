//! Chances of being on time: sampling against closed forms, and what the stated confidence promises.

use stagger::kueue::chance::{
    Chance, Confidence, DRAWS, Outlook, Precision, Released, Sampling, Spread, outlook, releases, unheld,
};
use stagger::plan::policy::Policy;
use stagger::plan::propose;
use stagger::plan::snapshot::{Runtime, Snapshot};
use stagger::plan::watch::Unwatched;
use stagger::units::Seconds;

use crate::world::{World, a_job, a_running, a_snapshot, at, hours, minutes};

fn declared(p50: Seconds, p90: Seconds, draw: u32) -> Seconds {
    Spread::AsDeclared.at(Runtime { p50, p90, known: true }, draw)
}

fn as_declared(snapshot: &Snapshot) -> Vec<Spread> {
    vec![Spread::AsDeclared; snapshot.workloads.len()]
}

fn played(world: World) -> Outlook {
    let snapshot = world.build();
    outlook(&snapshot, &unheld(&snapshot), &as_declared(&snapshot), &Sampling::default())
}

/// Within the stated half width of a true chance, in thousandths.
fn near(chance: Option<Chance>, truth: u32) -> bool {
    let (low, high) = chance.expect("it must be judged").interval_permille();
    (low..=high).contains(&truth)
}

fn one_gpu() -> World {
    a_snapshot().queue("batch").gpus("a100", 1)
}

#[test]
fn the_quantiles_that_were_declared_are_met_to_the_second() {
    let at = |draw: u32| declared(hours(1), hours(2), draw).0;
    assert_eq!([at(0), at(500_000), at(900_000)], [1800, 3600, 7200]);
    assert_eq!(at(DRAWS - 1), 3 * 3600 - 1, "the slowest of all takes p90 and again what p90 exceeds p50");
    assert_eq!([at(250_000), at(700_000), at(950_000)], [2700, 5400, 9000]);
    let narrow = |draw: u32| declared(hours(10), hours(11), draw).0;
    assert_eq!([narrow(0), narrow(DRAWS - 1)], [9 * 3600, 12 * 3600 - 1], "as far below as above");
}

#[test]
fn quantiles_never_fall_and_are_positive() {
    for (p50, p90) in [(1, 1), (1, 2), (3600, 3600), (7, 100_000), (90, 61), (1, i64::MAX / 4)] {
        let quantiles: Vec<i64> =
            (0..DRAWS).step_by(997).map(|draw| declared(Seconds(p50), Seconds(p90), draw).0).collect();
        assert!(quantiles.is_sorted() && quantiles[0] >= 1, "{p50} {p90}");
    }
}

#[test]
fn a_declaration_without_spread_is_exact() {
    assert!((0..DRAWS).step_by(1009).all(|draw| declared(hours(2), hours(2), draw) == hours(2)));
}

#[test]
fn samples_follow_from_confidence_and_half_width() {
    let samples = |confidence, permille| Precision::new(confidence, permille).map(Precision::samples);
    assert_eq!(Precision::default().samples(), 738);
    assert_eq!(samples(Confidence::P90, 50), Some(600));
    assert_eq!(samples(Confidence::P99, 20), Some(6623));
    assert_eq!(samples(Confidence::P999, 10), Some(38_005));
    assert_eq!(samples(Confidence::P95, 4), None, "finer than anyone decides on");
    assert_eq!(samples(Confidence::P95, 334), None);
}

#[test]
fn a_chance_is_rounded_and_its_interval_cut() {
    let chance = Chance { met: 735, samples: 738, half_width_permille: 50 };
    assert_eq!((chance.permille(), chance.interval_permille()), (996, (945, 1000)));
    let never = Chance { met: 0, samples: 738, half_width_permille: 50 };
    assert_eq!((never.permille(), never.interval_permille()), (0, (0, 50)));
}

#[test]
fn one_job_is_on_time_as_often_as_its_quantile_says() {
    // p50 1 h, p90 2 h: an hour and a half is its 70th percentile.
    let outlook = played(one_gpu().job(a_job("train").runs_p50_p90(hours(1), hours(2)).due("13:30")));
    assert!(near(outlook.on_time[0], 700), "{:?}", outlook.on_time[0]);
    assert!(near(Some(outlook.all_hard), 700));
}

#[test]
fn an_observed_runtime_of_two_points_is_even_or_odd() {
    let snapshot = one_gpu().job(a_job("train").due("14:00")).build();
    let coin = vec![Spread::observed(vec![hours(3), hours(1)]).expect("there are two")];
    let outlook = outlook(&snapshot, &unheld(&snapshot), &coin, &Sampling::default());
    assert!(near(outlook.on_time[0], 500), "{:?}", outlook.on_time[0]);
}

#[test]
fn the_second_of_two_in_sequence_waits_for_the_first() {
    // Both p50 1 h, p90 2 h on one GPU; the second is due after 3 h: P(X + Y ≤ 3 h), summed over a fine grid.
    let job = |name: &str| a_job(name).runs_p50_p90(hours(1), hours(2));
    let outlook = played(one_gpu().job(job("a").due("13:30")).job(job("b").due("15:00")));
    let cell = |step: u32| declared(hours(1), hours(2), step * 1000 + 500).0;
    let in_time = (0..1000).flat_map(|x| (0..1000).map(move |y| cell(x) + cell(y))).filter(|sum| *sum <= 3 * 3600);
    let truth = u32::try_from(in_time.count() / 1000).unwrap();
    assert!(near(outlook.on_time[0], 700), "{:?}", outlook.on_time[0]);
    assert!(near(outlook.on_time[1], truth), "{truth} {:?}", outlook.on_time[1]);
}

#[test]
fn chances_beside_one_another_multiply() {
    let job = |name: &str| a_job(name).runs_p50_p90(hours(1), hours(2)).due("13:30");
    let outlook = played(a_snapshot().queue("batch").gpus("a100", 2).job(job("a")).job(job("b")));
    assert!(near(Some(outlook.all_hard), 490), "{:?}", outlook.all_hard);
    let counts = [outlook.on_time_p10, outlook.on_time_p50, outlook.on_time_p90];
    assert!(counts.is_sorted() && outlook.judged == 2, "{counts:?}");
}

#[test]
fn the_stated_confidence_is_kept_over_many_seeds() {
    // The truth is 70 %; at 90 % and ten points, an interval may miss it in 30 of 300 seeds, and Hoeffding's misses far fewer.
    let snapshot = one_gpu().job(a_job("train").runs_p50_p90(hours(1), hours(2)).due("13:30")).build();
    let precision = Precision::new(Confidence::P90, 100).expect("ten points must be allowed");
    let covers = |seed: &u64| {
        let sampling = Sampling { seed: *seed, precision, growth_percent: 0 };
        near(outlook(&snapshot, &unheld(&snapshot), &as_declared(&snapshot), &sampling).on_time[0], 700)
    };
    let covered = (0..300).filter(covers).count();
    assert!(covered >= 270, "{covered} of 300");
}

#[test]
fn the_same_seed_draws_the_same_and_another_one_does_not() {
    let snapshot = one_gpu().job(a_job("train").runs_p50_p90(hours(1), hours(2)).due("13:30")).build();
    let play = |seed: u64| {
        let sampling = Sampling { seed, ..Sampling::default() };
        outlook(&snapshot, &unheld(&snapshot), &as_declared(&snapshot), &sampling)
    };
    assert_eq!(play(7), play(7));
    assert!((0..5).any(|seed| play(seed) != play(7)));
}

#[test]
fn rows_on_the_same_load_share_their_luck() {
    // The first job meets nobody in either row: its chance is the same to the last sample, whatever stands beside it.
    let job = |name: &str| a_job(name).runs_p50_p90(hours(1), hours(2)).due("13:30");
    let small = played(one_gpu().job(job("a")));
    let large = played(a_snapshot().queue("batch").gpus("a100", 3).job(job("a")).job(job("b")).job(job("c")));
    assert_eq!(small.on_time[0], large.on_time[0]);
}

#[test]
fn more_gpus_never_lower_a_chance_without_rivals_for_order() {
    let jobs = |gpus: i64| {
        let world = a_snapshot().queue("batch").gpus("a100", gpus);
        world.jobs((0..4).map(|n| a_job(&format!("{n}")).runs_p50_p90(hours(1), hours(2)).due("15:00")))
    };
    let met = |gpus: i64| played(jobs(gpus)).on_time.iter().map(|chance| chance.unwrap().met).collect::<Vec<_>>();
    let (two, four) = (met(2), met(4));
    assert!(two.iter().zip(&four).all(|(two, four)| two <= four), "{two:?} {four:?}");
}

#[test]
fn a_plan_with_exact_runtimes_is_certain() {
    let world = a_snapshot().queue("batch").gpus("a100", 4);
    let snapshot = world.jobs((1..=4).map(|n| a_job(&format!("eval-{n}")).gpus(2).due("17:00"))).build();
    let plan = propose(&snapshot, &Policy { step_limit: Some(2_000), ..Policy::default() }, &Unwatched);
    let outlook = outlook(&snapshot, &releases(&snapshot, &plan), &as_declared(&snapshot), &Sampling::default());
    assert!(outlook.on_time.iter().all(|chance| chance.unwrap().met == 738));
    assert_eq!((outlook.all_hard.permille(), outlook.on_time_p10), (1000, 4));
}

#[test]
fn a_release_that_is_late_cannot_be_on_time_and_none_never_runs() {
    let snapshot = one_gpu().job(a_job("train").due("13:30")).build();
    let play = |release: Option<Released>| {
        outlook(&snapshot, &[release], &as_declared(&snapshot), &Sampling::default()).on_time[0].unwrap().met
    };
    assert_eq!(play(Some(Released { at: at("12:30"), option: Some(0) })), 738);
    assert_eq!(play(Some(Released { at: at("12:31"), option: Some(0) })), 0);
    assert_eq!(play(None), 0);
}

#[test]
fn running_work_ends_by_chance_too() {
    // The GPU is held until 13:00 (p50) or 14:00 (p90); the job needs an hour and is due at 14:30.
    let holder = a_running("old").on("a100").until_p50_p90("13:00", "14:00");
    let outlook = played(one_gpu().running(holder).job(a_job("train").due("14:30")));
    assert!(near(outlook.on_time[0], 700), "{:?}", outlook.on_time[0]);
}

#[test]
fn work_without_a_due_time_or_a_known_runtime_has_no_chance_to_tell() {
    let outlook = played(
        a_snapshot()
            .queue("batch")
            .gpus("a100", 2)
            .job(a_job("a-free"))
            .job(a_job("b-mystery").runs_for_unknown_time(hours(9)).due("17:00")),
    );
    assert_eq!((outlook.on_time, outlook.judged), (vec![None, None], 0));
}

#[test]
fn growth_brings_more_arrivals_and_none_brings_none() {
    // A copy of the early arrival takes the only GPU from 13:00 to 14:00 in about half of the samples.
    let world = || {
        one_gpu()
            .job(a_job("a-early").not_before("13:00").created("13:00").runs(minutes(30)))
            .job(a_job("b-late").created("13:10").runs(minutes(30)).due("14:15"))
    };
    let met = |growth_percent: u32| {
        let snapshot = world().build();
        let sampling = Sampling { growth_percent, ..Sampling::default() };
        outlook(&snapshot, &unheld(&snapshot), &as_declared(&snapshot), &sampling).on_time[1].unwrap()
    };
    assert_eq!(met(0).met, 738);
    assert!(near(Some(met(50)), 500), "{:?}", met(50));
    assert_eq!(met(100).met, 0);
}
