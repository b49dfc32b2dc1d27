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
#[inline(always)]
pub(crate) fn id<T>() -> TypeId {
    trait Id {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Id for PhantomData<T> {
        #[inline(always)]
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

/// Whether `T` is a primitive number, `bool` or `char`.
#[inline(always)]
pub fn is_plain<T>() -> bool {
    macro_rules! any { ($($t:ty)*) => { $(id::<T>() == TypeId::of::<$t>())||* } }
    any!(f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool char)
}

/// The same for what a function yields, which is not called: for types that have no name.
#[inline(always)]
pub fn yields_plain<A, T>(_: impl FnOnce(A) -> Shown<T>) -> bool {
    is_plain::<T>()
}

/// Shows a type to the compiler.
pub struct Shown<T>(PhantomData<T>);

/// The type of a value.
#[inline(always)]
pub fn shown<T>(_: &T) -> Shown<T> {
    Shown(PhantomData)
}
