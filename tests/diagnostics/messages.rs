//! What is refused, and in which words: each message says why and what to write instead.

#[test]
fn every_message_says_why_and_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
