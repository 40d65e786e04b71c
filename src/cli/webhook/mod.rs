//! `stagger webhook`: the admission webhook as a process.
//!
//! What it knows comes from watches (`live`) or from files (`files`); its certificate from the cluster or from files. It
//! ends with SIGTERM or Ctrl-C: first not ready, then no new connections, then no more answers.

mod files;
mod live;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::exit::{Exit, Failed};
use super::process::LogArgs;
use super::reach::ReachArgs;
use crate::admission::policy::{NAMESPACE, SERVICE};
use crate::admission::server::{Phase, Webhook, serve, serve_probes};
use crate::admission::tls::issue;
use crate::admission::tls::{Served, TlsError};
use crate::admission::{Mode, Told};
use crate::clock;

/// Serve the admission webhook that stamps tenants and gates work
///
/// Answers AdmissionReviews over HTTPS at /admit, and over HTTP /healthz, /readyz, /metrics and, for the controller, /plans:
/// which CapacityPlans it knows. It watches the cluster it runs in, or reads objects from files. Without a certificate of
/// yours it keeps one in the cluster: the leader of all replicas writes it, and the caBundle of stagger's webhook
/// configurations.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # In a pod, or with a kubeconfig:
  stagger webhook --mode protect
  # Without a cluster:
  stagger webhook --cert tls.crt --key tls.key --ca ca.crt --objects cluster/
  stagger webhook --self-signed certificates/ --objects cluster/ --mode protect")]
pub(in crate::cli) struct WebhookArgs {
    /// Where to answer reviews
    #[arg(long, env = "STAGGER_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8443")]
    listen: SocketAddr,
    /// Where to answer probes and give metrics
    #[arg(long, env = "STAGGER_METRICS_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    metrics_listen: SocketAddr,
    /// Files or folders with what is known of the cluster, instead of watching it: Namespaces, GpuTenants, CapacityPlans,
    /// Kueue's queues
    #[arg(long, env = "STAGGER_OBJECTS", value_name = "PATH", num_args = 1.., value_delimiter = ',', value_hint = clap::ValueHint::AnyPath)]
    objects: Vec<PathBuf>,
    /// How strict it is about stamps
    #[arg(long, env = "STAGGER_MODE", default_value = "observe")]
    mode: ModeArg,
    /// Certificate chain, as PEM
    #[arg(long, env = "STAGGER_CERT", value_name = "FILE", requires = "key", help_heading = "TLS")]
    cert: Option<PathBuf>,
    /// Private key, as PEM
    #[arg(long, env = "STAGGER_KEY", value_name = "FILE", requires = "cert", help_heading = "TLS")]
    key: Option<PathBuf>,
    /// The bundle that the API server is told to trust; ready only while it accepts the certificate
    #[arg(long, env = "STAGGER_CA", value_name = "FILE", help_heading = "TLS")]
    ca: Option<PathBuf>,
    /// Make an authority and a certificate in this folder, unless they are there and hold; ca.crt is the bundle
    #[arg(long, env = "STAGGER_SELF_SIGNED", value_name = "FOLDER", conflicts_with_all = ["cert", "ca"], help_heading = "TLS")]
    self_signed: Option<PathBuf>,
    /// The name of the Service by which the API server calls
    #[arg(long, env = "STAGGER_SERVICE", default_value = SERVICE, help_heading = "TLS")]
    service: String,
    /// The namespace of the Service
    #[arg(long, env = "STAGGER_SERVICE_NAMESPACE", default_value = NAMESPACE, help_heading = "TLS")]
    service_namespace: String,
    /// How long to answer on after a signal to end, in seconds: endpoints are removed later than the signal comes
    #[arg(long, env = "STAGGER_LEAVE", value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=300))]
    leave: u64,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeArg {
    Observe,
    Protect,
    Enforce,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Observe => Self::Observe,
            ModeArg::Protect => Self::Protect,
            ModeArg::Enforce => Self::Enforce,
        }
    }
}

pub(super) fn run(args: &WebhookArgs) -> Result<Exit, Failed> {
    args.log.begin()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::usage(format!("failed to start the runtime: {error}")))?;
    runtime.block_on(async {
        if args.objects.is_empty() { Box::pin(live::process(args)).await } else { process(args).await }
    })
}

/// The process that knows from files.
async fn process(args: &WebhookArgs) -> Result<Exit, Failed> {
    // 1. Who we are, and what we know.
    let names = issue::names(&args.service, &args.service_namespace);
    let files = files::files(args, &names)?;
    let mut read = files::pem(&files)?;
    let webhook = Webhook::new(Served::new(files::identity(&read)?), &names[0], clock::now);
    if let Some(bundle) = &read.2 {
        webhook.publish(bundle.clone());
    }
    let mut known = files::learn(args, &webhook)?;
    // 2. Both doors open before the first word, so that a taken port is told at once.
    let doors = Doors::open(args, &webhook).await?;
    // 3. Look again until told to end.
    let mut ticks = interval(files::LOOK_AGAIN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut ended = std::pin::pin!(ended()?);
    loop {
        tokio::select! {
            () = &mut ended => break,
            _ = ticks.tick() => {
                if let Some(Err(failed)) = args.self_signed.as_ref().map(|folder| files::self_signed(folder, &names)) {
                    tell(Told::Trouble(&failed.message));
                }
                files::reload(&files, &mut read, &webhook);
                match files::learn_anew(args, &webhook, &known) {
                    Ok(changed) => known = changed.unwrap_or(known),
                    Err(failed) => tell(Told::Trouble(&failed.message)),
                }
            }
        }
    }
    // 4. Leave as one leaves a Service.
    doors.close(args.leave).await
}

/// Into the log.
fn tell(told: Told<'_>) {
    match told {
        Told::Done(what) => tracing::info!("{what}"),
        Told::Trouble(what) => tracing::warn!("{what}"),
    }
}

/// Resolves with SIGTERM or Ctrl-C.
fn ended() -> Result<impl Future<Output = ()>, Failed> {
    let mut term = signal(SignalKind::terminate())
        .map_err(|error| Failed::usage(format!("failed to listen for signals: {error}")))?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    })
}

/// The two ports.
struct Doors {
    phase: watch::Sender<Phase>,
    serving: JoinHandle<Result<(), TlsError>>,
    probing: JoinHandle<()>,
}

impl Doors {
    async fn open(args: &WebhookArgs, webhook: &Arc<Webhook>) -> Result<Self, Failed> {
        let (reviews, probes) = (listen(args.listen).await?, listen(args.metrics_listen).await?);
        let (phase, watched) = watch::channel(Phase::Serving);
        let serving = tokio::spawn(serve(reviews, Arc::clone(webhook), watched.clone()));
        let probing = tokio::spawn(serve_probes(probes, Arc::clone(webhook), watched));
        let (reviews, probes, version) = (args.listen, args.metrics_listen, env!("CARGO_PKG_VERSION"));
        tracing::info!(%reviews, %probes, version, "answers");
        Ok(Self { phase, serving, probing })
    }

    /// Not ready at once; no more answers after `leave` seconds.
    async fn close(self, leave: u64) -> Result<Exit, Failed> {
        let bug = |error: tokio::task::JoinError| Failed { exit: Exit::Bug, ..Failed::usage(error.to_string()) };
        self.phase.send_replace(Phase::Leaving);
        sleep(Duration::from_secs(leave)).await;
        self.phase.send_replace(Phase::Stopping);
        let ended = self.serving.await.map_err(bug)?;
        ended.map_err(|error| Failed::usage(format!("failed to {error}")))?;
        self.probing.await.map_err(bug)?;
        Ok(Exit::Fine)
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failed> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| Failed::usage(format!("failed to listen at {address}: {error}")))
}
