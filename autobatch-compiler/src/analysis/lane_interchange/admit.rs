//! The walk that admits code to lane interchange, or refuses it.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, Pat, Stmt, Type, parse_quote};

use crate::analysis::lane_interchange::coalesce::coalesce;
use crate::analysis::lane_interchange::forms::{breaks, ends, is_slice_copy, names_only, skips, swapped};
use crate::analysis::lane_interchange::plan::{Array, Leaf, Node, Plan, Scope, declared, unrolls};
use crate::analysis::lane_interchange::rounds::steps;
use crate::diagnostics::reasons::{LOOP_CODE, LOOP_INNER, LOOP_ITEMS, LOOP_PATTERN, Reason};
use crate::ir::effects::{bound, variable};
use crate::ir::{Op, Role, VarId, VarSet};
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::bare;

pub(super) struct Admit<'a, 'p> {
    pub(super) scope: &'a Scope<'p>,
    /// Those with the same value in all lanes. One that is assigned to is taken for such until lane code assigns to it.
    pub(super) uniforms: VarSet,
    /// Those that lane code assigns to.
    pub(super) varying: VarSet,
    /// Those that are elements of shared lists, with such an element. They may be structs, read by fields.
    pub(super) elements: BTreeMap<VarId, Expr>,
    /// Those that are parts of shared lists, with such a list.
    pub(super) lists: BTreeMap<VarId, Expr>,
    pub(super) leaves: Vec<Leaf>,
    /// The types that are written of arrays with a place of their own.
    pub(super) types: Vec<(VarId, Type)>,
    /// Those that are references to an element of a lane's list.
    borrowed: VarSet,
    /// Whether lanes may return from the function.
    pub(super) returns: bool,
    /// The loops around.
    pub(super) depth: usize,
    /// Those of them whose rounds are not those of all lanes.
    pub(super) predicated: usize,
    /// Whether a `break` ends the innermost of them.
    pub(super) may_break: bool,
    /// The loops that lanes leave at different times, numbered as they are walked.
    pub(super) left: BTreeSet<usize>,
    /// The number of the innermost, and how many there are so far.
    pub(super) innermost: usize,
    loops: usize,
    /// What was refused first.
    pub(super) refused: Option<Refusal>,
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

/// Appends, adjacent pieces in one.
pub(super) fn push(nodes: &mut Vec<Node>, node: Node) {
    match (nodes.last_mut(), node) {
        (Some(Node::Lanes(before)), Node::Lanes(more)) => before.extend(more),
        (_, node) => nodes.push(node),
    }
}

impl<'a, 'p> Admit<'a, 'p> {
    pub(super) fn new(scope: &'a Scope<'p>, varying: VarSet, left: BTreeSet<usize>) -> Self {
        Admit {
            scope,
            uniforms: VarSet::new(),
            varying,
            elements: BTreeMap::new(),
            lists: BTreeMap::new(),
            leaves: Vec::new(),
            types: Vec::new(),
            borrowed: VarSet::new(),
            returns: false,
            depth: 0,
            predicated: 0,
            may_break: false,
            left,
            innermost: 0,
            loops: 0,
            refused: None,
        }
    }

    pub(super) fn plan(self, nodes: Vec<Node>) -> Plan {
        Plan {
            nodes,
            uniforms: self.uniforms,
            leaves: self.leaves,
            types: self.types,
            borrowed: self.borrowed,
            returns: self.returns,
        }
    }

    pub(super) fn variable(&self, expr: &Expr) -> Option<VarId> {
        variable(&self.scope.names, expr)
    }

    pub(super) fn array(&self, expr: &Expr) -> Option<&Array> {
        self.scope.arrays.get(&self.variable(expr)?)
    }

    /// A shared parameter. Whether every call passes the same one is known later.
    pub(super) fn is_shared(&self, var: VarId) -> bool {
        let var = self.scope.program.var(var);
        var.shared && !var.mutable
    }

    /// Appends what a statement comes to.
    pub(super) fn stmt(&mut self, stmt: &Stmt, nodes: &mut Vec<Node>) -> Option<()> {
        if let Stmt::Expr(e, _) = stmt
            && let Some(arrays) = swapped(e)
            && let [Some(one), Some(other)] = arrays.map(|array| self.variable(array))
            && self.is_large(one)
            && self.is_large(other)
        {
            nodes.push(Node::Swap(one, other));
            return Some(());
        }
        let known = self.leaves.len();
        if self.is_same_for_all(stmt) {
            nodes.push(Node::Uniform(Box::new(stmt.clone())));
            return Some(());
        }
        self.leaves.truncate(known);
        match stmt {
            Stmt::Local(local) => self.local(local, nodes),
            Stmt::Expr(Expr::ForLoop(e), _) => {
                let (known, refused) = (self.leaves.len(), self.refused.clone());
                if unrolls(&self.scope.names, e) && self.small_loop(e) {
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
    pub(super) fn refuse<T>(&mut self, at: &impl Spanned, reason: Reason) -> Option<T> {
        self.refuse_named(at, None, reason)
    }

    pub(super) fn refuse_named<T>(
        &mut self,
        at: &impl Spanned,
        name: Option<String>,
        reason: Reason,
    ) -> Option<T> {
        self.refused.get_or_insert_with(|| Refusal { span: at.span(), name, reason });
        None
    }

    pub(super) fn uniform_loop(&mut self, e: &syn::ExprForLoop) -> Option<Node> {
        if e.label.is_some() || !e.attrs.is_empty() {
            return self.refuse(e, LOOP_INNER);
        }
        if !names_only(&e.pat) {
            return self.refuse(&e.pat, LOOP_PATTERN);
        }
        self.loops += 1;
        let around = std::mem::replace(&mut self.innermost, self.loops);
        // Counted, but all lanes have as many rounds.
        let known = self.leaves.len();
        let range = steps(&e.expr).map(|steps| steps.items.clone());
        let of_all = range.filter(|range| self.iterator(range).is_some());
        self.leaves.truncate(known);
        let e = &ExprForLoop { expr: Box::new(of_all.unwrap_or_else(|| (*e.expr).clone())), ..e.clone() };
        let is_predicated = steps(&e.expr).is_some() || self.left.contains(&self.innermost);
        let Some(items) = self.iterator(&e.expr) else { return self.refuse(&e.expr, LOOP_ITEMS) };
        let Some(counters) = self.counters(e) else { return self.refuse(&e.pat, LOOP_CODE) };
        self.uniforms.extend(counters);
        self.item(&e.pat, &items);
        self.depth += 1;
        self.predicated += usize::from(is_predicated);
        let may_break = std::mem::replace(&mut self.may_break, true);
        let mut nodes = Vec::new();
        let mut stmts = &e.body.stmts[..];
        while let Some((stmt, rest)) = stmts.split_first() {
            stmts = rest;
            let known = self.leaves.len();
            if skips(stmt).or(ends(stmt)).is_some_and(|condition| self.uniform(condition)) {
                nodes.push(Node::Uniform(Box::new(stmt.clone())));
                continue;
            }
            self.leaves.truncate(known);
            let Some(skipped) = skips(stmt) else {
                self.stmt(stmt, &mut nodes)?;
                // What comes behind is not for lanes that have left. Nor need it be as wide as what counts.
                if breaks(stmt) || self.copies_counter(stmt) {
                    nodes.push(Node::Lanes(vec![]));
                }
                continue;
            };
            self.stmt(&parse_quote!(if #skipped {} else { #(#rest)* }), &mut nodes)?;
            break;
        }
        nodes.retain(|node| !matches!(node, Node::Lanes(stmts) if stmts.is_empty()));
        self.may_break = may_break;
        self.innermost = around;
        self.depth -= 1;
        self.predicated -= usize::from(is_predicated);
        // A copy in some lanes makes no other variable of one.
        if self.predicated == 0 && !is_predicated {
            coalesce(self.scope, &mut nodes, &declared(&self.scope.names, &e.body.stmts), &mut self.types);
        }
        let mut head = e.clone();
        head.body.stmts.clear();
        Some(Node::Loop(Box::new(head), nodes))
    }

    /// Whether a statement is `i = at;` of a loop's counter.
    fn copies_counter(&self, stmt: &Stmt) -> bool {
        let Stmt::Expr(Expr::Assign(e), _) = stmt else { return false };
        let is_local = self.variable(&e.left).is_some();
        is_local && self.variable(&e.right).is_some_and(|var| self.uniforms.contains(&var))
    }

    /// Whether a `let` is of a reference to an element of a lane's list.
    pub(super) fn borrows(&mut self, local: &syn::Local) -> bool {
        let Some(syn::LocalInit { expr, diverge: None, .. }) = &local.init else { return false };
        let (Pat::Ident(p), Expr::Reference(e)) = (&local.pat, &**expr) else { return false };
        let Expr::Index(element) = bare(&e.expr) else { return false };
        let borrows = p.by_ref.is_none()
            && p.mutability.is_none()
            && e.mutability.is_none()
            && self.is_list(&element.expr)
            && self.lane(&element.index);
        if borrows {
            self.borrowed.extend(bound(&self.scope.names, &local.pat));
        }
        borrows
    }

    /// Whether an expression is such a reference.
    pub(super) fn is_borrowed(&self, expr: &Expr) -> bool {
        self.variable(expr).is_some_and(|var| self.borrowed.contains(&var))
    }

    /// What a loop gives its rounds, if they do not change it.
    pub(super) fn counters(&self, e: &syn::ExprForLoop) -> Option<VarSet> {
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
        if self.borrows(local) {
            push(nodes, Node::Lanes(vec![Stmt::Local(local.clone())]));
            return Some(());
        }
        if self.takes_element(local) {
            nodes.push(Node::Uniform(Box::new(Stmt::Local(local.clone()))));
            return Some(());
        }
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
        // A result of several parts is made behind the loops: a strip has numbers.
        let is_number = |v: &VarId| self.scope.program.var(*v).ty.as_ref().is_none_or(is_primitive);
        if vars.iter().any(|v| is_result(v) && !is_number(v)) {
            return self.refuse(init, LOOP_CODE);
        }
        let known = self.leaves.len();
        if vars.iter().all(|v| self.may_be_uniform(*v) && !self.scope.arrays.contains_key(v))
            && self.uniform(init)
        {
            self.uniforms.extend(vars);
            nodes.push(Node::Uniform(Box::new(Stmt::Local(local.clone()))));
            return Some(());
        }
        self.leaves.truncate(known);
        self.value(pat, init).then(|| push(nodes, Node::Lanes(vec![Stmt::Local(local.clone())])))
    }
}

impl Plan {
    /// The plan for `ops`, if they can run lane-interchanged.
    pub fn of(scope: &Scope<'_>, ops: &[Op]) -> Option<Plan> {
        Plan::or_refusal(scope, ops).ok()
    }

    /// The plan for `ops`, or what stops it, if that is known.
    pub fn or_refusal(scope: &Scope<'_>, ops: &[Op]) -> Result<Plan, Option<Refusal>> {
        let (mut varying, mut left) = (VarSet::new(), BTreeSet::new());
        loop {
            let mut admit = Admit::new(scope, varying.clone(), left.clone());
            let nodes = admit.ops(ops);
            // What was taken for the same in all lanes, and is not, is known only now.
            if admit.varying.len() > varying.len() || admit.left.len() > left.len() {
                (varying, left) = (admit.varying, admit.left);
                continue;
            }
            return match nodes {
                Some(nodes) => Ok(admit.plan(nodes)),
                None => Err(admit.refused),
            };
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
        // A lane that has returned computes on, and would wait for nobody.
        (!self.returns || self.left.is_empty()).then_some(nodes)
    }
}
