//! The certificate: what the API server trusts, what the webhook serves, and when each ends.

use k8s_openapi::api::core::v1::Secret;
use serde_json::Value;

use super::facts::{Answer, Facts};
use super::{Check, Status};
use crate::admission::certificates::{published, stored};
use crate::admission::policy::{NAMESPACE, SERVICE};
use crate::admission::tls::{Identity, certificates, issue, validity};
use crate::units::{Seconds, Timestamp};

/// A leaf is renewed with ten days left, an authority with ninety; below these, something keeps it from being renewed.
const LEAF_LEAST: Seconds = Seconds(7 * Seconds::DAY.0);
const AUTHORITY_LEAST: Seconds = Seconds(30 * Seconds::DAY.0);

pub(super) fn examine(facts: &Facts, now: Timestamp) -> [Check; 3] {
    let leaf = leaf(&facts.leaf);
    [bundle(facts, now), chain(facts, &leaf, now), ends(&leaf, now)]
}

/// The leaf, or why it is not known.
fn leaf(answer: &Answer) -> Result<Identity, Check> {
    const NAME: &str = "certificate";
    let value = match answer {
        Err(error) => {
            return Err(Check::new(NAME, Status::Unknown, &*error.message)
                .action("reading the Secret takes a right of its own; the webhook's metrics tell the end as well"));
        }
        Ok(None) => {
            let told = format!("there is no Secret {NAMESPACE}/{} with the webhook's certificate", stored::LEAF);
            return Err(Check::new(NAME, Status::Failed, told)
                .action("add components/internal-cert or components/cert-manager to the overlay"));
        }
        Ok(Some(value)) => value,
    };
    let secret: Secret = serde_json::from_value(value.clone()).unwrap_or_default();
    let part = |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map_or(&[][..], |bytes| &bytes.0);
    Identity::from_pem(part("tls.crt"), part("tls.key")).map_err(|error| {
        Check::new(NAME, Status::Failed, format!("Secret {}: failed to {error}", stored::LEAF))
            .action(format!("kubectl -n {NAMESPACE} delete secret {}; it is made anew", stored::LEAF))
    })
}

/// Per webhook of the configurations that are there: the name by which the API server calls it, and its bundle.
fn bundles(facts: &Facts) -> Vec<(String, Vec<u8>)> {
    let there = [&facts.mutating, &facts.validating].into_iter().filter_map(|answer| answer.as_ref().ok()?.as_ref());
    let of = |configuration: &Value| {
        let names = configuration["webhooks"].as_array().into_iter().flatten().map(called);
        names.zip(published::bundles(configuration)).collect::<Vec<_>>()
    };
    there.flat_map(of).collect()
}

/// A Service by its full name, an address by its host.
fn called(webhook: &Value) -> String {
    let text = |pointer: &str| webhook.pointer(pointer).and_then(Value::as_str);
    if let Some(host) = text("/clientConfig/url").and_then(|url| url.split("://").nth(1)?.split(['/', '?']).next()) {
        return host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned();
    }
    let service = text("/clientConfig/service/name").unwrap_or(SERVICE);
    issue::names(service, text("/clientConfig/service/namespace").unwrap_or(NAMESPACE))[0].clone()
}

fn bundle(facts: &Facts, now: Timestamp) -> Check {
    const NAME: &str = "bundle";
    let all = bundles(facts);
    if all.is_empty() {
        return Check::new(NAME, Status::Unknown, "no webhook configuration could be read");
    }
    let mut ends: Vec<Timestamp> = Vec::new();
    for (_, one) in &all {
        let Ok(authorities) = certificates(one) else {
            return Check::new(NAME, Status::Failed, "a caBundle cannot be read").action(REPUBLISH);
        };
        // The longest lasting counts: the others are on their way out.
        match authorities.iter().filter_map(|one| validity(one).ok()).map(|validity| validity.to).max() {
            Some(end) => ends.push(end),
            None => {
                return Check::new(NAME, Status::Failed, "a webhook configuration has no caBundle: every call fails")
                    .action(REPUBLISH);
            }
        }
    }
    let end = ends.into_iter().min().unwrap_or(now);
    timed(NAME, "the authority that the API server trusts", end, AUTHORITY_LEAST, now)
}

const REPUBLISH: &str = "whoever keeps the certificate writes it: see the webhook's log, or cert-manager's";

fn chain(facts: &Facts, leaf: &Result<Identity, Check>, now: Timestamp) -> Check {
    const NAME: &str = "chain";
    let Ok(leaf) = leaf else {
        return Check::new(NAME, Status::Unknown, "without the certificate it is not known whether it is trusted");
    };
    let all = bundles(facts);
    if all.is_empty() {
        return Check::new(NAME, Status::Unknown, "no webhook configuration could be read");
    }
    match all.iter().find(|(name, bundle)| !leaf.is_trusted(bundle, name, now)) {
        None => Check::new(NAME, Status::Ok, format!("the certificate is trusted under {}", all[0].0)),
        Some((name, _)) => {
            Check::new(NAME, Status::Failed, format!("the API server does not trust the certificate under {name}"))
                .action(REPUBLISH)
        }
    }
}

fn ends(leaf: &Result<Identity, Check>, now: Timestamp) -> Check {
    match leaf {
        Err(check) => check.clone(),
        Ok(leaf) => match leaf.ends() {
            Ok(end) => timed("certificate", "the webhook's certificate", end, LEAF_LEAST, now),
            Err(error) => Check::new("certificate", Status::Failed, format!("failed to {error}")),
        },
    }
}

fn timed(name: &'static str, what: &str, end: Timestamp, least: Seconds, now: Timestamp) -> Check {
    let left = Seconds(end.0.saturating_sub(now.0));
    if left.0 < 0 {
        return Check::new(name, Status::Failed, format!("{what} ended {} ago", Seconds(-left.0).human()))
            .action(REPUBLISH);
    }
    let told = format!("{what} ends in {}", left.human());
    if left < least {
        return Check::new(name, Status::Warning, format!("{told}, and should have been renewed")).action(REPUBLISH);
    }
    Check::new(name, Status::Ok, told)
}
