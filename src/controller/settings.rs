//! What the controller is told when it starts.

use chrono_tz::Tz;

use crate::api::manifest::Manifest;
use crate::clock::Clock;
use crate::kueue::release::Pace;
use crate::units::Seconds;

/// Reads the documents of a YAML text; the reader of files lends it.
pub type ReadYaml = fn(&str) -> Vec<Manifest>;

/// The choices of one controller process.
#[derive(Debug, Clone)]
pub struct Settings {
    pub clock: Clock,
    /// In which times are written for people.
    pub zone: Tz,
    /// Where our own objects lie: the lease and the stored plans.
    pub namespace: String,
    /// Where Kueue's configuration lies: a namespace and a ConfigMap.
    pub kueue: (String, String),
    /// A plan is searched for at most this long, whatever a CapacityPlan says.
    pub time_limit_millis: u64,
    /// How far ahead is planned where no CapacityPlan says.
    pub horizon: Seconds,
    /// How long work without a promise may be held while there is no plan for it.
    pub hold_max: Seconds,
    pub read_yaml: ReadYaml,
}

/// Real seconds that Kubernetes takes for things, whatever the clock shows.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pub pace: Pace,
    /// Work that ends on time ends within this; only then is it late.
    pub handover: Seconds,
    /// A start that is this late is planned anew.
    pub missed: Seconds,
    /// Work that is due, and that the plan says fits, is not kept from Kueue's own judgement for longer.
    pub disputed: Seconds,
    /// A plan older than this is made again.
    pub age: Seconds,
    /// When planning has failed for this long, the safeguards act without it.
    pub stale: Seconds,
    /// An overrun is first taken to last this long.
    pub overrun: Seconds,
}

impl Settings {
    /// The waits on the controller's clock.
    #[must_use]
    pub fn patience(&self) -> Patience {
        let pace = Pace::default();
        let real = |seconds: i64| self.clock.span(Seconds(seconds));
        Patience {
            pace: Pace {
                at_once: pace.at_once,
                grace: self.clock.span(pace.grace),
                reserve_within: self.clock.span(pace.reserve_within),
            },
            handover: real(10),
            missed: real(10),
            disputed: real(30),
            age: real(600),
            stale: real(30),
            overrun: real(15),
        }
    }
}
