//! The source around an annotated item: its crate, modules in other files put where they are declared.
//!
//! Only if a file of the crate has a `#[primitive]`, or the item is an `impl` block of a type that its file does not define, else
//! that file will do. A file that is not reached from the
//! crate's root by `mod name;` alone (a `#[path]`, a macro, a test beside others) stands for itself.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, Type};

use crate::unasked::{self, Mentions};

/// How the attribute of a function with a batched kernel reads.
const PRIMITIVE: &str = "primitive(";

/// What is known of the source around an item.
pub struct Source {
    /// What the item can see: its file, or the crate with its modules in place.
    pub(crate) text: String,
    /// The families that the crate's files mention, if it matters.
    pub(crate) mentions: Mentions,
}

/// The source around `item` in `file`.
#[must_use]
pub fn source_around(file: &Path, item: TokenStream) -> Option<Source> {
    let own = fs::read_to_string(file).ok()?;
    let item = syn::parse2::<Item>(item).ok();
    let elsewhere = item.as_ref().and_then(type_of_impl).is_some_and(|name| {
        let defines = |kind: &str| own.contains(&format!("{kind} {name}"));
        !["struct", "enum", "union", "type"].into_iter().any(defines)
    });
    // To read a crate's files takes no time; to parse them does.
    let unasked = item.as_ref().is_some_and(unasked::any);
    let (mut mentions, mut primitives) = (Mentions::default(), false);
    let mut look = |text: &str| {
        primitives |= text.contains(PRIMITIVE);
        if unasked {
            mentions.add(text);
        }
    };
    look(&own);
    sources(&directory(file), &mut look);
    let roots = if elsewhere || primitives { roots(file) } else { vec![] };
    let whole = roots.into_iter().find_map(|root| {
        let mut files = Files { wanted: file.canonicalize().ok()?, reached: false, primitives: false };
        let items = files.read(&root, &children_of(&root, true))?;
        (files.reached && (files.primitives || elsewhere)).then(|| quote!(#(#items)*).to_string())
    });
    Some(Source { text: whole.unwrap_or(own), mentions })
}

/// The directory of the crate's files: the package's `src`, or that of the file itself.
fn directory(file: &Path) -> PathBuf {
    let mut above = file.ancestors().skip(1);
    let src = above.find(|dir| dir.ends_with("src") && dir.with_file_name("Cargo.toml").is_file());
    src.or(file.parent()).unwrap_or(Path::new("")).to_path_buf()
}

/// Looks at the text of all source files in a directory.
pub(crate) fn sources(dir: &Path, look: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let of_tools = name == "target" || name.as_encoded_bytes().starts_with(b".");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !of_tools => sources(&path, look),
            Ok(kind) if !kind.is_dir() && path.extension().is_some_and(|end| end == "rs") => {
                look(&fs::read_to_string(&path).unwrap_or_default());
            }
            _ => {}
        }
    }
}

fn type_of_impl(item: &Item) -> Option<String> {
    let Item::Impl(block) = item else { return None };
    match &*block.self_ty {
        Type::Path(p) => p.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// The files that may be the root of the crate with this file in it.
fn roots(file: &Path) -> Vec<PathBuf> {
    let package = file.ancestors().skip(1).find(|dir| dir.join("Cargo.toml").is_file());
    let library = package.into_iter().flat_map(|dir| [dir.join("src/lib.rs"), dir.join("src/main.rs")]);
    library.filter(|root| root.is_file()).chain([file.to_path_buf()]).collect()
}

/// Where the modules of a file stand.
fn children_of(file: &Path, root: bool) -> PathBuf {
    let parent = file.parent().unwrap_or(Path::new(""));
    match file.file_stem() {
        Some(stem) if !root && stem != "mod" => parent.join(stem),
        _ => parent.to_path_buf(),
    }
}

struct Files {
    wanted: PathBuf,
    reached: bool,
    primitives: bool,
}

impl Files {
    /// The items of a file, those of its modules in place. Their files are in `children`.
    fn read(&mut self, file: &Path, children: &Path) -> Option<Vec<Item>> {
        let text = fs::read_to_string(file).ok()?;
        self.reached |= file.canonicalize().is_ok_and(|file| file == self.wanted);
        self.primitives |= text.contains(PRIMITIVE);
        let mut items = syn::parse_str::<syn::File>(&text).ok()?.items;
        self.place(&mut items, children);
        Some(items)
    }

    fn place(&mut self, items: &mut [Item], children: &Path) {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            match &mut module.content {
                Some((_, items)) => self.place(items, &children.join(&name)),
                None => {
                    let flat = children.join(format!("{name}.rs"));
                    let nested = children.join(&name).join("mod.rs");
                    let file = if flat.is_file() { flat } else { nested };
                    if let Some(items) = self.read(&file, &children.join(&name)) {
                        module.content = Some((Default::default(), items));
                        module.semi = None;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_an_impl_block_may_stand_elsewhere() {
        let dir = std::env::temp_dir().join(format!("autobatch-crate-files-{}", std::process::id()));
        fs::create_dir_all(dir.join("src")).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
        write("Cargo.toml", "");
        write("src/lib.rs", "mod tree; mod walk;");
        write(
            "src/tree.rs",
            "fn t() { f_batched_into() } pub struct Tree { pub left: Option<Box<Tree>> } pub struct Other;",
        );
        write("src/walk.rs", "use crate::tree::Tree; struct Own; impl Tree { fn f(&self) {} }");
        let around = |item| source_around(&dir.join("src/walk.rs"), item).unwrap().text;
        let far = around(quote!(impl Tree { fn f(&self) {} }));
        let near = around(quote!(impl Own { fn f(&self) {} }));
        let both = quote!(impl Own { fn f(&self) {} fn g(&self) {} pub fn h(&self) {} });
        let mentions = source_around(&dir.join("src/walk.rs"), both).unwrap().mentions;
        fs::remove_dir_all(&dir).unwrap();
        assert!(far.contains("struct Other") && far.contains("fn f"), "{far}");
        assert!(!near.contains("struct Other"), "{near}");
        assert!(mentions.has("f") && !mentions.has("g"), "{mentions:?}");
    }
}
