//! Guaranteed and borrowed capacity, and what the terms make of them.

use stagger::ledger::card::{Split, Terms};
use stagger::ledger::charge::Term;

use crate::ledger_fixture::{
    Books, GPU, RunWords, a_capacity, a_card, a_guarantee, a_rate, a_run, borne, lines, of_term, window,
};

/// `team-a` is guaranteed 4 of 8 GPUs at 1.00 an hour.
fn four_guaranteed(runs: Vec<stagger::ledger::run::Run>) -> Books {
    Books {
        runs,
        cards: vec![a_card(vec![a_rate(GPU, "1")])],
        guarantees: vec![a_guarantee("team-a", "a100", 4)],
        capacity: Some(vec![a_capacity("a100", GPU, 8, window(0, 4))]),
    }
}

#[test]
fn runs_fill_the_guarantee_in_the_order_they_started() {
    let books = four_guaranteed(vec![
        a_run("first").holds(GPU, 3).hours(0, 2),
        a_run("second").holds(GPU, 3).hours(1, 3),
        a_run("other").tenant("team-b").holds(GPU, 2).hours(0, 1),
    ]);
    let priced = books.price(window(0, 4));
    assert_eq!(
        lines(&priced, &books.runs),
        [
            "first#1 team-a guaranteed 6.00",
            "second#1 team-a guaranteed 4.00",
            "second#1 team-a borrowed 2.00",
            "other#1 team-b borrowed 2.00",
            "- - idle 18.00",
        ]
    );
}

#[test]
fn without_any_guarantee_it_is_plainly_allocated() {
    let mut books = four_guaranteed(vec![a_run("a")]);
    books.guarantees.clear();
    assert_eq!(of_term(&books.price(window(0, 4)), Term::Allocated), "1.00");
}

#[test]
fn a_discount_is_a_line_of_its_own() {
    let mut books = four_guaranteed(vec![a_run("a").holds(GPU, 6).hours(0, 2)]);
    books.cards[0].borrowed = Terms { reserved: false, rate_percent: 60 };
    let priced = books.price(window(0, 4));
    assert_eq!(of_term(&priced, Term::Borrowed), "4.00", "what capacity cost stays what it cost");
    assert_eq!(of_term(&priced, Term::Adjustment), "-1.60");
    assert_eq!(borne(&priced, "team-a"), "10.40");
}

#[test]
fn an_owner_pays_for_what_stood_idle_in_its_guarantee() {
    let mut books = four_guaranteed(vec![
        a_run("mine").holds(GPU, 1).hours(0, 4),
        // Borrows 6 of the 7 that are left: only one GPU of team-a's guarantee stands idle in these two hours.
        a_run("theirs").tenant("team-b").holds(GPU, 6).hours(0, 2),
    ]);
    books.cards[0].guaranteed = Terms { reserved: true, rate_percent: 100 };
    let priced = books.price(window(0, 4));
    assert_eq!(of_term(&priced, Term::Reserved), "8.00", "1 GPU for two hours and 3 for the other two");
    assert_eq!(borne(&priced, "team-a"), "12.00");
    assert_eq!(of_term(&priced, Term::Idle), "8.00");
    assert_eq!(priced.total().decimal(), "32.00", "nothing is charged twice");
}

#[test]
fn an_owner_without_runs_still_pays_for_its_reservation() {
    let mut books = four_guaranteed(vec![]);
    books.cards[0].guaranteed = Terms { reserved: true, rate_percent: 50 };
    let priced = books.price(window(0, 4));
    assert_eq!(lines(&priced, &books.runs), ["- team-a reserved 16.00", "- - idle 16.00", "- team-a adjustment -8.00"]);
}

#[test]
fn idle_by_guarantee_goes_to_those_who_asked_for_room() {
    let mut books = four_guaranteed(vec![a_run("a").hours(0, 4), a_run("b").tenant("team-b").hours(0, 4)]);
    books.guarantees.push(a_guarantee("team-b", "a100", 2));
    books.cards[0].idle = Split::ByGuarantee;
    let priced = books.price(window(0, 4));
    assert_eq!([borne(&priced, "team-a"), borne(&priced, "team-b")], ["20.00", "12.00"]);
}

#[test]
fn a_rule_with_nothing_to_go_by_leaves_the_cost_apart_and_says_so() {
    let mut books = four_guaranteed(vec![]);
    books.guarantees.clear();
    books.cards[0].idle = Split::ByCost;
    let priced = books.price(window(0, 4));
    assert_eq!(borne(&priced, "-"), "32.00");
    assert_eq!(priced.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SG149"]);
}
