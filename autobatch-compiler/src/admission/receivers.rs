//! What the methods are called on that are taken for those of numbers, or for the length of a list.
//!
//! ```text
//! let w = table[i] * x;      // `x: f64`, and what `table` holds is written in another file
//! w.abs() + x.sqrt()         // rustc is asked whether `w` is a number that has `abs`; `x` is one
//! ```
//!
//! **Invariant:** a method counts as one that only computes where the type that it is called on is known, or rustc is asked.

use syn::{Expr, ExprPath, Type};

use crate::index::definitions::Definitions;
use crate::ir::questions::Need;
use crate::ir::{Block, FuncId, Program};
use crate::item::model::{Function, Item};
use crate::lower::Lowered;
use crate::resolve::resolution::VariableTypes;
use crate::resolve::types::{FunctionType, Scopes, Types};
use crate::resolve::variables;
use crate::std_models::number_methods::{Primitives, receivers};
use crate::std_models::pure::is_math;
use crate::syntax::mentions::{bare, name};
use crate::syntax::walk::{self, At, Code};

/// The types of what stands in one function's code.
pub(crate) struct Receivers<'a> {
    types: Types<'a>,
    scopes: Scopes,
}

/// What the functions of an item, and those beside it, yield.
pub(super) fn outputs(item: &Item) -> Vec<FunctionType> {
    let all = [&item.functions[..], &item.helpers];
    all.iter().flat_map(|all| FunctionType::all(all, item.own.as_ref(), &item.declared.definitions)).collect()
}

impl<'a> Receivers<'a> {
    /// Of all functions of a program, by their ids.
    pub(super) fn of_all(lowered: &Lowered, item: &'a Item, functions: &'a [FunctionType]) -> Vec<Self> {
        let program = &lowered.program;
        let of_function = |func: FuncId| {
            let source = &item.functions[lowered.sources[func.0]];
            Self::of_program(program, func, source, &item.declared.definitions, functions)
        };
        program.func_ids().map(of_function).collect()
    }

    /// Of a function of the program; `functions` are those whose results are known.
    pub(crate) fn of_program(
        program: &Program,
        func: FuncId,
        function: &Function,
        definitions: &'a Definitions,
        functions: &'a [FunctionType],
    ) -> Self {
        let typed = program.vars_of(func).filter_map(|v| Some((program.name(v), program.var(v).ty.clone()?)));
        let mut receivers = Self::new(function, &typed.collect(), definitions, functions);
        // Variables of the lowering, too.
        for stmt in program.blocks_of(func).flat_map(Block::code) {
            walk::each(stmt, |at| variables::learn(&mut receivers.scopes, at, &receivers.types));
        }
        receivers
    }

    /// Of a function beside it.
    pub(super) fn of_helper(
        helper: &Function,
        definitions: &'a Definitions,
        functions: &'a [FunctionType],
    ) -> Self {
        Self::new(helper, &VariableTypes::new(), definitions, functions)
    }

    /// `known`: the types of variables that the function's body does not show.
    fn new(
        function: &Function,
        known: &VariableTypes,
        definitions: &'a Definitions,
        functions: &'a [FunctionType],
    ) -> Self {
        let types = Types { definitions, functions, own: function.owner.clone() };
        let scopes = variables::types(function, known, &types);
        Receivers { types, scopes }
    }

    /// The primitive types of which one is that of an expression, or of what it refers to.
    pub(crate) fn primitives(&self, expr: &Expr) -> Option<Primitives> {
        Primitives::of_type(&self.types.of(&self.scopes, expr)?)
    }

    /// The same of an expression that certainly is a number, and no reference to one.
    pub(crate) fn number(&self, expr: &Expr) -> Option<Primitives> {
        let ty = self.types.certain(&self.scopes, expr)?;
        Primitives::of_type(&ty).filter(|_| !matches!(ty, Type::Reference(_)))
    }

    /// The types of two operands that are of one type: certainly numbers, or a constant of another file beside one.
    pub(crate) fn operands(&self, left: &Expr, right: &Expr) -> Option<Primitives> {
        let is_other = |e: &Expr| match bare(e) {
            Expr::Path(path) => {
                let local = name(bare(e)).is_some_and(|n| self.scopes.iter().any(|s| s.contains_key(&n)));
                !local && self.types.definitions.constant(path).is_none()
            }
            _ => false,
        };
        match (self.number(left), self.number(right)) {
            (Some(left), Some(right)) => Some(if left.are_among(right) { left } else { right }),
            (Some(one), None) if is_other(right) => Some(one),
            (None, Some(one)) if is_other(left) => Some(one),
            _ => None,
        }
    }

    /// Whether a path names a constant of an integer's type, as the file has it.
    pub(crate) fn is_constant(&self, path: &ExprPath) -> bool {
        let constant = self.types.definitions.constant(path).filter(|constant| !constant.is_static);
        let of = constant.and_then(|constant| Primitives::of_type(&constant.ty));
        of.is_some_and(|of| of.are_among(Primitives::INTEGERS))
    }

    /// Of what in an expression something has to hold so that it only computes, and what: nothing, if that is known by the types that are
    /// written.
    pub(crate) fn need<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, Need)> {
        match expr {
            Expr::MethodCall(call) => {
                let need = need_of_receiver(&call.method.to_string())?;
                let ty = self.types.of(&self.scopes, &call.receiver);
                let holds = ty.is_some_and(|ty| match need {
                    Need::Primitive(having) => {
                        Primitives::of_type(&ty).is_some_and(|of| of.are_among(having))
                    }
                    _ => self.types.definitions.list(&ty).is_some(),
                });
                (!holds).then_some((&*call.receiver, need))
            }
            Expr::Call(call) => match &*call.func {
                Expr::Path(func) if is_math(func) && !is_full(func) => Some((&*call.func, Need::Math)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is needed by all of some code.
    pub(crate) fn needs<'e>(&self, code: &'e (impl Code + ?Sized)) -> Vec<(&'e Expr, Need)> {
        let mut needs = Vec::new();
        walk::each(code, |at| {
            if let At::Expr(expr) = at {
                needs.extend(self.need(expr).filter(|need| !needs.contains(need)));
            }
        });
        needs
    }
}

/// Whether a path begins with this crate's name.
fn is_full(path: &syn::ExprPath) -> bool {
    path.path.segments.first().is_some_and(|first| first.ident == "autobatch")
}

/// What has to hold of what a method is called on that is known by name.
fn need_of_receiver(method: &str) -> Option<Need> {
    match method {
        "len" | "is_empty" => Some(Need::List),
        name => receivers(name).map(Need::Primitive),
    }
}
