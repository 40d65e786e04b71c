//! Every piece of work as it stands: which objects carry its gates, what its Workload says, who speaks for it.
//!
//! Pure, and made by `assemble` in the same pass, so that a plan's release and the objects to release it on can never
//! name different things. Deliberately absent: what should happen next (`release` decides), and runs that do not exist yet.

mod reading;

use std::collections::BTreeMap;

use crate::api::keys;
use crate::calendar;
use crate::names::{FlavorName, QueueName, WorkloadKey};
use crate::plan::snapshot::Runtime;
use crate::units::Timestamp;

pub(super) use reading::{members, of};

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Under this name, or under [`Observed::other_key`] where another kind took it, it is in the plan.
    pub key: WorkloadKey,
    pub kind: String,
    pub created: Option<Timestamp>,
    /// Its ClusterQueue, where its LocalQueue or its admission names one.
    pub queue: Option<QueueName>,
    /// Namespace and name of the WorkloadSLO that speaks for it.
    pub slo: Option<(String, String)>,
    /// When it is due by that promise.
    pub due: Option<Timestamp>,
    /// How long it runs by that promise, on the flavor it was admitted to.
    pub declared: Option<Runtime>,
    /// The objects whose annotation Kueue reads: the job, or every pod of a group.
    pub carriers: Vec<Carrier>,
    pub workload: Option<WorkloadState>,
    pub standing: Standing,
    /// Kueue ignores gates here (its feature is off), so that only an inactive Workload is held.
    pub gates_ignored: bool,
}

/// An object that may carry our gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carrier {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// The whole value of Kueue's annotation; empty without one.
    pub gates: String,
    pub planned_start: Option<String>,
    /// It names a Workload that was made beforehand, so that Kueue reads no gate from it.
    pub prebuilt: bool,
    /// It is a Workload that we hold through `spec.active`.
    pub inactive: bool,
}

/// What Kueue's Workload says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkloadState {
    pub name: String,
    pub uid: String,
    pub api_version: String,
    /// The whole value of Kueue's annotation.
    pub gates: String,
    pub planned_start: Option<String>,
    /// `spec.active`.
    pub active: bool,
    /// It carries our mark: we have held it through `spec.active`.
    pub marked: bool,
    /// Since when it holds quota.
    pub reserved: Option<Timestamp>,
    /// Since when it is admitted; it stays after the end.
    pub admitted: Option<Timestamp>,
    /// The flavor of its first assignment.
    pub flavor: Option<FlavorName>,
    pub evicted: Option<Turn>,
    pub finished: Option<Turn>,
    /// Why it holds no quota, in Kueue's words.
    pub pending: Option<Turn>,
    /// How often it lost its admission.
    pub evictions: u32,
}

/// A condition that holds: since when, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    pub at: Option<Timestamp>,
    pub reason: String,
    pub message: String,
}

/// What planning made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It waits and may be planned.
    Waiting,
    Running,
    /// Kueue would never admit it; one sentence that goes on from its name.
    Never(String),
    Finished,
    /// Not queued by Kueue, deactivated, or in a shape that a finding has told of.
    Aside,
}

impl Observed {
    /// Its key where another kind of the same name came first.
    #[must_use]
    pub fn other_key(&self) -> WorkloadKey {
        WorkloadKey::new(self.key.namespace(), &format!("{}.{}", self.key.name(), self.kind.to_lowercase()))
    }

    /// Whether we hold it: by our gate on the object or on the Workload, or through `spec.active`.
    #[must_use]
    pub fn is_gated(&self) -> bool {
        let by_gate = || {
            self.carriers.iter().any(Carrier::is_gated)
                || self.workload.as_ref().is_some_and(|it| keys::holds(&it.gates))
        };
        self.is_inactive() || if self.gates_ignored { self.is_awaited() } else { by_gate() }
    }

    /// Whether its Workload is inactive because we have made it so.
    #[must_use]
    pub fn is_inactive(&self) -> bool {
        self.workload.as_ref().is_some_and(WorkloadState::is_held)
    }

    /// Its Workload as something to write on, where we have made that inactive.
    #[must_use]
    pub fn inactive_carrier(&self) -> Option<Carrier> {
        self.workload_carrier().filter(|it| it.inactive)
    }

    /// Its Workload as something to write on.
    #[must_use]
    pub fn workload_carrier(&self) -> Option<Carrier> {
        let workload = self.workload.as_ref()?;
        Some(Carrier {
            api_version: workload.api_version.clone(),
            kind: "Workload".to_owned(),
            namespace: self.key.namespace().to_owned(),
            name: workload.name.clone(),
            uid: workload.uid.clone(),
            gates: workload.gates.clone(),
            planned_start: workload.planned_start.clone(),
            prebuilt: false,
            inactive: workload.is_held(),
        })
    }

    /// Where gates are ignored: whether Kueue has yet to make its Workload, which is held as it is made.
    fn is_awaited(&self) -> bool {
        self.workload.is_none() && self.kind != "Pod" && self.standing == Standing::Waiting
    }

    /// Whether nothing of ours is left on its objects; a gate may still be on its Workload.
    #[must_use]
    pub fn is_free(&self) -> bool {
        let gated = if self.gates_ignored { self.is_awaited() } else { self.carriers.iter().any(Carrier::is_gated) };
        !gated && !self.is_inactive()
    }

    /// Whether its Workload is kept out of Kueue's queue by any gate, ours or another's.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        let inactive = self.workload.as_ref().is_some_and(|it| !it.active);
        if self.gates_ignored {
            return inactive || self.is_awaited();
        }
        let gated = self.workload.as_ref().is_some_and(|it| !it.gates.is_empty());
        inactive || gated || self.carriers.iter().any(|it| !it.gates.is_empty())
    }

    /// Whether nothing holds it any more but the moment that Kueue needs: its objects are free, and its Workload is not made
    /// yet, is free too, or carries only our gate, which Kueue is about to take off.
    #[must_use]
    pub fn is_let_go(&self) -> bool {
        if self.gates_ignored {
            let active = self.workload.as_ref().map_or(!self.is_awaited(), |it| it.active);
            return self.standing == Standing::Waiting && active;
        }
        let free = self.workload.as_ref().is_none_or(|it| {
            let passing = !self.is_prebuilt() && it.gates.split(',').all(|gate| gate.trim() == keys::GATE);
            it.active && (it.gates.is_empty() || passing)
        });
        self.standing == Standing::Waiting && free && self.carriers.iter().all(|it| it.gates.is_empty())
    }

    /// Whether it waits without our gate and was not let go by us: then a start would be written on it. A Deployment's pods
    /// never have a gate, and a single pod does not say whose it is.
    #[must_use]
    pub fn came_ungated(&self) -> bool {
        self.standing == Standing::Waiting && self.kind != "Pod" && !self.is_gated() && self.planned_start().is_none()
    }

    /// The start that was written on it. Where the Workload has one it was let go there.
    #[must_use]
    pub fn planned_start(&self) -> Option<Timestamp> {
        let of_workload = self.workload.as_ref().and_then(|it| it.planned_start.as_deref());
        let written = of_workload.or_else(|| self.carriers.iter().find_map(|it| it.planned_start.as_deref()))?;
        calendar::parse_instant(written).ok()
    }

    /// Whether its Workload was made beforehand and is where the gate is read.
    #[must_use]
    pub fn is_prebuilt(&self) -> bool {
        self.carriers.iter().any(|it| it.prebuilt)
    }

    /// When it ran, if it has finished.
    #[must_use]
    pub fn ran(&self) -> Option<(Timestamp, Timestamp)> {
        let workload = self.workload.as_ref()?;
        let (start, end) = (workload.admitted?, workload.finished.as_ref()?.at?);
        (start < end).then_some((start, end))
    }

    /// Admitted runs so far, the present one included.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.workload.as_ref().map_or(0, |it| it.evictions + u32::from(it.admitted.is_some()))
    }
}

impl WorkloadState {
    /// Whether we hold it through `spec.active`. What lost its quota a moment ago is Kueue's to finish with first.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.marked && !self.active && self.reserved.is_none()
    }
}

impl Carrier {
    #[must_use]
    pub fn is_gated(&self) -> bool {
        keys::holds(&self.gates)
    }
}

/// Everything observed by the name it has in a plan, the kinds of one name told apart.
#[must_use]
pub fn by_key(observed: &[Observed]) -> BTreeMap<WorkloadKey, &Observed> {
    let mut found: BTreeMap<WorkloadKey, &Observed> = BTreeMap::new();
    // Unfinished work has its name before what finished under it, as in the plan.
    let (live, over): (Vec<_>, Vec<_>) = observed.iter().partition(|one| one.standing != Standing::Finished);
    let (running, rest): (Vec<_>, Vec<_>) = live.into_iter().partition(|one| one.standing == Standing::Running);
    let mut rest = rest;
    let place = |one: &&Observed| (one.standing != Standing::Waiting, one.created);
    rest.sort_by(|a, b| (place(a), &a.key, &a.kind).cmp(&(place(b), &b.key, &b.kind)));
    for one in running.into_iter().chain(rest).chain(over) {
        let key = if found.contains_key(&one.key) { one.other_key() } else { one.key.clone() };
        found.entry(key).or_insert(one);
    }
    found
}
