//! Nothing of ours can stop a cluster: the webhook killed, and hanging.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{EVALS, Installed, installed, pod};
use crate::shared::alone_on_plane;
use crate::wait::until;

/// The webhook's own limit is 2 s; a request passes through both configurations.
const DELAY_MAX: Duration = Duration::from_millis(5_500);

#[test]
fn with_the_webhook_killed_or_hanging_work_is_created_and_nothing_is_forged() {
    alone_on_plane(async |plane| {
        let here = installed(plane).await;
        let admin = &plane.admin;
        for state in ["killed", "hanging"] {
            {
                let mut webhook = here.webhook.lock().expect("no test breaks the lock");
                if state == "killed" { webhook.kill() } else { webhook.signal("STOP") }
            }
            // Elsewhere nothing is delayed at all.
            let begin = Instant::now();
            admin
                .create(&pod(&format!("system-{state}"), "kube-system", &json!({})))
                .await
                .expect("kube-system is free");
            assert!(begin.elapsed() < Duration::from_secs(1), "kube-system waited {:?}", begin.elapsed());
            // Where it is asked, it is waited for no longer than it may be.
            let begin = Instant::now();
            let made = admin.create(&pod(&format!("plain-{state}"), EVALS, &json!({}))).await.expect("work is created");
            assert!(begin.elapsed() < DELAY_MAX, "creation waited {:?}", begin.elapsed());
            assert_eq!(Installed::stamp_of(&made), (String::new(), String::new()), "nobody stamped it");
            // The API server itself holds what matters.
            let forged = pod(&format!("forged-{state}"), EVALS, &Installed::labels(&here.vision));
            let refused = admin.create(&forged).await.expect_err("a stamp is not forged while we are down");
            assert!(refused.message.contains("is not that of the namespace's GpuTenant"), "{}", refused.message);
            {
                let mut webhook = here.webhook.lock().expect("no test breaks the lock");
                if state == "killed" { webhook.again() } else { webhook.signal("CONT") }
            }
            until("stamps are written again", Duration::from_secs(30), async || {
                let made = admin.dry_run(&pod("again", EVALS, &json!({}))).await.map_err(|refused| refused.message)?;
                if Installed::stamp_of(&made) == here.nlp { Ok(()) } else { Err("no stamp yet".to_owned()) }
            })
            .await;
        }
    });
}
