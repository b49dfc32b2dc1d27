//! Questions about user code that the lowering asks before it decides what becomes blocks.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, Macro, Stmt, parse_quote};

use super::{Lowering, lending, primitive, uniform, worth};
use crate::admission::travel::Lends;
use crate::effects::{Node, bound, effects, variable};
use crate::input::Function;
use crate::ir::{FuncId, VarSet};
use crate::lockstep;
use crate::mentions;
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
        && lending::of_call(lower, lower.source_of(id), &arguments(expr)).is_ok())
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
        || mentions::words(&fish)
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
        self.found |= !may_lend(self.lower, &e.expr) && (!uniform || leaves(&e.body));
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

/// Whether an iteration over an expression may borrow a local. The ends of a range are numbers.
fn may_lend(lower: &Lowering<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Paren(e) => may_lend(lower, &e.expr),
        Expr::Range(_) => false,
        _ => lower.travel.lends(expr) != Lends::Nothing,
    }
}

pub(crate) fn tail(block: &syn::Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(tail, None)) => Some(tail),
        _ => None,
    }
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
