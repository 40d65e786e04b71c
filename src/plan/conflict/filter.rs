//! The deletion filter: deadlines are left out one after the other for as long as the rest still conflicts.

use super::trial::Trials;

/// Deadlines looked at around a late one: each costs a plan.
const NEIGHBOURS_MAX: usize = 12;
/// A larger set is never shown irreducible: a person does not read it anyway.
const PROVEN_MAX: usize = 8;

pub(super) struct Filtered {
    /// Ascending indices.
    pub workloads: Vec<usize>,
    pub irreducible: bool,
    /// Whether the conflict itself is proven, rather than no plan having been found.
    pub proven: bool,
}

/// Whether each set of one less was shown feasible. The whole must be known to conflict.
pub(super) fn is_irreducible(trials: &Trials<'_>, set: &[usize]) -> bool {
    set.len() == 1 || (set.len() <= PROVEN_MAX && set.iter().all(|at| is_feasible(trials, &without(set, *at))))
}

/// A conflict around `late`, as small as the budget allows. `None` when its deadline is attainable beside its neighbours'.
pub(super) fn reduce(trials: &Trials<'_>, late: usize) -> Option<Filtered> {
    let neighbours = neighbours(trials, late);
    let mut set = neighbours.clone();
    set.push(late);
    set.sort_unstable();
    let outcome = trials.plan(&trials.only(&set))?;
    if outcome.missed.is_empty() {
        return None;
    }
    let (mut proven, mut irreducible) = (outcome.proven, true);
    // The farthest first: what stays is near the late one.
    for at in neighbours.into_iter().rev() {
        let rest = without(&set, at);
        match trials.plan(&trials.only(&rest)) {
            Some(outcome) if !outcome.missed.is_empty() => (set, proven) = (rest, outcome.proven),
            Some(_) => {}
            None => irreducible = false,
        }
    }
    irreducible = irreducible && proven && is_feasible(trials, &without(&set, late));
    Some(Filtered { workloads: set, irreducible, proven })
}

fn is_feasible(trials: &Trials<'_>, set: &[usize]) -> bool {
    set.is_empty() || trials.plan(&trials.only(set)).is_some_and(|outcome| outcome.missed.is_empty())
}

fn without(set: &[usize], one: usize) -> Vec<usize> {
    set.iter().copied().filter(|at| *at != one).collect()
}

/// Workloads with hard deadlines in the same tree whose time overlaps the late one's, the nearest due first.
fn neighbours(trials: &Trials<'_>, late: usize) -> Vec<usize> {
    let snapshot = trials.snapshot;
    let root = |at: usize| snapshot.path_to_root(snapshot.workloads[at].queue).last();
    let given = &snapshot.workloads[late];
    let Some(due) = given.hard_due() else { return Vec::new() };
    let mut found: Vec<_> = (0..snapshot.workloads.len())
        .filter(|at| *at != late && root(*at) == root(late))
        .filter_map(|at| Some((at, snapshot.workloads[at].hard_due()?)))
        .filter(|(at, other)| snapshot.workloads[*at].earliest_start < due && given.earliest_start < *other)
        .map(|(at, other)| ((other - due).0.abs(), at))
        .collect();
    found.sort_unstable();
    found.truncate(NEIGHBOURS_MAX);
    found.into_iter().map(|(_, at)| at).collect()
}
