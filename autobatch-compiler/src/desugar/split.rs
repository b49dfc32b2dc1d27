//! A local of which a part is moved while others are used later becomes its parts, because a column holds whole values
//! only: `let a = p.a; … p.b` has `let p_a = p.a; let p_b = p.b;` in front.
//!
//! Only where a part certainly is moved: then the local is a value, and no reference to one. And only from where on nothing
//! mentions the whole.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FieldPat, Ident, Local, Macro, Member, Pat, Stmt, Type, parse_quote};

use super::macros;
use super::moves::{Known, are_moved, copied_fields};
use super::runs::{InBlockOf, may_split};
use crate::formats::{self, Captured};
use crate::input::Function;
use crate::mentions::{self, bound_by_ref, is_variable};
use crate::receivers::call_text;
use crate::resolve;

/// Rewrites the function's body.
pub(super) fn locals(function: &mut Function, self_type: Option<&Ident>) {
    // Parts have parts.
    let mut done = BTreeSet::new();
    loop {
        let names: Vec<String> =
            function.bindings.keys().filter(|name| !done.contains(*name)).cloned().collect();
        if names.is_empty() {
            return;
        }
        names.iter().for_each(|name| split(function, name, self_type));
        done.extend(names);
    }
}

fn split(function: &mut Function, name: &str, self_type: Option<&Ident>) {
    let params = &function.params;
    let bound_outside = params.iter().any(|p| match &p.pattern {
        Some(pat) => mentions::names(pat).iter().any(|ident| ident == name),
        None => p.ident == name,
    });
    let known = Known::of(function, name, self_type);
    if matches!(known.ty, Some(Type::Reference(_))) {
        return;
    }
    let mut body = function.body.clone();
    let mut found = None;
    let mut then = |block: &mut Block, from: usize| found = parts(function, &known, block, from);
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
    known: &Known<'_>,
    block: &mut Block,
    from: usize,
) -> Option<Vec<(String, String)>> {
    let name = known.name;
    let uses: Vec<Uses<'_>> = block.stmts.iter().map(|stmt| Uses::of(stmt, known)).collect();
    let behind = uses.iter().enumerate().skip(from).rev().find(|(_, uses)| uses.whole);
    let first = behind.map_or(from, |(i, _)| i + 1);
    let mutable =
        function.bindings.get(name)?.mutable || function.params.iter().any(|p| p.ident == name && p.mutable);
    let mut fields: BTreeMap<String, Member> = BTreeMap::new();
    let mut matched = BTreeSet::new();
    for uses in &uses[first..] {
        if uses.assigned && !mutable {
            return None;
        }
        fields.extend(uses.fields.iter().map(|(name, member)| (name.clone(), member.clone())));
        matched.extend(uses.matched.iter().cloned());
    }
    let rest = &block.stmts[first..];
    let enough = if matched.is_empty() { 2 } else { 1 };
    if fields.len() < enough || !are_moved(function, known, rest) || !rest.iter().any(may_split) {
        return None;
    }
    // What a pattern looks at is there still.
    let copied = copied_fields(function, name);
    if fields.keys().any(|field| matched.contains(field) && (mutable || !copied.contains(field))) {
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
    let mut replace = Replace { known, idents, texts: Vec::new() };
    block.stmts[first..].iter_mut().for_each(|stmt| replace.visit_stmt_mut(stmt));
    let texts = replace.texts;
    block.stmts.splice(first..first, lets);
    Some(texts)
}

pub(super) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// How statements use the local.
struct Uses<'a> {
    known: &'a Known<'a>,
    whole: bool,
    /// Whether a part is assigned to.
    assigned: bool,
    fields: BTreeMap<String, Member>,
    /// The fields that the patterns of a `match` or an `if let` look at.
    matched: BTreeSet<String>,
}

impl<'a> Uses<'a> {
    fn none(known: &'a Known<'a>) -> Uses<'a> {
        Uses { known, whole: false, assigned: false, fields: BTreeMap::new(), matched: BTreeSet::new() }
    }

    /// Whether patterns look at some fields of the local only.
    fn looks_at<'p>(&mut self, pats: impl IntoIterator<Item = &'p Pat>) -> bool {
        let mut fields = BTreeSet::new();
        for pat in pats {
            match pat {
                Pat::Wild(_) => {}
                Pat::Struct(p) if self.known.is(&p.path) => {
                    fields.extend(p.fields.iter().map(|field| member_name(&field.member)));
                }
                _ => return false,
            }
        }
        let any = !fields.is_empty();
        self.matched.extend(fields);
        any
    }

    fn of(stmt: &Stmt, known: &'a Known<'a>) -> Uses<'a> {
        let mut uses = Uses::none(known);
        uses.visit_stmt(stmt);
        uses
    }

    fn fields(&mut self, members: impl IntoIterator<Item = Member>) {
        self.fields.extend(members.into_iter().map(|member| (member_name(&member), member)));
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        match taken_apart(self.known, local) {
            Some(fields) => self.fields(fields.into_iter().map(|field| field.member.clone())),
            None => visit::visit_local(self, local),
        }
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Field(e) if is_variable(&e.base, self.known.name) => {
                self.fields([e.member.clone()]);
                return;
            }
            Expr::Struct(e) => {
                if let Some(members) = self.known.updates(e) {
                    self.fields(members);
                    return e.fields.iter().for_each(|field| self.visit_field_value(field));
                }
            }
            Expr::Match(e)
                if is_variable(&e.expr, self.known.name)
                    && self.looks_at(e.arms.iter().map(|arm| &arm.pat)) =>
            {
                return e.arms.iter().for_each(|arm| self.visit_arm(arm));
            }
            Expr::Let(e) if is_variable(&e.expr, self.known.name) && self.looks_at([&*e.pat]) => {
                return;
            }
            Expr::Assign(e) => {
                self.assigned |= matches!(&*e.left, Expr::Field(e) if is_variable(&e.base, self.known.name))
            }
            Expr::Binary(e) if crate::lockstep::is_compound(&e.op) => {
                self.assigned |= matches!(&*e.left, Expr::Field(e) if is_variable(&e.base, self.known.name));
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        self.whole |= e.path.is_ident(self.known.name);
    }
    fn visit_macro(&mut self, mac: &'ast Macro) {
        let mut told = false;
        let mut parsed = mac.clone();
        macros::rewrite_arguments(&mut parsed, &mut |arg| {
            told = true;
            let mut uses = Uses::none(self.known);
            uses.visit_expr(arg);
            self.whole |= uses.whole;
            self.fields.extend(uses.fields);
            self.matched.extend(uses.matched);
        });
        self.whole |= !told && words(mac.tokens.clone(), self.known.name);
        self.whole |= !matches!(formats::captured(mac, self.known.name), Captured::No);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The fields of a pattern that takes the local apart: `let P { a, ref b, .. } = p;`.
fn taken_apart(known: &Known<'_>, local: &Local) -> Option<Vec<FieldPat>> {
    let (Pat::Struct(pat), Some(init)) = (&local.pat, &local.init) else { return None };
    let is_it = is_variable(&init.expr, known.name) && init.diverge.is_none() && local.attrs.is_empty();
    if !is_it || pat.fields.is_empty() || !known.is(&pat.path) {
        return None;
    }
    let plain = |field: &FieldPat| match &*field.pat {
        Pat::Ident(p) => p.subpat.is_none(),
        pat => bound_by_ref(pat).is_empty() && !matches!(pat, Pat::Wild(_)),
    };
    pat.fields.iter().all(plain).then(|| pat.fields.iter().cloned().collect())
}

fn as_local(stmt: Stmt) -> Local {
    match stmt {
        Stmt::Local(local) => local,
        _ => unreachable!("a `let`"),
    }
}

fn words(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => words(group.stream(), name),
        _ => false,
    })
}

/// Puts the parts where the local's fields are mentioned.
struct Replace<'a> {
    known: &'a Known<'a>,
    idents: BTreeMap<String, Ident>,
    texts: Vec<(String, String)>,
}

impl VisitMut for Replace<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        let Some(fields) = taken_apart(self.known, local) else {
            return visit_mut::visit_local_mut(self, local);
        };
        let (mut pats, mut values): (Vec<Pat>, Vec<Expr>) = (vec![], vec![]);
        for field in fields {
            let ident = &self.idents[&member_name(&field.member)];
            let mut pat = (*field.pat).clone();
            values.push(match &mut pat {
                Pat::Ident(p) if p.by_ref.is_some() => {
                    let mutability = p.mutability.take();
                    p.by_ref = None;
                    parse_quote!(&#mutability #ident)
                }
                _ => parse_quote!(#ident),
            });
            pats.push(pat);
        }
        *local = match (&pats[..], &values[..]) {
            ([pat], [value]) => as_local(parse_quote!(let #pat = #value;)),
            _ => as_local(parse_quote!(let (#(#pats),*) = (#(#values),*);)),
        };
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Field(e) if is_variable(&e.base, self.known.name) => {
                let mut ident = self.idents[&member_name(&e.member)].clone();
                if let Member::Named(name) = &e.member {
                    ident.set_span(ident.span().located_at(name.span()));
                }
                *expr = parse_quote!(#ident);
            }
            Expr::Struct(e) => {
                for member in self.known.updates(e).unwrap_or_default() {
                    let ident = &self.idents[&member_name(&member)];
                    e.fields.push(parse_quote!(#member: #ident));
                    (e.dot2_token, e.rest) = (None, None);
                }
                visit_mut::visit_expr_mut(self, expr);
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
