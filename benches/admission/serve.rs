//! The servers that are ours: the webhook itself, and an echo made of the same parts (axum, hyper, rustls).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::routing::post;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use stagger::admission::server::{BODY_BYTES_MAX, Phase, Webhook, serve};
use stagger::admission::tls::{self, Identity, Served, issue};
use stagger::admission::{ClusterQueue, Directory, LocalQueue, Mode, Namespace, Tenant, TenantRef, World};
use stagger::api::capacity_plan::{self, CapacityPlanSpec};
use stagger::clock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// A server in a process of its own.
pub struct Child {
    process: process::Child,
    pub address: String,
    /// PEM.
    pub authority: String,
}

impl Child {
    pub fn start(kind: &str, namespaces: usize, folder: &Path) -> Self {
        let authority = folder.join(format!("bench-{kind}.pem"));
        let mut process = Command::new(std::env::current_exe().expect("this program has a path"))
            .args(["serve", kind, &namespaces.to_string()])
            .arg(&authority)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output is read");
        BufReader::new(out).read_line(&mut line).expect("it says where it listens");
        let authority = std::fs::read_to_string(authority).expect("it leaves its authority there");
        Self { process, address: format!("https://{}/admit", line.trim()), authority }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It fails only for a process that has ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// `stagger|echo NAMESPACES AUTHORITY.pem`.
pub fn run(arguments: &[String]) {
    let [kind, namespaces, authority] = arguments else { panic!("{arguments:?}") };
    let namespaces: usize = namespaces.parse().expect("a number of namespaces");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(async {
        let now = clock::now();
        let issuer = issue::authority(now).expect("an authority can be made");
        let leaf = issue::leaf(&issuer, &["localhost".to_owned()], now).expect("a leaf can be made");
        std::fs::write(PathBuf::from(authority), &issuer.certificate).expect("the folder can be written");
        let identity =
            Identity::from_pem(leaf.certificate.as_bytes(), leaf.key.as_bytes()).expect("they belong together");
        let served = Served::new(identity);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        println!("{}", listener.local_addr().expect("it listens"));
        if kind == "echo" {
            return echo(listener, served).await;
        }
        let webhook = Webhook::new(served, "localhost", clock::now);
        webhook.learn(world(namespaces));
        let (_phase, watched) = watch::channel(Phase::Serving);
        serve(listener, webhook, watched).await.expect("it serves");
    });
}

/// Every namespace has a tenant and a queue that a plan holds.
fn world(number: usize) -> World {
    let named = |at: usize| format!("space-{at}");
    let namespace = |at| Namespace {
        name: named(at),
        uid: format!("uid-{at}"),
        labels: [("team".to_owned(), format!("team-{}", at % 500))].into(),
    };
    let tenant = |at: usize| Tenant {
        id: TenantRef { name: format!("team-{at}"), uid: format!("tenant-{at}") },
        spec: serde_json::from_value(
            serde_json::json!({"namespaceSelector": {"matchLabels": {"team": format!("team-{at}")}}}),
        )
        .expect("a tenant"),
    };
    let directory = Directory::new((0..500).map(tenant).collect(), (0..number).map(namespace).collect());
    let mut world = World { mode: Mode::Protect, directory: Arc::new(directory), ..World::default() };
    let queues = Arc::make_mut(&mut world.queues);
    for at in 0..number {
        queues.local.insert((named(at), "batch".to_owned()), LocalQueue { cluster_queue: "batch".to_owned() });
    }
    queues.cluster.insert("batch".to_owned(), ClusterQueue::default());
    let plan = CapacityPlanSpec {
        queues: vec!["batch".to_owned()],
        mode: capacity_plan::Mode::Enforce,
        ..CapacityPlanSpec::default()
    };
    queues.plans.insert("main".to_owned(), plan);
    world
}

async fn echo(listener: TcpListener, served: Arc<Served>) {
    let back = async |body: Body| to_bytes(body, BODY_BYTES_MAX).await.unwrap_or_default();
    let router = Router::new().route("/admit", post(back));
    let acceptor: TlsAcceptor = Arc::new(tls::server(served).expect("TLS can be set up")).into();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (acceptor, service) = (acceptor.clone(), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            stream.set_nodelay(true).expect("a socket has options");
            let Ok(stream) = acceptor.accept(stream).await else { return };
            // It ends when the client leaves.
            drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
