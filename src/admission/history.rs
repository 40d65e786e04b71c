//! Who a namespace belonged to, and when: rows for the ledger, never changed, corrected by later ones.
//!
//! Keyed by the namespace's UID: a namespace of the same name, made anew, is another. Both times are kept, when it was so
//! and when it was recorded, so that a close can be repeated with what was known then.

use std::collections::BTreeMap;

use super::tenancy::{Directory, TenantRef};
use crate::units::Timestamp;

/// From one instant on, or within a stretch, a namespace was a tenant's, or nobody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub namespace_uid: String,
    /// `None`: nobody's, or several tenants claim it.
    pub tenant: Option<TenantRef>,
    pub from: Timestamp,
    /// `None`: until another row says otherwise. A correction of the past has an end.
    pub to: Option<Timestamp>,
    pub recorded: Timestamp,
}

/// The rows that lead from one directory to the next, ascending by the namespaces' names. A namespace that is gone
/// belongs to nobody from then on.
#[must_use]
pub fn changes(before: &Directory, after: &Directory, at: Timestamp, recorded: Timestamp) -> Vec<Binding> {
    let owned = |directory: &Directory| -> BTreeMap<(String, String), Option<TenantRef>> {
        let rows = directory.namespaces().map(|namespace| {
            let tenant = directory.sole_claimant(&namespace.name).map(|tenant| tenant.id.clone());
            ((namespace.name.clone(), namespace.uid.clone()), tenant)
        });
        rows.collect()
    };
    let (before, after) = (owned(before), owned(after));
    let row = |uid: &str, tenant: Option<TenantRef>| Binding {
        namespace_uid: uid.to_owned(),
        tenant,
        from: at,
        to: None,
        recorded,
    };
    let gone = before.iter().filter(|(key, tenant)| tenant.is_some() && !after.contains_key(*key));
    let mut rows: Vec<Binding> = gone.map(|((_, uid), _)| row(uid, None)).collect();
    for (key, tenant) in &after {
        if before.get(key).unwrap_or(&None) != tenant {
            rows.push(row(&key.1, tenant.clone()));
        }
    }
    rows
}

/// Whose a namespace was at an instant, by what was recorded until `known`. The latest word about an instant counts.
#[must_use]
pub fn tenant_at<'a>(
    rows: &'a [Binding],
    namespace_uid: &str,
    at: Timestamp,
    known: Timestamp,
) -> Option<&'a TenantRef> {
    let about = rows.iter().enumerate().filter(|(_, row)| {
        row.namespace_uid == namespace_uid && row.recorded <= known && row.from <= at && row.to.is_none_or(|to| at < to)
    });
    // An open row ends where the next open one begins, whatever was recorded first; a bounded one is a correction.
    let latest = about.max_by_key(|(index, row)| {
        (row.to.is_some(), if row.to.is_some() { row.recorded } else { row.from }, row.recorded, *index)
    });
    latest.and_then(|(_, row)| row.tenant.as_ref())
}
