//! The verdict in one sentence for somebody who signs, and how sure it is in another.

use chrono_tz::Tz;

use crate::calendar;
use crate::plan::proposal::{Fix, Peak};
use crate::plan::snapshot::Snapshot;
use crate::units::{Amount, Timestamp};

use super::addition::Addition;
use super::verdict::{Facts, Kind, money};
use super::{Basis, Row};

/// At most this many changes are named in a sentence.
const NAMED: usize = 2;

pub(super) fn verdict(facts: &Facts<'_>) -> String {
    let mut sentences = vec![match facts.kind {
        Kind::DontBuy => dont_buy(facts),
        Kind::Buy => buy(facts),
        Kind::RelaxOrBuy => relax_or_buy(facts),
    }];
    sentences.extend(hopeless(facts));
    let at_risk = facts.plan.summary.at_risk;
    if at_risk > 0 && facts.kind == Kind::DontBuy {
        let are = if at_risk == 1 { "is" } else { "are" };
        sentences.push(format!("{at_risk} {are} at risk: in time at the median, not at p90."));
    }
    if !facts.proven {
        sentences.push("The search stopped before it could prove that today's GPUs are too few.".to_owned());
    }
    sentences.join(" ")
}

fn dont_buy(facts: &Facts<'_>) -> String {
    let summary = &facts.plan.summary;
    let (met, all) = (summary.on_time + summary.at_risk, summary.on_time + summary.at_risk + summary.late);
    let pool = pool(facts);
    let with = if pool.is_empty() { String::new() } else { format!(" with the {pool} you have") };
    let which = match (met == all, all) {
        (_, 0) => return format!("Do not buy. Nothing here has a deadline{}.", at_once(facts)),
        (true, 1) => "the one deadline".to_owned(),
        (true, _) => format!("all {all} deadlines"),
        (false, _) if facts.hopeless.is_empty() => format!("every hard deadline, and {met} of {all} in all,"),
        (false, _) => format!("every hard deadline that can be met, and {met} of {all} in all,"),
    };
    format!("Do not buy. Staggering meets {which}{with}{}.", at_once(facts))
}

fn buy(facts: &Facts<'_>) -> String {
    let relaxing = facts
        .relaxation
        .map_or_else(String::new, |relaxation| format!(" Relaxing instead: {}.", fixes(facts, &relaxation.fixes)));
    format!("{} {}. {}{relaxing}", lead(facts, "Buy"), additions(facts), too_few(facts))
}

fn relax_or_buy(facts: &Facts<'_>) -> String {
    let mut ways: Vec<String> = facts.relaxation.iter().map(|relaxation| fixes(facts, &relaxation.fixes)).collect();
    if !facts.addition.is_empty() {
        ways.push(format!("buy {}", additions(facts)));
    }
    let ways = match ways.as_slice() {
        [] => "No number of more GPUs and no moved deadline was found that helps.".to_owned(),
        [only] if facts.addition.is_empty() => {
            format!("{}; no number of more GPUs was found that helps.", upper(only))
        }
        [only] => format!("{}; no promise was found whose relaxing helps.", upper(only)),
        ways => format!("Either {}.", ways.join(", or ")),
    };
    format!("{} {} {ways}", lead(facts, "Relax or buy."), too_few(facts))
}

fn upper(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn lead(facts: &Facts<'_>, word: &str) -> String {
    if facts.proven { word.to_owned() } else { format!("Probably {}", lower(word)) }
}

fn lower(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn too_few(facts: &Facts<'_>) -> String {
    let summary = &facts.plan.summary;
    let all = summary.on_time + summary.at_risk + summary.late;
    let (pool, late) = (pool(facts), facts.late);
    let (deadlines, are) = if late == 1 { ("hard deadline", "is") } else { ("hard deadlines", "are") };
    if facts.proven {
        format!(
            "No plan meets all {all} deadlines with the {pool} you have; staggered, {late} {deadlines} {are} missed."
        )
    } else {
        format!("The best plan found with the {pool} you have misses {late} {deadlines}.")
    }
}

fn additions(facts: &Facts<'_>) -> String {
    let each: Vec<String> = facts.addition.iter().map(|one| addition(facts, one)).collect();
    each.join(" and ")
}

fn addition(facts: &Facts<'_>, one: &Addition) -> String {
    let snapshot = facts.question.snapshot;
    let cost = money(one.cost, snapshot.currency.as_deref()).map_or_else(String::new, |cost| format!(" ({cost})"));
    let fewest = if one.proven { "" } else { ", the fewest found" };
    let amount = one.resource.quantity(one.quantity);
    let (from, to) = (time(snapshot, one.from), time(snapshot, one.to));
    format!("{amount} {} from {from} to {to}{cost}{fewest}", one.flavor)
}

fn fixes(facts: &Facts<'_>, fixes: &[Fix]) -> String {
    let named: Vec<String> = fixes.iter().take(NAMED).map(|fix| self::fix(facts.question.snapshot, fix)).collect();
    let more = fixes.len() - named.len();
    let tail = if more == 0 { String::new() } else { format!(" and {more} more such changes") };
    format!("{}{tail}", named.join(", and "))
}

/// A relaxation as an imperative.
#[must_use]
pub fn fix(snapshot: &Snapshot, fix: &Fix) -> String {
    match fix {
        Fix::MoveDeadline { workload, by, to } => {
            format!("let {workload} finish {by} later, by {}", time(snapshot, *to))
        }
        Fix::AllowInterruption { workload } => format!("allow {workload} to be interrupted"),
        Fix::StartEarlier { workload, by } => format!("let {workload} start {by} earlier"),
        Fix::UseFlavor { workload, flavor } => format!("let {workload} use {flavor}"),
        Fix::AddCapacity { flavor, quantity, .. } => format!("add {} {flavor}", quantity.0),
    }
}

fn hopeless(facts: &Facts<'_>) -> Option<String> {
    let names = facts.hopeless.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match facts.hopeless.len() {
        0 => None,
        1 => Some(format!("No number of GPUs meets the deadline of {names}: it takes longer than the time it has.")),
        count => {
            let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
            Some(format!("No number of GPUs meets the deadlines of {names}{more}: they take longer than they have."))
        }
    }
}

pub(super) fn confidence(facts: &Facts<'_>) -> String {
    match (facts.late, facts.proven) {
        (0, _) => "Proven: a plan that was checked independently meets them.".to_owned(),
        (_, true) => "Proven: a bound holds for every plan with today's GPUs.".to_owned(),
        (_, false) => {
            "Not proven: no bound rules out that today's GPUs are enough; more --time-limit may settle it.".to_owned()
        }
    }
}

/// `4 GPUs`, or `4 a100 and 2 h100`: the accelerators that the plan uses, as many as there are.
fn pool(facts: &Facts<'_>) -> String {
    let used: Vec<&Peak> =
        facts.plan.peaks.iter().filter(|peak| peak.resource.is_accelerator() && peak.capacity > Amount::ZERO).collect();
    list(used.iter().map(|peak| amount(peak, peak.capacity, used.len())).collect())
}

fn at_once(facts: &Facts<'_>) -> String {
    let Some(row) = facts.rows.iter().find(|row| row.basis == Basis::AllAtOnce) else { return String::new() };
    let accelerators: Vec<&Peak> = row.summary.peak.iter().filter(|peak| peak.resource.is_accelerator()).collect();
    let over: Vec<String> = accelerators
        .iter()
        .filter(|peak| peak.peak > peak.capacity)
        .map(
            |peak| if accelerators.len() == 1 { peak.resource.quantity(peak.peak) } else { amount(peak, peak.peak, 2) },
        )
        .collect();
    if over.is_empty() { String::new() } else { format!("; started at once they would need {}", list(over)) }
}

fn amount(peak: &Peak, amount: Amount, flavors: usize) -> String {
    let text = peak.resource.quantity(amount);
    match (flavors, peak.resource.units_per_gpu()) {
        (1, 1) if amount == Amount(1) => "1 GPU".to_owned(),
        (1, 1) => format!("{text} GPUs"),
        _ => format!("{text} {}", peak.flavor),
    }
}

fn list(items: Vec<String>) -> String {
    match items.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// An instant as people say it: the day only when it is not today.
#[must_use]
pub fn time(snapshot: &Snapshot, at: Timestamp) -> String {
    calendar::day_time(at, snapshot.now, calendar::zone(&snapshot.time_zone).unwrap_or(Tz::UTC))
}

/// What a row is called in front of people.
#[must_use]
pub fn title(row: &Row) -> String {
    match row.basis {
        Basis::AllAtOnce => "everything at once".to_owned(),
        Basis::KueueAlone => "Kueue alone".to_owned(),
        Basis::Staggered => "staggered".to_owned(),
        Basis::SmallestPool => "smallest pool".to_owned(),
        Basis::Named => row.option.clone(),
    }
}
