//! `plan::check`: valid plans pass, and every kind of damage is found by its own code.

use expect_test::expect_file;
use stagger::failure::{Finding, Severity};
use stagger::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use stagger::plan::check;
use stagger::plan::check::{capacity_ok, codes};
use stagger::plan::proposal::{Conflict, Level, LevelName, Piece, Plan, Proof, Status, Verdict};
use stagger::plan::snapshot::{Interruption, Objective, Policy, PreviousRelease, Snapshot};
use stagger::units::{Amount, Money, Seconds};

use crate::brute::{list_schedule, plan_of};
use crate::given::{A100, Given, at, given, noon, touchstone};

/// The plan that starts each workload as early as it fits, in the snapshot's order.
pub fn planned(given: &Given, policy: &Policy) -> Plan {
    let order: Vec<_> = (0..given.snapshot.workloads.len()).collect();
    let placements = list_schedule(&given.snapshot, policy, &order).expect("every workload must fit some day");
    plan_of(&given.snapshot, policy, &placements)
}

fn errors(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.code).collect()
}

#[test]
fn accepts_the_touchstone() {
    let (given, policy) = (touchstone(), Policy::default());
    let plan = planned(&given, &policy);
    let starts: Vec<_> = plan.releases.iter().map(|release| (release.start - noon()).human()).collect();
    assert_eq!(starts, ["0 s", "0 s", "1 h", "1 h"]);
    assert_eq!(plan.peaks[0].peak, Amount(4));
    assert_eq!(check(&given.snapshot, &policy, &plan), []);
    assert_eq!(capacity_ok(&given.snapshot, &policy, &plan.releases), Ok(()));
}

/// The touchstone on a day with less room: a price, a job under way, one workload of each kind.
fn busy_noon() -> Given {
    touchstone()
        .price(A100, 2)
        .running("train", "batch", 2, at(30))
        .job("loose", 1)
        .runtime(60, 90)
        .job("tight", 4)
        .runtime(30, 60)
        .due(at(300))
        .worth(3)
}

type Damage = (&'static str, &'static str, fn(&mut Snapshot, &mut Policy, &mut Plan));

/// Each is done to the valid plan of `busy_noon`, whose releases are eval-1 12:00, eval-2 12:30, loose 13:00, …
const DAMAGES: &[Damage] = &[
    ("a workload nobody knows", codes::UNKNOWN_WORKLOAD, |_, _, plan| {
        plan.releases[0].workload = WorkloadKey::new("evals", "ghost");
    }),
    ("a workload released twice", codes::RELEASED_TWICE, |_, _, plan| {
        let again = plan.releases[0].clone();
        plan.releases.insert(1, again);
    }),
    ("a workload dropped", codes::DROPPED, |_, _, plan| {
        plan.releases.remove(0);
    }),
    ("a workload left out with an excuse", codes::LEFT_OUT, |_, _, plan| {
        let left_out = plan.releases.remove(0);
        plan.problems.push(Finding::error("SG001", left_out.workload.as_str(), "it fits nowhere"));
    }),
    ("a release from a stopped queue", codes::QUEUE_STOPPED, |snapshot, _, _| {
        *snapshot = Given { snapshot: snapshot.clone() }.stopped().snapshot;
    }),
    ("another kind", codes::MISDESCRIBED, |_, _, plan| "JobSet".clone_into(&mut plan.releases[0].kind)),
    ("another queue", codes::MISDESCRIBED, |_, _, plan| plan.releases[0].cluster_queue = QueueName::from("other")),
    ("another flavor", codes::NO_SUCH_OPTION, |_, _, plan| {
        plan.releases[0].flavor = FlavorName::from("h100");
        plan.releases[0].uses[0].0 = FlavorName::from("h100");
    }),
    ("half the gang", codes::NO_SUCH_OPTION, |_, _, plan| {
        plan.releases[0].uses[0].2 = Amount(1);
        plan.releases[0].resources[0].1 = Amount(1);
    }),
    ("other resources than the footprint's", codes::WRONG_RESOURCES, |_, _, plan| {
        plan.releases[0].resources[0].0 = ResourceName::from("cpu");
    }),
    ("no piece at all", codes::MALFORMED_PIECES, |_, _, plan| plan.releases[0].pieces.clear()),
    ("a piece elsewhere than the start", codes::MALFORMED_PIECES, |_, _, plan| {
        plan.releases[0].pieces[0].start.0 += 1;
    }),
    ("two pieces that touch", codes::MALFORMED_PIECES, |_, _, plan| {
        let pieces = &mut plan.releases[0].pieces;
        let middle = pieces[0].start + Seconds(60);
        pieces.push(Piece { start: middle, end: pieces[0].end });
        pieces[0].end = middle;
    }),
    ("an empty piece", codes::MALFORMED_PIECES, |_, _, plan| {
        plan.releases[0].pieces[0].end = plan.releases[0].start;
    }),
    ("a start one second before the earliest", codes::STARTS_TOO_EARLY, |_, _, plan| shift(plan, 0, -1)),
    ("a start before notBefore", codes::STARTS_TOO_EARLY, |snapshot, _, _| {
        snapshot.workloads[1].earliest_start = at(31);
    }),
    ("two pieces without tolerance", codes::INTERRUPTED, |_, _, plan| {
        let pieces = &mut plan.releases[0].pieces;
        let end = pieces[0].end;
        pieces[0].end = end + Seconds(-120);
        pieces.push(Piece { start: end + Seconds(-60), end: end + Seconds(60) });
    }),
    ("held one second short", codes::WRONG_HELD_TIME, |_, _, plan| plan.releases[0].pieces[0].end.0 -= 1),
    ("held for p50 where p90 is promised", codes::WRONG_HELD_TIME, |_, policy, _| {
        policy.promise = stagger::plan::snapshot::Promise::P90;
    }),
    ("an end off by one", codes::WRONG_END, |_, _, plan| plan.releases[0].end.0 += 1),
    ("a p90 end off by one", codes::WRONG_END_P90, |_, _, plan| plan.releases[0].end_p90.0 += 1),
    ("another due time", codes::WRONG_DUE, |_, _, plan| plan.releases[0].finish_by = Some(at(301))),
    ("a slack off by one", codes::WRONG_SLACK, |_, _, plan| {
        plan.releases[0].slack = plan.releases[0].slack.map(|slack| slack + Seconds(1));
    }),
    ("a verdict too good", codes::WRONG_VERDICT, |snapshot, _, plan| {
        let due = snapshot.workloads[0].due.as_mut().expect("eval-1 must be due");
        due.at = at(10);
        plan.releases[0].finish_by = Some(at(10));
        plan.releases[0].slack = Some(Seconds(-50 * 60));
    }),
    ("a verdict too bad", codes::WRONG_VERDICT, |_, _, plan| plan.releases[0].verdict = Verdict::AtRisk),
    ("a frozen start moved", codes::FROZEN_MOVED, |snapshot, policy, _| {
        policy.frozen_window = Seconds(7_200);
        let key = snapshot.workloads[1].key.clone();
        snapshot.previous.push(PreviousRelease {
            key,
            flavor: FlavorName::from("a100"),
            start: at(60),
            end: None,
            late: None,
        });
    }),
    ("releases out of order", codes::OUT_OF_ORDER, |_, _, plan| plan.releases.swap(0, 1)),
    ("one unit over quota for a while", codes::OVER_QUOTA, |_, _, plan| shift(plan, 1, -60)),
    ("quota one unit short", codes::OVER_QUOTA, |snapshot, _, _| {
        *snapshot = Given { snapshot: snapshot.clone() }.nominal(A100, 3).snapshot;
    }),
    ("a count off by one", codes::WRONG_COUNTS, |_, _, plan| plan.summary.on_time -= 1),
    ("a baseline count off by one", codes::WRONG_COUNTS, |_, _, plan| plan.before.all_at_once.late += 1),
    ("a peak off by one", codes::WRONG_PEAK, |_, _, plan| plan.peaks[0].peak.0 -= 1),
    ("a peak at another instant", codes::WRONG_PEAK, |_, _, plan| plan.peaks[0].at = Some(at(60))),
    ("a capacity off by one", codes::WRONG_PEAK, |_, _, plan| plan.peaks[0].capacity.0 += 1),
    ("a peak missing", codes::WRONG_PEAK, |_, _, plan| plan.peaks.clear()),
    ("a makespan off by one", codes::WRONG_MAKESPAN, |_, _, plan| plan.summary.makespan.0 += 1),
    ("GPU time off by one", codes::WRONG_GPU_SECONDS, |_, _, plan| plan.summary.gpu_seconds += 1),
    ("a cost off by a billionth", codes::WRONG_COST, |_, _, plan| {
        plan.summary.cost = plan.summary.cost.map(|cost| cost + Money { nanos: 1 });
    }),
    ("another currency", codes::WRONG_COST, |_, _, plan| plan.summary.currency = Some("USD".to_owned())),
    ("another now", codes::WRONG_HEAD, |_, _, plan| plan.now.0 -= 1),
    ("another objective", codes::WRONG_HEAD, |_, _, plan| plan.objective = Objective::LowestPeak),
    ("a level missing", codes::WRONG_LEVELS, |_, _, plan| {
        plan.quality.levels.remove(0);
    }),
    ("levels swapped", codes::WRONG_LEVELS, |_, _, plan| plan.quality.levels.swap(0, 1)),
    ("a level's value off by one", codes::WRONG_LEVEL_VALUE, |_, _, plan| {
        level(plan, LevelName::Completion).value -= 1;
    }),
    ("a forged bound", codes::BOUND_ABOVE_VALUE, |_, _, plan| {
        let level = level(plan, LevelName::Completion);
        level.bound = Some(level.value + 1);
        level.proof = Proof::Lp;
    }),
    ("a forged optimum", codes::NOT_OPTIMAL, |_, _, plan| plan.quality.status = Status::Optimal),
    ("a forged gap", codes::WRONG_GAP, |_, _, plan| plan.quality.gap_millionths = Some(0)),
    ("a conflict about a stranger", codes::CONFLICT_UNKNOWN, |_, _, plan| {
        let workloads = vec![WorkloadKey::new("evals", "ghost")];
        plan.infeasible.push(Conflict { workloads, irreducible: false, message: String::new(), fixes: Vec::new() });
    }),
];

fn level(plan: &mut Plan, name: LevelName) -> &mut Level {
    plan.quality.levels.iter_mut().find(|level| level.name == name).expect("the level must be there")
}

/// Moves a release by seconds, itself consistent.
fn shift(plan: &mut Plan, at: usize, by: i64) {
    let release = &mut plan.releases[at];
    let by = Seconds(by);
    release.start = release.start + by;
    release.end = release.end + by;
    release.end_p90 = release.end_p90 + by;
    release.slack = release.slack.map(|slack| slack - by);
    for piece in &mut release.pieces {
        *piece = Piece { start: piece.start + by, end: piece.end + by };
    }
}

#[test]
fn every_damage_is_found_by_its_code() {
    let policy = Policy::default();
    let plan = planned(&busy_noon(), &policy);
    assert_eq!(check(&busy_noon().snapshot, &policy, &plan), [], "the plan must be valid before it is damaged");
    let missed: Vec<_> = DAMAGES
        .iter()
        .filter_map(|(name, code, damage)| {
            let (mut snapshot, mut policy, mut plan) = (busy_noon().snapshot, policy.clone(), plan.clone());
            damage(&mut snapshot, &mut policy, &mut plan);
            let found = errors(&check(&snapshot, &policy, &plan));
            (!found.contains(code)).then(|| format!("{name}: {code} is missing in {found:?}"))
        })
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_code_is_shown_by_a_damage() {
    let elsewhere = [codes::OVER_BORROWING_LIMIT, codes::OVER_CAP, codes::ADDS_TO_OVERFULL, codes::NO_REASON];
    let shown = |code: &str| elsewhere.contains(&code) || DAMAGES.iter().any(|(_, damaged, _)| *damaged == code);
    let hidden: Vec<_> = codes::TABLE.iter().map(|(code, ..)| *code).filter(|code| !shown(code)).collect();
    assert_eq!(hidden, [""; 0]);
}

#[test]
fn a_release_without_reason_is_a_warning() {
    let policy = Policy::default();
    let mut plan = planned(&touchstone(), &policy);
    plan.releases[0].reasons.clear();
    let findings = check(&touchstone().snapshot, &policy, &plan);
    assert_eq!(errors(&findings), [""; 0]);
    assert_eq!(findings[0].code, codes::NO_REASON);
}

#[test]
fn accepts_what_cannot_be_placed_when_it_is_named() {
    let given = given().queue("batch", 4).job("huge", 5);
    let mut plan = plan_of(&given.snapshot, &Policy::default(), &[]);
    plan.problems.push(Finding::error("SG001", "Job evals/huge", "it asks for 5 of 4"));
    assert_eq!(check(&given.snapshot, &Policy::default(), &plan), []);
}

#[test]
fn a_frozen_start_that_is_no_longer_free_may_move() {
    let key = WorkloadKey::new("evals", "eval");
    let policy = Policy { frozen_window: Seconds::HOUR, ..Policy::default() };
    let mut given = given().queue("batch", 2).running("train", "batch", 1, at(30)).job("eval", 2);
    given.snapshot.previous.push(PreviousRelease {
        key,
        flavor: FlavorName::from("a100"),
        start: at(10),
        end: None,
        late: None,
    });
    assert_eq!(check(&given.snapshot, &policy, &planned(&given, &policy)), []);
}

#[test]
fn nonsense_is_refused_without_panic() {
    let policy = Policy::default();
    let mut plan = planned(&busy_noon(), &policy);
    for extreme in [i64::MIN, i64::MAX] {
        for release in &mut plan.releases {
            release.start.0 = extreme;
            release.end.0 = extreme.wrapping_neg();
            for piece in &mut release.pieces {
                *piece = Piece { start: release.start, end: release.end };
            }
            release.uses[0].2 = Amount(extreme);
        }
        assert!(!check(&busy_noon().snapshot, &policy, &plan).is_empty());
    }
}

#[test]
fn pieces_pay_for_every_interruption() {
    let hour = |pieces: &[(i64, i64)], interruption: Interruption| {
        let given = given().queue("batch", 4).job("train", 2).tolerates(interruption);
        let mut plan = planned(&given, &Policy::default());
        let release = &mut plan.releases[0];
        release.pieces = pieces.iter().map(|&(start, end)| Piece { start: at(start), end: at(end) }).collect();
        release.start = at(pieces[0].0);
        release.end = at(pieces[pieces.len() - 1].1);
        release.end_p90 = release.end;
        let placing = [codes::MALFORMED_PIECES, codes::INTERRUPTED, codes::WRONG_HELD_TIME];
        let mut found = errors(&check(&given.snapshot, &Policy::default(), &plan));
        found.retain(|code| placing.contains(code));
        found
    };
    let minutes = |n: i64| Seconds(n * 60);
    let restartable = Interruption::Restartable { cost: minutes(5), max: 2 };
    let checkpointable = Interruption::Checkpointable { interval: minutes(10), cost: minutes(5), max: 2 };
    // Only the last piece counts, and it resumes for five minutes first.
    assert_eq!(hour(&[(0, 30), (60, 125)], restartable), [""; 0]);
    assert_eq!(hour(&[(0, 30), (60, 90)], restartable), [codes::WRONG_HELD_TIME]);
    // 30 minutes keep 20; the last piece resumes for five and does the other 40.
    assert_eq!(hour(&[(0, 30), (60, 105)], checkpointable), [""; 0]);
    assert_eq!(hour(&[(0, 30), (60, 90)], checkpointable), [codes::WRONG_HELD_TIME]);
    // Three pieces: 20 kept, then 35 − 5 − 10 = 20 kept, then 20 more after five.
    assert_eq!(hour(&[(0, 30), (60, 95), (100, 125)], checkpointable), [""; 0]);
    // A piece shorter than the interval keeps nothing; one not longer than its cost does nothing.
    assert_eq!(hour(&[(0, 10), (60, 125)], checkpointable), [""; 0]);
    assert_eq!(hour(&[(0, 30), (60, 65), (100, 145)], checkpointable), [codes::MALFORMED_PIECES]);
    assert_eq!(hour(&[(0, 10), (20, 30), (40, 50), (60, 125)], restartable), [codes::INTERRUPTED]);
}

#[test]
fn the_reference_page_is_the_table_of_codes() {
    let mut page = String::from(
        "# Plan findings\n\n\
         What `plan::check` can find wrong with a plan.\n\
         An error stops the cycle: nothing is released.\n\
         Generated from `src/plan/check/codes.rs`; to update, run the tests with `UPDATE_EXPECT=1`.\n\n\
         | code | finding | meaning |\n|---|---|---|\n",
    );
    for (code, title, meaning) in codes::TABLE {
        page.push_str(&format!("| {code} | {title} | {meaning} |\n"));
    }
    assert!(codes::TABLE.is_sorted_by(|a, b| a.0 < b.0), "codes must ascend and never repeat");
    expect_file!["../../docs/reference/plan-findings.md"].assert_eq(&page);
}
