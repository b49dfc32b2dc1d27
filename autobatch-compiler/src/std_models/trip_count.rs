//! Trip counts: how often a `for` runs its body at most, as far as literals, constants and the lengths of arrays say.
//!
//! `for (x, v) in x.iter_mut().zip(&v)` runs three times if one of the two is a `[f64; 3]`. A loop of a few rounds is
//! straight code: LLVM unrolls it before it makes vectors of lanes.
//!
//! **Invariant:** a trip count decides how code is cut and placed, never what it does. So the names of std's methods
//! will do.

use std::collections::BTreeMap;

use syn::{Expr, RangeLimits, Type};

use crate::std_models::pure::literal;
use crate::syntax::mentions::{bare, bare_type, name};

/// The most rounds of a loop that is straight code.
pub(crate) const SHORT: u64 = 8;

/// The numbers that bound loops: lengths of arrays and values of constants, and of variables that are like constants, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TripCounts {
    arrays: BTreeMap<String, u64>,
    constants: BTreeMap<String, u64>,
}

impl TripCounts {
    /// With these constants, by name, and no arrays yet.
    pub(crate) fn with_constants(constants: BTreeMap<String, u64>) -> TripCounts {
        TripCounts { arrays: BTreeMap::new(), constants }
    }

    /// Notes a variable that has a type or is given a value, which it keeps if it is `fixed`.
    pub(crate) fn bind(&mut self, variable: String, ty: Option<&Type>, value: Option<&Expr>, fixed: bool) {
        let number = value.filter(|_| fixed).and_then(literal);
        self.constants.extend(number.map(|number| (variable.clone(), number)));
        let length = ty.and_then(|ty| self.length(ty)).or_else(|| self.items(value?));
        self.arrays.extend(length.map(|length| (variable, length)));
    }

    /// How often a `for` over an expression runs its body at most.
    pub(crate) fn of(&self, expr: &Expr) -> Option<u64> {
        match bare(expr) {
            Expr::Range(_) => self.of_range(expr),
            Expr::MethodCall(e) => {
                let of_receiver = || self.of(&e.receiver);
                match &e.method.to_string()[..] {
                    "iter" | "iter_mut" | "into_iter" | "copied" | "cloned" | "enumerate" | "filter"
                    | "filter_map" | "inspect" | "map" | "rev" | "skip" | "skip_while" | "step_by"
                    | "take_while" | "windows" => of_receiver(),
                    "take" => of_receiver().into_iter().chain(self.number(e.args.first()?)).min(),
                    "zip" => of_receiver().into_iter().chain(self.of(e.args.first()?)).min(),
                    "chain" => Some(of_receiver()? + self.of(e.args.first()?)?),
                    _ => None,
                }
            }
            other => self.items(other),
        }
    }

    /// The same if what it counts through is a range.
    pub(crate) fn of_range(&self, expr: &Expr) -> Option<u64> {
        match bare(expr) {
            Expr::Range(e) => {
                let start = self.number(e.start.as_ref()?)?;
                let end = self.number(e.end.as_ref()?)?;
                Some((end + u64::from(matches!(e.limits, RangeLimits::Closed(_)))).saturating_sub(start))
            }
            Expr::MethodCall(e) if e.method == "rev" || e.method == "enumerate" => self.of_range(&e.receiver),
            _ => None,
        }
    }

    /// The same if it is so few times that the loop is straight code.
    pub(crate) fn short(&self, expr: &Expr) -> Option<u64> {
        self.of(expr).filter(|rounds| *rounds <= SHORT)
    }

    /// Whether it is a range of so few rounds. Unlike the iteration of a list, that evaluates nothing of the user's.
    pub(crate) fn is_short_range(&self, expr: &Expr) -> bool {
        self.of_range(expr).is_some_and(|rounds| rounds <= SHORT)
    }

    /// How many elements an array has, or a reference to one.
    fn items(&self, expr: &Expr) -> Option<u64> {
        match bare(expr) {
            Expr::Path(_) => self.arrays.get(&name(bare(expr))?).copied(),
            Expr::Reference(e) => self.items(&e.expr),
            Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => self.items(&e.expr),
            Expr::Array(e) => Some(e.elems.len() as u64),
            Expr::Repeat(e) => self.number(&e.len),
            Expr::MethodCall(e) if e.method == "map" => self.items(&e.receiver),
            _ => None,
        }
    }

    /// Whether a condition is known, so that LLVM leaves one of the branches out.
    pub(crate) fn is_known(&self, condition: &Expr) -> bool {
        match bare(condition) {
            Expr::Binary(e) => self.number(&e.left).is_some() && self.number(&e.right).is_some(),
            _ => false,
        }
    }

    /// The value of a literal, of a constant, or of an array's `len`.
    pub(crate) fn number(&self, expr: &Expr) -> Option<u64> {
        match bare(expr) {
            Expr::Path(_) => self.constants.get(&name(bare(expr))?).copied(),
            Expr::MethodCall(e) if e.method == "len" => self.items(&e.receiver),
            other => literal(other),
        }
    }

    /// The length of an array type, or of one behind references.
    pub(crate) fn length(&self, ty: &Type) -> Option<u64> {
        match bare_type(ty) {
            Type::Array(t) => self.number(&t.len),
            Type::Reference(t) => self.length(&t.elem),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn counts() -> TripCounts {
        let mut counts = TripCounts::with_constants(BTreeMap::from([("DIM".to_string(), 3)]));
        counts.bind("s".into(), Some(&parse_quote!(&mut [f64; DIM])), None, false);
        counts.bind("long".into(), None, Some(&parse_quote!([0.0; 100])), false);
        counts.bind("copy".into(), None, Some(&parse_quote!(s)), true);
        counts.bind("other".into(), None, Some(&parse_quote!(f(s))), true);
        counts.bind("two".into(), None, Some(&parse_quote!(2)), true);
        counts.bind("n".into(), None, Some(&parse_quote!(2)), false);
        counts
    }

    #[test]
    fn ranges_and_arrays() {
        let counts = counts();
        let of = |expr: Expr| counts.of(&expr);
        assert_eq!(of(parse_quote!(1..=4)), Some(4));
        assert_eq!(of(parse_quote!((0..DIM).rev())), Some(3));
        assert_eq!(of(parse_quote!(1..copy.len())), Some(2));
        assert_eq!(of(parse_quote!(0..n)), None);
        assert_eq!(of(parse_quote!(0..=two)), Some(3));
        assert!(counts.is_known(&parse_quote!(two == DIM)) && !counts.is_known(&parse_quote!(n == 1)));
        assert_eq!(of(parse_quote!(&mut s)), Some(3));
        assert_eq!(of(parse_quote!([1, 2])), Some(2));
        assert!(
            counts.is_short_range(&parse_quote!(0..DIM)) && !counts.is_short_range(&parse_quote!([1, 2]))
        );
        assert_eq!(of(parse_quote!(other)), None);
    }

    #[test]
    fn chains_run_as_often_as_their_shortest_part() {
        let counts = counts();
        let of = |expr: Expr| counts.of(&expr);
        assert_eq!(of(parse_quote!(s.iter_mut().zip(other.iter().zip(&long)).enumerate())), Some(3));
        assert_eq!(of(parse_quote!(other.iter().zip(&long))), Some(100));
        assert_eq!(of(parse_quote!(s.iter().chain(&long))), Some(103));
        assert_eq!(of(parse_quote!(s.iter().cycle())), None);
        assert_eq!(counts.short(&parse_quote!(&long)), None);
        assert_eq!(counts.short(&parse_quote!(long.iter().take(4))), Some(4));
    }
}
