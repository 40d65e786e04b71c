//! The touchstone: four jobs of two GPUs for an hour, four GPUs, noon, all due at 17:00.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stagger::units::Timestamp;

use super::{KUEUE, NOON, Stage, condition, owner};
use crate::shared::alone_on_stage;

/// When each job's quota was reserved and when it had finished, by the controller's clock; and the most GPUs held at once.
pub struct Day {
    pub reserved: BTreeMap<String, Timestamp>,
    pub finished: BTreeMap<String, Timestamp>,
    pub peak: u64,
}

pub async fn played(stage: &mut Stage<'_>, jobs: usize, queues: &[&str], bound: Duration) -> Day {
    let begin = Instant::now();
    let mut day = Day { reserved: BTreeMap::new(), finished: BTreeMap::new(), peak: 0 };
    while day.finished.len() < jobs {
        if let Some(status) = stage.controller.ended() {
            panic!("the controller ended with {status}:\n{}", stage.controller.tail());
        }
        assert!(begin.elapsed() < bound, "not done within {bound:?}: {:?}\n{}", day.finished, stage.controller.tail());
        for workload in stage.workloads().await {
            let name = owner(&workload).to_owned();
            if let Some(at) = condition(&workload, "QuotaReserved") {
                day.reserved.entry(name.clone()).or_insert(stage.clock.shown(at));
            }
            if let Some(at) = condition(&workload, "Finished") {
                day.finished.entry(name).or_insert(stage.clock.shown(at));
            }
        }
        let mut held = 0;
        for queue in queues {
            let found = stage.plane.admin.get(KUEUE, "ClusterQueue", "", queue).await.expect("the queue is there");
            let total = found.pointer("/status/flavorsReservation/0/resources/0/total");
            held += total.and_then(Value::as_str).and_then(|total| total.parse::<u64>().ok()).unwrap_or(0);
        }
        day.peak = day.peak.max(held);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    day
}

#[test]
fn two_start_at_noon_and_two_when_these_have_ended() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "noon", &[("noon", 4)], 180).await;
        plane.admin.apply(&stage.slo("evals", Timestamp(NOON.0 + 5 * 3600), 60)).await;
        for at in 1..=4 {
            let made = plane.admin.create(&stage.job(&format!("eval-{at}"), "noon", 2, 60)).await;
            made.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
        stage.ready().await;
        let bound = stage.hour() * 8;
        let day = played(&mut stage, 4, &["noon"], bound).await;

        assert_eq!(day.peak, 4, "never more than there is");
        let mut starts: Vec<i64> = day.reserved.values().map(|at| (at.0 - NOON.0) / 60).collect();
        starts.sort_unstable();
        // By a clock that runs 180 times as fast, a second is three minutes.
        assert!(starts[1] <= 20, "two start at noon: {starts:?}");
        assert!(starts[2] >= 60 && starts[3] <= 95, "two start when these have ended: {starts:?}");
        assert!(day.finished.values().all(|at| at.0 <= NOON.0 + 5 * 3600), "all are in time: {:?}", day.finished);

        // Everybody is told.
        let plan =
            plane.admin.get("stagger.dev/v1alpha1", "CapacityPlan", "", "noon").await.expect("the plan is there");
        assert!(plan["status"]["digest"].is_string(), "{}", plan["status"]);
        let slo =
            plane.admin.get("stagger.dev/v1alpha1", "WorkloadSLO", "noon", "evals").await.expect("the SLO is there");
        assert!(slo["status"]["message"].is_string(), "{}", slo["status"]);
        let events = plane.admin.list("v1", "Event", "noon").await;
        assert!(
            events.iter().any(|one| one["reportingComponent"] == "stagger.dev/controller"),
            "releases are told as Events"
        );
        for at in 1..=4 {
            plane.admin.delete(&json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": format!("eval-{at}"), "namespace": "noon"}}))
                .await
                .expect("a job is deleted");
        }
    });
}
