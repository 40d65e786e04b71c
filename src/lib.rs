//! stagger: plan when GPU work starts, through Kueue, before asking for more GPUs.
#![forbid(unsafe_code)]

pub mod admission;
pub mod api;
pub mod calendar;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod controller;
pub mod doctor;
pub mod failure;
pub mod kueue;
pub mod ledger;
pub mod names;
pub mod outcome;
pub mod plan;
pub mod ratio;
pub mod replay;
pub mod report;
pub mod scenario;
pub mod units;
