//! The code of a block that runs lane-interchanged (see [`crate::analysis::lane_interchange`]): uniform loops around loops
//! over the lanes. It stands beside the ordinary lane code, which runs where a type is not primitive and
//! after a panic.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{BinOp, Expr, Lifetime, Pat, Stmt, UnOp, parse_quote};

use crate::analysis::lane_interchange::{
    Array, Leaf, Node, Plan, Scope, assigned, declared, indexed, mentions, overwritten, returned, transposed,
};
use crate::codegen::emitter::Emitter;
use crate::codegen::long_loops::{self, Counted};
use crate::codegen::lookups::{ListInRows, LookupWriter, fault, faults};
use crate::codegen::loop_distribution::{self, strip};
use crate::codegen::names::{name, numbered};
use crate::codegen::reciprocal_division::Search;
use crate::codegen::region::{Region, binding, column, lane};
use crate::codegen::shared_elements::SharedElements;
use crate::ir::effects::{self, bound};
use crate::ir::{BlockId, FuncId, Terminator, VarId, VarSet};
use crate::std_models::pure::is_constant;
use crate::syntax::mentions::untyped;
use crate::syntax::walk::{self, At, AtMut, Code, Next};

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
    /// Makes what is known of a divisor.
    new_divisor: &'a TokenStream,
    /// Whether the code that is written stands in a loop.
    inside: Cell<bool>,
    /// Whether that code is run by some of the lanes only.
    pub(super) conditional: Cell<bool>,
    /// The strips that such code of a predicated piece accesses.
    pub(super) checked: RefCell<Vec<Expr>>,
    /// The shared elements that the code of a piece looks at and that are the same for all lanes.
    pub(super) shared_elements: RefCell<SharedElements>,
    /// Whether a round of the innermost loop around that code is one of the lane's, if it need not be.
    pub(super) is_in: RefCell<Option<TokenStream>>,
    /// The lanes that have not left the innermost loop around, if it has a `break`.
    pub(super) remaining: RefCell<Option<Ident>>,
    /// How many such loops there are.
    pub(super) breaking: Cell<usize>,
}

/// The lane-interchanged code of a region, if all of it can have that form. `new_divisor` makes what is known of a divisor.
pub(crate) fn interchange(
    emitter: &Emitter<'_>,
    region: &Region,
    new_divisor: &TokenStream,
) -> Option<Interchanged> {
    let program = emitter.program;
    let block = program.block(region.head);
    let Terminator::Jump(target) = block.term else { return None };
    if !block.interchanged || region.again {
        return None;
    }
    let scope = Scope::new(program, block.func);
    let mut plan = Plan::of(&scope, &block.ops)?;
    if let Some(math) = emitter.vector_math(block.func) {
        plan.nodes = loop_distribution::of_nodes(plan.nodes, &math);
    }
    let code: Vec<Stmt> = block.ops.iter().flat_map(|op| op.code.iter().cloned()).collect();
    let all = mentions(&scope.names, &code);
    let is_uniform = |v: &VarId| program.var(*v).is_uniform();
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
    let transposed = transposed(&scope, &plan);
    let writer = Writer {
        scope: &scope,
        rt: quote!(#rt::lane_interchange),
        width: emitter.width.strip,
        strips,
        uniforms: &plan.uniforms,
        borrowed: &plan.borrowed,
        overwritten: overwritten(&scope, &plan.nodes),
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
        new_divisor,
        inside: Cell::new(false),
        conditional: Cell::new(false),
        checked: RefCell::default(),
        shared_elements: RefCell::default(),
        is_in: RefCell::default(),
        remaining: RefCell::default(),
        breaking: Cell::new(0),
    };
    let gone = &takes - &writer.strips;
    Some(Interchanged {
        left: writer.left(),
        transpose: writer.transpose(),
        rows: writer.rows_of_all(),
        strips: writer.declare(),
        check: writer.check(&plan, &gone),
        code: writer.code(&plan, &takes, &(&outs & &changed)),
        next: target,
        returns: returns.map(|_| (function.exit, unreturned())),
    })
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

/// The lane's part of an array: an element, or an array of them.
fn elements(place: Expr, array: &Array, indices: usize) -> Expr {
    let l = lane();
    if indices == array.lengths.len() {
        return parse_quote!(#place[#l]);
    }
    let n = array.size(indices).unwrap_or_default();
    let all = (0..n).map(|n| elements(parse_quote!(#place[#n]), array, indices + 1));
    parse_quote!([#(#all),*])
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

    /// Whether everything is primitive: the variables, those taken only to be dropped, shared values.
    fn check(&self, plan: &Plan, gone: &VarSet) -> TokenStream {
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
            Leaf::Element(expr) => {
                let at = name("__at");
                let mut expr = expr.clone();
                walk::map(&mut expr, |node| {
                    if let AtMut::Expr(Expr::Index(e)) = node {
                        *e.index = parse_quote!(#at);
                    }
                });
                let rt = &self.emitter.rt;
                let (root, indices) = indexed(&expr);
                let indices = indices.len();
                if !self.is_asked(root) {
                    return quote!(#rt::yields_plain(|#at: usize| #rt::shown(&#expr)));
                }
                // Whether a constant or a field is a list only rustc knows.
                let steps = (0..indices).map(|_| quote!(.element()));
                quote!({
                    #[allow(unused_imports)]
                    use #rt::NoList as _;
                    #rt::shown(&#root)#(#steps)*.plain()
                })
            }
        });
        let returns = self.returns.iter().map(|v| {
            let strip = strip(*v);
            quote!(#rt::needs_no_drop(&#strip))
        });
        let all = strips.chain(gone).chain(leaves).chain(returns);
        quote!(true #(&& #all)*)
    }

    /// Whether only rustc knows what a list is: a constant, or a field of a variable.
    fn is_asked(&self, list: &Expr) -> bool {
        fn is_field(expr: &Expr) -> bool {
            match expr {
                Expr::Field(e) => matches!(*e.base, Expr::Path(_)) || is_field(&e.base),
                _ => false,
            }
        }
        match list {
            Expr::Path(_) => effects::variable(&self.scope.names, list).is_none(),
            list => is_field(list),
        }
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
        let (note, give_up) = match lookups.any() {
            true => (
                quote!(let mut #faults = #vector::vector::LaneFaults::<#word, #width>::new();),
                quote!(#vector::vector::LaneFaults::give_up_if_any(&#faults);),
            ),
            false => Default::default(),
        };
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
        let begin = quote!(#(#elements)* #(#types)* #(#fill)* #lists #note);
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

    /// What the user's code becomes in the end.
    fn finish(&self, stmt: &mut Stmt) {
        let mut lane_code = self.emitter.lane_code(self.func);
        lane_code.divisions(stmt);
        self.in_place(stmt);
        lane_code.math(stmt);
        long_loops::count(stmt, &self.emitter.rt, self.inside.get());
    }

    /// Accesses elements of arrays in their place: `val[j][k]` is lane `l` of strip `j`, `k`. A part of an array is made of them.
    fn in_place(&self, code: &mut (impl Code + ?Sized)) {
        walk::map(code, |at| {
            let AtMut::Expr(expr) = at else { return Next::On };
            match expr {
                Expr::If(e) if !self.is_uniform(&e.cond) => {
                    self.in_place(&mut *e.cond);
                    self.under_condition(&mut e.then_branch.stmts[..]);
                    e.else_branch
                        .iter_mut()
                        .for_each(|(_, otherwise)| self.under_condition(&mut **otherwise));
                    return Next::Past;
                }
                Expr::Binary(e) if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => {
                    self.in_place(&mut *e.left);
                    self.under_condition(&mut *e.right);
                    return Next::Past;
                }
                _ => {}
            }
            if let Expr::MethodCall(e) = expr
                && e.method == "len"
                && let Some((strip, _)) = self.rows(&e.receiver)
            {
                *expr = parse_quote!(<[_]>::len(&#strip[..]));
                return Next::Past;
            }
            let (root, indices) = indexed(expr);
            let Some((strip, array)) = self.rows(root) else {
                if self.hoist(expr) {
                    return Next::Past;
                }
                return self.in_indices(expr);
            };
            let mut indices: Vec<Expr> = indices.into_iter().cloned().collect();
            indices.iter_mut().for_each(|index| self.in_place(index));
            let is_uniform = indices.iter().all(|index| self.is_uniform(index));
            if !is_uniform {
                self.lookups.note();
                let (vector, fault) = (&self.emitter.rt, fault());
                for (index, length) in indices.iter_mut().zip(&array.lengths) {
                    *index = parse_quote!(#vector::vector::within(#index, #length, &#fault));
                }
            }
            let place: Expr = parse_quote!(#strip #([#indices])*);
            if is_uniform && self.conditional.get() && self.is_in().is_some() && !indices.is_empty() {
                self.checked.borrow_mut().push(place.clone());
            }
            *expr = elements(place, array, indices.len());
            Next::Past
        });
    }

    /// The same in the indices of a shared list, which stays where it is.
    fn in_indices(&self, expr: &mut Expr) -> Next {
        match expr {
            Expr::Index(e) if self.is_shared_place(&e.expr) => {
                let mut list = &mut *expr;
                while let Expr::Index(e) = list {
                    self.in_place(&mut *e.index);
                    list = &mut e.expr;
                }
                Next::Past
            }
            _ => Next::On,
        }
    }

    /// The same for code that only some lanes may run: a panic there would be a branch.
    fn under_condition(&self, code: &mut (impl Code + ?Sized)) {
        let around = self.conditional.replace(true);
        self.in_place(code);
        self.conditional.set(around);
    }

    /// The array of a variable that is stored as rows, and its strips.
    pub(super) fn rows(&self, expr: &Expr) -> Option<(Ident, &Array)> {
        let var = effects::variable(&self.scope.names, expr)?;
        (self.kind(var) == Layout::Rows).then(|| self.array(var)).flatten().map(|array| (strip(var), array))
    }

    /// Has a shared place be looked at before the loop over the lanes, if all of them look at it, or if that can't fail.
    fn hoist(&self, expr: &mut Expr) -> bool {
        let is_part = matches!(expr, Expr::Field(_) | Expr::Index(_))
            || matches!(expr, Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)));
        if !is_part || !self.is_shared_place(expr) {
            return false;
        }
        let mentions = effects::of(&self.scope.names, &*expr).mentions;
        let mut elements = self.shared_elements.borrow_mut();
        let hoists = mentions.iter().all(|v| self.is_same(*v)) && elements.may_come_before(&mentions);
        if hoists {
            elements.put(expr);
        }
        hoists
    }

    /// Whether a variable is the same for all lanes.
    fn is_same(&self, var: VarId) -> bool {
        self.uniforms.contains(&var) || self.scope.program.var(var).is_uniform()
    }

    /// Whether an expression is a variable that is the same for all lanes, a constant, or a part of one that may be looked at here.
    fn is_shared_place(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(e) => self.is_shared_place(&e.base),
            Expr::Index(e) => {
                let always = !self.conditional.get() || self.is_in().is_some();
                always && self.is_shared_place(&e.expr)
            }
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)) && self.is_shared_place(&e.expr),
            Expr::Path(path) => match effects::variable(&self.scope.names, expr) {
                Some(var) => self.is_same(var),
                None => is_constant(path),
            },
            _ => false,
        }
    }

    /// The shape of an array, as the runtime spells it.
    fn shape(&self, var: VarId) -> TokenStream {
        let rt = &self.rt;
        let lengths = self.array(var).map(|array| &array.lengths[..]).unwrap_or_default();
        lengths.iter().rev().fold(quote!(#rt::One), |inner, length| quote!(#rt::Of<{ #length }, #inner>))
    }

    /// A node, in the innermost of some loops.
    fn node(&self, node: &Node, within: Option<&Within>) -> TokenStream {
        self.inside.set(within.is_some());
        match node {
            Node::Uniform(stmt) => {
                let mut stmt = stmt.clone();
                self.finish(&mut stmt);
                quote!(#stmt)
            }
            Node::Loop(head, body) => {
                let mut iter = head.expr.clone();
                self.in_place(&mut iter);
                let search = self.divisions();
                let changing = search.written(head, body);
                let is_inside = within.is_some();
                let outer = within.map(|w| w.fixed.clone()).unwrap_or_default();
                let own = &search.divisors(head, body, &self.may_divide(&changing)) - &outer;
                let divisors = own.iter().map(|v| {
                    let (divisor, new) = (divisor(*v), self.new_divisor);
                    quote!(let mut #divisor = #new;)
                });
                let within = Within { fixed: &outer | &own, changing };
                let leave = self.leave(body);
                let entered = self.enter(head, body);
                let body: Vec<TokenStream> = body.iter().map(|node| self.node(node, Some(&within))).collect();
                let (count, pat, all_left) = (entered.count, entered.pat, entered.leave);
                self.leave_loop(entered.around);
                let rt = &self.emitter.rt;
                let counting = long_loops::counted_around_lanes(rt, &iter, entered.of_all, is_inside);
                let (before, iter, turn) = match counting {
                    Some(Counted { before, iter, turn }) => (before, quote!(#iter), turn),
                    None => (quote!(), quote!(#iter), quote!()),
                };
                quote!(#count #(#divisors)* #before for #pat in #iter { #all_left #turn #(#body)* #leave })
            }
            Node::Lanes(stmts) => within
                .and_then(|within| self.quotient(stmts, within))
                .unwrap_or_else(|| self.lanes(stmts, quote!())),
            Node::Copy(to, from) => {
                let (rt, shape, to, from, l) = (&self.rt, self.shape(*to), strip(*to), strip(*from), lane());
                match self.is_in() {
                    None => quote!(#rt::copy_rows::<#shape, _, _>(#to, #from);),
                    Some(is_in) => {
                        quote!(#rt::copy_rows_where::<#shape, _, _>(#to, #from, |#l| #is_in);)
                    }
                }
            }
            Node::Swap(one, other) => {
                let (rt, shape, one, other, l) =
                    (&self.rt, self.shape(*one), strip(*one), strip(*other), lane());
                match self.is_in() {
                    None => quote!(::core::mem::swap(#one, #other);),
                    Some(is_in) => {
                        quote!(#rt::swap_rows_where::<#shape, _, _>(#one, #other, |#l| #is_in);)
                    }
                }
            }
            Node::Fill(var, value) => {
                let (rt, l, shape) = (&self.rt, lane(), self.shape(*var));
                let (strip, element) = (strip(*var), element(*var));
                let value_ident = name("__value");
                let stmt: Stmt = parse_quote!(let #value_ident = #value;);
                let lanes = self
                    .lanes(std::slice::from_ref(&stmt), quote!(#rt::set(&mut #element, #l, #value_ident);));
                let is_read = !self.overwritten.contains(var);
                let fill = is_read.then(|| match self.is_in() {
                    None => quote!(#rt::fill_rows::<#shape, _, _>(#strip, &#element);),
                    Some(is_in) => {
                        quote!(#rt::fill_rows_where::<#shape, _, _>(#strip, &#element, |#l| #is_in);)
                    }
                });
                quote!(#lanes #fill)
            }
        }
    }

    /// Whether lane code finds the variable in a strip.
    fn in_strip(&self, var: VarId) -> bool {
        self.strips.contains(&var) && !self.uniforms.contains(&var) && self.kind(var) == Layout::Strip
    }

    fn divisions(&self) -> Search<'_> {
        Search { names: &self.scope.names, rows: self.arrays().collect() }
    }

    /// Variables that a loop which writes `changing` may know as divisors.
    fn may_divide(&self, changing: &VarSet) -> VarSet {
        let shared = |v: VarId| self.uniforms.contains(&v) || self.scope.program.var(v).is_uniform();
        let all = self.scope.names.values().copied().filter(|v| !changing.contains(v));
        // A part of the lanes must be left for the division unit.
        all.filter(|v| self.width >= 4 * QUICK && (self.in_strip(*v) || shared(*v))).collect()
    }

    /// A piece that divides by what the loops do not change.
    fn quotient(&self, stmts: &[Stmt], within: &Within) -> Option<TokenStream> {
        let (rt, l, width) = (&self.rt, lane(), self.width);
        let (x, q) = (name("__dividends"), name("__quotients"));
        let (dividend, quotient) = (name("__dividend"), name("__quotient"));
        if self.is_in().is_some() {
            return None;
        }
        let found = self.divisions().quotient(stmts, &within.fixed, &within.changing, &quotient)?;
        let (divisor, strip) = (divisor(found.divisor), strip(found.divisor));
        let (is_quick, y) = if self.in_strip(found.divisor) {
            (quote!(is_quick(&mut #divisor, &#strip)), quote!(#rt::get(&#strip, #l)))
        } else {
            let all = self.ident(found.divisor);
            (quote!(is_quick_for_all(&mut #divisor, &#all)), quote!(#all))
        };
        let value = &found.dividend;
        let as_far_as = found.before.iter().cloned().chain([parse_quote!(let #dividend = #value;)]);
        let as_far_as: Vec<Stmt> = as_far_as.collect();
        let (quick, rest) = (quote!(0..#rt::QUICK), quote!(#rt::QUICK..#width));
        let (gets, code, _) = self.piece(&as_far_as);
        let dividends = quote!(for #l in #quick { #gets #code #rt::set(&mut #x, #l, #dividend); });
        let (gets, code, sets) = self.piece(&found.with);
        let quotients = quote!(for #l in #quick { let #quotient = #rt::get(&#q, #l); #gets #code #sets });
        let (gets, code, sets) = self.piece(stmts);
        let rest = quote!(for #l in #rest { #gets #code #sets });
        let all = self.lanes(stmts, quote!());
        Some(quote! {
            if #rt::Divisor::#is_quick {
                let mut #x = #rt::strip::<_, #width>();
                let mut #q = #rt::strip::<_, #width>();
                #dividends
                if !#rt::Divisor::divide(&mut #divisor, &#x, &mut #q) {
                    for #l in #quick { #rt::set(&mut #q, #l, #rt::get(&#x, #l) / #y); }
                }
                #rest
                #quotients
            } else {
                #all
            }
        })
    }

    /// A loop over the lanes.
    fn lanes(&self, stmts: &[Stmt], last: TokenStream) -> TokenStream {
        let (width, l) = (self.width, lane());
        self.shared_elements.replace(SharedElements::of_piece(all_declared(self.scope, stmts)));
        let (gets, code, sets) = self.piece(stmts);
        let shared = self.shared_elements.take().before(&self.rt);
        let checks = self.checks(&declared(&self.scope.names, stmts));
        quote!(#shared #checks for #l in 0..#width { #gets #code #sets #last })
    }

    /// What a loop over lanes does: takes values out of their strips, runs the user's code, puts values back.
    fn piece(&self, stmts: &[Stmt]) -> (TokenStream, TokenStream, TokenStream) {
        let (rt, l) = (&self.rt, lane());
        let names = &self.scope.names;
        let declared = declared(names, stmts);
        let written = &declared | &assigned(names, stmts);
        let in_hand = |v: &&VarId| self.kind(**v) != Layout::Rows;
        let mine = &(&mentions(names, stmts) & &self.strips) - self.uniforms;
        let get = mine.iter().filter(in_hand).filter(|v| !declared.contains(v)).map(|v| {
            let (strip, ident) = (strip(*v), self.ident(*v));
            let ident = binding(ident);
            match self.kind(*v) {
                Layout::Vector => quote!(let #ident = #rt::get_vector(&#strip, #l);),
                Layout::Borrowed => quote!(let #ident = &#rt::get(&#strip, #l);),
                _ => quote!(let #ident = #rt::get(&#strip, #l);),
            }
        });
        let set = mine.iter().filter(in_hand).filter(|v| written.contains(v)).map(|v| {
            let (strip, ident) = (strip(*v), self.ident(*v));
            match self.kind(*v) {
                Layout::Vector => quote!(#rt::set_vector(&mut #strip, #l, #ident);),
                Layout::Borrowed => quote!(#rt::set(&mut #strip, #l, #rt::copied(#ident));),
                _ => quote!(#rt::set(&mut #strip, #l, #ident);),
            }
        });
        let mut stmts = stmts.to_vec();
        let returns = self.returns.filter(|_| self.has_returns(&stmts));
        let (before, after) = match returns {
            Some(v) => {
                let (strip, unreturned) = (strip(v), unreturned());
                let (has_returned, result) = (has_returned(), result());
                (
                    quote!(let mut #has_returned = #rt::Remaining::has_left(&#unreturned, #l); let mut #result = #rt::held(&#strip, #l);),
                    quote!(#rt::Remaining::note(&mut #unreturned, #l, #has_returned); #strip[#l] = #result;),
                )
            }
            None => Default::default(),
        };
        self.return_values(&mut stmts);
        let (breaks, leaves) = self.breaks(&stmts);
        let is_in = self.predicated_piece(&mut stmts);
        stmts.iter_mut().for_each(|stmt| self.finish(stmt));
        let (is_in, counts) = is_in.unzip();
        let (open, close) = match self.lookups.piece(&mut stmts) {
            true => {
                let (vector, fault, faults) = (&self.emitter.rt, fault(), faults());
                let noted = match counts {
                    Some(counts) => quote!(#vector::vector::Fault::of_round(#fault, #counts)),
                    None => quote!(#fault),
                };
                (
                    quote!(let #fault = #vector::vector::Fault::new();),
                    quote!(#vector::vector::LaneFaults::note(&mut #faults, #l, #noted);),
                )
            }
            false => Default::default(),
        };
        let code = stmts.iter().map(|stmt| match stmt {
            Stmt::Expr(e, None) => quote!(#e;),
            other => quote!(#other),
        });
        (
            quote!(#(#get)* #before #breaks #is_in #open),
            quote!(#(#code)*),
            quote!(#(#set)* #after #leaves #close),
        )
    }
}
