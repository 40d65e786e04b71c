//! What moves the verdict.

use stagger::plan::whatif::tornado::Factor;
use stagger::units::{Amount, Money};

use super::{asked, half_past_one};
use crate::given::{at, given};

#[test]
fn the_tornado_moves_one_assumption_at_a_time() {
    let what_if = asked(half_past_one());
    let tornado = what_if.tornado.expect("nothing stopped it");
    assert_eq!((tornado.base.needed, tornado.base.there, tornado.base.late), (Some(Amount(8)), Amount(4), 2));
    let bar = |factor: Factor| tornado.bars.iter().find(|bar| bar.factor == factor).expect("every factor has a bar");
    // 48 of 90 minutes still overlap; 45 would not.
    assert_eq!(bar(Factor::Runtime).easier.needed, Some(Amount(8)));
    // A fifth of four is none more and one fewer.
    assert_eq!((bar(Factor::Load).easier.needed, bar(Factor::Load).harder.needed), (Some(Amount(6)), Some(Amount(8))));
    // 72 of 90 minutes overlap all the more; with a fifth less time, 72 minutes hold each job only alone.
    let (runtime, deadlines) = (bar(Factor::Runtime), bar(Factor::Deadlines));
    assert_eq!((runtime.harder.needed, deadlines.harder.needed), (Some(Amount(8)), Some(Amount(8))));
    // 90 minutes and 20 % more are 108: still no two after each other.
    assert_eq!(bar(Factor::Deadlines).easier.needed, Some(Amount(8)));
    assert_eq!((bar(Factor::Gpus).easier.there, bar(Factor::Gpus).harder.there), (Amount(5), Amount(3)));
    let price = bar(Factor::Price);
    assert_eq!((price.easier.needed, price.harder.late), (tornado.base.needed, tornado.base.late));
    assert_eq!(price.harder.hourly.map(Money::decimal).as_deref(), Some("9.60"));
}

#[test]
fn an_assumption_that_no_pool_survives_is_not_called_enough() {
    let given = given().queue("batch", 4).job("eval", 2).minutes(80).due(at(90));
    let tornado = asked(given).tornado.expect("nothing stopped it");
    let runtime = tornado.bars.iter().find(|bar| bar.factor == Factor::Runtime).expect("every factor has a bar");
    assert_eq!((runtime.harder.needed, runtime.harder.late, runtime.harder.is_enough()), (None, 1, false));
    assert!(runtime.easier.is_enough() && tornado.base.is_enough());
}
