//! The body: the machine's step loop with the code of every step.
//!
//! Follows the protocol of the runtime's `machine` module. Steps stand in the order in which rustc
//! has to see them to infer the columns' types: loading the parameters, the regions in source order,
//! then the routing of calls and returns, then the dropping of what dead members owned.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::codegen::emitter::Emitter;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::lane_interchange::{Interchanged, interchange};
use crate::codegen::machine::primitive_call;
use crate::codegen::names::{name, numbered, shape, source};
use crate::codegen::passed_states;
use crate::codegen::region::{self, Chooser, Region, column, here, lane, next, uniforms};
use crate::codegen::type_witness::Opening;
use crate::ir::{BlockId, Call, Class, VarId, VarSet};
use crate::item::model::Function;

/// The code of the body and the points each region can go to.
pub(crate) struct Body {
    pub(crate) code: TokenStream,
    pub(crate) successors: BTreeMap<u32, Vec<u32>>,
}

/// `__stack3`: the stack of a variable.
fn stack(var: VarId) -> Ident {
    format_ident!("__stack{}", var.0, span = Span::mixed_site())
}

/// Generates the body of the program.
pub(crate) fn body(emitter: &Emitter<'_>, function: &Function, opening: &Opening) -> Body {
    let rt = &emitter.rt;
    let heads = emitter.heads_in_source_order().into_iter();
    let regions: Vec<Region> = heads.map(|head| region::region(emitter, head, Engine::Machine)).collect();
    let successors =
        regions.iter().map(|r| (emitter.point(r.head), r.successors.iter().copied().collect())).collect();

    let columns: VarSet = emitter.analyses.columns.iter().map(|v| emitter.column_of(*v)).collect();
    let declare_columns = columns.iter().enumerate().map(|(id, var)| {
        let ident = column(*var);
        if opening.shaped.contains(var) {
            let shape = shape(*var);
            return quote!(let mut #ident = #rt::Store::column_of(__store, &#shape, #id););
        }
        let ty = emitter.element(*var);
        quote!(let mut #ident = #rt::Store::column::<#ty>(__store, #id);)
    });
    let stacked: Vec<VarId> =
        emitter.program.var_ids().filter(|v| emitter.program.var(*v).class == Class::Stacked).collect();
    let (stacks, stack_ids) = (stacked.iter().map(|v| stack(*v)), 0..stacked.len());
    // The parameter identifiers mean the sources here; the lanes bind the values under the same names.
    let (sources, idents) =
        ((0..function.params.len()).map(source), function.params.iter().map(|param| &param.ident));
    let load = load(emitter);
    let store = store(emitter);
    let blocks = regions.iter().map(|r| block(emitter, r, &opening.enter));
    let calls = emitter.calls.iter().map(|(_, call)| self::call(emitter, call));
    let returns = emitter.calls.iter().map(|(_, call)| self::return_(emitter, call));
    let compact = compact(emitter, &columns);
    let abandon = abandon(emitter, &regions);
    let open = &opening.code;
    let [load, store, compact, abandon] =
        [load, store, compact, abandon].map(|code| out_of_line(emitter, &code));
    let (shadows, values) = (emitter.shadows(), passed_states::values(emitter));
    let code = quote! {
        #(#shadows)*
        #open
        #values
        #(let #sources = #idents;)*
        #(#declare_columns)*
        #(let mut #stacks = #rt::Store::stack(__store, #stack_ids);)*
        loop {
            match #rt::Core::next(__core) {
                #rt::Step::Load => #load
                #(#blocks)*
                #(#calls)*
                #(#returns)*
                #rt::Step::Store => #store
                #rt::Step::Compact => #compact
                #rt::Step::Abandon => #abandon
                #rt::Step::Done => break,
                __step => #rt::Core::unexpected(__core, __step),
            }
        }
    };
    Body { code, successors }
}

/// A step that moves values only: no instruction set speeds it up, so the body's instances have it together.
fn out_of_line(emitter: &Emitter<'_>, code: &TokenStream) -> TokenStream {
    let rt = &emitter.rt;
    quote!({ #rt::out_of_line(|| { #code }); })
}

/// New members: parameters into their columns. All are fetched before any is put down, because
/// fetching may run user code that panics.
fn load(emitter: &Emitter<'_>) -> TokenStream {
    let rt = &emitter.rt;
    let entry = emitter.program.func(emitter.program.entry);
    let (lane, member) = (name("__lane"), name("__member"));
    let params: Vec<(usize, VarId)> =
        entry.params.iter().copied().enumerate().filter(|(_, v)| emitter.has_column(*v)).collect();
    let values: Vec<Ident> = params.iter().map(|(i, _)| numbered("loaded", i)).collect();
    let gets = params.iter().zip(&values).map(|((i, var), value)| {
        let source = source(*i);
        if emitter.program.var(*var).shared {
            quote!(let #value = #source;)
        } else {
            quote!(let #value = #rt::Source::get(#source, #member);)
        }
    });
    let puts = params.iter().zip(&values).map(|((_, var), value)| {
        let column = column(*var);
        quote!(#rt::LaneColumn::put(&mut #column, #lane, #value);)
    });
    // Memory may be refused: nothing is lost then either.
    let rooms = params.iter().map(|(_, var)| {
        let column = column(*var);
        quote!(#rt::LaneColumn::room(&mut #column, #lane, 1);)
    });
    let len = name("__len");
    let simple = params.iter().map(|(i, var)| {
        let (column, source) = (column(*var), source(*i));
        match emitter.program.var(*var).shared {
            true => quote!(#rt::LaneColumn::needs_no_drop(&#column)),
            false => quote!(#rt::simple(#source, &#column)),
        }
    });
    let fills = params.iter().map(|(i, var)| {
        let (column, source) = (column(*var), source(*i));
        match emitter.program.var(*var).shared {
            true => quote!(for __slot in #rt::LaneColumn::room(&mut #column, #lane, #len) {
                *__slot = ::core::mem::MaybeUninit::new(#source);
            }),
            false => {
                quote!(#rt::Source::fill(#source, #member, #rt::LaneColumn::room(&mut #column, #lane, #len));)
            }
        }
    });
    quote! {
        if !(true #(&& #simple)* && #rt::Core::load_whole(__core, #[inline(always)] |#lane: usize, #member: usize, #len: usize| {
            #(#fills)*
        })) {
            #rt::Core::load(__core, #[inline(always)] |#lane: usize, #member: usize| {
                #(#rooms)*
                #(#gets)*
                #(#puts)*
            });
        }
    }
}

/// Finished members: results out.
fn store(emitter: &Emitter<'_>) -> TokenStream {
    let (rt, result) = (&emitter.rt, emitter.program.func(emitter.program.entry).result);
    let column = column(emitter.column_of(result));
    if emitter.passed_states(emitter.program.entry).is_empty() {
        return quote!(#rt::Out::receive(__out, #rt::Core::stores(__core), &mut #column););
    }
    let (lane, member) = (name("__lane"), name("__member"));
    let finish =
        passed_states::finish(emitter, &member, &quote!(#rt::LaneColumn::remove(&mut #column, #lane)));
    quote! {
        for (__first, __members) in #rt::Core::stores(__core) {
            for (#lane, #member) in (__first..).zip(__members) {
                #finish
            }
        }
    }
}

/// Lanes of the root frame move together: every column of the functions that run there.
fn compact(emitter: &Emitter<'_>, columns: &VarSet) -> TokenStream {
    let (rt, program) = (&emitter.rt, emitter.program);
    let root = program.func(program.entry).group;
    let route = name("__transfer");
    let moved = columns.iter().filter(|v| program.func(program.var(**v).func).group == root);
    let moved = moved.map(|v| column(*v));
    quote!(let #route = #rt::Core::transfer(__core); #(#rt::Transfer::compact(&#route, &mut #moved);)*)
}

/// Runs a region on every strip in which a lane waits at its head.
pub(crate) fn block(emitter: &Emitter<'_>, region: &Region, enter: &TokenStream) -> TokenStream {
    if let Some(primitive) = &emitter.program.block(region.head).primitive {
        return primitive_call::block(emitter, region, primitive, enter);
    }
    let rt = &emitter.rt;
    let point = emitter.point(region.head);
    let strip = emitter.width.strip;
    let word = &emitter.word;
    let (i, at, here, stay) = (name("__i"), name("__at"), here(), name("__stay"));
    let l = lane();
    let touched = region.touched();
    let guard = |v: &VarId| numbered("loan", v.0);
    let open = touched.iter().map(|v| {
        let (guard, home) = (guard(v), column(emitter.column_of(*v)));
        let mode = if region.outs.contains(v) { quote!(edit) } else { quote!(read) };
        quote!(let #guard = #rt::LaneColumn::#mode::<#strip>(&mut #home, #at);)
    });
    // A loop with one way out: what nobody needs behind it may run on with junk in lanes that have left.
    let interchanged = interchange(emitter, region, Engine::Machine);
    let way_out = region.way_out.filter(|_| region.again && interchanged.is_none());
    let fades = |v: &VarId| way_out.is_some() && region.outs.contains(v) && !region.live_out.contains(v);
    let (was, rows) = (name("__was"), interchanged.is_some());
    let stores = region::stores();
    let plainly_stored = if region.again && !rows { region.plainly_stored.clone() } else { VarSet::new() };
    let lanes = touched.iter().map(|v| {
        let (strip_ident, guard) = (column(*v), guard(v));
        if region.lent.contains(v) {
            return quote!(let mut #guard = #guard.open_states(&#was); let #strip_ident = &mut #rt::StateStrip::lanes(&mut #guard););
        }
        if plainly_stored.contains(v) {
            return quote!(let mut #guard = #guard.open_where(&#was); let #strip_ident = #rt::Partial::known_lanes(&mut #guard, #stores););
        }
        let (open, lanes) = match rows {
            true => (quote!(open_rows()), quote!(Local::<_, _, _, false>::lanes)),
            false if fades(v) => (quote!(open_where(&#was)), quote!(Partial::lanes)),
            false => (quote!(open()), quote!(Local::<_, _, _, true>::lanes)),
        };
        quote!(let mut #guard = #guard.#open; let #strip_ident = #rt::#lanes(&mut #guard);)
    });
    let (chooser, make_stores) = match (region.again, plainly_stored.is_empty()) {
        (true, false) => (Chooser::BranchesOfKnownBits, Some(region::make_stores(emitter))),
        (true, true) => (Chooser::Branches, None),
        (false, _) => (Chooser::Value, None),
    };
    let uniforms = uniforms(emitter, region);
    let round = region::round(emitter, region, chooser, fades, &quote!(#(#uniforms)*), &quote!(#stay));
    let (words, next) = (name("__strip"), next());
    let (run, points) = match (way_out, region.again) {
        (Some(exit), _) => (quote!(repeat_until), quote!(&#was, #exit)),
        (None, true) => (quote!(repeat), quote!(#point)),
        (None, false) => (quote!(once), quote!(#point)),
    };
    let needs_was = way_out.is_some() || !region.lent.is_empty() || !plainly_stored.is_empty();
    let was = needs_was.then(|| quote!(let #was = #rt::LaneWords::at(&#words, #point);));
    let find = quote!(let mut #words = #rt::Core::open::<#word, #strip>(__core, #i););
    // Each body has one instance per instruction set, which only inlined code inherits.
    let run = quote! {
        #rt::LaneWords::#run(&mut #words, #points, #[inline(always)] |#l: usize, #here: bool, #stay: #word| {
            #enter
            #round
            #rt::next(#next)
        });
    };
    let (before, run) = match interchanged {
        None => (quote!(), quote!(#make_stores #find #was #(#lanes)* #run)),
        Some(Interchanged { left, transpose, rows, strips, check, code, next, returns, counts_turns }) => {
            debug_assert!(!counts_turns, "the machine has blocks in the place of such loops");
            let next = emitter.point_at(next);
            let arrive = match returns {
                None => quote!(#rt::Core::arrive::<#word, #strip>(__core, #i, #point, #next);),
                Some((exit, unreturned)) => {
                    let exit = emitter.point_at(exit);
                    quote!(#rt::Core::arrive_or_return::<#word, #strip>(__core, #i, #point, #next, #exit, &#unreturned);)
                }
            };
            let none = quote!(::core::option::Option::None);
            let (names, rows): (Vec<Ident>, Vec<TokenStream>) = rows.into_iter().unzip();
            let run = quote! {
                #(#lanes)*
                #(#uniforms)*
                #strips
                match if #check { #rt::Core::begin_interchange::<#word, #strip>(__core, #i, #point) } else { #none } {
                    #none => { #find #run }
                    ::core::option::Option::Some(#here) => {
                        #transpose
                        #(let #names = #rows;)*
                        #code
                        #arrive
                    }
                }
            };
            let left = left.into_values();
            (quote!(#(#left)*), run)
        }
    };
    quote! {
        #rt::Step::Block(#point) => {
            #before
            for #i in 0..#rt::Core::strips(__core) {
                let #at = #rt::Core::strip(__core, #i);
                #(#open)*
                #run
            }
        },
    }
}

/// Routes the lanes that wait at a call.
fn call(emitter: &Emitter<'_>, call: &Call) -> TokenStream {
    let rt = &emitter.rt;
    let index = emitter.call_index(call.id);
    let route = name("__transfer");
    let saves = [("push", &call.pushes), ("update", &call.updates), ("keep", &call.keeps)];
    let saves =
        saves.into_iter().flat_map(|(way, vars)| vars.iter().map(move |v| (format_ident!("{way}"), v)));
    let saves = saves.map(|(way, v)| {
        let (stack, column) = (stack(*v), column(*v));
        quote!(#rt::Transfer::#way(&#route, &mut #stack, &#column);)
    });
    // Passes happen one after the other: a parameter that a later pass still reads is lifted first.
    let params = &emitter.program.func(call.callee).params;
    let moves: Vec<(&VarId, &VarId)> =
        params.iter().zip(&call.args).filter(|(p, _)| emitter.has_column(**p)).collect();
    let mut passes = Vec::new();
    let mut lands = Vec::new();
    for (n, (param, arg)) in moves.iter().enumerate() {
        let (to, from) = (column(**param), column(emitter.column_of(**arg)));
        if param == arg {
            passes.push(quote!(#rt::Transfer::pass_same(&#route, &mut #to);));
        } else if moves[n + 1..].iter().any(|(_, later)| later == param) {
            let lifted = format_ident!("__lifted{}", n, span = Span::mixed_site());
            passes.push(quote!(let #lifted = #rt::Transfer::lift(&#route, &#from);));
            lands.push(quote!(#rt::Transfer::land(&#route, &mut #to, #lifted);));
        } else {
            passes.push(quote!(#rt::Transfer::pass(&#route, &mut #to, &#from);));
        }
    }
    // Memory may be refused: nothing has moved then.
    let saved = call.pushes.iter().map(|v| {
        let stack = stack(*v);
        quote!(#rt::Transfer::make_room(&#route, &mut #stack);)
    });
    let passed = moves.iter().map(|(param, _)| {
        let column = column(**param);
        quote!(#rt::Transfer::make_room_to_pass(&#route, &mut #column);)
    });
    let given = column(emitter.column_of(call.dest));
    let code = quote! {
        let #route = #rt::Core::transfer(__core);
        #(#saved)*
        #(#passed)*
        #rt::Transfer::make_room_to_give(&#route, &mut #given);
        #(#saves)*
        #(#passes)*
        #(#lands)*
    };
    let code = out_of_line(emitter, &code);
    quote!(#rt::Step::Call(#index) => #code)
}

/// Routes lanes that come back from a call.
fn return_(emitter: &Emitter<'_>, call: &Call) -> TokenStream {
    let rt = &emitter.rt;
    let index = emitter.call_index(call.id);
    let route = name("__transfer");
    let result = emitter.column_of(emitter.program.func(call.callee).result);
    let dest = emitter.column_of(call.dest);
    let give = if result == dest {
        let column = column(dest);
        quote!(#rt::Transfer::give_same(&#route, &mut #column);)
    } else {
        let (dest, result) = (column(dest), column(result));
        quote!(#rt::Transfer::give(&#route, &mut #dest, &#result);)
    };
    let cont = emitter.program.block(call.cont);
    let pops = cont.pops.iter().map(|v| {
        let (stack, column) = (stack(*v), column(*v));
        quote!(#rt::Transfer::pop(&#route, &mut #stack, &mut #column);)
    });
    let reads = cont.reads.iter().map(|v| {
        let (stack, column) = (stack(*v), column(*v));
        quote!(#rt::Transfer::peek(&#route, &#stack, &mut #column);)
    });
    let code = quote! {
        let #route = #rt::Core::transfer(__core);
        #give
        #(#pops)*
        #(#reads)*
    };
    let code = out_of_line(emitter, &code);
    quote!(#rt::Step::Return(#index) => #code)
}

/// Panics, which is a compile error, if anything is taken at a point that [`abandon`] does not list there.
fn assert_listed(emitter: &Emitter<'_>, regions: &[Region]) {
    let columns = |vars: &mut dyn Iterator<Item = &VarId>| -> VarSet {
        vars.filter(|v| emitter.has_column(**v)).map(|v| emitter.column_of(*v)).collect()
    };
    let taken_at =
        |head: BlockId| regions.iter().find(|r| r.head == head).map(|r| columns(&mut r.takes.iter()));
    for region in regions {
        let (taken, listed) =
            (columns(&mut region.takes.iter()), columns(&mut emitter.live_at(region.head).iter()));
        assert!(taken.is_subset(&listed), "{}: {taken:?} of {listed:?}", region.head);
    }
    for (block, call) in &emitter.calls {
        let listed = columns(&mut emitter.live_at_call(call).iter());
        let passed = columns(&mut call.args.iter().chain(&call.pushes).chain(&call.updates));
        assert!(passed.is_subset(&listed), "{block}: {passed:?} of {listed:?}");
        // Behind the call there is its result too.
        let saved = call.pushes.iter().chain(&call.updates).chain(&call.keeps);
        let mut listed = columns(&mut emitter.live_across(call).iter().chain(saved));
        listed.extend(columns(&mut std::iter::once(&call.dest)));
        let taken = taken_at(call.cont).unwrap_or_default();
        assert!(taken.is_subset(&listed), "{}: {taken:?} of {listed:?}", call.cont);
    }
}

/// Drops what dead members owned: at every point exactly the live columns hold values. Members that leave their frames take the same
/// with them. So what is taken behind a point must be among it, or a slot would be read that nobody has filled: [`assert_listed`].
fn abandon(emitter: &Emitter<'_>, regions: &[Region]) -> TokenStream {
    let rt = &emitter.rt;
    assert_listed(emitter, regions);
    let gone = name("__gone");
    let discard = |vars: &VarSet| {
        let columns: VarSet =
            vars.iter().filter(|v| emitter.has_column(**v)).map(|v| emitter.column_of(*v)).collect();
        // As scopes do: what was declared last goes first, as it may borrow from what came before.
        let columns = columns.iter().rev().map(|v| column(*v));
        quote!(#(#rt::Gone::discard(&#gone, &mut #columns);)*)
    };
    let forget = |v: &VarId| {
        let (column, stack) = (column(*v), stack(*v));
        quote!(#rt::Gone::forget_saved(&#gone, &#column, &mut #stack);)
    };
    // What a continuation has read from its stack and left there is in the column too.
    let left_behind = |r: &Region| {
        let left = emitter.program.block(r.head).reads.iter().map(forget);
        quote!(#(#left)*)
    };
    let at_blocks = regions.iter().map(|r| {
        let point = emitter.point(r.head);
        let (drops, left) = (discard(&emitter.live_at(r.head)), left_behind(r));
        quote!(#rt::UnwindPoint::At(#point) => { #drops #left })
    });
    let ran = regions.iter().map(|r| {
        let point = emitter.point(r.head);
        let mut live = emitter.live_at(r.head);
        live.retain(|v| !r.takes.contains(v));
        let (drops, left) = (discard(&live), left_behind(r));
        quote!(#rt::UnwindPoint::Ran(#point) => { #drops #left })
    });
    // The kernel has failed: its arguments were gathered, its result never came.
    let gathered = regions.iter().filter_map(|r| {
        let block = emitter.program.block(r.head);
        let primitive = block.primitive.as_ref()?;
        let mut live = primitive_call::live_behind(emitter, r.head);
        live.remove(&primitive.dest);
        let (point, drops) = (emitter.point(r.head), discard(&live));
        Some(quote!(#rt::UnwindPoint::Gathered(#point) => { #drops }))
    });
    let at_calls = emitter.calls.iter().map(|(_, call)| {
        let point = emitter.call_point(call.id);
        let drops = discard(&emitter.live_at_call(call));
        let left = call.updates.iter().chain(&call.keeps).map(forget);
        quote!(#rt::UnwindPoint::At(#point) => { #drops #(#left)* })
    });
    let calling = emitter.calls.iter().map(|(_, call)| {
        let index = emitter.call_index(call.id);
        let saved: VarSet = call.pushes.iter().chain(&call.updates).chain(&call.keeps).copied().collect();
        let all = &emitter.live_across(call) | &saved;
        let drops = all.iter().rev().map(|v| match saved.contains(v) {
            true => {
                let (column, stack) = (column(*v), stack(*v));
                quote!(#rt::Gone::discard_saved(&#gone, &mut #column, &mut #stack);)
            }
            false => discard(&VarSet::from([*v])),
        });
        quote!(#rt::UnwindPoint::Calling(#index) => { #(#drops)* })
    });
    let results = emitter.program.functions.iter().map(|f| (emitter.group_index(f.group), f.result));
    let results: BTreeMap<usize, VarId> = results.collect();
    let at_returns = results.values().map(|result| {
        let function = emitter.program.var(*result).func;
        let (point, column) = (emitter.return_point(function), column(emitter.column_of(*result)));
        quote!(#rt::UnwindPoint::At(#point) => { #rt::Gone::discard(&#gone, &mut #column); })
    });
    quote! {
        for #gone in #rt::Core::abandoned(__core) {
            match #gone.unwind_point {
                #(#at_blocks)*
                #(#at_calls)*
                #(#at_returns)*
                #(#ran)*
                #(#gathered)*
                #(#calling)*
                _ => {}
            }
        }
    }
}
