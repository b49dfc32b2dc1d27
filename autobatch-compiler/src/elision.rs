//! Lifetimes that types leave out get names, and those with names lose them.

use syn::visit_mut::{self, VisitMut};
use syn::{Lifetime, Type};

/// Puts what a function makes where types leave out a lifetime: `&T`, `'_`.
struct Elided<F>(F);

impl<F: FnMut() -> Lifetime> VisitMut for Elided<F> {
    fn visit_type_reference_mut(&mut self, r: &mut syn::TypeReference) {
        if r.lifetime.is_none() {
            r.lifetime = Some((self.0)());
        }
        visit_mut::visit_type_reference_mut(self, r);
    }
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = (self.0)();
        }
    }
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}

/// Gives each lifetime that a type leaves out a name.
pub(crate) fn name_each(ty: &mut Type, next: impl FnMut() -> Lifetime) {
    Elided(next).visit_type_mut(ty);
}

/// Gives all of them the same name. Whether there was one.
pub(crate) fn name_all(ty: &mut Type, lifetime: &Lifetime) -> bool {
    let mut found = false;
    name_each(ty, || {
        found = true;
        lifetime.clone()
    });
    found
}

/// Whether a type leaves out a lifetime.
pub(crate) fn any(ty: &Type) -> bool {
    name_all(&mut ty.clone(), &Lifetime::new("'own", proc_macro2::Span::call_site()))
}

/// A type with its lifetimes left to be inferred.
pub(crate) fn nameless(ty: &Type) -> Type {
    struct Nameless;
    impl VisitMut for Nameless {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident != "static" {
                *lifetime = Lifetime::new("'_", lifetime.span());
            }
        }
    }
    let mut ty = ty.clone();
    Nameless.visit_type_mut(&mut ty);
    ty
}
