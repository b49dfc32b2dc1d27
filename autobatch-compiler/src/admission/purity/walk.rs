//! The walk that admits code, or refuses it.

use std::collections::{BTreeMap, BTreeSet};

use syn::punctuated::Punctuated;
use syn::{Block, Expr, Lit, Macro, Member, Pat, Stmt, Token, Type, UnOp, parse_quote};

use crate::admission::purity::callees::{Callees, Seen};
use crate::admission::purity::pure_program::{Leaf, List, PureProgram, Step};
use crate::admission::receivers::Receivers;
use crate::analysis::lane_interchange::{counted, endless, steps, swapped};
use crate::ir::goto_target;
use crate::item::model::{Function, Param};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_constant, is_plain_literal, is_primitive, is_pure_function};
use crate::syntax::elision::nameless;
use crate::syntax::mentions::{assignment, bare, bare_type, name, tail, untyped};
use crate::syntax::standard_macros::of_std;

/// The walk over one function; `None` refuses the program.
pub(crate) struct PurityWalk<'a> {
    pub(super) plain: &'a mut PureProgram,
    pub(super) callees: Callees<'a>,
    /// Functions called in lane code that have been looked at.
    pub(super) seen: &'a mut Seen,
    /// Variables with a value per member.
    pub(super) locals: BTreeSet<String>,
    /// Parameters that all members share.
    pub(super) shared: BTreeMap<String, Type>,
    /// Variables that stand for a place in shared data, or a copy of what is there.
    pub(super) aliases: BTreeMap<String, Leaf>,
    /// Variables of a member's that hold a structure of the file's.
    pub(super) structures: BTreeMap<String, Type>,
    /// Whether jump markers may occur, else `return`.
    pub(super) exits: bool,
    /// The types of what methods are called on.
    pub(super) receivers: &'a Receivers<'a>,
    /// Whether rustc is asked where they are not known: in the program's own code, outside of macros.
    pub(super) asks: bool,
}

impl<'a> PurityWalk<'a> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> Option<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
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
        if let Some(ty) = self.structure(value) {
            self.whole(value)?;
            return self.bind_structure(pat, ty);
        }
        if let Pat::Ident(p) = untyped(pat)
            && p.by_ref.is_none()
            && p.subpat.is_none()
            && let Some(leaf) = self.place(value)?
        {
            self.aliases.insert(p.ident.to_string(), leaf);
            return Some(());
        }
        if let Pat::Tuple(p) = untyped(pat)
            && let Some(leaf) = self.place(value)?
            && let Some(parts) = self.parts(p, &leaf)
        {
            self.aliases.extend(parts);
            return Some(());
        }
        self.pattern(pat)?;
        self.expr(value)
    }

    /// The pattern of a structure, or of a tuple with one in it.
    fn bind_structure(&mut self, pat: &Pat, ty: Type) -> Option<()> {
        match (untyped(pat), ty) {
            (Pat::Ident(p), ty) if p.by_ref.is_none() && p.subpat.is_none() => {
                self.structures.insert(p.ident.to_string(), ty);
                Some(())
            }
            (Pat::Tuple(p), Type::Tuple(ty)) if p.elems.len() == ty.elems.len() => {
                p.elems.iter().zip(&ty.elems).try_for_each(|(pat, ty)| match self.callees.structure(ty) {
                    Some(ty) => self.bind_structure(pat, ty),
                    None => self.pattern(pat),
                })
            }
            _ => None,
        }
    }

    /// The variables of a pattern that stand for parts of a tuple in shared data.
    fn parts(&self, pat: &syn::PatTuple, leaf: &Leaf) -> Option<Vec<(String, Leaf)>> {
        let by_reference = match leaf.ty()? {
            Type::Reference(r) => matches!(*r.elem, Type::Tuple(_)).then_some(true)?,
            Type::Tuple(_) => false,
            _ => return None,
        };
        let part = |(nth, pat): (usize, &Pat)| {
            let Pat::Ident(p) = pat else { return None };
            if p.by_ref.is_some() || p.subpat.is_some() {
                return None;
            }
            let part = leaf.clone().field(&Member::Unnamed(nth.into()), self.callees.definitions)?;
            let part =
                if by_reference { part.step(Step::Reference, self.callees.definitions)? } else { part };
            Some((p.ident.to_string(), part))
        };
        pat.elems.iter().enumerate().map(part).collect()
    }

    /// The place in shared data that an expression names. Its indices are walked.
    fn place(&mut self, expr: &Expr) -> Option<Option<Leaf>> {
        let expr = bare(expr);
        match expr {
            Expr::Path(p) => {
                if let Some(name) = p.path.get_ident().filter(|_| p.qself.is_none()) {
                    let key = name.to_string();
                    if let Some(leaf) = self.aliases.get(&key) {
                        return Some(Some(leaf.clone()));
                    }
                    if let Some(ty) = self.shared.get(&key) {
                        let root = Some((name.clone(), nameless(ty)));
                        let list = List::Of(Box::new(ty.clone()));
                        return Some(Some(Leaf { root, value: parse_quote!(#name), list }));
                    }
                    if self.locals.contains(&key) {
                        return Some(None);
                    }
                }
                Some(is_constant(p).then(|| Leaf::constant(p, self.callees.definitions)))
            }
            Expr::Field(e) => match self.place(&e.base)? {
                None => Some(None),
                Some(leaf) => Some(Some(leaf.field(&e.member, self.callees.definitions)?)),
            },
            Expr::Index(e) => match self.place(&e.expr)? {
                None => Some(None),
                Some(leaf) => {
                    self.expr(&e.index)?;
                    Some(Some(leaf.step(Step::Element, self.callees.definitions)?))
                }
            },
            Expr::Reference(e) if e.mutability.is_none() => self.step(&e.expr, Step::Reference),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.step(&e.expr, Step::Dereference),
            _ => Some(None),
        }
    }

    fn step(&mut self, of: &Expr, step: Step) -> Option<Option<Leaf>> {
        match self.place(of)? {
            None => Some(None),
            Some(leaf) => Some(Some(leaf.step(step, self.callees.definitions)?)),
        }
    }

    /// The type of a value that is a structure of the file's: of a variable that holds one, or made, or yielded by a function.
    ///
    /// What only computes on numbers may do anything on structures: operators, methods, loops over them. So [`PurityWalk::expr`] refuses
    /// them, and they go only where they are not looked into.
    fn structure(&self, expr: &Expr) -> Option<Type> {
        let callees = &self.callees;
        let named =
            |path: &syn::Path| path.get_ident().and_then(|name| callees.structure(&parse_quote!(#name)));
        match bare(expr) {
            Expr::Path(_) => self.structures.get(&name(bare(expr))?).cloned(),
            Expr::Field(e) => callees.structure(&callees.beside.field(&self.structure(&e.base)?, &e.member)?),
            Expr::Tuple(e) => {
                let ty = |e: &Expr| self.structure(e).unwrap_or_else(|| parse_quote!(_));
                let types = e.elems.iter().map(ty);
                callees.structure(&parse_quote!((#(#types,)*)))
            }
            Expr::Struct(e) => named(&e.path).filter(|_| e.qself.is_none() && e.rest.is_none()),
            Expr::Block(e) => self.structure(tail(&e.block)?),
            Expr::If(e) => {
                let otherwise = || self.structure(&e.else_branch.as_ref()?.1);
                tail(&e.then_branch).and_then(|e| self.structure(e)).or_else(otherwise)
            }
            Expr::Match(e) => e.arms.iter().find_map(|arm| self.structure(&arm.body)),
            Expr::Call(e) => {
                let Expr::Path(func) = &*e.func else { return None };
                match self.called(func) {
                    Some((helper, callees)) => callees.structure(&helper.output),
                    None => named(&func.path).filter(|_| func.qself.is_none()),
                }
            }
            _ => None,
        }
    }

    /// A structure that is handed on as it is.
    fn whole(&mut self, expr: &Expr) -> Option<()> {
        let owned = self.structure(expr).filter(|ty| self.callees.is_owned(ty));
        self.plain.structures.extend(owned);
        match bare(expr) {
            Expr::Path(_) => Some(()),
            Expr::Field(e) => self.whole(&e.base),
            Expr::Struct(e) => e.fields.iter().try_for_each(|field| self.value(&field.expr)),
            Expr::Tuple(e) => e.elems.iter().try_for_each(|e| self.value(e)),
            Expr::Block(e) => self.block(&e.block),
            Expr::If(e) => {
                self.expr(&e.cond)?;
                self.block(&e.then_branch)?;
                e.else_branch.iter().try_for_each(|(_, e)| self.value(e))
            }
            Expr::Match(e) => self.match_(e),
            Expr::Call(e) => match &*e.func {
                Expr::Path(func) if self.called(func).is_none() => {
                    e.args.iter().try_for_each(|e| self.value(e))
                }
                _ => self.call(e),
            },
            _ => None,
        }
    }

    /// A value that is handed on, be it a structure.
    fn value(&mut self, expr: &Expr) -> Option<()> {
        match self.structure(expr) {
            Some(_) => self.whole(expr),
            None => self.expr(expr),
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Option<()> {
        if self.structure(expr).is_some() {
            return None;
        }
        if !self.asks && self.receivers.need(bare(expr)).is_some() {
            return None;
        }
        if let Some(leaf) = self.place(expr)? {
            self.plain.leaves.push(leaf);
            return Some(());
        }
        let expr = bare(expr);
        if let Some((place, value)) = assignment(expr) {
            if matches!(expr, Expr::Binary(_)) && self.structure(place).is_some() {
                return None;
            }
            if let Some(ty) = self.structure(value) {
                match name(bare(place)) {
                    Some(name) => _ = self.structures.insert(name, ty),
                    // Which of its variables hold structures then, nobody follows.
                    None if matches!(bare(place), Expr::Tuple(_)) => return None,
                    None => self.assignable(place)?,
                }
                return self.whole(value);
            }
            self.assignable(place)?;
            return self.value(value);
        }
        if let Some(range) = counted(expr) {
            return self.ends(range);
        }
        if let Some(places) = swapped(expr) {
            return places.into_iter().try_for_each(|place| self.assignable(place));
        }
        match expr {
            Expr::Lit(lit) => is_plain_literal(&lit.lit).then_some(()),
            Expr::Path(p) => {
                let local = name(expr).is_some_and(|name| self.locals.contains(&name));
                (local || of_option(&p.path, "None")).then_some(())
            }
            Expr::Unary(e) => self.expr(&e.expr),
            Expr::Cast(e) => is_primitive(&e.ty).then_some(()).and_then(|()| self.expr(&e.expr)),
            Expr::Binary(e) => {
                self.operand(&e.left)?;
                self.operand(&e.right)
            }
            Expr::Let(e) => {
                self.pattern(&e.pat)?;
                self.expr(&e.expr)
            }
            Expr::If(e) => {
                self.expr(&e.cond)?;
                self.stmts(&e.then_branch.stmts)?;
                e.else_branch.iter().try_for_each(|(_, e)| self.expr(e))
            }
            Expr::Match(e) => self.match_(e),
            Expr::Block(e) => self.stmts(&e.block.stmts),
            Expr::While(e) => {
                self.expr(&e.cond)?;
                self.stmts(&e.body.stmts)
            }
            Expr::Loop(e) => self.stmts(&e.body.stmts),
            Expr::ForLoop(e) => self.for_(e),
            Expr::Break(e) => e.expr.iter().try_for_each(|e| self.expr(e)),
            Expr::Continue(_) => Some(()),
            Expr::Return(e) if !self.exits => e.expr.iter().try_for_each(|e| self.value(e)),
            Expr::Tuple(e) => e.elems.iter().try_for_each(|e| self.expr(e)),
            Expr::Array(e) => e.elems.iter().try_for_each(|e| self.expr(e)),
            Expr::Repeat(e) => self.expr(&e.expr),
            Expr::Field(e) => self.value(&e.base),
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
                e.args.iter().try_for_each(|e| self.expr(e))
            }
            Expr::Call(e) => self.call(e),
            Expr::Macro(m) => self.macro_(&m.mac),
            _ => None,
        }
    }

    fn match_(&mut self, e: &syn::ExprMatch) -> Option<()> {
        if !self.comparison(&e.expr)? {
            self.expr(&e.expr)?;
        }
        e.arms.iter().try_for_each(|arm| {
            self.pattern(&arm.pat)?;
            self.value(&arm.body)
        })
    }

    /// A block whose value is handed on.
    fn block(&mut self, block: &Block) -> Option<()> {
        match block.stmts.split_last() {
            Some((Stmt::Expr(tail, None), before)) => {
                self.stmts(before)?;
                self.value(tail)
            }
            _ => self.stmts(&block.stmts),
        }
    }

    /// An operand: operators on references to primitives are those on what they refer to.
    fn operand(&mut self, expr: &Expr) -> Option<()> {
        let Some(leaf) = self.place(expr)? else { return self.expr(expr) };
        let behind = matches!(leaf.ty(), Some(Type::Reference(_)));
        let leaf = if behind { leaf.step(Step::Dereference, self.callees.definitions)? } else { leaf };
        self.plain.leaves.push(leaf);
        Some(())
    }

    fn for_(&mut self, e: &syn::ExprForLoop) -> Option<()> {
        if !self.elements(&e.pat, &e.expr)? {
            self.pattern(&e.pat)?;
            match self.exits {
                true => self.range(&e.expr)?,
                // The loop is no part of the program: what it goes through need not be kept in a column.
                false => self.items(&e.expr)?,
            }
        }
        self.stmts(&e.body.stmts)
    }

    /// Whether a `for` goes over shared data, or an `iter` of it, and what it hands out then: references to elements, numbered or not.
    fn elements(&mut self, pat: &Pat, iter: &Expr) -> Option<bool> {
        let number = |pat: &Pat| matches!(pat, Pat::Ident(_) | Pat::Wild(_));
        match (bare(iter), pat) {
            (Expr::MethodCall(call), pat) if call.method == "rev" && call.args.is_empty() => {
                self.elements(pat, &call.receiver)
            }
            (Expr::MethodCall(call), Pat::Tuple(p))
                if call.method == "enumerate" && p.elems.len() == 2 && number(&p.elems[0]) =>
            {
                self.elements(&p.elems[1], &call.receiver)
            }
            (iter, pat) => {
                let list = match iter {
                    Expr::MethodCall(call) if call.method == "iter" && call.args.is_empty() => &call.receiver,
                    other => other,
                };
                let Some(leaf) = self.place(list)? else { return Some(false) };
                let element = leaf.step(Step::Element, self.callees.definitions)?;
                let (name, element) = match pat {
                    Pat::Ident(p) => (p, element.step(Step::Reference, self.callees.definitions)?),
                    Pat::Reference(r) => match &*r.pat {
                        Pat::Ident(p) => (p, element),
                        _ => return None,
                    },
                    _ => return None,
                };
                if name.by_ref.is_some() || name.subpat.is_some() {
                    return None;
                }
                self.aliases.insert(name.ident.to_string(), element);
                Some(true)
            }
        }
    }

    /// A range of numbers, or what `rev` and `step_by` make of one.
    fn range(&mut self, expr: &Expr) -> Option<()> {
        let expr = bare(expr);
        match expr {
            Expr::Range(e) => self.ends(e),
            Expr::MethodCall(e) if e.method == "rev" || e.method == "step_by" => {
                self.range(&e.receiver)?;
                e.args.iter().try_for_each(|e| self.expr(e))
            }
            iter => {
                if let Some(first) = endless(iter) {
                    return self.expr(first);
                }
                let steps = steps(iter)?;
                self.expr(steps.rounds)?;
                self.ends(steps.range)
            }
        }
    }

    fn ends(&mut self, range: &syn::ExprRange) -> Option<()> {
        [&range.start, &range.end].into_iter().flatten().try_for_each(|e| self.expr(e))
    }

    /// Elements of arrays, or a range.
    fn items(&mut self, expr: &Expr) -> Option<()> {
        const ADAPTORS: [&str; 8] =
            ["copied", "enumerate", "into_iter", "iter", "iter_mut", "rev", "skip", "take"];
        match bare(expr) {
            Expr::Reference(e) => self.items(&e.expr),
            Expr::MethodCall(e) if e.method == "zip" && e.args.len() == 1 => {
                self.items(&e.receiver)?;
                self.items(&e.args[0])
            }
            Expr::MethodCall(e) if ADAPTORS.iter().any(|name| e.method == name) => {
                self.items(&e.receiver)?;
                e.args.iter().try_for_each(|e| self.expr(e))
            }
            list @ (Expr::Path(_) | Expr::Field(_) | Expr::Index(_)) => self.expr(list),
            other => self.range(other),
        }
    }

    fn call(&mut self, call: &syn::ExprCall) -> Option<()> {
        let Expr::Path(func) = &*call.func else { return None };
        let segments: Vec<String> = func.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let names: Vec<&str> = segments.iter().map(String::as_str).collect();
        match &names[..] {
            // The lowering's own counters.
            [.., "__rt", name] if name.starts_with("count_") || name.starts_with("holds") => {
                call.args.iter().try_for_each(|arg| match arg {
                    Expr::Reference(e) => self.expr(&e.expr),
                    other => self.expr(other),
                })
            }
            [.., "Some"] => call.args.iter().try_for_each(|e| self.expr(e)),
            _ if is_pure_function(func) => call.args.iter().try_for_each(|e| self.expr(e)),
            _ => self.helper(func, call),
        }
    }

    /// The function that a path names in a call.
    fn called(&self, func: &syn::ExprPath) -> Option<(&'a Function, Callees<'a>)> {
        let segments: Vec<String> = func.path.segments.iter().map(|s| s.ident.to_string()).collect();
        match &segments[..] {
            [name] if !self.locals.contains(name) => self.callees.find(name, false),
            [own, name] if own == "Self" => self.callees.find(name, true),
            _ => None,
        }
    }

    /// A call of another function.
    fn helper(&mut self, func: &syn::ExprPath, call: &syn::ExprCall) -> Option<()> {
        let (helper, callees) = self.called(func)?;
        if helper.params.len() != call.args.len() {
            return None;
        }
        let params = call.args.iter().zip(&helper.params);
        let lent = params.map(|(arg, param)| self.argument(arg, param)).collect::<Option<Vec<bool>>>()?;
        if !self.seen.insert((helper.sig.ident.to_string(), lent.clone())) {
            return Some(());
        }
        let generic = helper.sig.generics.type_params().next().is_some();
        if generic || helper.sig.asyncness.is_some() {
            return None;
        }
        self.plain.value(&helper.output, &callees)?;
        let (mut shared, mut structures) = (BTreeMap::new(), BTreeMap::new());
        for (param, lent) in helper.params.iter().zip(lent) {
            let value = match &param.ty {
                Type::Reference(r) if lent => match bare_type(&r.elem) {
                    Type::Slice(slice) => &slice.elem,
                    ty => ty,
                },
                Type::Reference(_) => {
                    shared.insert(param.ident.to_string(), param.ty.clone());
                    continue;
                }
                ty => ty,
            };
            let structure = self.plain.value(value, &callees)?;
            structures.extend(structure.map(|ty| (param.ident.to_string(), ty)));
        }
        let params = helper.params.iter().map(|p| p.ident.to_string());
        let params = params.filter(|name| !shared.contains_key(name));
        let locals = helper.bindings.keys().filter(|name| !shared.contains_key(*name)).cloned();
        let locals = locals.chain(params).collect();
        let receivers = &Receivers::of_helper(helper, callees.definitions, callees.outputs);
        let mut walk = PurityWalk {
            plain: self.plain,
            receivers,
            callees,
            seen: self.seen,
            locals,
            shared,
            aliases: BTreeMap::new(),
            structures,
            exits: false,
            asks: false,
        };
        for param in &helper.params {
            param.pattern.iter().try_for_each(|pat| walk.pattern(pat))?;
        }
        walk.block(&helper.body)
    }

    /// An argument; whether it lends a value of the member's.
    fn argument(&mut self, arg: &Expr, param: &Param) -> Option<bool> {
        let Type::Reference(r) = &param.ty else { return self.value(arg).map(|()| false) };
        if r.mutability.is_none() && self.place(arg)?.is_some() {
            return Some(false);
        }
        match bare(arg) {
            Expr::Reference(e) if e.mutability.is_some() => self.assignable(&e.expr)?,
            Expr::Reference(e) => self.value(&e.expr)?,
            // A reference that the function was lent itself.
            other => self.expr(other)?,
        }
        Some(true)
    }

    /// Whether an expression that a `match` looks at is a comparison, which is admitted: its result stays in the
    /// `match`.
    fn comparison(&mut self, expr: &Expr) -> Option<bool> {
        let args: Vec<&Expr> = match bare(expr) {
            Expr::MethodCall(e) if (e.method == "unwrap" || e.method == "reverse") && e.args.is_empty() => {
                return self.comparison(&e.receiver);
            }
            Expr::MethodCall(e)
                if ["cmp", "partial_cmp", "total_cmp"].iter().any(|name| e.method == name)
                    && e.args.len() == 1 =>
            {
                vec![&e.receiver, &e.args[0]]
            }
            Expr::Call(e) if e.args.len() == 2 => match &*e.func {
                Expr::Path(f) if f.path.segments.len() == 2 || f.path.leading_colon.is_some() => {
                    let mut names = f.path.segments.iter().rev().map(|s| s.ident.to_string());
                    let (name, of) = (names.next()?, names.next()?);
                    let of_number = matches!((of.as_str(), name.as_str()), ("f32" | "f64", "total_cmp"));
                    if !(of_number || (of == "Ord" && name == "cmp")) {
                        return Some(false);
                    }
                    vec![&e.args[0], &e.args[1]]
                }
                _ => return Some(false),
            },
            _ => return Some(false),
        };
        for arg in args {
            let mut arg = arg;
            while let Expr::Paren(syn::ExprParen { expr, .. })
            | Expr::Reference(syn::ExprReference { expr, .. }) = arg
            {
                arg = expr;
            }
            self.expr(arg)?;
        }
        Some(true)
    }

    /// Assertions and panics: their conditions; what is formatted is lost with the tile.
    fn macro_(&mut self, mac: &Macro) -> Option<()> {
        if goto_target(mac).is_some() {
            return self.exits.then_some(());
        }
        let name = of_std(mac, self.callees.macros)?.to_string();
        let conditions = match name.as_str() {
            "assert" | "debug_assert" => 1,
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
            "panic" | "unreachable" | "todo" | "unimplemented" => 0,
            "cfg" => return Some(()),
            _ => return None,
        };
        let args = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
        let asks = std::mem::replace(&mut self.asks, false);
        let only_computes = args.iter().enumerate().try_for_each(|(nth, arg)| match arg {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(_), .. }) if nth >= conditions => Some(()),
            other => self.expr(other),
        });
        self.asks = asks;
        only_computes
    }

    /// What may stand on the left of an assignment.
    fn assignable(&mut self, place: &Expr) -> Option<()> {
        match bare(place) {
            Expr::Field(e) => self.assignable(&e.base),
            // What the function was lent.
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.assignable(&e.expr),
            Expr::Index(e) => {
                self.assignable(&e.expr)?;
                self.expr(&e.index)
            }
            Expr::Tuple(e) => e.elems.iter().try_for_each(|e| self.assignable(e)),
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

    pub(super) fn pattern(&mut self, pat: &Pat) -> Option<()> {
        match pat {
            Pat::Ident(p) => match &p.subpat {
                _ if p.by_ref.is_some() => None,
                Some((_, pat)) => self.pattern(pat),
                None => Some(()),
            },
            Pat::Type(p) => self.pattern(&p.pat),
            Pat::Paren(p) => self.pattern(&p.pat),
            Pat::Tuple(p) => p.elems.iter().try_for_each(|p| self.pattern(p)),
            Pat::Slice(p) => p.elems.iter().try_for_each(|p| self.pattern(p)),
            Pat::Or(p) => p.cases.iter().try_for_each(|p| self.pattern(p)),
            Pat::TupleStruct(p) if of_option(&p.path, "Some") => {
                p.elems.iter().try_for_each(|p| self.pattern(p))
            }
            Pat::Path(p) => {
                let ordering = p.path.segments.iter().rev().nth(1).is_some_and(|s| s.ident == "Ordering");
                (ordering || of_option(&p.path, "None")).then_some(())
            }
            Pat::Reference(p) if p.mutability.is_none() => self.pattern(&p.pat),
            Pat::Wild(_) | Pat::Rest(_) | Pat::Lit(_) | Pat::Range(_) => Some(()),
            _ => None,
        }
    }
}

/// Whether a path is a variant of `Option`, alone or with the path that the rewriting of closures writes.
fn of_option(path: &syn::Path, variant: &str) -> bool {
    let full = || {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        segments.join("::") == format!("core::option::Option::{variant}")
    };
    path.is_ident(variant) || (path.leading_colon.is_some() && full())
}
