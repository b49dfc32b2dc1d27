//! State passing: what a function changes behind a `&mut` it takes as a value, and hands back with its result.
//!
//! ```text
//! fn grow(rng: &mut Rng, x: f64) -> f64 {       fn grow(mut rng: Rng, x: f64) -> (f64, Rng) {
//!     rng.0 ^= rng.0 << 13;                         rng.0 ^= rng.0 << 13;
//!     if x < 0.1 {                                  if x < 0.1 {
//!         return x;                      ──▶            return (x, rng);
//!     }                                             }
//!     if x > 9.0 {                                  if x > 9.0 {
//!         grow(rng, x / 2.0)                            grow(rng, x / 2.0)
//!     } else {                                      } else {
//!         1.0 + grow(rng, x - 1.0)                      (1.0 + { let (value, state) = grow(rng, x - 1.0); rng = state; value }, rng)
//!     }                                             }
//! }                                             }
//! ```
//!
//! So a program with states is one of numbers only, and runs where such programs run. It is a copy of the program: the user's function
//! keeps its signature, and so does the scalar code.
//!
//! **Source.** State transformers: Wadler, “Comprehending monads”, 1992, section 4.
//!
//! **Invariant:** a function is rewritten as a whole, or it is named among those that are not. A call with states that is rewritten is one
//! of the program's functions.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::{Block, Expr, Ident, Lifetime, Macro, Stmt, Type, UnOp, parse_quote};

use crate::desugar::aggregates::leaves_within_loops;
use crate::index::definitions::Definitions;
use crate::ir::{self, Program};
use crate::item::model::{Function, Item, Param, Passing, rebind};
use crate::resolve::resolution::{Resolution, VariableTypes};
use crate::syntax::bindings::is_self;
use crate::syntax::mentions::{bare, idents, is_variable, name, spelled_out};
use crate::syntax::standard_macros;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

/// A copy of an item whose functions pass states as values.
pub(crate) struct Passed {
    pub(crate) item: Item,
    /// The types of variables then, by the positions of functions.
    pub(crate) types: Vec<(usize, VariableTypes)>,
    /// The functions that are not rewritten, though they may have states or calls with states.
    left: BTreeSet<usize>,
    /// The names of the functions that have states.
    names: BTreeSet<String>,
}

impl Passed {
    /// Whether a program of the item has functions only that are rewritten, and no call with states in its lane code: that would be one of
    /// the user's function.
    pub(crate) fn is_whole(&self, program: &Program, sources: &[usize]) -> bool {
        let names = |at: At<'_>| match at {
            At::Expr(Expr::Path(p)) => p.path.segments.last().is_some_and(|s| self.has(&s.ident)),
            At::Expr(Expr::MethodCall(call)) => self.has(&call.method),
            At::Macro(mac) => idents(mac.tokens.clone()).iter().any(|word| self.has(word)),
            _ => false,
        };
        let calls = |block: &ir::Block| {
            block.code().any(|stmt| walk::any(stmt, names))
                || block.term.conditions().any(|e| walk::any(e, names))
        };
        !sources.iter().any(|source| self.left.contains(source)) && !program.blocks.iter().any(calls)
    }

    fn has(&self, name: &Ident) -> bool {
        self.names.contains(&name.to_string())
    }
}

/// Passes the states of an item's functions as values. `callable` are the functions that are part of a program, by name.
///
/// `values` are the types beside the item, of which structures of numbers are values.
pub(crate) fn rewrite(
    item: &Item,
    resolution: &Resolution,
    callable: &BTreeMap<String, usize>,
    values: &Definitions,
) -> Passed {
    let has_states = |f: &&usize| item.functions[**f].states().next().is_some();
    let names = callable.iter().filter(|(_, f)| has_states(f)).map(|(name, _)| name.clone()).collect();
    let mut passed = Passed { item: item.clone(), types: vec![], left: BTreeSet::new(), names };
    let callees = Callees { item, values, callable };
    for (position, function) in passed.item.functions.iter_mut().enumerate() {
        let is_called = callable.values().any(|f| *f == position);
        match pass(function, callees, is_called) {
            Some(body) => {
                let mut types = resolution.types(position).clone();
                for param in function.params.iter_mut().filter(|_| is_called) {
                    if let Some(state) = param.state().map(|ty| spelled_out(ty, item.own.as_ref()).clone()) {
                        types.insert(param.ident.to_string(), state.clone());
                        (param.ty, param.passing, param.mutable) = (state, Passing::Each, true);
                    }
                }
                if is_called {
                    function.output = output(&item.functions[position], item.own.as_ref());
                }
                rebind(function, body);
                passed.types.push((position, types));
            }
            None => _ = passed.left.insert(position),
        }
    }
    passed
}

/// What a function hands back: its result, then its states.
fn output(function: &Function, own: Option<&Type>) -> Type {
    let states: Vec<Type> = function.states().map(|(_, ty)| spelled_out(ty, own).clone()).collect();
    let result = &function.output;
    if states.is_empty() { result.clone() } else { parse_quote!((#result, #(#states),*)) }
}

/// The body of a function that passes states as values.
fn pass(function: &Function, callees: Callees<'_>, is_called: bool) -> Option<Block> {
    let own = function.params.iter().filter(|p| is_called && p.state().is_some());
    let own: Vec<&Param> = own.collect();
    let is_value = |p: &Param| p.state().is_some_and(|ty| callees.is_value(ty));
    if own.iter().any(|p| p.pattern.is_some() || p.mutable || !is_value(p)) {
        return None;
    }
    let mut pass = Pass {
        own: own.iter().map(|p| p.ident.clone()).collect(),
        is_unit: matches!(&function.output, Type::Tuple(t) if t.elems.is_empty()),
        callees,
        way_out: None,
        fits: true,
    };
    let mut body = function.body.clone();
    match () {
        () if pass.own.is_empty() => pass.visit_block_mut(&mut body),
        () if leaves_within_loops(&body) => {
            pass.way_out = Some(Lifetime::new("'__way_out", Span::mixed_site()));
            pass.tail_block(&mut body);
            body = pass.left(&body, &function.output);
        }
        () => pass.tail_block(&mut body),
    }
    pass.fits.then_some(body)
}

/// The program's functions, as calls name them.
#[derive(Clone, Copy)]
struct Callees<'a> {
    item: &'a Item,
    /// The types beside the item, of which structures of numbers are values.
    values: &'a Definitions,
    callable: &'a BTreeMap<String, usize>,
}

impl<'a> Callees<'a> {
    /// The function that is called, if it has states.
    fn of(&self, call: &Expr) -> Option<&'a Function> {
        let (called, args) = match call {
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let segments = &path.path.segments;
                let function = self.named(&segments.last()?.ident)?;
                let is_own = |ty: &Ident| ty == "Self" || self.item.own_name().is_some_and(|own| own == ty);
                let fits = match segments.len() {
                    1 => !function.associated,
                    2 => function.associated && is_own(&segments[0].ident),
                    _ => false,
                };
                (Some(function).filter(|_| fits && path.qself.is_none()), call.args.len())
            }
            Expr::MethodCall(call) => {
                let of_self =
                    matches!(&*call.receiver, Expr::Path(p) if p.path.get_ident().is_some_and(is_self));
                (self.named(&call.method).filter(|_| of_self), call.args.len() + 1)
            }
            _ => return None,
        };
        called.filter(|f| f.params.len() == args && f.states().next().is_some())
    }

    /// Whether a state is made of numbers: it may be copied, if it needs no drop.
    fn is_value(&self, state: &Type) -> bool {
        self.values.is_value(spelled_out(state, self.item.own.as_ref()))
    }

    fn named(&self, name: &Ident) -> Option<&'a Function> {
        self.callable.get(&name.to_string()).map(|f| &self.item.functions[*f])
    }
}

struct Pass<'a> {
    /// The function's states.
    own: Vec<Ident>,
    /// Whether it has no other result.
    is_unit: bool,
    callees: Callees<'a>,
    /// The block that is left with the result, if loops are: there, lanes that go on would put down states together with a result.
    way_out: Option<Lifetime>,
    /// Whether all could be rewritten.
    fits: bool,
}

impl Pass<'_> {
    fn is_state(&self, expr: &Expr) -> bool {
        self.own.iter().any(|state| is_variable(expr, &state.to_string()))
    }

    /// A block whose value is the function's result.
    fn tail_block(&mut self, block: &mut Block) {
        let tail = match block.stmts.pop() {
            Some(Stmt::Expr(tail, None)) => Some(tail),
            other => {
                block.stmts.extend(other);
                None
            }
        };
        block.stmts.iter_mut().for_each(|stmt| self.visit_stmt_mut(stmt));
        match tail {
            Some(mut tail) => {
                self.tail(&mut tail);
                match tail {
                    Expr::Block(tail) if tail.label.is_none() => block.stmts.extend(tail.block.stmts),
                    tail => block.stmts.push(Stmt::Expr(tail, None)),
                }
            }
            None if self.is_unit && self.way_out.is_none() => {
                let all = self.with_states(&parse_quote!(()));
                block.stmts.push(Stmt::Expr(all, None));
            }
            // It never ends.
            None => {}
        }
    }

    /// An expression whose value is the function's result.
    fn tail(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(e) => self.tail(&mut e.expr),
            Expr::If(e) if e.else_branch.is_some() => {
                self.visit_expr_mut(&mut e.cond);
                self.tail_block(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.tail(otherwise);
                }
            }
            Expr::Match(e) => {
                self.visit_expr_mut(&mut e.expr);
                for arm in &mut e.arms {
                    self.visit_pat_mut(&mut arm.pat);
                    self.tail(&mut arm.body);
                }
            }
            Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => self.tail_block(&mut e.block),
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => self.visit_expr_mut(expr),
            Expr::Macro(e) if never_ends(&e.mac) => self.visit_expr_mut(expr),
            _ => {
                if let Some(callee) = self.callees.of(expr)
                    && let Some((call, places)) = self.call(callee, expr)
                {
                    let is_own = |(place, own): (&Expr, &Ident)| is_variable(place, &own.to_string());
                    let all_own = places.len() == self.own.len() && places.iter().zip(&self.own).all(is_own);
                    *expr = match (all_own, &self.way_out) {
                        (true, None) => call,
                        (true, Some(_)) => parse_quote!(return #call),
                        (false, None) => self.with_states(&self.value(callee, &call, &places)),
                        (false, Some(_)) => self.value(callee, &call, &places),
                    };
                    return;
                }
                self.visit_expr_mut(expr);
                if self.way_out.is_some() {
                    return;
                }
                *expr = match self.is_unit {
                    true => {
                        let all = self.with_states(&parse_quote!(()));
                        parse_quote!({ #expr; #all })
                    }
                    false => self.with_states(expr),
                };
            }
        }
    }

    /// `let result: T = 'way_out: { … }; (result, rng)`
    fn left(&self, body: &Block, output: &Type) -> Block {
        let (way_out, result) = (&self.way_out, Ident::new("__result", Span::mixed_site()));
        let (stmts, all) = (&body.stmts, self.with_states(&parse_quote!(#result)));
        parse_quote!({ let #result: #output = #way_out: { #(#stmts)* }; #all })
    }

    /// `(value, rng)`
    fn with_states(&self, value: &Expr) -> Expr {
        let own = &self.own;
        parse_quote!((#value, #(#own),*))
    }

    /// A call that is handed states as values, and the places that they come from.
    fn call(&mut self, callee: &Function, call: &Expr) -> Option<(Expr, Vec<Expr>)> {
        let mut call = call.clone();
        let args: Vec<&mut Expr> = match &mut call {
            Expr::Call(e) => e.args.iter_mut().collect(),
            Expr::MethodCall(e) => std::iter::once(&mut *e.receiver).chain(&mut e.args).collect(),
            _ => return None,
        };
        let mut places = Vec::new();
        for (arg, param) in args.into_iter().zip(&callee.params) {
            if param.state().is_none() {
                self.visit_expr_mut(arg);
                continue;
            }
            let Some(place) = self.place(arg) else {
                self.fits = false;
                return None;
            };
            *arg = place.clone();
            places.push(place);
        }
        Some((call, places))
    }

    /// The place behind an argument that is a `&mut`: a state, or a variable that is lent, or a field of either.
    fn place(&self, arg: &Expr) -> Option<Expr> {
        let arg = bare(arg);
        match arg {
            Expr::Reference(e) if e.mutability.is_some() => self.lent(&e.expr),
            state => self.is_state(state).then(|| state.clone()),
        }
    }

    fn lent(&self, place: &Expr) -> Option<Expr> {
        match bare(place) {
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && self.is_state(&e.expr) => {
                Some(bare(&e.expr).clone())
            }
            Expr::Field(e) => {
                let base = if self.is_state(&e.base) { bare(&e.base).clone() } else { self.lent(&e.base)? };
                let member = &e.member;
                Some(parse_quote!(#base.#member))
            }
            // A reference can't be lent so: it is not declared `mut`.
            variable => (name(variable).is_some() && !self.is_state(variable)).then(|| variable.clone()),
        }
    }

    /// The value of a call, behind which the places have their states.
    fn value(&self, callee: &Function, call: &Expr, places: &[Expr]) -> Expr {
        let ty = output(callee, self.callees.item.own.as_ref());
        let value = Ident::new("__value", Span::mixed_site());
        let states = (0..places.len()).map(|nth| Ident::new(&format!("__state{nth}"), Span::mixed_site()));
        let states: Vec<Ident> = states.collect();
        parse_quote!({ let (#value, #(#states),*): #ty = #call; #(#places = #states;)* #value })
    }
}

fn never_ends(mac: &Macro) -> bool {
    mac.path.get_ident().is_some_and(standard_macros::panics)
}

impl VisitMut for Pass<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(callee) = self.callees.of(expr) {
            if let Some((call, places)) = self.call(callee, expr) {
                *expr = self.value(callee, &call, &places);
            }
            return;
        }
        match expr {
            // What these leave or hold is not seen here. Calls in them stay, which `Passed::is_whole` sees.
            Expr::Closure(_) | Expr::Async(_) | Expr::Unsafe(_) | Expr::RawAddr(_) => {
                self.fits &= self.own.is_empty();
            }
            Expr::Try(_) if !self.own.is_empty() => self.fits = false,
            Expr::Return(e) if !self.own.is_empty() => {
                e.expr.iter_mut().for_each(|value| self.tail(value));
                match (&self.way_out, &e.expr) {
                    // A tail call.
                    (Some(_), Some(value)) if matches!(**value, Expr::Return(_)) => *expr = (**value).clone(),
                    (Some(way_out), value) => *expr = parse_quote!(break #way_out #value),
                    (None, None) => e.expr = Some(Box::new(self.with_states(&parse_quote!(())))),
                    (None, Some(_)) => {}
                }
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && self.is_state(&e.expr) => {
                *expr = bare(&e.expr).clone();
            }
            Expr::Field(e) if self.is_state(&e.base) => {}
            Expr::Index(e) if self.is_state(&e.expr) => self.visit_expr_mut(&mut e.index),
            Expr::MethodCall(e) if self.is_state(&e.receiver) => {
                e.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            Expr::MethodCall(e) => {
                self.visit_expr_mut(&mut e.receiver);
                e.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            Expr::Call(e) => {
                self.visit_expr_mut(&mut e.func);
                e.args.iter_mut().for_each(|arg| self.argument(arg));
            }
            other if self.is_state(other) => self.fits = false,
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let mut words = idents(mac.tokens.clone()).into_iter();
        self.fits &= !words.any(|word| self.own.contains(&word) || self.callees.named(&word).is_some());
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Pass<'_> {
    /// An argument of another function: a state is lent to it.
    fn argument(&mut self, arg: &mut Expr) {
        match self.is_state(arg) {
            true => *arg = parse_quote!(&mut #arg),
            false => self.visit_expr_mut(arg),
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::{ToTokens, quote};

    use super::*;
    use crate::ir::testing::functions;
    use crate::syntax::call_sites;
    use crate::syntax::mentions::text;

    /// The item's last function with states as values; `None` if it stays.
    fn passed(item: TokenStream) -> Option<(String, String)> {
        let functions = functions(item);
        let callable = functions.iter().enumerate().map(|(nth, f)| (f.sig.ident.to_string(), nth)).collect();
        let item = Item { functions, ..Item::default() };
        let last = item.functions.len() - 1;
        let passed = rewrite(&item, &Resolution::default(), &callable, &item.declared.beside.with_owned());
        let function = &passed.item.functions[last];
        let mut body = function.body.clone();
        call_sites::unmark(&mut body);
        let body = TokenStream::from_iter(body.stmts.iter().map(ToTokens::to_token_stream));
        (!passed.left.contains(&last)).then(|| (text(&function.output), text(&body)))
    }

    #[track_caller]
    fn becomes(item: TokenStream, output: TokenStream, body: TokenStream) {
        assert_eq!(passed(item), Some((text(&output), text(&body))));
    }

    #[test]
    fn states_stand_behind_each_result() {
        becomes(
            quote! {
                fn f(s: &mut u64, x: f64) -> f64 {
                    *s += 1;
                    if x < 0.0 { return -x; }
                    match *s % 3 { 0 => x, 1 => { s.pow(2); g(s) } _ => panic!() }
                }
            },
            quote!((f64, u64)),
            quote! {
                s += 1;
                if x < 0.0 { return (-x, s); }
                match s % 3 { 0 => (x, s), 1 => { s.pow(2); (g(&mut s), s) } _ => panic!() }
            },
        );
        becomes(
            quote!(
                fn f(s: &mut [u64; 2]) {
                    if s[0] == 0 {
                        return;
                    }
                    while s[1] > 0 {
                        s[1] /= 2;
                    }
                }
            ),
            quote!(((), [u64; 2])),
            quote!(if s[0] == 0 { return ((), s); } while s[1] > 0 { s[1] /= 2; }; ((), s)),
        );
    }

    #[test]
    fn loops_are_left_with_the_result_alone() {
        becomes(
            quote! {
                fn f(s: &mut u64, n: u64) -> u64 {
                    for i in 0..n {
                        *s += i;
                        if *s > 9 { return i; }
                        if *s > 7 { return f(s, i); }
                    }
                    if n > 3 { f(s, n - 1) } else { 0 }
                }
            },
            quote!((u64, u64)),
            quote! {
                let __result: u64 = '__way_out: {
                    for i in 0..n {
                        s += i;
                        if s > 9 { break '__way_out i; }
                        if s > 7 { return f(s, i); }
                    }
                    if n > 3 { return f(s, n - 1) } else { 0 }
                };
                (__result, s)
            },
        );
    }

    #[test]
    fn calls_hand_states_on_and_back() {
        // In tail position all states in their order are those of the callee's result.
        becomes(
            quote!(
                fn f(a: &mut u64, b: &mut u32, n: u64) -> u64 {
                    if n == 0 { *a } else { f(a, &mut *b, n - 1) }
                }
            ),
            quote!((u64, u64, u32)),
            quote!(if n == 0 { (a, a, b) } else { f(a, b, n - 1) }),
        );
        becomes(
            quote!(
                fn f(a: &mut u64, b: &mut u64, n: u64) -> u64 {
                    1 + f(b, a, n - 1)
                }
            ),
            quote!((u64, u64, u64)),
            quote!((
                1 + {
                    let (__value, __state0, __state1): (u64, u64, u64) = f(b, a, n - 1);
                    b = __state0;
                    a = __state1;
                    __value
                },
                a,
                b
            )),
        );
    }

    #[test]
    fn what_is_lent_is_the_value_of_a_place() {
        becomes(
            quote! {
                mod m {
                    fn g(s: &mut u64) -> u64 { *s }
                    fn f(w: &mut (u64, u32), n: u64) -> u64 {
                        let mut own = n;
                        g(&mut own);
                        g(&mut w.0)
                    }
                }
            },
            quote!((u64, (u64, u32))),
            quote! {
                let mut own = n;
                { let (__value, __state0): (u64, u64) = g(own); own = __state0; __value };
                ({ let (__value_2, __state0_2): (u64, u64) = g(w.0); w.0 = __state0_2; __value_2 }, w)
            },
        );
    }

    #[test]
    fn a_state_that_is_more_than_a_place_stays() {
        for body in [
            quote!({
                let r = s;
                *r += 1;
                x
            }),
            quote!({
                std::mem::swap(s, s);
                let y = s == s;
                x
            }),
            quote!({
                let mut next = || {
                    *s += 1;
                    *s
                };
                next() + x
            }),
            quote!({
                assert!(*s > 0, "{s}");
                x
            }),
            quote!({ f(unsafe { s }, x) }),
            quote!({ f(&mut [1, 2][x as usize], x) }),
        ] {
            assert_eq!(passed(quote!(fn f(s: &mut u64, x: u64) -> u64 #body)), None, "{body}");
        }
        assert_eq!(
            passed(quote!(
                fn f(s: &mut u64, x: Option<u64>) -> Option<u64> {
                    *s += x?;
                    x
                }
            )),
            None
        );
        assert_eq!(
            passed(quote!(
                fn f(&mut (a, _): &mut (u64, u64), x: u64) -> u64 {
                    a + x
                }
            )),
            None
        );
    }
}
