//! What ends a chain over lists: the variables before the loop, the rest of a round, and the value behind the loop.
//!
//! ```text
//! .fold(init, |s, x| e)      ──▶   let mut state = init; for … { let s = state; state = e; } state
//! .position(|x| t)           ──▶   let mut place = 0; let mut state = false; for … { if t { place = at; state = true; break; } } …
//! .find(|x| t)               ──▶   let mut state = None; for … { if t { state = Some(x); break; } } state
//! ```
//!
//! **Invariant:** what is evaluated, and in which order, stays. A variable has the type that the chain's value has, wherever that decides what
//! code means.

use proc_macro2::Span;
use quote::quote;
use syn::{Expr, ExprMethodCall, Ident, Member, Pat, Stmt, Type, UnOp, parse_quote};

use crate::desugar::chain_loop::is_quiet;
use crate::desugar::chain_rounds::{Round, closure};
use crate::desugar::terminals::neutral;
use crate::index::definitions::{named, type_argument};
use crate::resolve::infer::spelled;
use crate::std_models::pure::{is_float, is_primitive};
use crate::syntax::mentions::{bare, is_variable, text};
use crate::syntax::walk::{self, At};

/// A chain with its end.
pub(super) struct Ended<'n> {
    pub(super) before: Vec<Stmt>,
    pub(super) value: Expr,
    pub(super) round: Round<'n>,
    /// What the loop goes over.
    pub(super) source: Expr,
}

/// Whether the loop of a chain that ends so is left early.
pub(super) fn leaves(end: &Ident) -> bool {
    ["any", "all", "position", "find", "find_map"].iter().any(|name| end == name)
}

/// The end of a chain over a source. `is_adapted` says whether there are adaptors with closures before, and `type_of` the type of an expression,
/// if it is known.
pub(super) fn end<'n>(
    last: &ExprMethodCall,
    mut source: Expr,
    mut round: Round<'n>,
    is_short: bool,
    is_adapted: bool,
    type_of: &dyn Fn(&Expr) -> Option<Type>,
) -> Option<Ended<'n>> {
    let chain = &Expr::MethodCall(last.clone());
    let state = (round.names)("state");
    let args: Vec<&Expr> = last.args.iter().collect();
    let (before, value): (Vec<Stmt>, Expr) = match (last.method.to_string().as_str(), &args[..]) {
        // The list is looked at before the first value is made.
        ("fold", [init, step]) if is_quiet(init) || !may_fail(&source) => {
            let written = match step {
                Expr::Closure(c) => match c.inputs.first() {
                    Some(Pat::Type(pat)) => Some((*pat.ty).clone()),
                    _ => None,
                },
                _ => None,
            };
            let ty = written.or_else(|| type_of(chain)).or_else(|| type_of(init));
            round.fold(&state, step, ty.is_some())?;
            let ty = ty.map(|ty| quote!(: #ty));
            (vec![parse_quote!(let mut #state #ty = #init;)], parse_quote!(#state))
        }
        (name @ ("sum" | "product"), []) if is_short || is_adapted => {
            let ty = spelled(last)?;
            let neutral = neutral(ty, name == "sum")?;
            let element = round.value();
            round.stmts.push(match name {
                "sum" => parse_quote!(#state += #element;),
                _ => parse_quote!(#state *= #element;),
            });
            (vec![parse_quote!(let mut #state: #ty = #neutral;)], parse_quote!(#state))
        }
        ("count", []) if is_adapted => {
            round.stmts.push(parse_quote!(#state += 1;));
            (vec![parse_quote!(let mut #state = 0usize;)], parse_quote!(#state))
        }
        (name @ ("any" | "all"), [test]) => {
            let test = round.apply(closure(test)?)?;
            let (test, value): (Expr, Expr) = match name {
                "any" => (test, parse_quote!(#state)),
                _ => (parse_quote!(!(#test)), parse_quote!(!#state)),
            };
            // A few rounds are straight code, which nothing leaves.
            round.stmts.push(match is_short {
                true => parse_quote!(#state = #state || #test;),
                false => parse_quote!(if #test { #state = true; break; }),
            });
            (vec![parse_quote!(let mut #state = false;)], value)
        }
        ("position", [test]) if !is_short => {
            let (test, place) = (round.apply(closure(test)?)?, (round.names)("place"));
            if !is_adapted {
                let (at, pat) = ((round.names)("at"), round.pat.take()?);
                round.pat = Some(parse_quote!((#at, #pat)));
                source = parse_quote!(#source.enumerate());
                round.stmts.push(parse_quote!(if #test { #place = #at; #state = true; break; }));
            } else {
                round.stmts.push(parse_quote!(if #test { #state = true; break; }));
                round.stmts.push(parse_quote!(#place += 1;));
            }
            let before = vec![parse_quote!(let mut #place = 0usize;), parse_quote!(let mut #state = false;)];
            let found = parse_quote! {
                if #state { ::core::option::Option::Some(#place) } else { ::core::option::Option::None }
            };
            (before, found)
        }
        (name, args) if !is_short => {
            let ty = type_of(chain)?;
            let element = type_argument(&ty, 0).filter(|_| named(&ty, "Option"))?;
            found(&mut round, &state, name, args, element)?;
            (vec![parse_quote!(let mut #state: #ty = None;)], parse_quote!(#state))
        }
        _ => return None,
    };
    Some(Ended { before, value, round, source })
}

/// The rest of a round of a chain that yields one of its elements, if there are any.
fn found(round: &mut Round<'_>, state: &Ident, name: &str, args: &[&Expr], element: &Type) -> Option<()> {
    let best = (round.names)("best");
    match (name, args) {
        ("find", [test]) => {
            round.filter(closure(test)?)?;
            let item = round.value();
            round.stmts.extend([parse_quote!(#state = Some(#item);), parse_quote!(break;)]);
        }
        ("find_map", [find]) => {
            round.filter_map(closure(find)?)?;
            let item = round.value();
            round.stmts.extend([parse_quote!(#state = Some(#item);), parse_quote!(break;)]);
        }
        ("last", []) => {
            let item = round.value();
            round.stmts.push(parse_quote!(#state = Some(#item);));
        }
        ("min" | "max", []) if is_primitive(element) && !is_float(element) => {
            let (item, method) = (round.item(), Ident::new(name, Span::mixed_site()));
            round.stmts.push(parse_quote! {
                #state = if let Some(#best) = #state { Some(#best.#method(#item)) } else { Some(#item) };
            });
        }
        ("reduce", [step]) => {
            let item = round.item();
            let (pat, next): (Pat, Expr) = match bare(step) {
                Expr::Path(path) if path.path.segments.len() > 1 => {
                    (parse_quote!(#best), parse_quote!(#path(#best, #item)))
                }
                step => {
                    let closure = closure(step)?;
                    let [one, other] = &closure.inputs.iter().collect::<Vec<_>>()[..] else { return None };
                    let body = &closure.body;
                    round.closures.push((**body).clone());
                    ((*one).clone(), parse_quote!({ let #other = #item; #body }))
                }
            };
            round.stmts.push(parse_quote! {
                #state = if let Some(#pat) = #state { Some(#next) } else { Some(#item) };
            });
        }
        ("min_by" | "max_by", [compare]) => {
            let item = round.item();
            let Order { before, panics, greater } = Order::of(compare, &best, &item, element)?;
            // Of equal ones the first is the least, and the last is the greatest.
            let keeps: Expr = match name {
                "min_by" => parse_quote!(!(#greater)),
                _ => greater,
            };
            let checked = panics.map(|panics| -> Stmt {
                parse_quote!(if #panics { ::core::panic!("called `Option::unwrap()` on a `None` value") })
            });
            let checked = checked.iter();
            round.stmts.push(parse_quote! {
                #state = if let Some(#best) = #state {
                    #(#before)*
                    #(#checked)*
                    if #keeps { Some(#best) } else { Some(#item) }
                } else {
                    Some(#item)
                };
            });
        }
        _ => return None,
    }
    Some(())
}

/// How a closure compares floats.
struct Order {
    before: Vec<Stmt>,
    /// When it panics.
    panics: Option<Expr>,
    /// Whether the first is greater.
    greater: Expr,
}

impl Order {
    /// The order of two elements of a type: by `total_cmp`, or by `partial_cmp` and `unwrap`, of them or of the same part of both.
    fn of(compare: &Expr, one: &Ident, other: &Ident, element: &Type) -> Option<Order> {
        if let Expr::Path(path) = bare(compare) {
            let is_total = is_float(element) && text(path) == format!("{} :: total_cmp", text(element));
            return is_total.then(|| Order::total(parse_quote!(#one), parse_quote!(#other), element));
        }
        let closure = closure(bare(compare))?;
        let [Pat::Ident(a), Pat::Ident(b)] = &closure.inputs.iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let Expr::MethodCall(call) = bare(&closure.body) else { return None };
        let (compared, unwraps) = match bare(&call.receiver) {
            Expr::MethodCall(inner) if call.method == "unwrap" => (inner, true),
            _ => (call, false),
        };
        let place = |expr: &Expr| place(expr, (&a.ident, one), (&b.ident, other), element);
        let ((left, ty), (right, other_ty)) = (place(&compared.receiver)?, place(compared.args.first()?)?);
        if !is_float(&ty) || text(&ty) != text(&other_ty) {
            return None;
        }
        match compared.method.to_string().as_str() {
            "total_cmp" if !unwraps => Some(Order::total(left, right, &ty)),
            "partial_cmp" if unwraps => Some(Order {
                before: vec![],
                panics: Some(parse_quote!(!(#left <= #right || #left > #right))),
                greater: parse_quote!(#left > #right),
            }),
            _ => None,
        }
    }

    /// That of `total_cmp`: of integers, made of the bits.
    fn total(left: Expr, right: Expr, ty: &Type) -> Order {
        let (unsigned, signed, sign): (Type, Type, Expr) = match text(ty).as_str() {
            "f32" => (parse_quote!(u32), parse_quote!(i32), parse_quote!(31)),
            _ => (parse_quote!(u64), parse_quote!(i64), parse_quote!(63)),
        };
        let bits = |name: &str, value: Expr| -> (Ident, Stmt) {
            let name = Ident::new(name, Span::mixed_site());
            let stmt = parse_quote!(let #name = #value.to_bits() as #signed;);
            (name, stmt)
        };
        let ((one, first), (other, second)) = (bits("__one", left), bits("__other", right));
        let key = |bits: &Ident| -> Expr {
            parse_quote!(#bits ^ (((#bits >> #sign) as #unsigned) >> 1) as #signed)
        };
        let (left, right) = (key(&one), key(&other));
        Order { before: vec![first, second], panics: None, greater: parse_quote!((#left) > (#right)) }
    }
}

/// A part of one of two elements that a closure is lent, or such an element, with its type.
fn place(expr: &Expr, a: (&Ident, &Ident), b: (&Ident, &Ident), element: &Type) -> Option<(Expr, Type)> {
    match bare(expr) {
        Expr::Reference(e) if e.mutability.is_none() => place(&e.expr, a, b, element),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => place(&e.expr, a, b, element),
        Expr::Field(e) => {
            let (of, ty) = place(&e.base, a, b, element)?;
            let (Type::Tuple(ty), Member::Unnamed(at)) = (&ty, &e.member) else { return None };
            let ty = ty.elems.get(at.index as usize)?.clone();
            Some((parse_quote!(#of.#at), ty))
        }
        other => {
            let of = [a, b].into_iter().find(|(name, _)| is_variable(other, &name.to_string()));
            let (_, value) = of?;
            Some((parse_quote!(#value), element.clone()))
        }
    }
}

/// Whether a chain has an adaptor, or the end of a range, that may fail where it is made.
fn may_fail(source: &Expr) -> bool {
    walk::any(source, |at| match at {
        At::Expr(Expr::MethodCall(e)) => e.method == "step_by",
        At::Expr(e) => matches!(e, Expr::Binary(_)),
        _ => false,
    })
}
