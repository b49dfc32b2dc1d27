//! The methods that ask an iterator for its elements: what stands before the loop, in it, and behind it.

use syn::{Expr, Ident, Lifetime, Stmt, Type, parse_quote};

use super::Rewrite;
use super::closure::{Arg, apply};
use super::iterators::{Loop, condition};
use super::options::Kind;
use crate::std_model::{self, Fact};

/// A method that ends a chain.
pub(super) struct Terminal {
    method: Method,
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

enum Method {
    /// `acc += x` or `acc *= x`.
    Number(syn::BinOp),
    /// The same of any type: the runtime's name for the operation, and the type.
    Total(Ident, Type),
    Fold(Expr),
    ForEach(Expr),
    /// `any` and `all`: the truth value that ends it.
    Ends(Expr, bool),
    Find(Expr),
    FindMap(Expr),
    Position(Expr),
    Count,
    Last,
    /// The later of two equal ones is kept, or the earlier.
    Best(By, Keep),
    Reduce(Expr),
    TryFold(Expr),
    TryForEach(Expr),
    /// With the collection of the elements for which it does not hold.
    Partition(Expr, Ident),
    Push(Option<Kind>),
}

enum By {
    Order,
    Comparison(Expr),
    Key(Expr),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Greatest,
    Least,
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
        let krate = rewrite.krate;
        let rt = quote::quote!(#krate::__rt);
        let annotated = ty.map(|ty| quote::quote!(: #ty));
        let none = || parse_quote!(let mut #state = ::core::option::Option::None;);
        let kept = || parse_quote!(#state);
        let empty: Expr = parse_quote!(::core::option::Option::None);
        let (method, before, value, breaks): (_, Vec<Stmt>, Expr, _) = match (name, args) {
            ("sum" | "product", []) => {
                let sum = name == "sum";
                let of = ty.cloned().unwrap_or_else(|| parse_quote!(_));
                match ty.and_then(|ty| neutral(ty, sum)) {
                    Some(neutral) => {
                        let op = if sum { parse_quote!(+=) } else { parse_quote!(*=) };
                        (
                            Method::Number(op),
                            vec![parse_quote!(let mut #state #annotated = #neutral;)],
                            kept(),
                            false,
                        )
                    }
                    None => {
                        let op = if sum { "Sums" } else { "Products" };
                        let op = Ident::new(op, proc_macro2::Span::mixed_site());
                        let total = parse_quote!(#rt::total_of_all::<#rt::#op, #of, _>(#state));
                        (Method::Total(op, of), vec![], total, false)
                    }
                }
            }
            ("fold", [init, f]) if is_quiet(init) => {
                let before = parse_quote!(let mut #state #annotated = #init;);
                (Method::Fold(f.clone()), vec![before], kept(), false)
            }
            ("for_each", [f]) => (Method::ForEach(f.clone()), vec![], parse_quote!(()), false),
            ("any", [f]) => (Method::Ends(f.clone(), true), vec![], parse_quote!(false), true),
            ("all", [f]) => (Method::Ends(f.clone(), false), vec![], parse_quote!(true), true),
            ("find", [f]) => (Method::Find(f.clone()), vec![], empty, true),
            ("find_map", [f]) => (Method::FindMap(f.clone()), vec![], empty, true),
            ("position", [f]) => {
                let before = parse_quote!(let mut #state = 0usize;);
                (Method::Position(f.clone()), vec![before], empty, true)
            }
            ("count", []) => (Method::Count, vec![parse_quote!(let mut #state = 0usize;)], kept(), false),
            ("last", []) => (Method::Last, vec![none()], kept(), false),
            ("reduce", [f]) => (Method::Reduce(f.clone()), vec![none()], kept(), false),
            ("max" | "min", []) => (Method::Best(By::Order, keep(name)), vec![none()], kept(), false),
            ("max_by" | "min_by", [f]) => {
                (Method::Best(By::Comparison(f.clone()), keep(name)), vec![none()], kept(), false)
            }
            ("max_by_key" | "min_by_key", [f]) => {
                let best = rewrite.fresh("best");
                let value = parse_quote!(match #state {
                    ::core::option::Option::Some((_, #best)) => ::core::option::Option::Some(#best),
                    ::core::option::Option::None => ::core::option::Option::None,
                });
                (Method::Best(By::Key(f.clone()), keep(name)), vec![none()], value, false)
            }
            ("try_fold", [init, f]) if is_quiet(init) => {
                let whole = parse_quote!(#rt::FromOutput::from_output(#state));
                (Method::TryFold(f.clone()), vec![parse_quote!(let mut #state = #init;)], whole, true)
            }
            ("try_for_each", [f]) => {
                (Method::TryForEach(f.clone()), vec![], parse_quote!(#rt::FromOutput::from_output(())), true)
            }
            ("partition", [f]) => {
                let no = rewrite.fresh("no");
                let before = [&state, &no].map(|part| parse_quote!(let mut #part = ::std::vec::Vec::new();));
                let parts = parse_quote!(#rt::parted(#state, #no));
                (Method::Partition(f.clone(), no), before.into(), parts, false)
            }
            ("unzip", []) => {
                let before = parse_quote!(let mut #state = ::std::vec::Vec::new(););
                let parts = parse_quote!(::core::iter::Iterator::unzip(::core::iter::IntoIterator::into_iter(#state)));
                (Method::Push(None), vec![before], parts, false)
            }
            ("collect", []) => return Terminal::collect(state, ty?),
            _ => return None,
        };
        Some(Terminal { method, state, before, value, breaks, ty: None })
    }

    /// `collect` into a type that is known by name: an `Option` or a `Result` ends at the first element without
    /// a value.
    fn collect(state: Ident, ty: &Type) -> Option<Terminal> {
        let kind = Kind::of(ty);
        let inner = if kind.is_some() { held_by(ty)? } else { ty };
        let Type::Path(path) = inner else { return None };
        let name = path.path.segments.last()?.ident.to_string();
        let (before, value): (Stmt, Expr) = if name == "Vec" {
            (parse_quote!(let mut #state: #inner = ::std::vec::Vec::new();), parse_quote!(#state))
        } else if std_model::is(&name, Fact::Filled) {
            (
                parse_quote!(let mut #state = ::std::vec::Vec::new();),
                parse_quote!(::core::iter::Iterator::collect::<#inner>(::core::iter::IntoIterator::into_iter(#state))),
            )
        } else {
            return None;
        };
        let value = match kind {
            None => value,
            Some(Kind::Option) => parse_quote!(::core::option::Option::Some(#value)),
            Some(Kind::Result) => parse_quote!(::core::result::Result::Ok(#value)),
        };
        Some(Terminal {
            method: Method::Push(kind),
            state,
            before: vec![before],
            value,
            breaks: kind.is_some(),
            ty: kind.map(|_| ty.clone()),
        })
    }
}

/// What an `Option` or `Result` of this type holds.
fn held_by(ty: &Type) -> Option<&Type> {
    match Kind::of(ty)? {
        Kind::Option => super::expected::generic_argument(ty, "Option", 0),
        Kind::Result => super::expected::generic_argument(ty, "Result", 0),
    }
}

fn keep(name: &str) -> Keep {
    if name.starts_with("max") { Keep::Greatest } else { Keep::Least }
}

/// The code of a chain; of a total that might stop early the chain as it stands beside it, and the type decides. Under `strict`
/// rustc refuses such types.
pub(super) fn or_left(
    rewrite: &Rewrite<'_>,
    terminal: &Terminal,
    code: Expr,
    chain: &syn::ExprMethodCall,
) -> Expr {
    let Method::Total(op, of) = &terminal.method else { return code };
    let (krate, state) = (rewrite.krate, &terminal.state);
    let rt = quote::quote!(#krate::__rt);
    let before = quote::quote!(let mut #state = #rt::total_of_none::<#rt::#op, #of, _>(););
    if rewrite.strict {
        let span = chain.method.span();
        let mut place = state.clone();
        place.set_span(place.span().located_at(span));
        let check = quote::quote_spanned!(span=> #rt::must_add_all(&#place););
        return parse_quote!({ #before #check #code });
    }
    let left = if held_by(of).is_some_and(crate::lockstep::is_primitive) {
        quote::quote!(left_to_number)
    } else {
        quote::quote!(left_to_type)
    };
    parse_quote!({
        #before
        if #rt::adds_all::<#rt::#op, #of, _>(&#state) #code else { #rt::#left::<#of>(#chain) }
    })
}

/// Whether a call is such a total, left to its type; and what is said of the calls in it, if it may happen.
pub(crate) fn left_total(e: &syn::ExprCall) -> Option<Option<&'static str>> {
    let Expr::Path(func) = &*e.func else { return None };
    let mut names = func.path.segments.iter().rev().map(|segment| &segment.ident);
    let name = names.next()?;
    if names.next()? != "__rt" {
        None
    } else if name == "left_to_type" {
        Some(Some(
            "a `sum` or `product` may stop early if its type is not one of the library's numbers: then the calls in it \
             are made one by one",
        ))
    } else {
        (name == "left_to_number").then_some(None)
    }
}

/// What a sum or product of no numbers is.
fn neutral(ty: &Type, sum: bool) -> Option<Expr> {
    if !crate::lockstep::is_primitive(ty) {
        return None;
    }
    Some(match (crate::ir::text(ty).as_str(), sum) {
        ("f32" | "f64", true) => parse_quote!(-0.0),
        ("f32" | "f64", false) => parse_quote!(1.0),
        (_, true) => parse_quote!(0),
        (_, false) => parse_quote!(1),
    })
}

/// Whether an expression can be evaluated before what stands left of it: it neither fails nor reads anything that
/// might change.
pub(crate) fn is_quiet(expr: &Expr) -> bool {
    match crate::mentions::bare(expr) {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => true,
        Expr::Unary(e) => {
            matches!(e.op, syn::UnOp::Neg(_)) && matches!(*e.expr, Expr::Lit(_) | Expr::Path(_))
        }
        Expr::Tuple(e) => e.elems.iter().all(is_quiet),
        Expr::Array(e) => e.elems.iter().all(is_quiet),
        Expr::Repeat(e) => is_quiet(&e.expr) && is_quiet(&e.len),
        Expr::Macro(m) => m.mac.path.is_ident("vec") && m.mac.tokens.is_empty(),
        Expr::Call(e) => {
            let Expr::Path(func) = &*e.func else { return false };
            let last = func.path.segments.last().map(|s| s.ident.to_string());
            match last.as_deref() {
                Some("new" | "default") => e.args.is_empty(),
                Some("Some" | "Ok" | "Err") => e.args.iter().all(is_quiet),
                _ => false,
            }
        }
        _ => false,
    }
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
    let _ = &around.stop;
    Some(match &terminal.method {
        Method::Number(op) => vec![parse_quote!(#state #op #item;)],
        Method::Total(op, of) => {
            let krate = rewrite.krate;
            let rt = quote::quote!(#krate::__rt);
            let (next, done) = (rewrite.fresh("next"), rewrite.fresh("done"));
            let stop = super::iterators::stop(around);
            // That a type which is not known yet is a sum of its like would be a guess.
            let by_step = (!matches!(of, Type::Infer(_))).then(|| quote::quote!(ByStep as _,));
            vec![
                parse_quote!(let (#next, #done) = {
                    use #rt::{#by_step ToFirstNone as _, ToTheEnd as _};
                    (&&&#rt::Adding::<#rt::#op, #of, _>::of(&#item)).total_step(#state, #item)
                };),
                parse_quote!(#state = #next;),
                parse_quote!(if #done #stop),
            ]
        }
        Method::Fold(f) => {
            let next = apply(rewrite, f, &[Arg::Value(state.clone()), Arg::Value(item.clone())])?;
            vec![parse_quote!(#state = #next;)]
        }
        Method::ForEach(f) => {
            let done = apply(rewrite, f, &value())?;
            vec![parse_quote!({ #done; })]
        }
        Method::Ends(f, truth) => {
            let holds = condition(apply(rewrite, f, &value())?);
            let holds: Expr = if *truth { holds } else { parse_quote!(!#holds) };
            vec![parse_quote!(if #holds { break #label #truth; })]
        }
        Method::Find(f) => {
            let holds = condition(apply(rewrite, f, &by_ref())?);
            vec![parse_quote!(if #holds { break #label ::core::option::Option::Some(#item); })]
        }
        Method::FindMap(f) => {
            let found = condition(apply(rewrite, f, &value())?);
            let it = rewrite.fresh("found");
            vec![parse_quote!(if let ::core::option::Option::Some(#it) = #found {
                break #label ::core::option::Option::Some(#it);
            })]
        }
        Method::Position(f) => {
            let holds = condition(apply(rewrite, f, &value())?);
            vec![
                parse_quote!(if #holds { break #label ::core::option::Option::Some(#state); }),
                parse_quote!(#state += 1;),
            ]
        }
        Method::Count => vec![parse_quote!({ let _ = #item; }), parse_quote!(#state += 1;)],
        Method::Last => vec![parse_quote!(#state = ::core::option::Option::Some(#item);)],
        Method::Reduce(f) => {
            let best = rewrite.fresh("best");
            let next = apply(rewrite, f, &[Arg::Value(best.clone()), Arg::Value(item.clone())])?;
            let mut code = vec![holds(rewrite, state, &parse_quote!(#item))];
            code.push(best_of(state, &parse_quote!(#best), next, &parse_quote!(#item)));
            code
        }
        Method::TryFold(f) => {
            let next = apply(rewrite, f, &[Arg::Value(state.clone()), Arg::Value(item.clone())])?;
            let go_on = parse_quote!(#state = __value);
            vec![try_step(rewrite, next, go_on, label)]
        }
        Method::TryForEach(f) => {
            let next = apply(rewrite, f, &value())?;
            vec![try_step(
                rewrite,
                next,
                parse_quote!({
                    let () = __value;
                }),
                label,
            )]
        }
        Method::Partition(f, no) => {
            let holds = condition(apply(rewrite, f, &by_ref())?);
            vec![parse_quote!(::std::vec::Vec::push(if #holds { &mut #state } else { &mut #no }, #item);)]
        }
        Method::Best(by, keep) => {
            let best = rewrite.fresh("best");
            return self::best(rewrite, state, item, &best, by, *keep);
        }
        Method::Push(None) => vec![parse_quote!(::std::vec::Vec::push(&mut #state, #item);)],
        Method::Push(Some(kind)) => {
            let (it, rest) = (rewrite.fresh("item"), rewrite.fresh("rest"));
            vec![match kind {
                Kind::Option => parse_quote!(match #item {
                    ::core::option::Option::Some(#it) => ::std::vec::Vec::push(&mut #state, #it),
                    ::core::option::Option::None => break #label ::core::option::Option::None,
                }),
                Kind::Result => parse_quote!(match #item {
                    ::core::result::Result::Ok(#it) => ::std::vec::Vec::push(&mut #state, #it),
                    ::core::result::Result::Err(#rest) => break #label ::core::result::Result::Err(#rest),
                }),
            }]
        }
    })
}

/// One step of what ends early: `go_on` does with its `__value` what is to be done.
fn try_step(rewrite: &Rewrite<'_>, next: Expr, go_on: Expr, label: &Lifetime) -> Stmt {
    let krate = rewrite.krate;
    parse_quote!(match #krate::__rt::try_step(#next) {
        ::core::ops::ControlFlow::Continue(__value) => #go_on,
        ::core::ops::ControlFlow::Break(__whole) => break #label __whole,
    })
}

/// Says that the state is an `Option` of such a value: its type must be known before it is looked at, although the
/// first value is put in behind.
fn holds(rewrite: &Rewrite<'_>, state: &Ident, value: &Expr) -> Stmt {
    let krate = rewrite.krate;
    match value {
        Expr::Tuple(t) => {
            let (key, item) = (&t.elems[0], &t.elems[1]);
            parse_quote!(#krate::__rt::holds_keyed(&#state, &#key, &#item);)
        }
        value => parse_quote!(#krate::__rt::holds(&#state, &#value);),
    }
}

/// `state = Some(match state { Some(best) => next, None => first })`.
fn best_of(state: &Ident, best: &syn::Pat, next: Expr, first: &Expr) -> Stmt {
    parse_quote!(#state = ::core::option::Option::Some(match #state {
        ::core::option::Option::Some(#best) => #next,
        ::core::option::Option::None => #first,
    });)
}

fn best(
    rewrite: &mut Rewrite<'_>,
    state: &Ident,
    item: &Ident,
    best: &Ident,
    by: &By,
    keep: Keep,
) -> Option<Vec<Stmt>> {
    let choose = |order: Expr, old: Expr, new: Expr| -> Expr {
        let (greater, other) = if keep == Keep::Greatest { (old, new) } else { (new, old) };
        parse_quote!(match #order { ::core::cmp::Ordering::Greater => #greater, _ => #other })
    };
    let (old, new): (Expr, Expr) = (parse_quote!(#best), parse_quote!(#item));
    let key = rewrite.fresh("key");
    let whole: Expr = match by {
        By::Key(_) => parse_quote!((#key, #item)),
        _ => new.clone(),
    };
    let holds = holds(rewrite, state, &whole);
    Some(match by {
        By::Order | By::Comparison(_) => {
            let order = match by {
                By::Comparison(f) => {
                    condition(apply(rewrite, f, &[Arg::Ref(best.clone()), Arg::Ref(item.clone())])?)
                }
                _ => parse_quote!(::core::cmp::Ord::cmp(&#best, &#item)),
            };
            vec![holds, best_of(state, &parse_quote!(#best), choose(order, old, new.clone()), &new)]
        }
        By::Key(f) => {
            let best_key = rewrite.fresh("key");
            let value = apply(rewrite, f, &[Arg::Ref(item.clone())])?;
            let order = parse_quote!(::core::cmp::Ord::cmp(&#best_key, &#key));
            let next = choose(order, parse_quote!((#best_key, #best)), whole.clone());
            vec![
                parse_quote!(let #key = #value;),
                holds,
                best_of(state, &parse_quote!((#best_key, #best)), next, &whole),
            ]
        }
    })
}
