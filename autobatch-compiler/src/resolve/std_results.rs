//! What methods of the library yield, and what they hand to closures, by the types of their receivers.

use std::collections::BTreeMap;

use quote::quote;
use syn::{Expr, ExprMethodCall, Ident, Type, parse_quote};

use crate::index::definitions::{argument, named};
use crate::resolve::infer::joined;
use crate::resolve::types::{Holds, Scopes, Types, is_iterator, is_number, iterator};
use crate::std_models::facts::Fact;
use crate::syntax::walk::{self, At};

fn option(ty: &Type) -> Type {
    parse_quote!(Option<#ty>)
}

impl Types<'_> {
    /// What the first type along the way method calls look holds.
    pub(super) fn holds(&self, ty: Type) -> Option<Holds> {
        self.way(&ty).find_map(|ty| {
            let ty = &ty;
            let is = |fact| self.definitions.is_library(ty, fact);
            match ty {
                Type::Array(t) => Some(Holds::Sequence((*t.elem).clone())),
                Type::Slice(t) => Some(Holds::Sequence((*t.elem).clone())),
                ty if is_iterator(ty) => Some(Holds::Iterator(argument(ty, 0)?)),
                ty if named(ty, "__Entry") => Some(Holds::Entry(argument(ty, 0)?)),
                ty if is(Fact::Sequence) => Some(Holds::Sequence(argument(ty, 0)?)),
                ty if is(Fact::Map) => Some(Holds::Map(argument(ty, 0)?, argument(ty, 1)?)),
                ty if is(Fact::Set) => Some(Holds::Set(argument(ty, 0)?)),
                ty if is(Fact::Maybe) => {
                    // An alias of one's own may leave the error out.
                    let error = || argument(ty, 1).unwrap_or_else(|| parse_quote!(_));
                    Some(Holds::Maybe(argument(ty, 0)?, (!named(ty, "Option")).then(error)))
                }
                _ => None,
            }
        })
    }

    /// The elements of an array, a slice or a vector.
    pub(super) fn element(&self, ty: Type) -> Option<Type> {
        match self.holds(ty)? {
            Holds::Sequence(element) => Some(element),
            _ => None,
        }
    }

    /// The value of an `Option` or a `Result`.
    pub(super) fn wrapped(&self, ty: Type) -> Option<Type> {
        match self.holds(ty)? {
            Holds::Maybe(value, _) => Some(value),
            _ => None,
        }
    }

    /// What an iteration over a value of this type yields.
    pub(crate) fn item(&self, ty: Type) -> Option<Type> {
        let (inner, reference) = match self.plain(&ty) {
            Type::Reference(r) => (self.plain(&r.elem), Some(r.mutability)),
            ty => (ty, None),
        };
        Some(match (self.holds(inner)?, reference) {
            (Holds::Iterator(item), None | Some(Some(_))) => item,
            (Holds::Sequence(item) | Holds::Set(item) | Holds::Maybe(item, _), None) => item,
            (Holds::Sequence(item) | Holds::Set(item) | Holds::Maybe(item, _), Some(mutability)) => {
                parse_quote!(&#mutability #item)
            }
            (Holds::Map(key, value), None) => parse_quote!((#key, #value)),
            (Holds::Map(key, value), Some(mutability)) => parse_quote!((&#key, &#mutability #value)),
            _ => return None,
        })
    }

    /// What a method of the library yields.
    pub(super) fn yields(&self, scopes: &Scopes, receiver: &Type, call: &ExprMethodCall) -> Option<Type> {
        let name = call.method.to_string();
        let by_reference = || self.item(parse_quote!(&#receiver)).map(|item| iterator(&item));
        match (self.holds(receiver.clone()), name.as_str()) {
            (_, "clone" | "to_owned") => Some(match receiver {
                Type::Reference(r) => (*r.elem).clone(),
                other => other.clone(),
            }),
            (Some(Holds::Iterator(_)), "by_ref" | "into_iter") => Some(receiver.clone()),
            (Some(_), "into_iter") => self.item(receiver.clone()).map(|item| iterator(&item)),
            (Some(Holds::Iterator(item)), name) => self.of_iterator(scopes, &item, name, call),
            (Some(Holds::Sequence(element)), name) => match name {
                "map" => {
                    let len: Expr = match receiver {
                        Type::Array(array) => array.len.clone(),
                        _ => parse_quote!(_),
                    };
                    self.made(scopes, call, 0).map(|made| parse_quote!([#made; #len]))
                }
                "remove"
                    if self.way(receiver).any(|ty| self.definitions.is_the_librarys(&ty, "VecDeque")) =>
                {
                    Some(option(&element))
                }
                "get" | "get_mut" if matches!(call.args.first(), Some(Expr::Range(_))) => {
                    let mutability = (name == "get_mut").then(|| quote!(mut));
                    Some(parse_quote!(Option<&#mutability [#element]>))
                }
                _ => of_sequence(&element, name),
            },
            (Some(Holds::Map(key, value)), name) => of_map(&key, &value, name).or_else(|| match name {
                "iter" => by_reference(),
                "iter_mut" => Some(iterator(&parse_quote!((&#key, &mut #value)))),
                _ => None,
            }),
            (Some(Holds::Set(element)), name) => match name {
                "iter" | "range" | "union" | "intersection" | "difference" => {
                    Some(iterator(&parse_quote!(&#element)))
                }
                "first" | "last" | "get" | "peek" => Some(parse_quote!(Option<&#element>)),
                "pop" | "pop_first" | "pop_last" | "take" | "replace" => Some(option(&element)),
                "drain" => Some(iterator(&element)),
                "into_vec" | "into_sorted_vec" => Some(parse_quote!(Vec<#element>)),
                _ => None,
            },
            (Some(Holds::Maybe(value, error)), name) => self.of_maybe(scopes, &value, error, name, call),
            (Some(Holds::Entry(value)), name) => match name {
                "or_default" | "or_insert" | "or_insert_with" | "or_insert_with_key" => {
                    Some(parse_quote!(&mut #value))
                }
                "and_modify" => Some(receiver.clone()),
                _ => None,
            },
            (None, name) if is_number(receiver) && name.starts_with("checked_") => Some(option(receiver)),
            (None, "then") => self.made(scopes, call, 0).map(|made| option(&made)),
            (None, "then_some") => self.of(scopes, call.args.first()?).map(|ty| option(&ty)),
            (None, "as_ref") => self.definitions.target(receiver).map(|ty| parse_quote!(&#ty)),
            (None, "as_mut") => self.definitions.target(receiver).map(|ty| parse_quote!(&mut #ty)),
            (None, _) => None,
        }
    }

    fn of_iterator(&self, scopes: &Scopes, item: &Type, name: &str, call: &ExprMethodCall) -> Option<Type> {
        let made = || self.made(scopes, call, 0);
        Some(match name {
            "rev" | "skip" | "take" | "filter" | "step_by" | "take_while" | "skip_while" | "inspect"
            | "fuse" | "chain" | "peekable" | "cycle" => iterator(item),
            "copied" | "cloned" => iterator(&self.definitions.target(item)?),
            "enumerate" => iterator(&parse_quote!((usize, #item))),
            "zip" => {
                let other = self.item(self.of(scopes, call.args.first()?)?)?;
                iterator(&parse_quote!((#item, #other)))
            }
            "flatten" => iterator(&self.item(item.clone())?),
            "map" => iterator(&made()?),
            "flat_map" => iterator(&self.item(made()?)?),
            "filter_map" | "map_while" => iterator(&self.wrapped(made()?)?),
            "scan" => iterator(&self.wrapped(self.made(scopes, call, 1)?)?),
            "find_map" => option(&self.wrapped(made()?)?),
            "next" | "next_back" | "last" | "nth" | "nth_back" | "find" | "rfind" | "min" | "max"
            | "min_by" | "max_by" | "min_by_key" | "max_by_key" | "reduce" | "next_if" => option(item),
            "peek" => parse_quote!(Option<&#item>),
            "peek_mut" => parse_quote!(Option<&mut #item>),
            "fold" => return joined([self.of(scopes, call.args.first()?), self.made(scopes, call, 1)]),
            "collect" => return self.collected(crate::resolve::infer::spelled(call)?, item),
            _ => return None,
        })
    }

    fn of_maybe(
        &self,
        scopes: &Scopes,
        value: &Type,
        error: Option<Type>,
        name: &str,
        call: &ExprMethodCall,
    ) -> Option<Type> {
        let of = |value: &Type| match &error {
            None => option(value),
            Some(error) => parse_quote!(Result<#value, #error>),
        };
        let first = || self.of(scopes, call.args.first()?);
        let target = || self.definitions.target(value);
        Some(match name {
            "iter" => iterator(&parse_quote!(&#value)),
            "iter_mut" => iterator(&parse_quote!(&mut #value)),
            "unwrap" | "expect" | "unwrap_or_default" | "unwrap_or_else" | "unwrap_or" => value.clone(),
            "as_ref" => of(&parse_quote!(&#value)),
            "as_mut" => of(&parse_quote!(&mut #value)),
            "as_deref" => of(&target().map(|ty| parse_quote!(&#ty))?),
            "as_deref_mut" => of(&target().map(|ty| parse_quote!(&mut #ty))?),
            "copied" | "cloned" => of(&target()?),
            "filter" | "or" | "or_else" | "xor" | "inspect" => of(value),
            "take" | "take_if" | "replace" | "ok" | "ok_or" | "ok_or_else" | "map_err"
                if error.is_none() || name == "ok" =>
            {
                option(value)
            }
            "map_err" => parse_quote!(Result<#value, _>),
            "insert" | "get_or_insert" | "get_or_insert_with" | "get_or_insert_default" => {
                parse_quote!(&mut #value)
            }
            "zip" => {
                let other = self.wrapped(first()?)?;
                option(&parse_quote!((#value, #other)))
            }
            "flatten" => of(&self.wrapped(value.clone())?),
            "map" => of(&self.made(scopes, call, 0)?),
            "and_then" => return self.made(scopes, call, 0),
            "map_or" => return first().or_else(|| self.made(scopes, call, 1)),
            "map_or_else" => return self.made(scopes, call, 1),
            _ => return None,
        })
    }

    /// A collection type as written, the places left open filled with what is collected.
    pub(super) fn collected(&self, into: &Type, item: &Type) -> Option<Type> {
        let mut into = self.plain(into);
        let is = |fact| self.definitions.is_library(&into, fact);
        let parts: Vec<Type> = if is(Fact::Map) {
            let Type::Tuple(pair) = self.plain(item) else { return None };
            pair.elems.into_iter().collect()
        } else if is(Fact::Maybe) {
            let inner = argument(&into, 0)?;
            vec![self.collected(&inner, &self.wrapped(item.clone())?)?]
        } else if is(Fact::Sequence) || is(Fact::Set) {
            vec![item.clone()]
        } else {
            return None;
        };
        let Type::Path(path) = &mut into else { return None };
        let syn::PathArguments::AngleBracketed(args) = &mut path.path.segments.last_mut()?.arguments else {
            return None;
        };
        for (arg, part) in args.args.iter_mut().zip(parts) {
            if let syn::GenericArgument::Type(ty @ (Type::Path(_) | Type::Infer(_))) = arg
                && walk::any(&*ty, |at| matches!(at, At::Type(Type::Infer(_))))
            {
                *ty = part;
            }
        }
        Some(into)
    }

    /// What the closure or function that a method gets returns.
    fn made(&self, scopes: &Scopes, call: &ExprMethodCall, position: usize) -> Option<Type> {
        let inputs = self.closure_inputs(scopes, call);
        match call.args.get(position)? {
            Expr::Closure(closure) => self.returned(scopes, closure, &inputs),
            Expr::Path(path) => {
                let input = inputs.first()?.clone()?;
                let mut inner = scopes.clone();
                inner.push(BTreeMap::from([("__input".to_string(), Some(input))]));
                let segments: Vec<&Ident> = path.path.segments.iter().map(|segment| &segment.ident).collect();
                let called = self.of(&inner, &parse_quote!(#path(__input)));
                match segments[..] {
                    // A method of the library by its path, `Option::as_ref`.
                    [_, name] if called.is_none() => self.of(&inner, &parse_quote!(__input.#name())),
                    _ => called,
                }
            }
            _ => None,
        }
    }

    /// The parameters of a closure that a method gets.
    pub(crate) fn closure_inputs(&self, scopes: &Scopes, call: &ExprMethodCall) -> Vec<Option<Type>> {
        let Some(receiver) = self.of(scopes, &call.receiver) else { return vec![] };
        let name = call.method.to_string();
        let item = match self.holds(receiver.clone()) {
            Some(Holds::Iterator(item) | Holds::Maybe(item, _)) => item,
            Some(Holds::Sequence(element)) => match name.as_str() {
                "map" => return vec![Some(element)],
                "retain" | "sort_by_key" | "partition_point" | "sort_by_cached_key" => {
                    return vec![Some(parse_quote!(&#element))];
                }
                "sort_by" | "sort_unstable_by" => {
                    return vec![Some(parse_quote!(&#element)); 2];
                }
                _ => return vec![],
            },
            _ => return vec![],
        };
        let init = || self.of(scopes, call.args.first()?);
        match name.as_str() {
            "map" | "filter_map" | "flat_map" | "for_each" | "any" | "all" | "position" | "find_map"
            | "and_then" | "is_some_and" | "is_none_or" | "is_ok_and" | "map_or" | "map_or_else"
            | "map_while" | "try_for_each" => vec![Some(item)],
            "filter" | "find" | "rfind" | "take_while" | "skip_while" | "inspect" | "min_by_key"
            | "max_by_key" | "partition" | "next_if" => {
                vec![Some(parse_quote!(&#item))]
            }
            "min_by" | "max_by" => vec![Some(parse_quote!(&#item)); 2],
            "reduce" => vec![Some(item); 2],
            "fold" | "try_fold" => vec![init(), Some(item)],
            "scan" => vec![init().map(|ty| parse_quote!(&mut #ty)), Some(item)],
            _ => vec![],
        }
    }
}

fn of_sequence(element: &Type, name: &str) -> Option<Type> {
    Some(match name {
        "iter" => iterator(&parse_quote!(&#element)),
        "iter_mut" => iterator(&parse_quote!(&mut #element)),
        "drain" => iterator(element),
        "first" | "last" | "get" | "front" | "back" => parse_quote!(Option<&#element>),
        "first_mut" | "last_mut" | "get_mut" | "front_mut" | "back_mut" => {
            parse_quote!(Option<&mut #element>)
        }
        "pop" | "pop_front" | "pop_back" => option(element),
        "remove" | "swap_remove" => element.clone(),
        "as_slice" => parse_quote!(&[#element]),
        "as_mut_slice" | "make_contiguous" => parse_quote!(&mut [#element]),
        "to_vec" | "split_off" | "into_vec" => parse_quote!(Vec<#element>),
        "split_first" | "split_last" => parse_quote!(Option<(&#element, &[#element])>),
        "split_first_mut" | "split_last_mut" => parse_quote!(Option<(&mut #element, &mut [#element])>),
        "split_at" => parse_quote!((&[#element], &[#element])),
        "split_at_mut" => parse_quote!((&mut [#element], &mut [#element])),
        "chunks" | "windows" | "chunks_exact" | "rchunks" | "split" => iterator(&parse_quote!(&[#element])),
        "chunks_mut" | "chunks_exact_mut" => iterator(&parse_quote!(&mut [#element])),
        _ => return None,
    })
}

fn of_map(key: &Type, value: &Type, name: &str) -> Option<Type> {
    Some(match name {
        "keys" => iterator(&parse_quote!(&#key)),
        "values" => iterator(&parse_quote!(&#value)),
        "values_mut" => iterator(&parse_quote!(&mut #value)),
        "into_keys" => iterator(key),
        "into_values" => iterator(value),
        "range" => iterator(&parse_quote!((&#key, &#value))),
        "drain" => iterator(&parse_quote!((#key, #value))),
        "get" => parse_quote!(Option<&#value>),
        "get_mut" => parse_quote!(Option<&mut #value>),
        "insert" | "remove" => option(value),
        "first_key_value" | "last_key_value" | "get_key_value" => parse_quote!(Option<(&#key, &#value)>),
        "pop_first" | "pop_last" => parse_quote!(Option<(#key, #value)>),
        "entry" => parse_quote!(__Entry<#value>),
        _ => return None,
    })
}
