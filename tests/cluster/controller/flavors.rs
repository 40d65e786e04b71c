//! Forty jobs, two queues that lend to each other, two flavors: the plan's flavors and starts are what Kueue gives.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use stagger::calendar;
use stagger::units::Timestamp;

use super::noon::played;
use super::{GPU, NOON, Stage, condition, owner};
use crate::shared::{alone_on_stage, turn};

const NAME: &str = "mixed-flavors";
const QUEUES: [&str; 2] = ["flavors-blue", "flavors-red"];
/// By a wall clock.
const LATE_MAX: Duration = Duration::from_secs(5);

#[test]
fn forty_jobs_of_two_queues_share_two_flavors_as_planned() {
    alone_on_stage(async |plane| {
        // Its measure is the wall clock: at most the other stage works beside it.
        let _turn = turn().await;
        let speed = 240;
        let queues = [(QUEUES[0], [6, 2]), (QUEUES[1], [2, 6])];
        let mut stage = Stage::flavored(plane, NAME, &["a100", "h100"], &queues, speed, plane.admin.kubeconfig()).await;
        let due = Timestamp(NOON.0 + 12 * 3600);
        for minutes in [30, 60, 90] {
            plane.admin.apply(&stage.slo(&format!("promise-{minutes}"), due, minutes)).await;
        }
        for at in 0..40 {
            let job = stage.job(&format!("job-{at}"), QUEUES[at % 2], [1, 2, 4, 2][at % 4], [30, 60, 90][at % 3]);
            plane.admin.create(&job).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
        stage.ready().await;
        let bound = stage.hour() * 30;
        let day = played(&mut stage, 40, &QUEUES, bound).await;
        assert!(day.finished.values().all(|at| *at <= due), "all are in time: {:?}", day.finished);

        // Never more of a flavor than there is, by the times that Kueue wrote.
        let mut held: BTreeMap<String, Vec<(Timestamp, i64)>> = BTreeMap::new();
        for workload in stage.workloads().await {
            assert!(condition(&workload, "Evicted").is_none(), "{} was evicted", owner(&workload));
            let assigned = &workload["status"]["admission"]["podSetAssignments"][0];
            let flavor = assigned["flavors"][GPU].as_str().unwrap_or_default().to_owned();
            let gpus = assigned["resourceUsage"][GPU].as_str().and_then(|text| text.parse::<i64>().ok());
            let gpus = gpus.unwrap_or_else(|| panic!("{workload}"));
            let from = condition(&workload, "QuotaReserved").expect("it was admitted");
            let to = condition(&workload, "Finished").expect("it has finished");
            held.entry(flavor).or_default().extend([(from, gpus), (to, -gpus)]);
        }
        assert_eq!(held.keys().map(String::as_str).collect::<Vec<_>>(), ["mixed-flavors-a100", "mixed-flavors-h100"]);
        for (flavor, mut changes) in held {
            // Within one of Kueue's whole seconds what ends makes room for what begins.
            changes.sort_unstable();
            let most = changes.iter().scan(0, |sum, (_, gpus)| {
                *sum += gpus;
                Some(*sum)
            });
            assert!(most.max() <= Some(8), "{flavor}: {changes:?}");
        }
        let mut wrong = Vec::new();
        for job in plane.admin.list("batch/v1", "Job", NAME).await {
            let name = job["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let planned = job.pointer("/metadata/annotations/stagger.dev~1planned-start").and_then(Value::as_str);
            let planned = planned.and_then(|text| calendar::parse_instant(text).ok());
            let late = planned.map(|planned| (day.reserved[&name].0 - planned.0) / speed);
            let most = i64::try_from(LATE_MAX.as_secs()).expect("seconds");
            assert!(late.is_some_and(|late| late >= -1), "{name} started before its plan, or without one: {late:?}");
            if late > Some(most) {
                wrong.push(json!({"job": name, "secondsLate": late}));
            }
        }
        assert!(wrong.is_empty(), "{} of 40: {wrong:?}", wrong.len());
    });
}
