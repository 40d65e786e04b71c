//! A comparison that was stopped goes on where it was, and ends as if nothing had happened.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use stagger::plan::snapshot::{Interruption, Policy, Snapshot};
use stagger::plan::watch::{Progress, Unwatched, Watch};
use stagger::plan::whatif::journal::{Entry, Journal, Kind, digest};
use stagger::plan::whatif::{Change, Question, Tools, compare, document};
use stagger::plan::{Plan, probe, propose};
use stagger::units::Seconds;

use crate::whatif::{alone, half_past_one, steps};

/// Says stop once so many plans have been made.
struct StopsAfter {
    made: AtomicUsize,
    plans_max: usize,
}

impl Watch for StopsAfter {
    fn elapsed_millis(&self) -> u64 {
        0
    }
    fn stopped(&self) -> bool {
        self.made.load(Ordering::SeqCst) >= self.plans_max
    }
    fn progress(&self, _progress: &Progress) {}
}

/// Half past one with a job that may be split, and a fifth more work as an option.
fn asked() -> (Snapshot, Policy, Vec<Change>) {
    let resumable = Interruption::Checkpointable { interval: Seconds::ZERO, cost: Seconds::ZERO, max: 3 };
    let grown = Change { name: "grow 25".to_owned(), growth_percent: 25, ..Change::default() };
    (half_past_one().tolerates(resumable).snapshot, steps(), vec![grown])
}

/// The document, and how many plans were made for it: those that the journal holds are not made.
fn compared(journal: &Journal, plans_max: usize) -> (String, usize, usize) {
    let (snapshot, policy, changes) = asked();
    let watch = StopsAfter { made: AtomicUsize::new(0), plans_max };
    let kept = |kind: Kind, snapshot: &Snapshot, policy: &Policy| -> Plan {
        let make = || {
            watch.made.fetch_add(1, Ordering::SeqCst);
            if kind == Kind::Probe {
                probe(snapshot, policy, &Unwatched)
            } else {
                propose(snapshot, policy, &Unwatched)
            }
        };
        journal.plan(kind, snapshot, policy, &make, &|_| true)
    };
    let solve = |snapshot: &Snapshot, policy: &Policy| kept(Kind::Plan, snapshot, policy);
    let look = |snapshot: &Snapshot, policy: &Policy| kept(Kind::Probe, snapshot, policy);
    let plan = solve(&snapshot, &policy);
    let question =
        Question { snapshot: &snapshot, policy: &policy, plan: &plan, changes: &changes, measured: None, own: &[] };
    let tools =
        Tools { solve: &solve, probe: &look, alone: &alone, watch: &watch, limit_millis: None, begins: &|_| {} };
    let answer = compare(&question, &tools);
    let left_out = answer.left_out.len();
    (document::to_json(&answer, "test"), watch.made.load(Ordering::SeqCst), left_out)
}

/// Through the file and back.
fn reread(journal: &Journal) -> Journal {
    let text = serde_json::to_string(&journal.entries()).expect("entries can be written");
    Journal::with(serde_json::from_str::<BTreeMap<String, Entry>>(&text).expect("entries can be read back"))
}

#[test]
fn what_was_stopped_goes_on_and_ends_as_if_it_had_not_been() {
    let (whole, all, left_out) = compared(&Journal::default(), usize::MAX);
    assert_eq!(left_out, 0);
    let mut stops = 0;
    for plans_max in [1, 4, 9, all / 2, all - 1] {
        let journal = Journal::default();
        let (partly, made, left_out) = compared(&journal, plans_max);
        stops += usize::from(left_out > 0);
        assert!(left_out == 0 || partly != whole, "stopped after {plans_max}");
        let (end, made_later, _) = compared(&reread(&journal), usize::MAX);
        assert_eq!(end, whole, "stopped after {plans_max}");
        assert_eq!(made + made_later, all, "no plan is made twice, stopped after {plans_max}");
    }
    assert!(stops >= 4, "stopped {stops} times");
}

#[test]
fn an_edited_journal_costs_time_and_changes_nothing() {
    let journal = Journal::default();
    let (whole, all, _) = compared(&journal, usize::MAX);
    let text = serde_json::to_string(&journal.entries()).expect("entries can be written");
    // Everything starts half an hour sooner than it may, or on an option that is not there.
    let (noon, option) = (crate::given::noon().0, "[[0,");
    for (from, to) in [(noon.to_string(), (noon - 1800).to_string()), (option.to_owned(), "[[7,".to_owned())] {
        let edited = text.replace(&from, &to);
        assert_ne!(edited, text);
        let entries: BTreeMap<String, Entry> = serde_json::from_str(&edited).expect("it still reads");
        let (end, made, _) = compared(&Journal::with(entries), usize::MAX);
        assert_eq!(end, whole);
        assert!(made > 0 && made <= all);
    }
}

#[test]
fn a_digest_names_the_question_and_not_the_time_there_is_for_it() {
    let (snapshot, policy, changes) = asked();
    let of = |policy: &Policy, changes: &[Change]| digest(&snapshot, policy, changes, None, &[]);
    let same = of(&policy, &changes);
    assert_eq!(same, of(&Policy { time_limit_millis: 1, ..policy.clone() }, &changes));
    assert_ne!(same, of(&Policy { seed: 2, ..policy.clone() }, &changes));
    assert_ne!(same, of(&Policy { step_limit: Some(7), ..policy.clone() }, &changes));
    assert_ne!(same, of(&policy, &[]));
}
