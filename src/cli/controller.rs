//! `stagger controller`: plans what waits in the cluster and lets it go when its start has come.
//!
//! Several may run; who holds the lease acts. `--release-all` is the way out: it lets everything go and ends.

use std::net::SocketAddr;
use std::sync::Arc;

use chrono_tz::Tz;
use clap::Args;
use clap::builder::FalseyValueParser;
use tokio::net::TcpListener;

use super::args::{KUEUE_CONFIG, pair};
use super::exit::{Exit, Failed};
use super::load::read_yaml;
use super::process::{self, ProcessArgs};
use super::reach::{self, ReachArgs};
use super::shell::Shell;
use crate::calendar;
use crate::clock;
use crate::cluster::lease::{Candidate, Leadership, Place, Timing, stand};
use crate::cluster::{Cluster, ClusterError};
use crate::controller::acknowledged::Acknowledged;
use crate::controller::acknowledged::told::Webhook;
use crate::controller::plan_loop::Loop;
use crate::controller::probes::{self, Health};
use crate::controller::rows::Rows;
use crate::controller::settings::Settings;
use crate::controller::stamps::Stamps;
use crate::controller::watch::{Watching, watch};
use crate::controller::watchdog;
use crate::units::Seconds;

/// The lease that all controllers of a cluster stand for, in our namespace.
pub(super) const LEASE: &str = "stagger-controller";

/// Plan what waits in a cluster and let it go when its start has come
///
/// Watches Kueue's queues and what waits in them, plans by the CapacityPlans there are, writes status and planned starts,
/// and takes the gate off work that is due. Modes Observe and Recommend hold nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger controller
  # Before uninstalling: let everything go that is held
  stagger controller --release-all")]
pub(super) struct ControllerArgs {
    /// Let everything go that our gate holds, and end
    #[arg(long, env = "STAGGER_RELEASE_ALL", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    release_all: bool,
    /// Where to answer probes and give metrics
    #[arg(long, env = "STAGGER_METRICS_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    metrics_listen: SocketAddr,
    /// The namespace of the lease and of the stored plans
    #[arg(long, env = "STAGGER_NAMESPACE", default_value = crate::admission::policy::NAMESPACE)]
    namespace: String,
    /// Where Kueue's configuration is: NAMESPACE/CONFIGMAP
    #[arg(long, env = "STAGGER_KUEUE_CONFIG", value_name = "NAMESPACE/NAME", default_value = KUEUE_CONFIG, value_parser = pair)]
    kueue_config: (String, String),
    /// IANA zone in which times are written
    #[arg(long, env = "STAGGER_TIME_ZONE", value_name = "ZONE", default_value = "UTC", value_parser = calendar::zone)]
    time_zone: Tz,
    /// How far to look ahead where no CapacityPlan says
    #[arg(long, env = "STAGGER_HORIZON", value_name = "DURATION", default_value = "24h", value_parser = calendar::parse_duration)]
    horizon: Seconds,
    /// How long one plan may be searched for at most, in milliseconds
    #[arg(long, env = "STAGGER_TIME_LIMIT_MS", value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(50..=60_000))]
    time_limit: u64,
    /// How long work that nothing was promised for may be held while there is no plan for it
    #[arg(long, env = "STAGGER_HOLD_MAX", value_name = "DURATION", default_value = "30m", value_parser = calendar::parse_duration)]
    hold_max: Seconds,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    process: ProcessArgs,
}

pub(super) fn run(args: &ControllerArgs, shell: &Shell) -> Result<Exit, Failed> {
    args.process.begin_log()?;
    process::runtime()?.block_on(async {
        let cluster = reach::connect(&args.reach).await?;
        if args.release_all { release_all(&cluster, shell).await } else { control(args, cluster).await }
    })
}

async fn control(args: &ControllerArgs, cluster: Cluster) -> Result<Exit, Failed> {
    let ends = process::ending()?;
    let health = Arc::new(Health::default());
    let listener = TcpListener::bind(args.metrics_listen).await;
    let listener =
        listener.map_err(|error| Failed::usage(format!("failed to listen at {}: {error}", args.metrics_listen)))?;
    tokio::spawn(probes::serve(listener, Arc::clone(&health)));
    let settings = Settings {
        clock: args.process.clock(),
        zone: args.time_zone,
        namespace: args.namespace.clone(),
        kueue: args.kueue_config.clone(),
        time_limit_millis: args.time_limit,
        horizon: args.horizon,
        hold_max: args.hold_max,
        read_yaml,
    };
    tracing::info!(server = cluster.server, version = env!("CARGO_PKG_VERSION"), "begins");
    let rows = Rows::default();
    let counted = Arc::clone(&health);
    let watching = Watching {
        client: cluster.client.clone(),
        rows: rows.clone(),
        clock: settings.clock,
        on_error: Arc::new(move |resource, error: &ClusterError| {
            counted.metrics.count(&counted.metrics.watch_errors, "kind", error.kind.label());
            tracing::warn!(resource, %error, "a watch failed; it goes on");
        }),
    };
    let watches = tokio::spawn(watch(watching));
    let (leadership, lease) = lead(args, &cluster, ends.clone());
    let stamps = Stamps {
        cluster: cluster.clone(),
        rows: rows.clone(),
        clock: settings.clock,
        leadership: leadership.clone(),
        health: Arc::clone(&health),
    };
    let stamps = tokio::spawn(stamps.keep());
    let (tell, webhook) = tokio::sync::watch::channel(Webhook::default());
    let acknowledged = Acknowledged {
        cluster: cluster.clone(),
        rows: rows.clone(),
        leadership: leadership.clone(),
        namespace: args.namespace.clone(),
        tell,
    };
    let acknowledged = tokio::spawn(acknowledged.keep());
    Loop::new(cluster, rows, settings, leadership, health, webhook).run(ends).await;
    watches.abort();
    stamps.abort();
    acknowledged.abort();
    // The lease is handed back, so that the next leader need not wait.
    let _handed_back = lease.await;
    Ok(Exit::Fine)
}

fn lead(
    args: &ControllerArgs,
    cluster: &Cluster,
    mut ends: tokio::sync::watch::Receiver<bool>,
) -> (Leadership, tokio::task::JoinHandle<()>) {
    let place = Place { namespace: args.namespace.clone(), name: LEASE.to_owned() };
    let timing = Timing::default();
    let until = async move {
        let _told = ends.wait_for(|ends| *ends).await;
    };
    let tell = |error: &ClusterError| tracing::warn!(%error, "the lease could not be held or asked for");
    stand(cluster.client.clone(), &place, Candidate::new(identity(), timing), timing, until, tell)
}

/// Of this process alone: a pod that starts again is another candidate.
fn identity() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = if name.trim().is_empty() { "stagger" } else { name.trim() };
    format!("{name}_{}_{}", std::process::id(), clock::now_micros())
}

async fn release_all(cluster: &Cluster, shell: &Shell) -> Result<Exit, Failed> {
    let (done, stuck, failed) = watchdog::release_all(cluster).await;
    shell.talk(&format!("let go: {done}"));
    for (order, error) in &stuck {
        shell.error(&format!("{} is still held: {error}", order.key));
    }
    for error in &failed {
        shell.error(&error.message);
    }
    match failed.first().or(stuck.first().map(|(_, error)| error)) {
        None => Ok(Exit::Fine),
        Some(error) => Err(reach::refused(error)),
    }
}
