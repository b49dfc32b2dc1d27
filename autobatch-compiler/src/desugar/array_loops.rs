//! Loops over a member's arrays count through them, so that each element is a place like any other.
//!
//! ```text
//! for (s, (a, b)) in s.iter_mut().zip(a.iter().zip(&b)) { *s += a * b; }
//!     ──▶   for at in 0..3 { let a: f64 = a[at]; let b: f64 = b[at]; s[at] += a * b; }
//! ```
//!
//! Known are `iter`, `iter_mut`, `&array` and the adaptors `zip`, `enumerate`, `rev`, `copied` and `cloned`, on arrays of as many elements; beside a
//! member's array also on rows of what all share, where the body can't change which. A variable that is a reference to a number becomes the
//! number, if what is done with it is the same then: operators, methods of numbers, `*`.
//!
//! **Invariant:** what is evaluated, and in which order, stays. A method is that of slices: rustc checks that calls find no other of the name.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{
    Block, Expr, ExprForLoop, ExprMethodCall, Ident, Pat, Stmt, Type, UnOp, parse_quote, parse_quote_spanned,
};

use crate::desugar::binding_modes::{is, is_used_as_number, uses, without_stars};
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::substitution::{put_in_place, put_in_place_of_reference};
use crate::index::definitions::Definitions;
use crate::item::array_shapes::Shapes;
use crate::item::model::{Function, Param, Passing};
use crate::resolve::types::{Scopes, Types};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_float, is_primitive};
use crate::syntax::mentions::{bare, base, behind_references, idents, name};
use crate::syntax::walk::{self, At, AtMut};

/// What is known of the arrays that a function has.
pub(super) struct Arrays<'a> {
    pub(super) types: &'a Types<'a>,
    pub(super) scopes: &'a Scopes,
    pub(super) function: &'a Function,
    pub(super) shapes: &'a Shapes,
}

/// An array of a member's.
pub(super) struct Array {
    pub(super) elem: Type,
    pub(super) len: Expr,
    /// The length as a number.
    pub(super) count: u64,
    /// The variable's type, which may be a reference to it.
    pub(super) whole: Type,
}

/// What an iterator yields in a round.
enum Item {
    /// A reference to a place, and the type of what is there.
    Reference {
        place: Expr,
        ty: Type,
        mutable: bool,
    },
    Value(Expr, Type),
    Pair(Box<Item>, Box<Item>),
}

impl Item {
    /// Whether it is an element of a row.
    fn is_of_row(&self) -> bool {
        match self {
            Item::Reference { place: element, .. } | Item::Value(element, _) => {
                matches!(element, Expr::Index(e) if matches!(bare(&e.expr), Expr::Index(_)))
            }
            Item::Pair(one, other) => one.is_of_row() || other.is_of_row(),
        }
    }
}

impl Arrays<'_> {
    fn definitions(&self) -> &Definitions {
        self.types.definitions
    }

    /// The array that a variable, or a row of one, is, or refers to, unless all members share it. Its length is written.
    pub(super) fn of(&self, place: &Expr) -> Option<Array> {
        let (mut list, mut depth) = (bare(place), 0);
        while let Expr::Index(e) = list {
            if !self.is_stable(&e.index) {
                return None;
            }
            (list, depth) = (bare(&e.expr), depth + 1);
        }
        let variable = name(list)?;
        let param = self.function.params.iter().find(|p| p.ident == variable && p.pattern.is_none());
        if param.is_some_and(|p| p.passing == Passing::Shared) {
            return None;
        }
        let mut whole = self.types.plain(&self.types.of(self.scopes, place)?);
        let ty = match &mut whole {
            Type::Reference(r) => {
                *r.elem = self.types.plain(&r.elem);
                (*r.elem).clone()
            }
            ty => ty.clone(),
        };
        let Type::Array(array) = &ty else { return None };
        let len = match param {
            Some(_) => array.len.clone(),
            None => {
                let shape = self.shapes.get(&variable);
                shape.and_then(|shape| shape.lengths.get(depth)).unwrap_or(&array.len).clone()
            }
        };
        if self.function.hides(&ty) || !self.definitions().is_value(&array.elem) {
            return None;
        }
        let count = self.number(&len)?;
        // A row is looked for where its elements are taken.
        let is_found = depth == 0 || count > 0 && is_primitive(&array.elem);
        let elem = (*array.elem).clone();
        is_found.then_some(Array { elem, len, count, whole })
    }

    /// Whether an index is the same wherever it stands.
    fn is_stable(&self, index: &Expr) -> bool {
        let is_fixed = |name| self.function.bindings.get(&name).is_some_and(|binding| !binding.mutable);
        matches!(bare(index), Expr::Lit(_)) || name(bare(index)).is_some_and(is_fixed)
    }

    /// The array that a place in a member's arrays or in what all share is, or refers to, if a loop's body can't change where it is.
    fn at(&self, place: &Expr, body: &Block) -> Option<Array> {
        self.of(place).or_else(|| self.shared(place, body))
    }

    /// The same in what all members share.
    fn shared(&self, place: &Expr, body: &Block) -> Option<Array> {
        let variable = base(place)?.path.get_ident()?;
        if !self.is_shared_parameter(variable) && !self.is_reference(variable) {
            return None;
        }
        let inside = idents(body.to_token_stream());
        let stays = !walk::any(place, |at| match at {
            At::Expr(Expr::Path(p)) => p.path.get_ident().is_none_or(|i| i != variable && inside.contains(i)),
            At::Expr(expr) => !matches!(
                expr,
                Expr::Field(_)
                    | Expr::Index(_)
                    | Expr::Cast(_)
                    | Expr::Lit(_)
                    | Expr::Paren(_)
                    | Expr::Binary(_)
            ),
            _ => false,
        });
        let ty = self.types.plain(behind_references(&self.types.of(self.scopes, place)?));
        let Type::Array(array) = &ty else { return None };
        if !stays || self.function.hides(&ty) || !self.definitions().is_value(&array.elem) {
            return None;
        }
        let count = self.number(&array.len)?;
        Some(Array { elem: (*array.elem).clone(), len: array.len.clone(), count, whole: ty.clone() })
    }

    fn is_shared_parameter(&self, variable: &Ident) -> bool {
        let is_shared =
            |p: &Param| p.ident == *variable && p.pattern.is_none() && p.passing == Passing::Shared;
        self.function.params.iter().any(is_shared)
    }

    /// Whether a variable is a reference that stays the same, so that nothing changes what is behind it.
    fn is_reference(&self, variable: &Ident) -> bool {
        let is_fixed = self.function.bindings.get(&variable.to_string()).is_some_and(|b| !b.mutable);
        let ty = self.types.of(self.scopes, &parse_quote!(#variable));
        is_fixed && matches!(ty, Some(Type::Reference(r)) if r.mutability.is_none())
    }

    /// Whether an iterator goes over an array of the member's, or one behind a reference that it has.
    fn has_own(&self, iter: &Expr, body: &Block) -> bool {
        walk::any(iter, |at| match at {
            At::Expr(path @ Expr::Path(p)) => {
                self.of(path).is_some()
                    || p.path.get_ident().is_some_and(|variable| self.is_reference(variable))
                        && self.shared(path, body).is_some()
            }
            _ => false,
        })
    }

    /// A literal, or a constant of the file's that is one.
    pub(super) fn number(&self, expr: &Expr) -> Option<u64> {
        self.definitions().number(expr).filter(|_| !self.function.hides(expr))
    }

    /// The loop that counts, and what rustc has to check.
    pub(super) fn counting(&self, e: &ExprForLoop, at: &Ident) -> Option<(ExprForLoop, HelperChecks)> {
        let mut checks = HelperChecks::default();
        if !self.has_own(&e.expr, &e.body) {
            return None;
        }
        let (len, _) = self.length(&e.expr, &e.body, &mut checks)?;
        let item = self.item(&e.expr, &e.body, &parse_quote!(#at))?;
        let (mut body, mut lets) = (e.body.clone(), Vec::new());
        self.bind(&e.pat, &item, &mut body, &mut lets, &mut checks)?;
        body.stmts.splice(0..0, lets);
        let (attrs, label) = (&e.attrs, &e.label);
        let counting = parse_quote_spanned!(e.for_token.span=> #(#attrs)* #label for #at in 0..#len #body);
        Some((counting, checks))
    }

    /// How many elements an iterator has, which all of its arrays have: as it is written, and the number.
    fn length(&self, iter: &Expr, body: &Block, checks: &mut HelperChecks) -> Option<(Expr, u64)> {
        let written = |array: Array, checks: &mut HelperChecks| {
            let constant = name(&array.len).map(|name| Ident::new(&name, Span::call_site()));
            constant.iter().for_each(|constant| checks.is_number(constant, array.count));
            (array.len, array.count)
        };
        match bare(iter) {
            Expr::Reference(e) => Some(written(self.at(&e.expr, body)?, checks)),
            path @ Expr::Path(_) => Some(written(self.at(path, body)?, checks)),
            Expr::MethodCall(e) if e.turbofish.is_none() => {
                match (e.method.to_string().as_str(), e.args.first().map(bare)) {
                    ("iter" | "iter_mut", None) => {
                        let array = self.at(&e.receiver, body)?;
                        checks.is_of_slices(&e.method, &array.whole);
                        Some(written(array, checks))
                    }
                    ("enumerate" | "rev" | "copied" | "cloned", None) => {
                        self.length(&e.receiver, body, checks)
                    }
                    ("zip", Some(other)) => {
                        let of = self.length(&e.receiver, body, checks)?;
                        let other = self.length(other, body, checks)?;
                        (of.1 == other.1).then_some(of)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What an iterator yields in a round.
    fn item(&self, iter: &Expr, body: &Block, at: &Expr) -> Option<Item> {
        let element = |place: &Expr, mutable: bool| {
            let (place, ty) = (bare(place), self.at(place, body)?.elem);
            Some(Item::Reference { place: parse_quote!(#place[#at]), ty, mutable })
        };
        match bare(iter) {
            Expr::Reference(e) => element(&e.expr, e.mutability.is_some()),
            // A reference that is an array's, or an array by value, whose elements nothing changes while it is gone through.
            path @ Expr::Path(_) => match self.types.of(self.scopes, path)? {
                Type::Reference(r) => element(path, r.mutability.is_some()),
                _ if self.function.bindings.get(&name(path)?)?.mutable => None,
                _ => Some(Item::Value(parse_quote!(#path[#at]), self.of(path)?.elem)),
            },
            Expr::MethodCall(e) => match (e.method.to_string().as_str(), e.args.first()) {
                ("iter", _) => element(&e.receiver, false),
                ("iter_mut", _) => element(&e.receiver, true),
                ("enumerate", _) => {
                    let number = Item::Value(at.clone(), parse_quote!(usize));
                    Some(Item::Pair(Box::new(number), Box::new(self.item(&e.receiver, body, at)?)))
                }
                ("rev", _) => {
                    let (len, _) = self.length(&e.receiver, body, &mut HelperChecks::default())?;
                    self.item(&e.receiver, body, &parse_quote!((#len - 1 - #at)))
                }
                ("copied" | "cloned", _) => match self.item(&e.receiver, body, at)? {
                    Item::Reference { place, ty, mutable: false } => Some(Item::Value(place, ty)),
                    _ => None,
                },
                (_, Some(other)) => Some(Item::Pair(
                    Box::new(self.item(&e.receiver, body, at)?),
                    Box::new(self.item(other, body, at)?),
                )),
                _ => None,
            },
            _ => None,
        }
    }

    /// Gives a pattern's variables what they stand for.
    fn bind(
        &self,
        pat: &Pat,
        item: &Item,
        body: &mut Block,
        lets: &mut Vec<Stmt>,
        checks: &mut HelperChecks,
    ) -> Option<()> {
        match (pat, item) {
            // A row of which nobody may take an element, although it has to be there.
            (Pat::Wild(_), item) if item.is_of_row() => None,
            (_, Item::Reference { mutable: true, .. }) if item.is_of_row() => None,
            (Pat::Wild(_), _) => Some(()),
            (Pat::Paren(p), _) => self.bind(&p.pat, item, body, lets, checks),
            (Pat::Tuple(p), Item::Pair(left, right)) if p.elems.len() == 2 => {
                self.bind(&p.elems[0], left, body, lets, checks)?;
                self.bind(&p.elems[1], right, body, lets, checks)
            }
            (Pat::Reference(p), Item::Reference { place, ty, mutable })
                if p.mutability.is_some() == *mutable =>
            {
                self.bind(&p.pat, &Item::Value(place.clone(), ty.clone()), body, lets, checks)
            }
            (Pat::Ident(p), Item::Value(value, ty)) if p.by_ref.is_none() && p.subpat.is_none() => {
                lets.push(parse_quote!(let #p: #ty = #value;));
                Some(())
            }
            (Pat::Ident(p), Item::Reference { place, ty, mutable })
                if p.by_ref.is_none() && p.subpat.is_none() && p.mutability.is_none() =>
            {
                let variable = &p.ident;
                match mutable {
                    true => {
                        with_stars(body, variable, ty);
                        only_behind(body, variable)
                            .then(|| put_in_place_of_reference(body, variable, place, place))
                    }
                    false if is_primitive(ty) && is_used_as_number(body, variable, ty) => {
                        without_stars(body, variable);
                        lets.push(parse_quote!(let #variable: #ty = #place;));
                        Some(())
                    }
                    false if matches!(ty, Type::Array(_)) => {
                        let methods = only_as_list(body, variable)?;
                        for method in &methods {
                            checks.is_of_slices(method, ty);
                            checks.is_of_slices(method, &parse_quote!(&#ty));
                        }
                        put_in_place(body, variable, place);
                        Some(())
                    }
                    false => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether all that is done with a variable is taken from behind it: `*x`.
fn only_behind(body: &Block, variable: &Ident) -> bool {
    uses(
        body,
        variable,
        |at| matches!(at, Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && is(&e.expr, variable)),
    )
}

/// The methods of slices that a variable has, if all else that is done with it is to index it.
fn only_as_list(body: &Block, variable: &Ident) -> Option<Vec<Ident>> {
    let is_of_slices = |e: &ExprMethodCall| {
        ["iter", "len", "is_empty"].iter().any(|name| e.method == name) && is(&e.receiver, variable)
    };
    let only = uses(body, variable, |at| match at {
        Expr::Index(e) => is(&e.expr, variable),
        Expr::MethodCall(e) => is_of_slices(e),
        _ => false,
    });
    let mut methods = Vec::new();
    walk::each(body, |at| match at {
        At::Expr(Expr::MethodCall(e)) if is_of_slices(e) => methods.push(e.method.clone()),
        _ => {}
    });
    only.then_some(methods)
}

/// `x.max(y)` is `(*x).max(y)` if `x` refers to a float: a reference to one has no method of that name before.
fn with_stars(body: &mut Block, variable: &Ident, ty: &Type) {
    if !is_float(ty) {
        return;
    }
    walk::map(body, |at| {
        if let AtMut::Expr(Expr::MethodCall(e)) = at
            && is_pure_method(&e.method)
            && is(&e.receiver, variable)
        {
            *e.receiver = parse_quote!((*#variable));
        }
    });
}
