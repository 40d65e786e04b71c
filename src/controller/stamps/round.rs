//! One round: which stamps are written now, and what stays without one, tenant by tenant.
//!
//! Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::found::{Found, Place, Unstamped};
use crate::admission::late::{Late, Tenure, judge};
use crate::admission::policy::LEFT_OUT;
use crate::admission::{Directory, Mode, TenantRef, assemble};
use crate::api::manifest::Manifest;
use crate::units::{Seconds, Timestamp};

/// Stamps of one round, of which there is one every two seconds: twenty a second are a day's worth of a big cluster within
/// an hour, and nothing that an API server feels.
pub const STAMPS_MAX: usize = 40;
/// What was refused is tried again after this.
pub const AGAIN: Seconds = Seconds(30);

/// Whose the namespaces are.
#[derive(Debug)]
pub struct Tenancy {
    pub directory: Arc<Directory>,
    /// By namespace.
    tenures: BTreeMap<String, Tenure>,
    /// By the tenant's name.
    claims: BTreeMap<String, Claims>,
}

/// The namespaces of one tenant.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Claims {
    /// How many are its own alone.
    pub own: usize,
    /// The first that is not, and who claims it too.
    pub shared: Option<(String, Vec<String>)>,
}

impl Tenancy {
    /// From the rows of GpuTenants and namespaces.
    #[must_use]
    pub fn of(rows: &[Manifest]) -> Self {
        let namespaces = rows.iter().filter(|row| row.kind == "Namespace" && row.group().is_empty());
        let tenures = namespaces.filter_map(|row| Some((row.name.clone(), Tenure::of(row)?))).collect();
        let (world, _) = assemble(rows, Mode::Observe);
        let claims = claims(&world.directory);
        Self { directory: world.directory, tenures, claims }
    }

    /// The namespaces of one tenant.
    #[must_use]
    pub fn claims(&self, tenant: &str) -> Claims {
        self.claims.get(tenant).cloned().unwrap_or_default()
    }

    fn judge(&self, place: &Place, one: &Unstamped) -> Late {
        if LEFT_OUT.contains(&place.namespace.as_str()) {
            return Late::Nobodys;
        }
        judge(&place.namespace, one.created, self.tenures.get(&place.namespace), &self.directory)
    }
}

fn claims(directory: &Directory) -> BTreeMap<String, Claims> {
    let mut all: BTreeMap<String, Claims> = BTreeMap::new();
    for namespace in directory.namespaces().filter(|it| !LEFT_OUT.contains(&it.name.as_str())) {
        let names: Vec<&str> = directory.claimants(&namespace.name).map(|it| it.id.name.as_str()).collect();
        for name in &names {
            let claims = all.entry((*name).to_owned()).or_default();
            if names.len() == 1 {
                claims.own += 1;
            } else if claims.shared.is_none() {
                let others = names.iter().filter(|other| *other != name).map(|other| (*other).to_owned()).collect();
                claims.shared = Some((namespace.name.clone(), others));
            }
        }
    }
    all
}

/// A stamp that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    pub place: Place,
    pub uid: String,
    pub version: String,
    pub tenant: TenantRef,
}

/// Why work has no stamp yet, the worst last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Its turn comes.
    Waits,
    /// Nobody can tell whose it is.
    Shared,
    /// The stamp could not be written.
    Refused(String),
}

/// What of a tenant's work has no stamp.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Left {
    pub count: usize,
    /// The first ones, as people call them.
    pub first: Vec<String>,
    pub why: Option<Why>,
}

/// How many are named.
pub const NAMED_MAX: usize = 3;

impl Left {
    fn add(&mut self, place: &Place, why: Why) {
        self.count += 1;
        if self.first.len() < NAMED_MAX {
            self.first.push(place.called());
        }
        self.why = self.why.take().max(Some(why));
    }
}

/// The stamps that are due, the first ones first.
#[must_use]
pub fn due(found: &Found, tenancy: &Tenancy, now: Timestamp) -> Vec<Stamp> {
    let mut stamps = Vec::new();
    for (place, one) in found.all() {
        if stamps.len() == STAMPS_MAX {
            break;
        }
        let rests = one.refused.as_ref().is_some_and(|(at, _)| now - *at < AGAIN);
        if let (Late::Theirs(tenant), false) = (tenancy.judge(&place, one), rests) {
            stamps.push(Stamp { place, uid: one.uid.clone(), version: one.version.clone(), tenant });
        }
    }
    stamps
}

/// What is left without a stamp: by the tenant's name, and how many of each kind.
#[must_use]
pub fn left(found: &Found, tenancy: &Tenancy) -> (BTreeMap<String, Left>, BTreeMap<usize, usize>) {
    let (mut tenants, mut kinds) = (BTreeMap::<String, Left>::new(), BTreeMap::new());
    for (place, one) in found.all() {
        let (whose, why) = match tenancy.judge(&place, one) {
            Late::Theirs(tenant) => {
                let refused = one.refused.as_ref().map(|(_, why)| Why::Refused(why.clone()));
                (vec![tenant], refused.unwrap_or(Why::Waits))
            }
            // What the webhook has marked says so itself.
            Late::Shared(tenants) if !one.is_marked => (tenants, Why::Shared),
            Late::Shared(_) | Late::Older | Late::Nobodys | Late::Unsettled => continue,
        };
        *kinds.entry(place.kind).or_insert(0) += 1;
        for tenant in whose {
            tenants.entry(tenant.name).or_default().add(&place, why.clone());
        }
    }
    (tenants, kinds)
}
