//! `stagger prices`: whether everything has exactly one price, and where prices come from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::args::InputArgs;
use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{load, report, write};
use crate::calendar;
use crate::clock;
use crate::failure::{Finding, Severity};
use crate::ledger::coverage::{CellPrice, cell_prices};
use crate::ledger::prices::{self, CapacityType, Choice, Format, Hints, Owned, PriceRow, owned, rate_card};
use crate::ledger::run::Window;
use crate::ratio::Ratio;
use crate::report::table::{Align, Table};
use crate::scenario::{self, Limits, books};
use crate::units::{Seconds, Timestamp};

/// Check prices, or turn a provider's price list into a RateCard
#[derive(Debug, Args)]
pub(super) struct PricesArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(CheckArgs),
    Import(ImportArgs),
    Owned(OwnedArgs),
}

/// List what there is and its price, and every device without one
///
/// Ends with 7 when a device has no price, or two at the same time.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  stagger prices check books/ --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z")]
struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,
    /// From this instant on (RFC 3339) [default: now]
    #[arg(long, env = "STAGGER_FROM", value_name = "INSTANT", value_parser = calendar::parse_instant)]
    from: Option<Timestamp>,
    /// Until just before this instant (RFC 3339) [default: a day after --from]
    #[arg(long, env = "STAGGER_TO", value_name = "INSTANT", value_parser = calendar::parse_instant)]
    to: Option<Timestamp>,
    /// What to print
    #[arg(
        short,
        long,
        env = "STAGGER_OUTPUT",
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    output: CheckFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    Table,
    Json,
}

/// Turn a provider's price list into a RateCard
///
/// Prints the manifest; says on standard error what was left out and why. Prices are exact decimals, for one GPU.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger prices import aws offers-eu-west-1.json --region eu-west-1 --name aws-ireland
  stagger prices import azure page.json --capacity spot --gpus Standard_ND96isr_MI300X_v5=8")]
struct ImportArgs {
    /// Whose list it is
    format: ListFormat,
    /// The list
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// The region [default: the only one in the list]
    #[arg(long, env = "STAGGER_REGION")]
    region: Option<String>,
    /// What is promised for the price: on-demand, spot, reserved-1y, reserved-3y
    #[arg(long, env = "STAGGER_CAPACITY", value_name = "KIND", default_value = "on-demand", value_parser = CapacityType::parse)]
    capacity: CapacityType,
    /// Prices in force at this instant (RFC 3339) [default: the newest]
    #[arg(long, env = "STAGGER_AT", value_name = "INSTANT", value_parser = calendar::parse_instant)]
    at: Option<Timestamp>,
    /// GPUs of an instance type, where the list does not say; may be repeated
    #[arg(long, env = "STAGGER_GPUS_OF", value_name = "TYPE=N", value_parser = gpus)]
    gpus: Vec<(String, u32)>,
    /// The currency, where the list does not say (OpenCost)
    #[arg(long, env = "STAGGER_CURRENCY", value_name = "ISO")]
    currency: Option<String>,
    /// The resource that pods ask for
    #[arg(long, env = "STAGGER_RESOURCE", value_name = "NAME", default_value = "nvidia.com/gpu")]
    resource: String,
    /// Name of the RateCard
    #[arg(long, env = "STAGGER_NAME", default_value = "imported")]
    name: String,
    /// What to print: the RateCard, or every row that was read
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "yaml", help_heading = "Output")]
    output: ImportFormat,
    /// Write there, all at once, instead of to standard output
    #[arg(long, env = "STAGGER_OUT", value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ListFormat {
    /// AWS Price List of EC2, JSON or CSV
    Aws,
    /// A page of the Azure Retail Prices API
    Azure,
    /// A page of Google Cloud's catalog
    Gcp,
    /// OpenCost's CSV price sheet
    Opencost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    Yaml,
    Table,
    Json,
}

/// What an hour of a GPU costs that one owns, with the formula
#[derive(Debug, Args)]
#[command(after_help = "Example:
  stagger prices owned --purchase 30000 --months 48 --power-kw 0.7 --pue 1.3 --kwh-price 0.20 --monthly 120")]
struct OwnedArgs {
    /// Purchase price of one GPU with its share of host, network and rack
    #[arg(long, env = "STAGGER_PURCHASE", value_name = "AMOUNT", value_parser = Ratio::parse)]
    purchase: Ratio,
    /// Months over which it is written off
    #[arg(long, env = "STAGGER_MONTHS", value_name = "N")]
    months: i64,
    /// Average draw of one GPU with its share of the host, in kilowatts
    #[arg(long, env = "STAGGER_POWER_KW", value_name = "KW", value_parser = Ratio::parse)]
    power_kw: Ratio,
    /// Power usage effectiveness of the building
    #[arg(long, env = "STAGGER_PUE", value_name = "RATIO", default_value = "1", value_parser = Ratio::parse)]
    pue: Ratio,
    /// Price of a kilowatt-hour
    #[arg(long, env = "STAGGER_KWH_PRICE", value_name = "AMOUNT", value_parser = Ratio::parse)]
    kwh_price: Ratio,
    /// Staff, space and support for one GPU and month
    #[arg(long, env = "STAGGER_MONTHLY", value_name = "AMOUNT", default_value = "0", value_parser = Ratio::parse)]
    monthly: Ratio,
}

pub(super) fn run(args: PricesArgs, shell: &Shell) -> Result<Exit, Failed> {
    match args.verb {
        Verb::Check(args) => check(&args, shell),
        Verb::Import(args) => import(args, shell),
        Verb::Owned(args) => derive(&args, shell),
    }
}

fn check(args: &CheckArgs, shell: &Shell) -> Result<Exit, Failed> {
    let from = args.from.unwrap_or_else(clock::now);
    let window = Window { from, to: args.to.unwrap_or(from + Seconds::DAY) };
    if window.to <= window.from {
        return Err(Failed::usage("the window ends before it begins"));
    }
    let reading = scenario::read(&load::inputs(&args.input.paths)?, &Limits::default());
    let books = books::open(&reading.manifests, &mut [], window);
    let mut findings: Vec<Finding> = reading.findings.into_iter().chain(books.findings).collect();
    if load::refusal(&findings).is_some() {
        return Err(report::refused(&findings, shell));
    }
    let cells = cell_prices(&books.cards, books.capacity.as_deref().unwrap_or_default(), window);
    let cells = cells.unwrap_or_else(|errors| {
        findings.extend(errors);
        Vec::new()
    });
    findings.extend(cells.iter().filter_map(|cell| cell.price.clone().err()));
    let text = match args.output {
        CheckFormat::Table => table_of_cells(&cells),
        CheckFormat::Json => json_of_cells(&cells, &findings),
    };
    write::data(&text, None, shell)?;
    shell.findings(&findings);
    if cells.is_empty() && load::refusal(&findings).is_none() {
        shell.hint("no ClusterQueue, Cohort or GpuInventory in these files says what there is to price");
    }
    Ok(load::refusal(&findings).unwrap_or(Exit::Fine))
}

fn table_of_cells(cells: &[CellPrice]) -> String {
    let mut table = Table::new(&[
        ("FLAVOR", Align::Left),
        ("RESOURCE", Align::Left),
        ("CAPACITY", Align::Right),
        ("PRICE", Align::Left),
        ("FROM", Align::Left),
    ]);
    for cell in cells {
        let price = match &cell.price {
            Ok(price) => price.clone(),
            Err(finding) if finding.code == "SG144" => "MISSING".to_owned(),
            Err(_) => "AMBIGUOUS".to_owned(),
        };
        let capacity = cell.resource.quantity(cell.capacity);
        table.row(vec![cell.flavor.to_string(), cell.resource.to_string(), capacity, price, cell.places.join(", ")]);
    }
    table.render(None)
}

fn json_of_cells(cells: &[CellPrice], findings: &[Finding]) -> String {
    let cell = |cell: &CellPrice| {
        json!({
            "flavor": cell.flavor.as_str(),
            "resource": cell.resource.as_str(),
            "capacity": cell.resource.quantity(cell.capacity),
            "price": cell.price.as_ref().ok(),
            "reason": cell.price.as_ref().err().map(|finding| finding.message.clone()),
            "rates": cell.places,
        })
    };
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let document = json!({
        "apiVersion": "stagger.dev/prices/v1",
        "kind": "PriceCheck",
        "complete": errors.clone().next().is_none(),
        "cells": cells.iter().map(cell).collect::<Vec<_>>(),
        "findings": errors.map(|finding| json!({"code": finding.code, "subject": finding.subject, "message": finding.message})).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn import(args: ImportArgs, shell: &Shell) -> Result<Exit, Failed> {
    let format = match args.format {
        ListFormat::Aws => Format::Aws,
        ListFormat::Azure => Format::Azure,
        ListFormat::Gcp => Format::Gcp,
        ListFormat::Opencost => Format::OpenCost,
    };
    let file = report::open(&args.file, &mut Sha256::new())?;
    let hints = Hints { gpus: args.gpus.into_iter().collect::<BTreeMap<_, _>>(), currency: args.currency };
    let read = prices::read(&file, format, &hints);
    // A row that overlaps another of what is asked for makes the card wrong; one in another region does not.
    if read.rows.is_empty() && load::refusal(&read.findings).is_some() {
        return Err(report::refused(&read.findings, shell));
    }
    shell.findings(&read.findings);
    let text = match args.output {
        ImportFormat::Table => table_of_rows(&read.rows),
        ImportFormat::Json => json_of_rows(&read.rows),
        ImportFormat::Yaml => {
            let choice = Choice {
                name: &args.name,
                region: args.region.as_deref(),
                capacity: args.capacity,
                at: args.at,
                resource: &args.resource,
            };
            rate_card(&read.rows, &choice).map_err(|message| Failed {
                exit: Exit::Refused,
                message: format!("failed to make a rate card of {}: {message}", args.file.display()),
                hint: Some("`-o table` lists every row that was read".to_owned()),
            })?
        }
    };
    write::data(&text, args.out.as_deref(), shell)?;
    for (why, count) in &read.left_out {
        shell.talk(&format!("left out {count}: {why}"));
    }
    Ok(load::refusal(&read.findings).unwrap_or(Exit::Fine))
}

fn table_of_rows(rows: &[PriceRow]) -> String {
    let mut table = Table::new(&[
        ("DEVICE", Align::Left),
        ("REGION", Align::Left),
        ("CAPACITY", Align::Left),
        ("GPU-HOUR", Align::Right),
        ("CURRENCY", Align::Left),
        ("FROM", Align::Left),
        ("SOURCE", Align::Left),
    ]);
    for row in rows {
        let from = row.valid_from.map_or_else(|| "-".to_owned(), |from| calendar::rfc3339(from, chrono_tz::UTC));
        table.row(vec![
            row.device.clone(),
            row.region.clone(),
            row.capacity.as_str().to_owned(),
            row.price.decimal_floor(9),
            row.currency.clone(),
            from,
            row.source.clone(),
        ]);
    }
    table.render(None)
}

fn json_of_rows(rows: &[PriceRow]) -> String {
    let time = |at: Option<Timestamp>| at.map(|at| calendar::rfc3339(at, chrono_tz::UTC));
    let row = |row: &PriceRow| {
        json!({
            "device": row.device,
            "gpus": row.gpus,
            "region": row.region,
            "capacityType": row.capacity.as_str(),
            "unit": "GpuHour",
            "price": row.price.decimal_floor(9),
            "currency": row.currency,
            "validFrom": time(row.valid_from),
            "validTo": time(row.valid_to),
            "source": row.source,
        })
    };
    let rows: Vec<serde_json::Value> = rows.iter().map(row).collect();
    format!("{:#}\n", json!({"apiVersion": "stagger.dev/prices/v1", "kind": "PriceList", "rows": rows}))
}

fn derive(args: &OwnedArgs, shell: &Shell) -> Result<Exit, Failed> {
    let known = Owned {
        purchase: args.purchase,
        months: args.months,
        power_kw: args.power_kw,
        pue: args.pue,
        kwh_price: args.kwh_price,
        monthly: args.monthly,
    };
    let price = owned(&known).map_err(Failed::usage)?;
    write::text(&format!("{}\n", price.formula), None, shell)?;
    Ok(Exit::Fine)
}

fn gpus(text: &str) -> Result<(String, u32), String> {
    let wrong = || format!("`{text}` is not TYPE=N such as p5.48xlarge=8");
    let (name, count) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.to_owned(), count.parse().map_err(|_| wrong())?))
}
