//! Types that the place of a value decides are spelled out where the value is made, so that the call says all that is known of it.
//!
//! ```text
//! let s: f64 = xs.iter().sum();                        ──▶   let s: f64 = xs.iter().sum::<f64>();
//! let p: [f64; 3] = std::array::from_fn(|i| x[i]);     ──▶   let p: [f64; 3] = std::array::from_fn::<_, 3, _>(|i| x[i]);
//! ```
//!
//! **Invariant:** rustc infers the same: a place of a type without a coercion takes a value of that type only.

use syn::{Block, Expr, Local, Pat, PathArguments, Stmt, Type, parse_quote};

use crate::desugar::array_closures::std_from_fn;
use crate::resolve::types::{Scopes, Types};
use crate::std_models::pure::is_primitive;

use crate::syntax::visit_mut::{self, VisitMut};

/// Spells out the types in a function's body. `is_chain` says what is an iterator of std, and `inputs` of which types a call's arguments are.
pub(super) fn rewrite(
    body: &mut Block,
    output: &Type,
    types: &Types<'_>,
    scopes: &Scopes,
    is_chain: &dyn Fn(&Expr) -> bool,
    inputs: &dyn Fn(&Expr) -> Vec<Type>,
) {
    let output = types.plain(output);
    let mut spell = Spell { output: output.clone(), types, scopes, is_chain, inputs };
    spell.tail(body, &output);
    spell.visit_block_mut(body);
}

struct Spell<'a> {
    output: Type,
    types: &'a Types<'a>,
    scopes: &'a Scopes,
    is_chain: &'a dyn Fn(&Expr) -> bool,
    inputs: &'a dyn Fn(&Expr) -> Vec<Type>,
}

impl VisitMut for Spell<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        if let (Pat::Type(pat), Some(init)) = (&local.pat, &mut local.init) {
            self.value(&mut init.expr, &self.types.plain(&pat.ty));
        }
        visit_mut::visit_local_mut(self, local);
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let inputs = match expr {
            Expr::Call(_) => (self.inputs)(expr),
            _ => vec![],
        };
        match expr {
            Expr::Call(e) => e.args.iter_mut().zip(&inputs).for_each(|(arg, ty)| self.value(arg, ty)),
            // What it returns is its own.
            Expr::Closure(_) => return,
            Expr::Return(e) => {
                if let Some(e) = &mut e.expr {
                    self.value(e, &self.output);
                }
            }
            Expr::Assign(e) => {
                if let Some(ty) = self.types.of(self.scopes, &e.left) {
                    self.value(&mut e.right, &self.types.plain(&ty));
                }
            }
            Expr::Struct(e) => {
                for field in &mut e.fields {
                    if let Some(ty) = self.types.part(&e.path, &field.member) {
                        self.value(&mut field.expr, &self.types.plain(&ty));
                    }
                }
            }
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Spell<'_> {
    fn tail(&self, block: &mut Block, ty: &Type) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.value(tail, ty);
        }
    }

    /// Spells out the type of a value.
    fn value(&self, expr: &mut Expr, ty: &Type) {
        match expr {
            Expr::Paren(e) => self.value(&mut e.expr, ty),
            Expr::Reference(e) => {
                if let Type::Reference(r) = ty {
                    self.value(&mut e.expr, &self.types.plain(&r.elem));
                }
            }
            Expr::Group(e) => self.value(&mut e.expr, ty),
            Expr::Block(e) if e.label.is_none() => self.tail(&mut e.block, ty),
            Expr::If(e) => {
                self.tail(&mut e.then_branch, ty);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.value(otherwise, ty);
                }
            }
            Expr::Match(e) => e.arms.iter_mut().for_each(|arm| self.value(&mut arm.body, ty)),
            Expr::Array(e) => {
                if let Type::Array(array) = ty {
                    e.elems.iter_mut().for_each(|e| self.value(e, &self.types.plain(&array.elem)));
                }
            }
            Expr::Tuple(e) => {
                if let Type::Tuple(tuple) = ty {
                    e.elems
                        .iter_mut()
                        .zip(&tuple.elems)
                        .for_each(|(e, ty)| self.value(e, &self.types.plain(ty)));
                }
            }
            Expr::MethodCall(e)
                if e.turbofish.is_none()
                    && e.args.is_empty()
                    && (e.method == "sum" || e.method == "product")
                    && is_primitive(ty)
                    && (self.is_chain)(&e.receiver) =>
            {
                e.turbofish = Some(parse_quote!(::<#ty>));
            }
            Expr::Call(e) => {
                if let (Expr::Path(func), Type::Array(array)) = (&mut *e.func, ty)
                    && std_from_fn(func).is_some()
                    && let Some(last) = func.path.segments.last_mut()
                    && last.arguments.is_none()
                    && let len @ (Expr::Lit(_) | Expr::Path(_)) = &array.len
                {
                    last.arguments = PathArguments::AngleBracketed(parse_quote!(::<_, #len, _>));
                    if let Some(Expr::Closure(closure)) = e.args.first_mut() {
                        self.value(&mut closure.body, &self.types.plain(&array.elem));
                    }
                }
            }
            _ => {}
        }
    }
}
