//! Certificates by a clock that is an argument: what holds, what does not, and years of rotation.

use proptest::prelude::*;
use stagger::admission::tls::issue::{self, AUTHORITY_LIFE, BACKDATED, LEAF_LIFE};
use stagger::admission::tls::rotate::{Material, Step};
use stagger::admission::tls::{Identity, certificates, validity};
use stagger::units::{Seconds, Timestamp};

use super::client::{NAME, identity, names};

const START: Timestamp = Timestamp(1_800_000_000);

fn after(start: Timestamp, time: Seconds) -> Timestamp {
    Timestamp(start.0 + time.0)
}

#[test]
fn a_certificate_is_accepted_under_its_names_and_in_its_time_only() {
    let authority = issue::authority(START).unwrap();
    let leaf = issue::leaf(&authority, &names(), START).unwrap();
    let (identity, bundle) = (identity(&leaf), authority.certificate.as_bytes());
    for name in names() {
        assert!(identity.is_trusted(bundle, &name, START), "{name}");
    }
    for name in ["stagger-webhook.evals.svc", "stagger-webhook.stagger-system.svc.cluster.local", "other", ""] {
        assert!(!identity.is_trusted(bundle, name, START), "{name}");
    }
    let cases = [(-BACKDATED.0 - 1, false), (-BACKDATED.0, true), (LEAF_LIFE.0, true), (LEAF_LIFE.0 + 1, false)];
    for (offset, trusted) in cases {
        assert_eq!(identity.is_trusted(bundle, NAME, Timestamp(START.0 + offset)), trusted, "{offset}");
    }
    assert_eq!(identity.ends(), Ok(leaf.ends));
    let other = issue::authority(START).unwrap();
    assert!(!identity.is_trusted(other.certificate.as_bytes(), NAME, START), "another authority");
    assert!(!identity.is_trusted(b"", NAME, START), "no bundle");
    let both = format!("{}{}", other.certificate, authority.certificate);
    assert!(identity.is_trusted(both.as_bytes(), NAME, START));
}

#[test]
fn a_leaf_does_not_outlive_its_authority_and_an_authority_past_its_time_counts_for_nothing() {
    let authority = issue::authority(START).unwrap();
    let late = after(START, Seconds(AUTHORITY_LIFE.0 - Seconds::DAY.0));
    let leaf = issue::leaf(&authority, &names(), late).unwrap();
    assert_eq!(leaf.ends, authority.ends);
    let bundle = authority.certificate.as_bytes();
    assert!(identity(&leaf).is_trusted(bundle, NAME, late));
    assert!(!identity(&leaf).is_trusted(bundle, NAME, Timestamp(authority.ends.0 + 1)));
    let certificate = &certificates(bundle).unwrap()[0];
    assert_eq!(validity(certificate).unwrap().to, authority.ends);
}

#[test]
fn a_key_that_does_not_belong_to_its_certificate_is_refused() {
    let authority = issue::authority(START).unwrap();
    let one = issue::leaf(&authority, &names(), START).unwrap();
    let two = issue::leaf(&authority, &names(), START).unwrap();
    assert!(Identity::from_pem(one.certificate.as_bytes(), two.key.as_bytes()).is_err());
    assert!(Identity::from_pem(b"", one.key.as_bytes()).is_err());
    assert!(Identity::from_pem(one.certificate.as_bytes(), b"-----BEGIN").is_err());
}

/// Six years, looked at every six hours; what is published is seen one look later.
#[test]
fn years_of_rotation_never_serve_what_the_published_bundle_would_refuse() {
    let (mut material, mut published, mut seen) = (Material::default(), String::new(), String::new());
    let mut steps = Vec::new();
    for look in 0..(6 * 365 * 4) {
        let now = after(START, Seconds(look * 6 * 3600));
        let step = material.due(&seen, now);
        seen = published.clone();
        if let Some(step) = step {
            material = material.after(step, &names(), now).unwrap();
            if step == Step::Publish {
                published = material.bundle();
            }
            steps.push((look, step));
        }
        assert!(material.authorities.len() <= 2);
        if let Some(leaf) = &material.leaf {
            // Every bundle that a configuration may still carry accepts what is served.
            let served = identity(leaf);
            for bundle in [&published, &seen] {
                assert!(served.is_trusted(bundle.as_bytes(), NAME, now), "at look {look}");
            }
            assert!(leaf.ends.0 - now.0 > 9 * Seconds::DAY.0, "a leaf is replaced well ahead");
        }
        assert!(look < 10 || material.leaf.is_some());
    }
    let count = |wanted: Step| steps.iter().filter(|(_, step)| *step == wanted).count();
    assert_eq!(count(Step::AddAuthority), 4);
    assert_eq!(count(Step::DropAuthority), 3);
    assert!(count(Step::IssueLeaf) > 100);
}

#[test]
fn an_authority_near_its_end_is_replaced_however_fresh_the_leaf_is() {
    let mut material = Material::default();
    for step in [Step::AddAuthority, Step::IssueLeaf] {
        material = material.after(step, &names(), START).unwrap();
    }
    let late = after(START, Seconds(AUTHORITY_LIFE.0 - 80 * Seconds::DAY.0));
    material.leaf = Some(issue::leaf(&material.authorities[0], &names(), late).unwrap());
    assert_eq!(material.due(&material.bundle(), late), Some(Step::AddAuthority));
}

#[test]
fn no_leaf_is_issued_from_an_authority_that_is_not_published_yet() {
    let material = Material::default().after(Step::AddAuthority, &names(), START).unwrap();
    assert_eq!(material.due("", START), Some(Step::Publish));
    assert_eq!(material.due(&material.bundle(), START), Some(Step::IssueLeaf));
}

proptest! {
    #[test]
    fn hostile_certificates_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0_usize..900) {
        let _unreadable = validity(&bytes);
        let _unreadable = Identity::from_pem(&bytes, &bytes);
        let authority = issue::authority(START).unwrap();
        let text = &authority.certificate.as_bytes()[..cut.min(authority.certificate.len())];
        let _unreadable = certificates(text);
        let mut der = certificates(authority.certificate.as_bytes()).unwrap()[0].to_vec();
        der.truncate(cut);
        let _unreadable = validity(&der);
    }
}
