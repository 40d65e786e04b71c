//! Peaks: the most that is in use at once, per cell, planned and running work together.

use crate::plan::snapshot::{CellId, Promise, Snapshot, WindowEffect};
use crate::units::{Amount, Timestamp};

use super::held_until;

/// Something that holds amounts for a while.
pub(super) struct Use<'a> {
    pub uses: &'a [(CellId, Amount)],
    pub start: Timestamp,
    pub end: Timestamp,
}

/// The peak of each cell from now on, and its first instant; nothing used, no instant.
pub(super) fn peaks(snapshot: &Snapshot, promise: Promise, planned: &[Use<'_>]) -> Vec<(i128, Option<Timestamp>)> {
    let running = snapshot.running.iter().map(|running| Use {
        uses: &running.uses,
        start: snapshot.now,
        end: held_until(snapshot, promise, running),
    });
    let mut changes: Vec<(CellId, i64, i64)> = Vec::with_capacity(planned.len() * 2);
    let mut add = |held: &Use<'_>| {
        for &(cell, Amount(amount)) in held.uses.iter().filter(|_| held.start < held.end) {
            changes.push((cell, held.start.0, amount));
            changes.push((cell, held.end.0, amount.saturating_neg()));
        }
    };
    running.for_each(|held| add(&held));
    planned.iter().for_each(&mut add);
    changes.sort_unstable();
    let mut peaks = vec![(0, None); snapshot.cells.len()];
    for of_cell in changes.chunk_by(|a, b| a.0 == b.0) {
        let peak = &mut peaks[of_cell[0].0.0 as usize];
        let mut used: i128 = 0;
        for instant in of_cell.chunk_by(|a, b| a.1 == b.1) {
            used += instant.iter().map(|&(_, _, by)| i128::from(by)).sum::<i128>();
            if used > peak.0 {
                *peak = (used, Some(Timestamp(instant[0].1)));
            }
        }
    }
    peaks
}

/// The most each cell offers to all queues together from now up to and at the horizon's end: nominal quotas and `Add`
/// windows.
pub(super) fn capacities(snapshot: &Snapshot) -> Vec<i128> {
    let mut nominal = vec![0_i128; snapshot.cells.len()];
    for (cell, quota) in snapshot.nodes.iter().flat_map(|node| &node.quotas) {
        nominal[cell.0 as usize] += i128::from(quota.nominal.0);
    }
    let mut changes = Vec::new();
    for window in snapshot.windows.iter().filter(|window| window.effect == WindowEffect::Add) {
        let (start, end) = (window.start.max(snapshot.now), window.end);
        if start < end && start <= snapshot.horizon_end {
            changes.push((window.cell, start, i128::from(window.quantity.0)));
            changes.push((window.cell, end, -i128::from(window.quantity.0)));
        }
    }
    // At one instant what ends sorts before what begins, so touching windows never count twice.
    changes.sort_unstable();
    let mut most = nominal.clone();
    for (cell, _, by) in changes {
        let at = cell.0 as usize;
        nominal[at] += by;
        most[at] = most[at].max(nominal[at]);
    }
    most
}
