//! Time: what happens at which instant, and who holds what.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::kueue::quota::{Ledger, Tree, changes};
use crate::plan::snapshot::{NodeId, NodeKind, Snapshot};
use crate::units::{Seconds, Timestamp};

use super::holders::Cluster;
use super::line::Line;
use super::progress::{Progress, whole_runtime};
use super::{Attempt, Run, Runtimes, SimOptions};

pub(super) struct Engine<'a> {
    pub cluster: Cluster<'a>,
    pub ledger: Ledger,
    /// ClusterQueues; everywhere here a queue is an index into this, a root an index into `trees`.
    pub queues: Vec<Line<'a>>,
    pub trees: Vec<Vec<usize>>,
    pub root_of: Vec<usize>,
    /// How often capacity was freed in a tree.
    pub freed: Vec<u64>,
    /// Trees in which capacity was freed and the parked were not yet called back.
    calls_back: BTreeSet<usize>,
    /// Per workload: the option to begin with, as long as its tree's `freed` is still that.
    pub resume: Vec<(u64, usize)>,
    runtimes: &'a Runtimes,
    now: Timestamp,
    queue_of_node: Vec<Option<usize>>,
    root_of_node: Vec<Option<usize>>,
    class_of: Vec<usize>,
    progress: Vec<Progress>,
    runs: Vec<Run>,
    events: BinaryHeap<Reverse<(Timestamp, Event)>>,
    windows: Vec<(Timestamp, Vec<NodeId>)>,
    /// Kept where somebody else decides what is released (`steps`): then an arrival is noted, not queued.
    pub journal: Option<Journal>,
}

/// What has happened since somebody last looked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Journal {
    pub arrived: Vec<usize>,
    pub finished: Vec<usize>,
    pub admitted: Vec<usize>,
    /// A window opened or closed, or running work began or ended.
    pub capacity_changed: bool,
}

/// In the order in which simultaneous ones are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The attempt of that number ends; it is stale when the workload was evicted before.
    Finish {
        workload: usize,
        attempt: usize,
    },
    RunningEnds(usize),
    RunningStarts(usize),
    Window(usize),
    /// By order, not by index.
    Arrival(usize),
}

impl<'a> Engine<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, options: &'a SimOptions) -> Self {
        let cluster = Cluster::new(snapshot);
        let ledger = Ledger::new(Tree::at(snapshot, snapshot.now));
        let count = snapshot.workloads.len();
        let mut engine = Self {
            queue_of_node: vec![None; snapshot.nodes.len()],
            root_of_node: vec![None; snapshot.nodes.len()],
            queues: Vec::new(),
            trees: Vec::new(),
            root_of: Vec::new(),
            freed: Vec::new(),
            calls_back: BTreeSet::new(),
            resume: vec![(0, 0); count],
            runtimes: &options.runtimes,
            now: snapshot.now,
            class_of: vec![0; count],
            progress: vec![Progress::default(); count],
            runs: vec![Run::default(); count],
            events: BinaryHeap::new(),
            windows: changes(snapshot),
            journal: None,
            cluster,
            ledger,
        };
        engine.form_queues();
        engine.form_classes();
        engine.expect_events();
        engine
    }

    fn form_queues(&mut self) {
        let snapshot = self.cluster.snapshot;
        let mut known: BTreeMap<NodeId, usize> = BTreeMap::new();
        for (index, node) in (0_u32..).map(NodeId).zip(&snapshot.nodes) {
            let root_node = self.ledger.tree().root(index);
            let root = *known.entry(root_node).or_insert_with(|| {
                self.trees.push(Vec::new());
                self.trees.len() - 1
            });
            self.root_of_node[index.0 as usize] = Some(root);
            let NodeKind::ClusterQueue(rules) = &node.kind else { continue };
            self.queue_of_node[index.0 as usize] = Some(self.queues.len());
            self.trees[root].push(self.queues.len());
            self.root_of.push(root);
            self.queues.push(Line::new(index, rules, &self.ledger));
        }
        self.freed = vec![0; self.trees.len()];
    }

    fn form_classes(&mut self) {
        for index in 0..self.cluster.snapshot.workloads.len() {
            if let Some(queue) = self.queue_of(index) {
                self.class_of[index] = self.queues[queue].class_of(self.cluster.snapshot, index);
            }
        }
        for line in &mut self.queues {
            line.open();
        }
    }

    fn expect_events(&mut self) {
        let snapshot = self.cluster.snapshot;
        for (order, index) in self.cluster.by_order.iter().enumerate() {
            let at = snapshot.workloads[*index].earliest_start.max(self.now);
            self.events.push(Reverse((at, Event::Arrival(order))));
        }
        for (index, running) in snapshot.running.iter().enumerate() {
            let end = match self.runtimes {
                Runtimes::P90 => running.end_p90.or(running.end_p50),
                Runtimes::P50 | Runtimes::Explicit(_) => running.end_p50,
            };
            let (start, end) = (running.start.max(self.now), end.unwrap_or(snapshot.horizon_end));
            if start < end {
                self.events.push(Reverse((start, Event::RunningStarts(index))));
                self.events.push(Reverse((end, Event::RunningEnds(index))));
            }
        }
        for (index, (at, _)) in self.windows.iter().enumerate() {
            if *at > self.now {
                self.events.push(Reverse((*at, Event::Window(index))));
            }
        }
    }

    pub(super) fn run(mut self) -> Vec<Run> {
        while let Some(instant) = self.next_instant() {
            // Trees in which something arrived or was freed; others have nothing new to decide.
            let mut touched: BTreeSet<usize> = BTreeSet::new();
            self.advance(instant, &mut touched);
            self.admit_from(touched);
        }
        self.close()
    }

    pub(super) fn next_instant(&self) -> Option<Timestamp> {
        self.events.peek().map(|Reverse((at, _))| *at)
    }

    /// Everything that happens at an instant, which must not lie behind an event still to come.
    pub(super) fn advance(&mut self, instant: Timestamp, touched: &mut BTreeSet<usize>) {
        self.now = instant;
        while let Some(event) = self.next_at(instant) {
            self.happen(event, touched);
        }
    }

    /// Whoever stands in line goes first: Kueue calls the parked back a second after capacity is freed.
    pub(super) fn admit_from(&mut self, touched: BTreeSet<usize>) {
        for root in touched {
            while self.cycle(root) {}
            if self.calls_back.remove(&root) {
                self.call_back(root);
                while self.cycle(root) {}
            }
        }
    }

    /// Lets a workload that has arrived queue.
    pub(super) fn release(&mut self, workload: usize, touched: &mut BTreeSet<usize>) {
        if let Some(queue) = self.queue_of(workload) {
            self.enqueue(workload, queue);
            touched.insert(self.root_of[queue]);
        }
    }

    pub(super) fn last_attempt(&self, workload: usize) -> Option<&Attempt> {
        self.runs.get(workload)?.attempts.last()
    }

    pub(super) fn close(mut self) -> Vec<Run> {
        for (run, workload) in self.runs.iter_mut().zip(&self.cluster.snapshot.workloads) {
            let ran: i64 = run.attempts.iter().map(|attempt| (attempt.end - attempt.start).0).sum();
            let last = run.attempts.last().map_or(workload.earliest_start, |attempt| attempt.end);
            run.waited = Seconds((last - workload.earliest_start).0.saturating_sub(ran));
        }
        self.runs
    }

    fn next_at(&mut self, instant: Timestamp) -> Option<Event> {
        self.events.peek().filter(|Reverse((at, _))| *at == instant)?;
        self.events.pop().map(|Reverse((_, event))| event)
    }

    fn happen(&mut self, event: Event, touched: &mut BTreeSet<usize>) {
        let snapshot = self.cluster.snapshot;
        match event {
            Event::Finish { workload, attempt } => {
                if self.runs[workload].attempts.len() == attempt
                    && let Some(root) = self.finish(workload)
                {
                    self.freed_in(root, touched);
                    if let Some(journal) = &mut self.journal {
                        journal.finished.push(workload);
                    }
                }
            }
            Event::RunningStarts(index) => {
                self.note_capacity();
                self.ledger.add(snapshot.running[index].queue, &snapshot.running[index].uses);
            }
            Event::RunningEnds(index) => {
                self.ledger.remove(snapshot.running[index].queue, &snapshot.running[index].uses);
                self.free(snapshot.running[index].queue, touched);
            }
            Event::Window(index) => {
                self.ledger.adopt(Tree::at(snapshot, self.now));
                for node in self.windows[index].1.clone() {
                    self.free(node, touched);
                }
            }
            Event::Arrival(order) => {
                let workload = self.cluster.by_order[order];
                match &mut self.journal {
                    Some(journal) => journal.arrived.push(workload),
                    None => self.release(workload, touched),
                }
            }
        }
    }

    fn note_capacity(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.capacity_changed = true;
        }
    }

    fn free(&mut self, node: NodeId, touched: &mut BTreeSet<usize>) {
        self.note_capacity();
        if let Some(root) = self.root_of_node.get(node.0 as usize).copied().flatten() {
            self.freed_in(root, touched);
        }
    }

    fn freed_in(&mut self, root: usize, touched: &mut BTreeSet<usize>) {
        self.freed[root] += 1;
        self.calls_back.insert(root);
        touched.insert(root);
    }

    fn queue_of(&self, workload: usize) -> Option<usize> {
        let node = self.cluster.snapshot.workloads[workload].queue;
        self.queue_of_node.get(node.0 as usize).copied().flatten()
    }

    fn enqueue(&mut self, workload: usize, queue: usize) {
        let rank = self.cluster.rank(workload);
        self.queues[queue].pending.push(rank, self.class_of[workload]);
    }

    /// Capacity was freed somewhere in the tree: who was parked may be tried again.
    pub(super) fn call_back(&mut self, root: usize) {
        for &queue in &self.trees[root] {
            self.queues[queue].freed();
        }
    }

    /// Starts an attempt; the ledger already knows.
    pub(super) fn admit(&mut self, workload: usize, option: usize) {
        let it = &self.cluster.snapshot.workloads[workload];
        let whole = whole_runtime(it, workload, option, self.runtimes);
        let duration = self.progress[workload].remaining(whole);
        let end = Timestamp(self.now.0.saturating_add(duration.0));
        let attempt = Attempt { start: self.now, end, option, evicted: false };
        self.cluster.holders.attempts[workload] = Some(attempt);
        self.cluster.holders.by_queue[it.queue.0 as usize].insert((it.priority, workload));
        if let Some(journal) = &mut self.journal {
            journal.admitted.push(workload);
        }
        let attempt = self.runs[workload].attempts.len();
        self.events.push(Reverse((end, Event::Finish { workload, attempt })));
    }

    fn leave(&mut self, workload: usize) -> Option<Attempt> {
        let it = &self.cluster.snapshot.workloads[workload];
        self.ledger.remove(it.queue, self.cluster.held(workload));
        self.cluster.holders.by_queue[it.queue.0 as usize].remove(&(it.priority, workload));
        self.cluster.holders.attempts[workload].take()
    }

    /// The tree in which its quota is free now.
    fn finish(&mut self, workload: usize) -> Option<usize> {
        let attempt = self.leave(workload)?;
        let runtime = self.cluster.snapshot.workloads[workload].options[attempt.option].runtime;
        let margin = match self.runtimes {
            Runtimes::P50 => (runtime.p90 - runtime.p50).max(Seconds::ZERO),
            Runtimes::P90 | Runtimes::Explicit(_) => Seconds::ZERO,
        };
        let run = &mut self.runs[workload];
        run.attempts.push(attempt);
        run.end = Some(attempt.end);
        run.end_p90 = Some(Timestamp(attempt.end.0.saturating_add(margin.0)));
        self.queue_of(workload).map(|queue| self.root_of[queue])
    }

    pub(super) fn evict(&mut self, workload: usize) {
        let Some(attempt) = self.leave(workload) else { return };
        let it = &self.cluster.snapshot.workloads[workload];
        let whole = whole_runtime(it, workload, attempt.option, self.runtimes);
        self.progress[workload].evicted(it.interruption, whole, self.now - attempt.start);
        self.cluster.holders.evictions[workload] += 1;
        self.runs[workload].attempts.push(Attempt { end: self.now, evicted: true, ..attempt });
        if let Some(queue) = self.queue_of(workload) {
            self.enqueue(workload, queue);
        }
    }
}
