//! Instances of generic functions, for whose checks a size is asked.
//!
//! The macro doesn't know which types meet a function's bounds, but rustc does, without a message: a constant of a type is
//! found in an `impl` block whose bounds are met, and else in that of a trait for all types. So some types are tried.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericParam, Generics, Ident, Lifetime, PathArguments, ReturnType, Type, TypeParamBound, parse_quote,
};

use super::form::names;
use crate::lockstep::is_primitive;

/// Type arguments for the parameters of a function.
pub(super) struct Instances<'a> {
    generics: &'a Generics,
    rows: Vec<Vec<TokenStream>>,
}

/// Types to try for the parameters that are no closures: between them they meet most bounds.
fn types() -> [Type; 5] {
    [
        parse_quote!(::core::primitive::f64),
        parse_quote!(::core::primitive::u64),
        parse_quote!(::core::primitive::i32),
        parse_quote!(::std::string::String),
        parse_quote!(::std::vec::Vec<::core::primitive::f64>),
    ]
}

/// Instances of a function with these parameters, if some are not lifetimes and all can be named.
pub(super) fn of(generics: &Generics) -> Option<Instances<'_>> {
    let (own, clause) = (["Self".to_string()], &generics.where_clause);
    if names(generics, &own) || names(clause, &own) {
        return None;
    }
    let mut rows: Vec<Vec<TokenStream>> = Vec::new();
    for ty in types() {
        let row = row(generics, &ty)?;
        let text: Vec<String> = row.iter().map(TokenStream::to_string).collect();
        if rows.iter().all(|known| !known.iter().map(TokenStream::to_string).eq(text.iter().cloned())) {
            rows.push(row);
        }
    }
    rows.first().is_some_and(|row| !row.is_empty()).then_some(Instances { generics, rows })
}

fn row(generics: &Generics, ty: &Type) -> Option<Vec<TokenStream>> {
    let mut known: BTreeMap<String, Type> =
        generics.type_params().map(|p| (p.ident.to_string(), ty.clone())).collect();
    for param in generics.type_params() {
        let bounds =
            generics.where_clause.iter().flat_map(|clause| &clause.predicates).filter_map(|p| match p {
                syn::WherePredicate::Type(p) => match &p.bounded_ty {
                    Type::Path(ty) if ty.path.is_ident(&param.ident) => Some(&p.bounds),
                    _ => None,
                },
                _ => None,
            });
        if let Some(function) = bounds.chain([&param.bounds]).flatten().find_map(function) {
            let function = named(function, &known)?;
            known.insert(param.ident.to_string(), function);
        }
    }
    let args = generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(p) => known.get(&p.ident.to_string()).map(|ty| Some(quote!(#ty))),
        GenericParam::Const(p) => Some(value(&p.ty)),
    });
    args.collect()
}

/// The pointer to a function that is a closure of this bound.
fn function(bound: &TypeParamBound) -> Option<Type> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last()?;
    let PathArguments::Parenthesized(args) = &last.arguments else { return None };
    let (inputs, lifetimes) = (&args.inputs, &bound.lifetimes);
    Some(match &args.output {
        ReturnType::Default => parse_quote!(#lifetimes fn(#inputs)),
        ReturnType::Type(_, output) => parse_quote!(#lifetimes fn(#inputs) -> #output),
    })
}

/// The type with the parameters' types in their places, if it has no others of the function's names.
fn named(mut ty: Type, known: &BTreeMap<String, Type>) -> Option<Type> {
    struct Put<'a>(&'a BTreeMap<String, Type>, bool);
    impl VisitMut for Put<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if let Type::Path(p) = ty
                && let Some(known) = p.path.get_ident().and_then(|name| self.0.get(&name.to_string()))
            {
                *ty = known.clone();
                return;
            }
            visit_mut::visit_type_mut(self, ty);
        }
        fn visit_ident_mut(&mut self, name: &mut Ident) {
            // An associated type of a parameter, or its use in an expression.
            self.1 &= *name != "Self" && !self.0.contains_key(&name.to_string());
        }
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            self.1 &= lifetime.ident == "_" || lifetime.ident == "static";
        }
        fn visit_macro_mut(&mut self, _: &mut syn::Macro) {
            self.1 = false;
        }
    }
    let mut put = Put(known, true);
    put.visit_type_mut(&mut ty);
    put.1.then_some(ty)
}

/// A value for a constant of a type.
fn value(ty: &Type) -> Option<TokenStream> {
    let Type::Path(path) = ty else { return None };
    let name = path.path.get_ident()?;
    match () {
        () if name == "bool" => Some(quote!(true)),
        () if name == "char" => Some(quote!('a')),
        () => is_primitive(ty).then(|| quote!(1)),
    }
}

impl Instances<'_> {
    /// Of the sizes of those of the instances that there are. Only whether it is known matters.
    pub(super) fn sum(&self, size: &TokenStream, rt: &TokenStream) -> TokenStream {
        let of = Ident::new("__Of", Span::mixed_site());
        let (params, clause) = (&self.generics.params, &self.generics.where_clause);
        let (mut declared, mut fields, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for param in params {
            match param {
                GenericParam::Lifetime(_) => {}
                GenericParam::Type(p) => {
                    let name = &p.ident;
                    declared.push(quote!(#name: ?::core::marker::Sized));
                    fields.push(quote!(::core::marker::PhantomData<#name>));
                    names.push(name);
                }
                GenericParam::Const(p) => {
                    let (name, ty) = (&p.ident, &p.ty);
                    declared.push(quote!(const #name: #ty));
                    names.push(name);
                }
            }
        }
        let of_rows = self.rows.iter().map(|row| quote!(<#of<#(#row),*>>::SIZE));
        quote! {
            use #rt::Unknown as _;
            struct #of<#(#declared),*>(#(#fields),*);
            impl<#(#declared),*> #rt::Unknown for #of<#(#names),*> {}
            impl<#params> #of<#(#names),*> #clause {
                const SIZE: usize = #size;
            }
            #(#of_rows)|*
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(function: &str) -> Option<Vec<String>> {
        let sig: syn::Signature = syn::parse_str(function).unwrap();
        let instances = of(&sig.generics)?;
        Some(instances.rows.iter().map(|row| quote!(#(#row),*).to_string().replace(' ', "")).collect())
    }

    #[test]
    fn closures_are_pointers_to_functions() {
        let rows_of = rows("fn f<T, F: Fn(T) -> T, const N: usize>(f: F)").unwrap();
        assert_eq!(rows_of[0], "::core::primitive::f64,fn(::core::primitive::f64)->::core::primitive::f64,1");
        assert_eq!(rows_of.len(), 5);
        assert_eq!(rows("fn f<F>(f: F) where F: FnMut(&f64)").unwrap(), ["fn(&f64)"]);
        assert_eq!(rows("fn f<const B: bool>()").unwrap(), ["true"]);
    }

    #[test]
    fn what_cannot_be_named_has_no_instance() {
        assert_eq!(rows("fn f<'a>(x: &'a str)"), None);
        assert_eq!(rows("fn f<T: Iterator, F: Fn(T::Item)>(f: F)"), None);
        assert_eq!(rows("fn f<'a, F: Fn(&'a str)>(f: F)"), None);
        assert_eq!(rows("fn f<const N: Size>()"), None);
    }
}
