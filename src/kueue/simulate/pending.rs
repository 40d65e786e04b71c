//! The waiting line of one ClusterQueue.
//!
//! Workloads that ask for the same things (and have the same say in preemption) form a class: where the first of them
//! cannot be admitted the others cannot either, so they are parked and looked at together. That is what Kueue's
//! scheduling equivalence hashing does, and what keeps a long queue cheap.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::units::Timestamp;

/// A workload's place in its queue: higher priority, then earlier creation, then key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub priority: Reverse<i32>,
    pub created: Timestamp,
    /// Its place among all workloads by creation and key; names it.
    pub order: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    classes: Vec<Class>,
    /// The classes that are parked.
    parked: Vec<usize>,
    /// The first of each class that is not parked.
    heads: BTreeSet<(Rank, usize)>,
    /// It has had others preempted and goes first until it is admitted.
    sticky: Option<(Rank, usize)>,
}

#[derive(Debug, Clone, Default)]
struct Class {
    waiting: BTreeSet<Rank>,
    parked: bool,
    /// How often capacity had been freed when it was parked.
    parked_at: u64,
}

impl Pending {
    pub(super) fn with_classes(count: usize) -> Self {
        Self { classes: vec![Class::default(); count], ..Self::default() }
    }

    /// Who is tried next, with its class.
    pub(super) fn head(&self) -> Option<(Rank, usize)> {
        let active = |(rank, class): &(Rank, usize)| {
            let class = &self.classes[*class];
            !class.parked && class.waiting.contains(rank)
        };
        self.sticky.filter(active).or_else(|| self.heads.first().copied())
    }

    pub(super) fn push(&mut self, rank: Rank, class: usize) {
        let first = self.classes[class].waiting.first().copied();
        self.classes[class].waiting.insert(rank);
        if first.is_none_or(|first| rank < first) {
            // A newcomer in front of a parked class may do better than they did.
            if self.classes[class].parked {
                self.classes[class].parked = false;
                self.parked.retain(|other| *other != class);
            }
            if let Some(first) = first {
                self.heads.remove(&(first, class));
            }
            self.heads.insert((rank, class));
        }
    }

    pub(super) fn remove(&mut self, rank: Rank, class: usize) {
        self.classes[class].waiting.remove(&rank);
        if self.sticky == Some((rank, class)) {
            self.sticky = None;
        }
        if self.heads.remove(&(rank, class)) {
            self.raise(class);
        }
    }

    fn raise(&mut self, class: usize) {
        if let Some(first) = self.classes[class].waiting.first() {
            self.heads.insert((*first, class));
        }
    }

    /// Sets aside a class whose member could not be admitted, although capacity had been freed that often.
    pub(super) fn park(&mut self, rank: Rank, class: usize, freed: u64) {
        if self.classes[class].waiting.first() == Some(&rank) {
            self.classes[class].parked = true;
            self.classes[class].parked_at = freed;
            self.parked.push(class);
            self.heads.remove(&(rank, class));
        } else {
            // It was tried out of turn, and those before it may still do better.
            self.sticky = None;
        }
    }

    /// Brings all parked classes back.
    pub(super) fn unpark_all(&mut self) {
        for class in std::mem::take(&mut self.parked) {
            self.classes[class].parked = false;
            self.raise(class);
        }
    }

    /// Brings back the first of the classes parked before capacity was last freed for which it may help. False when
    /// there is none.
    pub(super) fn recall_first(&mut self, freed: u64, may_help: impl Fn(usize) -> bool) -> bool {
        let helped = |(_, class): &(usize, &usize)| self.classes[**class].parked_at != freed && may_help(**class);
        let first = |(_, class): &(usize, &usize)| self.classes[**class].waiting.first().copied();
        let Some((at, _)) = self.parked.iter().enumerate().filter(helped).min_by_key(first) else { return false };
        let class = self.parked.swap_remove(at);
        self.classes[class].parked = false;
        self.raise(class);
        true
    }

    pub(super) fn stick(&mut self, rank: Rank, class: usize) {
        self.sticky = Some((rank, class));
    }
}
