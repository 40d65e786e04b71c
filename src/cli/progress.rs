//! The search's clock, its stop signal, and one line that says where it stands.

use std::sync::Mutex;

use super::interrupt;
use super::shell::Shell;
use crate::clock::Stopwatch;
use crate::plan::proposal::LevelName;
use crate::plan::watch::{Phase, Progress, Watch};

/// Milliseconds between two refreshes: five a second are smooth, more only flicker.
const REFRESH: u64 = 200;

/// A watch for a person at a terminal: silent where nobody looks.
pub(super) struct Ticker {
    stopwatch: Stopwatch,
    limit_millis: u64,
    shown: bool,
    /// When the line was last written, and how long it was.
    last: Mutex<(Option<u64>, usize)>,
}

impl Ticker {
    pub(super) fn start(shell: &Shell, limit_millis: u64) -> Self {
        interrupt::listen();
        let shown = shell.talk_is_terminal && !shell.quiet;
        Self { stopwatch: Stopwatch::start(), limit_millis, shown, last: Mutex::new((None, 0)) }
    }

    /// Takes the line away.
    pub(super) fn finish(&self, shell: &Shell) {
        let (_, length) = *self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if length > 0 {
            shell.say(&format!("\r{:length$}\r", ""));
        }
    }
}

impl Watch for Ticker {
    fn elapsed_millis(&self) -> u64 {
        self.stopwatch.millis()
    }

    fn stopped(&self) -> bool {
        interrupt::pressed()
    }

    fn progress(&self, progress: &Progress) {
        if !self.shown {
            return;
        }
        let now = self.stopwatch.millis();
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.0.is_some_and(|before| now < before.saturating_add(REFRESH)) {
            return;
        }
        let line = line(progress, now, self.limit_millis);
        let length = line.chars().count();
        let before = last.1;
        super::shell::talk(&format!("\r{line:before$}"));
        *last = (Some(now), length);
    }
}

fn line(progress: &Progress, now: u64, limit: u64) -> String {
    let phase = match progress.phase {
        Phase::Greedy => "first plan",
        Phase::LocalSearch => "searching",
        Phase::Bound => "proving",
        Phase::Polish => "polishing",
        Phase::Explain => "explaining",
    };
    let gap = match progress.bound {
        Some(bound) if bound >= progress.value => ", proven".to_owned(),
        Some(bound) => {
            let tenths = (progress.value - bound).saturating_mul(1000) / progress.value.max(1);
            format!(", gap {}.{} %", tenths / 10, tenths % 10)
        }
        None => String::new(),
    };
    let level = match progress.level {
        LevelName::HardMissed => "hard deadlines",
        LevelName::SoftLost => "soft deadlines",
        LevelName::Completion => "completion",
        LevelName::Peak => "peak",
        LevelName::Cost => "cost",
        LevelName::Stability => "stability",
        LevelName::Backfill => "backfill",
    };
    let seconds = |millis: u64| format!("{}.{}", millis / 1000, millis % 1000 / 100);
    format!(
        "{} / {} s  {phase} ({level}{gap})  {} of {} late  Ctrl-C keeps the best so far",
        seconds(now),
        seconds(limit),
        progress.late,
        progress.workloads
    )
}
