//! The rules between the fields of one object, one file per kind.
//!
//! A value that cannot be read is passed over here: its shape was complained of already.

pub mod capacity_plan;
pub mod inventory;
pub mod quality_gate;
pub mod rate_card;
pub mod scenario;
pub mod serving_baseline;
pub mod slo;
pub mod tenant;

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value;

use super::shape::OBJECT_FINDINGS_MAX;
use super::{codes, kinds};
use crate::api::manifest::Manifest;
use crate::api::refs::{LabelOperator, LabelSelector, Recurring};
use crate::api::written::{Decimal, Duration, Instant};
use crate::failure::{Finding, Severity, Span};
use crate::units::{Money, Seconds, Timestamp};

/// Collects what the rules find in one object.
pub struct Judge<'a> {
    pub object: &'a Manifest,
    /// Pointers of values that were complained of already; others stand in for them.
    bad: &'a [&'a str],
    /// With the pointer each is about.
    findings: Vec<(String, Finding)>,
    /// The last finding beyond the limit; nobody sees it.
    surplus: Option<Finding>,
}

impl<'a> Judge<'a> {
    #[must_use]
    pub fn new(object: &'a Manifest, bad: &'a [&'a str]) -> Self {
        Self { object, bad, findings: Vec::new(), surplus: None }
    }

    /// The findings, without those that may come from a value that stands in for a bad one: those about it, and those
    /// about another field of the same list item.
    #[must_use]
    pub fn into_findings(self) -> Vec<Finding> {
        let parent = |pointer: &'a str| pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let item = |pointer: &str| pointer.rsplit('/').next().is_some_and(|last| last.parse::<usize>().is_ok());
        let doubtful = |pointer: &str| {
            let within =
                |outer: &str| pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            self.bad.iter().any(|bad| within(bad) || (item(parent(bad)) && within(parent(bad))))
        };
        self.findings.into_iter().filter(|(pointer, _)| !doubtful(pointer)).map(|(_, finding)| finding).collect()
    }

    /// Records an error at a value. The finding may be completed with a hint or another severity.
    pub fn error(
        &mut self,
        code: &'static str,
        pointer: &str,
        message: impl Into<String>,
        label: &str,
    ) -> &mut Finding {
        self.record(code, pointer, message.into(), label, Manifest::span)
    }

    /// Records an error at a key: the field should not be there.
    pub fn out_of_place(
        &mut self,
        code: &'static str,
        pointer: &str,
        message: impl Into<String>,
        label: &str,
    ) -> &mut Finding {
        self.record(code, pointer, message.into(), label, Manifest::key_span)
    }

    fn record(
        &mut self,
        code: &'static str,
        pointer: &str,
        message: String,
        label: &str,
        place: fn(&Manifest, &str) -> Option<Span>,
    ) -> &mut Finding {
        let at = self.findings.len();
        let finding = Finding::error(code, self.object.subject(), message);
        if at >= OBJECT_FINDINGS_MAX {
            return self.surplus.insert(finding);
        }
        self.findings.push((pointer.to_owned(), finding.at(place(self.object, pointer), label)));
        &mut self.findings[at].1
    }

    /// Whether a field was written and is not empty.
    #[must_use]
    pub fn has(&self, pointer: &str) -> bool {
        self.object.at(pointer).is_some_and(|value| !value.is_null())
    }

    /// Whether a map below `pointer` has an unknown key that was likely meant to be one of `names`.
    #[must_use]
    pub fn misspelt(&self, pointer: &str, names: &[&str]) -> bool {
        let Some(Value::Object(entries)) = self.object.at(pointer) else { return false };
        entries.keys().filter(|key| !names.contains(&key.as_str())).any(|key| {
            super::words::meant(key).is_some_and(|meant| names.contains(&meant))
                || kinds::nearest(key, names.iter().copied()).is_some()
        })
    }

    /// Errors for every second item with the same name. `field`: where the name stands in an item, such as `/name`.
    pub fn unique<K: Eq + Hash + ToString>(&mut self, list: &str, field: &str, names: impl IntoIterator<Item = K>) {
        let mut seen: HashMap<K, usize> = HashMap::new();
        for (index, name) in names.into_iter().enumerate() {
            if let Some(first) = seen.get(&name) {
                let shown = super::shape::field(list);
                let message = format!("`{}` stands twice in {shown}: items {first} and {index}", name.to_string());
                self.error(codes::REPEATED, &format!("{list}/{index}{field}"), message, "again here");
            } else {
                seen.insert(name, index);
            }
        }
    }

    /// An error when two instants, both given and readable, do not ascend.
    pub fn ascending(
        &mut self,
        code: &'static str,
        start: &str,
        end: &str,
        from: Option<&Instant>,
        to: Option<&Instant>,
    ) {
        let (Some(from), Some(to)) = (instant(from), instant(to)) else { return };
        if to <= from {
            let name = |pointer: &str| {
                super::shape::field(pointer.rsplit_once('/').map_or(pointer, |(parent, _)| &pointer[parent.len()..]))
            };
            let message = format!("{} is not after {}", name(end), name(start));
            self.error(code, end, message, "must be later");
        }
    }

    /// An error when a duration is zero.
    pub fn positive(&mut self, pointer: &str, duration: Option<&Duration>) {
        if duration.and_then(|duration| duration.millis().ok()) == Some(0) {
            let message = format!("{} is zero", super::shape::field(pointer));
            self.error(codes::OUT_OF_BOUNDS, pointer, message, "must be longer than zero");
        }
    }

    /// An error when a decimal is below zero.
    pub fn not_negative(&mut self, pointer: &str, decimal: &Decimal) {
        if money(decimal).is_some_and(|amount| amount < Money::ZERO) {
            let message = format!("{} is negative", super::shape::field(pointer));
            self.error(codes::OUT_OF_BOUNDS, pointer, message, "expected zero or more");
        }
    }

    /// Kubernetes' own rules on selectors.
    pub fn selector(&mut self, pointer: &str, selector: Option<&LabelSelector>) {
        for (index, one) in selector.into_iter().flat_map(|selector| &selector.match_expressions).enumerate() {
            let pointer = format!("{pointer}/matchExpressions/{index}");
            let takes_values = matches!(one.operator, LabelOperator::In | LabelOperator::NotIn);
            if takes_values && one.values.is_empty() {
                let message = format!("the operator {:?} needs at least one value", one.operator);
                self.error(codes::CONTRADICTION, &format!("{pointer}/operator"), message, "no values");
            } else if !takes_values && !one.values.is_empty() {
                let message = format!("the operator {:?} takes no values", one.operator);
                self.out_of_place(codes::CONTRADICTION, &format!("{pointer}/values"), message, "remove these");
            }
        }
    }

    /// A stretch of time is one-off, from `start` to `end`, or it recurs. `open`: whether either end may be absent.
    pub fn stretch(
        &mut self,
        pointer: &str,
        (start, end): (&str, &str),
        (from, to): (Option<&Instant>, Option<&Instant>),
        recurring: Option<&Recurring>,
        open: bool,
    ) {
        let code = crate::kueue::codes::BAD_WINDOW_TIME;
        let (start_at, end_at) = (format!("{pointer}/{start}"), format!("{pointer}/{end}"));
        let (has_start, has_end) = (self.has(&start_at), self.has(&end_at));
        let recurs = self.has(&format!("{pointer}/recurring"));
        if recurs && (has_start || has_end) {
            let surplus = if has_start { &start_at } else { &end_at };
            let message = format!("{} has both a one-off stretch and `recurring`", super::shape::field(pointer));
            let finding = self.out_of_place(code, surplus, message, "one of the two");
            finding.hint = Some(format!("keep {start} and {end}, or keep recurring"));
        } else if !(recurs || open || has_start && has_end) {
            let lacks = match (has_start, has_end) {
                (false, false) => format!("neither {start} and {end} nor recurring"),
                (true, false) => format!("a {start} but no {end}"),
                _ => format!("an {end} but no {start}"),
            };
            let message = format!("{} has {lacks}", super::shape::field(pointer));
            let finding = self.error(code, pointer, message, "when is it?");
            finding.hint = Some(format!("give {start} and {end}, or recurring {{days, startTime, endTime, timeZone}}"));
        }
        self.ascending(code, &start_at, &end_at, from, to);
        if let Some(recurring) = recurring {
            let days = recurring.days.iter().map(|day| format!("{day:?}"));
            self.unique(&format!("{pointer}/recurring/days"), "", days);
        }
    }
}

/// Makes a finding a warning.
pub fn warn(finding: &mut Finding) -> &mut Finding {
    finding.severity = Severity::Warning;
    finding
}

fn instant(written: Option<&Instant>) -> Option<Timestamp> {
    written?.read().ok()
}

fn seconds(written: Option<&Duration>) -> Option<Seconds> {
    written?.read().ok()
}

fn money(written: &Decimal) -> Option<Money> {
    written.read().ok()
}
