//! Methods that are defined in the item or in its file, by name: how they take their receivers, and whether what they yield
//! borrows from those, as far as their signatures say. Functions too: whether what they yield may borrow.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{GenericArgument, PathArguments, ReceiverKind, Signature, Type};

use crate::checks::named_self;
use crate::desugar::expanded;
use crate::desugar::given_back::Emptied;
use crate::hidden::{BORROWERS, Lifetimes};
use crate::lockstep::is_primitive;
use crate::lower;
use crate::unasked::Mentions;

/// What is known of the methods, functions and fields of the item and its file.
#[derive(Clone, Default, Debug)]
pub struct Methods {
    methods: BTreeMap<String, Method>,
    /// Functions: whether what one of that name yields may borrow from an argument.
    borrowing: BTreeMap<String, bool>,
    /// What functions and methods yield, of which the types that they name may hide lifetimes.
    outputs: Vec<(String, Type)>,
    /// What the functions and methods of a name yield, if that is one type.
    results: BTreeMap<String, Option<Type>>,
    fields: Fields,
    /// The functions of `impl` blocks and traits.
    associated: BTreeSet<String>,
    /// Whether the `impl` block has lifetimes.
    in_borrower: bool,
    /// The types of the file that have type parameters.
    generic: BTreeSet<String>,
    /// Whether arrays of `ndarray` are mentioned.
    pub(crate) arrays: bool,
    /// The types that have a `drop`.
    dropped: BTreeSet<String>,
    /// Those that derive `Default`.
    defaults: BTreeSet<String>,
    /// The types that have a method of a name, by their names; `None` for whatever else may have it.
    owners: BTreeMap<String, BTreeSet<Option<String>>>,
    /// The type of the `impl` block.
    owner: Option<String>,
    /// The macros that leave the code in which they are called.
    leaving: BTreeSet<String>,
    /// Those that may make names for it.
    naming: BTreeSet<String>,
    /// Those that may yield what borrows from their arguments.
    lending: BTreeSet<String>,
    /// What simple ones expand to, if there is one of the name.
    rules: BTreeMap<String, Option<Rule>>,
    /// The lifetimes of types.
    pub(crate) lifetimes: Lifetimes,
    /// The families that the crate mentions, if its source is known.
    pub(crate) mentions: Option<Mentions>,
}

/// The fields of structures, by name.
#[derive(Clone, Default, Debug)]
struct Fields {
    /// The types that fields of a name have.
    types: BTreeMap<String, Vec<Type>>,
    /// The types of the file, and whether they are copied.
    known: BTreeMap<String, bool>,
    /// What the types of a name hold.
    held: BTreeMap<String, Vec<Type>>,
    /// What the aliases of a name stand for, if that is one type without parameters.
    aliases: BTreeMap<String, Option<Type>>,
    /// The structures of a name with their fields, if there is one without conditions and `drop`.
    structures: BTreeMap<String, Option<Vec<(syn::Ident, Type)>>>,
    /// What structures, `Node`, and variants, `Tree::Node`, are made of, by field or position; those of which there is one.
    made: BTreeMap<String, Option<Vec<(String, Type)>>>,
}

/// Types of libraries that are moved.
const OWNED: [&str; 16] = [
    "Arc",
    "Array",
    "Array1",
    "Array2",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Box",
    "Cow",
    "HashMap",
    "HashSet",
    "PathBuf",
    "Rc",
    "String",
    "Vec",
    "VecDeque",
];

/// Those of them, and `Option`, of which there are values that own nothing.
const EMPTIED: [&str; 7] = ["BTreeMap", "BTreeSet", "BinaryHeap", "HashMap", "HashSet", "String", "Vec"];

impl Fields {
    /// What a type stands for, if it is an alias of the file.
    fn meant<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let name = match ty {
            Type::Path(p) => p.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        name.and_then(|name| self.aliases.get(&name)?.as_ref()).unwrap_or(ty)
    }

    /// Whether values of the type are moved, as far as names say.
    fn is_owned(&self, ty: &Type) -> bool {
        match self.meant(ty) {
            Type::Reference(r) => r.mutability.is_some(),
            Type::Tuple(t) => t.elems.iter().any(|ty| self.is_owned(ty)),
            Type::Array(t) => self.is_owned(&t.elem),
            Type::Path(p) => {
                let Some(last) = p.path.segments.last() else { return false };
                let name = last.ident.to_string();
                let argument =
                    |arg: &GenericArgument| matches!(arg, GenericArgument::Type(ty) if self.is_owned(ty));
                match (&last.arguments, name.as_str()) {
                    (PathArguments::AngleBracketed(args), "Option" | "Result") => {
                        args.args.iter().any(argument)
                    }
                    _ => self.known.get(&name).map_or(OWNED.contains(&name.as_str()), |copied| !copied),
                }
            }
            _ => false,
        }
    }

    /// Whether values of the type certainly are moved: they hold one of the library's that is. `seen`: types of the file that are looked at.
    fn owns(&self, ty: &Type, seen: &mut BTreeSet<String>) -> bool {
        match self.meant(ty) {
            Type::Tuple(t) => t.elems.iter().any(|ty| self.owns(ty, seen)),
            Type::Array(t) => self.owns(&t.elem, seen),
            Type::Path(p) => {
                let Some(last) = p.path.segments.last() else { return false };
                let name = last.ident.to_string();
                if let Some(held) = self.held.get(&name) {
                    return seen.insert(name) && held.iter().any(|ty| self.owns(ty, seen));
                }
                match (&last.arguments, name.as_str()) {
                    (PathArguments::AngleBracketed(args), "Option" | "Result") => {
                        args.args.iter().any(|arg| match arg {
                            GenericArgument::Type(ty) => self.owns(ty, seen),
                            _ => false,
                        })
                    }
                    _ => !self.known.contains_key(&name) && OWNED.contains(&name.as_str()),
                }
            }
            _ => false,
        }
    }
}

/// Functions of the library that yield what borrows from their arguments.
const BORROWING: [&str; 9] =
    ["chain", "from_mut", "from_ref", "from_utf8", "max", "min", "once", "repeat", "zip"];

/// What all methods of a name have in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Method {
    /// How they take their receiver; `None` if they differ.
    pub(crate) takes: Option<Takes>,
    /// Whether one of them may yield what borrows from its receiver.
    pub(crate) borrows: bool,
    /// Whether one of them yields a reference, and not a value.
    pub(crate) refers: bool,
}

/// A macro's only rule: its parameters are expressions.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) params: Vec<String>,
    pub(crate) body: TokenStream,
}

/// How a method takes its receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Takes {
    Value,
    Ref,
    Mut,
}

impl Methods {
    /// Notes what a value is made of.
    fn made(&mut self, name: String, fields: &syn::Fields) {
        let part = |(i, field): (usize, &syn::Field)| {
            let name = field.ident.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
            (name, field.ty.clone())
        };
        let parts = fields.iter().enumerate().map(part).collect();
        self.fields.made.entry(name).and_modify(|known| *known = None).or_insert(Some(parts));
    }

    /// Remembers whether a type is copied.
    fn copied(&mut self, name: &syn::Ident, generics: &syn::Generics, attrs: &[syn::Attribute]) {
        let copied = attrs.iter().any(|attr| derives(attr, "Copy"));
        if attrs.iter().any(|attr| derives(attr, "Default")) {
            self.defaults.insert(name.to_string());
        }
        if generics.type_params().next().is_some() {
            self.generic.insert(name.to_string());
        }
        // Of several types of the name all must be.
        *self.fields.known.entry(name.to_string()).or_insert(copied) &= copied;
    }

    /// Whether all types of the file that are made by this name are copied.
    pub(crate) fn makes_copied(&self, name: &str) -> bool {
        self.fields.known.get(name) == Some(&true) && !self.generic.contains(name)
    }

    /// Whether a type of the file, or an `Option` of one, is certainly copied.
    pub(crate) fn is_copied(&self, ty: &Type) -> bool {
        let Type::Path(p) = ty else { return false };
        let Some(last) = p.path.segments.last().filter(|_| p.qself.is_none()) else { return false };
        let argument = |arg: &GenericArgument| match arg {
            GenericArgument::Type(ty) => crate::lockstep::is_primitive(ty) || self.is_copied(ty),
            GenericArgument::Lifetime(_) | GenericArgument::Const(_) => true,
            _ => false,
        };
        let arguments = match &last.arguments {
            PathArguments::AngleBracketed(args) => args.args.iter().all(argument),
            PathArguments::None => true,
            PathArguments::Parenthesized(_) => false,
        };
        let name = last.ident.to_string();
        arguments && self.fields.known.get(&name).copied().unwrap_or(name == "Option")
    }

    /// Whether a method is the user's where it is called on a type of this name.
    pub(crate) fn is_own(&self, method: &syn::Ident, ty: &str) -> Option<bool> {
        let owners = self.owners.get(&method.to_string())?;
        let own = owners.iter().flatten().any(|owner| owner == ty);
        (own || !owners.contains(&None)).then_some(own)
    }

    pub(crate) fn of(&self, name: &syn::Ident) -> Option<Method> {
        self.methods.get(&name.to_string()).copied()
    }

    /// Whether what a function yields may borrow from an argument.
    pub(crate) fn may_borrow(&self, function: &syn::Ident) -> bool {
        let name = function.to_string();
        self.borrowing.get(&name).copied().unwrap_or_else(|| BORROWING.contains(&name.as_str()))
    }

    /// Whether the signature of a function of that name is known, or what one of the library yields.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.borrowing.contains_key(name) || BORROWING.contains(&name)
    }

    /// Whether a field of that name may be moved where its value is taken: not if types in the file say that it is copied.
    pub(crate) fn may_be_moved(&self, field: &syn::Ident) -> bool {
        let types = self.fields.types.get(&field.to_string());
        types.is_none_or(|types| types.iter().all(|ty| self.fields.is_owned(ty)))
    }

    /// Whether values of the type certainly are moved.
    pub(crate) fn owns(&self, ty: &Type) -> bool {
        self.fields.owns(ty, &mut BTreeSet::new())
    }

    /// Whether a field of that name certainly is moved where its value is taken.
    pub(crate) fn is_moved(&self, field: &syn::Ident) -> bool {
        let types = self.fields.types.get(&field.to_string());
        types.is_some_and(|types| types.iter().all(|ty| self.owns(ty)))
    }

    /// What may stand in the place of a field of that name that certainly is moved: a value that owns nothing.
    pub(crate) fn emptied(&self, field: &syn::Ident) -> Option<Emptied> {
        let kind = |ty| match self.fields.meant(ty) {
            Type::Path(p) => {
                let name = p.path.segments.last()?.ident.to_string();
                match name.as_str() {
                    _ if self.has_type(&name) => {
                        self.makes_nothing(&name, &mut BTreeSet::new()).then_some(Emptied::Default)
                    }
                    "Option" => Some(Emptied::None),
                    other => EMPTIED.contains(&other).then_some(Emptied::Collection),
                }
            }
            _ => None,
        };
        let types = self.fields.types.get(&field.to_string()).filter(|_| self.is_moved(field))?;
        let first = kind(types.first()?);
        first.filter(|_| types.iter().all(|ty| kind(ty) == first))
    }

    /// Whether the default value of a type of the file certainly owns nothing, and does nothing when it is made or dropped.
    fn makes_nothing(&self, name: &str, seen: &mut BTreeSet<String>) -> bool {
        let held = self.fields.held.get(name).map_or(&[][..], |held| held);
        let nothing = |ty: &Type, seen: &mut BTreeSet<String>| match self.fields.meant(ty) {
            Type::Path(p) => p.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                let library = name == "Option" || EMPTIED.contains(&name.as_str());
                if self.has_type(&name) {
                    self.makes_nothing(&name, seen)
                } else {
                    library || is_primitive(ty)
                }
            }),
            _ => false,
        };
        let first = seen.insert(name.to_string());
        self.defaults.contains(name)
            && !self.is_dropped(name)
            && (!first || held.iter().all(|ty| nothing(ty, seen)))
    }

    /// Whether a structure or enumeration of that name is in the file.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.fields.known.contains_key(name)
    }

    /// The fields of the structure of that name.
    pub(crate) fn structure(&self, name: &str) -> Option<&[(syn::Ident, Type)]> {
        self.fields.structures.get(name)?.as_deref()
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
        let parts = self.fields.made.get(&name)?.as_ref()?;
        parts.iter().find(|(name, _)| name == field).map(|(_, ty)| ty)
    }

    /// The type that all fields of a name have.
    pub(crate) fn type_of_field(&self, field: &str) -> Option<&Type> {
        let mut types = self.fields.types.get(field)?.iter();
        let first = types.next()?;
        types.all(|ty| crate::ir::text(ty) == crate::ir::text(first)).then_some(first)
    }

    /// The names of fields of which all types are such.
    pub(crate) fn fields_of(&self, such: &dyn Fn(&Type) -> bool) -> BTreeSet<String> {
        let fields = self.fields.types.iter().filter(|(_, types)| types.iter().all(such));
        fields.map(|(name, _)| name.clone()).collect()
    }

    /// Whether there are fields of the name, and all of such a type.
    pub(crate) fn has_fields(&self, name: &syn::Ident, such: &dyn Fn(&Type) -> bool) -> bool {
        self.fields.types.get(&name.to_string()).is_some_and(|types| types.iter().all(such))
    }

    /// The type of what a function yields.
    pub(crate) fn result(&self, function: &syn::Ident) -> Option<&Type> {
        self.results.get(&function.to_string())?.as_ref()
    }

    /// Whether a function of that name stands in an `impl` block or a trait.
    pub(crate) fn has_associated(&self, name: &str) -> bool {
        self.associated.contains(name)
    }

    /// Whether a type of the file of that name has a `drop`.
    pub(crate) fn is_dropped(&self, ty: &str) -> bool {
        self.dropped.contains(ty)
    }

    /// Whether a type's values do something when they are dropped, as far as the file shows: they hold one of a type with a `drop`.
    pub(crate) fn drops(&self, ty: &Type) -> bool {
        !self.dropped.is_empty() && self.drops_in(ty, &mut BTreeSet::new())
    }

    fn drops_in(&self, ty: &Type, seen: &mut BTreeSet<String>) -> bool {
        match ty {
            Type::Tuple(t) => t.elems.iter().any(|ty| self.drops_in(ty, seen)),
            Type::Array(t) => self.drops_in(&t.elem, seen),
            Type::Path(p) => {
                let Some(last) = p.path.segments.last() else { return false };
                let arguments = match &last.arguments {
                    PathArguments::AngleBracketed(args) => Some(&args.args),
                    _ => None,
                };
                self.drops_named(&last.ident.to_string(), seen)
                    || arguments
                        .into_iter()
                        .flatten()
                        .any(|arg| matches!(arg, GenericArgument::Type(ty) if self.drops_in(ty, seen)))
            }
            _ => false,
        }
    }

    /// The same of a type of that name. `seen`: those that are looked at.
    pub(crate) fn drops_named(&self, name: &str, seen: &mut BTreeSet<String>) -> bool {
        let held = self.fields.held.get(name).map_or(&[][..], |held| held);
        let meant = self.fields.aliases.get(name).and_then(Option::as_ref);
        let mut parts = held.iter().chain(meant);
        self.is_dropped(name) || (seen.insert(name.into()) && parts.any(|ty| self.drops_in(ty, seen)))
    }

    /// Whether a word of a type is `such`, or the name of a type of the file that holds what is.
    pub(crate) fn mentions_in(&self, word: &str, such: &dyn Fn(&str) -> bool) -> bool {
        such(word) || self.holds(word, such, &mut BTreeSet::new())
    }

    fn holds(&self, name: &str, such: &dyn Fn(&str) -> bool, seen: &mut BTreeSet<String>) -> bool {
        let held = self.fields.held.get(name).map_or(&[][..], |held| held);
        let meant = self.fields.aliases.get(name).and_then(Option::as_ref);
        let new = seen.insert(name.into());
        let within = |ty: &Type| {
            let is = |word: &str| such(word) || self.holds(word, such, &mut seen.clone());
            lower::mentions(ty.to_token_stream(), &is)
        };
        new && held.iter().chain(meant).any(within)
    }

    /// Whether a macro of that name leaves the code in which it is called.
    pub(crate) fn leaves(&self, name: &str) -> bool {
        self.leaving.contains(name)
    }

    /// Whether a macro of that name may make names for the code in which it is called.
    pub(crate) fn makes_names(&self, name: &str) -> bool {
        self.naming.contains(name)
    }

    /// Whether what a macro yields may borrow from what it is given.
    pub(crate) fn lends(&self, mac: &syn::Macro) -> bool {
        let name = mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        self.lending.contains(&name)
    }

    /// The rule of a simple macro.
    pub(crate) fn rule(&self, mac: &syn::Macro) -> Option<&Rule> {
        self.rules.get(&mac.path.get_ident()?.to_string())?.as_ref()
    }

    /// Adds the methods of a file.
    pub(crate) fn add_file(&mut self, file: &syn::File) {
        self.visit_file(file);
        self.find_hidden();
    }

    /// Adds the methods of an item.
    pub(crate) fn add_item(&mut self, item: &syn::Item) {
        self.visit_item(item);
        self.find_hidden();
    }

    /// What hides a lifetime may borrow: known when all types are.
    pub(crate) fn find_hidden(&mut self) {
        for (name, output) in std::mem::take(&mut self.outputs) {
            if self.lifetimes.are_hidden(&output) {
                if let Some(borrows) = self.borrowing.get_mut(&name) {
                    *borrows = true;
                }
                if let Some(method) = self.methods.get_mut(&name) {
                    method.borrows |= method.takes != Some(Takes::Value);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Methods {
    fn visit_signature(&mut self, sig: &'ast Signature) {
        if let syn::ReturnType::Type(_, ty) = &sig.output {
            self.outputs.push((sig.ident.to_string(), (**ty).clone()));
            let known = self.results.entry(sig.ident.to_string());
            let one = Some((**ty).clone());
            known
                .and_modify(|known| *known = known.take().filter(|ty| Some(ty) == one.as_ref()))
                .or_insert(one.clone());
        }
        let Some(receiver) = sig.receiver() else {
            let may_borrow = match &sig.output {
                syn::ReturnType::Default => false,
                syn::ReturnType::Type(_, ty) => {
                    elided(ty)
                        || names_one(sig, ty)
                        || (self.in_borrower && named_self(ty.to_token_stream()).is_some())
                }
            };
            *self.borrowing.entry(sig.ident.to_string()).or_default() |= may_borrow;
            return;
        };
        let (takes, named) = match &receiver.kind {
            ReceiverKind::Reference(_, lifetime, None) => (Takes::Ref, lifetime.is_some()),
            ReceiverKind::Reference(_, lifetime, Some(_)) => (Takes::Mut, lifetime.is_some()),
            _ => (Takes::Value, false),
        };
        let output = match &sig.output {
            syn::ReturnType::Default => false,
            syn::ReturnType::Type(_, ty) => named || elided(ty),
        };
        let refers =
            matches!(&sig.output, syn::ReturnType::Type(_, ty) if matches!(**ty, Type::Reference(_)));
        self.owners.entry(sig.ident.to_string()).or_default().insert(self.owner.clone());
        let new = Method { takes: Some(takes), borrows: takes != Takes::Value && output, refers };
        let all = self.methods.entry(sig.ident.to_string()).or_insert(new);
        all.takes = all.takes.filter(|known| *known == takes);
        all.borrows |= new.borrows;
        all.refers |= new.refers;
    }
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let lifetimes = item.generics.lifetimes().next().is_some() || elided(&item.self_ty);
        let parameter = |name: &String| item.generics.type_params().any(|p| p.ident == name);
        if let (Some((path, _)), Type::Path(ty)) = (&item.trait_, &*item.self_ty)
            && path.is_ident("Drop")
            && let Some(last) = ty.path.segments.last()
        {
            // Nothing is moved out of such a value.
            self.fields.structures.insert(last.ident.to_string(), None);
            self.dropped.insert(last.ident.to_string());
        }
        let outer = std::mem::replace(&mut self.in_borrower, lifetimes);
        self.owner = type_name(&item.self_ty).filter(|name| !parameter(name));
        visit::visit_item_impl(self, item);
        (self.in_borrower, self.owner) = (outer, None);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.associated.insert(item.sig.ident.to_string());
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.associated.insert(item.sig.ident.to_string());
        visit::visit_trait_item_fn(self, item);
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let of_array = |name: &syn::Ident| name == "ndarray" || name.to_string().starts_with("Array");
        self.arrays |= path.segments.iter().any(|segment| of_array(&segment.ident));
        visit::visit_path(self, path);
    }
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.arrays |= matches!(&item.tree, syn::UseTree::Path(path) if path.ident == "ndarray");
        self.lifetimes.add_use(&item.tree, None);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.lifetimes.add_module(&item.ident);
        visit::visit_item_mod(self, item);
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let meant = item.generics.params.is_empty().then(|| (*item.ty).clone());
        let known = self.fields.aliases.entry(item.ident.to_string());
        known.and_modify(|known| *known = None).or_insert(meant);
        self.lifetimes.add(&item.ident, &item.generics);
    }
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.copied(&item.ident, &item.generics, &item.attrs);
        self.lifetimes.add(&item.ident, &item.generics);
        let conditional =
            item.fields.iter().any(|field| field.attrs.iter().any(|a| a.path().is_ident("cfg")));
        let fields = item.fields.iter().map(|field| Some((field.ident.clone()?, field.ty.clone())));
        let fields: Option<Vec<_>> = fields.collect();
        let known = self.fields.structures.entry(item.ident.to_string());
        known.and_modify(|known| *known = None).or_insert(fields.filter(|_| !conditional));
        self.made(item.ident.to_string(), &item.fields);
        for field in &item.fields {
            self.fields.held.entry(item.ident.to_string()).or_default().push(field.ty.clone());
            let Some(name) = &field.ident else { continue };
            self.fields.types.entry(name.to_string()).or_default().push(field.ty.clone());
        }
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let types =
            item.variants.iter().flat_map(|variant| variant.fields.iter().map(|field| field.ty.clone()));
        self.fields.held.entry(item.ident.to_string()).or_default().extend(types);
        for variant in &item.variants {
            self.made(format!("{}::{}", item.ident, variant.ident), &variant.fields);
        }
        self.copied(&item.ident, &item.generics, &item.attrs);
        self.lifetimes.add(&item.ident, &item.generics);
    }
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let Some(name) = item.ident.as_ref().map(ToString::to_string) else { return };
        if lower::leaves(item.mac.tokens.clone()).is_some() {
            self.leaving.insert(name.clone());
        }
        if lower::makes_names(item.mac.tokens.clone()) {
            self.naming.insert(name.clone());
        }
        if lower::lends(item.mac.tokens.clone()) {
            self.lending.insert(name.clone());
        }
        let known = self.rules.entry(name);
        known.and_modify(|known| *known = None).or_insert_with(|| expanded::rule(item.mac.tokens.clone()));
    }
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
    fn visit_block(&mut self, block: &'ast syn::Block) {
        // Types may stand in bodies.
        visit::visit_block(self, block);
    }
}

/// Whether an attribute derives a trait.
fn derives(attr: &syn::Attribute, name: &str) -> bool {
    match &attr.meta {
        syn::Meta::List(list) if list.path.is_ident("derive") => {
            list.tokens.clone().into_iter().any(|tree| tree.to_string() == name)
        }
        _ => false,
    }
}

/// The name of a type, or of what it refers to.
pub(crate) fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Reference(ty) => type_name(&ty.elem),
        Type::Path(p) if p.qself.is_none() => p.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

/// Whether a type names one of the lifetimes of a signature.
fn names_one(sig: &Signature, ty: &Type) -> bool {
    struct Scan<'a>(&'a Signature, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.1 |= lifetime.ident != "static";
        }
        fn visit_ident(&mut self, ident: &'ast syn::Ident) {
            // What a parameter stands for may be a reference.
            self.1 |= self.0.generics.type_params().any(|param| param.ident == *ident);
        }
    }
    let mut scan = Scan(sig, false);
    scan.visit_type(ty);
    scan.1
}

/// Whether a lifetime is elided in a type. A path may hide one: then its name tells, lifetimes in general being written
/// (rustc warns of those that are not).
fn elided(ty: &Type) -> bool {
    match ty {
        Type::Reference(r) => {
            r.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_") || elided(&r.elem)
        }
        Type::Tuple(t) => t.elems.iter().any(elided),
        Type::Array(t) => elided(&t.elem),
        Type::Slice(t) => elided(&t.elem),
        Type::Paren(t) => elided(&t.elem),
        Type::Group(t) => elided(&t.elem),
        Type::ImplTrait(_) | Type::TraitObject(_) => true,
        Type::Path(p) => p.path.segments.iter().any(|segment| {
            let args = match &segment.arguments {
                PathArguments::AngleBracketed(args) => args.args.iter().collect(),
                _ => vec![],
            };
            let lifetimes = args.iter().any(|arg| matches!(arg, GenericArgument::Lifetime(_)));
            let inner = args.iter().any(|arg| match arg {
                GenericArgument::Type(ty) => elided(ty),
                GenericArgument::Lifetime(lifetime) => lifetime.ident == "_",
                _ => false,
            });
            inner || (!lifetimes && BORROWERS.iter().any(|name| segment.ident == name))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_signatures_say() {
        let file: syn::File = syn::parse_quote! {
            impl<'a> Parser<'a> {
                fn peek(&self) -> Option<&'a Token> { None }
                fn row(&mut self, i: usize) -> &mut [f64] { &mut self.0 }
                fn all(&self) -> Iter<f64> { self.0.iter() }
                fn own(self) -> &'a str { "" }
                fn size(&self) -> usize { 0 }
                fn both(&self) -> usize { 0 }
            }
            mod inner { trait Other { fn both(self) -> usize; fn named<'b>(&'b self) -> &'b str; } }
        };
        let mut methods = Methods::default();
        methods.add_file(&file);
        let of = |name: &str| {
            let method = methods.of(&syn::Ident::new(name, proc_macro2::Span::call_site())).unwrap();
            (method.takes, method.borrows, method.refers)
        };
        assert_eq!(of("peek"), (Some(Takes::Ref), false, false));
        assert_eq!(of("row"), (Some(Takes::Mut), true, true));
        assert_eq!(of("all"), (Some(Takes::Ref), true, false));
        assert_eq!(of("own"), (Some(Takes::Value), false, true));
        assert_eq!(of("size"), (Some(Takes::Ref), false, false));
        assert_eq!(of("both"), (None, false, false));
        assert_eq!(of("named"), (Some(Takes::Ref), true, true));
    }
}
