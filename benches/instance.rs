//! Bench-only reader of the seeded instance format (`T F`, a price and T capacities per flavor, then jobs `r d w k (f q p)*`).
//!
//! A slot stands for a minute; each flavor is a cell of one ClusterQueue, and a capacity below the maximum is a Cap window.

use std::collections::BTreeMap;

use stagger::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use stagger::plan::snapshot::{
    Cell, CellId, CellPrice, DeadlinePolicy, Due, Interruption, Node, NodeId, NodeKind, QueueRules, QueueingStrategy,
    Quota, RunOption, Runtime, Snapshot, Window, WindowEffect, Workload,
};
use stagger::units::{Amount, Money, Seconds, Timestamp};

/// Length of an instance slot.
pub const SLOT: i64 = 60;

/// Which of the two benchmark problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// Fixed capacity; fewest (weighted) late jobs.
    Late,
    /// Threefold capacity, all deadlines met; least price-weighted peak.
    Peak,
}

/// # Panics
/// On text that is not an instance.
#[must_use]
pub fn read(text: &str, problem: Problem) -> Snapshot {
    let mut numbers =
        text.split_ascii_whitespace().map(|word| word.parse::<i64>().expect("an instance holds integers"));
    let mut next = || numbers.next().expect("an instance must be complete");
    let (slots, flavors) = (next(), next());
    let factor = if problem == Problem::Peak { 3 } else { 1 };
    let now = Timestamp(1_764_547_200);
    let mut cells = Vec::new();
    let mut quotas = BTreeMap::new();
    let mut windows = Vec::new();
    let mut prices = Vec::new();
    let resource = ResourceName::from("nvidia.com/gpu");
    for flavor in 0..flavors {
        let id = CellId(u32::try_from(flavor).expect("few flavors"));
        let name = FlavorName::from(format!("f{flavor}"));
        cells.push(Cell { flavor: name, resource: resource.clone() });
        let price = next();
        prices.push(CellPrice {
            cell: id,
            per_unit_hour: Money { nanos: i128::from(price) * 1_000_000_000 },
            windows: Vec::new(),
        });
        let capacity: Vec<i64> = (0..slots).map(|_| next() * factor).collect();
        let most = capacity.iter().copied().max().unwrap_or(0);
        quotas.insert(id, Quota { nominal: Amount(most), borrowing_limit: None, lending_limit: None });
        let mut slot = 0_i64;
        while slot < slots {
            let here = capacity[usize::try_from(slot).expect("slots are few")];
            let run =
                capacity[usize::try_from(slot).expect("slots are few")..].iter().take_while(|c| **c == here).count();
            let end = slot + i64::try_from(run).expect("slots are few");
            if here < most {
                windows.push(Window {
                    name: format!("calendar-{slot}"),
                    node: NodeId(0),
                    cell: id,
                    effect: WindowEffect::Cap,
                    quantity: Amount(here),
                    start: now + Seconds(slot * SLOT),
                    end: now + Seconds(end * SLOT),
                });
            }
            slot = end;
        }
    }
    let count = next();
    let workloads = (0..count)
        .map(|index| {
            let (release, due, weight, options) = (next(), next(), next(), next());
            let options = (0..options)
                .map(|_| {
                    let (flavor, amount, length) = (next(), next(), next());
                    let runtime = Seconds(length * SLOT);
                    RunOption {
                        flavor: FlavorName::from(format!("f{flavor}")),
                        uses: vec![(CellId(u32::try_from(flavor).expect("few flavors")), Amount(amount))],
                        runtime: Runtime { p50: runtime, p90: runtime, known: true },
                    }
                })
                .collect();
            Workload {
                key: WorkloadKey::from(format!("bench/job-{index:05}")),
                kind: "Job".to_owned(),
                tenant: None,
                class: None,
                queue: NodeId(0),
                priority: 0,
                created: now,
                earliest_start: now + Seconds(release * SLOT),
                due: Some(Due { at: now + Seconds(due * SLOT), policy: DeadlinePolicy::Hard, tiers: Vec::new() }),
                value: weight,
                options,
                interruption: Interruption::None,
                has_slo: true,
            }
        })
        .collect();
    Snapshot {
        now,
        horizon_end: now + Seconds(slots * SLOT),
        time_zone: "UTC".to_owned(),
        cells,
        nodes: vec![Node {
            name: QueueName::from("bench"),
            parent: None,
            quotas,
            kind: NodeKind::ClusterQueue(rules()),
        }],
        workloads,
        running: Vec::new(),
        windows,
        prices,
        currency: Some("EUR".to_owned()),
        previous: Vec::new(),
    }
}

fn rules() -> QueueRules {
    use stagger::plan::snapshot::PreemptionPolicy::Never;
    QueueRules {
        strategy: QueueingStrategy::BestEffortFifo,
        stopped: false,
        groups: Vec::new(),
        within_cluster_queue: Never,
        reclaim_within_cohort: Never,
        borrow_within_cohort: None,
        try_next_flavor_before_borrowing: false,
        try_next_flavor_before_preempting: true,
        prefer_preemption_over_borrowing: false,
    }
}
