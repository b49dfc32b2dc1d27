//! What a module takes from the module around it: `use super::*`, `use super::{Vec3, step}`.
//!
//! **Invariant:** what is taken means, in the module, what its names mean in the module around.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Ident, Item, ItemImpl, UseTree};

use crate::syntax::item_names::{declared, imported};
use crate::syntax::mentions::idents;

/// Names, of which it is known what they mean in a module.
#[derive(Default)]
pub(crate) struct TakenNames {
    /// Taken one by one.
    named: BTreeSet<String>,
    /// Whether the rest is taken too.
    all: bool,
    /// What the module has itself, or from elsewhere.
    own: BTreeSet<String>,
    /// The names of the module around, and whether it may have more.
    around: BTreeSet<String>,
    more: bool,
}

impl TakenNames {
    /// `is_certain` says of the attributes of a `use` that it stays as it is.
    pub(crate) fn new(
        module: &[&Item],
        around: &[&Item],
        is_certain: impl Fn(&[Attribute]) -> bool,
    ) -> TakenNames {
        let mut names = TakenNames::default();
        let mut makes_names = false;
        for item in module {
            match item {
                Item::Use(i) => names.import(&i.tree, is_certain(&i.attrs) && i.leading_colon.is_none()),
                Item::Macro(i) if i.ident.is_none() => makes_names = true,
                item => names.own.extend(declared(item).map(ToString::to_string)),
            }
        }
        // What a macro has made goes before what stands behind a `*`.
        names.all &= !makes_names;
        for item in around {
            match item {
                Item::Use(i) => {
                    let (found, all) = imported(&i.tree);
                    names.around.extend(found.into_iter().map(ToString::to_string));
                    names.more |= all;
                }
                Item::Macro(i) if i.ident.is_none() => names.more = true,
                item => names.around.extend(declared(item).map(ToString::to_string)),
            }
        }
        names
    }

    /// What a `use` brings: names of the module around if it begins with `super`.
    fn import(&mut self, tree: &UseTree, certain: bool) {
        match tree {
            UseTree::Path(path) if path.ident == "super" && certain => self.import_from_around(&path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, certain)),
            other => {
                self.own.extend(imported(other).0.into_iter().map(ToString::to_string));
            }
        }
    }

    fn import_from_around(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Name(name) => _ = self.named.insert(name.ident.to_string()),
            UseTree::Glob(_) => self.all = true,
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import_from_around(tree)),
            other => self.import(other, false),
        }
    }

    /// Whether a name is taken one by one.
    pub(crate) fn is_named(&self, name: &Ident) -> bool {
        self.named.contains(&name.to_string())
    }

    /// Whether a name of the module around means the same in the module.
    pub(crate) fn takes(&self, name: &Ident) -> bool {
        self.is_named(name) || self.all && !self.own.contains(&name.to_string())
    }

    /// Whether code of the module around means the same in the module: no name in it is another's there.
    pub(crate) fn takes_all_of(&self, code: &impl ToTokens) -> bool {
        let means_the_same = |name: &Ident| match self.around.contains(&name.to_string()) {
            true => self.takes(name),
            false => !self.own.contains(&name.to_string()),
        };
        (self.all || !self.more) && idents(code.to_token_stream()).iter().all(means_the_same)
    }

    /// An `impl` block of the module around, without the functions that would mean something else in the module; `None` if its types would.
    pub(crate) fn block(&self, block: &ItemImpl) -> Option<ItemImpl> {
        let (generics, own) = (&block.generics, &block.self_ty);
        let trait_ = block.trait_.as_ref().map(|(path, _)| path.to_token_stream());
        let head = [generics.to_token_stream(), own.to_token_stream(), trait_.unwrap_or_default()];
        let mut block = block.clone();
        block.items.retain(|item| self.takes_all_of(item));
        self.takes_all_of(&TokenStream::from_iter(head)).then_some(block)
    }
}
