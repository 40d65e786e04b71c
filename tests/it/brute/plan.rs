//! A placement written out as a plan, figure by figure, to hold the planner's own against.

use stagger::plan::proposal::{
    Before, Level, Piece, Plan, Proof, Quality, Reason, ReasonCode, Release, Status, Summary, Verdict,
};
use stagger::plan::snapshot::{Policy, Promise, Snapshot};
use stagger::units::Seconds;

use super::{Placement, cells, cost, level_values, peak};

/// The plan that places so, with every figure; proves nothing but what is zero.
pub fn plan_of(snapshot: &Snapshot, policy: &Policy, placements: &[Placement]) -> Plan {
    let mut placements = placements.to_vec();
    placements.sort_by_key(|p| (p.start, p.workload));
    let releases: Vec<_> = placements.iter().map(|p| release(snapshot, policy, *p)).collect();
    let verdicts: Vec<_> = releases.iter().map(|release| release.verdict).collect();
    let at_once: Vec<_> = (0..snapshot.workloads.len())
        .map(|workload| {
            let start = snapshot.workloads[workload].earliest_start.max(snapshot.now);
            Placement { workload, option: 0, start }
        })
        .collect();
    let mut verdicts = verdicts;
    verdicts.extend(snapshot.workloads.iter().enumerate().filter_map(|(at, workload)| {
        let never = placements.iter().all(|p| p.workload != at);
        never.then_some(if workload.due.is_some() { Verdict::Late } else { Verdict::NoDeadline })
    }));
    let p50 = Policy { promise: Promise::P50, ..policy.clone() };
    let at_once_verdicts: Vec<_> = at_once.iter().map(|p| release(snapshot, policy, *p).verdict).collect();
    let summary = summary(snapshot, policy, &placements, &verdicts);
    let levels: Vec<_> = level_values(snapshot, policy, &placements)
        .into_iter()
        .map(|(name, value)| {
            let trivial = value == 0;
            let proof = if trivial { Proof::Trivial } else { Proof::Heuristic };
            Level { name, value, bound: trivial.then_some(0), proof }
        })
        .collect();
    let proven = levels.iter().all(|level| level.bound.is_some());
    Plan {
        now: snapshot.now,
        horizon_end: snapshot.horizon_end,
        time_zone: snapshot.time_zone.clone(),
        objective: policy.objective,
        promise: policy.promise,
        input_digest: "0".repeat(64),
        quality: Quality {
            status: if proven { Status::Optimal } else { Status::Feasible },
            levels,
            gap_millionths: proven.then_some(0),
            stopped_by: None,
            millis: 0,
            seed: policy.seed,
        },
        peaks: summary.peak.clone(),
        summary,
        before: Before { all_at_once: self::summary(snapshot, &p50, &at_once, &at_once_verdicts), kueue_alone: None },
        infeasible: Vec::new(),
        problems: Vec::new(),
        releases,
    }
}

pub fn release(snapshot: &Snapshot, policy: &Policy, placement: Placement) -> Release {
    let workload = &snapshot.workloads[placement.workload];
    let option = placement.option(snapshot);
    let uses: Vec<_> = option
        .uses
        .iter()
        .map(|&(id, amount)| (snapshot.cell(id).flavor.clone(), snapshot.cell(id).resource.clone(), amount))
        .collect();
    let mut resources: Vec<_> = Vec::new();
    for (_, resource, amount) in &uses {
        match resources.iter_mut().find(|(name, _)| name == resource) {
            Some((_, sum)) => *sum += *amount,
            None => resources.push((resource.clone(), *amount)),
        }
    }
    let (end, end_p90) = (placement.start + option.runtime.p50, placement.start + option.runtime.p90);
    let finish_by = workload.due.as_ref().map(|due| due.at);
    let verdict = match finish_by {
        None => Verdict::NoDeadline,
        Some(_) if !option.runtime.known => Verdict::Unknown,
        Some(due) if end > due => Verdict::Late,
        Some(due) if end_p90 > due => Verdict::AtRisk,
        Some(_) => Verdict::OnTime,
    };
    Release {
        workload: workload.key.clone(),
        kind: workload.kind.clone(),
        tenant: workload.tenant.clone(),
        cluster_queue: snapshot.node(workload.queue).name.clone(),
        flavor: option.flavor.clone(),
        resources,
        uses,
        start: placement.start,
        end,
        end_p90,
        pieces: vec![Piece { start: placement.start, end: placement.held_until(snapshot, policy) }],
        finish_by,
        slack: finish_by.map(|due| due - end_p90),
        verdict,
        reasons: vec![Reason { code: ReasonCode::StartsAtOnce, message: "Starts at once.".to_owned() }],
    }
}

fn summary(snapshot: &Snapshot, policy: &Policy, placements: &[Placement], verdicts: &[Verdict]) -> Summary {
    let count = |wanted: &[Verdict]| {
        let found = verdicts.iter().filter(|verdict| wanted.contains(verdict)).count();
        u64::try_from(found).expect("a test's workloads must be few")
    };
    let ends = placements.iter().map(|p| p.start + p.option(snapshot).runtime.p50 - snapshot.now);
    let gpu_seconds = placements.iter().flat_map(|p| {
        let accelerators = p.option(snapshot).uses.iter().filter(|u| snapshot.cell(u.0).resource.is_accelerator());
        accelerators.map(|(_, amount)| i128::from(amount.0 * p.option(snapshot).held(policy.promise).0))
    });
    Summary {
        on_time: count(&[Verdict::OnTime]),
        at_risk: count(&[Verdict::AtRisk]),
        late: count(&[Verdict::Late]),
        without_verdict: count(&[Verdict::NoDeadline, Verdict::Unknown]),
        peak: cells(snapshot).map(|cell| peak(snapshot, policy, placements, cell)).collect(),
        makespan: ends.max().unwrap_or(Seconds::ZERO),
        gpu_seconds: gpu_seconds.sum(),
        cost: cost(snapshot, policy, placements),
        currency: snapshot.currency.clone(),
    }
}
