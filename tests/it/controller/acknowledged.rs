//! Whether every replica of the webhook knows a plan: found, asked and judged, whatever it is that answers.

use std::net::SocketAddr;

use serde_json::{Value, json};
use stagger::admission::{KNOWN_BYTES_MAX, Known};
use stagger::api::status::{CapacityPlanStatus, Condition, ConditionStatus};
use stagger::api::written::Instant;
use stagger::controller::acknowledged::ask::ask;
use stagger::controller::acknowledged::replicas::{Replica, replicas};
use stagger::controller::acknowledged::told::{Heard, PlanVersion, Webhook, acknowledged};
use stagger::controller::gates::Gates;
use stagger::controller::plan_status::{Standing, plan_status};
use stagger::controller::scope::Scope;
use stagger::units::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const PLAN: &str = "4be32c39-9b3c-4f5d-a5c3-51f0c1a3b9aa";

fn plan(generation: i64) -> PlanVersion {
    PlanVersion { uid: PLAN.to_owned(), generation }
}

fn known(plans: &Value) -> Known {
    Known::read(json!({"version": 1, "capacityPlans": plans}).to_string().as_bytes()).unwrap()
}

/// A replica that knows this generation of the plan.
fn knows(name: &str, generation: i64) -> Heard {
    Heard { name: name.to_owned(), answer: Ok(known(&json!({PLAN: generation}))) }
}

fn silent(name: &str) -> Heard {
    Heard { name: name.to_owned(), answer: Err("it did not answer within 1000 ms".to_owned()) }
}

#[track_caller]
fn judged(replicas: Vec<Heard>, status: ConditionStatus, reason: &str, message: &str) {
    let told = acknowledged(&plan(3), &Webhook::Replicas(replicas));
    assert_eq!(told, (status, told.1, message.to_owned()));
    assert_eq!(told.1, reason);
}

#[test]
fn a_plan_is_acknowledged_once_every_replica_knows_this_generation_and_not_before() {
    let (yes, no, unknown) = (ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown);
    let all = "all 2 replicas of the webhook know generation 3";
    judged(vec![knows("a", 3), knows("b", 3)], yes, "Known", all);
    // One that is ahead of what the controller sees knows what came before.
    judged(vec![knows("a", 3), knows("b", 4)], yes, "Known", all);
    judged(vec![knows("a", 3)], yes, "Known", "the one replica of the webhook knows generation 3");
    judged(vec![knows("a", 3), knows("b", 2)], no, "NotKnown", "b knows generation 2 of this plan and not yet 3");
    // Another plan of the same name is another plan: it is known by its UID.
    let other = Heard { name: "c".to_owned(), answer: Ok(known(&json!({"another": 3}))) };
    let none = "c does not know this plan yet";
    judged(vec![knows("a", 3), other.clone()], no, "NotKnown", none);
    judged(vec![other, knows("d", 1), silent("e")], no, "NotKnown", "c does not know this plan yet; and so 1 more");
    let late = "e: it did not answer within 1000 ms";
    judged(vec![knows("a", 3), silent("e")], unknown, "NoAnswer", late);
    judged(vec![], no, "NoReplica", "no replica of the webhook is ready: new work comes ungated");
}

#[test]
fn where_nobody_can_be_asked_nothing_is_said() {
    let absent = acknowledged(&plan(1), &Webhook::Absent);
    assert_eq!((absent.0, absent.1), (ConditionStatus::Unknown, "NoWebhook"));
    let unread = acknowledged(&plan(1), &Webhook::Unread("may not".to_owned()));
    assert_eq!(unread, (ConditionStatus::Unknown, "NotAsked", "may not".to_owned()));
}

#[test]
fn who_leads_anew_goes_by_what_was_told_of_this_generation_until_it_has_asked() {
    let before = CapacityPlanStatus {
        conditions: vec![Condition {
            condition: "Acknowledged".to_owned(),
            status: ConditionStatus::True,
            reason: "Known".to_owned(),
            message: "all 2 replicas of the webhook know generation 3".to_owned(),
            last_transition_time: Instant("2026-11-30T12:00:00Z".to_owned()),
            observed_generation: Some(3),
        }],
        ..CapacityPlanStatus::default()
    };
    let told = |generation: i64, webhook: &Webhook| {
        let standing = Standing {
            now: Timestamp(1_796_040_000),
            generation: Some(generation),
            held: 0,
            ungated: &[],
            gates: &Gates::Honoured,
            version: &plan(generation),
            webhook,
            overlap: None,
            stale: false,
            before: &before,
        };
        let conditions = plan_status(&Scope::default(), standing).conditions;
        let one = conditions.into_iter().find(|one| one.condition == "Acknowledged").unwrap();
        (one.status, one.reason)
    };
    assert_eq!(told(3, &Webhook::Unasked), (ConditionStatus::True, "Known".to_owned()));
    assert_eq!(told(4, &Webhook::Unasked), (ConditionStatus::Unknown, "NotAsked".to_owned()));
    assert_eq!(told(3, &Webhook::Replicas(vec![knows("a", 2)])), (ConditionStatus::False, "NotKnown".to_owned()));
}

#[test]
fn replicas_are_whoever_may_get_a_request_each_once() {
    let slice = |ports: Value, endpoints: Value| json!({"addressType": "IPv4", "ports": ports, "endpoints": endpoints});
    let ports = json!([{"name": "reviews", "port": 8443}, {"name": "probes", "port": 8080}]);
    let at = |address: &str, pod: &str, conditions: Value| json!({"addresses": [address], "conditions": conditions, "targetRef": {"kind": "Pod", "name": pod}});
    let found = |slices: &[Value]| -> Vec<(String, String)> {
        let told = |at: Option<SocketAddr>| at.map_or_else(|| "nowhere".to_owned(), |at| at.to_string());
        let line = |Replica { name, at, leaves }: Replica| {
            (name, if leaves { format!("{} until it is gone", told(at)) } else { told(at) })
        };
        replicas(slices.iter()).into_iter().map(line).collect()
    };
    let all = [
        slice(
            ports.clone(),
            json!([
                at("10.0.0.1", "a", json!({"ready": true})),
                at("10.0.0.2", "b", json!({})),
                at("10.0.0.3", "new", json!({"ready": false})),
                at("10.0.0.4", "leaves", json!({"ready": false, "serving": false, "terminating": true})),
                at("webhook.example.com", "name", json!({"ready": true})),
                at("10.0.0.5", "Not a name\n", json!({"ready": true})),
                json!({"addresses": []}),
                json!(null),
            ]),
        ),
        slice(ports, json!([at("fd00::1", "a", json!({"ready": true}))])),
    ];
    let expected = [
        ("10.0.0.5", "10.0.0.5:8080"),
        ("a", "10.0.0.1:8080"),
        ("b", "10.0.0.2:8080"),
        ("leaves", "10.0.0.4:8080 until it is gone"),
    ];
    assert_eq!(found(&all), expected.map(|(name, at)| (name.to_owned(), at.to_owned())));
    // A Service of an earlier version does not say where to ask.
    let old = slice(json!([{"name": "reviews", "port": 8443}]), json!([at("10.0.0.1", "a", json!({}))]));
    assert_eq!(found(&[old]), [("a".to_owned(), "nowhere".to_owned())]);
    assert_eq!(found(&[json!(null), json!({"endpoints": 7, "ports": "x"})]), []);
}

/// Somebody at an address who answers any request so, and then goes on with `more` for as long as it is read.
async fn somebody(answer: String, more: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 1024];
            let _read = stream.read(&mut head).await;
            let _written = stream.write_all(answer.as_bytes()).await;
            while !more.is_empty() && stream.write_all(more).await.is_ok() {}
            if answer.is_empty() {
                // Holds the connection until the other side has had enough.
                let _closed = stream.read(&mut head).await;
            }
        }
    });
    address
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_replica_says_what_it_knows() {
    let address = somebody(ok(&format!(r#"{{"version":1,"capacityPlans":{{"{PLAN}":7}}}}"#)), b"").await;
    assert_eq!(ask(address).await.unwrap().generation(PLAN), Some(7));
}

#[tokio::test]
async fn whatever_answers_in_its_place_is_cut_short_and_not_repeated() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let moved = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/secret-word\r\nContent-Length: 0\r\n\r\n";
    let too_long = format!("its answer is longer than {KNOWN_BYTES_MAX} bytes");
    let cases: [(String, &[u8], &str); 11] = [
        (String::new(), b"", "it did not answer within 1000 ms"),
        (head.to_owned(), b"", "it broke off"),
        (head.to_owned(), &[b' '; 4096], &too_long),
        (chunked.to_owned(), b"no number\r\n", "it broke off"),
        (chunked.to_owned(), b"10\r\n0123456789abcdef\r\n", &too_long),
        ("HTTP/1.1 200 OK\r\n".to_owned(), b"secret-word: x\r\n", "it broke off"),
        ("secret-word\r\n\r\n".to_owned(), b"", "it broke off"),
        (moved.to_owned(), b"", "it answers 302"),
        (ok("secret-word"), b"", "its answer cannot be read"),
        (ok(r#"{"version":2,"capacityPlans":{}}"#), b"", "its answer cannot be read"),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
            b"",
            "it is of a version that does not tell",
        ),
    ];
    for (answer, more, told) in cases {
        let heard = ask(somebody(answer.clone(), more).await).await.unwrap_err();
        // What never ends is ended by whichever bound a busy machine comes to first.
        let is_late = !more.is_empty() && heard == "it did not answer within 1000 ms";
        assert!(heard == told || is_late, "{heard} instead of {told}: {answer}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert!(ask(nobody).await.unwrap_err().starts_with("it cannot be reached: "));
}
