//! A closure that is called where it stands, as code.

use quote::ToTokens;
use syn::{Expr, Ident, Lifetime, Pat, Type, UnOp, parse_quote};

use crate::desugar::rewrite::Rewrite;
use crate::syntax::macro_variables;
use crate::syntax::mentions::{self, assignment, bare_type, is_variable, replace_in_macro, spell_out_fields};
use crate::syntax::walk::{self, At, AtMut, Next};

/// What a closure is called with.
#[derive(Clone)]
pub(super) enum Arg {
    /// A variable's value.
    Value(Ident),
    /// A reference to a variable.
    Ref(Ident),
    /// One to change it.
    Mut(Ident),
}

impl Arg {
    fn expr(&self) -> Expr {
        match self {
            Arg::Value(ident) => parse_quote!(#ident),
            Arg::Ref(ident) => parse_quote!(&#ident),
            Arg::Mut(ident) => parse_quote!(&mut #ident),
        }
    }
}

/// The call of `callee`, a closure or the path of a function, with `args`; `None` if it is something else, or a
/// closure that can't be called in place.
pub(super) fn apply(rewrite: &mut Rewrite<'_>, callee: &Expr, args: &[Arg]) -> Option<Expr> {
    match mentions::bare(callee) {
        Expr::Closure(closure) => in_place(rewrite, closure, args),
        Expr::Path(path) => {
            // A local may be a closure that changes what it has captured, which takes more than a call.
            let local = path.path.get_ident().is_some_and(|i| rewrite.bindings.contains(&i.to_string()));
            let args = args.iter().map(Arg::expr);
            (!local).then(|| parse_quote!(#path(#(#args),*)))
        }
        _ => None,
    }
}

fn in_place(rewrite: &mut Rewrite<'_>, closure: &syn::ExprClosure, args: &[Arg]) -> Option<Expr> {
    if !is_plain(closure) || closure.inputs.len() != args.len() {
        return None;
    }
    let mut body = standing((*closure.body).clone());
    if closure.capture.is_some() && changes(&body) {
        return None;
    }
    let mut lets: Vec<syn::Stmt> = Vec::new();
    for (pat, arg) in closure.inputs.iter().zip(args) {
        match (bare(pat), arg) {
            (Pat::Reference(p), Arg::Ref(ident)) if p.mutability.is_none() => {
                // What `&pat` binds is copied.
                let pat = &p.pat;
                lets.push(parse_quote!(let #pat = #ident;));
            }
            (Pat::Wild(_), _) => {}
            (pat @ Pat::Ident(p), Arg::Ref(ident)) if is_name(pat) => {
                lets.extend(stand_in(&mut body, &p.ident, parse_quote!(#ident), false));
            }
            (pat @ Pat::Ident(p), Arg::Mut(ident)) if is_name(pat) => {
                lets.extend(stand_in(&mut body, &p.ident, parse_quote!(#ident), true));
            }
            // The parts of a tuple.
            (Pat::Tuple(p), Arg::Ref(ident)) if p.elems.iter().all(is_name) => {
                for (index, part) in p.elems.iter().enumerate() {
                    if let Pat::Ident(p) = part {
                        let index = syn::Index::from(index);
                        lets.extend(stand_in(&mut body, &p.ident, parse_quote!(#ident.#index), false));
                    }
                }
            }
            (_, arg) => {
                let value = arg.expr();
                lets.push(parse_quote!(let #pat = #value;));
            }
        }
    }
    if leaves(&body) {
        let label = rewrite.fresh_label("closure");
        body = returning_to(&label, rewrite.krate, body);
    }
    if let syn::ReturnType::Type(_, ty) = &closure.output {
        let value = rewrite.fresh("returned");
        body = parse_quote!({ let #value: #ty = #body; #value });
    }
    Some(if lets.is_empty() { body } else { parse_quote!({ #(#lets)* #body }) })
}

/// Whether a closure is no more than parameters and a body.
pub(super) fn is_plain(closure: &syn::ExprClosure) -> bool {
    closure.asyncness.is_none()
        && closure.constness.is_none()
        && closure.lifetimes.is_none()
        && closure.attrs.is_empty()
}

/// Whether a pattern binds no more than a name, or nothing.
fn is_name(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none(),
        other => matches!(other, Pat::Wild(_)),
    }
}

/// Puts `&place`, or `&mut place`, in the place of a variable, and `place` in the place of what it refers to: such a reference is
/// made anew wherever it is used, and need not be kept over a call. Where a format string names it, it is still to be bound.
fn stand_in(body: &mut Expr, name: &Ident, place: Expr, mutable: bool) -> Option<syn::Stmt> {
    let reference: Expr = if mutable { parse_quote!(&mut #place) } else { parse_quote!(&#place) };
    let binding = parse_quote!(let #name = #reference;);
    let name = name.to_string();
    let mut captured = false;
    walk::map(body, |at| match at {
        AtMut::Expr(expr) => {
            match expr {
                Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && is_variable(&e.expr, &name) => {
                    *expr = place.clone();
                }
                Expr::Field(e) if is_variable(&e.base, &name) => *e.base = place.clone(),
                Expr::Struct(e) => {
                    spell_out_fields(e);
                    return Next::On;
                }
                other if is_variable(other, &name) => *other = parse_quote!((#reference)),
                _ => return Next::On,
            }
            Next::Past
        }
        AtMut::Macro(mac) => {
            captured |= macro_variables::capture(mac, &name);
            replace_in_macro(mac, &name, &reference.to_token_stream());
            Next::Past
        }
        _ => Next::On,
    });
    captured.then_some(binding)
}

/// An expression as it can stand where a statement or an arm begins: `{ … } + 1` would end behind the block.
pub(super) fn standing(expr: Expr) -> Expr {
    fn begins_with_block(expr: &Expr) -> bool {
        match expr {
            Expr::Block(_) | Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::Unsafe(_) => true,
            Expr::While(_) | Expr::ForLoop(_) => true,
            Expr::Binary(e) => begins_with_block(&e.left),
            Expr::Assign(e) => begins_with_block(&e.left),
            Expr::Cast(e) => begins_with_block(&e.expr),
            Expr::MethodCall(e) => begins_with_block(&e.receiver),
            Expr::Field(e) => begins_with_block(&e.base),
            Expr::Index(e) => begins_with_block(&e.expr),
            Expr::Try(e) => begins_with_block(&e.expr),
            Expr::Call(e) => begins_with_block(&e.func),
            Expr::Range(e) => e.start.as_ref().is_some_and(|e| begins_with_block(e)),
            _ => false,
        }
    }
    match expr {
        Expr::Block(_) | Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::Unsafe(_) => expr,
        other if begins_with_block(&other) => parse_quote!((#other)),
        other => other,
    }
}

/// A closure's body that it leaves early, as a block: `return` and `?` jump to its end.
pub(super) fn returning_to(label: &Lifetime, krate: &syn::Path, mut body: Expr) -> Expr {
    walk::map(&mut body, |at| {
        let AtMut::Expr(expr) = at else { return Next::On };
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => return Next::Past,
            Expr::Return(e) => {
                let value = e.expr.take().unwrap_or_else(|| parse_quote!(()));
                *expr = parse_quote!(break #label #value);
            }
            Expr::Try(e) => {
                let inner = &e.expr;
                let value = Ident::new("__output", proc_macro2::Span::mixed_site());
                let rest = Ident::new("__residual", proc_macro2::Span::mixed_site());
                *expr = parse_quote!(match #krate::__rt::Question::branch(#inner) {
                    ::core::ops::ControlFlow::Continue(#value) => #value,
                    ::core::ops::ControlFlow::Break(#rest) =>
                        break #label #krate::__rt::FromResidual::from_residual(#rest),
                });
            }
            _ => {}
        }
        Next::On
    });
    parse_quote!(#label: { #body })
}

/// A pattern without its type.
fn bare(pat: &Pat) -> &Pat {
    match pat {
        Pat::Type(t) => bare(&t.pat),
        Pat::Paren(p) => bare(&p.pat),
        other => other,
    }
}

/// Whether a `move` closure changes something, which may be its own copy of a variable.
pub(super) fn changes(body: &Expr) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Reference(e)) => e.mutability.is_some(),
        At::Expr(e) => assignment(e).is_some(),
        _ => false,
    })
}

/// Whether a closure's body leaves the closure before its end.
pub(super) fn leaves(body: &Expr) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Return(_) | Expr::Try(_)) => Next::Found,
        At::Expr(Expr::Closure(_) | Expr::Async(_) | Expr::Const(_)) => Next::Past,
        _ => Next::On,
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrapper {
    Option,
    Result,
}

impl Wrapper {
    /// What a type is by name.
    pub(super) fn of(ty: &Type) -> Option<Wrapper> {
        match bare_type(ty) {
            Type::Path(p) => match p.path.segments.last()?.ident.to_string().as_str() {
                "Option" => Some(Wrapper::Option),
                "Result" => Some(Wrapper::Result),
                _ => None,
            },
            _ => None,
        }
    }
}
