//! From objects, of files or of watches, to what `decide` knows.
//!
//! Pure. What cannot be read is left out with a finding, as if it were not there; nothing is guessed in its place.
//! Files come all at once and watches one by one, into the same rows; only the parts that changed are made anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::queues::{PodGroup, Queues};
use super::row::{Row, row};
use super::tenancy::Directory;
use super::world::{Mode, World};
use crate::api::manifest::Manifest;
use crate::failure::Finding;

/// The world of these objects.
#[must_use]
pub fn assemble(manifests: &[Manifest], mode: Mode) -> (World, Vec<Finding>) {
    let mut rows = Rows::new(mode);
    let mut findings = Vec::new();
    for object in manifests {
        match row(object) {
            Ok(Some(row)) => rows.put(object.group(), &object.kind, &object.namespace, &object.name, row),
            Ok(None) => {}
            Err(finding) => findings.push(finding),
        }
    }
    (rows.world(), findings)
}

/// Namespace and name.
type Name = (String, String);

/// All rows of one kind.
pub type Table = BTreeMap<Name, Row>;

/// Rows by kind, and the world as it was last made of them.
#[derive(Debug)]
pub struct Rows {
    /// By group and kind.
    tables: BTreeMap<(String, String), Table>,
    world: World,
    stale: Stale,
}

/// The parts that are no longer what the rows say.
#[derive(Debug, Default, Clone, Copy)]
struct Stale {
    directory: bool,
    queues: bool,
    promises: bool,
}

impl Rows {
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        let world = World { mode, promises: Some(Arc::default()), ..World::default() };
        Self { tables: BTreeMap::new(), world, stale: Stale::default() }
    }

    /// An object as it is now.
    pub fn put(&mut self, group: &str, kind: &str, namespace: &str, name: &str, row: Row) {
        self.enter(&row);
        let table = self.tables.entry((group.to_owned(), kind.to_owned())).or_default();
        let key = (namespace.to_owned(), name.to_owned());
        let uid = row.owner().map(str::to_owned);
        if let Some(before) = table.insert(key, row) {
            self.leave(&before, uid.as_deref());
        }
    }

    /// An object is gone, or says nothing any more.
    pub fn remove(&mut self, group: &str, kind: &str, namespace: &str, name: &str) {
        let table = self.tables.get_mut(&(group.to_owned(), kind.to_owned()));
        if let Some(before) = table.and_then(|table| table.remove(&(namespace.to_owned(), name.to_owned()))) {
            self.leave(&before, None);
        }
    }

    /// All objects of a kind, as listed: whatever is not among them is gone.
    pub fn replace(&mut self, group: &str, kind: &str, table: Table) {
        let key = (group.to_owned(), kind.to_owned());
        for (name, before) in self.tables.remove(&key).unwrap_or_default() {
            self.leave(&before, table.get(&name).and_then(Row::owner));
        }
        for row in table.values() {
            self.enter(row);
        }
        self.tables.insert(key, table);
    }

    /// What is known now.
    #[must_use]
    pub fn world(&mut self) -> World {
        let stale = std::mem::take(&mut self.stale);
        if stale.directory {
            self.world.directory = Arc::new(self.directory());
        }
        if stale.queues {
            self.world.queues = Arc::new(self.queues());
        }
        if stale.promises {
            let named = |((namespace, name), _): (&Name, &Row)| format!("{namespace}/{name}");
            let promises = self.rows().filter(|(_, row)| matches!(row, Row::Promise)).map(named);
            self.world.promises = Some(Arc::new(promises.collect::<BTreeSet<_>>()));
        }
        self.world.clone()
    }

    fn rows(&self) -> impl Iterator<Item = (&Name, &Row)> {
        // A table's rows are of one sort, and owners, by far the most, are kept elsewhere too.
        let small = self
            .tables
            .values()
            .filter(|table| table.first_key_value().is_some_and(|(_, row)| !matches!(row, Row::Owner { .. })));
        small.flatten()
    }

    fn touch(&mut self, row: &Row) {
        match row {
            Row::Namespace(_) | Row::Tenant(_) => self.stale.directory = true,
            Row::Promise => self.stale.promises = true,
            Row::Owner { .. } => {}
            _ => self.stale.queues = true,
        }
    }

    fn enter(&mut self, row: &Row) {
        self.touch(row);
        if let Row::Owner { uid, live } = row {
            self.world.owners.put(uid, Arc::clone(live));
        }
    }

    /// A row no longer holds. `stays`: the owner that is in its place, which may be the same one.
    fn leave(&mut self, before: &Row, stays: Option<&str>) {
        self.touch(before);
        if let Some(uid) = before.owner().filter(|uid| stays != Some(*uid)) {
            self.world.owners.remove(uid);
        }
    }

    fn directory(&self) -> Directory {
        let (mut tenants, mut namespaces) = (Vec::new(), Vec::new());
        for (_, row) in self.rows() {
            match row {
                Row::Tenant(tenant) => tenants.push(tenant.clone()),
                Row::Namespace(namespace) => namespaces.push(Arc::clone(namespace)),
                _ => {}
            }
        }
        Directory::new(tenants, namespaces)
    }

    fn queues(&self) -> Queues {
        let mut queues = Queues::default();
        for ((namespace, name), row) in self.rows() {
            match row {
                Row::Plan(plan) => {
                    queues.gates_ignored |= plan.gates_ignored;
                    queues.plans.insert(name.clone(), plan.spec.clone());
                    queues.generations.extend(plan.version.clone());
                }
                Row::LocalQueue(queue) => {
                    queues.local.insert((namespace.clone(), name.clone()), queue.clone());
                }
                Row::ClusterQueue(queue) => drop(queues.cluster.insert(name.clone(), queue.clone())),
                Row::Cohort(Some(parent)) => drop(queues.cohorts.insert(name.clone(), parent.clone())),
                Row::Member { group, state } => {
                    let entry = queues.pod_groups.entry((namespace.clone(), group.clone())).or_insert(*state);
                    // One released member: the group is.
                    if *state == PodGroup::Released {
                        *entry = *state;
                    }
                }
                _ => {}
            }
        }
        queues
    }
}
