//! Primitives that stand in the same crate as an annotated item.
//!
//! A macro sees its own item only, and whether a call is one of a primitive has to be known before the
//! program is cut into blocks. So the source is read once more (`crate_files.rs`): which functions with `#[primitive]`
//! does the item reach, as siblings, in the blocks around it, in modules by a path, or by a `use`? What
//! stands in other crates the user lists: `#[autobatch(primitives(…))]`.
//!
//! The item is found by its text. Where it can't be (a macro has made it), no primitives are known.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::visit::{self, Visit};
use syn::{Item, Path, UseTree};

use crate::conditions;
use crate::declared::Declared;
use crate::input::{is_batched, is_primitive};
use crate::receivers::definitions::Definitions;

/// How many `use` declarations are followed to find one name.
const HOPS: u32 = 4;

/// The primitives that `item` reaches in a file with this text, as its code can call them.
pub fn primitives(file: &str, item: &TokenStream) -> Vec<Path> {
    if !file.contains("primitive") {
        return Vec::new();
    }
    let (Ok(file), Ok(item)) = (syn::parse_str::<syn::File>(file), syn::parse2::<Item>(item.clone())) else {
        return Vec::new();
    };
    let Some(wanted) = Wanted::of(&item) else { return Vec::new() };
    let mut found = BTreeSet::new();
    let mut at = |scopes: &[Scope<'_>]| found.extend(reached(scopes, HOPS));
    Search { wanted, scopes: vec![Scope::module(&file.items)], at: &mut at }.items(&file.items);
    found.iter().filter_map(|path| syn::parse_str(path).ok()).collect()
}

/// The structures and enumerations that `item` may mean by their names: those of the blocks and modules around it,
/// innermost first, then all others of the file.
pub(crate) fn definitions(file: &str, item: &TokenStream) -> Definitions {
    let mut definitions = Definitions::default();
    let (Ok(file), Ok(item)) = (syn::parse_str::<syn::File>(file), syn::parse2::<Item>(item.clone())) else {
        return definitions;
    };
    let Some(wanted) = Wanted::of(&item) else { return definitions };
    let mut found = false;
    let mut at = |scopes: &[Scope<'_>]| {
        // Twice the same item: its scopes may differ.
        if !std::mem::replace(&mut found, true) {
            scopes.iter().rev().for_each(|scope| definitions.add(scope.items.iter().copied()));
        }
    };
    Search { wanted, scopes: vec![Scope::module(&file.items)], at: &mut at }.items(&file.items);
    if found {
        let mut all = Vec::new();
        everywhere(&file.items, &mut all);
        definitions.add(all);
    }
    definitions
}

/// What the item and its file declare.
pub(crate) fn declared(file: Option<&str>, item: &TokenStream) -> Declared {
    let item = syn::parse2::<Item>(item.clone()).ok();
    let Some(Ok(file)) = file.map(syn::parse_str::<syn::File>) else {
        let mut declared = item.as_ref().map(Declared::of_item).unwrap_or_default();
        if let Some(Item::Mod(syn::ItemMod { content: Some((_, items)), .. })) = &item {
            items.iter().for_each(|item| declared.add_beside(item));
        }
        return declared;
    };
    let mut declared = Declared::of_file(&file);
    if let Some(wanted) = item.as_ref().and_then(Wanted::of) {
        let mut at = |scopes: &[Scope<'_>]| {
            let beside = scopes.last().filter(|scope| scope.is_module);
            beside.iter().flat_map(|scope| &scope.items).for_each(|item| declared.add_beside(item));
        };
        Search { wanted, scopes: vec![Scope::module(&file.items)], at: &mut at }.items(&file.items);
    }
    declared
}

/// The functions in the file's `impl` blocks of the type, without a trait, for which the item implements one.
pub(crate) fn inherent_methods(file: &str, input: &crate::input::Input) -> BTreeSet<String> {
    let crate::input::Input::Impl(syn::ItemImpl { trait_: Some(_), self_ty, .. }) = input else {
        return BTreeSet::new();
    };
    struct Scan(Option<Ident>, BTreeSet<String>);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_item_impl(&mut self, i: &'ast syn::ItemImpl) {
            if i.trait_.is_none() && type_name(&i.self_ty) == self.0 {
                self.1.extend(i.items.iter().filter_map(|item| match item {
                    syn::ImplItem::Fn(f) => Some(f.sig.ident.to_string()),
                    _ => None,
                }));
            }
            visit::visit_item_impl(self, i);
        }
    }
    let mut scan = Scan(type_name(self_ty), BTreeSet::new());
    if let (Some(_), Ok(file)) = (&scan.0, syn::parse_str::<syn::File>(file)) {
        scan.visit_file(&file);
    }
    scan.1
}

/// The methods of the trait that the item implements of which the file's annotated `impl` blocks have several for the type.
pub(crate) fn batched_twice(file: &str, input: &crate::input::Input) -> BTreeSet<String> {
    let crate::input::Input::Impl(syn::ItemImpl { trait_: Some(_), self_ty, .. }) = input else {
        return BTreeSet::new();
    };
    struct Scan {
        owner: String,
        seen: BTreeSet<String>,
        twice: BTreeSet<String>,
    }
    impl<'ast> Visit<'ast> for Scan {
        fn visit_item_impl(&mut self, i: &'ast syn::ItemImpl) {
            let conditional = i.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
            if is_batched(&i.attrs) && !conditional && crate::ir::text(&i.self_ty) == self.owner {
                for item in &i.items {
                    let syn::ImplItem::Fn(f) = item else { continue };
                    let name = f.sig.ident.to_string();
                    if !self.seen.insert(name.clone()) {
                        self.twice.insert(name);
                    }
                }
            }
        }
    }
    let mut scan = Scan { owner: crate::ir::text(self_ty), seen: BTreeSet::new(), twice: BTreeSet::new() };
    if let Ok(file) = syn::parse_str::<syn::File>(file) {
        scan.visit_file(&file);
    }
    scan.twice
}

fn type_name(ty: &syn::Type) -> Option<Ident> {
    match ty {
        syn::Type::Path(p) => p.path.segments.last().map(|segment| segment.ident.clone()),
        _ => None,
    }
}

/// The items of a file, those of its modules too.
pub(crate) fn everywhere<'a>(items: &'a [Item], all: &mut Vec<&'a Item>) {
    for item in items {
        all.push(item);
        if let Item::Mod(syn::ItemMod { content: Some((_, items)), .. }) = item {
            everywhere(items, all);
        }
    }
}

/// An item that is looked for.
struct Wanted {
    whole: String,
    outline: String,
}

impl Wanted {
    fn of(item: &Item) -> Option<Wanted> {
        Some(Wanted { whole: text(item, true)?, outline: text(item, false)? })
    }

    /// Whether it is one of the file's, or what is left of one behind conditions.
    fn is(&self, item: &Item) -> bool {
        text(item, true).is_some_and(|whole| whole == self.whole)
            || (text(item, false).is_some_and(|outline| outline == self.outline) && conditions::any(item))
    }
}

/// What tells an item from others: the text of its functions, attributes aside; with their bodies or without.
fn text(item: &Item, bodies: bool) -> Option<String> {
    let function = |sig: &syn::Signature, block: &syn::Block| {
        let mut sig = sig.clone();
        crate::input::clean(&mut sig);
        let block = bodies.then_some(block);
        quote!(#sig #block)
    };
    let tokens = match item {
        Item::Fn(f) => function(&f.sig, &f.block),
        Item::Mod(m) => {
            let functions = m.content.as_ref()?.1.iter().filter_map(|item| match item {
                Item::Fn(f) => Some(function(&f.sig, &f.block)),
                _ => None,
            });
            let ident = &m.ident;
            quote!(mod #ident #(#functions)*)
        }
        Item::Impl(i) => {
            let functions = i.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(f) => Some(function(&f.sig, &f.block)),
                _ => None,
            });
            let ty = &i.self_ty;
            quote!(impl #ty #(#functions)*)
        }
        _ => return None,
    };
    Some(tokens.to_string().split_whitespace().collect())
}

/// A module of the file, or a block with items.
#[derive(Clone)]
struct Scope<'a> {
    items: Vec<&'a Item>,
    is_module: bool,
}

impl<'a> Scope<'a> {
    fn module(items: &'a [Item]) -> Self {
        Scope { items: items.iter().collect(), is_module: true }
    }

    fn primitives(&self) -> impl Iterator<Item = String> + '_ {
        self.items.iter().filter_map(|item| match item {
            Item::Fn(f) if is_primitive(&f.attrs) => Some(f.sig.ident.to_string()),
            _ => None,
        })
    }

    fn child(&self, name: &Ident) -> Option<Scope<'a>> {
        self.items.iter().find_map(|item| match item {
            Item::Mod(m) if m.ident == *name => Some(Scope::module(&m.content.as_ref()?.1)),
            _ => None,
        })
    }
}

struct Search<'a, 'b> {
    wanted: Wanted,
    /// Where the search is, outermost first.
    scopes: Vec<Scope<'a>>,
    /// What is done where the item stands.
    at: &'b mut dyn FnMut(&[Scope<'_>]),
}

impl<'a> Search<'a, '_> {
    fn items(&mut self, items: &'a [Item]) {
        items.iter().for_each(|item| self.visit_item(item));
    }

    fn inside(&mut self, scope: Scope<'a>, search: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        search(self);
        self.scopes.pop();
    }
}

impl<'a> Visit<'a> for Search<'a, '_> {
    fn visit_item(&mut self, item: &'a Item) {
        let module = match item {
            Item::Mod(m) => m.content.as_ref().map(|(_, items)| (Scope::module(items), items)),
            _ => None,
        };
        if self.wanted.is(item) {
            let mut scopes = self.scopes.clone();
            scopes.extend(module.iter().map(|(scope, _)| scope.clone()));
            (self.at)(&scopes);
        }
        match module {
            Some((scope, items)) => self.inside(scope, |search| search.items(items)),
            None => visit::visit_item(self, item),
        }
    }

    fn visit_block(&mut self, block: &'a syn::Block) {
        let items = block.stmts.iter().filter_map(|stmt| match stmt {
            syn::Stmt::Item(item) => Some(item),
            _ => None,
        });
        let scope = Scope { items: items.collect(), is_module: false };
        self.inside(scope, |search| visit::visit_block(search, block));
    }
}

/// The primitives that code in the innermost scope can call, by their paths.
fn reached(scopes: &[Scope<'_>], hops: u32) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for depth in (0..scopes.len()).rev() {
        let (here, scope) = (&scopes[..=depth], &scopes[depth]);
        all.extend(scope.primitives());
        for item in &scope.items {
            match item {
                Item::Use(u) if hops > 0 => used(here, None, &u.tree, hops - 1, &mut all),
                Item::Mod(m) => below(&m.ident.to_string(), item, &mut all),
                _ => {}
            }
        }
        if scope.is_module {
            let outer = innermost(&scopes[..depth]).last();
            all.extend(
                outer.iter().flat_map(|scope| scope.primitives()).map(|name| format!("super::{name}")),
            );
            break;
        }
    }
    all
}

/// The scopes up to the innermost module.
fn innermost<'s, 'a>(scopes: &'s [Scope<'a>]) -> &'s [Scope<'a>] {
    let end = scopes.iter().rposition(|scope| scope.is_module).map_or(0, |at| at + 1);
    &scopes[..end]
}

/// Primitives in a module, by their paths.
fn below(path: &str, item: &Item, all: &mut BTreeSet<String>) {
    let Item::Mod(syn::ItemMod { content: Some((_, items)), .. }) = item else { return };
    all.extend(Scope::module(items).primitives().map(|name| format!("{path}::{name}")));
    for item in items {
        if let Item::Mod(m) = item {
            below(&format!("{path}::{}", m.ident), item, all);
        }
    }
}

/// What a `use` makes of primitives of the file. `at`: the module that the path has led to so far.
fn used(here: &[Scope<'_>], at: Option<&[Scope<'_>]>, tree: &UseTree, hops: u32, all: &mut BTreeSet<String>) {
    let mut named = |name: &Ident, new: &Ident| {
        if at.is_some_and(|at| reached(at, hops).contains(&name.to_string())) {
            all.insert(new.to_string());
        }
    };
    match (tree, at) {
        (UseTree::Path(path), _) => {
            let to = follow(here, at, &path.ident);
            if !to.is_empty() {
                used(here, Some(&to), &path.tree, hops, all);
            }
        }
        (UseTree::Group(group), _) => group.items.iter().for_each(|tree| used(here, at, tree, hops, all)),
        (UseTree::Name(name), _) => named(&name.ident, &name.ident),
        (UseTree::Rename(name), _) => named(&name.ident, &name.rename),
        (UseTree::Glob(_), Some(at)) => {
            all.extend(reached(at, hops).into_iter().filter(|path| !path.contains("::")));
        }
        _ => {}
    }
}

/// Where one more segment of a path leads; nowhere if that is not in the file.
fn follow<'a>(here: &[Scope<'a>], at: Option<&[Scope<'a>]>, segment: &Ident) -> Vec<Scope<'a>> {
    let child = |scopes: &[Scope<'a>]| {
        let child = scopes.last()?.child(segment)?;
        Some(scopes.iter().cloned().chain([child]).collect())
    };
    match (segment.to_string().as_str(), at) {
        ("self", None) => innermost(here).to_vec(),
        ("crate", None) => here[..1].to_vec(),
        ("super", _) => match innermost(at.unwrap_or(here)) {
            [outer @ .., _] => innermost(outer).to_vec(),
            [] => Vec::new(),
        },
        // A first segment may be a module in one of the blocks around.
        (_, None) => (1..=here.len()).rev().find_map(|end| child(&here[..end])).unwrap_or_default(),
        (_, Some(at)) => child(at).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the function `f` reaches.
    fn reaches(file: &str) -> Vec<String> {
        let item = quote!(
            fn f(x: f64) -> f64 {
                g(x)
            }
        );
        let mut all: Vec<String> =
            primitives(file, &item).iter().map(|path| crate::ir::text(path).replace(' ', "")).collect();
        all.sort();
        all
    }

    const F: &str = "#[autobatch] fn f(#[each] x: f64) -> f64 { g(x) /* ! */ }";
    const G: &str = "#[autobatch::primitive(batched = h)] fn g(x: f64) -> f64 { x }";

    #[test]
    fn siblings_and_blocks_around() {
        assert_eq!(reaches(&format!("{F} {G}")), ["g"]);
        assert_eq!(reaches(&format!("fn test() {{ {G} let x = 1; {{ {F} }} }}")), ["g"]);
        assert!(reaches(&format!("fn test() {{ {G} }} fn other() {{ {F} }}")).is_empty());
        assert!(reaches(&format!("{F} fn g(x: f64) -> f64 {{ x }} // primitive")).is_empty());
        assert!(reaches(&format!("{G} fn f(x: f64) -> f64 {{ x }}")).is_empty(), "another function");
        assert_eq!(reaches(&format!("{G} fn f(x: f64) -> f64 {{ #[cfg(a)] let x = 2.0; g(x) }}")), ["g"]);
    }

    #[test]
    fn modules_by_path_and_by_use() {
        assert_eq!(reaches(&format!("{F} mod a {{ mod b {{ {G} }} }}")), ["a::b::g"]);
        assert_eq!(reaches(&format!("{G} mod a {{ {F} }}")), ["super::g"]);
        for import in ["super::g", "super::*", "super::{other, g}", "crate::{g}"] {
            let file = format!("{G} mod a {{ use {import}; {F} }}");
            assert_eq!(reaches(&file), ["g", "super::g"], "{import}");
        }
        assert_eq!(reaches(&format!("use a::g as h; {F} mod a {{ {G} }}")), ["a::g", "h"]);
        assert_eq!(reaches(&format!("use other::g; {F} mod a {{ {G} }}")), ["a::g"]);
        let twice =
            format!("mod a {{ {G} }} mod b {{ pub use super::a::*; }} mod c {{ use super::b::g; {F} }}");
        assert_eq!(reaches(&twice), ["g"]);
        let circle = format!("mod a {{ use super::b::*; {F} }} mod b {{ use super::a::*; {G} }}");
        assert_eq!(reaches(&circle), ["g"]);
    }

    #[test]
    fn a_module_reaches_what_stands_around_it() {
        let file = format!("{G} #[autobatch] mod m {{ use super::g; /** doc */ {F} }}");
        let item = quote!(
            mod m {
                use super::g;
                #[doc = " doc "]
                fn f(x: f64) -> f64 {
                    g(x)
                }
            }
        );
        let all: BTreeSet<String> = primitives(&file, &item).iter().map(crate::ir::text).collect();
        assert!(all.contains("g"), "{all:?}");
    }
}
