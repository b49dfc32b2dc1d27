//! What every part of the emission needs: the program, the facts about it, and the numbers of its points.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::admission::receivers::Receivers;
use crate::codegen::scalar_clone::Clones;
use crate::codegen::vector_math::Rewrite;
use crate::codegen::{definition_check, names, value_origins};
use crate::diagnostics::reasons::IN_A_TOTAL;
use crate::index::definitions::Definitions;
use crate::ir::{BlockId, Call, CallId, FuncId, GroupId, Note, Program, Role, VarId, VarSet};
use crate::item::model::{self, Function};
use crate::lower::{Erased, Lowered};
use crate::passes::Analyses;
use crate::syntax::arguments::Args;
use crate::syntax::walk::{self, At};

/// Lanes per strip and the width of a program-counter word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// `u64` words instead of `u32`: as wide as the data, so that masks need no conversion.
    pub word64: bool,
    /// Whether the data of that width are floats rather than integers.
    pub floats: bool,
    /// Lanes per strip.
    pub strip: usize,
}

/// What every part of the emission needs.
pub(crate) struct Emitter<'a> {
    pub(crate) program: &'a Program,
    pub(super) analyses: &'a Analyses,
    pub(super) items: &'a [syn::Item],
    pub(crate) rt: TokenStream,
    pub(super) clones: &'a Clones<'a>,
    /// For each program function its position in the source.
    pub(super) sources: &'a [usize],
    pub(crate) word: Ident,
    pub(super) width: Width,
    /// Variables whose `let` stands in some block's top-level code.
    pub(crate) declared: VarSet,
    /// Variables without a written type that get values in several places. What tells the type at one may be out of sight at
    /// another.
    pub(super) alike: VarSet,
    pub(super) points: BTreeMap<BlockId, u32>,
    /// Functions that yield floats, of the item and beside it, by name.
    pub(super) floats: BTreeMap<String, Ident>,
    /// Call sites in point order.
    pub(super) calls: Vec<(BlockId, &'a Call)>,
    /// Groups in point order.
    pub(super) groups: Vec<GroupId>,
    /// For each program function what its variables are made of.
    pub(super) origins: Vec<value_origins::Origins<'a>>,
    /// What takes names of lifetimes out of its code.
    pub(super) erased: Vec<Erased>,
    /// And how types are spelled where its values meet signatures.
    pub(super) types: Vec<definition_check::Types>,
    /// The `&mut` parameters in whose place lane code is lent copies of what they refer to.
    pub(super) states: &'a VarSet,
    /// What rustc says of code that is taken for code that only computes; nothing to ask where that has been asked for all of a program.
    pub(super) computing: Computing,
}

/// Expressions in code that is taken for code that only computes, by function, about which rustc is asked: its answers, as values.
pub(crate) type Computing = Vec<(usize, syn::Expr, TokenStream)>;

/// Functions that yield floats, by name. Of two with one name the first is the one that is called.
fn floats(clones: &Clones<'_>) -> BTreeMap<String, Ident> {
    let output = |f: &model::Function| match &f.output {
        syn::Type::Path(p) => p.path.get_ident().filter(|ty| *ty == "f32" || *ty == "f64").cloned(),
        _ => None,
    };
    let mut all = BTreeMap::new();
    for function in clones.callees().filter(|f| !f.associated) {
        all.entry(function.sig.ident.to_string()).or_insert(output(function));
    }
    all.into_iter().filter_map(|(name, float)| Some((name, float?))).collect()
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(
        lowered: &'a Lowered,
        analyses: &'a Analyses,
        states: &'a VarSet,
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
        let ops = || program.blocks.iter().flat_map(|block| &block.ops);
        let mut given: BTreeMap<VarId, usize> = BTreeMap::new();
        ops().flat_map(|op| &op.defs).for_each(|var| *given.entry(*var).or_default() += 1);
        let alike = ops().flat_map(|op| &op.declares).copied().filter(|var| {
            let variable = program.var(*var);
            variable.ty.is_none() && !variable.is_uniform() && given.get(var).is_some_and(|times| *times > 1)
        });
        let alike = alike.collect();
        let rt = quote!(#krate::__rt);
        let types = lowered
            .sources
            .iter()
            .map(|source| definition_check::Types::of(clones.function(*source), &rt))
            .collect();
        let origins = |func: FuncId| {
            let function = clones.function(lowered.sources[func.0]);
            let receivers = Receivers::of_program(program, func, function, clones.definitions(), &[]);
            value_origins::origins(program, func, receivers)
        };
        Emitter {
            program,
            analyses,
            items: &lowered.items,
            floats: floats(clones),
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
            origins: program.func_ids().map(origins).collect(),
            erased: lowered.erased.clone(),
            types,
            states,
            computing: Computing::new(),
        }
    }

    /// Rustc's answers about code of a function that is taken for code that only computes.
    pub(crate) fn computes(&self, func: FuncId, code: &[syn::Stmt]) -> Vec<&TokenStream> {
        let own = self.computing.iter().filter(|(source, ..)| *source == self.sources[func.0]);
        let stands_there =
            |asked: &syn::Expr| walk::any(code, |at| matches!(at, At::Expr(expr) if expr == asked));
        own.filter(|(_, asked, _)| stands_there(asked)).map(|(.., answer)| answer).collect()
    }

    /// What rewrites a function's code under `vector_math`.
    pub(crate) fn vector_math(&self, func: FuncId) -> Option<Rewrite<'_, 'a>> {
        self.clones.vector_math().map(|math| math.of(self.clones.function(self.sources[func.0])))
    }

    /// The types that the item can see.
    pub(crate) fn definitions(&self) -> &'a Definitions {
        self.clones.definitions()
    }

    /// The function that a call in the code of a lane names: of the item, or beside it.
    pub(crate) fn callee(&self, call: &syn::ExprCall) -> Option<&'a model::Function> {
        let syn::Expr::Path(path) = &*call.func else { return None };
        let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let (name, associated) = match &names[..] {
            [name] => (name, false),
            [own, name] if own == "Self" => (name, true),
            _ => return None,
        };
        self.clones.callees().find(|f| f.sig.ident == name && f.associated == associated)
    }

    /// A function as the user has written it, with states behind references.
    pub(crate) fn written(&self, func: FuncId) -> &'a Function {
        self.clones.function(self.sources[func.0])
    }

    /// The places among a function's parameters of states that are values in this program, and handed back (see
    /// [`crate::desugar::state_passing`]).
    pub(crate) fn passed_states(&self, func: FuncId) -> Vec<usize> {
        let params = &self.program.func(func).params;
        let is_value = |nth: usize| {
            let ty = &self.program.var(params[nth]).ty;
            !matches!(ty, Some(syn::Type::Reference(_)))
        };
        self.written(func).states().map(|(nth, _)| nth).filter(|nth| is_value(*nth)).collect()
    }

    /// What to call to run `func` as scalar code for one lane: its arguments, then a `Depth`. `None`: the
    /// function itself.
    pub(crate) fn clone_path(&self, func: FuncId) -> Option<TokenStream> {
        self.clones.path(self.sources[func.0])
    }

    /// The same with code that counts its steps, if there is some.
    pub(crate) fn counted_path(&self, func: FuncId) -> Option<TokenStream> {
        self.clones.counted_path_of_lanes(self.sources[func.0])
    }

    /// What counts the calls that lane code makes natively: those in a total of a type that adds up in its own way.
    pub(crate) fn shadows(&self) -> Vec<TokenStream> {
        let native = |note: &Note| note.reason == IN_A_TOTAL;
        if !self.program.notes.iter().any(native) {
            return vec![];
        }
        self.clones.shadows_of_lanes(self.sources, self.items)
    }

    /// Says that the variable has the type that it has elsewhere. Lifetimes may differ: behind what never returns no borrow is
    /// checked.
    pub(crate) fn is_alike(&self, var: VarId) -> TokenStream {
        let (rt, shape, value) = (&self.rt, names::shape(var), &self.program.var(var).ident);
        quote!(if false { #rt::admission::nothing(); #rt::admission::Shape::is(&#shape, &#value); })
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

    pub(crate) fn call_index(&self, id: CallId) -> u32 {
        self.calls.iter().position(|(_, call)| call.id == id).expect("a reachable call") as u32
    }

    /// The program point of lanes that wait at a call.
    pub(crate) fn call_point(&self, id: CallId) -> u32 {
        self.points.len() as u32 + self.call_index(id)
    }

    pub(crate) fn group_index(&self, group: GroupId) -> usize {
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
    pub(crate) fn element(&self, var: VarId) -> TokenStream {
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
    pub(crate) fn heads_in_source_order(&self) -> Vec<BlockId> {
        let mut heads = self.program.order.clone();
        heads.sort();
        heads
    }
}
