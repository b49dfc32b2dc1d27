//! The structures, enumerations, aliases and constants that an item can see, and what methods of types yield, as far as
//! they are written in its file.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Fields, GenericArgument, GenericParam, Generics, Ident, Item, ItemImpl, Macro, Member, Meta,
    Path, PathArguments, Token, Type, TypeParamBound, parse_quote,
};

use crate::std_models::facts::{self, Fact};
use crate::std_models::operators;
use crate::std_models::pure::{is_primitive, literal};
use crate::syntax::annotated::methods_of;
use crate::syntax::item_names::imported;
use crate::syntax::mentions::{bare, bare_type, idents, last_name};
use crate::syntax::reachability::reached;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, AtMut};

/// How many aliases are followed. Of names that are aliases of each other one is another module's.
const HOPS: u32 = 8;

/// Types by name, and what methods yield by the names of type and method; `None` where a name stands for several.
#[derive(Default, Clone, Debug)]
pub(crate) struct Definitions {
    types: BTreeMap<String, Option<Definition>>,
    methods: BTreeMap<(String, String), Option<Type>>,
    /// What operators yield.
    operations: Vec<Operation>,
    /// Constants and statics; `None` where a scope imports the name.
    constants: BTreeMap<String, Option<Constant>>,
    /// The words in the definitions of macros.
    macros: BTreeMap<String, BTreeSet<String>>,
    /// Whether structures are values that don't say that they are `Copy`.
    with_owned: bool,
}

impl Variant {
    /// The path that names it, of an enumeration.
    pub(crate) fn path(&self, of: &Type) -> Path {
        let name = &self.name;
        match type_argument(of, 0) {
            Some(_) => parse_quote!(::core::option::Option::#name),
            None => parse_quote!(#of::#name),
        }
    }
}

/// An operator that a type of the file has.
#[derive(Clone, Debug)]
struct Operation {
    /// The name of its trait.
    of_trait: String,
    left: Type,
    right: Option<Type>,
    output: Type,
}

/// A constant or static.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub(crate) ty: Type,
    /// Whether it has a place of its own.
    pub(crate) is_static: bool,
    /// Its value, if it is a constant that is written as a literal.
    number: Option<u64>,
}

#[derive(Clone, Debug)]
struct Definition {
    generics: Generics,
    shape: Shape,
    /// Whether it says that it is `Copy`.
    is_copy: bool,
    /// Whether `==` is derived.
    is_compared: bool,
    /// Whether a field or variant is there under a condition only.
    is_conditional: bool,
}

/// A variant of an enumeration.
pub(crate) struct Variant {
    pub(crate) name: Ident,
    pub(crate) fields: Vec<(Member, Type)>,
}

#[derive(Clone, Debug)]
enum Shape {
    Struct(Fields),
    Enum(Vec<(Ident, Fields)>),
    Alias(Box<Type>),
}

impl Definitions {
    /// Adds the types of a scope; those that are known already hide them.
    pub(crate) fn add<'a>(&mut self, items: impl IntoIterator<Item = &'a Item>) {
        let mut scope: BTreeMap<String, Option<Definition>> = BTreeMap::new();
        for item in items {
            if let Item::Impl(block) = item {
                self.add_methods(block);
            }
            let (ident, generics, shape, attrs) = match item {
                Item::Struct(i) => (&i.ident, &i.generics, Shape::Struct(i.fields.clone()), &i.attrs[..]),
                Item::Enum(i) => {
                    let variants = i.variants.iter().map(|v| (v.ident.clone(), v.fields.clone()));
                    (&i.ident, &i.generics, Shape::Enum(variants.collect()), &i.attrs[..])
                }
                Item::Type(i) => (&i.ident, &i.generics, Shape::Alias(i.ty.clone()), &[][..]),
                _ => continue,
            };
            let (is_copy, is_compared) = (derives(attrs, "Copy"), derives(attrs, "PartialEq"));
            let is_conditional = has_conditions(item);
            let generics = generics.clone();
            let definition = Definition { generics, shape, is_copy, is_compared, is_conditional };
            scope.entry(ident.to_string()).and_modify(|twice| *twice = None).or_insert(Some(definition));
        }
        for (name, definition) in scope {
            self.types.entry(name).or_insert(definition);
        }
    }

    /// Adds the constants of a scope; those that are known already hide them.
    pub(crate) fn add_constants<'a>(&mut self, items: impl IntoIterator<Item = &'a Item>) {
        let mut scope: BTreeMap<String, Option<Constant>> = BTreeMap::new();
        let mut add = |ident: &Ident, constant: Option<Constant>| {
            scope.entry(ident.to_string()).and_modify(|twice| *twice = None).or_insert(constant);
        };
        for item in items {
            match item {
                Item::Const(i) => {
                    let number = literal(&i.expr);
                    add(&i.ident, Some(Constant { ty: (*i.ty).clone(), is_static: false, number }));
                }
                Item::Static(i) => {
                    add(&i.ident, Some(Constant { ty: (*i.ty).clone(), is_static: true, number: None }));
                }
                Item::Use(i) => imported(&i.tree).0.into_iter().for_each(|ident| add(ident, None)),
                _ => {}
            }
        }
        for (name, constant) in scope {
            self.constants.entry(name).or_insert(constant);
        }
    }

    /// Adds a macro.
    pub(crate) fn add_macro(&mut self, name: &Ident, definition: &Macro) {
        let words = idents(definition.tokens.clone()).into_iter().map(|word| word.to_string());
        self.macros.entry(name.to_string()).or_default().extend(words);
    }

    /// The words that a macro may bring with it, and those that the macros among them may bring; `None` if its definition is not known.
    pub(crate) fn words_of(&self, mac: &Macro) -> Option<BTreeSet<String>> {
        let of = |name: &String| self.macros.get(name).into_iter().flatten();
        let name = last_name(&mac.path);
        self.macros.contains_key(&name).then(|| reached(&name, of).into_iter().cloned().collect())
    }

    /// Whether there is a type, constant or macro of that name.
    pub(crate) fn means(&self, name: &str) -> bool {
        self.has(name) || self.constants.contains_key(name) || self.macros.contains_key(name)
    }

    /// The constant or static that a path names.
    pub(crate) fn constant(&self, path: &syn::ExprPath) -> Option<&Constant> {
        let ident = path.path.get_ident().filter(|_| path.qself.is_none())?;
        self.constants.get(&ident.to_string())?.as_ref()
    }

    /// A literal, or a constant that is written as one.
    pub(crate) fn number(&self, expr: &syn::Expr) -> Option<u64> {
        match bare(expr) {
            syn::Expr::Path(path) => self.constant(path)?.number,
            other => literal(other),
        }
    }

    /// The constants that are written as integer literals.
    pub(crate) fn numbers(&self) -> BTreeMap<String, u64> {
        let number = |constant: &Option<Constant>| constant.as_ref()?.number;
        self.constants.iter().filter_map(|(name, c)| Some((name.clone(), number(c)?))).collect()
    }

    /// What is indexed where a place of this type is: how often one goes through a reference or pointer for it, and the type of its
    /// elements.
    pub(crate) fn list(&self, ty: &Type) -> Option<(usize, Type)> {
        let of = |ty: &Type| match ty {
            Type::Slice(t) => Some((*t.elem).clone()),
            Type::Array(t) => Some((*t.elem).clone()),
            ty => argument(ty, 0).filter(|_| self.is_the_librarys(ty, "Vec")),
        };
        let way = std::iter::successors(Some(self.plain(ty)), |ty| Some(self.plain(&self.target(ty)?)));
        way.enumerate().find_map(|(hops, ty)| Some((hops, of(&ty)?)))
    }

    /// Adds what the methods of an `impl` block yield, unless the type is one of an inner scope that hides the block's.
    fn add_methods(&mut self, block: &ItemImpl) {
        let generic =
            |generics: &Generics| generics.params.iter().any(|p| !matches!(p, GenericParam::Lifetime(_)));
        let Some(owner) = name(&block.self_ty).map(ToString::to_string) else { return };
        if generic(&block.generics) || self.types.contains_key(&owner) {
            return;
        }
        self.operations.extend(Operation::of(block));
        for f in methods_of(block) {
            let syn::ReturnType::Type(_, output) = &f.sig.output else { continue };
            let mut output = (**output).clone();
            let own = [("Self".to_string(), (*block.self_ty).clone())];
            Substitute::new(own).visit_type_mut(&mut output);
            let output = Some(output).filter(|_| !generic(&f.sig.generics));
            let key = (owner.clone(), f.sig.ident.to_string());
            self.methods
                .entry(key)
                .and_modify(|known| {
                    if *known != output {
                        *known = None;
                    }
                })
                .or_insert(output);
        }
    }

    /// What a method of a type yields.
    pub(crate) fn result(&self, owner: &Type, method: &str) -> Option<Type> {
        let output = self.methods.get(&(name(owner)?.to_string(), method.to_string()))?.as_ref()?;
        Some(self.plain(output))
    }

    /// Whether an operator for operands of some types is that for these; a number whose type is open may be any.
    pub(crate) fn are_operands(&self, own: (&Type, Option<&Type>), of: (&Type, Option<&Type>)) -> bool {
        let same = |own: &Type, ty: &Type| match self.plain(ty) {
            ty if is_open(&ty) => is_primitive(own),
            ty => self.same(own, &ty),
        };
        same(own.0, of.0)
            && match (own.1, of.1) {
                (Some(own), Some(ty)) => same(own, ty),
                (None, None) => true,
                _ => false,
            }
    }

    /// What the operator of a trait yields between such operands, or before one.
    pub(crate) fn operation(&self, of_trait: &str, left: &Type, right: Option<&Type>) -> Option<Type> {
        let fits = |o: &&Operation| {
            o.of_trait == of_trait && self.are_operands((&o.left, o.right.as_ref()), (left, right))
        };
        let mut all = self.operations.iter().filter(fits);
        let output = self.plain(&all.next()?.output);
        all.all(|other| self.same(&other.output, &output)).then_some(output)
    }

    /// The fields of a structure of the file that has no parameters, and the same fields under all conditions. A path through modules may name another one.
    pub(crate) fn structure(&self, ty: &Type) -> Option<Vec<(Member, Type)>> {
        let ty = self.plain(ty);
        if matches!(&ty, Type::Path(p) if p.path.segments.len() > 1) {
            return None;
        }
        let definition = self.of(&ty).filter(|d| d.generics.params.is_empty() && !d.is_conditional)?;
        let Shape::Struct(fields) = &definition.shape else { return None };
        if fields.is_empty() {
            return None;
        }
        self.fields(&ty, None)
    }

    /// The same, for code that is run only if no structure needs drop: there each may be copied as a value.
    pub(crate) fn with_owned(&self) -> Definitions {
        Definitions { with_owned: true, ..self.clone() }
    }

    /// The structures of numbers that are values although they don't say that they are `Copy`.
    pub(crate) fn owned(&self) -> Vec<Type> {
        let types = self.types.keys().filter(|_| self.with_owned);
        let types = types.filter_map(|name| syn::parse_str::<Type>(name).ok());
        types.filter(|ty| !self.says_copy(ty) && self.record(ty).is_some() && self.is_value(ty)).collect()
    }

    /// The variants of the library's `Option`, or of an enumeration of the file that says that it is `Copy` and has no parameters.
    pub(crate) fn variants(&self, ty: &Type) -> Option<Vec<Variant>> {
        let ty = self.plain(ty);
        if self.is_the_librarys(&ty, "Option") {
            let variant = |name, fields| Variant { name: Ident::new(name, Span::call_site()), fields };
            let held = (Member::Unnamed(0.into()), argument(&ty, 0)?);
            return Some(vec![variant("None", vec![]), variant("Some", vec![held])]);
        }
        let is_plain = matches!(&ty, Type::Path(p) if p.path.get_ident().is_some());
        let fits = |d: &&Definition| d.is_copy && !d.is_conditional && d.generics.params.is_empty();
        let definition = self.of(&ty).filter(|_| is_plain).filter(fits)?;
        let Shape::Enum(variants) = &definition.shape else { return None };
        let variant =
            |name: &Ident| Some(Variant { name: name.clone(), fields: self.fields(&ty, Some(name))? });
        variants.iter().map(|(name, _)| variant(name)).collect()
    }

    /// Whether `==` of a type of the file is derived.
    pub(crate) fn is_compared(&self, ty: &Type) -> bool {
        self.of(&self.plain(ty)).is_some_and(|definition| definition.is_compared)
    }

    /// Whether a structure says that it is `Copy`.
    pub(crate) fn says_copy(&self, ty: &Type) -> bool {
        self.of(&self.plain(ty)).is_some_and(|definition| definition.is_copy)
    }

    /// The fields of a structure that is a value: it says that it is `Copy`, unless owned ones are values, too.
    pub(crate) fn record(&self, ty: &Type) -> Option<Vec<(Member, Type)>> {
        self.structure(ty).filter(|_| self.with_owned || self.says_copy(ty))
    }

    /// Whether a type is a number, or a tuple, an array, a structure or an enumeration of such that is a value.
    pub(crate) fn is_value(&self, ty: &Type) -> bool {
        let ty = self.plain(ty);
        match &ty {
            Type::Tuple(t) => t.elems.iter().all(|ty| self.is_value(ty)),
            Type::Array(t) => self.is_value(&t.elem),
            ty if is_primitive(ty) => true,
            ty => match self.record(ty) {
                Some(fields) => fields.iter().all(|(_, ty)| self.is_value(ty)),
                None => {
                    let of_values = |v: &Variant| v.fields.iter().all(|(_, ty)| self.is_value(ty));
                    self.variants(ty).is_some_and(|variants| variants.iter().all(of_values))
                }
            },
        }
    }

    fn of(&self, ty: &Type) -> Option<&Definition> {
        self.types.get(&name(ty)?.to_string())?.as_ref()
    }

    /// Whether a type is one of those known here.
    pub(crate) fn knows(&self, ty: &Type) -> bool {
        self.of(ty).is_some()
    }

    /// Whether there is a type of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }

    /// A type without parentheses, aliases written out.
    pub(crate) fn plain(&self, ty: &Type) -> Type {
        self.without_aliases(ty, HOPS)
    }

    fn without_aliases(&self, ty: &Type, hops: u32) -> Type {
        let ty = bare_type(ty);
        match ty {
            Type::ImplTrait(t) => iterates(&t.bounds).unwrap_or_else(|| ty.clone()),
            Type::TraitObject(t) => iterates(&t.bounds).unwrap_or_else(|| ty.clone()),
            // `result::Result` is another type than the `Result` of the file.
            Type::Path(p) if p.path.segments.len() > 1 => ty.clone(),
            _ => match self.of(ty) {
                Some(definition @ Definition { shape: Shape::Alias(target), .. }) if hops > 0 => {
                    self.without_aliases(&definition.with_arguments(target, ty), hops - 1)
                }
                _ => ty.clone(),
            },
        }
    }

    /// What `*x` is of an `x` of this type, as far as method calls look there.
    pub(crate) fn target(&self, ty: &Type) -> Option<Type> {
        match self.plain(ty) {
            Type::Reference(r) => Some(*r.elem),
            ty => argument(&ty, 0).filter(|_| self.is_library(&ty, Fact::Pointer)),
        }
    }

    /// Whether a type is one of the library's of which that is known.
    pub(crate) fn is_library(&self, ty: &Type, wanted: Fact) -> bool {
        name(ty).is_some_and(|name| facts::is(&name.to_string(), wanted) && !self.has(&name.to_string()))
    }

    /// Whether a type is the library's of that name.
    pub(crate) fn is_the_librarys(&self, ty: &Type, wanted: &str) -> bool {
        named(ty, wanted) && !self.has(wanted)
    }

    /// The type of a field, found as `x.field` finds it.
    pub(crate) fn field(&self, ty: &Type, member: &Member) -> Option<Type> {
        let ty = self.plain(ty);
        let own = match (&ty, member) {
            (Type::Tuple(t), Member::Unnamed(index)) => t.elems.get(index.index as usize).cloned(),
            _ => self
                .fields(&ty, None)
                .and_then(|fields| fields.into_iter().find(|(name, _)| name == member).map(|(_, ty)| ty)),
        };
        own.or_else(|| self.field(&self.target(&ty)?, member))
    }

    /// The fields of a structure, or of a variant of an enumeration.
    pub(crate) fn fields(&self, ty: &Type, variant: Option<&Ident>) -> Option<Vec<(Member, Type)>> {
        if let Some((of, index)) = variant.and_then(|variant| facts::variant(&variant.to_string()))
            && self.is_the_librarys(ty, of)
        {
            return Some(vec![(Member::Unnamed(0.into()), argument(ty, index)?)]);
        }
        let definition = self.of(ty)?;
        let fields = match (&definition.shape, variant) {
            (Shape::Enum(variants), Some(variant)) => &variants.iter().find(|(name, _)| name == variant)?.1,
            (Shape::Struct(fields), _) => fields,
            _ => return None,
        };
        let member = |(index, field): (usize, &syn::Field)| {
            let member = field.ident.clone().map_or_else(|| Member::Unnamed(index.into()), Member::Named);
            (member, definition.with_arguments(&field.ty, ty))
        };
        Some(fields.iter().enumerate().map(member).collect())
    }

    /// The types of all fields of a structure or enumeration, nothing if it is none; `None` if they can't be told, because of lifetimes or
    /// constants among its parameters, or a type of a parameter's trait, `T::Item`, unless that stands for one of `parameters`.
    pub(crate) fn parts(&self, ty: &Type, parameters: &[Ident]) -> Option<Option<Vec<Type>>> {
        let definition = self.of(ty)?;
        let fields: Vec<&Type> = match &definition.shape {
            Shape::Struct(fields) => fields.iter().map(|field| &field.ty).collect(),
            Shape::Enum(variants) => {
                variants.iter().flat_map(|(_, fields)| fields).map(|field| &field.ty).collect()
            }
            Shape::Alias(_) => return None,
        };
        let params = &definition.generics.params;
        let told =
            params.len() == arguments(ty).len() && params.iter().all(|p| matches!(p, GenericParam::Type(_)));
        let mut substitute = definition.substitute(ty);
        substitute.parameters = parameters.to_vec();
        let put = |ty: &Type| {
            let mut ty = ty.clone();
            substitute.visit_type_mut(&mut ty);
            ty
        };
        let types = fields.into_iter().map(put).collect();
        Some(Some(types).filter(|_| told && !substitute.fails))
    }

    /// Whether two types are the same but for their arguments.
    pub(crate) fn same_kind(&self, a: &Type, b: &Type) -> bool {
        matches!((name(&self.plain(a)), name(&self.plain(b))), (Some(a), Some(b)) if a == b)
    }

    /// Whether two types are the same, lifetimes aside. Types of one name in different modules are not.
    pub(crate) fn same(&self, a: &Type, b: &Type) -> bool {
        let text = |ty: &Type| {
            let mut ty = self.plain(ty);
            strip(&mut ty);
            ty.to_token_stream().to_string()
        };
        text(a) == text(b)
    }
}

impl Definition {
    /// A type of the definition with the arguments of `whole` for the definition's parameters.
    fn with_arguments(&self, ty: &Type, whole: &Type) -> Type {
        let mut ty = ty.clone();
        self.substitute(whole).visit_type_mut(&mut ty);
        ty
    }

    fn substitute(&self, whole: &Type) -> Substitute {
        let params = self.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_)));
        let args = arguments(whole).into_iter().filter(|arg| !matches!(arg, GenericArgument::Lifetime(_)));
        let pairs = params.zip(args).filter_map(|pair| match pair {
            (GenericParam::Type(p), GenericArgument::Type(ty)) => Some((p.ident.to_string(), ty.clone())),
            _ => None,
        });
        let own = [("Self".to_string(), whole.clone())];
        Substitute::new(pairs.chain(own))
    }
}

impl Operation {
    /// The operator that a block implements.
    fn of(block: &ItemImpl) -> Option<Operation> {
        let (path, _) = block.trait_.as_ref()?;
        let of_trait = last_name(path);
        if !operators::is_trait(&of_trait) {
            return None;
        }
        let own = |ty: &Type| {
            let mut ty = ty.clone();
            Substitute::new([("Self".to_string(), (*block.self_ty).clone())]).visit_type_mut(&mut ty);
            ty
        };
        let output = block.items.iter().find_map(|item| match item {
            syn::ImplItem::Type(item) if item.ident == "Output" => Some(own(&item.ty)),
            _ => None,
        });
        let is_unary = matches!(of_trait.as_str(), "Neg" | "Not");
        let right = match &path.segments.last()?.arguments {
            _ if is_unary => None,
            PathArguments::AngleBracketed(args) => match args.args.first()? {
                GenericArgument::Type(ty) => Some(own(ty)),
                _ => return None,
            },
            _ => Some((*block.self_ty).clone()),
        };
        let output = output.unwrap_or_else(|| parse_quote!(()));
        Some(Operation { of_trait, left: (*block.self_ty).clone(), right, output })
    }
}

/// Whether a field or variant of a type is there under a condition only.
fn has_conditions(item: &Item) -> bool {
    let is_condition = |attr: &Attribute| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr");
    let of_fields = |fields: &Fields| fields.iter().any(|field| field.attrs.iter().any(is_condition));
    match item {
        Item::Struct(i) => of_fields(&i.fields),
        Item::Enum(i) => i.variants.iter().any(|v| v.attrs.iter().any(is_condition) || of_fields(&v.fields)),
        _ => false,
    }
}

/// Whether attributes derive a trait.
fn derives(attrs: &[Attribute], of_trait: &str) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if attr.path().is_ident("derive") => {
            let parser = Punctuated::<Path, Token![,]>::parse_terminated;
            let traits = list.parse_args_with(parser);
            traits.is_ok_and(|traits| traits.iter().any(|path| last_name(path) == of_trait))
        }
        _ => false,
    })
}

/// The iterator that something with these bounds is.
fn iterates<'a>(bounds: impl IntoIterator<Item = &'a TypeParamBound>) -> Option<Type> {
    let item = |bound: &TypeParamBound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
        let known = ["Iterator", "DoubleEndedIterator", "ExactSizeIterator"];
        known.iter().any(|name| last.ident == name).then_some(())?;
        args.args.iter().find_map(|arg| match arg {
            GenericArgument::AssocType(item) if item.ident == "Item" => Some(item.ty.clone()),
            _ => None,
        })
    };
    bounds.into_iter().find_map(item).map(|item| parse_quote!(__Iterator<#item>))
}

/// Types in the place of names.
pub(crate) struct Substitute {
    types: BTreeMap<String, Type>,
    /// Type parameters that names may stand for.
    parameters: Vec<Ident>,
    /// Whether a type of the trait of something else, `T::Item`, is left.
    fails: bool,
}

impl Substitute {
    pub(crate) fn new(types: impl IntoIterator<Item = (String, Type)>) -> Substitute {
        Substitute { types: types.into_iter().collect(), parameters: vec![], fails: false }
    }
}

impl VisitMut for Substitute {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(p) = ty
            && let Some(first) = p.path.segments.first()
            && let Some(known) = self.types.get(&first.ident.to_string())
        {
            match known {
                known if p.path.segments.len() == 1 => *ty = known.clone(),
                Type::Path(known)
                    if known.path.get_ident().is_some_and(|own| self.parameters.contains(own)) =>
                {
                    p.path.segments[0] = known.path.segments[0].clone();
                }
                _ => self.fails = true,
            }
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Takes lifetimes away, and paths that lead nowhere else: `self::Tree`.
fn strip(ty: &mut Type) {
    walk::map(ty, |at| match at {
        AtMut::Type(Type::Reference(r)) => r.lifetime = None,
        AtMut::Type(Type::Path(p)) if p.qself.is_none() => {
            if let [first, last] = &p.path.segments.iter().collect::<Vec<_>>()[..]
                && first.ident == "self"
            {
                p.path = (*last).clone().into();
            }
            for segment in &mut p.path.segments {
                let PathArguments::AngleBracketed(args) = &mut segment.arguments else { continue };
                let kept = args.args.iter().filter(|arg| !matches!(arg, GenericArgument::Lifetime(_)));
                args.args = kept.cloned().collect();
                args.colon2_token = None;
                if args.args.is_empty() {
                    segment.arguments = PathArguments::None;
                } else if args.args.trailing_punct() {
                    args.args.pop_punct();
                }
            }
        }
        _ => {}
    });
}

pub(crate) fn name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(p) if p.qself.is_none() => p.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

/// Whether it stands for some type of a number: a literal's, or a sum of literals'.
pub(crate) fn is_open(ty: &Type) -> bool {
    ["__Float", "__Integer", "__Number"].iter().any(|open| named(ty, open))
}

/// Whether a type has that name, whatever its arguments.
pub(crate) fn named(ty: &Type, wanted: &str) -> bool {
    name(ty).is_some_and(|name| name == wanted)
}

/// The arguments of a type.
pub(crate) fn arguments(ty: &Type) -> Vec<&GenericArgument> {
    let Type::Path(p) = ty else { return Vec::new() };
    match p.path.segments.last().map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(args)) => args.args.iter().collect(),
        _ => Vec::new(),
    }
}

/// One of those that are types themselves.
pub(crate) fn type_argument(ty: &Type, index: usize) -> Option<&Type> {
    let types = arguments(ty).into_iter().filter_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.into_iter().nth(index)
}

pub(crate) fn argument(ty: &Type, index: usize) -> Option<Type> {
    type_argument(ty, index).cloned()
}
