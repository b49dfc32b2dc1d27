//! The source around an annotated item: its crate, modules in other files put where they are declared.
//!
//! Only if a file of the crate has a `#[primitive]`, else the item's own file will do. A file that is not reached from the
//! crate's root by `mod name;` alone (a `#[path]`, a macro, a test beside others) stands for itself.

use std::fs;
use std::path::{Path, PathBuf};

use quote::quote;
use syn::Item;

/// The source that an item in `file` can see: that file, or the crate with its modules in place.
#[must_use]
pub fn source_around(file: &Path) -> Option<String> {
    let own = fs::read_to_string(file).ok()?;
    let whole = roots(file).into_iter().find_map(|root| {
        let mut files = Files { wanted: file.canonicalize().ok()?, reached: false, primitives: false };
        let items = files.read(&root, &children_of(&root, true))?;
        (files.reached && files.primitives).then(|| quote!(#(#items)*).to_string())
    });
    Some(whole.unwrap_or(own))
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
        self.primitives |= text.contains("primitive(");
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
