//! Nothing of ours can stop a cluster: the webhook killed, hanging, with a certificate that has come to its end, and before
//! it knows what it needs to know, each under what the overlays of the three modes tell the API server.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::shipped::take_mode;
use super::{EVALS, GATE, GATES, GPU, Installed, NAME, QUEUE, WRONG_STAMP, file, installed, pod};
use crate::person::{Person, Refused, documents};
use crate::plane::{Part, Plane};
use crate::shared::alone_on_plane;
use crate::wait::{http, until};

/// A namespace that no tenant claims.
const UNRELATED: &str = "down-unrelated";
/// The webhook's own limit is 2 s; the rest is a busy machine's.
const DELAY_MAX: Duration = Duration::from_millis(3_500);
/// Where nobody asks the webhook, nothing waits.
const AT_ONCE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Killed,
    Hanging,
    Expired,
    Cold,
}

impl Trouble {
    const ALL: [Self; 4] = [Self::Killed, Self::Hanging, Self::Expired, Self::Cold];

    /// Brings it about, and waits until it is there.
    async fn begin(self, plane: &Plane, here: &Installed) {
        let again = || here.webhook.lock().expect("no test breaks the lock").again();
        match self {
            Self::Killed => here.webhook.lock().expect("no test breaks the lock").kill(),
            Self::Hanging => here.webhook.lock().expect("no test breaks the lock").signal("STOP"),
            Self::Expired => {
                plane.authority.expired_server(&here.folder, &[NAME]);
                again();
                says(here, "the certificate would not be accepted").await;
            }
            Self::Cold => {
                read_tenants(plane, false).await;
                again();
                says(here, "waiting for gputenants.stagger.dev").await;
            }
        }
    }

    /// Takes its cause away. The webhook comes back by itself, except where there is no process any more.
    async fn end(self, plane: &Plane, here: &Installed) {
        match self {
            Self::Killed => here.webhook.lock().expect("no test breaks the lock").again(),
            Self::Hanging => here.webhook.lock().expect("no test breaks the lock").signal("CONT"),
            Self::Expired => plane.authority.server(&here.folder, &[NAME]),
            Self::Cold => read_tenants(plane, true).await,
        }
    }
}

/// Waits until the webhook says why it is not ready.
async fn says(here: &Installed, why: &str) {
    until(&format!("it says: {why}"), SOON, async || match http(&here.probes, "/readyz").await {
        Err(told) if told.contains(why) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// Gives the webhook's account the right to read GpuTenants as it is shipped, or takes it, and waits until that counts.
async fn read_tenants(plane: &Plane, may: bool) {
    let role = documents(&file("deploy/kustomize/components/webhook/reading.yaml"));
    let mut role = role.into_iter().find(|one| one["kind"] == "ClusterRole").expect("there is a role");
    let rules = role["rules"].as_array_mut().expect("a role has rules");
    for rule in rules.iter_mut().filter(|rule| rule["apiGroups"] == json!(["stagger.dev"]) && !may) {
        rule["resources"].as_array_mut().expect("a list").retain(|resource| resource != "gputenants");
    }
    plane.admin.apply(&role).await;
    let token = plane.admin.token("stagger-system", "stagger-webhook").await;
    let account = plane.bearer("stagger-webhook-asked", &token).await;
    until("the right counts", SOON, async || {
        let given = account.listed("stagger.dev/v1alpha1", "GpuTenant", "").await.is_ok();
        if given == may { Ok(()) } else { Err(format!("{given}")) }
    })
    .await;
}

/// What came of one round of requests.
struct Round {
    system: (Result<Value, Refused>, Duration),
    unrelated: (Result<Value, Refused>, Duration),
    plain: (Result<Value, Refused>, Duration),
    forged: (Result<Value, Refused>, Duration),
    released: (Result<Value, Refused>, Duration),
}

async fn timed(request: impl Future<Output = Result<Value, Refused>>) -> (Result<Value, Refused>, Duration) {
    let begin = Instant::now();
    (request.await, begin.elapsed())
}

impl Round {
    /// All at once; nothing is kept but pods in namespaces that are not ours.
    async fn of(plane: &Plane, somebody: &Person, here: &Installed) -> Self {
        let new = |namespace: &str| {
            let mut pod = pod("", namespace, &json!({}));
            pod["metadata"]["generateName"] = json!("down-");
            pod
        };
        let (system, unrelated, plain) = (new("kube-system"), new(UNRELATED), new(EVALS));
        let forged = pod("forged", EVALS, &Installed::labels(&here.vision));
        let gate = json!({"metadata": {"annotations": {GATES: null}}});
        let job = format!("/apis/batch/v1/namespaces/{EVALS}/jobs/held-while-down?dryRun=All");
        let (system, unrelated, plain, forged, released) = tokio::join!(
            timed(plane.admin.create(&system)),
            timed(plane.admin.create(&unrelated)),
            timed(plane.admin.dry_run(&plain)),
            timed(somebody.dry_run(&forged)),
            timed(somebody.send("PATCH", &job, "application/merge-patch+json", &gate)),
        );
        Self { system, unrelated, plain, forged, released }
    }

    /// Whether it is as the mode says, but for the time it took.
    fn is_of(&self, mode: &str) -> Result<(), String> {
        let refused = |asked: &(Result<Value, Refused>, Duration), why: &str| match &asked.0 {
            Err(refused) if refused.message.contains(why) => Ok(()),
            other => Err(format!("{mode}: expected a refusal ({why}): {other:?}")),
        };
        let unstamped = |asked: &(Result<Value, Refused>, Duration)| match &asked.0 {
            Ok(made) if Installed::stamp_of(made) == (String::new(), String::new()) => Ok(()),
            other => Err(format!("{mode}: expected work without a stamp: {other:?}")),
        };
        let taken = |asked: &(Result<Value, Refused>, Duration)| match &asked.0 {
            Ok(_) => Ok(()),
            Err(refused) => Err(format!("{mode}: {}", refused.message)),
        };
        unstamped(&self.system)?;
        unstamped(&self.unrelated)?;
        match mode {
            "enforce" => refused(&self.plain, "stagger.dev/tenant-uid is missing")?,
            _ => unstamped(&self.plain)?,
        }
        match mode {
            "observe" => taken(&self.forged).and(taken(&self.released)),
            _ => refused(&self.forged, WRONG_STAMP)
                .and(refused(&self.released, "only stagger's controller may change it")),
        }
    }
}

#[test]
fn whatever_befalls_the_webhook_in_each_mode_work_elsewhere_goes_on_and_what_the_mode_refuses_is_refused() {
    alone_on_plane(async |plane| {
        let here = installed(plane).await;
        let admin = &plane.admin;
        let somebody = plane.user("somebody", &[]).await;
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": UNRELATED}})).await;
        let resources = json!({"limits": {GPU: "1"}, "requests": {GPU: "1"}});
        let held = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "held-while-down", "namespace": EVALS, "labels": {QUEUE: "gated"}},
            "spec": {"template": {"spec": {"restartPolicy": "Never",
                     "containers": [{"name": "main", "image": "none", "resources": resources}]}}}});
        let made = admin.create(&held).await.expect("a job is made");
        assert_eq!(made["metadata"]["annotations"][GATES], GATE);

        for trouble in Trouble::ALL {
            trouble.begin(plane, here).await;
            for mode in ["observe", "enforce", "protect"] {
                take_mode(admin, mode, &here.registration).await;
                let round = until(&format!("{trouble:?}"), SOON, async || {
                    let round = Box::pin(Round::of(plane, &somebody, here)).await;
                    round.is_of(mode).map(|()| round)
                })
                .await;
                assert!(round.system.1 < AT_ONCE, "{trouble:?}, {mode}: kube-system waited {:?}", round.system.1);
                let asked = [&round.unrelated, &round.plain, &round.forged, &round.released];
                for (_, waited) in asked {
                    assert!(*waited < DELAY_MAX, "{trouble:?}, {mode}: waited {waited:?}");
                }
            }
            trouble.end(plane, here).await;
            here.is_back(admin).await;
        }

        // What nobody refused in observe was noted.
        let noted = plane.audit().into_iter().any(|event| {
            let said = event["annotations"]["validation.policy.admission.k8s.io/validation_failure"].as_str();
            said.is_some_and(|said| said.contains("stagger-stamp") && said.contains("Warn"))
        });
        assert!(noted, "the audit log has what was only warned of");
        admin.delete(&held).await.expect("it is deleted");
        told_in_the_log(&here.webhook.lock().expect("no test breaks the lock"));
    });
}

/// What befell it is in its log: one JSON object a line, and nothing that is secret.
fn told_in_the_log(webhook: &Part) {
    let text = fs::read_to_string(webhook.log()).expect("it has a log");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap_or(json!(line))).collect();
    for line in &lines {
        let whole = line["timestamp"].is_string() && line["fields"]["message"].is_string();
        assert!(whole, "{line}");
    }
    let told = |level: &str, part: &str| {
        lines.iter().any(|line| line["level"] == level && line["fields"].to_string().contains(part))
    };
    assert!(told("INFO", "answers") && told("WARN", "gputenants.stagger.dev"), "{text}");
    assert!(told("INFO", "gputenants.stagger.dev is watched again") && told("INFO", "exchanged"), "{text}");
    for secret in ["PRIVATE KEY", "Bearer ", "eyJ"] {
        assert!(!text.contains(secret), "{secret} is in the log");
    }
}
