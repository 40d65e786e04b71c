//! What outcomes have cost: charges and verdicts added up, group by group (docs/accounting.md §1, §5).
//!
//! Laws: the groups of any breakdown and what stands apart add up to the total, to the last unit; every unit of cost
//! has one cause; nothing verified is undefined with a reason, never 0 and never infinite.
//! Deliberately absent: the ledger and the cluster. A report is a function of its three arguments.

pub mod cause;
pub mod csv;
pub mod document;
pub mod group;
pub mod html;
pub mod intake;
pub mod measured;
pub mod reconcile;
pub mod runtimes;
pub mod summarize;
pub mod text;
pub mod unit_cost;

use crate::failure::Finding;
use crate::ledger::run::Window;
use crate::outcome::settle::Outcome;
use crate::units::Money;

pub use group::{Counts, Delivered, Dimension, Group, Key};
pub use intake::Intake;
pub use reconcile::Reconciliation;
pub use runtimes::ClassRuntime;
pub use summarize::{Request, summarize};
pub use unit_cost::{Undefined, cost_per_verified_outcome};

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub window: Window,
    pub currency: String,
    /// The latest instant at which a price in use came into force.
    pub prices_from: Option<crate::units::Timestamp>,
    pub by: Vec<Dimension>,
    /// Everything that some tenant bears.
    pub total: Group,
    /// Cost per verified outcome with everything that stands apart in the numerator too.
    pub fully_loaded: Result<Money, Undefined>,
    /// One per combination of keys, in their order; absent keys first.
    pub groups: Vec<Group>,
    pub reconciliation: Reconciliation,
    /// How long attempts that succeeded took, by class.
    pub runtimes: Vec<ClassRuntime>,
    /// Every outcome with its verdict.
    pub outcomes: Vec<Outcome>,
    /// Outcomes that were completed outside the window and are not counted.
    pub outside_window: u64,
    pub findings: Vec<Finding>,
}
