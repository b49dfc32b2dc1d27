//! The state of the lowering, and what it yields.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::Ident;

use crate::analysis::reference_flow::ReferenceFlow;
use crate::ir::effects::Names;
use crate::ir::questions::Questions;
use crate::ir::{BlockId, FuncId, Program, VarId, VarSet};
use crate::item::model::Function;
use crate::lower::facts::Facts;
use crate::syntax::call_sites::CallSite;

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
    /// Calls in tail position, by source function and number, that borrow a local: something is left to do behind them.
    pub counted: Vec<(usize, CallSite)>,
    /// How references to locals flow in each program function.
    pub(crate) reference_flows: Vec<Rc<ReferenceFlow>>,
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

/// The state of lowering one program: what is made of it, and where the lowering stands.
pub(crate) struct Lowering<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) program: Program,
    /// The functions of the program, by their positions in the item.
    pub(super) sources: Vec<usize>,
    pub(super) items: Vec<syn::Item>,
    pub(super) spans: VarSet,
    pub(super) questions: Questions,
    pub(super) counted: Vec<(usize, CallSite)>,
    /// The function being lowered.
    pub(super) func: FuncId,
    pub(super) names: Names,
    /// Locals that have the same value for every member.
    pub(super) uniforms: VarSet,
    pub(super) loops: Vec<LoopContext>,
    /// The block being filled; `None` where control never arrives.
    pub(super) cursor: Option<BlockId>,
    /// Blocks of the program in the order they were started.
    pub(super) started: Vec<BlockId>,
    pub(super) temps: usize,
}

impl<'a> Lowering<'a> {
    /// The position in the item of the function being lowered.
    pub(super) fn source(&self) -> usize {
        self.sources[self.func.0]
    }

    /// The function being lowered.
    pub(super) fn function(&self) -> &'a Function {
        self.facts.function(self.source())
    }

    /// How references to locals flow in it.
    pub(super) fn reference_flow(&self) -> &'a ReferenceFlow {
        self.facts.reference_flow(self.source())
    }
}

/// Takes names out of types.
#[derive(Clone)]
pub(crate) struct Erased {
    pub(super) names: BTreeSet<String>,
    /// Types around: labels look like lifetimes.
    pub(super) types: u32,
}
