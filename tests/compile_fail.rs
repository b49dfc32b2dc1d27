//! What is refused, and in which words: each message says why and what to write instead.

#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
