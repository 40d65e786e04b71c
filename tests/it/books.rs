//! From the YAML that users write to the report: cards, capacity, guarantees, gates and promises.

use std::sync::Arc;

use stagger::failure::SourceFile;
use stagger::ledger::charge::Term;
use stagger::ledger::price::{Input as Pricing, price};
use stagger::ledger::run::Window;
use stagger::outcome::read::{Known, Read, Subject, read as read_outcomes};
use stagger::outcome::settle::{Case, settle};
use stagger::report::costs::{Dimension, Report, Request, summarize};
use stagger::scenario::books::{Books, open};
use stagger::scenario::runs::{ReadRuns, read as read_runs};
use stagger::scenario::{Input, Limits};
use stagger::units::Money;

fn file(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile { path: "in".to_owned(), text: text.to_owned() })
}

fn report(yaml: &str, runs: &str, outcomes: &str) -> (Report, Books) {
    let reading = stagger::scenario::read(&[Input::text("books.yaml", yaml)], &Limits::default());
    assert!(!reading.has_errors(), "{:?}", reading.findings);
    let mut read = ReadRuns::default();
    read_runs(&file(runs), &mut read);
    let (mut events, mut known) = (Read::default(), Known::default());
    read_outcomes(&file(outcomes), &Subject::default(), &mut known, &mut events);
    assert_eq!((read.findings.len(), events.findings.len()), (0, 0), "{:?} {:?}", read.findings, events.findings);
    let window = Window::around(&read.runs).expect("there are runs");
    let books = open(&reading.manifests, &mut read.runs, window);
    let priced = price(&Pricing {
        runs: &read.runs,
        cards: &books.cards,
        guarantees: &books.guarantees,
        capacity: books.capacity.as_deref(),
        credits: &[],
        window,
    })
    .unwrap_or_else(|findings| panic!("{findings:?}"));
    let case = Case {
        events: &events.events,
        gates: &books.gates,
        runs: &read.runs,
        promises: &books.promises,
        as_of: Some(window.to),
    };
    let outcomes = settle(&case);
    let by = [Dimension::Tenant, Dimension::Class, Dimension::Queue];
    let request = Request {
        runs: &read.runs,
        priced: &priced,
        outcomes: &outcomes,
        promises: &books.promises,
        by: &by,
        window_is_chosen: false,
    };
    (summarize(&request), books)
}

const BOOKS: &str = "
apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: eur}
spec:
  currency: EUR
  effectiveFrom: 2026-01-01T00:00:00Z
  rates:
  - {device: a100-80, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}
  - {device: a100-80, resource: nvidia.com/gpu, unit: GpuHour, amount: \"1.00\", recurring: {days: [Mon, Tue, Wed, Thu, Fri, Sat, Sun], startTime: \"22:00\", endTime: \"06:00\", timeZone: Europe/Madrid}}
  - {resource: memory, unit: GiBHour, amount: \"0.01\"}
  borrowed: {ratePercent: 80}
  overhead: [{name: platform, amount: \"24\", per: Day, split: ByCost}]
---
apiVersion: stagger.dev/v1alpha1
kind: GpuInventory
metadata: {name: site}
spec: {devices: [{name: a100-80, resourceName: nvidia.com/gpu, match: {gpu: a100}}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {gpu: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: evals}
spec: {clusterQueue: batch}
---
apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: research}
spec: {namespaces: [evals], guarantee: [{flavor: a100, quantity: 1}]}
---
apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: evals, namespace: evals}
spec:
  selector: {matchLabels: {app: eval}}
  finishWithin: 3h
  outcome: {class: eval-run, gateRef: {name: good}}
---
apiVersion: stagger.dev/v1alpha1
kind: QualityGate
metadata: {name: good, namespace: evals}
spec:
  outcomeClass: eval-run
  criteria: [{name: accurate, metric: accuracy, comparison: AtLeast, threshold: \"0.80\", minSamples: 100}]
  evaluators: [judge]
---
apiVersion: batch/v1
kind: Job
metadata: {name: eval-1, namespace: evals, creationTimestamp: 2026-11-30T19:30:00Z, labels: {app: eval, kueue.x-k8s.io/queue-name: q}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}}}
";

const RUN: &str = r#"{"workload":"evals/eval-1","flavor":"a100","resources":{"nvidia.com/gpu":"2","memory":"10Gi"},"start":"2026-11-30T20:00:00Z","end":"2026-11-30T22:00:00Z","endReason":"Succeeded"}"#;

#[test]
fn a_window_adds_capacity_only_while_it_lasts() {
    let with = |windows: &str| {
        let plan =
            "---\napiVersion: stagger.dev/v1alpha1\nkind: CapacityPlan\nmetadata: {name: main}\nspec:\n  windows:\n";
        let (report, _) = report(&format!("{BOOKS}{plan}{windows}"), RUN, &outcome("2026-11-30T22:10:00Z", 500));
        let sums = report.reconciliation;
        assert_eq!(sums.difference, Money::ZERO);
        (sums.capacity.map(Money::decimal).unwrap_or_default(), sums.idle.decimal())
    };
    let one = |effect: &str, when: &str| {
        format!(
            "  - {{name: w, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: {effect}, {when}}}\n"
        )
    };
    // Four GPUs for an hour at 2.50 and one at 1.00 are 14.00; two of them idle. Two more for half an hour at 2.50: 2.50.
    assert_eq!(
        with(&one("Add", "start: 2026-11-30T20:30:00Z, end: 2026-11-30T21:00:00Z")),
        ("16.50".to_owned(), "9.50".to_owned())
    );
    let nightly = "recurring: {days: [Mon], startTime: \"22:00\", endTime: \"22:30\", timeZone: Europe/Madrid}";
    assert_eq!(with(&one("Add", nightly)), ("15.00".to_owned(), "8.00".to_owned()), "22:00 in Madrid is 21:00 in UTC");
    for effect in ["Cap", "Reserve"] {
        assert_eq!(
            with(&one(effect, nightly)),
            ("14.00".to_owned(), "7.00".to_owned()),
            "{effect} changes who may use it"
        );
    }
}

fn outcome(completed: &str, n: u32) -> String {
    format!(
        r#"{{"specversion":"1.0","type":"dev.stagger.outcome.v1","source":"e","id":"1","time":"2026-11-30T23:00:00Z","data":{{"outcomeId":"o1","workload":"evals/eval-1","completedAt":"{completed}","scores":[{{"name":"accuracy","value":"0.95","n":{n}}}],"evaluator":{{"id":"judge","version":"1"}}}}}}"#
    )
}

#[test]
fn the_files_of_a_plan_are_the_books_of_a_report() {
    let (report, books) = report(BOOKS, RUN, &outcome("2026-11-30T22:10:00Z", 500));
    assert_eq!((books.cards.len(), books.guarantees.len(), books.gates.len()), (1, 1, 1));
    let key = &report.groups[0].key;
    assert_eq!(
        (key.tenant.as_deref(), key.class.as_deref(), key.queue.as_deref()),
        (Some("research"), Some("eval-run"), Some("batch")),
        "what the run leaves out stands in the manifests"
    );
    // One hour at 2.50 and, from 22:00 in Madrid on, one at 1.00: 3.50 a GPU. One GPU is guaranteed, one borrowed.
    let sum = |term| report.total.by_term.get(&term).copied().unwrap_or(Money::ZERO).decimal();
    assert_eq!([sum(Term::Guaranteed), sum(Term::Borrowed), sum(Term::Adjustment)], ["3.50", "3.50", "-0.70"]);
    assert_eq!((sum(Term::Allocated), sum(Term::Overhead)), ("0.20".to_owned(), "2.00".to_owned()));
    let sums = report.reconciliation;
    assert_eq!((sums.capacity.map(Money::decimal).as_deref(), sums.idle.decimal().as_str()), (Some("14.00"), "7.00"));
    assert_eq!(sums.difference, Money::ZERO);
    assert_eq!(report.total.per_verified_outcome().map(Money::decimal).as_deref(), Ok("8.50"));
}

#[test]
fn a_promise_within_a_span_counts_from_the_creation() {
    let verdict = |completed: &str, n| {
        let (report, _) = report(BOOKS, RUN, &outcome(completed, n));
        report.outcomes[0].reason.message()
    };
    assert_eq!(verdict("2026-11-30T22:30:00Z", 500), "every criterion holds and it came in time");
    assert_eq!(verdict("2026-11-30T22:30:01Z", 500), "completed 1 s after its due time 2026-11-30T22:30:00Z");
    assert_eq!(verdict("2026-11-30T22:30:00Z", 99), "accuracy rests on 99 samples of at least 100");
}

#[test]
fn without_the_job_the_class_finds_the_promise_and_an_unknown_creation_is_said() {
    let yaml = BOOKS.replace("kind: Job\n", "kind: Unknown\n");
    let run = RUN.replace("\"flavor\"", "\"class\":\"eval-run\",\"flavor\"");
    let (report, _) = report(&yaml, &run, &outcome("2026-11-30T22:00:00Z", 500));
    assert_eq!(
        report.outcomes[0].reason.message(),
        "its due time is not known: nothing says when the workload was created"
    );
    let key = &report.groups[0].key;
    assert_eq!((key.tenant.as_deref(), key.queue.as_deref()), (Some("research"), None));
}

#[test]
fn a_value_that_cannot_be_read_is_told_with_its_place() {
    let yaml = BOOKS.replace("\"0.80\"", "\"high\"").replace(
        "{device: a100-80, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}",
        "{device: a100-80, resource: nvidia.com/gpu, unit: CpuHour, amount: \"2.50\"}",
    );
    let reading = stagger::scenario::read(&[Input::text("books.yaml", &yaml)], &Limits::default());
    let window = Window { from: stagger::units::Timestamp(0), to: stagger::units::Timestamp(10) };
    let books = open(&reading.manifests, &mut [], window);
    let told: Vec<String> = books
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{} {} {}",
                finding.subject,
                finding.span.as_ref().map_or(String::new(), ToString::to_string),
                finding.message
            )
        })
        .collect();
    assert!(
        told.iter()
            .any(|line| line.starts_with("QualityGate evals/good books.yaml:")
                && line.contains("`high` is not a decimal")),
        "{told:?}"
    );
    assert!(
        told.iter().any(|line| line.starts_with("RateCard eur books.yaml:9:")
            && line.contains("CpuHour does not measure nvidia.com/gpu")),
        "{told:?}"
    );
    assert_eq!(books.gates, [], "half a gate would let things pass");
}
