//! Replays of the past: what each row plays, the rule by which plans are made, and the figures beside them.

use expect_test::expect;
use stagger::kueue::{SimOptions, simulate};
use stagger::names::FlavorName;
use stagger::plan::snapshot::Snapshot;
use stagger::replay::document::{Provenance, to_json};
use stagger::replay::{Asked, Change, History, Past, Replay, Row, RowKind, Rules, replay, roll};
use stagger::report::{replay_csv, replay_text};
use stagger::units::{Seconds, Timestamp};

use crate::world::{World, a_job, a_snapshot, at, clock, hours, minutes};

/// One GPU. `first` runs until 13:00; then `idle-work` is next in line and `pressed` is due.
fn trap() -> World {
    a_snapshot()
        .queue("batch")
        .gpus("a100", 2)
        .job(a_job("first").gpus(2).runs(hours(1)).created("12:00"))
        .job(a_job("idle-work").gpus(2).runs(hours(2)).created("12:10"))
        .job(a_job("pressed").gpus(2).runs(hours(1)).created("12:20").due("14:30"))
}

fn history() -> History {
    History::of(arriving(trap().build()))
}

/// Work starts when it was created, not at the snapshot's now.
fn arriving(mut snapshot: Snapshot) -> Snapshot {
    for workload in &mut snapshot.workloads {
        workload.earliest_start = workload.created.max(snapshot.now);
    }
    snapshot
}

fn replayed(history: &History, asked: &Asked) -> Replay {
    replay(history, asked).expect("the changes must suit the pool")
}

fn starts(history: &History, row: &Row) -> String {
    let one = |(workload, played): (&stagger::plan::snapshot::Workload, &stagger::replay::Played)| {
        let start = played.start.map_or_else(|| "never".to_owned(), clock);
        format!("{} {start}", workload.key.name())
    };
    history.snapshot.workloads.iter().zip(&row.played).map(one).collect::<Vec<_>>().join(", ")
}

fn provenance() -> Provenance {
    Provenance {
        file: "log.csv".to_owned(),
        format: "philly".to_owned(),
        digest: "d1".to_owned(),
        rows_read: 4,
        rows_kept: 3,
        rows_dropped: [("NoRuntime".to_owned(), 1)].into(),
        censored: 0,
        version: "0.1.0".to_owned(),
    }
}

#[test]
fn a_pressed_job_goes_before_an_older_one_that_can_wait() {
    let history = history();
    let replay = replayed(&history, &Asked::default());
    let text: Vec<String> =
        replay.rows.iter().map(|row| format!("{}: {}", row.option(), starts(&history, row))).collect();
    expect![[r#"
        Kueue alone: first 12:00, idle-work 13:00, pressed 15:00
        staggered: first 12:00, idle-work 14:00, pressed 13:00"#]]
    .assert_eq(&text.join("\n"));
    assert_eq!(replay.rows.iter().map(|row| row.summary.late).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn the_text_says_it_in_one_line_and_shows_what_it_rests_on() {
    let history = history();
    let asked = Asked { changes: vec![Change { flavor: None, quantity: 2 }], ..Asked::default() };
    let replay = replayed(&history, &asked);
    expect![[r#"
        Staggered, 1 of 1 due times would have been met; Kueue alone would have met 0.

        OPTION                    ON TIME  LATE  NO DUE TIME    PEAK  WAIT P50    WAIT P90     LAST END  IDLE  PLANS
        Kueue alone                     0     1            2  2 of 2    50 min  2 h 40 min         +4 h   0 %      -
        staggered                       1     0            2  2 of 2    40 min  1 h 50 min         +4 h   0 %      5
        Kueue alone, 2 more a100        1     0            2  4 of 4       0 s      40 min  +2 h 10 min   8 %      -
        staggered, 2 more a100          1     0            2  4 of 4       0 s      40 min  +2 h 10 min   8 %      4

        forecast: start in the first plan that knew the workload, against its start in that replay: 3 compared, off by 0 s at the median and 1 h at p90, 1 started later than forecast

        The staggered rows replan at arrivals, ends and changes of capacity, at most every 1 min, knowing only what had been submitted and what had finished by then.
        log.csv (philly): 4 rows read, 3 kept, 1 left out (NoRuntime)
        digest d1  seed 1  steps 1000  stagger 0.1.0
    "#]]
    .assert_eq(&replay_text::render(&history, &replay, &provenance()));
    expect![[r#"
        option,onTime,late,withoutDeadline,neverStarted,leftOut,peakFlavor,peak,capacity,waitMedianSeconds,waitP90Seconds,makespanSeconds,gpuSeconds,idleGpuSeconds
        Kueue alone,0,1,2,0,0,a100,2,2,3000,9600,14400,28800,0
        staggered,1,0,2,0,0,a100,2,2,2400,6600,14400,28800,0
        "Kueue alone, 2 more a100",1,0,2,0,0,a100,4,4,0,2400,7800,28800,2400
        "staggered, 2 more a100",1,0,2,0,0,a100,4,4,0,2400,7800,28800,2400
    "#]]
    .assert_eq(&replay_csv::render(&replay));
}

#[test]
fn the_document_has_the_fields_of_a_what_if_row() {
    let history = history();
    let text = to_json(&history, &replayed(&history, &Asked::default()), &provenance());
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["apiVersion"], "stagger.dev/whatif/v1");
    let row = value["rows"][1].as_object().expect("a row must be an object");
    for field in [
        "option",
        "add",
        "onTime",
        "late",
        "peak",
        "makespanSeconds",
        "gpuSeconds",
        "cost",
        "costPerOutcome",
        "marginalValue",
    ] {
        assert!(row.contains_key(field), "{field}");
    }
    assert_eq!((&row["onTime"], &row["gpuSeconds"]), (&1.into(), &(2 * 4 * 3600).into()));
}

#[test]
fn the_same_replay_is_the_same_to_the_byte() {
    let history = history();
    let asked = Asked { changes: vec![Change { flavor: None, quantity: -1 }], ..Asked::default() };
    let bytes = || to_json(&history, &replayed(&history, &asked), &provenance());
    assert_eq!(bytes(), bytes());
}

#[test]
fn kueue_alone_is_the_simulation() {
    let history = history();
    let row = replayed(&history, &Asked::default()).rows.remove(0);
    let simulation = simulate(&history.snapshot, &SimOptions::default());
    assert_eq!(row.kind, RowKind::KueueAlone);
    assert_eq!(row.summary, simulation.summary(&history.snapshot));
}

#[test]
fn the_log_as_it_was_has_its_own_row_and_counts_what_it_leaves_out() {
    let mut history = history();
    history.past[0] = Past { started: Some(at("12:05")), limit: None };
    history.past[2] = Past { started: Some(at("13:05")), limit: None };
    let replay = replayed(&history, &Asked::default());
    let row = &replay.rows[0];
    assert_eq!((row.kind, row.left_out, row.summary.on_time, row.summary.late), (RowKind::AsItWas, 1, 1, 0));
    assert_eq!(starts(&history, row), "first 12:05, idle-work never, pressed 13:05");
    // Kueue's rules say 12:00 and 15:00.
    let forecast = &replay.forecasts[0];
    assert_eq!((forecast.compared, forecast.without_start, forecast.later), (2, 1, 1));
    let error = forecast.error.expect("two were compared");
    assert_eq!((error.median, error.longest), (minutes(5), minutes(115)));
}

#[test]
fn without_starts_there_is_no_row_of_the_past() {
    let replay = replayed(&history(), &Asked::default());
    assert!(replay.rows.iter().all(|row| row.kind != RowKind::AsItWas));
    assert_eq!(replay.forecasts.len(), 1, "the plan's own forecasts are compared all the same");
}

#[test]
fn more_and_fewer_gpus_have_their_own_rows() {
    let asked = Asked {
        changes: vec![
            Change { flavor: None, quantity: -1 },
            Change { flavor: Some(FlavorName::from("a100")), quantity: 4 },
        ],
        ..Asked::default()
    };
    let replay = replayed(&history(), &asked);
    let text: Vec<String> =
        replay.rows.iter().map(|row| format!("{}: {} never", row.option(), row.never_started)).collect();
    expect![[r#"
        Kueue alone: 0 never
        staggered: 0 never
        Kueue alone, 1 fewer a100: 3 never
        staggered, 1 fewer a100: 3 never
        Kueue alone, 4 more a100: 0 never
        staggered, 4 more a100: 0 never"#]]
    .assert_eq(&text.join("\n"));
}

#[test]
fn a_change_that_the_pool_cannot_bear_is_refused() {
    let refused = |flavor: Option<&str>, quantity: i64| {
        let change = Change { flavor: flavor.map(FlavorName::from), quantity };
        replay(&history(), &Asked { changes: vec![change], ..Asked::default() }).expect_err("it must be refused")
    };
    assert_eq!(refused(Some("h100"), 1), "the pool has no flavor `h100`");
    assert_eq!(refused(None, -3), "-3 cannot be added to the 2 a100 there are");
    assert_eq!(refused(None, i64::MAX), format!("{} cannot be added to the 2 a100 there are", i64::MAX));
}

#[test]
fn plans_are_made_no_oftener_than_the_rule_says() {
    // An arrival every ten seconds for ten minutes, on a pool that is busy.
    let jobs = (0..60).map(|n| {
        let created = Timestamp(at("12:00").0 + 10 * n);
        a_job(&format!("{n:02}")).runs(hours(1)).created(&clock(created))
    });
    let history = History::of(arriving(a_snapshot().queue("batch").gpus("a100", 4).jobs(jobs).build()));
    let plans = |debounce: Seconds| roll(&history, &Rules { debounce, ..Rules::default() }).plans;
    // Ends come in fours, once an hour; the arrivals share a plan a minute.
    assert!(plans(minutes(1)) <= 11 + 60, "{}", plans(minutes(1)));
    assert!(plans(minutes(1)) < plans(Seconds(1)));
    assert!(plans(hours(1)) <= 17, "{}", plans(hours(1)));
}

#[test]
fn work_without_quota_is_released_as_it_arrives() {
    let mut snapshot = arriving(trap().build());
    for option in &mut snapshot.workloads[1].options {
        option.uses.clear();
    }
    let rolled = roll(&History::of(snapshot), &Rules { debounce: hours(5), ..Rules::default() });
    assert_eq!(rolled.released[1], Some(at("12:10")));
}

#[test]
fn all_that_fits_runs_in_the_end() {
    let jobs = (0..40).map(|n| {
        let job = a_job(&format!("{n:02}")).gpus(1 + n % 5).runs(minutes(7 + 13 * (n % 7)));
        let created = Timestamp(at("12:00").0 + 97 * n);
        let job = job.created(&clock(created));
        if n % 3 == 0 { job.due("14:00") } else { job }
    });
    let history = History::of(arriving(a_snapshot().queue("batch").gpus("a100", 5).jobs(jobs).build()));
    let replay = replayed(&history, &Asked::default());
    assert!(replay.rows.iter().all(|row| row.never_started == 0 && row.played.iter().all(|it| it.end.is_some())));
    assert!(replay.rows.iter().all(|row| row.summary.peak[0].peak <= row.summary.peak[0].capacity));
}
