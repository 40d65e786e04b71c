//! An explanation as text for a terminal and as a JSON document with the same facts.

use std::fmt;

use serde::Serialize;

use crate::calendar;
use crate::units::Timestamp;

use super::Explanation;

/// `stagger.dev/explanation/v1`: instants in RFC 3339, quantities as strings, spans in seconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    workload: &'a str,
    workload_kind: &'a str,
    sentence: &'a str,
    needs: Vec<Need<'a>>,
    free: Option<String>,
    planned: Option<Planned<'a>>,
    blockers: Vec<Blocker<'a>>,
    other_blockers: usize,
    actions: Vec<Action<'a>>,
    planned_at: String,
    status: String,
}

#[derive(Debug, Serialize)]
struct Need<'a> {
    flavor: &'a str,
    resource: &'a str,
    quantity: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Planned<'a> {
    flavor: &'a str,
    start: String,
    end: String,
    end_p90: String,
    finish_by: Option<String>,
    slack_seconds: Option<i64>,
    verdict: String,
    reasons: Vec<Said<'a>>,
}

#[derive(Debug, Serialize)]
struct Said<'a> {
    code: String,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct Blocker<'a> {
    workload: &'a str,
    flavor: &'a str,
    resource: &'a str,
    quantity: String,
    until: String,
}

#[derive(Debug, Serialize)]
struct Action<'a> {
    what: &'a str,
    effect: &'a str,
}

impl Explanation {
    /// The JSON form; field order is stable.
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        let instant = |at| self.instant(at);
        Document {
            api_version: "stagger.dev/explanation/v1",
            kind: "Explanation",
            workload: self.workload.as_str(),
            workload_kind: &self.kind,
            sentence: &self.sentence,
            needs: self
                .needs
                .iter()
                .map(|(flavor, resource, amount)| Need {
                    flavor: flavor.as_str(),
                    resource: resource.as_str(),
                    quantity: resource.quantity(*amount),
                })
                .collect(),
            free: self.free.as_ref().map(|(_, resource, free)| resource.quantity(*free)),
            planned: self.planned.as_ref().map(|planned| self.planned_document(planned)),
            blockers: self
                .blockers
                .iter()
                .map(|blocker| Blocker {
                    workload: blocker.who.as_str(),
                    flavor: blocker.flavor.as_str(),
                    resource: blocker.resource.as_str(),
                    quantity: blocker.resource.quantity(blocker.quantity),
                    until: instant(blocker.until),
                })
                .collect(),
            other_blockers: self.other_blockers,
            actions: self.actions.iter().map(|a| Action { what: &a.what, effect: &a.effect }).collect(),
            planned_at: instant(self.planned_at),
            status: format!("{:?}", self.status),
        }
    }

    fn planned_document<'a>(&self, planned: &'a super::Planned) -> Planned<'a> {
        let said = planned.reasons.iter().map(|r| Said { code: format!("{:?}", r.code), message: &r.message });
        Planned {
            flavor: planned.flavor.as_str(),
            start: self.instant(planned.start),
            end: self.instant(planned.end),
            end_p90: self.instant(planned.end_p90),
            finish_by: planned.finish_by.map(|at| self.instant(at)),
            slack_seconds: planned.slack.map(|slack| slack.0),
            verdict: format!("{:?}", planned.verdict),
            reasons: said.collect(),
        }
    }

    fn zone(&self) -> chrono_tz::Tz {
        calendar::zone(&self.time_zone).unwrap_or(chrono_tz::UTC)
    }

    fn instant(&self, at: Timestamp) -> String {
        calendar::rfc3339(at, self.zone())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |at: Timestamp| calendar::day_time(at, self.planned_at, self.zone());
        writeln!(f, "{} {}", self.kind, self.workload)?;
        writeln!(f, "  {}", self.sentence)?;
        for (flavor, resource, amount) in &self.needs {
            write!(f, "  needs    {} {resource} on {flavor}", resource.quantity(*amount))?;
            match self.free.as_ref().filter(|(of, kind, _)| of == flavor && kind == resource) {
                Some((_, _, free)) => writeln!(f, "; {} free just before", resource.quantity(*free))?,
                None => writeln!(f)?,
            }
        }
        if let Some(planned) = &self.planned {
            let (start, end, p90) = (time(planned.start), time(planned.end), time(planned.end_p90));
            writeln!(f, "  planned  {start} on {}, ends {end} (p50) or {p90} (p90)", planned.flavor)?;
            for reason in planned.reasons.iter().skip(1) {
                writeln!(f, "  note     {}", reason.message)?;
            }
        }
        for blocker in &self.blockers {
            let held = blocker.resource.quantity(blocker.quantity);
            let (who, flavor, until) = (&blocker.who, &blocker.flavor, time(blocker.until));
            writeln!(f, "  held by  {who}: {held} {} on {flavor} until {until}", blocker.resource)?;
        }
        if self.other_blockers > 0 {
            writeln!(f, "           and {} others", self.other_blockers)?;
        }
        for action in &self.actions {
            writeln!(f, "  try      {}: {}", action.what, action.effect)?;
        }
        if self.nothing_helps {
            writeln!(f, "  try      nothing was found that starts it sooner and leaves the others in place")?;
        }
        write!(f, "  plan     made {}, {:?}", time(self.planned_at), self.status)
    }
}
