//! Attributes and docs of the user's function that the generated functions have too.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, FnArg, Lit, Meta, Signature, Token, parse_quote};

use crate::syntax::mentions::last_name;

/// Under which conditions the function exists, and which lints it silences. What it only expects is
/// silenced: the function itself fulfils the expectation.
pub(crate) fn lints_and_conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    filtered(attrs, &["cfg", "allow", "expect"])
}

/// Under which conditions it exists.
pub(crate) fn conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    filtered(attrs, &["cfg"])
}

/// [`lints_and_conditions`], and what callers are told of the function.
pub(crate) fn for_callers(attrs: &[Attribute]) -> Vec<Attribute> {
    let mut all = filtered(attrs, &["cfg", "allow", "expect", "deprecated"]);
    all.extend(attrs.iter().filter(|attr| is_doc_hidden(attr)).cloned());
    all
}

/// `#[must_use]`, for a function that returns what the scalar function does, in numbers.
pub(crate) fn must_use(attrs: &[Attribute]) -> Vec<Attribute> {
    filtered(attrs, &["must_use"])
}

fn filtered(attrs: &[Attribute], names: &[&str]) -> Vec<Attribute> {
    let mut all = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("cfg_attr")
            && let Meta::List(list) = &attr.meta
        {
            let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
            let Ok(metas) = list.parse_args_with(parser) else { continue };
            let mut metas = metas.into_iter();
            let Some(condition) = metas.next() else { continue };
            for meta in metas.filter_map(|meta| filtered_meta(meta, names)) {
                all.push(parse_quote!(#[cfg_attr(#condition, #meta)]));
            }
        } else if let Some(meta) = filtered_meta(attr.meta.clone(), names) {
            all.push(parse_quote!(#[#meta]));
        }
    }
    all
}

fn filtered_meta(mut meta: Meta, names: &[&str]) -> Option<Meta> {
    if !names.iter().any(|name| meta.path().is_ident(name)) {
        return None;
    }
    if meta.path().is_ident("expect")
        && let Meta::List(list) = &mut meta
    {
        let span = list.path.segments[0].ident.span();
        list.path.segments[0].ident = syn::Ident::new("allow", span);
    }
    Some(meta)
}

fn is_doc_hidden(attr: &Attribute) -> bool {
    matches!(&attr.meta, Meta::List(list) if list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
}

/// The first paragraph of the function's docs.
pub(crate) fn summary(attrs: &[Attribute]) -> Option<String> {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let paragraph: Vec<&str> =
        text.lines().map(str::trim).skip_while(|l| l.is_empty()).take_while(|l| !l.is_empty()).collect();
    let plain = !paragraph.first().is_none_or(|line| line.starts_with(['#', '`', '~', '-', '*', '|']));
    plain.then(|| paragraph.join(" "))
}

/// The lints that the user's code need not fear in its second form. Each by its name, because crates deny them so.
pub(crate) struct Generated;
pub(crate) const GENERATED: Generated = Generated;

impl ToTokens for Generated {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(quote! {
            #[allow(deprecated, unused_results, unused_mut, unused_variables, unused_assignments, unreachable_code, unused_labels, dead_code)]
            #[allow(unused_parens, unused_braces, unused_must_use, path_statements, non_snake_case)]
            #[allow(clippy::all, clippy::pedantic)]
        });
    }
}

/// Whether an attribute is `#[autobatch]`.
pub(crate) fn is_own(attr: &Attribute) -> bool {
    last_name(attr.path()) == "autobatch"
}

/// Whether an item of a module carries the attribute itself.
pub fn is_batched(attrs: &[Attribute]) -> bool {
    attrs.iter().any(is_own)
}

/// Whether a function carries `#[autobatch::primitive(…)]`.
pub fn is_primitive(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| last_name(attr.path()) == "primitive")
}

/// Removes `#[shared]` and `#[each]` from a signature: what rustc may see.
pub fn clean(sig: &mut Signature) {
    for arg in &mut sig.inputs {
        let attrs = match arg {
            FnArg::Receiver(r) => &mut r.attrs,
            FnArg::Typed(t) => &mut t.attrs,
        };
        attrs.retain(|a| !a.path().is_ident("shared") && !a.path().is_ident("each"));
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::{ItemFn, parse_quote};

    use super::*;

    fn text(attrs: Vec<Attribute>) -> Vec<String> {
        attrs.iter().map(|attr| attr.to_token_stream().to_string()).collect()
    }

    #[test]
    fn callers_are_told_what_the_function_says() {
        let f: ItemFn = parse_quote! {
            /// Adds.
            ///
            /// More.
            #[cfg(unix)]
            #[cfg_attr(test, inline, allow(dead_code), must_use)]
            #[expect(unused_variables, reason = "a test")]
            #[must_use = "it is long"]
            #[deprecated(note = "no")]
            #[doc(hidden)]
            #[inline]
            fn f(x: u32) -> u32 { 0 }
        };
        let lints = ["# [cfg (unix)]", "# [cfg_attr (test , allow (dead_code))]"];
        let expected = "# [allow (unused_variables , reason = \"a test\")]";
        assert_eq!(text(lints_and_conditions(&f.attrs)), [lints[0], lints[1], expected]);
        let told = ["# [deprecated (note = \"no\")]", "# [doc (hidden)]"];
        assert_eq!(text(for_callers(&f.attrs)), [lints[0], lints[1], expected, told[0], told[1]]);
        let must_use = ["# [cfg_attr (test , must_use)]", "# [must_use = \"it is long\"]"];
        assert_eq!(text(super::must_use(&f.attrs)), must_use);
        assert_eq!(summary(&f.attrs).as_deref(), Some("Adds."));
    }

    #[test]
    fn a_summary_is_a_paragraph_of_text() {
        let of = |f: ItemFn| summary(&f.attrs);
        assert_eq!(
            of(parse_quote!(
                fn f() {}
            )),
            None
        );
        let two_lines = parse_quote! {
            #[doc = " One"]
            #[doc = " and two."]
            #[doc = ""]
            #[doc = " Three."]
            fn f() {}
        };
        assert_eq!(of(two_lines).as_deref(), Some("One and two."));
        assert_eq!(
            of(parse_quote!(
                #[doc = " # Heading"]
                fn f() {}
            )),
            None
        );
    }
}
