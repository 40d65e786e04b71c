//! `plan::conflict`: which deadlines exclude each other, and what would help; the planner is the exhaustive oracle here.

use std::cell::Cell;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use stagger::names::WorkloadKey;
use stagger::plan::conflict::{Limits, conflicts};
use stagger::plan::proposal::{Conflict, Fix, Plan, Proof, Status};
use stagger::plan::snapshot::{CellId, NodeKind, Policy, ResourceGroup, Snapshot, WindowEffect};
use stagger::{calendar, plan};

use crate::brute::{plan_of, started_at_all};
use crate::given::{A100, Given, at, given};
use crate::oracle;

/// The proven best plan.
fn best(snapshot: &Snapshot, policy: &Policy) -> Plan {
    let (_, placements) = oracle::optimum(snapshot, policy).expect("every workload must fit some day");
    let placements = started_at_all(snapshot, policy, placements);
    let mut plan = plan_of(snapshot, policy, &placements);
    for level in &mut plan.quality.levels {
        level.bound = Some(level.value);
        level.proof = Proof::Exhaustive;
    }
    plan.quality.status = Status::Optimal;
    plan.quality.gap_millionths = Some(0);
    plan
}

fn found(given: &Given, limits: &Limits) -> Vec<Conflict> {
    let policy = Policy::default();
    let plan = best(&given.snapshot, &policy);
    conflicts(&given.snapshot, &policy, &plan, &best, limits)
}

/// Each conflict on a few lines, times in Madrid.
fn text(conflicts: &[Conflict]) -> String {
    let zone = calendar::zone("Europe/Madrid").expect("Madrid must be a zone");
    let clock = |at| calendar::clock_time(at, zone);
    let mut text = String::new();
    for conflict in conflicts {
        let names: Vec<_> = conflict.workloads.iter().map(WorkloadKey::name).collect();
        let label = if conflict.irreducible { "irreducible" } else { "not proven minimal" };
        writeln!(text, "{} ({label})\n  {}", names.join(" "), conflict.message).expect("a String takes all");
        for fix in &conflict.fixes {
            let line = match fix {
                Fix::AddCapacity { flavor, quantity, from, to, cost, .. } => {
                    let cost = cost.map_or(String::new(), |cost| format!(" for {cost}"));
                    format!("{} more {flavor} from {} to {}{cost}", quantity.0, clock(*from), clock(*to))
                }
                Fix::MoveDeadline { workload, by, to } => {
                    format!("{} due {by} later, {}", workload.name(), clock(*to))
                }
                Fix::AllowInterruption { workload } => format!("{} interruptible", workload.name()),
                Fix::UseFlavor { workload, flavor } => format!("{} on {flavor}", workload.name()),
                Fix::StartEarlier { workload, by } => format!("{} {by} earlier", workload.name()),
            };
            writeln!(text, "  - {line}").expect("a String takes all");
        }
    }
    text
}

fn tells(given: &Given, expected: &Expect) {
    expected.assert_eq(&text(&found(given, &Limits::default())));
}

#[test]
fn too_much_work_before_one_due_time_is_certified() {
    let mut given = given().queue("batch", 4).price(A100, 2);
    for name in ["eval-1", "eval-2", "eval-3", "eval-4"] {
        given = given.job(name, 2).minutes(60).due(at(60));
    }
    tells(
        &given,
        &expect![[r#"
        eval-2 eval-3 eval-4 (irreducible)
          3 workloads must do 6 GPU-hours on a100 between 12:00 and 13:00, which holds 4 (4 at a time).
          - 4 more a100 from 12:00 to 13:00 for 8.00
    "#]],
    );
}

#[test]
fn what_does_not_pack_is_filtered_to_the_least() {
    // Two of three GPUs each: one after the other takes four hours of three, though the GPU-hours would suffice.
    let mut given = given().queue("batch", 3);
    for name in ["eval-1", "eval-2", "eval-3", "eval-4"] {
        given = given.job(name, 2).minutes(60).due(at(180));
    }
    tells(
        &given.job("small", 1).minutes(60).due(at(180)),
        &expect![[r#"
            eval-1 eval-2 eval-3 eval-4 (irreducible)
              4 workloads cannot all end in time.
              - eval-4 due 1 h later, 16:00
              - 1 more a100 from 12:00 to 14:00
        "#]],
    );
}

#[test]
fn a_workload_too_long_for_its_own_time_conflicts_alone() {
    tells(
        &given().queue("batch", 4).job("train", 2).minutes(120).due(at(60)),
        &expect![[r#"
        train (irreducible)
          train takes 2 h and may not start before 12:00, so it cannot end by 13:00.
          - train due 1 h later, 14:00
    "#]],
    );
}

#[test]
fn not_before_is_questioned() {
    tells(
        &given().queue("batch", 4).job("train", 2).not_before(at(270)).due(at(300)),
        &expect![[r#"
        train (irreducible)
          train takes 1 h and may not start before 16:30, so it cannot end by 17:00.
          - train 30 min earlier
          - train due 30 min later, 17:30
    "#]],
    );
}

#[test]
fn another_flavor_of_the_queue_is_offered() {
    let h100 = CellId(1);
    let mut given = given().flavor("h100").queue("batch", 2).nominal(h100, 2);
    if let NodeKind::ClusterQueue(rules) = &mut given.snapshot.nodes[0].kind {
        let cells = &given.snapshot.cells;
        let flavors = cells.iter().map(|cell| cell.flavor.clone()).collect();
        rules.groups = vec![ResourceGroup { resources: vec![cells[0].resource.clone()], flavors }];
    }
    tells(
        &given.job("eval-1", 2).due(at(60)).job("eval-2", 2).due(at(60)),
        &expect![[r#"
            eval-1 eval-2 (irreducible)
              eval-1 and eval-2 must do 4 GPU-hours on a100 between 12:00 and 13:00, which holds 2 (2 at a time).
              - eval-2 on h100
              - eval-2 due 1 h later, 14:00
              - 2 more a100 from 12:00 to 13:00
        "#]],
    );
}

#[test]
fn running_work_and_windows_count_against_what_an_interval_holds() {
    let given = given()
        .queue("batch", 4)
        .running("train", "batch", 2, at(60))
        .window("batch", WindowEffect::Reserve, 2, (at(60), at(90)))
        .job("eval-1", 2)
        .due(at(90))
        .job("eval-2", 2)
        .due(at(90));
    tells(
        &given,
        &expect![[r#"
            eval-1 eval-2 (irreducible)
              eval-1 and eval-2 must do 2 GPU-hours on a100 between 12:30 and 13:00, which holds 1 (2 at a time).
              - eval-2 due 30 min later, 14:00
              - 2 more a100 from 12:30 to 13:00
        "#]],
    );
}

#[test]
fn no_conflict_without_a_missed_hard_deadline() {
    let given = given().queue("batch", 2).job("eval-1", 2).due(at(60)).job("eval-2", 2);
    assert_eq!(found(&given, &Limits::default()), []);
}

#[test]
fn the_planner_is_asked_no_more_often_than_allowed() {
    let mut given = given().queue("batch", 3);
    for name in ["eval-1", "eval-2", "eval-3", "eval-4"] {
        given = given.job(name, 2).minutes(60).due(at(180));
    }
    let policy = Policy::default();
    let plan = best(&given.snapshot, &policy);
    for solves_max in [0, 1, 3, 7] {
        let asked = Cell::new(0);
        let counting = |snapshot: &Snapshot, policy: &Policy| {
            asked.set(asked.get() + 1);
            best(snapshot, policy)
        };
        let limits = Limits { solves_max, conflicts_max: 1, fixes_max: 5 };
        let found = conflicts(&given.snapshot, &policy, &plan, &counting, &limits);
        assert!(asked.get() <= solves_max, "{} of {solves_max}", asked.get());
        // One plan for the whole and one without each of the four.
        let shown = solves_max >= 5;
        assert!(found.iter().all(|conflict| conflict.irreducible == shown), "nothing is claimed that was not shown");
    }
}

/// The planner under test, bounded by steps.
fn proposed(snapshot: &Snapshot, policy: &Policy) -> Plan {
    let policy = Policy { step_limit: Some(2_000), ..policy.clone() };
    plan::propose::propose(snapshot, &policy, &plan::watch::Unwatched)
}

#[test]
fn an_interruption_is_offered_only_when_a_plan_used_one() {
    let given = given()
        .queue("batch", 2)
        .window("batch", WindowEffect::Cap, 0, (at(60), at(90)))
        .job("train", 2)
        .minutes(120)
        .due(at(180));
    let policy = Policy::default();
    let plan = proposed(&given.snapshot, &policy);
    let found = conflicts(&given.snapshot, &policy, &plan, &proposed, &Limits::default());
    expect![[r#"
        train (irreducible)
          train must do 2 GPU-hours on a100 between 13:00 and 14:00, which holds 1.
          - train interruptible
          - train due 30 min later, 15:30
    "#]]
    .assert_eq(&text(&found));
}

#[test]
fn the_planner_itself_finds_the_same_conflicts() {
    let mut given = given().queue("batch", 4);
    for name in ["eval-1", "eval-2", "eval-3"] {
        given = given.job(name, 2).minutes(60).due(at(60));
    }
    let policy = Policy::default();
    let plan = proposed(&given.snapshot, &policy);
    let found = conflicts(&given.snapshot, &policy, &plan, &proposed, &Limits::default());
    expect![[r#"
        eval-1 eval-2 eval-3 (irreducible)
          3 workloads must do 6 GPU-hours on a100 between 12:00 and 13:00, which holds 4 (4 at a time).
          - eval-3 due 1 h later, 14:00
          - 2 more a100 from 12:00 to 13:00
    "#]]
    .assert_eq(&text(&found));
}
