//! Two candidates at one expired lease: one leads, a thousand times.

use std::time::Duration;

use serde_json::{Value, json};
use stagger::clock;
use stagger::cluster::lease::{Action, Candidate, Record, Timing};

use crate::person::Person;
use crate::shared::on_plane;
use crate::wait::until;

const ROUNDS: usize = 1_000;
const NAMESPACE: &str = "leases";
const API: &str = "coordination.k8s.io/v1";

/// Replaces the lease as it was read; whether that won.
async fn replaced(person: &Person, read: &Value, record: &Record) -> bool {
    let mut next = read.clone();
    next["spec"] = serde_json::to_value(record).expect("a record is JSON");
    let name = read["metadata"]["name"].as_str().expect("a lease has a name");
    let at = format!("/apis/{API}/namespaces/{NAMESPACE}/leases/{name}");
    match person.send("PUT", &at, "application/json", &next).await {
        Ok(_) => true,
        Err(refused) => {
            assert_eq!(refused.code, 409, "{}", refused.message);
            false
        }
    }
}

#[test]
fn of_two_candidates_at_an_expired_lease_exactly_one_leads() {
    on_plane(async |plane| {
        let admin = &plane.admin;
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).await;
        let spec = json!({"holderIdentity": "gone", "leaseDurationSeconds": 15, "leaseTransitions": 3});
        let lease = json!({"apiVersion": API, "kind": "Lease", "metadata": {"name": "one", "namespace": NAMESPACE}, "spec": spec});
        until("a lease can be made", Duration::from_secs(10), async || {
            admin.create(&lease).await.map(drop).map_err(|refused| refused.message)
        })
        .await;
        let mut before = 2;
        for round in 0..ROUNDS {
            let read = admin.get(API, "Lease", NAMESPACE, "one").await.expect("the lease is there");
            let record: Record = serde_json::from_value(read["spec"].clone()).expect("a record");
            assert!(record.epoch() > before, "round {round}: {} after {before}", record.epoch());
            before = record.epoch();
            // Both have seen it unchanged for longer than it lasts.
            let wanted = |name: &str| {
                let mut candidate = Candidate::new(format!("{name}-{round}"), Timing::default());
                let wall = clock::now_micros();
                assert_eq!(candidate.step(Some(&record), wall, 0), Action::Wait);
                match candidate.step(Some(&record), wall, 16_000) {
                    Action::Replace(record) => record,
                    other => panic!("an expired lease is free: {other:?}"),
                }
            };
            let (left, right) = (wanted("left"), wanted("right"));
            let (left, right) = tokio::join!(replaced(admin, &read, &left), replaced(admin, &read, &right));
            assert!(left != right, "round {round}: left {left}, right {right}");
        }
    });
}
