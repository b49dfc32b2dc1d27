//! What an item and its file declare: types with their fields, macros that leave the code around them, associated functions.

use std::collections::{BTreeMap, BTreeSet};

use syn::Type;
use syn::visit::{self, Visit};

use crate::aside::name_of;
use crate::hidden::Lifetimes;
use crate::lower;
use crate::unasked::Mentions;

/// A structure or enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    /// Its type parameters.
    pub(crate) params: Vec<syn::Ident>,
    /// The types of its fields, or of those of its variants.
    pub(crate) fields: Vec<Type>,
    /// Whether it has lifetimes or constants for parameters.
    pub(crate) lifetimes: bool,
}

/// The declarations of the item and its file, by name.
#[derive(Clone, Default, Debug)]
pub struct Declared {
    /// The types that fields of a name have.
    fields: BTreeMap<String, Vec<Type>>,
    /// What structures, `Node`, and variants, `Tree::Node`, are made of, by field or position; those of which there is one.
    made: BTreeMap<String, Option<Vec<(String, Type)>>>,
    /// The structures and enumerations.
    types: BTreeSet<String>,
    /// Those that stand beside the item, where their names mean what they mean to it.
    structures: BTreeMap<String, Structure>,
    /// The functions of `impl` blocks and traits.
    associated: BTreeSet<String>,
    /// The type of the `impl` block.
    owner: Option<String>,
    /// The macros.
    macros: BTreeSet<String>,
    /// The macros that leave the code in which they are called.
    leaving: BTreeSet<String>,
    /// Those that may make names for it.
    naming: BTreeSet<String>,
    /// Names in the item that begin with two underscores, as those of generated code do.
    pub(crate) reserved: BTreeSet<String>,
    /// The lifetimes of types.
    pub(crate) lifetimes: Lifetimes,
    /// The families that the crate mentions, if its source is known.
    pub(crate) mentions: Option<Mentions>,
}

impl Declared {
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

    /// Notes what a value is made of.
    fn made(&mut self, name: String, fields: &syn::Fields) {
        let part = |(i, field): (usize, &syn::Field)| {
            let name = field.ident.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
            (name, field.ty.clone())
        };
        let parts = fields.iter().enumerate().map(part).collect();
        self.made.entry(name).and_modify(|known| *known = None).or_insert(Some(parts));
    }

    /// Adds what stands beside the item.
    pub(crate) fn add_beside(&mut self, item: &syn::Item) {
        let structure = |generics: &syn::Generics, fields: Vec<Type>| Structure {
            params: generics.type_params().map(|param| param.ident.clone()).collect(),
            fields,
            lifetimes: generics.params.iter().any(|param| !matches!(param, syn::GenericParam::Type(_))),
        };
        let types = |fields: &syn::Fields| fields.iter().map(|field| field.ty.clone()).collect::<Vec<_>>();
        match item {
            syn::Item::Struct(i) => {
                let new = structure(&i.generics, types(&i.fields));
                self.structures.insert(i.ident.to_string(), new);
            }
            syn::Item::Enum(i) => {
                let fields = i.variants.iter().flat_map(|variant| types(&variant.fields)).collect();
                self.structures.insert(i.ident.to_string(), structure(&i.generics, fields));
            }
            _ => {}
        }
    }

    /// A structure or enumeration beside the item.
    pub(crate) fn structure(&self, name: &str) -> Option<&Structure> {
        self.structures.get(name)
    }

    /// Whether a structure or enumeration of that name is in the file.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.types.contains(name)
    }

    /// The type of a field of what is made by such a path.
    pub(crate) fn part_of(&self, path: &syn::Path, field: &str) -> Option<&Type> {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let mut name = names.next()?;
        if let Some(of) = names.next().filter(|of| of.starts_with(char::is_uppercase)) {
            let of = if of == "Self" { self.owner.clone()? } else { of };
            name = format!("{of}::{name}");
        } else if name == "Self" {
            name = self.owner.clone()?;
        }
        let parts = self.made.get(&name)?.as_ref()?;
        parts.iter().find(|(name, _)| name == field).map(|(_, ty)| ty)
    }

    /// The type that all fields of a name have.
    pub(crate) fn type_of_field(&self, field: &str) -> Option<&Type> {
        let mut types = self.fields.get(field)?.iter();
        let first = types.next()?;
        types.all(|ty| crate::ir::text(ty) == crate::ir::text(first)).then_some(first)
    }

    /// Whether a function of that name stands in an `impl` block or a trait.
    pub(crate) fn has_associated(&self, name: &str) -> bool {
        self.associated.contains(name)
    }

    /// Whether a macro of that name is defined in the file.
    pub(crate) fn has_macro(&self, name: &str) -> bool {
        self.macros.contains(name)
    }

    /// Whether a macro of that name leaves the code in which it is called.
    pub(crate) fn leaves(&self, name: &str) -> bool {
        self.leaving.contains(name)
    }

    /// Whether a macro of that name may make names for the code around it.
    pub(crate) fn makes_names(&self, name: &str) -> bool {
        self.naming.contains(name)
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let parameter = |name: &String| item.generics.type_params().any(|p| p.ident == name);
        self.owner = name_of(&item.self_ty).filter(|name| !parameter(name));
        visit::visit_item_impl(self, item);
        self.owner = None;
    }
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
        self.types.insert(item.ident.to_string());
        self.lifetimes.add(&item.ident, &item.generics);
        self.made(item.ident.to_string(), &item.fields);
        for field in &item.fields {
            let Some(name) = &field.ident else { continue };
            self.fields.entry(name.to_string()).or_default().push(field.ty.clone());
        }
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.types.insert(item.ident.to_string());
        for variant in &item.variants {
            self.made(format!("{}::{}", item.ident, variant.ident), &variant.fields);
        }
        self.lifetimes.add(&item.ident, &item.generics);
    }
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let Some(name) = item.ident.as_ref().map(ToString::to_string) else { return };
        self.macros.insert(name.clone());
        if lower::leaves(item.mac.tokens.clone()).is_some() {
            self.leaving.insert(name.clone());
        }
        if lower::makes_names(item.mac.tokens.clone()) {
            self.naming.insert(name);
        }
    }
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
}
