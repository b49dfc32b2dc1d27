//! The state of the lowering, what it can be told, and what it yields.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::Ident;
use syn::Path;

use crate::analysis::reference_flow::Travel;
use crate::ir::effects::Names;
use crate::ir::questions::Questions;
use crate::ir::{BlockId, FuncId, Program, VarId, VarSet};
use crate::item::model::{Function, Item};
use crate::resolve::resolution::Resolution;
use crate::syntax::call_sites::CallSite;

/// What the lowering can be told.
#[derive(Clone)]
pub struct LowerOptions {
    /// Where the facade crate is found.
    pub krate: Path,
    /// Whether branches without calls or loops stay inside ops.
    pub fuse: bool,
    /// Functions with a batched kernel, as the code calls them.
    pub primitives: Vec<Path>,
    /// Whether blocks end behind statements that may return early.
    pub part: bool,
}

/// The lowered program and what only the emitter needs.
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// For each program function the index of the source function.
    pub sources: Vec<usize>,
    /// Items of the bodies (`const`, `fn`, `struct`, …), hoisted.
    pub items: Vec<syn::Item>,
    /// What takes the names of lifetimes out of each program function's code.
    pub(crate) erased: Vec<Erased>,
    /// Locals whose scope goes on behind a loop or call.
    pub spans: VarSet,
    /// Calls in tail position, by source function and number, that are lent a local: something is left to do behind them.
    pub counted: Vec<(usize, CallSite)>,
    /// What rustc is asked about it.
    pub admission: Questions,
    /// How references to locals travel in each program function.
    pub(crate) travels: Vec<Rc<Travel>>,
}

/// A loop or labelled block around the current position.
pub(crate) struct LoopContext {
    pub(super) label: Option<String>,
    pub(super) is_loop: bool,
    pub(super) continue_to: Option<BlockId>,
    pub(super) break_to: BlockId,
    pub(super) dest: Option<Ident>,
    pub(super) dest_var: Option<VarId>,
}

/// The state of lowering one program.
pub(crate) struct Lowering<'a> {
    pub(super) item: &'a Item,
    pub(super) functions: &'a [Function],
    pub(super) resolution: &'a Resolution,
    pub(super) options: &'a LowerOptions,
    /// Names of functions worth batching, by index of the source function.
    pub(super) batched: BTreeMap<String, usize>,
    /// Names of functions that would be worth batching, but are generic on their own.
    pub(super) excluded: BTreeSet<String>,
    pub(super) method_names: BTreeSet<String>,
    pub(super) program: Program,
    pub(super) sources: Vec<usize>,
    pub(super) items: Vec<syn::Item>,
    pub(super) spans: VarSet,
    pub(super) admission: Questions,
    pub(super) counted: Vec<(usize, CallSite)>,
    pub(super) entry: usize,
    // The function being lowered.
    pub(super) current: usize,
    pub(super) func: FuncId,
    pub(super) names: Names,
    /// How references to locals travel in it, and in the functions before.
    pub(super) travel: Rc<Travel>,
    pub(super) travels: BTreeMap<FuncId, Rc<Travel>>,
    /// Locals that have the same value for every member.
    pub(super) uniforms: VarSet,
    pub(super) loops: Vec<LoopContext>,
    /// The block being filled; `None` where control never arrives.
    pub(super) cursor: Option<BlockId>,
    /// Blocks of the program in the order they were started.
    pub(super) started: Vec<BlockId>,
    pub(super) temps: usize,
    pub(super) next_queue: Vec<usize>,
    pub(super) ids: BTreeMap<usize, FuncId>,
}

/// Takes names out of types.
#[derive(Clone)]
pub(crate) struct Erased {
    pub(super) names: BTreeSet<String>,
    /// Types around: labels look like lifetimes.
    pub(super) types: u32,
}
