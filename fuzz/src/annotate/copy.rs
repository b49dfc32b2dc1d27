//! The copy of a tree that is compiled: a package that depends on this checkout's `autobatch`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use quote::ToTokens;
use serde_json::Value;
use syn::spanned::Spanned;
use syn::{Attribute, Item};

use super::Request;
use super::candidates::{self, Candidates};
use super::cargo;

/// A source file of the tree.
#[derive(Clone, Debug)]
pub struct File {
    /// Where the copy is.
    pub path: PathBuf,
    /// How people know it: relative to the tree.
    pub shown: String,
    /// Its text without attributes.
    pub text: String,
    /// What can have one.
    pub found: Candidates,
    /// The text that is there now.
    written: String,
}

/// The copy.
#[derive(Clone, Debug)]
pub struct Copy {
    folder: PathBuf,
    /// Where cargo is run.
    pub root: PathBuf,
    /// What cargo is told, so that it compiles the tree.
    pub arguments: Vec<String>,
    /// Its files.
    pub files: Vec<File>,
    /// The modules of loose files, by the places of the files; empty for packages.
    modules: BTreeSet<PathBuf>,
}

/// The folder of this workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

impl Copy {
    /// Copies a tree.
    ///
    /// # Errors
    ///
    /// If files can't be read or written, or cargo does not understand the package.
    pub fn of(request: &Request) -> io::Result<Copy> {
        static COPIES: AtomicUsize = AtomicUsize::new(0);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("autobatch-annotate-{}-{number}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let folder = folder.canonicalize()?;
        let path = request.path.canonicalize()?;
        let mut copy = Copy {
            root: folder.join("tree"),
            folder,
            arguments: request.cargo.clone(),
            files: Vec::new(),
            modules: BTreeSet::new(),
        };
        let made = match path.join("Cargo.toml").is_file() {
            true => copy.package(&path, request),
            false => copy.loose(&path, request),
        };
        if let Err(error) = made {
            copy.remove();
            return Err(error);
        }
        copy.files.sort_by(|a, b| a.shown.cmp(&b.shown));
        Ok(copy)
    }

    /// The temporary folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes the copy.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Gives a file another text.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn write(&mut self, file: usize, text: &str) -> io::Result<()> {
        let file = &mut self.files[file];
        if file.written != text {
            fs::write(&file.path, text)?;
            file.written = text.to_string();
        }
        Ok(())
    }

    /// Takes the modules of loose files out in which these files stand. False if there is none.
    ///
    /// # Errors
    ///
    /// If a file can't be written.
    pub fn leave_out(&mut self, files: &[PathBuf]) -> io::Result<bool> {
        let before = self.modules.len();
        self.modules.retain(|module| {
            let children = module.with_extension("");
            !files.iter().any(|file| file == module || file.starts_with(&children))
        });
        if self.modules.len() < before {
            self.write_root()?;
        }
        Ok(self.modules.len() < before)
    }

    fn package(&mut self, path: &Path, request: &Request) -> io::Result<()> {
        let output = Command::new(cargo::program())
            .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
            .arg(path.join("Cargo.toml"))
            // The tree may ask for a compiler that is not there.
            .current_dir(&self.folder)
            .output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(io::Error::other)?;
        let workspace = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
        copy_folder(&workspace, &self.root)?;
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().unwrap_or(Path::new("")).to_path_buf();
            let targets: Vec<&Value> = package["targets"].as_array().into_iter().flatten().collect();
            let is = |target: &Value, kind: &str| {
                target["kind"].as_array().into_iter().flatten().any(|of| of == kind)
            };
            // If the path is a package, then only that one.
            let alone = metadata["packages"].as_array().into_iter().flatten().any(|package| {
                package["manifest_path"].as_str().is_some_and(|at| Path::new(at) == path.join("Cargo.toml"))
            });
            let chosen = if alone { folder == path } else { folder.starts_with(path) };
            if !chosen || targets.iter().any(|target| is(target, "proc-macro")) {
                continue;
            }
            // Another package may have the name, in another version.
            let text = |key: &str| package[key].as_str().unwrap_or_default();
            self.arguments.extend(["-p".into(), format!("{}@{}", text("name"), text("version"))]);
            let relative =
                |path: &Path| path.strip_prefix(&workspace).map(Path::to_path_buf).unwrap_or_default();
            let manifest = self.root.join(relative(&manifest));
            let text = fs::read_to_string(&manifest)?;
            let depend = |kind: &str| {
                format!("\n[target.'cfg(all())'.{kind}.autobatch]\n{}", dependency(&request.autobatch))
            };
            let scripts = targets.iter().filter(|target| is(target, "custom-build"));
            // A build script may have modules in common with the library.
            let of_script = scripts.clone().next().map(|_| depend("build-dependencies")).unwrap_or_default();
            fs::write(&manifest, text + &depend("dependencies") + &of_script)?;
            let scripts: Vec<PathBuf> =
                scripts.filter_map(|target| target["src_path"].as_str()).map(PathBuf::from).collect();
            let mut files = Vec::new();
            rust_files(&folder, true, &mut files)?;
            for file in files.into_iter().filter(|file| !scripts.contains(file)) {
                let shown = file.strip_prefix(path).unwrap_or(&file).to_path_buf();
                self.add(&self.root.join(relative(&file)), &shown, request)?;
            }
        }
        match self.files.is_empty() {
            true => Err(io::Error::other("the package has no library or program that can be annotated")),
            false => Ok(()),
        }
    }

    fn loose(&mut self, path: &Path, request: &Request) -> io::Result<()> {
        let source = self.root.join("src");
        fs::create_dir_all(&source)?;
        let mut files = Vec::new();
        if path.is_file() {
            files.push(path.to_path_buf());
        } else {
            copy_folder(path, &source)?;
            rust_files(path, true, &mut files)?;
        }
        let base = if path.is_file() { path.parent().unwrap_or(path) } else { path };
        for file in &files {
            let shown = file.strip_prefix(base).unwrap_or(file).to_path_buf();
            let to = source.join(&shown);
            if path.is_file() {
                fs::copy(file, &to)?;
            }
            self.add(&to, &shown, request)?;
        }
        // A root of the folder's own, or one that declares all files that no other file does.
        let own = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|file| file.is_file());
        let root = match own {
            Some(root) if !path.is_file() => root,
            _ => {
                let declared: BTreeSet<PathBuf> = self.files.iter().flat_map(declared).collect();
                let files = self.files.iter().map(|file| file.path.clone());
                self.modules = files.filter(|file| !declared.contains(file)).collect();
                self.write_root()?;
                source.join("autobatch_root.rs")
            }
        };
        let kind = if root.ends_with("main.rs") { "[[bin]]\nname = \"loose\"" } else { "[lib]" };
        let manifest = format!(
            "[package]\nname = \"loose\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n{kind}\n\
             path = {root:?}\n\n[dependencies.autobatch]\n{}\n[workspace]\n",
            dependency(&request.autobatch)
        );
        fs::write(self.root.join("Cargo.toml"), manifest)?;
        // Its own lock file, so that nothing has to be resolved or downloaded.
        fs::copy(request.autobatch.join("Cargo.lock"), self.root.join("Cargo.lock"))?;
        self.arguments.push("--offline".into());
        Ok(())
    }

    /// Declares the modules of loose files: a folder is a module too.
    fn write_root(&self) -> io::Result<()> {
        let source = self.root.join("src");
        let mut text = String::new();
        for (number, module) in self.modules.iter().enumerate() {
            let inside = module.strip_prefix(&source).unwrap_or(module);
            let folders: Vec<_> = inside.parent().into_iter().flat_map(Path::components).collect();
            for (depth, folder) in folders.iter().enumerate() {
                text.push_str(&format!("#[path = {:?}] mod m{number}_{depth} {{ ", folder.as_os_str()));
            }
            let stem = inside.file_stem().unwrap_or_default().to_string_lossy();
            let plain = syn::parse_str::<syn::Ident>(&stem).is_ok() && folders.is_empty() && stem != "mod";
            match plain {
                true => text.push_str(&format!("pub mod {stem};")),
                false => {
                    let name = inside.file_name().unwrap_or_default();
                    text.push_str(&format!("#[path = {name:?}] pub mod m{number};"));
                }
            }
            text.push_str(&" }".repeat(folders.len()));
            text.push('\n');
        }
        fs::write(source.join("autobatch_root.rs"), text)
    }

    fn add(&mut self, path: &Path, shown: &Path, request: &Request) -> io::Result<()> {
        let Ok(text) = fs::read_to_string(path) else { return Ok(()) };
        // What is no Rust of its own is part of another file, or there for a test.
        let Ok(text) = with_std(&text) else { return Ok(()) };
        let Ok(found) = candidates::find(&text, request.each) else { return Ok(()) };
        let shown = shown.display().to_string();
        let path = path.canonicalize()?;
        self.files.push(File { path, shown, text, found, written: String::new() });
        Ok(())
    }
}

fn dependency(autobatch: &Path) -> String {
    format!("path = {autobatch:?}\ndefault-features = false\n")
}

/// Copies a folder without what tools keep in it, and without what chooses another compiler.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_tool = [".git", ".cargo", "target", "rust-toolchain", "rust-toolchain.toml"];
        if is_tool.iter().any(|tool| name == *tool) {
            continue;
        }
        let (path, to) = (entry.path(), to.join(&name));
        if entry.file_type()?.is_dir() {
            copy_folder(&path, &to)?;
        } else if path.is_file() {
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

/// The Rust files of a package, without those of tests, benchmarks, examples and of other packages.
fn rust_files(folder: &Path, top: bool, to: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            let aside = name.starts_with('.')
                || name == "target"
                || (top && ["tests", "benches", "examples"].contains(&name.as_str()))
                || path.join("Cargo.toml").is_file();
            if !aside {
                rust_files(&path, false, to)?;
            }
        } else if path.is_file() && path.extension().is_some_and(|end| end == "rs") {
            to.push(path);
        }
    }
    Ok(())
}

/// The files that a file declares as its modules.
fn declared(file: &File) -> Vec<PathBuf> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let stem = file.path.file_stem().unwrap_or_default();
    let of_folder = ["mod", "lib", "main"].iter().any(|name| stem == *name);
    let children = if of_folder { folder.to_path_buf() } else { folder.join(stem) };
    let mut found = Vec::new();
    let items = syn::parse_file(&file.text).map(|file| file.items).unwrap_or_default();
    for item in items {
        if let Item::Mod(module) = item
            && module.content.is_none()
        {
            let name = module.ident.to_string();
            found.push(children.join(format!("{name}.rs")));
            found.push(children.join(name).join("mod.rs"));
        }
    }
    found
}

/// The text with blanks for `#![no_std]`: batched functions make vectors.
fn with_std(text: &str) -> syn::Result<String> {
    if !text.contains("no_std") {
        return Ok(text.to_string());
    }
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - body.len();
    let file = syn::parse_file(body)?;
    let mut bytes = text.as_bytes().to_vec();
    let says = |attr: &&Attribute| {
        !attr.path().is_ident("doc") && attr.to_token_stream().to_string().contains("no_std")
    };
    for attr in file.attrs.iter().filter(says) {
        for byte in
            &mut bytes[attr.span().byte_range().start + skipped..attr.span().byte_range().end + skipped]
        {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_without_std_get_it_and_keep_their_lines() {
        let text = "//! no_std\n#![no_std]\n#![cfg_attr(\n  not(x), no_std)]\n#![allow(unused)]\nfn f() {}\n";
        let after = with_std(text).unwrap();
        assert_eq!(after.len(), text.len());
        assert_eq!(after.matches('\n').count(), text.matches('\n').count());
        assert!(after.starts_with("//! no_std") && after.contains("#![allow(unused)]"), "{after}");
        assert!(!after.contains("#![no_std]") && !after.contains("not(x)"), "{after}");
    }
}
