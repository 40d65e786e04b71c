//! Which CapacityPlans a replica of the webhook knows, as it tells who asks: UIDs and generations, no names.
//!
//! Whoever reads it does not trust it: it comes over plain HTTP, from whatever listens at that address.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::world::World;

/// Where it is told, on the port of probes and metrics.
pub const KNOWN_PATH: &str = "/plans";
/// Of what is read. A plan takes some fifty bytes.
pub const KNOWN_BYTES_MAX: usize = 256 * 1024;
/// Raised when a field changes its meaning; a reader of another version knows nothing.
const VERSION: u32 = 1;

/// What one replica knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    version: u32,
    /// The generation of each CapacityPlan, by its UID.
    capacity_plans: BTreeMap<String, i64>,
}

impl Known {
    #[must_use]
    pub fn of(world: &World) -> Self {
        Self { version: VERSION, capacity_plans: world.queues.generations.clone() }
    }

    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// `None`: that is not what a replica says.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        let known: Self = serde_json::from_slice(text).ok()?;
        (known.version == VERSION && text.len() <= KNOWN_BYTES_MAX).then_some(known)
    }

    /// The generation that it knows of a plan.
    #[must_use]
    pub fn generation(&self, uid: &str) -> Option<i64> {
        self.capacity_plans.get(uid).copied()
    }
}
