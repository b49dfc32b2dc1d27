//! Which type it is: its identity, whatever its lifetimes, and whether it is *plain*, a primitive number, `bool` or `char`.
//!
//! Plain values have no drop glue, hold no reference and may be copied bit by bit, and all bits zero are one of them.
//!
//! **Invariant:** types of one identity differ in lifetimes only. Who takes a value of one for a value of the other makes sure that
//! no lifetime is involved: plain types have none.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::transmute;

/// The identity of a type, whatever its lifetimes.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn id<T>() -> TypeId {
    trait Id {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Id for PhantomData<T> {
        #[cfg_attr(optimised, inline(always))]
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom: &dyn Id = &PhantomData::<T>;
    // SAFETY: only the lifetime bound of the trait object changes; behind it is a `PhantomData`, which
    // holds no reference, and the identity of a type does not depend on lifetimes.
    let phantom = unsafe { transmute::<&dyn Id, &(dyn Id + 'static)>(phantom) };
    phantom.id()
}

/// The plain types, in the order in which [`is_one_of`] counts them.
macro_rules! plain_types {
    ($with:ident) => {
        $with!(f64 u64 usize i64 isize f32 u32 i32 char u8 bool i8 u16 i16 u128 i128)
    };
}

/// Whether `T` is a primitive number, `bool` or `char`.
#[cfg_attr(optimised, inline(always))]
pub fn is_plain<T>() -> bool {
    // Few are compared, by their sizes: code that is not optimised asks at run time, for each lane.
    macro_rules! any {
        ($($t:ty)*) => {{
            let id = id::<T>();
            $((size_of::<T>() == size_of::<$t>() && id == TypeId::of::<$t>()))||*
        }};
    }
    plain_types!(any)
}

/// Whether `T`, or what it refers to, is one of the plain types whose bits are set, the first type's the lowest.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn is_one_of<T>(types: u16) -> bool {
    macro_rules! place {
        ($($t:ty)*) => {{
            let id = id::<T>();
            let same = |ids: [TypeId; 4]| ids.contains(&id);
            let ids = [$([TypeId::of::<$t>(), TypeId::of::<&$t>(), TypeId::of::<&&$t>(), TypeId::of::<&mut $t>()]),*];
            ids.into_iter().position(same)
        }};
    }
    plain_types!(place).is_some_and(|place| types >> place & 1 == 1)
}

/// The same for what a function yields, which is not called: for types that have no name.
#[cfg_attr(optimised, inline(always))]
pub fn yields_plain<A, T>(function: impl FnOnce(A) -> Shown<T>) -> bool {
    yielded(function).plain()
}

/// What a function yields, which is not called.
#[cfg_attr(optimised, inline(always))]
pub fn yielded<A, T>(_: impl FnOnce(A) -> Shown<T>) -> Shown<T> {
    Shown(PhantomData)
}

/// Shows a type to the compiler.
pub struct Shown<T: ?Sized>(PhantomData<T>);

/// The type of a value.
#[cfg_attr(optimised, inline(always))]
pub fn shown<T>(_: &T) -> Shown<T> {
    Shown(PhantomData)
}

/// What an index by a number yields, or a `*`, asked by method resolution: the type's own functions go before the trait's, [`NoList`].
macro_rules! steps {
    ($($method:ident: [$($generics:tt)*] $from:ty => $to:ty;)*) => {$(
        impl<$($generics)*> Shown<$from> {
            /// The type one step on.
            #[cfg_attr(optimised, inline(always))]
            pub fn $method(self) -> Shown<$to> {
                Shown(PhantomData)
            }
        }
    )*};
}

steps! {
    element: [T, const N: usize] [T; N] => T;
    element: [T] [T] => T;
    element: [T] Vec<T> => T;
    element: [T, const N: usize] &[T; N] => T;
    element: [T] &[T] => T;
    element: [T] &Vec<T> => T;
    dereference: [T: ?Sized] &T => T;
}

impl<'a, T: ?Sized + 'a> Shown<T> {
    /// The type of a reference to it.
    #[cfg_attr(optimised, inline(always))]
    pub fn reference(self) -> Shown<&'a T> {
        Shown(PhantomData)
    }

    /// Whether the steps to it are known.
    #[cfg_attr(optimised, inline(always))]
    pub fn known(self) -> bool
    where
        T: Sized,
    {
        id::<T>() != id::<Nowhere>()
    }

    /// Whether it is plain.
    #[cfg_attr(optimised, inline(always))]
    pub fn plain(self) -> bool
    where
        T: Sized,
    {
        is_plain::<T>()
    }
}

/// What steps lead to that no list and no reference has: a type that is not plain.
pub struct Nowhere;

/// Any other type.
pub trait NoList: Sized {
    /// It has no elements, as far as is known.
    #[cfg_attr(optimised, inline(always))]
    fn element(self) -> Shown<Nowhere> {
        Shown(PhantomData)
    }

    /// It refers to nothing, as far as is known.
    #[cfg_attr(optimised, inline(always))]
    fn dereference(self) -> Shown<Nowhere> {
        Shown(PhantomData)
    }
}

impl<T: ?Sized> NoList for Shown<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters;

    #[test]
    fn elements_of_lists_are_asked_for() {
        const ROWS: [[u8; 2]; 3] = [[1, 2]; 3];
        const REFERENCES: &[&[f64]] = &[&[0.5]];
        assert!(shown(&ROWS).element().element().plain());
        assert!(!shown(&ROWS).element().plain());
        assert!(shown(&REFERENCES).element().element().plain());
        assert!(shown(&ROWS).reference().dereference().element().reference().element().plain());
        assert!(shown(&ROWS).element().element().known() && shown(&[Letters]).element().known());
        assert!(!shown(&Letters).element().known() && !shown(&[Letters]).element().element().known());
        assert!(!shown(&Letters).element().plain());
        assert!(!shown(&Letters).element().element().dereference().plain());
    }
}
