//! Counters and one histogram, in Prometheus' text format. Labels are closed sets: no name of a user's object among them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::admission::Outcome;
use crate::units::Timestamp;

/// Upper bounds in microseconds, and as seconds in text. An answer should lie in the first few.
const BUCKETS: [(u64, &str); 8] = [
    (50, "0.00005"),
    (100, "0.0001"),
    (250, "0.00025"),
    (1_000, "0.001"),
    (5_000, "0.005"),
    (25_000, "0.025"),
    (100_000, "0.1"),
    (1_000_000, "1"),
];

/// What is counted.
#[derive(Debug, Default)]
pub struct Metrics {
    outcomes: [AtomicU64; Outcome::ALL.len()],
    /// Per bucket, the last for everything longer.
    durations: [AtomicU64; BUCKETS.len() + 1],
    micros: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    /// By resource, of which there are as many as kinds are watched.
    watch_errors: Mutex<BTreeMap<String, u64>>,
}

impl Metrics {
    /// Counts an answer and the time from its first byte to the decision.
    pub fn count(&self, outcome: Outcome, took: Duration) {
        if let Some(at) = Outcome::ALL.iter().position(|known| *known == outcome) {
            self.outcomes[at].fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|(bound, _)| micros <= *bound).unwrap_or(BUCKETS.len());
        self.durations[bucket].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Counts a reading of changed certificates.
    pub fn count_reload(&self, worked: bool) {
        let counter = if worked { &self.reloads } else { &self.failed_reloads };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an error of a watch, which is tried again.
    pub fn count_watch_error(&self, resource: &str) {
        let mut errors = self.watch_errors.lock().unwrap_or_else(PoisonError::into_inner);
        *errors.entry(resource.to_owned()).or_default() += 1;
    }

    /// The page. `ends`: when certificates end, by their kind, where that is known.
    #[must_use]
    pub fn page(&self, ends: &[(&str, Option<Timestamp>)]) -> String {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut page = head("stagger_admission_decisions_total", "counter", "Admission requests answered, by outcome.");
        for (outcome, counter) in Outcome::ALL.iter().zip(&self.outcomes) {
            page += &format!("stagger_admission_decisions_total{{outcome=\"{}\"}} {}\n", outcome.label(), get(counter));
        }
        page += &head("stagger_admission_seconds", "histogram", "Time from a request's first byte to its decision.");
        let mut sum = 0;
        let bounds = BUCKETS.iter().map(|(_, text)| *text).chain(["+Inf"]);
        for (bound, counter) in bounds.zip(&self.durations) {
            sum += get(counter);
            page += &format!("stagger_admission_seconds_bucket{{le=\"{bound}\"}} {sum}\n");
        }
        let micros = get(&self.micros);
        page += &format!("stagger_admission_seconds_sum {}.{:06}\n", micros / 1_000_000, micros % 1_000_000);
        page += &format!("stagger_admission_seconds_count {sum}\n");
        page += &head("stagger_webhook_cert_reload_total", "counter", "Readings of changed certificates, by result.");
        page += &format!("stagger_webhook_cert_reload_total{{result=\"ok\"}} {}\n", get(&self.reloads));
        page += &format!("stagger_webhook_cert_reload_total{{result=\"failed\"}} {}\n", get(&self.failed_reloads));
        page += &head("stagger_watch_errors_total", "counter", "Errors of watches, each tried again, by resource.");
        for (resource, count) in &*self.watch_errors.lock().unwrap_or_else(PoisonError::into_inner) {
            page += &format!("stagger_watch_errors_total{{resource=\"{resource}\"}} {count}\n");
        }
        page += &head("stagger_webhook_cert_not_after_seconds", "gauge", "End of certificates, Unix time, by kind.");
        for (kind, end) in ends {
            if let Some(end) = end {
                page += &format!("stagger_webhook_cert_not_after_seconds{{kind=\"{kind}\"}} {}\n", end.0);
            }
        }
        page
    }
}

fn head(name: &str, kind: &str, help: &str) -> String {
    format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")
}
