//! Elements of shared lists that are the same for all lanes: a piece looks at them before its loop over the lanes.
//!
//! ```text
//! for each lane { y[l] = list[i] * x[l]; }    ──▶    let shared = loaded(&list[i]);
//!                                                    for each lane { y[l] = *shared * x[l]; }
//! ```
//!
//! In the loop over the lanes the check of the index would be a branch to a panic, which LLVM does not always move out, and which stops
//! its vectoriser. So does a load under a condition. Fields of what a loop goes over (`sphere.radius`) are looked at before too.
//!
//! **Invariant:** an element is looked at before only if all lanes look at it, or if what the piece does is predicated: then an index that
//! no lane would have come to costs time, and no result.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, parse_quote};

use crate::codegen::names::numbered;
use crate::ir::VarSet;

/// The shared elements that a piece looks at.
#[derive(Default)]
pub(super) struct SharedElements {
    /// What the piece declares; none if nothing may come before it.
    own: Option<VarSet>,
    places: Vec<Expr>,
}

/// `__shared3`: a shared element.
fn shared(nth: usize) -> Ident {
    numbered("shared", nth)
}

impl SharedElements {
    /// Of a piece that declares `own`.
    pub(super) fn of_piece(own: VarSet) -> SharedElements {
        SharedElements { own: Some(own), places: vec![] }
    }

    /// What comes before the piece's loop over the lanes.
    pub(super) fn before(self, rt: &TokenStream) -> TokenStream {
        let lets = self.places.iter().enumerate().map(|(nth, place)| {
            let shared = shared(nth);
            match place {
                // It may have no size.
                Expr::Index(e) if matches!(*e.index, Expr::Range(_)) => quote!(let #shared = &#place;),
                _ => quote!(let #shared = #rt::loaded(&#place);),
            }
        });
        quote!(#(#lets)*)
    }

    /// Whether an element can be looked at before the piece: it needs nothing of what that declares.
    pub(super) fn may_come_before(&self, mentions: &VarSet) -> bool {
        self.own.as_ref().is_some_and(|own| mentions.is_disjoint(own))
    }

    /// Puts what is looked at before in the place of an element.
    pub(super) fn put(&mut self, element: &mut Expr) {
        let text = |expr: &Expr| expr.to_token_stream().to_string();
        let new = text(element);
        let known = self.places.iter().position(|place| text(place) == new);
        let nth = known.unwrap_or_else(|| {
            self.places.push(element.clone());
            self.places.len() - 1
        });
        let shared = shared(nth);
        *element = parse_quote!((*#shared));
    }
}
