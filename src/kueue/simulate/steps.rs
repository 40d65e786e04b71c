//! The same scheduler, moved on instant by instant by somebody who decides what is released and when.
//!
//! Work that arrives is held, as by a gate, until [`Steps::release`]; from then on it queues as in [`simulate`]
//! (by its creation, not by its release), and whoever is evicted queues again by himself.
//!
//! Deliberately absent: any view of events still to come. Whoever decides sees what has happened, and `next` tells only
//! *that* something happens then, for the loop's sake.
//!
//! [`simulate`]: super::simulate

use std::collections::BTreeSet;

use crate::plan::snapshot::Snapshot;
use crate::units::Timestamp;

use super::engine::{Engine, Journal};
use super::{Attempt, SimOptions, Simulation};

pub struct Steps<'a> {
    engine: Engine<'a>,
    touched: BTreeSet<usize>,
}

/// What happened at an instant, as indices into the snapshot's workloads, each list in the order of events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Happened {
    /// May start from now on, and is held.
    pub arrived: Vec<usize>,
    pub finished: Vec<usize>,
    /// A window opened or closed, or running work began or ended.
    pub capacity_changed: bool,
}

impl Happened {
    #[must_use]
    pub fn nothing(&self) -> bool {
        self.arrived.is_empty() && self.finished.is_empty() && !self.capacity_changed
    }
}

impl<'a> Steps<'a> {
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, options: &'a SimOptions) -> Self {
        let mut engine = Engine::new(snapshot, options);
        engine.journal = Some(Journal::default());
        Self { engine, touched: BTreeSet::new() }
    }

    /// The next instant at which something happens by itself.
    #[must_use]
    pub fn next(&self) -> Option<Timestamp> {
        self.engine.next_instant()
    }

    /// Goes to an instant: the next one, or one before it at which the caller wants to decide something.
    ///
    /// # Panics
    /// When something happens before that instant: nothing may be passed over.
    pub fn advance(&mut self, instant: Timestamp) -> Happened {
        assert!(self.next().is_none_or(|next| instant <= next), "no event may be passed over");
        self.engine.advance(instant, &mut self.touched);
        let journal = self.engine.journal.take().unwrap_or_default();
        self.engine.journal = Some(Journal { admitted: journal.admitted, ..Journal::default() });
        Happened { arrived: journal.arrived, finished: journal.finished, capacity_changed: journal.capacity_changed }
    }

    /// Lets a workload that has arrived queue. The caller releases each workload once.
    pub fn release(&mut self, workload: usize) {
        self.engine.release(workload, &mut self.touched);
    }

    /// Runs Kueue's scheduling cycles, and says who was admitted, in order.
    pub fn admit(&mut self) -> Vec<usize> {
        let touched = std::mem::take(&mut self.touched);
        self.engine.admit_from(touched);
        self.engine.journal.as_mut().map(|journal| std::mem::take(&mut journal.admitted)).unwrap_or_default()
    }

    /// Since when and on which option a workload holds its quota. The attempt's end is what only the simulation knows,
    /// so it is not told.
    #[must_use]
    pub fn holds(&self, workload: usize) -> Option<(Timestamp, usize)> {
        self.engine.cluster.holders.get(workload).map(|Attempt { start, option, .. }| (*start, *option))
    }

    /// The last attempt of a workload that has ended.
    #[must_use]
    pub fn last_attempt(&self, workload: usize) -> Option<&Attempt> {
        self.engine.last_attempt(workload)
    }

    /// What happened in all.
    #[must_use]
    pub fn close(self) -> Simulation {
        Simulation { runs: self.engine.close() }
    }
}
