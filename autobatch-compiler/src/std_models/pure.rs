//! Code that is known to have no effects, whatever the primitive type it is applied to.

use syn::{Expr, Lit};

use crate::std_models::elementary::is_elementary;
use crate::syntax::mentions::bare;

/// Methods of `f32` and `f64` that yield such a number.
const OF_FLOATS: [&str; 13] = [
    "abs", "ceil", "clamp", "copysign", "floor", "fract", "max", "min", "mul_add", "recip", "round", "sqrt",
    "trunc",
];

/// Whether a float's method of that name yields a float of the same type.
pub(crate) fn keeps_floats(method: &syn::Ident) -> bool {
    OF_FLOATS.iter().any(|name| method == name) || (is_elementary(&method.to_string()) && method != "sin_cos")
}

/// Methods of the primitive numbers that only compute, beside the elementary functions. Some can panic, like the operators.
const METHODS: &[&str] = &[
    "abs",
    "abs_diff",
    "acosh",
    "asinh",
    "atanh",
    "cast_signed",
    "cast_unsigned",
    "ceil",
    "clamp",
    "copysign",
    "count_ones",
    "count_zeros",
    "div_ceil",
    "div_euclid",
    "floor",
    "fract",
    "ilog",
    "ilog10",
    "ilog2",
    "is_ascii_alphabetic",
    "is_ascii_alphanumeric",
    "is_ascii_control",
    "is_ascii_digit",
    "is_ascii_graphic",
    "is_ascii_hexdigit",
    "is_ascii_lowercase",
    "is_ascii_punctuation",
    "is_ascii_uppercase",
    "is_ascii_whitespace",
    "is_finite",
    "is_infinite",
    "is_multiple_of",
    "is_nan",
    "is_negative",
    "is_normal",
    "is_positive",
    "is_power_of_two",
    "is_sign_negative",
    "is_sign_positive",
    "is_subnormal",
    "isqrt",
    "leading_ones",
    "leading_zeros",
    "log",
    "max",
    "midpoint",
    "min",
    "mul_add",
    "next_down",
    "next_multiple_of",
    "next_power_of_two",
    "next_up",
    "pow",
    "recip",
    "rem_euclid",
    "reverse_bits",
    "rotate_left",
    "rotate_right",
    "round",
    "round_ties_even",
    "saturating_abs",
    "saturating_add",
    "saturating_add_signed",
    "saturating_add_unsigned",
    "saturating_div",
    "saturating_mul",
    "saturating_neg",
    "saturating_pow",
    "saturating_sub",
    "saturating_sub_unsigned",
    "signum",
    "sqrt",
    "swap_bytes",
    "to_bits",
    "to_degrees",
    "to_radians",
    "trailing_ones",
    "trailing_zeros",
    "trunc",
    "unsigned_abs",
    "wrapping_abs",
    "wrapping_add",
    "wrapping_add_signed",
    "wrapping_add_unsigned",
    "wrapping_div",
    "wrapping_div_euclid",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_pow",
    "wrapping_rem",
    "wrapping_rem_euclid",
    "wrapping_shl",
    "wrapping_shr",
    "wrapping_sub",
    "wrapping_sub_unsigned",
];

const PRIMITIVES: &[&str] = &[
    "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    "bool", "char",
];

/// Whether a method of this name only computes.
pub fn is_pure_method(name: &syn::Ident) -> bool {
    only_computes(&name.to_string())
}

fn only_computes(method: &str) -> bool {
    METHODS.binary_search(&method).is_ok() || is_elementary(method)
}

/// Whether a path names such a function: `f64::sqrt`, `u32::from`, `autobatch::math::exp`.
pub fn is_pure_function(path: &syn::ExprPath) -> bool {
    let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    match &segments[..] {
        [.., of, name] if path.qself.is_none() => {
            let method = only_computes(name);
            match PRIMITIVES.contains(&of.as_str()) && segments.len() == 2 {
                true => method || name == "from" || name == "from_bits",
                false => method && of == "math",
            }
        }
        _ => false,
    }
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
        && p.path.get_ident().is_some_and(|i| PRIMITIVES.contains(&i.to_string().as_str())))
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

#[cfg(test)]
mod tests {
    #[test]
    fn methods_are_sorted() {
        assert!(super::METHODS.is_sorted());
    }
}
