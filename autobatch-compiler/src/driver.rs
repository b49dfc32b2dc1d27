//! The driver: reads as the list of stages.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Item, ItemImpl, Visibility};

use crate::admission::Admitted;
use crate::admission::purity::PureProgram;
use crate::analysis::steps;
use crate::codegen;
use crate::codegen::emitter::Width;
use crate::codegen::scalar_clone::{self, Clones};
use crate::codegen::vector_math::VectorMath;
use crate::desugar;
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::recursive_helpers;
use crate::diagnostics::sink::Diagnostics;
use crate::diagnostics::{messages, reasons};
use crate::dump::Dump;
use crate::index::source::{self, Source};
use crate::ir::Note;
use crate::item::model::{self, Function};
use crate::item::{
    checks, excluded, functions, helpers, implicit_entries, inner_functions, methods, selection,
};
use crate::lower::{LowerOptions, Lowered};
use crate::passes::PassOptions;
use crate::resolve::method_calls;
use crate::resolve::resolution::Resolution;
use crate::resolve::types::Types;
use crate::stages::{Staged, Stages};
use crate::syntax::annotated::{self, Input};
use crate::syntax::arguments::Args;
use crate::syntax::call_sites::CallSite;
use crate::syntax::{attributes, cfg_split, impl_trait, macro_tokens, mentions, primitive_names};

/// Expands `#[autobatch(args)] item`. The user's item is always part of the output, so that one
/// mistake is not followed by ten.
pub fn autobatch(args: TokenStream, item: TokenStream) -> TokenStream {
    autobatch_in(args, item, None)
}

/// [`autobatch`] for an item with this source around it, whose primitives it knows.
pub fn autobatch_in(args: TokenStream, item: TokenStream, source: Option<&Source>) -> TokenStream {
    expanded(args, item, source, None)
}

/// [`autobatch_in`], with the stages as files in a place that is not the environment's.
pub(crate) fn expanded(
    args: TokenStream,
    item: TokenStream,
    source: Option<&Source>,
    dump: Option<Dump>,
) -> TokenStream {
    let mut diag = Diagnostics::default();
    let written = args.clone();
    let mut args = Args::parse(args, &mut diag);
    let Some(input) = Input::parse(item.clone(), &mut diag) else {
        let errors = diag.into_tokens();
        return quote!(#item #errors);
    };
    if let Some(split) = cfg_split::split(&args.krate, &written, &item) {
        return split;
    }
    // Who names primitives says that they are reached, wherever from.
    args.names_primitives = !args.primitives.is_empty();
    args.strict &= !args.fibers_will_do || !args.names_primitives;
    args.primitives.extend(source.into_iter().flat_map(Source::primitives));
    if let Input::Module(module) = &input {
        args.primitives.extend(module.content.iter().flat_map(|(_, items)| source::primitives(items)));
    }
    let dump = dump.unwrap_or_else(|| Dump::of(&input));
    dump.code("input", &item);
    checks::item(&input, &args, &mut diag);
    if let (Some(source), Input::Impl(block @ ItemImpl { trait_: Some(_), .. })) = (source, &input) {
        checks::hidden_methods(block, &source.inherent_methods(block), &mut diag);
        checks::twice_batched(block, &source.batched_twice(block), &mut diag);
    }
    // Without the source a reason may be none.
    args.strict &= source.is_some();
    let mut declared = source::declared(source, &item);
    declared.reserved = mentions::reserved(item.clone()).iter().map(ToString::to_string).collect();
    let mut spelled = input.clone();
    declared.lifetimes.spell(&mut spelled);
    let beside = source.and_then(|source| source.around(&item)).map(|around| &around.functions[..]);
    let types = Types { definitions: &declared.beside, functions: &[], own: None };
    let inner = inner_functions::take_out(&mut spelled, |f| {
        recursive_helpers::called(f, beside.unwrap_or_default(), &types, args.vector_math)
    });
    let (functions, others) = functions::partition(&spelled, &inner, &mut diag);
    let own = match &input {
        Input::Impl(block) => Some((*block.self_ty).clone()),
        _ => None,
    };
    let definitions = &declared.definitions;
    let excluded = excluded::of(&functions, others, own.as_ref(), &args.primitives, definitions).into();
    let (helpers, generic_helpers) = helpers::of(source, &item);
    let methods = helpers::methods(source, &item);
    let declared = Rc::new(declared);
    let mut model = model::Item { functions, own, helpers, generic_helpers, methods, excluded, declared };
    let (of_methods, shims) = match args.vector_math {
        true => desugar::helper_methods::rewrite(&mut model),
        false => Default::default(),
    };
    let resolution = resolve(&input, &mut model, &args);
    dump.functions("resolved", &model.functions);
    let (resolution, mut checks) = desugar(&input, &mut model, resolution, &args);
    checks.extend(of_methods);
    dump.functions("desugared", &model.functions);
    let mut families = match diag.is_empty() {
        true => expand(&input, &model, &resolution, &mut checks, &args, &mut diag, &dump),
        false => vec![],
    };
    let functions = &model.functions;
    let mut beside = Vec::new();
    if !families.is_empty() {
        families.extend(resolution.checks().items(functions));
        families.extend(methods::shims(functions));
        beside = codegen::definition_check::questions(functions);
        beside.extend(checks.items());
        beside.extend(inner.iter().map(ToTokens::to_token_stream).chain(shims));
        if args.vector_math {
            let krate = &args.krate;
            beside.extend(VectorMath::new(&model, &quote!(#krate::__rt)).helpers());
        }
    }
    if functions.iter().any(|f| impl_trait::any(&f.sig.generics)) {
        families = families.into_iter().map(|family| impl_trait::readable(family, &item)).collect();
    }
    let errors = diag.into_tokens();
    let generated = assemble(input, families, beside, errors);
    dump.code("generated", &generated);
    generated
}

/// Finds the types of variables, and the calls of methods on receivers other than `self`.
fn resolve(input: &Input, item: &mut model::Item, args: &Args) -> Resolution {
    let definitions = &item.declared.definitions;
    let worth = match input {
        Input::Module(_) => selection::by_shown_name(&item.functions, &args.primitives, definitions),
        _ => selection::call_graph(&item.functions, &entries(input, item), &args.primitives, definitions).0,
    };
    method_calls::resolve(item, |f| worth.contains(&f))
}

/// Copies helpers, and rewrites closures with calls of the program in them. What is known then, and what rustc has to check.
fn desugar(
    input: &Input,
    item: &mut model::Item,
    resolution: Resolution,
    args: &Args,
) -> (Resolution, HelperChecks) {
    let entries = entries(input, item);
    let definitions = &item.declared.definitions;
    let (worth, _) = selection::call_graph(&item.functions, &entries, &args.primitives, definitions);
    let args = args_for(&item.functions, args);
    desugar::literal_types::rewrite(item, &resolution);
    desugar::counting_whiles::of_item(item, &resolution);
    let batched = |f: usize| worth.contains(&f);
    let mut checks = desugar::inline_expansion::rewrite(item, &resolution, batched, args.vector_math);
    let types = desugar::scalar_replacement::rewrite(item, &resolution, batched, &mut checks);
    let resolution = resolution.with_types(types);
    desugar::functions(item, &resolution, batched, &args);
    (resolution, checks)
}

/// The generated family of each function that users can call, and the clones beside them.
fn expand(
    input: &Input,
    item: &model::Item,
    resolution: &Resolution,
    checks: &mut HelperChecks,
    args: &Args,
    diag: &mut Diagnostics,
    dump: &Dump,
) -> Vec<TokenStream> {
    let functions = &item.functions[..];
    let entries = entries(input, item);
    let krate = &args.krate;
    let rt = quote!(#krate::__rt);
    let vector_math = args.vector_math.then(|| VectorMath::new(item, &rt));
    let primitives = &args.primitives;
    let options = LowerOptions {
        krate: args.krate.clone(),
        fuse: args.fuse,
        primitives: primitives.clone(),
        split_entry: false,
        vector_math: args.vector_math,
    };
    let passes = PassOptions { fuse: args.fuse, vector_math: args.vector_math, ..Default::default() };
    if !entries.iter().any(|entry| has_members(&functions[*entry])) {
        checks::nothing_to_call(input, entries.len(), diag);
    }
    let mut programs = Vec::new();
    for entry in entries.iter().copied() {
        let function = &functions[entry];
        if !has_members(function) {
            if matches!(input, Input::Function(_)) {
                diag.error(&function.sig.ident, messages::NO_MEMBERS);
            }
            continue;
        }
        if checks::unsized_members(function, diag) {
            continue;
        }
        let stages = Stages { resolution, entry, options: &options, passes: &passes, dump };
        let Staged { item, mut admitted, mut vector } = stages.run(item, checks);
        let Lowered { program, sources, .. } = &admitted.lowered;
        let own = sources.iter().map(|source| &item.functions[*source]);
        let args = args_for(own, args);
        if args.strict {
            for note in &program.notes {
                let message = messages::scalar_code(&note.why(), note.reason, args.fibers_will_do);
                diag.error_at(note.span, message);
            }
        }
        if is_linted() {
            let (span, reason) = (function.sig.ident.span(), reasons::LINTED);
            admitted.lowered.program.notes.push(Note { span, name: None, reason, whole: true });
            (admitted.pure, vector) = (None, None);
        }
        programs.push((entry, item, admitted, vector, args));
    }
    let mut known = scalar_clone::ProgramFacts::default();
    for (_, _, Admitted { lowered, questions, .. }, vector, _) in &programs {
        known.counted.extend(counted(lowered));
        let pure = vector.as_ref().map(|vector| &vector.pure);
        if pure.is_some_and(PureProgram::is_certain) && questions.computing.is_empty() {
            known.computes.extend(&lowered.sources);
        }
        let written: Vec<&model::Function> =
            lowered.sources.iter().map(|source| &functions[*source]).collect();
        let calls = steps::calls_if_as_written(&lowered.program, &written);
        for (nth, source) in lowered.sources.iter().enumerate() {
            let calls = calls.as_ref().map(|calls| calls[nth]);
            let same = *known.calls_in_blocks.entry(*source).or_insert(calls) == calls;
            if !same {
                known.calls_in_blocks.insert(*source, None);
            }
        }
    }
    let clones =
        Clones::new(item, resolution, &entries, &args.krate, vector_math.as_ref(), primitives, known);
    let mut families = Vec::new();
    for (entry, own, admitted, vector, args) in programs {
        let width = width(&own.functions, &admitted.lowered);
        let entry = &functions[entry];
        let family = codegen::emit(entry.shown(), &admitted, &own.functions, vector, &clones, &args, width);
        families.push(methods::block(entry, std::slice::from_ref(&family)).unwrap_or(family));
    }
    if !families.is_empty() {
        families.extend(clones.items());
        families.extend(codegen::definition_check::items(functions, &rt));
        families.extend(vector_math.iter().flat_map(VectorMath::items));
    }
    families
}

/// Whether Clippy looks at the code. It lints what the user wrote, and a family of scalar code does the same as any other.
fn is_linted() -> bool {
    std::env::var_os("CLIPPY_ARGS").is_some()
}

/// The calls in tail position of a program, by function and number, that are no tail calls: something is left to do.
fn counted(lowered: &Lowered) -> Vec<(usize, CallSite)> {
    let blocks = lowered.program.blocks.iter();
    let calls = blocks.filter_map(|block| Some((lowered.sources[block.func.0], block.term.call()?.tail?)));
    calls.chain(lowered.counted.iter().copied()).collect()
}

/// The arguments as they are for functions, which may name primitives, in closures and macros too: where fibers will do they are free of
/// `strict` then.
fn args_for<'a>(functions: impl IntoIterator<Item = &'a Function>, args: &Args) -> Args {
    let is_one = |word: &str| primitive_names::may_be_primitive(&args.primitives, word);
    let reaches = |f: &Function| macro_tokens::mentions(f.written.to_token_stream(), &is_one);
    let names_primitives = args.names_primitives || functions.into_iter().any(reaches);
    Args {
        strict: args.strict && !(args.fibers_will_do && names_primitives),
        names_primitives,
        ..args.clone()
    }
}

/// The functions that users can call. Private ones of a module are reached through the others; those of an `impl` block are for
/// the code around it.
fn entries(input: &Input, item: &model::Item) -> Vec<usize> {
    let (functions, declared) = (&item.functions, &item.declared);
    let is_visible = |f: &usize| !matches!(functions[*f].vis, Visibility::Inherited);
    let (visible, private): (Vec<usize>, Vec<usize>) = (0..functions.len()).partition(is_visible);
    match input {
        // Behind it are those that stood in its body.
        Input::Function(_) => (0..functions.len().min(1)).collect(),
        Input::Impl(_) => {
            let none_visible = visible.is_empty();
            let wanted = |f: &Function| {
                (none_visible || implicit_entries::is_wanted(f, declared))
                    && implicit_entries::has_batched_form(f, declared)
            };
            let private = private.into_iter().filter(|f| wanted(&functions[*f]));
            visible.into_iter().chain(private).collect()
        }
        Input::Module(_) => visible,
    }
}

fn has_members(function: &Function) -> bool {
    function.params.iter().any(|p| p.passing != model::Passing::Shared)
}

/// Chooses the word and strip by the numbers the program names: program-counter words as wide as
/// the data need no conversion when they become masks. Only speed depends on it.
fn width(functions: &[Function], lowered: &Lowered) -> Width {
    let (mut floats, mut integers, mut sizes, mut narrow, mut narrow_floats) = (0, 0, 0, 0, 0);
    for source in &lowered.sources {
        let f = &functions[*source];
        let (sig, body) = (f.sig.to_token_stream(), f.body.to_token_stream());
        for word in [sig, body].into_iter().flat_map(mentions::words_and_suffixes) {
            match word.as_str() {
                "f64" => floats += 1,
                "u64" | "i64" => integers += 1,
                "usize" | "isize" => sizes += 1,
                "f32" => narrow_floats += 1,
                "u32" | "i32" | "u16" | "i16" | "u8" | "i8" => narrow += 1,
                _ => {}
            }
        }
    }
    // Beside narrow floats they are indices.
    if narrow_floats == 0 {
        integers += sizes;
    }
    let (wide, narrow) = (floats + integers, narrow + narrow_floats);
    let word64 = wide > 0 && wide >= narrow;
    // Shorter strips are unrolled before LLVM's vectoriser sees them, and end up scalar.
    let recursive = lowered.program.functions.iter().any(|f| f.recursive);
    let strip = if recursive || word64 { 32 } else { 64 };
    Width { word64, floats: floats >= integers, strip }
}

/// The user's item, untouched but for this crate's own parameter attributes and what ties it to its check, then what was
/// generated. `beside` can't stand in an `impl` block.
fn assemble(
    input: Input,
    families: Vec<TokenStream>,
    beside: Vec<TokenStream>,
    errors: TokenStream,
) -> TokenStream {
    match input {
        Input::Function(mut f) => {
            attributes::clean(&mut f.sig);
            quote!(#f #(#families)* #(#beside)* #errors)
        }
        Input::Module(mut m) => {
            if let Some((_, items)) = &mut m.content {
                for item in items.iter_mut() {
                    match item {
                        Item::Fn(f) if !attributes::is_primitive(&f.attrs) => attributes::clean(&mut f.sig),
                        Item::Impl(i) if !attributes::is_batched(&i.attrs) => annotated::methods_of_mut(i)
                            .filter(|f| !attributes::is_batched(&f.attrs))
                            .for_each(|f| attributes::clean(&mut f.sig)),
                        _ => {}
                    }
                }
                items.extend(families.into_iter().chain(beside).map(Item::Verbatim));
            }
            quote!(#m #errors)
        }
        Input::Impl(mut i) => {
            annotated::methods_of_mut(&mut i).for_each(|f| attributes::clean(&mut f.sig));
            let (generics, ty) = (&i.generics, &i.self_ty);
            let (impl_generics, _, where_clause) = generics.split_for_impl();
            let carried = attributes::lints_and_conditions(&i.attrs);
            let of_trait = i.trait_.as_ref().map(|(path, _)| methods::beside_trait(path));
            let families = (!families.is_empty()).then(
                || quote!(#of_trait #(#carried)* impl #impl_generics #ty #where_clause { #(#families)* }),
            );
            let conditions = attributes::conditions(&i.attrs);
            let beside = beside.into_iter().map(|item| quote!(#(#conditions)* #item));
            quote!(#i #families #(#beside)* #errors)
        }
    }
}
