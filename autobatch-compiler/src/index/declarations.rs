//! What an item and its file declare: types with their fields, macros that leave the code around them, associated functions.

use std::collections::BTreeSet;

use crate::syntax::visit::{self, Visit};

use crate::index::definitions::Definitions;
use crate::index::elided_lifetimes::Lifetimes;
use crate::index::family_mentions::Mentions;
use crate::syntax::macro_tokens;

/// The declarations of the item and its file, by name.
#[derive(Clone, Default, Debug)]
pub struct Declared {
    /// The types that the item can see.
    pub(crate) definitions: Definitions,
    /// Those that stand beside the item, where their names mean what they mean to it.
    pub(crate) beside: Definitions,
    /// The functions of `impl` blocks and traits.
    pub(crate) associated: BTreeSet<String>,
    /// The macros.
    pub(crate) macros: BTreeSet<String>,
    /// The macros that leave the code in which they are called.
    pub(crate) leaving: BTreeSet<String>,
    /// Those that may make names for it.
    pub(crate) naming: BTreeSet<String>,
    /// Names in the item that begin with two underscores, as those of generated code do.
    pub(crate) reserved: BTreeSet<String>,
    /// The lifetimes of types.
    pub(crate) lifetimes: Lifetimes,
    /// The families that the crate mentions, if its source is known.
    pub(crate) mentions: Option<Mentions>,
}

impl Declared {
    /// The same, for code that is run only if no structure needs drop.
    pub(crate) fn with_owned(&self) -> Declared {
        Declared {
            definitions: self.definitions.with_owned(),
            beside: self.beside.with_owned(),
            ..self.clone()
        }
    }

    /// Those of a file.
    pub(crate) fn of_file(file: &syn::File) -> Declared {
        let mut declared = Declared::default();
        declared.visit_file(file);
        declared
    }

    /// Those of an item.
    pub(crate) fn of_item(item: &syn::Item) -> Declared {
        let mut declared = Declared::default();
        declared.visit_item(item);
        declared
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.associated.insert(item.sig.ident.to_string());
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.associated.insert(item.sig.ident.to_string());
        visit::visit_trait_item_fn(self, item);
    }
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.lifetimes.add_use(&item.tree, None);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.lifetimes.add_module(&item.ident);
        visit::visit_item_mod(self, item);
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.lifetimes.add(&item.ident, &item.generics);
    }
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.lifetimes.add(&item.ident, &item.generics);
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.lifetimes.add(&item.ident, &item.generics);
    }
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let Some(ident) = &item.ident else { return };
        self.definitions.add_macro(ident, &item.mac);
        let name = ident.to_string();
        self.macros.insert(name.clone());
        if macro_tokens::leaves(item.mac.tokens.clone()).is_some() {
            self.leaving.insert(name.clone());
        }
        if macro_tokens::makes_names(item.mac.tokens.clone()) {
            self.naming.insert(name);
        }
    }
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
}
