//! How the result of a check is hidden.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, GenericArgument, Ident, Pat, PathArguments, Stmt, Type};

use crate::input::{Function, Param};
use crate::ir::text;
use crate::lockstep::is_compound;

/// How a check's result is hidden. The messages are the function's but for some.
pub(super) enum Form {
    /// Behind an opaque type. Messages are not the function's if they speak of lifetimes in the output. Without `->` the output has no place to point at.
    Opaque,
    /// In a future. Messages are not the function's if they speak of a parameter as such, or of a missing result.
    Future,
}

impl Form {
    /// None, if neither is sure to accept a sound function.
    pub(super) fn of(shown: &Function) -> Option<Form> {
        let unit = matches!(&shown.output, Type::Tuple(t) if t.elems.is_empty());
        let future = if may_borrow(shown) {
            // Which of several lifetimes an opaque type has, rustc may not find.
            tail(&shown.written)?;
            true
        } else {
            unit && !assigns_parameter(shown)
        };
        Some(if future { Form::Future } else { Form::Opaque })
    }

    /// Whether what is said of borrows is the function's too, word for word.
    pub(super) fn borrows_alike(self, shown: &Function) -> bool {
        let shared = |param: &Param| matches!(&param.ty, Type::Reference(r) if r.mutability.is_none());
        !may_borrow(shown)
            && match self {
                Form::Opaque => true,
                Form::Future => !shown.params.iter().any(shared),
            }
    }
}

/// Whether a lifetime is written in the output, or in the type that it is.
fn may_borrow(shown: &Function) -> bool {
    let mut of_owner = shown.outer.lifetimes();
    !has_no_lifetime(&shown.output) || of_owner.next().is_some() && names(&shown.output, &["Self".into()])
}

/// Whether one of some names stands in the code.
pub(super) fn names(code: &impl ToTokens, names: &[String]) -> bool {
    let text = text(code);
    crate::mentions::words(&text).any(|word| names.iter().any(|name| name == word))
}

/// The expression that a block ends with.
fn tail(block: &Block) -> Option<&Expr> {
    match block.stmts.last()? {
        Stmt::Expr(expr, None) => Some(expr),
        _ => None,
    }
}

/// Whether a parameter that is not `mut` is assigned.
fn assigns_parameter(shown: &Function) -> bool {
    struct Assigned<'a>(Vec<&'a Ident>, bool);
    impl Assigned<'_> {
        fn see(&mut self, place: &Expr) {
            self.1 |= matches!(place, Expr::Path(p) if p.path.get_ident().is_some_and(|name| self.0.contains(&name)));
        }
    }
    impl<'ast> Visit<'ast> for Assigned<'_> {
        fn visit_expr_assign(&mut self, e: &'ast syn::ExprAssign) {
            self.see(&e.left);
            visit::visit_expr_assign(self, e);
        }
        fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
            if is_compound(&e.op) {
                self.see(&e.left);
            }
            visit::visit_expr_binary(self, e);
        }
    }
    let names = shown.sig.inputs.iter().filter_map(|arg| match arg {
        FnArg::Typed(t) => match &*t.pat {
            Pat::Ident(p) if p.mutability.is_none() => Some(&p.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let mut assigned = Assigned(names.collect(), false);
    assigned.visit_block(&shown.written);
    assigned.1
}

/// Whether a type is made of numbers, of types by name without lifetimes, and of tuples and arrays.
fn has_no_lifetime(ty: &Type) -> bool {
    match ty {
        Type::Paren(t) => has_no_lifetime(&t.elem),
        Type::Group(t) => has_no_lifetime(&t.elem),
        Type::Array(t) => has_no_lifetime(&t.elem),
        Type::Tuple(t) => t.elems.iter().all(has_no_lifetime),
        Type::Path(t) => {
            t.qself.is_none()
                && t.path.segments.iter().all(|segment| match &segment.arguments {
                    PathArguments::None => true,
                    PathArguments::AngleBracketed(args) => args.args.iter().all(|arg| match arg {
                        GenericArgument::Type(t) => has_no_lifetime(t),
                        GenericArgument::Const(_) => true,
                        _ => false,
                    }),
                    PathArguments::Parenthesized(_) => false,
                })
        }
        _ => false,
    }
}
