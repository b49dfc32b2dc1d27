//! What the user wrote, sorted out: the functions of the annotated item and their parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Block, FnArg, Generics, Item, Pat, PatType, ReceiverKind, ReturnType, Signature, Type,
    Visibility, parse_quote,
};

use crate::diagnostics::sink::Diagnostics;
use crate::index::declarations::Declared;
use crate::item::excluded::{Aside, SEVERAL};
use crate::item::methods::{self, Method};
use crate::syntax::annotated::Input;
use crate::syntax::annotated::methods_of;
use crate::syntax::attributes::clean;
use crate::syntax::attributes::is_primitive;
use crate::syntax::bindings::{self, Bindings};
use crate::syntax::impl_trait;
use crate::syntax::mentions::bare_type;
use crate::syntax::mentions::find_impl;
use crate::syntax::mentions::output;
use crate::syntax::tail_positions;

/// How a parameter appears in the batched call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// A column: one value per member.
    Each,
    /// `#[each] x: &T`: a borrowed value per member.
    EachRef,
    /// The same reference, or `#[shared]` value, for all members.
    Shared,
    /// `&mut T`: state of the member, in and out.
    State,
    /// `x: &mut [T]`, or `#[each] x: &mut T`: borrowed per member, changed in place.
    EachMut,
}

/// A parameter.
#[derive(Clone)]
pub struct Param {
    /// The variable's unique name (`__self` for a receiver).
    pub ident: Ident,
    /// The name shown to users.
    pub shown: String,
    /// A destructuring pattern that is bound from `ident` at the start of the body.
    pub pattern: Option<Pat>,
    /// Its type; `&Self` and the like for receivers.
    pub ty: Type,
    /// How the batched call passes it.
    pub passing: Passing,
    /// Declared `mut`.
    pub mutable: bool,
}

/// A function to batch.
#[derive(Clone)]
pub struct Function {
    /// Attributes, doc comments included, without the crate's own.
    pub attrs: Vec<Attribute>,
    /// As written.
    pub vis: Visibility,
    /// As written, without parameter attributes of the crate; `impl Trait` in parameters has a name.
    pub sig: Signature,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The body as written.
    pub written: Block,
    /// The body with every binding renamed to be unique.
    pub body: Block,
    /// The bindings of parameters and body.
    pub bindings: Bindings,
    /// The return type, `()` where none is written.
    pub output: Type,
    /// Whether it is a method or associated function of an `impl` block.
    pub associated: bool,
    /// Whether it is one of a module, on which the attribute stands.
    pub of_module: bool,
    /// Generics of the `impl` block it stands in.
    pub outer: Generics,
    /// Method calls, by their text, that are known not to be the program's although a method of it has that name.
    pub others: BTreeSet<String>,
    /// Method calls, by their text, that may be the program's: the type of the receiver is not known.
    pub unknown: BTreeSet<String>,
    /// Calls, by their text, that are of a function left aside, and why it is.
    pub left_aside: BTreeMap<String, &'static str>,
    /// The functions of the item that are no part of the program.
    pub aside: Rc<[Aside]>,
    /// The trait that an `impl` block with the attribute implements.
    pub implements: Option<syn::Path>,
    /// The type of an `impl` block with the attribute.
    pub owner: Option<Type>,
    /// What it was, if it is a method of a type of a module.
    pub method: Option<Method>,
    /// What the item and its file declare.
    pub declared: Rc<Declared>,
    /// The types of variables of the body, as far as they follow from what is written.
    pub types: BTreeMap<String, Type>,
}

impl Function {
    /// The function that the user has written: a method, if it stands for one.
    pub(crate) fn shown(&self) -> &Function {
        self.method.as_ref().map_or(self, |method| &method.shown)
    }
}

/// Sorts out one function. `None` after errors that leave nothing to batch.
pub fn function(
    attrs: &[Attribute],
    vis: &Visibility,
    sig: &Signature,
    block: &Block,
    outer: Option<&Generics>,
    diag: &mut Diagnostics,
) -> Option<Function> {
    let ok = check_signature(sig, diag);
    let mut sig = sig.clone();
    impl_trait::name(&mut sig);
    let sig = &sig;
    let mut params = Vec::new();
    let mut patterns = Vec::new();
    for (index, arg) in sig.inputs.iter().enumerate() {
        let (ident, shown, ty, attrs, mutable) = match arg {
            FnArg::Receiver(receiver) => {
                let ty: Type = match &receiver.kind {
                    ReceiverKind::Value => parse_quote!(Self),
                    ReceiverKind::Reference(_, lifetime, None) => parse_quote!(&#lifetime Self),
                    ReceiverKind::Reference(_, lifetime, Some(_)) => parse_quote!(&#lifetime mut Self),
                    ReceiverKind::Typed(_, ty) => (**ty).clone(),
                    _ => {
                        diag.error(
                            receiver,
                            "this kind of receiver can't be batched",
                            "take `self`, `&self` or `&mut self`",
                        );
                        return None;
                    }
                };
                let ident = bindings::self_ident(Span::call_site());
                (ident, "self".to_string(), ty, &receiver.attrs, receiver.mutability.is_some())
            }
            FnArg::Typed(PatType { attrs, pat, ty, .. }) => {
                patterns.push((**pat).clone());
                let shown = match &**pat {
                    Pat::Ident(p) => p.ident.unraw().to_string(),
                    _ => format!("parameter {}", index + 1),
                };
                let ident = Ident::new(&format!("__p{index}"), Span::mixed_site());
                (ident, shown, (**ty).clone(), attrs, false)
            }
        };
        let passing = passing_of(&ty, attrs, diag);
        params.push(Param { ident, shown, pattern: None, ty, passing, mutable });
    }
    let has_self = sig.receiver().is_some();
    let mut body = block.clone();
    let bindings = bindings::resolve(&mut patterns, &mut body, has_self);
    for (param, pat) in params.iter_mut().skip(usize::from(has_self)).zip(patterns) {
        match pat {
            Pat::Ident(p) if p.subpat.is_none() && p.by_ref.is_none() => {
                (param.mutable, param.ident) = (p.mutability.is_some(), p.ident);
            }
            other => param.pattern = Some(other),
        }
    }
    let output = output(sig);
    let mut sig = sig.clone();
    clean(&mut sig);
    ok.then(|| Function {
        attrs: attrs.to_vec(),
        vis: vis.clone(),
        sig,
        params,
        written: block.clone(),
        body,
        bindings,
        output,
        associated: outer.is_some(),
        of_module: false,
        outer: outer.cloned().unwrap_or_default(),
        others: BTreeSet::new(),
        unknown: BTreeSet::new(),
        left_aside: BTreeMap::new(),
        aside: Rc::default(),
        implements: None,
        owner: None,
        declared: Rc::default(),
        method: None,
        types: BTreeMap::new(),
    })
}

/// Refuses what has no batched meaning.
pub(crate) fn check_signature(sig: &Signature, diag: &mut Diagnostics) -> bool {
    let mut ok = true;
    let mut refuse = |at: &dyn ToTokens, why: &str, instead: &str| {
        diag.error(&at.to_token_stream(), why, instead);
        ok = false;
    };
    if let Some(token) = &sig.asyncness {
        refuse(
            token,
            "an `async` function can't be batched: its members would wait on different futures",
            "batch the computation between the awaits, as a function that is not `async`",
        );
    }
    if let Some(variadic) = &sig.variadic {
        refuse(variadic, "a variadic function can't be batched", "pass a slice instead");
    }
    if let Some(abi) = &sig.abi {
        refuse(
            abi,
            "a function with a foreign ABI can't be batched",
            "annotate a Rust function that it calls",
        );
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        refuse(
            token,
            "an `unsafe` function can't be batched: its batched form would be a safe function",
            "wrap the unsafe part in a safe function and annotate that",
        );
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        if let Some(ty) = find_impl(ty) {
            refuse(
                &ty,
                "an `impl Trait` result can't be stored per member: its type has no name",
                "return a concrete type",
            );
        }
        if matches!(**ty, Type::Never(_)) {
            refuse(ty, "a function that never returns has no result per member", "return a value");
        }
    }
    ok
}

pub(crate) const EITHER: &str = "a parameter is either `#[shared]` or `#[each]`";
pub(crate) const EACH_VALUE: &str = "`#[each]` is for references: a value is one per member already";

fn passing_of(ty: &Type, attrs: &[Attribute], diag: &mut Diagnostics) -> Passing {
    let mut marked = |name: &str| {
        let mut of_name = attrs.iter().filter(|a| a.path().is_ident(name));
        let first = of_name.next();
        for again in of_name {
            diag.error(again, &format!("`#[{name}]` is given twice"), "remove one of them");
        }
        if let Some(attr) = first.filter(|attr| !matches!(attr.meta, syn::Meta::Path(_))) {
            diag.error(attr, &format!("`#[{name}]` takes no arguments"), &format!("write just `#[{name}]`"));
        }
        first
    };
    let (shared, each) = (marked("shared"), marked("each"));
    match (ty, shared, each) {
        (_, Some(_), Some(each)) => {
            diag.error(each, EITHER, "remove one of them");
            Passing::Shared
        }
        (Type::Reference(r), None, Some(_)) if r.mutability.is_some() => Passing::EachMut,
        (Type::Reference(_), None, Some(_)) => Passing::EachRef,
        (_, None, Some(each)) => {
            diag.error(each, EACH_VALUE, "remove `#[each]`");
            Passing::Each
        }
        (Type::Reference(r), Some(shared), None) => {
            if r.mutability.is_some() {
                diag.error(
                    shared,
                    "a `&mut` parameter can't be shared by members that run at the same time",
                    "share a `&` reference, or leave `#[shared]` out and give one state per member",
                );
            }
            Passing::Shared
        }
        // A slice has no size, so there is no column of states: nothing but a slice per member has a meaning.
        (Type::Reference(r), None, None)
            if r.mutability.is_some() && matches!(bare_type(&r.elem), Type::Slice(_)) =>
        {
            Passing::EachMut
        }
        (Type::Reference(r), None, None) if r.mutability.is_some() => Passing::State,
        (Type::Reference(_), None, None) => Passing::Shared,
        (_, Some(_), None) => Passing::Shared,
        (_, None, None) => Passing::Each,
    }
}

/// The functions of a module or `impl` that can be part of the program, in source order.
pub fn functions_of(input: &Input, diag: &mut Diagnostics) -> Vec<Function> {
    parted(input, diag).0
}

/// The same, and those that are left aside, with the reason.
pub(crate) fn parted(
    input: &Input,
    diag: &mut Diagnostics,
) -> (Vec<Function>, Vec<(Function, &'static str)>) {
    let (mut all, mut aside) = (Vec::new(), Vec::new());
    match input {
        Input::Function(f) => all.extend(function(&f.attrs, &f.vis, &f.sig, &f.block, None, diag)),
        Input::Module(m) => {
            for item in m.content.iter().flat_map(|(_, items)| items) {
                if let Item::Fn(f) = item
                    && quiet(&f.sig)
                    && !is_primitive(&f.attrs)
                {
                    all.extend(function(&f.attrs, &f.vis, &f.sig, &f.block, None, diag));
                }
            }
            let (methods, others) = methods::of_module(m);
            all.extend(methods);
            aside = others;
        }
        Input::Impl(i) => {
            for f in methods_of(i).filter(|f| quiet(&f.sig)) {
                let f = methods::of_trait(i, f);
                let function = function(&f.attrs, &f.vis, &f.sig, &f.block, Some(&i.generics), diag);
                let implements = i.trait_.as_ref().map(|(path, _)| path.clone());
                let owner = Some((*i.self_ty).clone());
                all.extend(function.map(|function| Function { implements, owner, ..function }));
            }
        }
    }
    // Which of several under conditions is there, only rustc knows: calls of them are plain calls.
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().for_each(|f| *names.entry(f.sig.ident.to_string()).or_default() += 1);
    let once = |f: &Function| {
        names[&f.sig.ident.to_string()] == 1 || !f.attrs.iter().any(|attr| attr.path().is_ident("cfg"))
    };
    let (mut all, several): (Vec<Function>, Vec<Function>) = all.into_iter().partition(once);
    aside.extend(several.into_iter().map(|f| (f, SEVERAL)));
    number_tails(&mut all);
    (all, aside)
}

/// Whether a function of a module or `impl` can be batched at all; one that can't is left alone
/// there, because the user did not ask for it by name.
fn quiet(sig: &Signature) -> bool {
    check_signature(sig, &mut Diagnostics::default())
}

/// Makes names unique again behind a rewriting of the body, which was unique before it.
pub(crate) fn rebind(function: &mut Function, mut body: Block) {
    let has_self = function.sig.receiver().is_some();
    let pattern = |p: &Param| p.pattern.clone().unwrap_or_else(|| if_ident(&p.ident, p.mutable));
    let mut params: Vec<Pat> = function.params.iter().map(pattern).collect();
    function.bindings = bindings::resolve(&mut params[usize::from(has_self)..], &mut body, has_self);
    for (param, pat) in function.params.iter_mut().zip(params) {
        if param.pattern.is_some() {
            param.pattern = Some(pat);
        }
    }
    function.body = body;
}

fn if_ident(ident: &Ident, mutable: bool) -> Pat {
    let mutability: Option<syn::Token![mut]> = mutable.then(Default::default);
    syn::parse_quote!(#mutability #ident)
}

/// Numbers the calls in tail position of functions of an item.
fn number_tails(functions: &mut [Function]) {
    let names: BTreeSet<String> = functions.iter().map(|f| f.shown().sig.ident.to_string()).collect();
    for function in functions {
        tail_positions::number(&mut function.written, &names);
        tail_positions::number(&mut function.body, &names);
    }
}
