//! Chains of iterator adaptors over what all members share, and over a member's arrays, as loops, which become vectors of lanes.
//!
//! ```text
//! let y = 1.0 + c.iter().rev().fold(0.0, |s, &c| s * x + c);
//!     ──▶   let mut state = 0.0; for &c in c.iter().rev() { let s = state; state = s * x + c; } let y = 1.0 + state;
//! ```
//!
//! Known are `map`, `filter` and `filter_map`, and what ends a chain in [`chain_ends`]. Adaptors without closures stay in the loop's head.
//!
//! **Invariant:** what is evaluated, and in which order, stays: adaptors are lazy, so an element runs through all of them before the next one is
//! asked for. A variable of the loop has the type that the chain's value has, wherever that decides what code means.

use syn::{Expr, ExprForLoop, ExprMethodCall, Ident, Stmt, Type, parse_quote_spanned};

use crate::desugar::chain_ends::{self, Ended};
use crate::desugar::chain_loop::is_quiet;
use crate::desugar::chain_rounds::{Round, closure};
use crate::std_models::pure::is_constant;
use crate::syntax::mentions::bare;
use crate::syntax::walk::{self, At};

/// A loop that a chain becomes.
pub(super) struct ChainLoop {
    pub(super) before: Vec<Stmt>,
    pub(super) each: ExprForLoop,
    pub(super) value: Expr,
    /// The code of its closures.
    pub(super) closures: Vec<Expr>,
    /// Whether it counts through a list or a range. Else blocks would ask an iterator for each member, and only lane interchange helps.
    pub(super) is_counted: bool,
    /// Whether it goes over a member's arrays.
    pub(super) is_short: bool,
    /// Whether it runs equally often for all.
    pub(super) is_alike: bool,
    /// Whether members leave it at different times, so that lane interchange may not take it.
    pub(super) leaves: bool,
}

/// The loop that a chain becomes. `is_list` says what all members share, `is_array` what is a member's array, and `type_of` the type of an
/// expression, if it is known.
pub(super) fn loop_of(
    chain: &Expr,
    is_list: impl Fn(&Expr) -> bool,
    is_array: impl Fn(&Expr) -> bool,
    type_of: impl Fn(&Expr) -> Option<Type>,
    names: &mut dyn FnMut(&str) -> Ident,
) -> Option<ChainLoop> {
    let Expr::MethodCall(last) = chain else { return None };
    let (source, stages) = stages(&last.receiver, &|list| is_list(list) || is_array(list))?;
    let is_short = walk::any(&source, |at| matches!(at, At::Expr(e) if is_array(e)));
    let mut round = Round { pat: None, stmts: vec![], element: None, closures: vec![], names };
    for stage in &stages {
        let (1, closure) = (stage.args.len(), closure(stage.args.first()?)?) else { return None };
        match stage.method.to_string().as_str() {
            "map" => round.map(closure)?,
            "filter" => round.filter(closure)?,
            "filter_map" => round.filter_map(closure)?,
            _ => return None,
        }
    }
    let ended = chain_ends::end(last, source, round, is_short, !stages.is_empty(), &type_of)?;
    let Ended { before, value, round, source } = ended;
    let (pat, stmts) = (round.pat?, round.stmts);
    let leaves = !is_short && chain_ends::leaves(&last.method);
    // A loop is explained by its line.
    let each = parse_quote_spanned!(last.method.span()=> for #pat in #source { #(#stmts)* });
    let (is_counted, is_alike) = (is_counted(&source), runs_alike(&source));
    Some(ChainLoop { before, each, value, closures: round.closures, is_counted, is_short, is_alike, leaves })
}

/// Whether an expression is a chain of adaptors over lists.
pub(super) fn is_chain(expr: &Expr, is_list: &dyn Fn(&Expr) -> bool) -> bool {
    stages(expr, is_list).is_some()
}

/// What the loop goes over, and the adaptors with closures behind it.
fn stages<'c>(chain: &'c Expr, is_list: &dyn Fn(&Expr) -> bool) -> Option<(Expr, Vec<&'c ExprMethodCall>)> {
    let mut stages = Vec::new();
    let mut source = chain;
    while let Expr::MethodCall(call) = bare(source)
        && matches!(call.args.first(), Some(Expr::Closure(_)))
    {
        stages.push(call);
        source = &call.receiver;
    }
    stages.reverse();
    is_source(source, is_list).then(|| (source.clone(), stages))
}

/// Whether an iterator goes through lists, or from one number to another.
fn is_source(expr: &Expr, is_list: &dyn Fn(&Expr) -> bool) -> bool {
    match bare(expr) {
        Expr::Range(e) => {
            let is_end = |end: &Option<Box<Expr>>| end.as_deref().is_some_and(|end| is_end(end, is_list));
            is_end(&e.start) && is_end(&e.end)
        }
        Expr::MethodCall(e) => match (e.method.to_string().as_str(), e.args.first()) {
            ("iter", None) => is_list(bare(&e.receiver)),
            ("enumerate" | "rev" | "copied", None) => is_source(&e.receiver, is_list),
            ("skip" | "take" | "step_by", Some(count)) => is_quiet(count) && is_source(&e.receiver, is_list),
            ("zip", Some(other)) => {
                let goes_along = match bare(other) {
                    Expr::Reference(e) => e.mutability.is_none() && is_list(bare(&e.expr)),
                    other => is_list(other) || is_source(other, is_list),
                };
                goes_along && is_source(&e.receiver, is_list)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether an end of a range is a number: computed from variables, or the length of a list.
fn is_end(end: &Expr, is_list: &dyn Fn(&Expr) -> bool) -> bool {
    match bare(end) {
        Expr::Lit(_) => true,
        Expr::Path(path) => is_constant(path) || path.path.get_ident().is_some(),
        Expr::MethodCall(e) => e.method == "len" && e.args.is_empty() && is_list(bare(&e.receiver)),
        Expr::Cast(e) => is_end(&e.expr, is_list),
        Expr::Binary(e) => is_end(&e.left, is_list) && is_end(&e.right, is_list),
        _ => false,
    }
}

/// Whether a loop runs equally often for all: the ends of ranges are literals, constants and lengths of lists.
fn runs_alike(source: &Expr) -> bool {
    let is_alike = |end: &Option<Box<Expr>>| match end.as_deref().map(bare) {
        Some(Expr::Path(path)) => is_constant(path),
        Some(end) => matches!(end, Expr::Lit(_) | Expr::MethodCall(_)),
        None => true,
    };
    !walk::any(source, |at| match at {
        At::Expr(Expr::Range(e)) => !(is_alike(&e.start) && is_alike(&e.end)),
        _ => false,
    })
}

/// Whether lowering counts through what a loop goes over.
fn is_counted(source: &Expr) -> bool {
    match bare(source) {
        Expr::MethodCall(e) if e.args.is_empty() => {
            e.method == "iter"
                || ["copied", "enumerate"].iter().any(|name| e.method == name) && is_counted(&e.receiver)
        }
        Expr::Range(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;
    use quote::{ToTokens, quote};

    use syn::parse_quote;

    use super::*;

    /// The loop of a chain over `xs` and `ys`, which are shared.
    fn looped(chain: &str) -> Option<String> {
        let chain: Expr = syn::parse_str(chain).expect("an expression");
        let is_shared = |expr: &Expr| ["xs", "ys"].contains(&expr.to_token_stream().to_string().as_str());
        let known = |expr: &Expr| matches!(expr, Expr::Path(_)).then(|| parse_quote!(f64));
        let mut names = |name: &str| Ident::new(name, Span::call_site());
        let is_array = |expr: &Expr| ["rows"].contains(&expr.to_token_stream().to_string().as_str());
        let ChainLoop { before, each, value, .. } = loop_of(&chain, is_shared, is_array, known, &mut names)?;
        Some(quote!(#(#before)* #each #value).to_string())
    }

    #[test]
    fn chains_are_loops() {
        let pairs = [
            (
                "xs.iter().rev().fold(0.0, |s, &c| s * x + c)",
                quote! {
                    let mut state = 0.0;
                    for &c in xs.iter().rev() { let s = state; state = s * x + c; }
                    state
                },
            ),
            (
                "(0..xs.len()).map(|i| xs[i] * ys[i]).sum::<f64>()",
                quote! {
                    let mut state: f64 = -0.0;
                    for i in (0..xs.len()) { state += xs[i] * ys[i]; }
                    state
                },
            ),
            (
                "xs.iter().map(|x| x - a).fold(big, f64::min)",
                quote! {
                    let mut state: f64 = big;
                    for x in xs.iter() { state = f64::min(state, x - a); }
                    state
                },
            ),
            (
                "xs.iter().fold((big, a), |(s, q), &x| (s + x, q + x * x))",
                quote! {
                    let mut state = (big, a);
                    for &x in xs.iter() { let (s, q) = state; state = (s + x, q + x * x); }
                    state
                },
            ),
            (
                "xs.iter().zip(ys).filter(|&(x, y)| x < y).count()",
                quote! {
                    let mut state = 0usize;
                    for item in xs.iter().zip(ys) { let (x, y) = item; if !(x < y) { continue; } state += 1; }
                    state
                },
            ),
            (
                "xs.iter().position(|&x| x > a)",
                quote! {
                    let mut place = 0usize;
                    let mut state = false;
                    for (at, &x) in xs.iter().enumerate() { if x > a { place = at; state = true; break; } }
                    if state { ::core::option::Option::Some(place) } else { ::core::option::Option::None }
                },
            ),
        ];
        for (chain, expected) in pairs {
            assert_eq!(looped(chain), Some(expected.to_string()), "{chain}");
        }
    }

    #[test]
    fn what_might_mean_something_else_stays_a_chain() {
        let chains = [
            "own.iter().map(|x| x - a).sum::<f64>()",
            "xs.iter().map(|x| x - a).sum()",
            "xs.iter().fold(0.0, |s, &x| s.max(x))",
            "xs.iter().map(|x| { println!(); x }).count()",
            "xs.iter().map(|x| { return 1.0; }).sum::<f64>()",
            "xs.iter().filter(|x| **x > a).count()",
            "xs.iter().map(|x| x - a).skip(2).sum::<f64>()",
            "xs.iter().map(move |x| x - a).sum::<f64>()",
            "xs.iter().sum::<f64>()",
            "(0..next(n)).map(|i| i).sum::<usize>()",
            "xs.iter().zip(ys.iter().map(|y| y * a)).map(|(x, y)| x * y).sum::<f64>()",
            "xs.iter().zip(own).map(|(x, y)| x * y).sum::<f64>()",
            "xs.iter().skip(n + 1).map(|x| x - a).sum::<f64>()",
            "xs.iter().step_by(n).fold(a / b, |s, x| s - x)",
        ];
        for chain in chains {
            assert_eq!(looped(chain), None, "{chain}");
        }
    }
}
