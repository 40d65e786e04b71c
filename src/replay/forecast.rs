//! How far a forecast start was from the start that came.

use crate::units::Seconds;

use super::history::History;
use super::rolling::Rolled;
use super::rows::Row;

/// Forecasts of one kind against what came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// What was compared, as a sentence without a full stop.
    pub what: &'static str,
    /// Workloads with both.
    pub compared: u64,
    /// The start that came is not known.
    pub without_start: u64,
    /// There was no forecast, or no end to the wait.
    pub without_forecast: u64,
    /// Of those compared: their end is not in the log, so what stood behind them is less certain.
    pub censored: u64,
    /// The distance, whichever way. `None` when nothing was compared.
    pub error: Option<Spread>,
    /// Of those compared: started later than forecast.
    pub later: u64,
}

/// Where the middle and the ninth tenth of a list of durations are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// Half are no longer.
    pub median: Seconds,
    /// Nine in ten are no longer.
    pub p90: Seconds,
    pub longest: Seconds,
}

impl Spread {
    /// `None` for no durations. Each figure is one of them: the least that at least half (nine in ten) do not exceed.
    #[must_use]
    pub fn of(mut durations: Vec<Seconds>) -> Option<Self> {
        durations.sort_unstable();
        let longest = *durations.last()?;
        let at = |tenths: usize| durations[(durations.len() * tenths).div_ceil(10).max(1) - 1];
        Some(Self { median: at(5), p90: at(9), longest })
    }
}

/// The simulation of Kueue alone as a forecast of the log's own starts; `None` when the log has none.
pub(super) fn of_kueue(history: &History, alone: &Row) -> Option<Forecast> {
    if history.past.iter().all(|past| past.started.is_none()) {
        return None;
    }
    let pairs = (0..history.snapshot.workloads.len()).map(|at| (alone.played[at].start, history.past(at).started));
    Some(compare("start by Kueue's rules, against the start in the log", history, pairs))
}

/// What a workload was told when it was first planned, against when it started in the same replay.
pub(super) fn of_plan(history: &History, rolled: &Rolled) -> Forecast {
    let came = rolled.simulation.runs.iter().map(|run| run.attempts.first().map(|attempt| attempt.start));
    let pairs = rolled.forecast.iter().zip(came).map(|(forecast, came)| (forecast.map(|(_, start)| start), came));
    compare("start in the first plan that knew the workload, against its start in that replay", history, pairs)
}

fn compare(
    what: &'static str,
    history: &History,
    pairs: impl Iterator<Item = (Option<crate::units::Timestamp>, Option<crate::units::Timestamp>)>,
) -> Forecast {
    let mut forecast =
        Forecast { what, compared: 0, without_start: 0, without_forecast: 0, censored: 0, error: None, later: 0 };
    let mut errors = Vec::new();
    for (workload, (told, came)) in history.snapshot.workloads.iter().zip(pairs) {
        match (told, came) {
            (_, None) => forecast.without_start += 1,
            (None, _) => forecast.without_forecast += 1,
            (Some(told), Some(came)) => {
                forecast.compared += 1;
                forecast.later += u64::from(came > told);
                forecast.censored += u64::from(workload.options.iter().any(|option| !option.runtime.known));
                errors.push(Seconds((came - told).0.abs()));
            }
        }
    }
    forecast.error = Spread::of(errors);
    forecast
}
