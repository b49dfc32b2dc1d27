//! From the analysed program to Rust code.
//!
//! In: the program, the facts about it, what rustc is asked. Out: `f_batched` and its family, safe Rust.
//!
//! One body function holds the whole program, blocks in source order, so that rustc infers every
//! column's type as it inferred the local's. What needs `unsafe` (slots without a value, instruction sets) lives in the runtime behind
//! its door, `__rt`. Names of generated variables: [`names`].
//!
//! **Invariant:** every way out of a region gives each live variable a value, or leaves its old bits.

pub mod api;
pub mod batched_primitive;
mod conditional_stores;
pub mod definition_check;
mod division_guards;
pub mod emitter;
pub(crate) mod explained_calls;
pub(crate) mod explained_loops;
mod faulting_operations;
pub mod implied_bounds;
mod instruction_sets;
mod lane_code;
pub mod lane_interchange;
mod long_loops;
pub mod lookups;
pub mod loop_distribution;
pub mod machine;
pub mod named_lifetimes;
pub mod names;
mod own_elements;
pub mod parts;
mod passed_states;
mod predication;
pub mod program_table;
pub mod reciprocal_division;
pub mod region;
pub mod repeatable;
mod saturating_casts;
pub mod scalar_clone;
pub mod scopes;
pub mod send_check;
mod shared_elements;
pub mod strip;
pub mod type_witness;
mod unrolling;
pub mod value_origins;
pub mod vector;
pub mod vector_math;
pub mod wavefront;
mod wide_division;

use proc_macro2::TokenStream;
use quote::quote;
use scalar_clone::Clones;

use crate::admission::Admitted;
use crate::admission::purity::PureProgram;
use crate::codegen::emitter::{Emitter, Width};
use crate::codegen::machine::step_loop;
use crate::codegen::vector::frames;
use crate::ir::{VarId, VarSet};
use crate::item::model::Function;
use crate::lower::Lowered;
use crate::passes::Analyses;
use crate::syntax::arguments::Args;

/// The program that runs in vector frames.
pub struct VectorProgram {
    /// What must be primitive for it.
    pub pure: PureProgram,
    /// The program, split for them.
    pub lowered: Lowered,
    /// What the passes found out.
    pub analyses: Analyses,
}

/// Generates the whole family of `function`, whose program is `admitted`.
pub fn emit(
    function: &Function,
    admitted: &Admitted,
    functions: &[Function],
    vector: Option<VectorProgram>,
    clones: &Clones<'_>,
    args: &Args,
    width: Width,
) -> TokenStream {
    let Admitted { lowered, analyses, questions, states, .. } = admitted;
    let mut emitter = Emitter::new(lowered, analyses, states, clones, args, width);
    let whole = lowered.program.is_scalar();
    let opening = (!whole).then(|| type_witness::opening(&emitter, questions, functions, args.strict));
    let asks = opening.as_ref().is_some_and(|opening| opening.asks);
    emitter.computing = opening.as_ref().map(|opening| opening.computing.clone()).unwrap_or_default();
    let body = opening.map(|opening| step_loop::body(&emitter, function, &opening));
    let successors = body.as_ref().map(|body| body.successors.clone()).unwrap_or_default();
    let krate = if function.associated { args.krate.clone() } else { args.crate_from_module() };
    let clone = emitter.clone_path(lowered.program.entry);
    // All of a program keeps limits, or none.
    let all_count = lowered.sources.iter().all(|source| clones.counted_path(*source).is_some());
    let counted = clones.counted_path(lowered.sources[lowered.program.entry.0]);
    let counted = counted.filter(|_| all_count);
    let steps = !args.names_primitives && lowered.sources.iter().all(|source| clones.steps(*source));
    let native_depth = lowered.program.func_ids().any(|func| emitter.clone_path(func).is_none());
    let body = body.map(|body| body.code);
    let checks = definition_check::mentions(lowered.sources.iter().map(|source| clones.function(*source)));
    let items = &lowered.items;
    let begin = quote!(#checks #(#[allow(unused_imports)] #items)*);
    let vector = vector.map(|vector| vector_code(function, vector, clones, args, width));
    let engines = program_table::engines(&lowered.program, vector.as_ref(), whole);
    let flags = (whole, asks, args.names_primitives);
    let program = program_table::table(&emitter, &successors, &krate, flags, &engines, vector.as_ref());
    api::family(
        &parts::Machine {
            body,
            vector,
            program,
            clone,
            counted,
            steps,
            native_depth,
            function,
            begin,
            krate,
        },
        args,
    )
}

/// The code of vector frames.
fn vector_code(
    function: &Function,
    vector: VectorProgram,
    clones: &Clones<'_>,
    args: &Args,
    width: Width,
) -> parts::VectorCode {
    let VectorProgram { pure, lowered, analyses } = vector;
    // States are values here.
    let states = VarSet::new();
    let emitter = Emitter::new(&lowered, &analyses, &states, clones, args, width);
    let program = &lowered.program;
    let variants =
        instruction_sets::VARIANTS.iter().map(|(isa, _)| frames::variant(&emitter, function, args, isa));
    let variants = variants.collect::<Option<Vec<_>>>().unwrap_or_default();
    let variable = |v: &VarId| program.var(*v).ty.clone();
    let types = program.functions.iter().flat_map(|f| {
        let columns = f.params.iter().filter(|v| emitter.has_column(**v));
        columns.filter_map(variable).chain([f.output.clone()]).collect::<Vec<_>>()
    });
    let recursive = program.functions.iter().any(|f| f.recursive);
    let wavefront = variants.iter().any(|variant| variant.wavefront.is_some());
    let short = variants.iter().any(|variant| variant.short);
    let task_blocks = variants.iter().any(|variant| variant.task_blocks);
    let loops = program_table::loops(&emitter, None);
    let types = types.collect();
    parts::VectorCode { variants, short, pure, recursive, wavefront, task_blocks, types, loops }
}
