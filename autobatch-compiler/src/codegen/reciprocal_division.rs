//! Divisions in interchanged loops by values that the loop does not change: the runtime's `Divisor` gives exact quotients for a
//! part of the lanes without the division unit, which such loops wait for.
//!
//! ```text
//! let mut divisor = core.divisor();                             // before the outermost loop
//! for k in 0..n {
//!     if divisor.is_quick(&d) {
//!         for l in 0..QUICK { x[l] = …; }                       // the piece as far as the dividend
//!         if !divisor.divide(&x, &mut q) { for l in 0..QUICK { q[l] = x[l] / d[l]; } }
//!         for l in QUICK..W { … / d[l] … }                      // the piece as it stands
//!         for l in 0..QUICK { … q[l] … }                        // the piece with the quotient
//!     } else {
//!         for l in 0..W { … / d[l] … }
//!     }
//! }
//! ```

use std::slice::from_ref;

use proc_macro2::Ident;
use syn::{BinOp, Expr, ExprForLoop, Stmt, parse_quote};

use crate::analysis::lane_interchange::{Node, assigned, declared};
use crate::ir::effects::{self, Names, variable};
use crate::ir::{VarId, VarSet};
use crate::syntax::mentions::is_compound;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Next};

/// With more operations than so for each division, the unit is not what the loop waits for.
const OPERATIONS: usize = 3;

/// A piece of lane code around a division.
pub(crate) struct Quotient {
    pub(crate) divisor: VarId,
    /// The dividend, and the statements that it needs.
    pub(crate) dividend: Expr,
    pub(crate) before: Vec<Stmt>,
    /// The whole piece, with `quotient` for the division.
    pub(crate) with: Vec<Stmt>,
}

/// What divisions are looked for in.
pub(crate) struct Search<'a> {
    pub(crate) names: &'a Names,
    /// Arrays whose elements code accesses in their place.
    pub(crate) rows: VarSet,
}

impl Search<'_> {
    /// The variables that a loop writes.
    pub(crate) fn written(&self, head: &ExprForLoop, body: &[Node]) -> VarSet {
        let mut all = effects::bound(self.names, &head.pat);
        for node in body {
            match node {
                Node::Lanes(stmts) => all.extend(self.written_by(stmts)),
                Node::Branch(branch) => {
                    all.extend(branch.pieces().iter().flat_map(|stmts| self.written_by(stmts)))
                }
                Node::Uniform(stmt) => all.extend(self.written_by(from_ref(stmt))),
                Node::Fill(var, _) | Node::Copy(var, _) => _ = all.insert(*var),
                Node::Swap(one, other) => all.extend([*one, *other]),
                Node::Loop(head, body) => all.extend(self.written(head, body)),
            }
        }
        all
    }

    fn written_by(&self, stmts: &[Stmt]) -> VarSet {
        &declared(self.names, stmts) | &assigned(self.names, stmts)
    }

    /// Those of `fixed` that pieces of a loop divide by.
    pub(crate) fn divisors(&self, head: &ExprForLoop, body: &[Node], fixed: &VarSet) -> VarSet {
        let changing = self.written(head, body);
        let of = |node: &Node| match node {
            Node::Lanes(stmts) => {
                let found =
                    self.quotient(stmts, fixed, &changing, &crate::codegen::names::name("__quotient"));
                found.map(|found| found.divisor).into_iter().collect()
            }
            Node::Loop(head, body) => self.divisors(head, body, fixed),
            Node::Uniform(_) | Node::Fill(..) | Node::Copy(..) | Node::Swap(..) | Node::Branch(_) => {
                VarSet::new()
            }
        };
        body.iter().flat_map(of).collect()
    }

    /// The first division of a piece by one of `fixed` that each lane makes for an element of an array, if the piece does little else.
    /// (What stays in the lane's hand is mostly what the next quotient waits for: then nothing is gained.) The
    /// loop around the piece writes `changing`.
    pub(crate) fn quotient(
        &self,
        stmts: &[Stmt],
        fixed: &VarSet,
        changing: &VarSet,
        quotient: &Ident,
    ) -> Option<Quotient> {
        // Counted, but for what LLVM moves out of the loop.
        let (mut divisions, mut others) = (0, 0);
        walk::each(stmts, |at| {
            let At::Expr(expr) = at else { return Next::On };
            if effects::of(self.names, expr).mentions.is_disjoint(changing) {
                return Next::Past;
            }
            match expr {
                Expr::Binary(e) if matches!(e.op, BinOp::Div(_) | BinOp::DivAssign(_)) => divisions += 1,
                Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_) => others += 1,
                // Of one value for all lanes, or of an address.
                Expr::Index(_) => return Next::Past,
                Expr::Path(_) | Expr::Paren(_) | Expr::Group(_) | Expr::Assign(_) => {}
                _ => others += OPERATIONS + 1,
            }
            Next::On
        });
        if others > OPERATIONS * divisions {
            return None;
        }
        for (at, stmt) in stmts.iter().enumerate() {
            if assigned(self.names, from_ref(stmt)).is_disjoint(&self.rows) {
                continue;
            }
            let mut with = stmts.to_vec();
            let mut find = Find { names: self.names, fixed, quotient, found: None };
            find.visit_stmt_mut(&mut with[at]);
            // What stands before it runs twice: it must not change elements.
            let (divisor, dividend) = find.found?;
            return Some(Quotient { divisor, dividend, before: stmts[..at].to_vec(), with });
        }
        None
    }
}

/// Replaces the first division that each lane makes.
struct Find<'a> {
    names: &'a Names,
    fixed: &'a VarSet,
    quotient: &'a Ident,
    found: Option<(VarId, Expr)>,
}

impl VisitMut for Find<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Binary(e) if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => return,
            Expr::Binary(_) | Expr::Assign(_) | Expr::Paren(_) | Expr::Group(_) | Expr::Unary(_) => {}
            // Other code may have names of its own, or not run.
            _ => return,
        }
        visit_mut::visit_expr_mut(self, expr);
        let Expr::Binary(e) = expr else { return };
        let divides = matches!(e.op, BinOp::Div(_) | BinOp::DivAssign(_));
        let divisor = variable(self.names, &e.right).filter(|v| self.fixed.contains(v));
        let (None, true, Some(divisor)) = (&self.found, divides, divisor) else { return };
        let (left, quotient) = ((*e.left).clone(), self.quotient);
        *expr = match is_compound(&e.op) {
            true => parse_quote!(#left = #quotient),
            false => parse_quote!(#quotient),
        };
        self.found = Some((divisor, left));
    }
}

#[cfg(test)]
mod tests {
    fn is_quick(body: &str) -> bool {
        let body: proc_macro2::TokenStream = body.parse().expect("tokens");
        let item = quote::quote!(
            fn f(x: f32, y: f32, n: i32, #[shared] h: f32) -> f32 {
                let mut row = [x; 32];
                let mut sum = 0.0f32;
                let mut z = y;
                for j in 0..32 {
                    for k in 0..31 { #body }
                }
                row[3] + sum + z
            }
        );
        let strict = "strict".parse().expect("tokens");
        let code = crate::driver::autobatch(strict, item).to_string();
        assert!(code.contains("lane_interchange :: plain"), "{body}");
        code.contains("is_quick")
    }

    #[test]
    fn divisions_for_elements_by_what_stays_are() {
        for body in [
            "row[k] = row[k] / y;",
            "row[k] /= y;",
            "row[k] = 1.0 - (row[k] + (1.0 - x) * row[k + 1]) / y;",
            "let v = 0.5 * row[k]; row[k] = v / y;",
            "row[k] = row[k] / h;",
            "sum += 1.0; row[k] = (sum / z) / y; ",
            "row[k] = row[k] / y; row[k + 1] = row[k + 1] / z;",
        ] {
            assert!(is_quick(body), "{body}");
        }
    }

    #[test]
    fn others_are_not() {
        for body in [
            "row[k] = row[k] * y;",
            "row[k] = y / row[k];",
            "row[k] = row[k] / z; z = z + 1.0;",
            "sum = (sum + row[k]) / y;",
            "row[k] = if row[k] > x { row[k] / y } else { row[k] };",
            "row[k] = row[k].sqrt() / y;",
            "row[k] = ((row[k] * x + 1.0) * x + row[k + 1]) / y;",
            "row[k] = 1.0; row[k + 1] = row[k + 1] / y;",
            "row[k] = row[k] / 3.0;",
        ] {
            assert!(!is_quick(body), "{body}");
        }
    }
}
