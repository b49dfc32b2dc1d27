//! Lifetimes of a function's own have no name in the body of another one, which the entry's is for all of a program.

use std::collections::BTreeSet;

use syn::{Generics, Ident, Type};

use crate::lower::facts::Facts;
use crate::lower::lowering::Erased;
use crate::syntax::visit_mut::{self, VisitMut};

impl Facts<'_> {
    /// What takes the names out of types of a function, other than the entry.
    pub(super) fn erased(&self, source: usize) -> Erased {
        let function = self.function(source);
        let names_of = |generics: &Generics| {
            generics.lifetimes().map(|param| param.lifetime.ident.to_string()).collect()
        };
        let mut names: BTreeSet<String> = names_of(&function.sig.generics);
        if source == self.entry {
            // A method has names for what it elides, which its family does not know.
            let shown = function.shown();
            for known in [&shown.sig.generics, &shown.outer] {
                names_of(known).iter().for_each(|name| _ = names.remove(name));
            }
        }
        Erased { names, types: 0 }
    }

    /// A type of a function's signature, as it can be written in the program.
    pub(super) fn erased_type(&self, source: usize, ty: &Type) -> Type {
        let mut ty = ty.clone();
        self.erased(source).visit_type_mut(&mut ty);
        ty
    }
}

impl VisitMut for Erased {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        self.types += 1;
        visit_mut::visit_type_mut(self, ty);
        self.types -= 1;
    }
    fn visit_generic_argument_mut(&mut self, arg: &mut syn::GenericArgument) {
        self.types += 1;
        visit_mut::visit_generic_argument_mut(self, arg);
        self.types -= 1;
    }
    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        if self.types > 0 && self.names.contains(&lifetime.ident.to_string()) {
            lifetime.ident = Ident::new("_", lifetime.ident.span());
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
