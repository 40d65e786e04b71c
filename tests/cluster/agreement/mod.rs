//! What we believe Kueue does against what it does: `kueue::simulate` beside the real scheduler, instant by instant.
//!
//! Each case is a handful of queues and workloads. Its ClusterQueues are inactive until their flavors exist, so that nothing
//! moves before everything is there. Then a clock is played: whoever ends next is finished by hand, and after each
//! instant Kueue must hold quota for exactly the workloads that the simulation holds, and must have taken them in its order.

mod cases;
#[path = "../../it/row.rs"]
mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stagger::calendar;
use stagger::kueue::simulate::{Runtimes, Steps};
use stagger::kueue::{Given, SimOptions, assemble};
use stagger::units::{Seconds, Timestamp};

use crate::person::Person;
use crate::plane::Plane;
use crate::shared::on_own_plane;
use crate::wait::until;
use cases::{Case, NAMESPACE, Preemption, case};
use row::row;

/// Kueue is given up when nothing at all has moved for so long. It takes up what it has parked once a second.
const PATIENCE: Duration = Duration::from_secs(15);
/// Kueue has come to rest when it has written nothing for so long; it calls the parked back within a second.
const REST: Duration = Duration::from_millis(1_500);
/// So many cases are played side by side: a scheduling cycle looks at all of them.
const TOGETHER: usize = 40;
/// So many requests are under way at once.
const AT_ONCE: usize = 24;

/// What must be true after one instant.
struct Round {
    finished: Vec<String>,
    /// In the order in which Kueue takes them.
    admitted: Vec<String>,
    holding: BTreeSet<String>,
}

async fn all<T>(work: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    use futures::StreamExt;
    futures::stream::iter(work).buffered(AT_ONCE).collect().await
}

async fn created(person: &Person, objects: impl IntoIterator<Item = &Value>) -> Vec<Value> {
    let one = async |object: &Value| {
        person.create(object).await.unwrap_or_else(|refused| panic!("{object} is refused: {}", refused.message))
    };
    all(objects.into_iter().map(one)).await
}

fn name(workload: &Value) -> String {
    workload["metadata"]["name"].as_str().expect("a workload has a name").to_owned()
}

/// Plays a case as we believe Kueue does. `live` are its workloads as the API server made them, no two in one second.
fn believed(case: &Case, live: &[Value]) -> Vec<Round> {
    let now = Timestamp(1_800_000_000);
    let mut ranked: Vec<&Value> = live.iter().collect();
    ranked.sort_by_key(|one| one["metadata"]["creationTimestamp"].to_string());
    let mut manifests: Vec<_> = case.queues.iter().chain(&case.flavors).cloned().map(row).collect();
    for (rank, one) in ranked.into_iter().enumerate() {
        let mut one = one.clone();
        let created = Timestamp(now.0 - 10_000 + i64::try_from(rank).expect("few"));
        one["metadata"]["creationTimestamp"] = json!(calendar::rfc3339(created, chrono_tz::UTC));
        manifests.push(row(one));
    }
    let given = Given { may_grow: true, ..Given::at(now) };
    let snapshot = assemble(&manifests, &given).snapshot;
    let by_name: BTreeMap<String, i64> = case.workloads.iter().map(name).zip(case.runtimes.iter().copied()).collect();
    let runtimes = snapshot.workloads.iter().map(|one| Seconds(by_name[one.key.name()])).collect();
    let options = SimOptions { runtimes: Runtimes::Explicit(runtimes) };
    let called = |indices: Vec<usize>| -> Vec<String> {
        indices.into_iter().map(|index| snapshot.workloads[index].key.name().to_owned()).collect()
    };
    let mut steps = Steps::new(&snapshot, &options);
    let mut rounds = Vec::new();
    while let Some(next) = steps.next() {
        let happened = steps.advance(next);
        for workload in happened.arrived {
            steps.release(workload);
        }
        let admitted = steps.admit();
        let holding = (0..snapshot.workloads.len()).filter(|index| steps.holds(*index).is_some()).collect();
        let holding = called(holding).into_iter().collect();
        rounds.push(Round { finished: called(happened.finished), admitted: called(admitted), holding });
    }
    rounds
}

fn condition<'a>(workload: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = workload["status"]["conditions"].as_array()?;
    conditions.iter().find(|one| one["type"] == kind && one["status"] == "True")
}

/// Marks a workload as finished, as the controller of its job would.
async fn finish(person: &Person, name: &str) {
    let status = json!({"type": "Finished", "status": "True", "reason": "Succeeded", "message": "played",
                        "lastTransitionTime": calendar::rfc3339(stagger::clock::now(), chrono_tz::UTC)});
    let mut workload = person.get("kueue.x-k8s.io/v1beta2", "Workload", NAMESPACE, name).await.expect("it is there");
    let mut conditions = workload["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.push(status);
    workload["status"]["conditions"] = json!(conditions);
    let patch = json!({"status": {"conditions": workload["status"]["conditions"]}});
    person.merge_status(&workload, &patch).await.unwrap_or_else(|refused| panic!("{name}: {}", refused.message));
}

/// Who holds quota, by case; and the newest version of anything.
async fn holding(person: &Person) -> (BTreeMap<String, BTreeSet<String>>, u64) {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut newest = 0;
    for workload in person.list("kueue.x-k8s.io/v1beta2", "Workload", NAMESPACE).await {
        let version = workload["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
        newest = newest.max(version.unwrap_or(0));
        if condition(&workload, "QuotaReserved").is_some() && condition(&workload, "Finished").is_none() {
            let case = workload["metadata"]["labels"]["case"].as_str().unwrap_or_default();
            found.entry(case.to_owned()).or_default().insert(name(&workload));
        }
    }
    (found, newest)
}

/// The order in which Kueue's scheduler took workloads, from its log.
fn taken(plane: &Plane) -> Vec<String> {
    let log = plane.kueue.lock().expect("no test breaks the lock").log().to_owned();
    let text = std::fs::read_to_string(log).expect("Kueue has a log");
    let lines = text.lines().filter(|line| line.contains("Workload assumed in the cache"));
    lines
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["workload"]["namespace"] == NAMESPACE)
        .map(|line| line["workload"]["name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Plays the cases, and says in which Kueue did otherwise, by their place.
async fn disagreements(plane: &Plane, cases: &[Case]) -> BTreeMap<usize, String> {
    let person = &plane.admin;
    person.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).await;

    // 1. Everything but the flavors, and what we believe.
    for kind in ["Cohort", "ClusterQueue", "LocalQueue"] {
        created(person, cases.iter().flat_map(|case| &case.queues).filter(|one| one["kind"] == kind)).await;
    }
    let mut live = Vec::new();
    for at in 0..cases.iter().map(|case| case.workloads.len()).max().unwrap_or(0) {
        // Kueue leaves open who goes first of two queues' heads that were created in one second.
        live.extend(created(person, cases.iter().filter_map(|case| case.workloads.get(at))).await);
        let second = stagger::clock::now();
        until("the next second", Duration::from_secs(2), async || {
            if stagger::clock::now() > second { Ok(()) } else { Err("not yet".to_owned()) }
        })
        .await;
    }
    let of_case = |case: &Case| -> Vec<Value> {
        live.iter().filter(|one| one["metadata"]["labels"]["case"] == case.name.as_str()).cloned().collect()
    };
    let rounds: Vec<Vec<Round>> = cases.iter().map(|case| believed(case, &of_case(case))).collect();

    // 2. The flavors, the last of a case sets it off.
    created(person, cases.iter().flat_map(|case| &case.flavors)).await;

    // 3. Instant by instant.
    let mut wrong: BTreeMap<usize, String> = BTreeMap::new();
    let longest = rounds.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..longest {
        let going: Vec<usize> =
            (0..cases.len()).filter(|one| !wrong.contains_key(one) && at < rounds[*one].len()).collect();
        all(going.iter().flat_map(|one| &rounds[*one][at].finished).map(|name| finish(person, name))).await;
        let (mut moved, mut version) = (Instant::now(), 0);
        let mut open = going;
        // Kueue may be in the middle of refusing somebody: the next instant begins when it has come to rest.
        while !open.is_empty() || moved.elapsed() < REST {
            let (held, newest) = holding(person).await;
            if newest > version {
                (moved, version) = (Instant::now(), newest);
            }
            let nothing = BTreeSet::new();
            open.retain(|one| {
                let (held, round) = (held.get(&cases[*one].name).unwrap_or(&nothing), &rounds[*one][at]);
                if *held != round.holding && moved.elapsed() > PATIENCE {
                    let text = format!("instant {at}: Kueue holds {held:?}, we believed {:?}", round.holding);
                    wrong.insert(*one, text);
                    return false;
                }
                *held != round.holding
            });
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    // 4. The order.
    let taken = taken(plane);
    for (one, case) in cases.iter().enumerate() {
        let names: BTreeSet<String> = case.workloads.iter().map(name).collect();
        let real: Vec<&String> = taken.iter().filter(|taken| names.contains(*taken)).collect();
        let ours: Vec<&String> = rounds[one].iter().flat_map(|round| &round.admitted).collect();
        if !wrong.contains_key(&one) && real != ours {
            wrong.insert(one, format!("order: Kueue took {real:?}, we believed {ours:?}"));
        }
    }
    for case in cases {
        for workload in &case.workloads {
            person.delete(workload).await.unwrap_or_else(|refused| panic!("{}: {}", name(workload), refused.message));
        }
    }
    wrong
}

/// A case in full, for whoever looks into it.
fn told(case: &Case, text: &str) -> String {
    let objects: Vec<String> = case.queues.iter().chain(&case.workloads).map(Value::to_string).collect();
    format!("{}: {text}\n{}\nruntimes {:?}\n", case.name, objects.join("\n"), case.runtimes)
}

/// Kueue is not of one mind either: it looks at what is freed and at what becomes active while it is in the middle of a
/// cycle, so two runs of one case may differ on a busy machine. What differs is played again by itself, so often.
const AGAIN: u64 = 3;

#[test]
fn kueue_reserves_quota_for_whom_the_simulation_says_in_its_order() {
    on_own_plane(async |plane| {
        let numbers: Vec<u64> = (0..200).collect();
        let mut open: Vec<(u64, String)> = Vec::new();
        for some in numbers.chunks(TOGETHER) {
            let cases: Vec<Case> = some.iter().map(|number| case("a", *number, Preemption::Never)).collect();
            let differ = disagreements(plane, &cases).await;
            open.extend(differ.into_iter().map(|(one, text)| (some[one], told(&cases[one], &text))));
        }
        for round in 0..AGAIN {
            let mut still = Vec::new();
            for (number, before) in open {
                let again = [case(&format!("again{round}-"), number, Preemption::Never)];
                if let Some(text) = disagreements(plane, &again).await.remove(&0) {
                    still.push((number, format!("{before}and again: {text}\n")));
                }
            }
            open = still;
        }
        let texts: Vec<String> = open.into_iter().map(|(_, text)| text).collect();
        assert!(texts.is_empty(), "{} of {} cases differ each time\n{}", texts.len(), numbers.len(), texts.join("\n"));
    });
}
