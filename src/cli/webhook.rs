//! `stagger webhook`: the admission webhook as a process.
//!
//! What it knows of the cluster it reads from files, again and again, as a ConfigMap or a sidecar would write them; its
//! certificate likewise. It ends with SIGTERM or Ctrl-C: first not ready, then no new connections, then no more answers.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::exit::{Exit, Failed};
use super::load;
use super::shell::Shell;
use crate::admission::policy::{NAMESPACE, SERVICE};
use crate::admission::server::{Phase, Webhook, serve, serve_probes};
use crate::admission::tls::issue::{self, Issued};
use crate::admission::tls::{self, Identity, Served};
use crate::admission::{Mode, assemble};
use crate::api::manifest::Manifest;
use crate::clock;
use crate::scenario::{self, Limits};
use crate::units::Timestamp;

/// A kubelet brings a new Secret into the pod within a minute or two; ten seconds more go unnoticed.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Serve the admission webhook that stamps tenants and gates work
///
/// Answers AdmissionReviews over HTTPS at /admit, and /healthz, /readyz and /metrics over HTTP. Certificate and objects
/// are read again while it runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger webhook --cert tls.crt --key tls.key --ca ca.crt --objects cluster/
  stagger webhook --self-signed certificates/ --objects cluster/ --mode protect")]
pub(super) struct WebhookArgs {
    /// Where to answer reviews
    #[arg(long, env = "STAGGER_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8443")]
    listen: SocketAddr,
    /// Where to answer probes and give metrics
    #[arg(long, env = "STAGGER_METRICS_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    metrics_listen: SocketAddr,
    /// Files or folders with what is known of the cluster: Namespaces, GpuTenants, CapacityPlans, Kueue's queues
    #[arg(long, env = "STAGGER_OBJECTS", value_name = "PATH", num_args = 1.., value_delimiter = ',', value_hint = clap::ValueHint::AnyPath)]
    objects: Vec<PathBuf>,
    /// How strict it is about stamps
    #[arg(long, env = "STAGGER_MODE", default_value = "observe")]
    mode: ModeArg,
    /// Certificate chain, as PEM
    #[arg(
        long,
        env = "STAGGER_CERT",
        value_name = "FILE",
        requires = "key",
        required_unless_present = "self_signed",
        help_heading = "TLS"
    )]
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

/// Where the certificate is read from.
struct Files {
    cert: PathBuf,
    key: PathBuf,
    ca: Option<PathBuf>,
}

pub(super) fn run(args: &WebhookArgs, shell: &Shell) -> Result<Exit, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::usage(format!("failed to start the runtime: {error}")))?;
    runtime.block_on(process(args, shell))
}

async fn process(args: &WebhookArgs, shell: &Shell) -> Result<Exit, Failed> {
    // 1. Who we are, and what we know.
    let names = issue::names(&args.service, &args.service_namespace);
    let files = files(args, &names)?;
    let mut read = pem(&files)?;
    let webhook = Webhook::new(Served::new(identity(&read)?), &names[0], clock::now);
    if let Some(bundle) = &read.2 {
        webhook.publish(bundle.clone());
    }
    let mut known = learn(args, &webhook, shell)?;
    // 2. Both doors open before the first word, so that a taken port is told at once.
    let (reviews, probes) = (listen(args.listen).await?, listen(args.metrics_listen).await?);
    let (set_phase, phase) = watch::channel(Phase::Serving);
    let serving = tokio::spawn(serve(reviews, Arc::clone(&webhook), phase.clone()));
    let probing = tokio::spawn(serve_probes(probes, Arc::clone(&webhook), phase));
    shell.talk(&format!("answering reviews at {} and probes at {}", args.listen, args.metrics_listen));
    // 3. Look again until told to end.
    let mut ticks = interval(LOOK_AGAIN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut term = signal(SignalKind::terminate())
        .map_err(|error| Failed::usage(format!("failed to listen for signals: {error}")))?;
    loop {
        tokio::select! {
            _ = term.recv() => break,
            _ = tokio::signal::ctrl_c() => break,
            _ = ticks.tick() => {
                if let Some(Err(failed)) = args.self_signed.as_ref().map(|folder| self_signed(folder, &names)) {
                    shell.error(&failed.message);
                }
                reload(&files, &mut read, &webhook, shell);
                match learn_anew(args, &webhook, shell, &known) {
                    Ok(changed) => known = changed.unwrap_or(known),
                    Err(failed) => shell.error(&failed.message),
                }
            }
        }
    }
    // 4. Leave as one leaves a Service.
    set_phase.send_replace(Phase::Leaving);
    sleep(Duration::from_secs(args.leave)).await;
    set_phase.send_replace(Phase::Stopping);
    let ended = serving.await.map_err(|error| Failed { exit: Exit::Bug, ..Failed::usage(error.to_string()) })?;
    ended.map_err(|error| Failed::usage(format!("failed to {error}")))?;
    probing.await.map_err(|error| Failed { exit: Exit::Bug, ..Failed::usage(error.to_string()) })?;
    Ok(Exit::Fine)
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failed> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| Failed::usage(format!("failed to listen at {address}: {error}")))
}

fn files(args: &WebhookArgs, names: &[String]) -> Result<Files, Failed> {
    match (&args.cert, &args.key, &args.self_signed) {
        (Some(cert), Some(key), _) => Ok(Files { cert: cert.clone(), key: key.clone(), ca: args.ca.clone() }),
        (_, _, Some(folder)) => self_signed(folder, names),
        _ => Err(Failed::usage("there is no certificate").hint("give --cert and --key, or --self-signed FOLDER")),
    }
}

/// Certificates in a folder, made where they are missing or near their end. The authority stays for its two years, so
/// that what was copied from ca.crt goes on holding; one process owns the folder.
fn self_signed(folder: &Path, names: &[String]) -> Result<Files, Failed> {
    let at = |name: &str| folder.join(name);
    let files = Files { cert: at("tls.crt"), key: at("tls.key"), ca: Some(at("ca.crt")) };
    let now = clock::now();
    // What is there is used while it will be accepted for a third of a leaf's life to come.
    let soon = Timestamp(now.0 + issue::LEAF_LIFE.0 / 3);
    let kept = pem(&files).ok().and_then(|read| Some((identity(&read).ok()?, read.2?)));
    if kept.is_some_and(|(identity, bundle)| identity.is_trusted(&bundle, &names[0], soon)) {
        return Ok(files);
    }
    fs::create_dir_all(folder).map_err(|error| Failed::file("make", &folder.display().to_string(), error))?;
    let failed = |error| Failed::usage(format!("failed to {error}"));
    let put = |name: &str, text: &str, private: bool| {
        write(&at(name), text, private).map_err(|error| Failed::file("write", &at(name).display().to_string(), error))
    };
    let lasting = authority(&at("ca.crt"), &at("ca.key")).filter(|known| known.ends.0 - now.0 > issue::LEAF_LIFE.0);
    let authority = match lasting {
        Some(known) => known,
        None => {
            let made = issue::authority(now).map_err(failed)?;
            put("ca.key", &made.key, true)?;
            put("ca.crt", &made.certificate, false)?;
            made
        }
    };
    let leaf = issue::leaf(&authority, names, now).map_err(failed)?;
    put("tls.key", &leaf.key, true)?;
    put("tls.crt", &leaf.certificate, false)?;
    Ok(files)
}

/// The authority that was made before.
fn authority(certificate: &Path, key: &Path) -> Option<Issued> {
    let (certificate, key) = (fs::read_to_string(certificate).ok()?, fs::read_to_string(key).ok()?);
    let validity = tls::validity(tls::certificates(certificate.as_bytes()).ok()?.first()?).ok()?;
    let issued = Timestamp(validity.from.0 + issue::BACKDATED.0);
    Some(Issued { certificate, key, issued, ends: validity.to })
}

/// Writes a file that only its owner can read, where it is private.
fn write(path: &Path, text: &str, private: bool) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let _was_not_there = fs::remove_file(path);
    let mode = if private { 0o600 } else { 0o644 };
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// Chain, key, bundle.
type Pem = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

fn pem(files: &Files) -> Result<Pem, Failed> {
    let read =
        |path: &PathBuf| fs::read(path).map_err(|error| Failed::file("read", &path.display().to_string(), error));
    Ok((read(&files.cert)?, read(&files.key)?, files.ca.as_ref().map(read).transpose()?))
}

fn identity(read: &Pem) -> Result<Identity, Failed> {
    Identity::from_pem(&read.0, &read.1).map_err(|error| Failed::usage(format!("failed to {error}")))
}

/// Takes up changed certificates. A half-written pair is left for the next look; the old one serves on.
fn reload(files: &Files, known: &mut Pem, webhook: &Webhook, shell: &Shell) {
    let fresh = match pem(files) {
        Ok(fresh) if fresh != *known => fresh,
        Ok(_) => return,
        Err(failed) => return shell.error(&failed.message),
    };
    match identity(&fresh) {
        Ok(identity) => {
            webhook.served.exchange(identity);
            if let Some(bundle) = &fresh.2 {
                webhook.publish(bundle.clone());
            }
            *known = fresh;
            webhook.metrics.count_reload(true);
            shell.talk("the certificate was exchanged");
        }
        Err(failed) => {
            webhook.metrics.count_reload(false);
            shell.error(&failed.message);
        }
    }
}

fn objects(args: &WebhookArgs, shell: &Shell) -> Result<Vec<Manifest>, Failed> {
    let reading = scenario::read(&load::inputs(&args.objects)?, &Limits::default());
    match load::refusal(&reading.findings) {
        None => Ok(reading.manifests),
        Some(exit) => {
            shell.findings(&reading.findings);
            Err(Failed { exit, ..Failed::usage("the objects are refused") })
        }
    }
}

fn learn(args: &WebhookArgs, webhook: &Webhook, shell: &Shell) -> Result<Vec<Manifest>, Failed> {
    let manifests = objects(args, shell)?;
    let (world, findings) = assemble(&manifests, args.mode.into());
    shell.findings(&findings);
    webhook.learn(world);
    Ok(manifests)
}

/// The objects, where they differ from what is known. What cannot be read changes nothing.
fn learn_anew(
    args: &WebhookArgs,
    webhook: &Webhook,
    shell: &Shell,
    known: &[Manifest],
) -> Result<Option<Vec<Manifest>>, Failed> {
    let fresh = objects(args, shell)?;
    let same = fresh.len() == known.len() && fresh.iter().zip(known).all(|(a, b)| a.value == b.value);
    if same {
        return Ok(None);
    }
    let (world, findings) = assemble(&fresh, args.mode.into());
    shell.findings(&findings);
    webhook.learn(world);
    Ok(Some(fresh))
}
