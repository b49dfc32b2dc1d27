//! What becomes of the parameters of a helper that is copied: variables of their types, or the arguments themselves.
//!
//! **Invariant:** an argument stands for a parameter only if nothing changes it meanwhile; what it is evaluated for, its checks too, stays.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::{Block, Expr, Ident, Lit, Stmt, Type, parse_quote};

use crate::desugar::copies::is_any_copy;
use crate::desugar::substitution::{put_in_place, put_in_place_of_reference, rename};
use crate::item::closure_params::ClosureParam;
use crate::item::model::{Function, Param, Passing};
use crate::resolve::types::{Scopes, Types};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_primitive, is_pure_function};
use crate::syntax::mentions::{self, assignment, bare, is_variable, name, text};
use crate::syntax::walk::{self, At};

/// The function that a copy comes to.
pub(super) struct Caller<'a> {
    pub(super) function: &'a Function,
    /// The types of its variables.
    pub(super) scopes: &'a Scopes,
    pub(super) types: &'a Types<'a>,
    /// The number of the copy, for names.
    pub(super) copy: usize,
}

impl Caller<'_> {
    /// Gives variables of a helper names that the function does not have.
    pub(super) fn rename(&self, body: &mut Block, helper: &Function) -> BTreeMap<String, Ident> {
        let taken = |name: &str| self.function.bindings.contains_key(name);
        let mut new: BTreeMap<String, Ident> = BTreeMap::new();
        for (name, binding) in helper.bindings.iter().filter(|(name, _)| taken(name)) {
            let base = name.trim_start_matches("r#");
            let mut names = (2..).map(|n| format!("{base}_{n}"));
            let free = names.find(|name| !taken(name) && !helper.bindings.contains_key(name));
            let ident = free.map(|name| Ident::new(&name, binding.ident.span()));
            new.extend(ident.map(|ident| (name.clone(), ident)));
        }
        rename(body, &new);
        new
    }

    /// Puts a closure in front of the copy, or a function's name in the place of a parameter.
    pub(super) fn bind_closure(
        &self,
        closure: &ClosureParam,
        param: &Param,
        name: &Ident,
        arg: &Expr,
        body: &mut Block,
        lets: &mut Vec<Stmt>,
    ) -> Option<()> {
        let arg = closure.typed(arg)?;
        if !matches!(arg, Expr::Closure(_)) {
            let own = mentions::name(&arg).and_then(|name| self.function.bindings.get(&name));
            if param.mutable || own.is_some_and(|own| own.mutable) {
                return None;
            }
            put_in_place(body, name, &arg);
            return Some(());
        }
        let mutability = param.mutable.then(<syn::Token![mut]>::default);
        lets.push(parse_quote!(let #mutability #name = #arg;));
        Some(())
    }

    /// Gives a parameter its value, or puts what stands for it in its place.
    pub(super) fn bind(
        &self,
        param: &Param,
        name: &Ident,
        arg: &Expr,
        body: &mut Block,
        lets: &mut Vec<Stmt>,
    ) -> Option<()> {
        let arg = bare(arg);
        let definitions = self.types.definitions;
        let known = |expr: &Expr| self.types.of(self.scopes, expr).filter(|_| is_place(expr));
        let plain = |ty: &Type| text(&definitions.plain(ty));
        let is_known = |expr: &Expr, ty: &Type| known(expr).is_some_and(|known| plain(&known) == plain(ty));
        let fixed = |expr: &Expr| {
            let binding = mentions::name(expr).and_then(|name| self.function.bindings.get(&name));
            binding.is_some_and(|binding| !binding.mutable)
        };
        let is_lent = |ty: &Type| match ty {
            Type::Reference(r) if r.mutability.is_none() => {
                let elem = &r.elem;
                is_known(arg, &parse_quote!(&mut #elem))
            }
            _ => false,
        };
        if let Some(number) = number(param, arg) {
            put_in_place(body, name, &number);
            return Some(());
        }
        if !param.mutable && fixed(arg) && is_known(arg, &param.ty) {
            put_in_place(body, name, arg);
            return Some(());
        }
        if !param.mutable && fixed(arg) && is_lent(&param.ty) {
            put_in_place_of_reference(body, name, &parse_quote!((*#arg)), arg);
            return Some(());
        }
        let (mutability, ty) = (param.mutable.then(<syn::Token![mut]>::default), &param.ty);
        let Type::Reference(r) = ty else {
            lets.push(parse_quote!(let #mutability #name: #ty = #arg;));
            return Some(());
        };
        match arg {
            Expr::Reference(e)
                if e.mutability.is_some() == r.mutability.is_some() && is_known(&e.expr, &r.elem) =>
            {
                put_in_place_of_reference(body, name, &e.expr, &e.expr);
                Some(())
            }
            // A value of its own, or a row of an array, which nothing changes while it is lent.
            Expr::Reference(e)
                if r.mutability.is_none()
                    && (is_made(&e.expr) || is_row(&e.expr))
                    && definitions.is_value(&r.elem) =>
            {
                let (value, elem) = (&e.expr, &r.elem);
                let argument = format!("__argument_{}_{name}", self.copy);
                let argument = Ident::new(&argument, Span::mixed_site());
                lets.push(parse_quote!(let #argument: #elem = #value;));
                let argument: Expr = parse_quote!(#argument);
                put_in_place_of_reference(body, name, &argument, &argument);
                Some(())
            }
            // What all members share.
            _ if r.mutability.is_none() && self.is_shared(arg) => {
                lets.push(parse_quote!(let #mutability #name: #ty = #arg;));
                Some(())
            }
            _ => None,
        }
    }

    /// Whether an expression is a place in what is shared, or a reference to one.
    pub(super) fn is_shared(&self, expr: &Expr) -> bool {
        match bare(expr) {
            Expr::Reference(e) if e.mutability.is_none() => self.is_shared(&e.expr),
            Expr::Field(e) => self.is_shared(&e.base),
            path @ Expr::Path(_) => {
                let shared =
                    |p: &Param| p.passing == Passing::Shared && is_variable(path, &p.ident.to_string());
                self.function.params.iter().any(shared)
            }
            _ => false,
        }
    }
}

/// Whether an expression makes a value of numbers, of the type that is asked for.
fn is_made(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Array(_) | Expr::Repeat(_) => true,
        other => is_any_copy(other),
    }
}

/// Whether an expression is an element of a variable's.
fn is_row(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Index(e) => (is_place(&e.expr) || is_row(&e.expr)) && !may_change(&e.index),
        _ => false,
    }
}

/// The number that an argument is, with the type of the parameter, which nothing changes.
pub(super) fn number(param: &Param, arg: &Expr) -> Option<Expr> {
    let Expr::Lit(literal) = bare(arg) else { return None };
    let (digits, suffix) = match &literal.lit {
        Lit::Int(lit) => (lit.base10_digits(), lit.suffix()),
        Lit::Float(lit) => (lit.base10_digits(), lit.suffix()),
        _ => return None,
    };
    let ty = text(&param.ty);
    if param.mutable || !is_primitive(&param.ty) || !(suffix.is_empty() || suffix == ty) {
        return None;
    }
    syn::parse_str(&format!("{digits}{ty}")).ok()
}

/// Whether an expression is a variable, or a field of one, maybe behind a reference.
pub(super) fn is_place(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Field(e) => is_place(&e.base),
        other => name(other).is_some(),
    }
}

/// Whether an argument may change what stands beside the call.
pub(super) fn may_change(arg: &Expr) -> bool {
    walk::any(arg, |at| match at {
        At::Expr(Expr::Reference(e)) => e.mutability.is_some(),
        At::Expr(Expr::MethodCall(e)) => !is_pure_method(&e.method),
        At::Expr(Expr::Call(e)) => !matches!(&*e.func, Expr::Path(path) if is_pure_function(path)),
        At::Expr(e) => assignment(e).is_some(),
        At::Macro(_) => true,
        _ => false,
    })
}
