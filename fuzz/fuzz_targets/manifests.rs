//! Any bytes as manifests: they are read or refused with findings, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stagger::scenario::{Input, Limits, read};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let reading = read(&[Input::text("fuzzed.yaml", text)], &Limits::default());
    assert!(reading.manifests.len() <= text.len() + 1);
});
