//! The webhook in a cluster: watches keep its world, and its certificate is kept in Secrets unless files are given.

use std::pin::pin;
use std::sync::Arc;

use kube::Client;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{interval, timeout};

use super::{Doors, WebhookArgs, ended, files, tell};
use crate::admission::Told;
use crate::admission::certificates::{Keeper, LEASE, keep, serve_stored};
use crate::admission::live::learn;
use crate::admission::server::Webhook;
use crate::admission::tls::issue;
use crate::admission::tls::{Identity, Served};
use crate::cli::exit::{Exit, Failed};
use crate::cli::reach;
use crate::clock;
use crate::cluster::lease::{Candidate, Place, Timing, stand};
use crate::cluster::{CALL_MAX, ClusterError, Patience};

pub(super) async fn process(args: &WebhookArgs) -> Result<Exit, Failed> {
    // 1. Whom to ask, and what to serve: at first, where the cluster keeps the certificate, one that nobody trusts, so
    // that it is not ready before it has a better one.
    let cluster = reach::connect(&args.reach).await?;
    let names = issue::names(&args.service, &args.service_namespace);
    let given = args.cert.is_some() || args.self_signed.is_some();
    let files = given.then(|| files::files(args, &names)).transpose()?;
    let read = files.as_ref().map(files::pem).transpose()?;
    let first = read.as_ref().map_or_else(|| throwaway(&names), files::identity)?;
    let webhook = Webhook::new(Served::new(first), &names[0], clock::now);
    webhook.publish_all(match &read {
        Some((_, _, bundle)) => bundle.iter().cloned().collect(),
        None => vec![Vec::new()],
    });
    let doors = Doors::open(args, &webhook).await?;
    // 2. What is known, and what is served, both kept in step.
    let learning = learn(cluster.client.clone(), Arc::clone(&webhook), args.mode.into(), Patience::default(), tell);
    let (hand_back, asked_back) = oneshot::channel::<()>();
    let (given_back, mut election) = oneshot::channel::<()>();
    let certificates = async {
        match files.zip(read) {
            Some((files, read)) => mounted(args, &names, &files, read, &webhook).await,
            None => stored(args, cluster.client.clone(), &webhook, asked_back, given_back).await,
        }
    };
    // 3. Until told to end. While the endpoints are removed, what is asked is answered by what is true then.
    let ended = ended()?;
    let closing = async {
        ended.await;
        drop(hand_back);
        let closed = doors.close(args.leave).await;
        // Only who was elected has something to give back; the lease runs out where that fails.
        let _gone_or_late = timeout(2 * CALL_MAX, &mut election).await;
        closed
    };
    let mut closing = pin!(closing);
    tokio::select! {
        closed = &mut closing => closed,
        ((), ()) = async { tokio::join!(learning, certificates) } => closing.await,
    }
}

/// Certificates from files, taken up as they change.
async fn mounted(
    args: &WebhookArgs,
    names: &[String],
    files: &files::Files,
    mut known: files::Pem,
    webhook: &Arc<Webhook>,
) {
    let mut ticks = interval(files::LOOK_AGAIN);
    loop {
        ticks.tick().await;
        if let Some(Err(failed)) = args.self_signed.as_ref().map(|folder| files::self_signed(folder, names)) {
            tell(Told::Trouble(&failed.message));
        }
        files::reload(files, &mut known, webhook);
    }
}

/// Certificates in Secrets: every replica serves what is stored, the elected one writes it.
async fn stored(
    args: &WebhookArgs,
    client: Client,
    webhook: &Arc<Webhook>,
    asked_back: oneshot::Receiver<()>,
    given_back: oneshot::Sender<()>,
) {
    let (namespace, nudge) = (args.service_namespace.as_str(), Arc::new(Notify::new()));
    let place = Place { namespace: namespace.to_owned(), name: LEASE.to_owned() };
    let (trouble, mut troubles) = mpsc::unbounded_channel();
    let on_error = move |error: &ClusterError| {
        // Nobody listens any more when the process ends.
        let _nobody_listens = trouble.send(error.message.clone());
    };
    let until = async { drop(asked_back.await) };
    let timing = Timing::default();
    let (leadership, election) =
        stand(client.clone(), &place, Candidate::new(identity(), timing), timing, until, on_error);
    let serving = serve_stored(client.clone(), namespace, Arc::clone(webhook), Arc::clone(&nudge), tell);
    let keeper = Keeper::new(client, namespace, &args.service);
    let keeping = keep(keeper, leadership, nudge, clock::now, tell);
    let telling = async {
        let mut last = String::new();
        while let Some(trouble) = troubles.recv().await {
            if trouble != last {
                tell(Told::Trouble(&trouble));
                last = trouble;
            }
        }
    };
    let election = async {
        drop(election.await);
        let _nobody_waits = given_back.send(());
    };
    tokio::join!(serving, keeping, telling, election);
}

fn throwaway(names: &[String]) -> Result<Identity, Failed> {
    let made = issue::authority(clock::now()).and_then(|authority| issue::leaf(&authority, names, clock::now()));
    let made = made.and_then(|leaf| Identity::from_pem(leaf.certificate.as_bytes(), leaf.key.as_bytes()));
    made.map_err(|error| Failed::usage(format!("failed to {error}")))
}

/// Of this process alone: a pod that starts again is another candidate.
fn identity() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = if name.trim().is_empty() { "stagger" } else { name.trim() };
    format!("{name}_{}_{}", std::process::id(), clock::now_micros())
}
