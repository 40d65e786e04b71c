//! The node list: how many GPUs there are of each model.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::failure::{Finding, Severity, SourceFile};
use crate::names::FlavorName;
use crate::scenario::codes::traces as codes;
use crate::scenario::import::intake::{Intake, Refusal};
use crate::scenario::import::labels::{Labels, dns_label};
use crate::scenario::import::report::DropReason;
use crate::scenario::import::source::Line;
use crate::scenario::import::table::{Row, Table, shorten};
use crate::scenario::import::{PoolShare, Settings};

use super::Choices;

const COLUMNS: [&str; 3] = ["sn", "gpu", "model"];
const NODE: usize = 0;
const NODE_GPUS: usize = 1;
const MODEL: usize = 2;

/// GPUs of one node: the largest machines sold have sixteen.
const NODE_GPUS_MAX: i64 = 1024;
/// The most GPU models: Kueue allows 64 flavors in a resource group.
const MODELS_MAX: usize = 64;

/// GPU models as the trace writes them, and what there is of each.
pub struct Models(pub Vec<(String, PoolShare)>);

impl Models {
    /// # Errors
    /// Any broken row of the node list, or one without GPUs.
    pub fn read(
        intake: &mut Intake,
        file: &Arc<SourceFile>,
        settings: &Settings,
        choices: Choices,
    ) -> Result<Self, Vec<Finding>> {
        if !settings.pool.is_empty() {
            intake.state("the pool is the one named, not the node list's");
            let named = settings.pool.iter().map(|share| (share.flavor.as_str().to_owned(), share.clone()));
            return Ok(Self(named.collect()));
        }
        let refuse = |message: String| vec![Finding::error(codes::SETTING, &*file.path, message)];
        if !(1..=100).contains(&choices.scale_percent) {
            return Err(refuse(format!("--scale {}% is not between 1% and 100%", choices.scale_percent)));
        }
        let table = Table::open(file, &COLUMNS)?;
        let mut models: Vec<(String, Vec<i64>)> = Vec::new();
        let mut without_gpu = 0_u64;
        let mut seen = BTreeSet::new();
        for line in table.lines() {
            let (name, model, gpus) = node(&table, *line).map_err(|mut finding| {
                finding.severity = Severity::Error;
                vec![finding.hint("a row of the node list that is left out would change the capacity")]
            })?;
            if !seen.insert(name.clone()) {
                return Err(refuse(format!("line {}: node {} is listed twice", line.number, shorten(&name))));
            }
            if gpus == 0 {
                without_gpu += 1;
            } else if let Some((_, nodes)) = models.iter_mut().find(|(known, _)| *known == model) {
                nodes.push(gpus);
            } else if models.len() == MODELS_MAX {
                return Err(refuse(format!("line {}: more than {MODELS_MAX} GPU models", line.number)));
            } else {
                models.push((model, vec![gpus]));
            }
        }
        if models.is_empty() {
            return Err(refuse("the node list has no GPU".to_owned()));
        }
        if without_gpu > 0 {
            intake.state(format!("{without_gpu} nodes have no GPU and are not used"));
        }
        if choices.scale_percent < 100 {
            intake.state(format!("the node list is cut to {} % of the nodes of each model", choices.scale_percent));
        }
        let mut names = Labels::default();
        let shares = models.into_iter().map(|(model, nodes)| {
            let share = usize::try_from(choices.scale_percent).unwrap_or(100);
            let quantity = nodes[..(nodes.len() * share).div_ceil(100)].iter().sum();
            let flavor = FlavorName::from(names.name("", &model));
            (model, PoolShare { flavor, quantity })
        });
        Ok(Self(shares.collect()))
    }

    /// The flavors a `gpu_spec` allows; empty for an empty spec: all.
    pub fn allowed(&self, intake: &mut Intake, row: &Row<'_>, column: usize) -> Result<Vec<usize>, Refusal> {
        let spec = row.text(column);
        if spec.is_empty() {
            return Ok(Vec::new());
        }
        let mut flavors = Vec::new();
        for model in spec.split('|').map(str::trim) {
            let label = dns_label(model);
            let known = self.0.iter().position(|(name, share)| name == model || share.flavor.as_str() == label);
            match known {
                Some(index) if !flavors.contains(&index) => flavors.push(index),
                Some(_) => {}
                None => {
                    let message = format!("gpu_spec names the model `{}`, which the node list lacks", shorten(model));
                    intake.note(row.warning(codes::WORD, column, message));
                }
            }
        }
        flavors.sort_unstable();
        if flavors.is_empty() { Err(DropReason::NoSuchFlavor.into()) } else { Ok(flavors) }
    }
}

fn node(table: &Table<'_>, line: Line<'_>) -> Result<(String, String, i64), Finding> {
    let row = table.row(line)?;
    let gpus = row.integer(NODE_GPUS, "gpu", 0, NODE_GPUS_MAX)?;
    let model = row.text(MODEL);
    if gpus > 0 && model.is_empty() {
        return Err(row.warning(codes::CONTRADICTION, MODEL, format!("the node has {gpus} GPUs but no model")));
    }
    Ok((row.text(NODE).to_owned(), model.to_owned(), gpus))
}
