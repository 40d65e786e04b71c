//! The real binaries: exit codes, streams, documents, and what is said when something is wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn scenario(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).display().to_string()
}

/// The command line without anything of this machine's: no colour, no `STAGGER_…`, no locale.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stagger"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

pub struct Ran {
    pub code: i32,
    pub out: String,
    pub talk: String,
}

fn ran(output: Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output must be UTF-8");
    Ran {
        code: output.status.code().expect("it must not die by a signal"),
        out: text(output.stdout),
        talk: text(output.stderr),
    }
}

pub fn run(arguments: &[&str]) -> Ran {
    ran(command(arguments).output().expect("the binary must start"))
}

fn run_with(arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    ran(command(arguments).envs(environment.iter().copied()).output().expect("the binary must start"))
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A folder with these files, removed at the end.
pub fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, impl Fn(&str) -> String + use<>) {
    let dir = tempfile::tempdir().expect("a temporary folder must be to be had");
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("a temporary file must be writable");
    }
    let root: PathBuf = dir.path().to_owned();
    (dir, move |name| root.join(name).display().to_string())
}

#[test]
fn the_touchstone_is_planned_and_ends_well() {
    let ran = run(&["plan", &scenario("noon-evals")]);
    assert_eq!((ran.code, ran.talk.as_str()), (0, ""), "{}", ran.out);
    assert!(
        ran.out.contains(
            "4 of 4 deadlines met with the 4 a100 you have; started at once they would need 8. Last one ends 14:00."
        ),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("WORKLOAD      QUEUE  FLAVOR  GPUS  START  END(P90)  DUE    SLACK  VERDICT  WHY"),
        "{}",
        ran.out
    );
}

#[test]
fn a_missed_hard_deadline_ends_with_4_and_is_written_all_the_same() {
    let ran = run(&["plan", &scenario("conflict-named-fix"), "-o", "json"]);
    assert_eq!(ran.code, 4, "{}", ran.talk);
    let plan = json(&ran.out);
    assert_eq!(plan["summary"]["late"], 1);
    assert_eq!(plan["releases"].as_array().map(Vec::len), Some(4));
    assert!(ran.talk.contains("hint: `stagger explain PATH --for Job/"), "{}", ran.talk);
}

#[test]
fn the_json_document_has_the_promised_shape() {
    let plan = json(&run(&["plan", &scenario("noon-evals"), "-o", "json"]).out);
    assert_eq!(plan["apiVersion"], "stagger.dev/plan/v1");
    assert_eq!(plan["kind"], "Plan");
    assert_eq!(plan["now"], "2026-11-30T12:00:00+01:00");
    let release = &plan["releases"][0];
    assert_eq!(release["resources"]["nvidia.com/gpu"], "2");
    assert_eq!(release["finishBy"], "2026-11-30T17:00:00+01:00");
    assert_eq!(release["verdict"], "OnTime");
    assert!(release["reasons"][0]["code"].is_string(), "{release}");
    for side in [&plan["summary"], &plan["before"]["allAtOnce"], &plan["before"]["kueueAlone"]] {
        for key in ["onTime", "atRisk", "late", "peak", "makespanSeconds", "gpuSeconds"] {
            assert!(!side[key].is_null(), "{key} in {side}");
        }
    }
    assert_eq!(plan["before"]["allAtOnce"]["peak"][0]["peak"], "8");
    assert_eq!(plan["summary"]["makespanSeconds"], 7200);
}

#[test]
fn yaml_and_json_hold_the_same_plan() {
    let (_dir, path) = folder(&[]);
    let plan = |format: &str| {
        let out = path(format);
        let ran = run(&["plan", &scenario("two-flavors"), "-o", format, "--out", &out]);
        assert_eq!((ran.code, ran.out.as_str(), ran.talk.trim()), (0, "", format!("wrote {out}").as_str()));
        fs::read_to_string(out).expect("the plan must be written")
    };
    let (from_json, yaml) = (plan("json"), plan("yaml"));
    // Our own reader takes the YAML for what it is, and the fields are the same and in the same order.
    let read = stagger::scenario::read(
        &[stagger::scenario::Input::text("plan.yaml", &yaml)],
        &stagger::scenario::Limits::default(),
    );
    assert!(read.findings.iter().all(|finding| finding.code != "SG001"), "{:?}\n{yaml}", read.findings);
    let keys = |text: &str, end: char| {
        text.lines()
            .filter_map(|line| {
                line.trim_start_matches([' ', '-']).split_once(end).map(|(key, _)| key.trim_matches('"').to_owned())
            })
            .filter(|key| key.chars().all(char::is_alphanumeric))
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&from_json, ':'), keys(&yaml, ':'));
}

#[test]
fn csv_has_a_line_per_release_and_html_is_one_file() {
    let csv = run(&["plan", &scenario("noon-evals"), "-o", "csv"]);
    assert_eq!(csv.out.lines().count(), 5, "{}", csv.out);
    assert!(csv.out.starts_with("workload,kind,tenant,clusterQueue,flavor,resources,start,end,endP90,finishBy,"));
    let html = run(&["plan", &scenario("noon-evals"), "-o", "html"]);
    assert!(html.out.starts_with("<!doctype html>") && html.out.trim_end().ends_with("</html>"));
    assert!(html.out.contains("<h1>noon-evals</h1>"));
}

#[test]
fn a_plan_passes_its_own_check_and_a_changed_one_does_not() {
    let (_dir, path) = folder(&[]);
    let noon = scenario("noon-evals");
    let plan = path("plan.json");
    assert_eq!(run(&["plan", &noon, "-o", "json", "--out", &plan]).code, 0);
    let good = run(&["check", &plan, &noon]);
    assert_eq!(good.code, 0, "{}{}", good.out, good.talk);
    let text = fs::read_to_string(&plan).expect("just written");
    fs::write(&plan, text.replace("T13:00:00+01:00", "T12:30:00+01:00")).expect("just written");
    let bad = run(&["check", &plan, &noon, "-o", "json"]);
    assert_eq!(bad.code, 7, "{}", bad.out);
    assert!(json(&bad.out)["findings"][0]["code"].as_str().is_some_and(|code| code.starts_with('P')));
}

#[test]
fn an_unchanged_plan_ends_with_3_only_when_asked() {
    let (_dir, path) = folder(&[]);
    let noon = scenario("noon-evals");
    let plan = path("plan.json");
    run(&["plan", &noon, "--steps", "1000", "-o", "json", "--out", &plan]);
    assert_eq!(run(&["plan", &noon, "--steps", "1000", "--previous", &plan]).code, 0);
    assert_eq!(run(&["plan", &noon, "--steps", "1000", "--previous", &plan, "--error-unchanged"]).code, 3);
    assert_eq!(run(&["plan", &noon, "--error-unchanged"]).code, 1, "it needs --previous");
}

#[test]
fn a_time_limit_ends_with_6_unless_the_plan_is_proven() {
    let ran = run(&["plan", &scenario("noon-evals"), "--time-limit", "1ms", "-o", "json"]);
    let quality = &json(&ran.out)["quality"];
    let proven = quality["status"] == "Optimal";
    assert_eq!(ran.code, if proven { 0 } else { 6 }, "{quality}");
}

#[test]
fn all_bad_inputs_are_told_together_and_nothing_is_written() {
    let queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: [}\n";
    let slo = "apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {name: a, namespace: b}\nspec: {finishBy: noon, selector: {}}\n";
    let (_dir, path) = folder(&[("a.yaml", queue), ("b.yaml", slo)]);
    let out = path("plan.json");
    let ran = run(&["plan", &path("a.yaml"), &path("b.yaml"), "-o", "json", "--out", &out]);
    assert_eq!((ran.code, ran.out.as_str()), (7, ""));
    assert!(ran.talk.contains("a.yaml:3:") && ran.talk.contains("b.yaml:4:"), "{}", ran.talk);
    assert!(ran.talk.contains("hint: "), "{}", ran.talk);
    assert!(!Path::new(&out).exists());
}

#[test]
fn missing_files_and_bad_flags_end_with_1() {
    let missing = run(&["plan", "/no/such/folder"]);
    assert_eq!((missing.code, missing.out.as_str()), (1, ""), "{}", missing.talk);
    assert!(missing.talk.contains("/no/such/folder"), "{}", missing.talk);
    for (arguments, told) in [
        (&["check"][..], "PLAN"),
        (&["plan", "x", "--objective", "Fastest"], "possible values: EarliestFinish, LowestPeak, LowestCost"),
        (&["plan", "x", "--time-limit", "soon"], "`soon` is not a duration such as 1h30m"),
        (&["plan", "x", "--gap", "a little"], "`a little` is not a percentage such as 1%"),
        (&["plan", "x", "--now", "noon"], "not an RFC 3339 instant"),
        (&["plan", "x", "--previous", "/no/such/plan"], "failed to read /no/such/plan"),
        (&["plan", "x", "--for", "a/b/c/d"], "is not KIND/NAME such as Job/eval-1"),
        (&["explain", "x"], "--for"),
        (&["lint", "--explain", "SG9"], "`SG9` is not a code of stagger"),
        (&["import", "philly", "/no/such/trace"], "failed to read /no/such/trace"),
        (&["nonsense"], "unrecognized subcommand"),
    ] {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}: {}", ran.talk);
        assert!(ran.talk.contains(told), "{arguments:?}: {}", ran.talk);
    }
}

#[test]
fn without_a_path_the_cluster_is_asked_and_8_says_that_it_is_not_there() {
    for verb in [&["plan"][..], &["whatif"], &["get"], &["explain", "--for", "Job/eval-1"]] {
        let arguments = [verb, &["--kubeconfig", "/no/such/kubeconfig"]].concat();
        let ran = run(&arguments);
        assert_eq!((ran.code, ran.out.as_str()), (8, ""), "{arguments:?}: {}", ran.talk);
        assert!(ran.talk.contains("failed to find out how to reach a cluster"), "{arguments:?}: {}", ran.talk);
    }
}

#[test]
fn explain_names_who_stands_in_the_way() {
    let ran = run(&["explain", &scenario("conflict-named-fix"), "--for", "job/train-ranker"]);
    assert_eq!(ran.code, 0, "{}", ran.talk);
    assert!(ran.out.starts_with("Job ranking/train-ranker\n"), "{}", ran.out);
    let ran = run(&["explain", &scenario("conflict-named-fix"), "--for", "Job/train-rankor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.talk.contains("hint: did you mean Job/train-ranker in namespace ranking?"), "{}", ran.talk);
    let document = json(&run(&["explain", &scenario("noon-evals"), "--for", "eval-3", "-o", "json"]).out);
    assert_eq!(document["workload"], "evals/eval-3");
}

#[test]
fn lint_says_what_a_code_means_and_ends_with_7_on_errors() {
    assert_eq!(run(&["lint", &scenario("noon-evals")]).code, 0);
    assert!(run(&["lint", "--explain", "sg012"]).out.starts_with("SG012"));
    assert!(run(&["lint", "--explain", "P0020"]).out.starts_with("P0020: over quota"));
    let (_dir, path) = folder(&[("a.yaml", "a: [")]);
    let ran = run(&["lint", &path("a.yaml"), "-o", "json"]);
    assert_eq!((ran.code, ran.talk.as_str()), (7, ""));
    let document = json(&ran.out);
    assert_eq!((&document["apiVersion"], &document["kind"]), (&"stagger.dev/findings/v1".into(), &"LintResult".into()));
    assert_eq!(document["findings"][0]["code"], "SG001");
}

#[test]
fn colour_follows_the_flag_then_no_color_then_force_color() {
    let conflict = scenario("conflict-named-fix");
    let coloured = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut all = vec!["plan", conflict.as_str()];
        all.extend(arguments);
        run_with(&all, environment).out.contains("\u{1b}[")
    };
    assert!(!coloured(&[], &[]), "a pipe is not coloured");
    assert!(coloured(&[], &[("FORCE_COLOR", "1")]));
    assert!(!coloured(&[], &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(coloured(&[], &[("FORCE_COLOR", "1"), ("NO_COLOR", "")]), "an empty NO_COLOR is not set");
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[("FORCE_COLOR", "1")]));
}

#[test]
fn flags_can_be_given_by_the_environment() {
    let noon = scenario("noon-evals");
    let ran = run_with(
        &["plan", &noon],
        &[("STAGGER_OUTPUT", "json"), ("STAGGER_OBJECTIVE", "LowestPeak"), ("STAGGER_SEED", "7")],
    );
    let plan = json(&ran.out);
    assert_eq!(plan["objective"], "LowestPeak");
    assert_eq!(plan["quality"]["seed"], 7);
    assert_eq!(plan["peaks"][0]["peak"], "2", "the touchstone's lowest peak");
    let ascii = run_with(&["plan", &noon], &[("LANG", "C")]).out;
    assert!(ascii.is_ascii(), "{ascii}");
    assert!(run_with(&["plan", &noon, "--no-unicode"], &[("LANG", "en_GB.UTF-8")]).out.is_ascii());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for format in ["table", "json", "html"] {
        let mut child = command(&["plan", &scenario("noon-evals"), "-o", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary must start");
        drop(child.stdout.take());
        let ran = ran(child.wait_with_output().expect("the binary must end"));
        assert_eq!((ran.code, ran.talk.as_str()), (0, ""), "{format}");
    }
}

#[test]
fn standard_input_is_a_path() {
    let mut text = String::new();
    for entry in fs::read_dir(scenario("noon-evals")).expect("the scenario must be there") {
        let path = entry.expect("the scenario must be readable").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            text.push_str(&fs::read_to_string(path).expect("the scenario must be readable"));
            text.push_str("\n---\n");
        }
    }
    let (_dir, path) = folder(&[("all.yaml", &text)]);
    let file = fs::File::open(path("all.yaml")).expect("just written");
    let output = command(&["plan", "-", "-o", "csv"]).stdin(file).output().expect("the binary must start");
    assert_eq!(ran(output).out.lines().count(), 5);
    assert_eq!(run(&["plan", "-", "-"]).code, 1, "it can be read only once");
}

#[test]
fn a_part_can_be_shown_while_everything_is_planned() {
    let conflict = scenario("conflict-named-fix");
    let one = run(&["plan", &conflict, "--for", "Job/export-report"]);
    assert_eq!((one.code, one.out.lines().count()), (4, 2), "{}", one.out);
    let none = run(&["plan", &conflict, "-n", "elsewhere"]);
    assert_eq!(none.out.lines().count(), 1, "{}", none.out);
}

#[test]
fn the_demo_tells_its_story_and_writes_its_page() {
    let (_dir, path) = folder(&[]);
    let page = path("demo.html");
    let ran = run(&["demo", "--out", &page]);
    assert_eq!((ran.code, ran.talk.as_str()), (0, ""), "{}", ran.out);
    for part in ["It is Monday, 08:00.", "Kueue alone", "37 of 39 deadlines met", "1 is at risk", "demo.html"] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
    assert!(fs::read_to_string(page).is_ok_and(|html| html.contains("<h1>realistic-day</h1>")));
}

#[test]
fn version_completion_and_help_are_data() {
    let version = run(&["version", "-o", "json"]);
    assert_eq!(json(&version.out)["planDocument"], "stagger.dev/plan/v1");
    assert!(run(&["version"]).out.starts_with("stagger 0."));
    assert!(run(&["completion", "bash"]).out.contains("_stagger"));
    let help = run(&["--help"]);
    assert_eq!((help.code, help.talk.as_str()), (0, ""));
    assert!(help.out.contains("130  Ctrl-C"));
}

#[test]
fn the_kubectl_plugin_is_the_same_command_line() {
    let mut plugin = Command::new(env!("CARGO_BIN_EXE_kubectl-stagger"));
    let output = plugin.args(["plan", &scenario("noon-evals"), "-o", "csv"]).env_clear().output();
    let same = run(&["plan", &scenario("noon-evals"), "-o", "csv"]);
    assert_eq!(ran(output.expect("the plugin must start")).out, same.out);
}

#[test]
fn an_imported_trace_can_be_planned() {
    let trace = "; UnixStartTime: 1700000000\n; MaxProcs: 8\n1 0 -1 3600 4 -1 -1 4 7200 -1 1 1 1 -1 -1 -1 -1 -1\n2 10 -1 1800 8 -1 -1 8 7200 -1 1 2 1 -1 -1 -1 -1 -1\n";
    let (_dir, path) = folder(&[("t.swf", trace)]);
    let out = path("t.yaml");
    let ran = run(&["import", "swf", &path("t.swf"), "--procs-per-gpu", "1", "--gpus", "8", "--out", &out]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.talk);
    assert!(ran.talk.contains("2 read, 2 kept"), "{}", ran.talk);
    let plan = json(&run(&["plan", &out, "-o", "json"]).out);
    assert_eq!(plan["releases"].as_array().map(Vec::len), Some(2), "{plan}");
}
