//! `#[primitive(batched = path)]`: a function that has a batched kernel.
//!
//! The function stays as written, but for what comes before its body: where members of a batch run, a call is for the kernel, with
//! those of other members if it is on a fiber (`autobatch_runtime`'s `fiber`). Beside it comes an empty type of the same name, so
//! that whoever imports the function has it too, whose associated function [`BATCHED`] makes one call of the kernel for many
//! members:
//!
//! ```text
//! fn gradient<M: Model>(model: &M, x: &Array1<f64>) -> Array1<f64> {
//!     if gathers() {
//!         return wait((model, x), true, |calls| {
//!             let mut results = gradient::__batched::<M>(calls.len(), |push| {
//!                 for call in calls.iter_mut() { let (model, x) = &mut call.args; push(*model, *x) }
//!             });
//!             for call in calls { call.result = Some(results.next()) }
//!         });
//!     }
//!     …                                                                   // the body
//! }
//!
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
//! Calls of different fibers have different lifetimes, and the kernel is called as if they had the same. That is sound where nothing
//! can go from one member to another that lives for a shorter time: what is a member's own, argument or result, has no lifetime (`OwnTypes`;
//! `__lasting` has rustc refuse a type that hides one), and what members share is the same object. A result may be a reference to such
//! a type: what it refers to is shared. (Not a `Cell` of a reference: one member could leave there what another finds.) Else a call
//! on a fiber is for one row (the `true` above).
//!
//! `push` has exactly the function's parameters, so that arguments coerce as in a call of the function; what
//! the kernel takes and returns decides, by type, in which form columns are passed (`autobatch_runtime::primitive`).

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, FnArg, Generics, Item, ItemFn, Lifetime, Pat, Path, Token, Type, TypeParamBound,
    WherePredicate, parse_quote,
};

use crate::diagnostics::messages;
use crate::diagnostics::sink::Diagnostics;
use crate::item::parse;
use crate::syntax::mentions::{self, bare_type, last_name, numbered};
use crate::syntax::turbofish::turbofish;
use crate::syntax::visit::{self, Visit};
use crate::syntax::visit_mut::VisitMut;
use crate::syntax::{annotated, attributes, elision};

/// The associated function that batched code calls.
pub const BATCHED: &str = "__batched";

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
                diag.error_at(error.span(), messages::NOT_A_KERNEL);
                return None;
            }
        };
        let (mut batched, mut krate) = (None, None);
        for pair in list {
            let target = match pair.path.get_ident().map(Ident::to_string).as_deref() {
                Some("batched") => &mut batched,
                Some("crate") => &mut krate,
                _ => {
                    let key = pair.path.to_token_stream();
                    diag.error(&pair.path, messages::unknown_argument_of_primitive(&key));
                    continue;
                }
            };
            match &pair.value {
                Expr::Path(p) if p.qself.is_none() => *target = Some(p.path.clone()),
                other => diag.error(other, messages::NOT_A_PATH),
            }
        }
        if batched.is_none() && diag.is_empty() {
            diag.error_at(Span::call_site(), messages::NO_KERNEL);
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
            diag.error(&annotated::head(&item), messages::PRIMITIVE_ITEM);
            let errors = diag.into_tokens();
            return quote!(#item #errors);
        }
    };
    let passing = check(&function, &mut diag);
    let family = match (args, passing) {
        (Some(args), Some(passing)) if diag.is_empty() => {
            let own = OwnTypes::of(&function, &passing);
            let family = adapter(&function, &passing, &own, &args);
            // What a constant needs is computed before any batch.
            if function.sig.constness.is_none() {
                wait(&mut function, &passing, &own, &args.krate);
            }
            family
        }
        _ => TokenStream::new(),
    };
    attributes::clean(&mut function.sig);
    let errors = diag.into_tokens();
    quote!(#function #family #errors)
}

/// How each parameter is passed; `None` after errors.
fn check(function: &ItemFn, diag: &mut Diagnostics) -> Option<Vec<Passing>> {
    let mut ok = parse::check_signature(&function.sig, diag);
    for arg in &function.sig.inputs {
        if let FnArg::Typed(arg) = arg
            && let Some(ty) = mentions::find_impl(&arg.ty)
        {
            diag.error(&ty, messages::PRIMITIVE_IMPL_TRAIT);
            ok = false;
        }
    }
    let mut all = Vec::new();
    for arg in &function.sig.inputs {
        match arg {
            FnArg::Receiver(receiver) => diag.error(receiver, messages::PRIMITIVE_METHOD),
            FnArg::Typed(arg) => all.extend(passing(&arg.ty, &arg.attrs, diag)),
        }
    }
    if diag.is_empty() && !all.iter().any(|p| !matches!(p, Passing::Shared | Passing::SharedValue)) {
        diag.error(&function.sig.ident, messages::PRIMITIVE_WITHOUT_COLUMN);
    }
    (ok && diag.is_empty()).then_some(all)
}

/// How a parameter is passed, or why it can't be, and what to write instead.
fn passing(ty: &Type, attrs: &[Attribute], diag: &mut Diagnostics) -> Option<Passing> {
    let has = |name: &str| attrs.iter().find(|a| a.path().is_ident(name));
    let (at, message) = match (ty, has("shared"), has("each")) {
        (_, Some(_), Some(each)) => (each.to_token_stream(), messages::SHARED_AND_EACH),
        (Type::Reference(r), Some(shared), None) if r.mutability.is_some() => {
            (shared.to_token_stream(), messages::PRIMITIVE_SHARED_STATE)
        }
        (Type::Reference(r), ..) if r.mutability.is_some() => match &*r.elem {
            Type::Slice(_) | Type::TraitObject(_) => (ty.to_token_stream(), messages::STATES_OF_SLICES),
            elem => return Some(Passing::Changed(elem.clone())),
        },
        (Type::Reference(r), None, each) if each.is_some() || is_vector(&r.elem) => match &*r.elem {
            Type::Slice(_) | Type::TraitObject(_) => (ty.to_token_stream(), messages::COLUMNS_OF_SLICES),
            elem => return Some(Passing::EachRef(elem.clone())),
        },
        (Type::Reference(_), ..) => return Some(Passing::Shared),
        (_, Some(_), _) => return Some(Passing::SharedValue),
        (_, None, Some(each)) => (each.to_token_stream(), messages::EACH_VALUE),
        (ty, None, None) => return Some(Passing::Each(ty.clone())),
    };
    diag.error(&at, message);
    None
}

/// `Array1<T>` or `[T; D]`: a member's own, even behind a reference.
fn is_vector(ty: &Type) -> bool {
    match bare_type(ty) {
        Type::Array(_) => true,
        Type::Path(p) => last_name(&p.path) == "Array1",
        _ => false,
    }
}

/// Puts the call of the kernel before the body of the function.
fn wait(function: &mut ItemFn, passing: &[Passing], own: &OwnTypes, krate: &Path) {
    let rt = quote!(#krate::__rt::primitive);
    let mut patterns = Vec::new();
    let mut names = Vec::new();
    for (i, arg) in function.sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(arg) = arg else { unreachable!("receivers are refused") };
        names.push(match &*arg.pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => p.ident.clone(),
            pattern => {
                let ident = format_ident!("__p{}", i, span = Span::mixed_site());
                patterns.push(parse_quote!(let #pattern = #ident;));
                *arg.pat = parse_quote!(#ident);
                ident
            }
        });
    }
    let values = numbered("__given", passing.len());
    let is_value = |passing: &Passing| matches!(passing, Passing::Each(_) | Passing::SharedValue);
    let packed = passing.iter().zip(&names).map(|(passing, name)| match is_value(passing) {
        true => quote!(::core::option::Option::Some(#name)),
        false => quote!(#name),
    });
    let unpacked = passing.iter().zip(&values).map(|(passing, value)| match passing {
        passing if is_value(passing) => quote!(#rt::taken(#value)),
        Passing::Changed(_) => quote!(&mut **#value),
        _ => quote!(*#value),
    });
    let changed: Vec<&Ident> = (passing.iter().zip(&values))
        .filter(|(passing, _)| matches!(passing, Passing::Changed(_)))
        .map(|(_, value)| value)
        .collect();
    let next = match changed.is_empty() {
        true => quote!(#rt::Results::next(&mut __results)),
        false => {
            let places = passing.iter().zip(&values).map(|(passing, value)| match passing {
                Passing::Changed(_) => quote!(#value),
                _ => quote!(_),
            });
            quote!({
                let (#(#places,)*) = &mut __call.args;
                #rt::Results::next_into(&mut __results, (#(&mut **#changed,)*))
            })
        }
    };
    let (ident, fish) = (&function.sig.ident, turbofish(&function.sig.generics));
    let batched = Ident::new(BATCHED, Span::call_site());
    let together = own.together(krate);
    let enter = parse_quote! {
        #[allow(clippy::all, clippy::pedantic)]
        if #rt::gathers() {
            return #rt::wait((#(#packed,)*), #together, |__calls| {
                let mut __results = #ident::#batched #fish(<[_]>::len(__calls), |__push| {
                    for __call in &mut *__calls {
                        let (#(#values,)*) = &mut __call.args;
                        __push(#(#unpacked),*);
                    }
                });
                for __call in &mut *__calls {
                    __call.result = ::core::option::Option::Some(#next);
                }
            });
        }
    };
    function.block.stmts.splice(0..0, std::iter::once(enter).chain(patterns));
}

/// The types of what is a member's own, its result included: whether they have lifetimes that differ between members.
struct OwnTypes {
    /// Those of arguments.
    types: Vec<Type>,
    /// Whether one is written with a lifetime, or may have one.
    borrows: bool,
    /// The type parameters that they mention, or types that belong to these, which may be anything.
    unknown: Vec<Type>,
}

impl OwnTypes {
    fn of(function: &ItemFn, passing: &[Passing]) -> OwnTypes {
        let generics = &function.sig.generics;
        let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let lasting: Vec<&Type> = clauses
            .filter_map(|clause| match clause {
                WherePredicate::Type(clause) if is_static(&clause.bounds) => Some(&clause.bounded_ty),
                _ => None,
            })
            .collect();
        let lasts = |ident: &Ident| {
            lasting
                .iter()
                .any(|ty| matches!(ty, Type::Path(p) if p.qself.is_none() && p.path.is_ident(ident)))
        };
        let params = generics.type_params().filter(|param| !is_static(&param.bounds) && !lasts(&param.ident));
        let types =
            function.sig.inputs.iter().zip(passing).filter_map(|(arg, passing)| match (arg, passing) {
                (_, Passing::Each(ty) | Passing::EachRef(ty) | Passing::Changed(ty)) => Some(ty.clone()),
                (FnArg::Typed(arg), Passing::SharedValue) => Some((*arg.ty).clone()),
                _ => None,
            });
        let types: Vec<Type> = types.collect();
        let params = params.map(|param| &param.ident).collect();
        let mut scan = Borrows { params, found: false, unknown: Vec::new() };
        types.iter().for_each(|ty| scan.visit_type(ty));
        let mut output = &mentions::output(&function.sig);
        // What members share may be lent to all of them.
        while let Type::Reference(syn::TypeReference { mutability: None, elem, .. }) = output {
            output = &**elem;
        }
        scan.visit_type(output);
        OwnTypes { borrows: scan.found, unknown: scan.unknown, types }
    }

    /// Whether a call may be made with those of other members.
    fn together(&self, krate: &Path) -> TokenStream {
        let unknown = &self.unknown;
        match self.borrows {
            true => quote!(false),
            false => quote!(true #(&& #krate::__rt::is_plain::<#unknown>())*),
        }
    }

    /// A function that rustc refuses if an argument's type hides a lifetime: there is none that the result could have. (A result that
    /// hides one is refused as [`BATCHED`]'s.)
    fn lasting(&self, generics: &Generics) -> Option<TokenStream> {
        let (params, clause, types) = (&generics.params, &generics.where_clause, &self.types);
        let values = types.iter().map(|_| quote!(::core::marker::PhantomData));
        (!self.borrows).then(|| {
            quote! {
                fn __lasting<#params>() -> (#(::core::marker::PhantomData<#types>,)*) #clause {
                    (#(#values,)*)
                }
            }
        })
    }
}

/// Looks for lifetimes in a type, and for type parameters.
struct Borrows<'a> {
    params: Vec<&'a Ident>,
    found: bool,
    unknown: Vec<Type>,
}

impl<'ast> Visit<'ast> for Borrows<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            // Of these it is not seen what they are.
            Type::Macro(_) | Type::ImplTrait(_) | Type::Infer(_) | Type::Verbatim(_) => self.found = true,
            Type::Reference(r) => self.found |= r.lifetime.is_none(),
            // Behind a reference it has that one's lifetime.
            Type::TraitObject(object) => self.found |= !is_static(&object.bounds),
            Type::Path(path) => {
                let first = path.path.segments.first().map(|first| &first.ident);
                let is_param = first.is_some_and(|first| self.params.contains(&first));
                let is_known = path.qself.is_none() && !is_param;
                self.unknown.extend((!is_known).then(|| ty.clone()));
            }
            _ => {}
        }
        visit::visit_type(self, ty);
    }
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        self.found |= lifetime.ident != "static";
    }
    fn visit_qself(&mut self, _: &'ast syn::QSelf) {}
}

fn is_static(bounds: &Punctuated<TypeParamBound, Token![+]>) -> bool {
    bounds.iter().any(|bound| matches!(bound, TypeParamBound::Lifetime(l) if l.ident == "static"))
}

/// The type beside the function.
fn adapter(function: &ItemFn, passing: &[Passing], own: &OwnTypes, args: &Args) -> TokenStream {
    let Args { batched, krate } = args;
    let rt = quote!(#krate::__rt::primitive);
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let mut generics = function.sig.generics.clone();
    let mut named = Fresh::default();
    let mut pushed = Vec::new();
    for (arg, passing) in function.sig.inputs.iter().zip(passing) {
        let FnArg::Typed(arg) = arg else { unreachable!("receivers are refused") };
        let mut ty = (*arg.ty).clone();
        match (passing, &mut ty) {
            (Passing::Shared | Passing::SharedValue, ty) => named.visit_type_mut(ty),
            // The values are copied, so that a name does not bind the reference.
            (Passing::Changed(_), Type::Reference(reference)) => reference.lifetime = None,
            _ => {}
        }
        pushed.push(ty);
    }
    let mut output = mentions::output(&function.sig);
    // What the result borrows, it borrows from what is shared.
    if let Some(lifetime) = named.made.first() {
        elision::name_all(&mut output, lifetime);
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
    let (columns, values) = (numbered("__column", passing.len()), numbered("__given", passing.len()));
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
            Passing::Each(_) => quote!((&mut #column).push(&#value);),
            Passing::Changed(_) => quote!((&mut #column).push(&*#value);),
            _ => quote!((&mut #column).push(#value);),
        });
    let kernel = batched.to_token_stream().to_string().replace(' ', "");
    // Errors about what the kernel takes and returns stand at its path.
    let span = batched.span();
    let parts = passing.iter().zip(&columns).map(|(passing, column)| match passing {
        Passing::Changed(_) => quote!(let mut #column = (&mut #column).part(__some);),
        _ => quote!(let #column = (&#column).only(__some);),
    });
    let passed = passing.iter().zip(&columns).map(|(passing, column)| match passing {
        Passing::Changed(_) => quote_spanned!(span=> #rt::PassMut::pass_mut(#rt::Part::column(&mut #column))),
        _ => quote_spanned!(span=> #rt::Pass::pass(&*#column)),
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
    let lasting = own.lasting(&function.sig.generics);
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
                use #rt::{OfValues as _, OfVectors as _};
                #(#make)*
                __gather(&mut |#(#values),*| { #(#push)* });
                let __sets = #rt::sets(
                    __members,
                    &|__a: usize, __b: usize| true #(&& (&#columns).same(__a, __b))*,
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
            #lasting
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether calls of fibers are made together, as it is asked at run time.
    fn together(function: ItemFn) -> String {
        let mut diag = Diagnostics::default();
        let passing = check(&function, &mut diag).expect("a primitive");
        OwnTypes::of(&function, &passing).together(&parse_quote!(krate)).to_string().replace(' ', "")
    }

    #[test]
    fn what_borrows_is_not_gathered() {
        let yes: [ItemFn; 6] = [
            parse_quote!(
                fn f(model: &Model<'_>, x: f64, y: &[f32; 3]) -> (f64, Array1<f64>) {}
            ),
            parse_quote!(
                fn f<'a>(model: &'a Model<'_>, x: f64) -> &'a [f64] {}
            ),
            parse_quote!(
                fn f<'a>(x: &mut Array1<f64>, #[shared] n: usize) {}
            ),
            parse_quote!(
                fn f<M: Model>(model: &M, x: Word<'static>, y: &'static str, #[each] z: &u8) {}
            ),
            parse_quote!(
                fn f<T: Copy + 'static>(x: T, y: Option<T>) -> T {}
            ),
            parse_quote!(
                fn f<T: Model>(x: u8) -> T::Value
                where
                    T: 'static,
                {
                }
            ),
        ];
        for function in yes {
            assert_eq!(together(function.clone()), "true", "{}", function.to_token_stream());
        }
        let no: [ItemFn; 8] = [
            parse_quote!(
                fn f<'a>(x: Word<'a>) -> u8 {}
            ),
            parse_quote!(
                fn f(x: u8, #[shared] word: Option<&'_ str>) -> u8 {}
            ),
            parse_quote!(
                fn f(x: u8, #[each] word: &&str) -> u8 {}
            ),
            parse_quote!(
                fn f(x: &mut [&'static &u8; 2]) {}
            ),
            parse_quote!(
                fn f<'a>(model: &'a Model, x: u8) -> Rc<Cell<&'a u8>> {}
            ),
            parse_quote!(
                fn f<'a>(model: &'a Model, x: u8) -> &'a dyn Other {}
            ),
            parse_quote!(
                fn f(x: u8) -> made!() {}
            ),
            parse_quote!(
                fn f(x: fn(&u8) -> u8) -> u8 {}
            ),
        ];
        for function in no {
            assert_eq!(together(function.clone()), "false", "{}", function.to_token_stream());
        }
        let asked = "true&&krate::__rt::is_plain::<T>()&&krate::__rt::is_plain::<M::Point>()";
        assert_eq!(
            together(parse_quote!(
                fn f<T: Copy, M: Model>(x: Array1<T>) -> M::Point {}
            )),
            asked
        );
    }
}
