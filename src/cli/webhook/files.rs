//! What is read from files, again and again, as a ConfigMap, a sidecar or cert-manager would write them: certificates
//! and, without a cluster, the objects.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{WebhookArgs, tell};
use crate::admission::server::Webhook;
use crate::admission::tls::issue::{self, Issued};
use crate::admission::tls::{self, Identity};
use crate::admission::{Told, assemble};
use crate::api::manifest::Manifest;
use crate::cli::exit::Failed;
use crate::cli::load;
use crate::clock;
use crate::failure::{Finding, Severity};
use crate::scenario::{self, Limits};
use crate::units::Timestamp;

/// A kubelet brings a new Secret into the pod within a minute or two; ten seconds more go unnoticed.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Where the certificate is read from.
pub(super) struct Files {
    cert: PathBuf,
    key: PathBuf,
    pub(super) ca: Option<PathBuf>,
}

/// The files that the flags name.
///
/// # Errors
/// When they name none, or those of --self-signed cannot be made.
pub(super) fn files(args: &WebhookArgs, names: &[String]) -> Result<Files, Failed> {
    match (&args.cert, &args.key, &args.self_signed) {
        (Some(cert), Some(key), _) => Ok(Files { cert: cert.clone(), key: key.clone(), ca: args.ca.clone() }),
        (_, _, Some(folder)) => self_signed(folder, names),
        _ => Err(Failed::usage("there is no certificate").hint("give --cert and --key, or --self-signed FOLDER")),
    }
}

/// Certificates in a folder, made where they are missing or near their end. The authority stays for its two years, so
/// that what was copied from ca.crt goes on holding; one process owns the folder.
pub(super) fn self_signed(folder: &Path, names: &[String]) -> Result<Files, Failed> {
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
pub(super) type Pem = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

pub(super) fn pem(files: &Files) -> Result<Pem, Failed> {
    let read =
        |path: &PathBuf| fs::read(path).map_err(|error| Failed::file("read", &path.display().to_string(), error));
    Ok((read(&files.cert)?, read(&files.key)?, files.ca.as_ref().map(read).transpose()?))
}

pub(super) fn identity(read: &Pem) -> Result<Identity, Failed> {
    Identity::from_pem(&read.0, &read.1).map_err(|error| Failed::usage(format!("failed to {error}")))
}

/// Takes up changed certificates. A half-written pair is left for the next look; the old one serves on.
pub(super) fn reload(files: &Files, known: &mut Pem, webhook: &Webhook) {
    let fresh = match pem(files) {
        Ok(fresh) if fresh != *known => fresh,
        Ok(_) => return,
        Err(failed) => return tell(Told::Trouble(&failed.message)),
    };
    match identity(&fresh) {
        Ok(identity) => {
            webhook.served.exchange(identity);
            if let Some(bundle) = &fresh.2 {
                webhook.publish(bundle.clone());
            }
            *known = fresh;
            webhook.metrics.count_reload(true);
            tell(Told::Done("the certificate was exchanged"));
        }
        Err(failed) => {
            webhook.metrics.count_reload(false);
            tell(Told::Trouble(&failed.message));
        }
    }
}

/// Findings into the log. They are not drawn as for a terminal: one line each.
fn findings(all: &[Finding]) {
    for Finding { code, severity, subject, message, hint, .. } in all {
        let hint = hint.as_deref().unwrap_or_default();
        match severity {
            Severity::Error => tracing::error!(code, subject, hint, "{message}"),
            Severity::Warning => tracing::warn!(code, subject, hint, "{message}"),
            Severity::Note => tracing::debug!(code, subject, hint, "{message}"),
        }
    }
}

fn objects(args: &WebhookArgs) -> Result<Vec<Manifest>, Failed> {
    let reading = scenario::read(&load::inputs(&args.objects)?, &Limits::default());
    match load::refusal(&reading.findings) {
        None => Ok(reading.manifests),
        Some(exit) => {
            findings(&reading.findings);
            Err(Failed { exit, ..Failed::usage("the objects are refused") })
        }
    }
}

pub(super) fn learn(args: &WebhookArgs, webhook: &Webhook) -> Result<Vec<Manifest>, Failed> {
    let manifests = objects(args)?;
    let (world, findings) = assemble(&manifests, args.mode.into());
    self::findings(&findings);
    webhook.learn(world);
    Ok(manifests)
}

/// The objects, where they differ from what is known. What cannot be read changes nothing.
pub(super) fn learn_anew(
    args: &WebhookArgs,
    webhook: &Webhook,
    known: &[Manifest],
) -> Result<Option<Vec<Manifest>>, Failed> {
    let fresh = objects(args)?;
    let same = fresh.len() == known.len() && fresh.iter().zip(known).all(|(a, b)| a.value == b.value);
    if same {
        return Ok(None);
    }
    let (world, findings) = assemble(&fresh, args.mode.into());
    self::findings(&findings);
    webhook.learn(world);
    Ok(Some(fresh))
}
