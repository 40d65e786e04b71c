//! The time grid of a search: equal slots from now on.
//!
//! Plans are searched on a *conservative* grid (releases up, due times down, runtimes up), so that whatever fits there
//! fits in real time; bounds are taken on an *optimistic* one (releases down, due times up, runtimes down), so that
//! every real plan exists there too. When the slot divides every number of the input, both are the same and exact.
//! No start that a person sees comes from the grid: `exact` shifts every start left to the second.

use crate::plan::snapshot::{Policy, Snapshot};
use crate::units::{Seconds, Timestamp, div_ceil, gcd};

/// Slots per search at most: beyond it a slot grows. Chosen so that a week of quarter hours fits thrice.
const SLOTS_MAX: i64 = 2_016;

/// How instants between two slots are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    Conservative,
    Optimistic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub origin: Timestamp,
    pub slot: Seconds,
    pub slots: usize,
    /// Whether every time of the input is a whole number of slots from the origin.
    pub exact: bool,
}

/// Slot lengths a search may use, so that plans of similar inputs resemble each other.
const SLOT_CHOICES: [i64; 15] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];

impl Grid {
    /// The grid for a snapshot: the greatest common divisor of all its times if that gives few enough slots,
    /// otherwise the finest of a list of round lengths that does.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let now = snapshot.now;
        let mut divisor = 0_i64;
        let mut last = snapshot.horizon_end;
        let mut consider = |span: Seconds| divisor = gcd(divisor, span.0.abs());
        for workload in &snapshot.workloads {
            consider(workload.earliest_start.max(now) - now);
            for option in &workload.options {
                consider(option.held(policy.promise));
                // Completion is counted from p50 ends and verdicts from both; only the held time binds capacity.
            }
            if let Some(due) = &workload.due {
                consider(due.at - now);
                for tier in &due.tiers {
                    consider(due.at + tier.after - now);
                }
                last = last.max(due.at);
            }
        }
        for running in &snapshot.running {
            consider(running.held_until(policy.promise, now, snapshot.horizon_end) - now);
        }
        for window in &snapshot.windows {
            for edge in [window.start, window.end] {
                if edge > now && edge < snapshot.horizon_end {
                    consider(edge - now);
                }
            }
        }
        // Due times far past the horizon do not stretch the grid for everybody; such work has time enough.
        let reach = (snapshot.horizon_end - now).0.max(1);
        let span = (last - now).0.clamp(reach, reach.saturating_mul(2));
        let divisor = if divisor == 0 { span } else { divisor };
        let exact_slots = div_ceil(span, divisor);
        let (slot, exact) = if exact_slots <= SLOTS_MAX {
            (divisor, true)
        } else {
            let fitting = SLOT_CHOICES.into_iter().find(|slot| div_ceil(span, *slot) <= Self::slots_wanted(snapshot));
            (fitting.unwrap_or_else(|| div_ceil(span, SLOTS_MAX)), false)
        };
        let slots = usize::try_from(div_ceil(span, slot)).unwrap_or(1).max(1);
        Self { origin: now, slot: Seconds(slot), slots, exact }
    }

    /// Finer for few workloads, where seconds matter more than search speed.
    fn slots_wanted(snapshot: &Snapshot) -> i64 {
        match snapshot.workloads.len() {
            0..=200 => SLOTS_MAX,
            201..=1_000 => 1_440,
            _ => 1_344,
        }
    }

    /// The slot of an instant, towards the past.
    #[must_use]
    pub fn floor(&self, at: Timestamp) -> i64 {
        (at - self.origin).0.div_euclid(self.slot.0)
    }

    /// The slot of an instant, towards the future.
    #[must_use]
    pub fn ceil(&self, at: Timestamp) -> i64 {
        div_ceil((at - self.origin).0, self.slot.0)
    }

    /// Slots that a duration takes.
    #[must_use]
    pub fn length(&self, span: Seconds, rounding: Rounding) -> i64 {
        match rounding {
            Rounding::Conservative => div_ceil(span.0, self.slot.0),
            Rounding::Optimistic => span.0.div_euclid(self.slot.0),
        }
    }

    /// The instant at which a slot begins.
    #[must_use]
    pub fn instant(&self, slot: i64) -> Timestamp {
        self.origin + Seconds(slot * self.slot.0)
    }
}
