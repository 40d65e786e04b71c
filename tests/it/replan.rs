//! Planning again: what has changed finds room, and hardly anybody else is moved.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use stagger::plan::proposal::Plan;
use stagger::plan::propose::propose;
use stagger::plan::snapshot::{Policy, Snapshot};
use stagger::plan::watch::{Progress, Unwatched, Watch};
use stagger::units::{Seconds, Timestamp};

use crate::given::{at, given};
use crate::planted::planted;

const SLOT: Seconds = Seconds(15 * 60);

fn plan(snapshot: &Snapshot) -> Plan {
    propose(snapshot, &Policy { time_limit_millis: 60_000, ..Policy::default() }, &Unwatched)
}

fn starts(plan: &Plan) -> BTreeMap<String, Timestamp> {
    plan.releases.iter().map(|release| (release.workload.to_string(), release.start)).collect()
}

fn moved(before: &Plan, after: &Plan) -> usize {
    let before = starts(before);
    starts(after).iter().filter(|(workload, start)| before.get(*workload) != Some(start)).count()
}

/// The workload takes a quarter of an hour longer, and is due as much later.
fn lengthen(snapshot: &mut Snapshot, workload: usize) {
    let workload = &mut snapshot.workloads[workload];
    for option in &mut workload.options {
        option.runtime.p50 = Seconds(option.runtime.p50.0 + SLOT.0);
        option.runtime.p90 = option.runtime.p50;
    }
    if let Some(due) = &mut workload.due {
        due.at = due.at + SLOT;
    }
}

#[test]
fn one_in_a_hundred_that_takes_longer_moves_no_more_than_twice_as_many() {
    for seed in 0..3 {
        let mut snapshot = planted(seed, 400, 2);
        let first = plan(&snapshot);
        assert_eq!(first.summary.late, 0, "seed {seed}");
        snapshot.previous = first.previous_releases();
        let count = snapshot.workloads.len();
        let changed: Vec<usize> = (0..count).step_by(count.div_ceil(count.div_ceil(100))).collect();
        for workload in &changed {
            lengthen(&mut snapshot, *workload);
        }
        let second = plan(&snapshot);
        assert_eq!(second.summary.late, 0, "seed {seed}");
        let moved = moved(&first, &second);
        assert!(moved <= 2 * changed.len(), "seed {seed}: {moved} moved for {}", changed.len());
    }
}

/// A machine on which everything takes long: each look at the clock is a millisecond later.
#[derive(Default)]
struct Busy(AtomicU64);

impl Watch for Busy {
    fn elapsed_millis(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
    fn stopped(&self) -> bool {
        false
    }
    fn progress(&self, _progress: &Progress) {}
}

/// Everybody is promised a start when nothing is due yet; then everything is.
#[test]
fn what_was_promised_on_time_is_owed_that_by_its_new_due_time_too() {
    // On a machine so busy, a tenth of the time is over before anything is found.
    let policy = Policy { time_limit_millis: 2_000, step_limit: Some(u64::MAX), ..Policy::default() };
    let busy = |snapshot: &Snapshot| propose(snapshot, &policy, &Busy::default());
    for seed in 0..4 {
        let mut snapshot = planted(seed, 120, 1);
        let mut idle = snapshot.clone();
        for workload in &mut idle.workloads {
            let due = workload.due.as_mut().expect("planted work is due");
            due.at = idle.horizon_end;
        }
        let promised = busy(&idle);
        assert_eq!(promised.summary.late, 0, "seed {seed}");
        snapshot.previous = promised.previous_releases();
        assert_eq!(busy(&snapshot).summary.late, 0, "seed {seed}");
    }
}

#[test]
fn work_that_was_promised_on_time_and_takes_longer_starts_sooner_where_it_can() {
    let mut given = given().queue("batch", 1).job("longer", 1).runtime(60, 60).due(at(180)).job("other", 1);
    given = given.runtime(60, 60).due(at(300));
    given.snapshot.previous = plan(&given.snapshot).previous_releases();
    for release in &mut given.snapshot.previous {
        let start = if release.key.name() == "longer" { at(60) } else { at(0) };
        (release.start, release.end) = (start, Some(start + Seconds(3600)));
    }
    for runtime in [90, 150] {
        let option = &mut given.snapshot.workloads[0].options[0];
        (option.runtime.p50, option.runtime.p90) = (Seconds(runtime * 60), Seconds(runtime * 60));
        let again = plan(&given.snapshot);
        assert_eq!(again.summary.late, 0, "{runtime} minutes");
        let moved = again.releases.iter().any(|it| it.workload.name() == "longer" && it.start != at(60));
        assert_eq!(moved, runtime == 150, "{runtime} minutes: whoever can stay stays");
    }
}

#[test]
fn work_that_takes_longer_pushes_on_what_follows_where_there_is_no_other_room() {
    let mut given = given().queue("batch", 1);
    for number in 0..6 {
        let end = 60 * (number + 1);
        given = given.job(&format!("job-{number}"), 1).runtime(60, 60).not_before(at(end - 60)).due(at(end + 15));
    }
    given.snapshot.horizon_end = at(60 * 7);
    let mut snapshot = given.snapshot;
    let first = plan(&snapshot);
    snapshot.previous = first.previous_releases();
    lengthen(&mut snapshot, 1);
    let second = plan(&snapshot);
    assert_eq!(second.summary.late, 0);
    let starts: Vec<Timestamp> = second.releases.iter().map(|release| release.start).collect();
    assert_eq!(starts, [at(0), at(60), at(135), at(195), at(255), at(315)]);
}

#[test]
fn work_that_takes_longer_pulls_forward_what_comes_before_where_nothing_behind_can_wait() {
    let mut given = given().queue("spare", 1).job("bystander", 1).runtime(60, 60).due(at(300)).queue("batch", 1);
    for number in 0..6 {
        let from = 60 * number;
        given = given.job(&format!("job-{number}"), 1).runtime(60, 60).not_before(at(from)).due(at(from + 75));
    }
    given.snapshot.horizon_end = at(60 * 7);
    let mut snapshot = given.snapshot;
    snapshot.previous = plan(&snapshot).previous_releases();
    for release in &mut snapshot.previous {
        let number = release.key.name().strip_prefix("job-").map(|number| number.parse::<i64>().unwrap());
        let start = number.map_or(at(30), |number| at(60 * number + 15));
        (release.start, release.end) = (start, Some(start + Seconds(3600)));
    }
    // It is due as before, and whoever comes after it already ends when he must.
    let option = &mut snapshot.workloads[4].options[0];
    (option.runtime.p50, option.runtime.p90) = (Seconds(75 * 60), Seconds(75 * 60));
    let second = plan(&snapshot);
    assert_eq!(second.summary.late, 0);
    let starts: Vec<Timestamp> = second.releases.iter().map(|release| release.start).collect();
    assert_eq!(starts, [at(0), at(30), at(60), at(120), at(180), at(255), at(315)], "the bystander stays");
}

#[test]
fn work_that_is_wide_and_long_and_takes_longer_moves_few() {
    for seed in 0..3 {
        let mut snapshot = planted(seed, 400, 2);
        let first = plan(&snapshot);
        snapshot.previous = first.previous_releases();
        let option = |workload: usize| &snapshot.workloads[workload].options[0];
        let room = |workload: &usize| option(*workload).uses[0].1.0 * option(*workload).runtime.p50.0;
        let largest = (0..snapshot.workloads.len()).max_by_key(room).expect("there is work");
        lengthen(&mut snapshot, largest);
        let second = plan(&snapshot);
        assert_eq!(second.summary.late, 0, "seed {seed}");
        let moved = moved(&first, &second);
        assert!(moved <= 8, "seed {seed}: {moved} of {} moved", snapshot.workloads.len());
    }
}
