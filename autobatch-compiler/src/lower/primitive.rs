//! Calls of functions that have a batched kernel.
//!
//! Such a call becomes a block of its own, whose lanes are gathered for one call of the kernel. Gathering must
//! not fail half way, so the block's arguments are only literals, constants, variables and references to
//! parts of variables; everything else is computed in the block before.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, Type, UnOp, parse_quote};

use crate::analysis::reference_flow::LocalBorrow;
use crate::diagnostics::reasons::{self, Reason};
use crate::ir::effects::variable;
use crate::ir::{Primitive, VarId};
use crate::lower::lowering::Lowering;
use crate::syntax::mentions::{bare, root};
use crate::syntax::primitive_names;

/// Whether an expression is a call of a primitive that can be batched.
pub(super) fn is_batched(lower: &Lowering<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => is_call(lower, call) && check_arguments(lower, call).is_ok(),
        _ => false,
    }
}

/// Whether a call names a primitive, and no local.
pub(super) fn is_call(lower: &Lowering<'_>, call: &ExprCall) -> bool {
    variable(&lower.names, bare(&call.func)).is_none()
        && primitive_names::is_primitive(&lower.facts.options.primitives, &call.func)
}

/// Whether the arguments can be gathered; else where and why not.
pub(super) fn check_arguments(lower: &Lowering<'_>, call: &ExprCall) -> Result<(), (Span, Reason)> {
    for arg in &call.args {
        let borrows = match arg {
            Expr::Reference(e) if e.mutability.is_some() => {
                if root(&e.expr).and_then(|root| variable(&lower.names, root)).is_none() {
                    return Err((arg.span(), reasons::KERNEL_CHANGES));
                }
                false
            }
            Expr::Reference(e) if is_place(lower, &e.expr) => false,
            other => lower.reference_flow().local_borrow(other) == LocalBorrow::Certain,
        };
        if borrows {
            return Err((arg.span(), reasons::KERNEL_BORROWS));
        }
    }
    Ok(())
}

/// A variable or constant, or a field of one, however deep.
fn is_place(lower: &Lowering<'_>, expr: &Expr) -> bool {
    root(expr).is_some_and(|root| variable(&lower.names, root).is_some())
}

/// What can be evaluated when lanes are gathered.
fn is_simple(lower: &Lowering<'_>, arg: &Expr) -> bool {
    match arg {
        Expr::Lit(_) => true,
        Expr::Path(path) => variable(&lower.names, arg).is_some() || is_constant(path),
        Expr::Reference(e) => is_place(lower, &e.expr),
        _ => false,
    }
}

/// `EPSILON`, `f64::MAX`: by the spelling, as users write constants.
fn is_constant(path: &syn::ExprPath) -> bool {
    let last = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    last.chars().all(|c| !c.is_lowercase()) && last.chars().any(char::is_alphabetic)
}

impl Lowering<'_> {
    /// A call of a primitive: its arguments, then the call in a block of its own, then what follows.
    pub(super) fn primitive(&mut self, expr: Expr, dest: VarId, ty: Option<&Type>) {
        let span = expr.span();
        let Expr::Call(mut call) = expr else { unreachable!("only calls are called") };
        let written: Vec<Expr> = call.args.iter().cloned().collect();
        let values = self.operand_list(written.clone());
        let args: Vec<Expr> = values
            .into_iter()
            .enumerate()
            .map(|(i, value)| self.gathered(value, &written[i], &written[i + 1..]))
            .collect();
        if self.cursor.is_none() {
            return;
        }
        call.func = Box::new(bare(&call.func).clone());
        call.args = args.into_iter().collect();
        let block = self.new_block(span, "primitive");
        self.jump(block);
        self.start(block);
        self.define(dest, ty, Expr::Call(call.clone()));
        let known = self.program.var(dest).ty.clone();
        let ty = ty.cloned().or(known);
        self.program.blocks[block.0].primitive = Some(Primitive { call, dest, ty });
        let after = self.new_block(span, "after primitive");
        self.jump(after);
        self.start(after);
    }

    /// An argument that can be evaluated when lanes are gathered, and not before `later` arguments.
    fn gathered(&mut self, value: Expr, written: &Expr, later: &[Expr]) -> Expr {
        if is_simple(self, &value) && (matches!(value, Expr::Reference(_)) || self.is_stable(&value, later)) {
            return value;
        }
        match value {
            Expr::Paren(e) => self.gathered(*e.expr, written, later),
            Expr::Reference(e) if e.mutability.is_none() && !self.reaches_shared(&e.expr) => {
                let value = self.in_variable("arg", *e.expr);
                parse_quote!(&#value)
            }
            other => {
                self.ask(written);
                self.in_variable("arg", other)
            }
        }
    }

    /// `model.rows[i]` behind a reference: taking a reference to it is not taking its value.
    fn reaches_shared(&self, expr: &Expr) -> bool {
        let expr = bare(expr);
        match expr {
            Expr::Path(_) => true,
            Expr::Field(e) => self.reaches_shared(&e.base),
            Expr::Index(e) => self.reaches_shared(&e.expr),
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)),
            _ => false,
        }
    }
}
