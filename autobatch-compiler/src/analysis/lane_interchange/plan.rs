//! Statements in the shape in which a strip runs them, and what they are seen against.

use std::collections::BTreeMap;
use std::slice;

use syn::{Expr, ExprForLoop, Stmt};

use crate::analysis::shared_values;
use crate::ir::effects::{self, Names, bound};
use crate::ir::{Block, FuncId, Program, VarId, VarSet};
use crate::std_models::pure;
use crate::syntax::mentions;
use crate::syntax::walk::{self, At};

/// Arrays of at most so many elements are plain values of the lane code, which LLVM keeps in registers.
pub(crate) const SMALL: usize = 8;

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
    pub(super) fn mentions(&self, names: &Names) -> VarSet {
        match self {
            Node::Uniform(stmt) => mentions(names, slice::from_ref(stmt)),
            Node::Lanes(stmts) => mentions(names, stmts),
            Node::Fill(var, value) => {
                let mut vars = effects::of(names, value).mentions;
                vars.insert(*var);
                vars
            }
            Node::Loop(head, body) => {
                let mut vars = effects::of(names, &head.expr).mentions;
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

/// How to run statements lane-interchanged.
#[derive(Clone)]
pub struct Plan {
    /// The code.
    pub nodes: Vec<Node>,
    /// Locals with the same value in all lanes, loop counters included.
    pub uniforms: VarSet,
    /// What else must be primitive.
    pub leaves: Vec<Leaf>,
}

/// The variables that statements mention or declare.
pub fn mentions(names: &Names, stmts: &[Stmt]) -> VarSet {
    effects::of(names, stmts).mentions
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
    fn whole(place: &Expr) -> &Expr {
        match mentions::bare(place) {
            Expr::Index(e) => whole(&e.expr),
            other => other,
        }
    }
    let mut assigned = VarSet::new();
    walk::each(stmts, |at| {
        if let At::Expr(e) = at
            && let Some((place, _)) = mentions::assignment(e)
        {
            assigned.extend(effects::variable(names, whole(place)));
        }
    });
    assigned
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
        let names = effects::names(program, func);
        let mut scope = Scope { program, names, arrays: BTreeMap::new(), derived: VarSet::new() };
        let shared = |v: VarId| program.var(v).shared && !program.var(v).mutable;
        scope.derived.extend(shared_values::derived(program, func, shared).keys());
        for param in &program.func(func).params {
            let variable = program.var(*param);
            if let (false, Some(syn::Type::Array(ty))) = (variable.shared, &variable.ty) {
                scope.arrays.insert(*param, array(&ty.len));
            }
        }
        program.blocks_of(func).flat_map(Block::code).for_each(|stmt| scope.find_arrays(stmt));
        scope
    }

    /// The scope of `func`, which is being lowered, with a statement that is no part of it yet.
    pub(crate) fn with(program: &'a Program, func: FuncId, stmt: &Stmt) -> Scope<'a> {
        let mut scope = Scope::new(program, func);
        scope.find_arrays(stmt);
        scope
    }

    fn find_arrays(&mut self, stmt: &Stmt) {
        walk::each(stmt, |at| {
            if let At::Local(local) = at {
                self.find_array(local);
            }
        });
    }

    /// Notes the variable of a `let` that plainly makes an array.
    fn find_array(&mut self, local: &syn::Local) {
        let (pat, ty) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            other => (other, None),
        };
        let syn::Pat::Ident(p) = pat else { return };
        let Some(var) = self.names.get(&p.ident.to_string()).copied() else { return };
        let init = local.init.as_ref().map(|init| &*init.expr);
        let found = match (ty, init) {
            (Some(syn::Type::Array(ty)), _) => Some(array(&ty.len)),
            (_, Some(Expr::Repeat(e))) => Some(array(&e.len)),
            (_, Some(Expr::Array(e))) => {
                let len = e.elems.len();
                Some(array(&syn::parse_quote!(#len)))
            }
            (_, Some(e)) => effects::variable(&self.names, e).and_then(|v| self.arrays.get(&v).cloned()),
            _ => None,
        };
        self.arrays.extend(found.map(|found| (var, found)));
    }
}

pub(crate) fn array(len: &Expr) -> Array {
    Array { len: len.clone(), small: pure::literal(len).is_some_and(|n| n <= SMALL as u64) }
}

/// How much work a statement does in loops that lanes would run lane-interchanged, about one per operation.
pub fn gain(names: &Names, stmt: &Stmt) -> u32 {
    match stmt {
        Stmt::Expr(Expr::ForLoop(e), _) => {
            let body = effects::of(names, &e.body);
            let trips = names.trip_counts().of_range(&e.expr).unwrap_or(32).min(1000) as u32;
            trips * body.weight.max(1)
        }
        _ => 0,
    }
}

impl Plan {
    /// Variables of the code for each lane, by piece: those mentioned or declared.
    pub fn pieces(&self, names: &Names) -> Vec<VarSet> {
        fn of(names: &Names, nodes: &[Node]) -> Vec<VarSet> {
            let pieces = nodes.iter().flat_map(|node| match node {
                Node::Uniform(_) => vec![],
                Node::Lanes(_) | Node::Fill(..) => vec![node.mentions(names)],
                Node::Loop(_, body) => of(names, body),
            });
            pieces.collect()
        }
        of(names, &self.nodes)
    }
}
