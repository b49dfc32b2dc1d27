//! Lifetimes that a type has and that are not written, not even as `'_`: `View` for `View<'_>`. rustc lets them be left out of the
//! signatures of functions, but not wherever generated code names those types.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    GenericArgument, Generics, Ident, Item, Lifetime, PathArguments, PathSegment, Type, UseTree, parse_quote,
};

use crate::std_models::facts::{Named, named};
use crate::syntax::annotated::{Input, methods_of_mut};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Next};

/// What is known of the types of the item and its file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lifetimes {
    /// How many lifetimes types of a name have.
    counts: BTreeMap<String, BTreeSet<usize>>,
    /// What is imported, and the first part of its path.
    imports: BTreeSet<(String, String)>,
    modules: BTreeSet<String>,
}

impl Lifetimes {
    /// Adds a type.
    pub(crate) fn add(&mut self, name: &Ident, generics: &Generics) {
        self.counts.entry(name.to_string()).or_default().insert(generics.lifetimes().count());
    }

    pub(crate) fn add_module(&mut self, name: &Ident) {
        self.modules.insert(name.to_string());
    }

    pub(crate) fn add_use(&mut self, tree: &UseTree, first: Option<&Ident>) {
        let mut import = |name: &Ident| {
            self.imports.insert((name.to_string(), first.unwrap_or(name).to_string()));
        };
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, first.or(Some(&path.ident))),
            UseTree::Name(name) => import(&name.ident),
            UseTree::Rename(rename) => import(&rename.rename),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(tree, first)),
            UseTree::Glob(_) => {}
        }
    }

    /// Whether a type hides a lifetime, as far as names tell.
    pub(crate) fn are_hidden(&self, ty: &Type) -> bool {
        walk::any(ty, |at| match at {
            // Parameters of function types hide what they like.
            At::Type(Type::FnPtr(_)) => Next::Past,
            At::PathSegment(segment) => {
                let name = segment.ident.to_string();
                let known = self.counts.get(&name).map(|counts| counts.iter().any(|count| *count > 0));
                let hides = known.unwrap_or_else(|| named(&name) == Named::Borrower);
                match &segment.arguments {
                    _ if hides && !writes_lifetimes(segment) => Next::Found,
                    PathArguments::Parenthesized(_) => Next::Past,
                    _ => Next::On,
                }
            }
            _ => Next::On,
        })
    }

    /// How many lifetimes the types of a name certainly have: those of the file, if none of that name comes from elsewhere, and
    /// those of libraries, if none of that name is in the file.
    pub(crate) fn certain(&self, name: &Ident) -> Option<usize> {
        let name = name.to_string();
        let Some(counts) = self.counts.get(&name) else { return self.is_of_a_library(&name).then_some(1) };
        let own = |first: &String| {
            ["crate", "self", "super"].contains(&first.as_str()) || self.modules.contains(first)
        };
        let imported = self.imports.iter().any(|(import, first)| *import == name && !own(first));
        (counts.len() == 1 && !imported).then(|| counts.first().copied()).flatten()
    }

    /// Whether a name certainly is a library's type with one lifetime.
    fn is_of_a_library(&self, name: &str) -> bool {
        // Out of the module around it is what that imports.
        let from = self.imports.iter().filter(|(import, first)| import == name && first != "super");
        let mut from = from.map(|(_, first)| first).peekable();
        if name.starts_with("ArrayView") {
            return from.all(|first| first == "ndarray");
        }
        // Readers have such types too, without a lifetime.
        let known = named(name) == Named::Borrower && !["Bytes", "Lines"].contains(&name);
        known && from.peek().is_some() && from.all(|first| ["std", "core", "alloc"].contains(&first.as_str()))
    }

    /// Writes hidden lifetimes as `'_` in the signatures of an item's functions.
    pub(crate) fn spell(&self, input: &mut Input) {
        let mut spell = Spell { lifetimes: self };
        match input {
            Input::Function(f) => spell.visit_signature_mut(&mut f.sig),
            Input::Module(m) => spell.visit_item_mod_mut(m),
            Input::Impl(i) => spell.visit_item_impl_mut(i),
        }
    }
}

fn writes_lifetimes(segment: &PathSegment) -> bool {
    match &segment.arguments {
        PathArguments::AngleBracketed(args) => {
            args.args.iter().any(|arg| matches!(arg, GenericArgument::Lifetime(_)))
        }
        _ => false,
    }
}

struct Spell<'a> {
    lifetimes: &'a Lifetimes,
}

impl VisitMut for Spell<'_> {
    fn visit_item_mut(&mut self, item: &mut Item) {
        match item {
            Item::Fn(f) => self.visit_signature_mut(&mut f.sig),
            Item::Impl(i) => self.visit_item_impl_mut(i),
            _ => {}
        }
    }
    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        methods_of_mut(block).for_each(|f| self.visit_signature_mut(&mut f.sig));
    }
    fn visit_type_path_mut(&mut self, ty: &mut syn::TypePath) {
        visit_mut::visit_type_path_mut(self, ty);
        let Some(last) = ty.path.segments.last_mut() else { return };
        let count = self.lifetimes.certain(&last.ident).unwrap_or_default();
        if count == 0 || writes_lifetimes(last) {
            return;
        }
        let hidden: Vec<Lifetime> = (0..count).map(|_| Lifetime::new("'_", last.ident.span())).collect();
        last.arguments = match &last.arguments {
            PathArguments::AngleBracketed(args) => {
                let args = args.args.iter();
                PathArguments::AngleBracketed(parse_quote!(<#(#hidden,)* #(#args),*>))
            }
            _ => PathArguments::AngleBracketed(parse_quote!(<#(#hidden),*>)),
        };
    }
}
