//! Arrays of a few numbers that are indexed by numbers only, once loops of a few rounds are unrolled: they are taken apart like tuples.
//!
//! ```text
//! for i in 0..2 { p[i] = s[i] + h * a[i]; }   ──▶   p[0] = s[0] + h * a[0]; p[1] = s[1] + h * a[1];
//! ```
//!
//! Of two to four elements one may be chosen by what is computed ([`choose`]). An array that something else refers to, or with more
//! elements and such an index, stays one.
//!
//! **Invariant:** the code makes the loop's rounds. A loop is unrolled only if it counts through an array, so its counter is a `usize`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::{BinOp, Block, Expr, ExprForLoop, Ident, Pat, RangeLimits, Stmt, Type, parse_quote};

use crate::desugar::chosen_elements::{choose, may_be_chosen};
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::substitution::{index, put_in_place};
use crate::item::array_shapes;
use crate::item::model::Function;
use crate::resolve::types::{Scopes, Types, is_number};
use crate::std_models::pure::{is_primitive, literal};
use crate::std_models::trip_count::SHORT;
use crate::syntax::mentions::{assignment, bare, is_variable, name, untyped};
use crate::syntax::visit::{self, Visit};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Next};

/// The most elements of arrays that change: each takes a column where it lives across blocks.
const MOST_CHANGING: usize = 16;
/// The most elements of all of them.
const MOST: usize = 64;
/// The most expressions that the rounds of a loop come to.
const MOST_EXPRESSIONS: usize = 400;

/// The type of an array's elements, and how many they are.
pub(super) type Array = (Type, usize);

/// Unrolls the loops that index such arrays. The arrays, and what rustc has to check.
pub(super) fn unroll(
    body: &mut Block,
    function: &Function,
    scopes: &Scopes,
    types: &Types<'_>,
) -> (BTreeMap<String, Array>, HelperChecks) {
    let mut constants = types.definitions.numbers();
    constants.retain(|name, _| function.sees(&Ident::new(name, Span::call_site())));
    let numbers = Numbers { constants, used: RefCell::default() };
    let all = function.bindings.keys();
    let shapes = &array_shapes::of(function, types.definitions);
    let mut arrays: BTreeMap<String, Array> = all
        .filter_map(|name| {
            let len = numbers
                .of(shapes.get(name)?.lengths.first()?, &[])
                .filter(|len| (1..=SHORT).contains(len))?;
            let elem = element(name, body, scopes, types)?;
            Some((name.clone(), (elem, usize::try_from(len).ok()?)))
        })
        .collect();
    let mut indices = Indices { numbers: &numbers, counters: vec![], others: BTreeSet::new() };
    indices.visit_block(body);
    let others = indices.others;
    // What is only handed on costs nothing as a whole.
    let is_given = |name: &String| function.params.iter().any(|p| p.ident == name && !p.mutable);
    arrays.retain(|name, array| !others.contains(name) || may_be_chosen(array) && !is_given(name));
    let is_fixed = |name: &String| !function.bindings[name].mutable;
    let elements =
        |of: &mut dyn Iterator<Item = (&String, &Array)>| -> usize { of.map(|(_, (_, len))| len).sum() };
    if elements(&mut arrays.iter().filter(|(name, _)| !is_fixed(name))) > MOST_CHANGING {
        arrays.retain(|name, _| is_fixed(name));
    }
    if elements(&mut arrays.iter()) > MOST {
        arrays.clear();
    }
    while !arrays.is_empty() {
        let mut unrolled = body.clone();
        Unroll { numbers: &numbers, arrays: &arrays, scopes, types }.visit_block_mut(&mut unrolled);
        choose(&mut unrolled, &arrays, scopes, types);
        let failing = failing(&unrolled, &arrays);
        if failing.is_empty() {
            *body = unrolled;
            break;
        }
        arrays.retain(|name, _| !failing.contains(name));
    }
    let mut checks = HelperChecks::default();
    for name in numbers.used.take() {
        checks.is_number(&Ident::new(&name, Span::call_site()), numbers.constants[&name]);
    }
    (arrays, checks)
}

/// The type of a variable's elements, if it is an array of numbers.
fn element(name: &str, body: &Block, scopes: &Scopes, types: &Types<'_>) -> Option<Type> {
    let ty = types.plain(scopes.iter().find_map(|scope| scope.get(name))?.as_ref()?);
    let Type::Array(array) = &ty else { return None };
    match &*array.elem {
        elem if is_primitive(elem) => Some(elem.clone()),
        elem if is_number(elem) => given(name, body, scopes, types),
        _ => None,
    }
}

/// The type of a value that an element is given: literals alone say none, and elements have one type.
fn given(name: &str, body: &Block, scopes: &Scopes, types: &Types<'_>) -> Option<Type> {
    let mut found = None;
    walk::each(body, |at| {
        if let At::Expr(expr) = at
            && let Some((place, value)) = assignment(expr)
            && let Expr::Index(e) = bare(place)
            && is_variable(&e.expr, name)
        {
            found = found.take().or_else(|| types.of(scopes, value).filter(is_primitive));
        }
    });
    found
}

/// Arrays with an index that is out of bounds, or that has stayed more than a number.
fn failing(body: &Block, arrays: &BTreeMap<String, Array>) -> BTreeSet<String> {
    let mut failing = BTreeSet::new();
    walk::each(body, |at| {
        if let At::Expr(Expr::Index(e)) = at
            && let Some((name, (_, len))) = name(bare(&e.expr)).and_then(|name| arrays.get_key_value(&name))
            && literal(&e.index).is_none_or(|at| at >= *len as u64)
        {
            failing.insert(name.clone());
        }
    });
    failing
}

/// The values of numbers that are known before the code runs.
struct Numbers {
    constants: BTreeMap<String, u64>,
    /// The constants that have been asked for.
    used: RefCell<BTreeSet<String>>,
}

/// A loop's counter, and what it counts from and to.
type Counter = (String, u64, u64);

impl Numbers {
    /// A number made of literals, constants and counters; of a counter it is the first.
    fn of(&self, expr: &Expr, counters: &[Counter]) -> Option<u64> {
        match bare(expr) {
            Expr::Binary(e) => {
                let (a, b) = (self.of(&e.left, counters)?, self.of(&e.right, counters)?);
                match e.op {
                    BinOp::Add(_) => a.checked_add(b),
                    BinOp::Sub(_) => a.checked_sub(b),
                    BinOp::Mul(_) => a.checked_mul(b),
                    BinOp::Div(_) => a.checked_div(b),
                    BinOp::Rem(_) => a.checked_rem(b),
                    _ => None,
                }
            }
            other => {
                if let Some(number) = literal(other) {
                    return Some(number);
                }
                let name = name(other)?;
                if let Some((_, first, _)) = counters.iter().find(|(counter, ..)| *counter == name) {
                    return Some(*first);
                }
                let number = self.constants.get(&name).copied()?;
                self.used.borrow_mut().insert(name);
                Some(number)
            }
        }
    }

    /// What a loop of a few rounds that nothing leaves counts through.
    fn rounds(&self, e: &ExprForLoop, counters: &[Counter]) -> Option<Counter> {
        let (Pat::Ident(pat), Expr::Range(range)) = (&*e.pat, bare(&e.expr)) else { return None };
        let is_plain =
            e.label.is_none() && e.attrs.is_empty() && pat.mutability.is_none() && pat.by_ref.is_none();
        let start = self.of(range.start.as_ref()?, counters)?;
        let end = self.of(range.end.as_ref()?, counters)?;
        let end = end + u64::from(matches!(range.limits, RangeLimits::Closed(_)));
        let is_short = end.saturating_sub(start) <= SHORT && !leaves(&e.body);
        (is_plain && is_short).then(|| (pat.ident.to_string(), start, end))
    }
}

/// Whether a round may be left early.
fn leaves(body: &Block) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_)) | At::Macro(_) => {
            Next::Found
        }
        At::Expr(Expr::Closure(_)) => Next::Past,
        _ => Next::On,
    })
}

/// Looks for variables with an index that is no number once loops are unrolled.
struct Indices<'a> {
    numbers: &'a Numbers,
    /// Of the loops around.
    counters: Vec<Counter>,
    others: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Indices<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::ForLoop(e) => {
                self.visit_expr(&e.expr);
                let counter = self.numbers.rounds(e, &self.counters);
                let around = self.counters.len();
                self.counters.extend(counter);
                self.visit_block(&e.body);
                self.counters.truncate(around);
            }
            Expr::Index(e) if self.numbers.of(&e.index, &self.counters).is_none() => {
                self.others.extend(name(bare(&e.expr)));
                visit::visit_expr(self, expr);
            }
            _ => visit::visit_expr(self, expr),
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Unrolls loops whose counters index the arrays, and writes indices as numbers.
struct Unroll<'a> {
    numbers: &'a Numbers,
    arrays: &'a BTreeMap<String, Array>,
    scopes: &'a Scopes,
    types: &'a Types<'a>,
}

impl Unroll<'_> {
    fn is_array(&self, expr: &Expr) -> bool {
        name(bare(expr)).is_some_and(|name| self.arrays.contains_key(&name))
    }

    /// The rounds of a loop, one after the other.
    fn rounds(&self, e: &ExprForLoop) -> Option<Vec<Stmt>> {
        let (counter, first, end) = self.numbers.rounds(e, &[])?;
        let counts = |index: &Expr| {
            walk::any(index, |at| matches!(at, At::Expr(e) if name(e).is_some_and(|name| name == counter)))
        };
        let indexes = walk::any(
            &e.body,
            |at| matches!(at, At::Expr(Expr::Index(e)) if self.is_array(&e.expr) && counts(&e.index)),
        );
        let rounds = end.saturating_sub(first) as usize;
        if !indexes || expressions(&e.body) * rounds > MOST_EXPRESSIONS {
            return None;
        }
        let ident = Ident::new(&counter, Span::call_site());
        // Names are those of one variable each, and of numbers it does not matter when they end.
        let is_flat = e.body.stmts.iter().all(|stmt| self.is_flat(stmt));
        let round = |at: u64| -> Vec<Stmt> {
            let mut body = e.body.clone();
            put_in_place(&mut body, &ident, &index(at));
            if is_flat { body.stmts } else { vec![parse_quote!(#body)] }
        };
        Some((first..end).flat_map(round).collect())
    }

    fn is_flat(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Local(local) => {
                let ty = match untyped(&local.pat) {
                    Pat::Ident(p) => {
                        let name = p.ident.to_string();
                        self.scopes.iter().find_map(|scope| scope.get(&name)).cloned().flatten()
                    }
                    _ => None,
                };
                ty.is_some_and(|ty| is_number(&self.types.plain(&ty)))
            }
            Stmt::Expr(Expr::ForLoop(_), _) => true,
            Stmt::Expr(_, semi) => semi.is_some(),
            _ => false,
        }
    }
}

impl VisitMut for Unroll<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for stmt in std::mem::take(&mut block.stmts) {
            let rounds = match &stmt {
                Stmt::Expr(Expr::ForLoop(e), _) => self.rounds(e),
                _ => None,
            };
            match rounds {
                // There may be loops in them.
                Some(rounds) => {
                    let mut rounds: Block = parse_quote!({ #(#rounds)* });
                    self.visit_block_mut(&mut rounds);
                    stmts.extend(rounds.stmts);
                }
                None => stmts.push(stmt),
            }
        }
        block.stmts = stmts;
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Index(e) = expr
            && self.is_array(&e.expr)
            && let Some(at) = self.numbers.of(&e.index, &[])
        {
            *e.index = index(at);
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// How many expressions code has.
fn expressions(body: &Block) -> usize {
    let mut count = 0;
    walk::each(body, |at| count += usize::from(matches!(at, At::Expr(_))));
    count
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;
    use crate::resolve::resolution::VariableTypes;
    use crate::resolve::variables;
    use crate::syntax::mentions::text;

    /// The body unrolled, and the arrays that are indexed by numbers only.
    fn unrolled(body: TokenStream) -> (String, Vec<String>) {
        let function = &functions(quote!(fn f(a: [f64; 5], mut b: [f64; 3], n: usize) -> f64 #body))[0];
        let types = &Types { definitions: &Definitions::default(), functions: &[], own: None };
        let scopes = variables::types(function, &VariableTypes::new(), types);
        let mut body = function.body.clone();
        let (arrays, _) = unroll(&mut body, function, &scopes, types);
        (text(&body), arrays.into_keys().collect())
    }

    #[test]
    fn loops_that_count_through_arrays_are_unrolled() {
        let (body, arrays) = unrolled(quote!({
            let mut p = [0.0; 2];
            for i in 0..2 {
                let x: f64 = a[i + 1];
                p[i] = x * b[(i + 1) % 3];
            }
            p[0] + p[1]
        }));
        let expected = quote!({
            let mut p = [0.0; 2];
            let x: f64 = a[1usize];
            p[0usize] = x * b[1usize];
            let x: f64 = a[2usize];
            p[1usize] = x * b[2usize];
            p[0usize] + p[1usize]
        });
        assert_eq!((body, arrays), (expected.to_string(), vec!["a".into(), "b".into(), "p".into()]));
    }

    #[test]
    fn other_loops_and_arrays_stay() {
        for body in [
            quote!({
                for i in 0..4 {
                    if i < n {
                        b[i] += 1.0;
                    }
                }
                a[n]
            }),
            quote!({
                for i in 0..n {
                    b[i] += a[i];
                }
                0.0
            }),
            quote!({
                for i in 0..3 {
                    if a[n] > 0.0 {
                        break;
                    }
                    b[i] += a[n];
                }
                0.0
            }),
        ] {
            let (unrolled, arrays) = unrolled(body.clone());
            assert_eq!(unrolled, body.to_string());
            assert!(arrays.is_empty(), "{arrays:?}");
        }
    }
}
