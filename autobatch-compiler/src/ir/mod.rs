//! The typed intermediate representation every pass works on.
//!
//! A [`Program`] is the set of functions that are reachable from one entry function by batched
//! calls. Each function is a control-flow graph of [`Block`]s over [`Variable`]s. Straight-line user
//! code stays Rust: an [`Op`] carries the user's own statements, verbatim, and what it does to
//! variables. Only control flow that contains a batched call or a loop has become blocks; any other
//! branch stays inside its op.
//!
//! Invariants, checked by [`crate::passes::verify`]:
//! * ids are dense indices; every block, variable and call belongs to exactly one function;
//! * an identifier names at most one variable of its function (the resolver renames shadowed ones),
//!   so "the op mentions the variable" is the same as "the token stands in the op";
//! * control leaves an op early only by a [`goto`] marker whose target is listed in [`Op::exits`];
//! * each function has one exit block, empty and ended by [`Terminator::Return`]; nothing else returns;
//! * a variable is defined on every path before it is live.

pub mod display;
pub mod effects;
pub mod flow;
#[cfg(test)]
pub(crate) mod interp;
pub mod questions;
pub(crate) mod readable;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeSet;
use std::fmt;

use proc_macro2::Span;
use syn::parse_quote;

use crate::diagnostics::reasons::Reason;
use crate::item::array_shapes::Shapes;
use crate::item::known_lists::Lists;
use crate::resolve::float_structures::FloatStructures;
use crate::std_models::trip_count::TripCounts;
use crate::syntax::call_sites::CallSite;

/// Declares a dense index type with a `Display` prefix.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub usize);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}
id!(
    /// A function of the program.
    FuncId, "f"
);
id!(
    /// A basic block; ids ascend in source order.
    BlockId, "b"
);
id!(
    /// A variable: one per binding, never per name.
    VarId, "v"
);
id!(
    /// A batched call site.
    CallId, "c"
);
id!(
    /// A set of functions that tail-call each other and therefore share one frame and one result.
    GroupId, "g"
);

/// A set of variables, ordered so that nothing downstream depends on hashing.
pub type VarSet = BTreeSet<VarId>;

/// The functions reachable from one entry function by batched calls.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// Indexed by [`FuncId`].
    pub functions: Vec<Function>,
    /// Indexed by [`BlockId`]; in source order within each function.
    pub blocks: Vec<Block>,
    /// Indexed by [`VarId`].
    pub variables: Vec<Variable>,
    /// The number of batched call sites; their data lives in [`Terminator::Call`].
    pub calls: usize,
    /// The function the user calls.
    pub entry: FuncId,
    /// Region heads in the order the executors prefer (earliest first); set by the order pass.
    pub order: Vec<BlockId>,
    /// Places that run the scalar code, and why.
    pub notes: Vec<Note>,
}

/// A place that is not batched although it contains a call of the program.
#[derive(Clone, Debug)]
pub struct Note {
    /// The user's expression.
    pub span: Span,
    /// The variable that it is about, where the reason needs one.
    pub name: Option<String>,
    /// Why, and what to write instead.
    pub reason: Reason,
    /// Whether the whole function falls back to its scalar code (else only this call does).
    pub whole: bool,
}

impl Note {
    /// One sentence on why.
    pub(crate) fn why(&self) -> String {
        self.reason.about(self.name.as_deref())
    }
}

/// One function of the program.
#[derive(Clone, Debug)]
pub struct Function {
    /// The user's name for it.
    pub name: syn::Ident,
    /// Parameters in order, `self` included.
    pub params: Vec<VarId>,
    /// The variable that holds the result when the exit block is reached.
    pub result: VarId,
    /// The first block.
    pub entry: BlockId,
    /// The one block that returns.
    pub exit: BlockId,
    /// The tail-call group; functions of one group have the same return type.
    pub group: GroupId,
    /// The return type as the user wrote it (`()` if absent), for comparing and annotating.
    pub output: syn::Type,
    /// Whether the function can call itself, directly or through others; set by the call-graph pass.
    pub recursive: bool,
    /// How often its loops run.
    pub(crate) trip_counts: TripCounts,
    /// Its variables that are arrays.
    pub(crate) arrays: Shapes,
    /// Places in it that certainly are lists.
    pub(crate) lists: Lists,
    /// Structures of floats among the types of its variables.
    pub(crate) float_structures: FloatStructures,
}

/// What kind of thing a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The parameter at this position.
    Param(usize),
    /// A binding of the user's.
    Local,
    /// Introduced by the lowering: an argument, a call's result, an iterator.
    Temp,
    /// The function's result.
    Result,
}

/// Where a variable lives at run time (Radul et al. 2020, section 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Class {
    /// Never leaves one region: an ordinary local of the lane code, no column.
    #[default]
    Temporary,
    /// Crosses regions, but no call that may overwrite it: a column, no stack.
    Register,
    /// Live across a call whose callees may write it: a column and, in the program-counter
    /// executor, a stack per member.
    Stacked,
    /// The same value for every member at any time: the shared parameter of the entry function at
    /// this position. No column.
    Uniform(usize),
    /// Never read: nothing at all.
    Null,
}

impl Class {
    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Temporary => "temporary",
            Class::Register => "register",
            Class::Stacked => "stacked",
            Class::Uniform(_) => "uniform",
            Class::Null => "null",
        }
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Unique within the function, with the user's span.
    pub ident: syn::Ident,
    /// The function it belongs to.
    pub func: FuncId,
    /// Parameter, local, temporary or result.
    pub role: Role,
    /// Whether the binding may be assigned after its definition (declared `mut` or without an
    /// initialiser).
    pub mutable: bool,
    /// The type where the source names it.
    pub ty: Option<syn::Type>,
    /// For a parameter of any function: whether it is shared in the batched call (`&T`, `&self`,
    /// `#[shared]`). Only shared parameters of the entry can be the root of a uniform.
    pub shared: bool,
    /// Set by the storage pass.
    pub class: Class,
}

impl Variable {
    /// Whether it is the same for every member at any time.
    pub fn is_uniform(&self) -> bool {
        matches!(self.class, Class::Uniform(_))
    }
}

/// A single-entry piece of straight-line code with a terminator. Ops may leave it early.
#[derive(Clone, Debug)]
pub struct Block {
    /// The function it belongs to.
    pub func: FuncId,
    /// Executed in order.
    pub ops: Vec<Op>,
    /// How control leaves at the end.
    pub term: Terminator,
    /// Where it stands in the source.
    pub span: Span,
    /// What the block is, for reports: `entry`, `loop`, `then`, `after call`, …
    pub label: &'static str,
    /// Variables restored from their stacks on entry (only after a call); set by caller-saves.
    pub pops: Vec<VarId>,
    /// Variables read from the top of their stacks on entry, where they stay for the next call; set by
    /// pop-push fusion.
    pub reads: Vec<VarId>,
    /// Variables that every side exit to this block assigns right before its jump (the function's
    /// result at the exit block, the value of a `loop` behind it).
    pub arrives: VarSet,
    /// Whether the ops are uniform loops and what surrounds them, which the lanes of a strip can run in
    /// lane interchange; such a block ends in a jump and is a region of its own.
    pub interchanged: bool,
    /// The call of a primitive that is the block's one op: all lanes that wait here make it together. Such
    /// a block ends in a jump and is a region of its own.
    pub primitive: Option<Primitive>,
    /// Whether it is the head of a loop: each turn begins here, and the last look at the condition.
    pub header: bool,
    /// The head of the region this block is emitted in; itself for a head. Set by the fusion pass.
    pub region: BlockId,
}

/// A call of a function that has a batched kernel.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// The call; its arguments are literals, constants, variables and references to parts of variables.
    pub call: syn::ExprCall,
    /// Receives the result.
    pub dest: VarId,
    /// Its type where the user has named it.
    pub ty: Option<syn::Type>,
}

/// User code that stays Rust.
#[derive(Clone, Debug)]
pub struct Op {
    /// Verbatim statements; early exits are [`goto`] markers.
    pub code: Vec<syn::Stmt>,
    /// Variables whose value may be read (or partly written) before this op defines them.
    pub uses: VarSet,
    /// Variables that are certainly, wholly assigned when the op ends normally.
    pub defs: VarSet,
    /// Variables whose `let` stands at the top level of the op's code.
    pub declares: VarSet,
    /// Targets of the [`goto`] markers in `code`.
    pub exits: Vec<BlockId>,
    /// An estimate of the work: about one per arithmetic operation, 20 per opaque call.
    pub weight: u32,
}

/// How control leaves the end of a block.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// To one successor.
    Jump(BlockId),
    /// `if cond`; `cond` may be an `if let` or a let chain, whose bindings reach `then` only.
    Branch {
        /// The condition, verbatim.
        cond: Box<syn::Expr>,
        /// Variables it mentions.
        uses: VarSet,
        /// Variables it binds, visible in `then`.
        binds: VarSet,
        /// Where it holds.
        then: BlockId,
        /// Where it does not.
        otherwise: BlockId,
    },
    /// `match scrutinee`.
    Switch {
        /// The scrutinee, verbatim.
        scrutinee: Box<syn::Expr>,
        /// Variables the scrutinee and the guards mention.
        uses: VarSet,
        /// In order; exhaustive as the user's match was.
        arms: Vec<Arm>,
    },
    /// A batched call.
    Call(Call),
    /// A call whose result is the caller's: the callee takes over the caller's activation.
    TailCall {
        /// The function that takes over.
        callee: FuncId,
        /// One variable per parameter.
        args: Vec<VarId>,
        /// Where it stands in the source.
        span: Span,
    },
    /// The result variable holds the value; only in the exit block.
    Return,
    /// The ops never end normally (`panic!`, `loop {}` without break, all paths left by exits).
    Unreachable,
}

/// One arm of a [`Terminator::Switch`].
#[derive(Clone, Debug)]
pub struct Arm {
    /// The pattern, verbatim (a guard stands in `guard`).
    pub pat: syn::Pat,
    /// The guard, verbatim.
    pub guard: Option<Box<syn::Expr>>,
    /// Variables the pattern binds, visible in the target.
    pub binds: VarSet,
    /// Where it goes.
    pub target: BlockId,
}

/// A batched call site.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call, if it stands in tail position of its function.
    pub tail: Option<CallSite>,
    /// Dense over the program.
    pub id: CallId,
    /// The function called.
    pub callee: FuncId,
    /// One variable per parameter. A variable that is live after the call is `Copy`, or a `&mut` parameter
    /// that the callee has for the call, because the scalar function compiles.
    pub args: Vec<VarId>,
    /// Receives the result.
    pub dest: VarId,
    /// Runs next.
    pub cont: BlockId,
    /// Variables saved on their stacks before the callee runs; set by caller-saves.
    pub pushes: Vec<VarId>,
    /// Variables that are on their stacks already, with a new value on top: written in place.
    /// Set by pop-push fusion.
    pub updates: Vec<VarId>,
    /// Variables that are on their stacks already and unchanged: nothing to do.
    pub keeps: Vec<VarId>,
    /// Whether the callee can reach the caller again; set by the call-graph pass.
    pub recursive: bool,
    /// The user's call expression.
    pub span: Span,
}

/// The name of the marker macro that stands for a jump inside verbatim code.
pub const GOTO: &str = "__autobatch_goto";

/// The expression that leaves an op for `target`.
pub fn goto(target: BlockId) -> syn::Expr {
    let marker = syn::Ident::new(GOTO, Span::mixed_site());
    let index = proc_macro2::Literal::usize_unsuffixed(target.0);
    parse_quote!(#marker!(#index))
}

/// The target, if `mac` is a [`goto`] marker.
pub fn goto_target(mac: &syn::Macro) -> Option<BlockId> {
    if !mac.path.is_ident(GOTO) {
        return None;
    }
    mac.tokens.to_string().parse().ok().map(BlockId)
}

impl Terminator {
    /// The code that chooses the successor: a condition, or a scrutinee and guards.
    pub fn conditions(&self) -> impl Iterator<Item = &syn::Expr> {
        let (looked_at, arms) = match self {
            Terminator::Branch { cond, .. } => (Some(&**cond), &[][..]),
            Terminator::Switch { scrutinee, arms, .. } => (Some(&**scrutinee), &arms[..]),
            _ => (None, &[][..]),
        };
        looked_at.into_iter().chain(arms.iter().filter_map(|arm| arm.guard.as_deref()))
    }

    /// The call that it is, other than a tail call.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Terminator::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Successor blocks within the function, in order, duplicates kept. A call's successor is its
    /// continuation; a tail call and a return have none.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Jump(b) => vec![*b],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Terminator::Switch { arms, .. } => arms.iter().map(|a| a.target).collect(),
            Terminator::Call(call) => vec![call.cont],
            Terminator::TailCall { .. } | Terminator::Return | Terminator::Unreachable => vec![],
        }
    }

    /// Variables the terminator reads.
    pub fn uses(&self) -> VarSet {
        match self {
            Terminator::Branch { uses, .. } | Terminator::Switch { uses, .. } => uses.clone(),
            Terminator::Call(call) => call.args.iter().copied().collect(),
            Terminator::TailCall { args, .. } => args.iter().copied().collect(),
            Terminator::Jump(_) | Terminator::Return | Terminator::Unreachable => VarSet::new(),
        }
    }

    /// Variables bound on the edge to the `nth` successor (in [`Terminator::successors`] order).
    pub fn binds(&self, nth: usize) -> VarSet {
        match self {
            Terminator::Branch { binds, .. } if nth == 0 => binds.clone(),
            Terminator::Switch { arms, .. } => arms[nth].binds.clone(),
            Terminator::Call(call) => VarSet::from([call.dest]),
            _ => VarSet::new(),
        }
    }
}

impl Block {
    /// The statements of its ops.
    pub fn code(&self) -> impl Iterator<Item = &syn::Stmt> {
        self.ops.iter().flat_map(|op| &op.code)
    }

    /// Variables with a binding on one of its edges.
    pub fn binds(&self) -> VarSet {
        (0..self.term.successors().len()).flat_map(|nth| self.term.binds(nth)).collect()
    }

    /// Variables with a `let` in its ops or a binding on one of its edges.
    pub fn declares(&self) -> VarSet {
        self.ops.iter().flat_map(|op| &op.declares).copied().chain(self.binds()).collect()
    }

    /// All blocks control can go to from here within the function: side exits, then the
    /// terminator's successors.
    pub fn successors(&self) -> Vec<BlockId> {
        let mut all: Vec<BlockId> = self.ops.iter().flat_map(|op| op.exits.iter().copied()).collect();
        all.extend(self.term.successors());
        all
    }
}

impl Program {
    /// Whether it runs the scalar code for each member.
    pub(crate) fn is_scalar(&self) -> bool {
        self.notes.iter().any(|note| note.whole)
    }

    /// Adds a block that is a region of its own.
    pub fn add_block(
        &mut self,
        func: FuncId,
        ops: Vec<Op>,
        term: Terminator,
        span: Span,
        label: &'static str,
    ) -> BlockId {
        let region = BlockId(self.blocks.len());
        let (pops, reads, arrives) = (vec![], vec![], VarSet::new());
        let (interchanged, primitive, header) = (false, None, false);
        let new = Block {
            func,
            ops,
            term,
            span,
            label,
            pops,
            reads,
            arrives,
            interchanged,
            primitive,
            header,
            region,
        };
        self.blocks.push(new);
        region
    }

    /// Adds a variable without a class.
    pub fn add_variable(
        &mut self,
        func: FuncId,
        ident: syn::Ident,
        role: Role,
        mutable: bool,
        ty: Option<syn::Type>,
        shared: bool,
    ) -> VarId {
        let (id, class) = (VarId(self.variables.len()), Class::default());
        self.variables.push(Variable { ident, func, role, mutable, ty, shared, class });
        id
    }

    /// The function `id` names.
    pub fn func(&self, id: FuncId) -> &Function {
        &self.functions[id.0]
    }
    /// The block `id` names.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0]
    }
    /// The variable `id` names.
    pub fn var(&self, id: VarId) -> &Variable {
        &self.variables[id.0]
    }
    /// The name of a variable.
    pub fn name(&self, id: VarId) -> String {
        self.var(id).ident.to_string()
    }
    /// All block ids.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(BlockId)
    }
    /// All variable ids.
    pub fn var_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len()).map(VarId)
    }
    /// The blocks of a function.
    pub fn blocks_of(&self, func: FuncId) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(move |block| block.func == func)
    }
    /// The variables of a function.
    pub fn vars_of(&self, func: FuncId) -> impl Iterator<Item = VarId> {
        self.var_ids().filter(move |v| self.var(*v).func == func)
    }
    /// All function ids.
    pub fn func_ids(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len()).map(FuncId)
    }
    /// The call sites (tail calls excluded) with the block each stands in, by [`CallId`].
    pub fn call_sites(&self) -> Vec<(BlockId, &Call)> {
        let calls = self.block_ids().filter_map(|b| Some((b, self.block(b).term.call()?)));
        let mut sites: Vec<_> = calls.collect();
        sites.sort_by_key(|(_, call)| call.id);
        sites
    }
    /// Whether `b` heads a region.
    pub fn is_head(&self, b: BlockId) -> bool {
        self.block(b).region == b
    }
    /// Whether `b` is its function's exit block.
    pub fn is_exit(&self, b: BlockId) -> bool {
        self.func(self.block(b).func).exit == b
    }
}
