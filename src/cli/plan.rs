//! `stagger plan`: when each job starts, why, and how good that is.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};

use super::args::{SearchArgs, SourceArgs, TimeArgs, overrides};
use super::exit::{Exit, Failed};
use super::load::{self, Loaded};
use super::reference::{self, Reference};
use super::shell::Shell;
use super::solve::{self, Solved};
use super::write;
use crate::plan::document;
use crate::plan::proposal::{Plan, Verdict};
use crate::report::plan_csv;
use crate::report::plan_html::{self, Page};
use crate::report::plan_text::{self, Layout};

/// Plan when each job starts
///
/// Reads queues, jobs and what the jobs promise, from manifests or from a cluster, and proposes a start for every job. Prints a chart, one
/// sentence that sums it up, and a table with the reason for every start.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # Plan everything in a folder
  stagger plan scenarios/noon-evals

  # What is waiting in the cluster of the current context right now, as one page for the team
  stagger plan -o html --out plan.html

  # Fail a pipeline when something is at risk
  stagger plan manifests/ --fail-on risk -o json")]
pub(super) struct PlanArgs {
    #[command(flatten)]
    input: SourceArgs,
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
    /// Show only releases of this namespace; everything is planned together all the same
    #[arg(short, long, env = "STAGGER_NAMESPACE", help_heading = "Output")]
    namespace: Option<String>,
    /// Show only this workload, such as Job/eval-1
    #[arg(long = "for", env = "STAGGER_FOR", value_name = "KIND/NAME", value_parser = reference::parse, help_heading = "Output")]
    only: Option<Reference>,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// The plan before this one (-o json), for stability and the frozen window
    #[arg(long, env = "STAGGER_PREVIOUS", value_name = "PLAN.json", value_hint = clap::ValueHint::FilePath, help_heading = "Planning")]
    previous: Option<PathBuf>,
    /// End with 5 when a deadline is at risk or a soft one is missed
    #[arg(long, env = "STAGGER_FAIL_ON", value_name = "WHAT", help_heading = "Exit code")]
    fail_on: Option<FailOn>,
    /// End with 3 when the plan is the same as --previous
    #[arg(long, env = "STAGGER_ERROR_UNCHANGED", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue, requires = "previous", help_heading = "Exit code")]
    error_unchanged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Wide,
    Json,
    Yaml,
    Csv,
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Risk,
}

pub(super) fn run(args: PlanArgs, shell: &Shell) -> Result<Exit, Failed> {
    let previous = args.previous.as_deref().map(load::plan_document).transpose()?;
    let given = load::given(overrides(&args.time, &args.search), previous.as_ref());
    let loaded = load::source(&args.input, &given, shell)?;
    let solved = solve::solve(&loaded, shell)?;
    let out = args.out.as_deref();
    match args.output {
        Format::Table | Format::Wide => write::text(&table(&args, &loaded, &solved, shell)?, out, shell)?,
        Format::Json => write::data(&document::to_json(&solved.plan), out, shell)?,
        Format::Yaml => write::data(&write::yaml(&document::from_plan(&solved.plan))?, out, shell)?,
        Format::Csv => write::data(&plan_csv::render(&shown(&args, &solved.plan)?), out, shell)?,
        Format::Html => write::data(&page(&loaded, &solved), out, shell)?,
    }
    if let Some(path) = out {
        shell.talk(&format!("wrote {}", path.display()));
    }
    next_step(&solved.plan, shell);
    let exit = solve::exit(&loaded, &solved.plan, args.fail_on == Some(FailOn::Risk));
    let same = previous.is_some_and(|previous| solve::unchanged(&solved.plan, &previous));
    Ok(if exit == Exit::Fine && args.error_unchanged && same { Exit::Unchanged } else { exit })
}

fn table(args: &PlanArgs, loaded: &Loaded, solved: &Solved, shell: &Shell) -> Result<String, Failed> {
    let layout = Layout {
        look: shell.look,
        wide: args.output == Format::Wide,
        cut: shell.data_is_terminal && args.out.is_none(),
    };
    let whole = plan_text::render(&solved.scene(loaded), layout);
    if args.namespace.is_none() && args.only.is_none() {
        return Ok(whole);
    }
    // A part is shown as rows only: the chart and the sentence are about all of it.
    Ok(plan_text::table(&shown(args, &solved.plan)?, layout.wide).render(layout.cut.then_some(layout.look.width)))
}

/// The plan with the releases that are asked for.
fn shown(args: &PlanArgs, plan: &Plan) -> Result<Plan, Failed> {
    let mut plan = plan.clone();
    let namespace = args.namespace.as_deref();
    if let Some(only) = &args.only {
        let names = plan.releases.iter().map(|release| (release.kind.as_str(), &release.workload));
        let key = only.pick(names, namespace)?;
        plan.releases.retain(|release| release.workload == key);
    }
    if let Some(namespace) = namespace {
        plan.releases.retain(|release| release.workload.namespace() == namespace);
    }
    Ok(plan)
}

pub(super) fn page(loaded: &Loaded, solved: &Solved) -> String {
    plan_html::render(&Page {
        scene: solved.scene(loaded),
        title: &loaded.title,
        version: env!("CARGO_PKG_VERSION"),
        prices: None,
    })
}

fn next_step(plan: &Plan, shell: &Shell) {
    let troubled = plan.releases.iter().find(|release| matches!(release.verdict, Verdict::Late | Verdict::AtRisk));
    if let Some(release) = troubled
        && !shell.quiet
    {
        let (kind, name, namespace) = (&release.kind, release.workload.name(), release.workload.namespace());
        shell.hint(&format!("`stagger explain PATH --for {kind}/{name} -n {namespace}` says what would help"));
    }
}
