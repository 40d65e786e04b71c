//! Clients that only hold connections, or never finish what they say: others are answered all the same.

use std::time::Duration;

use stagger::admission::Mode;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::{Running, start};
use crate::admission::world::{a_job, cluster, create};

/// The API server gives up after two seconds; loopback and a busy machine take less than that.
const ANSWER_MAX: Duration = Duration::from_secs(2);

async fn ready() -> Running {
    let running = start().await;
    running.webhook.learn(cluster(Mode::Protect));
    running
}

async fn is_answered(running: &Running) {
    let body = create("batch", "jobs", a_job("batch")).body();
    let answer = timeout(ANSWER_MAX, running.post(body.as_bytes())).await.expect("an answer in time");
    assert_eq!(answer.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_connections_do_not_keep_the_api_server_out() {
    let running = ready().await;
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        idle.push(running.trusted().await);
    }
    is_answered(&running).await;
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_without_a_handshake_do_not_keep_the_api_server_out() {
    let running = ready().await;
    let mut silent = Vec::new();
    for _ in 0..1_000 {
        silent.push(TcpStream::connect(running.reviews).await.unwrap());
    }
    is_answered(&running).await;
    drop(silent);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_never_finish_a_head_or_a_body_delay_nobody() {
    let running = ready().await;
    let mut slow = Vec::new();
    for at in 0..100 {
        let mut stream = running.trusted().await;
        let begun: &[u8] = if at % 2 == 0 {
            b"POST /admit HTTP/1.1\r\nHost: x\r\nContent-"
        } else {
            b"POST /admit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n{\"kind\":"
        };
        stream.write_all(begun).await.unwrap();
        stream.flush().await.unwrap();
        slow.push(stream);
    }
    is_answered(&running).await;
    drop(slow);
}
