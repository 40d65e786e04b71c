//! Work, said in words: jobs to be planned and work that already runs.

use stagger::plan::snapshot::{DeadlinePolicy, Due, Interruption, Runtime, Tier};
use stagger::units::{Seconds, Timestamp};

use super::{GPU, at, hours};

/// A job of one GPU for one hour, created now, worth 1, with an SLO and no due time.
pub fn a_job(name: &str) -> Job {
    Job {
        name: name.to_owned(),
        queue: None,
        flavors: Vec::new(),
        asks: vec![(GPU.to_owned(), 1)],
        runtime: known(hours(1), hours(1)),
        runtimes_on: Vec::new(),
        due: None,
        value: 1,
        priority: 0,
        created: None,
        not_before: None,
        interruption: Interruption::None,
        tenant: None,
        class: None,
        has_slo: true,
    }
}

fn known(p50: Seconds, p90: Seconds) -> Runtime {
    Runtime { p50, p90, known: true }
}

#[derive(Debug, Clone)]
pub struct Job {
    pub(super) name: String,
    pub(super) queue: Option<String>,
    pub(super) flavors: Vec<String>,
    pub(super) asks: Vec<(String, i64)>,
    pub(super) runtime: Runtime,
    pub(super) runtimes_on: Vec<(String, Runtime)>,
    pub(super) due: Option<Due>,
    pub(super) value: i64,
    pub(super) priority: i32,
    pub(super) created: Option<Timestamp>,
    pub(super) not_before: Option<Timestamp>,
    pub(super) interruption: Interruption,
    pub(super) tenant: Option<String>,
    pub(super) class: Option<String>,
    pub(super) has_slo: bool,
}

impl Job {
    pub fn queue(mut self, name: &str) -> Self {
        self.queue = Some(name.to_owned());
        self
    }
    /// Only this flavor (of its resource group); say it again for more.
    pub fn on(mut self, flavor: &str) -> Self {
        self.flavors.push(flavor.to_owned());
        self
    }
    /// In total, over all pods; 0 asks for none.
    pub fn gpus(self, count: i64) -> Self {
        self.asks(GPU, count)
    }
    pub fn asks(mut self, resource: &str, amount: i64) -> Self {
        self.asks.retain(|(name, _)| name != resource);
        if amount > 0 {
            self.asks.push((resource.to_owned(), amount));
        }
        self
    }
    pub fn runs(mut self, exactly: Seconds) -> Self {
        self.runtime = known(exactly, exactly);
        self
    }
    pub fn runs_p50_p90(mut self, p50: Seconds, p90: Seconds) -> Self {
        self.runtime = known(p50, p90);
        self
    }
    pub fn runs_on(mut self, flavor: &str, exactly: Seconds) -> Self {
        self.runtimes_on.push((flavor.to_owned(), known(exactly, exactly)));
        self
    }
    /// Nobody knows how long; `assumed` stands in.
    pub fn runs_for_unknown_time(mut self, assumed: Seconds) -> Self {
        self.runtime = Runtime { p50: assumed, p90: assumed, known: false };
        self
    }
    /// A hard deadline.
    pub fn due(self, text: &str) -> Self {
        self.due_as(text, DeadlinePolicy::Hard)
    }
    pub fn due_softly(self, text: &str) -> Self {
        self.due_as(text, DeadlinePolicy::Soft)
    }
    pub fn due_for_information(self, text: &str) -> Self {
        self.due_as(text, DeadlinePolicy::BestEffort)
    }
    fn due_as(mut self, text: &str, policy: DeadlinePolicy) -> Self {
        self.due = Some(Due { at: at(text), policy, tiers: Vec::new() });
        self
    }
    /// After `due…`: from this long past it, an end is worth so much.
    pub fn then_worth(mut self, after: Seconds, value_percent: u8) -> Self {
        self.due.as_mut().expect("a tier must follow a due time").tiers.push(Tier { after, value_percent });
        self
    }
    pub fn worth(mut self, value: i64) -> Self {
        self.value = value;
        self
    }
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
    /// Created, and hence queued, at that time (in the future: an arrival).
    pub fn created(mut self, text: &str) -> Self {
        self.created = Some(at(text));
        self
    }
    pub fn not_before(mut self, text: &str) -> Self {
        self.not_before = Some(at(text));
        self
    }
    pub fn restartable(mut self, cost: Seconds) -> Self {
        self.interruption = Interruption::Restartable { cost, max: u32::MAX };
        self
    }
    pub fn checkpointable(mut self, interval: Seconds, cost: Seconds) -> Self {
        self.interruption = Interruption::Checkpointable { interval, cost, max: u32::MAX };
        self
    }
    /// After `restartable` or `checkpointable`.
    pub fn at_most_interrupted(mut self, times: u32) -> Self {
        match &mut self.interruption {
            Interruption::Restartable { max, .. } | Interruption::Checkpointable { max, .. } => *max = times,
            Interruption::None => panic!("the job tolerates no interruption"),
        }
        self
    }
    pub fn tenant(mut self, name: &str) -> Self {
        self.tenant = Some(name.to_owned());
        self
    }
    pub fn class(mut self, name: &str) -> Self {
        self.class = Some(name.to_owned());
        self
    }
    pub fn without_slo(mut self) -> Self {
        self.has_slo = false;
        self
    }
}

/// One GPU of the first queue's first flavor, held since now, for nobody knows how long.
pub fn a_running(name: &str) -> Holder {
    Holder {
        name: name.to_owned(),
        queue: None,
        flavor: None,
        gpus: 1,
        priority: 0,
        start: None,
        end_p50: None,
        end_p90: None,
    }
}

#[derive(Debug, Clone)]
pub struct Holder {
    pub(super) name: String,
    pub(super) queue: Option<String>,
    pub(super) flavor: Option<String>,
    pub(super) gpus: i64,
    pub(super) priority: i32,
    pub(super) start: Option<Timestamp>,
    pub(super) end_p50: Option<Timestamp>,
    pub(super) end_p90: Option<Timestamp>,
}

impl Holder {
    pub fn queue(mut self, name: &str) -> Self {
        self.queue = Some(name.to_owned());
        self
    }
    pub fn on(mut self, flavor: &str) -> Self {
        self.flavor = Some(flavor.to_owned());
        self
    }
    pub fn gpus(mut self, count: i64) -> Self {
        self.gpus = count;
        self
    }
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
    pub fn since(mut self, text: &str) -> Self {
        self.start = Some(at(text));
        self
    }
    pub fn until(mut self, text: &str) -> Self {
        self.end_p50 = Some(at(text));
        self.end_p90 = Some(at(text));
        self
    }
    pub fn until_p50_p90(mut self, p50: &str, p90: &str) -> Self {
        self.end_p50 = Some(at(p50));
        self.end_p90 = Some(at(p90));
        self
    }
}
