//! The methods that ask an iterator for its elements: what stands before the loop, in it, and behind it.

use quote::quote;
use syn::{Expr, Ident, Lifetime, Stmt, Type, parse_quote};

use crate::desugar::chain_loop::{Loop, condition, is_quiet};
use crate::desugar::closure::{Arg, Wrapper, apply};
use crate::desugar::expected_types::generic_argument;
use crate::desugar::rewrite::Rewrite;
use crate::diagnostics::reasons::{self, Reason};
use crate::std_models::facts::{self, Fact};

/// A method that ends a chain.
pub(super) struct Terminal {
    method: TerminalKind,
    /// Its state.
    state: Ident,
    /// Defines the state.
    pub(super) before: Vec<Stmt>,
    /// The value when there are no more elements.
    pub(super) value: Expr,
    /// Whether it may end early.
    pub(super) breaks: bool,
    /// The type of its value, if it has to be named.
    pub(super) ty: Option<Type>,
}

pub(crate) enum TerminalKind {
    /// `acc += x` or `acc *= x`.
    Number(syn::BinOp),
    /// The same of any type: the runtime's name for the operation, and the type.
    Total(Ident, Type),
    /// With the collection of the elements for which it does not hold.
    Partition(Expr, Ident),
    Push(Option<Wrapper>),
    /// Any other, by its name, and what it is given.
    Other(String, Vec<Expr>),
}

impl Terminal {
    /// The method by its name, if it is known; `ty` is the type of its result, as far as it is said.
    pub(super) fn new(
        rewrite: &mut Rewrite<'_>,
        name: &str,
        args: &[Expr],
        ty: Option<&Type>,
    ) -> Option<Terminal> {
        let state = rewrite.fresh("state");
        let rt = rewrite.rt();
        let annotated = ty.map(|ty| quote!(: #ty));
        let mut method = TerminalKind::Other(name.to_string(), args.to_vec());
        let result: Expr = parse_quote!(#state);
        let (empty, none): (Expr, Stmt) = (
            parse_quote!(::core::option::Option::None),
            parse_quote!(let mut #state = ::core::option::Option::None;),
        );
        let zero: Stmt = parse_quote!(let mut #state = 0usize;);
        let (before, value, breaks): (Vec<Stmt>, Expr, bool) = match (name, args) {
            ("sum" | "product", []) => {
                let sum = name == "sum";
                let of = ty.cloned().unwrap_or_else(|| parse_quote!(_));
                if let Some(neutral) = ty.and_then(|ty| neutral(ty, sum)) {
                    method = TerminalKind::Number(if sum { parse_quote!(+=) } else { parse_quote!(*=) });
                    (vec![parse_quote!(let mut #state #annotated = #neutral;)], result, false)
                } else {
                    let op = if sum { "Sums" } else { "Products" };
                    let op = Ident::new(op, proc_macro2::Span::mixed_site());
                    let total = parse_quote!(#rt::total_of_all::<#rt::#op, #of, _>(#state));
                    method = TerminalKind::Total(op, of);
                    (vec![], total, false)
                }
            }
            ("fold", [init, _]) if is_quiet(init) => {
                (vec![parse_quote!(let mut #state #annotated = #init;)], result, false)
            }
            ("try_fold", [init, _]) if is_quiet(init) => {
                let whole = parse_quote!(#rt::FromOutput::from_output(#state));
                (vec![parse_quote!(let mut #state = #init;)], whole, true)
            }
            ("for_each", [_]) => (vec![], parse_quote!(()), false),
            ("try_for_each", [_]) => (vec![], parse_quote!(#rt::FromOutput::from_output(())), true),
            ("any", [_]) => (vec![], parse_quote!(false), true),
            ("all", [_]) => (vec![], parse_quote!(true), true),
            ("find" | "find_map", [_]) => (vec![], empty, true),
            ("position", [_]) => (vec![zero], empty, true),
            ("count", []) => (vec![zero], result, false),
            ("last" | "max" | "min", []) | ("reduce" | "max_by" | "min_by", [_]) => {
                (vec![none], result, false)
            }
            ("max_by_key" | "min_by_key", [_]) => {
                let best = rewrite.fresh("best");
                let value = parse_quote!(match #state {
                    ::core::option::Option::Some((_, #best)) => ::core::option::Option::Some(#best),
                    ::core::option::Option::None => ::core::option::Option::None,
                });
                (vec![none], value, false)
            }
            ("partition", [f]) => {
                let no = rewrite.fresh("no");
                let before = [&state, &no].map(|part| parse_quote!(let mut #part = ::std::vec::Vec::new();));
                let parts = parse_quote!(#rt::partition(#state, #no));
                method = TerminalKind::Partition(f.clone(), no);
                (before.into(), parts, false)
            }
            ("unzip", []) => {
                let before = parse_quote!(let mut #state = ::std::vec::Vec::new(););
                let parts = parse_quote!(::core::iter::Iterator::unzip(::core::iter::IntoIterator::into_iter(#state)));
                method = TerminalKind::Push(None);
                (vec![before], parts, false)
            }
            ("collect", []) => return Terminal::collect(state, ty?),
            _ => return None,
        };
        Some(Terminal { method, state, before, value, breaks, ty: None })
    }

    /// `collect` into a type that is known by name: an `Option` or a `Result` ends at the first element without
    /// a value.
    fn collect(state: Ident, ty: &Type) -> Option<Terminal> {
        let kind = Wrapper::of(ty);
        let inner = if kind.is_some() { inner_type(ty)? } else { ty };
        let Type::Path(path) = inner else { return None };
        let name = path.path.segments.last()?.ident.to_string();
        let (before, value): (Stmt, Expr) = if name == "Vec" {
            (parse_quote!(let mut #state: #inner = ::std::vec::Vec::new();), parse_quote!(#state))
        } else if facts::is(&name, Fact::Filled) {
            (
                parse_quote!(let mut #state = ::std::vec::Vec::new();),
                parse_quote!(::core::iter::Iterator::collect::<#inner>(::core::iter::IntoIterator::into_iter(#state))),
            )
        } else {
            return None;
        };
        let value = match kind {
            None => value,
            Some(Wrapper::Option) => parse_quote!(::core::option::Option::Some(#value)),
            Some(Wrapper::Result) => parse_quote!(::core::result::Result::Ok(#value)),
        };
        Some(Terminal {
            method: TerminalKind::Push(kind),
            state,
            before: vec![before],
            value,
            breaks: kind.is_some(),
            ty: kind.map(|_| ty.clone()),
        })
    }
}

/// The type of the value in an `Option` or `Result`.
fn inner_type(ty: &Type) -> Option<&Type> {
    ["Option", "Result"].iter().find_map(|name| generic_argument(ty, name, 0))
}

/// The code of a chain; of a total that might stop early the chain as it stands beside it, and the type decides. Under `strict`
/// rustc refuses such types.
pub(super) fn or_left(
    rewrite: &Rewrite<'_>,
    terminal: &Terminal,
    code: Expr,
    chain: &syn::ExprMethodCall,
) -> Expr {
    let TerminalKind::Total(op, of) = &terminal.method else { return code };
    let (rt, state) = (rewrite.rt(), &terminal.state);
    let before = quote!(let mut #state = #rt::total_of_none::<#rt::#op, #of, _>(););
    if rewrite.strict {
        let span = chain.method.span();
        let mut place = state.clone();
        place.set_span(place.span().located_at(span));
        let check = quote::quote_spanned!(span=> #rt::must_add_all(&#place););
        return parse_quote!({ #before #check #code });
    }
    let left = if inner_type(of).is_some_and(crate::std_models::pure::is_primitive) {
        quote!(left_to_number)
    } else {
        quote!(left_to_type)
    };
    parse_quote!({
        #before
        if #rt::adds_all::<#rt::#op, #of, _>(&#state) #code else { #rt::#left::<#of>(#chain) }
    })
}

/// Whether a call is such a total, left to its type; and what is said of the calls in it, if it may happen.
pub(crate) fn left_total(e: &syn::ExprCall) -> Option<Option<Reason>> {
    let Expr::Path(func) = &*e.func else { return None };
    let mut names = func.path.segments.iter().rev().map(|segment| &segment.ident);
    let name = names.next()?;
    if names.next()? != "__rt" {
        None
    } else if name == "left_to_type" {
        Some(Some(reasons::IN_A_TOTAL))
    } else {
        (name == "left_to_number").then_some(None)
    }
}

/// What a sum or product of no numbers is.
pub(super) fn neutral(ty: &Type, sum: bool) -> Option<Expr> {
    if !crate::std_models::pure::is_primitive(ty) {
        return None;
    }
    Some(match (crate::syntax::mentions::text(ty).as_str(), sum) {
        ("f32" | "f64", true) => parse_quote!(-0.0),
        ("f32" | "f64", false) => parse_quote!(1.0),
        (_, true) => parse_quote!(0),
        (_, false) => parse_quote!(1),
    })
}

/// What is done with one element.
pub(super) fn step(
    rewrite: &mut Rewrite<'_>,
    terminal: &Terminal,
    item: &Ident,
    label: &Lifetime,
    around: &mut Loop,
) -> Option<Vec<Stmt>> {
    let state = &terminal.state;
    let value = || [Arg::Value(item.clone())];
    let by_ref = || [Arg::Ref(item.clone())];
    let with = |state: &Ident| [Arg::Value(state.clone()), Arg::Value(item.clone())];
    let (name, args) = match &terminal.method {
        TerminalKind::Number(op) => return Some(vec![parse_quote!(#state #op #item;)]),
        TerminalKind::Total(op, of) => {
            let rt = rewrite.rt();
            let (next, done) = (rewrite.fresh("next"), rewrite.fresh("done"));
            let stop = crate::desugar::chain_loop::stop(around);
            // That a type which is not known yet is a sum of its like would be a guess.
            let by_step = (!matches!(of, Type::Infer(_))).then(|| quote!(ByStep as _,));
            return Some(vec![
                parse_quote!(let (#next, #done) = {
                    use #rt::{#by_step ToFirstNone as _, ToTheEnd as _};
                    (&&&#rt::Adding::<#rt::#op, #of, _>::of(&#item)).total_step(#state, #item)
                };),
                parse_quote!(#state = #next;),
                parse_quote!(if #done #stop),
            ]);
        }
        TerminalKind::Partition(f, no) => {
            let holds = condition(apply(rewrite, f, &by_ref())?);
            return Some(vec![
                parse_quote!(::std::vec::Vec::push(if #holds { &mut #state } else { &mut #no }, #item);),
            ]);
        }
        TerminalKind::Push(kind) => return Some(vec![push(rewrite, state, item, *kind, label)]),
        TerminalKind::Other(name, args) => (name.as_str(), &args[..]),
    };
    Some(match (name, args) {
        ("fold", [_, f]) => {
            let next = apply(rewrite, f, &with(state))?;
            vec![parse_quote!(#state = #next;)]
        }
        ("for_each", [f]) => {
            let done = apply(rewrite, f, &value())?;
            vec![parse_quote!({ #done; })]
        }
        ("any" | "all", [f]) => {
            let holds = condition(apply(rewrite, f, &value())?);
            vec![match name {
                "any" => parse_quote!(if #holds { break #label true; }),
                _ => parse_quote!(if !#holds { break #label false; }),
            }]
        }
        ("find", [f]) => {
            let holds = condition(apply(rewrite, f, &by_ref())?);
            vec![parse_quote!(if #holds { break #label ::core::option::Option::Some(#item); })]
        }
        ("find_map", [f]) => {
            let found = condition(apply(rewrite, f, &value())?);
            let it = rewrite.fresh("found");
            vec![parse_quote!(if let ::core::option::Option::Some(#it) = #found {
                break #label ::core::option::Option::Some(#it);
            })]
        }
        ("position", [f]) => {
            let holds = condition(apply(rewrite, f, &value())?);
            vec![
                parse_quote!(if #holds { break #label ::core::option::Option::Some(#state); }),
                parse_quote!(#state += 1;),
            ]
        }
        ("count", _) => vec![parse_quote!({ let _ = #item; }), parse_quote!(#state += 1;)],
        ("last", _) => vec![parse_quote!(#state = ::core::option::Option::Some(#item);)],
        ("reduce", [f]) => {
            let best = rewrite.fresh("best");
            let next = apply(rewrite, f, &with(&best))?;
            let (best, item) = (parse_quote!(#best), parse_quote!(#item));
            vec![holds(rewrite, state, &item), best_of(state, &best, &next, &item)]
        }
        ("try_fold", [_, f]) => {
            let next = apply(rewrite, f, &with(state))?;
            vec![try_step(rewrite, &next, &parse_quote!(#state = __value), label)]
        }
        ("try_for_each", [f]) => {
            let next = apply(rewrite, f, &value())?;
            vec![try_step(
                rewrite,
                &next,
                &parse_quote!({
                    let () = __value;
                }),
                label,
            )]
        }
        _ => return best(rewrite, state, item, name, args.first()),
    })
}

/// Puts an element into a `Vec`, or what it holds, if it has a value.
fn push(
    rewrite: &mut Rewrite<'_>,
    state: &Ident,
    item: &Ident,
    kind: Option<Wrapper>,
    label: &Lifetime,
) -> Stmt {
    let Some(kind) = kind else { return parse_quote!(::std::vec::Vec::push(&mut #state, #item);) };
    let (it, rest) = (rewrite.fresh("item"), rewrite.fresh("rest"));
    match kind {
        Wrapper::Option => parse_quote!(match #item {
            ::core::option::Option::Some(#it) => ::std::vec::Vec::push(&mut #state, #it),
            ::core::option::Option::None => break #label ::core::option::Option::None,
        }),
        Wrapper::Result => parse_quote!(match #item {
            ::core::result::Result::Ok(#it) => ::std::vec::Vec::push(&mut #state, #it),
            ::core::result::Result::Err(#rest) => break #label ::core::result::Result::Err(#rest),
        }),
    }
}

/// One step of what ends early: `go_on` does with its `__value` what is to be done.
fn try_step(rewrite: &Rewrite<'_>, next: &Expr, go_on: &Expr, label: &Lifetime) -> Stmt {
    let rt = rewrite.rt();
    parse_quote!(match #rt::try_step(#next) {
        ::core::ops::ControlFlow::Continue(__value) => #go_on,
        ::core::ops::ControlFlow::Break(__whole) => break #label __whole,
    })
}

/// Says that the state is an `Option` of such a value: its type must be known before it is looked at, although the
/// first value is put in behind.
fn holds(rewrite: &Rewrite<'_>, state: &Ident, value: &Expr) -> Stmt {
    let rt = rewrite.rt();
    match value {
        Expr::Tuple(t) => {
            let (key, item) = (&t.elems[0], &t.elems[1]);
            parse_quote!(#rt::holds_keyed(&#state, &#key, &#item);)
        }
        value => parse_quote!(#rt::holds(&#state, &#value);),
    }
}

/// `state = Some(match state { Some(best) => next, None => first })`.
fn best_of(state: &Ident, best: &Expr, next: &Expr, first: &Expr) -> Stmt {
    parse_quote!(#state = ::core::option::Option::Some(match #state {
        ::core::option::Option::Some(#best) => #next,
        ::core::option::Option::None => #first,
    });)
}

/// `max` and `min`, by a comparison or a key if there is one: the later of two equal ones is kept, or the earlier.
fn best(
    rewrite: &mut Rewrite<'_>,
    state: &Ident,
    item: &Ident,
    name: &str,
    by: Option<&Expr>,
) -> Option<Vec<Stmt>> {
    let (best, key) = (rewrite.fresh("best"), rewrite.fresh("key"));
    let (mut old, mut new): (Expr, Expr) = (parse_quote!(#best), parse_quote!(#item));
    let mut code: Vec<Stmt> = Vec::new();
    let order: Expr = match by {
        None => parse_quote!(::core::cmp::Ord::cmp(&#best, &#item)),
        Some(f) if name.ends_with("key") => {
            let best_key = rewrite.fresh("key");
            let value = apply(rewrite, f, &[Arg::Ref(item.clone())])?;
            code.push(parse_quote!(let #key = #value;));
            (old, new) = (parse_quote!((#best_key, #best)), parse_quote!((#key, #item)));
            parse_quote!(::core::cmp::Ord::cmp(&#best_key, &#key))
        }
        Some(f) => condition(apply(rewrite, f, &[Arg::Ref(best), Arg::Ref(item.clone())])?),
    };
    let (greater, other) = if name.starts_with("max") { (&old, &new) } else { (&new, &old) };
    let next = parse_quote!(match #order { ::core::cmp::Ordering::Greater => #greater, _ => #other });
    code.extend([holds(rewrite, state, &new), best_of(state, &old, &next, &new)]);
    Some(code)
}
