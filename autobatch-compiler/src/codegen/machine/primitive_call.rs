//! The code of a block that calls a primitive: one call of the batched kernel for all lanes that wait there.
//!
//! ```text
//! Step::Block(7) => {
//!     let mut results = gradient::__batched(core.waiting(7), |push| {
//!         for i in 0..core.strips() {
//!             …                                            // the strips of the columns, as for `once`
//!             for l in core.lanes::<u32, W>(i, 7) {
//!                 let z = z_.take(l, &z_.bits(l));
//!                 push(model, &z.q);                       // the user's arguments; copies what is per member
//!                 z_.keep(l, z);                           // if it is live behind the call, else it drops here
//!             }
//!         }
//!     });
//!     for i in 0..core.strips() {
//!         …
//!         for l in core.lanes::<u32, W>(i, 7) {
//!             match results.next() {                       // in the same order
//!                 Ok(value) => { let new = g_.leave(l, value); g_.settle(l, new) }
//!                 Err(message) => core.fail(i, l, 7, &message),
//!             }
//!         }
//!         core.arrive::<u32, W>(i, 7, 8);
//!     }
//! },
//! ```
//!
//! Where the call has `&mut` arguments, `&mut z.grad`, what they refer to stays in its column, and the second loop takes
//! it again: `results.next_into((&mut z.grad,))` hands back what the kernel has left.
//!
//! `gradient::__batched` is what `#[primitive]` has made of the function's signature (see
//! [`crate::codegen::batched_primitive`]). Nothing in the first loop can unwind (see `lower/primitive.rs`).

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, PathArguments};

use crate::codegen::emitter::Emitter;
use crate::codegen::names::name;
use crate::codegen::region::{Region, column, lane, uniforms};
use crate::ir::{BlockId, Primitive, Terminator, VarId, VarSet};
use crate::syntax::mentions::root;

/// Variables that hold a value behind the block.
pub(crate) fn live_behind(emitter: &Emitter<'_>, block: BlockId) -> VarSet {
    match emitter.program.block(block).term {
        Terminator::Jump(target) => emitter.live_at(target),
        _ => unreachable!("a primitive ends in a jump"),
    }
}

/// The arm of the block.
pub(crate) fn block(
    emitter: &Emitter<'_>,
    region: &Region,
    primitive: &Primitive,
    enter: &TokenStream,
) -> TokenStream {
    let (rt, word, width) = (&emitter.rt, &emitter.word, emitter.width.strip);
    let program = emitter.program;
    let block = program.block(region.head);
    let Terminator::Jump(target) = block.term else { unreachable!("a primitive ends in a jump") };
    let next = emitter.point_at(target);
    let point = emitter.point(region.head);
    let (i, l, at, push) = (name("__i"), lane(), name("__at"), name("__push"));
    let live = live_behind(emitter, region.head);

    let open = |v: &VarId| {
        let (column, home) = (column(*v), column(emitter.column_of(*v)));
        let guard = format_ident!("__loan{}", v.0, span = Span::mixed_site());
        quote! {
            let #guard = #rt::LaneColumn::edit::<#width>(&mut #home, #at);
            let mut #guard = #guard.open_rows();
            let #column = #rt::Local::<_, _, _, false>::lanes(&mut #guard);
        }
    };
    let opened = region.takes.iter().map(open);
    let places: Vec<&Expr> = primitive.call.args.iter().filter(|arg| changes(arg).is_some()).collect();
    let changed: Vec<VarId> = (region.takes.iter().copied())
        .filter(|v| places.iter().any(|place| changes(place) == Some(&program.var(*v).ident)))
        .collect();
    let take = |v: &VarId| {
        let (column, ident) = (column(*v), &program.var(*v).ident);
        // A local that is a `&mut` itself need not be `mut`.
        let (allow, mutable) = match changed.contains(v) {
            true => (quote!(#[allow(unused_mut)]), quote!(mut)),
            false => (TokenStream::new(), TokenStream::new()),
        };
        quote!(#allow let #mutable #ident = #rt::Slots::take(&*#column, #l, &#rt::Slots::bits(&*#column, #l));)
    };
    let takes = region.takes.iter().map(take);
    let keeps = region.takes.iter().filter(|v| live.contains(v) || changed.contains(v)).map(|v| {
        let (column, ident) = (column(*v), &program.var(*v).ident);
        quote!(#rt::Slots::keep(&mut *#column, #l, #ident);)
    });
    let uniforms = uniforms(emitter, region);
    // Locals computed from shared values stand before the call (see `passes::rematerialise`).
    let before = block.ops[..block.ops.len() - 1].iter().flat_map(|op| &op.code);
    let args = &primitive.call.args;
    let kernel = kernel(&primitive.call.func);

    let leave = |v: &VarId| {
        let (column, ident, new) = (column(*v), &program.var(*v).ident, name("__new"));
        quote! {
            let #new = #rt::Slots::leave(&mut *#column, #l, #ident);
            #rt::Slots::settle(&mut *#column, #l, #new);
        }
    };
    let has_result = live.contains(&primitive.dest) && emitter.has_column(primitive.dest);
    let result = has_result.then(|| leave(&primitive.dest));
    let open_result = result.is_some().then(|| open(&primitive.dest));
    let open_changed = changed.iter().map(open);
    let take_changed = changed.iter().map(take);
    let leave_changed = changed.iter().filter(|v| live.contains(v)).map(leave);
    // Errors about what the call changes stand at the call; where it shows no change, at the argument that may be one.
    let results = name("__results");
    let next_result = match places.is_empty() {
        true => {
            let variable = args.iter().find(|arg| matches!(arg, Expr::Path(_)));
            let span = variable.map_or(primitive.call.span(), |arg| arg.span());
            let rt = respanned(rt.clone(), span);
            let here = Ident::new("__results_here", span);
            quote_spanned!(span=> { let #here = &mut #results; #rt::primitive::Results::next(#here) })
        }
        false => {
            let asked = Ident::new("__results", Span::mixed_site().located_at(primitive.call.span()));
            quote_spanned!(primitive.call.span()=> (&mut #asked).next_into((#(#places,)*)))
        }
    };
    let (dest, ty) = (&program.var(primitive.dest).ident, primitive.ty.as_ref().map(|ty| quote!(: #ty)));
    let (value, message) = (name("__value"), name("__message"));
    quote! {
        #rt::Step::Block(#point) => {
            let mut #results = #kernel(#rt::Core::waiting::<#word, #width>(__core, #point), #[inline(always)] |#push| {
                #enter
                for #i in 0..#rt::Core::strips(__core) {
                    let #at = #rt::Core::strip(__core, #i);
                    #(#opened)*
                    for #l in #rt::Core::lanes::<#word, #width>(__core, #i, #point) {
                        #(#takes)*
                        #(#uniforms)*
                        #(#before)*
                        #push(#args);
                        #(#keeps)*
                    }
                }
            });
            for #i in 0..#rt::Core::strips(__core) {
                let #at = #rt::Core::strip(__core, #i);
                #open_result
                #(#open_changed)*
                for #l in #rt::Core::lanes::<#word, #width>(__core, #i, #point) {
                    #(#take_changed)*
                    let #value = #next_result;
                    #(#leave_changed)*
                    match #value {
                        ::core::result::Result::Ok(#value) => {
                            let #dest #ty = #value;
                            #result
                        }
                        ::core::result::Result::Err(#message) => #rt::Core::fail(__core, #i, #l, #point, &#message),
                    }
                }
                #rt::Core::arrive::<#word, #width>(__core, #i, #point, #next);
            }
        },
    }
}

/// Tokens as if they stood elsewhere.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = |mut tree: TokenTree| {
        tree.set_span(span);
        tree
    };
    tokens.into_iter().map(respanned).collect()
}

/// The variable that a `&mut` argument changes, itself or a part of it.
fn changes(arg: &Expr) -> Option<&Ident> {
    match arg {
        Expr::Reference(e) if e.mutability.is_some() => match root(&e.expr)? {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    }
}

/// `models::gradient::<M>` to `models::gradient::__batched::<M>`.
fn kernel(function: &Expr) -> TokenStream {
    let Expr::Path(path) = function else { unreachable!("a primitive is called by its path") };
    let mut path = path.path.clone();
    let last = path.segments.last_mut().expect("a path has a segment");
    let arguments = std::mem::replace(&mut last.arguments, PathArguments::None);
    let batched = Ident::new(crate::codegen::batched_primitive::BATCHED, last.ident.span());
    quote!(#path::#batched #arguments)
}
