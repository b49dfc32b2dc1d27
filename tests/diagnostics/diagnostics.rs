//! Errors say why and what to write instead; code that is accepted has no warnings.

mod messages;
mod warning_free;
