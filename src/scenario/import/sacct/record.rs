//! A row: its fields by column, and what they say.

use crate::failure::Finding;
use crate::scenario::codes::traces as codes;
use crate::scenario::import::intake::{Intake, Refusal};
use crate::scenario::import::report::DropReason;
use crate::scenario::import::source::{LINE_BYTES_MAX, Line};
use crate::scenario::import::table::shorten;
use crate::units::{Seconds, Timestamp};

use super::DOCUMENTED;
use super::words::{self, Gpus, State};

/// Without these a row says nothing.
const REQUIRED: [&str; 5] = ["jobid", "submit", "start", "end", "state"];

/// Where each column stands.
pub struct Columns {
    names: Vec<String>,
    /// The last one is `jobname`, which may hold the separator.
    takes_rest: bool,
}

#[derive(Debug, Clone)]
pub struct Record {
    pub line: usize,
    pub cluster: String,
    pub id: String,
    /// Eligible, else Submit.
    pub arrived: Timestamp,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub state: State,
    pub gpus: Gpus,
    pub limit: Option<Seconds>,
    pub account: Option<String>,
    pub user: Option<String>,
}

impl Columns {
    /// The columns, and the lines after the title.
    ///
    /// # Errors
    /// SG061 when a title lacks a column or names one twice.
    pub fn of<'a, 'b>(all: &'b [Line<'a>]) -> Result<(Self, &'b [Line<'a>]), Vec<Finding>> {
        let Some((title, rest)) = all.split_first() else { return Ok((Self::documented(), all)) };
        let names: Vec<String> = title.text.split('|').map(|name| name.trim().to_ascii_lowercase()).collect();
        if !names.iter().any(|name| name == "jobid") {
            return Ok((Self::documented(), all));
        }
        let refuse = |message: String| {
            Finding::error(codes::COLUMNS, &*title.file.path, message)
                .at(Some(title.whole()), "this is taken to be the title line")
                .hint("sacct --parsable2 --format=jobid,account,user,submit,eligible,start,end,state,reqtres,alloctres,timelimit,jobname")
        };
        let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
        let mut findings: Vec<Finding> = Vec::new();
        for wanted in REQUIRED {
            if count(wanted) == 0 {
                findings.push(refuse(format!("the title line has no column `{wanted}`")));
            }
        }
        if count("alloctres") + count("reqtres") == 0 {
            findings.push(refuse("the title line has neither `alloctres` nor `reqtres`".to_owned()));
        }
        findings.extend(
            DOCUMENTED
                .iter()
                .filter(|wanted| count(wanted) > 1)
                .map(|wanted| refuse(format!("the title line names `{wanted}` twice"))),
        );
        if !findings.is_empty() {
            return Err(findings);
        }
        let takes_rest = names.last().is_some_and(|name| name == "jobname");
        Ok((Self { names, takes_rest }, rest))
    }

    fn documented() -> Self {
        Self { names: DOCUMENTED.iter().map(|name| (*name).to_owned()).collect(), takes_rest: true }
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.names.iter().position(|name| name == column)
    }
}

struct Row<'a> {
    line: Line<'a>,
    columns: &'a Columns,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.columns.place(column).and_then(|place| self.fields.get(place)).map_or("", |field| field.trim())
    }

    fn warning(&self, code: &'static str, column: &str, message: String) -> Finding {
        let place = self.columns.place(column).unwrap_or(0).min(self.fields.len() - 1);
        let start: usize = self.fields[..place].iter().map(|field| field.len() + 1).sum();
        self.line.warning(code, start, start + self.fields[place].len(), message)
    }

    fn instant(&self, intake: &mut Intake, column: &'static str) -> Result<Option<Timestamp>, Finding> {
        let text = self.text(column);
        let known = words::instant(text).ok().filter(|at| at.is_none_or(|at| (0..=INSTANT_MAX).contains(&at.0)));
        let at = known.ok_or_else(|| {
            let message =
                format!("{column} is `{}`, and a time such as 2026-01-05T10:00:00 is expected", shorten(text));
            self.warning(codes::NUMBER, column, message)
        })?;
        if at.is_none() {
            intake.miss(column);
        }
        Ok(at)
    }
}

/// The year 9000: far enough for any log, and room for a hundred years more.
const INSTANT_MAX: i64 = 221_845_392_000;

pub fn record(intake: &mut Intake, columns: &Columns, line: Line<'_>) -> Result<Record, Refusal> {
    if line.text.len() > LINE_BYTES_MAX {
        let message = format!("the line has {} bytes, more than {LINE_BYTES_MAX}", line.text.len());
        return Err(Finding::warning(codes::LIMIT, line.subject(), message).into());
    }
    let width = columns.names.len();
    let fields: Vec<&str> =
        if columns.takes_rest { line.text.splitn(width, '|').collect() } else { line.text.split('|').collect() };
    // `--parsable` (without the 2) ends every line with one more separator.
    let trailing = fields.len() == width + 1 && fields.last() == Some(&"");
    if fields.len() != width && !trailing {
        let message = format!("the row has {} fields where {width} are expected", fields.len());
        return Err(line.warning(codes::SHAPE, 0, line.text.len(), message).into());
    }
    let row = Row { line, columns, fields };
    let id = row.text("jobid").to_owned();
    if id.is_empty() {
        return Err(row.warning(codes::SHAPE, "jobid", "jobid is empty".to_owned()).into());
    }
    if id.contains('.') {
        // `.batch`, `.extern`, `.0`: --allocations was forgotten.
        return Err(DropReason::PartialRun.into());
    }
    let state = words::state(row.text("state")).ok_or_else(|| {
        let message = format!("state is `{}`, which Slurm does not have", shorten(row.text("state")));
        row.warning(codes::WORD, "state", message)
    })?;
    let submitted = row.instant(intake, "submit")?;
    let eligible = if columns.place("eligible").is_some() { row.instant(intake, "eligible")? } else { None };
    let (started, ended) = (row.instant(intake, "start")?, row.instant(intake, "end")?);
    if state == State::Pending || id.contains('[') {
        return Err(DropReason::NeverScheduled.into());
    }
    let Some(arrived) = eligible.or(submitted) else {
        return Err(row
            .warning(codes::CONTRADICTION, "submit", "nothing says when it was submitted".to_owned())
            .into());
    };
    let ended = ended.filter(|_| state != State::Running);
    if let (Some(started), Some(ended)) = (started, ended)
        && ended < started
    {
        return Err(row.warning(codes::CONTRADICTION, "end", "it ended before it started".to_owned()).into());
    }
    if started.is_some_and(|started| started < submitted.unwrap_or(arrived)) {
        return Err(row.warning(codes::CONTRADICTION, "start", "it started before it was submitted".to_owned()).into());
    }
    // A job that was made eligible by hand may have started in the same instant; never after.
    let arrived = started.map_or(arrived, |started| arrived.min(started));
    if state == State::Ended && started.is_some() && ended.is_none() {
        return Err(DropReason::NoRuntime.into());
    }
    let gpus = gpus(intake, &row)?;
    let limit = words::limit(row.text("timelimit")).map_err(|()| {
        let text = shorten(row.text("timelimit"));
        let message = format!("timelimit is `{text}`, and [days-]hours:minutes:seconds or UNLIMITED is expected");
        row.warning(codes::NUMBER, "timelimit", message)
    })?;
    if limit.is_none() {
        intake.miss("timelimit");
    }
    let named = |column: &str| Some(row.text(column).to_owned()).filter(|text| !text.is_empty());
    Ok(Record {
        line: line.number,
        cluster: row.text("cluster").to_owned(),
        arrived,
        started,
        ended,
        state,
        gpus,
        limit,
        account: named("account"),
        user: named("user"),
        id,
    })
}

/// What was allocated, else what was asked for. Rows without nodes have no allocation, whatever they asked for.
fn gpus(intake: &mut Intake, row: &Row<'_>) -> Result<Gpus, Finding> {
    if row.text("alloctres").is_empty() && row.text("reqtres").is_empty() {
        intake.miss("alloctres");
    }
    for column in ["alloctres", "reqtres"] {
        let found = words::gpus(row.text(column)).map_err(|()| {
            let message = format!("{column} is `{}`: a number of GPUs in it is none", shorten(row.text(column)));
            row.warning(codes::NUMBER, column, message)
        })?;
        // An allocation that names no GPU is one without; only where there is none does the request count.
        if let Some(gpus) = found {
            return Ok(gpus);
        }
        if !row.text(column).is_empty() {
            return Ok(Gpus::default());
        }
    }
    Ok(Gpus::default())
}
