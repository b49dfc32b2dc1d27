//! Lifetimes that types leave out get names, and those with names lose them.

use proc_macro2::Span;
use syn::{Lifetime, Type};

use crate::syntax::walk::{self, AtMut, Next};

/// Gives each lifetime that a type leaves out, `&T`, `'_`, a name.
pub(crate) fn name_each(ty: &mut Type, mut next: impl FnMut() -> Lifetime) {
    walk::map(ty, |at| match at {
        AtMut::Type(Type::FnPtr(_)) => Next::Past,
        AtMut::Type(Type::Reference(r)) if r.lifetime.is_none() => {
            // `'_` until the walk comes to it.
            r.lifetime = Some(Lifetime::new("'_", Span::call_site()));
            Next::On
        }
        AtMut::Lifetime(lifetime) if lifetime.ident == "_" => {
            *lifetime = next();
            Next::On
        }
        _ => Next::On,
    });
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
    name_all(&mut ty.clone(), &Lifetime::new("'own", Span::call_site()))
}

/// A type with its lifetimes left to be inferred.
pub(crate) fn nameless(ty: &Type) -> Type {
    let mut ty = ty.clone();
    walk::map(&mut ty, |at| {
        if let AtMut::Lifetime(lifetime) = at
            && lifetime.ident != "static"
        {
            *lifetime = Lifetime::new("'_", lifetime.span());
        }
    });
    ty
}
