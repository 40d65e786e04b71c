//! Any bytes as an AdmissionReview: they are judged or refused, in every mode, and the answer is JSON with the same uid.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stagger::admission::{Decision, Mode, World, decide, parse, respond, uid_of};

fuzz_target!(|body: &[u8]| {
    let beginning = uid_of(body);
    for mode in [Mode::Observe, Mode::Protect] {
        let world = World { mode, ..World::default() };
        let (uid, decision) = match parse(body) {
            Ok(review) => {
                let decision = decide(&review.request, &world);
                (review.uid, decision)
            }
            Err(unreadable) => (unreadable.uid, Decision::unreadable(&unreadable.why)),
        };
        let answer = respond(&uid, &decision);
        let text = String::from_utf8_lossy(answer.as_ref()).into_owned();
        assert!(text.starts_with('{') && text.ends_with('}'), "{text}");
    }
    drop(beginning);
});
