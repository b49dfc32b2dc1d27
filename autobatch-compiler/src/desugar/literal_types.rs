//! The types of variables that literals leave open follow from their use, and are written out.
//!
//! ```text
//! let weights = [0.25, 0.5];                       let weights: [f64; 2] = [0.25, 0.5];
//! let mut h = 0.01;                       ──▶      let mut h: f64 = 0.01;
//! step(&mut h, x); sum += weights[i] * x;          step(&mut h, x); sum += weights[i] * x;
//! ```
//!
//! Where rustc asks for one type on both sides, that of one side is the other's: operators of numbers, assignments, arguments, fields,
//! what is returned.
//!
//! **Invariant:** a type is written only where it is the one that rustc finds; a wrong one would not compile.

use std::collections::BTreeMap;

use syn::{Block, Expr, Ident, Local, Pat, Stmt, Type, UnOp};

use crate::index::definitions::is_open;
use crate::item::model::{Function, Item};
use crate::item::selection::is_generic;
use crate::resolve::infer::is_shift;
use crate::resolve::resolution::{Resolution, VariableTypes};
use crate::resolve::types::{FunctionType, Scopes, Types};
use crate::resolve::variables;
use crate::std_models::number_methods::Primitives;
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{assignment, bare, is_truth, is_variable, name, tail, typed};
use crate::syntax::walk::{self, At, AtMut, Next};

/// Writes types in the functions of an item and in its helpers.
pub(crate) fn rewrite(item: &mut Item, resolution: &Resolution) {
    let all = item.functions.iter().chain(item.helpers.iter()).chain(item.generic_helpers.iter());
    let all: Vec<Function> = all.filter(|f| f.method.is_none() && !f.associated).cloned().collect();
    let plain: Vec<Function> = all.iter().filter(|f| !is_generic(f)).cloned().collect();
    let declared = item.declared.clone();
    let yields = FunctionType::all(&plain, item.own.as_ref(), &declared.beside);
    let types = Types { definitions: &declared.beside, functions: &yields, own: item.own.clone() };
    for (position, function) in item.functions.iter_mut().enumerate() {
        of_function(function, resolution.types(position), &all, &types);
    }
    let none = VariableTypes::new();
    item.change_helpers(|helper| of_function(helper, &none, &all, &types));
}

fn of_function(function: &mut Function, known: &VariableTypes, others: &[Function], types: &Types<'_>) {
    let mut made_of_literals: Vec<String> = Vec::new();
    walk::each(&function.body, |at| {
        if let At::Local(Local { pat: Pat::Ident(p), init: Some(init), .. }) = at
            && is_literal(&init.expr)
            && (matches!(bare(&init.expr), Expr::Array(_) | Expr::Repeat(_))
                || is_lent(&function.body, &p.ident))
        {
            made_of_literals.push(p.ident.to_string());
        }
    });
    if made_of_literals.is_empty() {
        return;
    }
    let scopes = variables::types(function, known, types);
    let is_open = |name: &String| {
        scopes.iter().find_map(|scope| scope.get(name)?.as_ref()).is_some_and(|ty| is_open(element(ty)))
    };
    let open = made_of_literals.into_iter().filter(is_open).map(|name| (name, None)).collect();
    let params = others
        .iter()
        .filter(|other| function.sees(&other.sig.ident))
        .map(|f| (f.sig.ident.to_string(), f.params.iter().map(|p| types.plain(&p.ty)).collect()))
        .collect();
    let mut found = Found { scopes, types, params, open };
    // What one says of another may be known later.
    while found.learns(function) {}
    walk::map(&mut function.body, |at| {
        if let AtMut::Stmt(Stmt::Local(Local { pat, .. })) = at
            && let Pat::Ident(p) = &*pat
            && let Some(Some(ty)) = found.open.get(&p.ident.to_string())
        {
            *pat = typed(pat.clone(), ty.clone());
        }
    });
}

/// What is found in a function.
struct Found<'a> {
    /// The types of its variables.
    scopes: Scopes,
    types: &'a Types<'a>,
    /// The types of the parameters of the functions that it can call.
    params: BTreeMap<String, Vec<Type>>,
    /// The variables whose types are open, and what they are.
    open: BTreeMap<String, Option<Type>>,
}

impl Found<'_> {
    /// Goes through the function once. Whether something was learned.
    fn learns(&mut self, function: &Function) -> bool {
        let before = self.open.values().flatten().count();
        let output = self.types.plain(&function.output);
        self.is(tail(&function.body), &output);
        walk::each(&function.body, |at| match at {
            // It returns its own.
            At::Expr(Expr::Closure(_)) => Next::Past,
            At::Expr(Expr::Return(e)) => {
                self.is(e.expr.as_deref(), &output);
                Next::On
            }
            _ => Next::On,
        });
        walk::each(&function.body, |at| match at {
            At::Expr(expr) => self.learn(expr),
            At::Local(Local { pat: Pat::Type(p), init: Some(init), .. }) => {
                self.is(Some(&init.expr), &self.types.plain(&p.ty));
            }
            _ => {}
        });
        self.open.values().flatten().count() > before
    }

    fn learn(&mut self, expr: &Expr) {
        if let Some((place, value)) = assignment(expr) {
            let shifts = matches!(expr, Expr::Binary(e) if is_shift(&e.op));
            if !shifts {
                self.are_alike(place, value);
            }
            return;
        }
        match expr {
            Expr::Binary(e) if !is_shift(&e.op) => {
                let is_number = |ty: Option<Type>| ty.is_some_and(|ty| is_open(&ty) || is_primitive(&ty));
                if is_number(self.of(&e.left)) && is_number(self.of(&e.right)) || is_truth(&e.op) {
                    self.are_alike(&e.left, &e.right);
                }
            }
            Expr::Call(e) => {
                let called = name(&e.func).and_then(|name| self.params.get(&name).cloned());
                for (param, arg) in called.into_iter().flatten().zip(&e.args) {
                    self.is(Some(arg), &param);
                }
            }
            Expr::Struct(e) => {
                for field in &e.fields {
                    if let Some(ty) = self.types.part(&e.path, &field.member) {
                        self.is(Some(&field.expr), &ty);
                    }
                }
            }
            _ => {}
        }
    }

    fn of(&self, expr: &Expr) -> Option<Type> {
        self.types.certain(&self.scopes, expr)
    }

    /// Two expressions have one type.
    fn are_alike(&mut self, one: &Expr, other: &Expr) {
        let (a, b) = (self.of(one), self.of(other));
        if let Some(ty) = a {
            self.is(Some(other), &ty);
        }
        if let Some(ty) = b {
            self.is(Some(one), &ty);
        }
    }

    /// An expression has a type.
    fn is(&mut self, expr: Option<&Expr>, ty: &Type) {
        let Some(expr) = expr.map(bare) else { return };
        match (expr, ty) {
            (Expr::Reference(e), Type::Reference(r)) => self.is(Some(&e.expr), &r.elem),
            (Expr::Unary(e), ty) if matches!(e.op, UnOp::Neg(_)) => self.is(Some(&e.expr), ty),
            (Expr::Tuple(e), Type::Tuple(t)) if e.elems.len() == t.elems.len() => {
                e.elems.iter().zip(&t.elems).for_each(|(e, ty)| self.is(Some(e), ty));
            }
            (Expr::Array(e), Type::Array(t)) => e.elems.iter().for_each(|e| self.is(Some(e), &t.elem)),
            (Expr::Block(e), ty) => self.is(tail(&e.block), ty),
            (Expr::If(e), ty) => {
                self.is(tail(&e.then_branch), ty);
                self.is(e.else_branch.as_ref().map(|(_, e)| &**e), ty);
            }
            (Expr::Binary(e), ty) if is_primitive(ty) && !is_truth(&e.op) && !is_shift(&e.op) => {
                let is_open = |side: &Expr| self.of(side).is_some_and(|ty| is_open(&ty));
                if is_open(&e.left) && is_open(&e.right) {
                    self.is(Some(&e.left), ty);
                    self.is(Some(&e.right), ty);
                }
            }
            (place, ty) => self.has(place, ty),
        }
    }

    /// A variable, or an element of one, has a type.
    fn has(&mut self, place: &Expr, ty: &Type) {
        let mut variable = place;
        while let Expr::Index(e) = variable {
            variable = bare(&e.expr);
        }
        let Some(name) = name(variable) else { return };
        if !matches!(self.open.get(&name), Some(None)) || !is_primitive(element(ty)) {
            return;
        }
        let of_place = self.of(place);
        let known = self.scopes.iter_mut().find_map(|scope| scope.get_mut(&name)).and_then(Option::as_mut);
        if let (Some(of_place), Some(known)) = (of_place, known)
            && depth(&of_place) == depth(ty)
            && is_of_kind(element(known), element(ty))
        {
            *element_mut(known) = element(ty).clone();
            self.open.insert(name, Some(known.clone()));
        }
    }
}

/// Whether a variable is lent: a helper may be given it then.
fn is_lent(body: &Block, variable: &Ident) -> bool {
    walk::any(
        body,
        |at| matches!(at, At::Expr(Expr::Reference(e)) if is_variable(&e.expr, &variable.to_string())),
    )
}

/// Whether an expression is made of literals alone.
fn is_literal(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) => true,
        Expr::Unary(e) => is_literal(&e.expr),
        Expr::Binary(e) => is_literal(&e.left) && is_literal(&e.right),
        Expr::Array(e) => e.elems.iter().any(is_literal),
        Expr::Repeat(e) => is_literal(&e.expr),
        _ => false,
    }
}

/// The elements of an array, be it of arrays; any other type itself.
fn element(ty: &Type) -> &Type {
    match ty {
        Type::Array(array) => element(&array.elem),
        ty => ty,
    }
}

fn element_mut(ty: &mut Type) -> &mut Type {
    match ty {
        Type::Array(array) => element_mut(&mut array.elem),
        ty => ty,
    }
}

fn depth(ty: &Type) -> usize {
    match ty {
        Type::Array(array) => 1 + depth(&array.elem),
        _ => 0,
    }
}

/// Whether what a literal leaves open can be this type.
fn is_of_kind(open: &Type, ty: &Type) -> bool {
    let kind = Primitives::of_type(open).zip(Primitives::of_type(ty));
    is_open(open) && kind.is_some_and(|(open, ty)| ty.are_among(open))
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::ir::testing::functions;
    use crate::resolve::method_calls;
    use crate::syntax::mentions::text;

    /// The declarations in the body of `f` whose types are written then.
    fn written(f: TokenStream, helpers: TokenStream) -> Vec<String> {
        let (generic_helpers, helpers): (Vec<Function>, Vec<Function>) =
            functions(quote!(mod m { #helpers })).into_iter().partition(is_generic);
        let mut item = Item {
            functions: functions(f),
            helpers: helpers.into(),
            generic_helpers: generic_helpers.into(),
            ..Item::default()
        };
        let resolution = method_calls::resolve(&mut item, |f| f == 0);
        rewrite(&mut item, &resolution);
        let mut found = Vec::new();
        walk::each(&item.functions[0].body, |at| {
            if let At::Local(Local { pat: pat @ Pat::Type(_), .. }) = at {
                found.push(text(pat));
            }
        });
        found
    }

    #[test]
    fn use_tells_types() {
        let found = written(
            quote!(
                fn f(a: f64, n: u32) -> [f32; 2] {
                    let weights = [0.25, 0.5];
                    let signs = [[1.0, -1.0], [0.0; 2]];
                    let counts = [0, 1];
                    let yields = [0.5, 1.5];
                    let mut h = 0.01;
                    let mut by = [0.0; 2];
                    by[0] += weights[1] * a;
                    step(&mut h, &signs[0]);
                    let known: u8 = counts[0];
                    if n > 1 {
                        return yields;
                    }
                    [a as f32; 2]
                }
            ),
            quote!(
                fn step<const N: usize>(h: &mut f64, by: &[f64; N]) {}
            ),
        );
        let expected: [TokenStream; 7] = [
            quote!(weights: [f64; 2]),
            quote!(signs: [[f64; 2]; 2]),
            quote!(counts: [u8; 2]),
            quote!(yields: [f32; 2]),
            quote!(mut h: f64),
            quote!(mut by: [f64; 2]),
            quote!(known: u8),
        ];
        assert_eq!(found, expected.map(|pat| text(&pat)));
    }

    #[test]
    fn what_nothing_tells_stays_open() {
        for body in [
            quote!(let w = [0.25, 0.5]; w[0] < w[1]),
            // What a shift is by.
            quote!(let by = [1, 2]; a as u64 >> by[0] == 1),
            // A type that is guessed: of what is not known the product may be anything.
            quote!(let w = [0.25, 0.5]; w[0] * unknown(a) > 1.0),
            quote!(let w = [0.25, 0.5]; other(&w)),
            // What a closure returns.
            quote!(let w = [0.25, 0.5]; let g = |x: f64| { if x > 1.0 { return w; } w }; g(a)[0] < g(a)[1]),
            // A number that is never lent has no use for it.
            quote!(let w = 0.25; w < a),
        ] {
            let f = quote!(fn f(a: f64) -> bool { #body });
            let found = written(
                f,
                quote!(
                    fn other<T>(w: &[T; 2]) -> bool {
                        true
                    }
                ),
            );
            assert!(found.is_empty(), "{body}: {found:?}");
        }
    }
}
