//! The controller: the plan, honoured by a real Kueue.
//!
//! `plan_loop` is the way in: the watches (`watch`, `kinds`, `project`, `rows`, `alike`, `packed`, `once`) fill compact rows; each
//! turn puts them together with the same `kueue::assemble` as the command line, asks `scope` whether there must be a new plan
//! and why (`changes`; which queues it is for: `extent`, `overlap`), has it made beside the loop (`planning`, and when at the earliest: `rest`), decides (`turn`, with `kueue::release`) and writes
//! (`acts`, `stored`, `events`). While no row changes, `quiet` says until when all of that would come to nothing.
//! `stamps` and `acknowledged` go on beside it. `slo_status` and `plan_status` are what people are told.
//! `watchdog` is a process of its own that lets work go when nobody leads.
//!
//! Deliberately absent: state that only lives here. Whatever is lost with the process is in the stored plan, on the
//! objects, or seen again.

pub mod acknowledged;
pub mod acts;
pub mod adherence;
mod alike;
pub mod changes;
pub mod configuration;
pub mod events;
pub mod evicted;
pub mod extent;
pub mod gates;
pub mod kinds;
pub mod learnt;
pub mod metrics;
mod once;
pub mod overlap;
mod packed;
pub mod plan_loop;
pub mod plan_status;
pub mod planning;
pub mod probes;
pub mod project;
pub mod quiet;
pub mod reservations;
pub mod rest;
pub mod rows;
pub mod scope;
pub mod settings;
pub mod slo_status;
pub mod stamps;
pub mod stored;
pub mod survey;
pub mod sweep;
pub mod tenants;
pub mod turn;
pub mod watch;
pub mod watchdog;
