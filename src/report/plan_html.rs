//! A plan as one HTML file: pictures with a table under each, nothing loaded, nothing executed.
//!
//! The page's policy forbids every source but its own style sheet, which it names by hash; every text that came from
//! outside is escaped. Light or dark as the reader's system says; prints on paper. Deliberately absent: scripts, fonts,
//! links to anywhere but the page itself. The plan document rides along as data, so that the file can be read back.

mod bars;
mod demand;
mod digest;
mod gantt;
mod key;
mod sections;
mod slack;

use std::fmt::Write;

use crate::plan::curve::Scene;
use crate::plan::document;
use crate::plan::sentence;
use crate::report::svg::Escaped;

const STYLE: &str = include_str!("plan_html/style.css");

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub scene: Scene<'a>,
    /// What is planned: the scenario's name.
    pub title: &'a str,
    /// Of stagger.
    pub version: &'a str,
    /// Where the prices come from and since when they hold, in words.
    pub prices: Option<&'a str>,
}

/// The file.
#[must_use]
pub fn render(page: &Page<'_>) -> String {
    let title = Escaped(page.title);
    let mut html = head(&format!("Plan {}", page.title), STYLE);
    put(
        &mut html,
        format_args!(
            "<header>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n",
            Escaped(&sentence::headline(page.scene.plan))
        ),
    );
    html.push_str(&sections::provenance(page));
    html.push_str("</header>\n<main>\n");
    html.push_str(&sections::conflicts(page.scene.plan));
    if !page.scene.plan.releases.is_empty() || !page.scene.snapshot.running.is_empty() {
        html.push_str(&gantt::section(page));
        html.push_str(&demand::section(page));
    }
    html.push_str(&slack::section(page));
    html.push_str(&sections::releases(page));
    html.push_str(&sections::problems(page.scene.plan));
    html.push_str("</main>\n");
    html.push_str(&sections::quality(page));
    // `<` cannot end the element early once it is written as an escape; JSON means the same by both.
    let data = document::to_json(page.scene.plan).replace('<', "\\u003c");
    put(&mut html, format_args!("<script type=\"application/json\" id=\"plan\">\n{data}</script>\n</body>\n</html>\n"));
    html
}

/// Everything up to the body; the policy allows this style sheet and nothing else.
pub(in crate::report) fn head(title: &str, style: &str) -> String {
    let title = Escaped(title);
    let policy = format!("default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'", digest::of(style));
    let mut html = String::new();
    put(
        &mut html,
        format_args!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        ),
    );
    html
}

pub(in crate::report) fn put(html: &mut String, what: std::fmt::Arguments<'_>) {
    html.write_fmt(what).expect("writing to a string cannot fail");
}

/// A section with a heading and the one sentence to take away.
pub(in crate::report) fn section(id: &str, heading: &str, takeaway: &str, body: &str) -> String {
    let (heading, takeaway) = (Escaped(heading), Escaped(takeaway));
    format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n<p class=\"takeaway\">{takeaway}</p>\n{body}</section>\n")
}

/// A picture that may be wider than the window.
pub(in crate::report) fn scrolled(svg: &str) -> String {
    format!("<div class=\"scroll\">\n{svg}</div>\n")
}

/// An HTML table; cells are escaped here. A column is right-aligned when its title begins with `#`.
pub(in crate::report) fn table(class: &str, titles: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_with_ids(class, titles, rows.into_iter().map(|row| (String::new(), row)))
}

/// The same with an id on each row, for links from pictures.
fn table_with_ids(class: &str, titles: &[&str], rows: impl IntoIterator<Item = (String, Vec<String>)>) -> String {
    let numeric: Vec<bool> = titles.iter().map(|title| title.starts_with('#')).collect();
    let class_of = |at: usize| if numeric.get(at).copied().unwrap_or(false) { " class=\"n\"" } else { "" };
    let mut html = format!("<div class=\"scroll\"><table class=\"{class}\">\n<thead><tr>");
    for (at, title) in titles.iter().enumerate() {
        put(
            &mut html,
            format_args!("<th scope=\"col\"{}>{}</th>", class_of(at), Escaped(title.trim_start_matches('#'))),
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (id, row) in rows {
        let id = if id.is_empty() { String::new() } else { format!(" id=\"{}\"", Escaped(&id)) };
        put(&mut html, format_args!("<tr{id}>"));
        for (at, cell) in row.iter().enumerate() {
            put(&mut html, format_args!("<td{}>{}</td>", class_of(at), Escaped(cell)));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}
