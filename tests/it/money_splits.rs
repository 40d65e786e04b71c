//! Right values for idle, shared and overhead splits, from the topology that OpenCost's allocation tests publish
//! (docs/accounting.md §4): three namespaces, two clusters, total 112.
//!
//! A cluster is a flavor here, a namespace a tenant, and every resource costs 1 per unit-hour, so that units are money.

use stagger::ledger::card::{Capacity, Card, Split};
use stagger::ledger::run::Run;

use crate::ledger_fixture::{
    Books, RunWords, a_capacity, a_card, a_rate, a_run, a_shared_tenant, an_overhead, borne, window,
};

const RESOURCES: [&str; 6] = ["cpu", "memory", "nvidia.com/gpu", "storage", "network", "balancer"];

/// One unit of everything, held for the day's first hour.
fn container(tenant: &str, cluster: &str, name: &str) -> Run {
    let run = Run { resources: std::collections::BTreeMap::new(), ..a_run(name) };
    RESOURCES.iter().fold(run.tenant(tenant).on(cluster), |run, resource| run.holds(resource, 1))
}

/// `first` is the tenant of the container that costs 16.
fn topology(first: &str) -> Vec<Run> {
    let mut runs = vec![container(first, "cluster1", "container1").holds("memory", 11)];
    for name in ["container2", "container3"] {
        runs.push(container("namespace1", "cluster1", name));
    }
    for cluster in ["cluster1", "cluster2"] {
        for name in ["container4", "container5", "container6"] {
            runs.push(container("namespace2", cluster, &format!("{cluster}-{name}")));
        }
    }
    for name in ["container7", "container8", "container9"] {
        runs.push(container("namespace3", "cluster2", name));
    }
    runs
}

fn capacity() -> Vec<Capacity> {
    let held = |cluster: &str, resource: &str| match (cluster, resource) {
        ("cluster1", "memory") => 16 + 15,
        (_, "cpu") | ("cluster2", "memory") => 6 + 5,
        _ => 6,
    };
    let cells = ["cluster1", "cluster2"].into_iter().flat_map(|cluster| RESOURCES.map(|resource| (cluster, resource)));
    cells.map(|(cluster, resource)| a_capacity(cluster, resource, held(cluster, resource), window(0, 1))).collect()
}

fn card() -> Card {
    a_card(RESOURCES.map(|resource| a_rate(resource, "1")).to_vec())
}

/// What the three namespaces bear, and what stands apart.
fn bear(runs: Vec<Run>, card: Card) -> [String; 4] {
    let books = Books { runs, cards: vec![card], capacity: Some(capacity()), ..Books::default() };
    let priced = books.price(window(0, 1));
    ["namespace1", "namespace2", "namespace3", "-"].map(|tenant| borne(&priced, tenant))
}

#[test]
fn nothing_shared() {
    assert_eq!(bear(topology("namespace1"), card()), ["28.00", "36.00", "18.00", "30.00"]);
}

#[test]
fn idle_by_cost() {
    let card = Card { idle: Split::ByCost, ..card() };
    assert_eq!(bear(topology("namespace1"), card), ["42.6875", "46.3125", "23.00", "0.00"]);
}

#[test]
fn a_shared_tenant_evenly() {
    let card = Card { shared: vec![a_shared_tenant("namespace3", Split::Even)], ..card() };
    assert_eq!(bear(topology("namespace1"), card), ["37.00", "45.00", "0.00", "30.00"]);
}

#[test]
fn a_shared_tenant_by_cost() {
    let card = Card { shared: vec![a_shared_tenant("namespace3", Split::ByCost)], ..card() };
    assert_eq!(bear(topology("namespace1"), card), ["35.875", "46.125", "0.00", "30.00"]);
}

#[test]
fn a_shared_application_evenly() {
    let card = Card { shared: vec![a_shared_tenant("app1", Split::Even)], ..card() };
    assert_eq!(bear(topology("app1"), card), ["17.333334", "41.333333", "23.333333", "30.00"]);
}

#[test]
fn an_overhead_by_cost() {
    let card = Card { overheads: vec![an_overhead("platform", "168", Split::ByCost)], ..card() };
    assert_eq!(bear(topology("namespace1"), card), ["85.365854", "109.756097", "54.878049", "30.00"]);
}

/// Upstream's 6e expects 79.6667 and notes that 74.7708 would be right; its 6f, 6g and 6h have it so.
#[test]
fn a_shared_tenant_carries_its_idle_along() {
    let shared = vec![a_shared_tenant("namespace1", Split::ByCost)];
    let card = Card { idle: Split::ByCost, shared, ..card() };
    let borne = bear(topology("namespace1"), card);
    assert_eq!(borne, ["0.00", "74.770833", "37.229167", "0.00"]);
    let to_four_places = stagger::ratio::Ratio::parse(&borne[1]).expect("a decimal");
    assert_eq!(to_four_places.decimal_floor(4), "74.7708");
}

#[test]
fn idle_and_overhead_together() {
    let overheads = vec![an_overhead("platform", "168", Split::ByCost)];
    let card = Card { idle: Split::ByCost, overheads, ..card() };
    assert_eq!(bear(topology("namespace1"), card), ["100.053354", "120.068597", "59.878049", "0.00"]);
}

#[test]
fn an_even_overhead_is_the_same_for_everyone() {
    let card = Card { overheads: vec![an_overhead("platform", "3", Split::Even)], ..card() };
    assert_eq!(bear(topology("namespace1"), card), ["29.00", "37.00", "19.00", "30.00"]);
}
