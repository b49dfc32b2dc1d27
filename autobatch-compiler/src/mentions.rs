//! Mentions of a variable, for what puts something else in their place.

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Expr, ExprStruct, Ident, Pat};

/// Whether an expression is the variable of this name.
pub(crate) fn is_variable(expr: &Expr, name: &str) -> bool {
    match expr {
        Expr::Path(p) => p.qself.is_none() && p.path.get_ident().is_some_and(|i| i == name),
        Expr::Paren(e) => is_variable(&e.expr, name),
        Expr::Group(e) => is_variable(&e.expr, name),
        _ => false,
    }
}

/// What a pattern binds by reference.
pub(crate) fn bound_by_ref(pat: &Pat) -> Vec<&Ident> {
    struct Scan<'a>(Vec<&'a Ident>);
    impl<'ast> Visit<'ast> for Scan<'ast> {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            self.0.extend(p.by_ref.is_some().then_some(&p.ident));
            visit::visit_pat_ident(self, p);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut scan = Scan(Vec::new());
    scan.visit_pat(pat);
    scan.0
}

/// The variables that are changed where something is put in a place.
pub(crate) fn roots(place: &Expr) -> Vec<String> {
    match place {
        Expr::Field(e) => roots(&e.base),
        Expr::Index(e) => roots(&e.expr),
        Expr::Paren(e) => roots(&e.expr),
        Expr::Group(e) => roots(&e.expr),
        Expr::Unary(e) => roots(&e.expr),
        Expr::Reference(e) => roots(&e.expr),
        Expr::MethodCall(e) => roots(&e.receiver),
        Expr::Tuple(e) => e.elems.iter().flat_map(roots).collect(),
        Expr::Path(p) => p.path.get_ident().map(|i| i.to_string()).into_iter().collect(),
        _ => vec![],
    }
}

/// Spells `S { x }` as `S { x: x }`, so that the variable can be replaced.
pub(crate) fn spell_out_fields(e: &mut ExprStruct) {
    for field in &mut e.fields {
        field.colon_token.get_or_insert_with(Default::default);
    }
}

/// Rewrites a macro's tokens one by one, those inside groups too. `each` is told whether the token stands behind a
/// dot, as fields and methods do, which are not variables.
pub(crate) fn map_tokens(
    tokens: TokenStream,
    each: &mut dyn FnMut(TokenTree, bool) -> TokenTree,
) -> TokenStream {
    let mut after_dot = false;
    tokens
        .into_iter()
        .map(|tree| {
            let field = after_dot;
            after_dot = matches!(&tree, TokenTree::Punct(p) if p.as_char() == '.') && !field;
            match tree {
                TokenTree::Group(group) => {
                    let mut new = Group::new(group.delimiter(), map_tokens(group.stream(), each));
                    new.set_span(group.span());
                    TokenTree::Group(new)
                }
                tree => each(tree, field),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn tokens_behind_dots_are_told() {
        let mut seen = Vec::new();
        let tokens = quote!(x.x, (x.0.x), 0..x, x..=y);
        let same = map_tokens(tokens.clone(), &mut |tree, field| {
            if let TokenTree::Ident(ident) = &tree {
                seen.push((ident.to_string(), field));
            }
            tree
        });
        assert_eq!(same.to_string(), tokens.to_string());
        let fields: Vec<bool> = seen.iter().map(|(_, field)| *field).collect();
        assert_eq!(fields, [false, true, false, true, false, false, false], "{seen:?}");
    }

    #[test]
    fn parentheses_are_looked_through() {
        assert!(is_variable(&syn::parse_quote!((x)), "x"));
        assert!(!is_variable(&syn::parse_quote!(x.x), "x") && !is_variable(&syn::parse_quote!(a::x), "x"));
    }
}
