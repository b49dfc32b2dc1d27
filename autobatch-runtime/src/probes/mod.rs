//! What the runtime asks rustc about types: the macro knows none.
//!
//! In: types and values of generated code. Out: answers that are constants, or types. Most questions are put by the method that
//! rustc finds first ("autoref specialisation").
//!
//! **Invariant:** a wrong answer can be a compile error or a slower way to run; it can't be undefined behaviour. The one
//! exception is [`type_id::is_plain`], which `unsafe` code relies on: it compares identities of types, so it is not wrong.

pub(crate) mod admission;
pub(crate) mod checked;
pub(crate) mod math_receiver;
pub(crate) mod thread_bounds;
pub(crate) mod type_id;
