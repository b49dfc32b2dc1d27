//! `array.swap(i, j)` and `std::mem::swap(&mut x, &mut y)` as assignments: what is done with elements and numbers is done with these too.
//!
//! ```text
//! a.swap(i, j + 1);                  ──▶   let __element = a[i]; a[i] = a[j + 1]; a[j + 1] = __element;
//! std::mem::swap(&mut x, &mut y);    ──▶   let __element = x; x = y; y = __element;
//! ```
//!
//! **Invariant:** the method is that of slices: rustc checks that calls find no other of the name. The types are certain, and `Copy`.

use proc_macro2::Span;
use syn::{BinOp, Expr, ExprMethodCall, Ident, Type, parse_quote};

use crate::analysis::lane_interchange::swapped;
use crate::desugar::helper_checks::HelperChecks;
use crate::resolve::types::{Scopes, Types};
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{bare, name};

/// The block that such a call becomes, and what rustc has to check.
pub(super) fn exchanged(
    types: &Types<'_>,
    scopes: &Scopes,
    call: &ExprMethodCall,
) -> Option<(Expr, HelperChecks)> {
    let (array, args) = (&call.receiver, call.args.iter().collect::<Vec<_>>());
    let [i, j] = args[..] else { return None };
    if call.method != "swap" || call.turbofish.is_some() || !is_simple(i) || !is_simple(j) {
        return None;
    }
    name(bare(array))?;
    let whole = types.plain(&types.of(scopes, array)?);
    let (whole, ty) = match &whole {
        Type::Reference(r) if r.mutability.is_some() => {
            let ty = types.plain(&r.elem);
            (parse_quote!(&mut #ty), ty)
        }
        ty => (ty.clone(), ty.clone()),
    };
    let Type::Array(of) = &ty else { return None };
    let element = types.definitions.is_value(&of.elem).then_some(&of.elem)?;
    let mut checks = HelperChecks::default();
    checks.is_of_slices(&call.method, &whole);
    let kept = Ident::new("__element", Span::mixed_site());
    let block = parse_quote!({
        let #kept: #element = #array[#i];
        #array[#i] = #array[#j];
        #array[#j] = #kept;
    });
    Some((block, checks))
}

/// The block that an exchange of two variables becomes.
pub(super) fn exchanged_variables(types: &Types<'_>, scopes: &Scopes, call: &Expr) -> Option<Expr> {
    let [one, other] = swapped(call)?.map(bare);
    let ty = types.certain(scopes, one).filter(is_primitive)?;
    if name(one).is_none() || name(other).is_none() {
        return None;
    }
    let kept = Ident::new("__element", Span::mixed_site());
    Some(parse_quote!({
        let #kept: #ty = #one;
        #one = #other;
        #other = #kept;
    }))
}

/// Whether an index may be evaluated twice: a variable, a literal, or a sum or difference of these.
fn is_simple(index: &Expr) -> bool {
    match bare(index) {
        Expr::Lit(_) => true,
        Expr::Binary(e) => {
            matches!(e.op, BinOp::Add(_) | BinOp::Sub(_)) && is_simple(&e.left) && is_simple(&e.right)
        }
        other => name(other).is_some(),
    }
}
