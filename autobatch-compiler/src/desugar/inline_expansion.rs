//! Inline expansion of small helpers: a call of a function that is no part of the program becomes its body, so that what is done with
//! straight code (lane interchange, loop distribution, vector math) is done with the helper's too.
//!
//! ```text
//! let f = 2.0 * square(x + 1.0);   ──▶   let x_2: f64 = x + 1.0; let __returned_1: f64 = x_2 * x_2; let f = 2.0 * __returned_1;
//! ```
//!
//! Calls inside of a `for` are expanded, and elsewhere those of functions about structures, and of those that have loops themselves, if there is
//! no recursion. The others LLVM expands itself, and the code's shape is better left to it: the entry of a recursive quadrature took twice as
//! long with its integrand expanded.
//!
//! Only code that computes with numbers and structures of them is copied: operators, `if`, `match`, pure methods, loops. It means the same
//! wherever it stands, if
//! no name in it is hidden there, and its variables have the types that are written. A `return` behind a condition
//! becomes an `else`. The function as written keeps the call.
//!
//! **Invariant:** what is evaluated, and in which order, stays.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::Span;
use syn::{
    Block, Expr, ExprForLoop, GenericParam, Ident, Pat, PatIdent, PathSegment, Stmt, Type, parse_quote,
};

use crate::desugar::array_closures;
use crate::desugar::array_loops::Arrays;
use crate::desugar::binding_modes;
use crate::desugar::chains::{ChainLoop, is_chain, loop_of};
use crate::desugar::copies::{Mark, flatten, has_changing_copy};
use crate::desugar::early_returns;
use crate::desugar::element_swaps::{exchanged, exchanged_variables};
use crate::desugar::helper_calls::{HelperCall, Helpers};
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::lifted_closures::{self, Lifted};
use crate::desugar::loops_of_data;
use crate::desugar::parameters::{Caller, may_change};
use crate::desugar::spelled_types;
use crate::desugar::straight_code::{self, Loops};
use crate::index::definitions::Definitions;
use crate::item::array_shapes::{self, Shapes};
use crate::item::closure_params::{ClosureParam, takes_closures, takes_only_closures};
use crate::item::model::{Function, Item, Param, Passing, bind_patterns, rebind};
use crate::resolve::resolution::{Resolution, VariableTypes};
use crate::resolve::types::{FunctionType, Scopes, Types};
use crate::resolve::variables;
use crate::std_models::elementary::calls_library;
use crate::syntax::mentions::{self, bare, name};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, AtMut};

/// The largest function that is copied, in operations.
const SMALL: usize = 150;
/// How much the copies in one function may come to.
const MOST: usize = 900;

/// Copies the item's helpers to where the functions of the program call them. What rustc has to check.
pub(crate) fn rewrite(
    item: &mut Item,
    resolution: &Resolution,
    batched: impl Fn(usize) -> bool,
    vector_math: bool,
) -> HelperChecks {
    expand(item, resolution, batched, vector_math, false)
}

/// The same; `in_for` says whether the functions' code stands in a `for`.
fn expand(
    item: &mut Item,
    resolution: &Resolution,
    batched: impl Fn(usize) -> bool,
    vector_math: bool,
    in_for: bool,
) -> HelperChecks {
    let own = item.functions.iter().enumerate().filter(|(position, _)| !batched(*position));
    let beside = item.helpers.iter().chain(item.generic_helpers.iter());
    let all = own.map(|(_, f)| f).chain(beside).filter(|f| !f.associated && f.method.is_none());
    let mut helpers = BTreeMap::new();
    // What is the item's own hides what stands beside it.
    for function in all {
        let name = function.sig.ident.to_string();
        helpers.entry(name).or_insert_with(|| function.clone());
    }
    let program: BTreeSet<String> = item
        .functions
        .iter()
        .enumerate()
        .filter(|(f, _)| batched(*f))
        .map(|(_, f)| f.sig.ident.to_string())
        .collect();
    helpers.retain(|name, _| !program.contains(name));
    helpers.values_mut().for_each(prepare);
    // Methods of the item's types are functions of its program, if they are worth it.
    let own = item.functions.iter().enumerate().filter(|(f, _)| batched(*f));
    let own: BTreeSet<String> = own.map(|(_, f)| f.shown().sig.ident.to_string()).collect();
    let is_helper = |f: &&Function| !own.contains(&f.shown().sig.ident.to_string());
    let mut methods: Vec<Function> = item.methods.iter().filter(is_helper).cloned().collect();
    methods.iter_mut().for_each(prepare);
    let declared = Rc::clone(&item.declared);
    let yields: Vec<Function> = helpers.values().filter(|f| !yields_parameter(f)).cloned().collect();
    let yields = FunctionType::all(&yields, None, &declared.beside);
    let types = Types { definitions: &declared.beside, functions: &yields, own: item.own.clone() };
    let helpers = Helpers::new(helpers, &methods, types);
    let mut checks = HelperChecks::default();
    for (position, function) in item.functions.iter_mut().enumerate().filter(|(f, _)| batched(*f)) {
        if function.may_hide_types(&declared.beside) {
            continue;
        }
        let mut copied = 0;
        // What copies make known is used in a second round.
        for _ in 0..2 {
            let scopes = match helpers.all_seen_by(function) {
                true => variables::types(function, resolution.types(position), helpers.types()),
                false => variables::given(function, resolution.types(position)),
            };
            let mut body = function.body.clone();
            spell_out(&mut body);
            let mut expansion = Expansion {
                function,
                lifted: lifted_closures::of(function, &scopes, helpers.types()),
                scopes,
                shapes: array_shapes::of(function, &declared.beside),
                helpers: &helpers,
                around: vec![],
                copied,
                checks: HelperChecks::default(),
                is_alone: !calls_any(&function.body, &program),
                in_for,
                vector_math,
            };
            expansion.spell_types(&mut body);
            expansion.visit_block_mut(&mut body);
            if expansion.copied == copied {
                break;
            }
            copied = expansion.copied;
            lifted_closures::leave_out(&mut body, &expansion.lifted);
            checks.extend(expansion.checks);
            // Names are those of one scope before blocks become one.
            rebind(function, body);
            let mut body = function.body.clone();
            flatten(&mut body);
            rebind(function, body);
        }
    }
    checks
}

/// The expansion of the calls in one function.
struct Expansion<'a> {
    function: &'a Function,
    /// The types of its variables.
    scopes: Scopes,
    /// Its closures.
    lifted: BTreeMap<String, Lifted>,
    /// The lengths of its arrays, where they are written.
    shapes: Shapes,
    helpers: &'a Helpers<'a>,
    /// The helpers whose code it is.
    around: Vec<Ident>,
    /// The operations that have been copied.
    copied: usize,
    /// What rustc has to check of the copies.
    checks: HelperChecks,
    /// Whether the function calls none of the program: one that does has better engines, which take no interchanged loops.
    is_alone: bool,
    /// Whether the code stands in a `for`, of which lane interchange may make vectors.
    in_for: bool,
    /// Whether elementary functions become those of `math`.
    vector_math: bool,
}

impl<'a> Expansion<'a> {
    /// Of a helper's own calls.
    fn of_helper<'h>(&'h self, helper: &'h Function) -> Expansion<'h> {
        let around = self.around.iter().chain([&helper.sig.ident]).cloned().collect();
        let scopes = variables::types(helper, &VariableTypes::new(), self.helpers.types());
        let lifted = lifted_closures::of(helper, &scopes, self.helpers.types());
        let shapes = array_shapes::of(helper, self.definitions());
        let (copied, checks) = (0, HelperChecks::default());
        let Expansion { helpers, is_alone, vector_math, .. } = *self;
        Expansion {
            function: helper,
            scopes,
            lifted,
            shapes,
            helpers,
            around,
            copied,
            checks,
            is_alone,
            in_for: true,
            vector_math,
        }
    }

    /// What parameters become in a copy.
    fn caller(&self) -> Caller<'_> {
        let (types, copy) = (self.helpers.types(), self.helpers.next_copy());
        Caller { function: self.function, scopes: &self.scopes, types, copy }
    }

    fn definitions(&self) -> &'a Definitions {
        self.helpers.types().definitions
    }

    /// The helper that an expression calls, or the closure.
    fn called(&self, expr: &Expr) -> Option<HelperCall<'a>> {
        let lifted = || match expr {
            Expr::Call(call) => {
                let Lifted { function, captured } = self.lifted.get(&name(&call.func)?)?;
                let captured = captured.iter().map(|name| -> Expr { parse_quote!(#name) });
                let args: Vec<Expr> = call.args.iter().cloned().chain(captured).collect();
                HelperCall::of_closure(function.clone(), args)
            }
            _ => None,
        };
        lifted().or_else(|| self.helpers.called(&self.scopes, expr))
    }

    /// What a call comes to.
    fn expanded(&mut self, call: HelperCall<'_>) -> Option<Expr> {
        let HelperCall { helper, args, name, checks, rounds_as_std } = call;
        if self.around.contains(&helper.sig.ident) || !self.function.sees(&name) {
            return None;
        }
        let (helper, inner) = &self.with_its_own(&helper)?;
        let mut body = helper.body.clone();
        let size = operations(&body);
        let rounds_otherwise = self.vector_math && rounds_as_std && calls_library(&body);
        if size > SMALL || self.copied + size > MOST || rounds_otherwise {
            return None;
        }
        if free_names(&body, helper).iter().any(|name| !self.function.sees(name)) {
            return None;
        }
        let (caller, mut lets) = (self.caller(), Vec::new());
        let names = caller.rename(&mut body, helper);
        for (param, arg) in helper.params.iter().zip(&args) {
            let name = names.get(&param.ident.to_string()).unwrap_or(&param.ident);
            match ClosureParam::of(helper, param) {
                Some(closure) => caller.bind_closure(&closure, param, name, arg, &mut body, &mut lets)?,
                None => caller.bind(param, name, arg, &mut body, &mut lets)?,
            }
        }
        if walk::any(&body, |at| matches!(at, At::Expr(Expr::Reference(_)))) {
            return None;
        }
        self.copied += size;
        self.checks.extend(checks);
        self.checks.extend(inner.clone());
        let value = Ident::new(&format!("__returned_{}", self.helpers.next_copy()), Span::mixed_site());
        self.helpers.copy_is_made();
        let is_unit = matches!(&helper.output, Type::Tuple(t) if t.elems.is_empty());
        let tail = match body.stmts.pop()? {
            Stmt::Expr(tail, None) if is_unit => {
                body.stmts.push(parse_quote!(#tail;));
                parse_quote!(())
            }
            Stmt::Expr(tail, None) => tail,
            other => {
                body.stmts.push(other);
                parse_quote!(())
            }
        };
        let changes = |param: &Param| matches!(&param.ty, Type::Reference(r) if r.mutability.is_some());
        let changes_too =
            args.iter().any(may_change) || lets.iter().chain(&body.stmts).any(has_changing_copy);
        let mark = Mark { changes: helper.params.iter().any(changes) || changes_too };
        let (stmts, output) = (&body.stmts, &helper.output);
        if is_unit {
            return Some(parse_quote!((#mark { #(#lets)* #(#stmts)* #tail })));
        }
        Some(parse_quote!((#mark { #(#lets)* #(#stmts)* let #value: #output = #tail; #value })))
    }

    /// A helper with its own calls expanded, if it only computes, and what rustc has to check of them.
    fn with_its_own(&self, helper: &Function) -> Option<(Function, HelperChecks)> {
        let simple = |param: &Param| {
            param.pattern.is_none()
                && (self.is_of_values(&param.ty) || ClosureParam::of(helper, param).is_some())
        };
        if !helper.params.iter().all(simple)
            || !self.definitions().is_value(&helper.output)
            || !takes_only_closures(helper)
            || walk::any(&helper.written, |at| matches!(at, At::Item(_)))
        {
            return None;
        }
        let (mut helper, mut checks) = (helper.clone(), HelperChecks::default());
        binding_modes::by_value(&mut helper, self.helpers.types());
        // What copies make known is used in a second round.
        for _ in 0..2 {
            let mut body = helper.body.clone();
            spell_out(&mut body);
            let mut inner = self.of_helper(&helper);
            inner.spell_types(&mut body);
            inner.visit_block_mut(&mut body);
            lifted_closures::leave_out(&mut body, &inner.lifted);
            let is_done = inner.copied == 0;
            checks.extend(inner.checks);
            rebind(&mut helper, body);
            if is_done {
                break;
            }
        }
        let mut body = helper.body.clone();
        early_returns::rewrite(&mut body, &helper.output, self.definitions());
        rebind(&mut helper, body);
        let loops = straight_code::computes(&helper, self.definitions())?;
        let gain = || loops_of_data::gain(&helper, self.vector_math);
        (loops == Loops::Alike || gain()).then_some((helper, checks))
    }

    /// Whether a parameter is a value, or a reference to one or to what is shared, without a name for its lifetime.
    fn is_of_values(&self, ty: &Type) -> bool {
        let definitions = self.definitions();
        match ty {
            Type::Reference(r) if r.lifetime.is_none() => match definitions.plain(&r.elem) {
                Type::Path(p) => p.qself.is_none() && !walk::any(ty, |at| matches!(at, At::Lifetime(_))),
                Type::Slice(s) => definitions.is_value(&s.elem),
                elem => definitions.is_value(&elem),
            },
            ty => definitions.is_value(ty),
        }
    }

    /// Whether a helper is about structures, or refers to arrays: purity sees through calls with numbers, and what is lent is not taken apart.
    fn takes_structures(&self, helper: &Function) -> bool {
        let is_array = |ty: &Type| matches!(self.definitions().plain(ty), Type::Array(_));
        let mut types = helper.params.iter().map(|param| &param.ty).chain([&helper.output]);
        types.any(|ty| match ty {
            Type::Reference(r) => self.definitions().record(&r.elem).is_some() || is_array(&r.elem),
            ty => self.definitions().record(ty).is_some(),
        })
    }

    fn is_shared_list(&self, list: &Expr) -> bool {
        let ty = self.helpers.types().of(&self.scopes, list);
        let is_shared = match list {
            // One of a shared list of lists.
            Expr::Index(e) => {
                matches!(bare(&e.index), Expr::Path(_) | Expr::Lit(_)) && self.is_shared_list(bare(&e.expr))
            }
            list => {
                self.caller().is_shared(list)
                    || name(list).is_some_and(|variable| self.is_shared_item(&variable))
            }
        };
        is_shared && ty.is_some_and(|ty| self.definitions().list(&ty).is_some())
    }

    /// Whether a variable is what a loop or a chain over a shared list gives its rounds.
    fn is_shared_item(&self, variable: &str) -> bool {
        fn binds(pat: &Pat, variable: &str) -> bool {
            match pat {
                Pat::Ident(p) => p.ident == variable && p.mutability.is_none(),
                Pat::Reference(p) => binds(&p.pat, variable),
                Pat::Tuple(p) if p.elems.len() == 2 => binds(&p.elems[1], variable),
                _ => false,
            }
        }
        fn list(items: &Expr) -> &Expr {
            match bare(items) {
                Expr::Reference(e) if e.mutability.is_none() => &e.expr,
                Expr::MethodCall(e)
                    if e.args.is_empty() && (e.method == "iter" || e.method == "enumerate") =>
                {
                    list(&e.receiver)
                }
                list => list,
            }
        }
        walk::any(&self.function.body, |at| {
            let (pat, items) = match at {
                At::Expr(Expr::ForLoop(e)) => (&*e.pat, &*e.expr),
                At::Expr(Expr::MethodCall(e)) if e.method == "map" => match e.args.first() {
                    Some(Expr::Closure(closure)) if closure.inputs.len() == 1 => {
                        (&closure.inputs[0], &*e.receiver)
                    }
                    _ => return false,
                },
                _ => return false,
            };
            binds(pat, variable) && self.is_shared_list(bare(list(items)))
        })
    }

    /// Spells out the types of values that chains yield.
    fn spell_types(&self, body: &mut Block) {
        let is_list = |list: &Expr| self.is_shared_list(list) || self.arrays().of(list).is_some();
        let (output, types) = (&self.function.output, self.helpers.types());
        let inputs = |call: &Expr| {
            let helper = self.helpers.called(&self.scopes, call).map(|call| call.helper);
            let helper = helper.filter(|helper| self.function.sees(&helper.sig.ident));
            let params = helper.iter().flat_map(|helper| &helper.params);
            params.map(|param| types.plain(&param.ty)).collect()
        };
        let is_chain = |chain: &Expr| is_chain(chain, &is_list);
        spelled_types::rewrite(body, output, types, &self.scopes, &is_chain, &inputs);
    }

    /// What is known of the function's arrays.
    fn arrays(&self) -> Arrays<'_> {
        let (types, scopes, function) = (self.helpers.types(), &self.scopes, self.function);
        Arrays { types, scopes, function, shapes: &self.shapes }
    }

    /// A loop over arrays as one that counts.
    fn counting(&mut self, e: &ExprForLoop) -> Option<ExprForLoop> {
        let at = Ident::new(&format!("__at_{}", self.helpers.next_copy()), Span::mixed_site());
        let (counting, checks) = self.arrays().counting(e, &at)?;
        self.checks.extend(checks);
        self.helpers.copy_is_made();
        self.copied += 1;
        Some(counting)
    }

    /// A chain over lists as a loop.
    fn chained(&mut self, expr: &Expr) -> Option<Expr> {
        let Expr::MethodCall(call) = expr else { return None };
        // A closure in a local may change what it has captured, which takes more than a call.
        let is_local = |arg: &Expr| name(bare(arg)).is_some_and(|n| self.function.bindings.contains_key(&n));
        if call.method == "fold" && call.args.last().is_some_and(is_local) {
            return None;
        }
        let is_list = |list: &Expr| self.is_shared_list(list);
        let is_value = |ty: &Type| self.definitions().is_value(ty);
        let type_of = |value: &Expr| self.helpers.types().of(&self.scopes, value).filter(is_value);
        let (copy, mut count) = (self.helpers.next_copy(), 0);
        let mut names = |name: &str| {
            count += 1;
            Ident::new(&format!("__{name}_{copy}_{count}"), Span::mixed_site())
        };
        let is_array = |list: &Expr| self.arrays().of(list).is_some();
        let chain = loop_of(expr, is_list, is_array, type_of, &mut names)?;
        let ChainLoop { before, mut each, value, closures, is_counted, is_short, is_alike, leaves } = chain;
        // In blocks only vectors gain.
        let is_scalar = || !self.vector_math && calls_library(&closures[..]);
        if !is_alike && (!is_counted || is_scalar()) {
            return None;
        }
        let changes = closures.iter().any(|code| may_change(code) || has_changing_copy(code));
        if is_short {
            each = self.counting(&each)?;
        } else if !(self.in_for || self.is_alone) || !is_counted && (leaves || changes) {
            return None;
        }
        self.helpers.copy_is_made();
        self.copied += 1;
        let mark = Mark { changes };
        Some(parse_quote!((#mark { #(#before)* #each #value })))
    }
}

impl VisitMut for Expansion<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Some(call) = self.called(expr)
            && (self.in_for
                || self.is_alone && loops(&call.helper)
                || loops_of_data::has_any(&call.helper.body)
                || takes_closures(&call.helper)
                || self.takes_structures(&call.helper))
            && let Some(body) = self.expanded(call)
        {
            *expr = body;
        }
        if let Some(chain) = self.chained(expr) {
            *expr = chain;
        }
        if let Some((elements, checks)) = array_closures::elements(expr, &self.arrays()) {
            self.checks.extend(checks);
            self.copied += 1;
            *expr = elements;
        }
        if let Expr::MethodCall(call) = expr
            && let Some((exchange, checks)) = exchanged(self.helpers.types(), &self.scopes, call)
        {
            self.checks.extend(checks);
            self.copied += 1;
            *expr = exchange;
        }
        if let Some(exchange) = exchanged_variables(self.helpers.types(), &self.scopes, expr) {
            self.copied += 1;
            *expr = exchange;
        }
    }
    fn visit_expr_for_loop_mut(&mut self, e: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut e.expr);
        let around = std::mem::replace(&mut self.in_for, true);
        self.visit_block_mut(&mut e.body);
        self.in_for = around;
        if let Some(counting) = self.counting(e) {
            *e = counting;
        }
    }
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Makes a helper ready to be copied: its parameters are names, and arrays that it is lent are not for that shared by all members.
fn prepare(helper: &mut Function) {
    bind_patterns(helper);
    for param in &mut helper.params {
        if matches!(&param.ty, Type::Reference(r) if matches!(*r.elem, Type::Array(_))) {
            param.passing = Passing::EachRef;
        }
    }
}

/// Gives each field of a structure that is made a value of its own: `V3 { x: x, y: y }`.
fn spell_out(body: &mut Block) {
    walk::map(body, |at| {
        if let AtMut::Expr(Expr::Struct(e)) = at {
            mentions::spell_out_fields(e);
        }
    });
}

/// How much code there is: operators, conditions, loops, calls, literals.
fn operations(body: &Block) -> usize {
    let mut count = 1;
    walk::each(body, |at| {
        if let At::Expr(expr) = at {
            count += usize::from(!matches!(
                expr,
                Expr::Path(_) | Expr::Paren(_) | Expr::Field(_) | Expr::Block(_) | Expr::Struct(_)
            ));
        }
    });
    count
}

/// Whether code may call one of some functions.
fn calls_any(body: &Block, names: &BTreeSet<String>) -> bool {
    walk::any(body, |at| match at {
        At::PathSegment(segment) => names.contains(&segment.ident.to_string()),
        At::Expr(Expr::MethodCall(e)) => names.contains(&e.method.to_string()),
        At::Macro(mac) => {
            mentions::idents(mac.tokens.clone()).iter().any(|ident| names.contains(&ident.to_string()))
        }
        _ => false,
    })
}

/// Whether what a function yields is of the types of its arguments.
fn yields_parameter(helper: &Function) -> bool {
    let mut params = helper.sig.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(p) => Some(&p.ident),
        GenericParam::Const(p) => Some(&p.ident),
        GenericParam::Lifetime(_) => None,
    });
    params.any(|name| walk::any(&helper.output, |at| matches!(at, At::PathSegment(s) if s.ident == *name)))
}

/// Whether a function has loops.
fn loops(helper: &Function) -> bool {
    walk::any(&helper.body, |at| matches!(at, At::Expr(Expr::ForLoop(_))))
}

/// The names in a function and its types that mean something around it.
fn free_names(body: &Block, function: &Function) -> BTreeSet<Ident> {
    let mut free: BTreeSet<Ident> = BTreeSet::new();
    let mut note = |at: At<'_>| match at {
        At::PathSegment(PathSegment { ident, .. }) | At::Pat(Pat::Ident(PatIdent { ident, .. }))
            if !function.bindings.contains_key(&ident.to_string()) =>
        {
            free.insert(ident.clone());
        }
        _ => {}
    };
    walk::each(body, &mut note);
    function
        .params
        .iter()
        .map(|param| &param.ty)
        .chain([&function.output])
        .for_each(|ty| walk::each(ty, &mut note));
    free
}

#[cfg(test)]
mod tests;
