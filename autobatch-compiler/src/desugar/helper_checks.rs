//! What rustc has to check of helpers that calls are taken for.
//!
//! Each check is an item beside the user's that compiles only if the belief is right.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Generics, Ident, Path, PathArguments, Type, parse_quote};

use crate::resolve::candidates::Takes;
use crate::resolve::method_calls::before;
use crate::resolve::method_checks::calls_find_nothing;
use crate::std_models::pure::is_primitive;
use crate::syntax::attributes::GENERATED;
use crate::syntax::mentions::text;

/// The checks, each once.
#[derive(Clone, Default)]
pub(crate) struct HelperChecks {
    all: BTreeMap<String, TokenStream>,
    /// Structures that were taken apart although they don't say that they are `Copy`, by their text.
    owned: BTreeMap<String, Type>,
}

impl HelperChecks {
    fn add(&mut self, check: TokenStream) {
        self.all.insert(check.to_string(), check);
    }

    /// All of these too.
    pub(crate) fn extend(&mut self, others: HelperChecks) {
        self.all.extend(others.all);
        self.owned.extend(others.owned);
    }

    /// Method calls of a name find none on these types.
    pub(super) fn finds_nothing(&mut self, name: &Ident, types: Vec<Type>) {
        self.finds_nothing_in(name, types, &Generics::default());
    }

    /// The same for types with these parameters.
    pub(super) fn finds_nothing_in(&mut self, name: &Ident, types: Vec<Type>, generics: &Generics) {
        if !types.is_empty() {
            let (types, check) = (types.iter().collect::<Vec<_>>(), format_ident!("finds_nothing"));
            self.add(calls_find_nothing(name, &check, &types, generics));
        }
    }

    /// A type, or a reference to it, has no method of a name itself, but for traits. It stands beside the item.
    pub(super) fn has_no_own(&mut self, name: &Ident, owner: &Type, takes: Takes) {
        let own: Type = if is_primitive(owner) { owner.clone() } else { parse_quote!(super::#owner) };
        let check =
            calls_find_nothing(name, &format_ident!("has_no_own"), &[&takes.of(&own)], &Generics::default());
        self.add(quote!(#[no_implicit_prelude] mod without_traits { #check }));
    }

    /// A method that is called on an array, or on a reference to one, is that of slices.
    pub(super) fn is_of_slices(&mut self, method: &Ident, array: &Type) {
        let ty = match array {
            Type::Reference(r) => &r.elem,
            ty => ty,
        };
        let mut before: Vec<Type> = vec![ty.clone(), parse_quote!(&#ty)];
        match array {
            Type::Reference(r) if r.mutability.is_none() => {
                before.extend([parse_quote!(&&#ty), parse_quote!(&mut &#ty)]);
            }
            Type::Reference(_) => {
                before.extend([parse_quote!(&mut #ty), parse_quote!(&&mut #ty), parse_quote!(&mut &mut #ty)]);
            }
            _ => before.push(parse_quote!(&mut #ty)),
        }
        self.finds_nothing(method, before);
    }

    /// A method that takes an array by value, and is called on it or on a reference to it, is that of arrays.
    pub(super) fn is_of_arrays(&mut self, method: &Ident, array: &Type) {
        if let Type::Reference(r) = array {
            let way = [array.clone(), (*r.elem).clone()];
            self.finds_nothing(method, before(&way, Takes::Value, &r.elem));
        }
    }

    /// A structure must not need drop: rustc is asked where code is run.
    pub(super) fn is_taken_apart(&mut self, ty: &Type) {
        self.owned.insert(text(ty), ty.clone());
    }

    /// The structures that must not need drop.
    pub(crate) fn taken_apart(&self) -> impl Iterator<Item = &Type> {
        self.owned.values()
    }

    /// A type may be copied, so it has no drop of its own.
    pub(super) fn is_copy(&mut self, ty: &Type) {
        self.add(quote! {
            fn is_copy() {
                fn copied<T: ::core::marker::Copy>() {}
                copied::<#ty>();
            }
        });
    }

    /// `Some` and `None` are those of the library.
    pub(super) fn is_option(&mut self) {
        self.add(quote! {
            fn is_option(value: ::core::option::Option<u8>) -> ::core::option::Option<u8> {
                let none: ::core::option::Option<u8> = None;
                match value {
                    Some(value) => Some(value),
                    None => none,
                }
            }
        });
    }

    /// A path names the trait of an operator: whatever has the operator has the trait. No other trait can be implemented for all that have
    /// the operator, since the item's file implements the trait for a type that has it.
    pub(super) fn is_operator(&mut self, path: &Path, of_trait: &str, operand: Option<&Type>) {
        let std = spelled(of_trait, operand);
        let mut path = path.clone();
        if let (Some(last), Some(operand)) = (path.segments.last_mut(), operand) {
            last.arguments = PathArguments::AngleBracketed(parse_quote!(<#operand>));
        }
        self.add(quote! {
            fn is_operator<T: #std>(value: T) {
                fn has<T: #path>(_: T) {}
                has(value);
            }
        });
    }

    /// A constant is this number.
    pub(super) fn is_number(&mut self, constant: &Ident, number: u64) {
        let number = proc_macro2::Literal::u64_unsuffixed(number);
        self.add(quote!(assert!(#constant == #number);));
    }

    /// A path names `std::array::from_fn`.
    pub(super) fn is_from_fn(&mut self, path: &Path) {
        let of = quote!(<u8, 1, fn(usize) -> u8>);
        self.add(quote! {
            fn is_from_fn() {
                fn same<T>(_: &T, _: &T) {}
                same(&#path::#of, &::core::array::from_fn::#of);
            }
        });
    }

    /// Of the numbers that a literal could be only `own` has the operator, or rustc takes it of several.
    pub(super) fn is_only_number(
        &mut self,
        of_trait: &str,
        own: &Type,
        operands: impl Fn(&Type) -> (Type, Option<Type>),
    ) {
        let usual: Type = match text(own).starts_with('f') {
            true => parse_quote!(f64),
            false => parse_quote!(i32),
        };
        if text(own) == text(&usual) {
            return;
        }
        let (left, right) = operands(&usual);
        let std = spelled(of_trait, right.as_ref());
        self.add(quote! {
            fn is_only_number() {
                trait Ambiguous<A> {
                    fn found() {}
                }
                impl<T: ?::core::marker::Sized> Ambiguous<()> for T {}
                struct Operator;
                impl<T: #std> Ambiguous<Operator> for T {}
                <#left as Ambiguous<_>>::found()
            }
        });
    }

    /// The checks as items.
    pub(crate) fn items(&self) -> impl Iterator<Item = TokenStream> {
        self.all.values().map(|check| {
            quote! {
                #[doc(hidden)]
                #[allow(warnings)]
                #GENERATED
                const _: () = { #check };
            }
        })
    }
}

/// The trait of an operator, with its operand.
fn spelled(of_trait: &str, operand: Option<&Type>) -> TokenStream {
    let name = format_ident!("{of_trait}");
    match operand {
        Some(operand) => quote!(::core::ops::#name<#operand>),
        None => quote!(::core::ops::#name),
    }
}
