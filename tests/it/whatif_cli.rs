//! `stagger whatif` from outside: its document, its exit codes, and what it says of bad options.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use stagger::clock::Stopwatch;

use crate::cli::{json, run};

fn scenario(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).display().to_string()
}

#[test]
fn the_document_has_the_promised_shape() {
    let ran = run(&["whatif", &scenario("noon-evals"), "--add", "a100=4", "-o", "json", "--steps", "20000"]);
    assert_eq!((ran.code, ran.talk.as_str()), (0, ""), "{}", ran.out);
    let document = json(&ran.out);
    assert_eq!(document["apiVersion"], "stagger.dev/whatif/v1");
    assert_eq!(document["kind"], "WhatIf");
    assert_eq!(document["verdict"]["kind"], "DontBuy");
    assert!(document["verdict"]["minimalAddition"].is_null());
    assert_eq!(
        document["verdict"]["sentence"],
        "Do not buy. Staggering meets all 4 deadlines with the 4 GPUs you have; started at once they would need 8."
    );
    assert_eq!(document["smallestPool"]["gpus"], 2);
    assert_eq!(document["smallestPool"]["quantity"], "2");
    assert_eq!(document["smallestPool"]["proven"], true);
    assert_eq!(document["smallestPool"]["endsAt"], "2026-11-30T16:00:00+01:00");
    let rows = document["rows"].as_array().expect("rows must be a list");
    let options: Vec<&str> = rows.iter().filter_map(|row| row["option"].as_str()).collect();
    assert_eq!(options, ["allAtOnce", "kueueAlone", "staggered", "smallestPool", "add a100=4"]);
    for row in rows {
        for key in ["add", "onTime", "late", "peak", "makespanSeconds", "gpuSeconds"] {
            assert!(!row[key].is_null(), "{key} in {row}");
        }
        for key in ["cost", "costPerOutcome", "marginalValue"] {
            assert!(row.get(key).is_some(), "{key} in {row}");
        }
        assert_eq!(row["gpuSeconds"], 28_800);
    }
    assert_eq!(rows[0]["peak"][0]["peak"], "8");
    assert_eq!((&rows[2]["onTime"], &rows[2]["makespanSeconds"]), (&json("4"), &json("7200")));
    assert_eq!(rows[4]["add"][0]["quantity"], "4");
}

#[test]
fn a_resume_file_gives_the_same_answer_and_refuses_another_question() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("resume.json");
    let path = file.display().to_string();
    let evals = scenario("noon-evals");
    let asked = |more: &[&str]| {
        let ran = run(&[&["whatif", &evals, "-o", "json", "--steps", "20000"], more].concat());
        let lines = ran.out.lines().filter(|line| !line.contains("\"seconds\"")).collect::<Vec<_>>().join("\n");
        (ran.code, lines, ran.talk)
    };
    let plain = asked(&["--add", "a100=4"]);
    let first = asked(&["--add", "a100=4", "--resume", &path]);
    let again = asked(&["--add", "a100=4", "--resume", &path]);
    assert_eq!((first.0, &first.1, again.0, &again.1), (0, &plain.1, 0, &plain.1));
    let taken = |talk: &str| {
        let numbers: Vec<u64> = talk.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [taken, kept] = numbers.as_slice() else { panic!("{talk}") };
        (*taken, *kept)
    };
    let (first, again) = (taken(&first.2), taken(&again.2));
    // Some plans are asked for twice in one comparison; the second time all are there.
    assert_eq!(again, (first.0 + first.1, first.1));
    for (more, wrong) in [
        (&["--add", "a100=4", "--seed", "2"][..], "this is seed 2"),
        (&["--add", "a100=3"], "another input, other options or another budget of steps"),
        (&["--add", "a100=4", "--now", "2026-11-30T12:01:00+01:00"], "another input"),
    ] {
        let (code, out, talk) = asked(&[more, &["--resume", &path]].concat());
        assert_eq!((code, out.as_str()), (7, ""), "{talk}");
        assert!(talk.contains(wrong), "{talk}");
    }
    std::fs::write(&file, "{\"apiVersion\": \"stagger.dev/plan/v1\"}").expect("a temporary file can be written");
    let (code, _, talk) = asked(&["--resume", &path]);
    assert_eq!(code, 7, "{talk}");
    assert!(talk.contains("it is no resume file"), "{talk}");
}

#[test]
fn a_killed_comparison_goes_on_from_what_it_had_written() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("resume.json");
    let path = file.display().to_string();
    let day = scenario("realistic-day");
    let asked = |limit: &str| ["whatif", &day, "--resume", &path, "--time-limit", limit].map(str::to_owned);
    let first: Vec<String> = asked("2s").to_vec();
    let mut process = Command::new(env!("CARGO_BIN_EXE_stagger"))
        .args(&first)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary must start");
    // No more is waited for than that something is there: then it is killed in the middle.
    let begun = Stopwatch::start();
    while !file.exists() {
        assert!(begun.millis() < 120_000, "nothing was written");
        assert!(process.try_wait().expect("it can be asked").is_none(), "it ended before anything was written");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    process.kill().and_then(|()| process.wait()).expect("it can be killed");
    let arguments = asked("300ms");
    let again = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let told = again.talk.lines().find(|line| line.contains(" plans were taken from ")).unwrap_or_default();
    let taken: usize = told.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
    assert!(taken > 0, "{}", again.talk);
}

#[test]
fn missed_deadlines_end_with_4_and_are_written_all_the_same() {
    let ran = run(&["whatif", &scenario("relax-or-rent"), "-o", "json", "--steps", "20000"]);
    assert_eq!(ran.code, 4, "{}", ran.talk);
    let verdict = &json(&ran.out)["verdict"];
    assert_eq!(verdict["kind"], "RelaxOrBuy");
    let bought = &verdict["minimalAddition"];
    assert_eq!((&bought["flavor"], &bought["quantity"]), (&json("\"a100\""), &json("\"4\"")));
    assert_eq!(bought["cost"], json(r#"{"amount": "5.00", "currency": "EUR"}"#));
    assert_eq!(
        (&bought["from"], &bought["to"]),
        (&json("\"2026-11-30T12:30:00+01:00\""), &json("\"2026-11-30T13:00:00+01:00\""))
    );
    let buy = json(&run(&["whatif", &scenario("buy-before-launch"), "-o", "json", "--steps", "20000"]).out);
    assert_eq!(buy["verdict"]["kind"], "Buy");
    assert_eq!(buy["verdict"]["minimalAddition"]["quantity"], "8");
    assert_eq!(buy["verdict"]["minimalAddition"]["cost"]["amount"], "60.00");
    assert_eq!(buy["smallestPool"]["gpus"], 12);
    assert_eq!(buy["smallestPool"]["proven"], true);
    // The Scenario's own options are rows, a reservation for no less than its minimum.
    let rented =
        buy["rows"].as_array().and_then(|rows| rows.iter().find(|row| row["option"] == "rent a node until the launch"));
    let when = &rented.expect("the option must be a row")["add"][0]["when"][0];
    assert_eq!(
        (&when["from"], &when["to"]),
        (&json("\"2026-11-30T12:00:00+01:00\""), &json("\"2026-11-30T16:00:00+01:00\""))
    );
}

#[test]
fn every_bad_option_is_told_in_one_run() {
    let ran = run(&[
        "whatif",
        &scenario("noon-evals"),
        "--add",
        "h200=4",
        "--add",
        "a100",
        "--add",
        "a100=two",
        "--remove",
        "a100=5",
        "--outage",
        "a100=1",
        "--outage",
        "a100=1@+2h/+1h",
        "--price",
        "a100=cheap",
        "--grow",
        "lots",
        "--add",
        "a100:nobody=1",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    for said in [
        "read `a100`: no `=`; expected FLAVOR[:QUEUE]=N[@FROM/TO]",
        "read `a100=two`: `two` is no whole number",
        "--outage: read `a100=1`: no time; expected FLAVOR[:QUEUE]=N@FROM/TO",
        "read `a100=1@+2h/+1h`: it ends before it begins",
        "--price: read `a100=cheap`",
        "--grow: read `lots`: no whole number; expected a whole percentage",
        "--add h200=4: no queue knows the flavor `h200`; there are: a100",
        "--remove a100=5: takes 5 a100 away where batch has 4; at most 4",
        "no ClusterQueue or Cohort `nobody` is there; there are: batch",
    ] {
        assert!(ran.talk.contains(said), "{said} is not in:\n{}", ran.talk);
    }
}

#[test]
fn a_reservation_begins_after_its_lead_time_and_lasts_its_minimum() {
    let options = |text: &str| {
        format!(
            "apiVersion: stagger.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: noon}}\nspec:\n  now: \"2026-11-30T12:00:00+01:00\"\n  timeZone: Europe/Madrid\n  horizon: 5h\n  options:\n  - name: reserved\n    {text}\n"
        )
    };
    let cluster =
        std::fs::read_to_string(Path::new(&scenario("noon-evals")).join("noon-evals.yaml")).expect("readable");
    let rest = cluster.split_once("---").expect("the Scenario stands first").1;
    let with = |text: &str| {
        let (dir, path) = crate::cli::folder(&[("noon.yaml", &format!("{}---{rest}", options(text)))]);
        let ran = run(&["whatif", &path("noon.yaml"), "-o", "json", "--steps", "20000"]);
        drop(dir);
        ran
    };
    let ran = with(
        "add: [{flavor: a100, quantity: 2, to: \"2026-11-30T13:30:00+01:00\", leadTime: 1h, minimumDuration: 2h}]",
    );
    let rows = json(&ran.out)["rows"].clone();
    let reserved = rows.as_array().and_then(|rows| rows.iter().find(|row| row["option"] == "reserved")).cloned();
    let when = reserved.expect("the option must be a row")["add"][0]["when"][0].clone();
    assert_eq!(when, json(r#"{"from": "2026-11-30T13:00:00+01:00", "to": "2026-11-30T15:00:00+01:00"}"#));
    // What is wrong with an option is told with its place, and nothing is written.
    let ran = with("add: [{flavor: b100, quantity: 2}]");
    assert_eq!((ran.code, ran.out.as_str()), (7, ""));
    assert!(ran.talk.contains("no queue knows the flavor `b100`; there are: a100"), "{}", ran.talk);
    assert!(ran.talk.contains("noon.yaml:"), "{}", ran.talk);
}

#[test]
fn there_are_at_most_so_many_options() {
    let mut arguments = vec!["whatif".to_owned(), scenario("noon-evals")];
    arguments.extend((0..33).map(|_| "--add=a100=1".to_owned()));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = run(&arguments);
    assert_eq!(ran.code, 1);
    assert!(ran.talk.contains("read 33 options; expected at most 32"), "{}", ran.talk);
}

#[test]
fn the_table_and_the_csv_have_a_line_per_row() {
    let table = run(&["whatif", &scenario("noon-evals"), "--steps", "20000"]);
    assert!(table.out.starts_with("Do not buy. Staggering meets all 4 deadlines"), "{}", table.out);
    assert!(table.out.contains("smallest a100 pool (batch, now 4): 2, proven"), "{}", table.out);
    let csv = run(&["whatif", &scenario("noon-evals"), "--grow", "50", "-o", "csv", "--steps", "20000"]);
    assert_eq!(csv.out.lines().count(), 6, "{}", csv.out);
    assert!(csv.out.starts_with("option,onTime,atRisk,late,pool,peak,makespanSeconds,"), "{}", csv.out);
}

const REPORT: &str = r#"{
  "apiVersion": "stagger.dev/report/v1", "kind": "Report", "inputDigest": "abc",
  "window": {"from": "2026-11-01T00:00:00Z", "to": "2026-11-02T00:00:00Z"}, "currency": "EUR",
  "total": {"attempts": 100, "outcomes": {"verified": 38, "rejected": 40, "late": 2, "unverified": 0}},
  "groups": [{
    "class": "eval-nightly", "attempts": 100, "gpuSeconds": "432000", "cost": {"total": "120.00"}, "waste": "74.40",
    "outcomes": {"verified": 38, "rejected": 40, "late": 2, "unverified": 0}
  }],
  "runtimes": [{"class": "eval-nightly", "samples": 80, "p50Seconds": 3000, "p90Seconds": 3300}]
}"#;

#[test]
fn a_report_says_what_a_verified_outcome_costs_and_where_money_is_saved() {
    let (_dir, path) = crate::cli::folder(&[("report.json", REPORT)]);
    let report = path("report.json");
    let ran = run(&["whatif", &scenario("relax-or-rent"), "--report", &report, "-o", "json", "--steps", "20000"]);
    let document = json(&ran.out);
    // 5 GPUs for a day held; 62 % of the money bought nothing: 3.1 of them.
    assert_eq!(
        document["measured"]["savings"][0],
        "62 % of eval-nightly's cost (74.40 EUR) produced nothing verified; fixing that frees 3 GPUs."
    );
    // 20.00 × 100 ÷ 80 attempts an outcome, over 2 in time × 40 ÷ 80 good: 25.00.
    assert_eq!(document["rows"][2]["costPerOutcome"]["amount"], "25.00");
    let table = run(&["whatif", &scenario("relax-or-rent"), "--report", &report, "--steps", "20000"]);
    assert!(table.out.contains("fixing that frees 3 GPUs."), "{}", table.out);
}

#[test]
fn everything_wrong_with_a_report_is_told() {
    let wrong =
        REPORT.replace("\"attempts\": 100, \"gpu", "\"attempts\": \"many\", \"gpu").replace("report/v1", "report/v9");
    let (_dir, path) = crate::cli::folder(&[("report.json", &wrong), ("no.json", "{")]);
    let ran = run(&["whatif", &scenario("noon-evals"), "--report", &path("report.json")]);
    assert_eq!((ran.code, ran.out.as_str()), (7, ""));
    assert!(
        ran.talk.contains("apiVersion: read `stagger.dev/report/v9`; expected stagger.dev/report/v1"),
        "{}",
        ran.talk
    );
    assert!(ran.talk.contains("groups[0].attempts: read \"many\"; expected a count"), "{}", ran.talk);
    assert_eq!(run(&["whatif", &scenario("noon-evals"), "--report", &path("no.json")]).code, 7);
    assert_eq!(run(&["whatif", &scenario("noon-evals"), "--report", &path("absent.json")]).code, 1);
}

#[test]
fn the_page_is_one_file_that_loads_nothing() {
    let arguments = ["whatif", &scenario("buy-before-launch"), "--own", "a100=1.10", "-o", "html", "--steps", "20000"];
    let page = run(&arguments).out;
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for id in ["options", "demand", "capacity", "marginal", "break-even", "tornado"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    // A takeaway above and a table below every picture; what is bought is marked.
    assert_eq!(page.matches("class=\"takeaway\"").count(), 6);
    assert_eq!(page.matches("<table").count(), 6);
    assert!(page.contains("class=\"bought\""));
    for loaded in ["http://", "https://", "<link", "src="] {
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains(loaded), "{loaded}");
    }
    assert!(page.contains("seed 1") && page.contains("Input digest") && page.contains("in EUR, in force at"));
}

#[test]
fn uncertain_rows_tell_their_chance_and_certain_ones_need_none() {
    let cluster =
        std::fs::read_to_string(Path::new(&scenario("noon-evals")).join("noon-evals.yaml")).expect("readable");
    // Two after each other: each is on time for certain unless both run long.
    let uncertain = cluster.replace("{p50: 1h, p90: 1h}", "{p50: 2h, p90: 3h}");
    let (_dir, path) = crate::cli::folder(&[("noon.yaml", &uncertain)]);
    let document = json(&run(&["whatif", &path("noon.yaml"), "-o", "json", "--steps", "20000"]).out);
    let chance = &document["rows"][2]["chance"];
    assert_eq!(chance["samples"], 738);
    assert_eq!(chance["margin"], "0.05");
    assert!(chance["allHard"].as_str().is_some_and(|share| share.starts_with("0.")), "{chance}");
    // Two jobs start at once and have three hours more than they promise; two follow, and wait for the longer runtimes.
    let each = chance["workloads"].as_array().expect("each workload has a chance");
    let of = |at: usize| each[at]["onTime"].as_str().and_then(|share| share.parse::<f64>().ok()).expect("a share");
    assert_eq!(each.len(), 4);
    assert!(of(0) >= of(2) && (0.0..=1.0).contains(&of(3)), "{chance}");
    let text = run(&["whatif", &path("noon.yaml"), "--steps", "20000"]).out;
    assert!(text.contains("\nleast likely to be on time, staggered: evals/eval-"), "{text}");
    let certain = json(&run(&["whatif", &scenario("noon-evals"), "-o", "json", "--steps", "20000"]).out);
    assert!(certain["rows"][2].get("chance").is_none());
}
