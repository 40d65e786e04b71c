//! The one integration-test binary: linking is what a test run waits for, so there is one for all modules.
#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected may end on the spot")]

mod assemble;
mod brute;
mod check;
mod check_quota;
mod given;
mod import_data;
mod import_openb;
mod import_philly;
mod import_scenario;
mod import_swf;
mod import_text;
mod ledger_fixture;
mod money_arithmetic;
mod money_price;
mod money_splits;
mod money_terms;
mod outcome_judge;
mod outcome_read;
mod outcome_settle;
mod peers;
mod planned;
mod quota;
mod read;
mod report_laws;
mod scenarios;
mod show_chart;
mod show_document;
mod show_html;
mod simulate;
mod simulate_laws;
mod summary;
mod tidy;
mod world;
