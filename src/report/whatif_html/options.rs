//! The table of options, and what was measured.

use super::{put, section as page_section, table};
use crate::plan::whatif::WhatIf;
use crate::report::svg::Escaped;
use crate::report::whatif_text::{beginning, cost, known_by, smallest};

pub(super) fn section(what_if: &WhatIf) -> String {
    let none = || "-".to_owned();
    let money = |amount: Option<crate::units::Money>| amount.map_or_else(none, |amount| cost(what_if, amount));
    let titles = [
        "Option",
        "GPUs there",
        "#On time",
        "#At risk",
        "#Late",
        "Peak",
        "Last end",
        "#GPU-hours",
        "#Idle GPU-hours",
        "#Cost",
        "#Idle cost",
        "#Per outcome",
        "#With idle",
        "#Last GPU",
        "#P(hard)",
        "Known by",
    ];
    let rows = what_if.rows.iter().map(|row| {
        let mut cells = beginning(row);
        cells.extend([
            money(row.summary.cost),
            money(row.idle.cost),
            row.cost_per_outcome.map_or_else(|why| why.message().to_owned(), |amount| cost(what_if, amount)),
            money(row.fully_loaded.ok()),
            row.marginal.as_ref().map_or_else(none, |last| format!("{:+}", last.on_time)),
            row.chance
                .as_ref()
                .map_or_else(none, |chance| crate::report::plan_text::percent(u64::from(chance.all_hard_millionths))),
            row.quality.as_ref().map_or_else(|| "played".to_owned(), known_by),
        ]);
        cells
    });
    let mut body = table("options", &titles, rows);
    for sentence in what_if.measured.iter().flat_map(|measured| &measured.savings) {
        put(&mut body, format_args!("<p class=\"alert\">{}</p>\n", Escaped(sentence)));
    }
    let takeaway = smallest(what_if).unwrap_or_else(|| "Nothing here has a hard deadline.".to_owned());
    let takeaway = takeaway.lines().next().unwrap_or_default().to_owned();
    page_section("options", "The options", &capital(&takeaway), &body)
}

/// The first letter large.
pub(super) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
