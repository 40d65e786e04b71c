//! While nobody leads: what was planned goes at its time, for its planned start is on the work itself.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use stagger::units::Timestamp;

use super::noon::played;
use super::{NOON, Stage};
use crate::plane::Part;
use crate::shared::alone_on_stage;
use crate::wait::until;

/// A job that came without a gate, as one does that was made before the webhook knew of the plan: the plan's status names
/// it, until it is gone.
async fn says_what_it_cannot_hold(stage: &Stage<'_>) {
    let admin = &stage.plane.admin;
    let mut loose = stage.job("loose", "orphaned", 2, 60);
    loose["metadata"]["annotations"] = json!({});
    admin.create(&loose).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    let applied = async || {
        let plan = admin.get("stagger.dev/v1alpha1", "CapacityPlan", "", "orphaned").await.expect("there is a plan");
        let conditions = plan["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|one| one["type"] == "Applied").unwrap_or_default()
    };
    for (reason, named) in [("EnforcedInPart", true), ("Enforced", false)] {
        until(&format!("the plan is {reason}"), Duration::from_secs(30), async || {
            let told = applied().await;
            let names = told["message"].as_str().is_some_and(|text| text.contains("orphaned/loose"));
            if told["reason"] == reason && names == named { Ok(()) } else { Err(told.to_string()) }
        })
        .await;
        if named {
            admin.delete(&loose).await.expect("it is deleted");
        }
    }
}

#[test]
fn without_a_controller_the_watchdog_lets_work_go_at_its_planned_start() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "orphaned", &[("orphaned", 4)], 240).await;
        let due = Timestamp(NOON.0 + 8 * 3600);
        plane.admin.apply(&stage.slo("evals", due, 60)).await;
        for at in 1..=6 {
            let made = plane.admin.create(&stage.job(&format!("eval-{at}"), "orphaned", 2, 60)).await;
            made.unwrap_or_else(|refused| panic!("{}", refused.message));
        }
        stage.ready().await;
        let planned = "stagger.dev/planned-start";
        until("every start is planned and the first wave runs", Duration::from_mins(1), async || {
            let jobs = plane.admin.list("batch/v1", "Job", "orphaned").await;
            let told = jobs.iter().filter(|job| job["metadata"]["annotations"][planned].is_string()).count();
            let running =
                stage.workloads().await.iter().filter(|one| super::condition(one, "QuotaReserved").is_some()).count();
            if told == 6 && running >= 2 { Ok(()) } else { Err(format!("{told} told, {running} running")) }
        })
        .await;
        says_what_it_cannot_hold(&stage).await;
        stage.controller.kill();
        let flags = [
            "watchdog".to_owned(),
            format!("--kubeconfig={}", plane.admin.kubeconfig().display()),
            format!("--rehearsal={}", stage.rehearsal()),
            "--namespace=orphaned".to_owned(),
            "--stale-after=5s".to_owned(),
        ];
        let program = Path::new(env!("CARGO_BIN_EXE_stagger"));
        stage.controller = Part::start("watchdog", program, flags.to_vec(), &plane.folder);
        let bound = stage.hour() * 12;
        let day = played(&mut stage, 6, &["orphaned"], bound).await;
        assert_eq!(day.peak, 4, "quota stays Kueue's");
        assert!(day.finished.values().all(|at| *at <= due), "all are in time: {:?}", day.finished);
    });
}
