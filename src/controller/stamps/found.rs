//! What has no stamp, kind by kind: filled by watches that select just that, so that it costs what is unstamped.
//!
//! A stamped object leaves the selection, which the watch tells as a deletion. A relist replaces a kind's rows once it is
//! complete.

use std::collections::BTreeMap;

use kube::core::{ApiResource, ObjectMeta};

use crate::admission::kinds::KINDS;
use crate::api::keys::ATTRIBUTION;
use crate::units::Timestamp;

/// The kubelet's picture of a pod that a node was given as a file. Nobody asks the webhook about what nodes make.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Where an object is: its kind by the place in [`KINDS`], its namespace and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub kind: usize,
    pub namespace: String,
    pub name: String,
}

impl Place {
    /// As people call it: `Pod evals/eval-1`.
    #[must_use]
    pub fn called(&self) -> String {
        format!("{} {}/{}", KINDS.get(self.kind).map_or("object", |kind| kind.kind), self.namespace, self.name)
    }
}

/// An object without a stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstamped {
    pub uid: String,
    /// As it was seen: a stamp is written on that and nothing later.
    pub version: String,
    pub created: Timestamp,
    /// The webhook saw it, and said that its tenant cannot be told.
    pub is_marked: bool,
    /// Why its stamp could not be written, and when that was tried.
    pub refused: Option<(Timestamp, String)>,
}

impl Unstamped {
    /// `None`: on its way out, a node's own, or not whole.
    #[must_use]
    pub fn of(metadata: &ObjectMeta) -> Option<Self> {
        let annotated = |key: &str| metadata.annotations.as_ref().is_some_and(|all| all.contains_key(key));
        if metadata.deletion_timestamp.is_some() || annotated(MIRROR) {
            return None;
        }
        Some(Self {
            uid: metadata.uid.clone()?,
            version: metadata.resource_version.clone()?,
            created: Timestamp(metadata.creation_timestamp.as_ref()?.0.as_second()),
            is_marked: annotated(ATTRIBUTION),
            refused: None,
        })
    }
}

/// What a watch tells of one kind.
#[derive(Debug)]
pub enum Change {
    /// It is not installed.
    Absent,
    Begin,
    Complete,
    /// Namespace, name, and what is without a stamp there now.
    Put(String, String, Option<Unstamped>),
    /// Stamped, or gone.
    Remove(String, String),
    /// It cannot be read for now; what is known stays.
    Failed(String),
}

type Table = BTreeMap<(String, String), Unstamped>;

#[derive(Debug, Default)]
struct Shelf {
    rows: Table,
    /// A list that is under way.
    coming: Option<Table>,
    is_listed: bool,
    trouble: Option<String>,
    api: Option<ApiResource>,
}

/// Everything that has no stamp.
#[derive(Debug)]
pub struct Found {
    shelves: Vec<Shelf>,
}

impl Default for Found {
    fn default() -> Self {
        Self { shelves: KINDS.iter().map(|_| Shelf::default()).collect() }
    }
}

impl Found {
    /// Takes up what was told of a kind, and what the kind is called there.
    pub fn take(&mut self, kind: usize, change: Change, api: Option<ApiResource>) {
        let Some(shelf) = self.shelves.get_mut(kind) else { return };
        if api.is_some() {
            shelf.api = api;
        }
        match change {
            Change::Failed(why) => {
                shelf.trouble = Some(why);
                return;
            }
            Change::Begin => {
                shelf.coming = Some(Table::new());
                return;
            }
            Change::Absent => (shelf.rows, shelf.is_listed) = (Table::new(), true),
            Change::Complete => {
                let coming = shelf.coming.take().unwrap_or_default();
                let before = std::mem::replace(&mut shelf.rows, coming);
                for (name, row) in &mut shelf.rows {
                    row.refused = before.get(name).and_then(|known| known.refused.clone());
                }
                shelf.is_listed = true;
            }
            Change::Put(namespace, name, row) => {
                let (key, listing) = ((namespace, name), shelf.coming.is_some());
                let table = shelf.coming.as_mut().unwrap_or(&mut shelf.rows);
                let before = table.remove(&key).and_then(|known| known.refused);
                if let Some(row) = row {
                    table.insert(key, Unstamped { refused: before, ..row });
                }
                if listing {
                    return;
                }
            }
            Change::Remove(namespace, name) => drop(shelf.rows.remove(&(namespace, name))),
        }
        shelf.trouble = None;
    }

    /// Whether every kind was listed, or is not installed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.shelves.iter().all(|shelf| shelf.is_listed)
    }

    /// Why a kind is not known, where there is one that never was.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        self.shelves.iter().filter(|shelf| !shelf.is_listed).find_map(|shelf| shelf.trouble.as_deref())
    }

    /// All of it, by kind, namespace and name.
    pub fn all(&self) -> impl Iterator<Item = (Place, &Unstamped)> {
        self.shelves.iter().enumerate().flat_map(|(kind, shelf)| {
            shelf.rows.iter().map(move |((namespace, name), row)| {
                (Place { kind, namespace: namespace.clone(), name: name.clone() }, row)
            })
        })
    }

    /// What a kind is called in this cluster.
    #[must_use]
    pub fn api(&self, kind: usize) -> Option<&ApiResource> {
        self.shelves.get(kind)?.api.as_ref()
    }

    /// An object has its stamp, or is gone.
    pub fn done(&mut self, place: &Place) {
        if let Some(shelf) = self.shelves.get_mut(place.kind) {
            shelf.rows.remove(&(place.namespace.clone(), place.name.clone()));
        }
    }

    /// Its stamp could not be written.
    pub fn refuse(&mut self, place: &Place, at: Timestamp, why: &str) {
        let shelf = self.shelves.get_mut(place.kind);
        let row = shelf.and_then(|shelf| shelf.rows.get_mut(&(place.namespace.clone(), place.name.clone())));
        if let Some(row) = row {
            row.refused = Some((at, why.to_owned()));
        }
    }
}
