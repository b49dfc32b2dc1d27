//! Loops of a few rounds around others are unrolled: LLVM does that too, but too late, or not at all where it comes to too much, and a loop
//! that is left keeps the lanes from becoming vectors.
//!
//! ```text
//! for i in 0..2 { for j in 0..=i { s += a[i][j]; } }
//!
//! let mut i_rounds = 0..2;
//! if let Some(i) = i_rounds.next() { let mut j_rounds = 0..=i; if let Some(j) = j_rounds.next() { s += a[i][j]; } for j in j_rounds … }
//! if let Some(i) = i_rounds.next() { … }
//! for i in i_rounds { … }
//! ```
//!
//! A loop in no other is left to LLVM.
//!
//! **Invariant:** the code makes the loop's rounds, whatever they are: their number is asked, and the loop itself stands behind them. LLVM
//! knows the number, so nothing is left of that.

use proc_macro2::{Ident, Span};
use syn::{Expr, ExprForLoop, Stmt, parse_quote};

use crate::analysis::short_loops::{Counters, is_short_nest, rounds};
use crate::std_models::trip_count::TripCounts;
use crate::syntax::walk::{self, AtMut, Code, Next};

/// Unrolls the loops of a statement.
pub(crate) fn unroll(stmt: &mut Stmt, counts: &TripCounts) {
    walk::map(stmt, |at| {
        let AtMut::Expr(expr) = at else { return Next::On };
        match &*expr {
            Expr::ForLoop(e) if is_short_nest(e, counts) => {
                if let Some(unrolled) = copies(e, counts, &Counters::new(), 0) {
                    *expr = unrolled;
                }
                Next::Past
            }
            // It is no straight code, whatever stands in it.
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => Next::Past,
            _ => Next::On,
        }
    });
}

/// The rounds of a loop in so many others one after the other.
fn copies(e: &ExprForLoop, counts: &TripCounts, known: &Counters, depth: usize) -> Option<Expr> {
    let (counter, range) = rounds(e, counts, known)?;
    let (pat, iter, body) = (&e.pat, &e.expr, &e.body);
    let left = Ident::new(&format!("__rounds_{depth}"), Span::mixed_site());
    let copies = range.map(|round| -> Stmt {
        let mut known = known.clone();
        known.insert(counter.clone(), round);
        let mut body = body.clone();
        inside(&mut body, counts, &known, depth + 1);
        parse_quote! {
            if let ::core::option::Option::Some(#pat) = ::core::iter::Iterator::next(&mut #left) #body
        }
    });
    Some(parse_quote!({
        let mut #left = #iter;
        #(#copies)*
        for #pat in #left #body
    }))
}

/// The same with the loops in code.
fn inside<C: Code + ?Sized>(code: &mut C, counts: &TripCounts, known: &Counters, depth: usize) {
    walk::map(code, |at| {
        let AtMut::Expr(expr) = at else { return Next::On };
        let Expr::ForLoop(e) = &*expr else { return Next::On };
        let Some(unrolled) = copies(e, counts, known, depth) else { return Next::On };
        *expr = unrolled;
        Next::Past
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::mentions::text;

    fn unrolled(stmt: Stmt) -> String {
        let mut unrolled = stmt;
        unroll(&mut unrolled, &TripCounts::default());
        text(&unrolled)
    }

    #[test]
    fn rounds_stand_one_after_the_other() {
        let code = unrolled(parse_quote! {
            for i in 0..2 { for j in 0..=i { s += a[i][j]; } }
        });
        // Three rounds of the inner loop, and what is left of it three times.
        assert_eq!(code.matches("s += a [i] [j]").count(), 3 + 3, "{code}");
        assert_eq!(code.matches("Iterator :: next (& mut __rounds_0)").count(), 2);
        assert_eq!(code.matches("Iterator :: next (& mut __rounds_1)").count(), 3);
    }

    #[test]
    fn other_loops_stay() {
        let loops: [Stmt; 5] = [
            parse_quote!(for i in 0..4 {
                s += a[i];
            }),
            parse_quote!(for i in 0..9 {
                for j in 0..2 {
                    s += a[i][j];
                }
            }),
            parse_quote!(for i in 0..n {
                for j in 0..2 {
                    s += a[i][j];
                }
            }),
            parse_quote!(for i in 0..2 {
                for j in 0..2 {
                    if s > 1.0 {
                        break;
                    }
                    s += a[i][j];
                }
            }),
            parse_quote!(for i in 0..8 {
                for j in 0..8 {
                    for k in 0..8 {
                        s += a[i][j] * b[j][k] + 2.0;
                    }
                }
            }),
        ];
        for stmt in loops {
            let before = text(&stmt);
            assert_eq!(unrolled(stmt), before);
        }
    }
}
