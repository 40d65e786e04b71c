//! Where every workload stands in exact time, and the plan written from it.

use std::io::{BufWriter, Write};

use sha2::{Digest, Sha256};

use crate::failure::Finding;
use crate::names::ResourceName;
use crate::plan::proposal::{Before, Level, Piece, Plan, Quality, Release};
use crate::plan::snapshot::{Interruption, Policy, Promise, RunOption, Snapshot, Workload};
use crate::plan::summary::{self, Ends, Held, Occupation};
use crate::units::{Amount, Seconds, Timestamp};

/// A workload's option and pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// Index into the workload's options.
    pub option: usize,
    pub pieces: Vec<Piece>,
}

/// All workloads of a snapshot; `None` where none of the options can ever fit.
pub type Stands = Vec<Option<Stand>>;

impl Stand {
    #[must_use]
    pub fn whole(option: usize, start: Timestamp, length: Seconds) -> Self {
        Self { option, pieces: vec![Piece { start, end: start + length }] }
    }

    #[must_use]
    pub fn start(&self) -> Timestamp {
        self.pieces.first().map_or(Timestamp(i64::MAX), |piece| piece.start)
    }

    /// The end at the promised quantile.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        self.pieces.last().map_or(Timestamp(i64::MAX), |piece| piece.end)
    }

    /// The end at a quantile: as much sooner or later as the runtime is, but not before the last piece has resumed.
    #[must_use]
    pub fn end_at(&self, workload: &Workload, promise: Promise, quantile: Promise) -> Timestamp {
        let option = &workload.options[self.option];
        let shift = option.held(quantile) - option.held(promise);
        let resumed = self.pieces.last().map_or(Timestamp(0), |piece| piece.start)
            + if self.pieces.len() > 1 { resumption_cost(&workload.interruption) } else { Seconds::ZERO };
        (self.end() + shift).max(resumed)
    }
}

/// What each resumption costs.
#[must_use]
pub fn resumption_cost(interruption: &Interruption) -> Seconds {
    match interruption {
        Interruption::None => Seconds::ZERO,
        Interruption::Restartable { cost, .. } | Interruption::Checkpointable { cost, .. } => *cost,
    }
}

/// Σ losses over all workloads: (hard, soft).
#[must_use]
pub fn losses(snapshot: &Snapshot, stands: &Stands) -> (i128, i128) {
    let mut sum = (0, 0);
    for (workload, stand) in snapshot.workloads.iter().zip(stands) {
        if let Some(stand) = stand {
            let losses = workload.losses_at(stand.end());
            sum.0 += i128::from(losses.hard);
            sum.1 += i128::from(losses.soft);
        }
    }
    sum
}

/// Releases by start, then in the snapshot's order; reasons are still to be filled in.
#[must_use]
pub fn releases(snapshot: &Snapshot, policy: &Policy, stands: &Stands) -> Vec<Release> {
    let mut order: Vec<(Timestamp, usize)> =
        stands.iter().enumerate().filter_map(|(index, stand)| Some((stand.as_ref()?.start(), index))).collect();
    order.sort_unstable();
    order
        .into_iter()
        .filter_map(|(_, index)| Some(release(snapshot, policy, &snapshot.workloads[index], stands[index].as_ref()?)))
        .collect()
}

fn release(snapshot: &Snapshot, policy: &Policy, workload: &Workload, stand: &Stand) -> Release {
    let option = &workload.options[stand.option];
    let end = stand.end_at(workload, policy.promise, Promise::P50);
    let end_p90 = stand.end_at(workload, policy.promise, Promise::P90);
    let finish_by = workload.due.as_ref().map(|due| due.at);
    let uses: Vec<_> = option
        .uses
        .iter()
        .map(|(cell, amount)| {
            let cell = snapshot.cell(*cell);
            (cell.flavor.clone(), cell.resource.clone(), *amount)
        })
        .collect();
    Release {
        workload: workload.key.clone(),
        kind: workload.kind.clone(),
        tenant: workload.tenant.clone(),
        cluster_queue: snapshot.node(workload.queue).name.clone(),
        flavor: option.flavor.clone(),
        resources: by_resource(snapshot, option),
        uses,
        start: stand.start(),
        end,
        end_p90,
        pieces: stand.pieces.clone(),
        finish_by,
        slack: finish_by.map(|due| due - end_p90),
        verdict: summary::verdict(workload, option.runtime.known, Some(Ends { p50: end, p90: end_p90 })),
        reasons: Vec::new(),
    }
}

fn by_resource(snapshot: &Snapshot, option: &RunOption) -> Vec<(ResourceName, Amount)> {
    let mut sums: Vec<(ResourceName, Amount)> = Vec::new();
    for (cell, amount) in &option.uses {
        let resource = &snapshot.cell(*cell).resource;
        match sums.iter_mut().find(|(name, _)| name == resource) {
            Some((_, sum)) => *sum += *amount,
            None => sums.push((resource.clone(), *amount)),
        }
    }
    sums.sort();
    sums
}

/// The plan's own figures.
#[must_use]
pub fn summarize(snapshot: &Snapshot, policy: &Policy, stands: &Stands) -> summary::Summary {
    let occupations: Vec<Occupation> = stands
        .iter()
        .enumerate()
        .filter_map(|(index, stand)| {
            let stand = stand.as_ref()?;
            let workload = &snapshot.workloads[index];
            let pieces = stand.pieces.iter().map(|piece| Held { option: stand.option, piece: *piece }).collect();
            let end = Ends {
                p50: stand.end_at(workload, policy.promise, Promise::P50),
                p90: stand.end_at(workload, policy.promise, Promise::P90),
            };
            Some(Occupation { workload: index, pieces, end: Some(end) })
        })
        .collect();
    summary::summarize(snapshot, policy.promise, &occupations)
}

/// SHA-256 over snapshot and policy as JSON, hexadecimal. Budget and seed are part of the policy.
#[must_use]
pub fn input_digest(snapshot: &Snapshot, policy: &Policy) -> String {
    digest(&(snapshot, policy))
}

/// SHA-256 over a value as JSON, hexadecimal.
#[must_use]
pub fn digest(value: &impl serde::Serialize) -> String {
    struct Sink(Sha256);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    // JSON comes in pieces of a few bytes.
    let mut sink = BufWriter::with_capacity(1 << 16, Sink(Sha256::new()));
    let written = serde_json::to_writer(&mut sink, value).is_ok() && sink.flush().is_ok();
    debug_assert!(written, "what is digested must serialize");
    sink.get_ref().0.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The plan without reasons, conflicts and problems other than work that can never fit.
#[must_use]
pub fn draft(snapshot: &Snapshot, policy: &Policy, stands: &Stands, levels: Vec<Level>, quality: Quality) -> Plan {
    let summary = summarize(snapshot, policy, stands);
    let problems = stands
        .iter()
        .zip(&snapshot.workloads)
        .filter(|(stand, _)| stand.is_none())
        .map(|(_, workload)| never_fits(snapshot, workload))
        .collect();
    Plan {
        now: snapshot.now,
        horizon_end: snapshot.horizon_end,
        time_zone: snapshot.time_zone.clone(),
        objective: policy.objective,
        promise: policy.promise,
        input_digest: String::new(),
        quality: Quality { levels, ..quality },
        releases: releases(snapshot, policy, stands),
        peaks: summary.peak.clone(),
        summary,
        before: Before::default(),
        infeasible: Vec::new(),
        problems,
    }
}

fn never_fits(snapshot: &Snapshot, workload: &Workload) -> Finding {
    let queue = snapshot.node(workload.queue);
    let stopped = matches!(&queue.kind, crate::plan::snapshot::NodeKind::ClusterQueue(rules) if rules.stopped);
    let subject = format!("{} {}", workload.kind, workload.key);
    if stopped {
        return Finding::warning(
            "P0101",
            subject,
            format!("ClusterQueue {} is stopped and admits nothing new", queue.name),
        )
        .hint("set its stopPolicy to None, or move the workload to another queue");
    }
    Finding::error("P0100", subject, format!("it asks for more than ClusterQueue {} can ever offer", queue.name))
        .hint("lower its requests, raise the quota, or allow another flavor")
}
