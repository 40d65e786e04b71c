//! A what-if as one HTML file: the verdict, and five pictures with a takeaway above each and a table below.
//!
//! The same rules as a plan's page: nothing loaded, nothing executed, every text from outside escaped, its style sheet
//! allowed by hash. The document rides along as data.

mod curves;
mod options;
mod steps;
mod tornado;

use crate::plan::whatif::{WhatIf, document};
use crate::report::plan_html::{head, put, scrolled, section, table};
use crate::report::svg::Escaped;
use crate::report::whatif_text;

/// The plan's own style sheet, and what only these pictures need.
const STYLE: &str = concat!(include_str!("plan_html/style.css"), include_str!("whatif_html/style.css"));

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub what_if: &'a WhatIf,
    /// The scenario's name.
    pub title: &'a str,
    /// Of stagger.
    pub version: &'a str,
    /// Since when the prices hold, in words.
    pub prices: Option<&'a str>,
}

/// The file.
#[must_use]
pub fn render(page: &Page<'_>) -> String {
    let what_if = page.what_if;
    let mut html = head(&format!("Buy or stagger: {}", page.title), STYLE);
    put(
        &mut html,
        format_args!(
            "<header>\n<h1>{}</h1>\n<p class=\"lead verdict\">{}</p>\n<p class=\"small\">{}</p>\n</header>\n<main>\n",
            Escaped(page.title),
            Escaped(&what_if.verdict.sentence),
            Escaped(&what_if.verdict.confidence.sentence)
        ),
    );
    html.push_str(&options::section(what_if));
    html.push_str(&steps::before_and_after(what_if));
    html.push_str(&steps::bought(what_if));
    html.push_str(&curves::marginal(what_if));
    html.push_str(&curves::break_even(what_if));
    html.push_str(&tornado::section(what_if));
    html.push_str("</main>\n<footer>\n");
    let prices = page.prices.map_or_else(String::new, |prices| format!(" Prices: {prices}."));
    put(
        &mut html,
        format_args!(
            "<p class=\"small\">{}.{} Input digest <code>{}</code></p>\n</footer>\n",
            Escaped(&whatif_text::footer(what_if, page.version)),
            Escaped(&prices),
            Escaped(&what_if.input_digest)
        ),
    );
    // `<` cannot end the element early once it is written as an escape; JSON means the same by both.
    let data = document::to_json(what_if, page.version).replace('<', "\\u003c");
    put(
        &mut html,
        format_args!("<script type=\"application/json\" id=\"whatif\">\n{data}</script>\n</body>\n</html>\n"),
    );
    html
}
