//! The methods that the primitive types have themselves, by which types have them, and what they yield.
//!
//! A method of a name from this list only computes if the value that it is called on is of a type that has it here: the type's own method
//! goes before every trait's. On any other type it is somebody's method, which may do what it likes. So whoever relies on a method knows the
//! type, or asks rustc.
//!
//! **Invariant:** rustc has seen each entry: the tests name each method by its type, where no trait of a user is in scope.

use syn::{Ident, Type};

/// A set of primitive types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Primitives(u16);

/// In the order of the runtime's `probes::type_id`.
const NAMES: [&str; 16] = [
    "f64", "u64", "usize", "i64", "isize", "f32", "u32", "i32", "char", "u8", "bool", "i8", "u16", "i16",
    "u128", "i128",
];

impl Primitives {
    const NONE: Primitives = Primitives(0);
    pub(crate) const FLOATS: Primitives = Primitives::named(&["f32", "f64"]);
    pub(crate) const SIGNED: Primitives = Primitives::named(&["i8", "i16", "i32", "i64", "i128", "isize"]);
    pub(crate) const UNSIGNED: Primitives = Primitives::named(&["u8", "u16", "u32", "u64", "u128", "usize"]);
    /// Integers of up to 32 bits, of 64, and of 128.
    pub(crate) const NARROW: Primitives = Primitives::named(&["i8", "u8", "i16", "u16", "i32", "u32"]);
    pub(crate) const WIDE: Primitives = Primitives::named(&["i64", "u64", "isize", "usize"]);
    pub(crate) const HUGE: Primitives = Primitives::named(&["i128", "u128"]);
    pub(crate) const INTEGERS: Primitives = Primitives(Self::SIGNED.0 | Self::UNSIGNED.0);
    pub(crate) const NUMBERS: Primitives = Primitives(Self::INTEGERS.0 | Self::FLOATS.0);

    const fn named(names: &[&str]) -> Primitives {
        let (mut set, mut n) = (0, 0);
        while n < names.len() {
            let mut bit = 0;
            while !same(NAMES[bit], names[n]) {
                bit += 1;
            }
            set |= 1 << bit;
            n += 1;
        }
        Primitives(set)
    }

    /// The primitive type of a name.
    pub(crate) fn of_name(name: &str) -> Option<Primitives> {
        NAMES.iter().position(|known| *known == name).map(|bit| Primitives(1 << bit))
    }

    /// Those that a type may be; references to a primitive type have its methods.
    pub(crate) fn of_type(ty: &Type) -> Option<Primitives> {
        match ty {
            Type::Reference(r) => Primitives::of_type(&r.elem),
            Type::Paren(p) => Primitives::of_type(&p.elem),
            Type::Path(p) if p.qself.is_none() => match p.path.get_ident()?.to_string().as_str() {
                "__Number" => Some(Primitives::NUMBERS),
                "__Float" => Some(Primitives::FLOATS),
                "__Integer" => Some(Primitives::INTEGERS),
                name => Primitives::of_name(name),
            },
            _ => None,
        }
    }

    /// Whether all of them are among others.
    pub(crate) fn are_among(self, others: Primitives) -> bool {
        self.0 & !others.0 == 0
    }

    fn and(self, others: Primitives) -> Primitives {
        Primitives(self.0 | others.0)
    }

    /// As the runtime has it.
    pub(crate) fn bits(self) -> u16 {
        self.0
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut n = 0;
    while n < a.len() {
        if a[n] != b[n] {
            return false;
        }
        n += 1;
    }
    true
}

/// Each group: types, and what all of them have.
macro_rules! methods {
    ($([$($ty:ident)*]: $names:tt;)*) => {
        const METHODS: &[(Primitives, &[&str])] =
            &[$((Primitives::named(&[$(stringify!($ty)),*]), methods!(@names $names))),*];

        /// Does nothing: it compiles if each type has each method.
        #[cfg(test)]
        fn are_methods() {
            $($(methods!(@are $ty $names);)*)*
        }
    };
    (@names { $($name:ident)* }) => { &[$(stringify!($name)),*] };
    (@are $ty:ident { $($name:ident)* }) => { $(let _ = <$ty>::$name;)* };
}

methods! {
    [f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize]: { max min clamp midpoint };
    [bool char]: { max min clamp };
    [f32 f64 i8 i16 i32 i64 i128 isize]: { abs signum };
    [f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize]: { div_euclid rem_euclid };
    [f32 f64]: {
        acosh asinh atanh ceil copysign floor fract is_finite is_infinite is_nan is_normal is_sign_negative
        is_sign_positive is_subnormal log mul_add next_down next_up recip round round_ties_even sqrt to_bits
        to_degrees to_radians trunc
        exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan sinh cosh tanh cbrt sin_cos
        powf powi hypot atan2
    };
    [i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize]: {
        abs_diff count_ones count_zeros ilog ilog10 ilog2 isqrt leading_ones leading_zeros pow reverse_bits
        rotate_left rotate_right saturating_add saturating_div saturating_mul saturating_pow saturating_sub
        swap_bytes trailing_ones trailing_zeros wrapping_add wrapping_div wrapping_div_euclid wrapping_mul
        wrapping_neg wrapping_pow wrapping_rem wrapping_rem_euclid wrapping_shl wrapping_shr wrapping_sub
    };
    [i8 i16 i32 i64 i128 isize]: {
        cast_unsigned is_negative is_positive saturating_abs saturating_add_unsigned saturating_neg
        saturating_sub_unsigned unsigned_abs wrapping_abs wrapping_add_unsigned wrapping_sub_unsigned
    };
    [u8 u16 u32 u64 u128 usize]: {
        cast_signed div_ceil is_multiple_of is_power_of_two next_multiple_of next_power_of_two
        saturating_add_signed wrapping_add_signed
    };
    [u8 char]: {
        is_ascii_alphabetic is_ascii_alphanumeric is_ascii_control is_ascii_digit is_ascii_graphic
        is_ascii_hexdigit is_ascii_lowercase is_ascii_punctuation is_ascii_uppercase is_ascii_whitespace
    };
}

/// The primitive types that have a method of that name which only computes. Some can panic, like the operators.
pub(crate) fn receivers(method: &str) -> Option<Primitives> {
    let having = METHODS.iter().filter(|(_, names)| names.contains(&method)).map(|(types, _)| *types);
    Some(having.fold(Primitives::NONE, Primitives::and)).filter(|types| *types != Primitives::NONE)
}

/// Whether a method of that name only computes, of the types that have it.
pub fn is_pure_method(name: &Ident) -> bool {
    receivers(&name.to_string()).is_some()
}

/// Whether a method of that name only computes, whichever of these types the value has.
pub(crate) fn computes(name: &Ident, of: Primitives) -> bool {
    receivers(&name.to_string()).is_some_and(|types| of.are_among(types))
}

/// Whether a float's method of that name yields a float of the same type.
pub(crate) fn keeps_floats(name: &Ident) -> bool {
    let float: Type = syn::parse_quote!(__Float);
    computes(name, Primitives::FLOATS) && yields(&name.to_string(), &float) == float
}

/// What such a method yields of a value of that type: the same type, as a rule.
pub(crate) fn yields(method: &str, of: &Type) -> Type {
    let of = match of {
        Type::Reference(r) => &*r.elem,
        of => of,
    };
    let other = match method {
        "sin_cos" => return syn::parse_quote!((#of, #of)),
        _ if method.starts_with("is_") => "bool",
        "count_ones" | "count_zeros" | "ilog" | "ilog10" | "ilog2" | "leading_ones" | "leading_zeros"
        | "trailing_ones" | "trailing_zeros" => "u32",
        "abs_diff" | "cast_signed" | "cast_unsigned" | "to_bits" | "unsigned_abs" => "__Integer",
        _ => return of.clone(),
    };
    let other = Ident::new(other, proc_macro2::Span::call_site());
    syn::parse_quote!(#other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_methods() {
        are_methods();
        assert_eq!(receivers("recip"), Some(Primitives::FLOATS));
        assert_eq!(receivers("abs"), Some(Primitives::SIGNED.and(Primitives::FLOATS)));
        assert_eq!(receivers("log_all"), None);
        let elementary =
            crate::std_models::elementary::UNARY.iter().chain(&crate::std_models::elementary::BINARY);
        for name in elementary {
            assert_eq!(receivers(name), Some(Primitives::FLOATS), "{name}");
        }
    }
}
