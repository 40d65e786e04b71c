//! What is counted, in the text format that Prometheus reads. Labels are closed sets: no name of a user's object among them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::adherence::Kept;

/// One label from a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Of {
    pub name: &'static str,
    pub value: &'static str,
}

impl EncodeLabelSet for Of {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabel::encode(&(self.name, self.value), encoder.encode_label())
    }
}

/// What the controller counts.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    /// Unix time, on the controller's clock, of the oldest plan that is followed.
    pub plan_made: Gauge,
    /// Seconds since then.
    pub plan_age: Gauge,
    pub solve_seconds: Histogram,
    /// The greatest gap among the plans, in millionths; -1 where none is known.
    pub gap_millionths: Gauge,
    pub plans: Family<Of, Counter>,
    pub gates_held: Gauge,
    pub late: Gauge,
    pub at_risk: Gauge,
    pub evicted_often: Gauge,
    pub releases: Family<Of, Counter>,
    /// Seconds from a planned start to the reservation of its quota.
    pub start_delay: Histogram,
    pub breaches: Family<Of, Counter>,
    pub writes: Family<Of, Counter>,
    pub watch_errors: Family<Of, Counter>,
    pub rows: Gauge,
    pub leader: Gauge,
    /// Work in tenants' namespaces that has no stamp.
    pub unstamped: Family<Of, Gauge>,
    pub stamped_late: Counter,
    /// By how many percent runs differ from their declared p50.
    pub runtime_error: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("stagger_controller");
        let seconds = || Histogram::new([0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0]);
        let percents = || Histogram::new([1.0, 5.0, 10.0, 25.0, 50.0, 100.0, 200.0, 500.0]);
        let metrics = Self {
            plan_made: Gauge::default(),
            plan_age: Gauge::default(),
            solve_seconds: seconds(),
            gap_millionths: Gauge::default(),
            plans: Family::default(),
            gates_held: Gauge::default(),
            late: Gauge::default(),
            at_risk: Gauge::default(),
            evicted_often: Gauge::default(),
            releases: Family::default(),
            start_delay: seconds(),
            breaches: Family::default(),
            writes: Family::default(),
            watch_errors: Family::default(),
            rows: Gauge::default(),
            leader: Gauge::default(),
            unstamped: Family::default(),
            stamped_late: Counter::default(),
            runtime_error: percents(),
            registry: Mutex::new(Registry::default()),
        };
        let m = &metrics;
        registry.register("plan_made_timestamp_seconds", "When the oldest plan in use was made", m.plan_made.clone());
        registry.register("plan_age_seconds", "Age of the oldest plan in use", m.plan_age.clone());
        registry.register("solve_seconds", "Time a plan took", m.solve_seconds.clone());
        registry.register(
            "plan_gap_millionths",
            "Greatest gap to a proven bound, -1: unknown",
            m.gap_millionths.clone(),
        );
        registry.register("plans", "Plans made, by the first cause", m.plans.clone());
        registry.register("gates_held", "Pieces of work that our gate holds", m.gates_held.clone());
        registry.register("late", "Planned work that ends late", m.late.clone());
        registry.register("at_risk", "Planned work that may end late", m.at_risk.clone());
        registry.register("evicted_often", "Work that is evicted again and again", m.evicted_often.clone());
        registry.register("releases", "Pieces of work let go, by cause", m.releases.clone());
        registry.register("start_delay_seconds", "From planned start to reserved quota", m.start_delay.clone());
        registry.register("adherence_breaches", "Planned starts not kept, by cause", m.breaches.clone());
        registry.register("writes", "Writes to the API server, by how they ended", m.writes.clone());
        registry.register("watch_errors", "Errors of watches, by kind", m.watch_errors.clone());
        registry.register("rows", "Objects known", m.rows.clone());
        registry.register("leader", "Whether this process leads", m.leader.clone());
        registry.register("unstamped", "Work of tenants without a stamp, by resource", m.unstamped.clone());
        registry.register("stamped_late", "Stamps written after the creation", m.stamped_late.clone());
        registry.register("runtime_error_percent", "Declared against observed p50 runtimes", m.runtime_error.clone());
        Self { registry: Mutex::new(registry), ..metrics }
    }
}

impl Metrics {
    /// The page.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing into a text cannot fail.
        let _written = encode(&mut page, &registry);
        page
    }

    /// Counts one of a family.
    pub fn count(&self, family: &Family<Of, Counter>, name: &'static str, value: &'static str) {
        family.get_or_create(&Of { name, value }).inc();
    }

    /// Notes how long a plan took.
    pub fn solved(&self, millis: u64) {
        self.solve_seconds.observe(Duration::from_millis(millis).as_secs_f64());
    }

    /// Notes a start against its plan.
    pub fn kept(&self, kept: Kept) {
        let seconds = u64::try_from(kept.late.0).unwrap_or(0);
        self.start_delay.observe(Duration::from_secs(seconds).as_secs_f64());
        if let Some(breach) = kept.breach {
            self.count(&self.breaches, "cause", breach.word());
        }
    }

    /// Notes by how many percent a run differed from its declared p50.
    pub fn differs(&self, percent: u32) {
        self.runtime_error.observe(percent.into());
    }
}
