//! The laws of Kueue's quota algebra, on random cohort trees, against constraints written down independently.

use proptest::prelude::*;
use stagger::kueue::quota::{Ledger, Tree, changes};
use stagger::plan::snapshot::{CellId, NodeId, NodeKind, Snapshot, Window, WindowEffect};
use stagger::units::Amount;

use crate::world::{a_snapshot, at};

const CELL: CellId = CellId(0);

/// A cohort tree in one cell, with the ClusterQueues that may be used.
#[derive(Debug, Clone)]
struct Forest {
    snapshot: Snapshot,
    queues: Vec<NodeId>,
}

#[derive(Debug, Clone)]
struct Seed {
    is_queue: bool,
    parent: Option<prop::sample::Index>,
    nominal: i64,
    borrowing: Option<i64>,
    lending: Option<i64>,
}

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    let limit = || prop::option::of(0_i64..8);
    let parent = prop::option::weighted(0.85, any::<prop::sample::Index>());
    let seed = (any::<bool>(), parent, 0_i64..10, limit(), limit()).prop_map(
        |(is_queue, parent, nominal, borrowing, lending)| Seed { is_queue, parent, nominal, borrowing, lending },
    );
    prop::collection::vec(seed, 1..9)
}

fn plant(seeds: &[Seed]) -> Forest {
    let mut world = a_snapshot().queue("always").gpus("a100", 3);
    let mut cohorts: Vec<String> = Vec::new();
    for (index, seed) in seeds.iter().enumerate() {
        let name = format!("n{index}");
        world = if seed.is_queue { world.queue(&name) } else { world.cohort(&name) };
        world = world.gpus("a100", seed.nominal);
        if let Some(limit) = seed.borrowing {
            world = world.borrowing_limit(limit);
        }
        if let Some(limit) = seed.lending {
            world = world.lending_limit(limit);
        }
        if let Some(parent) = seed.parent.filter(|_| !cohorts.is_empty()) {
            world = world.under(&cohorts[parent.index(cohorts.len())]);
        }
        if !seed.is_queue {
            cohorts.push(name);
        }
    }
    let snapshot = world.build();
    let queues = (0_u32..)
        .zip(&snapshot.nodes)
        .filter(|(_, node)| matches!(node.kind, NodeKind::ClusterQueue(_)))
        .map(|(index, _)| NodeId(index))
        .collect();
    Forest { snapshot, queues }
}

fn forests() -> impl Strategy<Value = Forest> {
    seeds().prop_map(|seeds| plant(&seeds))
}

fn requests() -> impl Strategy<Value = Vec<(prop::sample::Index, i64)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 1_i64..7), 0..14)
}

fn tree(snapshot: &Snapshot) -> Tree {
    Tree::at(snapshot, snapshot.now)
}

fn gpus(count: i64) -> Vec<(CellId, Amount)> {
    vec![(CELL, Amount(count))]
}

fn nodes(snapshot: &Snapshot) -> impl Iterator<Item = NodeId> {
    (0_u32..).take(snapshot.nodes.len()).map(NodeId)
}

/// Admits what fits, in order, as Kueue would.
fn admit_what_fits(forest: &Forest, requests: &[(prop::sample::Index, i64)]) -> (Ledger, Vec<(NodeId, i64)>) {
    let mut ledger = Ledger::new(tree(&forest.snapshot));
    let mut admitted = Vec::new();
    for (queue, count) in requests {
        let queue = *queue.get(&forest.queues);
        if ledger.fits(queue, &gpus(*count)) {
            ledger.add(queue, &gpus(*count));
            admitted.push((queue, *count));
        }
    }
    (ledger, admitted)
}

/// The same algebra as plain recursion over the documents, sharing no code with the ledger.
struct Oracle<'a> {
    snapshot: &'a Snapshot,
    used: &'a [(NodeId, i64)],
}

impl Oracle<'_> {
    fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        nodes(self.snapshot).filter(move |child| self.snapshot.node(*child).parent == Some(node))
    }
    fn subtree(&self, node: NodeId) -> i64 {
        let nominal = self.snapshot.node(node).quotas.get(&CELL).map_or(0, |quota| quota.nominal.0);
        nominal + self.children(node).map(|child| self.subtree(child) - self.local(child)).sum::<i64>()
    }
    fn local(&self, node: NodeId) -> i64 {
        let lending = self.snapshot.node(node).quotas.get(&CELL).and_then(|quota| quota.lending_limit);
        lending.map_or(0, |limit| (self.subtree(node) - limit.0).max(0))
    }
    fn usage(&self, node: NodeId) -> i64 {
        let own: i64 = self.used.iter().filter(|(queue, _)| *queue == node).map(|(_, count)| count).sum();
        own + self.children(node).map(|child| (self.usage(child) - self.local(child)).max(0)).sum::<i64>()
    }
    /// Every node within its limits: max(0, usage − local) ≤ subtree − local + borrowing limit; at a root, usage ≤ subtree.
    fn holds(&self) -> bool {
        nodes(self.snapshot).all(|node| {
            let above_local = (self.usage(node) - self.local(node)).max(0);
            let borrowing = self.snapshot.node(node).quotas.get(&CELL).and_then(|quota| quota.borrowing_limit);
            match (self.snapshot.node(node).parent, borrowing) {
                (None, _) => self.usage(node) <= self.subtree(node),
                (Some(_), Some(limit)) => above_local <= self.subtree(node) - self.local(node) + limit.0,
                (Some(_), None) => true,
            }
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_fits_is_what_the_constraints_allow(forest in forests(), requests in requests()) {
        let (ledger, mut admitted) = admit_what_fits(&forest, &requests);
        let oracle = Oracle { snapshot: &forest.snapshot, used: &admitted };
        prop_assert!(oracle.holds(), "a node is over its limits");
        for node in nodes(&forest.snapshot) {
            prop_assert_eq!(ledger.usage(node, CELL), Amount(oracle.usage(node)));
            prop_assert_eq!(ledger.tree().subtree_quota(node, CELL), Amount(oracle.subtree(node)));
            prop_assert_eq!(ledger.tree().local_quota(node, CELL), Amount(oracle.local(node)));
        }
        for queue in &forest.queues {
            let most = (0..=200).take_while(|count| {
                admitted.push((*queue, *count));
                let holds = Oracle { snapshot: &forest.snapshot, used: &admitted }.holds();
                admitted.pop();
                holds
            }).last();
            prop_assert_eq!(Some(ledger.available(*queue, CELL).0), most);
        }
    }

    #[test]
    fn adding_and_removing_leaves_no_trace(
        forest in forests(), before in requests(), queue in any::<prop::sample::Index>(), count in 0_i64..99,
    ) {
        let (ledger, _) = admit_what_fits(&forest, &before);
        let mut changed = ledger.clone();
        changed.add(*queue.get(&forest.queues), &gpus(count));
        changed.remove(*queue.get(&forest.queues), &gpus(count));
        prop_assert_eq!(changed, ledger);
    }

    #[test]
    fn the_order_of_additions_does_not_matter(
        forest in forests(), mut requests in requests(), turn in any::<prop::sample::Index>(),
    ) {
        let total = |requests: &[(prop::sample::Index, i64)]| {
            let mut ledger = Ledger::new(tree(&forest.snapshot));
            for (queue, count) in requests {
                ledger.add(*queue.get(&forest.queues), &gpus(*count));
            }
            ledger
        };
        let expected = total(&requests);
        requests.reverse();
        let count = requests.len().max(1);
        let middle = turn.index(count).min(requests.len());
        requests.rotate_left(middle);
        prop_assert_eq!(total(&requests), expected);
    }

    #[test]
    fn available_is_at_most_potential(forest in forests(), requests in requests()) {
        let (ledger, _) = admit_what_fits(&forest, &requests);
        for node in nodes(&forest.snapshot) {
            prop_assert!(ledger.available(node, CELL) <= ledger.tree().potential_available(node, CELL));
            prop_assert_eq!(Ledger::new(ledger.tree().clone()).available(node, CELL),
                            ledger.tree().potential_available(node, CELL));
        }
    }

    #[test]
    fn more_nominal_quota_never_makes_less_available(
        forest in forests(), requests in requests(), grown in any::<prop::sample::Index>(), by in 1_i64..5,
    ) {
        let (mut ledger, _) = admit_what_fits(&forest, &requests);
        let before = ledger.clone();
        let mut larger = forest.snapshot.clone();
        let index = grown.index(larger.nodes.len());
        larger.nodes[index].quotas.entry(CELL).or_default().nominal += Amount(by);
        ledger.adopt(tree(&larger));
        for node in nodes(&larger) {
            prop_assert!(ledger.available(node, CELL) >= before.available(node, CELL));
        }
    }

    #[test]
    fn more_usage_never_makes_more_available(
        forest in forests(), requests in requests(), queue in any::<prop::sample::Index>(), count in 1_i64..9,
    ) {
        let (mut ledger, _) = admit_what_fits(&forest, &requests);
        let before = ledger.clone();
        ledger.add(*queue.get(&forest.queues), &gpus(count));
        for node in nodes(&forest.snapshot) {
            prop_assert!(ledger.available(node, CELL) <= before.available(node, CELL));
        }
    }

    #[test]
    fn without_limits_a_root_holds_the_sum_of_nominal_quotas(mut seeds in seeds()) {
        for seed in &mut seeds {
            (seed.borrowing, seed.lending) = (None, None);
        }
        let forest = plant(&seeds);
        let roots: i64 = nodes(&forest.snapshot)
            .filter(|node| forest.snapshot.node(*node).parent.is_none())
            .map(|root| tree(&forest.snapshot).subtree_quota(root, CELL).0)
            .sum();
        prop_assert_eq!(roots, 3 + seeds.iter().map(|seed| seed.nominal).sum::<i64>());
    }

    #[test]
    fn borrowing_limit_zero_confines_a_queue_to_its_nominal_quota(mut seeds in seeds(), requests in requests()) {
        for seed in &mut seeds {
            seed.borrowing = Some(0);
        }
        let forest = plant(&seeds);
        let (ledger, _) = admit_what_fits(&forest, &requests);
        for queue in &forest.queues {
            prop_assert!(ledger.usage(*queue, CELL) <= ledger.tree().nominal(*queue, CELL));
        }
    }

    #[test]
    fn lending_limit_zero_isolates(mut seeds in seeds(), requests in requests()) {
        for seed in &mut seeds {
            seed.lending = Some(0);
        }
        let forest = plant(&seeds);
        let (mut ledger, _) = admit_what_fits(&forest, &requests);
        let before = ledger.clone();
        // A queue that stays within its own quota is invisible to everybody else.
        let queue = forest.queues[0];
        let own = ledger.tree().nominal(queue, CELL).saturating_sub(ledger.usage(queue, CELL)).0.max(0);
        ledger.add(queue, &gpus(own));
        for node in nodes(&forest.snapshot).filter(|node| *node != queue) {
            prop_assert_eq!(ledger.available(node, CELL), before.available(node, CELL));
            prop_assert_eq!(ledger.usage(node, CELL), before.usage(node, CELL));
        }
    }

    #[test]
    fn the_level_says_how_far_up_quota_comes_from(forest in forests(), requests in requests(), count in 1_i64..9) {
        let (ledger, _) = admit_what_fits(&forest, &requests);
        for queue in &forest.queues {
            let level = ledger.level(*queue, CELL, Amount(count));
            let within = ledger.within_quota_with(*queue, CELL, Amount(count));
            let alone = ledger.tree().parent(*queue).is_none();
            prop_assert_eq!(level.height == 0, within || alone);
            prop_assert!(usize::try_from(level.height).unwrap() <= ledger.tree().ancestors(*queue).count() + 8);
        }
    }
}

#[test]
fn cells_do_not_touch_each_other() {
    let snapshot = a_snapshot().queue("batch").gpus("a100", 4).gpus("h100", 2).quota("h100", "cpu", 1000).build();
    let mut ledger = Ledger::new(tree(&snapshot));
    ledger.add(NodeId(0), &[(CellId(1), Amount(2))]);
    assert_eq!(ledger.available(NodeId(0), CellId(0)), Amount(4));
    assert_eq!(ledger.available(NodeId(0), CellId(1)), Amount(0));
    assert!(ledger.fits(NodeId(0), &[(CellId(0), Amount(4)), (CellId(2), Amount(1000))]));
    assert!(!ledger.fits(NodeId(0), &[(CellId(0), Amount(4)), (CellId(1), Amount(1))]));
    assert!(!ledger.fits(NodeId(0), &[(CellId(0), Amount(3)), (CellId(0), Amount(2))]), "named twice, counted twice");
}

#[test]
fn huge_amounts_saturate() {
    let most = i64::MAX;
    let snapshot = a_snapshot()
        .cohort("all")
        .gpus("a100", most)
        .queue("a")
        .under("all")
        .gpus("a100", most)
        .borrowing_limit(most)
        .queue("b")
        .under("all")
        .gpus("a100", most)
        .lending_limit(1)
        .build();
    let mut ledger = Ledger::new(tree(&snapshot));
    assert_eq!(ledger.tree().subtree_quota(NodeId(0), CELL), Amount(most));
    assert_eq!(ledger.available(NodeId(2), CELL), Amount(most));
    for _ in 0..5 {
        ledger.add(NodeId(1), &gpus(most));
        ledger.add(NodeId(2), &gpus(most));
    }
    assert_eq!(ledger.usage(NodeId(0), CELL), Amount(most));
    assert_eq!(ledger.available(NodeId(1), CELL), Amount(i64::MIN));
    assert!(!ledger.fits(NodeId(1), &gpus(1)) && ledger.fits(NodeId(1), &gpus(0)));
    for _ in 0..5 {
        ledger.remove(NodeId(2), &gpus(most));
        ledger.remove(NodeId(1), &gpus(most));
    }
    assert_eq!(ledger, Ledger::new(tree(&snapshot)));
}

#[test]
fn windows_act_over_their_half_open_interval() {
    let snapshot = a_snapshot()
        .cohort("all")
        .gpus("a100", 2)
        .cap("a100", 5, "16:00", "17:00")
        .queue("a")
        .under("all")
        .gpus("a100", 4)
        .add("a100", 3, "13:00", "14:00")
        .reserve("a100", 3, "14:00", "15:00")
        .build();
    let available = |time: &str| Ledger::new(Tree::at(&snapshot, at(time))).available(NodeId(1), CELL).0;
    assert_eq!(available("12:59:59"), 6);
    assert_eq!(available("13:00"), 9, "added to the nominal quota");
    assert_eq!(available("14:00"), 3, "used by others");
    assert_eq!(available("15:00"), 6);
    assert_eq!(available("16:00"), 5, "capped from above");
    assert_eq!(available("17:00"), 6);
    let edges: Vec<_> = changes(&snapshot).into_iter().map(|(instant, nodes)| (instant, nodes.len())).collect();
    assert_eq!(edges.len(), 5);
    assert_eq!(edges[1], (at("14:00"), 1));
}

#[test]
fn usage_survives_a_change_of_quota() {
    let snapshot = a_snapshot().queue("batch").gpus("a100", 4).cap("a100", 1, "13:00", "14:00").build();
    let mut ledger = Ledger::new(tree(&snapshot));
    ledger.add(NodeId(0), &gpus(3));
    let before = ledger.clone();
    ledger.adopt(Tree::at(&snapshot, at("13:00")));
    assert_eq!(ledger.available(NodeId(0), CELL), Amount(-2), "nothing is evicted, nothing new fits");
    ledger.adopt(Tree::at(&snapshot, at("14:00")));
    assert_eq!(ledger, before);
}

#[test]
fn a_circle_of_cohorts_is_no_tree_and_no_panic() {
    let mut snapshot = a_snapshot().cohort("a").gpus("a100", 1).queue("q").under("a").gpus("a100", 1).build();
    snapshot.nodes[0].parent = Some(NodeId(0));
    snapshot.nodes[1].parent = Some(NodeId(77));
    snapshot.windows.push(Window {
        name: "nowhere".to_owned(),
        node: NodeId(9),
        cell: CellId(9),
        effect: WindowEffect::Cap,
        quantity: Amount(-1),
        start: snapshot.now,
        end: snapshot.horizon_end,
    });
    let mut ledger = Ledger::new(tree(&snapshot));
    assert_eq!(ledger.available(NodeId(1), CELL), Amount(1));
    assert!(!ledger.fits(NodeId(1), &[(CellId(5), Amount(1))]), "there is no such cell");
    ledger.add(NodeId(42), &gpus(1));
    assert_eq!(ledger, Ledger::new(tree(&snapshot)));
}
