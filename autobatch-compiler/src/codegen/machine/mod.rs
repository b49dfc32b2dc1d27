//! Code for the machine, which both executors run: the step loop and its kinds of steps.
//!
//! In: the analysed program and the lane code of its regions. Out: one body, which asks the runtime's `Core` for the next step.
//!
//! **Invariant:** a step takes and leaves exactly the columns whose variables are live at its ends.

pub mod primitive_call;
pub mod step_loop;
