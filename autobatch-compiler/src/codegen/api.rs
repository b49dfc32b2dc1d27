//! The functions users call: `f_batched`, `f_batched_into`, `f_batched_with`, `f_batched::program()`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{GenericParam, Generics, Lifetime, Token, Type, Visibility, parse_quote};

use crate::admission::purity::{self, Step};
use crate::codegen::instruction_sets::{VARIANTS, instances};
use crate::codegen::named_lifetimes::Named;
use crate::codegen::names::{Family, name, scalar_path, turbofish_of_clone};
use crate::codegen::parts::{Machine, VectorCode};
use crate::codegen::repeatable::hidden_copy;
use crate::codegen::send_check::{self, Door};
use crate::item::model::{Function, Param, Passing};
use crate::std_models::pure;
use crate::syntax::arguments::Args;
use crate::syntax::attributes::{self, GENERATED};
use crate::syntax::call_sites::unmark;
use crate::syntax::impl_trait;
use crate::syntax::mentions::is_type;
use crate::syntax::turbofish::turbofish;

/// The `where` clause with `Send + Sync` for every type parameter: members run on several threads. What they only share need not be
/// `Send`. States stand in a slice.
fn where_clause(named: &Named, outer: &Generics) -> syn::WhereClause {
    let generics = &named.generics;
    let mut clause = generics.where_clause.clone().unwrap_or_else(|| parse_quote!(where));
    for param in generics.type_params().chain(outer.type_params()) {
        let ident = &param.ident;
        let sends = (!is_shared(named, ident)).then(|| quote!(::core::marker::Send+));
        clause.predicates.push(parse_quote!(#ident: #sends ::core::marker::Sync));
        let is_state = |p: &Param| p.state().is_some_and(|ty| is_type(ty, ident));
        if named.params.iter().any(is_state) {
            clause.predicates.push(parse_quote!(#ident: ::core::marker::Sized));
        }
    }
    clause.predicates.extend(send_check::bounds(named, outer));
    clause
}

/// Whether values of a type parameter stand behind references that all members share, and nowhere else.
fn is_shared(named: &Named, ident: &Ident) -> bool {
    let mentions = |tokens: TokenStream| crate::syntax::macro_tokens::mentions(tokens, &|word| ident == word);
    let behind = |ty: &Type| match ty {
        Type::Reference(r) if r.mutability.is_none() => match &*r.elem {
            Type::Slice(s) => is_type(&s.elem, ident),
            ty => is_type(ty, ident),
        },
        _ => false,
    };
    let (shared, others): (Vec<_>, Vec<_>) =
        named.params.iter().partition(|p| p.passing == Passing::Shared && behind(&p.ty));
    !shared.is_empty()
        && !mentions(named.output.to_token_stream())
        && !others.iter().any(|p| mentions(p.ty.to_token_stream()))
}

/// Generates the family of one function.
pub(crate) fn family(machine: &Machine<'_>, args: &Args) -> TokenStream {
    let function = machine.function;
    let krate = &args.krate;
    let rt = quote!(#krate::__rt);
    let names = Family::new(function, args);
    let named = Named::new(function);
    let (Family { batched, into, with, program, body, .. }, scalar) = (&names, &function.sig.ident);
    let vis = &function.vis;
    let (generics, output) = (&named.generics, &named.output);
    let inner = Inner::of(machine, &named, krate);
    let Inner { generic_params, where_clause, this, fish, .. } = &inner;
    let mut params = named.params.clone();
    for (i, param) in params.iter_mut().enumerate() {
        if param.ident == *scalar {
            // It would hide the function.
            param.ident = format_ident!("{}_", param.ident);
        } else if let Some(shown) = shown_in_docs(param, i) {
            param.ident = shown;
        }
    }
    // A shared receiver stays one: `tree.predict_batched(x)`.
    let method = params.first().is_some_and(|p| p.shown == "self" && p.passing == Passing::Shared);
    let receiver = method.then(|| {
        let ident = &params[0].ident;
        quote!(let #ident = self;)
    });
    let idents: Vec<TokenStream> = (params.iter().enumerate())
        .map(|(i, p)| {
            let ident = &p.ident;
            if i == 0 && method { quote!(self) } else { quote!(#ident) }
        })
        .collect();
    let inputs: Vec<TokenStream> = params.iter().map(|p| batched_param(p, krate)).collect();
    let Door { checks, question, run: door, states } = Door::of(function, &named, &rt);
    let sources = params.iter().filter_map(|p| source(p, &states, &rt));
    let lens = params.iter().filter(|p| p.passing != Passing::Shared).map(|p| {
        let (ident, shown) = (&p.ident, &p.shown);
        quote!((#shown, #rt::Source::len(&#ident)))
    });
    let lens = quote!(&[#(#lens),*]);
    let gets = params.iter().map(|p| {
        let ident = &p.ident;
        match p.passing {
            Passing::Shared => quote!(#ident),
            _ => quote!(#rt::Source::get(&#ident, __member)),
        }
    });
    let defaults = defaults(args, machine.native_depth, &rt, krate);
    let passed: Vec<TokenStream> = params
        .iter()
        .map(|p| {
            let ident = &p.ident;
            if p.passing == Passing::Shared { quote!(#ident) } else { quote!(&#ident) }
        })
        .collect();
    let gets: Vec<TokenStream> = gets.collect();
    let run_clone = |clone: &TokenStream| {
        let fish = turbofish_of_clone(function, generics, clone);
        quote!(|__member: usize, __depth: #rt::Depth| #clone #fish(#(#gets,)* __depth))
    };
    let run_counted = match &machine.counted {
        Some(clone) => {
            let run = run_clone(clone);
            quote!(::core::option::Option::Some(#run))
        }
        None => quote!(::core::option::Option::None::<fn(usize, #rt::Depth) -> _>),
    };
    let run_scalar = match &machine.clone {
        Some(clone) => run_clone(clone),
        None => {
            let (this, name) = match has_fewer_bounds(function) {
                true => (quote!(Self::), own_ident(function)),
                false => (scalar_path(function), scalar.clone()),
            };
            let fish = turbofish(&impl_trait::written(generics));
            quote!(|__member: usize, _: #rt::Depth| #this #name #fish(#(#gets),*))
        }
    };
    let own = has_fewer_bounds(function).then(|| own(function));
    let bodies = machine.body.as_ref().map(|code| bodies(code, &names, &named, &inner));
    let [base, avx2, avx512] = &instances(body);
    let tile = if machine.body.is_some() {
        quote!(|__core: &mut #rt::Core<'_>, __store: &#rt::Store, __out: &#rt::Out<'_, #output>| {
            #[cfg(target_arch = "x86_64")]
            #rt::Core::dispatch(__core, __store, (#(#passed,)* __out, ::core::marker::PhantomData), #this #base #fish, #this #avx2 #fish, #this #avx512 #fish);
            #[cfg(not(target_arch = "x86_64"))]
            #this #base #fish(__core, __store, (#(#passed,)* __out, ::core::marker::PhantomData));
        })
    } else {
        quote!(|_: &mut #rt::Core<'_>, _: &#rt::Store, _: &#rt::Out<'_, #output>| {})
    };
    let vector = match &machine.vector {
        Some(code) if !code.variants.is_empty() => {
            let [base, avx2, avx512] = &instances(&names.vector);
            let of_sse2 = match code.short {
                true => quote!(::core::option::Option::Some(#this #base #fish)),
                false => quote!(::core::option::Option::None),
            };
            quote!(|__tile: &mut #rt::vector::Tile<'_>, __out: &#rt::Out<'_, #output>| {
                #[cfg(target_arch = "x86_64")]
                #rt::vector::Tile::dispatch(__tile, (#(#passed,)* __out, ::core::marker::PhantomData), #of_sse2, #this #avx2 #fish, #this #avx512 #fish);
                #[cfg(not(target_arch = "x86_64"))]
                #this #base #fish(__tile, (#(#passed,)* __out, ::core::marker::PhantomData));
            })
        }
        _ => quote!(|_: &mut #rt::vector::Tile<'_>, _: &#rt::Out<'_, #output>| {}),
    };
    let vector_lanes = machine.vector.as_ref().map_or(quote!(0), |code| {
        let (begin, lanes) = (&machine.begin, lanes(code, &params, &rt));
        quote!({ #begin #lanes })
    });
    let steps = machine.steps;
    let wavefront = machine.vector.as_ref().is_some_and(|code| code.wavefront);
    let task_blocks = machine.vector.as_ref().is_some_and(|code| code.task_blocks);
    let has_states = function.states().next().is_some();
    let vectors = match &machine.vector {
        Some(code) if code.short => quote!(All),
        Some(code) if !code.variants.is_empty() => quote!(Long),
        _ => quote!(None),
    };
    let vector_functions = machine.vector.as_ref().map(|code| vector_functions(code, &names, &inner));
    let program_path =
        if function.associated { quote!(Self::#program()) } else { quote!(#batched::program()) };
    let program_item = program_item(machine, &names);
    let (doc, doc_into, doc_with) = docs(function, &names);
    let (told, must_use) = (attributes::for_callers(&function.attrs), attributes::must_use(&function.attrs));
    let common = quote! {
        #(#told)*
        #[allow(deprecated, dead_code, private_bounds, rustdoc::all, clippy::all, clippy::pedantic)]
    };
    // Users read them in the documentation; a parameter of that name is another one.
    let (options, out) = (name("options"), name("out"));
    let span = scalar.span();
    // Hygiene: the names belong where they are used, also if a macro has made the function.
    let run = quote_spanned!(span=>
        #receiver
        #question
        #(#sources)*
        let __vector_lanes = #vector_lanes;
        let __ways =
            #rt::Ways { scalar: #run_scalar, counted: #run_counted, steps: #steps, machine: #tile, vector: #vector, vector_lanes: __vector_lanes, vectors: #rt::Vectors::#vectors, wavefront: #wavefront, task_blocks: #task_blocks, states: #has_states };
    );
    quote_spanned! {span=>
        #[doc = #doc]
        #common
        #(#must_use)*
        #[track_caller]
        #vis fn #batched <#generic_params> (#(#inputs),*) -> ::std::vec::Vec<#output> #where_clause {
            #rt::unwrap(#this #with #fish(#(#idents,)* &<#krate::Options as ::core::default::Default>::default()))
        }

        #[doc = #doc_into]
        #common
        #[track_caller]
        #vis fn #into <#generic_params> (#(#inputs,)* #out: impl #krate::Output<#output>) #where_clause {
            let __run = move || -> ::core::result::Result<(), #krate::BatchError> {
                #run
                #door run_into(#program_path, #defaults, #lens, __ways, #out)
            };
            #rt::unwrap_unit(__run());
        }

        #[doc = #doc_with]
        #common
        #vis fn #with <#generic_params> (
            #(#inputs,)* #options: &#krate::Options
        ) -> ::core::result::Result<#krate::Outcome<#output>, #krate::BatchError> #where_clause {
            #checks
            #run
            #door run(#program_path, #defaults, #options, #lens, __ways)
        }

        #program_item
        #bodies
        #vector_functions
        #own
    }
}

/// A name for a parameter that has none of the user's. It stands in the documentation, and no code of the user's sees it.
fn shown_in_docs(param: &Param, index: usize) -> Option<Ident> {
    match param.pattern {
        _ if param.shown == "self" => Some(name("receivers")),
        Some(_) => Some(name(&format!("parameter_{}", index + 1))),
        None => None,
    }
}

/// Whether the function may be called with types that its trait's may not: an `impl` block may ask for less.
fn has_fewer_bounds(function: &Function) -> bool {
    function.implements.is_some() && function.sig.generics.type_params().next().is_some()
}

fn own_ident(function: &Function) -> Ident {
    format_ident!("__autobatch_own_{}", function.sig.ident, span = function.sig.ident.span())
}

/// The function as one of the type's own.
fn own(function: &Function) -> TokenStream {
    let (mut sig, mut body) = (function.sig.clone(), function.written.clone());
    sig.ident = own_ident(function);
    unmark(&mut body);
    hidden_copy(&function.attrs, &sig, &body)
}

/// The lanes of a tile in vector frames by default; 0 if not all is primitive.
fn lanes(code: &VectorCode, params: &[Param], rt: &TokenStream) -> TokenStream {
    // Of a type with the name of a number, too.
    let by_name = code.types.iter().filter(|ty| pure::is_primitive(ty));
    let types = code
        .pure
        .types
        .iter()
        .chain(&code.pure.fields)
        .chain(by_name)
        .map(|ty| quote!(#rt::is_plain::<#ty>()));
    let leaves = code.pure.leaves.iter().map(|leaf| {
        let (value, at) = (&leaf.value, purity::index());
        if let Some((constant, steps)) = leaf.asked() {
            let steps = steps.iter().map(|step| match step {
                Step::Element => quote!(element),
                Step::Reference => quote!(reference),
                Step::Dereference => quote!(dereference),
            });
            return quote!({
                #[allow(unused_imports)]
                use #rt::NoList as _;
                #rt::shown(&#constant)#(.#steps())*.plain()
            });
        }
        match &leaf.root {
            Some((root, ty)) => {
                quote!(#rt::yields_plain(|(#root, #at): (#ty, usize)| #rt::shown(&#value)))
            }
            None => quote!(#rt::yields_plain(|#at: usize| #rt::shown(&#value))),
        }
    });
    let structures = &code.pure.structures;
    // What has been taken from a source must be there again for members that run as scalar code. States are not taken: they are copied.
    let is_taken = |p: &&Param| !matches!(p.passing, Passing::Shared | Passing::State);
    let sources = params.iter().filter(is_taken).map(|p| &p.ident);
    let (recursive, sizes) = (code.recursive, &code.types);
    quote! {
        #rt::vector::default_lanes(
            true #(&& #types)* #(&& !::core::mem::needs_drop::<#structures>())* #(&& #leaves)* #(&& #rt::Source::repeatable(&#sources))*,
            #recursive,
            0 #(+ ::core::mem::size_of::<#sizes>())*,
        )
    }
}

/// What the functions with the user's code have in common.
struct Inner<'a> {
    rt: TokenStream,
    generic_params: &'a Punctuated<GenericParam, Token![,]>,
    where_clause: syn::WhereClause,
    idents: Vec<&'a Ident>,
    /// The type of their arguments.
    args: TokenStream,
    carried: Vec<syn::Attribute>,
    /// How one calls another.
    this: TokenStream,
    fish: TokenStream,
    begin: &'a TokenStream,
}

impl<'a> Inner<'a> {
    fn of(machine: &'a Machine<'_>, named: &'a Named, krate: &syn::Path) -> Inner<'a> {
        let Machine { function, begin, .. } = machine;
        Inner {
            rt: quote!(#krate::__rt),
            generic_params: &named.generics.params,
            where_clause: where_clause(named, &function.outer),
            idents: named.params.iter().map(|p| &p.ident).collect(),
            args: arguments(named, krate),
            carried: attributes::lints_and_conditions(&function.attrs),
            this: if function.associated { quote!(Self::) } else { quote!() },
            fish: turbofish(&named.generics),
            begin,
        }
    }
}

/// The functions of vector frames.
fn vector_functions(code: &VectorCode, names: &Family, inner: &Inner<'_>) -> TokenStream {
    let Inner { rt, generic_params, where_clause, idents, args, carried, this, fish, begin } = inner;
    let names = instances(&names.vector);
    let all = code.variants.iter().zip(VARIANTS).zip(&names).map(|((variant, (_, features)), name)| {
        let features = match features {
            "" if code.short => quote!(),
            // There scalar code runs.
            "" => quote!(#[cfg(not(target_arch = "x86_64"))]),
            features => quote!(#[cfg(target_arch = "x86_64")] #[target_feature(enable = #features)]),
        };
        let attributes = quote! {
            #[doc(hidden)]
            #(#carried)*
            #GENERATED
            #features
        };
        let functions = variant.functions.iter().map(|(name, params, body)| {
            quote!(#attributes fn #name <#generic_params> (#params) #where_clause { #begin #body })
        });
        let tile = &variant.tile;
        let wavefront_name = format_ident!("{name}_wavefront");
        let wavefront = variant.wavefront.as_ref().map(|wavefront| {
            quote! {
                #attributes
                fn #wavefront_name <#generic_params> (
                    __tile: &mut #rt::vector::Tile<'_>,
                    __begin: #rt::wavefront::Begin<'_>,
                    __args: #args,
                ) #where_clause {
                    #begin
                    let (#(#idents,)* __out, _) = __args;
                    #wavefront
                }
            }
        });
        let enter = wavefront.as_ref().map(|_| {
            quote! {
                if let ::core::option::Option::Some(__begin) = #rt::vector::Tile::begin(__tile) {
                    return #this #wavefront_name #fish(__tile, __begin, __args);
                }
            }
        });
        quote! {
            #(#functions)*
            #wavefront
            #attributes
            fn #name <#generic_params> (__tile: &mut #rt::vector::Tile<'_>, __args: #args) #where_clause {
                #begin
                #enter
                let (#(#idents,)* __out, _) = __args;
                #tile
            }
        }
    });
    quote!(#(#all)*)
}

/// The type of the arguments of a body: sources, shared values, where results go, and the types of the parameters. A type in a signature
/// implies what outlives what in it; one in a bound, `impl Source<T>`, does not.
fn arguments(named: &Named, krate: &syn::Path) -> TokenStream {
    let param_types = named.params.iter().map(|p| &p.ty);
    let types = named.params.iter().map(|p| {
        let ty = &p.ty;
        match (p.passing, p.state()) {
            (Passing::Shared, _) => quote!(#ty),
            (_, Some(state)) => quote!(&(impl #krate::__rt::Source<#ty> + #krate::__rt::StateSource<#state>)),
            _ => quote!(&impl #krate::__rt::Source<#ty>),
        }
    });
    let output = &named.output;
    quote!((#(#types,)* &#krate::__rt::Out<'_, #output>, ::core::marker::PhantomData<(#(#param_types,)*)>))
}

/// The visibility one module further in.
fn inner_visibility(vis: &Visibility) -> Visibility {
    match vis {
        Visibility::Inherited => parse_quote!(pub(super)),
        Visibility::Restricted(r) => {
            let mut path = r.path.clone();
            match path.segments[0].ident.to_string().as_str() {
                "self" => path.segments[0].ident = Ident::new("super", Span::call_site()),
                "super" => path.segments.insert(0, parse_quote!(super)),
                _ => {}
            }
            parse_quote!(pub(in #path))
        }
        _ => vis.clone(),
    }
}

fn program_item(machine: &Machine<'_>, names: &Family) -> TokenStream {
    let Machine { function, krate, .. } = machine;
    let (vis, inner) = (&function.vis, inner_visibility(&function.vis));
    let carried = attributes::for_callers(&function.attrs);
    let (batched, program, init) = (&names.batched, &names.program, &machine.program);
    let doc =
        format!("The static program of `{batched}`: functions, blocks, variables and their storage classes.");
    let rest = quote! {
        () -> &'static #krate::Program {
            static PROGRAM: #krate::Program = #init;
            &PROGRAM
        }
    };
    if function.associated {
        return quote! {
            #[doc = #doc]
            #(#carried)*
            #[allow(dead_code, clippy::all, clippy::pedantic)]
            #vis fn #program #rest
        };
    }
    let doc_mod = format!("What the compiler made of `{}`.", function.sig.ident);
    quote! {
        #[doc = #doc_mod]
        #(#carried)*
        #vis mod #batched {
            #[doc = #doc]
            #[allow(dead_code, clippy::all, clippy::pedantic)]
            #inner fn program #rest
        }
    }
}

/// Names stand without links: a batched function shares its name with a module, and methods need a path.
fn docs(function: &Function, names: &Family) -> (String, String, String) {
    let (scalar, batched) = (&function.sig.ident, &names.batched);
    let summary = attributes::summary(&function.attrs);
    let summary = summary.map(|text| format!("\n\n`{scalar}`: {text}")).unwrap_or_default();
    (
        format!(
            "`{scalar}` for every member of a batch: one result per member, in order.{summary}\n\n# Panics\n\nWhere \
             `{scalar}` panics for a member, naming it, and when the columns do not fit together."
        ),
        format!(
            "`{batched}` into memory of the caller's.\n\n# Panics\n\nAs `{batched}`; also when the output has another \
             length."
        ),
        format!(
            "`{batched}` with every option, faults per member and the report of the run.\n\n# Errors\n\nWhat is \
             wrong with the call as a whole, such as columns of different lengths. Faults of single members are \
             part of the outcome."
        ),
    )
}

fn defaults(args: &Args, native_depth: bool, rt: &TokenStream, krate: &syn::Path) -> TokenStream {
    let fields = [
        native_depth.then(|| quote!(native_depth: true)),
        args.executor
            .as_ref()
            .map(|executor| quote!(executor: ::core::option::Option::Some(#krate::Executor::#executor))),
        args.schedule
            .as_ref()
            .map(|schedule| quote!(schedule: ::core::option::Option::Some(#krate::Schedule::#schedule))),
        args.lanes.as_ref().map(|lanes| quote!(lanes: ::core::option::Option::Some(#lanes))),
        args.max_depth.as_ref().map(|depth| quote!(max_depth: ::core::option::Option::Some(#depth))),
    ];
    let fields = fields.into_iter().flatten();
    quote!(#rt::Defaults { #(#fields,)* ..#rt::Defaults::NONE })
}

fn reference_parts(ty: &Type) -> (Option<Lifetime>, Type) {
    match ty {
        Type::Reference(r) => (r.lifetime.clone(), (*r.elem).clone()),
        other => (None, other.clone()),
    }
}

/// The parameter of the batched functions.
fn batched_param(p: &Param, krate: &syn::Path) -> TokenStream {
    let (ident, ty) = (&p.ident, &p.ty);
    match p.passing {
        Passing::Each => quote!(#ident: impl #krate::Column<#ty>),
        Passing::EachRef | Passing::EachMut => {
            let (lifetime, elem) = reference_parts(ty);
            let lifetime = lifetime.unwrap_or_else(|| parse_quote!('_));
            let each = if p.passing == Passing::EachMut { quote!(EachMut) } else { quote!(Each) };
            quote!(#ident: impl #krate::#each<#lifetime, #elem>)
        }
        Passing::Shared if p.shown == "self" => match ty {
            Type::Reference(r) if matches!(&*r.elem, Type::Path(t) if t.path.is_ident("Self")) => {
                let lifetime = &r.lifetime;
                quote!(&#lifetime self)
            }
            other => quote!(self: #other),
        },
        Passing::Shared => quote!(#ident: #ty),
        Passing::State => {
            let (lifetime, elem) = reference_parts(ty);
            quote!(#ident: &#lifetime mut [#elem])
        }
    }
}

/// Turns the argument into a source of members.
pub(crate) fn source(p: &Param, states: &TokenStream, rt: &TokenStream) -> Option<TokenStream> {
    let (ident, shown) = (&p.ident, &p.shown);
    Some(match p.passing {
        Passing::Shared => return None,
        Passing::Each => {
            let ty = &p.ty;
            quote! {
                let #ident = {
                    #[allow(unused_imports)]
                    use #rt::MovedValues as _;
                    #rt::Values::<#ty>::new().handed_out_by(#rt::Column::into_source(#ident, #shown)?)
                };
            }
        }
        Passing::EachRef => quote!(let #ident = #rt::Each::into_source(#ident, #shown)?;),
        Passing::State => quote!(let #ident = #states(#ident);),
        Passing::EachMut => quote!(let #ident = #rt::EachMut::into_source(#ident, #shown)?;),
    })
}

/// The machine code, once per instruction set.
fn bodies(code: &TokenStream, names: &Family, named: &Named, inner: &Inner<'_>) -> TokenStream {
    let Inner { rt, generic_params, where_clause, idents, args, carried, this, fish, begin } = inner;
    let base = &names.body;
    let params = quote!(__core: &mut #rt::Core<'_>, __store: &#rt::Store, __args: #args);
    // Of a reference that is a parameter LLVM knows what it may read at any time, under no condition.
    let shared = named.params.iter().filter(|p| p.passing == Passing::Shared);
    let shared: Vec<_> = shared.filter(|p| matches!(p.ty, Type::Reference(_))).collect();
    let lent: Vec<&Ident> = shared.iter().map(|p| &p.ident).collect();
    let types: Vec<&Type> = shared.iter().map(|p| &p.ty).collect();
    let kept: Vec<TokenStream> =
        idents.iter().map(|ident| if lent.contains(ident) { quote!(_) } else { quote!(#ident) }).collect();
    let wrappers = instances(base).into_iter().zip(VARIANTS).skip(1).map(|(name, (_, features))| {
        let attributes = quote! {
            #[doc(hidden)]
            #(#carried)*
            #[allow(deprecated, clippy::all, clippy::pedantic)]
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = #features)]
        };
        if lent.is_empty() {
            return quote! {
                #attributes
                fn #name <#generic_params> (#params) #where_clause { #this #base #fish(__core, __store, __args); }
            };
        }
        let inside = format_ident!("{name}_lent");
        quote! {
            #attributes
            fn #name <#generic_params> (#params) #where_clause {
                let (#(#idents,)* __out, __types) = __args;
                #this #inside #fish(__core, __store, #(#lent,)* (#(#idents,)* __out, __types));
            }
            #attributes
            #[inline(never)]
            fn #inside <#generic_params> (__core: &mut #rt::Core<'_>, __store: &#rt::Store, #(#lent: #types,)* __args: #args) #where_clause {
                let (#(#kept,)* __out, __types) = __args;
                #this #base #fish(__core, __store, (#(#idents,)* __out, __types));
            }
        }
    });
    quote! {
        #[doc(hidden)]
        #[inline(always)]
        #(#carried)*
        #GENERATED
        fn #base <#generic_params> (#params) #where_clause {
            #begin
            let (#(#idents,)* __out, _) = __args;
            #code
        }
        #(#wrappers)*
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{FnArg, Item, Visibility};

    #[test]
    fn parameters_have_names_that_read_well_in_documentation() {
        let item = quote! {
            pub fn f((a, b): (f64, f64), _: u32, f: u32, x: &[f64], s: &mut f64, g: impl Fn(f64) -> f64) -> f64 { a + b }
        };
        let file: syn::File = syn::parse2(crate::autobatch(quote!(), item)).unwrap();
        let mut families = 0;
        for item in file.items {
            let Item::Fn(f) = item else { continue };
            if !matches!(f.vis, Visibility::Public(_))
                || f.attrs.iter().any(|a| quote!(#a).to_string().contains("hidden"))
            {
                continue;
            }
            families += 1;
            for arg in &f.sig.inputs {
                let FnArg::Typed(arg) = arg else { continue };
                let pat = &arg.pat;
                assert!(!quote!(#pat).to_string().starts_with("__"), "{}: {}", f.sig.ident, quote!(#arg));
            }
        }
        assert_eq!(families, 4, "the function and its family");
    }
}
