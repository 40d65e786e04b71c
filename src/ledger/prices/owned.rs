//! Hardware one owns: what an hour of a GPU costs, with the formula that says why.

use crate::ratio::Ratio;

/// Hours of an average month: 8,760 a year over twelve.
const HOURS_A_MONTH: i64 = 730;

/// What is known of it, for one GPU and its share of everything around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// Purchase price of one GPU with its share of host, network and rack.
    pub purchase: Ratio,
    /// Months over which it is written off. Positive.
    pub months: i64,
    /// Average draw in kilowatts, its share of the host included.
    pub power_kw: Ratio,
    /// Power usage effectiveness: what the building draws for each unit that the machines do. At least 1.
    pub pue: Ratio,
    /// Price of a kilowatt-hour.
    pub kwh_price: Ratio,
    /// Staff, space and support for a month.
    pub monthly: Ratio,
}

/// A price with its derivation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedPrice {
    pub per_gpu_hour: Ratio,
    /// `30000 / (48 × 730) + 0.7 × 1.3 × 0.2 + 120 / 730 = 1.202547 an hour`.
    pub formula: String,
}

/// purchase ÷ (months × 730) + power × PUE × kWh price + monthly ÷ 730.
///
/// # Errors
/// A fragment that says which figure cannot be.
pub fn owned(known: &Owned) -> Result<OwnedPrice, String> {
    if known.months <= 0 {
        return Err("the months of depreciation must be positive".to_owned());
    }
    if known.pue < Ratio::ONE {
        return Err("a PUE is at least 1".to_owned());
    }
    let amounts = [
        ("purchase price", known.purchase),
        ("power", known.power_kw),
        ("kWh price", known.kwh_price),
        ("monthly cost", known.monthly),
    ];
    if let Some((name, _)) = amounts.iter().find(|(_, amount)| amount.is_negative()) {
        return Err(format!("the {name} is negative"));
    }
    let sum = || {
        let hours = Ratio::whole(known.months.checked_mul(HOURS_A_MONTH)?);
        let energy = known.power_kw.mul(known.pue)?.mul(known.kwh_price)?;
        known.purchase.div(hours)?.add(energy)?.add(known.monthly.div(Ratio::whole(HOURS_A_MONTH))?)
    };
    let per_gpu_hour = sum().ok_or("the figures are too large to be exact")?;
    let text = |ratio: Ratio| ratio.decimal_floor(6);
    let formula = format!(
        "{} / ({} × {HOURS_A_MONTH}) + {} × {} × {} + {} / {HOURS_A_MONTH} = {} an hour",
        text(known.purchase),
        known.months,
        text(known.power_kw),
        text(known.pue),
        text(known.kwh_price),
        text(known.monthly),
        text(per_gpu_hour)
    );
    Ok(OwnedPrice { per_gpu_hour, formula })
}
