//! What is seen of a list across watches that end, connections that are cut off and versions that are forgotten
//! (kube#1844, kube#1882). Whoever writes a row for what he sees writes none twice.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher;
use serde_json::json;
use stagger::cluster::{Seen, follow};
use tokio::time::timeout;

use super::fake::Fake;

const PODS: &str = "/api/v1/namespaces/evals/pods";
const OBJECTS: usize = 20;
/// Of a hundred ends of a watch every tenth finds that its version is forgotten.
const ENDS: usize = 100;
const FORGOTTEN_EACH: usize = 10;
/// A bound on what comes within milliseconds unless it never comes.
const SOON: Duration = Duration::from_secs(30);

/// What a ledger would take down: an object by its UID, in a version that it has not seen yet.
#[derive(Default)]
struct Books {
    latest: BTreeMap<String, u64>,
    rows: Vec<(String, u64)>,
    /// UIDs of the list that is under way.
    listed: Option<BTreeSet<String>>,
    lists: usize,
    failures: usize,
}

impl Books {
    fn take(&mut self, seen: Seen<DynamicObject>) {
        let said = |object: &DynamicObject| {
            let version = object.metadata.resource_version.as_ref().unwrap().parse::<u64>().unwrap();
            (object.metadata.uid.clone().unwrap(), version)
        };
        match seen {
            Seen::Begin => self.listed = Some(BTreeSet::new()),
            Seen::Listed(object) => {
                let (uid, version) = said(&object);
                assert!(self.listed.as_mut().expect("a list has begun").insert(uid.clone()), "{uid} is listed twice");
                self.enter(uid, version);
            }
            Seen::Complete => {
                self.listed = None;
                self.lists += 1;
            }
            Seen::Applied(object) => {
                let (uid, version) = said(&object);
                let before = self.latest.get(&uid).copied().unwrap_or(0);
                assert!(version > before, "a watch tells {uid} in version {version} after {before}");
                self.enter(uid, version);
            }
            Seen::Deleted(_) => {}
            Seen::Failed(_) => self.failures += 1,
        }
    }

    fn enter(&mut self, uid: String, version: u64) {
        let before = self.latest.insert(uid.clone(), version).unwrap_or(0);
        assert!(version >= before, "{uid} goes back from {before} to {version}");
        if version > before {
            self.rows.push((uid, version));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_watches_that_end_tell_nothing_twice_and_nothing_is_missed() {
    let fake = Fake::start(&["v1/pods"]).await;
    let put = |number: usize, round: usize| {
        let metadata = json!({"name": format!("pod-{number}"), "namespace": "evals", "uid": format!("uid-{number}")});
        fake.put(PODS, json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "round": round}));
    };
    (0..OBJECTS).for_each(|number| put(number, 0));
    let pods = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    let api = Api::<DynamicObject>::all_with(fake.client().await, &pods);
    let mut seen = pin!(follow(api, watcher::Config::default(), "pods"));
    let mut books = Books::default();
    for round in 1..=ENDS {
        let number = round % OBJECTS;
        // What is written while nobody watches is told afterwards, once.
        fake.cut_watches(round % FORGOTTEN_EACH == 0);
        put(number, round);
        let wanted = fake.get(PODS, &format!("pod-{number}")).unwrap()["metadata"]["resourceVersion"].clone();
        let wanted = wanted.as_str().unwrap().parse::<u64>().unwrap();
        while books.latest.get(&format!("uid-{number}")) != Some(&wanted) {
            books.take(timeout(SOON, seen.next()).await.expect("it goes on").expect("it never ends"));
        }
    }
    let once: BTreeSet<&(String, u64)> = books.rows.iter().collect();
    assert_eq!(once.len(), books.rows.len());
    assert_eq!(books.latest.len(), OBJECTS);
    // One row for each object of the first list, and one for each change.
    assert!(books.rows.len() >= OBJECTS + ENDS - 1, "{} rows", books.rows.len());
    assert!(books.lists > ENDS / FORGOTTEN_EACH / 2 && books.failures > 0, "{} lists", books.lists);
}
