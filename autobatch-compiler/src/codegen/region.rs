//! The lane code of one region: what one active lane does between two visits of the scheduler.
//!
//! A region is a single-entry acyclic piece of control flow. It is written as structured Rust by
//! walking the dominator tree (Ramsey, "Beyond Relooper", ICFP 2022): a block with one way in stands
//! where it is jumped to, a block where paths meet stands behind a labelled block that the jumps
//! break out of. Every way out of the region breaks out of `'lane` with the next program point and
//! the new values of the columns the region writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, Lifetime, Stmt};

use crate::codegen::emitter::Emitter;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::lane_code::{LaneCode, Site};
use crate::codegen::long_loops;
use crate::codegen::lookups::{LookupWriter, Lookups};
use crate::codegen::names::source;
use crate::codegen::scopes::Meetings;
use crate::codegen::unrolling;
use crate::ir::{BlockId, Class, Role, Terminator, VarId, VarSet, Variable, effects, goto_target};
use crate::syntax::mentions;
use crate::syntax::walk::{self, At, AtMut, Code, Next};

/// The lane code of a region and what surrounds it.
#[derive(Clone)]
pub(crate) struct Region {
    /// The head.
    pub(crate) head: BlockId,
    /// Columns whose value the lane takes at the start.
    pub(crate) takes: Vec<VarId>,
    /// Those of them that are states of which the lane is lent a copy: it has a reference to that, and the column's stays there.
    pub(crate) lent: VarSet,
    /// Columns the region may change.
    pub(crate) outs: Vec<VarId>,
    /// Those of them that have a value or their old bits on every way out, so that a loop may store its choices plainly.
    pub(crate) plainly_stored: VarSet,
    /// Uniforms the code mentions.
    pub(crate) uniforms: Vec<VarId>,
    /// Whether the region can be its own successor.
    pub(crate) again: bool,
    /// The only point besides the region's own that control can go to.
    pub(crate) way_out: Option<u32>,
    /// Variables live at some point besides the region's own that control can go to.
    pub(crate) live_out: VarSet,
    /// Points control can go to.
    pub(crate) successors: BTreeSet<u32>,
    /// Statements that end by breaking out of `'lane`.
    pub(crate) code: TokenStream,
    /// What they look up.
    pub(crate) lookups: Lookups,
    /// What it takes only in elements, which are read where they lie.
    pub(crate) in_place: VarSet,
}

impl Region {
    /// The variables whose columns it works on.
    pub(crate) fn touched(&self) -> VarSet {
        self.takes.iter().chain(&self.outs).copied().collect()
    }

    /// Those of them that it takes as a whole, or changes.
    pub(crate) fn copied(&self) -> VarSet {
        &self.touched() - &self.in_place
    }
}

/// Who chooses between new values and old ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// The branches of the lane code, which is best in loops.
    Branches,
    /// The same in loops whose columns hold bits everywhere: what is [`Region::plainly_stored`] LLVM stores under no mask then.
    BranchesOfKnownBits,
    /// A choice by value behind them: where branches only move a value, LLVM would choose between addresses,
    /// and load what is there, which does not vectorise.
    Value,
    /// Nobody: all lanes are here.
    Nobody,
}

/// `__here`: whether the lane is here.
pub(crate) fn here() -> Ident {
    Ident::new("__here", Span::mixed_site())
}

/// A round of one lane: the lane code of a region and what surrounds it, statements that declare
/// [`next`]. `before` stands in front of the lane code where it runs; lanes that are not [`here`] go to `stay`.
/// Variables that `fades` names may hold junk in them.
pub(crate) fn round(
    emitter: &Emitter<'_>,
    region: &Region,
    chooser: Chooser,
    fades: impl Fn(&VarId) -> bool,
    before: &TokenStream,
    stay: &TokenStream,
) -> TokenStream {
    let (rt, word) = (&emitter.rt, &emitter.word);
    let (l, here, next, label, code) = (lane(), here(), next(), lane_label(), &region.code);
    let touched = region.copied();
    let (open, close) = region.lookups.of_lane(emitter);
    // Slots are read before the branch on whether the lane is here, or LLVM selects between addresses.
    let slots = touched.iter().filter(|v| !region.lent.contains(v)).map(|v| {
        let (column, old) = (column(*v), old(*v));
        quote!(let #old = #rt::Slots::bits(&*#column, #l);)
    });
    // What is lent goes back at the end of the round, unconditionally, too.
    let lend = region.lent.iter().map(|v| {
        let (column, state) = (column(*v), state(*v));
        quote!(let mut #state = #rt::StateLanes::lend(&mut *#column, #l);)
    });
    // In variables of their own, because from a tuple LLVM makes selects of addresses.
    let merged = region.outs.iter().map(|v| new(*v));
    let takes = region.takes.iter().filter(|v| touched.contains(v)).map(|v| {
        let (column, old, ident) = (column(*v), old(*v), &emitter.program.var(*v).ident);
        if region.lent.contains(v) {
            let state = state(*v);
            return quote!(let #ident = #rt::Lent::state(&mut #state););
        }
        let ident = binding(ident);
        quote!(let #ident = #rt::Slots::take(&*#column, #l, &#old);)
    });
    let run = quote!(#label: { #(#takes)* #before #code });
    let absent = region.outs.iter().map(|v| {
        let (new, old) = (new(*v), old(*v));
        let by_branches = matches!(chooser, Chooser::Branches | Chooser::BranchesOfKnownBits);
        match by_branches && !fades(v) {
            true => quote!(#new = #old;),
            false => quote!(#new = #rt::dead();),
        }
    });
    let run = match chooser {
        Chooser::Nobody => run,
        _ => quote!(if #here { #run } else { #rt::absent(); #(#absent)* #next = #stay; }),
    };
    let settle = region.outs.iter().map(|v| {
        let (column, new, old) = (column(*v), new(*v), old(*v));
        match chooser {
            Chooser::Value => quote!(#rt::Slots::choose(&mut *#column, #l, #here, #new, #old);),
            Chooser::BranchesOfKnownBits if region.plainly_stored.contains(v) => {
                let stores = stores();
                quote!(#rt::PlainStores::store(#stores, &mut *#column, #l, #new);)
            }
            _ => quote!(#rt::Slots::settle(&mut *#column, #l, #new);),
        }
    });
    quote! {
        #(#slots)*
        #(#lend)*
        #(let #merged;)*
        let #next: #word;
        #open
        #run
        #(#settle)*
        #close
    }
}

/// `__stores`: what stores under no mask need.
pub(crate) fn stores() -> Ident {
    Ident::new("__stores", Span::mixed_site())
}

/// Makes them, with the program's structures of floats.
pub(crate) fn make_stores(emitter: &Emitter<'_>) -> TokenStream {
    let (rt, program, stores) = (&emitter.rt, emitter.program, stores());
    let all: BTreeMap<_, _> =
        program.func_ids().flat_map(|func| &program.func(func).float_structures).collect();
    let with = all.values().map(|structure| quote!(.with(#structure)));
    quote!(let #stores = #rt::PlainStores::new()#(#with)*;)
}

/// `__column3`: a column, and inside a region the strip of it that is being run.
pub(crate) fn column(var: VarId) -> Ident {
    format_ident!("__column{}", var.0, span = Span::mixed_site())
}

/// `__l`: the lane within the strip.
pub(crate) fn lane() -> Ident {
    Ident::new("__l", Span::mixed_site())
}

/// `__state3`: what a lane is lent of a state.
fn state(var: VarId) -> Ident {
    format_ident!("__state{}", var.0, span = Span::mixed_site())
}

/// `__old3`: the bits the slot held before.
pub(crate) fn old(var: VarId) -> Ident {
    format_ident!("__old{}", var.0, span = Span::mixed_site())
}

/// `__new3`: the bits that the slot gets.
pub(crate) fn new(var: VarId) -> Ident {
    format_ident!("__new{}", var.0, span = Span::mixed_site())
}

/// `__next`: the point that the lane goes to.
pub(crate) fn next() -> Ident {
    Ident::new("__next", Span::mixed_site())
}

/// The label that leaves the lane.
pub(crate) fn lane_label() -> Lifetime {
    Lifetime::new("'__lane", Span::mixed_site())
}

/// Builds the code of the region headed by `head`.
pub(crate) fn region(emitter: &Emitter<'_>, head: BlockId, engine: Engine<'_>) -> Region {
    region_from(emitter, head, engine, 0)
}

/// The same without the head's first ops.
pub(crate) fn region_from(emitter: &Emitter<'_>, head: BlockId, engine: Engine<'_>, skip: usize) -> Region {
    let shape = Shape::new(emitter, head);
    let blocks = emitter.program.blocks.iter().filter(|b| b.region == head);
    // Arrays that stay as they are.
    let fixed = shape.takes.iter().map(|v| (*v, emitter.program.var(*v)));
    let fixed = fixed.filter(|(v, variable)| {
        !variable.mutable && !shape.outs.contains(v) && matches!(variable.ty, Some(syn::Type::Array(_)))
    });
    let (l, fixed): (Ident, Vec<(VarId, &Variable)>) = (lane(), fixed.collect());
    let in_place = fixed.iter().map(|(v, variable)| {
        let column = column(*v);
        (variable.ident.to_string(), quote!(&*#column, #l))
    });
    // Lookups gain where there are gathers, divisions where products are fused.
    let (gathers, fuses) = (engine == Engine::Vector("avx512"), engine.fuses());
    let lookups =
        fuses.then(|| LookupWriter::new(emitter, head, gathers, blocks, in_place.collect())).flatten();
    let selects = engine == Engine::Vector("") && !shape.repeats && shape.work > SMALL;
    // What is live at the head has a value in all lanes that the loop begins with.
    let stored = || &(&shape.outs & &shape.live_out) & &shape.takes;
    let plainly_stored = match engine {
        _ if !shape.repeats || shape.work <= SMALL => VarSet::new(),
        Engine::Vector("avx2") => stored(),
        // What LLVM makes scalar code of is slower for it: only where the lane code chooses too.
        Engine::Machine => &stored() & &shape.may_keep_values(emitter),
        Engine::Vector(_) => VarSet::new(),
    };
    let successors = BTreeSet::new();
    let mut writer =
        Writer { emitter, shape: &shape, engine, selects, plainly_stored, skip, lookups, successors };
    let body = writer.node(head);
    let plainly_stored = writer.plainly_stored;
    let (successors, lookups) = (writer.successors, writer.lookups.map(|lookups| lookups.lookups()));
    let declare = shape.deferred.iter().map(|v| {
        let variable = emitter.program.var(*v);
        let (ident, ty) = (&variable.ident, variable.ty.as_ref().map(|ty| quote!(: #ty)));
        let ident = binding(ident);
        let alike = (engine == Engine::Machine && emitter.alike.contains(v)).then(|| emitter.is_alike(*v));
        quote!(let #ident #ty; #alike)
    });
    let code = quote!(#(#declare)* #body);
    let mentioned = mentions::idents(code.clone());
    let read =
        lookups.iter().flat_map(|_| &fixed).filter(|(_, variable)| !mentioned.contains(&variable.ident));
    let read_in_place = read.map(|(v, _)| *v).collect();
    let own = emitter.point(head);
    let mut others = successors.iter().filter(|point| **point != own);
    let way_out = match (others.next(), others.next()) {
        (Some(exit), None) => Some(*exit),
        _ => None,
    };
    Region {
        head,
        way_out,
        live_out: shape.live_out.clone(),
        takes: shape.takes.iter().copied().collect(),
        lent: shape.lent.clone(),
        outs: shape.outs.iter().copied().collect(),
        plainly_stored,
        uniforms: shape.uniforms.iter().copied().collect(),
        again: successors.contains(&own),
        successors,
        code,
        lookups: lookups.unwrap_or_default(),
        in_place: read_in_place,
    }
}

/// Regions of so little work (see [`crate::ir::Op::weight`]) are unrolled by LLVM, which keeps it all in registers. Where a region does more
/// and runs once, LLVM stores values only where somebody reads them. Without instructions for that, which come with AVX, it finds
/// no vectors then. With those of AVX2, which are slow, it stores what a loop that does more chooses.
pub(crate) const SMALL: u32 = 8;

/// The work from which on a region that runs once is lent copies of states: what they cost is about a random number.
const WORTH_COPIES: u32 = 16;

/// The region's blocks, dominator tree and variables.
struct Shape {
    head: BlockId,
    meetings: Meetings,
    takes: VarSet,
    outs: VarSet,
    kept: VarSet,
    lent: VarSet,
    uniforms: VarSet,
    /// Variables live at some exit other than the head itself.
    live_out: VarSet,
    /// Values handed to blocks where paths meet: those whose binding is not in scope there.
    handed: BTreeMap<BlockId, Vec<VarId>>,
    /// Variables assigned in the region whose `let` stands elsewhere.
    deferred: VarSet,
    /// Whether it may run again.
    repeats: bool,
    /// The weight of its ops.
    work: u32,
}

impl Shape {
    fn new(emitter: &Emitter<'_>, head: BlockId) -> Shape {
        let program = emitter.program;
        let inside = |b: BlockId| program.block(b).region == head && b != head && !program.is_exit(b);
        let meetings = Meetings::new(emitter, head, inside);

        let mut mentioned = VarSet::new();
        // What code refers to, and what a tail call hands on as another parameter.
        let (mut used, mut carried) = (VarSet::new(), VarSet::new());
        let mut bound = VarSet::new();
        let mut exits: Vec<VarSet> = Vec::new();
        let mut live_out = VarSet::new();
        // Parameters that tail calls set.
        let mut moved = VarSet::new();
        let mut repeats = false;
        let mut leaves_to = |target: BlockId, exits: &mut Vec<VarSet>, live_out: &mut VarSet| {
            let live = emitter.live_at(target);
            if target != head {
                live_out.extend(&live);
            }
            repeats |= target == head;
            exits.push(live);
        };
        for b in &meetings.order {
            let block = program.block(*b);
            for op in &block.ops {
                mentioned.extend(&op.uses);
                used.extend(&op.uses);
                mentioned.extend(&op.defs);
                bound.extend(op.declares.intersection(&op.defs));
                for exit in &op.exits {
                    bound.extend(&program.block(*exit).arrives);
                    if !inside(*exit) {
                        leaves_to(*exit, &mut exits, &mut live_out);
                    }
                }
            }
            mentioned.extend(block.term.uses());
            match &block.term {
                Terminator::Branch { uses, .. } | Terminator::Switch { uses, .. } => used.extend(uses),
                _ => {}
            }
            match &block.term {
                Terminator::Call(call) => {
                    let live = emitter.live_at_call(call);
                    live_out.extend(&live);
                    exits.push(live);
                }
                Terminator::TailCall { callee, args, .. } => {
                    let function = program.func(*callee);
                    let mut live = emitter.live_at(function.entry);
                    if function.entry != head {
                        live_out.extend(&live);
                    }
                    let params = function.params.iter().copied().zip(args);
                    let (same, set): (Vec<_>, Vec<_>) = params.partition(|(param, arg)| param == *arg);
                    live.retain(|v| same.iter().any(|(param, _)| param == v));
                    exits.push(live);
                    carried.extend(set.iter().map(|(_, arg)| **arg));
                    moved.extend(set.into_iter().map(|(param, _)| param).filter(|v| emitter.has_column(*v)));
                }
                term => {
                    for (nth, target) in term.successors().into_iter().enumerate() {
                        bound.extend(term.binds(nth));
                        if !inside(target) {
                            leaves_to(target, &mut exits, &mut live_out);
                        }
                    }
                }
            }
        }
        let is_uniform = |v: &VarId| program.var(*v).is_uniform();
        let mut takes = emitter.live_at(head);
        // Dead on some way out: the lane takes the value so that it is dropped there.
        let needed = |v: &VarId| mentioned.contains(v) || exits.iter().any(|live| !live.contains(v));
        takes.retain(|v| emitter.has_column(*v) && needed(v));
        let local: VarSet = takes.iter().chain(&mentioned).chain(&bound).copied().collect();
        let leaving = exits.iter().flatten().filter(|v| local.contains(v) && emitter.has_column(**v));
        // Never assigned here: needs no new value, only to be put back.
        let fixed = |v: &VarId| takes.contains(v) && !program.var(*v).mutable;
        let (kept, outs): (VarSet, VarSet) =
            leaving.chain(&moved).partition(|v| fixed(v) && !bound.contains(v) && !moved.contains(v));
        let head_block = program.block(head);
        let work: u32 = meetings.order.iter().flat_map(|b| &program.block(*b).ops).map(|op| op.weight).sum();
        let lends =
            !head_block.interchanged && head_block.primitive.is_none() && (repeats || work >= WORTH_COPIES);
        let mut lent = &takes & emitter.states;
        lent.retain(|v| lends && used.contains(v) && !outs.contains(v) && !carried.contains(v));
        let kept = &kept - &lent;
        let uniforms = mentioned.iter().copied().filter(is_uniform).collect();
        let assigned_out_of_scope = |v: VarId| {
            meetings.order.iter().any(|b| {
                let mut scope = meetings.is_in_scope(emitter, *b, v);
                program.block(*b).ops.iter().any(|op| {
                    let out =
                        !scope && (op.uses.contains(&v) || op.defs.contains(&v)) && !op.declares.contains(&v);
                    scope |= op.declares.contains(&v);
                    out
                })
            })
        };
        let mut deferred = mentioned;
        deferred.retain(|v| {
            // A parameter that a call's result replaces has no `let` anywhere.
            let known = emitter.declared.contains(v) || matches!(program.var(*v).role, Role::Param(_));
            let elsewhere = || !bound.contains(v) || (program.var(*v).mutable && assigned_out_of_scope(*v));
            known && !takes.contains(v) && !is_uniform(v) && elsewhere()
        });
        let handed = meetings.all().iter().map(|meeting| {
            let local = |v: &VarId| bound.contains(v) && !takes.contains(v);
            let stays = |v: &VarId| meetings.stays(emitter, *meeting, *v);
            (*meeting, emitter.live_at(*meeting).into_iter().filter(|v| local(v) && !stays(v)).collect())
        });
        let handed = handed.collect();
        Shape { head, meetings, takes, outs, kept, lent, uniforms, live_out, handed, deferred, repeats, work }
    }

    /// Variables in code that a lane need not run in a round behind which it runs the region again, and those that functions may change.
    fn may_keep_values(&self, emitter: &Emitter<'_>) -> VarSet {
        let program = emitter.program;
        let again = |b: &&BlockId| match &program.block(**b).term {
            Terminator::TailCall { callee, .. } => program.func(*callee).entry == self.head,
            _ => program.block(**b).successors().contains(&self.head),
        };
        let again: Vec<BlockId> = self.meetings.order.iter().filter(again).copied().collect();
        let names = effects::names(program, program.block(self.head).func);
        let mut found = VarSet::new();
        for block in &self.meetings.order {
            let may_be_passed_by = self.meetings.may_be_passed_by(*block, &again);
            let block = program.block(*block);
            for op in &block.ops {
                if may_be_passed_by {
                    found.extend(&op.uses);
                    found.extend(&op.defs);
                }
                walk::each(&op.code[..], |at| match at {
                    At::Expr(e @ (Expr::If(_) | Expr::Match(_))) => {
                        found.extend(effects::of(&names, e).mentions);
                        Next::Past
                    }
                    At::Expr(Expr::Reference(e)) if e.mutability.is_some() => {
                        found.extend(effects::of(&names, &e.expr).mentions);
                        Next::On
                    }
                    At::Expr(Expr::MethodCall(e)) => {
                        found.extend(effects::variable(&names, &e.receiver));
                        Next::On
                    }
                    _ => Next::On,
                });
            }
        }
        found
    }
}

pub(crate) struct Writer<'a, 'e> {
    emitter: &'a Emitter<'e>,
    shape: &'a Shape,
    engine: Engine<'a>,
    /// Whether a value that nobody reads is zero.
    selects: bool,
    /// Variables of which it is the old one, where it is not zero.
    plainly_stored: VarSet,
    /// Ops of the head that are left out.
    skip: usize,
    /// Unless lanes panic.
    lookups: Option<LookupWriter<'a>>,
    successors: BTreeSet<u32>,
}

impl<'a> Writer<'a, '_> {
    /// The block and everything it dominates.
    fn node(&mut self, block: BlockId) -> TokenStream {
        let shape = self.shape;
        let skip = if block == shape.head { self.skip } else { 0 };
        let all = self.emitter.program.block(block).ops.len();
        let in_front = shape.meetings.in_front(block).max(skip);
        let front = self.ops(block, skip..in_front);
        let (ops, end) = (self.ops(block, in_front..all), self.end(block));
        let mut code = quote!(#ops #end);
        for meeting in shape.meetings.of(block) {
            let label = meeting_label(*meeting);
            let params = &shape.handed[meeting];
            let idents = params.iter().map(|v| &self.emitter.program.var(*v).ident);
            let after = self.node(*meeting);
            code = quote!(let (#(mut #idents,)*) = #label: { #code }; #after);
        }
        quote!(#front #code)
    }

    /// Replaces jump markers in verbatim code.
    fn jumps(&mut self, stmt: &mut Stmt) {
        walk::map(stmt, |at| {
            let mut go = |mac| {
                let code = self.go(goto_target(mac)?);
                Some(Expr::Verbatim(quote!({ #code })))
            };
            match at {
                AtMut::Expr(expr) => {
                    if let Expr::Macro(mac) = expr
                        && let Some(jump) = go(&mac.mac)
                    {
                        *expr = jump;
                        return Next::Past;
                    }
                }
                AtMut::Stmt(stmt) => {
                    if let Stmt::Macro(mac) = stmt
                        && let Some(jump) = go(&mac.mac)
                    {
                        *stmt = Stmt::Expr(jump, Some(Default::default()));
                        return Next::Past;
                    }
                }
                _ => {}
            }
            Next::On
        });
    }

    fn site(&self) -> Site<'a> {
        Site { engine: self.engine, interchanged: false, may_fault: self.lookups.is_some() }
    }

    /// What code becomes in a loop over lanes.
    fn lane_code(&self, lane_code: &mut LaneCode<'_, '_>, code: &mut impl Code) {
        let faults = lane_code.code(code);
        if let Some(lookups) = &self.lookups {
            lookups.code(code);
            if faults {
                lookups.note();
            }
        }
    }

    /// Some of the block's ops.
    fn ops(&mut self, block: BlockId, range: Range<usize>) -> TokenStream {
        let block = self.emitter.program.block(block);
        let mut lane_code = self.emitter.lane_code(block.func, self.site());
        let counts = &self.emitter.program.func(block.func).trip_counts;
        let mut code = TokenStream::new();
        for op in &block.ops[range] {
            for stmt in &op.code {
                let mut stmt = stmt.clone();
                self.lane_code(&mut lane_code, &mut stmt);
                unrolling::unroll(&mut stmt, counts);
                long_loops::count(&mut stmt, &self.emitter.rt, false, counts);
                self.jumps(&mut stmt);
                code.extend(statement(&stmt));
            }
            let bound = op.declares.intersection(&op.defs);
            let alike = bound.filter(|v| self.engine == Engine::Machine && self.emitter.alike.contains(v));
            code.extend(alike.map(|v| self.emitter.is_alike(*v)));
        }
        code
    }

    /// The jump at the end of a block.
    fn end(&mut self, block: BlockId) -> TokenStream {
        let block = self.emitter.program.block(block);
        let mut lane_code = self.emitter.lane_code(block.func, self.site());
        match &block.term {
            Terminator::Jump(target) => self.go(*target),
            Terminator::Branch { cond, then, otherwise, .. } => {
                let mut cond = cond.clone();
                self.lane_code(&mut lane_code, &mut cond);
                let (then, otherwise) = (self.go(*then), self.go(*otherwise));
                quote!(if #cond { #then } else { #otherwise })
            }
            Terminator::Switch { scrutinee, arms, .. } => {
                let mut scrutinee = scrutinee.clone();
                self.lane_code(&mut lane_code, &mut scrutinee);
                let arms = arms.iter().map(|arm| {
                    let (pat, target) = (&arm.pat, self.go(arm.target));
                    let guard = arm.guard.clone().map(|mut guard| {
                        self.lane_code(&mut lane_code, &mut guard);
                        quote!(if #guard)
                    });
                    quote!(#pat #guard => { #target })
                });
                quote!(match #scrutinee { #(#arms)* })
            }
            Terminator::Call(call) => {
                let live = self.emitter.live_at_call(call);
                self.leave(self.emitter.call_point(call.id), &live, &BTreeMap::new())
            }
            Terminator::TailCall { callee, args, .. } => {
                let function = self.emitter.program.func(*callee);
                let live = self.emitter.live_at(function.entry);
                let moved = function.params.iter().copied().zip(args.iter().copied()).collect();
                self.leave(self.emitter.point(function.entry), &live, &moved)
            }
            Terminator::Return | Terminator::Unreachable => quote!(::core::unreachable!();),
        }
    }

    /// Control goes to `target`.
    fn go(&mut self, target: BlockId) -> TokenStream {
        let program = self.emitter.program;
        let inside = program.block(target).region == self.shape.head && target != self.shape.head;
        if program.is_exit(target) || !inside {
            let live = self.emitter.live_at(target);
            self.leave(self.emitter.point_at(target), &live, &BTreeMap::new())
        } else if self.shape.meetings.all().contains(&target) {
            let label = meeting_label(target);
            let params = &self.shape.handed[&target];
            let idents = params.iter().map(|v| &program.var(*v).ident);
            quote!(break #label (#(#idents,)*);)
        } else {
            self.node(target)
        }
    }

    /// Leaves the region for `point`, where `live` is live. `moved` says which variable carries the
    /// value of a parameter that a tail call sets.
    fn leave(&mut self, point: u32, live: &VarSet, moved: &BTreeMap<VarId, VarId>) -> TokenStream {
        self.successors.insert(point);
        let (label, rt) = (lane_label(), &self.emitter.rt);
        let word = &self.emitter.word;
        let l = lane();
        let values = self.shape.outs.iter().map(|v| {
            let carrier = moved.get(v).copied().unwrap_or(*v);
            let new = new(*v);
            if live.contains(v) {
                let (column, ident) = (column(*v), &self.emitter.program.var(carrier).ident);
                quote!(#new = #rt::Slots::leave(&mut *#column, #l, #ident);)
            } else {
                let old = old(*v);
                match (self.selects, self.plainly_stored.contains(v)) {
                    (true, _) => quote!(#new = #rt::cleared();),
                    (false, true) => quote!(#new = #old;),
                    (false, false) => quote!(#new = #rt::dead();),
                }
            }
        });
        let kept =
            self.shape.kept.iter().filter(|v| live.contains(v) && self.engine == Engine::Machine).map(|v| {
                let (column, ident) = (column(*v), &self.emitter.program.var(*v).ident);
                quote!(#rt::Slots::keep(&mut *#column, #l, #ident);)
            });
        let next = next();
        quote!(#(#kept)* #(#values)* #next = #point as #word; break #label;)
    }
}

/// `mut x`, all of it where the user's `x` stands: messages point at what binds a variable.
pub(crate) fn binding(ident: &Ident) -> TokenStream {
    let mutability = Ident::new("mut", ident.span());
    quote!(#mutability #ident)
}

/// A statement that is not the value of the block we build around it.
pub(crate) fn statement(stmt: &Stmt) -> TokenStream {
    match stmt {
        Stmt::Expr(e, None) => quote!(#e;),
        Stmt::Macro(m) if m.semi_token.is_none() => quote!(#m;),
        other => other.to_token_stream(),
    }
}

fn meeting_label(block: BlockId) -> Lifetime {
    Lifetime::new(&format!("'__b{}", block.0), Span::mixed_site())
}

/// The values of a region's uniforms, under the user's names.
pub(crate) fn uniforms(emitter: &Emitter<'_>, region: &Region) -> Vec<TokenStream> {
    let values = region.uniforms.iter().map(|v| {
        let Class::Uniform(root) = emitter.program.var(*v).class else {
            unreachable!("classified as uniform")
        };
        let (ident, source) = (&emitter.program.var(*v).ident, source(root));
        quote!(let #ident = #source;)
    });
    values.collect()
}
