//! A mixed day: every start is when the plan said, none before it, and never more is held than there is.

use std::time::Duration;

use serde_json::Value;
use stagger::calendar;
use stagger::units::Timestamp;

use super::noon::played;
use super::{NOON, Stage, condition, owner};
use crate::shared::{alone_on_stage, turn};

const QUEUES: [&str; 2] = ["mixed-blue", "mixed-red"];
/// By a wall clock; Kueue's condition has whole seconds.
const LATE_MAX: Duration = Duration::from_secs(5);

#[test]
fn sixty_jobs_of_two_queues_start_within_five_seconds_of_their_plan_and_never_before() {
    alone_on_stage(async |plane| {
        // Its measure is the wall clock: at most the other stage works beside it.
        let _turn = turn().await;
        let speed = 240;
        let mut stage = Stage::set(plane, "mixed", &[(QUEUES[0], 8), (QUEUES[1], 8)], speed).await;
        let minutes = [30, 60, 90, 45, 120];
        for (at, minutes) in minutes.iter().enumerate() {
            let due = Timestamp(NOON.0 + 18 * 3600);
            plane.admin.apply(&stage.slo(&format!("promise-{at}"), due, *minutes)).await;
        }
        for at in 0..60 {
            let job = stage.job(&format!("job-{at}"), QUEUES[at % 2], [1, 2, 4, 2][at % 4], minutes[at % 5]);
            plane.admin.create(&job).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
        stage.ready().await;
        let bound = stage.hour() * 40;
        let day = played(&mut stage, 60, &QUEUES, bound).await;
        assert!(day.peak <= 16, "{} GPUs held of 16", day.peak);

        let mut wrong = Vec::new();
        for job in plane.admin.list("batch/v1", "Job", "mixed").await {
            let name = job["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let planned = job.pointer("/metadata/annotations/stagger.dev~1planned-start").and_then(Value::as_str);
            let Some(planned) = planned.and_then(|text| calendar::parse_instant(text).ok()) else {
                wrong.push(format!("{name} has no planned start"));
                continue;
            };
            let late = day.reserved[&name].0 - planned.0;
            let most = i64::try_from(LATE_MAX.as_secs()).expect("seconds") * speed;
            // The condition's whole second may lie up to a second of the wall clock before the release.
            if late > most || late < -speed {
                wrong.push(format!(
                    "{name}: planned {planned:?}, started {:?}: {} s of the wall clock",
                    day.reserved[&name],
                    late / speed
                ));
            }
        }
        assert!(wrong.is_empty(), "{} of 60:\n{}", wrong.len(), wrong.join("\n"));
        for workload in stage.workloads().await {
            assert!(condition(&workload, "Evicted").is_none(), "{} was evicted", owner(&workload));
        }
    });
}
