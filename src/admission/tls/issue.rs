//! Certificates of our own, where no cert-manager makes them: an authority for two years, leaves for thirty days.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::OffsetDateTime;

use super::{TlsError, failed};
use crate::units::{Seconds, Timestamp};

/// Two years: long enough that nobody is woken, short enough that rotation is practised.
pub const AUTHORITY_LIFE: Seconds = Seconds(730 * Seconds::DAY.0);
/// Thirty days: a stolen key is of little use for long.
pub const LEAF_LIFE: Seconds = Seconds(30 * Seconds::DAY.0);
/// Clocks of a cluster differ; ten minutes is more than any that works.
pub const BACKDATED: Seconds = Seconds(600);

/// A certificate and its private key, as PEM, with the time from which it was issued and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    pub certificate: String,
    pub key: String,
    pub issued: Timestamp,
    pub ends: Timestamp,
}

/// The DNS names by which the API server may call a Service.
#[must_use]
pub fn names(service: &str, namespace: &str) -> Vec<String> {
    vec![format!("{service}.{namespace}.svc"), format!("{service}.{namespace}"), service.to_owned()]
}

/// A new authority.
///
/// # Errors
/// When no key can be made, or the time cannot be written.
pub fn authority(now: Timestamp) -> Result<Issued, TlsError> {
    let key = KeyPair::generate().map_err(|error| failed("make a key")(&error))?;
    let params = authority_params(now)?;
    let certificate = params.self_signed(&key).map_err(|error| failed("sign the authority")(&error))?;
    let ends = Timestamp(now.0 + AUTHORITY_LIFE.0);
    Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem(), issued: now, ends })
}

/// A leaf for these names, signed by an authority.
///
/// # Errors
/// When the authority's key cannot be read, or no key can be made.
pub fn leaf(authority: &Issued, names: &[String], now: Timestamp) -> Result<Issued, TlsError> {
    let signer = KeyPair::from_pem(&authority.key).map_err(|error| failed("read the authority's key")(&error))?;
    let issuer = Issuer::new(authority_params(authority.issued)?, signer);
    let mut params =
        CertificateParams::new(names.to_vec()).map_err(|error| failed("use the names of the Service")(&error))?;
    params.distinguished_name = named("stagger webhook".to_owned());
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    // A leaf never outlives what it hangs on.
    let ends = Timestamp((now.0 + LEAF_LIFE.0).min(authority.ends.0));
    (params.not_before, params.not_after) = (moment(now.0 - BACKDATED.0)?, moment(ends.0)?);
    let key = KeyPair::generate().map_err(|error| failed("make a key")(&error))?;
    let certificate = params.signed_by(&key, &issuer).map_err(|error| failed("sign the certificate")(&error))?;
    Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem(), issued: now, ends })
}

/// The same for the same time, so that an authority need not be read back from its certificate to sign again.
fn authority_params(issued: Timestamp) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(format!("stagger webhook authority {}", issued.0));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = (moment(issued.0 - BACKDATED.0)?, moment(issued.0 + AUTHORITY_LIFE.0)?);
    Ok(params)
}

fn named(name: String) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

fn moment(seconds: i64) -> Result<OffsetDateTime, TlsError> {
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|error| failed("write the time")(&error))
}
