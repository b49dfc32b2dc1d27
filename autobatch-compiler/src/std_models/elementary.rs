//! Elementary functions of numbers, which std calls in a library.

use syn::{Expr, Lit};

use crate::syntax::walk::{self, At, Code, Next};

/// Functions of one argument.
pub(crate) const UNARY: [&str; 18] = [
    "exp", "exp2", "exp_m1", "ln", "log2", "log10", "ln_1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "cbrt", "sin_cos",
];
/// Functions of two.
pub(crate) const BINARY: [&str; 4] = ["powf", "powi", "hypot", "atan2"];

/// Whether a number's method of this name is one of them.
pub fn is_elementary(name: &str) -> bool {
    UNARY.contains(&name) || BINARY.contains(&name)
}

/// Whether functions of this name are std's and are no code but calls, unless they are rewritten.
pub fn is_library(name: &syn::Ident) -> bool {
    is_elementary(&name.to_string()) && name != "powi"
}

/// Whether code calls one. `powi` with a number is a few multiplications.
pub(crate) fn calls_library(code: &(impl Code + ?Sized)) -> bool {
    let is_number = |e: &Expr| matches!(e, Expr::Lit(lit) if matches!(lit.lit, Lit::Int(_)));
    walk::any(code, |at| match at {
        At::Expr(Expr::MethodCall(e)) if e.method == "powi" => (!e.args.iter().all(is_number)).into(),
        At::Expr(Expr::MethodCall(e)) => is_library(&e.method).into(),
        At::PathSegment(segment) => is_library(&segment.ident).into(),
        At::Item(_) => Next::Inside,
        _ => Next::On,
    })
}
