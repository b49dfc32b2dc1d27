//! Write a scalar Rust function, with loops, branches, early returns and recursion that depend on the data. Put `#[autobatch]` on
//! it. Call `f_batched` to run it over thousands of inputs at once, on SIMD lanes and all cores, with bit-identical results.
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
//!     let n: Vec<u64> = (0..30).collect();
//!     let all: Vec<u64> = fib_batched(&n);   // every member of the batch, SIMD lanes x CPU cores
//!     assert_eq!(all[10], fib(10));          // the scalar function is still there, unchanged
//! }
//! ```
//!
//! The macro cuts the function into blocks. Members of the batch that wait at the same block run it together; there is no
//! interpreter. The two executors are those of Radul et al., “Automatically batching control-intensive programs for modern
//! accelerators” (MLSys 2020).
//!
//! # What the attribute generates
//!
//! | item | meaning |
//! |---|---|
//! | `f` | what you wrote, untouched |
//! | `f_batched(a, b, model) -> Vec<R>` | one result per member, in order; panics as the scalar would, naming the member |
//! | `f_batched_into(a, b, model, out)` | the same into memory of the caller's, see [`Output`] |
//! | `f_batched_with(a, b, model, &options)` | every option ([`Options`]), faults per member and the run's report ([`Outcome`]), or what is wrong with the call as a whole ([`BatchError`]) |
//! | `f_batched::program()` | the static [`Program`]: blocks, variables, storage classes, and what is not batched, with the reason (for methods: `f_batched_program()`) |
//!
//! # Parameters
//!
//! | scalar parameter | in the batched call |
//! |---|---|
//! | `x: T` | a [`Column`]: `&[T]`, `&Vec<T>`, `&[T; N]`, `ndarray` views of any stride, `Vec<T>` by value, [`same`]`(v)`, or [`OneOrMany`], which of them at run time |
//! | `x: [T; D]`, `x: Array1<T>`, `x: ArrayView1<'_, T>` | the above, or an `ArrayView2<T>` whose rows are the members |
//! | `x: &T`, `&[T]`, `&str`, `&self` | the same reference, shared by all members |
//! | `#[shared] x: T` | a plain `T`, shared (`T: Copy`) |
//! | `#[each] x: &[T]`, `&str`, `&T`, `&self` | an [`Each`] column, one reference per member: `&[impl AsRef<[T]>]`, `&[impl AsRef<str>]`, `&[T]`, or [`Ragged`], for slices also the rows of an `ArrayView2<T>` |
//! | `x: &mut T`, `&mut self` | `&mut [T]`: per-member state, in and out |
//! | `x: &mut [T]` | an [`EachMut`] column: `&mut [impl AsMut<[T]>]`, [`RaggedMut`], or the rows of an `ArrayViewMut2<T>` |
//! | `x: impl Trait`, `&impl Trait`, `&mut impl Trait` | as a generic parameter of that bound would be |
//!
//! A borrowed column is cloned from, once per member; an owned `Vec` is moved. Columns of different
//! lengths are a [`BatchError`] that names the parameter and both lengths.
//!
//! # Promises
//!
//! 1. **Same bits.** Each result equals the scalar function's, whatever the executor, schedule, lanes, instruction set and
//!    threads. Only `vector_math` and batched kernels may round otherwise. (One exception stands [in the guide](https://github.com/autobatch/autobatch/blob/main/book/src/scalar.md#one-exception-to-same-bits).)
//! 2. **A member that is not there executes nothing:** no panic, no division by zero, no side effect.
//! 3. **Members end alone.** One that panics or is too deep has a [`Fault`] with its index and message. All others finish.
//! 4. **Safe code stays safe.** Generated code is safe Rust. Inside, values are moved, never cloned, and dropped once, where
//!    the scalar code drops them.
//! 5. **Depth is data.** Recursion of any depth up to [`Options::max_depth`] works on a small native stack.
//! 6. **Endless members starve nobody.** In batched code, [`Options::max_steps`], [`Options::cancel`] and [`Options::deadline`] end them.
//!    The rest finish, on the same engines. A limit that can't be kept is a [`BatchError`].
//!
//! # Attribute arguments
//!
//! [The attribute's page](macro@autobatch) has an example of each.
//!
//! | argument | meaning |
//! |---|---|
//! | `name = "…"` | the name in place of `f_batched` |
//! | `crate = path` | where this crate is, if renamed |
//! | `strict`, `strict = "fibers"` | scalar code in place of batched code is a compile error |
//! | `primitives(path, …)` | primitives of other modules, see [Primitives](https://github.com/autobatch/autobatch/blob/main/book/src/primitives.md) |
//! | `vector_math` | `exp`, `ln`, `sin`, … in the batched code are those of [`math`], SIMD code with errors below one unit in the last place; the scalar function gets the same bits by calling them |
//! | `fuse = false` | every branch is a block of its own, for looking at counts |
//! | `executor = Masked`, `schedule = MostLanes`, `lanes = 64`, `max_depth = 1000` | defaults for [`Options`] |
//!
//! # Where to find what
//!
//! | to | see |
//! |---|---|
//! | give each member its arguments | [`Column`], [`Each`], [`EachMut`], [`Ragged`], [`RaggedMut`], [`Offsets`], [`same`], [`OneOrMany`] |
//! | keep results in memory of your own | [`Output`], [`with_options`] |
//! | leave out members, such as nulls of a table | [`Options::only`], [`Options::first_member`] |
//! | choose how a batch runs | [`Options`], [`Executor`], [`Schedule`], [`Isa`] |
//! | limit, stop or watch a run | [`Options::max_depth`], [`Options::max_steps`], [`Options::max_memory`], [`Options::deadline`], [`CancelToken`], [`Progress`] |
//! | handle members without a result | [`Outcome`], [`Results`], [`Fault`], [`FaultKind`], [`Faults`] |
//! | handle a call that can't run | [`BatchError`], [`BadOffsets`] |
//! | see how well lanes were used | [`Report`], [`BlockReport`], [`PhaseReport`], [`Purpose`], [`Engine`], [`Measured`] |
//! | watch members go through blocks, on a page | [`Options::trace`], [`Trace`], [`TraceStep`], [`Visit`] |
//! | see what is batched, and what is not | [`Program`] and its parts in [`program`], [`Program::to_svg`], [`Note`](program::Note) |
//! | call one kernel for many members | [`primitive`](macro@primitive), [`join`] |
//! | compute `exp`, `ln`, `sin`, … on lanes | [`math`] |
//! | keep a function with a type of another crate in blocks | [`IsWhole`] |
//!
//! # The guide
//!
//! Its code runs with the tests.
//!
//! * [Ten-minute start](https://github.com/autobatch/autobatch/blob/main/book/src/start.md)
//! * [How batching works](https://github.com/autobatch/autobatch/blob/main/book/src/how.md), and [which executor when](https://github.com/autobatch/autobatch/blob/main/book/src/executors.md)
//! * [Functions that run as vectors](https://github.com/autobatch/autobatch/blob/main/book/src/vectors.md), elementary functions among them
//! * [Per-member state and random numbers](https://github.com/autobatch/autobatch/blob/main/book/src/state.md)
//! * [Shared and ragged data](https://github.com/autobatch/autobatch/blob/main/book/src/data.md), and [tables: Arrow arrays](https://github.com/autobatch/autobatch/blob/main/book/src/arrow.md)
//! * [Several functions, methods, generics](https://github.com/autobatch/autobatch/blob/main/book/src/functions.md)
//! * [Primitives, fibers and `join`](https://github.com/autobatch/autobatch/blob/main/book/src/primitives.md)
//! * [Faults, limits, cancellation](https://github.com/autobatch/autobatch/blob/main/book/src/faults.md)
//! * [Code that is not cut into blocks](https://github.com/autobatch/autobatch/blob/main/book/src/scalar.md), and the one exception to same bits
//! * [The sampler](https://github.com/autobatch/autobatch/blob/main/book/src/sampler.md), [other systems](https://github.com/autobatch/autobatch/blob/main/book/src/others.md), [words](https://github.com/autobatch/autobatch/blob/main/book/src/glossary.md)
//!
//! # Features
//!
//! * `ndarray`, on by default: `ndarray` arrays and views as columns and outputs.
//! * `serde`: [`Program`], [`Report`] and [`Trace`] can be serialised.
//! * `indicatif`: `Options::progress_bar` shows a bar of that crate.
//! * `tracing`: a run, its phases and its workers have spans for the crate `tracing`.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../book/src/start.md")]
struct GuideStart;

#[cfg(doctest)]
#[doc = include_str!("../book/src/how.md")]
struct GuideHow;

#[cfg(doctest)]
#[doc = include_str!("../book/src/executors.md")]
struct GuideExecutors;

#[cfg(doctest)]
#[doc = include_str!("../book/src/vectors.md")]
struct GuideVectors;

#[cfg(doctest)]
#[doc = include_str!("../book/src/state.md")]
struct GuideState;

#[cfg(doctest)]
#[doc = include_str!("../book/src/data.md")]
struct GuideData;

#[cfg(doctest)]
#[doc = include_str!("../book/src/functions.md")]
struct GuideFunctions;

#[cfg(doctest)]
#[doc = include_str!("../book/src/primitives.md")]
struct GuidePrimitives;

#[cfg(doctest)]
#[doc = include_str!("../book/src/faults.md")]
struct GuideFaults;

#[cfg(doctest)]
#[doc = include_str!("../book/src/scalar.md")]
struct GuideScalar;

/// Batches a function, or all functions of a module or an `impl` block.
///
/// The function stays as it is. Beside it, `f_batched`, `f_batched_into`, `f_batched_with` and `f_batched::program()` are
/// made, with its visibility, generics and docs. The [crate's documentation](crate#what-the-attribute-generates) says what they are,
/// and [which columns](crate#parameters) they take.
///
/// # Arguments
///
/// Any of them, separated by commas. An unknown one is an error that lists those there are.
///
/// ## `name = "…"`
///
/// The name of the batched function, in place of `f_batched`. The other names follow from it.
///
/// ```
/// use autobatch::autobatch;
///
/// #[autobatch(name = "squares")]
/// fn square(x: f64) -> f64 {
///     x * x
/// }
///
/// assert_eq!(squares(&[2.0, 3.0]), [4.0, 9.0]);
/// assert_eq!(squares::program().name, "square");
/// ```
///
/// ## `executor = …`, `schedule = …`, `lanes = …`, `max_depth = …`
///
/// Defaults for [`Options`], where the call says nothing else: an [`Executor`], a [`Schedule`], and two constants.
///
/// ```
/// use autobatch::autobatch;
///
/// #[autobatch(executor = ProgramCounter, schedule = EarliestBlock, lanes = 64, max_depth = 1000)]
/// fn sum_to(n: u64) -> u64 {
///     if n == 0 { 0 } else { n + sum_to(n - 1) }
/// }
///
/// assert_eq!(sum_to_batched(&[3, 4]), [6, 10]);
/// ```
///
/// ## `vector_math`
///
/// `x.exp()`, `x.ln()`, `x.sin()` and the like are those of [`math`] in the batched code. They are SIMD code, and differ from std's in the last
/// bit. The scalar function gets the same bits if it calls them by name.
///
/// ```
/// use autobatch::{autobatch, math};
///
/// #[autobatch(vector_math)]
/// fn logistic(x: f64) -> f64 {
///     1.0 / (1.0 + (-x).exp())
/// }
///
/// let x = [-3.0, 0.5, 8.0];
/// assert_eq!(logistic_batched(&x), x.map(|x| 1.0 / (1.0 + math::exp(-x))));
/// ```
///
/// ## `strict`
///
/// Code that would run as scalar code is a compile error that says why, and what to write instead.
///
/// ```compile_fail
/// # use autobatch::autobatch;
/// #[autobatch(strict)]
/// fn depth(n: u32) -> u32 {
///     let next: Box<dyn Fn(u32) -> u32> = Box::new(|n| depth(n)); // a call in a closure that is stored
///     if n == 0 { 0 } else { 1 + next(n - 1) }
/// }
/// ```
///
/// With `strict = "fibers"` such code may run on [fibers](https://github.com/autobatch/autobatch/blob/main/book/src/primitives.md#fibers). There is no error for a function that mentions a primitive, also in
/// closures and macros, or whose attribute names one. Where there is no file to read, as in rust-analyzer, `strict` says nothing.
///
/// ```
/// use autobatch::autobatch;
///
/// mod model {
///     #[autobatch::primitive(batched = roots)]
///     pub fn root(x: f64) -> f64 {
///         x.sqrt()
///     }
///
///     pub fn roots(x: &[f64]) -> Vec<f64> {
///         x.iter().map(|x| x.sqrt()).collect()
///     }
/// }
///
/// #[autobatch(strict = "fibers", primitives(model::root))]
/// fn settle(mut x: f64) -> f64 {
///     let step: Box<dyn Fn(f64) -> f64> = Box::new(model::root); // a primitive that is stored
///     while x > 1.001 {
///         x = step(x);
///     }
///     x
/// }
///
/// assert_eq!(settle_batched(&[16.0, 0.5]), [settle(16.0), 0.5]);
/// ```
///
/// ## `primitives(path, …)`
///
/// [Primitives](https://github.com/autobatch/autobatch/blob/main/book/src/primitives.md) that stand in other modules, written as the code calls them.
///
/// ```
/// use autobatch::autobatch;
///
/// mod model {
///     #[autobatch::primitive(batched = slopes)]
///     pub fn slope(x: f64) -> f64 {
///         2.0 * x
///     }
///
///     pub fn slopes(x: &[f64]) -> Vec<f64> {
///         x.iter().map(|x| 2.0 * x).collect()
///     }
/// }
///
/// /// The steps down to the minimum of a parabola.
/// #[autobatch(primitives(model::slope))]
/// fn descend(mut x: f64) -> u32 {
///     let mut steps = 0;
///     while x.abs() > 0.01 {
///         x -= 0.25 * model::slope(x);
///         steps += 1;
///     }
///     steps
/// }
///
/// assert_eq!(descend_batched(&[1.0, 0.0]), [7, 0]);
/// ```
///
/// ## `crate = path`
///
/// Where this crate is, if it has another name, `batches = { package = "autobatch", … }`, or is reached through another crate.
///
/// ```
/// # extern crate autobatch as batches;
/// #[batches::autobatch(crate = ::batches)]
/// fn square(x: f64) -> f64 {
///     x * x
/// }
///
/// assert_eq!(square_batched(&[3.0]), [9.0]);
/// ```
///
/// ## `fuse = false`
///
/// Every branch is a block of its own, for looking at counts. It is slower.
///
/// ```
/// use autobatch::autobatch;
///
/// #[autobatch(fuse = false)]
/// fn larger(a: f64, b: f64) -> f64 {
///     if a > b { a } else { b }
/// }
///
/// assert!(larger_batched::program().blocks.len() > 1);
/// ```
///
/// # On parameters
///
/// `#[shared]` makes a parameter the same for all members, `#[each]` gives each member a reference of its own
/// ([`Each`], [`EachMut`]).
///
/// ```
/// use autobatch::autobatch;
///
/// #[autobatch]
/// fn count(#[each] word: &str, #[shared] letter: char) -> usize {
///     word.chars().filter(|c| *c == letter).count()
/// }
///
/// assert_eq!(count_batched(&["banana", "cherry"], 'a'), [3, 0]);
/// ```
///
/// # Modules and `impl` blocks
///
/// All functions of the item are one program, see [the crate's documentation](https://github.com/autobatch/autobatch/blob/main/book/src/functions.md). Private methods of an
/// `impl` block with public ones have a batched form where this file mentions its name.
///
/// ```
/// use autobatch::autobatch;
///
/// #[autobatch]
/// mod parity {
///     pub fn is_even(n: u32) -> bool {
///         if n == 0 { true } else { is_odd(n - 1) }
///     }
///
///     fn is_odd(n: u32) -> bool {
///         if n == 0 { false } else { is_even(n - 1) }
///     }
/// }
///
/// struct Line {
///     slope: f64,
///     offset: f64,
/// }
///
/// #[autobatch]
/// impl Line {
///     fn at(&self, x: f64) -> f64 {
///         self.slope * x + self.offset
///     }
/// }
///
/// assert_eq!(parity::is_even_batched(&[7, 10]), [false, true]);
/// let line = Line { slope: 2.0, offset: 1.0 };
/// assert_eq!(line.at_batched(&[0.0, 3.0]), [1.0, 7.0]);
/// ```
///
/// # Errors
///
/// A compile error is given for what has no batched meaning: `async`, `unsafe`, variadic and foreign functions, `impl Trait` as a result, a function
/// without a parameter that differs between members. All errors of an item are reported at once, each with what to write instead. The scalar function is there even then.
///
/// # What it made
///
/// `f_batched::program()` prints the blocks, what can run them, and how each loop runs: see [`Program`]. With the variable `AUTOBATCH_DUMP`, a build
/// writes each stage of the compiler into a folder for each item: the item, its code with one name for each variable, and without sugar, the blocks after each pass, and the
/// generated code. Cargo does not know of the variable, so touch the file.
///
/// ```sh
/// touch src/main.rs && AUTOBATCH_DUMP=$PWD/stages cargo build
/// ```
///
/// # What it reads
///
/// The item and the file that it stands in: types, signatures, macros and [primitives](macro@primitive) there. No other file is read,
/// so that the result depends on nothing that the build system does not know of. Code in other files may keep a
/// function from being cut into blocks; its results are the same. Name primitives of other modules,
/// `#[autobatch(primitives(model::energy))]`. Call methods on receivers whose type's fields stand elsewhere by their path,
/// `Self::method(receiver, …)`.
pub use autobatch_macros::autobatch;
/// Names the batched kernel of a function: inside batched programs a call of the function becomes one call of the kernel, for all
/// members that are there.
///
/// The function stays as it is, and is what scalar code calls. [Primitives](https://github.com/autobatch/autobatch/blob/main/book/src/primitives.md) lists the forms that parameters and results take. The
/// kernel gets one entry or row per member of the call, and returns one result for each. An empty type of the function's name is made
/// beside it, so the name is taken among the types too.
///
/// ```
/// use autobatch::autobatch;
///
/// #[autobatch::primitive(batched = densities)]
/// fn density(mean: &f64, x: f64) -> f64 {
///     (-0.5 * (x - mean).powi(2)).exp()
/// }
///
/// // `mean` is the same for all members of the call, `x` has one value for each.
/// fn densities(mean: &f64, x: &[f64]) -> Vec<f64> {
///     x.iter().map(|x| density(mean, *x)).collect()
/// }
///
/// /// How many steps of 1 it takes to leave the bulk.
/// #[autobatch]
/// fn leave(mean: &f64, mut x: f64) -> u32 {
///     let mut steps = 0;
///     while density(mean, x) > 0.01 {
///         x += 1.0;
///         steps += 1;
///     }
///     steps
/// }
///
/// assert_eq!(leave_batched(&0.0, &[0.0, 2.5, 9.0]), [4, 1, 0]);
/// ```
///
/// # Arguments
///
/// `batched = path` is the kernel. `crate = path` says where this crate is, as for [`macro@autobatch`].
///
/// # Panics
///
/// A kernel that panics, or returns anything but one result per member, ends all members of that call with a [`Fault`].
pub use autobatch_macros::primitive;
#[doc(hidden)]
pub use autobatch_runtime::__rt;
pub use autobatch_runtime::join;
#[doc(inline)]
pub use autobatch_runtime::math;
pub use autobatch_runtime::{
    BadOffsets, BatchError, BlockReport, CancelToken, Column, Each, EachMut, Engine, Executor, Fault,
    FaultKind, Faults, IsWhole, Isa, Measured, Offsets, OneOrMany, Options, Outcome, Output, PhaseReport,
    Program, Progress, Purpose, Ragged, RaggedMut, Report, Results, Same, Schedule, Trace, TraceStep, Visit,
    WithOptions, program, same, with_options,
};
