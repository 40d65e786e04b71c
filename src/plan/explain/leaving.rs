//! Who leaves a cell at the very instant at which somebody starts, summed up once for all who start then.
//!
//! Many alike workloads wait for many others at once, so nobody may look at each of those by himself.

use std::collections::HashMap;

use crate::plan::proposal::{Release, Verdict};
use crate::plan::snapshot::{CellId, NodeId, Snapshot};
use crate::units::{Amount, Seconds, Timestamp};

use super::holders::{Holder, Holders};
use super::outlook::Outlook;
use super::words::NAMES_MAX;

/// Those that leave a cell within the subtree of a node at one instant.
#[derive(Default)]
pub(super) struct Leaving<'a> {
    /// The first few of them.
    pub named: Vec<&'a Holder<'a>>,
    pub count: usize,
    /// What they give back together.
    pub held: Amount,
    /// Planned ones that are in time, in their order; none that starts no later than one before it and has as much slack,
    /// since whoever could not wait for him could not wait for that one either.
    pressed: Vec<Pressed>,
}

struct Pressed {
    release: usize,
    start: Timestamp,
    /// What is left until its due time.
    slack: i128,
}

impl<'a> Leaving<'a> {
    fn add(&mut self, holder: &'a Holder<'a>, releases: &[Release]) {
        if self.named.len() < NAMES_MAX {
            self.named.push(holder);
        }
        self.count += 1;
        self.held = self.held.saturating_add(holder.amount);
        let Some(at) = holder.release else { return };
        let release = &releases[at];
        let Some(due) = release.finish_by.filter(|_| release.verdict != Verdict::Late) else { return };
        let (start, slack) = (release.start, i128::from(due.0) - i128::from(release.end.0));
        if self.pressed.iter().all(|before| before.start < start || before.slack > slack) {
            self.pressed.push(Pressed { release: at, start, slack });
        }
    }

    /// The first that starts at `earliest` or later and would miss its due time, had something this long gone first.
    pub(super) fn cannot_wait(&self, earliest: Timestamp, held: Seconds) -> Option<usize> {
        let first = self.pressed.iter().find(|it| it.start >= earliest && it.slack < i128::from(held.0));
        first.map(|it| it.release)
    }
}

type Place = (CellId, NodeId, Timestamp);

/// All that somebody waits for.
pub(super) struct Leavings<'a>(HashMap<Place, Leaving<'a>>);

impl<'a> Leavings<'a> {
    /// For those of the outlooks that something refuses; each belongs to the release of the same index in `asked`.
    pub(super) fn new(
        snapshot: &Snapshot,
        releases: &[Release],
        holders: &'a Holders<'a>,
        asked: impl Iterator<Item = (usize, &'a Outlook)>,
    ) -> Self {
        let mut waited_for: HashMap<Place, Leaving<'a>> = HashMap::new();
        for (at, outlook) in asked {
            if let Some(refused) = outlook.refused {
                waited_for.entry((refused.cell, refused.breach.node, releases[at].start)).or_default();
            }
        }
        for holder in holders.all() {
            for node in snapshot.path_to_root(holder.node) {
                if let Some(leaving) = waited_for.get_mut(&(holder.cell, node, holder.end)) {
                    leaving.add(holder, releases);
                }
            }
        }
        Self(waited_for)
    }

    pub(super) fn of(&self, cell: CellId, node: NodeId, end: Timestamp) -> Option<&Leaving<'a>> {
        self.0.get(&(cell, node, end)).filter(|leaving| leaving.count > 0)
    }
}
