//! Requests to create, as fast as they are meant to come, whoever answers them: an open loop over several connections.
//!
//! Dry runs, which go through all of admission and write nothing. A machine that cannot bear the rate is not buried under
//! what waits: with so many on their way, the next one is left out, and how many were is told.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::Node;
use super::installation::{pod, stamp_of};
use crate::person::Person;

/// 500 a second, as in kubernetes#127335.
const APART: Duration = Duration::from_millis(2);
const CONNECTIONS: usize = 4;
/// On their way at once. At 500 a second each may take 30 ms; more would only wait for each other on a machine that is busy.
const AT_ONCE: usize = 16;
/// What the API server gives the webhook here, instead of two seconds. A machine that stands still for two seconds is not
/// what is tried; a connection that is refused, cut off or swallowed loses its request all the same.
const TIMEOUT_SECONDS: u32 = 30;

/// Patches of an installation that is to stand the load on a busy machine.
pub fn patient() -> Value {
    let patch = json!([{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": TIMEOUT_SECONDS}]).to_string();
    let of = |kind: &str| json!({"target": {"kind": kind}, "patch": patch});
    json!([of("MutatingWebhookConfiguration"), of("ValidatingWebhookConfiguration")])
}

/// What became of the requests.
pub struct Load {
    pub count: usize,
    /// Not asked, for too many were on their way.
    pub left_out: usize,
    pub lasted: Duration,
    pub slowest: Duration,
    /// Those that came through without a stamp or not at all.
    pub lost: Vec<String>,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, left_out, lasted, slowest, lost } = self;
        let rate = f64::from(u32::try_from(*count).unwrap_or(u32::MAX)) / lasted.as_secs_f64();
        write!(f, "{count} requests in {lasted:.1?}, {rate:.0} a second, {left_out} left out, the slowest took ")?;
        write!(f, "{slowest:.1?}, {} lost", lost.len())
    }
}

/// Creates pods until nobody tells any more.
pub async fn creates(node: &Node, namespace: &str, stamp: &(String, String), stop: watch::Receiver<()>) -> Load {
    let mut people = Vec::new();
    for _ in 0..CONNECTIONS {
        people.push(Arc::new(Person::new("admin", node.plane.admin.kubeconfig().to_owned()).await));
    }
    let (room, asked_for) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::new((pod(namespace), stamp.clone())));
    let begun = Instant::now();
    let mut load = Load { count: 0, left_out: 0, lasted: Duration::ZERO, slowest: Duration::ZERO, lost: Vec::new() };
    let mut ticks = interval(APART);
    // What is late comes at once.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut answers = JoinSet::new();
    let mut people = people.iter().cycle();
    while stop.has_changed().is_ok() {
        ticks.tick().await;
        while let Some(answer) = answers.try_join_next() {
            load.take(answer.expect("a request ends"));
        }
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            load.left_out += 1;
            continue;
        };
        let (person, asked_for) = (Arc::clone(people.next().expect("a cycle goes on")), Arc::clone(&asked_for));
        answers.spawn(async move {
            let answer = ask(&person, &asked_for.0, &asked_for.1).await;
            drop(permit);
            answer
        });
    }
    load.lasted = begun.elapsed();
    while let Some(answer) = answers.join_next().await {
        load.take(answer.expect("a request ends"));
    }
    load
}

impl Load {
    fn take(&mut self, (took, lost): (Duration, Option<String>)) {
        self.count += 1;
        self.slowest = self.slowest.max(took);
        self.lost.extend(lost);
    }
}

/// How long it took, and what is wrong with the answer.
async fn ask(person: &Person, object: &Value, stamp: &(String, String)) -> (Duration, Option<String>) {
    let begun = Instant::now();
    let lost = match person.dry_run(object).await {
        Ok(made) if stamp_of(&made) == *stamp => None,
        Ok(made) => Some(format!("without a stamp: {}", made["metadata"])),
        Err(refused) => Some(refused.message),
    };
    (begun.elapsed(), lost)
}
