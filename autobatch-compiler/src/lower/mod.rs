//! From user code to control-flow graphs.
//!
//! Statements that contain no batched call and no loop stay whole, verbatim, as ops. Everything else
//! is taken apart, in evaluation order, into blocks: calls are hoisted to call-normal form (every
//! batched call stands alone, its arguments and its result in variables), loops become headers and
//! back edges, `&&`, `||`, `if`, `match`, `let … else` with such parts become branches.
//!
//! Result: a [`Program`] of the functions reachable from one entry, without any analysis results.

mod borrowing;
mod carried;
mod chains;
mod computed;
mod control;
mod exits;
mod expr;
mod guarding;
mod kept;
pub(crate) mod leaving;
mod lent;
mod lifetimes;
mod lockstep;
mod named;
mod number;
mod owners;
mod parted;
mod primitive;
mod ranges;
mod receiver;
mod references;
mod scan;
mod statements;
mod unbatched;
mod uniform;
pub(crate) mod unseen;
mod worth;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};
use syn::visit_mut::VisitMut;
use syn::{Expr, Path, Stmt, Type, parse_quote};

pub(crate) use chains::{ends_closures_by_name, yields_number};
pub(crate) use leaving::{leaves, lends, makes_names, mentions};
pub(crate) use lent::{may_borrow, owns};
pub(crate) use named::behind;
pub(crate) use primitive::names as names_primitive;
pub(crate) use references::certainly_owns;
pub(crate) use scan::{called_names, may_split, tail};
pub(crate) use worth::call_graph;

pub(crate) use self::named::is_temporary;
pub(crate) use self::primitive::root;
use crate::desugar::copies::Copies;
use crate::desugar::moves::type_of_value;
use crate::desugar::runs::Callees;
use crate::effects::{self, Names};
use crate::guards::OfBody;
use crate::input::{Function, Passing};
use crate::ir::{
    self, Block, BlockId, Call, CallId, Class, FuncId, GroupId, Note, Op, Program, Role, Terminator, VarId,
    VarSet, Variable,
};
use crate::tails::Unnumbered;

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
    /// Variables that plainly hold a borrow of a local: they must not cross a region.
    pub borrowers: Vec<Borrower>,
    /// Variables that may hold one, made by code that is not seen: the locals live in place if they can.
    pub suspects: Vec<Suspect>,
    /// Locals, by function and name, that are borrowed across a loop: if they lived in place, that would do.
    pub crossed: BTreeSet<(usize, String)>,
}

/// A variable that holds a borrow of a local.
pub struct Borrower {
    /// The variable.
    pub var: VarId,
    /// What it is initialised with.
    pub span: Span,
    /// The locals it borrows from, by function and name.
    pub from: Vec<(usize, String)>,
}

/// A variable that may hold a borrow of a local.
pub struct Suspect {
    /// The variable.
    pub var: VarId,
    /// The local.
    pub lender: VarId,
    /// Whether that moves where it is mentioned.
    pub moved: bool,
    /// The local, by function and name.
    pub from: Vec<(usize, String)>,
}

/// A loop or labelled block around the current position.
pub(crate) struct LoopContext {
    label: Option<String>,
    is_loop: bool,
    continue_to: Option<BlockId>,
    break_to: BlockId,
    dest: Option<Ident>,
    dest_var: Option<VarId>,
    /// How many guards there are outside.
    guards: usize,
}

/// The state of lowering one program.
pub(crate) struct Lowering<'a> {
    functions: &'a [Function],
    options: &'a LowerOptions,
    /// Names of functions worth batching, by index of the source function.
    batched: BTreeMap<String, usize>,
    /// Names of functions that would be worth batching, but are generic on their own.
    excluded: BTreeSet<String>,
    method_names: BTreeSet<String>,
    self_type: Option<Ident>,
    program: Program,
    sources: Vec<usize>,
    items: Vec<syn::Item>,
    borrowers: Vec<Borrower>,
    suspects: Vec<Suspect>,
    crossed: BTreeSet<(usize, String)>,
    entry: usize,
    // The function being lowered.
    current: usize,
    func: FuncId,
    names: Names,
    references: VarSet,
    /// Locals that certainly are shared references to what locals hold.
    shared: VarSet,
    /// Those of `references` that are a reference with the number that `enumerate` adds.
    numbered: VarSet,
    /// Locals that may own what they dereference to.
    owners: VarSet,
    /// Locals that are references by what is done with them.
    wanted: VarSet,
    /// Locals that are no numbers, by what is done with them.
    things: VarSet,
    /// Locals that are an `Option` or a `Result`.
    options_known: VarSet,
    /// Locals that have the same value for every member.
    uniforms: VarSet,
    /// Locals that are numbers or the like.
    copies: Copies,
    loops: Vec<LoopContext>,
    /// What is dropped where the blocks around end, in the order of its definition.
    guards: Vec<guarding::Guard>,
    known_guards: OfBody,
    callees: Callees,
    statement: Option<kept::Statement>,
    /// What operands of the statement borrow from that are kept while later ones make calls.
    kept: Vec<Ident>,
    /// The block being filled; `None` where control never arrives.
    cursor: Option<BlockId>,
    /// Blocks of the program in the order they were started.
    started: Vec<BlockId>,
    temps: usize,
    next_queue: Vec<usize>,
    ids: BTreeMap<usize, FuncId>,
}

/// Lowers the program whose entry is `functions[entry]`.
pub fn lower(
    functions: &[Function],
    entry: usize,
    self_type: Option<Ident>,
    options: &LowerOptions,
) -> Lowered {
    let (batched, excluded) = worth::worth_batching(functions, entry, &options.primitives);
    let mut lowering = Lowering {
        functions,
        options,
        batched,
        excluded,
        method_names: functions
            .iter()
            .filter(|f| f.sig.receiver().is_some())
            .map(|f| f.sig.ident.to_string())
            .collect(),
        self_type,
        program: Program {
            functions: vec![],
            blocks: vec![],
            variables: vec![],
            calls: 0,
            entry: FuncId(0),
            order: vec![],
            notes: vec![],
        },
        sources: vec![],
        items: vec![],
        borrowers: vec![],
        suspects: vec![],
        crossed: BTreeSet::new(),
        entry,
        current: entry,
        func: FuncId(0),
        names: Names::new(),
        references: VarSet::new(),
        shared: VarSet::new(),
        numbered: VarSet::new(),
        owners: VarSet::new(),
        wanted: VarSet::new(),
        things: VarSet::new(),
        options_known: VarSet::new(),
        uniforms: VarSet::new(),
        copies: Copies::default(),
        loops: vec![],
        guards: vec![],
        known_guards: OfBody::default(),
        callees: Callees::of(functions),
        statement: None,
        kept: Vec::new(),
        cursor: None,
        started: vec![],
        temps: 0,
        next_queue: vec![],
        ids: BTreeMap::new(),
    };
    lowering.declare(entry);
    while let Some(source) = lowering.next_queue.pop() {
        lowering.function(source);
    }
    lowering.finish()
}

impl Lowering<'_> {
    /// The program function a name stands for, if calls to it can be batched.
    fn callable(&self, name: &str) -> Option<FuncId> {
        let source = *self.batched.get(name)?;
        // Not yet declared callees get their id on first use, see `id_of`; scanning needs only a
        // stable stand-in, which is the source index behind the declared ids.
        Some(self.ids.get(&source).copied().unwrap_or(FuncId(PENDING + source)))
    }

    fn source_of(&self, id: FuncId) -> usize {
        if id.0 >= PENDING { id.0 - PENDING } else { self.sources[id.0] }
    }

    /// Whether the function loops or recurses, so that members reach a place at different times.
    fn members_diverge(&self) -> bool {
        self.batched.contains_key(&self.functions[self.current].sig.ident.to_string())
    }

    /// Whether a method has that name whose calls are batched, or would be if it had no type parameters. Other
    /// methods are plain calls on any receiver.
    fn is_program_method(&self, call: &syn::ExprMethodCall) -> bool {
        let name = call.method.to_string();
        let takes_as_many =
            |f: &Function| call.method == f.sig.ident && f.params.len() == call.args.len() + 1;
        self.method_names.contains(&name)
            && (self.batched.contains_key(&name) || self.excluded.contains(&name))
            && self.functions.iter().any(takes_as_many)
    }

    /// The type of a variable of the current function, as far as it follows from what is written.
    fn type_of(&self, var: VarId) -> Option<&Type> {
        let var = self.program.var(var);
        var.ty.as_ref().or_else(|| self.functions[self.current].types.get(&var.ident.to_string()))
    }

    /// The same, or what its `let` says.
    fn written_type(&self, var: VarId) -> Option<Type> {
        let name = self.program.var(var).ident.to_string();
        self.type_of(var).cloned().or_else(|| type_of_value(&self.functions[self.current], &name))
    }

    /// The declared id of a callee found by [`scan::callee`].
    fn id_of(&mut self, id: FuncId) -> FuncId {
        if id.0 >= PENDING { self.declare(id.0 - PENDING) } else { id }
    }

    /// Makes the function's id, parameters, result, entry and exit block.
    fn declare(&mut self, source: usize) -> FuncId {
        if let Some(id) = self.ids.get(&source) {
            return *id;
        }
        let id = FuncId(self.program.functions.len());
        self.ids.insert(source, id);
        self.sources.push(source);
        let function = &self.functions[source];
        let params = function
            .params
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let shared = p.passing == Passing::Shared;
                let ty = self.erased_type(source, &p.ty);
                self.variable(id, p.ident.clone(), Role::Param(i), p.mutable, Some(ty), shared)
            })
            .collect();
        let result_ident = Ident::new(&format!("__result{}", id.0), Span::mixed_site());
        let output = self.erased_type(source, &function.output);
        let result = self.variable(id, result_ident, Role::Result, false, Some(output.clone()), false);
        let span = function.sig.ident.span();
        let entry = self.block(id, span, "entry");
        let exit = self.block(id, span, "exit");
        self.program.blocks[exit.0].term = Terminator::Return;
        self.program.blocks[exit.0].arrives.insert(result);
        self.program.functions.push(ir::Function {
            name: function.sig.ident.clone(),
            params,
            result,
            entry,
            exit,
            group: GroupId(id.0),
            output,
            recursive: false,
        });
        self.next_queue.push(source);
        id
    }

    fn variable(
        &mut self,
        func: FuncId,
        ident: Ident,
        role: Role,
        mutable: bool,
        ty: Option<Type>,
        shared: bool,
    ) -> VarId {
        let id = VarId(self.program.variables.len());
        self.program.variables.push(Variable {
            ident,
            func,
            role,
            mutable,
            ty,
            shared,
            anchored: false,
            guard: false,
            class: Class::default(),
        });
        id
    }

    fn block(&mut self, func: FuncId, span: Span, label: &'static str) -> BlockId {
        let id = BlockId(self.program.blocks.len());
        self.program.blocks.push(Block {
            func,
            ops: vec![],
            term: Terminator::Unreachable,
            span,
            label,
            pops: vec![],
            reads: vec![],
            arrives: VarSet::new(),
            gone: VarSet::new(),
            lockstep: false,
            primitive: None,
            region: id,
        });
        id
    }

    fn function(&mut self, source: usize) {
        self.current = source;
        self.func = self.ids[&source];
        let function = &self.functions[source];
        let ir = self.program.func(self.func).clone();
        self.names = ir.params.iter().map(|v| (self.program.var(*v).ident.to_string(), *v)).collect();
        self.names.insert(self.program.var(ir.result).ident.to_string(), ir.result);
        self.references = ir
            .params
            .iter()
            .zip(&function.params)
            .filter(|(_, p)| references::is_shared_reference(&p.ty))
            .map(|(v, _)| *v)
            .collect();
        self.owners = self.owning_params(source, &ir.params);
        // In the order of the scalar code, so that what dies together is dropped in its order: what borrows a local before that.
        let mut bindings: Vec<_> = function.bindings.values().collect();
        bindings.sort_by_key(|binding| binding.number);
        for binding in bindings {
            if !self.names.contains_key(&binding.ident.to_string()) {
                let var = self.variable(
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
        self.copies = Copies::of(function);
        self.find_wanted(&function.body);
        self.find_guards(&function.body);
        self.find_references(&function.body);
        self.find_fallbacks(function);
        self.loops.clear();
        self.start(ir.entry);
        for param in &function.params {
            if let Some(pattern) = &param.pattern {
                let ident = &param.ident;
                self.op(parse_quote!(let #pattern = #ident;));
            }
        }
        let mut body = function.body.clone();
        self.erased(source).visit_block_mut(&mut body);
        self.guards = self.guards_given(&body.stmts);
        self.block_body(body, Some(ir.result), Some(ir.output.clone()), true);
        self.end_guards(0);
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
        self.note_within(&stmt);
        Unnumbered.visit_stmt_mut(&mut stmt);
        self.rewrite_exits(|exits| exits.visit_stmt_mut(&mut stmt));
        let op = effects::op(&self.names, stmt);
        let parts = self.options.part && !op.exits.is_empty();
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

    fn rewrite_exits(&self, rewrite: impl FnOnce(&mut exits::Exits<'_>)) {
        let func = self.program.func(self.func);
        let result = self.program.var(func.result).ident.clone();
        let (krate, guards) = (&self.options.krate, self.guards_dropped(0));
        rewrite(&mut exits::Exits::new(krate, &result, &func.output, func.exit, &self.loops, &guards));
    }

    /// An expression without splits, with its early exits rewritten.
    fn verbatim(&self, mut expr: Expr) -> Expr {
        Unnumbered.visit_expr_mut(&mut expr);
        self.rewrite_exits(|exits| exits.visit_expr_mut(&mut expr));
        expr
    }

    fn temp(&mut self, what: &str, ty: Option<Type>) -> (VarId, Ident) {
        self.temps += 1;
        let ident = Ident::new(&format!("__{what}{}", self.temps), Span::mixed_site());
        let var = self.variable(self.func, ident.clone(), Role::Temp, false, ty, false);
        self.names.insert(ident.to_string(), var);
        (var, ident)
    }

    /// `let dest: ty = value;`
    fn define(&mut self, dest: VarId, ty: Option<&Type>, value: Expr) {
        let var = self.program.var(dest);
        let ident = &var.ident;
        let mutability: Option<syn::Token![mut]> = var.mutable.then(Default::default);
        let annotation = ty.map(|ty| quote::quote!(: #ty));
        self.op(parse_quote!(let #mutability #ident #annotation = #value;));
    }

    fn whole_fallback(&mut self, span: Span, why: &str) {
        self.program.notes.push(Note { span, why: why.into(), whole: true });
    }

    fn finish(mut self) -> Lowered {
        self.renumber();
        if self.options.fuse && !self.program.notes.iter().any(|note| note.whole) {
            self.split_lockstep();
        }
        Lowered {
            program: self.program,
            sources: self.sources,
            items: self.items,
            borrowers: self.borrowers,
            suspects: self.suspects,
            crossed: self.crossed,
        }
    }
}

/// Stand-in ids of functions that are not declared yet start here.
const PENDING: usize = 1 << 32;

/// Makes a batched call's terminator.
fn call_terminator(
    id: CallId,
    callee: FuncId,
    args: Vec<VarId>,
    dest: VarId,
    cont: BlockId,
    span: Span,
    tail: Option<usize>,
) -> Terminator {
    Terminator::Call(Call {
        tail,
        id,
        callee,
        args,
        dest,
        cont,
        pushes: vec![],
        updates: vec![],
        keeps: vec![],
        recursive: false,
        span,
    })
}
