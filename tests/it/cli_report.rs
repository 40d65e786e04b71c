//! `stagger report` and `stagger prices` as people run them: files in, text and documents out.

use crate::cli::{folder, json, run};

const BOOKS: &str = "
apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: eur}
spec:
  currency: EUR
  effectiveFrom: 2026-01-01T00:00:00Z
  rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"1.20\"}]
---
apiVersion: stagger.dev/v1alpha1
kind: QualityGate
metadata: {name: good, namespace: evals}
spec:
  outcomeClass: eval-run
  criteria: [{name: accurate, metric: accuracy, comparison: AtLeast, threshold: \"0.80\"}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 100}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
";

/// 100 attempts of one GPU-hour: 60 good and on time, 20 good but late, 12 rejected, 8 failed.
fn a_hundred() -> (String, String) {
    let (mut runs, mut outcomes) = (String::new(), String::new());
    for n in 0..100 {
        let end = if n < 92 { "Succeeded" } else { "Failed" };
        runs.push_str(&format!(
            "{{\"workload\":\"evals/eval-{n}\",\"attempt\":1,\"tenant\":\"team-a\",\"class\":\"eval-run\",\"clusterQueue\":\"batch\",\"flavor\":\"a100\",\"resources\":{{\"nvidia.com/gpu\":\"1\"}},\"start\":\"2026-11-30T12:00:00Z\",\"end\":\"2026-11-30T13:00:00Z\",\"endReason\":\"{end}\"}}\n"
        ));
        if n < 92 {
            let (value, at) = if n < 60 {
                ("0.9", 13)
            } else if n < 80 {
                ("0.9", 18)
            } else {
                ("0.4", 13)
            };
            outcomes.push_str(&format!(
                "{{\"specversion\":\"1.0\",\"type\":\"dev.stagger.outcome.v1\",\"source\":\"ci\",\"id\":\"{n}\",\"time\":\"2026-11-30T19:00:00Z\",\"data\":{{\"outcomeId\":\"o{n}\",\"class\":\"eval-run\",\"workload\":\"evals/eval-{n}\",\"attempt\":1,\"completedAt\":\"2026-11-30T{at}:00:00Z\",\"finishBy\":\"2026-11-30T17:00:00Z\",\"scores\":[{{\"name\":\"accuracy\",\"value\":{value}}}],\"evaluator\":{{\"id\":\"judge\",\"version\":\"1\"}}}}}}\n"
            ));
        }
    }
    (runs, outcomes)
}

#[test]
fn a_report_says_what_a_verified_outcome_has_cost() {
    let (runs, outcomes) = a_hundred();
    let (_dir, path) = folder(&[("books.yaml", BOOKS), ("runs.jsonl", &runs), ("outcomes.jsonl", &outcomes)]);
    let (books, runs, outcomes) = (path("books.yaml"), path("runs.jsonl"), path("outcomes.jsonl"));
    let arguments = ["report", &books, "--runs", &runs, "--outcomes", &outcomes];
    let table = run(&arguments);
    assert_eq!((table.code, table.talk.as_str()), (0, "100 runs; 92 events\n"), "{}", table.talk);
    let expected = "\
120.00 EUR for 100 attempts; 80 outcomes good, 60 good and on time: 2.00 EUR per verified outcome.
40 % of this cost produced nothing verified: 24.00 EUR late, 14.40 EUR rejected, 9.60 EUR failed.

TENANT  ATTEMPTS  GOOD  ON TIME    COST  WASTE  PER ATTEMPT  PER GOOD  PER VERIFIED
team-a       100    80       60  120.00   40 %         1.20      1.50          2.00

Where it went
CAUSE        COST  SHARE
productive  72.00   60 %
failed       9.60    8 %
rejected    14.40   12 %
late        24.00   20 %

How it adds up
                  AMOUNT
capacity          120.00
held beyond it      0.00
allocated         120.00
idle                0.00
stranded            0.00
overhead            0.00
adjustments         0.00
credits             0.00
total             120.00
borne by tenants  120.00
borne by nobody     0.00
difference          0.00

2026-11-30T12:00:00Z to 2026-11-30T13:00:00Z, all amounts in EUR, prices of 2026-01-01T00:00:00Z.
";
    assert_eq!(table.out, expected);
    let document = run(&[&arguments[..], &["-o", "json"]].concat());
    let report = json(&document.out);
    assert_eq!(
        (report["apiVersion"].as_str(), report["kind"].as_str()),
        (Some("stagger.dev/report/v1"), Some("Report"))
    );
    let group = &report["groups"][0];
    assert_eq!((group["tenant"].as_str(), group["costPerVerifiedOutcome"].as_str()), (Some("team-a"), Some("2.00")));
    assert_eq!((group["attempts"].as_u64(), group["outcomes"]["verified"].as_u64()), (Some(100), Some(60)));
    assert_eq!(group["cost"]["total"], "120.00");
    assert_eq!(
        (report["reconciliation"]["capacityCost"].as_str(), report["reconciliation"]["difference"].as_str()),
        (Some("120.00"), Some("0.00"))
    );
    assert_eq!(run(&[&arguments[..], &["-o", "json"]].concat()).out, document.out, "the same bytes");
    let csv = run(&[&arguments[..], &["-o", "csv", "--by", "tenant,class,flavor,queue"]].concat());
    assert!(
        csv.out
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("group,team-a,eval-run,a100,batch,EUR,100,60,20,12,0,120.00")),
        "{}",
        csv.out
    );
}

#[test]
fn repeated_and_conflicting_events_are_counted() {
    let (runs, outcomes) = a_hundred();
    let first = outcomes.lines().next().expect("an event");
    let outcomes = format!("{outcomes}{first}\n{}\n{{\"broken\"\n", first.replace("0.9", "0.1"));
    let (_dir, path) = folder(&[("books.yaml", BOOKS), ("runs.jsonl", &runs), ("outcomes.jsonl", &outcomes)]);
    let ran = run(&[
        "report",
        &path("books.yaml"),
        "--runs",
        &path("runs.jsonl"),
        "--outcomes",
        &path("outcomes.jsonl"),
        "-o",
        "json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.talk);
    let report = json(&ran.out);
    let intake = &report["intake"];
    assert_eq!(
        ["events", "duplicateEvents", "conflictingEvents", "refusedEvents"]
            .map(|field| intake[field].as_u64().unwrap_or(99)),
        [92, 1, 1, 1]
    );
    assert_eq!(report["total"]["costPerVerifiedOutcome"], "2.00", "the first statement stands");
    assert!(ran.talk.contains("SG123") && ran.talk.contains("outcomes.jsonl:94:1"), "{}", ran.talk);
}

#[test]
fn nothing_verified_is_null_and_has_a_reason() {
    let (runs, _) = a_hundred();
    let (_dir, path) = folder(&[("books.yaml", BOOKS), ("runs.jsonl", &runs)]);
    let ran = run(&["report", &path("books.yaml"), "--runs", &path("runs.jsonl"), "-o", "json"]);
    let report = json(&ran.out);
    assert!(report["total"]["costPerVerifiedOutcome"].is_null());
    assert_eq!(report["total"]["reason"]["code"], "NothingVerified");
    assert_eq!(report["total"]["outcomes"]["unverified"], 92);
}

#[test]
fn an_evaluation_is_about_the_workload_that_is_named() {
    let (runs, _) = a_hundred();
    let evaluation = include_str!("evidence/inspect-good.json").replace("stagger.dev/", "other/");
    let (_dir, path) = folder(&[("books.yaml", BOOKS), ("runs.jsonl", &runs), ("log.json", &evaluation)]);
    let named = format!("evals/eval-7={}", path("log.json"));
    let ran = run(&["report", &path("books.yaml"), "--runs", &path("runs.jsonl"), "--outcomes", &named, "-o", "json"]);
    let report = json(&ran.out);
    let outcomes = report["outcomes"].as_array().expect("a list");
    let outcome = outcomes.iter().find(|outcome| outcome["workload"] == "evals/eval-7").expect("its outcome");
    assert_eq!(
        (outcome["verdict"].as_str(), outcome["source"].as_str()),
        (Some("Verified"), Some("inspect_ai")),
        "{}",
        ran.talk
    );
}

#[test]
fn what_cannot_be_priced_or_read_is_refused_with_its_place() {
    let (runs, _) = a_hundred();
    let bad = runs.replacen("\"2026-11-30T13:00:00Z\"", "\"2026-11-30T11:00:00Z\"", 1);
    let h100 = runs.replace("\"a100\"", "\"h100\"");
    let (_dir, path) =
        folder(&[("books.yaml", BOOKS), ("runs.jsonl", &runs), ("bad.jsonl", &bad), ("h100.jsonl", &h100)]);
    let report = |runs: &str| run(&["report", &path("books.yaml"), "--runs", &path(runs)]);
    let ran = report("bad.jsonl");
    assert_eq!((ran.code, ran.out.as_str()), (7, ""));
    assert!(
        ran.talk.contains("SG130")
            && ran.talk.contains("`end` is before `start`")
            && ran.talk.contains("bad.jsonl:1:1"),
        "{}",
        ran.talk
    );
    let ran = report("h100.jsonl");
    assert_eq!((ran.code, ran.out.as_str()), (7, ""));
    assert!(ran.talk.contains("no rate card has a price for nvidia.com/gpu on h100"), "{}", ran.talk);
    let ran = report("missing.jsonl");
    assert_eq!(ran.code, 1);
    assert!(ran.talk.starts_with("error: failed to read "), "{}", ran.talk);
    let ran = run(&["report", &path("books.yaml")]);
    assert_eq!(ran.code, 1);
    assert!(ran.talk.contains("there are no runs to report on\nhint: give --runs FILE"), "{}", ran.talk);
    let ran = run(&["report", &path("books.yaml"), "--runs", &path("runs.jsonl"), "--by", "team"]);
    assert_eq!(ran.code, 1);
    assert!(ran.talk.contains("`team` is not one of tenant, class, flavor, queue"), "{}", ran.talk);
}

#[test]
fn every_device_without_a_price_is_listed() {
    let more = BOOKS.replace(
        "flavors: [{name: a100",
        "flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}, {name: a100",
    );
    let (_dir, path) = folder(&[
        ("books.yaml", BOOKS),
        (
            "more.yaml",
            &format!("{more}---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: h100}}\n"),
        ),
    ]);
    let window = ["--from", "2026-11-01T00:00:00Z", "--to", "2026-12-01T00:00:00Z"];
    let whole = run(&[&["prices", "check", &path("books.yaml")][..], &window].concat());
    let table = "\
FLAVOR  RESOURCE        CAPACITY  PRICE                 FROM
a100    nvidia.com/gpu       100  1.2 EUR per GPU-hour  rates[0] of RateCard eur
";
    assert_eq!((whole.code, whole.out.as_str()), (0, table), "{}", whole.talk);
    let lacking = run(&[&["prices", "check", &path("more.yaml")][..], &window].concat());
    assert_eq!(lacking.code, 7);
    assert!(lacking.out.contains("h100    nvidia.com/gpu         8  MISSING"), "{}", lacking.out);
    assert!(lacking.talk.contains("SG144"), "{}", lacking.talk);
    let early = run(&["prices", "check", &path("books.yaml"), "--from", "2025-12-31T00:00:00Z", "-o", "json"]);
    assert_eq!((early.code, json(&early.out)["complete"].as_bool()), (7, Some(false)), "before the card is in force");
}

#[test]
fn a_price_list_is_imported_and_owned_hardware_derived() {
    let sheet = "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version\n,Tesla_T4,,gpu,nvidia.com/gpu_type,,0.35,\n,,,node,x,m5,0.1,\n";
    let (_dir, path) = folder(&[("sheet.csv", sheet)]);
    let card = run(&["prices", "import", "opencost", &path("sheet.csv"), "--currency", "USD", "--name", "oc"]);
    assert_eq!((card.code, card.talk.as_str()), (0, "left out 1: nodes and storage\n"));
    assert!(
        card.out.contains("{device: \"Tesla_T4\", resource: nvidia.com/gpu, unit: GpuHour, amount: \"0.35\"}"),
        "{}",
        card.out
    );
    assert_eq!(run(&["prices", "import", "azure", &path("sheet.csv")]).code, 7);
    let owned = run(&[
        "prices",
        "owned",
        "--purchase",
        "30000",
        "--months",
        "48",
        "--power-kw",
        "0.7",
        "--pue",
        "1.3",
        "--kwh-price",
        "0.20",
        "--monthly",
        "120",
    ]);
    assert_eq!(
        (owned.code, owned.out.as_str()),
        (0, "30000 / (48 × 730) + 0.7 × 1.3 × 0.2 + 120 / 730 = 1.202547 an hour\n")
    );
    assert_eq!(
        run(&["prices", "owned", "--purchase", "x", "--months", "48", "--power-kw", "0", "--kwh-price", "0"]).code,
        1
    );
}
