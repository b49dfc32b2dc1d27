//! Stores to elements of arrays under a condition, in rounds that all lanes have: where the element is loaded anyway, they become choices.
//!
//! ```text
//! if a[j] > a[j + 1] {                    let holds = a[j][l] > a[j + 1][l];
//!     let x = a[j];                       let x = a[j][l];
//!     a[j] = a[j + 1];              ──▶   zero.choose(&mut a[j][l], holds, a[j + 1][l]);
//!     a[j + 1] = x;                       zero.choose(&mut a[j + 1][l], holds, x);
//! }
//! ```
//!
//! LLVM would store under a mask, which is slow (see `storage/choices.rs` of the runtime).
//!
//! **Invariant:** a branch that all lanes run instead changes nothing for lanes that are not its own. It loads
//! elements that the piece has loaded before, and adds, subtracts, multiplies and compares, so that it can't fail; but where overflow is checked, a
//! lane that is not its own may overflow, which gives the strip up.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, ExprIf, Stmt, parse_quote};

use crate::analysis::lane_interchange::{assigned, indexed};
use crate::codegen::lane_interchange::Writer;
use crate::codegen::names::name;
use crate::codegen::predication::is_in_round;
use crate::ir::VarSet;
use crate::ir::effects::Names;
use crate::syntax::mentions::{assignment, bare, has_let};
use crate::syntax::walk::{self, At, Next};

/// Elements, as they are written.
type Places = BTreeSet<String>;

fn written(place: &Expr) -> String {
    place.to_token_stream().to_string()
}

impl Writer<'_, '_> {
    /// Has branches of a piece store by choice where that costs nothing more.
    pub(super) fn choose_stores(&self, stmts: &mut [Stmt]) {
        let mut loaded = Places::new();
        for stmt in stmts {
            match stmt {
                Stmt::Expr(Expr::If(e), _) => {
                    self.load(&*e.cond, &mut loaded);
                    if self.stores_by_choice(e, &loaded) {
                        *stmt = Stmt::Expr(self.chosen(e.clone()), None);
                    }
                }
                stmt => self.load(&*stmt, &mut loaded),
            }
        }
    }

    /// Notes the elements that code loads whatever the lane.
    fn load(&self, code: &(impl walk::Code + ?Sized), loaded: &mut Places) {
        walk::each(code, |at| match at {
            At::Expr(Expr::If(e)) => {
                self.load(&*e.cond, loaded);
                Next::Past
            }
            At::Expr(Expr::Binary(e)) if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.load(&*e.left, loaded);
                Next::Past
            }
            At::Expr(
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Match(_) | Expr::Closure(_),
            ) => Next::Past,
            At::Expr(e @ Expr::Index(_)) if self.is_shared_element(e) => {
                loaded.insert(written(e));
                Next::Past
            }
            _ => Next::On,
        });
    }

    /// Whether it is an element in rows that all lanes find at the same place.
    fn is_shared_element(&self, expr: &Expr) -> bool {
        let (root, indices) = indexed(expr);
        self.rows(root).is_some_and(|(_, array)| array.lengths.len() == indices.len())
            && indices.into_iter().all(|index| self.is_uniform(index))
    }

    fn stores_by_choice(&self, e: &ExprIf, loaded: &Places) -> bool {
        let otherwise = match &e.else_branch {
            None => &[][..],
            Some((_, otherwise)) => match &**otherwise {
                Expr::Block(e) if e.label.is_none() => &e.block.stmts[..],
                _ => return false,
            },
        };
        let stmts = || e.then_branch.stmts.iter().chain(otherwise);
        !has_let(&e.cond)
            && !self.is_uniform(&e.cond)
            && stmts().all(|stmt| self.may_run_for_all(stmt, loaded))
            && stmts().any(|stmt| stored(stmt).is_some_and(|place| self.is_shared_element(place)))
    }

    /// A `let` or an assignment that neither fails nor takes long.
    fn may_run_for_all(&self, stmt: &Stmt, loaded: &Places) -> bool {
        let light = |expr: &Expr| {
            !walk::any(expr, |at| match at {
                At::Expr(e @ Expr::Index(_)) if loaded.contains(&written(e)) => Next::Past,
                At::Expr(Expr::Binary(e)) if is_light(&e.op) => Next::On,
                At::Expr(
                    Expr::Path(_)
                    | Expr::Lit(_)
                    | Expr::Paren(_)
                    | Expr::Unary(_)
                    | Expr::Cast(_)
                    | Expr::Tuple(_),
                ) => Next::On,
                At::Expr(_) => Next::Found,
                _ => Next::On,
            })
        };
        match stmt {
            Stmt::Local(local) => local.init.as_ref().is_some_and(|init| light(&init.expr)),
            Stmt::Expr(e, _) => {
                let is_light = !matches!(bare(e), Expr::Binary(e) if !is_light(&e.op));
                is_light
                    && assignment(bare(e)).is_some_and(|(place, value)| {
                        let place = bare(place);
                        light(value) && (matches!(place, Expr::Path(_)) || loaded.contains(&written(place)))
                    })
            }
            _ => false,
        }
    }

    fn chosen(&self, mut e: ExprIf) -> Expr {
        let (is_in, holds) = (is_in_round(), name("__holds"));
        let branch = |is_its: TokenStream, stmts: &mut Vec<Stmt>| {
            self.predicate(stmts);
            quote!({ let #is_in = #is_its; #(#stmts)* })
        };
        let then = branch(quote!(#holds), &mut e.then_branch.stmts);
        let otherwise = e.else_branch.as_mut().map(|(_, otherwise)| match &mut **otherwise {
            Expr::Block(e) => branch(quote!(!#holds), &mut e.block.stmts),
            other => quote!(#other),
        });
        let cond = &e.cond;
        parse_quote!({ let #holds = #cond; #then #otherwise })
    }
}

/// Variables that some lanes may keep as they are.
pub(super) fn assigned_under_condition(names: &Names, stmts: &[Stmt]) -> VarSet {
    let mut chosen = VarSet::new();
    walk::each(stmts, |at| {
        if let At::Expr(e @ Expr::If(_)) = at {
            chosen.extend(assigned(names, &[Stmt::Expr(e.clone(), None)]));
            return Next::Past;
        }
        Next::On
    });
    chosen
}

/// Whether an operation of numbers neither divides nor shifts.
fn is_light(op: &BinOp) -> bool {
    use BinOp::{Div, DivAssign, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign};
    !matches!(
        op,
        Div(_) | DivAssign(_) | Rem(_) | RemAssign(_) | Shl(_) | ShlAssign(_) | Shr(_) | ShrAssign(_)
    )
}

/// The place that a statement assigns.
fn stored(stmt: &Stmt) -> Option<&Expr> {
    let Stmt::Expr(e, _) = stmt else { return None };
    assignment(bare(e)).map(|(place, _)| bare(place))
}
