//! `stagger whatif`: buy or stagger, one row per option.

use std::path::{Path, PathBuf};

use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};

use super::args::{SearchArgs, SourceArgs, TimeArgs, overrides};
use super::before;
use super::exit::{Exit, Failed};
use super::history::{self, HistoryArgs, Manner};
use super::load::{self, Loaded};
use super::shell::Shell;
use super::solve;
use super::whatif_chance as chance;
use super::whatif_flags::{self as flags, Flag, Flagged};
use super::whatif_resume::{Resume, made};
use super::{interrupt, write};
use crate::calendar;
use crate::clock::Stopwatch;
use crate::failure::Finding;
use crate::kueue::changes::{self, Source};
use crate::plan::snapshot::{CellId, Policy, Snapshot};
use crate::plan::watch::{Progress, Watch};
use crate::plan::whatif::journal::{self, Kind};
use crate::plan::whatif::measured::Measured;
use crate::plan::whatif::{self, Change, OPTIONS_MAX, Question, Tools, WhatIf};
use crate::plan::{Plan, whatif::document};
use crate::report::whatif_html::{self, Page};
use crate::report::{costs, whatif_csv, whatif_text};
use crate::units::{Money, Timestamp};

/// The whole comparison ends after so many times the limit of one plan.
const PLANS_WORTH: u64 = 7;

/// Do we need more GPUs at all, and what would each option bring?
///
/// Compares, on the same load: everything at once, Kueue alone, staggered starts, the smallest pool that meets every hard
/// deadline, and every option you name. Then it says in one sentence whether to buy, and how sure that is.
/// docs/whatif.md has the rules and formulas.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # Buy or stagger?
  stagger whatif scenarios/noon-evals

  # What would four more bring, two fewer lose, and a fifth more work ask for?
  stagger whatif scenarios/noon-evals --add a100=4 --remove a100=2 --grow 20%

  # Renting for two hours, a node out, another price
  stagger whatif scenarios/noon-evals --add a100=2@+1h/+3h --outage a100=2@+0h/+2h --price a100=1.90

  # The last weeks again: as Kueue alone ran them, staggered, and with eight GPUs more or fewer
  stagger whatif --history jobs.txt --format sacct --capacity a100=64 --plus 8 --minus 8

  # Own or rent, with what the last report measured
  stagger whatif scenarios/noon-evals --own a100=1.10 --report report.json -o html --out whatif.html")]
pub(super) struct WhatIfArgs {
    #[command(flatten)]
    input: SourceArgs,
    /// Capacity that is bought, FLAVOR[:QUEUE]=N[@FROM/TO]; a row for each flag, commas join changes in one row
    #[arg(long, env = "STAGGER_ADD", value_name = "FLAVOR=N", help_heading = "Options")]
    add: Vec<String>,
    /// Capacity that is given up, written the same way
    #[arg(long, env = "STAGGER_REMOVE", value_name = "FLAVOR=N", help_heading = "Options")]
    remove: Vec<String>,
    /// Capacity that fails for a time, FLAVOR[:QUEUE]=N@FROM/TO; times are RFC 3339 or +DURATION from now
    #[arg(long, env = "STAGGER_OUTAGE", value_name = "FLAVOR=N@FROM/TO", help_heading = "Options")]
    outage: Vec<String>,
    /// Another price of a GPU-hour, in the rate card's currency
    #[arg(long, env = "STAGGER_PRICE", value_name = "FLAVOR=AMOUNT", help_heading = "Options")]
    price: Vec<String>,
    /// More work of the same kind, in percent; negative for less
    #[arg(long, env = "STAGGER_GROW", value_name = "PERCENT", allow_hyphen_values = true, help_heading = "Options")]
    grow: Vec<String>,
    /// What an owned GPU-hour costs, for the break-even against renting
    #[arg(long, env = "STAGGER_OWN", value_name = "FLAVOR=AMOUNT", help_heading = "Options")]
    own: Vec<String>,
    /// What was measured: a report (`stagger report -o json`), for the cost per verified outcome and learnt runtimes
    #[arg(long, env = "STAGGER_REPORT", value_name = "REPORT.json", value_hint = clap::ValueHint::FilePath, help_heading = "Options")]
    report: Option<PathBuf>,
    /// Sample how likely every hard deadline is met, however large the load [default: up to 200 uncertain workloads]
    #[arg(long, env = "STAGGER_CHANCE", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue, help_heading = "Options")]
    chance: bool,
    /// Keep what is planned there, and go on from it: a comparison that was stopped (Ctrl-C, limit) is asked again
    #[arg(long, env = "STAGGER_RESUME", value_name = "FILE", conflicts_with = "history", value_hint = clap::ValueHint::FilePath, help_heading = "Options")]
    resume: Option<PathBuf>,
    /// The currency of --price where no rate card names one
    #[arg(long, env = "STAGGER_CURRENCY", value_name = "ISO", help_heading = "Options")]
    currency: Option<String>,
    /// What to print
    #[arg(
        short,
        long,
        env = "STAGGER_OUTPUT",
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    output: Format,
    /// Write there, all at once, instead of to standard output
    #[arg(long, env = "STAGGER_OUT", value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    history: HistoryArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
    Html,
}

pub(super) fn run(args: &WhatIfArgs, shell: &Shell) -> Result<Exit, Failed> {
    if args.history.history.is_some() {
        return history::run(&args.history, &manner(args), shell);
    }
    // 1. What is asked.
    let resume = args.resume.as_deref().map(Resume::open).transpose()?;
    let mut overrides = overrides(&args.time, &args.search);
    overrides.now = overrides.now.or_else(|| resume.as_ref().and_then(Resume::now));
    let mut given = load::given(overrides, None);
    given.may_grow = true;
    let mut loaded = load::source(&args.input, &given, shell)?;
    let changes = options(args, &loaded, shell)?;
    let own = owned(&args.own, &loaded.assembled.snapshot, shell)?;
    if loaded.assembled.snapshot.currency.is_none() {
        loaded.assembled.snapshot.currency.clone_from(&args.currency);
    }
    let measured = args.report.as_deref().map(|path| measured(path, shell)).transpose()?;
    if let Some(measured) = &measured {
        let (learnt, count) = measured.with_runtimes(&loaded.assembled.snapshot);
        loaded.assembled.snapshot = learnt;
        shell.talk(&format!("runtimes of {count} workloads are as the report measured them"));
    }
    // 2. Today's plan, and everything beside it.
    let (snapshot, policy) = (&loaded.assembled.snapshot, &loaded.assembled.policy);
    let digest = journal::digest(snapshot, policy, &changes, measured.as_ref(), &own);
    resume.as_ref().map_or(Ok(()), |resume| resume.ask(&digest, policy.seed, snapshot.now))?;
    let make =
        |kind: Kind, snapshot: &Snapshot, policy: &Policy, watch: &dyn Watch, whole: &dyn Fn() -> bool| match &resume {
            Some(resume) => resume.make(kind, (snapshot, policy), watch, whole),
            None => made(kind, snapshot, policy, watch),
        };
    let solved = solve::solve_by(&loaded, shell, &|kind, snapshot, policy, watch| {
        make(kind, snapshot, policy, watch, &|| true)
    })?;
    let question =
        Question { snapshot, policy, plan: &solved.plan, changes: &changes, measured: measured.as_ref(), own: &own };
    let mut answer = compare(&question, &make, shell);
    let small = question.snapshot.workloads.len() <= chance::UNASKED_MAX;
    if args.chance || (small && chance::is_worth_it(question.snapshot)) {
        chance::sample(&mut answer);
    }
    // 3. The answer.
    show(args, &answer, &loaded.title, shell)?;
    if !answer.left_out.is_empty() {
        let go_on = if resume.is_some() { "the same command goes on" } else { "with --resume FILE it could go on" };
        shell.talk(&format!("stopped early; not looked at: {}; {go_on}", answer.left_out.join(", ")));
    }
    if let Some(resume) = &resume {
        resume.finish(shell)?;
    }
    Ok(exit(&loaded, &solved.plan, &answer))
}

/// What `--history` takes over from the other flags.
fn manner(args: &WhatIfArgs) -> Manner<'_> {
    let output = match args.output {
        Format::Table => history::Output::Table,
        Format::Json => history::Output::Json,
        Format::Csv => history::Output::Csv,
        Format::Html => history::Output::Html,
    };
    Manner { output, out: args.out.as_deref(), steps: args.search.steps, seed: args.search.seed }
}

fn show(args: &WhatIfArgs, answer: &WhatIf, title: &str, shell: &Shell) -> Result<(), Failed> {
    let out = args.out.as_deref();
    let version = env!("CARGO_PKG_VERSION");
    let width = (shell.data_is_terminal && out.is_none()).then_some(shell.look.width);
    match args.output {
        Format::Table => write::text(&whatif_text::render(answer, version, width), out, shell)?,
        Format::Json => write::data(&document::to_json(answer, version), out, shell)?,
        Format::Csv => write::data(&whatif_csv::render(answer), out, shell)?,
        Format::Html => {
            let prices = answer.currency.as_ref().map(|currency| {
                let zone = calendar::zone(&answer.time_zone).unwrap_or(chrono_tz::UTC);
                format!("in {currency}, in force at {}", calendar::rfc3339(answer.now, zone))
            });
            let page = Page { what_if: answer, title, version, prices: prices.as_deref() };
            write::data(&whatif_html::render(&page), out, shell)?;
        }
    }
    if let Some(path) = out {
        shell.talk(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// A report read back; everything wrong with it is told at once.
fn measured(path: &Path, shell: &Shell) -> Result<Measured, Failed> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Failed::file("read", &shown, error))?;
    costs::measured::from_json(&text).map_err(|wrong| {
        let (last, others) = wrong.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
        for message in others {
            shell.error(&format!("{shown}: {message}"));
        }
        let hint = Some("`stagger report PATH -o json --by class` writes one".to_owned());
        Failed { exit: Exit::Refused, message: format!("{shown}: {last}"), hint }
    })
}

fn exit(loaded: &Loaded, plan: &Plan, answer: &WhatIf) -> Exit {
    let verdict = &answer.verdict;
    let missed = verdict.kind != whatif::verdict::Kind::DontBuy || !verdict.hopeless.is_empty();
    match solve::exit(loaded, plan, false) {
        Exit::Interrupted => Exit::Interrupted,
        _ if missed => Exit::Infeasible,
        Exit::Limit => Exit::Limit,
        _ if !answer.left_out.is_empty() => Exit::Limit,
        _ => Exit::Fine,
    }
}

/// How plans are made: the kind, what for, who watches, and whether nothing outside has cut it short.
type Make<'a> = dyn Fn(Kind, &Snapshot, &Policy, &dyn Watch, &dyn Fn() -> bool) -> Plan + 'a;

fn compare(question: &Question<'_>, make: &Make<'_>, shell: &Shell) -> WhatIf {
    let watch = Whole::start(question.policy);
    let of_kind = |kind: Kind, snapshot: &Snapshot, policy: &Policy| {
        let policy = Policy { time_limit_millis: policy.time_limit_millis.min(watch.left()).max(1), ..policy.clone() };
        make(kind, snapshot, &policy, &One { stopwatch: Stopwatch::start() }, &|| watch.left() > 0)
    };
    let planning = |snapshot: &Snapshot, policy: &Policy| of_kind(Kind::Plan, snapshot, policy);
    let probing = |snapshot: &Snapshot, policy: &Policy| of_kind(Kind::Probe, snapshot, policy);
    let looked_at = shell.talk_is_terminal && !shell.quiet;
    let begins = |part: &str| {
        if looked_at {
            shell.say(&format!("\r\u{1b}[K{part} …  Ctrl-C keeps the rows so far"));
        }
    };
    let tools = Tools {
        solve: &planning,
        probe: &probing,
        alone: &before::alone_run,
        watch: &watch,
        limit_millis: (watch.limit_millis < u64::MAX).then_some(watch.limit_millis),
        begins: &begins,
    };
    let answer = whatif::compare(question, &tools);
    if looked_at {
        shell.say("\r\u{1b}[K");
    }
    answer
}

/// The clock of one plan, stopped by Ctrl-C.
struct One {
    stopwatch: Stopwatch,
}

impl Watch for One {
    fn elapsed_millis(&self) -> u64 {
        self.stopwatch.millis()
    }
    fn stopped(&self) -> bool {
        interrupt::pressed()
    }
    fn progress(&self, _progress: &Progress) {}
}

/// The clock of the whole comparison: it stops at its limit, or with Ctrl-C.
struct Whole {
    stopwatch: Stopwatch,
    limit_millis: u64,
}

impl Whole {
    fn start(policy: &Policy) -> Self {
        // Steps bound a repeatable run, not seconds.
        let limit = policy.time_limit_millis.saturating_mul(PLANS_WORTH);
        let by_steps = policy.step_limit.is_some_and(|steps| steps < u64::MAX);
        let limit_millis = if by_steps { u64::MAX } else { limit };
        Self { stopwatch: Stopwatch::start(), limit_millis }
    }

    fn left(&self) -> u64 {
        self.limit_millis.saturating_sub(self.stopwatch.millis())
    }
}

impl Watch for Whole {
    fn elapsed_millis(&self) -> u64 {
        self.stopwatch.millis()
    }
    fn stopped(&self) -> bool {
        interrupt::pressed() || self.left() == 0
    }
    fn progress(&self, _progress: &Progress) {}
}

/// The Scenario's options, then those of the flags.
fn options(args: &WhatIfArgs, loaded: &Loaded, shell: &Shell) -> Result<Vec<Change>, Failed> {
    let snapshot = &loaded.assembled.snapshot;
    let mut wrong: Vec<String> = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut changes = loaded.assembled.changes.clone();
    for mut flagged in flagged(args, snapshot.now, &mut wrong) {
        flags::name_resources(&mut flagged, snapshot);
        let source = Source { subject: flagged.flag.clone(), manifest: None, pointer: String::new() };
        match changes::resolve(&flagged.option, snapshot, &source) {
            Ok(change) => changes.push(change),
            Err(found) => findings.extend(found),
        }
    }
    if !args.price.is_empty() && snapshot.currency.is_none() && args.currency.is_none() {
        wrong.push("--price: no rate card says in which currency; expected --currency, such as EUR".to_owned());
    }
    if changes.len() > OPTIONS_MAX {
        wrong.push(format!("read {} options; expected at most {OPTIONS_MAX} in one comparison", changes.len()));
    }
    for finding in &findings {
        let hint = finding.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
        wrong.push(format!("{}: {}{hint}", finding.subject, finding.message));
    }
    refuse(&wrong, shell)?;
    Ok(changes)
}

fn flagged(args: &WhatIfArgs, now: Timestamp, wrong: &mut Vec<String>) -> Vec<Flagged> {
    let all = [
        (Flag::Add, &args.add),
        (Flag::Remove, &args.remove),
        (Flag::Outage, &args.outage),
        (Flag::Price, &args.price),
        (Flag::Grow, &args.grow),
    ];
    let mut read = Vec::new();
    for (flag, values) in all {
        for value in values {
            match flags::read(flag, value, now) {
                Ok(flagged) => read.push(flagged),
                Err(message) => wrong.push(message),
            }
        }
    }
    read
}

fn owned(values: &[String], snapshot: &Snapshot, shell: &Shell) -> Result<Vec<(CellId, Money)>, Failed> {
    let (mut own, mut wrong) = (Vec::new(), Vec::new());
    for value in values {
        match flags::own(value, snapshot) {
            Ok((cell, _)) if own.iter().any(|(known, _)| *known == cell) => {
                wrong.push(format!("--own: read `{value}`: its flavor has a cost already; expected each flavor once"));
            }
            Ok(one) => own.push(one),
            Err(message) => wrong.push(message),
        }
    }
    refuse(&wrong, shell)?;
    Ok(own)
}

/// Tells everything that is wrong, one line each, and ends the command if there is anything.
fn refuse(wrong: &[String], shell: &Shell) -> Result<(), Failed> {
    let Some((last, others)) = wrong.split_last() else { return Ok(()) };
    for message in others {
        shell.error(message);
    }
    Err(Failed::usage(last.clone()).hint("`stagger whatif --help` shows every form"))
}
