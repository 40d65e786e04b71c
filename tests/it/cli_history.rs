//! `stagger whatif --history` as people run it.

use crate::cli::{folder, json, run};

/// One GPU pair: `first` holds it for an hour, then an older job that is due late stands before one that is due soon.
const JOBS: &str = "\
job_id,user,num_gpu,submit_time,duration,expect_time_list,expect_value_list,best_effort,job_type
1,vc_a,2,0,60,600,10,0,strict
2,vc_a,2,10,120,1000,10,0,strict
3,vc_b,2,20,60,150,10,0,strict
4,vc_b,2,20,0,150,10,0,strict
";

const ACCOUNTING: &str = "\
JobID|Account|Submit|Eligible|Start|End|State|ReqTRES|AllocTRES|Timelimit|JobName
1|nlp|2026-01-05T09:00:00|2026-01-05T09:00:00|2026-01-05T09:10:00|2026-01-05T10:00:00|COMPLETED|gres/gpu=2|gres/gpu=2|02:00:00|a
2|nlp|2026-01-05T09:05:00|2026-01-05T09:05:00|2026-01-05T10:05:00|2026-01-05T11:00:00|COMPLETED|gres/gpu=2|gres/gpu=2|02:00:00|b
3|nlp|2026-01-05T09:30:00|Unknown|Unknown|Unknown|PENDING|gres/gpu=1||02:00:00|c
";

#[test]
fn a_log_is_replayed_with_more_and_fewer_gpus() {
    let (_dir, path) = folder(&[("jobs.csv", JOBS)]);
    let log = path("jobs.csv");
    let base = ["whatif", "--history", &log, "--format", "philly", "--capacity", "a100=2"];
    let ran = run(&[&base[..], &["--plus", "2", "--minus", "a100=1"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.talk);
    assert!(
        ran.out.starts_with("Staggered, 3 of 3 due times would have been met; Kueue alone would have met 2.\n"),
        "{}",
        ran.out
    );
    for option in ["staggered, 1 fewer a100", "Kueue alone, 2 more a100"] {
        assert!(ran.out.contains(option), "{}", ran.out);
    }
    assert!(ran.out.contains("4 rows read, 3 kept, 1 left out (NoRuntime)"), "{}", ran.out);
    assert_eq!(ran.out, run(&[&base[..], &["--plus", "2", "--minus", "a100=1"]].concat()).out, "the same to the byte");
}

#[test]
fn the_document_and_the_lines_say_the_same_as_the_table() {
    let (_dir, path) = folder(&[("jobs.csv", JOBS)]);
    let log = path("jobs.csv");
    let base = ["whatif", "--history", &log, "--format", "philly", "--capacity", "a100=2", "-o"];
    let document = json(&run(&[&base[..], &["json"]].concat()).out);
    let on_time: Vec<u64> =
        document["rows"].as_array().unwrap().iter().map(|row| row["onTime"].as_u64().unwrap()).collect();
    assert_eq!((document["apiVersion"].as_str(), on_time), (Some("stagger.dev/whatif/v1"), vec![2, 3]));
    let lines = run(&[&base[..], &["csv"]].concat()).out;
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.contains("\nstaggered,3,0,"), "{lines}");
}

#[test]
fn a_log_with_starts_has_a_row_of_the_past_and_a_forecast_against_it() {
    let (_dir, path) = folder(&[("jobs.txt", ACCOUNTING)]);
    let ran = run(&["whatif", "--history", &path("jobs.txt"), "--format", "sacct", "--capacity", "a100=2"]);
    assert_eq!(ran.code, 0, "{}", ran.talk);
    assert!(ran.out.contains("\nas it was"), "{}", ran.out);
    assert!(ran.out.contains("start by Kueue's rules, against the start in the log: 2 compared"), "{}", ran.out);
    assert!(ran.talk.contains("sacct must have been run with TZ=UTC"), "{}", ran.talk);
}

/// The page has what the table has: every row twice (picture and figures), the waits, the sentence, and the document.
#[test]
fn a_replay_has_a_page_of_its_own() {
    let evil = ACCOUNTING.replace("|nlp|", "|<script>alert(1)</script>|");
    let (_dir, path) = folder(&[("jobs.txt", &evil)]);
    let log = path("jobs.txt");
    let base = ["whatif", "--history", &log, "--format", "sacct", "--capacity", "a100=2", "--plus", "2"];
    let ran = run(&[&base[..], &["-o", "html"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.talk);
    let page = &ran.out;
    for told in [
        "Staggered, half of the jobs would have waited no longer than ",
        "<figcaption>as it was: peak 2 of 2, 0 late</figcaption>",
        "<figcaption>Kueue alone, 2 more a100: peak ",
        "<section id=\"waits\">",
        "start by Kueue&#39;s rules, against the start in the log: 2 compared",
        "Content-Security-Policy",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(!page.contains("<script>alert"), "text from outside is escaped");
    let (_, data) = page.split_once("id=\"replay\">\n").expect("the document must ride along");
    let (data, _) = data.split_once("</script>").expect("its element must end");
    let document = json(&run(&[&base[..], &["-o", "json"]].concat()).out);
    assert_eq!(json(data), document);
    assert_eq!(*page, run(&[&base[..], &["-o", "html"]].concat()).out, "the same to the byte");
}

#[test]
fn what_cannot_be_replayed_is_refused_with_one_clear_error() {
    let (_dir, path) = folder(&[("jobs.csv", JOBS)]);
    let log = path("jobs.csv");
    let refused = |more: &[&str], code: i32, told: &str| {
        let ran = run(&[&["whatif", "--history", &log][..], more].concat());
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.talk);
        assert!(ran.talk.contains(told), "{told}: {}", ran.talk);
        assert_eq!(ran.out, "");
    };
    refused(&["--capacity", "a100=2"], 1, "--format");
    refused(&["--format", "philly"], 7, "does not say how many GPUs");
    refused(
        &["--format", "philly", "--capacity", "a100=2", "--minus", "3"],
        1,
        "cannot be added to the 2 a100 there are",
    );
    refused(&["--format", "philly", "--capacity", "a100=2", "--plus", "h100=1"], 1, "no flavor `h100`");
    refused(&["--format", "philly", "--capacity", "a100=2", "--plus", "0"], 1, "not a number of GPUs");
    refused(&["--format", "philly", "--capacity", "a100"], 1, "is not FLAVOR=N");
    refused(&["--format", "philly", "--capacity", "a100=2", "--debounce", "0s"], 1, "debounce");
}
