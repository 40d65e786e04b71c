//! Workloads by queue and class: what a picture shows when there are too many to show one by one.

use std::collections::{BTreeMap, HashMap};

use crate::names::WorkloadKey;
use crate::plan::curve::{Scene, Steps};
use crate::plan::proposal::Verdict;
use crate::units::{Amount, Timestamp};

/// The workloads of one class in one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub queue: String,
    /// The outcome class, else the kind; `running` for work that already holds quota.
    pub class: String,
    pub workloads: usize,
    pub late: usize,
    pub at_risk: usize,
    /// How many of them run at once.
    pub count: Steps,
}

#[derive(Default)]
struct Tally {
    holdings: Vec<(Timestamp, Timestamp, Amount)>,
    workloads: usize,
    late: usize,
    at_risk: usize,
}

/// All groups, by queue and class.
#[must_use]
pub fn of(scene: &Scene<'_>) -> Vec<Group> {
    let (snapshot, plan) = (scene.snapshot, scene.plan);
    let class: HashMap<&WorkloadKey, &str> =
        snapshot.workloads.iter().map(|it| (&it.key, it.class.as_deref().unwrap_or(&it.kind))).collect();
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    for work in &snapshot.running {
        let queue = snapshot.node(work.queue).name.to_string();
        let tally = tallies.entry((queue, "running".to_owned())).or_default();
        tally.workloads += 1;
        tally.holdings.push((work.start, scene.end_of(work), Amount(1)));
    }
    for release in &plan.releases {
        let class = class.get(&release.workload).copied().unwrap_or(&release.kind).to_owned();
        let tally = tallies.entry((release.cluster_queue.to_string(), class)).or_default();
        tally.workloads += 1;
        tally.late += usize::from(release.verdict == Verdict::Late);
        tally.at_risk += usize::from(release.verdict == Verdict::AtRisk);
        tally.holdings.extend(release.pieces.iter().map(|piece| (piece.start, piece.end, Amount(1))));
    }
    tallies
        .into_iter()
        .map(|((queue, class), tally)| Group {
            queue,
            class,
            workloads: tally.workloads,
            late: tally.late,
            at_risk: tally.at_risk,
            count: Steps::of_holdings(tally.holdings),
        })
        .collect()
}

impl Group {
    /// What a row says beside its picture: `up to 8, 2 LATE`.
    #[must_use]
    pub fn note(&self) -> String {
        let verdicts = match (self.late, self.at_risk) {
            (0, 0) => String::new(),
            (0, risk) => format!(", {risk} AT RISK"),
            (late, _) => format!(", {late} LATE"),
        };
        format!("up to {}{verdicts}", self.count.most().0)
    }
}
