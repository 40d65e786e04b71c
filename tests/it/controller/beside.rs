//! What is only told keeps nothing waiting, and what was decided later is what stays.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use stagger::cluster::Access;
use stagger::cluster::lease::{Candidate, Place, Timing, stand};
use stagger::controller::acknowledged::told::Webhook;
use stagger::controller::acts::Ended;
use stagger::controller::kinds::{KINDS, Need};
use stagger::controller::plan_loop::Loop;
use stagger::controller::plan_loop::beside::{Beside, Pace};
use stagger::controller::probes::Health;
use stagger::controller::rows::{Change, Rows};
use stagger::controller::settings::Settings;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::fake::{self, settings};
use crate::cluster::fake::Fake as Server;

/// Far more than any of this takes.
const BOUND: Duration = Duration::from_mins(2);

/// What was written, in order; each write ends when it is given a permit.
#[derive(Clone)]
struct Written {
    begun: Arc<Mutex<Vec<(&'static str, u32)>>>,
    done: Arc<Mutex<BTreeMap<&'static str, u32>>>,
    permits: Arc<Semaphore>,
}

impl Written {
    fn new() -> Self {
        Self { begun: Arc::default(), done: Arc::default(), permits: Arc::new(Semaphore::new(0)) }
    }

    fn beside(&self, at_once: usize) -> Beside<&'static str, (&'static str, u32)> {
        let own = self.clone();
        let write = move |(on, value): (&'static str, u32)| {
            let own = own.clone();
            async move {
                own.begun.lock().unwrap().push((on, value));
                own.permits.acquire().await.expect("it is open").forget();
                own.done.lock().unwrap().insert(on, value);
                if value == 13 { Ended::Changed } else { Ended::Done }
            }
        };
        Beside::new(Pace { at_once, low: 0 }, Arc::new(Notify::new()), write)
    }

    /// Waits until so many writes have begun.
    async fn begun(&self, count: usize) -> Vec<(&'static str, u32)> {
        until(async || self.begun.lock().unwrap().len() >= count).await;
        self.begun.lock().unwrap().clone()
    }

    fn done(&self) -> BTreeMap<&'static str, u32> {
        self.done.lock().unwrap().clone()
    }
}

async fn until(mut is: impl AsyncFnMut() -> bool) {
    let waited = async {
        while !is().await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, waited).await.expect("it must come true within the bound");
}

fn want(beside: &Beside<&'static str, (&'static str, u32)>, all: &[(&'static str, u32)]) {
    beside.want(all.iter().map(|one| (one.0, *one)));
}

#[tokio::test]
async fn of_two_writes_on_one_thing_the_one_that_was_decided_later_stays() {
    let written = Written::new();
    let beside = written.beside(4);
    want(&beside, &[("a", 1)]);
    written.begun(1).await;
    // There would be room for it, but the first has not ended.
    want(&beside, &[("a", 2), ("b", 1)]);
    assert_eq!(written.begun(2).await, [("a", 1), ("b", 1)]);
    // What is being written is not asked for twice; what waits gives way to what is wanted now.
    want(&beside, &[("a", 3), ("b", 1)]);
    written.permits.add_permits(2);
    assert_eq!(written.begun(3).await, [("a", 1), ("b", 1), ("a", 3)]);
    written.permits.add_permits(1);
    until(async || beside.count() == 0).await;
    assert_eq!(written.done(), [("a", 3), ("b", 1)].into());
}

#[tokio::test]
async fn what_is_not_wanted_any_more_is_not_written() {
    let written = Written::new();
    let beside = written.beside(1);
    want(&beside, &[("a", 1), ("b", 1), ("c", 1)]);
    written.begun(1).await;
    want(&beside, &[("c", 2)]);
    written.permits.add_permits(2);
    until(async || beside.count() == 0).await;
    assert_eq!(written.done(), [("a", 1), ("c", 2)].into());
}

#[tokio::test]
async fn what_did_not_go_is_tried_again_after_a_moment() {
    let written = Written::new();
    let mut beside = written.beside(1);
    written.permits.add_permits(2);
    want(&beside, &[("a", 13)]);
    let mut answers = Vec::new();
    until(async || {
        answers.extend(beside.answers());
        !answers.is_empty()
    })
    .await;
    assert_eq!(answers[0].2, Ended::Changed);
    until(async || {
        want(&beside, &[("a", 14)]);
        written.done()["a"] == 14
    })
    .await;
}

/// A loop on an API server, with rows of so many jobs that wait for each other.
async fn turning(server: &Server, jobs: usize) -> (Rows, Arc<Health>, watch::Sender<bool>) {
    let folder = tempfile::tempdir().unwrap();
    let access = Access { kubeconfig: Some(server.kubeconfig(&folder)), ..Access::default() };
    let cluster = stagger::cluster::connect(&access).await.unwrap();
    let rows = Rows::default();
    let place = |kind: &str| KINDS.iter().position(|it| it.kind == kind).expect("it is watched");
    for (at, kind) in KINDS.iter().enumerate() {
        rows.take(at, if kind.need == Need::Always { Change::Complete } else { Change::Absent });
    }
    let now = stagger::clock::now();
    let mut fake = (0..jobs).fold(fake::Fake::new(), |fake, at| fake.job(&format!("eval-{at:04}"), 2));
    // Whenever this runs, there is time for all of them.
    fake.due = "2999-12-31T00:00:00Z";
    for job in &mut fake.jobs {
        job.created = now;
    }
    fake.jobs[0].gates.clear();
    fake.jobs[0].admitted = Some(now);
    for row in fake.rows() {
        rows.take(place(&row.kind), Change::Applied(row));
    }
    let lease = Place { namespace: "stagger-system".to_owned(), name: "controller".to_owned() };
    let (end, ends) = watch::channel(false);
    let mut ended = ends.clone();
    let until = async move { drop(ended.wait_for(|ends| *ends).await) };
    let candidate = Candidate::new("test".to_owned(), Timing::default());
    let (leadership, _) = stand(cluster.client.clone(), &lease, candidate, Timing::default(), until, |_| {});
    let health = Arc::new(Health::default());
    let (_, webhook) = watch::channel(Webhook::default());
    let settings = Settings { time_limit_millis: 200, ..settings() };
    let turning = Loop::new(cluster, rows.clone(), settings, leadership, Arc::clone(&health), webhook);
    spawn_local(async move {
        turning.run(ends).await;
        drop(folder);
    });
    (rows, health, end)
}

fn planned(health: &Health, cause: &str) -> bool {
    let line = format!("stagger_controller_plans_total{{cause=\"{cause}\"}} ");
    health.metrics.page().lines().any(|it| it.starts_with(&line))
}

/// Hundreds of starts are to be written on jobs, and the API server answers none of it: a job that ends is planned for all
/// the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wave_of_planned_starts_keeps_no_disturbance_waiting() {
    LocalSet::new().run_until(a_wave_and_a_disturbance()).await;
}

async fn a_wave_and_a_disturbance() {
    const JOBS: usize = 400;
    let jobs = "/apis/batch/v1/namespaces/evals/jobs";
    let server = Server::start(&["coordination.k8s.io/v1/leases", "v1/configmaps"]).await;
    server.fail(Method::PATCH, jobs, 0, "");
    let (rows, health, end) = turning(&server, JOBS).await;
    until(async || planned(&health, "First") && server.asked(&Method::PATCH, jobs) > 0).await;
    let asked = server.asked(&Method::PATCH, jobs);
    for (kind, name) in [("Job", "eval-0000"), ("Workload", "job-eval-0000-1")] {
        let at = KINDS.iter().position(|it| it.kind == kind).expect("it is watched");
        rows.take(at, Change::Deleted { namespace: "evals".to_owned(), name: name.to_owned() });
    }
    until(async || planned(&health, "Ended")).await;
    // Each of them keeps its place at the server for two seconds, so the wave is far from over.
    let since = server.asked(&Method::PATCH, jobs) - asked;
    assert!(since < JOBS / 2, "{since} starts were tried in the meantime");
    end.send_replace(true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planned_starts_are_on_the_work_in_the_end() {
    LocalSet::new().run_until(a_dozen_starts()).await;
}

async fn a_dozen_starts() {
    let jobs = "/apis/batch/v1/namespaces/evals/jobs";
    let server = Server::start(&["coordination.k8s.io/v1/leases", "v1/configmaps", "batch/v1/jobs"]).await;
    for at in 0..12 {
        let name = format!("eval-{at:04}");
        let annotations = json!({"kueue.x-k8s.io/admission-gated-by": fake::GATE});
        let metadata =
            json!({"name": name, "namespace": "evals", "uid": format!("job-{name}"), "annotations": annotations});
        server.put(jobs, json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}));
    }
    let (_rows, _health, end) = turning(&server, 12).await;
    let written = |at: usize| {
        let job = server.get(jobs, &format!("eval-{at:04}")).expect("it is there");
        job["metadata"]["annotations"]["stagger.dev/planned-start"].as_str().map(str::to_owned)
    };
    until(async || (2..12).all(|at| written(at).is_some())).await;
    let starts: Vec<String> = (2..12).filter_map(written).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    end.send_replace(true);
}
