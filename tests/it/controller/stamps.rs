//! Work that came without a stamp: whose it is, what is written on it, and what its tenant is told.

use kube::core::ObjectMeta;
use serde_json::{Value, json};
use stagger::admission::kinds::KINDS;
use stagger::admission::late::{Late, Tenure, judge};
use stagger::admission::{Directory, TenantRef};
use stagger::api::keys::{ATTRIBUTION, TENANT, TENANT_SINCE, TENANT_UID};
use stagger::api::manifest::Manifest;
use stagger::api::status::{ConditionStatus, GpuTenantStatus};
use stagger::calendar;
use stagger::controller::stamps::found::{Change, Found, Unstamped};
use stagger::controller::stamps::round::{AGAIN, STAMPS_MAX, Tenancy, due, left};
use stagger::controller::stamps::told::{Given, Standing, tenant_status};
use stagger::units::{Seconds, Timestamp};

/// Since then namespaces are their tenants'.
const SINCE: Timestamp = Timestamp(1_800_000_000);
const NOW: Timestamp = Timestamp(SINCE.0 + 3600);

fn object(api_version: &str, kind: &str, name: &str, mut value: Value) -> Manifest {
    value["metadata"]["name"] = json!(name);
    value["metadata"]["uid"] = json!(format!("uid-of-{name}"));
    let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
    Manifest {
        api_version,
        kind,
        namespace: String::new(),
        name: name.to_owned(),
        value,
        shared: Box::default(),
        origin: None,
    }
}

fn tenant(name: &str, namespaces: &[&str]) -> Manifest {
    object("stagger.dev/v1alpha1", "GpuTenant", name, json!({"spec": {"namespaces": namespaces}}))
}

/// A namespace that says it is a tenant's.
fn namespace(name: &str, tenant: &str) -> Manifest {
    let labels = json!({TENANT: tenant, TENANT_UID: format!("uid-of-{tenant}")});
    let since = calendar::rfc3339(SINCE, chrono_tz::UTC);
    object("v1", "Namespace", name, json!({"metadata": {"labels": labels, "annotations": {TENANT_SINCE: since}}}))
}

/// `evals` is nlp's, `moved` was vision's until now, two share `shared`, `free` is nobody's.
fn rows() -> Vec<Manifest> {
    vec![
        tenant("nlp", &["evals", "shared", "moved", "kube-system"]),
        tenant("vision", &["shared", "lab"]),
        namespace("evals", "nlp"),
        namespace("moved", "vision"),
        namespace("kube-system", "nlp"),
        object("v1", "Namespace", "shared", json!({})),
        object("v1", "Namespace", "free", json!({})),
    ]
}

fn metadata(created: Timestamp, annotations: Value) -> ObjectMeta {
    let created = calendar::rfc3339(created, chrono_tz::UTC);
    let written = json!({"uid": "u", "resourceVersion": "7", "creationTimestamp": created, "annotations": annotations});
    serde_json::from_value(written).unwrap()
}

fn place(kind: &str) -> usize {
    KINDS.iter().position(|known| known.kind == kind).unwrap()
}

/// What has no stamp: kind, namespace, name, seconds after `SINCE`, annotations.
fn found(objects: &[(&str, &str, &str, i64, Value)]) -> Found {
    let mut found = Found::default();
    for kind in 0..KINDS.len() {
        found.take(kind, Change::Begin, None);
    }
    for (kind, namespace, name, after, annotations) in objects {
        let one = Unstamped::of(&metadata(SINCE + Seconds(*after), annotations.clone()));
        found.take(place(kind), Change::Put((*namespace).to_owned(), (*name).to_owned(), one), None);
    }
    for kind in 0..KINDS.len() {
        found.take(kind, Change::Complete, None);
    }
    found
}

fn stamped(found: &Found, now: Timestamp) -> Vec<(String, String)> {
    let stamps = due(found, &Tenancy::of(&rows()), now);
    stamps.into_iter().map(|stamp| (stamp.place.called(), stamp.tenant.uid)).collect()
}

#[test]
fn work_belongs_to_whose_the_namespace_was_alone_when_it_was_made() {
    let directory = Tenancy::of(&rows()).directory;
    let nlp = TenantRef { name: "nlp".to_owned(), uid: "uid-of-nlp".to_owned() };
    let made_anew = TenantRef { uid: "another".to_owned(), ..nlp.clone() };
    let of = |tenant: &TenantRef| Some(Tenure { tenant: tenant.clone(), since: SINCE });
    let asked = |namespace: &str, after: i64, tenure: Option<Tenure>, directory: &Directory| {
        judge(namespace, SINCE + Seconds(after), tenure.as_ref(), directory)
    };
    let table = [
        ("evals", 1, of(&nlp), Late::Theirs(nlp.clone())),
        // In that very second it may have been there before.
        ("evals", 0, of(&nlp), Late::Older),
        ("evals", -60, of(&nlp), Late::Older),
        // The namespace does not say, or says otherwise: a move that is not written yet.
        ("evals", 1, None, Late::Unsettled),
        ("evals", 1, of(&made_anew), Late::Unsettled),
        ("free", 1, of(&nlp), Late::Nobodys),
    ];
    for (namespace, after, tenure, expected) in table {
        assert_eq!(asked(namespace, after, tenure.clone(), &directory), expected, "{namespace} {after} {tenure:?}");
    }
    let Late::Shared(several) = asked("shared", 1, of(&nlp), &directory) else { panic!("two claim it") };
    assert_eq!(several.iter().map(|id| id.name.as_str()).collect::<Vec<_>>(), ["nlp", "vision"]);
}

#[test]
fn only_what_can_be_told_is_stamped_and_what_a_cluster_stands_on_is_left_alone() {
    let mirror = json!({"kubernetes.io/config.mirror": "hash"});
    let found = found(&[
        ("Pod", "evals", "new", 5, json!({})),
        ("Pod", "evals", "old", -5, json!({})),
        ("Pod", "evals", "static", 5, mirror),
        ("Pod", "evals", "marked", 5, json!({ATTRIBUTION: "fallback"})),
        ("Job", "evals", "train", 5, json!({})),
        ("Job", "moved", "train", 5, json!({})),
        ("Job", "shared", "train", 5, json!({})),
        ("Job", "free", "train", 5, json!({})),
        ("Pod", "kube-system", "dns", 5, json!({})),
    ]);
    let nlp = |name: &str| (name.to_owned(), "uid-of-nlp".to_owned());
    assert_eq!(stamped(&found, NOW), [nlp("Pod evals/marked"), nlp("Pod evals/new"), nlp("Job evals/train")]);
}

#[test]
fn an_object_on_its_way_out_is_not_stamped() {
    let mut leaving = metadata(NOW, json!({}));
    assert!(Unstamped::of(&leaving).is_some());
    leaving.deletion_timestamp.clone_from(&leaving.creation_timestamp);
    assert_eq!(Unstamped::of(&leaving), None);
}

#[test]
fn a_flood_is_stamped_piece_by_piece_and_what_was_refused_rests() {
    let names: Vec<String> = (0..STAMPS_MAX + 5).map(|at| format!("pod-{at:03}")).collect();
    let objects: Vec<_> = names.iter().map(|name| ("Pod", "evals", name.as_str(), 5, json!({}))).collect();
    let mut found = found(&objects);
    let first = due(&found, &Tenancy::of(&rows()), NOW);
    assert_eq!(first.len(), STAMPS_MAX);
    found.refuse(&first[0].place, NOW, "no");
    for stamp in &first[1..] {
        found.done(&stamp.place);
    }
    assert_eq!(stamped(&found, NOW + Seconds(AGAIN.0 - 1)).len(), 5);
    assert_eq!(stamped(&found, NOW + AGAIN).len(), 6);
    // What it was refused for outlives an update of the object and a list.
    let again = Unstamped::of(&metadata(NOW, json!({})));
    found.take(place("Pod"), Change::Put("evals".to_owned(), "pod-000".to_owned(), again.clone()), None);
    assert_eq!(stamped(&found, NOW).len(), 5);
    found.take(place("Pod"), Change::Begin, None);
    found.take(place("Pod"), Change::Put("evals".to_owned(), "pod-000".to_owned(), again), None);
    assert_eq!(stamped(&found, NOW).len(), 5, "a list that is under way takes no place yet");
    found.take(place("Pod"), Change::Complete, None);
    assert_eq!(stamped(&found, NOW), []);
    assert_eq!(stamped(&found, NOW + AGAIN).len(), 1);
}

fn told(tenant: &str, found: &Found, given: Option<&Given>) -> (ConditionStatus, String, String) {
    told_where(true, tenant, found, given)
}

fn told_where(wanted: bool, tenant: &str, found: &Found, given: Option<&Given>) -> (ConditionStatus, String, String) {
    let tenancy = Tenancy::of(&rows());
    let (left, _) = left(found, &tenancy);
    let status = tenant_status(Standing {
        now: NOW,
        generation: Some(1),
        claims: &tenancy.claims(tenant),
        wanted,
        left: left.get(tenant),
        given,
        unread: found.unread(),
        before: &GpuTenantStatus::default(),
    });
    let stamped = &status.conditions[0];
    assert_eq!(stamped.condition, "Stamped");
    (stamped.status, stamped.reason.clone(), stamped.message.clone())
}

#[test]
fn what_nobody_can_tell_is_told_to_each_that_it_may_be_with_names_and_what_to_do() {
    let found = found(&[
        ("Pod", "shared", "a", 5, json!({})),
        ("Pod", "shared", "b", 5, json!({})),
        ("Pod", "shared", "c", 5, json!({})),
        ("Pod", "shared", "seen-by-the-webhook", 5, json!({ATTRIBUTION: "ambiguous"})),
        ("Job", "shared", "train", 5, json!({})),
    ]);
    for tenant in ["nlp", "vision"] {
        let (status, reason, message) = told(tenant, &found, None);
        assert_eq!((status, reason.as_str()), (ConditionStatus::False, "Shared"));
        assert_eq!(
            message,
            "without a stamp, for none was written as it was made: Pod shared/a, Pod shared/b, Pod shared/c and 1 more; \
             several GpuTenants share its namespace, and who made it is not known any more: delete it and create it anew"
        );
    }
}

#[test]
fn who_took_the_webhook_away_is_told_that_nothing_is_stamped_and_what_that_leaves() {
    let (some, none) = (found(&[("Pod", "evals", "a", 5, json!({}))]), found(&[]));
    let absent = "neither the webhook configuration 00-stagger nor the policy stagger-stamp is there, so that nothing is \
                  stamped, now or later; without a stamp: ";
    for (found, left) in [(&some, "Pod evals/a"), (&none, "nothing yet")] {
        let told = told_where(false, "nlp", found, None);
        assert_eq!(told, (ConditionStatus::Unknown, "NotWanted".to_owned(), format!("{absent}{left}")));
    }
}

#[test]
fn a_tenant_is_told_what_was_stamped_later_and_what_could_not_be() {
    let (mut some, none) = (found(&[("Pod", "evals", "a", 5, json!({}))]), found(&[]));
    assert_eq!(told("nlp", &none, None).1, "Stamped");
    let mut given = Given::default();
    for name in ["Pod evals/a", "Pod evals/b", "Job evals/c", "Job evals/d"] {
        given.add(name.to_owned(), NOW);
    }
    let (status, reason, message) = told("nlp", &none, Some(&given));
    assert_eq!((status, reason.as_str()), (ConditionStatus::True, "StampedLate"));
    assert_eq!(
        message,
        "all work in its namespaces carries its stamp; some was written later, until \
         2027-01-15T09:00:00Z: Pod evals/a, Pod evals/b, Job evals/c and 1 more, each with stagger.dev/attribution: late"
    );
    let place = due(&some, &Tenancy::of(&rows()), NOW)[0].place.clone();
    some.refuse(&place, NOW, "u may not patch pods");
    let (status, reason, message) = told("nlp", &some, None);
    assert_eq!((status, reason.as_str()), (ConditionStatus::False, "Refused"));
    assert!(message.ends_with("Pod evals/a; a stamp could not be written: u may not patch pods"), "{message}");
}

#[test]
fn what_could_not_be_listed_is_not_said_to_be_stamped() {
    let mut found = Found::default();
    assert!(!found.is_complete());
    found.take(place("Pod"), Change::Failed("u may not list pods".to_owned()), None);
    let (status, reason, message) = told("nlp", &found, None);
    assert_eq!(
        (status, reason.as_str(), message.as_str()),
        (ConditionStatus::Unknown, "NotRead", "u may not list pods")
    );
    found.take(place("Pod"), Change::Begin, None);
    found.take(place("Pod"), Change::Complete, None);
    assert_eq!(found.unread(), None);
}

#[test]
fn a_tenant_knows_its_namespaces_and_who_claims_one_of_them_too() {
    let claims = Tenancy::of(&rows()).claims("nlp");
    assert_eq!((claims.own, claims.shared), (2, Some(("shared".to_owned(), vec!["vision".to_owned()]))));
}
