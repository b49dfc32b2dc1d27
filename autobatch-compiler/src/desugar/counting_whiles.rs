//! `while` loops that count, as `for` loops: what is done with those is done with these too.
//!
//! ```text
//! let mut j = 0;                           let mut j = 0;                  // nobody reads it
//! while j < b.len() {                      for at in 0..b.len() {
//!     row[j] = …;                   ──▶        row[at] = …;
//!     j += 1;                              }
//! }
//!
//! let mut i = 0;                           let mut i = 0;
//! while i < list.len() {                   for at in 0..=list.len() {
//!     if list[i] > x { break; }     ──▶        i = at;
//!     i += 1;                                  if at == list.len() { break; }
//! }                                            if list[at] > x { break; }
//! found(i)                                 }
//!                                          found(i)
//!
//! let mut k = 0;                           let mut k = 0;                  // nobody reads it
//! while k + 1 < N { …; k += 2; }    ──▶    for ahead in (0 + 1..N).step_by(2) { let at = ahead - 1; … }
//! ```
//!
//! **Invariant:** the `for` makes the same rounds: the end is a number that nobody changes, and the counter changes at the end of a
//! round only, by a number that does not make it overflow, and is the same behind the loop.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span};
use syn::{BinOp, Block, Expr, ExprBinary, ExprWhile, Pat, Stmt, Type, UnOp, parse_quote};

use crate::analysis::lane_interchange::breaks;
use crate::index::definitions::Definitions;
use crate::item::model::{Function, Item, rebind};
use crate::resolve::resolution::{Resolution, VariableTypes};
use crate::resolve::types::is_number;
use crate::std_models::number_methods::{Primitives, computes};
use crate::std_models::pure::{is_primitive, literal};
use crate::syntax::mentions::{assignment, bare, is_variable, name, text, untyped};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, AtMut, Code};

/// Rewrites the loops of an item's functions, and of its helpers.
pub(crate) fn of_item(item: &mut Item, resolution: &Resolution) {
    let declared = item.declared.clone();
    let (definitions, none) = (&declared.definitions, VariableTypes::new());
    for (position, function) in item.functions.iter_mut().enumerate() {
        rewrite(function, resolution.types(position), definitions);
    }
    item.change_helpers(|helper| rewrite(helper, &none, definitions));
}

/// Rewrites the loops of a function, of whose variables these types are known.
fn rewrite(function: &mut Function, types: &VariableTypes, definitions: &Definitions) {
    let mut types = types.clone();
    types.extend(function.params.iter().map(|param| (param.ident.to_string(), param.ty.clone())));
    let mutable =
        function.bindings.iter().filter(|(_, binding)| binding.mutable).map(|(name, _)| name.clone());
    let mut loops = Loops { types: &types, definitions, mutable: mutable.collect(), made: 0 };
    let mut body = function.body.clone();
    loops.visit_block_mut(&mut body);
    if loops.made > 0 {
        rebind(function, body);
    }
}

struct Loops<'a> {
    types: &'a VariableTypes,
    definitions: &'a Definitions,
    /// The names of variables that may change.
    mutable: BTreeSet<String>,
    /// The number of loops that were rewritten.
    made: usize,
}

impl VisitMut for Loops<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        let stmts = std::mem::take(&mut block.stmts);
        for (nth, stmt) in stmts.iter().enumerate() {
            let counted = match stmt {
                Stmt::Expr(Expr::While(e), _) => self.counted(&stmts[..nth], e, &stmts[nth + 1..]),
                _ => None,
            };
            block.stmts.extend(counted.unwrap_or_else(|| vec![stmt.clone()]));
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Loops<'_> {
    /// What a loop becomes that counts up from where the statements before it say, if it does.
    fn counted(&mut self, before: &[Stmt], e: &ExprWhile, behind: &[Stmt]) -> Option<Vec<Stmt>> {
        let Expr::Binary(cond) = bare(&e.cond) else { return None };
        let (i, ahead) = counter_ahead(&cond.left)?;
        let counter = name(i)?;
        let (last, body) = e.body.stmts.split_last()?;
        let step = counts_up(last, &counter)?;
        if e.label.is_some()
            || !e.attrs.is_empty()
            || !only_reads(body, &counter)
            || !self.is_fixed(&cond.right)
        {
            return None;
        }
        let start = self.first_count(before.iter().rfind(|stmt| mentions(*stmt, &counter))?, &counter)?;
        let end = &*cond.right;
        if step > 1 || ahead > 0 {
            return self.in_steps(cond, i, &start, (ahead, step), body, behind);
        }
        let is_closed = match cond.op {
            BinOp::Lt(_) => false,
            // No list is so long that the counter would overflow.
            BinOp::Le(_) if is_length(end) => true,
            _ => return None,
        };
        let is_read = mentions(behind, &counter);
        let leaves = breaks(body);
        // Where it ends early it has to be worth a second variable.
        if is_read && leaves && (is_closed || !looks_up(body, &counter)) {
            return None;
        }
        let (at, body) = self.counted_by_another(&counter, body);
        Some(match (is_read, leaves, is_closed) {
            (true, true, _) => parse_quote! {
                for #at in #start..=#end {
                    #i = #at;
                    if #at == #end { break; }
                    #(#body)*
                }
            },
            (true, false, false) => parse_quote! {
                for #at in #start..#end { #(#body)* }
                if #i < #end { #i = #end; }
            },
            (true, false, true) => parse_quote! {
                for #at in #start..=#end { #(#body)* }
                if #i <= #end { #i = #end + 1; }
            },
            (false, _, false) => parse_quote!(for #at in #start..#end { #(#body)* }),
            (false, _, true) => parse_quote!(for #at in #start..=#end { #(#body)* }),
        })
    }

    /// `while i + 1 < end { …; i += 2; }`
    fn in_steps(
        &mut self,
        cond: &ExprBinary,
        i: &Expr,
        start: &Expr,
        (ahead, step): (u64, u64),
        body: &[Stmt],
        behind: &[Stmt],
    ) -> Option<Vec<Stmt>> {
        let (counter, end) = (name(i)?, &cond.right);
        // The last step must not overflow.
        if !matches!(cond.op, BinOp::Lt(_))
            || mentions(behind, &counter)
            || step > 1 && !self.is_far_below_most(end, step)
        {
            return None;
        }
        let (at, mut body) = self.counted_by_another(&counter, body);
        let (mut start, mut counted) = (start.clone(), at.clone());
        if ahead > 0 {
            // The sum is what counts: it overflows, if it does, where it does in the `while`.
            counted = Ident::new(&format!("{at}_ahead"), Span::mixed_site());
            let ahead = Literal::u64_unsuffixed(ahead);
            start = parse_quote!(#start + #ahead);
            body.insert(0, parse_quote!(let #at = #counted - #ahead;));
        }
        let stepped: Expr = match step {
            1 => parse_quote!(#start..#end),
            _ => {
                let step = Literal::u64_unsuffixed(step);
                parse_quote!((#start..#end).step_by(#step))
            }
        };
        Some(vec![parse_quote!(for #counted in #stepped { #(#body)* })])
    }

    /// A new counter, and code that looks at it in the place of another.
    fn counted_by_another(&mut self, counter: &str, body: &[Stmt]) -> (Ident, Vec<Stmt>) {
        let at = Ident::new(&format!("__at_{}", self.made), Span::mixed_site());
        self.made += 1;
        let mut body = body.to_vec();
        walk::map(&mut body[..], |node| {
            if let AtMut::Expr(expr) = node
                && is_variable(expr, counter)
            {
                *expr = parse_quote!(#at);
            }
        });
        (at, body)
    }

    /// Whether a number can be passed by a step without an overflow: the length of a list, or a constant.
    fn is_far_below_most(&self, end: &Expr, step: u64) -> bool {
        let known = |end: &Expr| match bare(end) {
            Expr::Path(path) => {
                let constant = self.definitions.constant(path)?;
                let of_four_bytes = ["usize", "isize", "u32", "i32", "u64", "i64"];
                let is_wide = of_four_bytes.contains(&text(&constant.ty).as_str());
                let most = if is_wide { i32::MAX as u64 } else { i8::MAX as u64 };
                Some(self.definitions.number(end)? <= most - step)
            }
            other => literal(other).map(|n| n <= i8::MAX as u64 - step),
        };
        step < i8::MAX as u64 && (is_length(end) || known(end) == Some(true))
    }

    /// The number that a `let` gives a counter: a literal says that it is a primitive one, or its type is known.
    fn first_count(&self, stmt: &Stmt, counter: &str) -> Option<Expr> {
        let Stmt::Local(local) = stmt else { return None };
        let init = &local.init.as_ref().filter(|init| init.diverge.is_none())?.expr;
        let is_it = matches!(untyped(&local.pat), Pat::Ident(p) if p.ident == counter);
        (is_it && (literal(init).is_some() || self.is_count(init))).then(|| (**init).clone())
    }

    /// Whether an expression is a number that stays as it is: made of literals and counters.
    fn is_count(&self, expr: &Expr) -> bool {
        match bare(expr) {
            Expr::Binary(e) => {
                matches!(e.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Rem(_))
                    && self.is_count(&e.left)
                    && self.is_count(&e.right)
            }
            path @ Expr::Path(_) => self.fixed_type(path).is_some_and(|ty| is_number(&ty)),
            other => literal(other).is_some(),
        }
    }

    fn is_constant(&self, name: &str) -> bool {
        !self.mutable.contains(name)
    }

    /// The type of a variable that stays as it is.
    fn fixed_type(&self, expr: &Expr) -> Option<Type> {
        let name = name(expr).filter(|name| self.is_constant(name))?;
        Some(self.definitions.plain(self.types.get(&name)?))
    }

    /// Whether an expression is a primitive number that stays as it is: made of literals, constants, variables that nobody assigns, and
    /// lengths of arrays and of slices.
    fn is_fixed(&self, expr: &Expr) -> bool {
        let expr = bare(expr);
        match expr {
            Expr::Path(path) if name(expr).is_none_or(|name| !self.types.contains_key(&name)) => {
                self.definitions.constant(path).is_some_and(|constant| is_primitive(&constant.ty))
            }
            Expr::Path(_) => self.fixed_type(expr).is_some_and(|ty| is_primitive(&ty)),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => match self.fixed_type(&e.expr) {
                Some(Type::Reference(r)) => {
                    r.mutability.is_none() && is_primitive(&self.definitions.plain(&r.elem))
                }
                _ => false,
            },
            Expr::Binary(e) if matches!(e.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_)) => {
                self.is_fixed(&e.left) && self.is_fixed(&e.right)
            }
            Expr::MethodCall(e) if is_length(expr) => match self.type_of_list(&e.receiver) {
                Some(Type::Reference(r)) => {
                    r.mutability.is_none()
                        && matches!(self.definitions.plain(&r.elem), Type::Slice(_) | Type::Array(_))
                }
                Some(Type::Array(_)) => true,
                _ => false,
            },
            other => literal(other).is_some(),
        }
    }

    /// The type of a list whose length stays as it is.
    fn type_of_list(&self, expr: &Expr) -> Option<Type> {
        let ty = self.definitions.plain(self.types.get(&name(expr)?)?);
        // An array may change, but not its length.
        if matches!(ty, Type::Array(_)) { Some(ty) } else { self.fixed_type(expr) }
    }
}

fn mentions<C: Code + ?Sized>(code: &C, variable: &str) -> bool {
    walk::any(code, |at| match at {
        At::Expr(e) => is_variable(e, variable),
        At::Pat(Pat::Ident(p)) => p.ident == variable,
        At::Macro(_) => true,
        _ => false,
    })
}

/// Whether an expression is the length of something.
fn is_length(expr: &Expr) -> bool {
    matches!(bare(expr), Expr::MethodCall(e) if e.method == "len" && e.args.is_empty())
}

/// Whether code indexes something by a variable.
fn looks_up(code: &[Stmt], variable: &str) -> bool {
    walk::any(code, |at| matches!(at, At::Expr(Expr::Index(e)) if mentions(&*e.index, variable)))
}

/// The counter of a condition, and what is added to it: `i`, `i + 1`.
fn counter_ahead(expr: &Expr) -> Option<(&Expr, u64)> {
    match bare(expr) {
        Expr::Binary(e) if matches!(e.op, BinOp::Add(_)) => Some((bare(&e.left), literal(&e.right)?)),
        other => Some((other, 0)),
    }
}

/// By how much a statement `counter += 1;` counts up.
fn counts_up(stmt: &Stmt, counter: &str) -> Option<u64> {
    let Stmt::Expr(Expr::Binary(e), _) = stmt else { return None };
    let counts = matches!(e.op, BinOp::AddAssign(_)) && is_variable(&e.left, counter);
    literal(&e.right).filter(|step| counts && *step > 0)
}

/// Whether code looks at a variable, if at all, and ends each round where it ends itself.
fn only_reads(code: &[Stmt], var: &str) -> bool {
    !walk::any(code, |at| match at {
        At::Expr(Expr::Continue(_) | Expr::Closure(_)) | At::Macro(_) => true,
        At::Expr(Expr::Reference(e)) => e.mutability.is_some() && is_variable(&e.expr, var),
        // A method may take it as `&mut`; those that integers have themselves go before others of their names.
        At::Expr(Expr::MethodCall(e)) => {
            is_variable(&e.receiver, var) && !computes(&e.method, Primitives::INTEGERS)
        }
        At::Expr(e) => assignment(e)
            .is_some_and(|(place, _)| mentions(place, var) && !matches!(bare(place), Expr::Index(_))),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::ir::testing::functions;

    /// A function whose loop is this one, before and behind the rewriting.
    fn rewritten(
        cond: &proc_macro2::TokenStream,
        body: &proc_macro2::TokenStream,
        behind: &proc_macro2::TokenStream,
    ) -> [String; 2] {
        let mut function = functions(quote! {
            fn f(#[each] a: &[u32], n: usize, mut m: usize, v: &Vec<u32>, w: &mut Vec<u32>) -> usize {
                let mut row = [0usize; 65];
                let mut j = 0;
                while #cond { #body j += 1; }
                #behind
            }
        })
        .remove(0);
        let before = text(&function.body);
        rewrite(&mut function, &VariableTypes::new(), &Definitions::default());
        [before, text(&function.body)]
    }

    #[test]
    fn loops_that_count_are_for_loops() {
        let body = quote!(row[j] += n;);
        for (cond, head) in [
            (quote!(j < a.len()), "for __at_0 in 0 .. a . len ()"),
            (quote!(j <= a.len()), "for __at_0 in 0 ..= a . len ()"),
            (quote!(j < n), "for __at_0 in 0 .. n"),
            (quote!(j < 2 * n - 1), "for __at_0 in 0 .. 2 * n - 1"),
        ] {
            let [_, after] = rewritten(&cond, &body, &quote!(3));
            assert!(after.contains(head) && after.contains("row [__at_0]"), "{after}");
        }
        let [_, after] = rewritten(&quote!(j < n), &body, &quote!(j));
        assert!(after.contains("if j < n { j = n ; }"), "{after}");
        let leaves = quote!(if row[j] > 3 {
            break;
        });
        let [_, after] = rewritten(&quote!(j < n), &leaves, &quote!(j));
        assert!(after.contains("for __at_0 in 0 ..= n { j = __at_0 ; if __at_0 == n { break ; }"), "{after}");
        let [_, after] = rewritten(&quote!(j < n), &leaves, &quote!(n));
        assert!(after.contains("for __at_0 in 0 .. n { if row [__at_0] > 3 { break ; } }"), "{after}");
    }

    #[test]
    fn other_loops_stay() {
        let body = quote!(row[j] += n;);
        for cond in [
            // Ends that may change or that may be of any type, counters that may overflow.
            quote!(j < m),
            quote!(j <= n),
            quote!(j * j < n),
            quote!(row[j] < 5),
            quote!(j < w.len()),
            quote!(j < v.len()),
            quote!(j < N),
        ] {
            let [before, after] = rewritten(&cond, &body, &quote!(3));
            assert_eq!(before, after);
        }
        for body in [
            quote!(j += 1;),
            quote!(if n > 3 {
                continue;
            }),
            quote!(other(&mut j);),
            quote!(j.add_assign(1);),
            quote!(println!("{j}");),
            quote!(let next = || j;),
        ] {
            let [before, after] = rewritten(&quote!(j < n), &body, &quote!(3));
            assert_eq!(before, after);
        }
        // Not worth a second variable.
        let [before, after] = rewritten(
            &quote!(j < n),
            &quote!(if n > 3 {
                break;
            }),
            &quote!(j),
        );
        assert_eq!(before, after);
    }

    #[test]
    fn loops_that_count_in_steps_are_for_loops() {
        let rewritten = |init: proc_macro2::TokenStream, cond: proc_macro2::TokenStream, step: u64| {
            let step = Literal::u64_unsuffixed(step);
            let mut function = functions(quote! {
                fn f(#[each] a: &[u32], n: usize) -> usize {
                    let mut j = #init;
                    while #cond { a[j]; j += #step; }
                    3
                }
            })
            .remove(0);
            rewrite(&mut function, &VariableTypes::new(), &Definitions::default());
            text(&function.body)
        };
        for (init, cond, step, head) in [
            (quote!(0), quote!(j < a.len()), 3, "(0 .. a . len ()) . step_by (3)"),
            (quote!(n % 2), quote!(j + 1 < 100), 2, "(n % 2 + 1 .. 100) . step_by (2)"),
            (quote!(1), quote!(j + 2 < n), 1, "in 1 + 2 .. n"),
        ] {
            let after = rewritten(init, cond, step);
            assert!(after.contains(head), "{after}");
        }
        // The counter may overflow, or comes from elsewhere.
        for (init, cond, step) in [
            (quote!(0), quote!(j < n), 2),
            (quote!(0), quote!(j < 126), 2),
            (quote!(g(n)), quote!(j < 100), 1),
            (quote!(0), quote!(j + n < 100), 1),
        ] {
            let after = rewritten(init, cond, step);
            assert!(after.contains("while"), "{after}");
        }
    }
}
