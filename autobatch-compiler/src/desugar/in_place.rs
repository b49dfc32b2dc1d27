//! Locals that are borrowed across a loop or a call live in place: `let x = Lent::new(…)`, and every mention of `x`
//! becomes `(*x.share())` or `(*x.lend())`. What is borrowed from such a place can be kept in a column: the place does
//! not move, and lives as long as the local's scope (`Variable::anchored`), as it does on a native stack.
//!
//! Only where every mention shows that the local is not moved, and whether it is changed: as an operand of `&` or
//! `&mut`, indexed, assigned, compared, or the receiver of a method of the library that is known. Else nothing is
//! rewritten all its life; then it may live in place for some statements only ([`super::runs`]). If that can't be done
//! either, the program falls back as if this did not exist.

mod inside;

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Span, TokenTree};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, Ident, Local, Macro, Pat, Path, Stmt, Token, Type, UnOp, parse_quote};

use super::copies::{Copies, is_copied_local};
use super::exclusive::is_exclusive;
use super::macros;
use super::moved_out;
use super::moves::{copied_fields, type_of_local};
use super::parted::is_parted;
use super::runs::{Callees, InBlockOf, Lent};
use crate::formats::{self, Captured};
use crate::input::{Function, Param};
use crate::lower::ends_closures_by_name;
use crate::mentions::{self, is_variable, map_tokens, spell_out_fields};
use crate::resolve;
use crate::signatures::{Methods, Takes};

/// Rewrites the function so that the locals of these names live in place, those for which that can be done. True if there
/// is one.
pub(crate) fn rewrite(
    function: &mut Function,
    names: &BTreeSet<String>,
    callees: &Callees,
    krate: &Path,
) -> bool {
    let mut any = false;
    for name in names {
        let mut body = function.body.clone();
        let param = function.params.iter().find(|p| p.ident == *name && p.pattern.is_none());
        let reference = match param {
            Some(param) => match &param.ty {
                Type::Reference(r) if r.mutability.is_some() => true,
                Type::Reference(_) => continue,
                _ => false,
            },
            None => false,
        };
        if is_declared_only(&body, name) {
            continue;
        }
        let reference = reference || is_exclusive(function, name);
        let copies = Copies::of(function);
        let methods = function.methods.clone();
        let kind = Ident::new(if reference { "LentRef" } else { "Lent" }, Span::mixed_site());
        let mutable = reference || function.bindings.get(name).is_some_and(|b| b.mutable);
        let number = !reference && copies.contains(name);
        let copied = number || (!reference && is_copied_local(function, name));
        let shared = is_shared_to_change(function, name);
        let copied_fields = copied_fields(function, name);
        let place = || InPlace {
            copied_fields: &copied_fields,
            number,
            copied,
            shared,
            name,
            reference,
            mutable,
            ended: 0,
            closures: 0,
            refused: false,
            defined: 0,
            kind: &kind,
            krate,
            methods: &methods,
            function,
            ty: function.type_of(name),
        };
        let of_pattern = |p: &Param| {
            p.pattern.as_ref().is_some_and(|pat| mentions::names(pat).iter().any(|ident| ident == name))
        };
        let bound_outside = param.is_some() || function.params.iter().any(of_pattern);
        let mut declared = false;
        let rewritten = place().all_its_life(&mut body, param.map(|p| &p.ident)) || {
            body = function.body.clone();
            let lent = Lent { name, reference, copies: &copies, function, callees, methods: &methods };
            let back = in_runs(&mut body, &lent, bound_outside, place);
            declared = back == Some(Back::Assigned) && !mutable;
            back.is_some() && (!declared || param.is_some() || make_mutable(&mut body, name))
        };
        if rewritten {
            let mut params = function.params.iter_mut();
            if let Some(param) = params.find(|p| declared && p.ident == *name && p.pattern.is_none()) {
                param.mutable = true;
            }
            resolve::again(function, body);
            any = true;
        }
    }
    any
}

/// Declares a local `mut`; false if its pattern is no simple one.
fn make_mutable(body: &mut Block, name: &str) -> bool {
    struct Declare<'a>(&'a str, bool);
    impl VisitMut for Declare<'_> {
        fn visit_local_mut(&mut self, local: &mut Local) {
            let pat = match &mut local.pat {
                Pat::Type(t) => &mut t.pat,
                pat => pat,
            };
            if let Pat::Ident(p) = pat
                && p.ident == self.0
                && p.by_ref.is_none()
            {
                p.mutability.get_or_insert_default();
                self.1 = true;
            }
            visit_mut::visit_local_mut(self, local);
        }
    }
    let mut declare = Declare(name, false);
    declare.visit_block_mut(body);
    declare.1
}

/// Whether a local is changed by shared references: `let x = Cell::new(0)`.
fn is_shared_to_change(function: &Function, name: &str) -> bool {
    let Some(Type::Path(ty)) = type_of_local(function, name) else { return false };
    ty.path.segments.last().is_some_and(|last| function.methods.is_shared_to_change(&last.ident.to_string()))
}

/// Whether a local gets its value behind its `let`: on some paths, or on none.
fn is_declared_only(body: &Block, name: &str) -> bool {
    struct Scan<'a>(&'a str, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_local(&mut self, local: &'ast Local) {
            self.1 |= local.init.is_none() && mentions::names(&local.pat).iter().any(|ident| ident == self.0);
            visit::visit_local(self, local);
        }
    }
    let mut scan = Scan(name, false);
    scan.visit_block(body);
    scan.1
}

/// How a local gets its value back behind where it is in place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Back {
    /// As a new local of its name, or not at all.
    Bound,
    Assigned,
}

/// The local in place for some runs of statements; how it gets its value back, if there is one.
fn in_runs<'a>(
    body: &mut Block,
    lent: &Lent<'_>,
    bound_outside: bool,
    place: impl Fn() -> InPlace<'a>,
) -> Option<Back> {
    let mut back = None;
    let mut rewrite = |block: &mut Block, from: usize| back = in_runs_of(block, from, lent, &place);
    if bound_outside {
        rewrite(body, 0);
    } else {
        InBlockOf::new(lent.name, rewrite).visit_block_mut(body);
    }
    back
}

/// The same for the statements of a block behind the first `from`.
fn in_runs_of<'a>(
    block: &mut Block,
    from: usize,
    lent: &Lent<'_>,
    places: &dyn Fn() -> InPlace<'a>,
) -> Option<Back> {
    let mut back = None;
    for run in lent.runs(block, from).into_iter().rev() {
        if !lent.reference && is_parted(&block.stmts[from..*run.start()], lent.name, lent.methods) {
            continue;
        }
        let mut inside = block.stmts[run.clone()].to_vec();
        let mut place = places();
        inside.iter_mut().for_each(|stmt| place.visit_stmt_mut(stmt));
        if place.refused || place.defined > 0 {
            if run.start() == run.end() {
                // It may be moved on another path through the statement.
                let behind = lent.is_mentioned(&block.stmts[run.end() + 1..]);
                let stmt = &mut block.stmts[*run.start()];
                let paths = if behind { vec![] } else { lent.branches(stmt) };
                let some = paths.into_iter().filter_map(|path| in_runs_of(path, 0, lent, places)).max();
                back = back.max(some.or_else(|| inside::in_runs(stmt, lent, places)));
            }
            continue;
        }
        let (krate, kind, ident) = (place.krate, place.kind, Ident::new(lent.name, Span::call_site()));
        inside.insert(0, parse_quote!(let #ident = #krate::__rt::#kind::new(#ident);));
        if run.end() + 1 < block.stmts.len() {
            let mutability: Option<syn::Token![mut]> =
                (place.mutable && !place.reference).then(Default::default);
            inside.push(parse_quote!(let #mutability #ident = #krate::__rt::#kind::back(#ident);));
        }
        block.stmts.splice(run, inside);
        back = back.max(Some(Back::Bound));
    }
    back
}

/// Whether an initialiser makes a place of this kind.
pub(crate) fn is_place(init: &Expr) -> bool {
    place_made(init).is_some()
}

/// The value that an initialiser puts in a place of this kind that owns it.
pub(crate) fn placed(init: &Expr) -> Option<&Expr> {
    place_made(init).filter(|(kind, _)| kind == "Lent").map(|(_, value)| value)
}

fn place_made(init: &Expr) -> Option<(String, &Expr)> {
    let Expr::Call(call) = init else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let mut names = path.path.segments.iter().rev().map(|s| s.ident.to_string());
    let new = names.next()? == "new";
    let kind = names.next().filter(|kind| new && matches!(kind.as_str(), "Lent" | "LentRef"))?;
    (names.next()? == "__rt").then_some((kind, call.args.first()?))
}

struct InPlace<'a> {
    name: &'a str,
    reference: bool,
    mutable: bool,
    /// Whether it is a number, or the like.
    number: bool,
    /// Whether a mention of it is a copy.
    copied: bool,
    /// Shared references change it.
    shared: bool,
    /// Its fields of which mentions are copies.
    copied_fields: &'a BTreeSet<String>,
    /// Calls around that are done with the closures among their arguments when they return.
    ended: usize,
    closures: usize,
    refused: bool,
    defined: usize,
    kind: &'a Ident,
    krate: &'a Path,
    methods: &'a Methods,
    function: &'a Function,
    ty: Option<&'a Type>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Share,
    Lend,
    /// For a method of which signatures say that what it yields borrows nothing.
    Peek,
    Change,
}

impl InPlace<'_> {
    /// The local in place from its definition on, if that can be done.
    fn all_its_life(mut self, body: &mut Block, param: Option<&Ident>) -> bool {
        if !self.reference {
            moved_out::rewrite(body, self.name, self.krate);
        }
        self.visit_block_mut(body);
        if let Some(ident) = param {
            let (krate, kind) = (self.krate, self.kind);
            body.stmts.insert(0, parse_quote!(let #ident = #krate::__rt::#kind::new(#ident);));
            self.defined += 1;
        }
        !self.refused && self.defined == 1
    }

    /// How a method of the user's takes its receiver, where it may be one; `Some(None)` if that is not clear.
    fn own_method(&self, method: &Ident, receiver: &Expr) -> Option<Option<Takes>> {
        let own = self.methods.of(method)?.takes;
        match self.is_own(method, receiver) {
            Some(true) => return Some(own),
            Some(false) => return None,
            None => {}
        }
        let Some(library) = self.taken(method) else { return Some(own) };
        if self.is_it(receiver) && resolve::is_self(&self.ident(receiver)) {
            return Some(own);
        }
        (own != Some(library)).then_some(None)
    }

    /// Whether a method is one of the user's, as far as the type of the local says.
    fn is_own(&self, method: &Ident, receiver: &Expr) -> Option<bool> {
        self.function.is_own(method, self.ty.filter(|_| self.is_it(receiver)))
    }

    /// How a method of a library takes its receiver, where it is known.
    fn taken(&self, method: &Ident) -> Option<Takes> {
        self.methods.of_libraries(method)?.takes
    }

    /// The place that a pattern is matched against.
    fn matched(&mut self, pat: &Pat, value: &mut Expr) -> bool {
        let plain = matches!(pat, Pat::Ident(_) | Pat::Type(_) | Pat::Wild(_));
        if self.reference && !plain && self.is_it(value) {
            self.refused |= self.closures > 0 && self.ended == 0;
            let ident = self.ident(value);
            *value = parse_quote!(#ident.lend());
            return true;
        }
        if self.part(value).is_some() && binds_by_ref_only(pat) {
            self.replace(value, Access::Lend);
            return true;
        }
        false
    }

    fn is_it(&self, expr: &Expr) -> bool {
        is_variable(expr, self.name)
    }

    /// Whether a place is the local or a part of it, and whether it is reached by an index.
    fn part(&self, place: &Expr) -> Option<bool> {
        match place {
            Expr::Field(e) => self.part(&e.base),
            Expr::Index(e) => self.part(&e.expr).map(|_| true),
            Expr::Paren(e) => self.part(&e.expr),
            Expr::Group(e) => self.part(&e.expr),
            Expr::Unary(e) if self.reference && matches!(e.op, UnOp::Deref(_)) => {
                self.is_it(&e.expr).then_some(true)
            }
            // Of a `Box`, a `Vec`.
            Expr::Unary(e) if !self.reference && matches!(e.op, UnOp::Deref(_)) => self.part(&e.expr),
            other => self.is_it(other).then_some(false),
        }
    }

    /// Puts the place in the place of the local; indices are looked through.
    fn replace(&mut self, place: &mut Expr, access: Access) {
        self.refused |= self.closures > 0 && self.ended == 0;
        match place {
            Expr::Field(e) => self.replace(&mut e.base, access),
            Expr::Index(e) => {
                self.replace(&mut e.expr, access);
                self.visit_expr_mut(&mut e.index);
            }
            Expr::Paren(e) => self.replace(&mut e.expr, access),
            Expr::Group(e) => self.replace(&mut e.expr, access),
            Expr::Unary(e) if !self.reference => self.replace(&mut e.expr, access),
            other => {
                let (ident, method) = (self.ident(other), self.method(access));
                *other = parse_quote!((*#ident.#method()));
            }
        }
    }

    fn ident(&self, expr: &Expr) -> Ident {
        match expr {
            Expr::Path(p) => p.path.get_ident().cloned(),
            Expr::Unary(e) => return self.ident(&e.expr),
            Expr::Paren(e) => return self.ident(&e.expr),
            Expr::Group(e) => return self.ident(&e.expr),
            _ => None,
        }
        .unwrap_or_else(|| Ident::new(self.name, Span::call_site()))
    }

    fn method(&self, access: Access) -> Ident {
        let name = match access {
            Access::Lend if self.mutable => "lend",
            Access::Change if self.mutable => "change",
            Access::Peek | Access::Change => "peek",
            Access::Share | Access::Lend => "share",
        };
        Ident::new(name, Span::mixed_site())
    }

    /// Rewrites the tokens of a macro that looks at its arguments where they are. What its format string names it is given.
    fn tokens(&mut self, mac: &mut Macro) {
        let captured = formats::captured(mac, self.name);
        map_tokens(mac, &mut |tree, field| match tree {
            TokenTree::Ident(i) if !field && i == self.name => {
                self.refused |= self.closures > 0 && self.ended == 0;
                TokenTree::Group(Group::new(Delimiter::Parenthesis, quote::quote!(*#i.share())))
            }
            TokenTree::Ident(i) if field && self.taken(&i) == Some(Takes::Mut) => {
                // Of whatever: not worth telling.
                self.refused = true;
                TokenTree::Ident(i)
            }
            other => other,
        });
        match captured {
            Captured::No => {}
            Captured::Own(span) => {
                self.refused |= self.closures > 0 && self.ended == 0;
                let (name, tokens) = (Ident::new(self.name, span), &mac.tokens);
                let comma: Option<Token![,]> = (!macros::ends_in_comma(tokens)).then(Default::default);
                mac.tokens = quote::quote_spanned!(span=> #tokens #comma #name = *#name.share());
            }
            Captured::Elsewhere => self.refused = true,
        }
    }
}

/// Whether a pattern binds something, and all of it by `ref`.
fn binds_by_ref_only(pat: &Pat) -> bool {
    struct Scan(bool, bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            let constant = p.ident.to_string().starts_with(char::is_uppercase);
            self.0 |= p.by_ref.is_some();
            self.1 |= p.by_ref.is_none() && !constant;
            visit::visit_pat_ident(self, p);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut scan = Scan(false, false);
    scan.visit_pat(pat);
    scan.0 && !scan.1
}

fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

impl VisitMut for InPlace<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if !matches!(stmt, Stmt::Item(_)) {
            visit_mut::visit_stmt_mut(self, stmt);
        }
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let (pat, ty) = match &local.pat {
            Pat::Type(t) => (&*t.pat, Some(t.ty.clone())),
            other => (other, None),
        };
        let is_it = matches!(pat, Pat::Ident(p) if p.ident == self.name);
        if let Some(init) = &mut local.init {
            if !self.matched(&local.pat, &mut init.expr) {
                self.visit_expr_mut(&mut init.expr);
            }
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        if !is_it {
            return self.visit_pat_mut(&mut local.pat);
        }
        let (Pat::Ident(p), Some(init)) = (pat, &mut local.init) else {
            self.refused = true;
            return;
        };
        self.refused |=
            p.by_ref.is_some() || p.subpat.is_some() || init.diverge.is_some() || is_place(&init.expr);
        let (krate, kind, value, ident) = (self.krate, self.kind, &init.expr, p.ident.clone());
        *init.expr = match ty {
            Some(ty) => {
                let typed = Ident::new("__typed", Span::mixed_site());
                parse_quote!(#krate::__rt::#kind::new({ let #typed: #ty = #value; #typed }))
            }
            None => parse_quote!(#krate::__rt::#kind::new(#value)),
        };
        local.pat = parse_quote!(#ident);
        self.defined += 1;
    }

    fn visit_pat_ident_mut(&mut self, p: &mut syn::PatIdent) {
        // Bound by a pattern.
        self.refused |= p.ident == self.name;
        visit_mut::visit_pat_ident_mut(self, p);
    }

    fn visit_expr_closure_mut(&mut self, e: &mut syn::ExprClosure) {
        self.closures += 1;
        visit_mut::visit_expr_closure_mut(self, e);
        self.closures -= 1;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Reference(e) if self.part(&e.expr).is_some() => {
                let access = if e.mutability.is_some() { Access::Lend } else { Access::Share };
                self.replace(&mut e.expr, access);
            }
            Expr::Assign(e) if self.part(&e.left).is_some() => {
                self.refused |= self.reference && self.is_it(&e.left);
                self.replace(&mut e.left, Access::Lend);
                self.visit_expr_mut(&mut e.right);
            }
            Expr::Binary(e) if crate::lockstep::is_compound(&e.op) && self.part(&e.left).is_some() => {
                self.refused |= self.reference && self.is_it(&e.left);
                self.replace(&mut e.left, Access::Lend);
                self.visit_expr_mut(&mut e.right);
            }
            Expr::Binary(e) if is_comparison(&e.op) => {
                for side in [&mut e.left, &mut e.right] {
                    if self.part(side).is_some() && !self.reference {
                        self.replace(side, Access::Share);
                    } else {
                        self.visit_expr_mut(side);
                    }
                }
            }
            Expr::MethodCall(e) => {
                let ends = usize::from(ends_closures_by_name(&e.method));
                self.ended += ends;
                let own = self.own_method(&e.method, &e.receiver);
                let library = self.taken(&e.method);
                let borrow_nothing = match self.is_own(&e.method, &e.receiver) {
                    Some(own) => own && self.methods.of(&e.method).is_some_and(|own| !own.borrows),
                    None => self.methods.borrow_nothing(&e.method),
                };
                let (share, lend) = if borrow_nothing {
                    (Access::Peek, Access::Change)
                } else {
                    (Access::Share, Access::Lend)
                };
                let shared =
                    self.shared && self.is_it(&e.receiver) && !e.method.to_string().starts_with("into");
                match self.part(&e.receiver) {
                    Some(_) if shared && e.method != "get_mut" => {
                        self.replace(&mut e.receiver, Access::Share)
                    }
                    Some(_) if own == Some(Some(Takes::Ref)) => self.replace(&mut e.receiver, share),
                    Some(_) if own == Some(Some(Takes::Mut)) => self.replace(&mut e.receiver, lend),
                    Some(_) if own.is_some() => self.refused = true,
                    None => self.visit_expr_mut(&mut e.receiver),
                    Some(_) if library == Some(Takes::Ref) => self.replace(&mut e.receiver, Access::Share),
                    Some(_) if library == Some(Takes::Mut) => self.replace(&mut e.receiver, Access::Lend),
                    Some(_) if self.number && crate::lockstep::is_pure_method(&e.method) => {
                        self.replace(&mut e.receiver, Access::Share);
                    }
                    // Nothing is moved out of an index, and nothing changed that is not `mut`.
                    Some(true) if !self.mutable => self.replace(&mut e.receiver, Access::Share),
                    Some(_) => self.refused = true,
                }
                e.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
                self.ended -= ends;
            }
            Expr::Index(_) if self.part(expr).is_some() => self.replace(expr, Access::Share),
            Expr::Unary(e) if self.reference && self.is_it(&e.expr) && matches!(e.op, UnOp::Deref(_)) => {
                self.replace(expr, Access::Share);
            }
            taken if moved_out::is_taken_out(taken) => {}
            // Passed on for the call.
            Expr::Call(e) if self.reference && e.args.iter().any(|arg| self.is_it(arg)) => {
                for arg in &mut e.args {
                    if self.is_it(arg) {
                        self.refused |= self.closures > 0 && self.ended == 0;
                        let ident = self.ident(arg);
                        *arg = parse_quote!(#ident.lend());
                    } else {
                        self.visit_expr_mut(arg);
                    }
                }
            }
            Expr::Let(e) => {
                if !self.matched(&e.pat, &mut e.expr) {
                    self.visit_expr_mut(&mut e.expr);
                }
                self.visit_pat_mut(&mut e.pat);
            }
            Expr::Match(e) => {
                let all: Pat = Pat::Or(syn::PatOr {
                    attrs: vec![],
                    leading_vert: None,
                    cases: e.arms.iter().map(|arm| arm.pat.clone()).collect(),
                });
                if !self.matched(&all, &mut e.expr) {
                    self.visit_expr_mut(&mut e.expr);
                }
                e.arms.iter_mut().for_each(|arm| self.visit_arm_mut(arm));
            }
            Expr::Struct(e) => {
                spell_out_fields(e);
                visit_mut::visit_expr_mut(self, expr);
            }
            Expr::Field(_) if self.copied && self.part(expr).is_some() => self.replace(expr, Access::Share),
            Expr::Field(e)
                if !self.reference
                    && self.is_it(&e.base)
                    && matches!(&e.member, syn::Member::Named(name) if self.copied_fields.contains(&name.to_string())) =>
            {
                self.replace(expr, Access::Share);
            }
            other if self.is_it(other) && self.copied => self.replace(other, Access::Share),
            other if self.is_it(other) => self.refused = true,
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        // Their arguments are expressions like others.
        if (mac.path.is_ident("vec") || mac.path.is_ident("matches"))
            && macros::rewrite_arguments(mac, &mut |arg| self.visit_expr_mut(arg))
        {
            return;
        }
        let (written, refused) = (mac.tokens.clone(), self.refused);
        self.tokens(mac);
        if macros::keep_message(mac, written) {
            self.refused |= !macros::is_listed(mac) && !mac.path.is_ident("s");
        } else {
            self.refused = refused;
        }
    }
}
