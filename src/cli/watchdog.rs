//! `stagger watchdog`: lets work go by its planned start while no controller leads.

use std::time::Duration;

use clap::Args;

use super::controller::LEASE;
use super::exit::{Exit, Failed};
use super::process::{self, ProcessArgs};
use super::reach::{self, ReachArgs};
use crate::calendar;
use crate::cluster::lease::Place;
use crate::controller::watchdog::{self, Nerves};
use crate::units::Seconds;

/// Let work go by its planned start while no controller leads
///
/// Does nothing while the controller's lease is renewed. Run it apart from the controller, so that what ends one does not
/// end the other.
#[derive(Debug, Args)]
pub(super) struct WatchdogArgs {
    /// Act after so long without a renewal of the lease
    #[arg(long, env = "STAGGER_STALE_AFTER", value_name = "DURATION", default_value = "45s", value_parser = calendar::parse_duration)]
    stale_after: Seconds,
    /// Let everything go, whatever its planned start, after so long
    #[arg(long, env = "STAGGER_ALL_AFTER", value_name = "DURATION", default_value = "6h", value_parser = calendar::parse_duration)]
    all_after: Seconds,
    /// The namespace of the lease
    #[arg(long, env = "STAGGER_NAMESPACE", default_value = crate::admission::policy::NAMESPACE)]
    namespace: String,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    process: ProcessArgs,
}

pub(super) fn run(args: &WatchdogArgs) -> Result<Exit, Failed> {
    args.process.begin_log()?;
    process::runtime()?.block_on(async {
        let cluster = reach::connect(&args.reach).await?;
        let span = |span: Seconds| Duration::from_secs(u64::try_from(span.0).unwrap_or(0));
        let nerves = Nerves { stale: span(args.stale_after), all: span(args.all_after), ..Nerves::default() };
        let place = Place { namespace: args.namespace.clone(), name: LEASE.to_owned() };
        tracing::info!(server = cluster.server, version = env!("CARGO_PKG_VERSION"), "watches");
        watchdog::run(cluster, place, args.process.clock(), nerves, process::ending()?).await;
        Ok(Exit::Fine)
    })
}
