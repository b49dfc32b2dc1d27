//! Code that is known to have no effects, whatever the primitive type it is applied to.

use syn::{Expr, Lit};

use crate::std_models::number_methods::{Primitives, receivers};
use crate::syntax::mentions::bare;

/// Whether a path is that of the runtime's function which looks whether a condition holds.
pub(crate) fn is_assertion(path: &syn::ExprPath) -> bool {
    let mut last = path.path.segments.iter().rev();
    last.next().is_some_and(|name| name.ident == "give_up_unless")
        && last.next().is_some_and(|of| of.ident == "vector")
}

/// Whether a path names such a function: `f64::sqrt`, `u32::from`, `autobatch::math::exp`.
pub fn is_pure_function(path: &syn::ExprPath) -> bool {
    let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    match &segments[..] {
        _ if is_assertion(path) => true,
        [.., of, name] if path.qself.is_none() => {
            let types = receivers(name);
            match Primitives::of_name(of).filter(|_| segments.len() == 2) {
                Some(ty) => {
                    types.is_some_and(|types| ty.are_among(types)) || name == "from" || name == "from_bits"
                }
                None => is_math(path),
            }
        }
        _ => false,
    }
}

/// Whether a path is that of a function of `autobatch::math`, if `math` is that module.
pub(crate) fn is_math(path: &syn::ExprPath) -> bool {
    let mut last = path.path.segments.iter().rev().map(|s| s.ident.to_string());
    let name = last.next().filter(|_| path.qself.is_none());
    name.is_some_and(|name| receivers(&name).is_some()) && last.next().is_some_and(|of| of == "math")
}

/// Whether a path is that of std's function which exchanges two values.
pub(crate) fn is_swap(path: &syn::ExprPath) -> bool {
    let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    path.qself.is_none() && matches!(segments[..], ["std" | "core", "mem", "swap"])
}

/// Whether a cast to this type yields a primitive.
pub fn is_primitive(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(p) if p.qself.is_none()
        && p.path.get_ident().is_some_and(|name| Primitives::of_name(&name.to_string()).is_some()))
}

/// Whether a type is that of floats of one size.
pub(crate) fn is_float(ty: &syn::Type) -> bool {
    is_primitive(ty) && Primitives::of_type(ty).is_some_and(|ty| ty.are_among(Primitives::FLOATS))
}

/// `[T]`, `[T; N]` or `Vec<T>`, or a reference to one: indexing it has no effects.
pub fn is_list(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(r) => r.mutability.is_none() && is_list(&r.elem),
        syn::Type::Slice(_) | syn::Type::Array(_) => true,
        syn::Type::Paren(p) => is_list(&p.elem),
        syn::Type::Path(p) => p.path.segments.last().is_some_and(|s| s.ident == "Vec"),
        _ => false,
    }
}

/// Whether a literal has a primitive type.
pub fn is_plain_literal(lit: &Lit) -> bool {
    matches!(lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_))
}

/// Whether a path can only be a constant: its last segment is in upper case.
pub fn is_constant(path: &syn::ExprPath) -> bool {
    path.path.segments.last().is_some_and(|s| {
        let name = s.ident.to_string();
        name.starts_with(|c: char| c.is_uppercase()) && !name.contains(|c: char| c.is_lowercase())
    })
}

/// The value of an integer literal.
pub(crate) fn literal(expr: &Expr) -> Option<u64> {
    match bare(expr) {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(n) => n.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
