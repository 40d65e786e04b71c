//! Owners as they live in the cluster. A reference on an object is only a claim: it counts when the object of that UID
//! is there, in the same namespace, of that kind and name.

use std::collections::HashMap;
use std::sync::Arc;

use super::object::OwnerReference;
use super::tenancy::TenantRef;

/// How far owners are followed: a pod, its Job, its JobSet, its AppWrapper and room to spare. Kueue stops here too.
const DEPTH_MAX: usize = 10;

/// A live object that may own others.
#[derive(Debug, Clone, Default)]
pub struct LiveOwner {
    pub namespace: String,
    pub group: String,
    pub kind: String,
    pub name: String,
    /// The stamp it carries.
    pub tenant: Option<TenantRef>,
    /// UID of its own controller.
    pub controller: Option<String>,
}

/// Among so many parts owners are spread, so that a change copies a part and not the whole: 100,000 jobs are 400 each.
const PARTS: usize = 256;

/// Live owners by UID; never iterated. Clones share what has not changed since.
#[derive(Debug, Clone)]
pub struct Owners(Vec<Arc<HashMap<String, Arc<LiveOwner>>>>);

impl Default for Owners {
    fn default() -> Self {
        Self(vec![Arc::default(); PARTS])
    }
}

/// UIDs are random, but tests and other makers of objects count up: all bytes take part.
fn part(uid: &str) -> usize {
    uid.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte))) % PARTS
}

/// What following the owners gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Climb {
    Stamped(TenantRef),
    /// All owners are known, none is stamped.
    Unstamped,
    /// An owner is not known (yet), or the chain does not end.
    Broken,
}

impl Owners {
    pub fn put(&mut self, uid: &str, owner: impl Into<Arc<LiveOwner>>) {
        Arc::make_mut(&mut self.0[part(uid)]).insert(uid.to_owned(), owner.into());
    }

    pub fn remove(&mut self, uid: &str) {
        let part = &mut self.0[part(uid)];
        if part.contains_key(uid) {
            Arc::make_mut(part).remove(uid);
        }
    }

    fn get(&self, uid: &str) -> Option<&LiveOwner> {
        self.0[part(uid)].get(uid).map(Arc::as_ref)
    }

    /// The live object that a reference means, if it tells the truth.
    #[must_use]
    pub fn verify(&self, namespace: &str, reference: &OwnerReference<'_>) -> Option<&LiveOwner> {
        self.get(&reference.uid).filter(|live| {
            live.namespace == namespace
                && live.name == *reference.name
                && live.kind == *reference.kind
                && live.group == reference.group()
        })
    }

    /// The nearest stamp above an object.
    #[must_use]
    pub fn climb(&self, namespace: &str, reference: &OwnerReference<'_>) -> Climb {
        let Some(mut owner) = self.verify(namespace, reference) else { return Climb::Broken };
        // A circle ends at the same bound as a chain that is too long.
        for _ in 0..DEPTH_MAX {
            if let Some(tenant) = &owner.tenant {
                return Climb::Stamped(tenant.clone());
            }
            let Some(uid) = &owner.controller else { return Climb::Unstamped };
            match self.get(uid).filter(|next| next.namespace == namespace) {
                Some(next) => owner = next,
                None => return Climb::Broken,
            }
        }
        Climb::Broken
    }
}
