//! Guards: values that do something when they are dropped, at the end of their block, though nothing mentions them until then. What they
//! borrow from has to be there still, and what comes behind them has not been done yet.

use std::collections::BTreeSet;

use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, Member, Pat, Path, Stmt, Type, UnOp, parse_quote};

use crate::desugar::in_place;
use crate::desugar::moves::is_copied;
use crate::desugar::{mentioned_in, mentions};
use crate::formats;
use crate::lower::{certainly_owns, leaving, tail, unseen};
use crate::mentions::{self, bindings, is_part_of, is_variable};
use crate::signatures::{Methods, Takes};

/// Methods of the library that yield guards.
const GUARDS: [&str; 8] =
    ["borrow", "borrow_mut", "drain", "lock", "peek_mut", "try_borrow", "try_borrow_mut", "try_lock"];

/// Types of the library that drop no more than what they hold.
const HOLDS: [&str; 8] = ["Arc", "Box", "Cow", "Err", "Ok", "Rc", "Some", "Vec"];

/// Whether a value that borrows may be a guard, or hold one: all may of which the file does not show that they are none.
pub(crate) fn may_be_guard(methods: &Methods, value: &Expr) -> bool {
    let among = |value: &Expr| may_be_guard(methods, value);
    match value {
        Expr::Paren(e) => among(&e.expr),
        Expr::Group(e) => among(&e.expr),
        Expr::Try(e) => among(&e.expr),
        Expr::Tuple(e) => e.elems.iter().any(among),
        Expr::Array(e) => e.elems.iter().any(among),
        Expr::Struct(e) => is_guard(methods, &e.path) || e.fields.iter().any(|field| among(&field.expr)),
        Expr::Call(e) => match &*e.func {
            Expr::Path(p) if is_capitalised(&p.path) => {
                is_guard(methods, &p.path) || e.args.iter().any(among)
            }
            Expr::Path(p) => {
                let result = p.path.segments.last().and_then(|last| methods.result(&last.ident));
                !result.is_some_and(|ty| certainly_owns(methods, ty))
            }
            _ => true,
        },
        Expr::MethodCall(e) => {
            let known = methods.of(&e.method);
            let guard = known.is_none() && GUARDS.iter().any(|name| e.method == name);
            let unknown = known.is_some_and(|own| own.borrows && !own.refers);
            guard || unknown || unseen::is_unseen(methods, &e.method) || among(&e.receiver)
        }
        Expr::If(e) => {
            tail(&e.then_branch).is_some_and(among) || e.else_branch.as_ref().is_some_and(|(_, e)| among(e))
        }
        Expr::Match(e) => e.arms.iter().any(|arm| among(&arm.body)),
        Expr::Block(e) => tail(&e.block).is_some_and(among),
        Expr::Macro(e) => methods.lends(&e.mac),
        _ => false,
    }
}

/// The names that a statement binds, with their value, if that may be a guard.
pub(crate) fn bound_guards<'a>(methods: &Methods, stmt: &'a Stmt) -> Option<(Vec<Ident>, &'a Expr)> {
    let Stmt::Local(local) = stmt else { return None };
    let value = &*local.init.as_ref()?.expr;
    may_be_guard(methods, value).then(|| (mentions::names(&local.pat), value))
}

/// A guard that a statement binds, or something else that may be one, and that ends with the block.
pub(crate) struct Left<'a> {
    /// The statement.
    pub(crate) at: usize,
    pub(crate) name: Ident,
    pub(crate) value: &'a Expr,
    /// Whether it certainly does something when it is dropped, by what the file shows.
    pub(crate) certain: bool,
    /// Whether it is there for nothing but that.
    pub(crate) unmentioned: bool,
    /// The statement that mentions it last, by a method that may move it.
    pub(crate) spent: Option<usize>,
}

/// The guards that statements bind and that end with them: they are not moved, as far as the file shows. `known` are those of the body,
/// `type_of` knows the types of variables.
pub(crate) fn left<'a>(
    methods: &Methods,
    known: &OfBody,
    stmts: &'a [Stmt],
    type_of: &dyn Fn(&Ident) -> Option<Type>,
) -> Vec<Left<'a>> {
    let mut guards = Vec::new();
    for (at, stmt) in stmts.iter().enumerate() {
        let Stmt::Local(syn::Local { pat, init: Some(init), .. }) = stmt else { continue };
        let (value, behind) = (&*init.expr, &stmts[at + 1..]);
        let placed = in_place::placed(value).is_some();
        let may_be = may_be_guard(methods, value) || known.may_be.iter().any(|name| is_variable(value, name));
        for name in mentions::names(pat) {
            let ty = type_of(&name);
            let certain =
                known.certain.contains(&name.to_string()) || ty.as_ref().is_some_and(|ty| methods.drops(ty));
            let whole =
                known.whole.contains(&name.to_string()) || ty.is_some_and(|ty| is_whole(methods, &ty));
            if !may_be && !certain {
                continue;
            }
            let spent = match end(methods, known, &name, (whole, placed), behind) {
                End::Moved => continue,
                End::Spent(last) => Some(at + 1 + last),
                End::Left => None,
            };
            let text = name.to_string();
            let unmentioned = !behind.iter().any(|stmt| mentions(stmt).contains(&text));
            guards.push(Left { at, name, value, certain, unmentioned, spent });
        }
    }
    guards
}

/// Whether values of the type are not taken apart, because they have a `drop`.
pub(crate) fn is_whole(methods: &Methods, ty: &Type) -> bool {
    let name = |path: &Path| path.segments.last().map(|last| last.ident.to_string());
    matches!(ty, Type::Path(p) if name(&p.path).is_some_and(|name| methods.is_dropped(&name)))
}

/// What becomes of a variable in statements.
#[derive(PartialEq)]
pub(crate) enum End {
    /// It is there behind them.
    Left,
    /// The one at this place mentions it last, by a method that is not known and may take it.
    Spent(usize),
    /// It may be moved, or a part of it.
    Moved,
}

/// What becomes of a variable in statements. No part of a guard that is a `whole` can be moved. One that is `placed` is only mentioned as a
/// place.
pub(crate) fn end(
    methods: &Methods,
    known: &OfBody,
    name: &Ident,
    (whole, placed): (bool, bool),
    stmts: &[Stmt],
) -> End {
    let text = name.to_string();
    let last = stmts.iter().rposition(|stmt| mentions(stmt).contains(&text));
    let mut end = End::Left;
    for (at, stmt) in stmts.iter().enumerate() {
        let mut moves =
            Moves { methods, known, name: &text, whole, placed, found: false, unclear: false, leaves: false };
        moves.visit_stmt(stmt);
        if moves.found {
            return End::Moved;
        }
        // One that is mentioned again has not been taken.
        if moves.unclear && last == Some(at) {
            end = End::Spent(at);
        }
    }
    end
}

/// Whether a value does something when it is dropped: the library's guards, and what mentions such types of the file.
pub(crate) fn is_certain(methods: &Methods, value: &Expr) -> bool {
    match value {
        Expr::Paren(e) => is_certain(methods, &e.expr),
        Expr::Group(e) => is_certain(methods, &e.expr),
        Expr::Try(e) => is_certain(methods, &e.expr),
        Expr::Tuple(e) => e.elems.iter().any(|e| is_certain(methods, e)),
        Expr::Array(e) => e.elems.iter().any(|e| is_certain(methods, e)),
        Expr::Unary(_) | Expr::Field(_) | Expr::Index(_) | Expr::Reference(_) => false,
        Expr::MethodCall(e) if e.method == "unwrap" || e.method == "expect" => {
            is_certain(methods, &e.receiver)
        }
        Expr::MethodCall(e) => methods.of(&e.method).is_none() && GUARDS.iter().any(|name| e.method == name),
        Expr::Call(_) if let Some(value) = in_place::placed(value) => is_certain(methods, value),
        Expr::Call(e)
            if let Expr::Path(p) = &*e.func
                && let Some(last) = p.path.segments.last()
                && let Some(ty) = methods.result(&last.ident) =>
        {
            match p.path.segments.iter().rev().nth(1) {
                Some(of) if *ty == parse_quote!(Self) => {
                    methods.drops_named(&of.ident.to_string(), &mut BTreeSet::new())
                }
                _ => methods.drops(ty),
            }
        }
        _ => {
            let dropped = |name: &str| methods.drops_named(name, &mut BTreeSet::new());
            leaving::mentions(value.to_token_stream(), &dropped)
        }
    }
}

/// Where a value becomes a lock that others wait for, if it is one.
pub(crate) fn locked_by<'a>(methods: &Methods, value: &'a Expr) -> Option<&'a Ident> {
    match value {
        Expr::Paren(e) => locked_by(methods, &e.expr),
        Expr::Group(e) => locked_by(methods, &e.expr),
        Expr::Try(e) => locked_by(methods, &e.expr),
        Expr::MethodCall(e) if e.method == "unwrap" || e.method == "expect" => {
            locked_by(methods, &e.receiver)
        }
        Expr::MethodCall(e) => {
            let known = e.method == "lock" || e.method == "write";
            (known && e.args.is_empty() && methods.of(&e.method).is_none()).then_some(&e.method)
        }
        _ => None,
    }
}

/// The names of all guards of a body, whatever binds them.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct OfBody {
    pub(crate) may_be: BTreeSet<String>,
    /// Those that certainly do something when they are dropped.
    pub(crate) certain: BTreeSet<String>,
    /// Those of which no part is moved.
    whole: BTreeSet<String>,
    /// What may hold anything: `Box<dyn Fn()>`.
    dynamic: BTreeSet<String>,
    /// What is changed by shared references: `Cell::new(0)`.
    pub(crate) changing: BTreeSet<String>,
    /// Fields that are copied where they are mentioned, and those of which nothing is moved.
    copied: BTreeSet<String>,
    wholes: BTreeSet<String>,
}

impl OfBody {
    /// Whether a variable has to be there no longer when something is dropped that it borrows from: it may mention that when it is dropped
    /// itself.
    pub(crate) fn may_look_back(&self, name: &str) -> bool {
        [&self.may_be, &self.certain, &self.dynamic].iter().any(|names| names.contains(name))
    }

    pub(crate) fn find(methods: &Methods, body: &Block) -> OfBody {
        let bindings = bindings(body);
        let copied = methods.fields_of(&|ty| is_copied(methods, ty));
        let wholes = methods.fields_of(&|ty| is_whole(methods, ty));
        let mut found = OfBody { copied, wholes, ..OfBody::default() };
        for (pat, value, _) in &bindings {
            let value = in_place::placed(value).unwrap_or(value);
            let holds = |such: &dyn Fn(&str) -> bool| {
                leaving::mentions(quote!(#pat #value), &|word| methods.mentions_in(word, such))
            };
            let names = || mentions::names(pat).into_iter().map(|name| name.to_string());
            if holds(&|word| word == "dyn") {
                found.dynamic.extend(names());
            }
            if holds(&|word| changes(methods, word)) {
                found.changing.extend(names());
            }
        }
        loop {
            let before = found.clone();
            for (pat, value, _) in &bindings {
                let value = in_place::placed(value).unwrap_or(value);
                let names = || mentions::names(pat).into_iter().map(|name| name.to_string());
                if may_be_guard(methods, value) || found.may_be.iter().any(|name| is_part_of(value, name)) {
                    found.may_be.extend(names());
                }
                if is_certain(methods, value) || found.certain.iter().any(|name| is_variable(value, name)) {
                    found.certain.extend(names());
                }
                let of = |known: &BTreeSet<String>| known.iter().any(|name| is_part_of(value, name));
                if of(&found.dynamic) {
                    found.dynamic.extend(names());
                }
                if of(&found.changing) {
                    found.changing.extend(names());
                }
                let made = match value {
                    Expr::Struct(e) => is_guard(methods, &e.path),
                    Expr::Call(e) => matches!(&*e.func, Expr::Path(p) if is_guard(methods, &p.path)),
                    _ => found.whole.iter().any(|name| is_variable(value, name)),
                };
                if made && matches!(pat, Pat::Ident(_) | Pat::Type(_)) {
                    found.whole.extend(names());
                }
            }
            if found == before {
                return found;
            }
        }
    }
}

/// Finds what may move a variable, or a part of it, which can't be done to a guard that is a `whole`.
struct Moves<'a> {
    methods: &'a Methods,
    known: &'a OfBody,
    name: &'a str,
    whole: bool,
    placed: bool,
    found: bool,
    /// Whether a method that is not known gets it.
    unclear: bool,
    /// Whether control leaves the path.
    leaves: bool,
}

impl Moves<'_> {
    /// Code that runs or not: if control leaves from there, what a method gets there may be taken, whatever is mentioned behind.
    fn path(&mut self, visit: impl FnOnce(&mut Self)) {
        let (unclear, leaves) = (std::mem::take(&mut self.unclear), std::mem::take(&mut self.leaves));
        visit(self);
        self.found |= self.unclear && self.leaves;
        self.unclear |= unclear;
        self.leaves = leaves;
    }

    /// Whether mentioning a part moves nothing.
    fn stays(&self, e: &syn::ExprField) -> bool {
        let among = |names: &BTreeSet<String>, member: &Member| matches!(member, Member::Named(name) if names.contains(&name.to_string()));
        let of_whole = matches!(&*e.base, Expr::Field(base) if among(&self.known.wholes, &base.member));
        self.whole || of_whole || among(&self.known.copied, &e.member)
    }
}

impl<'ast> Visit<'ast> for Moves<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.leaves |= matches!(expr, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_));
        let inner = match expr {
            Expr::Reference(e) => Some(&e.expr),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => Some(&e.expr),
            Expr::Index(e) => {
                self.visit_expr(&e.index);
                Some(&e.expr)
            }
            Expr::Field(e) if self.stays(e) => {
                let mut base = &e.base;
                while let Expr::Field(outer) = &**base {
                    base = &outer.base;
                }
                Some(base)
            }
            Expr::MethodCall(e) => {
                e.args.iter().for_each(|arg| self.visit_expr(arg));
                let takes = self.methods.known(&e.method).and_then(|method| method.takes);
                let it = is_variable(&e.receiver, self.name);
                if self.placed || takes != Some(Takes::Value) && (takes.is_some() || it) {
                    self.unclear |= it && !self.placed && takes.is_none();
                    Some(&e.receiver)
                } else {
                    return self.visit_expr(&e.receiver);
                }
            }
            _ => None,
        };
        match inner {
            Some(place) if is_variable(place, self.name) => {}
            Some(place) => self.visit_expr(place),
            None => visit::visit_expr(self, expr),
        }
        self.found |= is_variable(expr, self.name);
    }
    fn visit_block(&mut self, block: &'ast Block) {
        self.path(|moves| visit::visit_block(moves, block));
    }
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.path(|moves| visit::visit_arm(moves, arm));
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(args) = formats::looked_at(mac) {
            let values = args.iter().filter(|arg| !is_part_of(arg, self.name));
            values.for_each(|arg| Visit::visit_expr(self, arg));
        } else {
            let whole = syn::ExprMacro { attrs: vec![], mac: mac.clone() };
            self.found |= mentioned_in(&Expr::Macro(whole)).contains(self.name);
        }
    }
    fn visit_expr_closure(&mut self, e: &'ast syn::ExprClosure) {
        // It may own what it mentions.
        self.found |= e.capture.is_some() && mentioned_in(&e.body).contains(self.name);
        visit::visit_expr_closure(self, e);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a word of a type says that shared references change its values. What is behind a `dyn` may be such.
pub(crate) fn changes(methods: &Methods, word: &str) -> bool {
    word == "dyn" || methods.is_shared_to_change(word)
}

/// Whether values of the type that a path names, or makes one of, may be guards.
fn is_guard(methods: &Methods, path: &Path) -> bool {
    let mut names = path.segments.iter().map(|segment| segment.ident.to_string());
    let of_type = |name: String| {
        let holds = HOLDS.contains(&name.as_str()) || name == "__rt";
        holds || (methods.has_type(&name) && !methods.is_dropped(&name))
    };
    !names.any(of_type)
}

fn is_capitalised(path: &Path) -> bool {
    let mut names = path.segments.iter().rev().take(2).map(|segment| segment.ident.to_string());
    names.any(|name| name.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_what_the_file_does_not_know_better() {
        let mut methods = Methods::default();
        methods.add_file(&parse_quote! {
            struct Plain<'a>(&'a [u8]);
            struct Guard<'a>(&'a [u8]);
            impl Drop for Guard<'_> { fn drop(&mut self) {} }
            impl Plain<'_> { fn part(&self) -> &u8 { &self.0[0] } fn inner(&self) -> Plain<'_> { Plain(self.0) } }
        });
        for guard in [
            "Guard(&x)",
            "Guard::new(&x)",
            "Some(Guard(&x))",
            "Other { x: &x }",
            "c.borrow_mut()",
            "m.lock().unwrap()",
            "p.inner()",
            "f(&x)",
        ] {
            assert!(may_be_guard(&methods, &syn::parse_str(guard).unwrap()), "{guard}");
        }
        for none in [
            "&x",
            "Plain(&x)",
            "Plain::new(&x)",
            "x.iter().map(|y| y + 1)",
            "x.first().unwrap()",
            "p.part()",
            "(&x, 1)",
        ] {
            assert!(!may_be_guard(&methods, &syn::parse_str(none).unwrap()), "{none}");
        }
    }
}
