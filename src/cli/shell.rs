//! The terminal: what it can show, and the only place that prints.

use std::cell::Cell;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};

use super::diagnostics;
use crate::failure::{Finding, Severity};
use crate::plan::chart::Look;

/// Columns of a chart that nobody sees yet: wide enough for it, narrow enough for e-mail.
const WIDTH_OF_A_PIPE: usize = 100;
/// Longer lines are hard to read, however wide the window is.
const WIDEST: usize = 180;

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct ShellArgs {
    /// When to use colour; NO_COLOR and FORCE_COLOR are followed
    #[arg(long, global = true, env = "STAGGER_COLOR", value_name = "WHEN", default_value = "auto")]
    color: When,
    /// Columns of charts and tables [default: the terminal's]
    #[arg(long, global = true, env = "STAGGER_WIDTH", value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..=1000))]
    width: Option<u16>,
    /// Draw with ASCII only
    #[arg(long, global = true, env = "STAGGER_NO_UNICODE", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    no_unicode: bool,
    /// Say less: no warnings, no progress
    #[arg(short, long, global = true, env = "STAGGER_QUIET", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    quiet: bool,
    /// Say more: notes, not only warnings
    #[arg(short, long, global = true, env = "STAGGER_VERBOSE", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// What is known about the two streams.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) look: Look,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) talk_is_terminal: bool,
    pub(super) data_is_terminal: bool,
    colour_data: bool,
    colour_talk: bool,
    /// The reader of standard output has gone; nobody is told.
    broken: Cell<bool>,
}

impl Shell {
    pub(super) fn new(args: &ShellArgs) -> Self {
        let data_is_terminal = io::stdout().is_terminal();
        let talk_is_terminal = io::stderr().is_terminal();
        let seen = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
        let natural = if data_is_terminal {
            seen.map_or(WIDTH_OF_A_PIPE, |columns| columns.min(WIDEST))
        } else {
            WIDTH_OF_A_PIPE
        };
        let width = args.width.map_or(natural, usize::from);
        Self {
            look: Look { width, unicode: !args.no_unicode && speaks_unicode() },
            quiet: args.quiet,
            verbose: args.verbose,
            talk_is_terminal,
            data_is_terminal,
            colour_data: colour(args.color, data_is_terminal),
            colour_talk: colour(args.color, talk_is_terminal),
            broken: Cell::new(false),
        }
    }

    /// Writes data to standard output. A reader that has gone away is no error.
    ///
    /// # Errors
    /// Whatever else the operating system says.
    pub(super) fn data(&self, text: &str) -> io::Result<()> {
        if self.broken.get() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.broken.set(true);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// The same for text made for people: control characters made harmless, warnings in colour where colour is wanted.
    pub(super) fn show(&self, text: &str) -> io::Result<()> {
        let text = harmless(text);
        self.data(&if self.colour_data { paint(&text) } else { text })
    }

    /// A line on standard error, unless quiet.
    pub(super) fn talk(&self, line: &str) {
        if !self.quiet {
            self.say(&format!("{}\n", harmless(line)));
        }
    }

    pub(super) fn error(&self, message: &str) {
        let head = self.styled("error:", AnsiColor::Red);
        self.say(&format!("{head} {}\n", harmless(message)));
    }

    pub(super) fn hint(&self, message: &str) {
        let head = self.styled("hint:", AnsiColor::Cyan);
        self.say(&format!("{head} {}\n", harmless(message)));
    }

    /// Findings on standard error: errors always, warnings unless quiet, notes when verbose.
    pub(super) fn findings(&self, findings: &[Finding]) {
        let least = match (self.quiet, self.verbose) {
            (true, _) => Severity::Error,
            (_, true) => Severity::Note,
            _ => Severity::Warning,
        };
        // `Severity` is ordered from the gravest.
        let told: Vec<Finding> = findings.iter().filter(|finding| finding.severity <= least).cloned().collect();
        self.say(&rendered(&told, self.colour_talk));
    }

    /// Findings as text for standard output, where they are the answer.
    pub(super) fn findings_as_data(&self, findings: &[Finding]) -> String {
        rendered(findings, self.colour_data)
    }

    /// Raw text on standard error; if that is gone there is nobody to tell.
    #[expect(clippy::unused_self, reason = "talking is the shell's business, wherever its words go")]
    pub(super) fn say(&self, text: &str) {
        talk(text);
    }

    fn styled(&self, text: &str, colour: AnsiColor) -> String {
        if self.colour_talk { painted(text, colour) } else { text.to_owned() }
    }
}

/// Raw text on standard error; if that is gone there is nobody to tell.
pub(super) fn talk(text: &str) {
    let mut out = io::stderr().lock();
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn rendered(findings: &[Finding], styled: bool) -> String {
    diagnostics::render(findings, diagnostics::Look { styled, ..diagnostics::Look::default() })
}

/// A flag first, then NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then whether anybody looks. Empty means unset.
#[expect(
    clippy::disallowed_methods,
    reason = "the terminal's wishes are in the environment, and this is where they are read"
)]
fn colour(when: When, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let on = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if set("NO_COLOR") => false,
        When::Auto if on("FORCE_COLOR") || on("CLICOLOR_FORCE") => true,
        When::Auto => terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Unless the locale says otherwise: most logs that set none are read as UTF-8.
#[expect(clippy::disallowed_methods, reason = "the locale is in the environment, and this is where it is read")]
fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .unwrap_or_default()
        .to_ascii_lowercase();
    locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8")
}

fn painted(text: &str, colour: AnsiColor) -> String {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}

/// Colours the words that charts and tables use for trouble.
fn paint(text: &str) -> String {
    let words = [
        ("LATE", AnsiColor::Red),
        ("Late", AnsiColor::Red),
        ("OVER", AnsiColor::Red),
        ("AT RISK", AnsiColor::Yellow),
        ("AtRisk", AnsiColor::Yellow),
    ];
    words.iter().fold(text.to_owned(), |text, (word, colour)| text.replace(word, &painted(word, *colour)))
}

/// Names and messages come from files: none of them may move the cursor or change colours.
fn harmless(text: &str) -> String {
    let visible = |letter: char| if letter.is_control() && letter != '\n' { '\u{fffd}' } else { letter };
    text.chars().map(visible).collect()
}
