//! `#[primitive(batched = path)]`: a function that has a batched kernel.
//!
//! The function stays as written. Beside it comes an empty type of the same name, so that whoever imports
//! the function has it too, whose associated function [`BATCHED`] makes one call of the kernel for many
//! members:
//!
//! ```text
//! enum gradient {}
//! impl gradient {
//!     fn __batched<'m, M: Model>(members: usize, gather: impl FnOnce(&mut dyn FnMut(&'m M, &Array1<f64>)))
//!         -> Results<Array1<f64>>
//!     {
//!         let mut a = Shared::new();
//!         let mut b = (&Kind::<Array1<f64>>::new()).column(members);
//!         gather(&mut |a_, b_| { a.push(a_); b.push(b_) });
//!         run("gradients", members, sets(members, |i, j| a.same(i, j) && b.same(i, j)), |some| {
//!             let (a, b) = (a.only(some), b.only(some));
//!             gradients(a.pass(), b.pass())
//!         })
//!     }
//! }
//! ```
//!
//! What a `&mut` parameter refers to is gathered too, changed by the kernel (`let mut c = c.part(some)`,
//! `c.column().pass_mut()`, `c.store(some)`), and returned with the results (`.with((c,))`), which hand each
//! member's value back.
//!
//! `push` has exactly the function's parameters, so that arguments coerce as in a call of the function; what
//! the kernel takes and returns decides, by type, in which form columns are passed (`autobatch_runtime::primitive`).

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, FnArg, Item, ItemFn, Lifetime, Path, Token, Type, parse_quote};

use crate::diag::Diagnostics;
use crate::input;

/// The associated function that batched code calls.
pub const BATCHED: &str = "__batched";

const WRITE: &str = "write `#[autobatch::primitive(batched = path::to::kernel)]`";

/// The arguments of the attribute.
struct Args {
    batched: Path,
    krate: Path,
}

impl Args {
    fn parse(tokens: TokenStream, diag: &mut Diagnostics) -> Option<Args> {
        let list = match Punctuated::<syn::MetaNameValue, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(list) => list,
            Err(error) => {
                diag.error_at(error.span(), "`primitive` takes the path of its batched kernel", WRITE);
                return None;
            }
        };
        let (mut batched, mut krate) = (None, None);
        for pair in list {
            let target = match pair.path.get_ident().map(Ident::to_string).as_deref() {
                Some("batched") => &mut batched,
                Some("crate") => &mut krate,
                _ => {
                    let why = format!("`primitive` has no argument `{}`", pair.path.to_token_stream());
                    diag.error(&pair.path, &why, "the arguments are `batched = path` and `crate = path`");
                    continue;
                }
            };
            match &pair.value {
                Expr::Path(p) if p.qself.is_none() => *target = Some(p.path.clone()),
                other => diag.error(other, "this is not a path", WRITE),
            }
        }
        if batched.is_none() && diag.is_empty() {
            diag.error_at(Span::call_site(), "`primitive` needs the path of its batched kernel", WRITE);
        }
        Some(Args { batched: batched?, krate: krate.unwrap_or_else(|| parse_quote!(::autobatch)) })
    }
}

/// How a parameter is passed on.
enum Passing {
    /// The same for all members of a call of the kernel: a reference.
    Shared,
    /// The same by value.
    SharedValue,
    /// A column, gathered from references to the values.
    EachRef(Type),
    /// A column, gathered from the values.
    Each(Type),
    /// A column, gathered from references to the values, which get what the kernel leaves.
    Changed(Type),
}

/// Expands `#[primitive(args)] item`; the function is always part of the output.
pub fn primitive(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diagnostics::default();
    let args = Args::parse(args, &mut diag);
    let mut function = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => function,
        _ => {
            let instead = "put it on a free function; a method can call it";
            diag.error(&first(&item), "a primitive is a function", instead);
            let errors = diag.into_tokens();
            return quote!(#item #errors);
        }
    };
    let passing = check(&function, &mut diag);
    let family = match (args, passing) {
        (Some(args), Some(passing)) if diag.is_empty() => adapter(&function, &passing, &args),
        _ => TokenStream::new(),
    };
    input::clean(&mut function.sig);
    let errors = diag.into_tokens();
    quote!(#function #family #errors)
}

fn first(tokens: &TokenStream) -> TokenStream {
    tokens.clone().into_iter().take(2).collect()
}

/// How each parameter is passed; `None` after errors.
fn check(function: &ItemFn, diag: &mut Diagnostics) -> Option<Vec<Passing>> {
    let mut ok = input::check_signature(&function.sig, diag);
    for arg in &function.sig.inputs {
        if let FnArg::Typed(arg) = arg
            && let Some(ty) = input::find_impl(&arg.ty)
        {
            let instead = "make it a generic parameter, `fn f<T: Trait>(x: T)`";
            diag.error(
                &ty,
                "an `impl Trait` parameter of a primitive has no name that its kernel could have",
                instead,
            );
            ok = false;
        }
    }
    let mut all = Vec::new();
    for arg in &function.sig.inputs {
        match arg {
            FnArg::Receiver(receiver) => diag.error(
                receiver,
                "a method can't be a primitive: the attribute does not see its type",
                "make it a free function, `fn gradient(model: &Model, …)`, which the method can call",
            ),
            FnArg::Typed(arg) => all.extend(passing(&arg.ty, &arg.attrs, diag)),
        }
    }
    if diag.is_empty() && !all.iter().any(|p| !matches!(p, Passing::Shared | Passing::SharedValue)) {
        diag.error(
            &function.sig.ident,
            "every parameter is shared, so there is nothing to batch over",
            "take a parameter by value, as `&Array1<T>` or `&[T; D]`, or mark a reference `#[each]`",
        );
    }
    (ok && diag.is_empty()).then_some(all)
}

fn passing(ty: &Type, attrs: &[Attribute], diag: &mut Diagnostics) -> Option<Passing> {
    let has = |name: &str| attrs.iter().find(|a| a.path().is_ident(name));
    match (ty, has("shared"), has("each")) {
        (_, Some(_), Some(each)) => {
            diag.error(each, "a parameter is either `#[shared]` or `#[each]`", "remove one of them");
            None
        }
        (Type::Reference(r), Some(shared), None) if r.mutability.is_some() => {
            diag.error(
                shared,
                "what the kernel changes is each member's own",
                "remove `#[shared]`, or take a `&T`",
            );
            None
        }
        (Type::Reference(r), ..) if r.mutability.is_some() => match &*r.elem {
            Type::Slice(_) | Type::TraitObject(_) => {
                slices(ty, "take `&mut Array1<T>` or `&mut [T; D]`", diag);
                None
            }
            elem => Some(Passing::Changed(elem.clone())),
        },
        (Type::Reference(r), None, each) if each.is_some() || is_vector(&r.elem) => match &*r.elem {
            Type::Slice(_) | Type::TraitObject(_) => {
                slices(ty, "take `&Array1<T>` or `&[T; D]`, or leave `#[each]` out to share the slice", diag);
                None
            }
            elem => Some(Passing::EachRef(elem.clone())),
        },
        (Type::Reference(_), ..) => Some(Passing::Shared),
        (_, Some(_), _) => Some(Passing::SharedValue),
        (_, None, Some(each)) => {
            diag.error(
                each,
                "`#[each]` is for references: a value is one per member already",
                "remove `#[each]`",
            );
            None
        }
        (ty, None, None) => Some(Passing::Each(ty.clone())),
    }
}

fn slices(ty: &Type, instead: &str, diag: &mut Diagnostics) {
    diag.error(ty, "members' slices can't be gathered into one column: their lengths may differ", instead);
}

/// `Array1<T>` or `[T; D]`: a member's own, even behind a reference.
fn is_vector(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Path(p) => p.path.segments.last().is_some_and(|last| last.ident == "Array1"),
        Type::Paren(p) => is_vector(&p.elem),
        Type::Group(g) => is_vector(&g.elem),
        _ => false,
    }
}

/// The type beside the function.
fn adapter(function: &ItemFn, passing: &[Passing], args: &Args) -> TokenStream {
    let Args { batched, krate } = args;
    let rt = quote!(#krate::__rt::primitive);
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let mut generics = function.sig.generics.clone();
    let mut named = Fresh::default();
    let mut pushed = Vec::new();
    for (arg, passing) in function.sig.inputs.iter().zip(passing) {
        let FnArg::Typed(arg) = arg else { unreachable!("receivers are refused") };
        let mut ty = (*arg.ty).clone();
        if matches!(passing, Passing::Shared | Passing::SharedValue) {
            named.visit_type_mut(&mut ty);
        }
        pushed.push(ty);
    }
    let mut output = match &function.sig.output {
        syn::ReturnType::Default => parse_quote!(()),
        syn::ReturnType::Type(_, ty) => (**ty).clone(),
    };
    // What the result borrows, it borrows from what is shared.
    if let Some(lifetime) = named.made.first() {
        Elided(lifetime).visit_type_mut(&mut output);
    }
    let types: Vec<Ident> = generics.type_params().map(|p| p.ident.clone()).collect();
    for lifetime in named.made.iter().rev() {
        generics.params.insert(0, parse_quote!(#lifetime));
        // A reference in a signature implies this and what follows, one in the signature of a closure does not.
        let clause = generics.make_where_clause();
        clause
            .predicates
            .extend(types.iter().map(|ty| -> syn::WherePredicate { parse_quote!(#ty: #lifetime) }));
    }
    let inside = named.inside.iter();
    let outlives = inside.map(|(inner, outer)| -> syn::WherePredicate { parse_quote!(#inner: #outer) });
    generics.make_where_clause().predicates.extend(outlives);
    let (params, clause) = (&generics.params, &generics.where_clause);
    let column = |i: usize| format_ident!("__c{}", i, span = Span::mixed_site());
    let value = |i: usize| format_ident!("__v{}", i, span = Span::mixed_site());
    let columns: Vec<Ident> = (0..passing.len()).map(column).collect();
    let values: Vec<Ident> = (0..passing.len()).map(value).collect();
    let make = passing.iter().zip(&columns).map(|(passing, column)| match passing {
        Passing::Shared => quote!(let mut #column = #rt::Shared::new();),
        Passing::SharedValue => quote!(let mut #column = #rt::SharedValue::new();),
        Passing::Each(ty) | Passing::EachRef(ty) => {
            let make = quote_spanned!(ty.span()=> (&#rt::Kind::<#ty>::new()).column(__members));
            quote!(let mut #column = #make;)
        }
        Passing::Changed(ty) => {
            quote_spanned!(ty.span()=> let mut #column = <#ty as #rt::Changed>::column(__members);)
        }
    });
    let push =
        passing.iter().zip(columns.iter().zip(&values)).map(|(passing, (column, value))| match passing {
            Passing::Each(_) => quote!(#column.push(&#value);),
            Passing::Changed(_) => quote!(#column.push(&*#value);),
            _ => quote!(#column.push(#value);),
        });
    let kernel = batched.to_token_stream().to_string().replace(' ', "");
    // Errors about what the kernel takes and returns stand at its path.
    let span = batched.span();
    let parts = passing.iter().zip(&columns).map(|(passing, column)| match passing {
        Passing::Changed(_) => quote!(let mut #column = #column.part(__some);),
        _ => quote!(let #column = #column.only(__some);),
    });
    let passed = passing.iter().zip(&columns).map(|(passing, column)| match passing {
        Passing::Changed(_) => quote_spanned!(span=> #column.column().pass_mut()),
        _ => quote_spanned!(span=> #column.pass()),
    });
    let call = quote_spanned!(span=> #batched(#(#passed),*));
    let (mut changed, mut changed_types) = (Vec::new(), Vec::new());
    for (passing, column) in passing.iter().zip(&columns) {
        if let Passing::Changed(ty) = passing {
            changed.push(column);
            changed_types.push(quote_spanned!(ty.span()=> <#ty as #rt::Changed>::Column));
        }
    }
    let (results, call, with) = match changed.is_empty() {
        true => (quote!(#rt::Results<#output>), call, None),
        false => (
            quote!(#rt::Results<#output, (#(#changed_types,)*)>),
            quote!({ let __out = #call; #(#changed.store(__some);)* __out }),
            Some(quote!(.with((#(#changed,)*)))),
        ),
    };
    let run = quote_spanned!(span=> #rt::run::<#output, _>);
    let doc = format!("`{ident}` for many members: one call of `{kernel}`.");
    let batched_name = Ident::new(BATCHED, Span::call_site());
    quote! {
        #[doc = #doc]
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub)]
        #vis enum #ident {}

        #[doc(hidden)]
        #[allow(dead_code, unreachable_pub, private_interfaces, clippy::multiple_bound_locations)]
        impl #ident {
            #[doc = #doc]
            #[doc(hidden)]
            #vis fn #batched_name<#params>(
                __members: usize,
                __gather: impl ::core::ops::FnOnce(&mut dyn ::core::ops::FnMut(#(#pushed),*)),
            ) -> #results #clause {
                #[allow(unused_imports)]
                use #rt::{OfValues as _, OfVectors as _, Pass as _, PassMut as _};
                #(#make)*
                __gather(&mut |#(#values),*| { #(#push)* });
                let __sets = #rt::sets(
                    __members,
                    &|__a: usize, __b: usize| true #(&& #columns.same(__a, __b))*,
                );
                #run(
                    #kernel,
                    __members,
                    __sets,
                    |__some: ::core::option::Option<&[usize]>| {
                        #(#parts)*
                        #call
                    },
                ) #with
            }
        }
    }
}

/// Gives each elided lifetime a name of its own.
#[derive(Default)]
struct Fresh {
    made: Vec<Lifetime>,
    /// References around the type that is visited.
    around: Vec<Lifetime>,
    /// Lifetimes in the type behind a reference, with that of the reference.
    inside: Vec<(Lifetime, Lifetime)>,
}

impl Fresh {
    fn next(&mut self) -> Lifetime {
        let lifetime = Lifetime::new(&format!("'__m{}", self.made.len()), Span::mixed_site());
        self.made.push(lifetime.clone());
        lifetime
    }
}

impl VisitMut for Fresh {
    fn visit_type_reference_mut(&mut self, r: &mut syn::TypeReference) {
        let mut lifetime = r.lifetime.take().unwrap_or_else(|| self.next());
        self.visit_lifetime_mut(&mut lifetime);
        self.around.push(lifetime.clone());
        self.visit_type_mut(&mut r.elem);
        self.around.pop();
        r.lifetime = Some(lifetime);
    }
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.next();
        }
        self.inside.extend(self.around.iter().map(|outer| (lifetime.clone(), outer.clone())));
    }
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}

/// Gives all elided lifetimes the same name.
struct Elided<'a>(&'a Lifetime);

impl VisitMut for Elided<'_> {
    fn visit_type_reference_mut(&mut self, r: &mut syn::TypeReference) {
        if r.lifetime.is_none() {
            r.lifetime = Some(self.0.clone());
        }
        visit_mut::visit_type_reference_mut(self, r);
    }
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.0.clone();
        }
    }
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}
