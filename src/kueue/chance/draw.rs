//! Luck that belongs to a workload: the same seed, sample and key draw the same, whatever else is in the snapshot.

use crate::names::WorkloadKey;
use crate::plan::dice::Dice;

use super::spread::DRAWS;

#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    seed: u64,
}

/// One workload's luck in one sample.
pub(super) struct Luck(Dice);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// `copy` tells apart those who come in a workload's name.
    pub(super) fn of(self, sample: u64, key: &WorkloadKey, copy: u32) -> Luck {
        let mut dice = Dice::new(mixed(self.seed, sample), fnv(key.as_str().as_bytes()) ^ u64::from(copy));
        // The generator's first word still resembles its state.
        dice.below(2);
        Luck(dice)
    }
}

impl Luck {
    /// Uniform in `0..DRAWS`.
    pub(super) fn draw(&mut self) -> u32 {
        let below = usize::try_from(DRAWS).unwrap_or(usize::MAX);
        u32::try_from(self.0.below(below)).unwrap_or(0)
    }
}

/// Neighbouring samples get unlike seeds (the finalizer of SplitMix64).
fn mixed(seed: u64, sample: u64) -> u64 {
    let mut word = seed.wrapping_add(sample.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// FNV-1a, 64 bits: the same on every machine and in every version.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}
