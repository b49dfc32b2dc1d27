//! Jump threading: where a value is known by the branch that made it, a condition on it is not asked again.
//!
//! ```text
//! let (is, t): (u64, f64) = if d < 0.0 { (0, 0.0) }       if !(d < 0.0) {
//!     else { (1, root(d)) };                        ──▶       let t: f64 = root(d);
//! if is == 1 && t < best { best = t; }                        if t < best { best = t; }
//!                                                         }
//! ```
//!
//! Such code comes from helpers that return `Option`s, whose variant is a number then. The branches end in one after the other; the code
//! behind moves into the branch that leads to it.
//!
//! **Source.** Muchnick, “Advanced compiler design and implementation”, 1997, section 18.11; between expressions it is the
//! “case of case” of functional compilers.
//!
//! **Invariant:** what is evaluated, and in which order, stays. Code moves; it is not copied. What is declared is a primitive number, so that nobody
//! sees when it ends.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Block, Expr, Ident, Lit, Local, Pat, Stmt, Token, Type, UnOp, parse_quote};

use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{bare, else_block, has_let, name, text, untyped, words};
use crate::syntax::walk::{self, AtMut};

/// Threads the jumps of a body. Whether there were any.
pub(super) fn thread(body: &mut Block) -> bool {
    let mut threaded = all_of(body, false);
    walk::map(body, |at| {
        threaded |= match at {
            AtMut::Expr(Expr::ForLoop(e)) => all_of(&mut e.body, true),
            AtMut::Expr(Expr::While(e)) => all_of(&mut e.body, true),
            AtMut::Expr(Expr::Loop(e)) => all_of(&mut e.body, true),
            AtMut::Expr(Expr::If(e)) => all_of(&mut e.then_branch, false),
            AtMut::Expr(Expr::Block(e)) => all_of(&mut e.block, false),
            _ => false,
        };
    });
    threaded
}

/// Threads the jumps of a block: what has moved may be followed by a condition that is known then.
fn all_of(block: &mut Block, is_loop: bool) -> bool {
    let mut threaded = false;
    while in_block(block, is_loop) {
        threaded = true;
    }
    threaded
}

/// Threads the first jump of a block, that of a loop or another.
fn in_block(block: &mut Block, is_loop: bool) -> bool {
    for at in 1..block.stmts.len() {
        let Some(choice) = Choice::of(&block.stmts[at - 1]) else { continue };
        let Some(mut asked) = asked(&block.stmts[at..], is_loop) else { continue };
        let names = choice.variables.iter().map(|(ident, _)| ident);
        if mentions(&asked.rest, names.clone()) || !mentions(std::slice::from_ref(&*asked.condition), names) {
            continue;
        }
        let mut ways = Ways { choice: &choice, asked: &asked, then: 0, otherwise: 0, known: 0 };
        let Some(threaded) = ways.through(choice.value) else { continue };
        let moves = |code: Option<&Block>, ways: usize| ways < 2 || code.is_none_or(|b| b.stmts.is_empty());
        let is_moved = moves(Some(&asked.then), ways.then) && moves(asked.otherwise.as_ref(), ways.otherwise);
        if ways.known == 0 || !is_moved {
            continue;
        }
        let rest = std::mem::take(&mut asked.rest);
        let stmt = match asked.declares {
            Some(mut local) => {
                *local.init.as_mut().expect("it has a value").expr = threaded;
                Stmt::Local(local)
            }
            None => Stmt::Expr(threaded, asked.semicolon),
        };
        block.stmts.truncate(at - 1);
        block.stmts.push(stmt);
        block.stmts.extend(rest);
        return true;
    }
    false
}

/// Numbers that are declared with a choice for their value.
struct Choice<'a> {
    variables: Vec<(Ident, &'a Type)>,
    is_tuple: bool,
    value: &'a Expr,
}

impl<'a> Choice<'a> {
    fn of(stmt: &'a Stmt) -> Option<Choice<'a>> {
        let Stmt::Local(Local { attrs, pat: Pat::Type(typed), init: Some(init), .. }) = stmt else {
            return None;
        };
        if !attrs.is_empty() || init.diverge.is_some() || !matches!(bare(&init.expr), Expr::If(_)) {
            return None;
        }
        let variable = |pat: &Pat, ty: &'a Type| match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() => {
                is_primitive(ty).then(|| (p.ident.clone(), ty))
            }
            _ => None,
        };
        let (variables, is_tuple) = match (&*typed.pat, &*typed.ty) {
            (Pat::Tuple(pat), Type::Tuple(ty)) if pat.elems.len() == ty.elems.len() => {
                let all = pat.elems.iter().zip(&ty.elems).map(|(pat, ty)| variable(pat, ty));
                (all.collect::<Option<_>>()?, true)
            }
            (pat, ty) => (vec![variable(untyped(pat), ty)?], false),
        };
        Some(Choice { variables, is_tuple, value: &init.expr })
    }

    /// The parts of a value.
    fn parts<'v>(&self, value: &'v Expr) -> Option<Vec<&'v Expr>> {
        match bare(value) {
            Expr::Tuple(e) if self.is_tuple && e.elems.len() == self.variables.len() => {
                Some(e.elems.iter().collect())
            }
            value if !self.is_tuple => Some(vec![value]),
            _ => None,
        }
    }
}

/// What is asked behind a choice, and what depends on it.
struct Asked {
    condition: Box<Expr>,
    then: Block,
    otherwise: Option<Block>,
    /// What is declared with the value.
    declares: Option<Local>,
    semicolon: Option<Token![;]>,
    /// What stands behind.
    rest: Vec<Stmt>,
}

/// What the first of these statements asks. In the body of a loop it may go on with the next round.
fn asked(stmts: &[Stmt], is_loop: bool) -> Option<Asked> {
    let (first, rest) = stmts.split_first()?;
    let (choice, declares, semicolon) = match first {
        Stmt::Expr(e, semicolon) => (e, None, *semicolon),
        Stmt::Local(local) if local.attrs.is_empty() => {
            let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
            (&*init.expr, Some(local.clone()), None)
        }
        _ => return None,
    };
    let Expr::If(choice) = bare(choice) else { return None };
    if !choice.attrs.is_empty() || has_let(&choice.cond) {
        return None;
    }
    let otherwise = else_block(choice);
    let (condition, then, rest) = (choice.cond.clone(), choice.then_branch.clone(), rest.to_vec());
    let goes_on = matches!(&then.stmts[..], [Stmt::Expr(Expr::Continue(e), _)] if e.label.is_none());
    if is_loop && declares.is_none() && otherwise.is_none() && goes_on {
        let (then, otherwise) = (parse_quote!({}), Some(parse_quote!({ #(#rest)* })));
        return Some(Asked { condition, then, otherwise, declares, semicolon, rest: vec![] });
    }
    Some(Asked { condition, then, otherwise, declares, semicolon, rest })
}

/// Whether code may mention one of these, also in a format string.
fn mentions<'i>(code: &[impl ToTokens], mut names: impl Iterator<Item = &'i Ident>) -> bool {
    let texts: Vec<String> = code.iter().map(text).collect();
    names.any(|name| {
        let name = name.unraw().to_string();
        texts.iter().flat_map(|text| words(text)).any(|word| word == name)
    })
}

/// The ways from the branches of a choice to what is asked behind it.
struct Ways<'a> {
    choice: &'a Choice<'a>,
    asked: &'a Asked,
    /// How many lead to either.
    then: usize,
    otherwise: usize,
    /// How many branches know.
    known: usize,
}

impl Ways<'_> {
    /// The choice with what is asked at the end of its branches.
    fn through(&mut self, value: &Expr) -> Option<Expr> {
        let Expr::If(e) = bare(value) else { return None };
        let (_, otherwise) = e.else_branch.as_ref()?;
        if !e.attrs.is_empty() {
            return None;
        }
        let then = self.behind(&e.then_branch)?;
        let otherwise = match &**otherwise {
            Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => self.behind(&e.block)?,
            Expr::If(_) => {
                let nested = self.through(otherwise)?;
                parse_quote!({ #nested })
            }
            _ => return None,
        };
        let cond = &e.cond;
        Some(match (then.stmts.is_empty(), otherwise.stmts.is_empty()) {
            (true, false) if !has_let(cond) => parse_quote!(if !(#cond) #otherwise),
            (_, true) => parse_quote!(if #cond #then),
            _ => parse_quote!(if #cond #then else #otherwise),
        })
    }

    /// A branch with what is asked at its end.
    fn behind(&mut self, branch: &Block) -> Option<Block> {
        let (Stmt::Expr(value, None), before) = branch.stmts.split_last()? else { return None };
        let mut stmts = before.to_vec();
        if matches!(bare(value), Expr::If(_)) {
            // Also where nothing is left to do: the condition may panic.
            stmts.push(Stmt::Expr(self.through(value)?, None));
            return Some(Block { stmts, ..branch.clone() });
        }
        let parts = self.choice.parts(value)?;
        let variables = self.choice.variables.iter().zip(&parts);
        let known: BTreeMap<String, &Lit> = variables
            .clone()
            .filter_map(|((ident, _), part)| match bare(part) {
                Expr::Lit(lit) => Some((ident.to_string(), &lit.lit)),
                _ => None,
            })
            .collect();
        let Asked { condition, then, otherwise, .. } = self.asked;
        let code = match simplified(condition, &known) {
            Truth::Known(holds) => {
                self.known += 1;
                *if holds { &mut self.then } else { &mut self.otherwise } += 1;
                if holds {
                    then.stmts.clone()
                } else {
                    otherwise.iter().flat_map(|b| b.stmts.clone()).collect()
                }
            }
            Truth::Open(condition) => {
                (self.then, self.otherwise) = (self.then + 1, self.otherwise + 1);
                let otherwise = otherwise.iter();
                vec![Stmt::Expr(parse_quote!(if #condition #then #(else #otherwise)*), None)]
            }
        };
        for ((ident, ty), part) in variables {
            if mentions(&code, std::iter::once(ident)) {
                stmts.push(parse_quote!(let #ident: #ty = #part;));
            } else if !is_free(part) {
                return None;
            }
        }
        stmts.extend(code);
        Some(Block { stmts, ..branch.clone() })
    }
}

/// Whether nobody sees that a value is not computed.
fn is_free(value: &Expr) -> bool {
    match bare(value) {
        Expr::Lit(_) => true,
        Expr::Cast(e) => is_free(&e.expr),
        Expr::Unary(e) => matches!(e.op, UnOp::Neg(_)) && matches!(bare(&e.expr), Expr::Lit(_)),
        value => name(value).is_some(),
    }
}

/// What is known of a condition.
enum Truth {
    Known(bool),
    Open(Box<Expr>),
}

impl Truth {
    fn into_expr(self) -> Expr {
        match self {
            Truth::Known(holds) => parse_quote!(#holds),
            Truth::Open(open) => *open,
        }
    }
}

/// A condition where some variables are literals.
fn simplified(condition: &Expr, known: &BTreeMap<String, &Lit>) -> Truth {
    let literal = |e: &Expr| match bare(e) {
        Expr::Lit(e) => Some(e.lit.clone()),
        e => known.get(&name(e)?).map(|lit| (*lit).clone()),
    };
    match bare(condition) {
        Expr::Unary(e) if matches!(e.op, UnOp::Not(_)) => match simplified(&e.expr, known) {
            Truth::Known(holds) => Truth::Known(!holds),
            Truth::Open(open) => Truth::Open(parse_quote!(!(#open))),
        },
        Expr::Binary(e) if matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_)) => {
            match (literal(&e.left), literal(&e.right)) {
                (Some(Lit::Int(left)), Some(Lit::Int(right))) => {
                    let are_equal = left.base10_digits() == right.base10_digits();
                    Truth::Known(are_equal == matches!(e.op, BinOp::Eq(_)))
                }
                _ => Truth::Open(Box::new(condition.clone())),
            }
        }
        Expr::Binary(e) if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => {
            let decides = matches!(e.op, BinOp::Or(_));
            match (simplified(&e.left, known), simplified(&e.right, known)) {
                (Truth::Known(left), _) if left == decides => Truth::Known(decides),
                (Truth::Known(_), right) => right,
                (Truth::Open(left), Truth::Known(right)) if right != decides => Truth::Open(left),
                (Truth::Open(left), right) => {
                    let (op, right) = (e.op, right.into_expr());
                    Truth::Open(parse_quote!((#left) #op (#right)))
                }
            }
        }
        other => match literal(other) {
            Some(Lit::Bool(holds)) => Truth::Known(holds.value),
            _ => Truth::Open(Box::new(condition.clone())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn threaded(body: proc_macro2::TokenStream) -> String {
        let mut body: Block = parse_quote!({ #body });
        thread(&mut body);
        body.to_token_stream().to_string()
    }

    fn is(body: proc_macro2::TokenStream, expected: proc_macro2::TokenStream) {
        assert_eq!(threaded(body), quote!({ #expected }).to_string());
    }

    #[test]
    fn code_moves_to_the_branch_that_leads_to_it() {
        is(
            quote! {
                let (is, t): (u64, f64) =
                    if d < 0.0 { (0u64, 0.0) } else { let r = d.sqrt(); if r > e { (1u64, r) } else { (0u64, 0.0) } };
                if is == 1u64 && t < best { best = t; }
                best
            },
            quote! {
                if !(d < 0.0) {
                    let r = d.sqrt();
                    if r > e { let t: f64 = r; if t < best { best = t; } }
                }
                best
            },
        );
    }

    #[test]
    fn the_next_round_is_the_end_of_this_one() {
        is(
            quote! {
                for x in xs {
                    let (is, t): (u64, f64) = if x < 0.0 { (0u64, 0.0) } else { (1u64, x) };
                    if !(is == 1u64) { continue; }
                    sum += t;
                    n += 1;
                }
            },
            quote! {
                for x in xs { if !(x < 0.0) { let t: f64 = x; sum += t; n += 1; } }
            },
        );
    }

    #[test]
    fn code_is_not_copied() {
        let twice = quote! {
            let (is, t): (u64, f64) = if a { (1u64, x) } else if b { (1u64, y) } else { (0u64, 0.0) };
            if is == 1u64 { sum += t; }
        };
        is(twice.clone(), twice);
    }

    #[test]
    fn what_is_used_again_stays() {
        let again = quote! {
            let (is, t): (u64, f64) = if a { (1u64, x) } else { (0u64, 0.0) };
            if is == 1u64 { sum += t; }
            last = t;
        };
        is(again.clone(), again);
    }

    #[test]
    fn a_condition_that_may_panic_is_evaluated() {
        is(
            quote! {
                let (is, t): (u64, f64) =
                    if a { if xs[i] { (0u64, 0.0) } else { (0u64, 1.0) } } else { (1u64, x) };
                if is == 1u64 { sum += t; }
            },
            quote! {
                if a { if xs[i] {} } else { let t: f64 = x; sum += t; }
            },
        );
    }

    #[test]
    fn what_is_printed_stays() {
        let printed = quote! {
            let (is, t): (u64, f64) = if a { (1u64, x) } else { (0u64, 0.0) };
            if is == 1u64 { sum += t; }
            println!("{t}");
        };
        is(printed.clone(), printed);
    }

    #[test]
    fn a_value_that_may_panic_is_computed() {
        let panics = quote! {
            let (is, t): (u64, f64) = if a { (1u64, x) } else { (0u64, xs[i]) };
            if is == 1u64 { sum += t; }
        };
        is(panics.clone(), panics);
    }
}
