//! The pen: what is only told is written beside the loop, so that a wave of it keeps nothing from being planned or let go.
//!
//! Every turn says anew all that is to be told. What was written counts as told until the watch shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::beside::{Beside, Pace, SHOWN_WITHIN};
use crate::api::status::CapacityPlanStatus;
use crate::cluster::Cluster;
use crate::controller::acts::{self, Ended, Fence, Note, SloTold};

/// Written at once: a quarter of what is let go at once, for that should not wait for what is only told.
const AT_ONCE: usize = 8;
/// What waits in it at most; the next ones are wanted when half of it is written.
const FULL: usize = 4_096;

/// Something that is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// On the work itself.
    Note(Note),
    Slo(SloTold),
    /// A CapacityPlan's name, and how it stands.
    Plan(String, CapacityPlanStatus),
}

/// On what: an object's UID, namespace and name of a WorkloadSLO, or the name of a CapacityPlan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum On {
    Object(String),
    Slo(String, String),
    Plan(String),
}

/// What is told in one tenure.
pub(super) struct Pen {
    lines: Beside<On, Line>,
    written: BTreeMap<On, (Line, Instant)>,
}

impl Line {
    fn on(&self) -> On {
        match self {
            Self::Note(note) => On::Object(note.carrier.uid.clone()),
            Self::Slo(told) => On::Slo(told.namespace.clone(), told.name.clone()),
            Self::Plan(name, _) => On::Plan(name.clone()),
        }
    }

    /// For counting.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Note(_) => "note",
            Self::Slo(_) => "slo-status",
            Self::Plan(..) => "plan-status",
        }
    }

    /// Whether it says the same, on whatever state of the object.
    fn says(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Note(one), Self::Note(other)) => one.told == other.told,
            (Self::Slo(one), Self::Slo(other)) => one.status == other.status,
            (Self::Plan(_, one), Self::Plan(_, other)) => one == other,
            _ => false,
        }
    }
}

impl Pen {
    /// Calls `few` when the next lines are wanted.
    pub(super) fn new(cluster: &Cluster, fence: &Fence, few: Arc<Notify>) -> Self {
        let (cluster, fence) = (cluster.clone(), fence.clone());
        let write = move |line: Line| {
            let (cluster, fence) = (cluster.clone(), fence.clone());
            async move {
                match line {
                    Line::Note(note) => acts::annotate(&cluster, &note, &fence).await,
                    Line::Slo(told) => acts::tell_slo(&cluster, &told, &fence).await,
                    Line::Plan(name, status) => acts::tell_plan(&cluster, &name, &status, &fence).await,
                }
            }
        };
        let lines = Beside::new(Pace { at_once: AT_ONCE, low: FULL / 2 }, few, write);
        Self { lines, written: BTreeMap::new() }
    }

    /// Whether everything that it was told to write is written.
    pub(super) fn is_idle(&self) -> bool {
        self.lines.count() == 0
    }

    /// Tells these, the first ones first, and nothing else.
    pub(super) fn tell(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.written.retain(|_, (_, at)| at.elapsed() < SHOWN_WITHIN);
        let known = |on: &On, line: &Line| self.written.get(on).is_some_and(|(written, _)| written.says(line));
        let lines = lines.into_iter().map(|line| (line.on(), line)).filter(|(on, line)| !known(on, line));
        self.lines.want(lines.take(FULL));
    }

    /// How lines ended since this was asked last.
    pub(super) fn answers(&mut self) -> Vec<(Line, Ended)> {
        let mut found = Vec::new();
        for (on, line, ended) in self.lines.answers() {
            if ended == Ended::Done {
                self.written.insert(on, (line.clone(), Instant::now()));
            }
            found.push((line, ended));
        }
        found
    }
}
