//! How references to locals flow into values.
//!
//! A value can borrow from a local only if the expression that makes it takes a reference to one: `&x`, a closure's
//! capture, a macro's argument, a method call that may take its receiver by reference. Operators and calls hand on what
//! they are given. So three sets of variables decide, all of them by what is written, never by a method's name:
//!
//! * *numbers* are of primitive types, tuples or arrays of them: they hold nothing, and their methods are the language's;
//! * *outer* variables hold references, but only to what outlives the activation;
//! * *references* are those outer variables that certainly are a `&T`: a place behind one is outside the activation.
//!
//! **Invariant:** what is called `LocalBorrow::Never` makes no reference to a local. Completeness depends on it (generated code
//! compiles), soundness does not: rustc checks the borrows of generated code.

use std::collections::BTreeSet;

use syn::{Expr, Lit, Macro, Member, Pat, Type, UnOp};

use crate::item::model::Function;
use crate::resolve::resolution::VariableTypes;
use crate::std_models::facts::{Does, does};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_primitive, is_pure_function};
use crate::syntax::mentions::{self, bare, bare_type, is_compound, is_truth};
use crate::syntax::standard_macros::{elements, is_listed};
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::{self, At, Code, Next};

/// Whether a value may hold a reference to a local.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LocalBorrow {
    /// It holds none.
    Never,
    /// It may: that depends on types.
    Possible,
    /// It is one, or has one in it.
    Certain,
}

impl LocalBorrow {
    fn at_most_possible(self) -> LocalBorrow {
        self.min(LocalBorrow::Possible)
    }
}

/// What is known of a function's variables.
#[derive(Default, Debug)]
pub(crate) struct ReferenceFlow {
    params: BTreeSet<String>,
    locals: BTreeSet<String>,
    numbers: BTreeSet<String>,
    /// Those of the numbers that no method or function makes: the others are numbers if these are the language's.
    certain: BTreeSet<String>,
    /// Whether methods and functions of known names are taken for the language's.
    trusts: bool,
    outer: BTreeSet<String>,
    references: BTreeSet<String>,
}

/// What a variable gets its value from.
enum Origin<'a> {
    /// The value itself.
    Value(&'a Expr),
    /// A part of the value.
    Part(&'a Expr),
    /// What an iteration over it yields.
    Item(&'a Expr),
    /// Something that is not seen.
    Unknown,
}

impl ReferenceFlow {
    /// What is known of the variables of a function.
    pub(crate) fn of(function: &Function, types: &VariableTypes) -> ReferenceFlow {
        let mut flow =
            ReferenceFlow { locals: function.bindings.keys().cloned().collect(), ..ReferenceFlow::default() };
        for param in &function.params {
            let name = param.ident.to_string();
            flow.locals.insert(name.clone());
            if is_number_type(&param.ty) {
                flow.numbers.insert(name.clone());
            } else if is_shared_reference(&param.ty) {
                flow.outer.insert(name.clone());
                flow.references.insert(name.clone());
            }
            flow.params.insert(name);
        }
        for (name, ty) in types {
            if is_number_type(ty) {
                flow.numbers.insert(name.clone());
            }
        }
        let mut scan = Definitions::default();
        scan.visit_block(&function.body);
        flow.find_numbers(&scan);
        flow.certain = flow.numbers.clone();
        flow.trusts = true;
        flow.find_numbers(&scan);
        flow.find_outer(types, &scan);
        flow
    }

    /// Whether a variable is a number, or made of numbers.
    pub(crate) fn is_number(&self, name: &str) -> bool {
        self.numbers.contains(name)
    }

    /// Whether a variable is a number whatever methods and functions of known names make.
    pub(crate) fn is_certainly_number(&self, name: &str) -> bool {
        self.certain.contains(name)
    }

    /// Whether a variable holds references to what outlives the activation, and no others.
    pub(crate) fn is_outer(&self, name: &str) -> bool {
        self.outer.contains(name)
    }

    /// Whether a variable is a shared reference to what outlives the activation.
    pub(crate) fn is_reference(&self, name: &str) -> bool {
        self.references.contains(name)
    }

    fn find_numbers(&mut self, scan: &Definitions<'_>) {
        // In source order: what a value is made of comes first.
        for (pat, source) in &scan.patterns {
            match (pat, source) {
                (Pat::Type(t), _) if is_number_type(&t.ty) => self.add_numbers(&t.pat),
                (pat, Origin::Item(value)) if self.is_number_range(value) => self.add_numbers(pat),
                (pat, Origin::Value(value) | Origin::Part(value)) if self.is_number_value(value) => {
                    self.add_numbers(pat);
                }
                _ => {}
            }
        }
        for (name, value) in &scan.assigned {
            if scan.declared.contains(name) && self.is_number_value(value) {
                self.numbers.insert(name.clone());
            }
        }
    }

    fn add_numbers(&mut self, pat: &Pat) {
        let by_ref = mentions::bound_by_ref(pat);
        let names = mentions::names(pat).into_iter().filter(|name| !by_ref.contains(&name));
        self.numbers.extend(names.map(|name| name.to_string()));
    }

    /// Whether an expression certainly has a primitive type, or is made of such by tuples and arrays.
    pub(crate) fn is_number_value(&self, value: &Expr) -> bool {
        let value = bare(value);
        match value {
            Expr::Lit(e) => !matches!(e.lit, Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_) | Lit::Verbatim(_)),
            Expr::Path(p) => match p.path.get_ident() {
                Some(name) => self.numbers.contains(&name.to_string()),
                None => is_primitive_constant(&p.path),
            },
            Expr::Unary(e) => !matches!(e.op, UnOp::Deref(_)) && self.is_number_value(&e.expr),
            Expr::Binary(e) if is_truth(&e.op) => true,
            Expr::Binary(e) if is_compound(&e.op) => false,
            Expr::Binary(e) => self.is_number_value(&e.left) && self.is_number_value(&e.right),
            Expr::Cast(e) => is_primitive(&e.ty),
            Expr::MethodCall(e) => {
                self.trusts && is_pure_method(&e.method) && self.is_number_value(&e.receiver)
            }
            Expr::Call(e) => {
                self.trusts
                    && matches!(&*e.func, Expr::Path(p) if is_pure_function(p) && is_primitive_path(&p.path))
            }
            Expr::Field(e) => matches!(e.member, Member::Unnamed(_)) && self.is_number_value(&e.base),
            Expr::Index(e) => self.is_number_value(&e.expr) && self.is_number_value(&e.index),
            Expr::Tuple(e) => !e.elems.is_empty() && e.elems.iter().all(|e| self.is_number_value(e)),
            Expr::Array(e) => !e.elems.is_empty() && e.elems.iter().all(|e| self.is_number_value(e)),
            Expr::Repeat(e) => self.is_number_value(&e.expr),
            Expr::Let(_) => true,
            // All branches have one type.
            Expr::If(e) if e.else_branch.is_none() => false,
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Unsafe(_) => {
                tails(value).into_iter().flatten().any(|tail| self.is_number_value(tail))
            }
            _ => false,
        }
    }

    /// `0..n`: both ends have the same type.
    fn is_number_range(&self, value: &Expr) -> bool {
        match bare(value) {
            Expr::Range(e) => e.start.iter().chain(&e.end).any(|end| self.is_number_value(end)),
            Expr::MethodCall(e) if e.method == "rev" => self.is_number_range(&e.receiver),
            _ => false,
        }
    }

    /// The largest set of variables that get nothing but references to outside, and numbers with them.
    fn find_outer(&mut self, types: &VariableTypes, scan: &Definitions<'_>) {
        let names = scan.patterns.iter().flat_map(|(pat, _)| mentions::names(pat));
        let candidates = names.map(|name| name.to_string());
        for name in candidates.filter(|name| !self.params.contains(name) && !self.numbers.contains(name)) {
            self.outer.insert(name.clone());
            self.references.insert(name);
        }
        loop {
            let before = self.outer.len() + self.references.len();
            for (pat, source) in &scan.patterns {
                let names = mentions::names(pat);
                let by_ref = mentions::bound_by_ref(pat);
                let (outer, reference) = match source {
                    Origin::Value(value) => (self.is_handed(value), self.is_reference_value(value)),
                    // A temporary lives as long as what is matched.
                    Origin::Part(value) => {
                        (self.is_handed(value) && self.chain(value).is_some(), self.is_reference_value(value))
                    }
                    Origin::Item(value) => (self.is_handed(value), false),
                    Origin::Unknown => (false, false),
                };
                let outer = outer && by_ref.is_empty();
                // What a pattern takes out of a reference are references, but where it has a `&`.
                let copied = copied_by(pat);
                for ident in names {
                    let name = ident.to_string();
                    let known = types.get(&name).is_some_and(is_shared_reference);
                    let reference = (reference && !copied.contains(&ident)) || known;
                    self.keep(&name, outer, outer && reference);
                }
            }
            for (name, value) in &scan.assigned {
                self.keep(name, self.is_handed(value), self.is_reference_value(value));
            }
            scan.lent.iter().for_each(|name| self.keep(name, false, false));
            self.keep_grounded(scan);
            let outer = self.outer.clone();
            self.references.retain(|name| outer.contains(name));
            if before == self.outer.len() + self.references.len() {
                return;
            }
        }
    }

    /// Leaves a variable out, unless it is a parameter, of those that are `outer` or a `reference` if it is not.
    fn keep(&mut self, name: &str, outer: bool, reference: bool) {
        if self.params.contains(name) {
            return;
        }
        if !outer {
            self.outer.remove(name);
        }
        if !reference {
            self.references.remove(name);
        }
    }

    /// Leaves out variables that get constants only: what they hold is not known to be references.
    fn keep_grounded(&mut self, scan: &Definitions<'_>) {
        let mut grounded: BTreeSet<String> = self.params.clone();
        for (pat, source) in &scan.patterns {
            let (Origin::Value(value) | Origin::Part(value) | Origin::Item(value)) = source else { continue };
            if self.is_outer_value(value) {
                grounded.extend(mentions::names(pat).iter().map(ToString::to_string));
            }
        }
        let assigned = scan.assigned.iter().filter(|(_, value)| self.is_outer_value(value));
        grounded.extend(assigned.map(|(name, _)| name.clone()));
        self.outer.retain(|name| grounded.contains(name));
    }

    /// Whether a value is made of references to outside, or is a constant.
    fn is_handed(&self, value: &Expr) -> bool {
        let is_other =
            |name: &String| !self.outer.contains(name) && self.is_local(name) && !self.numbers.contains(name);
        let other = walk::any(value, |at| match at {
            At::Expr(Expr::Closure(closure)) if self.captured(closure) == LocalBorrow::Never => Next::Past,
            At::Expr(Expr::Closure(_)) | At::Macro(_) => Next::Found,
            At::Expr(expr) => mentions::name(expr).is_some_and(|name| is_other(&name)).into(),
            _ => Next::On,
        });
        !other && self.local_borrow(value) == LocalBorrow::Never
    }

    /// Whether a value is made of references to outside, and numbers.
    fn is_outer_value(&self, value: &Expr) -> bool {
        let outer = walk::any(value, |at| match at {
            At::Expr(Expr::Closure(_)) => Next::Past,
            At::Expr(expr) => mentions::name(expr).is_some_and(|name| self.outer.contains(&name)).into(),
            _ => Next::On,
        });
        outer && self.is_handed(value)
    }

    /// Whether a value certainly is a shared reference to outside.
    pub(crate) fn is_reference_value(&self, value: &Expr) -> bool {
        let value = bare(value);
        match value {
            Expr::Path(_) => mentions::name(value).is_some_and(|name| self.references.contains(&name)),
            Expr::Lit(e) => matches!(e.lit, Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_)),
            Expr::Reference(e) => e.mutability.is_none() && self.is_outside(&e.expr),
            Expr::If(e) => e.else_branch.is_some() && self.are_references(value),
            Expr::Match(_) | Expr::Block(_) => self.are_references(value),
            _ => false,
        }
    }

    fn are_references(&self, value: &Expr) -> bool {
        let tails = tails(value);
        !tails.is_empty() && tails.iter().all(|tail| tail.is_some_and(|tail| self.is_reference_value(tail)))
    }

    /// Whether a place is behind a reference to outside.
    fn is_outside(&self, place: &Expr) -> bool {
        match bare(place) {
            Expr::Field(e) => self.is_outside(&e.base) || self.is_reference_value(&e.base),
            Expr::Index(e) => self.is_outside(&e.expr) || self.is_reference_value(&e.expr),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                self.is_outside(&e.expr) || self.is_reference_value(&e.expr)
            }
            _ => false,
        }
    }

    /// Whether the value of an expression may hold a reference to a local.
    pub(crate) fn local_borrow(&self, value: &Expr) -> LocalBorrow {
        let all = |exprs: &mut dyn Iterator<Item = &Expr>| {
            exprs.map(|e| self.local_borrow(e)).max().unwrap_or(LocalBorrow::Never)
        };
        if self.is_number_value(value) {
            return LocalBorrow::Never;
        }
        let value = bare(value);
        match value {
            Expr::Lit(_) | Expr::Infer(_) => LocalBorrow::Never,
            Expr::Path(_) => match mentions::name(value) {
                Some(name) if self.is_local(&name) => self.of_variable(&name),
                _ => LocalBorrow::Never,
            },
            Expr::Reference(e) if self.is_outside(&e.expr) || is_constant(&e.expr) => LocalBorrow::Never,
            Expr::Reference(e) => match root(&e.expr) {
                Some(name) if !self.is_local(&name) => LocalBorrow::Never,
                _ => LocalBorrow::Certain,
            },
            Expr::MethodCall(e) => {
                let args = all(&mut e.args.iter()).at_most_possible();
                self.receiver(&e.receiver).max(args)
            }
            Expr::Call(e) => all(&mut e.args.iter()).at_most_possible().max(self.local_borrow(&e.func)),
            Expr::Macro(e) => self.of_macro(&e.mac),
            Expr::Unary(e) => self.local_borrow(&e.expr).at_most_possible(),
            Expr::Binary(e) if is_truth(&e.op) || is_compound(&e.op) => LocalBorrow::Never,
            Expr::Binary(e) => self.local_borrow(&e.left).max(self.local_borrow(&e.right)).at_most_possible(),
            Expr::Cast(e) if is_primitive(&e.ty) => LocalBorrow::Never,
            Expr::Cast(e) => self.local_borrow(&e.expr),
            Expr::Field(e) => self.local_borrow(&e.base),
            Expr::Index(e) => self.local_borrow(&e.expr).max(self.local_borrow(&e.index)).at_most_possible(),
            Expr::Try(e) => self.local_borrow(&e.expr),
            Expr::Tuple(e) => all(&mut e.elems.iter()),
            Expr::Array(e) => all(&mut e.elems.iter()),
            Expr::Repeat(e) => self.local_borrow(&e.expr),
            Expr::Struct(e) => {
                let rest = e.rest.as_ref().map_or(LocalBorrow::Never, |rest| self.local_borrow(rest));
                all(&mut e.fields.iter().map(|field| &field.expr)).max(rest)
            }
            Expr::Range(e) => all(&mut e.start.iter().chain(&e.end).map(|end| &**end)),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Unsafe(_) => {
                let of_tail =
                    |tail: Option<&Expr>| tail.map_or(LocalBorrow::Possible, |tail| self.local_borrow(tail));
                tails(value).into_iter().map(of_tail).max().unwrap_or(LocalBorrow::Never)
            }
            Expr::Closure(e) => self.captured(e),
            Expr::Assign(_) | Expr::While(_) | Expr::ForLoop(_) | Expr::Let(_) => LocalBorrow::Never,
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => LocalBorrow::Never,
            _ => LocalBorrow::Possible,
        }
    }

    /// The temporaries of an expression that what it yields may borrow from: what methods are called on, and what is referred to.
    pub(crate) fn temporaries<'e>(&self, code: &'e (impl Code + ?Sized)) -> Vec<&'e Expr> {
        let is_made =
            |e: &&Expr| matches!(e, Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_) | Expr::Try(_));
        let mut all = Vec::new();
        walk::each(code, |at| {
            let made = match at {
                At::Expr(Expr::MethodCall(e)) => Some(&*e.receiver),
                At::Expr(Expr::Reference(e)) => Some(&*e.expr),
                At::Expr(Expr::Field(e)) => Some(&*e.base),
                At::Expr(Expr::Index(e)) => Some(&*e.expr),
                At::Expr(Expr::Unary(e)) if matches!(e.op, UnOp::Deref(_)) => Some(&*e.expr),
                At::Expr(Expr::Closure(_) | Expr::Async(_)) => return Next::Past,
                _ => None,
            };
            all.extend(made.filter(is_made).filter(|e| !self.is_number_value(e)));
            Next::On
        });
        all
    }

    /// The temporaries of an expression, if they are what methods of the library's iterators, of an `Option` or a `Result` are called
    /// on that take them by value. That they are of such types rustc has to be asked ([`crate::ir::questions::Need::Chained`]).
    pub(crate) fn chain<'e>(&self, expr: &'e Expr) -> Option<Vec<&'e Expr>> {
        let all = self.temporaries(expr);
        let mut chain = Vec::new();
        let mut at = expr;
        loop {
            match bare(at) {
                Expr::MethodCall(e) => {
                    if all.iter().any(|temporary| std::ptr::eq(*temporary, &*e.receiver)) {
                        if !takes_receiver(&e.method.to_string()) {
                            return None;
                        }
                        chain.push(&*e.receiver);
                    }
                    at = &e.receiver;
                }
                Expr::Try(e) => at = &e.expr,
                _ => break,
            }
        }
        (chain.len() == all.len()).then_some(chain)
    }

    /// Whether what a call yields may borrow from its receiver, or hold what that holds.
    fn receiver(&self, receiver: &Expr) -> LocalBorrow {
        if self.is_outside(receiver) || self.is_reference_value(receiver) {
            return LocalBorrow::Never;
        }
        match root(receiver) {
            // A number's own methods borrow nothing; those of a user's trait may.
            Some(name) if self.is_local(&name) => LocalBorrow::Possible,
            _ => self.local_borrow(receiver).at_most_possible(),
        }
    }

    /// What a variable may hold.
    fn of_variable(&self, name: &str) -> LocalBorrow {
        // What a parameter holds outlives the activation.
        let outlives = [&self.params, &self.numbers, &self.outer].iter().any(|set| set.contains(name));
        if outlives { LocalBorrow::Never } else { LocalBorrow::Possible }
    }

    fn is_local(&self, name: &str) -> bool {
        self.locals.contains(name) || name.starts_with("__")
    }

    fn captured(&self, closure: &syn::ExprClosure) -> LocalBorrow {
        let own: BTreeSet<String> =
            closure.inputs.iter().flat_map(mentions::names).map(|name| name.to_string()).collect();
        let moves = closure.capture.is_some();
        let of_name = |name: &str| match (own.contains(name), moves) {
            (true, _) => LocalBorrow::Never,
            (false, true) => self.of_variable(name),
            (false, false) => LocalBorrow::Certain,
        };
        let mut captured = LocalBorrow::Never;
        walk::each(&*closure.body, |at| {
            captured = captured.max(match at {
                At::Expr(expr) => {
                    let name = mentions::name(expr).filter(|name| self.is_local(name));
                    name.map_or(LocalBorrow::Never, |name| of_name(&name))
                }
                At::Macro(_) => LocalBorrow::Certain,
                _ => LocalBorrow::Never,
            });
        });
        captured
    }

    fn of_macro(&self, mac: &Macro) -> LocalBorrow {
        if is_listed(mac) {
            return LocalBorrow::Never;
        }
        if mac.path.is_ident("vec")
            && let Some(elements) = elements(mac)
        {
            return elements.iter().map(|e| self.local_borrow(e)).max().unwrap_or(LocalBorrow::Never);
        }
        let text = mac.tokens.to_string();
        let local = mentions::words(&text).any(|word| self.is_local(word));
        if local { LocalBorrow::Possible } else { LocalBorrow::Never }
    }
}

/// Whether a method of the library's iterators, of an `Option` or a `Result` takes its receiver by value, or gives nothing of it.
fn takes_receiver(method: &str) -> bool {
    matches!(does(method), Does::Adapt | Does::End) && method != "by_ref" || method == "into_iter"
}

/// The patterns of a body with what they are matched against, in source order, and what is assigned.
#[derive(Default)]
struct Definitions<'a> {
    patterns: Vec<(&'a Pat, Origin<'a>)>,
    assigned: Vec<(String, &'a Expr)>,
    /// Variables that are declared without a value.
    declared: BTreeSet<String>,
    /// Those that something else may write: lent to be changed, or mentioned in a macro's tokens.
    lent: BTreeSet<String>,
}

impl<'a> Visit<'a> for Definitions<'a> {
    fn visit_local(&mut self, local: &'a syn::Local) {
        visit::visit_local(self, local);
        let source = match (&local.init, mentions::untyped(&local.pat)) {
            (Some(init), Pat::Ident(_)) if init.diverge.is_none() => Origin::Value(&init.expr),
            (Some(init), _) => Origin::Part(&init.expr),
            (None, _) => {
                self.declared.extend(mentions::names(&local.pat).iter().map(ToString::to_string));
                if matches!(local.pat, Pat::Type(_)) {
                    self.patterns.push((&local.pat, Origin::Unknown));
                }
                return;
            }
        };
        self.patterns.push((&local.pat, source));
    }
    fn visit_expr_let(&mut self, e: &'a syn::ExprLet) {
        visit::visit_expr_let(self, e);
        self.patterns.push((&e.pat, Origin::Part(&e.expr)));
    }
    fn visit_expr_for_loop(&mut self, e: &'a syn::ExprForLoop) {
        self.patterns.push((&e.pat, Origin::Item(&e.expr)));
        visit::visit_expr_for_loop(self, e);
    }
    fn visit_expr_match(&mut self, e: &'a syn::ExprMatch) {
        self.patterns.extend(e.arms.iter().map(|arm| (&arm.pat, Origin::Part(&e.expr))));
        visit::visit_expr_match(self, e);
    }
    fn visit_expr_closure(&mut self, e: &'a syn::ExprClosure) {
        self.patterns.extend(e.inputs.iter().map(|pat| (pat, Origin::Unknown)));
        visit::visit_expr_closure(self, e);
    }
    fn visit_expr_assign(&mut self, e: &'a syn::ExprAssign) {
        visit::visit_expr_assign(self, e);
        match &*e.left {
            path @ Expr::Path(_) => {
                self.assigned.extend(mentions::name(path).map(|name| (name, &*e.right)));
            }
            place => self.lent.extend(mentions::roots(place)),
        }
    }
    fn visit_expr_reference(&mut self, e: &'a syn::ExprReference) {
        visit::visit_expr_reference(self, e);
        if e.mutability.is_some() {
            self.lent.extend(root(&e.expr));
        }
    }
    fn visit_macro(&mut self, mac: &'a Macro) {
        if !is_listed(mac) {
            let text = mac.tokens.to_string();
            self.lent.extend(mentions::words(&text).map(ToString::to_string));
        }
    }
    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// What a pattern binds behind a `&` of its own: a copy of what a reference refers to.
fn copied_by(pat: &Pat) -> Vec<syn::Ident> {
    let mut copied = Vec::new();
    walk::each(pat, |at| {
        if let At::Pat(Pat::Reference(p)) = at {
            copied.extend(mentions::names(&p.pat));
        }
    });
    copied
}

/// The local or constant that a place is a part of; `None` if it is a part of a temporary, or behind a pointer that is made.
fn root(place: &Expr) -> Option<String> {
    Some(mentions::base(place)?.path.segments.last()?.ident.to_string())
}

/// The values that a choice or block may have; `None` for one that is not seen.
fn tails(expr: &Expr) -> Vec<Option<&Expr>> {
    // Of what has none there is nothing, or it never comes.
    let of_block = |block| crate::syntax::mentions::tail(block).map(tails).unwrap_or_default();
    match bare(expr) {
        Expr::If(e) => {
            let otherwise = e.else_branch.iter().flat_map(|(_, e)| tails(e));
            of_block(&e.then_branch).into_iter().chain(otherwise).collect()
        }
        Expr::Match(e) => e.arms.iter().flat_map(|arm| tails(&arm.body)).collect(),
        Expr::Block(e) if e.label.is_none() => of_block(&e.block),
        Expr::Block(_) => vec![None],
        Expr::Unsafe(e) => of_block(&e.block),
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => vec![],
        other => vec![Some(other)],
    }
}

/// Whether rustc gives a reference to it the lifetime `'static`.
fn is_constant(expr: &Expr) -> bool {
    let expr = bare(expr);
    match expr {
        Expr::Lit(_) => true,
        Expr::Unary(e) => matches!(e.op, UnOp::Neg(_)) && is_constant(&e.expr),
        Expr::Array(e) => e.elems.iter().all(is_constant),
        Expr::Tuple(e) => e.elems.iter().all(is_constant),
        _ => false,
    }
}

/// `u32::MAX`, `f64::consts::PI`.
fn is_primitive_constant(path: &syn::Path) -> bool {
    path.segments.len() > 1
        && crate::std_models::pure::is_constant(&syn::ExprPath {
            attrs: vec![],
            qself: None,
            path: path.clone(),
        })
        && is_primitive_path(path)
}

/// Whether a path leads through a primitive type, or the library's module of that name.
fn is_primitive_path(path: &syn::Path) -> bool {
    path.segments.iter().rev().skip(1).any(|segment| {
        let name = &segment.ident;
        is_primitive(&syn::parse_quote!(#name))
    })
}

/// Whether a type is primitive, or made of primitive ones by tuples and arrays.
pub(crate) fn is_number_type(ty: &Type) -> bool {
    match bare_type(ty) {
        Type::Array(t) => is_number_type(&t.elem),
        Type::Tuple(t) => t.elems.iter().all(is_number_type),
        other => is_primitive(other),
    }
}

/// Whether a type is a `&T`.
pub(crate) fn is_shared_reference(ty: &Type) -> bool {
    matches!(bare_type(ty), Type::Reference(r) if r.mutability.is_none())
}
