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
//! | `x: impl Trait`, `&impl Trait`, `&mut impl Trait` | as a generic parameter of that bound would be |
//! | `x: &mut [T]` | an [`EachMut`] column: `&mut [impl AsMut<[T]>]`, [`RaggedMut`], or the rows of an `ArrayViewMut2<T>` |
//!
//! A borrowed column is cloned from, once per member; an owned `Vec` is moved. Columns of different
//! lengths are a [`BatchError`] that names the parameter and both lengths.
//!
//! # Primitives
//!
//! Where the members of a batch would each do the same large piece of linear algebra, one matrix product for
//! all of them is many times faster. [`primitive`] names such a kernel:
//!
//! ```
//! use autobatch::autobatch;
//! use ndarray::{Array1, Array2, ArrayView2, array};
//!
//! #[autobatch::primitive(batched = products)]
//! fn product(matrix: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
//!     matrix.dot(x)
//! }
//!
//! // One member a row.
//! fn products(matrix: &Array2<f64>, x: ArrayView2<f64>) -> Array2<f64> {
//!     x.dot(&matrix.t())
//! }
//!
//! /// Applies the matrix until the vector is long.
//! #[autobatch]
//! fn steps(matrix: &Array2<f64>, mut x: Array1<f64>) -> u32 {
//!     let mut steps = 0;
//!     while x.dot(&x) < 100.0 {
//!         x = product(matrix, &x); // ONE call of `products` for all members that are here
//!         steps += 1;
//!     }
//!     steps
//! }
//!
//! let matrix = array![[1.0, 1.0], [0.0, 1.0]];
//! let x = array![[1.0, 1.0], [9.0, 1.0], [0.5, 0.1]]; // row i is member i
//! assert_eq!(steps_batched(&matrix, x.view()), [9, 1, 95]);
//! ```
//!
//! Members that wait at such a call are joined by all others that get there; who has nothing else to do waits.
//! [`Executor::Auto`] means [`Executor::ProgramCounter`] here, which gathers over all depths of a recursion.
//!
//! | the function takes | the kernel takes |
//! |---|---|
//! | `x: T`, `#[each] x: &T` with `T: Copy` | `&[T]` or `ArrayView1<T>`, one entry per member |
//! | `x: [T; D]`, `x: &[T; D]` | the same, or `ArrayView2<T>` with a row per member |
//! | `x: Array1<T>`, `x: &Array1<T>` | `ArrayView2<T>` with a row per member |
//! | `x: &mut T` with a number for `T` | `&mut [T]` or `ArrayViewMut1<T>` |
//! | `x: &mut [T; D]` | `&mut [[T; D]]` or `ArrayViewMut2<T>` |
//! | `x: &mut Array1<T>` | `ArrayViewMut2<T>` |
//! | any other `&T`, `#[shared] x: T` | the same: it is shared |
//!
//! | the function returns | the kernel returns |
//! |---|---|
//! | `T` | `Vec<T>` or `Array1<T>` |
//! | `[T; D]` | the same, or `Array2<T>` |
//! | `Array1<T>` | `Array2<T>` or `Vec<Array1<T>>` |
//! | a tuple | the tuple of these |
//!
//! A vector that is returned is allocated for each member; one that is changed in place is copied into the column and
//! back, and no memory is allocated for a member. So where a loop computes one vector after the other, let the function
//! write to a `&mut Array1<T>` that the loop keeps: `energy = slope(model, &z.q, &mut z.grad)`.
//!
//! A call is for members that share the same reference (or an equal `#[shared]` value) and whose vectors are
//! of the same length; where they differ, the kernel is called once for each set that agrees.
//!
//! **Results are bit-identical to the scalar function's when the kernel's rows are.** That is the kernel's affair:
//! one that treats each row as the function treats its vector has it, a matrix product, which adds in another
//! order, agrees to rounding only. Then chaotic programs may go other ways in [`Executor::Scalar`], which calls
//! the function itself, than in the others; and if the rounding depends on the number of rows, with the number
//! of lanes and threads.
//!
//! A kernel that panics, or returns anything but one result per member, is a [`Fault`] of all members in that
//! call; what it was to change is valid then, its value unspecified. What is computed before the call is
//! computed per member, so that a call in a stored closure or a macro, or one whose argument borrows from a local
//! otherwise than `&x`, `&x.field`, `&mut x` or `&mut x.field`, runs the scalar function (`program()` says where,
//! `strict` refuses it).
//!
//! Batched code knows the primitives of its own crate that it reaches by a `use` or a path. Others, those of other
//! crates above all, are named as the code calls them: `#[autobatch(primitives(gradient, model::energy))]`. One
//! that is neither known nor named runs its scalar code, which no macro can tell from any other function.
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
/// Names the batched kernel of a function, `#[autobatch::primitive(batched = path)]`: inside batched programs a
/// call of the function becomes one call of the kernel, for all members that are there.
///
/// See [Primitives](crate#primitives) for the forms that parameters and results take. An empty type of the
/// function's name is made beside it, so the name is taken among the types too.
pub use autobatch_macros::primitive;
#[doc(hidden)]
pub use autobatch_runtime::__rt;
#[doc(inline)]
pub use autobatch_runtime::math;
pub use autobatch_runtime::{
    BadOffsets, BatchError, BlockReport, CancelToken, Column, Each, EachMut, Executor, Fault, FaultKind,
    Faults, Isa, Options, Outcome, Output, Program, Progress, Ragged, RaggedMut, Report, Same, Schedule,
    program, same,
};
