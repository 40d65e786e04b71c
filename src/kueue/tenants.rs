//! Which GpuTenant a namespace belongs to.
//!
//! Namespaces belong to one tenant at most. Where several claim one, the label `stagger.dev/tenant` that the webhook put
//! on the object decides; without it the object has no tenant, and a finding says why.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::Catalog;
use super::codes;
use super::findings::Findings;
use super::podsets::Submission;
use crate::api::keys::TENANT;
use crate::failure::Finding;
use crate::names::TenantId;

pub struct Tenants<'a> {
    catalog: &'a Catalog<'a>,
    by_name: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Claims by namespace, found once each.
    claims: BTreeMap<String, BTreeSet<&'a str>>,
    told: BTreeSet<String>,
}

impl<'a> Tenants<'a> {
    #[must_use]
    pub fn of(catalog: &'a Catalog<'a>) -> Self {
        let mut by_name: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (tenant, known) in &catalog.tenants {
            for namespace in &known.spec.namespaces {
                by_name.entry(namespace).or_default().insert(tenant);
            }
        }
        Self { catalog, by_name, claims: BTreeMap::new(), told: BTreeSet::new() }
    }

    pub fn find(&mut self, submission: &Submission<'_>, findings: &mut Findings) -> Option<TenantId> {
        let namespace = submission.manifest.namespace.as_str();
        if !self.claims.contains_key(namespace) {
            let claims = self.claims(namespace);
            self.claims.insert(namespace.to_owned(), claims);
        }
        let claims = &self.claims[namespace];
        if claims.len() > 1 {
            if let Some(stamped) = submission.any_label(TENANT).filter(|stamped| claims.contains(stamped)) {
                return Some(TenantId::from(stamped));
            }
            if self.told.insert(namespace.to_owned()) {
                self.tell(namespace, findings);
            }
            return None;
        }
        claims.first().map(|tenant| TenantId::from(*tenant))
    }

    /// The tenant whose namespace this is, where exactly one claims it.
    #[must_use]
    pub fn of_namespace(&self, namespace: &str) -> Option<TenantId> {
        let claims = self.claims(namespace);
        claims.first().filter(|_| claims.len() == 1).map(|tenant| TenantId::from(*tenant))
    }

    fn claims(&self, namespace: &str) -> BTreeSet<&'a str> {
        let mut claims = self.by_name.get(namespace).cloned().unwrap_or_default();
        for (tenant, known) in &self.catalog.tenants {
            let selector = known.spec.namespace_selector.as_ref();
            if selector.is_some_and(|selector| selector.matches(|key| self.catalog.namespace_label(namespace, key))) {
                claims.insert(tenant);
            }
        }
        claims
    }

    fn tell(&self, namespace: &str, findings: &mut Findings) {
        let claims: Vec<&str> = self.claims[namespace].iter().copied().collect();
        let message = format!("is claimed by several GpuTenants ({}); its work has no tenant", claims.join(", "));
        let second = claims.get(1).and_then(|tenant| self.catalog.tenants.get(tenant));
        findings.push(
            Finding::warning(codes::TENANT_AMBIGUOUS, format!("Namespace {namespace}"), message)
                .at(second.and_then(|known| known.manifest.span("/spec")), "the second claim")
                .hint("leave the namespace to one of them, or let the webhook stamp the tenant by subject"),
        );
    }
}
