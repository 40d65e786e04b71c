//! The house rules that a compiler does not know, held by tests: which module may use which, how long a file may be,
//! where floating point and the solver may be named, and that the README tells the truth about its commands.
//!
//! Each rule is a function from sources to complaints (`rules`, `edges`, `docs`), run here over the repository; beside it
//! stands a bad text that it must catch. A complaint is `path:line: what is wrong`.

mod docs;
mod edges;
mod rules;
mod source;

use source::{Source, everything, rust};

#[track_caller]
fn holds(complaints: &[String], how_to_mend: &str) {
    assert!(complaints.is_empty(), "{}\nhint: {how_to_mend}", complaints.join("\n"));
}

#[track_caller]
fn catches(complaints: &[String], expected: &[&str]) {
    assert_eq!(complaints, expected);
}

#[test]
fn modules_use_only_what_their_edges_allow() {
    holds(&edges::module_edges(&rust("src")), "see the table in tests/it/tidy/edges.rs and ARCHITECTURE.md");
}

#[test]
fn the_checker_shares_nothing_with_the_formulation() {
    holds(&edges::checker_independence(&rust("src")), "plan::check knows the snapshot and the plan, nothing else");
}

#[test]
fn the_planner_knows_no_clock_no_files_and_no_environment() {
    holds(&edges::planner_purity(&rust("src")), "hand it in as an argument (plan::Watch, Policy)");
}

#[test]
fn solver_crates_are_named_only_where_the_model_is() {
    holds(&rules::solver_names(&rust("src")), "go through plan::solve");
}

#[test]
fn floating_point_lives_in_the_solver_only() {
    holds(&rules::floating_point(&rust("src")), "use the integer types of units.rs");
}

#[test]
fn files_stay_short() {
    holds(&rules::file_sizes(&rust("src")), "ask which second noun moved in, and give it a file");
}

#[test]
fn no_module_is_a_drawer() {
    holds(&rules::drawers(&rust("src")), "name it after what it does");
}

#[test]
fn nothing_is_left_unfinished() {
    holds(&rules::unfinished(&everything()), "finish it or take it out");
}

#[test]
fn no_path_of_somebodys_machine_is_written_down() {
    holds(&rules::machine_paths(&everything()), "use a path relative to the repository");
}

#[test]
fn links_between_pages_lead_somewhere() {
    holds(&docs::links(&everything()), "mend the link");
}

#[test]
fn symbols_on_the_page_of_formulas_exist() {
    holds(&docs::symbols(&everything()), "a renamed field or test takes docs/formulation.md along");
}

#[test]
fn files_begin_with_what_they_are_for() {
    holds(&rules::head_comments(&rust("src")), "say purpose, invariant and what is deliberately absent");
}

#[test]
fn commands_in_the_docs_exist() {
    holds(&docs::commands(&everything()), "the README is followed to the letter by somebody");
}

#[test]
fn every_binary_of_tests_is_run() {
    holds(&docs::test_binaries(&everything()), "name it in the recipe `test` of the Makefile");
}

#[test]
fn catches_tests_that_nobody_runs() {
    let makefile = Source::new("Makefile", "test:\n\tcargo test --release --test it\n");
    let bad = [makefile, Source::new("tests/it/main.rs", ""), Source::new("tests/slow/main.rs", "")];
    catches(&docs::test_binaries(&bad), &["tests/slow/main.rs: `make test` does not run it"]);
}

#[test]
fn scenario_folders_are_whole() {
    holds(&docs::scenario_folders(&everything()), "see CONTRIBUTING.md, \"Add a scenario\"");
}

#[test]
fn catches_an_edge_that_points_back() {
    let bad = [Source::new("src/plan/greedy.rs", "//! Greedy.\nuse crate::{kueue::quota, units::Seconds};\n")];
    catches(&edges::module_edges(&bad), &["src/plan/greedy.rs:2: `plan` may not use `kueue`"]);
}

#[test]
fn catches_an_edge_in_the_middle_of_an_expression() {
    let bad = [Source::new("src/report/csv.rs", "fn f() { let at = crate::clock::now(); }\n")];
    catches(&edges::module_edges(&bad), &["src/report/csv.rs:1: `report` may not use `clock`"]);
}

#[test]
fn catches_a_module_without_edges_of_its_own() {
    let bad = [Source::new("src/quota/mod.rs", "//! Quota.\n")];
    catches(&edges::module_edges(&bad), &["src/quota/mod.rs:1: `quota` has no row in the table of edges"]);
}

#[test]
fn catches_climbing_out_of_a_module() {
    let bad = [
        Source::new("src/plan/chart/rows.rs", "use super::super::snapshot;\n"),
        Source::new("src/plan/mod.rs", "use super::kueue;\nmod tests { use super::*; }\n"),
    ];
    let expected = [
        "src/plan/chart/rows.rs:1: `super::super` hides where it leads; write `crate::…`",
        "src/plan/mod.rs:1: `super::` leaves the module; write `crate::…`",
    ];
    catches(&edges::module_edges(&bad), &expected);
}

#[test]
fn catches_a_binary_with_logic() {
    let bad = [Source::new("src/main.rs", "fn main() { stagger::plan::propose(); stagger::cli::main(); }\n")];
    catches(&edges::module_edges(&bad), &["src/main.rs:1: a binary may use `stagger::cli` only, not `stagger::plan`"]);
}

#[test]
fn ignores_edges_in_comments_and_strings() {
    let good = [Source::new(
        "src/plan/greedy.rs",
        "// crate::kueue\n/* crate::cli */\nconst A: &str = \"crate::kueue\";\nconst B: &str = r#\"\"crate::cli\"#;\nconst C: char = '\"';\nfn f<'a>() { crate::units::div_ceil(1, 2); }\n",
    )];
    catches(&edges::module_edges(&good), &[]);
}

#[test]
fn catches_a_checker_that_peeks_at_the_search() {
    let bad = [
        Source::new("src/plan/check.rs", "use crate::plan::{grid::Grid, snapshot::Snapshot};\n"),
        Source::new("src/plan/check/quota.rs", "use crate::plan::Plan;\nuse crate::plan::formulation::Model;\n"),
    ];
    let expected = [
        "src/plan/check.rs:1: the checker uses `plan::grid`",
        "src/plan/check/quota.rs:2: the checker uses `plan::formulation`",
    ];
    catches(&edges::checker_independence(&bad), &expected);
}

#[test]
fn catches_a_planner_that_looks_at_the_world() {
    let bad = [Source::new("src/plan/solve.rs", "use std::{fs, time::Instant};\nasync fn solve() {}\n")];
    let expected = [
        "src/plan/solve.rs:1: the planner may not use `std::fs`",
        "src/plan/solve.rs:1: the planner may not use `std::time::Instant`",
        "src/plan/solve.rs:2: the planner may not be `async`",
    ];
    catches(&edges::planner_purity(&bad), &expected);
}

#[test]
fn catches_floating_point_and_solver_names_elsewhere() {
    let bad = [
        Source::new("src/report/text.rs", "fn share() -> f64 { 0.5 }\n"),
        Source::new("src/plan/greedy.rs", "use good_lp::Solution;\nuse highs::Model; // highs\n"),
        Source::new("src/plan/solve.rs", "use highs::Model;\nfn bound() -> f64 { 0.5 }\n"),
    ];
    catches(&rules::floating_point(&bad), &["src/report/text.rs:1: `f64` outside the solver"]);
    let expected = ["src/plan/greedy.rs:1: `good_lp` is named here", "src/plan/greedy.rs:2: `highs` is named here"];
    catches(&rules::solver_names(&bad), &expected);
}

#[test]
fn catches_a_long_file() {
    let bad = [Source::new("src/plan/all.rs", &"//\n".repeat(401))];
    catches(&rules::file_sizes(&bad), &["src/plan/all.rs:401: 401 lines, at most 400"]);
}

#[test]
fn catches_a_bare_file_a_drawer_and_unfinished_work() {
    let word = concat!("TO", "DO");
    let bad = [Source::new("src/plan/utils.rs", &format!("fn f() {{\n    // {word}: later\n}}\n"))];
    catches(&rules::head_comments(&bad), &["src/plan/utils.rs:1: no `//!` head"]);
    catches(&rules::drawers(&bad), &["src/plan/utils.rs:1: `utils` says nothing about what is inside"]);
    catches(&rules::unfinished(&bad), &[&format!("src/plan/utils.rs:2: `{word}`")]);
}

#[test]
fn catches_a_machine_path() {
    let path = concat!("/ho", "me/ana/plan.json");
    let bad = [Source::new("README.md", &format!("see {path}\n"))];
    catches(&rules::machine_paths(&bad), &[&format!("README.md:1: a path of one machine: `{}`", &path[..6])]);
}

#[test]
fn catches_commands_and_links_that_do_not_exist() {
    let bad = [
        Source::new("Makefile", "test: ## Test\n"),
        Source::new("src/cli/plan.rs", "//! Plan.\n"),
        Source::new("scenarios/a/a.yaml", "a: 1\n"),
        Source::new(
            "README.md",
            "```console\n$ make test\n$ make coffee\n$ stagger plan scenarios/a\n$ stagger plan scenarios/b\n$ stagger fly\n```\n[map](ARCHITECTURE.md) [here](#top) [makefile](Makefile)\n",
        ),
    ];
    let expected = [
        "README.md:3: `make coffee` is not in the Makefile",
        "README.md:5: there is no `scenarios/b`",
        "README.md:6: `stagger fly` is not a subcommand (no src/cli/fly.rs)",
    ];
    catches(&docs::commands(&bad), &expected);
    catches(&docs::links(&bad), &["README.md:8: the link to `ARCHITECTURE.md` leads nowhere"]);
}

#[test]
fn catches_a_symbol_that_was_renamed() {
    let bad = [
        Source::new("src/plan/snapshot.rs", "pub struct Due { pub at: Timestamp }\n"),
        Source::new("tests/it/quota.rs", "fn huge_amounts_saturate() {}\n"),
        Source::new(
            "docs/formulation.md",
            "`Due::at` `Due::when` `quota::huge_amounts_saturate`\n`quota::small_ones` `x`\n",
        ),
    ];
    let expected = [
        "docs/formulation.md:1: there is no `Due::when` under src/",
        "docs/formulation.md:2: there is no `quota::small_ones` under tests/it/quota",
    ];
    catches(&docs::symbols(&bad), &expected);
}

#[test]
fn catches_a_scenario_without_claim_or_expectation() {
    let bad = [
        Source::new("scenarios/a/a.yaml", "a: 1\n"),
        Source::new("scenarios/b/README.md", "# c\n\nToo long to be\na claim.\n"),
        Source::new("scenarios/b/plan.txt", "…\n"),
    ];
    let expected = [
        "scenarios/a/README.md:1: missing",
        "scenarios/a/plan.txt:1: missing",
        "scenarios/b/README.md:1: begins with `# b`",
        "scenarios/b/README.md:3: the claim is one sentence on one line",
        "scenarios/b/*.yaml:1: missing",
    ];
    catches(&docs::scenario_folders(&bad), &expected);
}
