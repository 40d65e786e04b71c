//! A WorkloadSLO, read once: its times as instants and durations, its runtimes by flavor.
//!
//! Kill limits (`activeDeadlineSeconds`, Kueue's `max-exec-time-seconds`) are never read here: they say when work is
//! killed, not when it is due or how long it runs.

use std::collections::BTreeMap;

use chrono::NaiveTime;
use chrono_tz::Tz;

use super::catalog::{Catalog, Known};
use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use crate::api::manifest::Manifest;
use crate::api::slo::{self, Tolerance, WorkloadSloSpec};
use crate::api::written::Duration;
use crate::calendar;
use crate::failure::Finding;
use crate::names::FlavorName;
use crate::plan::snapshot::{DeadlinePolicy, Due, Interruption, Runtime, Tier};
use crate::units::{Seconds, Timestamp};

/// What a WorkloadSLO says, ready for any workload it speaks for.
#[derive(Debug, Clone)]
pub struct Promise<'a> {
    pub manifest: &'a Manifest,
    pub spec: &'a WorkloadSloSpec,
    due: Option<DueRule>,
    tiers: Vec<Tier>,
    pub not_before: Option<Timestamp>,
    expected: Option<Runtime>,
    by_flavor: BTreeMap<FlavorName, Runtime>,
    pub interruption: Interruption,
}

#[derive(Debug, Clone, Copy)]
enum DueRule {
    At(Timestamp),
    Within(Seconds),
    NextTime(NaiveTime, Tz),
}

/// Reads a WorkloadSLO and tells of everything in it that cannot be meant.
pub fn read<'a>(slo: &'a Known<'a, WorkloadSloSpec>, catalog: &Catalog<'_>, findings: &mut Findings) -> Promise<'a> {
    let mut reader = Reader { manifest: slo.manifest, findings };
    let spec = &slo.spec;
    let due = reader.due(spec);
    let expected = spec
        .expected_runtime
        .as_ref()
        .and_then(|one| reader.runtime("/spec/expectedRuntime", &one.p50, one.p90.as_ref()));
    let mut by_flavor = BTreeMap::new();
    for (at, one) in spec.flavor_runtimes.iter().enumerate() {
        let place = format!("/spec/flavorRuntimes/{at}");
        reader.known_flavor(&one.flavor, &format!("{place}/flavor"), catalog);
        if let Some(runtime) = reader.runtime(&place, &one.p50, one.p90.as_ref()) {
            by_flavor.insert(FlavorName::from(one.flavor.as_str()), runtime);
        }
    }
    for (at, flavor) in spec.allowed_flavors.iter().enumerate() {
        reader.known_flavor(flavor, &format!("/spec/allowedFlavors/{at}"), catalog);
    }
    Promise {
        manifest: slo.manifest,
        spec,
        due,
        tiers: reader.tiers(spec),
        not_before: spec.not_before.as_ref().and_then(|at| reader.value("/spec/notBefore", at.read())),
        expected,
        by_flavor,
        interruption: reader.interruption(&spec.interruption),
    }
}

impl Promise<'_> {
    /// Whether it says anything of how long the work runs, be it wrong.
    #[must_use]
    pub fn speaks_of_runtime(&self) -> bool {
        self.spec.expected_runtime.is_some() || !self.spec.flavor_runtimes.is_empty()
    }

    /// How long work runs on these flavors together: the slowest of them decides. `None`: not declared.
    #[must_use]
    pub fn runtime(&self, flavors: &[FlavorName]) -> Option<Runtime> {
        let on = |flavor: &FlavorName| self.by_flavor.get(flavor).copied().or(self.expected);
        let Some((first, rest)) = flavors.split_first() else { return self.expected };
        rest.iter().try_fold(on(first)?, |slowest, flavor| {
            let other = on(flavor)?;
            Some(Runtime { p50: slowest.p50.max(other.p50), p90: slowest.p90.max(other.p90), known: true })
        })
    }

    /// When a workload created at `created` is due.
    #[must_use]
    pub fn due(&self, created: Timestamp) -> Option<Due> {
        let at = match self.due? {
            DueRule::At(at) => at,
            DueRule::Within(span) => created + span,
            DueRule::NextTime(time, zone) => calendar::next_at(created, time, zone)?,
        };
        let policy = match self.spec.deadline_policy {
            slo::DeadlinePolicy::Hard => DeadlinePolicy::Hard,
            slo::DeadlinePolicy::Soft => DeadlinePolicy::Soft,
            slo::DeadlinePolicy::BestEffort => DeadlinePolicy::BestEffort,
        };
        Some(Due { at, policy, tiers: self.tiers.clone() })
    }

    /// The field that says when it is due, for an excerpt.
    #[must_use]
    pub fn due_at(&self) -> &'static str {
        match self.due {
            Some(DueRule::Within(_)) => "/spec/finishWithin",
            Some(DueRule::NextTime(..)) => "/spec/finishByTime",
            _ => "/spec/finishBy",
        }
    }
}

struct Reader<'r> {
    manifest: &'r Manifest,
    findings: &'r mut Findings,
}

impl Reader<'_> {
    fn tell(&mut self, code: &'static str, place: &str, message: String, label: &str) {
        let span = self.manifest.span(place);
        self.findings.push(Finding::error(code, self.manifest.subject(), message).at(span, label));
    }

    fn value<T>(&mut self, place: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.tell(codes::BAD_VALUE, place, message, "this value")).ok()
    }

    fn due(&mut self, spec: &WorkloadSloSpec) -> Option<DueRule> {
        let given = [spec.finish_by.is_some(), spec.finish_within.is_some(), spec.finish_by_time.is_some()];
        let count = given.iter().filter(|given| **given).count();
        // Best effort without a due time says how long work runs, and nothing can be late.
        let may_be_absent = spec.deadline_policy == slo::DeadlinePolicy::BestEffort;
        if count > 1 || (count == 0 && !may_be_absent) {
            let message = if count == 0 {
                "gives none of finishBy, finishWithin and finishByTime; only deadlinePolicy BestEffort needs none"
            } else {
                "gives several of finishBy, finishWithin and finishByTime; exactly one is needed"
            };
            self.tell(codes::BAD_DUE, "/spec", message.to_owned(), "in this spec");
        }
        if let Some(at) = &spec.finish_by {
            return self.value("/spec/finishBy", at.read()).map(DueRule::At);
        }
        if let Some(span) = &spec.finish_within {
            return self.value("/spec/finishWithin", span.read()).map(DueRule::Within);
        }
        let next = spec.finish_by_time.as_ref()?;
        let time = self.value("/spec/finishByTime/time", next.time.read());
        let zone = self.value("/spec/finishByTime/timeZone", next.time_zone.read());
        Some(DueRule::NextTime(time?, zone?))
    }

    fn runtime(&mut self, place: &str, p50: &Duration, p90: Option<&Duration>) -> Option<Runtime> {
        let p50_at = format!("{place}/p50");
        let p90_at = format!("{place}/p90");
        let p50 = self.value(&p50_at, p50.read())?;
        let p90 = match p90 {
            Some(p90) => self.value(&p90_at, p90.read())?,
            None => p50,
        };
        if p50 <= Seconds::ZERO {
            self.tell(codes::BAD_RUNTIME, &p50_at, "a runtime of zero says nothing".to_owned(), "must be positive");
            return None;
        }
        if p90 < p50 {
            let message = format!("p90 ({p90}) is below p50 ({p50}); nine of ten runs cannot end sooner than half do");
            self.tell(codes::BAD_RUNTIME, &p90_at, message, "at least p50");
            return None;
        }
        Some(Runtime { p50, p90, known: true })
    }

    fn known_flavor(&mut self, name: &str, place: &str, catalog: &Catalog<'_>) {
        if catalog.flavors.contains_key(name) {
            return;
        }
        let message = format!("names the ResourceFlavor `{name}`, which is not there");
        let mut finding =
            Finding::new(codes::UNKNOWN_FLAVOR, reference_severity(self.manifest), self.manifest.subject(), message)
                .at(self.manifest.span(place), "this flavor");
        finding.hint = nearest(name, catalog.flavors.keys().copied());
        self.findings.push(finding);
    }

    fn tiers(&mut self, spec: &WorkloadSloSpec) -> Vec<Tier> {
        let mut tiers: Vec<Tier> = Vec::new();
        for (at, tier) in spec.value_after_deadline.iter().enumerate() {
            let place = format!("/spec/valueAfterDeadline/{at}");
            let Some(after) = self.value(&format!("{place}/after"), tier.after.read()) else { continue };
            let grows = |last: &Tier| after <= last.after || tier.value_percent > last.value_percent;
            if tiers.last().is_some_and(grows) || tier.value_percent > 100 {
                let message = "tiers must come later and be worth no more, each than the one before (at most 100)";
                self.tell(codes::BAD_DUE, &place, message.to_owned(), "out of order");
                continue;
            }
            tiers.push(Tier { after, value_percent: tier.value_percent });
        }
        tiers
    }

    fn interruption(&mut self, spec: &slo::Interruption) -> Interruption {
        let max = spec.max_interruptions.unwrap_or(1);
        let mut span = |place: &str, written: Option<&Duration>| {
            written.and_then(|written| self.value(place, written.read())).unwrap_or(Seconds::ZERO)
        };
        let cost = span("/spec/interruption/restartCost", spec.restart_cost.as_ref());
        let interval = span("/spec/interruption/checkpointInterval", spec.checkpoint_interval.as_ref());
        match spec.tolerance {
            Tolerance::None => Interruption::None,
            Tolerance::Restartable => Interruption::Restartable { cost, max },
            Tolerance::Checkpointable if spec.checkpoint_interval.is_some() => {
                Interruption::Checkpointable { interval, cost, max }
            }
            Tolerance::Checkpointable => {
                let message = "Checkpointable needs checkpointInterval: how much work is lost at most";
                self.tell(codes::BAD_VALUE, "/spec/interruption", message.to_owned(), "here");
                Interruption::None
            }
        }
    }
}
