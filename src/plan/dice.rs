//! Seeded chance for the search: the same seed gives the same numbers on every machine.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

#[derive(Debug, Clone)]
pub struct Dice(Pcg64Mcg);

impl Dice {
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let state = (u128::from(seed) << 64) | u128::from(stream.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        Self(Pcg64Mcg::new(state))
    }

    /// Uniform in `0..below` (0 when `below` is 0). Multiply-shift; the bias at these sizes is below 2⁻³².
    #[inline]
    pub fn below(&mut self, below: usize) -> usize {
        let wide = u128::from(self.0.next_u64()) * (below as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// True once in `times`.
    #[inline]
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// −log₂ of a uniform number, in 1/16: exponential chance in integers, for accepting what is worse.
    #[inline]
    pub fn exponential_16ths(&mut self) -> i64 {
        let word = self.0.next_u64() | 1;
        let whole = i64::from(word.leading_zeros());
        // The next four bits after the leading one, as a linear step between two powers of two.
        let normalized = word << word.leading_zeros();
        let step = i64::try_from((normalized >> 59) & 0xF).unwrap_or(0);
        (whole + 1) * 16 - step
    }
}
