//! The stored plan: cut into parts that fit, and whole again.

use proptest::prelude::*;
use stagger::controller::stored::{name, parts};

proptest! {
    #[test]
    fn parts_are_small_enough_and_make_the_whole(text in "\\PC{0,400}", most in 4_usize..64) {
        let parts = parts(&text, most);
        prop_assert!(parts.iter().all(|part| part.len() <= most));
        prop_assert_eq!(parts.concat(), text);
    }
}

#[test]
fn every_plan_has_a_name_of_its_own_that_kubernetes_takes() {
    assert_eq!(name(None), "stagger-plan");
    assert_eq!(name(Some("main")), "stagger-plan-main");
    let (long, longer) = ("a".repeat(250), "a".repeat(251));
    assert!(name(Some(&long)).len() <= 253);
    assert_ne!(name(Some(&long)), name(Some(&longer)));
}
