//! Who a namespace belonged to, when, and by what was known when.

use serde_json::json;
use stagger::admission::Directory;
use stagger::admission::history::{Binding, changes, tenant_at};
use stagger::units::Timestamp;

use super::world::{id, namespace, tenant};

fn directory(owner: &str) -> Directory {
    let tenants = ["nlp", "vision"]
        .map(|name| tenant(name, if name == owner { json!({"namespaces": ["evals"]}) } else { json!({}) }));
    Directory::new(tenants.to_vec(), vec![namespace("evals", &[])])
}

fn who(rows: &[Binding], at: i64, known: i64) -> String {
    tenant_at(rows, "uid-of-evals", Timestamp(at), Timestamp(known))
        .map(|tenant| tenant.name.clone())
        .unwrap_or_default()
}

#[test]
fn a_move_counts_from_its_instant_and_leaves_the_past_alone() {
    let mut rows = changes(&Directory::default(), &directory("nlp"), Timestamp(100), Timestamp(100));
    rows.extend(changes(&directory("nlp"), &directory("vision"), Timestamp(200), Timestamp(205)));
    assert_eq!(
        [who(&rows, 99, 999), who(&rows, 100, 999), who(&rows, 199, 999), who(&rows, 200, 999)],
        ["", "nlp", "nlp", "vision"]
    );
    assert_eq!(who(&rows, 203, 204), "nlp", "not known yet");
    assert_eq!(changes(&directory("vision"), &directory("vision"), Timestamp(300), Timestamp(300)), []);
}

#[test]
fn a_correction_is_a_later_row_and_what_was_known_before_stays_known() {
    let mut rows = changes(&Directory::default(), &directory("nlp"), Timestamp(100), Timestamp(100));
    let wrong = Binding {
        namespace_uid: "uid-of-evals".to_owned(),
        tenant: Some(id("vision")),
        from: Timestamp(120),
        to: Some(Timestamp(140)),
        recorded: Timestamp(500),
    };
    rows.push(wrong);
    assert_eq!(
        [who(&rows, 119, 999), who(&rows, 120, 999), who(&rows, 139, 999), who(&rows, 140, 999)],
        ["nlp", "vision", "vision", "nlp"]
    );
    assert_eq!(who(&rows, 130, 499), "nlp");
}

#[test]
fn a_namespace_made_anew_is_another() {
    let rows = changes(&Directory::default(), &directory("nlp"), Timestamp(100), Timestamp(100));
    assert_eq!(tenant_at(&rows, "uid-of-another", Timestamp(150), Timestamp(999)), None);
    let mut gone = changes(&directory("nlp"), &Directory::default(), Timestamp(300), Timestamp(300));
    let mut all = rows;
    all.append(&mut gone);
    assert_eq!([who(&all, 299, 999), who(&all, 300, 999)], ["nlp", ""]);
}
