//! The code of a block that runs lane-interchanged (see [`crate::analysis::lane_interchange`]): uniform loops around loops
//! over the lanes. It stands beside the ordinary lane code, which runs where a type is not primitive and
//! after a panic.

mod branches;
mod halves;
mod nodes;
mod places;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Expr, Lifetime, Pat, Stmt, parse_quote};

use crate::analysis::lane_interchange::{
    Array, Leaf, Node, Plan, Scope, assigned, heavy_branches_apart, indexed, mentions, overwritten, returned,
    transposed,
};
use crate::codegen::emitter::Emitter;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::lookups::{ListInRows, LookupWriter, faults};
use crate::codegen::loop_distribution::{self, strip};
use crate::codegen::names::{name, numbered};
use crate::codegen::own_elements::OwnElements;
use crate::codegen::region::{Region, column, lane};
use crate::codegen::shared_elements::SharedElements;
use crate::ir::effects::{self, bound};
use crate::ir::{BlockId, FuncId, Terminator, VarId, VarSet};
use crate::syntax::mentions::untyped;
use crate::syntax::walk::{self, At, AtMut};

/// Tokens for the arm of the block.
pub(crate) struct Interchanged {
    /// Declares what strips that run one after the other hand on, by array: memory.
    pub(crate) left: BTreeMap<VarId, TokenStream>,
    /// Fills what `rows` shows, given `__here`.
    pub(crate) transpose: TokenStream,
    /// Arrays and lists in rows: their names, and where they are.
    pub(crate) rows: Vec<(Ident, TokenStream)>,
    /// Declares the strips.
    pub(crate) strips: TokenStream,
    /// Whether the types allow it.
    pub(crate) check: TokenStream,
    /// Runs the strip, given `__here` and the rows.
    pub(crate) code: TokenStream,
    /// Where the lanes go on.
    pub(crate) next: BlockId,
    /// Whether loops in it have no end but a `break`: what counts their rounds has to be there.
    pub(crate) counts_turns: bool,
    /// If lanes may return from the function: the end of the function, and those that have not.
    pub(crate) returns: Option<(BlockId, Ident)>,
}

/// The runtime's `lane_interchange::QUICK`.
const QUICK: usize = 16;

/// Leads behind the code when no lane goes on.
fn all_returned() -> Lifetime {
    Lifetime::new("'__all_returned", Span::mixed_site())
}

/// `__element3`: one element of an array, in each lane.
fn element(var: VarId) -> Ident {
    numbered("element", var.0)
}

/// `__rows3`: the rows of an array that an earlier strip has left.
fn left(var: VarId) -> Ident {
    numbered("rows", var.0)
}

/// `__list3`: the rows of members' lists.
fn list_rows(var: VarId) -> Ident {
    numbered("list", var.0)
}

/// `__lengths3`: how long they are.
fn lengths(var: VarId) -> Ident {
    numbered("lengths", var.0)
}

/// A member's list, as lane code finds it.
fn in_rows(var: VarId) -> ListInRows {
    let (lengths, lane) = (lengths(var), lane());
    ListInRows { rows: list_rows(var), length: quote!(#lengths[#lane]), lane }
}

/// `__unreturned`: which lanes have not returned from the function.
fn unreturned() -> Ident {
    name("__unreturned")
}

/// `__rounds_made`: what counts the rounds of loops without an end.
pub(crate) fn turns() -> Ident {
    name("__rounds_made")
}

/// `__rounds_left`: those that the strip may make until it looks at the limits.
pub(crate) fn turns_left() -> Ident {
    name("__rounds_left")
}

/// `__has_returned`: whether the lane has.
fn has_returned() -> Ident {
    name("__has_returned")
}

/// `__result`: what it has returned.
fn result() -> Ident {
    name("__result")
}

/// How the lanes of a variable are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A value per lane.
    Strip,
    /// A small array per lane, which code takes whole.
    Vector,
    /// An array per lane, whose elements are accessed in place.
    Rows,
    /// A slice per lane.
    List,
    /// A value per lane, to which code has a reference.
    Borrowed,
}

/// The condition around some code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    /// There is none.
    None,
    /// It is met by all lanes or by none.
    OfAll,
    /// It is met by some of the lanes only.
    OfLane,
}

/// `__divisor3`: what is known of a variable as a divisor.
fn divisor(var: VarId) -> Ident {
    numbered("divisor", var.0)
}

/// What the loops around some code do.
struct Within {
    /// The divisors that they know: those that they do not change.
    fixed: VarSet,
    /// What the innermost writes.
    changing: VarSet,
}

pub(crate) struct Writer<'a, 'p> {
    pub(super) scope: &'a Scope<'p>,
    pub(super) rt: TokenStream,
    pub(super) width: usize,
    /// Variables with a strip.
    strips: VarSet,
    /// Variables with the same value in all lanes.
    pub(super) uniforms: &'a VarSet,
    /// Arrays whose first values nobody reads.
    overwritten: VarSet,
    /// The function's result, if lanes may return.
    returns: Option<VarId>,
    /// Variables that refer to an element of a lane's list.
    borrowed: &'a VarSet,
    /// Lists whose elements stand in rows.
    transposed: VarSet,
    pub(super) emitter: &'a Emitter<'a>,
    func: FuncId,
    pub(super) lookups: LookupWriter<'a>,
    engine: Engine<'a>,
    /// Whether the code that is written stands in a loop.
    inside: Cell<bool>,
    /// The condition around that code.
    pub(super) condition: Cell<Condition>,
    /// The strips that such code of a predicated piece accesses.
    pub(super) checked: RefCell<Vec<Expr>>,
    /// The shared elements that the code of a piece looks at and that are the same for all lanes.
    pub(super) shared_elements: RefCell<SharedElements>,
    /// The elements of lanes' own that it looks at at its start, if it is a piece.
    own_elements: RefCell<Option<OwnElements>>,
    /// Whether the place that is looked at next is written.
    writes: Cell<bool>,
    /// Whether a round of the innermost loop around that code is one of the lane's, if it need not be.
    pub(super) is_in: RefCell<Option<TokenStream>>,
    /// Whether the code that is written makes choices.
    pub(super) chooses: Cell<bool>,
    /// The lanes that have not left the innermost loop around, if it has a `break`.
    pub(super) remaining: RefCell<Option<Ident>>,
    /// How many such loops there are.
    pub(super) breaking: Cell<usize>,
    /// Whether rounds of loops without an end are counted.
    counts_turns: Cell<bool>,
    /// The variables that the loops around only set, kept in halves.
    halved: RefCell<VarSet>,
}

/// The lane-interchanged code of a region, if all of it can have that form.
pub(crate) fn interchange(
    emitter: &Emitter<'_>,
    region: &Region,
    engine: Engine<'_>,
) -> Option<Interchanged> {
    let program = emitter.program;
    let block = program.block(region.head);
    let Terminator::Jump(target) = block.term else { return None };
    if !block.interchanged || region.again {
        return None;
    }
    let scope = Scope::new(program, block.func);
    let mut plan = Plan::of(&scope, &block.ops)?;
    let (transposed, overwritten) = (transposed(&scope, &plan), overwritten(&scope, &plan.nodes));
    if let Some(math) = emitter.vector_math(block.func) {
        plan.nodes = loop_distribution::of_nodes(plan.nodes, &math);
    }
    let is_uniform = |v: &VarId| program.var(*v).is_uniform();
    let is_same = |v: &VarId| is_uniform(v) || plan.uniforms.contains(v);
    let is_of_all = |e: &Expr| effects::of(&scope.names, e).mentions.iter().all(is_same);
    plan.nodes = heavy_branches_apart(std::mem::take(&mut plan.nodes), &is_of_all);
    let code: Vec<Stmt> = block.ops.iter().flat_map(|op| op.code.iter().cloned()).collect();
    let all = mentions(&scope.names, &code);
    if all.iter().any(|v| program.var(*v).shared && !program.var(*v).mutable && !is_uniform(v)) {
        return None;
    }
    let takes: VarSet = region.takes.iter().copied().collect();
    let function = program.func(block.func);
    let returns = plan.returns.then_some(function.result);
    // What is returned does not go on.
    let outs: VarSet = region.outs.iter().copied().filter(|v| Some(*v) != returns).collect();
    let made = all_declared(&scope, &code);
    // The same for every member, but a call has passed something else: kept after all.
    if all.iter().any(|v| scope.derived.contains(v) && !made.contains(v)) {
        return None;
    }
    let changed = &made | &assigned(&scope.names, &code);
    // A variable needs a strip if more than one piece of code sees it, or a column does.
    let mut strips = &plan.uniforms & &outs;
    let mut seen = VarSet::new();
    for piece in plan.pieces(&scope.names) {
        strips.extend(&piece & &seen);
        seen.extend(piece);
    }
    if let Some(result) = returns {
        strips.remove(&result);
        seen.remove(&result);
    }
    strips.extend(seen.iter().filter(|v| takes.contains(v) || outs.contains(v)));
    strips.extend(seen.iter().filter(|v| scope.arrays.get(v).is_some_and(|a| !a.is_small())));
    strips.retain(|v| !is_uniform(v) && (!plan.uniforms.contains(v) || outs.contains(v)));
    // Assigned before it is read, but declared elsewhere: there is nothing to start from.
    if seen
        .iter()
        .any(|v| !is_uniform(v) && !takes.contains(v) && !made.contains(v) && !plan.uniforms.contains(v))
    {
        return None;
    }
    let rt = &emitter.rt;
    let varying = scope.names.iter().filter(|(_, v)| !is_uniform(v) && !plan.uniforms.contains(v));
    let varying = varying.map(|(name, _)| name.clone()).collect();
    let writer = Writer {
        scope: &scope,
        rt: quote!(#rt::lane_interchange),
        width: emitter.width.strip,
        strips,
        uniforms: &plan.uniforms,
        borrowed: &plan.borrowed,
        overwritten,
        returns,
        emitter,
        func: block.func,
        lookups: LookupWriter::interchanged(
            emitter,
            region.head,
            varying,
            transposed.iter().map(|v| (program.name(*v), in_rows(*v))).collect(),
        ),
        transposed,
        engine,
        inside: Cell::new(false),
        condition: Cell::new(Condition::None),
        checked: RefCell::default(),
        shared_elements: RefCell::default(),
        own_elements: RefCell::default(),
        writes: Cell::new(false),
        is_in: RefCell::default(),
        chooses: Cell::new(false),
        remaining: RefCell::default(),
        breaking: Cell::new(0),
        counts_turns: Cell::new(false),
        halved: RefCell::default(),
    };
    let gone = &takes - &writer.strips;
    let lane_code = writer.code(&plan, &takes, &(&outs & &changed));
    Some(Interchanged {
        left: writer.left(),
        transpose: writer.transpose(),
        rows: writer.rows_of_all(),
        strips: writer.declare(),
        check: writer.check(&plan, &gone, &code),
        code: lane_code,
        next: target,
        counts_turns: writer.counts_turns.get(),
        returns: returns.map(|_| (function.exit, unreturned())),
    })
}

/// What a place is a field of, or a field of a field.
fn fields_of(place: &Expr) -> &Expr {
    match place {
        Expr::Field(e) => fields_of(&e.base),
        other => other,
    }
}

/// Variables that a `let` anywhere in the code declares.
fn all_declared(scope: &Scope<'_>, code: &[Stmt]) -> VarSet {
    let mut lets = VarSet::new();
    walk::each(code, |at| {
        if let At::Pat(pat) = at {
            lets.extend(bound(&scope.names, pat));
        }
    });
    lets
}

impl Writer<'_, '_> {
    fn array(&self, var: VarId) -> Option<&Array> {
        self.scope.arrays.get(&var)
    }

    fn kind(&self, var: VarId) -> Layout {
        match self.array(var) {
            None if self.scope.lists.contains(&var) => Layout::List,
            None if self.borrowed.contains(&var) => Layout::Borrowed,
            None => Layout::Strip,
            Some(array) if array.is_small() => Layout::Vector,
            Some(_) => Layout::Rows,
        }
    }

    pub(super) fn ident(&self, var: VarId) -> &Ident {
        &self.scope.program.var(var).ident
    }

    /// The arrays that are stored as rows.
    fn arrays(&self) -> impl Iterator<Item = VarId> {
        self.strips.iter().copied().filter(|v| self.kind(*v) == Layout::Rows)
    }

    /// Declares the rows that one strip after the other takes.
    fn left(&self) -> BTreeMap<VarId, TokenStream> {
        let (rt, width) = (&self.rt, self.width);
        let arrays = self.arrays().map(|v| {
            let (left, shape) = (left(v), self.shape(v));
            (v, quote!(let mut #left = #rt::rows::<#shape, _, #width>();))
        });
        let lists = self.transposed.iter().map(|v| {
            let (left, vector) = (left(*v), &self.emitter.rt);
            (*v, quote!(let mut #left = #vector::vector::ListRows::<_, #width>::new();))
        });
        arrays.chain(lists).collect()
    }

    fn declare(&self) -> TokenStream {
        let (rt, width) = (&self.rt, self.width);
        let strips = self.strips.iter().map(|v| {
            let strip = strip(*v);
            match (self.kind(*v), self.array(*v).map(|a| &a.lengths[0])) {
                (Layout::Vector, len) => quote!(let mut #strip = #rt::vector::<_, #width, { #len }>();),
                (Layout::Rows, _) => {
                    let element = element(*v);
                    quote!(let mut #element = #rt::strip::<_, #width>();)
                }
                (Layout::Strip | Layout::List | Layout::Borrowed, _) => {
                    quote!(let mut #strip = #rt::strip::<_, #width>();)
                }
            }
        });
        let returns = self.returns.map(|v| {
            let (strip, unreturned, word) = (strip(v), unreturned(), &self.emitter.word);
            quote! {
                let mut #strip = #rt::strip::<_, #width>();
                let mut #unreturned = #rt::Remaining::<#word, #width>::new();
            }
        });
        quote!(#(#strips)* #returns)
    }

    /// Whether everything is primitive: the variables, those taken only to be dropped, shared values; and whether methods in the code are
    /// those of numbers.
    fn check(&self, plan: &Plan, gone: &VarSet, code: &[Stmt]) -> TokenStream {
        let rt = &self.rt;
        let strips = self.strips.iter().map(|v| {
            let (strip, element) = (strip(*v), element(*v));
            match self.kind(*v) {
                Layout::Strip | Layout::Borrowed => quote!(#rt::plain(&#strip)),
                Layout::Vector => quote!(#rt::plain_vector(&#strip)),
                Layout::Rows => quote!(#rt::plain(&#element)),
                Layout::List => quote!(#rt::plain_elements(&#strip)),
            }
        });
        let gone = gone.iter().filter(|v| self.kind(**v) != Layout::List).map(|v| {
            let column = column(*v);
            match self.kind(*v) {
                Layout::Strip => quote!(#rt::plain(#column)),
                _ => {
                    let shape = self.shape(*v);
                    quote!(#rt::plain_array::<#shape, _, _>(#column))
                }
            }
        });
        let leaves = plan.leaves.iter().map(|leaf| match leaf {
            Leaf::Value(expr) => quote!(#rt::plain_value(&#expr)),
            Leaf::List(list, indices) => {
                let (rt, steps) = (&self.emitter.rt, (0..*indices).map(|_| quote!(.element())));
                quote!({
                    #[allow(unused_imports)]
                    use #rt::NoList as _;
                    #rt::shown(&#list)#(#steps)*.known()
                })
            }
            Leaf::Element(expr) => {
                let at = name("__at");
                let mut expr = expr.clone();
                walk::map(&mut expr, |node| {
                    if let AtMut::Expr(Expr::Index(e)) = node {
                        *e.index = parse_quote!(#at);
                    }
                });
                self.asks(&expr, &at, quote!(plain))
            }
        });
        let returns = self.returns.iter().map(|v| {
            let strip = strip(*v);
            quote!(#rt::needs_no_drop(&#strip))
        });
        let computes = self.emitter.computes(self.func, code).into_iter().cloned();
        let all = strips.chain(gone).chain(leaves).chain(returns).chain(computes);
        quote!(true #(&& #all)*)
    }

    /// Whether the elements of what an expression indexes are as wanted. What is indexed rustc knows: a list, or what has an `Index` of its
    /// own.
    fn asks(&self, element: &Expr, at: &Ident, wanted: TokenStream) -> TokenStream {
        let rt = &self.emitter.rt;
        let (list, indices) = indexed(element);
        let of = match fields_of(list) {
            Expr::Path(_) => quote!(#rt::shown(&#list)),
            _ => quote!(#rt::yielded(|#at: usize| #rt::shown(&#list))),
        };
        let steps = indices.iter().map(|_| quote!(.element()));
        let around = match fields_of(list) {
            inner @ Expr::Index(_) => {
                let asks = self.asks(inner, at, quote!(known));
                Some(quote!(#asks &&))
            }
            _ => None,
        };
        quote!(#around {
            #[allow(unused_imports)]
            use #rt::NoList as _;
            #of #(#steps)*.#wanted()
        })
    }

    fn code(&self, plan: &Plan, takes: &VarSet, outs: &VarSet) -> TokenStream {
        let (rt, here) = (&self.rt, name("__here"));
        let fill = self.strips.iter().filter(|v| takes.contains(v)).map(|v| {
            let (strip, column) = (strip(*v), column(*v));
            match self.kind(*v) {
                Layout::Rows => {
                    let shape = self.shape(*v);
                    quote!(#rt::spread_rows::<#shape, _, _, _>(#column, #strip, &#here);)
                }
                Layout::Strip | Layout::Borrowed => quote!(#strip = #rt::spread(#column, &#here);),
                Layout::Vector => quote!(#strip = #rt::spread_vector(#column, &#here);),
                Layout::List => quote!(#strip = #rt::spread_lists(#column, &#here);),
            }
        });
        let nodes: Vec<TokenStream> = plan.nodes.iter().map(|node| self.node(node, None)).collect();
        let (lookups, faults) = (self.lookups.lookups(), faults());
        let (lists, word, width, vector) =
            (lookups.lists(), &self.emitter.word, self.width, &self.emitter.rt);
        let note = lookups
            .any()
            .then(|| quote!(let mut #faults = #vector::vector::LaneFaults::<#word, #width>::new();));
        let give_up = self.give_up();
        let merge = outs.iter().map(|v| {
            let (strip, column, ident) = (strip(*v), column(*v), self.ident(*v));
            match self.kind(*v) {
                Layout::Strip => {
                    let set = plan.uniforms.contains(v).then(|| quote!(#rt::set_all(&mut #strip, #ident);));
                    quote!(#set #rt::merge(#column, &#strip, &#here);)
                }
                Layout::Vector => quote!(#rt::merge_vector(#column, &#strip, &#here);),
                Layout::List | Layout::Borrowed => quote!(),
                Layout::Rows => {
                    let shape = self.shape(*v);
                    quote!(#rt::merge_rows::<#shape, _, _, _>(#column, #strip, &#here);)
                }
            }
        });
        let elements = self.arrays().map(|v| {
            let (strip, element, shape) = (strip(v), element(v), self.shape(v));
            quote!(#rt::of_element::<#shape, _, _>(#strip, &#element);)
        });
        let types = plan.types.iter().filter(|(v, _)| self.strips.contains(v)).map(|(v, ty)| {
            let (strip, shape) = (strip(*v), self.shape(*v));
            quote!(#rt::of_type::<#shape, _, _>(#strip, ::core::option::Option::None::<#ty>);)
        });
        let zero = self.declare_zero();
        let begin = quote!(#(#elements)* #(#types)* #(#fill)* #lists #note #zero);
        match self.returns {
            None => quote!(#begin #(#nodes)* #give_up #(#merge)*),
            Some(v) => {
                let (label, strip, column, unreturned) = (all_returned(), strip(v), column(v), unreturned());
                quote! {
                    #begin
                    // Behind a loop that all lanes have left by a return, nobody goes on.
                    #label: { #(#nodes)* #give_up #(#merge)* }
                    #give_up
                    #rt::merge_returned(#column, #strip, &#here, &#unreturned);
                }
            }
        }
    }

    /// Gives the strip up if a lane has come to a fault, as far as the code notes any.
    fn give_up(&self) -> Option<TokenStream> {
        let (vector, faults) = (&self.emitter.rt, faults());
        self.lookups.any().then(|| quote!(#vector::vector::LaneFaults::give_up_if_any(&#faults);))
    }

    /// Counts a round of a loop without an end.
    fn count_turn(&self) -> TokenStream {
        let (vector, turns, left) = (&self.emitter.rt, turns(), turns_left());
        self.counts_turns.set(true);
        quote!(#vector::vector::Turns::next(&mut #turns, &mut #left);)
    }

    /// Fills the rows of lists, given `__here`.
    fn transpose(&self) -> TokenStream {
        let (rt, vector, here) = (&self.rt, &self.emitter.rt, name("__here"));
        let all = self.transposed.iter().map(|v| {
            let (left, column) = (left(*v), column(*v));
            quote!(#vector::vector::ListRows::fill(&mut #left, &#rt::spread_lists(#column, &#here));)
        });
        quote!(#(#all)*)
    }

    /// What code finds in rows, and where they are.
    fn rows_of_all(&self) -> Vec<(Ident, TokenStream)> {
        let (rt, vector) = (&self.rt, &self.emitter.rt);
        let arrays = self.arrays().map(|v| {
            let (left, shape) = (left(v), self.shape(v));
            (strip(v), quote!(#rt::in_rows::<#shape, _, _>(&mut #left)))
        });
        let lists = self.transposed.iter().flat_map(|v| {
            let left = left(*v);
            let rows = quote!(#vector::vector::ListRows::rows(&#left));
            [(list_rows(*v), quote!(#rows.0)), (lengths(*v), quote!(#rows.1))]
        });
        arrays.chain(lists).collect()
    }

    /// Leaves the code if all lanes have returned, behind a round of a loop in whose body one may.
    fn leave(&self, body: &[Node]) -> Option<TokenStream> {
        let returns = |node: &Node| matches!(node, Node::Lanes(stmts) if self.has_returns(stmts));
        self.returns.filter(|_| body.iter().any(returns)).map(|_| {
            let (label, unreturned) = (all_returned(), unreturned());
            let rt = &self.rt;
            quote!(if #rt::Remaining::is_none(&#unreturned) { break #label; })
        })
    }

    fn has_returns(&self, stmts: &[Stmt]) -> bool {
        let program = self.scope.program;
        stmts.iter().any(|stmt| self.end(stmt).is_some())
            || walk::any(stmts, |at| matches!(at, At::Expr(e) if returned(program, e).is_some()))
    }

    /// The function's result, if a statement is where it ends.
    fn end<'s>(&self, stmt: &'s Stmt) -> Option<&'s Ident> {
        let Stmt::Local(local) = stmt else { return None };
        let Pat::Ident(p) = untyped(&local.pat) else { return None };
        self.returns.filter(|v| p.ident == *self.ident(*v)).map(|_| &p.ident)
    }

    /// Puts what a lane returns where it stays, unless the lane has returned before.
    fn return_values(&self, stmts: &mut [Stmt]) {
        let (rt, has_returned, result) = (&self.rt, has_returned(), result());
        let returns = |value: &Stmt, returned: &Ident| -> Expr {
            parse_quote!({ #value #rt::returns(&mut #has_returned, &mut #result, #returned); })
        };
        for stmt in stmts.iter_mut() {
            if let Some(returned) = self.end(stmt) {
                *stmt = Stmt::Expr(returns(stmt, returned), None);
            }
        }
        walk::map(stmts, |at| {
            if let AtMut::Expr(expr) = at
                && returned(self.scope.program, expr).is_some()
                && let Expr::Block(e) = expr
                && let Some(value) = e.block.stmts.first()
                && let Some(returned) = self.end(value)
            {
                *expr = returns(value, returned);
            }
        });
    }
}
