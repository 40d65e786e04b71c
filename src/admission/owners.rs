//! Owners as they live in the cluster. A reference on an object is only a claim: it counts when the object of that UID
//! is there, in the same namespace, of that kind and name.

use std::collections::HashMap;

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

/// Live owners by UID; never iterated.
#[derive(Debug, Default)]
pub struct Owners(HashMap<String, LiveOwner>);

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
    pub fn put(&mut self, uid: &str, owner: LiveOwner) {
        self.0.insert(uid.to_owned(), owner);
    }

    pub fn remove(&mut self, uid: &str) {
        self.0.remove(uid);
    }

    /// The live object that a reference means, if it tells the truth.
    #[must_use]
    pub fn verify(&self, namespace: &str, reference: &OwnerReference<'_>) -> Option<&LiveOwner> {
        self.0.get(&*reference.uid).filter(|live| {
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
            match self.0.get(uid).filter(|next| next.namespace == namespace) {
                Some(next) => owner = next,
                None => return Climb::Broken,
            }
        }
        Climb::Broken
    }
}
