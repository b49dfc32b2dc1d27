//! What rustc is asked about the types of a program, before the program runs.
//!
//! Lowering and admission ask; generated code has the answers, which follow from the types.

use syn::{Expr, Type};

use crate::ir::{VarId, VarSet};
use crate::std_models::number_methods::Primitives;

/// What has to hold of a type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// Its values borrow from no local, and nobody sees when they are dropped.
    Whole,
    /// Nobody sees when its values are dropped.
    Quiet,
    /// The same of what may borrow: rustc lets nothing be moved that is borrowed by what has a `drop`.
    Forgotten,
    /// They are copied.
    Copied,
    /// It has no lifetime that is not written.
    Owned,
    /// It is an `Option` or a `Result`: its methods that are known by name are the library's.
    Chained,
    /// It is one of these types, or a reference to one: methods that they have are their own.
    Primitive(Primitives),
    /// It is an array, a slice, or another list or text of std's: its length is no function of a user's.
    List,
    /// It is a function of the runtime's `math`.
    Math,
}

impl Need {
    /// Whether it is of what code is taken for that only computes.
    pub(crate) fn is_of_computing(self) -> bool {
        matches!(self, Need::Primitive(_) | Need::List | Need::Math)
    }
}

/// What rustc is asked about a program.
#[derive(Clone, Default)]
pub struct Questions {
    /// Variables.
    pub variables: Vec<(VarId, Need)>,
    /// Those whose types may have a closure's in them, which is another type in each copy of the code.
    pub opaque: VarSet,
    /// Expressions of a function's body, by the position of the function among the sources.
    pub expressions: Vec<(usize, Expr, Need)>,
    /// The same where the program does nothing but compute, if they are so. Whether it is admitted does not depend on them.
    pub computing: Vec<(usize, Expr, Need)>,
    /// The same for the code of blocks that run lane-interchanged.
    pub interchanged: Vec<(usize, Expr, Need)>,
    /// Parts of variables, which a statement may move.
    pub parts: Vec<(usize, Expr)>,
    /// Types that are written in signatures.
    pub types: Vec<(Type, Need)>,
    /// Types that a variable may turn out to have.
    pub evidence: Vec<Evidence>,
}

impl Questions {
    /// Whether there is nothing to ask.
    pub fn is_certain(&self) -> bool {
        self.variables.is_empty()
            && self.expressions.is_empty()
            && self.computing.is_empty()
            && self.interchanged.is_empty()
            && self.parts.is_empty()
            && self.types.is_empty()
    }
}

/// A type, and what shows that its drop is not seen.
#[derive(Clone)]
pub struct Evidence {
    /// As written.
    pub ty: Type,
    /// What rustc has to say yes to; `None`: only that it is copied.
    pub quiet: Option<Vec<Quiet>>,
}

/// A part of a type whose drop is not seen.
#[derive(Clone)]
pub enum Quiet {
    /// A type of the library with what it holds left out.
    Whole(Type),
    /// A type of the file, which must have no `drop` of its own.
    Own(Type),
    /// A type parameter's own type, `M::S`: asked where the parameter is known.
    Given(Type),
}
