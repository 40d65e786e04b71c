//! Plans of a comparison that was stopped, kept so that it can go on later without making them again.
//!
//! A comparison is a function of its question and of the plans it asks for: with the same plans it gives the same answer,
//! byte for byte. So the plans are what is kept, each under the digest of what was asked: finished ones are taken from the
//! journal, the others are made. A plan is kept as places and bounds only; its figures and reasons are made anew, and it is
//! checked again, so that a journal somebody has edited can at worst cost time.
//!
//! A journal answers one question only (see [`digest`]). Deliberately absent: files and versions, which belong to `cli`;
//! wall-clock budgets are no part of what is asked, so that who has stopped at a limit may go on with another.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::failure::Severity;
use crate::plan::check::check;
use crate::plan::proposal::{Before, Level, LevelName, Piece, Plan, Proof, Quality, StoppedBy};
use crate::plan::snapshot::{CellId, Policy, Snapshot};
use crate::plan::stand::{self, Stand, Stands};
use crate::plan::{explain, summary};
use crate::units::{Money, Timestamp};

use super::adopt::stands;
use super::{Change, Measured};

/// Plans kept: several comparisons' worth; a file with more is not one of ours.
pub const ENTRIES_MAX: usize = 4_096;

/// What kind of plan is asked for: kinds do not stand in for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Kind {
    Plan,
    Probe,
    /// Made to explain a conflict.
    Trial,
}

/// One plan: where everything stands, and how good that is known to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// By workload: the option and the pieces; nothing where it has no place.
    stands: Vec<Option<(usize, Vec<(Timestamp, Timestamp)>)>>,
    levels: Vec<EntryLevel>,
    millis: u64,
    stopped_by: Option<StoppedBy>,
    reasons: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct EntryLevel {
    name: LevelName,
    /// As text: levels in money exceed what readers of JSON keep exact.
    value: String,
    bound: Option<String>,
    proof: Proof,
}

/// Plans by what was asked.
#[derive(Debug, Default)]
pub struct Journal {
    entries: RefCell<BTreeMap<String, Entry>>,
    taken: Cell<usize>,
}

impl Journal {
    /// With what an earlier comparison has left.
    #[must_use]
    pub fn with(entries: BTreeMap<String, Entry>) -> Self {
        Self { entries: RefCell::new(entries), taken: Cell::new(0) }
    }

    /// Everything that is kept, by the digest of what was asked.
    #[must_use]
    pub fn entries(&self) -> BTreeMap<String, Entry> {
        self.entries.borrow().clone()
    }

    /// Plans that did not have to be made.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.get()
    }

    /// The plan that is kept for this, else what `make` gives; that is kept too if `whole` says that nothing cut it short.
    pub fn plan(
        &self,
        kind: Kind,
        snapshot: &Snapshot,
        policy: &Policy,
        make: &dyn Fn() -> Plan,
        whole: &dyn Fn(&Plan) -> bool,
    ) -> Plan {
        let key = stand::digest(&(kind, snapshot, untimed(policy)));
        if let Some(plan) = self.entries.borrow().get(&key).and_then(|entry| restored(entry, snapshot, policy)) {
            self.taken.set(self.taken.get() + 1);
            return plan;
        }
        let plan = make();
        let mut entries = self.entries.borrow_mut();
        if entries.len() < ENTRIES_MAX
            && whole(&plan)
            && let Some(entry) = kept(&plan, snapshot)
        {
            entries.insert(key, entry);
        }
        plan
    }
}

/// SHA-256 over everything that is asked, wall-clock budgets left out, hexadecimal.
#[must_use]
pub fn digest(
    snapshot: &Snapshot,
    policy: &Policy,
    changes: &[Change],
    measured: Option<&Measured>,
    own: &[(CellId, Money)],
) -> String {
    let own: Vec<(u32, String)> = own.iter().map(|(cell, money)| (cell.0, money.decimal())).collect();
    stand::digest(&(snapshot, untimed(policy), changes, measured, own))
}

fn untimed(policy: &Policy) -> Policy {
    Policy { time_limit_millis: 0, ..policy.clone() }
}

/// `None` for a plan in which some work runs on none of its options, which no planner makes.
fn kept(plan: &Plan, snapshot: &Snapshot) -> Option<Entry> {
    let pieces = |stand: Stand| {
        let pieces = stand.pieces.iter().map(|piece| (piece.start, piece.end)).collect();
        (stand.option, pieces)
    };
    let level = |level: &Level| EntryLevel {
        name: level.name,
        value: level.value.to_string(),
        bound: level.bound.map(|bound| bound.to_string()),
        proof: level.proof,
    };
    Some(Entry {
        stands: stands(snapshot, &plan.releases)?.into_iter().map(|stand| stand.map(pieces)).collect(),
        levels: plan.quality.levels.iter().map(level).collect(),
        millis: plan.quality.millis,
        stopped_by: plan.quality.stopped_by,
        reasons: plan.releases.iter().any(|release| !release.reasons.is_empty()),
    })
}

/// The plan again; `None` when the entry is not about this snapshot, or does not pass the check.
fn restored(entry: &Entry, snapshot: &Snapshot, policy: &Policy) -> Option<Plan> {
    if entry.stands.len() != snapshot.workloads.len() {
        return None;
    }
    let mut stands: Stands = Vec::with_capacity(entry.stands.len());
    for (stand, workload) in entry.stands.iter().zip(&snapshot.workloads) {
        let Some((option, pieces)) = stand else {
            stands.push(None);
            continue;
        };
        if *option >= workload.options.len() || pieces.is_empty() {
            return None;
        }
        let pieces = pieces.iter().map(|(start, end)| Piece { start: *start, end: *end }).collect();
        stands.push(Some(Stand { option: *option, pieces }));
    }
    let level = |level: &EntryLevel| {
        let bound = match &level.bound {
            Some(bound) => Some(bound.parse().ok()?),
            None => None,
        };
        Some(Level { name: level.name, value: level.value.parse().ok()?, bound, proof: level.proof })
    };
    let levels: Vec<Level> = entry.levels.iter().map(level).collect::<Option<_>>()?;
    let quality = Quality { stopped_by: entry.stopped_by, ..Quality::of(levels.clone(), entry.millis, policy.seed) };
    let mut plan = stand::draft(snapshot, policy, &stands, levels, quality);
    plan.input_digest = stand::input_digest(snapshot, policy);
    plan.before = Before { all_at_once: summary::all_at_once(snapshot), kueue_alone: None };
    if entry.reasons {
        explain::reasons(snapshot, policy, &mut plan.releases);
    }
    let sound = check(snapshot, policy, &plan).iter().all(|finding| finding.severity != Severity::Error);
    sound.then_some(plan)
}
