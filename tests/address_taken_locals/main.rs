//! A local may be borrowed across loops and calls: it stays where it is until the last borrow of it ends.

#[path = "../common/mod.rs"]
mod common;

mod aliases;
mod arguments_beside_a_borrow;
mod borrows_across_loops_and_calls;
mod borrows_for_some_statements;
mod calls_in_tail_position;
mod closures_keep_captures;
mod containers_hold_references;
mod reborrows;
