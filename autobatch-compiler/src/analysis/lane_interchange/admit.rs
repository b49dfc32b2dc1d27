//! The walk that admits code to lane interchange, or refuses it.

use std::collections::BTreeMap;

use syn::{BinOp, Expr, Pat, Stmt, UnOp};

use crate::analysis::lane_interchange::plan::{Array, Leaf, Node, Plan, SMALL, Scope};
use crate::ir::effects::{bound, variable};
use crate::ir::{Op, Role, VarId, VarSet};
use crate::std_models::pure::{
    is_constant, is_list, is_plain_literal, is_primitive, is_pure_function, is_pure_method, literal,
};
use crate::syntax::mentions::{bare, has_let, is_compound};

pub(super) struct Admit<'a, 'p> {
    scope: &'a Scope<'p>,
    uniforms: VarSet,
    /// Those that are elements of shared lists, with such an element. They may be structs, read by fields.
    elements: BTreeMap<VarId, Expr>,
    leaves: Vec<Leaf>,
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
        Admit { scope, uniforms: VarSet::new(), elements: BTreeMap::new(), leaves: Vec::new() }
    }

    pub(super) fn plan(self, nodes: Vec<Node>) -> Plan {
        Plan { nodes, uniforms: self.uniforms, leaves: self.leaves }
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

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Option<Node> {
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(Expr::ForLoop(e), _) => {
                let known = self.leaves.len();
                if self.small_loop(e) {
                    return Some(Node::Lanes(vec![stmt.clone()]));
                }
                self.leaves.truncate(known);
                if e.label.is_some() || !e.attrs.is_empty() || !names_only(&e.pat) {
                    return None;
                }
                let items = self.iterator(&e.expr)?;
                let counters = bound(&self.scope.names, &e.pat);
                if counters.iter().any(|v| self.scope.program.var(*v).mutable) {
                    return None;
                }
                self.uniforms.extend(counters);
                self.item(&e.pat, &items);
                let mut nodes = Vec::new();
                for stmt in &e.body.stmts {
                    push(&mut nodes, self.stmt(stmt)?);
                }
                let mut head = e.clone();
                head.body.stmts.clear();
                Some(Node::Loop(Box::new(head), nodes))
            }
            Stmt::Expr(e, _) => self.lane(e).then(|| Node::Lanes(vec![stmt.clone()])),
            _ => None,
        }
    }

    fn local(&mut self, local: &syn::Local) -> Option<Node> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none() && local.attrs.is_empty())?;
        let (pat, init) = (&local.pat, &*init.expr);
        if !names_only(pat) {
            return None;
        }
        let vars = bound(&self.scope.names, pat);
        if let Some(var) = vars.iter().find(|v| self.scope.arrays.get(v).is_some_and(|a| !a.small)) {
            return self.large_array(*var, init);
        }
        let known = self.leaves.len();
        if vars.iter().all(|v| !self.scope.program.var(*v).mutable && !self.scope.arrays.contains_key(v))
            && self.uniform(init)
        {
            self.uniforms.extend(vars);
            return Some(Node::Uniform(Box::new(Stmt::Local(local.clone()))));
        }
        self.leaves.truncate(known);
        self.lane(init).then(|| Node::Lanes(vec![Stmt::Local(local.clone())]))
    }

    fn large_array(&mut self, var: VarId, init: &Expr) -> Option<Node> {
        match init {
            Expr::Repeat(e) => self.lane(&e.expr).then(|| Node::Fill(var, e.expr.clone())),
            Expr::Array(e) if e.elems.iter().all(|e| self.lane(e)) => {
                let ident = &self.scope.program.var(var).ident;
                let elements = e.elems.iter().enumerate();
                let set = elements.map(|(i, e)| syn::parse_quote!(#ident[#i] = #e;));
                Some(Node::Lanes(set.collect()))
            }
            _ => None,
        }
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
        self.is_shelf(list).then(|| Items::Elements(Box::new(syn::parse_quote!(#list[0]))))
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
        let mut root = &*e.expr;
        while let Expr::Index(e) = root {
            root = &e.expr;
        }
        let known = self.is_shelf(root);
        if known {
            self.leaves.push(Leaf::Element(Expr::Index(e.clone())));
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
            Expr::Index(e) => self.element(e) && indices(e).into_iter().all(|index| self.uniform(index)),
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
                    Some(syn::parse_quote!(#base.#member))
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
        let expr = bare(expr);
        match expr {
            Expr::Lit(lit) => is_plain_literal(&lit.lit),
            Expr::Path(path) => match self.variable(expr) {
                Some(var) if self.uniforms.contains(&var) => self.known(var),
                Some(var) if self.is_shared(var) => self.leaf(expr),
                Some(var) => {
                    let large = self.scope.arrays.get(&var).is_some_and(|a| !a.small);
                    !large && !matches!(self.scope.program.var(var).role, Role::Result)
                }
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
        block.stmts.iter().all(|stmt| match stmt {
            Stmt::Local(local) => {
                let large = |v: &VarId| self.scope.arrays.get(v).is_some_and(|a| !a.small);
                names_only(&local.pat)
                    && !bound(&self.scope.names, &local.pat).iter().any(large)
                    && local.init.as_ref().is_some_and(|init| init.diverge.is_none() && self.lane(&init.expr))
            }
            Stmt::Expr(e, _) => self.lane(e),
            _ => false,
        })
    }

    /// A loop of a few trips, which LLVM unrolls before it vectorises.
    fn small_loop(&mut self, e: &syn::ExprForLoop) -> bool {
        self.scope.names.trip_counts().is_short_range(&e.expr)
            && e.label.is_none()
            && e.attrs.is_empty()
            && names_only(&e.pat)
            && !e.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Expr(Expr::ForLoop(_), _)))
            && self.block(&e.body)
    }

    fn index(&mut self, e: &syn::ExprIndex) -> bool {
        match self.array(&e.expr).map(|a| a.small) {
            Some(true) => self.lane(&e.index),
            // In place: the element is a strip if the index is the same in all lanes.
            Some(false) => self.uniform(&e.index),
            None => self.element(e) && indices(e).into_iter().all(|index| self.lane(index)),
        }
    }

    /// What may stand on the left of an assignment.
    fn place(&mut self, place: &Expr) -> bool {
        let place = bare(place);
        match place {
            Expr::Path(_) => self.variable(place).is_some_and(|var| {
                let is_large = self.scope.arrays.get(&var).is_some_and(|a| !a.small);
                self.scope.program.var(var).mutable && !is_large
            }),
            Expr::Index(e) => self.array(&e.expr).is_some() && self.index(e),
            _ => false,
        }
    }
}

/// The indices of an element, `a[i][j]`, the last first.
fn indices(e: &syn::ExprIndex) -> Vec<&Expr> {
    let (mut all, mut at) = (vec![&*e.index], &*e.expr);
    while let Expr::Index(e) = at {
        all.push(&e.index);
        at = &e.expr;
    }
    all
}

/// A pattern that only gives names: `x`, `(i, w)`, `_`.
fn names_only(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.subpat.is_none(),
        Pat::Type(p) => names_only(&p.pat),
        Pat::Tuple(p) => p.elems.iter().all(names_only),
        Pat::Paren(p) => names_only(&p.pat),
        Pat::Reference(p) => p.mutability.is_none() && names_only(&p.pat),
        Pat::Wild(_) => true,
        _ => false,
    }
}

impl Plan {
    /// The plan for `ops`, if they can run lane-interchanged.
    pub fn of(scope: &Scope<'_>, ops: &[Op]) -> Option<Plan> {
        let mut admit = Admit::new(scope);
        let mut nodes = Vec::new();
        for op in ops {
            if !op.exits.is_empty() || op.code.is_empty() {
                return None;
            }
            for stmt in &op.code {
                push(&mut nodes, admit.stmt(stmt)?);
            }
        }
        Some(admit.plan(nodes))
    }
}
