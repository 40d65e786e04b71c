//! What is known of the cluster: one compact row per object, filled by the watches, read by the loop.
//!
//! Kinds of which there may be many share what they have in common; those of which there may be very many are kept packed,
//! and lent to who reads them, whole and a namespace at a time, so that they are never all whole at once.
//! A relist replaces a kind's rows only once it is complete, and what disappeared meanwhile is gone with it: a deletion
//! that no watch told of is noticed there. While a kind cannot be read its last rows stand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::alike::Alike;
use super::kinds::{KINDS, Kept, Need};
use super::packed::{Packed, Samples};
use crate::api::manifest::Manifest;
use crate::kueue::Lent;

/// Namespace and name, within a kind.
type Name = (String, String);

/// The rows of all kinds, shared by the watches and the loop.
#[derive(Debug, Clone)]
pub struct Rows {
    inner: Arc<RwLock<Vec<Shelf>>>,
    /// Documents that are no objects of the API: Kueue's configuration.
    extra: Arc<RwLock<Vec<Manifest>>>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Shelf {
    rows: BTreeMap<Name, Row>,
    /// The rows of a relist that is not complete yet.
    coming: Option<BTreeMap<Name, Row>>,
    state: State,
    kept: Keeping,
}

/// How rows are kept, with what they have in common.
#[derive(Debug, Default)]
enum Keeping {
    #[default]
    Whole,
    Shared(Alike),
    Packed(Samples),
}

#[derive(Debug)]
enum Row {
    Whole(Box<Manifest>),
    Packed(Packed),
}

/// How far a kind is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Not listed yet.
    #[default]
    Unknown,
    /// Its definition is not installed.
    Absent,
    /// We may not read it.
    Forbidden,
    /// Listed at least once.
    Listed,
}

/// A change of one kind's rows, by the kind's place in [`KINDS`].
#[derive(Debug)]
pub enum Change {
    /// A relist begins.
    Begin,
    /// One object of a relist.
    Listed(Manifest),
    /// The relist is complete.
    Complete,
    Applied(Manifest),
    Deleted {
        namespace: String,
        name: String,
    },
    Absent,
    Forbidden,
}

impl Default for Rows {
    fn default() -> Self {
        let keeping = |kept: Kept| match kept {
            Kept::Whole => Keeping::Whole,
            Kept::Shared => Keeping::Shared(Alike::default()),
            Kept::Packed => Keeping::Packed(Samples::default()),
        };
        let shelves = KINDS.iter().map(|kind| Shelf { kept: keeping(kind.kept), ..Shelf::default() }).collect();
        Self { inner: Arc::new(RwLock::new(shelves)), extra: Arc::default(), revision: watch::Sender::new(0) }
    }
}

impl Rows {
    /// Takes up one change.
    pub fn take(&self, kind: usize, change: Change) {
        let mut shelves = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let Some(shelf) = shelves.get_mut(kind) else { return };
        let changed = shelf.take(change);
        drop(shelves);
        if changed {
            self.revision.send_modify(|revision| *revision = revision.wrapping_add(1));
        }
    }

    /// Tells of every change; its value counts them.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Whether everything that planning cannot do without has been listed, and everything else is known or not installed.
    #[must_use]
    pub fn complete(&self) -> bool {
        let shelves = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        KINDS.iter().zip(shelves.iter()).all(|(kind, shelf)| match kind.need {
            Need::Always => shelf.state == State::Listed,
            Need::WhereInstalled => shelf.state != State::Unknown,
        })
    }

    /// The kinds that are not known, with how far they are: for messages.
    #[must_use]
    pub fn missing(&self) -> Vec<(String, State)> {
        let shelves = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let unlisted = KINDS.iter().zip(shelves.iter()).filter(|(_, shelf)| shelf.state != State::Listed);
        unlisted.map(|(kind, shelf)| (kind.resource(), shelf.state)).collect()
    }

    /// How far one kind is known.
    #[must_use]
    pub fn state(&self, kind: &str) -> State {
        let shelves = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let found = KINDS.iter().zip(shelves.iter()).find(|(known, _)| known.kind == kind);
        found.map_or(State::Unknown, |(_, shelf)| shelf.state)
    }

    /// Reads all rows, by kind, namespace and name, while no watch writes; those that are packed are lent.
    pub fn read<T>(&self, reader: impl FnOnce(&mut dyn Iterator<Item = &Manifest>, &Lent<'_>) -> T) -> T {
        let shelves = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let extra = self.extra.read().unwrap_or_else(PoisonError::into_inner);
        let shelves = shelves.as_slice();
        let packed = shelves.iter().filter(|shelf| matches!(shelf.kept, Keeping::Packed(_)));
        let names = packed.flat_map(|shelf| shelf.rows.keys()).map(|(namespace, _)| namespace.as_str());
        let one = |namespace| -> (_, Box<dyn Fn() -> Vec<Manifest>>) {
            (namespace, Box::new(move || shelves.iter().flat_map(|shelf| shelf.unpacked(namespace)).collect()))
        };
        let lent: Lent<'_> = names.collect::<BTreeSet<&str>>().into_iter().map(one).collect();
        reader(&mut extra.iter().chain(shelves.iter().flat_map(Shelf::whole)), &lent)
    }

    /// Reads the rows of a few kinds, none of which is packed, and touches no others.
    pub fn read_kinds<T>(&self, kinds: &[&str], reader: impl FnOnce(&mut dyn Iterator<Item = &Manifest>) -> T) -> T {
        let shelves = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = KINDS.iter().zip(shelves.iter()).filter(|(kind, _)| kinds.contains(&kind.kind));
        reader(&mut wanted.flat_map(|(_, shelf)| shelf.whole()))
    }

    /// Puts the documents of Kueue's configuration in the place of those that were known.
    pub fn configure(&self, documents: Vec<Manifest>) {
        let mut extra = self.extra.write().unwrap_or_else(PoisonError::into_inner);
        let same = extra.len() == documents.len() && extra.iter().zip(&documents).all(|(a, b)| a.value == b.value);
        if !same {
            *extra = documents;
            self.revision.send_modify(|revision| *revision = revision.wrapping_add(1));
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).iter().map(|shelf| shelf.rows.len()).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Shelf {
    fn whole(&self) -> impl Iterator<Item = &Manifest> {
        self.rows.values().filter_map(|row| match row {
            Row::Whole(whole) => Some(&**whole),
            Row::Packed(_) => None,
        })
    }

    /// The packed rows of one namespace.
    fn unpacked(&self, namespace: &str) -> Vec<Manifest> {
        if !matches!(self.kept, Keeping::Packed(_)) {
            return Vec::new();
        }
        let mut alike = Alike::default();
        let from = (namespace.to_owned(), String::new());
        let rows = self.rows.range(from..).take_while(|((of, _), _)| of == namespace);
        let one = |((namespace, name), row): (&Name, &Row)| match row {
            Row::Whole(_) => None,
            Row::Packed(packed) => {
                let mut row = packed.unpack(namespace, name);
                alike.share(&mut row);
                Some(row)
            }
        };
        rows.filter_map(one).collect()
    }

    fn row(&mut self, mut row: Manifest) -> (Name, Row) {
        let name = (row.namespace.clone(), row.name.clone());
        let row = match &mut self.kept {
            Keeping::Packed(samples) => Row::Packed(samples.pack(row)),
            Keeping::Shared(alike) => {
                alike.share(&mut row);
                Row::Whole(Box::new(row))
            }
            Keeping::Whole => Row::Whole(Box::new(row)),
        };
        (name, row)
    }

    /// Whether anything that is read has changed.
    fn take(&mut self, change: Change) -> bool {
        match change {
            Change::Begin => {
                self.coming = Some(BTreeMap::new());
                false
            }
            Change::Listed(row) => {
                let (name, row) = self.row(row);
                self.coming.get_or_insert_default().insert(name, row);
                false
            }
            Change::Complete => {
                self.rows = self.coming.take().unwrap_or_default();
                self.state = State::Listed;
                true
            }
            Change::Applied(row) => {
                let (name, row) = self.row(row);
                let same = self.rows.get(&name).is_some_and(|known| known.is_same(&row));
                self.rows.insert(name, row);
                !same
            }
            Change::Deleted { namespace, name } => self.rows.remove(&(namespace, name)).is_some(),
            Change::Absent => self.unread(State::Absent),
            Change::Forbidden => self.unread(State::Forbidden),
        }
    }

    /// A kind that was there keeps its rows: an API server that has just started may not know its kinds yet.
    fn unread(&mut self, state: State) -> bool {
        let first = self.state != state && self.state != State::Listed;
        if first {
            self.state = state;
        }
        first
    }
}

impl Row {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => {
                a.api_version == b.api_version && a.value == b.value && a.shared == b.shared
            }
            (Self::Packed(a), Self::Packed(b)) => a.is_same(b),
            (Self::Whole(_), Self::Packed(_)) | (Self::Packed(_), Self::Whole(_)) => false,
        }
    }
}
