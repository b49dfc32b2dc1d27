//! Macros that may lend what they are given, `macro_rules! lend { ($x:expr) => { &$x } }`, become what they expand to, where that is an
//! expression that binds nothing: who borrows from whom is followed from there.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Local, Macro, Stmt, Token};

use crate::input::Function;
use crate::mentions::is_punct;
use crate::resolve;
use crate::signatures::Rule;

/// Rewrites the function's body.
pub(super) fn macros(function: &mut Function) {
    let mut body = function.body.clone();
    let mut expand = Expand { function, changed: false };
    expand.visit_block_mut(&mut body);
    if expand.changed {
        resolve::again(function, body);
    }
}

/// The only rule of a definition, if its parameters are expressions in a row, and what it makes of them binds nothing.
pub(crate) fn rule(definition: TokenStream) -> Option<Rule> {
    let mut trees = definition.into_iter();
    let Some(TokenTree::Group(matcher)) = trees.next() else { return None };
    let body = trees.find_map(|tree| match tree {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    })?;
    if trees.any(|tree| !is_punct(&tree, ';')) || !is_plain(body.clone()) {
        return None;
    }
    let mut params = Vec::new();
    let matcher: Vec<TokenTree> = matcher.stream().into_iter().collect();
    for param in matcher.split(|tree| is_punct(tree, ',')) {
        match param {
            [dollar, TokenTree::Ident(name), colon, TokenTree::Ident(kind)]
                if is_punct(dollar, '$')
                    && is_punct(colon, ':')
                    && (kind == "expr" || kind == "ident" || kind == "tt") =>
            {
                params.push(name.to_string());
            }
            [] => {}
            _ => return None,
        }
    }
    Some(Rule { params, body })
}

/// Whether tokens hold no patterns, nothing that leaves, and no repetition.
fn is_plain(tokens: TokenStream) -> bool {
    const BINDS: [&str; 12] = [
        "let", "match", "for", "while", "loop", "fn", "move", "return", "break", "continue", "unsafe",
        "crate",
    ];
    let mut dollar = false;
    tokens.into_iter().all(|tree| {
        let repeats = std::mem::replace(&mut dollar, is_punct(&tree, '$'));
        match tree {
            TokenTree::Ident(word) => !BINDS.iter().any(|known| word == known),
            TokenTree::Group(group) => !repeats && is_plain(group.stream()),
            TokenTree::Punct(p) => !['|', '?', ';', '!'].contains(&p.as_char()),
            TokenTree::Literal(_) => true,
        }
    })
}

struct Expand<'a> {
    function: &'a Function,
    changed: bool,
}

impl Expand<'_> {
    fn expanded(&self, mac: &Macro) -> Option<Expr> {
        let methods = &self.function.methods;
        let rule = methods.rule(mac).filter(|_| methods.lends(mac))?;
        let args = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()).ok()?;
        let args: Vec<Expr> = args.into_iter().collect();
        (args.len() == rule.params.len()).then_some(())?;
        syn::parse2(self.substituted(rule, &args, rule.body.clone())?).ok()
    }

    /// A rule's tokens with the arguments in them; none if they mention what is a local's name here.
    fn substituted(&self, rule: &Rule, args: &[Expr], tokens: TokenStream) -> Option<TokenStream> {
        let mut out = TokenStream::new();
        let (mut dollar, mut dot) = (false, false);
        for tree in tokens {
            let (parameter, member) = (dollar, dot);
            (dollar, dot) = (is_punct(&tree, '$'), is_punct(&tree, '.'));
            match tree {
                TokenTree::Ident(name) if parameter => {
                    let at = rule.params.iter().position(|param| name == param)?;
                    let arg = &args[at];
                    out.extend([match arg {
                        Expr::Path(_) | Expr::Lit(_) => quote::quote!(#arg),
                        _ => TokenTree::Group(Group::new(Delimiter::Parenthesis, quote::quote!(#arg))).into(),
                    }]);
                }
                TokenTree::Ident(name) => {
                    let local = self.function.bindings.contains_key(&name.to_string());
                    (member || !local).then_some(())?;
                    out.extend([TokenTree::Ident(name)]);
                }
                TokenTree::Group(group) => {
                    let inside = self.substituted(rule, args, group.stream())?;
                    out.extend([TokenTree::Group(Group::new(group.delimiter(), inside))]);
                }
                other if is_punct(&other, '$') => {}
                other => out.extend([other]),
            }
        }
        Some(out)
    }
}

impl VisitMut for Expand<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        visit_mut::visit_local_mut(self, local);
        if let Some(init) = &mut local.init
            && let Expr::Paren(value) = &*init.expr
            && value.attrs.is_empty()
        {
            init.expr = value.expr.clone();
        }
    }
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt
            && m.semi_token.is_none()
            && m.attrs.is_empty()
            && let Some(value) = self.expanded(&m.mac)
        {
            self.changed = true;
            *stmt = Stmt::Expr(value, None);
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Macro(m) = expr
            && let Some(value) = self.expanded(&m.mac)
        {
            self.changed = true;
            *expr = syn::parse_quote!((#value));
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
