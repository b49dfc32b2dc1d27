//! Arrays that a closure makes of a number of elements, element by element.
//!
//! ```text
//! std::array::from_fn::<_, 2, _>(|i| s[i] + h * a[i])   ──▶   [s[0usize] + h * a[0usize], s[1usize] + h * a[1usize]]
//! a.map(|x| x * x)                                      ──▶   [{ let x: f64 = a[0usize]; x * x }, …]
//! ```
//!
//! **Invariant:** what is evaluated, and in which order, stays. rustc checks that the function and the method are std's.

use syn::{
    Block, Expr, ExprClosure, ExprPath, GenericArgument, Ident, Pat, Path, PathArguments, Stmt, parse_quote,
};

use crate::desugar::array_loops::Arrays;
use crate::desugar::chain_rounds::closure;
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::substitution::{index, put_in_place};
use crate::std_models::trip_count::SHORT;
use crate::syntax::mentions::{bare, is_variable, roots, untyped};
use crate::syntax::walk::{self, At};

/// The array that a call makes, and what rustc has to check.
pub(super) fn elements(expr: &Expr, arrays: &Arrays<'_>) -> Option<(Expr, HelperChecks)> {
    let mut checks = HelperChecks::default();
    let elements: Vec<Expr> = match expr {
        Expr::Call(call) if call.attrs.is_empty() => {
            let (Expr::Path(func), 1) = (&*call.func, call.args.len()) else { return None };
            let (path, count) = from_fn(func)?;
            let closure = closure(&call.args[0])?;
            let Pat::Ident(name) = untyped(parameter(closure)?) else { return None };
            let count = arrays.number(&count).filter(|count| *count <= SHORT)?;
            checks.is_from_fn(&path);
            (0..count).map(|at| with(closure, &name.ident, at)).collect()
        }
        Expr::MethodCall(call)
            if call.method == "map" && call.turbofish.is_none() && call.args.len() == 1 =>
        {
            let (list, closure) = (bare(&call.receiver), closure(&call.args[0])?);
            let pat = untyped(parameter(closure)?);
            let array = arrays.of(list).filter(|array| array.count <= SHORT)?;
            checks.is_of_arrays(&call.method, &array.whole);
            // The receiver is a copy.
            let variable = roots(list).pop()?;
            if walk::any(&*closure.body, |at| matches!(at, At::Expr(e) if is_variable(e, &variable))) {
                return None;
            }
            let (elem, body) = (&array.elem, &closure.body);
            let element = |at: u64| -> Expr {
                let at = index(at);
                parse_quote!({ let #pat: #elem = #list[#at]; #body })
            };
            (0..array.count).map(element).collect()
        }
        _ => return None,
    };
    Some((parse_quote!([#(#elements),*]), checks))
}

/// The only parameter of a closure, which is a name.
fn parameter(closure: &ExprClosure) -> Option<&Pat> {
    let (1, Some(pat)) = (closure.inputs.len(), closure.inputs.first()) else { return None };
    let is_name = match untyped(pat) {
        Pat::Ident(p) => p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none(),
        _ => false,
    };
    is_name.then_some(pat)
}

/// What a closure yields for a number.
fn with(closure: &ExprClosure, parameter: &Ident, at: u64) -> Expr {
    let body = &closure.body;
    let mut block: Block = parse_quote!({ #body });
    put_in_place(&mut block, parameter, &index(at));
    match &block.stmts[..] {
        [Stmt::Expr(value, None)] => parse_quote!((#value)),
        _ => parse_quote!(#block),
    }
}

/// The path of std's function, and how many elements it makes, which is spelled out.
fn from_fn(func: &ExprPath) -> Option<(Path, Expr)> {
    let mut path = std_from_fn(func)?.clone();
    let last = path.segments.last_mut()?;
    let PathArguments::AngleBracketed(args) = std::mem::take(&mut last.arguments) else { return None };
    match args.args.iter().nth(1)? {
        GenericArgument::Const(count) => Some((path, count.clone())),
        GenericArgument::Type(syn::Type::Path(count)) => {
            Some((path, Expr::Path(ExprPath { attrs: vec![], qself: None, path: count.path.clone() })))
        }
        _ => None,
    }
}

/// The path, if it is that of `std::array::from_fn`.
pub(super) fn std_from_fn(func: &ExprPath) -> Option<&Path> {
    let segments: Vec<String> = func.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let is_std = func.qself.is_none() && matches!(segments[..], ["std" | "core", "array", "from_fn"]);
    is_std.then_some(&func.path)
}
