//! Planner inputs in the domain's words: `given().queue("batch", 4).job("eval-1", 2).hours(1).due_in_hours(5)`.

use std::collections::BTreeMap;

use stagger::calendar;
use stagger::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use stagger::plan::snapshot::{
    Cell, CellId, CellPrice, DeadlinePolicy, Due, Interruption, Node, NodeId, NodeKind, PreemptionPolicy, QueueRules,
    QueueingStrategy, Quota, RunOption, Running, Runtime, Snapshot, Window, WindowEffect, Workload,
};
use stagger::units::{Amount, Money, Seconds, Timestamp};

/// Noon of the touchstone.
pub fn noon() -> Timestamp {
    calendar::parse_instant("2026-11-30T12:00:00+01:00").expect("noon must be an instant")
}

/// So many minutes after noon.
pub fn at(minutes: i64) -> Timestamp {
    noon() + Seconds(minutes * 60)
}

pub const A100: CellId = CellId(0);

/// Builds a snapshot; every method adds to what was named last.
#[derive(Debug, Clone)]
pub struct Given {
    pub snapshot: Snapshot,
}

/// Noon in Madrid, a day of five hours, one cell (a100), no queue yet.
pub fn given() -> Given {
    let cells = vec![cell("a100")];
    Given {
        snapshot: Snapshot {
            now: noon(),
            horizon_end: at(300),
            time_zone: "Europe/Madrid".to_owned(),
            cells,
            nodes: Vec::new(),
            workloads: Vec::new(),
            running: Vec::new(),
            windows: Vec::new(),
            prices: Vec::new(),
            currency: None,
            previous: Vec::new(),
        },
    }
}

/// The touchstone: four 2-GPU jobs of one hour, four GPUs, due at 17:00.
pub fn touchstone() -> Given {
    let mut given = given().queue("batch", 4);
    for name in ["eval-1", "eval-2", "eval-3", "eval-4"] {
        given = given.job(name, 2).minutes(60).due(at(300));
    }
    given
}

fn cell(flavor: &str) -> Cell {
    Cell { flavor: FlavorName::from(flavor), resource: ResourceName::from("nvidia.com/gpu") }
}

impl Given {
    /// Another flavor's GPUs; gives its cell the next id.
    pub fn flavor(mut self, name: &str) -> Self {
        self.snapshot.cells.push(cell(name));
        self
    }

    /// A cohort without quota of its own.
    pub fn cohort(self, name: &str) -> Self {
        self.node(name, NodeKind::Cohort)
    }

    /// A ClusterQueue with this nominal quota of a100.
    pub fn queue(self, name: &str, nominal: i64) -> Self {
        let rules = QueueRules {
            strategy: QueueingStrategy::BestEffortFifo,
            stopped: false,
            groups: Vec::new(),
            within_cluster_queue: PreemptionPolicy::Never,
            reclaim_within_cohort: PreemptionPolicy::Never,
            borrow_within_cohort: None,
            try_next_flavor_before_borrowing: false,
            try_next_flavor_before_preempting: true,
            prefer_preemption_over_borrowing: false,
        };
        self.node(name, NodeKind::ClusterQueue(rules)).nominal(A100, nominal)
    }

    fn node(mut self, name: &str, kind: NodeKind) -> Self {
        self.snapshot.nodes.push(Node { name: QueueName::from(name), parent: None, quotas: BTreeMap::new(), kind });
        self
    }

    fn last_node(&mut self) -> &mut Node {
        self.snapshot.nodes.last_mut().expect("a node must be given first")
    }

    pub fn nominal(self, cell: CellId, nominal: i64) -> Self {
        self.quota(cell, nominal, None, None)
    }

    pub fn quota(mut self, cell: CellId, nominal: i64, borrowing: Option<i64>, lending: Option<i64>) -> Self {
        let quota = Quota {
            nominal: Amount(nominal),
            borrowing_limit: borrowing.map(Amount),
            lending_limit: lending.map(Amount),
        };
        self.last_node().quotas.insert(cell, quota);
        self
    }

    pub fn under(mut self, parent: &str) -> Self {
        let id = self.id(parent);
        self.last_node().parent = Some(id);
        self
    }

    pub fn stopped(mut self) -> Self {
        if let NodeKind::ClusterQueue(rules) = &mut self.last_node().kind {
            rules.stopped = true;
        }
        self
    }

    pub fn id(&self, node: &str) -> NodeId {
        self.snapshot.find_node(node).expect("the node must be given")
    }

    /// A job of one hour for the queue given last, created now, on so many a100; with an SLO but no due time.
    pub fn job(mut self, name: &str, gpus: i64) -> Self {
        let last = self.snapshot.nodes.iter().rposition(|node| matches!(node.kind, NodeKind::ClusterQueue(_)));
        let queue = crate::brute::node(last.expect("a queue must be given first"));
        self.snapshot.workloads.push(Workload {
            key: WorkloadKey::new("evals", name),
            kind: "Job".to_owned(),
            tenant: None,
            class: None,
            queue,
            priority: 0,
            created: noon(),
            earliest_start: noon(),
            due: None,
            value: 1,
            options: Vec::new(),
            interruption: Interruption::None,
            has_slo: true,
        });
        self.option("a100", A100, gpus, 60, 60)
    }

    fn last_job(&mut self) -> &mut Workload {
        self.snapshot.workloads.last_mut().expect("a job must be given first")
    }

    /// One more option, with p50 and p90 in minutes.
    pub fn option(mut self, flavor: &str, cell: CellId, gpus: i64, p50: i64, p90: i64) -> Self {
        self.last_job().options.push(RunOption {
            flavor: FlavorName::from(flavor),
            uses: vec![(cell, Amount(gpus))],
            runtime: Runtime { p50: Seconds(p50 * 60), p90: Seconds(p90 * 60), known: true },
        });
        self
    }

    pub fn minutes(self, minutes: i64) -> Self {
        self.runtime(minutes, minutes)
    }

    pub fn runtime(mut self, p50: i64, p90: i64) -> Self {
        let option = self.last_job().options.last_mut().expect("a job must have an option");
        option.runtime = Runtime { p50: Seconds(p50 * 60), p90: Seconds(p90 * 60), known: true };
        self
    }

    pub fn due(self, due: Timestamp) -> Self {
        self.due_as(due, DeadlinePolicy::Hard)
    }

    pub fn due_as(mut self, due: Timestamp, policy: DeadlinePolicy) -> Self {
        self.last_job().due = Some(Due { at: due, policy, tiers: Vec::new() });
        self
    }

    pub fn not_before(mut self, start: Timestamp) -> Self {
        self.last_job().earliest_start = start;
        self
    }

    pub fn worth(mut self, value: i64) -> Self {
        self.last_job().value = value;
        self
    }

    pub fn tolerates(mut self, interruption: Interruption) -> Self {
        self.last_job().interruption = interruption;
        self
    }

    pub fn without_slo(mut self) -> Self {
        self.last_job().has_slo = false;
        self
    }

    /// Running work at a queue on so many a100 until `end`.
    pub fn running(mut self, name: &str, queue: &str, gpus: i64, end: Timestamp) -> Self {
        let queue = self.id(queue);
        self.snapshot.running.push(Running {
            key: WorkloadKey::new("evals", name),
            tenant: None,
            queue,
            flavor: FlavorName::from("a100"),
            uses: vec![(A100, Amount(gpus))],
            priority: 0,
            start: at(-60),
            end_p50: Some(end),
            end_p90: Some(end),
            due: None,
        });
        self
    }

    /// A window of a100 at a node.
    pub fn window(
        mut self,
        node: &str,
        effect: WindowEffect,
        quantity: i64,
        (start, end): (Timestamp, Timestamp),
    ) -> Self {
        let node = self.id(node);
        let name = format!("window-{}", self.snapshot.windows.len());
        self.snapshot.windows.push(Window { name, node, cell: A100, effect, quantity: Amount(quantity), start, end });
        self
    }

    /// Euros per a100-hour, at all hours.
    pub fn price(mut self, cell: CellId, euros: i128) -> Self {
        let per_unit_hour = Money { nanos: euros * 1_000_000_000 };
        self.snapshot.prices.push(CellPrice { cell, per_unit_hour, windows: Vec::new() });
        self.snapshot.currency = Some("EUR".to_owned());
        self
    }
}
