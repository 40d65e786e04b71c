//! Whatever breaks: no job is lost, none runs twice, none is held past its latest safe start.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stagger::units::Timestamp;

use super::noon::played;
use super::{NOON, Stage};
use crate::shared::alone_on_stage;
use crate::wait::{http, until};
use crate::weather;

pub(super) const DUE: Timestamp = Timestamp(NOON.0 + 8 * 3600);

/// Six jobs of two GPUs for an hour on four GPUs: three waves, while `breaks` is at work.
pub(super) async fn day(stage: &mut Stage<'_>, breaks: impl AsyncFnOnce(&mut Stage<'_>)) {
    stage.plane.admin.apply(&stage.slo("evals", DUE, 60)).await;
    let queue = stage.name.clone();
    for at in 1..=6 {
        let made = stage.plane.admin.create(&stage.job(&format!("eval-{at}"), &queue, 2, 60)).await;
        made.unwrap_or_else(|refused| panic!("{}", refused.message));
    }
    stage.ready().await;
    until("the first wave runs", Duration::from_mins(1), async || {
        let running =
            stage.workloads().await.iter().filter(|one| super::condition(one, "QuotaReserved").is_some()).count();
        if running >= 2 { Ok(()) } else { Err(format!("{running} run")) }
    })
    .await;
    breaks(stage).await;
    let bound = stage.hour() * 12;
    let day = played(stage, 6, &[&queue], bound).await;
    assert_eq!(day.peak, 4);
    assert!(day.finished.values().all(|at| *at <= DUE), "all are in time: {:?}", day.finished);
    // Each ran once: one pod, and nobody was evicted.
    let pods = stage.plane.admin.list("v1", "Pod", &stage.name).await;
    assert_eq!(pods.len(), 6, "{:?}", pods.iter().map(|pod| &pod["metadata"]["name"]).collect::<Vec<&Value>>());
    for workload in stage.workloads().await {
        assert!(super::condition(&workload, "Evicted").is_none(), "{workload}");
    }
}

#[test]
fn a_follower_is_killed_and_then_the_leader_and_that_one_is_started_again() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "killed-leader", &[("killed-leader", 4)], 240).await;
        day(&mut stage, async |stage| {
            let (mut second, metrics) = stage.follower();
            until("the follower is ready", Duration::from_mins(1), async || http(&metrics, "/readyz").await).await;
            second.kill();
            assert_eq!(leads(&stage.metrics).await, Ok(true), "that is nothing to the leader");
            stage.controller.again();
        })
        .await;
    });
}

#[test]
fn kueue_is_killed_and_started_again() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "killed-kueue", &[("killed-kueue", 4)], 240).await;
        day(&mut stage, async |stage| {
            stage.plane.kueue.lock().expect("no test breaks the lock").again();
            let health = &stage.plane.kueue_health;
            until("Kueue is back", Duration::from_secs(90), async || http(health, "/readyz").await).await;
        })
        .await;
    });
}

#[test]
fn the_api_server_and_its_store_are_killed_and_started_again() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "killed-api", &[("killed-api", 4)], 240).await;
        day(&mut stage, async |stage| {
            stage.plane.etcd.lock().expect("no test breaks the lock").again();
            stage.plane.apiserver.lock().expect("no test breaks the lock").again();
            let admin = &stage.plane.admin;
            until("the API server is back", Duration::from_secs(90), async || admin.text("/readyz").await).await;
        })
        .await;
    });
}

/// The sum of a metric's lines that begin so.
async fn metric(metrics: &str, begins: &str) -> Result<u64, String> {
    let text = http(metrics, "/metrics").await?;
    let lines = text.lines().filter(|line| line.starts_with(begins));
    Ok(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
}

/// Whether a controller says of itself that it leads.
async fn leads(metrics: &str) -> Result<bool, String> {
    Ok(metric(metrics, "stagger_controller_leader ").await? == 1)
}

/// From the first wave on a third of all calls is turned away (429), the answers to some are lost though the calls are
/// carried out (504), every watch is cut off again and again, and most of them then ask for what the API server has
/// forgotten (410).
#[test]
fn calls_are_turned_away_answers_lost_and_watches_cut_off_and_forgotten() {
    alone_on_stage(async |plane| {
        let (weather, way) = weather::open(plane).await;
        let mut stage = Stage::flavored(plane, "storm", &["a100"], &[("storm", [4])], 240, &way).await;
        let struck = Arc::new(AtomicUsize::new(0));
        let cutting = {
            let (weather, struck) = (Arc::clone(&weather), Arc::clone(&struck));
            async move {
                let mut every = tokio::time::interval(Duration::from_secs(3));
                loop {
                    every.tick().await;
                    struck.fetch_add(weather.cut(), Ordering::Relaxed);
                }
            }
        };
        let mut storm = None;
        day(&mut stage, async |_| {
            weather.set(30, 15, 60);
            storm = Some(tokio::spawn(cutting));
        })
        .await;
        storm.expect("there was a storm").abort();
        for (begins, what) in [
            ("stagger_controller_watch_errors_total{kind=\"gone\"}", "forgotten"),
            ("stagger_controller_watch_errors_total{kind=\"busy\"}", "turned away"),
        ] {
            let errors = metric(&stage.metrics, begins).await;
            assert!(errors.as_ref().is_ok_and(|errors| *errors > 0), "no watch was {what}: {errors:?}");
        }
        // The client takes a watch that breaks off for one that ended.
        let struck = struck.load(Ordering::Relaxed);
        assert!(struck > 20, "only {struck} answers were cut off");
    });
}

/// What is stored and told of plans takes nearly two seconds a write, so that there is always one under way: nobody starts
/// later for it.
#[test]
fn writes_of_plans_that_take_long_keep_nothing_from_starting() {
    alone_on_stage(async |plane| {
        let (weather, way) = weather::open(plane).await;
        let mut stage = Stage::flavored(plane, "slow", &["a100"], &[("slow", [4])], 240, &way).await;
        // Three more plans are stored and told.
        let others = ["slow-1", "slow-2", "slow-3"].map(|name| {
            json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": name},
                   "spec": {"queues": ["slow"], "mode": "Observe", "horizon": "6h"}})
        });
        for other in &others {
            plane.admin.apply(other).await;
        }
        day(&mut stage, async |_| weather.slow.store(true, Ordering::Relaxed)).await;
        for cause in ["late-release", "no-quota"] {
            let line = format!("stagger_controller_adherence_breaches_total{{cause=\"{cause}\"}}");
            assert_eq!(metric(&stage.metrics, &line).await, Ok(0), "starts that were not kept: {cause}");
        }
        for other in &others {
            plane.admin.delete(other).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
    });
}

/// Stopped in the middle of its work and woken a minute later: by then another leads, and what the first one meant to write
/// is not written.
#[test]
fn a_leader_that_sleeps_for_a_minute_has_lost_its_say() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "paused-leader", &[("paused-leader", 4)], 120).await;
        let mut follower = None;
        day(&mut stage, async |stage| {
            let (second, metrics) = stage.follower();
            until("the follower is ready", Duration::from_mins(1), async || http(&metrics, "/readyz").await).await;
            assert_eq!(leads(&metrics).await, Ok(false), "there is a leader");
            let asleep = Instant::now();
            stage.controller.signal("STOP");
            until("the follower leads", Duration::from_mins(1), async || {
                if leads(&metrics).await? { Ok(()) } else { Err("it does not".to_owned()) }
            })
            .await;
            until("a minute is over", Duration::from_mins(2), async || {
                if asleep.elapsed() >= Duration::from_mins(1) { Ok(()) } else { Err(format!("{:?}", asleep.elapsed())) }
            })
            .await;
            stage.controller.signal("CONT");
            let first = stage.metrics.clone();
            until("the first one follows", Duration::from_secs(30), async || {
                if leads(&first).await? { Err("it leads".to_owned()) } else { Ok(()) }
            })
            .await;
            assert_eq!(leads(&metrics).await, Ok(true), "the lease is not given back");
            follower = Some(second);
        })
        .await;
        drop(follower);
    });
}
