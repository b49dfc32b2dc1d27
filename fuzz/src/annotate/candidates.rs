//! The functions of a file that can have the attribute, by their places in the text.

use std::ops::Range;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ImplItem, Item, ItemFn, ItemImpl, ReceiverKind, Signature, Type};

/// A function with a body: a free one, or one of an `impl` block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// `name`, or `Type::name`.
    pub name: String,
    /// The last part of the name.
    pub own_name: String,
    /// The line of its name.
    pub line: usize,
    /// From its first attribute to its last brace.
    pub range: Range<usize>,
    /// Where the attribute goes: behind all others.
    pub at: usize,
    /// Where what stands before it ends: in an `impl` block another member, or nothing but the block's head.
    pub from: usize,
    /// The `impl` block that it stands in.
    pub block: Option<usize>,
    /// Whether it has a parameter to batch over, so that it gets a verdict.
    pub counted: bool,
    /// Where `#[each]` goes, if it needs one to have a parameter to batch over.
    pub each: Option<usize>,
    /// For a method: why the attribute on the block would pass it over.
    pub passed_over: Option<&'static str>,
}

/// An item of an `impl` block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its place.
    pub range: Range<usize>,
    /// The function, if it is one.
    pub function: Option<usize>,
}

/// An `impl` block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// From its first attribute to its last brace.
    pub range: Range<usize>,
    /// Where the attribute goes: behind all others.
    pub at: usize,
    /// Behind the brace that opens it.
    pub open: usize,
    /// Its attributes and all that stands before its brace, in one line.
    pub header: String,
    /// Whether it may be written as several blocks: it implements no trait.
    pub divisible: bool,
    /// What stands in it.
    pub members: Vec<Member>,
}

/// The functions and blocks of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Candidates {
    /// All functions that may have the attribute.
    pub functions: Vec<Function>,
    /// The `impl` blocks around some of them.
    pub blocks: Vec<Block>,
}

/// Finds the functions of a file. `each`: those that take references only count too.
///
/// # Errors
///
/// If the text is not Rust.
pub fn find(text: &str, each: bool) -> syn::Result<Candidates> {
    // `syn` leaves both out of its places.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shebang = if body.starts_with("#!") && !body[2..].trim_start().starts_with('[') {
        body.find('\n').unwrap_or(body.len())
    } else {
        0
    };
    let skipped = text.len() - body.len() + shebang;
    let lines_before = text[..skipped].matches('\n').count();
    let file = syn::parse_file(&text[skipped..])?;
    let mut finder = Finder { each, skipped, lines_before, found: Candidates::default() };
    finder.items(&file.items);
    Ok(finder.found)
}

struct Finder {
    each: bool,
    skipped: usize,
    lines_before: usize,
    found: Candidates,
}

impl Finder {
    fn place(&self, tokens: &impl Spanned) -> Range<usize> {
        let range = tokens.span().byte_range();
        range.start + self.skipped..range.end + self.skipped
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(f) if !is_excluded(&f.attrs) && f.sig.ident != "main" => self.free(f),
                Item::Impl(i) if !is_excluded(&i.attrs) => self.block(i),
                Item::Mod(m) if !is_excluded(&m.attrs) => {
                    self.items(m.content.as_ref().map_or(&[][..], |(_, items)| items));
                }
                _ => {}
            }
        }
    }

    fn free(&mut self, f: &ItemFn) {
        let bare = ItemFn { attrs: Vec::new(), ..f.clone() };
        let function = self.function(f, self.place(&bare).start, &f.sig, None);
        self.found.functions.extend(function.counted.then_some(function));
    }

    fn block(&mut self, i: &ItemImpl) {
        let bare = ItemImpl { attrs: Vec::new(), ..i.clone() };
        let at = self.place(&bare).start;
        let number = self.found.blocks.len();
        let ty = name_of(&i.self_ty);
        let first = self.found.functions.len();
        let mut members = Vec::new();
        let mut end = self.place(i).start;
        for item in &i.items {
            let mut member = Member { range: self.place(item), function: None };
            if let ImplItem::Fn(f) = item
                && !is_excluded(&f.attrs)
            {
                let mut function = self.function(item, member.range.start, &f.sig, Some(number));
                function.name = format!("{ty}::{}", function.own_name);
                function.passed_over = passed_over(&f.sig);
                function.from = end;
                member.function = Some(self.found.functions.len());
                self.found.functions.push(function);
            }
            end = member.range.end;
            members.push(member);
        }
        if !self.found.functions[first..].iter().any(|function| function.counted) {
            self.found.functions.truncate(first);
            return;
        }
        let carried = i.attrs.iter().filter(|attr| !attr.path().is_ident("doc"));
        let mut header: String =
            carried.map(|attr| format!("{} ", attr.to_token_stream())).collect::<Vec<_>>().concat();
        let empty = ItemImpl { attrs: Vec::new(), items: Vec::new(), ..i.clone() };
        let text = empty.to_token_stream().to_string();
        header.push_str(text.trim_end().trim_end_matches('}').trim_end().trim_end_matches('{'));
        let open = i.brace_token.span.open().byte_range().end + self.skipped;
        self.found.blocks.push(Block {
            range: self.place(i),
            at,
            open,
            header: header.replace('\n', " "),
            divisible: i.trait_.is_none(),
            members,
        });
    }

    fn function(&self, item: &impl Spanned, at: usize, sig: &Signature, block: Option<usize>) -> Function {
        let own = sig.inputs.iter().any(|arg| match arg {
            FnArg::Receiver(receiver) => match &receiver.kind {
                ReceiverKind::Reference(_, _, mutable) => mutable.is_some(),
                ReceiverKind::Typed(_, ty) => is_per_member(ty),
                _ => true,
            },
            FnArg::Typed(arg) => is_per_member(&arg.ty),
        });
        let each = sig.inputs.iter().find_map(|arg| match arg {
            FnArg::Typed(arg) if self.each && !own && matches!(&*arg.ty, Type::Reference(_)) => {
                Some(self.place(arg).start)
            }
            _ => None,
        });
        Function {
            name: sig.ident.to_string(),
            own_name: sig.ident.to_string(),
            line: sig.ident.span().start().line + self.lines_before,
            range: self.place(item),
            at,
            from: self.place(item).start,
            block,
            counted: own || each.is_some(),
            each,
            passed_over: None,
        }
    }
}

/// Whether a parameter of this type is one value, or one state, for each member.
fn is_per_member(ty: &Type) -> bool {
    match ty {
        Type::Reference(r) => r.mutability.is_some(),
        _ => true,
    }
}

/// What is no candidate: tests, what stands for something else, and what has the attribute already.
fn is_excluded(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let last = attr.path().segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let is_test = || attr.to_token_stream().to_string().replace(' ', "") == "#[cfg(test)]";
        matches!(
            last.as_str(),
            "test"
                | "bench"
                | "autobatch"
                | "primitive"
                | "proc_macro"
                | "proc_macro_attribute"
                | "proc_macro_derive"
        ) || (last == "cfg" && is_test())
    })
}

/// An `impl` block with the attribute passes over what a function by itself would be refused for.
fn passed_over(sig: &Signature) -> Option<&'static str> {
    let text = sig.output.to_token_stream().to_string();
    let has = |word: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word);
    match sig {
        _ if sig.asyncness.is_some() => Some("an `async` method is passed over"),
        _ if matches!(sig.safety, syn::Safety::Unsafe(_)) => Some("an `unsafe` method is passed over"),
        _ if sig.abi.is_some() => Some("a method with a foreign ABI is passed over"),
        _ if has("impl") => Some("a method with an `impl Trait` result is passed over"),
        _ if text.replace(' ', "") == "->!" => Some("a method that never returns is passed over"),
        _ => None,
    }
}

/// The name of a type, for people.
fn name_of(ty: &Type) -> String {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        Type::Reference(r) => name_of(&r.elem),
        other => format!("<{}>", other.to_token_stream()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, each: bool) -> Vec<String> {
        let found = find(text, each).unwrap();
        found.functions.into_iter().filter(|f| f.counted).map(|f| f.name).collect()
    }

    #[test]
    fn functions_with_a_parameter_per_member_are_found() {
        let text = "fn main() {} fn a(x: u8) {} fn b(x: &u8) {} fn c(x: &mut u8) {} fn d() {}
            mod m { pub fn e(x: u8) { fn inner(x: u8) {} } } #[cfg(test)] mod t { fn f(x: u8) {} }
            impl T { fn g(&self) {} fn h(&self, x: u8) {} } impl T { fn i(&self) {} }
            trait U { fn j(x: u8) {} } extern \"C\" { fn k(x: u8); } #[test] fn l() {}";
        assert_eq!(names(text, false), ["a", "c", "e", "T::h"]);
        assert_eq!(names(text, true), ["a", "b", "c", "e", "T::h"]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text =
            "\u{feff}#!/usr/bin/env run\n/// Ä.\n#[inline]\npub fn f(x: u8) -> u8 { x }\n\nfn g(y: &str) {}";
        let found = find(text, true).unwrap();
        let [f, g] = &found.functions[..] else { panic!("{found:?}") };
        assert!(text[f.at..].starts_with("pub fn f"), "{}", &text[f.at..]);
        assert!(text[f.range.clone()].starts_with("/// Ä.") && text[f.range.clone()].ends_with("{ x }"));
        assert_eq!((f.line, g.line), (4, 6));
        assert!(text[g.each.unwrap()..].starts_with("y: &str"));
    }

    #[test]
    fn blocks_have_a_header_in_one_line() {
        let text = "/// About.\n#[cfg(unix)]\nimpl<T: Copy> Pair<T> // why\nwhere\n    T: Default,\n{\n    fn f(x: T) {}\n}";
        let block = &find(text, false).unwrap().blocks[0];
        assert!(!block.header.contains('\n') && block.header.contains("cfg"), "{}", block.header);
        assert!(block.header.trim_end().ends_with("T : Default ,"), "{}", block.header);
        assert_eq!(&text[block.open - 1..block.open], "{");
        assert!(text[block.at..].starts_with("impl"));
    }
}
