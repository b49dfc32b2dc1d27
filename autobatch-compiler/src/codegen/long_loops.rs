//! Loops that stay whole in lane code, and may be long: they look at the limits of the run once in so many turns.
//!
//! ```text
//! for i in 0..n { … }    ──▶    let __turns = 0..n;
//!                               let __long = is_long(&__turns);             // a constant where the bounds are
//!                               for i in __turns { if __long { turn(); } … }
//! ```
//!
//! Only ranges have so many turns: whatever else a loop goes over is in memory.
//!
//! **Invariant:** the loop makes the turns that it made, with the same types.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, parse_quote};

use crate::analysis::lane_interchange::{endless, steps};
use crate::codegen::names::name;
use crate::std_models::trip_count::TripCounts;
use crate::syntax::mentions::bare;
use crate::syntax::walk::{self, AtMut, Code, Next};

/// Up to here loops are short: the runtime's `LONG`.
const SHORT: u64 = 256;

/// What a loop counts by: statements before it, what it goes over, and what each turn begins with.
pub(crate) struct Counted {
    pub(crate) before: TokenStream,
    pub(crate) iter: Ident,
    pub(crate) turn: TokenStream,
}

/// How a loop over `iter` in the code of one lane counts, if it may be long; `inside` if it is in another that counts.
fn counted(rt: &TokenStream, iter: &Expr, inside: bool, counts: &TripCounts) -> Option<Counted> {
    let ask = if inside { quote!(is_long_inside) } else { quote!(is_long) };
    let long = name("__long");
    let (before, turn) = (quote!(let #long = #rt::#ask), quote!(if #long { #rt::turn(); }));
    may_be_long(iter, counts).then(|| of(quote!(#iter), before, turn))
}

/// The same for a loop around loops over the lanes, which goes over `of_all` in the place of `iter` if that is said.
pub(crate) fn counted_around_lanes(
    rt: &TokenStream,
    iter: &Expr,
    of_all: Option<TokenStream>,
    inside: bool,
    counts: &TripCounts,
) -> Option<Counted> {
    let ask = if inside { quote!(turns_left_inside) } else { quote!(turns_left) };
    let left = name("__left");
    let (before, turn) = (quote!(let mut #left = #rt::#ask), quote!(#rt::next_turn(&mut #left);));
    may_be_long(iter, counts).then(|| of(of_all.unwrap_or(quote!(#iter)), before, turn))
}

/// `ask` ends in a function that is asked about what the loop goes over.
fn of(iter: TokenStream, ask: TokenStream, turn: TokenStream) -> Counted {
    let turns = name("__turns");
    let before = quote!(let #turns = ::core::iter::IntoIterator::into_iter(#iter); #ask(&#turns););
    Counted { before, iter: turns, turn }
}

/// Has the loops of lane code count.
pub(crate) fn count(code: &mut (impl Code + ?Sized), rt: &TokenStream, inside: bool, counts: &TripCounts) {
    walk::map(code, |at| {
        let AtMut::Expr(expr) = at else { return Next::On };
        let Expr::ForLoop(e) = &mut *expr else { return Next::On };
        let Some(Counted { before, iter, turn }) = counted(rt, &e.expr, inside, counts) else {
            return Next::On;
        };
        count(&mut e.body, rt, true, counts);
        e.body.stmts.insert(0, parse_quote!(#turn));
        *e.expr = parse_quote!(#iter);
        *expr = parse_quote!({ #before #expr });
        Next::Past
    });
}

/// Whether a loop over an expression is not known to be short.
fn may_be_long(iter: &Expr, counts: &TripCounts) -> bool {
    is_range(iter) && counts.of(iter).is_none_or(|turns| turns > SHORT)
}

/// Whether an expression is a range, or what methods make of one.
fn is_range(iter: &Expr) -> bool {
    match bare(iter) {
        Expr::Range(_) => true,
        Expr::MethodCall(e) => is_range(&e.receiver),
        iter => steps(iter).is_some() || endless(iter).is_some(),
    }
}
