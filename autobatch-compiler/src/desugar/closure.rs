//! A closure that is called where it stands, as code.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Lifetime, Macro, Pat, UnOp, parse_quote};

use super::Rewrite;
use crate::formats;
use crate::mentions::{is_variable, replace_in_macro, spell_out_fields};

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
    match callee {
        Expr::Paren(e) => apply(rewrite, &e.expr, args),
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
    let plain = closure.asyncness.is_none()
        && closure.constness.is_none()
        && closure.lifetimes.is_none()
        && closure.attrs.is_empty();
    if !plain || closure.inputs.len() != args.len() {
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

/// Whether a pattern binds no more than a name, or nothing.
fn is_name(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none(),
        other => matches!(other, Pat::Wild(_)),
    }
}

/// Puts a place in the place of a reference to it; where a format string names that, it is still to be bound.
fn stand_in(body: &mut Expr, name: &Ident, place: Expr, mutable: bool) -> Option<syn::Stmt> {
    let reference: Expr = if mutable { parse_quote!(&mut #place) } else { parse_quote!(&#place) };
    let binding = parse_quote!(let #name = #reference;);
    let mut stand_in = StandIn { name: name.to_string(), place, reference, captured: false };
    stand_in.visit_expr_mut(body);
    stand_in.captured.then_some(binding)
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

/// A closure's body that it leaves early, as a block.
pub(super) fn returning_to(label: &Lifetime, krate: &syn::Path, mut body: Expr) -> Expr {
    Returns { label, krate }.visit_expr_mut(&mut body);
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
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= match expr {
                Expr::Assign(_) => true,
                Expr::Binary(e) => crate::lockstep::is_compound(&e.op),
                Expr::Reference(e) => e.mutability.is_some(),
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let mut scan = Scan(false);
    scan.visit_expr(body);
    scan.0
}

/// Whether a closure's body leaves the closure before its end.
pub(super) fn leaves(body: &Expr) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Return(_) | Expr::Try(_) => self.0 = true,
                Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
                _ => visit::visit_expr(self, expr),
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scan = Scan(false);
    scan.visit_expr(body);
    scan.0
}

/// `return` and `?` of a closure as jumps to its end.
struct Returns<'a> {
    label: &'a Lifetime,
    krate: &'a syn::Path,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => return,
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        let (label, krate) = (self.label, self.krate);
        match expr {
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
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Puts `&place`, or `&mut place`, in the place of a variable, and `place` in the place of what it refers to: such a reference is
/// made anew wherever it is used, and need not be kept over a call.
struct StandIn {
    name: String,
    place: Expr,
    reference: Expr,
    /// Whether a format string names the variable.
    captured: bool,
}

impl VisitMut for StandIn {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let place = &self.place;
        match expr {
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && is_variable(&e.expr, &self.name) => {
                *expr = place.clone();
            }
            Expr::Field(e) if is_variable(&e.base, &self.name) => *e.base = place.clone(),
            Expr::Struct(e) => {
                spell_out_fields(e);
                visit_mut::visit_expr_mut(self, expr);
            }
            other if is_variable(other, &self.name) => {
                let reference = &self.reference;
                *other = parse_quote!((#reference));
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        self.captured |= formats::capture(mac, &self.name);
        replace_in_macro(mac, &self.name, &self.reference.to_token_stream());
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
