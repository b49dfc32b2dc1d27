//! The static `Program` that `program()` returns and the executors read.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::analysis::steps::is_step;
use crate::codegen::emitter::Emitter;
use crate::codegen::explained_calls::{CallSite, Calls};
use crate::codegen::explained_loops::{self, Loop};
use crate::codegen::parts::VectorCode;
use crate::ir::readable::readable;
use crate::ir::{Class, FuncId, Program, display};
use crate::item::methods::shown_name;

/// The engines that there is code for.
pub(crate) fn engines(program: &Program, vector: Option<&VectorCode>, whole: bool) -> Vec<&'static str> {
    let primitive = program.blocks.iter().any(|block| block.primitive.is_some());
    let vector = vector.filter(|code| !code.variants.is_empty() && !whole);
    let frames = vector.map(|code| if code.task_blocks { "TaskBlocks" } else { "VectorFrames" });
    let wavefront = vector.filter(|code| code.wavefront).map(|_| "Wavefront");
    let fibers = whole || primitive && !program.notes.is_empty();
    let machine = (!whole).then_some("Machine");
    frames
        .into_iter()
        .chain(wavefront)
        .chain(machine)
        .chain(fibers.then_some("Fibers"))
        .chain(["Scalar"])
        .collect()
}

/// The calls in the program's blocks, and helpers that are read.
fn call_sites(emitter: &Emitter<'_>, vector_math: bool) -> (Vec<CallSite>, BTreeSet<String>) {
    let written: Vec<_> = emitter.sources.iter().map(|source| emitter.clones.function(*source)).collect();
    let own: Vec<_> = written.iter().map(|function| &function.sig.ident).collect();
    let known =
        emitter.clones.callees().map(|function| &function.sig.ident).filter(|name| !own.contains(name));
    let known: BTreeSet<String> = known.map(ToString::to_string).collect();
    let calls = Calls { program: emitter.program, written, known, vector_math };
    (calls.sites(), calls.known)
}

/// The loops of a program. In one that may do more than compute, calls of what is not `known` keep loops from vectors.
pub(crate) fn loops(emitter: &Emitter<'_>, known: Option<&BTreeSet<String>>) -> Vec<Loop> {
    let receivers: Vec<_> = emitter.origins.iter().map(|origins| origins.receivers()).collect();
    let vector_math = emitter.clones.vector_math().is_some();
    explained_loops::loops(emitter.program, &receivers, vector_math, known)
}

/// The initialiser of the `Program`. `successors` are the points each region can go to.
pub(crate) fn table(
    emitter: &Emitter<'_>,
    successors: &BTreeMap<u32, Vec<u32>>,
    krate: &syn::Path,
    (whole, asks, names_primitives): (bool, bool, bool),
    engines: &[&str],
    vector: Option<&VectorCode>,
) -> TokenStream {
    let program = emitter.program;
    let p = quote!(#krate::program);
    let index = |func: FuncId| func.0 as u16;
    let name = shown_name(&program.func(program.entry).name);
    let functions = program.functions.iter().map(|f| {
        let (name, group, recursive) =
            (shown_name(&f.name), emitter.group_index(f.group) as u16, f.recursive);
        quote!(#p::Function { name: #name, group: #group, recursive: #recursive })
    });
    let blocks = program.order.iter().map(|b| {
        let block = program.block(*b);
        let point = emitter.point(*b);
        let (function, label) = (index(block.func), block.label);
        let successors = successors.get(&point).cloned().unwrap_or_default();
        let again = successors.contains(&point);
        let primitive = block.primitive.is_some();
        let step = is_step(program, *b);
        let line = quote_spanned!(block.span=> ::core::line!());
        quote!(#p::Block { function: #function, label: #label, line: #line, successors: &[#(#successors),*], again: #again, primitive: #primitive, step: #step })
    });
    let calls = emitter.calls.iter().map(|(block, call)| {
        let callee = program.func(call.callee);
        let function = index(program.block(*block).func);
        let (callee_index, group) = (index(call.callee), emitter.group_index(callee.group) as u16);
        let entry = emitter.point(callee.entry);
        // The continuation of a call in front of the exit block is the return itself.
        let cont = emitter.point_at(call.cont);
        let line = quote_spanned!(call.span=> ::core::line!());
        let recursive = call.recursive;
        quote!(#p::Call {
            function: #function, callee: #callee_index, group: #group, entry: #entry, cont: #cont, line: #line,
            recursive: #recursive
        })
    });
    let groups = emitter.groups.iter().enumerate().map(|(i, group)| {
        let members = program.func_ids().filter(|f| program.func(*f).group == *group).map(|f| f.0 as u16);
        let ret = (emitter.points.len() + emitter.calls.len() + i) as u32;
        quote!(#p::Group { functions: &[#(#members),*], ret: #ret })
    });
    let variables = program.variables.iter().map(|v| {
        let (function, name) = (index(v.func), v.ident.to_string());
        let class = match v.class {
            Class::Temporary => quote!(Temporary),
            Class::Register => quote!(Register),
            Class::Stacked => quote!(Stacked),
            Class::Uniform(_) => quote!(Uniform),
            Class::Null => quote!(Null),
        };
        quote!(#p::Variable { function: #function, name: #name, class: #p::Class::#class })
    });
    let notes = program.notes.iter().map(|note| {
        let line = quote_spanned!(note.span=> ::core::line!());
        let (why, whole) = (note.why(), note.whole);
        quote!(#p::Note { line: #line, why: #why, whole: #whole })
    });
    let vector_math = emitter.clones.vector_math().is_some();
    let vector = vector.filter(|code| !code.variants.is_empty());
    let (call_sites, known) = if whole { Default::default() } else { call_sites(emitter, vector_math) };
    // Those of the engine that runs.
    let loops = match vector {
        _ if whole => vec![],
        Some(code) => code.loops.iter().map(|one| one.table(program, &p)).collect(),
        None => loops(emitter, Some(&known)).iter().map(|one| one.table(program, &p)).collect::<Vec<_>>(),
    };
    let call_sites = call_sites.into_iter().map(|site| site.table(&p));
    let entry_point = emitter.points.get(&program.func(program.entry).entry).copied().unwrap_or(0);
    let root_group = emitter.group_index(program.func(program.entry).group) as u16;
    let recursive = program.functions.iter().any(|f| f.recursive);
    let shown = readable(program);
    let (text, dot) = (shown.to_string(), display::dot(&shown));
    let engines = engines.iter().map(|engine| Ident::new(engine, Span::call_site()));
    let (word64, strip) = (emitter.width.word64, emitter.width.strip);
    quote!(#krate::Program {
        name: #name,
        functions: &[#(#functions),*],
        blocks: &[#(#blocks),*],
        calls: &[#(#calls),*],
        groups: &[#(#groups),*],
        variables: &[#(#variables),*],
        notes: &[#(#notes),*],
        loops: &[#(#loops),*],
        call_sites: &[#(#call_sites),*],
        whole_scalar: #whole,
        asks: #asks,
        names_primitives: #names_primitives,
        engines: &[#(#krate::Engine::#engines),*],
        entry_point: #entry_point,
        root_group: #root_group,
        recursive: #recursive,
        word64: #word64,
        strip: #strip,
        text: #text,
        dot: #dot,
    })
}
