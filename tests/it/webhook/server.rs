//! Reviews over a real TLS socket.

use std::time::Duration;

use serde_json::{Value, json};
use stagger::admission::Mode;
use stagger::admission::server::{BODY_BYTES_MAX, Phase};
use stagger::admission::tls::issue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::{answer, identity, names, now, post, start};
use crate::admission::world::{a_job, cluster, create};

fn review() -> String {
    create("batch", "jobs", a_job("batch")).body()
}

fn response(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["response"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_is_answered_with_its_uid_and_a_patch() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let (status, text) = running.post(review().as_bytes()).await;
    assert_eq!(status, 200);
    let response = response(&text);
    assert_eq!(response["uid"], "705ab4f5-6393-11e8-b7cc-42010a800002");
    assert_eq!(response["allowed"], true);
    assert_eq!(response["auditAnnotations"]["gate"], "added");
    assert!(response["patch"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_serves_one_review_after_another() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let mut stream = running.trusted().await;
    for _ in 0..20 {
        assert_eq!(post(&mut stream, review().as_bytes()).await.0, 200);
    }
    let (_, page) = running.probe("/metrics").await;
    assert!(page.contains("stagger_admission_decisions_total{outcome=\"gated\"} 20\n"), "{page}");
    assert!(page.contains("stagger_admission_seconds_count 20\n"));
    assert!(page.contains("stagger_webhook_cert_not_after_seconds{kind=\"leaf\"} "));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_cold_caches_nothing_is_answered_and_it_is_not_ready() {
    let running = start().await;
    assert_eq!(running.post(review().as_bytes()).await.0, 503);
    assert_eq!(running.probe("/readyz").await.0, 503);
    assert_eq!(running.probe("/plans").await.0, 503);
    assert_eq!(running.probe("/healthz").await.0, 200);
    running.webhook.learn(cluster(Mode::Observe));
    assert_eq!(running.probe("/readyz").await.0, 200);
    assert_eq!(running.probe("/plans").await, (200, r#"{"version":1,"capacityPlans":{}}"#.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_ready_only_while_the_published_bundle_accepts_what_it_serves() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Observe));
    assert_eq!(running.probe("/readyz").await.0, 200);
    let other = issue::authority(now()).unwrap();
    running.webhook.publish(other.certificate.clone().into_bytes());
    let (status, why) = running.probe("/readyz").await;
    assert!(status == 503 && why.contains("certificate"), "{why}");
    running.webhook.served.exchange(identity(&issue::leaf(&other, &names(), now()).unwrap()));
    assert_eq!(running.probe("/readyz").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_exchanged_under_load_without_losing_a_request() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let mut kept = running.trusted().await;
    for round in 0..12 {
        let leaf = issue::leaf(&running.authority, &names(), now()).unwrap();
        let body = review();
        let (first, (), second) = tokio::join!(
            running.post(body.as_bytes()),
            async { running.webhook.served.exchange(identity(&leaf)) },
            running.post(body.as_bytes()),
        );
        assert_eq!((first.0, second.0, post(&mut kept, review().as_bytes()).await.0), (200, 200, 200), "{round}");
    }
    // A new authority: who trusts only the old one is refused from now on, who trusts the bundle is not.
    let other = issue::authority(now()).unwrap();
    running.webhook.served.exchange(identity(&issue::leaf(&other, &names(), now()).unwrap()));
    assert!(running.connect(&running.authority.certificate).await.is_err());
    let bundle = format!("{}{}", running.authority.certificate, other.certificate);
    let mut stream = running.connect(&bundle).await.unwrap();
    assert_eq!(post(&mut stream, review().as_bytes()).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_limit_is_refused_with_its_uid() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Observe));
    let mut pod = json!({"metadata": {"name": "p"}});
    pod["metadata"]["annotations"] = json!({"big": "x".repeat(BODY_BYTES_MAX)});
    // The API server writes the uid first.
    let request = create("", "pods", pod).0.to_string();
    let body = format!(r#"{{"kind":"AdmissionReview","request":{{"uid":"u-77",{}}}"#, &request[1..]);
    assert!(body.len() > BODY_BYTES_MAX);
    let (status, text) = running.post(body.as_bytes()).await;
    assert_eq!(status, 200);
    let response = response(&text);
    assert_eq!((&response["uid"], &response["allowed"]), (&json!("u-77"), &json!(false)));
    assert!(response["status"]["message"].as_str().unwrap().contains("longer than"));
    let (status, _) = running.post(&vec![b' '; BODY_BYTES_MAX + 1]).await;
    assert_eq!(status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_object_within_the_limit_is_answered() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let pod = json!({"metadata": {"name": "p", "annotations": {"big": "x".repeat(1_500_000)}}});
    let (status, text) = running.post(create("", "pods", pod).body().as_bytes()).await;
    assert_eq!((status, &response(&text)["allowed"]), (200, &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_review_is_told_so_and_harms_nobody() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let mut stream = running.trusted().await;
    for body in ["", "{}", "[1,2", r#"{"request":{"uid":5}}"#] {
        assert_eq!(post(&mut stream, body.as_bytes()).await.0, 400, "{body}");
    }
    let broken = r#"{"apiVersion":"admission.k8s.io/v1","request":{"uid":"u-9","operation":"JUMP"}}"#;
    let (status, text) = post(&mut stream, broken.as_bytes()).await;
    assert_eq!((status, &response(&text)["uid"]), (200, &json!("u-9")));
    assert_eq!(response(&text)["status"]["code"], 400);
    assert_eq!(post(&mut stream, review().as_bytes()).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_text_and_other_paths_get_no_answer_of_ours() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let mut plain = TcpStream::connect(running.reviews).await.unwrap();
    plain.write_all(b"POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    let mut rest = Vec::new();
    let ended = timeout(Duration::from_secs(5), plain.read_to_end(&mut rest)).await;
    assert!(ended.is_ok() && !rest.starts_with(b"HTTP"), "a plain connection is closed");
    let mut stream = running.trusted().await;
    stream.write_all(b"GET /admit HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut stream).await.0, 405);
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(20_000));
    let mut stream = running.trusted().await;
    stream.write_all(long.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream).await.0, 431);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_answers_on_and_stopping_ends_with_the_last_answer() {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    let mut kept = running.trusted().await;
    assert_eq!(post(&mut kept, review().as_bytes()).await.0, 200);
    let mut idle = running.trusted().await;
    assert_eq!(post(&mut idle, review().as_bytes()).await.0, 200);
    running.phase.send_replace(Phase::Leaving);
    // What stands is told to go with its next answer, not cut while a request may be on its way.
    assert_eq!(post(&mut idle, review().as_bytes()).await.0, 200);
    assert_eq!(timeout(Duration::from_secs(10), idle.read(&mut [0; 1])).await.unwrap().unwrap_or(0), 0, "it is closed");
    assert_eq!(running.probe("/readyz").await.0, 503);
    assert_eq!(running.post(review().as_bytes()).await.0, 200, "endpoints are removed later than the signal comes");
    // A request that is under way when it stops is still answered.
    let body = review();
    let head =
        format!("POST /admit HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n", body.len());
    kept.write_all(head.as_bytes()).await.unwrap();
    kept.flush().await.unwrap();
    assert_eq!(answer(&mut kept).await.0, 100, "it is being read");
    running.phase.send_replace(Phase::Stopping);
    kept.write_all(body.as_bytes()).await.unwrap();
    kept.flush().await.unwrap();
    assert_eq!(answer(&mut kept).await.0, 200);
    let ended = timeout(Duration::from_secs(10), running.serving).await;
    assert!(ended.unwrap().unwrap().is_ok(), "and the server ends");
    assert!(TcpStream::connect(running.reviews).await.is_err());
}
