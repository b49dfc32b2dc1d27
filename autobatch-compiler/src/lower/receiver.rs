//! Receivers that are places, `rows[i].push(f(x))`: the place is found before the arguments are evaluated, but what is there is
//! looked at behind them. A copy of it, or the thing itself, in a temporary would take what the method changes.

use syn::{Expr, ExprField, ExprMethodCall, ExprParen, ExprUnary, UnOp, parse_quote};

use crate::ir::effects::{self, variable};
use crate::lower::lowering::Lowering;
use crate::lower::scan;
use crate::syntax::mentions::bare;

impl Lowering<'_> {
    /// Whether a call's receiver is a part of something, its arguments have calls, and nothing changes it meanwhile.
    pub(super) fn has_fixed_receiver(&self, call: &ExprMethodCall) -> bool {
        let args: Vec<Expr> = call.args.iter().cloned().collect();
        if scan::splits(self, &call.receiver) || self.is_stable(&call.receiver, &args) {
            return false;
        }
        let Some(root) = part_of(&call.receiver) else { return false };
        let mentioned = |arg: &Expr| match variable(&self.names, root) {
            Some(var) => effects::of(&self.names, arg).mentions.contains(&var),
            None => true,
        };
        !self.reference_flow().is_number_value(&call.receiver) && !args.iter().any(mentioned)
    }

    /// A place whose indices, and what it is a part of, are known.
    pub(super) fn fixed_place(&mut self, mut place: Expr, later: Vec<Expr>) -> Expr {
        let indexed = has_index(&place);
        self.fixed(&mut place, &later);
        if indexed {
            // An index out of bounds is found before the arguments are evaluated.
            self.op(parse_quote!(let _ = &#place;));
        }
        place
    }

    fn fixed(&mut self, place: &mut Expr, later: &[Expr]) {
        match place {
            Expr::Paren(ExprParen { expr: of, .. })
            | Expr::Field(ExprField { base: of, .. })
            | Expr::Unary(ExprUnary { expr: of, op: UnOp::Deref(_), .. }) => self.fixed(of, later),
            Expr::Index(e) => {
                self.fixed(&mut e.expr, later);
                *e.index = self.fixed_value((*e.index).clone(), &e.index, later);
            }
            Expr::Path(_) => {}
            other => *other = self.fixed_value(other.clone(), other, later),
        }
    }

    /// A value that stays the same while `later` is evaluated.
    pub(super) fn fixed_value(&mut self, value: Expr, written: &Expr, later: &[Expr]) -> Expr {
        if self.is_stable(&value, later) {
            return value;
        }
        self.ask(written);
        self.in_variable("value", value)
    }
}

/// What a place is a part of; `None` if it is no part.
fn part_of(place: &Expr) -> Option<&Expr> {
    match bare(place) {
        Expr::Field(e) => part_of(&e.base).or(Some(&e.base)),
        Expr::Index(e) => part_of(&e.expr).or(Some(&e.expr)),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => part_of(&e.expr).or(Some(&e.expr)),
        _ => None,
    }
}

fn has_index(place: &Expr) -> bool {
    match bare(place) {
        Expr::Field(e) => has_index(&e.base),
        Expr::Unary(e) => has_index(&e.expr),
        Expr::Index(_) => true,
        _ => false,
    }
}
