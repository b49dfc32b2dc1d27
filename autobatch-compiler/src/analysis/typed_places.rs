//! Places whose types are written: parts of parameters, of constants, and of variables that stand for such a part.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, ExprLit, Lit, Pat, Stmt, Type, UnOp, parse_quote};

use crate::index::definitions::Definitions;
use crate::ir::{FuncId, Program, Role, Variable};
use crate::std_models::number_methods::keeps_floats;
use crate::std_models::pure::{is_constant, is_primitive, literal};
use crate::syntax::mentions::{bare, name, untyped};

/// The types of places in one function.
pub(crate) struct TypedPlaces<'a> {
    definitions: &'a Definitions,
    /// Variables, by name; `None` where a type is not known.
    variables: BTreeMap<String, Option<Type>>,
    /// Those that are the same for every member.
    uniform: BTreeSet<String>,
    /// Functions that yield floats, of the item and beside it, by name.
    floats: &'a BTreeMap<String, Ident>,
}

/// A list, as it is indexed.
pub(crate) struct IndexedList {
    /// How often one goes through a reference or pointer for it.
    pub(crate) hops: usize,
    pub(crate) element: Type,
    /// Whether it is a part of a variable or constant, behind no reference.
    pub(crate) is_own: bool,
}

impl IndexedList {
    /// The list in this place, as the runtime is lent it.
    pub(crate) fn lent(&self, place: &Expr) -> TokenStream {
        let stars = (0..self.hops).map(|_| quote!(*));
        quote!(&#(#stars)*#place)
    }
}

impl<'a> TypedPlaces<'a> {
    /// Those of a function whose variables have their classes.
    pub(crate) fn of(
        program: &Program,
        func: FuncId,
        definitions: &'a Definitions,
        floats: &'a BTreeMap<String, Ident>,
    ) -> TypedPlaces<'a> {
        let mut places = TypedPlaces::among(program, func, definitions, Variable::is_uniform);
        places.floats = floats;
        program.blocks_of(func).flat_map(crate::ir::Block::code).for_each(|stmt| places.bind(stmt));
        places
    }

    /// Those of a function that is being lowered. Instead of *uniform* places it knows those that nobody changes while
    /// the function runs: in what its callers share with all members, and behind shared references that it was given.
    pub(crate) fn of_fixed(program: &Program, func: FuncId, definitions: &'a Definitions) -> TypedPlaces<'a> {
        let lent = |v: &Variable| {
            let behind = matches!(&v.ty, Some(Type::Reference(r)) if r.mutability.is_none());
            v.shared || (matches!(v.role, Role::Param(_)) && behind)
        };
        TypedPlaces::among(program, func, definitions, |v| lent(v) && !v.mutable)
    }

    fn among(
        program: &Program,
        func: FuncId,
        definitions: &'a Definitions,
        uniform: impl Fn(&Variable) -> bool,
    ) -> TypedPlaces<'a> {
        let vars = || program.vars_of(func).map(|v| program.var(v));
        let variables = vars().map(|v| (v.ident.to_string(), v.ty.clone())).collect();
        let uniform = vars().filter(|v| uniform(v)).map(|v| v.ident.to_string()).collect();
        TypedPlaces { definitions, variables, uniform, floats: const { &BTreeMap::new() } }
    }

    /// Notes the type of a `let`'s variable.
    fn bind(&mut self, stmt: &Stmt) {
        let Stmt::Local(local) = stmt else { return };
        let Some(init) = &local.init else { return };
        match &local.pat {
            Pat::Type(t) => self.bind_one(&t.pat, Some((*t.ty).clone())),
            Pat::Tuple(pat) => {
                let Expr::Tuple(values) = bare(&init.expr) else { return };
                // A rest stands for any number of them.
                if pat.elems.len() == values.elems.len() {
                    let types: Vec<_> = values.elems.iter().map(|value| self.value(value)).collect();
                    pat.elems.iter().zip(types).for_each(|(pat, ty)| self.bind_one(pat, ty));
                }
            }
            pat => {
                let ty = self.value(&init.expr);
                self.bind_one(pat, ty);
            }
        }
    }

    fn bind_one(&mut self, pat: &Pat, ty: Option<Type>) {
        if let Pat::Ident(p) = untyped(pat)
            && p.by_ref.is_none()
            && let Some(known @ None) = self.variables.get_mut(&p.ident.to_string())
        {
            *known = ty;
        }
    }

    /// The type of what a variable is defined as, as far as it decides whether it is a list.
    fn value(&self, expr: &Expr) -> Option<Type> {
        match bare(expr) {
            Expr::Array(_) | Expr::Repeat(_) => Some(parse_quote!([_; _])),
            other => self.ty(other).or_else(|| self.float(other).map(|width| parse_quote!(#width))),
        }
    }

    /// `f32` or `f64`, if a value certainly is one: by what is written, and by what operators and methods make of floats alone.
    pub(crate) fn float(&self, expr: &Expr) -> Option<Ident> {
        let is_one = |name: &Ident| name == "f32" || name == "f64";
        let named = |ty: &Type| match ty {
            Type::Path(p) => p.path.get_ident().filter(|name| is_one(name)).cloned(),
            _ => None,
        };
        let is_literal = |expr: &Expr| matches!(bare(expr), Expr::Lit(ExprLit { lit: Lit::Float(l), .. }) if l.suffix().is_empty());
        match bare(expr) {
            Expr::Lit(ExprLit { lit: Lit::Float(l), .. }) if !l.suffix().is_empty() => {
                Some(Ident::new(l.suffix(), l.span())).filter(is_one)
            }
            Expr::Cast(e) => named(&e.ty),
            Expr::Unary(e) if matches!(e.op, UnOp::Neg(_)) => self.float(&e.expr),
            Expr::Binary(e) => {
                use syn::BinOp::{Add, Div, Mul, Rem, Sub};
                if !matches!(e.op, Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_)) {
                    return None;
                }
                match (self.float(&e.left), self.float(&e.right)) {
                    (Some(left), Some(right)) => Some(left).filter(|left| *left == right),
                    (Some(one), None) => Some(one).filter(|_| is_literal(&e.right)),
                    (None, Some(one)) => Some(one).filter(|_| is_literal(&e.left)),
                    (None, None) => None,
                }
            }
            Expr::MethodCall(e) if keeps_floats(&e.method) => self.float(&e.receiver),
            Expr::Call(e) => {
                let called = name(&e.func).filter(|name| !self.variables.contains_key(name))?;
                self.floats.get(&called).cloned()
            }
            place => self.ty(place).as_ref().and_then(named),
        }
    }

    /// The type of a place, or of a reference to one.
    pub(crate) fn ty(&self, expr: &Expr) -> Option<Type> {
        match bare(expr) {
            Expr::Path(p) => match name(bare(expr)).and_then(|name| self.variables.get(&name)) {
                Some(ty) => ty.clone(),
                None => self.definitions.constant(p).filter(|_| is_constant(p)).map(|c| c.ty.clone()),
            },
            Expr::Field(e) => self.definitions.field(&self.ty(&e.base)?, &e.member),
            Expr::Index(e) => self.list(&e.expr).map(|list| list.element),
            Expr::Reference(e) if e.mutability.is_none() => {
                let ty = self.ty(&e.expr)?;
                Some(parse_quote!(&#ty))
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.definitions.target(&self.ty(&e.expr)?),
            _ => None,
        }
    }

    /// The list that `expr[…]` looks into, if it certainly is one.
    pub(crate) fn list(&self, expr: &Expr) -> Option<IndexedList> {
        let (hops, element) = self.definitions.list(&self.ty(expr)?)?;
        Some(IndexedList { hops, element, is_own: hops == 0 && self.is_own(expr) })
    }

    fn is_own(&self, place: &Expr) -> bool {
        let behind = |base: &Expr| self.ty(base).and_then(|ty| self.definitions.target(&ty)).is_some();
        match bare(place) {
            Expr::Path(_) => true,
            Expr::Field(e) => !behind(&e.base) && self.is_own(&e.base),
            Expr::Index(e) => self.list(&e.expr).is_some_and(|list| list.is_own),
            _ => false,
        }
    }

    /// Whether an index is a number within an array, whose length is written.
    pub(crate) fn is_within(&self, array: &Expr, index: &Expr) -> bool {
        let length = |ty: &Type| match ty {
            Type::Array(array) => self.definitions.number(&array.len),
            Type::Reference(r) => match self.definitions.plain(&r.elem) {
                Type::Array(array) => self.definitions.number(&array.len),
                _ => None,
            },
            _ => None,
        };
        let length = self.ty(array).and_then(|ty| length(&ty));
        literal(index).zip(length).is_some_and(|(at, length)| at < length)
    }

    /// Whether a place is the same for all members, and is found without a lookup.
    pub(crate) fn is_uniform(&self, place: &Expr) -> bool {
        match bare(place) {
            Expr::Path(_) => match self.variable(place) {
                Some(name) => self.uniform.contains(&name),
                None => self.is_promoted(place),
            },
            Expr::Field(e) => self.is_uniform(&e.base),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.is_uniform(&e.expr),
            _ => false,
        }
    }

    /// Whether a place is a part of what all members share, so that borrowing it lends nothing of the lane's.
    pub(crate) fn outlives_lane(&self, place: &Expr) -> bool {
        let behind = |base: &Expr| self.ty(base).is_some_and(|ty| matches!(ty, Type::Reference(_)));
        match bare(place) {
            Expr::Path(_) => self.is_uniform(place) || behind(place),
            Expr::Field(e) => self.outlives_lane(&e.base),
            Expr::Index(e) => self.outlives_lane(&e.expr),
            Expr::Reference(e) => self.outlives_lane(&e.expr),
            Expr::Unary(e) => self.outlives_lane(&e.expr),
            _ => false,
        }
    }

    /// The name of a variable.
    fn variable(&self, place: &Expr) -> Option<String> {
        name(bare(place)).filter(|name| self.variables.contains_key(name))
    }

    /// Whether a constant has a place of its own, or rustc gives it one where it is borrowed: it has no drop glue and no cells.
    fn is_promoted(&self, constant: &Expr) -> bool {
        let Expr::Path(p) = bare(constant) else { return false };
        self.definitions.constant(p).is_some_and(|c| c.is_static || is_promoted(&c.ty))
    }

    /// Whether a place is a variable of the member's own, or a part of one.
    pub(crate) fn is_local(&self, place: &Expr) -> bool {
        match bare(place) {
            Expr::Path(_) => self.variable(place).is_some_and(|name| !self.uniform.contains(&name)),
            Expr::Field(e) => self.is_local(&e.base),
            Expr::Index(e) => self.is_local(&e.expr),
            _ => false,
        }
    }
}

/// Whether a type certainly has neither drop glue nor cells.
fn is_promoted(ty: &Type) -> bool {
    match ty {
        Type::Array(t) => is_promoted(&t.elem),
        Type::Tuple(t) => t.elems.iter().all(is_promoted),
        Type::Paren(t) => is_promoted(&t.elem),
        Type::Reference(t) => t.mutability.is_none(),
        ty => is_primitive(ty),
    }
}
