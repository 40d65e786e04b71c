//! What an import says about itself, for people and as a document, and how one is asked for.

use expect_test::expect;
use stagger::scenario::import::{Format, Request, Settings, TraceFile, document, openb, run, swf, text};

use crate::import_data::{gpus, told};

fn file(path: &str, text: &str) -> TraceFile {
    TraceFile { path: path.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn philly() -> TraceFile {
    file(
        "jobs.csv",
        "job_id,user,num_gpu,submit_time,duration,expect_time_list,expect_value_list,best_effort,job_type\n\
         1,vc_a,4,0,90,120,10,0,strict\n\
         2,,1,60,30,60-90,10-5,0,soft\n\
         3,vc_b,9,60,30,60,10,1,best\n\
         4,vc_b,x,60,30,60,10,1,best\n",
    )
}

#[test]
fn the_account_fits_on_a_screen_and_every_figure_has_a_unit() {
    let import = run(&Request { format: Format::Philly, settings: gpus(8) }, vec![philly()]).expect("readable");
    expect![[r"
        trace           jobs.csv (philly)
        rows            4 read, 2 kept
                        1 left out: they could not be read
                        1 left out: they are larger than every flavor they may use
        work            1 with a hard due time, 1 with a soft due time
        missing         user 25.0 %
        tenants         1
        submitted       2026-01-05T00:00:00Z to 2026-01-05T01:00:00Z
        unhindered end  2026-01-05T01:30:00Z
        horizon end     2026-01-05T04:00:00Z
        pool            gpu: 8 GPU
        peak demand     5 GPU at 2026-01-05T01:00:00Z, if all start on submission
        work in all     6.50 GPU-hours
        digest          0d686b57a5044cf1d4a328783f6d11aed4c39314029742b69a8f8d12b160afba

        assumed where the trace is silent:
        - the trace has no calendar: its beginning is set to 2026-01-05T00:00:00Z (--start changes it)
        - submit_time and duration are taken as minutes, due times as minutes after submission
        - durations are taken as known in advance, the same on every flavor
    "]]
    .assert_eq(&text::account(&import));
}

#[test]
fn the_document_has_the_same_figures() {
    let import = run(&Request { format: Format::Philly, settings: gpus(8) }, vec![philly()]).expect("readable");
    expect![[r#"
        {
          "apiVersion": "stagger.dev/import/v1",
          "kind": "Import",
          "format": "philly",
          "file": "jobs.csv",
          "rows": {
            "read": 4,
            "kept": 2,
            "beyondLimit": 0,
            "dropped": {
              "Malformed": 1,
              "LargerThanPool": 1
            }
          },
          "work": {
            "workloads": 2,
            "tenants": 1,
            "withHardDue": 1,
            "withSoftDue": 1,
            "withoutDue": 0,
            "censored": 0,
            "withoutAccelerator": 0
          },
          "missing": [
            {
              "field": "user",
              "rows": 1,
              "permille": 250
            }
          ],
          "timeZone": "UTC",
          "firstSubmission": "2026-01-05T00:00:00Z",
          "lastSubmission": "2026-01-05T01:00:00Z",
          "lastEndUnhindered": "2026-01-05T01:30:00Z",
          "now": "2026-01-05T00:00:00Z",
          "horizonEnd": "2026-01-05T04:00:00Z",
          "resource": "nvidia.com/gpu",
          "pool": [
            {
              "flavor": "gpu",
              "quantity": "8"
            }
          ],
          "peakDemand": {
            "quantity": "5",
            "at": "2026-01-05T01:00:00Z"
          },
          "hours": "6.50",
          "assumptions": [
            "the trace has no calendar: its beginning is set to 2026-01-05T00:00:00Z (--start changes it)",
            "submit_time and duration are taken as minutes, due times as minutes after submission",
            "durations are taken as known in advance, the same on every flavor"
          ],
          "problems": [
            {
              "code": "SG063",
              "severity": "Warning",
              "subject": "jobs.csv:5",
              "message": "num_gpu is `x`, and a whole number is expected",
              "line": 5,
              "column": 8
            },
            {
              "code": "SG067",
              "severity": "Warning",
              "subject": "jobs.csv:4",
              "message": "vc-b/job-3 asks for 9 nvidia.com/gpu, and the largest flavor it may use has 8",
              "hint": "name a larger pool to keep it"
            }
          ],
          "digest": "0d686b57a5044cf1d4a328783f6d11aed4c39314029742b69a8f8d12b160afba"
        }
    "#]]
    .assert_eq(&document::to_json(&import));
}

#[test]
fn openb_needs_its_node_list_or_a_pool_and_the_others_one_file() {
    let pods = "name,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
         half,1,500,,BE,Succeeded,0,100,10\n";
    let openb = |settings| Request { format: Format::Openb(openb::Choices::default()), settings };
    let nodes = || file("nodes.csv", "sn,gpu,model\nn,2,T4\n");
    assert!(run(&openb(Settings::default()), vec![nodes(), file("pods.csv", pods)]).is_ok());
    assert!(run(&openb(gpus(2)), vec![file("pods.csv", pods)]).is_ok());
    let refused = |request: &Request, files| told(&run(request, files).expect_err("must be refused"));
    expect![[r"
        SG072 import: one file is given; expected: two files, the node list and the pod list
        SG072 import: 0 files are given; expected: one file, the log
        SG060 empty.csv: the file is empty
    "]]
    .assert_eq(
        &[
            refused(&openb(Settings::default()), vec![file("pods.csv", pods)]),
            refused(&Request { format: Format::Swf(swf::Choices::default()), settings: gpus(1) }, Vec::new()),
            refused(&Request { format: Format::Philly, settings: gpus(1) }, vec![file("empty.csv", "")]),
        ]
        .concat(),
    );
}
