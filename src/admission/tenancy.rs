//! Whose work it is: the namespace first, then a trusted owner, then the subject that asks.
//!
//! Invariant: where more than one answer is possible there is none. The first match never wins, and what cannot be told
//! is said to be so. Claims on a namespace are worked out when the directory changes, not when a request waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::object::{Metadata, Text};
use super::owners::Climb;
use super::review::Request;
use super::world::{World, service_account};
use crate::api::tenant::{GpuTenantSpec, SubjectKind};

/// A tenant as it is stamped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TenantRef {
    pub name: String,
    pub uid: String,
}

/// A GpuTenant.
#[derive(Debug, Clone)]
pub struct Tenant {
    pub id: TenantRef,
    pub spec: GpuTenantSpec,
}

/// A namespace that is there.
#[derive(Debug, Clone, Default)]
pub struct Namespace {
    pub name: String,
    pub uid: String,
    pub labels: BTreeMap<String, String>,
}

/// Tenants, namespaces, and who claims what.
#[derive(Debug, Default)]
pub struct Directory {
    tenants: Vec<Tenant>,
    namespaces: BTreeMap<String, Arc<Namespace>>,
    /// Per namespace that is claimed at all: indices into `tenants`, ascending.
    claims: BTreeMap<String, Vec<usize>>,
    /// Some tenant selects namespaces by label, so that an unknown namespace may be anybody's.
    selects: bool,
}

/// Whose an object is, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    pub tenant: Option<TenantRef>,
    pub by: By,
    /// An owner that could not be verified would have been asked.
    pub fallback: bool,
}

/// How a tenant was found, or why none was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    Namespace,
    Owner,
    Subject,
    /// Several could be it.
    Ambiguous(Vec<TenantRef>),
    /// Nobody claims the namespace.
    Nobody,
    /// The namespace is not known yet.
    Unknown,
}

impl Directory {
    /// The directory of these tenants and namespaces. Tenants' names are unique.
    #[must_use]
    pub fn new(mut tenants: Vec<Tenant>, namespaces: Vec<impl Into<Arc<Namespace>>>) -> Self {
        let namespaces: Vec<Arc<Namespace>> = namespaces.into_iter().map(Into::into).collect();
        tenants.sort_by(|a, b| a.id.cmp(&b.id));
        let mut claims: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        // Most selectors name a label's value: those are asked of the namespaces that have it, and of no other.
        let mut by_label: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        let mut by_expression: Vec<usize> = Vec::new();
        for (index, tenant) in tenants.iter().enumerate() {
            for name in &tenant.spec.namespaces {
                claims.entry(name.clone()).or_default().insert(index);
            }
            if let Some(selector) = &tenant.spec.namespace_selector {
                match selector.match_labels.first_key_value() {
                    Some((key, value)) => by_label.entry((key, value)).or_default().push(index),
                    None => by_expression.push(index),
                }
            }
        }
        for namespace in &namespaces {
            let labelled =
                namespace.labels.iter().filter_map(|(key, value)| by_label.get(&(key.as_str(), value.as_str())));
            for index in labelled.flatten().chain(&by_expression) {
                let selector = tenants[*index].spec.namespace_selector.as_ref();
                let label = |key: &str| namespace.labels.get(key).map(String::as_str);
                if selector.is_some_and(|selector| selector.matches(label)) {
                    claims.entry(namespace.name.clone()).or_default().insert(*index);
                }
            }
        }
        let selects = tenants.iter().any(|tenant| tenant.spec.namespace_selector.is_some());
        Self {
            claims: claims.into_iter().map(|(name, indices)| (name, indices.into_iter().collect())).collect(),
            namespaces: namespaces.into_iter().map(|namespace| (namespace.name.clone(), namespace)).collect(),
            selects,
            tenants,
        }
    }

    /// Ascending by name.
    #[must_use]
    pub fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    /// Ascending by name.
    pub fn namespaces(&self) -> impl Iterator<Item = &Namespace> {
        self.namespaces.values().map(Arc::as_ref)
    }

    /// The tenants that claim a namespace, ascending by name.
    pub fn claimants(&self, namespace: &str) -> impl Iterator<Item = &Tenant> {
        self.claims.get(namespace).into_iter().flatten().map(|index| &self.tenants[*index])
    }

    /// The tenant whose namespace it is, where exactly one claims it.
    #[must_use]
    pub fn sole_claimant(&self, namespace: &str) -> Option<&Tenant> {
        let mut claimants = self.claimants(namespace);
        claimants.next().filter(|_| claimants.next().is_none())
    }

    #[must_use]
    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.get(name).map(Arc::as_ref)
    }

    #[must_use]
    pub fn tenant(&self, id: &TenantRef) -> Option<&Tenant> {
        self.tenants.binary_search_by(|tenant| tenant.id.cmp(id)).ok().map(|index| &self.tenants[index])
    }
}

/// Whose a new object is.
#[must_use]
pub fn attribute(request: &Request<'_>, metadata: Option<&Metadata<'_>>, world: &World) -> Attribution {
    let directory = &world.directory;
    let namespace = &*request.namespace;
    // 1. A namespace that is one tenant's alone.
    if let Some(tenant) = directory.sole_claimant(namespace) {
        return found(&tenant.id, By::Namespace);
    }
    let claimants: Vec<&Tenant> = directory.claimants(namespace).collect();
    let unknown = directory.namespace(namespace).is_none() && directory.selects;
    if unknown && claimants.is_empty() {
        return Attribution { tenant: None, by: By::Unknown, fallback: true };
    }
    let candidates: Vec<&Tenant> =
        if claimants.is_empty() { directory.tenants.iter().collect() } else { claimants.clone() };
    let nobody = |fallback: bool| Attribution {
        tenant: None,
        by: match claimants.as_slice() {
            [] => By::Nobody,
            several => By::Ambiguous(several.iter().map(|tenant| tenant.id.clone()).collect()),
        },
        fallback,
    };
    // 2. Made by a controller: the stamp of its verified owner, if that is one of those who may be meant here.
    let owner = metadata.and_then(Metadata::controller);
    if let Some(owner) = owner.filter(|_| world.trusted.is_controller(request)) {
        return match world.owners.climb(namespace, owner) {
            Climb::Stamped(id) if candidates.iter().any(|tenant| tenant.id == id) => found(&id, By::Owner),
            Climb::Stamped(_) | Climb::Unstamped => nobody(false),
            Climb::Broken => nobody(true),
        };
    }
    // 3. Made by a person or an account: exactly one tenant for which it acts.
    let acting: Vec<&&Tenant> = candidates.iter().filter(|tenant| acts_for(request, &tenant.spec)).collect();
    match acting[..] {
        [tenant] => found(&tenant.id, By::Subject),
        [] => nobody(false),
        _ => Attribution {
            tenant: None,
            by: By::Ambiguous(acting.iter().map(|tenant| tenant.id.clone()).collect()),
            fallback: false,
        },
    }
}

fn found(id: &TenantRef, by: By) -> Attribution {
    Attribution { tenant: Some(id.clone()), by, fallback: false }
}

/// Whether who asks is a subject of a tenant. A ServiceAccount is its namespace and its name, never one of the two.
fn acts_for(request: &Request<'_>, spec: &GpuTenantSpec) -> bool {
    let username = &*request.user_info.username;
    spec.subjects.iter().any(|subject| match (subject.kind, &subject.namespace) {
        (SubjectKind::ServiceAccount, Some(namespace)) => username == service_account(namespace, &subject.name),
        (SubjectKind::ServiceAccount, None) => false,
        (SubjectKind::User, _) => username == subject.name,
        (SubjectKind::Group, _) => request.groups().iter().any(|group: &Text<'_>| *group == *subject.name),
    })
}
