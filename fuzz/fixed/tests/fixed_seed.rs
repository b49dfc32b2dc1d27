//! Random programs of a fixed seed: the scalar functions against their batched forms, in every executor. More of
//! them, with a fresh seed: `cargo run -p autobatch-fuzz`.

#![allow(warnings, arithmetic_overflow, unconditional_panic, clippy::all, missing_docs)] // generated code

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

#[test]
fn random_programs_agree() {
    let tally = autobatch_fuzz::harness::run(ENTRIES, |_| {}, |_, _| {});
    assert!(tally.failures.is_empty(), "{:#?}", tally.failures);
    // Programs that fail for nearly all members would show little.
    assert!(tally.programs == ENTRIES.len() as u64 && tally.panics * 5 < tally.members, "{tally:?}");
}
