//! Small random cohorts and queues, with work that wants more than there is.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

pub const NAMESPACE: &str = "agreement";
const API: &str = "kueue.x-k8s.io/v1beta2";
const GPU: &str = "nvidia.com/gpu";

/// One configuration. No other case shares any of its objects.
pub struct Case {
    pub name: String,
    /// Cohorts, ClusterQueues and LocalQueues. The ClusterQueues are inactive as long as their flavors are missing.
    pub queues: Vec<Value>,
    pub workloads: Vec<Value>,
    /// Created last: they set everything off at once.
    pub flavors: Vec<Value>,
    /// Seconds each workload runs, in the order of `workloads`. No two are alike.
    pub runtimes: Vec<i64>,
}

struct Dice(Pcg64Mcg);

impl Dice {
    /// From 0 to `below - 1`.
    fn below(&mut self, below: u64) -> u64 {
        self.0.next_u64() % below
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let at = self.below(u64::try_from(choices.len()).expect("few choices"));
        choices[usize::try_from(at).expect("an index")]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }
}

/// Whether work may be preempted for other work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    Never,
    /// Drawn for each queue.
    Any,
}

/// The case of a number.
pub fn case(prefix: &str, number: u64, preemption: Preemption) -> Case {
    let mut dice = Dice(Pcg64Mcg::seed_from_u64(number));
    let name = format!("{prefix}{number}");
    let flavors: Vec<String> = (0..=dice.below(2)).map(|at| format!("{name}-f{at}")).collect();
    let queue_count = 1 + dice.below(3);
    let together = queue_count > 1 || dice.below(2) == 0;
    let nested = together && dice.below(3) == 0;
    let mut queues = Vec::new();
    if together {
        let quota = nested && dice.below(2) == 0;
        queues.push(cohort(&mut dice, &name, None, &flavors, quota));
    }
    if nested {
        let quota = dice.below(3) == 0;
        queues.push(cohort(&mut dice, &format!("{name}-inner"), Some(&name), &flavors, quota));
    }
    for at in 0..queue_count {
        let queue = format!("{name}-q{at}");
        let parent = match (together, nested) {
            (false, _) => None,
            (true, true) if dice.below(2) == 0 => Some(format!("{name}-inner")),
            _ => Some(name.clone()),
        };
        queues.push(cluster_queue(&mut dice, &queue, parent.as_deref(), &flavors, preemption));
        queues
            .push(json!({"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": queue, "namespace": NAMESPACE},
                           "spec": {"clusterQueue": queue}}));
    }
    let count = 3 + dice.below(6);
    let workloads = (0..count).map(|at| workload(&mut dice, &format!("{name}-w{at}"), &name, queue_count)).collect();
    let mut runtimes: Vec<i64> = Vec::new();
    while runtimes.len() < usize::try_from(count).expect("few workloads") {
        let seconds = 600 + i64::try_from(dice.below(100_000)).expect("a day or so");
        if !runtimes.contains(&seconds) {
            runtimes.push(seconds);
        }
    }
    let flavor = |name: &String| json!({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": name}});
    Case { queues, workloads, flavors: flavors.iter().map(flavor).collect(), runtimes, name }
}

fn cohort(dice: &mut Dice, name: &str, parent: Option<&str>, flavors: &[String], quota: bool) -> Value {
    let mut spec = json!({});
    if let Some(parent) = parent {
        spec["parentName"] = json!(parent);
    }
    if quota {
        spec["resourceGroups"] = groups(dice, flavors, parent.is_some());
    }
    json!({"apiVersion": API, "kind": "Cohort", "metadata": {"name": name}, "spec": spec})
}

fn groups(dice: &mut Dice, flavors: &[String], has_parent: bool) -> Value {
    let mut listed: Vec<Value> = Vec::new();
    for flavor in flavors {
        let nominal = dice.below(6);
        let mut quota = json!({"name": GPU, "nominalQuota": nominal});
        if has_parent {
            if let Some(limit) = dice.maybe(|dice| dice.below(5)) {
                quota["borrowingLimit"] = json!(limit);
            }
            if let Some(limit) = dice.maybe(|dice| dice.below(nominal + 1)) {
                quota["lendingLimit"] = json!(limit);
            }
        }
        listed.push(json!({"name": flavor, "resources": [quota]}));
    }
    if dice.below(2) == 0 {
        listed.reverse();
    }
    json!([{"coveredResources": [GPU], "flavors": listed}])
}

fn cluster_queue(
    dice: &mut Dice,
    name: &str,
    parent: Option<&str>,
    flavors: &[String],
    preemption: Preemption,
) -> Value {
    let mut spec = json!({
        "namespaceSelector": {},
        "queueingStrategy": dice.one_of(&["StrictFIFO", "BestEffortFIFO"]),
        "resourceGroups": groups(dice, flavors, parent.is_some()),
        "flavorFungibility": {
            "whenCanBorrow": dice.one_of(&["MayStopSearch", "TryNextFlavor"]),
            "whenCanPreempt": dice.one_of(&["MayStopSearch", "TryNextFlavor"]),
        },
    });
    if let Some(parent) = parent {
        spec["cohortName"] = json!(parent);
    }
    if preemption == Preemption::Any {
        let within = dice.one_of(&["Never", "LowerPriority", "LowerOrNewerEqualPriority"]);
        let reclaim = if parent.is_some() { dice.one_of(&["Never", "LowerPriority", "Any"]) } else { "Never" };
        spec["preemption"] = json!({"withinClusterQueue": within, "reclaimWithinCohort": reclaim});
    }
    json!({"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec})
}

fn workload(dice: &mut Dice, name: &str, case: &str, queues: u64) -> Value {
    let (count, gpus) = (dice.one_of(&[1, 1, 1, 2]), 1 + dice.below(3));
    let container = json!({"name": "main", "image": "none", "resources": {"requests": {GPU: gpus.to_string()}}});
    json!({
        "apiVersion": API, "kind": "Workload",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"case": case}},
        "spec": {
            "queueName": format!("{case}-q{}", dice.below(queues)),
            "priority": dice.one_of(&[0, 0, 0, 5, 10]),
            "podSets": [{"name": "main", "count": count,
                         "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}],
        },
    })
}
