//! The `WhatIf` document, `stagger.dev/whatif/v1`: the comparison as JSON.
//!
//! Promise: field names and their order are stable, readers ignore fields they do not know, quantities are Kubernetes
//! quantities as strings, money decimal strings in the document's currency, times RFC 3339 in the scenario's zone.
//! Every byte but `quality.seconds` is a function of the input.

use chrono_tz::Tz;
use serde_json::{Map, Value, json};

use crate::calendar;
use crate::plan::proposal::{Fix, Peak, Quality};
use crate::ratio::Ratio;
use crate::units::{Money, Timestamp};

use super::addition::Addition;
use super::break_even::BreakEven;
use super::change::{Edit, EditKind};
use super::measured::NoUnitCost;
use super::smallest::SmallestPool;
use super::tornado::{Bar, Outcome};
use super::{Row, WhatIf, devices};

/// Group and version of the document.
pub const API_VERSION: &str = "stagger.dev/whatif/v1";

/// The document with a final line break; `version` is stagger's.
#[must_use]
pub fn to_json(what_if: &WhatIf, version: &str) -> String {
    let mut text = format!("{:#}", document(what_if, version));
    text.push('\n');
    text
}

/// The document as a value.
#[must_use]
pub fn document(what_if: &WhatIf, version: &str) -> Value {
    let writer = Writer { what_if, zone: calendar::zone(&what_if.time_zone).unwrap_or(Tz::UTC) };
    let rows: Vec<Value> = what_if.rows.iter().map(|row| writer.row(row)).collect();
    json!({
        "apiVersion": API_VERSION,
        "kind": "WhatIf",
        "version": version,
        "inputDigest": what_if.input_digest,
        "seed": what_if.seed,
        "now": writer.time(what_if.now),
        "horizonEnd": writer.time(what_if.horizon_end),
        "timeZone": what_if.time_zone,
        "currency": what_if.currency,
        "objective": what_if.objective,
        "promise": what_if.promise,
        "verdict": writer.verdict(),
        "smallestPool": writer.smallest(),
        "rows": rows,
        "curve": writer.curve(),
        "tornado": writer.tornado(),
        "measured": what_if.measured,
        "leftOut": what_if.left_out,
    })
}

struct Writer<'a> {
    what_if: &'a WhatIf,
    zone: Tz,
}

impl Writer<'_> {
    fn time(&self, at: Timestamp) -> String {
        calendar::rfc3339(at, self.zone)
    }

    fn money(&self, amount: Option<Money>) -> Value {
        amount.map_or(Value::Null, |amount| json!({"amount": amount.decimal(), "currency": self.what_if.currency}))
    }

    fn verdict(&self) -> Value {
        let verdict = &self.what_if.verdict;
        let additions: Vec<Value> = verdict.addition.iter().map(|one| self.addition(one)).collect();
        let relaxation = verdict.relaxation.as_ref().map(|relaxation| {
            let fixes: Vec<Value> = relaxation.fixes.iter().map(|fix| self.fix(fix)).collect();
            json!({"small": relaxation.is_small, "fixes": fixes})
        });
        json!({
            "kind": verdict.kind.as_str(),
            "sentence": verdict.sentence,
            "minimalAddition": additions.first(),
            "alsoAdd": additions.iter().skip(1).collect::<Vec<_>>(),
            "relaxation": relaxation,
            "breakEven": verdict.break_even.iter().map(|one| self.break_even(one)).collect::<Vec<_>>(),
            "confidence": {
                "proven": verdict.confidence.proven,
                "hardMissed": number(verdict.confidence.missed),
                "bound": verdict.confidence.bound.map(number),
                "sentence": verdict.confidence.sentence,
            },
            "hopeless": verdict.hopeless.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }

    fn addition(&self, one: &Addition) -> Value {
        json!({
            "flavor": one.flavor.as_str(),
            "resource": one.resource.as_str(),
            "queue": one.queue.as_str(),
            "quantity": one.resource.quantity(one.quantity),
            "from": self.time(one.from),
            "to": self.time(one.to),
            "cost": self.money(one.cost),
            "proven": one.proven,
        })
    }

    fn fix(&self, fix: &Fix) -> Value {
        match fix {
            Fix::MoveDeadline { workload, by, to } => {
                json!({"kind": "MoveDeadline", "workload": workload.as_str(), "bySeconds": by.0, "to": self.time(*to)})
            }
            Fix::AllowInterruption { workload } => {
                json!({"kind": "AllowInterruption", "workload": workload.as_str()})
            }
            Fix::StartEarlier { workload, by } => {
                json!({"kind": "StartEarlier", "workload": workload.as_str(), "bySeconds": by.0})
            }
            Fix::UseFlavor { workload, flavor } => {
                json!({"kind": "UseFlavor", "workload": workload.as_str(), "flavor": flavor.as_str()})
            }
            Fix::AddCapacity { flavor, resource, quantity, .. } => {
                json!({"kind": "AddCapacity", "flavor": flavor.as_str(), "quantity": resource.quantity(*quantity)})
            }
        }
    }

    fn break_even(&self, one: &BreakEven) -> Value {
        json!({
            "flavor": one.flavor.as_str(),
            "resource": one.resource.as_str(),
            "quantity": one.resource.quantity(one.quantity),
            "rent": self.money(one.rent),
            "own": self.money(one.own),
            "utilisation": one.utilisation.map(fraction),
            "planned": fraction(one.planned),
            "ownBelow": self.money(one.own_below),
        })
    }

    /// One pool's fields stand at the top too, when there is only one.
    fn smallest(&self) -> Value {
        let smallest = &self.what_if.smallest;
        let Some(best) = &smallest.best else {
            let pools: Vec<Value> = smallest.per_pool.iter().map(Self::smallest_pool).collect();
            return if pools.is_empty() { Value::Null } else { json!({"pool": Value::Null, "perPool": pools}) };
        };
        let sizes = |sizes: &[crate::units::Amount]| -> Vec<Value> {
            let each = self.what_if.axes.iter().zip(sizes);
            each.map(|(axis, size)| {
                json!({
                    "flavor": axis.flavor.as_str(),
                    "resource": axis.resource.as_str(),
                    "quantity": axis.resource.quantity(*size),
                    "today": axis.resource.quantity(axis.today),
                })
            })
            .collect()
        };
        let gpus: i64 = self.what_if.axes.iter().zip(&best.sizes).map(|(axis, size)| devices(*size, axis.unit)).sum();
        let row = self.what_if.rows.iter().find(|row| row.basis == super::Basis::SmallestPool);
        let mut value = json!({"gpus": gpus, "proven": best.proven});
        if let (Some(fields), [only]) = (value.as_object_mut(), sizes(&best.sizes).as_slice())
            && let Some(one) = only.as_object()
        {
            fields.extend(one.clone());
        }
        let points = smallest.points.iter().map(|point| {
            json!({"pool": sizes(&point.sizes), "proven": point.proven, "hourlyCost": self.money(point.hourly)})
        });
        let rest = json!({
            "pool": sizes(&best.sizes),
            "endsAt": row.and_then(Row::ends_at).map(|at| self.time(at)),
            "makespanSeconds": row.map(|row| row.summary.makespan.0),
            "hourlyCost": self.money(best.hourly),
            "perPool": smallest.per_pool.iter().map(Self::smallest_pool).collect::<Vec<_>>(),
            "points": points.collect::<Vec<_>>(),
            "poolsLeftOut": smallest.left_out,
        });
        if let (Some(fields), Some(rest)) = (value.as_object_mut(), rest.as_object()) {
            fields.extend(rest.clone());
        }
        value
    }

    fn smallest_pool(pool: &SmallestPool) -> Value {
        json!({
            "flavor": pool.flavor.as_str(),
            "resource": pool.resource.as_str(),
            "queue": pool.queue.as_str(),
            "today": pool.resource.quantity(pool.today),
            "quantity": pool.quantity.map(|quantity| pool.resource.quantity(quantity)),
            "lowerBound": pool.resource.quantity(pool.lower_bound),
            "proven": pool.proven,
        })
    }

    fn row(&self, row: &Row) -> Value {
        let unit_cost = |cost: &Result<Money, NoUnitCost>| self.money(cost.ok());
        let pool: Vec<Value> = row
            .pool
            .iter()
            .map(|size| {
                json!({
                    "flavor": size.flavor.as_str(),
                    "resource": size.resource.as_str(),
                    "quantity": size.resource.quantity(size.quantity),
                })
            })
            .collect();
        let mut value = json!({
            "option": row.option,
            "title": super::words::title(row),
            "add": self.edits(row, EditKind::Add),
            "remove": self.edits(row, EditKind::Remove),
            "outage": self.edits(row, EditKind::Outage),
            "growthPercent": row.change.growth_percent,
            "pool": pool,
            "onTime": row.summary.on_time,
            "atRisk": row.summary.at_risk,
            "late": row.summary.late,
            "withoutVerdict": row.summary.without_verdict,
            "peak": row.summary.peak.iter().map(|peak| self.peak(peak)).collect::<Vec<_>>(),
            "makespanSeconds": row.summary.makespan.0,
            "endsAt": row.ends_at().map(|at| self.time(at)),
            "gpuSeconds": number(row.summary.gpu_seconds),
            "idleGpuSeconds": number(row.idle.gpu_seconds),
            "cost": self.money(row.summary.cost),
            "idleCost": self.money(row.idle.cost),
            "costPerOutcome": unit_cost(&row.cost_per_outcome),
            "costPerOutcomeWithIdle": unit_cost(&row.fully_loaded),
            "noCostPerOutcome": row.cost_per_outcome.err().map(NoUnitCost::message),
            "marginalValue": row.marginal.as_ref().map(|last| json!({
                "flavor": last.flavor.as_str(),
                "queue": last.queue.as_str(),
                "onTime": last.on_time,
                "hardValue": number(last.hard_value),
            })),
            "quality": row.quality.as_ref().map(quality),
        });
        if let (Some(chance), Some(fields)) = (&row.chance, value.as_object_mut()) {
            let chance = json!({
                "allHard": decimal(i128::from(chance.all_hard_millionths)),
                "margin": decimal(i128::from(chance.margin_millionths)),
                "samples": chance.samples,
                "workloads": chance.workloads.iter().map(|(workload, on_time)| json!({
                    "workload": workload.as_str(),
                    "onTime": decimal(i128::from(*on_time)),
                })).collect::<Vec<_>>(),
            });
            fields.insert("chance".to_owned(), chance);
        }
        value
    }

    fn edits(&self, row: &Row, kind: EditKind) -> Vec<Value> {
        let of_kind = row.change.edits.iter().filter(|edit| edit.kind == kind);
        of_kind.map(|edit| self.edit(row, edit)).collect()
    }

    fn edit(&self, row: &Row, edit: &Edit) -> Value {
        let cell = row.snapshot.cell(edit.cell);
        let mut value = Map::new();
        value.insert("flavor".to_owned(), json!(cell.flavor.as_str()));
        value.insert("resource".to_owned(), json!(cell.resource.as_str()));
        value.insert("queue".to_owned(), json!(row.snapshot.node(edit.node).name.as_str()));
        value.insert("quantity".to_owned(), json!(cell.resource.quantity(edit.quantity)));
        let stretches = edit.stretches.iter().map(|(from, to)| json!({"from": self.time(*from), "to": self.time(*to)}));
        value.insert("when".to_owned(), stretches.collect());
        Value::Object(value)
    }

    fn peak(&self, peak: &Peak) -> Value {
        json!({
            "flavor": peak.flavor.as_str(),
            "resource": peak.resource.as_str(),
            "peak": peak.resource.quantity(peak.peak),
            "capacity": peak.resource.quantity(peak.capacity),
            "at": peak.at.map(|at| self.time(at)),
        })
    }

    fn tornado(&self) -> Value {
        let Some(tornado) = &self.what_if.tornado else { return Value::Null };
        let axis = &tornado.axis;
        let outcome = |outcome: &Outcome| {
            json!({
                "needed": outcome.needed.map(|needed| axis.resource.quantity(needed)),
                "there": axis.resource.quantity(outcome.there),
                "late": outcome.late,
                "enough": outcome.is_enough(),
                "hourlyCost": self.money(outcome.hourly),
            })
        };
        let bars = tornado.bars.iter().map(|bar| {
            let ends: Vec<Value> = [&bar.easier, &bar.harder]
                .into_iter()
                .enumerate()
                .map(|(end, of)| {
                    let mut value = outcome(of);
                    value["assumption"] = json!(factor(bar, end));
                    value
                })
                .collect();
            json!({"factor": bar.factor.as_str(), "ends": ends})
        });
        json!({"flavor": axis.flavor.as_str(), "base": outcome(&tornado.base), "bars": bars.collect::<Vec<_>>()})
    }

    fn curve(&self) -> Value {
        let Some(curve) = &self.what_if.curve else { return Value::Null };
        let points = curve.points.iter().map(|point| {
            json!({
                "gpus": devices(point.quantity, curve.unit),
                "onTime": point.on_time,
                "atRisk": point.at_risk,
                "late": point.late,
                "hardMissed": number(point.hard_missed),
                "makespanSeconds": point.makespan.0,
            })
        });
        json!({
            "flavor": curve.flavor.as_str(),
            "today": devices(curve.today, curve.unit),
            "points": points.collect::<Vec<_>>(),
        })
    }
}

fn factor(bar: &Bar, end: usize) -> &'static str {
    let (easier, harder) = bar.factor.ends();
    if end == 0 { easier } else { harder }
}

fn quality(quality: &Quality) -> Value {
    let levels = quality.levels.iter().map(|level| {
        json!({
            "name": level.name,
            "value": number(level.value),
            "bound": level.bound.map(number),
            "proof": level.proof,
        })
    });
    json!({
        "status": quality.status,
        "levels": levels.collect::<Vec<_>>(),
        "gap": quality.gap_millionths.map(|gap| decimal(i128::from(gap))),
        "seconds": format!("{}.{:03}", quality.millis / 1000, quality.millis % 1000),
    })
}

fn fraction(fraction: Ratio) -> Value {
    json!({
        "numerator": number(fraction.numerator()),
        "denominator": number(fraction.denominator()),
        "decimal": decimal(fraction.millionths()),
    })
}

/// Millionths as a decimal string.
fn decimal(millionths: i128) -> String {
    Money { nanos: millionths * 1000 }.decimal()
}

/// An integer; as text where JSON readers would round it.
fn number(value: i128) -> Value {
    const EXACT: i128 = 1 << 53;
    match i64::try_from(value) {
        Ok(small) if (-EXACT..=EXACT).contains(&value) => json!(small),
        _ => json!(value.to_string()),
    }
}
