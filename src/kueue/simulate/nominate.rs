//! Which option a head would take now: Kueue's flavor assignment.

use crate::kueue::quota::Ledger;
use crate::plan::snapshot::{CellId, NodeId, PreemptionPolicy, QueueRules};
use crate::units::Amount;

use super::holders::Cluster;
use super::preempt::{Incoming, targets};

/// An option that can be had, now or once others have made room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nomination {
    pub option: usize,
    /// How far up it borrows: 0 within the nominal quota.
    pub borrows: u32,
    pub mode: Mode,
    /// Options after `option` that were not looked at; the next attempt begins there. 0: from the first.
    pub resume: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Fits,
    /// There is quota for it, but others use it. `victims` may be empty: then it can only wait.
    Waits {
        victims: Vec<usize>,
    },
}

/// How one option stands, worst cell first. The order is Kueue's preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Chance {
    Never,
    NoCandidates,
    Preempt,
    Reclaim,
    Fits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    chance: Chance,
    borrows: u32,
}

impl Standing {
    const BEST: Self = Self { chance: Chance::Fits, borrows: 0 };

    fn better_than(self, other: Self, rules: &QueueRules) -> bool {
        if self.chance == Chance::Never || other.chance == Chance::Never {
            return self.chance != Chance::Never;
        }
        let (chance, locality) = (self.chance.cmp(&other.chance), other.borrows.cmp(&self.borrows));
        let order = if rules.prefer_preemption_over_borrowing { locality.then(chance) } else { chance.then(locality) };
        order.is_gt()
    }

    fn ends_the_search(self, rules: &QueueRules) -> bool {
        match self.chance {
            Chance::Never | Chance::NoCandidates => false,
            Chance::Preempt | Chance::Reclaim if rules.try_next_flavor_before_preempting => false,
            _ => self.borrows == 0 || !rules.try_next_flavor_before_borrowing,
        }
    }
}

/// What `workload` would take, beginning at option `from`; `None` when no option has quota for it at all.
pub(super) fn nominate(cluster: &Cluster<'_>, ledger: &mut Ledger, workload: usize, from: usize) -> Option<Nomination> {
    let queue = cluster.snapshot.workloads[workload].queue;
    let rules = cluster.rules(queue)?;
    let options = &cluster.snapshot.workloads[workload].options;
    let mut best: Option<(usize, Standing, u32, Vec<CellId>)> = None;
    let mut resume = 0;
    for (index, option) in options.iter().enumerate().skip(from) {
        let mut standing = Standing::BEST;
        let (mut borrows, mut needs) = (0, Vec::new());
        for (cell, amount) in &option.uses {
            let of_cell = stand(cluster, ledger, workload, (*cell, *amount));
            borrows = borrows.max(of_cell.borrows);
            if standing.better_than(of_cell, rules) {
                standing = of_cell;
            }
            if standing.chance == Chance::Never {
                break;
            }
            if of_cell.chance != Chance::Fits {
                needs.push(*cell);
            }
        }
        let ends = standing.ends_the_search(rules);
        let better = best.as_ref().map_or(standing.chance != Chance::Never, |it| standing.better_than(it.1, rules));
        if ends || better {
            best = Some((index, standing, borrows, needs));
        }
        if ends {
            resume = if index + 1 < options.len() { index + 1 } else { 0 };
            break;
        }
    }
    let (option, _, borrows, needs) = best?;
    if needs.is_empty() {
        return Some(Nomination { option, borrows, mode: Mode::Fits, resume });
    }
    let incoming = Incoming { workload, queue, rules, needs: &needs, uses: &options[option].uses };
    let victims = targets(cluster, ledger, &incoming);
    Some(Nomination { option, borrows, mode: Mode::Waits { victims }, resume })
}

/// How one cell of an option stands.
fn stand(cluster: &Cluster<'_>, ledger: &mut Ledger, workload: usize, (cell, amount): (CellId, Amount)) -> Standing {
    let queue = cluster.snapshot.workloads[workload].queue;
    let never = Standing { chance: Chance::Never, borrows: 0 };
    if ledger.fits(queue, &[(cell, amount)]) {
        let borrows = ledger.level(queue, cell, amount).height;
        return Standing { chance: Chance::Fits, borrows };
    }
    let Some(rules) = cluster.rules(queue) else { return never };
    if amount > ledger.tree().potential_available(queue, cell) {
        return never;
    }
    let level = ledger.level(queue, cell, amount);
    let within_nominal = amount <= ledger.tree().nominal(queue, cell);
    if within_nominal || level.below_root || preempts_while_borrowing(rules) {
        after_preemption(cluster, ledger, workload, (cell, amount), level.height)
    } else {
        Standing { borrows: level.height, ..never }
    }
}

/// What preemption for this cell alone would bring.
fn after_preemption(
    cluster: &Cluster<'_>,
    ledger: &mut Ledger,
    workload: usize,
    (cell, amount): (CellId, Amount),
    borrows: u32,
) -> Standing {
    let queue = cluster.snapshot.workloads[workload].queue;
    let none = Standing { chance: Chance::NoCandidates, borrows };
    let Some(rules) = cluster.rules(queue) else { return none };
    let incoming = Incoming { workload, queue, rules, needs: &[cell], uses: &[(cell, amount)] };
    let victims = targets(cluster, ledger, &incoming);
    if victims.is_empty() {
        return none;
    }
    let borrows = without(cluster, ledger, &victims, |ledger| ledger.level(queue, cell, amount).height);
    let own = victims.iter().any(|victim| cluster.snapshot.workloads[*victim].queue == queue);
    Standing { chance: if own { Chance::Preempt } else { Chance::Reclaim }, borrows }
}

pub(super) fn preempts_while_borrowing(rules: &QueueRules) -> bool {
    rules.borrow_within_cohort.is_some_and(|borrow| borrow.policy != PreemptionPolicy::Never)
}

/// Asks a question of the ledger as it would be without some admitted workloads.
pub(super) fn without<T>(
    cluster: &Cluster<'_>,
    ledger: &mut Ledger,
    absent: &[usize],
    ask: impl FnOnce(&Ledger) -> T,
) -> T {
    let held = |workload: &usize| -> (NodeId, &[(CellId, Amount)]) {
        (cluster.snapshot.workloads[*workload].queue, cluster.held(*workload))
    };
    for (queue, uses) in absent.iter().map(held) {
        ledger.remove(queue, uses);
    }
    let answer = ask(ledger);
    for (queue, uses) in absent.iter().map(held) {
        ledger.add(queue, uses);
    }
    answer
}
