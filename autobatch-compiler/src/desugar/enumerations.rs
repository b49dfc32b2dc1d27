//! Variables of an enumeration as tuples: the number of the variant, and the fields of all variants. Scalar replacement takes the tuples
//! apart, so that they are columns of vectors, and a `match` is a choice by number.
//!
//! ```text
//! let mut best = None;                             let mut best: (u64, f64) = (0u64, 0.0);
//! if let Some(b) = best && b <= t { … }     ──▶    if best.0 == 1u64 && best.1 <= t { let b = best.1; … }
//! best = Some(t);                                  best = (1u64, t);
//! found(best)                                      found(if best.0 == 1u64 { Some(best.1) } else { None })
//! ```
//!
//! A variable stays what it is if something refers to it, or takes it as it is: `&best`, a method, a closure, a macro, `?`.
//!
//! **Invariant:** the numbers are the places of variants in the definition, in no other code. The enumeration is `Copy`, so nothing is
//! dropped; rustc checks that.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{BinOp, Block, Expr, ExprMatch, Ident, Local, Pat, Stmt, Type, parse_quote};

use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::option_adaptors;
use crate::desugar::variant_patterns::{Matched, Row, put_in, way, with_lets};
use crate::desugar::variant_tuples::Enumeration;
use crate::index::definitions::type_argument;
use crate::item::model::{Function, Passing, rebind};
use crate::resolve::resolution::VariableTypes;
use crate::resolve::types::{Scopes, Types};
use crate::resolve::variables;
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{
    self, assignment, bare, has_let, idents, name, spell_out_fields, text, typed, untyped, words,
    words_and_suffixes,
};
use crate::syntax::standard_macros::panics;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Next};

/// Makes tuples of the variables of a function. Whether there are any. `done` are parameters that have been dealt with.
pub(super) fn rewrite(
    function: &mut Function,
    known: &VariableTypes,
    types: &Types<'_>,
    done: &mut BTreeSet<String>,
    checks: &mut HelperChecks,
) -> bool {
    let mut body = function.body.clone();
    let mut scopes = variables::types(function, known, types);
    learn(&mut scopes, &body, types);
    if option_adaptors::rewrite(&mut body, &scopes, types, checks) {
        rebind(function, body);
        scopes = variables::types(function, known, types);
        learn(&mut scopes, &function.body, types);
    }
    let mut variables = candidates(function, &scopes, types);
    variables.retain(|name, _| !done.contains(name));
    while !variables.is_empty() {
        let mut body = function.body.clone();
        let (unfit, looked_at) = (BTreeSet::new(), BTreeSet::new());
        let mut tuples = Tuples { variables: &variables, types, unfit, looked_at };
        tuples.visit_block_mut(&mut body);
        let Tuples { mut unfit, looked_at, .. } = tuples;
        // What is only handed on costs nothing as a whole.
        unfit.extend(variables.keys().filter(|name| !looked_at.contains(*name)).cloned());
        if !unfit.is_empty() {
            variables.retain(|name, _| !unfit.contains(name));
            continue;
        }
        let mut params: Vec<Stmt> = Vec::new();
        for param in &function.params {
            let Some(of) = variables.get(&param.ident.to_string()) else { continue };
            let ident = &param.ident;
            let Some(tuple) = of.matched(&parse_quote!(#ident), types) else { return false };
            let mutability = param.mutable.then(<syn::Token![mut]>::default);
            let pat = with_type(parse_quote!(#mutability #ident), of);
            params.push(parse_quote!(let #pat = #tuple;));
            done.insert(ident.to_string());
        }
        body.stmts.splice(0..0, params);
        for of in variables.values() {
            match type_argument(&of.ty, 0) {
                Some(_) => checks.is_option(),
                None => checks.is_copy(&of.ty),
            }
        }
        rebind(function, body);
        return true;
    }
    false
}

/// Adds the types of variables that begin with `None`, or without a value: those of what they are given.
fn learn(scopes: &mut Scopes, body: &Block, types: &Types<'_>) {
    let mut found = BTreeMap::new();
    walk::each(body, |at| {
        if let At::Expr(expr) = at
            && let Some((place, value)) = assignment(expr)
            && let Some(variable) = name(bare(place))
            && scopes[0].get(&variable).is_some_and(Option::is_none)
            && let Some(ty) = types.certain(scopes, value)
        {
            found.entry(variable).or_insert(Some(ty));
        }
    });
    scopes[0].extend(found);
}

/// The variables of enumerations.
fn candidates(function: &Function, scopes: &Scopes, types: &Types<'_>) -> BTreeMap<String, Enumeration> {
    // As wide as what they choose between. Beside narrow floats sizes are indices.
    let tokens = [function.sig.to_token_stream(), function.body.to_token_stream()];
    let words: BTreeSet<String> = tokens.into_iter().flat_map(words_and_suffixes).collect();
    let names = |types: &[&str]| types.iter().any(|ty| words.contains(*ty));
    let wide = names(&["f64", "u64", "i64"]) || names(&["usize", "isize"]) && !names(&["f32"]);
    let number: Type = if wide { parse_quote!(u64) } else { parse_quote!(u32) };
    let mut found = BTreeMap::new();
    let mut add = |ident: &Ident, is_certain: bool| {
        let name = ident.to_string();
        let ty = scopes.iter().find_map(|scope| scope.get(&name)).and_then(Option::as_ref);
        if is_certain
            && let Some(of) = ty.and_then(|ty| Enumeration::of(ty, &number, types))
            && !function.hides(&of.ty)
            && of.variants.iter().all(|variant| function.sees(&variant.name))
        {
            found.insert(name, of);
        }
    };
    walk::each(&function.body, |at| {
        if let At::Local(Local { attrs, pat, init, .. }) = at
            && let Pat::Ident(p) = untyped(pat)
            && p.by_ref.is_none()
            && p.subpat.is_none()
            && attrs.is_empty()
            && init.as_ref().is_none_or(|init| init.diverge.is_none())
        {
            let is_written = matches!(pat, Pat::Type(_));
            let is_certain = |init: &syn::LocalInit| {
                types.of(scopes, &init.expr).is_none() || types.certain(scopes, &init.expr).is_some()
            };
            add(&p.ident, is_written || init.as_ref().is_none_or(is_certain));
        }
    });
    for param in &function.params {
        if param.passing == Passing::Each && param.pattern.is_none() {
            add(&param.ident, true);
        }
    }
    found
}

/// A pattern with the type of the tuples, if it is known.
fn with_type(pat: Pat, of: &Enumeration) -> Pat {
    match &of.tuple {
        Some(ty) => typed(pat, ty.clone()),
        None => pat,
    }
}

/// Puts tuples in the place of variables.
struct Tuples<'a> {
    variables: &'a BTreeMap<String, Enumeration>,
    types: &'a Types<'a>,
    /// The variables that something refers to, or whose values can't be told.
    unfit: BTreeSet<String>,
    /// Those of which something asks for the variant.
    looked_at: BTreeSet<String>,
}

impl<'a> Tuples<'a> {
    /// The variable, and its enumeration.
    fn variable(&self, expr: &Expr) -> Option<(Ident, &'a Enumeration)> {
        let Expr::Path(path) = bare(expr) else { return None };
        let ident = path.path.get_ident().filter(|_| path.qself.is_none())?;
        Some((ident.clone(), self.variables.get(&ident.to_string())?))
    }

    /// The variables that are matched: one, or those in a tuple.
    fn matched(&self, expr: &Expr) -> Option<Matched<'a>> {
        let (variables, is_tuple) = match bare(expr) {
            Expr::Tuple(e) if !e.elems.is_empty() => {
                (e.elems.iter().map(|e| self.variable(e)).collect(), true)
            }
            expr => (self.variable(expr).map(|one| vec![one]), false),
        };
        Some(Matched { variables: variables?, is_tuple })
    }

    /// Notes that something asks for the variants of variables.
    fn looks_at(&mut self, matched: &Matched<'_>) {
        self.looked_at.extend(matched.variables.iter().map(|(variable, _)| variable.to_string()));
    }

    /// Makes a tuple of a value.
    fn value(&mut self, expr: &mut Expr, variable: &str, of: &Enumeration) {
        match expr {
            Expr::Paren(e) => return self.value(&mut e.expr, variable, of),
            Expr::Group(e) => return self.value(&mut e.expr, variable, of),
            Expr::If(e) if e.else_branch.is_some() => {
                let lets = self.condition(&mut e.cond);
                self.block(&mut e.then_branch, variable, of);
                with_lets(&mut e.then_branch, &lets);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.value(otherwise, variable, of);
                }
                return;
            }
            Expr::Match(e) => {
                let chosen = self.arms(e, &mut |own, body| own.value(body, variable, of));
                chosen.into_iter().for_each(|chosen| *expr = chosen);
                return;
            }
            Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => {
                return self.block(&mut e.block, variable, of);
            }
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => return self.visit_expr_mut(expr),
            Expr::Macro(e) if e.mac.path.get_ident().is_some_and(panics) => {
                return self.visit_expr_mut(expr);
            }
            Expr::Path(path) => {
                let is_own = self.variable(&Expr::Path(path.clone()));
                if let Some((own, _)) =
                    is_own.filter(|(_, own)| text(&own.ty) == text(&of.ty) && own.tuple.is_some())
                {
                    self.looked_at.insert(own.to_string());
                    return;
                }
            }
            _ => {}
        }
        let made = match of.made(expr, self.types) {
            Some((variant, mut fields)) => {
                fields.iter_mut().for_each(|field| self.visit_expr_mut(field));
                of.tuple_of(variant, &fields, self.types)
            }
            None => {
                self.visit_expr_mut(expr);
                of.matched(expr, self.types)
            }
        };
        match made {
            Some(tuple) => *expr = tuple,
            None => drop(self.unfit.insert(variable.to_owned())),
        }
    }

    /// Makes a tuple of what a block yields.
    fn block(&mut self, block: &mut Block, variable: &str, of: &Enumeration) {
        let tail = match block.stmts.pop() {
            Some(Stmt::Expr(tail, None)) => Some(tail),
            other => {
                block.stmts.extend(other);
                None
            }
        };
        self.visit_block_mut(block);
        if let Some(mut tail) = tail {
            self.value(&mut tail, variable, of);
            block.stmts.push(Stmt::Expr(tail, None));
        }
    }

    /// Rewrites a condition. What its patterns bind, with the places of the values.
    fn condition(&mut self, cond: &mut Expr) -> Vec<(syn::PatIdent, Expr)> {
        let mut lets = Vec::new();
        // What has been bound would change with the variable.
        if changes(cond) {
            walk::each(&*cond, |at| {
                if let At::Expr(Expr::Let(e)) = at {
                    let variables = self.matched(&e.expr).into_iter().flat_map(|matched| matched.variables);
                    self.unfit.extend(variables.map(|(variable, _)| variable.to_string()));
                }
            });
        }
        self.conditions(cond, &mut lets);
        lets
    }

    fn conditions(&mut self, cond: &mut Expr, lets: &mut Vec<(syn::PatIdent, Expr)>) {
        match cond {
            Expr::Binary(e) if matches!(e.op, BinOp::And(_)) => {
                self.conditions(&mut e.left, lets);
                self.conditions(&mut e.right, lets);
            }
            Expr::Let(e) => {
                let matched = self.matched(&e.expr);
                let row = matched.as_ref().and_then(|matched| Row::of(&e.pat, matched, self.types));
                match (matched, row) {
                    (Some(matched), Some(row)) => {
                        self.looks_at(&matched);
                        *cond = row.test.unwrap_or_else(|| parse_quote!(true));
                        lets.extend(row.lets);
                    }
                    (matched, _) => {
                        matched.iter().for_each(|matched| self.refers(&e.pat, matched));
                        self.visit_expr_mut(&mut e.expr);
                        put_in(&mut e.expr, lets);
                    }
                }
            }
            cond => {
                self.visit_expr_mut(cond);
                put_in(cond, lets);
            }
        }
    }

    /// Notes variables that a pattern refers to, to change them.
    fn refers(&mut self, pat: &Pat, matched: &Matched<'_>) {
        if walk::any(pat, |at| matches!(at, At::Pat(Pat::Ident(p)) if p.by_ref.is_some())) {
            self.unfit.extend(matched.variables.iter().map(|(variable, _)| variable.to_string()));
        }
    }

    /// Rewrites a `match`; `each` the bodies of its arms. What it becomes, if it is one of variables.
    fn arms(&mut self, e: &mut ExprMatch, each: &mut dyn FnMut(&mut Self, &mut Expr)) -> Option<Expr> {
        let matched = self.matched(&e.expr);
        let rows = matched.as_ref().and_then(|matched| {
            let last_is_plain = e.arms.last().is_some_and(|arm| !matches!(arm.pat, Pat::Guard(_)));
            // A tuple is a copy, which guards don't change with the variables.
            let stays = |arm: &syn::Arm| match &arm.pat {
                Pat::Guard(p) => !matched.is_tuple || !changes(&p.guard),
                _ => true,
            };
            let plain = last_is_plain && e.arms.iter().all(|arm| arm.attrs.is_empty() && stays(arm));
            let of_arm = |arm: &syn::Arm| Row::of(without_guard(&arm.pat), matched, self.types);
            e.arms.iter().map(of_arm).collect::<Option<Vec<Row>>>().filter(|_| plain)
        });
        let Some((matched, rows)) = matched.as_ref().zip(rows) else {
            if let Some(matched) = &matched {
                e.arms.iter().for_each(|arm| self.refers(&arm.pat, matched));
            }
            self.visit_expr_mut(&mut e.expr);
            for arm in &mut e.arms {
                if let Pat::Guard(p) = &mut arm.pat {
                    self.visit_expr_mut(&mut p.guard);
                }
                each(self, &mut arm.body);
            }
            return None;
        };
        self.looks_at(matched);
        let mut ways: Vec<(Option<Expr>, Block)> = Vec::new();
        let last = e.arms.len() - 1;
        for (nth, (arm, row)) in e.arms.iter_mut().zip(rows).enumerate() {
            let mut guard = match &mut arm.pat {
                Pat::Guard(p) => Some(std::mem::replace(&mut *p.guard, parse_quote!(true))),
                _ => None,
            };
            guard.iter_mut().for_each(|guard| self.visit_expr_mut(guard));
            each(self, &mut arm.body);
            let (test, block) = way(row.test, guard, &row.lets, &arm.body);
            // All values are taken, which rustc has checked.
            ways.push((test.filter(|_| nth < last), block));
        }
        Some(chosen(ways))
    }

    /// `v == Variant` of a variant without fields, and `v == w` where there are no fields at all, by their numbers.
    fn compared(&mut self, left: &Expr, right: &Expr) -> Option<(Expr, Expr)> {
        let (_, of) = self.variable(left).or_else(|| self.variable(right))?;
        let is_derived = match type_argument(&of.ty, 0) {
            Some(held) => is_primitive(held),
            None => self.types.definitions.is_compared(&of.ty),
        };
        let plain = of.variants.iter().all(|variant| variant.fields.is_empty());
        let number = |side: &Expr| -> Option<(Expr, bool)> {
            match self.variable(side) {
                Some((variable, own)) => {
                    (text(&own.ty) == text(&of.ty)).then(|| (parse_quote!(#variable.0), true))
                }
                None => {
                    let (variant, fields) = of.made(side, self.types)?;
                    fields.is_empty().then(|| (of.code(variant), false))
                }
            }
        };
        let ((left, is_left), (right, is_right)) = (number(left)?, number(right)?);
        if !is_derived || !plain && is_left && is_right {
            return None;
        }
        let sides = [&left, &right].into_iter().filter_map(mentions::root);
        self.looked_at.extend(sides.filter_map(name));
        Some((left, right))
    }
}

/// The first of some ways whose condition holds.
pub(super) fn chosen(mut ways: Vec<(Option<Expr>, Block)>) -> Expr {
    let mut otherwise: Option<Expr> = None;
    while let Some((test, block)) = ways.pop() {
        otherwise = Some(match (test, otherwise) {
            (None, _) => parse_quote!(#block),
            (Some(test), Some(otherwise)) => parse_quote!(if #test #block else #otherwise),
            (Some(test), None) => parse_quote!(if #test #block),
        });
    }
    otherwise.unwrap_or_else(|| parse_quote!({}))
}

pub(super) fn without_guard(pat: &Pat) -> &Pat {
    match pat {
        Pat::Guard(p) => &p.pat,
        pat => pat,
    }
}

/// Whether code assigns to something.
fn changes(code: &Expr) -> bool {
    walk::any(code, |at| matches!(at, At::Expr(e) if assignment(e).is_some()))
}

/// What an `if` is that yields `true` or `false` on one of its ways: an operator.
fn as_condition(e: &syn::ExprIf, lets: &[(syn::PatIdent, Expr)]) -> Option<Expr> {
    let only = |block: &Block| match &block.stmts[..] {
        [Stmt::Expr(value, None)] => Some(value.clone()),
        _ => None,
    };
    let constant = |expr: &Expr| match bare(expr) {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(value), .. }) => Some(value.value),
        _ => None,
    };
    let (cond, mut then) = (Some(&e.cond).filter(|cond| !has_let(cond))?, only(&e.then_branch)?);
    let otherwise = match bare(&e.else_branch.as_ref()?.1) {
        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => only(&e.block)?,
        _ => return None,
    };
    if changes(&then)
        || walk::any(&then, |at| matches!(at, At::Macro(_)))
        || lets.iter().any(|(pat, _)| pat.mutability.is_some())
    {
        return None;
    }
    put_in(&mut then, lets);
    Some(match (constant(&then), constant(&otherwise)) {
        (Some(true), Some(false)) => parse_quote!((#cond)),
        (Some(false), Some(true)) => parse_quote!((!(#cond))),
        (_, Some(false)) => parse_quote!(((#cond) && (#then))),
        (_, Some(true)) => parse_quote!((!(#cond) || (#then))),
        (Some(true), _) => parse_quote!(((#cond) || (#otherwise))),
        _ => return None,
    })
}

impl VisitMut for Tuples<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Stmt::Local(Local { pat, init: Some(init), .. }) = &stmt
                && let Some((_, diverge)) = &init.diverge
                && let Some(matched) = self.matched(&init.expr)
                && let Some(row) = Row::of(pat, &matched, self.types)
            {
                self.looks_at(&matched);
                let mut diverge = diverge.clone();
                self.visit_expr_mut(&mut diverge);
                if let Some(test) = row.test {
                    let stmts_of = match &*diverge {
                        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => &e.block.stmts[..],
                        _ => &[],
                    };
                    let (last, before) = match stmts_of.split_last() {
                        Some((Stmt::Expr(last, None), before)) => (Some(last), before),
                        _ => (None, stmts_of),
                    };
                    let last = last.iter();
                    stmts.push(parse_quote!(if !(#test) { #(#before)* #(#last;)* }));
                }
                stmts
                    .extend(row.lets.iter().map(|(pat, value)| -> Stmt { parse_quote!(let #pat = #value;) }));
                continue;
            }
            self.visit_stmt_mut(&mut stmt);
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Pat::Ident(p) = untyped(&local.pat)
            && let Some(of) = self.variables.get(&p.ident.to_string())
        {
            let (variable, pat) = (p.ident.to_string(), untyped(&local.pat).clone());
            if let Some(init) = &mut local.init {
                self.value(&mut init.expr, &variable, of);
            }
            local.pat = with_type(pat, of);
            return;
        }
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Assign(e) => {
                if let Some((variable, of)) = self.variable(&e.left) {
                    return self.value(&mut e.right, &variable.to_string(), of);
                }
            }
            Expr::Match(e) => {
                let chosen = self.arms(e, &mut |own, body| own.visit_expr_mut(body));
                chosen.into_iter().for_each(|chosen| *expr = chosen);
                return;
            }
            Expr::If(e) => {
                let lets = self.condition(&mut e.cond);
                self.visit_block_mut(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.visit_expr_mut(otherwise);
                }
                match as_condition(e, &lets) {
                    Some(condition) => *expr = condition,
                    None => with_lets(&mut e.then_branch, &lets),
                }
                return;
            }
            Expr::While(e) => {
                let lets = self.condition(&mut e.cond);
                self.visit_block_mut(&mut e.body);
                with_lets(&mut e.body, &lets);
                return;
            }
            Expr::Binary(e) if matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_)) => {
                if let Some((left, right)) = self.compared(&e.left, &e.right) {
                    (*e.left, *e.right) = (left, right);
                    return;
                }
            }
            Expr::Path(_) => {
                if let Some((variable, of)) = self.variable(expr) {
                    *expr = of.whole(&variable);
                }
                return;
            }
            Expr::Struct(e) => spell_out_fields(e),
            _ => {}
        }
        let referred = match expr {
            Expr::Reference(e) => Some(&*e.expr),
            Expr::RawAddr(e) => Some(&*e.expr),
            Expr::MethodCall(e) => Some(&*e.receiver),
            Expr::Try(e) => Some(&*e.expr),
            _ => None,
        };
        if let Some((variable, _)) = referred.and_then(|expr| self.variable(expr)) {
            self.unfit.insert(variable.to_string());
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        walk::each(&*closure.body, |at| {
            if let At::Expr(expr) = at {
                self.unfit.extend(self.variable(expr).map(|(variable, _)| variable.to_string()));
            }
            Next::On
        });
        visit_mut::visit_expr_closure_mut(self, closure);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        // Format strings name variables, too.
        let mentioned = idents(mac.tokens.clone()).iter().map(ToString::to_string).collect::<Vec<_>>();
        let words = text(&mac.tokens);
        let all = mentioned.into_iter().chain(self::words(&words).map(String::from));
        self.unfit.extend(all.filter(|word| self.variables.contains_key(word)));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;

    /// The body of a function with these statements, beside enumerations.
    fn tuples(body: TokenStream) -> String {
        let file: syn::File = parse_quote!(
            #[derive(Clone, Copy, PartialEq)]
            enum Mode {
                Up,
                Down,
                Stop,
            }
            #[derive(Clone, Copy)]
            enum Shape {
                Ball(f64),
                Box { w: f64, n: u32 },
            }
            #[derive(Clone, Copy)]
            struct Hit {
                t: f64,
                n: f64,
            }
            #[derive(Clone, PartialEq)]
            enum Owned {
                A,
                B,
            }
        );
        let mut definitions = Definitions::default();
        definitions.add(&file.items);
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let mut function = functions(quote!(fn f(x: f64) -> f64 { #body })).remove(0);
        let (mut done, mut checks) = (BTreeSet::new(), HelperChecks::default());
        rewrite(&mut function, &VariableTypes::new(), &types, &mut done, &mut checks);
        text(&function.body)
    }

    /// Code as rustfmt leaves it in these tests.
    fn plain(code: &str) -> String {
        code.replace(" ,)", ")").replace("} , }", "} }")
    }

    #[test]
    fn several_are_matched_at_once() {
        let two = quote!(
            let a: Option<f64> = if x < 1.0 { Some(x) } else { None };
            let b: Option<f64> = Some(x * x);
        );
        let found = tuples(quote!(#two match (a, b) {
            (Some(r), None) | (None, Some(r)) => r,
            (Some(p), Some(q)) if p < q => p,
            _ => 0.0,
        }));
        let (one, other) = (quote!(a.0 == 1u64 && b.0 == 0u64), quote!(a.0 == 0u64 && b.0 == 1u64));
        let (one, other) = (plain(&text(&one)), plain(&text(&other)));
        assert!(plain(&found).contains(&format!("if ({one} || {other})")), "{found}");
        let r = format!("let r = (if {one} {{ a . 1 }} else {{ b . 1 }}) ;");
        assert!(found.contains(&r), "{found}");
        assert!(found.contains("a . 0 == 1u64 && b . 0 == 1u64 && (a . 1 < b . 1)"), "{found}");
        // A pattern refers to the copy, or a guard changes the variable and not the copy.
        let kept = tuples(quote!(#two if let (Some(p), ref q) = (a, b) { p } else { x }));
        assert!(kept.contains("ref q"), "{kept}");
        let kept = tuples(
            quote!(#two match (a, b) { (Some(p), _) if { a = None; p < x } => p, (Some(q), _) => q, _ => x }),
        );
        assert!(kept.contains("match (") && !kept.contains("let q = a . 1"), "{kept}");
    }

    #[test]
    fn what_is_done_with_variants_is_done_with_numbers() {
        for (body, expected) in [
            (
                quote!(let mut mode = Mode::Up; mode = if x > 1.0 { Mode::Stop } else { return x }; while mode == Mode::Up {} x),
                quote!({
                    let mut mode: (u64,) = (0u64,);
                    mode = if x > 1.0 { (2u64,) } else { return x };
                    while mode.0 == 0u64 {}
                    x
                }),
            ),
            (
                quote!(let mode: Mode = Mode::Down; let other = mode; if other == mode && Mode::Up != mode { x } else { 1.0 }),
                quote!({
                    let mode: (u64,) = (1u64,);
                    let other: (u64,) = mode;
                    if other.0 == mode.0 && 0u64 != mode.0 { x } else { 1.0 }
                }),
            ),
            (
                quote!(let mode = Mode::Up; match mode { Mode::Up if x > 1.0 => 1.0, Mode::Up | Mode::Down => 2.0, Mode::Stop => 3.0 }),
                quote!({
                    let mode: (u64,) = (0u64,);
                    if mode.0 == 0u64 && (x > 1.0) {
                        1.0
                    } else if (mode.0 == 0u64 || mode.0 == 1u64) {
                        2.0
                    } else {
                        3.0
                    }
                }),
            ),
            (
                quote!(let mode = Mode::Up; if mode == Mode::Down { return x; } g(mode)),
                quote!({
                    let mode: (u64,) = (0u64,);
                    if mode.0 == 1u64 {
                        return x;
                    }
                    g((if mode.0 == 0u64 {
                        Mode::Up
                    } else {
                        if mode.0 == 1u64 { Mode::Down } else { Mode::Stop }
                    }))
                }),
            ),
            (
                quote!(let mut last: Option<Hit> = None; last = Some(hit(x)); match last { Some(Hit { t, .. }) if t > x => t, Some(h) => h.n, None => x }),
                quote!({
                    let mut last: (u64, f64, f64) = (0u64, (0u8 as f64), (0u8 as f64));
                    last = {
                        let __field_0: Hit = hit(x);
                        (1u64, __field_0.t, __field_0.n)
                    };
                    if last.0 == 1u64 && (last.1 > x) {
                        let t = last.1;
                        t
                    } else if last.0 == 1u64 {
                        let h = (Hit { t: last.1, n: last.2 });
                        h.n
                    } else {
                        x
                    }
                }),
            ),
        ] {
            assert_eq!(plain(&tuples(body)), plain(&text(&expected)));
        }
    }

    #[test]
    fn variants_have_their_fields_in_one_tuple() {
        for (body, expected) in [
            (
                quote!(let mut best = None; if x > 1.0 { best = Some(x * 2.0); } match best { Some(b) => b, None => x }),
                quote!({
                    let mut best: (u64, f64) = (0u64, (0u8 as f64));
                    if x > 1.0 {
                        best = (1u64, x * 2.0);
                    }
                    if best.0 == 1u64 {
                        let b = best.1;
                        b
                    } else {
                        x
                    }
                }),
            ),
            (
                quote!(let best: Option<(f64, u32)> = g(x); let Some((b, _)) = best else { return x; }; b),
                quote!({
                    let best: (u64, f64, u32) = match g(x) {
                        ::core::option::Option::None => (0u64, (0u8 as f64), (0u8 as u32)),
                        ::core::option::Option::Some { 0: __field_0 } => {
                            let __field_0_2: (f64, u32) = __field_0;
                            (1u64, __field_0_2.0, __field_0_2.1)
                        }
                    };
                    if !(best.0 == 1u64) {
                        return x;
                    }
                    let b = best.1;
                    b
                }),
            ),
            (
                quote!(let best = Some(x); if let Some(b) = best && b < x { b } else { x }),
                quote!({
                    let best: (u64, f64) = (1u64, x);
                    if best.0 == 1u64 && best.1 < x {
                        let b = best.1;
                        b
                    } else {
                        x
                    }
                }),
            ),
            (
                quote!(let s = Shape::Box { w: x, n: 2 }; match s { Shape::Ball(r) => r, Shape::Box { n: 3, .. } => 1.0, Shape::Box { w, .. } => w }),
                quote!({
                    let s: (u64, f64, f64, u32) = (1u64, (0u8 as f64), x, 2);
                    if s.0 == 0u64 {
                        let r = s.1;
                        r
                    } else if s.0 == 1u64 && s.3 == 3 {
                        1.0
                    } else {
                        let w = s.2;
                        w
                    }
                }),
            ),
        ] {
            assert_eq!(plain(&tuples(body)), plain(&text(&expected)));
        }
    }

    #[test]
    fn variables_stay_to_which_something_refers() {
        for body in [
            quote!(let mode = Mode::Up; let r = &mode; x),
            quote!(let mode = Mode::Up; g(mode)),
            quote!(let mode = Mode::Up; mode.next(); x),
            quote!(let mode = Mode::Up; println!("{mode:?}"); x),
            quote!(let mode = Other::Up; match mode { Other::Up => x, _ => 0.0 }),
            quote!(let mode = Owned::A; match mode { Owned::A => x, Owned::B => 0.0 }),
            quote!(let mode = Mode::Up; let f = || g(mode); x),
            quote!(let mut best = Some(x); if let Some(ref mut b) = best { *b = 1.0; } x),
            quote!(let best = None; g(best)),
        ] {
            let f = functions(quote!(fn f(x: f64) -> f64 { #body })).remove(0);
            assert_eq!(tuples(body), text(&f.body));
        }
    }
}
