//! The type that a place expects of an expression, as far as the code says it.

use std::collections::BTreeMap;

use syn::{Block, Expr, Member, Pat, Path, Stmt, Type, parse_quote};

use crate::desugar::rewrite::Rewrite;
use crate::index::definitions::type_argument;
use crate::item::methods::name_of;
use crate::item::model::Function;
use crate::resolve::types::Types;
use crate::std_models::facts;
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::tail;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

impl Rewrite<'_> {
    /// Rewrites a block whose value has the type `ty`.
    pub(super) fn block(&mut self, block: &mut Block, ty: Option<&Type>) {
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter_mut().enumerate() {
            match stmt {
                Stmt::Expr(expr, None) if i == last => self.expr(expr, ty),
                other => self.visit_stmt_mut(other),
            }
        }
    }
}

/// Rewrites what stands in an expression of the type `ty`.
pub(crate) fn children(rewrite: &mut Rewrite<'_>, expr: &mut Expr, ty: Option<&Type>) {
    match expr {
        Expr::Paren(e) => rewrite.expr(&mut e.expr, ty),
        Expr::Group(e) => rewrite.expr(&mut e.expr, ty),
        Expr::Block(e) => rewrite.block(&mut e.block, ty),
        Expr::If(e) => {
            rewrite.expr(&mut e.cond, None);
            rewrite.block(&mut e.then_branch, ty);
            if let Some((_, otherwise)) = &mut e.else_branch {
                rewrite.expr(otherwise, ty);
            }
        }
        Expr::Match(e) => {
            rewrite.expr(&mut e.expr, None);
            for arm in &mut e.arms {
                rewrite.visit_pat_mut(&mut arm.pat);
                rewrite.expr(&mut arm.body, ty);
            }
        }
        Expr::Call(e) => {
            rewrite.expr(&mut e.func, None);
            let inner = ty.filter(|_| e.args.len() == 1).and_then(|ty| of_constructor(&e.func, ty)).cloned();
            for (i, arg) in e.args.iter_mut().enumerate() {
                let part = inner.clone().or_else(|| called_part(rewrite.types, &e.func, i));
                rewrite.expr(arg, part.as_ref());
            }
        }
        Expr::Struct(e) => {
            for field in &mut e.fields {
                let part = part(rewrite.types, &e.path, &field.member);
                rewrite.expr(&mut field.expr, part.as_ref());
            }
            if let Some(rest) = &mut e.rest {
                rewrite.expr(rest, None);
            }
        }
        Expr::Assign(e) => {
            let ty = match &*e.left {
                Expr::Path(p) => {
                    p.path.get_ident().and_then(|name| rewrite.wanted.get(&name.to_string()).cloned())
                }
                place => {
                    let ty = rewrite.types.of(&rewrite.variables, place);
                    ty.and_then(|ty| spelled(rewrite.types, &ty))
                }
            };
            rewrite.expr(&mut e.left, None);
            rewrite.expr(&mut e.right, ty.as_ref());
        }
        other => visit_mut::visit_expr_mut(rewrite, other),
    }
}

/// The type of `x` in `Some(x)`, `Ok(x)`, `Err(x)` of the type `ty`.
fn of_constructor<'a>(func: &Expr, ty: &'a Type) -> Option<&'a Type> {
    let Expr::Path(path) = func else { return None };
    let (of, nth) = facts::variant(&path.path.get_ident()?.to_string())?;
    generic_argument(ty, of, nth)
}

/// The nth type argument of a type called `name`.
pub(crate) fn generic_argument<'a>(ty: &'a Type, name: &str, nth: usize) -> Option<&'a Type> {
    type_argument(ty, nth).filter(|_| name_of(ty).is_some_and(|own| own == name))
}

/// The type of a field of a structure or variant of the file, as it can be written anywhere.
fn part(types: &Types<'_>, path: &Path, member: &Member) -> Option<Type> {
    spelled(types, &types.part(path, member)?)
}

fn called_part(types: &Types<'_>, func: &Expr, position: usize) -> Option<Type> {
    let Expr::Path(path) = func else { return None };
    part(types, &path.path, &Member::Unnamed(position.into()))
}

/// A type of the library with its parameters left open, or a primitive: names of the file may mean something else, or nothing, where
/// the function stands.
fn spelled(types: &Types<'_>, ty: &Type) -> Option<Type> {
    if is_primitive(ty) {
        return Some(ty.clone());
    }
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|_| path.qself.is_none())?;
    if types.definitions.knows(ty) {
        return None;
    }
    let name = last.ident.to_string();
    let inner = || spelled(types, generic_argument(ty, &name, 0)?);
    match name.as_str() {
        "Option" => inner().map(|inner| parse_quote!(::core::option::Option<#inner>)),
        "Result" => inner().map(|inner| parse_quote!(::core::result::Result<#inner, _>)),
        name => facts::collection(name),
    }
}

/// The types of locals by what becomes of them: they are a field of a structure or variant, or the function's value.
pub(crate) fn wanted(function: &Function, types: &Types<'_>) -> BTreeMap<String, Type> {
    struct Scan<'a> {
        types: &'a Types<'a>,
        found: BTreeMap<String, Type>,
    }
    impl Scan<'_> {
        fn note(&mut self, value: &Expr, ty: Option<Type>) {
            if let (Expr::Path(p), Some(ty)) = (value, ty)
                && let Some(name) = p.path.get_ident()
            {
                self.found.entry(name.to_string()).or_insert(ty);
            }
        }
        fn tail(&mut self, block: &Block, ty: &Type) {
            if let Some(tail) = tail(block) {
                self.value(tail, ty);
            }
        }
        /// What has the type `ty`, as it is written where the function stands.
        fn value(&mut self, value: &Expr, ty: &Type) {
            match value {
                Expr::Path(_) => self.note(value, spelled(self.types, ty)),
                Expr::Call(e) if e.args.len() == 1 => {
                    if let Some(inner) = of_constructor(&e.func, ty) {
                        self.value(&e.args[0], inner);
                    }
                }
                Expr::Block(e) => self.tail(&e.block, ty),
                Expr::If(e) => {
                    self.tail(&e.then_branch, ty);
                    if let Some((_, otherwise)) = &e.else_branch {
                        self.value(otherwise, ty);
                    }
                }
                Expr::Match(e) => e.arms.iter().for_each(|arm| self.value(&arm.body, ty)),
                _ => {}
            }
        }
    }
    let mut scan = Scan { types, found: BTreeMap::new() };
    walk::each(&function.body, |at| match at {
        At::Expr(Expr::Struct(e)) => {
            e.fields.iter().for_each(|field| scan.note(&field.expr, part(types, &e.path, &field.member)));
        }
        At::Expr(Expr::Call(e)) => {
            e.args.iter().enumerate().for_each(|(i, arg)| scan.note(arg, called_part(types, &e.func, i)));
        }
        At::Local(syn::Local { pat: Pat::Type(t), .. }) => {
            if let Pat::Ident(syn::PatIdent { ident, .. }) = &*t.pat {
                scan.note(&parse_quote!(#ident), Some((*t.ty).clone()));
            }
        }
        _ => {}
    });
    scan.tail(&function.body, &function.output);
    scan.found
}
