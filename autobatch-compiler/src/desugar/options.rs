//! The adaptors of `Option`, `Result` and `bool` as a `match`.

use syn::{Expr, ExprMethodCall, Type, parse_quote};

use crate::desugar::chain_loop::{condition, is_quiet};
use crate::desugar::closure::{Arg, Wrapper, apply};
use crate::desugar::rewrite::Rewrite;

/// The `match` that a call becomes, if a closure among its arguments leads to a call of the program. `of` is the receiver's type, if it
/// is known.
pub(super) fn call(rewrite: &mut Rewrite<'_>, call: &ExprMethodCall, of: Option<&Type>) -> Option<Expr> {
    let args: Vec<&Expr> = call.args.iter().collect();
    let name = call.method.to_string();
    if call.turbofish.is_some() || !args.iter().any(|arg| rewrite.leads_to_call(arg)) {
        return None;
    }
    let receiver = condition((*call.receiver).clone());
    let kind = of.and_then(Wrapper::of).or_else(|| by_name(&name, &args));
    let it = rewrite.fresh("it");
    let rest = rewrite.fresh("rest");
    let (some, none): (Expr, Expr) =
        (parse_quote!(::core::option::Option::Some), parse_quote!(::core::option::Option::None));
    let (ok, err): (Expr, Expr) =
        (parse_quote!(::core::result::Result::Ok), parse_quote!(::core::result::Result::Err));
    let with = [Arg::Value(it.clone())];
    let of_rest = [Arg::Value(rest.clone())];
    let by_ref = [Arg::Ref(it.clone())];
    // What there is with a value, and without; and what a closure gets in place of the value.
    let (good, bad, without) = match kind {
        Some(Wrapper::Result) => (&ok, parse_quote!(#err(#rest)), &of_rest[..]),
        _ => (&some, none.clone(), &[][..]),
    };
    // The closure, and what it is called with.
    let (f, given) = match (name.as_str(), &args[..], kind) {
        ("then", [f], _) if is_function_of_none(f) => (f, &[][..]),
        ("ok_or_else", [f], _) => (f, &[][..]),
        ("map" | "and_then", [f], Some(_)) => (f, &with[..]),
        ("map_or", [_, f], _) | ("map_or_else", [_, f], Some(_)) => (f, &with[..]),
        ("is_some_and" | "is_none_or" | "is_ok_and", [f], _) => (f, &with[..]),
        ("map_err", [f], _) => (f, &of_rest[..]),
        ("unwrap_or_else" | "or_else", [f], Some(_)) => (f, without),
        ("filter", [f], Some(Wrapper::Option)) => (f, &by_ref[..]),
        _ => return None,
    };
    let default = if name == "map_or_else" { apply(rewrite, args[0], without)? } else { none.clone() };
    let value = apply(rewrite, f, given)?;
    Some(match name.as_str() {
        "then" => parse_quote!(if #receiver { #some(#value) } else { #none }),
        "map" => parse_quote!(match #receiver { #good(#it) => #good(#value), #bad => #bad }),
        "and_then" => parse_quote!(match #receiver { #good(#it) => #value, #bad => #bad }),
        "map_err" => parse_quote!(match #receiver { #ok(#it) => #ok(#it), #err(#rest) => #err(#value) }),
        "map_or" => {
            let default = args[0];
            // Evaluated behind the receiver, whatever that is.
            let (matched, otherwise): (Expr, Expr) = if is_quiet(default) {
                (receiver.clone(), default.clone())
            } else {
                let otherwise = rewrite.fresh("otherwise");
                (parse_quote!(#rest), parse_quote!(#otherwise))
            };
            let mapped: Expr = match kind {
                Some(_) => parse_quote!(match #matched { #good(#it) => #value, _ => #otherwise }),
                None => {
                    let krate = rewrite.krate;
                    parse_quote!(match #krate::__rt::Question::branch(#matched) {
                        ::core::ops::ControlFlow::Continue(#it) => #value,
                        ::core::ops::ControlFlow::Break(_) => #otherwise,
                    })
                }
            };
            if is_quiet(default) {
                mapped
            } else {
                parse_quote!(match #receiver { #rest => { let #otherwise = #default; #mapped } })
            }
        }
        "map_or_else" => parse_quote!(match #receiver { #good(#it) => #value, #bad => #default }),
        "unwrap_or_else" => parse_quote!(match #receiver { #good(#it) => #it, #bad => #value }),
        "or_else" => parse_quote!(match #receiver { #good(#it) => #good(#it), #bad => #value }),
        "ok_or_else" => parse_quote!(match #receiver { #some(#it) => #ok(#it), #none => #err(#value) }),
        "is_some_and" => parse_quote!(match #receiver { #some(#it) => #value, #none => false }),
        "is_none_or" => parse_quote!(match #receiver { #some(#it) => #value, #none => true }),
        "is_ok_and" => parse_quote!(match #receiver { #ok(#it) => #value, #err(_) => false }),
        _ => {
            let keep = condition(value);
            parse_quote!(match #receiver { #some(#it) => if #keep { #some(#it) } else { #none }, #none => #none })
        }
    })
}

/// What the receiver is, told by the method and its closures.
fn by_name(method: &str, args: &[&Expr]) -> Option<Wrapper> {
    let of_arity = |f: &Expr| match f {
        Expr::Closure(c) if c.inputs.is_empty() => Some(Wrapper::Option),
        Expr::Closure(_) => Some(Wrapper::Result),
        _ => None,
    };
    match (method, args) {
        ("map_or_else", [default, _]) => of_arity(default),
        ("unwrap_or_else" | "or_else", [f]) => of_arity(f),
        _ => None,
    }
}

fn is_function_of_none(f: &Expr) -> bool {
    matches!(f, Expr::Closure(c) if c.inputs.is_empty())
}
