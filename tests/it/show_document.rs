//! `plan::document`: a plan survives JSON, and a wrong document is told where it is wrong.

use expect_test::expect;
use stagger::failure::Finding;
use stagger::names::{FlavorName, ResourceName, WorkloadKey};
use stagger::plan::document::{from_json, to_json};
use stagger::plan::proposal::{Conflict, Fix, Level, LevelName, Plan, Proof, Status, Summary};
use stagger::units::{Amount, Money, Seconds};

use crate::given::{A100, at, given, touchstone};
use crate::planned::planned;

fn touchstone_plan() -> Plan {
    let planned = planned(touchstone().snapshot);
    planned.run("eval-1", 0, 60).run("eval-2", 0, 60).run("eval-3", 60, 120).run("eval-4", 60, 120).done().1
}

/// Everything a plan can hold at once.
fn full_plan() -> Plan {
    let given = given().queue("batch", 4).price(A100, 2).job("a", 2).runtime(60, 90).due(at(80)).job("b", 4);
    let mut plan = planned(given.snapshot).run("a", 0, 60).pieces("b", &[(90, 120), (150, 180)]).done().1;
    plan.releases[0].tenant = Some("vision".into());
    plan.releases[0].uses.push((FlavorName::from("cpus"), ResourceName::from("cpu"), Amount(1500)));
    plan.releases[0].resources.push((ResourceName::from("cpu"), Amount(1500)));
    plan.summary.cost = Some(Money { nanos: 12_345_678_900 });
    plan.summary.currency = Some("EUR".to_owned());
    let currency = Some("EUR".to_owned());
    plan.before.all_at_once.currency.clone_from(&currency);
    plan.before.kueue_alone = Some(Summary { late: 1, currency, ..Summary::default() });
    plan.quality.status = Status::Feasible;
    plan.quality.gap_millionths = Some(1);
    plan.quality.levels.push(Level {
        name: LevelName::Completion,
        value: i128::from(i64::MAX) * 4,
        bound: None,
        proof: Proof::Heuristic,
    });
    plan.quality.levels.push(Level {
        name: LevelName::Cost,
        value: 12_345_678_900,
        bound: Some(12_000_000_000),
        proof: Proof::Lp,
    });
    let workload = || WorkloadKey::new("evals", "a");
    plan.infeasible.push(Conflict {
        workloads: vec![workload(), WorkloadKey::new("evals", "b")],
        irreducible: true,
        message: "2 jobs must do 6 GPU-hours".to_owned(),
        fixes: vec![
            Fix::AddCapacity {
                flavor: FlavorName::from("a100"),
                resource: ResourceName::from("nvidia.com/gpu"),
                quantity: Amount(2),
                from: at(0),
                to: at(60),
                cost: Some(Money { nanos: 4_000_000_000 }),
            },
            Fix::MoveDeadline { workload: workload(), by: Seconds(3600), to: at(140) },
            Fix::AllowInterruption { workload: workload() },
            Fix::UseFlavor { workload: workload(), flavor: FlavorName::from("h100") },
            Fix::StartEarlier { workload: workload(), by: Seconds(60) },
        ],
    });
    plan.problems
        .push(Finding::warning("SG014", "Job evals/a", "no runtime is declared").hint("declare expectedRuntime"));
    plan
}

#[test]
fn a_plan_survives_the_round_trip() {
    for plan in [touchstone_plan(), full_plan()] {
        let text = to_json(&plan);
        assert_eq!(from_json(&text), Ok(plan), "{text}");
    }
}

#[test]
fn the_touchstone_document_reads_as_documented() {
    let text = to_json(&touchstone_plan());
    let until_second_release =
        text.split("},\n    {\n      \"workload\": \"evals/eval-2\"").next().unwrap_or_default().trim_end();
    expect![[r#"
        {
          "apiVersion": "stagger.dev/plan/v1",
          "kind": "Plan",
          "inputDigest": "9f2c4e9f2c4e9f2c4e9f2c4e9f2c4e9f2c4e9f2c4e9f2c4e9f2c4e9f2c4e",
          "now": "2026-11-30T12:00:00+01:00",
          "horizonEnd": "2026-11-30T17:00:00+01:00",
          "timeZone": "Europe/Madrid",
          "objective": "EarliestFinish",
          "promise": "p50",
          "quality": {
            "status": "Optimal",
            "levels": [
              {
                "name": "HardMissed",
                "value": 0,
                "bound": 0,
                "proof": "Trivial"
              },
              {
                "name": "SoftLost",
                "value": 0,
                "bound": 0,
                "proof": "Trivial"
              }
            ],
            "gap": 0,
            "seconds": 0.012,
            "seed": 1
          },
          "summary": {
            "onTime": 4,
            "atRisk": 0,
            "late": 0,
            "withoutVerdict": 0,
            "peak": [
              {
                "flavor": "a100",
                "resource": "nvidia.com/gpu",
                "peak": "4",
                "capacity": "4",
                "at": "2026-11-30T12:00:00+01:00"
              }
            ],
            "makespanSeconds": 7200,
            "gpuSeconds": 28800,
            "cost": null
          },
          "releases": [
            {
              "workload": "evals/eval-1",
              "kind": "Job",
              "tenant": null,
              "clusterQueue": "batch",
              "flavor": "a100",
              "resources": {
                "nvidia.com/gpu": "2"
              },
              "start": "2026-11-30T12:00:00+01:00",
              "end": "2026-11-30T13:00:00+01:00",
              "endP90": "2026-11-30T13:00:00+01:00",
              "finishBy": "2026-11-30T17:00:00+01:00",
              "slackSeconds": 14400,
              "verdict": "OnTime",
              "reasons": [
                {
                  "code": "StartsAtOnce",
                  "message": "starts as early as it may"
                }
              ]"#]]
    .assert_eq(until_second_release);
}

#[test]
fn money_and_quantities_are_strings_and_large_integers_too() {
    let text = to_json(&full_plan());
    for part in [
        r#""amount": "12.3456789""#,
        r#""value": "12.3456789""#,
        r#""value": "36893488147419103228""#,
        r#""cpu": "1500m""#,
        r#""gap": 1e-6"#,
        r#""seconds": 0.012"#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn unknown_fields_are_ignored_by_readers() {
    let text = to_json(&touchstone_plan()).replacen("\"kind\"", "\"since\": {\"v\": [2]}, \"kind\"", 1);
    assert_eq!(from_json(&text), Ok(touchstone_plan()));
}

#[test]
fn a_wrong_field_is_named_with_what_was_expected() {
    let good = to_json(&touchstone_plan());
    let told = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} in {good}");
        from_json(&good.replacen(from, to, 1)).expect_err("the document must be refused").to_string()
    };
    let all = [
        told("stagger.dev/plan/v1", "stagger.dev/plan/v9"),
        told("\"kind\": \"Plan\"", "\"kind\": \"WhatIf\""),
        told("\"start\": \"2026-11-30T12:00:00+01:00\"", "\"start\": \"noon\""),
        told("\"nvidia.com/gpu\": \"2\"", "\"nvidia.com/gpu\": 2"),
        told("\"nvidia.com/gpu\": \"2\"", "\"nvidia.com/gpu\": \"1500m\""),
        told("\"verdict\": \"OnTime\"", "\"verdict\": \"Perhaps\""),
        told("\"timeZone\": \"Europe/Madrid\"", "\"timeZone\": \"Mars/Base\""),
        told("\"seconds\": 0.012", "\"seconds\": 0.0125"),
        from_json("[]").expect_err("a list must be refused").to_string(),
        from_json("").expect_err("nothing must be refused").to_string(),
    ];
    expect![[r#"
        apiVersion: this stagger reads `stagger.dev/plan/v1`, found `stagger.dev/plan/v9`
        kind: expected `Plan`, found `WhatIf`
        releases[0].start: `noon` is not an RFC 3339 instant with a zone, such as 2026-11-30T17:00:00+01:00 at line 58 column 21
        releases[0].resources.nvidia.com/gpu: invalid type: integer `2`, expected a string at line 56 column 27
        releases[0].resources: the quantity of `nvidia.com/gpu` is not a whole number of units
        releases[0].verdict: unknown variant `Perhaps`, expected one of `OnTime`, `AtRisk`, `Late`, `NoDeadline`, `Unknown` at line 63 column 26
        timeZone: `Mars/Base` is not an IANA time zone such as Europe/Madrid
        quality.seconds: `0.0125` is not a number from 0 on, with at most 3 places at line 27 column 21
        .: invalid length 0, expected a plan document at line 1 column 2
        .: EOF while parsing a value at line 1 column 0
    "#]].assert_eq(&(all.join("\n") + "\n"));
}
