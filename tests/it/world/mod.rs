//! Fixtures in the domain's words: a snapshot said in one breath, with only what matters for the case.
//!
//! ```text
//! a_snapshot().queue("batch").gpus("a100", 4).job(a_job("eval-1").gpus(2).runs(hours(1)).due("17:00")).build()
//! ```
//! Words about a node (`gpus`, `under`, `strict_fifo`, `cap`, …) speak of the node named last; `lending_limit` and
//! `borrowing_limit` speak of the quota named last. It is noon on Monday 30 November 2026, in UTC, unless `now` says
//! otherwise, and the horizon is midnight; times are `"17:00"`, or `"2d 09:00"` for two days later. A job asks every
//! flavor of its queue unless `on` names some, and without `queue` it goes to the first ClusterQueue.
//!
//! Invariant: `build` returns what [`Snapshot`] promises (workloads in creation order, ids that exist).
//! Deliberately absent: YAML; the reading of manifests has its own tests.

mod build;
mod job;

use std::collections::BTreeMap;

use stagger::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use stagger::plan::snapshot::{
    BorrowWithinCohort, Cell, CellId, CellPrice, Node, NodeId, NodeKind, PreemptionPolicy, PreviousRelease,
    PriceWindow, QueueRules, QueueingStrategy, Quota, Window, WindowEffect,
};
use stagger::units::{Amount, Money, Seconds, Timestamp};

pub use job::{Holder, Job, a_job, a_running};

/// Midnight at the start of Monday 30 November 2026, UTC.
const MIDNIGHT: Timestamp = Timestamp(1_795_996_800);
const GPU: &str = "nvidia.com/gpu";

pub fn hours(count: i64) -> Seconds {
    Seconds(count * 3600)
}

pub fn minutes(count: i64) -> Seconds {
    Seconds(count * 60)
}

/// `"17:00"`, `"17:00:30"`, or days later: `"2d 09:00"`.
pub fn at(text: &str) -> Timestamp {
    let (days, clock) = text.split_once("d ").map_or((0, text), |(days, clock)| (days.parse().unwrap(), clock));
    let parts: Vec<i64> = clock.split(':').map(|part| part.parse().unwrap()).collect();
    let seconds = parts[0] * 3600 + parts[1] * 60 + parts.get(2).copied().unwrap_or(0);
    MIDNIGHT + Seconds(days * 86_400 + seconds)
}

/// The inverse of [`at`].
pub fn clock(instant: Timestamp) -> String {
    let since = (instant - MIDNIGHT).0;
    let (days, hours, minutes, seconds) =
        (since.div_euclid(86_400), since.rem_euclid(86_400) / 3600, since.rem_euclid(3600) / 60, since.rem_euclid(60));
    let day = if days == 0 { String::new() } else { format!("{days}d ") };
    let second = if seconds == 0 { String::new() } else { format!(":{seconds:02}") };
    format!("{day}{hours:02}:{minutes:02}{second}")
}

pub fn a_snapshot() -> World {
    World {
        now: at("12:00"),
        horizon_end: at("1d 00:00"),
        cells: Vec::new(),
        nodes: Vec::new(),
        flavor_order: Vec::new(),
        current: 0,
        last_quota: None,
        jobs: Vec::new(),
        running: Vec::new(),
        windows: Vec::new(),
        prices: BTreeMap::new(),
        previous: Vec::new(),
    }
}

#[derive(Debug, Clone)]
pub struct World {
    now: Timestamp,
    horizon_end: Timestamp,
    cells: Vec<Cell>,
    nodes: Vec<Node>,
    /// Per node, its flavors in order of mention.
    flavor_order: Vec<Vec<FlavorName>>,
    current: usize,
    last_quota: Option<CellId>,
    jobs: Vec<Job>,
    running: Vec<Holder>,
    windows: Vec<Window>,
    prices: BTreeMap<CellId, CellPrice>,
    previous: Vec<PreviousRelease>,
}

impl World {
    pub fn now(mut self, text: &str) -> Self {
        self.now = at(text);
        self
    }
    /// The end of the horizon.
    pub fn until(mut self, text: &str) -> Self {
        self.horizon_end = at(text);
        self
    }

    pub fn queue(self, name: &str) -> Self {
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
        self.node(name, NodeKind::ClusterQueue(rules))
    }
    pub fn cohort(self, name: &str) -> Self {
        self.node(name, NodeKind::Cohort)
    }
    fn node(mut self, name: &str, kind: NodeKind) -> Self {
        self.last_quota = None;
        if let Some(known) = self.nodes.iter().position(|node| node.name.as_str() == name) {
            self.current = known;
            return self;
        }
        self.current = self.nodes.len();
        self.nodes.push(Node { name: QueueName::from(name), parent: None, quotas: BTreeMap::new(), kind });
        self.flavor_order.push(Vec::new());
        self
    }
    /// The current node's parent; a cohort not yet named is created.
    pub fn under(mut self, cohort: &str) -> Self {
        let child = self.current;
        let quota = self.last_quota;
        self = self.cohort(cohort);
        self.nodes[child].parent = Some(node_id(self.current));
        self.current = child;
        self.last_quota = quota;
        self
    }

    pub fn gpus(self, flavor: &str, nominal: i64) -> Self {
        self.quota(flavor, GPU, nominal)
    }
    pub fn quota(mut self, flavor: &str, resource: &str, nominal: i64) -> Self {
        let cell = self.cell(flavor, resource);
        let flavors = &mut self.flavor_order[self.current];
        if flavors.iter().all(|known| known.as_str() != flavor) {
            flavors.push(FlavorName::from(flavor));
        }
        self.nodes[self.current].quotas.entry(cell).or_default().nominal = Amount(nominal);
        self.last_quota = Some(cell);
        self
    }
    pub fn borrowing_limit(mut self, limit: i64) -> Self {
        self.named_quota().borrowing_limit = Some(Amount(limit));
        self
    }
    pub fn lending_limit(mut self, limit: i64) -> Self {
        self.named_quota().lending_limit = Some(Amount(limit));
        self
    }
    fn named_quota(&mut self) -> &mut Quota {
        let cell = self.last_quota.expect("a limit must follow a quota");
        self.nodes[self.current].quotas.get_mut(&cell).expect("the quota was just named")
    }
    fn cell(&mut self, flavor: &str, resource: &str) -> CellId {
        let wanted = Cell { flavor: FlavorName::from(flavor), resource: ResourceName::from(resource) };
        let index = self.cells.iter().position(|cell| *cell == wanted).unwrap_or_else(|| {
            self.cells.push(wanted);
            self.cells.len() - 1
        });
        CellId(u32::try_from(index).unwrap())
    }

    pub fn strict_fifo(self) -> Self {
        self.rules(|rules| rules.strategy = QueueingStrategy::StrictFifo)
    }
    pub fn stopped(self) -> Self {
        self.rules(|rules| rules.stopped = true)
    }
    pub fn preempts_within(self, policy: PreemptionPolicy) -> Self {
        self.rules(|rules| rules.within_cluster_queue = policy)
    }
    pub fn reclaims(self, policy: PreemptionPolicy) -> Self {
        self.rules(|rules| rules.reclaim_within_cohort = policy)
    }
    /// `borrowWithinCohort: LowerPriority`, up to this priority of the victim.
    pub fn preempts_while_borrowing(self, max_priority_threshold: Option<i32>) -> Self {
        let borrow = BorrowWithinCohort { policy: PreemptionPolicy::LowerPriority, max_priority_threshold };
        self.rules(|rules| rules.borrow_within_cohort = Some(borrow))
    }
    pub fn tries_next_flavor_before_borrowing(self) -> Self {
        self.rules(|rules| rules.try_next_flavor_before_borrowing = true)
    }
    pub fn preempts_before_trying_next_flavor(self) -> Self {
        self.rules(|rules| rules.try_next_flavor_before_preempting = false)
    }
    pub fn prefers_preemption_over_borrowing(self) -> Self {
        self.rules(|rules| rules.prefer_preemption_over_borrowing = true)
    }
    pub fn rules(mut self, change: impl FnOnce(&mut QueueRules)) -> Self {
        match &mut self.nodes[self.current].kind {
            NodeKind::ClusterQueue(rules) => change(rules),
            NodeKind::Cohort => panic!("a cohort has no queue rules"),
        }
        self
    }

    pub fn job(mut self, job: Job) -> Self {
        self.jobs.push(job);
        self
    }
    pub fn jobs(mut self, jobs: impl IntoIterator<Item = Job>) -> Self {
        self.jobs.extend(jobs);
        self
    }
    pub fn running(mut self, holder: Holder) -> Self {
        self.running.push(holder);
        self
    }

    /// GPUs of the current node's subtree in use stay at or below `quantity` over `[from, to)`.
    pub fn cap(self, flavor: &str, quantity: i64, from: &str, to: &str) -> Self {
        self.window(WindowEffect::Cap, flavor, quantity, from, to)
    }
    pub fn reserve(self, flavor: &str, quantity: i64, from: &str, to: &str) -> Self {
        self.window(WindowEffect::Reserve, flavor, quantity, from, to)
    }
    pub fn add(self, flavor: &str, quantity: i64, from: &str, to: &str) -> Self {
        self.window(WindowEffect::Add, flavor, quantity, from, to)
    }
    fn window(mut self, effect: WindowEffect, flavor: &str, quantity: i64, from: &str, to: &str) -> Self {
        let cell = self.cell(flavor, GPU);
        let name = format!("{effect:?} {quantity} {flavor}");
        let node = node_id(self.current);
        let (start, end) = (at(from), at(to));
        self.windows.push(Window { name, node, cell, effect, quantity: Amount(quantity), start, end });
        self
    }

    /// What a GPU-hour costs.
    pub fn price(mut self, flavor: &str, per_gpu_hour: &str) -> Self {
        let cell = self.cell(flavor, GPU);
        let per_unit_hour = Money::parse(per_gpu_hour).unwrap();
        self.prices.insert(cell, CellPrice { cell, per_unit_hour, windows: Vec::new() });
        self
    }
    /// What it costs over `[from, to)` instead; after `price`.
    pub fn price_between(mut self, flavor: &str, from: &str, to: &str, per_gpu_hour: &str) -> Self {
        let cell = self.cell(flavor, GPU);
        let window = PriceWindow { start: at(from), end: at(to), per_unit_hour: Money::parse(per_gpu_hour).unwrap() };
        self.prices.get_mut(&cell).expect("the base price comes first").windows.push(window);
        self
    }
    pub fn promised_before(mut self, job: &str, flavor: &str, start: &str) -> Self {
        let (key, flavor) = (WorkloadKey::new("evals", job), FlavorName::from(flavor));
        self.previous.push(PreviousRelease { key, flavor, start: at(start), end: None, late: None });
        self
    }
}

fn node_id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).unwrap())
}

/// Each word once: what the others' tests say is what the snapshot holds.
#[test]
fn every_word_reaches_the_snapshot() {
    let snapshot = a_snapshot()
        .now("11:00")
        .until("2d 09:00")
        .cohort("research")
        .gpus("a100", 8)
        .queue("batch")
        .under("research")
        .gpus("a100", 4)
        .lending_limit(1)
        .borrowing_limit(2)
        .quota("a100", "cpu", 64_000)
        .gpus("h100", 2)
        .quota("h100", "cpu", 64_000)
        .strict_fifo()
        .preempts_within(PreemptionPolicy::LowerPriority)
        .reclaims(PreemptionPolicy::Any)
        .preempts_while_borrowing(Some(10))
        .tries_next_flavor_before_borrowing()
        .preempts_before_trying_next_flavor()
        .prefers_preemption_over_borrowing()
        .cap("a100", 3, "13:00", "14:00")
        .reserve("a100", 1, "14:00", "15:00")
        .add("h100", 2, "18:00", "1d 08:00")
        .queue("closed")
        .stopped()
        .price("a100", "2.50")
        .price_between("a100", "20:00", "1d 06:00", "1.25")
        .promised_before("train", "a100", "15:00")
        .job(a_job("train").queue("batch").gpus(2).asks("cpu", 8000).runs_p50_p90(hours(1), hours(2)).created("11:30"))
        .jobs([
            a_job("eval").on("a100").runs(minutes(30)).due("17:00").then_worth(hours(1), 50).worth(5).priority(7),
            a_job("soft").due_softly("16:00").not_before("13:00").restartable(minutes(5)).at_most_interrupted(2),
            a_job("nice").due_for_information("16:00").checkpointable(minutes(10), minutes(1)).without_slo(),
            a_job("mystery").runs_for_unknown_time(hours(9)).runs_on("h100", hours(2)).tenant("nlp").class("eval"),
        ])
        .running(a_running("old").queue("batch").on("a100").gpus(2).priority(3).since("09:00").until("12:30"))
        .running(a_running("older").until_p50_p90("13:00", "14:00"))
        .build();
    let line = |workload: &stagger::plan::snapshot::Workload| {
        let options: Vec<String> = workload
            .options
            .iter()
            .map(|option| {
                let uses: Vec<String> =
                    option.uses.iter().map(|(cell, amount)| format!("{}:{}", cell.0, amount.0)).collect();
                format!("{} {} for {}", option.flavor, uses.join("+"), option.runtime.p50)
            })
            .collect();
        format!("{} from {}: {}\n", workload.key, clock(workload.earliest_start), options.join(" or "))
    };
    let text: String = snapshot.workloads.iter().map(line).collect();
    expect_test::expect![[r#"
        evals/eval from 11:00: a100 0:1 for 30 min
        evals/mystery from 11:00: a100 0:1 for 9 h or h100 2:1 for 2 h
        evals/nice from 11:00: a100 0:1 for 1 h or h100 2:1 for 1 h
        evals/soft from 13:00: a100 0:1 for 1 h or h100 2:1 for 1 h
        evals/train from 11:30: a100 0:2+1:8000 for 1 h or h100 2:2+3:8000 for 1 h
    "#]]
    .assert_eq(&text);
    assert_eq!(clock(at("2d 09:00:05")), "2d 09:00:05");
}
