//! Adaptors of `Option`s of values as conditions.
//!
//! ```text
//! best.is_none_or(|b| t < b)       ──▶   if let Some(b) = best { t < b } else { true }
//! hit.map_or(-1.0, |h| h.t)        ──▶   if let Some(h) = hit { h.t } else { -1.0 }
//! (d >= 0.0).then(|| d.sqrt())     ──▶   if (d >= 0.0) { Some(d.sqrt()) } else { None }
//! if let Some(t) = { …; found } …  ──▶   { let it = { …; found }; if let Some(t) = it … }
//! ```
//!
//! Only what shows whether there is a value is rewritten: a variable, `Some(…)`, `None`, and code that ends with such. What another call
//! yields is left to it.
//!
//! **Invariant:** what is evaluated, and in which order, stays. A method is that of `Option`: rustc checks that no trait's comes before it.

use proc_macro2::Span;
use syn::{Block, Expr, ExprMethodCall, Ident, Member, Pat, Stmt, Type, parse_quote};

use crate::desugar::chain_loop::is_quiet;
use crate::desugar::chain_rounds::closure;
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::variant_tuples::may_be_value;
use crate::desugar::zeros::zero;
use crate::index::definitions::{argument, is_open};
use crate::resolve::types::{Scopes, Types};
use crate::syntax::mentions::{bare, name, tail};
use crate::syntax::standard_macros::Matches;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

/// The name of a value that is looked at.
const OPTIONAL: &str = "__optional";

/// Rewrites a body's. Whether there were any.
pub(super) fn rewrite(
    body: &mut Block,
    scopes: &Scopes,
    types: &Types<'_>,
    checks: &mut HelperChecks,
) -> bool {
    let mut adaptors = Adaptors { scopes, types, checks, changed: false };
    adaptors.visit_block_mut(body);
    adaptors.changed
}

struct Adaptors<'a> {
    /// The types of variables.
    scopes: &'a Scopes,
    types: &'a Types<'a>,
    checks: &'a mut HelperChecks,
    changed: bool,
}

impl Adaptors<'_> {
    /// Whether an expression is an `Option` of a value.
    fn is_optional(&self, expr: &Expr) -> bool {
        let ty = self.types.of(self.scopes, expr).map(|ty| self.types.plain(&ty));
        let ty = ty.filter(|ty| self.types.definitions.is_the_librarys(ty, "Option"));
        ty.and_then(|ty| argument(&ty, 0)).is_some_and(|held| may_be_value(&held, self.types))
    }

    /// Whether code shows which variant it yields.
    fn shows(&self, expr: &Expr) -> bool {
        let of_block = |block: &Block| tail(block).is_some_and(|tail| self.shows(tail));
        match bare(expr) {
            Expr::Path(path) if path.path.is_ident("None") => true,
            Expr::Path(_) => name(bare(expr)).is_some() && self.is_optional(expr),
            Expr::Call(e) => {
                let is_some =
                    |path: &syn::ExprPath| path.path.segments.last().is_some_and(|s| s.ident == "Some");
                matches!(&*e.func, Expr::Path(path) if is_some(path))
            }
            Expr::If(e) => {
                e.else_branch.as_ref().is_some_and(|(_, e)| self.shows(e)) || of_block(&e.then_branch)
            }
            Expr::Match(e) => e.arms.iter().any(|arm| self.shows(&arm.body)),
            Expr::Block(e) => e.label.is_none() && e.attrs.is_empty() && of_block(&e.block),
            _ => false,
        }
    }

    /// The condition that a method call is.
    fn call(&mut self, e: &ExprMethodCall) -> Option<Expr> {
        let args: Vec<&Expr> = e.args.iter().collect();
        let (name, some) = (e.method.to_string(), some());
        if e.turbofish.is_some() || !e.attrs.is_empty() {
            return None;
        }
        match (name.as_str(), &args[..]) {
            ("then", [f]) if self.is_bool(&e.receiver) => {
                let value = called(f)?;
                let condition = &e.receiver;
                return Some(
                    parse_quote!(if #condition { #some(#value) } else { ::core::option::Option::None }),
                );
            }
            ("then_some", [value]) if self.is_bool(&e.receiver) && is_quiet(value) => {
                let condition = &e.receiver;
                return Some(
                    parse_quote!(if #condition { #some(#value) } else { ::core::option::Option::None }),
                );
            }
            _ => {}
        }
        if !self.shows(&e.receiver) || !self.is_optional(&e.receiver) {
            return None;
        }
        let ty = self.types.plain(&self.types.of(self.scopes, &e.receiver)?);
        let held = argument(&ty, 0)?;
        let it = Ident::new("__it", Span::mixed_site());
        // What is done with a value, with its pattern, and without one.
        let (pat, with, without): (Pat, Expr, Expr) = match (name.as_str(), &args[..]) {
            ("is_some", []) => (parse_quote!(_), parse_quote!(true), parse_quote!(false)),
            ("is_none", []) => (parse_quote!(_), parse_quote!(false), parse_quote!(true)),
            ("unwrap", []) => {
                let none = parse_quote!(::core::panic!("called `Option::unwrap()` on a `None` value"));
                (parse_quote!(#it), parse_quote!(#it), none)
            }
            ("expect", [message]) if is_quiet(message) => {
                (parse_quote!(#it), parse_quote!(#it), parse_quote!(::core::panic!("{}", #message)))
            }
            ("unwrap_or", [other]) if is_quiet(other) => {
                (parse_quote!(#it), parse_quote!(#it), (*other).clone())
            }
            ("unwrap_or_default", []) if !is_open(&held) => {
                (parse_quote!(#it), parse_quote!(#it), zero_of_number(&held, self.types)?)
            }
            ("unwrap_or_else", [other]) => (parse_quote!(#it), parse_quote!(#it), called(other)?),
            ("or", [other]) if is_quiet(other) => {
                (parse_quote!(#it), parse_quote!(#some(#it)), (*other).clone())
            }
            ("or_else", [other]) => (parse_quote!(#it), parse_quote!(#some(#it)), called(other)?),
            ("map_or", [other, f]) if is_quiet(other) => {
                let (pat, with) = with_value(f, &it)?;
                (pat, with, (*other).clone())
            }
            ("map_or_else", [other, f]) => {
                let (pat, with) = with_value(f, &it)?;
                (pat, with, called(other)?)
            }
            ("is_some_and", [f]) => {
                let (pat, with) = with_value(f, &it)?;
                (pat, with, parse_quote!(false))
            }
            ("is_none_or", [f]) => {
                let (pat, with) = with_value(f, &it)?;
                (pat, with, parse_quote!(true))
            }
            ("map", [f]) => {
                let (pat, with) = with_value(f, &it)?;
                (pat, parse_quote!(#some(#with)), parse_quote!(::core::option::Option::None))
            }
            ("and_then", [f]) => {
                let (pat, with) = with_value(f, &it)?;
                (pat, with, parse_quote!(::core::option::Option::None))
            }
            ("filter", [f]) => {
                let (Pat::Reference(pat), test) = with_value(f, &it)? else { return None };
                let (pat, none) = (&pat.pat, quote::quote!(::core::option::Option::None));
                let with = parse_quote!({ let #pat = #it; if #test { #some(#it) } else { #none } });
                (parse_quote!(#it), with, parse_quote!(#none))
            }
            _ => return None,
        };
        // Methods that take references come behind a trait's that take values.
        if name.starts_with("is_") && args.is_empty() {
            if walk::any(&ty, |at| matches!(at, At::Type(ty) if is_open(ty) || matches!(ty, Type::Infer(_))))
            {
                return None;
            }
            self.checks.finds_nothing(&e.method, vec![ty]);
        }
        Some(self.conditional(&e.receiver, &pat, &with, &without))
    }

    fn is_bool(&self, expr: &Expr) -> bool {
        self.types
            .of(self.scopes, expr)
            .is_some_and(|ty| matches!(&ty, Type::Path(p) if p.path.is_ident("bool")))
    }

    /// `if let Some(pat) = of { with } else { without }`
    fn conditional(&mut self, of: &Expr, pat: &Pat, with: &Expr, without: &Expr) -> Expr {
        let some = some();
        let of = bare(of);
        match name(of) {
            Some(_) => parse_quote!(if let #some(#pat) = #of { #with } else { #without }),
            None => {
                let it = Ident::new(OPTIONAL, Span::mixed_site());
                parse_quote!({ let #it = #of; if let #some(#pat) = #it { #with } else { #without } })
            }
        }
    }

    /// Gives a name to a value that is looked at, if it is no variable and shows what it is.
    fn named(&mut self, value: &mut Expr) -> Option<Stmt> {
        if name(bare(value)).is_some() || !self.shows(value) || !self.is_optional(value) {
            return None;
        }
        self.changed = true;
        let it = Ident::new(OPTIONAL, Span::mixed_site());
        let stmt = parse_quote!(let #it = #value;);
        *value = parse_quote!(#it);
        Some(stmt)
    }
}

/// Makes a field of a value one of what its branches yield.
fn of_tails(value: &mut Expr, member: &Member) {
    let of_block = |block: &mut Block| {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            of_tails(tail, member);
        }
    };
    match value {
        Expr::Paren(e) => of_tails(&mut e.expr, member),
        Expr::Block(e) => of_block(&mut e.block),
        Expr::If(e) => {
            of_block(&mut e.then_branch);
            e.else_branch.iter_mut().for_each(|(_, otherwise)| of_tails(otherwise, member));
        }
        // A panic.
        Expr::Macro(_) => {}
        other => *other = parse_quote!((#other).#member),
    }
}

impl VisitMut for Adaptors<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.visit_stmt_mut(&mut stmt);
            if let Stmt::Local(local) = &mut stmt
                && let Some(init) = local.init.as_mut().filter(|init| init.diverge.is_some())
            {
                stmts.extend(self.named(&mut init.expr));
            }
            // What has got a name is a statement before.
            let value = match &mut stmt {
                Stmt::Local(local) => local.init.as_mut().map(|init| &mut *init.expr),
                Stmt::Expr(e, _) => Some(e),
                _ => None,
            };
            if let Some(value) = value
                && let Expr::Block(e) = value
                && let [Stmt::Local(local), Stmt::Expr(tail, None)] = &e.block.stmts[..]
                && matches!(&local.pat, Pat::Ident(p) if p.ident == OPTIONAL)
            {
                stmts.push(Stmt::Local(local.clone()));
                *value = tail.clone();
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_of_call = matches!(expr, Expr::Field(e) if matches!(bare(&e.base), Expr::MethodCall(_)));
        visit_mut::visit_expr_mut(self, expr);
        let before = match expr {
            Expr::Field(e) if is_of_call && !matches!(bare(&e.base), Expr::MethodCall(_)) => {
                let mut value = (*e.base).clone();
                of_tails(&mut value, &e.member);
                *expr = value;
                return;
            }
            Expr::MethodCall(e) => {
                if let Some(condition) = self.call(e) {
                    self.changed = true;
                    *expr = condition;
                }
                return;
            }
            Expr::Macro(m) if m.mac.path.is_ident("matches") && !self.types.definitions.means("matches") => {
                if let Ok(Matches { value, pat, guard }) = m.mac.parse_body()
                    && name(bare(&value)).is_some()
                    && let Some(ty) = self.types.of(self.scopes, &value)
                    && self.types.definitions.variants(&ty).is_some()
                {
                    self.changed = true;
                    let guard = guard.unwrap_or_else(|| parse_quote!(true));
                    *expr = parse_quote!(match #value { #pat => #guard, _ => false });
                }
                return;
            }
            Expr::If(e) => first_let(&mut e.cond).and_then(|value| self.named(value)),
            Expr::Match(e) => self.named(&mut e.expr),
            Expr::While(e) => {
                let Some(before) = first_let(&mut e.cond).and_then(|value| self.named(value)) else { return };
                let (label, cond, body) = (&e.label, &e.cond, &e.body);
                *expr = parse_quote!(#label loop { #before if #cond #body else { break; } });
                return;
            }
            _ => None,
        };
        if let Some(before) = before {
            *expr = parse_quote!({ #before #expr });
        }
    }

    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn some() -> Expr {
    parse_quote!(::core::option::Option::Some)
}

/// The value of the pattern with which a condition begins.
fn first_let(cond: &mut Expr) -> Option<&mut Expr> {
    match cond {
        Expr::Let(e) => Some(&mut e.expr),
        Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_)) => first_let(&mut e.left),
        _ => None,
    }
}

/// What a closure, or a function, makes of a value: its pattern, and the code.
fn with_value(f: &Expr, it: &Ident) -> Option<(Pat, Expr)> {
    if let Expr::Path(path) = bare(f) {
        return (path.path.segments.len() > 1).then(|| (parse_quote!(#it), parse_quote!(#path(#it))));
    }
    let closure = closure(bare(f))?;
    let (1, pat) = (closure.inputs.len(), closure.inputs.first()?) else { return None };
    match pat {
        Pat::Type(p) => {
            let (body, inner, ty) = (&closure.body, &p.pat, &p.ty);
            Some((parse_quote!(#it), parse_quote!({ let #inner: #ty = #it; #body })))
        }
        pat => Some((pat.clone(), (*closure.body).clone())),
    }
}

/// What a closure without parameters yields.
fn called(f: &Expr) -> Option<Expr> {
    let closure = closure(bare(f))?;
    closure.inputs.is_empty().then(|| (*closure.body).clone())
}

/// What `Default` yields, of a number.
fn zero_of_number(ty: &Type, types: &Types<'_>) -> Option<Expr> {
    crate::std_models::pure::is_primitive(ty).then(|| zero(ty, types.definitions)).flatten()
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;
    use crate::resolve::resolution::VariableTypes;
    use crate::resolve::variables;
    use crate::syntax::mentions::text;

    /// The body of a function with these statements.
    fn rewritten(body: TokenStream) -> String {
        let definitions = Definitions::default();
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let function = functions(quote!(fn f(x: f64, o: Option<f64>) -> f64 { #body })).remove(0);
        let scopes = variables::types(&function, &VariableTypes::new(), &types);
        let mut body = function.body.clone();
        rewrite(&mut body, &scopes, &types, &mut HelperChecks::default());
        text(&body).replace("__", "")
    }

    #[test]
    fn adaptors_are_conditions() {
        for (body, expected) in [
            (
                quote!(o.is_none_or(|b| x < b)),
                quote!({ if let ::core::option::Option::Some(b) = o { x < b } else { true } }),
            ),
            (
                quote!(o.map_or(1.0, f64::sqrt)),
                quote!({ if let ::core::option::Option::Some(it) = o { f64::sqrt(it) } else { 1.0 } }),
            ),
            (
                quote!((x > 0.0).then(|| x * 2.0).unwrap_or(3.0)),
                quote!({
                    let optional = if (x > 0.0) {
                        ::core::option::Option::Some(x * 2.0)
                    } else {
                        ::core::option::Option::None
                    };
                    if let ::core::option::Option::Some(it) = optional { it } else { 3.0 }
                }),
            ),
            (
                quote!(o.filter(|&v| v > x).expect("it is there")),
                quote!({
                    let optional = if let ::core::option::Option::Some(it) = o {
                        {
                            let v = it;
                            if v > x {
                                ::core::option::Option::Some(it)
                            } else {
                                ::core::option::Option::None
                            }
                        }
                    } else {
                        ::core::option::Option::None
                    };
                    if let ::core::option::Option::Some(it) = optional {
                        it
                    } else {
                        ::core::panic!("{}", "it is there")
                    }
                }),
            ),
            (
                quote!(if let Some(v) = (if x > 1.0 { Some(x) } else { None }) { v } else { 1.0 }),
                quote!({
                    let optional = (if x > 1.0 { Some(x) } else { None });
                    if let Some(v) = optional { v } else { 1.0 }
                }),
            ),
        ] {
            assert_eq!(rewritten(body), text(&expected));
        }
    }

    #[test]
    fn other_calls_stay() {
        for body in [
            quote!(x.checked(o).map_or(1.0, |v| v)),
            quote!(o.map_or(g(x), |v| v)),
            quote!(o.map_or(1.0, |v| {
                return v;
            })),
            quote!(o.zip(o).map_or(1.0, |v| v.0)),
            quote!(o.iter().copied().next().unwrap_or(1.0)),
        ] {
            assert_eq!(rewritten(body.clone()), text(&quote!({ #body })));
        }
    }
}
