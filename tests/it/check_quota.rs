//! `plan::check` on quota: Kueue's algebra case by case, and against plain recursion on random trees.

use proptest::prelude::*;
use stagger::failure::Finding;
use stagger::plan::check::{capacity_ok, codes};
use stagger::plan::snapshot::{Policy, WindowEffect};

use crate::brute::{self, Placement, list_schedule, plan_of};
use crate::given::{A100, Given, at, given};

/// Starts every workload at noon at once, whatever the quota says.
fn at_noon(given: &Given) -> Result<(), &'static str> {
    started(given, &vec![0; given.snapshot.workloads.len()])
}

/// Starts each workload so many minutes after noon.
fn started(given: &Given, minutes: &[i64]) -> Result<(), &'static str> {
    let starts = minutes.iter().enumerate();
    let placements: Vec<_> =
        starts.map(|(workload, minutes)| Placement { workload, option: 0, start: at(*minutes) }).collect();
    let policy = Policy::default();
    let plan = plan_of(&given.snapshot, &policy, &placements);
    let found = capacity_ok(&given.snapshot, &policy, &plan.releases).map_err(|finding: Box<Finding>| finding.code);
    let fits = brute::fits(&given.snapshot, &policy, &placements);
    assert_eq!(found.is_ok(), fits, "the sweep and plain recursion must agree");
    found
}

/// Two queues of four in one cohort.
fn cohort(borrowing: Option<i64>, lending: Option<i64>) -> Given {
    given()
        .cohort("org")
        .queue("research", 4)
        .quota(A100, 4, None, lending)
        .under("org")
        .queue("batch", 4)
        .quota(A100, 4, borrowing, None)
        .under("org")
}

#[test]
fn a_queue_borrows_what_others_lend() {
    assert_eq!(at_noon(&cohort(None, None).job("eval", 8)), Ok(()));
    assert_eq!(at_noon(&cohort(None, None).job("eval", 9)), Err(codes::OVER_QUOTA));
    assert_eq!(at_noon(&cohort(None, Some(3)).job("eval", 7)), Ok(()));
    assert_eq!(at_noon(&cohort(None, Some(3)).job("eval", 8)), Err(codes::OVER_QUOTA));
    assert_eq!(at_noon(&cohort(Some(2), None).job("eval", 6)), Ok(()));
    assert_eq!(at_noon(&cohort(Some(2), None).job("eval", 7)), Err(codes::OVER_BORROWING_LIMIT));
}

#[test]
fn a_cohort_borrows_within_its_own_limit() {
    let nested = |gpus| {
        let inner = given().cohort("org").nominal(A100, 10).cohort("lab").quota(A100, 2, Some(3), None).under("org");
        inner.queue("batch", 1).under("lab").job("eval", gpus)
    };
    assert_eq!(at_noon(&nested(6)), Ok(()));
    assert_eq!(at_noon(&nested(7)), Err(codes::OVER_BORROWING_LIMIT));
}

#[test]
fn windows_add_reserve_and_cap_while_they_last() {
    let window = |effect, quantity| {
        given().queue("batch", 4).window("batch", effect, quantity, (at(60), at(120))).job("eval", 4)
    };
    assert_eq!(started(&window(WindowEffect::Reserve, 1), &[0]), Ok(()));
    assert_eq!(started(&window(WindowEffect::Reserve, 1), &[1]), Err(codes::OVER_QUOTA));
    assert_eq!(started(&window(WindowEffect::Reserve, 1), &[120]), Ok(()));
    assert_eq!(started(&window(WindowEffect::Cap, 3), &[60]), Err(codes::OVER_CAP));
    assert_eq!(started(&window(WindowEffect::Cap, 4), &[60]), Ok(()));
    let added = window(WindowEffect::Add, 2).job("more", 2);
    assert_eq!(started(&added, &[60, 60]), Ok(()));
    assert_eq!(started(&added, &[61, 61]), Err(codes::OVER_QUOTA));
}

#[test]
fn the_tightest_of_overlapping_caps_counts() {
    let caps = given()
        .queue("batch", 4)
        .window("batch", WindowEffect::Cap, 2, (at(30), at(90)))
        .window("batch", WindowEffect::Cap, 3, (at(0), at(150)))
        .job("eval", 3);
    assert_eq!(started(&caps, &[20]), Err(codes::OVER_CAP));
    assert_eq!(started(&caps, &[90]), Ok(()));
}

#[test]
fn planned_work_keeps_away_from_what_others_overfill() {
    let overfull = given().queue("batch", 4).running("train", "batch", 6, at(60)).job("eval", 1);
    assert_eq!(started(&overfull, &[60]), Ok(()));
    assert_eq!(started(&overfull, &[59]), Err(codes::ADDS_TO_OVERFULL));
}

#[test]
fn a_share_that_is_never_lent_stays_its_owners() {
    let overfull = cohort(None, Some(0)).running("train", "batch", 9, at(60)).job("eval", 4);
    let mut own_share = overfull;
    own_share.snapshot.workloads[0].queue = own_share.id("research");
    assert_eq!(at_noon(&own_share), Ok(()));
}

#[test]
fn unknown_ends_hold_to_the_horizon() {
    let mut endless = given().queue("batch", 4).running("train", "batch", 1, at(60)).job("eval", 4);
    endless.snapshot.running[0].end_p50 = Some(at(-1));
    endless.snapshot.running[0].end_p90 = None;
    assert_eq!(started(&endless, &[299]), Err(codes::OVER_QUOTA));
    assert_eq!(started(&endless, &[300]), Ok(()));
}

/// A random tree of up to two cohorts and three queues, with windows, running work and a few jobs.
fn any_given() -> impl Strategy<Value = Given> {
    let limit = || prop_oneof![Just(None), (0_i64..4).prop_map(Some)];
    let quota = move || (0_i64..5, limit(), limit());
    let window = (0_usize..5, 0_u8..3, 0_i64..5, 0_i64..8, 1_i64..5);
    let running = (0_usize..3, 1_i64..6, 0_i64..6);
    let job = (0_usize..3, 1_i64..5, 1_i64..5, 0_i64..4);
    (
        proptest::collection::vec(quota(), 5),
        proptest::collection::vec(proptest::bool::ANY, 4),
        proptest::collection::vec(window, 0..4),
        proptest::collection::vec(running, 0..3),
        proptest::collection::vec(job, 1..6),
    )
        .prop_map(|(quotas, nested, windows, running, jobs)| {
            let names = ["org", "lab", "a", "b", "c"];
            let mut given = given().cohort("org").cohort("lab");
            if nested[0] {
                given = given.under("org");
            }
            for (at, name) in names[2..].iter().enumerate() {
                given = given.queue(name, 0);
                given = given.under(if nested[at + 1] { "lab" } else { "org" });
            }
            for (at, (nominal, borrowing, lending)) in quotas.into_iter().enumerate() {
                let last = given.snapshot.nodes.len() - 1;
                given.snapshot.nodes.swap(at, last);
                given = given.quota(A100, nominal, borrowing, lending);
                given.snapshot.nodes.swap(at, last);
            }
            for (node, effect, quantity, start, length) in windows {
                let effect = [WindowEffect::Add, WindowEffect::Cap, WindowEffect::Reserve][usize::from(effect)];
                given = given.window(names[node], effect, quantity, (at(start * 15 - 15), at((start + length) * 15)));
            }
            for (queue, gpus, end) in running {
                given = given.running("train", names[queue + 2], gpus, at(end * 15));
            }
            for (number, (queue, gpus, length, earliest)) in jobs.into_iter().enumerate() {
                given = given.job(&format!("eval-{number}"), gpus).minutes(length * 15).not_before(at(earliest * 15));
                let id = given.id(names[queue + 2]);
                given.snapshot.workloads[number].queue = id;
            }
            given
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sweep_agrees_with_plain_recursion(given in any_given(), starts in proptest::collection::vec(0_i64..12, 6)) {
        let minutes: Vec<_> =
            given.snapshot.workloads.iter().zip(starts).map(|(_, start)| start * 15).collect();
        // Asserts inside that both agree.
        let _ = started(&given, &minutes);
    }

    #[test]
    fn a_list_schedule_passes_and_a_moved_release_passes_only_if_it_fits(
        given in any_given(),
        which in 0_usize..6,
        to in 0_i64..12,
    ) {
        let policy = Policy::default();
        let order: Vec<_> = (0..given.snapshot.workloads.len()).collect();
        // Some random workloads ask for more than there will ever be.
        let Some(placements) = list_schedule(&given.snapshot, &policy, &order) else { return Ok(()) };
        let plan = plan_of(&given.snapshot, &policy, &placements);
        prop_assert_eq!(stagger::plan::check(&given.snapshot, &policy, &plan), []);

        let mut moved = placements.clone();
        let moved_one = which % placements.len();
        moved[moved_one].start = at(to * 15);
        let earliest = given.snapshot.workloads[moved[moved_one].workload].earliest_start;
        let plan = plan_of(&given.snapshot, &policy, &moved);
        let valid = at(to * 15) >= earliest && brute::fits(&given.snapshot, &policy, &moved);
        prop_assert_eq!(stagger::plan::check(&given.snapshot, &policy, &plan).is_empty(), valid);
    }
}
