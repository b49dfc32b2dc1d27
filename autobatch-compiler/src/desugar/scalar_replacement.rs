//! Scalar replacement of aggregates: a variable of a `Copy` structure becomes a variable for each field.
//!
//! ```text
//! let to = V3 { x: a.x - b.x, y: a.y - b.y };   ──▶   let to_x: f32 = a.x - b.x; let to_y: f32 = a.y - b.y;
//! to = if far { V3 { x: 0.0, y: to.y } } else { V3 { x: to.y, y: to.x } };
//!                                               ──▶   if far { to_x = 0.0; } else { let … = to_x; to_x = to_y; to_y = …; }
//! meets(to)                                     ──▶   meets(V3 { x: to_x, y: to_y })
//! ```
//!
//! So does a tuple of numbers, and an array of a few of them that is indexed by numbers ([`short_arrays`]). What is done with numbers is done with the fields then: lane interchange, lookups, vector frames. A variable stays what it is if
//! something may refer to it as a whole: `&to`, a call of a method, a closure, a macro, an index. A parameter is taken apart where the
//! body begins. So is a state, `rng: &mut Xorshift`, of which only fields are used, and its fields are put back where the function ends.
//!
//! **Source.** Muchnick, “Advanced compiler design and implementation”, 1997, section 12.2.
//!
//! **Invariant:** what is evaluated, and in which order, stays. A type that is taken apart is `Copy`, so it has no drop; rustc checks that.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::quote;
use syn::{Block, Expr, Ident, Local, Pat, Stmt, Type, UnOp, parse_quote};

use crate::desugar::aggregates::{Aggregate, Field, Origin, aggregates, parts_of_tuple};
use crate::desugar::chain_loop::is_quiet;
use crate::desugar::chosen_elements::{choose, indexes_literals};
use crate::desugar::enumerations;
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::jump_threading;
use crate::desugar::number_matches;
use crate::desugar::short_arrays;
use crate::desugar::substitution::{rename, without_lets};
use crate::item::model::{Function, Item, Param, rebind};
use crate::resolve::resolution::{Resolution, VariableTypes};
use crate::resolve::types::{Scopes, Types};
use crate::resolve::variables;
use crate::syntax::mentions::{assignment, bare, name, untyped};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, AtMut, Next};

/// How deep structures are taken apart that stand in each other.
const DEEPEST: usize = 4;

/// Takes the structures of the program's functions apart. The types of their variables then, by the positions of functions.
pub(crate) fn rewrite(
    item: &mut Item,
    resolution: &Resolution,
    batched: impl Fn(usize) -> bool,
    checks: &mut HelperChecks,
) -> Vec<(usize, VariableTypes)> {
    let definitions = &item.declared.beside;
    let types = &Types { definitions, functions: &[], own: item.own.clone() };
    let mut found = Vec::new();
    for (position, function) in item.functions.iter_mut().enumerate().filter(|(f, _)| batched(*f)) {
        if !function.may_hide_types(definitions) {
            let known = resolution.types(position);
            take_apart(function, known, types, checks);
            let mut body = function.body.clone();
            let scopes = variables::types(function, known, types);
            if number_matches::rewrite(&mut body, &scopes, types) | jump_threading::thread(&mut body) {
                rebind(function, body);
            }
            let types = variables::types(function, known, types).into_iter().flatten();
            found.push((position, types.filter_map(|(name, ty)| Some((name, ty?))).collect()));
        }
    }
    found
}

fn take_apart(function: &mut Function, known: &VariableTypes, types: &Types<'_>, checks: &mut HelperChecks) {
    let has =
        |wanted: fn(&Expr) -> bool| walk::any(&function.body, |at| matches!(at, At::Expr(e) if wanted(e)));
    // Code with pointers may rely on where a structure is.
    if has(|e| matches!(e, Expr::Unsafe(_) | Expr::RawAddr(_))) {
        return;
    }
    if indexes_literals(&function.body) {
        let mut body = function.body.clone();
        choose(&mut body, &BTreeMap::new(), &variables::types(function, known, types), types);
        rebind(function, body);
    }
    let (mut done, mut matched) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..DEEPEST {
        let mut body = function.body.clone();
        part_tuples(&mut body);
        rebind(function, body);
        let has_enumerations = enumerations::rewrite(function, known, types, &mut matched, checks);
        let mut body = function.body.clone();
        let scopes = variables::types(function, known, types);
        let (arrays, numbers) = short_arrays::unroll(&mut body, function, &scopes, types);
        checks.extend(numbers);
        let aggregates = aggregates(function, &body, &scopes, types, &arrays, &done);
        if aggregates.is_empty() && !has_enumerations {
            return;
        }
        let is_structure =
            |a: &&Aggregate| a.origin != Origin::State && !matches!(a.ty, Type::Tuple(_) | Type::Array(_));
        for Aggregate { ty, .. } in aggregates.values().filter(is_structure) {
            match types.definitions.says_copy(ty) {
                true => checks.is_copy(ty),
                false => checks.is_taken_apart(ty),
            }
        }
        let params: Vec<Stmt> =
            function.params.iter().flat_map(|param| taken_apart(param, &aggregates)).collect();
        let mut replace =
            Replace { aggregates: &aggregates, scopes: &scopes, types, names: 0, round, wholes: vec![] };
        replace.visit_block_mut(&mut body);
        done.extend(replace.wholes.iter().map(ToString::to_string));
        done.extend(
            aggregates.iter().filter(|(_, a)| a.origin != Origin::Local).map(|(name, _)| name.clone()),
        );
        let states = aggregates.iter().filter(|(_, a)| a.origin == Origin::State);
        let back: Vec<Stmt> = states.flat_map(|(name, aggregate)| put_back(name, aggregate)).collect();
        if !back.is_empty() {
            end(&mut body, &function.output, &back);
        }
        body.stmts.splice(0..0, params);
        rebind(function, body);
        let fields = aggregates.values().flat_map(|a| &a.fields).map(|field| field.variable.to_string());
        propagate_copies(function, &fields.collect());
    }
}

/// Copy propagation: a field's variable that is a copy of another is that one, if neither changes.
fn propagate_copies(function: &mut Function, fields: &BTreeSet<String>) {
    let mut body = function.body.clone();
    let is_fixed = |name: &String| function.bindings.get(name).is_some_and(|binding| !binding.mutable);
    let mut copies: BTreeMap<String, Ident> = BTreeMap::new();
    walk::each(&body, |at| {
        if let At::Local(Local { pat, init: Some(init), .. }) = at
            && let Pat::Ident(p) = untyped(pat)
            && let (copy, Some(of)) = (p.ident.to_string(), name(bare(&init.expr)))
            && fields.contains(&copy)
            && is_fixed(&copy)
            && is_fixed(&of)
        {
            let of = copies.get(&of).unwrap_or(&function.bindings[&of].ident).clone();
            copies.insert(copy, of);
        }
    });
    without_lets(&mut body, &|name| copies.contains_key(name));
    rename(&mut body, &copies);
    rebind(function, body);
}

/// `let (a, b) = (x, y);` is `let a = x; let b = y;`.
fn part_tuples(body: &mut Block) {
    struct Part;
    impl VisitMut for Part {
        fn visit_block_mut(&mut self, block: &mut Block) {
            let mut stmts = Vec::new();
            for stmt in std::mem::take(&mut block.stmts) {
                match parts(&stmt) {
                    Some(parts) => stmts.extend(parts),
                    None => stmts.push(stmt),
                }
            }
            block.stmts = stmts;
            visit_mut::visit_block_mut(self, block);
        }
        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    Part.visit_block_mut(body);
}

fn parts(stmt: &Stmt) -> Option<Vec<Stmt>> {
    let Stmt::Local(Local { attrs, pat: Pat::Tuple(pat), init: Some(init), .. }) = stmt else { return None };
    let Expr::Tuple(values) = bare(&init.expr) else { return None };
    let is_variable = |pat: &Pat| matches!(pat, Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none());
    let fits = attrs.is_empty()
        && init.diverge.is_none()
        && pat.elems.len() == values.elems.len()
        && pat.elems.iter().all(is_variable);
    let part = |(pat, value): (&Pat, &Expr)| -> Stmt { parse_quote!(let #pat = #value;) };
    fits.then(|| pat.elems.iter().zip(&values.elems).map(part).collect())
}

/// Puts the fields of a state back.
fn put_back(state: &str, aggregate: &Aggregate) -> Vec<Stmt> {
    let state = Ident::new(state, Span::call_site());
    let part = |Field { member, variable, .. }: &Field| -> Stmt { parse_quote!(#state.#member = #variable;) };
    aggregate.fields.iter().map(part).collect()
}

/// Has statements run where a function ends.
fn end(body: &mut Block, output: &Type, last: &[Stmt]) {
    let result = Ident::new("__result", Span::mixed_site());
    walk::map(body, |at| match at {
        AtMut::Expr(Expr::Closure(_)) => Next::Past,
        AtMut::Expr(expr) => {
            if let Expr::Return(e) = expr {
                let value = e.expr.take();
                *expr = match value {
                    Some(value) => parse_quote!({ let #result: #output = #value; #(#last)* return #result }),
                    None => parse_quote!({ #(#last)* return }),
                };
                return Next::Past;
            }
            Next::On
        }
        _ => Next::On,
    });
    match body.stmts.pop() {
        Some(Stmt::Expr(value, None)) => {
            body.stmts.push(parse_quote!(let #result: #output = #value;));
            body.stmts.extend(last.iter().cloned());
            body.stmts.push(Stmt::Expr(parse_quote!(#result), None));
        }
        other => {
            body.stmts.extend(other);
            body.stmts.extend(last.iter().cloned());
        }
    }
}

/// The fields of a parameter as variables.
fn taken_apart(param: &Param, aggregates: &BTreeMap<String, Aggregate>) -> Vec<Stmt> {
    let Some(aggregate) = aggregates.get(&param.ident.to_string()) else { return vec![] };
    let mutable = param.mutable || aggregate.origin == Origin::State;
    let (ident, mutability) = (&param.ident, mutable.then(<syn::Token![mut]>::default));
    let part = |field: &Field| -> Stmt {
        let (Field { ty, variable, .. }, value) = (field, aggregate.part(&parse_quote!(#ident), field));
        parse_quote!(let #mutability #variable: #ty = #value;)
    };
    aggregate.fields.iter().map(part).collect()
}

/// Where the fields of a value go.
#[derive(Clone, Copy)]
enum Target {
    /// New variables, which can be assigned to if that is said.
    New { mutable: bool },
    /// Variables that are there.
    Old,
}

/// Puts the fields' variables in the place of the structures.
struct Replace<'a> {
    aggregates: &'a BTreeMap<String, Aggregate>,
    scopes: &'a Scopes,
    types: &'a Types<'a>,
    names: usize,
    round: usize,
    /// Variables for values that no expression shows the fields of.
    wholes: Vec<Ident>,
}

impl Replace<'_> {
    fn aggregate(&self, expr: &Expr) -> Option<&Aggregate> {
        self.aggregates.get(&name(bare(expr))?)
    }

    fn fresh(&mut self) -> Ident {
        self.names += 1;
        Ident::new(&format!("__part_{}_{}", self.round, self.names), Span::mixed_site())
    }

    /// What a statement that gives a structure a value becomes.
    fn stored(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let all = self.aggregates;
        match stmt {
            Stmt::Local(local) => {
                let Pat::Ident(p) = untyped(&local.pat) else { return None };
                let aggregate = all.get(&p.ident.to_string()).filter(|a| a.origin == Origin::Local)?;
                let mutable = p.mutability.is_some();
                match &local.init {
                    Some(init) => Some(self.store(aggregate, Target::New { mutable }, &init.expr)),
                    None => Some(undefined(aggregate, mutable)),
                }
            }
            Stmt::Expr(e, _) => {
                let (place, value) = assignment(bare(e))?;
                let aggregate = all.get(&name(bare(place))?)?;
                Some(self.store(aggregate, Target::Old, value))
            }
            _ => None,
        }
    }

    /// Gives the fields of a structure the values of an expression's.
    fn store(&mut self, aggregate: &Aggregate, target: Target, value: &Expr) -> Vec<Stmt> {
        let value = bare(value);
        // Each way gives them a value.
        let branches = match value {
            Expr::If(e) => e.else_branch.is_some(),
            Expr::Match(_) => true,
            Expr::Block(e) => e.label.is_none() && e.attrs.is_empty(),
            _ => false,
        };
        if !branches {
            let (mut stmts, parts) = self.shown(aggregate, value);
            stmts.extend(self.store_parts(aggregate, target, parts));
            return stmts;
        }
        let mut value = value.clone();
        match target {
            Target::New { mutable } => {
                self.tuple_tails(aggregate, &mut value);
                vec![declared(aggregate, mutable, &value)]
            }
            Target::Old => {
                self.store_tails(aggregate, &mut value);
                vec![Stmt::Expr(value, None)]
            }
        }
    }

    /// The values of the fields, in the order of evaluation, behind what has to be done before.
    fn shown<'f>(&mut self, aggregate: &'f Aggregate, value: &Expr) -> (Vec<Stmt>, Vec<(&'f Field, Expr)>) {
        if let Some(parts) = self.parts(aggregate, value) {
            return (vec![], parts);
        }
        // An element's index first, once.
        if let Expr::Index(e) = value
            && is_simple_place(&e.expr)
        {
            let (list, index, at) = (&e.expr, &e.index, self.fresh());
            if let Some(parts) = self.parts(aggregate, &parse_quote!(#list[#at])) {
                return (vec![parse_quote!(let #at = #index;)], parts);
            }
        }
        let (whole, ty) = (self.fresh(), &aggregate.ty);
        self.wholes.push(whole.clone());
        let before = vec![parse_quote!(let #whole: #ty = #value;)];
        let whole = parse_quote!(#whole);
        let part = |field| (field, aggregate.part(&whole, field));
        (before, aggregate.fields.iter().map(part).collect())
    }

    /// The same in each branch of an expression, which has no value then.
    fn store_tails(&mut self, aggregate: &Aggregate, value: &mut Expr) {
        each_tail(value, &mut |tail| {
            let stmts = self.store(aggregate, Target::Old, &tail);
            (stmts, None)
        });
    }

    /// Makes a tuple of the fields of each branch of an expression, or the value of the only field.
    fn tuple_tails(&mut self, aggregate: &Aggregate, value: &mut Expr) {
        each_tail(value, &mut |tail| {
            let (mut before, parts) = self.shown(aggregate, bare(&tail));
            let in_order =
                parts.iter().zip(&aggregate.fields).all(|((own, _), field)| std::ptr::eq(*own, field));
            let values: Vec<Expr> = match in_order {
                true => parts.into_iter().map(|(_, value)| value).collect(),
                false => {
                    before.extend(self.store_parts(aggregate, Target::New { mutable: false }, parts));
                    aggregate.fields.iter().map(|Field { variable, .. }| parse_quote!(#variable)).collect()
                }
            };
            let tuple = match &values[..] {
                [only] => only.clone(),
                values => parse_quote!((#(#values),*)),
            };
            (before, Some(tuple))
        });
    }

    /// The values of the fields, in the order of evaluation, if an expression shows them.
    fn parts<'f>(&self, aggregate: &'f Aggregate, value: &Expr) -> Option<Vec<(&'f Field, Expr)>> {
        let is_it = |path: &syn::Path| {
            path.get_ident()
                .is_some_and(|name| self.types.definitions.same(&parse_quote!(#name), &aggregate.ty))
        };
        match value {
            Expr::Struct(e) if e.rest.is_none() && e.qself.is_none() && is_it(&e.path) => {
                let part =
                    |value: &syn::FieldValue| Some((aggregate.field(&value.member)?, value.expr.clone()));
                e.fields.iter().map(part).collect()
            }
            Expr::Tuple(e) if e.elems.len() == aggregate.fields.len() => {
                let is_tuple = matches!(aggregate.ty, Type::Tuple(_));
                is_tuple.then(|| aggregate.fields.iter().zip(e.elems.iter().cloned()).collect())
            }
            Expr::Array(e) if e.elems.len() == aggregate.fields.len() => {
                let is_array = matches!(aggregate.ty, Type::Array(_));
                is_array.then(|| aggregate.fields.iter().zip(e.elems.iter().cloned()).collect())
            }
            Expr::Repeat(e) if matches!(aggregate.ty, Type::Array(_)) && is_quiet(&e.expr) => {
                Some(aggregate.fields.iter().map(|field| (field, (*e.expr).clone())).collect())
            }
            Expr::Call(e) if e.args.len() == aggregate.fields.len() => match &*e.func {
                Expr::Path(path) if path.qself.is_none() && is_it(&path.path) => {
                    Some(aggregate.fields.iter().zip(e.args.iter().cloned()).collect())
                }
                _ => None,
            },
            place if is_simple_place(place) => {
                let ty = self.types.of(self.scopes, place)?;
                let is_same = match &aggregate.ty {
                    Type::Tuple(tuple) => {
                        let parts = parts_of_tuple(&ty, self.types.definitions);
                        parts.is_some_and(|parts| parts.len() == tuple.elems.len())
                    }
                    Type::Array(_) => matches!(ty, Type::Array(_)),
                    whole => self.types.definitions.same(&ty, whole),
                };
                if !is_same {
                    return None;
                }
                let place: Expr = match place {
                    Expr::Unary(_) => parse_quote!((#place)),
                    place => place.clone(),
                };
                Some(aggregate.fields.iter().map(|field| (field, aggregate.part(&place, field))).collect())
            }
            _ => None,
        }
    }

    /// Gives fields their values, which all come before the first is changed.
    fn store_parts(
        &mut self,
        aggregate: &Aggregate,
        target: Target,
        parts: Vec<(&Field, Expr)>,
    ) -> Vec<Stmt> {
        match target {
            Target::New { mutable } => {
                let mutability = mutable.then(<syn::Token![mut]>::default);
                let part = |(Field { ty, variable, .. }, value): (&Field, Expr)| -> Stmt {
                    parse_quote!(let #mutability #variable: #ty = #value;)
                };
                parts.into_iter().map(part).collect()
            }
            Target::Old => {
                let own = |value: &Expr| {
                    walk::any(
                        value,
                        |at| matches!(at, At::Expr(e) if self.aggregate(e).is_some_and(|a| std::ptr::eq(a, aggregate))),
                    )
                };
                if parts.iter().skip(1).all(|(_, value)| !own(value)) {
                    let part = |(field, value): (&Field, Expr)| -> Stmt {
                        let variable = &field.variable;
                        parse_quote!(#variable = #value;)
                    };
                    return parts.into_iter().map(part).collect();
                }
                let (mut before, mut after): (Vec<Stmt>, Vec<Stmt>) = (vec![], vec![]);
                for (Field { ty, variable, .. }, value) in parts {
                    let part = self.fresh();
                    before.push(parse_quote!(let #part: #ty = #value;));
                    after.push(parse_quote!(#variable = #part;));
                }
                before.into_iter().chain(after).collect()
            }
        }
    }
}

/// Puts code in the place of each value that an expression may yield.
fn each_tail(value: &mut Expr, code: &mut dyn FnMut(Expr) -> (Vec<Stmt>, Option<Expr>)) {
    match value {
        Expr::If(e) if e.else_branch.is_some() => {
            each_tail_of(&mut e.then_branch, code);
            if let Some((_, otherwise)) = &mut e.else_branch {
                each_tail(otherwise, code);
            }
        }
        Expr::Match(e) => {
            for arm in &mut e.arms {
                each_tail(&mut arm.body, code);
                if let body @ (Expr::If(_) | Expr::Match(_)) = &*arm.body {
                    *arm.body = parse_quote!({ #body });
                }
            }
        }
        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => each_tail_of(&mut e.block, code),
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {}
        other => {
            let (stmts, value) = code(other.clone());
            *other = match (&stmts[..], value) {
                ([], Some(value)) => value,
                (stmts, value) => {
                    let value = value.iter();
                    parse_quote!({ #(#stmts)* #(#value)* })
                }
            };
        }
    }
}

fn each_tail_of(block: &mut Block, code: &mut dyn FnMut(Expr) -> (Vec<Stmt>, Option<Expr>)) {
    match block.stmts.pop() {
        Some(Stmt::Expr(mut tail, None))
            if !matches!(tail, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_)) =>
        {
            let branches = matches!(&tail, Expr::If(_) | Expr::Match(_) | Expr::Block(_));
            if branches {
                each_tail(&mut tail, code);
                block.stmts.push(Stmt::Expr(tail, None));
            } else {
                let (stmts, value) = code(tail);
                block.stmts.extend(stmts);
                block.stmts.extend(value.map(|value| Stmt::Expr(value, None)));
            }
        }
        other => block.stmts.extend(other),
    }
}

/// The fields' variables, without values.
fn undefined(aggregate: &Aggregate, mutable: bool) -> Vec<Stmt> {
    let mutability = mutable.then(<syn::Token![mut]>::default);
    let one = |Field { ty, variable, .. }: &Field| -> Stmt { parse_quote!(let #mutability #variable: #ty;) };
    aggregate.fields.iter().map(one).collect()
}

/// The fields' variables, with the values of a tuple; of one field the value alone.
fn declared(aggregate: &Aggregate, mutable: bool, tuple: &Expr) -> Stmt {
    let mutability = mutable.then(<syn::Token![mut]>::default);
    let variables = aggregate.fields.iter().map(|Field { variable, .. }| quote!(#mutability #variable));
    let types = aggregate.fields.iter().map(|Field { ty, .. }| ty);
    match aggregate.fields.len() {
        1 => parse_quote!(let #(#variables)*: #(#types)* = #tuple;),
        _ => parse_quote!(let (#(#variables),*): (#(#types),*) = #tuple;),
    }
}

/// Whether an expression is a place that can be named for each field: nothing is done by naming it.
fn is_simple_place(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Field(e) => is_simple_place(&e.base),
        Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)) && is_simple_place(&e.expr),
        Expr::Index(e) => {
            let simple = matches!(bare(&e.index), Expr::Lit(_)) || name(bare(&e.index)).is_some();
            simple && is_simple_place(&e.expr)
        }
        other => name(other).is_some(),
    }
}

impl VisitMut for Replace<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for stmt in std::mem::take(&mut block.stmts) {
            match self.stored(&stmt) {
                Some(parts) => stmts.extend(parts),
                None => stmts.push(stmt),
            }
        }
        // A value that has become statements may hold more.
        block.stmts = stmts;
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let all = self.aggregates;
        match expr {
            Expr::Field(e) => {
                if let Some(field) = self.aggregate(&e.base).and_then(|a| a.field(&e.member)) {
                    let variable = &field.variable;
                    *expr = parse_quote!(#variable);
                    return;
                }
            }
            Expr::Index(e) => {
                if let Some(field) = self.aggregate(&e.expr).and_then(|a| a.element(&e.index)) {
                    let variable = &field.variable;
                    *expr = parse_quote!(#variable);
                    return;
                }
            }
            Expr::Assign(e) => {
                if let Some(aggregate) = name(bare(&e.left)).and_then(|name| all.get(&name)) {
                    let mut stmts = self.store(aggregate, Target::Old, &e.right);
                    stmts.iter_mut().for_each(|stmt| self.visit_stmt_mut(stmt));
                    *expr = parse_quote!({ #(#stmts)* });
                    return;
                }
            }
            Expr::Path(_) => {
                if let Some(aggregate) = self.aggregate(expr) {
                    *expr = aggregate.whole();
                    return;
                }
            }
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
