//! `plan::chart` and `plan::sentence`: what a person sees.

use expect_test::{Expect, expect};
use stagger::plan::chart::{Look, draw};
use stagger::plan::proposal::Plan;
use stagger::plan::sentence::headline;
use stagger::plan::snapshot::{Interruption, Snapshot, WindowEffect};
use stagger::units::Seconds;

use stagger::plan::snapshot::CellId;

use crate::given::{at, given, touchstone};
use crate::planned::{planned, scene};

fn check((snapshot, plan): &(Snapshot, Plan), look: Look, expected: &Expect) {
    let chart = draw(&scene(snapshot, plan), look);
    expected.assert_eq(&format!("{chart}\n{}\n", headline(plan)));
}

const UNICODE: Look = Look { width: 100, unicode: true };
const ASCII: Look = Look { width: 80, unicode: false };

fn touchstone_plan() -> (Snapshot, Plan) {
    let planned = planned(touchstone().snapshot);
    planned.run("eval-1", 0, 60).run("eval-2", 0, 60).run("eval-3", 60, 120).run("eval-4", 60, 120).done()
}

/// Running work, an interruption, a late end, a p90 tail, a window, two flavors, a due time far away.
fn everything() -> (Snapshot, Plan) {
    let checkpoints = Interruption::Checkpointable { interval: Seconds(600), cost: Seconds(60), max: 3 };
    let given = given()
        .flavor("h100")
        .queue("batch", 4)
        .nominal(CellId(1), 8)
        .running("serving-warmup", "batch", 2, at(45))
        .window("batch", WindowEffect::Reserve, 2, (at(120), at(180)))
        .job("late", 4)
        .minutes(60)
        .due(at(90))
        .job("split", 2)
        .minutes(120)
        .tolerates(checkpoints)
        .job("risky", 2)
        .runtime(60, 150)
        .due(at(330))
        .job("a-job-with-a-name-that-nobody-wants-to-read-in-full-7", 2)
        .due(at(30_000));
    let mut given = given;
    let far = given.snapshot.workloads.last_mut().expect("given above");
    far.options[0].flavor = "h100".into();
    far.options[0].uses[0].0 = CellId(1);
    planned(given.snapshot)
        .run("a-job-with-a-name-that-nobody-wants-to-read-in-full-7", 0, 60)
        .run("late", 45, 105)
        .pieces("split", &[(105, 120), (180, 285)])
        .run("risky", 200, 260)
        .done()
}

#[test]
fn the_touchstone_is_read_at_a_glance() {
    check(
        &touchstone_plan(),
        UNICODE,
        &expect![[r#"
        Europe/Madrid Mon 30 Nov
                      12:00       13:00       14:00       15:00       16:00
        evals/eval-1  ████████████                                                ▲ on time +4h
        evals/eval-2  ████████████                                                ▲ on time +4h
        evals/eval-3              ████████████                                    ▲ on time +3h
        evals/eval-4              ████████████                                    ▲ on time +3h

        a100 capacity ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄ at most 4
          planned     ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄                                      peak 4 of 4
          at once     ████████████                                                  peak 8 of 4 OVER
        one column is 5 min   █ planned   ▲ due

        4 of 4 deadlines met with the 4 a100 you have; started at once they would need 8. Last one ends 14:00.
    "#]],
    );
}

#[test]
fn the_touchstone_needs_no_unicode() {
    check(
        &touchstone_plan(),
        ASCII,
        &expect![[r#"
        Europe/Madrid Mon 30 Nov
                      12:00       14:00       16:00
        evals/eval-1  ######                        ^ on time +4h
        evals/eval-2  ######                        ^ on time +4h
        evals/eval-3        ######                  ^ on time +3h
        evals/eval-4        ######                  ^ on time +3h

        a100 capacity 4444444444444444444444444444444 at most 4
          planned     444444444444                    peak 4 of 4
          at once     888888                          peak 8 of 4 OVER
        one column is 10 min   # planned   ^ due

        4 of 4 deadlines met with the 4 a100 you have; started at once they would need 8. Last one ends 14:00.
    "#]],
    );
}

#[test]
fn every_state_has_its_own_glyph_and_word() {
    check(
        &everything(),
        UNICODE,
        &expect![[r#"
            Europe/Madrid                     Mon 30 Nov
                                              12:00       14:00       16:00
            [a100]
            evals/serving-warmup              ▒▒▒▒▒                                running
            evals/late                            █████▲×                          LATE 15m
            evals/split                                 ██······███████████
            evals/risky                                           ██████░░░░░░░▲░  AT RISK
            [h100]
            evals/a-job-with~o-read-in-full-7 ██████                             › on time +20d19h

            a100 capacity                     ▄▄▄▄▄▄▄▄▄▄▄▄▂▂▂▂▂▂▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄ at most 4
              planned                         ▂▂▂▂▄▄▄▄▄▄▄▂      ▂▂▄▄▄▄▄▄▂▂▂        peak 4 of 4
              at once                         ██████▂▂▂▂▂▂                         peak 10 of 4 OVER
            h100 capacity                     ████████████████████████████████████ at most 8
              planned                         ▂▂▂▂▂▂                               peak 2 of 8
              at once                         ▂▂▂▂▂▂                               peak 2 of 8
            one column is 10 min   █ planned   ▒ running   ░ to p90   · interrupted   × past due   ▲ due   › due later

            1 of 3 deadlines met with the 4 a100 and 8 h100 you have; started at once they would need 10 a100. 1 is at risk: in time at the median, not at p90. 1 late: evals/late by 15 min. Last one ends 16:45.
        "#]],
    );
    check(
        &everything(),
        ASCII,
        &expect![[r#"
            Europe/Madrid              Mon 30 Nov
                                       12:00     14:00     16:00
            [a100]
            evals/serving-warmup       ====                           running
            evals/late                    ####^x                      LATE 15m
            evals/split                        ##.....#########
            evals/risky                                ######-----^-- AT RISK
            [h100]
            evals/a-job-~ead-in-full-7 #####                        > on time +20d19h

            a100 capacity              444444444422222444444444444444 at most 4
              planned                  2224444442     244444422       peak 4 of 4
              at once                  8888822222                     peak 10 of 4 OVER
            h100 capacity              888888888888888888888888888888 at most 8
              planned                  22222                          peak 2 of 8
              at once                  22222                          peak 2 of 8
            one column is 12 min   # planned   = running   - to p90   . interrupted   x past due   ^ due   > due later

            1 of 3 deadlines met with the 4 a100 and 8 h100 you have; started at once they would need 10 a100. 1 is at risk: in time at the median, not at p90. 1 late: evals/late by 15 min. Last one ends 16:45.
        "#]],
    );
}

#[test]
fn many_workloads_become_groups_with_counts() {
    let mut given = given().queue("batch", 8);
    for job in 0..120 {
        given = given.job(&format!("job-{job}"), 1).minutes(30).due(at(420));
    }
    let mut planned = planned(given.snapshot);
    for job in 0..120 {
        planned = planned.run(&format!("job-{job}"), job / 8 * 30, job / 8 * 30 + 30);
    }
    check(
        &planned.done(),
        UNICODE,
        &expect![[r#"
            Europe/Madrid  Mon 30 Nov
                           12:00       14:00       16:00       18:00
            batch Job x120 █████████████████████████████████████████████  up to 8, 8 LATE

            a100 capacity  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄ at most 8
              planned      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄  peak 8 of 8
              at once      ███                                            peak 120 of 8 OVER
            one column is 10 min

            112 of 120 deadlines met with the 8 a100 you have; started at once they would need 120. 8 late: evals/job-112 by 30 min, evals/job-113 by 30 min, evals/job-114 by 30 min and 5 more. Last one ends 19:30.
        "#]],
    );
}

#[test]
fn a_chart_is_never_wider_than_asked() {
    for width in [50, 61, 80, 200] {
        for look in [Look { width, unicode: true }, Look { width, unicode: false }] {
            let (snapshot, plan) = everything();
            let chart = draw(&scene(&snapshot, &plan), look);
            let rows = chart.lines().filter(|line| !line.starts_with("one column"));
            for row in rows {
                assert!(row.chars().count() <= width, "{width}: {row}");
            }
        }
    }
}

#[test]
fn days_are_named_where_they_begin() {
    let given = given().queue("batch", 1).job("long", 1).minutes(60 * 40).due(at(60 * 50));
    check(
        &planned(given.snapshot).run("long", 0, 60 * 40).done(),
        UNICODE,
        &expect![[r#"
            Europe/Madrid Mon 30 Nov  Tue 01 Dec              Wed 02 Dec
                          12:00       00:00       12:00       00:00       12:00
            evals/long    ████████████████████████████████████████          ▲ on time +10h

            a100 capacity ███████████████████████████████████████████████████ at most 1
              planned     ████████████████████████████████████████            peak 1 of 1
              at once     ████████████████████████████████████████            peak 1 of 1
            one column is 1 h   █ planned   ▲ due

            The one deadline is met with the 1 a100 you have. Last one ends Wed 02 04:00.
        "#]],
    );
}

#[test]
fn nothing_to_plan_is_said() {
    check(
        &planned(given().queue("batch", 4).snapshot).done(),
        UNICODE,
        &expect![[r#"

        Nothing to plan: no workload waits for quota.
    "#]],
    );
}
