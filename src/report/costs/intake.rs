//! What a report was made from: counted, so that nothing is left out unseen.

use serde::Serialize;

/// Rows and events, by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Intake {
    pub runs: u64,
    /// The same row again.
    pub duplicate_runs: u64,
    /// A row that contradicts an earlier one; refused.
    pub conflicting_runs: u64,
    pub events: u64,
    /// The same event again.
    pub duplicate_events: u64,
    /// Another event under a known source and id; refused.
    pub conflicting_events: u64,
    /// Events that cannot be used.
    pub refused_events: u64,
    /// Events of other types.
    pub ignored_events: u64,
}

impl Intake {
    /// `100 runs; 80 events, 3 of them repeated, 1 conflicting and refused`: only what is not zero.
    #[must_use]
    pub fn sentence(&self) -> String {
        let part = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let runs = [part(self.duplicate_runs, "repeated"), part(self.conflicting_runs, "conflicting and refused")];
        let events = [
            part(self.duplicate_events, "repeated"),
            part(self.conflicting_events, "conflicting and refused"),
            part(self.refused_events, "unusable"),
            part(self.ignored_events, "about other things"),
        ];
        let clause = |count: u64, noun: &str, parts: &[Option<String>]| {
            let plural = if count == 1 { "" } else { "s" };
            let also: Vec<&str> = parts.iter().filter_map(Option::as_deref).collect();
            let also = if also.is_empty() { String::new() } else { format!(" (besides: {})", also.join(", ")) };
            format!("{count} {noun}{plural}{also}")
        };
        format!("{}; {}", clause(self.runs, "run", &runs), clause(self.events, "event", &events))
    }
}
