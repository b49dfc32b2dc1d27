//! Methods of the `impl` blocks in a module. In the program they are functions of the module, `self` being a parameter like
//! any other: `impl Tree { fn sum(&self, x: f64) }` is `fn __autobatch_method_Tree__sum(__self: &Tree, x: f64)`. A
//! function of that name, which calls the method, is generated too. What users call is part of an `impl` block again.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Block, Expr, FnArg, GenericParam, Generics, ImplItem, Item, ItemImpl, ItemMod, Lifetime,
    Macro, Path, ReceiverKind, Signature, Type, Visibility, parse_quote,
};

use crate::diagnostics::reasons::{self, Reason};
use crate::diagnostics::sink::Diagnostics;
use crate::item::model::{Function, OriginalMethod};
use crate::item::parse;
use crate::std_models::facts::{Named, named};
use crate::syntax::attributes::{self, GENERATED};
use crate::syntax::bindings::self_ident;
use crate::syntax::macro_variables::map_tokens;
use crate::syntax::mentions::{self, last_name, numbered};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::{annotated, elision, impl_trait};

const PREFIX: &str = "__autobatch_method_";
/// What stands before the name of the item that a method's function stands beside.
const FOR: &str = "__for_";
/// What the names of functions begin with that stand in the bodies of others.
pub(crate) const INNER: &str = "__autobatch_inner_";

/// The methods of the `impl` blocks of a module that can be part of its program, and those that can't, with the reason.
pub(crate) fn of_module(module: &ItemMod) -> (Vec<Function>, Vec<(Function, Reason)>) {
    let items = || module.content.iter().flat_map(|(_, items)| items);
    let own: BTreeMap<String, &Visibility> = items()
        .filter_map(|item| match item {
            Item::Struct(i) => Some((i.ident.to_string(), &i.vis)),
            Item::Enum(i) => Some((i.ident.to_string(), &i.vis)),
            _ => None,
        })
        .collect();
    let hidden: BTreeSet<String> = items()
        .filter_map(|item| match item {
            Item::Trait(i) if matches!(i.vis, Visibility::Inherited) => Some(i.ident.to_string()),
            _ => None,
        })
        .collect();
    let blocks: Vec<(&ItemImpl, &Ident)> = items()
        .filter_map(|item| match item {
            Item::Impl(i) if !attributes::is_batched(&i.attrs) => Some((i, name_of(&i.self_ty)?)),
            _ => None,
        })
        .collect();
    let mut names: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (i, owner) in &blocks {
        for f in annotated::methods_of(i) {
            *names.entry((owner.to_string(), f.sig.ident.to_string())).or_default() += 1;
        }
    }
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for (i, owner) in blocks {
        for f in annotated::methods_of(i) {
            if attributes::is_batched(&f.attrs)
                || !parse::check_signature(&f.sig, &mut Diagnostics::default())
            {
                continue;
            }
            let once = names[&(owner.to_string(), f.sig.ident.to_string())] == 1;
            let conditional = conditional(&i.attrs) || conditional(&f.attrs);
            let known = own.get(&owner.to_string());
            let why = match &i.trait_ {
                _ if !once && conditional => Some(reasons::SEVERAL),
                _ if !once => Some(reasons::SAME_NAME),
                // Where no trait is in scope that has methods of the same name, which ones of the prelude's are everywhere.
                Some((path, _)) if named(&last_name(path)) == Named::Trait => Some(reasons::OF_THE_LIBRARY),
                Some(_) if known.is_none() => Some(reasons::OF_ANOTHER_TYPE),
                _ => None,
            };
            // A trait's method is visible where its type and the trait are.
            let vis = match (&i.trait_, known) {
                (None, _) => f.vis.clone(),
                (Some((path, _)), Some(vis))
                    if !path.get_ident().is_some_and(|name| hidden.contains(&name.to_string()))
                        && names_its_parameters(i) =>
                {
                    (*vis).clone()
                }
                _ => Visibility::Inherited,
            };
            let freed = freed(i, owner, &syn::ImplItemFn { vis, ..f.clone() });
            match why {
                None => all.extend(freed),
                Some(why) => left_out.extend(freed.map(|f| (f, why))),
            }
        }
    }
    (all, left_out)
}

/// The parameters of types and constants.
pub(crate) fn named_params(generics: &Generics) -> impl Iterator<Item = &Ident> {
    generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(p) => Some(&p.ident),
        GenericParam::Const(p) => Some(&p.ident),
        GenericParam::Lifetime(_) => None,
    })
}

/// Whether the type of an `impl` block names all its parameters, as in a block of the type itself it has to.
fn names_its_parameters(block: &ItemImpl) -> bool {
    let text = crate::syntax::mentions::text(&block.self_ty);
    let words: BTreeSet<&str> = crate::syntax::mentions::words(&text).collect();
    named_params(&block.generics).all(|name| words.contains(name.to_string().as_str()))
}

/// Whether something is there only under a condition.
pub(crate) fn conditional(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
}

pub(crate) fn name_of(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(p) if p.qself.is_none() && p.path.segments.len() == 1 => Some(&p.path.segments[0].ident),
        _ => None,
    }
}

/// The function that a method is in the program.
pub(crate) fn freed(block: &ItemImpl, owner: &Ident, f: &syn::ImplItemFn) -> Option<Function> {
    let mut diag = Diagnostics::default();
    let spelled = of_trait(block, f);
    let mut attrs = crate::syntax::attributes::conditions(&block.attrs);
    attrs.extend(f.attrs.iter().cloned());
    let mut shown =
        parse::function(&attrs, &f.vis, &spelled.sig, &spelled.block, Some(&block.generics), &mut diag)?;
    shown.of_module = true;
    let trait_ = block.trait_.as_ref().map(|(path, _)| path.clone());
    // What a function yields must have names for lifetimes that the block leaves out.
    let (named, anonymous) = with_named_lifetimes(&block.self_ty);
    let yields_own = mentions::named_self(f.sig.output.to_token_stream()).is_some();
    let mut free = Free {
        owner: owner.clone(),
        ty: if yields_own { named } else { (*block.self_ty).clone() },
        trait_: trait_.clone(),
        associated: block
            .items
            .iter()
            .filter_map(|item| match item {
                ImplItem::Type(i) => Some(i.ident.to_string()),
                ImplItem::Const(i) => Some(i.ident.to_string()),
                _ => None,
            })
            .collect(),
    };
    let mut sig: Signature = f.sig.clone();
    impl_trait::name(&mut sig);
    sig.ident = format_ident!("{PREFIX}{}__{}", owner, f.sig.ident, span = f.sig.ident.span());
    free_receiver(&mut sig);
    free.visit_signature_mut(&mut sig);
    // In the body they are inferred.
    free.ty = (*block.self_ty).clone();
    let anonymous: Vec<GenericParam> =
        anonymous.iter().filter(|_| yields_own).map(|lifetime| parse_quote!(#lifetime)).collect();
    let lifetimes = block.generics.params.iter().filter(|p| matches!(p, GenericParam::Lifetime(_)));
    let others = block.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_)));
    let params = lifetimes.chain(&anonymous).chain(&sig.generics.params).chain(others).cloned().collect();
    sig.generics.params = params;
    if let Some(clause) = &block.generics.where_clause {
        sig.generics.make_where_clause().predicates.extend(clause.predicates.clone());
    }
    let mut body: Block = f.block.clone();
    free.visit_block_mut(&mut body);
    let mut function = parse::function(&attrs, &f.vis, &sig, &body, None, &mut diag)?;
    if f.sig.receiver().is_some()
        && let (Some(free), Some(shown)) = (function.params.first_mut(), shown.params.first())
    {
        free.shown.clone_from(&shown.shown);
        free.passing = shown.passing;
    }
    let (owner, attrs) = ((*block.self_ty).clone(), block.attrs.clone());
    let named = names_its_parameters(block);
    function.method = Some(OriginalMethod { shown: Box::new(shown), owner, trait_, attrs, named });
    Some(function)
}

/// The type of an `impl` block, names for what it calls `'_`, which are the same wherever a signature says `Self`.
fn with_named_lifetimes(ty: &Type) -> (Type, Vec<Lifetime>) {
    let (mut ty, mut names) = (ty.clone(), Vec::new());
    elision::name_each(&mut ty, || {
        names.push(Lifetime::new(&format!("'__own{}", names.len()), Span::mixed_site()));
        names[names.len() - 1].clone()
    });
    (ty, names)
}

/// The receiver as a parameter; what is elided after it has its lifetime.
fn free_receiver(sig: &mut Signature) {
    let Some(FnArg::Receiver(receiver)) = sig.inputs.first().cloned() else { return };
    let (ident, attrs, mutability) = (self_ident(Span::call_site()), &receiver.attrs, &receiver.mutability);
    let ty: Type = match &receiver.kind {
        ReceiverKind::Reference(_, known, exclusive) => {
            let lifetime = known.clone().unwrap_or_else(|| Lifetime::new("'__self", Span::mixed_site()));
            let found = match &mut sig.output {
                syn::ReturnType::Type(_, output) => elision::name_all(output, &lifetime),
                syn::ReturnType::Default => false,
            };
            if known.is_none() && found {
                sig.generics.params.insert(0, parse_quote!(#lifetime));
            }
            // Else nothing refers to it.
            let lifetime = Some(lifetime).filter(|_| known.is_some() || found);
            let exclusive = exclusive.is_some().then(<syn::Token![mut]>::default);
            parse_quote!(&#lifetime #exclusive Self)
        }
        ReceiverKind::Typed(_, ty) => (**ty).clone(),
        _ => parse_quote!(Self),
    };
    if let Some(first) = sig.inputs.first_mut() {
        *first = parse_quote!(#(#attrs)* #mutability #ident: #ty);
    }
}

/// A method of an `impl` block with the attribute as it can stand in an `impl` block of the type itself: a method of a trait
/// is visible wherever the trait is, and the trait's types are named in full.
pub(crate) fn of_trait(block: &ItemImpl, f: &syn::ImplItemFn) -> syn::ImplItemFn {
    struct Spell<'a> {
        trait_: &'a Path,
        associated: BTreeSet<String>,
    }
    impl VisitMut for Spell<'_> {
        fn visit_type_path_mut(&mut self, p: &mut syn::TypePath) {
            self.spell(&mut p.qself, &mut p.path);
            visit_mut::visit_type_path_mut(self, p);
        }
        fn visit_expr_path_mut(&mut self, p: &mut syn::ExprPath) {
            if p.path.segments.len() > 2 {
                self.spell(&mut p.qself, &mut p.path);
            }
            visit_mut::visit_expr_path_mut(self, p);
        }
        fn visit_item_mut(&mut self, _: &mut Item) {}
    }
    impl Spell<'_> {
        fn spell(&self, qself: &mut Option<syn::QSelf>, path: &mut Path) {
            if qself.is_none()
                && let Some((own, full)) = projected(path, &parse_quote!(Self), self.trait_, &self.associated)
            {
                (*qself, *path) = (Some(own), full);
            }
        }
    }
    let mut f = f.clone();
    let Some((path, _)) = &block.trait_ else { return f };
    f.vis = parse_quote!(pub);
    let associated = associated_types(block).map(ToString::to_string).collect();
    Spell { trait_: path, associated }.visit_impl_item_fn_mut(&mut f);
    f
}

/// The types that a trait's `impl` block defines.
pub(crate) fn associated_types(block: &ItemImpl) -> impl Iterator<Item = &Ident> {
    block.items.iter().filter_map(|item| match item {
        ImplItem::Type(ty) => Some(&ty.ident),
        _ => None,
    })
}

/// `Self::Output` of a trait, and what stands behind it.
fn projected(
    path: &Path,
    own: &Type,
    trait_: &Path,
    associated: &BTreeSet<String>,
) -> Option<(syn::QSelf, Path)> {
    let name = &path.segments.get(1)?.ident;
    if path.segments[0].ident != "Self" || !associated.contains(&name.to_string()) {
        return None;
    }
    let rest = path.segments.iter().skip(1);
    let whole: syn::TypePath = parse_quote!(<#own as #trait_>::#(#rest)::*);
    Some((whole.qself?, whole.path))
}

/// Puts the type in the place of `Self`, and a variable in that of `self`.
struct Free {
    owner: Ident,
    ty: Type,
    trait_: Option<Path>,
    /// Types and constants of the `impl` block.
    associated: BTreeSet<String>,
}

impl Free {
    fn projected(&self, path: &Path) -> Option<(syn::QSelf, Path)> {
        projected(path, &self.ty, self.trait_.as_ref()?, &self.associated)
    }
}

impl VisitMut for Free {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(p) = ty
            && p.qself.is_none()
        {
            if p.path.is_ident("Self") {
                *ty = self.ty.clone();
                return;
            }
            if let Some((qself, path)) = self.projected(&p.path) {
                *ty = Type::Path(syn::TypePath { attrs: Vec::new(), qself: Some(qself), path });
                return;
            }
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(p) = expr
            && p.qself.is_none()
        {
            if p.path.is_ident("self") {
                p.path = self_ident(p.path.segments[0].ident.span()).into();
                return;
            }
            if let Some((qself, path)) = self.projected(&p.path) {
                (p.qself, p.path) = (Some(qself), path);
                return;
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_path_mut(&mut self, path: &mut Path) {
        if let Some(first) = path.segments.first_mut()
            && first.ident == "Self"
        {
            first.ident = Ident::new(&self.owner.to_string(), first.ident.span());
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let owner = self.owner.to_string();
        map_tokens(mac, &mut |tree, field| match tree {
            TokenTree::Ident(ident) if !field && ident == "self" => {
                TokenTree::Ident(self_ident(ident.span()))
            }
            TokenTree::Ident(ident) if !field && ident == "Self" => {
                TokenTree::Ident(Ident::new(&owner, ident.span()))
            }
            other => other,
        });
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// The functions by which the program's names stand for the methods.
pub(crate) fn shims(functions: &[Function]) -> Vec<TokenStream> {
    let shims = functions.iter().filter_map(|f| {
        let method = f.method.as_ref()?;
        let (owner, name) = (&method.owner, &method.shown.sig.ident);
        let path = match &method.trait_ {
            Some(path) => quote!(<#owner as #path>::#name),
            None => quote!(<#owner>::#name),
        };
        let mut sig = f.sig.clone();
        sig.constness = None;
        let idents = numbered("__p", sig.inputs.len());
        for (arg, ident) in sig.inputs.iter_mut().zip(&idents) {
            if let FnArg::Typed(t) = arg {
                *t.pat = parse_quote!(#ident);
            }
        }
        let conditions = crate::syntax::attributes::conditions(&f.attrs);
        Some(quote! {
            #(#conditions)*
            #[doc(hidden)]
            #[inline(always)]
            #[allow(warnings)]
            #GENERATED
            #sig { #path(#(#idents),*) }
        })
    });
    shims.collect()
}

/// The name of a method's function beside one of several items, which may all have it. An item is known by its first function.
pub(crate) fn for_item(name: &Ident, first: &Function) -> Ident {
    format_ident!("{}{FOR}{}{}", name, owner_name(first), first.sig.ident, span = name.span())
}

/// The type of a function's `impl` block as a part of a name.
pub(crate) fn owner_name(function: &Function) -> String {
    let owner = function.owner.iter().flat_map(|owner| mentions::text(owner).into_bytes());
    owner.map(|c| if c.is_ascii_alphanumeric() { char::from(c) } else { '_' }).collect()
}

/// The name that users know a function by.
pub(crate) fn shown_name(name: &Ident) -> String {
    let text = name.to_string();
    match text.strip_prefix(PREFIX).or(text.strip_prefix(INNER)) {
        Some(name) => name.split(FOR).next().unwrap_or(name).replacen("__", "::", 1),
        None => text,
    }
}

/// What stands before an `impl` block for methods of a trait: `Self::method` is found where the trait is in scope.
pub(crate) fn beside_trait(path: &Path) -> TokenStream {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|segment| segment.arguments = syn::PathArguments::None);
    let scope = (path.segments.len() > 1).then(|| quote!(#[allow(unused_imports)] use #path as _;));
    quote!(#scope #[allow(private_interfaces, private_bounds, unreachable_pub)])
}

/// What is generated for the methods of one type, in an `impl` block of it.
pub(crate) fn block(function: &Function, items: &[TokenStream]) -> Option<TokenStream> {
    let method = function.method.as_ref()?;
    let generics = if method.named { method.shown.outer.clone() } else { syn::Generics::default() };
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let owner = &method.owner;
    let carried = crate::syntax::attributes::lints_and_conditions(&method.attrs);
    let of_trait = method.trait_.as_ref().map(beside_trait);
    Some(quote!(#of_trait #(#carried)* impl #impl_generics #owner #where_clause { #(#items)* }))
}
