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
//! What lanes look at under a condition is *guarded*. If an index turns out to be out of bounds, the lanes run the code as it stands:
//!
//! ```text
//! for each lane { if x[l] > 0 { y[l] = list[i]; } }    ──▶    let shared = Guarded::element(list, i);
//!                                                             if shared.is_outside() {
//!                                                                 for each lane { if x[l] > 0 { y[l] = list[i]; } }
//!                                                             } else {
//!                                                                 for each lane { if x[l] > 0 { y[l] = *shared; } }
//!                                                             }
//! ```
//!
//! **Invariant:** an element is looked at before only if all lanes look at it, if it is guarded, or if what the piece does is predicated: then
//! an index that no lane would have come to costs time, and no result.

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
    places: Vec<Place>,
}

/// An element, and if it is guarded the list and the index.
struct Place {
    element: Expr,
    guarded: Option<(TokenStream, Expr)>,
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
    pub(super) fn before(&self, rt: &TokenStream) -> TokenStream {
        let lets = self.places.iter().enumerate().map(|(nth, Place { element, guarded })| {
            let shared = shared(nth);
            match (guarded, element) {
                (Some((list, index)), _) => {
                    let vector = quote!(#rt::vector);
                    quote!(let #shared = #vector::Guarded::element(#vector::List::of(#list), #index);)
                }
                // It may have no size.
                (None, Expr::Index(e)) if matches!(*e.index, Expr::Range(_)) => {
                    quote!(let #shared = &#element;)
                }
                (None, _) => quote!(let #shared = #rt::lane_interchange::loaded(&#element);),
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
        let shared = self.shared(element, None);
        *element = parse_quote!((*#shared));
    }

    /// The same for one of `list` that is guarded.
    pub(super) fn put_guarded(&mut self, element: &mut Expr, list: TokenStream) {
        if let Expr::Index(e) = &*element {
            let shared = self.shared(element, Some((list, (*e.index).clone())));
            *element = parse_quote!((*#shared));
        }
    }

    /// Whether what is guarded is out of bounds; none if nothing is.
    pub(super) fn is_outside(&self, rt: &TokenStream) -> Option<TokenStream> {
        let guarded = self.places.iter().enumerate().filter(|(_, place)| place.guarded.is_some());
        let each = guarded.map(|(nth, _)| {
            let shared = shared(nth);
            quote!(#rt::vector::Guarded::is_outside(&#shared))
        });
        let each: Vec<TokenStream> = each.collect();
        (!each.is_empty()).then(|| quote!(#(#each)||*))
    }

    /// The name of what is looked at before.
    fn shared(&mut self, element: &Expr, guarded: Option<(TokenStream, Expr)>) -> Ident {
        let text = |expr: &Expr| expr.to_token_stream().to_string();
        let same = |place: &Place| {
            place.guarded.is_some() == guarded.is_some() && text(&place.element) == text(element)
        };
        let known = self.places.iter().position(same);
        let nth = known.unwrap_or_else(|| {
            self.places.push(Place { element: element.clone(), guarded });
            self.places.len() - 1
        });
        shared(nth)
    }
}
