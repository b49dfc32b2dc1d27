//! What is wrong with the annotated item as a whole.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Ident, Item, ItemFn, ItemImpl, Path, Type};

use crate::diagnostics::messages::{self, Message};
use crate::diagnostics::sink::Diagnostics;
use crate::item::methods::{associated_types, named_params};
use crate::item::model::{Function, Passing};
use crate::std_models::facts::{self, Fact};
use crate::std_models::pure::is_primitive;
use crate::syntax::annotated::{Input, methods_of};
use crate::syntax::arguments::Args;
use crate::syntax::attributes::is_own;
use crate::syntax::macro_tokens::mentions;
use crate::syntax::mentions::{self, bare_type, is_type, last_name};
use crate::syntax::walk::{self, At};

/// Refuses items that can't get a batched form where they stand, or would get it twice.
pub(crate) fn item(input: &Input, args: &Args, diag: &mut Diagnostics) {
    let (kind, attrs) = match input {
        Input::Function(f) => {
            single_method(f, diag);
            return twice(&f.attrs, "the function", diag);
        }
        Input::Module(m) => ("module", &m.attrs),
        Input::Impl(i) => ("`impl` block", &i.attrs),
    };
    if let Some(name) = &args.name {
        diag.error(name, messages::name_of_several(kind));
    }
    twice(attrs, &format!("the {kind}"), diag);
    match input {
        Input::Function(_) => {}
        Input::Module(m) => {
            for item in m.content.iter().flat_map(|(_, items)| items) {
                if let Item::Fn(f) = item {
                    within(&f.attrs, kind, diag);
                }
            }
        }
        Input::Impl(i) => {
            if let Some((path, _)) = &i.trait_ {
                of_a_trait(i, path, diag);
            }
            methods_of(i).for_each(|f| within(&f.attrs, kind, diag));
        }
    }
}

/// Refuses what an `impl` block of a trait can't have, because an `impl` block of the type itself can't have it.
fn of_a_trait(block: &ItemImpl, path: &Path, diag: &mut Diagnostics) {
    let is_parameter = || block.generics.type_params().any(|param| is_type(&block.self_ty, &param.ident));
    if is_foreign(&block.self_ty) || is_parameter() {
        diag.error(&block.self_ty, messages::TYPE_OF_ANOTHER_CRATE);
    } else {
        parameters_of_the_trait(block, diag);
    }
    if last_name(path) == "Drop" {
        diag.error(path, messages::DROP);
    }
    types_of_other_traits(block, diag);
}

/// Refuses methods of a trait where the type has methods of those names itself: they are meant by the calls.
pub(crate) fn hidden_methods(block: &ItemImpl, inherent: &BTreeSet<String>, diag: &mut Diagnostics) {
    for f in methods_of(block).filter(|f| inherent.contains(&f.sig.ident.to_string())) {
        diag.error(&f.sig.ident, messages::HIDDEN_METHOD);
    }
}

/// Refuses methods of a trait of which another annotated block has methods of the same names.
pub(crate) fn twice_batched(block: &ItemImpl, twice: &BTreeSet<String>, diag: &mut Diagnostics) {
    for f in methods_of(block).filter(|f| twice.contains(&f.sig.ident.to_string())) {
        diag.error(&f.sig.ident, messages::batched_twice(&f.sig.ident));
    }
}

/// Refuses types that a trait's `impl` block names by `Self` without defining them: they may be of any trait.
fn types_of_other_traits(block: &ItemImpl, diag: &mut Diagnostics) {
    let defined: Vec<&Ident> = associated_types(block).collect();
    for f in methods_of(block) {
        walk::each(&f.sig, |at| {
            if let At::Type(Type::Path(ty)) = at
                && let [own, name] =
                    ty.path.segments.iter().map(|segment| &segment.ident).collect::<Vec<_>>()[..]
                && own == "Self"
                && !defined.contains(&name)
            {
                diag.error(&ty.path, messages::TYPE_OF_ANOTHER_TRAIT);
            }
        });
    }
}

/// Refuses a trait's `impl` block with parameters that only the trait has: an `impl` block of the type can't have them.
fn parameters_of_the_trait(block: &ItemImpl, diag: &mut Diagnostics) {
    for ident in named_params(&block.generics) {
        if !mentions(block.self_ty.to_token_stream(), &|word| ident == word) {
            diag.error(ident, messages::PARAMETER_OF_THE_TRAIT);
        }
    }
}

/// Refuses a module or `impl` block of which nothing could be called.
pub(crate) fn nothing_to_call(input: &Input, visible: usize, diag: &mut Diagnostics) {
    let (at, kind): (TokenStream, _) = match input {
        Input::Function(_) => return,
        Input::Module(m) => (m.ident.to_token_stream(), "module"),
        Input::Impl(i) => (i.self_ty.to_token_stream(), "`impl` block"),
    };
    match visible {
        0 => diag.error(&at, messages::no_entry(kind)),
        _ => diag.error(&at, messages::no_members_in(kind)),
    }
}

/// Refuses a reference per member to what has no size of its own, and no column of its own: a column is a slice. True if there is one.
pub(crate) fn unsized_members(function: &Function, diag: &mut Diagnostics) -> bool {
    let mut found = false;
    for param in &function.params {
        let Type::Reference(r) = &param.ty else { continue };
        let message = match (param.passing, &*r.elem) {
            (Passing::State, Type::TraitObject(_)) => messages::DYN_STATE,
            (Passing::State, Type::Path(p)) if p.path.is_ident("str") => messages::STR_STATE,
            (Passing::EachRef, Type::TraitObject(_)) => messages::EACH_DYN,
            _ => continue,
        };
        diag.error(&param.ty, message);
        found = true;
    }
    found
}

/// Whether a type certainly is another crate's.
fn is_foreign(ty: &Type) -> bool {
    let Type::Path(p) = bare_type(ty) else { return true };
    let name = last_name(&p.path);
    is_primitive(bare_type(ty)) || facts::is(&name, Fact::Foreign) || name == "str"
}

/// Refuses an attribute beside another on the same item.
fn twice(attrs: &[Attribute], what: &str, diag: &mut Diagnostics) {
    again(attrs, &messages::attribute_twice(what), diag);
}

/// Refuses an attribute inside of an item that has one.
fn within(attrs: &[Attribute], kind: &str, diag: &mut Diagnostics) {
    again(attrs, &messages::attribute_within(kind), diag);
}

fn again(attrs: &[Attribute], message: &Message, diag: &mut Diagnostics) {
    attrs.iter().filter(|attr| is_own(attr)).for_each(|attr| diag.error(attr, message.clone()));
}

/// A method by itself: what is generated can't stand in an `impl` block or a trait.
fn single_method(f: &ItemFn, diag: &mut Diagnostics) {
    let receiver = f.sig.receiver().map(ToTokens::to_token_stream);
    let own_type = || mentions::named_self(f.sig.to_token_stream()).or_else(|| self_in_body(f));
    if let Some(at) = receiver.or_else(|| own_type().map(|ident| ident.to_token_stream())) {
        diag.error(&at, messages::METHOD_ALONE);
    }
}

/// `Self` in the body, other than in items of the body, which have a `Self` of their own.
fn self_in_body(f: &ItemFn) -> Option<Ident> {
    walk::find(&*f.block, |at| match at {
        At::PathSegment(segment) if segment.ident == "Self" => Some(segment.ident.clone()),
        At::Macro(mac) => mentions::named_self(mac.tokens.clone()),
        _ => None,
    })
}
