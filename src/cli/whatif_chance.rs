//! How likely every hard deadline of each row is met: runtimes drawn anew, played under Kueue's rules.
//!
//! Rows meet the same luck, so that what differs between them is no noise. Everything at once is not sampled: without a
//! quota nobody waits, and whoever is late is late by itself.

use super::interrupt;
use crate::kueue::chance::{Outlook, Sampling, Spread, outlook, releases, unheld};
use crate::plan::snapshot::Snapshot;
use crate::plan::whatif::row::Chance;
use crate::plan::whatif::{Basis, Row, WhatIf};

/// Workloads up to which rows are sampled unasked: hundreds of plays of a larger load take minutes.
pub(super) const UNASKED_MAX: usize = 200;

/// Whether any runtime is uncertain at all.
pub(super) fn is_worth_it(snapshot: &Snapshot) -> bool {
    let runtimes = snapshot.workloads.iter().flat_map(|workload| &workload.options).map(|option| option.runtime);
    runtimes.into_iter().any(|runtime| runtime.known && runtime.p90 > runtime.p50)
}

/// Samples every row that runs under a quota; stops between rows with Ctrl-C.
pub(super) fn sample(answer: &mut WhatIf) {
    let sampling = Sampling { seed: answer.seed, ..Sampling::default() };
    for row in &mut answer.rows {
        if interrupt::pressed() {
            answer.left_out.push("chances".to_owned());
            return;
        }
        row.chance = of_row(row, &sampling);
    }
}

fn of_row(row: &Row, sampling: &Sampling) -> Option<Chance> {
    let released = match (row.basis, &row.plan) {
        (Basis::AllAtOnce, _) => return None,
        (_, Some(plan)) => releases(&row.snapshot, plan),
        (_, None) => unheld(&row.snapshot),
    };
    let spreads = vec![Spread::AsDeclared; row.snapshot.workloads.len()];
    let Outlook { all_hard, on_time, .. } = outlook(&row.snapshot, &released, &spreads, sampling);
    let each = row.snapshot.workloads.iter().zip(on_time);
    let each = each.filter_map(|(workload, chance)| Some((workload.key.clone(), chance?.permille() * 1000)));
    Some(Chance {
        all_hard_millionths: all_hard.permille() * 1000,
        margin_millionths: all_hard.half_width_permille * 1000,
        samples: all_hard.samples,
        workloads: each.collect(),
    })
}
