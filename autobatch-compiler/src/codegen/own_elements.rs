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

use crate::codegen::lookups::fault;
use crate::codegen::names::numbered;
use crate::ir::{VarId, VarSet};

/// What a piece looks at at its start.
pub(super) struct OwnElements {
    /// Variables that the piece declares, or has changed where it is looked through.
    changed: VarSet,
    /// The elements, as they are written.
    elements: Vec<Expr>,
    lets: TokenStream,
}

/// `__own3`: an element.
fn own(nth: usize) -> Ident {
    numbered("own", nth)
}

/// `__outside3`: whether there is none at that index.
fn outside(nth: usize) -> Ident {
    numbered("outside", nth)
}

impl OwnElements {
    /// Of a piece that declares these variables.
    pub(super) fn of_piece(declared: VarSet) -> OwnElements {
        OwnElements { changed: declared, elements: vec![], lets: quote!() }
    }

    /// What the piece begins with.
    pub(super) fn lets(self) -> TokenStream {
        self.lets
    }

    /// Notes variables that are changed from here on.
    pub(super) fn change(&mut self, vars: impl IntoIterator<Item = VarId>) {
        self.changed.extend(vars);
    }

    /// Whether what mentions these variables is at the start what it is here.
    pub(super) fn may_come_first(&self, mentions: &VarSet) -> bool {
        mentions.is_disjoint(&self.changed)
    }

    /// What stands in the place of an element. `found` is where it is, given what notes that there is none.
    pub(super) fn put(
        &mut self,
        element: &Expr,
        rt: &TokenStream,
        found: impl FnOnce(&Ident) -> TokenStream,
    ) -> Expr {
        let nth = self.elements.iter().position(|other| other == element).unwrap_or_else(|| {
            let nth = self.elements.len();
            let (own, outside) = (own(nth), outside(nth));
            let found = found(&outside);
            self.elements.push(element.clone());
            self.lets.extend(quote! {
                let #outside = #rt::vector::Fault::new();
                let #own = #rt::lane_interchange::loaded(&#found);
            });
            nth
        });
        let (own, outside, fault) = (own(nth), outside(nth), fault());
        parse_quote!((*#rt::vector::Fault::see(&#fault, &#outside, &*#own)))
    }
}
