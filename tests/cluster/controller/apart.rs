//! A controller whose clock is not the API server's: by its own clock nothing starts before its plan, and no lease is taken
//! from who renews it.
//!
//! Its process reads the wall clock through `apart.c`. In a day that is rehearsed 240 times as fast four seconds are a
//! quarter of an hour.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use stagger::calendar;
use stagger::units::Timestamp;

use super::faults::{DUE, day};
use super::{Stage, condition, owner};
use crate::plane::{Part, port};
use crate::shared::alone_on_stage;
use crate::wait::{http, until};

const SPEED: i64 = 240;
const APART: i64 = 4;
const LEASES: &str = "coordination.k8s.io/v1";

/// The clock that is put forward, compiled into `folder`.
fn clock(folder: &Path) -> PathBuf {
    let (source, made) = ("tests/cluster/controller/apart.c", folder.join("apart.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&made).arg(&source).status();
    assert!(built.expect("there is a C compiler, for the solver needs one").success());
    made
}

/// A controller of this stage whose clock is `seconds` ahead, and where it answers.
fn apart(stage: &Stage<'_>, name: &str, seconds: i64) -> (Part, String) {
    let (folder, metrics) = (&stage.plane.folder, format!("127.0.0.1:{}", port()));
    let mut arguments = vec![
        format!("LD_PRELOAD={}", clock(folder).display()),
        format!("APART={seconds}"),
        env!("CARGO_BIN_EXE_stagger").to_owned(),
    ];
    arguments.extend(stage.flags.iter().cloned());
    arguments.push(format!("--metrics-listen={metrics}"));
    (Part::start(&format!("apart-{name}"), Path::new("/usr/bin/env"), arguments, folder), metrics)
}

/// Who holds the stage's lease, how often it has changed hands, and when it was renewed.
async fn lease(stage: &Stage<'_>) -> Result<(Value, Value, Timestamp), String> {
    let found = stage.plane.admin.get(LEASES, "Lease", &stage.name, "stagger-controller").await;
    let spec = found.map_err(|refused| refused.message)?["spec"].clone();
    let renewed = calendar::parse_instant(spec["renewTime"].as_str().unwrap_or_default())?;
    Ok((spec["holderIdentity"].clone(), spec["leaseTransitions"].clone(), renewed))
}

/// A day under a clock that is so far ahead: everything runs once, and nothing before its plan.
fn played(name: &str, seconds: i64) {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, name, &[(name, 4)], SPEED).await;
        stage.controller.kill();
        (stage.controller, stage.metrics) = apart(&stage, name, seconds);
        day(&mut stage, async |_| {}).await;
        let jobs = plane.admin.list("batch/v1", "Job", name).await;
        let workloads = stage.workloads().await;
        for job in &jobs {
            let name = job["metadata"]["name"].as_str().unwrap_or_default();
            let planned = job.pointer("/metadata/annotations/stagger.dev~1planned-start").and_then(Value::as_str);
            let planned = calendar::parse_instant(planned.unwrap_or_default()).expect("it says its start");
            let workload = workloads.iter().find(|one| owner(one) == name).expect("it has run");
            let reserved = stage.clock.shown(condition(workload, "QuotaReserved").expect("it has run"));
            // By the clock of who let it go; the condition has whole seconds.
            let by_its_own = reserved.0 + (seconds + 1) * SPEED;
            assert!(by_its_own >= planned.0, "{name}: planned {planned:?}, started {reserved:?}");
            assert!(planned <= DUE);
        }
    });
}

#[test]
fn by_a_clock_that_is_a_quarter_of_an_hour_ahead_everything_runs_once_and_nothing_before_its_plan() {
    played("apart-ahead", APART);
}

#[test]
fn by_a_clock_that_is_a_quarter_of_an_hour_behind_everything_runs_once_and_nothing_before_its_plan() {
    played("apart-behind", -APART);
}

/// A quarter of an hour of the wall clock, beside which a lease of seconds is nothing.
#[test]
fn a_clock_that_is_far_ahead_or_behind_takes_no_lease_that_is_renewed_and_one_that_is_not_at_once() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "apart-lease", &[("apart-lease", 4)], 1).await;
        stage.ready().await;
        let soon = Duration::from_mins(2);
        until("the first one leads", soon, async || lease(&stage).await).await;
        let (ahead, behind) = (apart(&stage, "lease-ahead", 900), apart(&stage, "lease-behind", -900));
        for (_, metrics) in [&ahead, &behind] {
            until("a follower is ready", soon, async || http(metrics, "/readyz").await).await;
        }
        let (holder, transitions, since) = lease(&stage).await.expect("there is a lease");
        until("it has been renewed for longer than it lasts", soon, async || {
            let (_, _, renewed) = lease(&stage).await?;
            if renewed.0 - since.0 > 20 { Ok(()) } else { Err(format!("{renewed:?}")) }
        })
        .await;
        let (holds, changed, _) = lease(&stage).await.expect("there is a lease");
        assert_eq!((holds, changed), (holder.clone(), transitions), "nobody took it");
        stage.controller.kill();
        let next = until("another one leads", soon, async || {
            let (holds, ..) = lease(&stage).await?;
            if holds == holder { Err(format!("{holds} holds it")) } else { Ok(holds) }
        })
        .await;
        // Neither takes it from the other, whose clock is half an hour away.
        let (_, transitions, renewed) = lease(&stage).await.expect("there is a lease");
        let off = (renewed.0 - stagger::clock::now().0).abs();
        assert!((800..1_000).contains(&off), "the holder's clock is {off} s off");
        let written = async || lease(&stage).await.map(|(_, _, renewed)| renewed.0);
        let first = written().await.expect("there is a lease");
        until("the next one renews it", soon, async || {
            let renewed = written().await?;
            if renewed - first > 20 { Ok(()) } else { Err(format!("renewed after {} s", renewed - first)) }
        })
        .await;
        let (holds, changed, _) = lease(&stage).await.expect("there is a lease");
        assert_eq!((holds, changed), (next, transitions), "nobody took it");
    });
}
