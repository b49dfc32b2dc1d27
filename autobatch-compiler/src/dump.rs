//! Each stage of the pipeline as a file, for people: `AUTOBATCH_DUMP=folder cargo build`.
//!
//! In: the text of a stage. Out: `folder/fib-12/03-fib-lowered.txt` for the item `fib` in line 12, numbered as the stages come. Nothing is
//! written without the variable.
//!
//! **Invariant:** nothing that is generated depends on it.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

use crate::ir::display::source;
use crate::item::model::Function;
use crate::syntax::annotated::Input;

/// Where the stages of one item go.
pub(crate) struct Dump {
    folder: Option<PathBuf>,
    written: Cell<usize>,
}

impl Dump {
    /// Of an item, to the folder that the environment names.
    pub(crate) fn of(input: &Input) -> Dump {
        let folder = env::var_os("AUTOBATCH_DUMP").filter(|folder| !folder.is_empty());
        Dump::to(folder.as_deref().map(Path::new), input)
    }

    fn to(folder: Option<&Path>, input: &Input) -> Dump {
        let folder = folder.map(|folder| {
            let (name, span) = match input {
                Input::Function(f) => (f.sig.ident.to_string(), f.sig.ident.span()),
                Input::Module(m) => (m.ident.to_string(), m.ident.span()),
                Input::Impl(i) => (source(&i.self_ty), i.self_ty.span()),
            };
            let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
            folder.join(format!("{name}-{}", span.start().line))
        });
        Dump { folder, written: Cell::new(0) }
    }

    /// Writes the text of a stage.
    pub(crate) fn text(&self, stage: &str, text: impl FnOnce() -> String) {
        let Some(folder) = &self.folder else { return };
        self.written.set(self.written.get() + 1);
        let file =
            folder.join(format!("{:02}-{}", self.written.get(), stage.replace("::", "-").replace(' ', "-")));
        if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&file, text())) {
            eprintln!("AUTOBATCH_DUMP: {}: {error}", file.display());
        }
    }

    /// Writes the functions of an item, each as a file.
    pub(crate) fn functions(&self, stage: &str, functions: &[Function]) {
        for Function { sig, body, .. } in functions {
            self.code(stage, &quote!(#sig #body));
        }
    }

    /// Writes code of a stage.
    pub(crate) fn code(&self, stage: &str, code: &impl ToTokens) {
        self.text(&format!("{stage}.rs"), || layout(code.to_token_stream()));
    }
}

/// Longer groups have lines of their own for what is in them.
const WIDTH: usize = 100;

/// Code with a line for each statement.
fn layout(tokens: TokenStream) -> String {
    let mut out = String::new();
    lines(tokens, 0, &mut out);
    out
}

fn lines(tokens: TokenStream, depth: usize, out: &mut String) {
    let mut line = TokenStream::new();
    let mut put = |line: &mut TokenStream, open: &str| {
        let text = source(&std::mem::take(line));
        if !text.is_empty() || !open.is_empty() {
            let space = if text.is_empty() || matches!(open, "" | "(" | "[") { "" } else { " " };
            out.push_str(&format!("{}{text}{space}{open}\n", "    ".repeat(depth)));
        }
        std::mem::take(out)
    };
    let mut text = String::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(tree) = tokens.next() {
        let ends = matches!(&tree, TokenTree::Punct(p) if matches!(p.as_char(), ';' | ','));
        match tree {
            TokenTree::Group(group)
                if group.delimiter() != Delimiter::None
                    && (group.to_string().len() > WIDTH || group.delimiter() == Delimiter::Brace) =>
            {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    _ => ("(", ")"),
                };
                text.push_str(&put(&mut line, open));
                lines(group.stream(), depth + 1, &mut text);
                text.push_str(&format!("{}{close}\n", "    ".repeat(depth)));
            }
            other => {
                line.extend([other]);
                if ends && tokens.peek().is_some() {
                    text.push_str(&put(&mut line, ""));
                }
            }
        }
    }
    text.push_str(&put(&mut line, ""));
    out.push_str(&text);
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_statement_has_a_line() {
        let code = quote!(
            fn f(n: u32) -> u32 {
                let x = n + 1;
                if x > 2 {
                    g(x);
                }
                x
            }
        );
        let expected = "\
fn f(n: u32) -> u32 {
    let x = n + 1;
    if x > 2 {
        g(x);
    }
    x
}
";
        assert_eq!(layout(code), expected);
    }

    #[test]
    fn stages_are_files() {
        let folder = env::temp_dir().join(format!("autobatch-dump-{}", std::process::id()));
        let input = Input::Function(syn::parse_quote!(
            fn fib(n: u64) -> u64 {
                if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
            }
        ));
        let dump = Dump::to(Some(&folder), &input);
        crate::driver::expanded(
            quote!(),
            quote!(
                fn fib(n: u64) -> u64 {
                    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
                }
            ),
            None,
            Some(dump),
        );
        let within = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let mut names: Vec<String> = (fs::read_dir(&within).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let stages: Vec<&str> = names.iter().map(|name| name.split_once('-').unwrap().1).collect();
        for stage in [
            "input.rs",
            "resolved.rs",
            "desugared.rs",
            "fib-lowered.txt",
            "fib-after-fusion.txt",
            "fib-after-order.txt",
            "fib-vectors-after-order.txt",
            "generated.rs",
        ] {
            assert!(stages.contains(&stage), "{stage} is not in {stages:?}");
        }
        assert_eq!((stages[0], stages[stages.len() - 1]), ("input.rs", "generated.rs"));
        let read = |stage: &str| {
            let name = names.iter().find(|name| name.ends_with(stage)).unwrap();
            fs::read_to_string(within.join(name)).unwrap()
        };
        assert!(read("fib-after-order.txt").contains("order b0 b3 b4"));
        assert!(syn::parse_file(&read("generated.rs")).is_ok(), "it is still the code");
        assert_eq!(
            read("input.rs"),
            layout(quote!(
                fn fib(n: u64) -> u64 {
                    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
                }
            ))
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn nothing_is_written_unasked() {
        let input = Input::Function(syn::parse_quote!(
            fn f(x: u32) -> u32 {
                x
            }
        ));
        Dump::to(None, &input).text("input.rs", || unreachable!("nobody reads it"));
    }
}
