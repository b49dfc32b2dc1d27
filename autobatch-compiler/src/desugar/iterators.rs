//! A chain of iterator adaptors as a loop.
//!
//! The loop runs over what stands before the first closure with a call of the program; each adaptor from there
//! on becomes code in its body, in order, and the last method of the chain ([`crate::desugar::terminals`]) what surrounds it.
//! Adaptors are lazy, so an element runs through all of them before the next one is asked for: just as in a
//! loop.

use syn::{Expr, ExprForLoop, ExprMethodCall, Ident, Pat, Stmt, Type, parse_quote};

use crate::desugar::chain_loop::{Loop, condition, is_quiet, stop};
use crate::desugar::closure::{Arg, apply};
use crate::desugar::rewrite::Rewrite;
use crate::desugar::terminals::{self, Terminal};
use crate::resolve::infer::spelled;
use crate::std_models::facts::{Does, does};
use crate::syntax::mentions::bare;

/// An adaptor.
pub(super) struct Stage {
    name: String,
    args: Vec<Expr>,
}

/// Whether an expression certainly is an iterator.
fn is_iterator(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Range(_) => true,
        Expr::MethodCall(e) => match does(&e.method.to_string()) {
            Does::Start => true,
            Does::Adapt => is_iterator(&e.receiver),
            _ => false,
        },
        Expr::Call(e) => match &*e.func {
            Expr::Path(p) => p.path.segments.iter().rev().nth(1).is_some_and(|module| module.ident == "iter"),
            _ => false,
        },
        _ => false,
    }
}

/// The adaptors of a chain, if one of them has a call of the program, or the loop around it has: from the first one with a closure on, because
/// closures may borrow locals; and what stands before it.
fn stages(rewrite: &Rewrite<'_>, chain: &Expr, mut called: bool) -> Option<(Expr, Vec<Stage>)> {
    let mut stages = Vec::new();
    let mut rest = chain;
    let mut first = None;
    while let Expr::MethodCall(call) = rest {
        let args: Vec<Expr> = call.args.iter().cloned().collect();
        called |= args.iter().any(|arg| rewrite.leads_to_call(arg));
        let closure = args.iter().any(|arg| matches!(arg, Expr::Closure(_)) || rewrite.leads_to_call(arg));
        stages.push(Stage { name: call.method.to_string(), args });
        if closure && is_iterator(&call.receiver) {
            first = Some((stages.len(), &*call.receiver));
        }
        rest = &call.receiver;
    }
    let (count, source) = first.filter(|_| called)?;
    stages.truncate(count);
    stages.reverse();
    // Behind a `skip` std's `take` asks by numbers, and leaves out those whose values don't count.
    if stages.iter().skip_while(|stage| stage.name != "skip").any(|stage| stage.name == "take") {
        return None;
    }
    Some((source.clone(), stages))
}

/// The block that a chain becomes, if its last method is one that asks for all elements; what stands in it is rewritten.
pub(super) fn chain(rewrite: &mut Rewrite<'_>, call: &ExprMethodCall, ty: Option<&Type>) -> Option<Expr> {
    let whole = Expr::MethodCall(call.clone());
    let (source, mut stages) = stages(rewrite, &whole, false)?;
    let last = stages.pop()?;
    let result = ["partition", "try_fold", "try_for_each", "unzip"];
    if call.turbofish.is_some() && result.contains(&last.name.as_str()) {
        return None;
    }
    let terminal = Terminal::new(rewrite, &last.name, &last.args, spelled(call).or(ty))?;
    let label = rewrite.fresh_label("chain");
    let mut around =
        Loop { stop: rewrite.fresh_label("loop"), stops: false, before: Vec::new(), asks: Vec::new() };
    let (source, stages) = turned(source, stages)?;
    let item = rewrite.fresh("item");
    let body = elements(rewrite, &stages, &item, &mut around, &mut |rewrite, item, around| {
        terminals::step(rewrite, &terminal, item, &label, around)
    })?;
    let walk = walk(parse_quote!(#item), source, &around, body);
    let (before, stages_before) = (&terminal.before, &around.before);
    let value = &terminal.value;
    let code: Expr = parse_quote!({ #(#before)* #(#stages_before)* #walk #value });
    let mut code = match (terminal.breaks, &terminal.ty) {
        (false, _) => code,
        (true, None) => parse_quote!(#label: #code),
        (true, Some(ty)) => {
            let whole = rewrite.fresh("chained");
            parse_quote!({ let #whole: #ty = #label: #code; #whole })
        }
    };
    rewrite.expr(&mut code, ty);
    Some(terminals::or_left(rewrite, &terminal, code, call))
}

/// A `for` over a chain.
pub(super) fn for_loop(rewrite: &mut Rewrite<'_>, e: &ExprForLoop) -> Option<Expr> {
    // Closures may borrow locals, which a column can't; in the body they do so anew each time.
    let body: Expr = Expr::Block(syn::ExprBlock { attrs: vec![], label: None, block: e.body.clone() });
    let called = rewrite.callees.calls(&body, &rewrite.bindings);
    let (source, stages) = stages(rewrite, &e.expr, called)?;
    // The loop's own `break`s would leave the inner loop only.
    // A `continue` would pass by what counts for `take`.
    if !e.attrs.is_empty()
        || stages.iter().any(|s| matches!(s.name.as_str(), "flat_map" | "flatten" | "take"))
    {
        return None;
    }
    let stop = e.label.as_ref().map_or_else(|| rewrite.fresh_label("loop"), |label| label.name.clone());
    let mut around = Loop { stop, stops: e.label.is_some(), before: Vec::new(), asks: Vec::new() };
    let (source, stages) = turned(source, stages)?;
    let item = rewrite.fresh("item");
    let (pat, body) = (&e.pat, &e.body);
    let inside = elements(rewrite, &stages, &item, &mut around, &mut |_, item, _| {
        Some(vec![parse_quote!(let #pat = #item;), parse_quote!(#body)])
    })?;
    let walk = walk(parse_quote!(#item), source, &around, inside);
    let before = &around.before;
    Some(parse_quote!({ #(#before)* #walk }))
}

/// `rev` goes to the front: an element that is asked for from the back runs through the same adaptors.
fn turned(mut source: Expr, stages: Vec<Stage>) -> Option<(Expr, Vec<Stage>)> {
    let mut out: Vec<Stage> = Vec::new();
    for stage in stages {
        if stage.name != "rev" {
            out.push(stage);
            continue;
        }
        let symmetric = ["map", "filter", "filter_map", "inspect"];
        if !out.iter().all(|s| symmetric.contains(&s.name.as_str())) {
            return None;
        }
        source = match source {
            Expr::MethodCall(_) | Expr::Paren(_) => parse_quote!(#source.rev()),
            other => parse_quote!((#other).rev()),
        };
    }
    Some((source, out))
}

/// The loop. What an iterator borrows from must not be a temporary of the loop's head.
fn walk(pat: Pat, source: Expr, around: &Loop, body: Vec<Stmt>) -> Expr {
    let label = around.stops.then(|| {
        let stop = &around.stop;
        quote::quote!(#stop:)
    });
    let walk: Expr = parse_quote!(#label for #pat in #source { #(#body)* });
    match &around.asks[..] {
        [] => walk,
        asks => parse_quote!(if #(#asks)&&* { #walk }),
    }
}

type Rest<'a> = &'a mut dyn FnMut(&mut Rewrite<'_>, &Ident, &mut Loop) -> Option<Vec<Stmt>>;

/// The code for one element, from the first of `stages` on.
fn elements(
    rewrite: &mut Rewrite<'_>,
    stages: &[Stage],
    item: &Ident,
    around: &mut Loop,
    last: Rest<'_>,
) -> Option<Vec<Stmt>> {
    let Some((stage, rest)) = stages.split_first() else { return last(rewrite, item, around) };
    let value = || [Arg::Value(item.clone())];
    let by_ref = || [Arg::Ref(item.clone())];
    let next = rewrite.fresh("item");
    Some(match (stage.name.as_str(), &stage.args[..]) {
        ("map", [f]) => {
            let mapped = apply(rewrite, f, &value())?;
            behind(parse_quote!(let #next = #mapped;), elements(rewrite, rest, &next, around, last)?)
        }
        ("inspect", [f]) => {
            let seen = apply(rewrite, f, &by_ref())?;
            behind(parse_quote!({ #seen; }), elements(rewrite, rest, item, around, last)?)
        }
        ("filter", [f]) => {
            let keep = condition(apply(rewrite, f, &by_ref())?);
            let rest = elements(rewrite, rest, item, around, last)?;
            vec![parse_quote!(if #keep { #(#rest)* })]
        }
        ("filter_map", [f]) => {
            let found = condition(apply(rewrite, f, &value())?);
            let rest = elements(rewrite, rest, &next, around, last)?;
            vec![parse_quote!(if let ::core::option::Option::Some(#next) = #found { #(#rest)* })]
        }
        ("map_while", [f]) => {
            let found = condition(apply(rewrite, f, &value())?);
            let rest = elements(rewrite, rest, &next, around, last)?;
            vec![while_some(&next, &found, rest, around)]
        }
        ("take_while", [f]) => {
            let keep = condition(apply(rewrite, f, &by_ref())?);
            let rest = elements(rewrite, rest, item, around, last)?;
            let stop = stop(around);
            vec![parse_quote!(if #keep { #(#rest)* } else { #stop })]
        }
        ("skip_while", [f]) => {
            let skipping = rewrite.fresh("skipping");
            around.before.push(parse_quote!(let mut #skipping = true;));
            let skip = condition(apply(rewrite, f, &by_ref())?);
            let rest = elements(rewrite, rest, item, around, last)?;
            vec![parse_quote!(if #skipping { #skipping = #skip; }), parse_quote!(if !#skipping { #(#rest)* })]
        }
        ("skip", [n]) if is_quiet(n) => {
            let left = rewrite.fresh("left");
            around.before.push(parse_quote!(let mut #left: usize = #n;));
            let rest = elements(rewrite, rest, item, around, last)?;
            vec![parse_quote!(if #left > 0 { #left -= 1; } else { #(#rest)* })]
        }
        // Behind the last of them no more is asked for.
        ("take", [n]) if is_quiet(n) => {
            let left = rewrite.fresh("left");
            around.before.push(parse_quote!(let mut #left: usize = #n;));
            around.asks.push(parse_quote!(#left > 0));
            let mut code = behind(parse_quote!(#left -= 1;), elements(rewrite, rest, item, around, last)?);
            let stop = stop(around);
            code.push(parse_quote!(if #left == 0 #stop));
            code
        }
        ("step_by", [n]) if is_above_zero(n) => {
            let left = rewrite.fresh("left");
            around.before.push(parse_quote!(let mut #left = 0usize;));
            let rest = elements(rewrite, rest, item, around, last)?;
            vec![parse_quote!(if #left > 0 { #left -= 1; } else { #left = #n - 1; #(#rest)* })]
        }
        ("scan", [init, f]) if is_quiet(init) => {
            let state = rewrite.fresh("state");
            around.before.push(parse_quote!(let mut #state = #init;));
            let found = condition(apply(rewrite, f, &[Arg::Mut(state), Arg::Value(item.clone())])?);
            let rest = elements(rewrite, rest, &next, around, last)?;
            vec![while_some(&next, &found, rest, around)]
        }
        ("enumerate", []) => {
            let count = rewrite.fresh("count");
            around.before.push(parse_quote!(let mut #count = 0usize;));
            let code = behind(parse_quote!(#count += 1;), elements(rewrite, rest, &next, around, last)?);
            behind(parse_quote!(let #next = (#count, #item);), code)
        }
        ("copied", []) => {
            behind(parse_quote!(let #next = *#item;), elements(rewrite, rest, &next, around, last)?)
        }
        ("cloned", []) => {
            let clone = parse_quote!(let #next = ::core::clone::Clone::clone(#item););
            behind(clone, elements(rewrite, rest, &next, around, last)?)
        }
        ("into_iter" | "fuse", []) => elements(rewrite, rest, item, around, last)?,
        ("flat_map", [f]) => {
            let inner = apply(rewrite, f, &value())?;
            let rest = elements(rewrite, rest, &next, around, last)?;
            vec![parse_quote!(for #next in #inner { #(#rest)* })]
        }
        ("flatten", []) => {
            let rest = elements(rewrite, rest, &next, around, last)?;
            vec![parse_quote!(for #next in #item { #(#rest)* })]
        }
        _ => return None,
    })
}

/// Code for what is found, and the end of the loop where there is nothing.
fn while_some(next: &Ident, found: &Expr, rest: Vec<Stmt>, around: &mut Loop) -> Stmt {
    let stop = stop(around);
    parse_quote!(if let ::core::option::Option::Some(#next) = #found { #(#rest)* } else { #stop })
}

/// Code behind a statement.
fn behind(first: Stmt, code: Vec<Stmt>) -> Vec<Stmt> {
    std::iter::once(first).chain(code).collect()
}

/// A number that is written out, and not 0.
fn is_above_zero(expr: &Expr) -> bool {
    let Expr::Lit(lit) = expr else { return false };
    matches!(&lit.lit, syn::Lit::Int(n) if n.base10_parse::<usize>().is_ok_and(|n| n > 0))
}
