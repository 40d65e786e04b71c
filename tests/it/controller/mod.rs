//! The controller without a cluster: its decisions on a Kueue of a few lines that admits what fits, first come, first served.

mod acknowledged;
mod beside;
mod changes;
mod day;
mod fake;
mod flavors;
mod inactive;
mod learnt;
mod lent;
mod observed;
mod overdue;
mod overlap;
mod plan_status;
mod quiet;
mod released;
mod rest;
mod rows;
mod skew;
mod stamps;
mod status;
mod stored;
mod tenants;
