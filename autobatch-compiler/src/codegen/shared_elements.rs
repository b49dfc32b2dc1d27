//! Elements of shared lists that are the same for all lanes: a piece looks at them before its loop over the lanes.
//!
//! ```text
//! for each lane { y[l] = list[i] * x[l]; }    ──▶    let shared = &list[i];
//!                                                    for each lane { y[l] = *shared * x[l]; }
//! ```
//!
//! In the loop over the lanes the check of the index would be a branch to a panic, which LLVM does not always move out, and which stops
//! its vectoriser.
//!
//! **Invariant:** an element is looked at before only if all lanes look at it, or if what the piece does is predicated: then an index that
//! no lane would have come to costs time, and no result.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, parse_quote};

use crate::analysis::lane_interchange::indexed;
use crate::codegen::lane_interchange::Writer;
use crate::codegen::names::numbered;
use crate::ir::effects;
use crate::ir::{VarId, VarSet};
use crate::std_models::pure::is_constant;

/// The shared elements of a piece.
#[derive(Default)]
pub(crate) struct SharedElements {
    /// What the piece declares; none if nothing may come before it.
    own: Option<VarSet>,
    /// What it looks at.
    places: Vec<Expr>,
}

/// `__shared3`: a shared element.
fn shared(nth: usize) -> Ident {
    numbered("shared", nth)
}

impl Writer<'_, '_> {
    /// Begins a piece that declares `own`.
    pub(super) fn begin_hoisting(&self, own: VarSet) {
        *self.shared_elements.borrow_mut() = SharedElements { own: Some(own), places: vec![] };
    }

    /// Ends it: what comes before the loop over the lanes.
    pub(super) fn hoisted(&self) -> TokenStream {
        let elements = self.shared_elements.take();
        let lets = elements.places.iter().enumerate().map(|(nth, place)| {
            let shared = shared(nth);
            quote!(let #shared = &#place;)
        });
        quote!(#(#lets)*)
    }

    /// Puts a reference in the place of a shared element, if it is one that can be looked at before.
    pub(super) fn hoist(&self, expr: &mut Expr) -> bool {
        let mut elements = self.shared_elements.borrow_mut();
        let Some(own) = &elements.own else { return false };
        let (root, indices) = indexed(expr);
        let always = !self.conditional.get() || self.is_in().is_some();
        if indices.is_empty() || !always || !self.is_shared_place(root) {
            return false;
        }
        let is_same = |v: &VarId| self.uniforms.contains(v) || self.scope.program.var(*v).is_uniform();
        let mentions = effects::of(&self.scope.names, &*expr).mentions;
        if !mentions.iter().all(is_same) || !mentions.is_disjoint(own) {
            return false;
        }
        let text = expr.to_token_stream().to_string();
        let known = elements.places.iter().position(|place| place.to_token_stream().to_string() == text);
        let nth = known.unwrap_or_else(|| {
            elements.places.push(expr.clone());
            elements.places.len() - 1
        });
        let shared = shared(nth);
        *expr = parse_quote!((*#shared));
        true
    }

    /// Whether an expression is a shared variable, a field of one, or a constant.
    fn is_shared_place(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(e) => self.is_shared_place(&e.base),
            Expr::Path(path) => match effects::variable(&self.scope.names, expr) {
                Some(var) => self.scope.program.var(var).is_uniform(),
                None => is_constant(path),
            },
            _ => false,
        }
    }
}
