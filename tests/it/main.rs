mod ledger_fixture;
mod money_arithmetic;
mod money_price;
mod money_splits;
mod money_terms;
mod world;
