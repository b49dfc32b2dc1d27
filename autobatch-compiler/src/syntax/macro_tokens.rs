//! Questions to the tokens of macros: whether they leave the code around them, make names for it, mention a word.

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::syntax::format_strings;

/// Where tokens leave the code that they stand in, other than a loop of their own.
pub(crate) fn leaves(tokens: TokenStream) -> Option<Span> {
    let loops = mentions(tokens.clone(), &|name| matches!(name, "loop" | "while" | "for"));
    leaves_by(tokens, &|word| word == "return" || (!loops && matches!(word, "break" | "continue")))
}

/// Whether a macro of this definition may make names for the code around it: a rule has a `let` or an item outside of inner braces.
pub(crate) fn makes_names(definition: TokenStream) -> bool {
    const MAKES: [&str; 12] = [
        "let",
        "fn",
        "const",
        "static",
        "struct",
        "enum",
        "use",
        "type",
        "mod",
        "trait",
        "union",
        "macro_rules",
    ];
    let mut arrow = false;
    definition.into_iter().any(|tree| match tree {
        TokenTree::Punct(p) => {
            arrow = p.as_char() == '>';
            false
        }
        TokenTree::Group(rule) => {
            let word = |tree| matches!(tree, TokenTree::Ident(i) if MAKES.contains(&i.to_string().as_str()));
            std::mem::take(&mut arrow) && rule.stream().into_iter().any(word)
        }
        _ => false,
    })
}

fn leaves_by(tokens: TokenStream, word: &dyn Fn(&str) -> bool) -> Option<Span> {
    // `$( … )?` repeats.
    let mut repeats = (false, false);
    tokens.into_iter().find_map(|tree| {
        let before = repeats;
        repeats = (matches!(&tree, TokenTree::Punct(p) if p.as_char() == '$'), false);
        match tree {
            TokenTree::Punct(p) if p.as_char() == '?' && !before.1 => Some(p.span()),
            TokenTree::Ident(i) if word(&i.to_string()) => Some(i.span()),
            TokenTree::Group(group) => {
                repeats.1 = before.0;
                leaves_by(group.stream(), word)
            }
            _ => None,
        }
    })
}

/// Whether tokens hold such a word, other than a macro's parameter, `$x`.
pub(crate) fn mentions(tokens: TokenStream, is: &dyn Fn(&str) -> bool) -> bool {
    let mut parameter = false;
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => !std::mem::take(&mut parameter) && is(&ident.to_string()),
        TokenTree::Group(group) => mentions(group.stream(), is),
        TokenTree::Punct(p) => {
            parameter = p.as_char() == '$';
            false
        }
        TokenTree::Literal(lit) => format_strings::captures(&lit).iter().any(|name| is(name)),
    })
}

/// Whether tokens hold such a sign, outside of literals. A lifetime begins with one.
pub(crate) fn has_sign(tokens: TokenStream, is: &dyn Fn(char) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Punct(p) => is(p.as_char()),
        TokenTree::Group(group) => has_sign(group.stream(), is),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn names_are_made_outside_of_inner_braces() {
        assert!(makes_names(quote!(($n:ident) => { let $n = 1; })));
        assert!(makes_names(quote!(() => { 1 }; ($n:ident) => { fn $n() {} })));
        assert!(!makes_names(quote!((let $n:ident) => {{ let $n = 1; $n }})));
    }

    #[test]
    fn what_leaves_is_told_from_what_stays() {
        for leaving in [
            quote!(if $c { return; }),
            quote!(($x:expr) => { $x.pop()? }),
            quote!(x, break),
            quote!($($x)* ?),
        ] {
            assert!(leaves(leaving.clone()).is_some(), "{leaving}");
        }
        for staying in [
            quote!(($($x:expr),* $(,)?) => { x }),
            quote!(loop {
                break 3;
            }),
            quote!("{x:?}", x),
        ] {
            assert!(leaves(staying.clone()).is_none(), "{staying}");
        }
    }
}
