//! Name resolution: one name per binding.
//!
//! Renames bindings that share a name with another binding of the same function, so that from here
//! on an identifier names at most one variable. A name that is bound once keeps its spelling; every
//! renamed identifier keeps the user's span. `self` becomes an ordinary identifier, because it can't
//! be bound by `let`.
//!
//! Imprecision: macro tokens are opaque, so every identifier in them that spells a variable in scope
//! counts as that variable. A lower-case identifier pattern counts as a binding (rustc's own lint
//! asks for upper-case constants).

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenTree};
use syn::{Arm, Block, Expr, FieldValue, Local, Macro, Pat, Stmt};

use crate::syntax::format_strings;
use crate::syntax::macro_variables::map_tokens;
use crate::syntax::standard_macros::keep_message;
use crate::syntax::visit_mut::{self, VisitMut};

/// A binding of the function.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Its unique identifier.
    pub ident: Ident,
    /// Whether it may be assigned after its definition.
    pub mutable: bool,
    /// Its number in the order in which they come to be.
    pub number: usize,
}

/// All bindings of a function by unique name.
pub type Bindings = BTreeMap<String, Binding>;

/// The identifier that stands for `self` in the batched code.
pub fn self_ident(span: Span) -> Ident {
    Ident::new("__self", span)
}

/// Whether a variable is what stands for `self`, or took its value over under another number.
pub(crate) fn is_self(ident: &Ident) -> bool {
    let name = ident.to_string();
    let number = name.strip_prefix("__self").map(|rest| rest.strip_prefix('_').unwrap_or(rest));
    number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// An identifier, raw or not, at another place.
fn respelled(ident: &Ident, span: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}

/// Resolves parameter patterns and the body of one function in place.
pub fn resolve(params: &mut [Pat], body: &mut Block, has_self: bool) -> Bindings {
    let (mut tried, mut of) = (body.clone(), params.to_vec());
    let resolver = resolved(&mut of, &mut tried, has_self, BTreeSet::new());
    // `let step = step(x);`: the variable gets another name than the function.
    let both = resolver.functions.into_iter().filter(|name| resolver.bindings.contains_key(name));
    let both: BTreeSet<String> = both.collect();
    if both.is_empty() {
        params.clone_from_slice(&of);
        *body = tried;
        return resolver.bindings;
    }
    resolved(params, body, has_self, both).bindings
}

/// The same; variables have none of the `taken` names.
fn resolved(params: &mut [Pat], body: &mut Block, has_self: bool, taken: BTreeSet<String>) -> Resolver {
    let mut resolver = Resolver {
        scopes: vec![BTreeMap::new()],
        taken,
        bindings: Bindings::new(),
        functions: BTreeSet::new(),
    };
    if has_self {
        let ident = self_ident(Span::call_site());
        resolver
            .bindings
            .insert("__self".into(), Binding { ident: ident.clone(), mutable: false, number: 0 });
        resolver.taken.insert("__self".into());
        resolver.scopes[0].insert("__self".into(), ident.clone());
        resolver.scopes[0].insert("self".into(), ident);
    }
    for pat in params {
        resolver.bind(pat, false);
    }
    resolver.visit_block_mut(body);
    resolver
}

struct Resolver {
    /// Source name to unique identifier, innermost last.
    scopes: Vec<BTreeMap<String, Ident>>,
    taken: BTreeSet<String>,
    bindings: Bindings,
    /// The names that calls have of functions, not of variables.
    functions: BTreeSet<String>,
}

impl Resolver {
    fn lookup(&self, name: &str) -> Option<&Ident> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn renamed(&self, ident: &Ident) -> Option<Ident> {
        Some(respelled(self.lookup(&ident.to_string())?, ident.span()))
    }

    fn fresh(&mut self, ident: &Ident) -> Ident {
        let base = ident.to_string();
        let mut name = base.clone();
        let mut k = 1;
        while !self.taken.insert(name.clone()) {
            k += 1;
            name = format!("{}_{k}", base.trim_start_matches("r#"));
        }
        if name == base { ident.clone() } else { Ident::new(&name, ident.span()) }
    }

    /// Declares the bindings of `pat` in the innermost scope and renames them in place.
    fn bind(&mut self, pat: &mut Pat, assigned_later: bool) {
        let mut bind = Bind { resolver: self, assigned_later, found: BTreeMap::new() };
        bind.visit_pat_mut(pat);
        let found = bind.found;
        self.scopes.last_mut().expect("a scope is open").extend(found);
    }

    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeMap::new());
        inside(self);
        self.scopes.pop();
    }
}

/// Whether an identifier pattern without `ref`, `mut` or `@` can only be a constant or a unit struct.
fn is_constant(ident: &Ident) -> bool {
    ident.to_string().trim_start_matches("r#").starts_with(|c: char| c.is_uppercase())
}

/// The binding of a pattern's names.
struct Bind<'a> {
    resolver: &'a mut Resolver,
    assigned_later: bool,
    found: BTreeMap<String, Ident>,
}

impl VisitMut for Bind<'_> {
    fn visit_pat_ident_mut(&mut self, p: &mut syn::PatIdent) {
        if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() && is_constant(&p.ident) {
            return;
        }
        let source = p.ident.to_string();
        p.ident = match self.found.get(&source) {
            Some(unique) => respelled(unique, p.ident.span()),
            None => {
                let ident = self.resolver.fresh(&p.ident);
                let mutable = self.assigned_later || (p.mutability.is_some() && p.by_ref.is_none());
                let bindings = &mut self.resolver.bindings;
                let binding = Binding { ident: ident.clone(), mutable, number: bindings.len() };
                bindings.insert(ident.to_string(), binding);
                self.found.insert(source, ident.clone());
                ident
            }
        };
        visit_mut::visit_pat_ident_mut(self, p);
    }
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        visit_mut::visit_field_pat_mut(self, field);
        if let (Pat::Ident(p), syn::Member::Named(name)) = (&*field.pat, &field.member)
            && p.ident != *name
        {
            field.colon_token.get_or_insert_with(Default::default);
        }
    }
    fn visit_expr_mut(&mut self, _: &mut Expr) {}
    fn visit_block_mut(&mut self, _: &mut Block) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
}

impl VisitMut for Resolver {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|r| {
            block.stmts.iter_mut().for_each(|stmt| r.visit_stmt_mut(stmt));
        });
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Item(_) => {} // items see none of the function's variables
            other => visit_mut::visit_stmt_mut(self, other),
        }
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        local.init.iter_mut().for_each(|init| self.visit_local_init_mut(init));
        self.bind(&mut local.pat, local.init.is_none());
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        self.scoped(|r| {
            r.bind(&mut arm.pat, false);
            if let Pat::Guard(p) = &mut arm.pat {
                r.visit_expr_mut(&mut p.guard);
            }
            r.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(e) => self.scoped(|r| {
                // Bindings of a let chain are visible in the rest of the condition and in `then`.
                r.scoped(|r| {
                    r.visit_expr_mut(&mut e.cond);
                    r.visit_block_mut(&mut e.then_branch);
                });
                if let Some((_, otherwise)) = &mut e.else_branch {
                    r.visit_expr_mut(otherwise);
                }
            }),
            Expr::While(e) => self.scoped(|r| {
                r.visit_expr_mut(&mut e.cond);
                r.visit_block_mut(&mut e.body);
            }),
            Expr::ForLoop(e) => {
                self.visit_expr_mut(&mut e.expr);
                self.scoped(|r| {
                    r.bind(&mut e.pat, false);
                    r.visit_block_mut(&mut e.body);
                });
            }
            Expr::Let(e) => {
                self.visit_expr_mut(&mut e.expr);
                self.bind(&mut e.pat, false);
            }
            Expr::Closure(e) => self.scoped(|r| {
                for pat in &mut e.inputs {
                    r.bind(pat, false);
                }
                r.visit_expr_mut(&mut e.body);
            }),
            Expr::Call(e) => {
                if let Expr::Path(p) = &*e.func
                    && let Some(ident) = p.path.get_ident().filter(|_| p.qself.is_none())
                    && self.lookup(&ident.to_string()).is_none()
                {
                    self.functions.insert(ident.to_string());
                }
                visit_mut::visit_expr_call_mut(self, e);
            }
            Expr::Path(e) => {
                if let Some(ident) = e.path.get_ident().filter(|_| e.qself.is_none())
                    && let Some(renamed) = self.renamed(ident)
                {
                    e.path = renamed.into();
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut FieldValue) {
        self.visit_expr_mut(&mut field.expr);
        if field.colon_token.is_none()
            && let (Expr::Path(p), syn::Member::Named(name)) = (&field.expr, &field.member)
            && !p.path.is_ident(name)
        {
            field.colon_token = Some(Default::default());
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let written = mac.tokens.clone();
        map_tokens(mac, &mut |tree, field| match tree {
            TokenTree::Ident(ident) if !field => TokenTree::Ident(self.renamed(&ident).unwrap_or(ident)),
            TokenTree::Literal(lit) if !field => {
                let new =
                    |name: &str| self.lookup(name).map(Ident::to_string).filter(|unique| unique != name);
                TokenTree::Literal(format_strings::rename(lit, new))
            }
            other => other,
        });
        keep_message(mac, written);
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;
    use crate::syntax::mentions::text;

    #[track_caller]
    fn becomes(body: &str, expected: &str) {
        let parsed = |text: &str| syn::parse_str::<Block>(text).expect("a block");
        let mut body = parsed(body);
        resolve(&mut [parse_quote!(x)], &mut body, false);
        assert_eq!(text(&body), text(&parsed(expected)));
    }

    #[test]
    fn a_variable_is_not_the_function_of_its_name() {
        becomes(
            "{ let step = step(x); let step_2 = step; step(step_2) }",
            // The second call is of the variable.
            "{ let step_2 = step(x); let step_2_2 = step_2; step_2(step_2_2) }",
        );
        becomes("{ let f = |y| y + x; f(1) }", "{ let f = |y| y + x; f(1) }");
        becomes("{ let a = { let g = x; h(g) }; a + g(x) }", "{ let a = { let g_2 = x; h(g_2) }; a + g(x) }");
    }
}
