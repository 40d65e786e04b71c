//! What `stagger doctor` makes of an installation: whole, and with one thing wrong at a time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use axum::http::Method;
use k8s_openapi::ByteString;
use serde_json::{Value, json};
use stagger::admission::Mode;
use stagger::admission::policy::{self, POLICIES};
use stagger::admission::tls::issue::{self, Issued, LEAF_LIFE};
use stagger::api::crd;
use stagger::cluster::{ClusterError, Kind};
use stagger::doctor::facts::{Answer, Facts, Probe};
use stagger::doctor::{Check, Document, Status, examine, worst};
use stagger::units::{Seconds, Timestamp};

use crate::cluster::fake::Fake;

const NOW: Timestamp = Timestamp(1_800_000_000);

fn bytes(text: &str) -> Value {
    json!(ByteString(text.as_bytes().to_vec()))
}

/// Found; null is what may not be read.
fn there(object: Value) -> Answer {
    if object.is_null() { Err(forbidden()) } else { Ok(Some(object)) }
}

fn forbidden() -> ClusterError {
    ClusterError { kind: Kind::Forbidden, message: "anna may not get that".to_owned() }
}

fn with_bundle(mut configuration: Value, bundle: &str) -> Answer {
    configuration["webhooks"][0]["clientConfig"]["caBundle"] = bytes(bundle);
    there(configuration)
}

fn leaf_secret(leaf: &Issued) -> Answer {
    there(json!({"data": {"tls.crt": bytes(&leaf.certificate), "tls.key": bytes(&leaf.key)}}))
}

fn deployment(image: &str, ready: u64) -> Answer {
    let containers = json!([{"image": image}]);
    there(json!({
        "spec": {"replicas": 2, "template": {"spec": {"containers": containers}}},
        "status": {"readyReplicas": ready},
    }))
}

fn lease(renewed: &str) -> Answer {
    there(json!({"spec": {"holderIdentity": "a", "renewTime": renewed}}))
}

/// GpuTenants as the controller tells of them: status, reason and message.
fn tenants(told: &[(&str, &str, &str)]) -> Answer {
    let one = |(at, (status, reason, message)): (usize, &(&str, &str, &str))| {
        let stamped = json!({"type": "Stamped", "status": status, "reason": reason, "message": message});
        json!({"metadata": {"name": format!("tenant-{at}")}, "status": {"conditions": [stamped]}})
    };
    there(json!({"items": told.iter().enumerate().map(one).collect::<Vec<_>>()}))
}

/// An installation in a mode in which nothing is wrong.
fn whole(mode: Mode) -> Facts {
    let authority = issue::authority(NOW).unwrap();
    let leaf = issue::leaf(&authority, &issue::names("stagger-webhook", "stagger-system"), NOW).unwrap();
    let established = |kind: &crd::Kind| {
        let mut crd = crd::manifest(kind);
        // What a server adds is no difference.
        crd["spec"]["conversion"] = json!({"strategy": "None"});
        crd["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
        (crd["metadata"]["name"].as_str().unwrap().to_owned(), Ok(Some(crd)))
    };
    let bound = |one: &policy::Policy| (one.name.to_owned(), Ok(policy::binding(one, mode)));
    Facts {
        version: "v1.35.4".to_owned(),
        crds: crd::KINDS.iter().map(established).collect(),
        kueue_group: Ok(Some(json!({"versions": [{"version": "v1beta2"}, {"version": "v1beta1"}]}))),
        kueue_deployment: deployment("registry.k8s.io/kueue/kueue:v0.17.0@sha256:0", 1),
        probe: Probe::Refused,
        plans: Ok(None),
        tenants: tenants(&[("True", "Stamped", "all")]),
        mutating: with_bundle(policy::mutating(), &authority.certificate),
        validating: with_bundle(policy::validating(), &authority.certificate),
        stamping_version: Some("v1beta1"),
        stamping: Ok(None),
        policies: POLICIES.iter().map(|one| (one.name.to_owned(), Ok(Some(policy::policy(one))))).collect(),
        bindings: POLICIES.iter().map(bound).collect(),
        webhook: deployment("stagger", 2),
        leaf: leaf_secret(&leaf),
        leases: BTreeMap::from([
            ("stagger-controller".to_owned(), lease("2027-01-15T07:59:58.000001Z")),
            ("stagger-webhook".to_owned(), lease("2027-01-15T08:00:00.000000Z")),
        ]),
    }
}

fn check(facts: &Facts, name: &str) -> Check {
    examine(facts, NOW).into_iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"))
}

/// The check came to this, and says so.
fn comes_to(facts: &Facts, name: &str, status: Status, part: &str) {
    let check = check(facts, name);
    assert_eq!(check.status, status, "{check:?}");
    assert!(check.message.contains(part), "{check:?}");
    assert!(check.status == Status::Ok || check.status == Status::Unknown || check.action.is_some(), "{check:?}");
}

#[test]
fn an_installation_as_shipped_is_fine_in_every_mode() {
    for (mode, word) in [(Mode::Observe, "observe"), (Mode::Protect, "protect"), (Mode::Enforce, "enforce")] {
        let checks = examine(&whole(mode), NOW);
        assert_eq!(worst(&checks), Status::Ok, "{checks:#?}");
        comes_to(&whole(mode), "mode", Status::Ok, word);
    }
}

#[test]
fn names_of_checks_are_unique_and_the_document_carries_them_all() {
    let checks = examine(&whole(Mode::Protect), NOW);
    let mut names: Vec<&str> = checks.iter().map(|check| check.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), checks.len());
    let document = serde_json::to_value(Document::new("https://here", &checks)).unwrap();
    assert_eq!(document["apiVersion"], "stagger.dev/doctor/v1");
    assert_eq!(document["status"], "ok");
    assert_eq!(document["checks"].as_array().unwrap().len(), checks.len());
}

#[test]
fn what_may_not_be_read_is_unknown_with_the_reason_and_never_fine() {
    let no = || there(Value::Null);
    let mut facts = whole(Mode::Protect);
    for answers in [&mut facts.crds, &mut facts.policies, &mut facts.bindings, &mut facts.leases] {
        for answer in answers.values_mut() {
            *answer = no();
        }
    }
    (facts.kueue_group, facts.kueue_deployment, facts.tenants) = (no(), no(), no());
    (facts.mutating, facts.validating, facts.webhook, facts.leaf) = (no(), no(), no(), no());
    facts.probe = Probe::Unknown("anna may not create jobs".to_owned());
    let checks = examine(&facts, NOW);
    for check in checks.iter().filter(|check| check.name != "kubernetes") {
        assert_eq!(check.status, Status::Unknown, "{check:?}");
    }
    assert_eq!(checks.iter().filter(|check| check.message.contains("anna may not")).count(), checks.len() - 3);
}

#[test]
fn kinds_and_versions_that_are_missing_or_old_are_told() {
    let mut facts = whole(Mode::Observe);
    facts.version = "v1.29.8+k3s1".to_owned();
    comes_to(&facts, "kubernetes", Status::Failed, "v1.29.8");
    facts.crds.insert("gputenants.stagger.dev".to_owned(), Ok(None));
    comes_to(&facts, "kinds", Status::Failed, "GpuTenant");
    let mut facts = whole(Mode::Observe);
    let mut old = facts.crds["capacityplans.stagger.dev"].clone().unwrap().unwrap();
    old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = json!({});
    facts.crds.insert("capacityplans.stagger.dev".to_owned(), Ok(Some(old)));
    comes_to(&facts, "kinds", Status::Warning, "CapacityPlan");
}

#[test]
fn kueue_that_is_missing_too_old_or_ignores_gates_is_told() {
    let mut facts = whole(Mode::Observe);
    comes_to(&facts, "kueue", Status::Ok, "v0.17.0");
    facts.probe = Probe::Accepted;
    comes_to(&facts, "gates", Status::Warning, "nothing is held");
    let told = json!({"type": "GatesHonoured", "status": "False"});
    facts.plans = Ok(Some(json!({"items": [{"status": {"conditions": [told]}}]})));
    comes_to(&facts, "gates", Status::Warning, "held through its Workload's spec.active");
    for (image, status) in [
        ("kueue/kueue:v0.16.3", Status::Failed),
        ("kueue/kueue", Status::Ok),
        ("host:5000/kueue/kueue@sha256:0", Status::Ok),
        ("kueue/kueue:main", Status::Ok),
    ] {
        facts.kueue_deployment = deployment(image, 1);
        assert_eq!(check(&facts, "kueue").status, status, "{image}");
    }
    facts.kueue_group = Ok(None);
    comes_to(&facts, "kueue", Status::Failed, "not installed");
}

#[test]
fn configurations_that_are_missing_or_changed_are_told_and_so_is_one_that_stops_work_while_we_are_down() {
    let mut facts = whole(Mode::Enforce);
    let shipped = facts.mutating.clone().unwrap().unwrap();
    let changed = |field: &str, value: Value| {
        let mut changed = shipped.clone();
        changed["webhooks"][0][field] = value;
        Ok(Some(changed))
    };
    facts.mutating = changed("failurePolicy", json!("Fail"));
    comes_to(&facts, "configuration-mutating", Status::Warning, "failurePolicy");
    facts.mutating = changed("timeoutSeconds", json!(30));
    comes_to(&facts, "configuration-mutating", Status::Warning, "timeoutSeconds");
    facts.mutating = changed("objectSelector", json!({}));
    comes_to(&facts, "configuration-mutating", Status::Ok, "as shipped");
    facts.mutating = Ok(None);
    comes_to(&facts, "configuration-mutating", Status::Failed, "is not there");
}

#[test]
fn stamps_without_a_webhook_are_an_installation_of_their_own_where_the_server_can() {
    let mut facts = whole(Mode::Protect);
    (facts.mutating, facts.validating, facts.webhook, facts.leaf) = (Ok(None), Ok(None), Ok(None), Ok(None));
    // What to do is said by what the server has.
    let offered = |facts: &Facts| check(facts, "configuration-mutating").action.unwrap();
    assert!(offered(&facts).ends_with("overlays/cel-only-v1beta1"));
    facts.stamping_version = Some("v1");
    assert!(offered(&facts).ends_with("overlays/cel-only"));
    facts.stamping_version = None;
    assert!(!offered(&facts).contains("cel-only"));
    // It is there: nothing of a webhook is missed.
    facts.stamping_version = Some("v1beta1");
    facts.stamping = Ok(policy::mutating_policy("v1beta1").into_iter().next());
    comes_to(&facts, "cel-only", Status::Ok, "stamps by itself");
    assert_eq!(worst(&examine(&facts, NOW)), Status::Ok);
    facts.stamping.as_mut().unwrap().as_mut().unwrap()["spec"]["mutations"] = json!([]);
    comes_to(&facts, "cel-only", Status::Warning, "not as shipped");
}

#[test]
fn policies_that_are_missing_weakened_or_of_no_one_mode_are_told() {
    let mut facts = whole(Mode::Protect);
    facts.bindings.insert("stagger-gate".to_owned(), Ok(None));
    comes_to(&facts, "mode", Status::Warning, "no one mode");
    for answer in facts.bindings.values_mut() {
        *answer = Ok(None);
    }
    comes_to(&facts, "mode", Status::Failed, "no policy is bound");
    let mut weak = facts.policies["stagger-stamp"].clone().unwrap().unwrap();
    weak["spec"]["validations"] = json!([{"expression": "true"}]);
    facts.policies.insert("stagger-stamp".to_owned(), Ok(Some(weak)));
    comes_to(&facts, "policies", Status::Warning, "stagger-stamp");
    facts.policies.insert("stagger-stamp".to_owned(), Ok(None));
    comes_to(&facts, "policies", Status::Failed, "stagger-stamp");
}

#[test]
fn work_without_a_stamp_is_told_with_its_tenant_and_what_is_not_known_is_not_fine() {
    let mut facts = whole(Mode::Observe);
    comes_to(&facts, "stamps", Status::Ok, "of 1 GpuTenants");
    let late = ("True", "StampedLate", "all; stamped later: Pod evals/a");
    facts.tenants = tenants(&[("True", "Stamped", "all"), late]);
    comes_to(&facts, "stamps", Status::Ok, "GpuTenant tenant-1: all; stamped later: Pod evals/a");
    facts.tenants = tenants(&[late, ("False", "Shared", "without a stamp: Pod x/a"), ("False", "Shared", "others")]);
    comes_to(&facts, "stamps", Status::Warning, "GpuTenant tenant-1: without a stamp: Pod x/a; and so 1 more");
    facts.tenants = tenants(&[late, ("Unknown", "NotRead", "u may not list pods")]);
    comes_to(&facts, "stamps", Status::Unknown, "u may not list pods");
    facts.tenants = there(json!({"items": [{"metadata": {"name": "new"}}]}));
    comes_to(&facts, "stamps", Status::Unknown, "GpuTenant new yet");
    facts.tenants = Ok(None);
    comes_to(&facts, "stamps", Status::Unknown, "not installed");
}

#[test]
fn certificates_that_end_are_missing_or_are_not_trusted_are_told() {
    let whole = whole(Mode::Protect);
    let at = |days: i64| Timestamp(NOW.0 + days * Seconds::DAY.0);
    let status = |facts: &Facts, name: &str, at: Timestamp| {
        examine(facts, at).into_iter().find(|check| check.name == name).unwrap().status
    };
    for (days, expected) in [(0, Status::Ok), (22, Status::Ok), (24, Status::Warning), (31, Status::Failed)] {
        assert_eq!(status(&whole, "certificate", at(days)), expected, "{days}");
    }
    for (days, expected) in [(0, Status::Ok), (701, Status::Warning), (731, Status::Failed)] {
        assert_eq!(status(&whole, "bundle", at(days)), expected, "{days}");
    }
    assert_eq!(status(&whole, "chain", Timestamp(NOW.0 + LEAF_LIFE.0 + 1)), Status::Failed);
    let mut facts = whole.clone();
    facts.validating = Ok(Some(policy::validating()));
    comes_to(&facts, "bundle", Status::Failed, "no caBundle");
    comes_to(&facts, "chain", Status::Failed, "does not trust");
    let stranger = issue::authority(NOW).unwrap();
    facts.validating = with_bundle(policy::validating(), &stranger.certificate);
    comes_to(&facts, "chain", Status::Failed, "does not trust");
    let mut elsewhere = whole.clone();
    let mut addressed = elsewhere.mutating.clone().unwrap().unwrap();
    addressed["webhooks"][0]["clientConfig"]["url"] = json!("https://localhost:8443/admit");
    elsewhere.mutating = Ok(Some(addressed));
    comes_to(&elsewhere, "chain", Status::Failed, "under localhost");
    facts.leaf = Ok(None);
    comes_to(&facts, "certificate", Status::Failed, "there is no Secret");
    facts.leaf = Ok(Some(json!({"data": {"tls.crt": "bm9uc2Vuc2U="}})));
    comes_to(&facts, "certificate", Status::Failed, "failed to");
}

#[test]
fn replicas_that_are_not_ready_and_leaders_that_fell_silent_are_told() {
    let mut facts = whole(Mode::Protect);
    for (ready, status) in [(0, Status::Failed), (1, Status::Warning), (2, Status::Ok)] {
        facts.webhook = deployment("stagger", ready);
        assert_eq!(check(&facts, "webhook").status, status);
    }
    facts.leases.insert("stagger-webhook".to_owned(), lease("2027-01-15T07:58:00.000000Z"));
    comes_to(&facts, "leader-webhook", Status::Warning, "2 min ago");
    facts.leases.insert("stagger-webhook".to_owned(), Ok(Some(json!({"spec": {"holderIdentity": ""}}))));
    assert_eq!(check(&facts, "leader-webhook").status, Status::Unknown);
    facts.leases.insert("stagger-webhook".to_owned(), Ok(None));
    comes_to(&facts, "leader-webhook", Status::Unknown, "there is no Lease");
}

/// The command against a server: what it prints, and how it ends.
async fn doctor(kubeconfig: PathBuf, arguments: &'static [&'static str]) -> (Option<i32>, String, String) {
    let run = move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stagger"));
        command.args(["doctor", "-n", "evals", "--kubeconfig"]).arg(kubeconfig).args(arguments);
        command.output().unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_ends_with_1_where_something_failed_and_tells_it_as_table_and_as_json() {
    let fake = Fake::start(&["batch/v1/jobs"]).await;
    fake.serve_kind("kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue");
    fake.fail(Method::POST, "/apis/batch/v1/namespaces/evals/jobs", 422, "cannot contain empty gate names");
    let folder = tempfile::tempdir().unwrap();
    let (code, table, _) = doctor(fake.kubeconfig(&folder), &[]).await;
    assert_eq!(code, Some(1), "{table}");
    for line in ["ok       kubernetes", "ok       gates", "failed   kinds", "→ stagger crds | kubectl apply"] {
        assert!(table.contains(line), "{line}\n{table}");
    }
    let (_, json, _) = doctor(fake.kubeconfig(&folder), &["-o", "json"]).await;
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&document["apiVersion"], &document["status"]), (&json!("stagger.dev/doctor/v1"), &json!("failed")));
    assert_eq!(fake.asked(&Method::POST, "/"), 2, "one dry run each time, and no other write");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_ends_with_8_where_no_server_answers_or_it_forbids_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let text = "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: []}";
    std::fs::write(&path, text).unwrap();
    let (code, _, told) = doctor(path, &[]).await;
    assert_eq!(code, Some(8), "{told}");
    assert!(told.contains("the API server cannot be reached"), "{told}");
    let fake = Fake::start(&[]).await;
    fake.fail(Method::GET, "/", 403, "forbidden: User \"anna\" cannot get path");
    let (code, _, told) = doctor(fake.kubeconfig(&folder), &[]).await;
    assert_eq!(code, Some(8));
    assert!(told.contains("anna may not get /version"), "{told}");
}
