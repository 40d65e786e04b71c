//! The election over HTTP: one leader of many, the lease handed back, and what a silent or busy server does to it.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use stagger::cluster::Kind;
use stagger::cluster::lease::{Candidate, Leadership, Place, Timing, stand};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::fake::Fake;

const COLLECTION: &str = "/apis/coordination.k8s.io/v1/namespaces/stagger-system/leases";

/// Fast enough for a test; the proportions are those of the real ones.
fn quick() -> Timing {
    let millis = Duration::from_millis;
    Timing { duration: millis(750), renewal: millis(500), retry: millis(50) }
}

struct One {
    leadership: Leadership,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
    errors: mpsc::UnboundedReceiver<Kind>,
}

async fn one(fake: &Fake, name: &str) -> One {
    let (end, ended) = oneshot::channel::<()>();
    let (tell, errors) = mpsc::unbounded_channel();
    let place = Place { namespace: "stagger-system".into(), name: "stagger".into() };
    let until = async { drop(ended.await) };
    let candidate = Candidate::new(name.into(), quick());
    let on_error = move |error: &stagger::cluster::ClusterError| {
        let _nobody_listens = tell.send(error.kind);
    };
    let (leadership, task) = stand(fake.client().await, &place, candidate, quick(), until, on_error);
    One { leadership, end, task, errors }
}

async fn leads(one: &One) -> i64 {
    let mut changes = one.leadership.changes();
    let epoch = *changes.wait_for(Option::is_some).await.unwrap();
    epoch.unwrap()
}

async fn start() -> Arc<Fake> {
    Fake::start(&["coordination.k8s.io/v1/leases"]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_is_created_and_handed_back_and_the_next_one_leads_in_a_later_epoch() {
    let fake = start().await;
    let first = one(&fake, "a").await;
    let epoch = leads(&first).await;
    assert!(epoch > 29_000_000, "minutes since 1970: {epoch}");
    let spec = fake.get(COLLECTION, "stagger").unwrap()["spec"].clone();
    assert_eq!((&spec["holderIdentity"], &spec["leaseTransitions"]), (&"a".into(), &epoch.into()));
    let time = spec["renewTime"].as_str().unwrap();
    assert!(time.len() == "2026-11-30T12:00:00.000000Z".len() && time.ends_with('Z'), "{time}");
    let second = one(&fake, "b").await;
    first.end.send(()).unwrap();
    first.task.await.unwrap();
    assert!(!first.leadership.is_leader());
    assert_eq!(leads(&second).await, epoch + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_meet_a_free_lease_exactly_one_leads() {
    let fake = start().await;
    fake.put(COLLECTION, serde_json::json!({"metadata": {"name": "stagger", "namespace": "stagger-system"}, "spec": {"holderIdentity": "", "leaseTransitions": 41}}));
    let mut all = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        all.push(one(&fake, name).await);
    }
    let mut changes: Vec<_> = all.iter().map(|one| one.leadership.changes()).collect();
    let waits = changes.iter_mut().map(|changes| Box::pin(changes.wait_for(Option::is_some)));
    let epoch = futures::future::select_all(waits).await.0.as_ref().unwrap().unwrap();
    assert!(epoch > 29_000_000, "an epoch is at least the minutes since 1970, whatever was there before: {epoch}");
    assert_eq!(all.iter().filter(|one| one.leadership.is_leader()).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_whose_server_falls_silent_ends_its_tenure_in_time() {
    let fake = start().await;
    let leader = one(&fake, "a").await;
    let epoch = leads(&leader).await;
    fake.fail(Method::PUT, COLLECTION, 0, "");
    let mut changes = leader.leadership.changes();
    changes.wait_for(Option::is_none).await.unwrap();
    assert!(!leader.leadership.is_leader());
    fake.heal();
    assert!(leads(&leader).await > epoch, "back again it has a new epoch");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_refuses_is_told_and_tried_again() {
    let fake = start().await;
    let message = "leases.coordination.k8s.io \"stagger\" is forbidden: User \"u\" cannot get resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"stagger-system\"";
    fake.fail(Method::GET, COLLECTION, 403, message);
    let mut candidate = one(&fake, "a").await;
    assert_eq!(candidate.errors.recv().await, Some(Kind::Forbidden));
    assert!(!candidate.leadership.is_leader());
    fake.heal();
    leads(&candidate).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_wrote_on_the_lease_stays() {
    let fake = start().await;
    fake.put(COLLECTION, serde_json::json!({"metadata": {"name": "stagger", "namespace": "stagger-system", "labels": {"team": "infra"}}, "spec": {}}));
    leads(&one(&fake, "a").await).await;
    assert_eq!(fake.get(COLLECTION, "stagger").unwrap()["metadata"]["labels"]["team"], "infra");
}
