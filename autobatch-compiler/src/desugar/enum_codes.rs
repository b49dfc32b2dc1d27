//! Variables of an enumeration without fields as numbers: they are columns of vectors then, and a `match` is a choice by number.
//!
//! ```text
//! let mut mode = Mode::Up;                         let mut __code_mode: u64 = 0u64;
//! match mode {                              ──▶    match __code_mode {
//!     Mode::Up if x > 5.0 => mode = Mode::Down,        0u64 if x > 5.0 => __code_mode = 1u64,
//!     Mode::Up | Mode::Down => x += 1.0,               0u64 | 1u64 => x += 1.0,
//!     Mode::Stop => return x,                          _ => return x,
//! }                                                }
//! ```
//!
//! A variable stays what it is if anything else is done with it than to give it a value that is known, to match it with variants, and
//! to compare it by a derived `==`.
//!
//! **Invariant:** the numbers are the places of variants in the definition, in no other code. The enumeration is `Copy`, so nothing is
//! dropped; rustc checks that.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::{ToTokens, format_ident, quote};
use syn::parse::Parser;
use syn::{BinOp, Block, Expr, ExprMatch, Ident, LitInt, Local, Pat, Stmt, Type, parse_quote};

use crate::desugar::helper_checks::HelperChecks;
use crate::index::definitions::Definitions;
use crate::item::model::{Function, Item, rebind};
use crate::syntax::mentions::{bare, idents, name, text, typed, untyped, words_and_suffixes};
use crate::syntax::standard_macros::Matches;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

/// Makes numbers of variables in the functions of the program. What rustc has to check.
pub(crate) fn rewrite(item: &mut Item, batched: impl Fn(usize) -> bool) -> HelperChecks {
    let mut checks = HelperChecks::default();
    let declared = item.declared.clone();
    for (_, function) in item.functions.iter_mut().enumerate().filter(|(f, _)| batched(*f)) {
        if !function.may_hide_types(&declared.beside) {
            of_function(function, &declared.beside, &mut checks);
        }
    }
    checks
}

fn of_function(function: &mut Function, definitions: &Definitions, checks: &mut HelperChecks) {
    let mut variables = candidates(&function.body, definitions);
    // As wide as what they choose between.
    let is_wide = |word: String| ["f64", "u64", "i64", "usize", "isize"].contains(&word.as_str());
    let tokens = [function.sig.to_token_stream(), function.body.to_token_stream()];
    let wide = tokens.into_iter().flat_map(words_and_suffixes).any(is_wide);
    let ty: Type = if wide { parse_quote!(u64) } else { parse_quote!(u32) };
    while !variables.is_empty() {
        let mut body = function.body.clone();
        let (seen, unknown) = (BTreeMap::new(), BTreeSet::new());
        let mut codes = Codes { variables: &variables, definitions, ty: &ty, seen, unknown };
        codes.visit_block_mut(&mut body);
        let Codes { seen, unknown, .. } = codes;
        let is_left =
            |name: &String| unknown.contains(name) || seen.get(name) != Some(&mentions(&function.body, name));
        let left: BTreeSet<String> = variables.keys().filter(|name| is_left(name)).cloned().collect();
        if left.is_empty() {
            for of in variables.values() {
                checks.is_copy(&parse_quote!(#of));
            }
            rebind(function, body);
            return;
        }
        variables.retain(|name, _| !left.contains(name));
    }
}

/// The variables that begin with a variant, or with another of them, and the enumerations that they are of.
fn candidates(body: &Block, definitions: &Definitions) -> BTreeMap<String, Ident> {
    let mut found = BTreeMap::new();
    loop {
        let before = found.len();
        walk::each(body, |at| {
            if let At::Local(Local { pat, init: Some(init), .. }) = at
                && let Pat::Ident(p) = untyped(pat)
                && p.by_ref.is_none()
                && let Some(of) = first_value(&init.expr, &found, definitions)
            {
                found.insert(p.ident.to_string(), of);
            }
        });
        if found.len() == before {
            return found;
        }
    }
}

/// The enumeration of which an expression yields a value, by the first of its ends that says so.
fn first_value(expr: &Expr, found: &BTreeMap<String, Ident>, definitions: &Definitions) -> Option<Ident> {
    let of_block = |block: &Block| match block.stmts.last()? {
        Stmt::Expr(tail, None) => first_value(tail, found, definitions),
        _ => None,
    };
    match bare(expr) {
        Expr::Path(path) => match name(bare(expr)) {
            Some(name) => found.get(&name).cloned(),
            None => variant(&path.path, definitions).map(|(of, _)| of.clone()),
        },
        Expr::If(e) => {
            let (_, otherwise) = e.else_branch.as_ref()?;
            of_block(&e.then_branch).or_else(|| first_value(otherwise, found, definitions))
        }
        Expr::Match(e) => e.arms.iter().find_map(|arm| first_value(&arm.body, found, definitions)),
        Expr::Block(e) => of_block(&e.block),
        _ => None,
    }
}

/// The enumeration and the place in it that a path names.
fn variant<'p>(path: &'p syn::Path, definitions: &Definitions) -> Option<(&'p Ident, usize)> {
    let segments: Vec<_> = path.segments.iter().collect();
    let [of, name] = segments[..] else { return None };
    let plain = of.arguments.is_none() && name.arguments.is_none() && path.leading_colon.is_none();
    let (variants, _) = definitions.codes(&of.ident).filter(|_| plain)?;
    Some((&of.ident, variants.iter().position(|variant| **variant == name.ident)?))
}

/// How often code mentions a variable, macros too.
fn mentions(body: &Block, name: &str) -> usize {
    let mut found = 0;
    walk::each(body, |at| match at {
        At::Expr(Expr::Path(p)) => found += usize::from(p.path.is_ident(name)),
        At::Pat(Pat::Ident(p)) => found += usize::from(p.ident == name),
        At::Macro(mac) if mac.path.is_ident("matches") => {
            found += idents(mac.tokens.clone()).iter().filter(|ident| *ident == name).count();
        }
        // Format strings name variables, too.
        At::Macro(mac) => found += usize::from(mac.tokens.to_string().contains(name)),
        _ => {}
    });
    found
}

struct Codes<'a> {
    variables: &'a BTreeMap<String, Ident>,
    definitions: &'a Definitions,
    ty: &'a Type,
    /// How often each variable was found where it may stand.
    seen: BTreeMap<String, usize>,
    /// The variables that get a value that is not known.
    unknown: BTreeSet<String>,
}

impl Codes<'_> {
    /// The variable, and its enumeration.
    fn variable(&self, expr: &Expr) -> Option<(String, &Ident)> {
        let name = name(bare(expr))?;
        let of = self.variables.get(&name)?;
        Some((name, of))
    }

    fn see(&mut self, name: &str) -> Ident {
        *self.seen.entry(name.to_owned()).or_default() += 1;
        format_ident!("__code_{}", name.trim_start_matches("r#"), span = Span::mixed_site())
    }

    fn number(&self, place: usize) -> Expr {
        let number = LitInt::new(&format!("{place}{}", text(self.ty)), Span::mixed_site());
        parse_quote!(#number)
    }

    /// Makes the number of a value; `false` if it is no value that is known.
    fn value(&mut self, expr: &mut Expr, of: &Ident) -> bool {
        match expr {
            Expr::Paren(e) => self.value(&mut e.expr, of),
            Expr::Group(e) => self.value(&mut e.expr, of),
            Expr::Path(path) => {
                if let Some((name, own)) =
                    path.path.get_ident().and_then(|_| self.variable(&Expr::Path(path.clone())))
                {
                    let fits = own == of;
                    let code = self.see(&name);
                    *expr = parse_quote!(#code);
                    return fits;
                }
                let place = variant(&path.path, self.definitions).filter(|(own, _)| *own == of);
                let number = place.map(|(_, place)| self.number(place));
                let known = number.is_some();
                number.into_iter().for_each(|number| *expr = number);
                known
            }
            Expr::If(e) => {
                self.visit_expr_mut(&mut e.cond);
                let then = self.block(&mut e.then_branch, of);
                let otherwise = e.else_branch.as_mut().is_some_and(|(_, e)| self.value(e, of));
                then && otherwise
            }
            Expr::Match(e) => {
                self.scrutinee(e);
                let mut known = true;
                for arm in &mut e.arms {
                    known &= self.value(&mut arm.body, of);
                }
                known
            }
            Expr::Block(e) => self.block(&mut e.block, of),
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                self.visit_expr_mut(expr);
                true
            }
            _ => false,
        }
    }

    fn block(&mut self, block: &mut Block, of: &Ident) -> bool {
        let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() else { return false };
        let mut tail = std::mem::replace(tail, parse_quote!(()));
        block.stmts.pop();
        self.visit_block_mut(block);
        let known = self.value(&mut tail, of);
        block.stmts.push(Stmt::Expr(tail, None));
        known
    }

    /// A pattern of variants as one of numbers.
    fn pattern(&self, pat: &Pat, of: &Ident) -> Option<Pat> {
        match pat {
            Pat::Wild(_) => Some(pat.clone()),
            Pat::Paren(p) => self.pattern(&p.pat, of),
            Pat::Path(p) => {
                let (own, place) = variant(&p.path, self.definitions)?;
                let number = self.number(place);
                (own == of).then(|| parse_quote!(#number))
            }
            Pat::Or(p) => {
                let cases: Option<Vec<Pat>> = p.cases.iter().map(|case| self.pattern(case, of)).collect();
                let cases = cases?;
                Pat::parse_multi.parse2(quote!(#(#cases)|*)).ok()
            }
            _ => None,
        }
    }

    /// What is matched, and the patterns; arms stay.
    fn scrutinee(&mut self, e: &mut ExprMatch) {
        let patterns = self.variable(&e.expr).and_then(|(name, of)| {
            let of = of.clone();
            let patterns: Option<Vec<Pat>> =
                e.arms.iter().map(|arm| self.pattern(without_guard(&arm.pat), &of)).collect();
            Some((name, patterns?))
        });
        let last_is_plain = e.arms.last().is_some_and(|arm| !matches!(arm.pat, Pat::Guard(_)));
        match patterns.filter(|_| last_is_plain) {
            Some((name, patterns)) => {
                let code = self.see(&name);
                *e.expr = parse_quote!(#code);
                for (arm, pattern) in e.arms.iter_mut().zip(patterns) {
                    *without_guard_mut(&mut arm.pat) = pattern;
                }
                if let Some(last) = e.arms.last_mut() {
                    last.pat = parse_quote!(_);
                }
            }
            None => self.visit_expr_mut(&mut e.expr),
        }
        for arm in &mut e.arms {
            if let Pat::Guard(p) = &mut arm.pat {
                self.visit_expr_mut(&mut p.guard);
            }
        }
    }
}

impl VisitMut for Codes<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Pat::Ident(p) = untyped(&local.pat)
            && let Some(of) = self.variables.get(&p.ident.to_string()).cloned()
            && let Some(init) = local.init.as_mut().filter(|init| init.diverge.is_none())
        {
            let name = p.ident.to_string();
            let (mutability, code, ty) = (p.mutability, self.see(&name), self.ty);
            if !self.value(&mut init.expr, &of) {
                self.unknown.insert(name);
            }
            local.pat = typed(parse_quote!(#mutability #code), ty.clone());
            return;
        }
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Assign(e) => {
                if let Some((name, of)) = self.variable(&e.left) {
                    let of = of.clone();
                    let code = self.see(&name);
                    *e.left = parse_quote!(#code);
                    if !self.value(&mut e.right, &of) {
                        self.unknown.insert(name);
                    }
                    return;
                }
            }
            Expr::Match(e) => {
                self.scrutinee(e);
                e.arms.iter_mut().for_each(|arm| self.visit_expr_mut(&mut arm.body));
                return;
            }
            Expr::Binary(e) if matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_)) => {
                let of =
                    [&e.left, &e.right].into_iter().find_map(|e| self.variable(e)).map(|(_, of)| of.clone());
                let compared = |of: &Ident| self.definitions.codes(of).is_some_and(|(_, compared)| compared);
                let is_value = |e: &Expr, of: &Ident| match bare(e) {
                    Expr::Path(path) => {
                        self.variable(e).is_some_and(|(_, own)| own == of)
                            || variant(&path.path, self.definitions).is_some_and(|(own, _)| own == of)
                    }
                    _ => false,
                };
                if let Some(of) =
                    of.filter(|of| compared(of) && is_value(&e.left, of) && is_value(&e.right, of))
                {
                    self.value(&mut e.left, &of);
                    self.value(&mut e.right, &of);
                    return;
                }
            }
            Expr::Macro(m) if m.mac.path.is_ident("matches") => {
                if let Ok(Matches { value, pat, guard }) = m.mac.parse_body()
                    && let Some((name, of)) = self.variable(&value)
                    && let Some(pattern) = self.pattern(&pat, of)
                {
                    let code = self.see(&name);
                    let mut guard: Expr = guard.unwrap_or_else(|| parse_quote!(true));
                    self.visit_expr_mut(&mut guard);
                    *expr = parse_quote!(match #code { #pattern => #guard, _ => false });
                    return;
                }
            }
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn without_guard(pat: &Pat) -> &Pat {
    match pat {
        Pat::Guard(p) => &p.pat,
        pat => pat,
    }
}

fn without_guard_mut(pat: &mut Pat) -> &mut Pat {
    match pat {
        Pat::Guard(p) => &mut p.pat,
        pat => pat,
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use super::*;
    use crate::ir::testing::functions;

    /// The body of a function with these statements, beside an enumeration.
    fn coded(body: TokenStream) -> String {
        let file: syn::File = parse_quote!(
            #[derive(Clone, Copy, PartialEq)]
            enum Mode {
                Up,
                Down,
                Stop,
            }
            #[derive(Clone, PartialEq)]
            enum Owned {
                A,
                B,
            }
        );
        let mut definitions = Definitions::default();
        definitions.add(&file.items);
        let mut function = functions(quote!(fn f(x: f64) -> f64 { #body })).remove(0);
        of_function(&mut function, &definitions, &mut HelperChecks::default());
        text(&function.body)
    }

    #[test]
    fn what_is_done_with_variants_is_done_with_numbers() {
        for (body, expected) in [
            (
                quote!(let mut mode = Mode::Up; mode = if x > 1.0 { Mode::Stop } else { return x }; x),
                quote!({
                    let mut __code_mode: u64 = 0u64;
                    __code_mode = if x > 1.0 { 2u64 } else { return x };
                    x
                }),
            ),
            (
                quote!(let mode: Mode = Mode::Down; let other = mode; if other == mode && Mode::Up != mode { x } else { 1.0 }),
                quote!({
                    let __code_mode: u64 = 1u64;
                    let __code_other: u64 = __code_mode;
                    if __code_other == __code_mode && 0u64 != __code_mode { x } else { 1.0 }
                }),
            ),
            (
                quote!(let mode = Mode::Up; match mode { Mode::Up if x > 1.0 => 1.0, Mode::Up | Mode::Down => 2.0, Mode::Stop => 3.0 }),
                quote!({
                    let __code_mode: u64 = 0u64;
                    match __code_mode {
                        0u64 if x > 1.0 => 1.0,
                        0u64 | 1u64 => 2.0,
                        _ => 3.0,
                    }
                }),
            ),
            (
                quote!(let mode = Mode::Up; if matches!(mode, Mode::Down | Mode::Stop) { x } else { 0.0 }),
                quote!({
                    let __code_mode: u64 = 0u64;
                    if match __code_mode {
                        1u64 | 2u64 => true,
                        _ => false,
                    } {
                        x
                    } else {
                        0.0
                    }
                }),
            ),
        ] {
            let without_commas = |text: String| text.replace(", }", "}");
            assert_eq!(without_commas(coded(body)), without_commas(text(&expected)));
        }
    }

    #[test]
    fn variables_stay_with_which_something_else_is_done() {
        for body in [
            quote!(let mode = Mode::Up; g(mode); x),
            quote!(let mode = Mode::Up; let r = &mode; x),
            quote!(let mut mode = Mode::Up; mode = next(x); x),
            quote!(let mode = Mode::Up; x * mode as u32 as f64),
            quote!(let mode = Mode::Up; println!("{mode:?}"); x),
            quote!(let mode = Mode::Up; match mode { Mode::Up => x, other => h(other) }),
            quote!(let mode = Other::Up; match mode { Other::Up => x, _ => 0.0 }),
            quote!(let mode = Owned::A; match mode { Owned::A => x, Owned::B => 0.0 }),
            quote!(let mode = Mode::Up; let f = || g(mode); x),
        ] {
            let f = functions(quote!(fn f(x: f64) -> f64 { #body })).remove(0);
            assert_eq!(coded(body), text(&f.body));
        }
    }
}
