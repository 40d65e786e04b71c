//! What would start one workload sooner: each change is tried on the finished plan, all others staying in place.

use crate::plan::check::capacity::{self, Claim};
use crate::plan::proposal::Piece;
use crate::plan::snapshot::{CellId, RunOption, Snapshot, Window, WindowEffect};
use crate::units::{Amount, Seconds, Timestamp};

use super::outlook::{Outlook, Refused};
use super::{ACTIONS_MAX, Action, Placed, Scene, words};

/// Instants at which another option is tried: the earliest are the useful ones, and each costs one check.
const STARTS_MAX: usize = 24;

/// At most [`ACTIONS_MAX`] verified actions, in the order of what costs least to try. None for what starts at once.
pub(super) fn actions(scene: &Scene<'_>, at: usize, outlook: &Outlook) -> Vec<Action> {
    let Some(place) = scene.placed[at] else { return Vec::new() };
    let trial = Trial::new(scene, at, place);
    let mut found = Vec::new();
    found.extend(trial.start_before_not_before());
    found.extend(trial.other_option());
    if let Some(refused) = outlook.refused.filter(|_| !outlook.earliest_is_free) {
        found.extend(trial.without_window(&refused));
        found.extend(trial.more_capacity(&refused));
        found.extend(trial.go_before_a_blocker(&refused));
    }
    found.truncate(ACTIONS_MAX);
    found
}

/// The plan with one release lifted out.
struct Trial<'a> {
    scene: &'a Scene<'a>,
    at: usize,
    place: Placed<'a>,
    earliest: Timestamp,
}

impl<'a> Trial<'a> {
    fn new(scene: &'a Scene<'a>, at: usize, place: Placed<'a>) -> Self {
        Self { scene, at, place, earliest: place.workload.earliest_start.max(scene.snapshot.now) }
    }

    fn start(&self) -> Timestamp {
        self.scene.releases[self.at].start
    }

    /// Whether the workload fits on `option` from `start` on in `snapshot`, with `moved` releases in other pieces.
    fn fits(&self, snapshot: &Snapshot, option: &RunOption, start: Timestamp, moved: &[(usize, [Piece; 1])]) -> bool {
        let scene = self.scene;
        let held = option.held(scene.policy.promise);
        let pieces = [Piece { start, end: Timestamp(start.0.saturating_add(held.0)) }];
        let mut claims = vec![Claim { queue: self.place.workload.queue, uses: &option.uses, pieces: &pieces }];
        for (at, (release, place)) in scene.releases.iter().zip(scene.placed).enumerate() {
            let Some(Placed { workload, option, .. }) = place.as_ref().filter(|_| at != self.at) else { continue };
            let elsewhere = moved.iter().find(|(other, _)| *other == at);
            let pieces = elsewhere.map_or(&release.pieces[..], |(_, pieces)| pieces);
            claims.push(Claim { queue: workload.queue, uses: &option.uses, pieces });
        }
        capacity::fits(snapshot, scene.policy.promise, &claims)
    }

    fn effect(&self, option: &RunOption, start: Timestamp) -> String {
        let snapshot = self.scene.snapshot;
        let end = Timestamp(start.0.saturating_add(option.runtime.p50.0));
        format!("starts {}, ends {}", words::time(snapshot, start), words::time(snapshot, end))
    }

    fn start_before_not_before(&self) -> Option<Action> {
        let snapshot = self.scene.snapshot;
        let waits = self.start() == self.place.workload.earliest_start && self.start() > snapshot.now;
        let option = self.place.option;
        (waits && self.fits(snapshot, option, snapshot.now, &[])).then(|| Action {
            what: format!("let it start before {}", words::time(snapshot, self.start())),
            effect: self.effect(option, snapshot.now),
        })
    }

    /// Another of its options that would end sooner.
    fn other_option(&self) -> Option<Action> {
        let scene = self.scene;
        let taken = self.place.option;
        let end = scene.releases[self.at].end;
        let others = self.place.workload.options.iter().filter(|option| *option != taken);
        let candidates = others.flat_map(|option| self.starts().into_iter().map(move |start| (option, start)));
        let sooner = candidates.filter(|(option, start)| start.0.saturating_add(option.runtime.p50.0) < end.0);
        let (option, start) =
            sooner.into_iter().find(|(option, start)| self.fits(scene.snapshot, option, *start, &[]))?;
        Some(Action { what: format!("run it on {} instead", option.flavor), effect: self.effect(option, start) })
    }

    /// The earliest start, then where others end, before its own start.
    fn starts(&self) -> Vec<Timestamp> {
        let scene = self.scene;
        let ends = scene.releases.iter().flat_map(|release| &release.pieces).map(|piece| piece.end);
        let mut starts: Vec<_> = ends.filter(|end| self.earliest < *end && *end < self.start()).collect();
        starts.push(self.earliest);
        starts.sort_unstable();
        starts.dedup();
        starts.truncate(STARTS_MAX);
        starts
    }

    fn without_window(&self, refused: &Refused) -> Option<Action> {
        let snapshot = self.scene.snapshot;
        let lowers = |window: &Window| {
            window.effect != WindowEffect::Add && window.cell == refused.cell && window.start < self.start()
        };
        let tried = snapshot.windows.iter().enumerate().filter(|(_, window)| lowers(window)).take(ACTIONS_MAX);
        tried.into_iter().find_map(|(at, window)| {
            let mut without = snapshot.clone();
            without.windows.remove(at);
            self.fits(&without, self.place.option, self.earliest, &[]).then(|| Action {
                what: format!("lift window {}", window.name),
                effect: self.effect(self.place.option, self.earliest),
            })
        })
    }

    /// The fewest more units at its queue that let it run from its earliest start on.
    fn more_capacity(&self, refused: &Refused) -> Option<Action> {
        let option = self.place.option;
        let cell = refused.cell;
        let end = Timestamp(self.earliest.0.saturating_add(option.held(self.scene.policy.promise).0));
        let with = |more: i64| {
            let mut snapshot = self.scene.snapshot.clone();
            snapshot.windows.push(self.addition(cell, Amount(more), end));
            self.fits(&snapshot, option, self.earliest, &[])
        };
        // Beyond what it asks for itself, more can only mend what others overfill.
        let most = refused.asked.0;
        if !with(most) {
            return None;
        }
        let (mut too_few, mut enough) = (0, most);
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if with(middle) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        let snapshot = self.scene.snapshot;
        let (from, to) = (words::time(snapshot, self.earliest), words::time(snapshot, end));
        let named = snapshot.cell(cell);
        let quantity = named.resource.quantity(Amount(enough));
        Some(Action {
            what: format!("{quantity} more {} from {from} to {to}", words::unit(named, Amount(enough))),
            effect: self.effect(option, self.earliest),
        })
    }

    fn addition(&self, cell: CellId, quantity: Amount, end: Timestamp) -> Window {
        Window {
            name: "tried".to_owned(),
            node: self.place.workload.queue,
            cell,
            effect: WindowEffect::Add,
            quantity,
            start: self.earliest,
            end,
        }
    }

    /// One planned blocker that could start after this workload instead, still in time.
    fn go_before_a_blocker(&self, refused: &Refused) -> Option<Action> {
        let scene = self.scene;
        let held = self.place.option.held(scene.policy.promise);
        let leaving = scene.holders.leaving(scene.snapshot, refused.cell, refused.breach.node, self.start());
        leaving.filter_map(|holder| holder.release).take(STARTS_MAX).find_map(|other| {
            let release = &scene.releases[other];
            let piece = release.pieces.first().filter(|_| release.pieces.len() == 1)?;
            let start = piece.start.max(self.earliest);
            let wait = Seconds((start + held).0.saturating_sub(piece.start.0));
            let in_time = release.finish_by.is_none_or(|due| release.end_p90 + wait <= due);
            let waiting = Piece { start: piece.start + wait, end: piece.end + wait };
            let sooner = start < self.start();
            let fits = || self.fits(scene.snapshot, self.place.option, start, &[(other, [waiting])]);
            (in_time && sooner && fits()).then(|| Action {
                what: format!(
                    "let {} wait until {}{}",
                    words::name(&release.workload, &scene.releases[self.at].workload),
                    words::time(scene.snapshot, waiting.start),
                    if release.finish_by.is_some() { ", still in time" } else { "" }
                ),
                effect: self.effect(self.place.option, start),
            })
        })
    }
}
