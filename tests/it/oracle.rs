//! The optimum of tiny planning problems by trying everything, to hold the planner against.
//!
//! Every workload is tried on each of its options at each multiple of the common divisor of all times, from its earliest
//! start to an instant by which everything would be over even one after the other. Some optimum is among these: what is
//! lost only grows with the end, so any start can move left to where something ends or changes, and money is linear
//! between such instants. Branches are cut only where even the best ends of what is not yet placed lose too much.
//!
//! Deliberately absent: interruption (use workloads that tolerate none) and stability.

use std::collections::HashMap;

use stagger::plan::proposal::LevelName;
use stagger::plan::snapshot::{CellId, Objective, Policy, Snapshot};
use stagger::units::{Seconds, Timestamp};

use crate::brute::{self, Placement};

/// The levels of the objective in order, with the least values in strict order.
pub type Levels = Vec<(LevelName, i128)>;

/// The best levels, and placements that reach them. `None` when some workload fits nowhere.
pub fn optimum(snapshot: &Snapshot, policy: &Policy) -> Option<(Levels, Vec<Placement>)> {
    let mut search = Search::new(snapshot, policy);
    search.try_list_schedules();
    // What counts for nothing can always stand at the end, where it is in nobody's way.
    let counted = |workload: &usize| {
        let workload = &snapshot.workloads[*workload];
        brute::is_counted(policy, workload) || workload.due.is_some()
    };
    let order: Vec<_> = (0..snapshot.workloads.len()).filter(counted).collect();
    search.descend(&order, &mut Vec::new());
    search.best
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    unit: i64,
    /// Everything is over by then.
    slots: i64,
    /// What is used by planned work: per cell, per slot, per node.
    planned: Vec<Vec<Vec<i64>>>,
    /// `brute::holds_at`, remembered.
    holds: HashMap<(CellId, i64, Vec<i64>), bool>,
    best: Option<(Levels, Vec<Placement>)>,
}

impl<'a> Search<'a> {
    fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let unit = unit(snapshot, policy);
        let longest = snapshot.workloads.iter().map(|workload| {
            workload.options.iter().map(|option| option.held(policy.promise).0).max().expect("an option must be given")
        });
        let edges = edges(snapshot, policy).into_iter().map(|at| (at - snapshot.now).0);
        let slots = (edges.max().unwrap_or(0) + longest.sum::<i64>()) / unit;
        let by_slot = vec![vec![0; snapshot.nodes.len()]; usize::try_from(slots).expect("slots must be few")];
        let planned = vec![by_slot; snapshot.cells.len()];
        Self { snapshot, policy, unit, slots, planned, holds: HashMap::new(), best: None }
    }

    /// A first incumbent, so that branches are cut early.
    fn try_list_schedules(&mut self) {
        let mut order: Vec<_> = (0..self.snapshot.workloads.len()).collect();
        order.sort_by_key(|at| self.snapshot.workloads[*at].due.as_ref().map_or(i64::MAX, |due| due.at.0));
        for _ in 0..order.len() {
            if let Some(placed) = brute::list_schedule(self.snapshot, self.policy, &order) {
                self.offer(&placed);
            }
            order.rotate_left(1);
        }
    }

    fn offer(&mut self, placements: &[Placement]) {
        let levels = brute::level_values(self.snapshot, self.policy, placements);
        if self.best.as_ref().is_none_or(|(best, _)| is_less(&levels, best)) {
            self.best = Some((levels, placements.to_vec()));
        }
    }

    fn descend(&mut self, left: &[usize], placed: &mut Vec<Placement>) {
        let Some((&workload, rest)) = left.split_first() else {
            return self.offer(placed);
        };
        let given = &self.snapshot.workloads[workload];
        let earliest = (given.earliest_start.max(self.snapshot.now) - self.snapshot.now).0 / self.unit;
        for option in 0..given.options.len() {
            let length = given.options[option].held(self.policy.promise).0 / self.unit;
            for slot in earliest..=(self.slots - length) {
                let start = self.snapshot.now + Seconds(slot * self.unit);
                let placement = Placement { workload, option, start };
                placed.push(placement);
                if self.may_win(rest, placed) {
                    self.put(placement, 1);
                    if self.fits(placement) {
                        self.descend(rest, placed);
                    }
                    self.put(placement, -1);
                }
                placed.pop();
            }
        }
    }

    /// Whether the best conceivable ends of the rest would still beat the incumbent.
    fn may_win(&self, rest: &[usize], placed: &[Placement]) -> bool {
        let Some((best, _)) = &self.best else { return true };
        let mut levels = brute::level_values(self.snapshot, self.policy, placed);
        for &workload in rest {
            let given = &self.snapshot.workloads[workload];
            let start = given.earliest_start.max(self.snapshot.now);
            let alone = (0..given.options.len()).map(|option| Placement { workload, option, start });
            let each: Vec<_> = alone.map(|one| brute::level_values(self.snapshot, self.policy, &[one])).collect();
            for (at, (name, value)) in levels.iter_mut().enumerate() {
                // A later hour may be cheaper, and a peak is no sum: nothing is known of either.
                if !matches!(name, LevelName::Cost | LevelName::Peak) {
                    *value += each.iter().map(|levels| levels[at].1).min().expect("an option must be given");
                }
            }
        }
        is_less(&levels, best)
    }

    fn slots_of(&self, placement: Placement) -> std::ops::Range<i64> {
        let from = (placement.start - self.snapshot.now).0 / self.unit;
        from..from + placement.option(self.snapshot).held(self.policy.promise).0 / self.unit
    }

    fn put(&mut self, placement: Placement, sign: i64) {
        let node = self.snapshot.workloads[placement.workload].queue.0 as usize;
        for &(cell, amount) in &placement.option(self.snapshot).uses {
            for slot in self.slots_of(placement) {
                let slot = usize::try_from(slot).expect("slots must count from now");
                self.planned[cell.0 as usize][slot][node] += sign * amount.0;
            }
        }
    }

    fn fits(&mut self, placement: Placement) -> bool {
        placement.option(self.snapshot).uses.iter().all(|&(cell, _)| {
            self.slots_of(placement).all(|slot| {
                let at = self.snapshot.now + Seconds(slot * self.unit);
                let planned = &self.planned[cell.0 as usize][usize::try_from(slot).expect("slots must count from now")];
                *self
                    .holds
                    .entry((cell, slot, planned.clone()))
                    .or_insert_with(|| brute::holds_at(self.snapshot, self.policy.promise, cell, at, planned))
            })
        })
    }
}

fn is_less(a: &Levels, b: &Levels) -> bool {
    a.iter().map(|level| level.1).lt(b.iter().map(|level| level.1))
}

/// Instants at which the world changes by itself, from now on.
fn edges(snapshot: &Snapshot, policy: &Policy) -> Vec<Timestamp> {
    let mut edges = brute::instants(snapshot, policy, &[]);
    edges.extend(snapshot.workloads.iter().map(|workload| workload.earliest_start));
    let prices = snapshot.prices.iter().flat_map(|price| &price.windows);
    edges.extend(prices.flat_map(|window| [window.start, window.end]));
    edges.retain(|at| *at >= snapshot.now);
    edges
}

fn unit(snapshot: &Snapshot, policy: &Policy) -> i64 {
    let mut spans: Vec<_> = edges(snapshot, policy).into_iter().map(|at| (at - snapshot.now).0).collect();
    for workload in &snapshot.workloads {
        spans.extend(workload.options.iter().map(|option| option.held(policy.promise).0));
        if let Some(due) = &workload.due {
            spans.push((due.at - snapshot.now).0.abs());
            spans.extend(due.tiers.iter().map(|tier| tier.after.0));
        }
    }
    spans.into_iter().fold(0, gcd).max(1)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

mod tests {
    use stagger::plan::propose::propose;
    use stagger::plan::watch::Unwatched;

    use super::*;
    use crate::given::touchstone;
    use crate::tiny;

    /// Problems of the slower law; the planner itself is held against [`PLANNED`].
    const SEEDS: u64 = 1_000;
    /// In halves, so that two run at a time.
    const PLANNED: u64 = 2_000;

    fn values(snapshot: &Snapshot, policy: &Policy) -> Vec<i128> {
        let (levels, _) = optimum(snapshot, policy).expect("every workload must fit some day");
        levels.into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn the_touchstone_ends_at_14_or_peaks_at_2() {
        let snapshot = touchstone().snapshot;
        assert_eq!(values(&snapshot, &Policy::default()), [0, 0, 2 * 3_600 + 2 * 7_200]);
        let lowest_peak = Policy { objective: Objective::LowestPeak, ..Policy::default() };
        assert_eq!(values(&snapshot, &lowest_peak), [0, 0, 2, 3_600 * (1 + 2 + 3 + 4)]);
    }

    #[test]
    fn the_optimum_is_a_valid_plan_that_no_order_of_a_list_beats() {
        for seed in 0..SEEDS {
            let (snapshot, policy) = tiny::any(seed);
            let Some((levels, placements)) = optimum(&snapshot, &policy) else { continue };
            assert!(brute::fits(&snapshot, &policy, &placements), "seed {seed}");
            assert_eq!(levels, brute::level_values(&snapshot, &policy, &placements), "seed {seed}");
            let mut order: Vec<_> = (0..snapshot.workloads.len()).collect();
            for _ in 0..order.len() {
                order.rotate_left(1);
                let Some(listed) = brute::list_schedule(&snapshot, &policy, &order) else { continue };
                let listed = brute::level_values(&snapshot, &policy, &listed);
                assert!(!is_less(&listed, &levels), "seed {seed}: {listed:?} beats {levels:?}");
            }
        }
    }

    /// The planner, bounded by steps, on tiny problems: never better than the optimum, equal where it claims a proof, and
    /// every level's bound at most what is possible once the levels before it are at their best.
    fn is_never_better_and_as_good_where_it_says_proven(seeds: std::ops::Range<u64>) {
        let mut wrong = Vec::new();
        for seed in seeds {
            let (snapshot, policy) = tiny::any(seed);
            let Some((best, _)) = optimum(&snapshot, &policy) else { continue };
            let policy = Policy { step_limit: Some(3_000), ..policy };
            let plan = propose(&snapshot, &policy, &Unwatched);
            let levels = plan.quality.levels.iter();
            for (level, (name, value)) in levels.zip(&best) {
                assert_eq!(level.name, *name, "seed {seed}");
                let proven = level.bound == Some(level.value);
                if level.value < *value {
                    let starts: Vec<_> = plan
                        .releases
                        .iter()
                        .map(|release| (&release.workload, &release.flavor, &release.pieces))
                        .collect();
                    wrong.push(format!(
                        "seed {seed}: {name:?} {} beats the optimum {value} with {starts:?} and {:?}\n{snapshot:#?}",
                        level.value, plan.problems
                    ));
                }
                if level.bound.is_some_and(|bound| bound > *value) {
                    wrong.push(format!("seed {seed}: {name:?} bound {:?} exceeds the optimum {value}", level.bound));
                }
                if proven && level.value != *value {
                    wrong.push(format!("seed {seed}: {name:?} {} is called proven, best is {value}", level.value));
                }
                if level.value != *value {
                    // Later levels are compared only among plans equal in the earlier ones.
                    break;
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_planner_is_never_better_and_as_good_where_it_says_proven() {
        is_never_better_and_as_good_where_it_says_proven(0..PLANNED / 2);
    }

    #[test]
    fn the_planner_is_never_better_and_as_good_where_it_says_proven_either() {
        is_never_better_and_as_good_where_it_says_proven(PLANNED / 2..PLANNED);
    }
}
