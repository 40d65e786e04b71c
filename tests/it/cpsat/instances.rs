//! Seeded instances in the benches' text format: slots of a day, flavors with prices, jobs with windows and options.

use std::fmt::Write;

/// A deterministic die (SplitMix64).
struct Die(u64);

impl Die {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    /// `low..=high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }
    fn one_in(&mut self, count: u64) -> bool {
        self.next().is_multiple_of(count)
    }
}

/// What kind of day.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub jobs: u64,
    pub slots: u64,
    pub flavors: u64,
    /// GPUs of each flavor.
    pub capacity: u64,
    /// The longest runtime, in slots.
    pub longest: u64,
    /// Whether the first flavor has a quarter fewer GPUs in the middle of the day.
    pub dip: bool,
}

/// The instance of a seed.
pub fn instance(kind: Kind, seed: u64) -> String {
    let mut die = Die(seed);
    let Kind { jobs, slots, flavors, capacity, longest, dip } = kind;
    let mut text = format!("{slots} {flavors}\n");
    let prices = [3, 5, 4];
    for flavor in 0..flavors {
        let price = prices[usize::try_from(flavor).expect("few flavors")];
        let here = |slot: u64| {
            let low = dip && flavor == 0 && slot >= slots / 2 && slot < slots / 2 + slots / 6;
            if low { capacity - capacity / 4 } else { capacity }
        };
        let row: Vec<String> = (0..slots).map(|slot| here(slot).to_string()).collect();
        writeln!(text, "{price} {}", row.join(" ")).expect("a string takes all");
    }
    writeln!(text, "{jobs}").expect("a string takes all");
    for _ in 0..jobs {
        let length = die.between(1, longest);
        let release = die.between(0, slots - 2 * length);
        let due = (release + length + die.between(0, 2 * longest)).min(slots);
        let gpus = [1, 1, 1, 2, 2, 4][usize::try_from(die.between(0, 5)).expect("a small index")];
        let weight = [1, 1, 1, 2, 5][usize::try_from(die.between(0, 4)).expect("a small index")];
        let flavor = die.between(0, flavors - 1);
        let mut options = vec![format!("{flavor} {gpus} {length}")];
        if flavors > 1 && die.one_in(2) {
            let other = (flavor + die.between(1, flavors - 1)) % flavors;
            // Faster or slower there, but never too slow for its window.
            let other_length = (length * die.between(1, 3)).div_ceil(2).clamp(1, due - release);
            options.push(format!("{other} {gpus} {other_length}"));
        }
        writeln!(text, "{release} {due} {weight} {} {}", options.len(), options.join(" ")).expect("a string takes all");
    }
    text
}
