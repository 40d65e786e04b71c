//! `plan::overdue`: nothing is held past the point from which it would be late.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stagger::names::WorkloadKey;
use stagger::plan::overdue;
use stagger::plan::overdue::{Why, latest_safe_start};
use stagger::plan::snapshot::Snapshot;
use stagger::units::{Seconds, Timestamp};

use super::fake::{Fake, at};

fn snapshot() -> Snapshot {
    let fake = Fake::touchstone();
    fake.scope.look(&mut fake.rows().iter(), at(0), &fake.settings).snapshot
}

fn key(name: &str) -> WorkloadKey {
    WorkloadKey::new("evals", name)
}

#[test]
fn the_latest_safe_start_leaves_time_for_nine_of_ten_runs() {
    let snapshot = snapshot();
    assert_eq!(latest_safe_start(&snapshot.workloads[0]), Some(at(240)));
}

#[test]
fn a_promise_counts_before_the_latest_safe_start() {
    let promised = [(key("eval-3"), at(60))].into();
    let late = overdue(&snapshot(), &promised, at(60), Seconds::HOUR);
    assert_eq!(late.len(), 1);
    assert_eq!((late[0].key.clone(), late[0].since, late[0].why), (key("eval-3"), at(60), Why::Promised));
}

#[test]
fn work_without_a_due_time_is_held_for_the_limit() {
    let mut snapshot = snapshot();
    snapshot.workloads.iter_mut().for_each(|workload| workload.due = None);
    assert!(overdue(&snapshot, &BTreeMap::new(), at(29), Seconds(1800)).is_empty());
    let late = overdue(&snapshot, &BTreeMap::new(), at(30), Seconds(1800));
    assert!(late.len() == 4 && late.iter().all(|one| one.why == Why::HeldTooLong));
}

proptest! {
    #[test]
    fn whatever_was_promised_nothing_is_held_beyond_its_latest_safe_start(
        starts in proptest::collection::vec(0_i64..400, 4),
        now in 0_i64..500,
    ) {
        let snapshot = snapshot();
        let promised: BTreeMap<WorkloadKey, Timestamp> =
            snapshot.workloads.iter().zip(&starts).map(|(it, start)| (it.key.clone(), at(*start))).collect();
        let late = overdue(&snapshot, &promised, at(now), Seconds::DAY);
        for (workload, start) in snapshot.workloads.iter().zip(&starts) {
            let told = late.iter().any(|one| one.key == workload.key);
            prop_assert_eq!(told, now >= *start.min(&240));
        }
    }

    #[test]
    fn what_is_overdue_stays_so(now in 0_i64..400, later in 0_i64..100) {
        let snapshot = snapshot();
        let keys = |now: i64| -> Vec<_> {
            overdue(&snapshot, &BTreeMap::new(), at(now), Seconds::DAY).into_iter().map(|it| it.key).collect()
        };
        let (before, after) = (keys(now), keys(now + later));
        prop_assert!(before.iter().all(|key| after.contains(key)));
    }
}
