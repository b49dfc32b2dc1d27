//! Which code all lanes of a strip can run in lockstep: lane interchange.
//!
//! A loop with the same trip count in every lane is better run once for the strip, with a loop over the
//! lanes around each straight piece of its body, than once per lane: the inner loops vectorise across
//! lanes. [`Plan::of`] turns statements into that shape, or says that they can't have it.
//!
//! Admitted is code that only computes: arithmetic, comparisons, `if`, assignments to locals, indexing,
//! and methods known to be pure (`pure`). The macro knows no types, so what it computes with is listed
//! ([`Plan::leaves`], and each variable with a strip), and generated code asks the runtime whether all of
//! it is primitive; if not, the ordinary lane code runs. Panics need no care here: see the runtime's
//! `together`.

mod admit;
mod overwritten;
mod pure;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::slice;

pub use overwritten::overwritten;
pub use pure::{is_compound, is_constant, is_list, is_primitive, is_pure_function, is_pure_method, is_truth};
use syn::visit::{self, Visit};
use syn::{Expr, ExprForLoop, Stmt};

use crate::effects::{self, Names, Node as Walk, bound};
use crate::ir::{FuncId, Op, Program, VarId, VarSet};
use crate::passes::rematerialise;

/// Arrays of at most so many elements are plain values of the lane code, which LLVM keeps in registers.
const SMALL: usize = 8;

/// A local `[T; N]`.
#[derive(Clone)]
pub struct Array {
    /// Its `N`.
    pub len: Expr,
    /// Whether a piece takes it whole; else each element is accessed in place.
    pub small: bool,
}

/// Statements in the shape in which a strip runs them.
#[derive(Clone)]
pub enum Node {
    /// A `let` of a value that is the same for all lanes.
    Uniform(Box<Stmt>),
    /// Code for each lane.
    Lanes(Vec<Stmt>),
    /// Every element of an array that is not small is set to the value.
    Fill(VarId, Box<Expr>),
    /// A loop that all lanes run equally often; its own body is unused.
    Loop(Box<ExprForLoop>, Vec<Node>),
}

impl Node {
    /// The variables that it mentions or declares.
    fn mentions(&self, names: &Names) -> VarSet {
        match self {
            Node::Uniform(stmt) => mentions(names, slice::from_ref(stmt)),
            Node::Lanes(stmts) => mentions(names, stmts),
            Node::Fill(var, value) => {
                let mut vars = effects::of_expr(names, value).mentions;
                vars.insert(*var);
                vars
            }
            Node::Loop(head, body) => {
                let mut vars = effects::of_expr(names, &head.expr).mentions;
                vars.extend(bound(names, &head.pat));
                vars.extend(body.iter().flat_map(|node| node.mentions(names)));
                vars
            }
        }
    }
}

/// A value that all lanes share and that lane code computes with.
#[derive(Clone)]
pub enum Leaf {
    /// The expression.
    Value(Expr),
    /// The elements of what the expression indexes.
    Element(Expr),
}

/// How to run statements in lockstep.
#[derive(Clone)]
pub struct Plan {
    /// The code.
    pub nodes: Vec<Node>,
    /// Locals with the same value in all lanes, loop counters included.
    pub uniforms: VarSet,
    /// What else must be primitive.
    pub leaves: Vec<Leaf>,
}

impl Plan {
    /// The plan for `ops`, if they can run in lockstep.
    pub fn of(scope: &Scope<'_>, ops: &[Op]) -> Option<Plan> {
        let mut admit = admit::Admit::new(scope);
        let mut nodes = Vec::new();
        for op in ops {
            if !op.exits.is_empty() || op.code.is_empty() {
                return None;
            }
            for stmt in &op.code {
                admit::push(&mut nodes, admit.stmt(stmt)?);
            }
        }
        Some(admit.plan(nodes))
    }

    /// Variables of the code for each lane, by piece: those mentioned or declared.
    pub fn pieces(&self, names: &Names) -> Vec<VarSet> {
        let mut pieces = Vec::new();
        fn walk(names: &Names, nodes: &[Node], pieces: &mut Vec<VarSet>) {
            for node in nodes {
                match node {
                    Node::Uniform(_) => {}
                    Node::Lanes(_) | Node::Fill(..) => pieces.push(node.mentions(names)),
                    Node::Loop(_, body) => walk(names, body, pieces),
                }
            }
        }
        walk(names, &self.nodes, &mut pieces);
        pieces
    }
}

/// The variables that statements mention or declare.
pub fn mentions(names: &Names, stmts: &[Stmt]) -> VarSet {
    effects::effects(names, |see| stmts.iter().for_each(|stmt| see(Walk::Stmt(stmt)))).mentions
}

/// Variables whose `let` is one of these statements.
pub fn declared(names: &Names, stmts: &[Stmt]) -> VarSet {
    let lets = stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Local(local) => Some(bound(names, &local.pat)),
        _ => None,
    });
    lets.flatten().collect()
}

/// Variables that an assignment writes, wholly or in part.
pub fn assigned(names: &Names, stmts: &[Stmt]) -> VarSet {
    struct Assigned<'a>(&'a Names, VarSet);
    impl Assigned<'_> {
        fn place(&mut self, place: &Expr) {
            match place {
                Expr::Index(e) => self.place(&e.expr),
                Expr::Paren(e) => self.place(&e.expr),
                other => self.1.extend(effects::variable(self.0, other)),
            }
        }
    }
    impl<'ast> Visit<'ast> for Assigned<'_> {
        fn visit_expr(&mut self, e: &'ast Expr) {
            match e {
                Expr::Assign(e) => self.place(&e.left),
                Expr::Binary(e) if pure::is_compound(&e.op) => self.place(&e.left),
                _ => {}
            }
            visit::visit_expr(self, e);
        }
    }
    let mut assigned = Assigned(names, VarSet::new());
    stmts.iter().for_each(|stmt| assigned.visit_stmt(stmt));
    assigned.1
}

/// What the statements of one function are seen against.
pub struct Scope<'a> {
    /// The program.
    pub program: &'a Program,
    /// The function's variables by name.
    pub names: Names,
    /// Those that certainly are arrays.
    pub arrays: BTreeMap<VarId, Array>,
    /// Locals that are the same for every member; a block that needs them computes them.
    pub derived: VarSet,
}

impl<'a> Scope<'a> {
    /// The scope of `func`.
    pub fn new(program: &'a Program, func: FuncId) -> Scope<'a> {
        let vars = program.var_ids().filter(|v| program.var(*v).func == func);
        let names: Names = vars.map(|v| (program.var(v).ident.to_string(), v)).collect();
        let mut scope = Scope { program, names, arrays: BTreeMap::new(), derived: VarSet::new() };
        let shared = |v: VarId| program.var(v).shared && !program.var(v).mutable;
        scope.derived.extend(rematerialise::derived(program, func, shared).keys());
        for param in &program.func(func).params {
            let variable = program.var(*param);
            if let (false, Some(syn::Type::Array(ty))) = (variable.shared, &variable.ty) {
                scope.arrays.insert(*param, array(&ty.len));
            }
        }
        for block in program.blocks.iter().filter(|b| b.func == func) {
            for stmt in block.ops.iter().flat_map(|op| &op.code) {
                Arrays(&mut scope).visit_stmt(stmt);
            }
        }
        scope
    }
}

/// Finds the `let`s that plainly make arrays.
struct Arrays<'a, 'p>(&'a mut Scope<'p>);

impl<'ast> Visit<'ast> for Arrays<'_, '_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let (pat, ty) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            other => (other, None),
        };
        let syn::Pat::Ident(p) = pat else { return };
        let Some(var) = self.0.names.get(&p.ident.to_string()).copied() else { return };
        let init = local.init.as_ref().map(|init| &*init.expr);
        let found = match (ty, init) {
            (Some(syn::Type::Array(ty)), _) => Some(array(&ty.len)),
            (_, Some(Expr::Repeat(e))) => Some(array(&e.len)),
            (_, Some(Expr::Array(e))) => {
                let len = e.elems.len();
                Some(array(&syn::parse_quote!(#len)))
            }
            (_, Some(e)) => effects::variable(&self.0.names, e).and_then(|v| self.0.arrays.get(&v).cloned()),
            _ => None,
        };
        if let Some(found) = found {
            self.0.arrays.insert(var, found);
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

fn array(len: &Expr) -> Array {
    Array { len: len.clone(), small: pure::literal(len).is_some_and(|n| n <= SMALL as u64) }
}

/// How much work a statement does in loops that lanes would run in lockstep, about one per operation.
pub fn gain(names: &Names, stmt: &Stmt) -> u32 {
    match stmt {
        Stmt::Expr(Expr::ForLoop(e), _) => {
            let body = effects::effects(names, |see| e.body.stmts.iter().for_each(|s| see(Walk::Stmt(s))));
            let trips = pure::trips(&e.expr).unwrap_or(32).min(1000) as u32;
            trips * body.weight.max(1)
        }
        _ => 0,
    }
}
