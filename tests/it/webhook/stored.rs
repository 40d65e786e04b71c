//! Certificates that live in the cluster: written by one, served by all, by a clock that is an argument.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use stagger::admission::certificates::published::{bundles, is_ours, patch};
use stagger::admission::certificates::stored::{AUTHORITY, LEAF, material};
use stagger::admission::certificates::{Keeper, serve_stored};
use stagger::admission::policy;
use stagger::admission::server::{Unready, Webhook};
use stagger::admission::tls::rotate::Step;
use stagger::admission::tls::{Identity, Served, issue};
use stagger::cluster::Kind;
use stagger::units::{Seconds, Timestamp};
use tokio::sync::Notify;
use tokio::time::{interval, timeout};

use super::client::{NAME, identity, names, now};
use crate::admission::world::cluster;
use crate::cluster::fake::Fake;

const SECRETS: &str = "/api/v1/namespaces/stagger-system/secrets";
const HOOKS: &str = "/apis/admissionregistration.k8s.io/v1";
const START: Timestamp = Timestamp(1_800_000_000);

fn configurations() -> [(String, Value); 2] {
    [
        (format!("{HOOKS}/mutatingwebhookconfigurations"), policy::mutating()),
        (format!("{HOOKS}/validatingwebhookconfigurations"), policy::validating()),
    ]
}

async fn server() -> Arc<Fake> {
    let fake = Fake::start(&[
        "v1/secrets",
        "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    ])
    .await;
    for (collection, configuration) in configurations() {
        fake.put(&collection, configuration);
    }
    fake
}

async fn keeper(fake: &Fake) -> Keeper {
    Keeper::new(fake.client().await, "stagger-system", "stagger-webhook")
}

async fn step(keeper: &Keeper, at: Timestamp) -> Option<Step> {
    keeper.look(|| true, at).await.unwrap().step
}

fn secret(fake: &Fake, name: &str) -> Option<Secret> {
    fake.get(SECRETS, name).map(|value| serde_json::from_value(value).unwrap())
}

fn text(secret: &Secret, key: &str) -> String {
    String::from_utf8(secret.data.as_ref().unwrap()[key].0.clone()).unwrap()
}

fn leaf(fake: &Fake) -> Identity {
    let secret = secret(fake, LEAF).unwrap();
    Identity::from_pem(text(&secret, "tls.crt").as_bytes(), text(&secret, "tls.key").as_bytes()).unwrap()
}

fn published(fake: &Fake) -> Vec<Vec<u8>> {
    let of = |(collection, known): (String, Value)| {
        bundles(&fake.get(&collection, known["metadata"]["name"].as_str().unwrap()).unwrap())
    };
    configurations().into_iter().flat_map(of).collect()
}

async fn bootstrap(keeper: &Keeper, at: Timestamp) {
    for wanted in [Some(Step::AddAuthority), Some(Step::Publish), Some(Step::IssueLeaf), None] {
        assert_eq!(step(keeper, at).await, wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_is_made_then_published_and_only_then_a_leaf_is_issued() {
    let fake = server().await;
    bootstrap(&keeper(&fake).await, START).await;
    let bundles = published(&fake);
    assert_eq!(bundles.len(), 2);
    for bundle in bundles {
        assert!(leaf(&fake).is_trusted(&bundle, NAME, START));
    }
    for name in [AUTHORITY, LEAF] {
        assert_eq!(secret(&fake, name).unwrap().type_.as_deref(), Some("kubernetes.io/tls"));
    }
    assert_ne!(text(&secret(&fake, AUTHORITY).unwrap(), "tls.key"), text(&secret(&fake, LEAF).unwrap(), "tls.key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_write_looks_and_touches_nothing() {
    let fake = server().await;
    let look = keeper(&fake).await.look(|| false, START).await.unwrap();
    assert_eq!((look.step, secret(&fake, AUTHORITY)), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_that_an_upgrade_blanked_is_published_again() {
    let fake = server().await;
    let keeper = keeper(&fake).await;
    bootstrap(&keeper, START).await;
    let [(collection, fresh), _] = configurations();
    fake.put(&collection, fresh);
    assert_eq!(step(&keeper, START).await, Some(Step::Publish));
    assert_eq!(step(&keeper, START).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn configurations_that_are_not_ours_or_cert_managers_are_left_alone() {
    let fake = server().await;
    let [(first, mut foreign), (second, mut injected)] = configurations();
    foreign["metadata"]["labels"] = json!({});
    injected["metadata"]["annotations"] = json!({"cert-manager.io/inject-ca-from": "stagger-system/stagger-webhook"});
    for configuration in [&foreign, &injected] {
        assert!(is_ours(configuration).is_err());
    }
    fake.put(&first, foreign);
    fake.put(&second, injected);
    let keeper = keeper(&fake).await;
    let look = keeper.look(|| true, START).await.unwrap();
    assert_eq!(look.left_alone.len(), 2, "{:?}", look.left_alone);
    assert_eq!(step(&keeper, START).await, Some(Step::IssueLeaf));
    assert!(published(&fake).iter().all(Vec::is_empty));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_write_at_once_one_wins_and_the_other_takes_up_his_work() {
    let fake = server().await;
    let (one, other) = (keeper(&fake).await, keeper(&fake).await);
    for _ in 0..20 {
        let (first, second) = tokio::join!(one.look(|| true, START), other.look(|| true, START));
        for look in [first, second] {
            let kind = look.map_err(|error| error.kind).err();
            assert!(matches!(kind, None | Some(Kind::Conflict | Kind::AlreadyExists)), "{kind:?}");
        }
    }
    assert_eq!(step(&one, START).await, None);
    for bundle in published(&fake) {
        assert!(leaf(&fake).is_trusted(&bundle, NAME, START));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_that_were_there_before_keep_their_type_and_are_filled() {
    let fake = server().await;
    for name in [AUTHORITY, LEAF] {
        let metadata = json!({"name": name, "namespace": "stagger-system", "labels": {"team": "infra"}});
        fake.put(SECRETS, json!({"metadata": metadata, "type": "Opaque", "data": {"tls.crt": "bm9uc2Vuc2U="}}));
    }
    bootstrap(&keeper(&fake).await, START).await;
    let kept = secret(&fake, LEAF).unwrap();
    assert_eq!(kept.type_.as_deref(), Some("Opaque"));
    assert_eq!(kept.metadata.labels.unwrap()["team"], "infra");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_whose_key_is_lost_stays_trusted_and_is_followed_by_another() {
    let fake = server().await;
    let keeper = keeper(&fake).await;
    bootstrap(&keeper, START).await;
    let before = leaf(&fake);
    let mut lost = fake.get(SECRETS, AUTHORITY).unwrap();
    lost["data"]["tls.key"] = json!("");
    fake.put(SECRETS, lost);
    let later = Timestamp(START.0 + 60);
    for wanted in [Step::AddAuthority, Step::Publish, Step::IssueLeaf] {
        assert_eq!(step(&keeper, later).await, Some(wanted));
        assert!(published(&fake).iter().all(|bundle| before.is_trusted(bundle, NAME, later)), "{wanted:?}");
    }
    assert_eq!(step(&keeper, later).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_secret_is_made_anew_without_a_handshake_that_fails() {
    let fake = server().await;
    let keeper = keeper(&fake).await;
    bootstrap(&keeper, START).await;
    let (before, later) = (leaf(&fake), Timestamp(START.0 + 60));
    fake.remove(SECRETS, AUTHORITY);
    for wanted in [Step::AddAuthority, Step::Publish, Step::IssueLeaf] {
        assert_eq!(step(&keeper, later).await, Some(wanted));
        assert!(published(&fake).iter().all(|bundle| before.is_trusted(bundle, NAME, later)), "{wanted:?}");
    }
    assert_eq!(step(&keeper, later).await, None);
    fake.remove(SECRETS, LEAF);
    assert_eq!(step(&keeper, later).await, Some(Step::IssueLeaf));
    assert!(published(&fake).iter().all(|bundle| leaf(&fake).is_trusted(bundle, NAME, later)));
}

/// Three years, looked at every four days, everything read back from the cluster each time.
#[tokio::test(flavor = "multi_thread")]
async fn years_of_rotation_keep_every_leaf_trusted_by_what_is_published() {
    let fake = server().await;
    let keeper = keeper(&fake).await;
    bootstrap(&keeper, START).await;
    let mut steps = Vec::new();
    for look in 0..(3 * 365 / 4) {
        let at = Timestamp(START.0 + look * 4 * Seconds::DAY.0);
        let mut done = 0;
        while let Some(step) = step(&keeper, at).await {
            steps.push(step);
            done += 1;
            assert!(done < 6, "{steps:?}");
            assert!(published(&fake).iter().all(|bundle| leaf(&fake).is_trusted(bundle, NAME, at)));
        }
    }
    let count = |wanted: Step| steps.iter().filter(|step| **step == wanted).count();
    assert_eq!((count(Step::AddAuthority), count(Step::DropAuthority)), (1, 1), "{steps:?}");
    assert!(count(Step::IssueLeaf) > 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_replica_serves_what_is_stored_and_is_ready_once_it_is_published() {
    let fake = server().await;
    let (keeper, at) = (keeper(&fake).await, now());
    let authority = issue::authority(at).unwrap();
    let first = identity(&issue::leaf(&authority, &names(), at).unwrap());
    let webhook = Webhook::new(Served::new(first), NAME, now);
    webhook.publish(Vec::new());
    webhook.learn(cluster(stagger::admission::Mode::Protect));
    let nudge = Arc::new(Notify::new());
    let (client, served) = (fake.client().await, Arc::clone(&webhook));
    let watching = Arc::clone(&nudge);
    tokio::spawn(async move { serve_stored(client, "stagger-system", served, watching, |_| ()).await });
    nudge.notified().await;
    assert_eq!(webhook.ready(), Err(Unready::Certificate));
    bootstrap(&keeper, at).await;
    let ready = async {
        let mut ticks = interval(Duration::from_millis(5));
        while webhook.ready().is_err() {
            ticks.tick().await;
        }
    };
    timeout(Duration::from_secs(30), ready).await.unwrap();
    let end = webhook.published_ends().unwrap();
    assert!(end > webhook.served.identity().ends().unwrap(), "the authority outlives the leaf");
    // A bundle that does not accept the leaf makes it unready, and its return makes it ready again.
    let (collection, mut broken) = configurations()[1].clone();
    broken["webhooks"][0]["clientConfig"]["caBundle"] = json!("bm9uc2Vuc2U=");
    fake.put(&collection, broken);
    let mut ticks = interval(Duration::from_millis(5));
    while webhook.ready() != Err(Unready::Certificate) {
        ticks.tick().await;
    }
    assert_eq!(step(&keeper, at).await, Some(Step::Publish));
    while webhook.ready().is_err() {
        ticks.tick().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_forbids_it_is_told_and_nothing_is_made() {
    let fake = server().await;
    fake.fail(Method::GET, SECRETS, 403, "no");
    let error = keeper(&fake).await.look(|| true, START).await.unwrap_err();
    assert_eq!(error.kind, Kind::Forbidden);
}

#[test]
fn a_patch_names_the_webhook_before_it_touches_it_and_is_empty_where_all_is_well() {
    let configuration = policy::mutating();
    let operations = patch(&configuration, "bundle").unwrap();
    assert_eq!(operations[0], json!({"op": "test", "path": "/webhooks/0/name", "value": "stamp.stagger.dev"}));
    assert_eq!(operations[1]["path"], "/webhooks/0/clientConfig/caBundle");
    let mut done = configuration;
    done["webhooks"][0]["clientConfig"]["caBundle"] = operations[1]["value"].clone();
    assert_eq!(patch(&done, "bundle"), None);
    assert_eq!(patch(&json!({}), "bundle"), None);
}

#[test]
fn what_cannot_be_read_is_as_if_it_were_not_there() {
    let empty = Secret::default();
    let read = material(Some(&empty), Some(&empty), &names(), START);
    assert_eq!((read.authorities.len(), read.leaf, read.signed_by), (0, None, None));
}
