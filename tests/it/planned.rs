//! Plans written by hand, for whatever shows plans: `planned(given.snapshot).run("eval-1", 0, 60).done()`.

use stagger::names::WorkloadKey;
use stagger::plan::curve;
use stagger::plan::proposal::{
    Before, Level, LevelName, Peak, Piece, Plan, Proof, Quality, Reason, ReasonCode, Release, Status, Summary, Verdict,
};
use stagger::plan::snapshot::{Objective, Promise, Snapshot};
use stagger::units::{Amount, Seconds, Timestamp};

use crate::given::at;

/// A snapshot and a plan for it under construction.
pub struct Planned {
    pub snapshot: Snapshot,
    plan: Plan,
}

pub fn planned(snapshot: Snapshot) -> Planned {
    let quality = Quality {
        status: Status::Optimal,
        levels: vec![
            Level { name: LevelName::HardMissed, value: 0, bound: Some(0), proof: Proof::Trivial },
            Level { name: LevelName::SoftLost, value: 0, bound: Some(0), proof: Proof::Trivial },
        ],
        gap_millionths: Some(0),
        stopped_by: None,
        millis: 12,
        seed: 1,
    };
    let plan = Plan {
        now: snapshot.now,
        horizon_end: snapshot.horizon_end,
        time_zone: snapshot.time_zone.clone(),
        objective: Objective::EarliestFinish,
        promise: Promise::P50,
        input_digest: "9f2c4e".repeat(10),
        quality,
        releases: Vec::new(),
        peaks: Vec::new(),
        summary: Summary::default(),
        before: Before::default(),
        infeasible: Vec::new(),
        problems: Vec::new(),
    };
    Planned { snapshot, plan }
}

impl Planned {
    /// Runs a job on its first option between these minutes after noon.
    pub fn run(self, name: &str, start: i64, end: i64) -> Self {
        self.pieces(name, &[(start, end)])
    }

    /// The same in several pieces; its p90 end is as much later than its end as its option says.
    pub fn pieces(mut self, name: &str, minutes: &[(i64, i64)]) -> Self {
        let key = WorkloadKey::new("evals", name);
        let workload = self.snapshot.workloads.iter().find(|it| it.key == key).expect("the job must be given");
        let option = &workload.options[0];
        let pieces: Vec<Piece> =
            minutes.iter().map(|(start, end)| Piece { start: at(*start), end: at(*end) }).collect();
        let (start, end) = (pieces[0].start, pieces[pieces.len() - 1].end);
        let end_p90 = end + (option.runtime.p90 - option.runtime.p50);
        let due = workload.due.as_ref().map(|due| due.at);
        let late = start > workload.earliest_start;
        let (code, message) = if late {
            (ReasonCode::WaitsForCapacity, "others hold the quota until then")
        } else {
            (ReasonCode::StartsAtOnce, "starts as early as it may")
        };
        let uses: Vec<_> = option
            .uses
            .iter()
            .map(|(cell, amount)| {
                let cell = self.snapshot.cell(*cell);
                (cell.flavor.clone(), cell.resource.clone(), *amount)
            })
            .collect();
        self.plan.releases.push(Release {
            workload: key,
            kind: workload.kind.clone(),
            tenant: workload.tenant.clone(),
            cluster_queue: self.snapshot.node(workload.queue).name.clone(),
            flavor: option.flavor.clone(),
            resources: uses.iter().map(|(_, resource, amount)| (resource.clone(), *amount)).collect(),
            uses,
            start,
            end,
            end_p90,
            pieces,
            finish_by: due,
            slack: due.map(|due| due - end_p90),
            verdict: verdict(due, end, end_p90),
            reasons: vec![Reason { code, message: message.to_owned() }],
        });
        self
    }

    /// Fills in peaks and summaries.
    pub fn done(mut self) -> (Snapshot, Plan) {
        self.plan.peaks = peaks(&self.snapshot, |cell| curve::planned(&scene(&self.snapshot, &self.plan), cell));
        let count =
            |verdict| u64::try_from(self.plan.releases.iter().filter(|it| it.verdict == verdict).count()).unwrap();
        self.plan.summary = Summary {
            on_time: count(Verdict::OnTime),
            at_risk: count(Verdict::AtRisk),
            late: count(Verdict::Late),
            without_verdict: count(Verdict::NoDeadline),
            peak: self.plan.peaks.clone(),
            makespan: self.plan.releases.iter().map(|it| it.end - at(0)).max().unwrap_or(Seconds::ZERO),
            gpu_seconds: 28_800,
            cost: None,
            currency: None,
        };
        self.plan.before.all_at_once.peak = peaks(&self.snapshot, |cell| curve::at_once(&self.snapshot, cell));
        (self.snapshot, self.plan)
    }
}

/// For pictures: a p50 promise, nothing known about Kueue.
pub fn scene<'a>(snapshot: &'a Snapshot, plan: &'a Plan) -> curve::Scene<'a> {
    curve::Scene { snapshot, plan, promise: Promise::P50, kueue: None }
}

fn verdict(due: Option<Timestamp>, end: Timestamp, end_p90: Timestamp) -> Verdict {
    match due {
        None => Verdict::NoDeadline,
        Some(due) if end_p90 <= due => Verdict::OnTime,
        Some(due) if end <= due => Verdict::AtRisk,
        Some(_) => Verdict::Late,
    }
}

fn peaks(snapshot: &Snapshot, demand: impl Fn(stagger::plan::snapshot::CellId) -> curve::Steps) -> Vec<Peak> {
    curve::pictured(snapshot)
        .into_iter()
        .map(|id| {
            let cell = snapshot.cell(id);
            let steps = demand(id);
            let peak = steps.most();
            let at = steps.changes().iter().find(|step| step.1 == peak && peak > Amount::ZERO).map(|step| step.0);
            let capacity = curve::capacity(snapshot, id).most();
            Peak { flavor: cell.flavor.clone(), resource: cell.resource.clone(), peak, capacity, at }
        })
        .collect()
}
