//! What rustc is asked about the types of a program's variables. For generated code only.
//!
//! A local that lives across a block boundary moves with its column. That is the scalar function's behaviour if the local is
//! *whole*: it holds no reference to another local, and nobody sees when it is dropped. The macro knows no types, so generated
//! code asks rustc, by the methods that it finds ("autoref specialisation"), once per variable and instance:
//!
//! ```
//! use autobatch_runtime::__rt::admission::{Answer as _, Ask, Else as _, Whole as _};
//! assert!((&Ask::<Vec<f64>>::new()).whole().admits());
//! assert!(!(&Ask::<&str>::new()).whole().admits());
//! ```
//!
//! The answer is a type, [`Yes`] or [`No`]. All answers of a program together decide two things: whether its members run as a
//! block program at all, which the runtime asks before a member is loaded, and whether rustc borrow-checks the generated code:
//! that begins with a call of [`Yes::enter`], which returns, or of [`No::enter`], which does not, so that what is behind it is
//! code that is never reached.
//!
//! Types are found by a *witness*: the user's body in a closure that never runs, in which each binding tells its type to a
//! [`Shape`]. It begins with [`nothing`], so it is type-checked and nothing else.
//!
//! A user's trait may have a method of the name of a question's, for all types. What it returns is no [`Answer`], which is an error.
//!
//! **Invariant:** nothing here is unsafe, and no lifetime is extended. A wrong answer can be an error of rustc's, or a drop that is
//! seen elsewhere than in the scalar code; it can't be undefined behaviour.

use std::marker::PhantomData;

use crate::probes::type_id::is_one_of;

/// Types whose values a batch may move as a whole: they hold no reference to a local, and their drop shows nowhere.
///
/// A local that lives across a loop or a batched call moves with its member. std's types, types that the
/// function writes, and those of its file are known to be whole, or not. Of other types rustc knows only the author's word.
/// Implement it for a type of another file that is not `Copy`, and that the function nowhere writes:
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::IsWhole;
///
/// pub struct Polynomial {
///     coefficients: Vec<f64>,
/// }
///
/// impl IsWhole for Polynomial {}
///
/// impl Polynomial {
///     pub fn taylor_of_exp(terms: usize) -> Polynomial {
///         let mut coefficients = vec![1.0];
///         for n in 1..terms {
///             coefficients.push(coefficients[n - 1] / n as f64);
///         }
///         Polynomial { coefficients }
///     }
///
///     pub fn at(&self, x: f64) -> f64 {
///         self.coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
///     }
/// }
///
/// /// How many times the value has to be added up to reach 100.
/// #[autobatch]
/// fn repeats(terms: usize, x: f64) -> u32 {
///     let polynomial = Polynomial::taylor_of_exp(terms);
///     let (mut sum, mut n) = (0.0, 0);
///     while sum < 100.0 {
///         sum += polynomial.at(x); // it lives across the loop
///         n += 1;
///     }
///     n
/// }
///
/// assert_eq!(repeats_batched(&[2, 12], &[1.0, 1.0]), [50, 37]);
/// ```
///
/// Without it the function runs as scalar code for each member, with the same results: [`Report::executor`](crate::Report::executor) is `Scalar` then, and
/// `#[autobatch(strict)]` makes it an error at the local.
///
/// It is not unsafe to implement: a type that does borrow from a local is then an error of the borrow checker, and a `drop`
/// that does something is seen where the member's value goes, not where the scalar function drops it.
pub trait IsWhole {}

/// Values whose drop does nothing, whatever they borrow.
#[doc(hidden)]
pub trait IsForgotten {}

impl<T: ?Sized> IsForgotten for &T {}
impl<T: ?Sized> IsForgotten for &mut T {}
impl<T> IsForgotten for std::slice::Iter<'_, T> {}
impl<T> IsForgotten for std::slice::IterMut<'_, T> {}
impl<T> IsForgotten for std::slice::Chunks<'_, T> {}
impl<T> IsForgotten for std::slice::ChunksExact<'_, T> {}
impl<T> IsForgotten for std::slice::Windows<'_, T> {}
impl IsForgotten for std::str::Bytes<'_> {}
impl IsForgotten for std::str::CharIndices<'_> {}
impl IsForgotten for std::str::Chars<'_> {}
impl IsForgotten for std::str::Lines<'_> {}
impl IsForgotten for std::str::SplitWhitespace<'_> {}
impl<T: IsForgotten> IsForgotten for Option<T> {}
impl<I: IsForgotten> IsForgotten for std::iter::Enumerate<I> {}
impl<I: IsForgotten> IsForgotten for std::iter::Rev<I> {}
impl<T> IsForgotten for std::ops::Range<T> {}
impl<T> IsForgotten for std::ops::RangeInclusive<T> {}
impl<T: IsWhole> IsForgotten for std::vec::IntoIter<T> {}
impl<I: IsForgotten, F> IsForgotten for std::iter::Filter<I, F> {}
impl<I: IsForgotten, F> IsForgotten for std::iter::FilterMap<I, F> {}
impl<I: IsForgotten, F> IsForgotten for std::iter::Map<I, F> {}
impl<I: IsForgotten, F> IsForgotten for std::iter::SkipWhile<I, F> {}
impl<I: IsForgotten, F> IsForgotten for std::iter::TakeWhile<I, F> {}
impl<A: IsForgotten, B: IsForgotten> IsForgotten for std::iter::Chain<A, B> {}
impl<I: IsForgotten> IsForgotten for std::iter::Copied<I> {}
impl<I: IsForgotten> IsForgotten for std::iter::Cloned<I> {}
impl<I: IsForgotten> IsForgotten for std::iter::Skip<I> {}
impl<I: IsForgotten> IsForgotten for std::iter::StepBy<I> {}
impl<I: IsForgotten> IsForgotten for std::iter::Take<I> {}
impl<A: IsForgotten, B: IsForgotten> IsForgotten for std::iter::Zip<A, B> {}

/// The question for a type.
pub struct Ask<T: ?Sized, F = ()>(PhantomData<F>, PhantomData<T>);

impl<T: ?Sized> Ask<T> {
    /// For a type that is written.
    #[cfg_attr(optimised, inline(always))]
    #[expect(clippy::new_without_default, reason = "generated code only")]
    pub fn new() -> Self {
        Ask(PhantomData, PhantomData)
    }
}

/// What is found where nothing else is.
pub trait Else {
    /// Not known to be whole.
    #[cfg_attr(optimised, inline(always))]
    fn whole(&self) -> No {
        No
    }
    /// Not known to be that type, or not copied.
    #[cfg_attr(optimised, inline(always))]
    fn same_copied(&self) -> No {
        No
    }
    /// Not known to be that type.
    #[cfg_attr(optimised, inline(always))]
    fn same(&self) -> No {
        No
    }
    /// Drops without effects of its own.
    #[cfg_attr(optimised, inline(always))]
    fn drops_quietly(&self) -> Yes {
        Yes
    }
    /// Not copied.
    #[cfg_attr(optimised, inline(always))]
    fn copied(&self) -> No {
        No
    }
    /// Not known to be dropped without anything happening.
    #[cfg_attr(optimised, inline(always))]
    fn forgotten(&self) -> No {
        No
    }
    /// Another type.
    #[cfg_attr(optimised, inline(always))]
    fn chains(&self) -> No {
        No
    }
    /// Another type.
    #[cfg_attr(optimised, inline(always))]
    fn is_list(&self) -> No {
        No
    }
}

impl<T: ?Sized, F> Else for &Ask<T, F> {}

/// Found for whole types.
pub trait Whole {
    /// It is.
    #[cfg_attr(optimised, inline(always))]
    fn whole(&self) -> Yes {
        Yes
    }
}

impl<T: IsWhole> Whole for Ask<T> {}

/// Found for types that are written.
pub trait Same {
    /// It is that type.
    #[cfg_attr(optimised, inline(always))]
    fn same(&self) -> Yes {
        Yes
    }
}

impl<T> Same for Ask<T, fn(T)> {}

/// Found for types that are written, and copied.
pub trait SameCopied {
    /// It is that type.
    #[cfg_attr(optimised, inline(always))]
    fn same_copied(&self) -> Yes {
        Yes
    }
}

impl<T: Copy> SameCopied for Ask<T, fn(T)> {}

/// Found for types with a `drop` of their own.
pub trait Drops {
    /// It does something.
    #[cfg_attr(optimised, inline(always))]
    fn drops_quietly(&self) -> No {
        No
    }
}

#[expect(drop_bounds, reason = "that is the question")]
impl<T: Drop + ?Sized> Drops for Ask<T> {}

/// Found for types that are copied.
pub trait Copied {
    /// It is.
    #[cfg_attr(optimised, inline(always))]
    fn copied(&self) -> Yes {
        Yes
    }
}

impl<T: Copy> Copied for Ask<T> {}

/// Found for types that borrow, and whose drop does nothing.
pub trait Forgotten {
    /// It is.
    #[cfg_attr(optimised, inline(always))]
    fn forgotten(&self) -> Yes {
        Yes
    }
}

impl<T: IsForgotten> Forgotten for Ask<T> {}

/// Found for the library's types whose methods take them by value.
pub trait Chains {
    /// It is one.
    #[cfg_attr(optimised, inline(always))]
    fn chains(&self) -> Yes {
        Yes
    }
}

impl<T: IsChain> Chains for Ask<T> {}

/// Found for lists of std's, and references to them.
pub trait Lists {
    /// It is one.
    #[cfg_attr(optimised, inline(always))]
    fn is_list(&self) -> Yes {
        Yes
    }
}

impl<T: IsList + ?Sized> Lists for Ask<T> {}

/// Lists and texts of std's: their length has no effects.
#[doc(hidden)]
pub trait IsList {}

impl<T: IsList + ?Sized> IsList for &T {}
impl<T: IsList + ?Sized> IsList for &mut T {}
impl<T> IsList for [T] {}
impl<T, const N: usize> IsList for [T; N] {}
impl<T> IsList for Vec<T> {}
impl IsList for str {}
impl IsList for String {}

/// `Option`, `Result` and the library's iterators: what their methods yield that take them by value borrows nothing from them.
#[doc(hidden)]
pub trait IsChain {}

impl<T> IsChain for Option<T> {}
impl<T, E> IsChain for Result<T, E> {}
impl<T> IsChain for std::ops::Range<T> {}
impl<T> IsChain for std::ops::RangeInclusive<T> {}
impl<T> IsChain for std::slice::Iter<'_, T> {}
impl<T> IsChain for std::slice::Chunks<'_, T> {}
impl<T> IsChain for std::slice::ChunksExact<'_, T> {}
impl<T> IsChain for std::slice::Windows<'_, T> {}
impl<T> IsChain for std::vec::IntoIter<T> {}
impl<T, const N: usize> IsChain for std::array::IntoIter<T, N> {}
impl IsChain for std::str::Bytes<'_> {}
impl IsChain for std::str::CharIndices<'_> {}
impl IsChain for std::str::Chars<'_> {}
impl IsChain for std::str::Lines<'_> {}
impl IsChain for std::str::SplitWhitespace<'_> {}

macro_rules! chains {
    ($($name:ident<$($of:ident),*>),* $(,)?) => { $(impl<$($of),*> IsChain for std::iter::$name<$($of),*> {})* };
}

chains!(
    Chain<A, B>,
    Cloned<A>,
    Copied<A>,
    Enumerate<A>,
    Filter<A, F>,
    FilterMap<A, F>,
    Fuse<A>,
    Map<A, F>,
    Rev<A>,
    Skip<A>,
    SkipWhile<A, F>,
    StepBy<A>,
    Take<A>,
    TakeWhile<A, F>,
    Zip<A, B>,
);

/// It is so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Yes;

/// It is not, or not known to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct No;

/// `Yes` or `No`.
pub trait Answer: Copy {
    /// Whether it is [`Yes`].
    const YES: bool;
    /// The same as a value.
    #[cfg_attr(optimised, inline(always))]
    fn admits(self) -> bool {
        Self::YES
    }
}

impl Answer for Yes {
    const YES: bool = true;
}

impl Answer for No {
    const YES: bool = false;
}

impl Yes {
    /// Goes on.
    #[cfg_attr(optimised, inline(always))]
    pub fn enter(self) {}
    /// Or another.
    #[cfg_attr(optimised, inline(always))]
    pub fn or<A: Answer>(self, _: A) -> Yes {
        Yes
    }
    /// And another.
    #[cfg_attr(optimised, inline(always))]
    pub fn and<A: Answer>(self, other: A) -> A {
        other
    }
}

impl No {
    /// Never comes to that: the program's members run the scalar code.
    #[cold]
    #[inline(never)]
    pub fn enter(self) -> ! {
        unreachable!("members of a program that is not admitted run the scalar code")
    }
    /// Or another.
    #[cfg_attr(optimised, inline(always))]
    pub fn or<A: Answer>(self, other: A) -> A {
        other
    }
    /// And another.
    #[cfg_attr(optimised, inline(always))]
    pub fn and<A: Answer>(self, _: A) -> No {
        No
    }
}

/// An answer that is found in the witness: for types that have no name, and are others in each copy of the code.
pub struct Asked<A>(PhantomData<A>);

impl<A: Default> Asked<A> {
    /// Before it is found.
    #[cfg_attr(optimised, inline(always))]
    #[expect(clippy::new_without_default, reason = "generated code only")]
    pub fn new() -> Self {
        Asked(PhantomData)
    }
    /// This is it.
    #[cfg_attr(optimised, inline(always))]
    pub fn is(&self, _: A) {}
    /// The answer.
    #[cfg_attr(optimised, inline(always))]
    pub fn answer(&self) -> A {
        A::default()
    }
}

/// The type of a variable or expression.
pub struct Shape<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Shape<T> {
    /// Of any type.
    #[cfg_attr(optimised, inline(always))]
    #[expect(clippy::new_without_default, reason = "generated code only")]
    pub fn new() -> Self {
        Shape(PhantomData)
    }
    /// This is the type.
    #[cfg_attr(optimised, inline(always))]
    pub fn is(&self, _: &T) {}
    /// This is the type of the place.
    #[cfg_attr(optimised, inline(always))]
    pub fn at<'p>(&self, place: &'p T) -> &'p T {
        place
    }
    /// The question for it.
    #[cfg_attr(optimised, inline(always))]
    pub fn ask(&self) -> Ask<T> {
        Ask(PhantomData, PhantomData)
    }
}

impl<T> Shape<T> {
    /// This is the type of the value, which is handed on.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(&self, value: T) -> T {
        value
    }
    /// The question whether it is the type that is written as a function's parameter: `None::<fn(Point)>`.
    ///
    /// A type that leaves a lifetime out makes that a function for all lifetimes, which is another type than any `fn(T)`.
    #[cfg_attr(optimised, inline(always))]
    pub fn with<F>(&self, _: Option<F>) -> Ask<T, F> {
        Ask(PhantomData, PhantomData)
    }
    /// Whether it is one of some primitive types, or a reference to one: see `is_one_of` of the runtime's `probes::type_id`.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_primitive(&self, types: u16) -> bool {
        is_one_of::<T>(types)
    }
    /// Whether it is a function of [`math`](crate::math).
    pub fn is_math(&self) -> bool {
        let name = std::any::type_name::<T>();
        name.strip_prefix(env!("CARGO_CRATE_NAME")).is_some_and(|name| name.starts_with("::math::"))
    }
    /// Whether nothing happens when a value is dropped.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_forgotten(&self) -> bool {
        !std::mem::needs_drop::<T>()
    }
}

/// Never called: what is behind it is type-checked, and not borrow-checked.
#[cold]
pub fn nothing() -> ! {
    unreachable!("a witness never runs")
}

/// A value of a parameter's type, in a witness.
#[cold]
pub fn given<T>() -> T {
    nothing()
}

/// Under `strict`, an error unless the answer is [`Yes`].
#[cfg_attr(optimised, inline(always))]
pub fn must_be(_: impl BlockLocal) {}

/// Under `strict`, an error unless the answer is [`Yes`] or values are dropped without anything happening.
#[cfg_attr(optimised, inline(always))]
pub fn must_be_quiet<T, A: Answer>(_: &Shape<T>, _: A) {
    const {
        assert!(
            A::YES || !std::mem::needs_drop::<T>(),
            "`strict`: a local whose scope goes on behind a loop or call may do something when it is dropped; each member would run the scalar code"
        )
    }
}

/// [`Yes`], for `strict`.
#[diagnostic::on_unimplemented(
    message = "`strict`: this local lives across a loop or call, and its type is not known to hold no reference and to drop quietly",
    label = "of a type that may borrow, or does something when it is dropped",
    note = "write its type at the `let`, if that has no lifetime, or `impl autobatch::IsWhole` for it; else leave `strict` out: each member then runs the scalar code"
)]
pub trait BlockLocal {}

// Two, so that rustc guesses neither where a user's method yields whatever it is asked for.
impl BlockLocal for Yes {}
impl BlockLocal for std::convert::Infallible {}

macro_rules! whole {
    ($($t:ty),* $(,)?) => { $(impl IsWhole for $t {})* };
}

whole!(
    (),
    bool,
    char,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    String,
    std::cmp::Ordering,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::ops::RangeFull,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::path::PathBuf,
    std::time::Duration,
    std::time::Instant,
    std::time::SystemTime,
    std::sync::atomic::AtomicBool,
    std::sync::atomic::AtomicI32,
    std::sync::atomic::AtomicI64,
    std::sync::atomic::AtomicIsize,
    std::sync::atomic::AtomicU8,
    std::sync::atomic::AtomicU32,
    std::sync::atomic::AtomicU64,
    std::sync::atomic::AtomicUsize,
);

macro_rules! whole_of {
    ($($t:ty),* $(,)?) => { $(impl<T: IsWhole> IsWhole for $t {})* };
}

whole_of!(
    [T],
    Box<[T]>,
    Box<T>,
    Option<T>,
    PhantomData<T>,
    std::cell::Cell<T>,
    std::cell::OnceCell<T>,
    std::cell::RefCell<T>,
    std::cmp::Reverse<T>,
    std::collections::BTreeSet<T>,
    std::collections::BinaryHeap<T>,
    std::collections::LinkedList<T>,
    std::collections::VecDeque<T>,
    std::iter::Enumerate<T>,
    std::iter::Fuse<T>,
    std::iter::Rev<T>,
    std::iter::Skip<T>,
    std::iter::StepBy<T>,
    std::iter::Take<T>,
    std::num::Saturating<T>,
    std::num::Wrapping<T>,
    std::ops::Bound<T>,
    std::ops::Range<T>,
    std::ops::RangeFrom<T>,
    std::ops::RangeInclusive<T>,
    std::ops::RangeTo<T>,
    std::rc::Rc<T>,
    std::sync::Arc<T>,
    std::sync::Mutex<T>,
    std::sync::OnceLock<T>,
    std::sync::RwLock<T>,
    std::vec::IntoIter<T>,
    Vec<T>,
);

impl<T: IsWhole, const N: usize> IsWhole for [T; N] {}
impl<T: IsWhole, const N: usize> IsWhole for std::array::IntoIter<T, N> {}
impl<T: IsWhole, E: IsWhole> IsWhole for Result<T, E> {}
impl<I: Iterator<Item: IsWhole> + IsWhole> IsWhole for std::iter::Peekable<I> {}
impl<A: IsWhole, B: IsWhole> IsWhole for std::iter::Zip<A, B> {}
impl<A: IsWhole, B: IsWhole> IsWhole for std::iter::Chain<A, B> {}
impl<K: IsWhole, V: IsWhole> IsWhole for std::collections::BTreeMap<K, V> {}
impl<K: IsWhole, V: IsWhole, S> IsWhole for std::collections::HashMap<K, V, S> {}
impl<T: IsWhole, S> IsWhole for std::collections::HashSet<T, S> {}

#[cfg(feature = "ndarray")]
impl<T: IsWhole, D> IsWhole for ndarray::ArrayBase<ndarray::OwnedRepr<T>, D> {}

macro_rules! whole_tuples {
    ($first:ident $($rest:ident)*) => {
        impl<$first: IsWhole, $($rest: IsWhole),*> IsWhole for ($first, $($rest,)*) {}
        whole_tuples!($($rest)*);
    };
    () => {};
}

whole_tuples!(A B C D E F G H I J K L);

#[cfg(test)]
#[expect(clippy::needless_borrow, reason = "the reference chooses the method")]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Point;
    #[derive(Clone, Copy)]
    struct View<'a>(#[expect(dead_code, reason = "only its type matters")] &'a u8);

    /// The type of a value.
    fn shape<T>(value: &T) -> Shape<T> {
        let shape = Shape::new();
        shape.is(value);
        shape
    }

    #[test]
    fn types_without_lifetimes_are_told_from_others() {
        let (byte, numbers) = (3, shape(&vec![1]));
        let view = View(&byte);
        assert!((&shape(&Point).with(None::<fn(Point)>)).same_copied().admits());
        assert!((&numbers.with(None::<fn(Vec<i32>)>)).same().admits());
        assert!(!(&numbers.with(None::<fn(Vec<i32>)>)).same_copied().admits());
        assert!(!(&shape(&Point).with(None::<fn(u8)>)).same().admits());
        // With a lifetime that is not written.
        assert!(!(&shape(&view).with(None::<fn(View)>)).same_copied().admits());
        assert!(!(&shape(&view).with(None::<fn(View)>)).same().admits());
        assert!(!(&shape(&vec![view]).with(None::<fn(Vec<View>)>)).same().admits());
    }

    #[test]
    fn whole_types_are_told_from_others() {
        struct Loud;
        impl Drop for Loud {
            fn drop(&mut self) {}
        }
        assert!((&Ask::<Option<(i32, Vec<String>)>>::new()).whole().admits());
        assert!(!(&Ask::<Option<&u8>>::new()).whole().admits());
        assert!(!(&Ask::<Point>::new()).whole().admits());
        assert!((&Ask::<Point>::new()).drops_quietly().admits());
        assert!(!(&Ask::<Loud>::new()).drops_quietly().admits());
        assert!((&Ask::<Point>::new()).copied().admits());
        assert!(!(&Ask::<Loud>::new()).copied().admits());
        assert!(shape(&Point).is_forgotten() && !shape(&Loud).is_forgotten());
    }

    #[test]
    fn generic_code_knows_its_own_parameters() {
        fn is_own<T: Copy>(value: T) -> bool {
            (&shape(&value).with(None::<fn(T)>)).same_copied().admits()
        }
        assert!(is_own(1.5));
    }

    #[test]
    fn what_is_behind_a_no_is_not_borrow_checked() {
        let answer = (&Ask::<&u8>::new()).whole();
        if !answer.admits() {
            return;
        }
        answer.enter();
        #[allow(unreachable_code)]
        {
            let text = String::new();
            drop(text);
            drop(text);
        }
    }

    #[test]
    fn answers_are_put_together() {
        assert!(No.or(Yes).and(Yes).admits());
        assert!(!Yes.and(No).admits() && !No.and(Yes).admits());
        Yes.enter();
        must_be(Yes);
    }
}
