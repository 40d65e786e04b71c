//! What was promised for each workload that ran: its due time, outcome class and gate; and whose it is.
//!
//! The workload's own manifest finds its WorkloadSLO as in planning. Where it is not in the files, an SLO speaks that
//! names it (`targetRef`), or else the only one in its namespace whose outcome class is the run's.

use std::collections::BTreeMap;

use crate::api::keys::TENANT;
use crate::api::slo::WorkloadSloSpec;
use crate::kueue::catalog::Catalog;
use crate::kueue::findings::Findings;
use crate::kueue::matching::Promises;
use crate::kueue::podsets::{Coming, Submission};
use crate::kueue::promise::{self, Promise as Promised};
use crate::kueue::submissions;
use crate::kueue::tenants::Tenants;
use crate::ledger::run::Run;
use crate::names::{QueueName, TenantId, WorkloadKey};
use crate::outcome::judge::Due;
use crate::outcome::settle::Promise;
use crate::units::Timestamp;

/// Reads the promises and fills in what runs leave out.
pub(super) fn read(catalog: &Catalog<'_>, runs: &mut [Run], findings: &mut Findings) -> BTreeMap<WorkloadKey, Promise> {
    // No run of a CronJob is to come: only what has a manifest of its own has run.
    let nothing_to_come = Coming { from: Timestamp(0), to: Timestamp(0) };
    let submissions = submissions::gather(&catalog.queued, nothing_to_come, &mut Findings::default());
    let by_key: BTreeMap<&WorkloadKey, &Submission<'_>> = submissions.iter().map(|one| (&one.key, one)).collect();
    let mut promises = Promises::of(catalog, findings);
    let mut tenants = Tenants::of(catalog);
    let mut found: BTreeMap<WorkloadKey, Promise> = BTreeMap::new();
    for run in runs {
        let submission = by_key.get(&run.workload).copied();
        if let Some(submission) = submission {
            run.tenant = run.tenant.take().or_else(|| {
                let claimed = tenants.find(submission, findings);
                claimed.or_else(|| submission.any_label(TENANT).map(TenantId::from))
            });
            run.created = run.created.or(submission.created);
            run.queue = run.queue.take().or_else(|| cluster_queue(submission, catalog));
        } else if run.tenant.is_none() {
            // The catalog lives longer than the run: the namespace is looked up by a name of the catalog's own.
            let claims = catalog.tenants.values().flat_map(|known| &known.spec.namespaces);
            let named = claims.into_iter().find(|namespace| *namespace == run.workload.namespace());
            let known = named
                .map(String::as_str)
                .or_else(|| catalog.namespaces.keys().copied().find(|name| *name == run.workload.namespace()));
            run.tenant = known.and_then(|namespace| tenants.of_namespace(namespace));
        }
        let promised = match submission {
            Some(submission) => promises.find(submission, findings).map(|promise| outline(promise, run.created)),
            None => by_name_or_class(catalog, run).map(|slo| {
                let promise = promise::read(slo, catalog, &mut Findings::default());
                outline(&promise, run.created)
            }),
        };
        let Some(promised) = promised else { continue };
        run.class = run.class.take().or_else(|| promised.class.clone());
        // The earliest creation that any row states is the workload's.
        let known = found.entry(run.workload.clone()).or_insert_with(|| promised.clone());
        if matches!(known.due, Due::Unknown(_)) {
            known.due = promised.due;
        }
    }
    found
}

fn cluster_queue(submission: &Submission<'_>, catalog: &Catalog<'_>) -> Option<QueueName> {
    let queue = submission.any_label(crate::kueue::types::QUEUE_NAME)?;
    let local = catalog.local_queues.get(&(submission.manifest.namespace.as_str(), queue))?;
    Some(QueueName::from(local.spec.cluster_queue.as_str()))
}

fn by_name_or_class<'c, 'a>(
    catalog: &'c Catalog<'a>,
    run: &Run,
) -> Option<&'c crate::kueue::catalog::Known<'a, WorkloadSloSpec>> {
    let near = || catalog.slos.iter().filter(|((namespace, _), _)| *namespace == run.workload.namespace());
    let named =
        near().find(|(_, slo)| slo.spec.target_ref.as_ref().is_some_and(|target| target.name == run.workload.name()));
    let of_class = || {
        let class = run.class.as_deref()?;
        let mut fits = near().filter(|(_, slo)| {
            let outcome = slo.spec.outcome.as_ref();
            slo.spec.target_ref.is_none() && outcome.is_some_and(|outcome| outcome.class == class)
        });
        let first = fits.next()?;
        fits.next().is_none().then_some(first)
    };
    named.or_else(of_class).map(|(_, slo)| slo)
}

fn outline(promise: &Promised<'_>, created: Option<Timestamp>) -> Promise {
    let spec = promise.spec;
    // An instant does not depend on the creation; a span and a time of day do.
    let from = created.or_else(|| spec.finish_by.as_ref().map(|_| Timestamp(0)));
    let due = match from {
        Some(from) => promise.due(from).map_or(Due::Never, |due| Due::At(due.at)),
        None => Due::Unknown("nothing says when the workload was created".to_owned()),
    };
    let outcome = spec.outcome.as_ref();
    Promise {
        due,
        class: outcome.map(|outcome| outcome.class.clone()),
        expected: outcome.and_then(|outcome| outcome.expected),
        gate: outcome.and_then(|outcome| Some(outcome.gate_ref.as_ref()?.name.clone())),
    }
}
