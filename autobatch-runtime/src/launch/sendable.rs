//! Families are there whether or not their types may go to other threads. Where the function itself has the attribute, that is
//! refused in words of its own (`probes/thread_bounds.rs`), and nothing else needs to be said; a family of a private method, or of a method of a module, which
//! nobody may have asked for, is refused where it is called. For generated code only.
//!
//! `Crossing::<T>::new().check()` is found on `Crossing` itself if `T` is `Send`, and behind its `Deref` otherwise. What it
//! yields has the same methods in both cases, the second time without the bounds.
//!
//! ```
//! use autobatch_runtime::__rt::Crossing;
//! Crossing::<u8>::new().check().states(&mut [1]);
//! ```
//!
//! ```compile_fail,E0080
//! use autobatch_runtime::__rt::Crossing;
//! use std::rc::Rc;
//! Crossing::<Rc<u8>>::new().check().states(&mut [Rc::new(1)]);
//! ```

use std::marker::PhantomData;
use std::ops::Deref;

use super::run;
use super::ways::{MachineCode, ScalarCode, VectorCode, Ways};
use crate::api::column::{Source, StateSource, States};
use crate::api::fault::BatchError;
use crate::api::options::{Defaults, Options};
use crate::api::outcome::Outcome;
use crate::api::output::{Out, Output};
use crate::api::program::Program;
use crate::machine::Core;
use crate::native_stack::depth::Depth;
use crate::storage::Store;
use crate::vector::Tile;

/// What goes to other threads: results, states, references to what is shared.
pub struct Crossing<T>(PhantomData<T>, Stays);

impl<T> Crossing<T> {
    /// The question.
    #[expect(clippy::new_without_default, reason = "generated code only")]
    pub fn new() -> Self {
        Crossing(PhantomData, Stays)
    }
}

impl<T: Send> Crossing<T> {
    /// It may.
    pub fn check(self) -> Goes {
        Goes
    }
}

impl<T> Deref for Crossing<T> {
    type Target = Stays;
    fn deref(&self) -> &Stays {
        &self.1
    }
}

/// It may go to other threads: everything is as in other families.
#[derive(Clone, Copy)]
pub struct Goes;

#[expect(private_bounds, reason = "names for what closures are")]
impl Goes {
    /// [`States::new`].
    pub fn states<'a, T: Send>(self, states: &'a mut [T]) -> States<'a, T> {
        States::new(states)
    }

    /// [`run::run`].
    pub fn run<R: Send>(
        self,
        program: &'static Program,
        defaults: Defaults,
        options: &Options,
        lens: &[(&'static str, Option<usize>)],
        ways: Ways<impl ScalarCode<R>, impl ScalarCode<R>, impl MachineCode<R>, impl VectorCode<R>>,
    ) -> Result<Outcome<R>, BatchError> {
        run::run(program, defaults, options, lens, ways)
    }

    /// [`run::run_into`].
    #[track_caller]
    pub fn run_into<R: Send>(
        self,
        program: &'static Program,
        defaults: Defaults,
        lens: &[(&'static str, Option<usize>)],
        ways: Ways<impl ScalarCode<R>, impl ScalarCode<R>, impl MachineCode<R>, impl VectorCode<R>>,
        output: impl Output<R>,
    ) -> Result<(), BatchError> {
        run::run_into(program, defaults, lens, ways, output)
    }
}

/// It may not: who calls such a family is told so when it is compiled for them.
#[derive(Clone, Copy)]
pub struct Stays;

/// An error wherever it is mentioned for a type.
struct Refused<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Refused<T> {
    const HERE: () = panic!(
        "members of a batch run on several threads: results and `&mut` states must be `Send`, and what members share must be `Sync`"
    );
}

impl Stays {
    /// It may not.
    pub fn check(self) -> Stays {
        Stays
    }

    /// An error.
    pub fn states<T>(self, _: &mut [T]) -> NoStates<T> {
        let () = Refused::<T>::HERE;
        NoStates(PhantomData)
    }

    /// An error.
    pub fn run<R>(
        self,
        _: &'static Program,
        _: Defaults,
        _: &Options,
        _: &[(&'static str, Option<usize>)],
        _: Ways<
            impl Fn(usize, Depth) -> R,
            impl Fn(usize, Depth) -> R,
            impl Fn(&mut Core<'_>, &Store, &Out<'_, R>),
            impl Fn(&mut Tile<'_>, &Out<'_, R>),
        >,
    ) -> Result<Outcome<R>, BatchError> {
        let () = Refused::<R>::HERE;
        Err(BatchError::NoLength)
    }

    /// An error.
    pub fn run_into<R>(
        self,
        _: &'static Program,
        _: Defaults,
        _: &[(&'static str, Option<usize>)],
        _: Ways<
            impl Fn(usize, Depth) -> R,
            impl Fn(usize, Depth) -> R,
            impl Fn(&mut Core<'_>, &Store, &Out<'_, R>),
            impl Fn(&mut Tile<'_>, &Out<'_, R>),
        >,
        _: impl Output<R>,
    ) -> Result<(), BatchError> {
        let () = Refused::<R>::HERE;
        Err(BatchError::NoLength)
    }
}

/// What stands for states that stay on their thread.
pub struct NoStates<T>(PhantomData<fn() -> T>);

// SAFETY: `fill` is the default, which never returns.
unsafe impl<'a, T> Source<&'a mut T> for NoStates<T> {
    fn len(&self) -> Option<usize> {
        None
    }
    fn get(&self, _: usize) -> &'a mut T {
        unreachable!("who has made this is not compiled")
    }
}

impl<T> StateSource<T> for NoStates<T> {
    fn value(&self, _: usize) -> T {
        unreachable!("who has made this is not compiled")
    }
    fn put(&self, _: usize, _: T) {
        unreachable!("who has made this is not compiled")
    }
}
