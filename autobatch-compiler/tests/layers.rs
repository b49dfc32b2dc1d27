//! The layers of both crates: nothing imports upwards, and no file imports itself by way of others.
//!
//! The order is the one that ARCHITECTURE.md shows. Code under `#[cfg(test)]` may use everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, UseTree};

/// One import: from a file, at a line, of a file.
#[derive(Clone, Debug)]
struct Import {
    from: String,
    line: usize,
    to: String,
    path: String,
}

/// The modules of a crate, by path, each with the file that it stands in.
struct Crate {
    root: PathBuf,
    modules: BTreeMap<Vec<String>, String>,
    files: Vec<(Vec<String>, String, File)>,
}

impl Crate {
    fn read(root: PathBuf) -> Self {
        let mut read = Self { root, modules: BTreeMap::new(), files: Vec::new() };
        read.file(vec![], "lib.rs".to_owned());
        read
    }

    fn file(&mut self, module: Vec<String>, file: String) {
        let text = fs::read_to_string(self.root.join(&file)).expect("a module's file");
        let parsed = syn::parse_file(&text).expect("a file that rustc takes");
        self.modules(&module, &file, &parsed.items);
        self.files.push((module, file, parsed));
    }

    /// The modules that items declare, apart from those for tests.
    fn modules(&mut self, module: &[String], file: &str, items: &[Item]) {
        self.modules.insert(module.to_vec(), file.to_owned());
        for item in items {
            let Item::Mod(m) = item else { continue };
            if is_for_tests(&m.attrs) {
                continue;
            }
            let inner = [module, &[m.ident.to_string()]].concat();
            match &m.content {
                Some((_, items)) => self.modules(&inner, file, items),
                None => {
                    let beside = format!("{}.rs", inner.join("/"));
                    let within = format!("{}/mod.rs", inner.join("/"));
                    let file = if self.root.join(&beside).exists() { beside } else { within };
                    self.file(inner, file);
                }
            }
        }
    }

    fn imports(&self) -> Vec<Import> {
        let mut found = Vec::new();
        for (module, file, parsed) in &self.files {
            let mut paths = Paths { krate: self, module: module.clone(), file, found: &mut found };
            paths.visit_file(parsed);
        }
        found
    }

    /// The module that a path leads to, as seen from a module.
    fn leads_to(&self, from: &[String], path: &[String]) -> Option<&String> {
        let mut at = match path.first().map(String::as_str)? {
            "crate" => vec![],
            "super" => from[..from.len().checked_sub(1)?].to_vec(),
            "self" => from.to_vec(),
            first => {
                let child = [from, &[first.to_owned()]].concat();
                self.modules.contains_key(&child).then_some(child)?
            }
        };
        for segment in &path[1..] {
            if segment == "super" {
                at.pop()?;
                continue;
            }
            at.push(segment.clone());
            if !self.modules.contains_key(&at) {
                at.pop();
                break;
            }
        }
        self.modules.get(&at)
    }
}

fn is_for_tests(attrs: &[Attribute]) -> bool {
    let is = |attr: &Attribute| {
        attr.path().is_ident("cfg")
            && attr.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    };
    attrs.iter().any(is)
}

/// Finds the paths of a file that lead to other files.
struct Paths<'a> {
    krate: &'a Crate,
    module: Vec<String>,
    file: &'a str,
    found: &'a mut Vec<Import>,
}

impl Paths<'_> {
    fn path(&mut self, path: &[String], line: usize) {
        if path.len() < 2 {
            return;
        }
        if let Some(to) = self.krate.leads_to(&self.module, path).filter(|to| *to != self.file) {
            self.found.push(Import {
                from: self.file.to_owned(),
                line,
                to: to.clone(),
                path: path.join("::"),
            });
        }
    }

    fn tree(&mut self, mut before: Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(before, &path.tree);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before.clone(), tree)),
            UseTree::Name(name) => {
                self.path(&[before, vec![name.ident.to_string()]].concat(), name.span().start().line)
            }
            UseTree::Rename(name) => {
                self.path(&[before, vec![name.ident.to_string()]].concat(), name.span().start().line)
            }
            UseTree::Glob(glob) => self.path(&before, glob.span().start().line),
        }
    }

    /// Paths in the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut line = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.path(&std::mem::take(&mut path), line);
                    }
                    line = ident.span().start().line;
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    if !path.is_empty() {
                        self.path(&std::mem::take(&mut path), line);
                    }
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        if !path.is_empty() {
            self.path(&path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(m) if is_for_tests(&m.attrs) => {}
            Item::Mod(m) => {
                self.module.push(m.ident.to_string());
                visit::visit_item(self, item);
                self.module.pop();
            }
            Item::Fn(f) if is_for_tests(&f.attrs) => {}
            Item::Impl(i) if is_for_tests(&i.attrs) => {}
            Item::Use(u) if is_for_tests(&u.attrs) => {}
            Item::Use(u) => self.tree(vec![], &u.tree),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        // A path of one name is a local's or an imported item's.
        if segments.len() > 1 && path.leading_colon.is_none() {
            self.path(&segments, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_path(&mac.path);
        self.tokens(mac.tokens.clone());
    }
}

/// The sets of files that import each other in a circle.
fn circles(imports: &[Import]) -> Vec<BTreeSet<String>> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for import in imports {
        edges.entry(&import.from).or_default().insert(&import.to);
    }
    let reached = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut todo: Vec<&str> = edges.get(from).into_iter().flatten().copied().collect();
        while let Some(file) = todo.pop() {
            if reached.insert(file) {
                todo.extend(edges.get(file).into_iter().flatten());
            }
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reached(file))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (file, reached) in &all {
        if reached.contains(file) && !circles.iter().any(|circle| circle.contains(*file)) {
            let back = |other: &&&str| all.get(**other).is_some_and(|r| r.contains(file));
            circles.push(reached.iter().filter(back).map(|file| (*file).to_owned()).collect());
        }
    }
    circles
}

/// The layers of a crate from the ground up: the first column of the table under the crate's heading in ARCHITECTURE.md.
fn layers(architecture: &str, krate: &str) -> Vec<String> {
    let heading = format!("### {krate}\n");
    let section = architecture.split(&heading).nth(1).expect("a heading for the crate");
    let section = section.split("\n#").next().expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(layer, _)| layer.trim_end_matches('/').to_owned()).collect()
}

/// The place of a file in the order; the crate's root comes last.
fn place(layers: &[String], file: &str) -> usize {
    let layer = file.split('/').next().expect("a name");
    let listed = layers.iter().position(|known| known == layer);
    assert!(listed.is_some() || file == "lib.rs", "ARCHITECTURE.md lists no layer for {file}");
    listed.unwrap_or(layers.len())
}

/// What stands against the order, as lines to read.
fn against(layers: &[String], imports: &[Import]) -> Vec<String> {
    let upwards = imports.iter().filter(|import| place(layers, &import.from) < place(layers, &import.to));
    let upwards = upwards.map(|i| format!("{}:{} imports `{}` from above", i.from, i.line, i.path));
    let circles = circles(imports).into_iter().map(|circle| format!("these import each other: {circle:?}"));
    upwards.chain(circles).collect()
}

fn check(krate: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_owned();
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    let layers = layers(&architecture, krate);
    let found = against(&layers, &Crate::read(root.join(krate).join("src")).imports());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_compiler_imports_downwards_only() {
    check("autobatch-compiler");
}

#[test]
fn the_runtime_imports_downwards_only() {
    check("autobatch-runtime");
}

#[test]
fn imports_against_the_order_are_found() {
    let layers = ["ground".to_owned(), "above".to_owned()];
    let import =
        |from: &str, to: &str| Import { from: from.into(), line: 1, to: to.into(), path: "crate::x".into() };
    assert_eq!(
        against(&layers, &[import("above/a.rs", "ground/b.rs"), import("lib.rs", "above/a.rs")]),
        [""; 0]
    );
    assert_eq!(
        against(&layers, &[import("ground/b.rs", "above/a.rs")]),
        ["ground/b.rs:1 imports `crate::x` from above"]
    );
    let circle = [import("ground/a.rs", "ground/b.rs"), import("ground/b.rs", "ground/a.rs")];
    assert_eq!(against(&layers, &circle), ["these import each other: {\"ground/a.rs\", \"ground/b.rs\"}"]);
}
