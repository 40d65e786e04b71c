//! Whose work it is that came without a stamp: made while nobody was there to write one.
//!
//! Pure. Nobody knows any more who made it, so that owners and subjects say nothing; a namespace that was one tenant's alone
//! at that moment does. What it was is on the namespace itself, written by the controller and held by a policy.
//! Invariant: work is given to a tenant only where the namespace's own word and today's GpuTenants agree.

use super::tenancy::{Directory, TenantRef};
use crate::api::keys::{TENANT, TENANT_SINCE, TENANT_UID};
use crate::api::manifest::Manifest;
use crate::calendar;
use crate::units::Timestamp;

/// What a namespace says of itself: whose it is, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenure {
    pub tenant: TenantRef,
    pub since: Timestamp,
}

impl Tenure {
    /// `None`: it says nothing, or not all of it.
    #[must_use]
    pub fn of(namespace: &Manifest) -> Option<Self> {
        let label = |key: &str| namespace.label(key).map(str::to_owned);
        let since = calendar::parse_instant(namespace.annotation(TENANT_SINCE)?).ok()?;
        Some(Self { tenant: TenantRef { name: label(TENANT)?, uid: label(TENANT_UID)? }, since })
    }
}

/// Whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Late {
    /// The namespace was this tenant's alone when the work was made, and still is.
    Theirs(TenantRef),
    /// The work is older than what is known of its namespace.
    Older,
    /// Several tenants claim the namespace: which of them acted, nobody knows any more.
    Shared(Vec<TenantRef>),
    /// No tenant's.
    Nobodys,
    /// The namespace does not say yet what the GpuTenants say.
    Unsettled,
}

/// Judges work that was created at an instant. What was created in the very second in which the namespace became the
/// tenant's may have been there before.
#[must_use]
pub fn judge(namespace: &str, created: Timestamp, tenure: Option<&Tenure>, directory: &Directory) -> Late {
    let claimants: Vec<&TenantRef> = directory.claimants(namespace).map(|tenant| &tenant.id).collect();
    match (claimants.as_slice(), tenure) {
        ([], _) => Late::Nobodys,
        ([only], Some(tenure)) if tenure.tenant == **only => {
            if created > tenure.since {
                Late::Theirs((*only).clone())
            } else {
                Late::Older
            }
        }
        ([_], _) => Late::Unsettled,
        (several, _) => Late::Shared(several.iter().map(|id| (*id).clone()).collect()),
    }
}
