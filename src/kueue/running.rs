//! Work that already holds quota: admitted Workloads, and what a Scenario says is running.
//!
//! An end that has passed while the work still holds its quota is no end. Then the p90 end stands in, and after that
//! nothing does: the work is taken to hold its quota to the end of the horizon, with a finding.

use std::collections::BTreeMap;

use super::catalog::{Catalog, Known};
use super::codes;
use super::findings::{Findings, nearest};
use super::given::{Frame, Outrun, shown};
use super::podsets::{Admitted, Submission};
use super::promise::Promise;
use super::quantity::Quantity;
use super::queues::Queues;
use crate::api::scenario;
use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName, TenantId, WorkloadKey};
use crate::plan::snapshot::{CellId, Running, Runtime};
use crate::units::{Amount, Seconds, Timestamp};

/// An admitted workload. `None` when its queue is not there: then nothing can be said of its quota.
pub fn admitted(
    submission: &Submission<'_>,
    admitted: &Admitted,
    promise: Option<&Promise<'_>>,
    (tenant, priority): (Option<TenantId>, i32),
    (queues, frame): (&Queues, Frame),
    findings: &mut Findings,
) -> Option<Running> {
    let Some(queue) = queues.queue(admitted.cluster_queue.as_str()) else {
        let message = format!("holds quota of the ClusterQueue `{}`, which is not there", admitted.cluster_queue);
        let mut finding = Finding::warning(codes::UNKNOWN_CLUSTER_QUEUE, submission.subject(), message);
        finding.hint = nearest(admitted.cluster_queue.as_str(), queues.nodes.iter().map(|node| node.name.as_str()));
        findings.push(finding);
        return None;
    };
    let mut uses: BTreeMap<CellId, Amount> = BTreeMap::new();
    let mut deciding: Vec<FlavorName> = Vec::new();
    for (flavor, resource, amount) in &admitted.uses {
        if resource.is_accelerator() && !deciding.contains(flavor) {
            deciding.push(flavor.clone());
        }
        // Quota that has been removed since is nobody's to plan with.
        let Some(cell) = queues.cell(flavor, resource) else { continue };
        let sum = uses.entry(cell).or_default();
        *sum = sum.saturating_add(*amount);
    }
    if deciding.is_empty() {
        deciding.extend(admitted.uses.first().map(|(flavor, ..)| flavor.clone()));
    }
    let start = admitted.since.or(submission.created).unwrap_or(frame.now).min(frame.now);
    let runtime = promise.and_then(|promise| promise.runtime(&deciding));
    let (end_p50, end_p90) = match runtime {
        None => (None, None),
        Some(runtime) => ends(submission, (start, runtime), promise, frame, findings),
    };
    let name = deciding.iter().map(FlavorName::as_str).collect::<Vec<_>>().join("+");
    Some(Running {
        key: submission.key.clone(),
        tenant,
        queue,
        flavor: FlavorName::from(if name.is_empty() { "none".to_owned() } else { name }),
        uses: uses.into_iter().collect(),
        priority,
        start,
        end_p50,
        end_p90,
        due: promise.and_then(|promise| promise.due(submission.created.unwrap_or(start))),
    })
}

/// The p50 and p90 ends of work that still runs now.
pub fn ends(
    submission: &Submission<'_>,
    (start, runtime): (Timestamp, Runtime),
    promise: Option<&Promise<'_>>,
    frame: Frame,
    findings: &mut Findings,
) -> (Option<Timestamp>, Option<Timestamp>) {
    let (p50, p90) = (start + runtime.p50, start + runtime.p90);
    let end = [p50, p90].into_iter().find(|end| *end > frame.now);
    if let (None, Outrun::AsLongAgain(first)) = (end, frame.outrun) {
        let longer = p90 + as_long_again(first, frame.now - p90);
        return (Some(longer), Some(longer));
    }
    if end.is_none() {
        let message = format!(
            "still runs although nine of ten runs end by {}; it is taken to hold its quota to the horizon's end",
            shown(p90, frame)
        );
        findings.push(
            Finding::warning(codes::OUTRUN, submission.subject(), message)
                .at(promise.and_then(|promise| promise.manifest.span("/spec/expectedRuntime")), "outlasted"),
        );
    }
    (end, end.map(|_| p90))
}

/// The smallest of `first`, twice that, and so on that is more than what has passed already.
fn as_long_again(first: Seconds, passed: Seconds) -> Seconds {
    let mut extra = first.max(Seconds(1));
    // Doubling: at most sixty times before it is longer than any clock runs.
    while extra <= passed {
        extra = Seconds(extra.0.saturating_mul(2));
    }
    extra
}

/// What the Scenario says is running. Work that is over by now is left out.
pub fn stated(catalog: &Catalog<'_>, queues: &Queues, frame: Frame, findings: &mut Findings) -> Vec<Running> {
    let Some(scenario) = &catalog.scenario else { return Vec::new() };
    let one = |(at, running)| Stated { scenario, at, running, findings: &mut *findings }.read(queues, catalog, frame);
    scenario.spec.running.iter().enumerate().filter_map(one).collect()
}

struct Stated<'s, 'a> {
    scenario: &'s Known<'a, scenario::ScenarioSpec>,
    at: usize,
    running: &'s scenario::Running,
    findings: &'s mut Findings,
}

impl Stated<'_, '_> {
    fn tell(&mut self, code: &'static str, field: &str, message: &str, hint: Option<String>) {
        let manifest = self.scenario.manifest;
        let message = format!("running `{}`: {message}", self.running.name);
        let mut finding = Finding::error(code, manifest.subject(), message)
            .at(manifest.span(&format!("/spec/running/{}{field}", self.at)), "here");
        finding.hint = hint;
        self.findings.push(finding);
    }

    fn read(mut self, queues: &Queues, catalog: &Catalog<'_>, frame: Frame) -> Option<Running> {
        let running = self.running;
        let queue = queues.queue(&running.cluster_queue);
        if queue.is_none() {
            let hint = nearest(&running.cluster_queue, catalog.cluster_queues.keys().copied());
            let message = format!("no ClusterQueue `{}` is there", running.cluster_queue);
            self.tell(codes::UNKNOWN_CLUSTER_QUEUE, "/clusterQueue", &message, hint);
        }
        let uses = self.uses(queues, catalog);
        let start = self.instant("/start", running.start.as_ref()).unwrap_or(frame.now);
        let end = self.instant("/end", running.end.as_ref());
        let end_p90 = self.instant("/endP90", running.end_p90.as_ref()).or(end);
        if end.is_some_and(|end| end <= start) || end.zip(end_p90).is_some_and(|(end, p90)| p90 < end) {
            self.tell(codes::BAD_VALUE, "/end", "start, end and endP90 must ascend", None);
            return None;
        }
        if end_p90.is_some_and(|end| end <= frame.now) {
            return None;
        }
        Some(Running {
            key: WorkloadKey::from(running.name.as_str()),
            tenant: None,
            queue: queue?,
            flavor: FlavorName::from(running.flavor.as_str()),
            uses: uses?,
            priority: 0,
            start,
            end_p50: end.filter(|end| *end > frame.now).or(end_p90),
            end_p90,
            due: None,
        })
    }

    fn instant(&mut self, field: &str, written: Option<&crate::api::written::Instant>) -> Option<Timestamp> {
        written?.read().map_err(|message| self.tell(codes::BAD_VALUE, field, &message, None)).ok()
    }

    fn uses(&mut self, queues: &Queues, catalog: &Catalog<'_>) -> Option<Vec<(CellId, Amount)>> {
        let running = self.running;
        let flavor = FlavorName::from(running.flavor.as_str());
        if !catalog.flavors.contains_key(flavor.as_str()) {
            let hint = nearest(flavor.as_str(), catalog.flavors.keys().copied());
            self.tell(codes::UNKNOWN_FLAVOR, "/flavor", &format!("no ResourceFlavor `{flavor}` is there"), hint);
            return None;
        }
        let mut uses = BTreeMap::new();
        for (name, written) in &running.resources {
            let resource = ResourceName::from(name.as_str());
            let field = format!("/resources/{}", name.replace('~', "~0").replace('/', "~1"));
            let Some(cell) = queues.cell(&flavor, &resource) else {
                let message = format!("no queue or cohort has quota of {resource} on {flavor}");
                let known = queues.cells.iter().filter(|cell| cell.flavor == flavor);
                let hint = nearest(name, known.map(|cell| cell.resource.as_str()));
                self.tell(codes::UNCOVERED_RESOURCE, &field, &message, hint);
                continue;
            };
            let amount = Quantity::parse(&written.text())
                .and_then(|quantity| quantity.amount(&resource).ok_or_else(|| "is too large to count".to_owned()));
            match amount {
                Ok(Amount::ZERO) => {}
                Ok(amount) => {
                    uses.insert(cell, amount);
                }
                Err(message) => self.tell(codes::BAD_VALUE, &field, &message, None),
            }
        }
        Some(uses.into_iter().collect())
    }
}
