//! From the analysed program to Rust code.
//!
//! One body function holds the whole program, blocks in source order, so that rustc infers every
//! column's type as it inferred the local's. The generated code is safe Rust: what needs `unsafe`
//! (uninitialised slots, instruction sets) lives in the runtime behind hidden functions.

mod admission;
mod api;
pub(crate) mod attributes;
mod body;
pub(crate) mod checked;
pub mod clone;
mod crossing;
mod divisions;
mod lockstep;
mod named;
mod nest;
mod outlives;
mod pieces;
mod primitive;
mod quotients;
mod region;
mod rooms;
mod scopes;
mod strip;
mod table;

use std::collections::BTreeMap;
use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Ident;

use crate::attrs::Args;
use crate::input::Function;
use crate::ir::{BlockId, Call, CallId, Class, FuncId, GroupId, Program, Role, VarId, VarSet};
use crate::lower::{Erased, Lowered};
use crate::passes::Analyses;
use crate::plain::Plain;
use crate::vector_math::Rewrite;
use clone::Clones;

/// Lanes per strip and the width of a program-counter word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// `u64` words instead of `u32`: as wide as the data, so that masks need no conversion.
    pub word64: bool,
    /// Lanes per strip.
    pub strip: usize,
}

/// An identifier of our own, which the user's code does not see.
fn name(text: &str) -> Ident {
    Ident::new(text, Span::mixed_site())
}

/// `__s3`: one of many.
fn numbered(prefix: &str, number: impl Display) -> Ident {
    name(&format!("__{prefix}{number}"))
}

/// What every part of the emission needs.
pub(crate) struct Emitter<'a> {
    pub(crate) program: &'a Program,
    analyses: &'a Analyses,
    items: &'a [syn::Item],
    pub(crate) rt: TokenStream,
    clones: &'a Clones<'a>,
    /// For each program function its position in the source.
    sources: &'a [usize],
    pub(crate) word: Ident,
    width: Width,
    /// Variables whose `let` stands in some block's top-level code.
    pub(crate) declared: VarSet,
    /// Variables without a written type that get a value in several places and are read in none.
    alike: VarSet,
    points: BTreeMap<BlockId, u32>,
    /// Call sites in point order.
    calls: Vec<(BlockId, &'a Call)>,
    /// Groups in point order.
    groups: Vec<GroupId>,
    /// For each program function what its variables are made of.
    origins: Vec<divisions::Origins>,
    /// What takes names of lifetimes out of its code.
    erased: Vec<Erased>,
    /// And how types are spelled where its values meet signatures.
    types: Vec<checked::Types>,
}

/// The program that runs in nested frames.
pub struct Nested {
    /// What must be primitive for it.
    pub plain: Plain,
    /// The program, parted for them.
    pub lowered: Lowered,
    /// What the passes found out.
    pub analyses: Analyses,
}

/// Generates the whole family of `function`, whose program is `lowered`.
pub fn emit(
    function: &Function,
    lowered: &Lowered,
    analyses: &Analyses,
    functions: &[Function],
    nested: Option<Nested>,
    clones: &Clones<'_>,
    args: &Args,
    width: Width,
) -> TokenStream {
    let emitter = Emitter::new(lowered, analyses, clones, args, width);
    let whole = lowered.program.notes.iter().any(|note| note.whole);
    let opening = (!whole).then(|| admission::opening(&emitter, &lowered.admission, functions, args.strict));
    let asks = opening.as_ref().is_some_and(|opening| opening.asks);
    let body = opening.map(|opening| body::body(&emitter, function, &opening));
    let successors = body.as_ref().map(|body| body.successors.clone()).unwrap_or_default();
    let krate = if function.associated { args.krate.clone() } else { args.crate_from_module() };
    let program = table::table(&emitter, &successors, &krate, whole, asks);
    let clone = emitter.clone_path(lowered.program.entry);
    let native_depth = lowered.program.func_ids().any(|func| emitter.clone_path(func).is_none());
    let body = body.map(|body| body.code);
    let checks = checked::mentions(lowered.sources.iter().map(|source| clones.function(*source)));
    let nests = nested.and_then(|nested| nests(function, nested, clones, args, width));
    api::family(&api::Machine { body, nests, program, clone, native_depth, function, checks, krate }, args)
}

/// The code of nested frames, if they can hold the program.
fn nests(
    function: &Function,
    nested: Nested,
    clones: &Clones<'_>,
    args: &Args,
    width: Width,
) -> Option<api::Nests> {
    let Nested { plain, lowered, analyses } = nested;
    let emitter = Emitter::new(&lowered, &analyses, clones, args, width);
    let program = &lowered.program;
    let variants = api::VARIANTS.iter().map(|(isa, _)| nest::nest(&emitter, function, args, isa));
    let variants = variants.collect::<Option<Vec<_>>>()?;
    let variable = |v: &VarId| program.var(*v).ty.clone();
    let types = program.functions.iter().flat_map(|f| {
        let columns = f.params.iter().filter(|v| emitter.has_column(**v));
        columns.filter_map(variable).chain([f.output.clone()]).collect::<Vec<_>>()
    });
    let recursive = program.functions.iter().any(|f| f.recursive);
    let rooms = variants.iter().any(|nest| nest.rooms.is_some());
    Some(api::Nests { variants, plain, recursive, rooms, types: types.collect() })
}

impl<'a> Emitter<'a> {
    fn new(
        lowered: &'a Lowered,
        analyses: &'a Analyses,
        clones: &'a Clones<'a>,
        args: &Args,
        width: Width,
    ) -> Emitter<'a> {
        let program = &lowered.program;
        let krate = &args.krate;
        let mut declared = VarSet::new();
        for block in &program.blocks {
            declared.extend(block.declares());
            // A value that all paths bring with a jump has its `let`s in the jumps.
            declared.extend(&block.arrives);
        }
        let points = program.order.iter().enumerate().map(|(i, b)| (*b, i as u32)).collect();
        let calls: Vec<_> = program
            .call_sites()
            .into_iter()
            .filter(|(block, _)| program.order.contains(&program.block(*block).region))
            .collect();
        let mut groups: Vec<GroupId> = Vec::new();
        for function in &program.functions {
            if !groups.contains(&function.group) {
                groups.push(function.group);
            }
        }
        let mut defined: BTreeMap<VarId, usize> = BTreeMap::new();
        for var in program.blocks.iter().flat_map(|block| &block.ops).flat_map(|op| &op.defs) {
            *defined.entry(*var).or_default() += 1;
        }
        let open = |var: &VarId| {
            let var = program.var(*var);
            var.class == Class::Null && var.ty.is_none()
        };
        let alike = defined.iter().filter(|(var, times)| **times > 1 && open(var)).map(|(var, _)| *var);
        let alike = alike.collect();
        let rt = quote!(#krate::__rt);
        let types =
            lowered.sources.iter().map(|source| checked::Types::of(clones.function(*source), &rt)).collect();
        Emitter {
            program,
            analyses,
            items: &lowered.items,
            rt,
            clones,
            sources: &lowered.sources,
            word: quote::format_ident!("{}", if width.word64 { "u64" } else { "u32" }),
            width,
            declared,
            alike,
            points,
            calls,
            groups,
            origins: program.func_ids().map(|func| divisions::origins(program, func)).collect(),
            erased: lowered.erased.clone(),
            types,
        }
    }

    /// What rewrites a function's code under `vector_math`.
    pub(crate) fn vector_math(&self, func: FuncId) -> Option<Rewrite<'_, 'a>> {
        self.clones.vector_math().map(|math| math.of(self.clones.function(self.sources[func.0])))
    }

    /// What to call to run `func` as scalar code for one lane: its arguments, then a `Depth`. `None`: the
    /// function itself.
    pub(crate) fn clone_path(&self, func: FuncId) -> Option<TokenStream> {
        self.clones.path(self.sources[func.0])
    }

    /// Says that a value of the variable has the type of its other values.
    fn is_alike(&self, var: VarId) -> TokenStream {
        let (rt, ident, value) = (&self.rt, body::alike(var), &self.program.var(var).ident);
        quote!(#rt::admission::Shape::is(&#ident, &#value);)
    }

    /// The program point of a region head.
    pub(crate) fn point(&self, head: BlockId) -> u32 {
        self.points[&head]
    }

    /// The program point of lanes that come to a block behind their region.
    pub(crate) fn point_at(&self, target: BlockId) -> u32 {
        match self.program.is_exit(target) {
            true => self.return_point(self.program.block(target).func),
            false => self.point(target),
        }
    }

    fn call_index(&self, id: CallId) -> u32 {
        self.calls.iter().position(|(_, call)| call.id == id).expect("a reachable call") as u32
    }

    /// The program point of lanes that wait at a call.
    pub(crate) fn call_point(&self, id: CallId) -> u32 {
        self.points.len() as u32 + self.call_index(id)
    }

    fn group_index(&self, group: GroupId) -> usize {
        self.groups.iter().position(|g| *g == group).expect("each function has a group")
    }

    /// The program point of lanes whose function has its result.
    pub(crate) fn return_point(&self, func: FuncId) -> u32 {
        (self.points.len() + self.calls.len() + self.group_index(self.program.func(func).group)) as u32
    }

    /// Variables that hold a value at the start of a block. Parameters and a call's result arrive
    /// there whether or not anything reads them, so that the first region drops the unread ones.
    pub(crate) fn live_at(&self, block: BlockId) -> VarSet {
        let func = self.program.func(self.program.block(block).func);
        if block == func.exit {
            return VarSet::from([func.result]);
        }
        let mut live = self.analyses.liveness.live_in[block.0].clone();
        if block == func.entry {
            live.extend(&func.params);
        }
        live.extend(self.calls.iter().filter(|(_, call)| call.cont == block).map(|(_, call)| call.dest));
        live.retain(|var| !self.program.var(*var).is_uniform());
        live
    }

    /// Variables whose value is needed from a call on: its arguments and what is live behind it.
    pub(crate) fn live_at_call(&self, call: &Call) -> VarSet {
        let mut live = self.live_across(call);
        live.extend(&call.args);
        live
    }

    /// Variables live behind a call, its result excluded.
    pub(crate) fn live_across(&self, call: &Call) -> VarSet {
        let mut live = self.live_at(call.cont);
        live.remove(&call.dest);
        live
    }

    /// Whether values of the variable live in a column between regions.
    pub(crate) fn has_column(&self, var: VarId) -> bool {
        self.analyses.needs_column(var)
    }

    /// The type of a variable where the source names it.
    fn element(&self, var: VarId) -> TokenStream {
        match &self.program.var(var).ty {
            Some(ty) => ty.to_token_stream(),
            None => quote!(_),
        }
    }

    /// The variable whose column holds `var`: the functions of a tail-call group share one result.
    pub(crate) fn column_of(&self, var: VarId) -> VarId {
        let v = self.program.var(var);
        if v.role != Role::Result {
            return var;
        }
        let group = self.program.func(v.func).group;
        self.program.functions.iter().find(|f| f.group == group).map_or(var, |f| f.result)
    }

    /// Region heads in source order, the order in which rustc has to see them.
    fn heads_in_source_order(&self) -> Vec<BlockId> {
        let mut heads = self.program.order.clone();
        heads.sort();
        heads
    }
}
