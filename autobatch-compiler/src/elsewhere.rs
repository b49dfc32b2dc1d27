//! What other files of the crate define of what an item names: the structures and enumerations with their `impl` blocks, functions, and
//! macros. What other crates define stays unseen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Item, UseTree};

use crate::crate_files::sources;
use crate::nearby::everywhere;
use crate::signatures::{Methods, type_name};

/// How often what a definition names is looked up in turn.
const HOPS: u32 = 4;

/// Where the other files of the crate of a file stand: the package's `src`, the directory of a root or a module, or that of its modules.
pub(crate) fn directory(file: &Path) -> Option<PathBuf> {
    let mut above = file.ancestors().skip(1);
    let src = above.find(|dir| dir.ends_with("src") && dir.with_file_name("Cargo.toml").is_file());
    let parent = file.parent()?;
    let root = || ["main.rs", "lib.rs", "mod.rs"].iter().any(|name| parent.join(name).is_file());
    match src {
        Some(src) => Some(src.to_path_buf()),
        None if root() => Some(parent.to_path_buf()),
        None => Some(parent.join(file.file_stem()?)).filter(|dir| dir.is_dir()),
    }
}

/// Adds what the item names and its file does not define.
pub(crate) fn add(methods: &mut Methods, file: &Path, own: &str, item: &TokenStream) {
    let Some(directory) = directory(file) else { return };
    let Ok(parsed) = syn::parse_str::<syn::File>(own) else { return };
    let mut names = Names::default();
    names.visit_file(&parsed);
    names.import_own();
    names.mentioned(item.clone());
    let mut wanted: BTreeSet<Name> = std::mem::take(&mut names.wanted);
    wanted.retain(|name| name.kind == Kind::Macro || names.imports(&name.ident));
    let mut texts = Vec::new();
    sources(&directory, &mut |text| {
        if text != own {
            texts.push((text.to_owned(), None::<Vec<Item>>));
        }
    });
    let mut seen = names.defined;
    for _ in 0..HOPS {
        wanted.retain(|name| seen.insert(name.clone()));
        if wanted.is_empty() {
            break;
        }
        let mut next = Names::default();
        for (text, items) in &mut texts {
            if !wanted.iter().any(|name| name.may_be_defined_in(text)) {
                continue;
            }
            let items = items.get_or_insert_with(|| {
                syn::parse_str::<syn::File>(text).map(|file| file.items).unwrap_or_default()
            });
            let mut all = Vec::new();
            everywhere(items, &mut all);
            for item in all {
                if define(methods, item, &wanted) {
                    next.mentioned(match item {
                        Item::Fn(f) => f.sig.output.to_token_stream(),
                        Item::Struct(_) | Item::Enum(_) => item.to_token_stream(),
                        _ => TokenStream::new(),
                    });
                }
            }
        }
        wanted = next.wanted.into_iter().filter(|name| name.kind == Kind::Type).collect();
    }
    methods.find_hidden();
}

/// Adds an item, if it is one of those that are wanted.
fn define(methods: &mut Methods, item: &Item, wanted: &BTreeSet<Name>) -> bool {
    let is = |kind: Kind, ident: &syn::Ident| wanted.contains(&Name { kind, ident: ident.to_string() });
    let known = match item {
        Item::Struct(i) => is(Kind::Type, &i.ident),
        Item::Enum(i) => is(Kind::Type, &i.ident),
        Item::Macro(i) => i.ident.as_ref().is_some_and(|ident| is(Kind::Macro, ident)),
        Item::Impl(i) => {
            type_name(&i.self_ty).is_some_and(|ident| wanted.contains(&Name { kind: Kind::Type, ident }))
        }
        Item::Fn(f) => {
            if is(Kind::Function, &f.sig.ident) {
                methods.visit_signature(&f.sig);
                return true;
            }
            false
        }
        _ => false,
    };
    if known {
        methods.visit_item(item);
    }
    known
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Type,
    Function,
    Macro,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Name {
    kind: Kind,
    ident: String,
}

impl Name {
    fn may_be_defined_in(&self, text: &str) -> bool {
        let ident = &self.ident;
        match self.kind {
            Kind::Type => {
                let implements = |line: &str| line.trim_start().starts_with("impl") && line.contains(ident);
                ["struct", "enum"].iter().any(|kind| text.contains(&format!("{kind} {ident}")))
                    || text.lines().any(implements)
            }
            Kind::Function => text.contains(&format!("fn {ident}")),
            Kind::Macro => text.contains(&format!("macro_rules! {ident}")),
        }
    }
}

/// The names that code mentions, and those that a file defines and imports.
#[derive(Default)]
struct Names {
    wanted: BTreeSet<Name>,
    defined: BTreeSet<Name>,
    imported: BTreeSet<String>,
    /// Whether all names of a module of the crate are imported.
    all: bool,
    /// The modules that the file declares.
    modules: BTreeSet<String>,
    /// What it imports, until all modules are known.
    uses: Vec<UseTree>,
}

impl Names {
    /// What may be a type, a function that is called, or a macro.
    fn mentioned(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        let mut path = false;
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(ident) => {
                    let ident = ident.to_string();
                    let kind = match trees.peek() {
                        Some(TokenTree::Punct(p)) if p.as_char() == '!' => Some(Kind::Macro),
                        _ if ident.starts_with(char::is_uppercase) => Some(Kind::Type),
                        Some(TokenTree::Group(_)) => Some(Kind::Function),
                        _ => None,
                    };
                    if path {
                        self.imported.insert(ident.clone());
                    }
                    self.wanted.extend(kind.map(|kind| Name { kind, ident }));
                    path = false;
                }
                TokenTree::Group(group) => {
                    self.mentioned(group.stream());
                    path = false;
                }
                TokenTree::Punct(p) => path = p.as_char() == ':',
                TokenTree::Literal(_) => path = false,
            }
        }
    }

    /// What a macro makes is defined here, too.
    fn made(&mut self, tokens: TokenStream) {
        let mut before = None;
        for tree in tokens {
            let kind = match &before {
                Some(TokenTree::Ident(word)) if word == "fn" => Some(Kind::Function),
                Some(TokenTree::Ident(word)) if word == "struct" || word == "enum" => Some(Kind::Type),
                _ => None,
            };
            match &tree {
                TokenTree::Ident(name) => {
                    self.defined.extend(kind.map(|kind| Name { kind, ident: name.to_string() }));
                }
                TokenTree::Group(group) => self.made(group.stream()),
                _ => {}
            }
            before = Some(tree);
        }
    }

    fn imports(&self, name: &str) -> bool {
        self.all || self.imported.contains(name)
    }

    /// Imports what paths of the crate lead to. Other crates' names may be the same.
    fn import_own(&mut self) {
        for tree in std::mem::take(&mut self.uses) {
            let trees = match tree {
                UseTree::Group(group) => group.items.into_iter().collect(),
                tree => vec![tree],
            };
            for tree in trees {
                let root = |root: &syn::Ident| {
                    let name = root.to_string();
                    ["crate", "self", "super"].contains(&name.as_str()) || self.modules.contains(&name)
                };
                if matches!(&tree, UseTree::Path(path) if root(&path.ident)) {
                    self.import(&tree);
                }
            }
        }
    }

    fn import(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.import(&path.tree),
            UseTree::Name(name) => _ = self.imported.insert(name.ident.to_string()),
            UseTree::Rename(_) => {}
            UseTree::Glob(_) => self.all = true,
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        let defined = match item {
            Item::Struct(i) => Some((Kind::Type, &i.ident)),
            Item::Enum(i) => Some((Kind::Type, &i.ident)),
            Item::Type(i) => Some((Kind::Type, &i.ident)),
            Item::Trait(i) => Some((Kind::Type, &i.ident)),
            Item::Union(i) => Some((Kind::Type, &i.ident)),
            Item::Fn(i) => Some((Kind::Function, &i.sig.ident)),
            Item::Macro(i) => i.ident.as_ref().map(|ident| (Kind::Macro, ident)),
            _ => None,
        };
        self.defined.extend(defined.map(|(kind, ident)| Name { kind, ident: ident.to_string() }));
        if let Item::Use(i) = item {
            self.uses.push(i.tree.clone());
        }
        if let Item::Mod(i) = item {
            self.modules.insert(i.ident.to_string());
        }
        syn::visit::visit_item(self, item);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.made(mac.tokens.clone());
    }
}
