//! What is wrong with the annotated item as a whole.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Ident, Item, ItemFn, ItemImpl, Path, Type};

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
        diag.error(
            name,
            &format!("`name` is for one function, and this {kind} may have several"),
            "leave it out: each batched form is called after its function",
        );
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
        diag.error(
            &block.self_ty,
            "batched methods stand in an `impl` block of the type itself, which only the crate that defines it can have",
            "move the code to a function and annotate that, or implement the trait for a type of your own",
        );
    } else {
        parameters_of_the_trait(block, diag);
    }
    if last_name(path) == "Drop" {
        diag.error(
            path,
            "only the compiler may call `drop`, so it has no batched form",
            "put the attribute on a function that `drop` calls",
        );
    }
    types_of_other_traits(block, diag);
}

/// Refuses methods of a trait where the type has methods of those names itself: they are meant by the calls.
pub(crate) fn hidden_methods(block: &ItemImpl, inherent: &BTreeSet<String>, diag: &mut Diagnostics) {
    for f in methods_of(block).filter(|f| inherent.contains(&f.sig.ident.to_string())) {
        diag.error(
            &f.sig.ident,
            "the type has a method of this name of its own, which is meant where it is called",
            "rename that method, and put the attribute on the `impl` block where the code stands",
        );
    }
}

/// Refuses methods of a trait of which another annotated block has methods of the same names.
pub(crate) fn twice_batched(block: &ItemImpl, twice: &BTreeSet<String>, diag: &mut Diagnostics) {
    for f in methods_of(block).filter(|f| twice.contains(&f.sig.ident.to_string())) {
        diag.error(
            &f.sig.ident,
            &format!("another `impl` block of the type has a `{}_batched`, too", f.sig.ident),
            "take the attribute off one of the blocks, or put the code in a function of its own and annotate that",
        );
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
                diag.error(
                    &ty.path,
                    "this `impl` block does not define the type, so a batched form can't tell which trait's it is",
                    "write the type itself, or its trait: `<Self as Trait>::Name`",
                );
            }
        });
    }
}

/// Refuses a trait's `impl` block with parameters that only the trait has: an `impl` block of the type can't have them.
fn parameters_of_the_trait(block: &ItemImpl, diag: &mut Diagnostics) {
    for ident in named_params(&block.generics) {
        if !mentions(block.self_ty.to_token_stream(), &|word| ident == word) {
            diag.error(
                ident,
                "batched methods stand in an `impl` block of the type itself, which does not have this parameter",
                "put the code in a generic function and annotate that",
            );
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
        0 => diag.error(
            &at,
            &format!("no function of this {kind} is visible outside, so none gets a batched form"),
            "make those `pub`, or `pub(super)`, that are to be called",
        ),
        _ => diag.error(
            &at,
            &format!("every parameter of this {kind}'s visible functions is shared, so there is nothing to batch over"),
            "take at least one parameter by value, by `&mut`, or mark one `#[each]`",
        ),
    }
}

/// Refuses a reference per member to what has no size of its own, and no column of its own: a column is a slice. True if there is one.
pub(crate) fn unsized_members(function: &Function, diag: &mut Diagnostics) -> bool {
    let mut found = false;
    for param in &function.params {
        let Type::Reference(r) = &param.ty else { continue };
        let (why, help) = match (param.passing, &*r.elem) {
            (Passing::State, Type::TraitObject(_)) => {
                (STATE_WITHOUT_SIZE, "make it a generic parameter, `fn f<T: Trait>(x: &mut T)`")
            }
            (Passing::State, Type::Path(p)) if p.path.is_ident("str") => {
                (STATE_WITHOUT_SIZE, "take a `&mut String`")
            }
            (Passing::EachRef, Type::TraitObject(_)) => (
                "an `#[each]` parameter is an element of a slice, and this type has no size",
                "take a `&Box<dyn Trait>`, or make it a generic parameter, `fn f<T: Trait>(#[each] x: &T)`",
            ),
            _ => continue,
        };
        diag.error(&param.ty, why, help);
        found = true;
    }
    found
}

const STATE_WITHOUT_SIZE: &str = "a `&mut` parameter is a state per member, and this type has no size";

/// Whether a type certainly is another crate's.
fn is_foreign(ty: &Type) -> bool {
    let Type::Path(p) = bare_type(ty) else { return true };
    let name = last_name(&p.path);
    is_primitive(bare_type(ty)) || facts::is(&name, Fact::Foreign) || name == "str"
}

/// Refuses an attribute beside another on the same item.
fn twice(attrs: &[Attribute], what: &str, diag: &mut Diagnostics) {
    again(attrs, &format!("{what} is batched already"), "remove one of the two attributes", diag);
}

/// Refuses an attribute inside of an item that has one.
fn within(attrs: &[Attribute], kind: &str, diag: &mut Diagnostics) {
    let why = format!("the attribute of the {kind} batches this function already");
    again(attrs, &why, "remove this attribute, or that of the block", diag);
}

fn again(attrs: &[Attribute], why: &str, instead: &str, diag: &mut Diagnostics) {
    attrs.iter().filter(|attr| is_own(attr)).for_each(|attr| diag.error(attr, why, instead));
}

/// A method by itself: what is generated can't stand in an `impl` block or a trait.
fn single_method(f: &ItemFn, diag: &mut Diagnostics) {
    let receiver = f.sig.receiver().map(ToTokens::to_token_stream);
    let own_type = || mentions::named_self(f.sig.to_token_stream()).or_else(|| self_in_body(f));
    if let Some(at) = receiver.or_else(|| own_type().map(|ident| ident.to_token_stream())) {
        diag.error(
            &at,
            "a method can't be batched by itself: its batched forms need the `impl` block around it",
            "put the attribute on the `impl` block of the type, or on a function that the method calls",
        );
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
