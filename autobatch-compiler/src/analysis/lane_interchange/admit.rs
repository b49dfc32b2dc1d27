//! The walk that admits code to lane interchange, or refuses it.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Pat, RangeLimits, Stmt, Type, UnOp, parse_quote};

use crate::analysis::lane_interchange::coalesce::coalesce;
use crate::analysis::lane_interchange::plan::{Array, Leaf, Node, Plan, SMALL, Scope, declared};
use crate::diagnostics::reasons::{
    LOOP_ARRAY, LOOP_CALLS, LOOP_CALLS_METHOD, LOOP_CODE, LOOP_FIELD, LOOP_INDEX, LOOP_INNER, LOOP_ITEMS,
    LOOP_LEAVES, LOOP_LIST, LOOP_PATTERN, LOOP_REFERENCE, Reason,
};
use crate::ir::effects::{bound, variable};
use crate::ir::{Op, Program, Role, VarId, VarSet, goto_target};
use crate::std_models::pure::{
    is_constant, is_list, is_plain_literal, is_primitive, is_pure_function, is_pure_method, literal,
};
use crate::syntax::mentions::{bare, has_let, is_compound, text};
use crate::syntax::walk::{self, At};

/// The most elements of an array that lane code takes apart.
const LARGEST_VALUE: usize = 64;

pub(super) struct Admit<'a, 'p> {
    scope: &'a Scope<'p>,
    uniforms: VarSet,
    /// Those that are elements of shared lists, with such an element. They may be structs, read by fields.
    elements: BTreeMap<VarId, Expr>,
    leaves: Vec<Leaf>,
    /// The types that are written of arrays with a place of their own.
    types: Vec<(VarId, Type)>,
    /// Whether lanes may return from the function.
    returns: bool,
    /// What was refused first.
    refused: Option<Refusal>,
}

/// Code that stops lane interchange.
#[derive(Clone)]
pub struct Refusal {
    /// Where it stands.
    pub span: Span,
    /// The function or method that it is about.
    pub name: Option<String>,
    /// Why, and what to write instead.
    pub reason: Reason,
}

impl Refusal {
    /// One sentence on why.
    pub(crate) fn why(&self) -> String {
        self.reason.about(self.name.as_deref())
    }
}

/// The items of an iterator.
enum Items {
    /// Integers.
    Numbers,
    /// Elements of the list of which this is one.
    Elements(Box<Expr>),
    /// Integers and items.
    Numbered(Box<Items>),
}

/// Appends, adjacent pieces in one.
pub(super) fn push(nodes: &mut Vec<Node>, node: Node) {
    match (nodes.last_mut(), node) {
        (Some(Node::Lanes(before)), Node::Lanes(more)) => before.extend(more),
        (_, node) => nodes.push(node),
    }
}

impl<'a, 'p> Admit<'a, 'p> {
    pub(super) fn new(scope: &'a Scope<'p>) -> Self {
        Admit {
            scope,
            uniforms: VarSet::new(),
            elements: BTreeMap::new(),
            leaves: Vec::new(),
            types: Vec::new(),
            returns: false,
            refused: None,
        }
    }

    pub(super) fn plan(self, nodes: Vec<Node>) -> Plan {
        Plan { nodes, uniforms: self.uniforms, leaves: self.leaves, types: self.types, returns: self.returns }
    }

    fn variable(&self, expr: &Expr) -> Option<VarId> {
        variable(&self.scope.names, expr)
    }

    fn array(&self, expr: &Expr) -> Option<&Array> {
        self.scope.arrays.get(&self.variable(expr)?)
    }

    /// A shared parameter. Whether every call passes the same one is known later.
    fn is_shared(&self, var: VarId) -> bool {
        let var = self.scope.program.var(var);
        var.shared && !var.mutable
    }

    // ---- statements of the strip ----

    /// Appends what a statement comes to.
    pub(super) fn stmt(&mut self, stmt: &Stmt, nodes: &mut Vec<Node>) -> Option<()> {
        match stmt {
            Stmt::Local(local) => self.local(local, nodes),
            Stmt::Expr(Expr::ForLoop(e), _) => {
                let (known, refused) = (self.leaves.len(), self.refused.clone());
                if self.small_loop(e) {
                    push(nodes, Node::Lanes(vec![stmt.clone()]));
                    return Some(());
                }
                self.leaves.truncate(known);
                self.refused = refused;
                push(nodes, self.uniform_loop(e)?);
                Some(())
            }
            Stmt::Expr(Expr::Assign(e), _) if self.is_array(&e.left) => {
                self.set(&e.left, &e.right, false, nodes)
            }
            Stmt::Expr(Expr::MethodCall(e), _) if is_slice_copy(e) => {
                let stmts = self.copied(&e.receiver, &e.args[0])?;
                push(nodes, Node::Lanes(stmts));
                Some(())
            }
            Stmt::Expr(..) => {
                self.lane_stmt(stmt, true).then(|| push(nodes, Node::Lanes(vec![stmt.clone()])))
            }
            other => self.refuse(other, LOOP_CODE),
        }
    }

    /// Notes what stops it, unless something else did before.
    fn refuse<T>(&mut self, at: &impl Spanned, reason: Reason) -> Option<T> {
        self.refuse_named(at, None, reason)
    }

    fn refuse_named<T>(&mut self, at: &impl Spanned, name: Option<String>, reason: Reason) -> Option<T> {
        self.refused.get_or_insert_with(|| Refusal { span: at.span(), name, reason });
        None
    }

    /// What copies a slice of an array to one as long of another: `a[..4].copy_from_slice(&b[4..])`.
    fn copied(&mut self, to: &Expr, from: &Expr) -> Option<Vec<Stmt>> {
        let Expr::Reference(from) = bare(from) else { return None };
        let ((to, at), (from, from_at)) = (self.slice(to)?, self.slice(&from.expr)?);
        let same = self.variable(&to) == self.variable(&from);
        if same || at.len() != from_at.len() || at.len() > LARGEST_VALUE {
            return None;
        }
        let mut stmts = Vec::new();
        for (i, j) in at.zip(from_at) {
            let (place, element): (Expr, Expr) = (parse_quote!(#to[#i]), parse_quote!(#from[#j]));
            if !self.place(&place) || !self.lane(&element) {
                return None;
            }
            stmts.push(parse_quote!(#place = #element;));
        }
        Some(stmts)
    }

    /// An array of numbers, and the indices that a slice of it has.
    fn slice(&self, slice: &Expr) -> Option<(Expr, Range<usize>)> {
        let (root, indices) = indexed(slice);
        let array = self.array(root)?;
        let len = array.size(0).filter(|_| array.lengths.len() == 1)?;
        let range = match indices[..] {
            [] => 0..len,
            [Expr::Range(range)] => {
                let number = |end: &Option<Box<Expr>>, missing: usize| match end {
                    Some(end) => usize::try_from(self.scope.names.trip_counts().number(end)?).ok(),
                    None => Some(missing),
                };
                let end = number(&range.end, len)?;
                let closed = matches!(range.limits, RangeLimits::Closed(_));
                number(&range.start, 0)?..end.checked_add(usize::from(closed))?
            }
            _ => return None,
        };
        (range.start <= range.end && range.end <= len).then(|| (root.clone(), range))
    }

    fn uniform_loop(&mut self, e: &syn::ExprForLoop) -> Option<Node> {
        if e.label.is_some() || !e.attrs.is_empty() {
            return self.refuse(e, LOOP_INNER);
        }
        if !names_only(&e.pat) {
            return self.refuse(&e.pat, LOOP_PATTERN);
        }
        let Some(items) = self.iterator(&e.expr) else { return self.refuse(&e.expr, LOOP_ITEMS) };
        let Some(counters) = self.counters(e) else { return self.refuse(&e.pat, LOOP_CODE) };
        self.uniforms.extend(counters);
        self.item(&e.pat, &items);
        let mut nodes = Vec::new();
        let mut stmts = &e.body.stmts[..];
        while let Some((stmt, rest)) = stmts.split_first() {
            stmts = rest;
            let Some(skipped) = skips(stmt) else {
                self.stmt(stmt, &mut nodes)?;
                continue;
            };
            let known = self.leaves.len();
            if self.uniform(skipped) {
                nodes.push(Node::Uniform(Box::new(stmt.clone())));
                continue;
            }
            self.leaves.truncate(known);
            self.stmt(&parse_quote!(if #skipped {} else { #(#rest)* }), &mut nodes)?;
            break;
        }
        coalesce(self.scope, &mut nodes, &declared(&self.scope.names, &e.body.stmts), &mut self.types);
        let mut head = e.clone();
        head.body.stmts.clear();
        Some(Node::Loop(Box::new(head), nodes))
    }

    /// What a loop gives its rounds, if they do not change it.
    fn counters(&self, e: &syn::ExprForLoop) -> Option<VarSet> {
        let counters = bound(&self.scope.names, &e.pat);
        counters.iter().all(|v| !self.scope.program.var(*v).mutable).then_some(counters)
    }

    fn local(&mut self, local: &syn::Local, nodes: &mut Vec<Node>) -> Option<()> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none() && local.attrs.is_empty());
        let Some(init) = init else { return self.refuse(local, LOOP_CODE) };
        let (pat, init) = (&local.pat, &*init.expr);
        if !names_only(pat) {
            return self.refuse(pat, LOOP_PATTERN);
        }
        let vars = bound(&self.scope.names, pat);
        if let Some(var) = vars.iter().find(|v| self.is_large(**v)) {
            let ident = &self.scope.program.var(*var).ident;
            if let Pat::Type(pat) = pat {
                self.types.push((*var, (*pat.ty).clone()));
            }
            return self.set(&parse_quote!(#ident), init, true, nodes);
        }
        let is_result = |v: &VarId| matches!(self.scope.program.var(*v).role, Role::Result);
        if self.returns && vars.iter().any(is_result) {
            // Of the lanes that have not returned.
            return self.result(init).then(|| push(nodes, Node::Lanes(vec![Stmt::Local(local.clone())])));
        }
        let known = self.leaves.len();
        if vars.iter().all(|v| !self.scope.program.var(*v).mutable && !self.scope.arrays.contains_key(v))
            && self.uniform(init)
        {
            self.uniforms.extend(vars);
            nodes.push(Node::Uniform(Box::new(Stmt::Local(local.clone()))));
            return Some(());
        }
        self.leaves.truncate(known);
        self.lane(init).then(|| push(nodes, Node::Lanes(vec![Stmt::Local(local.clone())])))
    }

    /// An array that is not small, or a part of one, becomes a value. That of a new one does not mention it.
    fn set(&mut self, place: &Expr, value: &Expr, is_new: bool, nodes: &mut Vec<Node>) -> Option<()> {
        let (var, array, indices) = self.in_place(place)?;
        let (array, indices) = (array.clone(), indices.into_iter().cloned().collect::<Vec<_>>());
        if !indices.iter().all(|index| self.uniform(index)) {
            return self.refuse(place, LOOP_INDEX);
        }
        if indices.is_empty()
            && let Some(from) = self.variable(value).filter(|from| self.is_large(*from))
        {
            if from != var {
                nodes.push(Node::Copy(var, from));
            }
            return Some(());
        }
        if indices.is_empty()
            && let Some(element) = repeated(value, array.lengths.len())
        {
            return self.lane(element).then(|| nodes.push(Node::Fill(var, Box::new(element.clone()))));
        }
        match bare(value) {
            Expr::Array(e) if is_new => {
                for (i, e) in e.elems.iter().enumerate() {
                    let element = parse_quote!(#place[#i]);
                    if indices.len() + 1 < array.lengths.len() {
                        self.set(&element, e, true, nodes)?;
                    } else if self.lane(e) {
                        push(nodes, Node::Lanes(vec![parse_quote!(#element = #e;)]));
                    } else {
                        return None;
                    }
                }
                Some(())
            }
            value => {
                let all = array.elements(indices.len()).filter(|n| (1..=LARGEST_VALUE).contains(n));
                let elements = array.indices(indices.len()).filter(|_| all.is_some());
                let Some(elements) = elements else { return self.refuse(value, LOOP_ARRAY) };
                if !self.lane(value) {
                    return None;
                }
                let whole = Ident::new("__array", Span::mixed_site());
                let mut stmts: Vec<Stmt> = vec![parse_quote!(let #whole = #value;)];
                stmts.extend(
                    elements.iter().map(|at| -> Stmt { parse_quote!(#place #([#at])* = #whole #([#at])*;) }),
                );
                push(nodes, Node::Lanes(stmts));
                Some(())
            }
        }
    }

    // ---- arrays ----

    fn is_large(&self, var: VarId) -> bool {
        self.scope.arrays.get(&var).is_some_and(|array| !array.is_small())
    }

    /// An array whose elements are accessed in their place, and the indices of a part of it.
    fn in_place<'e>(&self, place: &'e Expr) -> Option<(VarId, &Array, Vec<&'e Expr>)> {
        let (root, indices) = indexed(place);
        let var = self.variable(root).filter(|var| self.is_large(*var))?;
        let array = &self.scope.arrays[&var];
        (indices.len() <= array.lengths.len()).then_some((var, array, indices))
    }

    /// Whether an expression is such an array or an array in it.
    fn is_array(&self, place: &Expr) -> bool {
        self.in_place(place).is_some_and(|(_, array, indices)| indices.len() < array.lengths.len())
    }

    /// Whether an expression is such a part of an array, and may be taken as a value.
    fn part(&mut self, expr: &Expr) -> bool {
        let Some((_, array, indices)) = self.in_place(expr) else { return false };
        let is_small = array.elements(indices.len()).is_some_and(|n| n <= SMALL);
        (is_small || indices.len() == array.lengths.len()) && indices.iter().all(|index| self.uniform(index))
    }

    // ---- the same value in all lanes ----

    /// What a `for` runs over: so many steps in every lane, items that are integers or elements of
    /// shared data.
    fn iterator(&mut self, expr: &Expr) -> Option<Items> {
        let expr = bare(expr);
        match expr {
            Expr::Range(e) => match (&e.start, &e.end) {
                (Some(start), Some(end)) if self.uniform(start) && self.uniform(end) => Some(Items::Numbers),
                _ => None,
            },
            Expr::MethodCall(e) => match (e.method.to_string().as_str(), e.args.first()) {
                ("rev", None) => self.iterator(&e.receiver),
                ("enumerate", None) => Some(Items::Numbered(Box::new(self.iterator(&e.receiver)?))),
                ("step_by", Some(step)) => {
                    let items = self.iterator(&e.receiver)?;
                    self.uniform(step).then_some(items)
                }
                ("iter", None) => self.elements(&e.receiver),
                _ => None,
            },
            Expr::Path(_) if self.variable(expr).is_some() => self.elements(expr),
            _ => None,
        }
    }

    fn elements(&self, list: &Expr) -> Option<Items> {
        self.is_shelf(list).then(|| Items::Elements(Box::new(parse_quote!(#list[0]))))
    }

    /// Notes what the variables of a `for` stand for.
    fn item(&mut self, pat: &Pat, items: &Items) {
        match (pat, items) {
            (Pat::Paren(p), _) => self.item(&p.pat, items),
            (Pat::Tuple(p), Items::Numbered(inner)) if p.elems.len() == 2 => self.item(&p.elems[1], inner),
            (_, Items::Numbers) => {}
            (Pat::Ident(_), Items::Elements(element)) => {
                let vars = bound(&self.scope.names, pat);
                self.elements.extend(vars.into_iter().map(|var| (var, (**element).clone())));
            }
            // Whatever the pattern makes of it: elements must be primitive.
            (_, items) => {
                let mut inner = items;
                while let Items::Numbered(items) = inner {
                    inner = items;
                }
                if let Items::Elements(element) = inner {
                    self.leaves.push(Leaf::Element((**element).clone()));
                }
            }
        }
    }

    /// A shared list.
    fn is_shelf(&self, expr: &Expr) -> bool {
        match (self.variable(expr), expr) {
            (Some(var), _) => {
                self.is_shared(var) && self.scope.program.var(var).ty.as_ref().is_some_and(is_list)
            }
            (None, Expr::Path(path)) => is_constant(path),
            _ => false,
        }
    }

    /// An element of shared data: constant or shared list, any index.
    fn element(&mut self, e: &syn::ExprIndex) -> bool {
        let element = Expr::Index(e.clone());
        let known = self.is_shelf(indexed(&element).0);
        if known {
            self.leaves.push(Leaf::Element(element));
        }
        known
    }

    fn uniform(&mut self, expr: &Expr) -> bool {
        let expr = bare(expr);
        match expr {
            Expr::Lit(lit) => is_plain_literal(&lit.lit),
            Expr::Path(path) => match self.variable(expr) {
                Some(var) if self.uniforms.contains(&var) => self.known(var),
                Some(var) if self.scope.derived.contains(&var) => true,
                Some(var) => self.is_shared(var) && self.leaf(expr),
                None => is_constant(path) && self.leaf(expr),
            },
            Expr::Unary(e) => matches!(e.op, UnOp::Neg(_) | UnOp::Not(_)) && self.uniform(&e.expr),
            Expr::Binary(e) => !is_compound(&e.op) && self.uniform(&e.left) && self.uniform(&e.right),
            Expr::Cast(e) => is_primitive(&e.ty) && self.uniform(&e.expr),
            Expr::Field(_) => self.field(expr),
            Expr::Index(e) => self.element(e) && indexed(expr).1.into_iter().all(|index| self.uniform(index)),
            Expr::MethodCall(e) if e.method == "len" && e.args.is_empty() => {
                self.array(&e.receiver).is_some() || self.is_shelf(&e.receiver)
            }
            Expr::MethodCall(e) => {
                is_pure_method(&e.method)
                    && self.uniform(&e.receiver)
                    && e.args.iter().all(|a| self.uniform(a))
            }
            _ => false,
        }
    }

    fn leaf(&mut self, expr: &Expr) -> bool {
        self.leaves.push(Leaf::Value(expr.clone()));
        true
    }

    /// The value of a uniform local.
    fn known(&mut self, var: VarId) -> bool {
        self.leaves.extend(self.elements.get(&var).cloned().map(Leaf::Element));
        true
    }

    /// A field of something shared, or of an element of a shared list.
    fn field(&mut self, expr: &Expr) -> bool {
        fn of(expr: &Expr, root: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Option<Expr> {
            match expr {
                Expr::Field(e) => {
                    let (base, member) = (of(&e.base, root)?, &e.member);
                    Some(parse_quote!(#base.#member))
                }
                other => root(other),
            }
        }
        let mut is_element = false;
        let whole = of(expr, &mut |root| {
            let var = self.variable(root)?;
            if let Some(element) = self.elements.get(&var) {
                is_element = true;
                return Some(element.clone());
            }
            self.is_shared(var).then(|| root.clone())
        });
        let leaf = if is_element { Leaf::Element } else { Leaf::Value };
        self.leaves.extend(whole.clone().map(leaf));
        whole.is_some()
    }

    // ---- code of one lane ----

    fn lane(&mut self, expr: &Expr) -> bool {
        let admitted = self.admits(expr);
        if !admitted && self.refused.is_none() {
            let (name, reason) = self.reason(bare(expr));
            self.refuse_named::<()>(expr, name, reason);
        }
        admitted
    }

    /// Why an expression is refused, if all that is in it is admitted.
    fn reason(&self, expr: &Expr) -> (Option<String>, Reason) {
        let reason = match expr {
            Expr::Call(e) => {
                let name = matches!(&*e.func, Expr::Path(_)).then(|| text(&e.func));
                return (name, LOOP_CALLS);
            }
            Expr::MethodCall(e) => return (Some(e.method.to_string()), LOOP_CALLS_METHOD),
            Expr::Index(_) if self.in_place(expr).is_some() => LOOP_INDEX,
            Expr::Index(_) => LOOP_LIST,
            Expr::Path(_) if self.in_place(expr).is_some() => LOOP_ARRAY,
            Expr::Array(_) | Expr::Repeat(_) => LOOP_ARRAY,
            Expr::Field(_) => LOOP_FIELD,
            Expr::Reference(_) => LOOP_REFERENCE,
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => LOOP_REFERENCE,
            Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) => LOOP_INNER,
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_) => LOOP_LEAVES,
            _ => LOOP_CODE,
        };
        (None, reason)
    }

    fn admits(&mut self, expr: &Expr) -> bool {
        let expr = bare(expr);
        match expr {
            Expr::Lit(lit) => is_plain_literal(&lit.lit),
            Expr::Path(path) => match self.variable(expr) {
                Some(var) if self.uniforms.contains(&var) => self.known(var),
                Some(var) if self.is_shared(var) => self.leaf(expr),
                Some(var) if self.is_large(var) => self.part(expr),
                Some(var) => !matches!(self.scope.program.var(var).role, Role::Result),
                None => is_constant(path) && self.leaf(expr),
            },
            Expr::Unary(e) => matches!(e.op, UnOp::Neg(_) | UnOp::Not(_)) && self.lane(&e.expr),
            // The right side first, as primitive types have it.
            Expr::Binary(e) if is_compound(&e.op) => self.lane(&e.right) && self.place(&e.left),
            Expr::Binary(e) => {
                !matches!(e.op, BinOp::And(_) | BinOp::Or(_) if has_let(expr))
                    && self.lane(&e.left)
                    && self.lane(&e.right)
            }
            Expr::Assign(e) => self.lane(&e.right) && self.place(&e.left),
            Expr::Cast(e) => is_primitive(&e.ty) && self.lane(&e.expr),
            Expr::Field(_) => self.field(expr),
            Expr::Index(_) if self.in_place(expr).is_some() => self.part(expr),
            Expr::Index(e) => self.index(e),
            Expr::MethodCall(e) if e.method == "len" && e.args.is_empty() => {
                self.array(&e.receiver).is_some() || self.is_shelf(&e.receiver)
            }
            Expr::MethodCall(e) => {
                is_pure_method(&e.method) && self.lane(&e.receiver) && e.args.iter().all(|a| self.lane(a))
            }
            Expr::Call(e) => {
                matches!(&*e.func, Expr::Path(path) if is_pure_function(path))
                    && e.args.iter().all(|a| self.lane(a))
            }
            Expr::Tuple(e) => e.elems.iter().all(|e| self.lane(e)),
            Expr::Array(e) => e.elems.len() <= SMALL && e.elems.iter().all(|e| self.lane(e)),
            Expr::Repeat(e) => literal(&e.len).is_some_and(|n| n <= SMALL as u64) && self.lane(&e.expr),
            Expr::If(e) => {
                !has_let(&e.cond)
                    && self.lane(&e.cond)
                    && self.block(&e.then_branch)
                    && e.else_branch.as_ref().is_none_or(|(_, e)| self.lane(e))
            }
            Expr::Block(e) => e.label.is_none() && e.attrs.is_empty() && self.block(&e.block),
            Expr::ForLoop(e) => self.small_loop(e),
            _ => false,
        }
    }

    fn block(&mut self, block: &syn::Block) -> bool {
        block.stmts.iter().all(|stmt| self.lane_stmt(stmt, false))
    }

    /// A statement of lane code, which may return from the function if that is said.
    fn lane_stmt(&mut self, stmt: &Stmt, may_return: bool) -> bool {
        match stmt {
            Stmt::Local(local) => {
                let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none()) else {
                    return self.refuse::<()>(local, LOOP_CODE).is_some();
                };
                let vars = bound(&self.scope.names, &local.pat);
                if !names_only(&local.pat) || vars.iter().any(|v| self.is_large(*v)) {
                    return self.refuse::<()>(&local.pat, LOOP_PATTERN).is_some();
                }
                // What follows from a loop's counter.
                let known = self.leaves.len();
                if vars.iter().all(|v| !self.scope.program.var(*v).mutable) && self.uniform(&init.expr) {
                    self.uniforms.extend(vars);
                    return true;
                }
                self.leaves.truncate(known);
                self.lane(&init.expr)
            }
            Stmt::Expr(e, _) if may_return => match (bare(e), returned(self.scope.program, e)) {
                (_, Some(value)) => {
                    self.returns = true;
                    self.result(value)
                }
                (branches @ Expr::If(e), _) if !has_let(&e.cond) && walk::any(branches, is_return) => {
                    self.branches(e)
                }
                _ => self.lane(e),
            },
            Stmt::Expr(e, _) => self.lane(e),
            _ => false,
        }
    }

    /// What a lane returns: a number, or `Option`s and `Result`s of such.
    fn result(&mut self, value: &Expr) -> bool {
        match bare(value) {
            Expr::Path(p) if p.path.is_ident("None") => true,
            Expr::Call(e) => match (&*e.func, e.args.first()) {
                (Expr::Path(p), Some(value))
                    if ["Some", "Ok", "Err"].iter().any(|name| p.path.is_ident(name)) =>
                {
                    self.result(value)
                }
                _ => self.lane(value),
            },
            value => self.lane(value),
        }
    }

    /// An `if` that has no value, and in which lanes return.
    fn branches(&mut self, e: &syn::ExprIf) -> bool {
        let mut branch = |block: &syn::Block| {
            let has_value = match block.stmts.last() {
                Some(Stmt::Expr(e, None)) => {
                    returned(self.scope.program, e).is_none()
                        && !matches!(e, Expr::If(_) | Expr::ForLoop(_) | Expr::Assign(_))
                }
                _ => false,
            };
            !has_value && block.stmts.iter().all(|stmt| self.lane_stmt(stmt, true))
        };
        let branches = branch(&e.then_branch)
            && match &e.else_branch {
                Some((_, other)) => match &**other {
                    Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => branch(&e.block),
                    Expr::If(e) if !has_let(&e.cond) => self.branches(e),
                    _ => false,
                },
                None => true,
            };
        branches && self.lane(&e.cond)
    }

    /// A loop of a few trips, which LLVM unrolls before it vectorises.
    fn small_loop(&mut self, e: &syn::ExprForLoop) -> bool {
        if !self.scope.names.trip_counts().is_short_range(&e.expr)
            || e.label.is_some()
            || !e.attrs.is_empty()
            || !names_only(&e.pat)
            || e.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Expr(Expr::ForLoop(_), _)))
        {
            return false;
        }
        let Some(counters) = self.counters(e) else { return false };
        self.uniforms.extend(counters);
        e.body.stmts.iter().all(|stmt| match skips(stmt) {
            Some(condition) => self.lane(condition),
            None => self.lane_stmt(stmt, true),
        })
    }

    fn index(&mut self, e: &syn::ExprIndex) -> bool {
        match self.array(&e.expr) {
            Some(_) => self.lane(&e.index),
            None => {
                let element = Expr::Index(e.clone());
                self.element(e) && indexed(&element).1.into_iter().all(|index| self.lane(index))
            }
        }
    }

    /// What may stand on the left of an assignment.
    fn place(&mut self, place: &Expr) -> bool {
        let admitted = self.is_assignable(place);
        if !admitted && self.refused.is_none() {
            let (name, reason) = self.reason(bare(place));
            self.refuse_named::<()>(place, name, reason);
        }
        admitted
    }

    fn is_assignable(&mut self, place: &Expr) -> bool {
        let place = bare(place);
        match place {
            Expr::Path(_) => self
                .variable(place)
                .is_some_and(|var| self.scope.program.var(var).mutable && !self.is_large(var)),
            Expr::Index(_) if self.in_place(place).is_some() => {
                let (_, array, indices) = self.in_place(place).expect("it is one");
                indices.len() == array.lengths.len() && self.part(place)
            }
            Expr::Index(e) => self.array(&e.expr).is_some() && self.index(e),
            _ => false,
        }
    }
}

/// What an expression indexes, and the indices, the first first: `a` and `i`, `j` of `a[i][j]`.
pub fn indexed(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    match bare(expr) {
        Expr::Index(e) => {
            let (root, mut indices) = indexed(&e.expr);
            indices.push(&e.index);
            (root, indices)
        }
        root => (root, vec![]),
    }
}

/// The element of an array that repeats it, so many arrays deep.
fn repeated(value: &Expr, depth: usize) -> Option<&Expr> {
    match (depth, bare(value)) {
        (0, element) => Some(element),
        (_, Expr::Repeat(e)) => repeated(&e.expr, depth - 1),
        _ => None,
    }
}

/// Whether a call is the language's copy of a slice: a method of `[T]`, on a range of something.
fn is_slice_copy(e: &syn::ExprMethodCall) -> bool {
    let of_range = |e: &Expr| matches!(indexed(e).1.last(), Some(Expr::Range(_)));
    e.method == "copy_from_slice" && e.args.len() == 1 && of_range(&e.receiver)
}

/// What a lane returns from the function: `return value`, or what that is lowered to.
pub fn returned<'e>(program: &Program, expr: &'e Expr) -> Option<&'e Expr> {
    match expr {
        Expr::Return(e) => e.expr.as_deref(),
        Expr::Block(e) => match &e.block.stmts[..] {
            [Stmt::Local(local), Stmt::Expr(Expr::Macro(mac), _)] => {
                let target = goto_target(&mac.mac).filter(|target| program.is_exit(*target));
                target.and(local.init.as_ref()).map(|init| &*init.expr)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether code may leave a piece that way.
fn is_return(at: At<'_>) -> bool {
    matches!(at, At::Expr(Expr::Return(_) | Expr::Macro(_)))
}

/// The condition under which a statement skips the rest of a round: `if c { continue; }`.
fn skips(stmt: &Stmt) -> Option<&Expr> {
    let Stmt::Expr(Expr::If(e), _) = stmt else { return None };
    let is_skip = match &e.then_branch.stmts[..] {
        [Stmt::Expr(Expr::Continue(c), _)] => c.label.is_none() && c.attrs.is_empty(),
        _ => false,
    };
    (is_skip && e.else_branch.is_none() && e.attrs.is_empty() && !has_let(&e.cond)).then_some(&e.cond)
}

/// A pattern that only gives names: `x`, `(i, w)`, `_`.
fn names_only(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.subpat.is_none(),
        Pat::Type(p) => names_only(&p.pat),
        Pat::Tuple(p) => p.elems.iter().all(names_only),
        Pat::Slice(p) => p.elems.iter().all(names_only),
        Pat::Paren(p) => names_only(&p.pat),
        Pat::Reference(p) => p.mutability.is_none() && names_only(&p.pat),
        Pat::Wild(_) => true,
        _ => false,
    }
}

impl Plan {
    /// The plan for `ops`, if they can run lane-interchanged.
    pub fn of(scope: &Scope<'_>, ops: &[Op]) -> Option<Plan> {
        Plan::or_refusal(scope, ops).ok()
    }

    /// The plan for `ops`, or what stops it, if that is known.
    pub fn or_refusal(scope: &Scope<'_>, ops: &[Op]) -> Result<Plan, Option<Refusal>> {
        let mut admit = Admit::new(scope);
        match admit.ops(ops) {
            Some(nodes) => Ok(admit.plan(nodes)),
            None => Err(admit.refused),
        }
    }
}

impl Admit<'_, '_> {
    fn ops(&mut self, ops: &[Op]) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        for op in ops {
            // Who returns before a loop does not wait for it.
            let in_loop = matches!(op.code[..], [Stmt::Expr(Expr::ForLoop(_), _)]);
            let returns = op.exits.iter().all(|exit| in_loop && self.scope.program.is_exit(*exit));
            if op.code.is_empty() || !returns {
                return None;
            }
            for stmt in &op.code {
                self.stmt(stmt, &mut nodes)?;
            }
        }
        Some(nodes)
    }
}
