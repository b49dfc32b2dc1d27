//! Variables in the tokens of macros: which identifiers are one, and what stands in a string.

use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};
use syn::Macro;

use crate::syntax::format_strings::{self, Formats, is_punct};

/// Rewrites a macro's tokens one by one, those inside groups too. `each` is told whether the token stands behind a dot, as fields
/// and methods do, or names the field of a structure, `P { x: 1 }`, or is a string that no macro formats: those mention no variables.
/// `P { x }` is spelled out.
pub(crate) fn map_tokens(mac: &mut Macro, each: &mut dyn FnMut(TokenTree, bool) -> TokenTree) {
    let formats = Formats::of_macro(mac);
    mac.tokens = map_tokens_in(std::mem::take(&mut mac.tokens), Around::Other, formats, each);
}

/// What tokens stand in.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    /// The braces of a structure, by what stands before them.
    Structure,
    Braces,
    Other,
}

fn map_tokens_in(
    tokens: TokenStream,
    around: Around,
    mut formats: Formats,
    each: &mut dyn FnMut(TokenTree, bool) -> TokenTree,
) -> TokenStream {
    let mut after_dot = false;
    let mut begins = around != Around::Other;
    let mut after_type = false;
    let mut rest = tokens.into_iter().peekable();
    let mut out = Vec::new();
    while let Some(tree) = rest.next() {
        let next = rest.peek();
        let names = begins && next.is_some_and(is_colon);
        let short = begins
            && around == Around::Structure
            && matches!(tree, TokenTree::Ident(_))
            && next.is_none_or(|next| is_punct(next, ','));
        let otherwise = matches!(next, Some(TokenTree::Ident(i)) if i == "else");
        let structure = after_type && !otherwise;
        let field = match tree {
            TokenTree::Literal(_) => !formats.formatted(next),
            _ => after_dot || names,
        };
        after_dot = is_punct(&tree, '.') && !after_dot;
        begins = around != Around::Other && is_punct(&tree, ',');
        after_type = matches!(&tree, TokenTree::Ident(i) if i.to_string().starts_with(char::is_uppercase));
        let inside = formats.pass(&tree);
        match tree {
            TokenTree::Group(group) => {
                let around = match group.delimiter() {
                    Delimiter::Brace if structure => Around::Structure,
                    Delimiter::Brace => Around::Braces,
                    _ => Around::Other,
                };
                let mut new =
                    Group::new(group.delimiter(), map_tokens_in(group.stream(), around, inside, each));
                new.set_span(group.span());
                out.push(TokenTree::Group(new));
            }
            tree => {
                if short {
                    out.extend([tree.clone(), TokenTree::Punct(Punct::new(':', Spacing::Alone))]);
                }
                out.push(each(tree, field));
            }
        }
    }
    out.into_iter().collect()
}

fn is_colon(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Alone)
}

/// Whether format strings of a macro, or of macros among its arguments, capture a name.
pub(crate) fn capture(mac: &Macro, name: &str) -> bool {
    let mut found = false;
    map_tokens(&mut mac.clone(), &mut |tree, no_variable| {
        if let TokenTree::Literal(lit) = &tree {
            found |= !no_variable && format_strings::captures(lit).iter().any(|captured| captured == name);
        }
        tree
    });
    found
}
