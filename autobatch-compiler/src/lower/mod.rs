//! From user code to control-flow graphs.
//!
//! Statements that contain no batched call and no loop stay whole, verbatim, as ops. Everything else
//! is taken apart, in evaluation order, into blocks: calls are hoisted to call-normal form (every
//! batched call stands alone, its arguments and its result in variables), loops become headers and
//! back edges, `&&`, `||`, `if`, `match`, `let … else` with such parts become branches.
//!
//! In: an [`Item`] and its [`Resolution`]. What follows from them before a block is made stands in `facts`.
//!
//! Out: a [`Program`] of the functions reachable from one entry, without any analysis results.
//!
//! **Invariant:** block ids ascend in source order; ops leave early only by listed exits.

mod borrow_free;
pub(crate) mod call_arguments;
mod control;
mod exits;
mod expr;
mod facts;
pub(crate) mod lane_interchange;
mod lifetimes;
mod lowering;
pub(crate) mod macros;
mod numbering;
mod predicated_loops;
mod primitive;
mod ranges;
mod receiver;
mod scan;
mod shared_counters;
mod statements;
mod unbatched;
mod uniform_loops;

pub use facts::LowerOptions;
pub use lowering::Lowered;
pub(crate) use lowering::{Erased, Lowering};
pub(crate) use statements::item_names;

use std::rc::Rc;

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned as _;
use syn::{Expr, Stmt, Type, parse_quote};

use crate::analysis::reference_flow::LocalBorrow;
use crate::diagnostics::reasons::{self, Reason};
use crate::ir::effects::{self, Names};
use crate::ir::questions::{Need, Questions};
use crate::ir::{self, BlockId, FuncId, GroupId, Note, Op, Program, Role, Terminator, VarId, VarSet};
use crate::item::model::{Item, Passing};
use crate::item::{array_shapes, known_lists, trip_counts};
use crate::lower::facts::Facts;
use crate::resolve::float_structures;
use crate::resolve::resolution::{Answer, Resolution};
use crate::syntax::call_sites::{self, CallSite};
use crate::syntax::visit_mut::VisitMut;
use crate::syntax::walk::Code;

/// Lowers the program whose entry is `item.functions[entry]`. The second result is what rustc has to be asked about its expressions.
pub fn lower(
    item: &Item,
    resolution: &Resolution,
    entry: usize,
    options: &LowerOptions,
) -> (Lowered, Questions) {
    let facts = Facts::new(item, resolution, entry, options);
    let mut lowering = Lowering {
        facts: &facts,
        program: Program::default(),
        sources: vec![],
        items: vec![],
        spans: VarSet::new(),
        questions: Questions::default(),
        counted: vec![],
        func: FuncId(0),
        names: Names::default(),
        uniforms: VarSet::new(),
        loops: vec![],
        cursor: None,
        started: vec![],
        temps: 0,
    };
    lowering.declare(entry);
    while let Some(func) = lowering.pending() {
        lowering.lower(func);
    }
    lowering.finish()
}

impl Lowering<'_> {
    /// Whether the function loops or recurses, so that members reach a place at different times.
    fn members_diverge(&self) -> bool {
        self.facts.callable(&self.function().sig.ident.to_string()).is_some()
    }

    /// The type of a variable of the current function, as far as it follows from what is written.
    fn type_of(&self, var: VarId) -> Option<&Type> {
        let var = self.program.var(var);
        var.ty.as_ref().or_else(|| self.facts.resolution.types(self.source()).get(&var.ident.to_string()))
    }

    /// What is known of a call of the current function.
    fn answer(&self, attrs: &[syn::Attribute]) -> Option<Answer> {
        self.facts.resolution.call(self.source(), call_sites::marked(attrs))
    }

    /// The number of a call that stands in tail position.
    fn tail_call(&self, call: &Expr) -> Option<CallSite> {
        call_sites::of(call).filter(|site| self.function().is_tail(*site))
    }

    /// The id of a function. The first time it is made, with parameters, result, entry and exit block.
    fn declare(&mut self, source: usize) -> FuncId {
        if let Some(id) = self.sources.iter().position(|known| *known == source) {
            return FuncId(id);
        }
        let id = FuncId(self.sources.len());
        self.sources.push(source);
        let function = self.facts.function(source);
        let params = function
            .params
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let shared = p.passing == Passing::Shared;
                let ty = self.facts.erased_type(source, &p.ty);
                self.program.add_variable(id, p.ident.clone(), Role::Param(i), p.mutable, Some(ty), shared)
            })
            .collect();
        let result_ident = Ident::new(&format!("__result{}", id.0), Span::mixed_site());
        let output = self.facts.erased_type(source, &function.output);
        let result =
            self.program.add_variable(id, result_ident, Role::Result, false, Some(output.clone()), false);
        let span = function.sig.ident.span();
        let entry = self.block(id, span, "entry");
        let exit = self.block(id, span, "exit");
        self.program.blocks[exit.0].term = Terminator::Return;
        self.program.blocks[exit.0].arrives.insert(result);
        let declared = &self.facts.item.declared;
        let trip_counts = trip_counts::of(function, &declared.definitions);
        let arrays = array_shapes::of(function, &declared.beside);
        let lists = known_lists::of(function, self.facts.item.own.as_ref(), &declared.definitions);
        let types = self.facts.resolution.types(source);
        let float_structures = float_structures::of(function, types, &declared.beside);
        self.program.functions.push(ir::Function {
            name: function.sig.ident.clone(),
            params,
            result,
            entry,
            exit,
            group: GroupId(id.0),
            output,
            recursive: false,
            trip_counts,
            arrays,
            lists,
            float_structures,
        });
        id
    }

    /// The function that was declared last, of those that are not lowered yet.
    fn pending(&self) -> Option<FuncId> {
        let is_lowered = |func: &FuncId| self.started.contains(&self.program.func(*func).entry);
        self.program.func_ids().filter(|func| !is_lowered(func)).last()
    }

    fn block(&mut self, func: FuncId, span: Span, label: &'static str) -> BlockId {
        self.program.add_block(func, vec![], Terminator::Unreachable, span, label)
    }

    fn lower(&mut self, func: FuncId) {
        self.func = func;
        let function = self.function();
        let ir = self.program.func(self.func).clone();
        self.names = Names::new(&self.program, self.func, &ir.params);
        self.names.insert(self.program.name(ir.result), ir.result);
        // In the order of the scalar code, so that what dies together is dropped in its order.
        let mut bindings: Vec<_> = function.bindings.values().collect();
        bindings.sort_by_key(|binding| binding.number);
        for binding in bindings {
            if !self.names.contains_key(&binding.ident.to_string()) {
                let var = self.program.add_variable(
                    self.func,
                    binding.ident.clone(),
                    Role::Local,
                    binding.mutable,
                    None,
                    false,
                );
                self.names.insert(binding.ident.to_string(), var);
            }
        }
        self.find_fallbacks(function);
        self.loops.clear();
        self.start(ir.entry);
        for param in &function.params {
            if let Some(pattern) = &param.pattern {
                let ident = &param.ident;
                self.op(parse_quote!(let #pattern = #ident;));
            }
        }
        let mut body = self.facts.body(self.source());
        self.facts.erased(self.source()).visit_block_mut(&mut body);
        self.body(body, Some(ir.result), Some(ir.output.clone()));
        self.jump(ir.exit);
        self.started.push(ir.exit);
    }

    // ---- blocks ----

    fn new_block(&mut self, span: Span, label: &'static str) -> BlockId {
        self.block(self.func, span, label)
    }

    /// Goes on in `block`.
    fn start(&mut self, block: BlockId) {
        self.started.push(block);
        self.cursor = Some(block);
    }

    /// Ends the current block; without effect where control never arrives.
    fn terminate(&mut self, term: Terminator) {
        if let Some(block) = self.cursor.take() {
            self.program.blocks[block.0].term = term;
        }
    }

    fn jump(&mut self, target: BlockId) {
        self.terminate(Terminator::Jump(target));
    }

    /// Appends a verbatim statement, its early exits rewritten.
    fn op(&mut self, mut stmt: Stmt) {
        if self.cursor.is_none() {
            return;
        }
        call_sites::unmark(&mut stmt);
        let written = stmt.clone();
        self.rewrite_exits(&mut stmt);
        let op = effects::op(&self.names, stmt);
        if !op.exits.is_empty() {
            // What a jump leaves behind is dropped after locals have moved back.
            let made = self.reference_flow().temporaries(&written);
            let borrowed: Vec<Expr> = made
                .into_iter()
                .filter(|e| self.reference_flow().local_borrow(e) != LocalBorrow::Never)
                .cloned()
                .collect();
            borrowed.iter().for_each(|temporary| self.asked(temporary, Need::Forgotten));
        }
        let parts = self.facts.options.split_entry && !op.exits.is_empty();
        self.push_op(op);
        if let (true, Some(block)) = (parts, self.cursor) {
            let next = self.new_block(self.program.block(block).span, "after exit");
            self.jump(next);
            self.start(next);
        }
    }

    fn push_op(&mut self, op: Op) {
        if let Some(block) = self.cursor {
            self.program.blocks[block.0].ops.push(op);
        }
    }

    /// Makes jumps of what leaves a piece of code early.
    fn rewrite_exits(&self, code: &mut impl Code) {
        let func = self.program.func(self.func);
        code.visit_mut(&mut exits::Exits {
            krate: &self.facts.options.krate,
            result: &self.program.var(func.result).ident,
            output: &func.output,
            exit: func.exit,
            loops: &self.loops,
            inner: Vec::new(),
        });
    }

    /// An expression without splits, with its early exits rewritten.
    fn verbatim(&self, mut expr: Expr) -> Expr {
        call_sites::unmark(&mut expr);
        self.rewrite_exits(&mut expr);
        expr
    }

    fn temp(&mut self, what: &str, ty: Option<Type>) -> (VarId, Ident) {
        self.temps += 1;
        let ident = Ident::new(&format!("__{what}{}", self.temps), Span::mixed_site());
        let var = self.program.add_variable(self.func, ident.clone(), Role::Temp, false, ty, false);
        self.names.insert(ident.to_string(), var);
        (var, ident)
    }

    /// A value in a variable of its own.
    fn in_variable(&mut self, what: &str, value: Expr) -> Expr {
        let (dest, ident) = self.temp(what, None);
        self.define(dest, None, value);
        parse_quote!(#ident)
    }

    /// `let dest: ty = value;`
    fn define(&mut self, dest: VarId, ty: Option<&Type>, value: Expr) {
        let var = self.program.var(dest);
        let ident = &var.ident;
        let mutability: Option<syn::Token![mut]> = var.mutable.then(Default::default);
        let annotation = ty.map(|ty| quote::quote!(: #ty));
        self.op(parse_quote!(let #mutability #ident #annotation = #value;));
    }

    /// Asks rustc about an expression whose value is kept across a block boundary, as it is written.
    fn ask(&mut self, written: &Expr) {
        match self.reference_flow().local_borrow(written) {
            // It may borrow from a temporary, which lives as long as its statement.
            LocalBorrow::Never if self.reference_flow().chain(written).is_some() => {}
            LocalBorrow::Never | LocalBorrow::Possible => self.asked(written, Need::Whole),
            LocalBorrow::Certain => self.whole_fallback(written.span(), reasons::OPERAND_BORROWS),
        }
        self.ask_temporaries(written);
    }

    fn asked(&mut self, written: &Expr, need: Need) {
        if self.cursor.is_some() {
            self.questions.expressions.push((self.source(), written.clone(), need));
        }
    }

    /// Temporaries of an expression are dropped before what is behind it: nobody may see that.
    fn ask_temporaries(&mut self, written: &Expr) {
        let clones = |all: Vec<&Expr>| all.into_iter().cloned().collect::<Vec<Expr>>();
        let chain = clones(self.reference_flow().chain(written).unwrap_or_default());
        let others = clones(self.reference_flow().temporaries(written));
        chain.iter().for_each(|temporary| self.asked(temporary, Need::Chained));
        for temporary in &others {
            let need = if self.reference_flow().local_borrow(temporary) == LocalBorrow::Never {
                Need::Quiet
            } else {
                Need::Forgotten
            };
            self.asked(temporary, need);
        }
    }

    fn whole_fallback(&mut self, span: Span, reason: Reason) {
        self.program.notes.push(Note { span, name: None, reason, whole: true });
    }

    fn finish(mut self) -> (Lowered, Questions) {
        self.renumber();
        if self.facts.options.fuse && !self.program.is_scalar() {
            self.split_interchanged();
        }
        let facts = self.facts;
        let sources = || self.sources.iter().copied();
        let lowered = Lowered {
            erased: sources().map(|source| facts.erased(source)).collect(),
            reference_flows: sources().map(|source| Rc::clone(facts.reference_flow(source))).collect(),
            program: self.program,
            sources: self.sources,
            items: self.items,
            spans: self.spans,
            counted: self.counted,
        };
        (lowered, self.questions)
    }
}
