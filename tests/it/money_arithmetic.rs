//! Exact fractions, and parts that add up to their whole.

use proptest::prelude::*;
use stagger::ledger::apportion::{apportion, round_parts};
use stagger::ratio::Ratio;

fn ratio(numerator: i128, denominator: i128) -> Ratio {
    Ratio::new(numerator, denominator).expect("the test's denominator must not be zero")
}

#[test]
fn fractions_keep_lowest_terms_and_a_positive_denominator() {
    assert_eq!(ratio(6, -8), ratio(-3, 4));
    assert_eq!((ratio(6, -8).numerator(), ratio(6, -8).denominator()), (-3, 4));
    assert_eq!(ratio(0, 5), Ratio::ZERO);
    assert_eq!(Ratio::new(1, 0), None);
}

#[test]
fn a_result_that_does_not_fit_is_refused_not_wrapped() {
    let huge = ratio(i128::MAX, 1);
    assert_eq!(huge.add(Ratio::ONE), None);
    assert_eq!(huge.mul(ratio(2, 1)), None);
    assert_eq!(huge.mul(ratio(1, 2)).and_then(|half| half.mul(ratio(2, 1))), Some(huge), "cancelling keeps what fits");
    assert_eq!(Ratio::ONE.div(Ratio::ZERO), None);
}

#[test]
fn halves_go_to_the_even_neighbour() {
    let rounded = |numerator, denominator| ratio(numerator, denominator).round_half_even();
    assert_eq!([rounded(1, 2), rounded(3, 2), rounded(5, 2), rounded(-1, 2), rounded(-3, 2)], [0, 2, 2, 0, -2]);
    assert_eq!([rounded(7, 3), rounded(-7, 3), rounded(8, 3)], [2, -2, 3]);
}

#[test]
fn decimals_are_read_exactly() {
    let read = |text: &str| Ratio::parse(text).expect("a decimal");
    assert_eq!(read("0.80"), ratio(4, 5));
    assert_eq!(read("-3"), ratio(-3, 1));
    assert_eq!(read("1.5e-05"), ratio(15, 1_000_000));
    assert_eq!(read("2E+3"), ratio(2000, 1));
    assert_eq!(read("0.0024624029215011571").decimal_floor(6), "0.002462");
    assert_eq!(read("-1.25").decimal_floor(1), "-1.3");
}

#[test]
fn what_is_not_a_decimal_is_named() {
    for text in ["", ".", "1.", ".5", "1,5", "NaN", "1e", "0x10", "--1", "1e99", "1e-99", "1e999999999999"] {
        let message = Ratio::parse(text).expect_err(text);
        assert!(message.contains(text), "{message}");
    }
}

#[test]
fn ties_go_to_the_first() {
    assert_eq!(apportion(100, &[1, 1, 1]), Some(vec![34, 33, 33]));
    assert_eq!(apportion(-100, &[1, 1, 1]), Some(vec![-34, -33, -33]), "a credit mirrors its charge");
    assert_eq!(apportion(5, &[0, 0]), None, "nobody to give it to");
    assert_eq!(apportion(7, &[0, 1, 0]), Some(vec![0, 7, 0]));
}

/// Seven slices of a board: 1/7 each is no decimal, and still they add up to the board.
#[test]
fn seven_sevenths_are_one_board() {
    let slice = ratio(2_500_000, 7);
    let rounded = round_parts(&[slice; 7]).expect("small figures");
    assert_eq!(rounded.whole, 2_500_000);
    assert_eq!(rounded.parts, [357_143, 357_143, 357_143, 357_143, 357_143, 357_143, 357_142]);
}

proptest! {
    #[test]
    fn parts_add_up_to_the_whole(whole in -1_000_000_000_000_i128..1_000_000_000_000, weights in proptest::collection::vec(0_i128..1_000_000, 1..40)) {
        if let Some(parts) = apportion(whole, &weights) {
            prop_assert_eq!(parts.iter().sum::<i128>(), whole);
        } else {
            prop_assert!(weights.iter().all(|weight| *weight == 0));
        }
    }

    #[test]
    fn no_part_is_off_by_a_unit(parts in proptest::collection::vec((0_i128..1_000_000, 1_i128..5000), 1..30)) {
        let exact: Vec<Ratio> = parts.iter().map(|(numerator, denominator)| ratio(*numerator, *denominator)).collect();
        // Thirty unlike denominators may exceed 128 bits; then the sum is refused, never approximated.
        if let Some(rounded) = round_parts(&exact) {
            prop_assert_eq!(rounded.parts.iter().sum::<i128>(), rounded.whole);
            for (part, exact) in rounded.parts.iter().zip(&exact) {
                prop_assert!(*part == exact.floor() || *part == exact.floor() + 1);
            }
        }
    }

    #[test]
    fn comparison_agrees_with_the_difference(a in -5000_i128..5000, b in 1_i128..5000, c in -5000_i128..5000, d in 1_i128..5000) {
        prop_assert_eq!(ratio(a, b).cmp(&ratio(c, d)), (a * d).cmp(&(c * b)));
    }

    #[test]
    fn what_is_added_can_be_taken_away(a in -5000_i128..5000, b in 1_i128..5000, c in -5000_i128..5000, d in 1_i128..5000) {
        let (x, y) = (ratio(a, b), ratio(c, d));
        prop_assert_eq!(x.add(y).and_then(|sum| sum.sub(y)), Some(x));
        if c != 0 {
            prop_assert_eq!(x.mul(y).and_then(|product| product.div(y)), Some(x));
        }
    }
}
