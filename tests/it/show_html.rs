//! `report::plan_html`: one file, nothing loaded, nothing executed, every text escaped.

use stagger::names::TenantId;
use stagger::plan::curve::{Baseline, Scene, Steps};
use stagger::plan::proposal::{Conflict, Fix, Plan, Verdict};
use stagger::plan::snapshot::{Interruption, Snapshot, WindowEffect};
use stagger::report::plan_html::{Page, render};
use stagger::units::{Amount, Seconds};

use crate::given::{A100, at, given, touchstone};
use crate::planned::{planned, scene};

const HOSTILE: &str = "</script><script>alert(1)</script>\" onload='x' & \u{202e}";

fn touchstone_plan() -> (Snapshot, Plan) {
    let planned = planned(touchstone().snapshot);
    planned.run("eval-1", 0, 60).run("eval-2", 0, 60).run("eval-3", 60, 120).run("eval-4", 60, 120).done()
}

/// A day with everything a page can show: tenants, running work, an interruption, tails, a late end and its conflict.
pub fn eventful() -> (Snapshot, Plan) {
    let checkpoints = Interruption::Checkpointable { interval: Seconds(600), cost: Seconds(60), max: 3 };
    let given = given()
        .queue("batch", 8)
        .running("serving-warmup", "batch", 2, at(45))
        .running("resnet-from-yesterday", "batch", 2, at(150))
        .window("batch", WindowEffect::Reserve, 2, (at(240), at(360)))
        .job("late", 8)
        .due(at(180))
        .job("split", 2)
        .minutes(120)
        .due(at(400))
        .tolerates(checkpoints)
        .job("risky", 2)
        .runtime(60, 150)
        .due(at(330))
        .job("short", 1)
        .minutes(5)
        .due(at(60))
        .job("sweep-with-a-rather-long-name-7", 2)
        .minutes(90)
        .due(at(600));
    let (snapshot, mut plan) = planned(given.snapshot)
        .run("short", 0, 5)
        .pieces("split", &[(5, 45), (60, 145)])
        .run("late", 150, 210)
        .run("risky", 215, 275)
        .run("sweep-with-a-rather-long-name-7", 275, 365)
        .done();
    for (release, tenant) in plan.releases.iter_mut().zip(["vision", "speech", "vision", "ads", "search"]) {
        release.tenant = Some(TenantId::from(tenant));
    }
    let late = plan.releases.iter().find(|release| release.verdict == Verdict::Late).expect("planned above");
    plan.infeasible = vec![Conflict {
        workloads: vec![late.workload.clone()],
        irreducible: true,
        message: "1 job must do 8 GPU-hours on a100 between 12:00 and 15:00, which holds 7 beside running work"
            .to_owned(),
        fixes: vec![Fix::MoveDeadline { workload: late.workload.clone(), by: Seconds(1800), to: at(210) }],
    }];
    (snapshot, plan)
}

pub fn page(snapshot: &Snapshot, plan: &Plan) -> String {
    let kueue: Baseline =
        [(A100, Steps::of_holdings([(at(0), at(180), Amount(8)), (at(180), at(300), Amount(4))]))].into();
    let scene = Scene { kueue: Some(&kueue), ..scene(snapshot, plan) };
    render(&Page { scene, title: "noon-evals", version: "0.1.0", prices: None })
}

fn hostile_page() -> String {
    let (mut snapshot, mut plan) = eventful();
    for release in &mut plan.releases {
        release.workload = HOSTILE.into();
        release.tenant = Some(HOSTILE.into());
        release.cluster_queue = HOSTILE.into();
        HOSTILE.clone_into(&mut release.reasons[0].message);
    }
    HOSTILE.clone_into(&mut plan.infeasible[0].message);
    for work in &mut snapshot.running {
        work.key = HOSTILE.into();
    }
    let cell = &mut snapshot.cells[0];
    cell.flavor = HOSTILE.into();
    render(&Page { scene: scene(&snapshot, &plan), title: HOSTILE, version: HOSTILE, prices: Some(HOSTILE) })
}

#[test]
fn no_text_from_outside_becomes_markup() {
    let page = hostile_page();
    assert_eq!(page.matches("<script").count(), 1, "only the data element");
    let shown = page.split("<script").next().unwrap_or_default();
    assert!(!shown.contains("onload='"));
    assert!(!shown.contains('\u{202e}'), "a direction override could disguise a name");
}

#[test]
fn nothing_is_loaded_and_nothing_is_executed() {
    let (snapshot, plan) = eventful();
    let page = page(&snapshot, &plan);
    for forbidden in ["src=", "@import", "url(", " style=", "javascript:", " onclick", "href=\"http"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
}

#[test]
fn every_picture_has_a_title_a_description_and_a_table_beneath() {
    let (snapshot, plan) = eventful();
    let page = page(&snapshot, &plan);
    let pictures = page.matches("role=\"img\"").count();
    assert!(pictures >= 5, "{pictures}");
    assert_eq!(page.matches("<desc ").count(), pictures);
    for release in 0..plan.releases.len() {
        assert!(page.contains(&format!("<tr id=\"w{release}\">")), "a bar links to a row");
    }
}

#[test]
fn elements_are_closed_in_order() {
    for page in [hostile_page(), page_of(touchstone_plan())] {
        let mut open: Vec<&str> = Vec::new();
        let body = page.split("<script").next().unwrap_or_default();
        for tag in body.split('<').skip(1) {
            let name = tag.split(|c: char| !c.is_ascii_alphanumeric() && c != '/').next().unwrap_or_default();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
                None if tag.contains("/>") || ["meta", "", "html", "body"].contains(&name) => {}
                None => open.push(name),
            }
        }
        assert_eq!(open, Vec::<&str>::new());
    }
}

fn page_of((snapshot, plan): (Snapshot, Plan)) -> String {
    page(&snapshot, &plan)
}

#[test]
fn the_plan_can_be_read_back_from_its_page() {
    let (snapshot, plan) = eventful();
    let page = page(&snapshot, &plan);
    let data = page.split("id=\"plan\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap_or_default();
    assert_eq!(stagger::plan::document::from_json(data), Ok(plan));
}

#[test]
fn many_workloads_become_lanes() {
    let mut given = given().queue("batch", 8);
    for job in 0..240 {
        given = given.job(&format!("job-{job}"), 1).minutes(30).due(at(420));
    }
    let mut planned = planned(given.snapshot);
    for job in 0..240 {
        planned = planned.run(&format!("job-{job}"), job / 8 * 30, job / 8 * 30 + 30);
    }
    let page = page_of(planned.done());
    assert!(page.contains("gantt-lanes") && !page.contains("gantt-0"));
}
