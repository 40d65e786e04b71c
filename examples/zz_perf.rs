use stagger::scenario::*;
fn rss() -> u64 { std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmRSS")).unwrap().split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()/1024 }
fn hwm() -> u64 { std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap().split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()/1024 }
fn go(name: &str, text: String) {
    if let Some(w) = std::env::args().nth(1) { if w != name { return; } }
    let n = text.len();
    let before = rss();
    let t = std::time::Instant::now();
    let r = read(&[Input::Bytes{name: name.into(), bytes: text.into_bytes()}], &Limits::default());
    let e = t.elapsed();
    let f = validate(&r.manifests);
    println!("{name}: {} MB, {} objects, {} findings {:?}, {:?}, {:.1} MB/s, validate {:?} ({}), rss +{} MB hwm {}", n>>20, r.manifests.len(), r.findings.len(), r.findings.first().map(|f| (f.code, f.message.clone())), e, n as f64/1e6/e.as_secs_f64(), t.elapsed()-e, f.len(), rss()-before, hwm());
}

fn main() {
    let job = |i: usize| format!("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: eval-{i}\n  namespace: evals\n  labels:\n    app: eval\n    kueue.x-k8s.io/queue-name: batch\nspec:\n  parallelism: 2\n  completions: 2\n  template:\n    metadata:\n      labels: {{app: eval}}\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: main\n        image: registry.example.com/team/eval:v1.2.3\n        command: [\"python\", \"-m\", \"eval\", \"--shard\", \"{i}\"]\n        env:\n        - name: HF_HOME\n          value: /cache\n        resources:\n          limits: {{nvidia.com/gpu: 2, cpu: 8, memory: 64Gi}}\n---\n");
    let yaml: String = (0..72_000).map(job).collect();
    go("jobs.yaml", yaml.clone());
    let r = read(&[Input::text("x", &yaml[..20_000_000].rsplit_once("\n---\n").unwrap().0)], &Limits::default());
    let items: Vec<serde_json::Value> = r.manifests.iter().map(|m| m.value.clone()).collect();
    drop(r);
    let mut json = serde_json::to_string_pretty(&serde_json::json!({"apiVersion":"v1","kind":"List","items":items})).unwrap();
    drop(items);
    json.truncate(json.len());
    go("jobs.json", json);
    let slo = |i: usize| format!("apiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO\nmetadata: {{name: s{i}, namespace: evals}}\nspec:\n  targetRef: {{group: batch, kind: Job, name: eval-{i}}}\n  finishBy: \"2026-11-30T17:00:00+01:00\"\n  expectedRuntime: {{p50: 1h, p90: 1h}}\n---\n");
    go("slos.yaml", (0..100_000).map(slo).collect());
    go("maps.yaml", format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nx: [{}]\n", "{a: 1}, ".repeat(6_000_000)));
    go("empties.yaml", format!("[{}]\n", "{}, ".repeat(12_000_000)));
    go("deep.yaml", "[".repeat(50_000_000));
    go("plain.yaml", "a ".repeat(25_000_000));
    go("plainlines.yaml", "abc\n".repeat(12_000_000));
    go("dashes.yaml", "- ".repeat(25_000_000));
    go("colons.yaml", "a: ".repeat(16_000_000));
    go("errors.yaml", "kind: [\n---\n".repeat(4_000_000));
    go("quote.yaml", format!("a: \"{}", "x\n".repeat(25_000_000)));
    go("scalars.yaml", format!("a: |\n{}", "  x\n".repeat(12_000_000)));
    go("ids.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {}\n---\n".repeat(1_000_000));
    go("same.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n".repeat(900_000));
    go("keys.yaml", (0..3_000_000).map(|i| format!("k{i}: {i}\n")).collect());
    go("dup.yaml", "k: 1\n".repeat(200_000));
    go("umlaut.yaml", format!("a: [{}]\n", "ä, ".repeat(10_000_000)));
    go("q.yaml", "? ".repeat(25_000_000));
    go("anchors.yaml", (0..1_000_000).map(|i| format!("k{i}: &a{i} x\n")).collect());
}
