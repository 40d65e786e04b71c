//! What a CapacityPlan is told of the work that it is to hold.

use stagger::controller::plan_status::carried_out;
use stagger::names::WorkloadKey;

#[test]
fn work_that_came_without_a_gate_is_named_and_the_rest_is_counted() {
    let keys = |names: &[&str]| names.iter().map(|name| WorkloadKey::new("evals", name)).collect::<Vec<_>>();
    assert_eq!(carried_out(3, &[]), ("Enforced", "3 held until their start".to_owned()));
    let (reason, message) = carried_out(3, &keys(&["a"]));
    assert_eq!(reason, "EnforcedInPart");
    assert!(message.starts_with("3 held until their start; not held: evals/a, made before"), "{message}");
    let (_, message) = carried_out(0, &keys(&["a", "b", "c"]));
    assert!(message.starts_with("0 held until their start; not held: evals/a and 2 more, made before"), "{message}");
}
