//! A value that is not `Copy` is moved, never cloned, and dropped exactly once, where the scalar code drops it.

#[path = "../common/mod.rs"]
mod common;

mod drops_come_in_order;
mod exits_drop_once;
mod guards_are_released;
mod guards_of_unknown_types;
mod guards_that_borrow;
mod guards_that_own;
mod partial_moves;
mod parts_are_replaced;
mod values_are_dropped_once;
