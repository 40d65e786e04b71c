//! A replayed history as one HTML file: the sentence, every row side by side on equal axes, how long work waited, the
//! figures, and what it rests on.
//!
//! The rules of a plan's page: nothing loaded, nothing executed, every text from outside escaped, its style sheet allowed
//! by hash. The document rides along as data.

mod pictures;

use crate::replay::document::{self, Provenance};
use crate::replay::{History, Replay, Row, RowKind};
use crate::report::plan_html::{head, put, section, table};
use crate::report::replay_text::{self, forecast_line, idle, peaks};
use crate::report::svg::Escaped;

/// The plan's own style sheet, and what what-ifs need beside it.
const STYLE: &str = concat!(include_str!("plan_html/style.css"), include_str!("whatif_html/style.css"));

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub history: &'a History,
    pub replay: &'a Replay,
    pub provenance: &'a Provenance,
}

/// The file.
#[must_use]
pub fn render(page: &Page<'_>) -> String {
    let Page { history, replay, provenance } = *page;
    let title = format!("Replay of {}", provenance.file);
    let mut html = head(&title, STYLE);
    put(
        &mut html,
        format_args!(
            "<header>\n<h1>{}</h1>\n<p class=\"lead verdict\">{}</p>\n</header>\n<main>\n",
            Escaped(&title),
            Escaped(&replay_text::headline(replay))
        ),
    );
    html.push_str(&figures(page));
    html.push_str(&pictures::held(page));
    html.push_str(&pictures::waits(page));
    html.push_str(&forecasts(replay));
    html.push_str("</main>\n<footer>\n");
    put(
        &mut html,
        format_args!("<p class=\"small\">{}</p>\n</footer>\n", Escaped(&replay_text::footer(replay, provenance))),
    );
    // `<` cannot end the element early once it is written as an escape; JSON means the same by both.
    let data = document::to_json(history, replay, provenance).replace('<', "\\u003c");
    put(
        &mut html,
        format_args!("<script type=\"application/json\" id=\"replay\">\n{data}</script>\n</body>\n</html>\n"),
    );
    html
}

fn figures(page: &Page<'_>) -> String {
    let titles = [
        "Option",
        "#On time",
        "#Late",
        "#No due time",
        "#Never started",
        "#Not in the log",
        "Peak",
        "#Wait p50",
        "#Wait p90",
        "#Last end",
        "#GPU-hours",
        "#Idle",
        "#Plans",
    ];
    let cells = |row: &Row| {
        let wait = |pick: fn(&crate::replay::Spread) -> crate::units::Seconds| {
            row.wait.as_ref().map_or_else(|| "-".to_owned(), |wait| pick(wait).human())
        };
        vec![
            row.option(),
            (row.summary.on_time + row.summary.at_risk).to_string(),
            row.summary.late.to_string(),
            row.summary.without_verdict.to_string(),
            row.never_started.to_string(),
            row.left_out.to_string(),
            peaks(&page.history.snapshot, row),
            wait(|wait| wait.median),
            wait(|wait| wait.p90),
            format!("+{}", row.summary.makespan.human()),
            crate::units::div_round_half_even(row.summary.gpu_seconds, 3600).to_string(),
            idle(row),
            if row.kind == RowKind::Staggered { row.plans.to_string() } else { "-".to_owned() },
        ]
    };
    let body = table("options", &titles, page.replay.rows.iter().map(cells));
    let rules = replay_text::rules(page.replay);
    section("options", "The rows", &rules, &body)
}

fn forecasts(replay: &Replay) -> String {
    if replay.forecasts.is_empty() {
        return String::new();
    }
    let mut body = String::from("<ul>\n");
    for forecast in &replay.forecasts {
        put(&mut body, format_args!("<li>{}</li>\n", Escaped(&forecast_line(forecast))));
    }
    body.push_str("</ul>\n");
    let takeaway = "What was foretold against what came.";
    section("forecasts", "How good the forecasts were", takeaway, &body)
}
