//! Which programs only compute: running a piece of them twice, or on a copy of a member, shows nowhere.
//!
//! Such programs run in nested frames (`emit/nest.rs`). Admitted are operators, pure methods (see
//! [`crate::lockstep`]), control flow, and calls of functions of the same item that only compute too, on
//! numbers, `bool`s, `char`s, and tuples, arrays and `Option`s of them. The macro knows no types, so what
//! all of it starts from is listed: types of parameters and results that are not primitive by name
//! ([`Plain::types`]), and values that are read from shared data and constants ([`Plain::leaves`]). What
//! operators and pure methods make of primitive values is primitive. Generated code asks the runtime whether
//! what is listed is; if not, the machine runs the program.
//!
//! Refused: everything owned, borrowed per member or changed in place; closures, macros other than
//! assertions and panics, items in bodies; blocks in lockstep or of a primitive; mutual tail calls that come
//! back, because a nested frame takes native stack for them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Lit, Macro, Pat, Stmt, Token, Type, UnOp, parse_quote};

use crate::input::{Function, Passing};
use crate::ir::{Class, FuncId, Program, Terminator, goto_target};
use crate::lockstep::{is_compound, is_constant, is_primitive, is_pure_function, is_pure_method};
use crate::lower::Lowered;

/// What must be primitive for a program to only compute.
#[derive(Default)]
pub struct Plain {
    /// Types of parameters and results.
    pub types: Vec<Type>,
    /// Values read from shared data.
    pub leaves: Vec<Leaf>,
}

/// A value read from shared data.
#[derive(Clone)]
pub struct Leaf {
    /// The parameter it is read from, with its type; none for a constant.
    pub root: Option<(Ident, Type)>,
    /// The expression; indices are [`index`].
    pub value: Expr,
    /// What it certainly is, as far as that decides whether it can be indexed by a number.
    list: List,
}

/// What is known of a place in shared data.
#[derive(Clone)]
enum List {
    /// It has this type.
    Of(Type),
    /// It is a constant or an element of one: by custom an array if it is indexed.
    Constant,
    /// Nothing.
    Unknown,
}

impl List {
    /// What is known of its elements, if it certainly is a list.
    fn element(&self) -> Option<List> {
        match self {
            List::Of(Type::Reference(r)) => List::Of((*r.elem).clone()).element(),
            List::Of(Type::Paren(t)) => List::Of((*t.elem).clone()).element(),
            List::Of(Type::Slice(t)) => Some(List::Of((*t.elem).clone())),
            List::Of(Type::Array(t)) => Some(List::Of((*t.elem).clone())),
            List::Of(Type::Path(p)) => match p.path.segments.last() {
                Some(last) if last.ident == "Vec" => match &last.arguments {
                    syn::PathArguments::AngleBracketed(args) => match args.args.first() {
                        Some(syn::GenericArgument::Type(ty)) => Some(List::Of(ty.clone())),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            },
            List::Constant => Some(List::Constant),
            List::Of(_) | List::Unknown => None,
        }
    }
}

/// `__at`: any index.
pub fn index() -> Ident {
    Ident::new("__at", Span::mixed_site())
}

/// What must be primitive for the program to only compute; `None` if it does more. Classes of variables are
/// settled.
pub fn of(lowered: &Lowered, functions: &[Function]) -> Option<Plain> {
    let program = &lowered.program;
    let refused = !program.notes.is_empty()
        || !lowered.items.is_empty()
        || program.blocks.iter().any(|b| b.lockstep || b.primitive.is_some())
        || program.func_ids().any(|f| tail_calls_come_back(program, f));
    if refused {
        return None;
    }
    let mut plain = Plain::default();
    let mut helpers = BTreeSet::new();
    for func in program.func_ids() {
        plain.function(program, func, &functions[lowered.sources[func.0]], functions, &mut helpers)?;
    }
    Some(plain)
}

/// Whether tail calls lead from `func` over another function back to it.
fn tail_calls_come_back(program: &Program, func: FuncId) -> bool {
    let next = |f: FuncId| {
        let own = program.blocks.iter().filter(move |b| b.func == f);
        own.filter_map(move |b| match b.term {
            Terminator::TailCall { callee, .. } if callee != f => Some(callee),
            _ => None,
        })
    };
    let mut seen = BTreeSet::new();
    let mut todo: Vec<FuncId> = next(func).collect();
    while let Some(f) = todo.pop() {
        if f == func {
            return true;
        }
        if seen.insert(f) {
            todo.extend(next(f));
        }
    }
    false
}

impl Plain {
    fn function(
        &mut self,
        program: &Program,
        func: FuncId,
        source: &Function,
        functions: &[Function],
        helpers: &mut BTreeSet<String>,
    ) -> Option<()> {
        let function = program.func(func);
        self.ty(&function.output)?;
        let mut shared = BTreeMap::new();
        for (var, param) in function.params.iter().zip(&source.params) {
            let variable = program.var(*var);
            if matches!(variable.class, Class::Uniform(_)) {
                shared.insert(param.ident.to_string(), param.ty.clone());
            } else {
                self.ty(&param.ty)?;
            }
        }
        let locals = program.var_ids().filter(|v| program.var(*v).func == func);
        let locals = locals.map(|v| program.var(v).ident.to_string()).collect();
        let mut walk =
            Walk { plain: self, functions, helpers, locals, shared, aliases: BTreeMap::new(), exits: true };
        for block in program.blocks.iter().filter(|b| b.func == func) {
            for stmt in block.ops.iter().flat_map(|op| &op.code) {
                walk.stmt(stmt)?;
            }
            match &block.term {
                Terminator::Branch { cond, .. } => walk.expr(cond)?,
                Terminator::Switch { scrutinee, arms, .. } => {
                    walk.expr(scrutinee)?;
                    for arm in arms {
                        walk.pattern(&arm.pat)?;
                        arm.guard.as_ref().map_or(Some(()), |guard| walk.expr(guard))?;
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    /// The type of a value that members have.
    fn ty(&mut self, ty: &Type) -> Option<()> {
        match ty {
            Type::Tuple(t) => t.elems.iter().admit_all(|ty| self.ty(ty)),
            Type::Array(t) => self.ty(&t.elem),
            Type::Paren(t) => self.ty(&t.elem),
            Type::Group(t) => self.ty(&t.elem),
            Type::Path(_) if is_primitive(ty) => Some(()),
            Type::Path(p) if p.qself.is_none() => {
                let last = p.path.segments.last()?;
                match &last.arguments {
                    syn::PathArguments::AngleBracketed(args) if last.ident == "Option" => {
                        match args.args.first()? {
                            syn::GenericArgument::Type(ty) => self.ty(ty),
                            _ => None,
                        }
                    }
                    _ => {
                        self.types.push(ty.clone());
                        Some(())
                    }
                }
            }
            _ => None,
        }
    }
}

/// All of them, or none.
trait All: Iterator + Sized {
    fn admit_all(mut self, f: impl FnMut(Self::Item) -> Option<()>) -> Option<()> {
        self.try_for_each(f)
    }
}
impl<I: Iterator> All for I {}

/// The walk over one function; `None` refuses the program.
struct Walk<'a> {
    plain: &'a mut Plain,
    functions: &'a [Function],
    /// Functions of the item, called in lane code, that have been looked at.
    helpers: &'a mut BTreeSet<String>,
    /// Variables with a value per member.
    locals: BTreeSet<String>,
    /// Parameters that all members share.
    shared: BTreeMap<String, Type>,
    /// Variables that stand for a place in shared data, or a copy of what is there.
    aliases: BTreeMap<String, Leaf>,
    /// Whether jump markers may occur, else `return`.
    exits: bool,
}

impl Walk<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> Option<()> {
        stmts.iter().admit_all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Local(local) => {
                let Some(init) = &local.init else { return self.pattern(&local.pat) };
                if init.diverge.is_some() {
                    return None;
                }
                self.bind(&local.pat, &init.expr)
            }
            Stmt::Expr(e, _) => self.expr(e),
            Stmt::Macro(m) => self.macro_(&m.mac),
            _ => None,
        }
    }

    /// `let pat = value;`
    fn bind(&mut self, pat: &Pat, value: &Expr) -> Option<()> {
        let bare = match pat {
            Pat::Type(t) => &*t.pat,
            other => other,
        };
        if let Pat::Ident(p) = bare
            && p.by_ref.is_none()
            && p.subpat.is_none()
            && let Some(leaf) = self.place(value)?
        {
            self.aliases.insert(p.ident.to_string(), leaf);
            return Some(());
        }
        self.pattern(pat)?;
        self.expr(value)
    }

    /// The place in shared data that an expression names. Its indices are walked.
    fn place(&mut self, expr: &Expr) -> Option<Option<Leaf>> {
        match expr {
            Expr::Paren(e) => self.place(&e.expr),
            Expr::Group(e) => self.place(&e.expr),
            Expr::Path(p) => {
                if let Some(name) = p.path.get_ident().filter(|_| p.qself.is_none()) {
                    let key = name.to_string();
                    if let Some(leaf) = self.aliases.get(&key) {
                        return Some(Some(leaf.clone()));
                    }
                    if let Some(ty) = self.shared.get(&key) {
                        let root = Some((name.clone(), without_lifetimes(ty)));
                        let list = List::Of(ty.clone());
                        return Some(Some(Leaf { root, value: parse_quote!(#name), list }));
                    }
                    if self.locals.contains(&key) {
                        return Some(None);
                    }
                }
                let constant = || Leaf { root: None, value: expr.clone(), list: List::Constant };
                Some(is_constant(p).then(constant))
            }
            Expr::Field(e) => {
                let member = &e.member;
                Some(self.place(&e.base)?.map(|Leaf { root, value, .. }| Leaf {
                    root,
                    value: parse_quote!((#value).#member),
                    list: List::Unknown,
                }))
            }
            Expr::Index(e) => match self.place(&e.expr)? {
                None => Some(None),
                Some(Leaf { root, value, list }) => {
                    self.expr(&e.index)?;
                    let (at, list) = (index(), list.element()?);
                    Some(Some(Leaf { root, value: parse_quote!((#value)[#at]), list }))
                }
            },
            Expr::Reference(e) if e.mutability.is_none() => {
                let leaf = self.place(&e.expr)?;
                Some(leaf.map(|Leaf { root, value, list }| Leaf { root, value: parse_quote!((&#value)), list }))
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                let leaf = self.place(&e.expr)?;
                Some(leaf.map(|Leaf { root, value, list }| Leaf { root, value: parse_quote!((*#value)), list }))
            }
            _ => Some(None),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Option<()> {
        if let Some(leaf) = self.place(expr)? {
            self.plain.leaves.push(leaf);
            return Some(());
        }
        match expr {
            Expr::Lit(lit) => matches!(
                lit.lit,
                Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_)
            )
            .then_some(()),
            Expr::Path(p) => {
                let name = p.path.get_ident().map(Ident::to_string)?;
                (self.locals.contains(&name) || name == "None").then_some(())
            }
            Expr::Paren(e) => self.expr(&e.expr),
            Expr::Group(e) => self.expr(&e.expr),
            Expr::Unary(e) => self.expr(&e.expr),
            Expr::Cast(e) => is_primitive(&e.ty).then_some(()).and_then(|()| self.expr(&e.expr)),
            Expr::Binary(e) if is_compound(&e.op) => {
                self.assignable(&e.left)?;
                self.expr(&e.right)
            }
            Expr::Binary(e) => {
                self.expr(&e.left)?;
                self.expr(&e.right)
            }
            Expr::Assign(e) => {
                self.assignable(&e.left)?;
                self.expr(&e.right)
            }
            Expr::Let(e) => {
                self.pattern(&e.pat)?;
                self.expr(&e.expr)
            }
            Expr::If(e) => {
                self.expr(&e.cond)?;
                self.stmts(&e.then_branch.stmts)?;
                e.else_branch.as_ref().map_or(Some(()), |(_, e)| self.expr(e))
            }
            Expr::Match(e) => {
                self.expr(&e.expr)?;
                e.arms.iter().admit_all(|arm| {
                    self.pattern(&arm.pat)?;
                    self.expr(&arm.body)
                })
            }
            Expr::Block(e) => self.stmts(&e.block.stmts),
            Expr::While(e) => {
                self.expr(&e.cond)?;
                self.stmts(&e.body.stmts)
            }
            Expr::Loop(e) => self.stmts(&e.body.stmts),
            Expr::ForLoop(e) => self.for_(e),
            Expr::Break(e) => e.expr.as_ref().map_or(Some(()), |e| self.expr(e)),
            Expr::Continue(_) => Some(()),
            Expr::Return(e) if !self.exits => e.expr.as_ref().map_or(Some(()), |e| self.expr(e)),
            Expr::Tuple(e) => e.elems.iter().admit_all(|e| self.expr(e)),
            Expr::Array(e) => e.elems.iter().admit_all(|e| self.expr(e)),
            Expr::Repeat(e) => self.expr(&e.expr),
            Expr::Field(e) => self.expr(&e.base),
            Expr::Index(e) => {
                self.expr(&e.expr)?;
                self.expr(&e.index)
            }
            Expr::MethodCall(e) if matches!(e.method.to_string().as_str(), "len" | "is_empty") => {
                match self.place(&e.receiver)? {
                    Some(_) => Some(()),
                    None => self.expr(&e.receiver),
                }
            }
            Expr::MethodCall(e) => {
                is_pure_method(&e.method).then_some(())?;
                self.expr(&e.receiver)?;
                e.args.iter().admit_all(|e| self.expr(e))
            }
            Expr::Call(e) => self.call(e),
            Expr::Macro(m) => self.macro_(&m.mac),
            _ => None,
        }
    }

    fn for_(&mut self, e: &syn::ExprForLoop) -> Option<()> {
        let iter = match &*e.expr {
            Expr::MethodCall(call) if call.method == "iter" && call.args.is_empty() => &call.receiver,
            other => other,
        };
        match (self.place(iter)?, &*e.pat) {
            (Some(leaf), Pat::Ident(p)) if p.by_ref.is_none() && p.subpat.is_none() => {
                let (Leaf { root, value, list }, at) = (leaf, index());
                // What a `for` over a reference or an `iter` hands out.
                let element = Leaf { root, value: parse_quote!((&(#value)[#at])), list: list.element()? };
                self.aliases.insert(p.ident.to_string(), element);
            }
            (Some(_), _) => return None,
            (None, pat) => {
                self.pattern(pat)?;
                self.range(iter)?;
            }
        }
        self.stmts(&e.body.stmts)
    }

    /// A range of numbers, or what `rev` and `step_by` make of one.
    fn range(&mut self, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Paren(e) => self.range(&e.expr),
            Expr::Group(e) => self.range(&e.expr),
            Expr::Range(e) => [&e.start, &e.end].into_iter().flatten().admit_all(|e| self.expr(e)),
            Expr::MethodCall(e) if e.method == "rev" || e.method == "step_by" => {
                self.range(&e.receiver)?;
                e.args.iter().admit_all(|e| self.expr(e))
            }
            _ => None,
        }
    }

    fn call(&mut self, call: &syn::ExprCall) -> Option<()> {
        let Expr::Path(func) = &*call.func else { return None };
        let segments: Vec<String> = func.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let names: Vec<&str> = segments.iter().map(String::as_str).collect();
        match &names[..] {
            // The lowering's own counters.
            [.., "__rt", name] if name.starts_with("count_") => {
                call.args.iter().admit_all(|arg| match arg {
                    Expr::Reference(e) => self.expr(&e.expr),
                    other => self.expr(other),
                })
            }
            [.., "Some"] => call.args.iter().admit_all(|e| self.expr(e)),
            _ if is_pure_function(func) => call.args.iter().admit_all(|e| self.expr(e)),
            [name] | ["Self", name] => self.helper(name, call),
            _ => None,
        }
    }

    /// A call of another function of the item.
    fn helper(&mut self, name: &str, call: &syn::ExprCall) -> Option<()> {
        let helper = self.functions.iter().find(|f| f.sig.ident == name)?;
        if self.locals.contains(name) || helper.params.len() != call.args.len() {
            return None;
        }
        for (arg, param) in call.args.iter().zip(&helper.params) {
            let lent = param.passing == Passing::Shared && matches!(param.ty, Type::Reference(_));
            if !(lent && self.place(arg)?.is_some()) {
                self.expr(arg)?;
            }
        }
        if !self.helpers.insert(name.to_owned()) {
            return Some(());
        }
        let generic = helper.sig.generics.type_params().next().is_some();
        if generic || helper.sig.asyncness.is_some() {
            return None;
        }
        self.plain.ty(&helper.output)?;
        let mut shared = BTreeMap::new();
        for param in &helper.params {
            match param.passing {
                Passing::Shared => _ = shared.insert(param.ident.to_string(), param.ty.clone()),
                Passing::Each => self.plain.ty(&param.ty)?,
                _ => return None,
            }
        }
        let params = helper.params.iter().map(|p| p.ident.to_string());
        let locals = helper.bindings.keys().cloned().chain(params).collect();
        let mut walk = Walk {
            plain: self.plain,
            functions: self.functions,
            helpers: self.helpers,
            locals,
            shared,
            aliases: BTreeMap::new(),
            exits: false,
        };
        for param in &helper.params {
            param.pattern.as_ref().map_or(Some(()), |pat| walk.pattern(pat))?;
        }
        walk.stmts(&helper.body.stmts)
    }

    /// Assertions and panics: their conditions; what is formatted is lost with the tile.
    fn macro_(&mut self, mac: &Macro) -> Option<()> {
        if goto_target(mac).is_some() {
            return self.exits.then_some(());
        }
        let name = mac.path.get_ident()?.to_string();
        let conditions = match name.as_str() {
            "assert" | "debug_assert" => 1,
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
            "panic" | "unreachable" | "todo" | "unimplemented" => 0,
            _ => return None,
        };
        let args = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
        args.iter().enumerate().admit_all(|(nth, arg)| match arg {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(_), .. }) if nth >= conditions => Some(()),
            other => self.expr(other),
        })
    }

    /// What may stand on the left of an assignment.
    fn assignable(&mut self, place: &Expr) -> Option<()> {
        match place {
            Expr::Paren(e) => self.assignable(&e.expr),
            Expr::Field(e) => self.assignable(&e.base),
            Expr::Index(e) => {
                self.assignable(&e.expr)?;
                self.expr(&e.index)
            }
            Expr::Tuple(e) => e.elems.iter().admit_all(|e| self.assignable(e)),
            Expr::Infer(_) => Some(()),
            Expr::Path(p) => {
                let name = p.path.get_ident()?.to_string();
                // A copy of something shared that becomes a variable: its type says what it can be.
                if let Some(leaf) = self.aliases.get(&name) {
                    self.plain.leaves.push(leaf.clone());
                }
                self.locals.contains(&name).then_some(())
            }
            _ => None,
        }
    }

    fn pattern(&mut self, pat: &Pat) -> Option<()> {
        match pat {
            Pat::Ident(p) => match &p.subpat {
                _ if p.by_ref.is_some() => None,
                Some((_, pat)) => self.pattern(pat),
                None => Some(()),
            },
            Pat::Type(p) => self.pattern(&p.pat),
            Pat::Paren(p) => self.pattern(&p.pat),
            Pat::Tuple(p) => p.elems.iter().admit_all(|p| self.pattern(p)),
            Pat::Or(p) => p.cases.iter().admit_all(|p| self.pattern(p)),
            Pat::TupleStruct(p) if p.path.is_ident("Some") => {
                p.elems.iter().admit_all(|p| self.pattern(p))
            }
            Pat::Reference(p) if p.mutability.is_none() => self.pattern(&p.pat),
            Pat::Wild(_) | Pat::Rest(_) | Pat::Lit(_) | Pat::Range(_) => Some(()),
            _ => None,
        }
    }
}

/// A type for a closure's parameter, where the function's lifetimes have no names.
fn without_lifetimes(ty: &Type) -> Type {
    struct Elide;
    impl VisitMut for Elide {
        fn visit_type_reference_mut(&mut self, r: &mut syn::TypeReference) {
            r.lifetime = None;
            visit_mut::visit_type_reference_mut(self, r);
        }
        fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
            if lifetime.ident != "static" {
                lifetime.ident = Ident::new("_", lifetime.ident.span());
            }
        }
    }
    let mut ty = ty.clone();
    Elide.visit_type_mut(&mut ty);
    ty
}
