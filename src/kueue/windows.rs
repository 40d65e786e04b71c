//! Capacity windows of CapacityPlans, expanded to instants.
//!
//! Recurring ones are laid out on the wall clock of their own zone, from now to a week past the horizon, because work that
//! starts within it may end beyond. Windows that are over are dropped in silence.

use super::catalog::{Catalog, Known};
use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use super::queues::Queues;
use super::stretches::{self, Fault, Stretches};
use crate::api::capacity_plan::{self, CapacityPlanSpec};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName};
use crate::plan::snapshot::{CellId, NodeId, Window, WindowEffect};
use crate::units::{Amount, Seconds, Timestamp};

/// Work released near the end of the horizon still meets the windows of the week after.
pub const BEYOND_HORIZON: Seconds = Seconds(7 * 86_400);

/// A daily window over a year has 366 occurrences; a thousand leave room, and a planner has to look at each.
const OCCURRENCES_MAX: usize = 1_000;

/// The windows of one CapacityPlan, in the order they are written, each one's occurrences ascending.
pub fn expand(
    plan: &Known<'_, CapacityPlanSpec>,
    catalog: &Catalog<'_>,
    queues: &Queues,
    (now, horizon_end): (Timestamp, Timestamp),
    findings: &mut Findings,
) -> Vec<Window> {
    let until = horizon_end + BEYOND_HORIZON;
    let mut expanded = Vec::new();
    for (at, window) in plan.spec.windows.iter().enumerate() {
        let mut reader = Reader { manifest: plan.manifest, at, name: &window.name, findings };
        let Some(node) = reader.node(window, queues) else { continue };
        let Some((cell, resource)) = reader.cell(window, catalog, queues) else { continue };
        let Some(quantity) = reader.quantity(window, &resource) else { continue };
        let effect = match window.effect {
            capacity_plan::WindowEffect::Cap => WindowEffect::Cap,
            capacity_plan::WindowEffect::Reserve => WindowEffect::Reserve,
            capacity_plan::WindowEffect::Add => WindowEffect::Add,
        };
        let of = |(start, end)| Window { name: window.name.clone(), node, cell, effect, quantity, start, end };
        expanded.extend(reader.stretches(window, now, until).into_iter().map(of));
    }
    expanded
}

struct Reader<'r> {
    manifest: &'r Manifest,
    at: usize,
    name: &'r str,
    findings: &'r mut Findings,
}

impl Reader<'_> {
    fn tell(&mut self, code: &'static str, field: &str, message: &str, label: &str, hint: Option<String>) {
        let place = format!("/spec/windows/{}{field}", self.at);
        let message = format!("window `{}`: {message}", self.name);
        let severity = reference_severity(self.manifest);
        let mut finding =
            Finding::new(code, severity, self.manifest.subject(), message).at(self.manifest.span(&place), label);
        finding.hint = hint;
        self.findings.push(finding);
    }

    fn node(&mut self, window: &capacity_plan::Window, queues: &Queues) -> Option<NodeId> {
        let (found, field, kind, name) = match (&window.cluster_queue, &window.cohort) {
            (Some(queue), None) => (queues.queue(queue), "/clusterQueue", "ClusterQueue", queue),
            (None, Some(cohort)) => (queues.cohort(cohort), "/cohort", "Cohort", cohort),
            _ => {
                let message = "exactly one of clusterQueue and cohort is needed";
                self.tell(codes::BAD_WINDOW_TARGET, "", message, "here", None);
                return None;
            }
        };
        if found.is_none() {
            let hint = nearest(name, queues.nodes.iter().map(|node| node.name.as_str()));
            self.tell(codes::BAD_WINDOW_TARGET, field, &format!("no {kind} `{name}` is there"), "this name", hint);
        }
        found
    }

    fn cell(
        &mut self,
        window: &capacity_plan::Window,
        catalog: &Catalog<'_>,
        queues: &Queues,
    ) -> Option<(CellId, ResourceName)> {
        let (flavor, resource) = (FlavorName::from(&*window.flavor), ResourceName::from(&*window.resource));
        if let Some(cell) = queues.cell(&flavor, &resource) {
            return Some((cell, resource));
        }
        if catalog.flavors.contains_key(flavor.as_str()) {
            let message = format!("no queue or cohort has quota of {resource} on {flavor}");
            let of_flavor = queues.cells.iter().filter(|cell| cell.flavor == flavor);
            let hint = nearest(resource.as_str(), of_flavor.map(|cell| cell.resource.as_str()));
            self.tell(codes::BAD_WINDOW_TARGET, "/resource", &message, "has no quota", hint);
        } else {
            let hint = nearest(flavor.as_str(), catalog.flavors.keys().copied());
            let message = format!("no ResourceFlavor `{flavor}` is there");
            self.tell(codes::UNKNOWN_FLAVOR, "/flavor", &message, "this flavor", hint);
        }
        None
    }

    fn quantity(&mut self, window: &capacity_plan::Window, resource: &ResourceName) -> Option<Amount> {
        stretches::quantity(window, resource).map_err(|fault| self.refuse(fault)).ok()
    }

    fn stretches(
        &mut self,
        window: &capacity_plan::Window,
        now: Timestamp,
        until: Timestamp,
    ) -> Vec<(Timestamp, Timestamp)> {
        match stretches::stretches(window, now, until, OCCURRENCES_MAX) {
            Ok(Stretches { found, capped }) => {
                if capped {
                    let message = format!("it recurs more than {OCCURRENCES_MAX} times; later ones are left out");
                    let place = format!("/spec/windows/{}/recurring", self.at);
                    self.findings.push(
                        Finding::warning(codes::CAPPED, self.manifest.subject(), message)
                            .at(self.manifest.span(&place), "here")
                            .hint("shorten the horizon"),
                    );
                }
                found
            }
            Err(faults) => {
                for fault in faults {
                    self.refuse(fault);
                }
                Vec::new()
            }
        }
    }

    fn refuse(&mut self, fault: Fault) {
        self.tell(fault.code, fault.field, &fault.message, fault.label, None);
    }
}
