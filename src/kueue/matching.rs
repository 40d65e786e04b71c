//! Which WorkloadSLO speaks for which workload: by annotation, by `targetRef`, by `selector`.
//!
//! Invariant: at most one does. The annotation `stagger.dev/slo` settles it; otherwise two that match are an error that
//! names both. SLOs that speak for nothing are told of at the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::catalog::Catalog;
use super::codes;
use super::findings::{CANDIDATES_MAX, Findings, nearest, reference_severity};
use super::podsets::Submission;
use super::promise::{self, Promise};
use crate::failure::Finding;

/// The annotation by which a job names its SLO.
pub const SLO: &str = "stagger.dev/slo";

/// All WorkloadSLOs, found without looking at each for each job.
pub struct Promises<'a> {
    list: Vec<Promise<'a>>,
    by_name: HashMap<(&'a str, &'a str), usize>,
    /// By namespace, kind and name.
    by_target: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
    /// By namespace and the first label a selector asks for.
    by_label: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
    /// Selectors without `matchLabels`, by namespace.
    by_expression: HashMap<&'a str, Vec<usize>>,
    used: BTreeSet<usize>,
    /// Work that an SLO which has matched nothing may have meant, by its target's namespace and kind.
    alike: BTreeMap<usize, Vec<String>>,
}

impl<'a> Promises<'a> {
    #[must_use]
    pub fn of(catalog: &'a Catalog<'a>, findings: &mut Findings) -> Self {
        let mut promises = Self {
            list: Vec::new(),
            by_name: HashMap::new(),
            by_target: HashMap::new(),
            by_label: HashMap::new(),
            by_expression: HashMap::new(),
            used: BTreeSet::new(),
            alike: BTreeMap::new(),
        };
        for ((namespace, name), slo) in &catalog.slos {
            let at = promises.list.len();
            promises.list.push(promise::read(slo, catalog, findings));
            promises.by_name.insert((namespace, name), at);
            if let Some(target) = &slo.spec.target_ref {
                promises.by_target.entry((namespace, &target.kind, &target.name)).or_default().push(at);
            }
            let Some(selector) = &slo.spec.selector else { continue };
            match selector.match_labels.iter().next() {
                Some((key, value)) => promises.by_label.entry((namespace, key, value)).or_default().push(at),
                None => promises.by_expression.entry(namespace).or_default().push(at),
            }
        }
        promises
    }

    /// The SLO of a workload. Tells of annotations that lead nowhere and of two SLOs that match.
    pub fn find(&mut self, submission: &Submission<'_>, findings: &mut Findings) -> Option<&Promise<'a>> {
        let namespace = submission.manifest.namespace.as_str();
        if let Some(name) = submission.annotation(SLO) {
            if let Some(at) = self.by_name.get(&(namespace, name)).copied() {
                self.used.insert(at);
                return self.list.get(at);
            }
            let severity = reference_severity(submission.manifest);
            let message = format!("names the WorkloadSLO `{name}`, which is not in namespace {namespace}");
            let place = format!("{}/annotations/stagger.dev~1slo", submission.metadata_at);
            let mut finding = Finding::new(codes::UNKNOWN_SLO, severity, submission.subject(), message)
                .at(submission.manifest.span(&place), "this name");
            let known = self.by_name.keys().filter(|(other, _)| *other == namespace).map(|(_, name)| *name);
            finding.hint = nearest(name, known.collect::<BTreeSet<_>>());
            findings.push(finding);
            return None;
        }
        let matching = self.matching(submission);
        self.used.extend(&matching);
        if let [first, second, ..] = matching.iter().copied().collect::<Vec<_>>()[..] {
            let (first, second) = (&self.list[first], &self.list[second]);
            let names = format!("`{}` and `{}`", first.manifest.name, second.manifest.name);
            let message = format!("the WorkloadSLOs {names} both speak for it");
            findings.push(
                Finding::new(
                    codes::SLO_AMBIGUOUS,
                    reference_severity(submission.manifest),
                    submission.subject(),
                    message,
                )
                .at(second.manifest.span("/metadata/name"), "the second one")
                .hint(format!("narrow one of them, or name one on the job: {SLO}: {}", first.manifest.name)),
            );
            return None;
        }
        self.list.get(*matching.first()?)
    }

    fn matching(&self, submission: &Submission<'_>) -> BTreeSet<usize> {
        let namespace = submission.manifest.namespace.as_str();
        let mut found = BTreeSet::new();
        let object = (submission.manifest.kind.as_str(), submission.manifest.name.as_str());
        for (kind, name) in [object, (submission.kind.as_str(), submission.key.name())] {
            let candidates = self.by_target.get(&(namespace, kind, name)).into_iter().flatten();
            // A group that is left out means any: kinds are rarely ambiguous and users rarely know groups.
            found.extend(candidates.filter(|at| {
                let target = self.list[**at].spec.target_ref.as_ref();
                target.is_some_and(|target| {
                    [submission.group.as_str(), submission.manifest.group(), ""].contains(&target.group.as_str())
                })
            }));
        }
        let labels = submission.labels();
        let by_label = labels.iter().filter_map(|(key, value)| self.by_label.get(&(namespace, *key, *value)));
        let by_expression = self.by_expression.get(namespace);
        found.extend(by_label.chain(by_expression).flatten().filter(|at| {
            let selector = self.list[**at].spec.selector.as_ref();
            selector.is_some_and(|selector| selector.matches(|key| submission.any_label(key)))
        }));
        found
    }

    /// Notes what those that have spoken for nothing so far may have meant.
    pub fn note_alike(&mut self, submissions: &[Submission<'_>]) {
        for (at, promise) in self.list.iter().enumerate().filter(|(at, _)| !self.used.contains(at)) {
            let Some(target) = &promise.spec.target_ref else { continue };
            let alike = submissions
                .iter()
                .map(|submission| submission.manifest)
                .filter(|manifest| manifest.namespace == promise.manifest.namespace && manifest.kind == target.kind);
            let known = self.alike.entry(at).or_default();
            known.extend(alike.take(CANDIDATES_MAX.saturating_sub(known.len())).map(|manifest| manifest.name.clone()));
        }
    }

    /// Tells of SLOs that spoke for nothing, and of the name one may have meant.
    pub fn tell_unused(&self, findings: &mut Findings) {
        let idle = self.list.iter().enumerate().filter(|(at, _)| !self.used.contains(at));
        for (at, promise) in idle {
            let place = if promise.spec.target_ref.is_some() { "/spec/targetRef" } else { "/spec/selector" };
            let mut finding = Finding::warning(
                codes::SLO_UNUSED,
                promise.manifest.subject(),
                "speaks for nothing: no workload in its namespace matches",
            )
            .at(promise.manifest.span(place), "matches nothing");
            if promise.spec.target_ref.is_none() && promise.spec.selector.is_none() {
                finding.hint = Some(format!("give a targetRef or selector, or name it on a job with {SLO}"));
            }
            if let Some(target) = &promise.spec.target_ref {
                let alike = self.alike.get(&at).into_iter().flatten();
                finding.hint = nearest(&target.name, alike.map(String::as_str));
            }
            findings.push(finding);
        }
    }

    /// The latest absolute due time, for a horizon that nobody has set.
    #[must_use]
    pub fn latest_fixed_due(&self) -> Option<crate::units::Timestamp> {
        self.list.iter().filter_map(|promise| promise.spec.finish_by.as_ref()?.read().ok()).max()
    }
}
