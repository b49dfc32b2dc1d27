//! Closures that are called where they stand, before lowering: a call of the program inside a closure of the
//! usual adaptors becomes a call in the function's own body, and batches like any other.
//!
//! `(0..n).map(|i| f(i)).sum()` becomes a loop (`iterators`), `next.map(|x| f(x))` a `match`
//! (`options`), with the order and the short-circuiting of the scalar code. Only chains with such a call are
//! rewritten, and only where every adaptor from the first such call on is known; the rest stays as written, and
//! says so in a note. Names are unique before (`syntax::bindings`) and made unique again behind.
//!
//! **Invariant:** the order of evaluation is that of the user's code.

mod aggregates;
mod array_closures;
mod array_loops;
pub(crate) mod assertions;
mod binding_modes;
mod callees;
mod chain_ends;
mod chain_loop;
mod chain_rounds;
mod chains;
mod chosen_elements;
mod closure;
mod copies;
pub(crate) mod counting_whiles;
mod early_returns;
mod element_swaps;
pub(crate) mod elementary_operands;
mod enumerations;
mod expected_types;
mod helper_calls;
pub(crate) mod helper_checks;
pub(crate) mod helper_methods;
pub(crate) mod inline_expansion;
mod instances;
pub(crate) mod iterators;
mod jump_threading;
mod lifted_closures;
pub(crate) mod literal_types;
pub(crate) mod local_closures;
mod loops_of_data;
mod macros;
mod number_matches;
mod operands;
mod option_adaptors;
mod options;
mod parameters;
pub(crate) mod recursive_helpers;
mod rewrite;
pub(crate) mod scalar_replacement;
mod short_arrays;
mod spelled_types;
pub(crate) mod state_passing;
mod straight_code;
mod substitution;
pub(crate) mod terminals;
pub(crate) mod unreachable_arms;
mod variant_patterns;
mod variant_tuples;
mod zeros;

use std::collections::BTreeSet;

use callees::Callees;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use rewrite::Rewrite;
use syn::{Expr, Ident, Lifetime, Local, Type};

use crate::item::model::{Function, Item, rebind};
use crate::resolve::resolution::Resolution;
use crate::resolve::types::{FunctionType, Types};
use crate::syntax::arguments::Args;
use crate::syntax::mentions::{bare, is_variable};
use crate::syntax::visit_mut::{self, VisitMut};

/// Rewrites the bodies of an item's functions. `batched` are the positions of those that can become part of a program.
pub(crate) fn functions(
    item: &mut Item,
    resolution: &Resolution,
    batched: impl Fn(usize) -> bool,
    args: &Args,
) {
    let krate = &args.krate;
    let (own, definitions) = (item.own.as_ref(), &item.declared.definitions);
    let functions = FunctionType::all(&item.functions, own, definitions);
    let types = &Types { definitions, functions: &functions, own: own.cloned() };
    let callees = Callees::new(item, batched, &args.primitives);
    for (position, function) in item.functions.iter_mut().enumerate() {
        let variables = resolution.types(position);
        unreachable_arms::arms(&mut function.body);
        // A closure that calls one with a batched call has one when that is placed.
        loop {
            let bindings = function.bindings.keys().cloned().collect();
            let closures = local_closures::names(&function.body, |c| callees.calls(&c.body, &bindings));
            if !local_closures::rewrite(function, &closures, krate) {
                break;
            }
        }
        let mut body = function.body.clone();
        let mut rewrite = Rewrite {
            types,
            variables: vec![variables.iter().map(|(name, ty)| (name.clone(), Some(ty.clone()))).collect()],
            bindings: function.bindings.keys().cloned().collect(),
            callees: &callees,
            krate,
            strict: args.strict,
            generic: generic(function),
            wanted: expected_types::wanted(function, types),
            output: function.output.clone(),
            closures: 0,
            names: 0,
            changed: false,
        };
        rewrite.block(&mut body, Some(&function.output));
        if rewrite.changed {
            rebind(function, body);
        }
    }
}

fn generic(function: &Function) -> Option<BTreeSet<String>> {
    let types: Vec<&Ident> = function.sig.generics.type_params().map(|param| &param.ident).collect();
    let own = |ty: &Type| matches!(ty, Type::Path(p) if types.iter().any(|name| p.path.is_ident(*name)));
    let params = function.params.iter().filter(|param| own(&param.ty));
    (!types.is_empty()).then(|| params.map(|param| param.ident.to_string()).collect())
}

impl Rewrite<'_> {
    /// The door for generated code.
    fn rt(&self) -> TokenStream {
        let krate = self.krate;
        quote!(#krate::__rt)
    }

    /// A name of our own.
    fn fresh(&mut self, what: &str) -> Ident {
        self.names += 1;
        Ident::new(&format!("__{what}_{}", self.names), Span::mixed_site())
    }

    fn fresh_label(&mut self, what: &str) -> Lifetime {
        self.names += 1;
        Lifetime::new(&format!("'__{what}_{}", self.names), Span::mixed_site())
    }

    /// Whether an argument of an adaptor is a closure, or a function, that leads to a batched call.
    fn leads_to_call(&self, arg: &Expr) -> bool {
        let arg = bare(arg);
        match arg {
            Expr::Closure(c) => self.callees.calls(&c.body, &self.bindings),
            Expr::Path(_) => self.callees.is_function(arg, &self.bindings),
            _ => false,
        }
    }

    /// Puts another expression in the place of one.
    fn rewritten(&mut self, expr: &mut Expr) {
        let new = match expr {
            Expr::ForLoop(e) => iterators::for_loop(self, e),
            Expr::Macro(e) => macros::call(self, &e.mac),
            _ => None,
        };
        if let Some(new) = new {
            *expr = new;
            self.changed = true;
        }
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        self.expr(expr, None);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut syn::Stmt) {
        self.macro_statement(stmt);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let ty = match &local.pat {
            syn::Pat::Type(t) => Some((*t.ty).clone()),
            syn::Pat::Ident(p) => self.wanted.get(&p.ident.to_string()).cloned(),
            _ => None,
        };
        if let Some(init) = &mut local.init {
            self.expr(&mut init.expr, ty.as_ref());
            if let Some((_, diverge)) = &mut init.diverge {
                self.expr(diverge, None);
            }
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Rewrite<'_> {
    /// Rewrites what stands in an expression, then the expression, whose type is known as far as `ty` says.
    fn expr(&mut self, expr: &mut Expr, ty: Option<&Type>) {
        // What is given a value of the caller's type is of that.
        let own = |arg: &Expr| self.generic.iter().flatten().any(|name| is_variable(arg, name));
        if let (Expr::Call(call), Some(ty)) = (&mut *expr, ty)
            && self.generic.is_some()
            && !call.args.iter().any(own)
        {
            self.changed |= self.callees.spell_instance(call, ty, &self.bindings);
        }
        match expr {
            Expr::Closure(e) => {
                self.closures += 1;
                let ty = match &e.output {
                    syn::ReturnType::Type(_, ty) => Some((**ty).clone()),
                    syn::ReturnType::Default => None,
                };
                self.expr(&mut e.body, ty.as_ref());
                self.closures -= 1;
            }
            Expr::Return(e) if self.closures == 0 => {
                let output = self.output.clone();
                if let Some(value) = &mut e.expr {
                    self.expr(value, Some(&output));
                }
            }
            Expr::MethodCall(call) => {
                // The last call of a chain first: it takes the rest with it.
                if let Some(new) = iterators::chain(self, call, ty) {
                    *expr = new;
                    self.changed = true;
                    return;
                }
                let of = self.types.of(&self.variables, &call.receiver);
                visit_mut::visit_expr_method_call_mut(self, call);
                if let Some(new) = options::call(self, call, of.as_ref()) {
                    *expr = new;
                    self.changed = true;
                }
            }
            _ => expected_types::children(self, expr, ty),
        }
        self.rewritten(expr);
    }
}
