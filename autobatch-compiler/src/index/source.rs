//! The source around an annotated item: its own file, and no other.
//!
//! A macro sees its own item only. But whether a call is one of a primitive has to be known before the program is cut into
//! blocks, and what a receiver or a field is follows from the types that are written. So the item's file is read once more. Of
//! primitives those that stand beside the item, or in the blocks around it, are known; others the user lists:
//! `#[autobatch(primitives(…))]`.
//!
//! The item is found by its place. Where it can't be (a macro has made it), only the file is known.
//!
//! **Invariant:** no other file is read, so the answer depends on nothing that a build system does not know of.

use std::collections::BTreeSet;
use std::{fs, path};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, File, GenericArgument, Ident, ImplItem, Item, ItemFn, ItemImpl, ItemMod, ItemTrait, Meta,
    Path, Token, Type, Visibility,
};

use crate::index::declarations::Declared;
use crate::index::default_methods;
use crate::index::definitions::{Definitions, arguments};
use crate::index::family_mentions::Mentions;
use crate::index::taken_names::TakenNames;
use crate::std_models::operators;
use crate::syntax::annotated::methods_of;
use crate::syntax::attributes::{is_batched, is_primitive};
use crate::syntax::item_names;
use crate::syntax::mentions::{bare_type, last_name, text, type_name};
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::{self, At, Next};

/// The attribute that marks the item.
const MARK: &str = "autobatch_item_here";

/// The file of an item.
pub struct Source {
    file: File,
    /// What stands in the modules and blocks around the item, outermost first, and in the item, if it is a module.
    scopes: Vec<Vec<Item>>,
    /// Which of them is the innermost module.
    module: usize,
    /// The item as it stands there, and the functions around it that its code can mean by their names.
    around: Option<Around>,
    /// What the item's module takes from the module around: one by one, and all the rest.
    taken: (Vec<Item>, Vec<Item>),
    pub(crate) mentions: Mentions,
}

/// What is certain of an item's surroundings.
pub(crate) struct Around {
    item: Item,
    /// The functions that names mean: they stand beside the item, or the item's module takes them from the module around; they are the
    /// only ones of their names, and no attribute may have made something else of them, or of what is around them.
    pub(crate) functions: Vec<ItemFn>,
    /// The `impl` blocks that stand there, of types and of operators, without functions that an attribute may have changed. A type has
    /// one method of a name outside of traits, and one implementation of an operator for given operands.
    pub(crate) impls: Vec<ItemImpl>,
}

/// The file of the item that stands at this line and column, both counted from 1.
#[must_use]
pub fn source_around(file: &path::Path, line: usize, column: usize) -> Option<Source> {
    Source::new(&fs::read_to_string(file).ok()?, line, column)
}

impl Source {
    fn new(text: &str, line: usize, column: usize) -> Option<Source> {
        let lines = text.split_inclusive('\n');
        let start: usize = lines.clone().take(line - 1).map(str::len).sum();
        let before: usize = lines.clone().nth(line - 1)?.chars().take(column - 1).map(char::len_utf8).sum();
        let before = &text[..start + before];
        // `#[autobatch]`, or an attribute around it: `#[cfg_attr(feature = "simd", autobatch)]`.
        let is_conditional = |at: &usize| before[at + 2..].trim_start().starts_with("cfg_attr");
        let conditional = before.rfind("#[").filter(is_conditional);
        let at = before.trim_end().strip_suffix("#[").map(str::len).or(conditional).unwrap_or(before.len());
        let marked = format!("{} #[{MARK}] {}", &text[..at], &text[at..]);
        let file = syn::parse_file(&marked).or_else(|_| syn::parse_file(text)).ok()?;
        let methods = MethodNames::of(&file);
        let mut search = Search {
            scopes: vec![],
            as_written: true,
            found: None,
            around: None,
            taken: Default::default(),
            methods: &methods,
        };
        search.module(&file.items);
        let (scopes, module) = search.found.unwrap_or_default();
        let (around, taken) = (search.around, search.taken);
        let mut mentions = Mentions::default();
        mentions.add(text);
        Some(Source { file, scopes, module, around, taken, mentions })
    }

    /// What `item` can mean although it is none of its own. `item` is what rustc has handed over: if that is not what stands there, nothing
    /// is certain.
    pub(crate) fn around(&self, item: &TokenStream) -> Option<&Around> {
        let handed = || syn::parse2::<Item>(item.clone()).ok();
        self.around.as_ref().filter(|around| handed().is_some_and(|item| is_same(&around.item, &item)))
    }

    /// The primitives that the item can call by their names.
    pub(crate) fn primitives(&self) -> impl Iterator<Item = Path> {
        primitives(self.scopes[self.module..].iter().flatten())
    }

    /// Adds the structures and enumerations that the item may mean by their names: those of the blocks and modules around it,
    /// innermost first, then all others of the file.
    fn add_definitions(&self, definitions: &mut Definitions) {
        if !self.scopes.is_empty() {
            for scope in self.scopes.iter().rev() {
                definitions.add(scope);
                definitions.add_constants(scope);
            }
            let mut all = Vec::new();
            everywhere(&self.file.items, &mut all);
            definitions.add(all);
        }
    }

    /// The functions in the file's `impl` blocks of the type, without a trait, for which `own` implements one.
    pub(crate) fn inherent_methods(&self, own: &ItemImpl) -> BTreeSet<String> {
        let of_type = |i: &&ItemImpl| i.trait_.is_none() && type_name(&i.self_ty) == type_name(&own.self_ty);
        self.impls().into_iter().filter(of_type).flat_map(functions).collect()
    }

    /// The methods of the trait that `own` implements of which the file's annotated `impl` blocks have several for the type.
    pub(crate) fn batched_twice(&self, own: &ItemImpl) -> BTreeSet<String> {
        let batched = |i: &&ItemImpl| {
            let conditional = i.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
            let parameter = |name: &Ident| {
                [&i.generics, &own.generics].into_iter().any(|g| g.type_params().any(|p| p.ident == *name))
            };
            is_batched(&i.attrs) && !conditional && may_be_one(&i.self_ty, &own.self_ty, &parameter)
        };
        let mut seen = BTreeSet::new();
        let all = self.impls().into_iter().filter(batched).flat_map(functions);
        all.filter(|name| !seen.insert(name.clone())).collect()
    }

    /// The file's `impl` blocks.
    fn impls(&self) -> Vec<&ItemImpl> {
        let mut impls = Vec::new();
        walk::each(&self.file, |at| {
            if let At::Item(Item::Impl(i)) = at {
                impls.push(i);
            }
            Next::Inside
        });
        impls
    }
}

/// The primitives among items.
pub(crate) fn primitives<'a>(items: impl IntoIterator<Item = &'a Item>) -> impl Iterator<Item = Path> {
    items.into_iter().filter_map(|item| match item {
        Item::Fn(f) if is_primitive(&f.attrs) => Some(f.sig.ident.clone().into()),
        _ => None,
    })
}

/// Whether two types have a type in common, whatever their parameters stand for.
fn may_be_one(a: &Type, b: &Type, parameter: &dyn Fn(&Ident) -> bool) -> bool {
    let open = |ty: &Type| matches!(ty, Type::Path(p) if p.path.get_ident().is_some_and(parameter));
    match (bare_type(a), bare_type(b)) {
        (a, b) if open(a) || open(b) => true,
        (a @ Type::Path(_), b @ Type::Path(_)) => {
            let mut pairs = arguments(a).into_iter().zip(arguments(b));
            type_name(a) == type_name(b)
                && pairs.all(|pair| match pair {
                    (GenericArgument::Type(a), GenericArgument::Type(b)) => may_be_one(a, b, parameter),
                    _ => true,
                })
        }
        (a, b) => text(a) == text(b),
    }
}

/// The names of the functions of an `impl` block.
pub(crate) fn functions(block: &ItemImpl) -> impl Iterator<Item = String> {
    methods_of(block).map(|f| f.sig.ident.to_string())
}

/// What the item and its file declare.
pub(crate) fn declared(source: Option<&Source>, item: &TokenStream) -> Declared {
    let item: Option<Item> = syn::parse2(item.clone()).ok();
    let (mut declared, beside) = match source {
        Some(source) => {
            let beside = source.scopes.last().filter(|_| source.module + 1 == source.scopes.len());
            (Declared::of_file(&source.file), beside)
        }
        None => (item.as_ref().map(Declared::of_item).unwrap_or_default(), item.as_ref().and_then(content)),
    };
    let (named, others) = source.map(|source| (&source.taken.0[..], &source.taken.1[..])).unwrap_or_default();
    for items in [named, beside.map_or(&[], |items| &items[..]), others] {
        declared.beside.add(items);
        declared.beside.add_constants(items);
    }
    declared.definitions.add(item.iter().filter_map(content).flatten());
    declared.definitions.add_constants(item.iter().filter_map(content).flatten());
    if let Some(source) = source {
        source.add_definitions(&mut declared.definitions);
    }
    declared.mentions = source.map(|source| source.mentions.clone());
    declared
}

/// The items of a file, those of its modules too.
fn everywhere<'a>(items: &'a [Item], all: &mut Vec<&'a Item>) {
    for item in items {
        all.push(item);
        everywhere(content(item).map_or(&[], Vec::as_slice), all);
    }
}

/// What stands in a module.
fn content(item: &Item) -> Option<&Vec<Item>> {
    match item {
        Item::Mod(m) => m.content.as_ref().map(|(_, items)| items),
        _ => None,
    }
}

/// Whether two items are the same, whatever their attributes and comments.
fn is_same(a: &Item, b: &Item) -> bool {
    let tokens = |item: &Item| match item {
        Item::Fn(f) => {
            let (sig, block) = (&f.sig, &f.block);
            Some(words(quote!(#sig #block)))
        }
        Item::Impl(i) => Some(words(ItemImpl { attrs: vec![], ..i.clone() }.to_token_stream())),
        Item::Mod(m) => {
            Some(words(ItemMod { attrs: vec![], vis: Visibility::Inherited, ..m.clone() }.to_token_stream()))
        }
        _ => None,
    };
    tokens(a).is_some_and(|a| tokens(b) == Some(a))
}

/// The tokens of code but for its documentation, which is spelled in different ways.
fn words(code: TokenStream) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for token in code {
        match token {
            TokenTree::Group(group) => {
                let inside = self::words(group.stream());
                let marks = words.iter().rev().take_while(|word| ["#", "!"].contains(&word.as_str())).count();
                let doc = inside.first().is_some_and(|word| word == "doc") && marks > 0;
                if doc && group.delimiter() == Delimiter::Bracket {
                    words.truncate(words.len() - marks);
                } else {
                    words.push(format!("{:?}", group.delimiter()));
                    words.extend(inside);
                    words.push("end".into());
                }
            }
            other => words.push(other.to_string()),
        }
    }
    words
}

/// Whether no attribute makes something else of an item, or makes it come and go.
fn is_as_written(attrs: &[Attribute]) -> bool {
    const INERT: [&str; 14] = [
        "allow",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "forbid",
        "inline",
        "macro_use",
        "must_use",
        "track_caller",
        "warn",
        "autobatch",
        MARK,
    ];
    let tool = |path: &Path| {
        path.segments.first().is_some_and(|s| ["clippy", "rustfmt"].iter().any(|tool| s.ident == tool))
    };
    let inert = |path: &Path| INERT.iter().any(|name| path.is_ident(name)) || tool(path);
    attrs.iter().all(|attr| {
        let under_condition = || match &attr.meta {
            Meta::List(list) if attr.path().is_ident("cfg_attr") => {
                let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                let metas = list.parse_args_with(parser);
                metas.is_ok_and(|metas| metas.iter().skip(1).all(|meta| inert(meta.path())))
            }
            _ => false,
        };
        inert(attr.path()) || is_batched(std::slice::from_ref(attr)) || under_condition()
    })
}

/// The functions of a module that are the only ones of their names.
fn certain<'a>(items: impl IntoIterator<Item = &'a Item>) -> Vec<&'a ItemFn> {
    let functions = items.into_iter().filter_map(|item| match item {
        Item::Fn(f) => Some(f),
        _ => None,
    });
    let functions: Vec<&ItemFn> = functions.collect();
    let once = |f: &&&ItemFn| functions.iter().filter(|other| other.sig.ident == f.sig.ident).count() == 1;
    functions.iter().filter(once).copied().filter(|f| is_as_written(&f.attrs)).collect()
}

/// The `impl` blocks of a module, without parameters, without functions of a type itself that a trait of the file may have too, and the
/// other way round.
fn certain_impls<'a>(items: impl IntoIterator<Item = &'a Item>, names: &MethodNames) -> Vec<ItemImpl> {
    let items: Vec<&Item> = items.into_iter().collect();
    let traits = items.iter().filter_map(|item| match item {
        Item::Trait(of) if is_as_written(&of.attrs) => Some(of),
        _ => None,
    });
    let traits: Vec<&ItemTrait> = traits.collect();
    let blocks = items.iter().filter_map(|item| match item {
        Item::Impl(block) => Some(block),
        _ => None,
    });
    let is_meant = |block: &&ItemImpl| {
        // A trait by its name, which is in scope for calls then.
        let is_known =
            |(path, _): &(Path, _)| operators::is_trait(&last_name(path)) || path.get_ident().is_some();
        is_as_written(&block.attrs)
            && block.generics.params.is_empty()
            && block.unsafety.is_none()
            && block.trait_.as_ref().is_none_or(is_known)
    };
    let written = |block: &ItemImpl| {
        let mut block = block.clone();
        default_methods::add(&mut block, &traits);
        block.items.retain(|item| match item {
            ImplItem::Fn(f) => {
                let name = f.sig.ident.to_string();
                let may_be_another = match &block.trait_ {
                    None => names.of_traits.contains(&name),
                    Some((path, _)) => {
                        !operators::is_trait(&last_name(path)) && names.of_types.contains(&name)
                    }
                };
                !may_be_another && is_as_written(&f.attrs)
            }
            _ => true,
        });
        block
    };
    blocks.filter(is_meant).map(written).collect()
}

/// The names of the methods of a file.
#[derive(Default)]
struct MethodNames {
    /// Of traits that it names, operators' among them.
    of_traits: BTreeSet<String>,
    /// Of types themselves.
    of_types: BTreeSet<String>,
}

impl MethodNames {
    fn of(file: &File) -> MethodNames {
        let mut names = MethodNames::default();
        walk::each(file, |at| {
            match at {
                At::Item(Item::Trait(i)) => {
                    names.of_traits.extend(i.items.iter().filter_map(|item| match item {
                        syn::TraitItem::Fn(f) => Some(f.sig.ident.to_string()),
                        _ => None,
                    }))
                }
                At::Item(Item::Impl(i)) if i.trait_.is_some() => names.of_traits.extend(functions(i)),
                At::Item(Item::Impl(i)) => names.of_types.extend(functions(i)),
                _ => {}
            }
            Next::Inside
        });
        names
    }
}

/// Looks for the item.
struct Search<'a> {
    methods: &'a MethodNames,
    /// The modules and blocks around, outermost first, and whether they are modules.
    scopes: Vec<(Vec<&'a Item>, bool)>,
    /// Whether the modules around are what is written.
    as_written: bool,
    around: Option<Around>,
    /// As in [`Source`].
    taken: (Vec<Item>, Vec<Item>),
    /// Those of the item, and which is the innermost module.
    found: Option<(Vec<Vec<Item>>, usize)>,
}

impl<'a> Search<'a> {
    fn module(&mut self, items: &'a [Item]) {
        self.scopes.push((items.iter().collect(), true));
        items.iter().for_each(|item| self.visit_item(item));
        self.scopes.pop();
    }

    /// What is certain of the item's surroundings, if it is a module or stands in one: what is there, and what that takes from the module
    /// around.
    fn find_around(&mut self, item: &Item, inside: Option<&Vec<Item>>) {
        let mut modules = self.scopes.iter().rev().map_while(|(items, is_module)| is_module.then_some(items));
        let module: Vec<&Item> = match inside {
            Some(items) => items.iter().collect(),
            None => modules.next().cloned().unwrap_or_default(),
        };
        if module.is_empty() {
            return;
        }
        fn others<'i>(items: &[&'i Item], item: &Item) -> Vec<&'i Item> {
            items.iter().copied().filter(|other| !std::ptr::eq(*other, item)).collect()
        }
        let parent = modules.next().map(|items| others(items, item)).unwrap_or_default();
        let names = TakenNames::new(&module, &parent, is_as_written);
        let is_meant = |f: &&ItemFn| names.takes(&f.sig.ident) && names.takes_all_of(*f);
        let taken = certain(parent.clone()).into_iter().filter(is_meant).cloned();
        // The functions in a module with the attribute are its program's.
        let beside = match inside {
            Some(_) => vec![],
            None => certain(others(&module, item)),
        };
        let functions = beside.into_iter().cloned().chain(taken).collect();
        let own = certain_impls(module, self.methods);
        let blocks = certain_impls(parent.clone(), self.methods);
        let impls = own.into_iter().chain(blocks.iter().filter_map(|block| names.block(block))).collect();
        self.around = Some(Around { item: item.clone(), functions, impls });
        for item in parent {
            match (item, item_names::declared(item)) {
                (Item::Impl(block), _) => self.taken.1.extend(names.block(block).map(Item::Impl)),
                (_, Some(name)) if names.takes(name) && names.takes_all_of(item) => {
                    let taken = if names.is_named(name) { &mut self.taken.0 } else { &mut self.taken.1 };
                    taken.push(item.clone());
                }
                _ => {}
            }
        }
    }

    fn find(&mut self, item: &Item, attrs: &[Attribute], inside: Option<&Vec<Item>>) {
        // What stands before the attribute has been expanded before.
        let before = attrs.iter().position(|attr| attr.path().is_ident(MARK)).unwrap_or_default();
        if self.as_written && is_as_written(&attrs[..before]) {
            self.find_around(item, inside);
        }
        let around = self.scopes.iter().map(|(items, _)| items.iter().copied().cloned().collect());
        let scopes: Vec<Vec<Item>> = around.chain(inside.cloned()).collect();
        let module = self.scopes.iter().rposition(|(_, is_module)| *is_module).unwrap_or_default();
        let module = if inside.is_some() { scopes.len() - 1 } else { module };
        self.found = Some((scopes, module));
    }
}

impl<'a> Visit<'a> for Search<'a> {
    fn visit_item(&mut self, item: &'a Item) {
        let inside = content(item);
        let attrs = match item {
            Item::Fn(f) => &f.attrs[..],
            Item::Mod(m) => &m.attrs[..],
            Item::Impl(i) => &i.attrs[..],
            _ => &[],
        };
        if attrs.iter().any(|attr| attr.path().is_ident(MARK)) {
            self.find(item, attrs, inside);
        }
        match inside {
            Some(items) => {
                let before = self.as_written;
                self.as_written &=
                    attrs.iter().all(|attr| attr.path().is_ident("cfg")) || is_as_written(attrs);
                self.module(items);
                self.as_written = before;
            }
            None => visit::visit_item(self, item),
        }
    }

    fn visit_block(&mut self, block: &'a syn::Block) {
        let items = block.stmts.iter().filter_map(|stmt| match stmt {
            syn::Stmt::Item(item) => Some(item),
            _ => None,
        });
        self.scopes.push((items.collect(), false));
        visit::visit_block(self, block);
        self.scopes.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: &str = "#[autobatch] fn f(#[each] x: f64) -> f64 { g(x) /* ! */ }";
    const G: &str = "#[autobatch::primitive(batched = h)] fn g(x: f64) -> f64 { x }";

    /// The source around the one item with the attribute.
    fn around(file: &str) -> Source {
        let at = file.find("#[autobatch]").unwrap();
        let line = file[..at].matches('\n').count() + 1;
        Source::new(file, line, file[..at].chars().rev().take_while(|c| *c != '\n').count() + 1).unwrap()
    }

    fn reaches(file: &str) -> Vec<String> {
        around(file).primitives().map(|path| text(&path)).collect()
    }

    #[test]
    fn primitives_beside_the_item_are_known() {
        assert_eq!(reaches(&format!("{F} {G}")), ["g"]);
        assert_eq!(reaches(&format!("// «\n/*«*/ /// doc\n{F} {G}")), ["g"]);
        assert_eq!(reaches(&format!("fn test() {{ {G} let x = 1; {{ {F} }} }}")), ["g"]);
        assert!(reaches(&format!("fn test() {{ {G} }} fn other() {{ {F} }}")).is_empty());
        assert!(reaches(&format!("{G} mod a {{ {F} }}")).is_empty(), "they are named by the user");
        assert!(reaches(&format!("{F} fn g(x: f64) -> f64 {{ x }} // primitive")).is_empty());
        assert!(reaches(&format!("{G} made! {{ {F} }}")).is_empty(), "its place is not known");
    }

    /// The functions that the item with the attribute can mean by their names.
    fn known(file: &str, handed: &str) -> Vec<String> {
        let source = around(file);
        let functions =
            source.around(&handed.parse().unwrap()).into_iter().flat_map(|around| &around.functions);
        functions.map(|f| f.sig.ident.to_string()).collect()
    }

    #[test]
    fn functions_beside_the_item_are_known() {
        let f = F.strip_prefix("#[autobatch] ").unwrap();
        let beside = |others: &str| known(&format!("{F} {others}"), f);
        assert_eq!(beside("/// Doc.\n#[inline] pub const fn g(x: f64) {} fn h() {}"), ["g", "h"]);
        assert_eq!(known(&format!("fn h() {{}} mod m {{ {F} fn g() {{}} }}"), f), ["g"]);
        assert_eq!(known(&format!("#[cfg(unix)] mod m {{ #[allow(unused)] {F} fn g() {{}} }}"), f), ["g"]);
        assert_eq!(beside("#[cfg_attr(unix, inline)] fn g() {}"), ["g"]);
        let conditional =
            F.replace("#[autobatch]", "#[cfg_attr(not(a), autobatch)] #[cfg_attr(a, autobatch(strict))]");
        let at = conditional.find("autobatch(strict)").unwrap() + 1;
        let source = Source::new(&format!("{conditional} fn g() {{}}"), 1, at).unwrap();
        assert_eq!(source.around(&f.parse().unwrap()).unwrap().functions.len(), 1);
        for others in [
            "#[cfg(unix)] fn g() {}",
            "#[cfg_attr(unix, other)] fn g() {}",
            "#[other] fn g() {}",
            "fn g() {} #[cfg(unix)] fn g() {}",
            "mod m { fn g() {} }",
            "made! { fn g() {} }",
            "impl T { fn g() {} }",
        ] {
            assert!(beside(others).is_empty(), "{others}");
        }
    }

    #[test]
    fn what_a_module_takes_from_the_module_around_is_known() {
        let f = F.strip_prefix("#[autobatch] ").unwrap();
        let inside = |around: &str, module: &str| known(&format!("{around} mod m {{ {module} {F} }}"), f);
        let g = "fn g(x: f64) -> f64 { x * A } const A: f64 = 2.0; fn h() {}";
        assert_eq!(inside(g, "use super::*;"), ["g", "h"]);
        assert_eq!(inside(g, "use super::{A, g};"), ["g"]);
        assert_eq!(inside(g, "#[allow(unused_imports)] use super::*; fn own() {}"), ["own", "g", "h"]);
        assert_eq!(inside(g, "use super::{g, h};"), ["h"], "`g` mentions `A`");
        // `A`, or `g` itself, is another.
        assert_eq!(inside(g, "use super::*; const A: f64 = 3.0;"), ["h"]);
        assert_eq!(inside(g, "use super::*; use other::A;"), ["h"]);
        assert_eq!(inside(g, "use super::*; use super::{n::g, h};"), ["h"]);
        assert_eq!(
            inside("fn h() { shapes::area() } mod shapes {}", "use super::*; use other::shapes::{self};"),
            [""; 0]
        );
        assert_eq!(inside("fn h() { g() } use other::g;", "use super::*;"), ["h"]);
        assert_eq!(inside("fn h() { g() } use other::g;", "use super::h;"), [""; 0]);
        assert_eq!(inside("fn h() { g() } use other::*;", "use super::*;"), ["h"]);
        for (around, module) in [
            ("fn h() { g() } use other::*;", "use super::h;"),
            (g, "#[cfg(unix)] use super::*;"),
            (g, "use super::super::*;"),
            (g, "use super::*; made!();"),
            (g, "use other::*;"),
        ] {
            assert!(inside(around, module).is_empty(), "{around} mod m {{ {module} }}");
        }
        let module = "mod m { use super::*; pub fn f(x: f64) -> f64 { g(x) } }";
        assert_eq!(known(&format!("fn g() {{}} #[autobatch] {module}"), module), ["g"]);
        let file = "struct S(f64); impl S { fn s(self) {} fn a(self) { A } } impl Neg for S { fn neg(self) {} } \
                    const A: f64 = 1.0; #[autobatch] mod m { use super::S; struct T; impl T { fn t(self) {} } }";
        let around = around(file);
        let impls = &around.around.unwrap().impls;
        let methods: Vec<Vec<String>> = impls.iter().map(|block| functions(block).collect()).collect();
        assert_eq!(methods, [vec!["t"], vec!["s"], vec!["neg"]]);
    }

    #[test]
    fn nothing_is_known_of_what_attributes_and_macros_may_have_changed() {
        let f = F.strip_prefix("#[autobatch] ").unwrap();
        for file in [
            format!("#[other] mod m {{ {F} fn g() {{}} }}"),
            format!("#[other] mod n {{ mod m {{ {F} fn g() {{}} }} }}"),
            format!("#[other] {F} fn g() {{}}"),
            format!("fn test() {{ {F} fn g() {{}} }}"),
            format!("made! {{ {F} fn g() {{}} }} fn g() {{}}"),
        ] {
            assert!(known(&file, f).is_empty(), "{file}");
        }
        let file = format!("{F} fn g() {{}}");
        assert!(known(&file, "fn f(#[each] x: f64) -> f64 { g(x + 1.0) }").is_empty(), "another item");
        let documented = "impl T { /// A.\n fn f(x: f64) { g(x) } }";
        let handed = "impl T { #[doc = r\" A.\"] fn f(x: f64) { g(x) } }";
        assert_eq!(known(&format!("#[autobatch] {documented} fn g() {{}}"), handed), ["g"]);
    }

    #[test]
    fn types_around_come_first() {
        let file = "struct A(u8); struct B(u8); mod m { struct A(u16); #[autobatch] mod n { fn f() {} } }";
        let mut definitions = Definitions::default();
        around(file).add_definitions(&mut definitions);
        let field = |ty: &str| {
            let ty = definitions.field(&syn::parse_str(ty).unwrap(), &syn::Member::Unnamed(0.into()));
            ty.map(|ty| text(&ty))
        };
        assert_eq!((field("A").as_deref(), field("B").as_deref()), (Some("u16"), Some("u8")));
    }

    #[test]
    fn families_that_the_file_mentions_are_told() {
        let mentions = around(&format!("{F} fn t() {{ a_batched_into(); batched() }}")).mentions;
        assert!(mentions.has("a") && !mentions.has("f"), "{mentions:?}");
    }
}
