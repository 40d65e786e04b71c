//! Certificates as Secrets of type kubernetes.io/tls, and back.
//!
//! The authority's Secret has the newest authority in `tls.crt` and `tls.key`, and in `ca.crt` all that are trusted, from
//! old to new; of a superseded authority the key is not kept, for it signs nothing any more. What cannot be read is as
//! if it were not there, so that it is written anew; a Secret that is there keeps its type, its labels and its name.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;

use crate::admission::tls::issue::{self, BACKDATED, Issued};
use crate::admission::tls::rotate::Material;
use crate::admission::tls::{Identity, certificates, validity};
use crate::units::Timestamp;

/// The Secret of the authority, which only the writer reads.
pub const AUTHORITY: &str = "stagger-webhook-ca";
/// The Secret of the leaf, which every replica serves.
pub const LEAF: &str = "stagger-webhook-tls";
/// Two are trusted during a rotation; more are somebody's own.
const AUTHORITIES_MAX: usize = 8;

/// What two Secrets hold. `names`: those of the Service, all of which a leaf must have.
#[must_use]
pub fn material(authority: Option<&Secret>, leaf: Option<&Secret>, names: &[String], now: Timestamp) -> Material {
    let mut authorities = authority.map(|secret| authorities(secret, now)).unwrap_or_default();
    if authorities.is_empty() {
        // Where the authority's Secret is lost, the leaf's still says who is trusted: nobody is cut off meanwhile.
        authorities = leaf.map(|secret| trusted(&text(secret, "ca.crt").unwrap_or_default(), now)).unwrap_or_default();
    }
    let leaf = leaf.and_then(read_leaf);
    let newest = authorities.last();
    let signed_by = newest.zip(leaf.as_ref()).and_then(|(newest, (_, identity))| {
        let bundle = newest.certificate.as_bytes();
        names.iter().all(|name| identity.is_trusted(bundle, name, now)).then_some(newest.issued)
    });
    Material { authorities, leaf: leaf.map(|(leaf, _)| leaf), signed_by }
}

fn text(secret: &Secret, key: &str) -> Option<String> {
    String::from_utf8(secret.data.as_ref()?.get(key)?.0.clone()).ok()
}

fn authorities(secret: &Secret, now: Timestamp) -> Vec<Issued> {
    let (bundle, newest) = (text(secret, "ca.crt").unwrap_or_default(), text(secret, "tls.crt").unwrap_or_default());
    let key = text(secret, "tls.key").unwrap_or_default();
    let newest = split(&newest).next().and_then(|one| issued(one, key));
    let usable = |one: &Issued| Identity::from_pem(one.certificate.as_bytes(), one.key.as_bytes()).is_ok();
    let Some(newest) = newest.filter(usable) else { return trusted(&bundle, now) };
    let mut all: Vec<Issued> = split(&bundle).filter_map(|one| issued(one, String::new())).collect();
    all.retain(|one| one.certificate != newest.certificate);
    all.push(newest);
    all
}

/// Authorities that are trusted while their keys are lost: they are followed by a new one at once, as if the last of them
/// had come to its end.
fn trusted(bundle: &str, now: Timestamp) -> Vec<Issued> {
    let mut all: Vec<Issued> = split(bundle).filter_map(|one| issued(one, String::new())).collect();
    if let Some(last) = all.last_mut() {
        last.ends = Timestamp(last.ends.0.min(now.0));
    }
    all
}

fn read_leaf(secret: &Secret) -> Option<(Issued, Identity)> {
    let (certificate, key) = (text(secret, "tls.crt")?, text(secret, "tls.key")?);
    let identity = Identity::from_pem(certificate.as_bytes(), key.as_bytes()).ok()?;
    Some((issued(&certificate, key)?, identity))
}

fn issued(certificate: &str, key: String) -> Option<Issued> {
    let validity = validity(certificates(certificate.as_bytes()).ok()?.first()?).ok()?;
    let issued = Timestamp(validity.from.0.checked_add(BACKDATED.0)?);
    Some(Issued { certificate: certificate.to_owned(), key, issued, ends: validity.to })
}

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----\n";

/// The certificates of a bundle, each as text, so that they are written again as they were read.
fn split(bundle: &str) -> impl Iterator<Item = &str> {
    let parts = bundle.split_inclusive(END).filter(|part| part.starts_with(BEGIN) && part.ends_with(END));
    parts.take(AUTHORITIES_MAX)
}

/// The authority's Secret with this in it.
#[must_use]
pub fn authority_secret(before: Option<Secret>, namespace: &str, material: &Material) -> Secret {
    let newest = material.authorities.last();
    filled(before, namespace, AUTHORITY, newest, &material.bundle())
}

/// The leaf's Secret with this in it; its `ca.crt` is for whoever mounts it as files.
#[must_use]
pub fn leaf_secret(before: Option<Secret>, namespace: &str, material: &Material) -> Secret {
    filled(before, namespace, LEAF, material.leaf.as_ref(), &material.bundle())
}

fn filled(before: Option<Secret>, namespace: &str, name: &str, issued: Option<&Issued>, bundle: &str) -> Secret {
    let mut secret = before.unwrap_or_else(|| Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some(BTreeMap::from([(
                super::published::LABEL.0.to_owned(),
                super::published::LABEL.1.to_owned(),
            )])),
            ..ObjectMeta::default()
        },
        type_: Some("kubernetes.io/tls".to_owned()),
        ..Secret::default()
    });
    let (certificate, key) = issued.map_or(("", ""), |issued| (issued.certificate.as_str(), issued.key.as_str()));
    let mut data = secret.data.unwrap_or_default();
    for (name, text) in [("tls.crt", certificate), ("tls.key", key), ("ca.crt", bundle)] {
        data.insert(name.to_owned(), ByteString(text.as_bytes().to_vec()));
    }
    secret.data = Some(data);
    secret
}

/// The names that a leaf needs.
#[must_use]
pub fn names(service: &str, namespace: &str) -> Vec<String> {
    issue::names(service, namespace)
}
