//! Where lane code finds values: elements of arrays in their strips, and what all lanes look at before the loop over the lanes.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{BinOp, Expr, ExprBinary, ExprForLoop, Lit, Stmt, UnOp, parse_quote};

use super::{Condition, Layout, Writer};
use crate::analysis::lane_interchange::{Array, indexed};
use crate::codegen::lane_code::Site;
use crate::codegen::long_loops;
use crate::codegen::lookups::fault;
use crate::codegen::loop_distribution::strip;
use crate::codegen::region::lane;
use crate::ir::VarId;
use crate::ir::effects::{self};
use crate::std_models::pure::is_constant;
use crate::syntax::mentions::{bare, is_compound, name};
use crate::syntax::walk::{self, At, AtMut, Code, Next};

/// The lane's part of an array: an element, or an array of them.
fn elements(place: Expr, array: &Array, indices: usize) -> Expr {
    let l = lane();
    if indices == array.lengths.len() {
        return parse_quote!(#place[#l]);
    }
    let n = array.size(indices).unwrap_or_default();
    let all = (0..n).map(|n| elements(parse_quote!(#place[#n]), array, indices + 1));
    parse_quote!([#(#all),*])
}

/// The variable that a comparison asks whether it is an integer literal.
fn compared_with_literal(e: &ExprBinary) -> Option<String> {
    let is_literal = match bare(&e.right) {
        Expr::Unary(e) => matches!((&e.op, bare(&e.expr)), (UnOp::Neg(_), Expr::Lit(_))),
        Expr::Lit(e) => matches!(e.lit, Lit::Int(_)),
        _ => false,
    };
    (is_literal && matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_))).then(|| name(bare(&e.left))).flatten()
}

impl Writer<'_, '_> {
    /// What the user's code becomes in the end; `of_lanes` if it stands in a loop over lanes.
    pub(super) fn finish(&self, stmt: &mut Stmt, of_lanes: bool) {
        let site = Site { engine: self.engine, interchanged: true, may_fault: of_lanes };
        let mut lane_code = self.emitter.lane_code(self.func, site);
        if lane_code.of_variables(stmt) {
            self.lookups.note();
        }
        self.in_place(stmt);
        lane_code.of_types(stmt);
        if of_lanes {
            self.hide_literals(stmt);
        }
    }

    /// Hides the literals that a variable is compared with, if there are several: LLVM would make a `switch` of the branches.
    fn hide_literals(&self, stmt: &mut Stmt) {
        let mut compared: BTreeMap<String, usize> = BTreeMap::new();
        walk::each(&*stmt, |at| {
            if let At::Expr(Expr::Binary(e)) = at
                && let Some(variable) = compared_with_literal(e)
            {
                *compared.entry(variable).or_default() += 1;
            }
        });
        compared.retain(|_, times| *times > 1);
        if compared.is_empty() {
            return;
        }
        let (rt, zero) = (&self.rt, self.zero());
        walk::map(stmt, |at| {
            if let AtMut::Expr(Expr::Binary(e)) = at
                && compared_with_literal(e).is_some_and(|variable| compared.contains_key(&variable))
            {
                let literal = &e.right;
                *e.right = parse_quote!(#rt::UnknownZero::unknown(#zero, #literal));
                return Next::Past;
            }
            Next::On
        });
    }

    /// Has the loops in code that is finished look at the limits.
    pub(super) fn count_long_loops(&self, code: &mut (impl Code + ?Sized)) {
        long_loops::count(code, &self.emitter.rt, self.inside.get(), self.scope.names.trip_counts());
    }

    /// Accesses elements of arrays in their place: `val[j][k]` is lane `l` of strip `j`, `k`. A part of an array is made of them.
    pub(super) fn in_place(&self, code: &mut (impl Code + ?Sized)) {
        walk::map(code, |at| {
            let is_written = self.writes.take();
            let AtMut::Expr(expr) = at else { return Next::On };
            match expr {
                Expr::If(e) => {
                    let condition = self.condition(&e.cond);
                    self.in_place(&mut *e.cond);
                    self.under(condition, &mut e.then_branch.stmts[..]);
                    e.else_branch
                        .iter_mut()
                        .for_each(|(_, otherwise)| self.under(condition, &mut **otherwise));
                    return Next::Past;
                }
                Expr::Binary(e) if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => {
                    let condition = self.condition(&e.left);
                    self.in_place(&mut *e.left);
                    self.under(condition, &mut *e.right);
                    return Next::Past;
                }
                Expr::Assign(e) => {
                    self.in_place(&mut *e.right);
                    self.written(&mut e.left);
                    return Next::Past;
                }
                Expr::Binary(e) if is_compound(&e.op) => {
                    self.in_place(&mut *e.right);
                    self.written(&mut e.left);
                    return Next::Past;
                }
                Expr::Reference(e) if e.mutability.is_some() => {
                    self.written(&mut e.expr);
                    return Next::Past;
                }
                Expr::Paren(_) => {
                    self.writes.set(is_written);
                    return Next::On;
                }
                Expr::ForLoop(e) => {
                    self.in_rounds(e);
                    return Next::Past;
                }
                _ => {}
            }
            if let Expr::MethodCall(e) = expr
                && e.method == "len"
                && let Some((strip, _)) = self.rows(&e.receiver)
            {
                *expr = parse_quote!(<[_]>::len(&#strip[..]));
                return Next::Past;
            }
            let (root, indices) = indexed(expr);
            let Some((strip, array)) = self.rows(root) else {
                if self.hoist(expr) {
                    return Next::Past;
                }
                return self.in_indices(expr);
            };
            let mut indices: Vec<Expr> = indices.into_iter().cloned().collect();
            let is_uniform = indices.iter().all(|index| self.is_uniform(index));
            let own = (!is_uniform && !is_written).then(|| self.own_element(expr)).flatten();
            if let Some(own) = own {
                *expr = own;
                return Next::Past;
            }
            indices.iter_mut().for_each(|index| self.in_place(index));
            if !is_uniform {
                self.lookups.note();
                let (vector, fault) = (&self.emitter.rt, fault());
                for (index, length) in indices.iter_mut().zip(&array.lengths) {
                    *index = parse_quote!(#vector::vector::within(#index, #length, &#fault));
                }
            }
            let place: Expr = parse_quote!(#strip #([#indices])*);
            if is_uniform
                && self.condition.get() == Condition::OfLane
                && self.is_in().is_some()
                && !indices.is_empty()
            {
                self.checked.borrow_mut().push(place.clone());
            }
            *expr = elements(place, array, indices.len());
            Next::Past
        });
    }

    /// The same for a place that is written.
    fn written(&self, place: &mut Expr) {
        let written = effects::variable(&self.scope.names, indexed(place).0);
        self.writes.set(true);
        self.in_place(place);
        if let Some(own) = &mut *self.own_elements.borrow_mut() {
            own.change(written);
        }
    }

    /// The same for code that runs again and again: what changes in a round has changed in the next.
    fn in_rounds(&self, e: &mut ExprForLoop) {
        let mut own = self.own_elements.take();
        if let Some(own) = &mut own {
            own.change(effects::of(&self.scope.names, &e.body).mentions);
        }
        self.in_place(&mut *e.expr);
        self.in_place(&mut e.body);
        self.own_elements.replace(own);
    }

    /// What stands in the place of an element at an index of a lane's own, if the piece can look at it at its start.
    fn own_element(&self, place: &Expr) -> Option<Expr> {
        let (root, indices) = indexed(place);
        let (strip, array) = self.rows(root)?;
        let mut own_elements = self.own_elements.borrow_mut();
        let own = own_elements.as_mut()?;
        let are_variables = indices.iter().all(|index| matches!(bare(index), Expr::Path(_)));
        let mentions = effects::of(&self.scope.names, place).mentions;
        if !are_variables || indices.len() < array.lengths.len() || !own.may_come_first(&mentions) {
            return None;
        }
        self.lookups.note();
        let (rt, l) = (&self.emitter.rt, lane());
        Some(own.put(place, rt, |outside| {
            let within = indices.iter().zip(&array.lengths);
            let within =
                within.map(|(index, length)| quote!(#rt::vector::within(#index, #length, &#outside)));
            quote!(#strip #([#within])* [#l])
        }))
    }

    /// The same in the indices of a shared list, which stays where it is.
    fn in_indices(&self, expr: &mut Expr) -> Next {
        match expr {
            Expr::Index(e) if self.is_shared_place(&e.expr) => {
                let mut list = &mut *expr;
                while let Expr::Index(e) = list {
                    self.in_place(&mut *e.index);
                    list = &mut e.expr;
                }
                Next::Past
            }
            _ => Next::On,
        }
    }

    /// The kind of a condition.
    fn condition(&self, condition: &Expr) -> Condition {
        if self.is_uniform(condition) { Condition::OfAll } else { Condition::OfLane }
    }

    /// The same for code under a condition: a panic there would be a branch.
    fn under(&self, condition: Condition, code: &mut (impl Code + ?Sized)) {
        let around = self.condition.get();
        self.condition.set(around.max(condition));
        self.in_place(code);
        self.condition.set(around);
    }

    /// The array of a variable that is stored as rows, and its strips.
    pub(in crate::codegen) fn rows(&self, expr: &Expr) -> Option<(Ident, &Array)> {
        let var = effects::variable(&self.scope.names, expr)?;
        (self.kind(var) == Layout::Rows).then(|| self.array(var)).flatten().map(|array| (strip(var), array))
    }

    /// Has a shared place be looked at before the loop over the lanes, if all of them look at it, or if that can't fail.
    fn hoist(&self, expr: &mut Expr) -> bool {
        let is_part = matches!(expr, Expr::Field(_) | Expr::Index(_))
            || matches!(expr, Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)));
        let guarded = self.guarded(expr);
        if !is_part || guarded.is_none() && !self.is_shared_place(expr) {
            return false;
        }
        let mentions = effects::of(&self.scope.names, &*expr).mentions;
        let mut elements = self.shared_elements.borrow_mut();
        let hoists = mentions.iter().all(|v| self.is_same(*v)) && elements.may_come_before(&mentions);
        match guarded.filter(|_| hoists) {
            Some(list) => elements.put_guarded(expr, list),
            None if hoists => elements.put(expr),
            None => {}
        }
        hoists
    }

    /// The list of an element that only some lanes may look at.
    fn guarded(&self, expr: &Expr) -> Option<TokenStream> {
        match expr {
            Expr::Index(e) if self.condition.get() > Condition::None && self.is_in().is_none() => {
                self.lookups.lent(e)
            }
            _ => None,
        }
    }

    /// Whether a variable is the same for all lanes.
    fn is_same(&self, var: VarId) -> bool {
        self.uniforms.contains(&var) || self.scope.program.var(var).is_uniform()
    }

    /// Whether an expression is a variable that is the same for all lanes, a constant, or a part of one that may be looked at here.
    pub(super) fn is_shared_place(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(e) => self.is_shared_place(&e.base),
            Expr::Index(e) => {
                let always = self.is_in().is_some()
                    || match self.condition.get() {
                        Condition::None => true,
                        Condition::OfAll => self.lookups.lent(e).is_none(),
                        Condition::OfLane => false,
                    };
                always && self.is_shared_place(&e.expr)
            }
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)) && self.is_shared_place(&e.expr),
            Expr::Path(path) => match effects::variable(&self.scope.names, expr) {
                Some(var) => self.is_same(var),
                None => is_constant(path),
            },
            _ => false,
        }
    }

    /// The shape of an array, as the runtime spells it.
    pub(super) fn shape(&self, var: VarId) -> TokenStream {
        let rt = &self.rt;
        let lengths = self.array(var).map(|array| &array.lengths[..]).unwrap_or_default();
        lengths.iter().rev().fold(quote!(#rt::One), |inner, length| quote!(#rt::Of<{ #length }, #inner>))
    }
}
