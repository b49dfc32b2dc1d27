//! Statements in the shape in which a strip runs them, and what they are seen against.

use std::collections::BTreeMap;
use std::slice;

use proc_macro2::{Ident, Span};
use syn::{Block, Expr, ExprForLoop, Pat, Stmt, Type, parse_quote};

use crate::analysis::lane_interchange::forms::swapped;
use crate::analysis::lane_interchange::rounds::steps;
use crate::analysis::shared_values;
use crate::ir::effects::{self, Names, bound};
use crate::ir::{FuncId, Program, VarId, VarSet, Variable};
use crate::item::array_shapes::Shape;
use crate::item::known_lists::Lists;
use crate::std_models::trip_count::TripCounts;
use crate::syntax::mentions::{self, bare_type};
use crate::syntax::walk::{self, At};

/// Arrays of at most so many elements are plain values of the lane code, which LLVM keeps in registers.
pub(super) const SMALL: usize = 8;

/// What the rounds of a loop may come to, about one per operation, so that LLVM unrolls them. It does up to 300 instructions.
const UNROLLED: u32 = 240;

/// A local array, of arrays too.
#[derive(Clone)]
pub struct Array {
    /// Its length, and those of the arrays in it.
    pub lengths: Vec<Expr>,
    /// As numbers, as far as they are known.
    sizes: Vec<Option<u64>>,
}

impl Array {
    pub(super) fn new(shape: &Shape, counts: &TripCounts) -> Array {
        let sizes = shape.lengths.iter().map(|length| counts.number(length)).collect();
        Array { lengths: shape.lengths.clone(), sizes }
    }

    /// Whether a piece takes it whole; else each element is accessed in place.
    pub fn is_small(&self) -> bool {
        self.sizes.len() == 1 && self.elements(0).is_some_and(|n| n <= SMALL)
    }

    /// The length behind so many indices, if it is known.
    pub fn size(&self, indices: usize) -> Option<usize> {
        self.sizes.get(indices).copied().flatten().and_then(|size| usize::try_from(size).ok())
    }

    /// The elements behind so many indices.
    pub fn elements(&self, indices: usize) -> Option<usize> {
        (indices..self.sizes.len()).try_fold(1, |all: usize, n| all.checked_mul(self.size(n)?))
    }

    /// The indices of the elements behind so many indices.
    pub fn indices(&self, behind: usize) -> Option<Vec<Vec<usize>>> {
        let mut all = vec![vec![]];
        for n in behind..self.sizes.len() {
            let size = self.size(n)?;
            all = all.iter().flat_map(|i| (0..size).map(move |n| [&i[..], &[n]].concat())).collect();
        }
        Some(all)
    }
}

/// Statements in the shape in which a strip runs them.
#[derive(Clone)]
pub enum Node {
    /// A `let` of a value that is the same for all lanes, an assignment of one to such a variable, also under such conditions, or
    /// `if c { continue; }` or `if c { break; }` of such a condition.
    Uniform(Box<Stmt>),
    /// Code for each lane.
    Lanes(Vec<Stmt>),
    /// Every element of an array that is not small is set to the value.
    Fill(VarId, Box<Expr>),
    /// An array that is not small becomes a copy of the other.
    Copy(VarId, VarId),
    /// Two arrays that are not small are exchanged.
    Swap(VarId, VarId),
    /// Code of which a part is for some lanes only.
    Branch(Box<Branch>),
    /// A loop that all lanes run equally often, or as often as the lane with the most rounds; its own body is unused.
    Loop(Box<ExprForLoop>, Vec<Node>),
}

/// A branch that is skipped where no lane takes it.
#[derive(Clone)]
pub struct Branch {
    /// What all lanes do first.
    pub(super) before: Vec<Stmt>,
    /// Whether a lane takes it.
    pub(super) condition: Expr,
    /// What lanes do that take it. Its value is that of a declaration, if there is one.
    pub own: Block,
    /// What is declared, and with which value in lanes that don't take it.
    pub declared: Option<(Pat, Block)>,
}

impl Branch {
    /// What all lanes do: up to the branch, whether they take it, and what is declared if they don't.
    pub fn of_all(&self, takes: &Ident) -> Vec<Stmt> {
        let (mut stmts, condition) = (self.before.clone(), &self.condition);
        stmts.push(parse_quote!(let #takes = #condition;));
        stmts.extend(self.declared.iter().map(|(pat, others)| -> Stmt { parse_quote!(let #pat = #others;) }));
        stmts
    }

    /// What lanes do that take it.
    pub fn of_takers(&self) -> Vec<Stmt> {
        let own = &self.own;
        match &self.declared {
            Some((pat, _)) => vec![parse_quote!(let #pat = #own;)],
            None => own.stmts.clone(),
        }
    }

    /// The same where not all lanes take it.
    pub fn of_either(&self, takes: &Ident) -> Stmt {
        let own = &self.own;
        match &self.declared {
            Some((pat, others)) => parse_quote!(let #pat = if #takes #own else #others;),
            None => parse_quote!(if #takes #own),
        }
    }

    /// What all lanes do, and what those do that take it.
    pub fn pieces(&self) -> [Vec<Stmt>; 2] {
        [self.of_all(&Ident::new("__takes", Span::mixed_site())), self.of_takers()]
    }
}

impl Node {
    /// Whether the rest of a round may be skipped here.
    pub(super) fn cuts_short(&self) -> bool {
        let leaves = |at: At<'_>| matches!(at, At::Expr(Expr::Break(_) | Expr::Continue(_)));
        matches!(self, Node::Uniform(stmt) if walk::any(&**stmt, leaves))
    }

    /// The variables that it mentions or declares.
    pub(crate) fn mentions(&self, names: &Names) -> VarSet {
        match self {
            Node::Uniform(stmt) => mentions(names, slice::from_ref(stmt)),
            Node::Lanes(stmts) => mentions(names, stmts),
            Node::Branch(branch) => branch.pieces().iter().flat_map(|stmts| mentions(names, stmts)).collect(),
            Node::Fill(var, value) => {
                let mut vars = effects::of(names, value).mentions;
                vars.insert(*var);
                vars
            }
            Node::Copy(one, other) | Node::Swap(one, other) => [*one, *other].into(),
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
    /// What has to be a list, and one of lists where so many indices follow.
    List(Expr, usize),
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
    /// The types that are written of arrays whose elements are accessed in place.
    pub types: Vec<(VarId, Type)>,
    /// Variables that refer to an element of a lane's list.
    pub borrowed: VarSet,
    /// Whether lanes may return from the function.
    pub returns: bool,
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
        let At::Expr(e) = at else { return };
        let swapped = swapped(e).into_iter().flatten();
        for place in mentions::assignment(e).map(|(place, _)| place).into_iter().chain(swapped) {
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
    /// Slices that each member has of its own.
    pub lists: VarSet,
    /// Places that certainly are lists, as they are written.
    known: &'a Lists,
    /// Locals that are the same for every member; a block that needs them computes them.
    pub derived: VarSet,
}

impl<'a> Scope<'a> {
    /// The scope of `func`.
    pub fn new(program: &'a Program, func: FuncId) -> Scope<'a> {
        let names = effects::names(program, func);
        let known = &program.func(func).lists;
        let (arrays, lists, derived) = (BTreeMap::new(), VarSet::new(), VarSet::new());
        let mut scope = Scope { program, names, arrays, lists, known, derived };
        let shared = |v: VarId| program.var(v).shared && !program.var(v).mutable;
        scope.derived.extend(shared_values::derived(program, func, shared).keys());
        scope.lists.extend(program.vars_of(func).filter(|v| is_members_list(program.var(*v))));
        for (name, shape) in &program.func(func).arrays {
            let var = scope.names.get(name).filter(|v| !program.var(**v).shared);
            let array = Array::new(shape, scope.names.trip_counts());
            scope.arrays.extend(var.map(|v| (*v, array)));
        }
        scope
    }

    /// Whether a place certainly is a list, so that its elements have fields as they are written, and it has a number for an index.
    pub(crate) fn is_known(&self, list: &Expr) -> bool {
        self.known.contains(&mentions::text(list))
    }
}

/// Whether a variable is a slice that each member has of its own.
pub fn is_members_list(var: &Variable) -> bool {
    let is_slice = |ty: &Type| matches!(ty, Type::Reference(r) if r.mutability.is_none() && matches!(bare_type(&r.elem), Type::Slice(_)));
    !var.shared && !var.mutable && var.ty.as_ref().is_some_and(is_slice)
}

/// How much work a statement does in loops that lanes would run lane-interchanged, about one per operation. `unknown` is how many rounds
/// a loop is taken to have of which nothing is known.
pub fn gain(names: &Names, stmt: &Stmt, unknown: u64) -> u32 {
    match stmt {
        Stmt::Expr(Expr::ForLoop(e), _) => {
            let body = effects::of(names, &e.body);
            let trips = names.trip_counts().of_range(&e.expr).unwrap_or(unknown).min(1000) as u32;
            trips * body.weight.max(1)
        }
        _ => 0,
    }
}

/// Whether a loop has a few rounds, and LLVM unrolls them: what comes to more stays a loop, which keeps the lanes around it from vectors.
pub(crate) fn unrolls(names: &Names, e: &ExprForLoop) -> bool {
    let rounds = names.trip_counts().short(&e.expr);
    rounds.is_some_and(|rounds| rounds as u32 * effects::of(names, &e.body).weight <= UNROLLED)
}

impl Plan {
    /// Variables of the code for each lane, by piece: those mentioned or declared.
    pub fn pieces(&self, names: &Names) -> Vec<VarSet> {
        fn of(names: &Names, nodes: &[Node]) -> Vec<VarSet> {
            let pieces = nodes.iter().flat_map(|node| match node {
                Node::Uniform(_) => vec![],
                Node::Lanes(_) | Node::Fill(..) | Node::Copy(..) | Node::Swap(..) => {
                    vec![node.mentions(names)]
                }
                Node::Branch(branch) => branch.pieces().map(|stmts| mentions(names, &stmts)).to_vec(),
                // What is counted before it runs belongs to lanes.
                Node::Loop(head, body) => {
                    let counted = steps(&head.expr).map(|_| effects::of(names, &head.expr).mentions);
                    counted.into_iter().chain(of(names, body)).collect()
                }
            });
            pieces.collect()
        }
        of(names, &self.nodes)
    }
}
