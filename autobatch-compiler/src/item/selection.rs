//! Which functions of the user's become part of a program.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, Item, Path, parse_quote};

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::item::trip_counts;
use crate::std_models::pure;
use crate::syntax::impl_trait;
use crate::syntax::mentions::{self, text};
use crate::syntax::primitive_names::is_primitive;
use crate::syntax::reachability::reached;
use crate::syntax::walk::{self, At};

/// The functions that can become part of the program of one of `entries`, and the calls between functions
/// of one program, by position.
pub(crate) fn call_graph(
    functions: &[Function],
    entries: &[usize],
    primitives: &[syn::Path],
    definitions: &Definitions,
) -> (BTreeSet<usize>, BTreeSet<(usize, usize)>) {
    let known: BTreeSet<String> = functions.iter().map(|f| f.sig.ident.to_string()).collect();
    let position = |name: &String| functions.iter().position(|f| f.sig.ident == *name);
    let called = |f| called_names(f, &known, primitives, definitions).0.iter().filter_map(position).collect();
    let called: Vec<BTreeSet<usize>> = functions.iter().map(called).collect();
    let (mut worth, mut calls) = (BTreeSet::new(), BTreeSet::new());
    for entry in entries {
        let (batched, excluded) = worth_batching(functions, *entry, primitives, definitions);
        let others = batched.keys().chain(&excluded).filter_map(position);
        let mut program: BTreeSet<usize> = others.chain([*entry]).collect();
        // In the others' programs a call of this entry may be a plain one.
        let reached = reached(*entry, |f| called[f].iter().copied());
        program.retain(|f| f == entry || reached.contains(f));
        for from in &program {
            calls.extend(called[*from].intersection(&program).map(|to| (*from, *to)));
        }
        worth.extend(program);
    }
    (worth, calls)
}

/// The functions that become part of the program: the entry, and those that loop, recurse, or call
/// such a one. The others are cheap enough to stay calls inside the lane code, where they are inlined. A loop of a few rounds
/// is straight code of a small function.
///
/// Second result: those that would be worth it, but whose type parameters have no name in the entry's code.
pub(crate) fn worth_batching(
    functions: &[Function],
    entry: usize,
    primitives: &[syn::Path],
    definitions: &Definitions,
) -> (BTreeMap<String, usize>, BTreeSet<String>) {
    let known: BTreeSet<String> = functions.iter().map(|f| f.sig.ident.to_string()).collect();
    let scans: Vec<_> = functions.iter().map(|f| called_names(f, &known, primitives, definitions)).collect();
    let index: BTreeMap<String, usize> =
        functions.iter().enumerate().map(|(i, f)| (f.sig.ident.to_string(), i)).collect();
    let worth = heavy(functions.len(), |f| scans[f].1, |f| scans[f].0.iter().map(|name| index[name]));
    let (mut batched, mut excluded) = (BTreeMap::new(), BTreeSet::new());
    for (i, f) in functions.iter().enumerate().filter(|(i, _)| worth.contains(i)) {
        let name = f.sig.ident.to_string();
        if i != entry && is_generic(f) && !same_generics(f, &functions[entry]) {
            // A parameter of type `impl Trait` is there to be called with closures of all sorts: that is no promise that is broken.
            if !impl_trait::any(&f.sig.generics) {
                excluded.insert(name);
            }
        } else {
            batched.insert(name, i);
        }
    }
    (batched, excluded)
}

/// The functions that recurse, as far as names say.
pub(crate) fn recursive(
    functions: &[Function],
    primitives: &[Path],
    definitions: &Definitions,
) -> BTreeSet<usize> {
    let names: Vec<String> = functions.iter().map(|f| f.sig.ident.to_string()).collect();
    let known = names.iter().cloned().collect();
    let scan = |f| called_names(f, &known, primitives, definitions).0;
    let called: Vec<BTreeSet<String>> = functions.iter().map(scan).collect();
    let next = |f: usize| (0..names.len()).filter(|g| called[f].contains(&names[*g])).collect::<Vec<_>>();
    (0..functions.len()).filter(|f| reached(*f, next).contains(f)).collect()
}

/// The functions that loop or recurse, of so many, and those that lead to one.
pub(crate) fn heavy<I: IntoIterator<Item = usize>>(
    all: usize,
    loops: impl Fn(usize) -> bool,
    called: impl Fn(usize) -> I,
) -> BTreeSet<usize> {
    let reached: Vec<BTreeSet<usize>> = (0..all).map(|f| reached(f, &called)).collect();
    let heavy = |f: &usize| loops(*f) || reached[*f].contains(f);
    (0..all).filter(|f| heavy(f) || reached[*f].iter().any(heavy)).collect()
}

/// Whether a function has type or constant parameters.
pub(crate) fn is_generic(f: &Function) -> bool {
    f.sig.generics.type_params().next().is_some() || f.sig.generics.const_params().next().is_some()
}

/// Whether two functions have the same parameters of types and constants, with the same names and bounds: then one that
/// calls the other means its own, as far as the arguments do not show otherwise (`scan::means_own_types`).
fn same_generics(f: &Function, g: &Function) -> bool {
    let parameters = |f: &Function| {
        let generics = &f.sig.generics;
        let params = generics.params.iter().filter(|p| !matches!(p, syn::GenericParam::Lifetime(_)));
        let params: Vec<String> = params.map(text).collect();
        (params, generics.where_clause.as_ref().map(text))
    };
    parameters(f) == parameters(g)
}

/// The names of the program functions that a body may lead to, and whether it has loops. Mentions as a
/// value and in macro tokens count: whoever gets the function may call it.
///
/// Calls of `primitives` count as loops: members wait there for each other.
pub(crate) fn called_names(
    function: &Function,
    known: &BTreeSet<String>,
    primitives: &[syn::Path],
    definitions: &Definitions,
) -> (BTreeSet<String>, bool) {
    let counts = trip_counts::of(function, definitions);
    let (called, mut loops) = (RefCell::new(BTreeSet::new()), false);
    let add_word = |word: String| called.borrow_mut().extend(Some(word).filter(|word| known.contains(word)));
    let mut add = |name: &Ident| add_word(name.to_string());
    let is_own = |name: &Ident| function.bindings.contains_key(&name.to_string());
    walk::each(&function.body, |at| match at {
        At::Expr(Expr::Path(p)) if !makes_number(&p.path) => {
            p.path.segments.last().map(|last| &last.ident).filter(|name| !is_own(name)).map(&mut add);
        }
        At::Expr(Expr::MethodCall(call)) => add(&call.method),
        At::Expr(Expr::Call(call)) => loops |= is_primitive(primitives, &call.func),
        At::Expr(Expr::ForLoop(e)) => loops |= counts.short(&e.expr).is_none() || !is_small(function),
        At::Expr(Expr::While(_) | Expr::Loop(_)) => loops = true,
        // What it calls, it may call for the function.
        At::Item(Item::Fn(inner)) => {
            mentions::idents(inner.to_token_stream()).iter().filter(|name| !is_own(name)).for_each(&mut add)
        }
        At::Macro(mac) => {
            mentions::idents(mac.tokens.clone()).iter().filter(|name| !is_own(name)).for_each(&mut add);
            definitions.words_of(mac).into_iter().flatten().for_each(add_word);
        }
        _ => {}
    });
    (called.into_inner(), loops)
}

/// Whether LLVM puts a function where it is called.
fn is_small(function: &Function) -> bool {
    text(&function.body).split(' ').count() <= 300
}

/// `f64::from`, `u8::try_from`: not the functions of these names that a type of the file has.
fn makes_number(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    let (Some(name), Some(ty)) = (names.next(), names.next()) else { return false };
    ["from", "try_from", "default"].iter().any(|known| name == known)
        && pure::is_primitive(&parse_quote!(#ty))
}

/// The functions that loop, call primitives, recurse, or call such a one, as far as names say: a method's name is
/// that of every method of that name.
pub(crate) fn by_shown_name(
    functions: &[Function],
    primitives: &[Path],
    definitions: &Definitions,
) -> BTreeSet<usize> {
    let name = |f: &Function| f.shown().sig.ident.to_string();
    let known: BTreeSet<String> = functions.iter().map(&name).collect();
    let scans: Vec<(BTreeSet<String>, bool)> =
        functions.iter().map(|f| called_names(f, &known, primitives, definitions)).collect();
    let names: Vec<String> = functions.iter().map(name).collect();
    let called = |f: usize| (0..names.len()).filter(|g| scans[f].0.contains(&names[*g])).collect::<Vec<_>>();
    heavy(functions.len(), |f| scans[f].1, called)
}
