//! `plan::explain`: why not sooner, who holds it, what would help; each text as a person reads it.

use std::time::Duration;

use expect_test::{Expect, expect};
use stagger::clock::Stopwatch;
use stagger::failure::Finding;
use stagger::names::{FlavorName, WorkloadKey};
use stagger::plan::explain::{Explanation, explain, reasons};
use stagger::plan::proposal::{Piece, Plan, ReasonCode};
use stagger::plan::snapshot::{Interruption, Objective, Policy, PreviousRelease, WindowEffect};
use stagger::units::{Seconds, Timestamp};

use crate::brute::{Placement, plan_of};
use crate::check::planned;
use crate::given::{Given, at, given, noon, touchstone};

fn explained(given: &Given, plan: &Plan, name: &str) -> Explanation {
    explain(&given.snapshot, &Policy::default(), plan, &WorkloadKey::new("evals", name))
        .expect("the snapshot must have the workload")
}

fn tells(given: &Given, name: &str, expected: &Expect) {
    let plan = planned(given, &Policy::default());
    expected.assert_eq(&explained(given, &plan, name).to_string());
}

/// The plan that starts each workload so many minutes after noon.
fn started(given: &Given, minutes: &[i64]) -> Plan {
    let starts = minutes.iter().enumerate();
    let placements: Vec<_> =
        starts.map(|(workload, minutes)| Placement { workload, option: 0, start: at(*minutes) }).collect();
    plan_of(&given.snapshot, &Policy::default(), &placements)
}

fn codes(given: &Given, policy: &Policy, plan: &Plan) -> Vec<Vec<ReasonCode>> {
    let mut releases = plan.releases.clone();
    reasons(&given.snapshot, policy, &mut releases);
    releases.iter().map(|release| release.reasons.iter().map(|reason| reason.code).collect()).collect()
}

#[test]
fn the_touchstone_names_who_holds_the_gpus_and_what_would_help() {
    tells(
        &touchstone(),
        "eval-3",
        &expect![[r#"
        Job evals/eval-3
          Starts 13:00: eval-1 and eval-2 hold the 4 a100 GPUs until then. Due 17:00, slack 3 h.
          needs    2 nvidia.com/gpu on a100; 0 free just before
          planned  13:00 on a100, ends 14:00 (p50) or 14:00 (p90)
          held by  evals/eval-1: 2 nvidia.com/gpu on a100 until 13:00
          held by  evals/eval-2: 2 nvidia.com/gpu on a100 until 13:00
          try      2 more a100 GPUs from 12:00 to 13:00: starts 12:00, ends 13:00
          try      let eval-1 wait until 13:00, still in time: starts 12:00, ends 13:00
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn what_starts_at_once_needs_no_help() {
    tells(
        &touchstone(),
        "eval-1",
        &expect![[r#"
        Job evals/eval-1
          Starts at once, 12:00. Due 17:00, slack 4 h.
          needs    2 nvidia.com/gpu on a100
          planned  12:00 on a100, ends 13:00 (p50) or 13:00 (p90)
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn running_work_is_named_like_planned_work() {
    let given = given().queue("batch", 4).running("train", "batch", 3, at(90)).job("eval", 2).due(at(120));
    tells(
        &given,
        "eval",
        &expect![[r#"
        Job evals/eval
          Starts 13:30: train holds 3 of the 4 a100 GPUs until then. Due 14:00, late by 30 min: it ends 14:30.
          needs    2 nvidia.com/gpu on a100; 1 free just before
          planned  13:30 on a100, ends 14:30 (p50) or 14:30 (p90)
          held by  evals/train: 3 nvidia.com/gpu on a100 until 13:30
          try      1 more a100 GPU from 12:00 to 13:00: starts 12:00, ends 13:00
          plan     made 12:00, Feasible"#]],
    );
    tells(
        &given,
        "train",
        &expect![[r#"
        Workload evals/train
          Runs since 11:00 on a100; is expected to end 13:30.
          needs    3 nvidia.com/gpu on a100
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn many_blockers_are_counted() {
    let mut many = given().queue("batch", 12);
    for number in 0..12 {
        many = many.running(&format!("train-{number}"), "batch", 1, at(60));
    }
    tells(
        &many.job("eval", 12),
        "eval",
        &expect![[r#"
        Job evals/eval
          Starts 13:00: train-0, train-1 and 10 others hold the 12 a100 GPUs until then. No due time.
          needs    12 nvidia.com/gpu on a100; 0 free just before
          planned  13:00 on a100, ends 14:00 (p50) or 14:00 (p90)
          held by  evals/train-0: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-1: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-2: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-3: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-4: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-5: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-6: 1 nvidia.com/gpu on a100 until 13:00
          held by  evals/train-7: 1 nvidia.com/gpu on a100 until 13:00
                   and 4 others
          try      12 more a100 GPUs from 12:00 to 13:00: starts 12:00, ends 13:00
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn a_window_is_named_when_it_is_what_ends() {
    let given = given().queue("batch", 4).window("batch", WindowEffect::Cap, 1, (at(0), at(45))).job("eval", 2);
    tells(
        &given,
        "eval",
        &expect![[r#"
        Job evals/eval
          Starts 12:45: window window-0 caps use at 1 a100 GPU until then. No due time.
          needs    2 nvidia.com/gpu on a100; 1 free just before
          planned  12:45 on a100, ends 13:45 (p50) or 13:45 (p90)
          try      lift window window-0: starts 12:00, ends 13:00
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn a_borrowing_limit_is_named() {
    let given = given()
        .cohort("org")
        .queue("research", 4)
        .under("org")
        .queue("batch", 2)
        .quota(crate::given::A100, 2, Some(1), None)
        .under("org")
        .job("first", 2)
        .job("second", 2);
    tells(
        &given,
        "second",
        &expect![[r#"
        Job evals/second
          Starts 13:00: first holds 2 of the 3 a100 GPUs that batch may use of its cohort until then. No due time.
          needs    2 nvidia.com/gpu on a100; 1 free just before
          planned  13:00 on a100, ends 14:00 (p50) or 14:00 (p90)
          held by  evals/first: 2 nvidia.com/gpu on a100 until 13:00
          try      1 more a100 GPU from 12:00 to 13:00: starts 12:00, ends 13:00
          try      let first wait until 13:00: starts 12:00, ends 13:00
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn not_before_is_named_and_what_starting_sooner_would_give() {
    let given = given().queue("batch", 4).job("nightly", 2).not_before(at(13 * 60)).due(at(13 * 60 + 30));
    tells(
        &given,
        "nightly",
        &expect![[r#"
        Job evals/nightly
          Starts Tue 01 01:00: it may not start before then. Due Tue 01 01:30, late by 30 min: it ends Tue 01 02:00.
          needs    2 nvidia.com/gpu on a100
          planned  Tue 01 01:00 on a100, ends Tue 01 02:00 (p50) or Tue 01 02:00 (p90)
          note     It ends Tue 01 02:00, past the horizon (17:00).
          try      let it start before Tue 01 01:00: starts 12:00, ends 13:00
          plan     made 12:00, Feasible"#]],
    );
}

#[test]
fn what_cannot_be_placed_repeats_its_problem() {
    let given = given().queue("batch", 4).job("huge", 5);
    let mut plan = plan_of(&given.snapshot, &Policy::default(), &[]);
    let finding = Finding::error("SG001", "Job evals/huge", "it asks for 5 a100 GPUs, but batch can use 4 at most");
    plan.problems.push(finding.hint("ask for 4, or raise the quota"));
    expect![[r#"
        Job evals/huge
          Cannot be placed: it asks for 5 a100 GPUs, but batch can use 4 at most.
          needs    5 nvidia.com/gpu on a100
          try      ask for 4, or raise the quota: it can be planned
          plan     made 12:00, Optimal"#]]
    .assert_eq(&explained(&given, &plan, "huge").to_string());
}

#[test]
fn the_document_says_the_same() {
    let plan = planned(&touchstone(), &Policy::default());
    let json = serde_json::to_string_pretty(&explained(&touchstone(), &plan, "eval-3").document());
    expect![[r#"
        {
          "apiVersion": "stagger.dev/explanation/v1",
          "kind": "Explanation",
          "workload": "evals/eval-3",
          "workloadKind": "Job",
          "sentence": "Starts 13:00: eval-1 and eval-2 hold the 4 a100 GPUs until then. Due 17:00, slack 3 h.",
          "needs": [
            {
              "flavor": "a100",
              "resource": "nvidia.com/gpu",
              "quantity": "2"
            }
          ],
          "free": "0",
          "planned": {
            "flavor": "a100",
            "start": "2026-11-30T13:00:00+01:00",
            "end": "2026-11-30T14:00:00+01:00",
            "endP90": "2026-11-30T14:00:00+01:00",
            "finishBy": "2026-11-30T17:00:00+01:00",
            "slackSeconds": 10800,
            "verdict": "OnTime",
            "reasons": [
              {
                "code": "WaitsForCapacity",
                "message": "eval-1 and eval-2 hold the 4 a100 GPUs until 13:00."
              }
            ]
          },
          "blockers": [
            {
              "workload": "evals/eval-1",
              "flavor": "a100",
              "resource": "nvidia.com/gpu",
              "quantity": "2",
              "until": "2026-11-30T13:00:00+01:00"
            },
            {
              "workload": "evals/eval-2",
              "flavor": "a100",
              "resource": "nvidia.com/gpu",
              "quantity": "2",
              "until": "2026-11-30T13:00:00+01:00"
            }
          ],
          "otherBlockers": 0,
          "actions": [
            {
              "what": "2 more a100 GPUs from 12:00 to 13:00",
              "effect": "starts 12:00, ends 13:00"
            },
            {
              "what": "let eval-1 wait until 13:00, still in time",
              "effect": "starts 12:00, ends 13:00"
            }
          ],
          "plannedAt": "2026-11-30T12:00:00+01:00",
          "status": "Feasible"
        }"#]]
    .assert_eq(&json.expect("an explanation must be JSON"));
}

#[test]
fn strangers_are_not_explained() {
    let plan = planned(&touchstone(), &Policy::default());
    let key = WorkloadKey::new("evals", "ghost");
    assert_eq!(explain(&touchstone().snapshot, &Policy::default(), &plan, &key), None);
}

#[test]
fn a_start_yields_to_who_would_be_late_otherwise() {
    let given = given().queue("batch", 4).job("urgent", 4).due(at(70)).job("loose", 4);
    let codes = codes(&given, &Policy::default(), &started(&given, &[0, 60]));
    assert_eq!(codes, [[ReasonCode::StartsAtOnce], [ReasonCode::YieldsToDeadline]]);
}

#[test]
fn a_start_that_nothing_refuses_is_the_objectives_choice_or_kept() {
    let mut given = given().queue("batch", 4).job("first", 2).job("second", 2);
    let plan = started(&given, &[0, 60]);
    let policy = Policy { objective: Objective::LowestPeak, ..Policy::default() };
    assert_eq!(codes(&given, &policy, &plan)[1], [ReasonCode::ObjectivePrefers]);

    let key = WorkloadKey::new("evals", "second");
    given.snapshot.previous.push(PreviousRelease {
        key,
        flavor: FlavorName::from("a100"),
        start: at(60),
        end: None,
        late: None,
    });
    assert_eq!(codes(&given, &policy, &plan)[1], [ReasonCode::KeptStable]);
    let frozen = Policy { frozen_window: Seconds::HOUR + Seconds(1), ..policy };
    assert_eq!(codes(&given, &frozen, &plan)[1], [ReasonCode::Frozen]);
}

#[test]
fn everything_else_worth_knowing_follows_the_dominant_reason() {
    let restartable = Interruption::Restartable { cost: Seconds(300), max: 3 };
    let mut given = given().queue("batch", 4).job("odd", 2).minutes(400).without_slo().tolerates(restartable);
    given.snapshot.workloads[0].options[0].runtime.known = false;
    let mut plan = started(&given, &[0]);
    plan.releases[0].pieces = vec![Piece { start: noon(), end: at(10) }, Piece { start: at(20), end: at(425) }];
    plan.releases[0].end = at(425);
    let codes = codes(&given, &Policy::default(), &plan);
    let all = [
        ReasonCode::StartsAtOnce,
        ReasonCode::Interrupted,
        ReasonCode::Backfill,
        ReasonCode::RuntimeUnknown,
        ReasonCode::BeyondHorizon,
    ];
    assert_eq!(codes, [all]);
}

/// Two thousand jobs behind each other are explained in well under a second even without optimisation.
#[test]
fn two_thousand_releases_are_explained_in_one_pass() {
    let mut many = given().queue("batch", 8);
    for number in 0..2_000 {
        many = many.job(&format!("job-{number}"), 2).minutes(60 + number % 7);
    }
    let mut ends = [noon(); 4];
    let placements: Vec<_> = (0..2_000)
        .map(|workload| {
            let slot = (0..4).min_by_key(|slot| ends[*slot]).expect("four jobs fit at once");
            let start: Timestamp = ends[slot];
            ends[slot] = start + many.snapshot.workloads[workload].options[0].runtime.p50;
            Placement { workload, option: 0, start }
        })
        .collect();
    let mut plan = plan_of_releases(&many, &placements);
    let watch = Stopwatch::start();
    reasons(&many.snapshot, &Policy::default(), &mut plan);
    assert!(watch.millis() < u64::try_from(Duration::from_secs(2).as_millis()).expect("two seconds are few"));
    let waiting = plan.iter().filter(|r| r.reasons[0].code == ReasonCode::WaitsForCapacity).count();
    assert_eq!(waiting, 1_996);
}

/// Releases alone: the figures of a plan of thousands are not what is measured.
fn plan_of_releases(given: &Given, placements: &[Placement]) -> Vec<stagger::plan::proposal::Release> {
    let one = |placement: &Placement| crate::brute::release(&given.snapshot, &Policy::default(), *placement);
    let mut releases: Vec<_> = placements.iter().map(one).collect();
    releases.sort_by_key(|release| release.start);
    releases
}
