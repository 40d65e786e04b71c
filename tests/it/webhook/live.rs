//! What the webhook knows, kept in step by watches on an API server that fails in all the usual ways.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use stagger::admission::live::{learn, sources};
use stagger::admission::server::Webhook;
use stagger::admission::tls::Served;
use stagger::admission::tls::issue;
use stagger::admission::{Known, Mode, Told, World};
use stagger::cluster::Patience;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{interval, timeout};

use super::client::{NAME, identity, names, now};
use crate::admission::world::{Ask, a_job, create};
use crate::cluster::fake::Fake;

const NAMESPACES: &str = "/api/v1/namespaces";
const TENANTS: &str = "/apis/stagger.dev/v1alpha1/gputenants";
const PLANS: &str = "/apis/stagger.dev/v1alpha1/capacityplans";
const QUEUES: &str = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
const LOCAL: &str = "/apis/kueue.x-k8s.io/v1beta2/namespaces/evals/localqueues";
const JOBS: &str = "/apis/batch/v1/namespaces/shared/jobs";

/// A bound on what comes within milliseconds unless it never comes.
const SOON: Duration = Duration::from_secs(30);

struct Learning {
    webhook: Arc<Webhook>,
    told: UnboundedReceiver<String>,
}

impl Learning {
    /// Waits until the world is so.
    async fn until(&self, what: &str, holds: impl Fn(&World) -> bool) {
        let mut ticks = interval(Duration::from_millis(5));
        let waiting = async {
            while !self.webhook.world().is_some_and(|world| holds(&world)) {
                ticks.tick().await;
            }
        };
        timeout(SOON, waiting).await.unwrap_or_else(|_| panic!("never: {what}; missing {:?}", self.webhook.missing()));
    }

    async fn hears(&mut self, part: &str) {
        let waiting = async { while !self.told.recv().await.unwrap().contains(part) {} };
        timeout(SOON, waiting).await.unwrap_or_else(|_| panic!("never told: {part}"));
    }
}

async fn start(fake: &Fake) -> Learning {
    let authority = issue::authority(now()).unwrap();
    let leaf = issue::leaf(&authority, &names(), now()).unwrap();
    let webhook = Webhook::new(Served::new(identity(&leaf)), NAME, now);
    let patience = Patience { absent: Duration::from_millis(20), unknown: Duration::from_millis(20) };
    let (tell, told) = mpsc::unbounded_channel();
    let tell = move |told: Told<'_>| {
        let (Told::Done(line) | Told::Trouble(line)) = told;
        let _nobody_listens = tell.send(line.to_owned());
    };
    tokio::spawn(learn(fake.client().await, Arc::clone(&webhook), Mode::Protect, patience, tell));
    Learning { webhook, told }
}

/// A server of everything that is watched, in these versions; `but` are not installed.
async fn server(but: &[&str]) -> Arc<Fake> {
    let versions =
        [("", "v1"), ("apps", "v1"), ("batch", "v1"), ("stagger.dev", "v1alpha1"), ("kueue.x-k8s.io", "v1beta2")];
    let fake = Fake::start(&[]).await;
    for source in sources() {
        let version = versions.iter().find(|(group, _)| *group == source.group).map_or("v1", |(_, version)| version);
        if !but.contains(&source.group) {
            fake.serve_kind(source.group, version, source.plural, source.kind);
        }
    }
    fake
}

fn object(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn fill(fake: &Fake) {
    for namespace in ["evals", "shared"] {
        fake.put(NAMESPACES, json!({"metadata": {"name": namespace, "labels": {"space": namespace}}}));
    }
    fake.put(TENANTS, object("nlp", json!({"namespaceSelector": {"matchLabels": {"space": "evals"}}})));
    fake.put(PLANS, object("main", json!({"queues": ["batch"], "mode": "Enforce"})));
    fake.put(QUEUES, object("batch", json!({})));
    let local = json!({"metadata": {"name": "batch", "namespace": "evals"}, "spec": {"clusterQueue": "batch"}});
    fake.put(LOCAL, local);
}

fn ask() -> Ask {
    create("batch", "jobs", a_job("batch"))
}

fn stamped(world: &World) -> bool {
    ask().result(world)["metadata"]["labels"]["stagger.dev/tenant"] == "nlp"
}

fn gated(world: &World) -> bool {
    ask().result(world)["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] == "stagger.dev/planner"
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_cluster_stamps_and_gates_and_what_leaves_it_does_so_no_more() {
    let fake = server(&[]).await;
    fill(&fake);
    let learning = start(&fake).await;
    learning.until("stamped and gated", |world| stamped(world) && gated(world)).await;
    fake.put(PLANS, object("main", json!({"queues": ["batch"], "mode": "Observe"})));
    learning.until("the plan observes", |world| stamped(world) && !gated(world)).await;
    fake.remove(TENANTS, "nlp");
    learning.until("the tenant is gone", |world| !stamped(world)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn which_generation_of_each_plan_is_known_is_told_by_uid_and_a_plan_that_is_gone_is_not() {
    let fake = server(&[]).await;
    let learning = start(&fake).await;
    let plan = |uid: &str, generation: i64| json!({"metadata": {"name": "main", "uid": uid, "generation": generation}, "spec": {"mode": "Enforce"}});
    let knows = async |what: &str, uid: &'static str, generation: Option<i64>| {
        learning.until(what, |world| Known::of(world).generation(uid) == generation).await;
    };
    fake.put(PLANS, plan("u-1", 1));
    knows("the plan", "u-1", Some(1)).await;
    fake.put(PLANS, plan("u-1", 2));
    knows("its next generation", "u-1", Some(2)).await;
    fake.remove(PLANS, "main");
    fake.put(PLANS, plan("u-2", 1));
    knows("another plan of that name", "u-2", Some(1)).await;
    let told = Known::of(&learning.webhook.world().unwrap()).write();
    assert_eq!(String::from_utf8(told).unwrap(), r#"{"version":1,"capacityPlans":{"u-2":1}}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn owners_are_known_by_uid_from_their_metadata_alone() {
    let fake = server(&[]).await;
    fill(&fake);
    let labels = json!({"stagger.dev/tenant": "nlp", "stagger.dev/tenant-uid": "u"});
    fake.put(JOBS, json!({"metadata": {"name": "train", "namespace": "shared", "uid": "j-1", "labels": labels}}));
    let learning = start(&fake).await;
    let owns = |world: &World, uid: &str| {
        let reference =
            json!({"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": uid, "controller": true});
        let reference = reference.to_string();
        world.owners.verify("shared", &serde_json::from_str(&reference).unwrap()).is_some()
    };
    learning.until("the job is known", |world| owns(world, "j-1")).await;
    fake.remove(JOBS, "train");
    fake.put(JOBS, json!({"metadata": {"name": "train", "namespace": "shared", "uid": "j-2"}}));
    learning.until("only the new one is", |world| owns(world, "j-2") && !owns(world, "j-1")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_our_kinds_or_kueue_is_answered_and_kinds_that_come_later_count() {
    let fake = server(&["stagger.dev", "kueue.x-k8s.io", "ray.io"]).await;
    let learning = start(&fake).await;
    learning.until("known", |world| !stamped(world)).await;
    for source in sources().iter().filter(|source| ["stagger.dev", "kueue.x-k8s.io"].contains(&source.group)) {
        let version = if source.group == "stagger.dev" { "v1alpha1" } else { "v1beta2" };
        fake.serve_kind(source.group, version, source.plural, source.kind);
    }
    fill(&fake);
    learning.until("installed", |world| stamped(world) && gated(world)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_answered_before_every_kind_was_listed() {
    let fake = server(&[]).await;
    fill(&fake);
    fake.fail(Method::GET, "/apis/kueue.x-k8s.io/v1beta2/localqueues", 403, "no");
    let mut learning = start(&fake).await;
    learning.hears("localqueues.kueue.x-k8s.io: forbidden: no").await;
    let mut ticks = interval(Duration::from_millis(5));
    while learning.webhook.missing() != ["localqueues.kueue.x-k8s.io"] {
        ticks.tick().await;
    }
    assert!(learning.webhook.world().is_none());
    let page = learning.webhook.metrics.page(&[]);
    assert!(page.contains("stagger_watch_errors_total{resource=\"localqueues.kueue.x-k8s.io\"} "), "{page}");
    fake.heal();
    learning.until("gated", gated).await;
    learning.hears("localqueues.kueue.x-k8s.io is watched again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_that_end_go_on_and_deletions_that_nobody_told_of_are_noticed() {
    let fake = server(&[]).await;
    fill(&fake);
    let learning = start(&fake).await;
    learning.until("known", gated).await;
    fake.cut_watches(false);
    fake.put(TENANTS, object("nlp", json!({"namespaces": []})));
    learning.until("resumed", |world| !stamped(world)).await;
    // Too old to go on from: everything is listed anew, without the plan.
    fake.fail(Method::GET, PLANS, 500, "restarting");
    fake.remove(PLANS, "main");
    fake.cut_watches(true);
    fake.heal();
    learning.until("listed anew", |world| !gated(world)).await;
}

/// kube#1615, kube#717.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_ends_of_all_watches_are_got_over_and_what_fails_is_counted() {
    let fake = server(&[]).await;
    fill(&fake);
    let learning = start(&fake).await;
    learning.until("known", stamped).await;
    for round in 0..100 {
        // Every twentieth time the server has forgotten the versions: it answers 410.
        fake.cut_watches(round % 20 == 19);
        let is_stamped = round % 2 == 1;
        let spec = if is_stamped { json!({"namespaces": ["evals"]}) } else { json!({"namespaces": []}) };
        fake.put(TENANTS, object("nlp", spec));
        learning.until("followed", |world| stamped(world) == is_stamped).await;
    }
    let page = learning.webhook.metrics.page(&[]);
    let counted = page.lines().filter_map(|line| line.strip_prefix("stagger_watch_errors_total{")).count();
    assert!(counted > 0, "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_cannot_be_read_is_told_and_left_out() {
    let fake = server(&[]).await;
    fill(&fake);
    let mut learning = start(&fake).await;
    learning.until("stamped", stamped).await;
    fake.put(TENANTS, object("nlp", json!({"namespaces": 7})));
    learning.hears("GpuTenant nlp").await;
    learning.until("left out", |world| !stamped(world)).await;
}
