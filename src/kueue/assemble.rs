//! Kubernetes objects in, a snapshot to plan from out: the same for files and for a cluster.
//!
//! Pure: no clock, no file, no network. Same manifests in the same order, same bytes. Problems never stop it half-way:
//! all of them are returned at once, and the caller refuses when one is an error.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::Catalog;
use super::codes;
use super::findings::Findings;
use super::given::{self, Given};
use super::matching::Promises;
use super::observed::{self, Observed};
use super::place::{Ground, Placed, Unplaceable, place};
use super::podsets::Coming;
use super::reach::Reach;
use super::tenants::Tenants;
use super::{changes, named, prices, queues, running, submissions, windows};
use crate::api::capacity_plan::CapacityPlanSpec;
use crate::api::manifest::Manifest;
use crate::api::scenario::ScenarioSpec;
use crate::failure::Finding;
use crate::names::WorkloadKey;
use crate::plan::snapshot::{Policy, Running, Snapshot, Workload};
use crate::plan::whatif::Change;

/// What the manifests come to.
#[derive(Debug, Clone)]
pub struct Assembled {
    pub snapshot: Snapshot,
    pub policy: Policy,
    /// The Scenario, for what it says beside the snapshot (`options`, `arrivals`).
    pub scenario: Option<ScenarioSpec>,
    /// The Scenario's options, as changes of the snapshot.
    pub changes: Vec<Change>,
    /// Work that Kueue would never admit, by creation and key. It is not in the snapshot.
    pub unplaceable: Vec<Unplaceable>,
    /// Waiting work outside the plan's scope: nobody here moves it, Kueue may start it at any time. Same order.
    pub uncontrolled: Vec<Workload>,
    /// Every piece of work that exists, planned or not, as it stands: in the given order.
    pub observed: Vec<Observed>,
    /// Errors first.
    pub findings: Vec<Finding>,
}

/// Queued objects of which there may be very many, by namespace: made when they are looked at, and forgotten then.
pub type Lent<'a> = BTreeMap<&'a str, Box<dyn Fn() -> Vec<Manifest> + 'a>>;

/// Reads everything the manifests say and puts it together.
#[must_use]
pub fn assemble<'a>(manifests: impl IntoIterator<Item = &'a Manifest>, given: &Given) -> Assembled {
    assemble_lent(manifests, &Lent::new(), given)
}

/// The same where more objects are lent: then work is read a namespace at a time, and comes in that order.
#[must_use]
pub fn assemble_lent<'a>(
    manifests: impl IntoIterator<Item = &'a Manifest>,
    lent: &Lent<'_>,
    given: &Given,
) -> Assembled {
    let mut findings = Findings::default();
    // 1. What is there, and the choices made about it.
    let catalog = Catalog::of(manifests, &mut findings);
    let plan = given::chosen_plan(given, &catalog, &mut findings);
    let policy = given::policy(given, plan, &mut findings);
    let promises = Promises::of(&catalog, &mut findings);
    let frame = given::frame(given, &catalog, plan, promises.latest_fixed_due(), &mut findings);
    let span = (frame.now, frame.horizon_end);
    // 2. Capacity: the quota tree, its windows and its prices.
    let queues = queues::build(&catalog, &mut findings);
    let windows: Vec<_> = match plan {
        Some(plan) => {
            given::check_scope(plan, &queues, &mut findings);
            windows::expand(plan, &catalog, &queues, span, &mut findings)
        }
        None => Vec::new(),
    };
    let prices = prices::expand(&catalog, &queues, span, &mut findings);
    // 3. Work: each object once, then each workload placed, running, or never.
    let coming = Coming { from: frame.now, to: frame.horizon_end };
    let mut ground = Ground {
        catalog: &catalog,
        queues: &queues,
        frame,
        promises,
        tenants: Tenants::of(&catalog),
        reach: Reach::new(&queues, &windows, given.may_grow),
        without_runtime: Vec::new(),
        told_without_runtime: BTreeSet::new(),
    };
    let everything = CapacityPlanSpec::default();
    let elders = given.left_to.iter().filter_map(|name| catalog.capacity_plans.get(name.as_str()));
    let spec = plan.map_or(&everything, |known| &known.spec);
    let scope = named::planned(spec, elders.map(|elder| &elder.spec), &queues.nodes);
    let mut sorted = Sorted { running: running::stated(&catalog, &queues, frame, &mut findings), ..Sorted::default() };
    let mut observed = Vec::with_capacity(catalog.queued.len());
    let mut take = |queued: &[&Manifest]| {
        let submissions = submissions::gather(queued, coming, &mut findings);
        let members = observed::members(queued);
        for submission in &submissions {
            let in_scope = given.namespaces.is_empty() || given.namespaces.contains(&submission.manifest.namespace);
            let placed = place(submission, &mut ground, &mut findings);
            observed.extend(observed::of(submission, &placed, &members, &mut ground));
            match placed {
                Placed::Planned(workload) if in_scope && scope.contains(&workload.queue) => {
                    sorted.planned.push(workload);
                }
                Placed::Planned(workload) => sorted.uncontrolled.push(workload),
                Placed::Running(running) => sorted.running.push(running),
                Placed::Unplaceable(one) if in_scope => sorted.unplaceable.push((submission.created, one)),
                Placed::Finished => sorted.finished.push(submission.subject()),
                Placed::NotQueued if submission.kind != "Pod" => sorted.not_queued.push(submission.subject()),
                Placed::Unplaceable(_) | Placed::NotQueued | Placed::LeftOut => {}
            }
        }
        ground.promises.note_alike(&submissions);
    };
    if lent.is_empty() {
        take(&catalog.queued);
    } else {
        // Nothing is part of an object in another namespace, so that each can be forgotten before the next is made.
        for (namespace, mut queued) in by_namespace(&catalog.queued, lent) {
            let many = lent.get(namespace).map(|make| make()).unwrap_or_default();
            queued.extend(&many);
            take(&queued);
        }
    }
    ground.promises.tell_unused(&mut findings);
    sorted.tell(&ground.without_runtime, &mut findings);
    sorted.order();
    // 4. The value.
    let Sorted { planned, uncontrolled, running, unplaceable, .. } = sorted;
    let scenario = catalog.scenario.as_ref().map(|known| known.spec.clone());
    drop(ground);
    let snapshot = Snapshot {
        now: frame.now,
        horizon_end: frame.horizon_end,
        time_zone: frame.zone.name().to_owned(),
        cells: queues.cells,
        nodes: queues.nodes,
        workloads: planned,
        running,
        windows,
        prices: prices.cells,
        currency: prices.currency,
        previous: given.previous.clone(),
    };
    // 5. What the Scenario would compare it with.
    let mut options = Vec::new();
    if let Some(known) = &catalog.scenario {
        for (at, option) in known.spec.options.iter().enumerate() {
            let pointer = format!("/spec/options/{at}");
            let subject = format!("{}, option {}", known.manifest.subject(), option.name);
            let source = changes::Source { subject, manifest: Some(known.manifest), pointer };
            match changes::resolve(option, &snapshot, &source) {
                Ok(change) => options.push(change),
                Err(wrong) => wrong.into_iter().for_each(|finding| findings.push(finding)),
            }
        }
    }
    let unplaceable = unplaceable.into_iter().map(|(_, one)| one).collect();
    let findings = findings.finish();
    Assembled { snapshot, policy, scenario, changes: options, unplaceable, uncontrolled, observed, findings }
}

/// What is there of each namespace that has any work.
fn by_namespace<'a>(queued: &[&'a Manifest], lent: &'a Lent<'_>) -> BTreeMap<&'a str, Vec<&'a Manifest>> {
    let mut found: BTreeMap<&str, Vec<&Manifest>> = lent.keys().map(|namespace| (*namespace, Vec::new())).collect();
    for one in queued {
        found.entry(&one.namespace).or_default().push(one);
    }
    found
}

#[derive(Default)]
struct Sorted {
    planned: Vec<Workload>,
    uncontrolled: Vec<Workload>,
    running: Vec<Running>,
    unplaceable: Vec<(Option<crate::units::Timestamp>, Unplaceable)>,
    finished: Vec<String>,
    not_queued: Vec<String>,
}

impl Sorted {
    /// Creation order, ties by key, which is everybody's last tie-break; and no two workloads of one name.
    fn order(&mut self) {
        for workloads in [&mut self.planned, &mut self.uncontrolled] {
            workloads.sort_by(|a, b| (a.created, &a.key, &a.kind).cmp(&(b.created, &b.key, &b.kind)));
        }
        self.running.sort_by(|a, b| (a.start, &a.key).cmp(&(b.start, &b.key)));
        self.unplaceable.sort_by(|a, b| (a.0, &a.1.key, &a.1.kind).cmp(&(b.0, &b.1.key, &b.1.kind)));
        let mut taken: BTreeSet<WorkloadKey> = self.running.iter().map(|one| one.key.clone()).collect();
        for workload in self.planned.iter_mut().chain(&mut self.uncontrolled) {
            // A Job and a JobSet may share a name; in a plan each needs its own.
            if !taken.insert(workload.key.clone()) {
                let name = format!("{}.{}", workload.key.name(), workload.kind.to_lowercase());
                workload.key = WorkloadKey::new(workload.key.namespace(), &name);
                taken.insert(workload.key.clone());
            }
        }
    }

    fn tell(&self, without_runtime: &[String], findings: &mut Findings) {
        let mut tell = |names: &[String], finding: fn(String) -> Finding, what: &str| {
            if !names.is_empty() {
                findings.push(finding(format!("{what}: {}", listed(names))));
            }
        };
        tell(
            without_runtime,
            |message| {
                Finding::warning(codes::RUNTIME_UNKNOWN, "input", message)
                    .hint("give them a WorkloadSLO with expectedRuntime")
            },
            "without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon",
        );
        tell(&self.finished, |message| Finding::note(codes::FINISHED, "input", message), "finished, so not planned");
        tell(
            &self.not_queued,
            |message| {
                Finding::note(codes::NOT_QUEUED, "input", message).hint(
                    "the label kueue.x-k8s.io/queue-name puts work under Kueue (on a CronJob: in its jobTemplate)",
                )
            },
            "not managed by Kueue, so not planned",
        );
        let uncontrolled: Vec<String> = self.uncontrolled.iter().map(|workload| workload.key.to_string()).collect();
        tell(
            &uncontrolled,
            |message| Finding::note(codes::UNCONTROLLED, "input", message),
            "waiting outside the plan's scope; Kueue may start them at any time",
        );
    }
}

/// The first few names and the number of the others.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{shown} and {more} more"),
        None => shown,
    }
}
