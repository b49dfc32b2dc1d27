//! From a signature and a body to a function of the model; what has no batched form is refused.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Block, FnArg, Generics, Pat, PatType, ReceiverKind, ReturnType, Signature, Type, Visibility,
    parse_quote,
};

use crate::diagnostics::messages::{self, Message};
use crate::diagnostics::sink::Diagnostics;
use crate::item::model::{Function, Param, Passing};
use crate::syntax::attributes::clean;
use crate::syntax::bindings;
use crate::syntax::destructuring_assignments;
use crate::syntax::impl_trait;
use crate::syntax::mentions::{bare_type, find_impl, output};

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
                        diag.error(receiver, messages::RECEIVER);
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
    let mut written = block.clone();
    destructuring_assignments::desugar(&mut written);
    let mut body = written.clone();
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
        written,
        body,
        bindings,
        tail_calls: 0,
        output,
        associated: outer.is_some(),
        of_module: false,
        outer: outer.cloned().unwrap_or_default(),
        implements: None,
        owner: None,
        method: None,
    })
}

/// Refuses what has no batched meaning.
pub(crate) fn check_signature(sig: &Signature, diag: &mut Diagnostics) -> bool {
    let mut ok = true;
    let mut refuse = |at: &dyn ToTokens, message: Message| {
        diag.error(&at.to_token_stream(), message);
        ok = false;
    };
    if let Some(token) = &sig.asyncness {
        refuse(token, messages::ASYNC);
    }
    if let Some(variadic) = &sig.variadic {
        refuse(variadic, messages::VARIADIC);
    }
    if let Some(abi) = &sig.abi {
        refuse(abi, messages::FOREIGN_ABI);
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        refuse(token, messages::UNSAFE);
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        if let Some(ty) = find_impl(ty) {
            refuse(&ty, messages::IMPL_TRAIT_RESULT);
        }
        if matches!(**ty, Type::Never(_)) {
            refuse(ty, messages::NEVER_RETURNS);
        }
    }
    ok
}

fn passing_of(ty: &Type, attrs: &[Attribute], diag: &mut Diagnostics) -> Passing {
    let mut marked = |name: &str| {
        let mut of_name = attrs.iter().filter(|a| a.path().is_ident(name));
        let first = of_name.next();
        for again in of_name {
            diag.error(again, messages::marked_twice(name));
        }
        if let Some(attr) = first.filter(|attr| !matches!(attr.meta, syn::Meta::Path(_))) {
            diag.error(attr, messages::mark_with_arguments(name));
        }
        first
    };
    let (shared, each) = (marked("shared"), marked("each"));
    match (ty, shared, each) {
        (_, Some(_), Some(each)) => {
            diag.error(each, messages::SHARED_AND_EACH);
            Passing::Shared
        }
        (Type::Reference(r), None, Some(_)) if r.mutability.is_some() => Passing::EachMut,
        (Type::Reference(_), None, Some(_)) => Passing::EachRef,
        (_, None, Some(each)) => {
            diag.error(each, messages::EACH_VALUE);
            Passing::Each
        }
        (Type::Reference(r), Some(shared), None) => {
            if r.mutability.is_some() {
                diag.error(shared, messages::SHARED_STATE);
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
