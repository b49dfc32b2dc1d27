//! Write a scalar Rust function, with loops, branches, early returns and recursion that depend on the
//! data; run it over thousands of inputs at once, on SIMD lanes and all cores, with bit-identical
//! results.
//!
//! # In one minute
//!
//! ```
//! use autobatch::autobatch;
//!
//! #[autobatch]
//! fn fib(n: u64) -> u64 {
//!     if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
//! }
//!
//! fn main() {
//!     let n: Vec<u64> = (0..20).collect();
//!     let all: Vec<u64> = fib_batched(&n);   // every member of the batch, SIMD lanes x CPU cores
//!     assert_eq!(all[10], fib(10));          // the scalar function is still there, unchanged
//! }
//! ```
//!
//! # What the attribute generates
//!
//! | item | meaning |
//! |---|---|
//! | `f` | what you wrote, untouched |
//! | `f_batched(a, b, model) -> Vec<R>` | one result per member, in order; panics as the scalar would, naming the member |
//! | `f_batched_into(a, b, model, out)` | the same into memory of the caller's, see [`Output`] |
//! | `f_batched_with(a, b, model, &options)` | every option ([`Options`]), faults per member and the run's report ([`Outcome`]), or what is wrong with the call as a whole ([`BatchError`]) |
//! | `f_batched::program()` | the static [`Program`]: functions, blocks, variables and their storage classes |
//!
//! # Parameters
//!
//! | scalar parameter | in the batched call |
//! |---|---|
//! | `x: T` | a [`Column`]: `&[T]`, `&Vec<T>`, `&[T; N]`, `ndarray` views of any stride, `Vec<T>` by value, [`same`]`(v)` |
//! | `x: [T; D]`, `x: Array1<T>`, `x: ArrayView1<'_, T>` | the above, or an `ArrayView2<T>` whose rows are the members |
//! | `x: &T`, `&[T]`, `&str`, `&self` | the same reference, shared by all members |
//! | `#[shared] x: T` | a plain `T`, shared |
//! | `#[each] x: &[T]`, `&str`, `&T` | an [`Each`] column: `&[impl AsRef<[T]>]`, `&[impl AsRef<str>]`, `&[T]`, or [`Ragged`], for slices also the rows of an `ArrayView2<T>` |
//! | `x: &mut T`, `&mut self` | `&mut [T]`: per-member state, in and out |
//! | `#[each] x: &mut [T]` | an [`EachMut`] column: `&mut [impl AsMut<[T]>]`, [`RaggedMut`], or the rows of an `ArrayViewMut2<T>` |
//!
//! A borrowed column is cloned from, once per member; an owned `Vec` is moved. Columns of different
//! lengths are a [`BatchError`] that names the parameter and both lengths.
//!
//! # Elementary functions
//!
//! std's `exp`, `ln`, `sin` and their like are library calls, which keep the lanes of a batch from becoming
//! SIMD code. Those of [`math`] do not: `math::exp(x)` for `x.exp()`.
//!
//! # Features
//!
//! * `ndarray`: `ndarray` arrays and views as columns and outputs.

/// Batches a function, or all functions of a module or an `impl` block.
///
/// See the [crate's documentation](crate) for what it generates.
pub use autobatch_macros::autobatch;
#[doc(hidden)]
pub use autobatch_runtime::__rt;
#[doc(inline)]
pub use autobatch_runtime::math;
pub use autobatch_runtime::{
    BadOffsets, BatchError, BlockReport, CancelToken, Column, Each, EachMut, Executor, Fault, FaultKind,
    Faults, Isa, Options, Outcome, Output, Program, Progress, Ragged, RaggedMut, Report, Same, Schedule,
    program, same,
};
