//! What each release would meet if it started sooner, everything else staying where it is.
//!
//! One walk over the trees answers two questions for all of them: does anything refuse it one second before its start,
//! and could it have run from its earliest start on? Both are asked by putting it there, judging, and taking it away.

use crate::plan::check::capacity::{Breach, Claim, Stretch, Tree, walk};
use crate::plan::proposal::Release;
use crate::plan::snapshot::{CellId, Policy, Snapshot};
use crate::units::{Amount, Seconds, Timestamp};

use super::Placed;

/// What a release sees when it looks back from its start.
#[derive(Debug, Clone, Default)]
pub(super) struct Outlook {
    /// What refuses it one second before its start; `None` when nothing does, or when it starts as early as it may.
    pub refused: Option<Refused>,
    /// Whether it could run from its earliest start on, beside all others.
    pub earliest_is_free: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Refused {
    pub cell: CellId,
    pub breach: Breach,
    pub asked: Amount,
}

impl Refused {
    /// What the limit still left without the workload.
    pub(super) fn free(&self) -> Amount {
        let free = self.breach.allowed - (self.breach.used - i128::from(self.asked.0));
        Amount(i64::try_from(free.max(0)).unwrap_or(i64::MAX))
    }
}

/// One release's wish for one cell.
struct Probe {
    /// Index into the answers.
    answer: usize,
    cell: CellId,
    node: u32,
    asked: Amount,
    /// One second before the start.
    last: Timestamp,
    /// The part of a run from its earliest start on that lies before its planned start.
    from: Timestamp,
    to: Timestamp,
}

/// The outlooks of `asked` releases, in that order.
pub(super) fn outlooks(
    snapshot: &Snapshot,
    policy: &Policy,
    releases: &[Release],
    placed: &[Option<Placed<'_>>],
    asked: &[usize],
) -> Vec<Outlook> {
    let claims: Vec<_> = releases
        .iter()
        .zip(placed)
        .filter_map(|(release, place)| {
            let Placed { workload, option, .. } = place.as_ref()?;
            Some(Claim { queue: workload.queue, uses: &option.uses, pieces: &release.pieces })
        })
        .collect();
    let mut walker = Walker::new(probes(snapshot, policy, releases, placed, asked), asked.len());
    walk(snapshot, policy.promise, &claims, &mut |tree, stretch| walker.visit(tree, stretch));
    walker.answers
}

fn probes(
    snapshot: &Snapshot,
    policy: &Policy,
    releases: &[Release],
    placed: &[Option<Placed<'_>>],
    asked: &[usize],
) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (answer, &at) in asked.iter().enumerate() {
        let Some(Placed { workload, option, .. }) = &placed[at] else { continue };
        let start = releases[at].start;
        let earliest = workload.earliest_start.max(snapshot.now);
        if start <= earliest {
            continue;
        }
        let held = option.held(policy.promise);
        for &(cell, asked) in &option.uses {
            let last = start - Seconds(1);
            let to = start.min(Timestamp(earliest.0.saturating_add(held.0)));
            probes.push(Probe { answer, cell, node: workload.queue.0, asked, last, from: earliest, to });
        }
    }
    probes
}

struct Walker {
    /// By cell and last moment, and how many of them are answered.
    probes: Vec<Probe>,
    next: usize,
    /// Indices into `probes` by cell and earliest start, and how many of them are opened.
    by_earliest: Vec<usize>,
    next_open: usize,
    /// Probes whose run from the earliest start on has met nothing yet.
    open: Vec<usize>,
    answers: Vec<Outlook>,
}

impl Walker {
    fn new(mut probes: Vec<Probe>, asked: usize) -> Self {
        probes.sort_by_key(|probe| (probe.cell, probe.last));
        let mut by_earliest: Vec<_> = (0..probes.len()).collect();
        by_earliest.sort_by_key(|at| (probes[*at].cell, probes[*at].from));
        let mut answers = vec![Outlook::default(); asked];
        for probe in &probes {
            answers[probe.answer].earliest_is_free = true;
        }
        Self { probes, next: 0, by_earliest, next_open: 0, open: Vec::new(), answers }
    }

    fn visit(&mut self, tree: &mut Tree, stretch: &Stretch<'_>) {
        while let Some(probe) = self.probes.get(self.next).filter(|p| p.cell == stretch.cell && p.last < stretch.to) {
            let answer = &mut self.answers[probe.answer];
            if let (None, Some(breach)) = (&answer.refused, refuses(tree, probe)) {
                answer.refused = Some(Refused { cell: probe.cell, breach, asked: probe.asked });
            }
            self.next += 1;
        }
        while let Some(&at) = self.by_earliest.get(self.next_open) {
            let probe = &self.probes[at];
            if probe.cell != stretch.cell || probe.from >= stretch.to {
                break;
            }
            self.open.push(at);
            self.next_open += 1;
        }
        let (probes, answers) = (&self.probes, &mut self.answers);
        self.open.retain(|&at| {
            let probe = &probes[at];
            if probe.cell != stretch.cell || probe.to <= stretch.from {
                return false;
            }
            let refused = refuses(tree, probe).is_some();
            if refused {
                answers[probe.answer].earliest_is_free = false;
            }
            !refused
        });
    }
}

/// The nearest limit that would be broken if the workload ran now, too.
fn refuses(tree: &mut Tree, probe: &Probe) -> Option<Breach> {
    let mut first = None;
    tree.plan(probe.node, i128::from(probe.asked.0));
    tree.judge(probe.node, &mut |breach| {
        first.get_or_insert(breach);
    });
    tree.plan(probe.node, -i128::from(probe.asked.0));
    first
}
