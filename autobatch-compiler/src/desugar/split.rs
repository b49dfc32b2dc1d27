//! A local of which a part is moved while others are used later becomes its parts, because a column holds whole values
//! only: `let a = p.a; … p.b` has `let p_a = p.a; let p_b = p.b;` in front.
//!
//! Only where a part certainly is moved: then the local is a value, and no reference to one. And only from where on nothing
//! mentions the whole.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Macro, Member, Pat, Stmt, Type, parse_quote};

use super::macros;
use super::runs::{InBlockOf, may_split};
use crate::cfg;
use crate::formats::{self, Captured};
use crate::input::Function;
use crate::mentions::is_variable;
use crate::receivers::call_text;
use crate::resolve;

/// Rewrites the function's body.
pub(super) fn locals(function: &mut Function) {
    // Parts have parts.
    let mut done = BTreeSet::new();
    loop {
        let names: Vec<String> =
            function.bindings.keys().filter(|name| !done.contains(*name)).cloned().collect();
        if names.is_empty() {
            return;
        }
        names.iter().for_each(|name| split(function, name));
        done.extend(names);
    }
}

fn split(function: &mut Function, name: &str) {
    let params = &function.params;
    let bound_outside = params.iter().any(|p| match &p.pattern {
        Some(pat) => cfg::names(pat).iter().any(|ident| ident == name),
        None => p.ident == name,
    });
    let ty = function.type_of(name).cloned();
    if matches!(ty, Some(Type::Reference(_))) {
        return;
    }
    let mut body = function.body.clone();
    let mut found = None;
    let mut then = |block: &mut Block, from: usize| found = parts(function, name, ty.as_ref(), block, from);
    if bound_outside {
        then(&mut body, 0);
    } else {
        InBlockOf::new(name, then).visit_block_mut(&mut body);
    }
    let Some(texts) = found else { return };
    for known in [&mut function.others, &mut function.unknown] {
        let new: Vec<String> =
            texts.iter().filter(|(old, _)| known.contains(old)).map(|(_, new)| new.clone()).collect();
        known.extend(new);
    }
    resolve::again(function, body);
}

/// Splits the local in the statements behind the first `from`. The texts of the method calls that are spelled otherwise then.
fn parts(
    function: &Function,
    name: &str,
    ty: Option<&Type>,
    block: &mut Block,
    from: usize,
) -> Option<Vec<(String, String)>> {
    let uses: Vec<Uses> = block.stmts.iter().map(|stmt| Uses::of(stmt, name)).collect();
    let behind = uses.iter().enumerate().skip(from).rev().find(|(_, uses)| uses.whole);
    let first = behind.map_or(from, |(i, _)| i + 1);
    let mutable =
        function.bindings.get(name)?.mutable || function.params.iter().any(|p| p.ident == name && p.mutable);
    let mut fields: BTreeMap<String, Member> = BTreeMap::new();
    for uses in &uses[first..] {
        if uses.assigned && !mutable {
            return None;
        }
        fields.extend(uses.fields.iter().map(|(name, member)| (name.clone(), member.clone())));
    }
    let rest = &block.stmts[first..];
    let mut moves = Moves { function, name, ty, found: false };
    rest.iter().for_each(|stmt| moves.visit_stmt(stmt));
    moves.tail(rest.last());
    if fields.len() < 2 || !moves.found || !rest.iter().any(may_split) {
        return None;
    }
    let whole = Ident::new(name, Span::call_site());
    let mut lets: Vec<Stmt> = Vec::new();
    let mut idents = BTreeMap::new();
    for (field, member) in fields {
        let mut spelled = format!("{}_{}", name.trim_start_matches("r#"), field.trim_start_matches("r#"));
        while function.bindings.contains_key(&spelled) {
            spelled.push('_');
        }
        let ident = Ident::new(&spelled, Span::mixed_site());
        let mutability: Option<syn::Token![mut]> = mutable.then(Default::default);
        lets.push(parse_quote!(let #mutability #ident = #whole.#member;));
        idents.insert(field, ident);
    }
    let mut replace = Replace { name, idents, texts: Vec::new() };
    block.stmts[first..].iter_mut().for_each(|stmt| replace.visit_stmt_mut(stmt));
    let texts = replace.texts;
    block.stmts.splice(first..first, lets);
    Some(texts)
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// How statements use the local.
#[derive(Default)]
struct Uses {
    name: String,
    whole: bool,
    /// Whether a part is assigned to.
    assigned: bool,
    fields: BTreeMap<String, Member>,
}

impl Uses {
    fn of(stmt: &Stmt, name: &str) -> Uses {
        let mut uses = Uses { name: name.to_string(), ..Uses::default() };
        uses.visit_stmt(stmt);
        uses
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Field(e) if is_variable(&e.base, &self.name) => {
                self.fields.insert(member_name(&e.member), e.member.clone());
                return;
            }
            Expr::Assign(e) => {
                self.assigned |= matches!(&*e.left, Expr::Field(e) if is_variable(&e.base, &self.name))
            }
            Expr::Binary(e) if crate::lockstep::is_compound(&e.op) => {
                self.assigned |= matches!(&*e.left, Expr::Field(e) if is_variable(&e.base, &self.name));
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        self.whole |= e.path.is_ident(&self.name);
    }
    fn visit_macro(&mut self, mac: &'ast Macro) {
        let mut told = false;
        let mut parsed = mac.clone();
        macros::rewrite_arguments(&mut parsed, &mut |arg| {
            told = true;
            let mut uses = Uses { name: self.name.clone(), ..Uses::default() };
            uses.visit_expr(arg);
            self.whole |= uses.whole;
            self.fields.extend(uses.fields);
        });
        self.whole |= !told && words(mac.tokens.clone(), &self.name);
        self.whole |= !matches!(formats::captured(mac, &self.name), Captured::No);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

fn words(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => words(group.stream(), name),
        _ => false,
    })
}

/// Finds places where a part certainly is moved.
struct Moves<'a> {
    function: &'a Function,
    name: &'a str,
    ty: Option<&'a Type>,
    found: bool,
}

impl Moves<'_> {
    fn taken(&mut self, expr: &Expr) {
        let Expr::Field(e) = expr else { return };
        if !is_variable(&e.base, self.name) {
            return;
        }
        let methods = &self.function.methods;
        self.found |= match (&e.member, self.ty) {
            (Member::Named(field), _) => methods.is_moved(field),
            (Member::Unnamed(index), Some(Type::Tuple(t))) => {
                t.elems.get(index.index as usize).is_some_and(|ty| methods.owns(ty))
            }
            (Member::Unnamed(index), _) => makes_owned(&self.function.body, self.name, index.index as usize),
        };
    }

    fn matched(&mut self, pat: &Pat, value: &Expr) {
        if binds_a_value(pat) {
            self.taken(value);
        }
    }

    fn tail(&mut self, last: Option<&Stmt>) {
        if let Some(Stmt::Expr(tail, None)) = last {
            self.taken(tail);
        }
    }
}

/// Whether a local is made as a tuple whose part at the index certainly is moved.
fn makes_owned(body: &Block, name: &str, index: usize) -> bool {
    struct Scan<'a>(&'a str, usize, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
                && let Expr::Tuple(made) = &*init.expr
                && p.ident == self.0
            {
                self.2 |= made.elems.get(self.1).is_some_and(is_owned);
            }
            visit::visit_local(self, local);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    fn is_owned(made: &Expr) -> bool {
        match made {
            Expr::Macro(e) => e.mac.path.is_ident("vec") || e.mac.path.is_ident("format"),
            Expr::Call(e) => {
                let Expr::Path(func) = &*e.func else { return false };
                let mut names =
                    func.path.segments.iter().rev().skip(1).map(|segment| segment.ident.to_string());
                names.next().is_some_and(|owner| ["Vec", "String", "Box"].contains(&owner.as_str()))
            }
            _ => false,
        }
    }
    let mut scan = Scan(name, index, false);
    scan.visit_block(body);
    scan.2
}

/// Whether a pattern is a name, or what an `Option` or a `Result` holds.
fn binds_a_value(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && !p.ident.to_string().starts_with(char::is_uppercase),
        Pat::Type(p) => binds_a_value(&p.pat),
        Pat::TupleStruct(p) => {
            let known = ["Some", "Ok", "Err"].iter().any(|name| p.path.is_ident(name));
            known && p.elems.iter().all(binds_a_value)
        }
        _ => false,
    }
}

/// Methods of `Option` and `Result` that take their receiver.
const TAKE: [&str; 14] = [
    "and_then",
    "expect",
    "filter",
    "flatten",
    "map",
    "map_err",
    "ok_or",
    "ok_or_else",
    "or",
    "or_else",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

impl<'ast> Visit<'ast> for Moves<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            self.matched(&local.pat, &init.expr);
        }
        visit::visit_local(self, local);
    }
    fn visit_block(&mut self, block: &'ast Block) {
        self.tail(block.stmts.last());
        visit::visit_block(self, block);
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Closure(_) => return,
            Expr::ForLoop(e) => self.taken(&e.expr),
            Expr::Call(e) => e.args.iter().for_each(|arg| self.taken(arg)),
            Expr::MethodCall(e) => {
                let name = e.method.to_string();
                if name.starts_with("into_") || TAKE.contains(&name.as_str()) {
                    self.taken(&e.receiver);
                }
                e.args.iter().for_each(|arg| self.taken(arg));
            }
            Expr::Struct(e) => e.fields.iter().for_each(|field| self.taken(&field.expr)),
            Expr::Tuple(e) => e.elems.iter().for_each(|elem| self.taken(elem)),
            Expr::Array(e) => e.elems.iter().for_each(|elem| self.taken(elem)),
            Expr::Assign(e) => self.taken(&e.right),
            Expr::Return(e) => e.expr.iter().for_each(|value| self.taken(value)),
            Expr::Break(e) => e.expr.iter().for_each(|value| self.taken(value)),
            Expr::Let(e) => self.matched(&e.pat, &e.expr),
            Expr::Match(e) => e.arms.iter().for_each(|arm| {
                self.matched(&arm.pat, &e.expr);
                self.taken(&arm.body);
            }),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Puts the parts where the local's fields are mentioned.
struct Replace<'a> {
    name: &'a str,
    idents: BTreeMap<String, Ident>,
    texts: Vec<(String, String)>,
}

impl VisitMut for Replace<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Field(e) if is_variable(&e.base, self.name) => {
                let mut ident = self.idents[&member_name(&e.member)].clone();
                if let Member::Named(name) = &e.member {
                    ident.set_span(ident.span().located_at(name.span()));
                }
                *expr = parse_quote!(#ident);
            }
            Expr::MethodCall(_) => {
                let text = |expr: &Expr| match expr {
                    Expr::MethodCall(call) => call_text(call),
                    _ => String::new(),
                };
                let before = text(expr);
                visit_mut::visit_expr_mut(self, expr);
                self.texts.push((before, text(expr)));
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_with(Default::default);
        visit_mut::visit_field_value_mut(self, field);
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        macros::rewrite_arguments(mac, &mut |arg| self.visit_expr_mut(arg));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
