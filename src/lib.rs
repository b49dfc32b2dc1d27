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
//! | `x: T` | a [`Column`]: `&[T]`, `&Vec<T>`, `&[T; N]`, `ndarray` views of any stride, `Vec<T>` by value, [`same`]`(v)` |
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
//!    threads. Only `vector_math` and batched kernels may round otherwise. (One exception is [below](#limits).)
//! 2. **A member that is not there executes nothing:** no panic, no division by zero, no side effect.
//! 3. **Members end alone.** One that panics or is too deep has a [`Fault`] with its index and message. All others finish.
//! 4. **Safe code stays safe.** Generated code is safe Rust. Inside, values are moved, never cloned, and dropped once, where
//!    the scalar code drops them.
//! 5. **Depth is data.** Recursion of any depth up to [`Options::max_depth`] works on a small native stack.
//! 6. **Endless members starve nobody.** In batched code, [`Options::max_steps`] and [`Options::cancel`] end them, and the
//!    rest finish.
//!
//! # Attribute arguments
//!
//! | argument | meaning |
//! |---|---|
//! | `name = "…"` | the name in place of `f_batched` |
//! | `crate = path` | where this crate is, if renamed |
//! | `strict`, `strict = "fibers"` | scalar code in place of batched code is a compile error, see [below](macro@autobatch#strict) |
//! | `primitives(path, …)` | primitives of other modules, see [Primitives](#primitives) |
//! | `vector_math` | `exp`, `ln`, `sin`, … in the batched code are those of [`math`], SIMD code with errors below one unit in the last place; the scalar function gets the same bits by calling them |
//! | `fuse = false` | every branch is a block of its own, for looking at counts |
//! | `executor = Masked`, `schedule = MostLanes`, `lanes = 64`, `max_depth = 1000` | defaults for [`Options`] |
//!
//! # Several functions, methods
//!
//! `#[autobatch] mod m { … }` and `#[autobatch] impl T { … }` make one program of all their functions: mutual recursion batches
//! across them. The functions that are visible outside a module have a batched family, and each method of an `impl` block has
//! one of its own visibility. The methods of a module's types are functions of it too. `left.sum(x)` is a batched call where
//! the type of `left` is written in the item or its file: a field, a variant, a parameter, a local of it. A call of any other
//! function is an ordinary call on each active member. Functions beside the item, in its module and file, are read: they may stand
//! outside without being slower.
//!
//! A function that is generic over its numbers (`T: num_traits::Float`) batches at `f32`, `f64` and at dual numbers, so
//! that the same code gives derivatives: `cargo run --release --example derivatives`.
//!
//! # Faults and reports
//!
//! ```
//! # use autobatch::autobatch;
//! use autobatch::{Executor, Options};
//!
//! #[autobatch]
//! fn halves(mut n: u32) -> u32 {
//!     let mut steps = 0;
//!     while n > 1 {
//!         assert!(n % 2 == 0, "{n} is odd");
//!         n /= 2;
//!         steps += 1;
//!     }
//!     steps
//! }
//!
//! let options = Options::default().executor(Executor::Masked).report(true);
//! let outcome = halves_batched_with(&[8, 12, 1], &options)?; // a BatchError says what is wrong with the call as a whole
//! assert_eq!((outcome.faults()[0].member, &*outcome.faults()[0].message), (1, "3 is odd"));
//! println!("{}", outcome.report());                          // per block: executions, active lanes, lower bound
//! let results = outcome.into_results();
//! assert_eq!((results[0].as_ref().unwrap(), results[2].as_ref().unwrap()), (&3, &0));
//! # Ok::<(), autobatch::BatchError>(())
//! ```
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
//! [`Executor::Auto`] means [`Executor::ProgramCounter`] here, which gathers over all depths of a recursion, or fibers
//! ([below](#fibers)) where parts of the program stay scalar code.
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
//! call; what it was to change is valid then, its value unspecified.
//!
//! Batched code knows the primitives that stand in the same module (or block) as the annotated item, or in the item. Others
//! are named as the code calls them: `#[autobatch(primitives(gradient, model::energy))]`. Those that nobody names are found when a
//! member reaches them ([below](#fibers)).
//!
//! # Fibers
//!
//! Not every function can be cut into blocks, and not every call of a primitive can be seen: it may be in a closure
//! that is stored, behind a trait object, in a macro, in another crate. The members of such a function run its scalar code,
//! each on a *fiber*, a stack of its own. A primitive suspends its fiber, wherever it is called from. When all fibers of a
//! thread are suspended or done, one call of the kernel answers all those at the same primitive.
//!
//! ```
//! use autobatch::autobatch;
//!
//! #[autobatch::primitive(batched = logistics)]
//! fn logistic(x: f64) -> f64 {
//!     1.0 / (1.0 + (-x).exp())
//! }
//!
//! fn logistics(x: &[f64]) -> Vec<f64> {
//!     x.iter().map(|x| logistic(*x)).collect()
//! }
//!
//! /// Applies the layers until the value is settled.
//! #[autobatch]
//! fn settle(layers: &[Box<dyn Fn(f64) -> f64 + Sync>], mut x: f64) -> f64 {
//!     loop {
//!         let next = layers.iter().fold(x, |x, layer| layer(x));
//!         if (next - x).abs() < 1e-9 {
//!             return next;
//!         }
//!         x = next;
//!     }
//! }
//!
//! let layers: [Box<dyn Fn(f64) -> f64 + Sync>; 2] = [Box::new(logistic), Box::new(|x| 2.0 * logistic(x))];
//! let x = [-3.0, 0.5, 8.0];
//! assert_eq!(settle_batched(&layers, &x), x.map(|x| settle(&layers, x)));
//! ```
//!
//! [`program::Program::whole_scalar`] says of a function that it is not cut into blocks, its notes why. [`join`] runs two parts
//! of one member side by side, so that the primitives in them meet too.
//!
//! * A program in blocks whose notes say that parts of it are scalar code is run on fibers if it calls primitives. If there are
//!   no notes, and a member reaches a primitive that the blocks don't show, this call is for one row, and later runs are on fibers. So it
//!   is with [`Executor::Auto`] without [`Options::max_steps`] and [`Options::cancel`] only; else the blocks are run.
//! * A call is for one row where an argument that is not shared, or what is returned, has a lifetime, or a generic type other than
//!   a number, `bool` or `char` (or one that is `'static` by its bounds); and where the thread is panicking.
//! * Members of a thread take turns at primitives. One must not hold what another waits for while it calls one: a lock, the
//!   `RefCell` of a thread-local. Nor must it call one from inside of `rayon::join` and the like.
//! * [`Options::max_steps`] counts the calls of primitives, [`Options::cancel`] ends a member at its next one.
//! * Where there are no fibers (targets other than x86-64, aarch64 and 64-bit RISC-V; Miri), each call is for one row.
//!
//! # Elementary functions
//!
//! std's `exp`, `ln`, `sin` and their like are library calls, which keep the lanes of a batch from becoming
//! SIMD code. Those of [`math`] do not: `math::exp(x)` for `x.exp()`. `vector_math` puts them into the batched code: into the
//! functions of the item, and into those beside it that they call. Functions of other modules and files keep std's.
//!
//! # Limits
//!
//! Recursive calls in the closures of iterator, `Option` and `Result` adaptors are calls like any other. What can't be carried
//! through runs the scalar code for each member, with the same results; [`Program`] says where and why, and `strict` makes it
//! an error:
//!
//! * a recursive call in a closure that is stored in something or handed to other code, or in the tokens of a macro;
//! * a call that borrows a local;
//! * a `sum` whose type is not a number of std's and so may stop early, as a `fold` does not;
//! * a local that borrows from another one across a loop or call, or that does something when it is dropped.
//!
//! Recursive calls in closures of scalar code count and are as deep as others. Those in a macro's tokens or of a function passed
//! as a value use the native stack. [A page that the tests write](https://github.com/autobatch/autobatch/blob/main/docs/constructs.md)
//! lists what becomes of each construct.
//!
//! One exception to bit-identical results is known. rustc 1.95 (LLVM 22) compiles loops with AVX-512 wrongly, in plain Rust too,
//! in which something is indexed by an integer division with the same operands for all members, under a condition. The macro
//! keeps such loops from becoming vectors, also where another function divides. Only a function that divides *and* indexes, both
//! in a structure that all members share, and gets nothing of the member's own, it can't tell from one that reads a field.
//!
//! # Features
//!
//! * `ndarray`, on by default: `ndarray` arrays and views as columns and outputs.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Batches a function, or all functions of a module or an `impl` block.
///
/// See the [crate's documentation](crate) for what it generates.
///
/// # What it reads
///
/// The item and the file that it stands in: types, signatures, macros and [primitives](macro@primitive) there. No other file is read,
/// so that the answer depends on nothing that the build system does not know of. What stands in other files may keep a
/// function from being cut into blocks; its results are the same. Name primitives of other modules,
/// `#[autobatch(primitives(model::energy))]`; call methods on receivers whose type's fields stand elsewhere by their path,
/// `Self::method(receiver, …)`.
///
/// Private methods of an `impl` block with public ones have a batched form where this file mentions its name.
///
/// # Strict
///
/// With `#[autobatch(strict)]`, code that would run as scalar code is a compile error that says why, and what to write instead. With
/// `#[autobatch(strict = "fibers")]` such code may run on fibers: no error is given for a function that mentions a
/// primitive, in closures and macros too, or whose attribute names one, `primitives(model::energy)`, because it is reached out of
/// sight. Where there is no file to read, as in rust-analyzer, `strict` says nothing.
pub use autobatch_macros::autobatch;
/// Names the batched kernel of a function, `#[autobatch::primitive(batched = path)]`: inside batched programs a
/// call of the function becomes one call of the kernel, for all members that are there.
///
/// See [Primitives](crate#primitives) for the forms that parameters and results take. An empty type of the
/// function's name is made beside it, so the name is taken among the types too.
pub use autobatch_macros::primitive;
#[doc(hidden)]
pub use autobatch_runtime::__rt;
/// ```
/// use autobatch::autobatch;
///
/// enum Tree {
///     Leaf(f64),
///     Node(Box<Tree>, Box<Tree>),
/// }
///
/// #[autobatch::primitive(batched = cells)]
/// fn cell(left: f64, right: f64) -> f64 {
///     (0.5 * left - 0.25 * right).tanh()
/// }
///
/// fn cells(left: &[f64], right: &[f64]) -> Vec<f64> {
///     left.iter().zip(right).map(|(left, right)| cell(*left, *right)).collect()
/// }
///
/// /// A recursive network: one call of `cells` for each level, of the trees of all members.
/// #[autobatch]
/// fn network(#[each] tree: &Tree) -> f64 {
///     match tree {
///         Tree::Leaf(x) => cell(*x, 1.0),
///         Tree::Node(left, right) => {
///             let (left, right) = autobatch::join(|| network(left), || network(right));
///             cell(left, right)
///         }
///     }
/// }
///
/// let leaf = |x| Box::new(Tree::Leaf(x));
/// let trees = [Tree::Node(leaf(0.5), leaf(-2.0)), Tree::Leaf(3.0)];
/// assert_eq!(network_batched(&trees), trees.iter().map(network).collect::<Vec<_>>());
/// ```
pub use autobatch_runtime::join;
#[doc(inline)]
pub use autobatch_runtime::math;
pub use autobatch_runtime::{
    BadOffsets, BatchError, BlockReport, CancelToken, Column, Each, EachMut, Executor, Fault, FaultKind,
    Faults, IsWhole, Isa, Options, Outcome, Output, Program, Progress, Ragged, RaggedMut, Report, Same,
    Schedule, program, same,
};
