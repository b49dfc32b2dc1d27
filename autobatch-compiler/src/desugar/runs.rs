//! The statements for which a local has to live in place, where it can't all its life: from the first that lends it to
//! the last that mentions what may borrow from it. Before and behind them it is a local like any other, moved and
//! copied as its owner likes.
//!
//! What may borrow from it is overestimated ([`Flows`]): whatever is made of a borrow of the local, numbers aside, and whatever such a
//! thing is put in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Local, Pat, Stmt, Type, parse_quote};

use super::copies::{Copies, is_checked};
use super::moves::type_of_local;
use crate::guards::bound_guards;
use crate::input::Function;
use crate::lower::{certainly_owns, owns, tail, yields_number};
use crate::mentions::{self, bound_by_ref, is_part_of, roots};
use crate::signatures::Methods;

/// Methods whose result borrows nothing from their receiver.
const OWNED: [&str; 36] = [
    "clear",
    "clone",
    "cloned",
    "copied",
    "copy_from_slice",
    "dedup",
    "expect",
    "extend",
    "extend_from_slice",
    "fill",
    "into_boxed_slice",
    "into_iter",
    "ok_or",
    "pop",
    "pop_back",
    "pop_front",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "resize",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_unstable",
    "swap",
    "take",
    "to_owned",
    "to_string",
    "to_vec",
    "truncate",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

/// The functions of the program, by name.
pub(crate) struct Callees(BTreeMap<String, Callee>);

#[derive(Clone)]
struct Callee {
    /// Whether its result borrows nothing.
    owned: bool,
    /// For each parameter, whether a borrow can be put in what it gets.
    keep: Vec<bool>,
}

impl Callees {
    pub(crate) fn of(functions: &[Function]) -> Callees {
        let mut all: BTreeMap<String, Callee> = BTreeMap::new();
        for function in functions {
            let owns = |ty: &Type| owns(ty) || certainly_owns(&function.methods, ty);
            let keep = function.params.iter().map(|p| !owns(&p.ty)).collect();
            let callee = Callee { owned: owns(&function.output), keep };
            let known = all.entry(function.sig.ident.to_string()).or_insert_with(|| callee.clone());
            known.owned &= callee.owned;
            let other = |i: usize| callee.keep.get(i).is_none_or(|keep| *keep);
            known.keep.iter_mut().enumerate().for_each(|(i, keep)| *keep |= other(i));
        }
        Callees(all)
    }
}

/// A local and what is known of others.
pub(crate) struct Lent<'a> {
    pub(crate) name: &'a str,
    /// Whether it is a `&mut`, from which patterns borrow.
    pub(crate) reference: bool,
    pub(crate) copies: &'a Copies,
    /// The function that it is a local of.
    pub(crate) function: &'a Function,
    pub(crate) callees: &'a Callees,
    pub(crate) methods: &'a Methods,
}

impl Lent<'_> {
    /// Runs of statements of the block, of which the first `from` come before the local, in order.
    pub(super) fn runs(&self, block: &Block, from: usize) -> Vec<RangeInclusive<usize>> {
        let mut runs: Vec<RangeInclusive<usize>> = Vec::new();
        let mut at = from;
        while let Some(first) = (at..block.stmts.len()).find(|i| self.lends(&block.stmts[*i])) {
            let mut last = first;
            let mut borrowers = BTreeSet::new();
            loop {
                let known = borrowers.len();
                for stmt in &block.stmts[first..=last] {
                    Flows::of(self, stmt).run(&mut borrowers);
                }
                let through =
                    |i: &usize| mentions(&block.stmts[*i]).iter().any(|name| borrowers.contains(name));
                let guards =
                    block.stmts[first..=last].iter().filter_map(|stmt| bound_guards(self.methods, stmt));
                let mut names = guards.flat_map(|(names, _)| names);
                if names.any(|name| borrowers.contains(&name.to_string())) {
                    // It is dropped where the block ends.
                    last = block.stmts.len() - 1;
                    break;
                }
                match (last + 1..block.stmts.len()).rev().find(through) {
                    Some(further) => last = further,
                    None if borrowers.len() == known => break,
                    None => {}
                }
            }
            runs.push(first..=last);
            at = last + 1;
        }
        // One that crosses nothing need not be one.
        runs.retain(|run| block.stmts[run.clone()].iter().any(may_split));
        runs
    }

    /// The variables that may borrow from the local behind the statements.
    pub(crate) fn borrowers(&self, stmts: &[Stmt]) -> BTreeSet<String> {
        let mut borrowers = BTreeSet::new();
        let mut known = None;
        while known != Some(borrowers.len()) {
            known = Some(borrowers.len());
            stmts.iter().for_each(|stmt| Flows::of(self, stmt).run(&mut borrowers));
        }
        borrowers
    }

    /// Whether statements mention the local.
    pub(super) fn is_mentioned(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| mentions(stmt).contains(self.name))
    }

    /// The blocks of which a statement runs one, if what chooses does not lend the local, and nothing that is put in another
    /// variable may borrow from it.
    pub(super) fn branches<'b>(&self, stmt: &'b mut Stmt) -> Vec<&'b mut Block> {
        let mut blocks = Vec::new();
        let mut borrowers = BTreeSet::new();
        Flows::of(self, stmt).run(&mut borrowers);
        let borrows =
            |pat: &Pat| mentions::names(pat).iter().any(|ident| borrowers.contains(&ident.to_string()));
        match stmt {
            Stmt::Expr(expr, _) => self.branches_of(expr, &mut blocks),
            Stmt::Local(Local { init: Some(init), pat, .. }) if init.diverge.is_none() && !borrows(pat) => {
                self.branches_of(&mut init.expr, &mut blocks);
            }
            _ => {}
        }
        blocks
    }

    fn branches_of<'b>(&self, expr: &'b mut Expr, blocks: &mut Vec<&'b mut Block>) {
        let lends = |chooses: &Expr| {
            let mut lends = Lends { lent: self, found: false };
            lends.visit_expr(chooses);
            lends.found
        };
        match expr {
            Expr::Block(e) if e.label.is_none() => blocks.push(&mut e.block),
            Expr::If(e) if !lends(&e.cond) => {
                blocks.push(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.branches_of(otherwise, blocks);
                }
            }
            Expr::Match(e) if !lends(&e.expr) && !is_part_of(&e.expr, self.name) => {
                let guarded = |arm: &syn::Arm| match &arm.pat {
                    Pat::Guard(p) => lends(&p.guard),
                    _ => false,
                };
                if !e.arms.iter().any(guarded) {
                    for body in e.arms.iter_mut().map(|arm| &mut *arm.body) {
                        if !matches!(body, Expr::Block(_) | Expr::If(_) | Expr::Match(_)) && lends(body) {
                            *body = parse_quote!({ #body });
                        }
                        self.branches_of(body, blocks);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether another local certainly borrows nothing of this one. A parameter's type is the signature's, whose lifetimes no local
    /// has.
    fn owns(&self, name: &str) -> bool {
        let owned = |ty: &Type| certainly_owns(self.methods, ty);
        self.copies.contains(name)
            || self.function.params.iter().any(|p| p.pattern.is_none() && p.ident == name)
            || type_of_local(self.function, name).is_some_and(|ty| owned(&ty))
    }

    fn is_part(&self, place: &Expr) -> bool {
        is_part_of(place, self.name)
    }

    /// Whether what a method yields borrows nothing from its receiver.
    fn yields_owned(&self, method: &syn::Ident) -> bool {
        let library = yields_number(method)
            || crate::lockstep::is_pure_method(method)
            || OWNED.contains(&method.to_string().as_str());
        self.methods.borrow_nothing(method)
            || (library && self.methods.of(method).is_none_or(|own| !own.borrows))
    }

    /// The function of the program that is called.
    fn callee(&self, call: &syn::ExprCall) -> Option<&Callee> {
        let Expr::Path(p) = &*call.func else { return None };
        let segments = &p.path.segments;
        let fits = match (segments.len(), self.function.associated) {
            (1, false) => !self.function.bindings.contains_key(&segments[0].ident.to_string()),
            (2, true) => segments[0].ident == "Self",
            _ => false,
        };
        let plain = p.qself.is_none() && p.path.leading_colon.is_none();
        (plain && fits).then(|| self.callees.0.get(&segments.last()?.ident.to_string())).flatten()
    }

    /// Whether a statement may borrow from the local: it does more than to read or change a value, or to move it.
    fn lends(&self, stmt: &Stmt) -> bool {
        let mut lends = Lends { lent: self, found: false };
        lends.visit_stmt(stmt);
        lends.found
    }
}

/// Whether a statement may become blocks: it has a loop, or a call.
pub(super) fn may_split(stmt: &Stmt) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= matches!(expr, Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) | Expr::Call(_));
            visit::visit_expr(self, expr);
        }
    }
    let mut scan = Scan(false);
    scan.visit_stmt(stmt);
    scan.0
}

struct Lends<'a> {
    lent: &'a Lent<'a>,
    found: bool,
}

impl Lends<'_> {
    fn matched(&mut self, pat: &Pat, value: &Expr) {
        let by_ref = !bound_by_ref(pat).is_empty();
        let plain = matches!(pat, Pat::Ident(_) | Pat::Type(_) | Pat::Wild(_));
        self.found |= self.lent.is_part(value) && (by_ref || (self.lent.reference && !plain));
    }
}

impl<'ast> Visit<'ast> for Lends<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Reference(e) => self.found |= self.lent.is_part(&e.expr),
            Expr::MethodCall(e) => {
                let owned = self.lent.yields_owned(&e.method);
                self.found |= !owned && self.lent.is_part(&e.receiver);
            }
            Expr::Closure(_) => {
                self.found |= mentioned_in(expr).contains(self.lent.name);
            }
            Expr::Let(e) => self.matched(&e.pat, &e.expr),
            Expr::Match(e) => e.arms.iter().for_each(|arm| self.matched(&arm.pat, &e.expr)),
            Expr::ForLoop(e) => self.found |= self.lent.is_part(&e.expr) && self.lent.reference,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init {
            self.matched(&local.pat, &init.expr);
        }
        visit::visit_local(self, local);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let mut mentions = Mentions::default();
        mentions.visit_macro(mac);
        self.found |= mentions.0.contains(self.lent.name);
    }
}

/// The names in a statement.
pub(crate) fn mentions(stmt: &Stmt) -> BTreeSet<String> {
    let mut mentions = Mentions::default();
    mentions.visit_stmt(stmt);
    mentions.0
}

pub(crate) fn mentioned_in(expr: &Expr) -> BTreeSet<String> {
    let mut mentions = Mentions::default();
    mentions.visit_expr(expr);
    mentions.0
}

#[derive(Default)]
struct Mentions(BTreeSet<String>);

impl Mentions {
    fn tokens(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) => _ = self.0.insert(ident.to_string()),
                TokenTree::Group(group) => self.tokens(group.stream()),
                // A format string's.
                TokenTree::Literal(lit) => {
                    let text = lit.to_string();
                    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(String::from);
                    self.0.extend(words);
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_expr_path(&mut self, p: &'ast syn::ExprPath) {
        self.0.extend(p.path.get_ident().map(|i| i.to_string()));
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(mac.tokens.clone());
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// What is put where in a statement.
struct Flows<'a, 'ast> {
    lent: &'a Lent<'a>,
    all: Vec<(&'ast Expr, Vec<String>)>,
}

impl<'a, 'ast> Flows<'a, 'ast> {
    fn of(lent: &'a Lent<'a>, stmt: &'ast Stmt) -> Self {
        let mut flows = Flows { lent, all: Vec::new() };
        flows.visit_stmt(stmt);
        flows
    }

    fn bound(&mut self, value: &'ast Expr, pat: &Pat) {
        if !matches!(pat, Pat::Type(t) if owns(&t.ty)) {
            self.all.push((value, mentions::names(pat).iter().map(ToString::to_string).collect()));
        }
    }

    /// Adds what may borrow from the local behind the statement.
    fn run(&self, borrowers: &mut BTreeSet<String>) {
        let lent = self.lent;
        loop {
            let before = borrowers.len();
            for (value, places) in &self.all {
                if yields(lent, borrowers, value) {
                    let new = places.iter().filter(|name| *name != lent.name && !lent.owns(name));
                    borrowers.extend(new.cloned());
                }
            }
            if borrowers.len() == before {
                return;
            }
        }
    }
}

impl<'ast> Visit<'ast> for Flows<'_, 'ast> {
    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init {
            self.bound(&init.expr, &local.pat);
        }
        visit::visit_local(self, local);
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Let(e) => self.bound(&e.expr, &e.pat),
            Expr::Match(e) => e.arms.iter().for_each(|arm| self.bound(&e.expr, &arm.pat)),
            Expr::ForLoop(e) => self.bound(&e.expr, &e.pat),
            Expr::Assign(e) => self.all.push((&e.right, roots(&e.left))),
            // Any of them may be a `&mut`, in which the others are put.
            Expr::MethodCall(e) => {
                let all: Vec<&Expr> = e.args.iter().collect();
                let mut places = roots(&e.receiver);
                places.extend(all.iter().flat_map(|arg| roots(arg)));
                self.all.extend(all.into_iter().map(|arg| (arg, places.clone())));
            }
            Expr::Call(e) => {
                let callee = self.lent.callee(e);
                let keeps = |i: usize| callee.and_then(|callee| callee.keep.get(i)).is_none_or(|keep| *keep);
                let kept = e.args.iter().enumerate().filter(|(i, _)| keeps(*i));
                let places: Vec<String> = kept.flat_map(|(_, arg)| roots(arg)).collect();
                self.all.extend(e.args.iter().map(|arg| (arg, places.clone())));
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a value may borrow from the local.
fn yields(lent: &Lent<'_>, borrowers: &BTreeSet<String>, expr: &Expr) -> bool {
    let among = |expr: &Expr| yields(lent, borrowers, expr);
    let mentions =
        |expr: &Expr| mentioned_in(expr).iter().any(|name| name == lent.name || borrowers.contains(name));
    match expr {
        Expr::Path(p) => p.path.get_ident().is_some_and(|ident| {
            (lent.reference && ident == lent.name) || borrowers.contains(&ident.to_string())
        }),
        Expr::Lit(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Assign(_) => false,
        Expr::Paren(e) => among(&e.expr),
        Expr::Group(e) => among(&e.expr),
        Expr::Try(e) => among(&e.expr),
        Expr::Field(e) => among(&e.base),
        Expr::Index(e) => among(&e.expr),
        Expr::Unary(e) => matches!(e.op, syn::UnOp::Deref(_)) && among(&e.expr),
        Expr::Tuple(e) => e.elems.iter().any(among),
        Expr::Array(e) => e.elems.iter().any(among),
        Expr::Range(e) => [&e.start, &e.end].into_iter().flatten().any(|end| among(end)),
        Expr::Struct(e) => {
            e.fields.iter().any(|field| among(&field.expr)) || e.rest.as_deref().is_some_and(among)
        }
        Expr::Call(e) => lent.callee(e).is_none_or(|callee| !callee.owned) && e.args.iter().any(among),
        Expr::Block(e) if e.label.is_none() => tail(&e.block).is_some_and(among),
        Expr::If(e) => {
            tail(&e.then_branch).is_some_and(among)
                || e.else_branch.as_ref().is_some_and(|(_, otherwise)| among(otherwise))
        }
        Expr::Match(e) => e.arms.iter().any(|arm| among(&arm.body)),
        Expr::MethodCall(e)
            if (yields_number(&e.method) && lent.yields_owned(&e.method)) || is_checked(&e.method) =>
        {
            false
        }
        Expr::MethodCall(e) => {
            let owned = lent.yields_owned(&e.method);
            among(&e.receiver) || (!owned && lent.is_part(&e.receiver)) || e.args.iter().any(among)
        }
        other => mentions(other),
    }
}

/// Does something in the block in which a local is defined, told how many of its statements come before it can be mentioned.
pub(super) struct InBlockOf<'a, F> {
    name: &'a str,
    then: F,
}

impl<'a, F: FnMut(&mut Block, usize)> InBlockOf<'a, F> {
    pub(super) fn new(name: &'a str, then: F) -> Self {
        InBlockOf { name, then }
    }

    fn binds(&self, pat: &Pat) -> bool {
        mentions::names(pat).iter().any(|ident| ident == self.name)
    }

    fn binds_if_true(&self, cond: &Expr) -> bool {
        match cond {
            Expr::Let(e) => self.binds(&e.pat),
            Expr::Binary(e) => self.binds_if_true(&e.left) || self.binds_if_true(&e.right),
            Expr::Paren(e) => self.binds_if_true(&e.expr),
            _ => false,
        }
    }
}

impl<F: FnMut(&mut Block, usize)> VisitMut for InBlockOf<'_, F> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let defines = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if local.init.is_some() && self.binds(&local.pat));
        match block.stmts.iter().position(defines) {
            Some(at) => (self.then)(block, at + 1),
            None => visit_mut::visit_block_mut(self, block),
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(e) if self.binds_if_true(&e.cond) => (self.then)(&mut e.then_branch, 0),
            Expr::While(e) if self.binds_if_true(&e.cond) => (self.then)(&mut e.body, 0),
            Expr::ForLoop(e) if self.binds(&e.pat) => (self.then)(&mut e.body, 0),
            Expr::Closure(_) => {}
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        match &mut *arm.body {
            Expr::Block(e) if e.label.is_none() && self.binds(&arm.pat) => (self.then)(&mut e.block, 0),
            _ => visit_mut::visit_arm_mut(self, arm),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
