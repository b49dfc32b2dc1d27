//! What a batched function's types have to be so that members can run on several threads, in words that name the parameter. For
//! generated code only: `P` is a type that is called as the parameter is.
//!
//! ```compile_fail
//! use autobatch_runtime::__rt::threads;
//! enum noise {}
//! threads::sent::<std::rc::Rc<u8>, noise>();
//! ```

/// What a thread takes over from another.
#[diagnostic::on_unimplemented(
    message = "the parameter `{P}` can't go to another thread: the members of a batch run on several",
    label = "`{Self}` is not `Send`",
    note = "an `Arc` goes where an `Rc` does not, an atomic or a `Mutex` where a `Cell` does not; or call the function member by member"
)]
pub trait Sent<P> {}

#[diagnostic::do_not_recommend]
impl<T: Send + ?Sized, P> Sent<P> for T {}

/// What several threads look at.
#[diagnostic::on_unimplemented(
    message = "the parameter `{P}` can't be shared by several threads: the members of a batch run on several",
    label = "`{Self}` is not `Sync`",
    note = "an `Arc` is shared where an `Rc` is not, an atomic or a `Mutex` where a `Cell` is not; for `dyn Trait` write `dyn Trait + Sync`"
)]
pub trait Shared<P> {}

#[diagnostic::do_not_recommend]
impl<T: Sync + ?Sized, P> Shared<P> for T {}

/// What a thread leaves for the one that has called.
#[diagnostic::on_unimplemented(
    message = "the result can't go to another thread: the members of a batch run on several",
    label = "`{Self}` is not `Send`",
    note = "an `Arc` goes where an `Rc` does not, an atomic or a `Mutex` where a `Cell` does not; or call the function member by member"
)]
pub trait Returned {}

#[diagnostic::do_not_recommend]
impl<T: Send + ?Sized> Returned for T {}

/// Asks of a parameter.
pub fn sent<T: Sent<P> + ?Sized, P>() {}

/// Asks of a parameter that all members share.
pub fn shared<T: Shared<P> + ?Sized, P>() {}

/// Asks of the result.
pub fn returned<T: Returned + ?Sized>() {}
