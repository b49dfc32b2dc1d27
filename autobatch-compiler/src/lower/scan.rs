//! Questions about user code that the lowering asks before it decides what becomes blocks.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, Macro, Stmt, parse_quote};

use super::{Lowering, borrowing, chains, lent, primitive, uniform, worth};
use crate::desugar::is_listed;
use crate::effects::{Names, Node, bound, effects, variable};
use crate::input::Function;
use crate::ir::{self, FuncId, VarId, VarSet};
use crate::lockstep;
use crate::mentions::{is_punct, map_tokens};
use crate::passes::fusion::HEAVY;
use crate::resolve;

/// The program function that a call names, if the call can be a batched one.
pub(super) fn callee(lower: &Lowering<'_>, expr: &Expr) -> Option<FuncId> {
    let (id, args) = match expr {
        Expr::Call(call) => (called_path(lower, call)?, call.args.len()),
        Expr::MethodCall(call) => (called_method(lower, call)?, call.args.len() + 1),
        _ => return None,
    };
    let arity = lower.functions[lower.source_of(id)].params.len();
    (arity == args
        && means_own_types(lower, lower.source_of(id), expr)
        && lent::plan(lower, lower.source_of(id), &arguments(expr)).is_ok())
    .then_some(id)
}

/// Whether a call of a generic function can be one for the caller's own types: not if it names others, or gives a
/// literal or a cast for one.
pub(super) fn means_own_types(lower: &Lowering<'_>, source: usize, call: &Expr) -> bool {
    let function = &lower.functions[source];
    if !worth::is_generic(function) {
        return true;
    }
    let params = function.sig.generics.params.iter();
    let names = params.map(|param| match param {
        syn::GenericParam::Lifetime(p) => p.lifetime.ident.to_string(),
        syn::GenericParam::Type(p) => p.ident.to_string(),
        syn::GenericParam::Const(p) => p.ident.to_string(),
    });
    let names: Vec<String> = names.collect();
    let fish = match call {
        Expr::Call(e) => match &*e.func {
            Expr::Path(p) => {
                p.path.segments.last().map(|s| crate::ir::text(&s.arguments)).unwrap_or_default()
            }
            _ => String::new(),
        },
        _ => String::new(),
    };
    let own_fish = fish.is_empty()
        || fish
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .all(|word| word == "_" || names.iter().any(|name| name == word));
    own_fish
        && arguments(call).iter().zip(&function.params).all(|(arg, param)| {
            let of_own = matches!(&param.ty, syn::Type::Path(p)
                if p.path.get_ident().is_some_and(|i| names.contains(&i.to_string())));
            let other = || match arg {
                Expr::Lit(_) | Expr::Cast(_) => true,
                Expr::Path(_) => variable(&lower.names, arg)
                    .and_then(|var| lower.written_type(var))
                    .is_some_and(|ty| crate::ir::text(&ty) != crate::ir::text(&param.ty)),
                _ => false,
            };
            !(of_own && other())
        })
}

/// The arguments of a call, the receiver first.
pub(super) fn arguments(call: &Expr) -> Vec<&Expr> {
    match call {
        Expr::Call(call) => call.args.iter().collect(),
        Expr::MethodCall(call) => std::iter::once(&*call.receiver).chain(&call.args).collect(),
        _ => vec![],
    }
}

pub(super) fn called_path(lower: &Lowering<'_>, call: &ExprCall) -> Option<FuncId> {
    let Expr::Path(path) = &*call.func else { return None };
    if path.qself.is_some() {
        return None;
    }
    let segments = &path.path.segments;
    let name = segments.last()?.ident.to_string();
    let id = lower.callable(&name)?;
    let associated = lower.functions[lower.source_of(id)].associated;
    let fits = match segments.len() {
        1 => !associated && !lower.names.contains_key(&name),
        2 => {
            associated
                && (segments[0].ident == "Self" || Some(&segments[0].ident) == lower.self_type.as_ref())
        }
        _ => false,
    };
    fits.then_some(id)
}

pub(super) fn called_method(lower: &Lowering<'_>, call: &ExprMethodCall) -> Option<FuncId> {
    let receiver = variable(&lower.names, &call.receiver)?;
    if !resolve::is_self(&lower.program.var(receiver).ident) {
        return None;
    }
    let id = lower.callable(&call.method.to_string())?;
    lower.functions[lower.source_of(id)].sig.receiver().map(|_| id)
}

/// Whether lowering `expr` makes blocks: it holds a batched call or a loop that members leave at
/// different times.
pub(super) fn splits(lower: &Lowering<'_>, expr: &Expr) -> bool {
    let mut scan = Splits::new(lower);
    scan.visit_expr(expr);
    scan.found
}

/// The same for a statement.
pub(super) fn stmt_splits(lower: &Lowering<'_>, stmt: &Stmt) -> bool {
    let mut scan = Splits::new(lower);
    scan.visit_stmt(stmt);
    scan.found
}

struct Splits<'a, 'b> {
    lower: &'a Lowering<'b>,
    /// Variables with the same value for every member: those known before, and those of the scanned
    /// code as far as it has been scanned.
    uniforms: VarSet,
    found: bool,
}

impl<'a, 'b> Splits<'a, 'b> {
    fn new(lower: &'a Lowering<'b>) -> Self {
        Splits { lower, uniforms: lower.uniforms.clone(), found: false }
    }

    /// Whether a `for` loop is left in one piece inside the lane code: its trip count is the same for
    /// every member and nothing leaves it early, or it iterates over something that may borrow a local.
    fn for_loop(&mut self, e: &syn::ExprForLoop) {
        self.visit_expr(&e.expr);
        let uniform = uniform::is_uniform(self.lower, &self.uniforms, &e.expr);
        self.found |= !may_borrow_local(self.lower, &e.expr) && (!uniform || leaves(&e.body));
        if uniform {
            self.uniforms.extend(bound(&self.lower.names, &e.pat));
        }
        self.visit_block(&e.body);
    }
}

impl<'ast> Visit<'ast> for Splits<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.found {
            return;
        }
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => return,
            Expr::ForLoop(e) => return self.for_loop(e),
            Expr::If(_) | Expr::Match(_) if !self.lower.options.fuse => self.found = true,
            Expr::If(e) => {
                let otherwise = e.else_branch.as_ref().map(|(_, e)| &**e);
                self.found |=
                    is_heavy(self.lower, |see| e.then_branch.stmts.iter().for_each(|s| see(Node::Stmt(s))))
                        || otherwise.is_some_and(|e| is_heavy(self.lower, |see| see(Node::Expr(e))));
            }
            Expr::Match(e) => {
                self.found |= e.arms.iter().any(|arm| is_heavy(self.lower, |see| see(Node::Expr(&arm.body))));
            }
            Expr::While(_) | Expr::Loop(_) => self.found = true,
            Expr::Call(_) | Expr::MethodCall(_) => {
                self.found |= callee(self.lower, expr).is_some() || primitive::is_batched(self.lower, expr);
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        self.uniforms.extend(uniform::defines(self.lower, &self.uniforms, local));
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a branch is a block of its own although nothing in it makes blocks: so much work in opaque
/// calls or loops that members should meet there. Only where they can come at different times.
fn is_heavy(lower: &Lowering<'_>, walk: impl FnOnce(&mut dyn FnMut(Node<'_>))) -> bool {
    let effects = effects(&lower.names, walk);
    lower.members_diverge() && effects.opaque && effects.weight >= HEAVY
}

/// Whether a loop body can be left other than by running to its end.
fn leaves(body: &syn::Block) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Break(_) | Expr::Return(_) | Expr::Try(_) => self.0 = true,
                Expr::Continue(e) if e.label.is_some() => self.0 = true,
                Expr::Closure(_) => {}
                _ => visit::visit_expr(self, expr),
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scan = Scan(false);
    scan.visit_block(body);
    scan.0
}

/// The local a place expression is a part of, unless it is reached through a dereference.
pub(super) fn root(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Path(_) => Some(expr),
        Expr::Field(e) => root(&e.base),
        Expr::Index(e) => root(&e.expr),
        Expr::Paren(e) => root(&e.expr),
        Expr::Group(e) => root(&e.expr),
        _ => None,
    }
}

pub(super) fn is_owned_local(lower: &Lowering<'_>, place: &Expr) -> bool {
    lower
        .owner(place)
        .is_some_and(|var| !lower.is_reference(var) || (lower.is_numbered(var) && is_first(place)))
}

/// Whether a place is the first part of a tuple, or of that.
fn is_first(place: &Expr) -> bool {
    match place {
        Expr::Field(e) if matches!(*e.base, Expr::Path(_)) => {
            matches!(&e.member, syn::Member::Unnamed(index) if index.index == 0)
        }
        Expr::Field(e) => is_first(&e.base),
        Expr::Index(e) => is_first(&e.expr),
        Expr::Paren(e) => is_first(&e.expr),
        _ => false,
    }
}

/// Whether the value of `expr` may hold a borrow of a local of the function: it takes a reference,
/// calls a method on a local that may not be a reference, or makes a closure that captures one.
pub(super) fn may_borrow_local(lower: &Lowering<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Reference(e) => is_owned_local(lower, &e.expr) || may_borrow_local(lower, &e.expr),
        // Takes its receiver by value.
        Expr::MethodCall(e) if e.method == "into_iter" && matches!(*e.receiver, Expr::Path(_)) => false,
        Expr::MethodCall(e) => {
            let owned = lower.functions[lower.current].methods.borrow_nothing(&e.method);
            (!owned && is_owned_local(lower, &e.receiver))
                || may_borrow_local(lower, &e.receiver)
                || e.args.iter().any(|arg| may_borrow_local(lower, arg))
        }
        Expr::Call(e) => e.args.iter().any(|arg| may_borrow_local(lower, arg)),
        Expr::Closure(e) => e.capture.is_none() && captures(&lower.names, e),
        Expr::Paren(e) => may_borrow_local(lower, &e.expr),
        Expr::Range(e) => e.start.iter().chain(&e.end).any(|e| matches!(**e, Expr::Reference(_))),
        Expr::Tuple(e) => e.elems.iter().any(|e| may_borrow_local(lower, e)),
        Expr::Macro(_) => true,
        _ => false,
    }
}

/// Whether a `let` initialiser plainly takes a borrow of a local: `&x`, a closure over locals, or
/// the start of an iteration over one.
pub(super) fn plainly_borrows_local(lower: &Lowering<'_>, expr: &Expr) -> bool {
    borrows(lower, expr, true)
}

/// [`plainly_borrows_local`]; unless `closures` can be called later, it is what they return that counts.
pub(super) fn borrows(lower: &Lowering<'_>, expr: &Expr, closures: bool) -> bool {
    match expr {
        Expr::Reference(e) => is_owned_local(lower, &e.expr),
        Expr::MethodCall(e) if chains::yields_number(&e.method) || chains::yields_owned(lower, e) => false,
        Expr::MethodCall(e) => {
            let closures = closures && !chains::ends_closures(lower, e);
            borrowing::starts_borrow(lower, e)
                || borrows(lower, &e.receiver, closures)
                || (!only_looks_at_arguments(&e.method)
                    && e.args.iter().any(|arg| borrows(lower, arg, closures)))
        }
        Expr::Closure(e) if closures => e.capture.is_none() && captures(&lower.names, e),
        // What a closure makes of its own parameters is the receiver's.
        Expr::Closure(e) => borrows(lower, &e.body, true) && !borrowed(lower, expr).is_empty(),
        Expr::Paren(e) => borrows(lower, &e.expr, closures),
        Expr::Tuple(e) => e.elems.iter().any(|e| borrows(lower, e, closures)),
        Expr::Array(e) => e.elems.iter().any(|e| borrows(lower, e, closures)),
        Expr::Struct(e) => e.fields.iter().any(|field| borrows(lower, &field.expr, closures)),
        Expr::Call(e) => {
            (makes_of(&e.func) || hands_on(lower, &e.func))
                && e.args.iter().any(|e| borrows(lower, e, closures))
        }
        Expr::Try(e) => borrows(lower, &e.expr, closures),
        Expr::If(e) => {
            tail(&e.then_branch).is_some_and(|e| borrows(lower, e, closures))
                || e.else_branch.as_ref().is_some_and(|(_, e)| borrows(lower, e, closures))
        }
        Expr::Match(e) => e.arms.iter().any(|arm| borrows(lower, &arm.body, closures)),
        Expr::Block(e) => tail(&e.block).is_some_and(|e| borrows(lower, e, closures)),
        Expr::Macro(e) => !lent_to_macro(lower, &e.mac).is_empty(),
        _ => false,
    }
}

/// The locals that what a macro yields may borrow: its definition or its tokens refer to them.
fn lent_to_macro(lower: &Lowering<'_>, mac: &Macro) -> VarSet {
    let mut lent = VarSet::new();
    if is_listed(mac) || mac.path.is_ident("matches") || ir::goto_target(mac).is_some() {
        return lent;
    }
    let all = lower.functions[lower.current].methods.lends(mac);
    let mut referred = false;
    map_tokens(&mut mac.clone(), &mut |tree, field| {
        match &tree {
            TokenTree::Ident(word) if word == "mut" => {}
            TokenTree::Ident(name) => {
                let text = name.to_string();
                let var = lower.names.get(&text).filter(|_| !field && (all || referred));
                let owned = |_: &&VarId| is_owned_local(lower, &parse_quote!(#name));
                lent.extend(var.filter(owned).filter(|_| !lower.copies.contains(&text)));
                referred = false;
            }
            other => referred = is_punct(other, '&'),
        }
        tree
    });
    lent
}

pub(crate) fn tail(block: &syn::Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(tail, None)) => Some(tail),
        _ => None,
    }
}

/// Whether what a function yields may borrow from its arguments, as its signature says.
pub(super) fn hands_on(lower: &Lowering<'_>, func: &Expr) -> bool {
    let Expr::Path(path) = func else { return false };
    let methods = &lower.functions[lower.current].methods;
    path.path.segments.last().is_some_and(|last| methods.may_borrow(&last.ident))
}

/// Whether what a function makes holds its arguments, told by the spelling: `Some(x)`, `Guard(x)`, `Parser::new(x)`.
pub(super) fn makes_of(func: &Expr) -> bool {
    let Expr::Path(path) = func else { return false };
    let upper = |s: &syn::PathSegment| s.ident.to_string().starts_with(char::is_uppercase);
    let mut names = path.path.segments.iter().rev();
    let (Some(last), before) = (names.next(), names.next()) else { return false };
    upper(last) || (before.is_some_and(upper) && (last.ident == "new" || last.ident == "from"))
}

/// The locals that an expression borrows from.
pub(super) fn borrowed(lower: &Lowering<'_>, expr: &Expr) -> VarSet {
    roots_of_borrows(lower, expr, |call| borrowing::starts_borrow(lower, call))
}

/// The locals that an expression may borrow from: any method may.
pub(super) fn may_be_borrowed(lower: &Lowering<'_>, expr: &Expr) -> VarSet {
    roots_of_borrows(lower, expr, |call| is_owned_local(lower, &call.receiver))
}

/// The locals that are referred to, or on which a method is called that borrows: not those that are bound in the expression.
fn roots_of_borrows(lower: &Lowering<'_>, expr: &Expr, borrows: impl Fn(&ExprMethodCall) -> bool) -> VarSet {
    struct Scan<'a, 'b, F>(&'a Lowering<'b>, F, VarSet, VarSet);
    impl<'ast, F: Fn(&ExprMethodCall) -> bool> Visit<'ast> for Scan<'_, '_, F> {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.3.extend(self.0.names.get(&pat.ident.to_string()).copied());
            visit::visit_pat_ident(self, pat);
        }
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let place = match expr {
                Expr::Reference(e) if is_owned_local(self.0, &e.expr) => Some(&e.expr),
                Expr::MethodCall(e) if (self.1)(e) => Some(&e.receiver),
                Expr::Macro(e) => {
                    self.2.extend(lent_to_macro(self.0, &e.mac));
                    None
                }
                _ => None,
            };
            self.2.extend(place.and_then(|place| self.0.owner(place)));
            match expr {
                Expr::MethodCall(e) if only_looks_at_arguments(&e.method) => self.visit_expr(&e.receiver),
                _ => visit::visit_expr(self, expr),
            }
        }
    }
    let mut scan = Scan(lower, borrows, VarSet::new(), VarSet::new());
    scan.visit_expr(expr);
    scan.2.difference(&scan.3).copied().collect()
}

/// Whether what a method yields borrows nothing from what its arguments refer to: keys, patterns.
pub(super) fn only_looks_at_arguments(method: &syn::Ident) -> bool {
    const METHODS: [&str; 9] = [
        "get",
        "get_key_value",
        "get_mut",
        "rsplit_once",
        "split_once",
        "strip_prefix",
        "strip_suffix",
        "trim_end_matches",
        "trim_start_matches",
    ];
    METHODS.contains(&method.to_string().as_str())
}

fn captures(names: &Names, closure: &syn::ExprClosure) -> bool {
    let mut inputs = VarSet::new();
    for pat in &closure.inputs {
        inputs.extend(bound(names, pat));
    }
    let mentions = crate::effects::of_expr(names, &closure.body).mentions;
    mentions.difference(&inputs).next().is_some()
}

/// The names of the program functions that a body may lead to, and whether it has loops. Mentions as a
/// value and in macro tokens count: whoever gets the function may call it.
///
/// Calls of `primitives` count as loops: members wait there for each other.
pub(crate) fn called_names(
    function: &Function,
    known: &BTreeSet<String>,
    primitives: &[syn::Path],
) -> (BTreeSet<String>, bool) {
    let mut scan = Leads { primitives, known, function, called: BTreeSet::new(), loops: false };
    scan.visit_block(&function.body);
    (scan.called, scan.loops)
}

/// Whether one of a function's expressions may lead to a program function or has loops, as [`called_names`] asks of a body.
pub(crate) fn may_split(
    function: &Function,
    known: &BTreeSet<String>,
    primitives: &[syn::Path],
    expr: &Expr,
) -> bool {
    let mut scan = Leads { primitives, known, function, called: BTreeSet::new(), loops: false };
    scan.visit_expr(expr);
    scan.loops || !scan.called.is_empty()
}

struct Leads<'a> {
    primitives: &'a [syn::Path],
    known: &'a BTreeSet<String>,
    function: &'a Function,
    called: BTreeSet<String>,
    loops: bool,
}

impl Leads<'_> {
    fn mention(&mut self, name: String) {
        if self.known.contains(&name) && !self.function.bindings.contains_key(&name) {
            self.called.insert(name);
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) => self.mention(ident.to_string()),
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

/// `f64::from`, `u8::try_from`: not the functions of these names that a type of the file has.
fn makes_number(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    let (Some(name), Some(ty)) = (names.next(), names.next()) else { return false };
    ["from", "try_from", "default"].iter().any(|known| name == known)
        && lockstep::is_primitive(&parse_quote!(#ty))
}

impl<'ast> Visit<'ast> for Leads<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Path(p) => {
                let last = p.path.segments.last().filter(|_| !makes_number(&p.path));
                last.into_iter().for_each(|last| self.mention(last.ident.to_string()));
            }
            Expr::MethodCall(call) => {
                let name = Some(call.method.to_string());
                self.called.extend(name.filter(|name| self.known.contains(name)));
            }
            Expr::Call(call) if primitive::names(self.primitives, &call.func) => self.loops = true,
            Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) => self.loops = true,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
