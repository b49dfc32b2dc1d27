//! Elements of arrays at indices of a lane's own: a piece looks at each of them once, at its start.
//!
//! ```text
//! if i < m && a[i] <= a[j] { b[k] = a[i]; i += 1; }         let own0 = loaded(&a[within(i, N, &outside0)][l]);
//! else { b[k] = a[j]; j += 1; }                      ──▶    let own1 = loaded(&a[within(j, N, &outside1)][l]);
//!                                                           if i < m && *own0 <= *own1 { b[k] = *own0; i += 1; }
//!                                                           else { b[k] = *own1; j += 1; }
//! ```
//!
//! A load under a condition is a gather under a mask, and each of them another one. An index out of bounds is a fault where the element is
//! looked at, not before.
//!
//! **Invariant:** between the start of the piece and the place of an element nothing changes the array or the index.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, parse_quote};

use super::Writer;
use crate::analysis::lane_interchange::indexed;
use crate::codegen::lookups::fault;
use crate::codegen::names::numbered;
use crate::codegen::region::lane;
use crate::ir::VarSet;
use crate::ir::effects;
use crate::syntax::mentions::bare;

/// What a piece looks at at its start.
#[derive(Default)]
pub(super) struct OwnElements {
    /// Variables that the piece declares, or has changed where it is looked through.
    changed: VarSet,
    /// The places, as they are looked at.
    places: Vec<Expr>,
    lets: Vec<TokenStream>,
}

impl OwnElements {
    /// Of a piece that declares these variables.
    pub(super) fn of_piece(declared: VarSet) -> OwnElements {
        OwnElements { changed: declared, ..OwnElements::default() }
    }

    /// What the piece begins with.
    pub(super) fn lets(&self) -> TokenStream {
        let lets = &self.lets;
        quote!(#(#lets)*)
    }
}

/// `__own3`: an element.
fn own(nth: usize) -> Ident {
    numbered("own", nth)
}

/// `__outside3`: whether there is none at that index.
fn outside(nth: usize) -> Ident {
    numbered("outside", nth)
}

impl Writer<'_, '_> {
    /// Notes that a place is written from here on.
    pub(super) fn is_changed(&self, place: &Expr) {
        if let Some(own) = &mut *self.own_elements.borrow_mut() {
            own.changed.extend(effects::variable(&self.scope.names, indexed(place).0));
        }
    }

    /// Looks at code in which places may be looked at again and again.
    pub(super) fn in_rounds(&self, look: impl FnOnce()) {
        let own = self.own_elements.take();
        look();
        *self.own_elements.borrow_mut() = own;
    }

    /// What stands in the place of an element that is looked at at the start of the piece, if it can be.
    pub(super) fn own_element(&self, place: &Expr) -> Option<Expr> {
        let (rt, vector, fault) = (&self.rt, &self.emitter.rt, fault());
        let (root, indices) = indexed(place);
        let (strip, array) = self.rows(root)?;
        let mut own_elements = self.own_elements.borrow_mut();
        let known = own_elements.as_mut()?;
        let is_fixed = effects::of(&self.scope.names, place).mentions.is_disjoint(&known.changed);
        let are_variables = indices.iter().all(|index| matches!(bare(index), Expr::Path(_)));
        if !is_fixed || !are_variables || indices.len() < array.lengths.len() {
            return None;
        }
        let nth = known.places.iter().position(|other| other == place).unwrap_or_else(|| {
            let (nth, l) = (known.places.len(), lane());
            let (own, outside) = (own(nth), outside(nth));
            let within = indices
                .iter()
                .zip(&array.lengths)
                .map(|(index, length)| quote!(#vector::vector::within(#index, #length, &#outside)));
            known.places.push(place.clone());
            known.lets.push(quote! {
                let #outside = #vector::vector::Fault::new();
                let #own = #rt::loaded(&#strip #([#within])* [#l]);
            });
            nth
        });
        let (own, outside) = (own(nth), outside(nth));
        self.lookups.note();
        Some(parse_quote!((*#vector::vector::Fault::see(&#fault, &#outside, &*#own))))
    }
}
