//! The page of promises, docs/promises.md: the tests that it names exist, and it lists all files with `unsafe`.
//!
//! `BLESS=1 cargo test -p autobatch-compiler --test promises` writes the list.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, ExprUnsafe, ImplItemFn, ItemFn, ItemImpl, ItemMod, ItemTrait, Safety, Signature};

/// The line behind which the list stands.
const LIST: &str = "| file | `unsafe` | invariant |\n|---|--:|---|\n";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn page() -> String {
    fs::read_to_string(workspace().join("docs/promises.md")).expect("the page")
}

/// Counts blocks, functions, traits and impls that are `unsafe`, apart from those of tests.
#[derive(Default)]
struct Unsafe {
    count: usize,
}

impl Unsafe {
    fn signature(&mut self, sig: &Signature) {
        self.count += usize::from(matches!(sig.safety, Safety::Unsafe(_)));
    }
}

fn is_for_tests(attrs: &[Attribute]) -> bool {
    let is = |attr: &Attribute| {
        attr.path().is_ident("cfg")
            && attr.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test"))
    };
    attrs.iter().any(is)
}

impl<'ast> Visit<'ast> for Unsafe {
    fn visit_expr_unsafe(&mut self, block: &'ast ExprUnsafe) {
        self.count += 1;
        visit::visit_expr_unsafe(self, block);
    }
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.signature(&item.sig);
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.signature(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.count += usize::from(item.unsafety.is_some());
        visit::visit_item_trait(self, item);
    }
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        self.count += usize::from(item.unsafety.is_some());
        visit::visit_item_impl(self, item);
    }
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    /// Code in macros of our own.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.count += count_tokens(mac.tokens.clone());
    }
}

fn count_tokens(tokens: proc_macro2::TokenStream) -> usize {
    let count = |token| match token {
        proc_macro2::TokenTree::Ident(ident) => usize::from(ident == "unsafe"),
        proc_macro2::TokenTree::Group(group) => count_tokens(group.stream()),
        _ => 0,
    };
    tokens.into_iter().map(count).sum()
}

/// The files below a folder, sorted, apart from tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let is_tests = path.file_stem().is_some_and(|name| name == "tests" || name == "expansion");
        if path.is_dir() && !is_tests {
            files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") && !is_tests {
            found.push(path);
        }
    }
}

/// The first invariant that a module states.
fn invariant(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let mut lines = lines.skip_while(|line| !line.starts_with("**Invariant:**"));
    let first = lines.next()?.trim_start_matches("**Invariant:**").trim().to_owned();
    let all = lines.take_while(|line| !line.is_empty()).fold(first, |all, line| format!("{all} {line}"));
    Some(all.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned())
}

/// A module's invariant, or that of the folder which it is in.
fn upheld(file: &Path, root: &Path) -> Option<String> {
    let mut folder = file.parent();
    let own = invariant(file);
    let mut outer = || {
        while let Some(at) = folder.filter(|at| at.starts_with(root)) {
            if let Some(found) = invariant(&at.join("mod.rs")) {
                return Some(found);
            }
            folder = at.parent();
        }
        None
    };
    own.or_else(&mut outer)
}

fn list() -> (String, Vec<String>) {
    let (mut list, mut without) = (String::new(), Vec::new());
    for krate in ["src", "autobatch-macros/src", "autobatch-compiler/src", "autobatch-runtime/src"] {
        let root = workspace().join(krate);
        let mut all = Vec::new();
        files(&root, &mut all);
        for file in all {
            let parsed = syn::parse_file(&fs::read_to_string(&file).expect("a file")).expect("Rust");
            let mut found = Unsafe::default();
            found.visit_file(&parsed);
            if found.count == 0 {
                continue;
            }
            let inside = file.strip_prefix(workspace()).expect("in the workspace");
            let inside = inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
            let name = inside.collect::<Vec<_>>().join("/");
            match upheld(&file, &root) {
                Some(invariant) => {
                    let invariant = invariant.replace('|', "\\|");
                    writeln!(list, "| `{name}` | {} | {invariant} |", found.count).expect("a string");
                }
                None => without.push(name),
            }
        }
    }
    (list, without)
}

#[test]
fn the_page_lists_all_unsafe_code_with_its_invariant() {
    let (list, without) = list();
    assert!(
        without.is_empty(),
        "modules with `unsafe` that state no invariant, nor does their folder: {without:#?}"
    );
    let page = page();
    let (before, found) = page.split_once(LIST).expect("the head of the list");
    if std::env::var_os("BLESS").is_some() {
        fs::write(workspace().join("docs/promises.md"), format!("{before}{LIST}{list}")).expect("the page");
        return;
    }
    assert!(found.replace('\r', "") == list, "docs/promises.md is out of date; BLESS=1 writes the list");
}

#[test]
fn the_tests_that_the_page_names_exist() {
    let page = page();
    let named: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.starts_with("tests/") && name.contains("::"))
        .collect();
    assert!(named.len() > 10);
    for name in named {
        let (path, test) = name.rsplit_once("::").expect("a path");
        let file = workspace().join(path);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{name}: there is no such file"));
        assert!(text.contains(&format!("fn {test}(")), "{name}: there is no such test");
    }
}
