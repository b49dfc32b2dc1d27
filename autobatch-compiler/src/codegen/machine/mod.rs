//! Code for the machine, which both executors run: the step loop and its kinds of steps.

pub mod primitive_call;
pub mod step_loop;
